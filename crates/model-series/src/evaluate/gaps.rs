//! Gaps of a page are filled as if the whole answer were read at once: from values before and after the page.

use std::sync::Arc;

use super::around::Around;
use super::pace::rest_after;
use super::plan::Plan;
use super::reader::{Reader, valued};
use crate::{Definition, Error, Gaps};
use rasters::Neighbours;
use strands::{Points, TimeRange};

impl Reader {
    /// The answer named by times of `page`, a part of `range`, that comes of the `points` with its gaps as they are. They are
    /// filled as if all of `range` were read at once. Cost: what lies before the range, and what follows a gap at the end of
    /// a page, is looked for once.
    pub(super) async fn filled(
        &self,
        series: &Arc<Definition>,
        plan: &Plan,
        (range, page): (TimeRange, TimeRange),
        points: Points,
        around: &mut Around,
    ) -> Result<Points, Error> {
        if !plan.fills_from_values() {
            return plan.fill(points, page, Neighbours::default());
        }
        let (outside_before, outside_after) = plan.outside(range);
        let before = match around.before {
            Some(before) => before,
            None if plan.begins_with_value(&points, page) => None,
            None => self.last_value(series, plan, outside_before, &mut around.computed).await?,
        };
        let mut neighbours = Neighbours { before, after: None };
        if plan.fills_with(Gaps::Linear) && !plan.ends_with_value(&points, page) {
            let known = around.after.filter(|after| after.is_none_or(|(time, _)| time >= page.to));
            neighbours.after = match known {
                Some(after) => after,
                None => {
                    let rest = TimeRange { from: page.to, to: outside_after };
                    self.next_value(series, plan, rest, around).await?
                }
            };
            around.after = Some(neighbours.after);
        }
        around.before = Some(valued(&points).next_back().or(before));
        plan.fill(points, page, neighbours)
    }

    /// The last value of an answer over `range`, which is looked for from its end, in parts of ever more slots.
    async fn last_value(
        &self,
        series: &Arc<Definition>,
        plan: &Plan,
        range: TimeRange,
        computed: &mut u64,
    ) -> Result<Option<(i64, f64)>, Error> {
        let Some(raster) = plan.answer().raster() else {
            return Ok(None);
        };
        let (mut to, mut slots) = (range.to, 1);
        while range.from < to {
            let part = TimeRange { from: raster.shift(to, -slots).max(range.from), to };
            if part.is_empty() {
                break;
            }
            let points = self.passed_over(series, plan, part, computed).await?;
            if let Some(found) = valued(&points).next_back() {
                return Ok(Some(found));
            }
            (to, slots) = (part.from, slots * 2);
        }
        Ok(None)
    }

    /// The answer named by times of `range`, gaps as they are; of computed series from where something is held on.
    async fn passed_over(
        &self,
        series: &Arc<Definition>,
        plan: &Plan,
        range: TimeRange,
        computed: &mut u64,
    ) -> Result<Points, Error> {
        let from = match series.is_computed() {
            true => self.following(series, plan, range.from, range.to).await?,
            false => Some(range.from),
        };
        let Some(from) = from else {
            return Ok(Points::default());
        };
        let mut around = Around { computed: *computed, ..Around::default() };
        let points = self.unfilled(series, plan, TimeRange { from, ..range }, &mut around).await?;
        *computed = around.computed;
        Ok(points)
    }

    /// The first value of an answer over `range`, the page before which has `around` it. Other tasks run between pages.
    async fn next_value(
        &self,
        series: &Arc<Definition>,
        plan: &Plan,
        range: TimeRange,
        around: &mut Around,
    ) -> Result<Option<(i64, f64)>, Error> {
        let mut own = Around { held: around.held.clone(), computed: around.computed, ..Around::default() };
        let mut next = Some(range.from).filter(|_| !range.is_empty());
        let mut found = None;
        while let Some(from) = next {
            let rest = TimeRange { from, to: range.to };
            let (page, points) = self.page(series, plan, rest, self.sizes.search_points, &mut own).await?;
            found = valued(&points).next();
            next = match (page.to < range.to, points.is_empty()) {
                _ if found.is_some() => None,
                (false, _) => None,
                (true, false) => Some(page.to),
                (true, true) => self.following(series, plan, page.to, range.to).await?,
            };
            rest_after(self.sizes.search_points).await;
        }
        around.computed = own.computed;
        Ok(found)
    }
}
