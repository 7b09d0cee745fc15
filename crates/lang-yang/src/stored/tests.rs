//! Schemas as bytes and back.

use std::sync::Arc;

use crate::schema::Schema;
use crate::testing::{SchemaBuilder, string};
use crate::types::{IntegerWidth, Leafref, Pattern, Type, TypeKind};

/// One leaf of every type.
fn types() -> Vec<Type> {
    let pattern = Arc::new(Pattern::new("a.*", false));
    let short = Type::new(TypeKind::String {
        lengths: [1..=2, 4..=u64::MAX].into(),
        patterns: [Arc::clone(&pattern), Arc::new(Pattern::new("a.*", true))].into(),
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
        Type::new(TypeKind::Empty),
        Type::new(TypeKind::InstanceIdentifier { require_instance: false }),
        Type::new(TypeKind::Union([short, number, string()].into())),
    ]
}

fn schema() -> Schema {
    let builder = SchemaBuilder::new("a", "a").module("b", "b").container("c", |mut members| {
        for (index, type_) in types().into_iter().enumerate() {
            members = members
                .leaf(&format!("leaf-{index}"), type_.clone())
                .leaf_list(&format!("list-{index}"), type_);
        }
        members.list("l", &["k", "m"], |list| list.leaf("m", string()).leaf("k", string()))
    });
    let plain = builder.leaf("d", string()).build();
    let identities = [("a:i".into(), Box::default()), ("b:j".into(), [0].into())];
    Schema::new(u128::MAX - 5, plain.modules, plain.nodes, plain.top, identities.into())
}

#[test]
fn what_is_written_is_read() {
    let schema = schema();
    let bytes = schema.encode();
    let read = Schema::decode(&bytes).unwrap();
    assert_eq!(read, schema);
    assert_eq!(read.encode(), bytes);
    let of = |name: &str| {
        let leaf = read.by_name(name)[0];
        let list = read.by_name(&name.replace("leaf", "list"))[0];
        [leaf, list].map(|id| std::ptr::from_ref(read.node(id).type_().unwrap().kind()))
    };
    let [one, other] = of("leaf-0");
    assert_eq!(one, other, "types are shared");
}

#[test]
fn bytes_of_another_form_are_refused() {
    let mut bytes = schema().encode();
    for length in 0..bytes.len() {
        Schema::decode(&bytes[..length]).expect_err("cut");
    }
    bytes.push(0);
    Schema::decode(&bytes).expect_err("too long");
    bytes.pop();
    bytes[0] += 1;
    Schema::decode(&bytes).expect_err("another version");
}

#[test]
fn changed_bytes_are_refused_or_give_a_sound_schema() {
    let bytes = schema().encode();
    for at in 0..bytes.len() {
        for change in [1, 0x80, 0xFF] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            if let Ok(read) = Schema::decode(&changed) {
                // Whatever it is, it can be walked and written.
                for (index, node) in (0_u32..).zip(&read.nodes) {
                    assert_eq!(read.children(node.parent)[node.slot as usize].0, index);
                }
                assert_eq!(Schema::decode(&read.encode()), Ok(read));
            }
        }
    }
}
