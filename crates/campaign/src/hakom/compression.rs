//! The compression table: a share of each day is overwritten, then all is read, with series that are compressed and
//! with series that are not; turn by turn on two servers, so that both meet the same machine.

use anyhow::{Context as _, Result};

use crate::course::await_rest;
use crate::executors::Outcome;
use crate::process;
use crate::report::table::number;
use crate::report::{RowReport, Table};
use crate::stellio::checks::Findings;

use super::bodies::Pieces;
use super::course::{Runner, Stand, check};
use super::figures;
use super::jobs::{Job, Task};
use super::rows::{Form, Pattern, PublishedLine, Row};
use super::series::{self, Data, Versions};

/// Means this close, as a share, are taken as equal: on one machine they differ by as much from run to run.
const NOISE: f64 = 0.05;

/// Fewer turns do not tell how much they differ by themselves.
const TURNS_MIN: usize = 3;

/// One of the two servers.
struct Side {
    compressed: bool,
    stand: Stand,
    data: Data,
    versions: Versions,
    version: u32,
}

/// The jobs of one row on one side.
#[derive(Default)]
struct Runs {
    writes: Vec<Outcome>,
    reads: Vec<Outcome>,
    findings: Findings,
    write_peak: Option<u64>,
    read_peak: Option<u64>,
}

/// One line of a table: seconds of each run.
struct Line {
    percent: usize,
    /// Compressed, then not.
    writes: [Vec<f64>; 2],
    reads: [Vec<f64>; 2],
    published: Option<PublishedLine>,
}

/// Runs `rows`, all of one size, and adds their reports and tables.
///
/// # Errors
///
/// If no server can be had.
pub(super) fn run(runner: &mut Runner<'_>, rows: &[&Row]) -> Result<()> {
    let first = *rows.first().context("a table without rows")?;
    let reports_before = runner.results.rows.len();
    let mut sides = [side(runner, first, true)?, side(runner, first, false)?];
    let mut tables: Vec<((Form, Pattern), Vec<Line>)> = Vec::new();
    for row in rows {
        let runs = turns(runner, row, &mut sides)?;
        let line = Line {
            percent: row.percent,
            writes: runs.each_ref().map(|runs| seconds(&runs.writes)),
            reads: runs.each_ref().map(|runs| seconds(&runs.reads)),
            published: row.table,
        };
        let key = (row.form, row.pattern);
        match tables.iter_mut().find(|(held, _)| *held == key) {
            Some((_, lines)) => lines.push(line),
            None => tables.push((key, vec![line])),
        }
        for (runs, side) in runs.iter().zip(&sides) {
            let reports = reports(runner, row, side, runs);
            runner.results.rows.extend(reports);
        }
    }
    let mut weights = Vec::new();
    for side in sides {
        let (compressed, points) = (side.compressed, side.data.points());
        let each = runner.weigh(side.stand).map(|bytes| bytes as f64 / points as f64);
        weights.push((compressed, each));
        let rows = runner.results.rows.iter_mut().skip(reports_before);
        for row in rows.filter(|row| row.id.ends_with("-raw") != compressed) {
            row.disk_bytes_per_point = each;
        }
    }
    runner.results.tables.extend(tables.iter().map(|(key, lines)| table(*key, lines)));
    runner.results.tables.extend(disk(&weights));
    Ok(())
}

fn side(runner: &mut Runner<'_>, row: &Row, compressed: bool) -> Result<Side> {
    let name = if compressed { "compressed" } else { "raw" };
    let data = runner.data(row, name);
    let stand = runner.stand(row.workers, (data.series, data.values, row.workers))?;
    runner.fill(&stand.target, &data, compressed, &format!("table, {name} series"))?;
    Ok(Side { compressed, stand, data, versions: Versions::default(), version: 0 })
}

/// All repetitions of one row, turn by turn on both sides.
fn turns(runner: &Runner<'_>, row: &Row, sides: &mut [Side; 2]) -> Result<[Runs; 2]> {
    let course = runner.course;
    let repetitions =
        if course.runs > course.profile.runs() { course.runs } else { course.profile.overwrites() };
    let (_, request_series) = course.profile.series(row);
    let shape = (request_series, course.users.unwrap_or(row.users));
    let mut all = [Runs::default(), Runs::default()];
    for turn in 0..repetitions {
        for (side, runs) in sides.iter_mut().zip(&mut all) {
            side.version += 1;
            let pieces = Pieces::new(&side.data, series::picked(&side.data, row.percent, row.pattern));
            let job = Job::new(&side.data, Task::Write { version: side.version }, &pieces, row.form, shape);
            let (outcome, peak) = rested(runner, side, &job, &name(row, side, "write", turn))?;
            side.versions.write(&pieces.picked, side.version);
            runs.writes.push(outcome);
            runs.write_peak = runs.write_peak.max(peak);
        }
        for (side, runs) in sides.iter().zip(&mut all) {
            let pieces = Pieces::new(&side.data, Vec::new());
            let job = Job::new(&side.data, Task::Read, &pieces, row.form, shape);
            let (outcome, peak) = rested(runner, side, &job, &name(row, side, "read", turn))?;
            check(&job, &side.versions, &outcome, &mut runs.findings);
            runs.reads.push(outcome);
            runs.read_peak = runs.read_peak.max(peak);
        }
    }
    Ok(all)
}

fn name(row: &Row, side: &Side, what: &str, turn: u32) -> String {
    format!("{}{} {what} {}", row.id, if side.compressed { "" } else { "-raw" }, turn + 1)
}

/// Runs `job` once neither server works behind any more.
fn rested(runner: &Runner<'_>, side: &Side, job: &Job<'_>, name: &str) -> Result<(Outcome, Option<u64>)> {
    let pid = side.stand.target.pid;
    await_rest(pid, runner.course.profile.rest_time_max());
    let reset = pid.is_some_and(process::reset_peak);
    let outcome = runner.job(&side.stand.target, job, name)?;
    let peak = pid.filter(|_| reset).and_then(process::resident_bytes).map(|(_, peak)| peak);
    Ok((outcome, peak))
}

fn seconds(outcomes: &[Outcome]) -> Vec<f64> {
    outcomes.iter().map(|outcome| outcome.elapsed.as_secs_f64()).collect()
}

/// The reports of the writes and of the reads of one row on one side.
fn reports(runner: &Runner<'_>, row: &Row, side: &Side, runs: &Runs) -> [RowReport; 2] {
    let picked = series::picked(&side.data, row.percent, row.pattern).len() as u64;
    let ending = if side.compressed { "" } else { "-raw" };
    let users = runner.course.users.unwrap_or(row.users);
    let published = |seconds: Option<f64>| {
        seconds.map(|seconds| format!("published: {seconds} s, of a volume that was not"))
    };
    let line = row.table;
    let choose = |yes: f64, no: f64| if side.compressed { yes } else { no };
    let mut caveats = vec![
        "read = the whole span that holds what was overwritten".to_owned(),
        "measured once the server had come to rest; fresh and folded overwrites are both read".to_owned(),
    ];
    if side.data.series < row.series {
        caveats.push(format!("scaled: {} of {} series", side.data.series, row.series));
    }
    let report = |id: String, outcomes: &[Outcome], points: u64, more: Option<String>| RowReport {
        id,
        users,
        caveat: caveats.iter().cloned().chain(more).collect::<Vec<_>>().join("; "),
        ..figures::measured(outcomes, points)
    };
    let write = RowReport {
        scenario: Some(figures::scenario(row)),
        row_rss_peak_mb: runs.write_peak.map(|bytes| bytes as f64 / figures::MEGABYTE),
        ..report(
            format!("{}{ending}", row.id),
            &runs.writes,
            picked * side.data.series as u64,
            published(line.map(|line| choose(line.write, line.write_raw))),
        )
    };
    let read = RowReport {
        scenario: Some(figures::scenario(row).replace("overwrite", "read after an overwrite")),
        row_rss_peak_mb: runs.read_peak.map(|bytes| bytes as f64 / figures::MEGABYTE),
        answers_checked: runs.findings.checked,
        answers_wrong: runs.findings.wrong,
        wrong_examples: runs.findings.examples.clone(),
        ..report(
            format!("{}{ending}", row.id.replacen("H-C", "H-CR", 1)),
            &runs.reads,
            side.data.points(),
            published(line.map(|line| choose(line.read, line.read_raw))),
        )
    };
    [write, read]
}

fn table((form, pattern): (Form, Pattern), lines: &[Line]) -> Table {
    let form = match form {
        Form::Rows => "JSON rows",
        Form::Compact => "JSON compact",
        Form::Arrow => "Arrow",
    };
    let pattern = match pattern {
        Pattern::Contiguous => "the first values of each day",
        Pattern::Scattered => "values all over each day",
    };
    let columns = [
        "overwritten",
        "write, compressed, s",
        "write, not compressed, s",
        "ratio",
        "published ratio",
        "read, compressed, s",
        "read, not compressed, s",
        "ratio",
        "published ratio",
    ];
    Table {
        title: format!("Compression: {form}, {pattern}"),
        columns: columns.map(str::to_owned).to_vec(),
        lines: lines.iter().map(Line::cells).collect(),
        verdict: verdict(lines),
    }
}

impl Line {
    fn cells(&self) -> Vec<String> {
        let ratio = |pair: &[Vec<f64>; 2]| number(mean(&pair[0]) / mean(&pair[1]).max(1e-9));
        let told = |ratio: Option<f64>| ratio.map_or("–".to_owned(), number);
        vec![
            format!("{} %", self.percent),
            number(mean(&self.writes[0])),
            number(mean(&self.writes[1])),
            ratio(&self.writes),
            told(self.published.map(|line| line.write / line.write_raw)),
            number(mean(&self.reads[0])),
            number(mean(&self.reads[1])),
            ratio(&self.reads),
            told(self.published.map(|line| line.read / line.read_raw)),
        ]
    }
}

/// Whether compressed series are anywhere slower than the noise explains.
fn verdict(lines: &[Line]) -> String {
    let mut slower = Vec::new();
    for line in lines {
        for (what, [compressed, raw]) in [("write", &line.writes), ("read", &line.reads)] {
            let (ours, theirs) = (mean(compressed), mean(raw));
            let noise = 2.0 * (error_of_mean(compressed).powi(2) + error_of_mean(raw).powi(2)).sqrt();
            if ours > theirs * (1.0 + NOISE) && ours - theirs > noise {
                slower.push(format!(
                    "{what} at {} % (+{:.0} %)",
                    line.percent,
                    (ours / theirs - 1.0) * 100.0
                ));
            }
        }
    }
    let runs = lines.first().map_or(0, |line| line.writes[0].len());
    let noise = format!("noise: {:.0} % or twice the standard error, {runs} runs", NOISE * 100.0);
    if runs < TURNS_MIN {
        return format!(
            "{runs} runs are too few for a verdict: it takes {TURNS_MIN} to tell a difference from noise."
        );
    }
    if slower.is_empty() {
        format!("No break-even point: compressed series are nowhere slower ({noise}).")
    } else {
        format!("Compressed series are slower here: {} ({noise}).", slower.join(", "))
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn error_of_mean(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64 / values.len() as f64).sqrt()
}

/// What the two servers left on the disk.
fn disk(weights: &[(bool, Option<f64>)]) -> Option<Table> {
    let each =
        |wanted: bool| weights.iter().find(|(compressed, _)| *compressed == wanted).and_then(|pair| pair.1);
    let (compressed, raw) = (each(true)?, each(false)?);
    Some(Table {
        title: "Compression: bytes on disk".to_owned(),
        columns: ["series", "bytes/value"].map(str::to_owned).to_vec(),
        lines: vec![
            vec!["compressed".to_owned(), number(compressed)],
            vec!["not compressed".to_owned(), number(raw)],
        ],
        verdict:
            "The whole folder of each server after all overwrites, a rest and a clean stop, flags and log \
                  included, divided by the values it holds."
                .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(writes: [Vec<f64>; 2]) -> Line {
        Line { percent: 25, writes, reads: [vec![1.0], vec![1.0]], published: None }
    }

    #[test]
    fn the_verdict_tells_slower_from_noise() {
        let kept = "No break-even point";
        let three = |seconds: f64| vec![seconds; 3];
        assert!(verdict(&[line([three(1.04), three(1.0)])]).starts_with(kept), "within five per cent");
        assert!(verdict(&[line([three(0.5), three(1.0)])]).starts_with(kept), "faster");
        assert!(verdict(&[line([vec![0.5], vec![1.0]])]).starts_with("1 runs are too few"));
        let noisy = [vec![1.0, 2.0, 0.5], vec![0.9, 1.0, 1.1]];
        assert!(verdict(&[line(noisy)]).starts_with(kept), "within the noise of the runs");
        let slow = [vec![1.3, 1.31, 1.29], vec![1.0, 1.01, 0.99]];
        let text = verdict(&[line([three(1.0), three(1.0)]), line(slow)]);
        assert!(text.starts_with("Compressed series are slower here: write at 25 % (+30 %)"), "{text}");
    }

    #[test]
    fn a_line_sets_both_beside_the_published_ratio() {
        let published = PublishedLine { write: 1.5, write_raw: 1.0, read: 1.0, read_raw: 2.0 };
        let line = Line { published: Some(published), ..line([vec![2.0, 4.0], vec![6.0]]) };
        assert_eq!(line.cells(), ["25 %", "3.00", "6.00", "0.500", "1.50", "1.00", "1.00", "1.00", "0.500"]);
    }
}
