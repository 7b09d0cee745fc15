//! Views: writers commit an index row and a row together, readers look at the one and then at the other, and no commit may
//! be seen in part.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use store::{
    Commit, Direction, Durability, EmbeddedOptions, Partition, Range, Row, Space, SpaceKind, Store, Tenant,
    Write, WriteId,
};

const SPACE: Space = Space { id: 3, kind: SpaceKind::Commit, name: "views" };
const WRITERS: u64 = 4;
const READERS: u64 = 4;
/// Keys of one writer, each of which it writes with every group.
const KEYS: u64 = 16;

/// What was looked at.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) pairs: u64,
    /// Pairs of which the row was not of a moment between those of the index row before and after.
    pub(crate) torn: u64,
    /// Rows that were older than the same reader had seen them.
    pub(crate) turned_back: u64,
    pub(crate) commits: u64,
}

/// Reads `pairs` pairs beside writers.
pub(crate) fn look(folder: &Path, durability: Durability, pairs: u64) -> Seen {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    let options = EmbeddedOptions { durability, ..EmbeddedOptions::recommended() };
    let store = Store::open(folder, options).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let commits = Arc::new(AtomicU64::new(0));
    runtime.block_on(async {
        for writer in 0..WRITERS {
            write_group(&store, writer, 0).await;
        }
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (store, stop, commits) = (store.clone(), Arc::clone(&stop), Arc::clone(&commits));
                tokio::spawn(async move {
                    let mut number = 0;
                    while !stop.load(Ordering::Relaxed) {
                        number += 1;
                        write_group(&store, writer, number).await;
                        commits.fetch_add(KEYS, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let readers: Vec<_> =
            (0..READERS).map(|reader| tokio::spawn(read(store.clone(), reader, pairs / READERS))).collect();
        let mut seen = Seen::default();
        for reader in readers {
            let one = reader.await.unwrap();
            seen.pairs += one.pairs;
            seen.torn += one.torn;
            seen.turned_back += one.turned_back;
        }
        stop.store(true, Ordering::Relaxed);
        for writer in writers {
            writer.await.unwrap();
        }
        seen.commits = commits.load(Ordering::Relaxed);
        store.close().await.unwrap();
        seen
    })
}

fn partition() -> Partition {
    Partition { tenant: Tenant::default(), space: SPACE, bucket: 0 }
}

fn index_key(key: u64) -> Bytes {
    Bytes::from(format!("I{key:04}"))
}

fn row_key(key: u64) -> Bytes {
    Bytes::from(format!("r{key:04}"))
}

/// Whether the commit of this number removes the row.
fn is_removal(number: u64) -> bool {
    matches!(number % 8, 3 | 7)
}

async fn write_group(store: &Store, writer: u64, number: u64) {
    let commits = (0..KEYS).map(|key| commit(writer * KEYS + key, number));
    for outcome in store.commit_all(commits.collect()).await {
        outcome.unwrap();
    }
}

/// The index row says the number of the commit; so does the row, unless it is removed.
fn commit(key: u64, number: u64) -> Commit {
    let (row, value) = (row_key(key), Bytes::from(number.to_string()));
    let mut writes = vec![Write::Put(index_key(key), value.clone())];
    let everything_of_it = || Write::DeleteRange(Range::prefix(row_key(key)));
    match number % 8 {
        3 => writes.push(Write::Delete(row)),
        7 => writes.push(everything_of_it()),
        4 => writes.push(Write::Put(row, value)),
        5 => writes.extend([everything_of_it(), Write::PutStamped(row, value)]),
        _ => writes.push(Write::PutStamped(row, value)),
    }
    store::later_wins(&mut writes);
    Commit {
        partition: partition(),
        write_id: WriteId(u128::from(key) << 64 | u128::from(number)),
        conditions: vec![],
        writes,
        change: None,
        reclaims: false,
    }
}

async fn read(store: Store, reader: u64, pairs: u64) -> Seen {
    let mut seen = Seen::default();
    let mut newest = vec![0; (WRITERS * KEYS) as usize];
    for turn in 0..pairs {
        let key = (turn * 7 + reader) % (WRITERS * KEYS);
        let before = indexed(&store, key).await;
        let row = row_of(&store, key, turn).await;
        let after = indexed(&store, key).await;
        let number = row.map(|row| std::str::from_utf8(&row.value).unwrap().parse::<u64>().unwrap());
        let is_whole = match number {
            Some(number) => (before..=after).contains(&number) && !is_removal(number),
            None => (before..=after).any(is_removal),
        };
        let known = &mut newest[key as usize];
        seen.pairs += 1;
        seen.torn += u64::from(!is_whole);
        seen.turned_back += u64::from(number.is_some_and(|number| number < *known));
        *known = after.max(*known);
    }
    seen
}

async fn indexed(store: &Store, key: u64) -> u64 {
    let page = store.scan(&partition(), &Range::prefix(index_key(key)), Direction::Forward, 2).await.unwrap();
    let (_, value) = page.row(0).unwrap();
    std::str::from_utf8(value).unwrap().parse().unwrap()
}

/// The row by each of the ways to it in turn.
async fn row_of(store: &Store, key: u64, turn: u64) -> Option<Row> {
    let (partition, row) = (partition(), row_key(key));
    match turn % 4 {
        0 => store.get_many(&partition, &[row]).await.unwrap().pop().unwrap(),
        1 => store.snapshot().unwrap().get(&partition, &row).await.unwrap(),
        _ => match store.get_cached(&partition, &row) {
            Some(row) => row,
            None => store.get(&partition, &row).await.unwrap(),
        },
    }
}
