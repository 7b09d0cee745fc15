//! Parts of keys whose bytes sort as their values do: one part behind the other, compared part by part.
//!
//! ```text
//! u32, u64   big-endian
//! i64        big-endian, the sign bit flipped; times are such numbers
//! f64        big-endian, positive ones with the sign bit set, negative ones inverted; -0 is 0
//! text       escaped (0 as 1 1, 1 as 1 2), and a byte 0: what is longer sorts behind what it begins with
//! ```
//!
//! What ends a key needs no end mark: a name, an id. Stored values, whose order does not matter, are spelled by
//! [`crate::wire`].
//!
//! ```
//! use store::key::{Reader, put_i64, put_text};
//!
//! let key = |sensor: &str, time: i64| {
//!     let mut key = vec![b'r'];
//!     put_text(&mut key, sensor);
//!     put_i64(&mut key, time);
//!     key
//! };
//! assert!(key("a", i64::MAX) < key("ab", -1) && key("ab", -1) < key("ab", 0));
//!
//! let stored = key("ab", -1);
//! let mut reader = Reader::new(&stored);
//! assert_eq!((reader.byte(), reader.text(), reader.i64()), (Some(b'r'), Some("ab".into()), Some(-1)));
//! assert!(reader.rest().is_empty());
//! ```

#[cfg(test)]
mod tests;

use std::borrow::Cow;

/// Ends an escaped text.
const END: u8 = 0;
/// Begins the two bytes that a zero or a one becomes.
const ESCAPE: u8 = 1;

/// A signed number as bytes in its order.
#[inline]
pub const fn ordered_i64(number: i64) -> [u8; 8] {
    (number ^ i64::MIN).to_be_bytes()
}

/// The number of [`ordered_i64`].
#[inline]
pub const fn i64_of_ordered(bytes: [u8; 8]) -> i64 {
    i64::from_be_bytes(bytes) ^ i64::MIN
}

/// A float as bytes in its order; NaNs lie beyond the infinities of their sign.
#[inline]
pub fn ordered_f64(number: f64) -> [u8; 8] {
    let bits = if number == 0.0 { 0 } else { number.to_bits() };
    let is_negative = bits >> 63 == 1;
    (if is_negative { !bits } else { bits | 1 << 63 }).to_be_bytes()
}

/// The float of [`ordered_f64`].
#[inline]
pub fn f64_of_ordered(bytes: [u8; 8]) -> f64 {
    let bits = u64::from_be_bytes(bytes);
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

/// Appends a number.
#[inline]
pub fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_be_bytes());
}

/// Appends a number.
#[inline]
pub fn put_u64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_be_bytes());
}

/// Appends a signed number.
#[inline]
pub fn put_i64(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(&ordered_i64(number));
}

/// Appends a float.
#[inline]
pub fn put_f64(out: &mut Vec<u8>, number: f64) {
    out.extend_from_slice(&ordered_f64(number));
}

/// Appends a text and its end. Cost: a copy.
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put_escaped(out, text.as_bytes());
    out.push(END);
}

/// Appends bytes so that none of them is zero, without an end: the head of all texts that begin with them.
pub fn put_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    // Without an early end: it is compared by words.
    if !bytes.iter().fold(false, |needs, byte| needs | (*byte <= ESCAPE)) {
        return out.extend_from_slice(bytes);
    }
    for byte in bytes {
        match byte {
            0 | 1 => out.extend_from_slice(&[ESCAPE, byte + 1]),
            other => out.push(*other),
        }
    }
}

/// Reads one part after the other off the front of a key; each is `None` where the bytes are no such part.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Begins at the first byte.
    #[inline]
    pub fn new(key: &'a [u8]) -> Self {
        Self { rest: key }
    }

    /// What was not read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*taken)
    }

    /// One byte.
    #[inline]
    pub fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    /// A number.
    #[inline]
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// A number.
    #[inline]
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// A signed number.
    #[inline]
    pub fn i64(&mut self) -> Option<i64> {
        self.array().map(i64_of_ordered)
    }

    /// A float.
    #[inline]
    pub fn f64(&mut self) -> Option<f64> {
        self.array().map(f64_of_ordered)
    }

    /// A text, up to its end. Cost: a look at each byte; a copy if it holds a zero or a one.
    pub fn text(&mut self) -> Option<Cow<'a, str>> {
        let end = self.rest.iter().position(|byte| *byte == END)?;
        let (escaped, rest) = self.rest.split_at(end);
        let text = if escaped.contains(&ESCAPE) {
            Cow::Owned(String::from_utf8(unescaped(escaped)?).ok()?)
        } else {
            Cow::Borrowed(std::str::from_utf8(escaped).ok()?)
        };
        self.rest = rest.get(1..)?;
        Some(text)
    }
}

fn unescaped(escaped: &[u8]) -> Option<Vec<u8>> {
    let (mut bytes, mut rest) = (Vec::with_capacity(escaped.len()), escaped.iter());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            &ESCAPE => match rest.next()? {
                escaped @ 1..=2 => escaped - 1,
                _ => return None,
            },
            other => *other,
        });
    }
    Some(bytes)
}
