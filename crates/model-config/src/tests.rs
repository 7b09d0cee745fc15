//! Tests of the model as front ends use it: on the store in memory, on the worst store with two nodes, and on the embedded one.

mod kills;
mod model;
mod races;
mod reads;
mod schema_sets;
mod versions;
mod writes;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use config::{Depth, Edit, Label, PageId, Place, Position, Step};
use lang_yang::{Content, DataNode, Features, Leaf, NodeId, Schema, Value, ValueKind, YangFile};
use store::rows::Pages as RowPages;
use store::testing::rows_of_tenant;
use store::{Range, Store};

use super::*;

const NOW: Timestamp = Timestamp(1_700_000_000_000_000);

/// A list with keys, one with text that may be long, a container with leaves that depend on each other.
const SHOP: &str = r#"module shop {
  yang-version 1.1;
  namespace "urn:twinfold:test:shop";
  prefix s;
  revision 2026-01-01;
  container shop {
    leaf name { type string; }
    leaf owner { type leafref { path "../item/name"; } }
    list item {
      key name;
      leaf name { type string; }
      leaf count { type int32; }
      leaf note { type string; }
    }
  }
}"#;

fn clock() -> Clock {
    Clock::manual(NOW)
}

fn options(buckets: u32) -> ConfigOptions {
    ConfigOptions { versions_max: 5, buckets, ..ConfigOptions::recommended() }
}

fn files(text: &str) -> Vec<YangFile> {
    vec![YangFile { name: "shop.yang".into(), text: text.into() }]
}

fn schema_set_options(mode: Mode) -> SchemaSetOptions {
    SchemaSetOptions { mode, features: Features::All }
}

/// A dataspace `d` with the schema set `s`.
async fn make(configs: &Configs, mode: Mode) {
    configs.create_dataspace("d").await.unwrap();
    configs.create_schema_set("d", "s", &files(SHOP), schema_set_options(mode)).await.unwrap();
}

async fn made(store: Store, clock: Clock, buckets: u32) -> Configs {
    let configs = Configs::new(store, clock, options(buckets));
    make(&configs, Mode::Lenient).await;
    configs
}

fn node(schema: &Schema, parent: Option<NodeId>, name: &str) -> NodeId {
    schema.child(parent, None, name).unwrap()
}

fn leaf(schema: NodeId, kind: ValueKind, text: &str) -> Leaf {
    Leaf { schema, values: vec![Value { kind, text: text.into() }] }
}

/// An item of the shop.
type Item = (String, i32, String);

fn item(schema: &Schema, (name, count, note): &Item) -> DataNode {
    let list = node(schema, Some(node(schema, None, "shop")), "item");
    let of = |name: &str| node(schema, Some(list), name);
    let leaves = vec![
        leaf(of("name"), ValueKind::Text, name),
        leaf(of("count"), ValueKind::Integer, &count.to_string()),
        leaf(of("note"), ValueKind::Text, note),
    ];
    DataNode { schema: list, content: Content { leaves, children: Vec::new() } }
}

fn shop(schema: &Schema) -> Place {
    Place::Made(vec![Step::container(node(schema, None, "shop"))])
}

fn place(schema: &Schema, name: &str) -> Place {
    let shop = node(schema, None, "shop");
    let list = node(schema, Some(shop), "item");
    let keys = vec![(node(schema, Some(list), "name"), name.into())];
    Place::Steps(vec![Step::container(shop), Step::entry(list, keys)])
}

fn add(schema: &Schema, items: &[Item]) -> Edit {
    let nodes = items.iter().map(|one| item(schema, one)).collect();
    Edit::Create { parent: shop(schema), nodes, at: Position::Last }
}

fn set_count(schema: &Schema, name: &str, count: i32) -> Edit {
    let list = node(schema, Some(node(schema, None, "shop")), "item");
    let leaves = vec![leaf(node(schema, Some(list), "count"), ValueKind::Integer, &count.to_string())];
    Edit::SetLeaves { parent: place(schema, name), leaves: leaves.into() }
}

fn remove(schema: &Schema, name: &str) -> Edit {
    Edit::Delete { entry: place(schema, name) }
}

fn one(name: &str, count: i32) -> Item {
    (name.to_owned(), count, String::new())
}

/// Items with notes that make a tree of so many of them large.
fn large(count: i32, bytes: usize) -> Vec<Item> {
    (0..count).map(|number| (format!("i{number}"), number, "x".repeat(bytes))).collect()
}

/// The items of a version in their order.
async fn items(reading: &Reading) -> Result<Vec<Item>, Error> {
    let content = reading.run(|tree| tree.content(&Label::top(), Depth::All)).await?.unwrap();
    let of_leaf =
        |node: &DataNode, at: usize| node.content.leaves.get(at).map(|leaf| leaf.values[0].text.to_string());
    let item = |node: &DataNode| {
        let count = of_leaf(node, 1).map_or(0, |count| count.parse().unwrap());
        (of_leaf(node, 0).unwrap(), count, of_leaf(node, 2).unwrap_or(String::new()))
    };
    Ok(content.children.iter().flat_map(|shop| shop.content.children.iter().map(item)).collect())
}

async fn items_of(anchor: &Anchor, version: Option<VersionId>) -> Result<Vec<Item>, Error> {
    let mut attempts = 0;
    loop {
        let read = async { items(&anchor.read(version).await?).await }.await;
        match read {
            // A version was dropped while it was read, on a store that keeps nothing of what was.
            Err(Error::Contention(_)) if attempts < 100 => attempts += 1,
            read => return read,
        }
    }
}

/// Rows of pages of all anchors.
async fn page_rows(configs: &Configs) -> usize {
    let mut rows = 0;
    for partition in configs.partitions().await.unwrap() {
        let partition = keys::pages(configs.tenant(), partition.bucket);
        let mut pages = RowPages::new(configs.store(), &partition, Range::prefix(vec![b'p']), 1_000);
        while let Some(page) = pages.next().await.unwrap() {
            rows += page.len();
        }
    }
    rows
}

/// Pages that the versions of an anchor have.
async fn pages_of_versions(anchor: &Anchor) -> HashSet<PageId> {
    let mut pages = HashSet::new();
    for version in anchor.versions().await.unwrap() {
        let reading = anchor.read(Some(version.version)).await.unwrap();
        pages.extend(reading.run(config::pages_of).await.unwrap());
    }
    pages
}

/// Nothing is left of a tenant but these rows.
fn assert_rows(configs: &Configs, expected: usize) {
    assert_eq!(rows_of_tenant(configs.store(), configs.tenant().number()), expected);
}

/// Runs the job until it finds nothing.
async fn tidy(configs: &Configs) {
    for _ in 0..8 {
        if configs.tidy().await.unwrap() == Tidied::default() {
            return;
        }
    }
}

fn hour() -> Duration {
    Duration::from_hours(1)
}

fn embedded_options() -> store::EmbeddedOptions {
    store::EmbeddedOptions {
        cache_bytes: 8 << 20,
        block_cache_bytes: 8 << 20,
        memtable_bytes: 1 << 20,
        ballast_bytes_max: 64 << 10,
        disk_free_min: Some(0),
        ..store::EmbeddedOptions::recommended()
    }
}
