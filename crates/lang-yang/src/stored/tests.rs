//! Schemas as bytes and back.

use crate::schema::{InCase, NodeId, Schema};
use crate::testing::{SchemaBuilder, schema_of_every_type as schema, string};

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
fn choices_and_what_modules_say_of_themselves_are_read() {
    let text = |text: &str| Box::<str>::from(text);
    let built = SchemaBuilder::new("m", "m")
        .top(|top| top.choice_or(&[|case| case.leaf("a", string()), |case| case.leaf("b", string())], 1))
        .build();
    let mut modules = built.modules;
    modules[0].features = [text("f"), text("g")].into();
    modules[0].submodules = [(text("part"), text("2024-01-01")), (text("other"), text(""))].into();
    modules[0].deviations = [text("d")].into();
    let schema = Schema::new(7, modules, built.nodes, built.top, built.identities);
    let read = Schema::decode(&schema.encode()).unwrap();
    assert_eq!(read, schema);
    let is_default = |name: &str| read.node(read.by_name(name)[0]).choices[0].is_default;
    assert!(!is_default("a") && is_default("b"));
}

/// A schema of one container with a leaf in a choice, as version 1 was written.
#[test]
fn the_first_form_is_read() {
    let mut bytes = vec![1];
    bytes.extend_from_slice(&7_u128.to_le_bytes());
    let number = |bytes: &mut Vec<u8>, number: u32| bytes.extend_from_slice(&number.to_le_bytes());
    let text = |bytes: &mut Vec<u8>, text: &str| {
        bytes.extend_from_slice(&u32::try_from(text.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    };
    number(&mut bytes, 1);
    ["m", "", "urn:m", "m"].iter().for_each(|part| text(&mut bytes, part));
    bytes.push(1);
    // No identities, no patterns, no types.
    (0..3).for_each(|_| number(&mut bytes, 0));
    number(&mut bytes, 1);
    text(&mut bytes, "c");
    bytes.extend_from_slice(&[0, 0, 0, 0, 0, 0]);
    // A container without presence, without children, in the only case of a choice.
    bytes.extend_from_slice(&[0, 0]);
    [0, 1, 3, 4].iter().for_each(|part| number(&mut bytes, *part));
    bytes.extend_from_slice(&[1, 0]);
    // The top.
    [1, 0].iter().for_each(|part| number(&mut bytes, *part));
    let read = Schema::decode(&bytes).unwrap();
    assert_eq!(read.path(NodeId(0)), "/m:c");
    assert_eq!(&*read.node(NodeId(0)).choices, [InCase { choice: 3, case: 4, is_default: false }]);
    assert_eq!(read.encode()[0], 2);
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
    for version in [0, 1, 3] {
        bytes[0] = version;
        Schema::decode(&bytes).expect_err("another version");
    }
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
