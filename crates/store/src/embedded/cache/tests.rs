//! The cache by itself: what settles, what goes, what it holds.

use bytes::Bytes;

use super::{Cache, Found, SHARDS, Ticket, hash_of};
use crate::{Row, Stamp, WriteId};

fn row(stamp: u64, bytes: usize) -> Row {
    Row { stamp: Stamp(stamp), write_id: WriteId(1), value: Bytes::from(vec![1; bytes]) }
}

fn known(cache: &Cache, place: &[u8]) -> Option<Option<u64>> {
    match cache.look_up(place) {
        Found::Known(row) => Some(row.map(|row| row.stamp.0)),
        Found::Unknown(_) => None,
    }
}

fn miss(cache: &Cache, place: &[u8]) -> Ticket {
    match cache.look_up(place) {
        Found::Unknown(ticket) => ticket,
        Found::Known(row) => panic!("a miss was expected, not {row:?}"),
    }
}

fn publish(cache: &Cache, place: &[u8], row: Option<&Row>) {
    cache.publish(hash_of(place), place, row);
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
    let ticket = miss(&cache, b"c");
    cache.forget_range(b"x", b"y");
    cache.insert(ticket, b"c", Some(&row(3, 9)));
    assert_eq!(known(&cache, b"c"), None);
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
    cache.forget_range(&[10], &[90]);
    let left = (0..100).filter(|n| known(&cache, &[*n]).is_some()).collect::<Vec<u8>>();
    assert_eq!(left, (0..10).chain(90..100).collect::<Vec<u8>>());
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
fn kinds_are_marked_one_by_one() {
    let cache = Cache::new(0);
    for kind in [0, 63, 64, u16::MAX] {
        assert!(!cache.is_marked(kind));
        cache.mark(kind);
        assert!(cache.is_marked(kind));
    }
    assert!(!cache.is_marked(1));
}
