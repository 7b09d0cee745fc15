//! Instances of one attribute and dataset within a span of time, the first or last of them.

use model_series::{Piece, Points, Summary, TimeRange, UNOBSERVED};
use store::Timestamp;

use super::merge::append;
use super::note::{Class, MICROSECOND, Point, micros, nanos};
use super::read::Source;
use super::{TimeProperty, TimeSpan};
use crate::{Error, TenantEntities};

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

impl Bound {
    fn count(self) -> usize {
        match self {
            Self::First(count) | Self::Last(count) => count,
        }
    }
}

impl TenantEntities {
    /// The first or last instances within the span. Cost: the blocks they are in; for `observedAt` those that may hold
    /// them, for `createdAt` all.
    pub(super) async fn select(
        &self,
        source: &Source,
        time: TimeProperty,
        span: TimeSpan,
        bound: Bound,
    ) -> Result<Selected, Error> {
        let mut points = Points::default();
        match time {
            TimeProperty::ModifiedAt => self.read_written(source, range_of(span), bound, &mut points).await?,
            TimeProperty::ObservedAt => {
                let narrow = self.narrow(source, span, bound).await?;
                self.read_wanted(source, &|block| observes(block, narrow), &mut points).await?;
                append(&mut points, &source.fresh);
                let selected = Selected::new(points, time, narrow, bound);
                if narrow == span || selected.len() >= bound.count() {
                    return Ok(selected);
                }
                // Blocks held instances that were not observed at all.
                points = Points::default();
                self.read_wanted(source, &|block| observes(block, span), &mut points).await?;
            }
            TimeProperty::CreatedAt => self.read_wanted(source, &|_| true, &mut points).await?,
            TimeProperty::DeletedAt => {
                // A removal has no value.
                let removes = |block: &Summary| block.values < block.count;
                self.read_wanted(source, &removes, &mut points).await?;
            }
        }
        append(&mut points, &source.fresh);
        Ok(Selected::new(points, time, span, bound))
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
        let strands = &self.context().pasts.strands;
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

    async fn read_wanted(
        &self,
        source: &Source,
        is_wanted: &(dyn Fn(&Summary) -> bool + Sync),
        out: &mut Points,
    ) -> Result<(), Error> {
        let Some(strand) = &source.strand else {
            return Ok(());
        };
        let strands = &self.context().pasts.strands;
        for piece in strands.read_pieces(strand, TimeRange::ALL, is_wanted, &|_| false).await? {
            if let Piece::Points(points) = piece {
                out.extend_from_range(&points, 0..points.len());
            }
        }
        Ok(())
    }

    /// A part of the span that, as far as summaries of blocks tell, holds as many instances as are wanted.
    async fn narrow(&self, source: &Source, span: TimeSpan, bound: Bound) -> Result<TimeSpan, Error> {
        let Some(strand) = &source.strand else {
            return Ok(span);
        };
        let strands = &self.context().pasts.strands;
        let pieces =
            strands.read_pieces(strand, TimeRange::ALL, &|block| observes(block, span), &|_| true).await?;
        let inside = |block: &Summary| {
            span.contains(micros(block.observed_first)) && span.contains(micros(block.observed_last))
        };
        let mut blocks: Vec<(i64, i64, u32)> = pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Whole(block) if inside(block) => {
                    Some((block.observed_first, block.observed_last, block.count))
                }
                _ => None,
            })
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
        if !order.is_sorted() {
            order.sort_unstable();
        }
        match bound {
            Bound::First(count) => order.truncate(count),
            Bound::Last(count) => drop(order.drain(..order.len().saturating_sub(count))),
        }
        Self { points, order }
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
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
        let points = self.points;
        let pick = |place: &(i64, u32)| place.1 as usize;
        let mut out = Points::default();
        out.times.extend(self.order.iter().filter_map(|at| points.times.get(pick(at))));
        out.values.extend(self.order.iter().filter_map(|at| points.values.get(pick(at))));
        out.flags.extend(self.order.iter().filter_map(|at| points.flags.get(pick(at))));
        out.observed.extend(self.order.iter().filter_map(|at| points.observed.get(pick(at))));
        out.notes.places.extend(self.order.iter().filter_map(|at| points.notes.places.get(pick(at))));
        out.notes.dictionary = points.notes.dictionary;
        out
    }
}

impl Selected {
    /// The times of the instances in nanoseconds, and the instances, in order.
    pub(super) fn into_columns(self) -> (Vec<i64>, Points) {
        let times = self.order.iter().map(|(time, _)| nanos(Timestamp(*time))).collect();
        (times, self.into_points())
    }
}

/// The time of an instance that is asked for, in microseconds; `None` if it has none.
fn time_of(points: &Points, index: usize, time: TimeProperty) -> Option<i64> {
    let point = Point::new(points, index);
    match time {
        TimeProperty::ModifiedAt => Some(micros(point.time).0),
        TimeProperty::ObservedAt => point.observed_at().map(|time| time.0),
        TimeProperty::CreatedAt if point.class == Class::Removal => None,
        TimeProperty::CreatedAt => Some(point.created_at().0),
        TimeProperty::DeletedAt => (point.class == Class::Removal).then(|| micros(point.time).0),
    }
}

/// Cuts what was found to so many instances in all, and to one span for all attributes: the earliest part, or the latest
/// for the last ones. Answers that span, or `None` if nothing had to go.
pub(super) fn cut(
    found: &mut [&mut Selected],
    span: TimeSpan,
    bound: Bound,
    instances_max: usize,
) -> Option<TimeSpan> {
    let mut times: Vec<i64> = found.iter().flat_map(|one| one.order.iter().map(|(time, _)| *time)).collect();
    if times.len() <= instances_max {
        return None;
    }
    let covered = match bound {
        Bound::First(_) => {
            let (_, end, _) = times.select_nth_unstable(instances_max);
            let end = *end;
            // A page goes on: at least one instant is covered.
            let first = times.iter().min().copied().unwrap_or(end);
            TimeSpan { to: Timestamp(if end > first { end } else { end.saturating_add(1) }), ..span }
        }
        Bound::Last(_) => {
            let place = times.len() - instances_max - 1;
            let (_, start, _) = times.select_nth_unstable(place);
            let start = *start;
            let last = times.iter().max().copied().unwrap_or(start);
            TimeSpan { from: Timestamp(if start < last { start.saturating_add(1) } else { start }), ..span }
        }
    };
    for one in found {
        one.order.retain(|(time, _)| covered.contains(Timestamp(*time)));
    }
    Some(covered)
}
