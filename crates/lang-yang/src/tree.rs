//! Data under a schema as a value: containers and list entries, each with its leaves and what lies below it.

use crate::schema::NodeId;

/// How a value is spelt outside: what JSON writes bare and what in quotes, what sorts as a number.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ValueKind {
    /// Text, bits, enumeration, binary, instance-identifier: a JSON string.
    Text,
    /// An integer of at most 32 bits: a JSON number.
    Integer,
    /// `int64` or `uint64`: a JSON string by RFC 7951, a number for CPS.
    LongInteger,
    /// `decimal64`: a JSON string by RFC 7951, a number for CPS.
    Decimal,
    /// `true` or `false`.
    Boolean,
    /// `empty`: `[null]` in JSON, an empty element in XML.
    Empty,
    /// An identity, as `module:name`.
    Identity,
    /// `anydata` or `anyxml`: JSON text.
    Json,
}

/// One value: canonical text, and how it is spelt outside.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Value {
    /// How it is spelt; of a union that of the member that took it.
    pub kind: ValueKind,
    /// The canonical text (RFC 7950, 9.1), not escaped.
    pub text: Box<str>,
}

/// A leaf with its value, or a leaf-list with its values in their order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Leaf {
    /// A leaf, leaf-list or `anydata` of the schema.
    pub schema: NodeId,
    /// One of a leaf; some of a leaf-list.
    pub values: Vec<Value>,
}

/// What a container, a list entry or the top of a tree holds.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Content {
    /// In the order of the schema, each at most once.
    pub leaves: Vec<Leaf>,
    /// In the order of the schema; entries of one list in their own order.
    pub children: Vec<DataNode>,
}

/// A container or list entry, with all that it holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DataNode {
    /// A container or list of the schema.
    pub schema: NodeId,
    /// What lies in it; of a list entry its keys, too.
    pub content: Content,
}
