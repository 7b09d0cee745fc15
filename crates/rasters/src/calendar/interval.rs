//! Intervals: how far apart the points of a periodic series are, and which end of a slot a point names.

use super::{DAY, HOUR, SECOND};
use crate::Error;

/// What an interval counts.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum IntervalUnit {
    /// Elapsed time.
    Millisecond,
    /// Elapsed time.
    Second,
    /// Elapsed time.
    Minute,
    /// Elapsed time.
    Hour,
    /// Local days: 23, 24 or 25 hours.
    Day,
    /// Local weeks, from Monday.
    Week,
    /// Local months.
    Month,
    /// Local quarters of a year.
    Quarter,
    /// Local years.
    Year,
}

/// A count of units, such as 15 minutes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Interval {
    /// What is counted.
    pub unit: IntervalUnit,
    /// How many; at least one.
    pub multiplier: u32,
}

/// Which instant of its slot a point's time is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Alignment {
    /// The slot's first instant (left aligned): the value is that of the time from here to the next.
    Begin,
    /// The first instant after the slot (right aligned): the value is that of the time from the last to here.
    End,
    /// No slots: the value holds from here until the next point.
    Spontaneous,
}

/// An interval in the terms rasters are made of.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Steps {
    /// Shorter than a day: nanoseconds.
    Within(i64),
    /// Local days, counted from day `anchor` since 1970-01-01.
    Days { count: i64, anchor: i64 },
    /// Local months, counted from January of year 0.
    Months(i64),
}

/// The longest interval, in months and in days: a hundred years.
const MONTHS_MAX: i64 = 1_200;
const DAYS_MAX: i64 = 36_525;

/// Monday before 1970-01-01, in days since then.
const MONDAY: i64 = -3;

impl Interval {
    /// `multiplier` of `unit`.
    pub const fn new(unit: IntervalUnit, multiplier: u32) -> Self {
        Self { unit, multiplier }
    }

    /// The interval as steps. Whole multiples of 24 hours are days. Longer ones than a hundred years are refused: their
    /// slots would reach beyond the times there are.
    pub(crate) fn steps(self) -> Result<Steps, Error> {
        let count = i64::from(self.multiplier);
        if count == 0 {
            return Err(Error::Invalid("an interval of no length".into()));
        }
        let steps = match self.unit {
            IntervalUnit::Millisecond => self.within(SECOND / 1_000)?,
            IntervalUnit::Second => self.within(SECOND)?,
            IntervalUnit::Minute => self.within(60 * SECOND)?,
            IntervalUnit::Hour => self.within(HOUR)?,
            IntervalUnit::Day => Steps::Days { count, anchor: 0 },
            IntervalUnit::Week => Steps::Days { count: 7 * count, anchor: MONDAY },
            IntervalUnit::Month => Steps::Months(count),
            IntervalUnit::Quarter => Steps::Months(3 * count),
            IntervalUnit::Year => Steps::Months(12 * count),
        };
        match steps {
            Steps::Days { count, .. } if count > DAYS_MAX => Err(self.too_long()),
            Steps::Months(count) if count > MONTHS_MAX => Err(self.too_long()),
            steps => Ok(steps),
        }
    }

    fn too_long(self) -> Error {
        Error::Invalid(format!(
            "an interval of {} {:?}s is longer than a hundred years",
            self.multiplier, self.unit
        ))
    }

    fn within(self, unit: i64) -> Result<Steps, Error> {
        let step = unit.saturating_mul(i64::from(self.multiplier));
        match step {
            _ if step < DAY => Ok(Steps::Within(step)),
            _ if step % DAY == 0 => Ok(Steps::Days { count: step / DAY, anchor: 0 }),
            _ => Err(Error::Invalid(format!(
                "an interval of {} {:?}s is longer than a day and no whole number of days",
                self.multiplier, self.unit
            ))),
        }
    }
}
