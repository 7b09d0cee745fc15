//! What a body of 400,000 small entries costs: read as JSON and as XML, created, merged, replaced and moved.
//!
//! `cargo bench -p config --bench body`; each step is done once.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Instant;

use config::{
    Applied, Attempt, Edit, Label, LeafLists, MergeOptions, PageCache, Pages, Place, Position, Root, Step,
    Tree, apply,
};
use lang_yang::testing::{SchemaBuilder, string};
use lang_yang::{Content, ReadOptions, Schema, read_json, read_xml};

const ENTRIES: usize = 400_000;
/// Moves of one version, each to another place of the list.
const MOVES: usize = 1_000;

fn schema() -> Schema {
    SchemaBuilder::new("lamps", "l")
        .container("street", |street| {
            street.list("lamp", &["id"], |lamp| lamp.leaf("id", string()).leaf("w", string()))
        })
        .build()
}

fn json() -> String {
    let mut text = String::from("{\"lamps:street\":{\"lamp\":[");
    for number in 0..ENTRIES {
        let comma = if number > 0 { "," } else { "" };
        write!(text, "{comma}{{\"id\":\"{number}\",\"w\":\"{}\"}}", number % 7).expect("texts take all");
    }
    text + "]}}"
}

fn xml() -> String {
    let mut text = String::from("<street xmlns=\"urn:lamps\">");
    for number in 0..ENTRIES {
        write!(text, "<lamp><id>{number}</id><w>{}</w></lamp>", number % 7).expect("texts take all");
    }
    text + "</street>"
}

struct Bench {
    schema: Schema,
    pages: Pages,
    version: u64,
}

impl Bench {
    fn apply(&mut self, name: &str, root: &Root, edits: &[Edit]) -> Root {
        self.version += 1;
        let attempt = Attempt { version: self.version, nonce: 1 };
        let tree = Tree::new(&self.schema, root, &self.pages);
        let applied = timed(name, || apply(&tree, edits, attempt));
        let Applied { root, pages, .. } = applied.expect("an edit that can be done");
        timed("  its pages are kept", || self.pages.pin_written(&pages));
        root
    }
}

fn timed<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    let elapsed = start.elapsed();
    let (time, peak) = (elapsed.as_secs_f64() * 1e3, peak_megabytes());
    writeln!(io::stdout(), "{name:40} {time:8.1} ms, {peak:5} MiB at most so far").expect("stdout takes it");
    done
}

/// The most memory that the process has taken so far; 0 where the system does not say.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_else(|_| String::new());
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.map_or(0, |kilobytes| kilobytes / 1024)
}

fn main() {
    let schema = schema();
    let (json, xml) = (json(), xml());
    let read = |text: &str| read_json(&schema, None, text.as_bytes(), &ReadOptions::CPS).expect("data");
    let options = ReadOptions { nodes_max: usize::MAX, ..ReadOptions::CPS };
    writeln!(io::stdout(), "{} bytes of JSON, {} of XML", json.len(), xml.len()).expect("stdout takes it");
    let content: Content = timed("read as JSON", || read(&json));
    let nodes: Arc<[_]> = content.children.into();
    let top = || Place::Label(Label::top());
    let mut bench = Bench { schema, pages: Pages::new(Arc::new(PageCache::new(usize::MAX))), version: 0 };
    let create = Edit::Create { parent: top(), nodes: Arc::clone(&nodes), at: Position::Last };
    let root = bench.apply("created", &Root::empty(), &[create]);
    let again =
        timed("read as XML", || read_xml(&bench.schema, None, xml.as_bytes(), &options).expect("data"));
    assert!(again.children == *nodes, "both forms give the same");
    timed("what was read is let go of", || drop(again));
    let options = MergeOptions { must_exist: false, leaf_lists: LeafLists::Add };
    let merge = Edit::Merge { parent: top(), nodes: Arc::clone(&nodes), options };
    bench.apply("merged into itself", &root, &[merge]);
    let replace = Edit::Replace { parent: top(), nodes: Arc::clone(&nodes), at: None };
    bench.apply("replaced by itself", &root, &[replace]);
    let id = |name: &str| *bench.schema.by_name(name).first().expect("a node of the schema");
    let (street, lamp, key) = (id("street"), id("lamp"), id("id"));
    let lamp = |number: usize| {
        Place::Steps(vec![Step::container(street), Step::entry(lamp, vec![(key, number.to_string().into())])])
    };
    let moves: Vec<Edit> = (0..MOVES)
        .map(|number| Edit::Move { entry: lamp(number * 399), to: Position::Before(lamp(number * 13 + 7)) })
        .collect();
    bench.apply("one entry is moved", &root, moves.get(1..2).expect("there are more"));
    bench.apply("1,000 entries are moved", &root, &moves);
}
