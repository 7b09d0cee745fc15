//! A disk with too little room.

use std::os::unix::fs::MetadataExt as _;
use std::time::Instant;

use super::super::Embedded;
use super::*;
use crate::Condition;

#[tokio::test]
async fn a_store_on_a_nearly_full_disk_reads_and_removes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    fill(&store, 5).await;
    store.close().await.unwrap();
    // More is to be free than there is.
    let full = EmbeddedOptions { disk_free_min: Some(u64::MAX), ..options(Clock::System) };
    let store = Store::open(folder.path(), full).unwrap();
    check_filled(&store, 5).await;
    let put = |n: u32| Write::PutStamped(row_key(n), row_key(n));
    let row = store.get(&testing::things(0), &row_key(1)).await.unwrap().expect("a row");
    let same = || vec![Condition::Version(row_key(1), row.stamp)];
    let commits = [
        (testing::commit(1, vec![], vec![put(9)]), false),
        (testing::commit(2, same(), vec![put(1)]), false),
        (testing::commit(3, vec![], vec![]), false),
        (testing::commit(4, same(), vec![Write::Delete(row_key(2)), put(1)]), false),
        // With what is to be known of it later.
        (testing::commit(5, same(), vec![Write::Delete(row_key(1)), put(10)]), true),
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
        store.append(&blocks, vec![(row_key(1), row_key(1))]).await.unwrap_err().kind(),
        ErrorKind::NoSpace
    );
    assert_eq!(store.lease("job", Duration::ZERO).await.unwrap_err().kind(), ErrorKind::NoSpace);
    let statistics = store.statistics();
    assert_eq!((statistics.is_writable, statistics.times_full), (false, 1));
    let backup = store.backup(&folder.path().join("backup")).await.unwrap_err();
    assert_eq!(backup.kind(), ErrorKind::NoSpace, "{backup}");
    store.close().await.unwrap();
    let store = open(folder.path()).unwrap();
    for (n, is_there) in [(0, true), (1, false), (2, false), (3, false), (4, true), (9, false), (10, true)] {
        assert_eq!(store.get(&testing::things(0), &row_key(n)).await.unwrap().is_some(), is_there, "{n}");
    }
    fill(&store, 5).await;
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
