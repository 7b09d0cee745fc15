//! The times of a block. First and last are in the header, so a raster costs nothing more.

use super::{Encoding, Malformed, integers};
use store::wire::{Reader, put_varint};

/// One step from the first to the last.
const RASTER: u8 = 0;
/// Eight bytes each.
const RAW: u8 = 1;
/// Runs of equal steps: calendar days with their two odd ones a year, months, rasters with gaps.
const RUNS: u8 = 2;
/// Distances from the first, divided by a common unit, as packed integers.
const PACKED: u8 = 3;

/// Units that may divide all steps, the largest first: minute, second, millisecond, microsecond.
const UNITS: [u64; 4] = [60_000_000_000, 1_000_000_000, 1_000_000, 1_000];

/// A run costs about as much as the packed steps of this many points.
const POINTS_PER_RUN: usize = 32;

/// What the header says of the times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) count: usize,
}

impl Frame {
    fn span(self) -> u64 {
        self.last.wrapping_sub(self.first).cast_unsigned()
    }

    fn steps(self) -> u64 {
        (self.count as u64).saturating_sub(1)
    }
}

fn steps(times: &[i64]) -> impl Iterator<Item = u64> + Clone {
    times.iter().zip(times.iter().skip(1)).map(|(time, next)| next.wrapping_sub(*time).cast_unsigned())
}

/// Appends ascending times; returns the number of the codec.
pub(super) fn encode(times: &[i64], encoding: Encoding, out: &mut Vec<u8>) -> u8 {
    let Some(step) = steps(times).next() else { return RASTER };
    if steps(times).all(|it| it == step) {
        return RASTER;
    }
    if encoding == Encoding::Raw {
        let before = out.len();
        out.resize(before + size_of_val(times), 0);
        let (places, _) = out.get_mut(before..).expect("grown from there").as_chunks_mut();
        for (place, time) in places.iter_mut().zip(times) {
            *place = time.to_le_bytes();
        }
        return RAW;
    }
    let unit = unit_of(times);
    put_varint(out, unit);
    let changes = steps(times).zip(steps(times).skip(1)).filter(|(step, next)| step != next).count();
    if changes <= times.len() / POINTS_PER_RUN {
        put_runs(times, unit, out);
        return RUNS;
    }
    let first = times.first().copied().unwrap_or(0);
    let distances = times.iter().map(|time| time.wrapping_sub(first).cast_unsigned());
    let units: Vec<i64> = distances.map(|distance| quotient(distance, unit).cast_signed()).collect();
    integers::pack(&units, out);
    PACKED
}

/// The largest unit known to divide all steps: the smallest step, or one of the clock's.
fn unit_of(times: &[i64]) -> u64 {
    let smallest = steps(times).min().unwrap_or(1).max(1);
    if steps(times).all(|step| step % smallest == 0) {
        return smallest;
    }
    let divides = |unit: u64| steps(times).all(|step| quotient(step, unit) * unit == step);
    UNITS.into_iter().find(|unit| divides(*unit)).unwrap_or(1)
}

/// Division by constants is several times faster than by a number unknown to the compiler.
fn quotient(value: u64, unit: u64) -> u64 {
    match unit {
        1 => value,
        1_000 => value / 1_000,
        1_000_000 => value / 1_000_000,
        1_000_000_000 => value / 1_000_000_000,
        60_000_000_000 => value / 60_000_000_000,
        _ => value / unit,
    }
}

fn put_runs(times: &[i64], unit: u64, out: &mut Vec<u8>) {
    let mut rest = steps(times).peekable();
    while let Some(step) = rest.next() {
        let mut len = 1;
        while rest.next_if_eq(&step).is_some() {
            len += 1;
        }
        put_varint(out, len as u64);
        put_varint(out, quotient(step, unit));
    }
}

/// Appends the times to `out`; on an error, perhaps a part of them.
pub(super) fn decode(
    codec: u8,
    cursor: &mut Reader<'_>,
    frame: Frame,
    out: &mut Vec<i64>,
) -> Result<(), Malformed> {
    let before = out.len();
    match codec {
        RASTER => return raster(frame, out),
        RAW => {
            let (times, _) = cursor.take(frame.count * size_of::<i64>())?.as_chunks();
            out.extend(times.iter().map(|bytes| i64::from_le_bytes(*bytes)));
        }
        RUNS => read_runs(cursor, frame, out)?,
        PACKED => {
            let unit = cursor.varint()?.cast_signed();
            out.resize(before + frame.count, 0);
            integers::unpack_scaled(
                cursor,
                unit,
                frame.first,
                out.get_mut(before..).expect("grown from there"),
            )?;
        }
        _ => return Err(Malformed),
    }
    let times = out.get(before..).expect("grown from there");
    let ends = times.first() == Some(&frame.first) && times.last() == Some(&frame.last);
    let ascending =
        times.iter().zip(times.iter().skip(1)).fold(true, |all, (time, next)| all & (time < next));
    if ends && ascending && times.len() == frame.count { Ok(()) } else { Err(Malformed) }
}

/// Passes over times that are not wanted, unchecked. Cost: little more than nothing.
pub(super) fn skip(codec: u8, cursor: &mut Reader<'_>, count: usize) -> Result<(), Malformed> {
    match codec {
        RASTER => {}
        RAW => drop(cursor.take(count * size_of::<i64>())?),
        RUNS => {
            cursor.varint()?;
            let mut left = count.saturating_sub(1);
            while left > 0 {
                let len = cursor.length(left)?;
                if len == 0 {
                    return Err(Malformed);
                }
                cursor.varint()?;
                left -= len;
            }
        }
        PACKED => {
            cursor.varint()?;
            integers::skip(cursor, count)?;
        }
        _ => return Err(Malformed),
    }
    Ok(())
}

fn raster(frame: Frame, out: &mut Vec<i64>) -> Result<(), Malformed> {
    let step = frame.span().checked_div(frame.steps()).unwrap_or(0);
    if step * frame.steps() != frame.span() {
        return Err(Malformed);
    }
    let before = out.len();
    out.resize(before + frame.count, 0);
    let mut time = frame.first;
    for slot in out.get_mut(before..).expect("grown from there") {
        *slot = time;
        time = time.wrapping_add(step.cast_signed());
    }
    Ok(())
}

fn read_runs(cursor: &mut Reader<'_>, frame: Frame, out: &mut Vec<i64>) -> Result<(), Malformed> {
    let unit = cursor.varint()?;
    let mut time = frame.first;
    let mut left = frame.count.saturating_sub(1);
    out.push(time);
    while left > 0 {
        let len = cursor.length(left)?;
        if len == 0 {
            return Err(Malformed);
        }
        let step = cursor.varint()?.wrapping_mul(unit).cast_signed();
        out.extend((0..len).map(|_| {
            time = time.wrapping_add(step);
            time
        }));
        left -= len;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(times: &[i64], codec: u8, len_max: usize) {
        let mut bytes = Vec::new();
        assert_eq!(encode(times, Encoding::Hot, &mut bytes), codec);
        assert!(bytes.len() <= len_max, "{} bytes for {} times", bytes.len(), times.len());
        let frame = Frame { first: times[0], last: times[times.len() - 1], count: times.len() };
        let mut back = Vec::new();
        decode(codec, &mut Reader::new(&bytes), frame, &mut back).unwrap();
        assert_eq!(back, times);
        let mut cursor = Reader::new(&bytes);
        skip(codec, &mut cursor, times.len()).unwrap();
        assert!(cursor.is_empty());
    }

    fn summed(steps: impl Iterator<Item = i64>) -> Vec<i64> {
        let mut time = 1_767_225_600_000_000_000;
        std::iter::once(0)
            .chain(steps)
            .map(|step| {
                time += step;
                time
            })
            .collect()
    }

    #[test]
    fn rasters_cost_nothing() {
        check(&summed((0..2_975).map(|_| 900_000_000_000)), RASTER, 0);
        check(&[5], RASTER, 0);
        check(&[i64::MIN, i64::MAX], RASTER, 0);
        check(&[i64::MIN, 0, i64::MAX], PACKED, 48);
    }

    #[test]
    fn calendar_days_cost_a_few_bytes() {
        let hours = |day| match day {
            87 => 23,
            297 => 25,
            _ => 24,
        };
        check(&summed((0..364).map(|day| hours(day) * 3_600_000_000_000)), RUNS, 26);
    }

    #[test]
    fn a_raster_with_gaps_costs_a_bit_a_point() {
        let gaps = |at: i64| 1 + i64::from(at * at % 7 == 1);
        check(&summed((0..1_280).map(|at| gaps(at) * 900_000_000_000)), PACKED, 1_280 / 8 + 60);
    }

    #[test]
    fn milliseconds_cost_no_nanoseconds() {
        let jitter = |at: i64| 1_000_000_000 + (at * 7_919 % 32) * 1_000_000;
        check(&summed((0..1_280).map(jitter)), PACKED, 1_280 * 5 / 8 + 70);
    }

    #[test]
    fn times_that_do_not_ascend_are_malformed() {
        let mut bytes = Vec::new();
        [1_i64, 5, 5, 9].iter().for_each(|time| bytes.extend_from_slice(&time.to_le_bytes()));
        let frame = Frame { first: 1, last: 9, count: 4 };
        assert_eq!(decode(RAW, &mut Reader::new(&bytes), frame, &mut Vec::new()), Err(Malformed));
        let uneven = Frame { first: 1, last: 9, count: 4 };
        assert_eq!(decode(RASTER, &mut Reader::new(&[]), uneven, &mut Vec::new()), Err(Malformed));
    }
}
