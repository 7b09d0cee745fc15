//! Instances of one attribute and dataset within a span of time, the first or last of them.
//!
//! Blocks are read some at a time, and of what they hold no more is kept than may be among those that are wanted: an
//! answer costs memory for itself, not for the history it is taken from.

use store::Timestamp;
use strands::{Points, Summary, TimeRange, UNOBSERVED};

use super::note::{CHANGED_FLAG, Class, MICROSECOND, Point, micros, nanos};
use super::{HistoryRequest, TimeProperty, TimeSpan};

/// How many instances are wanted, and from which end of the span.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// So many, the first ones.
    First(usize),
    /// So many, the last ones.
    Last(usize),
}

/// Instances that were found, by time.
#[derive(Debug, Default)]
pub struct Selected {
    points: Points,
    /// Time and place in `points` of each instance, in order.
    order: Vec<(i64, u32)>,
}

/// Which blocks of a strand may hold what is asked for, and the times of points they lie in.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The times of points that may be wanted.
    pub range: TimeRange,
    time: TimeProperty,
    span: TimeSpan,
}

/// The range of points' times that covers a span.
pub fn range_of(span: TimeSpan) -> TimeRange {
    let start = |time: Timestamp| time.0.saturating_mul(MICROSECOND);
    TimeRange { from: start(span.from), to: start(span.to) }
}

/// Whether a block may hold something observed within a span.
pub fn observes(summary: &Summary, span: TimeSpan) -> bool {
    summary.observed_last != UNOBSERVED
        && nanos(span.from) <= summary.observed_last
        && summary.observed_first <= nanos(span.to)
}

impl Wanted {
    /// `is_changed`: whether some instances were changed later.
    pub fn new(time: TimeProperty, span: TimeSpan, is_changed: bool) -> Self {
        let range = match time {
            // Nothing is created after it was written, nor removed at another time.
            TimeProperty::CreatedAt => TimeRange { from: range_of(span).from, ..TimeRange::ALL },
            TimeProperty::DeletedAt => range_of(span),
            TimeProperty::ModifiedAt if !is_changed => range_of(span),
            TimeProperty::ObservedAt | TimeProperty::ModifiedAt => TimeRange::ALL,
        };
        Self { range, time, span }
    }

    /// Whether a block may hold an instance within the span.
    pub fn may_hold(&self, block: &Summary) -> bool {
        match self.time {
            TimeProperty::ObservedAt => observes(block, self.span),
            TimeProperty::CreatedAt => true,
            // A removal has no value.
            TimeProperty::DeletedAt => block.values < block.count,
            TimeProperty::ModifiedAt => {
                let range = range_of(self.span);
                block.flag_max >= CHANGED_FLAG || range.from <= block.last && block.first < range.to
            }
        }
    }
}

impl Bound {
    /// How many.
    pub fn count(self) -> usize {
        match self {
            Self::First(count) | Self::Last(count) => count,
        }
    }
}

impl Selected {
    /// Those of `points` within the span, in order, cut to the bound.
    pub fn new(points: Points, time: TimeProperty, span: TimeSpan, bound: Bound) -> Self {
        let places = 0..u32::try_from(points.len()).expect("points in memory are fewer");
        let found =
            places.zip(0..).filter_map(|(place, index)| Some((time_of(&points, index, time)?, place)));
        let mut order: Vec<(i64, u32)> = found.filter(|(time, _)| span.contains(Timestamp(*time))).collect();
        let sorted = order.is_sorted();
        let beyond = order.len().saturating_sub(bound.count());
        if !sorted && beyond > 0 {
            // What is left is all that has to be sorted.
            let place = if matches!(bound, Bound::First(_)) { order.len() - beyond } else { beyond - 1 };
            order.select_nth_unstable(place);
        }
        match bound {
            Bound::First(count) => order.truncate(count),
            Bound::Last(_) => drop(order.drain(..beyond)),
        }
        if !sorted {
            order.sort_unstable();
        }
        Self { points, order }
    }

    /// How many instances there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The time of the last instance, or of the first one where the last are wanted: where more of them may follow.
    pub fn edge(&self, bound: Bound) -> Option<Timestamp> {
        let edge = match bound {
            Bound::First(_) => self.order.last(),
            Bound::Last(_) => self.order.first(),
        };
        edge.map(|(time, _)| Timestamp(*time))
    }

    /// The time of the first instance.
    pub fn first(&self) -> Option<Timestamp> {
        self.order.first().map(|(time, _)| Timestamp(*time))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The instances, as columns in their order. Cost: nothing if they are all points as they were read.
    pub fn into_points(self) -> Points {
        let whole = self.order.len() == self.points.len();
        if whole && self.order.iter().zip(0..).all(|((_, place), index)| *place == index) {
            return self.points;
        }
        pick(&self.points, &self.order)
    }

    /// The instances as points in the order they were written.
    pub fn into_written(mut self) -> Points {
        self.order.sort_unstable_by_key(|(_, place)| *place);
        self.into_points()
    }

    /// Leaves out what lies outside of the span, and gives its memory back.
    pub fn retain(&mut self, span: TimeSpan) {
        let before = self.order.len();
        self.order.retain(|(time, _)| span.contains(Timestamp(*time)));
        if self.order.len() < before {
            self.points = pick(&self.points, &self.order);
            for (at, place) in self.order.iter_mut().zip(0..) {
                at.1 = place;
            }
        }
    }
}

const IN_DICTIONARY: &str = "points name notes of their dictionary";

/// The points at these places, in this order, with the notes they use.
fn pick(points: &Points, order: &[(i64, u32)]) -> Points {
    let places = || order.iter().map(|(_, place)| *place as usize);
    let mut out = Points::default();
    out.reserve(order.len());
    out.times.extend(places().filter_map(|place| points.times.get(place)));
    out.values.extend(places().filter_map(|place| points.values.get(place)));
    out.flags.extend(places().filter_map(|place| points.flags.get(place)));
    out.observed.extend(places().filter_map(|place| points.observed.get(place)));
    let mut renamed = vec![u32::MAX; points.notes.dictionary.len()];
    for note in places().filter_map(|place| points.notes.places.get(place)) {
        let name = renamed.get_mut(*note as usize).expect(IN_DICTIONARY);
        let note = points.notes.dictionary.get(*note as usize).expect(IN_DICTIONARY);
        if *name == u32::MAX {
            *name = u32::try_from(out.notes.dictionary.len()).expect("no more notes than before");
            out.notes.dictionary.push(note.clone());
        }
        out.notes.places.push(*name);
    }
    out
}

impl Selected {
    /// The times of the instances, and the instances, in order.
    pub fn into_columns(self) -> (Vec<Timestamp>, Points) {
        let times = self.order.iter().map(|(time, _)| Timestamp(*time)).collect();
        (times, self.into_points())
    }
}

/// The time of an instance that is asked for, in microseconds; `None` if it has none.
pub fn time_of(points: &Points, index: usize, time: TimeProperty) -> Option<i64> {
    let point = Point::new(points, index);
    match time {
        TimeProperty::ModifiedAt
            if points.flags.get(index).is_some_and(|flags| flags & CHANGED_FLAG != 0) =>
        {
            Some(point.modified_at().0)
        }
        TimeProperty::ModifiedAt => Some(micros(point.time).0),
        TimeProperty::ObservedAt => point.observed_at().map(|time| time.0),
        TimeProperty::CreatedAt if point.class == Class::Removal => None,
        TimeProperty::CreatedAt => Some(point.created_at().0),
        TimeProperty::DeletedAt => (point.class == Class::Removal).then(|| micros(point.time).0),
    }
}

/// Cuts what was found to the part of the request's span that its limit allows, the same for all attributes. Answers that part,
/// or `None` if nothing had to go.
pub fn cut(found: &mut [&mut Selected], request: &HistoryRequest) -> Option<TimeSpan> {
    let times = found.iter().flat_map(|one| one.order.iter().map(|(time, _)| Timestamp(*time)));
    let mut times: Vec<Timestamp> = times.collect();
    let covered = request.part(&mut times)?;
    found.iter_mut().for_each(|one| one.retain(covered));
    Some(covered)
}
