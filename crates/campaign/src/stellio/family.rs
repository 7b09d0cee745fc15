//! The family as the frame runs it: users that share the iterations of a row in a closed loop.

use std::sync::Mutex;

use anyhow::Result;

use crate::course::{Course, Ran};
use crate::executors::{Limits, Outcome, run_closed};
use crate::family::{Bench, Family, Loaded, Sharing};
use crate::findings::Findings;
use crate::probe::Probe;
use crate::profile::Setup;
use crate::progress::Stage;
use crate::report::table::{number, optional};
use crate::report::{RowReport, Table};
use crate::workloads::Workload;

use super::HEADERS;
use super::checks;
use super::figures;
use super::instances::{INSTANCE_USERS, Instances};
use super::rows::{Kind, Row};
use super::sessions::{Requests, Sample};
use super::sets::{BATCH_ENTITIES, Loading, Set};

/// The row with history, and the same without.
const WITH_HISTORY: &str = "S-P3";
const WITHOUT_HISTORY: &str = "S-H3";
/// The share of throughput that history may cost, in per cent.
const HISTORY_COST_MAX: u32 = 25;
/// Fewer runs differ among themselves by more than what is asked.
const VERDICT_RUNS_MIN: u32 = 3;
/// Samples of a row's answers that are looked at, over all users.
const SAMPLES: usize = 200;

/// The load tests that Stellio published for its broker.
#[derive(Debug, Clone, Copy)]
pub struct Stellio;

impl Family for Stellio {
    type Row = Row;
    type Set = Set;
    type Answers = Vec<Sample>;

    fn workload(&self) -> Result<Workload<Row>> {
        Workload::parse(include_str!("../../workloads/stellio.toml"))
    }

    fn columns(&self) -> &'static [&'static str] {
        &["scenario", "users", "iterations", "entities", "types", "instances", "published/s", "p95 ms"]
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let (rate, p95) = row.published.map_or(("ours".to_owned(), String::new()), |published| {
            (published.throughput.to_string(), published.p95_ms.to_string())
        });
        let Row { users, iterations, entities, types, instances, .. } = row;
        let sizes = [*users as u64, *iterations, *entities as u64, *types as u64, *instances as u64];
        let mut cells = vec![row.kind.name().to_owned()];
        cells.extend(sizes.map(|size| size.to_string()));
        cells.extend([rate, p95]);
        cells
    }

    fn sharing(&self, course: &Course, row: &Row) -> Sharing {
        let shape = row.set(course.profile);
        let set = (row.kind != Kind::Create).then(|| format!("{shape:?}"));
        Sharing { server: row.server.clone(), set }
    }

    fn prepare(&self, bench: &Bench<'_, Row>) -> Result<(Set, Option<Outcome>)> {
        let Bench { course, row, .. } = bench;
        let set = Set::new(row.set(course.profile), course.seed);
        let mut created = None;
        if set.shape.entities > 0 {
            let batch = if course.setup == Setup::Batch { BATCH_ENTITIES } else { 1 };
            let loading = Loading { set: &set, batch };
            let mut stage = Stage::begin(&bench.name, Some(loading.requests()));
            let outcome =
                run_closed(&bench.load(1), loading.limits(), &loading, &mut |pulse| stage.tick(pulse))?;
            stage.end(&format!(
                "{} entities in {:.1} s, {} errors",
                set.shape.entities,
                outcome.elapsed.as_secs_f64(),
                outcome.record.failures()
            ));
            created = Some(outcome);
        }
        if set.shape.instances > 0 {
            let written = write_instances(bench, &set)?;
            match &mut created {
                Some(created) => {
                    created.record.merge(&written.record);
                    created.elapsed += written.elapsed;
                }
                None => created = Some(written),
            }
        }
        Ok((set, created))
    }

    fn load(&self, bench: &Bench<'_, Row>, set: &mut Set, run: u32) -> Result<Loaded<Vec<Sample>>> {
        let Bench { course, row, .. } = bench;
        let users = course.users.unwrap_or(row.users);
        let limits =
            Limits { iterations: Some(row.iterations), duration: Some(course.profile.loop_time_max()) };
        let requests = Requests {
            kind: row.kind,
            set,
            run: row_stream(row, run),
            samples_per_user: SAMPLES.div_ceil(users),
            sample_every: (row.iterations / SAMPLES as u64).max(1),
            samples: Mutex::default(),
        };
        let mut stage = Stage::begin(&bench.name, Some(row.iterations));
        let outcome = run_closed(&bench.load(users), limits, &requests, &mut |pulse| stage.tick(pulse))?;
        stage.end(&figures::line(&outcome));
        Ok(Loaded { outcome, memory_peak: None, answers: requests.take_samples() })
    }

    fn check(
        &self,
        bench: &Bench<'_, Row>,
        set: &Set,
        _outcome: &Outcome,
        answers: Vec<Sample>,
    ) -> Result<Findings> {
        let mut probe = Probe::new(bench.target.address, &bench.target.host, HEADERS)?;
        Ok(checks::check(set, answers, &mut |path| probe.get(path)))
    }

    fn floor_status(&self, row: &Row) -> u16 {
        match row.kind {
            Kind::Create => 201,
            Kind::PartialUpdate | Kind::Update => 204,
            _ => 200,
        }
    }

    /// By time: the floor is faster than any server.
    fn floor(&self, bench: &Bench<'_, Row>, set: &Set) -> Result<Outcome> {
        let Bench { course, row, .. } = bench;
        let requests = Requests {
            kind: row.kind,
            set,
            run: row_stream(row, 0),
            samples_per_user: 0,
            sample_every: 1,
            samples: Mutex::default(),
        };
        let limits = Limits { iterations: None, duration: Some(course.profile.floor_time()) };
        let load = bench.load(course.users.unwrap_or(row.users));
        let mut stage = Stage::begin(&bench.name, None);
        let outcome = run_closed(&load, limits, &requests, &mut |pulse| stage.tick(pulse))?;
        stage.end(&figures::line(&outcome));
        Ok(outcome)
    }

    fn report(&self, bench: &Bench<'_, Row>, set: &Set, ran: &Ran<'_>) -> RowReport {
        figures::report(bench, set, ran)
    }

    fn tables(&self, course: &Course, rows: &[RowReport]) -> Vec<Table> {
        history(rows, course.runs).into_iter().collect()
    }
}

/// Writes the history of the set.
fn write_instances(bench: &Bench<'_, Row>, set: &Set) -> Result<Outcome> {
    let users = if bench.course.setup == Setup::Batch { INSTANCE_USERS } else { 1 };
    let until = jiff::Timestamp::now();
    let instances = Instances { set, users, observed: bench.course.observed, until };
    let name = bench.name.replace("setup", "instances");
    let mut stage = Stage::begin(&name, Some(instances.requests()));
    let load = bench.load(users);
    let outcome = run_closed(&load, Limits::default(), &instances, &mut |pulse| stage.tick(pulse))?;
    stage.end(&figures::line(&outcome));
    Ok(outcome)
}

/// What history costs a partial update, if the row with it and the row without were both run.
pub(super) fn history(rows: &[RowReport], runs: u32) -> Option<Table> {
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
