//! Random ranges, read at once from snapshots that lie behind, against a plain map: on all engines.

use std::collections::BTreeMap;

use bytes::Bytes;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::many::all_rows;
use super::random::{run, runtime};
use super::{FEED, commit, done, things};
use crate::{
    Clock, Commit, EmbeddedOptions, HostileOptions, MemoryOptions, Partition, Range, ScanLimits, Store,
    Timestamp, Write,
};

type Rows = BTreeMap<(u32, Bytes), Bytes>;

#[derive(Clone, Debug)]
enum Step {
    Put(u32, Vec<(Bytes, Bytes)>),
    Delete(u32, Vec<Bytes>),
    DeleteRange(u32, Range),
    /// Reads what was at the moment of the snapshot taken last.
    Read(Vec<(usize, Range)>, ScanLimits),
    Snapshot,
}

fn key() -> impl Strategy<Value = Bytes> {
    proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(b'A'), Just(b'a'), Just(0xff)], 0..4)
        .prop_map(Bytes::from)
}

fn value() -> impl Strategy<Value = Bytes> {
    proptest::collection::vec(any::<u8>(), 0..60).prop_map(Bytes::from)
}

fn range() -> impl Strategy<Value = Range> {
    prop_oneof![
        key().prop_map(Range::prefix),
        (key(), proptest::option::of(key())).prop_map(|(start, end)| Range { start, end }),
    ]
}

fn limits() -> impl Strategy<Value = ScanLimits> {
    let some = || prop_oneof![1..20_usize, Just(usize::MAX)];
    let bytes = || prop_oneof![1..200_usize, Just(usize::MAX)];
    let rows = prop_oneof![1..20_usize, Just(4_000), Just(100_000)];
    (some(), bytes(), rows, bytes()).prop_map(|(rows_each, bytes_each, rows, bytes)| ScanLimits {
        rows_each,
        bytes_each,
        rows,
        bytes,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let many = |of| proptest::collection::vec(of, 1..12);
    prop_oneof![
        5 => (0..2_u32, many((key(), value()))).prop_map(|(bucket, rows)| Step::Put(bucket, rows)),
        2 => (0..2_u32, proptest::collection::vec(key(), 1..12)).prop_map(|(b, keys)| Step::Delete(b, keys)),
        1 => (0..2_u32, range()).prop_map(|(bucket, range)| Step::DeleteRange(bucket, range)),
        4 => (proptest::collection::vec((0..2_usize, range()), 0..20), limits())
            .prop_map(|(ranges, limits)| Step::Read(ranges, limits)),
        2 => Just(Step::Snapshot),
    ]
}

fn write(rows: &mut Rows, bucket: u32, writes: &mut Vec<Write>) {
    crate::later_wins(writes);
    for write in writes.iter() {
        match write {
            Write::Put(key, value) | Write::PutStamped(key, value) => {
                rows.insert((bucket, key.clone()), value.clone());
            }
            Write::Delete(key) => drop(rows.remove(&(bucket, key.clone()))),
            Write::DeleteRange(range) => rows.retain(|(of, key), _| {
                *of != bucket || *key < range.start || range.end.as_ref().is_some_and(|end| key >= end)
            }),
        }
    }
}

async fn check(steps: &[Step], store: Store) -> Result<(), TestCaseError> {
    let partitions: [Partition; 2] = [things(0), things(1)];
    let (mut rows, mut number) = (Rows::new(), 0);
    let mut taken = (store.snapshot().unwrap(), rows.clone());
    for step in steps {
        let (bucket, mut writes) = match step {
            Step::Put(bucket, rows) => (
                *bucket,
                rows.iter().map(|(key, value)| Write::Put(key.clone(), value.clone())).collect::<Vec<_>>(),
            ),
            Step::Delete(bucket, keys) => (*bucket, keys.iter().cloned().map(Write::Delete).collect()),
            Step::DeleteRange(bucket, range) => (*bucket, vec![Write::DeleteRange(range.clone())]),
            Step::Snapshot => {
                taken = (store.snapshot().unwrap(), rows.clone());
                continue;
            }
            Step::Read(ranges, limits) => {
                let found = all_rows(&taken.0, &partitions, ranges, *limits).await;
                for ((of, range), found) in ranges.iter().zip(found) {
                    let within = |(bucket, key): &(u32, Bytes)| {
                        *bucket as usize == *of
                            && *key >= range.start
                            && range.end.as_ref().is_none_or(|end| key < end)
                    };
                    let expected: Vec<_> = taken
                        .1
                        .iter()
                        .filter(|(at, _)| within(at))
                        .map(|((_, key), value)| (key.clone(), value.clone()))
                        .collect();
                    prop_assert_eq!(found, expected, "{:?} {:?}", range, limits);
                }
                continue;
            }
        };
        write(&mut rows, bucket, &mut writes);
        number += 1;
        done(&store, Commit { partition: things(bucket), ..commit(number, vec![], writes) }).await;
        if store.may_lag() {
            // It keeps nothing of what was.
            taken = (store.snapshot().unwrap(), rows.clone());
        }
    }
    Ok(())
}

fn memory() -> MemoryOptions {
    MemoryOptions { clock: Clock::manual(Timestamp(0)), feed: FEED }
}

#[test]
fn memory_reads_many_ranges_as_a_map_does() {
    let runtime = runtime();
    run(200, step(), |steps| runtime.block_on(check(steps, Store::memory(memory()))));
}

#[test]
fn the_worst_store_reads_many_ranges_as_a_map_does() {
    let runtime = runtime();
    run(100, step(), |steps| {
        let options = HostileOptions { paused: 300, ..HostileOptions::calm(memory()) };
        runtime.block_on(check(steps, Store::hostile(options)))
    });
}

#[test]
fn embedded_reads_many_ranges_as_a_map_does() {
    let runtime = runtime();
    run(60, step(), |steps| {
        let folder = tempfile::tempdir().unwrap();
        let options = EmbeddedOptions {
            feed: FEED,
            cache_bytes: 1 << 20,
            memtable_bytes: 64 << 10,
            ..EmbeddedOptions::recommended()
        };
        runtime.block_on(check(steps, Store::open(folder.path(), options).unwrap()))
    });
}
