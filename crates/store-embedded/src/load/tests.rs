//! What a load leaves when its process ends amid it, and what it is refused for.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use rocksdb::IngestExternalFileOptions;
use store_contract::incarnation::{number_of_cursor, number_of_stamp};
use store_contract::testing::{FEED, commit, record, things};
use store_contract::{Clock, Cursor, Direction, Range, Write};

use super::*;
use crate::EmbeddedOptions;

fn options() -> EmbeddedOptions {
    EmbeddedOptions {
        clock: Clock::System,
        feed: FEED,
        load_bytes: 64 << 10,
        ballast_bytes_max: 0,
        disk_free_min: Some(0),
        ..EmbeddedOptions::recommended()
    }
}

fn open(folder: &Path) -> Arc<Embedded> {
    Arc::new(Embedded::open(folder, options()).unwrap())
}

const ROWS: u32 = 3_000;

/// A load of many rows, none of which is there yet.
async fn begin(engine: &Arc<Embedded>) -> EmbeddedLoad {
    let load = engine.load(&things(0), engine.fence()).await.unwrap();
    for first in (0..ROWS).step_by(100) {
        let mut rows = LoadRows::default();
        (first..first + 100).for_each(|n| rows.put_stamped(&n.wrapping_mul(7_919).to_be_bytes(), &[7; 30]));
        load.add(rows).await.unwrap();
    }
    load
}

/// A load of which the engine has taken in the tables, and nothing came behind; its number.
async fn ingest(engine: &Arc<Embedded>, change: Option<ChangeRecord>) -> u64 {
    let load = begin(engine).await;
    let gathered = load.gathering.lock().take().unwrap();
    let mut runs = Vec::new();
    for run in gathered.runs {
        runs.push(Run::Spilled(joined(run).await.unwrap()));
    }
    assert!(runs.len() > 1, "some were spilled");
    runs.push(Run::Memory(Sorted::new(gathered.chunks)));
    let tables = load.write_tables(runs).await.unwrap();
    let said = Commit { change, write_id: load.write_id, ..Commit::of_bump(&load.partition, Vec::new()) };
    let ingest = load.prepare(gathered.open, said, tables).await.unwrap();
    let db = engine.shared().engine().unwrap();
    let mut moved = IngestExternalFileOptions::default();
    moved.set_move_files(true);
    let rows = family(&db, DEFAULT_COLUMN_FAMILY_NAME);
    db.ingest_external_file_cf_opts(rows, &moved, ingest.tables.iter().collect()).unwrap();
    ingest.load.number()
}

async fn found(engine: &Arc<Embedded>) -> usize {
    engine.scan(&things(0), &Range::default(), Direction::Forward, 9_999).await.unwrap().len()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

#[tokio::test]
async fn a_load_that_came_in_and_was_not_told_is_told_by_the_next_opening() {
    for change in [Some(record("loaded")), None] {
        let folder = tempfile::tempdir().unwrap();
        let engine = open(folder.path());
        engine.commit(commit(1, vec![], vec![Write::PutStamped("a".into(), "1".into())])).await.unwrap();
        let number = ingest(&engine, change.clone()).await;
        engine.close().await.unwrap();
        drop(engine);
        for opening in 0..2 {
            let engine = open(folder.path());
            let changes = engine.feed(Cursor::default(), 99).await.unwrap().changes;
            let told: Vec<_> = changes.iter().map(|change| change.record.clone()).collect();
            let expected: Vec<_> = [Some(record("change 1")), change.clone()].into_iter().flatten().collect();
            assert_eq!(told, expected);
            assert!(changes.iter().skip(1).all(|change| change.number > number));
            assert_eq!(found(&engine).await, ROWS as usize + 1);
            let row = engine.get(&things(0), &7_919_u32.to_be_bytes()).await.unwrap().unwrap();
            assert_eq!(number_of_stamp(row.stamp), number);
            if opening == 1 {
                let next = engine.commit(commit(2, vec![], vec![])).await.unwrap();
                assert!(number_of_stamp(next) > number, "no stamp is given again");
            }
            engine.close().await.unwrap();
        }
    }
}

/// As the engine leaves it that could not sync its manifest: it removes the tables, and the note of them may be there.
#[tokio::test]
async fn a_manifest_that_names_the_tables_of_a_failed_load_is_mended() {
    let (folder, copied) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let engine = open(folder.path());
    engine.commit(commit(1, vec![], vec![Write::PutStamped("a".into(), "1".into())])).await.unwrap();
    let tables = |store: &Path| -> BTreeSet<_> {
        let entries = fs::read_dir(store.join("rocksdb")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".sst")).collect()
    };
    let before = tables(folder.path());
    ingest(&engine, Some(record("loaded"))).await;
    copy(folder.path(), copied.path());
    for name in tables(folder.path()).difference(&before) {
        fs::remove_file(copied.path().join("rocksdb").join(name)).unwrap();
    }
    fs::remove_file(copied.path().join("LOCK")).unwrap();
    let refused = Embedded::open(copied.path(), options()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Corrupt, "nothing says that a load failed");
    let failed = copied.path().join("loads").join("2");
    fs::create_dir_all(&failed).unwrap();
    fs::write(failed.join("ingesting"), "").unwrap();
    for _ in 0..2 {
        let engine = open(copied.path());
        assert_eq!(found(&engine).await, 1);
        assert!(!failed.exists());
        engine.close().await.unwrap();
    }
}

/// Nothing on disk has the number of a load that is given up: a cursor that counted it would pass over a later commit, and a store
/// that is opened anew would miss it.
#[tokio::test]
async fn the_number_of_an_open_load_is_never_taken_for_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    let first = engine.commit(commit(1, vec![], vec![])).await.unwrap();
    let load = begin(&engine).await;
    assert!(
        engine.lease("worker", Duration::from_secs(9)).await.unwrap().is_some(),
        "a batch without a commit"
    );
    let cursor = engine.feed_end();
    assert_eq!(number_of_cursor(cursor), number_of_stamp(first));
    engine.shared().note_failure(&Error::new(ErrorKind::NoSpace, "write"));
    engine.shared().reopen().unwrap();
    drop(load);
    engine.close().await.unwrap();
    drop(engine);
    let engine = open(folder.path());
    engine.commit(commit(2, vec![], vec![])).await.unwrap();
    let changes = engine.feed(cursor, 99).await.unwrap().changes;
    assert_eq!(changes.len(), 1, "a reader that goes on misses nothing");
}

#[tokio::test]
async fn no_load_leaves_files() {
    let folder = tempfile::tempdir().unwrap();
    let loads = folder.path().join("loads");
    let is_empty = || fs::read_dir(&loads).is_ok_and(|entries| entries.count() == 0);
    let engine = open(folder.path());
    for finishes in [true, false] {
        let load = begin(&engine).await;
        assert!(!is_empty());
        if finishes {
            load.finish(None).await.unwrap();
        }
        drop(load);
        while !is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    assert_eq!(found(&engine).await, ROWS as usize);
    engine.close().await.unwrap();
    fs::create_dir_all(loads.join("9")).unwrap();
    fs::write(loads.join("9").join("runs"), "what a kill has left").unwrap();
    let engine = open(folder.path());
    assert!(!loads.exists());
    assert_eq!(engine.shared().loads.len(), 0);
}

#[tokio::test]
async fn a_load_is_refused_on_a_nearly_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    let load = begin(&engine).await;
    engine.shared().note_low();
    let refused = load.add(LoadRows::default()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NoSpace);
    assert_eq!(load.finish(None).await.unwrap_err().kind(), ErrorKind::NoSpace);
    assert_eq!(engine.load(&things(0), engine.fence()).await.unwrap_err().kind(), ErrorKind::NoSpace);
    assert_eq!(found(&engine).await, 0);
}

/// Adds wait for memory, however large they are and however many come at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adds_that_are_larger_than_the_memory_come_through() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    let load = Arc::new(engine.load(&things(0), engine.fence()).await.unwrap());
    let adding = (0..16_u32).map(|task| {
        let load = Arc::clone(&load);
        tokio::spawn(async move {
            for n in 0..20_u32 {
                let mut rows = LoadRows::default();
                let bytes = if n % 7 == 0 { 100_000 } else { 100 };
                (0..4_u32).for_each(|row| {
                    rows.put(&[task, n, row].map(u32::to_be_bytes).concat(), &vec![1; bytes])
                });
                load.add(rows).await.unwrap();
            }
        })
    });
    for task in adding.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    load.finish(None).await.unwrap();
    let (mut range, mut rows) = (Range::default(), 0);
    loop {
        let page = engine.scan(&things(0), &range, Direction::Forward, 9_999).await.unwrap();
        rows += page.len();
        match range.after_page(&page) {
            Some(next) => range = next,
            None => break,
        }
    }
    assert_eq!(rows, 16 * 20 * 4);
    assert_eq!(load.room.available_permits(), engine.load_units(), "all memory is given back");
}
