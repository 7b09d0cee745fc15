//! Times the pure steps of writes on an entity shaped like that of a published load test: eight
//! attributes, ten instances, one type.
//!
//! `cargo bench -p model-entities --bench apply`: microseconds per step.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_macros,
    reason = "a bench reports to its user and may stop"
)]

use std::hint::black_box;
use std::time::Instant;

use entity::apply::{Outcome, WriteRules, apply};
use entity::index::{Indexed, index_rows};
use model_entities::{
    Attribute, Clock, Draft, Entities, EntityView, IndexPolicy, Instance, Kind, MergeOptions, Operation,
    Options, TenantName, TermId, Timestamp, encode,
};
use smallvec::smallvec;
use store::{MemoryOptions, Store};

const ID: &str = "urn:ngsi-ld:Entity:6b4c1b3e-7c1d-4f0a-9d9e-0f1e2d3c4b5a";
const ROUNDS: u32 = 200_000;
const NOW: Timestamp = Timestamp(1_700_000_000_000_000);

fn attribute(name: u32, instance: Instance) -> Attribute {
    Attribute { name: TermId(name), instances: smallvec![instance] }
}

fn reading(value: &str, dataset: Option<&str>) -> Instance {
    Instance {
        observed_at: Some(NOW),
        unit_code: Some("CEL".into()),
        dataset: dataset.map(Into::into),
        ..Instance::new(Kind::Property, value)
    }
}

fn twice(name: u32, values: [&str; 2]) -> Attribute {
    let [bottom, surface] = values;
    let instances = smallvec![
        reading(bottom, Some("urn:ngsi-ld:Dataset:Bottom")),
        reading(surface, Some("urn:ngsi-ld:Dataset:Surface"))
    ];
    Attribute { name: TermId(name), instances }
}

fn template() -> Draft {
    let text = |value: &str| Instance::new(Kind::Property, value);
    let mut oxygen = reading("8.9", None);
    oxygen.members.push(attribute(9, text("\"1311\"")));
    let relation = Instance::new(Kind::Relationship, "\"urn:ngsi-ld:Dataset:SurfaceWaterMonitoring\"");
    let place = "{\"type\":\"Point\",\"coordinates\":[3.53452158,43.48562782]}";
    Draft {
        id: ID.into(),
        types: smallvec![TermId(0)],
        attributes: vec![
            attribute(1, text("\"Name of my entity\"")),
            attribute(2, text("\"A short description of my entity\"")),
            attribute(3, text("\"BSS002JAWM\"")),
            twice(4, ["0.34", "0.41"]),
            attribute(5, oxygen),
            twice(6, ["10.9", "12.9"]),
            attribute(7, relation),
            attribute(8, Instance::new(Kind::GeoProperty, place)),
        ],
        ..Draft::default()
    }
}

fn think(stored: Option<&[u8]>, operation: &Operation) -> Outcome {
    let view = stored.map(|stored| EntityView::parse(stored).unwrap());
    apply(view.as_ref(), ID, operation, NOW, WriteRules::FREE).unwrap()
}

fn count_index_rows(stored: &[u8]) -> usize {
    index_rows(&EntityView::parse(stored).unwrap(), &Indexed::All).count()
}

fn time(name: &str, mut step: impl FnMut()) {
    for _ in 0..ROUNDS / 10 {
        step();
    }
    let start = Instant::now();
    for _ in 0..ROUNDS {
        step();
    }
    println!("{name}: {:.3} us", start.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS));
}

fn main() {
    let draft = template();
    let stored = encode(&draft, NOW, NOW);
    println!("{} bytes stored, {} index rows", stored.len(), count_index_rows(&stored));
    time("encode", || {
        black_box(encode(black_box(&draft), NOW, NOW));
    });
    time("parse", || {
        black_box(EntityView::parse(black_box(&stored)).unwrap());
    });
    time("index rows of all", || {
        black_box(count_index_rows(black_box(&stored)));
    });
    let step = |name: &str, stored: Option<&[u8]>, operation: Operation| {
        time(name, || {
            black_box(think(black_box(stored), &operation));
        });
    };
    step("create", None, Operation::Create(draft));
    let mut patch = reading("57.25", None);
    (patch.unit_code, patch.kind) = (None, None);
    step("partial update", Some(&stored), Operation::PatchAttribute(attribute(5, patch)));
    let fragment = Draft {
        attributes: vec![
            twice(4, ["51.5", "52.5"]),
            attribute(5, reading("53.5", None)),
            twice(6, ["54.5", "55.5"]),
        ],
        ..Draft::default()
    };
    step("update of three attributes", Some(&stored), Operation::Update(fragment.clone()));
    step("merge of three attributes", Some(&stored), Operation::Merge(fragment, MergeOptions::default()));
    step("delete", Some(&stored), Operation::Delete);
    handle();
}

/// The same through the handle, on the memory store: with its commits, and a runtime.
fn handle() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let store =
        Store::memory(MemoryOptions { clock: Clock::System, feed: store::FeedOptions::recommended() });
    let options = Options {
        buckets: 1,
        tenants_max: 1_000,
        terms_max: 10_000,
        index: IndexPolicy::All,
        entity_bytes_max: 1 << 20,
        scan_entities_max: 1_000_000,
        sort_entities_max: 100_000,
        history: model_entities::HistoryPolicy::default(),
    };
    let entities = runtime.block_on(Entities::new(store, options).tenant(&TenantName::default())).unwrap();
    runtime.block_on(entities.apply(ID, Operation::Create(template()), NOW)).unwrap();
    time("get through the handle, memory store", || {
        black_box(runtime.block_on(entities.get(ID, NOW)).unwrap());
    });
    let mut value = 0_u32;
    time("partial update through the handle, memory store", || {
        value += 1;
        let patch = Instance { kind: None, ..Instance::new(Kind::Property, value.to_string()) };
        let operation = Operation::PatchAttribute(attribute(5, patch));
        black_box(runtime.block_on(entities.apply(ID, operation, NOW)).unwrap());
    });
}
