//! Rasters against hand-computed tables, and against zone data and energy rules by other people.

mod clocks;

use chrono::{Datelike, Duration, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeZone};
use metering::{DayBoundary, Resolution};
use proptest::prelude::*;

use super::super::{DAY, HOUR, SECOND};
use super::*;
use crate::IntervalUnit::{Day, Hour, Millisecond, Minute, Month, Quarter, Second, Week, Year};
use crate::{Interval, IntervalUnit};

const GAS_DAY: u32 = 6 * 3_600;
const QUARTER_HOUR: Interval = Interval::new(Minute, 15);

fn raster(unit: IntervalUnit, multiplier: u32, zone: &str, day_start: u32) -> Raster {
    Raster::new(Interval::new(unit, multiplier), Zone::get(zone).unwrap(), day_start).unwrap()
}

/// Nanoseconds of an RFC 3339 text.
fn at(text: &str) -> i64 {
    chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp_nanos_opt().unwrap()
}

fn range(from: &str, to: &str) -> TimeRange {
    TimeRange { from: at(from), to: at(to) }
}

fn local(raster: &Raster, time: i64) -> String {
    let zone: chrono_tz::Tz = raster.zone().name().parse().unwrap();
    zone.timestamp_nanos(time).format("%Y-%m-%dT%H:%M%:z").to_string()
}

#[track_caller]
fn check_starts(raster: &Raster, range: TimeRange, expected: &[&str]) {
    let starts: Vec<String> = raster.slots(range).map(|slot| local(raster, slot.from)).collect();
    assert_eq!(starts, expected);
}

#[test]
fn days_have_92_96_and_100_quarter_hours() {
    let quarters = raster(Minute, 15, "Europe/Berlin", 0);
    let days = raster(Day, 1, "Europe/Berlin", 0);
    for (noon, count) in [
        ("2026-03-28T12:00:00Z", 96),
        ("2026-03-29T12:00:00Z", 92),
        ("2026-10-25T12:00:00Z", 100),
        ("2026-12-31T12:00:00Z", 96),
    ] {
        assert_eq!(quarters.count(days.slot(at(noon))), count, "{noon}");
    }
}

#[test]
fn the_doubled_hour_is_told_apart_by_its_offset() {
    let hours = raster(Hour, 1, "Europe/Berlin", 0);
    let night = range("2026-10-25T01:00:00+02:00", "2026-10-25T04:00:00+01:00");
    check_starts(
        &hours,
        night,
        &[
            "2026-10-25T01:00+02:00",
            "2026-10-25T02:00+02:00",
            "2026-10-25T02:00+01:00",
            "2026-10-25T03:00+01:00",
        ],
    );
}

#[test]
fn the_gas_day_runs_from_six_to_six() {
    let days = raster(Day, 1, "Europe/Berlin", GAS_DAY);
    let quarters = raster(Minute, 15, "Europe/Berlin", GAS_DAY);
    for (time, hours, count) in [
        ("2026-03-28T12:00:00Z", 23, 92),
        ("2026-03-29T12:00:00Z", 24, 96),
        ("2026-10-24T12:00:00Z", 25, 100),
        ("2026-10-25T12:00:00Z", 24, 96),
    ] {
        let day = days.slot(at(time));
        assert_eq!((day.to - day.from) / HOUR, hours, "{time}");
        assert_eq!(quarters.count(day), count, "{time}");
        assert!(local(&days, day.from).contains("T06:00"), "{time}");
    }
    let months = raster(Month, 1, "Europe/Berlin", GAS_DAY);
    let span = range("2026-01-31T00:00:00Z", "2026-05-01T00:00:00Z");
    check_starts(
        &months,
        span,
        &["2026-02-01T06:00+01:00", "2026-03-01T06:00+01:00", "2026-04-01T06:00+02:00"],
    );
}

#[test]
fn hours_by_the_clock_begin_anew_every_day() {
    let spring = range("2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00");
    check_starts(
        &raster(Hour, 4, "Europe/Berlin", 0),
        spring,
        &[
            "2026-03-29T00:00+01:00",
            "2026-03-29T04:00+02:00",
            "2026-03-29T08:00+02:00",
            "2026-03-29T12:00+02:00",
            "2026-03-29T16:00+02:00",
            "2026-03-29T20:00+02:00",
        ],
    );
    let autumn = range("2026-10-25T00:00:00+02:00", "2026-10-25T06:00:00+01:00");
    check_starts(
        &raster(Hour, 2, "Europe/Berlin", 0),
        autumn,
        &["2026-10-25T00:00+02:00", "2026-10-25T02:00+02:00", "2026-10-25T04:00+01:00"],
    );
    check_starts(
        &raster(Hour, 2, "Europe/Berlin", 0),
        range("2026-03-29T00:00:00+01:00", "2026-03-29T06:00:00+02:00"),
        &["2026-03-29T00:00+01:00", "2026-03-29T03:00+02:00", "2026-03-29T04:00+02:00"],
    );
    check_starts(
        &raster(Hour, 12, "Europe/Berlin", GAS_DAY),
        range("2026-10-24T06:00:00+02:00", "2026-10-25T18:00:00+01:00"),
        &["2026-10-24T06:00+02:00", "2026-10-24T18:00+02:00", "2026-10-25T06:00+01:00"],
    );
    check_starts(
        &raster(Hour, 7, "UTC", 0),
        range("2026-01-01T00:00:00Z", "2026-01-02T06:00:00Z"),
        &[
            "2026-01-01T00:00+00:00",
            "2026-01-01T07:00+00:00",
            "2026-01-01T14:00+00:00",
            "2026-01-01T21:00+00:00",
            "2026-01-02T00:00+00:00",
        ],
    );
}

#[test]
fn odd_offsets_begin_hours_on_the_local_clock() {
    for (zone, time, expected) in [
        ("Asia/Kolkata", "2026-06-01T12:00:00Z", "2026-06-01T17:00+05:30"),
        ("Asia/Kathmandu", "2026-06-01T12:00:00Z", "2026-06-01T17:00+05:45"),
        ("Australia/Eucla", "2026-06-01T12:00:00Z", "2026-06-01T20:00+08:45"),
        ("America/St_Johns", "2026-06-01T12:00:00Z", "2026-06-01T09:00-02:30"),
    ] {
        let hours = raster(Hour, 1, zone, 0);
        assert_eq!(local(&hours, hours.floor(at(time))), expected);
    }
    // Lord Howe changes its clock by half an hour: one hour of the year has 30 minutes, one has 90.
    let hours = raster(Hour, 1, "Australia/Lord_Howe", 0);
    let days = raster(Day, 1, "Australia/Lord_Howe", 0);
    for (time, minutes) in [("2026-04-04T14:45:00Z", 90), ("2026-10-03T15:35:00Z", 30)] {
        let slot = hours.slot(at(time));
        assert_eq!((slot.to - slot.from) / (60 * SECOND), minutes, "{time}");
        assert_eq!(hours.count(days.slot(at(time))), 24);
    }
}

#[test]
fn days_begin_when_the_clock_first_shows_it() {
    let day_hours = |zone, time| {
        let day = raster(Day, 1, zone, 0).slot(at(time));
        (local(&raster(Day, 1, zone, 0), day.from), (day.to - day.from) / HOUR)
    };
    // Midnight is skipped, or comes twice.
    assert_eq!(day_hours("America/Havana", "2026-03-08T12:00:00Z"), ("2026-03-08T01:00-04:00".into(), 23));
    assert_eq!(day_hours("America/Havana", "2026-11-01T12:00:00Z"), ("2026-11-01T00:00-04:00".into(), 25));
    assert_eq!(day_hours("Asia/Beirut", "2026-03-29T12:00:00Z"), ("2026-03-29T01:00+03:00".into(), 23));
    assert_eq!(day_hours("Asia/Beirut", "2026-10-24T12:00:00Z"), ("2026-10-24T00:00+03:00".into(), 25));
    // A whole day is skipped: two days meet.
    assert_eq!(day_hours("Pacific/Apia", "2011-12-30T09:59:00Z"), ("2011-12-29T00:00-10:00".into(), 24));
    assert_eq!(day_hours("Pacific/Apia", "2011-12-30T10:00:00Z"), ("2011-12-31T00:00+14:00".into(), 24));
    let apia = raster(Day, 1, "Pacific/Apia", 0);
    assert_eq!(apia.count(range("2011-12-01T00:00:00-10:00", "2012-01-01T00:00:00+14:00")), 30);
    let hours = raster(Hour, 1, "Pacific/Apia", 0);
    assert_eq!(hours.count(range("2011-12-01T00:00:00-10:00", "2012-01-01T00:00:00+14:00")), 720);
}

#[test]
fn calendar_units_follow_the_calendar() {
    let zone = "Europe/Vienna";
    let span = range("2023-12-31T00:00:00+01:00", "2024-03-02T00:00:00+01:00");
    check_starts(
        &raster(Month, 1, zone, 0),
        span,
        &["2024-01-01T00:00+01:00", "2024-02-01T00:00+01:00", "2024-03-01T00:00+01:00"],
    );
    let february = raster(Month, 1, zone, 0).slot(at("2024-02-29T12:00:00+01:00"));
    assert_eq!((february.to - february.from) / DAY, 29);
    let february = raster(Month, 1, zone, 0).slot(at("2100-02-28T12:00:00+01:00"));
    assert_eq!((february.to - february.from) / DAY, 28);
    check_starts(
        &raster(Week, 1, zone, 0),
        range("2025-12-24T00:00:00+01:00", "2026-01-12T00:00:00+01:00"),
        &["2025-12-29T00:00+01:00", "2026-01-05T00:00+01:00"],
    );
    check_starts(
        &raster(Quarter, 1, zone, 0),
        range("2025-01-01T00:00:00+01:00", "2026-01-01T00:00:01+01:00"),
        &[
            "2025-01-01T00:00+01:00",
            "2025-04-01T00:00+02:00",
            "2025-07-01T00:00+02:00",
            "2025-10-01T00:00+02:00",
            "2026-01-01T00:00+01:00",
        ],
    );
    check_starts(
        &raster(Year, 10, zone, 0),
        range("1985-01-01T00:00:00+01:00", "2021-01-01T00:00:00+01:00"),
        &[
            "1990-01-01T00:00+01:00",
            "2000-01-01T00:00+01:00",
            "2010-01-01T00:00+01:00",
            "2020-01-01T00:00+01:00",
        ],
    );
    assert_eq!(
        raster(Year, 1, zone, 0).previous(at("2026-01-01T00:00:00+01:00")),
        at("2025-01-01T00:00:00+01:00")
    );
}

#[test]
fn refuses_intervals_that_make_no_raster() {
    let make =
        |unit, multiplier, day_start| Raster::new(Interval::new(unit, multiplier), Zone::utc(), day_start);
    assert!(matches!(make(Minute, 0, 0), Err(Error::Invalid(_))));
    assert!(matches!(make(Hour, 36, 0), Err(Error::Invalid(_))));
    assert!(matches!(make(Hour, 1, 86_400), Err(Error::Invalid(_))));
    assert!(make(Hour, 48, 0).is_ok());
    assert!(matches!(Zone::get("Europe/Atlantis"), Err(Error::NotFound(_))));
    assert_eq!(Zone::get("europe/berlin").unwrap().name(), "Europe/Berlin");
}

#[test]
fn names_the_position_of_a_point_off_the_raster() {
    let quarters = raster(Minute, 15, "Europe/Berlin", 0);
    let mut times = Vec::new();
    quarters.starts_into(range("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"), &mut times);
    assert_eq!(quarters.check(&times), Ok(()));
    times.remove(100);
    assert_eq!(quarters.check(&times), Ok(()), "gaps are no harm");
    times[2_000] += 1;
    assert_eq!(quarters.check(&times), Err(2_000));
    let days = raster(Day, 1, "Europe/Berlin", 0);
    let times = [at("2026-03-28T23:00:00Z"), at("2026-03-29T22:00:00Z"), at("2026-03-30T23:00:00Z")];
    assert_eq!(days.check(&times), Err(2));
    let months = raster(Month, 1, "Europe/Berlin", 0);
    assert_eq!(months.check(&[at("2026-01-31T23:00:00Z"), at("2026-03-01T00:00:00Z")]), Err(1));
    assert_eq!(quarters.check(&[]), Ok(()));
}

#[test]
fn agrees_with_german_metering_rules() {
    for (boundary, day_start) in [(DayBoundary::Strom, 0), (DayBoundary::Gas, GAS_DAY)] {
        let rasters = |unit, multiplier| raster(unit, multiplier, "Europe/Berlin", day_start);
        let (days, months, years) = (rasters(Day, 1), rasters(Month, 1), rasters(Year, 1));
        let (quarters, hours) = (rasters(Minute, 15), rasters(Hour, 1));
        let nanoseconds = |period: metering::Period| TimeRange {
            from: i64::try_from(period.start().unix_timestamp_nanos()).unwrap(),
            to: i64::try_from(period.end().unix_timestamp_nanos()).unwrap(),
        };
        for year in [1981, 2000, 2023, 2024, 2026, 2037, 2099] {
            let mut date = time::Date::from_calendar_date(year, time::Month::January, 1).unwrap();
            while date.year() == year {
                let period = boundary.day(date).unwrap();
                let day = nanoseconds(period);
                assert_eq!(days.slot(day.from), day, "{date}");
                assert_eq!(days.slot(day.to - 1), day, "{date}");
                let count = u64::from(period.count(Resolution::QUARTER_HOUR).unwrap());
                assert_eq!(quarters.count(day), count, "{date}");
                let instant = period.start() + time::Duration::minutes(7 * i64::from(date.ordinal()) % 1_380);
                let time = i64::try_from(instant.unix_timestamp_nanos()).unwrap();
                for (raster, resolution) in
                    [(&quarters, Resolution::QUARTER_HOUR), (&hours, Resolution::Hour)]
                {
                    let expected = nanoseconds(boundary.bucket(instant, resolution).unwrap());
                    assert_eq!(raster.slot(time), expected, "{instant}");
                }
                date = date.next_day().unwrap();
            }
            let mut month = time::Month::January;
            for _ in 0..12 {
                let expected = nanoseconds(boundary.month(year, month).unwrap());
                assert_eq!(months.slot(expected.from), expected, "{month} {year}");
                assert_eq!(months.slot(expected.to - 1), expected, "{month} {year}");
                month = month.next();
            }
            let expected = nanoseconds(boundary.year(year).unwrap());
            assert_eq!(years.slot(expected.to - 1), expected, "{year}");
        }
    }
}

#[test]
fn shifts_on_the_calendar_keep_the_time_of_day() {
    let berlin = Zone::get("Europe/Berlin").unwrap();
    let check = |from: &str, (months, days, nanoseconds): (i64, i64, i64), expected: &str| {
        assert_eq!(berlin.shift(at(from), months, days, nanoseconds), at(expected), "{from}");
    };
    check("2026-03-28T12:00:00+01:00", (0, 1, 0), "2026-03-29T12:00:00+02:00");
    check("2026-03-28T02:30:00+01:00", (0, 1, 0), "2026-03-29T03:00:00+02:00");
    check("2026-03-28T12:00:00+01:00", (0, 0, DAY), "2026-03-29T13:00:00+02:00");
    check("2026-10-24T02:30:00+02:00", (0, 1, 0), "2026-10-25T02:30:00+02:00");
    check("2026-10-26T02:30:00+01:00", (0, -1, 0), "2026-10-25T02:30:00+01:00");
    check("2026-01-31T00:00:00+01:00", (1, 0, 0), "2026-02-28T00:00:00+01:00");
    check("2024-02-29T00:00:00+01:00", (-12, 0, 0), "2023-02-28T00:00:00+01:00");
    check("2024-02-29T00:00:00+01:00", (48, -7, HOUR), "2028-02-22T01:00:00+01:00");
}

const ZONES: [&str; 14] = [
    "UTC",
    "Europe/Berlin",
    "Europe/Dublin",
    "America/Havana",
    "America/St_Johns",
    "America/Toronto",
    "America/Sao_Paulo",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Asia/Tehran",
    "Africa/Cairo",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Kwajalein",
];

/// The first instant at which the clock shows `wanted` or later, found by trying all minutes with another library.
fn first_instant(zone: chrono_tz::Tz, wanted: NaiveDateTime) -> i64 {
    let offset_at = |minute: i64| zone.offset_from_utc_datetime(&minutes(minute)).fix().local_minus_utc();
    let shown = |minute: i64| minutes(minute) + Duration::seconds(offset_at(minute).into());
    let mut minute = wanted.and_utc().timestamp().div_euclid(60) - 26 * 60;
    while shown(minute) < wanted {
        minute += 1;
    }
    minute * 60 * SECOND
}

/// What the local clock shows at a minute since 1970, in minutes since then.
fn minutes_of_clock(zone: chrono_tz::Tz, minute: i64) -> i64 {
    let offset = zone.offset_from_utc_datetime(&minutes(minute)).fix().local_minus_utc();
    minute + i64::from(offset) / 60
}

fn minutes(minute: i64) -> NaiveDateTime {
    chrono::DateTime::from_timestamp(minute * 60, 0).unwrap().naive_utc()
}

fn any_raster() -> impl Strategy<Value = Raster> {
    let units = prop_oneof![
        (Just(Millisecond), prop_oneof![Just(1_u32), Just(250), 1..100_000_u32]),
        (Just(Second), prop_oneof![Just(1_u32), Just(10), 1..5_000_u32]),
        (Just(Minute), prop_oneof![Just(5_u32), Just(15), Just(30), 1..1_440_u32]),
        (Just(Hour), 1..24_u32),
        (Just(Day), prop_oneof![Just(1_u32), 1..40_u32]),
        (Just(Week), 1..6_u32),
        (Just(Month), 1..30_u32),
        (Just(Quarter), 1..6_u32),
        (Just(Year), 1..12_u32),
    ];
    let day_start = prop_oneof![Just(0_u32), Just(GAS_DAY), (0..48_u32).prop_map(|half| half * 1_800)];
    (units, 0..ZONES.len(), day_start)
        .prop_map(|((unit, multiplier), zone, day_start)| raster(unit, multiplier, ZONES[zone], day_start))
}

/// The years for which both libraries' data of these zones agree, whatever their versions.
fn any_recent_time() -> impl Strategy<Value = i64> {
    prop_oneof![at("1971-01-01T00:00:00Z")..at("2090-01-01T00:00:00Z"), any_time_near_changes()]
}

fn any_time() -> impl Strategy<Value = i64> {
    let toronto = at("1919-03-29T04:30:00Z")..at("1919-04-02T04:30:00Z");
    prop_oneof![at("1678-01-01T00:00:00Z")..at("2261-01-01T00:00:00Z"), any_time_near_changes(), toronto]
}

fn any_time_near_changes() -> impl Strategy<Value = i64> {
    let changes = prop_oneof![
        Just("2026-03-29T01:00:00Z"),
        Just("2026-10-25T01:00:00Z"),
        Just("2026-03-08T05:00:00Z"),
        Just("2011-12-30T10:00:00Z"),
        Just("1993-08-21T12:00:00Z"),
        Just("2006-10-29T02:31:00Z"),
        Just("2026-10-03T15:30:00Z"),
    ];
    (changes, -3 * DAY..3 * DAY).prop_map(|(change, distance)| at(change) + distance)
}

#[test]
fn the_last_slot_ends_with_time_east_and_west() {
    for zone in ["Asia/Beirut", "UTC", "America/Santiago"] {
        let slot = raster(Year, 4, zone, 0).slot(at("2261-06-01T00:00:00Z"));
        assert_eq!(slot.to, i64::MAX, "{zone}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((2_000 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn every_time_lies_in_one_slot(raster in any_raster(), time in any_time()) {
        let slot = raster.slot(time);
        prop_assert!(slot.contains(time), "{slot:?}");
        prop_assert_eq!(raster.floor(slot.from), slot.from);
        // The last slot of all ends with time itself: no instant stands behind it.
        prop_assume!(slot.to < i64::MAX);
        prop_assert_eq!(raster.slot(slot.to - 1), slot);
        prop_assert_eq!(raster.slot(slot.to).from, slot.to);
        prop_assert_eq!(raster.previous(slot.to), slot.from);
        prop_assert_eq!(raster.ceil(time), if slot.from == time { time } else { slot.to });
        prop_assert_eq!(raster.contains(time), time == slot.from);
    }

    #[test]
    fn slots_of_a_range_leave_nothing_out(raster in any_raster(), from in any_time(), length in 0..3_000_i64) {
        let slot = raster.slot(from);
        let to = from.saturating_add((slot.to - slot.from).saturating_mul(length));
        let to = to.min(at("2261-01-01T00:00:00Z"));
        let range = TimeRange { from, to };
        let slots: Vec<TimeRange> = raster.slots(range).collect();
        let mut at = raster.ceil(from);
        for slot in &slots {
            prop_assert_eq!(slot.from, at);
            prop_assert_eq!(*slot, raster.slot(at));
            at = slot.to;
        }
        prop_assert!(at >= to);
        let mut starts = Vec::new();
        raster.starts_into(range, &mut starts);
        prop_assert!(starts.iter().copied().eq(slots.iter().map(|slot| slot.from)));
        prop_assert_eq!(raster.count(range), starts.len() as u64);
        prop_assert_eq!(raster.check(&starts), Ok(()));
    }

    #[test]
    fn shifts_are_steps(raster in any_raster(), from in any_time(), slots in -300..300_i64) {
        let mut expected = raster.floor(from);
        for _ in 0..slots.abs() {
            expected = if slots > 0 { raster.next(expected) } else { raster.previous(expected) };
        }
        prop_assert_eq!(raster.shift(from, slots), expected);
    }

    #[test]
    fn days_are_those_of_another_library(zone in 0..ZONES.len(), time in any_recent_time(), half in 0..48_u32) {
        let tz: chrono_tz::Tz = ZONES[zone].parse().unwrap();
        let start = NaiveTime::from_num_seconds_from_midnight_opt(half * 1_800, 0).unwrap();
        let date = tz.timestamp_nanos(time).date_naive();
        let starts: Vec<i64> = (-2..=3).map(|days| first_instant(tz, (date + Duration::days(days)).and_time(start))).collect();
        let place = starts.partition_point(|start| *start <= time);
        let to = starts[place];
        let from = starts[place - 1];
        let slot = raster(Day, 1, ZONES[zone], half * 1_800).slot(time);
        prop_assert_eq!(slot, TimeRange { from, to });
    }

    #[test]
    fn slots_of_a_day_follow_the_clock_of_another_library(
        zone in 0..ZONES.len(),
        time in any_time_near_changes(),
        half in prop_oneof![Just(0_u32), Just(12), 0..48_u32],
        step in prop_oneof![prop::sample::select(vec![15_i64, 30, 60, 120, 240, 360, 720]), 5..1_440_i64],
    ) {
        let tz: chrono_tz::Tz = ZONES[zone].parse().unwrap();
        let day = raster(Day, 1, ZONES[zone], half * 1_800).slot(time);
        let minutes: Vec<i64> = (day.from / SECOND / 60..day.to / SECOND / 60).collect();
        let start = NaiveTime::from_num_seconds_from_midnight_opt(half * 1_800, 0).unwrap();
        let shown = |minute: i64| minutes_of_clock(tz, minute);
        // The date whose beginning is first shown at the beginning of the slot.
        let first_shown = chrono::DateTime::from_timestamp(shown(minutes[0]) * 60, 0).unwrap().naive_utc();
        let date = (-1..=1)
            .map(|days| (first_shown.date() + Duration::days(days)).and_time(start))
            .rfind(|beginning| first_instant(tz, *beginning) == day.from)
            .unwrap();
        let local = date.and_utc().timestamp() / 60;
        let is_elapsed = minutes.iter().all(|minute| (shown(*minute) - local - (minute - minutes[0])) % step == 0);
        let mut expected: Vec<i64> = if is_elapsed {
            minutes.iter().copied().step_by(usize::try_from(step).unwrap()).collect()
        } else {
            let reached = |boundary: i64| minutes.iter().copied().find(|minute| shown(*minute) >= local + boundary);
            (0..).map(|place| place * step).take_while(|boundary| *boundary < 1_440).filter_map(reached).collect()
        };
        expected.dedup();
        let slots = raster(Minute, u32::try_from(step).unwrap(), ZONES[zone], half * 1_800);
        let mut starts = Vec::new();
        slots.starts_into(day, &mut starts);
        let expected: Vec<i64> = expected.into_iter().map(|minute| minute * 60 * SECOND).collect();
        prop_assert_eq!(starts, expected);
    }

    #[test]
    fn months_are_those_of_another_library(zone in 0..ZONES.len(), time in any_recent_time(), gas in any::<bool>()) {
        let tz: chrono_tz::Tz = ZONES[zone].parse().unwrap();
        let day_start = if gas { GAS_DAY } else { 0 };
        let start = NaiveTime::from_num_seconds_from_midnight_opt(day_start, 0).unwrap();
        let date = tz.timestamp_nanos(time).date_naive();
        let first = |months: i32| {
            let month = date.year() * 12 + i32::try_from(date.month0()).unwrap() + months;
            let day = NaiveDate::from_ymd_opt(month.div_euclid(12), u32::try_from(month.rem_euclid(12)).unwrap() + 1, 1);
            first_instant(tz, day.unwrap().and_time(start))
        };
        let starts: Vec<i64> = (-1..=2).map(first).collect();
        let place = starts.partition_point(|start| *start <= time);
        let slot = raster(Month, 1, ZONES[zone], day_start).slot(time);
        prop_assert_eq!(slot, TimeRange { from: starts[place - 1], to: starts[place] });
    }

    #[test]
    fn offsets_are_those_of_another_library(zone in 0..ZONES.len(), time in any_recent_time()) {
        let tz: chrono_tz::Tz = ZONES[zone].parse().unwrap();
        let offset = tz.timestamp_nanos(time).offset().fix().local_minus_utc();
        prop_assert_eq!(Zone::get(ZONES[zone]).unwrap().offset_at(time), i64::from(offset) * SECOND);
    }
}

#[test]
fn quarter_hours_are_elapsed_time_wherever_clocks_change_by_them() {
    for zone in ["Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "Asia/Kathmandu"] {
        let quarters = Raster::new(QUARTER_HOUR, Zone::get(zone).unwrap(), 0).unwrap();
        let run = quarters.run_at(at("1990-01-01T00:00:00Z"), at("2090-01-01T00:00:00Z"));
        assert!(run.to > at("2090-01-01T00:00:00Z"), "{zone}: one run for a hundred years, {run:?}");
        assert_eq!(run.step, 900 * SECOND);
    }
}

/// Else every slot would be looked for on the clock by itself.
#[test]
fn steps_that_do_not_divide_a_day_are_one_run_a_day() {
    for zone in ["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/Santiago"] {
        for (unit, multiplier) in [(Hour, 5), (Minute, 7), (Minute, 1_000), (Second, 11)] {
            let (slots, days) = (raster(unit, multiplier, zone, GAS_DAY), raster(Day, 1, zone, GAS_DAY));
            for day in days.slots(range("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")) {
                let run = slots.run_at(day.from + HOUR, day.to);
                assert_eq!((run.from, run.to), (day.from, day.to), "{zone} {unit:?} {multiplier}");
                assert_eq!(Some(run.step), slots.step());
            }
        }
    }
}

#[test]
fn the_longest_intervals_have_slots_and_longer_ones_are_refused() {
    for (unit, most) in [(Day, 36_525), (Week, 5_217), (Month, 1_200), (Quarter, 400), (Year, 100)] {
        for zone in [Zone::utc(), Zone::get("Europe/Berlin").unwrap()] {
            for multiplier in [most + 1, u32::MAX] {
                let error = Raster::new(Interval::new(unit, multiplier), zone.clone(), 0).unwrap_err();
                assert!(error.to_string().contains("a hundred years"), "{error}");
            }
            let raster = Raster::new(Interval::new(unit, most), zone, 21_600).unwrap();
            for time in [-8_500_000_000 * SECOND, -1, 0, 1_767_225_600 * SECOND, 9_100_000_000 * SECOND] {
                let slot = raster.slot(time);
                assert!(slot.from <= time && time < slot.to, "{unit:?} {time} {slot:?}");
                assert!(raster.shift(time, -100) <= slot.from && slot.from <= raster.shift(time, 100));
            }
            assert!(raster.count(TimeRange::ALL) < 8);
        }
    }
    assert!(
        Raster::new(Interval::new(Millisecond, u32::MAX / 86_400_000 * 86_400_000), Zone::utc(), 0).is_ok()
    );
    assert!(Raster::new(Interval::new(Hour, 24 * 36_526), Zone::utc(), 0).is_err());
}

#[test]
fn points_of_different_centuries_are_checked() {
    let raster = Raster::new(Interval::new(IntervalUnit::Millisecond, 1), Zone::utc(), 0).unwrap();
    let (first, last) = (-8_500_000_000_000_000_000, 8_500_000_000_000_000_000);
    assert_eq!(raster.check(&[first, 0, last]), Ok(()));
    assert_eq!(raster.check(&[first, 0, last + 1]), Err(2));
    assert_eq!(raster.count(TimeRange { from: first, to: last }), 17_000_000_000_000);
}
