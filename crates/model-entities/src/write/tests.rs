//! The handle, on the memory store: random operations against a plain model, and many writers at once.

mod nodes;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use entity::index::index_rows;
use entity::testing::operations::{draft_of, operation};
use entity::testing::{plain::PlainEntity, plain::apply_plainly};
use entity::{Draft, EntityView, Fate, LimitName, MergeOptions, TermId, change_records, keys};
use proptest::prelude::*;
use store::{
    Clock, Commit, Cursor, Deadline, Direction, ErrorKind, Partition, Range, Store, TenantName, Write,
    WriteIds,
};

use super::*;
use crate::long_read::LongRead;
use crate::{Entities, Options};

pub(crate) fn options(buckets: u32) -> Options {
    Options {
        buckets,
        tenants_max: 1_000,
        terms_max: 1000,
        index: crate::IndexPolicy::All,
        entity_bytes_max: 1 << 20,
        scan_entities_max: 1 << 20,
        sort_entities_max: 1 << 20,
        history: crate::HistoryPolicy::default(),
    }
}

pub(crate) fn store() -> Store {
    store::testing::memory(Clock::manual(Timestamp(0)))
}

/// One in memory, whatever store tests run on.
pub(crate) fn plain_store() -> Store {
    store::testing::plain(Clock::manual(Timestamp(0)))
}

pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// Puts a value under a key that may be none of its kind.
pub(crate) async fn put_raw(store: &Store, partition: &Partition, key: Bytes, value: &'static [u8]) {
    let writes = vec![Write::PutStamped(key, Bytes::from_static(value))];
    let (partition, write_id) = (partition.clone(), WriteIds::new().next());
    let commit =
        Commit { partition, write_id, conditions: Vec::new(), writes, change: None, reclaims: false };
    while let Err(error) = store.commit_known(commit.clone()).await {
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    }
}

pub(crate) async fn tenant(store: &Store, buckets: u32) -> TenantEntities {
    let entities = Entities::new(store.clone(), options(buckets));
    entities.tenant_or_create(&TenantName::new("city").unwrap()).await.unwrap()
}

/// The stored entities of a tenant; checks that the other rows are exactly theirs, unless indexes are being built, and that each of
/// their attributes is noted as in use.
pub(crate) async fn stored(entities: &TenantEntities) -> BTreeMap<String, PlainEntity> {
    let state = entities.state();
    let register = state.index_register().await.unwrap();
    let mut all = BTreeMap::new();
    for (bucket, partition) in state.partitions.iter().enumerate() {
        let (mut found, mut expected, mut least) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let (mut noted, mut in_use) = (BTreeSet::new(), BTreeSet::new());
        let mut range = Some(Range::default());
        while let Some(rest) = range {
            let page = state.store.scan(partition, &rest, Direction::Forward, 50).await.unwrap();
            for (key, value) in page.rows() {
                // Rows of the history are looked at in `history`.
                if [keys::HEAD, keys::FOLDED, keys::HISTORY_HEADER, keys::HISTORY_TYPE].contains(&key[0]) {
                    continue;
                }
                if key[0] == keys::IN_USE {
                    noted.insert((keys::type_of_key(key).unwrap(), keys::attribute_of_key(key).unwrap()));
                    continue;
                }
                if key[0] != keys::ENTITY {
                    assert!(found.insert(key.to_vec()) && value.is_empty());
                    continue;
                }
                let view = EntityView::parse(value).unwrap();
                assert_eq!(keys::id_of_key(key), Some(view.id()));
                assert_eq!(state.bucket(view.id()), bucket);
                expected.extend(index_rows(&view, &register.written()).keys().map(<[u8]>::to_vec));
                least.extend(index_rows(&view, &register.ready()).keys().map(<[u8]>::to_vec));
                let names = view.attributes().map(|attribute| attribute.name());
                in_use.extend(names.flat_map(|name| view.types().map(move |of_type| (of_type, name))));
                all.insert(view.id().to_owned(), PlainEntity::read(&view));
            }
            range = rest.after_page(&page);
        }
        assert!(found.is_subset(&expected), "no index row is left behind");
        assert!(found.is_superset(&least), "what is indexed has its rows");
        assert!(noted.is_superset(&in_use), "what is in use is noted");
    }
    all
}

/// Two processes take turns.
fn check_sequence(store: &Store, buckets: u32, steps: &[(u8, Operation)], batch: usize) {
    run(async {
        let mut entities = tenant(store, buckets).await;
        let mut beside = tenant(&store.beside(), buckets).await;
        let mut plain: BTreeMap<String, PlainEntity> = BTreeMap::new();
        let mut now = Timestamp(0);
        // No write has the time of another one of its entity.
        let mut last: BTreeMap<String, Timestamp> = BTreeMap::new();
        for steps in steps.chunks(batch) {
            now.0 += 10;
            std::mem::swap(&mut entities, &mut beside);
            let named: Vec<_> = steps
                .iter()
                .map(|(id, operation)| (format!("urn:x:{id}").into_boxed_str(), operation.clone()))
                .collect();
            let outcomes = if batch == 1 {
                let (id, operation) = named.into_iter().next().unwrap();
                vec![entities.apply(&id, operation, now).await]
            } else {
                entities.apply_all(named, now).await
            };
            for ((id, operation), outcome) in steps.iter().zip(outcomes) {
                let id = format!("urn:x:{id}");
                let now = last.get(&id).map_or(now, |last| now.max(Timestamp(last.0 + 1)));
                let expected = apply_plainly(plain.get(&id), &id, operation, now);
                if !matches!(expected, Err(()) | Ok((Fate::Unchanged, _))) {
                    last.insert(id.clone(), now);
                }
                match (expected, outcome) {
                    (Ok((fate, entity)), Ok(change)) => {
                        assert_eq!(change.fate, fate, "{id} {operation:?}");
                        match entity {
                            Some(entity) => plain.insert(id, entity),
                            None => plain.remove(&id),
                        };
                    }
                    (Err(()), Err(Error::Store(error))) => panic!("{error:?}"),
                    (Err(()), Err(_)) => {}
                    (expected, outcome) => panic!("{id} {operation:?}: {expected:?}, but {outcome:?}"),
                }
            }
            let stored = stored(&entities).await;
            for id in stored.keys().chain(plain.keys()) {
                assert_eq!(stored.get(id), plain.get(id), "after {steps:?}");
            }
        }
        // What was not carried out is left for the next time.
        for _ in 0..if store.may_lag() { 20 } else { 1 } {
            entities.purge_expired(Timestamp(300)).await.unwrap();
        }
        for (_, entity) in stored(&entities).await {
            let times = entity.attributes.iter().flat_map(|attribute| &attribute.instances);
            let mut times = times.filter_map(|instance| instance.expires).chain(entity.expires);
            assert!(times.all(|time| time > 300), "nothing expired is left");
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((192 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn operations_do_what_the_plain_model_does(
        buckets in prop::sample::select(vec![1, 4]),
        steps in prop::collection::vec((0..3_u8, operation()), 1..24),
        batch in prop::sample::select(vec![1_usize, 1, 6]),
    ) {
        check_sequence(&store(), buckets, &steps, batch);
    }

    #[test]
    fn operations_do_what_the_plain_model_does_on_the_worst_store(
        buckets in prop::sample::select(vec![1, 4]),
        steps in prop::collection::vec((0..3_u8, operation()), 1..24),
        batch in prop::sample::select(vec![1_usize, 1, 6]),
        seed: u64,
    ) {
        check_sequence(&store::testing::hostile(Clock::manual(Timestamp(0)), seed), buckets, &steps, batch);
    }
}

fn numbers(range: std::ops::Range<u32>) -> String {
    format!("[{}]", range.map(|number| number.to_string()).collect::<Vec<_>>().join(","))
}

/// All index rows of the tenant's only bucket.
async fn index_keys(entities: &TenantEntities) -> Vec<Vec<u8>> {
    let TenantState { store, partitions, .. } = entities.state();
    let (mut keys, mut range) = (Vec::new(), Range::default());
    loop {
        let page = store.scan(&partitions[0], &range, Direction::Forward, 10_000).await.unwrap();
        keys.extend(page.rows().map(|(key, _)| key.to_vec()).filter(|key| keys::is_index_of_entity(key)));
        match page.last_key().filter(|_| page.more()) {
            Some(last) => range.start = [last, &[0]].concat().into(),
            None => return keys,
        }
    }
}

#[tokio::test]
async fn what_is_taken_can_be_replaced_and_removed() {
    let store = store();
    let entities = tenant(&store, 1).await;
    let most = store.limits().commit_rows / 2 - 128;
    // One row for the type.
    let values = u32::try_from(most).unwrap() - 1;
    let refused = entities
        .apply("urn:x:1", Operation::Create(draft_of(&numbers(0..values + 1))), Timestamp(1))
        .await
        .unwrap_err();
    let text =
        format!("the entity has {} index rows, at most {most} are allowed (ENTITY_INDEX_ROWS_MAX)", most + 1);
    assert!(matches!(&refused, Error::Limit(limit) if limit.to_string().starts_with(&text)), "{refused}");
    assert!(index_keys(&entities).await.is_empty());
    let first = Operation::Create(draft_of(&numbers(0..values)));
    entities.apply("urn:x:1", first, Timestamp(2)).await.unwrap();
    assert_eq!(index_keys(&entities).await.len(), most);
    let other = Operation::UpsertReplace(draft_of(&numbers(values..2 * values)));
    entities.apply("urn:x:1", other, Timestamp(3)).await.unwrap();
    entities.apply("urn:x:1", Operation::Delete, Timestamp(4)).await.unwrap();
    assert!(index_keys(&entities).await.is_empty());
}

#[tokio::test]
async fn changes_of_one_entity_in_a_batch_count_as_what_they_amount_to() {
    let store = store();
    let entities = tenant(&store, 1).await;
    let change = |step: u32| {
        let value = numbers(step * 100..step * 100 + 100);
        ("urn:x:1".into(), Operation::UpsertReplace(draft_of(&value)))
    };
    for told in entities.apply_all((0..1_200).map(change).collect(), Timestamp(1)).await {
        told.unwrap();
    }
    assert_eq!(index_keys(&entities).await.len(), 101);
    let gone = ("urn:x:1".into(), Operation::Delete);
    let told = entities.apply_all((0..700).map(change).chain([gone]).collect(), Timestamp(2)).await;
    assert!(told.iter().all(Result::is_ok));
    assert!(index_keys(&entities).await.is_empty());
}

#[test]
fn many_writers_on_one_entity_lose_nothing() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    runtime.block_on(async {
        let store = store();
        let entities = tenant(&store, 1).await;
        entities.apply("urn:x:1", Operation::Create(draft_of("0")), Timestamp(1)).await.unwrap();
        let write = |writer: u32| {
            let entities = entities.clone();
            async move {
                for round in 0..20 {
                    let mut draft = draft_of(&round.to_string());
                    draft.types.clear();
                    draft.attributes[0].name = TermId(100 + writer * 20 + round);
                    let operation = Operation::Append { draft, keep_existing: false };
                    entities.apply("urn:x:1", operation, Timestamp(2)).await.unwrap();
                }
            }
        };
        let writers: Vec<_> = (0..32).map(|writer| tokio::spawn(write(writer))).collect();
        for writer in writers {
            writer.await.unwrap();
        }
        assert_eq!(stored(&entities).await["urn:x:1"].attributes.len(), 1 + 32 * 20);
        let mut records = 0;
        for shard in 0..store.feed_shards() {
            let page = store.feed(shard, Cursor::default(), 10_000).await.unwrap();
            records +=
                page.changes.iter().map(|change| change_records(&change.record).count()).sum::<usize>();
        }
        assert_eq!(records, 1 + 32 * 20, "every write is told once");
    });
}

fn locks_of(entities: &TenantEntities) -> &store::retry::RetryLocks {
    &entities.state().retry_locks
}

/// Else one who wins could win every race, and one who lost lose every time.
#[test]
fn who_comes_while_others_queue_queues_too() {
    run(async {
        let entities = tenant(&store(), 1).await;
        let create = |id: &'static str| entities.apply(id, Operation::Create(draft_of("0")), Timestamp(1));
        let queue = locks_of(&entities).lock(locks_of(&entities).of(&[b"urn:x:1"])).await;
        let waits = |waiting: &mut std::pin::Pin<Box<dyn Future<Output = ()> + '_>>| {
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            waiting.as_mut().poll(&mut context).is_pending()
        };
        let mut one: std::pin::Pin<Box<dyn Future<Output = ()>>> = Box::pin(async {
            create("urn:x:1").await.unwrap();
        });
        let mut batch: std::pin::Pin<Box<dyn Future<Output = ()>>> = Box::pin(async {
            let replace = |id: &str| (id.into(), Operation::UpsertReplace(draft_of("3")));
            let outcomes =
                entities.apply_all(vec![replace("urn:x:1"), replace("urn:x:2")], Timestamp(5)).await;
            assert!(outcomes.into_iter().all(|outcome| outcome.is_ok()));
        });
        assert!(waits(&mut one) && waits(&mut batch), "they wait for their turns");
        while !stored(&entities).await.contains_key("urn:x:2") {
            assert!(waits(&mut batch), "its other entity does not wait");
            tokio::task::yield_now().await;
        }
        drop(queue);
        one.await;
        batch.await;
        assert_eq!(stored(&entities).await.len(), 2);
    });
}

/// Parts of a batch are under way side by side.
#[test]
fn most_of_a_large_batch_does_not_wait_for_the_turn_of_one_entity() {
    run(async {
        let entities = tenant(&plain_store(), 2).await;
        let locks = locks_of(&entities);
        let taken = locks.of(&[b"urn:x:0"]);
        let ids = (0..2_000).map(|n| format!("urn:x:{n}"));
        // Of those who share its turn, the first only.
        let ids = ids.enumerate().filter(|(n, id)| *n == 0 || locks.of(&[id.as_bytes()]) != taken);
        let ids: Vec<String> = ids.map(|(_, id)| id).collect();
        let lock = locks.lock(taken).await;
        let operations = ids.iter().map(|id| (id[..].into(), Operation::Create(draft_of("1"))));
        let batch = entities.apply_all(operations.collect(), Timestamp(5));
        let mut batch: std::pin::Pin<Box<dyn Future<Output = _>>> = Box::pin(batch);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        for _ in 0..100 {
            assert!(batch.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(stored(&entities).await.len(), ids.len() - 1);
        drop(lock);
        let outcomes = batch.await;
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(Change { fate: Fate::Created, .. }))));
        assert_eq!(stored(&entities).await.len(), ids.len());
    });
}

#[test]
fn large_batches_on_the_same_entities_are_each_carried_out() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    runtime.block_on(async {
        let entities = tenant(&store(), 1).await;
        let append = |writer: u32| {
            let entities = entities.clone();
            let mut draft = draft_of(&writer.to_string());
            draft.attributes[0].name = TermId(100 + writer);
            // Each entity twice, every other writer from the last to the first.
            let mut ids: Vec<u32> = (0..600).chain(0..600).collect();
            if writer % 2 == 1 {
                ids.reverse();
            }
            let operation = |n: u32| (format!("urn:x:{n}").into(), Operation::UpsertUpdate(draft.clone()));
            let operations: Vec<_> = ids.into_iter().map(operation).collect();
            async move { entities.apply_all(operations, Timestamp(2)).await }
        };
        let writers: Vec<_> = (0..8).map(|writer| tokio::spawn(append(writer))).collect();
        let mut created = 0;
        for writer in writers {
            for outcome in writer.await.unwrap() {
                created += usize::from(outcome.unwrap().fate == Fate::Created);
            }
        }
        assert_eq!(created, 600);
        let stored = stored(&entities).await;
        assert!(stored.values().all(|entity| entity.attributes.len() == 8));
        assert_eq!(stored.len(), 600);
    });
}

#[test]
fn a_batch_keeps_the_order_of_operations_on_one_entity() {
    run(async {
        let entities = tenant(&store(), 4).await;
        let mut patch = draft_of("5").attributes.remove(0);
        patch.instances[0].kind = None;
        let operations = vec![
            ("urn:x:1".into(), Operation::Create(draft_of("1"))),
            ("urn:x:2".into(), Operation::Delete),
            ("urn:x:1".into(), Operation::Create(draft_of("2"))),
            ("urn:x:1".into(), Operation::PatchAttribute(patch)),
            ("urn:x:3".into(), Operation::UpsertReplace(draft_of("3"))),
        ];
        let outcomes = entities.apply_all(operations, Timestamp(5)).await;
        assert!(matches!(outcomes[0], Ok(Change { fate: Fate::Created, .. })));
        assert!(matches!(outcomes[1], Err(Error::NoSuchEntity(_))));
        assert!(matches!(outcomes[2], Err(Error::AlreadyExists(_))));
        assert!(matches!(outcomes[3], Ok(Change { fate: Fate::Updated, .. })));
        assert!(matches!(outcomes[4], Ok(Change { fate: Fate::Created, .. })));
        let stored = stored(&entities).await;
        assert_eq!(stored["urn:x:1"].attributes[0].instances[0].value, "5");
        let found = entities.get_many(&["urn:x:3", "urn:x:2", "urn:x:1"], Timestamp(6)).await.unwrap();
        let ids: Vec<_> = found
            .iter()
            .map(|entity| entity.as_ref().map(|entity| entity.view().unwrap().id().to_owned()))
            .collect();
        assert_eq!(ids, [Some("urn:x:3".to_owned()), None, Some("urn:x:1".to_owned())]);
    });
}

#[test]
fn what_expired_is_not_got() {
    run(async {
        let entities = tenant(&store(), 1).await;
        let mut draft = draft_of("1");
        draft.expires_at = Some(Timestamp(100));
        let mut second = draft.attributes[0].clone();
        second.name = TermId(11);
        second.instances[0].expires_at = Some(Timestamp(50));
        draft.attributes.push(second);
        entities.apply("urn:x:1", Operation::Create(draft), Timestamp(5)).await.unwrap();
        let count = async |now| {
            let entity = entities.get("urn:x:1", Timestamp(now)).await.unwrap();
            entity.map(|entity| entity.view().unwrap().attributes().count())
        };
        assert_eq!((count(49).await, count(50).await, count(100).await), (Some(2), Some(1), None));
        assert_eq!(entities.purge_expired(Timestamp(49)).await.unwrap(), 0);
        assert_eq!(entities.purge_expired(Timestamp(50)).await.unwrap(), 1);
        assert_eq!(entities.purge_expired(Timestamp(100)).await.unwrap(), 1);
        assert!(stored(&entities).await.is_empty());
    });
}

#[test]
fn what_expired_is_purged_on_a_nearly_full_disk() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let open = |disk_free_min| {
            let options = store::EmbeddedOptions {
                disk_free_min: Some(disk_free_min),
                ..store::EmbeddedOptions::recommended()
            };
            Store::open(folder.path(), options).unwrap()
        };
        let store = open(0);
        let mut draft = draft_of("1");
        draft.attributes[0].instances[0].expires_at = Some(Timestamp(50));
        let whole = Draft { id: "urn:x:2".into(), expires_at: Some(Timestamp(50)), ..draft_of("1") };
        let entities = tenant(&store, 1).await;
        entities.apply("urn:x:1", Operation::Create(draft), Timestamp(5)).await.unwrap();
        entities.apply("urn:x:2", Operation::Create(whole), Timestamp(5)).await.unwrap();
        store.close().await.unwrap();
        // More than any disk has.
        let store = open(u64::MAX);
        let entities = tenant(&store, 1).await;
        assert_eq!(entities.purge_expired(Timestamp(60)).await.unwrap(), 2);
        let refused = entities.apply("urn:x:3", Operation::Create(draft_of("1")), Timestamp(70)).await;
        assert!(matches!(refused, Err(Error::Store(error)) if error.kind() == ErrorKind::NoSpace));
        store.close().await.unwrap();
    });
}

/// A pass begins where the last one ended, wherever something is written that has already expired, and now and then at the
/// beginning.
#[test]
fn what_is_purged_is_not_scanned_again() {
    run(async {
        let feed = store::FeedOptions::recommended();
        let store = Store::memory(store::MemoryOptions { clock: Clock::manual(Timestamp(0)), feed });
        let (entities, beside) = (tenant(&store, 4).await, tenant(&store, 4).await);
        let create = async |entities: &TenantEntities, id: &str, expires: i64| {
            let draft = Draft { id: id.into(), expires_at: Some(Timestamp(expires)), ..draft_of("1") };
            entities.apply(id, Operation::Create(draft), Timestamp(1)).await.unwrap();
        };
        let first = || entities.state().purged.begin();
        let end = |time: i64| keys::expired_range(Timestamp(time + 1)).end;
        create(&entities, "urn:x:1", 50).await;
        assert_eq!(first(), None);
        assert_eq!(entities.purge_expired(Timestamp(60)).await.unwrap(), 1);
        assert_eq!(first(), end(60));
        create(&entities, "urn:x:2", 90).await;
        assert_eq!(first(), end(60), "it expires later");
        create(&entities, "urn:x:3", 40).await;
        assert!(first() < end(40), "it has already expired");
        assert_eq!(entities.purge_expired(Timestamp(60)).await.unwrap(), 1);
        assert_eq!(entities.purge_expired(Timestamp(100)).await.unwrap(), 1);
        assert_eq!(entities.purge_expired(Timestamp(70)).await.unwrap(), 0);
        assert_eq!(first(), end(100), "a clock that was set back removes nothing");
        // Another node's writes are found, too.
        create(&beside, "urn:x:4", 30).await;
        let mut purged = 0;
        for _ in 0..100 {
            purged += entities.purge_expired(Timestamp(100)).await.unwrap();
        }
        assert_eq!(purged, 1);
        assert!(stored(&entities).await.is_empty());
    });
}

#[test]
fn too_large_an_entity_is_refused() {
    run(async {
        let entities = tenant(&store(), 1).await;
        let large = draft_of(&format!("\"{}\"", "a".repeat(1 << 20)));
        let refused = entities.apply("urn:x:1", Operation::Create(large), Timestamp(1)).await;
        assert!(matches!(refused, Err(Error::Limit(_))));
        let long = format!("urn:{}", "a".repeat(2000));
        let refused = entities.apply(&long, Operation::Create(draft_of("1")), Timestamp(1)).await;
        assert!(matches!(refused, Err(Error::Limit(_))));
        assert!(stored(&entities).await.is_empty());
    });
}

/// What a writer demands that read these bytes.
fn as_read(entity: &crate::Entity) -> Precondition {
    let one_of = Some(store::Fingerprints::These(vec![entity.fingerprint()]));
    Precondition { state: store::StateCondition { one_of, none_of: None }, ..Precondition::default() }
}

/// All writers read one state, and demand it: the one that writes first leaves another to the others.
#[test]
fn of_writers_that_demand_one_state_exactly_one_wins() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_time().build().unwrap();
    runtime.block_on(async {
        let tenant = tenant(&store(), 4).await;
        tenant.apply("urn:x:1", Operation::Create(draft_of("0")), Timestamp(1)).await.unwrap();
        for round in 0..50 {
            let read = tenant.get("urn:x:1", Timestamp(1)).await.unwrap().unwrap();
            let writers: Vec<_> = (0..8)
                .map(|writer| {
                    let (tenant, required) = (tenant.clone(), as_read(&read));
                    tokio::spawn(async move {
                        let draft = draft_of(&(round * 8 + writer).to_string());
                        let operation = Operation::Merge(draft, MergeOptions::default());
                        tenant.apply_if("urn:x:1", &required, operation, Timestamp(1)).await
                    })
                })
                .collect();
            let mut won = 0;
            for writer in writers {
                match writer.await.unwrap() {
                    Ok(_) => won += 1,
                    Err(error) => assert!(matches!(error, Error::StateDiffers(_)), "{error}"),
                }
            }
            assert_eq!(won, 1, "round {round}");
        }
    });
}

/// A state is its stored form: a store that was filled anew with the same rows has it, too.
#[test]
fn a_state_is_the_same_in_every_store() {
    run(async {
        let (mut states, mut stamps) = (Vec::new(), Vec::new());
        for before in 0..2 {
            let tenant = tenant(&store(), 1).await;
            for other in 0..before {
                tenant
                    .apply(&format!("urn:y:{other}"), Operation::Create(draft_of("0")), Timestamp(1))
                    .await
                    .unwrap();
            }
            tenant.apply("urn:x:1", Operation::Create(draft_of("7")), Timestamp(5)).await.unwrap();
            states.push(tenant.get("urn:x:1", Timestamp(6)).await.unwrap().unwrap().fingerprint());
            stamps.push(tenant.state().row("urn:x:1").await.unwrap().unwrap().stamp);
        }
        assert_eq!(states[0], states[1]);
        assert_ne!(stamps[0], stamps[1], "the store's stamp tells more than the state");
    });
}

/// What expired is not there: to create it again is no conflict with the state that was.
#[test]
fn what_expired_is_in_no_state() {
    run(async {
        let tenant = tenant(&store(), 4).await;
        let transient = Draft { expires_at: Some(Timestamp(10)), ..draft_of("1") };
        let absent = store::StateCondition { one_of: None, none_of: Some(store::Fingerprints::Any) };
        let absent = Precondition { state: absent, ..Precondition::default() };
        let create = || Operation::Create(transient.clone());
        tenant.apply_if("urn:x:1", &absent, create(), Timestamp(1)).await.unwrap();
        let again = tenant.apply_if("urn:x:1", &absent, create(), Timestamp(9)).await;
        assert!(matches!(again, Err(Error::StateDiffers(_))), "{again:?}");
        tenant.apply_if("urn:x:1", &absent, create(), Timestamp(10)).await.unwrap();
        let present = store::StateCondition { one_of: Some(store::Fingerprints::Any), none_of: None };
        let present = Precondition { state: present, ..Precondition::default() };
        let gone = tenant.apply_if("urn:x:1", &present, Operation::Delete, Timestamp(20)).await;
        assert!(matches!(gone, Err(Error::NoSuchEntity(_))), "{gone:?}");
    });
}

/// Whether what expired is still in the store makes no difference that a reader could see, nor to its state.
#[test]
fn what_expired_changes_the_state_once() {
    run(async {
        let tenant = tenant(&store(), 4).await;
        let mut draft = draft_of("1");
        let mut second = draft.attributes[0].clone();
        second.name = TermId(11);
        second.instances[0].expires_at = Some(Timestamp(50));
        draft.attributes.push(second);
        tenant.apply("urn:x:1", Operation::Create(draft), Timestamp(5)).await.unwrap();
        let state = async |now| tenant.get("urn:x:1", Timestamp(now)).await.unwrap().unwrap();
        let (before, expired) = (state(49).await.fingerprint(), state(60).await);
        assert_ne!(before, expired.fingerprint());
        assert_eq!(expired.view().unwrap().modified_at(), Timestamp(50));
        assert_eq!(tenant.purge_expired(Timestamp(70)).await.unwrap(), 1);
        assert_eq!(state(80).await.fingerprint(), expired.fingerprint());
        let one_of = Some(store::Fingerprints::These([expired.fingerprint()].into_iter().collect()));
        let required = Precondition {
            state: store::StateCondition { one_of, none_of: None },
            ..Precondition::default()
        };
        let put = Operation::Replace(draft_of("2"));
        tenant.apply_if("urn:x:1", &required, put, Timestamp(90)).await.unwrap();
    });
}

/// An entity whose rows one commit could not remove once its attribute was indexed is refused, and leaves nothing behind.
#[tokio::test]
async fn index_rows_are_bounded_in_bytes_too() {
    let store = plain_store();
    let by_use = Options { index: crate::IndexPolicy::ByUse, ..options(1) };
    let entities = Entities::new(store.clone(), by_use);
    let entities = entities.tenant_or_create(&TenantName::new("city").unwrap()).await.unwrap();
    let id = format!("urn:x:{}", "i".repeat(1_000));
    let create =
        |values| Operation::Create(Draft { id: id.as_str().into(), ..draft_of(&numbers(0..values)) });
    let refused = entities.apply(&id, create(17_000), Timestamp(1)).await.unwrap_err();
    assert!(matches!(&refused, Error::Limit(limit) if limit.name == LimitName::IndexBytes), "{refused}");
    let batch =
        vec![(id.as_str().into(), create(17_000)), ("urn:x:2".into(), Operation::Create(draft_of("2")))];
    let outcomes = entities.apply_all(batch, Timestamp(1)).await;
    assert!(
        matches!(&outcomes[0], Err(Error::Limit(_) | Error::Store(_))) && outcomes[1].is_ok(),
        "{outcomes:?}"
    );
    let state = entities.state();
    let long = &mut LongRead::of_job(Deadline::default());
    let noted = state.noted(&state.partitions[0], TermId(1), long).await.unwrap();
    assert_eq!(noted.into_values().collect::<Vec<_>>(), ["urn:x:2".into()], "nothing of what was refused");
    entities.apply(&id, create(6_000), Timestamp(2)).await.unwrap();
    state.indexes.want(&[TermId(10)]);
    assert_eq!(entities.build_indexes().await.unwrap(), 2);
    stored(&entities).await;
    let other =
        Operation::UpsertReplace(Draft { id: id.as_str().into(), ..draft_of(&numbers(6_000..12_000)) });
    entities.apply(&id, other, Timestamp(3)).await.unwrap();
    entities.apply(&id, Operation::Delete, Timestamp(4)).await.unwrap();
    assert_eq!(stored(&entities).await.len(), 1);
}
