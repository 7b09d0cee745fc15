//! Rasters: where the slots of an interval lie in a zone. See `docs/decisions/0015-calendar.md`.

use super::interval::Steps;
use super::{DAY, Interval, IntervalUnit, Zone};
use crate::Error;
use strands::TimeRange;

/// The latest start of a day, in seconds after midnight.
const DAY_START_SECONDS_MAX: u32 = 86_399;

/// A division of time into slots: an interval in a zone, with the time of day at which days begin.
///
/// Invariant: slots leave no time out and share none; `floor(t) <= t < next(t)` for every `t` of the years
/// 1678 to 2261. Times outside those years are taken for the nearest inside.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Raster {
    interval: Interval,
    zone: Zone,
    day_start_seconds: u32,
    steps: Steps,
}

impl Raster {
    /// The raster of `interval` in `zone` whose days begin `day_start_seconds` after midnight on the local clock
    /// (0; 21,600 for the gas day). Weeks, months, quarters and years begin at that time of their first day.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the interval has no length, or is longer than a day and no whole number of days,
    /// or if the day would begin after its end.
    pub fn new(interval: Interval, zone: Zone, day_start_seconds: u32) -> Result<Self, Error> {
        if day_start_seconds > DAY_START_SECONDS_MAX {
            return Err(Error::Invalid(format!(
                "a day that begins {day_start_seconds} seconds after midnight"
            )));
        }
        Ok(Self { steps: interval.steps()?, interval, zone, day_start_seconds })
    }

    /// The interval it was made of.
    pub fn interval(&self) -> Interval {
        self.interval
    }

    /// The zone whose calendar it follows.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// When its days begin, in seconds after midnight.
    pub fn day_start_seconds(&self) -> u32 {
        self.day_start_seconds
    }

    /// The step of slots shorter than a day, in nanoseconds; `None` from a day on.
    pub fn step(&self) -> Option<i64> {
        match self.steps {
            Steps::Within(step) => Some(step),
            Steps::Days { .. } | Steps::Months(_) => None,
        }
    }

    /// The days of its calendar.
    pub(super) fn days(&self) -> Self {
        let (zone, steps) = (self.zone.clone(), Steps::Days { count: 1, anchor: 0 });
        Self { interval: Interval::new(IntervalUnit::Day, 1), zone, steps, ..*self }
    }

    pub(super) fn steps(&self) -> Steps {
        self.steps
    }

    /// The slot that `time` lies in. Cost: about 50 ns.
    pub fn slot(&self, time: i64) -> TimeRange {
        self.run_at(time, time).slot(time)
    }

    /// The beginning of the slot that `time` lies in: the latest boundary not after it.
    pub fn floor(&self, time: i64) -> i64 {
        self.slot(time).from
    }

    /// The earliest boundary after `time`.
    pub fn next(&self, time: i64) -> i64 {
        self.slot(time).to
    }

    /// The latest boundary before `time`.
    pub fn previous(&self, time: i64) -> i64 {
        self.floor(time.saturating_sub(1))
    }

    /// The earliest boundary not before `time`.
    pub fn ceil(&self, time: i64) -> i64 {
        self.next(time.saturating_sub(1))
    }

    /// The end of the last slot.
    pub fn end(&self) -> i64 {
        self.next(i64::MAX)
    }

    /// The beginning of the slot so many slots after the one that `time` lies in (negative: before).
    /// Cost: as [`Raster::count`] of the slots passed.
    pub fn shift(&self, time: i64, slots: i64) -> i64 {
        let mut at = self.floor(time);
        let mut left = slots;
        while left > 0 {
            let (passed, next) = self.forwards(at, left);
            if next <= at {
                break;
            }
            left -= passed;
            at = next;
        }
        while left < 0 {
            let (passed, previous) = self.backwards(at, -left);
            if previous >= at {
                break;
            }
            left += passed;
            at = previous;
        }
        at
    }

    /// At most so many slots on from the boundary `at`: how many, and where the slot after them begins.
    fn forwards(&self, at: i64, most: i64) -> (i64, i64) {
        if let Some((days, slots)) = self.days_passed(at, at, most) {
            return (days * slots, at + days * DAY);
        }
        let run = self.run_at(at, at.saturating_add(most.saturating_mul(self.step().unwrap_or(0))));
        let inside = ((run.to - at) / run.step).min(most);
        if inside > 0 { (inside, at + inside * run.step) } else { (1, run.to) }
    }

    /// At most so many slots back from the boundary `at`: how many, and where the last of them begins.
    fn backwards(&self, at: i64, most: i64) -> (i64, i64) {
        if let Some((days, slots)) = self.days_passed(at, at.saturating_sub(1), most) {
            return (days * slots, at - days * DAY);
        }
        let slot = self.slot(at.saturating_sub(1));
        let run = self.run_at(slot.from, slot.from);
        let inside = ((slot.from - run.from) / run.step).min(most - 1);
        (inside + 1, slot.from - inside * run.step)
    }

    /// How many whole days that are alike lie between the boundary `at` and the end of those around `time`, if there are any
    /// and they have at most so many slots, and how many slots each has.
    fn days_passed(&self, at: i64, time: i64, most: i64) -> Option<(i64, i64)> {
        let days = self.plain_days(time).filter(|days| most >= days.slots)?;
        let way = if time < at { at - days.from } else { days.to - at };
        let passed = (way / DAY).min(most / days.slots);
        ((at - days.from) % DAY == 0 && passed > 0).then_some((passed, days.slots))
    }

    /// Whether `time` is a boundary.
    pub fn contains(&self, time: i64) -> bool {
        self.floor(time) == time
    }

    /// The slots that begin inside `range`, in order.
    pub fn slots(&self, range: TimeRange) -> Slots<'_> {
        let at = self.ceil(range.from);
        let run = self.run_at(at, range.to);
        Slots { raster: self, run, at, until: range.to }
    }

    /// Appends the beginnings of the slots that begin inside `range`. Cost: under a nanosecond each on fixed steps.
    pub fn starts_into(&self, range: TimeRange, out: &mut Vec<i64>) {
        for run in self.runs(range) {
            let Some((first, count)) = run.starts_within(range) else {
                continue;
            };
            out.extend((0..count).map(|place| first + place * run.step));
        }
    }

    /// How many slots begin inside `range`. Cost: a few steps for each change of the clock in the range; for slots of
    /// months, and longer, for each slot.
    pub fn count(&self, range: TimeRange) -> u64 {
        let mut count = 0;
        let first = self.slot(range.from);
        let mut at = if first.from < range.from { first.to } else { first.from };
        while at < range.to {
            let (slots, next) = self.slots_from(at, range.to);
            let (Ok(slots), true) = (u64::try_from(slots), next > at) else {
                break;
            };
            count += slots;
            at = next;
        }
        count
    }

    /// How many slots follow each other from the boundary `at` on as arithmetic reaches, of those that begin before `until`,
    /// and where the next begins.
    fn slots_from(&self, at: i64, until: i64) -> (i64, i64) {
        if self.begins_anew_daily()
            && let Some(days) = self.plain_days(at)
            && (at - days.from) % DAY == 0
        {
            let whole = (days.to.min(until) - at) / DAY;
            if whole > 0 {
                return (whole * days.slots, at + whole * DAY);
            }
        }
        let run = self.run_at(at, until);
        match run.starts_within(TimeRange { from: at, to: until }) {
            Some((_, count)) => (count, run.end_of(at + (count - 1) * run.step)),
            None => (0, run.to),
        }
    }

    /// Whether slots do not divide the day, so that every day is a run of its own.
    pub(super) fn begins_anew_daily(&self) -> bool {
        self.step().is_some_and(|step| DAY % step != 0)
    }

    /// Checks that all of `times` (ascending) are boundaries. Cost: under a nanosecond for each point that
    /// follows the one before at one step, a division for others.
    ///
    /// # Errors
    ///
    /// The position of the first time that is none.
    pub fn check(&self, times: &[i64]) -> Result<(), usize> {
        let Some(last) = times.last() else {
            return Ok(());
        };
        let mut rest = times;
        while let Some(first) = rest.first() {
            let run = self.run_at(*first, *last);
            let (inside, behind) = rest.split_at(run.points_inside(rest).max(1));
            if let Some(position) = run.position_off(inside) {
                return Err(times.len() - rest.len() + position);
            }
            rest = behind;
        }
        Ok(())
    }
}

/// The slots of a range, made by [`Raster::slots`].
#[derive(Clone, Debug)]
pub struct Slots<'a> {
    raster: &'a Raster,
    run: super::run::Run,
    at: i64,
    until: i64,
}

impl Iterator for Slots<'_> {
    type Item = TimeRange;

    fn next(&mut self) -> Option<TimeRange> {
        if self.at >= self.until {
            return None;
        }
        if self.at >= self.run.to {
            self.run = self.raster.run_at(self.at, self.until);
        }
        let slot = TimeRange { from: self.at, to: self.run.end_of(self.at) };
        if slot.is_empty() {
            return None;
        }
        self.at = slot.to;
        Some(slot)
    }
}

#[cfg(test)]
mod tests;
