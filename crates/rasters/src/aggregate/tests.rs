//! Worked examples, and everything against an implementation that looks at every point for every slot.

use proptest::prelude::*;

use super::*;
use crate::calendar::{DAY, HOUR};
use lang_formula::Aggregation;

use crate::{Interval, IntervalUnit, Raster, Zone};
use strands::is_absent;
use strands::{Flag, Points, TimeRange};

const MINUTE: i64 = HOUR / 60;
const VALID: u8 = Flag::Valid.number();
const ABSENT_MISSING: u8 = Flag::Missing.absent();

fn raster(unit: IntervalUnit, multiplier: u32, zone: &str, day_start: u32) -> Raster {
    Raster::new(Interval::new(unit, multiplier), Zone::get(zone).unwrap(), day_start).unwrap()
}

fn quarters() -> Raster {
    raster(IntervalUnit::Minute, 15, "Europe/Berlin", 0)
}

fn at(text: &str) -> i64 {
    chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp_nanos_opt().unwrap()
}

fn points(rows: &[(i64, f64, u8)]) -> Points {
    let mut points = Points::default();
    rows.iter().for_each(|(time, value, flag)| points.push(*time, *value, *flag));
    points
}

/// One valid point of `value` at every boundary of the range.
fn level(raster: &Raster, range: TimeRange, value: f64) -> Points {
    let mut points = Points::default();
    raster.starts_into(range, &mut points.times);
    points.values = vec![value; points.times.len()];
    points.flags = vec![VALID; points.times.len()];
    points
}

fn resampled(
    points: &Points,
    source: &Layout,
    raster: &Raster,
    how: Aggregation,
    range: TimeRange,
) -> Points {
    let mut out = Points::default();
    resample(points, source, raster, how, range, &mut out);
    out
}

#[track_caller]
fn check(actual: &Points, expected: &[(i64, f64, u8)]) {
    let actual: Vec<(i64, f64, u8)> = actual
        .times
        .iter()
        .zip(&actual.values)
        .zip(&actual.flags)
        .map(|((time, value), flag)| (*time, if is_absent(*flag) { 0.0 } else { *value }, *flag))
        .collect();
    assert_eq!(actual, expected);
}

#[test]
fn days_of_local_time_add_up() {
    let days = raster(IntervalUnit::Day, 1, "Europe/Berlin", 0);
    let range = TimeRange { from: at("2026-03-28T00:00:00+01:00"), to: at("2026-03-31T00:00:00+02:00") };
    let points = level(&quarters(), range, 1.0);
    let sums = resampled(&points, &Layout::Begin(quarters()), &days, Aggregation::Sum, range);
    check(
        &sums,
        &[
            (at("2026-03-28T00:00:00+01:00"), 96.0, VALID),
            (at("2026-03-29T00:00:00+01:00"), 92.0, VALID),
            (at("2026-03-30T00:00:00+02:00"), 96.0, VALID),
        ],
    );
    let gas = raster(IntervalUnit::Day, 1, "Europe/Berlin", 21_600);
    let range = TimeRange { from: at("2026-10-24T06:00:00+02:00"), to: at("2026-10-26T06:00:00+01:00") };
    let points = level(&quarters(), range, 1.0);
    let sums = resampled(&points, &Layout::Begin(quarters()), &gas, Aggregation::Sum, range);
    check(
        &sums,
        &[(at("2026-10-24T06:00:00+02:00"), 100.0, VALID), (at("2026-10-25T06:00:00+01:00"), 96.0, VALID)],
    );
}

#[test]
fn right_aligned_points_name_the_ends_of_slots() {
    let hours = raster(IntervalUnit::Hour, 1, "UTC", 0);
    let points = points(&[
        (15 * MINUTE, 1.0, VALID),
        (30 * MINUTE, 2.0, VALID),
        (45 * MINUTE, 3.0, VALID),
        (60 * MINUTE, 4.0, VALID),
        (75 * MINUTE, 5.0, VALID),
    ]);
    let source = Layout::End(raster(IntervalUnit::Minute, 15, "UTC", 0));
    let all = TimeRange { from: 0, to: 3 * HOUR };
    let missing = Flag::Missing.number();
    check(
        &resampled(&points, &source, &hours, Aggregation::Sum, all),
        &[(HOUR, 10.0, VALID), (2 * HOUR, 5.0, missing)],
    );
    // A range is of names: the hour that ends at one o'clock is in [01:00, 02:00).
    let second = TimeRange { from: HOUR, to: 2 * HOUR };
    check(&resampled(&points, &source, &hours, Aggregation::First, second), &[(HOUR, 1.0, VALID)]);
    assert_eq!(source.on(hours).span(second), TimeRange { from: 0, to: HOUR });
}

#[test]
fn all_functions_and_flags() {
    let hours = raster(IntervalUnit::Hour, 1, "UTC", 0);
    let source = Layout::Begin(raster(IntervalUnit::Minute, 15, "UTC", 0));
    let estimated = Flag::Estimated.number();
    let points = points(&[
        (0, 4.0, VALID),
        (15 * MINUTE, 1.0, estimated),
        (30 * MINUTE, 2.0, VALID),
        (45 * MINUTE, 3.0, Flag::Accounted.number()),
        (HOUR, 7.0, VALID),
        (HOUR + 15 * MINUTE, 0.0, Flag::Faulty.absent()),
        (HOUR + 45 * MINUTE, 9.0, VALID),
        (3 * HOUR, 0.0, ABSENT_MISSING),
    ]);
    let all = TimeRange { from: 0, to: DAY };
    for (how, whole, part) in [
        (Aggregation::Sum, 10.0, 16.0),
        (Aggregation::Average, 2.5, 8.0),
        (Aggregation::Minimum, 1.0, 7.0),
        (Aggregation::Maximum, 4.0, 9.0),
        (Aggregation::First, 4.0, 7.0),
        (Aggregation::Last, 3.0, 9.0),
        (Aggregation::TimeWeightedMean, 2.5, 8.0),
    ] {
        let missing = Flag::Missing.number();
        check(
            &resampled(&points, &source, &hours, how, all),
            &[(0, whole, estimated), (HOUR, part, missing), (3 * HOUR, 0.0, ABSENT_MISSING)],
        );
    }
    let missing = Flag::Missing.number();
    check(
        &resampled(&points, &source, &hours, Aggregation::Count, all),
        &[(0, 4.0, estimated), (HOUR, 2.0, missing), (3 * HOUR, 0.0, missing)],
    );
}

#[test]
fn spontaneous_values_hold_until_the_next() {
    let hours = raster(IntervalUnit::Hour, 1, "UTC", 0);
    let points = points(&[
        (-30 * MINUTE, 1.0, VALID),
        (45 * MINUTE, 5.0, Flag::Estimated.number()),
        (2 * HOUR + 30 * MINUTE, 0.0, ABSENT_MISSING),
        (3 * HOUR, 2.0, VALID),
    ]);
    let range = TimeRange { from: 0, to: 4 * HOUR };
    let (estimated, missing) = (Flag::Estimated.number(), Flag::Missing.number());
    let resampled = |how| resampled(&points, &Layout::Spontaneous, &hours, how, range);
    check(
        &resampled(Aggregation::TimeWeightedMean),
        &[(0, 2.0, estimated), (HOUR, 5.0, estimated), (2 * HOUR, 5.0, missing), (3 * HOUR, 2.0, VALID)],
    );
    check(
        &resampled(Aggregation::First),
        &[(0, 1.0, estimated), (HOUR, 5.0, estimated), (2 * HOUR, 5.0, missing), (3 * HOUR, 2.0, VALID)],
    );
    check(
        &resampled(Aggregation::Sum),
        &[(0, 5.0, estimated), (2 * HOUR, 0.0, ABSENT_MISSING), (3 * HOUR, 2.0, VALID)],
    );
    check(
        &resampled(Aggregation::Average),
        &[(0, 5.0, estimated), (HOUR, 5.0, estimated), (2 * HOUR, 5.0, missing), (3 * HOUR, 2.0, VALID)],
    );
}

#[test]
fn finer_rasters_share_amounts_and_repeat_levels() {
    let days = raster(IntervalUnit::Day, 1, "Europe/Berlin", 0);
    let range = TimeRange { from: at("2026-03-29T00:00:00+01:00"), to: at("2026-03-30T00:00:00+02:00") };
    let day = points(&[(range.from, 46.0, VALID)]);
    let shared = resampled(&day, &Layout::Begin(days.clone()), &quarters(), Aggregation::Sum, range);
    assert_eq!(shared, level(&quarters(), range, 0.5));
    let repeated = resampled(&day, &Layout::Begin(days), &quarters(), Aggregation::Average, range);
    assert_eq!(repeated, level(&quarters(), range, 46.0));
    // Back again.
    let days = raster(IntervalUnit::Day, 1, "Europe/Berlin", 0);
    assert_eq!(resampled(&shared, &Layout::Begin(quarters()), &days, Aggregation::Sum, range), day);
}

#[test]
fn what_straddles_a_boundary_is_shared_by_time() {
    // Hours of UTC into hours of a zone half an hour off.
    let hours = raster(IntervalUnit::Hour, 1, "Asia/Kolkata", 0);
    let source = Layout::Begin(raster(IntervalUnit::Hour, 1, "UTC", 0));
    let points = points(&[(0, 4.0, VALID), (HOUR, 8.0, VALID)]);
    let range = TimeRange { from: -HOUR, to: 2 * HOUR };
    let (missing, half) = (Flag::Missing.number(), HOUR / 2);
    check(
        &resampled(&points, &source, &hours, Aggregation::Sum, range),
        &[(-half, 2.0, missing), (half, 6.0, VALID), (HOUR + half, 4.0, missing)],
    );
    check(
        &resampled(&points, &source, &hours, Aggregation::TimeWeightedMean, range),
        &[(-half, 4.0, missing), (half, 6.0, VALID), (HOUR + half, 8.0, missing)],
    );
}

#[test]
fn gaps_are_filled_as_asked() {
    let layout = Layout::Begin(raster(IntervalUnit::Hour, 1, "UTC", 0));
    let held = points(&[(HOUR, 1.0, VALID), (2 * HOUR, 0.0, Flag::Faulty.absent()), (4 * HOUR, 7.0, VALID)]);
    let range = TimeRange { from: 0, to: 6 * HOUR };
    let fill = |gaps, neighbours| fill_gaps(held.clone(), &layout, range, gaps, neighbours).unwrap();
    let nobody = Neighbours::default();
    let made = Flag::Interpolated.number();
    assert_eq!(fill(Gaps::None, nobody), held);
    let (faulty, missing) = (Flag::Faulty.absent(), ABSENT_MISSING);
    check(
        &fill(Gaps::Null, nobody),
        &[
            (0, 0.0, missing),
            (HOUR, 1.0, VALID),
            (2 * HOUR, 0.0, faulty),
            (3 * HOUR, 0.0, missing),
            (4 * HOUR, 7.0, VALID),
            (5 * HOUR, 0.0, missing),
        ],
    );
    check(
        &fill(Gaps::Previous, nobody),
        &[
            (0, 0.0, missing),
            (HOUR, 1.0, VALID),
            (2 * HOUR, 1.0, made),
            (3 * HOUR, 1.0, made),
            (4 * HOUR, 7.0, VALID),
            (5 * HOUR, 7.0, made),
        ],
    );
    let around = Neighbours { before: Some((-HOUR, 5.0)), after: Some((7 * HOUR, 10.0)) };
    check(
        &fill(Gaps::Linear, around),
        &[
            (0, 3.0, made),
            (HOUR, 1.0, VALID),
            (2 * HOUR, 3.0, made),
            (3 * HOUR, 5.0, made),
            (4 * HOUR, 7.0, VALID),
            (5 * HOUR, 8.0, made),
        ],
    );
    let inside = fill(Gaps::Linear, nobody);
    assert!(is_absent(inside.flags[0]) && is_absent(inside.flags[5]) && !is_absent(inside.flags[3]));
    let ever = TimeRange { from: i64::MIN / 2, to: i64::MAX / 2 };
    let milliseconds = Layout::Begin(raster(IntervalUnit::Millisecond, 1, "UTC", 0));
    let refused = fill_gaps(held.clone(), &milliseconds, ever, Gaps::Null, nobody);
    assert!(matches!(refused, Err(crate::Error::Limit { .. })));
}

#[test]
fn many_series_are_one_sum() {
    let mut total = Total::default();
    total.add(&points(&[(0, 1.0, VALID), (HOUR, 2.0, VALID), (2 * HOUR, 3.0, VALID)]));
    total.add(&points(&[
        (0, 10.0, VALID),
        (HOUR, 20.0, Flag::Estimated.number()),
        (2 * HOUR, 0.0, ABSENT_MISSING),
    ]));
    total.add(&points(&[(0, 100.0, VALID), (HOUR, 200.0, VALID), (3 * HOUR, 0.0, ABSENT_MISSING)]));
    let missing = Flag::Missing.number();
    check(
        &total.finish(),
        &[
            (0, 111.0, VALID),
            (HOUR, 222.0, Flag::Estimated.number()),
            (2 * HOUR, 3.0, missing),
            (3 * HOUR, 0.0, ABSENT_MISSING),
        ],
    );
    check(&Total::default().finish(), &[]);
}

/// What `resample` is to answer, by looking at every point for every slot.
fn resampled_naively(
    points: &Points,
    source: &Layout,
    raster: &Raster,
    how: Aggregation,
    range: TimeRange,
) -> Points {
    let mut out = Points::default();
    let holds = matches!(source, Layout::Spontaneous);
    let names_end = matches!(source, Layout::End(_));
    let span = source.on(raster.clone()).span(range);
    let stretch = |position: usize| match source {
        Layout::Begin(raster) => raster.slot(points.times[position]),
        Layout::End(raster) => raster.slot(points.times[position] - 1),
        Layout::Spontaneous => TimeRange {
            from: points.times[position],
            to: points.times.get(position + 1).copied().unwrap_or(span.to.max(points.times[position] + 1)),
        },
    };
    for slot in raster.slots(span) {
        let parts: Vec<(f64, u8, f64, f64, bool)> = (0..points.len())
            .filter_map(|position| {
                let whole = stretch(position);
                let length = whole.to.min(slot.to).min(span.to) - whole.from.max(slot.from);
                let share = length as f64 / (whole.to - whole.from) as f64;
                let is_start = slot.contains(whole.from);
                (length > 0).then(|| {
                    (points.values[position], points.flags[position], length as f64, share, is_start)
                })
            })
            .collect();
        let of_starts = holds && matches!(how, Aggregation::Sum | Aggregation::Count);
        let parts: Vec<_> = parts.into_iter().filter(|part| !of_starts || part.4).collect();
        if parts.is_empty() {
            continue;
        }
        let valued: Vec<_> = parts.iter().filter(|part| !is_absent(part.1)).collect();
        let covered: f64 = valued.iter().map(|part| part.2).sum();
        let is_missing =
            if of_starts { valued.len() < parts.len() } else { covered < (slot.to - slot.from) as f64 };
        let worst = parts.iter().map(|part| part.1 & !strands::ABSENT).max().unwrap();
        let started: Vec<_> = valued.iter().filter(|part| part.4).collect();
        let value = match how {
            Aggregation::Count => Some(started.len() as f64),
            _ if valued.is_empty() => None,
            Aggregation::Sum if holds => Some(valued.iter().map(|part| part.0).sum()),
            Aggregation::Sum => Some(valued.iter().map(|part| part.0 * part.3).sum()),
            Aggregation::Average if holds && started.is_empty() => valued.last().map(|part| part.0),
            Aggregation::Average if holds => {
                Some(started.iter().map(|part| part.0).sum::<f64>() / started.len() as f64)
            }
            Aggregation::Average => {
                let shares: f64 = valued.iter().map(|part| part.3).sum();
                Some(valued.iter().map(|part| part.0 * part.3).sum::<f64>() / shares)
            }
            Aggregation::Minimum => valued.iter().map(|part| part.0).reduce(f64::min),
            Aggregation::Maximum => valued.iter().map(|part| part.0).reduce(f64::max),
            Aggregation::First => valued.first().map(|part| part.0),
            Aggregation::Last => valued.last().map(|part| part.0),
            Aggregation::TimeWeightedMean => {
                Some(valued.iter().map(|part| part.0 * part.2).sum::<f64>() / covered)
            }
        };
        let flag = if is_missing { Flag::Missing.number() } else { worst };
        // What one point is the whole of has its flag.
        let absent = match parts[..] {
            [(_, flag, length, ..)] if !of_starts && length == (slot.to - slot.from) as f64 => flag,
            _ => Flag::Missing.absent(),
        };
        let name = if names_end { slot.to } else { slot.from };
        match value {
            Some(value) => out.push(name, value, flag),
            None => out.push(name, 0.0, absent),
        }
    }
    out
}

fn any_raster() -> impl Strategy<Value = Raster> {
    use IntervalUnit::{Day, Hour, Minute, Month, Week};
    let intervals = prop::sample::select(vec![
        (Minute, 5),
        (Minute, 7),
        (Minute, 15),
        (Minute, 30),
        (Hour, 1),
        (Hour, 2),
        (Hour, 4),
        (Day, 1),
        (Week, 1),
        (Month, 1),
    ]);
    let zones = prop::sample::select(vec!["UTC", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe"]);
    let day_start = prop::sample::select(vec![0_u32, 21_600]);
    (intervals, zones, day_start)
        .prop_map(|((unit, multiplier), zone, day_start)| raster(unit, multiplier, zone, day_start))
}

/// Where each test begins: days with and without a change of some clock.
fn any_beginning() -> impl Strategy<Value = i64> {
    prop::sample::select(vec![
        "2026-03-28T17:05:00Z",
        "2026-10-24T20:00:00Z",
        "2026-04-04T00:00:00Z",
        "2026-06-01T00:00:00Z",
    ])
    .prop_map(at)
}

/// Gaps (0), points without value (1), worse flags (2), else valid points: mostly dense.
fn any_kinds() -> impl Strategy<Value = Vec<(u8, f64)>> {
    let value = (-1_000..1_000_i32).prop_map(|value| f64::from(value) / 8.0);
    let dense = prop::collection::vec((Just(9_u8), value.clone()), 0..300);
    let kind = prop_oneof![20 => Just(9_u8), 1 => Just(0), 1 => Just(1), 1 => Just(2)];
    let mixed = prop::collection::vec((kind, value), 0..300);
    prop_oneof![dense, mixed]
}

fn flag_of(kind: u8) -> u8 {
    match kind {
        1 => Flag::Estimated.absent(),
        2 => Flag::Faulty.number(),
        _ => VALID,
    }
}

/// Points of these kinds at the boundaries from `from` on (spontaneous: minutes and more apart).
fn made(layout: &Layout, from: i64, kinds: &[(u8, f64)]) -> Points {
    let mut points = Points::default();
    let mut time = layout.raster().map_or(from, |raster| raster.ceil(from));
    for (kind, value) in kinds {
        if *kind != 0 {
            points.push(time, *value, flag_of(*kind));
        }
        time = match layout.raster() {
            Some(raster) => raster.next(time),
            None => time + MINUTE * (1 + i64::from(value.to_bits() >> 40 & 63 == 0) * 90 + i64::from(*kind)),
        };
    }
    points
}

#[track_caller]
fn assert_alike(actual: &Points, expected: &Points) {
    assert_eq!(actual.times, expected.times);
    assert_eq!(actual.flags, expected.flags);
    for (place, (actual, expected)) in actual.values.iter().zip(&expected.values).enumerate() {
        let tolerance = 1e-9 * expected.abs().max(1.0);
        assert!((actual - expected).abs() <= tolerance, "value {place}: {actual}, expected {expected}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((300 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn resamples_as_one_would_by_hand(
        source in (any_raster(), 0..3_u8),
        target in any_raster(),
        how in prop::sample::select(Aggregation::ALL.to_vec()),
        beginning in any_beginning(),
        kinds in any_kinds(),
        cut in (-3..40_i64, 0..400_i64),
    ) {
        let layout = match source {
            (raster, 0) => Layout::Begin(raster),
            (raster, 1) => Layout::End(raster),
            _ => Layout::Spontaneous,
        };
        let points = made(&layout, beginning, &kinds);
        let step = points.times.get(1).map_or(HOUR, |second| second - points.times[0]);
        let from = beginning + cut.0 * step + MINUTE;
        // Not more slots than can be looked at one by one.
        let slot = target.slot(from);
        let to = (from + cut.1 * step).min(from + 400 * (slot.to - slot.from));
        let range = TimeRange { from, to };
        let actual = resampled(&points, &layout, &target, how, range);
        assert_alike(&actual, &resampled_naively(&points, &layout, &target, how, range));
        prop_assert_eq!(layout.on(target).check(&actual.times), Ok(()));
    }

    #[test]
    fn only_points_of_the_times_asked_for_matter(
        source in (any_raster(), any::<bool>()),
        target in any_raster(),
        beginning in any_beginning(),
        kinds in any_kinds(),
        cut in (0..40_i64, 0..200_i64),
    ) {
        let layout = if source.1 { Layout::Begin(source.0) } else { Layout::End(source.0) };
        let points = made(&layout, beginning, &kinds);
        let range = TimeRange { from: beginning + cut.0 * HOUR, to: beginning + (cut.0 + cut.1) * HOUR };
        let wanted = layout.times(layout.on(target.clone()).span(range));
        let mut cut = Points::default();
        for (time, (value, flag)) in points.times.iter().zip(points.values.iter().zip(&points.flags)) {
            if wanted.contains(*time) {
                cut.push(*time, *value, *flag);
            }
        }
        let all = resampled(&points, &layout, &target, Aggregation::Sum, range);
        prop_assert_eq!(resampled(&cut, &layout, &target, Aggregation::Sum, range), all);
    }

    #[test]
    fn shares_add_up(value in -1e6..1e6_f64, beginning in any_beginning(), fine in 1..1_440_u32) {
        let days = raster(IntervalUnit::Day, 1, "Europe/Berlin", 0);
        let day = days.slot(beginning);
        let fine = raster(IntervalUnit::Minute, fine, "Europe/Berlin", 0);
        let whole = points(&[(day.from, value, VALID)]);
        let parts = resampled(&whole, &Layout::Begin(days), &fine, Aggregation::Sum, day);
        prop_assert_eq!(parts.len() as u64, fine.count(day));
        let sum: f64 = parts.values.iter().sum();
        prop_assert!((sum - value).abs() <= 1e-12 * value.abs() * parts.len() as f64, "{sum} of {value}");
    }

    #[test]
    fn gaps_are_filled_as_one_would_by_hand(
        kinds in any_kinds(),
        gaps in prop::sample::select(vec![Gaps::Null, Gaps::Previous, Gaps::Linear]),
        is_end in any::<bool>(),
        around in (prop::option::of(-9..9_i32), prop::option::of(-9..9_i32)),
    ) {
        let raster = raster(IntervalUnit::Hour, 4, "Europe/Berlin", 0);
        let from = at("2026-03-20T00:00:00+01:00");
        let layout = if is_end { Layout::End(raster.clone()) } else { Layout::Begin(raster.clone()) };
        let held = made(&layout, from, &kinds);
        let range = TimeRange { from: from - DAY, to: from + 40 * DAY };
        let neighbours = Neighbours {
            before: around.0.map(|value| (range.from - DAY, f64::from(value))),
            after: around.1.map(|value| (range.to + DAY, f64::from(value))),
        };
        let mut known: Vec<(i64, f64)> = neighbours.before.into_iter().collect();
        known.extend((0..held.len()).filter_map(|place| {
            let has_value = range.contains(held.times[place]) && !is_absent(held.flags[place]);
            has_value.then(|| (held.times[place], held.values[place]))
        }));
        known.extend(neighbours.after);
        let mut inside = held.clone();
        let end = inside.times.partition_point(|time| *time < range.to);
        inside.times.truncate(end);
        inside.values.truncate(end);
        inside.flags.truncate(end);
        let filled = fill_gaps(inside, &layout, range, gaps, neighbours).unwrap();
        let names: Vec<i64> = raster.slots(range).map(|slot| slot.from).collect();
        prop_assert_eq!(&filled.times, &names);
        for (place, name) in names.into_iter().enumerate() {
            let (value, flag) = (filled.values[place], filled.flags[place]);
            if let Ok(own) = held.times.binary_search(&name)
                && !is_absent(held.flags[own])
            {
                prop_assert_eq!((value, flag), (held.values[own], held.flags[own]));
                continue;
            }
            let before = known.iter().rfind(|(time, _)| *time < name);
            let after = known.iter().find(|(time, _)| *time > name);
            let expected = match (gaps, before, after) {
                (Gaps::Previous, Some(before), _) => Some(before.1),
                (Gaps::Linear, Some(before), Some(after)) => {
                    let way = (name - before.0) as f64 / (after.0 - before.0) as f64;
                    Some(before.1 * (1.0 - way) + after.1 * way)
                }
                _ => None,
            };
            prop_assert_eq!(is_absent(flag), expected.is_none());
            if let Some(expected) = expected {
                prop_assert_eq!(flag, Flag::Interpolated.number());
                prop_assert!((value - expected).abs() < 1e-9, "{value}, expected {expected}");
            }
        }
    }

    #[test]
    fn totals_are_sums_per_time(series in prop::collection::vec(any_kinds(), 0..6), shift in 0..3_i64) {
        let layout = Layout::Begin(quarters());
        let mut total = Total::default();
        let mut expected = std::collections::BTreeMap::new();
        for (place, kinds) in series.iter().enumerate() {
            let points = made(&layout, i64::try_from(place).unwrap() * shift * HOUR, kinds);
            total.add(&points);
            for (position, time) in points.times.iter().enumerate() {
                let (sum, worst, count) = expected.entry(*time).or_insert((0.0, 0, 0));
                *worst = points.flags[position].max(*worst) & !strands::ABSENT;
                if !is_absent(points.flags[position]) {
                    *sum += points.values[position];
                    *count += 1;
                }
            }
        }
        let total = total.finish();
        prop_assert!(total.times.iter().eq(expected.keys()));
        for (position, (sum, worst, count)) in expected.values().enumerate() {
            let flag = total.flags[position];
            prop_assert_eq!(is_absent(flag), *count == 0);
            prop_assert!(*count == 0 || total.values[position] == *sum);
            let expected = if *count < series.len() { Flag::Missing.number() } else { *worst };
            prop_assert_eq!(flag & !strands::ABSENT, expected);
        }
    }
}
