//! When values were observed: only in histories, often equal to the times or close to them.

use super::{Malformed, bits, integers};
use crate::points::UNOBSERVED;
use store::wire::{Reader, put_varint, put_zigzag};

/// No column.
pub(super) const NONE: u8 = 0;
/// A column in which nobody said.
pub(super) const UNSAID: u8 = 1;
/// All the same distance from their times.
const DISTANCE: u8 = 2;
/// Packed integers.
const PACKED: u8 = 3;
/// Packed integers behind a bit for each point: whether somebody said.
const SPARSE: u8 = 4;

/// Units that may divide all instants or distances, the largest first; the first byte of the integers is a
/// place in this list, with [`FROM_TIMES`] set if distances from the times are packed.
const UNITS: [i64; 4] = [1_000_000_000, 1_000_000, 1_000, 1];

const FROM_TIMES: u8 = 0x80;

/// Appends the column (empty, or as long as `times`); returns the number of the codec.
pub(super) fn encode(observed: &[i64], times: &[i64], out: &mut Vec<u8>) -> u8 {
    if observed.is_empty() {
        return NONE;
    }
    let said = observed.iter().filter(|it| **it != UNOBSERVED).count();
    if said == 0 {
        return UNSAID;
    }
    let pairs = observed.iter().zip(times).filter(|(it, _)| **it != UNOBSERVED);
    let distances: Vec<i64> = pairs.clone().map(|(it, time)| it.wrapping_sub(*time)).collect();
    let first = distances.first().copied().unwrap_or(0);
    if said == observed.len() && distances.iter().all(|it| *it == first) {
        put_zigzag(out, first);
        return DISTANCE;
    }
    let sparse = said < observed.len();
    if sparse {
        bits::pack(observed.iter().map(|it| u64::from(*it != UNOBSERVED)), 1, out);
    }
    let instants: Vec<i64> = pairs.map(|(it, _)| *it).collect();
    let as_instants = packed(instants, 0);
    let as_distances = packed(distances, FROM_TIMES);
    let smaller = if as_instants.len() <= as_distances.len() { as_instants } else { as_distances };
    out.extend_from_slice(&smaller);
    if sparse { SPARSE } else { PACKED }
}

fn packed(mut values: Vec<i64>, mark: u8) -> Vec<u8> {
    let divides =
        |unit: &i64| values.iter().all(|value| quotient(*value, *unit).wrapping_mul(*unit) == *value);
    let (place, unit) = (0_u64..).zip(UNITS).find(|(_, unit)| divides(unit)).expect("the last unit is 1");
    values.iter_mut().for_each(|value| *value = quotient(*value, unit));
    let mut bytes = Vec::new();
    put_varint(&mut bytes, place);
    bytes.iter_mut().for_each(|first| *first |= mark);
    integers::pack(&values, &mut bytes);
    bytes
}

/// Division by constants is several times faster than by a number unknown to the compiler.
fn quotient(value: i64, unit: i64) -> i64 {
    match unit {
        1_000 => value / 1_000,
        1_000_000 => value / 1_000_000,
        1_000_000_000 => value / 1_000_000_000,
        _ => value,
    }
}

/// Whether the column is kept by its distances from the times, which [`decode`] then needs.
pub(super) fn leans_on_times(codec: u8, cursor: &Reader<'_>) -> bool {
    match codec {
        DISTANCE | SPARSE => true,
        PACKED => cursor.rest().first().is_some_and(|head| head & FROM_TIMES != 0),
        _ => false,
    }
}

/// Appends the column of `count` points to `out`; on an error, perhaps a part of it. `times` may be empty unless the column
/// leans on them.
pub(super) fn decode(
    codec: u8,
    cursor: &mut Reader<'_>,
    count: usize,
    times: &[i64],
    out: &mut Vec<i64>,
) -> Result<(), Malformed> {
    let before = out.len();
    match codec {
        NONE => {}
        UNSAID => out.resize(before + count, UNOBSERVED),
        DISTANCE => {
            let distance = cursor.zigzag()?;
            out.extend(times.iter().map(|time| time.wrapping_add(distance)));
        }
        PACKED => {
            let (unit, from_times) = read_head(cursor)?;
            out.resize(before + count, 0);
            let column = out.get_mut(before..).expect("grown from there");
            integers::unpack_scaled(cursor, unit, 0, column)?;
            if from_times {
                column.iter_mut().zip(times).for_each(|(value, time)| *value = value.wrapping_add(*time));
            }
        }
        SPARSE => {
            let mut said = vec![0; count];
            bits::unpack(cursor, 1, &mut said)?;
            let (unit, from_times) = read_head(cursor)?;
            let mut values = vec![0; said.iter().filter(|it| **it == 1).count()];
            integers::unpack_scaled(cursor, unit, 0, &mut values)?;
            let mut values = values.into_iter();
            for (said, time) in said.iter().zip(times) {
                let value = if *said == 1 { values.next() } else { None };
                let base = if from_times { *time } else { 0 };
                out.push(value.map_or(UNOBSERVED, |value| value.wrapping_add(base)));
            }
        }
        _ => return Err(Malformed),
    }
    Ok(())
}

/// The unit of the integers, and whether they are distances from the times.
fn read_head(cursor: &mut Reader<'_>) -> Result<(i64, bool), Malformed> {
    let head = cursor.byte()?;
    let unit = *UNITS.get(usize::from(head & !FROM_TIMES)).ok_or(Malformed)?;
    Ok((unit, head & FROM_TIMES != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(observed: &[i64], times: &[i64], codec: u8, len_max: usize) {
        let mut bytes = Vec::new();
        assert_eq!(encode(observed, times, &mut bytes), codec);
        assert!(bytes.len() <= len_max, "{} bytes", bytes.len());
        let mut back = Vec::new();
        decode(codec, &mut Reader::new(&bytes), observed.len(), times, &mut back).unwrap();
        assert_eq!(back, observed);
        if !leans_on_times(codec, &Reader::new(&bytes)) {
            back.clear();
            decode(codec, &mut Reader::new(&bytes), observed.len(), &[], &mut back).unwrap();
            assert_eq!(back, observed);
        }
    }

    #[test]
    fn each_pattern_gets_its_codec() {
        let times: Vec<i64> = (0..256).map(|at| 1_700_000_000_123_456_000 + at * 1_000_000_123).collect();
        let seconds: Vec<i64> = (0..256).map(|at| 1_700_000_000_000_000_000 + at * 60_000_000_000).collect();
        check(&[], &times, NONE, 0);
        check(&[UNOBSERVED; 256], &times, UNSAID, 0);
        check(&times, &times, DISTANCE, 1);
        check(&seconds, &times, PACKED, 20);
        let mut gaps = seconds;
        gaps[17] = UNOBSERVED;
        check(&gaps, &times, SPARSE, 32 + 128 * 6 / 8 + 20);
        check(&[i64::MIN + 1, i64::MAX], &[i64::MAX - 1, i64::MAX], PACKED, 60);
    }
}
