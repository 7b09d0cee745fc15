//! What of a resource is shown: which levels, which fields, configuration or state, and default values. Entries come in document
//! order, from wherever they lie, and go to a writer.

use lang_yang::{Leaf, NodeId, NodeKind, Schema, Value, ValueKind, ValueRef};

use crate::fields::Selection;
use crate::media::Form;
use crate::params::{DataKind, Defaults};
use crate::writer::{Around, Writer};

/// The leaves of one container or entry.
pub(crate) trait Leaves {
    /// Calls back with each leaf that is there, in the order of the schema.
    fn each(&self, call: &mut dyn FnMut(NodeId, &mut dyn Iterator<Item = ValueRef<'_>>));

    /// The containers and lists beside them that are there and lie in cases of choices.
    fn choosing(&self) -> &[NodeId] {
        &[]
    }
}

/// No leaves.
struct NoLeaves;

impl Leaves for NoLeaves {
    fn each(&self, _: &mut dyn FnMut(NodeId, &mut dyn Iterator<Item = ValueRef<'_>>)) {}
}

impl Leaves for Vec<Leaf> {
    fn each(&self, call: &mut dyn FnMut(NodeId, &mut dyn Iterator<Item = ValueRef<'_>>)) {
        for leaf in self {
            call(leaf.schema, &mut leaf.values.iter().map(ValueRef::from));
        }
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) content: DataKind,
    /// Levels; `None`: all.
    pub(crate) depth: Option<u16>,
    pub(crate) selection: Selection,
    pub(crate) defaults: Defaults,
    /// For [`DataKind::State`], which nodes have state data below them, or are such.
    has_state: Vec<bool>,
}

/// An answer under way.
#[derive(Debug)]
pub(crate) struct Shaper {
    wanted: Wanted,
    around: Around,
    pub(crate) writer: Writer,
    /// From what stands around the resource on.
    frames: Vec<Frame>,
}

#[derive(Debug, Default)]
struct Frame {
    node: Option<NodeId>,
    /// The level of the node, counted as `depth` does.
    level: u32,
    selection: Selection,
    /// Whether it is written; if not, it waits for something below it that is shown.
    is_open: bool,
    /// The keys of an entry that waits.
    keys: Vec<(NodeId, Vec<Value>)>,
    /// The first child whose defaults are still to come.
    next_slot: u32,
    /// Where all defaults are shown: the leaves that are there, and what else chooses cases.
    present: Vec<NodeId>,
}

impl Wanted {
    /// What is asked for. Cost: for state data alone O(nodes of the schema), else none.
    pub(crate) fn new(
        schema: &Schema,
        (content, defaults): (DataKind, Defaults),
        depth: Option<u16>,
        selection: Selection,
    ) -> Self {
        let has_state = if content == DataKind::State { state_below(schema) } else { Vec::new() };
        Self { content, depth, selection, defaults, has_state }
    }

    fn is_reporting_all(&self) -> bool {
        matches!(self.defaults, Defaults::ReportAll | Defaults::ReportAllTagged)
    }

    /// Whether a node at this level is shown, or something below it may be.
    fn admits(&self, schema: &Schema, node: NodeId, level: u32) -> bool {
        let is_config = schema.node(node).is_config;
        let fits = match self.content {
            DataKind::All => true,
            DataKind::Config => is_config,
            DataKind::State => self.has_state.get(node.0 as usize).copied().unwrap_or(!is_config),
        };
        fits && self.depth.is_none_or(|depth| level <= u32::from(depth))
    }
}

/// By number, whether a node is state data or has some below it.
fn state_below(schema: &Schema) -> Vec<bool> {
    let mut has: Vec<bool> = schema.nodes.iter().map(|node| !node.is_config).collect();
    // Parents come before their children.
    for (id, node) in schema.nodes.iter().enumerate().rev() {
        let is_state = has.get(id).copied().unwrap_or(false);
        if let Some(above) = node.parent.and_then(|parent| has.get_mut(parent.0 as usize)) {
            *above |= is_state;
        }
    }
    has
}

impl Shaper {
    /// An answer that shows this node and what is below it; `None`: the datastore.
    pub(crate) fn new(form: Form, schema: &Schema, target: Option<NodeId>, wanted: Wanted) -> Self {
        let around = if target.is_some() { Around::Node } else { Around::Data };
        let selection = match target {
            Some(target) => Selection::only(target, wanted.selection.clone()),
            None => wanted.selection.clone(),
        };
        let node = target.and_then(|target| schema.node(target).parent);
        // Around one node nothing else is shown, so no defaults are.
        let next_slot = if target.is_some() { u32::MAX } else { 0 };
        let first = Frame { node, level: 1, selection, is_open: true, next_slot, ..Frame::default() };
        Self { wanted, around, writer: Writer::begin(form, around), frames: vec![first] }
    }

    /// Whether defaults are shown that are not stored.
    pub(crate) fn reports_all(&self) -> bool {
        self.wanted.is_reporting_all()
    }

    /// The next entry in document order, which lies in the first `above` of the open ones (one: in what stands around the resource). Whether
    /// what is below it may be shown.
    pub(crate) fn entry(&mut self, schema: &Schema, above: usize, node: NodeId, leaves: &dyn Leaves) -> bool {
        self.close_to(schema, above.max(1));
        self.fill(schema, schema.node(node).slot);
        // What is asked for is shown, whatever of it is.
        let is_target = self.frames.len() == 1 && self.around == Around::Node;
        let Some(frame) = self.frame_of(schema, node, is_target) else { return false };
        let is_deepest = self.is_deepest(&frame);
        self.push(schema, frame, leaves, is_target);
        !is_deepest
    }

    /// The leaves of the top, of an answer that shows the datastore.
    pub(crate) fn top(&mut self, schema: &Schema, leaves: &dyn Leaves) {
        self.put_leaves(schema, leaves);
    }

    /// A leaf or leaf-list that is the resource itself.
    pub(crate) fn leaf<'v>(
        &mut self,
        schema: &Schema,
        node: NodeId,
        values: impl Iterator<Item = ValueRef<'v>>,
        is_default: bool,
    ) {
        let is_marked = is_default && self.wanted.defaults == Defaults::ReportAllTagged;
        self.writer.leaf(schema, node, values, is_marked);
    }

    /// Ends the answer.
    pub(crate) fn end(&mut self, schema: &Schema) {
        self.close_to(schema, 1);
        if self.around == Around::Data {
            self.fill(schema, u32::MAX);
        }
        self.writer.end(self.around);
    }

    /// A frame for a child of the last one; `None` if it is not shown.
    fn frame_of(&self, schema: &Schema, node: NodeId, is_target: bool) -> Option<Frame> {
        let around = self.frames.last()?;
        let selection = around.selection.below(node)?.clone();
        let level = around.level_below();
        let admitted = is_target || self.wanted.admits(schema, node, level);
        admitted.then(|| Frame { node: Some(node), level, selection, ..Frame::default() })
    }

    fn is_deepest(&self, frame: &Frame) -> bool {
        self.wanted.depth.is_some_and(|depth| frame.level_below() > u32::from(depth))
    }

    fn push(&mut self, schema: &Schema, frame: Frame, leaves: &dyn Leaves, is_shown: bool) {
        let node = frame.node.expect("only what stands around has none");
        // Of what is asked for in part, or for the state below it, only what leads to something is shown.
        let is_path = frame.selection != Selection::All
            || (self.wanted.content == DataKind::State && schema.node(node).is_config);
        self.frames.push(frame);
        if is_shown || !is_path {
            self.open_all(schema, Some((node, leaves)));
        } else {
            self.keep_keys(schema, node, leaves);
        }
        self.put_leaves(schema, leaves);
    }

    /// Opens what is not open yet, from the outermost on; the leaves are those of the last, whose keys are not kept.
    fn open_all(&mut self, schema: &Schema, last: Option<(NodeId, &dyn Leaves)>) {
        if let Some((node, leaves)) = last {
            self.keep_keys(schema, node, leaves);
        }
        for frame in &mut self.frames {
            if frame.is_open {
                continue;
            }
            frame.is_open = true;
            if let Some(node) = frame.node {
                self.writer.open(schema, node);
            }
            for (key, values) in std::mem::take(&mut frame.keys) {
                self.writer.leaf(schema, key, values.iter().map(ValueRef::from), false);
            }
        }
    }

    fn keep_keys(&mut self, schema: &Schema, node: NodeId, leaves: &dyn Leaves) {
        let keys = schema.keys(node);
        let Some(frame) = self.frames.last_mut().filter(|_| !keys.is_empty()) else { return };
        leaves.each(&mut |leaf, values| {
            if keys.contains(&leaf) {
                let values =
                    values.map(|value| Value { kind: value.kind, text: value.text.into() }).collect();
                frame.keys.push((leaf, values));
            }
        });
    }

    /// The leaves of the last frame, apart from keys.
    fn put_leaves(&mut self, schema: &Schema, leaves: &dyn Leaves) {
        let Some(node) = self.frames.last().map(|frame| frame.node) else { return };
        let keys = node.map_or(&[][..], |node| schema.keys(node));
        let is_named = self.frames.last().is_some_and(|frame| frame.selection != Selection::All);
        let all = self.wanted.is_reporting_all();
        let present = if all { present(leaves) } else { Vec::new() };
        if let Some(frame) = self.frames.last_mut() {
            frame.present.clone_from(&present);
        }
        let mut next = 0;
        leaves.each(&mut |leaf, values| {
            if keys.contains(&leaf) {
                // A key that is asked for shows its entry, with all keys.
                if is_named && self.wants_leaf(schema, leaf) {
                    self.open_all(schema, None);
                }
                return;
            }
            if all {
                self.put_defaults(schema, &present, (&mut next, schema.node(leaf).slot));
            }
            if self.wants_leaf(schema, leaf) {
                self.put_leaf(schema, leaf, values);
            }
        });
        if all {
            self.put_defaults(schema, &present, (&mut next, u32::MAX));
        }
    }

    fn put_leaf(&mut self, schema: &Schema, leaf: NodeId, values: &mut dyn Iterator<Item = ValueRef<'_>>) {
        if self.wanted.defaults != Defaults::Trim {
            self.open_all(schema, None);
            return self.writer.leaf(schema, leaf, values, false);
        }
        let values: Vec<Value> =
            values.map(|value| Value { kind: value.kind, text: value.text.into() }).collect();
        if !is_default(&schema.node(leaf).kind, &values) {
            self.open_all(schema, None);
            self.writer.leaf(schema, leaf, values.iter().map(ValueRef::from), false);
        }
    }

    /// The defaults of leaves that are not there, from slot `next` to before `slot`.
    fn put_defaults(&mut self, schema: &Schema, present: &[NodeId], (next, slot): (&mut u32, u32)) {
        let Some(node) = self.frames.last().map(|frame| frame.node) else { return };
        let children = schema.children(node).iter().skip(*next as usize);
        for child in children.take(slot.saturating_sub(*next) as usize) {
            *next += 1;
            if !present.contains(child)
                && is_in_force(schema, *child, present)
                && self.wants_leaf(schema, *child)
            {
                self.put_default(schema, *child);
            }
        }
        *next = (*next).max(slot.saturating_add(1).min(u32::MAX - 1));
    }

    fn put_default(&mut self, schema: &Schema, leaf: NodeId) {
        let kind = &schema.node(leaf).kind;
        let values = default_values(schema, leaf);
        if values.is_empty() {
            return;
        }
        debug_assert!(is_default(kind, &values), "a default value is one");
        self.open_all(schema, None);
        let is_marked = self.wanted.defaults == Defaults::ReportAllTagged;
        self.writer.leaf(schema, leaf, values.iter().map(ValueRef::from), is_marked);
    }

    fn wants_leaf(&self, schema: &Schema, leaf: NodeId) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        frame.selection.below(leaf).is_some() && self.wanted.admits(schema, leaf, frame.level_below())
    }

    /// Shows the defaults in containers without presence that are not there, among children before this slot.
    fn fill(&mut self, schema: &Schema, slot: u32) {
        if !self.wanted.is_reporting_all() {
            return;
        }
        let Some(frame) = self.frames.last_mut() else { return };
        let (node, from) = (frame.node, frame.next_slot);
        frame.next_slot = frame.next_slot.max(slot.saturating_add(1));
        let present = std::mem::take(&mut frame.present);
        for child in schema.children(node).iter().skip(from as usize) {
            let of = schema.node(*child);
            if of.slot >= slot {
                break;
            }
            let is_implied = of.kind == (NodeKind::Container { presence: false });
            if is_implied && is_in_force(schema, *child, &present) {
                self.fill_container(schema, *child);
            }
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.present = present;
        }
    }

    fn fill_container(&mut self, schema: &Schema, node: NodeId) {
        let Some(frame) = self.frame_of(schema, node, false) else { return };
        let count = self.frames.len();
        self.frames.push(frame);
        self.put_leaves(schema, &NoLeaves);
        self.close_to(schema, count);
    }

    /// Closes frames until so many are left.
    fn close_to(&mut self, schema: &Schema, count: usize) {
        while self.frames.len() > count {
            self.fill(schema, u32::MAX);
            if self.frames.pop().is_some_and(|frame| frame.is_open) {
                self.writer.close(schema);
            }
        }
    }
}

impl Frame {
    /// The level of what lies in it: selected nodes, and those that lead to them, count as the first.
    fn level_below(&self) -> u32 {
        match self.selection {
            Selection::All => self.level + 1,
            Selection::Some(_) => 1,
        }
    }
}

fn present(leaves: &dyn Leaves) -> Vec<NodeId> {
    let mut present = leaves.choosing().to_vec();
    leaves.each(&mut |leaf, _| present.push(leaf));
    present
}

/// Whether the defaults of a node that is not there count beside those that are: within a choice only if its case is the one that they
/// have chosen, or the default one where none has.
pub(crate) fn is_in_force(schema: &Schema, node: NodeId, present: &[NodeId]) -> bool {
    schema.node(node).choices.iter().all(|case| schema.is_chosen(case, present.iter().copied()))
}

/// The default values of a leaf or leaf-list; none if it has none.
pub(crate) fn default_values(schema: &Schema, leaf: NodeId) -> Vec<Value> {
    let node = schema.node(leaf);
    let texts: &[Box<str>] = match &node.kind {
        NodeKind::Leaf { default, .. } => default.as_slice(),
        NodeKind::LeafList { defaults, .. } => defaults,
        NodeKind::Container { .. } | NodeKind::List { .. } | NodeKind::Any(_) => &[],
    };
    let kind = |text: &str| {
        let rules = lang_yang::ValueRules {
            schema,
            module: node.module,
            prefixes: lang_yang::Prefixes::Modules,
            kinds: lang_yang::Kinds::Lenient,
        };
        let checked = node.type_().and_then(|type_| type_.check(lang_yang::Scalar::Text(text), &rules).ok());
        // The compiler has checked defaults; one that is none of its type's is shown as text.
        checked.unwrap_or_else(|| Value { kind: ValueKind::Text, text: text.into() })
    };
    texts.iter().map(|text| kind(text)).collect()
}

fn is_default(kind: &NodeKind, values: &[Value]) -> bool {
    let is =
        |texts: &[Box<str>]| !texts.is_empty() && texts.iter().eq(values.iter().map(|value| &value.text));
    match kind {
        NodeKind::Leaf { default, .. } => is(default.as_slice()),
        NodeKind::LeafList { defaults, .. } => is(defaults),
        NodeKind::Container { .. } | NodeKind::List { .. } | NodeKind::Any(_) => false,
    }
}

#[cfg(test)]
mod tests;
