//! Reads: scans of ranges in both directions, pages, neighbours, the cache.

use bytes::Bytes;

use super::{OTHERS, bytes, commit, done, put, stamped, things};
use crate::{Direction, Page, Partition, Range, Store, Write};
use store_contract::PAGE_BYTES_MAX;

fn keys(page: &Page) -> Vec<String> {
    page.rows().map(|(key, _)| String::from_utf8(key.to_vec()).expect("text")).collect()
}

/// What is cached is what is stored, after every kind of write.
pub(super) async fn check_cache(store: &Store) {
    let same = async |key: &str| {
        let row = store.get(&things(0), key.as_bytes()).await.expect("get");
        for _ in 0..2 {
            let cached = store.get_cached(&things(0), key.as_bytes());
            assert!(cached.is_none() || cached == Some(row.clone()), "{key}: {cached:?} is not {row:?}");
        }
        row.map(|row| row.value)
    };
    assert_eq!(same("a").await, None);
    done(store, commit(1, vec![], vec![stamped("a", "1")])).await;
    assert_eq!(same("a").await, Some(bytes("1")));
    assert!(matches!(store.get_cached(&things(0), b"a"), Some(Some(_))), "a stamped row just written is hot");
    done(store, commit(2, vec![], vec![stamped("a", "2"), stamped("b", "2")])).await;
    assert_eq!(same("a").await, Some(bytes("2")));
    done(store, commit(3, vec![], vec![put("a", "3")])).await;
    assert_eq!(same("a").await, Some(bytes("3")));
    done(store, commit(4, vec![], vec![Write::Delete(bytes("a"))])).await;
    assert_eq!(same("a").await, None);
    done(store, commit(5, vec![], vec![Write::DeleteRange(Range::default())])).await;
    assert_eq!(same("b").await, None);
    done(store, commit(6, vec![], vec![put("b", "6")])).await;
    assert_eq!(same("b").await, Some(bytes("6")));
}

pub(super) async fn check_scan(store: &Store) {
    let rows = (0..10).map(|n| {
        if n % 2 == 0 { stamped(&format!("k{n}"), &format!("v{n}")) } else { put(&format!("k{n}"), "") }
    });
    done(store, commit(1, vec![], rows.chain([put("j", "below"), put("l", "above")]).collect())).await;
    let range = |start: &str, end: Option<&str>| Range { start: bytes(start), end: end.map(bytes) };
    let cases: [(Range, Direction, usize, &str, bool); 12] = [
        (Range::prefix("k"), Direction::Forward, 100, "k0 k1 k2 k3 k4 k5 k6 k7 k8 k9", false),
        (Range::prefix("k"), Direction::Backward, 100, "k9 k8 k7 k6 k5 k4 k3 k2 k1 k0", false),
        (Range::prefix("k"), Direction::Forward, 3, "k0 k1 k2", true),
        (Range::prefix("k"), Direction::Backward, 3, "k9 k8 k7", true),
        (Range::prefix("k"), Direction::Forward, 10, "k0 k1 k2 k3 k4 k5 k6 k7 k8 k9", false),
        (range("k3", Some("k5")), Direction::Forward, 9, "k3 k4", false),
        (range("k3", Some("k5")), Direction::Backward, 9, "k4 k3", false),
        (range("k8", None), Direction::Forward, 9, "k8 k9 l", false),
        (range("k8", None), Direction::Backward, 2, "l k9", true),
        (range("k5", Some("k3")), Direction::Forward, 9, "", false),
        (range("x", None), Direction::Backward, 9, "", false),
        (range("", None), Direction::Forward, 0, "", true),
    ];
    for (range, direction, rows_max, expected, more) in cases {
        let page = store.scan(&things(0), &range, direction, rows_max).await.expect("scan");
        let said = format!("{range:?} {direction:?} {rows_max}");
        assert_eq!(keys(&page).join(" "), expected, "{said}");
        assert_eq!(page.more(), more, "{said}");
        for (key, value) in page.rows().filter(|(key, _)| key.starts_with(b"k")) {
            let number = char::from(*key.last().expect("a digit"));
            let even = number.to_digit(10).is_some_and(|digit| digit % 2 == 0);
            let expected = if even { format!("v{number}") } else { String::new() };
            assert_eq!(value, expected.as_bytes(), "values come without their stamps");
        }
    }
    check_paging(store).await;
}

/// Going on just behind the last key gives every row once.
async fn check_paging(store: &Store) {
    let mut range = Range::prefix("k");
    let mut seen = Vec::new();
    loop {
        let page = store.scan(&things(0), &range, Direction::Forward, 4).await.expect("scan");
        seen.extend(keys(&page));
        if !page.more() {
            break;
        }
        let mut next = page.last_key().expect("a row").to_vec();
        next.push(0);
        range.start = next.into();
    }
    assert_eq!(seen.join(" "), "k0 k1 k2 k3 k4 k5 k6 k7 k8 k9");
    let mut range = Range::prefix("k");
    let mut seen = Vec::new();
    loop {
        let page = store.scan(&things(0), &range, Direction::Backward, 4).await.expect("scan");
        seen.extend(keys(&page));
        if !page.more() {
            break;
        }
        range.end = Some(Bytes::copy_from_slice(page.last_key().expect("a row")));
    }
    assert_eq!(seen.join(" "), "k9 k8 k7 k6 k5 k4 k3 k2 k1 k0");
}

/// Partitions whose places are close to one another do not see each other's rows.
pub(super) async fn check_neighbours(store: &Store) {
    let mut partitions = Vec::new();
    for number in [0, 1, 0xF8, 0xFF, 0x100] {
        for space in [super::THINGS, OTHERS] {
            for bucket in [0, 1, u32::MAX] {
                partitions.push(Partition { tenant: super::tenant(number), space, bucket });
            }
        }
    }
    for (n, partition) in partitions.iter().enumerate() {
        let writes = [&b"\0"[..], b"", b"k", b"\xff\xff"]
            .map(|key| Write::Put(Bytes::copy_from_slice(key), bytes(&n.to_string())));
        let commit = crate::Commit { partition: partition.clone(), ..commit(1, vec![], writes.to_vec()) };
        done(store, commit).await;
    }
    for (n, partition) in partitions.iter().enumerate() {
        for direction in [Direction::Forward, Direction::Backward] {
            let page = store.scan(partition, &Range::default(), direction, 100).await.expect("scan");
            assert_eq!(page.len(), 4, "{partition:?}");
            assert!(page.rows().all(|(_, value)| value == n.to_string().as_bytes()), "{partition:?}");
        }
    }
    let everything = Write::DeleteRange(Range::default());
    let partition = partitions.get(1).expect("thirty partitions").clone();
    done(store, crate::Commit { partition: partition.clone(), ..commit(2, vec![], vec![everything]) }).await;
    for other in &partitions {
        let page = store.scan(other, &Range::default(), Direction::Forward, 100).await.expect("scan");
        assert_eq!(page.len(), if *other == partition { 0 } else { 4 });
    }
}

/// A page ends at its byte limit, says so, and always brings at least one row.
pub(super) async fn check_page_bytes(store: &Store) {
    let value = Bytes::from(vec![1; PAGE_BYTES_MAX * 3 / 4]);
    for n in 0..4 {
        let write = Write::Put(bytes(&format!("k{n}")), value.clone());
        done(store, commit(n, vec![], vec![write])).await;
    }
    let page = store.scan(&things(0), &Range::default(), Direction::Forward, 100).await.expect("scan");
    assert_eq!(keys(&page), ["k0", "k1"]);
    assert!(page.more());
    let page = store.scan(&things(0), &Range::default(), Direction::Backward, 100).await.expect("scan");
    assert_eq!(keys(&page), ["k3", "k2"]);
}

/// What is passed over is what a scan would give, however often it was passed over before and whatever was written since.
pub(super) async fn check_skip(store: &Store) {
    const ROWS: usize = 40_000;
    let key = |n: usize| bytes(&format!("k{n:05}"));
    let range = Range::prefix("k");
    for first in (0..ROWS).step_by(10_000) {
        let rows = (first..first + 10_000).map(|n| Write::Put(key(n), Bytes::new())).collect();
        done(store, commit(first as u128, vec![], rows)).await;
    }
    let mut gone = std::collections::BTreeSet::new();
    for (turn, rows_max) in
        [12_345, usize::MAX, 12_345, 39_990, 1, 0].into_iter().cycle().take(18).enumerate()
    {
        let mut left = (0..ROWS).filter(|n| !gone.contains(n));
        let (passed, next) = passed(store, &range, rows_max).await;
        assert_eq!(passed, left.by_ref().take(rows_max).count(), "turn {turn}, {rows_max} rows");
        let found = match next {
            Some(start) => {
                let behind = Range { start, ..range.clone() };
                store.scan(&things(0), &behind, Direction::Forward, 2).await.expect("scan")
            }
            None => Page::default(),
        };
        let behind: Vec<_> = left.take(2).map(|n| format!("k{n:05}")).collect();
        assert_eq!(keys(&found), behind, "turn {turn}, {rows_max} rows");
        // One row here and there, then many side by side.
        let (first, step, last) = match turn % 3 {
            0 => (turn * 7, 4_999, ROWS),
            1 => (turn * 2_000, 1, turn * 2_000 + 1_500),
            _ => (ROWS - 1 - turn, 1, ROWS - turn),
        };
        let numbers: Vec<_> = (first..last).step_by(step).collect();
        let writes = match turn % 6 {
            4 => vec![Write::DeleteRange(Range { start: key(first), end: Some(key(last)) })],
            _ => numbers.iter().map(|n| Write::Delete(key(*n))).collect(),
        };
        gone.extend(numbers);
        done(store, commit(100_000 + turn as u128, vec![], writes)).await;
        if turn % 6 == 5 {
            let again: Vec<_> = gone.iter().copied().take(3_000).collect();
            let writes = again.iter().map(|n| Write::Put(key(*n), Bytes::new())).collect();
            gone.retain(|n| !again.contains(n));
            done(store, commit(200_000 + turn as u128, vec![], writes)).await;
        }
    }
    let empty = Range { start: bytes("k9"), end: Some(bytes("k8")) };
    assert_eq!(passed(store, &empty, 9).await, (0, None));
    assert_eq!(passed(store, &Range::prefix("x"), 9).await, (0, None));
}

/// Passes over rows from the start of a range: how many, and the key behind them.
async fn passed(store: &Store, range: &Range, rows_max: usize) -> (usize, Option<Bytes>) {
    let (mut passed, mut from) = (0, range.start.clone());
    loop {
        let skipped = store.skip(&things(0), range, &from, rows_max - passed).await.expect("skip");
        passed += skipped.rows;
        match skipped.next {
            Some(next) if passed < rows_max => from = next,
            next => return (passed, next),
        }
    }
}

/// Sizes are estimates: of nothing none, and in the order of the ranges.
pub(super) async fn check_sizes(store: &Store) {
    let rows = (0..100).map(|n| put(&format!("k{n:02}"), "of some length")).collect();
    done(store, commit(1, vec![], rows)).await;
    let nothing = Range { start: bytes("z"), end: Some(bytes("a")) };
    let ranges = [Range::prefix("k"), nothing, Range::prefix("k0"), Range::prefix("x")];
    let sizes = store.sizes(&things(0), &ranges).await.expect("sizes");
    let [all, nothing, some, none] = sizes[..] else { panic!("{sizes:?}") };
    assert!(all >= some && nothing == 0 && none == 0, "{sizes:?}");
    assert_eq!(store.sizes(&things(0), &[]).await.expect("sizes"), Vec::<u64>::new());
}

/// Who writes counts its own rows at once, whoever writes and counts beside it.
pub(super) async fn check_skip_races(store: &Store) {
    const ROWS: u32 = 3_000;
    const ROUNDS: u32 = 60;
    let key = |writer: u32, n: u32| bytes(&format!("k{writer}/{n:04}"));
    let writers = (0..4_u32).map(|writer| {
        let store = store.clone();
        async move {
            let rows = (0..ROWS).map(|n| Write::Put(key(writer, n), Bytes::new())).collect();
            done(&store, commit(u128::from(writer), vec![], rows)).await;
            let (own, mut count) = (Range::prefix(format!("k{writer}")), ROWS as usize);
            for round in 0..ROUNDS {
                let n = round * 613 % ROWS;
                let (write, after) = match round % 3 {
                    0 => (Write::Delete(key(writer, n)), count - 1),
                    1 => (Write::Put(key(writer, ROWS + round), Bytes::new()), count + 1),
                    _ => (Write::Put(key(writer, n + 1), bytes("again")), count),
                };
                count = after;
                done(&store, commit(u128::from(writer + 4 * (round + 1)), vec![], vec![write])).await;
                assert_eq!(passed(&store, &own, usize::MAX).await.0, count, "writer {writer}, round {round}");
                // One range that all of them write.
                assert!(passed(&store, &Range::prefix("k"), usize::MAX).await.0 >= count);
            }
            count
        }
    });
    let writers: Vec<_> = writers.map(tokio::spawn).collect();
    let mut total = 0;
    for writer in writers {
        total += writer.await.expect("a writer");
    }
    assert_eq!(passed(store, &Range::prefix("k"), usize::MAX).await.0, total);
}
