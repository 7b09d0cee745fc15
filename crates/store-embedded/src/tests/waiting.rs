//! What the committer, for whom all wait, leaves to others, and what it need not do.

use super::*;
use crate::read_options::TIER_MEMORY;
use store_contract::place::bounds;
use store_contract::{Commit, Condition, later_wins};

fn key(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

fn stamped(text: &str, value: &str) -> Write {
    Write::PutStamped(key(text), key(value))
}

fn gone(prefix: &str) -> Write {
    Write::DeleteRange(Range::prefix(key(prefix)))
}

async fn value(store: &Embedded, text: &str) -> Option<Bytes> {
    let row = store.get(&testing::things(0), text.as_bytes()).await.unwrap();
    let cached = store.get_cached(&testing::things(0), text.as_bytes());
    assert!(cached.is_none() || cached == Some(row.clone()), "{text}");
    row.map(|row| row.value)
}

/// Conditions know of ranges that commits of the same batch removed, and rows before and behind them.
#[tokio::test]
async fn a_removed_range_does_not_end_the_batch() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let one = |conditions, mut writes| {
        later_wins(&mut writes);
        testing::commit(1, conditions, writes)
    };
    // The kind of row is asked for once.
    let first = one(vec![Condition::Absent(key("r"))], vec![stamped("r old", "0")]);
    let old = store.commit(first).await.unwrap();
    let before = store.statistics();
    let told = store.commit_all(vec![
        one(vec![], vec![stamped("r new", "1"), stamped("s", "1"), Write::Put(key("i r"), key("1"))]),
        one(vec![Condition::Version(key("r old"), old), Condition::Present(key("r new"))], vec![gone("r")]),
        one(vec![Condition::Version(key("r old"), old)], vec![stamped("r old", "never")]),
        one(vec![Condition::Present(key("r new"))], vec![stamped("r new", "never")]),
        one(
            vec![Condition::Absent(key("r new")), Condition::Present(key("s"))],
            vec![stamped("r new", "2"), stamped("r newer", "2"), Write::Put(key("i r"), key("2"))],
        ),
        one(vec![], vec![gone("r newer"), gone("i"), stamped("r z", "3"), Write::Put(key("i s"), key("3"))]),
        one(vec![Condition::Present(key("r new")), Condition::Absent(key("r newer"))], vec![]),
    ]);
    let kinds: Vec<_> = told.await.into_iter().map(|told| told.map_err(|error| error.kind()).err()).collect();
    let conflict = Some(ErrorKind::Conflict);
    assert_eq!(kinds, [None, None, conflict, conflict, None, None, None]);
    assert_eq!(store.statistics().batches, before.batches + 1, "all in one");
    let expected =
        [("r old", None), ("r new", Some("2")), ("r newer", None), ("r z", Some("3")), ("s", Some("1"))];
    store.close().await.unwrap();
    let reopened = open(folder.path()).unwrap();
    for (text, expected) in expected {
        assert_eq!(value(&reopened, text).await, expected.map(key), "{text}");
    }
    let page = reopened.scan(&testing::things(0), &Range::prefix("i"), Direction::Forward, 9).await.unwrap();
    assert_eq!(page.rows().collect::<Vec<_>>(), [(&b"i s"[..], &b"3"[..])]);
}

/// The cache after such a batch is what the engine has.
#[tokio::test]
async fn rows_around_removed_ranges_are_cached_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let put = |names: &[&str], value: &str| names.iter().map(|name| stamped(name, value)).collect::<Vec<_>>();
    let names = ["r1", "r2", "r3", "s1"];
    // Rows that conditions name are cached when they are written.
    let absent = names.map(|name| Condition::Absent(key(name)));
    store.commit(testing::commit(1, absent.into(), put(&names, "1"))).await.unwrap();
    let mut writes = put(&["r1"], "2");
    writes.extend([gone("r"), stamped("r3", "2"), Write::Put(key("r4"), key("2"))]);
    later_wins(&mut writes);
    store.commit(testing::commit(2, vec![], writes)).await.unwrap();
    assert!(store.get_cached(&testing::things(0), b"s1").is_some_and(|row| row.is_some()), "untouched");
    assert!(store.get_cached(&testing::things(0), b"r3").is_some_and(|row| row.is_some()), "put behind it");
    let expected = [("r1", None), ("r2", None), ("r3", Some("2")), ("r4", Some("2")), ("s1", Some("1"))];
    for (name, expected) in expected {
        assert_eq!(value(&store, name).await, expected.map(key), "{name}");
    }
}

#[tokio::test]
async fn conditions_are_read_before_a_commit_queues() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    fill(&store, 100).await;
    store.close().await.unwrap();
    let store = open(folder.path()).unwrap();
    // Rows that are there and rows that are not, of a kind that nobody asked for in this run.
    let incarnation = incarnation_of_cursor(store.feed_end());
    let commit = |n: u32| {
        let conditions = vec![
            Condition::Version(row_key(n), incarnation.stamp(u64::from(n) + 1)),
            Condition::Absent(row_key(n + 1_000)),
        ];
        testing::commit(n.into(), conditions, vec![Write::PutStamped(row_key(n), row_key(n))])
    };
    store.commit(commit(0)).await.unwrap();
    for told in store.commit_all((1..100).map(commit).collect::<Vec<Commit>>()).await {
        told.unwrap();
    }
    assert_eq!(store.statistics().cold_conditions, 0);
}

#[tokio::test]
async fn a_scan_over_many_removed_rows_leaves_its_thread() {
    let folder = tempfile::tempdir().unwrap();
    let store = Embedded::open(folder.path(), options(Clock::System)).unwrap();
    for (rows, leaves) in [(100, false), (5_000, true)] {
        for remove in [false, true] {
            let write =
                |n| if remove { Write::Delete(row_key(n)) } else { Write::Put(row_key(n), Bytes::new()) };
            let writes = (0..rows).map(write).collect();
            store.commit(testing::commit(1, vec![], writes)).await.unwrap();
        }
        let (things, range) = (testing::things(0), Range::default());
        let (start, end) = bounds(&things, &range).unwrap();
        let shared = store.shared();
        let in_memory = shared.scan_once(&things, (&start, &end), Direction::Forward, 10, TIER_MEMORY);
        assert_eq!(in_memory.unwrap().is_none(), leaves, "{rows} removed rows");
        let page = shared.scan(&things, &range, Direction::Forward, 10).await.unwrap();
        assert!(page.is_empty());
    }
}

/// The rows of a large commit are sorted on the way; those in no order are one batch all the same.
#[tokio::test]
async fn a_large_commit_is_written_in_any_order() {
    const ROWS: u32 = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let scattered = |n: u32| row_key(n.wrapping_mul(7_919) % ROWS);
    let put = |n: u32| Write::Put(scattered(n), Bytes::from(n.to_string()));
    let large: Vec<Write> = (0..ROWS).map(put).collect();
    let twice = large.iter().cloned().chain([put(7)]).collect();
    let refused = store.commit(testing::commit(1, vec![], twice)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Misuse);
    let before = store.statistics().batches;
    store.commit(testing::commit(1, vec![], large)).await.unwrap();
    assert_eq!(store.statistics().batches, before + 1);
    for n in (0..ROWS).step_by(997) {
        let row = store.get(&testing::things(0), &scattered(n)).await.unwrap().expect("a row");
        assert_eq!(row.value, n.to_string());
    }
    let page = store.scan(&testing::things(0), &Range::default(), Direction::Forward, 20_000).await.unwrap();
    assert_eq!(page.len(), ROWS as usize);
}
