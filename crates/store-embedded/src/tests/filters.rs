//! Which rows are in filters: those that are read by their key.

use super::*;

const POINTS: u32 = 300;
const SCANNED_EACH: u32 = 10;

/// Point rows `p` with scanned rows among, before and behind them.
async fn filled(folder: &Path) -> Embedded {
    let store = Embedded::open(folder, options(Clock::System)).unwrap();
    for n in 0..POINTS {
        let point = Write::PutStamped(format!("p{n:04}").into(), Bytes::from_static(b"point"));
        let scanned = (0..SCANNED_EACH).map(|m| Write::Put(format!("V{m}/{n:04}").into(), Bytes::new()));
        let tail = Write::Put(format!("\u{7f}{n:04}").into(), Bytes::new());
        let writes = scanned.chain([point, tail]).collect();
        store.commit(testing::commit(u128::from(n), vec![], writes)).await.unwrap();
    }
    store
}

/// A number that the engine tells of its files.
fn told(store: &Embedded, name: &str) -> u64 {
    let engine = store.shared().engine().unwrap();
    let all = engine.property_value("rocksdb.aggregated-table-properties").unwrap().unwrap();
    let found = all.split("; ").find_map(|one| one.strip_prefix(name)?.strip_prefix('=')?.parse().ok());
    found.unwrap_or_else(|| panic!("no {name} in {all}"))
}

#[tokio::test]
async fn what_is_found_by_scans_only_is_in_no_filter() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path()).await;
    store.shared().engine().unwrap().flush().unwrap();
    let (rows, filtered) = (told(&store, "# entries"), told(&store, "# entries for filter"));
    assert_eq!(rows, u64::from(POINTS * (SCANNED_EACH + 2)));
    assert_eq!(filtered, u64::from(POINTS * 2), "rows p and \u{7f}");
}

#[tokio::test]
async fn scans_find_all_rows_whether_they_are_in_filters_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path()).await;
    let partition = testing::things(0);
    for is_flushed in [false, true] {
        if is_flushed {
            store.shared().engine().unwrap().flush().unwrap();
            // And some newer rows in memory, on both sides.
            let writes = ["V0/0000", "p0000"].map(|key| Write::Delete(Bytes::from_static(key.as_bytes())));
            store.commit(testing::commit(9_999, vec![], writes.to_vec())).await.unwrap();
        }
        let gone = u32::from(is_flushed);
        let expected = [
            (Range::default(), POINTS * (SCANNED_EACH + 2) - 2 * gone),
            (Range::prefix("V"), POINTS * SCANNED_EACH - gone),
            (Range::prefix("V9/"), POINTS),
            (Range::prefix("p"), POINTS - gone),
            (Range { start: "V9/0299".into(), end: Some("p0002".into()) }, 3 - gone),
            (Range { start: "V9/none".into(), end: Some("o".into()) }, 0),
            (Range::prefix("none"), 0),
        ];
        for (range, count) in expected {
            for direction in [Direction::Forward, Direction::Backward] {
                let page = store.shared().scan(&partition, &range, direction, 100_000).await.unwrap();
                assert_eq!(page.len() as u32, count, "{range:?} {direction:?} {is_flushed}");
            }
        }
        for (key, is_there) in [("p0001", true), ("none", false), ("V1/0001", true), ("V1/none", false)] {
            let row = store.shared().get(&partition, key.as_bytes()).await.unwrap();
            assert_eq!(row.is_some(), is_there, "{key}");
        }
    }
}
