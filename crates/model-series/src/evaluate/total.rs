//! Sums of many series: groups of them are added up by several tasks at once, page by page, in an order that hangs on
//! nothing but the order of the series.

use std::sync::Arc;

use futures_util::StreamExt as _;

use super::around::Around;
use super::fetch::{all_of, append};
use super::plan::check_read;
use super::{Answer, Reader};
use crate::{Definition, Error};
use rasters::Total;
use strands::{Points, TimeRange};

/// Series that are added up one after the other; what they come to is added to that of the series before.
const GROUP_SERIES: usize = 16;
/// Slots of a page of a sum, or points of one series that go into it.
const PAGE_POINTS: usize = 64 * 1_024;

/// A task that ends when nobody waits for it any more.
pub(super) struct Awaited<T>(pub(super) tokio::task::JoinHandle<T>);

impl<T> Drop for Awaited<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A sum of many series, answered page by page. Memory: for each task a sum and the answers of a group of series, none longer
/// than a page.
#[derive(Debug)]
pub struct TotalPages {
    reader: Arc<Reader>,
    groups: Vec<Group>,
    /// What was asked for.
    range: TimeRange,
    /// The times of the answer.
    names: TimeRange,
    /// Where the next page begins; none at the end.
    next: Option<i64>,
    /// Slots of a page, or points of one series that go into it.
    page_points: usize,
    tasks: usize,
}

/// Series that are added up one after the other.
#[derive(Debug)]
struct Group {
    series: Arc<[Arc<Definition>]>,
    /// What the gaps of each are filled from.
    around: Vec<Around>,
}

impl Reader {
    /// The sum of many series over `range`, in pages: the worst flag wins, and where a series has no value the sum is of the
    /// others, flagged missing. It is worked out by `tasks` tasks at most; values are added in an order that does not hang
    /// on them: the sums of each 16 series, in the order of the series.
    ///
    /// Cost: where the range has no ends, a look-up for each series.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the series do not come to one raster, alignment and unit (the request can name an interval
    /// and a unit), or are spontaneous without an interval; as [`Reader::answer`].
    pub async fn total_pages(
        self: &Arc<Self>,
        series: &[Arc<Definition>],
        range: TimeRange,
        tasks: usize,
    ) -> Result<TotalPages, Error> {
        self.check_alike(series, range)?;
        let names = self.names_of_total(series, range).await?;
        let groups = series
            .chunks(GROUP_SERIES)
            .map(|series| Group { series: series.into(), around: vec![Around::default(); series.len()] });
        let (reader, groups) = (Arc::clone(self), groups.collect());
        let (next, page_points, tasks) = (Some(names.from), PAGE_POINTS, tasks.max(1));
        Ok(TotalPages { reader, groups, range, names, next, page_points, tasks })
    }

    /// The sum of many series over `range`, which is in memory. Tasks end with the call, also where it fails or is
    /// dropped. Cost: that of reading, shared by the tasks; some nanoseconds for each value.
    ///
    /// # Errors
    ///
    /// As [`Reader::total_pages`] and [`Reader::read`].
    pub async fn total(
        self: &Arc<Self>,
        series: &[Arc<Definition>],
        range: TimeRange,
        tasks: usize,
    ) -> Result<Points, Error> {
        let mut pages = self.total_pages(series, range, tasks).await?;
        let mut all = Points::default();
        while let Some(page) = pages.next().await? {
            check_read((all.len() + page.len()) as u64)?;
            append(&mut all, page);
        }
        Ok(all)
    }

    /// The times that a sum is answered for: ends that are not given are those of what the series hold.
    async fn names_of_total(&self, series: &[Arc<Definition>], range: TimeRange) -> Result<TimeRange, Error> {
        let names = series.iter().map(|one| {
            Box::pin(async move {
                let plan = self.plan(one, range)?;
                let names = self.bounded(one, &plan, plan.selected(range)).await?;
                names.map(|names| self.check_made(one, &plan, names)).transpose()?;
                Ok::<_, Error>(names)
            })
        });
        let mut all: Option<TimeRange> = None;
        for names in all_of(names.collect()).await {
            let Some(names) = names? else {
                continue;
            };
            let seen = all.get_or_insert(names);
            *seen = TimeRange { from: seen.from.min(names.from), to: seen.to.max(names.to) };
        }
        Ok(all.unwrap_or(TimeRange { from: 0, to: 0 }))
    }

    /// Refuses series that do not add up.
    fn check_alike(&self, series: &[Arc<Definition>], range: TimeRange) -> Result<(), Error> {
        let mut common: Option<Answer> = None;
        for one in series {
            let answer = Answer { slots_made: 0, ..self.answer(one, range)? };
            if answer.raster.is_none() {
                let text = format!(
                    "series {} is spontaneous: its values add up by interval, and none is given",
                    one.name
                );
                return Err(Error::Invalid(text));
            }
            let common = common.get_or_insert_with(|| answer.clone());
            if *common != answer {
                let text =
                    format!("series {} is of another raster, alignment or unit than the others", one.name);
                return Err(Error::Invalid(text));
            }
        }
        Ok(())
    }
}

impl TotalPages {
    #[cfg(test)]
    pub(super) fn in_pages_of(self, page_points: usize) -> Self {
        Self { page_points, ..self }
    }

    /// Goes back to the first page: all are of one moment, so they come again as they were.
    pub fn rewind(&mut self) {
        self.next = Some(self.names.from);
        for group in &mut self.groups {
            group.around = vec![Around::default(); group.series.len()];
        }
    }

    /// The next page, which may be empty; `None` at the end. Cost: that of reading the series over the page.
    ///
    /// # Errors
    ///
    /// As [`Reader::read_page`].
    pub async fn next(&mut self) -> Result<Option<Points>, Error> {
        let Some(from) = self.next.filter(|from| *from < self.names.to) else {
            return Ok(None);
        };
        let page = TimeRange { from, to: self.page_end(from)? };
        let (points, arounds) = self.page(page).await?;
        let next = match points.is_empty() {
            _ if page.to >= self.names.to => None,
            true => self.following(page.to).await?,
            false => Some(page.to),
        };
        // Only now: a page that fails, or that nobody waits for, can be asked for again.
        self.next = next;
        for (group, around) in self.groups.iter_mut().zip(arounds) {
            group.around = around;
        }
        Ok(Some(points))
    }

    /// Where a page ends that is not too long for any of the series.
    fn page_end(&self, from: i64) -> Result<i64, Error> {
        let rest = TimeRange { from, to: self.names.to };
        let mut end = rest.to;
        for one in self.groups.iter().flat_map(|group| &*group.series) {
            let plan = self.reader.plan(one, self.range)?;
            end = end.min(self.reader.page_end(one, &plan, rest, self.page_points));
        }
        Ok(end)
    }

    /// The sums of a page, and what the gaps of the next one are filled from, of each group.
    async fn page(&self, page: TimeRange) -> Result<(Points, Vec<Vec<Around>>), Error> {
        let (reader, ranges) = (&self.reader, (self.range, self.names, page));
        let totals = self.groups.iter().map(|group| {
            let (reader, series) = (Arc::clone(reader), Arc::clone(&group.series));
            let around = group.around.clone();
            async move {
                let task = tokio::spawn(async move { reader.group_total(&series, ranges, around).await });
                Awaited(task).ended().await?
            }
        });
        let mut totals = futures_util::stream::iter(totals.collect::<Vec<_>>()).buffered(self.tasks);
        let (mut total, mut arounds) = (None, Vec::with_capacity(self.groups.len()));
        while let Some(next) = totals.next().await {
            let (next, around): (Total, _) = next?;
            match &mut total {
                None => total = Some(next),
                Some(total) => total.merge(&next),
            }
            arounds.push(around);
        }
        Ok((total.unwrap_or_default().finish(), arounds))
    }

    /// Where to read on from `from` after a page without a point.
    async fn following(&self, from: i64) -> Result<Option<i64>, Error> {
        let mut next: Option<i64> = None;
        for one in self.groups.iter().flat_map(|group| &*group.series) {
            let plan = self.reader.plan(one, self.range)?;
            let own = self.reader.following(one, &plan, from, self.names.to).await?;
            next = [next, own].into_iter().flatten().min();
            if next == Some(from) {
                break;
            }
        }
        Ok(next)
    }
}

impl<T> Awaited<T> {
    /// What the task comes to.
    async fn ended(mut self) -> Result<T, Error> {
        (&mut self.0).await.map_err(|error| {
            store::Error::new(store::ErrorKind::Unavailable, "add up series").with_source(error).into()
        })
    }
}

impl Reader {
    /// What a group comes to over the page of a sum named by `names`, and what the gaps of its next page are filled from.
    async fn group_total(
        self: Arc<Self>,
        group: &[Arc<Definition>],
        (range, names, page): (TimeRange, TimeRange, TimeRange),
        mut around: Vec<Around>,
    ) -> Result<(Total, Vec<Around>), Error> {
        // Each computed series reads others: they take turns.
        let at_once = if group.iter().any(|one| one.is_computed()) { 1 } else { GROUP_SERIES };
        let answers = group.iter().zip(&mut around).map(|(one, around)| {
            let reader = Arc::clone(&self);
            Box::pin(async move {
                let plan = reader.plan(one, range)?;
                plan.check_slots(page)?;
                let points = reader.unfilled(one, &plan, page, around).await?;
                reader.filled(one, &plan, (names, page), points, around).await
            })
        });
        let mut answers = futures_util::stream::iter(answers.collect::<Vec<_>>()).buffered(at_once);
        let mut total = Total::default();
        while let Some(points) = answers.next().await {
            total.add(&points?);
        }
        drop(answers);
        Ok((total, around))
    }
}
