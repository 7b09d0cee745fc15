//! Long ranges on fine rasters: what is asked for may be long, what it costs is what is held.

use super::*;

const MILLISECONDS: Interval = Interval::new(IntervalUnit::Millisecond, 1);
const MILLISECOND: i64 = 1_000_000;

/// As far as the calendar goes.
fn centuries() -> TimeRange {
    TimeRange { from: at("1678-01-01T00:00:00Z"), to: at("2261-01-01T00:00:00Z") }
}

/// All of `range`, page by page, and how many pages that took.
async fn pages(
    repository: &Repository,
    series: &Arc<Definition>,
    request: ReadRequest,
    range: TimeRange,
) -> Result<(Points, usize), Error> {
    let reader = repository.reader(request).await?;
    reader.answer(series, range)?;
    let (mut points, mut progress, mut pages) = (Points::default(), Progress::new(range), 0);
    while !progress.is_at_end() {
        reader.read_page(series, &mut progress, 1_000, &mut points).await?;
        pages += 1;
        assert!(pages < 1_000, "a walk through all slots");
    }
    Ok((points, pages))
}

#[tokio::test]
async fn time_without_points_is_passed_over() {
    let repository = repository().await;
    let times = [at("1700-05-05T00:00:00Z"), at("2026-03-01T12:00:00.500Z"), at("2200-01-01T00:00:00Z")];
    let stored = points(&times.map(|time| (time, 4.0)));
    for (name, alignment) in [("begin", Alignment::Begin), ("end", Alignment::End)] {
        let series = define(&repository, draft(name, alignment, Some(MILLISECONDS), "kW")).await;
        write(&repository, &series, None, stored.clone(), NOW).await;
        let request = ReadRequest { unit: Some("MWh".into()), ..ReadRequest::default() };
        for range in [centuries(), TimeRange::ALL] {
            let (found, pages) = pages(&repository, &series, request.clone(), range).await.unwrap();
            assert_eq!(found.times, stored.times, "{name}");
            assert!(pages <= 8, "{pages}");
        }
        // Two milliseconds are no slots of the series': it is resampled.
        let pairs = Interval::new(IntervalUnit::Millisecond, 2);
        let request = ReadRequest { interval: Some(pairs), ..ReadRequest::default() };
        let (found, _) = pages(&repository, &series, request, centuries()).await.unwrap();
        let name = |time: &i64| {
            if alignment == Alignment::End { time + MILLISECOND * (time / MILLISECOND % 2) } else { *time }
        };
        assert_eq!(found.times, times.iter().map(name).collect::<Vec<_>>());
    }
    let nothing = define(&repository, draft("nothing", Alignment::Begin, Some(MILLISECONDS), "kW")).await;
    let request = ReadRequest { unit: Some("MWh".into()), ..ReadRequest::default() };
    let (found, pages) = pages(&repository, &nothing, request, centuries()).await.unwrap();
    assert!(found.is_empty() && pages == 1);
}

/// Slots of a day whose clock is changed amid one were looked for one by one, those of each year again: this took hours.
#[tokio::test]
async fn fine_slots_are_compared_with_those_of_another_zone_at_once() {
    let repository = repository().await;
    let sevens = Interval::new(IntervalUnit::Millisecond, 7);
    let series = define(&repository, draft("sevens", Alignment::Begin, Some(sevens), "kWh")).await;
    let time = series.raster.as_ref().unwrap().floor(at("2026-03-29T12:00:00+02:00"));
    write(&repository, &series, None, points(&[(time, 2.0)]), NOW).await;
    for zone in ["Europe/Stockholm", "Africa/Lagos"] {
        let zone = Some(Zone::get(zone).unwrap());
        let request = ReadRequest { interval: Some(sevens), zone, ..ReadRequest::default() };
        for range in [centuries(), TimeRange::ALL] {
            let (found, _) = pages(&repository, &series, request.clone(), range).await.unwrap();
            assert!((found.values.iter().sum::<f64>() - 2.0).abs() < 1e-9, "{found:?}");
        }
    }
}

#[tokio::test]
async fn what_is_to_be_made_up_has_a_limit() {
    let repository = repository().await;
    let series = define(&repository, draft("fine", Alignment::Begin, Some(MILLISECONDS), "kW")).await;
    let held = define(&repository, draft("held", Alignment::Spontaneous, None, "kW")).await;
    let start = at("2026-01-01T00:00:00Z");
    for series in [&series, &held] {
        write(&repository, series, None, points(&[(start, 1.0)]), NOW).await;
    }
    let made = |gaps, interval| ReadRequest { gaps, interval, ..ReadRequest::default() };
    for (series, request) in [
        (&series, made(Gaps::Null, None)),
        (&series, made(Gaps::Previous, None)),
        (&held, made(Gaps::None, Some(MILLISECONDS))),
    ] {
        let outcome = pages(&repository, series, request, centuries()).await;
        let text = outcome.expect_err("too much").to_string();
        assert!(text.contains("answer_slots_max"), "{text}");
    }
    // Of points that stand in slots there is one.
    let count = ReadRequest { aggregation: Some(Aggregation::Count), ..made(Gaps::None, Some(MILLISECONDS)) };
    let (found, _) = pages(&repository, &held, count, centuries()).await.unwrap();
    check(&found, &[(start, 1.0, VALID)]);
    // What holds is told to the end of the range, and from where it begins.
    let range = TimeRange { from: at("1678-01-01T00:00:00Z"), to: start + 5 * HOUR };
    let (found, _) = pages(&repository, &held, made(Gaps::None, Some(HOURS)), range).await.unwrap();
    assert_eq!(found.times, (0..5).map(|place| start + place * HOUR).collect::<Vec<_>>());
}

#[tokio::test]
async fn quotations_and_past_states_are_passed_over_alike() {
    let repository = repository().await;
    let switches = Switches { quotation: true, ..Switches::default() };
    let forecast =
        DefinitionDraft { switches, ..draft("forecast", Alignment::Begin, Some(MILLISECONDS), "kW") };
    let forecast = define(&repository, forecast).await;
    let (early, late) = (at("1800-01-01T00:00:00Z"), at("2100-01-01T00:00:00Z"));
    write(&repository, &forecast, Some(1), points(&[(early, 1.0), (late, 1.0)]), NOW).await;
    write(&repository, &forecast, Some(2), points(&[(late, 2.0)]), NOW).await;
    let (found, _) = pages(&repository, &forecast, ReadRequest::default(), centuries()).await.unwrap();
    check(&found, &[(early, 1.0, VALID), (late, 2.0, VALID)]);
    let switches = Switches { audit: true, ..Switches::default() };
    let audited =
        DefinitionDraft { switches, ..draft("audited", Alignment::Begin, Some(MILLISECONDS), "kW") };
    let audited = define(&repository, audited).await;
    write(&repository, &audited, None, points(&[(early, 1.0), (late, 1.0)]), NOW).await;
    repository.delete_range(&audited, None, TimeRange::ALL, Timestamp(NOW.0 + 1_000_000)).await.unwrap();
    // What was deleted since is still told of then.
    let pairs = Some(Interval::new(IntervalUnit::Millisecond, 2));
    let request = ReadRequest { interval: pairs, ..ReadRequest::default() };
    let as_of = ReadRequest { as_of: Some(NOW), ..request.clone() };
    let (found, _) = pages(&repository, &audited, as_of, centuries()).await.unwrap();
    assert_eq!(found.times, [early, late]);
    assert!(pages(&repository, &audited, request, centuries()).await.unwrap().0.is_empty());
}

#[tokio::test]
async fn computed_series_are_looked_for_where_their_operands_are() {
    let repository = repository().await;
    let times = [at("1750-01-31T00:00:00Z"), at("2026-06-15T12:00:00Z")];
    // The end of its last day.
    let february = at("1750-03-01T00:00:00Z");
    for (name, alignment, interval) in [
        ("fine", Alignment::Begin, Some(MILLISECONDS)),
        ("days", Alignment::End, Some(Interval::new(IntervalUnit::Day, 1))),
        ("held", Alignment::Spontaneous, None),
    ] {
        let zone = Some(Zone::utc());
        let series =
            define(&repository, DefinitionDraft { zone, ..draft(name, alignment, interval, "kW") }).await;
        let times = if name == "days" { vec![february] } else { times.to_vec() };
        let rows: Vec<_> = times.iter().map(|time| (*time, 2.0)).collect();
        write(&repository, &series, None, points(&rows), NOW).await;
    }
    let of = async |name: &str, interval, formula: &str| {
        let draft = DefinitionDraft { zone: Some(Zone::utc()), ..computed(name, interval, "kW", formula) };
        define(&repository, draft).await
    };
    let read = async |series: &Arc<Definition>, range| {
        pages(&repository, series, ReadRequest::default(), range).await.unwrap().0
    };
    let twice = of("twice", MILLISECONDS, "2 * [fine]").await;
    assert_eq!(read(&twice, centuries()).await.times, times);
    let later = of("later", MILLISECONDS, "[twice, -3] + lag([fine], 3)").await;
    // Also where an operand has a point but nothing comes of it.
    let both = |offset: i64| times.iter().flat_map(|time| [*time, time + offset]).collect::<Vec<_>>();
    assert_eq!(read(&later, centuries()).await.times, both(3 * MILLISECOND));
    let ahead = of("ahead", MILLISECONDS, "lead([fine], 5) - [fine, PT1H]").await;
    let expected: Vec<_> = times.iter().flat_map(|time| [time - HOUR, *time]).collect();
    assert_eq!(read(&ahead, centuries()).await.times, expected);
    // Slots on the calendar: a month away from its last day lie the four last of the months beside it.
    let quarters = of("quarters", QUARTERS, "[days, -P1M] + [days, P1M]").await;
    let whole = TimeRange { from: february - 90 * DAY, to: february + 90 * DAY };
    let expected = {
        let request = ReadRequest::default();
        repository.reader(request).await.unwrap().read(&quarters, whole).await.unwrap()
    };
    assert_eq!(expected.len(), 2 * 4 * 96);
    assert_eq!(read(&quarters, centuries()).await, expected);
    // What has a value everywhere is not passed over.
    let everywhere = of("everywhere", MILLISECONDS, "coalesce([fine], 7)").await;
    let range = TimeRange { from: times[1] - 4 * MILLISECOND, to: times[1] + 4 * MILLISECOND };
    assert_eq!(read(&everywhere, range).await.values, [7.0, 7.0, 7.0, 7.0, 2.0, 7.0, 7.0, 7.0]);
    let after = of("after", MILLISECONDS, "[held]").await;
    let range = TimeRange { from: times[0] - 90 * DAY, to: times[0] + 3 * MILLISECOND };
    assert_eq!(read(&after, range).await.len(), 3);
}

/// Formulas that look elsewhere, in ways of their own.
const FORMULAS: [&str; 12] = [
    "[a] + 1",
    "[a, 5] - [b]",
    "lag([a], 30)",
    "lead([b], 26) + [a, -PT3H]",
    "[b, P1M]",
    "[a, -P1M]",
    "[a, P1D] + [b, -P1W]",
    "movingsum([a], 9)",
    "coalesce([a], [b], 3)",
    "isnull([a, 40])",
    "lag(coalesce([a], lead([b], 12)), 4)",
    "1 / lag(coalesce([a, -200], 1), 3)",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases((25 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn what_is_passed_over_is_empty(
        hours in prop::collection::btree_set(0..1_800_i64, 0..6),
        days in prop::collection::btree_set(0..75_i64, 0..3),
        held in prop::option::of(0..1_800_i64),
        formula in prop::sample::select(FORMULAS.to_vec()),
        above in prop::sample::select(vec!["[f]", "[f, -P1M] + [f]", "[f] + [c]", "lag([f], 100)"]),
        interval in prop::sample::select(vec![None, Some(Interval::new(IntervalUnit::Minute, 20)), Some(Interval::new(IntervalUnit::Hour, 6))]),
        gaps in prop::sample::select(vec![Gaps::None, Gaps::None, Gaps::Previous, Gaps::Linear]),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let repository = repository().await;
            let start = at("2026-01-20T00:00:00+01:00");
            let days_of = Interval::new(IntervalUnit::Day, 1);
            let a = define(&repository, draft("a", Alignment::Begin, Some(HOURS), "kW")).await;
            let b = define(&repository, draft("b", Alignment::End, Some(days_of), "kW")).await;
            let c = define(&repository, draft("c", Alignment::Spontaneous, None, "kW")).await;
            let hour = |place: &i64| (start + place * HOUR, if place % 3 == 0 { 0.0 } else { 2.0 });
            write(&repository, &a, None, points(&hours.iter().map(hour).collect::<Vec<_>>()), NOW).await;
            let raster = b.raster.as_ref().unwrap();
            let day = |place: &i64| (raster.shift(start, *place), 5.0);
            write(&repository, &b, None, points(&days.iter().map(day).collect::<Vec<_>>()), NOW).await;
            let held: Vec<_> = held.iter().map(hour).collect();
            write(&repository, &c, None, points(&held), NOW).await;
            let f = define(&repository, computed("f", HOURS, "kW", formula)).await;
            let g = define(&repository, computed("g", HOURS, "kW", above)).await;
            let range = TimeRange { from: start - 70 * DAY, to: start + 140 * DAY };
            for series in [a, b, c, f, g] {
                let reader = repository.reader(ReadRequest { interval, gaps, ..ReadRequest::default() }).await.unwrap();
                let (mut at_once, mut progress) = (Points::default(), Progress::new(range));
                assert!(!reader.read_page(&series, &mut progress, 10_000_000, &mut at_once).await.unwrap());
                let paged = paged(&reader, &series, range, 40).await;
                assert_eq!(paged, at_once, "{}", series.name);
            }
        });
    }
}
