//! Values in queries.

use lang_json::Reader;
use model_entities::{Operand, Scalar};
use regex::{Regex, RegexBuilder};
use smallvec::smallvec;
use tenant_contexts::Names;

use super::Cursor;
use crate::body::is_uri;
use crate::body::time::{is_date, is_time_of_day, parse_time};
use crate::error::Error;

/// The longest pattern of a client, in bytes.
const PATTERN_BYTES_MAX: usize = 512;
/// The largest compiled pattern of a client, in bytes.
const PATTERN_PROGRAM_BYTES_MAX: usize = 1 << 20;

/// What a value is read as.
pub(super) struct Reading<'a> {
    /// Expands texts to IRIs.
    pub(super) names: Option<&'a Names>,
    /// A quoted date-time is a time.
    pub(super) time: bool,
}

/// One value that has an order.
pub(super) fn ordering(cursor: &mut Cursor<'_>, reading: &Reading<'_>) -> Result<Operand, Error> {
    let before = cursor.clone();
    let value = scalar(cursor, reading)?;
    if matches!(value, Scalar::Bool(_)) {
        return Err(before.clone().expected("a number, a text or a time, which have an order"));
    }
    if cursor.peek() == Some(',') || cursor.rest().starts_with("..") {
        return Err(cursor.expected("the end of the value (lists and ranges go with == and != only)"));
    }
    Ok(Operand::Values(smallvec![value]))
}

/// A value, a list of values, or a range.
pub(super) fn equality(cursor: &mut Cursor<'_>, reading: &Reading<'_>) -> Result<Operand, Error> {
    let first = scalar(cursor, reading)?;
    if cursor.eat_text("..") {
        let last = scalar(cursor, reading)?;
        let same = std::mem::discriminant(&first) == std::mem::discriminant(&last);
        if !same || matches!(first, Scalar::Bool(_)) {
            return Err(cursor.wrong("both ends of a range must be numbers, texts, or times"));
        }
        return Ok(Operand::Range(first, last));
    }
    let mut values = smallvec![first];
    while cursor.eat(',') {
        values.push(scalar(cursor, reading)?);
    }
    Ok(Operand::Values(values))
}

/// A pattern, in quotes or bare.
pub(super) fn pattern(cursor: &mut Cursor<'_>) -> Result<Operand, Error> {
    let text = match cursor.peek() {
        Some('"') => quoted(cursor)?,
        _ => {
            let end = pattern_length(cursor.rest());
            cursor.take(end).to_owned()
        }
    };
    if text.is_empty() {
        return Err(cursor.expected("a pattern"));
    }
    compile_pattern(&text).map(Operand::Pattern).map_err(|error| cursor.wrong(&error))
}

/// A client's pattern, within limits.
///
/// # Errors
///
/// What is wrong with it, as the end of a sentence.
pub fn compile_pattern(text: &str) -> Result<Regex, String> {
    if text.len() > PATTERN_BYTES_MAX {
        return Err(format!("a pattern must not be longer than {PATTERN_BYTES_MAX} bytes"));
    }
    let built = RegexBuilder::new(text).size_limit(PATTERN_PROGRAM_BYTES_MAX).build();
    built.map_err(|error| {
        let why = error.to_string();
        let last = why.lines().last().unwrap_or(&why).trim_start_matches("error: ");
        format!("{text:?} is not a pattern that can be used: {last}")
    })
}

/// Where a bare pattern ends: at a `;`, `|` or `)` outside of its own parentheses and brackets.
fn pattern_length(text: &str) -> usize {
    let (mut depth, mut class, mut escaped) = (0_usize, false, false);
    for (at, next) in text.char_indices() {
        match next {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' => class = false,
            _ if class => {}
            '[' => class = true,
            '(' => depth += 1,
            ';' | '|' | ')' if depth == 0 => return at,
            ')' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

fn quoted(cursor: &mut Cursor<'_>) -> Result<String, Error> {
    let mut reader = Reader::new(cursor.rest(), 1);
    let Ok(text) = reader.string() else {
        return Err(cursor.expected("a text in double quotes, escaped as in JSON"));
    };
    cursor.take(reader.position());
    Ok(text.into_owned())
}

fn scalar(cursor: &mut Cursor<'_>, reading: &Reading<'_>) -> Result<Scalar, Error> {
    if cursor.peek() == Some('"') {
        let text = quoted(cursor)?;
        if let Some(time) = parse_time(&text).filter(|_| reading.time) {
            return Ok(Scalar::Time(time));
        }
        return Ok(Scalar::Text(expanded(&text, reading).into()));
    }
    let rest = cursor.rest();
    let end = rest.find([';', '|', ')', ',', '"']).unwrap_or(rest.len());
    let word = rest.get(..end).unwrap_or(rest);
    let word = word.find("..").and_then(|dots| word.get(..dots)).unwrap_or(word).trim_end();
    let Some(value) = bare(word, reading) else {
        return Err(cursor
            .expected("a value: a number, true, false, a date, time or URI, or a text in double quotes"));
    };
    cursor.take(word.len());
    Ok(value)
}

/// A value without quotes.
fn bare(word: &str, reading: &Reading<'_>) -> Option<Scalar> {
    if word == "true" || word == "false" {
        return Some(Scalar::Bool(word == "true"));
    }
    if let Some(number) = number(word) {
        return Some(Scalar::Number(number));
    }
    if let Some(time) = parse_time(word) {
        return Some(Scalar::Time(time));
    }
    if is_date(word) || is_time_of_day(word) {
        return Some(Scalar::TimeText(word.into()));
    }
    let name = reading.names.is_some() && crate::body::check_name(word).is_ok();
    (name || is_uri(word)).then(|| Scalar::Text(expanded(word, reading).into()))
}

fn expanded(text: &str, reading: &Reading<'_>) -> String {
    match reading.names {
        Some(names) if !text.is_empty() => names.iri(text).into_owned(),
        _ => text.to_owned(),
    }
}

/// A number by JSON's grammar.
fn number(word: &str) -> Option<f64> {
    let mut reader = Reader::new(word, 1);
    let digits = reader.number().ok()?;
    reader.end().ok()?;
    digits.parse().ok().filter(|number: &f64| number.is_finite())
}
