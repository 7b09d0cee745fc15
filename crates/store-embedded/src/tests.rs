//! What only files can show. That the engine keeps the contract is tested in the crate `store`.

#![expect(clippy::cast_possible_truncation, reason = "test data wraps around on purpose")]

mod appends;
mod disk;
mod durability;
mod erased;
mod feed;
mod filters;
mod folder;
mod reopen;
mod skip;
mod waiting;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use store_contract::incarnation::{incarnation_of_cursor, number_of_cursor, number_of_stamp};
use store_contract::{
    Append, Clock, Cursor, Direction, Error, ErrorKind, Partition, Range, Row, Space, SpaceKind, Write,
    WriteId, testing,
};

use crate::format::FORMAT_VERSION;
use crate::{Durability, Embedded, EmbeddedOptions, EmbeddedSnapshot, restore};

/// Small, so that flushes, trims and evictions happen in tests.
fn options(clock: Clock) -> EmbeddedOptions {
    EmbeddedOptions {
        clock,
        feed: testing::FEED,
        cache_bytes: 8 << 20,
        block_cache_bytes: 8 << 20,
        memtable_bytes: 1 << 20,
        ballast_bytes_max: 64 << 10,
        // Whatever the disk that the tests run on has left.
        disk_free_min: Some(0),
        ..EmbeddedOptions::recommended()
    }
}

fn open(folder: &Path) -> Result<Embedded, Error> {
    Embedded::open(folder, options(Clock::System))
}

fn refused(outcome: Result<Embedded, Error>) -> (ErrorKind, String) {
    let error = outcome.expect_err("this must not open");
    (error.kind(), error.to_string())
}

/// Commits `rows` stamped rows of about a kilobyte, one at a time.
async fn fill(store: &Embedded, rows: u32) {
    for n in 0..rows {
        let write = Write::PutStamped(row_key(n), Bytes::from(vec![n as u8; 1_000]));
        store.commit(testing::commit(u128::from(n), vec![], vec![write])).await.unwrap();
    }
}

/// Appends rows that belong to bucket 0 of the things.
async fn append(store: &Embedded, partition: &Partition, rows: Vec<(Bytes, Bytes)>) -> Result<(), Error> {
    store.append(Append { partition: partition.clone(), rows }, store.fence()).await
}

/// The cursor before the last commit that another has seen.
fn before(cursor: Cursor) -> Cursor {
    incarnation_of_cursor(cursor).cursor(number_of_cursor(cursor) - 1)
}

/// A row of the things as a snapshot has it.
async fn row_of(snapshot: &EmbeddedSnapshot, key: Bytes) -> Result<Option<Row>, Error> {
    Ok(snapshot.get_many(&testing::things(0), &[key]).await?.remove(0))
}

fn row_key(n: u32) -> Bytes {
    Bytes::from(format!("row {n}"))
}

async fn check_filled(store: &Embedded, rows: u32) {
    for n in 0..rows {
        let row = store.get(&testing::things(0), &row_key(n)).await.unwrap().expect("a filled row");
        assert_eq!((row.write_id, row.value), (WriteId(n.into()), Bytes::from(vec![n as u8; 1_000])));
    }
}

/// A store's folder as a kill would leave it: copied while it serves. What the engine removes meanwhile is passed over.
fn copy_as_killed(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy_as_killed(&entry.path(), &to.join(entry.file_name()));
        } else {
            match fs::copy(entry.path(), to.join(entry.file_name())) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => (),
                copied => drop(copied.unwrap()),
            }
        }
    }
}

/// The largest such file. The engine removes files of its own accord meanwhile; those are passed over.
fn file_of(folder: &Path, matches: impl Fn(&str) -> bool) -> PathBuf {
    let entries = fs::read_dir(folder.join("rocksdb")).unwrap().map(|entry| entry.unwrap());
    let such = entries.filter(|entry| matches(entry.file_name().to_str().unwrap()));
    let sized = such.filter_map(|entry| Some((entry.metadata().ok()?.len(), entry.path())));
    sized.max_by_key(|(bytes, _)| *bytes).expect("such a file").1
}

#[tokio::test]
async fn everything_is_there_after_closing_and_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    fill(&store, 50).await;
    let blocks = Partition { space: testing::BLOCKS, ..testing::things(0) };
    append(&store, &blocks, vec![(row_key(1), row_key(2))]).await.unwrap();
    let lease = store.lease("job", Duration::from_secs(600)).await.unwrap().unwrap();
    let end = store.feed_end();
    let killed = tempfile::tempdir().unwrap();
    copy_as_killed(folder.path(), killed.path());
    store.close().await.unwrap();
    // The closed handle is still there, and the folder is free.
    for path in [folder.path(), killed.path()] {
        let store = open(path).unwrap();
        check_filled(&store, 50).await;
        assert_eq!(store.feed_end(), end);
        assert_eq!(store.feed(before(end), 9).await.unwrap().changes[0].partition, testing::things(0));
        assert_eq!(store.get(&blocks, &row_key(1)).await.unwrap().unwrap().value, row_key(2));
        // Whoever held it has gone: the folder's lock says so.
        assert!(!store.renew(&lease, Duration::from_secs(1)).await.unwrap());
        let next = store.lease("job", Duration::from_secs(1)).await.unwrap().expect("free");
        assert!(next.epoch() > lease.epoch());
        let stamp = store.commit(testing::commit(1, vec![], vec![])).await.unwrap();
        assert_eq!(number_of_stamp(stamp), number_of_cursor(end) + 1, "stamps go on");
        // A space keeps its kind over openings.
        let wrong = Space { kind: SpaceKind::Append, ..testing::THINGS };
        let wrong = Partition { space: wrong, ..testing::things(0) };
        let wrong = append(&store, &wrong, vec![]).await;
        assert_eq!(wrong.unwrap_err().kind(), ErrorKind::Misuse);
    }
}

#[tokio::test]
async fn interval_durability_writes_and_closes() {
    let folder = tempfile::tempdir().unwrap();
    // Longer than the test: what is synced then is synced by the end.
    let durability = Durability::Interval(Duration::from_secs(3600));
    let store =
        Embedded::open(folder.path(), EmbeddedOptions { durability, ..options(Clock::System) }).unwrap();
    fill(&store, 200).await;
    let statistics = store.statistics();
    assert_eq!(statistics.commits, 200);
    assert!(statistics.syncs < 10, "commits do not wait for syncs: {statistics:?}");
    drop(store);
    check_filled(&open(folder.path()).unwrap(), 200).await;
}

#[tokio::test]
async fn many_commits_share_syncs() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(open(folder.path()).unwrap());
    let write = |n: u32| testing::commit(n.into(), vec![], vec![Write::PutStamped(row_key(n), row_key(n))]);
    store.commit_all((0..1_000).map(write).collect()).await;
    let together = store.statistics();
    assert!(together.batches <= 3, "{together:?}");
    let tasks: Vec<_> = (0..64_u32)
        .map(|writer| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for n in 0..10 {
                    store.commit(write(writer * 100 + n)).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let statistics = store.statistics();
    assert_eq!(statistics.commits, 1_640);
    // How many share one depends on how fast the disk is.
    let syncs = statistics.syncs - together.syncs;
    assert!(syncs < 640, "64 writers share their syncs: {statistics:?}");
}

#[tokio::test]
async fn one_server_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let (kind, said) = refused(open(folder.path()));
    assert_eq!(kind, ErrorKind::Locked);
    assert!(said.contains("another server") && said.contains(folder.path().to_str().unwrap()), "{said}");
    drop(store);
    open(folder.path()).unwrap();
}

#[test]
fn only_stores_of_this_format_open() {
    let check = |name: &str, text: Option<&str>, says: &str| {
        let folder = tempfile::tempdir().unwrap();
        if let Some(text) = text {
            drop(open(folder.path()).unwrap());
            fs::write(folder.path().join(name), text).unwrap();
        } else {
            fs::write(folder.path().join(name), "a letter").unwrap();
        }
        let (kind, said) = refused(open(folder.path()));
        assert_eq!(kind, ErrorKind::Corrupt, "{said}");
        assert!(said.contains(says) && said.contains(folder.path().to_str().unwrap()), "{said}");
    };
    check("letter.txt", None, "not a Twinfold store");
    for other in [FORMAT_VERSION - 1, FORMAT_VERSION + 1] {
        let text = format!("twinfold store\nformat {other}\ncreated by 9.9.9\n");
        check("FORMAT", Some(&text), &format!("format {other}, created by 9.9.9"));
    }
    check("FORMAT", Some("twinfold store\nformat x\n"), "damaged");
    check("FORMAT", Some("another store\nformat 1\n"), "not that of a Twinfold store");
    check("FORMAT", Some(""), "not that of a Twinfold store");
    check("FORMAT", Some(&"x".repeat(5_000)), "not that of a Twinfold store");
}

#[tokio::test]
async fn a_lost_format_is_said_and_an_unfinished_creation_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    fs::remove_file(folder.path().join("FORMAT")).unwrap();
    assert_eq!(refused(open(folder.path())).0, ErrorKind::Corrupt);
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    fs::write(folder.path().join("CREATING"), "").unwrap();
    fs::write(folder.path().join("rocksdb/CURRENT"), "half").unwrap();
    fill(&open(folder.path()).unwrap(), 1).await;
    check_filled(&open(folder.path()).unwrap(), 1).await;
}

/// Damages one file of a killed store; opening it must say so, or reading must.
async fn check_damage(matches: impl Fn(&str) -> bool, damage: impl Fn(&mut Vec<u8>)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    fill(&store, 30).await;
    let killed = tempfile::tempdir().unwrap();
    copy_as_killed(folder.path(), killed.path());
    let path = file_of(killed.path(), matches);
    let mut bytes = fs::read(&path).unwrap();
    damage(&mut bytes);
    fs::write(&path, bytes).unwrap();
    let (kind, said) = refused(open(killed.path()));
    assert_eq!(kind, ErrorKind::Corrupt, "{said}");
    assert!(said.contains(killed.path().to_str().unwrap()), "{said}");
    said
}

#[tokio::test]
async fn damage_is_said() {
    check_damage(|name| name == "CURRENT", |bytes| *bytes = b"nonsense".to_vec()).await;
    check_damage(|name| name == "CURRENT", |bytes| bytes.clear()).await;
    check_damage(|name| name.starts_with("MANIFEST"), |bytes| bytes[20] ^= 0xff).await;
    let said = check_damage(|name| name.ends_with(".log"), |bytes| bytes[12_000] ^= 1).await;
    assert!(
        said.contains("log is damaged at byte") && said.contains("acknowledged commits follow"),
        "{said}"
    );
    check_damage(|name| name.ends_with(".log"), |bytes| bytes[5_000..9_000].fill(0)).await;
}

#[tokio::test]
async fn a_torn_end_of_the_log_opens() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    fill(&store, 30).await;
    for garbage in [0, 1, 500, 40_000] {
        let killed = tempfile::tempdir().unwrap();
        copy_as_killed(folder.path(), killed.path());
        let log = file_of(killed.path(), |name| name.ends_with(".log"));
        let mut bytes = fs::read(&log).unwrap();
        bytes.extend((0..garbage).map(|n| (n * 7 + n / 256) as u8));
        fs::write(&log, bytes).unwrap();
        check_filled(&open(killed.path()).unwrap(), 30).await;
    }
}

/// What a kill leaves while the engine gets over a full disk: one family is flushed, the log that the other still needs has
/// a torn end, and the new log is empty.
#[tokio::test]
async fn a_log_torn_by_a_full_disk_opens_whatever_the_durability() {
    for durability in [Durability::Sync, Durability::Interval(Duration::from_secs(1))] {
        let folder = tempfile::tempdir().unwrap();
        let options = || EmbeddedOptions { durability, ..options(Clock::System) };
        let store = Embedded::open(folder.path(), options()).unwrap();
        fill(&store, 30).await;
        store.close().await.unwrap();
        let embedded = Embedded::open(folder.path(), options()).unwrap();
        let write = Write::Put(Bytes::from_static(b"later"), Bytes::from(vec![7; 1_000]));
        embedded.commit(testing::commit(99, vec![], vec![write])).await.unwrap();
        let torn = file_of(folder.path(), |name| name.ends_with(".log"));
        let engine = embedded.shared().engine().unwrap();
        engine.flush_wal(true).unwrap();
        engine.flush_cf(crate::failure::family(&engine, rocksdb::DEFAULT_COLUMN_FAMILY_NAME)).unwrap();
        drop(engine);
        let killed = tempfile::tempdir().unwrap();
        copy_as_killed(folder.path(), killed.path());
        let torn = killed.path().join("rocksdb").join(torn.file_name().unwrap());
        let mut bytes = fs::read(&torn).unwrap();
        // The beginning of the commit's record, behind that of the incarnation if there is one.
        let first = 11 + usize::from(u16::from_le_bytes([bytes[4], bytes[5]]));
        let begin = if first < 600 { first } else { 0 };
        bytes.extend_from_within(begin..begin + 600);
        fs::write(&torn, bytes).unwrap();
        let opened = Embedded::open(killed.path(), options()).unwrap();
        check_filled(&opened, 30).await;
        assert_eq!(number_of_cursor(opened.feed_end()), 31);
    }
}

#[tokio::test]
async fn a_damaged_table_is_said_when_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    fill(&store, 1_000).await;
    store.close().await.unwrap();
    let table = file_of(folder.path(), |name| name.ends_with(".sst"));
    let mut bytes = fs::read(&table).unwrap();
    let half = bytes.len() / 2;
    bytes[100..half].fill(0x55);
    fs::write(&table, bytes).unwrap();
    let outcome = match open(folder.path()) {
        Ok(store) => {
            store.scan(&testing::things(0), &Range::default(), Direction::Forward, 2_000).await.map(drop)
        }
        Err(error) => Err(error),
    };
    let error = outcome.expect_err("a damaged table must be said");
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains(folder.path().to_str().unwrap()), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backups_are_whole_while_others_write() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(open(&folder.path().join("store")).unwrap());
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (store, stop) = (Arc::clone(&store), Arc::clone(&stop));
        tokio::spawn(async move {
            let mut n: u32 = 0;
            while !stop.load(Ordering::Relaxed) {
                // Two rows that must stay the same.
                let value = Bytes::from(vec![n as u8; 500]);
                let writes = vec![
                    Write::PutStamped(Bytes::from_static(b"left"), value.clone()),
                    Write::Put(Bytes::from_static(b"right"), value),
                ];
                store.commit(testing::commit(n.into(), vec![], writes)).await.unwrap();
                n += 1;
            }
        })
    };
    for round in 0..5 {
        let before = store.feed_end();
        let (backup, target) =
            (folder.path().join(format!("b{round}")), folder.path().join(format!("r{round}")));
        store.backup(&backup).await.unwrap();
        assert_eq!(store.backup(&backup).await.unwrap_err().kind(), ErrorKind::Unavailable, "it exists");
        restore(&backup, &target).unwrap();
        let error = restore(&backup, &target).unwrap_err();
        assert!(error.to_string().contains("not empty"), "{error}");
        let copy = open(&target).unwrap();
        assert!(
            number_of_cursor(copy.feed_end()) >= number_of_cursor(before),
            "everything acknowledged before is in the backup"
        );
        let row = async |key: &'static str| copy.get(&testing::things(0), key.as_bytes()).await.unwrap();
        assert_eq!(row("left").await.map(|row| row.value), row("right").await.map(|row| row.value));
        tokio::task::yield_now().await;
    }
    stop.store(true, Ordering::Relaxed);
    writer.await.unwrap();
}

/// Bytes of the tables in a store's folder.
fn table_bytes(folder: &Path) -> u64 {
    let files = fs::read_dir(folder.join("rocksdb")).unwrap().map(|entry| entry.unwrap());
    let tables = files.filter(|file| file.path().extension().is_some_and(|it| it == "sst"));
    // A table may be removed while we look.
    tables.filter_map(|file| file.metadata().ok()).map(|table| table.len()).sum()
}

/// Rows that do not compress, 3 MiB of them, written three times, each time under new keys: two memtables are flushed, and one
/// more at the end, which the engine does not merge yet.
async fn overwrite(store: &Embedded) {
    for round in 0..3_u32 {
        for n in 0..LIVE_ROWS {
            let random =
                |at: u64| xxhash_rust::xxh3::xxh3_64_with_seed(&at.to_le_bytes(), u64::from(n + round));
            let value: Bytes = (0..LIVE_ROW_BYTES / 8).flat_map(|at| random(at).to_le_bytes()).collect();
            let key = |round: u32| Bytes::from(format!("row {n} of round {round}"));
            let mut writes = vec![Write::PutStamped(key(round), value)];
            writes.extend(round.checked_sub(1).map(|before| Write::Delete(key(before))));
            store.commit(testing::commit(u128::from(n), vec![], writes)).await.unwrap();
        }
    }
}

const LIVE_ROWS: u32 = 24;
const LIVE_ROW_BYTES: u64 = 128 * 1024;

fn overwritten(folder: &Path) -> Embedded {
    let (memtable_bytes, rest) = (4 << 20, Duration::from_millis(50));
    Embedded::open(folder, EmbeddedOptions { memtable_bytes, rest, ..options(Clock::System) }).unwrap()
}

#[tokio::test]
async fn a_closed_store_is_not_much_larger_than_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let store = overwritten(folder.path());
    overwrite(&store).await;
    store.close().await.unwrap();
    let (live, held) = (u64::from(LIVE_ROWS) * LIVE_ROW_BYTES, table_bytes(folder.path()));
    assert!(live <= held && held < live * 3 / 2, "{held} bytes hold {live} live ones");
    let store = overwritten(folder.path());
    let rows =
        store.scan(&testing::things(0), &Range::prefix("row "), Direction::Forward, 1_000).await.unwrap();
    assert_eq!(rows.len(), LIVE_ROWS as usize);
}

#[tokio::test]
async fn a_store_at_rest_gives_back_what_was_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let store = overwritten(folder.path());
    overwrite(&store).await;
    let live = u64::from(LIVE_ROWS) * LIVE_ROW_BYTES;
    let begun = std::time::Instant::now();
    // What lies in a memtable is not in tables yet, so there may be less at first.
    while !(live..live * 3 / 2).contains(&table_bytes(folder.path())) {
        assert!(begun.elapsed() < Duration::from_secs(300), "{} bytes", table_bytes(folder.path()));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[test]
fn a_folder_that_is_none_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("file"), "a letter").unwrap();
    drop(open(&path("store")).unwrap());
    let check = |outcome: Result<(), Error>, names: &str, says: &str| {
        let error = outcome.expect_err("this must be refused");
        assert_eq!(error.kind(), ErrorKind::Misuse, "{error}");
        let said = error.to_string();
        assert!(said.contains(path(names).to_str().unwrap()) && said.contains(says), "{said}");
    };
    check(restore(&path("none"), &path("target")), "none", "there is no such folder");
    check(restore(&path("file"), &path("target")), "file", "it is a file, not a folder");
    check(restore(&path("store"), &path("file")), "file", "it is a file, not a folder");
    check(restore(&path("store"), &path("store")), "store", "the folder is not empty");
    check(open(&path("file")).map(drop), "file", "it is a file, not a folder");
    assert_eq!(fs::read(path("file")).unwrap(), b"a letter");
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["file", "store"]);
}

/// A backup with its rows in tables: of a store that was closed, which flushes, and opened again.
async fn backup_in_tables(folder: &Path) -> PathBuf {
    let (store, backup) = (folder.join("store"), folder.join("backup"));
    let filled = open(&store).unwrap();
    fill(&filled, 100).await;
    filled.close().await.unwrap();
    open(&store).unwrap().backup(&backup).await.unwrap();
    backup
}

/// Overwrites 200 bytes at the start of each table, where its rows lie.
#[tokio::test]
async fn a_damaged_backup_does_not_restore() {
    let folder = tempfile::tempdir().unwrap();
    let backup = backup_in_tables(folder.path()).await;
    let target = folder.path().join("target");
    let rows = fs::read_dir(backup.join("rocksdb")).unwrap().map(|entry| entry.unwrap().path());
    let tables: Vec<PathBuf> = rows.filter(|path| path.extension().is_some_and(|it| it == "sst")).collect();
    assert!(tables.len() > 1, "rows and feed are in tables");
    for table in &tables {
        let sound = fs::read(table).unwrap();
        let mut bytes = sound.clone();
        bytes[..200].iter_mut().for_each(|byte| *byte ^= 0x55);
        // The backup shares its files with the store: a new file, not other bytes in the same.
        fs::remove_file(table).unwrap();
        fs::write(table, bytes).unwrap();
        let error = restore(&backup, &target).expect_err("a damaged table must be found");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains(backup.to_str().unwrap()), "{error}");
        assert!(!target.exists() && !folder.path().join("target.unfinished").exists());
        fs::write(table, sound).unwrap();
    }
    restore(&backup, &target).unwrap();
    check_filled(&open(&target).unwrap(), 100).await;
}

#[tokio::test]
async fn a_closed_store_is_free_though_a_snapshot_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    fill(&store, 3).await;
    let snapshot = store.snapshot().unwrap();
    assert!(row_of(&snapshot, row_key(1)).await.unwrap().is_some());
    store.close().await.unwrap();
    let gone = row_of(&snapshot, row_key(1)).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Unavailable);
    assert_eq!(store.snapshot().unwrap_err().kind(), ErrorKind::Unavailable);
    let again = open(folder.path()).unwrap();
    assert!(again.get(&testing::things(0), &row_key(1)).await.unwrap().is_some());
}

#[tokio::test]
async fn a_snapshot_outlives_flushes_and_merges() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    fill(&store, 50).await;
    let snapshot = store.snapshot().unwrap();
    // Several memtables of other values, so that the first ones are in no memtable and would be merged away.
    for round in 0..60_u32 {
        let writes = (0..100).map(|n| Write::PutStamped(row_key(n), Bytes::from(vec![round as u8; 1_000])));
        let commit = testing::commit(1_000 + u128::from(round), vec![], writes.collect());
        store.commit(commit).await.unwrap();
    }
    let page =
        snapshot.scan(&testing::things(0), &Range::default(), Direction::Forward, 1_000).await.unwrap();
    assert_eq!(page.len(), 50);
    for n in 0..50_u32 {
        let row = row_of(&snapshot, row_key(n)).await.unwrap().unwrap();
        assert!(row.value.iter().all(|byte| *byte == n as u8), "{n}");
    }
}
