//! What is synced when, and what the end of a process without a sync makes of a store.

use std::time::Instant;

use super::super::Embedded;
use super::*;

const INTERVAL: Duration = Duration::from_millis(5);
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
