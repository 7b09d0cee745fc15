//! Indexes that are built while entities are written: what is ready is whole, and what is in use is found.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use entity::testing::{operations::draft_of, operations::operation};
use entity::{Attribute, Comparison, Filter, Instances, Operand, Operation, Path, Query, Scalar, TypeQuery};
use proptest::prelude::*;
use store::{Clock, Deadline, Store, TenantName, Timestamp};

use super::*;
use crate::Options;
use crate::indexes::IndexPolicy;
use crate::long_read::LongRead;
use crate::write::{tests::options, tests::run, tests::store, tests::stored};

fn by_use(store: &Store, buckets: u32) -> Entities {
    Entities::new(store.clone(), Options { index: IndexPolicy::ByUse, ..options(buckets) })
}

async fn city(entities: &Entities) -> TenantEntities {
    entities.tenant_or_create(&TenantName::new("city").unwrap()).await.unwrap()
}

/// What happens beside writes.
#[derive(Clone, Debug)]
enum Step {
    Write(u8, Box<Operation>),
    Want(u32),
    Enter,
    Build,
    Look,
    Sweep,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..4_u8, operation()).prop_map(|(id, operation)| Step::Write(id, Box::new(operation))),
        1 => (10..14_u32).prop_map(Step::Want),
        1 => Just(Step::Enter),
        2 => Just(Step::Build),
        2 => Just(Step::Look),
        1 => Just(Step::Sweep),
    ]
}

/// Types with the attributes that their entities have, as they are told and as they are.
async fn in_use(tenant: &TenantEntities) -> [BTreeMap<u32, BTreeSet<u32>>; 2] {
    let told = tenant.types(None, true, &Deadline::default()).await.unwrap();
    let told = told.into_iter().map(|of| (of.name.0, of.attributes.iter().map(|(name, _)| name.0).collect()));
    let mut are: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for entity in stored(tenant).await.values() {
        for of_type in &entity.types {
            let names = entity.attributes.iter().map(|attribute| attribute.name);
            are.entry(*of_type).or_default().extend(names);
        }
    }
    [told.collect(), are]
}

/// Two processes take turns.
fn check_sequence(store: &Store, buckets: u32, steps: &[Step]) {
    run(async {
        let (one, other) = (by_use(store, buckets), by_use(&store.beside(), buckets));
        let (mut tenant, mut beside) = (city(&one).await, city(&other).await);
        let mut now = Timestamp(0);
        for step in steps {
            now.0 += 10;
            std::mem::swap(&mut tenant, &mut beside);
            match step {
                Step::Write(id, operation) => {
                    let outcome = tenant.apply(&format!("urn:x:{id}"), (**operation).clone(), now).await;
                    assert!(!matches!(outcome, Err(Error::Store(_) | Error::Contention(_))), "{outcome:?}");
                }
                Step::Want(name) => tenant.state().indexes.want(&[TermId(*name)]),
                Step::Enter => tenant.enter_indexes().await.unwrap(),
                Step::Build => _ = tenant.build_indexes().await.unwrap(),
                Step::Look => {
                    let [told, are] = in_use(&tenant).await;
                    assert_eq!(told, are);
                }
                Step::Sweep => tenant.sweep_in_use().await.unwrap(),
            }
            stored(&tenant).await;
        }
        for tenant in [&tenant, &beside] {
            tenant.build_indexes().await.unwrap();
            let wanted = tenant.state().indexes.wanted.lock().clone();
            assert!(wanted.is_empty(), "{wanted:?} is not built");
        }
        let register = tenant.state().index_register().await.unwrap();
        assert_eq!(register.building(), Indexed::None);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((96 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn what_is_ready_is_whole(
        buckets in prop::sample::select(vec![1, 4]),
        steps in prop::collection::vec(step(), 1..30),
    ) {
        check_sequence(&store(), buckets, &steps);
    }

    #[test]
    fn what_is_ready_is_whole_on_the_worst_store(
        buckets in prop::sample::select(vec![1, 4]),
        steps in prop::collection::vec(step(), 1..30),
        seed: u64,
    ) {
        check_sequence(&store::testing::hostile(Clock::manual(Timestamp(0)), seed), buckets, &steps);
    }
}

/// An entity of type 1 with attribute 10, and with another in one of three.
fn car(at: u32, value: u32) -> Operation {
    let mut draft = draft_of(&value.to_string());
    draft
        .attributes
        .extend(at.is_multiple_of(3).then(|| Attribute { name: TermId(11), ..draft.attributes[0].clone() }));
    Operation::UpsertReplace(draft)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_index_is_built_while_many_write() {
    let store = store();
    let (one, other) = (by_use(&store, 4), by_use(&store, 4));
    let (tenant, beside) = (city(&one).await, city(&other).await);
    for at in 0..600 {
        tenant.apply(&format!("urn:x:{at}"), car(at, at), Timestamp(1)).await.unwrap();
    }
    let writers: Vec<_> = (0..4_u32)
        .map(|writer| {
            let tenant = if writer % 2 == 0 { tenant.clone() } else { beside.clone() };
            tokio::spawn(async move {
                for step in 0..600_u32 {
                    let at = (step * 7 + writer * 13) % 700;
                    let operation = if step % 11 == 0 { Operation::Delete } else { car(step, step) };
                    let now = Timestamp(i64::from(step) + 10);
                    let outcome = tenant.apply(&format!("urn:x:{at}"), operation, now).await;
                    assert!(matches!(outcome, Ok(_) | Err(Error::NoSuchEntity(_))), "{outcome:?}");
                }
            })
        })
        .collect();
    for name in [10, 11, 12] {
        tenant.state().indexes.want(&[TermId(name)]);
        let (one, other) = tokio::join!(tenant.build_indexes(), beside.build_indexes());
        assert!(one.unwrap() >= 300 && other.is_ok());
    }
    for writer in writers {
        writer.await.unwrap();
    }
    stored(&tenant).await;
    let [told, are] = in_use(&tenant).await;
    assert_eq!(told, are);
}

fn greater(name: u32, than: f64) -> Query {
    let path = Path {
        attribute: Some(TermId(name)),
        members: Vec::new(),
        meta: None,
        json: Vec::new(),
        linked: None,
    };
    let operand = Operand::Values(smallvec::smallvec![Scalar::Number(than)]);
    Query {
        types: Some(TypeQuery::Is(Some(TermId(1)))),
        filter: Some(Filter::Compare(path, Comparison::Greater, operand)),
        limit: 10,
        ..Query::default()
    }
}

#[tokio::test]
async fn a_query_that_is_slow_without_an_index_gets_one() {
    let store = store();
    let entities = by_use(&store, 1);
    let tenant = city(&entities).await;
    for at in 0..200 {
        tenant.apply(&format!("urn:x:{at}"), car(at, at), Timestamp(1)).await.unwrap();
    }
    let is_wanted = |tenant: &TenantEntities| !tenant.state().indexes.wanted.lock().is_empty();
    // Quick: the first entities match, or there are few.
    assert_eq!(tenant.query(&greater(10, -1.0)).await.unwrap().entities.len(), 10);
    assert!(!is_wanted(&tenant));
    assert_eq!(tenant.query(&greater(10, 197.0)).await.unwrap().entities.len(), 2);
    assert!(is_wanted(&tenant));
    tokio::time::timeout(std::time::Duration::from_secs(5), entities.index_wanted()).await.unwrap();
    assert_eq!(entities.build_indexes().await.unwrap(), 200);
    assert_eq!(*tenant.state().indexes.ready(), Indexed::Of([TermId(10)].into()));
    assert_eq!(tenant.query(&greater(10, 197.0)).await.unwrap().entities.len(), 2);
    assert!(!is_wanted(&tenant));
    assert_eq!(entities.build_indexes().await.unwrap(), 0, "it is built once");
    // And is known after a start.
    let again = city(&by_use(&store, 1)).await;
    assert_eq!(*again.state().indexes.ready(), Indexed::Of([TermId(10)].into()));
    again.apply("urn:x:900", car(1, 900), Timestamp(9)).await.unwrap();
    stored(&again).await;
}

#[tokio::test]
async fn what_was_begun_is_ended_after_a_start() {
    let store = store();
    let tenant = city(&by_use(&store, 1)).await;
    for at in 0..20 {
        tenant.apply(&format!("urn:x:{at}"), car(at, at), Timestamp(1)).await.unwrap();
    }
    tenant.state().change_register(false, |register| register.enter(&[TermId(10)].into())).await.unwrap();
    // A writer that knows of nothing yet.
    tenant.apply("urn:x:1", car(1, 50), Timestamp(2)).await.unwrap();
    let entities = by_use(&store, 1);
    let again = city(&entities).await;
    assert_eq!(*again.state().indexes.ready(), Indexed::None);
    assert_eq!(entities.build_indexes().await.unwrap(), 20);
    assert_eq!(*again.state().indexes.ready(), Indexed::Of([TermId(10)].into()));
    stored(&again).await;
}

#[tokio::test]
async fn all_is_indexed_where_that_is_asked_for() {
    let store = store();
    let all = |store: &Store| Entities::new(store.clone(), Options { index: IndexPolicy::All, ..options(1) });
    assert_eq!(*city(&all(&store)).await.state().indexes.ready(), Indexed::All);
    // A tenant that was there before.
    let other = TenantName::new("other").unwrap();
    let before = by_use(&store, 1).tenant_or_create(&other).await.unwrap();
    for at in 0..20 {
        before.apply(&format!("urn:x:{at}"), car(at, at), Timestamp(1)).await.unwrap();
    }
    let entities = all(&store);
    let tenant = entities.tenant(&other).await.unwrap();
    assert_eq!(*tenant.state().indexes.ready(), Indexed::None);
    entities.index_wanted().await;
    assert_eq!(entities.build_indexes().await.unwrap(), 20);
    assert_eq!(*tenant.state().indexes.ready(), Indexed::All);
    stored(&tenant).await;
}

#[tokio::test]
async fn an_attribute_that_nobody_has_is_no_more_in_use() {
    let store = store();
    let entities = by_use(&store, 1);
    let tenant = city(&entities).await;
    for at in 0..9 {
        tenant.apply(&format!("urn:x:{at}"), car(at, at), Timestamp(1)).await.unwrap();
    }
    let told = async || in_use(&tenant).await[0].clone();
    let both = BTreeMap::from([(1, BTreeSet::from([10, 11]))]);
    assert_eq!(told().await, both);
    // The one that the note names: another takes its place.
    tenant.apply("urn:x:0", Operation::Delete, Timestamp(2)).await.unwrap();
    assert_eq!(told().await, both);
    assert!(!tenant.state().indexes.stale.lock().is_empty());
    entities.sweep_in_use().await.unwrap();
    assert_eq!(told().await, both);
    assert!(tenant.state().indexes.stale.lock().is_empty(), "the note names another");
    for at in [3, 6] {
        tenant.apply(&format!("urn:x:{at}"), Operation::Delete, Timestamp(3)).await.unwrap();
    }
    let one = BTreeMap::from([(1, BTreeSet::from([10]))]);
    assert_eq!(told().await, one);
    entities.sweep_in_use().await.unwrap();
    let partition = &tenant.state().partitions[0];
    let long = &mut LongRead::of_job(Deadline::default());
    assert_eq!(tenant.state().noted(partition, TermId(1), long).await.unwrap().len(), 1, "taken back");
    tenant.apply("urn:x:3", car(3, 3), Timestamp(4)).await.unwrap();
    assert_eq!(told().await, both, "and noted again");
}

/// Cars come, change and go; some get an attribute that none had, or lose the last of it.
async fn write_all(nodes: [&TenantEntities; 2], seed: u32, left: &Cell<u32>) {
    while left.get() > 0 {
        left.set(left.get() - 1);
        let turn = left.get();
        let tenant = nodes[((turn + seed / 2) % 2) as usize];
        let id = format!("urn:x:{}", (turn * 7 + seed) % 5);
        let operation = match (turn + seed) % 7 {
            5 => Operation::Delete,
            6 => Operation::DeleteAttribute { name: TermId(11), instances: Instances::All },
            _ => car(turn, turn),
        };
        match tenant.apply(&id, operation, Timestamp(1_000 - i64::from(turn))).await {
            Ok(_) | Err(Error::NoSuchEntity(_) | Error::NoSuchAttribute(..)) => {}
            outcome => panic!("{outcome:?}"),
        }
    }
}

/// Indexes one attribute after the other, and looks after the notes of those in use.
async fn build_all(tenant: &TenantEntities, left: &Cell<u32>) {
    for name in 10..13 {
        tenant.state().indexes.want(&[TermId(name)]);
        tenant.build_indexes().await.unwrap();
        let _ = tenant.types(None, true, &Deadline::default()).await.unwrap();
        tenant.sweep_in_use().await.unwrap();
    }
    while left.get() > 0 {
        let _ = tenant.types(None, true, &Deadline::default()).await.unwrap();
        tenant.sweep_in_use().await.unwrap();
        tokio::task::yield_now().await;
    }
}

#[test]
fn two_nodes_that_build_while_others_write_miss_nothing() {
    for seed in store::testing::seeds(200) {
        run(async {
            let store = store::testing::hostile(Clock::manual(Timestamp(0)), seed);
            let (one, other) = (by_use(&store, 4), by_use(&store.beside(), 4));
            let (one, other) = (city(&one).await, city(&other).await);
            let left = Cell::new(60);
            let seed = u32::try_from(seed).unwrap();
            tokio::join!(
                write_all([&one, &other], seed, &left),
                build_all(&one, &left),
                build_all(&other, &left),
            );
            stored(&one).await;
            let [told, are] = in_use(&other).await;
            assert_eq!(told, are, "seed {seed}");
            let register = other.state().index_register().await.unwrap();
            assert_eq!(register.ready(), Indexed::Of([10, 11, 12].map(TermId).into()));
        });
    }
}
