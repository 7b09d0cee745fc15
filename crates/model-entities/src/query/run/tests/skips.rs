//! Pages far behind are those of a plain list, whatever was written since the last one.

use std::collections::BTreeMap;

use store::EmbeddedOptions;

use super::*;

const ENTITIES: usize = 3_000;
/// Some entities expire then.
const EXPIRY: &str = "2023-11-14T22:13:21Z";

#[derive(Clone, Copy, Debug, PartialEq)]
struct Thing {
    is_car: bool,
    speed: u64,
    expires: bool,
}

#[derive(Clone, Debug)]
enum Step {
    /// Which question, offset, limit, whether counted, whether some have expired.
    Page(usize, usize, usize, bool, bool),
    /// Puts things from a number on, so many, as they are then.
    Put(usize, usize, Thing),
    /// Removes things from a number on, so many.
    Remove(usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let many = || prop_oneof![5 => Just(1_usize), 1 => Just(300)];
    let offset = prop_oneof![3 => 0..ENTITIES + 50, 1 => Just(256_usize), 1 => Just(0)];
    let thing = (any::<bool>(), 0..2_u64, proptest::bool::weighted(0.2))
        .prop_map(|(is_car, speed, expires)| Thing { is_car, speed, expires });
    prop_oneof![
        3 => (0..4_usize, offset, 0..12_usize, any::<bool>(), any::<bool>())
            .prop_map(|(asked, offset, limit, count, late)| Step::Page(asked, offset, limit, count, late)),
        1 => (0..2 * ENTITIES, many(), thing).prop_map(|(first, many, thing)| Step::Put(first, many, thing)),
        1 => (0..2 * ENTITIES, many()).prop_map(|(first, many)| Step::Remove(first, many)),
    ]
}

/// Neighbours by number are not neighbours by id.
fn id(number: usize) -> String {
    format!("urn:e:{:04}", number * 7_919 % (2 * ENTITIES + 1))
}

fn json_of(id: &str, thing: Thing) -> Value {
    let of_type = if thing.is_car { "Car" } else { "Bike" };
    let mut entity = json!({"id": id, "type": of_type, "speed": {"value": thing.speed}});
    if thing.expires {
        entity["expiresAt"] = json!(EXPIRY);
    }
    entity
}

fn asked(question: usize) -> (Query, fn(Thing) -> bool) {
    let types = |names: &[&str]| {
        let is = |name: &&str| TypeQuery::Is(Some(term(name)));
        Some(TypeQuery::Any(names.iter().map(is).collect()))
    };
    let any = Query::default();
    match question {
        0 => (Query { types: types(&["Car"]), ..any }, |thing| thing.is_car),
        1 => {
            let filter = Some(filter("speed == 1"));
            (Query { types: types(&["Car"]), filter, ..any }, |thing| thing.is_car && thing.speed == 1)
        }
        2 => (Query { types: types(&["Car", "Bike"]), ..any }, |_| true),
        _ => (any, |_| true),
    }
}

async fn check_page(tenant: &TenantEntities, things: &BTreeMap<String, Thing>, step: &Step) {
    let Step::Page(question, offset, limit, count, late) = *step else { return };
    let (query, matches) = asked(question);
    let now = if late { Timestamp(NOW.0 + 3_600_000_000) } else { NOW };
    let live = things.iter().filter(|(_, thing)| !(late && thing.expires) && matches(**thing));
    let expected: Vec<_> = live.map(|(id, _)| id.clone()).collect();
    let result = tenant.query(&Query { offset, limit, count, now, ..query }).await.unwrap();
    let page: Vec<_> = expected.iter().skip(offset).take(limit).cloned().collect();
    assert_eq!(ids(&result), page, "{step:?}");
    assert_eq!(result.more, expected.len() > offset + limit, "{step:?}");
    assert_eq!(result.count, count.then_some(expected.len()), "{step:?}");
}

async fn go(tenant: &TenantEntities, mut things: BTreeMap<String, Thing>, steps: &[Step]) {
    for step in steps {
        let numbers = |first: usize, many: usize| (first..first + many).map(id);
        let operations: Vec<(Box<str>, Operation)> = match step {
            Step::Page(..) => {
                check_page(tenant, &things, step).await;
                continue;
            }
            Step::Put(first, many, thing) => numbers(*first, *many)
                .map(|id| {
                    things.insert(id.clone(), *thing);
                    let draft = draft(&json_of(&id, *thing));
                    (id.into(), Operation::UpsertReplace(draft))
                })
                .collect(),
            Step::Remove(first, many) => numbers(*first, *many)
                .filter(|id| things.remove(id).is_some())
                .map(|id| (id.into(), Operation::Delete))
                .collect(),
        };
        for outcome in tenant.apply_all(operations, Timestamp(2)).await {
            outcome.unwrap();
        }
    }
}

fn check_on(make: impl Fn() -> Store, buckets: u32, cases: u32) {
    let thing = |number: usize| Thing {
        is_car: !number.is_multiple_of(8),
        speed: u64::from(number.is_multiple_of(3)),
        expires: false,
    };
    let things: BTreeMap<_, _> = (0..ENTITIES).map(|number| (id(number), thing(number))).collect();
    let entities: Vec<_> = things.iter().map(|(id, thing)| json_of(id, *thing)).collect();
    let steps = proptest::collection::vec(step(), 1..40);
    let cases = (cases * ProptestConfig::default().cases).div_ceil(256);
    let config = ProptestConfig { source_file: Some(file!()), ..ProptestConfig::with_cases(cases) };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    proptest::test_runner::TestRunner::new(config)
        .run(&steps, |steps| {
            runtime.block_on(async {
                let tenant = tenant_on(make(), &entities, options(buckets)).await;
                go(&tenant, things.clone(), &steps).await;
            });
            Ok(())
        })
        .unwrap();
}

#[test]
fn deep_pages_are_right_between_writes_in_memory() {
    let feed = store::FeedOptions::recommended();
    for buckets in [1, 4, 16] {
        check_on(|| Store::memory(MemoryOptions { clock: Clock::manual(NOW), feed }), buckets, 4);
    }
}

#[test]
fn deep_pages_are_right_between_writes_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let number = std::cell::Cell::new(0);
    let make = || {
        number.set(number.get() + 1);
        Store::open(&folder.path().join(number.get().to_string()), EmbeddedOptions::recommended()).unwrap()
    };
    check_on(make, 1, 4);
    check_on(make, 4, 4);
}

#[tokio::test]
async fn what_is_passed_over_is_not_looked_at() {
    let entities: Vec<Value> = (0..300).map(|n| json!({"id": id(n), "type": "Car"})).collect();
    for buckets in [1, 4] {
        let tenant = tenant_with(&entities, Options { scan_entities_max: 20, ..options(buckets) }).await;
        let query = Query { offset: 280, limit: 5, count: true, ..asked(0).0 };
        let result = tenant.query(&query).await.unwrap();
        assert_eq!((result.entities.len(), result.count, result.more), (5, Some(300), true));
        // Everything, too.
        let result = tenant.query(&Query { types: None, ..query }).await.unwrap();
        assert_eq!((result.entities.len(), result.count, result.more), (5, Some(300), true));
    }
}
