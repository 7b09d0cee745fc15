//! Rasters: where the slots of an interval lie in a zone. See `docs/decisions/0015-calendar.md`.

use super::interval::Steps;
use super::{Interval, Runs, Zone};
use crate::{Error, TimeRange};

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

    /// The beginning of the slot so many slots after the one that `time` lies in (negative: before).
    /// Cost: a step for each run passed: a change of the clock, forwards; a day, backwards; a slot of months.
    pub fn shift(&self, time: i64, slots: i64) -> i64 {
        let mut at = self.floor(time);
        let mut left = slots;
        while left > 0 {
            let run = self.run_at(at, at.saturating_add(left.saturating_mul(self.step().unwrap_or(0))));
            let inside = ((run.to - at) / run.step).min(left);
            let next = if inside > 0 { at + inside * run.step } else { run.to };
            if next <= at {
                break;
            }
            left -= inside.max(1);
            at = next;
        }
        while left < 0 {
            let slot = self.slot(at.saturating_sub(1));
            let run = self.run_at(slot.from, slot.from);
            let inside = ((slot.from - run.from) / run.step).min(-left - 1);
            let previous = slot.from - inside * run.step;
            if previous >= at {
                break;
            }
            left += inside + 1;
            at = previous;
        }
        at
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

    /// How many slots begin inside `range`. Cost: a few steps for each change of the clock in the range.
    pub fn count(&self, range: TimeRange) -> u64 {
        let within = |run: super::Run| run.starts_within(range).map_or(0, |(_, count)| count.unsigned_abs());
        self.runs(range).map(within).sum()
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

    /// Whether every boundary of this raster inside `range` is one of `finer`. Cost: as [`Raster::count`] where
    /// the steps divide each other.
    pub fn nests(&self, finer: &Self, range: TimeRange) -> bool {
        self == finer || self.runs(range).all(|run| finer.has_starts_of(run, range))
    }

    fn has_starts_of(&self, run: super::Run, range: TimeRange) -> bool {
        let Some((mut at, count)) = run.starts_within(range) else {
            return true;
        };
        let end = at.saturating_add(count.saturating_mul(run.step));
        while at < end {
            let mine = self.run_at(at, end);
            if (at - mine.from) % mine.step != 0 {
                return false;
            }
            at = at.saturating_add(run.step);
            if run.step % mine.step == 0 && at < mine.to {
                // All further boundaries inside are boundaries too: on to the first behind. Runs of days may reach to the
                // end of time.
                let inside = mine.to.min(end).saturating_sub(at).max(0);
                at = at.saturating_add(inside.saturating_add(run.step - 1) / run.step * run.step);
            }
        }
        true
    }

    /// The runs that slots beginning in `range` lie in; the first may begin before.
    pub(crate) fn runs(&self, range: TimeRange) -> Runs<'_> {
        Runs::new(self, range)
    }
}

/// The slots of a range, made by [`Raster::slots`].
#[derive(Clone, Debug)]
pub struct Slots<'a> {
    raster: &'a Raster,
    run: super::Run,
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
