//! An answer about one series, page by page.

use std::sync::Arc;

use super::around::Around;
use super::fetch::append;
use super::plan::Plan;
use super::reader::Reader;
use crate::{Definition, Error};
use strands::{Points, TimeRange};

/// How far an answer about one series was read, and what is carried from page to page.
#[derive(Clone, Debug)]
pub struct Progress {
    /// What is asked for.
    range: TimeRange,
    /// The times of the answer, with both ends; not known before a page is made that is not stored as it is.
    names: Option<TimeRange>,
    /// Where the next page begins; none at the end.
    next: Option<i64>,
    around: Around,
}

impl Progress {
    /// Nothing of `range` was read so far.
    pub fn new(range: TimeRange) -> Self {
        Self { range, names: None, next: Some(range.from), around: Around::default() }
    }

    /// Goes back to the beginning; what one reader reads is of one moment, so it comes again as it was.
    pub fn rewind(&mut self) {
        (self.next, self.around) = (Some(self.range.from), Around::default());
    }

    /// Whether all was read.
    pub fn is_at_end(&self) -> bool {
        self.next.is_none()
    }
}

impl Reader {
    /// Appends the next page of an answer, about `points_max` points at most, to `out`, and answers whether more is left.
    /// Points of its range are those of the slots that [begin in it](crate::Layout::selected), of right-aligned series those
    /// of the slots that lie in it; slots are whole, whatever the range cuts.
    ///
    /// A range without end ends with what the last point held stands for (a spontaneous one: itself). All that is found around
    /// a page (ends that are not given, values that gaps are filled from or that hold) is carried in `progress`, which must be
    /// of this series alone.
    ///
    /// Cost: that of the strands, and of the columns. Where nothing is answered for a page, the next one begins with what is
    /// held next: time without points costs nothing, however long it is and however fine the slots. Memory: about a page.
    ///
    /// # Errors
    ///
    /// As [`Reader::answer`]; [`Error::Limit`] for too many slots to compute one of; if the store refuses, or stored bytes are
    /// damaged.
    pub async fn read_page(
        &self,
        series: &Arc<Definition>,
        progress: &mut Progress,
        points_max: usize,
        out: &mut Points,
    ) -> Result<bool, Error> {
        let Some(from) = progress.next else {
            return Ok(false);
        };
        let plan = self.plan(series, progress.range)?;
        let names = plan.selected(progress.range);
        let rest = TimeRange { from: from.max(names.from), to: names.to };
        progress.next = if rest.is_empty() {
            None
        } else if plan.is_identity()
            && let Some(strand) = self.single_strand(series)?
        {
            // The answer is what is stored: blocks are copied, and nothing else is asked.
            self.context().strands.read_page(&strand, rest, self.request().as_of, points_max, out).await?
        } else {
            // Apart, so that reads of what is stored need no room for it.
            Box::pin(self.make_page(series, &plan, (progress, rest.from), points_max, out)).await?
        };
        Ok(progress.next.is_some())
    }

    /// The same of an answer that is not stored as it is; answers where the next page begins.
    async fn make_page(
        &self,
        series: &Arc<Definition>,
        plan: &Plan,
        (progress, from): (&mut Progress, i64),
        points_max: usize,
        out: &mut Points,
    ) -> Result<Option<i64>, Error> {
        let names = match progress.names {
            Some(names) => names,
            None => {
                let Some(names) = self.bounded(series, plan, plan.selected(progress.range)).await? else {
                    return Ok(None);
                };
                self.check_made(series, plan, names)?;
                *progress.names.insert(names)
            }
        };
        let rest = TimeRange { from: from.max(names.from), to: names.to };
        if rest.is_empty() {
            return Ok(None);
        }
        // A page that fails, or that nobody waits for, can be asked for again.
        let mut around = progress.around.clone();
        let (page, points) = self.page(series, plan, rest, points_max, &mut around).await?;
        let answer = self.filled(series, plan, (names, page), points, &mut around).await?;
        let next = if page.to >= rest.to {
            None
        } else if answer.is_empty() {
            self.following(series, plan, page.to, rest.to).await?
        } else {
            Some(page.to)
        };
        append(out, answer);
        progress.around = around;
        Ok(next)
    }
}
