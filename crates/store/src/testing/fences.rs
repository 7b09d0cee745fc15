//! Fences: what follows from something read happens before that changes, or not at all.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{commit, done, kind, put, record, things};
use crate::{Commit, Condition, ErrorKind, Store};

pub(super) async fn check_fences(store: &Store) {
    let partition = things(0);
    let fenced = |write_id, fence| commit(write_id, vec![Condition::Fence(fence)], vec![put("a", "x")]);
    let seen = store.fence(&partition);
    done(store, fenced(1, seen)).await;
    done(store, fenced(2, seen)).await;
    let begun = store.bump(&partition, vec![]).await.expect("begun");
    let now = store.fence(&partition);
    assert_ne!(seen, now);
    assert_eq!(begun, now);
    let outcomes = store.commit_all(vec![fenced(3, seen), fenced(4, now), commit(5, vec![], vec![])]).await;
    let mut outcomes = outcomes.into_iter();
    assert_eq!(outcomes.next().map(kind), Some(ErrorKind::Fenced));
    assert!(outcomes.all(|outcome| outcome.is_ok()), "of the fence as it is, and of none");
}

/// Writers that read, under a fence, what is set before it is raised: behind the feed's end of then nobody says anything else.
pub(super) async fn check_races(store: &Store) {
    const ROUNDS: u64 = 20;
    let (current, ends) = (AtomicU64::new(0), AtomicBool::new(false));
    let write = |writer: u32| {
        let (current, ends) = (&current, &ends);
        async move {
            let partition = things(writer);
            while !ends.load(Ordering::Acquire) {
                let fence = store.fence(&partition);
                let change = Some(record(current.load(Ordering::Acquire).to_be_bytes().to_vec()));
                let drafted = commit(1, vec![Condition::Fence(fence)], vec![put("a", "x")]);
                tokio::task::yield_now().await;
                match store.commit(Commit { partition: partition.clone(), change, ..drafted }).await {
                    Ok(_) => {}
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Fenced),
                }
                tokio::task::yield_now().await;
            }
        }
    };
    let raise = async {
        for round in 1..=ROUNDS {
            current.store(round, Ordering::Release);
            for partition in [0, 1, 2, 3].map(things) {
                store.bump(&partition, vec![]).await.expect("begun");
            }
            let mut end = store.feed_end(0);
            let changes = loop {
                tokio::task::yield_now().await;
                match store.feed(0, end, 1_000).await {
                    Ok(page) if page.changes.is_empty() => {}
                    Ok(page) => break page.changes,
                    // Writers ran away from the reader: what lies behind a later end lies behind the barrier, too.
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
                        end = store.feed_end(0);
                    }
                }
            };
            for change in changes {
                let said = change.record.of(super::TESTS).expect("of the tests").payload;
                assert_eq!(said[..], round.to_be_bytes(), "behind the barrier of round {round}");
            }
        }
        ends.store(true, Ordering::Release);
    };
    tokio::join!(raise, write(0), write(1), write(2), write(3));
}
