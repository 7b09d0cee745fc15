//! Times queries over 100,000 entities shaped like those of a published load test: ten types,
//! attributes with several instances, a Relationship to one of ten.
//!
//! `cargo bench -p model-entities --bench query [-- memory|embedded [BUCKETS]]`: microseconds per query, with
//! the mean, percentiles, and the mean by the threshold that is asked; then queries that look at many
//! entities: counted, deep in their pages, ordered.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::disallowed_macros,
    reason = "a bench reports to its user and may stop"
)]

use std::hint::black_box;
use std::time::Instant;

use model_entities::{
    Attribute, Comparison, Draft, Entities, Filter, IndexPolicy, Instance, Kind, Operand, Operation, Options,
    OrderBy, OrderKey, Path, Query, Scalar, TenantEntities, TermId, Timestamp, TypeQuery,
};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use smallvec::smallvec;
use store::{Clock, EmbeddedOptions, MemoryOptions, Store, TenantName};

const ENTITIES: usize = 100_000;
const TYPES: usize = 10;
const RELATIONS: usize = 10;
const QUERIES: usize = 10_000;
const PAGE: usize = 30;
const BATCH: usize = 500;

/// Names; types follow.
const NAMES: [&str; 9] = [
    "name",
    "description",
    "stationCode",
    "ammonium",
    "dissolvedOxygen",
    "waterTemperature",
    "servesDataset",
    "location",
    "sandreCode",
];

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
    let (wanted, buckets) = (words.next(), words.next().map_or(1, |word| word.parse().unwrap()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    for engine in ["memory", "embedded"] {
        if wanted.as_deref().is_some_and(|wanted| wanted != engine) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let store = match engine {
            "memory" => {
                Store::memory(MemoryOptions { clock: Clock::System, feed: store::FeedOptions::recommended() })
            }
            _ => Store::open(&folder.path().join("data"), EmbeddedOptions::recommended()).unwrap(),
        };
        runtime.block_on(measure(engine, store, buckets));
    }
}

async fn measure(engine: &str, store: Store, buckets: u32) {
    let options = Options {
        buckets,
        tenants_max: 1_000,
        terms_max: 10_000,
        index: IndexPolicy::All,
        entity_bytes_max: 1 << 20,
        scan_entities_max: 1_000_000,
        sort_entities_max: 100_000,
        history: model_entities::HistoryPolicy::default(),
    };
    let entities = Entities::new(store, options);
    let tenant = entities.tenant_or_create(&TenantName::default()).await.unwrap();
    let types: Vec<String> = (0..TYPES).map(|at| format!("Type{at}")).collect();
    let names: Vec<&str> = NAMES.into_iter().chain(types.iter().map(String::as_str)).collect();
    let terms = tenant.intern(&names).await.unwrap();
    let random = &mut StdRng::seed_from_u64(7);
    let start = Instant::now();
    load(&tenant, &terms, random).await;
    println!(
        "{engine}, buckets {buckets}: loaded {ENTITIES} entities in {:.1} s",
        start.elapsed().as_secs_f64()
    );
    for (name, by_relation) in [("by value (S-Q3)", false), ("by relationship (S-R3)", true)] {
        let mut times = Vec::with_capacity(QUERIES);
        let mut cpu = 0.0;
        // The first tenth warms caches up and does not count.
        for round in 0..QUERIES + QUERIES / 10 {
            if round == QUERIES / 10 {
                cpu = on_cpu();
            }
            let (query, threshold) = ask(&terms, random, by_relation);
            let start = Instant::now();
            let result = tenant.query(&query).await.unwrap();
            let micros = start.elapsed().as_secs_f64() * 1e6;
            if round >= QUERIES / 10 {
                times.push((threshold, micros, result.entities.len()));
            }
            black_box(result);
        }
        let cpu = (on_cpu() - cpu) / 1e3 / QUERIES as f64;
        println!("{name}: {cpu:.1} us of CPU each, on {engine}");
        report(name, &mut times);
    }
    heavy(&tenant, &terms, random).await;
}

/// Times queries that look at thousands of entities, some of each.
async fn heavy(tenant: &TenantEntities, terms: &[TermId], random: &mut StdRng) {
    let path = |name: usize| Path {
        attribute: Some(terms[name]),
        members: Vec::new(),
        meta: None,
        json: Vec::new(),
        linked: None,
    };
    let order = vec![OrderBy { key: OrderKey::Value(path(4)), descending: true }];
    let any = Query { limit: PAGE, now: Timestamp(1_700_000_000_000_001), ..Query::default() };
    let filtered = Query { now: any.now, ..ask(terms, random, false).0 };
    let typed = Query { filter: None, ..filtered.clone() };
    let cases = [
        ("a type, counted", Query { count: true, ..typed.clone() }),
        ("a type, page at 9,000", Query { offset: 9_000, ..typed.clone() }),
        ("a type and values, counted", Query { count: true, ..filtered.clone() }),
        ("a type and values, page at 2,000", Query { offset: 2_000, ..filtered }),
        ("a type, ordered by value", Query { order: order.clone(), ..typed }),
        ("everything, counted", Query { count: true, ..any.clone() }),
        ("everything, page at 90,000", Query { offset: 90_000, ..any.clone() }),
        ("everything, ordered by value", Query { order: order.clone(), ..any.clone() }),
        ("everything, ordered by value, page at 90,000", Query { order, offset: 90_000, ..any }),
    ];
    for (name, query) in cases {
        // The first round warms caches up.
        let mut millis = [0.0; 4];
        let mut found = (0, None);
        for millis in &mut millis {
            let start = Instant::now();
            let result = tenant.query(&query).await.unwrap();
            *millis = start.elapsed().as_secs_f64() * 1e3;
            found = (result.entities.len(), result.count);
        }
        let [_, one, two, three] = millis;
        println!("{name}: {one:.1}, {two:.1}, {three:.1} ms; {} entities, counted {:?}", found.0, found.1);
    }
}

/// Nanoseconds this thread was on a processor.
fn on_cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

fn report(name: &str, times: &mut [(u32, f64, usize)]) {
    let count = times.len() as f64;
    let mean = |times: &[(u32, f64, usize)]| {
        times.iter().map(|(_, micros, _)| micros).sum::<f64>() / times.len().max(1) as f64
    };
    let found = times.iter().map(|(.., found)| *found as f64).sum::<f64>() / count;
    times.sort_by(|one, other| one.1.total_cmp(&other.1));
    let at = |share: f64| times[((count * share) as usize).min(times.len() - 1)].1;
    println!(
        "{name}: mean {:.1} us, p50 {:.1}, p95 {:.1}, p99 {:.1}, max {:.1}; {found:.1} entities each",
        mean(times),
        at(0.5),
        at(0.95),
        at(0.99),
        at(1.0),
    );
    for decade in 0..10 {
        let part: Vec<_> = times.iter().filter(|(threshold, ..)| threshold / 10 == decade).copied().collect();
        println!("  threshold {:2} to {:2}: mean {:.1} us", decade * 10, decade * 10 + 9, mean(&part));
    }
    let highest: Vec<_> = times.iter().filter(|(threshold, ..)| *threshold >= 97).copied().collect();
    println!("  threshold 97 to 99: mean {:.1} us", mean(&highest));
}

async fn load(tenant: &TenantEntities, terms: &[TermId], random: &mut StdRng) {
    for _ in 0..ENTITIES / BATCH {
        let operations = (0..BATCH)
            .map(|_| {
                let draft = draft(terms, random);
                (draft.id.clone(), Operation::Create(draft))
            })
            .collect();
        for outcome in tenant.apply_all(operations, Timestamp(1_700_000_000_000_000)).await {
            outcome.unwrap();
        }
    }
}

fn draft(terms: &[TermId], random: &mut StdRng) -> Draft {
    let value = |random: &mut StdRng| format!("{}", random.random_range(0.0..100.0));
    let property = |value: &str| Instance::new(Kind::Property, value);
    let text = |text: &str| property(&format!("\"{text}\""));
    let measured = |random: &mut StdRng, dataset: Option<&str>| Instance {
        observed_at: Some(Timestamp(1_680_350_400_000_000)),
        unit_code: Some("M1".into()),
        dataset: dataset.map(Into::into),
        ..property(&value(random))
    };
    let twice = |random: &mut StdRng| {
        smallvec_of(
            ["urn:ngsi-ld:Dataset:Bottom", "urn:ngsi-ld:Dataset:Surface"]
                .map(|dataset| measured(random, Some(dataset))),
        )
    };
    let relation = format!("\"urn:ngsi-ld:Relation:{:036}\"", random.random_range(0..RELATIONS));
    let mut oxygen = measured(random, None);
    oxygen.members.push(Attribute { name: terms[8], instances: smallvec![text("1311")] });
    let point = r#"{"type":"Point","coordinates":[3.53452158,43.48562782]}"#;
    let instances = [
        smallvec![text("Name of my entity")],
        smallvec![text("A short description of my entity")],
        smallvec![text("BSS002JAWM")],
        twice(random),
        smallvec![oxygen],
        twice(random),
        smallvec![Instance::new(Kind::Relationship, relation)],
        smallvec![Instance::new(Kind::GeoProperty, point)],
    ];
    let id: u128 = random.random();
    Draft {
        id: format!("urn:ngsi-ld:Entity:{id:032x}----").into(),
        types: smallvec![terms[NAMES.len() + random.random_range(0..TYPES)]],
        attributes: terms
            .iter()
            .zip(instances)
            .map(|(name, instances)| Attribute { name: *name, instances })
            .collect(),
        ..Draft::default()
    }
}

fn smallvec_of(instances: [Instance; 2]) -> smallvec::SmallVec<[Instance; 1]> {
    instances.into_iter().collect()
}

/// One of three measured attributes over a threshold, and a condition that every entity meets, or
/// one in ten.
fn ask(terms: &[TermId], random: &mut StdRng, by_relation: bool) -> (Query, u32) {
    let threshold = random.random_range(0..100_u32);
    let path = |name: usize| Path {
        attribute: Some(terms[name]),
        members: Vec::new(),
        meta: None,
        json: Vec::new(),
        linked: None,
    };
    let compare = |name: usize, comparison: Comparison, scalar: Scalar| {
        Filter::Compare(path(name), comparison, Operand::Values(smallvec![scalar]))
    };
    let measured = random.random_range(3..6);
    let over = compare(measured, Comparison::Greater, Scalar::Number(f64::from(threshold)));
    let (name, text) = if by_relation {
        (6, format!("urn:ngsi-ld:Relation:{:036}", random.random_range(0..RELATIONS)))
    } else {
        let name = random.random_range(0..3);
        let texts = ["Name of my entity", "A short description of my entity", "BSS002JAWM"];
        (name, texts[name].to_owned())
    };
    let same = compare(name, Comparison::Equal, Scalar::Text(text.into()));
    let of_type = terms[NAMES.len() + random.random_range(0..TYPES)];
    let query = Query {
        types: Some(TypeQuery::Is(Some(of_type))),
        filter: Some(Filter::And(vec![over, same])),
        limit: PAGE,
        now: Timestamp(1_700_000_000_000_001),
        ..Query::default()
    };
    (query, threshold)
}
