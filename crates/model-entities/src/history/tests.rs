//! The history against a plain list of what was written and removed, over folds, halves of folds, reopenings and deletions.

mod nodes;

use std::collections::BTreeMap;
use std::time::Duration;

use entity::testing::operations::operation;
use entity::testing::{plain::PlainEntity, plain::PlainInstance, plain::apply_plainly};
use entity::{EntityHistory, Fate, HistoryRequest, Kind, Operation, TermId, TimeProperty, TimeSpan};
use proptest::prelude::*;
use store::{Clock, Durability, EmbeddedOptions, Store, Tenant, TenantName, Timestamp};

use crate::fold_queue::{FOLD_ROWS_MIN, HistoryJob};
use crate::write::{tests::options, tests::run, tests::store};
use crate::{Entities, TenantEntities};

/// What was written, or removed (`None`), by attribute, dataset and time.
pub(crate) type PlainHistory = BTreeMap<(u32, Option<String>, i64), Option<PlainInstance>>;

#[derive(Clone, Debug)]
enum Step {
    Apply(u8, Box<Operation>),
    Fold(u8),
    /// A fold that dies before the head rows are deleted.
    HalfFold(u8),
    Sweep,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0..2_u8, operation()).prop_map(|(id, operation)| Step::Apply(id, Box::new(operation))),
        2 => (0..2_u8).prop_map(Step::Fold),
        2 => (0..2_u8).prop_map(Step::HalfFold),
        1 => Just(Step::Sweep),
        1 => Just(Step::Reopen),
    ]
}

pub(super) async fn tenant(store: &Store) -> TenantEntities {
    let entities = Entities::new(store.clone(), options(1));
    entities.tenant_or_create(&TenantName::default()).await.unwrap()
}

fn instances(entity: Option<&PlainEntity>) -> BTreeMap<(u32, Option<String>), PlainInstance> {
    let attributes = entity.into_iter().flat_map(|entity| &entity.attributes);
    let instances =
        attributes.flat_map(|attribute| attribute.instances.iter().map(|one| (attribute.name, one)));
    instances.map(|(name, one)| ((name, one.dataset.clone()), one.clone())).collect()
}

/// Scopes as an instance that was written `now`, observed as it was.
fn scope(scopes: &[String], scoped: Option<i64>, now: i64) -> PlainInstance {
    PlainInstance {
        kind: Kind::Property,
        dataset: None,
        value: entity::scope_value(scopes.iter().map(String::as_str)),
        created: scoped.unwrap(),
        modified: now,
        observed: Some(now),
        expires: None,
        unit: None,
        extras: Vec::new(),
        members: Vec::new(),
    }
}

/// Notes what a write that made `after` of `before` did.
pub(crate) fn note(
    history: &mut PlainHistory,
    before: Option<&PlainEntity>,
    after: Option<&PlainEntity>,
    now: i64,
) {
    let scopes = |entity: Option<&PlainEntity>| {
        entity.map(|entity| (entity.scopes.clone(), entity.scoped)).filter(|(_, scoped)| scoped.is_some())
    };
    if scopes(before) != scopes(after) {
        history.insert(
            (TermId::SCOPE.0, None, now),
            scopes(after).map(|(scopes, scoped)| scope(&scopes, scoped, now)),
        );
    }
    let (before, after) = (instances(before), instances(after));
    for (name, dataset) in before.into_keys().filter(|key| !after.contains_key(key)) {
        history.insert((name, dataset, now), None);
    }
    for ((name, dataset), instance) in after {
        if instance.modified == now {
            history.insert((name, dataset, now), Some(instance));
        }
    }
}

pub(super) fn plain_history(history: &EntityHistory) -> PlainHistory {
    let mut plain = PlainHistory::new();
    let mut scratch = Vec::new();
    for attribute in &history.attributes {
        for instance in attribute.instances() {
            let stored = instance.stored(&mut scratch).map(|stored| PlainInstance::read(&stored));
            assert_eq!(stored.is_none(), instance.is_deleted());
            let key =
                (attribute.attribute().0, attribute.dataset().map(Into::into), instance.modified_at().0);
            assert!(plain.insert(key, stored).is_none(), "shown twice");
        }
    }
    plain
}

pub(crate) async fn check_history(entities: &TenantEntities, id: &str, expected: Option<&PlainHistory>) {
    let history = entities.read_history(id, &HistoryRequest::all(usize::MAX - 1)).await.unwrap();
    let found = history.as_ref().map(plain_history).unwrap_or_default();
    assert_eq!(&found, expected.unwrap_or(&PlainHistory::new()));
}

fn check(mut open: impl FnMut() -> Store, steps: &[Step]) {
    run(async {
        let mut store = open();
        let mut entities = tenant(&store).await;
        let mut plain: BTreeMap<String, PlainEntity> = BTreeMap::new();
        let mut histories: BTreeMap<String, PlainHistory> = BTreeMap::new();
        let mut last: BTreeMap<String, i64> = BTreeMap::new();
        let mut clock = 0_i64;
        for step in steps {
            // Time goes on, stands still, and goes back.
            clock += [10, 0, -3][usize::try_from(clock.rem_euclid(3)).unwrap()] + 1;
            match step {
                Step::Apply(id, operation) => {
                    let id = format!("urn:x:{id}");
                    let now = last.get(&id).map_or(clock, |last| clock.max(last + 1));
                    let outcome = entities.apply(&id, *operation.clone(), Timestamp(clock)).await;
                    let Ok((fate, after)) = apply_plainly(plain.get(&id), &id, operation, Timestamp(now))
                    else {
                        assert!(outcome.is_err());
                        continue;
                    };
                    assert_eq!(outcome.unwrap().fate, fate);
                    if fate != Fate::Unchanged {
                        last.insert(id.clone(), now);
                        note(histories.entry(id.clone()).or_default(), plain.get(&id), after.as_ref(), now);
                    }
                    match after {
                        Some(after) => plain.insert(id, after),
                        None => plain.remove(&id),
                    };
                    continue;
                }
                Step::Fold(id) => drop(entities.fold_history(&format!("urn:x:{id}")).await.unwrap()),
                Step::HalfFold(id) => {
                    let id = format!("urn:x:{id}");
                    let state = entities.state();
                    let partition = state.partition(&id).unwrap();
                    let heads = state.heads_in(partition, &id, false).await.unwrap();
                    if let Some(newest) = heads.newest() {
                        entities.write_strands(&id, &heads, newest).await.unwrap();
                    }
                }
                Step::Sweep => {
                    let all = Entities::new(store.clone(), options(1));
                    all.sweep_history(Timestamp(clock), Duration::from_micros(5)).await.unwrap();
                }
                Step::Reopen => {
                    // Where others use it, too, it goes on.
                    if !store.may_lag() {
                        store.close().await.unwrap();
                    }
                    drop(entities);
                    store = open();
                    entities = tenant(&store).await;
                }
            }
            for id in ["urn:x:0", "urn:x:1"] {
                check_history(&entities, id, histories.get(id)).await;
            }
        }
        for id in ["urn:x:0", "urn:x:1"] {
            check_history(&entities, id, histories.get(id)).await;
            let known = entities.history(id).await.unwrap();
            assert_eq!(known.is_some(), last.contains_key(id));
            let types = plain.get(id).map(|entity| entity.types.clone());
            if let (Some(known), Some(types)) = (known, types) {
                assert!(known.types.iter().map(|term| term.0).eq(types));
                assert_eq!(known.deleted_at, None);
            }
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((96 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn the_history_is_what_was_written(steps in prop::collection::vec(step(), 1..40)) {
        let store = store();
        let steps: Vec<_> = steps.into_iter().filter(|step| !matches!(step, Step::Reopen)).collect();
        check(|| store.clone(), &steps);
    }

    /// Two processes take turns.
    #[test]
    fn the_history_is_what_was_written_to_the_worst_store(
        steps in prop::collection::vec(step(), 1..40),
        seed: u64,
    ) {
        let one = store::testing::hostile(store::Clock::manual(Timestamp(0)), seed);
        let mut turns = [one.beside(), one].into_iter().cycle();
        check(|| turns.next().unwrap(), &steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((8 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn the_history_outlives_the_process(steps in prop::collection::vec(step(), 1..40)) {
        let folder = tempfile::tempdir().unwrap();
        let options = EmbeddedOptions {
            durability: Durability::Interval(Duration::from_millis(50)),
            clock: Clock::System,
            cache_bytes: 1 << 20,
            block_cache_bytes: 1 << 20,
            memtable_bytes: 1 << 20,
            ..EmbeddedOptions::recommended()
        };
        check(|| Store::open(folder.path(), options.clone()).unwrap(), &steps);
    }
}

#[test]
fn readers_see_each_write_once_while_it_is_folded() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
    runtime.block_on(async {
        let entities = tenant(&store()).await;
        let written = std::sync::Arc::new(std::sync::atomic::AtomicI64::new(0));
        let writer = {
            let (entities, written) = (entities.clone(), written.clone());
            tokio::spawn(async move {
                for number in 1..=1500_i64 {
                    let operation = upsert(&number.to_string());
                    entities.apply("urn:x:1", operation, Timestamp(number)).await.unwrap();
                    written.store(number, std::sync::atomic::Ordering::Release);
                }
            })
        };
        let folder = {
            let (entities, written) = (entities.clone(), written.clone());
            tokio::spawn(async move {
                while written.load(std::sync::atomic::Ordering::Acquire) < 1500 {
                    entities.fold_history("urn:x:1").await.unwrap();
                    tokio::task::yield_now().await;
                }
            })
        };
        let mut reads = 0;
        while !writer.is_finished() || reads == 0 {
            let before = written.load(std::sync::atomic::Ordering::Acquire);
            let found = entities.read_history("urn:x:1", &HistoryRequest::all(10_000)).await.unwrap();
            let Some(found) = found else {
                continue;
            };
            let mut numbers = Vec::new();
            for instance in found.attributes[0].instances() {
                let mut value = String::new();
                instance.write_value(&mut value);
                numbers.push(value.parse::<i64>().unwrap());
            }
            let count = i64::try_from(numbers.len()).unwrap();
            assert!(count >= before, "an acknowledged write is missed");
            assert!(numbers.into_iter().eq(1..=count), "each once, in order");
            reads += 1;
        }
        writer.await.unwrap();
        folder.await.unwrap();
    });
}

#[test]
fn an_entity_with_many_head_rows_is_noted() {
    run(async {
        let all = Entities::new(store(), options(1));
        let entities = all.tenant_or_create(&TenantName::default()).await.unwrap();
        for number in 0..i64::from(FOLD_ROWS_MIN) {
            entities.apply("urn:x:1", upsert("1"), Timestamp(number)).await.unwrap();
        }
        let job = all.next_to_fold().await;
        assert_eq!(job, HistoryJob { tenant: Tenant::default(), id: "urn:x:1".into() });
        assert_eq!(entities.fold_history(&job.id).await.unwrap(), usize::from(FOLD_ROWS_MIN));
        assert_eq!(entities.fold_history(&job.id).await.unwrap(), 0);
    });
}

/// Spans and pages of a history whose observedAt goes its own way.
#[test]
fn spans_pages_and_last_ones() {
    run(async {
        let entities = tenant(&store()).await;
        for number in 0..3000_i64 {
            // Observed in pairs that are swapped.
            let operation = match upsert(&number.to_string()) {
                Operation::UpsertUpdate(mut draft) => {
                    draft.attributes[0].instances[0].observed_at = Some(Timestamp((number ^ 1) * 10));
                    Operation::UpsertUpdate(draft)
                }
                other => other,
            };
            entities.apply("urn:x:1", operation, Timestamp(1_000_000 + number)).await.unwrap();
            if number % 700 == 699 {
                entities.fold_history("urn:x:1").await.unwrap();
            }
        }
        let read = async |request: HistoryRequest| {
            let found = entities.read_history("urn:x:1", &request).await.unwrap().unwrap();
            let instances = found.attributes.iter().flat_map(|one| one.instances());
            let times = instances.map(|one| one.observed_at().unwrap().0 / 10).collect::<Vec<_>>();
            (times, found.covered)
        };
        let observed = |span, last_n, instances_max| HistoryRequest {
            time: TimeProperty::ObservedAt,
            span,
            last_n,
            ..HistoryRequest::all(instances_max)
        };
        let all = TimeSpan::ALL;
        let (times, covered) = read(observed(all, None, 5000)).await;
        assert!(times.into_iter().eq(0..3000) && covered.is_none());
        let some = TimeSpan::between(Timestamp(100), Timestamp(200));
        assert!(read(observed(some, None, 5000)).await.0.into_iter().eq(10..20));
        assert!(read(observed(all, Some(7), 5000)).await.0.into_iter().eq(2993..3000));
        assert!(read(observed(some, Some(3), 5000)).await.0.into_iter().eq(17..20));
        let (mut next, mut seen) = (all, Vec::new());
        loop {
            let (times, covered) = read(observed(next, None, 999)).await;
            assert!(times.len() <= 999);
            seen.extend(times);
            match covered {
                Some(covered) => next.from = covered.to,
                None => break,
            }
        }
        assert!(seen.into_iter().eq(0..3000), "pages are the whole");
        let (times, covered) = read(observed(all, Some(50), 20)).await;
        assert!(times.into_iter().eq(2980..3000));
        assert_eq!(covered, Some(TimeSpan { from: Timestamp(29_791), ..all }));
        let modified =
            HistoryRequest { span: TimeSpan::after(Timestamp(1_002_990)), ..HistoryRequest::all(99) };
        let expected = (2990..3000).map(|number| number ^ 1);
        assert!(read(modified).await.0.into_iter().eq(expected));
    });
}

fn upsert(value: &str) -> Operation {
    let instance = entity::Instance::new(entity::Kind::Property, value);
    let attribute = entity::Attribute { name: entity::TermId(10), instances: smallvec::smallvec![instance] };
    Operation::UpsertUpdate(entity::Draft {
        types: smallvec::smallvec![entity::TermId(1)],
        attributes: vec![attribute],
        ..entity::Draft::default()
    })
}
