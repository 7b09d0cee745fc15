//! The compression table: a share of each day is overwritten, then all is read, with series that are compressed and
//! with series that are not; alternately on two servers, so that both meet the same machine.

use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::course::figures::MEGABYTE;
use crate::course::{Course, Results, SCALED, await_rest, with_memory_peak};
use crate::executors::Outcome;
use crate::findings::Findings;
use crate::report::table::number;
use crate::report::{RowReport, Table};
use crate::target::Target;

use super::bodies::Pieces;
use super::figures;
use super::jobs::{Job, Task};
use super::paired::{Finding, MARGIN, Ratio, TURNS_MIN, median};
use super::rows::{Form, Pattern, PublishedLine, Row};
use super::runs::{self, check, server_arguments};
use super::series::{self, Data, Versions};

/// One of the two servers.
struct Side {
    compressed: bool,
    target: Target,
    data: Data,
    /// How its series were defined and filled.
    setup: Outcome,
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
    /// CPU time of the server for compressed series as a multiple of that for the others: writes, then reads.
    cpu: [Option<f64>; 2],
    published: Option<PublishedLine>,
}

/// Runs `rows`, all of one size, and adds their reports and tables.
///
/// # Errors
///
/// If no server can be had.
pub(super) fn run(course: &Course, rows: &[&Row], results: &mut Results) -> Result<()> {
    let first = *rows.first().context("a table without rows")?;
    let reports_before = results.rows.len();
    let mut sides = [side(course, first, true, results)?, side(course, first, false, results)?];
    let mut tables: Vec<((Form, Pattern), Vec<Line>)> = Vec::new();
    for row in rows {
        let runs = turns(course, row, &mut sides)?;
        let line = Line {
            percent: row.percent,
            writes: runs.each_ref().map(|runs| seconds(&runs.writes)),
            reads: runs.each_ref().map(|runs| seconds(&runs.reads)),
            cpu: [cpu_ratio(&runs, |runs| &runs.writes), cpu_ratio(&runs, |runs| &runs.reads)],
            published: row.table,
        };
        let key = (row.form, row.pattern);
        match tables.iter_mut().find(|(held, _)| *held == key) {
            Some((_, lines)) => lines.push(line),
            None => tables.push((key, vec![line])),
        }
        for (runs, side) in runs.iter().zip(&sides) {
            let reports = reports(course, row, side, runs);
            results.rows.extend(reports);
        }
    }
    let mut weights = Vec::new();
    for side in sides {
        // What went wrong before the first turn belongs to the first row of the side.
        let mut rows = results.rows.iter_mut().skip(reports_before);
        if let Some(row) = rows.find(|row| row.id.ends_with("-raw") != side.compressed) {
            figures::add_setup(row, &side.setup);
        }
        let (compressed, points) = (side.compressed, side.data.points());
        await_rest(side.target.pid, course.profile.rest_time_max());
        let each = results.close(side.target).map(|bytes| bytes as f64 / points as f64);
        weights.push((compressed, each));
        let rows = results.rows.iter_mut().skip(reports_before);
        for row in rows.filter(|row| row.id.ends_with("-raw") != compressed) {
            row.disk_bytes_per_point = each;
        }
    }
    results.tables.extend(tables.iter().map(|(key, lines)| table(*key, lines)));
    results.tables.extend(disk(&weights));
    Ok(())
}

fn side(course: &Course, row: &Row, compressed: bool, results: &mut Results) -> Result<Side> {
    let name = if compressed { "compressed" } else { "raw" };
    let data = runs::data(course, row, name);
    let target = course.open(&server_arguments(row), results)?;
    let setup = runs::fill(course, &target, (&data, compressed), &format!("table, {name} series"))?;
    Ok(Side { compressed, target, data, setup, versions: Versions::default(), version: 0 })
}

/// All repetitions of one row, alternately on both sides; who begins alternates, too.
fn turns(course: &Course, row: &Row, sides: &mut [Side; 2]) -> Result<[Runs; 2]> {
    let repetitions = course.runs.max(course.profile.turns());
    let (_, request_series) = row.sizes(course.profile);
    let shape = (request_series, course.users.unwrap_or(row.users));
    let mut all = [Runs::default(), Runs::default()];
    for turn in 0..repetitions {
        let mut pair: Vec<(&mut Side, &mut Runs)> = sides.iter_mut().zip(&mut all).collect();
        if turn % 2 == 1 {
            pair.reverse();
        }
        for (side, runs) in &mut pair {
            side.version += 1;
            let pieces = Pieces::new(&side.data, series::picked(&side.data, row.percent, row.pattern));
            let job = Job::new(&side.data, Task::Write { version: side.version }, &pieces, row.form, shape);
            let (outcome, peak) = rested(course, side, &job, &name(row, side, "write", turn))?;
            side.versions.write(&pieces.picked, side.version);
            runs.writes.push(outcome);
            runs.write_peak = runs.write_peak.max(peak);
        }
        for (side, runs) in &mut pair {
            let pieces = Pieces::new(&side.data, Vec::new());
            let job = Job::new(&side.data, Task::Read, &pieces, row.form, shape);
            let (outcome, peak) = rested(course, side, &job, &name(row, side, "read", turn))?;
            check(&side.data, job.take_found(), &side.versions, &outcome, &mut runs.findings);
            runs.reads.push(outcome);
            runs.read_peak = runs.read_peak.max(peak);
        }
    }
    Ok(all)
}

fn name(row: &Row, side: &Side, what: &str, turn: u32) -> String {
    format!("{}{} {what} {}", row.id, if side.compressed { "" } else { "-raw" }, turn + 1)
}

/// Runs `job` once its server hardly works behind any more.
fn rested(course: &Course, side: &Side, job: &Job<'_>, name: &str) -> Result<(Outcome, Option<u64>)> {
    await_rest(side.target.pid, course.profile.rest_time_max());
    with_memory_peak(&side.target, || runs::run(course, &side.target, job, name))
}

fn seconds(outcomes: &[Outcome]) -> Vec<f64> {
    outcomes.iter().map(|outcome| outcome.elapsed.as_secs_f64()).collect()
}

/// CPU time of the server in all turns, compressed to not.
fn cpu_ratio(runs: &[Runs; 2], of: impl Fn(&Runs) -> &Vec<Outcome>) -> Option<f64> {
    let [compressed, raw] = runs.each_ref().map(|runs| {
        let cpu: Option<Duration> = of(runs).iter().map(|outcome| outcome.server_cpu).sum();
        cpu.map(|cpu| cpu.as_secs_f64()).filter(|seconds| *seconds > 0.0)
    });
    Some(compressed? / raw?)
}

/// The reports of the writes and of the reads of one row on one side.
fn reports(course: &Course, row: &Row, side: &Side, runs: &Runs) -> [RowReport; 2] {
    let picked = series::picked(&side.data, row.percent, row.pattern).len() as u64;
    let ending = if side.compressed { "" } else { "-raw" };
    let users = course.users.unwrap_or(row.users);
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
        caveats.push(format!("{SCALED}{} of {} series", side.data.series, row.series));
    }
    let report = |id: String, outcomes: &[Outcome], points: u64, more: Option<String>| RowReport {
        id,
        users,
        caveat: caveats.iter().cloned().chain(more).collect::<Vec<_>>().join("; "),
        ..figures::measured(outcomes, points)
    };
    let write = RowReport {
        scenario: Some(figures::scenario(row)),
        row_rss_peak_mb: runs.write_peak.map(|bytes| bytes as f64 / MEGABYTE),
        ..report(
            format!("{}{ending}", row.id),
            &runs.writes,
            picked * side.data.series as u64,
            published(line.map(|line| choose(line.write, line.write_raw))),
        )
    };
    let read = RowReport {
        scenario: Some(figures::scenario(row).replace("overwrite", "read after an overwrite")),
        row_rss_peak_mb: runs.read_peak.map(|bytes| bytes as f64 / MEGABYTE),
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
        "write, compressed, median s",
        "write, not compressed, median s",
        "write ratio",
        "published write ratio",
        "write ratio, server CPU",
        "read, compressed, median s",
        "read, not compressed, median s",
        "read ratio",
        "published read ratio",
        "read ratio, server CPU",
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
        let ratio = |[compressed, raw]: &[Vec<f64>; 2]| {
            let Some(ratio) = Ratio::of(compressed, raw) else { return "–".to_owned() };
            let bounds = |(low, high)| format!(" ({} to {})", number(low), number(high));
            format!("{}{}", number(ratio.median), ratio.bounds.map_or_else(String::new, bounds))
        };
        let told = |ratio: Option<f64>| ratio.map_or("–".to_owned(), number);
        vec![
            format!("{} %", self.percent),
            number(median(&self.writes[0])),
            number(median(&self.writes[1])),
            ratio(&self.writes),
            told(self.published.map(|line| line.write / line.write_raw)),
            told(self.cpu[0]),
            number(median(&self.reads[0])),
            number(median(&self.reads[1])),
            ratio(&self.reads),
            told(self.published.map(|line| line.read / line.read_raw)),
            told(self.cpu[1]),
        ]
    }
}

/// Whether compressed series are anywhere slower, as far as the turns tell.
fn verdict(lines: &[Line]) -> String {
    let turns = lines.first().map_or(0, |line| line.writes[0].len());
    if turns < TURNS_MIN {
        return format!("{turns} turns are too few for a verdict: it takes {TURNS_MIN}.");
    }
    let (mut slower, mut undecided) = (Vec::new(), Vec::new());
    for line in lines {
        for (what, [compressed, raw]) in [("write", &line.writes), ("read", &line.reads)] {
            let Some(ratio) = Ratio::of(compressed, raw) else { continue };
            let told = || format!("{what} at {} % ({})", line.percent, range(&ratio));
            match ratio.finding() {
                Finding::Slower => slower.push(told()),
                Finding::Undecided => undecided.push(told()),
                Finding::NotSlower => {}
            }
        }
    }
    let margin = MARGIN * 100.0;
    let mut sentences = Vec::new();
    if !slower.is_empty() {
        sentences.push(format!("Compressed series are slower here: {}.", slower.join(", ")));
    }
    if !undecided.is_empty() {
        sentences.push(format!(
            "Undecided, as the turns differ too much among themselves: {}.",
            undecided.join(", ")
        ));
    }
    sentences.push(match (slower.len(), undecided.len()) {
        (0, 0) => {
            format!("No break-even point: compressed series are nowhere slower by more than {margin:.0} %.")
        }
        (slow, open) if slow + open < 2 * lines.len() => {
            format!("Elsewhere compressed series are not slower by more than {margin:.0} %.")
        }
        _ => "No line shows that compressed series are as fast.".to_owned(),
    });
    sentences.push(format!(
        "{turns} turns; a ratio is the median of those of the turns, the range in brackets is where it lies with 95 % \
         confidence."
    ));
    sentences.join(" ")
}

/// How much longer, in per cent, at least and at most.
fn range(ratio: &Ratio) -> String {
    let percent = |ratio: f64| format!("{:+.0} %", (ratio - 1.0) * 100.0);
    let bounds = |(low, high)| format!(": {} to {}", percent(low), percent(high));
    format!("{}{}", percent(ratio.median), ratio.bounds.map_or_else(String::new, bounds))
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
        let reads = [vec![1.0; 10], vec![1.0; 10]];
        Line { percent: 25, writes, reads, cpu: [None, Some(0.9)], published: None }
    }

    /// Ten turns around `seconds`, as far apart as `spread` says.
    fn turns(seconds: f64, spread: f64) -> Vec<f64> {
        (0..10).map(|turn| seconds * (1.0 + spread * f64::from(turn % 5 - 2))).collect()
    }

    #[test]
    fn the_verdict_tells_slower_from_noise() {
        let kept = "No break-even point: compressed series are nowhere slower by more than 5 %.";
        let even = || [turns(1.0, 0.0), turns(1.0, 0.0)];
        assert!(
            verdict(&[line([turns(1.04, 0.0), turns(1.0, 0.0)])]).starts_with(kept),
            "within five per cent"
        );
        assert!(verdict(&[line([turns(0.5, 0.1), turns(1.0, 0.0)])]).starts_with(kept), "faster");
        assert!(verdict(&[line([vec![0.5], vec![1.0]])]).starts_with("1 turns are too few"));
        let noisy = verdict(&[line(even()), line([turns(1.04, 0.2), turns(1.0, 0.0)])]);
        assert!(
            noisy.starts_with(
                "Undecided, as the turns differ too much among themselves: write at 25 % (+4 %: "
            )
        );
        assert!(noisy.contains("Elsewhere compressed series are not slower by more than 5 %."), "{noisy}");
        let slow = verdict(&[line(even()), line([turns(1.3, 0.01), turns(1.0, 0.0)])]);
        let told = "Compressed series are slower here: write at 25 % (+30 %: +27 % to +33 %).";
        assert!(slow.starts_with(told), "{slow}");
        assert!(!slow.contains("break-even") && slow.contains("10 turns;"), "{slow}");
    }

    #[test]
    fn a_line_sets_both_beside_the_published_ratio() {
        let published = PublishedLine { write: 1.5, write_raw: 1.0, read: 1.0, read_raw: 2.0 };
        let line = Line { published: Some(published), ..line([vec![2.0, 4.0], vec![6.0, 6.0]]) };
        let write = ["25 %", "3.00", "6.00", "0.500", "1.50", "–"];
        let read = ["1.00", "1.00", "1.00 (1.00 to 1.00)", "0.500", "0.900"];
        assert_eq!(line.cells(), [&write[..], &read[..]].concat());
    }
}
