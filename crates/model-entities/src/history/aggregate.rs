//! Aggregates a history: blocks by their summaries where that is enough, else points in columns.

#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use entity::history::aggregate::{Aggregation, Aggregator, kind_of_last};
use entity::{AggregateHistory, AggregateMethod, Error, HistoryRequest, Period, TermId, TimeProperty};
use store::retry::RetryBackoff;
use strands::{Part, Strand, Summary, TimeRange};

use super::read::watched;
use super::select::Bound;
use super::source::Source;
use crate::{TenantEntities, Timestamp};

/// How often aggregates start again because what was fresh was folded meanwhile.
const BACKOFF: RetryBackoff = RetryBackoff::at_once(8);
/// Attributes and datasets are aggregated by so many tasks at once.
const TASKS_MAX: usize = 8;

impl TenantEntities {
    /// Aggregates of an entity's history: for each attribute and dataset of the request (whose `last_n` takes the last
    /// instances first, and whose `instances_max` does not count here). Buckets begin at the begin of the span; where all of
    /// time is asked for, at the first of all instances; where only the begin is open, at whole periods since 1970 (weeks: on
    /// Mondays). `None`: the entity has no history, and is not there.
    ///
    /// Cost: some nanoseconds for each number, read in blocks; blocks that lie inside one bucket are not read, unless for
    /// `distinctCount` and `stddev`, and of others no more columns than are needed. One block of each attribute is in memory at
    /// once. But instances whose observedAt goes back and forth are all read, and sorted first.
    ///
    /// # Errors
    ///
    /// If the store refuses, or stored bytes are damaged.
    pub async fn aggregate_history(
        &self,
        id: &str,
        request: &HistoryRequest,
        methods: &[AggregateMethod],
        period: Option<&Period>,
    ) -> Result<Option<Vec<AggregateHistory>>, Error> {
        let mut job = Aggregation::new(request, methods, period);
        let mut lock = None;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            // Scopes are no values that a method is meant for.
            let wants = |attribute, dataset: Option<&str>| {
                attribute != TermId::SCOPE && request.wants(attribute, dataset)
            };
            let sources = self.sources(id, wants).await?;
            if sources.is_empty() && self.history(id).await?.is_none() {
                return Ok(None);
            }
            let watched = watched(&sources);
            if job.begins_with_first() {
                let first = self.first_of(&sources, &job).await?;
                job.begin_at(first);
            }
            let found = self.aggregate_all(sources, &job).await?;
            if !self.has_moved(&watched).await? {
                return Ok(Some(found));
            }
            // What was fresh may have been counted in a block, too. While the lock is ours nothing is folded.
            if lock.is_none() {
                lock = Some(self.lock_history(id).await);
            }
        }
        Err(attempts.exhausted(id).into())
    }

    /// The time of the first instance that is aggregated. Cost: the block it is in, of each attribute.
    async fn first_of(&self, sources: &[Source], job: &Aggregation) -> Result<Option<Timestamp>, Error> {
        let bound = job.last_n.map_or(Bound::First(1), Bound::Last);
        let mut first: Option<Timestamp> = None;
        for source in sources {
            let found = self.select(source, job.time, job.span, bound).await?.first();
            first = [first, found].into_iter().flatten().min();
        }
        Ok(first)
    }

    /// Aggregates of all sources, by attribute and dataset.
    async fn aggregate_all(
        &self,
        sources: Vec<Source>,
        job: &Aggregation,
    ) -> Result<Vec<AggregateHistory>, Error> {
        let mut found = Vec::with_capacity(sources.len());
        let mut sources = sources.into_iter();
        loop {
            let tasks: Vec<_> = sources
                .by_ref()
                .take(TASKS_MAX)
                .map(|source| {
                    let (entities, job) = (self.clone(), job.clone());
                    tokio::spawn(async move { entities.aggregate(source, job).await })
                })
                .collect();
            if tasks.is_empty() {
                break;
            }
            for task in tasks {
                let gone = |_| store::Error::new(store::ErrorKind::Unavailable, "aggregating an attribute");
                found.push(task.await.map_err(gone)??);
            }
        }
        found.retain(|one| !one.buckets.is_empty());
        found.sort_by(|one, other| {
            (one.attribute(), one.dataset()).cmp(&(other.attribute(), other.dataset()))
        });
        Ok(found)
    }

    async fn aggregate(&self, source: Source, job: Aggregation) -> Result<AggregateHistory, Error> {
        let in_columns = match job.time {
            TimeProperty::ObservedAt => true,
            TimeProperty::ModifiedAt => !self.is_changed(&source).await?,
            TimeProperty::CreatedAt | TimeProperty::DeletedAt => false,
        };
        if in_columns
            && job.last_n.is_none()
            && let Some(strand) = &source.strand
            && let Some(found) = self.aggregate_blocks(strand, &source, &job).await?
        {
            return Ok(found);
        }
        let bound = job.last_n.map_or(Bound::First(usize::MAX), Bound::Last);
        let (times, points) = self.select(&source, job.time, job.span, bound).await?.into_columns();
        let mut aggregator = Aggregator::new(source.attribute, source.dataset.clone(), &job);
        aggregator.add_sorted(&times, &points.columns());
        Ok(aggregator.finish())
    }

    /// Aggregates block by block, then what is fresh; `None` if that goes back in time, or has times that columns do not tell: then it must
    /// be sorted first.
    async fn aggregate_blocks(
        &self,
        strand: &Strand,
        source: &Source,
        job: &Aggregation,
    ) -> Result<Option<AggregateHistory>, Error> {
        let strands = &self.state().histories.strands;
        let fresh = source.fresh.columns();
        let is_told = kind_of_last(&fresh).is_some();
        let mut aggregator = Aggregator::new(source.attribute, source.dataset.clone(), job);
        let mut in_order = true;
        let want = |block: &Summary, is_last: bool| job.want(block, is_last && !is_told);
        let mut show = |part: Part<'_>| {
            in_order = aggregator.add_part(&part);
            if in_order { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        strands.visit(strand, job.range(), &want, &mut show).await?;
        if !in_order || !aggregator.add(job.times_of(&fresh), &fresh) {
            return Ok(None);
        }
        let mut found = aggregator.finish();
        if found.kind.is_none() && !found.buckets.is_empty() {
            let last = strands.read_last(strand, TimeRange::ALL, 1).await?;
            found.kind = kind_of_last(&last.columns());
        }
        Ok(Some(found))
    }
}
