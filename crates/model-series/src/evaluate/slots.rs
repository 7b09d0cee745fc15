//! From points to slots: stored or computed points go in, the slots of an answer come out, with their gaps as they are.

use std::sync::Arc;

use super::around::Around;
use super::fetch::{fetch_page, is_of_blocks, take_quotations, take_strand};
use super::following::Search;
use super::operands;
use super::plan::Plan;
use super::reader::Reader;
use crate::{Definition, Error};
use strands::{Points, TimeRange};

impl Reader {
    /// The answer named by times of `range`, which has both ends, with its gaps as they are: stored or computed points go in,
    /// slots come out. What is known of the last point before is used, and noted for what follows.
    pub(super) async fn unfilled(
        &self,
        series: &Arc<Definition>,
        plan: &Plan,
        range: TimeRange,
        around: &mut Around,
    ) -> Result<Points, Error> {
        let times = plan.times(range);
        let mut making = plan.making(range);
        if plan.wants_held() {
            making.take_points(self.held_before(series, times.from, &around.held).await?);
        }
        if let Some(formula) = &series.formula {
            self.take_computed(series, formula, times, (&mut making, &mut around.computed)).await?;
        } else if let Some(strand) = self.single_strand(series)? {
            take_strand(self.context(), &strand, times, self.request().as_of, &mut making).await?;
        } else {
            let page_points = self.sizes.page_points;
            take_quotations(self.context(), series, (times, page_points), self.state(), &mut making).await?;
        }
        if plan.wants_held() {
            around.held.note(times.to, making.last());
        }
        Ok(making.finish())
    }

    /// `range` with ends where there are points; `None` if there are none. Ranges with ends are left alone.
    pub(super) async fn bounded(
        &self,
        series: &Arc<Definition>,
        plan: &Plan,
        range: TimeRange,
    ) -> Result<Option<TimeRange>, Error> {
        if range.from > i64::MIN && range.to < i64::MAX {
            return Ok(Some(range));
        }
        let Some(extent) = operands::extent(self.context(), series, self.state()).await? else {
            return Ok(None);
        };
        let ends = plan.names(extent);
        let from = if range.from == i64::MIN { ends.from } else { range.from };
        let to = if range.to == i64::MAX { ends.to } else { range.to };
        Ok((from < to).then_some(TimeRange { from, to }))
    }

    /// The first page of an answer over `rest`, with its gaps as they are, and its times; what is known of the last point before
    /// is used, and noted for what follows.
    pub(super) async fn page(
        &self,
        series: &Arc<Definition>,
        plan: &Plan,
        rest: TimeRange,
        points_max: usize,
        around: &mut Around,
    ) -> Result<(TimeRange, Points), Error> {
        if plan.answer().raster().is_some() || series.is_computed() {
            let page = TimeRange { to: self.page_end(series, plan, rest, points_max), ..rest };
            plan.check_slots(page)?;
            return Ok((page, self.unfilled(series, plan, page, around).await?));
        }
        // Points without slots: how many there are, only reading shows.
        let (points, next) = fetch_page(self.context(), series, rest, points_max, self.state()).await?;
        let page = TimeRange { to: next.unwrap_or(rest.to), ..rest };
        let mut making = plan.making(page);
        making.take_points(points);
        Ok((page, making.finish()))
    }

    /// Where the first page of an answer over `rest` ends.
    pub(super) fn page_end(
        &self,
        series: &Definition,
        plan: &Plan,
        rest: TimeRange,
        points_max: usize,
    ) -> i64 {
        plan.page_end(rest, points_max, is_of_blocks(series, self.state()))
    }

    /// Where to read on from `from` after a page without a point: nothing is answered before.
    pub(super) async fn following(
        &self,
        series: &Arc<Definition>,
        plan: &Plan,
        from: i64,
        to: i64,
    ) -> Result<Option<i64>, Error> {
        let times = plan.times(TimeRange { from, to });
        let next = Search::new(self.context(), self.request()).next(series, times.from).await?;
        let named = next.map(|next| plan.names(TimeRange { from: next, to: next.saturating_add(1) }).from);
        Ok(named.map(|named| named.max(from)).filter(|named| *named < to))
    }
}
