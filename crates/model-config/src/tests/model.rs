//! Random operations, one after the other, against a plain model: lists of items for each version.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

/// What should be there of an anchor: its versions, oldest first, each with its items in their order.
#[derive(Debug, Default)]
struct Model {
    versions: BTreeMap<u64, Vec<Item>>,
    head: u64,
}

impl Model {
    fn new() -> Self {
        Self { versions: BTreeMap::from([(0, Vec::new())]), head: 0 }
    }

    fn head(&self) -> &Vec<Item> {
        &self.versions[&self.head]
    }

    fn push(&mut self, items: Vec<Item>) {
        self.head += 1;
        self.versions.insert(self.head, items);
        while self.versions.len() > options(1).versions_max {
            self.versions.pop_first();
        }
    }
}

fn given(random: &mut StdRng) -> Item {
    let bytes = if random.random_ratio(1, 4) { random.random_range(0..6_000) } else { 20 };
    (format!("i{}", random.random_range(0..60)), random.random_range(0..5), "n".repeat(bytes))
}

/// One random change: the edits, and the items that they make.
fn change(random: &mut StdRng, schema: &Schema, head: &[Item]) -> (Edit, Option<Vec<Item>>) {
    let mut items = head.to_vec();
    match random.random_range(0..10) {
        0..=3 => {
            let mut new: Vec<Item> = (0..random.random_range(1..12)).map(|_| given(random)).collect();
            new.sort_by(|one, two| one.0.cmp(&two.0));
            new.dedup_by(|one, two| one.0 == two.0);
            let edit = add(schema, &new);
            if items.iter().any(|(name, ..)| new.iter().any(|(other, ..)| name == other)) {
                return (edit, None);
            }
            items.extend(new);
            (edit, Some(items))
        }
        4..=6 => {
            let (name, count, _) = given(random);
            let edit = set_count(schema, &name, count);
            let Some(found) = items.iter_mut().find(|item| item.0 == name) else { return (edit, None) };
            found.1 = count;
            (edit, Some(items))
        }
        7..=8 => {
            let (name, ..) = given(random);
            let edit = remove(schema, &name);
            let before = items.len();
            items.retain(|item| item.0 != name);
            (edit, (items.len() < before).then_some(items))
        }
        _ => {
            let keep = random.random_range(0..=items.len());
            items.truncate(keep);
            let list = node(schema, Some(node(schema, None, "shop")), "item");
            let nodes = items.iter().map(|one| item(schema, one)).collect();
            (Edit::ReplaceList { parent: shop(schema), list, nodes }, Some(items))
        }
    }
}

async fn step(random: &mut StdRng, configs: &Configs, model: &mut Model) {
    let anchor = configs.anchor("d", "a").await.unwrap();
    if random.random_ratio(1, 8) {
        let versions: Vec<u64> = model.versions.keys().copied().collect();
        let to = versions[random.random_range(0..versions.len())];
        let written = anchor.roll_back(VersionId(to), WriteOptions::default()).await.unwrap();
        if model.versions[&to] != *model.head() || written.version.0 > model.head {
            model.push(model.versions[&to].clone());
        }
        assert_eq!(written.version.0, model.head);
        return;
    }
    let (edit, becomes) = change(random, anchor.schema(), model.head());
    let dry_run = random.random_ratio(1, 8);
    let written = anchor.write_edits(&[edit], WriteOptions { dry_run, ..WriteOptions::default() }).await;
    match becomes {
        None => assert!(matches!(written, Err(Error::Edit(_))), "{written:?}"),
        Some(_) if dry_run => assert_eq!(written.unwrap().version.0, model.head),
        Some(items) => {
            let written = written.unwrap();
            // What changes nothing makes no version; where pages are written anew for it, it may.
            if written.version.0 > model.head {
                model.push(items);
            } else {
                assert_eq!(items, *model.head());
            }
            assert_eq!(written.version.0, model.head);
        }
    }
}

async fn check(configs: &Configs, model: &Model) {
    let anchor = configs.anchor("d", "a").await.unwrap();
    let versions: Vec<u64> = anchor.versions().await.unwrap().iter().map(|info| info.version.0).collect();
    assert_eq!(versions, model.versions.keys().copied().collect::<Vec<_>>());
    for (version, expected) in &model.versions {
        assert_eq!(items_of(&anchor, Some(VersionId(*version))).await.unwrap(), *expected, "{version}");
    }
    assert_eq!(items_of(&anchor, None).await.unwrap(), *model.head());
}

/// Random operations on one anchor. The last of the nodes has read nothing before.
async fn play(nodes: &[Configs], seed: u64, steps: usize) {
    make(&nodes[0], Mode::Lenient).await;
    nodes[0].create_anchor("d", "s", "a").await.unwrap();
    let (mut random, mut model) = (StdRng::seed_from_u64(seed), Model::new());
    for number in 0..steps {
        let node = &nodes[random.random_range(0..nodes.len())];
        step(&mut random, node, &mut model).await;
        if number % 8 == 7 {
            check(node, &model).await;
        }
    }
    let configs = &nodes[nodes.len() - 1];
    tidy(configs).await;
    let anchor = configs.anchor("d", "a").await.unwrap();
    let pages = pages_of_versions(&anchor).await.len();
    if configs.store().may_lag() {
        assert!(page_rows(configs).await >= pages);
    } else {
        assert_eq!(page_rows(configs).await, pages, "no page is left that no version has");
    }
    check(configs, &model).await;
    configs.remove_anchor("d", "a").await.unwrap();
    tidy(configs).await;
    if !configs.store().may_lag() {
        assert_eq!(page_rows(configs).await, 0);
        configs.clean_dataspace("d").await.unwrap();
        configs.remove_dataspace("d").await.unwrap();
        // The number of dataspaces.
        assert_rows(configs, 1);
    }
}

fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(work);
}

#[test]
fn random_changes_leave_what_a_plain_model_has_in_memory() {
    for seed in store::testing::seeds(12) {
        let store = store::testing::plain(clock());
        run(play(&[Configs::new(store, clock(), options(1))], seed, 120));
    }
}

#[test]
fn random_changes_leave_what_a_plain_model_has_on_the_worst_store() {
    for seed in store::testing::seeds(12) {
        let store = store::testing::hostile(clock(), seed);
        let beside = store.beside();
        let nodes = [store, beside].map(|store| Configs::new(store, clock(), options(4)));
        run(play(&nodes, seed, 60));
    }
}

#[test]
fn random_changes_leave_what_a_plain_model_has_on_the_embedded_store() {
    for seed in store::testing::seeds(2) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), embedded_options()).unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
        runtime.block_on(async {
            play(&[Configs::new(store.clone(), clock(), options(1))], seed, 120).await;
            store.close().await.unwrap();
        });
    }
}
