//! One campaign from the first row to the last: servers and sets come and go, loops run, floors are measured.

mod caveats;
pub(crate) mod figures;

use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::executors::{Limits, Load, Outcome, run_closed};
use crate::floor::{Floor, FloorArgs};
use crate::probe::Probe;
use crate::process;
use crate::profile::{Observed, Profile, Setup};
use crate::progress::{Stage, note};
use crate::report::table::{number, optional};
use crate::report::{RowReport, Table};
use crate::stellio::HEADERS;
use crate::stellio::checks::{self, Findings};
use crate::stellio::instances::Instances;
use crate::stellio::sessions::Requests;
use crate::stellio::sets::{BATCH_ENTITIES, Loading, Set, SetShape};
use crate::target::{Source, Target};
use crate::workloads::{Family, Kind, Row};

/// Users that write the instances of a temporal set at once, if it is not written as published.
const INSTANCE_USERS: usize = 10;
/// The row with history, and the same without.
const WITH_HISTORY: &str = "S-P3";
const WITHOUT_HISTORY: &str = "S-H3";
/// The share of throughput that history may cost, in per cent.
const HISTORY_COST_MAX: u32 = 25;
/// Fewer runs differ among themselves by more than what is asked.
const VERDICT_RUNS_MIN: u32 = 3;
/// Samples of a row's answers that are looked at, over all users.
const SAMPLES: usize = 200;

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
}

/// What a campaign found, and what the server told of itself.
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
    pub(crate) fn kept(&mut self, ran: Result<()>) -> Result<()> {
        match ran {
            Err(error) if !self.rows.is_empty() => {
                note(&format!("the campaign ends early: {error:#}"));
                self.faults.push(format!("the campaign ended early: {error:#}"));
                Ok(())
            }
            ran => ran,
        }
    }
}

/// A server with a set of entities on it.
struct Stand {
    target: Target,
    set: Set,
    loaded: Option<Outcome>,
    rows_before: usize,
    /// Arguments of the server that the row asked for.
    server: Vec<String>,
}

/// What the runs of one row left.
struct Ran {
    outcomes: Vec<Outcome>,
    findings: Findings,
    floor: Option<Outcome>,
    resident: Option<(u64, u64)>,
    disk: Option<u64>,
}

impl Course {
    /// Runs the rows of `family` one after the other.
    ///
    /// Our own server starts afresh for each creating row and for each shape of set; rows of one shape share
    /// the set. Somebody else's server is used as it is.
    ///
    /// # Errors
    ///
    /// If no server can be had before the first row. What fails later is in the results.
    pub fn run(&self, family: &Family) -> Result<Results> {
        let mut results = Results::default();
        let ran = self.all_rows(family, &mut results);
        results.kept(ran)?;
        results.tables.extend(history(&results.rows, self.runs));
        Ok(results)
    }

    fn all_rows(&self, family: &Family, results: &mut Results) -> Result<()> {
        let mut stand: Option<Stand> = None;
        for row in &family.rows {
            let shape = self.profile.set(row);
            // Somebody else's server cannot be told anything: it is the same one for every row.
            let same_server =
                |stand: &Stand| matches!(self.source, Source::Foreign { .. }) || stand.server == row.server;
            let fits =
                |stand: &Stand| stand.set.shape == shape && row.kind != Kind::Create && same_server(stand);
            let kept = match stand.take() {
                Some(stand) if fits(&stand) => stand,
                old => {
                    self.leave(old, results);
                    self.enter(row, shape, results)?
                }
            };
            let kept = stand.insert(kept);
            results.rows.push(self.row(family, row, kept)?);
            kept.rows_before += 1;
        }
        self.leave(stand, results);
        Ok(())
    }

    fn leave(&self, stand: Option<Stand>, results: &mut Results) {
        if let Some(Err(error)) = stand.map(|stand| stand.target.close()) {
            note(&format!("the server failed: {error:#}"));
            results.faults.push(format!("{error:#}"));
        }
    }

    fn enter(&self, row: &Row, shape: SetShape, results: &mut Results) -> Result<Stand> {
        let target = self.source.open_with(&row.server)?;
        self.ask(&target, results);
        let set = Set::new(shape, self.seed);
        let batch = if self.setup == Setup::Batch { BATCH_ENTITIES } else { 1 };
        let loading = Loading { set: &set, batch };
        let loaded = if shape.entities == 0 {
            None
        } else {
            let mut stage = Stage::begin(&format!("{} setup", row.id), Some(loading.requests()));
            let load = Load { users: 1, ..self.load(&target, 1) };
            let outcome = run_closed(&load, loading.limits(), &loading, &mut |pulse| stage.tick(pulse))?;
            stage.end(&format!(
                "{} entities in {:.1} s, {} errors",
                shape.entities,
                outcome.elapsed.as_secs_f64(),
                outcome.record.failures()
            ));
            Some(outcome)
        };
        let mut stand = Stand { target, set, loaded, rows_before: 0, server: row.server.clone() };
        if shape.instances > 0 {
            self.write_instances(row, &mut stand)?;
        }
        Ok(stand)
    }

    /// Writes the past of the set.
    fn write_instances(&self, row: &Row, stand: &mut Stand) -> Result<()> {
        let users = if self.setup == Setup::Batch { INSTANCE_USERS } else { 1 };
        let until = jiff::Timestamp::now();
        let instances = Instances { set: &stand.set, users, observed: self.observed, until };
        let load = self.load(&stand.target, users);
        let mut stage = Stage::begin(&format!("{} instances", row.id), Some(instances.requests()));
        let outcome = run_closed(&load, Limits::default(), &instances, &mut |pulse| stage.tick(pulse))?;
        stage.end(&figures::line(&outcome));
        match &mut stand.loaded {
            Some(loaded) => {
                loaded.record.merge(&outcome.record);
                loaded.elapsed += outcome.elapsed;
            }
            None => stand.loaded = Some(outcome),
        }
        Ok(())
    }

    /// What the server tells of itself, on its output or among its metrics.
    pub(crate) fn ask(&self, target: &Target, results: &mut Results) {
        let metrics = Probe::new(target.address, &target.host, "")
            .and_then(|mut probe| probe.get("/metrics"))
            .ok()
            .filter(|(status, _)| *status == 200)
            .map(|(_, body)| String::from_utf8_lossy(&body).into_owned())
            .unwrap_or_default();
        let label = |name: &str| figures::metrics_label(&metrics, name);
        results.durability =
            results.durability.take().or_else(|| target.durability()).or_else(|| label("durability"));
        results.server_version = results.server_version.take().or_else(|| label("version"));
    }

    pub(crate) fn load(&self, target: &Target, users: usize) -> Load {
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

    fn row(&self, family: &Family, row: &Row, stand: &Stand) -> Result<RowReport> {
        let users = self.users.unwrap_or(row.users);
        let load = self.load(&stand.target, users);
        let iterations = row.iterations;
        let limits = Limits { iterations: Some(iterations), duration: Some(self.profile.loop_time_max()) };
        let mut ran = Ran {
            outcomes: Vec::new(),
            findings: Findings::default(),
            floor: None,
            resident: None,
            disk: None,
        };
        for run in 0..self.runs {
            let requests = Requests {
                kind: row.kind,
                set: &stand.set,
                run: row_stream(row, run),
                samples_per_user: SAMPLES.div_ceil(users),
                sample_every: (iterations / SAMPLES as u64).max(1),
                samples: Mutex::default(),
            };
            let name = if self.runs > 1 { format!("{} run {}", row.id, run + 1) } else { row.id.clone() };
            let mut stage = Stage::begin(&name, Some(iterations));
            let outcome = run_closed(&load, limits, &requests, &mut |pulse| stage.tick(pulse))?;
            stage.end(&figures::line(&outcome));
            ran.outcomes.push(outcome);
            let mut probe = Probe::new(load.address, &load.host, HEADERS)?;
            let samples = requests.take_samples();
            ran.findings.merge(checks::check(&stand.set, samples, &mut |path| probe.get(path)));
        }
        ran.resident = stand.target.pid.and_then(process::resident_bytes);
        ran.disk = stand.target.folder_bytes();
        ran.floor = self.floor(row, stand, &ran, users)?;
        let mut report = figures::report(family, row, self, stand, &ran);
        let last_lines = stand.target.last_lines();
        if report.errors > 0 && !last_lines.is_empty() {
            note(&format!("{}: {} errors; the server's last lines:\n{last_lines}", row.id, report.errors));
        }
        report.caveat = caveats::caveats(row, self, stand, &ran).join("; ");
        Ok(report)
    }

    /// Puts the same users with the same requests on a bare server that answers as many bytes.
    fn floor(&self, row: &Row, stand: &Stand, ran: &Ran, users: usize) -> Result<Option<Outcome>> {
        let answered = ran.outcomes.iter().any(|outcome| outcome.record.successes() > 0);
        if !answered || !self.with_floor {
            return Ok(None);
        }
        await_rest(stand.target.pid, self.profile.rest_time_max());
        let status = match row.kind {
            Kind::Create => 201,
            Kind::PartialUpdate | Kind::Update => 204,
            _ => 200,
        };
        let body_bytes = figures::body_bytes_mean(&ran.outcomes);
        let floor = Floor::start(&FloorArgs { status, body_bytes, seconds_max: 600 })
            .context("starting the floor")?;
        let requests = Requests {
            kind: row.kind,
            set: &stand.set,
            run: row_stream(row, 0),
            samples_per_user: 0,
            sample_every: 1,
            samples: Mutex::default(),
        };
        let load = Load {
            address: floor.address(),
            host: floor.address().to_string(),
            server_pid: Some(floor.pid()),
            ..self.load(&stand.target, users)
        };
        let limits = Limits { iterations: None, duration: Some(self.profile.floor_time()) };
        let mut stage = Stage::begin(&format!("{} floor", row.id), None);
        let outcome = run_closed(&load, limits, &requests, &mut |pulse| stage.tick(pulse))?;
        stage.end(&figures::line(&outcome));
        Ok(Some(outcome))
    }
}

/// What history costs a partial update, if the row with it and the row without were both run.
fn history(rows: &[RowReport], runs: u32) -> Option<Table> {
    let find = |id: &str| rows.iter().find(|row| row.id == id && row.throughput > 0.0);
    let (with, without) = (find(WITH_HISTORY)?, find(WITHOUT_HISTORY)?);
    let line = |name: &str, row: &RowReport| {
        vec![name.to_owned(), number(row.throughput), number(row.p95_ms), optional(row.cpu_us_per_op)]
    };
    let percent = (1.0 - with.throughput / without.throughput) * 100.0;
    Some(Table {
        title: "What history costs a partial update".to_owned(),
        columns: ["history", "requests/s", "p95 ms", "CPU us/op"].map(str::to_owned).to_vec(),
        lines: vec![line("off", without), line("on", with)],
        verdict: if runs < VERDICT_RUNS_MIN {
            format!(
                "Throughput with history differs by {:+.0} %; a verdict takes {VERDICT_RUNS_MIN} runs.",
                -percent
            )
        } else {
            format!("History costs {percent:.0} % of the throughput (goal: at most {HISTORY_COST_MAX} %).")
        },
    })
}

/// A number for the draws of one run of one row, so that no two create the same ids.
fn row_stream(row: &Row, run: u32) -> u64 {
    let name = row.id.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(131).wrapping_add(u64::from(byte)));
    ((name & 0x00FF_FFFF) << 8) | u64::from(run & 0xFF)
}

/// Waits until the process hardly uses the CPU: what it still does behind would slow the floor.
pub(crate) fn await_rest(pid: Option<u32>, longest: Duration) {
    await_rest_of(|| pid.and_then(process::cpu_time), longest);
}

/// Like [`await_rest`], of whatever `cpu` tells the CPU time of.
pub(crate) fn await_rest_of(cpu: impl Fn() -> Option<Duration>, longest: Duration) {
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

#[cfg(test)]
mod tests;
