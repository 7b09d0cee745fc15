//! The family as the frame runs it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use anyhow::{Context as _, Result, ensure};
use campaign::course::figures::MEGABYTE;
use campaign::course::{Course, Ran, data_folder, with_memory_peak};
use campaign::executors::Outcome;
use campaign::family::{Bench, Family, Loaded, Sharing};
use campaign::findings::Findings;
use campaign::report::{RowReport, Table};
use campaign::target::Source;
use campaign::workloads::Workload;
use serde_json::Value as Json;
use yang_samples::Module;

use super::adder::{Adder, entry, value};
use super::disk::synced_appends;
use super::figures::{self, Times};
use super::rows::{Row, workload};
use crate::rest::{Cps, Dataspace};
use crate::tree;

/// The schema set of the list.
const SCHEMA_SET: &str = "table";
/// The path of the container of the list.
const TABLE: &str = "/table";
/// Synced appends before a run, and after it.
const APPENDS: usize = 200;

/// Transactions that each add one list entry.
#[derive(Debug, Clone, Copy)]
pub struct ConfigTransactions;

/// A dataspace for the anchors of the runs, and what these left.
#[derive(Debug)]
pub struct Stand {
    dataspace: Dataspace,
    times: BTreeMap<String, Times>,
}

impl Family for ConfigTransactions {
    type Row = Row;
    type Set = Stand;
    type Answers = String;

    fn workload(&self) -> Result<Workload<Row>> {
        workload()
    }

    fn columns(&self) -> &'static [&'static str] {
        &["transactions", "published s"]
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let others = row.published.iter().map(|other| format!("{} {}", other.name, other.seconds));
        vec![row.transactions.to_string(), others.collect::<Vec<_>>().join(", ")]
    }

    fn sharing(&self, _course: &Course, _row: &Row) -> Sharing {
        Sharing { server: Vec::new(), set: Some(SCHEMA_SET.to_owned()) }
    }

    fn prepare(&self, bench: &Bench<'_, Row>) -> Result<(Stand, Option<Outcome>)> {
        let dataspace = Dataspace { name: format!("campaign-transactions-{}", bench.course.seed) };
        let mut cps = Cps::new(bench.target)?;
        cps.create_dataspace(&dataspace).context("creating the dataspace")?;
        let module = Module::named("campaign-table", yang_samples::TABLE);
        cps.create_schema_set(&dataspace, SCHEMA_SET, &[module]).context("uploading the module")?;
        Ok((Stand { dataspace, times: BTreeMap::new() }, None))
    }

    fn rests_before_runs(&self) -> bool {
        true
    }

    fn load(&self, bench: &Bench<'_, Row>, set: &mut Stand, run: u32) -> Result<Loaded<String>> {
        let anchor = format!("{}-{run}", bench.row.id);
        let mut cps = Cps::new(bench.target)?;
        cps.send("POST", &set.dataspace.new_anchor(SCHEMA_SET, &anchor), b"", 201)?;
        let first = format!(r#"{{"campaign-table:table":{}}}"#, entry(0));
        cps.send("POST", &format!("{}/nodes", set.dataspace.anchor(&anchor)), first.as_bytes(), 201)?;
        let folder = data_folder(&bench.course.source);
        let mut appends = synced_appends(&folder, APPENDS)?;
        let adder = Adder {
            path: set.dataspace.write(&anchor, "list-nodes", TABLE),
            numbers: (1, 1 + bench.row.count(bench.course.profile)),
            duration: None,
            times: Mutex::default(),
        };
        let ((outcome, transactions), memory_peak) =
            with_memory_peak(bench.target, || adder.run(&bench.load(1), &bench.name))?;
        appends.extend(synced_appends(&folder, APPENDS)?);
        let times = set.times.entry(bench.row.id.clone()).or_default();
        times.appends.append(&mut appends);
        if run == 0 {
            times.transactions = transactions;
        }
        Ok(Loaded { outcome, memory_peak, answers: anchor })
    }

    fn check(
        &self,
        bench: &Bench<'_, Row>,
        set: &Stand,
        outcome: &Outcome,
        anchor: String,
    ) -> Result<Findings> {
        let mut findings = Findings::default();
        let mut cps = Cps::new(bench.target)?;
        if outcome.record.failures() == 0 {
            let ordered = matches!(bench.course.source, Source::Own { .. });
            let answer = cps.get(&set.dataspace.read(&anchor, "/table/entry", "none"));
            let count = 1 + bench.row.count(bench.course.profile);
            findings.note(answer.and_then(|answer| entries(&answer, count, ordered)));
        }
        let deleted = cps.send("DELETE", &set.dataspace.anchor(&anchor), b"", 204);
        findings.note(deleted.map(drop).context("cleaning up"));
        Ok(findings)
    }

    fn floor_status(&self, _row: &Row) -> u16 {
        200
    }

    fn floor(&self, bench: &Bench<'_, Row>, set: &Stand) -> Result<Outcome> {
        let adder = Adder {
            path: set.dataspace.write("floor", "list-nodes", TABLE),
            numbers: (1, u64::MAX),
            duration: Some(bench.course.profile.floor_time()),
            times: Mutex::default(),
        };
        adder.run(&bench.load(1), &bench.name).map(|(outcome, _)| outcome)
    }

    fn report(&self, bench: &Bench<'_, Row>, set: &Stand, ran: &Ran<'_>) -> RowReport {
        let beside = match &bench.course.source {
            Source::Own { .. } => "appends go to the disk that the server writes to",
            Source::Foreign { .. } => {
                "appends go to the temporary folder of this machine, wherever the server writes"
            }
        };
        let how =
            ["one client over HTTP, every transaction durable before the next".to_owned(), beside.to_owned()];
        let none = Times::default();
        let times = set.times.get(&bench.row.id).unwrap_or(&none);
        let of = (bench.row, bench.workload.hardware.as_str());
        let mut report = figures::report(of, bench.course, &ran.outcomes, times, &how);
        report.floor_throughput = ran.floor.as_ref().map(Outcome::throughput).filter(|rate| *rate > 0.0);
        report.disk_mb = ran.folder_bytes.map(|bytes| bytes as f64 / MEGABYTE);
        report
    }

    fn tables(&self, _course: &Course, rows: &[RowReport]) -> Vec<Table> {
        figures::tables(rows)
    }
}

/// All entries are there, each as it was sent; in the order in which they were, if `ordered`.
fn entries(answer: &Json, count: u64, ordered: bool) -> Result<()> {
    let list = answer.as_array().context("the entries are no list")?;
    ensure!(list.len() as u64 == count, "{} entries, there must be {count}", list.len());
    let mut found: Vec<(u64, &str)> = Vec::with_capacity(list.len());
    for entry in list {
        let members = entry.as_object().and_then(|members| members.values().next());
        let id = members.and_then(|entry| entry.get("id"));
        let id = id.and_then(|id| id.as_u64().or_else(|| id.as_str().and_then(|id| id.parse().ok())));
        let text = members.and_then(|entry| entry.get("value")).and_then(Json::as_str);
        found.push(id.zip(text).with_context(|| format!("{} is no entry", tree::shown(entry)))?);
    }
    if !ordered {
        found.sort_unstable();
    }
    for (number, (id, text)) in (0..).zip(found) {
        ensure!(id == number, "the entry {id} stands where {number} must be");
        ensure!(text == value(number), "the entry {id} says {text:?}");
    }
    Ok(())
}
