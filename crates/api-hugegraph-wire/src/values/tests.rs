use std::sync::Arc;

use graph::schema::{AggregateType, SchemaStatus, UserData, WriteType};
use graph::{PropertyKeyId, Value};

use super::*;

fn key(data_type: DataType, cardinality: Cardinality) -> PropertyKey {
    PropertyKey {
        id: PropertyKeyId(1),
        name: Arc::from("k"),
        data_type,
        cardinality,
        aggregate_type: AggregateType::None,
        write_type: WriteType::Oltp,
        user_data: UserData::default(),
        status: SchemaStatus::Created,
    }
}

fn read(json: &str, key: &PropertyKey) -> Result<Value, String> {
    let mut scratch = Scratch::new(4);
    let mut builder = PropertiesBuilder::default();
    let token = Token::read(&mut Reader::new(json, 4)).unwrap();
    read_value(&token, key, &mut scratch, &mut builder).map_err(|problem| problem.message)?;
    Ok(builder.finish().as_ref().get(key.id).unwrap().unwrap().to_value())
}

/// What a value comes back as; `None`: it is refused.
fn check(data_type: DataType, cardinality: Cardinality, json: &str, expected: Option<&str>) {
    let key = key(data_type, cardinality);
    let written = read(json, &key).ok().map(|value| {
        let mut builder = PropertiesBuilder::default();
        builder.put(key.id, data_type, &value);
        let properties = builder.finish();
        let mut out = String::new();
        put_value(&mut out, properties.as_ref().get(key.id).unwrap().unwrap());
        out
    });
    assert_eq!(written.as_deref(), expected, "{data_type} {cardinality} {json}");
}

#[test]
fn values_come_back() {
    use Cardinality::{List, Set, Single};
    use DataType as Type;
    let uuid = "\"4a7d1a2b-0000-4000-8000-000000000001\"";
    for (data_type, cardinality, json, expected) in [
        (Type::Text, Single, "\"a\\u0022\"", Some("\"a\\\"\"")),
        (Type::Text, Single, "18", None),
        (Type::Int, Single, "2147483647", Some("2147483647")),
        (Type::Int, Single, "2147483648", None),
        (Type::Int, Single, "\"1\"", None),
        (Type::Int, Single, "1.5", None),
        (Type::Byte, Single, "-128", Some("-128")),
        (Type::Long, Single, "9223372036854775807", Some("9223372036854775807")),
        (Type::Double, Single, "3", Some("3.0")),
        (Type::Double, Single, "\"NaN\"", Some("\"NaN\"")),
        (Type::Float, Single, "0.1", Some("0.1")),
        (Type::Boolean, Single, "true", Some("true")),
        (Type::Boolean, Single, "1", None),
        (Type::Date, Single, "\"2017-5-18\"", Some("\"2017-05-18 00:00:00.000\"")),
        (Type::Date, Single, "0", Some("\"1970-01-01 00:00:00.000\"")),
        (Type::Date, Single, "\"yesterday\"", None),
        (Type::Uuid, Single, uuid, Some(uuid)),
        (Type::Uuid, Single, "\"4a7d1a2b00004000800000000000001\"", None),
        (Type::Blob, Single, "\"aGk=\"", Some("\"aGk=\"")),
        (Type::Blob, Single, "\"0x6869\"", Some("\"aGk=\"")),
        (Type::Blob, Single, "[104, 105]", Some("\"aGk=\"")),
        (Type::Blob, Single, "\"0x6\"", None),
        (Type::Blob, Single, "[1000]", None),
        (Type::Object, Single, "{ \"a\": [1, 2.50] }", Some("{\"a\":[1,2.50]}")),
        (Type::Object, Single, "true", Some("true")),
        (Type::Text, List, "[\"a\",\"a\"]", Some("[\"a\",\"a\"]")),
        (Type::Text, Set, "[\"a\",\"b\",\"a\"]", Some("[\"a\",\"b\"]")),
        (Type::Double, Set, "[0, -0.0, 1, 0.0, 1.0, \"NaN\", \"NaN\"]", Some("[0.0,1.0,\"NaN\"]")),
        (Type::Int, List, "[]", Some("[]")),
        (Type::Int, List, "[1,\"2\"]", None),
        (Type::Text, Set, "\"a\"", None),
    ] {
        check(data_type, cardinality, json, expected);
    }
}

#[test]
fn refusals_name_value_and_types() {
    let text = key(DataType::Text, Cardinality::Single);
    let said = read("18", &text).unwrap_err();
    let expected =
        "Invalid property value '18' for key 'k', expect a value of type String, actual type Integer";
    assert_eq!(said, expected);
    let set = key(DataType::Text, Cardinality::Set);
    let said = read("\"a\"", &set).unwrap_err();
    let expected = "Invalid property value 'a' for key 'k': Property value must be SET, but got 'a'(String)";
    assert_eq!(said, expected);
}

/// A look at all values for each would take minutes.
#[test]
fn a_large_set_is_read_in_linear_time() {
    let numbers: Vec<String> = (0..200_000_i64).map(|number| (number / 2).to_string()).collect();
    let set = key(DataType::Long, Cardinality::Set);
    let value = read(&format!("[{}]", numbers.join(",")), &set).unwrap();
    assert_eq!(value.scalars().len(), 100_000);
}
