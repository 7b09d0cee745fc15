//! The rows of the load test CPS-307 in this process: threads that repeat the flow on the API of the model.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use campaign::apart::ApartFamily;
use campaign::course::{Course, Ran, Results, await_rest, data_folder};
use campaign::executors::Outcome;
use campaign::findings::Findings;
use campaign::goals::{self, Goal, Measure};
use campaign::process;
use campaign::progress::note;
use campaign::record::Record;
use campaign::report::{RowReport, Table};
use campaign::usage::Usage;
use campaign::workloads::Workload;
use campaign_config::cps::figures;
use campaign_config::cps::inputs::Inputs;
use campaign_config::cps::rows::{Mode, Row, workload};
use campaign_config::cps::tally::{Step, Tallies};
use campaign_config::transactions::disk::{median, synced_appends};
use campaign_config::tree;
use serde_json::Value as Json;
use tokio::runtime::Runtime;

use crate::config_store::ConfigStore;
use crate::in_process::{complete, ensure_no_server, folder};

/// Of so many flows of a thread one is read back, the first among them.
const READ_BACK_EVERY: u64 = 100;
/// Trees read back that one thread collects.
const SAMPLES_MAX: usize = 20;
/// Synced appends before the rows.
const APPENDS: usize = 200;
/// How often it is looked at what this process uses.
const LOOK: Duration = Duration::from_millis(50);

/// What this process set out to reach on two cores, every write durable.
const GOALS: &[Goal] = &[Goal { row: "CPS-E2", measure: Measure::MeanMs("CREATE NODE"), bound: 1.0 }];

/// The load test CPS-307, in this process.
#[derive(Debug, Clone, Copy)]
pub struct CpsEmbedded;

impl ApartFamily for CpsEmbedded {
    type Row = Row;

    fn workload(&self) -> Result<Workload<Row>> {
        workload("cps-embedded", Mode::Embedded)
    }

    fn columns(&self) -> &'static [&'static str] {
        &["threads", "published flows/s"]
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        vec![row.threads.to_string(), format!("{:.1}", row.published_flows())]
    }

    fn run(&self, course: &Course, workload: &Workload<Row>, results: &mut Results) -> Result<()> {
        ensure_no_server(course, &workload.name)?;
        results.durability = Some("sync: each operation ends when it is synced".to_owned());
        let folder = folder(course)?;
        let stand = Stand::open(course, &folder.path().join("data"))?;
        for row in &workload.rows {
            results.rows.push(stand.row(row, &workload.hardware)?);
        }
        Ok(())
    }

    fn tables(&self, _course: &Course, rows: &[RowReport]) -> Vec<Table> {
        figures::operations(rows).into_iter().chain(goals::table(GOALS, rows)).collect()
    }
}

/// A store for all rows.
struct Stand<'a> {
    course: &'a Course,
    runtime: Runtime,
    inputs: Inputs,
    stored: ConfigStore,
    opened: Duration,
    append: Duration,
}

/// What a thread, or all of them, left.
#[derive(Default)]
struct Left {
    record: Record,
    tallies: Tallies,
    trees: Vec<(u64, Json)>,
    ended: Duration,
}

impl<'a> Stand<'a> {
    fn open(course: &'a Course, folder: &Path) -> Result<Self> {
        let inputs = Inputs::new(course.data.as_deref())?;
        let runtime = Runtime::new().context("starting a runtime")?;
        let append = median(&synced_appends(&data_folder(&course.source), APPENDS)?);
        let begun = Instant::now();
        let stored = runtime.block_on(ConfigStore::open(folder, &inputs.modules))?;
        Ok(Self { course, runtime, inputs, stored, opened: begun.elapsed(), append })
    }

    /// All runs of a row, and its report.
    fn row(&self, row: &Row, hardware: &str) -> Result<RowReport> {
        let own = std::process::id();
        let mut tallies = Tallies::default();
        let mut ran = Ran::default();
        for run in 0..self.course.runs {
            await_rest(Some(own), self.course.profile.rest_time_max());
            let reset = process::reset_peak(own);
            let (outcome, left) = self.run(row, run)?;
            let peak = process::resident_bytes(own).filter(|_| reset).map(|(_, peak)| peak);
            ran.memory_peak = ran.memory_peak.max(peak);
            let node = left.tallies.of(Step::CreateNode).operation("", None);
            note(&format!(
                "{}: {:.0} flows/s, create node {:.3} ms, {} errors",
                row.id,
                outcome.throughput(),
                node.mean_ms,
                outcome.record.failures()
            ));
            self.check(&left.trees, outcome.record.failures() == 0, &mut ran.findings);
            tallies.merge(&left.tallies);
            ran.outcomes.push(outcome);
        }
        let of = (row, hardware);
        let mut report = figures::report(of, self.course, &ran.outcomes, &tallies, &self.how());
        complete(&row.id, &mut report, ran);
        Ok(report)
    }

    fn how(&self) -> [String; 3] {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        [
            self.inputs.title.clone(),
            "in process, each thread asking through the API of the model, as published; CPU and memory are those of this \
             process"
                .to_owned(),
            format!(
                "opening the store and compiling the modules took {:.1} ms; a synced append of 128 bytes to the same disk takes \
                 {:.3} ms (median)",
                ms(self.opened),
                ms(self.append)
            ),
        ]
    }

    /// One run: threads, and a look at what they use now and then.
    fn run(&self, row: &Row, run: u32) -> Result<(Outcome, Left)> {
        let own = std::process::id();
        let threads = self.course.users.unwrap_or(row.threads);
        let mut usage = Usage::start(Some(own));
        let (before, begun) = (process::cpu_time(own), Instant::now());
        let until = begun + row.duration(self.course.profile);
        let parts: Result<Vec<Left>> = thread::scope(|scope| {
            let work = |number: usize| {
                let prefix = format!("{}-{run}-{number}", row.id);
                let mut thread =
                    Thread { stand: self, prefix, number: number as u64, begun, left: Left::default() };
                scope.spawn(move || {
                    self.runtime.block_on(thread.run(until));
                    thread.left
                })
            };
            let workers: Vec<_> = (0..threads).map(work).collect();
            while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
                thread::sleep(LOOK);
                usage.look();
            }
            let join = |worker: thread::ScopedJoinHandle<'_, Left>| worker.join();
            workers
                .into_iter()
                .map(|worker| join(worker).map_err(|_| anyhow::anyhow!("a thread of the load panicked")))
                .collect()
        });
        let server_cpu =
            before.zip(process::cpu_time(own)).map(|(before, after)| after.saturating_sub(before));
        let mut all = Left::default();
        for mut part in parts? {
            all.record.merge(&part.record);
            all.tallies.merge(&part.tallies);
            all.trees.append(&mut part.trees);
            all.ended = all.ended.max(part.ended);
        }
        let outcome = Outcome {
            record: std::mem::take(&mut all.record),
            elapsed: all.ended,
            generator_cpu: None,
            server_cpu,
            out_of_time: false,
            usage: usage.finish(),
        };
        Ok((outcome, all))
    }

    /// Trees read back are those that must be there, in their order; no anchor is left.
    fn check(&self, trees: &[(u64, Json)], all_deleted: bool, findings: &mut Findings) {
        for (mark, found) in trees {
            let same = tree::same(found, &self.inputs.expected(*mark), true);
            findings.note(same.with_context(|| format!("read back {mark}")));
        }
        if all_deleted {
            let anchors = self.runtime.block_on(self.stored.anchors());
            findings.note(anchors.and_then(|anchors| {
                ensure!(anchors == 0, "{anchors} anchors were deleted and are still there");
                Ok(())
            }));
        }
    }
}

/// One thread of a row.
struct Thread<'a> {
    stand: &'a Stand<'a>,
    prefix: String,
    number: u64,
    begun: Instant,
    left: Left,
}

impl Thread<'_> {
    async fn run(&mut self, until: Instant) {
        let mut flow = 0;
        while Instant::now() < until {
            let done = Box::pin(self.flow(flow)).await;
            self.left.ended = self.begun.elapsed();
            match done {
                Ok(took) => self.left.record.success(took, self.left.ended, 0),
                Err(error) => self.left.record.failure("call", self.left.ended, || format!("{error:#}")),
            }
            flow += 1;
        }
    }

    /// One flow; how long its operations took together.
    async fn flow(&mut self, flow: u64) -> Result<Duration> {
        let Stand { inputs, stored, .. } = self.stand;
        let anchor = format!("{}-{flow}", self.prefix);
        let mark = flow * 1_000 + self.number;
        let mut update = Vec::new();
        inputs.update(mark, &mut update);
        let mut took = Duration::ZERO;
        for step in Step::ALL {
            let begun = Instant::now();
            match step {
                Step::CreateAnchor => stored.create_anchor(&anchor).await?,
                Step::CreateNode => stored.create_nodes(&anchor, inputs.sample.as_bytes()).await?,
                Step::UpdateNode => stored.replace_nodes(&anchor, &inputs.updated, &update).await?,
                Step::DeleteAnchor => stored.delete_anchor(&anchor).await?,
            }
            let time = begun.elapsed();
            self.left.tallies.of_mut(step).add(time);
            took += time;
            let is_sample = flow.is_multiple_of(READ_BACK_EVERY) && self.left.trees.len() < SAMPLES_MAX;
            if step == Step::UpdateNode && is_sample {
                self.left.trees.push((mark, stored.tree(&anchor).await?));
            }
        }
        Ok(took)
    }
}
