//! Aggregates a past: blocks by their summaries where that is enough, else points in columns.

use std::ops::ControlFlow;

use smallvec::SmallVec;
use strands::{ColumnSet, Columns, Part, Strand, Summary, TimeRange, Wanted};

use super::buckets::Buckets;
use super::tally::{Needs, Tally};
use super::{AggregateHistory, AggregateMethod, Period};
use crate::history::note::{Class, Point, UNOBSERVED_FLAG, micros, nanos};
use crate::history::read::{Source, watched};
use crate::history::select::{Bound, observes, range_of};
use crate::history::{HistoryRequest, TimeProperty, TimeSpan};
use crate::{Error, Kind, TenantEntities, TermId, Timestamp};

/// How often aggregates start again because what was fresh was folded meanwhile.
const ATTEMPTS_MAX: usize = 8;
/// Attributes and datasets are aggregated by so many tasks at once.
const TASKS_MAX: usize = 8;

impl TenantEntities {
    /// Aggregates of an entity's past: for each attribute and dataset of the request (whose `last_n` takes the last
    /// instances first, and whose `instances_max` does not count here). Buckets begin at the begin of the span; where all of
    /// time is asked for, at the first of all instances; where only the begin is open, at whole periods since 1970 (weeks: on
    /// Mondays). `None`: the entity has no past, and is not there.
    ///
    /// Cost: some nanoseconds for each number, read in blocks; blocks that lie inside one bucket are not read, unless for
    /// `distinctCount` and `stddev`, and of others no more columns than are needed. One block of each attribute stands in memory at
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
        let mut job = Job {
            time: request.time,
            span: request.span,
            last_n: request.last_n,
            methods: methods.into(),
            needs: Needs::of(methods),
            buckets: Buckets::new(period, request.span),
        };
        let mut lock = None;
        for _ in 0..ATTEMPTS_MAX {
            // Scopes are no values that a method is meant for.
            let wants = |attribute, dataset: Option<&str>| {
                attribute != TermId::SCOPE && request.wants(attribute, dataset)
            };
            let sources = self.sources(id, wants).await?;
            if sources.is_empty() && self.history(id).await?.is_none() {
                return Ok(None);
            }
            let watched = watched(&sources);
            if let Some(period) = period.filter(|period| period.begins_with_the_first(request.span)) {
                let first = self.first_of(&sources, &job).await?.map(|first| period.starting_at(first));
                job.buckets = Buckets::new(first.as_ref().or(Some(period)), request.span);
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
        Err(Error::Contention(id.into()))
    }

    /// The time of the first instance that is aggregated. Cost: the block it is in, of each attribute.
    async fn first_of(&self, sources: &[Source], job: &Job) -> Result<Option<Timestamp>, Error> {
        let bound = job.last_n.map_or(Bound::First(1), Bound::Last);
        let mut first: Option<Timestamp> = None;
        for source in sources {
            let found = self.select(source, job.time, job.span, bound).await?.first();
            first = [first, found].into_iter().flatten().min();
        }
        Ok(first)
    }

    /// Aggregates of all sources, by attribute and dataset.
    async fn aggregate_all(&self, sources: Vec<Source>, job: &Job) -> Result<Vec<AggregateHistory>, Error> {
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
        found.sort_by(|one, other| (one.attribute, &one.dataset).cmp(&(other.attribute, &other.dataset)));
        Ok(found)
    }

    async fn aggregate(&self, source: Source, job: Job) -> Result<AggregateHistory, Error> {
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
        let mut run = Run::new(&source, &job);
        run.add(&times, &points.columns());
        Ok(run.finish())
    }

    /// Aggregates block by block, then what is fresh; `None` if that goes back in time, and must be sorted first.
    async fn aggregate_blocks(
        &self,
        strand: &Strand,
        source: &Source,
        job: &Job,
    ) -> Result<Option<AggregateHistory>, Error> {
        let strands = &self.state().pasts.strands;
        let fresh = source.fresh.columns();
        let is_told = kind_of_last(&fresh).is_some();
        let mut run = Run::new(source, job);
        let mut in_order = true;
        let want = |block: &Summary, is_last: bool| job.want(block, is_last && !is_told);
        let mut show = |part: Part<'_>| {
            in_order = run.add_part(&part);
            if in_order { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        strands.visit(strand, range_of_property(job.time, job.span), &want, &mut show).await?;
        if !in_order || !run.add(job.times_of(&fresh), &fresh) {
            return Ok(None);
        }
        let mut found = run.finish();
        if found.kind.is_none() && !found.buckets.is_empty() {
            let last = strands.read_last(strand, TimeRange::ALL, 1).await?;
            found.kind = kind_of_last(&last.columns());
        }
        Ok(Some(found))
    }
}

/// The kind of the last point that is no removal, if its note is there.
fn kind_of_last(points: &Columns<'_>) -> Option<Kind> {
    let mut points = (0..points.len()).rev().map(|index| Point::of(points, index));
    points.find(|point| point.class != Class::Removal)?.note().map(|note| note.kind())
}

/// The times of points that can be in the span.
fn range_of_property(time: TimeProperty, span: TimeSpan) -> TimeRange {
    if time == TimeProperty::ModifiedAt { range_of(span) } else { TimeRange::ALL }
}

/// What is to be computed.
#[derive(Clone, Debug)]
struct Job {
    time: TimeProperty,
    span: TimeSpan,
    last_n: Option<usize>,
    methods: SmallVec<[AggregateMethod; 8]>,
    needs: Needs,
    buckets: Buckets,
}

impl Job {
    /// What is wanted of a block; of one that is to tell the kind, its notes.
    fn want(&self, block: &Summary, tells_kind: bool) -> Wanted {
        if self.time == TimeProperty::ObservedAt && !observes(block, self.span) {
            return Wanted::Nothing;
        }
        let alone = self.bounds_in_bucket(block).is_some();
        let all_valued = block.values == block.count;
        if alone && all_valued && self.needs.summary_is_enough() && !tells_kind {
            return Wanted::Summary;
        }
        let by_observed = self.time == TimeProperty::ObservedAt;
        Wanted::Columns(ColumnSet {
            times: !alone && !by_observed,
            observed: !alone && by_observed,
            notes: tells_kind || self.needs.notes_of(block.flag_max),
        })
    }

    /// First and last time of a block that lies in one bucket and in the span.
    fn bounds_in_bucket(&self, block: &Summary) -> Option<(i64, i64)> {
        let (first, last) = self.bounds(block)?;
        let mut buckets = self.buckets.clone();
        buckets.seek(first);
        let inside = self.span.contains(micros(first)) && self.span.contains(micros(last));
        (inside && buckets.holds(first) && buckets.holds(last)).then_some((first, last))
    }

    /// First and last time of a block; `None` where some of it has none, or is too late to be told from the end of the span.
    fn bounds(&self, block: &Summary) -> Option<(i64, i64)> {
        let (first, last) = match self.time {
            TimeProperty::ModifiedAt => (block.first, block.last),
            _ if block.flag_max >= UNOBSERVED_FLAG => return None,
            _ => (block.observed_first, block.observed_last),
        };
        (self.placed(last) != i64::MAX).then(|| (self.placed(first), self.placed(last)))
    }

    /// Where a time stands among buckets. Times that are too late for nanoseconds stand at the end of time, which no bucket
    /// holds: where the span is open, right before it.
    fn placed(&self, time: i64) -> i64 {
        if self.span.to.0 == i64::MAX { time.min(i64::MAX - 1) } else { time }
    }

    /// The column of the times that count.
    fn times_of<'a>(&self, points: &Columns<'a>) -> &'a [i64] {
        if self.time == TimeProperty::ModifiedAt { points.times } else { points.observed }
    }
}

/// The filling of buckets, in the order of time.
struct Run<'j> {
    job: &'j Job,
    buckets: Buckets,
    /// Whether the bucket at hand is one that was turned to.
    begun: bool,
    tally: Tally,
    found: AggregateHistory,
}

impl<'j> Run<'j> {
    fn new(source: &Source, job: &'j Job) -> Self {
        let found = AggregateHistory {
            attribute: source.attribute,
            dataset: source.dataset.clone(),
            columns: job.methods.iter().map(|_| Vec::new()).collect(),
            ..AggregateHistory::default()
        };
        Self { job, buckets: job.buckets.clone(), begun: false, tally: Tally::default(), found }
    }

    /// Answers false if it goes back in time: then all is to be sorted.
    fn add_part(&mut self, part: &Part<'_>) -> bool {
        let (block, points) = match part {
            Part::Stretch(points) => return self.add(self.job.times_of(points), points),
            Part::Block(block, points) => (block, Some(points)),
            Part::Summary(block) => (block, None),
        };
        let Some((first, last)) = self.job.bounds_in_bucket(block) else {
            return points.is_none_or(|points| self.add(self.job.times_of(points), points));
        };
        if !self.turn_to(first) {
            return false;
        }
        self.note_times(first, last);
        match points {
            Some(points) => {
                self.found.kind = kind_of_last(points).or(self.found.kind);
                self.tally.add(points, self.job.needs);
            }
            None => self.tally.add_summary(block),
        }
        true
    }

    /// Adds points by these times, in runs of one bucket; answers false if they go back to an earlier bucket.
    fn add(&mut self, times: &[i64], points: &Columns<'_>) -> bool {
        self.found.kind = kind_of_last(points).or(self.found.kind);
        let job = self.job;
        let (from, to) = (job.placed(nanos(job.span.from)), nanos(job.span.to));
        let is_sorted = is_sorted(times);
        let mut at = 0;
        while let Some(time) = times.get(at) {
            let placed = job.placed(*time);
            if placed < from || placed >= to {
                at += 1;
                continue;
            }
            if !self.turn_to(placed) {
                return false;
            }
            let (start, end) = (self.buckets.start.max(from), self.buckets.end.min(to));
            let rest = times.get(at..).unwrap_or_default();
            let run = if is_sorted {
                rest.partition_point(|time| job.placed(*time) < end)
            } else {
                let is_outside = |time: &i64| !(start..end).contains(&job.placed(*time));
                rest.iter().position(is_outside).unwrap_or(rest.len())
            };
            if self.buckets.is_one() {
                let run = rest.get(..run).unwrap_or_default();
                let first = run.iter().min().unwrap_or(time);
                self.note_times(*first, *run.iter().max().unwrap_or(time));
            }
            self.tally.add(&points.part(&(at..at + run)), self.job.needs);
            at += run;
        }
        true
    }

    /// Turns to the bucket of `time`.
    fn turn_to(&mut self, time: i64) -> bool {
        if self.buckets.holds(time) {
            return true;
        }
        if self.begun && time < self.buckets.start {
            return false;
        }
        self.begun = true;
        self.close();
        self.buckets.seek(time);
        true
    }

    /// The one bucket for all is shown from its first to its last instance, where the span is open.
    fn note_times(&mut self, first: i64, last: i64) {
        if self.tally.count == 0 {
            (self.tally.first, self.tally.last) = (first, last);
        } else {
            self.tally.first = self.tally.first.min(first);
            self.tally.last = self.tally.last.max(last);
        }
    }

    /// Writes the bucket down, if anything is in it.
    fn close(&mut self) {
        if self.tally.count > 0 {
            let shown = self.buckets.shown(self.job.span, self.tally.first, self.tally.last);
            self.found.buckets.push(shown);
            for (method, column) in self.job.methods.iter().zip(&mut self.found.columns) {
                column.push(self.tally.value(*method, &mut self.found.texts));
            }
        }
        self.tally.clear();
    }

    fn finish(mut self) -> AggregateHistory {
        self.close();
        self.found
    }
}

/// Whether times do not go back. Cost: a pass of plain arithmetic, of which processors do several at a time, as of comparisons
/// of 64 bits not all of them do.
fn is_sorted(times: &[i64]) -> bool {
    // Below zero if the next is less; what follows the difference sets its sign right where it overflows.
    let fall = |time: i64, next: i64| {
        let difference = next.wrapping_sub(time);
        difference ^ ((next ^ time) & (difference ^ next))
    };
    let next = times.get(1..).unwrap_or_default();
    times.iter().zip(next).fold(0, |all, (time, next)| all | fall(*time, *next)) >= 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::is_sorted;

    proptest! {
        #[test]
        fn times_are_sorted_if_none_is_less_than_the_one_before(
            times in prop::collection::vec(prop_oneof![any::<i64>(), -3..3_i64, Just(i64::MIN), Just(i64::MAX)], 0..6),
        ) {
            prop_assert_eq!(is_sorted(&times), times.is_sorted());
            let mut sorted = times;
            sorted.sort_unstable();
            prop_assert!(is_sorted(&sorted));
        }
    }
}
