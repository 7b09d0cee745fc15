//! What a block holds in sum: computed once when it is written, stored in its header.

use super::{Malformed, decimals};
use crate::flags::ABSENT;
use crate::points::UNOBSERVED;
use store::wire::{Reader, put_varint, put_zigzag};

/// What a block holds, readable without decoding it. Points without value count in `count` alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Points.
    pub count: u32,
    /// Points with a value.
    pub values: u32,
    /// First and last time.
    pub first: i64,
    /// See `first`.
    pub last: i64,
    /// Earliest and latest observed time; [`UNOBSERVED`] both where there is none.
    pub observed_first: i64,
    /// See `observed_first`.
    pub observed_last: i64,
    /// Of the values that are numbers (not NaN): infinities if there is none. Of zeros that differ in sign, the
    /// first.
    pub min: f64,
    /// See `min`.
    pub max: f64,
    /// Sum of values, added up in the order of time.
    pub sum: f64,
    /// Sum of squared values, added up in the order of time.
    pub sum_of_squares: f64,
    /// The worst (largest) flag, without [`ABSENT`].
    pub flag_max: u8,
}

/// Sums up the columns of a block, which has a point; `observed` may be empty.
pub(super) fn summarize(times: &[i64], values: &[f64], flags: &[u8], observed: &[i64]) -> Summary {
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else { panic!("a block has a point") };
    let valued = valued(flags);
    let numbers = if valued == values.len() {
        Numbers::of(values.iter().copied())
    } else {
        let pairs = values.iter().zip(flags).filter(|(_, flag)| **flag & ABSENT == 0);
        Numbers::of(pairs.map(|(value, _)| *value))
    };
    let said = || observed.iter().copied().filter(|it| *it != UNOBSERVED);
    Summary {
        count: count_of(times.len()),
        values: count_of(valued),
        first,
        last,
        observed_first: said().min().unwrap_or(UNOBSERVED),
        observed_last: said().max().unwrap_or(UNOBSERVED),
        min: numbers.min,
        max: numbers.max,
        sum: numbers.sum,
        sum_of_squares: numbers.sum_of_squares,
        flag_max: worst(flags),
    }
}

fn count_of(points: usize) -> u32 {
    u32::try_from(points).expect("blocks are small")
}

/// How many points have a value. Mostly all have, which is found sixteen at a time.
pub(super) fn valued(flags: &[u8]) -> usize {
    if flags.iter().fold(0, |all, flag| all | flag) & ABSENT == 0 {
        return flags.len();
    }
    flags.iter().filter(|flag| **flag & ABSENT == 0).count()
}

/// The largest flag, without [`ABSENT`].
pub(super) fn worst(flags: &[u8]) -> u8 {
    flags.iter().fold(0, |worst, flag| worst.max(flag & !ABSENT))
}

struct Numbers {
    min: f64,
    max: f64,
    sum: f64,
    sum_of_squares: f64,
}

impl Numbers {
    #[inline]
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let none = Self { min: f64::INFINITY, max: f64::NEG_INFINITY, sum: 0.0, sum_of_squares: 0.0 };
        values.fold(none, |so_far, value| Self {
            min: if value < so_far.min { value } else { so_far.min },
            max: if value > so_far.max { value } else { so_far.max },
            sum: so_far.sum + value,
            sum_of_squares: so_far.sum_of_squares + value * value,
        })
    }
}

/// Appends all but the observed times: count, points without value, first, span, worst flag, four doubles.
pub(super) fn write(summary: &Summary, out: &mut Vec<u8>) {
    put_varint(out, summary.count.into());
    put_varint(out, (summary.count - summary.values).into());
    put_zigzag(out, summary.first);
    put_varint(out, summary.last.wrapping_sub(summary.first).cast_unsigned());
    out.push(summary.flag_max);
    let mut before = 0.0;
    for double in [summary.min, summary.max, summary.sum, summary.sum_of_squares] {
        put_double(out, double, before);
        before = double;
    }
}

/// Reads what [`write`] wrote; checks what can be checked of counts and times.
pub(super) fn read(cursor: &mut Reader<'_>) -> Result<Summary, Malformed> {
    let count = u16::try_from(cursor.varint()?).map_err(|_| Malformed)?.into();
    let absent = u32::try_from(cursor.varint()?).map_err(|_| Malformed)?;
    let values = u32::checked_sub(count, absent).ok_or(Malformed)?;
    let first = cursor.zigzag()?;
    let span = cursor.varint()?;
    let last = first.checked_add_unsigned(span).ok_or(Malformed)?;
    let steps = u64::from(count).checked_sub(1).ok_or(Malformed)?;
    if span < steps || (steps == 0 && span > 0) {
        return Err(Malformed);
    }
    let flag_max = cursor.byte()?;
    let mut doubles = [0.0; 4];
    let mut before = 0.0;
    for double in &mut doubles {
        *double = read_double(cursor, before)?;
        before = *double;
    }
    let [min, max, sum, sum_of_squares] = doubles;
    let (observed_first, observed_last) = (UNOBSERVED, UNOBSERVED);
    Ok(Summary {
        count,
        values,
        first,
        last,
        observed_first,
        observed_last,
        min,
        max,
        sum,
        sum_of_squares,
        flag_max,
    })
}

/// Appends earliest and latest observed time.
pub(super) fn write_observed(summary: &Summary, out: &mut Vec<u8>) {
    put_zigzag(out, summary.observed_first.wrapping_sub(summary.first));
    put_varint(out, summary.observed_last.wrapping_sub(summary.observed_first).cast_unsigned());
}

/// Reads what [`write_observed`] wrote.
pub(super) fn read_observed(summary: &mut Summary, cursor: &mut Reader<'_>) -> Result<(), Malformed> {
    summary.observed_first = cursor.zigzag()?.wrapping_add(summary.first);
    summary.observed_last = summary.observed_first.checked_add_unsigned(cursor.varint()?).ok_or(Malformed)?;
    Ok(())
}

/// Instead of an exponent: the eight bytes follow.
const BITS: u8 = 0x80;
/// Instead of an exponent: the same as the double before.
const SAME: u8 = 0x81;

/// A decimal takes a byte for its exponent and what its digits need.
fn put_double(out: &mut Vec<u8>, value: f64, before: f64) {
    if value.to_bits() == before.to_bits() {
        out.push(SAME);
    } else if let Some((exponent, integer)) = decimals::single(value) {
        out.push(exponent);
        put_zigzag(out, integer);
    } else {
        out.push(BITS);
        out.extend_from_slice(&value.to_le_bytes());
    }
}

fn read_double(cursor: &mut Reader<'_>, before: f64) -> Result<f64, Malformed> {
    match cursor.byte()? {
        SAME => Ok(before),
        BITS => Ok(f64::from_le_bytes(cursor.array()?)),
        exponent => decimals::join(exponent, cursor.zigzag()?).ok_or(Malformed),
    }
}
