//! Replacing: an entry becomes exactly what is given; what stays keeps its place, and its bytes if it is the same.

use std::collections::HashMap;

use lang_yang::{Content, DataNode, NodeId, NodeKind};

use crate::apply::Editor;
use crate::cache::Fault;
use crate::draft::Gap;
use crate::edit::{ApplyError, Position};
use crate::find::key_values;
use crate::label::{Label, split_slot};
use crate::record;

impl Editor<'_> {
    pub(super) fn replace(
        &mut self,
        parent: &Label,
        nodes: &[DataNode],
        at: Option<&Position>,
    ) -> Result<(), ApplyError> {
        self.drop_other_cases(parent, nodes.iter().map(|node| node.schema))?;
        self.each(nodes, |editor, node| editor.replace_one(parent, node, at))
    }

    fn replace_one(
        &mut self,
        parent: &Label,
        node: &DataNode,
        at: Option<&Position>,
    ) -> Result<(), ApplyError> {
        let there = self.locate(parent, node)?;
        let is_list = matches!(self.draft.schema().node(node.schema).kind, NodeKind::List { .. });
        match (there, at) {
            (Some(label), Some(at)) if is_list => {
                let order = self.draft.gap(parent, node.schema, at)?.next();
                // Orders may have been given anew.
                if let Some(label) = self.locate(parent, node)?.or(Some(label)) {
                    self.draft.remove(&label)?;
                }
                self.add(parent, node, order.as_bytes(), false)
            }
            (Some(label), _) => self.replace_content(&label, &node.content),
            (None, at) => {
                let last = Position::Last;
                self.create(parent, std::slice::from_ref(node), at.unwrap_or(&last))
            }
        }
    }

    /// Makes an entry, or the top, hold exactly this.
    pub(super) fn replace_content(&mut self, label: &Label, content: &Content) -> Result<(), ApplyError> {
        let schema = self.draft.schema();
        let node = label.node(schema);
        self.check_leaves(label, node, &content.leaves)?;
        self.check_keys(label, content)?;
        self.draft.put(label, &record::encode(schema, &content.leaves))?;
        let mut given: Vec<(NodeId, Vec<&DataNode>)> = Vec::new();
        for child in &content.children {
            self.check_child(label, child.schema)?;
            match given.iter_mut().rfind(|(node, _)| *node == child.schema) {
                Some((_, nodes)) => nodes.push(child),
                None => given.push((child.schema, vec![child])),
            }
        }
        for child in self.children_there(label)? {
            if given.iter().all(|(node, _)| *node != child) {
                self.draft.remove_list(label, child);
            }
        }
        self.each(given, |editor, (child, nodes)| {
            if matches!(editor.draft.schema().node(child).kind, NodeKind::List { .. }) {
                return editor.replace_list(label, child, &nodes);
            }
            let [node] = nodes[..] else {
                let path = format!("{}{}", editor.draft.base(label)?, editor.draft.schema().node(child).name);
                return Err(ApplyError::Duplicate(path));
            };
            match editor.locate(label, node)? {
                Some(there) => editor.replace_content(&there, &node.content),
                None => editor.add(label, node, &[], false),
            }
        })
    }

    fn check_keys(&self, label: &Label, content: &Content) -> Result<(), ApplyError> {
        let schema = self.draft.schema();
        let Some(record) = self.draft.record(label)? else { return Ok(()) };
        for key in record.node().map_or(&[][..], |node| schema.keys(node)) {
            let given = content.leaves.iter().find(|leaf| leaf.schema == *key);
            let Some(value) = given.and_then(|leaf| leaf.values.first()) else {
                let key = schema.node(*key).name.to_string();
                return Err(ApplyError::MissingKey { entry: self.draft.path(label)?, key });
            };
            if record.value(*key).is_none_or(|held| held.text != &*value.text) {
                return Err(ApplyError::KeyChange(self.leaf_path(label, *key)?));
            }
        }
        Ok(())
    }

    /// Containers and lists that have entries directly below one.
    fn children_there(&self, label: &Label) -> Result<Vec<NodeId>, ApplyError> {
        let schema = self.draft.schema();
        let children = schema.children(label.node(schema));
        let (mut below, mut there) = (self.draft.below(label), Vec::new());
        while let Some(key) = below.next()? {
            let step = key.get(label.as_bytes().len()..).and_then(split_slot);
            let (slot, _) = step.expect("labels are of the schema of their tree");
            there.extend(children.get(slot as usize).copied());
            below.skip_to(label.container(slot).above().as_bytes());
        }
        Ok(there)
    }

    /// Makes a list have exactly these entries, in this order. Entries whose order stays keep their labels.
    pub(super) fn replace_list(
        &mut self,
        parent: &Label,
        list: NodeId,
        nodes: &[&DataNode],
    ) -> Result<(), ApplyError> {
        for node in nodes {
            if node.schema != list {
                return self.misplaced(parent, node.schema);
            }
        }
        let there = self.draft.labels(parent, list)?;
        let matched = self.matched(parent, list, nodes, &there)?;
        let kept = ascending(&matched);
        let mut stays = vec![false; there.len()];
        for at in kept.iter().filter_map(|new| matched.get(*new).copied().flatten()) {
            stays.get_mut(at).into_iter().for_each(|stays| *stays = true);
        }
        if there.is_empty() || stays.iter().any(|stays| *stays) {
            let gone = there.iter().zip(&stays).filter(|(_, stays)| !**stays);
            self.each(gone, |editor, (label, _)| editor.draft.remove(label))?;
        } else {
            self.draft.remove_list(parent, list);
        }
        self.place(parent, nodes, &Kept { there: &there, matched: &matched, kept: &kept })
    }

    /// Puts entries in their order: those that stay are replaced, others added between them.
    fn place(&mut self, parent: &Label, nodes: &[&DataNode], kept: &Kept<'_>) -> Result<(), ApplyError> {
        let label_of =
            |new: &usize| kept.matched.get(*new).copied().flatten().and_then(|at| kept.there.get(at));
        let mut stays = kept.kept.iter().peekable();
        let mut gap = Gap::default();
        let list = nodes.first().map(|node| node.schema);
        gap.high = stays.peek().and_then(|new| self.draft.order(parent, list?, label_of(new)?));
        self.each(nodes.iter().enumerate(), |editor, (at, node)| {
            let Some(new) = stays.next_if(|new| **new == at) else {
                return editor.add(parent, node, gap.next().as_bytes(), false);
            };
            let label = label_of(new).expect("an entry that stays is there");
            gap.low = editor.draft.order(parent, node.schema, label);
            gap.high = stays.peek().and_then(|new| editor.draft.order(parent, node.schema, label_of(new)?));
            editor.replace_content(label, &node.content)
        })
    }

    /// For each entry that is given, which of those that are there it is: by its keys; without keys, by position.
    fn matched(
        &mut self,
        parent: &Label,
        list: NodeId,
        nodes: &[&DataNode],
        there: &[Label],
    ) -> Result<Vec<Option<usize>>, ApplyError> {
        let schema = self.draft.schema();
        if schema.keys(list).is_empty() {
            return Ok((0..nodes.len()).map(|at| (at < there.len()).then_some(at)).collect());
        }
        let mut known: HashMap<Vec<Box<str>>, usize> = HashMap::with_capacity(there.len());
        for (at, label) in there.iter().enumerate() {
            let record = self.draft.record(label)?.ok_or_else(Fault::damage)?;
            known.insert(key_values(schema, &record).flatten().map(Box::from).collect(), at);
        }
        let mut given: HashMap<Vec<Box<str>>, usize> = HashMap::with_capacity(nodes.len());
        let mut matched = Vec::with_capacity(nodes.len());
        for (new, node) in nodes.iter().enumerate() {
            let keys: Vec<Box<str>> = self.draft.keys_of(parent, node)?.into_iter().map(Box::from).collect();
            matched.push(known.get(&keys).copied());
            if given.insert(keys, new).is_some() {
                return Err(ApplyError::Duplicate(self.draft.path_of_node(parent, node)?));
            }
        }
        Ok(matched)
    }
}

/// Which of the entries that are given are there, and stay where they are.
struct Kept<'k> {
    there: &'k [Label],
    matched: &'k [Option<usize>],
    /// Positions among those given, ascending.
    kept: &'k [usize],
}

/// Positions of the longest ascending sequence among what is there. Cost: O(n log n).
pub(crate) fn ascending(numbers: &[Option<usize>]) -> Vec<usize> {
    // For each length, the position of the least number that ends such a sequence; and what was before each position.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; numbers.len()];
    for (at, number) in numbers.iter().enumerate() {
        let Some(number) = *number else { continue };
        let length = ends.partition_point(|(end, _)| *end < number);
        let previous = length.checked_sub(1).and_then(|length| ends.get(length)).map(|(_, at)| *at);
        before.get_mut(at).into_iter().for_each(|before| *before = previous);
        match ends.get_mut(length) {
            Some(end) => *end = (number, at),
            None => ends.push((number, at)),
        }
    }
    let mut sequence = Vec::with_capacity(ends.len());
    let mut next = ends.last().map(|(_, at)| *at);
    while let Some(at) = next {
        sequence.push(at);
        next = before.get(at).copied().flatten();
    }
    sequence.reverse();
    sequence
}
