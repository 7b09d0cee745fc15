//! Entities that move lose nothing and are never seen twice, whoever writes, reads or moves, and whenever a mover dies.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use store::{Clock, FeedOptions, HostileOptions, MemoryOptions, Store, TenantName};

use super::*;
use crate::history::tests::{PlainPast, check_past, note};
use crate::model::{PlainEntity, apply_plainly};
use crate::query::stream::{Buckets, Union};
use crate::write::tests::{draft_of, operation, options, run, store, stored};
use crate::{Draft, Fate, MergeOptions, Operation, Options, Query, TermId, TypeQuery, change_records};

const IDS: u8 = 8;
const FOREVER: Timestamp = Timestamp(i64::MIN);

#[derive(Clone, Debug)]
enum Step {
    Apply(u8, Box<Operation>),
    Batch(Vec<(u8, Operation)>),
    Fold(u8),
    Forget(u8),
    /// So many buckets are wanted from now on.
    Want(u32),
    /// So many steps of the job.
    Job(u8),
    /// A mover that dies between the two commits.
    Copy(u8),
    /// The other process goes on.
    Switch,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => (0..IDS, operation()).prop_map(|(id, operation)| Step::Apply(id, Box::new(operation))),
        2 => prop::collection::vec((0..IDS, operation()), 1..6).prop_map(Step::Batch),
        2 => (0..IDS).prop_map(Step::Fold),
        1 => (0..IDS).prop_map(Step::Forget),
        2 => prop::sample::select(vec![1, 2, 4]).prop_map(Step::Want),
        8 => (1..4_u8).prop_map(Step::Job),
        3 => (0..IDS).prop_map(Step::Copy),
        4 => Just(Step::Switch),
    ]
}

/// What there should be.
#[derive(Default)]
struct Plain {
    entities: BTreeMap<String, PlainEntity>,
    pasts: BTreeMap<String, PlainPast>,
    last: BTreeMap<String, i64>,
}

impl Plain {
    fn apply(&mut self, id: &str, operation: &Operation, clock: i64, outcome: Result<crate::Change, Error>) {
        let now = self.last.get(id).map_or(clock, |last| clock.max(last + 1));
        let before = self.entities.get(id).cloned();
        let Ok((fate, after)) = apply_plainly(before.as_ref(), id, operation, Timestamp(now)) else {
            assert!(matches!(&outcome, Err(error) if !matches!(error, Error::Store(_))), "{id}: {outcome:?}");
            return;
        };
        assert_eq!(outcome.unwrap().fate, fate, "{id} {operation:?}");
        if fate != Fate::Unchanged {
            self.last.insert(id.into(), now);
            note(self.pasts.entry(id.into()).or_default(), before.as_ref(), after.as_ref(), now);
        }
        match after {
            Some(after) => self.entities.insert(id.into(), after),
            None => self.entities.remove(id),
        };
    }

    /// `lags`: whether plain reads may tell what was.
    async fn check(&self, entities: &TenantEntities, lags: bool) {
        for number in 0..IDS {
            let id = name(number);
            let found = match lags {
                true => entities.context().row_linear(&id).await.unwrap().map(|row| row.value),
                false => entities.get(&id, FOREVER).await.unwrap().map(|entity| entity.bytes),
            };
            let found = found.map(|bytes| PlainEntity::read(&EntityView::parse(&bytes).unwrap()));
            assert_eq!(found.as_ref(), self.entities.get(&id), "{id}");
            check_past(entities, &id, self.pasts.get(&id)).await;
        }
        if lags {
            return;
        }
        let ids: Vec<&String> = self.entities.keys().collect();
        for types in
            [None, Some(TypeQuery::Any((0..4).map(|term| TypeQuery::Is(Some(TermId(term)))).collect()))]
        {
            let of =
                |entity: &&PlainEntity| types.is_none() || entity.types.iter().any(|of_type| *of_type < 4);
            let expected: Vec<_> = self.entities.values().filter(of).cloned().collect();
            let query =
                Query { types: types.clone(), count: true, limit: 100, now: FOREVER, ..Query::default() };
            assert_eq!(read(entities, &query).await, (expected.clone(), Some(expected.len())));
            for (place, entity) in expected.iter().enumerate() {
                let page = Query { offset: place, limit: 1, count: false, ..query.clone() };
                assert_eq!(read(entities, &page).await, (vec![entity.clone()], None), "{ids:?}");
            }
        }
        let counted: usize = self.entities.values().map(|entity| entity.types.len()).sum();
        let types = entities.types(None, true).await.unwrap();
        assert_eq!(types.iter().map(|summary| summary.entities).sum::<usize>(), counted);
    }
}

async fn read(entities: &TenantEntities, query: &Query) -> (Vec<PlainEntity>, Option<usize>) {
    let result = entities.query(query).await.unwrap();
    let plain = |bytes: &Bytes| PlainEntity::read(&EntityView::parse(bytes).unwrap());
    (result.entities.iter().map(plain).collect(), result.count)
}

fn name(number: u8) -> String {
    format!("urn:x:{number}")
}

/// The worst store; if not `lags` one where all see what was written last, but learn of a layout late.
fn hostile(seed: u64, lags: bool) -> Store {
    let memory = MemoryOptions { clock: Clock::manual(Timestamp(0)), feed: FeedOptions::recommended() };
    let options = HostileOptions::new(memory, seed);
    Store::hostile(HostileOptions { stale: if lags { options.stale } else { 0 }, ..options })
}

/// Two processes of a store; two of the same process where a store belongs to one.
async fn two(store: &Store, buckets: u32) -> [TenantEntities; 2] {
    let tenant = TenantName::new("city").unwrap();
    let one = Entities::new(store.clone(), options(buckets));
    let other = if store.may_lag() { Entities::new(store.beside(), options(buckets)) } else { one.clone() };
    [one.tenant_or_create(&tenant).await.unwrap(), other.tenant_or_create(&tenant).await.unwrap()]
}

async fn job(entities: &TenantEntities, walk: &mut Walk, wanted: u32, steps: usize) -> bool {
    for _ in 0..steps {
        if entities.rebucket_step(walk, wanted).await.unwrap().is_none() {
            return true;
        }
    }
    false
}

fn check(store: &Store, steps: &[Step], lags: bool) {
    run(async {
        let mut handles = two(store, 1).await;
        let mut walks = [Walk::new(0), Walk::new(0)];
        let (mut plain, mut wanted, mut clock) = (Plain::default(), 1, 0);
        for step in steps {
            clock += 10;
            let entities = &handles[0];
            match step {
                Step::Apply(id, operation) => {
                    let outcome = entities.apply(&name(*id), *operation.clone(), Timestamp(clock)).await;
                    plain.apply(&name(*id), operation, clock, outcome);
                }
                Step::Batch(steps) => {
                    let named = steps.iter().map(|(id, operation)| (name(*id).into(), operation.clone()));
                    let outcomes = entities.apply_all(named.collect(), Timestamp(clock)).await;
                    for ((id, operation), outcome) in steps.iter().zip(outcomes) {
                        plain.apply(&name(*id), operation, clock, outcome);
                    }
                }
                Step::Fold(id) => drop(entities.fold_history(&name(*id)).await.unwrap()),
                Step::Forget(id) => {
                    let outcome = entities.delete_history(&name(*id)).await;
                    let past = plain.pasts.remove(&name(*id)).filter(|past| !past.is_empty());
                    assert!(
                        outcome.is_ok() || past.is_none() && matches!(outcome, Err(Error::NoSuchEntity(_))),
                        "{outcome:?}"
                    );
                }
                Step::Want(buckets) => wanted = *buckets,
                Step::Job(steps) => drop(job(entities, &mut walks[0], wanted, (*steps).into()).await),
                Step::Copy(id) => {
                    let context = entities.context();
                    if let Some(source) = context.layout.source(&name(*id)) {
                        let _ = context.copy_entity(&name(*id), source).await.unwrap();
                    }
                }
                Step::Switch => {
                    handles.swap(0, 1);
                    walks.swap(0, 1);
                }
            }
            plain.check(&handles[1], lags).await;
            plain.check(&handles[0], lags).await;
        }
        for wanted in [wanted, 4, 2, 1] {
            while !job(&handles[0], &mut walks[0], wanted, 1).await {}
            plain.check(&handles[0], lags).await;
            plain.check(&handles[1], lags).await;
            assert_eq!(handles[0].context().layout.buckets, wanted);
            assert_eq!(
                stored(&handles[0]).await,
                plain.entities,
                "in their buckets with all index rows, and nothing else"
            );
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_moves_is_what_it_was(steps in prop::collection::vec(step(), 1..40)) {
        check(&store(), &steps, false);
    }

    #[test]
    fn what_moves_is_what_it_was_on_the_worst_store(
        steps in prop::collection::vec(step(), 1..40),
        seed: u64,
        lags: bool,
    ) {
        check(&hostile(seed, lags), &steps, lags);
    }

    /// Whatever moves while the pages of a union are read.
    #[test]
    fn a_union_meets_each_entity_once(
        seed: u64,
        (from, buckets) in prop::sample::select(vec![(1, 4), (4, 1), (4, 2), (2, 4)]),
        rows in 1..5_usize,
    ) {
        run(check_union(&store(), seed, (from, buckets), rows));
    }
}

async fn check_union(store: &Store, seed: u64, (from, buckets): (u32, u32), rows: usize) {
    let mut random = StdRng::seed_from_u64(seed);
    let [entities, _] = two(store, from).await;
    let ids: Vec<String> = (0..120).map(|number| format!("urn:x:{number:03}")).collect();
    for id in &ids {
        let draft = Draft { id: id.as_str().into(), ..draft_of("1") };
        entities.apply(id, Operation::Create(draft), Timestamp(1)).await.unwrap();
    }
    // Announced, and known.
    assert!(!job(&entities, &mut Walk::new(0), buckets, 2).await);
    let context = entities.context();
    // The job's view is that of the step before.
    let context = match context.newer().await.unwrap() {
        Some(newer) => newer,
        None => {
            assert!(context.is_in_force().await.unwrap() || context.is_superseded());
            context.newest()
        }
    };
    assert!(context.layout.is_moving());
    let range = [keys::type_range(TermId(1)), keys::entities_range()][random.random_range(0..2)].clone();
    let mut union = Union::new(Buckets::of(context), &[range], rows);
    let (mut found, mut key) = (Vec::new(), Vec::new());
    loop {
        while random.random_bool(0.4) {
            let id = &ids[random.random_range(0..ids.len())];
            if random.random_bool(0.3)
                && let Some(source) = context.layout.source(id)
            {
                let _ = context.copy_entity(id, source).await.unwrap();
            } else {
                assert!(context.move_entity(id).await.unwrap());
            }
        }
        if union.is_starved() {
            union.fill(&context.store, &context.partitions).await.unwrap();
            continue;
        }
        match union.next(&mut key, false) {
            Some(_) => found.push(keys::id_of_key(&key).unwrap().to_owned()),
            None => break,
        }
    }
    assert_eq!(found, ids);
}

/// What was deleted stays so, though a mover read it before: its copy comes after the entity was moved by another and deleted.
#[test]
fn a_slow_mover_brings_nothing_back() {
    run(async {
        let store = store();
        let [entities, _] = two(&store, 1).await;
        let id = moving_id();
        entities.apply(&id, Operation::Create(draft_of("1")), Timestamp(1)).await.unwrap();
        let mut walk = Walk::new(0);
        job(&entities, &mut walk, 2, 2).await;
        entities.context().is_in_force().await.unwrap();
        let context = entities.context();
        let source = context.source(&id).unwrap();
        let read = Moving::read(context, source, &id).await.unwrap().unwrap();
        entities.apply(&id, Operation::Delete, Timestamp(2)).await.unwrap();
        assert_eq!(context.copy_entity(&id, 0).await.unwrap(), Some(true));
        let watch = context.watch_partition(context.bucket(&id)).await.unwrap().unwrap();
        let absent = [keys::moved(&id), keys::entity(&id)].map(Condition::Absent);
        let conditions = absent.into_iter().chain([Condition::Fence(watch.fence)]).collect();
        let home = context.partition(&id).unwrap();
        assert!(!context.commit_move(home, conditions, read.writes(&id).unwrap(), false).await.unwrap());
        assert!(entities.get(&id, FOREVER).await.unwrap().is_none());
        while !job(&entities, &mut walk, 2, 1).await {}
        assert!(stored(&entities).await.is_empty());
    });
}

/// An id whose bucket of two is the second.
fn moving_id() -> String {
    (0..).map(|number| format!("urn:x:{number}")).find(|id| store::bucket_of(id.as_bytes(), 2) == 1).unwrap()
}

/// Nothing is told of a move, and changes before and after it are numbered so.
#[test]
fn changes_are_numbered_by_moves() {
    run(async {
        let store = store();
        let [entities, _] = two(&store, 1).await;
        let id = moving_id();
        let write = async |number: i64| {
            let operation = Operation::Merge(draft_of(&number.to_string()), MergeOptions::default());
            entities.apply(&id, operation, Timestamp(number)).await.unwrap();
        };
        entities.apply(&id, Operation::Create(draft_of("0")), Timestamp(0)).await.unwrap();
        for (round, wanted) in [(1, 2), (2, 1), (3, 4)] {
            let mut walk = Walk::new(0);
            write(10 * round).await;
            job(&entities, &mut walk, wanted, 2).await;
            write(10 * round + 1).await;
            while !job(&entities, &mut walk, wanted, 1).await {}
            write(10 * round + 2).await;
        }
        let page = store.feed(0, store::Cursor::default(), 100).await.unwrap();
        let moves =
            page.changes.iter().flat_map(|change| change_records(&change.record)).map(|one| one.moves);
        assert_eq!(moves.collect::<Vec<_>>(), [0, 0, 1, 1, 1, 2, 2, 2, 3, 3]);
    });
}

const STABLE: u32 = 700;

fn counted(value: u32) -> Operation {
    Operation::Merge(draft_of(&value.to_string()), MergeOptions::default())
}

/// Threads that write, read, ask and move, each with a runtime of its own.
fn check_threads(store: &Store, rounds: usize) {
    let (one, other) = run(async {
        let tenant = TenantName::new("city").unwrap();
        let one = Entities::new(store.clone(), Options { buckets: 1, ..options(1) });
        let other = if store.may_lag() { Entities::new(store.beside(), options(1)) } else { one.clone() };
        let entities = one.tenant_or_create(&tenant).await.unwrap();
        let create = |number: u32| {
            let id = format!("urn:x:{number}");
            (id.clone().into_boxed_str(), Operation::Create(Draft { id: id.into(), ..draft_of("0") }))
        };
        let outcomes = entities.apply_all((0..STABLE).map(create).collect(), Timestamp(1)).await;
        assert!(outcomes.iter().all(Result::is_ok));
        (entities, other.tenant_or_create(&tenant).await.unwrap())
    });
    let written: Arc<Vec<AtomicU32>> = Arc::new((0..STABLE).map(|_| AtomicU32::new(0)).collect());
    let is_done = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        for (seed, entities) in [(1, one.clone()), (2, other.clone())] {
            let (written, is_done) = (Arc::clone(&written), Arc::clone(&is_done));
            scope.spawn(move || run(write_some(&entities, seed, &written, &is_done)));
        }
        for entities in [one.clone(), other.clone()] {
            let (written, is_done) = (Arc::clone(&written), Arc::clone(&is_done));
            scope.spawn(move || run(read_some(&entities, &written, &is_done)));
        }
        run(async {
            let mut walk = Walk::new(0);
            for wanted in [4, 2, 8, 1].into_iter().cycle().take(rounds) {
                while !job(&one, &mut walk, wanted, 1).await {
                    std::thread::yield_now();
                }
            }
        });
        is_done.store(true, Ordering::Release);
    });
    run(async {
        let all = stored(&one).await;
        assert_eq!(all.len(), STABLE as usize);
        for (number, value) in written.iter().enumerate() {
            let entity = &all[&format!("urn:x:{number}")];
            assert_eq!(entity.attributes[0].instances[0].value, value.load(Ordering::Acquire).to_string());
        }
    });
}

/// Counts up; each entity has one writer.
async fn write_some(entities: &TenantEntities, seed: u32, written: &[AtomicU32], is_done: &AtomicBool) {
    let mut random = StdRng::seed_from_u64(seed.into());
    while !is_done.load(Ordering::Acquire) {
        let number = random.random_range(0..STABLE / 2) * 2 + seed % 2;
        let Some(last) = written.get(number as usize) else { continue };
        let next = last.load(Ordering::Acquire) + 1;
        let change = entities.apply(&format!("urn:x:{number}"), counted(next), Timestamp(2)).await.unwrap();
        assert_eq!(change.fate, Fate::Updated);
        last.store(next, Ordering::Release);
    }
}

async fn read_some(entities: &TenantEntities, written: &[AtomicU32], is_done: &AtomicBool) {
    let mut random = StdRng::seed_from_u64(9);
    while !is_done.load(Ordering::Acquire) {
        for types in [None, Some(TypeQuery::Is(Some(TermId(1))))] {
            let query = Query { types, count: true, limit: 10, now: FOREVER, ..Query::default() };
            assert_eq!(entities.query(&query).await.unwrap().count, Some(STABLE as usize));
            let whole = entities.query(&Query { limit: 10_000, ..query }).await.unwrap();
            let mut ids: Vec<_> =
                whole.entities.iter().map(|bytes| EntityView::peek(bytes).unwrap().id().to_owned()).collect();
            assert!(ids.is_sorted());
            ids.dedup();
            assert_eq!(ids.len(), STABLE as usize);
        }
        for _ in 0..200 {
            let number = random.random_range(0..STABLE);
            let least = written.get(number as usize).map_or(0, |value| value.load(Ordering::Acquire));
            let found = entities.get(&format!("urn:x:{number}"), FOREVER).await.unwrap();
            let found = PlainEntity::read(&found.expect("it is there all the while").view().unwrap());
            let value: u32 = found.attributes[0].instances[0].value.parse().unwrap();
            assert!(value >= least, "{value}, though {least} was written");
        }
    }
}

#[test]
fn nobody_notices_a_move() {
    check_threads(&store(), 12);
}

#[test]
fn nobody_notices_a_move_on_the_worst_store() {
    check_threads(&hostile(5, false), 6);
}
