//! The machine and software that a figure was measured on; a figure without them means nothing.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Serialize;

/// The environment block of every report.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Environment {
    /// When the campaign began, UTC.
    pub date: String,
    /// The processor's name.
    pub cpu: String,
    /// Cores, shared by the generator and the server if that is ours.
    pub cores: usize,
    /// Memory of the machine.
    pub ram_mb: u64,
    /// File system and device of the server's folder.
    pub disk: String,
    /// Operating system and kernel.
    pub kernel: String,
    /// The commit of the source tree, if known.
    pub commit: String,
    /// The version of this program.
    pub version: String,
    /// Whether this program was compiled without optimisation: its figures are then of no use.
    pub debug_build: bool,
    /// The server under load: `own`, or its URL.
    pub target: String,
    /// The server's version, as far as it tells.
    pub server_version: String,
    /// When the server says a write is safe.
    pub durability: String,
    /// The profile.
    pub profile: String,
    /// How sets were created.
    pub setup: String,
    /// Runs of each row.
    pub runs: u32,
    /// The seed of all draws.
    pub seed: u64,
    /// Threads of the generator.
    pub generator_threads: usize,
    /// The command.
    pub command: String,
    /// Names of environment variables that set our own server otherwise than the command tells; their values may be
    /// secrets.
    pub settings: Vec<String>,
}

impl Environment {
    /// Fills in what the machine tells; `folder` is where the server keeps its data.
    pub fn of_this_machine(folder: &Path) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_else(|_| String::new());
        let line = |text: &str, name: &str| {
            let found =
                text.lines().find(|line| line.starts_with(name)).and_then(|line| line.split_once(':'));
            found.map(|(_, value)| value.trim().to_owned())
        };
        let memory = line(&read("/proc/meminfo"), "MemTotal");
        let kilobytes = memory.and_then(|text| text.trim_end_matches("kB").trim().parse::<u64>().ok());
        Self {
            date: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            cpu: line(&read("/proc/cpuinfo"), "model name")
                .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            ram_mb: kilobytes.map_or(0, |kilobytes| kilobytes / 1024),
            disk: disk_of(&read("/proc/mounts"), folder).unwrap_or_else(|| "unknown".to_owned()),
            kernel: format!("{} {}", std::env::consts::OS, read("/proc/sys/kernel/osrelease").trim()),
            commit: commit(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            debug_build: cfg!(debug_assertions),
            ..Self::default()
        }
    }
}

/// The file system whose mount point is the longest that leads to `folder`.
fn disk_of(mounts: &str, folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let mut best: Option<(usize, String)> = None;
    for line in mounts.lines() {
        let mut fields = line.split_ascii_whitespace();
        let (Some(device), Some(point), Some(kind)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let better = best.as_ref().is_none_or(|(length, _)| *length <= point.len());
        if folder.starts_with(point) && better {
            let lost =
                if kind == "tmpfs" { ", in memory: nothing is durable there, see --data-parent" } else { "" };
            best = Some((point.len(), format!("{kind} on {device}{lost}")));
        }
    }
    best.map(|(_, text)| text)
}

/// The commit given when this was compiled, else that of the source tree around us.
fn commit() -> String {
    if let Some(commit) = option_env!("TWINFOLD_COMMIT") {
        return commit.to_owned();
    }
    if !Path::new("crates/campaign/Cargo.toml").exists() {
        return "unknown".to_owned();
    }
    let output = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=12"])
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success());
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_mount_point_counts() {
        let mounts = "/dev/a / ext4 rw 0 0\ntmpfs /nowhere tmpfs rw 0 0\nproc /proc proc rw 0 0\n";
        assert_eq!(disk_of(mounts, Path::new("/")).as_deref(), Some("ext4 on /dev/a"));
        assert_eq!(disk_of(mounts, Path::new("/proc/self")).as_deref(), Some("proc on proc"));
        let memory = disk_of("tmpfs / tmpfs rw 0 0", Path::new("/")).unwrap();
        assert!(memory.contains("nothing is durable"), "{memory}");
        assert_eq!(disk_of("", Path::new("/")), None);
    }

    #[test]
    fn a_machine_tells_what_it_is() {
        let environment = Environment::of_this_machine(Path::new("/"));
        assert!(environment.cores > 0 && environment.ram_mb > 0);
        assert!(!environment.cpu.is_empty() && environment.kernel.starts_with("linux "));
    }
}
