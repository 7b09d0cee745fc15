//! What reading and changing a tree of 86,001 entries costs: 1,000 devices, each of 86.
//!
//! `cargo bench -p config --bench tree`; the figures are the best of several rounds.

use std::hint::black_box;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::{
    Applied, Attempt, Depth, Edit, Label, PageCache, Pages, Place, Position, Root, Step, Tree, apply, diff,
};
use lang_yang::testing::{SchemaBuilder, string};
use lang_yang::{Content, DataNode, Leaf, NodeId, Schema, Value, ValueKind};

const DEVICES: usize = 1_000;
/// Of each device: itself, two containers, and these.
const INTERFACES: usize = 83;

fn schema() -> Schema {
    SchemaBuilder::new("devices", "d")
        .container("devices", |devices| {
            devices.list("device", &["name"], |device| {
                device
                    .leaf("name", string())
                    .leaf("vendor", string())
                    .container("system", |system| system.leaf("host", string()).leaf("contact", string()))
                    .container("interfaces", |interfaces| {
                        interfaces.list("interface", &["id"], |interface| {
                            let interface = interface.leaf("id", string()).leaf("state", string());
                            interface.leaf("speed", string()).leaf_list("tag", string())
                        })
                    })
            })
        })
        .build()
}

struct Bench {
    schema: Schema,
    pages: Pages,
}

impl Bench {
    fn id(&self, name: &str) -> NodeId {
        *self.schema.by_name(name).first().expect("a node of the schema")
    }

    fn leaf(&self, name: &str, text: &str) -> Leaf {
        Leaf { schema: self.id(name), values: vec![Value { kind: ValueKind::Text, text: text.into() }] }
    }

    fn node(&self, name: &str, leaves: Vec<Leaf>, children: Vec<DataNode>) -> DataNode {
        DataNode { schema: self.id(name), content: Content { leaves, children } }
    }

    fn device(&self, number: usize) -> DataNode {
        let interface = |at: usize| {
            let leaves = vec![
                self.leaf("id", &format!("eth{at}")),
                self.leaf("state", "up"),
                self.leaf("speed", "100000"),
                self.leaf("tag", &format!("tag-{number}-{at}")),
            ];
            self.node("interface", leaves, Vec::new())
        };
        let interfaces = self.node("interfaces", Vec::new(), (0..INTERFACES).map(interface).collect());
        let system = vec![self.leaf("host", &format!("host-{number}")), self.leaf("contact", "noc")];
        let system = self.node("system", system, Vec::new());
        let leaves = vec![self.leaf("name", &name(number)), self.leaf("vendor", "acme")];
        self.node("device", leaves, vec![system, interfaces])
    }

    fn tree<'t>(&'t self, root: &'t Root) -> Tree<'t> {
        Tree::new(&self.schema, root, &self.pages)
    }

    fn to_device(&self, number: usize) -> Vec<Step> {
        let key = (self.id("name"), name(number).into());
        vec![Step::container(self.id("devices")), Step::entry(self.id("device"), vec![key])]
    }

    fn apply(&self, root: &Root, edit: &Edit, version: u64) -> Applied {
        let attempt = Attempt { version, nonce: 1 };
        apply(&self.tree(root), std::slice::from_ref(edit), attempt).expect("the edit can be done")
    }

    /// The same, and the pages are in memory.
    fn commit(&self, root: &Root, edit: &Edit, version: u64) -> Root {
        let applied = self.apply(root, edit, version);
        self.pages.cache().insert_written(&applied.pages);
        applied.root
    }
}

fn name(number: usize) -> String {
    format!("device-{number:05}")
}

fn report(out: &mut impl Write, what: &str, rounds: u32, mut run: impl FnMut(u32)) -> io::Result<()> {
    let mut best = Duration::MAX;
    for round in 0..rounds {
        let start = Instant::now();
        run(round);
        best = best.min(start.elapsed());
    }
    writeln!(out, "{what:40} {best:>12.2?}")
}

fn main() -> io::Result<()> {
    let out = &mut io::stdout();
    let bench = Bench { schema: schema(), pages: Pages::new(Arc::new(PageCache::new(4 << 30))) };
    let all = bench.node("devices", Vec::new(), (0..DEVICES).map(|number| bench.device(number)).collect());
    let top = || Place::Label(Label::top());
    let create = Edit::Create { parent: top(), nodes: [all].into(), at: Position::Last };
    report(out, "build", 5, |round| drop(black_box(bench.apply(&Root::empty(), &create, u64::from(round)))))?;
    let root = bench.commit(&Root::empty(), &create, 10);
    writeln!(out, "{root:?}")?;
    let device = bench.to_device(777);
    report(out, "find a device, 100 times", 50, |_| {
        for _ in 0..100 {
            let label = bench.tree(&root).find(&device).expect("all pages are there").expect("it is there");
            black_box(bench.tree(&root).record(&label).expect("all pages are there"));
        }
    })?;
    let label = bench.tree(&root).find(&device).expect("all pages are there").expect("it is there");
    report(out, "content of a device", 50, |_| {
        drop(black_box(bench.tree(&root).content(&label, Depth::All)));
    })?;
    let set = |text: &str| Edit::SetLeaves {
        parent: Place::Steps(device.clone()),
        leaves: [bench.leaf("vendor", text)].into(),
    };
    let change = set("other");
    report(out, "change a leaf", 200, |_| drop(black_box(bench.apply(&root, &change, 11))))?;
    let changed = bench.apply(&root, &change, 11);
    writeln!(out, "  writes {} pages, {} bytes", changed.pages.len(), bytes(&changed))?;
    let entry = Edit::Create {
        parent: Place::Steps(vec![Step::container(bench.id("devices"))]),
        nodes: [bench.node("device", vec![bench.leaf("name", "new")], Vec::new())].into(),
        at: Position::Last,
    };
    report(out, "append an entry", 200, |_| drop(black_box(bench.apply(&root, &entry, 12))))?;
    let appended = bench.apply(&root, &entry, 12);
    writeln!(out, "  writes {} pages, {} bytes", appended.pages.len(), bytes(&appended))?;
    report(out, "whole scan", 20, |_| {
        let tree = bench.tree(&root);
        let mut cursor = tree.cursor(&Label::top());
        let mut count = 0;
        while let Some((_, record)) = cursor.next().expect("all pages are there") {
            count += 1 + usize::from(record.is_empty());
        }
        assert!(count > DEVICES * 86);
    })?;
    report(out, "only devices", 50, |_| {
        let tree = bench.tree(&root);
        let mut cursor = tree.cursor(&Label::top()).only(&[bench.id("device")]);
        let mut count = 0;
        while let Some((_, record)) = cursor.next().expect("all pages are there") {
            count += usize::from(!record.is_empty());
        }
        assert_eq!(count, DEVICES);
    })?;
    let other = bench.commit(&root, &change, 13);
    report(out, "difference of one change", 200, |_| {
        let mut differences = diff(bench.tree(&root), bench.tree(&other), &Label::top());
        assert!(differences.next().expect("all pages are there").is_some());
        assert!(differences.next().expect("all pages are there").is_none());
    })?;
    let delete = Edit::Delete { entry: top() };
    report(out, "delete everything", 20, |_| drop(black_box(bench.apply(&root, &delete, 14))))?;
    series(out, &bench)
}

fn bytes(applied: &Applied) -> usize {
    applied.pages.iter().map(|(_, bytes)| bytes.len()).sum()
}

/// One entry a version, again and again.
fn series(out: &mut impl Write, bench: &Bench) -> io::Result<()> {
    let (mut root, mut written, mut start) = (Root::empty(), 0, Instant::now());
    root = bench.commit(
        &root,
        &Edit::Create {
            parent: Place::Label(Label::top()),
            nodes: [bench.node("devices", Vec::new(), Vec::new())].into(),
            at: Position::Last,
        },
        100,
    );
    for number in 0..100_000_u32 {
        if matches!(number, 1_000 | 10_000) {
            writeln!(out, "{number:>7} entries: {:?}, {written} bytes of pages", start.elapsed())?;
        }
        let edit = Edit::Create {
            parent: Place::Steps(vec![Step::container(bench.id("devices"))]),
            nodes: [bench.node("device", vec![bench.leaf("name", &format!("d{number}"))], Vec::new())].into(),
            at: Position::Last,
        };
        let applied = bench.apply(&root, &edit, 1_000 + u64::from(number));
        bench.pages.cache().insert_written(&applied.pages);
        written += bytes(&applied);
        bench.pages.release();
        root = applied.root;
        if number == 0 {
            start = Instant::now();
        }
    }
    writeln!(out, "100,000 entries: {:?}, {written} bytes of pages; {root:?}", start.elapsed())
}
