//! The key page: every row of a strand, how its key is built, and how it is read back.
//!
//! ```text
//! partition                row                         value
//! the strand's             s name                      state (state.rs): counters, pages of the index, the newest blocks; stamped
//! the strand's             o name ordinal              an overlay (layer.rs), stamped
//! the strand's             A name level first ordinal  a part of an audited write of an audited strand (kept.rs), plain
//! the strand's             W name written sequence     what an audited write touched (kept.rs), plain
//! blocks/{tenant}/{hash}   i strand first generation   a page of the block index (index.rs)
//! blocks/{tenant}/{hash}   b strand last generation    a sealed block (codec)
//! blocks/{tenant}/{hash}   p strand last generation    a block of a large overlay's points, which the overlay names (spill.rs)
//! blocks/{tenant}/{hash}   k strand last generation    the same of an audited write, which its part names
//! ```
//!
//! `hash` is that of the strand's partition and the window of `first` or `last` (2^55 ns, 417 days); `strand` is the space (one byte) and
//! bucket (four) of the strand's partition, and its name. All other numbers are eight bytes (`level`: one), big-endian; times
//! are in the order of time.
//!
//! Invariant: only `s` is ever written twice under one key. A reader that holds an `s` therefore reads exactly what
//! that state meant, or finds a row gone and starts again; no row it finds can be of a later state.
//! (Generations differ from attempt to attempt; ordinals count on for the life of a strand; erasing a strand begins a new life, and
//! readers that straddle it find rows of the old life gone.)

use bytes::Bytes;
use store::key::{i64_of_ordered, ordered_i64};
use store::{Partition, Range, Space, SpaceKind, Timestamp, bucket_of};

use crate::strand::Strand;

/// What goes ahead of commits: blocks and pages of strands, and points of layers that are too large for a commit.
const BLOCKS: Space = Space { id: 36, kind: SpaceKind::Append, name: "blocks" };
/// A window is so many bits of nanoseconds.
const WINDOW_BITS: u32 = 55;
/// How many buckets there are for strands' partitions and windows.
const BUCKETS: u32 = 1 << 31;

/// First bytes of keys: the kind of row. Capital letters: found by scans only ([`store::Write`]).
const STATE: u8 = b's';
const PAGE: u8 = b'i';
const BLOCK: u8 = b'b';
const OVERLAY: u8 = b'o';
const AUDIT_PART: u8 = b'A';
const WRITTEN: u8 = b'W';
/// Of the space of blocks only: callers may have keys that begin so in theirs.
const OVERLAY_POINTS: u8 = b'p';
/// See [`OVERLAY_POINTS`].
const AUDIT_POINTS: u8 = b'k';

const NUMBER_BYTES: usize = 8;

/// Row `s`.
pub(crate) fn state(strand: &Strand) -> Bytes {
    key(STATE, &strand.name, &[])
}

/// Row `i`, and the window it is of.
pub(crate) fn page(strand: &Strand, first: i64, generation: u64) -> (i64, Bytes) {
    (window_of(first), fresh_key(PAGE, strand, &[ordered(first), generation]))
}

/// Row `b`, and the window it is of.
pub(crate) fn block(strand: &Strand, last: i64, generation: u64) -> (i64, Bytes) {
    (window_of(last), fresh_key(BLOCK, strand, &[ordered(last), generation]))
}

/// Row `p`, and the window it is of.
pub(crate) fn overlay_points(strand: &Strand, last: i64, generation: u64) -> (i64, Bytes) {
    (window_of(last), fresh_key(OVERLAY_POINTS, strand, &[ordered(last), generation]))
}

/// Row `k`, and the window it is of.
pub(crate) fn audit_points(strand: &Strand, last: i64, generation: u64) -> (i64, Bytes) {
    (window_of(last), fresh_key(AUDIT_POINTS, strand, &[ordered(last), generation]))
}

/// All fresh rows of the strand in a partition of them, by kind.
pub(crate) fn all_fresh(strand: &Strand) -> [Range; 4] {
    [PAGE, BLOCK, OVERLAY_POINTS, AUDIT_POINTS].map(|kind| Range::prefix(fresh_key(kind, strand, &[])))
}

/// The partition of fresh rows of a window. Cost: one hash.
pub(crate) fn fresh_partition(strand: &Strand, window: i64) -> Partition {
    let Partition { tenant, space, bucket } = &strand.partition;
    let mut id = [0; 1 + size_of::<u32>() + size_of::<i64>()];
    id[0] = space.id;
    id[1..5].copy_from_slice(&bucket.to_be_bytes());
    id[5..].copy_from_slice(&window.to_be_bytes());
    Partition { tenant: tenant.clone(), space: BLOCKS, bucket: bucket_of(&id, BUCKETS) }
}

/// The windows that hold an instant of `first..=last`: 512 at most.
pub(crate) fn windows(first: i64, last: i64) -> impl Iterator<Item = i64> {
    window_of(first)..=window_of(last)
}

/// The first and last time of a window.
pub(crate) fn times_of(window: i64) -> (i64, i64) {
    let first = window << WINDOW_BITS;
    (first, first | ((1 << WINDOW_BITS) - 1))
}

/// The window that holds an instant.
pub(crate) fn window_of(time: i64) -> i64 {
    time >> WINDOW_BITS
}

/// Row `o`.
pub(crate) fn overlay(strand: &Strand, ordinal: u64) -> Bytes {
    key(OVERLAY, &strand.name, &[ordinal])
}

/// Rows `o` of these ordinals.
pub(crate) fn overlays(strand: &Strand, ordinals: std::ops::Range<u64>) -> Range {
    Range { start: overlay(strand, ordinals.start), end: Some(overlay(strand, ordinals.end)) }
}

/// Row `A`.
pub(crate) fn audit_part(strand: &Strand, level: u8, first: i64, ordinal: u64) -> Bytes {
    key_of_level(strand, level, &[ordered(first), ordinal])
}

/// Rows `A` of a level whose first times lie in `from..to`.
pub(crate) fn audit_parts_between(strand: &Strand, level: u8, from: i64, to: i64) -> Range {
    let end = key_of_level(strand, level, &[ordered(to)]);
    Range { start: key_of_level(strand, level, &[ordered(from)]), end: Some(end) }
}

/// First time and ordinal of a row `A`; `None` if the key is none.
pub(crate) fn place_of_audit_part(key: &[u8]) -> Option<(i64, u64)> {
    let (first, ordinal) = last_numbers(key)?;
    Some((time_of(first), ordinal))
}

/// All rows `A`, and all rows `W`.
pub(crate) fn all_audit_rows(strand: &Strand) -> [Range; 2] {
    [AUDIT_PART, WRITTEN].map(|kind| Range::prefix(key(kind, &strand.name, &[])))
}

/// Row `W`.
pub(crate) fn written(strand: &Strand, written: Timestamp, sequence: u64) -> Bytes {
    key(WRITTEN, &strand.name, &[ordered(written.0), sequence])
}

/// Rows `W` written from `from` to `to`, both included.
pub(crate) fn written_between(strand: &Strand, from: Timestamp, to: Timestamp) -> Range {
    let end = match to.0.checked_add(1) {
        Some(behind) => key(WRITTEN, &strand.name, &[ordered(behind)]),
        None => [key(WRITTEN, &strand.name, &[u64::MAX, u64::MAX]).as_ref(), &[0]].concat().into(),
    };
    Range { start: key(WRITTEN, &strand.name, &[ordered(from.0)]), end: Some(end) }
}

/// When the write of a row `W` happened; `None` if the key is none.
pub(crate) fn when_of_written(written: &[u8]) -> Option<Timestamp> {
    last_numbers(written).map(|(time, _)| Timestamp(time_of(time)))
}

/// Rows `s` of strands whose names begin with `prefix`, from behind `after`.
pub(crate) fn states(prefix: &[u8], after: Option<&[u8]>) -> Range {
    let mut range = Range::prefix(key(STATE, prefix, &[]));
    if let Some(after) = after {
        let behind: Bytes = [&[STATE], after, &[0]].concat().into();
        range.start = range.start.max(behind);
    }
    range
}

/// The name of the strand of a row `s`.
pub(crate) fn name_of(state: &[u8]) -> Option<&[u8]> {
    state.strip_prefix(&[STATE])
}

/// Whether a caller's row has a key of a kind that strands use.
pub(crate) fn is_ours(key: &[u8]) -> bool {
    matches!(key.first(), Some(&(STATE | PAGE | BLOCK | OVERLAY | AUDIT_PART | WRITTEN)))
}

fn key(kind: u8, name: &[u8], numbers: &[u64]) -> Bytes {
    let mut key = Vec::with_capacity(1 + name.len() + NUMBER_BYTES * numbers.len());
    key.push(kind);
    key.extend_from_slice(name);
    for number in numbers {
        key.extend_from_slice(&number.to_be_bytes());
    }
    key.into()
}

fn fresh_key(kind: u8, strand: &Strand, numbers: &[u64]) -> Bytes {
    let Strand { partition, name } = strand;
    let mut key = Vec::with_capacity(6 + name.len() + NUMBER_BYTES * numbers.len());
    key.push(kind);
    key.push(partition.space.id);
    key.extend_from_slice(&partition.bucket.to_be_bytes());
    key.extend_from_slice(name);
    for number in numbers {
        key.extend_from_slice(&number.to_be_bytes());
    }
    key.into()
}

fn key_of_level(strand: &Strand, level: u8, numbers: &[u64]) -> Bytes {
    let mut key = Vec::with_capacity(2 + strand.name.len() + NUMBER_BYTES * numbers.len());
    key.push(AUDIT_PART);
    key.extend_from_slice(&strand.name);
    key.push(level);
    for number in numbers {
        key.extend_from_slice(&number.to_be_bytes());
    }
    key.into()
}

/// The two numbers that a key ends with.
fn last_numbers(key: &[u8]) -> Option<(u64, u64)> {
    let (head, last) = key.split_last_chunk()?;
    let (_, first) = head.split_last_chunk()?;
    Some((u64::from_be_bytes(*first), u64::from_be_bytes(*last)))
}

/// A time whose bytes sort as times do.
fn ordered(time: i64) -> u64 {
    u64::from_be_bytes(ordered_i64(time))
}

fn time_of(ordered: u64) -> i64 {
    i64_of_ordered(ordered.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use store::Tenant;

    use super::*;

    fn strand(name: &'static [u8]) -> Strand {
        let space = Space { id: 240, kind: SpaceKind::Commit, name: "strands" };
        let partition = Partition { tenant: Tenant::default(), space, bucket: 0 };
        Strand { partition, name: Bytes::from_static(name) }
    }

    #[test]
    fn times_sort_as_bytes() {
        let strand = strand(b"x");
        let times = [i64::MIN, -1, 0, 1, i64::MAX];
        assert!(times.map(|time| block(&strand, time, 7)).is_sorted());
        for time in times {
            let of_kinds =
                [page, block, overlay_points, audit_points].map(|key| key(&strand, time, u64::MAX));
            for ((window, key), all) in of_kinds.into_iter().zip(all_fresh(&strand)) {
                assert!(all.start <= key && Some(key) < all.end);
                let (first, last) = times_of(window);
                assert!(first <= time && time <= last);
            }
        }
        assert_eq!(windows(i64::MIN, i64::MAX).count(), 512);
        let [one, next] = [0, 1].map(|window| fresh_partition(&strand, window));
        assert_eq!(one.space, BLOCKS);
        assert_ne!(one.bucket, next.bucket);
    }

    #[test]
    fn keys_of_kept_writes_tell_when_and_where() {
        let strand = strand(b"x");
        for time in [i64::MIN, -5, 0, 5, i64::MAX - 1] {
            let key = written(&strand, Timestamp(time), 3);
            assert_eq!(when_of_written(&key), Some(Timestamp(time)));
            let range = written_between(&strand, Timestamp(time), Timestamp(time));
            assert!(range.start <= key && key < range.end.unwrap());
            let key = audit_part(&strand, 9, time, u64::MAX);
            assert_eq!(place_of_audit_part(&key), Some((time, u64::MAX)));
            let range = audit_parts_between(&strand, 9, time, time + 1);
            assert!(range.start <= key && key < range.end.clone().unwrap());
            assert!(
                audit_part(&strand, 8, time, 0) < range.start
                    && range.end.unwrap() < audit_part(&strand, 10, i64::MIN, 0)
            );
            let [all, _] = all_audit_rows(&strand);
            assert!(all.start <= key && key < all.end.unwrap());
        }
        let last = written(&strand, Timestamp(i64::MAX), u64::MAX);
        assert!(last < written_between(&strand, Timestamp(0), Timestamp(i64::MAX)).end.unwrap());
        assert_eq!((when_of_written(b"w"), place_of_audit_part(b"a1234567")), (None, None));
    }

    #[test]
    fn states_are_listed_behind_a_name() {
        let range = states(b"q", Some(b"qa"));
        assert!(state(&strand(b"qa")) < range.start);
        assert!(range.start <= state(&strand(b"qb")) && state(&strand(b"qb")) < range.end.clone().unwrap());
        assert!(state(&strand(b"r")) >= range.end.unwrap());
        assert_eq!(name_of(&state(&strand(b"qb"))), Some(&b"qb"[..]));
    }
}
