//! What consumers are told is what readers saw, from their registration on, whoever writes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use entity::testing::{operations::draft_of, operations::operation};
use entity::testing::{plain::PlainEntity, plain::apply_plainly};
use entity::{EntityChange, EntityView, Fate, MergeOptions, Operation, TermId, change_records};
use proptest::prelude::*;
use store::{Cursor, EmbeddedOptions, Store, TenantName, Timestamp};

use super::*;
use crate::Entities;
use crate::write::{tests::options, tests::plain_store, tests::run, tests::tenant};

/// All changes behind a cursor are looked at, in order.
async fn each_behind(store: &Store, mut cursor: Cursor, mut look: impl FnMut(EntityChange<'_>)) -> Cursor {
    loop {
        let page = store.feed(0, cursor, 1_000).await.unwrap();
        page.changes.iter().flat_map(|change| change_records(&change.record)).for_each(&mut look);
        if page.cursor == cursor {
            return cursor;
        }
        cursor = page.cursor;
    }
}

/// How many changes behind a cursor tell states, and how many do not.
async fn counts(store: &Store, cursor: Cursor) -> (usize, usize) {
    let (mut full, mut brief) = (0, 0);
    each_behind(store, cursor, |change| *(if change.states.is_some() { &mut full } else { &mut brief }) += 1)
        .await;
    (full, brief)
}

// States against the plain model.

/// One change as it is to be told: the entity before and after, as it was stored, and the time.
type Expected = (Fate, Option<PlainEntity>, Option<PlainEntity>, i64);
/// The same as it was told, and the attributes that are said to be touched.
type Found = (Fate, Option<PlainEntity>, Option<PlainEntity>, Vec<u32>);

fn found(change: &EntityChange<'_>) -> Found {
    let states = change.states.expect("states are told");
    let plain = |view: Option<EntityView<'_>>| view.map(|view| PlainEntity::read(&view));
    let touched = change.touched.iter().map(|name| name.0).collect();
    (change.fate, plain(states.before), plain(states.after), touched)
}

/// What readers see of a stored entity at a time. It was changed when something of it expired, which the plain model does not know.
fn seen(stored: Option<&PlainEntity>, now: i64, told: Option<&PlainEntity>) -> Option<PlainEntity> {
    let mut live = stored?.live(now)?;
    if stored.is_some_and(|stored| stored.attributes != live.attributes) {
        live.modified = told.map_or(live.modified, |told| told.modified);
    }
    Some(live)
}

fn check_change(expected: &Expected, found: Found) {
    let (fate, before, after, now) = expected;
    let (told_fate, told_before, told_after, touched) = found;
    assert_eq!(told_fate, *fate);
    let mut before = seen(before.as_ref(), *now, told_before.as_ref());
    let after = seen(after.as_ref(), *now, told_after.as_ref());
    if let (Some(before), Some(after)) = (&before, &after) {
        let others = |entity: &PlainEntity| {
            let attributes = entity.attributes.iter();
            attributes.filter(|attribute| !touched.contains(&attribute.name)).cloned().collect::<Vec<_>>()
        };
        assert_eq!(others(before), others(after), "what is not touched stays as it is");
    }
    if let Some(before) = before.as_mut().filter(|_| *fate != Fate::Deleted) {
        before.attributes.retain(|attribute| touched.contains(&attribute.name));
    }
    assert_eq!(told_before, before);
    assert_eq!(told_after, after);
}

/// Carries operations out; answers what is to be told of each entity.
async fn carry_out(
    entities: &TenantEntities,
    steps: &[(u8, Operation)],
    batch: usize,
) -> (BTreeMap<String, PlainEntity>, BTreeMap<String, Vec<Expected>>) {
    let (mut plain, mut expected): (BTreeMap<String, PlainEntity>, BTreeMap<String, Vec<Expected>>) =
        (BTreeMap::new(), BTreeMap::new());
    let mut last: BTreeMap<String, Timestamp> = BTreeMap::new();
    for (round, steps) in (1..).zip(steps.chunks(batch)) {
        let now = Timestamp(10 * round);
        let named = steps.iter().map(|(id, operation)| (format!("urn:x:{id}").into(), operation.clone()));
        let _ = entities.apply_all(named.collect(), now).await;
        for (id, operation) in steps {
            let id = format!("urn:x:{id}");
            let now = last.get(&id).map_or(now, |last| now.max(Timestamp(last.0 + 1)));
            let before = plain.get(&id).cloned();
            let Ok((fate, after)) = apply_plainly(before.as_ref(), &id, operation, now) else { continue };
            if fate == Fate::Unchanged {
                continue;
            }
            last.insert(id.clone(), now);
            match after.clone() {
                Some(after) => plain.insert(id.clone(), after),
                None => plain.remove(&id),
            };
            expected.entry(id).or_default().push((fate, before, after, now.0));
        }
    }
    (plain, expected)
}

async fn check_states(buckets: u32, steps: &[(u8, Operation)], batch: usize) {
    let store = plain_store();
    let entities = tenant(&store, buckets).await;
    entities.add_consumer("subscriptions").await.unwrap();
    let (plain, expected) = carry_out(&entities, steps, batch).await;
    let mut told: BTreeMap<String, Vec<Found>> = BTreeMap::new();
    let mut note = |change: EntityChange<'_>| {
        told.entry(change.id.to_owned()).or_default().push(found(&change));
    };
    let end = each_behind(&store, Cursor::default(), &mut note).await;
    assert!(told.keys().eq(expected.keys()));
    for (id, expected) in &expected {
        let told = told.remove(id).unwrap();
        assert_eq!(told.len(), expected.len());
        expected.iter().zip(told).for_each(|(expected, told)| check_change(expected, told));
    }
    // What expires is told as it was before it did.
    entities.purge_expired(Timestamp(300)).await.unwrap();
    each_behind(&store, end, |change| {
        let (fate, before, after, touched) = found(&change);
        let mut stored = plain[change.id].clone();
        let left = seen(Some(&stored), 300, after.as_ref());
        stored.attributes.retain(|attribute| fate == Fate::Deleted || touched.contains(&attribute.name));
        assert_eq!(fate == Fate::Deleted, left.is_none());
        assert_eq!((before, after), (Some(stored), left));
    })
    .await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((128 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn what_is_told_is_what_readers_saw(
        buckets in prop::sample::select(vec![1, 4]),
        steps in prop::collection::vec((0..3_u8, operation()), 1..24),
        batch in prop::sample::select(vec![1_usize, 1, 6]),
    ) {
        run(check_states(buckets, &steps, batch));
    }
}

/// One handle reads what the other writes, and both are told the same: what `get` said before and after.
#[test]
fn states_are_the_bytes_that_were_read() {
    run(async {
        let store = plain_store();
        let entities = tenant(&store, 1).await;
        entities.add_consumer("subscriptions").await.unwrap();
        let read = async || entities.get("urn:x:1", Timestamp(9)).await.unwrap().map(|entity| entity.bytes);
        let mut second = draft_of("1");
        second.attributes[0].name = TermId(11);
        let mut first = draft_of("1");
        first.attributes.push(second.attributes.remove(0));
        let merge = Operation::Merge(draft_of("2"), MergeOptions::default());
        for (operation, time) in [(Operation::Create(first), 1), (merge, 2), (Operation::Delete, 3)] {
            let (end, before) = (store.feed_end(0), read().await);
            entities.apply("urn:x:1", operation, Timestamp(time)).await.unwrap();
            let after = read().await;
            let mut seen = 0;
            each_behind(&store, end, |change| {
                seen += 1;
                let states = change.states.unwrap();
                assert_eq!(states.after.map(|view| view.bytes()), after.as_deref());
                let whole = before.as_deref().map(|bytes| EntityView::parse(bytes).unwrap());
                for name in [10, 11].map(TermId) {
                    let was = whole.and_then(|view| view.attribute(name)).map(|attribute| attribute.bytes());
                    let is_told = change.touched.contains(&name);
                    let told = states.attribute_before(name).map(|attribute| attribute.bytes());
                    assert_eq!(told, was.filter(|_| is_told));
                }
            })
            .await;
            assert_eq!(seen, 1);
        }
    });
}

// Registration.

/// Four writers on two sets of handles; a consumer comes and goes through the first.
fn check_barrier(make_store: impl Fn() -> Store) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_time().build().unwrap();
    runtime.block_on(async {
        let store = make_store();
        let (one, other) = (tenant(&store, 4).await, tenant(&store, 4).await);
        let ends = std::sync::Arc::new(AtomicBool::new(false));
        let write = |writer: usize| {
            let entities = if writer < 2 { one.clone() } else { other.clone() };
            let ends = ends.clone();
            async move {
                let mut number = 0;
                while !ends.load(Ordering::Acquire) {
                    number += 1;
                    // So that a test that fails ends.
                    tokio::task::yield_now().await;
                    let id = format!("urn:x:{}", (writer + number) % 5);
                    let operation = Operation::UpsertReplace(draft_of(&number.to_string()));
                    if number % 3 == 0 {
                        let outcomes = entities.apply_all(vec![(id.into(), operation)], Timestamp(1)).await;
                        assert!(outcomes.into_iter().all(|outcome| outcome.is_ok()));
                    } else {
                        entities.apply(&id, operation, Timestamp(1)).await.unwrap();
                    }
                }
            }
        };
        let writers: Vec<_> = (0..4).map(|writer| tokio::spawn(write(writer))).collect();
        let moves_on = async |from: Cursor| {
            while counts(&store, from).await == (0, 0) {
                tokio::task::yield_now().await;
            }
        };
        for round in 0..30 {
            moves_on(store.feed_end(0)).await;
            one.add_consumer("subscriptions").await.unwrap();
            let registered = store.feed_end(0);
            moves_on(registered).await;
            let (full, brief) = counts(&store, registered).await;
            assert!(full > 0 && brief == 0, "round {round}: {brief} of {full} slipped by");
            assert!(one.remove_consumer("subscriptions").await.unwrap());
            let removed = store.feed_end(0);
            moves_on(removed).await;
            let (full, brief) = counts(&store, removed).await;
            assert!(full == 0 && brief > 0, "round {round}: {full} of {brief} tell nobody");
        }
        ends.store(true, Ordering::Release);
        for writer in writers {
            writer.await.unwrap();
        }
        store.close().await.unwrap();
    });
}

#[test]
fn no_commit_slips_by_the_first_consumer() {
    check_barrier(plain_store);
    let folder = tempfile::tempdir().unwrap();
    check_barrier(|| Store::open(folder.path(), EmbeddedOptions::recommended()).unwrap());
}

#[test]
fn a_registration_outlives_the_process() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let open = || Store::open(folder.path(), EmbeddedOptions::recommended()).unwrap();
        let store = open();
        tenant(&store, 1).await.add_consumer("subscriptions").await.unwrap();
        store.close().await.unwrap();
        drop(store);
        let store = open();
        let entities = tenant(&store, 1).await;
        assert_eq!(entities.consumers().await.unwrap(), ["subscriptions".into()]);
        let end = store.feed_end(0);
        entities.apply("urn:x:1", Operation::Create(draft_of("1")), Timestamp(1)).await.unwrap();
        assert_eq!(counts(&store, end).await, (1, 0));
        store.close().await.unwrap();
    });
}

#[test]
fn consumers_are_counted_by_tenant() {
    run(async {
        let store = plain_store();
        let entities = Entities::new(store.clone(), options(4));
        let create =
            async |name: &str| entities.tenant_or_create(&TenantName::new(name).unwrap()).await.unwrap();
        let (city, other) = (create("city").await, create("other").await);
        let write = async |tenant: &TenantEntities| {
            let end = store.feed_end(0);
            let put = Operation::UpsertReplace(draft_of("1"));
            tenant.apply("urn:x:1", put, Timestamp(1)).await.unwrap();
            counts(&store, end).await == (1, 0)
        };
        assert!(!write(&city).await);
        for name in ["b", "a", "b"] {
            city.add_consumer(name).await.unwrap();
        }
        assert_eq!(city.consumers().await.unwrap(), ["a".into(), "b".into()]);
        assert!(write(&city).await && !write(&other).await);
        assert!(city.remove_consumer("b").await.unwrap() && !city.remove_consumer("b").await.unwrap());
        assert!(write(&city).await);
        assert!(!other.remove_consumer("a").await.unwrap() && city.remove_consumer("a").await.unwrap());
        assert!(!write(&city).await && city.consumers().await.unwrap().is_empty());
        for name in ["", &"a".repeat(CONSUMER_NAME_BYTES_MAX + 1)] {
            assert!(matches!(city.add_consumer(name).await, Err(Error::Limit(_))));
        }
        for number in 0..CONSUMERS_MAX {
            city.add_consumer(&number.to_string()).await.unwrap();
        }
        assert!(matches!(city.add_consumer("one more").await, Err(Error::Limit(_))));
        assert_eq!(city.consumers().await.unwrap().len(), 1_000);
        city.add_consumer("0").await.unwrap();
    });
}

/// Who registered first may have ended before the barrier; then the next one raises it.
#[test]
fn the_barrier_is_raised_once_and_by_somebody() {
    run(async {
        let store = plain_store();
        let (city, beside) = (tenant(&store, 1).await, tenant(&store, 1).await);
        let fence = || store.fence(&city.state().partitions[0]);
        let before = fence();
        assert!(beside.enter_consumer("a").await.unwrap().is_some());
        assert_eq!(fence(), before, "its process ends");
        city.add_consumer("b").await.unwrap();
        let raised = fence();
        assert_ne!(raised, before);
        for name in ["a", "c"] {
            city.add_consumer(name).await.unwrap();
        }
        assert_eq!(fence(), raised);
        // Who raised it for consumers of before says nothing of those of now.
        let (register, stamp) = beside.enter_consumer("a").await.unwrap().unwrap();
        for name in ["a", "b", "c"] {
            assert!(city.remove_consumer(name).await.unwrap());
        }
        assert!(city.enter_consumer("d").await.unwrap().is_some());
        beside.make_known(Register { is_known: false, ..register }, stamp).await.unwrap();
        let raised = fence();
        city.add_consumer("e").await.unwrap();
        assert_ne!(fence(), raised);
    });
}
