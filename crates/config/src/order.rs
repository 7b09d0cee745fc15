//! Orders: where an entry is among the entries of its list, as bytes that sort, that end themselves, and between any two of
//! which there is room.
//!
//! ```text
//! order   = integer { 0xFE integer }      [5] < [5, -1] < [5, 0] < [5, 0, 7] < [6]
//! integer = 0x80 + n                      n below 64; longer ones have a larger first byte (ranges below) and big-endian bytes
//!           and of -1 - n the same bytes, inverted
//! ```
//!
//! An entry behind the last takes the next integer, one before the first the integer before it: 100,000 of them have at most
//! three bytes. One between two neighbours takes an integer of one more level, and what comes next to it the integers of that
//! level: only insertions that halve the same gap again and again grow by a byte every other time.

#[cfg(test)]
mod tests;

use smallvec::SmallVec;

/// Says that an order goes on with an integer of one more level. Above the first byte of each slot, so that all that lies below
/// an entry sorts before its next sibling.
pub(crate) const DEEPER: u8 = 0xFE;

/// From this many bytes on, an order is too long: the orders of its list are given anew.
pub(crate) const ORDER_BYTES_MAX: usize = 48;

/// Non-negative integers by their first byte: so many bytes, from this first byte on, those from this number on.
const RANGES: [(usize, u8, u64); 4] =
    [(1, 0x80, 0), (2, 0xC0, 64), (3, 0xE0, 64 + (32 << 8)), (4, 0xF0, 64 + (32 << 8) + (16 << 16))];
/// The first byte of an integer of eight more bytes.
const LONG: u8 = 0xF8;

/// Where an entry is among its siblings of one list.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Order(SmallVec<[u8; 16]>);

impl Order {
    /// Of the first entry of a list.
    pub(crate) fn first() -> Self {
        Self::of(&[0])
    }

    /// Its bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The order that these bytes begin with, and what follows it.
    pub(crate) fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
        let mut end = integer_len(bytes)?;
        while bytes.get(end) == Some(&DEEPER) {
            end += 1 + integer_len(bytes.get(end + 1..)?)?;
        }
        bytes.split_at_checked(end)
    }

    /// The order of exactly these bytes; `None` if they are none.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (order, rest) = Self::split(bytes)?;
        rest.is_empty().then(|| Self(order.into()))
    }

    /// An order behind this one and before none: the next integer. Cost: O(length).
    pub(crate) fn after(&self) -> Self {
        Self::of(&[self.integers().first().expect("an order has an integer") + 1])
    }

    /// An order before this one. Cost: O(length).
    pub(crate) fn before(&self) -> Self {
        Self::of(&[self.integers().first().expect("an order has an integer") - 1])
    }

    /// An order between two, where `None` is an open end. Cost: O(length). If they do not ascend, the order is behind the first.
    pub(crate) fn between(low: Option<&Self>, high: Option<&Self>) -> Self {
        match (low, high) {
            (None, None) => Self::first(),
            (Some(low), None) => low.after(),
            (None, Some(high)) => high.before(),
            (Some(low), Some(high)) => Self::of(&gap(&low.integers(), &high.integers())),
        }
    }

    fn of(integers: &[i64]) -> Self {
        let mut bytes = SmallVec::new();
        for (at, integer) in integers.iter().enumerate() {
            if at > 0 {
                bytes.push(DEEPER);
            }
            put_integer(&mut bytes, *integer);
        }
        Self(bytes)
    }

    fn integers(&self) -> SmallVec<[i64; 4]> {
        let (mut integers, mut rest) = (SmallVec::new(), self.0.as_slice());
        while let Some(length) = integer_len(rest) {
            let (bytes, more) = rest.split_at(length);
            integers.push(integer_of(bytes));
            rest = more.split_first().map_or(&[], |(_, deeper)| deeper);
        }
        integers
    }
}

/// Integers of an order between two.
fn gap(low: &[i64], high: &[i64]) -> SmallVec<[i64; 4]> {
    let common = low.iter().zip(high).take_while(|(low, high)| low == high).count();
    let mut order: SmallVec<[i64; 4]> = low.iter().take(common).copied().collect();
    match (low.get(common), high.get(common)) {
        // What is deeper than the lower one, and before what the higher one begins with.
        (None, Some(next)) => order.push(next - 1),
        (Some(here), Some(next)) if next - here > 1 => order.push(here + 1),
        // The higher one is deeper than its own head, which is free.
        (Some(_), Some(next)) if high.len() > common + 1 => order.push(*next),
        (Some(here), _) => {
            order.push(*here);
            order.push(low.get(common + 1).map_or(0, |deeper| deeper + 1));
        }
        (None, None) => order.push(0),
    }
    order
}

fn put_integer(out: &mut SmallVec<[u8; 16]>, integer: i64) {
    let start = out.len();
    let number = if integer < 0 { !integer } else { integer }.cast_unsigned();
    match RANGES.iter().zip(RANGES.iter().skip(1)).find(|(_, next)| number < next.2) {
        Some((&(length, first, low), _)) => put_short(out, length, first, number - low),
        None if number - RANGES[3].2 < 8 << 24 => put_short(out, 4, RANGES[3].1, number - RANGES[3].2),
        None => {
            out.push(LONG);
            out.extend_from_slice(&number.to_be_bytes());
        }
    }
    if integer < 0 {
        out.iter_mut().skip(start).for_each(|byte| *byte = !*byte);
    }
}

fn put_short(out: &mut SmallVec<[u8; 16]>, length: usize, first: u8, number: u64) {
    let bytes = number.to_be_bytes();
    let start = out.len();
    out.extend_from_slice(bytes.get(8 - length..).expect("at most four of eight bytes"));
    if let Some(head) = out.get_mut(start) {
        *head += first;
    }
}

/// How many bytes the integer has that these begin with.
fn integer_len(bytes: &[u8]) -> Option<usize> {
    let head = *bytes.first()?;
    let head = if head < 0x80 { !head } else { head };
    let length = match head {
        0x80..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0..LONG => 4,
        LONG => 9,
        _ => return None,
    };
    (length <= bytes.len()).then_some(length)
}

/// The integer of so many bytes as [`integer_len`] said.
fn integer_of(bytes: &[u8]) -> i64 {
    let is_negative = bytes.first().is_some_and(|head| *head < 0x80);
    let flip = if is_negative { 0xFF } else { 0 };
    let plain = bytes.iter().map(|byte| u64::from(byte ^ flip));
    let number = match RANGES.iter().find(|(length, ..)| *length == bytes.len()) {
        Some((_, first, low)) => {
            let head = u64::from(*first) << (8 * (bytes.len() - 1));
            plain.fold(0, |number, byte| number << 8 | byte) - head + low
        }
        None => plain.skip(1).fold(0, |number, byte| number << 8 | byte),
    };
    let number = number.cast_signed();
    if is_negative { !number } else { number }
}
