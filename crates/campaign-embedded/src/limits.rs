//! The performance tests of CPS that only its Java API has: many paths at once, and the parser.

use anyhow::{Context as _, Result, bail, ensure};
use campaign::apart::ApartFamily;
use campaign::course::{Course, Ran, Results};
use campaign::executors::Outcome;
use campaign::progress::note;
use campaign::report::{RowReport, Table};
use campaign::workloads::Workload;
use campaign_config::limits::devices::{self, DEVICE_NODES, FRESH, container, device_path};
use campaign_config::limits::figures;
use campaign_config::limits::rows::{Mode, Part, Row, Work, workload};
use campaign_config::tree;
use tokio::runtime::Runtime;
use yang_samples::{DEVICES, Module};

use crate::config_store::{ConfigStore, nodes};
use crate::in_process::{complete, ensure_no_server, folder, time};

/// Devices of the anchor of a job: those of which parts are deleted, and as many again that stay.
const SPARE_DEVICES: u64 = 200;

/// The performance tests of CPS, in this process.
#[derive(Debug, Clone, Copy)]
pub struct CpsLimitsEmbedded;

impl ApartFamily for CpsLimitsEmbedded {
    type Row = Row;

    fn workload(&self) -> Result<Workload<Row>> {
        workload("cps-limits-embedded", Mode::Embedded)
    }

    fn columns(&self) -> &'static [&'static str] {
        &["job", "expected s"]
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        vec![row.test.clone(), row.expected.to_string()]
    }

    fn run(&self, course: &Course, workload: &Workload<Row>, results: &mut Results) -> Result<()> {
        ensure_no_server(course, &workload.name)?;
        results.durability = Some("sync: each job that writes ends when it is synced".to_owned());
        let folder = folder(course)?;
        let runtime = Runtime::new().context("starting a runtime")?;
        let module = Module::named("campaign-devices", DEVICES);
        let stored = runtime.block_on(ConfigStore::open(&folder.path().join("data"), &[module]))?;
        let stand = Stand { course, runtime, stored };
        for row in &workload.rows {
            results.rows.push(stand.row(row, &workload.hardware)?);
        }
        Ok(())
    }

    fn tables(&self, _course: &Course, rows: &[RowReport]) -> Vec<Table> {
        figures::factors(rows).into_iter().collect()
    }
}

/// A store for all rows.
struct Stand<'a> {
    course: &'a Course,
    runtime: Runtime,
    stored: ConfigStore,
}

impl Stand<'_> {
    /// All runs of a row, and its report.
    fn row(&self, row: &Row, hardware: &str) -> Result<RowReport> {
        let mut ran = Ran::default();
        for run in 0..self.course.runs {
            let (outcome, checked) = self.run(row, &format!("{}-{run}", row.id))?;
            note(&format!("{}: {:.4} s", row.id, outcome.elapsed.as_secs_f64()));
            ran.findings.note(checked);
            ran.outcomes.push(outcome);
        }
        let how = ["in process, through the API of the model, as published".to_owned()];
        let mut report = figures::report((row, hardware), self.course, &ran.outcomes, &how);
        complete(&row.id, &mut report, ran);
        Ok(report)
    }

    /// One run, and whether what it did was right.
    fn run(&self, row: &Row, anchor: &str) -> Result<(Outcome, Result<()>)> {
        let count = row.count(self.course.profile);
        match &row.work {
            Work::Parse => Ok(parse(count)),
            Work::ReadMany { there } => self.read_many(anchor, count, *there),
            Work::DeleteMany { part } => self.delete_many(anchor, count, *part),
            other => bail!("{} is not a job in process: {other:?}", row.id),
        }
    }

    /// An anchor of so many devices.
    fn fill(&self, anchor: &str, devices: u64) -> Result<()> {
        self.runtime.block_on(async {
            self.stored.create_anchor(anchor).await?;
            self.stored.create_nodes(anchor, &container(0..devices, FRESH)).await
        })
    }

    fn read_many(&self, anchor: &str, count: u64, there: bool) -> Result<(Outcome, Result<()>)> {
        self.fill(anchor, count)?;
        let first = if there { 0 } else { count };
        let paths: Vec<String> = (first..first + count).map(device_path).collect();
        let (outcome, found) = time(|| self.runtime.block_on(self.stored.read_many(anchor, &paths)));
        self.runtime.block_on(self.stored.delete_anchor(anchor))?;
        let checked = found.and_then(|found| {
            let each = found.iter().map(|found| found.as_ref().map_or(0, nodes));
            let expected = if there { DEVICE_NODES } else { 0 };
            let wrong = each.filter(|nodes| *nodes != expected).count();
            ensure!(found.len() == paths.len(), "{} answers to {} paths", found.len(), paths.len());
            ensure!(wrong == 0, "{wrong} paths have not {expected} data nodes");
            Ok(())
        });
        Ok((outcome, checked))
    }

    fn delete_many(&self, anchor: &str, count: u64, part: Option<Part>) -> Result<(Outcome, Result<()>)> {
        let devices = count + SPARE_DEVICES;
        self.fill(anchor, devices)?;
        let first = if part.is_some() { 0 } else { devices };
        let path = |number: u64| {
            let device = device_path(number);
            match part {
                Some(Part::Element) | None => device,
                Some(Part::Container) => format!("{device}/org-openroadm-device"),
                Some(Part::List) => format!("{device}/org-openroadm-device/degree"),
            }
        };
        let paths: Vec<String> = (first..first + count).map(path).collect();
        let gone = match part {
            Some(Part::Element) => DEVICE_NODES,
            Some(Part::Container) => DEVICE_NODES - 1,
            Some(Part::List) => DEVICE_NODES - 2,
            None => 0,
        };
        let (outcome, deleted) = time(|| self.runtime.block_on(self.stored.delete_many(anchor, &paths)));
        let left = self.runtime.block_on(self.stored.tree(anchor)).map(|left| tree::nodes(&left));
        self.runtime.block_on(self.stored.delete_anchor(anchor))?;
        let expected = devices::nodes(devices) - count * gone;
        let checked = deleted.and_then(|deleted| {
            ensure!(
                deleted == part.is_some(),
                "it was answered {deleted} whether there was something to delete"
            );
            let left = left?;
            ensure!(left == expected, "{left} data nodes are left, there must be {expected}");
            Ok(())
        });
        Ok((outcome, checked))
    }
}

/// Reads the text of paths of the kinds that the other jobs have.
fn parse(count: u64) -> (Outcome, Result<()>) {
    let path = |number: u64| match number % 4 {
        0 => device_path(number),
        1 => format!("{}/org-openroadm-device/degree[@degree-number='{}']", device_path(number), number % 28),
        2 => format!(
            "//openroadm-device[@status='success' and @device-id=\"{number}\"]/ancestor::openroadm-devices"
        ),
        _ => format!("//degree[@degree-number={number}]/circuit-packs[contains(@name,'{number}')]"),
    };
    let paths: Vec<String> = (0..count).map(path).collect();
    let (outcome, steps) = time(|| {
        let mut steps = 0;
        for path in &paths {
            steps += lang_cps_path::parse(path)?.steps.len() as u64;
        }
        Ok(steps)
    });
    // Two steps, four, one, two.
    let expected = |number: u64| match number % 4 {
        1 => 4,
        2 => 1,
        _ => 2,
    };
    let expected: u64 = (0..count).map(expected).sum();
    let checked = steps.and_then(|steps| {
        ensure!(steps == expected, "{steps} steps were read, there are {expected}");
        Ok(())
    });
    (outcome, checked)
}
