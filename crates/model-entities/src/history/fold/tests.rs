//! Two nodes fold one entity: nothing is lost, and nothing is there twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use entity::HistoryRequest;
use entity::{Attribute, Draft, Instance, Kind, Operation, TermId};
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use smallvec::smallvec;
use store::{Clock, Durability, EmbeddedOptions, Store, Timestamp};

use super::*;
use crate::history::tests::tenant;
use crate::write::{tests::run, tests::store};

const ID: &str = "urn:x:1";

fn upsert(value: i64) -> Operation {
    let instance = Instance::new(Kind::Property, value.to_string());
    let attributes = vec![Attribute { name: TermId(10), instances: smallvec![instance] }];
    Operation::UpsertUpdate(Draft { types: smallvec![TermId(1)], attributes, ..Draft::default() })
}

/// The values of the history, in order.
async fn values(entities: &TenantEntities) -> Vec<i64> {
    let history = entities.read_history(ID, &HistoryRequest::all(100_000)).await.unwrap();
    let mut numbers = Vec::new();
    for instance in history.iter().flat_map(|history| &history.attributes).flat_map(|one| one.instances()) {
        let mut value = String::new();
        instance.write_value(&mut value);
        numbers.push(value.parse().unwrap());
    }
    numbers
}

fn check_race(store: &Store, writes: i64) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_time().build().unwrap();
    runtime.block_on(async {
        let nodes = [tenant(store).await, tenant(store).await];
        let written = Arc::new(AtomicI64::new(0));
        let folders = nodes.clone().map(|entities| {
            let written = written.clone();
            tokio::spawn(async move {
                while written.load(Ordering::Acquire) < writes {
                    entities.fold_history(ID).await.unwrap();
                    tokio::task::yield_now().await;
                }
                entities.fold_history(ID).await.unwrap();
            })
        });
        for number in 1..=writes {
            nodes[0].apply(ID, upsert(number), Timestamp(number)).await.unwrap();
            written.store(number, Ordering::Release);
        }
        for folder in folders {
            folder.await.unwrap();
        }
        for entities in &nodes {
            assert!(values(entities).await.into_iter().eq(1..=writes), "each once, in order");
            assert!(entities.heads(ID).await.unwrap().newest().is_none());
        }
    });
}

#[test]
fn two_nodes_that_fold_at_once_lose_and_double_nothing() {
    check_race(&store(), 3000);
}

#[test]
fn two_nodes_that_fold_at_once_on_disk_lose_and_double_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let options = EmbeddedOptions {
        durability: Durability::Interval(Duration::from_millis(50)),
        clock: Clock::System,
        cache_bytes: 1 << 20,
        block_cache_bytes: 1 << 20,
        memtable_bytes: 1 << 20,
        ..EmbeddedOptions::recommended()
    };
    let store = Store::open(folder.path(), options).unwrap();
    check_race(&store, 600);
}

/// What one node read before another folded does not undo what that one wrote, whether it joins blocks or not.
#[test]
fn a_fold_that_comes_late_changes_nothing() {
    run(async {
        let store = store();
        let nodes = [tenant(&store).await, tenant(&store).await];
        let mut last = 0;
        for round in 0..40 {
            for _ in 0..10 {
                last += 1;
                nodes[0].apply(ID, upsert(last), Timestamp(last)).await.unwrap();
            }
            let (state, watch) = nodes[1].watch(ID).await.unwrap();
            let partition = state.partition(ID).unwrap();
            let heads = state.heads_in(partition, ID, false).await.unwrap();
            let newest = heads.newest().unwrap();
            if round % 2 == 0 {
                // The other node comes first, with more.
                last += 1;
                nodes[0].apply(ID, upsert(last), Timestamp(last)).await.unwrap();
                nodes[0].fold_history(ID).await.unwrap();
                assert!(!nodes[1].write_strands(ID, &heads, newest).await.unwrap());
            } else {
                assert!(nodes[1].write_strands(ID, &heads, newest).await.unwrap());
            }
            state.drop_heads(ID, &heads, newest, watch).await.unwrap();
            assert!(values(&nodes[round % 2]).await.into_iter().eq(1..=last));
        }
    });
}

/// A write on a version that another write ended is refused, and does nothing.
#[test]
fn writes_stand_on_the_version_they_follow_from() {
    run(async {
        let entities = tenant(&store()).await;
        let strands = &entities.state().histories.strands;
        let strand = entities.strand(ID, keys::strand_name(ID, TermId(10), None));
        let write = |time: i64, version| {
            let mut points = Points::default();
            points.push(time, 0.0, 0);
            vec![write_of(strand.clone(), vec![Edit::Put(points)], Timestamp(1), Some(version))]
        };
        let absent = strands.version(&strand).await.unwrap();
        assert!(strands.write_all(write(1, absent)).await[0].is_ok());
        let first = strands.version(&strand).await.unwrap();
        for (time, version, stands) in [(2, absent, false), (3, first, true), (4, first, false)] {
            let outcome = strands.write_all(write(time, version)).await.remove(0);
            assert_eq!(outcome.is_ok(), stands);
            assert!(stands || matches!(outcome, Err(strands::Error::Contention(_))));
        }
        let points = strands.read_last(&strand, TimeRange::ALL, 9).await.unwrap();
        assert_eq!(points.times, [1, 3]);
        assert!(!strands.erase_version(&strand, first, Vec::new()).await.unwrap());
        let last = strands.version(&strand).await.unwrap();
        assert!(strands.erase_version(&strand, last, Vec::new()).await.unwrap());
        assert_eq!(strands.version(&strand).await.unwrap(), absent);
    });
}

/// A string of so many characters that cannot be packed much.
fn large(number: i64, length: usize) -> String {
    let mut bytes = vec![0; length];
    StdRng::seed_from_u64(number.unsigned_abs()).fill_bytes(&mut bytes);
    let text: String = bytes.into_iter().map(|byte| char::from(b'#' + byte % 57)).collect();
    format!("\"{text}\"")
}

/// Folds so many values of this length, some at a time; answers how often blocks were there to be joined.
async fn check_large(length: usize, count: i64, fold: i64) -> usize {
    let entities = tenant(&store()).await;
    let strands = &entities.state().histories.strands;
    let strand = entities.strand(ID, keys::strand_name(ID, TermId(10), None));
    let mut joins = 0;
    for number in 1..=count {
        let instance = Instance::new(Kind::Property, large(number, length));
        let attributes = vec![Attribute { name: TermId(10), instances: smallvec![instance] }];
        let draft = Draft { types: smallvec![TermId(1)], attributes, ..Draft::default() };
        entities.apply(ID, Operation::UpsertUpdate(draft), Timestamp(number)).await.unwrap();
        if number % fold != 0 {
            continue;
        }
        entities.fold_history(ID).await.unwrap();
        // What the next fold may take in.
        let mut next = Points::default();
        next.push((number + 1) * 1000, 0.0, 0);
        if let Edit::Replace(_, joined) = join(strands, &strand, next).await.unwrap() {
            assert!(bytes_of(&joined) <= JOINED_BYTES_MAX);
            joins += 1;
        }
        if number % (8 * fold) == 0 {
            strands.fold(&strand, Encoding::Hot).await.unwrap();
        }
    }
    strands.fold(&strand, Encoding::Hot).await.unwrap();
    let blocks = strands.blocks(&strand).await.unwrap();
    let counts: Vec<u32> = blocks.iter().map(|(summary, _)| summary.count).collect();
    assert_eq!(i64::from(counts.iter().sum::<u32>()), count, "{counts:?}");
    assert!(counts.iter().all(|count| *count as usize * length < 2 << 20), "{counts:?}");
    let history = entities.read_history(ID, &HistoryRequest::all(100_000)).await.unwrap().unwrap();
    let mut numbers = 1..;
    for instance in history.attributes[0].instances() {
        let mut found = String::new();
        instance.write_value(&mut found);
        assert!(found == large(numbers.next().unwrap(), length));
    }
    assert_eq!(numbers.start, count + 1);
    joins
}

/// Blocks are cut by bytes: of large values each has few points, and the join of those must not grow with the history.
#[test]
fn large_values_are_folded_into_blocks_of_bounded_size() {
    run(check_large(30_000, 900, 18));
    assert!(run(check_large(1_000, 4000, 100)) > 0, "there were small blocks");
}
