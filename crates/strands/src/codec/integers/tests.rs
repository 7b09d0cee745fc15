use proptest::prelude::*;

use super::*;

fn check(values: &[i64]) -> usize {
    let mut bytes = Vec::new();
    pack(values, &mut bytes);
    let mut cursor = Reader::new(&bytes);
    let mut back = Vec::new();
    unpack(&mut cursor, values.len(), |group| back.extend_from_slice(group)).unwrap();
    assert!(cursor.is_empty());
    assert_eq!(back, values);
    for (factor, offset) in [(1, 0), (1_000_000, -5), (-3, i64::MAX), (1 << 40, 7)] {
        let expected: Vec<i64> =
            values.iter().map(|value| value.wrapping_mul(factor).wrapping_add(offset)).collect();
        unpack_scaled(&mut Reader::new(&bytes), factor, offset, &mut back).unwrap();
        assert_eq!(back, expected);
    }
    let mut cursor = Reader::new(&bytes);
    skip(&mut cursor, values.len()).unwrap();
    assert!(cursor.is_empty());
    bytes.len()
}

#[test]
fn regular_numbers_cost_a_header_a_group() {
    assert_eq!(check(&[7; 1280]), 10 * 2 + 1);
    let counter: Vec<i64> = (0..1280).map(|at| 5_000_000 + 1_000 * at).collect();
    assert!(check(&counter) <= 10 * 3 + 4);
}

#[test]
fn curves_are_kept_as_differences_of_differences() {
    // A day has 48 values; the steepest rise is 1,400 a value, its change from value to value at most 184.
    let sine = |at: i32| (f64::from(at) / 48.0 * std::f64::consts::TAU).sin() * 10_700.0;
    let noise = |at: i64| at * 7_919 % 32;
    #[expect(clippy::cast_possible_truncation, reason = "far below 2^63")]
    let curve: Vec<i64> = (0..1_280).map(|at| 50_000 + sine(at) as i64 + noise(at.into())).collect();
    assert!(check(&curve) <= 10 * (9 * 16 + 6), "9 bits a number, instead of 12");
    let parabola: Vec<i64> = (0..1_280).map(|at: i64| at * at).collect();
    assert!(check(&parabola) <= 10 * 6);
    for start in [i64::MAX - 500_000, i64::MIN, -1 << 30, 1 << 31] {
        check(&curve.iter().map(|value| start.wrapping_add(*value)).collect::<Vec<_>>());
    }
}

#[test]
fn short_groups_hold_no_curves() {
    let mut bytes = Vec::new();
    pack(&(0..128_i64).map(|at| at * at).collect::<Vec<_>>(), &mut bytes);
    assert_eq!(u32::from(bytes[0]), CURVED);
    assert_eq!(unpack(&mut Reader::new(&bytes), 127, |_| ()), Err(Malformed));
    assert_eq!(unpack(&mut Reader::new(&bytes), 128, |_| ()), Ok(()));
    for first in [90, 127, NUMBERS | 65, NUMBERS | 127] {
        bytes[0] = first;
        assert_eq!(unpack(&mut Reader::new(&bytes), 128, |_| ()), Err(Malformed));
    }
}

#[test]
fn noise_is_kept_as_numbers() {
    let noise: Vec<i64> = (0..1280_i64).map(|at| (at * 7_919 % 1_000) + 1_000_000).collect();
    assert!(check(&noise) <= 10 * (160 + 6));
}

#[test]
fn the_ends_of_all_numbers_wrap() {
    let ends: Vec<i64> = (0..300).map(|at| if at % 2 == 0 { i64::MIN } else { i64::MAX }).collect();
    check(&ends);
    check(&[]);
    check(&[i64::MIN]);
}

proptest! {
    #[test]
    fn any_numbers_come_back(
        shift in 0_u32..64,
        scale in 0_i64..100_000,
        values in prop::collection::vec(any::<i64>(), 0..400),
    ) {
        check(&values);
        check(&values.iter().map(|value| value >> shift).collect::<Vec<_>>());
        let sums = values.iter().zip(0_i64..).map(|(value, at)| (value >> shift).wrapping_add(at * scale));
        check(&sums.clone().collect::<Vec<_>>());
        let curves = sums.zip(0_i64..).map(|(sum, at)| sum.wrapping_add(at * at * scale));
        check(&curves.collect::<Vec<_>>());
    }

    #[test]
    fn never_panics_on_noise(count in 0_usize..400, bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut seen = 0;
        let read = unpack(&mut Reader::new(&bytes), count, |group| seen += group.len());
        prop_assert!(seen <= count && (read.is_err() || seen == count));
        let mut cursor = Reader::new(&bytes);
        let scaled = unpack_scaled(&mut cursor, 1_000, 1, &mut vec![0; count]);
        let mut skipped = Reader::new(&bytes);
        prop_assert_eq!((skip(&mut skipped, count), scaled), (read, read));
        prop_assert!(read.is_err() || skipped.rest() == cursor.rest());
    }
}
