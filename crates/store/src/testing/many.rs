//! Reads of many ranges at once: each is answered as a scan of it alone would be, whatever the limits are.

use bytes::Bytes;

use super::{OTHERS, bytes, commit, done, put, stamped, things};
use crate::{Commit, Partition, Range, RangeList, RangePages, ScanLimits, Snapshot, Store, Write};

/// The rows of each range, read in calls of these limits until nothing is left.
pub(super) async fn all_rows(
    snapshot: &Snapshot,
    partitions: &[Partition],
    ranges: &[(usize, Range)],
    limits: ScanLimits,
) -> Vec<Vec<(Bytes, Bytes)>> {
    let mut found = vec![Vec::new(); ranges.len()];
    let mut left: Vec<(usize, usize, Range)> =
        ranges.iter().enumerate().map(|(of, (partition, range))| (of, *partition, range.clone())).collect();
    let mut list = RangeList::new(partitions.to_vec());
    while !left.is_empty() {
        list.clear();
        left.iter().for_each(|(_, partition, range)| list.push(*partition, range));
        let mut pages = RangePages::of_unread(list.len());
        while pages.unread() > 0 && pages.bytes() < limits.bytes {
            let before = (pages.unread(), pages.rows_read());
            snapshot.scan_many(&list, limits, &mut pages).await.expect("scan");
            assert!(pages.unread() < before.0, "each call reads a range at least");
            assert!(pages.rows_read() - before.1 <= limits.rows.saturating_mul(2).max(2), "a call ends");
        }
        let asked = std::mem::take(&mut left);
        for (number, (of, partition, _)) in asked.into_iter().enumerate() {
            let rows = pages.rows(number);
            assert!(rows.len() <= limits.rows_each.max(1));
            assert!(!pages.is_read(number) || !pages.more(number) || rows.len() > 0, "a range goes on");
            let copy = |(key, value)| (Bytes::copy_from_slice(key), Bytes::copy_from_slice(value));
            found.get_mut(of).expect("a range").extend(rows.map(copy));
            left.extend(pages.rest(&list, number).map(|rest| (of, partition, rest)));
        }
    }
    found
}

/// Ranges in any order, that overlap, are the same, hold nothing or end before they begin, in several partitions.
pub(super) async fn check_many(store: &Store) {
    let others = Partition { space: OTHERS, ..things(0) };
    let partitions = [things(1), things(0), others.clone()];
    for (of, partition) in partitions.iter().enumerate() {
        let rows = (0..40).map(|n| match n % 2 {
            0 => stamped(&format!("k{n:02}"), &format!("{of}/{n}")),
            _ => put(&format!("k{n:02}"), &format!("{of}/{n}")),
        });
        let commit = Commit { partition: partition.clone(), ..commit(of as u128, vec![], rows.collect()) };
        done(store, commit).await;
    }
    let range = |start: &str, end: Option<&str>| Range { start: bytes(start), end: end.map(bytes) };
    let ranges = [
        (1, Range::prefix("k2")),
        (0, Range::prefix("k")),
        (1, range("k05", Some("k07"))),
        (1, range("k06", Some("k20"))),
        (1, range("k06", Some("k20"))),
        (2, range("k38", None)),
        (2, range("k07", Some("k05"))),
        (1, Range::prefix("x")),
        (1, Range::prefix("a")),
        (0, range("k1000", Some("k11"))),
        (1, Range::default()),
        (1, range("k39", Some("k39"))),
        (1, Range::prefix("k00")),
        (0, Range::prefix("k3")),
    ];
    let snapshot = store.snapshot().expect("snapshot");
    let mut expected = Vec::new();
    for (partition, range) in &ranges {
        let partition = partitions.get(*partition).expect("a partition");
        let page = snapshot.scan(partition, range, crate::Direction::Forward, 1_000).await.expect("scan");
        let copy = |(key, value)| (Bytes::copy_from_slice(key), Bytes::copy_from_slice(value));
        expected.push(page.rows().map(copy).collect::<Vec<_>>());
    }
    assert_eq!(expected.iter().map(Vec::len).sum::<usize>(), 10 + 40 + 2 + 14 + 14 + 2 + 40 + 1 + 10);
    let limits = |rows_each, bytes_each, rows, bytes| ScanLimits { rows_each, bytes_each, rows, bytes };
    let most = usize::MAX;
    for limits in [
        limits(most, most, 4_000, most),
        limits(most, most, most, most),
        limits(3, most, 4_000, most),
        limits(most, 20, 4_000, most),
        limits(most, most, 5, most),
        limits(7, most, 11, 90),
        limits(0, 0, 0, 1),
    ] {
        let found = all_rows(&snapshot, &partitions, &ranges, limits).await;
        assert_eq!(found, expected, "{limits:?}");
    }
    check_refused(&snapshot, &partitions).await;
}

/// A list of too many ranges is refused, one of none is answered.
async fn check_refused(snapshot: &Snapshot, partitions: &[Partition]) {
    let limits = ScanLimits { rows_each: 1, bytes_each: 1, rows: 1, bytes: 1 };
    let mut list = RangeList::new(partitions.to_vec());
    let mut pages = RangePages::default();
    snapshot.scan_many(&list, limits, &mut pages).await.expect("nothing to read");
    (0..=store_contract::limits::SCAN_RANGES_MAX).for_each(|_| list.push_prefix(0, b"k"));
    pages.begin(list.len());
    let refused = snapshot.scan_many(&list, limits, &mut pages).await.expect_err("too many");
    assert_eq!(refused.limit().map(|limit| limit.name), Some("SCAN_RANGES_MAX"));
}

/// Many ranges are read as they were at the moment of the snapshot, with many removed rows between them.
pub(super) async fn check_many_moment(store: &Store) {
    const RANGES: usize = 30;
    let key = |range: usize, n: usize| bytes(&format!("k{range:02}/{n:04}"));
    for range in 0..RANGES {
        let rows = (0..400).map(|n| Write::Put(key(range, n), bytes("1"))).collect();
        done(store, commit(range as u128, vec![], rows)).await;
    }
    let before = store.snapshot().expect("snapshot");
    // Of each range five rows are left, of every third none.
    for range in 0..RANGES {
        let first = if range % 3 == 0 { 0 } else { 5 };
        let rows = (first..400).map(|n| Write::Delete(key(range, n))).collect();
        done(store, commit(100 + range as u128, vec![], rows)).await;
    }
    let after = store.snapshot().expect("snapshot");
    let ranges: Vec<_> = (0..RANGES).rev().map(|range| (0, Range::prefix(format!("k{range:02}")))).collect();
    let limits = ScanLimits { rows_each: 100, bytes_each: usize::MAX, rows: 4_000, bytes: usize::MAX };
    for (snapshot, most) in [(before, 400), (after, 5)] {
        let found = all_rows(&snapshot, &[things(0)], &ranges, limits).await;
        for (rows, range) in found.iter().zip((0..RANGES).rev()) {
            let count = if range % 3 == 0 && most == 5 { 0 } else { most };
            assert_eq!(rows.len(), count, "range {range}");
            assert!(rows.iter().zip(0..).all(|((found, _), n)| *found == key(range, n)), "range {range}");
        }
    }
}
