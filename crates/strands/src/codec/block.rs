//! A block: header with summary, columns one after the other, checksum.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | version of the format: 1 |
//! | 3 | codec of each column, four bits each: times, values, flags, observed, notes, nothing |
//! | about 50 | the summary (see [`summary`]) |
//! | ... | times, flags, values, observed times, notes |
//! | 4 | the low half of xxh3 of all before it |

use std::borrow::Cow;
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::summary::{self, Summary, summarize, valued, worst};
use super::times::Frame;
use super::{Encoding, Malformed, doubles, flags, notes, observed, times};
use crate::flags::ABSENT;
use crate::points::{ColumnSet, Points, UNOBSERVED};
use store::wire::Reader;

/// Points in a block at most.
pub(super) const POINTS_MAX: usize = 65_535;

const VERSION: u8 = 1;

/// About what header and checksum take.
const HEADER_BYTES: usize = 96;

/// Codec of each column.
#[derive(Clone, Copy, Debug, Default)]
struct Codecs {
    times: u8,
    values: u8,
    flags: u8,
    observed: u8,
    notes: u8,
}

impl Codecs {
    fn to_bytes(self) -> [u8; 3] {
        [self.times | self.values << 4, self.flags | self.observed << 4, self.notes]
    }

    fn from_bytes([one, two, three]: [u8; 3]) -> Self {
        Self { times: one & 15, values: one >> 4, flags: two & 15, observed: two >> 4, notes: three }
    }
}

/// Encodes the points at the places `range` (at least one, at most 65,535), without copying them first.
///
/// Cost on one core: 3 ns a point for decimals when hot, 70 ns when cold (`benches/codec.rs`).
///
/// # Panics
///
/// If the range holds no point or too many, or lies outside the points.
pub(crate) fn encode_part(points: &Points, range: Range<usize>, encoding: Encoding) -> Vec<u8> {
    assert!((1..=POINTS_MAX).contains(&range.len()), "a block holds 1 to 65,535 points");
    let instants = part(&points.times, &range);
    let flag_column = part(&points.flags, &range);
    let value_column = part(&points.values, &range);
    let observed_column = part(&points.observed, &range);
    debug_assert!(instants.is_sorted_by(|one, next| one < next), "times ascend");
    let summary = summarize(instants, value_column, flag_column, observed_column);

    let mut block = Vec::with_capacity(HEADER_BYTES + range.len() * 2);
    block.push(VERSION);
    let codecs_at = block.len()..block.len() + 3;
    block.extend_from_slice(&Codecs::default().to_bytes());
    summary::write(&summary, &mut block);
    if summary.observed_first != UNOBSERVED {
        summary::write_observed(&summary, &mut block);
    }
    let codecs = Codecs {
        times: times::encode(instants, encoding, &mut block),
        flags: flags::encode(flag_column, &mut block),
        values: doubles::encode(&without_gaps(value_column, flag_column), encoding, &mut block),
        observed: observed::encode(observed_column, instants, &mut block),
        notes: notes::encode(&points.notes.dictionary, part(&points.notes.places, &range), &mut block),
    };
    block.get_mut(codecs_at).expect("room was left for them").copy_from_slice(&codecs.to_bytes());
    seal(&mut block);
    block
}

/// A part of a column that is empty or reaches over all points.
fn part<'a, T>(column: &'a [T], range: &Range<usize>) -> &'a [T] {
    if column.is_empty() { &[] } else { column.get(range.clone()).expect("the range lies inside the points") }
}

/// Values of points without one are not kept: the value before (or else the first) packs best in their place.
fn without_gaps<'a>(values: &'a [f64], flags: &[u8]) -> Cow<'a, [f64]> {
    let absent = |flag: &u8| flag & ABSENT != 0;
    if flags.iter().fold(0, |all, flag| all | flag) & ABSENT == 0 {
        return Cow::Borrowed(values);
    }
    let mut last = values.iter().zip(flags).find(|(_, flag)| !absent(flag)).map_or(0.0, |(value, _)| *value);
    let filled = values.iter().zip(flags).map(|(value, flag)| {
        if !absent(flag) {
            last = *value;
        }
        last
    });
    Cow::Owned(filled.collect())
}

/// Appends the checksum.
pub(super) fn seal(block: &mut Vec<u8>) {
    let sum = checksum(block);
    block.extend_from_slice(&sum);
}

fn checksum(bytes: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = xxh3_64(bytes).to_le_bytes();
    [a, b, c, d]
}

/// A block, checked (checksum, bounds) and ready to be decoded.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    codecs: Codecs,
    summary: Summary,
    columns: Reader<'a>,
}

impl<'a> Block<'a> {
    /// Reads the header and checks the checksum. Never panics, allocates nothing. Cost: one pass over the bytes.
    ///
    /// # Errors
    ///
    /// If the bytes are no block, or damaged.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let (sealed, sum) = bytes.split_last_chunk().ok_or(Malformed)?;
        if checksum(sealed) != *sum {
            return Err(Malformed);
        }
        let mut cursor = Reader::new(sealed);
        if cursor.byte()? != VERSION {
            return Err(Malformed);
        }
        let codecs = Codecs::from_bytes([cursor.byte()?, cursor.byte()?, cursor.byte()?]);
        let mut summary = summary::read(&mut cursor)?;
        if codecs.observed > observed::UNSAID {
            summary::read_observed(&mut summary, &mut cursor)?;
        }
        Ok(Self { codecs, summary, columns: cursor })
    }

    /// What it holds.
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// Whether values went through `pco`: packing anew saves a few percent at most.
    pub(crate) fn is_cold(&self) -> bool {
        doubles::is_squeezed(self.codecs.values)
    }

    /// Appends all points to `out`, which must all be earlier. History columns that only one of both has are
    /// filled up, as [`Points::extend_from_range`] does. A point without value reads as 0.0.
    ///
    /// Cost on one core: 1 ns a point for decimals when hot, 4 ns when cold (`benches/codec.rs`). Memory: the points,
    /// and at most as much again while `pco` works.
    ///
    /// # Errors
    ///
    /// If the bytes are damaged in a way the checksum does not tell. `out` then holds what it held before.
    pub fn decode_into(&self, out: &mut Points) -> Result<(), Malformed> {
        let before = out.len();
        let decoded = self.columns_into(ColumnSet::ALL, before, out);
        if decoded.is_err() {
            out.truncate(before);
        }
        decoded
    }

    /// Puts the points in the place of what `out` holds, whose memory is kept. Columns that are not wanted are empty, unless
    /// another one is read by them; what their bytes say is not checked.
    ///
    /// Cost: that of [`Self::decode_into`] but for the columns left out.
    ///
    /// # Errors
    ///
    /// As [`Self::decode_into`].
    pub(crate) fn decode_columns(&self, wanted: ColumnSet, out: &mut Points) -> Result<(), Malformed> {
        out.clear();
        let decoded = self.columns_into(wanted, 0, out);
        if decoded.is_err() {
            out.clear();
        }
        decoded
    }

    fn columns_into(&self, wanted: ColumnSet, before: usize, out: &mut Points) -> Result<(), Malformed> {
        let mut cursor = self.columns;
        let (codecs, summary) = (self.codecs, self.summary);
        let count = usize::try_from(summary.count).map_err(|_| Malformed)?;
        let frame = Frame { first: summary.first, last: summary.last, count };
        let mut times = cursor;
        if wanted.times {
            times::decode(codecs.times, &mut cursor, frame, &mut out.times)?;
        } else {
            times::skip(codecs.times, &mut cursor, count)?;
        }
        flags::decode(codecs.flags, &mut cursor, count, &mut out.flags)?;
        doubles::decode(codecs.values, &mut cursor, count, &mut out.values)?;
        self.check_flags(out.flags.get(before..).expect("columns only grow"))?;
        if summary.values < summary.count {
            let pairs = out.values.iter_mut().zip(&out.flags).skip(before);
            pairs.filter(|(_, flag)| **flag & ABSENT != 0).for_each(|(value, _)| *value = 0.0);
        }
        if !wanted.observed && !wanted.notes {
            return Ok(());
        }
        if codecs.observed != observed::NONE {
            if !wanted.times && observed::leans_on_times(codecs.observed, &cursor) {
                times::decode(codecs.times, &mut times, frame, &mut out.times)?;
            }
            out.observed.resize(before, UNOBSERVED);
            let instants = out.times.get(before..).expect("columns only grow");
            observed::decode(codecs.observed, &mut cursor, count, instants, &mut out.observed)?;
        } else if !out.observed.is_empty() {
            out.observed.resize(before + count, UNOBSERVED);
        }
        if !wanted.notes {
            return Ok(());
        }
        let read = notes::decode(codecs.notes, &mut cursor, count)?;
        if codecs.notes != notes::NONE {
            out.notes.fill_up(before);
            out.notes.extend(&read.dictionary, &read.places);
        } else if !out.notes.places.is_empty() {
            out.notes.fill_up(before + count);
        }
        if cursor.is_empty() { Ok(()) } else { Err(Malformed) }
    }

    /// Whether the flags are those that the summary counted.
    fn check_flags(&self, flags: &[u8]) -> Result<(), Malformed> {
        let same =
            u32::try_from(valued(flags)) == Ok(self.summary.values) && worst(flags) == self.summary.flag_max;
        if same { Ok(()) } else { Err(Malformed) }
    }
}
