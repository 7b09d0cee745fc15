//! Reads against the oracle: every interval on every other, over ranges of any kind, in zones with odd clocks.

use super::oracle::{self, Calendar, Point, Question, Row, Series, UnitName, Written};
use super::*;
use strands::{ABSENT, Encoding};

const ZONES: [&str; 8] = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "America/Santiago",
    "Africa/Casablanca",
    "UTC",
];

const INTERVALS: [Interval; 15] = [
    Interval::new(IntervalUnit::Minute, 7),
    Interval::new(IntervalUnit::Minute, 15),
    Interval::new(IntervalUnit::Minute, 45),
    Interval::new(IntervalUnit::Hour, 1),
    Interval::new(IntervalUnit::Hour, 4),
    Interval::new(IntervalUnit::Hour, 5),
    Interval::new(IntervalUnit::Hour, 12),
    Interval::new(IntervalUnit::Day, 1),
    Interval::new(IntervalUnit::Day, 3),
    Interval::new(IntervalUnit::Week, 1),
    Interval::new(IntervalUnit::Month, 1),
    Interval::new(IntervalUnit::Month, 2),
    Interval::new(IntervalUnit::Quarter, 1),
    Interval::new(IntervalUnit::Year, 1),
    Interval::new(IntervalUnit::Year, 2),
];

/// With units whose way has an offset.
async fn repository_of_oracle() -> Repository {
    let strands = StrandOptions { block_points_max: 16, overlays_max: 100, overlay_points_max: 100_000 };
    let repository = repository_with(strands).await;
    let unit = |name: &str, base: Option<&str>, offset, factor| Unit {
        name: name.into(),
        base: base.map(Into::into),
        offset,
        factor,
        integral: None,
        aggregation: UnitRule::Average,
    };
    repository.put_unit(unit("C", None, 0.0, 1.0)).await.unwrap();
    repository.put_unit(unit("F", Some("C"), -32.0, 0.5)).await.unwrap();
    repository
}

/// When the `place`th write is made.
fn moment(place: usize) -> Timestamp {
    Timestamp(NOW.0 + i64::try_from(place).unwrap() * 1_000_000)
}

/// Defines a series as the oracle has it, and writes it.
async fn defined(repository: &Repository, name: &str, series: &Series) -> Arc<Definition> {
    let defined = define(
        repository,
        DefinitionDraft {
            zone: Some(zone_of(&series.calendar)),
            // What has no slots has no days.
            day_start_seconds: series.interval.map_or(0, |_| day_start_of(&series.calendar)),
            unit: Some(series.unit.text().into()),
            switches: Switches { audit: true, ..Switches::default() },
            ..DefinitionDraft::new(name, series.alignment, series.interval)
        },
    )
    .await;
    for (place, written) in series.written.iter().enumerate() {
        match written {
            Written::Put(put) => {
                let mut points = Points::default();
                for (time, (value, flag)) in put {
                    let absent = if value.is_none() { ABSENT } else { 0 };
                    points.push(*time, value.unwrap_or(0.0), flag | absent);
                }
                write(repository, &defined, None, points, moment(place)).await;
            }
            Written::Delete(from, to) => {
                let range = TimeRange { from: *from, to: *to };
                repository.delete_range(&defined, None, range, moment(place)).await.unwrap();
            }
        }
    }
    defined
}

fn zone_of(calendar: &Calendar) -> Zone {
    Zone::get(calendar.zone.iana_name().unwrap()).unwrap()
}

fn day_start_of(calendar: &Calendar) -> u32 {
    u32::try_from(calendar.day_start_hours).unwrap() * 3_600
}

pub(super) fn request_of(question: &Question) -> ReadRequest {
    ReadRequest {
        interval: question.interval,
        zone: question.interval.map(|_| zone_of(&question.calendar)),
        day_start_seconds: question.interval.map(|_| day_start_of(&question.calendar)),
        unit: question.unit.map(|unit| unit.text().into()),
        aggregation: question.aggregation,
        gaps: question.gaps,
        // Before the first write there is nothing.
        as_of: question.writes.map(|writes| Timestamp(moment(writes).0 - 1)),
        ..ReadRequest::default()
    }
}

pub(super) fn range_of(question: &Question) -> TimeRange {
    TimeRange { from: question.from.unwrap_or(i64::MIN), to: question.to.unwrap_or(i64::MAX) }
}

#[track_caller]
pub(super) fn assert_rows(found: &Points, expected: &[Row], what: &dyn std::fmt::Debug) {
    let times: Vec<i64> = expected.iter().map(|(time, ..)| *time).collect();
    assert_eq!(found.times, times, "times of {what:?}");
    for (place, (time, value, flag)) in expected.iter().enumerate() {
        let (own, own_flag) = (found.values[place], found.flags[place]);
        let absent = if value.is_none() { ABSENT } else { 0 };
        assert_eq!(own_flag, flag | absent, "the flag at {time}, place {place}, of {what:?}");
        if let Some(value) = value {
            let tolerance = 1e-9 * value.abs().max(1.0);
            assert!(
                (own - value).abs() <= tolerance,
                "{own} for {value} at {time}, place {place}, of {what:?}"
            );
        }
    }
}

/// Points of a page where nothing else is said.
const PAGE_POINTS: usize = 10;

/// The answer at once, in pages, and with others.
async fn check_question(
    repository: &Repository,
    defined: &Arc<Definition>,
    series: &Series,
    question: &Question,
    page_points: usize,
) {
    let expected = series.read(question);
    let (reader, range) = (repository.reader(request_of(question)).await.unwrap(), range_of(question));
    let what = (page_points, series, question);
    assert_rows(&reader.read(defined, range).await.unwrap(), &expected, &what);
    let many = reader.read_many(std::slice::from_ref(defined), range).await.remove(0).unwrap();
    assert_rows(&many, &expected, &what);
    assert_rows(&paged(&reader, defined, range, page_points).await, &expected, &what);
}

/// A point at every one of `slots`.
fn put(alignment: Alignment, slots: &[oracle::Slot], point: impl Fn(usize) -> Option<Point>) -> Written {
    let name = |slot: &oracle::Slot| if alignment == Alignment::End { slot.1 } else { slot.0 };
    let named = slots.iter().enumerate().filter_map(|(place, slot)| Some((name(slot), point(place)?)));
    Written::Put(named.collect())
}

fn value_at(place: usize) -> f64 {
    f64::from(u32::try_from(place * 37 % 101).unwrap()) - 20.0
}

fn question(calendar: &Calendar) -> Question {
    Question {
        interval: None,
        calendar: calendar.clone(),
        unit: None,
        aggregation: None,
        gaps: Gaps::None,
        writes: None,
        from: None,
        to: None,
    }
}

/// A slot of the series that many pages of finer slots lie in, read without an end.
#[tokio::test]
async fn a_coarse_slot_is_told_to_its_end_over_many_pages() {
    let repository = repository_of_oracle().await;
    let calendar = Calendar::new("Europe/Berlin", 0);
    let weeks = Interval::new(IntervalUnit::Week, 1);
    let monday = at("2026-01-05T00:00:00+01:00");
    for (alignment, name) in [(Alignment::Begin, "begin"), (Alignment::End, "end")] {
        let slots = calendar.slots(weeks, (monday, monday));
        let slot = *slots.iter().find(|slot| slot.0 == monday).unwrap();
        let written = vec![put(alignment, &[slot], |_| Some((Some(7.0), VALID)))];
        let (interval, unit) = (Some(weeks), UnitName::KiloWatt);
        let series = Series { alignment, interval, calendar: calendar.clone(), unit, written };
        let defined = defined(&repository, name, &series).await;
        for gaps in [Gaps::None, Gaps::Null, Gaps::Previous, Gaps::Linear] {
            let asked = Question {
                interval: Some(INTERVALS[0]),
                gaps,
                from: Some(1_767_225_360_000_000_000),
                ..question(&calendar)
            };
            let told = series.read(&asked).iter().filter(|(_, value, _)| value.is_some()).count();
            assert_eq!(told, 1_442);
            for page_points in [3, 10, 206, 618, 1_000] {
                check_question(&repository, &defined, &series, &asked, page_points).await;
            }
        }
    }
}

/// A year of amounts read by the month, and all its kin: of two rasters that begin together one may be coarser.
#[tokio::test]
async fn one_slot_is_read_as_it_is_on_all_pairs_of_intervals() {
    let repository = repository_of_oracle().await;
    let calendar = Calendar::new("Europe/Berlin", 0);
    let middle = at("2026-01-01T00:00:00+01:00");
    for (number, source) in INTERVALS.into_iter().enumerate() {
        for (alignment, unit) in [
            (Alignment::Begin, UnitName::KiloWattHour),
            (Alignment::Begin, UnitName::KiloWatt),
            (Alignment::End, UnitName::KiloWattHour),
        ] {
            let slots = calendar.slots(source, (middle - DAY, middle + 40 * DAY));
            let slots: Vec<_> =
                slots.into_iter().filter(|slot| slot.1 > middle - 3 * DAY).take(300).collect();
            let written = vec![put(alignment, &slots, |place| Some((Some(value_at(place)), VALID)))];
            let series =
                Series { alignment, interval: Some(source), calendar: calendar.clone(), unit, written };
            let defined = defined(&repository, &format!("{number} {alignment:?} {unit:?}"), &series).await;
            for target in INTERVALS {
                let targets = calendar.slots(target, (middle, middle));
                let place = targets.iter().position(|slot| slot.0 <= middle && middle < slot.1).unwrap();
                for (from, to) in [targets[place], targets[place + 1]] {
                    let asked = Question {
                        interval: Some(target),
                        from: Some(from),
                        to: Some(to),
                        ..question(&calendar)
                    };
                    check_question(&repository, &defined, &series, &asked, PAGE_POINTS).await;
                    let lines = Question { gaps: Gaps::Linear, ..asked };
                    check_question(&repository, &defined, &series, &lines, PAGE_POINTS).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn a_year_of_energy_is_told_by_the_month() {
    let repository = repository().await;
    let years = Interval::new(IntervalUnit::Year, 1);
    let series = define(&repository, draft("year", Alignment::Begin, Some(years), "kWh")).await;
    let start = at("2026-01-01T00:00:00+01:00");
    write(&repository, &series, None, points(&[(start, 8_760.0)]), NOW).await;
    let months =
        ReadRequest { interval: Some(Interval::new(IntervalUnit::Month, 1)), ..ReadRequest::default() };
    let january = TimeRange { from: start, to: at("2026-02-01T00:00:00+01:00") };
    check(&read(&repository, &series, months.clone(), january).await.unwrap(), &[(start, 744.0, VALID)]);
    let reader = Arc::new(repository.reader(months.clone()).await.unwrap());
    let total = reader.total(std::slice::from_ref(&series), january, 1).await.unwrap();
    check(&total, &[(start, 744.0, VALID)]);
    let lines = ReadRequest { gaps: Gaps::Linear, ..months };
    check(&read(&repository, &series, lines, january).await.unwrap(), &[(start, 744.0, VALID)]);
}

#[tokio::test]
async fn what_was_deleted_since_is_read_as_of_then_without_a_range() {
    let repository = repository().await;
    let audited = Switches { audit: true, ..Switches::default() };
    let hours = define(
        &repository,
        DefinitionDraft { switches: audited, ..draft("hours", Alignment::Begin, Some(HOURS), "kWh") },
    )
    .await;
    let start = at("2026-01-01T00:00:00+01:00");
    let later = Timestamp(NOW.0 + 1_000_000);
    write(
        &repository,
        &hours,
        None,
        points(&(0..48).map(|place| (start + place * HOUR, 1.0)).collect::<Vec<_>>()),
        NOW,
    )
    .await;
    let second_day = TimeRange { from: start + DAY, to: start + 2 * DAY };
    repository.delete_range(&hours, None, second_day, later).await.unwrap();
    let twice = define(&repository, computed("twice", HOURS, "kWh", "2 * [hours]")).await;
    let days = Some(Interval::new(IntervalUnit::Day, 1));
    for (request, series, values) in [
        (ReadRequest { interval: days, ..ReadRequest::default() }, &hours, vec![24.0, 24.0]),
        (ReadRequest { gaps: Gaps::Null, ..ReadRequest::default() }, &hours, vec![1.0; 48]),
        (ReadRequest::default(), &twice, vec![2.0; 48]),
        (ReadRequest { interval: days, ..ReadRequest::default() }, &twice, vec![48.0, 48.0]),
    ] {
        let as_of = ReadRequest { as_of: Some(NOW), ..request };
        let found = read(&repository, series, as_of.clone(), TimeRange::ALL).await.unwrap();
        assert_eq!(found.values, values, "{as_of:?}");
        let reader = Arc::new(repository.reader(as_of).await.unwrap());
        let total = reader.total(std::slice::from_ref(series), TimeRange::ALL, 1).await.unwrap();
        assert_eq!(total.values, values);
    }
    // All of it.
    repository.delete_range(&hours, None, TimeRange::ALL, Timestamp(later.0 + 1)).await.unwrap();
    let as_of = ReadRequest { as_of: Some(NOW), interval: days, ..ReadRequest::default() };
    let found = read(&repository, &hours, as_of, TimeRange::ALL).await.unwrap();
    assert_eq!(found.values, [24.0, 24.0]);
}

#[tokio::test]
async fn a_count_is_told_on_own_slots_too() {
    let repository = repository().await;
    let series = define(&repository, draft("hours", Alignment::Begin, Some(HOURS), "kWh")).await;
    let held = define(&repository, draft("held", Alignment::Spontaneous, None, "kW")).await;
    let start = at("2026-01-01T00:00:00+01:00");
    let mut some = points(&[(start, 17.0)]);
    some.push(start + HOUR, 0.0, Flag::Faulty.absent());
    for series in [&series, &held] {
        write(&repository, series, None, some.clone(), NOW).await;
    }
    let count = ReadRequest { aggregation: Some(Aggregation::Count), ..ReadRequest::default() };
    let expected = [(start, 1.0, VALID), (start + HOUR, 0.0, MISSING)];
    for range in [TimeRange::ALL, TimeRange { from: start, to: start + 2 * HOUR }] {
        for interval in [None, Some(HOURS)] {
            let count = ReadRequest { interval, ..count.clone() };
            check(&read(&repository, &series, count, range).await.unwrap(), &expected);
        }
        check(&read(&repository, &held, count.clone(), range).await.unwrap(), &expected);
    }
}

#[tokio::test]
async fn a_missing_point_has_its_flag_with_and_without_a_range() {
    let repository = repository().await;
    let series = define(&repository, draft("hours", Alignment::Begin, Some(HOURS), "kWh")).await;
    let start = at("2026-01-01T00:00:00+01:00");
    let faulty = Flag::Faulty.absent();
    let mut some = points(&[(start, 1.0)]);
    some.push(start + HOUR, 0.0, faulty);
    write(&repository, &series, None, some, NOW).await;
    let expected = [(start, 1.0, VALID), (start + HOUR, 0.0, faulty)];
    for zone in [None, Some(Zone::utc())] {
        for interval in [None, Some(HOURS)] {
            let request = ReadRequest { interval, zone: zone.clone(), ..ReadRequest::default() };
            for range in [TimeRange::ALL, TimeRange { from: start, to: start + 2 * HOUR }] {
                check(&read(&repository, &series, request.clone(), range).await.unwrap(), &expected);
            }
        }
    }
}

#[tokio::test]
async fn a_mean_of_levels_counts_by_time() {
    let repository = repository().await;
    let months = Interval::new(IntervalUnit::Month, 1);
    let series = define(&repository, draft("months", Alignment::Begin, Some(months), "kWh")).await;
    let raster = series.raster.as_ref().unwrap();
    let start = at("2026-01-01T00:00:00+01:00");
    let year = TimeRange { from: start, to: at("2027-01-01T00:00:00+01:00") };
    let rows: Vec<_> =
        raster.slots(year).map(|slot| (slot.from, if slot.from == start { 7_440.0 } else { 0.0 })).collect();
    write(&repository, &series, None, points(&rows), NOW).await;
    let power = ReadRequest {
        interval: Some(Interval::new(IntervalUnit::Year, 1)),
        unit: Some("kW".into()),
        ..ReadRequest::default()
    };
    let found = read(&repository, &series, power.clone(), year).await.unwrap();
    assert!((found.values[0] - 7_440.0 / 8_760.0).abs() < 1e-12, "{found:?}");
    // Asked for by name, it is the mean of the values.
    let plain = ReadRequest { aggregation: Some(Aggregation::Average), ..power };
    let found = read(&repository, &series, plain, year).await.unwrap();
    assert!((found.values[0] - 10.0 / 12.0).abs() < 1e-12, "{found:?}");
}

#[tokio::test]
async fn levels_that_hold_for_part_of_a_slot_are_amounts_of_that_part() {
    let repository = repository().await;
    let series = define(&repository, draft("held", Alignment::Spontaneous, None, "kW")).await;
    let start = at("2026-01-01T00:00:00+01:00");
    write(&repository, &series, None, points(&[(start + HOUR / 2, 4.0)]), NOW).await;
    let range = TimeRange { from: start, to: start + 2 * HOUR };
    for aggregation in [None, Some(Aggregation::Sum)] {
        let energy = ReadRequest {
            interval: Some(HOURS),
            unit: Some("kWh".into()),
            aggregation,
            ..ReadRequest::default()
        };
        let found = read(&repository, &series, energy, range).await.unwrap();
        check(&found, &[(start, 2.0, MISSING), (start + HOUR, 4.0, VALID)]);
    }
}

#[tokio::test]
async fn values_beyond_all_numbers_are_faulty() {
    let repository = repository().await;
    let series = define(&repository, draft("huge", Alignment::Begin, Some(HOURS), "MWh")).await;
    let start = at("2026-01-01T00:00:00+01:00");
    write(&repository, &series, None, points(&[(start, 1.5e308), (start + HOUR, 1.5e308)]), NOW).await;
    let range = TimeRange { from: start, to: start + 2 * HOUR };
    let faulty = Flag::Faulty.absent();
    let converted = ReadRequest { unit: Some("kWh".into()), ..ReadRequest::default() };
    let found = read(&repository, &series, converted, range).await.unwrap();
    check(&found, &[(start, 0.0, faulty), (start + HOUR, 0.0, faulty)]);
    let added =
        ReadRequest { interval: Some(Interval::new(IntervalUnit::Hour, 2)), ..ReadRequest::default() };
    check(&read(&repository, &series, added.clone(), range).await.unwrap(), &[(start, 0.0, faulty)]);
    // Their mean is a number.
    for how in [Aggregation::Average, Aggregation::TimeWeightedMean] {
        let mean = ReadRequest { aggregation: Some(how), ..added.clone() };
        check(&read(&repository, &series, mean, range).await.unwrap(), &[(start, 1.5e308, VALID)]);
    }
    let other = define(&repository, draft("other", Alignment::Begin, Some(HOURS), "MWh")).await;
    write(&repository, &other, None, points(&[(start, 1.5e308), (start + HOUR, 1.0)]), NOW).await;
    let reader = Arc::new(repository.reader(ReadRequest::default()).await.unwrap());
    let total = reader.total(&[series, other], range, 2).await.unwrap();
    check(&total, &[(start, 0.0, faulty), (start + HOUR, 1.5e308, VALID)]);
}

#[tokio::test]
async fn ranges_of_right_aligned_series_are_of_slots() {
    let repository = repository().await;
    let days = Interval::new(IntervalUnit::Day, 1);
    let series = define(&repository, draft("days", Alignment::End, Some(days), "kWh")).await;
    let raster = series.raster.clone().unwrap();
    let march = TimeRange { from: at("2026-03-01T00:00:00+01:00"), to: at("2026-04-01T00:00:00+02:00") };
    let all = TimeRange { from: raster.shift(march.from, -3), to: raster.shift(march.to, 4) };
    let rows: Vec<_> = raster.slots(all).map(|slot| (slot.from, 1.0)).collect();
    write(&repository, &series, None, points(&rows), NOW).await;
    let inside: Vec<i64> = raster.slots(march).map(|slot| slot.to).collect();
    assert_eq!(inside.len(), 31);
    let found = read(&repository, &series, ReadRequest::default(), march).await.unwrap();
    assert_eq!(found.times, inside);
    let months =
        ReadRequest { interval: Some(Interval::new(IntervalUnit::Month, 1)), ..ReadRequest::default() };
    check(&read(&repository, &series, months, march).await.unwrap(), &[(march.to, 31.0, VALID)]);
    // Slots that the range cuts do not lie in it.
    let cut = TimeRange { from: march.from + HOUR, to: march.to - HOUR };
    let found = read(&repository, &series, ReadRequest::default(), cut).await.unwrap();
    assert_eq!(found.times, inside[1..30]);
    let none = TimeRange { from: march.from + HOUR, to: march.from + 2 * HOUR };
    assert!(read(&repository, &series, ReadRequest::default(), none).await.unwrap().is_empty());
    repository.delete_range(&series, None, none, NOW).await.unwrap();
    // What is replaced is what would be read, and so is what is removed.
    let replaced = SeriesWrite {
        series: series.clone(),
        quotation: None,
        edit: Edit::Replace(march, points(&[(march.to, 2.0)])),
    };
    repository.write_all(vec![replaced.clone()], NOW).await.unwrap().remove(0).unwrap();
    let left = read(&repository, &series, ReadRequest::default(), TimeRange::ALL).await.unwrap();
    assert_eq!(left.len(), rows.len() - 30);
    let outside = SeriesWrite { edit: Edit::Replace(march, points(&[(march.from, 2.0)])), ..replaced };
    assert!(matches!(repository.write_all(vec![outside], NOW).await, Err(Error::Refused(_))));
    repository.delete_range(&series, None, march, NOW).await.unwrap();
    let left = read(&repository, &series, ReadRequest::default(), TimeRange::ALL).await.unwrap();
    assert_eq!(left.len(), rows.len() - 31);
    assert!(left.times.contains(&march.from) && !left.times.contains(&march.to));
}

#[derive(Clone, Debug)]
struct Trial {
    series: Series,
    question: Question,
    page_points: usize,
}

/// A time to begin at: some with a change of the clock near, the day that Apia skipped among them.
fn any_beginning() -> impl Strategy<Value = i64> {
    let near = prop::sample::select(vec![
        "2026-01-01T00:00:00Z",
        "2026-03-28T20:00:00Z",
        "2026-10-24T20:00:00Z",
        "2026-04-04T10:00:00Z",
        "2011-12-29T20:00:00Z",
        "2026-02-14T20:00:00Z",
        "2026-09-05T20:00:00Z",
    ]);
    (near, -10..10_i64).prop_map(|(near, quarters)| at(near) + quarters * QUARTER)
}

fn any_flag() -> impl Strategy<Value = u8> {
    prop_oneof![6 => Just(VALID), 1 => Just(Flag::Estimated.number()), 1 => Just(Flag::Accounted.number())]
}

/// Of each slot: no point, one without a value, or one with.
fn any_points(count: usize) -> impl Strategy<Value = Vec<Option<Point>>> {
    let value = (-400..400_i32).prop_map(|value| f64::from(value) / 4.0);
    let point = prop_oneof![
        8 => (value, any_flag()).prop_map(|(value, flag)| Some((Some(value), flag))),
        1 => Just(Some((None, Flag::Faulty.number()))),
        1 => Just(Some((None, MISSING))),
        1 => Just(None),
    ];
    prop::collection::vec(point, 1..count)
}

fn any_calendar() -> impl Strategy<Value = Calendar> {
    (prop::sample::select(ZONES.to_vec()), prop::sample::select(vec![0_i8, 0, 6]))
        .prop_map(|(zone, day_start)| Calendar::new(zone, day_start))
}

fn any_series() -> impl Strategy<Value = (Series, i64)> {
    let alignment = prop::sample::select(vec![
        Alignment::Begin,
        Alignment::End,
        Alignment::Begin,
        Alignment::Spontaneous,
    ]);
    let unit = prop::sample::select(vec![
        UnitName::KiloWatt,
        UnitName::KiloWattHour,
        UnitName::MegaWattHour,
        UnitName::Fahrenheit,
    ]);
    let shape = (alignment, prop::sample::select(INTERVALS.to_vec()), any_calendar(), unit);
    let writes = (
        any_points(60),
        prop::option::of((0..50_usize, any_points(20))),
        prop::option::of((0..50_usize, 0..20_usize)),
    );
    (shape, any_beginning(), writes, any::<u64>()).prop_map(|(shape, beginning, writes, odd)| {
        let (alignment, interval, calendar, unit) = shape;
        let slots = match alignment {
            Alignment::Begin | Alignment::End => {
                let length = calendar.slots(interval, (beginning, beginning))[0];
                let slots = calendar.slots(interval, (beginning, beginning + 70 * (length.1 - length.0)));
                slots.into_iter().filter(|slot| slot.0 >= beginning).collect()
            }
            // Some close together, some far apart.
            Alignment::Spontaneous => {
                let mut time = beginning;
                let step = |place: u64| i64::try_from(1 + (odd >> (place % 40)) % 97).unwrap() * QUARTER / 3;
                let times = (0..80_u64).map(|place| {
                    time += step(place);
                    (time, time)
                });
                times.collect::<Vec<_>>()
            }
        };
        let written = |offset: usize, points: &[Option<Point>]| {
            let offset = offset.min(slots.len() - 1);
            put(alignment, &slots[offset..], |place| points.get(place).copied().flatten())
        };
        let (first, over, deleted) = writes;
        let mut all = vec![written(0, &first)];
        all.extend(over.map(|(offset, points)| written(offset, &points)));
        all.extend(deleted.map(|(offset, count)| {
            let (begin, end) =
                (slots[offset.min(slots.len() - 1)].0, slots[(offset + count).min(slots.len() - 1)].0);
            let begin = begin + 1 - i64::try_from(offset % 2).unwrap();
            Written::Delete(begin, end.max(begin))
        }));
        all.retain(|written| !matches!(written, Written::Put(put) if put.is_empty()));
        let interval = (alignment != Alignment::Spontaneous).then_some(interval);
        (Series { alignment, interval, calendar, unit, written: all }, beginning)
    })
}

/// Units that values of one may be told in.
fn told_in(unit: UnitName, choice: usize, has_slots: bool) -> Option<UnitName> {
    let others: &[UnitName] = match unit {
        UnitName::KiloWatt | UnitName::KiloWattHour | UnitName::MegaWattHour => {
            &[UnitName::KiloWatt, UnitName::KiloWattHour, UnitName::MegaWattHour]
        }
        UnitName::Fahrenheit | UnitName::Celsius => &[UnitName::Celsius],
    };
    let is_told =
        |other: &&UnitName| has_slots || (unit == UnitName::KiloWatt) == (**other == UnitName::KiloWatt);
    others.iter().filter(is_told).nth(choice).copied()
}

fn any_trial() -> impl Strategy<Value = Trial> {
    let slots = (
        prop::option::weighted(0.8, prop::sample::select(INTERVALS.to_vec())),
        prop::option::of(any_calendar()),
    );
    let how = (
        prop::option::of(prop::sample::select(Aggregation::ALL.to_vec())),
        prop::sample::select(vec![Gaps::None, Gaps::None, Gaps::Null, Gaps::Previous, Gaps::Linear]),
        0..5_usize,
    );
    let range = (0..6_u8, -5..60_i64, 1..40_i64, prop::option::of(0..4_usize));
    let pages = prop::sample::select(vec![1, 2, 3, 5, 7, 10, 20, 50, 200]);
    (any_series(), slots, how, range, pages).prop_map(
        |((series, beginning), slots, how, range, page_points)| {
            let (interval, calendar) = slots;
            let calendar = calendar.unwrap_or_else(|| series.calendar.clone());
            let has_slots = interval.is_some() || series.interval.is_some();
            let (aggregation, gaps, unit) = how;
            let unit = told_in(series.unit, unit, has_slots);
            let (kind, first, count, writes) = range;
            let seen = match interval {
                Some(interval) => calendar.slots(interval, (beginning, beginning)),
                None => series.interval.map_or(vec![(beginning, beginning + HOUR)], |own| {
                    series.calendar.slots(own, (beginning, beginning))
                }),
            };
            let place = seen.iter().position(|slot| slot.0 <= beginning && beginning < slot.1).unwrap_or(0);
            let slot = seen[place];
            let length = slot.1 - slot.0;
            let far = slot.0 + first * length;
            let (from, to) = match kind {
                // Exactly one slot, parts of slots, whole ones about, ends that are not given.
                0 => (Some(slot.0), Some(slot.1)),
                1 => (Some(far + length / 3), Some(far + length / 3 + count * length / 2)),
                2 => (Some(far), Some(far + count * length)),
                3 => (None, Some(far)),
                4 => (Some(far), None),
                _ => (None, None),
            };
            let writes = writes.map(|writes| writes.min(series.written.len()));
            let question = Question { interval, calendar, unit, aggregation, gaps, writes, from, to };
            Trial { question, series, page_points }
        },
    )
}

impl Trial {
    /// Whether the answer has no more slots than can be looked at one by one.
    fn is_short(&self) -> bool {
        let times = self.series.written.iter().flat_map(|written| match written {
            Written::Put(put) => put.keys().copied().collect(),
            Written::Delete(from, to) => vec![*from, *to],
        });
        let times: Vec<i64> = times.chain(self.question.from).chain(self.question.to).collect();
        let (Some(first), Some(last)) = (times.iter().min(), times.iter().max()) else {
            return false;
        };
        let interval = self.question.interval.or(self.series.interval);
        let slot = interval
            .map_or((0, HOUR), |interval| self.question.calendar.slots(interval, (*first, *first))[0]);
        // A range without an end ends with what the last point stands for.
        let stood_for = self.series.interval.map_or(0, |own| {
            let slot = self.series.calendar.slots(own, (*last, *last))[0];
            slot.1 - slot.0
        });
        (last + stood_for - first) / (slot.1 - slot.0) < 2_000
    }

    async fn run(&self) {
        let repository = repository_of_oracle().await;
        let defined = defined(&repository, "series", &self.series).await;
        check_question(&repository, &defined, &self.series, &self.question, self.page_points).await;
        let strand = repository.context.strand(defined.number, None);
        repository.context.strands.fold(&strand, Encoding::Hot).await.unwrap();
        check_question(&repository, &defined, &self.series, &self.question, self.page_points).await;
    }
}

fn run<F: Future<Output = ()>>(work: F) {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work);
}

/// 80 cases, or as many more as `PROPTEST_CASES` (256 if nobody says) asks for.
fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    let cases = (80 * usual.cases).div_ceil(256);
    ProptestConfig { cases, max_global_rejects: cases.saturating_mul(250), ..usual }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn reads_are_those_of_the_oracle(trial in any_trial()) {
        prop_assume!(trial.is_short() && !trial.series.written.is_empty());
        run(trial.run());
    }
}

/// The sums of every zone: on every zone's own slots, over the changes of its clock, page by page.
#[test]
fn sums_of_every_zone_are_those_of_the_oracle() {
    run(async {
        for zone in ZONES {
            let repository = repository_of_oracle().await;
            let calendar = Calendar::new(zone, 0);
            let start = at("2026-03-01T00:00:00Z");
            let mut all = Vec::new();
            for (number, (alignment, interval)) in [
                (Alignment::Begin, Interval::new(IntervalUnit::Hour, 1)),
                (Alignment::Begin, Interval::new(IntervalUnit::Hour, 5)),
                (Alignment::Begin, Interval::new(IntervalUnit::Day, 1)),
                (Alignment::Spontaneous, Interval::new(IntervalUnit::Hour, 4)),
            ]
            .into_iter()
            .enumerate()
            {
                let slots: Vec<_> = calendar.slots(interval, (start, start + 45 * DAY));
                let written = put(alignment, &slots, |place| match (place + number) % 13 {
                    0 => None,
                    1 => Some((None, MISSING)),
                    _ => Some((Some(value_at(place + number)), VALID)),
                });
                let interval = (alignment != Alignment::Spontaneous).then_some(interval);
                let unit = UnitName::KiloWatt;
                let series =
                    Series { alignment, interval, calendar: calendar.clone(), unit, written: vec![written] };
                all.push((defined(&repository, &format!("s{number}"), &series).await, series));
            }
            for interval in [INTERVALS[0], INTERVALS[1], INTERVALS[4], INTERVALS[7], INTERVALS[10]] {
                for gaps in [Gaps::None, Gaps::Previous, Gaps::Linear] {
                    for (from, to) in [(None, None), (Some(start + 20 * DAY), Some(start + 37 * DAY))] {
                        let asked = Question {
                            interval: Some(interval),
                            unit: Some(UnitName::KiloWattHour),
                            gaps,
                            from,
                            to,
                            ..question(&calendar)
                        };
                        check_sum(&repository, &all, &asked).await;
                    }
                }
            }
        }
    });
}

async fn check_sum(repository: &Repository, all: &[(Arc<Definition>, Series)], question: &Question) {
    let range = range_of(question);
    let series: Vec<_> = all.iter().map(|(defined, _)| Arc::clone(defined)).collect();
    let reader = Arc::new(repository.reader(request_of(question)).await.unwrap());
    // Ends that are not given are those of all.
    let mut asked = question.clone();
    if range == TimeRange::ALL {
        let mut ends = (i64::MAX, i64::MIN);
        for (_, series) in all {
            let rows = series.read(&Question { gaps: Gaps::None, ..question.clone() });
            let slots =
                question.calendar.slots(question.interval.unwrap(), (rows[0].0, rows[rows.len() - 1].0));
            let last = slots.iter().find(|slot| slot.0 == rows[rows.len() - 1].0).unwrap();
            ends = (ends.0.min(rows[0].0), ends.1.max(last.1));
        }
        (asked.from, asked.to) = (Some(ends.0), Some(ends.1));
    }
    let answers: Vec<_> = all.iter().map(|(_, series)| series.read(&asked)).collect();
    let expected = oracle::sum(&answers);
    for page_points in [64 * 1_024, 97] {
        let mut pages = reader.total_pages(&series, range, 2).await.unwrap().in_pages_of(page_points);
        let mut found = Points::default();
        while let Some(page) = pages.next().await.unwrap() {
            found.extend_from_range(&page, 0..page.len());
        }
        assert_rows(&found, &expected, &(page_points, &asked));
    }
}
