//! One slot of the target: what has been put into it so far, and what comes of that.

use super::whole::Whole;
use lang_formula::Aggregation;
use strands::{ABSENT, Flag, TimeRange};
use strands::{is_absent, worse};

/// A part of what a point stands for, inside one slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The point's value; means nothing if the flag says that there is none.
    pub(crate) value: f64,
    /// The point's flag byte.
    pub(crate) flag: u8,
    /// All that the point stands for, in nanoseconds.
    pub(crate) whole: i64,
    /// How much of that this part is, in nanoseconds.
    pub(crate) length: i64,
    /// Whether the point's stretch begins in this slot.
    pub(crate) is_start: bool,
}

/// What has been put into a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    parts: u32,
    /// Parts with a value.
    values: u32,
    /// Points with a value whose stretch begins here, and all such points.
    starts: u32,
    starts_with_value: u32,
    starts_sum: f64,
    starts_worst: u8,
    /// Values, each by the share of its stretch that is here.
    sum: f64,
    shares: f64,
    /// Values by the time they hold, and that time.
    weighted: f64,
    covered: i64,
    /// The time of all parts, with a value or without.
    spanned: i64,
    /// The length of all parts with a value; 0 if they differ.
    length: i64,
    min: f64,
    max: f64,
    first: f64,
    last: f64,
    worst: u8,
}

/// Lengths of time become weights; 2^53 ns are 104 days, beyond which they are rounded once. All time there is weighs one, so
/// that no value outgrows doubles by its weight.
#[expect(clippy::cast_precision_loss, reason = "a weight")]
pub(crate) fn weight(length: i64) -> f64 {
    // A power of two: nothing is rounded.
    const NANOSECOND: f64 = 1.0 / (1_u64 << 63) as f64;
    length as f64 * NANOSECOND
}

/// `value` times `length / whole`. A length that divides the whole divides the value, so that halves are halves.
pub(crate) fn share_of(value: f64, length: i64, whole: i64) -> f64 {
    if length == whole {
        value
    } else if length > 0 && whole % length == 0 {
        value / count(whole / length)
    } else {
        value * (weight(length) / weight(whole))
    }
}

#[expect(clippy::cast_precision_loss, reason = "how many parts there are, or rounded once")]
fn count(parts: i64) -> f64 {
    parts as f64
}

impl Slot {
    pub(crate) const EMPTY: Self = Self {
        parts: 0,
        values: 0,
        starts: 0,
        starts_with_value: 0,
        starts_sum: -0.0,
        starts_worst: 0,
        sum: -0.0,
        shares: 0.0,
        weighted: 0.0,
        covered: 0,
        spanned: 0,
        length: 0,
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
        first: 0.0,
        last: 0.0,
        worst: 0,
    };

    pub(crate) fn add(&mut self, part: Part) {
        self.parts += 1;
        self.worst = worse(self.worst, part.flag);
        self.spanned += part.length;
        if part.is_start {
            self.starts += 1;
            self.starts_worst = worse(self.starts_worst, part.flag);
        }
        if is_absent(part.flag) {
            return;
        }
        let value = part.value;
        if self.values == 0 {
            self.first = value;
            self.length = part.length;
        } else if self.length != part.length {
            self.length = 0;
        }
        self.values += 1;
        self.last = value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.covered += part.length;
        self.weighted += value * weight(part.length);
        self.sum += share_of(value, part.length, part.whole);
        self.shares += share_of(1.0, part.length, part.whole);
        if part.is_start {
            self.starts_with_value += 1;
            self.starts_sum += value;
        }
    }

    /// Adds the points of a block that lies wholly here. What is first and last is not known then.
    pub(crate) fn add_whole(&mut self, whole: &Whole) {
        self.parts += whole.count;
        self.worst = worse(self.worst, whole.worst);
        self.spanned += whole.length.saturating_mul(whole.count.into());
        if whole.values == 0 {
            return;
        }
        if self.values == 0 {
            self.length = whole.length;
        } else if self.length != whole.length {
            self.length = 0;
        }
        self.values += whole.values;
        self.starts_with_value += whole.values;
        self.min = self.min.min(whole.min);
        self.max = self.max.max(whole.max);
        self.covered += whole.length.saturating_mul(whole.values.into());
        self.weighted += whole.sum * weight(whole.length);
        self.sum += whole.sum;
        self.shares += f64::from(whole.values);
    }

    /// How long the slot has a value, in nanoseconds.
    pub(crate) fn covered(&self) -> i64 {
        self.covered
    }

    /// The value and flag byte of the slot; `None` if no point belongs to it. What one point is the whole of has that
    /// point's flag, also if there is no value.
    pub(crate) fn outcome(&self, how: Aggregation, slot: TimeRange, holds: bool) -> Option<(f64, u8)> {
        let is_of_starts = holds && matches!(how, Aggregation::Sum | Aggregation::Count);
        if self.parts == 0 || is_of_starts && self.starts == 0 {
            return None;
        }
        let (is_missing, worst) = if is_of_starts {
            (self.starts_with_value < self.starts, self.starts_worst)
        } else {
            (self.covered < slot.to - slot.from, self.worst)
        };
        let flag = if is_missing { Flag::Missing.number() } else { worst };
        let is_of_one = !is_of_starts && self.parts == 1 && self.spanned == slot.to - slot.from;
        let absent = if is_of_one { worst | ABSENT } else { Flag::Missing.absent() };
        let value = if holds { self.value_of_holds(how) } else { self.value(how) };
        Some(value.map_or((0.0, absent), |value| (value, flag)))
    }

    fn value(&self, how: Aggregation) -> Option<f64> {
        if how == Aggregation::Count {
            return Some(f64::from(self.starts_with_value));
        }
        (self.values > 0).then(|| match how {
            Aggregation::Sum => self.sum,
            Aggregation::Average if self.sum.is_finite() || self.length == 0 => self.sum / self.shares,
            Aggregation::Minimum => self.min,
            Aggregation::Maximum => self.max,
            Aggregation::First => self.first,
            Aggregation::Last => self.last,
            Aggregation::Count => f64::from(self.starts_with_value),
            Aggregation::Average | Aggregation::TimeWeightedMean => self.time_weighted_mean(),
        })
    }

    /// Of values that hold, sums and means are of the points in the slot.
    fn value_of_holds(&self, how: Aggregation) -> Option<f64> {
        match how {
            Aggregation::Sum => (self.starts_with_value > 0).then_some(self.starts_sum),
            Aggregation::Average if self.starts_with_value > 0 => {
                Some(self.starts_sum / f64::from(self.starts_with_value))
            }
            Aggregation::Average => self.value(Aggregation::Last),
            _ => self.value(how),
        }
    }

    /// Parts of one length are averaged without weights, which would only round; but for a sum that no number holds.
    fn time_weighted_mean(&self) -> f64 {
        let is_even = self.length > 0 && self.length == self.covered / i64::from(self.values);
        if is_even && self.shares == f64::from(self.values) && self.sum.is_finite() {
            return self.sum / self.shares;
        }
        if self.min == self.max {
            return self.min;
        }
        self.weighted / weight(self.covered)
    }
}
