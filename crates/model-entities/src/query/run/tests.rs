//! Queries over random entities give what a naive evaluator gives, whatever the way they go.

mod naive;
mod random;
mod skips;
mod sweeps;

use entity::Operation;
use entity::testing::query::{NAMES, draft, filter, query, term};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use store::{Clock, MemoryOptions, Store, TenantName};

use self::naive::Asked;
use super::*;
use crate::{Entities, Options, Timestamp};
use entity::{Filter, GeoQuery, GeoRelation, OrderBy, OrderKey, TypeQuery};

const NOW: Timestamp = Timestamp(1_700_000_000_000_000);

fn options(buckets: u32) -> Options {
    Options {
        buckets,
        tenants_max: 1_000,
        terms_max: 10_000,
        index: crate::IndexPolicy::All,
        entity_bytes_max: 1 << 20,
        scan_entities_max: 100_000,
        sort_entities_max: 10_000,
        history: crate::HistoryPolicy::default(),
    }
}

async fn tenant_with(entities: &[Value], options: Options) -> TenantEntities {
    let store = store::testing::memory(Clock::manual(NOW));
    tenant_on(store, entities, options).await
}

async fn tenant_on(store: Store, entities: &[Value], options: Options) -> TenantEntities {
    let tenant = Entities::new(store, options).tenant_or_create(&TenantName::default()).await.unwrap();
    let terms = tenant.intern(&NAMES).await.unwrap();
    assert!(terms.iter().zip(NAMES).all(|(found, name)| *found == term(name)));
    let operations = entities
        .iter()
        .map(|entity| {
            let draft = draft(entity);
            (draft.id.clone(), Operation::UpsertReplace(draft))
        })
        .collect();
    for outcome in tenant.apply_all(operations, Timestamp(1)).await {
        outcome.unwrap();
    }
    tenant
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

fn ids(result: &QueryResult) -> Vec<String> {
    let id = |bytes: &Bytes| EntityView::parse(bytes).unwrap().id().to_owned();
    result.entities.iter().map(id).collect()
}

/// The whole answer, its count, and pages of three sizes say the same as the naive evaluator.
async fn check(tenant: &TenantEntities, entities: &[Value], asked: &Asked) {
    let expected = asked.answer(entities);
    let whole = Query { limit: 10_000, count: true, ..asked.query() };
    let result = tenant.query(&whole).await.unwrap();
    let buckets = tenant.state().partitions.len();
    assert_eq!(ids(&result), expected, "{buckets} buckets: {asked:?}");
    assert_eq!((result.count, result.more), (Some(expected.len()), false), "{asked:?}");
    sweeps::check(tenant, asked, &expected).await;
    let none = tenant.query(&Query { limit: 0, count: true, ..asked.query() }).await.unwrap();
    assert_eq!((none.count, none.entities.len()), (Some(expected.len()), 0), "{asked:?}");
    for limit in [1, 3, 30] {
        let mut pages = Vec::new();
        for offset in (0..).step_by(limit) {
            let page = tenant.query(&Query { limit, offset, ..asked.query() }).await.unwrap();
            pages.extend(ids(&page));
            assert_eq!(page.more, expected.len() > offset + limit, "{asked:?}");
            if !page.more || offset > 60 {
                break;
            }
        }
        assert_eq!(pages, expected[..pages.len()], "pages of {limit}: {asked:?}");
        assert!(pages.len() == expected.len() || pages.len() > 60);
    }
}

fn random_round(seed: u64, entities_max: usize, queries: usize) {
    let mut random = StdRng::seed_from_u64(seed);
    let count = random.random_range(1..=entities_max);
    let entities: Vec<Value> = (0..count).map(|at| random::entity(&mut random, at)).collect();
    let asked: Vec<Asked> = (0..queries).map(|_| random::asked(&mut random, count)).collect();
    block_on(async {
        for buckets in [1, 4, 40] {
            let tenant = tenant_with(&entities, options(buckets)).await;
            for asked in &asked {
                check(&tenant, &entities, asked).await;
            }
        }
        let by_use = Options { index: crate::IndexPolicy::ByUse, ..options(4) };
        let tenant = tenant_with(&entities, by_use).await;
        for (at, asked) in asked.iter().enumerate() {
            check(&tenant, &entities, asked).await;
            // One after the other.
            tenant.state().indexes.want(&[term(NAMES[at % NAMES.len()])]);
            tenant.build_indexes().await.unwrap();
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((32 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn answers_are_those_of_a_naive_evaluator(seed: u64) {
        random_round(seed, 60, 20);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((3 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn large_sets_switch_ways_and_answer_the_same(seed: u64) {
        random_round(seed, 700, 12);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((8 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn shapes_are_found_with_and_without_an_index(seed: u64) {
        let random = &mut StdRng::seed_from_u64(seed);
        let entities: Vec<Value> = (0..200).map(|at| random::place(random, at)).collect();
        let asked: Vec<Asked> = (0..30).map(|_| random::asked_of_places(random)).collect();
        block_on(async {
            let tenant = tenant_with(&entities, options(1)).await;
            for asked in &asked {
                // Counting probes cells from the start; the first page does not.
                let (expected, query) = (asked.answer(&entities), asked.query());
                let counted = tenant.query(&Query { limit: 500, count: true, ..query.clone() }).await.unwrap();
                let paged = tenant.query(&Query { limit: 500, ..query }).await.unwrap();
                assert_eq!((ids(&counted), counted.count), (expected.clone(), Some(expected.len())), "{asked:?}");
                assert_eq!(ids(&paged), expected, "{asked:?}");
            }
        });
    }
}

#[tokio::test]
async fn limits_are_named() {
    let entities: Vec<Value> = (0..20)
        .map(|at| json!({"id": format!("urn:e:{at:02}"), "type": "Car", "speed": {"value": at}}))
        .collect();
    let tight = Options { scan_entities_max: 10, sort_entities_max: 5, ..options(1) };
    let tenant = tenant_with(&entities, tight).await;
    let refusal = |query: Query| {
        let tenant = tenant.clone();
        async move { tenant.query(&query).await.unwrap_err().to_string() }
    };
    let odd = query(Some(filter("speed != 3")));
    assert!(refusal(Query { count: true, ..odd.clone() }).await.contains("scan_entities_max"));
    let sorted =
        vec![OrderBy { key: OrderKey::Value(entity::testing::query::path("speed")), descending: true }];
    assert!(refusal(Query { order: sorted, limit: 6, ..odd.clone() }).await.contains("sort_entities_max"));
    // What the index counts is not looked at.
    let cars = Query { types: Some(TypeQuery::Is(Some(term("Car")))), filter: None, ..odd.clone() };
    let counted = tenant.query(&Query { count: true, limit: 5, offset: 12, ..cars }).await.unwrap();
    assert_eq!(counted.count, Some(20));
    assert_eq!(ids(&counted), ["urn:e:12", "urn:e:13", "urn:e:14", "urn:e:15", "urn:e:16"]);
    assert!(counted.more);
    assert_eq!(tenant.query(&Query { limit: 3, ..odd }).await.unwrap().entities.len(), 3);
}

#[tokio::test]
async fn ways_are_intersected() {
    let entities: Vec<Value> = (0..3000)
        .map(|at| {
            let (sixth, spread) = (at % 6, at * 7919 % 1000);
            json!({"id": format!("urn:e:{at:04}"), "type": "Car",
                "a": {"value": sixth}, "speed": [{"value": spread}, {"value": 1, "datasetId": "urn:d:1"}]})
        })
        .collect();
    let expected: Vec<String> = (0..3000)
        .filter(|at| at % 6 == 1 && at * 7919 % 1000 > 950)
        .map(|at| format!("urn:e:{at:04}"))
        .collect();
    // One way leads to 500 entities, the other to 147, and both to 25: neither
    // of them alone answers all within the limit, once the first 48 entities were looked at.
    assert_eq!(expected.len(), 25);
    let both = Filter::And(vec![filter("a == 1"), filter("speed > 950")]);
    for buckets in [1, 4] {
        let tight = Options { scan_entities_max: 170, ..options(buckets) };
        let tenant = tenant_with(&entities, tight).await;
        let cars = Some(TypeQuery::Is(Some(term("Car"))));
        let all = Query { types: cars, ..query(Some(both.clone())) };
        let page = tenant.query(&Query { limit: 10, offset: 10, ..all.clone() }).await.unwrap();
        assert_eq!((ids(&page), page.more), (expected[10..20].to_vec(), true));
        let last = tenant.query(&Query { limit: 10, offset: 20, ..all.clone() }).await.unwrap();
        assert_eq!((ids(&last), last.more), (expected[20..].to_vec(), false));
        let counted = tenant.query(&Query { limit: 5, count: true, ..all }).await.unwrap();
        assert_eq!((ids(&counted), counted.count), (expected[..5].to_vec(), Some(25)));
    }
}

#[tokio::test]
async fn links_are_followed_in_pages() {
    let mut entities: Vec<Value> = (0..300)
        .map(|at| {
            json!({"id": format!("urn:car:{at:03}"), "type": "Car",
                "owner": {"type": "Relationship", "object": format!("urn:person:{}", at % 7)}})
        })
        .collect();
    entities.extend((0..6).map(|at| {
        json!({"id": format!("urn:person:{at}"), "type": "Town", "name": {"value": format!("n{}", at % 2)},
            "owner": {"type": "Relationship", "object": format!("urn:person:{}", (at + 1) % 6)}})
    }));
    for buckets in [1, 4] {
        let tenant = tenant_with(&entities, options(buckets)).await;
        let count = async |condition: &str| {
            let cars = Some(TypeQuery::Is(Some(term("Car"))));
            let query = Query { types: cars, count: true, limit: 2, ..query(Some(filter(condition))) };
            tenant.query(&query).await.unwrap().count.unwrap()
        };
        let of = |wanted: &[usize]| (0..300).filter(|at| wanted.contains(&(at % 7))).count();
        assert_eq!(count(r#"owner{name} == "n0""#).await, of(&[0, 2, 4]));
        assert_eq!(count(r#"owner{owner{name}} == "n0""#).await, of(&[1, 3, 5]));
        assert_eq!(count("owner{name}").await, of(&[0, 1, 2, 3, 4, 5]));
        assert_eq!(count("!owner{name}").await, of(&[6]));
    }
    let few = Options { scan_entities_max: 4, ..options(1) };
    let tenant = tenant_with(&entities, few).await;
    let error = tenant.query(&query(Some(filter("owner{name}")))).await.unwrap_err();
    assert!(error.to_string().contains("follows links"), "{error}");
}

#[tokio::test]
async fn a_deadline_ends_queries_of_every_kind() {
    let ring: Vec<_> = (0..200)
        .map(|at| {
            let turn = f64::from(at % 199) / 199.0 * std::f64::consts::TAU;
            json!([turn.cos(), turn.sin()])
        })
        .collect();
    let entities: Vec<Value> = (0..3000)
        .map(|at| {
            let point = json!({"type": "Point", "coordinates": [f64::from(at % 60) / 10.0, 1.0]});
            json!({"id": format!("urn:e:{at:04}"), "type": "Car", "speed": {"value": at},
                "location": {"type": "GeoProperty", "value": point}})
        })
        .collect();
    let tenant = tenant_with(&entities, options(1)).await;
    let ring = json!({"type": "Polygon", "coordinates": [ring]}).to_string();
    let ring = entity::geometry::parse_geometry(&ring).unwrap();
    let place = Some(term("location"));
    let near = GeoRelation::Near { max: None, min: Some(1000.0) };
    let geo = GeoQuery { attribute: place, relation: near, geometry: ring.clone() };
    let order = vec![OrderBy { key: OrderKey::Distance(place, ring), descending: true }];
    let all = Query { count: true, limit: 3, ..Query::default() };
    for query in [
        Query { filter: Some(filter("speed != -1")), ..all.clone() },
        Query { geo: Some(geo), ..all.clone() },
        Query { order, ..all },
    ] {
        let late = Query { deadline: store::Deadline::after_looks(2), ..query.clone() };
        let error = tenant.query(&late).await.unwrap_err();
        assert!(matches!(error, Error::TimedOut(_)), "{error}");
        let found = tenant.query(&query).await.unwrap();
        assert!(found.count.unwrap() > 1000, "{found:?}");
    }
}

#[tokio::test]
async fn pages_are_cut_by_their_size() {
    let entities: Vec<Value> = (0..40)
        .map(|at| {
            json!({"id": format!("urn:e:{at:02}"), "type": "Car",
                "speed": {"value": 40 - at}, "name": {"value": "x".repeat(10_000)}})
        })
        .collect();
    let ordered = |name: &str| {
        vec![OrderBy { key: OrderKey::Value(entity::testing::query::path(name)), descending: false }]
    };
    for buckets in [1, 4] {
        let tenant = tenant_with(&entities, options(buckets)).await;
        for order in [Vec::new(), ordered("speed")] {
            let all = Query { limit: 30, order, ..Query::default() };
            let whole = ids(&tenant.query(&Query { limit: 40, ..all.clone() }).await.unwrap());
            assert_eq!(whole.len(), 40);
            for (bytes_max, count) in [(1, 1), (10_000, 1), (35_000, 4), (1 << 20, 30)] {
                let mut found = Vec::new();
                loop {
                    let query = Query {
                        page_bytes_max: Some(bytes_max),
                        offset: found.len(),
                        count: found.len() == 4,
                        ..all.clone()
                    };
                    let page = tenant.query(&query).await.unwrap();
                    assert_eq!(page.entities.len(), count.min(40 - found.len()), "{bytes_max}");
                    assert_eq!(page.count, query.count.then_some(40));
                    found.extend(ids(&page));
                    assert_eq!(page.more, found.len() < 40);
                    if !page.more {
                        break;
                    }
                }
                assert_eq!(found, whole, "{bytes_max}");
            }
        }
    }
}

/// More work than a few slices, on a runtime of one worker: others run all the while, and the lane is used.
#[test]
fn long_queries_leave_the_threads_of_the_runtime() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let entities: Vec<Value> = (0..200)
        .map(|at| {
            json!({"id": format!("urn:e:{at:03}"), "type": "Car", "name": {"value": "x".repeat(120_000)}})
        })
        .collect();
    let tenant = runtime.block_on(tenant_with(&entities, options(1)));
    let lane = tenant.state().lane.clone();
    let asked = Query { count: true, limit: 1, ..query(Some(filter("name ~= y"))) };
    let long = tenant.clone();
    let found = runtime.spawn(async move { long.query(&asked).await.map(|found| found.count) });
    assert_eq!(runtime.block_on(found).unwrap().unwrap(), Some(0));
    assert_eq!(lane.taken(), 1);
    let short = Query { limit: 5, ..query(Some(filter("name"))) };
    let found = runtime.spawn(async move { tenant.query(&short).await.map(|found| found.entities.len()) });
    assert_eq!(runtime.block_on(found).unwrap().unwrap(), 5);
    assert_eq!(lane.taken(), 1);
}

/// Sorted matches that there was no room to hold are read again: others may have changed them meanwhile.
#[tokio::test]
async fn sorted_pages_show_what_still_matches() {
    let car = |at: usize, speed: i64| json!({"id": format!("urn:e:{at}"), "type": "Car", "speed": {"value": speed}});
    let tenant = tenant_with(&[car(0, 1), car(1, 2), car(2, 3)], options(1)).await;
    let speed = OrderKey::Value(entity::testing::query::path("speed"));
    let order = vec![OrderBy { key: speed, descending: false }];
    let asked = Query { order, limit: 1, page_bytes_max: Some(1), ..query(Some(filter("speed > 0"))) };
    let mut run = Run::new(tenant.state(), &asked).unwrap();
    let mut walk = run.begin().await.unwrap();
    run.go(&mut walk).await.unwrap();
    let slower = Operation::UpsertReplace(draft(&car(0, -1)));
    tenant.apply("urn:e:0", slower, NOW).await.unwrap();
    assert_eq!(ids(&run.finish().await.unwrap()), Vec::<String>::new());
    assert_eq!(ids(&tenant.query(&asked).await.unwrap()), ["urn:e:1"]);
}

/// Texts are ordered by their beginnings, so that keys stay small; and all keys together have a limit.
#[tokio::test]
async fn keys_of_orders_have_limits() {
    let long = |end: &str| format!("{}{end}", "x".repeat(100_000));
    let town = |at: usize, name: String| json!({"id": format!("urn:e:{at:04}"), "type": "Town", "name": {"value": name}});
    let key = |name: &str| OrderKey::Value(entity::testing::query::path(name));
    let by_name = vec![OrderBy { key: key("name"), descending: false }];
    let few = [town(0, long("b")), town(1, long("a")), town(2, "a".into()), town(3, "y".into())];
    let tenant = tenant_with(&few, options(1)).await;
    let asked = Query { order: by_name.clone(), limit: 4, ..query(None) };
    let found = ids(&tenant.query(&asked).await.unwrap());
    assert_eq!(found, ["urn:e:0002", "urn:e:0000", "urn:e:0001", "urn:e:0003"]);
    let many: Vec<Value> = (0..2000).map(|at| town(at, format!("{at:04}{}", "x".repeat(2000)))).collect();
    let tenant = tenant_with(&many, options(1)).await;
    let asked = Query { order: by_name, limit: 2000, ..query(None) };
    let error = tenant.query(&asked).await.unwrap_err();
    assert!(error.to_string().contains("KEYS_BYTES_MAX"), "{error}");
    assert_eq!(tenant.query(&Query { limit: 20, ..asked }).await.unwrap().entities.len(), 20);
}
