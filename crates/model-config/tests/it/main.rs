//! A process that changes anchors and is killed: what it acknowledged is there, in whole versions, and nothing is left of what was not.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests panic")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use config::{Depth, Edit, Label, Place, Position, Step};
use lang_yang::{Content, DataNode, Features, Leaf, Value, ValueKind, YangFile};
use model_config::{
    Anchor, Clock, ConfigOptions, Configs, Error, Mode, SchemaSetOptions, Tenant, Tidied, WriteOptions,
};
use store::testing::{rows_of_tenant, seeds};
use store::{EmbeddedOptions, Store};

/// Says to the process that writes where its store is.
const FOLDER: &str = "TWINFOLD_TEST_CONFIG_FOLDER";
const ANCHORS: usize = 4;
/// A process that acknowledged so many changes is killed.
const CHANGES: usize = 60;
const MODULE: &str = "module m { namespace 'urn:m'; prefix m;
    container all { list entry { key id; leaf id { type uint32; } leaf text { type string; } } } }";

fn open(folder: &Path) -> (Store, Configs) {
    let options = EmbeddedOptions {
        cache_bytes: 8 << 20,
        block_cache_bytes: 8 << 20,
        memtable_bytes: 1 << 20,
        ballast_bytes_max: 64 << 10,
        disk_free_min: Some(0),
        ..EmbeddedOptions::recommended()
    };
    let store = Store::open(folder, options).unwrap();
    let options = ConfigOptions { versions_max: 4, ..ConfigOptions::recommended() };
    let configs = Configs::new(store.clone(), Clock::System, options);
    (store, configs)
}

fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(work);
}

/// The anchor of a number, made if it is not there.
async fn anchor(configs: &Configs, number: usize) -> Anchor {
    let there = |outcome: Result<(), Error>| match outcome {
        Ok(()) | Err(Error::AlreadyExists { .. }) => {}
        Err(error) => panic!("{error}"),
    };
    there(configs.create_dataspace("d").await);
    let files = [YangFile { name: "m.yang".into(), text: MODULE.into() }];
    let options = SchemaSetOptions { mode: Mode::Lenient, features: Features::All };
    there(configs.create_schema_set("d", "s", &files, options).await.map(drop));
    let name = format!("a{number}");
    there(configs.create_anchor("d", "s", &name).await.map(drop));
    configs.anchor("d", &name).await.unwrap()
}

/// The change that makes version `version`: one more entry, of its number. Those of the first anchor make a tree with pages.
fn entry(anchor: &Anchor, version: u64, number: usize) -> Edit {
    let schema = anchor.schema();
    let all = schema.child(None, None, "all").unwrap();
    let list = schema.child(Some(all), None, "entry").unwrap();
    let leaf = |name: &str, kind: ValueKind, text: String| Leaf {
        schema: schema.child(Some(list), None, name).unwrap(),
        values: vec![Value { kind, text: text.into() }],
    };
    let text = "x".repeat(if number == 0 { 1_500 } else { 10 });
    let leaves =
        vec![leaf("id", ValueKind::Integer, version.to_string()), leaf("text", ValueKind::Text, text)];
    let node = DataNode { schema: list, content: Content { leaves, children: Vec::new() } };
    Edit::Create { parent: Place::Made(vec![Step::container(all)]), nodes: [node].into(), at: Position::Last }
}

/// What the process does that is killed; a test of its own where no folder is given, and then nothing.
#[test]
#[expect(clippy::disallowed_methods, reason = "a switch of the test run itself")]
fn writer() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    run(async {
        let (_store, configs) = open(Path::new(&folder));
        let mut writers = tokio::task::JoinSet::new();
        for number in 0..ANCHORS {
            writers.spawn(write_for_ever(anchor(&configs, number).await, number));
        }
        writers.join_all().await;
    });
}

async fn write_for_ever(anchor: Anchor, number: usize) {
    let mut version = anchor.version().await.unwrap();
    loop {
        let options = WriteOptions { if_version: Some(version), ..WriteOptions::default() };
        let edit = entry(&anchor, version.0 + 1, number);
        let written = anchor.write_edits(&[edit], options).await.unwrap();
        assert_eq!(written.version.0, version.0 + 1);
        version = written.version;
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nacknowledged {number} {version}").unwrap();
        out.flush().unwrap();
    }
}

/// Runs the writer, kills it after some changes, and tells the last version that it acknowledged of each anchor.
fn kill_a_writer(folder: &Path, changes: usize) -> HashMap<usize, u64> {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command.args(["--exact", "writer", "--nocapture", "--test-threads=1"]).env(FOLDER, folder);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (mut acknowledged, mut count) = (HashMap::new(), 0);
    for line in lines {
        let line = line.unwrap();
        let Some(said) = line.strip_prefix("acknowledged ") else { continue };
        // The last line may be cut.
        let Some((number, version)) = said.split_once(' ') else { continue };
        let (Ok(number), Ok(version)) = (number.parse(), version.parse::<u64>()) else { continue };
        let last = acknowledged.entry(number).or_insert(version);
        *last = version.max(*last);
        count += 1;
        if count == changes {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(count >= changes, "the writer ended by itself after {count} changes");
    acknowledged
}

/// Each version that is kept has as many entries as its number says, in their order.
async fn check(configs: &Configs, number: usize, acknowledged: u64) {
    let anchor = anchor(configs, number).await;
    let head = anchor.version().await.unwrap().0;
    assert!(
        (acknowledged..=acknowledged + 1).contains(&head),
        "anchor {number}: {head}, {acknowledged} acknowledged"
    );
    for info in anchor.versions().await.unwrap() {
        let reading = anchor.read(Some(info.version)).await.unwrap();
        let content = reading.run(|tree| tree.content(&Label::top(), Depth::All)).await.unwrap().unwrap();
        let entries = content.children.first().map_or(&[][..], |all| &all.content.children);
        let ids: Vec<u64> =
            entries.iter().map(|entry| entry.content.leaves[0].values[0].text.parse().unwrap()).collect();
        assert_eq!(
            ids,
            (1..=info.version.0).collect::<Vec<_>>(),
            "anchor {number}, version {}",
            info.version
        );
    }
}

#[test]
fn what_a_killed_process_acknowledged_is_there() {
    for seed in seeds(1) {
        let folder = tempfile::tempdir().unwrap();
        let mut last: HashMap<usize, u64> = HashMap::new();
        for round in 0..3 {
            let changes = CHANGES + usize::try_from((seed * 7 + round * 13) % 29).unwrap();
            last.extend(kill_a_writer(folder.path(), changes));
            run(async {
                let (store, configs) = open(folder.path());
                for number in 0..ANCHORS {
                    let Some(acknowledged) = last.get(&number) else { continue };
                    check(&configs, number, *acknowledged).await;
                }
                store.close().await.unwrap();
            });
        }
        run(async {
            let (store, configs) = open(folder.path());
            for number in 0..ANCHORS {
                anchor(&configs, number).await;
                configs.remove_anchor("d", &format!("a{number}")).await.unwrap();
            }
            configs.clean_dataspace("d").await.unwrap();
            configs.remove_dataspace("d").await.unwrap();
            while configs.tidy().await.unwrap() != Tidied::default() {}
            let rows = rows_of_tenant(&store, Tenant::default().number());
            assert_eq!(rows, 1, "only the number of dataspaces is left");
            store.close().await.unwrap();
        });
    }
}
