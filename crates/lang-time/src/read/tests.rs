//! Examples of each rule, and random texts beside another library.

use proptest::prelude::*;

use super::*;
use crate::{Fraction, format};

const STRICT: Rules = Rules {
    separators: b"T",
    comma: true,
    fraction_digits_max: 6,
    offsets: Offsets::Z,
    leap_second: LeapSecond::Refused,
};
const RFC_3339: Rules = Rules {
    separators: b"Tt ",
    comma: false,
    fraction_digits_max: 9,
    offsets: Offsets::Rfc3339,
    leap_second: LeapSecond::Before,
};
const LENIENT: Rules = Rules {
    separators: b"Tt",
    comma: true,
    fraction_digits_max: usize::MAX,
    offsets: Offsets::Iso8601,
    leap_second: LeapSecond::After,
};

/// What `text` is by the strict, the usual and the lenient rules.
#[track_caller]
fn check(text: &str, expected: [Option<&str>; 3]) {
    for (rules, expected) in [STRICT, RFC_3339, LENIENT].iter().zip(expected) {
        let found = parse(text.as_bytes(), rules).map(|time| format(time, Fraction::Shortest));
        assert_eq!(found.as_deref(), expected, "{text:?} by {rules:?}");
    }
}

#[test]
fn each_rule_decides_alone() {
    let noon = Some("2026-05-04T12:00:00Z");
    check("2026-05-04T12:00:00Z", [noon, noon, noon]);
    check("2026-05-04t12:00:00Z", [None, noon, noon]);
    check("2026-05-04 12:00:00Z", [None, noon, None]);
    check("2026-05-04T12:00:00z", [None, noon, noon]);
    check("2026-05-04T14:00:00+02:00", [None, noon, noon]);
    check("2026-05-04T07:30:00-04:30", [None, noon, noon]);
    check("2026-05-04T14:00:00+0200", [None, None, noon]);
    check("2026-05-04T14:00:00+02", [None, None, noon]);
    let quarter = Some("2026-05-04T12:00:00.25Z");
    check("2026-05-04T12:00:00.250Z", [quarter, quarter, quarter]);
    check("2026-05-04T12:00:00,250Z", [quarter, None, quarter]);
    let digits = Some("2026-05-04T12:00:00.123456789Z");
    check("2026-05-04T12:00:00.123456789Z", [None, digits, digits]);
    check("2026-05-04T12:00:00.1234567891Z", [None, None, digits]);
    let (before, after) = (Some("2016-12-31T23:59:59.5Z"), Some("2017-01-01T00:00:00.5Z"));
    check("2016-12-31T23:59:60.5Z", [None, before, after]);
}

#[test]
fn what_is_no_date_time_is_none_by_any_rule() {
    for text in [
        "",
        "2026-05-04",
        "12:00:00Z",
        "2026-05-04T12:00Z",
        "2026-05-04T12:00:00",
        "2026-05-04T12:00:00ZZ",
        "2026-05-04T12:00:00.Z",
        "2026-05-04T12:00:00.",
        "2026-05-04T12:00:00+",
        "2026-05-04T12:00:00+1",
        "2026-05-04T12:00:00+1:00",
        "2026-05-04T12:00:00+24:00",
        "2026-05-04T12:00:00+00:60",
        "2026-05-04T12:00:00+01:00:00",
        "2026-05-04T12:00:00*01:00",
        "2026-05-04T12:00:00Z[UTC]",
        "2026-05-04T12:00:61Z",
        "2026-05-04T12:60:00Z",
        "2026-05-04T24:00:00Z",
        "2026-05-04T24:00:60Z",
        "2026-02-29T12:00:00Z",
        "20260504T120000Z",
        "+002026-05-04T12:00:00Z",
        "２026-05-04T12:00:00Z",
    ] {
        check(text, [None; 3]);
    }
}

fn theirs(text: &str) -> Option<i64> {
    let time = text.parse::<jiff::Timestamp>().ok()?;
    i64::try_from(time.as_nanosecond().div_euclid(1_000)).ok()
}

proptest! {
    #[test]
    fn agrees_with_jiff(text in "[0-9]{4}-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{1,10})?([Zz]|[+-][0-2][0-9]:[0-6][0-9])") {
        let ours = parse(text.as_bytes(), &RFC_3339).map(UnixTime::micros);
        // They know a day less at both ends of the calendar, and offsets of up to 26 hours.
        let known = ours.is_none_or(|micros| (-62_167_132_800_000_000..253_402_207_200_000_000).contains(&micros));
        let wide = text.len() > 6 && text.get(text.len() - 6..).is_some_and(|offset| {
            offset.starts_with(['+', '-']) && offset.get(1..3).is_some_and(|hours| hours > "23")
        });
        if known && !wide {
            prop_assert_eq!(ours, theirs(&text), "{}", text);
        }
    }

    #[test]
    fn strict_rules_take_no_more(text in "[0-9]{4}-[01][0-9]-[0-3][0-9][Tt][0-2][0-9]:[0-6][0-9]:[0-6][0-9]([.,][0-9]{1,7})?([Zz]|[+-][0-2][0-9]:?[0-6][0-9])") {
        if let Some(time) = parse(text.as_bytes(), &STRICT) {
            prop_assert_eq!(parse(text.as_bytes(), &LENIENT), Some(time));
        }
    }

    #[test]
    fn noise_makes_no_panic(text in prop::collection::vec(any::<u8>(), 0..40)) {
        for rules in [STRICT, RFC_3339, LENIENT] {
            let _ = parse(&text, &rules);
        }
    }
}
