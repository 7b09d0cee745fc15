//! A peer's process: of another user where we are root, in a folder of its own; ended by its number. It stays in our
//! group, so that an interrupt at the terminal ends it with us.

use std::fs::File;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::Signal;
use tempfile::TempDir;

use super::database::START_TIME_MAX;

/// How long a peer may take to end after it was asked to.
const STOP_TIME_MAX: Duration = Duration::from_secs(60);
/// The user `nobody`, on every Linux.
const NOBODY: u32 = 65_534;

/// A peer that runs.
#[derive(Debug)]
pub struct Running {
    child: Child,
    signal: Signal,
    folder: TempDir,
}

/// A fresh folder of a peer, owned by the user under which it will run.
///
/// # Errors
///
/// If it cannot be made.
pub fn folder(parent: &Path, name: &str) -> Result<TempDir> {
    let folder = tempfile::Builder::new()
        .prefix(&format!("campaign-{name}-"))
        .tempdir_in(parent)
        .with_context(|| format!("making a folder for {name} in {}", parent.display()))?;
    give(folder.path())?;
    Ok(folder)
}

/// Hands `path` over to the user under which peers run.
///
/// # Errors
///
/// If that is refused.
pub fn give(path: &Path) -> Result<()> {
    if is_root() {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY))
            .with_context(|| format!("handing {} over to the user nobody", path.display()))?;
    }
    Ok(())
}

/// A command in `folder` that runs as `nobody` where we are root.
pub fn command(program: &Path, folder: &TempDir) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder.path()).stdin(Stdio::null());
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A port that was free a moment ago.
///
/// # Errors
///
/// If there is none.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

impl Running {
    /// Starts `command` and waits until something accepts at `address`; `signal` is what ends it.
    ///
    /// # Errors
    ///
    /// If it does not come up; the message holds the end of what it printed.
    pub fn start(mut command: Command, folder: TempDir, address: SocketAddr, signal: Signal) -> Result<Self> {
        let log = folder.path().join("campaign.log");
        let output = File::create(&log).context("making the log of the peer")?;
        let child = command
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
            .with_context(|| format!("starting {}", command.get_program().display()))?;
        let mut running = Self { child, signal, folder };
        let begun = Instant::now();
        while TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_err() {
            let ended = !matches!(running.child.try_wait(), Ok(None));
            if ended || begun.elapsed() > START_TIME_MAX {
                bail!("it did not come up; the end of its output:\n{}", tail(&log));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(running)
    }

    /// CPU time of all its processes, ended ones as far as their parents waited for them.
    pub fn cpu(&self) -> Option<Duration> {
        campaign::process::family_cpu_time(self.child.id())
    }

    /// Ends it, waits until it is gone, and weighs its folder.
    ///
    /// # Errors
    ///
    /// If it does not end in time; it is then killed.
    pub fn close(mut self) -> Result<u64> {
        self.end()?;
        Ok(campaign::target::folder_bytes(self.folder.path()))
    }

    fn end(&mut self) -> Result<()> {
        if self.child.try_wait()?.is_some() {
            return Ok(());
        }
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            rustix::process::kill_process(pid, self.signal).context("ending the peer")?;
        }
        let asked = Instant::now();
        while asked.elapsed() < STOP_TIME_MAX {
            if self.child.try_wait()?.is_some() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(20));
        }
        self.child.kill()?;
        self.child.wait()?;
        bail!("the peer did not end within {} s", STOP_TIME_MAX.as_secs())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Reached only when something else already failed, or after `close`.
        let _ = self.end();
    }
}

fn tail(log: &Path) -> String {
    let text = match std::fs::read(log) {
        Ok(text) => text,
        Err(error) => return format!("{} cannot be read: {error}", log.display()),
    };
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().rev().take(15).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("\n")
}

/// The first of `names` among the folders of `PATH` and `more`.
pub fn search(names: &[&str], more: &[PathBuf]) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "where programs are, is no setting of ours")]
    let path = std::env::var_os("PATH");
    let folders: Vec<PathBuf> =
        path.iter().flat_map(std::env::split_paths).chain(more.iter().cloned()).collect();
    let mut places = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.find(|place| place.is_file())
}
