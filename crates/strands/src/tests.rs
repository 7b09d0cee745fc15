//! Strands against a plain sorted map: random operations on both engines, with folds, and openings anew in between.

mod large;
mod leftovers;
mod models;
mod moments;
mod nodes;
mod races;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use store::{
    ChangeRecord, Clock, Direction, Durability, EmbeddedOptions, Model, Partition, Range, Space, SpaceKind,
    Store, Tenant, Timestamp,
};

use super::state::Recompressed;
use super::{Edit, Strand, StrandOptions, StrandWrite, Strands, keys};
use crate::{ABSENT, Encoding, Error, Points, TimeRange, UNOBSERVED};

const SPACE: Space = Space { id: 240, kind: SpaceKind::Commit, name: "strands" };

/// Blocks so small that pages and pieces of folds matter.
pub(crate) fn small() -> StrandOptions {
    StrandOptions { block_points_max: 8, overlays_max: 6, overlay_points_max: 200 }
}

/// Strands on which points of more than a few bytes go ahead of their commit.
pub(crate) fn spilling(store: Store) -> Strands {
    let mut strands = Strands::new(store, small());
    std::sync::Arc::get_mut(&mut strands.shared).unwrap().rules.inline_bytes_max = 150;
    strands
}

/// Either, in turns.
pub(crate) fn small_or_spilling(store: Store, spills: bool) -> Strands {
    if spills { spilling(store) } else { Strands::new(store, small()) }
}

pub(crate) fn memory() -> Store {
    store::testing::memory(Clock::manual(Timestamp(0)))
}

pub(crate) fn embedded(folder: &std::path::Path) -> Store {
    // A cache that holds little, so that rows come from the engine too.
    let options = EmbeddedOptions {
        durability: Durability::Interval(std::time::Duration::from_secs(3_600)),
        cache_bytes: 256 * 1024,
        block_cache_bytes: 1024 * 1024,
        memtable_bytes: 1024 * 1024,
        background_jobs: 1,
        ..EmbeddedOptions::recommended()
    };
    Store::open(folder, options).unwrap()
}

pub(crate) fn strand(bucket: u32, name: &'static str) -> Strand {
    let partition = Partition { tenant: Tenant::default(), space: SPACE, bucket };
    Strand { partition, name: Bytes::from_static(name.as_bytes()) }
}

pub(crate) fn write(strand: &Strand, edits: Vec<Edit>) -> StrandWrite {
    StrandWrite {
        strand: strand.clone(),
        edits,
        encoding: Encoding::Hot,
        written: Timestamp(1),
        audited: false,
        mark: None,
        beside: Vec::new(),
        change: Some(ChangeRecord::new(
            Model { id: 240, name: "strands" },
            1,
            1,
            Bytes::from_static(b"outcome"),
        )),
        expects: None,
    }
}

/// `count` points from `first`, `step` apart; values count on from `value`.
pub(crate) fn points(first: i64, step: i64, count: usize, value: f64) -> Points {
    let mut points = Points::default();
    for (at, number) in (0_i64..).zip(0_u32..).take(count) {
        let flag = if (at + first) % 7 == 0 { ABSENT | 8 } else { 3 };
        points.push(first + at * step, value + f64::from(number), flag);
    }
    points
}

/// What a map holds of one point; without a value, its bits are zero.
pub(crate) type Held = (u64, u8, i64, Bytes);

pub(crate) fn rows(points: &Points) -> BTreeMap<i64, Held> {
    let row = |at: usize| {
        let absent = points.flags[at] & ABSENT != 0;
        let bits = if absent { 0 } else { points.values[at].to_bits() };
        let observed = points.observed.get(at).copied().unwrap_or(UNOBSERVED);
        (points.times[at], (bits, points.flags[at], observed, Bytes::copy_from_slice(points.notes.get(at))))
    };
    assert!(points.times.is_sorted_by(|left, right| left < right));
    (0..points.len()).map(row).collect()
}

pub(crate) async fn read_all(strands: &Strands, strand: &Strand) -> BTreeMap<i64, Held> {
    let mut all = Points::default();
    let next = strands.read_page(strand, TimeRange::ALL, None, usize::MAX, &mut all).await.unwrap();
    assert_eq!(next, None);
    rows(&all)
}

pub(crate) async fn write_one(strands: &Strands, write: StrandWrite) -> Result<(), Error> {
    strands.write_all(vec![write]).await.pop().unwrap()
}

/// The rows in the store are exactly those that the state names, and say of each other what is so.
pub(crate) async fn check_rows(strands: &Strands, strand: &Strand) {
    let store = &strands.shared.store;
    let (mut found, mut range) = (BTreeSet::new(), Range::default());
    loop {
        let page = store.scan(&strand.partition, &range, Direction::Forward, 1_000).await.unwrap();
        let keys = page.rows().map(|(key, _)| Bytes::copy_from_slice(key));
        found.extend(keys.filter(|key| keys::is_ours(key) && !b"AW".contains(&key[0])));
        let Some(last) = page.last_key().filter(|_| page.more()) else { break };
        range.start = [last, &[0]].concat().into();
    }
    if store.may_lag() {
        strands.sweep_fresh(strand, (i64::MIN, i64::MAX)).await.unwrap();
    }
    for window in keys::windows(i64::MIN, i64::MAX) {
        for range in keys::all_fresh(strand) {
            let partition = keys::fresh_partition(strand, window);
            let mut range = Some(range);
            while let Some(rest) = range.take() {
                let page = store.scan(&partition, &rest, Direction::Forward, 1_000).await.unwrap();
                found.extend(page.rows().map(|(key, _)| Bytes::copy_from_slice(key)));
                let last = page.last_key().filter(|_| page.more());
                range = last.map(|last| Range { start: [last, &[0]].concat().into(), ..rest.clone() });
            }
        }
    }
    let Some((_, state)) = strands.state(strand).await.unwrap() else {
        assert!(found.is_empty(), "rows without a state");
        return;
    };
    let pages = strands.read_pages(strand, state.index.pages.iter()).await.unwrap().expect("pages");
    let entries = state.index.entries_meeting(&pages, i64::MIN, i64::MAX).unwrap();
    assert!(entries.is_sorted_by(|left, right| left.summary.last < right.summary.first));
    assert_eq!(entries.len(), state.index.blocks());
    let mut named: BTreeSet<Bytes> = entries.iter().map(|entry| entry.row(strand).1).collect();
    named.insert(keys::state(strand));
    named.extend(state.index.pages.iter().map(|page| page.row(strand).1));
    if let Some(overlays) = state.overlays {
        named.extend((overlays.first_ordinal..state.overlay_next).map(|it| keys::overlay(strand, it)));
    }
    let spilled = strands.spilled_rows(strand, &state).await.unwrap().expect("overlays");
    named.extend(spilled.into_iter().map(|(_, key)| key));
    assert_eq!(found, named);
    let rows = strands.block_rows(strand, entries.iter()).await.unwrap().expect("blocks");
    for (entry, row) in entries.iter().zip(rows) {
        let summary = crate::Block::parse(&row).unwrap().summary();
        assert_eq!(summary, entry.summary);
        assert!(summary.count as usize <= strands.shared.rules.block_points_max());
    }
}

#[tokio::test]
async fn newer_points_become_balanced_blocks_and_few_an_overlay() {
    let strands = Strands::new(memory(), StrandOptions::recommended());
    let day = strand(1, "");
    write_one(&strands, write(&day, vec![Edit::Put(points(0, 60, 5_000, 0.0))])).await.unwrap();
    let (_, state) = strands.state(&day).await.unwrap().unwrap();
    let counts: Vec<u32> = state.index.tail.iter().map(|entry| entry.summary.count).collect();
    assert_eq!((counts, state.overlays), (vec![2_500, 2_500], None));
    assert_eq!(state.index.tail[0].step, 60);
    write_one(&strands, write(&day, vec![Edit::Put(points(600_000, 60, 255, 0.0))])).await.unwrap();
    let (_, state) = strands.state(&day).await.unwrap().unwrap();
    assert_eq!((state.index.blocks(), state.overlay_count()), (2, 1));
    check_rows(&strands, &day).await;
}

#[tokio::test]
async fn whole_blocks_are_replaced_and_parts_are_overlaid() {
    let strands = Strands::new(memory(), StrandOptions::recommended());
    let day = strand(1, "");
    let put = |first, count| write(&day, vec![Edit::Put(points(first, 60, count, 0.5))]);
    let shape = async || {
        let (_, state) = strands.state(&day).await.unwrap().unwrap();
        check_rows(&strands, &day).await;
        (state.index.blocks(), state.overlay_count())
    };
    write_one(&strands, put(0, 1_000)).await.unwrap();
    write_one(&strands, put(60_000, 1_000)).await.unwrap();
    assert_eq!(shape().await, (2, 0));
    // The same raster: every point is replaced, known without reading.
    write_one(&strands, put(0, 1_000)).await.unwrap();
    write_one(&strands, put(0, 2_000)).await.unwrap();
    assert_eq!(shape().await, (1, 0));
    // Another phase, or a part: the block stays below.
    write_one(&strands, put(-30, 2_000)).await.unwrap();
    assert_eq!(shape().await, (1, 1));
    strands.fold(&day, Encoding::Hot).await.unwrap();
    assert_eq!(shape().await, (1, 0));
    let delete = |from, to| write(&day, vec![Edit::Delete(TimeRange { from, to })]);
    write_one(&strands, delete(i64::MIN, 100)).await.unwrap();
    assert_eq!(shape().await, (1, 1));
    assert_eq!(strands.extent(&day).await.unwrap(), Some((120, 1_999 * 60)));
    // What is cleared ends with what was held: newer points are beside it.
    write_one(&strands, delete(90_000, i64::MAX)).await.unwrap();
    write_one(&strands, put(120_000, 1_000)).await.unwrap();
    assert_eq!(shape().await, (2, 2));
    write_one(&strands, delete(i64::MIN, i64::MAX)).await.unwrap();
    assert_eq!(shape().await, (0, 0));
    assert_eq!(strands.extent(&day).await.unwrap(), None);
}

#[tokio::test]
async fn points_that_break_their_invariant_are_refused() {
    let strands = Strands::new(memory(), small());
    let day = strand(1, "");
    let check = async |edit: Edit, text: &str| {
        let error = write_one(&strands, write(&day, vec![edit])).await.unwrap_err();
        assert!(matches!(&error, Error::Invalid(it) if it.contains(text)), "{error}");
    };
    let mut falling = points(0, 1, 3, 0.0);
    falling.times[2] = 1;
    check(Edit::Put(falling), "do not ascend").await;
    let mut ragged = points(0, 1, 3, 0.0);
    ragged.values.pop();
    check(Edit::Put(ragged), "different lengths").await;
    check(Edit::Put(points(i64::MAX, 1, 1, 0.0)), "end of time").await;
    check(Edit::Replace(TimeRange { from: 0, to: 2 }, points(0, 1, 3, 0.0)), "outside").await;
    let beside = vec![store::Write::Delete(Bytes::from_static(b"b1"))];
    let foreign = StrandWrite { beside, ..write(&day, Vec::new()) };
    assert!(matches!(write_one(&strands, foreign).await, Err(Error::Invalid(_))));
    assert_eq!(strands.list(&day.partition, b"", None, 9).await.unwrap(), Vec::<Bytes>::new());
}

#[tokio::test]
async fn a_write_may_be_of_any_size() {
    let strands = Strands::new(memory(), StrandOptions::recommended());
    let day = strand(1, "");
    let wide = || {
        let mut points = points(0, 1, 2_500_000, 0.0);
        points.values.iter_mut().zip(1_u64..).for_each(|(value, at)| {
            *value = f64::from_bits(at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 2);
        });
        points.flags.fill(3);
        points
    };
    let huge = StrandWrite { encoding: Encoding::Raw, ..write(&day, vec![Edit::Put(wide())]) };
    write_one(&strands, huge.clone()).await.unwrap();
    assert!(read_all(&strands, &day).await == rows(&wide()));
    assert!(strands.state(&day).await.unwrap().unwrap().1.untidy.is_some());
    assert_eq!(strands.tidy(&day).await.unwrap(), 0);
    assert_eq!(strands.state(&day).await.unwrap().unwrap().1.untidy, None);
    check_rows(&strands, &day).await;
    strands.erase(&day, Vec::new(), None).await.unwrap();
    check_rows(&strands, &day).await;
    // What is kept of it goes ahead, too.
    write_one(&strands, StrandWrite { audited: true, ..huge }).await.unwrap();
    assert!(strands.state(&day).await.unwrap().unwrap().1.audit.spilled);
    check_rows(&strands, &day).await;
    // And what lies over others.
    let mut late = wide();
    late.times.iter_mut().for_each(|time| *time = *time * 2 - 1_200_001);
    let over = StrandWrite { encoding: Encoding::Raw, ..write(&day, vec![Edit::Put(late)]) };
    write_one(&strands, over).await.unwrap();
    assert_eq!(strands.extent(&day).await.unwrap(), Some((-1_200_001, 3_799_997)));
    check_rows(&strands, &day).await;
}

async fn check_erased_together(store: Store, batches_max: u64) {
    let strands = Strands::new(store.clone(), small());
    let names: Vec<Strand> = (0..700_u32)
        .map(|at| Strand { name: Bytes::copy_from_slice(&at.to_be_bytes()), ..strand(1, "") })
        .collect();
    let kept = Strand { name: Bytes::from_static(b"kept"), ..strand(1, "") };
    let held = |strand: &Strand| write(strand, vec![Edit::Put(points(0, 1, 20, 0.0))]);
    // One is not there.
    let all = names.iter().skip(1).chain([&kept]).map(held);
    assert!(strands.write_all(all.collect()).await.iter().all(Result::is_ok));
    let before = store.statistics().batches;
    strands.erase_all(&names).await.unwrap();
    assert!(store.statistics().batches - before <= batches_max);
    assert_eq!(strands.list(&kept.partition, b"", None, 9).await.unwrap(), std::slice::from_ref(&kept.name));
    assert_eq!(read_all(&strands, &kept).await.len(), 20);
    for strand in &names[..3] {
        let fresh = keys::fresh_partition(strand, 0);
        for range in keys::all_fresh(strand) {
            assert!(store.scan(&fresh, &range, Direction::Forward, 1).await.unwrap().is_empty());
        }
    }
}

#[tokio::test]
async fn many_strands_go_in_few_batches() {
    let folder = tempfile::tempdir().unwrap();
    check_erased_together(embedded(folder.path()), 10).await;
    check_erased_together(store::testing::hostile(Clock::manual(Timestamp(0)), 3), u64::MAX).await;
}

#[tokio::test]
async fn marks_and_rows_beside_go_with_the_write() {
    let store = memory();
    let strands = Strands::new(store.clone(), small());
    let day = strand(1, "x");
    let key = Bytes::from_static(b"hrow");
    let beside = vec![store::Write::Put(key.clone(), Bytes::from_static(b"v"))];
    let edits = vec![Edit::Put(points(0, 1, 3, 0.0))];
    let marked = StrandWrite { mark: Some(42), beside, ..write(&day, edits) };
    assert!(strands.mark(&day).await.unwrap().is_none());
    write_one(&strands, marked).await.unwrap();
    write_one(&strands, write(&day, vec![Edit::Delete(TimeRange::ALL)])).await.unwrap();
    assert_eq!(strands.mark(&day).await.unwrap(), Some(42));
    assert!(store.get(&day.partition, &key).await.unwrap().is_some());
    strands.erase(&day, vec![store::Write::Delete(key.clone())], None).await.unwrap();
    assert!(store.get(&day.partition, &key).await.unwrap().is_none());
    assert_eq!(strands.mark(&day).await.unwrap(), None);
    // What deletes from nothing makes no strand, but carries its rows.
    let beside = vec![store::Write::Put(key.clone(), Bytes::new())];
    let delete = StrandWrite { beside, ..write(&day, vec![Edit::Delete(TimeRange::ALL)]) };
    write_one(&strands, delete).await.unwrap();
    assert!(store.get(&day.partition, &key).await.unwrap().is_some());
    check_rows(&strands, &day).await;
}

#[tokio::test]
async fn writes_to_one_strand_in_one_call_happen_in_order() {
    let strands = Strands::new(memory(), small());
    let (one, other) = (strand(1, "a"), strand(1, "b"));
    let put = |strand: &Strand, value| write(strand, vec![Edit::Put(points(0, 1, 20, value))]);
    let outcomes =
        strands.write_all(vec![put(&one, 1.0), put(&other, 5.0), put(&one, 2.0), put(&one, 3.0)]).await;
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!(read_all(&strands, &one).await, rows(&points(0, 1, 20, 3.0)));
    assert_eq!(read_all(&strands, &other).await, rows(&points(0, 1, 20, 5.0)));
    let names = [Bytes::from_static(b"a"), Bytes::from_static(b"b")];
    assert_eq!(strands.list(&one.partition, b"", None, 9).await.unwrap(), names);
    assert_eq!(strands.list(&one.partition, b"", Some(b"a"), 9).await.unwrap(), names[1..]);
    assert_eq!(strands.list(&one.partition, b"a", None, 9).await.unwrap(), names[..1]);
    let ranges = [(one.clone(), TimeRange { from: 3, to: 5 }), (strand(7, ""), TimeRange::ALL)];
    let many: Vec<Points> = strands.read_many(&ranges).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(many, [points(3, 1, 2, 6.0), Points::default()]);
}

#[tokio::test]
async fn a_strand_that_was_not_audited_cannot_be_read_as_of_a_time() {
    let strands = Strands::new(memory(), small());
    let day = strand(1, "");
    let mut out = Points::default();
    let at = Some(Timestamp(5));
    assert_eq!(strands.read_page(&day, TimeRange::ALL, at, 9, &mut out).await.unwrap(), None);
    write_one(&strands, write(&day, vec![Edit::Put(points(0, 1, 3, 0.0))])).await.unwrap();
    let audited = StrandWrite { audited: true, ..write(&day, vec![Edit::Put(points(0, 1, 3, 0.0))]) };
    for _ in 0..2 {
        let error = strands.read_page(&day, TimeRange::ALL, at, 9, &mut out).await.unwrap_err();
        assert!(matches!(error, Error::Invalid(text) if text.contains("audit")));
        write_one(&strands, audited.clone()).await.unwrap();
    }
    strands.erase(&day, Vec::new(), None).await.unwrap();
    write_one(&strands, audited).await.unwrap();
    assert_eq!(strands.read_page(&day, TimeRange::ALL, at, 9, &mut out).await.unwrap(), None);
    assert_eq!(out.len(), 3);
}

#[tokio::test]
async fn very_many_blocks_are_dropped_and_erased() {
    let strands = Strands::new(memory(), small());
    let (day, neighbour) = (strand(1, "a"), strand(1, "b"));
    for strand in [&day, &neighbour] {
        write_one(&strands, write(strand, vec![Edit::Put(points(0, 1, 12_000, 0.0))])).await.unwrap();
    }
    let count = async |strand: &Strand| {
        let (_, state) = strands.state(strand).await.unwrap().unwrap();
        (state.index.blocks(), state.overlay_count())
    };
    assert_eq!(count(&day).await, (1_500, 0));
    // Retention: whole blocks go unread, the one at the boundary gets an overlay.
    let old = Edit::Delete(TimeRange { from: i64::MIN, to: 9_004 });
    write_one(&strands, write(&day, vec![old])).await.unwrap();
    assert_eq!(count(&day).await, (375, 1));
    assert_eq!(strands.extent(&day).await.unwrap(), Some((9_004, 11_999)));
    assert_eq!(read_all(&strands, &day).await.len(), 2_996);
    write_one(&strands, write(&neighbour, vec![Edit::Put(points(-50, 1, 9, 0.0))])).await.unwrap();
    strands.erase(&neighbour, Vec::new(), None).await.unwrap();
    assert_eq!(read_all(&strands, &neighbour).await.len(), 0);
    // No row of the neighbour is left, none of the other is gone.
    check_rows(&strands, &day).await;
    assert_eq!(read_all(&strands, &day).await.len(), 2_996);
}

#[tokio::test]
async fn a_block_between_very_many_that_go_stays() {
    let strands = Strands::new(memory(), small());
    let day = strand(1, "");
    write_one(&strands, write(&day, vec![Edit::Put(points(0, 1, 12_000, 0.0))])).await.unwrap();
    let delete = |from, to| Edit::Delete(TimeRange { from, to });
    write_one(&strands, write(&day, vec![delete(0, 6_000), delete(6_008, 11_992)])).await.unwrap();
    check_rows(&strands, &day).await;
    let left: Vec<i64> = read_all(&strands, &day).await.into_keys().collect();
    assert_eq!(left, (6_000..6_008).chain(11_992..12_000).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_fold_takes_smaller_pieces_where_points_are_large() {
    let strands = Strands::new(memory(), StrandOptions::recommended());
    let day = strand(1, "");
    // Each write is within the limits of a commit; together they are beyond.
    for part in 0..6_i64 {
        let mut large = points(part, 6, 30, 0.0);
        for at in 0..30_u8 {
            let seed = u64::from(at) + 1_000 * part.unsigned_abs();
            let bytes = (0..12_500_u64).flat_map(|it| {
                ((it + 1 + seed * 77_777).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 8).to_le_bytes()
            });
            let place = large.notes.place_of(&bytes.collect());
            large.notes.places.push(place);
        }
        write_one(&strands, write(&day, vec![Edit::Put(large)])).await.unwrap();
    }
    let before = read_all(&strands, &day).await;
    assert!(strands.fold(&day, Encoding::Hot).await.unwrap());
    let (_, state) = strands.state(&day).await.unwrap().unwrap();
    assert_eq!(state.overlay_count(), 0);
    assert!(read_all(&strands, &day).await == before);
    check_rows(&strands, &day).await;
}

/// Bytes of all blocks, in order of time.
async fn block_sizes(strands: &Strands, strand: &Strand) -> Vec<usize> {
    let (_, state) = strands.state(strand).await.unwrap().unwrap();
    let pages = strands.read_pages(strand, state.index.pages.iter()).await.unwrap().expect("pages");
    let entries = state.index.entries_meeting(&pages, i64::MIN, i64::MAX).unwrap();
    let rows = strands.block_rows(strand, entries.iter()).await.unwrap().expect("blocks");
    rows.iter().map(Bytes::len).collect()
}

#[tokio::test]
async fn points_at_both_ends_of_time_are_held() {
    let strands = Strands::new(memory(), small());
    let day = strand(1, "");
    let mut ends = Points::default();
    for time in [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 2, i64::MAX - 1] {
        ends.push(time, 1.5, 3);
    }
    let audited =
        |written, edits| StrandWrite { written: Timestamp(written), audited: true, ..write(&day, edits) };
    write_one(&strands, audited(1, vec![Edit::Put(ends.clone())])).await.unwrap();
    write_one(&strands, audited(2, vec![Edit::Put(points(-20, 1, 41, 2.0))])).await.unwrap();
    for _ in 0..2 {
        let held = read_all(&strands, &day).await;
        assert_eq!((held.len(), held[&i64::MIN].clone()), (45, rows(&ends)[&i64::MIN].clone()));
        assert_eq!(strands.extent(&day).await.unwrap(), Some((i64::MIN, i64::MAX - 1)));
        let last = strands.read_last(&day, TimeRange::ALL, 2).await.unwrap();
        assert_eq!(last.times, [i64::MAX - 2, i64::MAX - 1]);
        let mut then = Points::default();
        let next = strands.read_page(&day, TimeRange::ALL, Some(Timestamp(1)), 99, &mut then).await.unwrap();
        assert_eq!((then, next), (ends.clone(), None));
        check_rows(&strands, &day).await;
        assert!(strands.fold(&day, Encoding::Hot).await.unwrap());
        strands.recompress(&day, i64::MAX).await.unwrap();
    }
    let cut = TimeRange { from: i64::MIN, to: i64::MIN + 1 };
    write_one(&strands, audited(3, vec![Edit::Delete(cut)])).await.unwrap();
    let cut = TimeRange { from: i64::MAX - 1, to: i64::MAX };
    write_one(&strands, audited(3, vec![Edit::Delete(cut)])).await.unwrap();
    assert!(strands.fold(&day, Encoding::Hot).await.unwrap());
    assert_eq!(strands.extent(&day).await.unwrap(), Some((i64::MIN + 1, i64::MAX - 2)));
    assert!(strands.expire(&day, i64::MAX).await.unwrap());
    assert!(strands.erase_expired(&day, i64::MAX).await.unwrap());
    check_rows(&strands, &day).await;
}

#[tokio::test]
async fn writers_fold_what_is_too_much_for_a_fold() {
    let strands = Strands::new(memory(), StrandOptions { overlays_max: usize::MAX, ..small() });
    let day = strand(1, "");
    write_one(&strands, write(&day, vec![Edit::Put(points(0, 2, 2_000, 0.0))])).await.unwrap();
    for round in 0..20 {
        write_one(&strands, write(&day, vec![Edit::Put(points(1, 2, 1_000, f64::from(round)))]))
            .await
            .unwrap();
        let (_, state) = strands.state(&day).await.unwrap().unwrap();
        assert!(state.overlays.is_none_or(|overlays| overlays.points <= 64 * 200), "{:?}", state.overlays);
    }
    assert_eq!(read_all(&strands, &day).await.len(), 3_000);
}

/// Another value for the row of one of the first blocks; answers the one before.
async fn replace_block(strands: &Strands, strand: &Strand, at: usize, value: Bytes) -> Bytes {
    let (_, state) = strands.state(strand).await.unwrap().unwrap();
    let pages = strands.read_pages(strand, state.index.pages.iter()).await.unwrap().expect("pages");
    let entry = state.index.entries_meeting(&pages, i64::MIN, i64::MAX).unwrap()[at];
    let before = strands.block_rows(strand, [entry].iter()).await.unwrap().expect("block").remove(0);
    let (store, (window, key)) = (&strands.shared.store, entry.row(strand));
    let append = store::Append { partition: keys::fresh_partition(strand, window), rows: vec![(key, value)] };
    store.append(append, store.fence(&strand.partition)).await.unwrap();
    before
}

/// Doubles that no codec makes smaller: what is packed for nothing is packed once.
#[tokio::test]
async fn blocks_that_do_not_become_smaller_are_looked_at_once() {
    let strands =
        Strands::new(memory(), StrandOptions { block_points_max: 64, ..StrandOptions::recommended() });
    let day = strand(1, "");
    let mut noise = points(0, 60, 64 * 5, 0.0);
    noise.flags.fill(3);
    for (value, at) in noise.values.iter_mut().zip(1_u64..) {
        *value = f64::from_bits(at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 2);
    }
    write_one(&strands, write(&day, vec![Edit::Put(noise)])).await.unwrap();
    let before = 64 * 60 * 4;
    assert_eq!(strands.recompress(&day, before).await.unwrap(), 0);
    let whole = replace_block(&strands, &day, 1, Bytes::from_static(b"damaged")).await;
    assert_eq!(strands.recompress(&day, before).await.unwrap(), 0);
    // Of what became old since, only that is looked at.
    assert_eq!(strands.recompress(&day, i64::MAX).await.unwrap(), 0);
    let (_, state) = strands.state(&day).await.unwrap().unwrap();
    assert_eq!(state.recompressed, Some(Recompressed { generation: state.generation, before: i64::MAX }));
    replace_block(&strands, &day, 1, whole).await;
    // What a fold wrote is looked at.
    write_one(&strands, write(&day, vec![Edit::Put(points(30, 60, 2, 1.0))])).await.unwrap();
    assert!(strands.fold(&day, Encoding::Hot).await.unwrap());
    replace_block(&strands, &day, 0, Bytes::from_static(b"damaged")).await;
    assert!(matches!(strands.recompress(&day, i64::MAX).await, Err(Error::Malformed(_) | Error::Store(_))));
}

#[tokio::test]
async fn blocks_whose_sum_is_no_number_are_joined_and_recompressed() {
    let strands =
        Strands::new(memory(), StrandOptions { block_points_max: 512, ..StrandOptions::recommended() });
    let day = strand(1, "");
    let wide = |first: i64, count: usize| {
        let mut points = points(first, 60, count, 0.0);
        points.flags.fill(3);
        for (value, at) in points.values.iter_mut().zip(0_u32..) {
            let spike = if at % 50 == 0 { 9_000 } else { 0 };
            *value = f64::from(at.wrapping_mul(0x9E37_79B9) >> 29 | spike) / 10.0;
        }
        points.values[7] = f64::INFINITY;
        points.values[8] = f64::NEG_INFINITY;
        points
    };
    write_one(&strands, write(&day, vec![Edit::Put(wide(0, 110))])).await.unwrap();
    let (_, state) = strands.state(&day).await.unwrap().unwrap();
    assert!(state.index.tail[0].summary.sum.is_nan());
    // A fold joins the few points behind to it.
    write_one(&strands, write(&day, vec![Edit::Put(wide(60 * 110, 20))])).await.unwrap();
    assert!(strands.fold(&day, Encoding::Hot).await.unwrap());
    let (_, state) = strands.state(&day).await.unwrap().unwrap();
    assert_eq!((state.index.blocks(), state.overlay_count()), (1, 0));
    let all = read_all(&strands, &day).await;
    assert_eq!(strands.recompress(&day, i64::MAX).await.unwrap(), 1);
    assert_eq!(read_all(&strands, &day).await, all);
}

#[tokio::test]
async fn old_blocks_of_decimals_become_smaller_once() {
    let options = StrandOptions { block_points_max: 512, ..StrandOptions::recommended() };
    let strands = Strands::new(memory(), options);
    let day = strand(1, "");
    let count = 512 * 150;
    let mut profile = points(0, 60, count, 0.0);
    profile.flags.fill(3);
    for (value, at) in profile.values.iter_mut().zip(0_u32..) {
        let spike = if at % 50 == 0 { 9_000 } else { 0 };
        *value = f64::from(at.wrapping_mul(0x9E37_79B9) >> 29 | spike) / 10.0;
    }
    write_one(&strands, write(&day, vec![Edit::Put(profile)])).await.unwrap();
    // An overlay lies over a block that is replaced.
    write_one(&strands, write(&day, vec![Edit::Put(points(30, 60, 3, 7.0))])).await.unwrap();
    let (all, sizes) = (read_all(&strands, &day).await, block_sizes(&strands, &day).await);
    // The block in which the time lies stays, and those behind.
    let before = 512 * 60 * 148 + 60;
    assert_eq!(strands.recompress(&day, before).await.unwrap(), 148);
    let recompressed = block_sizes(&strands, &day).await;
    assert!(recompressed.iter().zip(&sizes).take(148).all(|(new, old)| new * 100 < old * 97));
    assert_eq!(recompressed[148..], sizes[148..]);
    assert!(read_all(&strands, &day).await == all);
    check_rows(&strands, &day).await;
    // What was looked at is noted: neither this process nor a new one looks again.
    let (_, state) = strands.state(&day).await.unwrap().unwrap();
    assert_eq!(state.recompressed, Some(Recompressed { generation: state.generation, before }));
    let again = Strands::new(strands.shared.store.clone(), options);
    let damaged = replace_block(&strands, &day, 3, Bytes::from_static(b"damaged")).await;
    for strands in [&strands, &again] {
        assert_eq!(strands.recompress(&day, before).await.unwrap(), 0);
    }
    replace_block(&strands, &day, 3, damaged).await;
    // What is folded is hot again, and found.
    assert!(strands.fold(&day, Encoding::Hot).await.unwrap());
    assert!(strands.recompress(&day, before).await.unwrap() > 0);
    let raw =
        StrandWrite { encoding: Encoding::Raw, ..write(&day, vec![Edit::Put(points(-90, 60, 1, 0.0))]) };
    write_one(&strands, raw).await.unwrap();
    assert_eq!(again.recompress(&day, i64::MAX).await.unwrap(), 0);
    assert_eq!(again.recompress(&strand(1, "none"), i64::MAX).await.unwrap(), 0);
}

#[tokio::test]
async fn kept_writes_are_listed() {
    let strands = Strands::new(memory(), small());
    let day = strand(1, "");
    let audited =
        |written, edit| StrandWrite { written: Timestamp(written), audited: true, ..write(&day, vec![edit]) };
    let delete = Edit::Delete(TimeRange { from: 5, to: 30 });
    write_one(&strands, audited(10, Edit::Put(points(0, 10, 9, 0.0)))).await.unwrap();
    write_one(&strands, audited(20, delete)).await.unwrap();
    // The clock went back: the write counts as one just after the one before.
    write_one(&strands, audited(15, Edit::Put(points(50, 1, 2, 0.0)))).await.unwrap();
    let listed = async |from: i64, to: i64, written: (i64, i64)| {
        let written = (Timestamp(written.0), Timestamp(written.1));
        let all = strands.modifications(&day, TimeRange { from, to }, written).await.unwrap();
        all.iter().map(|it| (it.written.0, it.first, it.last, it.points)).collect::<Vec<_>>()
    };
    let all = [(10, 0, 80, 9), (20, 5, 29, 0), (21, 50, 51, 2)];
    assert_eq!(listed(i64::MIN, i64::MAX, (i64::MIN, i64::MAX)).await, all);
    assert_eq!(listed(29, 50, (0, 30)).await, all[..2]);
    assert_eq!(listed(29, 50, (11, 20)).await, all[1..2]);
    assert_eq!(listed(0, 99, (21, 21)).await, all[2..]);
    assert_eq!(listed(0, 99, (21, 20)).await, []);
}
