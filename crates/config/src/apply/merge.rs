//! Merging: leaves that are given are set, what is not given stays; other cases of a choice go (RFC 7950, 7.9).

use std::collections::HashSet;

use lang_yang::{DataNode, Leaf, NodeId, SchemaNode};

use crate::apply::Editor;
use crate::cache::Fault;
use crate::edit::{ApplyError, LeafLists, MergeOptions, Position};
use crate::label::Label;
use crate::limits::RECORD_BYTES_MAX;
use crate::record::{self, RawLeaf, RawLeaves, ValueRef};

impl Editor<'_> {
    pub(super) fn merge(
        &mut self,
        parent: &Label,
        nodes: &[DataNode],
        options: MergeOptions,
    ) -> Result<(), ApplyError> {
        let mut absent = Vec::new();
        self.drop_other_cases(parent, nodes.iter().map(|node| node.schema))?;
        self.each(nodes, |editor, node| editor.merge_one(parent, node, options, &mut absent))?;
        if absent.is_empty() { Ok(()) } else { Err(ApplyError::NotFound(absent)) }
    }

    fn merge_one(
        &mut self,
        parent: &Label,
        node: &DataNode,
        options: MergeOptions,
        absent: &mut Vec<String>,
    ) -> Result<(), ApplyError> {
        let Some(label) = self.locate(parent, node)? else {
            if options.must_exist {
                absent.push(self.draft.path_of_node(parent, node)?);
                return Ok(());
            }
            return self.create(parent, std::slice::from_ref(node), &Position::Last);
        };
        self.drop_other_cases(&label, node.content.leaves.iter().map(|leaf| leaf.schema))?;
        self.set_leaves(&label, &node.content.leaves, options.leaf_lists)?;
        self.drop_other_cases(&label, node.content.children.iter().map(|child| child.schema))?;
        self.each(&node.content.children, |editor, child| editor.merge_one(&label, child, options, absent))
    }

    /// Sets leaves of an entry; keys may be given, but not changed.
    pub(super) fn set_leaves(
        &mut self,
        label: &Label,
        leaves: &[Leaf],
        leaf_lists: LeafLists,
    ) -> Result<(), ApplyError> {
        let schema = self.draft.schema();
        self.check_leaves(label, label.node(schema), leaves)?;
        let record = self.draft.record(label)?.ok_or_else(Fault::damage)?;
        let keys = label.node(schema).map_or(&[][..], |node| schema.keys(node));
        let is_changed = |leaf: &&Leaf| {
            let before = record.value(leaf.schema);
            keys.contains(&leaf.schema)
                && before.map(|value| value.text) != leaf.values.first().map(|value| &*value.text)
        };
        if let Some(key) = leaves.iter().find(is_changed) {
            return Err(ApplyError::KeyChange(self.leaf_path(label, key.schema)?));
        }
        let is_added = |node: NodeId| leaf_lists == LeafLists::Add && is_leaf_list(schema.node(node));
        let mut given: Vec<(u32, &Leaf)> =
            leaves.iter().map(|leaf| (schema.node(leaf.schema).slot, leaf)).collect();
        given.sort_unstable_by_key(|(slot, _)| *slot);
        let (mut merged, mut given) = (Vec::new(), given.into_iter().peekable());
        for raw in RawLeaves::new(record.bytes()) {
            while let Some((slot, leaf)) = given.next_if(|(slot, _)| *slot < raw.slot) {
                record::put_leaf(&mut merged, slot, record::refs(&leaf.values));
            }
            match given.next_if(|(slot, _)| *slot == raw.slot) {
                None => record::put_raw(&mut merged, raw),
                Some((slot, leaf)) if is_added(leaf.schema) => {
                    let values = self.union(label, raw, leaf)?;
                    record::put_leaf(&mut merged, slot, values.into_iter());
                }
                Some((slot, leaf)) => record::put_leaf(&mut merged, slot, record::refs(&leaf.values)),
            }
        }
        for (slot, leaf) in given {
            record::put_leaf(&mut merged, slot, record::refs(&leaf.values));
        }
        self.draft.put(label, &merged)
    }

    /// The values that are there, and behind them those given that are not. Cost: O(values), up to the limit of a record.
    fn union<'v>(
        &self,
        label: &Label,
        raw: RawLeaf<'v>,
        leaf: &'v Leaf,
    ) -> Result<Vec<ValueRef<'v>>, ApplyError> {
        let mut values: Vec<ValueRef<'v>> = raw.values().collect();
        let mut held: HashSet<&str> = values.iter().map(|value| value.text).collect();
        let mut bytes: usize = held.iter().map(|text| text.len()).sum();
        for value in record::refs(&leaf.values) {
            if !held.insert(value.text) {
                continue;
            }
            bytes += value.text.len();
            if bytes > RECORD_BYTES_MAX {
                let path = self.draft.path(label)?;
                return Err(ApplyError::TooLarge { what: "the record", path, bytes, max: RECORD_BYTES_MAX });
            }
            values.push(value);
        }
        Ok(values)
    }

    pub(super) fn remove_leaf(
        &mut self,
        label: &Label,
        leaf: NodeId,
        value: Option<&str>,
    ) -> Result<(), ApplyError> {
        let schema = self.draft.schema();
        let node = label.node(schema);
        if schema.is_entry(leaf) || schema.node(leaf).parent != node {
            return self.misplaced(label, leaf);
        }
        if node.is_some_and(|node| schema.keys(node).contains(&leaf)) {
            return Err(ApplyError::KeyChange(self.leaf_path(label, leaf)?));
        }
        let record = self.draft.record(label)?.ok_or_else(Fault::damage)?;
        let (slot, mut left, mut is_found) = (schema.node(leaf).slot, Vec::new(), false);
        for raw in RawLeaves::new(record.bytes()) {
            if raw.slot != slot {
                record::put_raw(&mut left, raw);
                continue;
            }
            let kept: Vec<ValueRef<'_>> =
                raw.values().filter(|held| value.is_some_and(|value| held.text != value)).collect();
            is_found = kept.len() < raw.values().len() || value.is_none();
            if !kept.is_empty() {
                record::put_leaf(&mut left, slot, kept.into_iter());
            }
        }
        if is_found {
            return self.draft.put(label, &left);
        }
        let path = self.leaf_path(label, leaf)?;
        let path =
            value.map_or_else(|| path.clone(), |value| format!("{path}[.='{}']", value.replace('\'', "''")));
        Err(ApplyError::NotFound(vec![path]))
    }

    /// Removes what is of other cases than nodes that are set.
    pub(super) fn drop_other_cases(
        &mut self,
        label: &Label,
        set: impl Iterator<Item = NodeId>,
    ) -> Result<(), ApplyError> {
        let schema = self.draft.schema();
        let mut set: Vec<&SchemaNode> =
            set.map(|node| schema.node(node)).filter(|node| !node.choices.is_empty()).collect();
        set.dedup_by_key(|node| node.slot);
        let is_other = |node: &SchemaNode| set.iter().any(|set| conflicts(node, set));
        if set.is_empty() {
            return Ok(());
        }
        let node = label.node(schema);
        for child in schema.children(node).iter().filter(|child| is_other(schema.node(**child))) {
            if schema.is_entry(*child) {
                if self.draft.list(label, *child).next_entry()?.is_some() {
                    self.draft.remove_list(label, *child);
                }
                continue;
            }
            let is_there = self.draft.record(label)?.is_some_and(|record| record.leaf(*child).is_some());
            if is_there {
                self.remove_leaf(label, *child, None)?;
            }
        }
        Ok(())
    }
}

fn is_leaf_list(node: &SchemaNode) -> bool {
    matches!(node.kind, lang_yang::NodeKind::LeafList { .. })
}

/// Whether two nodes are of different cases of one choice.
fn conflicts(one: &SchemaNode, other: &SchemaNode) -> bool {
    one.choices
        .iter()
        .any(|one| other.choices.iter().any(|other| one.choice == other.choice && one.case != other.case))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lang_yang::testing::{SchemaBuilder, string};
    use lang_yang::{Content, DataNode, Leaf, Schema, Value, ValueKind};

    use super::*;
    use crate::{Applied, Attempt, Edit, PageCache, Pages, Place, Root, Tree, apply};

    /// Merges values into the leaf-list of a container.
    fn merge(
        schema: &Schema,
        (root, pages): (&Root, &Pages),
        texts: impl Iterator<Item = String>,
    ) -> Result<Applied, ApplyError> {
        let values = texts.map(|text| Value { kind: ValueKind::Text, text: text.into() }).collect();
        let (net, tag) = (schema.by_name("net")[0], schema.by_name("tag")[0]);
        let content = Content { leaves: vec![Leaf { schema: tag, values }], children: Vec::new() };
        let options = MergeOptions { must_exist: false, leaf_lists: LeafLists::Add };
        let nodes = [DataNode { schema: net, content }].into();
        let edit = Edit::Merge { parent: Place::Made(Vec::new()), nodes, options };
        let attempt = Attempt { version: root.bytes() + 1, nonce: 1 };
        apply(&Tree::new(schema, root, pages), &[edit], attempt)
    }

    #[test]
    fn values_are_added_once_up_to_the_limit_of_a_record() {
        let schema =
            SchemaBuilder::new("m", "m").container("net", |net| net.leaf_list("tag", string())).build();
        let pages = Pages::new(Arc::new(PageCache::new(0)));
        let some = merge(&schema, (&Root::empty(), &pages), (0..20_000).map(|number| number.to_string()));
        let some = some.unwrap();
        pages.pin_written(&some.pages);
        let more = (10_000..30_000).map(|number| number.to_string());
        let more = merge(&schema, (&some.root, &pages), more).unwrap();
        pages.pin_written(&more.pages);
        let tree = Tree::new(&schema, &more.root, &pages);
        let net = Label::top().container(schema.node(schema.by_name("net")[0]).slot);
        let record = tree.record(&net).unwrap().unwrap();
        let values = record.leaf(schema.by_name("tag")[0]).unwrap();
        assert!(values.map(|value| value.text.to_owned()).eq((0..30_000).map(|number| number.to_string())));
        let many = (0..500_000).map(|number| format!("{number:08}"));
        let refused = merge(&schema, (&some.root, &pages), many).unwrap_err();
        let ApplyError::TooLarge { path, bytes, max, .. } = &refused else { panic!("{refused}") };
        assert_eq!((&**path, *max), ("/net", RECORD_BYTES_MAX));
        assert!(*bytes <= max + 8, "told at the first value above it: {bytes}");
    }
}
