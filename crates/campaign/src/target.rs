//! The server under load: one of our own on a fresh folder, or somebody else's by its URL.

use std::io::{BufRead as _, BufReader, Read};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

/// How long a server may take until it listens.
const START_TIME_MAX: Duration = Duration::from_secs(120);
/// How long somebody else's server may take to accept the first connection.
const REACH_TIME_MAX: Duration = Duration::from_secs(5);
/// How long a server may take to stop after SIGTERM before it is killed.
const STOP_TIME_MAX: Duration = Duration::from_secs(60);
/// Lines of a server's output that are stored.
const LINES_MAX: usize = 200;

/// How to come by a server.
#[derive(Debug, Clone)]
pub enum Source {
    /// Somebody else's.
    Foreign {
        /// Where it listens.
        address: SocketAddr,
        /// The value of `Host`.
        host: String,
        /// Its process, if known.
        pid: Option<u32>,
    },
    /// Our own: this executable with `serve`, on a fresh folder.
    Own {
        /// Arguments behind those that the campaign needs.
        arguments: Vec<String>,
        /// Where the folder is made; `None`: the system's temporary folder.
        parent: Option<PathBuf>,
    },
}

impl Source {
    /// The source that `url` (`http://host:port`, nothing behind) names.
    ///
    /// # Errors
    ///
    /// If it is no such URL or its host has no address.
    pub fn from_url(url: &str, pid: Option<u32>) -> Result<Self> {
        let rest = url.strip_prefix("http://").with_context(|| format!("{url}: only http:// URLs"))?;
        let host = rest.trim_end_matches('/');
        if host.is_empty() || host.contains(['/', '?', '#', '@']) {
            bail!("{url}: expected http://HOST[:PORT] and nothing behind it");
        }
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let with_port = if has_port { host.to_owned() } else { format!("{host}:80") };
        let address = with_port
            .to_socket_addrs()
            .with_context(|| format!("{url}: looking up the host"))?
            .next()
            .with_context(|| format!("{url}: the host has no address"))?;
        Ok(Self::Foreign { address, host: host.to_owned(), pid })
    }

    /// Connects to somebody else's server once: a load on a dead one measures nothing. Our own is
    /// not there yet. Cost: one connection, at most five seconds.
    ///
    /// # Errors
    ///
    /// If it does not accept.
    pub fn reach(&self) -> Result<()> {
        let Self::Foreign { address, host, .. } = self else { return Ok(()) };
        TcpStream::connect_timeout(address, REACH_TIME_MAX)
            .map(drop)
            .with_context(|| format!("no server answers at http://{host} ({address})"))
    }

    /// Connects to, or starts, the server.
    ///
    /// # Errors
    ///
    /// If our own does not come up.
    pub fn open(&self) -> Result<Target> {
        self.open_with(&[])
    }

    /// Like [`Source::open`], with `more` arguments for our own server behind the others; somebody else's cannot be
    /// told anything.
    ///
    /// # Errors
    ///
    /// If our own does not come up.
    pub fn open_with(&self, more: &[String]) -> Result<Target> {
        match self {
            Self::Foreign { address, host, pid } => Ok(Target::foreign(*address, host.clone(), *pid)),
            Self::Own { arguments, parent } => own(&[arguments, more].concat(), parent.as_ref()),
        }
    }
}

/// A server that can be put under load. Our own is stopped by SIGTERM when this is dropped.
#[derive(Debug)]
pub struct Target {
    /// Where it listens.
    pub address: SocketAddr,
    /// The value of `Host`.
    pub host: String,
    /// Its process, if known.
    pub pid: Option<u32>,
    own: Option<Own>,
}

#[derive(Debug)]
struct Own {
    child: Child,
    output: Arc<Output>,
    folder: TempDir,
}

impl Target {
    /// A server that is not ours to stop.
    pub fn foreign(address: SocketAddr, host: String, pid: Option<u32>) -> Self {
        Self { address, host, pid, own: None }
    }

    /// When the server says a write is safe, as our own printed it at its start.
    pub fn durability(&self) -> Option<String> {
        self.own.as_ref().and_then(|own| own.output.value_of("durability:"))
    }

    /// Bytes of the folder of our own server; `None` for others.
    pub fn folder_bytes(&self) -> Option<u64> {
        self.own.as_ref().map(|own| folder_bytes(own.folder.path()))
    }

    /// The last lines that our own server printed; empty for others.
    pub fn last_lines(&self) -> String {
        self.own.as_ref().map_or_else(String::new, |own| own.output.tail())
    }

    /// Stops our own server and waits until it is gone.
    ///
    /// # Errors
    ///
    /// If it does not stop, or stops with an error.
    pub fn close(mut self) -> Result<()> {
        self.stop()
    }

    /// Like [`Target::close`]; the bytes of the folder that our own server left.
    ///
    /// # Errors
    ///
    /// If it does not stop, or stops with an error.
    pub fn close_and_weigh(mut self) -> Result<Option<u64>> {
        self.stop()?;
        Ok(self.folder_bytes())
    }

    fn stop(&mut self) -> Result<()> {
        let Some(own) = &mut self.own else { return Ok(()) };
        let status = own.stop()?;
        if !status.success() {
            bail!("the server ended with {status}; its last lines:\n{}", own.output.tail());
        }
        Ok(())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(own) = &mut self.own {
            // Reached only when something else already failed.
            let _ = own.stop();
        }
    }
}

impl Own {
    fn stop(&mut self) -> Result<ExitStatus> {
        if let Some(status) = self.child.try_wait()? {
            return Ok(status);
        }
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            rustix::process::kill_process(pid, rustix::process::Signal::TERM)
                .context("stopping the server")?;
        }
        let asked = Instant::now();
        while asked.elapsed() < STOP_TIME_MAX {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(5));
        }
        self.child.kill()?;
        self.child.wait()?;
        bail!("the server did not stop within {} s after SIGTERM", STOP_TIME_MAX.as_secs())
    }
}

fn own(arguments: &[String], parent: Option<&PathBuf>) -> Result<Target> {
    let program = std::env::current_exe().context("finding this executable")?;
    let mut folder = tempfile::Builder::new();
    folder.prefix("twinfold-campaign-");
    let folder = match parent {
        Some(parent) => folder.tempdir_in(parent),
        None => folder.tempdir(),
    }
    .context("making a folder for the server's data")?;
    let mut child = Command::new(&program)
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(folder.path().join("data"))
        // The points of load tests are old: packing them smaller would come in the middle of a row.
        .args(["--series-recompress-age", "36500d"])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {}", program.display()))?;
    let output = Arc::new(Output::default());
    if let Some(stdout) = child.stdout.take() {
        Output::gather(&output, stdout);
    }
    if let Some(stderr) = child.stderr.take() {
        Output::gather(&output, stderr);
    }
    let pid = child.id();
    let mut own = Own { child, output, folder };
    let Some(address) = own.output.wait_for("listening on http://", &mut own.child) else {
        let _ = own.stop();
        bail!("the server did not come up; its last lines:\n{}", own.output.tail());
    };
    let address: SocketAddr = address.parse().context("the server did not say where it listens")?;
    Ok(Target { address, host: address.to_string(), pid: Some(pid), own: Some(own) })
}

/// What a server printed; read all the time, so that it never waits for us.
#[derive(Debug, Default)]
struct Output {
    lines: Mutex<Vec<String>>,
    changed: Condvar,
}

impl Output {
    fn gather(this: &Arc<Self>, from: impl Read + Send + 'static) {
        let this = Arc::clone(this);
        thread::spawn(move || {
            for line in BufReader::new(from).lines().map_while(Result::ok) {
                let mut lines = this.lines.lock().unwrap_or_else(PoisonError::into_inner);
                // The first lines tell address and durability, the last what went wrong.
                if lines.len() >= LINES_MAX {
                    lines.remove(LINES_MAX / 2);
                }
                lines.push(line);
                this.changed.notify_all();
            }
        });
    }

    fn value_of(&self, before: &str) -> Option<String> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        find(&lines, before)
    }

    fn wait_for(&self, before: &str, child: &mut Child) -> Option<String> {
        let begun = Instant::now();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(value) = find(&lines, before) {
                return Some(value);
            }
            if begun.elapsed() > START_TIME_MAX || matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
                return None;
            }
            let waited = self.changed.wait_timeout(lines, Duration::from_millis(50));
            lines = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn tail(&self) -> String {
        // What the threads have not read yet when the process has just died.
        thread::sleep(Duration::from_millis(50));
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let tail: Vec<&str> = lines.iter().rev().take(20).map(String::as_str).collect();
        tail.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}

fn find(lines: &[String], before: &str) -> Option<String> {
    let (_, rest) = lines.iter().find_map(|line| line.split_once(before))?;
    Some(rest.trim().trim_end_matches('/').to_owned())
}

/// Reads `from` up to the first line that contains `before`; what follows it.
pub(crate) fn first_line_with(from: impl Read, before: &str) -> Result<String> {
    for line in BufReader::new(from).lines() {
        if let Some((_, rest)) = line?.split_once(before) {
            return Ok(rest.trim().to_owned());
        }
    }
    bail!("its output ended without {before:?}")
}

/// What our own server sets aside of the disk while it runs.
const BALLAST: &str = "BALLAST";

/// Bytes of all files beneath `folder` that hold data.
pub fn folder_bytes(folder: &std::path::Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(_) if entry.file_name() == BALLAST => 0,
        Ok(metadata) if metadata.is_dir() => folder_bytes(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_weighs_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("rocksdb")).unwrap();
        for (name, bytes) in [("FORMAT", 5), ("rocksdb/1.sst", 70), ("BALLAST", 1_000)] {
            std::fs::write(folder.path().join(name), vec![0; bytes]).unwrap();
        }
        assert_eq!(folder_bytes(folder.path()), 75);
    }

    fn check(url: &str, expected: Option<(&str, u16)>) {
        let found = match Source::from_url(url, None) {
            Ok(Source::Foreign { address, host, .. }) => Some((host, address.port())),
            _ => None,
        };
        assert_eq!(found, expected.map(|(host, port)| (host.to_owned(), port)), "{url}");
    }

    #[test]
    fn targets_are_plain_http_urls() {
        check("http://127.0.0.1:1026", Some(("127.0.0.1:1026", 1026)));
        check("http://127.0.0.1:1026/", Some(("127.0.0.1:1026", 1026)));
        check("http://127.0.0.1", Some(("127.0.0.1", 80)));
        check("http://[::1]:80", Some(("[::1]:80", 80)));
        check("https://127.0.0.1:1026", None);
        check("http://127.0.0.1:1026/ngsi-ld", None);
        check("127.0.0.1:1026", None);
        check("http://", None);
    }

    #[test]
    fn values_are_found_behind_their_names() {
        let lines = ["twinfold 0.1".to_owned(), "durability: sync (every write)".to_owned()];
        assert_eq!(find(&lines, "durability:").as_deref(), Some("sync (every write)"));
        assert_eq!(find(&lines, "listening on"), None);
        assert_eq!(first_line_with(&b"a\nb c=1\n"[..], "c=").unwrap(), "1");
        assert!(first_line_with(&b"a\n"[..], "c=").is_err());
    }
}
