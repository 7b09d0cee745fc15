//! Schemas as bytes and back.

use crate::schema::Schema;
use crate::testing::schema_of_every_type as schema;

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
