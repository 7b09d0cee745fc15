//! The family as the frame runs it.

use anyhow::{Context as _, Result, ensure};
use campaign::course::figures::MEGABYTE;
use campaign::course::{Course, Ran, with_memory_peak};
use campaign::executors::Outcome;
use campaign::family::{Bench, Family, Loaded, Sharing};
use campaign::findings::Findings;
use campaign::report::{RowReport, Table};
use campaign::workloads::{Named as _, Workload};
use serde_json::Value as Json;
use yang_samples::{Module, open_config};

use super::figures::{self, Size};
use super::rows::{Modules, Row, workload};
use crate::cps::inputs::Inputs;
use crate::rest::{self, Cps, Dataspace};
use crate::script::{Draft, Script};
use crate::tree;

/// A tree under the modules of the shape of OpenConfig.
const OPEN_CONFIG_SAMPLE: &str =
    r#"{"oc-1:top-1":{"item-1":[{"name":"a","config":{"name":"a","setting-0":5}}]}}"#;

/// Uploads of schema sets.
#[derive(Debug, Clone, Copy)]
pub struct ConfigUploads;

/// A dataspace for the schema sets, and what is uploaded.
#[derive(Debug)]
pub struct Stand {
    dataspace: Dataspace,
    inputs: Inputs,
    open_config: Vec<Module>,
    size: Size,
    /// The last run's requests, for the floor.
    last: Option<Script>,
}

impl Stand {
    fn modules(&self, of: Modules) -> &[Module] {
        match of {
            Modules::Topology => &self.inputs.modules,
            Modules::OpenConfig => &self.open_config,
        }
    }

    /// A tree that each upload must be able to hold.
    fn sample(&self, of: Modules) -> &str {
        match of {
            Modules::Topology => &self.inputs.sample,
            Modules::OpenConfig => OPEN_CONFIG_SAMPLE,
        }
    }

    /// Uploads of texts that no other has: each module ends with a comment that says which upload of the campaign it is of.
    fn script(&mut self, bench: &Bench<'_, Row>, names: &[String]) -> Result<Script> {
        let mut drafts = Vec::with_capacity(names.len());
        for name in names {
            let mark = format!("{name}, seed {}", bench.course.seed);
            let modules = self.modules(bench.row.modules);
            let modules: Vec<Module> = modules.iter().map(|module| module.marked(&mark)).collect();
            let body = rest::upload(&modules)?;
            let text = modules.iter().map(|module| module.text.len()).sum();
            self.size = Size { modules: modules.len(), text, body: body.len() };
            drafts.push(Draft::new("POST", rest::schema_set_path(&self.dataspace, name), 201).with(body));
        }
        Ok(Script { headers: rest::upload_headers(), drafts: drafts.into(), repeat: 1 })
    }

    /// Whether a schema set has all its modules, and trees can be under it; it is deleted afterwards.
    fn check(&self, cps: &mut Cps, of: Modules, name: &str) -> Result<()> {
        let (dataspace, path) = (&self.dataspace, self.dataspace.schema_set(name));
        let found = cps.get(&path)?;
        let references = found.get("moduleReferences").and_then(Json::as_array).map_or(0, Vec::len);
        let modules = self.modules(of).len();
        ensure!(references >= modules, "{name} has {references} modules, {modules} were uploaded");
        cps.send("POST", &dataspace.new_anchor(name, name), b"", 201)?;
        let (sample, anchor) = (self.sample(of), dataspace.anchor(name));
        cps.send("POST", &format!("{anchor}/nodes"), sample.as_bytes(), 201)?;
        let answer = cps.get_if_there(&dataspace.read(name, "/", "all"))?;
        cps.send("DELETE", &anchor, b"", 204)?;
        cps.send("DELETE", &path, b"", 204)?;
        let (found, expected) =
            (answer.as_ref().map_or(0, tree::nodes), tree::nodes(&rest::parsed(sample.as_bytes())?));
        ensure!(found == expected, "{name}: {found} data nodes were read back, {expected} were written");
        Ok(())
    }
}

impl Family for ConfigUploads {
    type Row = Row;
    type Set = Stand;
    /// The names of the schema sets.
    type Answers = Vec<String>;

    fn workload(&self) -> Result<Workload<Row>> {
        workload()
    }

    fn columns(&self) -> &'static [&'static str] {
        &["modules", "goal s"]
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let modules = match row.modules {
            Modules::Topology => "eleven of a network",
            Modules::OpenConfig => "218 of the shape of OpenConfig",
        };
        vec![modules.to_owned(), row.goal_s.to_string()]
    }

    fn sharing(&self, _course: &Course, _row: &Row) -> Sharing {
        Sharing { server: Vec::new(), set: Some("uploads".to_owned()) }
    }

    fn prepare(&self, bench: &Bench<'_, Row>) -> Result<(Stand, Option<Outcome>)> {
        let dataspace = Dataspace { name: format!("campaign-uploads-{}", bench.course.seed) };
        let inputs = Inputs::new(bench.course.data.as_deref())?;
        Cps::new(bench.target)?.create_dataspace(&dataspace).context("creating the dataspace")?;
        let stand =
            Stand { dataspace, inputs, open_config: open_config(), size: Size::default(), last: None };
        Ok((stand, None))
    }

    fn rests_before_runs(&self) -> bool {
        true
    }

    fn load(&self, bench: &Bench<'_, Row>, set: &mut Stand, run: u32) -> Result<Loaded<Vec<String>>> {
        let count = bench.row.count(bench.course.profile);
        let name = |number: u64| format!("{}-{run}-{number}", bench.row.id().to_lowercase());
        let names: Vec<String> = (0..count).map(name).collect();
        let script = set.script(bench, &names)?;
        set.last = Some(script.clone());
        let ((outcome, _), memory_peak) =
            with_memory_peak(bench.target, || script.run(&bench.load(1), &bench.name))?;
        Ok(Loaded { outcome, memory_peak, answers: names })
    }

    fn check(
        &self,
        bench: &Bench<'_, Row>,
        set: &Stand,
        _outcome: &Outcome,
        names: Vec<String>,
    ) -> Result<Findings> {
        let (mut findings, mut cps) = (Findings::default(), Cps::new(bench.target)?);
        for name in &names {
            findings.note(set.check(&mut cps, bench.row.modules, name));
        }
        Ok(findings)
    }

    fn floor_status(&self, _row: &Row) -> u16 {
        201
    }

    fn floor(&self, bench: &Bench<'_, Row>, set: &Stand) -> Result<Outcome> {
        let script = set.last.as_ref().context("the floor comes behind the row")?;
        script.run_on_floor(&bench.load(1), &bench.name, 201)
    }

    fn report(&self, bench: &Bench<'_, Row>, set: &Stand, ran: &Ran<'_>) -> RowReport {
        let what = match bench.row.modules {
            Modules::Topology => set.inputs.title.clone(),
            Modules::OpenConfig => "modules made for this campaign, of the shape of OpenConfig's".to_owned(),
        };
        let mut report = figures::report(bench.row, bench.course, &ran.outcomes, set.size, &[what]);
        report.floor_throughput = ran.floor.as_ref().map(Outcome::throughput).filter(|rate| *rate > 0.0);
        report.disk_mb = ran.folder_bytes.map(|bytes| bytes as f64 / MEGABYTE);
        report
    }

    fn tables(&self, _course: &Course, rows: &[RowReport]) -> Vec<Table> {
        let workload = self.workload().ok();
        workload.and_then(|workload| figures::table(&workload.rows, rows)).into_iter().collect()
    }
}
