//! Points in memory: columns, one entry each per point. No I/O, no encoding.

use std::ops::Range;

use bytes::Bytes;

use crate::flags::overflown;

/// In `observed`: nobody said when.
pub const UNOBSERVED: i64 = i64::MIN;

/// Nanoseconds since 1970 UTC from `from` (included) to `to` (excluded).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct TimeRange {
    /// The first instant.
    pub from: i64,
    /// The first instant after.
    pub to: i64,
}

impl TimeRange {
    /// All of time.
    pub const ALL: Self = Self { from: i64::MIN, to: i64::MAX };

    /// Whether the range holds no instant.
    pub fn is_empty(&self) -> bool {
        self.from >= self.to
    }

    /// Whether `time` lies inside.
    pub fn contains(&self, time: i64) -> bool {
        self.from <= time && time < self.to
    }
}

/// Points in columns.
///
/// Invariant: times ascend strictly; `values` and `flags` are as long as `times`; `observed` and `notes`
/// are empty or as long as `times`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    /// Nanoseconds since 1970 UTC.
    pub times: Vec<i64>,
    /// Values, bit for bit (−0.0, subnormals and NaN payloads included); 0.0 where the flag says [`ABSENT`].
    pub values: Vec<f64>,
    /// Flags in the low bits; [`ABSENT`] where there is no value. The meaning is the caller's.
    pub flags: Vec<u8>,
    /// Only of histories: when the value was observed, in nanoseconds; [`UNOBSERVED`] where nobody said.
    pub observed: Vec<i64>,
    /// Only of histories: what else belongs to a point (kind, unit, text value, members, ...), opaque here.
    pub notes: Notes,
}

/// One byte string per point, kept once for all points that share it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// The different strings. After [`Points::truncate`] and the like some may be unused, and some may stand twice after long
    /// dictionaries were joined; blocks keep those in use, each once.
    pub dictionary: Vec<Bytes>,
    /// For each point its place in the dictionary; empty if points have no notes.
    pub places: Vec<u32>,
}

/// Which columns of points are wanted beside values and flags, which always are.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ColumnSet {
    /// When points are.
    pub times: bool,
    /// When they were observed.
    pub observed: bool,
    /// What else belongs to them; `observed` comes with it.
    pub notes: bool,
}

impl ColumnSet {
    /// All of them.
    pub const ALL: Self = Self { times: true, observed: true, notes: true };
}

/// Columns of points that follow one another, as they lie in memory. Those that were not wanted may be empty; all others are of
/// one length, but for `observed` and `places` of points that have none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columns<'a> {
    /// See [`Points::times`].
    pub times: &'a [i64],
    /// See [`Points::values`].
    pub values: &'a [f64],
    /// See [`Points::flags`].
    pub flags: &'a [u8],
    /// See [`Points::observed`].
    pub observed: &'a [i64],
    /// See [`Notes::places`].
    pub places: &'a [u32],
    /// See [`Notes::dictionary`].
    pub dictionary: &'a [Bytes],
}

impl Columns<'_> {
    /// How many points.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Those at the places `range`.
    ///
    /// # Panics
    ///
    /// If `range` does not lie inside.
    #[must_use]
    pub fn part(&self, range: &Range<usize>) -> Self {
        Self {
            times: part(self.times, range),
            values: part(self.values, range),
            flags: part(self.flags, range),
            observed: part(self.observed, range),
            places: part(self.places, range),
            dictionary: self.dictionary,
        }
    }
}

impl Points {
    /// All columns.
    pub fn columns(&self) -> Columns<'_> {
        Columns {
            times: &self.times,
            values: &self.values,
            flags: &self.flags,
            observed: &self.observed,
            places: &self.notes.places,
            dictionary: &self.notes.dictionary,
        }
    }

    /// How many points.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Makes room for so many points more; for those columns of histories alone that are in use.
    pub fn reserve(&mut self, count: usize) {
        self.times.reserve(count);
        self.values.reserve(count);
        self.flags.reserve(count);
        if !self.observed.is_empty() {
            self.observed.reserve(count);
        }
        if !self.notes.places.is_empty() {
            self.notes.places.reserve(count);
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Removes all points, keeping the memory.
    pub fn clear(&mut self) {
        self.times.clear();
        self.values.clear();
        self.flags.clear();
        self.observed.clear();
        self.notes.dictionary.clear();
        self.notes.places.clear();
    }

    /// Appends a point without observed time and note; `time` must be later than all others.
    pub fn push(&mut self, time: i64, value: f64, flag: u8) {
        debug_assert!(self.times.last().is_none_or(|last| *last < time), "times ascend");
        if !self.observed.is_empty() {
            self.observed.push(UNOBSERVED);
        }
        if !self.notes.places.is_empty() {
            let place = self.notes.place_of(&Bytes::new());
            self.notes.places.push(place);
        }
        self.times.push(time);
        self.values.push(value);
        self.flags.push(flag);
    }

    /// The places of the points inside a range of time. Cost: two binary searches.
    pub fn range_of(&self, range: TimeRange) -> Range<usize> {
        let from = self.times.partition_point(|time| *time < range.from);
        let to = self.times.partition_point(|time| *time < range.to);
        from..to.max(from)
    }

    /// Keeps the first `len` points.
    pub fn truncate(&mut self, len: usize) {
        self.times.truncate(len);
        self.values.truncate(len);
        self.flags.truncate(len);
        self.observed.truncate(len);
        self.notes.places.truncate(len);
        if len == 0 {
            self.notes.dictionary.clear();
        }
    }

    /// Values beyond all numbers, or that are none, become no values, flagged faulty or worse. Cost: a wide pass if all are
    /// finite.
    pub fn settle(&mut self) {
        // No early exit, so that the loop is made of wide instructions.
        if self.values.iter().fold(true, |all, value| all & value.is_finite()) {
            return;
        }
        for (value, flag) in self.values.iter_mut().zip(&mut self.flags) {
            if !value.is_finite() {
                (*value, *flag) = (0.0, overflown(*flag));
            }
        }
    }

    /// Appends the points of `other` at the places `range`, which must be later than all of these.
    ///
    /// A history column that only one of both has is filled up: [`UNOBSERVED`], the empty note.
    /// Cost: copies the columns; each different note is looked up once at most.
    ///
    /// # Panics
    ///
    /// If `range` does not lie inside `other`.
    pub fn extend_from_range(&mut self, other: &Self, range: Range<usize>) {
        self.extend_from_columns(&other.columns().part(&range));
    }

    /// [`Points::extend_from_range`] for columns of which none but those of histories are empty.
    pub fn extend_from_columns(&mut self, other: &Columns<'_>) {
        if other.is_empty() {
            return;
        }
        let before = self.len();
        let after = before + other.len();
        self.times.extend_from_slice(other.times);
        self.values.extend_from_slice(other.values);
        self.flags.extend_from_slice(other.flags);
        if !other.observed.is_empty() {
            self.observed.resize(before, UNOBSERVED);
            self.observed.extend_from_slice(other.observed);
        } else if !self.observed.is_empty() {
            self.observed.resize(after, UNOBSERVED);
        }
        if !other.places.is_empty() {
            self.notes.fill_up(before);
            self.notes.extend(other.dictionary, other.places);
        } else if !self.notes.places.is_empty() {
            self.notes.fill_up(after);
        }
        debug_assert!(
            before == 0 || self.times.get(before - 1) < self.times.get(before),
            "appended points are later"
        );
    }
}

/// Dictionaries up to here are searched from end to end; longer ones are put one behind the other, and blocks keep each
/// string once.
const SEARCHED_MAX: usize = 16;

impl Notes {
    /// The note of the point at `index`; empty if there is none.
    pub fn get(&self, index: usize) -> &[u8] {
        let place = self.places.get(index).and_then(|place| usize::try_from(*place).ok());
        place.and_then(|place| self.dictionary.get(place)).map_or(&[], |note| note)
    }

    /// The place of `note` in the dictionary, which it enters if it is new. Cost: one look at each entry.
    pub fn place_of(&mut self, note: &Bytes) -> u32 {
        let found = self.dictionary.iter().position(|it| it == note);
        found.map_or_else(|| self.enter(note), place)
    }

    fn enter(&mut self, note: &Bytes) -> u32 {
        self.dictionary.push(note.clone());
        place(self.dictionary.len() - 1)
    }

    /// Gives points without a note the empty one, until there are `len`.
    pub(crate) fn fill_up(&mut self, len: usize) {
        if self.places.len() < len {
            let place = self.place_of(&Bytes::new());
            self.places.resize(len, place);
        }
    }

    /// Appends `places` of another dictionary, with the strings that they use.
    pub(crate) fn extend(&mut self, dictionary: &[Bytes], places: &[u32]) {
        if self.dictionary.is_empty() && places.len() >= dictionary.len() {
            self.dictionary.extend_from_slice(dictionary);
        }
        if self.dictionary.starts_with(dictionary) {
            self.places.extend_from_slice(places);
            return;
        }
        let searched = self.dictionary.len() <= SEARCHED_MAX && dictionary.len() <= SEARCHED_MAX;
        let mut renamed = vec![None; dictionary.len()];
        let places = places.iter().map(|theirs| {
            let at = *theirs as usize;
            let name = renamed.get_mut(at).expect("places lie inside the dictionary");
            *name.get_or_insert_with(|| {
                let note = dictionary.get(at).expect("places lie inside the dictionary");
                if self.dictionary.get(at) == Some(note) {
                    *theirs
                } else if searched {
                    self.place_of(note)
                } else {
                    self.enter(note)
                }
            })
        });
        let places: Vec<u32> = places.collect();
        self.places.extend_from_slice(&places);
    }
}

fn place(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than 2^32 different notes")
}

/// A part of a column that is empty or reaches over all points.
fn part<'a, T>(column: &'a [T], range: &Range<usize>) -> &'a [T] {
    if column.is_empty() { &[] } else { column.get(range.clone()).expect("the range lies inside the points") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flag;

    fn history(points: &[(i64, i64, &'static str)]) -> Points {
        let mut all = Points::default();
        for (time, observed, note) in points {
            all.times.push(*time);
            all.values.push(0.5);
            all.flags.push(3);
            all.observed.push(*observed);
            let place = all.notes.place_of(&Bytes::from_static(note.as_bytes()));
            all.notes.places.push(place);
        }
        all
    }

    fn shown(points: &Points) -> Vec<(i64, Option<i64>, String)> {
        let rows = points.times.iter().enumerate();
        rows.map(|(at, time)| {
            (
                *time,
                points.observed.get(at).copied(),
                String::from_utf8_lossy(points.notes.get(at)).into_owned(),
            )
        })
        .collect()
    }

    #[test]
    fn what_no_double_holds_is_no_value_and_not_valid() {
        let (valid, faulty, missing) = (Flag::Valid.number(), Flag::Faulty.absent(), Flag::Missing.absent());
        let mut points = Points::default();
        for (time, value) in (0..).zip([1.0, f64::INFINITY, f64::NAN, f64::MAX, f64::NEG_INFINITY]) {
            points.push(time, value, valid);
        }
        points.push(9, f64::INFINITY, Flag::Missing.number());
        points.push(10, f64::NAN, Flag::Estimated.absent());
        points.settle();
        assert_eq!(points.flags, [valid, faulty, faulty, valid, faulty, missing, Flag::Estimated.absent()]);
        assert_eq!(points.values, [1.0, 0.0, 0.0, f64::MAX, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_copied_range_keeps_its_notes() {
        let mut all = history(&[(1, 10, "a"), (2, 20, "b")]);
        let more = history(&[(3, 30, "c"), (4, 40, "b"), (5, 50, "b"), (6, 60, "a")]);
        all.extend_from_range(&more, 1..4);
        assert_eq!(
            shown(&all),
            [(1, 10, "a"), (2, 20, "b"), (4, 40, "b"), (5, 50, "b"), (6, 60, "a")]
                .map(|(time, observed, note)| (time, Some(observed), note.to_owned()))
        );
        assert_eq!(all.notes.dictionary.len(), 2, "c is not in the range");
    }

    #[test]
    fn many_notes_are_found_again() {
        let names: Vec<String> = (0..100).map(|at| format!("note {at}")).collect();
        let mut all = Points::default();
        let mut more = Points::default();
        for (points, start) in [(&mut all, 0_usize), (&mut more, 1_000)] {
            for at in 0..200_usize {
                points.times.push(i64::try_from(start + at).unwrap());
                points.values.push(0.0);
                points.flags.push(0);
                let name = if start == 0 { &names[at % 60] } else { &names[99 - at % 60] };
                let place = points.notes.place_of(&Bytes::from(name.clone()));
                points.notes.places.push(place);
            }
        }
        all.extend_from_range(&more, 0..200);
        assert!((0..200).all(|at| all.notes.get(200 + at) == names[99 - at % 60].as_bytes()));
    }

    #[test]
    fn columns_that_only_one_side_has_are_filled_up() {
        let mut plain = Points::default();
        plain.push(1, 1.0, 3);
        let mut all = plain.clone();
        all.extend_from_range(&history(&[(2, 20, "b")]), 0..1);
        all.push(3, 1.0, 3);
        let mut last = Points::default();
        last.push(4, 1.0, 3);
        all.extend_from_range(&last, 0..1);
        let expected = [(1, UNOBSERVED, ""), (2, 20, "b"), (3, UNOBSERVED, ""), (4, UNOBSERVED, "")];
        assert_eq!(shown(&all), expected.map(|(time, at, note)| (time, Some(at), note.to_owned())));
        all.truncate(2);
        assert_eq!((all.len(), all.observed.len(), all.notes.places.len()), (2, 2, 2));
        all.truncate(0);
        assert_eq!(all, Points::default());
    }

    #[test]
    fn ranges_of_time_are_ranges_of_places() {
        let mut points = Points::default();
        for time in [10, 20, 30] {
            points.push(time, 0.0, 3);
        }
        let check = |from, to, expected| assert_eq!(points.range_of(TimeRange { from, to }), expected);
        check(10, 30, 0..2);
        check(11, 20, 1..1);
        check(i64::MIN, i64::MAX, 0..3);
        check(31, 40, 3..3);
        check(30, 10, 2..2);
    }
}
