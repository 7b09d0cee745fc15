//! Flows of the published load test CPS-307 on the embedded store, synced, in process: an anchor is made, gets a tree of some fifty nodes from JSON,
//! one node of it is replaced, it is read, and removed. And what a leaf costs in a large tree.
//!
//! `cargo bench -p model-config --bench flows -- --data FOLDER [--flows N] [--threads N]`
//!
//! The folder has the modules and the sample of RFC 8944. Prints for each row operations a second, and CPU microseconds of the whole process for each.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "a measuring program: a panic is its answer"
)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use config::{Depth, Edit, Label, Place, Position, Step};
use lang_yang::{
    Content, DataNode, Features, Leaf, NodeId, ReadOptions, Schema, Value, ValueKind, YangFile, read_json,
};
use model_config::{Anchor, Clock, ConfigOptions, Configs, Mode, SchemaSetOptions, WriteOptions};
use store::{EmbeddedOptions, Store};

/// That of the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let option = |name: &str| arguments.iter().position(|it| it == name).map(|at| arguments[at + 1].clone());
    let data = option("--data").expect("--data FOLDER: the modules and the sample of RFC 8944");
    let flows: usize = option("--flows").map_or(20_000, |flows| flows.parse().unwrap());
    let threads: usize = option("--threads").map_or(10, |threads| threads.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    say(&format!("{:<46} {:>12} {:>10}", "row", "items/s", "CPU us"));
    runtime.block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), EmbeddedOptions::recommended()).unwrap();
        let configs = Configs::new(store.clone(), Clock::System, ConfigOptions::recommended());
        let files = modules(Path::new(&data));
        let meter = Meter::start();
        configs.create_dataspace("d").await.unwrap();
        let options = || SchemaSetOptions { mode: Mode::Lenient, features: Features::All };
        configs.create_schema_set("d", "s", &files, options()).await.unwrap();
        meter.say("upload of the modules", 1);
        let sample = fs::read(Path::new(&data).join("ietf-network-sample-rfc8944.json")).unwrap();
        rows(&configs, flows, threads, &sample).await;
        large(&configs).await;
        store.close().await.unwrap();
    });
}

fn modules(folder: &Path) -> Vec<YangFile> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let yang = paths.filter(|path| path.extension().is_some_and(|extension| extension == "yang"));
    let file = |path: std::path::PathBuf| YangFile {
        name: path.file_name().unwrap().to_string_lossy().into(),
        text: fs::read_to_string(&path).unwrap().into(),
    };
    yang.map(file).collect()
}

/// Each operation of all flows, so many tasks at once, one operation after the other.
async fn rows(configs: &Configs, flows: usize, threads: usize, sample: &[u8]) {
    let schema = configs.schema("d", "s").await.unwrap();
    let replaced = one_node(&schema, sample);
    each(configs, "make an anchor", (flows, threads), |configs, name| async move {
        configs.create_anchor("d", "s", &name).await.unwrap();
    })
    .await;
    let body: std::sync::Arc<[u8]> = sample.into();
    each(configs, "create the tree from JSON", (flows, threads), move |configs, name| {
        let body = body.clone();
        async move {
            let anchor = configs.anchor("d", &name).await.unwrap();
            let nodes = read_json(anchor.schema(), None, &body, &ReadOptions::CPS).unwrap().children.into();
            let create = Edit::Create { parent: Place::Label(Label::top()), nodes, at: Position::Last };
            anchor.write_edits(&[create], WriteOptions::default()).await.unwrap();
        }
    })
    .await;
    each(configs, "replace one node", (flows, threads), move |configs, name| {
        let replaced = replaced.clone();
        async move {
            let anchor = configs.anchor("d", &name).await.unwrap();
            anchor.write_edits(&[replaced], WriteOptions::default()).await.unwrap();
        }
    })
    .await;
    each(configs, "read the tree", (flows, threads), |configs, name| async move {
        let anchor = configs.anchor("d", &name).await.unwrap();
        let reading = anchor.read(None).await.unwrap();
        reading.run(|tree| tree.content(&Label::top(), Depth::All)).await.unwrap().unwrap();
    })
    .await;
    each(configs, "remove the anchor", (flows, threads), |configs, name| async move {
        configs.remove_anchor("d", &name).await.unwrap();
    })
    .await;
}

async fn each<F: Future<Output = ()> + Send + 'static>(
    configs: &Configs,
    row: &str,
    (flows, threads): (usize, usize),
    work: impl Fn(Configs, String) -> F + Clone + Send + Sync + 'static,
) {
    let meter = Meter::start();
    let mut tasks = Vec::new();
    for thread in 0..threads {
        let (configs, work) = (configs.clone(), work.clone());
        tasks.push(tokio::spawn(async move {
            for flow in (thread..flows).step_by(threads) {
                work(configs.clone(), format!("anchor-{flow}")).await;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    meter.say(row, flows);
}

/// The first entry of the sample's list, with another leaf.
fn one_node(schema: &Schema, sample: &[u8]) -> Edit {
    let content = read_json(schema, None, sample, &ReadOptions::CPS).unwrap();
    let networks =
        content.children.iter().find(|node| &*schema.node(node.schema).name == "networks").unwrap();
    let network =
        networks.content.children.iter().find(|node| !node.content.children.is_empty()).unwrap().clone();
    let supporting: Vec<DataNode> = network.content.children[1..].to_vec();
    let network = DataNode { content: Content { children: supporting, ..network.content }, ..network };
    let parent = Place::Steps(vec![Step::container(networks.schema)]);
    Edit::Replace { parent, nodes: [network].into(), at: None }
}

/// A list of a hundred thousand entries: it is made, then leaves of it are set.
async fn large(configs: &Configs) {
    const ENTRIES: usize = 100_000;
    const CHANGES: usize = 2_000;
    let text = "module big { namespace 'urn:big'; prefix b; container big { list entry { key id; leaf id { type uint32; } \
                leaf value { type uint32; } leaf text { type string; } } } }";
    let files = [YangFile { name: "big.yang".into(), text: text.into() }];
    let options = SchemaSetOptions { mode: Mode::Lenient, features: Features::All };
    configs.create_schema_set("d", "big", &files, options).await.unwrap();
    let anchor = configs.create_anchor("d", "big", "big").await.unwrap();
    let names = Names::of(&anchor);
    let nodes = (0..ENTRIES).map(|id| names.entry(id)).collect();
    let create =
        Edit::Create { parent: Place::Made(vec![Step::container(names.big)]), nodes, at: Position::Last };
    let meter = Meter::start();
    anchor.write_edits(&[create], WriteOptions::default()).await.unwrap();
    meter.say("entries of a large tree, made at once", ENTRIES);
    let meter = Meter::start();
    for change in 0..CHANGES {
        let id = (change * 7_919) % ENTRIES;
        anchor.write_edits(&[names.set(id, change)], WriteOptions::default()).await.unwrap();
    }
    meter.say("set a leaf of it, one after the other", CHANGES);
    let reading = anchor.read(None).await.unwrap();
    let meter = Meter::start();
    reading.run(|tree| tree.content(&Label::top(), Depth::All)).await.unwrap().unwrap();
    meter.say("entries of it, read", ENTRIES);
}

/// The nodes of the schema of the large tree.
struct Names {
    big: NodeId,
    entry: NodeId,
    id: NodeId,
    value: NodeId,
    text: NodeId,
}

impl Names {
    fn of(anchor: &Anchor) -> Self {
        let child = |parent: Option<NodeId>, name: &str| anchor.schema().child(parent, None, name).unwrap();
        let big = child(None, "big");
        let entry = child(Some(big), "entry");
        let [id, value, text] = ["id", "value", "text"].map(|name| child(Some(entry), name));
        Self { big, entry, id, value, text }
    }

    fn entry(&self, id: usize) -> DataNode {
        let number = |schema: NodeId, text: String| leaf(schema, ValueKind::Integer, text);
        let text = leaf(self.text, ValueKind::Text, format!("entry number {id} of the large tree"));
        let leaves = vec![number(self.id, id.to_string()), number(self.value, "0".into()), text];
        DataNode { schema: self.entry, content: Content { leaves, children: Vec::new() } }
    }

    fn set(&self, id: usize, value: usize) -> Edit {
        let keys = vec![(self.id, id.to_string().into())];
        let parent = Place::Steps(vec![Step::container(self.big), Step::entry(self.entry, keys)]);
        let leaves = [leaf(self.value, ValueKind::Integer, (value + 1).to_string())].into();
        Edit::SetLeaves { parent, leaves }
    }
}

fn leaf(schema: NodeId, kind: ValueKind, text: String) -> Leaf {
    Leaf { schema, values: vec![Value { kind, text: text.into() }] }
}

struct Meter {
    start: Instant,
    cpu_us: u64,
}

impl Meter {
    fn start() -> Self {
        Self { start: Instant::now(), cpu_us: cpu_us() }
    }

    fn say(&self, row: &str, items: usize) {
        let seconds = self.start.elapsed().as_secs_f64();
        let cpu = (cpu_us() - self.cpu_us) as f64 / items as f64;
        say(&format!("{row:<46} {:>12.0} {cpu:>10.2}", items as f64 / seconds));
    }
}

/// CPU of this process so far, in microseconds: ticks of a hundredth of a second.
fn cpu_us() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()) * 10_000
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
}
