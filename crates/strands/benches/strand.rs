//! Strands on the embedded store, synced: what a write, a read and a fold cost.
//!
//! `cargo bench -p strands --bench strand -- [--strands N] [memory] [write|over|single|merge|history ...]`
//!
//! Prints for each row points a second, and CPU microseconds of the whole process for each strand.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a measuring program: a panic is its answer"
)]

use std::io::Write as _;
use std::time::Instant;

use bytes::Bytes;
use store::{Clock, EmbeddedOptions, MemoryOptions, Partition, Space, SpaceKind, Store, Tenant, Timestamp};
use strands::{Edit, Encoding, Points, Strand, StrandOptions, StrandWrite, Strands, TimeRange};

const SPACE: Space = Space { id: 32, kind: SpaceKind::Commit, name: "series" };
const GROUP: u32 = 100;
const MINUTE: i64 = 60_000_000_000;
const MONTH_POINTS: usize = 2_976;
const START: i64 = 1_767_225_600_000_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let strands =
        arguments.iter().position(|it| it == "--strands").map(|at| arguments[at + 1].parse().unwrap());
    let strands: u32 = strands.unwrap_or(5_000);
    let names: Vec<&str> = ["write", "over", "single", "merge", "history"]
        .into_iter()
        .filter(|it| arguments.iter().any(|a| a == it))
        .collect();
    let wanted = |name: &str| names.is_empty() || names.contains(&name);
    let in_memory = arguments.iter().any(|it| it == "memory");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    say(&format!("{:<46} {:>12} {:>12} {:>10}", "row", "points/s", "strands/s", "CPU us"));
    let bench = || {
        let folder = tempfile::tempdir().unwrap();
        let store = if in_memory {
            Store::memory(MemoryOptions { clock: Clock::System, feed: store::FeedOptions::recommended() })
        } else {
            Store::open(folder.path(), EmbeddedOptions::recommended()).unwrap()
        };
        (Strands::new(store, StrandOptions::recommended()), folder)
    };
    if wanted("write") {
        let (strands_of, _folder) = bench();
        runtime.block_on(write_and_read(&strands_of, strands));
    }
    if wanted("over") {
        for percent in [25, 50, 75, 100] {
            let (strands_of, _folder) = bench();
            runtime.block_on(overwrite(&strands_of, strands / 10, percent));
        }
    }
    if wanted("single") {
        let (strands_of, _folder) = bench();
        runtime.block_on(single_points(&strands_of, 1_000));
    }
    if wanted("merge") {
        let (strands_of, _folder) = bench();
        runtime.block_on(merge(&strands_of));
    }
    if wanted("history") {
        for years in [1, 2, 4] {
            let (strands_of, _folder) = bench();
            runtime.block_on(history(&strands_of, years));
        }
    }
}

/// A day of minutes for each strand, in groups; then all of it is read.
async fn write_and_read(strands: &Strands, count: u32) {
    let day = load_profile(0, MINUTE, 1_440);
    // By two callers at a time, as two connections would.
    let meter = Meter::start();
    let writer = |first: u32| {
        let (strands, day) = (strands.clone(), day.clone());
        tokio::spawn(async move {
            for group in (first * GROUP..count).step_by(2 * GROUP as usize) {
                let numbers = group..(group + GROUP).min(count);
                write_group(&strands, numbers.map(|number| (number, Edit::Put(day.clone())))).await;
            }
        })
    };
    let (one, other) = (writer(0), writer(1));
    one.await.unwrap();
    other.await.unwrap();
    meter.stop("write 1,440 points, groups of 100", u64::from(count), 1_440);
    for round in ["first", "second"] {
        let meter = Meter::start();
        for group in (0..count).step_by(GROUP as usize) {
            let wanted: Vec<_> =
                (group..(group + GROUP).min(count)).map(|number| (strand(number), TimeRange::ALL)).collect();
            for points in strands.read_many(&wanted).await {
                assert_eq!(points.unwrap().len(), 1_440);
            }
        }
        meter.stop(&format!("read them, groups of 100, one task, {round}"), u64::from(count), 1_440);
    }
    let meter = Meter::start();
    for number in 0..count {
        let mut points = Points::default();
        strands.read_page(&strand(number), TimeRange::ALL, None, usize::MAX, &mut points).await.unwrap();
        assert_eq!(points.len(), 1_440);
    }
    meter.stop("read them one by one, one task", u64::from(count), 1_440);
}

/// A month of quarter hours, then a part of it again.
async fn overwrite(strands: &Strands, count: u32, percent: usize) {
    let month = load_profile(0, 15 * MINUTE, MONTH_POINTS);
    let part = load_profile(7, 15 * MINUTE, MONTH_POINTS * percent / 100);
    for group in (0..count).step_by(GROUP as usize) {
        let numbers = group..(group + GROUP).min(count);
        write_group(strands, numbers.map(|number| (number, Edit::Put(month.clone())))).await;
    }
    let meter = Meter::start();
    for group in (0..count).step_by(GROUP as usize) {
        let numbers = group..(group + GROUP).min(count);
        write_group(strands, numbers.map(|number| (number, Edit::Put(part.clone())))).await;
    }
    meter.stop(&format!("overwrite {percent} % of a month"), u64::from(count), part.len() as u64);
    let meter = Meter::start();
    for number in 0..count {
        let mut points = Points::default();
        strands.read_page(&strand(number), TimeRange::ALL, None, usize::MAX, &mut points).await.unwrap();
        assert_eq!(points.len(), MONTH_POINTS);
        assert_eq!(points.values[part.len() - 1].to_bits(), part.values[part.len() - 1].to_bits());
    }
    meter.stop("  read it, merged", u64::from(count), MONTH_POINTS as u64);
    let meter = Meter::start();
    for number in 0..count {
        assert!(strands.fold(&strand(number), Encoding::Hot).await.unwrap());
    }
    meter.stop("  fold it, one by one", u64::from(count), MONTH_POINTS as u64);
}

/// One point for each strand, again and again, with folds as they come.
async fn single_points(strands: &Strands, count: u32) {
    let folder = tokio::spawn({
        let strands = strands.clone();
        async move {
            loop {
                let (strand, encoding) = strands.next_to_fold().await;
                assert!(strands.fold(&strand, encoding).await.unwrap());
            }
        }
    });
    let rounds = 100;
    let meter = Meter::start();
    for round in 0..rounds {
        for group in (0..count).step_by(GROUP as usize) {
            let numbers = group..(group + GROUP).min(count);
            let point = load_profile(i64::from(round), MINUTE, 1);
            let shifted = |mut point: Points| {
                point.times[0] = START + i64::from(round) * MINUTE;
                Edit::Put(point)
            };
            write_group(strands, numbers.map(|number| (number, shifted(point.clone())))).await;
        }
    }
    meter.stop("append single points, groups of 100, folds", u64::from(count * rounds), 1);
    folder.abort();
    let meter = Meter::start();
    for number in 0..count {
        let mut points = Points::default();
        strands.read_page(&strand(number), TimeRange::ALL, None, usize::MAX, &mut points).await.unwrap();
        assert_eq!(points.len(), rounds as usize);
    }
    meter.stop("  read them, folded or not", u64::from(count), u64::from(rounds));
}

/// One block under overlays that take every second point: the worst case of merging.
async fn merge(strands: &Strands) {
    write_group(strands, [(0, Edit::Put(load_profile(0, 15 * MINUTE, MONTH_POINTS)))].into_iter()).await;
    let read = async |name: &str| {
        let rounds = 2_000;
        let meter = Meter::start();
        for _ in 0..rounds {
            let mut points = Points::default();
            strands.read_page(&strand(0), TimeRange::ALL, None, usize::MAX, &mut points).await.unwrap();
            assert_eq!(points.len(), MONTH_POINTS);
        }
        meter.stop(name, rounds, MONTH_POINTS as u64);
    };
    read("read a month, no overlay").await;
    let half = load_profile(3, 30 * MINUTE, MONTH_POINTS / 2);
    write_group(strands, [(0, Edit::Put(half))].into_iter()).await;
    read("read a month, every second point overlaid").await;
    for day in 0..30 {
        let mut point = load_profile(3, MINUTE, 1);
        point.times[0] = START + day * 96 * 15 * MINUTE;
        write_group(strands, [(0, Edit::Put(point))].into_iter()).await;
    }
    read("read a month, the same and 30 overlays more").await;
}

/// An audited strand of days that are written twice, read page by page as it stood before the last write.
async fn history(strands: &Strands, years: i64) {
    let days = 365 * years;
    let write = |day: i64, seed, written| {
        let mut points = load_profile(seed, 15 * MINUTE, 96);
        points.times.iter_mut().for_each(|time| *time += day * 96 * 15 * MINUTE);
        StrandWrite {
            strand: strand(0),
            edits: vec![Edit::Put(points)],
            encoding: Encoding::Hot,
            written: Timestamp(written),
            audited: true,
            mark: None,
            beside: Vec::new(),
            change: None,
            expects: None,
        }
    };
    let meter = Meter::start();
    for day in 0..days {
        for outcome in strands.write_all(vec![write(day, 1, 2 * day), write(day, 2, 2 * day + 1)]).await {
            outcome.unwrap();
        }
    }
    meter.stop(&format!("write {years} years of days, each twice, audited"), days.unsigned_abs() * 2, 96);
    strands.write_all(vec![write(0, 3, 2 * days)]).await.pop().unwrap().unwrap();
    let meter = Meter::start();
    let (mut count, mut from) = (0, Some(i64::MIN));
    while let Some(start) = from {
        let mut page = Points::default();
        let rest = TimeRange { from: start, to: i64::MAX };
        from = strands
            .read_page(&strand(0), rest, Some(Timestamp(2 * days - 1)), 1_000, &mut page)
            .await
            .unwrap();
        count += page.len();
    }
    assert_eq!(count, days as usize * 96);
    meter.stop("  read all as of then, by pages of 1,000 points", 1, count as u64);
}

async fn write_group(strands: &Strands, writes: impl Iterator<Item = (u32, Edit)>) {
    let write = |(number, edit)| StrandWrite {
        strand: strand(number),
        edits: vec![edit],
        encoding: Encoding::Hot,
        written: Timestamp(1),
        audited: false,
        mark: None,
        beside: Vec::new(),
        change: None,
        expects: None,
    };
    for outcome in strands.write_all(writes.map(write).collect()).await {
        outcome.unwrap();
    }
}

/// A strand in a partition of its own, as series have.
fn strand(number: u32) -> Strand {
    let bucket = number.wrapping_mul(0x9e37_79b9);
    Strand { partition: Partition { tenant: Tenant::default(), space: SPACE, bucket }, name: Bytes::new() }
}

/// A load profile with three decimals, all flags Valid.
fn load_profile(seed: i64, step: i64, count: usize) -> Points {
    let mut points = Points::default();
    let mut noise = seed.unsigned_abs().wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for (at, number) in (0_i64..).zip(0_u32..).take(count) {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        let wave = (f64::from(number) / 96.0 * std::f64::consts::TAU).sin();
        let thousandths = (wave * 40_000.0 + 60_000.0) as i64 + (noise % 2_000) as i64;
        points.push(START + at * step, thousandths as f64 / 1_000.0, 3);
    }
    points
}

struct Meter {
    start: Instant,
    cpu: f64,
}

impl Meter {
    fn start() -> Self {
        Self { start: Instant::now(), cpu: cpu_us() }
    }

    fn stop(&self, name: &str, strands: u64, points_each: u64) {
        let seconds = self.start.elapsed().as_secs_f64();
        let rate = strands as f64 / seconds;
        let cpu = (cpu_us() - self.cpu) / strands as f64;
        say(&format!("{name:<46} {:>12.0} {rate:>12.0} {cpu:>10.2}", rate * points_each as f64));
    }
}

/// CPU time of this process; clock ticks are 10 ms.
fn cpu_us() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) * 10_000.0
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
}
