use bytes::Bytes;
use lang_yang::testing::{SchemaBuilder, string};
use lang_yang::{Leaf, Schema, Value, ValueKind};
use proptest::prelude::*;

use super::{KINDS, Record, check, encode};

fn schema() -> Schema {
    SchemaBuilder::new("m", "m")
        .leaf("a", string())
        .leaf_list("b", string())
        .container("c", |c| c.leaf("other", string()))
        .leaf("d", string())
        .build()
}

fn leaf(schema: &Schema, name: &str, texts: &[&str]) -> Leaf {
    let values = texts.iter().map(|text| Value { kind: ValueKind::Text, text: (*text).into() }).collect();
    Leaf { schema: schema.by_name(name)[0], values }
}

#[test]
fn leaves_are_found_and_come_in_the_order_of_the_schema() {
    let schema = schema();
    let leaves =
        [leaf(&schema, "d", &["4"]), leaf(&schema, "a", &[""]), leaf(&schema, "b", &["x", "y", "x"])];
    let bytes = encode(&schema, &leaves);
    assert_eq!(check(&bytes), Ok(()));
    let record = Record::new(&schema, None, Bytes::from(bytes));
    let texts = |name: &str| {
        let values = record.leaf(schema.by_name(name)[0])?;
        Some(values.map(|value| value.text.to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(texts("a"), Some(vec![String::new()]));
    assert_eq!(texts("b"), Some(vec!["x".into(), "y".into(), "x".into()]));
    assert_eq!(texts("d"), Some(vec!["4".into()]));
    assert_eq!(texts("other"), None, "a leaf of another entry");
    let order: Vec<&str> = record.leaves().map(|(id, _)| &*schema.node(id).name).collect();
    assert_eq!(order, ["a", "b", "d"]);
}

#[test]
fn an_empty_leaf_list_is_not_an_absent_one() {
    let schema = schema();
    let record = Record::new(&schema, None, encode(&schema, &[leaf(&schema, "b", &[])]).into());
    assert_eq!(check(record.bytes()), Ok(()));
    assert_eq!(record.leaf(schema.by_name("b")[0]).map(|values| values.len()), Some(0));
    assert!(record.leaf(schema.by_name("a")[0]).is_none() && !record.is_empty());
}

#[test]
fn what_no_writer_writes_is_refused() {
    let record = |bytes: &[u8]| check(bytes).is_ok();
    assert!(record(&[]) && record(&[0, 0, 1, b'a']) && record(&[0, 0x10, 0, 0]));
    assert!(!record(&[0]) && !record(&[0, 9, 0]) && !record(&[0, 0, 2, b'a']), "cut off, no kind");
    assert!(!record(&[1, 0, 0, 0, 0, 0]) && !record(&[1, 0, 0, 1, 0, 0]), "slots ascend");
    assert!(!record(&[0, 0, 1, 0xFF]), "text is UTF-8");
    assert!(!record(&[0, 0x10, 1, 2, 0, 0]) && !record(&[0, 0x10, 3, 2, 0, 0]), "counts are true");
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        values in proptest::collection::vec(proptest::collection::vec((0..KINDS.len(), ".{0,40}"), 0..5), 3),
    ) {
        let schema = schema();
        let leaves: Vec<Leaf> = ["a", "b", "d"].iter().zip(&values).map(|(name, values)| Leaf {
            schema: schema.by_name(name)[0],
            values: values.iter().map(|(kind, text)| Value { kind: KINDS[*kind], text: text.as_str().into() }).collect(),
        }).collect();
        let record = Record::new(&schema, None, encode(&schema, &leaves).into());
        prop_assert_eq!(check(record.bytes()), Ok(()));
        let read: Vec<Leaf> = record.leaves()
            .map(|(schema, values)| Leaf { schema, values: values.map(super::ValueRef::to_value).collect() })
            .collect();
        prop_assert_eq!(read, leaves);
    }

    #[test]
    fn checked_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        if check(&bytes).is_ok() {
            for leaf in super::RawLeaves::new(&bytes) {
                let _ = leaf.values().count();
            }
        }
    }
}
