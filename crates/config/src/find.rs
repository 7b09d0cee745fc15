//! Finding entries by the steps of a path, and spelling the path of an entry.

use std::fmt::Write as _;

use lang_yang::{NodeId, NodeKind, Schema};

use crate::cache::Fault;
use crate::cursor::Cursor;
use crate::keys::index_key;
use crate::label::Label;
use crate::record::Record;
use crate::tree::Tree;

/// Missing pages that a look at many entries collects before it asks for them.
const MISSING_MAX: usize = 4_096;

/// Which entry of a container or list.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Step {
    /// The container or list.
    pub node: NodeId,
    /// Which of its entries.
    pub at: StepAt,
}

/// Which of the entries of a container or list.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum StepAt {
    /// The only one of a container; of a list the first.
    Only,
    /// Of a list: the first that has these leaves, in any order. All keys of the list together find it without a search.
    Keys(Vec<(NodeId, Box<str>)>),
    /// Of a list: by its position, from zero on. Cost: of all before it.
    Position(usize),
}

impl Step {
    /// To a container.
    pub fn container(node: NodeId) -> Self {
        Self { node, at: StepAt::Only }
    }

    /// To the entry of a list that has these key values.
    pub fn entry(node: NodeId, keys: Vec<(NodeId, Box<str>)>) -> Self {
        Self { node, at: StepAt::Keys(keys) }
    }

    /// To the entry of a list at this position, from zero on.
    pub fn position(node: NodeId, position: usize) -> Self {
        Self { node, at: StepAt::Position(position) }
    }
}

impl<'a> Tree<'a> {
    /// The entry that steps from the top lead to; `None` if there is none. No steps: the top, which is always there. Cost: O(log
    /// records) for each step with all keys of its list; of a tree that is inline, and of other steps, a look at the siblings.
    ///
    /// # Errors
    ///
    /// [`Fault`] if a page is missing.
    pub fn find(&self, steps: &[Step]) -> Result<Option<Label>, Fault> {
        self.find_below(&Label::top(), steps)
    }

    /// The same from an entry on.
    ///
    /// # Errors
    ///
    /// [`Fault`] if a page is missing.
    pub fn find_below(&self, from: &Label, steps: &[Step]) -> Result<Option<Label>, Fault> {
        let mut label = from.clone();
        for step in steps {
            let Some(next) = self.step(&label, step)? else { return Ok(None) };
            label = next;
        }
        let is_there = label.is_top() || self.get(label.as_bytes())?.is_some();
        Ok(is_there.then_some(label))
    }

    /// Whether each of some steps leads from an entry to one that is there. Cost: as of [`Tree::find`] for each, until one is not there.
    ///
    /// # Errors
    ///
    /// [`Fault`] if pages are missing: of many steps at once, so that who asks again does not go over all of them for each page.
    pub fn has_all(&self, from: &Label, steps: impl IntoIterator<Item = Step>) -> Result<bool, Fault> {
        let mut missing = Vec::new();
        for step in steps {
            match self.find_below(from, &[step]) {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(false),
                Err(fault) if fault.is_damage() => return Err(fault),
                Err(Fault(pages)) => missing.extend(pages),
            }
            // Steps that follow each other lack the same pages.
            if missing.len() > MISSING_MAX {
                missing.sort_unstable();
                missing.dedup();
                if missing.len() > MISSING_MAX / 2 {
                    break;
                }
            }
        }
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() { Ok(true) } else { Err(Fault(missing)) }
    }

    /// All entries that steps lead to, of which the last may be a list without keys: all its entries, in document order.
    ///
    /// # Errors
    ///
    /// [`Fault`] if a page is missing.
    pub fn find_all(&self, steps: &[Step]) -> Result<Vec<Label>, Fault> {
        let Some((last, before)) = steps.split_last() else { return Ok(vec![Label::top()]) };
        let is_list = matches!(self.schema.node(last.node).kind, NodeKind::List { .. });
        if last.at != StepAt::Only || !is_list {
            return Ok(self.find(steps)?.into_iter().collect());
        }
        let Some(parent) = self.find(before)? else { return Ok(Vec::new()) };
        let (mut entries, mut labels) = (self.entries(&parent, last.node), Vec::new());
        while let Some(label) = entries.next_label()? {
            labels.push(label);
        }
        Ok(labels)
    }

    /// The entry of a list by the values of its keys, in the order of its `key` statement. Cost: O(log records), or a look at the
    /// siblings if the tree is inline.
    ///
    /// # Errors
    ///
    /// [`Fault`] if a page is missing.
    pub fn find_entry(&self, parent: &Label, list: NodeId, keys: &[&str]) -> Result<Option<Label>, Fault> {
        let slot = self.schema.node(list).slot;
        if self.has_index() {
            let order = self.get(&index_key(parent.as_bytes(), slot, keys.iter().copied()))?;
            return Ok(order.map(|order| parent.entry(slot, &order)));
        }
        let mut entries = self.entries(parent, list);
        while let Some((label, record)) = entries.next()? {
            if key_values(self.schema, &record).eq(keys.iter().map(|key| Some(*key))) {
                return Ok(Some(label));
            }
        }
        Ok(None)
    }

    /// The path of an entry, as clients of XPath spell it: names without prefixes, keys in quotes, quotes inside them doubled;
    /// entries of a list without keys by their position from one on. Cost: a read for each step that is a list's.
    ///
    /// # Errors
    ///
    /// [`Fault`] if a page is missing.
    pub fn path(&self, label: &Label) -> Result<String, Fault> {
        spell_path(self.schema, label, |entry| self.record(entry), |entry| self.position(entry))
    }

    /// How many entries of its list are before one.
    fn position(&self, label: &Label) -> Result<usize, Fault> {
        let step = label.steps(self.schema).last().expect("an entry of a list has a step");
        let parent = label.head(step.start);
        let (mut entries, mut position) = (self.entries(&parent, step.node), 0);
        while entries.next_label()?.is_some_and(|other| other < *label) {
            position += 1;
        }
        Ok(position)
    }

    fn step(&self, parent: &Label, step: &Step) -> Result<Option<Label>, Fault> {
        let node = self.schema.node(step.node);
        let keys = match &node.kind {
            NodeKind::Container { .. } => return Ok(Some(parent.container(node.slot))),
            NodeKind::List { keys, .. } => keys,
            _ => return Ok(None),
        };
        let mut entries = self.entries(parent, step.node);
        match &step.at {
            StepAt::Only => entries.next_label(),
            StepAt::Position(position) => nth(&mut entries, *position),
            StepAt::Keys(values) => {
                let value =
                    |key: &NodeId| values.iter().find(|(leaf, _)| leaf == key).map(|(_, text)| &**text);
                match keys.iter().map(value).collect::<Option<Vec<&str>>>() {
                    Some(all) if values.len() == all.len() && !all.is_empty() => {
                        self.find_entry(parent, step.node, &all)
                    }
                    _ => first_with(&mut entries, values),
                }
            }
        }
    }
}

fn nth(entries: &mut Cursor<'_>, position: usize) -> Result<Option<Label>, Fault> {
    for _ in 0..position {
        if entries.next_label()?.is_none() {
            return Ok(None);
        }
    }
    entries.next_label()
}

fn first_with(entries: &mut Cursor<'_>, values: &[(NodeId, Box<str>)]) -> Result<Option<Label>, Fault> {
    while let Some((label, record)) = entries.next()? {
        let has = |(leaf, text): &(NodeId, Box<str>)| {
            record.value(*leaf).is_some_and(|value| value.text == &**text)
        };
        if values.iter().all(has) {
            return Ok(Some(label));
        }
    }
    Ok(None)
}

/// The values of an entry's keys, in the order of its list's `key` statement; `None` for one that is not there.
pub(crate) fn key_values<'r>(
    schema: &'r Schema,
    record: &'r Record<'_>,
) -> impl Iterator<Item = Option<&'r str>> {
    let keys = record.node().map_or(&[][..], |node| schema.keys(node));
    keys.iter().map(|key| record.value(*key).map(|value| value.text))
}

/// Spells the path of an entry.
pub(crate) fn spell_path<'a>(
    schema: &'a Schema,
    label: &Label,
    record: impl Fn(&Label) -> Result<Option<Record<'a>>, Fault>,
    position: impl Fn(&Label) -> Result<usize, Fault>,
) -> Result<String, Fault> {
    let mut path = String::new();
    for step in label.steps(schema) {
        path.push('/');
        path.push_str(&schema.node(step.node).name);
        let NodeKind::List { keys, .. } = &schema.node(step.node).kind else { continue };
        let entry = label.head(step.end);
        if keys.is_empty() {
            let _ = write!(path, "[{}]", position(&entry)? + 1);
        } else if let Some(record) = record(&entry)? {
            put_keys(&mut path, schema, keys.iter().zip(key_values(schema, &record).flatten()));
        }
    }
    Ok(if path.is_empty() { "/".into() } else { path })
}

/// Appends `[@name='value' and @name='value']`.
pub(crate) fn put_keys<'k>(
    path: &mut String,
    schema: &Schema,
    keys: impl Iterator<Item = (&'k NodeId, &'k str)>,
) {
    let mut is_open = false;
    for (key, value) in keys {
        path.push_str(if is_open { " and @" } else { "[@" });
        path.push_str(&schema.node(*key).name);
        path.push_str("='");
        path.push_str(&value.replace('\'', "''"));
        path.push('\'');
        is_open = true;
    }
    if is_open {
        path.push(']');
    }
}
