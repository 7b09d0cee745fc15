//! Long reads of the past: what they cost, and what they tell while kept writes go.

use std::collections::BTreeMap;

use proptest::prelude::*;
use store::Store;

use super::super::tests::{
    Held, embedded, memory, points, rows, small, small_or_spilling, strand, write, write_one,
};
use super::super::{Edit, StrandVersion, StrandWrite};
use super::*;

/// Parts that begin at one time end a page together; each has one block's points.
const PAGE_POINTS: u64 = 120 * 8;

/// A write of what is drawn, and what it leaves.
#[derive(Clone, Debug)]
struct Kept {
    kind: u8,
    first: i64,
    step: i64,
    count: usize,
}

impl Kept {
    fn edit(&self, value: u32) -> Edit {
        let put = points(self.first, self.step, self.count, f64::from(value));
        let range = TimeRange { from: self.first, to: put.times[self.count - 1] + 1 };
        match self.kind {
            0 => Edit::Put(put),
            1 => Edit::Replace(range, put),
            2 => Edit::Delete(range),
            _ => Edit::Delete(TimeRange { from: i64::MIN, to: self.first }),
        }
    }

    fn apply(edit: &Edit, model: &mut BTreeMap<i64, Held>) {
        let (range, points) = match edit {
            Edit::Put(points) => (None, Some(points)),
            Edit::Delete(range) => (Some(range), None),
            Edit::Replace(range, points) => (Some(range), Some(points)),
        };
        model.retain(|time, _| !range.is_some_and(|range| range.contains(*time)));
        model.extend(points.map(rows).unwrap_or_default());
    }
}

/// Single points, dense runs, and sparse points that reach over all.
fn kept() -> impl Strategy<Value = Kept> {
    let shape = prop_oneof![
        4 => (0..9_000_i64, Just(1_i64), 1..3_usize),
        4 => (0..8_000_i64, Just(1_i64), 3..300_usize),
        2 => (0..300_i64, Just(300_i64), 8..30_usize),
    ];
    let kind = prop_oneof![8 => Just(0_u8), 2 => Just(1), 2 => Just(2), 1 => Just(3)];
    (kind, shape).prop_map(|(kind, (first, step, count))| Kept { kind, first, step, count })
}

/// What pages took in all.
#[derive(Debug, Default)]
struct Taken {
    pages: usize,
    parts: usize,
    /// Parts, and points in them.
    weight: u64,
    points: usize,
}

/// The range as of a time, page by page.
async fn read(
    strands: &Strands,
    strand: &Strand,
    range: TimeRange,
    at: Timestamp,
    points_max: usize,
) -> (BTreeMap<i64, Held>, Taken) {
    let (mut all, mut taken, mut from) = (Points::default(), Taken::default(), Some(range.from));
    let (_, state) = strands.state(strand).await.unwrap().unwrap();
    while let Some(start) = from {
        let rest = TimeRange { from: start, to: range.to };
        let mut gathered = Gathered { at, sequence: state.sequence, needed: Vec::new(), weight: 0 };
        strands.gather_open(strand, &state, start, &mut gathered).await.unwrap();
        let open = gathered.weight;
        let next = strands.gather_next(strand, &state, rest, points_max, &mut gathered).await.unwrap();
        taken.pages += 1;
        taken.parts += gathered.needed.len();
        taken.weight += gathered.weight;
        let (page, page_next) =
            strands.try_as_of(strand, &state, rest, at, points_max).await.unwrap().unwrap();
        assert_eq!(page_next, next);
        assert!(next.is_none_or(|next| start < next && next < range.to));
        // What a page holds is bounded by what is open and what was asked for (and the last part).
        let most = open.saturating_add(open.max(points_max as u64)).saturating_add(PAGE_POINTS);
        assert!(page.len() as u64 <= most, "{} of {most}", page.len());
        taken.points += page.len();
        all.extend_from_range(&page, 0..page.len());
        from = next;
    }
    (rows(&all), taken)
}

async fn check_reads(store: Store, kept: &[Kept], points_max: usize) {
    let strands = small_or_spilling(store, kept.len().is_multiple_of(2));
    let day = strand(6, "kept");
    let (mut model, mut past) = (BTreeMap::new(), Vec::new());
    for ((kept, written), value) in kept.iter().zip(1_i64..).zip(1_u32..) {
        let edit = kept.edit(value);
        Kept::apply(&edit, &mut model);
        let audited = StrandWrite { written: Timestamp(written), audited: true, ..write(&day, vec![edit]) };
        write_one(&strands, audited).await.unwrap();
        past.push(model.clone());
    }
    let count = i64::try_from(kept.len()).unwrap();
    for at in [count / 3, count / 2, count - 1, count] {
        let Some(model) = usize::try_from(at - 1).ok().and_then(|at| past.get(at)) else { continue };
        let range = TimeRange { from: 100, to: 8_900 };
        let (held, taken) = read(&strands, &day, range, Timestamp(at), points_max).await;
        let expected: BTreeMap<_, _> =
            model.range(range.from..range.to).map(|(time, held)| (*time, held.clone())).collect();
        assert_eq!(held, expected);
        for time in [0, 150, 4_000, 6_500, 8_900, i64::MAX] {
            let last = strands.read_last_as_of(&day, time, Timestamp(at)).await.unwrap();
            assert!(last.len() <= 1);
            let expected = model.range(..time).next_back().map(|(time, held)| (*time, held.clone()));
            assert_eq!(rows(&last).pop_first(), expected, "before {time} as of {at}");
        }
        // All that touches the range, in one page.
        let (_, once) = read(&strands, &day, range, Timestamp(at), usize::MAX).await;
        assert_eq!(once.pages, 1);
        // Every page but the last takes at least as much anew as it takes again.
        assert!(taken.weight <= 3 * once.weight, "{taken:?} {once:?}");
    }
}

fn run(future: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((12 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn many_pages_over_many_overlapping_writes_tell_what_was_held(
        kept in prop::collection::vec(kept(), 1..120),
        points_max in 1..200_usize,
    ) {
        run(check_reads(memory(), &kept, points_max));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((2 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn many_pages_on_disk_tell_what_was_held(
        kept in prop::collection::vec(kept(), 1..120),
        points_max in 1..200_usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        run(check_reads(embedded(folder.path()), &kept, points_max));
    }
}

/// Ever more pages do not make ever more work.
#[tokio::test]
async fn a_long_read_takes_each_kept_part_about_once() {
    let strands = Strands::new(memory(), small());
    let day = strand(6, "long");
    let put =
        |written, edit| StrandWrite { written: Timestamp(written), audited: true, ..write(&day, vec![edit]) };
    // Days one after the other, each twice; single points; and sparse points over all.
    for at in 0..200_i64 {
        for _ in 0..2 {
            write_one(&strands, put(at, Edit::Put(points(at * 100, 1, 96, 1.0)))).await.unwrap();
        }
        write_one(&strands, put(at, Edit::Put(points(at * 100 + 50, 1, 1, 2.0)))).await.unwrap();
    }
    for at in 0..10 {
        write_one(&strands, put(200, Edit::Put(points(at, 1_000, 20, 3.0)))).await.unwrap();
    }
    let parts = 200 * (2 * 12 + 1) + 10 * 3;
    let (_, once) = read(&strands, &day, TimeRange::ALL, Timestamp(1_000), usize::MAX).await;
    assert_eq!((once.pages, once.parts), (1, parts));
    let (_, taken) = read(&strands, &day, TimeRange::ALL, Timestamp(1_000), 100).await;
    assert!(taken.pages > 100, "{taken:?}");
    assert!(taken.parts <= 2 * parts, "{taken:?}");
    assert_eq!(taken.points, once.points);
    // A short read of so much takes little.
    let hour = TimeRange { from: 10_000, to: 10_004 };
    let (_, taken) = read(&strands, &day, hour, Timestamp(1_000), 100).await;
    assert!(taken.parts < 40, "{taken:?}");
}

/// As a right-aligned series is replaced: its last point lies at the end of the range.
#[tokio::test]
async fn a_replacement_whose_points_end_with_its_range_expires() {
    let strands = Strands::new(memory(), small());
    let day = strand(7, "replaced");
    for at in 0..3_i64 {
        // One block.
        let range = TimeRange { from: at * 4, to: at * 4 + 4 };
        let edit = Edit::Replace(range, points(range.from, 1, 4, 1.0));
        let audited = StrandWrite { written: Timestamp(at), audited: true, ..write(&day, vec![edit]) };
        write_one(&strands, audited).await.unwrap();
    }
    assert!(strands.expire(&day, 4).await.unwrap());
    let (of_two, _) = kept_rows(&strands, &day).await;
    assert!(strands.expire(&day, 8).await.unwrap());
    let (of_one, _) = kept_rows(&strands, &day).await;
    assert!(of_one > 0 && of_two == 2 * of_one, "{of_two} rows of two writes, {of_one} of one");
    assert!(strands.expire(&day, 12).await.unwrap());
    assert_eq!(kept_rows(&strands, &day).await, (0, 0));
}

/// Rows of kept writes, and their bytes.
async fn kept_rows(strands: &Strands, strand: &Strand) -> (usize, usize) {
    let (mut count, mut bytes) = (0, 0);
    for mut range in keys::all_audit_rows(strand) {
        loop {
            let page = strands
                .shared
                .store
                .scan(&strand.partition, &range, Direction::Forward, 1_000)
                .await
                .unwrap();
            count += page.len();
            bytes += page.rows().map(|(key, value)| key.len() + value.len()).sum::<usize>();
            let Some(last) = page.last_key().filter(|_| page.more()) else { break };
            range.start = [last, &[0]].concat().into();
        }
    }
    (count, bytes)
}

async fn as_of(strands: &Strands, strand: &Strand, at: i64) -> Vec<i64> {
    let (mut all, mut from) = (Points::default(), Some(i64::MIN));
    while let Some(start) = from {
        let rest = TimeRange { from: start, to: i64::MAX };
        from = strands.read_page(strand, rest, Some(Timestamp(at)), 50, &mut all).await.unwrap();
    }
    all.times
}

#[tokio::test]
async fn kept_writes_go_with_the_points_of_their_time() {
    let strands = Strands::new(memory(), small());
    let day = strand(6, "expired");
    let put =
        |written, edit| StrandWrite { written: Timestamp(written), audited: true, ..write(&day, vec![edit]) };
    for at in 0..3_000 {
        write_one(&strands, put(at, Edit::Put(points(at * 10, 1, 2, 1.0)))).await.unwrap();
    }
    // Reaches over the bound: 96 points, 26 of them before it.
    write_one(&strands, put(3_000, Edit::Put(points(24_974, 1, 96, 2.0)))).await.unwrap();
    write_one(&strands, put(3_001, Edit::Delete(TimeRange { from: i64::MIN, to: i64::MAX }))).await.unwrap();
    write_one(&strands, put(3_002, Edit::Put(points(20, 1_000, 28, 3.0)))).await.unwrap();
    let before = kept_rows(&strands, &day).await;
    assert_eq!(as_of(&strands, &day, 2_999).await.len(), 6_000);
    let bound = 25_000;
    assert!(strands.expire(&day, bound).await.unwrap());
    assert!(!strands.expire(&day, bound).await.unwrap(), "once");
    let after = kept_rows(&strands, &day).await;
    assert!(after.0 < before.0 / 4 && after.1 < before.1 / 4, "{before:?} {after:?}");
    // Behind the bound as ever, before it nothing.
    let all = as_of(&strands, &day, 2_999).await;
    assert_eq!((all.len(), all[0]), (1_000, bound));
    assert_eq!(as_of(&strands, &day, 3_000).await.len(), 500 * 2 + 70 - 14);
    assert_eq!(as_of(&strands, &day, 3_001).await, Vec::<i64>::new());
    assert_eq!(as_of(&strands, &day, 9_999).await, [25_020, 26_020, 27_020]);
    let told =
        strands.modifications(&day, TimeRange::ALL, (Timestamp(2_498), Timestamp(9_999))).await.unwrap();
    assert_eq!(told.len(), 500 + 3);
    assert_eq!((told[0].first, told[500].first, told[501].first), (25_000, 24_974, i64::MIN));
    // What is written before the bound is told as of no time, and goes with the next bound.
    write_one(&strands, put(4_000, Edit::Put(points(7, 1, 1, 3.0)))).await.unwrap();
    assert_eq!(as_of(&strands, &day, 9_999).await.len(), 3);
    assert!(strands.expire(&day, bound + 1).await.unwrap());
    assert_eq!(kept_rows(&strands, &day).await, after);
    // Only what reaches over all of time is left in the end.
    assert!(strands.expire(&day, 99_999).await.unwrap());
    assert_eq!(kept_rows(&strands, &day).await.0, 2);
    let (_, state) = strands.state(&day).await.unwrap().unwrap();
    assert_eq!((state.audit.levels, state.audit.from), (1 << 63, 99_999));
    assert!(!strands.expire(&day, 100_000).await.unwrap());
    assert!(!strands.erase_expired(&day, 100_000).await.unwrap(), "a write is kept");
}

#[tokio::test]
async fn a_strand_that_is_written_meanwhile_is_not_erased_as_expired() {
    let strands = Strands::new(memory(), small());
    let day = strand(6, "quoted");
    write_one(&strands, write(&day, vec![Edit::Put(points(0, 1, 20, 1.0))])).await.unwrap();
    assert!(!strands.erase_expired(&day, 19).await.unwrap());
    let (stamp, _) = strands.state(&day).await.unwrap().unwrap();
    write_one(&strands, write(&day, vec![Edit::Put(points(50, 1, 1, 1.0))])).await.unwrap();
    assert!(!strands.erase_version(&day, StrandVersion(Some(stamp)), Vec::new()).await.unwrap());
    assert!(!strands.erase_expired(&day, 20).await.unwrap());
    assert!(strands.erase_expired(&day, 51).await.unwrap());
    assert!(strands.state(&day).await.unwrap().is_none());
}

/// A reader sees either all of what was kept behind the bound it finds, or the older bound and all behind that.
async fn expire_under_readers(store: Store) {
    let strands = Strands::new(store, small());
    let day = strand(6, "race");
    for at in 0..400_i64 {
        let edit = Edit::Put(points(at * 10, 1, 10, 1.0));
        let audited = StrandWrite { written: Timestamp(at), audited: true, ..write(&day, vec![edit]) };
        write_one(&strands, audited).await.unwrap();
    }
    let last = StrandWrite {
        written: Timestamp(400),
        audited: true,
        ..write(&day, vec![Edit::Delete(TimeRange { from: 3_990, to: 4_000 })])
    };
    write_one(&strands, last).await.unwrap();
    let reader = tokio::spawn({
        let (strands, day) = (strands.clone(), day.clone());
        async move {
            let mut bound = 0;
            while bound < 3_900 {
                let mut page = Points::default();
                let range = TimeRange { from: 0, to: 4_000 };
                let at = Some(Timestamp(399));
                let next = strands.read_page(&day, range, at, usize::MAX, &mut page).await.unwrap();
                assert_eq!(next, None);
                assert!(page.times[0] >= bound, "what is gone does not come back");
                bound = page.times[0];
                assert!(page.times.iter().copied().eq(bound..4_000), "from {bound}: {}", page.len());
                tokio::task::yield_now().await;
            }
        }
    });
    for bound in 1..=78 {
        assert!(strands.expire(&day, bound * 50).await.unwrap());
    }
    reader.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_of_the_past_see_a_bound_or_all_behind_it_in_memory() {
    expire_under_readers(memory()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_of_the_past_see_a_bound_or_all_behind_it_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    expire_under_readers(embedded(folder.path())).await;
}

#[tokio::test]
async fn writes_under_a_clock_set_back_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let store = embedded(folder.path());
    let day = strand(6, "clock");
    let all = TimeRange { from: 0, to: 10 };
    // The clock goes, is set back by an hour, stands, and goes on from there.
    let hour = 3_600_000_000;
    let clock = [hour, hour + 5, 5, 6, 6, 7];
    let expected = [hour, hour + 5, hour + 6, hour + 7, hour + 8, hour + 9];
    let put = async |strands: &Strands, (value, time): (usize, i64)| {
        let edit = Edit::Put(points(0, 1, 1, value as f64));
        let audited = StrandWrite { written: Timestamp(time), audited: true, ..write(&day, vec![edit]) };
        write_one(strands, audited).await.unwrap();
    };
    let strands = Strands::new(store.clone(), small());
    for write in clock.into_iter().enumerate().take(4) {
        put(&strands, write).await;
    }
    drop(strands);
    store.close().await.unwrap();
    drop(store);
    // It is known over a restart how late it was.
    let strands = Strands::new(embedded(folder.path()), small());
    for write in clock.into_iter().enumerate().skip(4) {
        put(&strands, write).await;
    }
    let span = (Timestamp(i64::MIN), Timestamp(i64::MAX));
    let told = strands.modifications(&day, all, span).await.unwrap();
    assert_eq!(told.iter().map(|one| one.written.0).collect::<Vec<_>>(), expected);
    for (value, time) in expected.into_iter().enumerate() {
        let mut found = Points::default();
        strands.read_page(&day, all, Some(Timestamp(time)), 10, &mut found).await.unwrap();
        assert_eq!(rows(&found), rows(&points(0, 1, 1, value as f64)), "as of {time}");
    }
}
