//! Appended rows and epochs over an end of the process.

use super::*;
use store_contract::{Appended, CommitWithAppends, Stamp};

fn row(key: u32) -> (Bytes, Bytes) {
    (row_key(key), row_key(key))
}

async fn appended(store: &Embedded, commit: CommitWithAppends) -> Result<Stamp, Error> {
    store.append_then_commit_all(vec![commit]).await.remove(0)
}

/// Whether rows 1 to 3 are there.
async fn found(store: &Embedded, blocks: &Partition) -> [bool; 3] {
    let rows = store.get_many(blocks, &[1, 2, 3].map(row_key)).await.unwrap();
    [0, 1, 2].map(|place| rows[place].is_some())
}

#[tokio::test]
async fn epochs_go_on_over_an_end_of_the_process() {
    let (folder, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (blocks, things) = (Partition { space: testing::BLOCKS, ..testing::things(0) }, testing::things(0));
    let append = |key| Append { partition: blocks.clone(), rows: vec![row(key)] };
    let store = open(folder.path()).unwrap();
    let first = store.fence();
    store.append(append(1), first).await.unwrap();
    let second = store.bump(&things, vec![]).await.unwrap();
    store.append(append(2), second).await.unwrap();
    copy_as_killed(folder.path(), killed.path());
    store.close().await.unwrap();
    for path in [folder.path(), killed.path()] {
        let store = open(path).unwrap();
        let commit = testing::commit(7, vec![], vec![]);
        let epoch = store.fence();
        let third = CommitWithAppends { appends: vec![append(3)], epoch, commit, lets_go: vec![] };
        appended(&store, third.clone()).await.unwrap();
        let keys = [1, 2, 3].map(row_key).to_vec();
        store.remove(&blocks, keys.clone(), Appended::Before(second)).await.unwrap();
        assert_eq!(found(&store, &blocks).await, [false, true, true], "an epoch of before says what it said");
        let begun = store.bump(&things, vec![]).await.unwrap();
        let refused = appended(&store, third).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Fenced);
        store.append(append(3), begun).await.unwrap();
        store.remove(&blocks, keys, Appended::Before(begun)).await.unwrap();
        assert_eq!(found(&store, &blocks).await, [false, false, true]);
    }
}

/// Appends, commit and removals are one batch each, with one sync.
#[tokio::test]
async fn what_goes_ahead_costs_no_sync_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let blocks = Partition { space: testing::BLOCKS, ..testing::things(0) };
    let before = store.statistics();
    let commit = |n: u128| CommitWithAppends {
        appends: vec![Append { partition: blocks.clone(), rows: vec![row(1), row(2)] }],
        epoch: store.fence(),
        commit: testing::commit(n, vec![], vec![]),
        lets_go: vec![],
    };
    for outcome in store.append_then_commit_all(vec![commit(1), commit(2)]).await {
        outcome.unwrap();
    }
    let after = store.statistics();
    assert_eq!((after.batches - before.batches, after.syncs - before.syncs), (1, 1));
    assert_eq!(store.get_cached(&blocks, &row_key(1)).flatten().map(|row| row.value), Some(row_key(1)));
    // A snapshot sees them as they were, from the cache.
    let snapshot = store.snapshot().unwrap();
    assert!(snapshot.get_cached(&blocks, &row_key(2)).flatten().is_some());
    store.remove(&blocks, vec![row_key(2)], Appended::Until(store.fence())).await.unwrap();
    assert_eq!(store.get_cached(&blocks, &row_key(2)), Some(None));
    assert!(snapshot.get_many(&blocks, &[row_key(2)]).await.unwrap()[0].is_some());
}
