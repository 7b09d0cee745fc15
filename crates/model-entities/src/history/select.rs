//! Instances of one attribute and dataset within a span of time, the first or last of them.
//!
//! Blocks are read some at a time, and of what they hold no more is kept than may be among those that are wanted: an
//! answer costs memory for itself, not for the history it is taken from.

#[cfg(test)]
mod tests;

use entity::history::merge::append;
use entity::history::note::micros;
use entity::history::select::{observes, range_of};
use entity::{Error, TimeProperty, TimeSpan, keys};
use store::Timestamp;
use strands::{Points, Strand, Summary, TimeRange};

pub(super) use entity::history::select::{Bound, Selected, Wanted, cut, time_of};

use super::source::Source;
use crate::TenantEntities;

/// Points that are read at once, about; few in tests, so that they see pages.
const PAGE_POINTS: usize = if cfg!(test) { 64 } else { 1 << 16 };

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
        // Blocks contain instances that were not observed at all, or removed.
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
        let strands = &self.state().histories.strands;
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
        let strands = &self.state().histories.strands;
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
        let strands = &self.state().histories.strands;
        let blocks = strands.blocks(strand).await?;
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
