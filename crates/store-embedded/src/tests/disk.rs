//! A disk with too little room.

use std::os::unix::fs::MetadataExt as _;
use std::time::Instant;

use super::*;
use store_contract::{Commit, Condition};

fn reclaiming(commit: Commit) -> Commit {
    Commit { reclaims: true, ..commit }
}

#[tokio::test]
async fn a_store_on_a_nearly_full_disk_reads_and_removes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    fill(&store, 5).await;
    store.close().await.unwrap();
    // More is to be free than there is.
    let full = EmbeddedOptions { disk_free_min: Some(u64::MAX), ..options(Clock::System) };
    let store = Embedded::open(folder.path(), full).unwrap();
    check_filled(&store, 5).await;
    let put = |n: u32| Write::PutStamped(row_key(n), row_key(n));
    let row = store.get(&testing::things(0), &row_key(1)).await.unwrap().expect("a row");
    let same = || vec![Condition::Version(row_key(1), row.stamp)];
    let commits = [
        (testing::commit(1, vec![], vec![put(9)]), false),
        (testing::commit(2, same(), vec![put(1)]), false),
        (testing::commit(3, vec![], vec![]), false),
        (testing::commit(4, same(), vec![Write::Delete(row_key(2)), put(1)]), false),
        // As an entity is written that is there again: what is known of its past goes, and the whole of it comes.
        (testing::commit(8, same(), vec![Write::Delete(row_key(1)), put(11)]), false),
        // Who knows it to make room says so.
        (reclaiming(testing::commit(9, vec![], vec![put(12)])), true),
        (reclaiming(testing::commit(5, same(), vec![Write::Delete(row_key(1)), put(10)])), true),
        (testing::commit(6, vec![], vec![Write::Delete(row_key(2))]), true),
        (testing::commit(7, vec![], vec![Write::DeleteRange(Range::prefix(row_key(3)))]), true),
    ];
    for (commit, is_taken) in commits {
        let said = format!("{commit:?}");
        for told in
            [store.commit(commit.clone()).await.err(), store.commit_all(vec![commit]).await.remove(0).err()]
        {
            // What was removed by the first is no longer there for the second.
            let told = told.map(|error| error.kind()).filter(|kind| *kind != ErrorKind::Conflict);
            assert_eq!(told, (!is_taken).then_some(ErrorKind::NoSpace), "{said}");
        }
    }
    let blocks = Partition { space: testing::BLOCKS, ..testing::things(0) };
    assert_eq!(
        append(&store, &blocks, vec![(row_key(1), row_key(1))]).await.unwrap_err().kind(),
        ErrorKind::NoSpace
    );
    assert!(store.lease("job", Duration::ZERO).await.unwrap().is_some(), "jobs that make room go on");
    let statistics = store.statistics();
    assert_eq!((statistics.is_writable, statistics.times_full), (false, 1));
    let beside = tempfile::tempdir().unwrap();
    let backup = store.backup(&beside.path().join("backup")).await.unwrap_err();
    assert_eq!(backup.kind(), ErrorKind::NoSpace, "{backup}");
    store.close().await.unwrap();
    let store = open(folder.path()).unwrap();
    for (n, is_there) in [
        (0, true),
        (1, false),
        (2, false),
        (3, false),
        (4, true),
        (9, false),
        (10, true),
        (11, false),
        (12, true),
    ] {
        assert_eq!(store.get(&testing::things(0), &row_key(n)).await.unwrap().is_some(), is_there, "{n}");
    }
    fill(&store, 5).await;
}

#[tokio::test]
async fn a_nearly_full_store_gives_the_room_of_what_is_removed_back() {
    for at_rest in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path()).unwrap();
        fill(&store, 3_000).await;
        store.close().await.unwrap();
        let rest = if at_rest { Duration::from_millis(20) } else { Duration::from_secs(3_600) };
        let low = EmbeddedOptions { disk_free_min: Some(u64::MAX), rest, ..options(Clock::System) };
        let store = Embedded::open(folder.path(), low).unwrap();
        let everything = Write::DeleteRange(Range::default());
        store.commit(testing::commit(5_000, vec![], vec![everything])).await.unwrap();
        let begun = Instant::now();
        while at_rest && store.statistics().data_bytes > 1 << 20 {
            assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", store.statistics());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        store.close().await.unwrap();
        let left = bytes_of(folder.path());
        assert!(left < 1 << 20, "at rest: {at_rest}, {left} bytes");
    }
}

/// The bytes of the files of rows.
fn bytes_of(folder: &Path) -> u64 {
    let files = fs::read_dir(folder.join("rocksdb")).unwrap().map(|entry| entry.unwrap());
    let rows = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "sst"));
    rows.map(|file| file.metadata().unwrap().len()).sum()
}

#[tokio::test]
async fn the_ballast_is_given_back_when_the_disk_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let ballast = folder.path().join("BALLAST");
    let options = EmbeddedOptions { look: Duration::from_millis(5), ..options(Clock::System) };
    let is_there = || fs::metadata(&ballast).is_ok_and(|file| file.len() == 64 << 10 && file.blocks() > 0);
    let wait = async |wanted: bool| {
        let begun = Instant::now();
        while is_there() != wanted {
            assert!(begun.elapsed() < Duration::from_secs(60), "{wanted}");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let store = Embedded::open(folder.path(), options).unwrap();
    wait(true).await;
    store.shared().note_failure(&Error::new(ErrorKind::NoSpace, "write"));
    assert!(!ballast.exists());
    // The store is opened again, as the disk has room, and sets it aside again.
    wait(true).await;
    store.close().await.unwrap();
    assert!(!ballast.exists(), "a closed store is as large as its rows");
}
