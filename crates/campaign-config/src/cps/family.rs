//! The family as the frame runs it over HTTP.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context as _, Result};
use campaign::course::figures::MEGABYTE;
use campaign::course::{Course, Ran, with_memory_peak};
use campaign::executors::Outcome;
use campaign::family::{Bench, Family, Loaded, Sharing};
use campaign::findings::Findings;
use campaign::goals;
use campaign::report::table::number;
use campaign::report::{RowReport, Table};
use campaign::target::Source;
use campaign::workloads::Workload;

use super::flows::{Flows, Left, Sample};
use super::inputs::Inputs;
use super::rows::{Mode, Row, workload};
use super::tally::Tallies;
use super::{GOALS, checks, figures};
use crate::rest::{Cps, Dataspace};

/// The schema set of the eleven modules.
const SCHEMA_SET: &str = "topology";

/// The load test CPS-307, over HTTP.
#[derive(Debug, Clone, Copy)]
pub struct Cps307;

/// A dataspace with the schema set, and what rows left.
#[derive(Debug)]
pub struct Stand {
    inputs: Inputs,
    dataspace: Dataspace,
    /// How long the upload of the modules took; `None`: they were there.
    uploaded: Option<Duration>,
    tallies: BTreeMap<String, Tallies>,
}

/// What a run leaves to be checked.
#[derive(Debug)]
pub struct Answers {
    samples: Vec<Sample>,
    prefix: String,
}

impl Stand {
    fn flows(&self, row: &Row, bench: &Bench<'_, Row>, prefix: String) -> Flows<'_> {
        Flows {
            inputs: &self.inputs,
            dataspace: &self.dataspace,
            schema_set: SCHEMA_SET,
            prefix,
            duration: row.duration(bench.course.profile),
            floor: None,
            left: Mutex::default(),
        }
    }
}

impl Family for Cps307 {
    type Row = Row;
    type Set = Stand;
    type Answers = Answers;

    fn workload(&self) -> Result<Workload<Row>> {
        workload("cps", Mode::Remote)
    }

    fn columns(&self) -> &'static [&'static str] {
        &["threads", "published flows/s"]
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        vec![row.threads.to_string(), number(row.published_flows())]
    }

    /// All rows share a server: they leave nothing behind.
    fn sharing(&self, _course: &Course, _row: &Row) -> Sharing {
        Sharing { server: Vec::new(), set: Some(SCHEMA_SET.to_owned()) }
    }

    fn prepare(&self, bench: &Bench<'_, Row>) -> Result<(Stand, Option<Outcome>)> {
        let course = bench.course;
        let inputs = Inputs::new(course.data.as_deref())?;
        let dataspace = Dataspace { name: format!("campaign-{}", course.seed) };
        let mut cps = Cps::new(bench.target)?;
        cps.create_dataspace(&dataspace).context("creating the dataspace")?;
        let uploaded = cps
            .create_schema_set(&dataspace, SCHEMA_SET, &inputs.modules)
            .context("uploading the modules")?;
        Ok((Stand { inputs, dataspace, uploaded, tallies: BTreeMap::new() }, None))
    }

    fn rests_before_runs(&self) -> bool {
        true
    }

    fn load(&self, bench: &Bench<'_, Row>, set: &mut Stand, run: u32) -> Result<Loaded<Answers>> {
        let prefix = format!("{}-{run}", bench.row.id);
        let flows = set.flows(bench.row, bench, prefix.clone());
        let load = bench.load(users(bench));
        let ((outcome, left), memory_peak) =
            with_memory_peak(bench.target, || flows.run(&load, &bench.name))?;
        let Left { tallies, samples, .. } = left;
        set.tallies.entry(bench.row.id.clone()).or_default().merge(&tallies);
        Ok(Loaded { outcome, memory_peak, answers: Answers { samples, prefix } })
    }

    fn check(
        &self,
        bench: &Bench<'_, Row>,
        set: &Stand,
        outcome: &Outcome,
        answers: Answers,
    ) -> Result<Findings> {
        let mut findings = Findings::default();
        let ordered = matches!(bench.course.source, Source::Own { .. });
        checks::read_back(&set.inputs, &answers.samples, ordered, &mut findings);
        if outcome.record.failures() == 0 {
            let mut cps = Cps::new(bench.target)?;
            checks::nothing_left(&mut cps, &set.dataspace, &answers.prefix, &mut findings);
        }
        Ok(findings)
    }

    fn floor_status(&self, _row: &Row) -> u16 {
        200
    }

    fn floor(&self, bench: &Bench<'_, Row>, set: &Stand) -> Result<Outcome> {
        let flows = Flows {
            duration: bench.course.profile.floor_time(),
            floor: Some(200),
            ..set.flows(bench.row, bench, "floor".to_owned())
        };
        flows.run(&bench.load(users(bench)), &bench.name).map(|(outcome, _)| outcome)
    }

    fn report(&self, bench: &Bench<'_, Row>, set: &Stand, ran: &Ran<'_>) -> RowReport {
        let mut how = vec![set.inputs.title.clone()];
        how.extend(set.uploaded.map(|took| {
            let modules = set.inputs.modules.len();
            format!("uploading and compiling the {modules} modules took {:.1} ms", took.as_secs_f64() * 1e3)
        }));
        let of = (bench.row, bench.workload.hardware.as_str());
        let tallies = set.tallies.get(&bench.row.id).copied().unwrap_or_else(Default::default);
        let mut report = figures::report(of, bench.course, &ran.outcomes, &tallies, &how);
        report.floor_throughput = ran.floor.as_ref().map(Outcome::throughput).filter(|rate| *rate > 0.0);
        report.disk_mb = ran.folder_bytes.map(|bytes| bytes as f64 / MEGABYTE);
        report
    }

    fn tables(&self, _course: &Course, rows: &[RowReport]) -> Vec<Table> {
        figures::operations(rows).into_iter().chain(goals::table(GOALS, rows)).collect()
    }
}

fn users(bench: &Bench<'_, Row>) -> usize {
    bench.course.users.unwrap_or(bench.row.threads)
}
