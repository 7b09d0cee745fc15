//! An engine that is opened again after its disk was full, or closed, while somebody holds it.

use std::pin::pin;
use std::time::Instant;

use super::*;
use crate::shared::Shared;
use store_contract::lives::Directory;
use store_contract::tenant_rows;
use store_contract::{Commit, TenantName};

/// A store that met a full disk and is opened again by nobody but the test.
async fn full(folder: &Path) -> Embedded {
    let options = EmbeddedOptions { look: Duration::from_secs(3_600), ..options(Clock::System) };
    let store = Embedded::open(folder, options).unwrap();
    let write = Write::PutStamped(row_key(1), Bytes::from_static(b"one"));
    store.commit(testing::commit(1, vec![], vec![write])).await.unwrap();
    store.shared().note_failure(&Error::new(ErrorKind::NoSpace, "write"));
    store
}

fn is_read(shared: &Shared) -> bool {
    shared.engine().is_ok_and(|engine| engine.iterator(rocksdb::IteratorMode::Start).next().is_some())
}

#[tokio::test]
async fn a_snapshot_that_is_being_dropped_does_not_end_recovery() {
    let folder = tempfile::tempdir().unwrap();
    let store = full(folder.path()).await;
    let shared = store.shared();
    // As the last handle of a snapshot holds it that has left the list and has not yet gone.
    let held = shared.engine().unwrap().share();
    let refused = shared.reopen().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused}");
    assert!(!shared.is_serving() && is_read(shared), "it goes on reading, and tries again");
    drop(held);
    shared.reopen().unwrap();
    assert!(shared.is_serving() && is_read(shared));
}

#[tokio::test]
async fn a_removal_that_is_found_after_a_full_disk_ends_its_life() {
    let folder = tempfile::tempdir().unwrap();
    let store = full(folder.path()).await;
    let shared = store.shared();
    shared.reopen().unwrap();
    let [city, town] = [(1, "city"), (2, "town")].map(|(number, name)| {
        let (lives, name) = (&shared.lives, TenantName::new(name).unwrap());
        lives.learn(&Directory::default(), (number, &name), lives.generation()).unwrap()
    });
    // As a removal leaves it that was refused though its batch is in the log.
    let write = Write::Put(tenant_rows::removal(city.number()), Bytes::from_static(b"city"));
    let commit = Commit { partition: tenant_rows::partition(), ..testing::commit(2, vec![], vec![write]) };
    store.commit(commit).await.unwrap();
    shared.note_failure(&Error::new(ErrorKind::NoSpace, "write"));
    assert!(!city.is_ended());
    shared.reopen().unwrap();
    assert!(city.is_ended() && !town.is_ended());
}

#[tokio::test]
async fn a_snapshot_that_goes_in_time_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let store = full(folder.path()).await;
    let shared = Arc::clone(store.shared());
    let held = shared.engine().unwrap().share();
    let going = std::thread::spawn(move || drop(held));
    // The thread may be late on a busy machine: recovery is tried again then, as the monitor does.
    let begun = Instant::now();
    while let Err(error) = shared.reopen() {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(begun.elapsed() < Duration::from_secs(300));
    }
    going.join().unwrap();
    assert!(shared.is_serving());
}

#[tokio::test]
async fn a_folder_is_given_free_only_after_its_engine() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    fill(&store, 3).await;
    store.close().await.unwrap();
    let embedded = Embedded::open(folder.path(), options(Clock::System)).unwrap();
    let held = embedded.shared().engine().unwrap().share();
    let mut closing = pin!(embedded.close());
    let waited = tokio::time::timeout(Duration::from_millis(200), closing.as_mut()).await;
    assert!(waited.is_err(), "the engine is still open");
    let (kind, said) = refused(open(folder.path()));
    assert!(kind == ErrorKind::Locked && said.contains("another server"), "{said}");
    drop(held);
    closing.await.unwrap();
    check_filled(&open(folder.path()).unwrap(), 3).await;
}

#[tokio::test]
async fn a_reader_waits_for_no_whole_attempt_to_open_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = full(folder.path()).await;
    let shared = store.shared();
    // The shortest of some attempts counts: a busy machine stops any thread now and then.
    let mut longest_min = Duration::MAX;
    for _ in 0..10 {
        // As a backup holds it.
        let held = shared.engine().unwrap();
        let longest = std::thread::scope(|scope| {
            let attempt = scope.spawn(|| shared.reopen().unwrap_err());
            let mut longest = Duration::ZERO;
            while !attempt.is_finished() {
                let begun = Instant::now();
                drop(shared.engine().unwrap());
                longest = longest.max(begun.elapsed());
            }
            assert_eq!(attempt.join().unwrap().kind(), ErrorKind::Unavailable);
            longest
        });
        drop(held);
        longest_min = longest_min.min(longest);
    }
    assert!(longest_min < Duration::from_millis(50), "{longest_min:?}");
}
