//! Rows of audited writes. An audited write lies in parts, each found by the times it touches; beside them stands what the
//! whole write touched. Pure.
//!
//! The parts of a level touch spans that are shorter than two to the power of the level (in nanoseconds), and lie in the
//! order of their first times. So those that touch a time begin at most one such span before it, and all parts of a
//! strand are read in the order of time by reading all levels side by side.

use bytes::Bytes;
use store::{Timestamp, Write};

use crate::blocks::encode_runs;
use crate::codec::Malformed;
use crate::error::Error;
use crate::fields::{put_generation, put_last, read_generation, read_last};
use crate::fresh::FreshKey;
use crate::index::Entry;
use crate::keys;
use crate::layer::{Layer, join_layer};
use crate::pending::{CheckedWrite, PendingCommit};
use crate::points::TimeRange;
use crate::strand::{Modification, Rules, Strand};
use store::wire::{Reader, put_varint, put_zigzag};

/// Flags of a part: the write touches nothing later; its points lie in a row of their own.
const END: u8 = 1;
const SPILLED: u8 = 2;
/// The most cleared ranges of one part.
const CLEARS_MAX: usize = 256;
/// The level of all spans that are as long as half of time, or longer.
const LEVEL_MAX: u8 = 63;

/// The level of what touches `first..=last`.
fn level_of(first: i64, last: i64) -> u8 {
    let bits = u64::BITS - last.abs_diff(first).leading_zeros();
    u8::try_from(bits).expect("at most 64").min(LEVEL_MAX)
}

/// The earliest first time of a part of the level that touches `time` or a later one.
pub(crate) fn reach(level: u8, time: i64) -> i64 {
    let longest = if level >= LEVEL_MAX { u64::MAX } else { (1 << level) - 1 };
    time.saturating_sub_unsigned(longest)
}

/// Levels of which a bit is set.
pub(crate) fn levels(bits: u64) -> impl Iterator<Item = u8> {
    (0..=LEVEL_MAX).filter(move |level| bits >> level & 1 == 1)
}

/// A part of an audited write. In the order of ordinals, parts over parts make the strand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AuditPart<'a> {
    pub(crate) written: Timestamp,
    /// Twice the number of the write; one more for its points, which come after what it clears.
    pub(crate) ordinal: u64,
    pub(crate) last: i64,
    pub(crate) points: u64,
    /// Whether the write touches nothing later.
    pub(crate) is_end: bool,
    /// The generation of the row that its points lie in, if they are too large for a commit.
    generation: Option<u64>,
    /// See `layer`; of points that lie in a row of their own nothing.
    pub(crate) layer: &'a [u8],
}

impl<'a> AuditPart<'a> {
    /// Reads a row `A`. Cost: nothing of the layer is looked at.
    pub(crate) fn parse(key: &[u8], value: &'a [u8]) -> Result<Self, Malformed> {
        let (first, ordinal) = keys::place_of_audit_part(key).ok_or(Malformed)?;
        let mut reader = Reader::new(value);
        let written = Timestamp(reader.zigzag()?);
        let last = read_last(&mut reader, first)?;
        let points = reader.varint()?;
        let flags = reader.byte()?;
        let generation = if flags & SPILLED == 0 { None } else { Some(read_generation(&mut reader)?) };
        let (is_end, layer) = (flags & END != 0, reader.rest());
        Ok(Self { written, ordinal, last, points, is_end, generation, layer })
    }

    /// The row that its points lie in, if that is not this one.
    pub(crate) fn spilled(&self, strand: &Strand) -> Option<FreshKey> {
        self.generation.map(|generation| keys::audit_points(strand, self.last, generation))
    }

    /// The number of the write among those of the strand.
    pub(crate) fn sequence(&self) -> u64 {
        self.ordinal >> 1
    }
}

/// What an audited write touched.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outline {
    points: u64,
    spans: Vec<(i64, i64)>,
}

impl Outline {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(8 + 12 * self.spans.len());
        put_varint(&mut out, self.points);
        put_varint(&mut out, self.spans.len() as u64);
        let mut before = 0;
        for (first, last) in &self.spans {
            put_zigzag(&mut out, first.wrapping_sub(before));
            put_last(&mut out, *first, *last);
            before = *last;
        }
        out
    }

    /// Reads a row `W`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let points = reader.varint()?;
        let count = reader.count()?;
        let (mut spans, mut before) = (Vec::with_capacity(count), 0_i64);
        for _ in 0..count {
            let first = before.wrapping_add(reader.zigzag()?);
            before = read_last(&mut reader, first)?;
            spans.push((first, before));
        }
        reader.end()?;
        Ok(Self { points, spans })
    }

    /// Whether the write touched an instant of the range.
    pub(crate) fn meets(&self, range: TimeRange) -> bool {
        self.spans.iter().any(|(first, last)| *first < range.to && range.from <= *last)
    }

    /// As it is answered; `None` if it touched nothing.
    pub(crate) fn modification(&self, written: Timestamp) -> Option<Modification> {
        let first = self.spans.iter().map(|span| span.0).min()?;
        let last = self.spans.iter().map(|span| span.1).max()?;
        Some(Modification { written, first, last, points: u32::try_from(self.points).unwrap_or(u32::MAX) })
    }
}

/// Adds rows that keep a write to what it does. `blocks` are its points, if they are encoded already.
/// Cost: the points are encoded once.
pub(crate) fn put_audit(
    checked: &CheckedWrite,
    blocks: Option<Vec<(Entry, Bytes)>>,
    rules: &Rules,
    pending: &mut PendingCommit,
) -> Result<(), Error> {
    let Layer { clears, points } = &checked.layer;
    let Some((_, end)) = checked.layer.bounds() else { return Ok(()) };
    let mut spans: Vec<_> = clears.iter().map(|clear| (clear.from, clear.to - 1)).collect();
    for part in clears.chunks(CLEARS_MAX) {
        if let (Some(first), Some(last)) = (part.first(), part.last()) {
            let layer = join_layer(part, &[] as &[Bytes]);
            put_part(&checked.strand, pending, (first.from, last.to - 1, end), 0, (0, &layer));
        }
    }
    let blocks = match blocks {
        Some(blocks) => blocks,
        None => encode_runs(&[(points, 0..points.len())], 0, checked.encoding, rules)?,
    };
    let place = |entry: &Entry| (entry.summary.first, entry.summary.last, end);
    spans.extend(blocks.iter().map(|(entry, _)| (entry.summary.first, entry.summary.last)));
    if rules.are_too_large(&blocks) {
        pending.state.audit.spilled = true;
        for entry in pending.spill(&checked.strand, blocks, keys::audit_points, rules)? {
            let mut name = Vec::with_capacity(10);
            put_generation(&mut name, entry.generation);
            put_part(&checked.strand, pending, place(&entry), entry.summary.count, (SPILLED, &name));
        }
    } else {
        for (entry, bytes) in blocks {
            let layer = join_layer(&[], &[bytes]);
            put_part(&checked.strand, pending, place(&entry), entry.summary.count, (0, &layer));
        }
    }
    let outline = Outline { points: points.len() as u64, spans };
    let key = keys::written(&checked.strand, pending.state.written, pending.state.sequence);
    pending.writes.push(Write::Put(key, outline.to_bytes().into()));
    Ok(())
}

/// Puts a part of a write that ends at `end`.
fn put_part(
    strand: &Strand,
    pending: &mut PendingCommit,
    (first, last, end): (i64, i64, i64),
    points: u32,
    (flags, rest): (u8, &[u8]),
) {
    let state = &mut pending.state;
    let ordinal = state.sequence << 1 | u64::from(points > 0);
    let level = level_of(first, last);
    let mut value = Vec::with_capacity(24 + rest.len());
    put_zigzag(&mut value, state.written.0);
    put_varint(&mut value, last.abs_diff(first));
    put_varint(&mut value, points.into());
    value.push(if last == end { flags | END } else { flags });
    value.extend_from_slice(rest);
    pending.writes.push(Write::Put(keys::audit_part(strand, level, first, ordinal), value.into()));
    state.audit.levels |= 1 << level;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_part_that_touches_a_time_is_within_reach_of_it() {
        let times = [i64::MIN, i64::MIN + 1, -5, 0, 1, 900, 1 << 62, i64::MAX - 1];
        for first in times {
            for last in times.into_iter().filter(|last| first <= *last) {
                for time in times.into_iter().filter(|time| first <= *time && *time <= last) {
                    assert!(reach(level_of(first, last), time) <= first, "{first} {last} {time}");
                }
            }
        }
        // What lies side by side is not far beyond.
        assert_eq!((level_of(0, 0), level_of(0, 1), level_of(0, 95 * 900)), (0, 1, 17));
        assert_eq!(levels(1 << 63 | 5).collect::<Vec<_>>(), [0, 2, 63]);
    }

    proptest! {
        #[test]
        fn outlines_come_back(points: u64, spans in prop::collection::vec((any::<i64>(), any::<u32>()), 0..5)) {
            let spans: Vec<_> = spans.into_iter().map(|(first, len)| (first.min(i64::MAX - 1), first.saturating_add(len.into()).min(i64::MAX - 1))).collect();
            let outline = Outline { points, spans };
            prop_assert_eq!(Outline::parse(&outline.to_bytes()), Ok(outline));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>, key: Vec<u8>) {
            let _ = (Outline::parse(&bytes), AuditPart::parse(&key, &bytes));
        }
    }
}
