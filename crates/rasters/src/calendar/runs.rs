//! A raster as runs of slots at one step, so that a walk over points asks no zone.

use super::civil::{day_of_month, month_of_day};
use super::interval::Steps;
use super::raster::Raster;
use super::run::Run;
use super::zones::Segment;
use super::{DAY, SECOND};
use strands::TimeRange;

/// The years in which rasters are exact: beyond, a slot might not fit the numbers.
const TIME_MIN: i64 = i64::MIN + 100 * DAY;
const TIME_MAX: i64 = i64::MAX - 100 * DAY;

/// How far beyond a time its run is looked for, so that lengths inside a run are numbers.
const RUN_LENGTH_MAX: i64 = 200 * 365 * DAY;

/// The runs of a range, made by [`Raster::runs`].
#[derive(Clone, Debug)]
pub struct Runs<'a> {
    raster: &'a Raster,
    at: i64,
    until: i64,
}

impl<'a> Runs<'a> {
    fn new(raster: &'a Raster, range: TimeRange) -> Self {
        Self { raster, at: range.from.max(TIME_MIN), until: range.to.min(TIME_MAX) }
    }
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        if self.at >= self.until {
            return None;
        }
        let run = self.raster.run_at(self.at, self.until);
        self.at = run.to;
        Some(run)
    }
}

/// A local day: from the first instant at which the local clock shows its beginning.
#[derive(Clone, Copy, Debug)]
struct Day {
    /// Days since 1970-01-01.
    number: i64,
    from: i64,
    to: i64,
}

/// Days of 24 hours, one after the other, each with the same slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainDays {
    pub(super) from: i64,
    pub(super) to: i64,
    /// How many slots each has.
    pub(super) slots: i64,
}

impl Raster {
    /// The runs that slots beginning in `range` lie in; the first may begin before.
    pub fn runs(&self, range: TimeRange) -> Runs<'_> {
        Runs::new(self, range)
    }

    /// The run that `time` lies in; it reaches to the end of the slot of `until` where arithmetic reaches so far.
    pub(crate) fn run_at(&self, time: i64, until: i64) -> Run {
        let time = time.clamp(TIME_MIN, TIME_MAX);
        let until = until.clamp(time, TIME_MAX.min(time.saturating_add(RUN_LENGTH_MAX)));
        match self.steps() {
            Steps::Within(step) => self.run_within(step, time, until),
            Steps::Days { count, anchor } => self.run_of_days(count, anchor, time),
            Steps::Months(count) => self.run_of_months(count, time),
        }
    }

    fn run_within(&self, step: i64, time: i64, until: i64) -> Run {
        let day = self.day_at(time);
        let mut segment = self.zone().segment_at(day.from);
        let origin = self.local(day.number);
        let mut is_regular = is_in_step(day.from, &segment, origin, step);
        while segment.to < day.to && is_regular {
            let Some(next) = self.zone().segment(segment.place + 1) else {
                break;
            };
            is_regular = is_in_step(day.from, &next, origin, step);
            segment = next;
        }
        if !is_regular {
            return self.run_by_the_clock(step, day, time);
        }
        let to = if DAY % step == 0 { self.end_of_steps(step, day, segment, until) } else { day.to };
        Run { from: day.from, to, step }
    }

    /// How far the steps of `day` go on without regard to days: to the day on which the clock is changed by what is
    /// no multiple of the step, or amid a slot, or to the end of the day of `until`.
    fn end_of_steps(&self, step: i64, day: Day, last: Segment, until: i64) -> i64 {
        if until < day.to {
            return day.to;
        }
        let (origin, mut place) = (self.local(day.number), last.place);
        while let Some(next) = self.zone().segment(place + 1) {
            if next.from > until.saturating_add(2 * DAY) {
                break;
            }
            let (is_before, is_after) =
                (is_in_step(next.from, &last, origin, step), is_in_step(next.from, &next, origin, step));
            if !(is_before && is_after) {
                return self.day_at(next.from).from.max(day.to);
            }
            place = next.place;
        }
        self.day_at(until).to
    }

    /// The run of `time` on a day whose clock is changed by what is no multiple of `step`: slots begin when the clock first
    /// shows a multiple of `step` after the beginning of the day. Where it runs steadily they are as long as the step; a
    /// slot that a change cuts, and the day's last, is a run of its own.
    fn run_by_the_clock(&self, step: i64, day: Day, time: i64) -> Run {
        let segment = self.zone().segment_at(time);
        let local = self.local(day.number);
        // When this clock, had it always run so, would have shown the beginning of the day.
        let origin = local - segment.offset;
        // What it shows before, it has shown already.
        let fresh = segment.from.saturating_add(segment.fold).max(day.from).max(origin);
        let first = (fresh - origin + step - 1) / step;
        let last = ((segment.to.min(day.to) - 1 - origin) / step).min((DAY - 1) / step);
        let (from, to) = (origin + first * step, origin + last * step);
        let is_inside = from <= time && time < to;
        // A first instant, so those after it are, too.
        if is_inside && self.zone().first_instant(local + first * step) == from {
            return Run { from, to, step };
        }
        self.slot_by_the_clock(step, day, time)
    }

    /// The slot of `time` on such a day. Cost: about 200 ns.
    fn slot_by_the_clock(&self, step: i64, day: Day, time: i64) -> Run {
        let beginning = |place: i64| self.zone().first_instant(self.local(day.number) + place * step);
        let (mut low, mut high) = (0, DAY / step + i64::from(DAY % step != 0));
        // Invariant: slot `low` begins at or before `time`, slot `high` after it.
        while high - low > 1 {
            let middle = low.midpoint(high);
            if beginning(middle) <= time { low = middle } else { high = middle }
        }
        let (from, to) = (beginning(low), beginning(high).min(day.to));
        Run { from, to, step: to - from }
    }

    /// The whole days around `time` that are all alike: of 24 hours each, by a clock that runs steadily. `None` if that of
    /// `time` is none of them, or slots are not shorter than a day.
    pub(super) fn plain_days(&self, time: i64) -> Option<PlainDays> {
        let step = self.step()?;
        let day = self.day_at(time.clamp(TIME_MIN, TIME_MAX));
        let segment = self.zone().segment_at(day.from);
        if day.to - day.from != DAY || !is_in_plain(&segment, day.from, day.to) {
            return None;
        }
        // So far that lengths are numbers.
        let first = segment.from.saturating_add(segment.fold).max(day.from.saturating_sub(RUN_LENGTH_MAX));
        let last = segment.to.saturating_sub(1).min(day.from.saturating_add(RUN_LENGTH_MAX));
        let before = (day.from - first.max(TIME_MIN)).max(0) / DAY;
        let behind = (last.min(TIME_MAX) - day.from) / DAY;
        Some(PlainDays {
            from: day.from - before * DAY,
            to: day.from + behind.max(1) * DAY,
            slots: (DAY - 1) / step + 1,
        })
    }

    fn run_of_days(&self, count: i64, anchor: i64, time: i64) -> Run {
        let number = self.day_at(time).number;
        let first = anchor + (number - anchor).div_euclid(count) * count;
        let (from, to) = (self.beginning(first), self.beginning(first + count));
        let step = to - from;
        let segment = self.zone().segment_at(from);
        let is_plain = step == count.saturating_mul(DAY) && is_in_plain(&segment, from, to);
        // In a segment, days follow each other by arithmetic up to the last that begins before its end.
        let slots = if is_plain { (segment.to - 1).saturating_sub(from) / step } else { 1 };
        Run { from, to: from + slots * step, step }
    }

    fn run_of_months(&self, count: i64, time: i64) -> Run {
        let month = month_of_day(self.day_at(time).number);
        let first = month.div_euclid(count) * count;
        let (from, to) = (self.beginning(day_of_month(first)), self.beginning(day_of_month(first + count)));
        Run { from, to, step: to.saturating_sub(from) }
    }

    /// The local day that `time` lies in.
    fn day_at(&self, time: i64) -> Day {
        let segment = self.zone().segment_at(time);
        let mut number = (time + segment.offset - self.day_start()).div_euclid(DAY);
        let from = self.local(number) - segment.offset;
        if is_in_plain(&segment, from, from + DAY) {
            return Day { number, from, to: from + DAY };
        }
        // A clock set back may show the day before again: what counts is when a day's beginning was first shown.
        while self.beginning(number + 1) <= time {
            number += 1;
        }
        while self.beginning(number) > time {
            number -= 1;
        }
        Day { number, from: self.beginning(number), to: self.beginning(number + 1) }
    }

    /// The first instant of a local day.
    fn beginning(&self, day: i64) -> i64 {
        self.zone().first_instant(self.local(day))
    }

    /// What the local clock shows at the beginning of a day.
    fn local(&self, day: i64) -> i64 {
        day.saturating_mul(DAY).saturating_add(self.day_start())
    }

    fn day_start(&self) -> i64 {
        i64::from(self.day_start_seconds()) * SECOND
    }
}

/// Whether the local clock, running as in `segment`, shows at `time` a multiple of `step` after `origin`, the beginning of a
/// day on that clock.
fn is_in_step(time: i64, segment: &Segment, origin: i64, step: i64) -> bool {
    (time + segment.offset - origin) % step == 0
}

/// Whether the local clock shows what it shows at `from` and `to` for the first time there, both in `segment`.
fn is_in_plain(segment: &Segment, from: i64, to: i64) -> bool {
    from >= segment.from.saturating_add(segment.fold) && to < segment.to
}
