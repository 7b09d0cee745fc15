//! A draft: a tree and the changes of it that were made so far, read as one.

mod arena;
mod merged;
mod ends;
mod siblings;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use bytes::Bytes;
use lang_yang::{DataNode, NodeId, NodeKind, Schema};
use smallvec::SmallVec;

use crate::cache::Fault;
use crate::edit::{Applied, ApplyError, Place};
use crate::find::{Step, StepAt, key_values, put_keys, spell_path};
use crate::keys::{index_key, list_prefix, subtree_prefix};
use crate::label::{ABOVE, Label, NO_LABEL};
use crate::limits::{KEY_VALUES_BYTES_MAX, LABEL_BYTES_MAX, PageLimits, RECORD_BYTES_MAX};
use crate::page::Attempt;
use crate::record::Record;
use crate::rewrite::{Delta, Point, Removed, rewrite};
use crate::tree::Tree;

use arena::Arena;
pub(crate) use siblings::Gap;

/// A tree under change.
pub(crate) struct Draft<'a> {
    pub(crate) tree: Tree<'a>,
    /// What keys are now; `None`: no more.
    points: BTreeMap<Bytes, Option<Bytes>>,
    arena: Arena,
    /// Ranges of keys that are no more, by their first key: none has keys of another. A point is after that.
    removed: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Lists of an inline tree whose keys are among the points.
    indexed: BTreeSet<Vec<u8>>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(tree: Tree<'a>) -> Self {
        let (points, removed) = (BTreeMap::new(), BTreeMap::new());
        Self { tree, points, arena: Arena::default(), removed, indexed: BTreeSet::new() }
    }

    pub(crate) fn schema(&self) -> &'a Schema {
        self.tree.schema
    }

    /// Makes a version of it.
    pub(crate) fn finish(self, limits: PageLimits, attempt: Attempt) -> Result<Applied, Fault> {
        let points: Vec<Point> = self.points.into_iter().collect();
        let removed: Vec<Removed> = self.removed.into_iter().collect();
        rewrite(self.tree, Delta { points: &points, removed: &removed }, limits, attempt)
    }

    /// The value of a key as it is now.
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        if let Some(value) = self.points.get(key) {
            return Ok(value.clone());
        }
        if self.is_removed(key).is_some() { Ok(None) } else { self.tree.get(key) }
    }

    /// Where the removed range ends that a key is in.
    fn is_removed(&self, key: &[u8]) -> Option<&[u8]> {
        self.removed_around(key).map(|(_, end)| end)
    }

    /// Whether an entry is there; the top always is.
    pub(crate) fn is_there(&self, label: &Label) -> Result<bool, Fault> {
        Ok(label.is_top() || self.get(label.as_bytes())?.is_some())
    }

    /// Whether an entry was set in this draft.
    pub(crate) fn is_set(&self, label: &Label) -> bool {
        self.points.get(label.as_bytes()).is_some_and(Option::is_some)
    }

    /// The record of an entry; of a top without leaves an empty one.
    pub(crate) fn record(&self, label: &Label) -> Result<Option<Record<'a>>, Fault> {
        let bytes = self.get(label.as_bytes())?.or_else(|| label.is_top().then(Bytes::new));
        Ok(bytes.map(|bytes| Record::new(self.schema(), label.node(self.schema()), bytes)))
    }

    /// Sets the record of an entry. A top without leaves has none.
    pub(crate) fn put(&mut self, label: &Label, record: &[u8]) -> Result<(), ApplyError> {
        self.check_size(label, "the record", record.len(), RECORD_BYTES_MAX)?;
        self.check_size(label, "the label", label.as_bytes().len(), LABEL_BYTES_MAX)?;
        let value = (!label.is_top() || !record.is_empty()).then(|| self.arena.keep(record));
        self.points.insert(self.arena.keep(label.as_bytes()), value);
        Ok(())
    }

    fn check_size(
        &self,
        label: &Label,
        what: &'static str,
        bytes: usize,
        max: usize,
    ) -> Result<(), ApplyError> {
        if bytes <= max {
            return Ok(());
        }
        Err(ApplyError::TooLarge { what, path: self.path(label)?, bytes, max })
    }

    /// The entry that an edit is about.
    pub(crate) fn resolve(&mut self, place: &Place) -> Result<Label, ApplyError> {
        let steps = match place {
            Place::Label(label) if self.is_there(label)? => return Ok(label.clone()),
            Place::Label(label) => return Err(ApplyError::NotFound(vec![self.path(label)?])),
            Place::Steps(steps) | Place::Made(steps) => steps,
        };
        let mut label = Label::top();
        for (at, step) in steps.iter().enumerate() {
            label = match self.step(&label, step)? {
                Some(next) => next,
                None => {
                    let is_container =
                        matches!(self.schema().node(step.node).kind, NodeKind::Container { .. });
                    if !is_container || !matches!(place, Place::Made(_)) {
                        let rest = steps.get(at..).expect("a step is one of them");
                        return Err(ApplyError::NotFound(vec![self.path_of_steps(&label, rest)?]));
                    }
                    let made = label.container(self.schema().node(step.node).slot);
                    self.put(&made, &[])?;
                    made
                }
            };
        }
        Ok(label)
    }

    fn step(&mut self, parent: &Label, step: &Step) -> Result<Option<Label>, Fault> {
        let node = self.schema().node(step.node);
        let NodeKind::List { keys, .. } = &node.kind else {
            let label = parent.container(node.slot);
            return Ok(self.is_there(&label)?.then_some(label));
        };
        if let StepAt::Keys(values) = &step.at {
            let value = |key: &NodeId| values.iter().find(|(leaf, _)| leaf == key).map(|(_, text)| &**text);
            if let Some(all) = keys.iter().map(value).collect::<Option<Vec<&str>>>()
                && !all.is_empty()
                && all.len() == values.len()
            {
                return self.find_entry(parent, step.node, &all);
            }
        }
        let mut left = if let StepAt::Position(position) = step.at { position } else { 0 };
        let mut entries = self.list(parent, step.node);
        while let Some(label) = entries.next_entry()? {
            let matches = match &step.at {
                StepAt::Keys(values) => {
                    let record = self.record(&label)?;
                    let has = |(leaf, text): &(NodeId, Box<str>)| {
                        let value = record.as_ref().and_then(|record| record.value(*leaf));
                        value.is_some_and(|value| value.text == &**text)
                    };
                    values.iter().all(has)
                }
                _ => left == 0,
            };
            if matches {
                return Ok(Some(label));
            }
            left = left.saturating_sub(1);
        }
        Ok(None)
    }

    /// The entry of a list that has these keys.
    pub(crate) fn find_entry(
        &mut self,
        parent: &Label,
        list: NodeId,
        keys: &[&str],
    ) -> Result<Option<Label>, Fault> {
        self.index(parent, list)?;
        let slot = self.schema().node(list).slot;
        let key = index_key(parent.as_bytes(), slot, keys.iter().copied());
        let order = if self.tree.has_index() {
            self.get(&key)?
        } else {
            self.points.get(key.as_slice()).cloned().flatten()
        };
        Ok(order.map(|order| parent.entry(slot, &order)))
    }

    /// Whether the keys of a list are in the index, or among the points.
    fn is_indexed(&self, parent: &Label, list: NodeId) -> bool {
        let slot = self.schema().node(list).slot;
        self.tree.has_index() || self.indexed.contains(&list_prefix(parent.as_bytes(), slot))
    }

    /// Brings the keys of a list of an inline tree among the points, once.
    fn index(&mut self, parent: &Label, list: NodeId) -> Result<(), Fault> {
        let slot = self.schema().node(list).slot;
        if self.tree.has_index() || !self.indexed.insert(list_prefix(parent.as_bytes(), slot)) {
            return Ok(());
        }
        let start = parent.container(slot);
        let end = start.above();
        let within = (Bound::Included(start.as_bytes()), Bound::Excluded(end.as_bytes()));
        let mut found = Vec::new();
        if self.removed.is_empty() && self.points.range::<[u8], _>(within).next().is_none() {
            // As the tree has them: each with its record, without a search.
            let mut entries = self.tree.entries(parent, list);
            while let Some(entry) = entries.next()? {
                found.push(entry);
            }
        } else {
            let mut entries = self.list(parent, list);
            while let Some(label) = entries.next_entry()? {
                found.extend(self.record(&label)?.map(|record| (label, record)));
            }
        }
        let start = start.as_bytes().len();
        for (label, record) in found {
            let order = label.as_bytes().get(start..).expect("an entry lies below its parent");
            let keys: Vec<&str> = key_values(self.schema(), &record).flatten().collect();
            let key = index_key(parent.as_bytes(), slot, keys.into_iter());
            self.set(&key, Some(order));
        }
        Ok(())
    }

    /// Sets a key, or says that it is no more.
    fn set(&mut self, key: &[u8], value: Option<&[u8]>) {
        let value = value.map(|value| self.arena.keep(value));
        self.points.insert(self.arena.keep(key), value);
    }

    /// Notes the keys of an entry that is added. `is_new`: what it lies in was added, too.
    pub(crate) fn claim(
        &mut self,
        (parent, node): (&Label, &DataNode),
        order: &[u8],
        is_new: bool,
    ) -> Result<(), ApplyError> {
        let schema = self.schema();
        if schema.keys(node.schema).is_empty() {
            return Ok(());
        }
        let keys = self.keys_of(parent, node)?;
        let bytes = keys.iter().map(|key| key.len() + 1).sum();
        if bytes > KEY_VALUES_BYTES_MAX {
            let path = self.path_of_node(parent, node)?;
            return Err(ApplyError::TooLarge { what: "the keys", path, bytes, max: KEY_VALUES_BYTES_MAX });
        }
        let key = index_key(parent.as_bytes(), schema.node(node.schema).slot, keys.iter().copied());
        let is_there = if is_new {
            self.points.get(key.as_slice()).is_some_and(Option::is_some)
        } else {
            self.find_entry(parent, node.schema, &keys)?.is_some()
        };
        if is_there {
            return Err(ApplyError::Duplicate(self.path_of_node(parent, node)?));
        }
        self.set(&key, Some(order));
        Ok(())
    }

    /// The values of an entry's keys.
    pub(crate) fn keys_of<'n>(
        &self,
        parent: &Label,
        node: &'n DataNode,
    ) -> Result<SmallVec<[&'n str; 4]>, ApplyError> {
        let mut keys = SmallVec::new();
        for key in self.schema().keys(node.schema) {
            let leaf = node.content.leaves.iter().find(|leaf| leaf.schema == *key);
            let Some(value) = leaf.and_then(|leaf| leaf.values.first()) else {
                let entry = format!("{}{}", self.base(parent)?, self.schema().node(node.schema).name);
                return Err(ApplyError::MissingKey { entry, key: self.schema().node(*key).name.to_string() });
            };
            keys.push(&*value.text);
        }
        Ok(keys)
    }

    /// Removes an entry with all below; of the top, everything.
    pub(crate) fn remove(&mut self, label: &Label) -> Result<(), ApplyError> {
        if let Some(parent) = label.parent(self.schema())
            && let Some(record) = self.record(label)?
            && let Some(node) = record.node()
            && !self.schema().keys(node).is_empty()
        {
            self.index(&parent, node)?;
            let keys: Vec<&str> = key_values(self.schema(), &record).flatten().collect();
            let slot = self.schema().node(node).slot;
            self.set(&index_key(parent.as_bytes(), slot, keys.into_iter()), None);
        }
        self.remove_below(label);
        Ok(())
    }

    /// Removes an entry with all below, but not its own keys from the index.
    fn remove_below(&mut self, label: &Label) {
        self.remove_range(label.as_bytes(), label.above().as_bytes());
        let index = subtree_prefix(label.as_bytes());
        let end = [index.as_slice(), &[ABOVE]].concat();
        self.remove_range(&index, &end);
    }

    /// Removes all entries of a list with all below.
    pub(crate) fn remove_list(&mut self, parent: &Label, list: NodeId) {
        let slot = self.schema().node(list).slot;
        let label = parent.container(slot);
        self.remove_range(label.as_bytes(), label.above().as_bytes());
        let below = subtree_prefix(label.as_bytes());
        let end = [below.as_slice(), &[ABOVE]].concat();
        self.remove_range(&below, &end);
        let keys = list_prefix(parent.as_bytes(), slot);
        // No byte of a text is 0xFF.
        let end = [keys.as_slice(), &[u8::MAX]].concat();
        self.remove_range(&keys, &end);
    }

    /// Removes keys from the first on, before the second.
    fn remove_range(&mut self, first: &[u8], end: &[u8]) {
        let inside = (Bound::Included(first), Bound::Excluded(end));
        let around = self.removed_around(first).map(|(first, end)| (first.to_vec(), end.to_vec()));
        if around.as_ref().is_none_or(|(_, other)| other.as_slice() < end) {
            // Ranges that were passed over are one, which may begin within an entry and end behind others: what it has outside stays.
            let (low, mut high) =
                around.map_or((first.to_vec(), end.to_vec()), |(low, _)| (low, end.to_vec()));
            let met: Vec<Vec<u8>> =
                self.removed.range::<[u8], _>(inside).map(|(first, _)| first.clone()).collect();
            for end in met.iter().filter_map(|first| self.removed.remove(first)) {
                high = high.max(end);
            }
            self.removed.insert(low, high);
        }
        let points: Vec<Bytes> = self.points.range::<[u8], _>(inside).map(|(key, _)| key.clone()).collect();
        points.iter().for_each(|key| drop(self.points.remove(key)));
    }

    /// Gives an entry with all below another label. Cost: O(all below).
    pub(crate) fn relocate(&mut self, old: &Label, new: &Label) -> Result<(), ApplyError> {
        // Of an inline tree, keys of lists below are brought among the points anew, where they are needed.
        for label in [old, new] {
            let first = subtree_prefix(label.as_bytes());
            let end = [first.as_slice(), &[ABOVE]].concat();
            let below = (Bound::Included(first.as_slice()), Bound::Excluded(end.as_slice()));
            let lists: Vec<Vec<u8>> = self.indexed.range::<[u8], _>(below).cloned().collect();
            for list in &lists {
                self.indexed.remove(list);
            }
        }
        self.shift(old, new)
    }

    /// The same, where keys of lists below that are among the points of an inline tree are not known to be.
    fn shift(&mut self, old: &Label, new: &Label) -> Result<(), ApplyError> {
        let mut moved = Vec::new();
        let (from, to) = (subtree_prefix(old.as_bytes()), subtree_prefix(new.as_bytes()));
        for (from, to) in [(old.as_bytes(), new.as_bytes()), (&from, &to)] {
            let mut entries = self.range(from, &[from, &[ABOVE]].concat());
            while let Some(key) = entries.next()? {
                let value = self.get(&key)?;
                let rest = key.strip_prefix(from).expect("what lies below begins so");
                moved.push((Bytes::from([to, rest].concat()), value));
            }
        }
        let record = self.record(old)?;
        self.remove_below(old);
        self.points.extend(moved);
        if let (Some(parent), Some(record)) = (old.parent(self.schema()), record)
            && let Some(node) = record.node()
            && !self.schema().keys(node).is_empty()
            && self.is_indexed(&parent, node)
        {
            let slot = self.schema().node(node).slot;
            let keys: Vec<&str> = key_values(self.schema(), &record).flatten().collect();
            let start = parent.container(slot).as_bytes().len();
            let order = new.as_bytes().get(start..).expect("an entry lies below its parent");
            self.set(&index_key(parent.as_bytes(), slot, keys.into_iter()), Some(order));
        }
        Ok(())
    }

    /// Of an inline tree, keys are brought among the points anew, where they are needed.
    fn forget_index(&mut self) {
        if !self.tree.has_index() {
            self.indexed.clear();
            drop(self.points.split_off(&[NO_LABEL][..]));
        }
    }

    /// The path of an entry.
    pub(crate) fn path(&self, label: &Label) -> Result<String, Fault> {
        let position = |entry: &Label| {
            let step = entry.steps(self.schema()).last().expect("an entry of a list has a step");
            let parent = entry.parent(self.schema()).expect("an entry of a list has a parent");
            let (mut entries, mut position) = (self.list(&parent, step.node), 0);
            while entries.next_entry()?.is_some_and(|other| other < *entry) {
                position += 1;
            }
            Ok(position)
        };
        spell_path(self.schema(), label, |entry| self.record(entry), position)
    }

    /// The path that an entry that is given has, or would have.
    pub(crate) fn path_of_node(&self, parent: &Label, node: &DataNode) -> Result<String, ApplyError> {
        let keys = self.keys_of(parent, node)?;
        let names = self.schema().keys(node.schema);
        let mut path = self.base(parent)?;
        path.push_str(&self.schema().node(node.schema).name);
        put_keys(&mut path, self.schema(), names.iter().zip(keys));
        Ok(path)
    }

    fn path_of_steps(&self, from: &Label, steps: &[Step]) -> Result<String, Fault> {
        let mut path = self.base(from)?;
        for (at, step) in steps.iter().enumerate() {
            path.push_str(if at > 0 { "/" } else { "" });
            path.push_str(&self.schema().node(step.node).name);
            match &step.at {
                StepAt::Only => {}
                StepAt::Position(position) => path.push_str(&format!("[{}]", position + 1)),
                StepAt::Keys(keys) => {
                    put_keys(&mut path, self.schema(), keys.iter().map(|(key, text)| (key, &**text)));
                }
            }
        }
        Ok(path)
    }

    /// The path of an entry and a slash.
    pub(crate) fn base(&self, label: &Label) -> Result<String, Fault> {
        let mut path = self.path(label)?;
        if !label.is_top() {
            path.push('/');
        }
        Ok(path)
    }
}
