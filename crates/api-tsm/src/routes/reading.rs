//! Reads of points: what a request asks for, put to the model page by page.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use model_series::{
    Answer, Definition, Points, Progress, Raster, ReadRequest, Reader, Repository, TimeRange, TotalPages,
    Zone,
};

use super::slots::Slots;
use crate::params::ReadGiven;
use crate::problem::Problem;
use crate::state::Limits;
use crate::times::{Moment, library_zone};
use crate::wire::{Form, PointsWriter, SeriesHead, Shape};

/// Points of a page.
const PAGE_POINTS: usize = 16 * 1024;
/// Slots up to which a series is read at once with others.
const TOGETHER_SLOTS_MAX: u64 = 16 * 1024;
/// Bytes of text that a point takes, about.
const POINT_BYTES: usize = 64;

/// A read of one or many series; clones share.
#[derive(Clone)]
pub(super) struct Reading {
    reader: Arc<Reader>,
    from: Option<Moment>,
    to: Option<Moment>,
    /// In which times are written.
    zone: Zone,
    pub(super) stall_max: Duration,
    /// The most slots of the answer, and those that were counted so far.
    slots_max: u64,
    slots_counted: Arc<AtomicU64>,
}

impl Reading {
    /// A read of `series`. Times are written in the zone that the request names, else in that of the series if
    /// they all have one, else in UTC; a date for which there is one instant for all is midnight of that zone.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub(super) async fn new(
        repository: &Repository,
        given: ReadGiven,
        series: &[Arc<Definition>],
        limits: &Limits,
    ) -> Result<Self, Problem> {
        let common = || common_zone(series);
        let zone = given.zone().cloned().or_else(common).unwrap_or_else(Zone::utc);
        let (from, to) = (given.from, given.to);
        let request = given.request(&zone)?;
        let slots_max = limits.answer_slots_max;
        let request = ReadRequest { answer_slots_max: Some(slots_max), ..request };
        let reader = Arc::new(repository.reader(request).await?);
        let slots_counted = Arc::default();
        Ok(Self { reader, from, to, zone, stall_max: limits.stall_max, slots_max, slots_counted })
    }

    /// Refuses an answer of so many slots if they are more than the limit.
    fn check_slots(&self, slots: u64) -> Result<(), Problem> {
        if slots <= self.slots_max {
            return Ok(());
        }
        let max = self.slots_max;
        Err(Problem::too_large(format!(
            "the answer has {slots} slots and more: at most {max} are (answer_slots_max)"
        )))
    }

    /// Counts the slots of a page.
    fn count_slots(&self, points: &Points) -> Result<(), Problem> {
        let count = points.len() as u64;
        self.check_slots(self.slots_counted.fetch_add(count, Ordering::Relaxed).saturating_add(count))
    }

    /// What writes the body.
    pub(super) fn writer(&self, form: Form, shape: Shape) -> PointsWriter {
        PointsWriter::new(form, shape, &library_zone(&self.zone))
    }

    fn request(&self) -> &ReadRequest {
        self.reader.request()
    }

    /// The range that is asked for; dates are those of the zone that the client reads in.
    pub(super) fn range(&self, series: &Definition) -> Result<TimeRange, Problem> {
        let zone = self.request().zone.as_ref().unwrap_or(&series.zone);
        let at = |name: &str, moment: Option<Moment>, otherwise: i64| match moment {
            None => Ok(otherwise),
            Some(Moment::Instant(time)) => Ok(time),
            Some(moment) => moment
                .in_zone(&library_zone(zone))
                .map_err(|reason| Problem::bad_request(format!("parameter {name}: {reason}"))),
        };
        let range = TimeRange { from: at("from", self.from, i64::MIN)?, to: at("to", self.to, i64::MAX)? };
        if range.from > range.to {
            return Err(Problem::bad_request("parameter to: it must not be before from"));
        }
        Ok(range)
    }

    /// How the points of a series will lie; refuses what cannot be read as it is asked for.
    pub(super) fn answer(&self, series: &Definition, form: Form) -> Result<(Answer, TimeRange), Problem> {
        let range = self.range(series)?;
        let answer = self.reader.answer(series, range).map_err(|error| about(&error, series))?;
        if form == Form::Compact && answer.raster.is_none() {
            let message =
                format!("series {} has no raster, so it cannot be given in compact form", series.name);
            return Err(Problem::bad_request(message).about(&*series.name));
        }
        Ok((answer, range))
    }

    /// Refuses series that cannot be read as it is asked for, and too many slots where they can be counted
    /// before anything is read.
    pub(super) fn check(&self, series: &[Arc<Definition>], form: Form) -> Result<(), Problem> {
        let mut slots = 0_u64;
        for series in series {
            slots = slots.saturating_add(self.answer(series, form)?.0.slots_made);
        }
        self.check_slots(slots)
    }

    /// The pages of a series.
    pub(super) fn pages(&self, series: &Arc<Definition>, form: Form) -> Result<SeriesPages, Problem> {
        let (answer, range) = self.answer(series, form)?;
        let slots = Slots::new(answer, form);
        Ok(SeriesPages {
            reading: self.clone(),
            series: Arc::clone(series),
            slots,
            range,
            progress: Progress::new(range),
            is_again: false,
        })
    }

    /// Whole series, read in one go; `None` for those that are better read in pages.
    pub(super) async fn read_together(
        &self,
        pages: &mut [SeriesPages],
    ) -> Vec<Option<Result<Points, Problem>>> {
        let Some(range) = pages.first().map(|pages| pages.range) else { return Vec::new() };
        let is_together = |pages: &SeriesPages| pages.range == range && pages.is_short();
        let series: Vec<_> =
            pages.iter().filter(|pages| is_together(pages)).map(|pages| Arc::clone(&pages.series)).collect();
        let mut read = self.reader.read_many(&series, range).await.into_iter();
        let mut outcomes = Vec::with_capacity(pages.len());
        for pages in pages {
            let outcome = if is_together(pages) { read.next() } else { None };
            outcomes.push(outcome.map(|outcome| {
                let points = outcome.map_err(|error| about(&error, &pages.series))?;
                pages.laid_out(points)
            }));
        }
        outcomes
    }

    /// The pages of the sum of many series, worked out by so many tasks at most.
    ///
    /// # Errors
    ///
    /// If the series do not add up, or cannot be read as it is asked for.
    pub(super) async fn total_pages(
        &self,
        series: &[Arc<Definition>],
        form: Form,
        tasks: usize,
    ) -> Result<Pages, Problem> {
        let first = series.first().ok_or_else(|| {
            Problem::bad_request(
                "no series has the attributes that are asked for: there is nothing to add up",
            )
        })?;
        let (answer, range) = self.answer(first, form)?;
        let pages = self.reader.total_pages(series, range, tasks).await?;
        let (slots, series) = (Slots::new(answer, form), Arc::clone(first));
        Ok(Pages::Total(Box::new(TotalOfSeries {
            reading: self.clone(),
            series,
            slots,
            pages,
            is_again: false,
        })))
    }
}

/// What an answer about one series is written of, page by page.
pub(super) enum Pages {
    /// The points of a series.
    Series(Box<SeriesPages>),
    /// The sum of many.
    Total(Box<TotalOfSeries>),
}

impl Pages {
    /// What is said besides the points.
    pub(super) fn head(&self) -> SeriesHead<'_> {
        match self {
            Self::Series(pages) => pages.head(),
            Self::Total(total) => total.head(),
        }
    }

    /// What a page takes, about.
    pub(super) fn bytes_guessed(&self) -> usize {
        match self {
            Self::Series(pages) => pages.bytes_guessed(),
            Self::Total(_) => 256,
        }
    }

    /// The next page; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Points>, Problem> {
        match self {
            Self::Series(pages) => pages.next().await,
            Self::Total(total) => total.next().await,
        }
    }

    /// Goes back to the first page; as all pages are of one moment, they come again as they were.
    pub(super) fn rewind(&mut self) {
        match self {
            Self::Series(pages) => pages.rewind(),
            Self::Total(total) => total.rewind(),
        }
    }
}

/// The sum of many series, page by page.
pub(super) struct TotalOfSeries {
    reading: Reading,
    /// The first of them, on whose slots the sum lies.
    series: Arc<Definition>,
    slots: Slots,
    pages: TotalPages,
    /// Whether its slots were counted before.
    is_again: bool,
}

impl TotalOfSeries {
    fn head(&self) -> SeriesHead<'_> {
        SeriesHead {
            id: 0,
            name: "Sum",
            unit: self.slots.unit(),
            interval: self.slots.interval(),
            zone: self.reading.zone.name(),
        }
    }

    async fn next(&mut self) -> Result<Option<Points>, Problem> {
        let Some(points) = self.pages.next().await? else { return Ok(None) };
        if points.is_empty() {
            tokio::task::yield_now().await;
        }
        let points = self.slots.lay_out(points, &self.series)?;
        if !self.is_again {
            self.reading.count_slots(&points)?;
        }
        Ok(Some(points))
    }

    fn rewind(&mut self) {
        self.pages.rewind();
        self.slots.rewind();
        self.is_again = true;
    }
}

/// The zone that series have if it is the same for all.
pub(super) fn common_zone(series: &[Arc<Definition>]) -> Option<Zone> {
    let (first, rest) = series.split_first()?;
    let is_common = rest.iter().all(|other| other.zone == first.zone);
    is_common.then(|| first.zone.clone())
}

/// Words a refusal of the model about a series.
fn about(error: &model_series::Error, series: &Definition) -> Problem {
    let problem = Problem::from(error).mentioned();
    if problem.details.is_empty() { problem.about(&*series.name) } else { problem }
}

/// The points of one series, page by page.
pub(super) struct SeriesPages {
    reading: Reading,
    series: Arc<Definition>,
    slots: Slots,
    range: TimeRange,
    progress: Progress,
    /// Whether its slots were counted before.
    is_again: bool,
}

impl SeriesPages {
    /// What is said of the series besides its points.
    pub(super) fn head(&self) -> SeriesHead<'_> {
        SeriesHead {
            id: self.series.number,
            name: &self.series.name,
            unit: self.slots.unit(),
            interval: self.slots.interval(),
            zone: self.reading.zone.name(),
        }
    }

    /// Slots of the answer and of what is stored, about, whichever are more; `None` if the range is open.
    fn slots_max(&self) -> Option<u64> {
        let TimeRange { from, to } = self.range;
        if from == i64::MIN || to == i64::MAX {
            return None;
        }
        // Counting them would take as long as the range is.
        let about = |raster: &Raster| {
            let slot = raster.slot(from);
            to.abs_diff(from) / slot.to.abs_diff(slot.from).max(1) + 1
        };
        let stored = about(self.series.raster.as_ref()?);
        Some(stored.max(about(self.slots.raster()?)))
    }

    /// Whether all points fit into a page, so that the series may be read at once with others.
    fn is_short(&self) -> bool {
        !self.series.is_computed() && self.slots_max().is_some_and(|slots| slots <= TOGETHER_SLOTS_MAX)
    }

    /// What a page takes, about.
    pub(super) fn bytes_guessed(&self) -> usize {
        let count = self.slots_max().and_then(|slots| usize::try_from(slots).ok()).unwrap_or(0);
        count.min(PAGE_POINTS).saturating_mul(POINT_BYTES) + 256
    }

    fn rewind(&mut self) {
        self.progress.rewind();
        self.slots.rewind();
        self.is_again = true;
    }

    /// The next page; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Points>, Problem> {
        if self.progress.is_at_end() {
            return Ok(None);
        }
        let (reader, mut points) = (&self.reading.reader, Points::default());
        let read = reader.read_page(&self.series, &mut self.progress, PAGE_POINTS, &mut points).await;
        read.map_err(|error| about(&error, &self.series))?;
        if points.is_empty() {
            // A long range with few points is many pages that come from memory: other tasks may run in between.
            tokio::task::yield_now().await;
        }
        self.laid_out(points).map(Some)
    }

    /// The points of a page as the form has them, which count for the answer.
    fn laid_out(&mut self, points: Points) -> Result<Points, Problem> {
        let points = self.slots.lay_out(points, &self.series)?;
        if !self.is_again {
            self.reading.count_slots(&points)?;
        }
        Ok(points)
    }
}
