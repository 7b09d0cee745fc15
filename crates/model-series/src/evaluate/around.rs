//! What gaps are filled from that reach beyond a page: found once, and carried from page to page.

use std::sync::Arc;

use super::Reader;
use super::plan::Plan;
use super::reader::valued;
use crate::flags::is_absent;
use crate::{Definition, Error, Gaps, Neighbours, Points, TimeRange};

/// Points that are read at once to find the next value.
const SEARCH_POINTS: usize = 16 * 1_024;

/// Values around the page of one series that is read next, in an answer that is read page by page from its beginning.
#[derive(Clone, Debug, Default)]
pub(super) struct Around {
    /// The last value before the page; not looked for before the first.
    before: Option<Option<(i64, f64)>>,
    /// The first value behind a page before, as far as anybody looked.
    after: Option<Option<(i64, f64)>>,
}

impl Reader {
    /// The answer named by times of `page`, a part of `range`, with its gaps filled as if all of `range` were read at once.
    /// Cost: that of the page; what follows a gap at its end is looked for once.
    pub(super) async fn filled(
        &self,
        series: &Arc<Definition>,
        plan: &Plan,
        (range, page): (TimeRange, TimeRange),
        around: &mut Around,
    ) -> Result<Points, Error> {
        let points = self.unfilled(series, plan, page).await?;
        if !plan.fills_from_values() {
            return plan.fill(points, page, Neighbours::default());
        }
        let (outside_before, outside_after) = plan.outside(range);
        let before = match around.before {
            Some(before) => before,
            None => valued(&self.unfilled(series, plan, outside_before).await?).next_back(),
        };
        let ends_with_gap = points.times.last().is_none_or(|last| !plan.is_last_name(*last, page))
            || points.flags.last().is_some_and(|flag| is_absent(*flag));
        let mut neighbours = Neighbours { before, after: None };
        if plan.fills_with(Gaps::Linear) && ends_with_gap {
            let known = around.after.filter(|after| after.is_none_or(|(time, _)| time >= page.to));
            let after = match known {
                Some(after) => after,
                None => self.next_value(series, plan, TimeRange { from: page.to, to: outside_after }).await?,
            };
            around.after = Some(after);
            neighbours.after = after;
        }
        around.before = Some(valued(&points).next_back().or(before));
        plan.fill(points, page, neighbours)
    }

    /// The first value of an answer over `range`.
    async fn next_value(
        &self,
        series: &Arc<Definition>,
        plan: &Plan,
        range: TimeRange,
    ) -> Result<Option<(i64, f64)>, Error> {
        let mut next = Some(range.from).filter(|_| !range.is_empty());
        while let Some(from) = next {
            let page = TimeRange { from, to: plan.piece_end(from, range, SEARCH_POINTS) };
            let points = self.unfilled(series, plan, page).await?;
            if let Some(found) = valued(&points).next() {
                return Ok(Some(found));
            }
            next = match (page.to < range.to, points.is_empty()) {
                (false, _) => None,
                (true, false) => Some(page.to),
                (true, true) => self.following(series, plan, page.to, range.to).await?,
            };
        }
        Ok(None)
    }
}
