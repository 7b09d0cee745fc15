//! Rasters whose clocks are changed amid their slots, and rasters of different clocks.

use super::*;

#[test]
fn knows_which_rasters_have_the_same_slots() {
    let year = range("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
    let winter = range("2026-01-10T00:00:00Z", "2026-02-20T00:00:00Z");
    let (everywhere, never, in_winter) = ([true, true], [false, false], [false, true]);
    let check =
        |one: (u32, IntervalUnit, &str, u32), other: (u32, IntervalUnit, &str, u32), expected: [bool; 2]| {
            let made = |of: (u32, IntervalUnit, &str, u32)| raster(of.1, of.0, of.2, of.3);
            let (one, other) = (made(one), made(other));
            for (range, expected) in [year, winter].into_iter().zip(expected) {
                assert_eq!(one.has_slots_of(&other, range), expected, "{one:?} {other:?} {range:?}");
                assert_eq!(other.has_slots_of(&one, range), expected, "{other:?} {one:?} {range:?}");
            }
        };
    let (berlin, oslo, lagos, utc, kolkata) =
        ("Europe/Berlin", "Europe/Oslo", "Africa/Lagos", "UTC", "Asia/Kolkata");
    check((15, Minute, berlin, 0), (15, Minute, utc, 0), everywhere);
    check((1, Hour, berlin, 0), (1, Hour, kolkata, 0), never);
    check((30, Minute, berlin, 0), (30, Minute, kolkata, 0), everywhere);
    check((1, Hour, berlin, GAS_DAY), (1, Hour, berlin, 0), everywhere);
    check((4, Hour, berlin, GAS_DAY), (4, Hour, berlin, 0), never);
    check((4, Hour, berlin, 0), (4, Hour, lagos, 0), in_winter);
    check((1, Day, berlin, 0), (1, Day, utc, 0), never);
    check((1, Day, utc, 0), (1, Day, "Etc/UTC", 0), everywhere);
    check((1, Month, utc, 0), (1, Day, utc, 0), never);
    check((1, Week, utc, 0), (7, Day, utc, 0), never);
    // Steps that divide no day are counted from its beginning.
    for of in [(1, Day), (1, Month), (5, Hour), (7, Minute), (7, Millisecond)] {
        check((of.0, of.1, berlin, 0), (of.0, of.1, oslo, 0), everywhere);
        check((of.0, of.1, berlin, 0), (of.0, of.1, lagos, 0), in_winter);
        check((of.0, of.1, berlin, 0), (of.0, of.1, berlin, GAS_DAY), never);
    }
    let years = raster(Year, 1, utc, 0);
    for (step, other) in [(7, 7), (7, 11)] {
        let (one, other) =
            (raster(Millisecond, step, berlin, 0), raster(Millisecond, other, "Europe/Vienna", 0));
        assert_eq!(one.has_slots_of(&other, years.slot(year.from)), step == other.interval().multiplier);
        // Local mean time differed by minutes.
        assert!(!one.has_slots_of(&other, TimeRange::ALL));
    }
}

/// The beginnings of the slots of a day, by their definition: when the clock first shows a multiple of the step.
fn by_the_clock(slots: &Raster, day: TimeRange) -> Vec<i64> {
    let zone: chrono_tz::Tz = slots.zone().name().parse().unwrap();
    let date = zone.timestamp_nanos(day.from + 12 * HOUR).date_naive();
    let local = date.and_time(NaiveTime::MIN).and_utc().timestamp() * SECOND;
    let step = slots.step().unwrap();
    let mut starts: Vec<i64> =
        (0..(DAY - 1) / step + 1).map(|place| slots.zone().first_instant(local + place * step)).collect();
    starts.dedup();
    starts
}

#[test]
fn days_of_changed_clocks_are_a_few_runs_of_the_slots_that_the_clock_tells() {
    for (zone, day) in [
        ("Europe/Berlin", "2026-03-29T12:00:00Z"),
        ("Europe/Berlin", "2026-10-25T12:00:00Z"),
        ("Africa/Cairo", "2026-10-29T12:00:00Z"),
        ("America/Havana", "2026-11-01T12:00:00Z"),
        ("Australia/Lord_Howe", "2026-04-04T20:00:00Z"),
    ] {
        let day = raster(Day, 1, zone, 0).slot(at(day));
        // Each slot by itself takes seconds.
        let fine = if zone == "Europe/Berlin" { 7 } else { 101 };
        for (unit, multiplier) in
            [(Millisecond, fine), (Millisecond, 997), (Second, 11), (Minute, 7), (Hour, 7)]
        {
            let slots = raster(unit, multiplier, zone, 0);
            let runs: Vec<_> = slots.runs(day).collect();
            assert!(runs.len() <= 6, "{zone} {multiplier} {unit:?}: {} runs", runs.len());
            let expected = by_the_clock(&slots, day);
            let mut starts = Vec::new();
            slots.starts_into(day, &mut starts);
            let differs = starts.iter().zip(&expected).find(|(found, wanted)| found != wanted);
            assert_eq!((differs, starts.len()), (None, expected.len()), "{zone} {multiplier} {unit:?}");
            assert_eq!(slots.count(day), expected.len() as u64);
            assert_eq!(slots.check(&starts), Ok(()));
            let last = i64::try_from(expected.len()).unwrap() - 1;
            assert_eq!(slots.shift(day.from, last), *expected.last().unwrap());
            assert_eq!(slots.shift(*expected.last().unwrap(), -last), day.from);
        }
    }
}

/// Counted one by one they would take hours, day by day still milliseconds.
#[test]
fn slots_are_counted_and_passed_by_the_changes_of_the_clock() {
    for zone in ["UTC", "Europe/Berlin", "Africa/Cairo", "Australia/Lord_Howe"] {
        let slots = raster(Millisecond, 7, zone, GAS_DAY);
        let days = raster(Day, 1, zone, GAS_DAY);
        let decade = range("2019-02-03T04:05:06Z", "2029-06-05T04:03:02Z");
        let first = slots.ceil(decade.from);
        let counted: u64 = days
            .slots(TimeRange { from: days.floor(decade.from), to: decade.to })
            .map(|day| slots.count(TimeRange { from: day.from.max(decade.from), to: day.to.min(decade.to) }))
            .sum();
        assert_eq!(slots.count(decade), counted, "{zone}");
        let behind = slots.ceil(decade.to);
        assert_eq!(slots.shift(first, i64::try_from(counted).unwrap()), behind, "{zone}");
        assert_eq!(slots.shift(behind, -i64::try_from(counted).unwrap()), first, "{zone}");
        assert_eq!(slots.shift(slots.shift(first, 1_000_000_000_000), -1_000_000_000_000), first);
    }
}

#[test]
fn days_of_a_zone_with_another_name_are_the_same_for_all_time() {
    let (days, others) = (raster(Day, 1, "UTC", 0), raster(Day, 1, "Etc/UTC", 0));
    assert!(days.has_slots_of(&others, TimeRange::ALL) && others.has_slots_of(&days, TimeRange::ALL));
    assert!(!days.has_slots_of(&raster(Week, 1, "UTC", 0), TimeRange::ALL));
}
