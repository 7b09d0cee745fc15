//! How a campaign is run and what it found; servers that come up, rest and stop.

pub mod figures;

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::executors::{Load, Outcome};
use crate::findings::Findings;
use crate::probe::Probe;
use crate::process;
use crate::profile::{Observed, Profile, Setup};
use crate::progress::note;
use crate::report::{RowReport, Table};
use crate::target::{Source, Target};

/// How the caveat of a row that is smaller than published begins.
pub const SCALED: &str = "scaled: ";

/// How a campaign is run.
#[derive(Debug, Clone)]
pub struct Course {
    /// The server.
    pub source: Source,
    /// How much of the published sizes.
    pub profile: Profile,
    /// How sets are created.
    pub setup: Setup,
    /// The seed of all draws.
    pub seed: u64,
    /// Runs of each row.
    pub runs: u32,
    /// Other users than published.
    pub users: Option<usize>,
    /// Threads of the generator.
    pub threads: usize,
    /// The longest one call may take.
    pub timeout: Duration,
    /// When the instances of temporal sets were observed.
    pub observed: Observed,
    /// Whether the floor is measured beside each row.
    pub with_floor: bool,
    /// Where the published inputs lie that cannot be part of this program, for the families that have such.
    pub data: Option<PathBuf>,
}

/// What a campaign found, and what the server reported of itself.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// One report a row.
    pub rows: Vec<RowReport>,
    /// Tables beside the rows.
    pub tables: Vec<Table>,
    /// When the server says a write is safe.
    pub durability: Option<String>,
    /// The server's version.
    pub server_version: Option<String>,
    /// What went wrong besides errors in the loads.
    pub faults: Vec<String>,
}

impl Results {
    /// An error that ended the campaign becomes a fault if there are rows before it: hours of load are not thrown away.
    ///
    /// # Errors
    ///
    /// `ran` itself, if nothing was measured before.
    pub(crate) fn or_fault(&mut self, ran: Result<()>) -> Result<()> {
        match ran {
            Err(error) if !self.rows.is_empty() => {
                note(&format!("the campaign ends early: {error:#}"));
                self.faults.push(format!("the campaign ended early: {error:#}"));
                Ok(())
            }
            ran => ran,
        }
    }

    /// Stops a server, and weighs the folder that our own left; that it failed is a fault.
    pub fn close(&mut self, target: Target) -> Option<u64> {
        match target.close_and_weigh() {
            Ok(bytes) => bytes,
            Err(error) => {
                note(&format!("the server failed: {error:#}"));
                self.faults.push(format!("{error:#}"));
                None
            }
        }
    }
}

/// What the runs of one row left.
#[derive(Debug, Default)]
pub struct Ran<'a> {
    /// What was measured, run by run.
    pub outcomes: Vec<Outcome>,
    /// What the checks found.
    pub findings: Findings,
    /// The same load on the floor.
    pub floor: Option<Outcome>,
    /// Memory of the server after the row, and its highest so far.
    pub resident: Option<(u64, u64)>,
    /// The most memory of the server during the row.
    pub memory_peak: Option<u64>,
    /// Bytes of our own server's folder after the row.
    pub folder_bytes: Option<u64>,
    /// How the set was created.
    pub prepared: Option<&'a Outcome>,
    /// How many rows ran on the same set before.
    pub rows_before: usize,
}

impl Course {
    /// A server with `arguments` besides those of the command line; what it tells of itself goes to `results`.
    ///
    /// # Errors
    ///
    /// If our own does not come up.
    pub fn open(&self, arguments: &[String], results: &mut Results) -> Result<Target> {
        let target = self.source.open_with(arguments)?;
        let metrics = Probe::new(target.address, &target.host, "")
            .and_then(|mut probe| probe.get("/metrics"))
            .ok()
            .filter(|(status, _)| *status == 200)
            .map(|(_, body)| String::from_utf8_lossy(&body).into_owned());
        let label = |name: &str| metrics.as_deref().and_then(|text| figures::metrics_label(text, name));
        results.durability =
            results.durability.take().or_else(|| target.durability()).or_else(|| label("durability"));
        results.server_version = results.server_version.take().or_else(|| label("version"));
        Ok(target)
    }

    /// The load that `users` put on `target`.
    pub fn load(&self, target: &Target, users: usize) -> Load {
        Load {
            address: target.address,
            host: target.host.clone(),
            server_pid: target.pid,
            users,
            threads: self.threads,
            timeout: self.timeout,
            seed: self.seed,
        }
    }
}

/// Runs `job`; and the most memory that the server had meanwhile, if that is known.
///
/// # Errors
///
/// Those of `job`.
pub fn with_memory_peak<T>(target: &Target, job: impl FnOnce() -> Result<T>) -> Result<(T, Option<u64>)> {
    let reset = target.pid.is_some_and(process::reset_peak);
    let done = job()?;
    let peak = target.pid.filter(|_| reset).and_then(process::resident_bytes).map(|(_, peak)| peak);
    Ok((done, peak))
}

/// Waits until the process hardly uses the CPU: what it still does behind would slow what is measured next.
pub fn await_rest(pid: Option<u32>, longest: Duration) {
    await_rest_of(|| pid.and_then(process::cpu_time), longest);
}

/// Like [`await_rest`], of whatever `cpu` tells the CPU time of.
pub fn await_rest_of(cpu: impl Fn() -> Option<Duration>, longest: Duration) {
    const GLANCE: Duration = Duration::from_millis(100);
    let begun = Instant::now();
    while let Some(before) = cpu() {
        thread::sleep(GLANCE.min(longest));
        let after = cpu().unwrap_or(before);
        if after.saturating_sub(before) < Duration::from_millis(10) || begun.elapsed() >= longest {
            return;
        }
    }
}

/// Where our own server's folder will lie.
pub fn data_folder(source: &Source) -> PathBuf {
    match source {
        Source::Own { parent: Some(parent), .. } => parent.clone(),
        _ => std::env::temp_dir(),
    }
}

#[cfg(any(test, feature = "testing"))]
impl Course {
    /// A small course against a toy server.
    pub fn of_toy(toy: &crate::toy::Toy) -> Self {
        Self {
            source: Source::from_url(&format!("http://{}", toy.address()), None)
                .expect("the address of a toy is one"),
            profile: Profile::Smoke,
            setup: Setup::Sequential,
            seed: 42,
            runs: 1,
            users: None,
            threads: 1,
            timeout: Duration::from_secs(10),
            observed: Observed::Now,
            with_floor: false,
            data: None,
        }
    }
}
