//! Entities that move lose nothing and are never seen twice, whoever writes, reads or moves, and whenever a mover dies.

mod changes;
mod threads;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use entity::testing::{operations::draft_of, operations::operation};
use entity::testing::{plain::PlainEntity, plain::apply_plainly};
use entity::{Draft, Fate, MergeOptions, Operation, Query, TermId, TimeProperty, TimeSpan, TypeQuery};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use store::{
    Clock, Deadline, Durability, EmbeddedOptions, FeedOptions, HostileOptions, MemoryOptions, Store,
    TenantName, Timestamp,
};

use super::*;
use crate::history::{tests::PlainHistory, tests::check_history, tests::note};
use crate::query::{stream::Buckets, stream::Union};
use crate::write::{
    tests::options, tests::plain_store, tests::put_raw, tests::run, tests::store, tests::stored,
};
use crate::{IndexPolicy, Options};

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
    /// An attribute is to be indexed.
    Index(u32),
    /// What is to be indexed is.
    Build,
    /// What is no more in use is forgotten.
    Sweep,
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
        1 => (10..14_u32).prop_map(Step::Index),
        2 => Just(Step::Build),
        1 => Just(Step::Sweep),
        4 => Just(Step::Switch),
    ]
}

/// What there should be.
#[derive(Default)]
struct Plain {
    entities: BTreeMap<String, PlainEntity>,
    histories: BTreeMap<String, PlainHistory>,
    last: BTreeMap<String, i64>,
    /// The types of what went.
    gone: BTreeMap<String, Vec<u32>>,
}

impl Plain {
    fn apply(&mut self, id: &str, operation: &Operation, clock: i64, outcome: Result<entity::Change, Error>) {
        let now = self.last.get(id).map_or(clock, |last| clock.max(last + 1));
        let before = self.entities.get(id).cloned();
        let Ok((fate, after)) = apply_plainly(before.as_ref(), id, operation, Timestamp(now)) else {
            assert!(matches!(&outcome, Err(error) if !matches!(error, Error::Store(_))), "{id}: {outcome:?}");
            return;
        };
        assert_eq!(outcome.unwrap().fate, fate, "{id} {operation:?}");
        if fate != Fate::Unchanged {
            self.last.insert(id.into(), now);
            note(self.histories.entry(id.into()).or_default(), before.as_ref(), after.as_ref(), now);
        }
        match after {
            Some(after) => drop(self.entities.insert(id.into(), after)),
            None => {
                let gone = self.entities.remove(id);
                self.gone.extend(gone.map(|gone| (id.into(), gone.types)));
            }
        }
    }

    /// `lags`: whether plain reads may tell what was.
    async fn check(&self, entities: &TenantEntities, lags: bool) {
        for number in 0..IDS {
            let id = name(number);
            let found = match lags {
                true => entities.state().row_linear(&id).await.unwrap().map(|row| row.value),
                false => entities.get(&id, FOREVER).await.unwrap().map(|entity| entity.bytes),
            };
            let found = found.map(|bytes| PlainEntity::read(&EntityView::parse(&bytes).unwrap()));
            assert_eq!(found.as_ref(), self.entities.get(&id), "{id}");
            check_history(entities, &id, self.histories.get(&id)).await;
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
        self.check_histories(entities).await;
        let instances = |name: u32| {
            let all = self.entities.values().flat_map(|entity| &entity.attributes);
            all.filter(|attribute| attribute.name == name)
                .map(|attribute| attribute.instances.len())
                .sum::<usize>()
        };
        for name in 10..14 {
            let found = entities.attributes(Some(TermId(name)), true, &Deadline::default()).await.unwrap();
            let found: usize = found.iter().map(|summary| summary.instances).sum();
            assert_eq!(found, instances(name), "attribute {name}");
        }
        let counted: usize = self.entities.values().map(|entity| entity.types.len()).sum();
        let types = entities.types(None, true, &Deadline::default()).await.unwrap();
        assert_eq!(types.iter().map(|summary| summary.entities).sum::<usize>(), counted);
        let in_use: BTreeSet<(u32, u32)> = self
            .entities
            .values()
            .flat_map(|entity| entity.types.iter().map(move |of_type| (*of_type, entity)))
            .flat_map(|(of_type, entity)| entity.attributes.iter().map(move |held| (of_type, held.name)))
            .collect();
        let told = types
            .iter()
            .flat_map(|summary| summary.attributes.iter().map(|(name, _)| (summary.name.0, name.0)));
        assert_eq!(told.collect::<BTreeSet<_>>(), in_use);
        for name in 10..14 {
            let told = entities.attributes(Some(TermId(name)), true, &Deadline::default()).await.unwrap();
            let held = self.entities.values().filter(|entity| !entity.types.is_empty());
            let held = held.flat_map(|entity| &entity.attributes).filter(|held| held.name == name);
            let instances: usize = held.map(|held| held.instances.len()).sum();
            assert_eq!(told.iter().map(|summary| summary.instances).sum::<usize>(), instances);
        }
    }
}

impl Plain {
    /// Histories are found by types, and all of them, of what is there and of what is gone.
    async fn check_histories(&self, entities: &TenantEntities) {
        for of_type in [None, Some(1), Some(2)] {
            let has = |id: &String| {
                let types = self.entities.get(id).map(|entity| &entity.types).or(self.gone.get(id));
                of_type.is_none_or(|of_type| types.is_some_and(|types| types.contains(&of_type)))
            };
            let is_seen =
                |history: &PlainHistory| history.keys().any(|(name, _, _)| *name != TermId::SCOPE.0);
            let expected: Vec<&str> = self
                .histories
                .iter()
                .filter(|(id, history)| is_seen(history) && has(id))
                .map(|(id, _)| &**id)
                .collect();
            let types = of_type.map(|of_type| TypeQuery::Is(Some(TermId(of_type))));
            let query = Query { types, count: true, limit: 100, ..Query::default() };
            let (time, span) = (TimeProperty::ModifiedAt, TimeSpan::ALL);
            let page = entities.query_history(&query, time, span).await.unwrap();
            assert_eq!(page.ids.iter().map(|id| &**id).collect::<Vec<_>>(), expected, "type {of_type:?}");
            assert_eq!(page.count, Some(expected.len()));
        }
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
    let options = Options { index: IndexPolicy::ByUse, ..options(buckets) };
    let one = Entities::new(store.clone(), options.clone());
    let other = if store.may_lag() { Entities::new(store.beside(), options) } else { one.clone() };
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
                    let history = plain.histories.remove(&name(*id)).filter(|history| !history.is_empty());
                    assert!(
                        outcome.is_ok()
                            || history.is_none() && matches!(outcome, Err(Error::NoSuchEntity(_))),
                        "{outcome:?}"
                    );
                }
                Step::Want(buckets) => wanted = *buckets,
                Step::Job(steps) => drop(job(entities, &mut walks[0], wanted, (*steps).into()).await),
                Step::Copy(id) => {
                    let state = entities.state();
                    if let Some(source) = state.layout.source(&name(*id)) {
                        let _ = state.copy_entity(&name(*id), source).await.unwrap();
                    }
                }
                Step::Index(name) => entities.state().indexes.want(&[TermId(*name)]),
                Step::Build => drop(entities.build_indexes().await.unwrap()),
                Step::Sweep => entities.sweep_in_use().await.unwrap(),
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
            assert_eq!(handles[0].state().layout.buckets, wanted);
            assert_eq!(
                stored(&handles[0]).await,
                plain.entities,
                "in their buckets with all index rows, and nothing else"
            );
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((64 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn what_moves_is_what_it_was(steps in prop::collection::vec(step(), 1..40)) {
        check(&plain_store(), &steps, false);
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
    let state = entities.state();
    // The job's view is that of the step before.
    let state = match state.newer().await.unwrap() {
        Some(newer) => newer,
        None => {
            assert!(state.is_in_force().await.unwrap() || state.is_superseded());
            state.newest()
        }
    };
    assert!(state.layout.is_moving());
    let range = [keys::type_range(TermId(1)), keys::entities_range()][random.random_range(0..2)].clone();
    let mut union = Union::new(Buckets::of(state), &[range], rows);
    let (mut found, mut key) = (Vec::new(), Vec::new());
    loop {
        while random.random_bool(0.4) {
            let id = &ids[random.random_range(0..ids.len())];
            if random.random_bool(0.3)
                && let Some(source) = state.layout.source(id)
            {
                let _ = state.copy_entity(id, source).await.unwrap();
            } else {
                assert!(state.move_entity(id).await.unwrap());
            }
        }
        if union.is_starved() {
            union.fill(&state.store, &state.partitions).await.unwrap();
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
        entities.state().is_in_force().await.unwrap();
        let state = entities.state();
        let source = state.source(&id).unwrap();
        let read = Moving::read(state, source, &id).await.unwrap().unwrap();
        entities.apply(&id, Operation::Delete, Timestamp(2)).await.unwrap();
        assert_eq!(state.copy_entity(&id, 0).await.unwrap(), Some(true));
        let watch = state.watch_partition(state.bucket(&id)).await.unwrap().unwrap();
        assert!(!state.put_copy(&id, read, watch).await.unwrap());
        assert!(entities.get(&id, FOREVER).await.unwrap().is_none());
        while !job(&entities, &mut walk, 2, 1).await {}
        assert!(stored(&entities).await.is_empty());
    });
}

/// An id whose bucket of two is the second.
fn moving_id() -> String {
    (0..).map(|number| format!("urn:x:{number}")).find(|id| store::bucket_of(id.as_bytes(), 2) == 1).unwrap()
}

/// What is swept while entities move is met once, in order.
#[test]
fn a_sweep_meets_each_entity_once() {
    for seed in store::testing::seeds(40) {
        let store = if seed % 2 == 0 { plain_store() } else { hostile(seed, false) };
        let mut random = StdRng::seed_from_u64(seed);
        run(async {
            let handles = two(&store, 1).await;
            let ids: Vec<String> = (10..50).map(|number| format!("urn:x:{number}")).collect();
            for id in &ids {
                let draft = Draft { id: id.as_str().into(), ..draft_of("1") };
                handles[0].apply(id, Operation::Create(draft), Timestamp(1)).await.unwrap();
            }
            let types = Some(TypeQuery::Is(Some(TermId(1))));
            let query = Query {
                types,
                limit: 1 + random.random_range(0..4),
                offset: 3,
                now: FOREVER,
                ..Query::default()
            };
            let mut sweep = handles[1].sweep_matching(&query).await.unwrap();
            let (mut walk, mut wanted, mut met) = (Walk::new(0), 4, Vec::new());
            while let Some(page) = sweep.apply_next(&counted(2)).await.unwrap() {
                for (id, outcome) in page {
                    assert_eq!(outcome.unwrap().fate, Fate::Updated);
                    met.push(id.into_string());
                }
                for _ in 0..random.random_range(0..3) {
                    if job(&handles[0], &mut walk, wanted, 1).await {
                        wanted = if wanted == 4 { 2 } else { 4 };
                    }
                }
            }
            assert_eq!(met, ids[3..]);
        });
    }
}

/// The job moves the entities of all tenants, and goes on where a process ended that did.
#[test]
fn the_job_goes_on_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let options = |buckets| Options { buckets, ..options(buckets) };
    let open = || {
        let durability = Durability::Interval(Duration::from_millis(50));
        Store::open(folder.path(), EmbeddedOptions { durability, ..EmbeddedOptions::recommended() }).unwrap()
    };
    let tenants = [TenantName::default(), TenantName::new("city").unwrap()];
    let ids: Vec<String> = (100..400).map(|number| format!("urn:x:{number}")).collect();
    run(async {
        let store = open();
        let all = Entities::new(store.clone(), options(1));
        for tenant in &tenants {
            let entities = all.tenant_or_create(tenant).await.unwrap();
            let create = |id: &String| {
                (id.as_str().into(), Operation::Create(Draft { id: id.as_str().into(), ..draft_of("1") }))
            };
            let outcomes = entities.apply_all(ids.iter().map(create).collect(), Timestamp(1)).await;
            assert!(outcomes.iter().all(Result::is_ok));
            entities.apply(&ids[7], Operation::Delete, Timestamp(2)).await.unwrap();
        }
        store.close().await.unwrap();
    });
    for wanted in [4, 2] {
        let mut moved = 0;
        for pages in [0, 3, 6, usize::MAX] {
            run(async {
                let store = open();
                let mut walk = Entities::new(store.clone(), options(wanted)).rebucketing().await.unwrap();
                for _ in 0..pages {
                    let Some(some) = walk.next().await.unwrap() else { break };
                    moved += some;
                }
                drop(walk);
                store.close().await.unwrap();
            });
        }
        let moves = |id: &&String| {
            let from = if wanted == 4 { 1 } else { 4 };
            store::bucket_of(id.as_bytes(), from) != store::bucket_of(id.as_bytes(), wanted)
        };
        assert_eq!(moved, 2 * ids.iter().filter(moves).count());
    }
    run(async {
        let store = open();
        // What is wanted changes nothing by itself.
        let all = Entities::new(store.clone(), options(8));
        for tenant in &tenants {
            let entities = all.tenant(tenant).await.unwrap();
            assert_eq!(entities.state().layout, Layout { epoch: 4, buckets: 2, from: 2 });
            assert_eq!(stored(&entities).await.len(), ids.len() - 1);
            assert!(entities.history(&ids[7]).await.unwrap().is_some(), "what is gone has moved, too");
        }
        store.close().await.unwrap();
    });
}

/// One that is damaged moves as it is, with all that it is found by, and keeps nothing of others from being moved, or written beside it.
#[test]
fn a_damaged_entity_moves_as_it_is() {
    for store in [store(), hostile(7, false)] {
        check_damaged(&store);
    }
}

fn check_damaged(store: &Store) {
    run(async {
        let [entities, _] = two(store, 1).await;
        let ids: Vec<String> = (0..20).map(|number| format!("urn:x:{number}")).collect();
        for id in &ids {
            let draft = Draft { id: id.as_str().into(), ..draft_of("1") };
            entities.apply(id, Operation::Create(draft), Timestamp(1)).await.unwrap();
        }
        let damaged = moving_id();
        let partition = entities.state().partition(&damaged).unwrap().clone();
        put_raw(store, &partition, keys::entity(&damaged), b"?").await;
        let before = rows_of(store, &partition, &damaged).await;
        assert!(before.len() > 2, "{before:?}");
        let mut walk = Walk::new(0);
        job(&entities, &mut walk, 2, 2).await;
        let is_damaged = |read: Result<_, Error>| matches!(read, Err(Error::Store(_)));
        assert!(
            is_damaged(entities.apply(&damaged, counted(2), Timestamp(2)).await.map(drop)),
            "a writer moves it"
        );
        while !job(&entities, &mut walk, 2, 1).await {}
        let state = entities.state();
        assert!(!state.layout.is_moving(), "the move is at its end");
        assert_eq!(rows_of(store, &partition, &damaged).await, BTreeMap::new());
        assert_eq!(rows_of(store, state.partition(&damaged).unwrap(), &damaged).await, before);
        assert!(is_damaged(entities.get(&damaged, FOREVER).await.map(drop)));
        let named = ids.iter().map(|id| (id.as_str().into(), counted(2)));
        for (id, outcome) in ids.iter().zip(entities.apply_all(named.collect(), Timestamp(2)).await) {
            assert_eq!(outcome.is_err(), *id == damaged, "{id}: {outcome:?}");
        }
    });
}

/// The rows of an entity in a bucket, but for what says that it was moved there.
async fn rows_of(store: &Store, partition: &Partition, id: &str) -> BTreeMap<Bytes, Bytes> {
    let all = Range { start: Bytes::new(), end: None };
    let page = store.scan(partition, &all, Direction::Forward, 10_000).await.unwrap();
    let is_own = |key: &[u8]| {
        keys::id_of_key(key) == Some(id) || keys::head_of_key(key).is_some_and(|head| head.0 == id)
    };
    let own = page.rows().filter(|(key, _)| is_own(key) && !key.starts_with(b"k"));
    own.map(|(key, value)| (Bytes::copy_from_slice(key), Bytes::copy_from_slice(value))).collect()
}

fn counted(value: u32) -> Operation {
    Operation::Merge(draft_of(&value.to_string()), MergeOptions::default())
}
