//! How data is written: names, 64-bit numbers, defaults; what JSON and XML share of it.

use crate::check::{Kinds, Prefixes, Scalar, ValueRules};
use crate::schema::{InCase, NodeId, NodeKind, Schema};
use crate::tree::{Value, ValueKind};

/// How names say their modules.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Names {
    /// With the name (JSON) or the namespace (XML) of the module, wherever it is not that of the node around (RFC 7951, section 4).
    Rfc7951,
    /// As CPS writes them: outermost ones with the prefix of the module that the outermost node of their path is of, others bare; but where
    /// members of one object share a name, those that are not of the module around have their prefix. In XML, all bare.
    Cps,
    /// All bare but those that share a name, as with CPS.
    Bare,
}

/// How JSON has numbers of 64 bits, and decimal numbers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LongNumbers {
    /// As strings (RFC 7951, 6.1).
    Quoted,
    /// As numbers.
    Bare,
}

/// Which leaves are written that have their default (RFC 6243, section 3).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Defaults {
    /// Those that were set.
    Explicit,
    /// None.
    Trim,
    /// All: those that are not there, too.
    All,
    /// All, each marked as a default.
    Tagged,
}

/// How data is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Style {
    /// How names say their modules.
    pub names: Names,
    /// How JSON has numbers of 64 bits.
    pub long_numbers: LongNumbers,
    /// Which defaults are written.
    pub defaults: Defaults,
}

impl Style {
    /// That of RFC 7951 and RFC 7950.
    pub const RFC7951: Self =
        Self { names: Names::Rfc7951, long_numbers: LongNumbers::Quoted, defaults: Defaults::Explicit };
    /// That of CPS.
    pub const CPS: Self =
        Self { names: Names::Cps, long_numbers: LongNumbers::Bare, defaults: Defaults::Explicit };

    /// Whether defaults are written that are not there.
    pub(crate) fn fills_in(self) -> bool {
        matches!(self.defaults, Defaults::All | Defaults::Tagged)
    }
}

/// A value that lies elsewhere.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ValueRef<'v> {
    /// How it is spelt.
    pub kind: ValueKind,
    /// The canonical text.
    pub text: &'v str,
}

impl<'v> From<&'v Value> for ValueRef<'v> {
    fn from(value: &'v Value) -> Self {
        Self { kind: value.kind, text: &value.text }
    }
}

/// The canonical values that count if a leaf or leaf-list is absent.
pub(crate) fn defaults_of(kind: &NodeKind) -> &[Box<str>] {
    match kind {
        NodeKind::Leaf { default: Some(default), .. } => std::slice::from_ref(default),
        NodeKind::LeafList { defaults, .. } => defaults,
        _ => &[],
    }
}

/// The default of a leaf as values, with their kinds.
pub(crate) fn default_values(schema: &Schema, id: NodeId) -> Vec<Value> {
    let node = schema.node(id);
    let rules =
        ValueRules { schema, module: node.module, prefixes: Prefixes::Modules, kinds: Kinds::Lenient };
    let value = |text: &str| {
        let checked = node.type_().map(|type_| type_.check(Scalar::Text(text), &rules));
        // A default that its own type does not take (the compiler refuses it) is written as it is.
        checked.and_then(Result::ok).unwrap_or_else(|| Value { kind: ValueKind::Text, text: text.into() })
    };
    defaults_of(&node.kind).iter().map(|text| value(text)).collect()
}

/// Whether the values of a leaf are its defaults. Keys have none.
pub(crate) fn is_default<'v>(
    schema: &Schema,
    id: NodeId,
    values: impl Iterator<Item = ValueRef<'v>>,
) -> bool {
    let defaults = defaults_of(&schema.node(id).kind);
    !defaults.is_empty()
        && !is_key(schema, id)
        && values.map(|value| value.text).eq(defaults.iter().map(|text| &**text))
}

fn is_key(schema: &Schema, id: NodeId) -> bool {
    schema.node(id).parent.is_some_and(|parent| schema.keys(parent).contains(&id))
}

/// Takes note of what is written, so that defaults can follow what is not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    /// One bit for each child, of all nodes that are open.
    seen: Vec<u64>,
}

impl Written {
    /// A node is opened; where its bits begin.
    pub(crate) fn open(&mut self, schema: &Schema, id: NodeId) -> usize {
        let from = self.seen.len();
        self.seen.resize(from + schema.node(id).children.len().div_ceil(64), 0);
        from
    }

    /// A child of the node that is open is written.
    pub(crate) fn note(&mut self, schema: &Schema, from: usize, child: NodeId) {
        let slot = schema.node(child).slot as usize;
        if let Some(word) = self.seen.get_mut(from + slot / 64) {
            *word |= 1 << (slot % 64);
        }
    }

    fn has(&self, schema: &Schema, from: usize, child: NodeId) -> bool {
        let slot = schema.node(child).slot as usize;
        self.seen.get(from + slot / 64).is_some_and(|word| word & (1 << (slot % 64)) != 0)
    }

    /// The node is closed: its children that were not written and hold defaults, in the order of the schema. Of a choice, those of the
    /// case that others chose, or else of its default case.
    pub(crate) fn close(&mut self, schema: &Schema, from: usize, id: NodeId) -> Vec<NodeId> {
        let children = &schema.node(id).children;
        let chosen = |case: &InCase| {
            let written = children.iter().copied().filter(|child| self.has(schema, from, *child));
            schema.is_chosen(case, written)
        };
        let counts = |child: &&NodeId| {
            let is_absent = !self.has(schema, from, **child) && schema.holds_defaults(**child);
            is_absent && schema.node(**child).choices.iter().all(chosen)
        };
        let missing = children.iter().filter(counts).copied().collect();
        self.seen.truncate(from);
        missing
    }
}
