//! The cache by itself: what settles, what goes, what it holds.

#![expect(clippy::cast_possible_truncation, reason = "test data is small")]

use std::collections::BTreeSet;

use bytes::Bytes;

use super::{Cache, Found, RANGES_MAX, SHARDS, SWEPT_AT_ONCE, Ticket, hash_of};
use store_contract::incarnation::{Incarnation, number_of_stamp};
use store_contract::place::PlaceBytes;
use store_contract::{Row, WriteId};

fn row(stamp: u64, bytes: usize) -> Row {
    Row { stamp: Incarnation(7).stamp(stamp), write_id: WriteId(1), value: Bytes::from(vec![1; bytes]) }
}

fn known(cache: &Cache, place: &[u8]) -> Option<Option<u64>> {
    match cache.look_up(place) {
        Found::Known(row) => Some(row.map(|row| number_of_stamp(row.stamp))),
        Found::Unknown(_) | Found::InFlight(..) => None,
    }
}

fn miss(cache: &Cache, place: &[u8]) -> Ticket {
    match cache.look_up(place) {
        Found::Unknown(ticket) => ticket.expect("nothing is in flight"),
        Found::Known(row) | Found::InFlight(row, _) => panic!("a miss was expected, not {row:?}"),
    }
}

fn publish(cache: &Cache, place: &[u8], row: Option<&Row>) {
    cache.publish(hash_of(place), place, row.map(Into::into));
}

fn range(start: &[u8], end: &[u8]) -> Vec<(PlaceBytes, PlaceBytes)> {
    vec![(start.into(), end.into())]
}

/// Removes a range as a batch of its own does.
fn remove(cache: &Cache, start: &[u8], end: &[u8]) {
    cache.announce(1, &range(start, end), std::iter::empty());
    cache.publish_ranges(&range(start, end));
}

/// What a look-up says of a row in flight: what was before, and the engine's newest write.
fn flying(cache: &Cache, place: &[u8]) -> Option<(Option<u64>, u64)> {
    match cache.look_up(place) {
        Found::InFlight(row, before) => Some((row.map(|row| number_of_stamp(row.stamp)), before)),
        Found::Unknown(ticket) => {
            assert!(ticket.is_none(), "nothing may be inserted");
            None
        }
        Found::Known(row) => panic!("{row:?} is in flight"),
    }
}

#[test]
fn a_stale_row_does_not_settle() {
    let cache = Cache::new(1 << 20);
    let ticket = miss(&cache, b"a");
    publish(&cache, b"a", None);
    cache.insert(ticket, b"a", Some(&row(1, 9)));
    assert_eq!(known(&cache, b"a"), None, "the deletion came after the read");
    let ticket = miss(&cache, b"a");
    cache.insert(ticket, b"a", Some(&row(2, 9)));
    assert_eq!(known(&cache, b"a"), Some(Some(2)));
    let ticket = miss(&cache, b"b");
    cache.forget(hash_of(b"b"), b"b");
    cache.insert(ticket, b"b", None);
    assert_eq!(known(&cache, b"b"), None);
    let (inside, beside) = (miss(&cache, b"c"), miss(&cache, b"x"));
    remove(&cache, b"c", b"d");
    cache.insert(inside, b"c", Some(&row(3, 9)));
    cache.insert(beside, b"x", Some(&row(3, 9)));
    assert_eq!((known(&cache, b"c"), known(&cache, b"x")), (None, Some(Some(3))));
    let ticket = miss(&cache, b"e");
    cache.clear();
    cache.insert(ticket, b"e", Some(&row(3, 9)));
    assert_eq!((known(&cache, b"e"), known(&cache, b"x")), (None, None));
}

#[test]
fn a_row_in_flight_is_as_it_was_before_and_nothing_settles() {
    let cache = Cache::new(1 << 20);
    publish(&cache, b"a", Some(&row(1, 9)));
    publish(&cache, b"other", Some(&row(1, 9)));
    let early = miss(&cache, b"b");
    cache.announce(7, &[], [b"a", b"b"].into_iter().map(|place| hash_of(place)));
    assert_eq!(flying(&cache, b"a"), Some((Some(1), 7)));
    assert_eq!(flying(&cache, b"b"), None);
    assert!(cache.holds(b"a") && cache.holds(b"b"), "the committer will know");
    cache.insert(early, b"b", Some(&row(1, 9)));
    assert_eq!(flying(&cache, b"b"), None);
    assert_eq!(known(&cache, b"other"), Some(Some(1)));
    publish(&cache, b"a", Some(&row(2, 9)));
    assert_eq!(known(&cache, b"a"), Some(Some(2)));
    assert_eq!(flying(&cache, b"b"), None, "it is not yet published");
    cache.forget(hash_of(b"b"), b"b");
    let ticket = miss(&cache, b"b");
    cache.insert(ticket, b"b", None);
    assert_eq!(known(&cache, b"b"), Some(None));
}

#[test]
fn a_range_in_flight_is_as_it_was_before_and_nothing_settles() {
    let cache = Cache::new(1 << 20);
    for place in [&b"a"[..], b"c"] {
        publish(&cache, place, Some(&row(1, 9)));
    }
    let early = miss(&cache, b"ab");
    let range = range(b"a", b"b");
    cache.announce(7, &range, std::iter::once(hash_of(b"aa")));
    assert_eq!(flying(&cache, b"a"), Some((Some(1), 7)));
    assert_eq!(flying(&cache, b"aa"), None);
    assert_eq!(known(&cache, b"c"), Some(Some(1)));
    let late = miss(&cache, b"ab");
    for ticket in [early, late] {
        cache.insert(ticket, b"ab", Some(&row(1, 9)));
        assert_eq!(known(&cache, b"ab"), None);
    }
    cache.publish_ranges(&range);
    cache.insert(late, b"ab", Some(&row(1, 9)));
    assert_eq!((known(&cache, b"a"), known(&cache, b"ab")), (None, None));
    publish(&cache, b"aa", Some(&row(2, 9)));
    assert_eq!(known(&cache, b"aa"), Some(Some(2)), "it was put after the removal");
    assert_eq!(known(&cache, b"c"), Some(Some(1)));
}

#[test]
fn absence_is_known_until_a_row_comes() {
    let cache = Cache::new(1 << 20);
    let ticket = miss(&cache, b"a");
    cache.insert(ticket, b"a", None);
    assert_eq!(known(&cache, b"a"), Some(None));
    publish(&cache, b"a", Some(&row(4, 9)));
    assert_eq!(known(&cache, b"a"), Some(Some(4)));
    publish(&cache, b"a", None);
    assert_eq!(known(&cache, b"a"), Some(None));
}

#[test]
fn ranges_are_forgotten() {
    let cache = Cache::new(1 << 20);
    for n in 0..100_u8 {
        publish(&cache, &[n], Some(&row(u64::from(n), 9)));
    }
    remove(&cache, &[10], &[90]);
    let left = (0..100).filter(|n| known(&cache, &[*n]).is_some()).collect::<Vec<u8>>();
    assert_eq!(left, (0..10).chain(90..100).collect::<Vec<u8>>());
}

/// What an earlier range removed is not taken for what was before a batch.
#[test]
fn what_is_gone_is_not_in_flight() {
    let cache = Cache::new(1 << 20);
    for by_range in [true, false] {
        publish(&cache, b"a", Some(&row(1, 9)));
        remove(&cache, b"a", b"b");
        let ranges = if by_range { range(b"a", b"b") } else { vec![] };
        cache.announce(7, &ranges, std::iter::once(hash_of(b"a")).filter(|_| !by_range));
        assert_eq!(flying(&cache, b"a"), None);
        cache.publish_ranges(&ranges);
        cache.forget(hash_of(b"a"), b"a");
        assert_eq!(known(&cache, b"a"), None);
    }
}

/// However many ranges are removed, notes of them are few, and what none of them touched stays.
#[test]
fn notes_of_ranges_go_and_rows_stay() {
    const ROWS: u32 = 10_000;
    let cache = Cache::new(64 << 20);
    let mut removed = BTreeSet::new();
    for n in 0..ROWS {
        publish(&cache, &n.to_be_bytes(), Some(&row(1, 9)));
    }
    let mut most = 0;
    for n in 0..20_000_u32 {
        let start = n.wrapping_mul(7_919) % (2 * ROWS);
        if start.is_multiple_of(3) {
            removed.insert(start);
            remove(&cache, &start.to_be_bytes(), &(start + 1).to_be_bytes());
        }
        most = most.max(cache.removed.read().len());
    }
    assert!(most <= RANGES_MAX, "{most} notes");
    assert!(most < ROWS as usize / SWEPT_AT_ONCE * 4, "{most} notes: the sweep gives them back");
    for n in 0..ROWS {
        let expected = (!removed.contains(&n)).then_some(Some(1));
        assert_eq!(known(&cache, &n.to_be_bytes()), expected, "row {n}");
    }
}

/// A cache too large for its sweep forgets what it has not checked, and is never wrong.
#[test]
fn too_many_ranges_forget_what_is_unchecked() {
    let cache = Cache::new(64 << 20);
    publish(&cache, b"old", Some(&row(1, 9)));
    let ranges = |from: u32| -> Vec<(PlaceBytes, PlaceBytes)> {
        (from..from + RANGES_MAX as u32 + 1)
            .map(|n| (n.to_be_bytes()[..].into(), [&n.to_be_bytes()[..], &[0]].concat()[..].into()))
            .collect()
    };
    let ticket = miss(&cache, b"read");
    cache.announce(1, &ranges(0), std::iter::empty());
    cache.publish_ranges(&ranges(0));
    publish(&cache, b"new", Some(&row(2, 9)));
    assert_eq!(cache.removed.read().len(), 0);
    assert_eq!((known(&cache, b"old"), known(&cache, b"new")), (None, Some(Some(2))));
    cache.insert(ticket, b"read", Some(&row(1, 9)));
    assert_eq!(known(&cache, b"read"), None, "nobody knows what was removed meanwhile");
}

#[test]
fn bytes_are_bounded_and_hot_rows_stay() {
    let bytes_max = SHARDS * 64 * 1024;
    let cache = Cache::new(bytes_max);
    publish(&cache, b"hot", Some(&row(7, 100)));
    for n in 0..100_000_u32 {
        publish(&cache, &n.to_be_bytes(), Some(&row(1, 1_000)));
        if n % 100 == 0 {
            assert_eq!(known(&cache, b"hot"), Some(Some(7)), "after {n} others");
        }
    }
    let (hits, misses, bytes) = cache.counts();
    assert!(hits >= 1_000 && misses == 0);
    let bytes_max = bytes_max as u64;
    assert!(bytes <= bytes_max && bytes > bytes_max / 2, "{bytes}");
    publish(&cache, b"hot", Some(&row(8, 60_000)));
    assert_eq!(known(&cache, b"hot"), None, "too large for its place");
}

#[test]
fn a_row_that_nobody_has_read_is_not_cached() {
    let cache = Cache::new(1 << 20);
    let renew = |place: &[u8], sequence| {
        cache.announce(1, &[], std::iter::once(hash_of(place)));
        cache.renew(hash_of(place), place, (&row(sequence, 9)).into());
    };
    renew(b"a", 1);
    let ticket = miss(&cache, b"a");
    cache.insert(ticket, b"a", Some(&row(1, 9)));
    renew(b"a", 2);
    assert_eq!(known(&cache, b"a"), Some(Some(2)));
    let ticket = miss(&cache, b"b");
    renew(b"b", 3);
    cache.insert(ticket, b"b", None);
    assert_eq!(known(&cache, b"b"), None, "what was read before is not known");
    let ticket = miss(&cache, b"b");
    cache.insert(ticket, b"b", None);
    renew(b"b", 4);
    assert_eq!(known(&cache, b"b"), Some(Some(4)), "that it was absent was known");
}
