//! Random operations against a plain map, on both engines.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use store_contract::incarnation::{Incarnation, incarnation_of_cursor, number_of_stamp};

use super::{FEED, FEED_RECORDS_MIN, record, things};
use crate::{
    Change, Clock, Commit, Condition, Direction, EmbeddedOptions, ErrorKind, MemoryOptions, Range, Row,
    Stamp, Store, Timestamp, Write, WriteId, later_wins,
};

#[derive(Clone, Debug)]
enum Step {
    Commits(Vec<Plan>),
    Get(u32, Bytes),
    Scan(u32, Range, Direction, usize),
    Skip(u32, Range, Bytes, usize),
    Reopen,
}

/// A commit whose version conditions are filled in when it is its turn.
#[derive(Clone, Debug)]
struct Plan {
    bucket: u32,
    conditions: Vec<(Bytes, Demand)>,
    writes: Vec<Write>,
}

#[derive(Clone, Copy, Debug)]
enum Demand {
    Absent,
    Present,
    /// The version now, or one that was: minus so much.
    Version(u64),
}

fn key() -> impl Strategy<Value = Bytes> {
    proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(b'a'), Just(0xff)], 0..3)
        .prop_map(Bytes::from)
}

fn value() -> impl Strategy<Value = Bytes> {
    prop_oneof![Just(Bytes::new()), proptest::collection::vec(any::<u8>(), 0..40).prop_map(Bytes::from)]
}

fn range() -> impl Strategy<Value = Range> {
    (key(), proptest::option::of(key())).prop_map(|(start, end)| Range { start, end })
}

fn write() -> impl Strategy<Value = Write> {
    prop_oneof![
        4 => (key(), value()).prop_map(|(key, value)| Write::PutStamped(key, value)),
        3 => (key(), value()).prop_map(|(key, value)| Write::Put(key, value)),
        2 => key().prop_map(Write::Delete),
        1 => range().prop_map(Write::DeleteRange),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    let demand =
        prop_oneof![Just(Demand::Absent), Just(Demand::Present), (0..2_u64).prop_map(Demand::Version)];
    let conditions = proptest::collection::vec((key(), demand), 0..2);
    (0..2_u32, conditions, proptest::collection::vec(write(), 0..5))
        .prop_map(|(bucket, conditions, writes)| Plan { bucket, conditions, writes })
}

fn step() -> impl Strategy<Value = Step> {
    let direction = prop_oneof![Just(Direction::Forward), Just(Direction::Backward)];
    prop_oneof![
        6 => proptest::collection::vec(plan(), 1..5).prop_map(Step::Commits),
        5 => (0..2_u32, key()).prop_map(|(bucket, key)| Step::Get(bucket, key)),
        3 => (0..2_u32, range(), direction, 0..6_usize).prop_map(|(b, r, d, n)| Step::Scan(b, r, d, n)),
        3 => (0..2_u32, range(), key(), prop_oneof![0..6_usize, Just(usize::MAX)])
            .prop_map(|(bucket, range, from, rows)| Step::Skip(bucket, range, from, rows)),
        1 => Just(Step::Reopen),
    ]
}

struct Model {
    incarnation: Incarnation,
    rows: BTreeMap<(u32, Bytes), Row>,
    changes: Vec<Change>,
}

impl Model {
    fn commit(&self, number: u128, plan: &Plan) -> Commit {
        let conditions = plan.conditions.iter().map(|(key, demand)| match demand {
            Demand::Absent => Condition::Absent(key.clone()),
            Demand::Present => Condition::Present(key.clone()),
            Demand::Version(age) => {
                let row = self.rows.get(&(plan.bucket, key.clone()));
                let sequence = row.map_or(1, |row| number_of_stamp(row.stamp)).saturating_sub(*age);
                Condition::Version(key.clone(), self.incarnation.stamp(sequence))
            }
        });
        let mut writes = plan.writes.clone();
        later_wins(&mut writes);
        Commit {
            partition: things(plan.bucket),
            write_id: WriteId(number),
            conditions: conditions.collect(),
            writes,
            change: Some(record(number.to_string())),
            reclaims: false,
        }
    }

    /// The stamp it must get, or none if it must be refused.
    fn apply(&mut self, commit: &Commit) -> Option<Stamp> {
        let bucket = commit.partition.bucket;
        let holds = commit.conditions.iter().all(|condition| match condition {
            Condition::Absent(key) => !self.rows.contains_key(&(bucket, key.clone())),
            Condition::Present(key) => self.rows.contains_key(&(bucket, key.clone())),
            Condition::Version(key, stamp) => self
                .rows
                .get(&(bucket, key.clone()))
                .is_some_and(|row| row.stamp == *stamp && number_of_stamp(*stamp) > 0),
            Condition::Fence(_) => unreachable!("no plan has one"),
        });
        if !holds {
            return None;
        }
        let number = self.changes.len() as u64 + 1;
        let stamp = self.incarnation.stamp(number);
        for write in &commit.writes {
            match write {
                Write::Put(key, value) => {
                    let row = Row { stamp: Stamp::default(), write_id: WriteId(0), value: value.clone() };
                    self.rows.insert((bucket, key.clone()), row);
                }
                Write::PutStamped(key, value) => {
                    let row = Row { stamp, write_id: commit.write_id, value: value.clone() };
                    self.rows.insert((bucket, key.clone()), row);
                }
                Write::Delete(key) => drop(self.rows.remove(&(bucket, key.clone()))),
                Write::DeleteRange(range) => {
                    self.rows.retain(|(b, key), _| *b != bucket || !within(range, key))
                }
            }
        }
        self.changes.push(Change {
            cursor: self.incarnation.cursor(number),
            number,
            partition: commit.partition.clone(),
            write_id: commit.write_id,
            record: commit.change.clone().expect("each says something"),
        });
        Some(stamp)
    }

    fn scan(&self, bucket: u32, range: &Range, direction: Direction) -> Vec<(Bytes, Bytes)> {
        let from = (Bound::Included((bucket, Bytes::new())), Bound::Excluded((bucket + 1, Bytes::new())));
        let rows = self.rows.range(from).filter(|((_, key), _)| within(range, key));
        let mut rows: Vec<_> = rows.map(|((_, key), row)| (key.clone(), row.value.clone())).collect();
        if direction == Direction::Backward {
            rows.reverse();
        }
        rows
    }
}

fn within(range: &Range, key: &Bytes) -> bool {
    range.start <= *key && range.end.as_ref().is_none_or(|end| key < end)
}

async fn check(
    steps: &[Step],
    mut store: Store,
    reopen: impl Fn(Store) -> Store,
) -> Result<(), TestCaseError> {
    let incarnation = incarnation_of_cursor(store.feed_end(0));
    let mut model = Model { incarnation, rows: BTreeMap::new(), changes: Vec::new() };
    let mut number = 0;
    for step in steps {
        match step {
            Step::Commits(plans) => {
                // Versions are those before the group: later ones of it may so be out of date.
                let commits: Vec<Commit> =
                    plans.iter().map(|plan| model.commit(number_after(&mut number), plan)).collect();
                let outcomes = store.commit_all(commits.clone()).await;
                for (commit, outcome) in commits.iter().zip(outcomes) {
                    let outcome = match outcome {
                        Ok(stamp) => Some(stamp),
                        Err(error) if error.kind() == ErrorKind::Conflict => None,
                        Err(error) => return Err(TestCaseError::fail(error.to_string())),
                    };
                    prop_assert_eq!(outcome, model.apply(commit), "{:?}", commit);
                }
            }
            Step::Get(bucket, key) => {
                let expected = model.rows.get(&(*bucket, key.clone())).cloned();
                for _ in 0..2 {
                    let cached = store.get_cached(&things(*bucket), key);
                    prop_assert!(cached.is_none() || cached == Some(expected.clone()), "{:?}", cached);
                    prop_assert_eq!(&store.get(&things(*bucket), key).await.unwrap(), &expected);
                }
            }
            Step::Scan(bucket, range, direction, rows_max) => {
                let expected = model.scan(*bucket, range, *direction);
                let page = store.scan(&things(*bucket), range, *direction, *rows_max).await.unwrap();
                let copy = |(key, value)| (Bytes::copy_from_slice(key), Bytes::copy_from_slice(value));
                let rows: Vec<_> = page.rows().map(copy).collect();
                prop_assert_eq!(&rows[..], &expected[..expected.len().min(*rows_max)]);
                prop_assert_eq!(page.more(), expected.len() > *rows_max);
            }
            Step::Skip(bucket, range, from, rows_max) => {
                let start = range.start.clone().max(from.clone());
                let left = Range { start: start.clone(), end: range.end.clone() };
                let expected = model.scan(*bucket, &left, Direction::Forward);
                let skipped = store.skip(&things(*bucket), range, from, *rows_max).await.unwrap();
                prop_assert_eq!(skipped.rows, expected.len().min(*rows_max));
                let behind = match skipped.next {
                    Some(next) => {
                        model.scan(*bucket, &Range { start: next.max(start), ..left }, Direction::Forward)
                    }
                    None => Vec::new(),
                };
                prop_assert_eq!(&behind[..], &expected[skipped.rows..]);
            }
            Step::Reopen => store = reopen(store),
        }
    }
    let kept = model.changes.len().saturating_sub(usize::try_from(FEED_RECORDS_MIN).unwrap());
    let changes = store.feed(0, incarnation.cursor(kept as u64), 1_000).await.unwrap().changes;
    prop_assert_eq!(&changes[..], &model.changes[kept..]);
    for change in &changes {
        let outcome = store.resolve(&change.partition, change.write_id, None).await.unwrap();
        prop_assert_eq!(outcome, crate::Outcome::Committed(incarnation.stamp(change.number)));
    }
    Ok(())
}

fn number_after(number: &mut u128) -> u128 {
    *number += 1;
    *number
}

/// Runs a test with so many lists of steps, of the usual 256.
pub(super) fn run<T: std::fmt::Debug>(
    cases: u32,
    step: impl Strategy<Value = T>,
    test: impl Fn(&[T]) -> Result<(), TestCaseError>,
) {
    let cases = (cases * Config::default().cases).div_ceil(256);
    let config = Config { cases, max_shrink_iters: 200, source_file: Some(file!()), ..Config::default() };
    let steps = proptest::collection::vec(step, 1..50);
    TestRunner::new(config).run(&steps, |steps| test(&steps)).unwrap();
}

pub(super) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap()
}

#[test]
fn memory_does_what_a_map_does() {
    let runtime = runtime();
    run(200, step(), |steps| {
        let clock = Clock::manual(Timestamp(0));
        let store = Store::memory(MemoryOptions { clock, feed: FEED });
        runtime.block_on(check(steps, store, |store| store))
    });
}

#[test]
fn embedded_does_what_a_map_does() {
    let runtime = runtime();
    run(40, step(), |steps| {
        let folder = tempfile::tempdir().unwrap();
        let options = EmbeddedOptions {
            feed: FEED,
            cache_bytes: 1 << 20,
            memtable_bytes: 64 << 10,
            ..EmbeddedOptions::recommended()
        };
        let open = || Store::open(folder.path(), options.clone()).unwrap();
        let reopen = |store: Store| {
            drop(store);
            open()
        };
        runtime.block_on(check(steps, open(), reopen))
    });
}
