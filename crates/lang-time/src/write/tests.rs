//! Known texts, and random times beside another library.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(time: UnixTime, groups: &str, shortest: &str) {
    assert_eq!(format(time, Fraction::Groups), groups);
    assert_eq!(format(time, Fraction::Shortest), shortest);
}

#[test]
fn fractions_lose_nothing() {
    let at = |nanoseconds: i64| UnixTime::from_nanoseconds(1_767_225_600_000_000_000 + nanoseconds);
    check(at(0), "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z");
    check(at(500_000_000), "2026-01-01T00:00:00.500Z", "2026-01-01T00:00:00.5Z");
    check(at(1_000_000), "2026-01-01T00:00:00.001Z", "2026-01-01T00:00:00.001Z");
    check(at(120_000), "2026-01-01T00:00:00.000120Z", "2026-01-01T00:00:00.00012Z");
    check(at(1), "2026-01-01T00:00:00.000000001Z", "2026-01-01T00:00:00.000000001Z");
    check(at(-1), "2025-12-31T23:59:59.999999999Z", "2025-12-31T23:59:59.999999999Z");
}

#[test]
fn years_of_more_than_four_digits_have_a_sign() {
    let check = |micros, text: &str| check(UnixTime::from_micros(micros), text, text);
    check(i64::MAX, "+294247-01-10T04:00:54.775807Z");
    check(i64::MIN, "-290308-12-21T19:59:05.224192Z");
    check(-62_167_219_200_000_000, "0000-01-01T00:00:00Z");
    check(-62_167_219_201_000_000, "-00001-12-31T23:59:59Z");
    check(253_402_300_800_000_000, "+10000-01-01T00:00:00Z");
}

proptest! {
    #[test]
    fn shortest_is_what_jiff_writes(nanoseconds in any::<i64>(), zeros in 0_u32..10) {
        let unit = 10_i64.pow(zeros);
        let nanoseconds = nanoseconds / unit * unit;
        let theirs = jiff::Timestamp::from_nanosecond(nanoseconds.into()).unwrap();
        let ours = UnixTime::from_nanoseconds(nanoseconds);
        prop_assert_eq!(format(ours, Fraction::Shortest), theirs.to_string());
        let groups = format(ours, Fraction::Groups);
        prop_assert_eq!(groups.parse::<jiff::Timestamp>().unwrap(), theirs);
        prop_assert!([20, 24, 27, 30].contains(&groups.len()), "{}", groups);
    }

    #[test]
    fn what_is_written_is_read(micros in -62_167_219_200_000_000_i64..253_402_300_800_000_000) {
        let rules = crate::Rules {
            separators: b"T",
            comma: false,
            fraction_digits_max: 6,
            offsets: crate::Offsets::Z,
            leap_second: crate::LeapSecond::Refused,
        };
        let time = UnixTime::from_micros(micros);
        let text = format(time, Fraction::Groups);
        prop_assert_eq!(crate::parse(text.as_bytes(), &rules), Some(time), "{}", text);
    }
}
