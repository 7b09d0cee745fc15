//! What processes use, read from `/proc`: CPU time and resident memory, the generator's own and the server's.

use std::time::Duration;

/// CPU time, user and system, of all threads of `pid` since it started; `None` if there is no such process
/// or no `/proc`. Resolution: one clock tick, usually 10 ms.
pub fn cpu_time(pid: u32) -> Option<Duration> {
    cpu_time_of(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// CPU time of all processes of the group `group`, those that ended and were waited for included; `None` without
/// `/proc`. Cost: one small file a process of this machine.
pub fn group_cpu_time(group: u32) -> Option<Duration> {
    let ticks_a_second = rustix::param::clock_ticks_per_second().max(1);
    let mut ticks = 0;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((_, fields)) = stat.rsplit_once(')') else { continue };
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        if fields.get(2).and_then(|field| field.parse().ok()) == Some(group) {
            let four = fields.iter().skip(11).take(4);
            ticks += four.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>();
        }
    }
    Some(Duration::from_secs_f64(ticks as f64 / ticks_a_second as f64))
}

fn cpu_time_of(stat: &str) -> Option<Duration> {
    // The name in parentheses may hold anything, also spaces and parentheses.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    let ticks_a_second = rustix::param::clock_ticks_per_second().max(1);
    Some(Duration::from_secs_f64((user + system) as f64 / ticks_a_second as f64))
}

/// Resident memory of `pid` in bytes, now and at its highest.
pub fn resident_bytes(pid: u32) -> Option<(u64, u64)> {
    resident_bytes_of(&std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?)
}

/// Makes the highest resident memory of `pid` that of this moment, so that [`resident_bytes`] tells the highest
/// since; whether the kernel let us.
pub fn reset_peak(pid: u32) -> bool {
    std::fs::write(format!("/proc/{pid}/clear_refs"), "5").is_ok()
}

fn resident_bytes_of(status: &str) -> Option<(u64, u64)> {
    let kilobytes = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    Some((kilobytes("VmRSS:")? * 1024, kilobytes("VmHWM:")? * 1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read_past_a_strange_name() {
        let stat = "42 (a b) c) S 1 42 42 0 -1 4194304 100 0 0 0 150 50 0 0 20 0 3 0 100 1000 10";
        assert_eq!(cpu_time_of(stat), Some(Duration::from_secs(2)));
        assert_eq!(cpu_time_of("nonsense"), None);
    }

    #[test]
    fn memory_is_read_in_bytes() {
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!(resident_bytes_of(status), Some((1 << 20, 2 << 20)));
    }

    #[test]
    fn this_process_uses_something() {
        let (now, high) = resident_bytes(std::process::id()).unwrap();
        assert!(now > 0 && high >= now);
        assert!(cpu_time(std::process::id()).is_some());
        assert!(!reset_peak(u32::MAX));
        assert_eq!(cpu_time(u32::MAX), None);
    }
}
