//! Conditions on the leaves of one record, with their leaves and values resolved against a schema.

use lang_cps_path::{Comparison, LeafCondition, Name};
use lang_yang::{Kinds, NodeId, NodeKind, Prefixes, Scalar, Schema, Type, TypeKind, ValueRules};

use super::QueryError;
use super::number::Number;
use crate::page::{ValueDemand, value_hash};
use crate::record::{Record, ValueRef};

/// What a record must hold: any of some alternatives, each of which is conditions that all hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    pub(super) alternatives: Vec<Vec<Condition>>,
}

/// One condition.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    /// The leaves and leaf-lists of the name; any of their values will do.
    pub(super) leaves: Vec<NodeId>,
    pub(super) test: Test,
}

/// What is asked of a value.
#[derive(Clone, Debug)]
pub(super) enum Test {
    /// Its text is one of these: what the condition says, and its canonical forms.
    OneOf(Vec<Box<str>>),
    /// It is an identity of this name, whatever its module, or one of these texts.
    Identity(Box<str>, Vec<Box<str>>),
    /// It is a number on this side of a number.
    Compared(Comparison, Number),
    /// Its text has this part.
    Contains(Box<str>),
}

impl Filter {
    /// Whether a record passes. Cost: O(conditions × leaves).
    pub(super) fn passes(&self, record: &Record<'_>) -> bool {
        self.alternatives.iter().any(|all| all.iter().all(|condition| condition.holds(record)))
    }

    /// Demands one condition more.
    pub(super) fn demand(&mut self, condition: &Condition) {
        self.alternatives.iter_mut().for_each(|all| all.push(condition.clone()));
    }

    /// Passes everything.
    pub(super) fn open() -> Self {
        Self { alternatives: vec![Vec::new()] }
    }

    /// Whether it passes everything.
    pub(super) fn is_open(&self) -> bool {
        self.alternatives.iter().any(Vec::is_empty)
    }

    /// What a page must have for a record there to pass; `None` if some way to pass names no value.
    pub(super) fn demand_of(&self, schema: &Schema) -> Option<ValueDemand> {
        let way = |all: &Vec<Condition>| {
            let values: Vec<Vec<u64>> = all.iter().filter_map(|condition| condition.values(schema)).collect();
            (!values.is_empty()).then_some(values)
        };
        Some(ValueDemand { ways: self.alternatives.iter().map(way).collect::<Option<_>>()? })
    }
}

impl Condition {
    /// The values of which a record must have one; `None` if the condition does not name them.
    fn values(&self, schema: &Schema) -> Option<Vec<u64>> {
        let Test::OneOf(texts) = &self.test else { return None };
        let slots = self.leaves.iter().map(|leaf| schema.node(*leaf).slot);
        Some(slots.flat_map(|slot| texts.iter().map(move |text| value_hash(slot, text))).collect())
    }

    fn holds(&self, record: &Record<'_>) -> bool {
        let mut values = self.leaves.iter().filter_map(|leaf| record.leaf(*leaf)).flatten();
        values.any(|value| self.test.holds(value))
    }
}

impl Test {
    fn holds(&self, value: ValueRef<'_>) -> bool {
        match self {
            Self::OneOf(texts) => texts.iter().any(|text| **text == *value.text),
            Self::Identity(local, texts) => {
                let name = value.text.rsplit_once(':').map_or(value.text, |(_, name)| name);
                *name == **local || texts.iter().any(|text| **text == *value.text)
            }
            Self::Compared(comparison, limit) => is_number(value).is_some_and(|number| match comparison {
                Comparison::Equal => number == *limit,
                Comparison::Greater => number > *limit,
                Comparison::Less => number < *limit,
                Comparison::GreaterOrEqual => number >= *limit,
                Comparison::LessOrEqual => number <= *limit,
            }),
            Self::Contains(part) => value.text.contains(&**part),
        }
    }
}

fn is_number(value: ValueRef<'_>) -> Option<Number> {
    use lang_yang::ValueKind;
    match value.kind {
        ValueKind::Integer | ValueKind::LongInteger | ValueKind::Decimal => Number::of_text(value.text),
        ValueKind::Text | ValueKind::Boolean | ValueKind::Empty | ValueKind::Identity | ValueKind::Json => {
            None
        }
    }
}

/// The children of a container or list that a name of a path means and that hold values.
pub(super) fn leaves_named(schema: &Schema, parent: NodeId, name: &Name) -> Vec<NodeId> {
    let named = schema.children_named(Some(parent), &name.local).iter().copied();
    named.filter(|id| is_of_module(schema, *id, name) && !schema.is_entry(*id)).collect()
}

/// Whether a node is of the module that a name says, by its name or prefix; a name without one means any.
pub(super) fn is_of_module(schema: &Schema, id: NodeId, name: &Name) -> bool {
    let module = schema.module(schema.node(id).module);
    name.prefix.as_ref().is_none_or(|prefix| *module.prefix == **prefix || *module.name == **prefix)
}

/// A leaf condition on an entry of a container or list. `None` if no leaf there can meet it.
///
/// # Errors
///
/// An order is asked of what is no number.
pub(super) fn resolve(
    schema: &Schema,
    parent: NodeId,
    condition: &LeafCondition,
) -> Result<Option<Condition>, QueryError> {
    let leaves = leaves_named(schema, parent, &condition.leaf);
    let text = condition.value.text();
    let test = match condition.comparison {
        Comparison::Equal => equal(schema, &leaves, &text),
        comparison => {
            let number = Number::of_text(&text).ok_or_else(|| QueryError::NoNumber {
                comparison: comparison.sign(),
                value: text.as_ref().into(),
            })?;
            Test::Compared(comparison, number)
        }
    };
    Ok((!leaves.is_empty()).then_some(Condition { leaves, test }))
}

/// `text()` or `=`: a whole value. Canonical forms are those that the types of the leaves make of the text.
pub(super) fn equal(schema: &Schema, leaves: &[NodeId], text: &str) -> Test {
    let mut texts = vec![Box::from(text)];
    let mut may_be_identity = false;
    for leaf in leaves {
        let (NodeKind::Leaf { type_, .. } | NodeKind::LeafList { type_, .. }) = &schema.node(*leaf).kind
        else {
            continue;
        };
        may_be_identity |= any_member(type_, |kind| matches!(kind, TypeKind::Identity(_)));
        let module = schema.node(*leaf).module;
        let rules = ValueRules { schema, module, prefixes: Prefixes::Lenient, kinds: Kinds::Lenient };
        if let Ok(value) = type_.check(Scalar::Text(text), &rules)
            && !texts.contains(&value.text)
        {
            texts.push(value.text);
        }
    }
    match may_be_identity && !text.contains(':') {
        true => Test::Identity(text.into(), texts),
        false => Test::OneOf(texts),
    }
}

/// Whether values of a leaf can be numbers.
pub(super) fn is_numeric(schema: &Schema, leaf: NodeId) -> bool {
    let (NodeKind::Leaf { type_, .. } | NodeKind::LeafList { type_, .. }) = &schema.node(leaf).kind else {
        return false;
    };
    any_member(type_, |kind| matches!(kind, TypeKind::Integer { .. } | TypeKind::Decimal { .. }))
}

/// Whether a type, or a member of a union however deep, is such.
fn any_member(type_: &Type, is_such: fn(&TypeKind) -> bool) -> bool {
    match type_.resolved().kind() {
        TypeKind::Union(members) => members.iter().any(|member| any_member(member, is_such)),
        kind => is_such(kind),
    }
}
