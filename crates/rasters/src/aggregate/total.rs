//! The sum of many series on a common raster, one series after the other, or sums of some after sums of others.

use strands::{Flag, Points};
use strands::{is_absent, worse};

/// Points added up so far. Memory: 21 bytes for each different time, whatever the number of series.
#[derive(Clone, Debug, Default)]
pub struct Total {
    times: Vec<i64>,
    values: Vec<f64>,
    flags: Vec<u8>,
    /// How many series had a value.
    counts: Vec<u32>,
    series: u32,
}

impl Total {
    /// Adds the points of one series, on the raster of the others.
    /// Cost: about a nanosecond a point if its times are those held already, else a merge of both.
    pub fn add(&mut self, points: &Points) {
        if self.times != points.times {
            self.widen(&points.times);
        }
        self.series = self.series.saturating_add(1);
        if self.times.len() == points.len() {
            self.add_aligned(points, 0..points.len());
            return;
        }
        let mut place = 0;
        for (position, time) in points.times.iter().enumerate() {
            while self.times.get(place).is_some_and(|held| held < time) {
                place += 1;
            }
            self.add_one(points, position, place);
        }
    }

    /// How many different times there are.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Adds what other series come to, on the same raster. Cost: as [`Total::add`].
    pub fn merge(&mut self, other: &Self) {
        if self.times != other.times {
            self.widen(&other.times);
        }
        self.series = self.series.saturating_add(other.series);
        let mut place = 0;
        let columns = other.values.iter().zip(&other.flags).zip(&other.counts);
        for (time, ((value, flag), count)) in other.times.iter().zip(columns) {
            while self.times.get(place).is_some_and(|held| held < time) {
                place += 1;
            }
            let held = (self.values.get_mut(place), self.flags.get_mut(place), self.counts.get_mut(place));
            if let (Some(sum), Some(worst), Some(held)) = held {
                // Where no series had a value the sum is -0.0, which changes nothing.
                *sum += value;
                *worst = worse(*worst, *flag);
                *held += count;
            }
        }
    }

    /// The sums. The worst flag wins; where a series had no value the sum is of the others, flagged missing; where
    /// none had one, there is no value; where they come to more than a number holds, neither, flagged faulty.
    pub fn finish(self) -> Points {
        let Self { times, values, mut flags, counts, series } = self;
        for (flag, count) in flags.iter_mut().zip(counts) {
            *flag = match count {
                0 => Flag::Missing.absent(),
                _ if count < series => Flag::Missing.number(),
                _ => *flag,
            };
        }
        let mut points = Points { times, values, flags, ..Points::default() };
        points.settle();
        points
    }

    fn add_aligned(&mut self, points: &Points, range: std::ops::Range<usize>) {
        let has_all_values = !is_absent(points.flags.iter().fold(0, |all, flag| all | flag));
        if !has_all_values {
            range.for_each(|position| self.add_one(points, position, position));
            return;
        }
        for (sum, value) in self.values.iter_mut().zip(&points.values) {
            *sum += value;
        }
        for (worst, flag) in self.flags.iter_mut().zip(&points.flags) {
            *worst = (*worst).max(*flag);
        }
        for count in &mut self.counts {
            *count += 1;
        }
    }

    fn add_one(&mut self, points: &Points, position: usize, place: usize) {
        let (Some(value), Some(flag)) = (points.values.get(position), points.flags.get(position)) else {
            return;
        };
        let held = (self.values.get_mut(place), self.flags.get_mut(place), self.counts.get_mut(place));
        if let (Some(sum), Some(worst), Some(count)) = held {
            *worst = worse(*worst, *flag);
            if !is_absent(*flag) {
                *sum += value;
                *count += 1;
            }
        }
    }

    /// Makes room for times that are not held yet.
    fn widen(&mut self, times: &[i64]) {
        let held = std::mem::take(self);
        self.series = held.series;
        let mut new = times.iter().copied().peekable();
        let columns = held.values.into_iter().zip(held.flags).zip(held.counts);
        for (time, ((value, flag), count)) in held.times.into_iter().zip(columns) {
            while let Some(earlier) = new.next_if(|new| *new < time) {
                self.push(earlier, -0.0, 0, 0);
            }
            new.next_if_eq(&time);
            self.push(time, value, flag, count);
        }
        for time in new {
            self.push(time, -0.0, 0, 0);
        }
    }

    fn push(&mut self, time: i64, value: f64, flag: u8, count: u32) {
        self.times.push(time);
        self.values.push(value);
        self.flags.push(flag);
        self.counts.push(count);
    }
}
