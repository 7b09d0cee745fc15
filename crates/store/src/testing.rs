//! The contract of the store as a suite, run on every engine: [`contract`] is given a way to make
//! an empty store with a given clock and a feed that keeps what [`FEED`] says.

mod appends;
mod changes;
mod commits;
mod fences;
mod loads;
mod many;
#[cfg(test)]
mod random;
#[cfg(test)]
mod random_loads;
#[cfg(test)]
mod random_many;
mod reads;
mod seeds;
mod snapshots;
mod sweeps;

use bytes::Bytes;
pub use seeds::{Seeds, seeds};
pub use store_contract::testing::{
    BLOCKS, FEED, FEED_RECORDS_MIN, OTHERS, TESTS, THINGS, commit, directory_row, record, tenant, things,
};

use crate::{
    Append, Clock, Commit, Error, ErrorKind, FeedOptions, HostileOptions, MemoryOptions, Partition, Stamp,
    Store, Timestamp, Write,
};

/// Runs the whole contract; `make_store` makes an empty store for each part.
///
/// # Panics
///
/// If the engine breaks the contract.
pub async fn contract(mut make_store: impl FnMut(Clock) -> Store) {
    let clock = Clock::manual(Timestamp(1_000_000));
    commits::check_stamps_and_rows(&make_store(clock.clone())).await;
    commits::check_conditions(&make_store(clock.clone())).await;
    commits::check_atomicity(&make_store(clock.clone())).await;
    commits::check_groups(&make_store(clock.clone())).await;
    commits::check_delete_range(&make_store(clock.clone())).await;
    commits::check_order(&make_store(clock.clone())).await;
    commits::check_limits(&make_store(clock.clone())).await;
    commits::check_scanned(&make_store(clock.clone())).await;
    commits::check_spaces(&make_store(clock.clone())).await;
    changes::check_models(&make_store(clock.clone())).await;
    fences::check_fences(&make_store(clock.clone())).await;
    appends::check_epochs(&make_store(clock.clone())).await;
    appends::check_commits(&make_store(clock.clone())).await;
    appends::check_groups(&make_store(clock.clone())).await;
    sweeps::check(&make_store(clock.clone())).await;
    loads::check_rows(&make_store(clock.clone())).await;
    loads::check_refused(&make_store(clock.clone())).await;
    loads::check_moment(&make_store(clock.clone())).await;
    loads::check_skips(&make_store(clock.clone())).await;
    loads::check_races(&make_store(clock.clone())).await;
    loads::check_many(&make_store(clock.clone())).await;
    fences::check_races(&make_store(clock.clone())).await;
    commits::check_races(&make_store(clock.clone())).await;
    reads::check_cache(&make_store(clock.clone())).await;
    reads::check_scan(&make_store(clock.clone())).await;
    reads::check_neighbours(&make_store(clock.clone())).await;
    reads::check_page_bytes(&make_store(clock.clone())).await;
    reads::check_skip(&make_store(clock.clone())).await;
    reads::check_skip_races(&make_store(clock.clone())).await;
    many::check_many(&make_store(clock.clone())).await;
    many::check_many_moment(&make_store(clock.clone())).await;
    reads::check_sizes(&make_store(clock.clone())).await;
    snapshots::check_snapshot(&make_store(clock.clone())).await;
    snapshots::check_snapshot_races(&make_store(clock.clone())).await;
    changes::check_feed(&make_store(clock.clone())).await;
    changes::check_feed_readers(&make_store(clock.clone())).await;
    changes::check_feed_limit(&make_store(clock.clone())).await;
    changes::check_incarnation(&make_store(clock.clone()), &make_store(clock.clone())).await;
    changes::check_resolve(&make_store(clock.clone())).await;
    changes::check_leases(&make_store(clock.clone()), &clock).await;
    changes::check_close(&make_store(clock)).await;
}

/// Runs what of the contract an engine keeps that has several shards, caches nothing and keeps nothing of what was.
///
/// # Panics
///
/// If the engine breaks the contract.
pub async fn contract_of_a_cluster(mut make_store: impl FnMut(Clock) -> Store) {
    let clock = Clock::manual(Timestamp(1_000_000));
    commits::check_stamps_and_rows(&make_store(clock.clone())).await;
    commits::check_conditions(&make_store(clock.clone())).await;
    commits::check_atomicity(&make_store(clock.clone())).await;
    commits::check_groups(&make_store(clock.clone())).await;
    commits::check_delete_range(&make_store(clock.clone())).await;
    commits::check_order(&make_store(clock.clone())).await;
    commits::check_limits(&make_store(clock.clone())).await;
    commits::check_spaces(&make_store(clock.clone())).await;
    appends::check_epochs(&make_store(clock.clone())).await;
    appends::check_commits(&make_store(clock.clone())).await;
    appends::check_groups(&make_store(clock.clone())).await;
    sweeps::check(&make_store(clock.clone())).await;
    loads::check_rows(&make_store(clock.clone())).await;
    loads::check_refused(&make_store(clock.clone())).await;
    commits::check_races(&make_store(clock.clone())).await;
    reads::check_scan(&make_store(clock.clone())).await;
    reads::check_neighbours(&make_store(clock.clone())).await;
    many::check_many(&make_store(clock.clone())).await;
    snapshots::check_validated(&make_store(clock.clone())).await;
    changes::check_resolve(&make_store(clock.clone())).await;
    changes::check_leases(&make_store(clock.clone()), &clock).await;
    changes::check_close(&make_store(clock)).await;
}

/// Checks that reads of several pages are validated, of an engine that keeps nothing of what was.
///
/// # Panics
///
/// If they are not.
pub async fn check_validated(store: &Store) {
    snapshots::check_validated(store).await;
}

/// Names the store that tests of models run on: `hostile`, or `hostile:` and a seed; else that in memory.
const TEST_STORE: &str = "TWINFOLD_TEST_STORE";

/// An empty store for a test of a model.
///
/// # Panics
///
/// If the variable names no such store.
#[expect(clippy::disallowed_methods, reason = "a switch of the test run itself")]
pub fn memory(clock: Clock) -> Store {
    let options = MemoryOptions { clock, feed: FeedOptions::recommended() };
    match std::env::var(TEST_STORE).as_deref() {
        Err(_) | Ok("" | "memory") => Store::memory(options),
        Ok("hostile") => Store::hostile(HostileOptions::new(options, 1)),
        Ok(named) => {
            let seed = named.strip_prefix("hostile:").and_then(|seed| seed.parse().ok());
            let seed =
                seed.unwrap_or_else(|| panic!("{TEST_STORE} is none of memory, hostile, hostile:SEED"));
            Store::hostile(HostileOptions::new(options, seed))
        }
    }
}

/// An empty store in memory, whatever the switch says: for tests that ask for what only a store of one process gives (readers who
/// see at once what was written, one shard of changes, the largest commits). What holds on any is tried on the worst beside them.
pub fn plain(clock: Clock) -> Store {
    Store::memory(MemoryOptions { clock, feed: FeedOptions::recommended() })
}

/// An empty store that is as bad as the contract allows, by a seed.
pub fn hostile(clock: Clock, seed: u64) -> Store {
    Store::hostile(HostileOptions::new(MemoryOptions { clock, feed: FeedOptions::recommended() }, seed))
}

/// How many rows lie under the number of a tenant, in all partitions of all spaces.
///
/// # Panics
///
/// If the engine cannot be read.
pub fn rows_of_tenant(store: &Store, number: u32) -> usize {
    store.count_tenant_rows(number).expect("an engine that can be read")
}

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

fn put(key: &str, value: &str) -> Write {
    Write::Put(bytes(key), bytes(value))
}

fn stamped(key: &str, value: &str) -> Write {
    Write::PutStamped(bytes(key), bytes(value))
}

fn kind<T: std::fmt::Debug>(outcome: Result<T, Error>) -> ErrorKind {
    outcome.expect_err("this must be refused").kind()
}

/// Appends rows that belong to bucket 0 of [`THINGS`].
pub(crate) async fn append(
    store: &Store,
    partition: &Partition,
    rows: Vec<(Bytes, Bytes)>,
) -> Result<(), Error> {
    let epoch = store.fence(&things(0));
    store.append(Append { partition: partition.clone(), rows }, epoch).await
}

/// Commits what must succeed.
async fn done(store: &Store, commit: Commit) -> Stamp {
    store.commit(commit).await.expect("this commit must succeed")
}

/// The value of a row of bucket 0 as text.
async fn value(store: &Store, key: &str) -> Option<String> {
    let row = store.get(&things(0), key.as_bytes()).await.expect("get");
    row.map(|row| String::from_utf8(row.value.to_vec()).expect("text"))
}
