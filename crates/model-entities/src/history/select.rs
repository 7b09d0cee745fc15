//! Instances of one attribute and dataset within a span of time, the first or last of them.
//!
//! Blocks are read some at a time, and of what they hold no more is kept than may be among those that are wanted: an
//! answer costs memory for itself, not for the past it is taken from.

#[cfg(test)]
mod tests;

use store::Timestamp;
use strands::{Points, Strand, Summary, TimeRange, UNOBSERVED};

use super::merge::append;
use super::note::{CHANGED_FLAG, Class, MICROSECOND, Point, micros, nanos};
use super::read::Source;
use super::{HistoryRequest, TimeProperty, TimeSpan};
use crate::{Error, TenantEntities, keys};

/// Points that are read at once, about; few in tests, so that they see pages.
const PAGE_POINTS: usize = if cfg!(test) { 64 } else { 1 << 16 };

/// How many instances are wanted, and from which end of the span.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    First(usize),
    Last(usize),
}

/// Instances that were found, by time.
#[derive(Debug, Default)]
pub(super) struct Selected {
    points: Points,
    /// Time and place in `points` of each instance, in order.
    order: Vec<(i64, u32)>,
}

/// Which blocks of a strand may hold what is asked for, and the times of points they lie in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) range: TimeRange,
    time: TimeProperty,
    span: TimeSpan,
}

/// The range of points' times that covers a span.
pub(super) fn range_of(span: TimeSpan) -> TimeRange {
    let start = |time: Timestamp| time.0.saturating_mul(MICROSECOND);
    TimeRange { from: start(span.from), to: start(span.to) }
}

/// Whether a block may hold something observed within a span.
pub(super) fn observes(summary: &Summary, span: TimeSpan) -> bool {
    summary.observed_last != UNOBSERVED
        && nanos(span.from) <= summary.observed_last
        && summary.observed_first <= nanos(span.to)
}

impl Wanted {
    /// `is_changed`: whether some instances were changed later.
    pub(super) fn new(time: TimeProperty, span: TimeSpan, is_changed: bool) -> Self {
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
    pub(super) fn may_hold(&self, block: &Summary) -> bool {
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
    fn count(self) -> usize {
        match self {
            Self::First(count) | Self::Last(count) => count,
        }
    }
}

impl TenantEntities {
    /// The first or last instances within the span. Cost: the blocks they are in; for `observedAt` those that may hold
    /// them, for `createdAt` all since the span began, for `modifiedAt` those too that hold instances changed later. Some
    /// [`PAGE_POINTS`] stand in memory at once, and twice as many as are wanted.
    pub(super) async fn select(
        &self,
        source: &Source,
        time: TimeProperty,
        span: TimeSpan,
        bound: Bound,
    ) -> Result<Selected, Error> {
        if time == TimeProperty::ModifiedAt && !self.is_changed(source).await? {
            let mut points = Points::default();
            self.read_written(source, range_of(span), bound, &mut points).await?;
            append(&mut points, &source.fresh);
            return Ok(Selected::new(points, time, span, bound));
        }
        let narrow = match time {
            TimeProperty::ObservedAt => self.narrow(source, span, bound).await?,
            _ => span,
        };
        let selected = self.select_within(source, time, narrow, bound).await?;
        if narrow == span || selected.len() >= bound.count() {
            return Ok(selected);
        }
        // Blocks held instances that were not observed at all, or went.
        self.select_within(source, time, span, bound).await
    }

    async fn select_within(
        &self,
        source: &Source,
        time: TimeProperty,
        span: TimeSpan,
        bound: Bound,
    ) -> Result<Selected, Error> {
        let wanted = Wanted::new(time, span, true);
        let (mut points, mut rest) = (Points::default(), Some(wanted.range));
        let held_max = bound.count().saturating_add(bound.count().max(PAGE_POINTS));
        while let Some(range) = rest {
            rest = self.read_wanted(source, range, &wanted, &mut points).await?;
            if points.len() > held_max {
                points = Selected::new(points, time, span, bound).into_written();
            }
        }
        append(&mut points, &source.fresh);
        Ok(Selected::new(points, time, span, bound))
    }

    /// Appends some blocks that may hold what is wanted; answers the range that is left. Fresh points are not among them.
    pub(super) async fn read_wanted(
        &self,
        source: &Source,
        range: TimeRange,
        wanted: &Wanted,
        out: &mut Points,
    ) -> Result<Option<TimeRange>, Error> {
        let Some(strand) = &source.strand else {
            return Ok(None);
        };
        let strands = &self.state().pasts.strands;
        let may_hold = |block: &Summary| wanted.may_hold(block);
        let next = strands.read_wanted(strand, range, &may_hold, PAGE_POINTS, out).await?;
        Ok(next.map(|from| TimeRange { from, ..range }))
    }

    /// Whether instances were changed later: then they are not in the order of `modifiedAt`. Cost: a look-up.
    pub(super) async fn is_changed(&self, source: &Source) -> Result<bool, Error> {
        let Some(Strand { partition, name }) = &source.strand else {
            return Ok(false);
        };
        let (store, key) = (&self.state().store, keys::changed(name));
        Ok(store.get_linear(partition, &key).await?.is_some())
    }

    async fn read_written(
        &self,
        source: &Source,
        range: TimeRange,
        bound: Bound,
        out: &mut Points,
    ) -> Result<(), Error> {
        let Some(strand) = &source.strand else {
            return Ok(());
        };
        let strands = &self.state().pasts.strands;
        let count = match bound {
            Bound::Last(count) => {
                *out = strands.read_last(strand, range, count).await?;
                return Ok(());
            }
            Bound::First(count) => count,
        };
        let mut rest = Some(range);
        while let Some(range) = rest.filter(|_| out.len() < count) {
            let next = strands.read_page(strand, range, None, count - out.len(), out).await?;
            rest = next.map(|from| TimeRange { from, ..range });
        }
        Ok(())
    }

    /// A part of the span that, as far as summaries of blocks tell, holds as many instances as are wanted.
    async fn narrow(&self, source: &Source, span: TimeSpan, bound: Bound) -> Result<TimeSpan, Error> {
        let Some(strand) = &source.strand else {
            return Ok(span);
        };
        let strands = &self.state().pasts.strands;
        let blocks = strands.blocks(strand, TimeRange::ALL).await?;
        let inside = |block: &Summary| {
            span.contains(micros(block.observed_first)) && span.contains(micros(block.observed_last))
        };
        let mut blocks: Vec<(i64, i64, u32)> = blocks
            .iter()
            .filter(|(block, is_touched)| !is_touched && observes(block, span) && inside(block))
            .map(|(block, _)| (block.observed_first, block.observed_last, block.count))
            .collect();
        let (mut left, mut first, mut last) = (bound.count(), i64::MAX, i64::MIN);
        match bound {
            Bound::First(_) => blocks.sort_unstable_by_key(|(_, last, _)| *last),
            Bound::Last(_) => blocks.sort_unstable_by_key(|(first, _, _)| std::cmp::Reverse(*first)),
        }
        for (from, to, count) in blocks {
            (first, last) = (first.min(from), last.max(to));
            left = left.saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
            if left == 0 {
                return Ok(match bound {
                    Bound::First(_) => TimeSpan { to: Timestamp(micros(last).0.saturating_add(1)), ..span },
                    Bound::Last(_) => TimeSpan { from: micros(first), ..span },
                });
            }
        }
        Ok(span)
    }
}

impl Selected {
    /// Those of `points` within the span, in order, cut to the bound.
    fn new(points: Points, time: TimeProperty, span: TimeSpan, bound: Bound) -> Self {
        let places = 0..u32::try_from(points.len()).unwrap_or(u32::MAX);
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

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// The time of the last instance, or of the first one where the last are wanted: where more of them may follow.
    pub(super) fn edge(&self, bound: Bound) -> Option<Timestamp> {
        let edge = match bound {
            Bound::First(_) => self.order.last(),
            Bound::Last(_) => self.order.first(),
        };
        edge.map(|(time, _)| Timestamp(*time))
    }

    /// The time of the first instance.
    pub(super) fn first(&self) -> Option<Timestamp> {
        self.order.first().map(|(time, _)| Timestamp(*time))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The instances, as columns in their order. Cost: nothing if they are all points as they were read.
    pub(super) fn into_points(self) -> Points {
        let whole = self.order.len() == self.points.len();
        if whole && self.order.iter().zip(0..).all(|((_, place), index)| *place == index) {
            return self.points;
        }
        pick(&self.points, &self.order)
    }

    /// The instances as points in the order they were written.
    fn into_written(mut self) -> Points {
        self.order.sort_unstable_by_key(|(_, place)| *place);
        self.into_points()
    }

    /// Leaves out what lies outside of the span, and gives its memory back.
    pub(super) fn retain(&mut self, span: TimeSpan) {
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
        let (Some(name), Some(note)) =
            (renamed.get_mut(*note as usize), points.notes.dictionary.get(*note as usize))
        else {
            continue;
        };
        if *name == u32::MAX {
            *name = u32::try_from(out.notes.dictionary.len()).unwrap_or(u32::MAX);
            out.notes.dictionary.push(note.clone());
        }
        out.notes.places.push(*name);
    }
    out
}

impl Selected {
    /// The times of the instances in nanoseconds, and the instances, in order.
    pub(super) fn into_columns(self) -> (Vec<i64>, Points) {
        let times = self.order.iter().map(|(time, _)| nanos(Timestamp(*time))).collect();
        (times, self.into_points())
    }
}

/// The time of an instance that is asked for, in microseconds; `None` if it has none.
pub(super) fn time_of(points: &Points, index: usize, time: TimeProperty) -> Option<i64> {
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
pub(super) fn cut(found: &mut [&mut Selected], request: &HistoryRequest) -> Option<TimeSpan> {
    let times = found.iter().flat_map(|one| one.order.iter().map(|(time, _)| Timestamp(*time)));
    let mut times: Vec<Timestamp> = times.collect();
    let covered = request.part(&mut times)?;
    found.iter_mut().for_each(|one| one.retain(covered));
    Some(covered)
}
