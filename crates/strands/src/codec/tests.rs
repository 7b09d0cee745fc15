//! Blocks of any points come back; blocks of any bytes do no harm.

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::flags::ABSENT;
use crate::points::{ColumnSet, Notes, UNOBSERVED};

const ENCODINGS: [Encoding; 3] = [Encoding::Raw, Encoding::Hot, Encoding::Cold];

/// A load profile of 3 decimals: a day's and a year's swing, and noise of a few per cent.
fn load_profile(count: usize, seed: u64) -> Points {
    let mut points = Points::default();
    let mut state = seed;
    for at in 0..count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let noise = (state >> 40) as f64 / f64::from(1 << 24) - 0.5;
        let day = (at as f64 * std::f64::consts::TAU / 96.0).sin();
        let value = ((20.0 + 8.0 * day + noise) * 1e3).round() / 1e3;
        points.push(1_767_225_600_000_000_000 + at as i64 * 900_000_000_000, value, 3);
    }
    points
}

fn with_flags(mut points: Points) -> Points {
    let count = points.len();
    for (from, len, flag) in [(100, 8, 7), (400, 96, 5), (700, 4, ABSENT | 8), (count - 50, 20, 2)] {
        points.flags[from..from + len].fill(flag);
    }
    for (value, flag) in points.values.iter_mut().zip(&points.flags) {
        if flag & ABSENT != 0 {
            *value = 0.0;
        }
    }
    points
}

/// Derived equality takes NaN for different and zeros for equal: compare bits, and notes by their text.
#[track_caller]
fn assert_same(one: &Points, other: &Points) {
    let bits = |points: &Points| points.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(one.times, other.times);
    assert_eq!(one.flags, other.flags);
    assert_eq!(bits(one), bits(other));
    assert_eq!(one.observed, other.observed);
    assert_eq!(one.notes.places.len(), other.notes.places.len());
    assert!((0..one.len()).all(|at| one.notes.get(at) == other.notes.get(at)), "notes differ");
}

#[track_caller]
fn decoded(bytes: &[u8]) -> Points {
    let mut out = Points::default();
    Block::parse(bytes).unwrap().decode_into(&mut out).unwrap();
    out
}

#[track_caller]
fn check(points: &Points) {
    for encoding in ENCODINGS {
        let bytes = encode_block(points, encoding);
        assert_same(&decoded(&bytes), points);
        check_summary(&Block::parse(&bytes).unwrap().summary(), points);
        check_columns(&Block::parse(&bytes).unwrap(), points);
    }
}

fn column_sets() -> impl Iterator<Item = ColumnSet> {
    (0..8).map(|bits| ColumnSet { times: bits & 1 != 0, observed: bits & 2 != 0, notes: bits & 4 != 0 })
}

/// Whatever columns are wanted, they are those of all points.
#[track_caller]
fn check_columns(block: &Block<'_>, points: &Points) {
    let mut out = load_profile(3, 9);
    for set in column_sets() {
        block.decode_columns(set, &mut out).unwrap();
        let bits = |points: &Points| points.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!((bits(&out), &out.flags), (bits(points), &points.flags));
        assert!(!set.times || out.times == points.times);
        assert!(!set.observed || out.observed == points.observed);
        if set.notes {
            assert_eq!(
                (out.observed.len(), out.notes.places.len()),
                (points.observed.len(), points.notes.places.len())
            );
            assert!((0..points.len()).all(|at| out.notes.get(at) == points.notes.get(at)));
        } else {
            assert_eq!(out.notes, Notes::default());
        }
    }
}

#[track_caller]
fn check_summary(summary: &Summary, points: &Points) {
    let mut valued = Vec::new();
    for (value, flag) in points.values.iter().zip(&points.flags) {
        if flag & ABSENT == 0 {
            valued.push(*value);
        }
    }
    let said: Vec<i64> = points.observed.iter().copied().filter(|it| *it != UNOBSERVED).collect();
    assert_eq!(summary.count as usize, points.len());
    assert_eq!(summary.values as usize, valued.len());
    assert_eq!((summary.first, summary.last), (points.times[0], points.times[points.len() - 1]));
    assert_eq!(summary.flag_max, points.flags.iter().map(|flag| flag & !ABSENT).max().unwrap());
    assert_eq!(summary.observed_first, said.iter().copied().min().unwrap_or(UNOBSERVED));
    assert_eq!(summary.observed_last, said.iter().copied().max().unwrap_or(UNOBSERVED));
    let (mut sum, mut squares) = (0.0, 0.0);
    for value in &valued {
        sum += value;
        squares += value * value;
    }
    assert_eq!(summary.sum.is_nan(), f64::is_nan(sum));
    assert!(sum.is_nan() || summary.sum.to_bits() == sum.to_bits());
    assert_eq!(summary.sum_of_squares.is_nan(), f64::is_nan(squares));
    assert!(squares.is_nan() || summary.sum_of_squares.to_bits() == squares.to_bits());
    assert_eq!(summary.min, valued.iter().copied().fold(f64::INFINITY, f64::min));
    assert_eq!(summary.max, valued.iter().copied().fold(f64::NEG_INFINITY, f64::max));
}

#[test]
fn load_profiles_with_flags_stay_small() {
    for count in [1_440, 2_976] {
        let points = with_flags(load_profile(count, 7));
        let hot = encode_block(&points, Encoding::Hot).len() as f64 / count as f64;
        let cold = encode_block(&points, Encoding::Cold).len() as f64 / count as f64;
        assert!(hot <= 1.6 && cold <= hot, "{hot} bytes a point hot, {cold} cold");
        check(&points);
    }
}

#[test]
fn a_single_point_takes_few_bytes() {
    let mut one = Points::default();
    one.push(1_767_225_600_000_000_000, 21.5, 3);
    let len = encode_block(&one, Encoding::Hot).len();
    assert!(len <= 48, "{len} bytes");
    check(&one);
    one.flags[0] = ABSENT | 8;
    one.values[0] = 0.0;
    check(&one);
}

#[test]
fn special_doubles_keep_their_bits() {
    let special = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        5e-324,
        -5e-324,
        f64::MAX,
        f64::MIN,
        f64::NAN,
        -f64::NAN,
        f64::from_bits(0x7ff0_0000_0000_0001),
        f64::from_bits(0xfff8_dead_beef_0001),
        0.1 + 0.2,
        1.0 / 3.0,
        9_007_199_254_740_993.0,
        2_251_799_813_685_248.0,
        -2_251_799_813_685_248.0,
        2_251_799_813_685_247.0,
        1e300,
        0.123_456_789_012_345,
        123_456.789_012_345,
    ];
    for repeat in [1, 7, 40] {
        let mut points = Points::default();
        for (at, value) in special.iter().cycle().take(special.len() * repeat).enumerate() {
            points.push(at as i64 * 17, *value, 3);
        }
        check(&points);
    }
    for value in special {
        let mut points = load_profile(1_000, 3);
        points.values[500] = value;
        points.values[999] = value;
        check(&points);
        points.values.fill(value);
        check(&points);
    }
}

#[test]
fn a_few_odd_values_do_not_spoil_a_block() {
    let mut points = load_profile(2_976, 5);
    let before = encode_block(&points, Encoding::Hot).len();
    for at in (0..2_976).step_by(150) {
        points.values[at] = 20.0 + at as f64 / 1e6 / 7.0;
    }
    let after = encode_block(&points, Encoding::Hot).len();
    assert!(after < before + 20 * 60, "{before} bytes became {after}");
    check(&points);
}

#[test]
fn the_exponent_is_raised_where_the_sample_saw_too_few_digits() {
    let mut points = load_profile(2_976, 5);
    for at in 0..2_976 {
        let digits = if at % 93 == 0 { 1e1 } else { 1e5 };
        points.values[at] = (points.values[at] * digits * 1.1).round() / digits;
    }
    let len = encode_block(&points, Encoding::Hot).len();
    assert!(len < 2_976 * 3, "{len} bytes");
    check(&points);
}

#[test]
fn blocks_append_to_points_that_have_other_columns() {
    let plain = load_profile(10, 1);
    let mut history = load_profile(20, 2);
    history.times.iter_mut().for_each(|time| *time += 1_000_000_000_000_000);
    history.observed = history.times.iter().map(|time| time - 5).collect();
    let place = history.notes.place_of(&Bytes::from_static(b"kWh"));
    history.notes.places = vec![place; 20];
    let mut later = load_profile(10, 1);
    later.times.iter_mut().for_each(|time| *time += 2_000_000_000_000_000);
    let (mut read, mut copied) = (Points::default(), Points::default());
    for points in [&plain, &history, &later] {
        let bytes = encode_block(points, Encoding::Hot);
        Block::parse(&bytes).unwrap().decode_into(&mut read).unwrap();
        copied.extend_from_range(points, 0..points.len());
    }
    assert_same(&read, &copied);
    let part = encode_part(&copied, 5..25, Encoding::Cold);
    let mut expected = Points::default();
    expected.extend_from_range(&copied, 5..25);
    assert_same(&decoded(&part), &expected);
}

/// Any points: gaps of any size, any bits or decimals as values, flags in runs or not, history columns or not.
fn any_points() -> impl Strategy<Value = Points> {
    let gaps = prop_oneof![
        (1_i64..2_000).prop_map(|step| (step, 0_u64)),
        Just((900_000_000_000, 0)),
        Just((900_000_000_000, 3)),
        Just((1_000, 0xffff)),
        Just((1, u64::MAX >> 12)),
    ];
    let kinds = (0_u8..4, 0_i32..10, 0_u8..3, 0_u8..5, 0_u8..4);
    (gaps, kinds, any::<i64>(), prop::collection::vec(any::<(u64, u64)>(), 1..400))
        .prop_map(|((step, jitter), kinds, start, noise)| build(step, jitter, kinds, start >> 2, &noise))
}

fn build(step: i64, jitter: u64, kinds: (u8, i32, u8, u8, u8), start: i64, noise: &[(u64, u64)]) -> Points {
    let (values, digits, flags, observed, notes) = kinds;
    let mut points = Points::default();
    let mut time = start;
    for (at, (one, two)) in noise.iter().enumerate() {
        let value = match values {
            0 => f64::from_bits(*one),
            1 if one % 50 == 0 => f64::from_bits(*two),
            1 | 2 => (two >> 40) as f64 / 10_f64.powi(digits),
            _ => (at / 7) as f64 * 0.25,
        };
        let flag = match flags {
            0 => 3,
            1 => [3, 3, 5, ABSENT | 8][at / 30 % 4],
            _ => two.to_le_bytes()[0],
        };
        let value = if flag & ABSENT == 0 { value } else { 0.0 };
        points.times.push(time);
        points.values.push(value);
        points.flags.push(flag);
        match observed {
            0 => {}
            1 => points.observed.push(UNOBSERVED),
            2 => points.observed.push(time - 5_000),
            3 => points.observed.push(if one % 3 == 0 {
                UNOBSERVED
            } else {
                time.wrapping_add(two.cast_signed() >> 30)
            }),
            _ => points.observed.push(one.cast_signed()),
        }
        let note = match notes {
            0 => None,
            1 => Some("all the same".to_owned()),
            2 => Some(format!("{}", one % 5)),
            _ => Some(format!("{two}")),
        };
        if let Some(note) = note {
            let place = points.notes.place_of(&Bytes::from(note));
            points.notes.places.push(place);
        }
        time += step * (1 + i64::from(jitter > 0) * (one & jitter).cast_signed());
    }
    points
}

proptest! {
    #[test]
    fn any_points_come_back(points in any_points()) {
        check(&points);
    }

    #[test]
    fn any_part_comes_back(points in any_points(), cut in any::<(u16, u16)>()) {
        let from = usize::from(cut.0) % points.len();
        let to = from + 1 + usize::from(cut.1) % (points.len() - from);
        let mut expected = Points::default();
        expected.extend_from_range(&points, from..to);
        for encoding in ENCODINGS {
            assert_same(&decoded(&encode_part(&points, from..to, encoding)), &expected);
        }
    }

    #[test]
    fn noise_never_panics(mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_anything(&bytes);
        if let Some(version) = bytes.first_mut() {
            *version = 1;
        }
        block::seal(&mut bytes);
        read_anything(&bytes);
    }

    #[test]
    fn damaged_blocks_never_panic(
        points in any_points(),
        encoding in 0_usize..3,
        damage in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 1..4),
        cut in any::<prop::sample::Index>(),
        more in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let bytes = encode_block(&points, ENCODINGS[encoding]);
        let sealed = &bytes[..bytes.len() - 4];
        for (place, byte) in damage {
            let mut damaged = sealed.to_vec();
            let place = place.index(damaged.len());
            damaged[place] ^= byte;
            prop_assert!(byte == 0 || Block::parse(&[&damaged, &bytes[sealed.len()..]].concat()).is_err());
            block::seal(&mut damaged);
            read_anything(&damaged);
        }
        let mut short = sealed[..cut.index(sealed.len())].to_vec();
        block::seal(&mut short);
        prop_assert!(!read_anything(&short), "a part of a block is no block");
        let mut long = [sealed, &more].concat();
        block::seal(&mut long);
        prop_assert!(read_anything(&long) == more.is_empty(), "a block ends where it ends");
    }
}

/// Reads bytes that may be anything; whether they were a block. Points never take more than the header's count.
#[track_caller]
fn read_anything(bytes: &[u8]) -> bool {
    let Ok(block) = Block::parse(bytes) else { return false };
    let count = block.summary().count as usize;
    let mut out = Points::default();
    out.push(i64::MIN, 1.0, 3);
    let read = block.decode_into(&mut out).is_ok();
    let expected = if read { 1 + count } else { 1 };
    assert_eq!((out.times.len(), out.values.len(), out.flags.len()), (expected, expected, expected));
    assert!(out.observed.is_empty() || !read || out.observed.len() == expected);
    assert!(out.notes.places.is_empty() || !read || out.notes.places.len() == expected);
    assert!(out.times.capacity() <= 2 * (count + 4) && out.values.capacity() <= 2 * (count + 4 + 128));
    assert!(out.notes.dictionary.len() <= count + 1);
    assert!(!read || out.times.is_sorted());
    for set in column_sets() {
        let mut some = Points::default();
        let read_some = block.decode_columns(set, &mut some).is_ok();
        assert!(read_some || !read, "what is read whole is read in part");
        let expected = if read_some { count } else { 0 };
        assert_eq!((some.values.len(), some.flags.len()), (expected, expected));
        assert!(some.times.capacity() <= 2 * (count + 4) && some.observed.capacity() <= 2 * (count + 4));
    }
    read
}
