//! The rows of a commit as a set: each key at most once, and none in a range that goes.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::{Error, ErrorKind, Range, Write};

/// Makes of writes that were to happen one after another the set that comes to the same: of the writes of a row the last
/// is left, none is left that a later range removes, and a range spares the rows that are written after it (it becomes the
/// ranges around them). Cost: a sort; without ranges nothing is allocated for up to twenty writes.
pub fn later_wins(writes: &mut Vec<Write>) {
    if !writes.iter().any(is_range) {
        keep_last(writes);
        return;
    }
    // Backwards: what is taken already came later.
    let mut rows: BTreeMap<Bytes, Write> = BTreeMap::new();
    let mut ranges: Vec<Range> = Vec::new();
    for write in writes.drain(..).rev() {
        match write {
            Write::DeleteRange(range) if is_empty(&range) => {}
            Write::DeleteRange(range) => spare(range, &rows, &mut ranges),
            row if ranges.iter().any(|range| holds(range, row.key())) => {}
            // A row that was written after a range around it has cut the range, which no longer holds it.
            row => drop(rows.entry(row.key().clone()).or_insert(row)),
        }
    }
    writes.extend(rows.into_values());
    writes.extend(ranges.into_iter().map(Write::DeleteRange));
    sort(writes);
}

/// Without ranges.
fn keep_last(writes: &mut Vec<Write>) {
    if is_set(writes) {
        return;
    }
    // Stable, so that of the writes of a row the last comes last.
    writes.sort_by(|one, other| one.key().cmp(other.key()));
    writes.dedup_by(|later, kept| {
        let is_same = later.key() == kept.key();
        if is_same {
            std::mem::swap(later, kept);
        }
        is_same
    });
}

/// The parts of a range between rows that are written after it.
fn spare(range: Range, rows: &BTreeMap<Bytes, Write>, ranges: &mut Vec<Range>) {
    let Range { mut start, end } = range;
    let behind = rows.range::<Bytes, _>(start.clone()..).map(|(key, _)| key);
    for key in behind.take_while(|key| end.as_ref().is_none_or(|end| *key < end)) {
        ranges.push(Range { start, end: Some(key.clone()) });
        // The first key behind another: the same with a zero byte.
        start = key.iter().copied().chain([0]).collect();
    }
    ranges.push(Range { start, end });
    ranges.retain(|range| !is_empty(range));
}

/// Brings the writes of a commit into the order of their keys, which says nothing, and refuses them if they are no set: if a
/// key is there twice, or lies in a range that goes. Cost: a sort, of which engines are relieved; none if they are in order.
///
/// # Errors
///
/// `Misuse`.
pub(crate) fn check_set(writes: &mut [Write]) -> Result<(), Error> {
    if is_set(writes) {
        return Ok(());
    }
    sort(writes);
    // Of the ranges that begin at or before a key, how far the farthest goes.
    let mut removed: Option<&Range> = None;
    let mut row: Option<&Bytes> = None;
    for write in &*writes {
        match write {
            Write::DeleteRange(range) if is_empty(range) => {}
            Write::DeleteRange(range) => {
                if removed.is_none_or(|farthest| reaches_farther(range, farthest)) {
                    removed = Some(range);
                }
            }
            Write::Put(key, _) | Write::PutStamped(key, _) | Write::Delete(key) => {
                if row == Some(key) {
                    return Err(refused(key, "is written twice"));
                }
                if removed.is_some_and(|range| holds(range, key)) {
                    return Err(refused(key, "is written and lies in a range that is removed"));
                }
                row = Some(key);
            }
        }
    }
    Ok(())
}

fn refused(key: &[u8], why: &str) -> Error {
    let action =
        format!("commit: the row \"{}\" {why} (order inside a commit has no meaning)", key.escape_ascii());
    Error::new(ErrorKind::Misuse, action)
}

/// Whether the keys grow from row to row, and nothing is removed by range.
fn is_set(writes: &[Write]) -> bool {
    writes.is_sorted_by(|one, next| one.key() < next.key()) && !writes.iter().any(is_range)
}

/// Fewer writes are sorted as they are.
const MANY_WRITES: usize = 32;

/// By key; a range before a row with which it begins.
fn sort(writes: &mut [Write]) {
    if writes.len() < MANY_WRITES {
        return sort_whole(writes);
    }
    // The heads of keys lie beside each other: few comparisons need the keys.
    writes.sort_by_cached_key(|write| head_of(write.key()));
    for run in writes.chunk_by_mut(|one, next| head_of(one.key()) == head_of(next.key())) {
        sort_whole(run);
    }
}

fn sort_whole(writes: &mut [Write]) {
    let rank = |write: &Write| !is_range(write);
    writes
        .sort_unstable_by(|one, other| one.key().cmp(other.key()).then_with(|| rank(one).cmp(&rank(other))));
}

/// The first bytes of a key, in the order of keys.
#[inline]
fn head_of(key: &[u8]) -> u128 {
    let mut head = [0; 16];
    match key.first_chunk() {
        Some(whole) => head = *whole,
        None => head.iter_mut().zip(key).for_each(|(to, from)| *to = *from),
    }
    u128::from_be_bytes(head)
}

fn is_range(write: &Write) -> bool {
    matches!(write, Write::DeleteRange(_))
}

fn is_empty(range: &Range) -> bool {
    range.end.as_ref().is_some_and(|end| *end <= range.start)
}

fn holds(range: &Range, key: &[u8]) -> bool {
    *range.start <= *key && range.end.as_ref().is_none_or(|end| key < &end[..])
}

fn reaches_farther(range: &Range, other: &Range) -> bool {
    match (&range.end, &other.end) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(end), Some(other)) => end > other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key() -> impl Strategy<Value = Bytes> {
        proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(b'a')], 0..3).prop_map(Bytes::from)
    }

    fn write() -> impl Strategy<Value = Write> {
        let value = || proptest::collection::vec(any::<u8>(), 0..3).prop_map(Bytes::from);
        let range = (key(), proptest::option::of(key())).prop_map(|(start, end)| Range { start, end });
        prop_oneof![
            4 => (key(), value()).prop_map(|(key, value)| Write::Put(key, value)),
            2 => (key(), value()).prop_map(|(key, value)| Write::PutStamped(key, value)),
            2 => key().prop_map(Write::Delete),
            1 => range.prop_map(Write::DeleteRange),
        ]
    }

    /// Carries writes out one after another.
    fn apply(rows: &mut BTreeMap<Bytes, Write>, writes: &[Write]) {
        for write in writes {
            match write {
                Write::Put(key, _) | Write::PutStamped(key, _) => {
                    drop(rows.insert(key.clone(), write.clone()))
                }
                Write::Delete(key) => drop(rows.remove(key)),
                Write::DeleteRange(range) => rows.retain(|key, _| !holds(range, key)),
            }
        }
    }

    proptest! {
        #[test]
        fn a_set_comes_to_the_same_in_any_order(
            before in proptest::collection::vec(write(), 0..12),
            writes in proptest::collection::vec(write(), 0..12),
        ) {
            let mut expected = BTreeMap::new();
            apply(&mut expected, &before);
            let start = expected.clone();
            apply(&mut expected, &writes);
            let mut set = writes;
            later_wins(&mut set);
            let mut reversed = set.clone();
            reversed.reverse();
            for mut set in [set, reversed] {
                let mut rows = start.clone();
                apply(&mut rows, &set);
                prop_assert_eq!(&rows, &expected, "{:?}", set);
                prop_assert!(check_set(&mut set).is_ok(), "{:?}", set);
            }
        }

        #[test]
        fn many_are_sorted_as_few_are(writes in proptest::collection::vec(write(), 0..80)) {
            let keys = |writes: &[Write]| writes.iter().map(|it| (it.key().clone(), !is_range(it))).collect::<Vec<_>>();
            let (mut many, mut expected) = (writes.clone(), writes);
            sort(&mut many);
            sort_whole(&mut expected);
            prop_assert_eq!(keys(&many), keys(&expected));
        }

        #[test]
        fn a_set_is_told_from_what_is_none(writes in proptest::collection::vec(write(), 0..6)) {
            let row = |write: &Write| (!is_range(write)).then(|| write.key().clone());
            let rows: Vec<Bytes> = writes.iter().filter_map(row).collect();
            let removed = |key: &Bytes| {
                writes.iter().any(|write| matches!(write, Write::DeleteRange(range) if holds(range, key)))
            };
            let twice = (1..rows.len()).any(|at| rows[..at].contains(&rows[at]));
            let is_set = !twice && !rows.iter().any(removed);
            prop_assert_eq!(check_set(&mut writes.clone()).is_ok(), is_set);
        }
    }
}
