//! What is known of one bucket while it is filled.

use strands::{Columns, Summary};

use super::distinct::Distinct;
use super::{AggregateMethod, StoredValue};
use crate::history::note::{Class, Point, typed_text};

/// Numbers are joined in so many lanes, for the processor's sake.
const LANES: usize = 8;
/// Flags above are of values that are no numbers; a bit beside the class does not matter.
const CLASS_MASK: u8 = 0x87;

/// Which work the methods need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    distinct: bool,
    deviation: bool,
    sum: bool,
    squares: bool,
    /// The least and the greatest, be they numbers or texts.
    bounds: bool,
}

impl Needs {
    pub(super) fn of(methods: &[AggregateMethod]) -> Self {
        let has = |method| methods.contains(&method);
        Self {
            distinct: has(AggregateMethod::DistinctCount),
            deviation: has(AggregateMethod::Stddev),
            sum: [AggregateMethod::Sum, AggregateMethod::Avg, AggregateMethod::Stddev].into_iter().any(has),
            squares: has(AggregateMethod::Sumsq),
            bounds: has(AggregateMethod::Min) || has(AggregateMethod::Max),
        }
    }

    /// Whether the summary of a block that holds numbers alone is enough.
    pub(super) fn summary_is_enough(self) -> bool {
        !self.distinct && !self.deviation
    }

    /// Whether the notes of points are looked at, none of whose flags is above this one.
    pub(super) fn notes_of(self, flag_max: u8) -> bool {
        (self.distinct || self.bounds) && flag_max > Class::Spelled as u8
    }
}

/// The running numbers of one bucket.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Instances.
    pub count: u64,
    /// Instances with a number.
    numbers: u64,
    sum: f64,
    sum_of_squares: f64,
    min: f64,
    max: f64,
    /// Sum of squared distances from the mean.
    deviations: f64,
    min_text: Option<Box<str>>,
    max_text: Option<Box<str>>,
    distinct: Distinct,
    /// Time of the first and last instance, in nanoseconds.
    pub first: i128,
    pub last: i128,
}

impl Tally {
    /// Empties it, keeping the memory.
    pub(super) fn clear(&mut self) {
        let mut distinct = std::mem::take(&mut self.distinct);
        distinct.clear();
        *self = Self { distinct, ..Self::default() };
    }

    /// Adds points that lie in the bucket.
    pub(super) fn add(&mut self, points: &Columns<'_>, needs: Needs) {
        let worst = points.flags.iter().fold(0, |worst, flags| worst.max(flags & CLASS_MASK));
        if worst > Class::Array as u8 {
            (0..points.len()).for_each(|index| self.add_one(&Point::of(points, index), needs));
            return;
        }
        self.count += points.len() as u64;
        self.add_numbers(points.values, needs);
        if !needs.distinct {
            return;
        }
        self.distinct.reserve(points.len());
        if worst <= Class::Spelled as u8 {
            points.values.iter().for_each(|value| self.distinct.insert(number_key(*value)));
        } else {
            (0..points.len()).for_each(|index| self.distinct.insert(key(&Point::of(points, index))));
        }
    }

    fn add_one(&mut self, point: &Point<'_>, needs: Needs) {
        if point.class == Class::Removal {
            return;
        }
        self.count += 1;
        if needs.distinct {
            self.distinct.reserve(1);
            self.distinct.insert(key(point));
        }
        match point.class {
            Class::Text if needs.bounds => {
                let value = point.value();
                let text = typed_text(&value).unwrap_or(&value);
                let text = if value.starts_with('"') { &value } else { text };
                keep(&mut self.min_text, text, |best| order(text, best).is_lt());
                keep(&mut self.max_text, text, |best| order(text, best).is_gt());
            }
            Class::Text | Class::Other | Class::Removal => {}
            _ => self.add_numbers(&[point.value], needs),
        }
    }

    /// Cost: a pass for each thing that is needed, over values that lie in the processor's cache.
    fn add_numbers(&mut self, values: &[f64], needs: Needs) {
        let Some(first) = values.first().copied() else {
            return;
        };
        let add = |sum: f64, value: f64| sum + value;
        let same = |value: f64| value;
        let sum = if needs.sum { in_lanes(values, 0.0, same, add) } else { 0.0 };
        let squares = if needs.squares { in_lanes(values, 0.0, |value| value * value, add) } else { 0.0 };
        let (mut min, mut max) = (first, first);
        if needs.bounds {
            min = in_lanes(values, first, same, |least, value| if value < least { value } else { least });
            max = in_lanes(values, first, same, |most, value| if value > most { value } else { most });
        }
        let numbers = values.len() as u64;
        if needs.deviation {
            let mean = sum / as_number(numbers);
            let deviations = in_lanes(values, 0.0, |value| (value - mean) * (value - mean), add);
            self.join_deviations(numbers, sum, deviations);
        }
        self.join(numbers, (sum, squares), (min, max));
    }

    /// Adds a block that lies in the bucket and holds numbers alone.
    pub(super) fn add_summary(&mut self, block: &Summary) {
        self.count += u64::from(block.count);
        let sums = (block.sum, block.sum_of_squares);
        self.join(u64::from(block.values), sums, (block.min, block.max));
    }

    fn join(&mut self, numbers: u64, sums: (f64, f64), bounds: (f64, f64)) {
        if self.numbers == 0 {
            (self.min, self.max) = bounds;
        }
        self.numbers += numbers;
        self.sum += sums.0;
        self.sum_of_squares += sums.1;
        self.min = self.min.min(bounds.0);
        self.max = self.max.max(bounds.1);
    }

    /// Squared distances from two means become those from the mean of both (Chan, Golub, LeVeque).
    fn join_deviations(&mut self, numbers: u64, sum: f64, deviations: f64) {
        self.deviations += deviations;
        if self.numbers > 0 {
            let (old, new) = (as_number(self.numbers), as_number(numbers));
            let apart = sum / new - self.sum / old;
            self.deviations += apart * apart * old * new / (old + new);
        }
    }

    /// What a method makes of the bucket; texts are put into `texts`.
    pub(super) fn value(&self, method: AggregateMethod, texts: &mut Vec<Box<str>>) -> StoredValue {
        let number =
            |number: f64| if number.is_finite() { StoredValue::Number(number) } else { StoredValue::None };
        let mut text = |text: &Option<Box<str>>| match text {
            Some(text) => {
                texts.push(text.clone());
                StoredValue::Text(u32::try_from(texts.len() - 1).expect("two texts a bucket"))
            }
            None => StoredValue::None,
        };
        match method {
            AggregateMethod::TotalCount => StoredValue::Count(self.count),
            AggregateMethod::DistinctCount => StoredValue::Count(self.distinct.len() as u64),
            AggregateMethod::Min if self.numbers == 0 => text(&self.min_text),
            AggregateMethod::Max if self.numbers == 0 => text(&self.max_text),
            _ if self.numbers == 0 => StoredValue::None,
            AggregateMethod::Sum => number(self.sum),
            AggregateMethod::Avg => number(self.sum / as_number(self.numbers)),
            AggregateMethod::Min => number(self.min),
            AggregateMethod::Max => number(self.max),
            AggregateMethod::Stddev => number((self.deviations / as_number(self.numbers)).sqrt()),
            AggregateMethod::Sumsq => number(self.sum_of_squares),
        }
    }
}

/// What `join` makes of all values, each turned first; `start` is what changes nothing.
#[inline]
fn in_lanes(values: &[f64], start: f64, convert: impl Fn(f64) -> f64, join: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [start; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, value)| *lane = join(*lane, convert(*value)));
    }
    let joined = lanes.into_iter().fold(start, &join);
    rest.iter().fold(joined, |joined, value| join(joined, convert(*value)))
}

/// The order of texts: that of what the JSON strings say.
fn order(one: &str, other: &str) -> std::cmp::Ordering {
    if one.contains('\\') || other.contains('\\') {
        return lang_json::string_value(one).cmp(&lang_json::string_value(other));
    }
    // Without the closing quote, which sorts among characters.
    one.trim_end_matches('"').cmp(other.trim_end_matches('"'))
}

fn keep(best: &mut Option<Box<str>>, text: &str, better: impl Fn(&str) -> bool) {
    if best.as_deref().is_none_or(better) {
        *best = Some(text.into());
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of instances are far below 2^53")]
fn as_number(count: u64) -> f64 {
    count as f64
}

/// What tells values apart: numbers by value, all others by their text.
fn key(point: &Point<'_>) -> u64 {
    match point.class {
        Class::Number | Class::Fraction | Class::Spelled => number_key(point.value),
        _ => xxhash_rust::xxh3::xxh3_64(point.value().as_bytes()),
    }
}

fn number_key(value: f64) -> u64 {
    // -0 is 0.
    (value + 0.0).to_bits()
}
