//! Walks and batches in any order, against a plain set of rows.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rocksdb::WriteBatch;

use super::*;

const RUN: usize = RUN_BYTE as usize;
const RUN_BYTE: u8 = 4;
const START: &[u8] = &[20];
const END: &[u8] = &[220];

type Set = BTreeSet<Vec<u8>>;

#[derive(Clone, Debug)]
enum Step {
    /// A walk looks ahead and takes its view of the engine.
    Begin(u8, usize),
    /// One that began counts and notes.
    End(usize),
    /// The engine shows a batch: rows put and removed, a range removed.
    Show(Vec<u8>, Vec<u8>, Option<(u8, u8)>),
    /// It is about to be acknowledged.
    Settle,
    /// Rows are passed over from the start.
    Skip(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let places = || proptest::collection::vec(any::<u8>(), 0..12);
    prop_oneof![
        3 => (any::<u8>(), 0..30_usize).prop_map(|(at, rows)| Step::Begin(at, rows)),
        3 => (0..4_usize).prop_map(Step::End),
        2 => (places(), places(), proptest::option::weighted(0.1, any::<(u8, u8)>()))
            .prop_map(|(put, removed, range)| Step::Show(put, removed, range)),
        2 => Just(Step::Settle),
        3 => prop_oneof![0..80_usize, Just(usize::MAX)].prop_map(Step::Skip),
    ]
}

/// A walk of one run, as `skip.rs` does it: how many rows it met, and the place behind them.
fn walk(counted: &Counted, rows: &Set, ahead: &Ahead, rows_max: usize) -> (usize, Vec<u8>) {
    let mut within = rows.range(ahead.at.to_vec()..ahead.until.to_vec());
    let walked: Vec<_> = within.by_ref().take(ahead.count_max.min(rows_max)).collect();
    let (mut count, mut next) = (walked.len(), within.next().cloned());
    let is_noted = count == ahead.count_max || next.is_none();
    if let Some(behind_first) = walked.get(RUN).filter(|_| is_noted && next.is_some()) {
        (count, next) = (RUN, Some(behind_first.to_vec()));
    }
    let next = next.unwrap_or_else(|| ahead.until.to_vec());
    if let Some(ticket) = ahead.ticket.filter(|_| is_noted) {
        counted.note((START, END), ticket, (&ahead.at, &next), count);
    }
    (count, next)
}

/// Passes over rows; the place behind them, and how many needed a walk.
fn skip(counted: &Counted, rows: &Set, rows_max: usize) -> (usize, Vec<u8>, usize) {
    let (mut passed, mut walked, mut at) = (0, 0, START.to_vec());
    loop {
        let ahead = counted.ahead((START, END), &at, rows_max - passed);
        passed += ahead.rows;
        if *ahead.at >= *END || passed == rows_max {
            return (passed, ahead.at.to_vec(), walked);
        }
        let (count, next) = walk(counted, rows, &ahead, rows_max - passed);
        (passed, walked, at) = (passed + count, walked + count, next);
    }
}

fn check_skip(counted: &Counted, rows: &Set, rows_max: usize) -> Result<(), TestCaseError> {
    let (passed, at, _) = skip(counted, rows, rows_max);
    let within = rows.range(START.to_vec()..END.to_vec()).count();
    prop_assert_eq!(passed, within.min(rows_max));
    prop_assert_eq!(rows.range(START.to_vec()..at).count(), passed);
    Ok(())
}

/// What a batch wrote, in the order of its places.
fn batch(put: &[u8], removed: &[u8], range: Option<(u8, u8)>) -> Rows {
    let mut rows = Rows::default();
    if let Some((start, end)) = range {
        rows.delete_range([start][..].into(), [end][..].into());
    }
    put.iter().for_each(|place| rows.put_with(&[*place], |out| out.extend_from_slice(b"value")));
    removed.iter().for_each(|place| rows.delete(&[*place]));
    rows.write_to(&mut WriteBatch::default());
    rows
}

fn filled(range: std::ops::Range<u8>) -> Set {
    range.map(|place| vec![place]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((400 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn what_is_remembered_is_what_was_acknowledged(steps in proptest::collection::vec(step(), 1..60)) {
        let (counted, mut rows) = (Counted::new(RUN), filled(0..150));
        let mut walks: Vec<(Ahead, Set, usize)> = Vec::new();
        let mut shown: Option<Rows> = None;
        for step in steps {
            match step {
                Step::Begin(at, rows_max) => {
                    let at = [at.clamp(START[0], END[0] - 1)];
                    let ahead = counted.ahead((START, END), &at, rows_max);
                    let left = rows_max - ahead.rows;
                    walks.push((ahead, rows.clone(), left));
                }
                Step::End(index) if index < walks.len() => {
                    let (ahead, view, left) = walks.swap_remove(index);
                    if *ahead.at < *ahead.until {
                        walk(&counted, &view, &ahead, left);
                    }
                }
                Step::Show(put, removed, range) if shown.is_none() => {
                    if let Some((start, end)) = range {
                        rows.retain(|place| place[0] < start || place[0] >= end);
                    }
                    rows.extend(put.iter().map(|place| vec![*place]));
                    rows.retain(|place| !removed.contains(&place[0]));
                    shown = Some(batch(&put, &removed, range));
                }
                Step::Settle => {
                    if let Some(batch) = shown.take() {
                        counted.touch(&batch);
                    }
                }
                // While a batch is shown and not acknowledged, either answer is right.
                Step::Skip(rows_max) if shown.is_none() => check_skip(&counted, &rows, rows_max)?,
                Step::Skip(rows_max) => drop(skip(&counted, &rows, rows_max)),
                Step::End(_) | Step::Show(..) => {}
            }
        }
        if let Some(batch) = shown {
            counted.touch(&batch);
        }
        for rows_max in [usize::MAX, 1, 37] {
            check_skip(&counted, &rows, rows_max)?;
        }
    }
}

#[test]
fn a_batch_has_only_the_runs_walked_again_that_it_wrote() {
    let (counted, mut rows) = (Counted::new(RUN), filled(20..220));
    let check = |rows: &Set, rows_max: usize, passed: usize, walked: usize| {
        let found = skip(&counted, rows, rows_max);
        assert_eq!((found.0, found.2), (passed, walked));
    };
    check(&rows, usize::MAX, 200, 200);
    check(&rows, usize::MAX, 200, 0);
    // Within a run its first rows are walked.
    check(&rows, 101, 101, 1);
    counted.touch(&batch(&[], &[1, 230], Some((0, 20))));
    check(&rows, usize::MAX, 200, 0);
    rows.remove(&vec![30]);
    counted.touch(&batch(&[], &[30], None));
    check(&rows, usize::MAX, 199, 3);
    check(&rows, usize::MAX, 199, 0);
    rows.retain(|place| !(100..110).contains(&place[0]));
    counted.touch(&batch(&[], &[], Some((100, 110))));
    check(&rows, usize::MAX, 189, 2);
    counted.clear();
    check(&rows, usize::MAX, 189, 189);
}

/// A range of so many runs with one row each, beyond those of `skip`.
fn note_runs(counted: &Counted, range: (&[u8], &[u8]), ends: impl Iterator<Item = Vec<u8>>) {
    let mut at = range.0.to_vec();
    for end in ends {
        let ticket = counted.ahead(range, &at, usize::MAX).ticket.unwrap();
        counted.note(range, ticket, (&at, &end), 1);
        at = end;
    }
}

fn note_short(counted: &Counted, start: u8) {
    note_runs(counted, (&[start], &[start, 1]), [vec![start, 1]].into_iter());
}

/// How many runs are remembered of the range that `skip` walks, and the bytes of all.
fn remembered(counted: &Counted) -> (usize, usize) {
    let state = counted.state.lock();
    for range in &state.ranges {
        let bytes: usize = range.runs.iter().map(|run| run.end.len()).sum();
        assert_eq!(range.bytes, bytes + range.start.len() + range.end.len());
    }
    let range = state.ranges.iter().find(|range| *range.start == *START && *range.end == *END);
    (range.map_or(0, |range| range.runs.len()), state.ranges.iter().map(|range| range.bytes).sum())
}

#[test]
fn the_shortest_range_is_forgotten_for_a_new_one() {
    let (counted, rows) = (Counted::new(RUN), filled(20..220));
    skip(&counted, &rows, usize::MAX);
    (0..=u8::MAX).for_each(|start| note_short(&counted, start));
    assert_eq!(counted.state.lock().ranges.len(), RANGES_MAX);
    assert_eq!(skip(&counted, &rows, usize::MAX).2, 0, "the long one is still known");
}

#[test]
fn what_is_not_used_for_long_is_forgotten_first() {
    let (counted, rows) = (Counted::new(RUN), filled(20..220));
    skip(&counted, &rows, usize::MAX);
    let long = |start: u8| (2..4_u8).map(move |end| vec![start, end]);
    for start in (1..).take(RANGES_MAX - 1) {
        note_runs(&counted, (&[start], &[start, 9]), long(start));
    }
    // Two that are shorter take turns.
    for _ in 0..=USES_MAX / 2 {
        note_short(&counted, 100);
        note_short(&counted, 101);
        skip(&counted, &rows, usize::MAX);
    }
    for start in [100, 101] {
        assert_eq!(counted.ahead((&[start], &[start, 1]), &[start], 9).rows, 1, "{start}");
    }
    assert_eq!(skip(&counted, &rows, usize::MAX).2, 0, "the one in use is still known");
}

#[test]
fn a_run_that_gains_rows_is_counted_whole_until_it_has_twice_as_many() {
    let (counted, mut rows) = (Counted::new(RUN), filled(20..220));
    skip(&counted, &rows, usize::MAX);
    for (more, runs) in [(1, 50), (RUN_BYTE, 50), (RUN_BYTE + 1, 51)] {
        rows.extend((0..more).map(|n| vec![100, n]));
        counted.touch(&batch(&[100], &[], None));
        assert_eq!(skip(&counted, &rows, usize::MAX).0, rows.len());
        assert_eq!(remembered(&counted).0, runs, "{more} more");
        assert_eq!(skip(&counted, &rows, usize::MAX).2, 0, "{more} more");
    }
    let state = counted.state.lock();
    assert!(state.ranges[0].runs.iter().all(|run| run.rows.unwrap() >= RUN));
}

/// Rows that fill as many runs as are remembered.
fn full() -> Set {
    (0..u32::MAX).take(RUN * RUNS_MAX).map(|n| [&[30], &n.to_be_bytes()[..]].concat()).collect()
}

/// Rows put behind another.
fn put_behind(counted: &Counted, rows: &mut Set, place: u32, count: u8) {
    let mut batch = Rows::default();
    for n in 0..count {
        let place = [&[30], &place.to_be_bytes()[..], &[n]].concat();
        batch.put_with(&place, |out| out.extend_from_slice(b"value"));
        rows.insert(place);
    }
    batch.write_to(&mut WriteBatch::default());
    counted.touch(&batch);
}

#[test]
fn a_full_range_that_is_mostly_empty_is_begun_anew() {
    let (counted, mut rows) = (Counted::new(RUN), full());
    skip(&counted, &rows, usize::MAX);
    assert_eq!(remembered(&counted).0, RUNS_MAX);
    // One row of each run is left.
    rows.retain(|row| row[4] % RUN_BYTE == 1);
    counted.touch(&batch(&[], &[], Some((30, 31))));
    put_behind(&counted, &mut rows, 32_768, 3 * RUN_BYTE);
    skip(&counted, &rows, usize::MAX);
    assert_eq!(skip(&counted, &rows, usize::MAX).0, rows.len());
    assert_eq!(remembered(&counted).0, rows.len().div_ceil(RUN));
    assert_eq!(skip(&counted, &rows, usize::MAX).2, 0);
}

#[test]
fn a_full_range_forgets_its_end_for_a_run_that_is_split() {
    let (counted, mut rows) = (Counted::new(RUN), full());
    skip(&counted, &rows, usize::MAX);
    put_behind(&counted, &mut rows, 1, 5 * RUN_BYTE);
    for _ in 0..2 {
        assert_eq!(skip(&counted, &rows, usize::MAX).0, rows.len());
        assert_eq!(remembered(&counted).0, RUNS_MAX);
    }
    assert_eq!(skip(&counted, &rows, usize::MAX).2, 4 * RUN, "one run became five, the last twice as long");
}

#[test]
fn the_keys_of_all_ranges_are_bounded() {
    let counted = Counted::new(RUN);
    let ends = |start: u8, count: usize| {
        let key = move |n: u32| [&[start], &n.to_be_bytes()[..], &[0; 4_000]].concat();
        (1..=u32::MAX).take(count).map(key)
    };
    let most = BYTES_MAX / 4_100;
    let range = |start: u8| ([start], [start + 1]);
    for start in [1, 2, 3] {
        let (start_key, end_key) = range(start);
        note_runs(&counted, (&start_key, &end_key), ends(start, most / 2 - 10));
        assert!(remembered(&counted).1 <= BYTES_MAX);
    }
    let known = |start: u8| counted.ahead((&range(start).0, &range(start).1), &[start], usize::MAX).rows;
    assert_eq!([known(2), known(3)], [most / 2 - 10; 2]);
    assert_eq!(known(1), 0, "it was not used for longest");
    // One alone does not take more, either.
    for end in ends(9, most + 200) {
        let (start_key, end_key) = range(9);
        let ahead = counted.ahead((&start_key, &end_key), &[9], usize::MAX);
        counted.note((&start_key, &end_key), ahead.ticket.unwrap(), (&ahead.at, &end), RUN);
    }
    assert!(remembered(&counted).1 <= BYTES_MAX);
    assert!(known(9) >= most * RUN);
}
