//! What CPS paths and delta reports cost on the tree of the performance tests of CPS: 1,000 devices with 28 degrees, each with a
//! circuit pack and a connection port: 86,001 entries. `cargo bench -p config --bench query [devices]`.
//!
//! All pages are in memory; each figure is the best of so many rounds, for one anchor and for three of the same shape.

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::delta::{Delta, DeltaOptions, DeltaProgress};
use config::query::{Answer, Evaluation, Progress, Query};
use config::{Attempt, Depth, Edit, Label, PageCache, Pages, Place, Position, Root, Step, Tree, apply};
use lang_yang::testing::{SchemaBuilder, string};
use lang_yang::{Content, DataNode, Leaf, NodeId, Schema, Value, ValueKind};

const DEGREES: usize = 28;
const ROUNDS: usize = 15;

/// Path, and how many results it has for each thousand devices.
const QUERIES: &[(&str, Expected)] = &[
    ("/openroadm-devices", Expected::One),
    ("//openroadm-device[@ne-state=\"inservice\"]", Expected::Devices),
    ("//openroadm-device[@status=\"success\"]", Expected::Devices),
    ("//openroadm-device/ancestor::openroadm-devices", Expected::One),
    ("//openroadm-device[@status=\"success\"]/ancestor::openroadm-devices", Expected::One),
    ("//degree/ancestor::openroadm-device", Expected::Devices),
    ("//openroadm-device[@status=\"failure\"]", Expected::None),
    ("//openroadm-device/@device-id", Expected::Devices),
    ("//openroadm-device/@ne-state", Expected::One),
    ("//openroadm-device/@non-existing", Expected::None),
    ("//openroadm-device[@device-id='C201-7-1A-700']", Expected::One),
    ("/openroadm-devices/openroadm-device[@device-id='C201-7-1A-700']", Expected::One),
    ("//degree[@degree-number='3']", Expected::Devices),
    ("//connection-ports[@port-name='unique-700-9']", Expected::One),
    ("//connection-ports[@port-name='none']", Expected::None),
    ("//connection-ports[contains(@port-name,'-700-')]", Expected::Degrees),
    ("//no-such-name", Expected::None),
];

#[derive(Clone, Copy)]
enum Expected {
    None,
    One,
    Devices,
    Degrees,
}

fn schema() -> Schema {
    SchemaBuilder::new("openroadm", "or")
        .container("openroadm-devices", |devices| {
            devices.list("openroadm-device", &["device-id"], |device| {
                device
                    .leaf("device-id", string())
                    .leaf("status", string())
                    .leaf("ne-state", string())
                    .container("org-openroadm-device", |device| {
                        device.leaf("node-type", string()).list("degree", &["degree-number"], |degree| {
                            degree
                                .leaf("degree-number", string())
                                .leaf("max-wavelengths", string())
                                .list("circuit-packs", &["index"], |pack| {
                                    pack.leaf("index", string()).leaf("circuit-pack-name", string())
                                })
                                .list("connection-ports", &["index"], |port| {
                                    port.leaf("index", string())
                                        .leaf("circuit-pack-name", string())
                                        .leaf("port-name", string())
                                })
                        })
                    })
            })
        })
        .build()
}

fn child(schema: &Schema, parent: Option<NodeId>, name: &str) -> NodeId {
    schema.child(parent, None, name).expect("a node of the schema")
}

fn node(schema: &Schema, id: NodeId, leaves: &[(&str, &str)], children: Vec<DataNode>) -> DataNode {
    let leaf = |(name, text): &(&str, &str)| Leaf {
        schema: child(schema, Some(id), name),
        values: vec![Value { kind: ValueKind::Text, text: Box::from(*text) }],
    };
    DataNode { schema: id, content: Content { leaves: leaves.iter().map(leaf).collect(), children } }
}

fn device(schema: &Schema, list: NodeId, number: usize, state: &str) -> DataNode {
    let inner = child(schema, Some(list), "org-openroadm-device");
    let degree = child(schema, Some(inner), "degree");
    let (packs, ports) =
        (child(schema, Some(degree), "circuit-packs"), child(schema, Some(degree), "connection-ports"));
    let degrees = (0..DEGREES).map(|at| {
        let (digits, port) = (at.to_string(), format!("unique-{number}-{at}"));
        let pack = [("index", "1"), ("circuit-pack-name", "1/0/E1-ETH")];
        let port = [("index", "1"), ("circuit-pack-name", "1/0/E1-ETH"), ("port-name", port.as_str())];
        let below = vec![node(schema, packs, &pack, Vec::new()), node(schema, ports, &port, Vec::new())];
        node(schema, degree, &[("degree-number", &digits), ("max-wavelengths", "96")], below)
    });
    let inner = node(schema, inner, &[("node-type", "rdm")], degrees.collect());
    let id = format!("C201-7-1A-{number}");
    node(schema, list, &[("device-id", &id), ("status", "success"), ("ne-state", state)], vec![inner])
}

struct Anchor {
    root: Root,
    pages: Pages,
}

fn anchor(schema: &Schema, devices: usize, state: &str) -> Anchor {
    let top = child(schema, None, "openroadm-devices");
    let list = child(schema, Some(top), "openroadm-device");
    let pages = Pages::new(Arc::new(PageCache::new(1 << 30)));
    let mut root = Root::empty();
    let create =
        |parent: Vec<Step>, nodes| Edit::Create { parent: Place::Steps(parent), nodes, at: Position::Last };
    let mut edits = vec![create(Vec::new(), vec![node(schema, top, &[], Vec::new())].into())];
    for (version, first) in (1..).zip((0..devices).step_by(100)) {
        let numbers = first..devices.min(first + 100);
        let nodes = numbers.map(|number| device(schema, list, number, state)).collect();
        edits.push(create(vec![Step::container(top)], nodes));
        let attempt = Attempt { version, nonce: 1 };
        let applied = apply(&Tree::new(schema, &root, &pages), &edits, attempt).expect("they are valid");
        pages.cache().insert_written(&applied.pages);
        root = applied.root;
        edits.clear();
    }
    Anchor { root, pages }
}

fn best(rounds: usize, mut work: impl FnMut()) -> Duration {
    let round = || {
        let begin = Instant::now();
        work();
        begin.elapsed()
    };
    std::iter::repeat_with(round).take(rounds).min().unwrap_or_default()
}

fn ask(schema: &Schema, anchors: &[Anchor], query: &Arc<Query>) -> (usize, u64) {
    let (mut results, mut steps) = (0, 0);
    for anchor in anchors {
        let mut evaluation = Evaluation::new(Arc::clone(query), usize::MAX);
        let tree = Tree::new(schema, &anchor.root, &anchor.pages);
        let progress = evaluation.run(&tree, u64::MAX).expect("all pages are in memory");
        assert_eq!(progress, Progress::Done);
        steps += evaluation.steps();
        results += match evaluation.into_answer() {
            Answer::Entries(labels) => labels.len(),
            Answer::Values(values) => values.len(),
        };
    }
    (results, steps)
}

fn queries(out: &mut impl std::io::Write, schema: &Schema, anchors: &[Anchor], devices: usize) {
    for (text, expected) in QUERIES {
        let path = lang_cps_path::parse(text).expect("a path");
        let query = Arc::new(Query::new(schema, &path).expect("it can be asked"));
        let each = match expected {
            Expected::None => 0,
            Expected::One => 1,
            Expected::Devices => devices,
            Expected::Degrees => DEGREES,
        };
        for count in [1, anchors.len()] {
            let some = anchors.get(..count).expect("there are so many");
            let (results, steps) = ask(schema, some, &query);
            assert_eq!(results, each * count, "{text}");
            let took = best(ROUNDS, || {
                std::hint::black_box(ask(schema, some, &query));
            });
            writeln!(out, "{text} | {count} anchors | {results} results | {steps} steps | {took:?}")
                .expect("standard output is open");
        }
    }
}

fn deltas(out: &mut impl std::io::Write, schema: &Schema, devices: usize) {
    let (source, target) =
        (anchor(schema, devices * 3 / 10, "inservice"), anchor(schema, devices, "maintenance"));
    let (source, target) =
        (Tree::new(schema, &source.root, &source.pages), Tree::new(schema, &target.root, &target.pages));
    let tops = |tree: &Tree<'_>| -> Vec<Label> {
        tree.find(&[Step::container(child(schema, None, "openroadm-devices"))])
            .expect("all pages are in memory")
            .into_iter()
            .collect()
    };
    for is_grouped in [true, false] {
        for depth in [Depth::Levels(0), Depth::Levels(1), Depth::All] {
            let options = DeltaOptions { depth, is_grouped, entries_max: u64::MAX };
            let mut items = 0;
            let took = best(5, || {
                let schemas = (schema, schema);
                let mut delta = Delta::new(schemas, &tops(&source), &tops(&target), "/", options);
                items = 0;
                loop {
                    let batch =
                        delta.run(&source, &target, 1_000, u64::MAX).expect("all pages are in memory");
                    items += batch.items.len();
                    if batch.progress != DeltaProgress::More {
                        break;
                    }
                }
            });
            writeln!(out, "delta, grouped {is_grouped}, {depth:?} | {items} items | {took:?}")
                .expect("standard output is open");
        }
    }
}

fn main() {
    let devices = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(1_000);
    assert!(devices > 700, "paths ask for device 700");
    let schema = schema();
    let mut out = std::io::stdout().lock();
    let begin = Instant::now();
    let anchors: Vec<Anchor> = (0..3).map(|_| anchor(&schema, devices, "inservice")).collect();
    let records = anchors.iter().map(|anchor| anchor.root.records()).sum::<u64>();
    let bytes = anchors.iter().map(|anchor| anchor.root.bytes()).sum::<u64>();
    writeln!(out, "3 anchors, {records} entries, {bytes} bytes, made in {:?}", begin.elapsed())
        .expect("standard output is open");
    queries(&mut out, &schema, &anchors, devices);
    deltas(&mut out, &schema, devices);
}
