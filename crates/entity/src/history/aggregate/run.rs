//! Aggregates points, and blocks by their summaries where that is enough.

use smallvec::SmallVec;
use store::Timestamp;
use strands::{ColumnSet, Columns, Part, Summary, TimeRange, UNOBSERVED, Wanted};

use super::buckets::{Buckets, wide_nanos};
use super::tally::{Needs, Tally};
use super::{AggregateHistory, AggregateMethod, Period};
use crate::history::note::{Class, Point, UNOBSERVED_FLAG, micros, nanos};
use crate::history::select::{observes, range_of};
use crate::history::{HistoryRequest, TimeProperty, TimeSpan};
use crate::{Kind, TermId};

/// The kind of the last point that is no removal, if its note is there.
pub fn kind_of_last(points: &Columns<'_>) -> Option<Kind> {
    let mut points = (0..points.len()).rev().map(|index| Point::of(points, index));
    points.find(|point| point.class != Class::Removal)?.note().map(|note| note.kind())
}

/// Whether a time in a column stands for all that are earlier, or later, than 64 bits of nanoseconds tell.
fn is_cut(time: i64) -> bool {
    time == i64::MAX || time == UNOBSERVED + 1
}

/// The times of points that can be in the span.
fn range_of_property(time: TimeProperty, span: TimeSpan) -> TimeRange {
    if time == TimeProperty::ModifiedAt { range_of(span) } else { TimeRange::ALL }
}

/// What is to be computed.
#[derive(Clone, Debug)]
pub struct Aggregation {
    /// Which time of instances counts.
    pub time: TimeProperty,
    /// When.
    pub span: TimeSpan,
    /// Only so many instances of each attribute and dataset, the last ones.
    pub last_n: Option<usize>,
    methods: SmallVec<[AggregateMethod; 8]>,
    needs: Needs,
    buckets: Buckets,
    begins_with_first: Option<Period>,
}

impl Aggregation {
    /// What a request asks for, in buckets of a period (`None`: one for all).
    pub fn new(request: &HistoryRequest, methods: &[AggregateMethod], period: Option<&Period>) -> Self {
        Self {
            time: request.time,
            span: request.span,
            last_n: request.last_n,
            methods: methods.into(),
            needs: Needs::of(methods),
            buckets: Buckets::new(period, request.span),
            begins_with_first: period.copied().filter(|period| period.begins_with_the_first(request.span)),
        }
    }

    /// Whether buckets begin with the first of all instances, which must be known then ([`Self::begin_at`]).
    pub fn begins_with_first(&self) -> bool {
        self.begins_with_first.is_some()
    }

    /// Has buckets begin with the first of all instances, if there is one.
    pub fn begin_at(&mut self, first: Option<Timestamp>) {
        if let Some(period) = self.begins_with_first {
            let period = first.map_or(period, |first| period.starting_at(first));
            self.buckets = Buckets::new(Some(&period), self.span);
        }
    }

    /// The times of points that may be in the span.
    pub fn range(&self) -> TimeRange {
        range_of_property(self.time, self.span)
    }

    /// What is wanted of a block; of one that is to tell the kind, its notes.
    pub fn want(&self, block: &Summary, tells_kind: bool) -> Wanted {
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
        buckets.seek(first.into());
        let inside = self.span.contains(micros(first)) && self.span.contains(micros(last));
        (inside && buckets.holds(first.into()) && buckets.holds(last.into())).then_some((first, last))
    }

    /// First and last time of a block; `None` where some of it has none, or one that 64 bits of nanoseconds do not tell.
    fn bounds(&self, block: &Summary) -> Option<(i64, i64)> {
        match self.time {
            TimeProperty::ModifiedAt => Some((block.first, block.last)),
            _ if block.flag_max >= UNOBSERVED_FLAG => None,
            _ if is_cut(block.observed_first) || is_cut(block.observed_last) => None,
            _ => Some((block.observed_first, block.observed_last)),
        }
    }

    /// The column of the times that count.
    pub fn times_of<'a>(&self, points: &Columns<'a>) -> &'a [i64] {
        if self.time == TimeProperty::ModifiedAt { points.times } else { points.observed }
    }
}

/// The filling of buckets, in the order of time.
pub struct Aggregator<'j> {
    job: &'j Aggregation,
    buckets: Buckets,
    /// Whether the current bucket is one that was turned to.
    begun: bool,
    tally: Tally,
    found: AggregateHistory,
}

impl<'j> Aggregator<'j> {
    /// Of one attribute and dataset.
    pub fn new(attribute: TermId, dataset: Option<Box<str>>, job: &'j Aggregation) -> Self {
        let found = AggregateHistory {
            attribute,
            dataset,
            columns: job.methods.iter().map(|_| Vec::new()).collect(),
            ..AggregateHistory::default()
        };
        Self { job, buckets: job.buckets.clone(), begun: false, tally: Tally::default(), found }
    }

    /// Answers false if it goes back in time, or has times that a column does not tell: then all is to be sorted, by their exact times.
    pub fn add_part(&mut self, part: &Part<'_>) -> bool {
        let (block, points) = match part {
            Part::Stretch(points) => return self.add(self.job.times_of(points), points),
            Part::Block(block, points) => (block, Some(points)),
            Part::Summary(block) => (block, None),
        };
        let Some((first, last)) = self.job.bounds_in_bucket(block) else {
            return points.is_none_or(|points| self.add(self.job.times_of(points), points));
        };
        if !self.go_to(first.into()) {
            return false;
        }
        self.note_times(first.into(), last.into());
        match points {
            Some(points) => {
                self.found.kind = kind_of_last(points).or(self.found.kind);
                self.tally.add(points, self.job.needs);
            }
            None => self.tally.add_summary(block),
        }
        true
    }

    /// Adds points by these times, in runs of one bucket; answers false if they go back to an earlier bucket, or if some may be in the span
    /// whose times the column does not tell.
    pub fn add(&mut self, times: &[i64], points: &Columns<'_>) -> bool {
        self.found.kind = kind_of_last(points).or(self.found.kind);
        // Times that are cut are outside; what they stand for may be inside where the span begins or ends with them.
        let (from, to) = (nanos(self.job.span.from), nanos(self.job.span.to));
        let may_be_inside = |time: i64| (time == i64::MAX && to == time) || (is_cut(time) && time == from);
        let from = from.max(UNOBSERVED + 2);
        let is_sorted = is_sorted(times);
        let mut at = 0;
        while let Some(time) = times.get(at) {
            if *time < from || *time >= to {
                if may_be_inside(*time) {
                    return false;
                }
                at += 1;
                continue;
            }
            if !self.go_to((*time).into()) {
                return false;
            }
            let (start, end) = self.buckets.within(from, to);
            let rest = times.get(at..).expect("the time at `at` is there");
            let run = if is_sorted {
                rest.partition_point(|time| *time < end)
            } else {
                let is_outside = |time: &i64| !(start..end).contains(time);
                rest.iter().position(is_outside).unwrap_or(rest.len())
            };
            if self.buckets.is_one() {
                let run = rest.get(..run).expect("a run is a part of the rest");
                let begins = "a run begins with the time that it was made for";
                let (first, last) = (run.iter().min().expect(begins), run.iter().max().expect(begins));
                self.note_times((*first).into(), (*last).into());
            }
            self.tally.add(&points.part(&(at..at + run)), self.job.needs);
            at += run;
        }
        true
    }

    /// Adds points of the span that are in the order of these times.
    pub fn add_sorted(&mut self, times: &[Timestamp], points: &Columns<'_>) {
        self.found.kind = kind_of_last(points).or(self.found.kind);
        let mut at = 0;
        while let Some(first) = times.get(at).copied() {
            let is_later = self.go_to(wide_nanos(first));
            debug_assert!(is_later, "times go on");
            let rest = times.get(at..).expect("the time at `at` is there");
            let end = self.buckets.end;
            let run = rest.partition_point(|time| wide_nanos(*time) < end);
            let last = rest.get(..run).and_then(<[_]>::last).expect("the bucket of the first time holds it");
            self.note_times(wide_nanos(first), wide_nanos(*last));
            self.tally.add(&points.part(&(at..at + run)), self.job.needs);
            at += run;
        }
    }

    /// Goes on with the bucket of `time`; answers false if that was closed before.
    fn go_to(&mut self, time: i128) -> bool {
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
    fn note_times(&mut self, first: i128, last: i128) {
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

    /// What was found.
    pub fn finish(mut self) -> AggregateHistory {
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
    let next = times.get(1..).unwrap_or(&[]);
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
