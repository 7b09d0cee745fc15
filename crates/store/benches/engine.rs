//! The embedded engine beside bare RocksDB with the same bytes and the same sync.
//!
//! `cargo bench -p store --bench engine -- [--entities N] [load|single|log|skip|open|get|range|memtable|hint|ingest|stalls|bulk|elements ...]`
//! (For `bulk` and `elements`, N is that of edges.)
//!
//! Prints for each row operations a second, CPU microseconds of the whole process for each, and the
//! ratio of ours to bare. Both sides run in turns, three times; the best of each counts.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measuring program: a panic is its answer"
)]

#[path = "engine/bulk.rs"]
mod bulk;

use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel};
use rocksdb::{
    BlockBasedOptions, Cache, DB, DBCompressionType, IngestExternalFileOptions, Options, ReadOptions,
    SstFileWriter, WaitForCompactOptions, WriteBatch, WriteOptions,
};
use store::{
    ChangeRecord, Commit, Condition, Direction, EmbeddedOptions, Model, Partition, Range, Space, SpaceKind,
    Store, Tenant, Write, WriteId,
};
use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot};

const MODEL: Model = Model { id: 1, name: "bench" };
const THINGS: Space = Space { id: 1, kind: SpaceKind::Commit, name: "things" };
const VALUE_BYTES: usize = 1_024;
const GROUP: usize = 200;
const WRITERS: usize = 64;
const TURNS: usize = 3;
const RANGE_ROWS: usize = 64;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let entities =
        arguments.iter().position(|it| it == "--entities").map(|at| arguments[at + 1].parse().unwrap());
    let entities: u64 = entities.unwrap_or(60_000);
    let wanted = |name: &str| {
        let mut names = arguments.iter().filter(|it| it.chars().all(char::is_alphabetic)).peekable();
        names.peek().is_none() || names.any(|it| it == name)
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    say(&format!(
        "{:<34} {:>10} {:>8} {:>10} {:>8} {:>7}",
        "row", "ours/s", "CPU us", "bare/s", "CPU us", "ratio"
    ));
    for rows in [11, 3] {
        if wanted("load") {
            let ours = || runtime.block_on(load_ours(entities, rows));
            compare(&format!("load, groups of {GROUP}, {rows} index rows"), ours, || {
                load_bare(entities, rows)
            });
        }
        if wanted("single") {
            let ours = || runtime.block_on(single_ours(entities / 2, rows));
            let bare = || runtime.block_on(single_bare(entities / 2, rows));
            compare(&format!("{WRITERS} single writers, {rows} index rows"), ours, bare);
        }
    }
    if wanted("log") {
        let once = |kept| runtime.block_on(one_writer(kept));
        compare("1 writer, logs written over / not", || once(2), || once(0));
    }
    if arguments.iter().any(|it| it == "memtable") {
        let load = |mib: usize| {
            move |runtime: &tokio::runtime::Runtime| {
                let mut options = EmbeddedOptions::recommended();
                options.memtable_bytes = mib << 20;
                runtime.block_on(load_with(entities, 11, options))
            }
        };
        for mib in [8, 16, 32] {
            let (small, large) = (load(mib), load(64));
            compare(&format!("load, memtables of {mib} / 64 MiB"), || small(&runtime), || large(&runtime));
        }
    }
    if arguments.iter().any(|it| it == "ingest") {
        for group in [400, 2_000, 10_000] {
            let load = |way: Way| move || load_group(entities, group, way);
            compare(&format!("groups of {group}: sorted / ingested"), load(Way::Sorted), load(Way::Ingested));
        }
    }
    if arguments.iter().any(|it| it == "hint") {
        for group in [200, 500, 2_000] {
            let load = |way: Way| move || load_group(entities, group, way);
            compare(&format!("groups of {group}: sorted / hinted"), load(Way::Sorted), load(Way::Hinted));
        }
    }
    if wanted("skip") {
        runtime.block_on(skips(entities));
    }
    if wanted("open") {
        runtime.block_on(opening(entities));
    }
    if wanted("stalls") {
        runtime.block_on(stalls());
    }
    runtime.block_on(bulk::run(&arguments, entities));
    if wanted("get") || wanted("range") {
        reads(&runtime, entities, wanted("get"), wanted("range"));
    }
}

fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Operations a second and CPU microseconds for each.
#[derive(Clone, Copy)]
struct Figure {
    rate: f64,
    cpu_us: f64,
}

fn compare(name: &str, ours: impl Fn() -> Figure, bare: impl Fn() -> Figure) {
    let best = |a: Figure, b: Figure| if a.rate > b.rate { a } else { b };
    let (mut ours_best, mut bare_best) = (ours(), bare());
    for _ in 1..TURNS {
        (ours_best, bare_best) = (best(ours_best, ours()), best(bare_best, bare()));
    }
    say(&format!(
        "{name:<34} {:>10.0} {:>8.2} {:>10.0} {:>8.2} {:>7.2}",
        ours_best.rate,
        ours_best.cpu_us,
        bare_best.rate,
        bare_best.cpu_us,
        ours_best.rate / bare_best.rate
    ));
}

struct Meter {
    start: Instant,
    cpu: f64,
}

impl Meter {
    fn start() -> Self {
        Self { start: Instant::now(), cpu: cpu_us() }
    }

    fn stop(&self, operations: u64) -> Figure {
        let seconds = self.start.elapsed().as_secs_f64();
        let operations = operations as f64;
        Figure { rate: operations / seconds, cpu_us: (cpu_us() - self.cpu) / operations }
    }
}

/// CPU time of this process; clock ticks are 10 ms.
fn cpu_us() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) * 10_000.0
}

fn partition() -> Partition {
    Partition { tenant: Tenant::default(), space: THINGS, bucket: 0 }
}

fn id(number: u64) -> String {
    // Scattered, as real ids are.
    format!("urn:ngsi-ld:WaterQuality:{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn entity_key(number: u64) -> Vec<u8> {
    [b"e", id(number).as_bytes()].concat()
}

fn index_key(number: u64, row: u32) -> Vec<u8> {
    let value = (number.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as f64;
    [b"V", &1_u32.to_be_bytes()[..], &row.to_be_bytes(), &[1], &value.to_be_bytes(), id(number).as_bytes()]
        .concat()
}

/// One kilobyte that compresses by about half, as encoded entities do.
fn value(number: u64) -> Vec<u8> {
    let mut random = number | 1;
    let mut value = Vec::with_capacity(VALUE_BYTES);
    while value.len() < VALUE_BYTES {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        value.extend_from_slice(format!("\"attribute\":{:08x},", random >> 33).as_bytes());
    }
    value.truncate(VALUE_BYTES);
    value
}

fn commit(number: u64, rows: u32) -> Commit {
    let key = Bytes::from(entity_key(number));
    let mut writes = vec![Write::PutStamped(key.clone(), value(number).into())];
    writes.extend((0..rows).map(|row| Write::Put(index_key(number, row).into(), Bytes::new())));
    Commit {
        partition: partition(),
        write_id: WriteId(u128::from(number)),
        conditions: vec![Condition::Absent(key)],
        writes,
        change: Some(ChangeRecord::new(MODEL, 1, 1, id(number))),
        reclaims: false,
    }
}

fn open_ours() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), EmbeddedOptions::recommended()).unwrap();
    (folder, store)
}

async fn load_ours(entities: u64, rows: u32) -> Figure {
    load_with(entities, rows, EmbeddedOptions::recommended()).await
}

async fn load_with(entities: u64, rows: u32, options: EmbeddedOptions) -> Figure {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), options).unwrap();
    let meter = Meter::start();
    fill_ours(&store, entities, rows).await;
    meter.stop(entities)
}

async fn fill_ours(store: &Store, entities: u64, rows: u32) {
    for first in (0..entities).step_by(GROUP) {
        let group = (first..entities.min(first + GROUP as u64)).map(|number| commit(number, rows));
        for outcome in store.commit_all(group.collect()).await {
            outcome.unwrap();
        }
    }
}

async fn single_ours(entities: u64, rows: u32) -> Figure {
    let (_folder, store) = open_ours();
    let meter = Meter::start();
    let writers = (0..WRITERS as u64).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            for number in (writer..entities).step_by(WRITERS) {
                store.commit(commit(number, rows)).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    meter.stop(entities)
}

/// One writer after another's answer; small memtables, so that logs change often.
async fn one_writer(log_files_kept: usize) -> Figure {
    const COMMITS: u64 = 6_000;
    let folder = tempfile::tempdir().unwrap();
    let mut options = EmbeddedOptions::recommended();
    options.log_files_kept = log_files_kept;
    options.memtable_bytes = 2 << 20;
    let store = Store::open(folder.path(), options).unwrap();
    let meter = Meter::start();
    for number in 0..COMMITS {
        store.commit(commit(number, 3)).await.unwrap();
    }
    meter.stop(COMMITS)
}

/// How long opening takes after a kill and after closing, all files in the system's cache.
async fn opening(entities: u64) {
    let (folder, store) = open_ours();
    fill_ours(&store, entities, 11).await;
    let killed = tempfile::tempdir().unwrap();
    copy_as_killed(folder.path(), killed.path());
    store.close().await.unwrap();
    drop(store);
    for (name, path) in [("a kill", killed.path()), ("closing", folder.path())] {
        let meter = Meter::start();
        let store = Store::open(path, EmbeddedOptions::recommended()).unwrap();
        let (seconds, statistics) = (meter.start.elapsed().as_secs_f64(), store.statistics());
        assert_eq!(statistics.sequence, entities);
        let cpu = (cpu_us() - meter.cpu) / 1e6;
        say(&format!("opening {entities} entities after {name}: {seconds:.2} s, {cpu:.2} s of CPU"));
    }
}

fn copy_as_killed(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy_as_killed(&entry.path(), &to.join(entry.file_name()));
        } else {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

// ---- what lies far behind ----

/// How long it takes to find the row in the middle of many index rows, and to count them.
async fn skips(rows: u64) {
    const FAR: usize = 30;
    const BESIDE: u64 = 60_000;
    let (_folder, store) = open_ours();
    let fill = async |numbers: std::ops::Range<u64>| {
        let writes = numbers.clone().map(|number| Write::Put(index_key(number, 0).into(), Bytes::new()));
        let writes = writes.collect();
        store.commit(Commit { writes, conditions: vec![], ..commit(numbers.start, 0) }).await.unwrap();
    };
    for first in (0..rows).step_by(10_000) {
        fill(first..rows.min(first + 10_000)).await;
    }
    let range = Range::prefix(index_key(0, 0)[..9].to_vec());
    let half = usize::try_from(rows / 2).unwrap();
    let time = async |name: &str, rows_max: usize| {
        let start = Instant::now();
        let passed = passed(&store, &range, rows_max).await;
        say(&format!("{name:<34} {:>10.1} us, {passed} rows", start.elapsed().as_secs_f64() * 1e6));
    };
    let load = async |first: u64| {
        let meter = Meter::start();
        for first in (first..first + BESIDE).step_by(GROUP) {
            let group = (first..first + GROUP as u64).map(|number| commit(number, 11)).collect();
            assert!(store.commit_all(group).await.iter().all(Result::is_ok));
        }
        let Figure { rate, cpu_us } = meter.stop(BESIDE);
        say(&format!("{BESIDE} entities loaded: {rate:.0}/s, {cpu_us:.1} us of CPU"));
    };
    load(10_000_000).await;
    time("to the middle, by a walk", half).await;
    time("to the middle, again", half).await;
    for turn in 0..2 {
        fill(rows + turn..rows + turn + 1).await;
        time("to the middle, after a write", half).await;
    }
    time("counted, half by a walk", usize::MAX).await;
    time("counted, again", usize::MAX).await;
    load(20_000_000).await;
    time("counted, after a load", usize::MAX).await;
    time("counted, again", usize::MAX).await;
    let start = Instant::now();
    for _ in 0..FAR {
        passed(&store, &range, half).await;
    }
    say(&format!("to the middle: {:.1} us each", start.elapsed().as_secs_f64() * 1e6 / FAR as f64));
}

async fn passed(store: &Store, range: &Range, rows_max: usize) -> usize {
    let (mut passed, mut from) = (0, range.start.clone());
    loop {
        let skipped = store.skip(&partition(), range, &from, rows_max - passed).await.unwrap();
        passed += skipped.rows;
        match skipped.next {
            Some(next) if passed < rows_max => from = next,
            _ => return passed,
        }
    }
}

// ---- what keeps others waiting ----

const CACHED_ROWS: u64 = 220_000;
const BIG_ROWS: u64 = 86_000;
const PROBES: usize = 400;

/// How long a small commit takes while something else is committed, and what a scan over removed rows keeps its thread for.
async fn stalls() {
    let (_folder, store) = open_ours();
    for first in (0..CACHED_ROWS).step_by(GROUP) {
        let group = (first..first + GROUP as u64).map(|number| small(number, 0));
        for outcome in store.commit_all(group.collect()).await {
            outcome.unwrap();
        }
    }
    say(&format!("{:<34} {:>10} {:>10} {:>10}", "a small commit beside", "median us", "p99 us", "worst us"));
    beside("nothing", &store, 0, |_| None).await;
    beside("removed ranges", &store, 1, |turn| {
        let range = Range::prefix(format!("gone {turn}"));
        Some(Commit { writes: vec![Write::DeleteRange(range)], ..small(turn, 1) })
    })
    .await;
    beside("commits of 86,000 rows", &store, 100, |turn| {
        let row =
            |n: u64| Write::Put(Bytes::from(format!("big {} {}", n.wrapping_mul(7_919), turn)), Bytes::new());
        Some(Commit { writes: (0..BIG_ROWS).map(row).collect(), ..small(turn, 2) })
    })
    .await;
    scan_removed(&store).await;
}

fn small(number: u64, bucket: u32) -> Commit {
    let key = Bytes::from(format!("row {number}"));
    Commit {
        partition: Partition { bucket, ..partition() },
        write_id: WriteId(u128::from(number)),
        conditions: vec![],
        writes: vec![Write::PutStamped(key, Bytes::from_static(b"small"))],
        change: None,
        reclaims: false,
    }
}

/// Small commits one after another; before every so many of them something else is submitted.
async fn beside(name: &str, store: &Store, every: usize, other: impl Fn(u64) -> Option<Commit>) {
    let mut took = Vec::with_capacity(PROBES);
    let mut others = Vec::new();
    for turn in 0..PROBES {
        if every > 0
            && turn.is_multiple_of(every)
            && let Some(commit) = other(turn as u64)
        {
            let store = store.clone();
            others.push(tokio::spawn(async move { store.commit(commit).await.unwrap() }));
            tokio::task::yield_now().await;
        }
        let start = Instant::now();
        store.commit(small(turn as u64, 3)).await.unwrap();
        took.push(start.elapsed().as_secs_f64() * 1e6);
    }
    for other in others {
        other.await.unwrap();
    }
    took.sort_by(f64::total_cmp);
    let at = |part: usize| took[(PROBES - 1) * part / 100];
    say(&format!("{name:<34} {:>10.0} {:>10.0} {:>10.0}", at(50), at(99), at(100)));
}

/// How long the first poll of a scan keeps its thread that passes over removed rows.
async fn scan_removed(store: &Store) {
    for remove in [false, true] {
        for first in (0..100_000).step_by(1_000) {
            let key = |n: u64| Bytes::from(format!("passing {n:06}"));
            let write = |n| if remove { Write::Delete(key(n)) } else { Write::Put(key(n), Bytes::new()) };
            let writes = (first..first + 1_000).map(write).collect();
            store.commit(Commit { writes, ..small(first, 4) }).await.unwrap();
        }
    }
    let partition = Partition { bucket: 4, ..partition() };
    let (range, mut longest) = (Range::prefix("passing"), 0.0_f64);
    let mut scan = std::pin::pin!(store.scan(&partition, &range, Direction::Forward, 100));
    let page = std::future::poll_fn(|context| {
        let start = Instant::now();
        let polled = scan.as_mut().poll(context);
        longest = longest.max(start.elapsed().as_secs_f64() * 1e6);
        polled
    });
    assert!(page.await.unwrap().is_empty());
    say(&format!("a scan over 100,000 removed rows keeps its thread {longest:.0} us"));
}

// ---- bare RocksDB: the same families, keys, values and options that matter ----

fn bare_options(more: &str) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(&Cache::new_hyper_clock_cache(128 << 20, 0));
    table.set_block_size(16 << 10);
    table.set_bloom_filter(10.0, false);
    let mut options = Options::default().get_options_from_string(more).unwrap();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    options.set_block_based_table_factory(&table);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_write_buffer_size(64 << 20);
    options.set_max_write_buffer_number(3);
    options.set_max_background_jobs(2);
    options.set_allow_concurrent_memtable_write(false);
    options.set_max_total_wal_size(EmbeddedOptions::recommended().log_bytes_max);
    options.set_recycle_log_file_num(EmbeddedOptions::recommended().log_files_kept);
    options
}

fn open_bare() -> (TempDir, DB) {
    open_bare_with(&bare_options(""))
}

fn open_bare_with(options: &Options) -> (TempDir, DB) {
    let folder = tempfile::tempdir().unwrap();
    let families = ["default", "feed"].map(|name| (name, options.clone()));
    let db = DB::open_cf_with_opts(options, folder.path(), families).unwrap();
    (folder, db)
}

/// The rows of one entity as bytes: what a bare program would write.
struct Rows {
    puts: Vec<(Vec<u8>, Vec<u8>)>,
    change: Vec<u8>,
}

fn bare_key(key: &[u8]) -> Vec<u8> {
    [&[0, 1, 0, 0, 0, 0], key].concat()
}

fn bare_rows(number: u64, rows: u32) -> Rows {
    let mut puts = vec![(bare_key(&entity_key(number)), [&[1; 25], &value(number)[..]].concat())];
    puts.extend((0..rows).map(|row| (bare_key(&index_key(number, row)), Vec::new())));
    Rows { puts, change: [&[0; 22], id(number).as_bytes()].concat() }
}

fn put_bare(db: &DB, batch: &mut WriteBatch, sequence: u64, rows: &Rows) {
    for (key, value) in &rows.puts {
        batch.put(key, value);
    }
    batch.put_cf(db.cf_handle("feed").unwrap(), sequence.to_be_bytes(), &rows.change);
}

fn synced() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.set_sync(true);
    options
}

fn fill_bare(db: &DB, entities: u64, rows: u32) {
    for first in (0..entities).step_by(GROUP) {
        let group: Vec<Rows> =
            (first..entities.min(first + GROUP as u64)).map(|it| bare_rows(it, rows)).collect();
        let mut batch = WriteBatch::default();
        for (number, rows) in (first..).zip(&group) {
            put_bare(db, &mut batch, number, rows);
        }
        db.write_opt(batch, &synced()).unwrap();
    }
}

fn load_bare(entities: u64, rows: u32) -> Figure {
    let (_folder, db) = open_bare();
    let meter = Meter::start();
    fill_bare(&db, entities, rows);
    meter.stop(entities)
}

/// How the rows of a group go to bare RocksDB; the feed goes to the log either way.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Way {
    /// With the feed, in the order of their keys.
    Sorted,
    /// The same, the memtable's search for a place beginning at the place before.
    Hinted,
    /// As a table of their own.
    Ingested,
}

fn load_group(entities: u64, group: usize, way: Way) -> Figure {
    let hint = "memtable_insert_with_hint_prefix_extractor=rocksdb.FixedPrefix.1";
    let table = bare_options(if way == Way::Hinted { hint } else { "" });
    let (folder, db) = open_bare_with(&table);
    let mut ingest = IngestExternalFileOptions::default();
    ingest.set_move_files(true);
    let mut compared = PerfContext::default();
    rocksdb::perf::set_perf_stats(PerfStatsLevel::EnableCount);
    compared.reset();
    let meter = Meter::start();
    for first in (0..entities).step_by(group) {
        let made: Vec<Rows> =
            (first..entities.min(first + group as u64)).map(|it| bare_rows(it, 11)).collect();
        let mut batch = WriteBatch::default();
        let mut rows: Vec<_> = made.iter().flat_map(|rows| &rows.puts).collect();
        rows.sort_by(|one, other| one.0.cmp(&other.0));
        if way == Way::Ingested {
            let path = folder.path().join("run.sst");
            let mut writer = SstFileWriter::create(&table);
            writer.open(&path).unwrap();
            for (key, value) in rows {
                writer.put(key, value).unwrap();
            }
            writer.finish().unwrap();
            db.ingest_external_file_opts(&ingest, vec![&path]).unwrap();
        } else {
            for (key, value) in rows {
                batch.put(key, value);
            }
        }
        for (number, rows) in (first..).zip(&made) {
            batch.put_cf(db.cf_handle("feed").unwrap(), number.to_be_bytes(), &rows.change);
        }
        db.write_opt(batch, &synced()).unwrap();
    }
    let loaded = meter.stop(entities);
    let files = db.property_int_value("rocksdb.num-files-at-level0").unwrap();
    db.wait_for_compact(&WaitForCompactOptions::default()).unwrap();
    let settled = meter.stop(entities);
    say(&format!(
        "  {:.0}/s, {:.1} us, {:.1} keys compared a row; {files:?} files of level 0, settled {:.0}/s, {:.1} us",
        loaded.rate,
        loaded.cpu_us,
        compared.metric(PerfMetric::UserKeyComparisonCount) as f64 / (entities * 13) as f64,
        settled.rate,
        settled.cpu_us
    ));
    loaded
}

async fn single_bare(entities: u64, rows: u32) -> Figure {
    let (_folder, db) = open_bare();
    let meter = Meter::start();
    let (queue, mut requests) = mpsc::channel::<(Rows, oneshot::Sender<()>)>(4_096);
    let committer = std::thread::spawn(move || {
        let mut sequence = 0;
        while let Some(first) = requests.blocking_recv() {
            let mut batch = WriteBatch::default();
            let mut answers = Vec::new();
            let mut next = Some(first);
            while let Some((rows, answer)) = next {
                sequence += 1;
                put_bare(&db, &mut batch, sequence, &rows);
                answers.push(answer);
                next = requests.try_recv().ok();
            }
            db.write_opt(batch, &synced()).unwrap();
            for answer in answers {
                answer.send(()).unwrap();
            }
        }
    });
    let writers = (0..WRITERS as u64).map(|writer| {
        let queue = queue.clone();
        tokio::spawn(async move {
            for number in (writer..entities).step_by(WRITERS) {
                let (answer, done) = oneshot::channel();
                queue.send((bare_rows(number, rows), answer)).await.unwrap();
                done.await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    drop(queue);
    committer.join().unwrap();
    meter.stop(entities)
}

// ---- reads ----

fn reads(runtime: &tokio::runtime::Runtime, entities: u64, get: bool, range: bool) {
    const GETS: u64 = 400_000;
    const RANGES: u64 = 4_000;
    let (_ours_folder, ours) = open_ours();
    let (_bare_folder, bare) = open_bare();
    let bare = Arc::new(bare);
    runtime.block_on(fill_ours(&ours, entities, 3));
    fill_bare(&bare, entities, 3);
    if get {
        let ours_get =
            || runtime.block_on(on_two(&ours, GETS, move |store, n| get_ours(store, n % entities)));
        let bare_get = || {
            on_two_threads(&bare, GETS, move |db, n| {
                let row = db.get_pinned(bare_key(&entity_key(n % entities))).unwrap().unwrap();
                assert_eq!(row.len(), VALUE_BYTES + 25);
            })
        };
        compare("get, hot, 2 threads", ours_get, bare_get);
    }
    if range {
        let ours_range = || runtime.block_on(on_two(&ours, RANGES, range_ours));
        let bare_range = || on_two_threads(&bare, RANGES, range_bare);
        compare(&format!("range of {RANGE_ROWS} and fetch, 2 threads"), ours_range, bare_range);
        let ours_scan = || runtime.block_on(on_two(&ours, RANGES, scan_ours));
        let bare_scan = || on_two_threads(&bare, RANGES, scan_bare);
        compare("scan of 1,000 index rows, 2 threads", ours_scan, bare_scan);
    }
}

async fn on_two<F, W>(store: &Store, operations: u64, work: W) -> Figure
where
    F: Future<Output = ()> + Send,
    W: Fn(Store, u64) -> F + Copy + Send + 'static,
{
    let meter = Meter::start();
    let tasks = (0..2).map(|half| {
        let store = store.clone();
        tokio::spawn(async move {
            for number in (half..operations).step_by(2) {
                work(store.clone(), number).await;
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    meter.stop(operations)
}

fn on_two_threads(db: &Arc<DB>, operations: u64, work: impl Fn(&DB, u64) + Copy + Send + 'static) -> Figure {
    let meter = Meter::start();
    let threads = (0..2).map(|half| {
        let db = Arc::clone(db);
        std::thread::spawn(move || (half..operations).step_by(2).for_each(|number| work(&db, number)))
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().unwrap();
    }
    meter.stop(operations)
}

async fn get_ours(store: Store, number: u64) {
    let row = store.get(&partition(), &entity_key(number)).await.unwrap().unwrap();
    assert_eq!(row.value.len(), VALUE_BYTES);
}

/// The start of a range somewhere in the index of attribute 1.
fn range_start(number: u64) -> Vec<u8> {
    let value = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 41) as f64;
    [b"V", &1_u32.to_be_bytes()[..], &1_u32.to_be_bytes(), &[1], &value.to_be_bytes()].concat()
}

fn range_end() -> Vec<u8> {
    [b"V", &1_u32.to_be_bytes()[..], &1_u32.to_be_bytes(), &[2]].concat()
}

const INDEX_HEAD: usize = 1 + 4 + 4 + 1 + 8;

async fn range_ours(store: Store, number: u64) {
    let range = Range { start: range_start(number).into(), end: Some(range_end().into()) };
    let page = store.scan(&partition(), &range, Direction::Forward, RANGE_ROWS).await.unwrap();
    assert_eq!(page.len(), RANGE_ROWS);
    let keys: Vec<Bytes> = page.rows().map(|(key, _)| [b"e", &key[INDEX_HEAD..]].concat().into()).collect();
    for row in store.get_many(&partition(), &keys).await.unwrap() {
        assert_eq!(row.unwrap().value.len(), VALUE_BYTES);
    }
}

fn bare_range_rows(db: &DB, number: u64, rows: usize, mut each: impl FnMut(&[u8])) {
    let mut options = ReadOptions::default();
    options.set_iterate_upper_bound(bare_key(&range_end()));
    let mut iterator = db.raw_iterator_opt(options);
    iterator.seek(bare_key(&range_start(number)));
    for _ in 0..rows {
        each(&iterator.key().unwrap()[6..]);
        iterator.next();
    }
}

fn range_bare(db: &DB, number: u64) {
    let mut keys = Vec::new();
    bare_range_rows(db, number, RANGE_ROWS, |key| keys.push(bare_key(&[b"e", &key[INDEX_HEAD..]].concat())));
    for key in keys {
        assert_eq!(db.get_pinned(key).unwrap().unwrap().len(), VALUE_BYTES + 25);
    }
}

async fn scan_ours(store: Store, number: u64) {
    let range = Range { start: range_start(number / 2).into(), end: Some(range_end().into()) };
    let page = store.scan(&partition(), &range, Direction::Forward, 1_000).await.unwrap();
    assert!(page.len() > RANGE_ROWS);
}

fn scan_bare(db: &DB, number: u64) {
    let mut options = ReadOptions::default();
    options.set_iterate_upper_bound(bare_key(&range_end()));
    let mut iterator = db.raw_iterator_opt(options);
    iterator.seek(bare_key(&range_start(number / 2)));
    let mut bytes = 0;
    for _ in 0..1_000 {
        let Some(key) = iterator.key() else { break };
        bytes += key.len();
        iterator.next();
    }
    assert!(bytes > 0);
}
