//! Aggregates a past: blocks by their summaries where that is enough, else points in columns.

use model_series::{Piece, Points, Summary, TimeRange};
use smallvec::SmallVec;

use super::buckets::Buckets;
use super::tally::{Needs, Tally};
use super::{AggregateHistory, AggregateMethod, Period};
use crate::history::merge::append;
use crate::history::note::{Class, Point, UNOBSERVED_FLAG, micros, nanos};
use crate::history::read::{Source, watched};
use crate::history::select::{Bound, observes, range_of};
use crate::history::{HistoryRequest, TimeProperty, TimeSpan};
use crate::{Error, Kind, TenantEntities};

/// Points that stand in memory at once, about, of each attribute and dataset: few, so that their columns stay in the
/// processor's cache and their memory with the allocator.
const POINTS_AT_ONCE: u64 = 1 << 14;
/// How often aggregates start again because what was fresh was folded meanwhile.
const ATTEMPTS_MAX: usize = 8;
/// Attributes and datasets are aggregated by so many tasks at once.
const TASKS_MAX: usize = 8;

impl TenantEntities {
    /// Aggregates of an entity's past: for each attribute and dataset of the request (whose `last_n` takes the last
    /// instances first, and whose `instances_max` does not count here). Buckets begin at the begin of the span; where that is
    /// open, at whole periods since 1970 (weeks: on Mondays). `None`: the entity has no past, and is not there.
    ///
    /// Cost: some nanoseconds for each number, read in blocks; blocks that lie inside one bucket are not read, unless for
    /// `distinctCount` and `stddev`. Instances whose observedAt goes back and forth are sorted first. Some blocks of
    /// each attribute stand in memory at once, but for those to be sorted.
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
        let job = Job {
            time: request.time,
            span: request.span,
            last_n: request.last_n,
            methods: methods.into(),
            needs: Needs::of(methods),
            buckets: Buckets::new(period, request.span),
        };
        let mut turn = None;
        for _ in 0..ATTEMPTS_MAX {
            let sources = self.sources(id, |attribute, dataset| request.wants(attribute, dataset)).await?;
            if sources.is_empty() && self.history(id).await?.is_none() {
                return Ok(None);
            }
            let watched = watched(&sources);
            let found = self.aggregate_all(sources, &job).await?;
            if !self.has_moved(&watched).await? {
                return Ok(Some(found));
            }
            // What was fresh may have been counted in a block, too. While the turn is ours nothing is folded.
            turn = turn.or(self.turn(id).await);
        }
        Err(Error::Contention(id.into()))
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
        let (time, span) = (job.time, job.span);
        let in_columns = matches!(time, TimeProperty::ObservedAt | TimeProperty::ModifiedAt);
        if let Some(of_strand) = source.strand.as_ref().filter(|_| in_columns && job.last_n.is_none()) {
            let mut run = Run::new(&source, &job);
            let strands = &self.context().pasts.strands;
            let wanted = move |block: &Summary| time == TimeProperty::ModifiedAt || observes(block, span);
            let mut in_order = true;
            for range in self.ranges(&source, range_of_property(time, span), &wanted).await? {
                let whole = |block: &Summary| job.is_whole(block);
                let mut pieces = strands.read_pieces(of_strand, range, &wanted, &whole).await?;
                if range.to == i64::MAX || range.to == range_of(span).to {
                    add_fresh(&mut pieces, &source.fresh);
                }
                in_order &= pieces.iter().all(|piece| run.add_piece(piece));
            }
            if in_order {
                let mut found = run.finish();
                if found.kind.is_none() && !found.buckets.is_empty() {
                    // No block was read.
                    let last = strands.read_last(of_strand, TimeRange::ALL, 1).await?;
                    found.kind = kind_of_last(&last);
                }
                return Ok(found);
            }
        }
        let bound = job.last_n.map_or(Bound::First(usize::MAX), Bound::Last);
        let (times, points) = self.select(&source, time, span, bound).await?.into_columns();
        let mut run = Run::new(&source, &job);
        run.add(&times, &points);
        Ok(run.finish())
    }

    /// The range in parts of which each has not too many points.
    async fn ranges(
        &self,
        source: &Source,
        range: TimeRange,
        wanted: &(dyn Fn(&Summary) -> bool + Sync),
    ) -> Result<SmallVec<[TimeRange; 1]>, Error> {
        let mut ranges = SmallVec::new();
        let Some(strand) = &source.strand else {
            return Ok(ranges);
        };
        let strands = &self.context().pasts.strands;
        let (mut from, mut held) = (range.from, 0);
        for piece in strands.read_pieces(strand, range, wanted, &|_| true).await? {
            let (first, count) = match &piece {
                Piece::Whole(block) => (block.first, u64::from(block.count)),
                Piece::Points(points) => (points.times.first().copied().unwrap_or(from), points.len() as u64),
            };
            if held > 0 && held + count > POINTS_AT_ONCE {
                ranges.push(TimeRange { from, to: first });
                (from, held) = (first, 0);
            }
            held += count;
        }
        ranges.push(TimeRange { from, to: range.to });
        Ok(ranges)
    }
}

/// The kind of the last point that is no removal.
fn kind_of_last(points: &Points) -> Option<Kind> {
    let mut points = (0..points.len()).rev().map(|index| Point::new(points, index));
    points.find(|point| point.class != Class::Removal)?.note().map(|note| note.kind())
}

/// Fresh points follow the last of a strand, or are among them.
fn add_fresh(pieces: &mut Vec<Piece>, fresh: &Points) {
    match pieces.last_mut() {
        Some(Piece::Points(points)) => append(points, fresh),
        _ if fresh.is_empty() => {}
        _ => pieces.push(Piece::Points(fresh.clone())),
    }
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
    /// Whether a block lies in one bucket, and its summary is enough.
    fn is_whole(&self, block: &Summary) -> bool {
        if !self.needs.summary_is_enough() || block.values < block.count {
            return false;
        }
        let Some((first, last)) = self.bounds(block) else {
            return false;
        };
        let mut buckets = self.buckets.clone();
        buckets.seek(first);
        buckets.holds(last) && self.span.contains(micros(first)) && self.span.contains(micros(last))
    }

    /// First and last time of a block; `None` where some of it has none.
    fn bounds(&self, block: &Summary) -> Option<(i64, i64)> {
        match self.time {
            TimeProperty::ModifiedAt => Some((block.first, block.last)),
            _ if block.flag_max >= UNOBSERVED_FLAG => None,
            _ => Some((block.observed_first, block.observed_last)),
        }
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
    fn add_piece(&mut self, piece: &Piece) -> bool {
        match piece {
            Piece::Points(points) => match self.job.time {
                TimeProperty::ModifiedAt => self.add(&points.times, points),
                _ => self.add(&points.observed, points),
            },
            Piece::Whole(block) => {
                let Some((first, last)) = self.job.bounds(block) else {
                    return false;
                };
                if !self.turn_to(first) {
                    return false;
                }
                self.note_times(first, last);
                self.tally.add_summary(block);
                true
            }
        }
    }

    /// Adds points by these times, in runs of one bucket; answers false if they go back to an earlier bucket.
    fn add(&mut self, times: &[i64], points: &Points) -> bool {
        self.found.kind = kind_of_last(points).or(self.found.kind);
        let (from, to) = (nanos(self.job.span.from), self.job.span.to);
        let to = if to.0 == i64::MAX { i64::MAX } else { nanos(to) };
        let mut at = 0;
        while let Some(time) = times.get(at) {
            if *time < from || *time >= to {
                at += 1;
                continue;
            }
            if !self.turn_to(*time) {
                return false;
            }
            let (start, end) = (self.buckets.start.max(from), self.buckets.end.min(to));
            let rest = times.get(at..).unwrap_or_default();
            let run = rest.iter().position(|time| *time < start || *time >= end).unwrap_or(rest.len());
            if self.buckets.is_one() {
                let run = rest.get(..run).unwrap_or_default();
                let first = run.iter().min().unwrap_or(time);
                self.note_times(*first, *run.iter().max().unwrap_or(time));
            }
            self.tally.add(points, at..at + run, self.job.needs);
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
