use proptest::prelude::*;

use super::*;

fn check(text: &str, expected: Option<&str>) {
    let printed = parse_time(text).map(|time| {
        let mut out = String::new();
        write_time(&mut out, time);
        out
    });
    assert_eq!(printed.as_deref(), expected, "{text}");
}

#[test]
fn reads_and_prints_times() {
    check("2023-04-01T12:00:00Z", Some("2023-04-01T12:00:00Z"));
    check("1970-01-01T00:00:00Z", Some("1970-01-01T00:00:00Z"));
    check("2023-04-01T12:00:00.5Z", Some("2023-04-01T12:00:00.500Z"));
    check("2023-04-01T12:00:00,5Z", Some("2023-04-01T12:00:00.500Z"));
    check("2023-04-01T12:00:00.000Z", Some("2023-04-01T12:00:00Z"));
    check("2023-04-01T12:00:00.123456Z", Some("2023-04-01T12:00:00.123456Z"));
    check("2023-04-01T12:00:00,123456Z", Some("2023-04-01T12:00:00.123456Z"));
    check("2024-02-29T00:00:00Z", Some("2024-02-29T00:00:00Z"));
    check("0000-01-01T00:00:00Z", Some("0000-01-01T00:00:00Z"));
    check("9999-12-31T23:59:59.999999Z", Some("9999-12-31T23:59:59.999999Z"));
    check("1969-12-31T23:59:59.999Z", Some("1969-12-31T23:59:59.999Z"));
}

#[test]
fn refuses_what_is_no_time() {
    for text in [
        "",
        "2023-04-01",
        "2023-04-01T12:00:00",
        "2023-04-01T12:00Z",
        "2023-04-01 12:00:00Z",
        "2023-04-01T12:00:00z",
        "2023-04-01T12:00:00.Z",
        "2023-04-01T12:00:00.1234567Z",
        "2023-04-01T12:00:00,1234567Z",
        "2023-04-01T12:00:00.123456789Z",
        "2023-04-01T00:30:00+02:00",
        "2023-04-01T12:00:00-05:30",
        "2023-04-01T12:00:00+00:00",
        "2023-04-01T12:00:00.5+00:00",
        "2023-04-01T12:00:00+0200",
        "2023-04-01T12:00:00+02",
        "2023-04-01T12:00:00+24:00",
        "2023-04-01T12:00:00ZZ",
        "2023-02-29T12:00:00Z",
        "1900-02-29T12:00:00Z",
        "2023-13-01T12:00:00Z",
        "2023-00-01T12:00:00Z",
        "2023-04-31T12:00:00Z",
        "2023-04-00T12:00:00Z",
        "2023-04-01T24:00:00Z",
        "2023-04-01T12:60:00Z",
        "2023-04-01T12:00:60Z",
        "+023-04-01T12:00:00Z",
        "0000-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
    ] {
        check(text, None);
    }
}

#[test]
fn tells_dates_and_times_of_day() {
    assert!(is_date("2024-02-29") && !is_date("2023-02-29") && !is_date("2023-2-1") && !is_date(""));
    assert!(is_time_of_day("12:00:00Z") && is_time_of_day("23:59:59.5Z") && is_time_of_day("00:00:00,25Z"));
    assert!(!is_time_of_day("12:00:00") && !is_time_of_day("24:00:00Z") && !is_time_of_day("12:00:00+01:00"));
}

#[test]
fn prints_times_beyond_four_digit_years() {
    let mut out = String::new();
    write_time(&mut out, Timestamp(i64::MAX));
    assert_eq!(out, "+294247-01-10T04:00:54.775807Z");
    out.clear();
    write_time(&mut out, Timestamp(i64::MIN));
    assert_eq!(out, "-290308-12-21T19:59:05.224192Z");
}

proptest! {
    #[test]
    fn agrees_with_jiff(micros in -62_167_219_200_000_000_i64..253_402_207_200_000_000) {
        let theirs = jiff::Timestamp::from_microsecond(micros).unwrap();
        let mut ours = String::new();
        write_time(&mut ours, Timestamp(micros));
        prop_assert_eq!(ours.parse::<jiff::Timestamp>().unwrap(), theirs);
        prop_assert_eq!(parse_time(&ours), Some(Timestamp(micros)));
    }

    #[test]
    fn refuses_what_jiff_refuses(text in "[0-9]{4}-[0-3][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-5][0-9]Z") {
        let theirs = text.parse::<jiff::Timestamp>().ok().map(|time| Timestamp(time.as_microsecond()));
        prop_assert_eq!(parse_time(&text), theirs);
    }

    #[test]
    fn never_panics(text in "\\PC{0,40}") {
        let _ = (parse_time(&text), is_date(&text), is_time_of_day(&text));
    }
}
