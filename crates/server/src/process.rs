//! What the kernel says of this process: processor time, memory, open files; and giving memory back to it.

use api_hugegraph::metrics::Process;

use crate::metrics::Exposition;

/// Ticks of processor time a second: fixed in Linux' interface to programs.
const TICKS_PER_SECOND: u64 = 100;

/// A block so large that the allocator does not reuse it.
const PROMPT_BYTES: usize = 8 << 20;

/// Has the allocator look whether memory that was freed a while ago is to go back to the system. It does so only when a
/// large block is freed, which an idle process never does.
///
/// Cost: a block that is neither written nor read.
pub(crate) fn prompt_allocator() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(PROMPT_BYTES)));
}

/// Appends process metrics under the names every Prometheus client uses; what cannot be read is left out.
pub(crate) fn write(out: &mut Exposition) {
    if let Some(ticks) = std::fs::read_to_string("/proc/self/stat").ok().and_then(|stat| cpu_ticks(&stat)) {
        let (whole, rest) = (ticks / TICKS_PER_SECOND, ticks % TICKS_PER_SECOND);
        let help = "Processor time used, user and system.";
        out.counter("process_cpu_seconds_total", help, format!("{whole}.{rest:02}"));
    }
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        if let Some(kibibytes) = field(&status, "VmRSS:") {
            out.gauge("process_resident_memory_bytes", "Memory resident in RAM.", kibibytes * 1024);
        }
        if let Some(threads) = field(&status, "Threads:") {
            out.gauge("process_threads", "Threads.", threads);
        }
    }
    if let Ok(files) = std::fs::read_dir("/proc/self/fd") {
        out.gauge("process_open_fds", "Open file descriptors.", files.count());
    }
    if let Ok((limit, _)) = rlimit::Resource::NOFILE.get() {
        out.gauge("process_max_fds", "The most file descriptors that may be open.", limit);
    }
}

/// What the system says of the process; what cannot be read is zero.
pub(crate) fn figures() -> Process {
    let read = |path| std::fs::read_to_string(path).unwrap_or_else(|_| String::new());
    let (status, machine, load) = (read("/proc/self/status"), read("/proc/meminfo"), read("/proc/loadavg"));
    let bytes = |text: &str, name| field(text, name).map_or(0, |kibibytes| kibibytes * 1024);
    Process {
        resident_bytes: bytes(&status, "VmRSS:"),
        resident_bytes_peak: bytes(&status, "VmHWM:"),
        machine_bytes: bytes(&machine, "MemTotal:"),
        available_bytes: bytes(&machine, "MemAvailable:"),
        threads: field(&status, "Threads:").unwrap_or(0),
        processors: std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        load: load.split_ascii_whitespace().next().and_then(|load| load.parse().ok()).unwrap_or(0.0),
    }
}

/// User and system ticks of `/proc/self/stat`; the name of the program may contain blanks and brackets.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_text_is_understood() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 1 0 1 2 3";
        assert_eq!(cpu_ticks(stat), Some(200));
        assert_eq!(field("Name:\tx\nVmRSS:\t  120 kB\n", "VmRSS:"), Some(120));
        let mut out = Exposition::default();
        write(&mut out);
        assert!(out.text.contains("process_resident_memory_bytes "), "{}", out.text);
    }
}
