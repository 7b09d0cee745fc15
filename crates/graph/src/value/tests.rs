use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::PropertyKeyId;

fn any_scalar(data_type: DataType) -> BoxedStrategy<Scalar> {
    match data_type {
        DataType::Object => Just(Scalar::Object("{\"a\":1}".into())).boxed(),
        DataType::Boolean => any::<bool>().prop_map(Scalar::Boolean).boxed(),
        DataType::Byte => any::<i8>().prop_map(Scalar::Byte).boxed(),
        DataType::Int => any::<i32>().prop_map(Scalar::Int).boxed(),
        DataType::Long => any::<i64>().prop_map(Scalar::Long).boxed(),
        DataType::Float => (-1e9..1e9_f32).prop_map(Scalar::Float).boxed(),
        DataType::Double => (-1e99..1e99_f64).prop_map(Scalar::Double).boxed(),
        DataType::Text => ".{0,9}".prop_map(|text| Scalar::Text(text.into())).boxed(),
        DataType::Blob => {
            proptest::collection::vec(any::<u8>(), 0..9).prop_map(|b| Scalar::Blob(b.into())).boxed()
        }
        DataType::Date => any::<i64>().prop_map(Scalar::Date).boxed(),
        DataType::Uuid => any::<u128>().prop_map(Scalar::Uuid).boxed(),
    }
}

fn any_value() -> impl Strategy<Value = (DataType, Value)> {
    let data_type = proptest::sample::select(DataType::ALL);
    data_type.prop_flat_map(|data_type| {
        let one = any_scalar(data_type).prop_map(Value::One);
        let many = proptest::collection::vec(any_scalar(data_type), 0..4).prop_map(Value::Many);
        prop_oneof![one, many].prop_map(move |value| (data_type, value))
    })
}

proptest! {
    #[test]
    fn properties_are_read_as_they_were_put(puts in proptest::collection::vec((0..6_u32, any_value()), 0..8)) {
        let (mut builder, mut expected) = (PropertiesBuilder::default(), BTreeMap::new());
        for (key, (data_type, value)) in puts {
            builder.put(PropertyKeyId(key), data_type, &value);
            expected.insert(PropertyKeyId(key), value);
        }
        let stored = builder.finish();
        let read: Vec<_> = stored.as_ref().iter().map(|property| property.map(|(k, v)| (k, v.to_value()))).collect();
        prop_assert_eq!(read, expected.clone().into_iter().map(Ok).collect::<Vec<_>>());
        for key in (0..7).map(PropertyKeyId) {
            let found = stored.as_ref().get(key).unwrap().map(ValueRef::to_value);
            prop_assert_eq!(found.as_ref(), expected.get(&key));
        }
        for property in stored.as_ref().iter() {
            let (key, value) = property.unwrap();
            builder.put_ref(key, value);
        }
        prop_assert_eq!(builder.finish(), stored);
    }

    #[test]
    fn any_bytes_are_read_without_harm(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        for (_, value) in PropertiesRef::of_bytes(&bytes).iter().map_while(Result::ok) {
            value.to_value();
        }
    }
}

#[test]
fn numbers_compare_whatever_their_types() {
    use std::cmp::Ordering::{Equal, Less};
    assert_eq!(ScalarRef::Int(3).compare(ScalarRef::Double(3.5)), Some(Less));
    assert_eq!(ScalarRef::Long(i64::MAX - 1).compare(ScalarRef::Long(i64::MAX)), Some(Less));
    assert_eq!(ScalarRef::Byte(3).compare(ScalarRef::Long(3)), Some(Equal));
    assert_eq!(ScalarRef::Double(f64::NAN).compare(ScalarRef::Int(3)), None);
    assert_eq!(ScalarRef::Text("3").compare(ScalarRef::Int(3)), None);
}
