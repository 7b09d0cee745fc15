//! A type of every kind, and a schema that has them all.

use std::sync::Arc;

use crate::schema::Schema;
use crate::types::{IntegerWidth, Leafref, Pattern, Type, TypeKind};

use super::{SchemaBuilder, string};

/// One type of every kind, each with what may restrict it.
#[must_use]
pub fn every_type() -> Vec<Type> {
    let pattern = Arc::new(Pattern::new("a.*", false));
    let short = Type::new(TypeKind::String {
        lengths: [1..=2, 4..=u64::MAX].into(),
        patterns: [pattern, Arc::new(Pattern::new("ab.*", true))].into(),
    });
    let number = Type::new(TypeKind::Integer { width: IntegerWidth::Int64, ranges: [-5..=5].into() });
    let leafref = Leafref { path: "../a".into(), require_instance: true, target: number.clone() };
    vec![
        short.clone(),
        number.clone(),
        Type::new(TypeKind::Decimal { fraction_digits: 3, ranges: [i64::MIN..=-1].into() }),
        Type::new(TypeKind::Boolean),
        Type::new(TypeKind::Enumeration([("a".into(), -1), ("b".into(), 7)].into())),
        Type::new(TypeKind::Bits([("a".into(), 0), ("b".into(), u32::MAX)].into())),
        Type::new(TypeKind::Binary { lengths: [3..=3].into() }),
        Type::new(TypeKind::Leafref(leafref)),
        Type::new(TypeKind::Identity([0].into())),
        Type::new(TypeKind::Empty),
        Type::new(TypeKind::InstanceIdentifier { require_instance: false }),
        Type::new(TypeKind::Union([short, number, string()].into())),
    ]
}

/// Modules `a` and `b`: a container `c` with a leaf and a leaf-list of every type and a list `l` with the keys `k` and `m`, a
/// leaf `d`, and an identity `b:j` derived from `a:i`.
#[must_use]
pub fn schema_of_every_type() -> Schema {
    let builder = SchemaBuilder::new("a", "a").module("b", "b").container("c", |mut members| {
        for (index, type_) in every_type().into_iter().enumerate() {
            let leaf_list = format!("list-{index}");
            members = members.leaf(&format!("leaf-{index}"), type_.clone()).leaf_list(&leaf_list, type_);
        }
        members.list("l", &["k", "m"], |list| list.leaf("m", string()).leaf("k", string()))
    });
    let plain = builder.leaf("d", string()).build();
    let identities = [("a:i".into(), Box::default()), ("b:j".into(), [0].into())];
    Schema::new(u128::MAX - 5, plain.modules, plain.nodes, plain.top, identities.into())
}
