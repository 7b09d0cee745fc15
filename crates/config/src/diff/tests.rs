use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lang_yang::{Content, DataNode, NodeKind, Schema};

use super::{Diff, DiffFault, Difference, diff};
use crate::apply::ascending;
use crate::apply::tests::random::World;
use crate::apply::tests::{SMALL, Store};
use crate::{Label, PageCache, PageLimits, Pages, Root, Tree};

/// Differences by path: `+`, `-`, `~` for added, removed and changed entries; how many were moved.
#[derive(Debug, Default, Eq, PartialEq)]
struct Found {
    paths: BTreeSet<String>,
    moved: usize,
}

fn step(schema: &Schema, node: &DataNode) -> String {
    let mut path = format!("/{}", schema.node(node.schema).name);
    let text = |key| &node.content.leaves.iter().find(|leaf| leaf.schema == key).unwrap().values[0].text;
    let keys: Vec<String> = schema
        .keys(node.schema)
        .iter()
        .map(|key| format!("@{}='{}'", schema.node(*key).name, text(*key)))
        .collect();
    if !keys.is_empty() {
        path += &format!("[{}]", keys.join(" and "));
    }
    path
}

/// What differs between two plain trees. Entries of lists without keys are left out.
fn expected(schema: &Schema, old: &Content, new: &Content, path: &str, found: &mut Found) {
    if old.leaves != new.leaves {
        found.paths.insert(format!("~{path}"));
    }
    let keyed = |content: &Content| {
        let is_keyed = |child: &&DataNode| match schema.node(child.schema).kind {
            NodeKind::List { .. } => !schema.keys(child.schema).is_empty(),
            _ => true,
        };
        let children = content.children.iter().filter(is_keyed);
        children.map(|child| (step(schema, child), child.clone())).collect::<Vec<_>>()
    };
    let (before, after) = (keyed(old), keyed(new));
    let known: BTreeMap<&String, usize> =
        before.iter().enumerate().map(|(at, (step, _))| (step, at)).collect();
    for (step, _) in &before {
        if after.iter().all(|(other, _)| other != step) {
            found.paths.insert(format!("-{path}{step}"));
        }
    }
    let mut lists: BTreeMap<u32, Vec<Option<usize>>> = BTreeMap::new();
    for (step, child) in &after {
        let at = known.get(step).copied();
        match at {
            None => drop(found.paths.insert(format!("+{path}{step}"))),
            Some(at) => {
                expected(schema, &before[at].1.content, &child.content, &format!("{path}{step}"), found);
            }
        }
        if matches!(schema.node(child.schema).kind, NodeKind::List { user_ordered: true, .. }) {
            lists.entry(child.schema.0).or_default().push(at);
        }
    }
    for list in lists.values() {
        found.moved += list.iter().flatten().count() - ascending(list).len();
    }
}

/// One side of a comparison.
struct Version<'v> {
    store: &'v Store,
    root: &'v Root,
    pages: Pages,
}

impl<'v> Version<'v> {
    fn new(store: &'v Store, root: &'v Root) -> Self {
        Self { store, root, pages: Pages::new(Arc::new(PageCache::new(0))) }
    }

    fn tree<'t>(&'t self, schema: &'t Schema) -> Tree<'t> {
        Tree::new(schema, self.root, &self.pages)
    }
}

/// Runs a comparison, and counts the pages that it needed.
fn run(old: &Version<'_>, new: &Version<'_>, schema: &Schema) -> (Found, usize) {
    let (mut found, mut loaded) = (Found::default(), 0);
    let mut differences: Diff<'_> = diff(old.tree(schema), new.tree(schema), &Label::top());
    let path = |version: &Version<'_>, label: &Label| {
        version.store.run::<_, crate::Fault>(version.root, schema, |tree| tree.path(label)).unwrap()
    };
    loop {
        let difference = match differences.next() {
            Err(DiffFault::Old(fault)) => {
                loaded += fault.0.len();
                old.store.load(schema, &old.pages, &fault);
                continue;
            }
            Err(DiffFault::New(fault)) => {
                loaded += fault.0.len();
                new.store.load(schema, &new.pages, &fault);
                continue;
            }
            Ok(None) => break,
            Ok(Some(difference)) => difference,
        };
        let line = match &difference {
            Difference::Added(label) => format!("+{}", path(new, label)),
            Difference::Removed(label) => format!("-{}", path(old, label)),
            Difference::Changed { old: before, new: after } => {
                let after = path(new, after);
                assert!(after.contains("/event[") || path(old, before) == after);
                format!("~{}", if after == "/" { "" } else { &after })
            }
            Difference::Moved { old: before, new: after } => {
                assert_eq!(path(old, before), path(new, after));
                found.moved += 1;
                continue;
            }
        };
        if !line.contains("/event[") {
            assert!(found.paths.insert(line.clone()), "{line} is reported once");
        }
    }
    (found, loaded)
}

fn check(old: (&Store, &Root, &Content), new: (&Store, &Root, &Content), schema: &Schema) {
    let mut plain = Found::default();
    expected(schema, old.2, new.2, "", &mut plain);
    let (found, _) = run(&Version::new(old.0, old.1), &Version::new(new.0, new.1), schema);
    assert_eq!(found, plain);
}

#[test]
fn versions_differ_as_plain_trees_do() {
    for limits in [SMALL, PageLimits { inline_bytes_max: 60_000, ..PageLimits::STANDARD }] {
        for seed in store::testing::seeds(2) {
            let mut world = World::new(seed, limits);
            for _ in 0..100 {
                world.step();
                for at in [world.kept.len().saturating_sub(1), 0] {
                    let Some((root, model, _)) = world.kept.get(at) else { continue };
                    let old = (&world.store, root, model);
                    let new = (&world.store, &world.root, &world.model);
                    check(old, new, &world.schema);
                    check(new, old, &world.schema);
                }
            }
        }
    }
}

#[test]
fn trees_that_share_nothing_are_compared_by_their_keys() {
    let worlds: Vec<World> = (200..206)
        .map(|seed| {
            let mut world = World::new(seed, SMALL);
            (0..60).for_each(|_| world.step());
            world
        })
        .collect();
    for old in &worlds {
        for new in &worlds {
            check((&old.store, &old.root, &old.model), (&new.store, &new.root, &new.model), &old.schema);
        }
    }
}

#[test]
fn pages_that_versions_share_are_not_read() {
    let mut world = World::new(300, SMALL);
    (0..200).for_each(|_| world.step());
    let is_small = |world: &World| {
        world.kept.back().is_some_and(|(_, _, superseded)| (1..=6).contains(&superseded.len()))
    };
    for _ in 0..1_000 {
        if is_small(&world) {
            break;
        }
        world.step();
    }
    let (root, _, superseded) = world.kept.back().unwrap();
    let (_, loaded) =
        run(&Version::new(&world.store, root), &Version::new(&world.store, &world.root), &world.schema);
    assert!(world.store.pages.len() > 30, "{}", world.store.pages.len());
    assert!(loaded <= 2 * superseded.len() + 6, "{loaded} pages for {}", superseded.len());
}
