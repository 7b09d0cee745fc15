//! What is known of one bucket while it is filled.

use model_series::{Points, Summary};

use super::{AggregateMethod, StoredValue};
use crate::history::note::{Class, Point, typed_text};

/// Sums are taken in so many lanes, for the processor's sake.
const LANES: usize = 4;
/// Flags above are of values that are no numbers; a bit beside the class does not matter.
const CLASS_MASK: u8 = 0x87;

/// Which work the methods need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    pub(super) distinct: bool,
    pub(super) deviation: bool,
    pub(super) texts: bool,
}

impl Needs {
    pub(super) fn of(methods: &[AggregateMethod]) -> Self {
        let has = |method| methods.contains(&method);
        Self {
            distinct: has(AggregateMethod::DistinctCount),
            deviation: has(AggregateMethod::Stddev),
            texts: has(AggregateMethod::Min) || has(AggregateMethod::Max),
        }
    }

    /// Whether a block's summary is enough.
    pub(super) fn summary_is_enough(self) -> bool {
        !self.distinct && !self.deviation
    }
}

/// The running numbers of one bucket.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Instances.
    pub(super) count: u64,
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
    /// Time of the first and last instance.
    pub(super) first: i64,
    pub(super) last: i64,
}

impl Tally {
    /// Empties it, keeping the memory.
    pub(super) fn clear(&mut self) {
        let mut distinct = std::mem::take(&mut self.distinct);
        distinct.clear();
        *self = Self { distinct, ..Self::default() };
    }

    /// Adds the points at these places, which lie in the bucket.
    pub(super) fn add(&mut self, points: &Points, places: std::ops::Range<usize>, needs: Needs) {
        let values = points.values.get(places.clone()).unwrap_or_default();
        let flags = points.flags.get(places.clone()).unwrap_or_default();
        let numeric =
            flags.iter().fold(0, |worst, flags| worst.max(flags & CLASS_MASK)) <= Class::Array as u8;
        if numeric {
            self.count += values.len() as u64;
            self.add_numbers(values, needs.deviation);
            if needs.distinct {
                if flags.iter().all(|flags| flags & CLASS_MASK <= Class::Spelled as u8) {
                    values.iter().for_each(|value| self.distinct.insert(number_key(*value)));
                } else {
                    places.for_each(|place| self.distinct.insert(key(&Point::new(points, place))));
                }
            }
            return;
        }
        for place in places {
            self.add_one(&Point::new(points, place), needs);
        }
    }

    fn add_one(&mut self, point: &Point<'_>, needs: Needs) {
        if point.class == Class::Removal {
            return;
        }
        self.count += 1;
        if needs.distinct {
            self.distinct.insert(key(point));
        }
        match point.class {
            Class::Text if needs.texts => {
                let value = point.value();
                let text = typed_text(&value).unwrap_or(&value);
                let text = if value.starts_with('"') { &value } else { text };
                keep(&mut self.min_text, text, |held| order(text, held).is_lt());
                keep(&mut self.max_text, text, |held| order(text, held).is_gt());
            }
            Class::Text | Class::Other | Class::Removal => {}
            _ => self.add_numbers(&[point.value], needs.deviation),
        }
    }

    /// Cost: a pass or two, of additions in lanes.
    fn add_numbers(&mut self, values: &[f64], deviation: bool) {
        let Some(first) = values.first() else {
            return;
        };
        let (mut sums, mut squares) = ([0.0; LANES], [0.0; LANES]);
        let (mut least, mut most) = ([*first; LANES], [*first; LANES]);
        let (chunks, rest) = values.as_chunks::<LANES>();
        for chunk in chunks {
            let lanes = sums.iter_mut().zip(&mut squares).zip(least.iter_mut().zip(&mut most));
            for (((sum, square), (least, most)), value) in lanes.zip(chunk) {
                *sum += value;
                *square += value * value;
                *least = if value < least { *value } else { *least };
                *most = if value > most { *value } else { *most };
            }
        }
        let (mut sum, mut sum_of_squares): (f64, f64) = (sums.iter().sum(), squares.iter().sum());
        let (mut min, mut max) = (*first, *first);
        for value in rest {
            sum += value;
            sum_of_squares += value * value;
            (min, max) = (min.min(*value), max.max(*value));
        }
        min = least.iter().copied().fold(min, f64::min);
        max = most.iter().copied().fold(max, f64::max);
        let numbers = values.len() as u64;
        if deviation {
            let mean = sum / as_number(numbers);
            let deviations: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            self.join_deviations(numbers, sum, deviations);
        }
        self.join(numbers, (sum, sum_of_squares), (min, max));
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
            let (held, new) = (as_number(self.numbers), as_number(numbers));
            let apart = sum / new - self.sum / held;
            self.deviations += apart * apart * held * new / (held + new);
        }
    }

    /// What a method makes of the bucket; texts are put into `texts`.
    pub(super) fn value(&self, method: AggregateMethod, texts: &mut Vec<Box<str>>) -> StoredValue {
        let number =
            |number: f64| if number.is_finite() { StoredValue::Number(number) } else { StoredValue::None };
        let mut text = |text: &Option<Box<str>>| match text {
            Some(text) => {
                texts.push(text.clone());
                StoredValue::Text(u32::try_from(texts.len() - 1).unwrap_or(u32::MAX))
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

/// The order of texts: that of what the JSON strings say.
fn order(one: &str, other: &str) -> std::cmp::Ordering {
    if one.contains('\\') || other.contains('\\') {
        return lang_json::string_value(one).cmp(&lang_json::string_value(other));
    }
    // Without the closing quote, which sorts among characters.
    one.trim_end_matches('"').cmp(other.trim_end_matches('"'))
}

fn keep(held: &mut Option<Box<str>>, text: &str, better: impl Fn(&str) -> bool) {
    if held.as_deref().is_none_or(better) {
        *held = Some(text.into());
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

/// A set of keys, emptied at no cost.
#[derive(Debug, Default)]
struct Distinct {
    /// Keys, and the round in which each was put there; as many as a power of two.
    slots: Vec<(u64, u32)>,
    round: u32,
    len: usize,
}

const SLOTS_FIRST: usize = 64;

impl Distinct {
    fn clear(&mut self) {
        self.len = 0;
        match self.round.checked_add(1) {
            Some(round) => self.round = round,
            None => *self = Self::default(),
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn insert(&mut self, key: u64) {
        if self.len * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at =
            usize::try_from(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20).unwrap_or_default() & mask;
        while let Some(slot) = self.slots.get_mut(at) {
            if slot.1 != self.round {
                *slot = (key, self.round);
                self.len += 1;
                return;
            }
            if slot.0 == key {
                return;
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let held = std::mem::take(&mut self.slots);
        let round = self.round;
        // A round that no empty slot has.
        self.round = 1;
        self.len = 0;
        self.slots = vec![(0, 0); (held.len() * 2).max(SLOTS_FIRST)];
        held.into_iter().filter(|slot| slot.1 == round).for_each(|slot| self.insert(slot.0));
    }
}
