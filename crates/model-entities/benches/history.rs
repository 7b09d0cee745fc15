//! What recording costs a partial update, and what it costs to aggregate a long history.
//!
//! `cargo bench -p model-entities --bench history [patches]`: first partial updates on an embedded store by 64 writers, with
//! recording off and on in turns; then the eight methods over five attributes of as many patches (100,000 by default)
//! of random doubles, in buckets of a second, 300 patches each.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_macros,
    clippy::cast_precision_loss,
    reason = "a bench reports to its user and may stop"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use model_entities::{
    AggregateMethod, Attribute, Draft, Entities, HistoryPolicy, HistoryRequest, IndexPolicy, Instance, Kind,
    Operation, Options, Period, TenantEntities, TermId, TimeProperty, TimeSpan,
};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use smallvec::smallvec;
use store::{Clock, Durability, EmbeddedOptions, MemoryOptions, Store, TenantName, Timestamp};

const WRITERS: u32 = 64;
const ROUND: Duration = Duration::from_secs(2);
const START: i64 = 1_700_000_000_000_000;

fn options(history: HistoryPolicy) -> Options {
    Options {
        buckets: 1,
        tenants_max: 1_000,
        terms_max: 10_000,
        index: IndexPolicy::All,
        entity_bytes_max: 1 << 20,
        scan_entities_max: 1_000_000,
        sort_entities_max: 100_000,
        history,
    }
}

/// Processor time of this process, all threads.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<i64> =
        stat.rsplit(") ").next().unwrap().split(' ').filter_map(|field| field.parse().ok()).collect();
    // User and system time, in hundredths of a second; the state before them is no number.
    Duration::from_millis((fields[10] + fields[11]).unsigned_abs() * 10)
}

fn say(text: &str) {
    println!("{text}");
}

fn reading(name: u32, value: f64, now: i64, dataset: Option<&str>) -> Attribute {
    let instance = Instance {
        observed_at: Some(Timestamp(now)),
        dataset: dataset.map(Into::into),
        ..Instance::new(Kind::Property, serde_json::to_string(&value).unwrap())
    };
    Attribute { name: TermId(name), instances: smallvec![instance] }
}

fn draft(id: &str, attributes: Vec<Attribute>) -> Draft {
    Draft { id: id.into(), types: smallvec![TermId(1)], attributes, ..Draft::default() }
}

/// Partial updates of one attribute of ten, by writers on entities of their own: how many in a second, and microseconds
/// of processor for each.
async fn updates(history: HistoryPolicy) -> (f64, f64) {
    let folder = tempfile::tempdir().unwrap();
    let durability = Durability::Interval(Duration::from_millis(200));
    let embedded = EmbeddedOptions { durability, ..EmbeddedOptions::recommended() };
    let store = Store::open(folder.path(), embedded).unwrap();
    let all = Entities::new(store.clone(), options(history));
    let entities = all.tenant(&TenantName::default()).await.unwrap();
    let folds = {
        let (all, entities) = (all.clone(), entities.clone());
        tokio::spawn(async move {
            loop {
                let job = all.next_to_fold().await;
                // The store closes while the last fold goes on.
                drop(entities.fold_history(&job.id).await);
            }
        })
    };
    let (begin, processor) = (Instant::now(), processor_time());
    let writer = |writer: u32| {
        let entities = entities.clone();
        tokio::spawn(async move {
            let id = format!("urn:ngsi-ld:Device:{writer}");
            let ten = (10..20).map(|name| reading(name, 1.5, START, None)).collect();
            entities.apply(&id, Operation::Create(draft(&id, ten)), Timestamp(START)).await.unwrap();
            let mut count = 0_u32;
            while begin.elapsed() < ROUND {
                count += 1;
                let now = START + i64::from(count) * 1000;
                let operation = Operation::PatchAttribute(reading(15, f64::from(count) / 4.0, now, None));
                entities.apply(&id, operation, Timestamp(now)).await.unwrap();
            }
            count
        })
    };
    let writers: Vec<_> = (0..WRITERS).map(writer).collect();
    let mut count = 0;
    for writer in writers {
        count += writer.await.unwrap();
    }
    let rate = f64::from(count) / begin.elapsed().as_secs_f64();
    let cost = (processor_time() - processor).as_secs_f64() * 1e6 / f64::from(count);
    folds.abort();
    store.close().await.unwrap();
    (rate, cost)
}

async fn long_history(patches: i64) -> TenantEntities {
    let store =
        Store::memory(MemoryOptions { clock: Clock::System, feed: store::FeedOptions::recommended() });
    let entities = Entities::new(store, options(HistoryPolicy::default()));
    let entities = entities.tenant(&TenantName::default()).await.unwrap();
    let mut random = SmallRng::seed_from_u64(7);
    for patch in 0..patches {
        let now = START + patch * 3333;
        let mut readings: Vec<Attribute> = vec![reading(10, random.random::<f64>() * 100.0, now, None)];
        for (name, count) in [(11, 2), (12, 2)] {
            let datasets = ["urn:ngsi-ld:Dataset:1", "urn:ngsi-ld:Dataset:2"];
            let instances = datasets.iter().take(count).map(|dataset| {
                reading(name, random.random::<f64>() * 100.0, now, Some(dataset)).instances.remove(0)
            });
            readings.push(Attribute { name: TermId(name), instances: instances.collect() });
        }
        let operation = Operation::UpsertUpdate(draft("urn:x:1", readings));
        entities.apply("urn:x:1", operation, Timestamp(now)).await.unwrap();
        if patch % 256 == 255 {
            entities.fold_history("urn:x:1").await.unwrap();
        }
    }
    entities
}

async fn aggregates(patches: i64) {
    let begin = Instant::now();
    let entities = long_history(patches).await;
    say(&format!(
        "{patches} patches of five instances: {:.1} us each, folded",
        begin.elapsed().as_secs_f64() * 1e6 / patches as f64
    ));
    let time = TimeProperty::ObservedAt;
    let request =
        HistoryRequest { time, span: TimeSpan::after(Timestamp(START - 1)), ..HistoryRequest::all(1 << 30) };
    let second = Period::parse("PT1S").unwrap();
    for method in [
        AggregateMethod::TotalCount,
        AggregateMethod::DistinctCount,
        AggregateMethod::Sum,
        AggregateMethod::Avg,
        AggregateMethod::Min,
        AggregateMethod::Max,
        AggregateMethod::Stddev,
        AggregateMethod::Sumsq,
    ] {
        let processor = processor_time();
        for _ in 0..50 {
            black_box(
                entities.aggregate_history("urn:x:1", &request, &[method], Some(&second)).await.unwrap(),
            );
        }
        say(&format!(
            "{method:?} in buckets of PT1S: {:.2} ms",
            (processor_time() - processor).as_secs_f64() * 1e3 / 50.0
        ));
    }
    let begin = Instant::now();
    black_box(
        entities.read_history("urn:x:1", &HistoryRequest { last_n: Some(100), ..request }).await.unwrap(),
    );
    say(&format!("the last 100: {:.2} ms", begin.elapsed().as_secs_f64() * 1e3));
}

fn main() {
    let patches = std::env::args().filter_map(|text| text.parse().ok()).next().unwrap_or(100_000);
    let many = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    many.block_on(async {
        for _ in 0..3 {
            let (off, off_cost) = updates(HistoryPolicy::off()).await;
            let (on, on_cost) = updates(HistoryPolicy::default()).await;
            say(&format!(
                "partial updates a second: {off:.0} ({off_cost:.1} us of processor) without, {on:.0} ({on_cost:.1} us) with history"
            ));
        }
    });
    // One thread: wall clock is then the processor's.
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(aggregates(patches));
}
