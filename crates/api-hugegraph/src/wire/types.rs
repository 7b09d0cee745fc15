//! Names of types, as messages have them: those of Java, which clients know.

use graph::{Cardinality, DataType};

use super::values::Token;

/// The class of one value.
fn class(data_type: DataType) -> &'static str {
    match data_type {
        DataType::Object => "Object",
        DataType::Boolean => "Boolean",
        DataType::Byte => "Byte",
        DataType::Int => "Integer",
        DataType::Long => "Long",
        DataType::Float => "Float",
        DataType::Double => "Double",
        DataType::Text => "String",
        DataType::Blob => "Blob",
        DataType::Date => "Date",
        DataType::Uuid => "UUID",
    }
}

/// The class of a property: `String`, `List<String>`.
pub(super) fn expected(data_type: DataType, cardinality: Cardinality) -> String {
    let class = class(data_type);
    match cardinality {
        Cardinality::Single => class.to_owned(),
        Cardinality::List => format!("List<{class}>"),
        Cardinality::Set => format!("Set<{class}>"),
    }
}

/// The class of a value that was sent.
pub(super) fn actual(token: &Token<'_>) -> &'static str {
    match token {
        Token::Text(_) => "String",
        Token::Number(digits) if digits.contains(['.', 'e', 'E']) => "Double",
        Token::Number(digits) if digits.parse::<i32>().is_ok() => "Integer",
        Token::Number(digits) if digits.parse::<i64>().is_ok() => "Long",
        Token::Number(_) => "BigInteger",
        Token::Bool(_) => "Boolean",
        Token::Null => "null",
        Token::Array(_) => "ArrayList",
        Token::Object(_) => "LinkedHashMap",
    }
}
