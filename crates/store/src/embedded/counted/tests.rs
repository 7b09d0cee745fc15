//! Walks and batches in any order, against a plain set of rows.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rocksdb::WriteBatch;

use super::*;

const RUN: usize = 4;
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
    let count = within.by_ref().take(RUN.min(rows_max)).count();
    let next = within.next().cloned();
    let is_whole = count == RUN || next.is_none();
    let next = next.unwrap_or_else(|| ahead.until.to_vec());
    if let Some(ticket) = ahead.ticket.filter(|_| is_whole) {
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
    put.iter().for_each(|place| rows.put(&[*place], b"value"));
    removed.iter().for_each(|place| rows.delete(&[*place]));
    rows.write_to(&mut WriteBatch::default());
    rows
}

fn filled(range: std::ops::Range<u8>) -> Set {
    range.map(|place| vec![place]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

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

#[test]
fn the_shortest_range_is_forgotten_for_a_new_one() {
    let (counted, rows) = (Counted::new(RUN), filled(20..220));
    skip(&counted, &rows, usize::MAX);
    for start in 0..=u8::MAX {
        let ahead = counted.ahead((&[start], &[start, 1]), &[start], 9);
        counted.note((&[start], &[start, 1]), ahead.ticket.unwrap(), (&[start], &[start, 1]), 1);
    }
    assert_eq!(counted.state.lock().ranges.len(), RANGES_MAX);
    assert_eq!(skip(&counted, &rows, usize::MAX).2, 0, "the long one is still known");
}
