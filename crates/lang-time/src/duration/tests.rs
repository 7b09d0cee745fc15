//! Known durations, and random ones.

use proptest::prelude::*;

use super::*;

#[test]
fn durations_are_read_and_written() {
    let check = |text: &str, printed: Option<&str>| {
        assert_eq!(Duration::parse(text).map(|one| one.to_string()).as_deref(), printed, "{text}");
    };
    check("P1Y2M3W4DT5H6M7.5S", Some("P1Y2M3W4DT5H6M7.5S"));
    check("-pt15m", Some("-PT15M"));
    check("+P1M", Some("P1M"));
    check("PT1M", Some("PT1M"));
    check("PT0S", Some("PT0S"));
    check("P0D", Some("PT0S"));
    check("PT0.000000001S", Some("PT0.000000001S"));
    for bad in
        ["", "P", "PT", "P1", "1D", "P1DT", "P1D2Y", "PT1D", "P-1D", "P1.5D", "P1D1D", "PT1.S", "PT.5S"]
    {
        check(bad, None);
    }
    check("P10000000D", Some("P10000000D"));
    check("P10000001D", None);
    check("P1é", None);
}

fn durations() -> impl Strategy<Value = Duration> {
    let part = || prop_oneof![Just(0), 0..=Duration::PART_MAX];
    (any::<bool>(), [part(), part(), part(), part(), part(), part(), part()], 0_u32..1_000_000_000).prop_map(
        |(is_negative, [years, months, weeks, days, hours, minutes, seconds], nanoseconds)| Duration {
            is_negative,
            years,
            months,
            weeks,
            days,
            hours,
            minutes,
            seconds,
            nanoseconds,
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read(duration in durations()) {
        prop_assert_eq!(Duration::parse(&duration.to_string()), Some(duration));
    }

    #[test]
    fn another_library_reads_the_same(duration in durations().prop_filter("theirs are shorter", |one| one.years < 10_000 && one.months < 100_000 && one.weeks < 1_000_000 && one.days < 7_000_000)) {
        let theirs: jiff::Span = duration.to_string().parse().unwrap();
        let sign = if duration.is_negative { -1 } else { 1 };
        let ours = jiff::Span::new()
            .years(sign * i64::from(duration.years))
            .months(sign * i64::from(duration.months))
            .weeks(sign * i64::from(duration.weeks))
            .days(sign * i64::from(duration.days))
            .hours(sign * i64::from(duration.hours))
            .minutes(sign * i64::from(duration.minutes))
            .seconds(sign * i64::from(duration.seconds));
        let fraction = i64::from(duration.nanoseconds);
        let ours = ours
            .milliseconds(sign * (fraction / 1_000_000))
            .microseconds(sign * (fraction / 1_000 % 1_000))
            .nanoseconds(sign * (fraction % 1_000));
        prop_assert_eq!(theirs.fieldwise(), ours);
    }

    #[test]
    fn noise_makes_no_panic(text in "[-+]?[Pp]?[0-9YMWDTHSymwdths.,]{0,20}") {
        if let Some(duration) = Duration::parse(&text) {
            prop_assert_eq!(Duration::parse(&duration.to_string()), Some(duration));
        }
    }
}
