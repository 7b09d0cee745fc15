//! Values as key bytes whose order is the order of the values.

use store::key::{ordered_f64, put_escaped};

/// Texts longer than this are cut in keys.
pub(super) const TEXT_BYTES_MAX: usize = 64;

/// What kind of value a key holds; the number is its first byte, and stored: never reuse one.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
pub enum Class {
    /// No scalar: says only that the attribute exists.
    Exists = 1,
    /// One byte, 0 or 1.
    Bool = 2,
    /// Eight bytes.
    Number = 3,
    /// At most [`TEXT_BYTES_MAX`] bytes, escaped, and a zero byte.
    Text = 4,
}

/// A value as the index knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IndexValue<'a> {
    /// A value without scalars.
    Exists,
    /// `true` or `false`.
    Bool(bool),
    /// A number; -0 is 0.
    Number(f64),
    /// A text, URI or IRI (unescaped).
    Text(&'a str),
}

impl IndexValue<'_> {
    /// Its class.
    pub fn class(self) -> Class {
        match self {
            Self::Exists => Class::Exists,
            Self::Bool(_) => Class::Bool,
            Self::Number(_) => Class::Number,
            Self::Text(_) => Class::Text,
        }
    }

    /// Whether its key bytes stand for this value alone.
    pub fn is_exact(self) -> bool {
        !matches!(self, Self::Text(text) if text.len() >= TEXT_BYTES_MAX)
    }

    /// Appends class and value.
    pub fn put(self, out: &mut Vec<u8>) {
        self.put_open(out);
        if matches!(self, Self::Text(_)) {
            out.push(0);
        }
    }

    /// Appends class and value, a text without its end: the head of all texts that start like it.
    pub fn put_open(self, out: &mut Vec<u8>) {
        out.push(self.class() as u8);
        match self {
            Self::Exists => {}
            Self::Bool(value) => out.push(u8::from(value)),
            Self::Number(number) => out.extend_from_slice(&ordered_f64(number)),
            Self::Text(text) => {
                put_escaped(out, text.as_bytes().get(..TEXT_BYTES_MAX).unwrap_or(text.as_bytes()))
            }
        }
    }
}

/// What follows class and value.
pub(super) fn skip(key: &[u8]) -> Option<&[u8]> {
    let (class, rest) = key.split_first()?;
    match class {
        1 => Some(rest),
        2 => rest.get(1..),
        3 => rest.get(8..),
        4 => rest.get(memchr::memchr(0, rest)? + 1..),
        _ => None,
    }
}
