//! Random edits on random trees: what the pages say is what the model says, in every version that is kept; what is let go is
//! exactly what no version needs.

use std::collections::{BTreeSet, VecDeque};

use lang_yang::{Content, DataNode, Leaf, NodeId, NodeKind, Schema, Value, ValueKind};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{SMALL, Store, model, schema};
use crate::edit::{ApplyError, Edit, LeafLists, MergeOptions, Place, Position};
use crate::find::StepAt;
use crate::label::{LabelPath, NO_LABEL};
use crate::page::{Child, Content as Held, Page, PageKind, Summary};
use crate::root::Body;
use crate::{Attempt, Fault, Label, PageId, PageLimits, Root, Step, Tree, apply_with};

/// Versions that are kept.
const KEPT: usize = 4;

pub(crate) struct World {
    pub(crate) schema: Schema,
    rng: StdRng,
    pub(crate) store: Store,
    limits: PageLimits,
    pub(crate) root: Root,
    pub(crate) model: Content,
    /// Each with its model, and what it superseded.
    pub(crate) kept: VecDeque<(Root, Content, Vec<PageId>)>,
    version: u64,
    nonce: u64,
    height_max: usize,
}

impl World {
    pub(crate) fn new(seed: u64, limits: PageLimits) -> Self {
        Self {
            schema: schema(),
            rng: StdRng::seed_from_u64(seed),
            store: Store::default(),
            limits,
            root: Root::empty(),
            model: Content::default(),
            kept: VecDeque::new(),
            version: 0,
            nonce: seed,
            height_max: 0,
        }
    }

    fn leaf(&mut self, node: NodeId, text: String) -> Leaf {
        let value = Value { kind: ValueKind::Text, text: text.into() };
        Leaf { schema: node, values: vec![value] }
    }

    /// A node with random leaves, and at most so many levels below.
    fn node(&mut self, node: NodeId, levels: u32) -> DataNode {
        DataNode { schema: node, content: self.content(Some(node), levels) }
    }

    fn content(&mut self, parent: Option<NodeId>, levels: u32) -> Content {
        let schema = self.schema.clone();
        let mut content = Content::default();
        for child in schema.children(parent).iter().copied().filter(|id| schema.node(*id).choices.is_empty())
        {
            let is_key = parent.is_some_and(|parent| schema.keys(parent).contains(&child));
            match schema.node(child).kind {
                NodeKind::Leaf { .. } if is_key || self.rng.random_bool(0.5) => {
                    let text = if is_key { self.rng.random_range(0..200).to_string() } else { self.text() };
                    content.leaves.push(self.leaf(child, text));
                }
                NodeKind::LeafList { .. } if self.rng.random_bool(0.4) => {
                    let count = self.rng.random_range(0..4);
                    let values =
                        (0..count).map(|_| Value { kind: ValueKind::Text, text: self.text().into() });
                    let values = values.collect();
                    content.leaves.push(Leaf { schema: child, values });
                }
                NodeKind::Container { .. } if levels > 0 && self.rng.random_bool(0.6) => {
                    content.children.push(self.node(child, levels - 1));
                }
                NodeKind::List { .. } if levels > 0 => {
                    let count = self.rng.random_range(0..7);
                    content.children.extend(self.entries(child, levels - 1, count));
                }
                _ => {}
            }
        }
        content
    }

    /// Entries of a list, each with keys of its own.
    fn entries(&mut self, list: NodeId, levels: u32, count: usize) -> Vec<DataNode> {
        let mut entries: Vec<DataNode> = Vec::new();
        for _ in 0..count {
            let node = self.node(list, levels);
            if !entries.iter().any(|other| model::is_same(&self.schema, other, &node)) {
                entries.push(node);
            }
        }
        entries
    }

    fn text(&mut self) -> String {
        let length = if self.rng.random_bool(0.05) {
            self.rng.random_range(60..200)
        } else {
            self.rng.random_range(0..9)
        };
        "é".repeat(length / 2) + &self.rng.random_range(0..1_000).to_string()
    }

    /// Steps to a random entry, or to the top.
    fn place(&mut self) -> (Vec<Step>, Option<NodeId>) {
        let (mut steps, mut content, mut node) = (Vec::new(), &self.model, None);
        while !content.children.is_empty() && self.rng.random_bool(0.75) {
            let at = self.rng.random_range(0..content.children.len());
            let child = &content.children[at];
            let before = content.children[..at].iter().filter(|other| other.schema == child.schema).count();
            let schema_keys = self.schema.keys(child.schema);
            let at = match self.schema.node(child.schema).kind {
                NodeKind::List { .. } if schema_keys.is_empty() || self.rng.random_bool(0.1) => {
                    StepAt::Position(before)
                }
                NodeKind::List { .. } => {
                    let texts = model::keys(&self.schema, child).into_iter().map(Box::from);
                    StepAt::Keys(schema_keys.iter().copied().zip(texts).rev().collect())
                }
                _ => StepAt::Only,
            };
            steps.push(Step { node: child.schema, at });
            (content, node) = (&child.content, Some(child.schema));
        }
        (steps, node)
    }

    /// A random container or list that may lie below a node.
    fn child(&mut self, parent: Option<NodeId>) -> Option<NodeId> {
        let schema = &self.schema;
        let entries = schema.children(parent).iter().copied();
        let entries: Vec<NodeId> =
            entries.filter(|id| schema.is_entry(*id) && schema.node(*id).choices.is_empty()).collect();
        (!entries.is_empty()).then(|| entries[self.rng.random_range(0..entries.len())])
    }

    /// A random edit, and what it makes of the model; `None`: it is refused.
    fn edit(&mut self) -> Option<(Edit, Option<Content>)> {
        let schema = self.schema.clone();
        let (steps, parent) = self.place();
        let place = Place::Steps(steps.clone());
        // What takes away much is rare, so that trees grow.
        let is_harsh = steps.len() > 1 || self.rng.random_bool(0.05);
        let kind = if is_harsh {
            self.rng.random_range(0..12)
        } else {
            [0, 1, 2, 3, 4, 7, 8][self.rng.random_range(0..7)]
        };
        let mut after = self.model.clone();
        let there = model::find(&schema, &mut after, &steps).expect("the place was taken from the model");
        let done = match kind {
            0..=4 | 7 | 8 => self.addition(kind, place, parent, there)?,
            5 | 6 | 11 => self.replacement(kind, place, parent, there)?,
            _ => self.removal(kind, place, &steps, &mut after)?,
        };
        let (edit, done) = done;
        Some((edit, done.map(|()| after)))
    }

    /// An edit that adds or sets.
    fn addition(
        &mut self,
        kind: u32,
        place: Place,
        parent: Option<NodeId>,
        there: &mut Content,
    ) -> Option<(Edit, Option<()>)> {
        let schema = self.schema.clone();
        Some(match kind {
            0..=2 => {
                let list = self.child(parent)?;
                let count = if model::is_list(&schema, list) { self.rng.random_range(1..16) } else { 1 };
                let mut nodes = self.entries(list, 2, count);
                if self.rng.random_bool(0.8) {
                    let is_there = |node: &DataNode| {
                        there.children.iter().any(|child| model::is_same(&schema, child, node))
                    };
                    nodes.retain(|node| !is_there(node));
                }
                let done = model::create(&schema, there, &nodes);
                (Edit::Create { parent: place, nodes: nodes.into(), at: Position::Last }, done)
            }
            3 | 4 => {
                let child = self.child(parent)?;
                let node = self.node(child, 2);
                let must_exist = self.rng.random_bool(0.3);
                let done = model::merge(&schema, there, &node, must_exist);
                let options = MergeOptions { must_exist, leaf_lists: LeafLists::Replace };
                // Entries without keys are added each time.
                (Edit::Merge { parent: place, nodes: [node].into(), options }, done)
            }
            _ => {
                let mut content = self.content(parent, 0);
                content
                    .leaves
                    .retain(|leaf| parent.is_none_or(|node| !schema.keys(node).contains(&leaf.schema)));
                model::set_leaves(&schema, there, &content.leaves);
                (Edit::SetLeaves { parent: place, leaves: content.leaves.into() }, Some(()))
            }
        })
    }

    /// An edit that replaces.
    fn replacement(
        &mut self,
        kind: u32,
        place: Place,
        parent: Option<NodeId>,
        there: &mut Content,
    ) -> Option<(Edit, Option<()>)> {
        let schema = self.schema.clone();
        Some(match kind {
            5 => {
                let child = self.child(parent)?;
                let node = self.node(child, 3);
                model::replace(&schema, there, &node);
                (Edit::Replace { parent: place, nodes: [node].into(), at: None }, Some(()))
            }
            6 => {
                let list = self.child(parent).filter(|child| model::is_list(&schema, *child))?;
                let mut nodes = self.entries(list, 2, 8);
                nodes.extend(there.children.iter().filter(|child| child.schema == list).cloned().rev());
                let mut unique: Vec<DataNode> = Vec::new();
                for node in nodes {
                    if !unique.iter().any(|other| model::is_same(&schema, other, &node)) {
                        unique.push(node);
                    }
                }
                model::replace_list(&schema, there, list, &unique);
                (Edit::ReplaceList { parent: place, list, nodes: unique.into() }, Some(()))
            }
            _ => {
                let keys: Vec<Leaf> = there
                    .leaves
                    .iter()
                    .filter(|leaf| parent.is_some_and(|node| schema.keys(node).contains(&leaf.schema)))
                    .cloned()
                    .collect();
                let mut content = self.content(parent, 3);
                content.leaves.retain(|leaf| keys.iter().all(|key| key.schema != leaf.schema));
                content.leaves = [keys, content.leaves].concat();
                *there = content.clone();
                (Edit::ReplaceContent { entry: place, content: content.into() }, Some(()))
            }
        })
    }

    /// An edit that removes or moves.
    fn removal(
        &mut self,
        kind: u32,
        place: Place,
        steps: &[Step],
        after: &mut Content,
    ) -> Option<(Edit, Option<()>)> {
        let schema = self.schema.clone();
        Some(match kind {
            9 => {
                let (last, before) = steps.split_last()?;
                let around = model::find(&schema, after, before)?;
                let at = model::position(&schema, around, last)?;
                around.children.remove(at);
                (Edit::Delete { entry: place }, Some(()))
            }
            _ => {
                let (last, before) = steps.split_last()?;
                let around = model::find(&schema, after, before)?;
                let at =
                    model::position(&schema, around, last).filter(|_| model::is_list(&schema, last.node))?;
                let node = around.children.remove(at);
                let first = around
                    .children
                    .iter()
                    .position(|other| schema.node(other.schema).slot >= schema.node(node.schema).slot);
                around.children.insert(first.unwrap_or(around.children.len()), node);
                (Edit::Move { entry: place, to: Position::First }, Some(()))
            }
        })
    }

    pub(crate) fn step(&mut self) {
        let Some((edit, expected)) = self.edit() else { return };
        self.version += 1;
        let attempt = Attempt { version: self.version, nonce: self.nonce };
        let edits = [edit];
        let run = |tree: &Tree<'_>| apply_with(tree, &edits, attempt, self.limits);
        let applied = self.store.run(&self.root, &self.schema, run);
        let (Some(expected), applied) = (expected, applied.as_ref()) else {
            assert!(
                matches!(applied, Err(ApplyError::Exists(_) | ApplyError::NotFound(_))),
                "{edits:?}: {applied:?}"
            );
            return;
        };
        let applied = applied.unwrap_or_else(|error| panic!("{edits:?}: {error}"));
        for (id, bytes) in &applied.pages {
            Page::from_bytes(bytes.clone()).unwrap_or_else(|_| panic!("{id:?} is a page"));
            assert!(self.store.pages.insert(*id, bytes.clone()).is_none(), "ids are given once");
        }
        let before = self.root.records();
        self.kept.push_back((self.root.clone(), self.model.clone(), applied.superseded.clone()));
        let encoded = applied.root.encode();
        self.root = Root::decode(&self.schema, &encoded.into()).expect("a root is read back");
        assert_eq!(self.root, applied.root);
        if let Body::Paged { height, .. } = self.root.body {
            self.height_max = self.height_max.max(height);
        }
        self.model = expected;
        assert_eq!(self.store.content(&self.root, &self.schema), self.model, "{edits:?}");
        let top = u64::from(!self.model.leaves.is_empty());
        assert_eq!(self.root.records(), model::count(&self.model) + top);
        assert_eq!(before + applied.changes.created, self.root.records() + applied.changes.removed);
        assert_eq!(applied.changes.is_empty(), self.root == self.kept.back().unwrap().0);
        if self.kept.len() > KEPT {
            self.drop_oldest();
        }
    }

    /// The oldest version goes, and with it what its successor did without.
    fn drop_oldest(&mut self) {
        let (_, _, superseded) = self.kept.pop_front().unwrap();
        for id in superseded {
            assert!(self.store.pages.remove(&id).is_some(), "{id:?} is let go once");
        }
    }

    /// All pages below a root, each as it is said to be in the page above.
    fn reachable(&self, root: &Root) -> BTreeSet<PageId> {
        let mut all = BTreeSet::new();
        if let Body::Paged { top, height } = &root.body {
            assert_eq!(top.records, root.records);
            self.check_page(top, *height, &mut all);
        }
        all
    }

    /// Checks what is said of a page and of all below, and gives their schema nodes.
    fn check_page(&self, child: &Child, height: usize, all: &mut BTreeSet<PageId>) -> Summary {
        assert!(all.insert(child.id), "a page hangs on one page");
        let page = Page::from_bytes(self.store.pages[&child.id].clone()).unwrap();
        assert_eq!(page.kind(), PageKind::at(height));
        let (mut records, mut bytes, mut has_overflow) = (0, page.bytes().len() as u64, false);
        let (mut summary, mut path, mut entries) = (Summary::default(), LabelPath::default(), page.entries());
        while entries.next() {
            match entries.content() {
                Held::Child(below) => {
                    records += below.records;
                    bytes += below.bytes;
                    has_overflow |= below.has_overflow;
                    summary.add(self.check_page(&below, height - 1, all));
                    continue;
                }
                Held::Overflow(id, length) => {
                    assert!(all.insert(id), "a page hangs on one page");
                    bytes += length as u64;
                    has_overflow = true;
                }
                Held::Value(_) => {}
            }
            if entries.key().first() != Some(&NO_LABEL) {
                records += 1;
                path.go(&self.schema, entries.key());
                path.node().into_iter().for_each(|node| summary.add(Summary::of(node)));
            }
        }
        assert_eq!((child.records, child.bytes, child.has_overflow), (records, bytes, has_overflow));
        assert_eq!(child.summary.0 & summary.0, summary.0, "it may say too much, never too little");
        summary
    }

    fn check_kept(&self) {
        let mut needed = self.reachable(&self.root);
        for (root, model, _) in &self.kept {
            assert_eq!(&self.store.content(root, &self.schema), model);
            needed.extend(self.reachable(root));
        }
        assert_eq!(needed, self.store.pages.keys().copied().collect::<BTreeSet<_>>());
    }

    /// Every entry is found by its keys, its path leads to it, and cursors of one kind of entry give those of the kind.
    fn check_finding(&self) {
        let run = |tree: &Tree<'_>| {
            let (mut cursor, mut all) = (tree.cursor(&Label::top()), Vec::new());
            while let Some((label, record)) = cursor.next()? {
                if let (Some(parent), Some(node)) = (tree.parent(&label), record.node())
                    && !self.schema.keys(node).is_empty()
                {
                    let keys: Vec<&str> = crate::find::key_values(&self.schema, &record).flatten().collect();
                    assert_eq!(tree.find_entry(&parent, node, &keys)?, Some(label.clone()));
                    assert_eq!(tree.find_entry(&parent, node, &vec!["none"; keys.len()])?, None);
                }
                all.push((label, record.node()));
            }
            for node in (0..).map(NodeId).take(self.schema.nodes.len()).filter(|id| self.schema.is_entry(*id))
            {
                let (mut cursor, mut some) = (tree.cursor(&Label::top()).only(&[node]), Vec::new());
                while let Some(label) = cursor.next_label()? {
                    some.push(label);
                }
                let expected =
                    all.iter().filter(|(_, kind)| *kind == Some(node)).map(|(label, _)| label.clone());
                assert_eq!(some, expected.collect::<Vec<_>>());
            }
            Ok::<_, Fault>(())
        };
        self.store.run(&self.root, &self.schema, run).unwrap();
    }
}

fn check(limits: PageLimits, steps: usize, height: usize) {
    let mut height_max = 0;
    for seed in store::testing::seeds(4) {
        let mut world = World::new(seed, limits);
        for step in 0..steps {
            world.step();
            if step % 50 == 49 {
                world.check_kept();
                world.check_finding();
            }
        }
        while !world.kept.is_empty() {
            world.drop_oldest();
        }
        world.check_kept();
        height_max = height_max.max(world.height_max);
    }
    assert!(height_max >= height, "trees are only {height_max} high");
}

#[test]
fn random_edits_of_paged_trees_are_those_of_the_model() {
    check(SMALL, 700, 3);
}

#[test]
fn random_edits_of_inline_trees_are_those_of_the_model() {
    check(PageLimits { inline_bytes_max: 60_000, ..PageLimits::STANDARD }, 150, 0);
}

#[test]
fn random_edits_between_inline_and_paged_are_those_of_the_model() {
    check(PageLimits { inline_bytes_max: 2_000, leaf_bytes_max: 700, interior_bytes_max: 300 }, 300, 1);
}
