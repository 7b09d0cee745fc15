//! Values as parts of keys of index rows.

use store::key::{Reader, put_escaped, put_f64, put_i64};
use xxhash_rust::xxh3::xxh3_128;

use crate::ScalarRef;

/// The most bytes of a text in an index row.
pub const VALUE_BYTES_MAX: usize = 128;

pub(super) const NONE: u8 = 1;
const NUMBER: u8 = 2;
const TEXT: u8 = 3;
const FALSE: u8 = 4;
const TRUE: u8 = 5;
const UUID: u8 = 6;

/// Ends a text that is there whole.
const END: u8 = 0;
/// Ends the part of a longer one, before its fingerprint; no escaped byte is so.
const CUT: [u8; 2] = [1, 3];

/// Appends a value. Numbers of one property key are all of one type, so they compare by their bytes.
pub(super) fn put_value(out: &mut Vec<u8>, value: ScalarRef<'_>) {
    match value {
        ScalarRef::Boolean(false) => out.push(FALSE),
        ScalarRef::Boolean(true) => out.push(TRUE),
        ScalarRef::Byte(number) => put_number(out, number.into()),
        ScalarRef::Int(number) => put_number(out, number.into()),
        ScalarRef::Long(number) | ScalarRef::Date(number) => put_number(out, number),
        ScalarRef::Float(number) => put_float(out, number.into()),
        ScalarRef::Double(number) => put_float(out, number),
        ScalarRef::Text(text) | ScalarRef::Object(text) => put_bytes(out, text.as_bytes()),
        ScalarRef::Blob(bytes) => put_bytes(out, bytes),
        ScalarRef::Uuid(uuid) => {
            out.push(UUID);
            out.extend_from_slice(&uuid.to_be_bytes());
        }
    }
}

/// Appends what all values begin with that are equal to a value or, of a long text, near it.
pub(super) fn put_value_head(out: &mut Vec<u8>, value: ScalarRef<'_>) {
    let bytes = match value {
        ScalarRef::Text(text) | ScalarRef::Object(text) => text.as_bytes(),
        ScalarRef::Blob(bytes) => bytes,
        other => return put_value(out, other),
    };
    out.push(TEXT);
    put_escaped(out, bytes.get(..VALUE_BYTES_MAX).unwrap_or(bytes));
}

/// The least and the greatest first byte of all values of the type of this one.
pub(super) fn first_bytes(value: ScalarRef<'_>) -> [u8; 2] {
    match value {
        ScalarRef::Boolean(_) => [FALSE, TRUE],
        ScalarRef::Text(_) | ScalarRef::Object(_) | ScalarRef::Blob(_) => [TEXT, TEXT],
        ScalarRef::Uuid(_) => [UUID, UUID],
        ScalarRef::Byte(_)
        | ScalarRef::Int(_)
        | ScalarRef::Long(_)
        | ScalarRef::Float(_)
        | ScalarRef::Double(_)
        | ScalarRef::Date(_) => [NUMBER, NUMBER],
    }
}

/// Whether equal heads ([`put_value_head`]) are equal values.
pub(super) fn is_exact(value: ScalarRef<'_>) -> bool {
    !matches!(value, ScalarRef::Text(_) | ScalarRef::Object(_) | ScalarRef::Blob(_))
}

fn put_number(out: &mut Vec<u8>, number: i64) {
    out.push(NUMBER);
    put_i64(out, number);
}

fn put_float(out: &mut Vec<u8>, number: f64) {
    out.push(NUMBER);
    put_f64(out, number);
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(TEXT);
    match bytes.get(..VALUE_BYTES_MAX) {
        Some(head) if bytes.len() > VALUE_BYTES_MAX => {
            put_escaped(out, head);
            out.extend_from_slice(&CUT);
            out.extend_from_slice(&xxh3_128(bytes).to_be_bytes());
        }
        _ => {
            put_escaped(out, bytes);
            out.push(END);
        }
    }
}

/// What is behind a value. Cost: of a text a search for its end.
pub(super) fn skip_value(key: &[u8]) -> Option<&[u8]> {
    let (kind, rest) = key.split_first()?;
    match *kind {
        NONE | FALSE | TRUE => Some(rest),
        NUMBER => rest.get(8..),
        UUID => rest.get(16..),
        TEXT => {
            // In escaped bytes, a zero is an end, and a one is followed by another byte.
            let mut reader = Reader::new(rest);
            loop {
                match reader.byte()? {
                    END => return Some(reader.rest()),
                    1 if reader.byte()? == CUT[1] => return reader.rest().get(16..),
                    _ => {}
                }
            }
        }
        _ => None,
    }
}
