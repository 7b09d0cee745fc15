//! Fresh rows that no state names: where writers die, and where they are only slow.

use super::*;
use crate::commit::{ReadyCommit, commit};
use crate::state::State;
use crate::write::check_write;

const YEAR: i64 = 400 * 24 * 3_600_000_000_000;

async fn ready(strands: &Strands, edits: Vec<Edit>) -> ReadyCommit {
    let checked = check_write(write(&strand(3, "x"), edits)).unwrap();
    strands.prepare(&checked).await.unwrap().expect("nothing is gone")
}

/// Appends what goes ahead of a write, and does not commit.
async fn die(strands: &Strands, edits: Vec<Edit>) {
    let ReadyCommit { commit, .. } = ready(strands, edits).await;
    assert!(!commit.appends.is_empty());
    for append in commit.appends {
        strands.shared.store.append(append, commit.epoch).await.unwrap();
    }
}

/// Says that writes may leave rows behind, as one does that is too much for a batch.
async fn mark_untidy(strands: &Strands, span: (i64, i64)) {
    let day = strand(3, "x");
    let (stamp, state) = strands.state(&day).await.unwrap().unwrap();
    let (marked, write_id) = (State { untidy: Some(span), ..state }, strands.shared.write_ids.next());
    let mark = commit(&day, Some(stamp), &marked, std::iter::empty(), write_id, None);
    assert!(strands.try_commit(mark).await.unwrap());
}

/// Rows of the strand in all windows.
async fn fresh_rows(strands: &Strands, strand: &Strand) -> usize {
    let mut rows = 0;
    for window in keys::windows(i64::MIN, i64::MAX) {
        for range in keys::all_fresh(strand) {
            let partition = keys::fresh_partition(strand, window);
            let page =
                strands.shared.store.scan(&partition, &range, Direction::Forward, 1_000).await.unwrap();
            rows += page.len();
        }
    }
    rows
}

async fn check(store: Store) {
    let strands = Strands::new(store.clone(), small());
    let day = strand(3, "x");
    // Over several windows, before and behind zero.
    let years = |value| points(-2 * YEAR, YEAR / 20, 100, value);
    write_one(&strands, write(&day, vec![Edit::Put(years(0.0))])).await.unwrap();
    mark_untidy(&strands, (i64::MIN, i64::MAX - 1)).await;
    let before = read_all(&strands, &day).await;
    assert_eq!(before.len(), 100);
    let rows = fresh_rows(&strands, &day).await;
    die(&strands, vec![Edit::Put(points(10 * YEAR, YEAR / 20, 100, 1.0))]).await;
    die(&strands, vec![Edit::Replace(TimeRange::ALL, years(2.0))]).await;
    assert!(fresh_rows(&strands, &day).await > 2 * rows);
    assert!(read_all(&strands, &day).await == before);
    // One who is slow comes to nothing once what he appended is swept, and the rows of who comes after stay.
    let slow = ready(&strands, vec![Edit::Replace(TimeRange::ALL, years(3.0))]).await.commit;
    assert!(strands.sweep_fresh(&day, (i64::MIN, i64::MAX)).await.unwrap() > rows);
    assert_eq!(fresh_rows(&strands, &day).await, rows);
    let refused = store.append_then_commit(slow.clone()).await.unwrap_err();
    assert_eq!(refused.kind(), store::ErrorKind::Fenced);
    strands.clear_away(strands.leftovers(&slow, true)).await;
    let quick = ready(&strands, vec![Edit::Replace(TimeRange::ALL, years(4.0))]).await.commit;
    for append in quick.appends.clone() {
        store.append(append, quick.epoch).await.unwrap();
    }
    store.append_then_commit(quick).await.unwrap();
    assert!(read_all(&strands, &day).await == super::rows(&years(4.0)));
    check_rows(&strands, &day).await;
    // Of a strand that is gone nothing stays, once it is swept.
    die(&strands, vec![Edit::Put(points(20 * YEAR, 1, 100, 1.0))]).await;
    strands.erase(&day, Vec::new(), None).await.unwrap();
    strands.sweep_fresh(&day, (i64::MIN, i64::MAX)).await.unwrap();
    check_rows(&strands, &day).await;
}

#[tokio::test]
async fn what_writers_leave_behind_is_swept_in_memory() {
    check(Store::memory(store::MemoryOptions {
        clock: Clock::manual(Timestamp(0)),
        feed: store::FeedOptions::recommended(),
    }))
    .await;
}

#[tokio::test]
async fn what_writers_leave_behind_is_swept_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    check(embedded(folder.path())).await;
}

/// Says what a writer would, and appends what goes ahead of its write.
async fn say_and_die(strands: &Strands, edits: Vec<Edit>) {
    while let Some(said) = ready(strands, edits.clone()).await.untidy {
        strands.try_commit(said).await.unwrap();
    }
    die(strands, edits).await;
}

/// On a cluster: in windows that the strand does not span, and in those that it spans no more.
#[tokio::test]
async fn what_is_left_beyond_a_strand_is_swept_by_the_job() {
    for seed in store::testing::seeds(8) {
        let store = store::testing::hostile(Clock::manual(Timestamp(0)), seed);
        let [strands, other] = [store.beside(), store].map(|store| Strands::new(store, small()));
        let day = strand(3, "x");
        let check = async || {
            assert_eq!(other.recompress(&day, i64::MIN).await.unwrap(), 0);
            let named = spanned_rows(&other, &day).await;
            assert_eq!(fresh_rows(&other, &day).await, named, "seed {seed}");
        };
        // Of a strand that is not there yet.
        say_and_die(&strands, vec![Edit::Put(points(-9 * YEAR, 1, 40, 0.0))]).await;
        check().await;
        write_one(&strands, write(&day, vec![Edit::Put(points(0, 1, 40, 0.0))])).await.unwrap();
        check().await;
        assert_eq!(other.state(&day).await.unwrap().unwrap().1.untidy, None);
        say_and_die(&strands, vec![Edit::Put(points(10 * YEAR, YEAR / 20, 40, 1.0))]).await;
        check().await;
        // Where it spans a window nothing is said before; it is once the points go.
        let here = ready(&strands, vec![Edit::Replace(TimeRange::ALL, points(5, 1, 40, 1.0))]).await;
        assert!(here.untidy.is_none());
        die(&strands, vec![Edit::Put(points(100, 1, 40, 1.0))]).await;
        write_one(&strands, write(&day, vec![Edit::Put(points(20 * YEAR, 1, 40, 2.0))])).await.unwrap();
        let old = TimeRange { from: i64::MIN, to: 19 * YEAR };
        write_one(&strands, write(&day, vec![Edit::Delete(old)])).await.unwrap();
        check().await;
        assert_eq!(read_all(&other, &day).await.len(), 40);
    }
}

/// How many fresh rows the state names.
async fn spanned_rows(strands: &Strands, strand: &Strand) -> usize {
    let state = strands.state(strand).await.unwrap().map(|(_, state)| state);
    state.map_or(0, |state| state.index.blocks() + state.index.pages.len())
}

/// A write beyond one batch of which the first part was written.
#[tokio::test]
async fn a_large_write_that_came_to_nothing_is_swept_by_the_job() {
    let strands = Strands::new(memory(), small());
    let day = strand(3, "x");
    write_one(&strands, write(&day, vec![Edit::Put(points(0, 1, 100, 0.0))])).await.unwrap();
    mark_untidy(&strands, (1_000, 1_099)).await;
    die(&strands, vec![Edit::Put(points(1_000, 1, 100, 1.0))]).await;
    assert_eq!(strands.recompress(&day, i64::MIN).await.unwrap(), 0);
    assert_eq!(strands.state(&day).await.unwrap().unwrap().1.untidy, None);
    check_rows(&strands, &day).await;
}
