//! Words for which clients of HAKOM TSM write numbers, and other members that they spell in their own way.
//!
//! The numbers are those of HAKOM's documentation; others of the same lists are not documented, and are refused: a guess
//! could shift all points of a series by a slot.

use model_series::{Alignment, IntervalUnit};
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;

/// A word of a list: its name, its number if it has one, its meaning.
type Word<T> = (&'static str, Option<u64>, T);

/// Types of series. The number is that of all of HAKOM's examples of periodic series.
pub(crate) const TYPES: [Word<Alignment>; 3] = [
    ("Begin", Some(2), Alignment::Begin),
    ("End", None, Alignment::End),
    ("Spontaneous", None, Alignment::Spontaneous),
];

/// What intervals count; `No` is none.
pub(crate) const INTERVALS: [Word<Option<IntervalUnit>>; 10] = [
    ("Millisecond", Some(9), Some(IntervalUnit::Millisecond)),
    ("Second", Some(1), Some(IntervalUnit::Second)),
    ("Minute", Some(2), Some(IntervalUnit::Minute)),
    ("Hour", Some(3), Some(IntervalUnit::Hour)),
    ("Day", Some(4), Some(IntervalUnit::Day)),
    ("Week", Some(5), Some(IntervalUnit::Week)),
    ("Month", Some(6), Some(IntervalUnit::Month)),
    ("Quarter", Some(7), Some(IntervalUnit::Quarter)),
    ("Year", Some(8), Some(IntervalUnit::Year)),
    ("No", Some(0), None),
];

/// The meaning of a word's number, written as text; `None` if it is not a number of the list.
pub(crate) fn of_number<T: Copy>(text: &str, words: &[Word<T>]) -> Option<T> {
    let number = text.parse().ok()?;
    words.iter().find(|(_, known, _)| *known == Some(number)).map(|(_, _, meaning)| *meaning)
}

/// Reads a word of a list, or its number.
///
/// # Errors
///
/// If it is neither, naming `what` and the words.
pub(super) fn word<'de, T: Copy, D: Deserializer<'de>>(
    deserializer: D,
    what: &str,
    words: &[Word<T>],
) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let found = match &value {
        Value::String(text) => words.iter().find(|(name, ..)| name == text).map(|(_, _, meaning)| *meaning),
        Value::Number(number) => of_number(&number.to_string(), words),
        _ => None,
    };
    found.ok_or_else(|| {
        let names: Vec<&str> = words.iter().map(|(name, ..)| *name).collect();
        Error::custom(format!("{value} is no {what}: there are {}", names.join(", ")))
    })
}

/// Reads an ID, text or number; `None` for -1, which means that there is none yet.
pub(super) fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<str>>, D::Error> {
    let id = match Value::deserialize(deserializer)? {
        Value::Null => return Ok(None),
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        other => return Err(Error::custom(format!("\"ID\" must be a text or a number, not {other}"))),
    };
    Ok(if id == "-1" { None } else { Some(id.into()) })
}

/// Reads a formula: a text, `null`, or an object with the instant from which it holds (of which there may be one).
pub(super) fn formula<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<Box<str>>>, D::Error> {
    let wrong = |value: &Value| {
        Error::custom(format!(
            "\"Formula\" must be a text, or an object with one instant and its text, not {value}"
        ))
    };
    let value = Value::deserialize(deserializer)?;
    match &value {
        Value::Null => Ok(Some(None)),
        Value::String(text) => Ok(Some(Some(text.as_str().into()))),
        Value::Object(members) => match members.values().next() {
            None => Ok(Some(None)),
            Some(Value::String(text)) if members.len() == 1 => Ok(Some(Some(text.as_str().into()))),
            Some(_) => Err(wrong(&value)),
        },
        _ => Err(wrong(&value)),
    }
}

/// Reads a list that must be empty: what it would say is not known here.
pub(super) fn nothing<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(()),
        Value::Array(items) if items.is_empty() => Ok(()),
        other => {
            Err(Error::custom(format!("\"ExchangeTimeSeries\" is not known here, and cannot be {other}")))
        }
    }
}
