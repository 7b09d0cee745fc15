//! A year of quarter hours read as months and as a year, by summaries and by points; many of them added up; one read over
//! centuries of seconds.
//!
//! `cargo bench -p model-series --bench evaluate`
//!
//! Series on the embedded engine in a folder of its own, all in its cache. The best of several turns counts; what is
//! compared takes turns.

#![expect(clippy::unwrap_used, reason = "a measuring program: a panic is its answer")]

use std::hint::black_box;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model_series::{
    Aggregation, Alignment, Definition, DefinitionDraft, Edit, Interval, IntervalUnit, Layout, Points,
    Progress, Raster, ReadRequest, Repositories, Repository, SeriesOptions, SeriesWrite, StrandOptions,
    TimeRange, Timestamp, Zone,
};
use rasters::resample;
use store::{EmbeddedOptions, Store};

/// Series of each kind.
const SERIES: usize = 200;
const TURNS: usize = 15;
const NOW: Timestamp = Timestamp(1_767_225_600_000_000);
const QUARTERS: Interval = Interval::new(IntervalUnit::Minute, 15);
/// 2026 in Berlin.
const YEAR: TimeRange = TimeRange { from: 1_767_222_000_000_000_000, to: 1_798_758_000_000_000_000 };

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), EmbeddedOptions::recommended()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(aggregates(&store));
}

fn berlin() -> Zone {
    Zone::get("Europe/Berlin").unwrap()
}

/// Series of a year, written in parts of `part` each.
async fn written(repository: &Repository, name: &str, part: Interval) -> Vec<Arc<Definition>> {
    let draft = |number: usize| DefinitionDraft {
        zone: Some(berlin()),
        ..DefinitionDraft::new(&format!("{name} {number}"), Alignment::Begin, Some(QUARTERS))
    };
    let series = repository.define((0..SERIES).map(draft).collect(), NOW).await.unwrap();
    let quarters = Raster::new(QUARTERS, berlin(), 0).unwrap();
    for slot in Raster::new(part, berlin(), 0).unwrap().slots(YEAR) {
        let mut points = Points::default();
        quarters.starts_into(slot, &mut points.times);
        points.values = points.times.iter().map(|time| load(*time)).collect();
        points.flags = vec![3; points.times.len()];
        let writes = series.iter().map(|series| SeriesWrite {
            series: Arc::clone(series),
            quotation: None,
            edit: Edit::Put(points.clone()),
        });
        for outcome in repository.write_all(writes.collect(), NOW).await.unwrap() {
            outcome.unwrap();
        }
    }
    series
}

/// A load with three decimals.
fn load(time: i64) -> f64 {
    let hours = time as f64 / 3.6e12;
    ((hours / 24.0 * std::f64::consts::TAU).sin() * 400_000.0 + 500_000.0).round() / 1_000.0
}

async fn aggregates(store: &Store) {
    let options = SeriesOptions {
        strands: StrandOptions::recommended(),
        tenants_max: 1_000,
        repositories_max: 1_000,
        catalogue_buckets: 1,
        definitions_cached_max: 10_000,
    };
    let repository = Repositories::new(store.clone(), options).get_or_create("default", NOW).await.unwrap();
    let months = Interval::new(IntervalUnit::Month, 1);
    let years = Interval::new(IntervalUnit::Year, 1);
    for (name, part) in [("by months", months), ("at once", years)] {
        let series = written(&repository, name, part).await;
        for (slots, interval) in [("months", months), ("a year", years)] {
            for how in [Aggregation::Sum, Aggregation::Maximum] {
                let what = format!("written {name}, read as {slots}, {how:?}");
                compare(&what, &repository, &series, interval, how).await;
            }
        }
        sums(&format!("written {name}"), &repository, &series).await;
        centuries(&format!("written {name}"), &repository, series.first().unwrap()).await;
    }
}

/// All series added up, by hours, by one task and by two: the best time, and CPU time of the process on average.
async fn sums(what: &str, repository: &Repository, series: &[Arc<Definition>]) {
    let hours = Some(Interval::new(IntervalUnit::Hour, 1));
    let request = ReadRequest { interval: hours, ..ReadRequest::default() };
    let reader = Arc::new(repository.reader(request).await.unwrap());
    for tasks in [1, 2] {
        let (mut best, cpu) = (Duration::MAX, cpu_ms());
        for _ in 0..TURNS {
            let begin = Instant::now();
            black_box(reader.total(series, YEAR, tasks).await.unwrap());
            best = best.min(begin.elapsed());
        }
        let (wall, cpu) = (best.as_secs_f64() * 1e3, (cpu_ms() - cpu) / TURNS as f64);
        say(&format!("{what}, {SERIES} added up by hours, tasks: {tasks}; {wall:.1} ms, {cpu:.1} ms CPU"));
    }
}

/// CPU time of this process; clock ticks are 10 ms.
fn cpu_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let mut fields = stat.rsplit(')').next().unwrap().split_whitespace().skip(11);
    let mut next = || fields.next().unwrap().parse::<f64>().unwrap();
    (next() + next()) * 10.0
}

/// A day of quarter hours told by the second, asked for with all seconds since 1748.
async fn centuries(what: &str, repository: &Repository, series: &Arc<Definition>) {
    let fine = Some(Interval::new(IntervalUnit::Second, 1));
    let request = ReadRequest { interval: fine, ..ReadRequest::default() };
    let reader = repository.reader(request).await.unwrap();
    let range = TimeRange { from: -7_000_000_000_000_000_000, to: YEAR.from + 86_400_000_000_000 };
    let (mut points, mut pages, mut progress) = (Points::default(), 0, Progress::new(range));
    let begin = Instant::now();
    while !progress.is_at_end() {
        points.clear();
        reader.read_page(series, &mut progress, 16 * 1_024, &mut points).await.unwrap();
        pages += 1;
    }
    let took = begin.elapsed().as_secs_f64() * 1e3;
    say(&format!("{what}, a day of seconds behind two centuries of none: {pages} pages, {took:.1} ms"));
}

fn say(line: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "{line}").unwrap();
}

/// The same answers by the reader, and of all points.
async fn compare(
    what: &str,
    repository: &Repository,
    series: &[Arc<Definition>],
    interval: Interval,
    how: Aggregation,
) {
    let request = |interval, aggregation| ReadRequest { interval, aggregation, ..ReadRequest::default() };
    let summed = repository.reader(request(Some(interval), Some(how))).await.unwrap();
    let plain = repository.reader(ReadRequest::default()).await.unwrap();
    let (source, raster) = (
        Layout::Begin(Raster::new(QUARTERS, berlin(), 0).unwrap()),
        Raster::new(interval, berlin(), 0).unwrap(),
    );
    let (mut by_summaries, mut by_points, mut together) = (Duration::MAX, Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        let begin = Instant::now();
        for series in series {
            black_box(summed.read(series, YEAR).await.unwrap());
        }
        by_summaries = by_summaries.min(begin.elapsed());
        let begin = Instant::now();
        for series in series {
            let points = plain.read(series, YEAR).await.unwrap();
            let mut out = Points::default();
            resample(&points, &source, &raster, how, YEAR, &mut out);
            black_box(out);
        }
        by_points = by_points.min(begin.elapsed());
        let begin = Instant::now();
        black_box(summed.read_many(series, YEAR).await);
        together = together.min(begin.elapsed());
    }
    let each = |took: Duration| took.as_secs_f64() * 1e6 / series.len() as f64;
    let (summaries, points, together) = (each(by_summaries), each(by_points), each(together));
    say(&format!(
        "{what:<48} {summaries:>7.1} us by summaries, {together:>6.1} us together, {points:>7.1} us by points"
    ));
}
