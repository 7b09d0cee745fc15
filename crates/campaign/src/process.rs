//! What processes use, read from `/proc`: CPU time and resident memory, the generator's own and the server's.

use std::time::Duration;

/// CPU time, user and system, of all threads of `pid` since it started; `None` if there is no such process
/// or no `/proc`. Resolution: one clock tick, usually 10 ms.
pub fn cpu_time(pid: u32) -> Option<Duration> {
    cpu_time_of(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// CPU time of `pid` and of all processes that descend from it, those that ended and were waited for included; `None`
/// without `/proc`. Not by groups: PostgreSQL gives each of its processes one of its own. Cost: one small file a
/// process of this machine.
pub fn family_cpu_time(pid: u32) -> Option<Duration> {
    let mut processes = Vec::new();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        // Not every entry is a process, and some have ended meanwhile.
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok();
        processes.extend(stat.as_deref().and_then(ancestry));
    }
    let mut family = vec![pid];
    let mut ticks = 0;
    let mut at = 0;
    while let Some(member) = family.get(at).copied() {
        at += 1;
        for (id, parent, used) in &processes {
            ticks += if *id == member { *used } else { 0 };
            if *parent == member && !family.contains(id) {
                family.push(*id);
            }
        }
    }
    let ticks_a_second = rustix::param::clock_ticks_per_second().max(1);
    Some(Duration::from_secs_f64(ticks as f64 / ticks_a_second as f64))
}

/// A process, its parent, and the ticks of both itself and the children it waited for.
fn ancestry(stat: &str) -> Option<(u32, u32, u64)> {
    let (pid, _) = stat.split_once(' ')?;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    let used = fields.skip(9).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    Some((pid.parse().ok()?, parent, used))
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
        let stat = "42 (a b) c) S 7 42 42 0 -1 4194304 100 0 0 0 150 50 3 4 20 0 3 0 100 1000 10";
        assert_eq!(ancestry(stat), Some((42, 7, 207)));
    }

    #[test]
    fn a_family_is_more_than_a_group() {
        use std::os::unix::process::CommandExt as _;
        // A child in a group of its own, busy until it is ended.
        let mut busy = std::process::Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .process_group(0)
            .spawn()
            .unwrap();
        let wanted = Duration::from_millis(50);
        let begun = std::time::Instant::now();
        let used = || cpu_time(busy.id()).unwrap();
        while used() < wanted && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let (alone, all) =
            (family_cpu_time(busy.id()).unwrap(), family_cpu_time(std::process::id()).unwrap());
        busy.kill().unwrap();
        busy.wait().unwrap();
        assert!(alone >= wanted && all >= alone, "{alone:?} of {all:?}");
        assert_eq!(family_cpu_time(u32::MAX), Some(Duration::ZERO));
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
