//! Records: the leaves and leaf-lists of one container or list entry, as the bytes that are stored, read where they lie.
//!
//! ```text
//! record = { leaf }                               slots ascend
//! leaf   = varint slot, values
//! values = value                                  one: of a leaf, or of a leaf-list that has one
//!        | 0x10, varint count, bytes of them all  another number: of a leaf-list
//! value  = kind (one byte), text
//! ```

#[cfg(test)]
mod tests;

use bytes::Bytes;
use lang_yang::{Leaf, NodeId, Schema, Value, ValueKind};
use store::wire::{Malformed, Reader, put_bytes, put_text, put_varint};

/// The byte of values that are not exactly one.
const MANY: u8 = 0x10;

/// All kinds of values, in the order of their bytes.
const KINDS: [ValueKind; 8] = [
    ValueKind::Text,
    ValueKind::Integer,
    ValueKind::LongInteger,
    ValueKind::Decimal,
    ValueKind::Boolean,
    ValueKind::Empty,
    ValueKind::Identity,
    ValueKind::Json,
];

/// A container, a list entry or the top of a tree: its leaves, without what lies below it. Cheap to clone: it shares the bytes of
/// its page.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    schema: &'a Schema,
    node: Option<NodeId>,
    bytes: Bytes,
}

/// A value, where it lies.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ValueRef<'a> {
    /// How it is spelt outside.
    pub kind: ValueKind,
    /// The canonical text.
    pub text: &'a str,
}

impl ValueRef<'_> {
    /// A value of its own.
    pub fn to_value(self) -> Value {
        Value { kind: self.kind, text: self.text.into() }
    }
}

impl<'a> Record<'a> {
    pub(crate) fn new(schema: &'a Schema, node: Option<NodeId>, bytes: Bytes) -> Self {
        Self { schema, node, bytes }
    }

    /// The container or list that it is an entry of; `None` for the top.
    pub fn node(&self) -> Option<NodeId> {
        self.node
    }

    /// Whether it has no leaves.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The values of a leaf or leaf-list; `None` if it is not there, or none of this entry's. Cost: a look at each leaf before it.
    pub fn leaf(&self, leaf: NodeId) -> Option<Values<'_>> {
        let node = self.schema.node(leaf);
        if node.parent != self.node {
            return None;
        }
        let mut raw = RawLeaves::new(&self.bytes).take_while(|raw| raw.slot <= node.slot);
        raw.find(|raw| raw.slot == node.slot).map(RawLeaf::values)
    }

    /// The value of a leaf, or the first of a leaf-list. Cost: as [`Record::leaf`].
    pub fn value(&self, leaf: NodeId) -> Option<ValueRef<'_>> {
        self.leaf(leaf)?.next()
    }

    /// All leaves and leaf-lists that are there, in the order of the schema. Cost of each: O(1).
    ///
    /// # Panics
    ///
    /// If the record is not of the schema that it is read with.
    pub fn leaves(&self) -> impl Iterator<Item = (NodeId, Values<'_>)> {
        let children = self.schema.children(self.node);
        RawLeaves::new(&self.bytes).map(|raw| {
            let leaf = children.get(raw.slot as usize).expect("a record has leaves of its schema");
            (*leaf, raw.values())
        })
    }

    /// The stored bytes: equal if and only if all leaves are.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

/// The values of a leaf or leaf-list, in their order.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    left: usize,
    rest: Reader<'a>,
}

impl<'a> Iterator for Values<'a> {
    type Item = ValueRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<ValueRef<'a>> {
        self.left = self.left.checked_sub(1)?;
        Some(read_value(&mut self.rest).expect("records are checked when they are read from the store"))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Values<'_> {}

/// A leaf as it lies in a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawLeaf<'a> {
    pub(crate) slot: u32,
    /// Its values, with what says how many they are.
    pub(crate) bytes: &'a [u8],
}

impl<'a> RawLeaf<'a> {
    pub(crate) fn values(self) -> Values<'a> {
        let rest = Reader::new(self.bytes);
        if self.bytes.first() != Some(&MANY) {
            return Values { left: 1, rest };
        }
        let mut all = rest;
        let many = all.byte().and_then(|_| Ok((all.varint()?, all.bytes()?)));
        let (count, bytes) = many.expect("records are checked when they are read from the store");
        Values { left: usize::try_from(count).expect("a count of bytes in memory"), rest: Reader::new(bytes) }
    }
}

/// The leaves of a record, as they lie there.
pub(crate) struct RawLeaves<'a>(Reader<'a>);

impl<'a> RawLeaves<'a> {
    pub(crate) fn new(record: &'a [u8]) -> Self {
        Self(Reader::new(record))
    }
}

impl<'a> Iterator for RawLeaves<'a> {
    type Item = RawLeaf<'a>;

    #[inline]
    fn next(&mut self) -> Option<RawLeaf<'a>> {
        if self.0.is_empty() {
            return None;
        }
        Some(read_raw(&mut self.0).expect("records are checked when they are read from the store"))
    }
}

#[inline]
fn read_raw<'a>(reader: &mut Reader<'a>) -> Result<RawLeaf<'a>, Malformed> {
    let slot = reader.varint_u32()?;
    let bytes = reader.rest();
    reader.byte()?;
    if bytes.first() == Some(&MANY) {
        reader.varint()?;
    }
    reader.bytes()?;
    let bytes = bytes.get(..bytes.len() - reader.rest().len()).ok_or(Malformed)?;
    Ok(RawLeaf { slot, bytes })
}

fn read_value<'a>(reader: &mut Reader<'a>) -> Result<ValueRef<'a>, Malformed> {
    let kind = *KINDS.get(usize::from(reader.byte()?)).ok_or(Malformed)?;
    Ok(ValueRef { kind, text: reader.text()? })
}

/// Checks that bytes are a record. Cost: a look at each byte.
///
/// # Errors
///
/// [`Malformed`] if they are none.
pub(crate) fn check(record: &[u8]) -> Result<(), Malformed> {
    let (mut reader, mut least) = (Reader::new(record), 0);
    while !reader.is_empty() {
        let leaf = read_raw(&mut reader)?;
        if leaf.slot < least {
            return Err(Malformed);
        }
        least = leaf.slot.checked_add(1).ok_or(Malformed)?;
        let mut values = Reader::new(leaf.bytes);
        let mut count = 1;
        if leaf.bytes.first() == Some(&MANY) {
            values.byte()?;
            count = values.length(leaf.bytes.len())?;
            values = Reader::new(values.bytes()?);
            if count == 1 {
                return Err(Malformed);
            }
        }
        for _ in 0..count {
            read_value(&mut values)?;
        }
        values.end()?;
    }
    Ok(())
}

/// Appends a leaf of these values to a record; slots must ascend.
pub(crate) fn put_leaf<'v>(
    record: &mut Vec<u8>,
    slot: u32,
    values: impl ExactSizeIterator<Item = ValueRef<'v>>,
) {
    put_varint(record, u64::from(slot));
    let count = values.len();
    if count == 1 {
        return values.for_each(|value| put_value(record, value));
    }
    let mut all = Vec::new();
    values.for_each(|value| put_value(&mut all, value));
    record.push(MANY);
    put_varint(record, count as u64);
    put_bytes(record, &all);
}

/// Appends a leaf as it lies in another record.
pub(crate) fn put_raw(record: &mut Vec<u8>, leaf: RawLeaf<'_>) {
    put_varint(record, u64::from(leaf.slot));
    record.extend_from_slice(leaf.bytes);
}

fn put_value(out: &mut Vec<u8>, value: ValueRef<'_>) {
    let kind = KINDS.iter().position(|kind| *kind == value.kind).expect("all kinds are listed");
    out.push(u8::try_from(kind).expect("eight kinds"));
    put_text(out, value.text);
}

/// A record of these leaves. Cost: O(leaves), a sort if they are in another order than the schema's.
pub(crate) fn encode(schema: &Schema, leaves: &[Leaf]) -> Vec<u8> {
    let mut record = Vec::with_capacity(16 * leaves.len());
    encode_into(&mut record, schema, leaves);
    record
}

/// Appends a record of these leaves. Cost: as [`encode`].
pub(crate) fn encode_into(record: &mut Vec<u8>, schema: &Schema, leaves: &[Leaf]) {
    let slot = |leaf: &Leaf| schema.node(leaf.schema).slot;
    let mut put = |leaf: &Leaf| put_leaf(record, slot(leaf), refs(&leaf.values));
    if leaves.is_sorted_by_key(slot) {
        leaves.iter().for_each(put);
    } else {
        let mut sorted: Vec<&Leaf> = leaves.iter().collect();
        sorted.sort_by_key(|leaf| slot(leaf));
        sorted.into_iter().for_each(&mut put);
    }
}

/// Values, to be written.
pub(crate) fn refs(values: &[Value]) -> impl ExactSizeIterator<Item = ValueRef<'_>> {
    values.iter().map(|value| ValueRef { kind: value.kind, text: &value.text })
}
