//! Labels: where a container or list entry is in its tree, as bytes that sort in document order and never change while the entry
//! lives.
//!
//! ```text
//! label = { step }          empty: the top
//! step  = slot [ order ]    the slot of the schema node among the children of its parent; of a list entry its order, too
//! slot  = 0x01 + n          n below 239; 0xF0.. and one more byte below 2,287; 0xF8 and four bytes
//! ```
//!
//! No slot begins with 0x00, 0xFE or 0xFF: 0x00 ends a label inside another key, 0xFE is above all that lies below an entry (and
//! leads a longer order), 0xFF begins the keys that are no labels.

#[cfg(test)]
mod tests;

use lang_yang::{NodeId, NodeKind, Schema};
use smallvec::SmallVec;

use crate::order::Order;

/// Above everything below an entry.
pub(crate) const ABOVE: u8 = 0xFE;
/// Begins keys that are no labels.
pub(crate) const NO_LABEL: u8 = 0xFF;

const WIDE: u8 = 0xF0;
const WIDEST: u8 = 0xF8;
const NARROW_SLOTS: u32 = 239;
const WIDE_SLOTS: u32 = NARROW_SLOTS + (8 << 8);

/// The stable name of a container or list entry inside its tree; the order of labels is document order.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Label(pub(crate) SmallVec<[u8; 24]>);

/// One step of a label.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LabelStep {
    /// The container or list.
    pub node: NodeId,
    /// Where the slot of the step begins in the label's bytes.
    pub(crate) start: usize,
    /// Where its order begins; its end if it has none.
    pub(crate) order: usize,
    /// Where the step ends.
    pub(crate) end: usize,
}

impl Label {
    /// Of the top of a tree.
    pub fn top() -> Self {
        Self::default()
    }

    /// Whether this is the top.
    pub fn is_top(&self) -> bool {
        self.0.is_empty()
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The label of these bytes. `None` if they are none under this schema. Cost: O(length).
    pub fn from_bytes(schema: &Schema, bytes: &[u8]) -> Option<Self> {
        let end = Steps::new(schema, bytes).last().map_or(0, |step| step.end);
        (end == bytes.len()).then(|| Self(bytes.into()))
    }

    /// Its steps, from the top on. Cost of each: O(1).
    pub fn steps<'a>(&'a self, schema: &'a Schema) -> Steps<'a> {
        Steps::new(schema, &self.0)
    }

    /// The container or list that it is an entry of; `None` for the top. Cost: O(length).
    pub fn node(&self, schema: &Schema) -> Option<NodeId> {
        self.steps(schema).last().map(|step| step.node)
    }

    /// The label of what it lies in; `None` for the top. Cost: O(length).
    pub fn parent(&self, schema: &Schema) -> Option<Self> {
        let last = self.steps(schema).last()?;
        Some(Self(self.0.get(..last.start)?.into()))
    }

    /// Whether it is `other`, or lies below it. Cost: O(length).
    pub fn is_within(&self, other: &Self) -> bool {
        is_within(&self.0, &other.0)
    }

    /// How many steps it has: zero at the top. Cost: O(length).
    pub fn depth(&self, schema: &Schema) -> usize {
        self.steps(schema).count()
    }

    /// The label of its first steps, which end there.
    pub(crate) fn head(&self, end: usize) -> Self {
        Self(self.0.get(..end).expect("a step ends in its label").into())
    }

    /// The label of a container below this one.
    pub(crate) fn container(&self, slot: u32) -> Self {
        let mut bytes = self.0.clone();
        put_slot(&mut bytes, slot);
        Self(bytes)
    }

    /// The label of a list entry below this one.
    pub(crate) fn entry(&self, slot: u32, order: &[u8]) -> Self {
        let mut label = self.container(slot);
        label.0.extend_from_slice(order);
        label
    }

    /// The least key that is above this label and everything below it.
    pub(crate) fn above(&self) -> Self {
        let mut bytes = self.0.clone();
        bytes.push(ABOVE);
        Self(bytes)
    }
}

/// Whether one label's bytes are another's or of something below it.
pub(crate) fn is_within(label: &[u8], other: &[u8]) -> bool {
    label.strip_prefix(other).is_some_and(|rest| rest.first().is_none_or(|next| *next < ABOVE))
}

/// Appends a slot.
pub(crate) fn put_slot(out: &mut SmallVec<[u8; 24]>, slot: u32) {
    let [_, _, _, low] = slot.to_be_bytes();
    if slot < NARROW_SLOTS {
        out.push(low + 1);
    } else if slot < WIDE_SLOTS {
        let [_, _, high, low] = (slot - NARROW_SLOTS).to_be_bytes();
        out.extend_from_slice(&[WIDE + high, low]);
    } else {
        out.push(WIDEST);
        out.extend_from_slice(&slot.to_be_bytes());
    }
}

/// The slot that these bytes begin with, and what follows it.
pub(crate) fn split_slot(bytes: &[u8]) -> Option<(u32, &[u8])> {
    match *bytes {
        [head @ 1..WIDE, ref rest @ ..] => Some((u32::from(head) - 1, rest)),
        [head @ WIDE..WIDEST, low, ref rest @ ..] => {
            Some((NARROW_SLOTS + u32::from_be_bytes([0, 0, head - WIDE, low]), rest))
        }
        [WIDEST, a, b, c, d, ref rest @ ..] => Some((u32::from_be_bytes([a, b, c, d]), rest)),
        _ => None,
    }
}

/// The steps of a label; it ends where the bytes are no step of the schema.
#[derive(Clone, Debug)]
pub struct Steps<'a> {
    schema: &'a Schema,
    bytes: &'a [u8],
    at: usize,
    parent: Option<NodeId>,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(schema: &'a Schema, bytes: &'a [u8]) -> Self {
        Self { schema, bytes, at: 0, parent: None }
    }
}

impl Iterator for Steps<'_> {
    type Item = LabelStep;

    fn next(&mut self) -> Option<LabelStep> {
        let rest = self.bytes.get(self.at..)?;
        let (slot, behind) = split_slot(rest)?;
        let node = *self.schema.children(self.parent).get(slot as usize)?;
        let order = self.bytes.len() - behind.len();
        let end = match self.schema.node(node).kind {
            NodeKind::Container { .. } => order,
            NodeKind::List { .. } => order + Order::split(behind)?.0.len(),
            _ => return None,
        };
        let step = LabelStep { node, start: self.at, order, end };
        (self.at, self.parent) = (end, Some(node));
        Some(step)
    }
}

/// The label of one entry after the other, and the schema nodes on the way to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelPath {
    label: Label,
    /// Each with where its step ends.
    nodes: SmallVec<[(usize, NodeId); 8]>,
}

impl LabelPath {
    /// The label.
    pub(crate) fn label(&self) -> &Label {
        &self.label
    }

    /// The schema node of the entry; `None` at the top.
    pub(crate) fn node(&self) -> Option<NodeId> {
        self.nodes.last().map(|(_, node)| *node)
    }

    /// Where the label of what the entry lies in ends.
    pub(crate) fn parent_end(&self) -> usize {
        self.nodes.iter().rev().nth(1).map_or(0, |(end, _)| *end)
    }

    /// Goes to another label. Cost: O(what differs).
    ///
    /// # Panics
    ///
    /// If it is no label of this schema: trees are read with the schema that they were written with.
    pub(crate) fn go(&mut self, schema: &Schema, key: &[u8]) {
        assert!(self.try_go(schema, key), "pages are checked against their schema when they are loaded");
    }

    /// Goes to another label; `false` if it is none of this schema. Cost: O(what differs).
    pub(crate) fn try_go(&mut self, schema: &Schema, key: &[u8]) -> bool {
        let common = self.label.0.iter().zip(key).take_while(|(before, here)| before == here).count();
        // A step whose order goes on deeper is another entry.
        while self.nodes.last().is_some_and(|(end, _)| *end > common || key.get(*end) == Some(&ABOVE)) {
            self.nodes.pop();
        }
        self.label.0.truncate(common);
        self.label.0.extend_from_slice(key.get(common..).expect("it has what both have"));
        let (mut at, mut node) = self.nodes.last().map_or((0, None), |(end, node)| (*end, Some(*node)));
        while at < key.len() {
            let step = Steps { schema, bytes: &self.label.0, at, parent: node }.next();
            let Some(step) = step else { return false };
            (at, node) = (step.end, Some(step.node));
            self.nodes.push((step.end, step.node));
        }
        true
    }
}

const _: () = assert!(
    ABOVE == crate::order::DEEPER,
    "what is above an entry's subtree is where its longer orders begin"
);
