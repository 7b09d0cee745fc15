//! Answers read whole: all points of a range, of one series or of many.

use std::sync::Arc;

use super::fetch::all_of;
use super::pages::Progress;
use super::plan::check_read;
use super::reader::Reader;
use crate::{Definition, Error};
use strands::{Points, Strand, TimeRange};

/// Points that are read at once where all are wanted.
const READ_POINTS: usize = 1024 * 1024;

impl Reader {
    /// All points of `range`, which are in memory; those they are made of do so page by page.
    ///
    /// # Errors
    ///
    /// As [`Reader::read_page`]; [`Error::Limit`] for a range of too many slots, or too many points.
    pub async fn read(&self, series: &Arc<Definition>, range: TimeRange) -> Result<Points, Error> {
        if range.from > i64::MIN && range.to < i64::MAX {
            self.plan(series, range)?.check_slots(range)?;
        }
        let (mut points, mut progress) = (Points::default(), Progress::new(range));
        while self.read_page(series, &mut progress, READ_POINTS, &mut points).await? {
            check_read(points.len() as u64)?;
        }
        Ok(points)
    }

    /// All points of `range` of many series, outcomes in order. All are in memory: the caller bounds what it asks
    /// for. Cost: as [`Reader::read`]; series answered as they are stored come from the strands in one go.
    pub async fn read_many(
        &self,
        series: &[Arc<Definition>],
        range: TimeRange,
    ) -> Vec<Result<Points, Error>> {
        let stored: Vec<_> = series.iter().map(|series| self.as_stored(series, range)).collect();
        let wanted: Vec<_> = stored.iter().flatten().cloned().collect();
        let others = series.iter().zip(&stored).filter(|(_, stored)| stored.is_none());
        let others: Vec<_> = others.map(|(series, _)| Box::pin(self.read(series, range))).collect();
        let mut others = all_of(others).await.into_iter();
        let mut fetched = self.fetch_many(&wanted).await.into_iter();
        let outcomes = stored.iter().map(|stored| {
            let outcome = if stored.is_some() { fetched.next() } else { others.next() };
            outcome.expect("each series was read in one of two ways")
        });
        outcomes.collect()
    }

    async fn fetch_many(&self, wanted: &[(Strand, TimeRange)]) -> Vec<Result<Points, Error>> {
        if wanted.is_empty() {
            return Vec::new();
        }
        let outcomes = self.context().strands.read_many(wanted).await;
        outcomes.into_iter().map(|outcome| outcome.map_err(Error::from)).collect()
    }

    /// The strand that holds the answer as it is, and its times; `None` if something is to be made of it.
    fn as_stored(&self, series: &Definition, range: TimeRange) -> Option<(Strand, TimeRange)> {
        let plan = self.plan(series, range).ok()?;
        let is_plain = plan.is_identity() && self.request().as_of.is_none() && range.to < i64::MAX;
        let strand = self.single_strand(series).ok()??;
        is_plain.then(|| (strand, plan.selected(range)))
    }
}
