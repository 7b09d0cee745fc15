//! What is synced when, and what the end of a process without a sync makes of a store.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::time::Instant;

use super::*;
use crate::failure::family;
use crate::format::{FEED, META};
use store_contract::{Condition, Stamp};

const INTERVAL: Duration = Duration::from_millis(5);
const FAMILIES: [&str; 3] = [rocksdb::DEFAULT_COLUMN_FAMILY_NAME, FEED, META];
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until it is so, or for the given time; whether it is.
fn within(time: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() >= time {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// The syncer looks while a write is under way, and nothing is written after it.
#[test]
fn the_last_write_of_an_idle_store_is_synced() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = EmbeddedOptions { durability: Durability::Interval(INTERVAL), ..options(Clock::System) };
    let store = Arc::new(Embedded::open(folder.path(), options).unwrap());
    let held = store.shared().cache.hold();
    let write = Write::PutStamped(row_key(1), row_key(1));
    let writing = runtime.spawn({
        let store = Arc::clone(&store);
        async move { store.commit(testing::commit(1, vec![], vec![write])).await }
    });
    let syncs = || store.shared().counters.syncs.load(Ordering::Relaxed);
    within(INTERVAL * 40, || syncs() > 0);
    let before = syncs();
    drop(held);
    runtime.block_on(writing).unwrap().unwrap();
    assert!(within(PATIENCE, || syncs() > before), "the last write is never synced");
}

/// A cursor and a stamp of the row with this number, at its newest.
async fn marks(store: &Embedded, n: u32) -> (Cursor, Stamp) {
    let row = store.get(&testing::things(0), &row_key(n)).await.unwrap().expect("a filled row");
    (store.feed_end(), row.stamp)
}

/// What the store says of marks that were made before it was opened.
async fn check_marks(
    store: &Embedded,
    n: u32,
    (cursor, stamp): (Cursor, Stamp),
    expected: Option<ErrorKind>,
) {
    assert_eq!(store.feed(cursor, 9).await.err().map(|error| error.kind()), expected);
    let conditions = vec![Condition::Version(row_key(n), stamp)];
    let told = store.commit(testing::commit(1_000, conditions, vec![])).await;
    assert_eq!(told.err().map(|error| error.kind()), expected);
}

#[tokio::test]
async fn a_restored_store_is_another_one_to_readers_and_writers() {
    let folder = tempfile::tempdir().unwrap();
    let (source, backup) = (folder.path().join("source"), folder.path().join("backup"));
    let store = open(&source).unwrap();
    fill(&store, 5).await;
    let at_backup = marks(&store, 1).await;
    store.backup(&backup).await.unwrap();
    fill(&store, 5).await;
    let later = marks(&store, 1).await;
    store.close().await.unwrap();
    let other = Some(ErrorKind::OtherIncarnation);
    let mut before = None;
    for (name, others) in [("ahead", 0), ("caught up", 5)] {
        let target = folder.path().join(name);
        restore(&backup, &target).unwrap();
        let store = open(&target).unwrap();
        // Another writer gives the same numbers to rows of his own.
        fill(&store, others).await;
        check_marks(&store, 1, later, other).await;
        check_marks(&store, 1, at_backup, other).await;
        let own = marks(&store, 1).await;
        if let Some(first) = before.replace(own) {
            check_marks(&store, 1, first, other).await;
        }
        store.close().await.unwrap();
        check_marks(&open(&target).unwrap(), 1, own, None).await;
    }
    // A backup that is taken for a store by itself is a copy all the same, once.
    let store = open(&backup).unwrap();
    check_marks(&store, 1, at_backup, other).await;
    let own = marks(&store, 1).await;
    store.close().await.unwrap();
    check_marks(&open(&backup).unwrap(), 1, own, None).await;
    check_marks(&open(&source).unwrap(), 1, later, None).await;
}

#[tokio::test]
async fn an_end_that_may_have_lost_commits_begins_a_new_incarnation() {
    let interval = Durability::Interval(Duration::from_secs(3_600));
    let other = Some(ErrorKind::OtherIncarnation);
    let cases = [(Durability::Sync, None, None), (interval, None, other)];
    for (durability, after_closing, after_a_kill) in cases {
        let (folder, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let options = EmbeddedOptions { durability, ..options(Clock::System) };
        let store = Embedded::open(folder.path(), options.clone()).unwrap();
        fill(&store, 5).await;
        let own = marks(&store, 1).await;
        copy_as_killed(folder.path(), killed.path());
        store.close().await.unwrap();
        check_marks(&Embedded::open(folder.path(), options.clone()).unwrap(), 1, own, after_closing).await;
        // Whoever opens it next: it is the last run that counts.
        let store = open(killed.path()).unwrap();
        check_filled(&store, 5).await;
        check_marks(&store, 1, own, after_a_kill).await;
        let own = marks(&store, 1).await;
        let killed_again = tempfile::tempdir().unwrap();
        copy_as_killed(killed.path(), killed_again.path());
        check_marks(&open(killed_again.path()).unwrap(), 1, own, None).await;
    }
}

#[tokio::test]
async fn a_log_that_is_cut_off_at_damage_begins_a_new_incarnation() {
    let (folder, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open(folder.path()).unwrap();
    fill(&store, 5).await;
    let own = marks(&store, 0).await;
    copy_as_killed(folder.path(), killed.path());
    store.close().await.unwrap();
    let logs = fs::read_dir(killed.path().join("rocksdb")).unwrap().map(|entry| entry.unwrap().path());
    let log = logs.filter(|path| path.extension().is_some_and(|extension| extension == "log")).max().unwrap();
    let mut bytes = fs::read(&log).unwrap();
    // In the value of the row before the last but one.
    let damaged = bytes.windows(100).position(|window| *window == [2; 100]).expect("a row");
    bytes[damaged] ^= 1;
    fs::write(&log, bytes).unwrap();
    assert_eq!(refused(open(killed.path())).0, ErrorKind::Corrupt);
    let interval = Durability::Interval(Duration::from_secs(3_600));
    let options = EmbeddedOptions { durability: interval, ..options(Clock::System) };
    let store = Embedded::open(killed.path(), options).unwrap();
    check_filled(&store, 2).await;
    assert!(store.get(&testing::things(0), &row_key(4)).await.unwrap().is_none());
    check_marks(&store, 0, own, Some(ErrorKind::OtherIncarnation)).await;
}

/// Waits until the engine writes nothing of its own accord.
fn settle(store: &Embedded) {
    let engine = store.shared().engine().unwrap();
    let names =
        ["mem-table-flush-pending", "compaction-pending", "num-running-flushes", "num-running-compactions"];
    let is_zero = |of: &str, name: &str| {
        let value = engine.property_int_value_cf(family(&engine, of), &format!("rocksdb.{name}"));
        value.unwrap() == Some(0)
    };
    let is_idle = || FAMILIES.iter().all(|of| names.iter().all(|name| is_zero(of, name)));
    assert!(within(PATIENCE, is_idle));
}

/// The engine's logs by the number of their file: it keeps that when it is written over under a new name, and no other gets it
/// while it is open.
fn logs(folder: &Path) -> BTreeMap<u64, (PathBuf, File)> {
    let paths = fs::read_dir(folder.join("rocksdb")).unwrap().map(|entry| entry.unwrap().path());
    let logs = paths.filter(|path| path.extension().is_some_and(|extension| extension == "log"));
    let open = logs.filter_map(|path| Some((File::open(&path).ok()?, path)));
    open.map(|(file, path)| (file.metadata().unwrap().ino(), (path, file))).collect()
}

/// Power is lost when the engine has synced the first record in a log that it writes over, and not yet the log's new name.
#[tokio::test]
async fn a_log_that_was_being_written_over_when_its_new_name_was_lost_is_no_loss() {
    let (folder, lost) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let small =
        EmbeddedOptions { memtable_bytes: 64 << 10, log_bytes_max: 128 << 10, ..options(Clock::System) };
    let store = Embedded::open(folder.path(), small.clone()).unwrap();
    let mut before = logs(folder.path());
    let (mut rows, mut written_over) = (0, None);
    while written_over.is_none() {
        assert!(rows < 5_000, "no log is written over");
        let write = Write::PutStamped(row_key(rows), Bytes::from(vec![rows as u8; 1_000]));
        store.commit(testing::commit(u128::from(rows), vec![], vec![write])).await.unwrap();
        settle(&store);
        let now = logs(folder.path());
        written_over = now.iter().find_map(|(number, (path, _))| {
            let (old, _) = before.get(number)?;
            (old != path).then(|| (old.clone(), path.clone()))
        });
        before = now;
        rows += 1;
    }
    let (old, new) = written_over.unwrap();
    copy_as_killed(folder.path(), lost.path());
    let rows_of = |path: &Path| lost.path().join("rocksdb").join(path.file_name().unwrap());
    let (old, new) = (rows_of(&old), rows_of(&new));
    fs::rename(new, &old).unwrap();
    let bytes = fs::read(&old).unwrap();
    // The first page came whole, or not: it says nothing.
    for torn in [0, 4_096] {
        let torn_bytes = [&vec![0xa5; torn], &bytes[torn..]].concat();
        fs::write(&old, &torn_bytes).unwrap();
        let copy = tempfile::tempdir().unwrap();
        copy_as_killed(lost.path(), copy.path());
        let store = Embedded::open(copy.path(), small.clone()).unwrap();
        // All but the commit that began the log: that was not acknowledged.
        check_filled(&store, rows - 1).await;
        assert!(store.get(&testing::things(0), &row_key(rows - 1)).await.unwrap().is_none());
    }
}
