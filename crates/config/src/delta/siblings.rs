//! The entries below one parent in both trees, and which of them are the same.

use std::collections::HashMap;

use bytes::Bytes;
use lang_yang::{NodeId, NodeKind};

use super::schemas::NodeMap;
use crate::find::key_values;
use crate::label::Label;
use crate::record::Record;
use crate::{Cursor, Fault, Tree};

/// An entry with its leaves, for as long as a report is made.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) label: Label,
    pub(super) node: NodeId,
    record: Bytes,
}

impl Entry {
    pub(super) fn record<'a>(&self, tree: &Tree<'a>) -> Record<'a> {
        Record::new(tree.schema(), Some(self.node), self.record.clone())
    }
}

/// Entries of one tree that are read one after the other.
#[derive(Debug)]
pub(super) struct Siblings {
    source: Source,
    pub(super) entries: Vec<Entry>,
}

#[derive(Debug)]
enum Source {
    /// These, the next one last.
    Given(Vec<Label>),
    /// All right below a parent, from this label on.
    Below {
        parent: Label,
        from: Option<Label>,
    },
    End,
}

impl Siblings {
    /// Entries of these labels, which ascend.
    pub(super) fn given(labels: &[Label]) -> Self {
        Self { source: Source::Given(labels.iter().rev().cloned().collect()), entries: Vec::new() }
    }

    /// All entries right below one.
    pub(super) fn below(parent: Label) -> Self {
        Self { source: Source::Below { parent, from: None }, entries: Vec::new() }
    }

    /// Reads on; how many entries it read.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<u64, Fault> {
        let before = self.entries.len();
        let read = match &mut self.source {
            Source::Given(labels) => read_given(cursor, labels, &mut self.entries),
            Source::Below { parent, from } => read_below(cursor, parent, from, &mut self.entries),
            Source::End => Ok(()),
        };
        read?;
        self.source = Source::End;
        Ok((self.entries.len() - before) as u64)
    }
}

fn read_given(
    cursor: &mut Cursor<'_>,
    labels: &mut Vec<Label>,
    entries: &mut Vec<Entry>,
) -> Result<(), Fault> {
    while let Some(label) = labels.last() {
        cursor.turn_to(label);
        // An entry that is gone may have left others below it.
        let found = cursor.next()?.filter(|(found, _)| found == label);
        entries.extend(found.and_then(|(label, record)| entry(label, &record)));
        labels.pop();
    }
    Ok(())
}

fn read_below(
    cursor: &mut Cursor<'_>,
    parent: &Label,
    from: &mut Option<Label>,
    entries: &mut Vec<Entry>,
) -> Result<(), Fault> {
    cursor.turn_to(parent);
    cursor.seek(&from.clone().unwrap_or_else(|| parent.below()));
    while let Some((label, record)) = cursor.next()? {
        *from = Some(label.above());
        cursor.skip_below();
        entries.extend(entry(label, &record));
    }
    Ok(())
}

fn entry(label: Label, record: &Record<'_>) -> Option<Entry> {
    Some(Entry { label, node: record.node()?, record: record.bytes().clone() })
}

/// Entries of one tree, with it.
#[derive(Clone, Copy)]
pub(super) struct Family<'s, 't> {
    pub(super) tree: &'s Tree<'t>,
    pub(super) entries: &'s [Entry],
}

/// For each entry of the source the same one of the target, by position. Cost: O(entries), a hash of the keys of each from the first
/// one on that is at another position.
pub(super) fn matches(source: Family<'_, '_>, target: Family<'_, '_>, map: &NodeMap) -> Vec<Option<usize>> {
    let mut by_keys: Option<HashMap<(NodeId, Vec<String>), usize>> = None;
    let mut next = 0;
    let mut found = Vec::with_capacity(source.entries.len());
    for (position, entry) in source.entries.iter().enumerate() {
        let same = map.get(entry.node).and_then(|node| {
            if target.entries.get(next).is_some_and(|other| other.node == node)
                && is_same(source, position, target, next)
            {
                return Some(next);
            }
            let all = by_keys.get_or_insert_with(|| {
                let key = |(at, entry): (usize, &Entry)| ((entry.node, target.keys(at)), at);
                target.entries.iter().enumerate().map(key).collect()
            });
            all.get(&(node, source.keys(position))).copied()
        });
        next = same.map_or(next, |same| same + 1);
        found.push(same);
    }
    found
}

/// Whether entries of the same node are the same.
fn is_same(one: Family<'_, '_>, at: usize, other: Family<'_, '_>, other_at: usize) -> bool {
    let (Some(left), Some(right)) = (one.entries.get(at), other.entries.get(other_at)) else { return false };
    if one.has_no_keys(left) {
        return one.rank(at) == other.rank(other_at);
    }
    let (left, right) = (left.record(one.tree), right.record(other.tree));
    key_values(one.tree.schema(), &left).eq(key_values(other.tree.schema(), &right))
}

impl Family<'_, '_> {
    fn has_no_keys(&self, entry: &Entry) -> bool {
        matches!(&self.tree.schema().node(entry.node).kind, NodeKind::List { keys, .. } if keys.is_empty())
    }

    /// How many entries of its list are before one.
    fn rank(&self, at: usize) -> usize {
        let Some(entry) = self.entries.get(at) else { return 0 };
        at - self.entries.partition_point(|other| other.node != entry.node && other.label < entry.label)
    }

    /// What tells an entry from its siblings of the same node: its keys, or its rank if there are none.
    fn keys(&self, at: usize) -> Vec<String> {
        match self.entries.get(at) {
            Some(entry) if self.has_no_keys(entry) => vec![self.rank(at).to_string()],
            Some(entry) => {
                let record = entry.record(self.tree);
                key_values(self.tree.schema(), &record).map(|key| key.unwrap_or("").to_owned()).collect()
            }
            None => Vec::new(),
        }
    }
}
