//! Sums of many series: groups of them are added up by several tasks at once, in an order that hangs on nothing but the
//! order of the series.

use std::sync::Arc;

use futures_util::StreamExt as _;

use super::plan::READ_SLOTS_MAX;
use super::{Answer, Reader};
use crate::{Definition, Error, Points, TimeRange, Total};

/// Series that are added up one after the other; what they come to is added to that of the series before.
const GROUP_SERIES: usize = 16;
/// Stored points up to which the series of a group are read at once.
const TOGETHER_POINTS_MAX: u64 = 64 * 1_024;

/// A task that ends when nobody waits for it any more.
pub(super) struct Awaited<T>(pub(super) tokio::task::JoinHandle<T>);

impl<T> Drop for Awaited<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Reader {
    /// The sum of many series over `range`: the worst flag wins, and where a series has no value the sum is of the
    /// others, flagged missing. It is worked out by `tasks` tasks at most, fewer where sums may be long (one if the range
    /// has no ends); values are added in an order that does not hang on them: the sums of each 16 series, in the order
    /// of the series. Tasks end with the call, also where it fails or is dropped.
    ///
    /// Cost: that of reading, shared by the tasks; some nanoseconds for each value. Memory: for each task a page of
    /// one series (of 16 short ones), its answer, and a sum.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the series do not come to one raster, alignment and unit (the request can name an interval
    /// and a unit), or are spontaneous without an interval; as [`Reader::read`].
    pub async fn total(
        self: &Arc<Self>,
        series: &[Arc<Definition>],
        range: TimeRange,
        tasks: usize,
    ) -> Result<Points, Error> {
        self.check_alike(series, range)?;
        let Some(first) = series.first() else {
            return Ok(Points::default());
        };
        // All have the same slots. Sums that stand in memory at once are no longer than one may be, if all are full;
        // what the first series hold says nothing of the others.
        let slots = self.plan(first, range)?.slots_about(range);
        let together = usize::try_from(READ_SLOTS_MAX / slots.max(1)).unwrap_or(usize::MAX);
        let tasks = together.clamp(1, tasks.max(1));
        let groups = series.chunks(GROUP_SERIES).map(<[_]>::to_vec);
        let totals = groups.map(|group| {
            let reader = Arc::clone(self);
            async move {
                let mut task = Awaited(tokio::spawn(async move { reader.group_total(&group, range).await }));
                (&mut task.0).await.map_err(|error| {
                    store::Error::new(store::ErrorKind::Unavailable, "add up series").with_source(error)
                })?
            }
        });
        let mut totals = futures_util::stream::iter(totals).buffered(tasks);
        let mut total = totals.next().await.transpose()?.unwrap_or_default();
        while let Some(next) = totals.next().await {
            total.merge(&next?);
        }
        Ok(total.finish())
    }

    /// Refuses series that do not add up.
    fn check_alike(&self, series: &[Arc<Definition>], range: TimeRange) -> Result<(), Error> {
        let mut common: Option<Answer> = None;
        for one in series {
            let answer = self.answer(one, range)?;
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

    async fn group_total(&self, group: &[Arc<Definition>], range: TimeRange) -> Result<Total, Error> {
        let mut total = Total::default();
        let mut are_short = true;
        for one in group {
            are_short &= self.plan(one, range)?.points_about(range) <= TOGETHER_POINTS_MAX;
        }
        if are_short {
            for points in self.read_many(group, range).await {
                total.add(&points?);
            }
        } else {
            for one in group {
                total.add(&self.read(one, range).await?);
            }
        }
        Ok(total)
    }
}
