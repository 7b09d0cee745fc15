//! Values of properties: read by the type of their key, and written.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use graph::schema::PropertyKey;
use graph::{Cardinality, DataType, PropertiesBuilder, Scalar, ScalarRef, ValueRef};
use lang_json::{ArrayWriter, Reader, write_string};

use super::dates::{date_of_text, put_date};
use super::tokens::{Token, actual, expected, shown};
use crate::problem::Problem;

/// What values are decoded in, and how deep objects may nest.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    bytes: Vec<u8>,
    text: String,
    depth_max: usize,
}

impl Scratch {
    /// Of values at most so deep.
    pub(crate) fn new(depth_max: usize) -> Self {
        Self { depth_max, ..Self::default() }
    }
}

/// Why a value is refused: it is of another type, or something else.
enum Mismatch {
    Type,
    Because(String),
}

/// Reads the value of a property into `builder`; `null` is refused by the caller.
///
/// # Errors
///
/// 400, with the key and the value.
pub(crate) fn read_value(
    token: &Token<'_>,
    key: &PropertyKey,
    scratch: &mut Scratch,
    builder: &mut PropertiesBuilder,
) -> Result<(), Problem> {
    if key.cardinality == Cardinality::Single {
        let scalar = scalar(token, key.data_type, scratch).map_err(|why| refused(token, key, why))?;
        builder.put_one(key.id, scalar);
        return Ok(());
    }
    let scalars = several(token, key, scratch)?;
    builder.put_many(key.id, key.data_type, scalars.iter().map(Scalar::as_ref));
    Ok(())
}

/// The values of a list or a set: of a set each once.
fn several(token: &Token<'_>, key: &PropertyKey, scratch: &mut Scratch) -> Result<Vec<Scalar>, Problem> {
    let Token::Array(text) = token else {
        let because = format!(
            "Property value must be {}, but got '{}'({})",
            key.cardinality,
            token.shown(),
            actual(token)
        );
        return Err(refused(token, key, Mismatch::Because(because)));
    };
    let mut reader = Reader::new(text, scratch.depth_max);
    let (mut scalars, mut taken) = (Vec::new(), HashSet::new());
    reader.begin_array()?;
    while reader.next_element()? {
        let item = Token::read(&mut reader)?;
        let scalar = scalar(&item, key.data_type, scratch).map_err(|why| refused(token, key, why))?;
        if key.cardinality == Cardinality::List || taken.insert(scalar.identity()) {
            scalars.push(scalar.to_scalar());
        }
    }
    Ok(scalars)
}

/// One value of a property, for comparisons; of a list or set, one of its values.
///
/// # Errors
///
/// 400, with the key and the value.
pub(crate) fn one_value(
    token: &Token<'_>,
    key: &PropertyKey,
    scratch: &mut Scratch,
) -> Result<Scalar, Problem> {
    match scalar(token, key.data_type, scratch) {
        Ok(scalar) => Ok(scalar.to_scalar()),
        Err(Mismatch::Type) => Err(Problem::illegal_argument(format!(
            "Invalid data type of query value '{}', expect {} for '{}', actual got {}",
            token.shown(),
            key.data_type,
            key.name,
            actual(token)
        ))),
        Err(why) => Err(refused(token, key, why)),
    }
}

fn refused(token: &Token<'_>, key: &PropertyKey, why: Mismatch) -> Problem {
    let (value, name) = (token.shown(), &key.name);
    let begin = format!("Invalid property value '{value}' for key '{name}'");
    Problem::illegal_argument(match why {
        Mismatch::Because(why) => format!("{begin}: {why}"),
        Mismatch::Type => {
            let expected = expected(key.data_type, key.cardinality);
            format!("{begin}, expect a value of type {expected}, actual type {}", actual(token))
        }
    })
}

/// One value of a type. Cost: no allocation, but for objects and bytes.
fn scalar<'t>(
    token: &'t Token<'_>,
    data_type: DataType,
    scratch: &'t mut Scratch,
) -> Result<ScalarRef<'t>, Mismatch> {
    Ok(match (data_type, token) {
        (DataType::Text, Token::Text(text)) => ScalarRef::Text(text),
        (DataType::Boolean, Token::Bool(value)) => ScalarRef::Boolean(*value),
        (DataType::Byte, Token::Number(digits)) => ScalarRef::Byte(number(digits, "byte")?),
        (DataType::Int, Token::Number(digits)) => ScalarRef::Int(number(digits, "int")?),
        (DataType::Long, Token::Number(digits)) => ScalarRef::Long(number(digits, "long")?),
        (DataType::Float, Token::Number(digits)) => ScalarRef::Float(finite(digits, number(digits, "float")?, f32::is_finite)?),
        (DataType::Double, Token::Number(digits)) => ScalarRef::Double(finite(digits, number(digits, "double")?, f64::is_finite)?),
        (DataType::Float, Token::Text(text)) => ScalarRef::Float(no_number(text)?),
        (DataType::Double, Token::Text(text)) => ScalarRef::Double(no_number(text)?.into()),
        (DataType::Date, Token::Number(digits)) => ScalarRef::Date(digits.parse().map_err(|_| Mismatch::Type)?),
        (DataType::Date, Token::Text(text)) => ScalarRef::Date(date_of_text(text).ok_or_else(|| {
            Mismatch::Because(format!(
                "Expected date format is: [yyyy-MM-dd, yyyy-MM-dd HH:mm:ss, yyyy-MM-dd HH:mm:ss.SSS], but got '{}'",
                shown(text)
            ))
        })?),
        (DataType::Uuid, Token::Text(text)) => ScalarRef::Uuid(
            uuid::Uuid::try_parse(text)
                .map_err(|_| Mismatch::Because(format!("Invalid UUID string: {}", shown(text))))?
                .as_u128(),
        ),
        (DataType::Blob, token) => ScalarRef::Blob(blob(token, scratch)?),
        (DataType::Object, token) => ScalarRef::Object(object(token, scratch)?),
        (
            DataType::Text
            | DataType::Boolean
            | DataType::Byte
            | DataType::Int
            | DataType::Long
            | DataType::Float
            | DataType::Double
            | DataType::Date
            | DataType::Uuid,
            _,
        ) => return Err(Mismatch::Type),
    })
}

fn number<T: std::str::FromStr>(digits: &str, name: &str) -> Result<T, Mismatch> {
    digits.parse().map_err(|_| {
        let digits = shown(digits);
        Mismatch::Because(format!("Can't read '{digits}' as {name}: For input string: \"{digits}\""))
    })
}

/// Refuses digits that are beyond the range of a float: it would be infinite.
fn finite<T: Copy>(digits: &str, value: T, is_finite: fn(T) -> bool) -> Result<T, Mismatch> {
    match is_finite(value) {
        true => Ok(value),
        false => Err(Mismatch::Because(format!(
            "Can't read '{}': it is beyond the range of its type",
            shown(digits)
        ))),
    }
}

/// What is no number, by the names that JSON texts of Java give it.
fn no_number(text: &str) -> Result<f32, Mismatch> {
    match text {
        "NaN" => Ok(f32::NAN),
        "Infinity" => Ok(f32::INFINITY),
        "-Infinity" => Ok(f32::NEG_INFINITY),
        _ => Err(Mismatch::Type),
    }
}

/// Bytes: base64, hexadecimal after `0x`, or a list of numbers.
fn blob<'t>(token: &Token<'_>, scratch: &'t mut Scratch) -> Result<&'t [u8], Mismatch> {
    scratch.bytes.clear();
    match token {
        Token::Text(text) => match text.strip_prefix("0x") {
            Some(digits) => {
                let pairs = digits.as_bytes().chunks(2).map(|pair| {
                    let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
                    u8::from_str_radix(pair, 16).ok()
                });
                let bytes: Option<Vec<u8>> = pairs.collect();
                let wrong = || Mismatch::Because(format!("'{}' is not hexadecimal", shown(text)));
                scratch.bytes = bytes.ok_or_else(wrong)?;
            }
            None => {
                let decoded = BASE64.decode_vec(&**text, &mut scratch.bytes);
                let wrong = |error| Mismatch::Because(format!("'{}' is not base64: {error}", shown(text)));
                decoded.map_err(wrong)?;
            }
        },
        Token::Array(text) => {
            let wrong =
                |_| Mismatch::Because(format!("expect byte or int values, but got '{}'", shown(text)));
            bytes_of_numbers(text, &mut scratch.bytes).map_err(wrong)?;
        }
        Token::Number(_) | Token::Bool(_) | Token::Null | Token::Object(_) => return Err(Mismatch::Type),
    }
    Ok(&scratch.bytes)
}

/// Bytes listed as numbers, with a sign or without.
fn bytes_of_numbers(text: &str, bytes: &mut Vec<u8>) -> Result<(), lang_json::Error> {
    let mut reader = Reader::new(text, 1);
    reader.begin_array()?;
    while reader.next_element()? {
        let number = reader.number()?;
        let unsigned = number.parse::<u8>().ok();
        let byte = unsigned.or_else(|| number.parse::<i8>().ok().map(i8::cast_unsigned));
        bytes.push(byte.ok_or_else(|| reader.error(lang_json::Problem::Kind))?);
    }
    Ok(())
}

/// Any value, as canonical JSON.
fn object<'t>(token: &Token<'_>, scratch: &'t mut Scratch) -> Result<&'t str, Mismatch> {
    scratch.text.clear();
    match token {
        Token::Text(text) => write_string(&mut scratch.text, text),
        Token::Array(text) | Token::Object(text) => {
            let read = Reader::new(text, scratch.depth_max).canonical(&mut scratch.text);
            read.map_err(|error| Mismatch::Because(error.to_string()))?;
        }
        other => scratch.text.push_str(other.text()),
    }
    Ok(&scratch.text)
}

/// Appends the value of a property.
#[inline]
pub(crate) fn put_value(out: &mut String, value: ValueRef<'_>) {
    match value {
        ValueRef::One(scalar) => put_scalar(out, scalar),
        ValueRef::Many(scalars) => {
            let mut array = ArrayWriter::begin(out);
            for scalar in scalars.iter() {
                put_scalar(array.item(), scalar);
            }
            array.end();
        }
    }
}

/// Appends one value.
#[inline]
pub(crate) fn put_scalar(out: &mut String, scalar: ScalarRef<'_>) {
    match scalar {
        ScalarRef::Object(json) => out.push_str(json),
        ScalarRef::Boolean(value) => out.push_str(if value { "true" } else { "false" }),
        ScalarRef::Byte(value) => out.push_str(itoa::Buffer::new().format(value)),
        ScalarRef::Int(value) => out.push_str(itoa::Buffer::new().format(value)),
        ScalarRef::Long(value) => out.push_str(itoa::Buffer::new().format(value)),
        ScalarRef::Float(value) if value.is_finite() => {
            out.push_str(zmij::Buffer::new().format_finite(value))
        }
        ScalarRef::Float(value) => put_no_number(out, value.into()),
        ScalarRef::Double(value) if value.is_finite() => {
            out.push_str(zmij::Buffer::new().format_finite(value));
        }
        ScalarRef::Double(value) => put_no_number(out, value),
        ScalarRef::Text(text) => write_string(out, text),
        ScalarRef::Blob(bytes) => {
            out.push('"');
            BASE64.encode_string(bytes, out);
            out.push('"');
        }
        ScalarRef::Date(millis) => put_date(out, millis),
        ScalarRef::Uuid(uuid) => {
            out.push('"');
            let mut text = uuid::Uuid::encode_buffer();
            out.push_str(uuid::Uuid::from_u128(uuid).hyphenated().encode_lower(&mut text));
            out.push('"');
        }
    }
}

/// A float that JSON has no number for.
fn put_no_number(out: &mut String, value: f64) {
    out.push_str(match value {
        f64::INFINITY => "\"Infinity\"",
        f64::NEG_INFINITY => "\"-Infinity\"",
        _ => "\"NaN\"",
    });
}

#[cfg(test)]
mod tests;
