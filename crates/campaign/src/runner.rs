//! One campaign from the first row to the last: servers and sets come and go, runs follow each other, floors are
//! measured. What a row does is its family's, of which nothing is known here but the interface.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};

use crate::course::{Course, Ran, Results, await_rest, figures};
use crate::executors::Outcome;
use crate::family::{Bench, Family, Sharing};
use crate::floor::{Floor, FloorArgs};
use crate::process;
use crate::progress::note;
use crate::report::RowReport;
use crate::target::{Source, Target};
use crate::workloads::{Named, Selection, Workload};

/// A family whose types are hidden: what the frame's table of families holds.
pub trait AnyFamily: Sync {
    /// Its name, its title, and the names of its rows.
    ///
    /// # Errors
    ///
    /// If the workload file is not as it should be.
    fn selection(&self) -> Result<Selection>;

    /// Its rows with the published figures, for `campaign list`.
    ///
    /// # Errors
    ///
    /// If the workload file is not as it should be.
    fn list(&self) -> Result<String>;

    /// Runs the rows of `selection`.
    ///
    /// # Errors
    ///
    /// If no server can be had before the first row. What fails later is in the results.
    fn run(&self, course: &Course, selection: &Selection) -> Result<Results>;
}

impl<F: Family> AnyFamily for F {
    fn selection(&self) -> Result<Selection> {
        Ok(self.workload()?.selection())
    }

    fn list(&self) -> Result<String> {
        Ok(listed(&self.workload()?, self.columns(), |row| self.cells(row)))
    }

    fn run(&self, course: &Course, selection: &Selection) -> Result<Results> {
        course.run(self, &self.workload()?.of(selection))
    }
}

/// The rows of `workload`, for `campaign list`: `columns` are the heads of `cells`.
pub(crate) fn listed<R: Named>(
    workload: &Workload<R>,
    columns: &[&str],
    cells: impl Fn(&R) -> Vec<String>,
) -> String {
    let head = std::iter::once("row").chain(columns.iter().copied()).map(str::to_owned).collect();
    let line = |row: &R| [vec![row.id().to_owned()], cells(row)].concat();
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(workload.rows.iter().map(line)).collect();
    let Workload { name, title, hardware, .. } = workload;
    format!("{name}: {title}\npublished on: {hardware}\n\n{}", aligned(&lines))
}

/// Text in columns as wide as their widest cells: the first two to the left, as they are names, the others to the
/// right.
fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for line in lines {
        let start = out.len();
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let _ =
                if column < 2 { write!(out, "{cell:<width$}  ") } else { write!(out, "{cell:>width$}  ") };
        }
        out.truncate(start + out.get(start..).map_or(0, |line| line.trim_end().len()));
        out.push('\n');
    }
    out
}

/// The family and the rows that `text` names: `NAME`, `NAME/ROW`, `NAME/BEGINNING,ROW`.
///
/// # Errors
///
/// If there is no such family or row; the message lists what there is.
pub fn select<'a>(families: &[&'a dyn AnyFamily], text: &str) -> Result<(&'a dyn AnyFamily, Selection)> {
    let (name, rows) = text.split_once('/').unwrap_or((text, ""));
    let mut names = Vec::new();
    for family in families {
        let selection = family.selection()?;
        if selection.family == name {
            return Ok((*family, selection.narrowed(rows)?));
        }
        names.push(selection.family);
    }
    bail!("no family {name:?}; there is: {}", names.join(", "))
}

/// A server with a set on it.
struct Stand<S> {
    target: Target,
    sharing: Sharing,
    set: S,
    prepared: Option<Outcome>,
    /// Which of the results' rows ran on it.
    rows: Vec<usize>,
}

impl Course {
    /// Runs the rows of `workload` one after the other.
    ///
    /// Our own server starts afresh for each set; rows that share a set share the server. Somebody else's server is
    /// used as it is.
    ///
    /// # Errors
    ///
    /// If no server can be had before the first row. What fails later is in the results.
    pub fn run<F: Family>(&self, family: &F, workload: &Workload<F::Row>) -> Result<Results> {
        let mut results = Results::default();
        let ran = self.rows(family, workload, &mut results);
        results.or_fault(ran)?;
        let tables = family.tables(self, &results.rows);
        results.tables.splice(0..0, tables);
        Ok(results)
    }

    fn rows<F: Family>(&self, family: &F, workload: &Workload<F::Row>, results: &mut Results) -> Result<()> {
        let (apart, rows): (Vec<_>, Vec<_>) = workload.rows.iter().partition(|row| family.is_apart(row));
        let mut stand: Option<Stand<F::Set>> = None;
        for row in rows {
            let sharing = family.sharing(self, row);
            let next = match stand.take() {
                Some(stand) if self.fits(&stand.sharing, &sharing) => stand,
                old => {
                    self.leave(family, old, results);
                    self.enter(family, (workload, row), sharing, results)?
                }
            };
            let current = stand.insert(next);
            let report = self.row(family, (workload, row), current)?;
            current.rows.push(results.rows.len());
            results.rows.push(report);
        }
        self.leave(family, stand, results);
        if apart.is_empty() { Ok(()) } else { family.run_apart(self, workload, &apart, results) }
    }

    /// Whether a row can run on the server and set of another.
    fn fits(&self, old: &Sharing, new: &Sharing) -> bool {
        // Somebody else's server cannot be given arguments: it is the same one for every row.
        let same_server = matches!(self.source, Source::Foreign { .. }) || old.server == new.server;
        new.set.is_some() && old.set == new.set && same_server
    }

    /// A server, and the set of the row on it.
    fn enter<F: Family>(
        &self,
        family: &F,
        (workload, row): (&Workload<F::Row>, &F::Row),
        sharing: Sharing,
        results: &mut Results,
    ) -> Result<Stand<F::Set>> {
        let target = self.open(&sharing.server, results)?;
        let name = format!("{} setup", row.id());
        let (set, prepared) =
            family.prepare(&Bench { course: self, workload, row, target: &target, name })?;
        Ok(Stand { target, sharing, set, prepared, rows: Vec::new() })
    }

    fn leave<F: Family>(&self, family: &F, stand: Option<Stand<F::Set>>, results: &mut Results) {
        let Some(Stand { target, set, rows, .. }) = stand else { return };
        if family.weighs_folders() {
            await_rest(target.pid, self.profile.rest_time_max());
        }
        let bytes = results.close(target);
        for index in rows {
            let report = results.rows.get_mut(index).expect("a row that ran has its report");
            family.weighed(&set, bytes, report);
        }
    }

    /// All runs of a row, and its report.
    fn row<F: Family>(
        &self,
        family: &F,
        (workload, row): (&Workload<F::Row>, &F::Row),
        stand: &mut Stand<F::Set>,
    ) -> Result<RowReport> {
        let Stand { target, set, prepared, rows, .. } = stand;
        let mut ran = Ran { prepared: prepared.as_ref(), rows_before: rows.len(), ..Ran::default() };
        let bench = |target, name| Bench { course: self, workload, row, target, name };
        for run in 0..self.runs {
            if family.rests_before_runs() && (run > 0 || (ran.prepared.is_some() && rows.is_empty())) {
                await_rest(target.pid, self.profile.rest_time_max());
            }
            let id = row.id();
            let name = if self.runs > 1 { format!("{id} run {}", run + 1) } else { id.to_owned() };
            let bench = bench(&*target, name);
            let loaded = family.load(&bench, set, run)?;
            ran.memory_peak = ran.memory_peak.max(loaded.memory_peak);
            ran.findings.merge(family.check(&bench, set, &loaded.outcome, loaded.answers)?);
            ran.outcomes.push(loaded.outcome);
        }
        ran.resident = target.pid.and_then(process::resident_bytes);
        ran.folder_bytes = target.folder_bytes();
        if let Some((floor, _process)) = self.floor(family, row, target, &ran)? {
            let name = format!("{} floor", row.id());
            let bench = Bench { course: self, workload, row, target: &floor, name };
            ran.floor = Some(family.floor(&bench, set)?);
        }
        let mut report = family.report(&bench(target, row.id().to_owned()), set, &ran);
        row.id().clone_into(&mut report.id);
        figures::complete(&mut report, &ran);
        let said = Some(std::mem::take(&mut report.caveat)).filter(|caveat| !caveat.is_empty());
        let caveats: Vec<String> = said.into_iter().chain(figures::caveats(self, &ran.outcomes)).collect();
        report.caveat = caveats.join("; ");
        let last_lines = target.last_lines();
        if report.errors > 0 && !last_lines.is_empty() {
            note(&format!("{}: {} errors; the server's last lines:\n{last_lines}", row.id(), report.errors));
        }
        Ok(report)
    }

    /// A bare server that answers as many bytes as were answered; `None` if there is nothing to set beside it.
    fn floor<F: Family>(
        &self,
        family: &F,
        row: &F::Row,
        target: &Target,
        ran: &Ran<'_>,
    ) -> Result<Option<(Target, Floor)>> {
        let answered = ran.outcomes.iter().any(|outcome| outcome.record.successes() > 0);
        if !answered || !self.with_floor {
            return Ok(None);
        }
        await_rest(target.pid, self.profile.rest_time_max());
        let body_bytes = figures::body_bytes_mean(&ran.outcomes);
        let args = FloorArgs { status: family.floor_status(row), body_bytes, seconds_max: 600 };
        let floor = Floor::start(&args).context("starting the floor")?;
        let address = floor.address();
        Ok(Some((Target::foreign(address, address.to_string(), Some(floor.pid())), floor)))
    }
}
