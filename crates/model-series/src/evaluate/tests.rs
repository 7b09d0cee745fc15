//! Reading on a store in memory: every step of the pipeline, pages against wholes, quotations against a map.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use store::{Clock, Store, Timestamp};

use super::*;
use crate::{
    Alignment, Definition, DefinitionDraft, IntervalUnit, Repositories, RepositoryDraft, SeriesOptions,
    SeriesWrite, Switches, Unit, UnitRule,
};
use rasters::{DAY, HOUR};
use strands::is_absent;
use strands::{Edit, Flag, Points, StrandOptions, TimeRange};

mod against;
mod computed;
mod long;
mod oracle;
mod pages;
mod summaries;
mod totals;
mod wide;

const NOW: Timestamp = Timestamp(1_767_225_600_000_000);
const QUARTER: i64 = HOUR / 4;
const VALID: u8 = Flag::Valid.number();
const MISSING: u8 = Flag::Missing.number();
const QUARTERS: Interval = Interval::new(IntervalUnit::Minute, 15);
const HOURS: Interval = Interval::new(IntervalUnit::Hour, 1);

async fn repository() -> Repository {
    repository_with(StrandOptions::recommended()).await
}

async fn repository_with(strands: StrandOptions) -> Repository {
    let store = store::testing::memory(Clock::manual(NOW));
    repository_in(store, strands).await
}

async fn repository_in(store: Store, strands: StrandOptions) -> Repository {
    let options = SeriesOptions {
        strands,
        tenants_max: 1_000,
        repositories_max: 1_000,
        catalogue_buckets: 1,
        definitions_cached_max: 1_000,
    };
    let repositories = Repositories::new(store, options);
    let draft = RepositoryDraft { name: "grid".into(), description: "".into() };
    repositories.create(draft, NOW).await.unwrap();
    let repository = repositories.get("grid").await.unwrap();
    let unit = |name: &str, integral: Option<&str>, base: Option<&str>, aggregation| Unit {
        name: name.into(),
        base: base.map(Into::into),
        offset: 0.0,
        factor: if base.is_some() { 1_000.0 } else { 1.0 },
        integral: integral.map(Into::into),
        aggregation,
    };
    for unit in [
        unit("kWh", None, None, UnitRule::Sum),
        unit("MWh", None, Some("kWh"), UnitRule::Sum),
        unit("kW", Some("kWh"), None, UnitRule::Average),
    ] {
        repository.put_unit(unit).await.unwrap();
    }
    repository
}

fn draft(name: &str, alignment: Alignment, interval: Option<Interval>, unit: &str) -> DefinitionDraft {
    DefinitionDraft {
        unit: Some(unit.into()),
        zone: Some(Zone::get("Europe/Berlin").unwrap()),
        ..DefinitionDraft::new(name, alignment, interval)
    }
}

async fn define(repository: &Repository, draft: DefinitionDraft) -> Arc<Definition> {
    repository.define(vec![draft], NOW).await.unwrap().remove(0)
}

async fn write(
    repository: &Repository,
    series: &Arc<Definition>,
    quotation: Option<i64>,
    points: Points,
    now: Timestamp,
) {
    let write = SeriesWrite { series: series.clone(), quotation, edit: Edit::Put(points) };
    for outcome in repository.write_all(vec![write], now).await.unwrap() {
        outcome.unwrap();
    }
}

fn at(text: &str) -> i64 {
    chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp_nanos_opt().unwrap()
}

fn points(rows: &[(i64, f64)]) -> Points {
    let mut points = Points::default();
    rows.iter().for_each(|(time, value)| points.push(*time, *value, VALID));
    points
}

/// `count` valid points, `step` apart, the first at `from`, with values that a sum tells apart.
fn row(from: i64, step: i64, count: i64) -> Points {
    let value = |place: i64| f64::from(i32::try_from(place % 97).unwrap()) * 0.5;
    points(&(0..count).map(|place| (from + place * step, value(place))).collect::<Vec<_>>())
}

#[track_caller]
fn check(actual: &Points, expected: &[(i64, f64, u8)]) {
    let actual: Vec<(i64, f64, u8)> = (0..actual.len())
        .map(|place| {
            let flag = actual.flags[place];
            (actual.times[place], if is_absent(flag) { 0.0 } else { actual.values[place] }, flag)
        })
        .collect();
    assert_eq!(actual, expected);
}

async fn read(
    repository: &Repository,
    series: &Arc<Definition>,
    request: ReadRequest,
    range: TimeRange,
) -> Result<Points, Error> {
    repository.reader(request).await.unwrap().read(series, range).await
}

/// All of `range` in pages of about `points_max` points.
async fn paged(reader: &Reader, series: &Arc<Definition>, range: TimeRange, points_max: usize) -> Points {
    let (mut paged, mut progress) = (Points::default(), Progress::new(range));
    while reader.read_page(series, &mut progress, points_max, &mut paged).await.unwrap() {}
    paged
}

#[track_caller]
fn refusal(outcome: Result<Points, Error>) -> String {
    outcome.expect_err("this must be refused").to_string()
}

#[tokio::test]
async fn a_request_for_nothing_answers_what_is_stored() {
    let repository = repository().await;
    let series = define(&repository, draft("load", Alignment::Begin, Some(QUARTERS), "kW")).await;
    let start = at("2026-03-01T00:00:00+01:00");
    let stored = row(start, QUARTER, 10_000);
    write(&repository, &series, None, stored.clone(), NOW).await;
    let reader = repository.reader(ReadRequest::default()).await.unwrap();
    let all = TimeRange { from: start, to: start + 20_000 * QUARTER };
    assert_eq!(reader.read(&series, all).await.unwrap(), stored);
    assert_eq!(reader.read(&series, TimeRange::ALL).await.unwrap(), stored);
    let part = TimeRange { from: start + 1, to: start + 3 * QUARTER };
    check(
        &reader.read(&series, part).await.unwrap(),
        &[(start + QUARTER, 0.5, VALID), (start + 2 * QUARTER, 1.0, VALID)],
    );
    // Quarter hours of another zone are the same quarter hours.
    let request = ReadRequest { interval: Some(QUARTERS), zone: Some(Zone::utc()), ..ReadRequest::default() };
    let reader = repository.reader(request).await.unwrap();
    assert_eq!(reader.read(&series, all).await.unwrap(), stored);
    assert_eq!(*reader.answer(&series, all).unwrap().raster.unwrap().zone(), Zone::utc());
}

#[tokio::test]
async fn power_becomes_energy_of_local_days() {
    let repository = repository().await;
    let series = define(&repository, draft("load", Alignment::Begin, Some(QUARTERS), "kW")).await;
    let start = at("2026-03-28T00:00:00+01:00");
    let stored = points(&(0..96 + 92 + 50).map(|place| (start + place * QUARTER, 4.0)).collect::<Vec<_>>());
    write(&repository, &series, None, stored, NOW).await;
    let days = [start, at("2026-03-29T00:00:00+01:00"), at("2026-03-30T00:00:00+02:00")];
    let range = TimeRange { from: start, to: at("2026-03-31T00:00:00+02:00") };
    let request = ReadRequest {
        interval: Some(Interval::new(IntervalUnit::Day, 1)),
        unit: Some("MWh".into()),
        ..ReadRequest::default()
    };
    let energy = read(&repository, &series, request.clone(), range).await.unwrap();
    check(&energy, &[(days[0], 0.096, VALID), (days[1], 0.092, VALID), (days[2], 0.05, MISSING)]);
    let levels =
        read(&repository, &series, ReadRequest { unit: None, ..request.clone() }, range).await.unwrap();
    check(&levels, &[(days[0], 4.0, VALID), (days[1], 4.0, VALID), (days[2], 4.0, MISSING)]);
    let reader = repository.reader(request).await.unwrap();
    assert_eq!(reader.answer(&series, range).unwrap().unit.as_deref(), Some("MWh"));
    let gas = ReadRequest {
        interval: Some(Interval::new(IntervalUnit::Day, 1)),
        day_start_seconds: Some(21_600),
        aggregation: Some(Aggregation::Count),
        ..ReadRequest::default()
    };
    let gas = read(&repository, &series, gas, range).await.unwrap();
    let hours =
        [at("2026-03-28T06:00:00+01:00"), at("2026-03-29T06:00:00+02:00"), at("2026-03-30T06:00:00+02:00")];
    check(&gas, &[(hours[0], 92.0, VALID), (hours[1], 96.0, VALID), (hours[2], 26.0, MISSING)]);
}

#[tokio::test]
async fn energy_of_months_is_shared_out_and_becomes_power() {
    let repository = repository().await;
    let months = Interval::new(IntervalUnit::Month, 1);
    let series = define(&repository, draft("sold", Alignment::Begin, Some(months), "kWh")).await;
    let march = at("2026-03-01T00:00:00+01:00");
    write(&repository, &series, None, points(&[(march, 743.0)]), NOW).await;
    let range = TimeRange { from: march, to: at("2026-04-01T00:00:00+02:00") };
    let request = ReadRequest { interval: Some(HOURS), ..ReadRequest::default() };
    let energy = read(&repository, &series, request.clone(), range).await.unwrap();
    assert_eq!(energy.len(), 743);
    assert!(energy.values.iter().all(|value| *value == 1.0));
    assert_eq!(read(&repository, &series, request.clone(), TimeRange::ALL).await.unwrap(), energy);
    let power =
        read(&repository, &series, ReadRequest { unit: Some("kW".into()), ..request }, range).await.unwrap();
    assert_eq!(power, energy);
}

#[tokio::test]
async fn what_holds_is_brought_to_slots() {
    let repository = repository().await;
    let series = define(&repository, draft("setpoint", Alignment::Spontaneous, None, "kW")).await;
    let start = at("2026-01-01T00:00:00Z");
    write(&repository, &series, None, points(&[(start - DAY, 2.0), (start + HOUR / 2, 4.0)]), NOW).await;
    let range = TimeRange { from: start, to: start + 2 * HOUR };
    let request = ReadRequest { interval: Some(HOURS), ..ReadRequest::default() };
    let mean = read(&repository, &series, request.clone(), range).await.unwrap();
    check(&mean, &[(start, 3.0, VALID), (start + HOUR, 4.0, VALID)]);
    let energy = ReadRequest { unit: Some("kWh".into()), ..request.clone() };
    let energy = read(&repository, &series, energy, range).await.unwrap();
    check(&energy, &[(start, 3.0, VALID), (start + HOUR, 4.0, VALID)]);
    let quarters = ReadRequest { interval: Some(QUARTERS), unit: Some("kWh".into()), ..request };
    let quarters =
        read(&repository, &series, quarters, TimeRange { from: start, to: start + HOUR }).await.unwrap();
    assert_eq!(quarters.values, [0.5, 0.5, 1.0, 1.0]);
    let amounts = ReadRequest { unit: Some("kWh".into()), ..ReadRequest::default() };
    assert!(refusal(read(&repository, &series, amounts, range).await).contains("interval"));
}

#[tokio::test]
async fn right_aligned_series_answer_by_the_ends_of_slots() {
    let repository = repository().await;
    let series = define(&repository, draft("meter", Alignment::End, Some(QUARTERS), "kWh")).await;
    let start = at("2026-01-01T00:00:00+01:00");
    write(&repository, &series, None, row(start + QUARTER, QUARTER, 8), NOW).await;
    let request = ReadRequest { interval: Some(HOURS), ..ReadRequest::default() };
    let sums = read(&repository, &series, request.clone(), TimeRange { from: start, to: start + 3 * HOUR })
        .await
        .unwrap();
    check(&sums, &[(start + HOUR, 3.0, VALID), (start + 2 * HOUR, 11.0, VALID)]);
    let endless = read(&repository, &series, request, TimeRange::ALL).await.unwrap();
    assert_eq!(endless, sums);
}

#[tokio::test]
async fn gaps_are_filled_after_all_else() {
    let repository = repository().await;
    let series = define(&repository, draft("load", Alignment::Begin, Some(QUARTERS), "kW")).await;
    let start = at("2026-01-01T00:00:00+01:00");
    write(&repository, &series, None, points(&[(start, 1.0), (start + 2 * HOUR, 5.0)]), NOW).await;
    let range = TimeRange { from: start, to: start + 3 * HOUR };
    let request = ReadRequest { interval: Some(HOURS), gaps: Gaps::Linear, ..ReadRequest::default() };
    let made = Flag::Interpolated.number();
    let filled = read(&repository, &series, request.clone(), range).await.unwrap();
    check(&filled, &[(start, 1.0, MISSING), (start + HOUR, 3.0, made), (start + 2 * HOUR, 5.0, MISSING)]);
    // Values outside the range count, up to a hundred slots away.
    let inside = TimeRange { from: start + HOUR, to: start + 2 * HOUR };
    check(&read(&repository, &series, request.clone(), inside).await.unwrap(), &[(start + HOUR, 3.0, made)]);
    let previous = ReadRequest { gaps: Gaps::Previous, ..request.clone() };
    check(&read(&repository, &series, previous.clone(), inside).await.unwrap(), &[(start + HOUR, 1.0, made)]);
    let far = TimeRange { from: start + 102 * HOUR, to: start + 104 * HOUR };
    let far = read(&repository, &series, previous, far).await.unwrap();
    check(&far, &[(start + 102 * HOUR, 5.0, made), (start + 103 * HOUR, 5.0, made)]);
    let nulls = ReadRequest { interval: None, gaps: Gaps::Null, ..request };
    let nulls = read(&repository, &series, nulls.clone(), range).await.unwrap();
    assert_eq!(nulls.len(), 12);
    assert_eq!(nulls.flags.iter().filter(|flag| is_absent(**flag)).count(), 10);
}

#[tokio::test]
async fn audited_series_are_read_as_they_stood() {
    let repository = repository().await;
    let switches = Switches { audit: true, ..Switches::default() };
    let drafted = DefinitionDraft { switches, ..draft("load", Alignment::Begin, Some(QUARTERS), "kW") };
    let series = define(&repository, drafted).await;
    let start = at("2026-01-01T00:00:00+01:00");
    let later = Timestamp(NOW.0 + 1_000_000);
    write(&repository, &series, None, row(start, QUARTER, 4), NOW).await;
    write(&repository, &series, None, points(&[(start, 100.0)]), later).await;
    let range = TimeRange { from: start, to: start + HOUR };
    let request =
        ReadRequest { interval: Some(HOURS), aggregation: Some(Aggregation::Sum), ..ReadRequest::default() };
    let as_of = |as_of| ReadRequest { as_of, ..request.clone() };
    check(&read(&repository, &series, as_of(None), range).await.unwrap(), &[(start, 103.0, VALID)]);
    check(&read(&repository, &series, as_of(Some(NOW)), range).await.unwrap(), &[(start, 3.0, VALID)]);
    let plain = define(&repository, draft("plain", Alignment::Begin, Some(QUARTERS), "kW")).await;
    assert!(refusal(read(&repository, &plain, as_of(Some(NOW)), range).await).contains("audited"));
}

#[tokio::test]
async fn what_cannot_be_read_is_refused() {
    let repository = repository().await;
    let series = define(&repository, draft("load", Alignment::Begin, Some(QUARTERS), "kW")).await;
    let range = TimeRange { from: 0, to: DAY };
    let with = |change: fn(&mut ReadRequest)| {
        let mut request = ReadRequest::default();
        change(&mut request);
        read(&repository, &series, request, range)
    };
    assert!(matches!(with(|request| request.unit = Some("furlong".into())).await, Err(Error::NotFound(_))));
    assert!(refusal(with(|request| request.quotation = Quotation::At(0)).await).contains("quotations"));
    assert!(
        refusal(with(|request| request.interval = Some(Interval::new(IntervalUnit::Hour, 36))).await)
            .contains("day")
    );
    let milliseconds = Interval::new(IntervalUnit::Millisecond, 1);
    let request = ReadRequest { interval: Some(milliseconds), gaps: Gaps::Linear, ..ReadRequest::default() };
    let outcome = read(&repository, &series, request, range).await;
    assert!(matches!(outcome, Err(Error::Limit { .. })), "{outcome:?}");
    // Two points that would be shared out to more than memory should hold.
    let days = Interval::new(IntervalUnit::Day, 1);
    let series = define(&repository, draft("days", Alignment::Begin, Some(days), "kW")).await;
    let start = at("2026-03-01T00:00:00+01:00");
    let range = TimeRange { from: start, to: start + 2 * DAY };
    write(&repository, &series, None, row(start, DAY, 2), NOW).await;
    for gaps in [Gaps::None, Gaps::Previous] {
        let request = ReadRequest { interval: Some(milliseconds), gaps, ..ReadRequest::default() };
        let outcome = read(&repository, &series, request.clone(), range).await;
        assert!(matches!(outcome, Err(Error::Limit { .. })));
        let reader = Arc::new(repository.reader(request).await.unwrap());
        let outcome = reader.total(std::slice::from_ref(&series), range, 2).await;
        assert!(matches!(outcome, Err(Error::Limit { .. })));
    }
}

#[tokio::test]
async fn pages_and_many_at_once_are_the_whole() {
    let repository = repository().await;
    let start = at("2026-03-20T00:00:00+01:00");
    let mut all = Vec::new();
    for (name, alignment, interval) in [
        ("begin", Alignment::Begin, Some(QUARTERS)),
        ("end", Alignment::End, Some(QUARTERS)),
        ("held", Alignment::Spontaneous, None),
        ("hours", Alignment::Begin, Some(HOURS)),
    ] {
        let series = define(&repository, draft(name, alignment, interval, "kW")).await;
        write(&repository, &series, None, row(start, HOUR, 400), NOW).await;
        all.push(series);
    }
    let range = TimeRange { from: start + 5 * HOUR / 2, to: start + 390 * HOUR };
    let none = ReadRequest::default();
    for request in [
        none.clone(),
        ReadRequest { interval: Some(Interval::new(IntervalUnit::Hour, 4)), ..none.clone() },
        ReadRequest { interval: Some(Interval::new(IntervalUnit::Day, 1)), gaps: Gaps::Null, ..none.clone() },
        ReadRequest {
            interval: Some(Interval::new(IntervalUnit::Minute, 5)),
            unit: Some("kWh".into()),
            ..none.clone()
        },
        ReadRequest { interval: Some(HOURS), gaps: Gaps::Previous, ..none },
    ] {
        let reader = repository.reader(request.clone()).await.unwrap();
        let many = reader.read_many(&all, range).await;
        for (series, together) in all.iter().zip(many) {
            let whole = reader.read(series, range).await.unwrap();
            assert!(!whole.is_empty());
            assert_eq!(together.unwrap(), whole, "{} {request:?}", series.name);
            let (mut paged, mut progress, mut pages) = (Points::default(), Progress::new(range), 1);
            while reader.read_page(series, &mut progress, 50, &mut paged).await.unwrap() {
                pages += 1;
            }
            assert_eq!(paged, whole, "{} {request:?}", series.name);
            assert!(
                pages > 1 || whole.len() <= 50 || request.interval.is_none(),
                "{} {request:?}",
                series.name
            );
        }
    }
}

#[tokio::test]
async fn many_series_add_up_on_one_raster() {
    let repository = repository().await;
    let start = at("2026-01-01T00:00:00+01:00");
    let load = define(&repository, draft("load", Alignment::Begin, Some(QUARTERS), "kW")).await;
    let sold = define(&repository, draft("sold", Alignment::Begin, Some(HOURS), "kWh")).await;
    write(
        &repository,
        &load,
        None,
        points(&(0..8).map(|place| (start + place * QUARTER, 4.0)).collect::<Vec<_>>()),
        NOW,
    )
    .await;
    write(&repository, &sold, None, points(&[(start, 10.0)]), NOW).await;
    let range = TimeRange { from: start, to: start + 2 * HOUR };
    let request = ReadRequest { interval: Some(HOURS), unit: Some("kWh".into()), ..ReadRequest::default() };
    let reader = Arc::new(repository.reader(request).await.unwrap());
    let total = reader.total(&[load.clone(), sold.clone()], range, 2).await.unwrap();
    check(&total, &[(start, 14.0, VALID), (start + HOUR, 4.0, MISSING)]);
    let reader = Arc::new(repository.reader(ReadRequest::default()).await.unwrap());
    assert!(refusal(reader.total(&[load, sold], range, 2).await).contains("raster"));
}

#[tokio::test]
async fn the_plan_of_like_series_is_made_once() {
    let repository = repository().await;
    let mut all = Vec::new();
    for place in 0..20 {
        all.push(
            define(&repository, draft(&format!("load {place}"), Alignment::Begin, Some(QUARTERS), "kW"))
                .await,
        );
    }
    let request = ReadRequest { interval: Some(HOURS), ..ReadRequest::default() };
    let reader = repository.reader(request).await.unwrap();
    reader.read_many(&all, TimeRange { from: 0, to: DAY }).await;
    assert_eq!(reader.plans_kept(), 1);
}

/// What a selector answers, by looking at every quotation for every time.
fn chosen(quotations: &BTreeMap<i64, Points>, selector: Quotation, range: TimeRange) -> Points {
    let mut chosen = BTreeMap::new();
    for (issued, points) in quotations {
        for (place, time) in points.times.iter().enumerate() {
            let is_wanted = match selector {
                Quotation::Latest => true,
                Quotation::At(at) => *issued == at,
                Quotation::LatestBefore(before) => *issued < before,
                Quotation::Before(ahead) => *issued <= time - ahead,
            };
            if is_wanted && range.contains(*time) {
                chosen.insert(*time, points.values[place]);
            }
        }
    }
    points(&chosen.into_iter().collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((60 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn quotations_are_chosen_as_one_would_by_hand(
        issues in prop::collection::btree_map(0..20_i64, (0..40_i64, prop::collection::btree_set(0..30_i64, 0..20)), 0..6),
        selector in 0..4_u8,
        argument in 0..30_i64,
        cut in (0..40_i64, 0..40_i64),
        holds in any::<bool>(),
        page_points in prop::sample::select(vec![1, 2, 3, 8, 100]),
        sizes in (1..50_usize, 1..50_usize),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let strands = StrandOptions { block_points_max: 4, ..StrandOptions::recommended() };
            let repository = repository_with(strands).await;
            let switches = Switches { quotation: true, ..Switches::default() };
            let shape = |name| match holds {
                true => draft(name, Alignment::Spontaneous, None, "kW"),
                false => draft(name, Alignment::Begin, Some(HOURS), "kW"),
            };
            let series = define(&repository, DefinitionDraft { switches, ..shape("forecast") }).await;
            let mut quotations = BTreeMap::new();
            for (issued, (first, places)) in issues {
                let rows: Vec<(i64, f64)> =
                    places.iter().map(|place| ((first + place) * HOUR, (issued * 1_000 + place) as f64)).collect();
                if !rows.is_empty() {
                    write(&repository, &series, Some(issued * HOUR), points(&rows), NOW).await;
                    quotations.insert(issued * HOUR, points(&rows));
                }
            }
            let selector = match selector {
                0 => Quotation::Latest,
                1 => Quotation::At(argument * HOUR),
                2 => Quotation::LatestBefore(argument * HOUR),
                _ => Quotation::Before(argument * HOUR),
            };
            let range = TimeRange { from: cut.0 * HOUR, to: (cut.0 + cut.1) * HOUR };
            let request = ReadRequest { quotation: selector, ..ReadRequest::default() };
            let reader = repository.reader(request).await.unwrap();
            for range in [range, TimeRange::ALL] {
                let expected = chosen(&quotations, selector, range);
                assert_eq!(reader.read(&series, range).await.unwrap(), expected);
                assert_eq!(paged(&reader, &series, range, page_points).await, expected);
            }
            // Whatever is made of them is made as of one series that holds what was chosen.
            let plain = define(&repository, shape("plain")).await;
            let all = chosen(&quotations, selector, TimeRange::ALL);
            if !all.is_empty() {
                write(&repository, &plain, None, all, NOW).await;
            }
            for (interval, gaps) in [
                (Some(Interval::new(IntervalUnit::Hour, 3)), Gaps::None),
                (Some(QUARTERS), Gaps::Previous),
                (None, Gaps::Linear),
            ] {
                let request = ReadRequest { interval, gaps, ..ReadRequest::default() };
                let reader = ReadRequest { quotation: selector, ..request.clone() };
                let mut reader = repository.reader(reader).await.unwrap();
                for range in [range, TimeRange::ALL] {
                    let expected = read(&repository, &plain, request.clone(), range).await.unwrap();
                    assert_eq!(reader.read(&series, range).await.unwrap(), expected);
                    (reader.sizes.page_points, reader.sizes.search_points) = sizes;
                    assert_eq!(reader.read(&series, range).await.unwrap(), expected);
                    assert_eq!(paged(&reader, &series, range, page_points).await, expected);
                }
            }
        });
    }
}

fn computed(name: &str, interval: Interval, unit: &str, formula: &str) -> DefinitionDraft {
    DefinitionDraft { formula: Some(formula.into()), ..draft(name, Alignment::Begin, Some(interval), unit) }
}

#[tokio::test]
async fn computed_series_are_read_from_their_operands() {
    let repository = repository().await;
    let start = at("2026-03-29T00:00:00+01:00");
    let load = define(&repository, draft("load", Alignment::Begin, Some(QUARTERS), "kW")).await;
    let sold = define(&repository, draft("sold", Alignment::End, Some(HOURS), "MWh")).await;
    let held = define(&repository, draft("held", Alignment::Spontaneous, None, "kW")).await;
    let quarters: Vec<_> = (0..92).map(|place| (start + place * QUARTER, 8.0)).collect();
    write(&repository, &load, None, points(&quarters), NOW).await;
    write(&repository, &sold, None, points(&[(start + HOUR, 0.002), (start + 2 * HOUR, 0.003)]), NOW).await;
    write(&repository, &held, None, points(&[(start - DAY, 1.0)]), NOW).await;
    let rest = computed("rest", HOURS, "kWh", "[load,,kWh] - [sold,,kWh] + [held,,kWh]");
    let rest = define(&repository, rest).await;
    let range = TimeRange { from: start, to: start + 3 * HOUR };
    let plain = ReadRequest::default();
    let missing = Flag::Missing.absent();
    let hours = read(&repository, &rest, plain.clone(), range).await.unwrap();
    check(&hours, &[(start, 7.0, VALID), (start + HOUR, 6.0, VALID), (start + 2 * HOUR, 0.0, missing)]);
    // A computed series on other slots and in another unit, like any other.
    let blocks = ReadRequest {
        interval: Some(Interval::new(IntervalUnit::Hour, 4)),
        unit: Some("MWh".into()),
        ..plain.clone()
    };
    let blocks =
        read(&repository, &rest, blocks, TimeRange { from: start, to: start + 3 * HOUR }).await.unwrap();
    check(&blocks, &[(start, 0.013, MISSING)]);
    // And under a formula, also across its range, by slots and by the calendar.
    let over =
        define(&repository, computed("over", HOURS, "kWh", "lag([rest], 1) + 100 * [load, -P1D, kWh]")).await;
    let day_after = at("2026-03-30T01:00:00+02:00");
    let later =
        read(&repository, &over, plain.clone(), TimeRange { from: start + HOUR, to: start + 2 * HOUR }).await;
    check(&later.unwrap(), &[(start + HOUR, 0.0, missing)]);
    let before = define(&repository, computed("before", HOURS, "kWh", "[load, -P1D, kWh]")).await;
    let next_day =
        read(&repository, &before, plain.clone(), TimeRange { from: day_after, to: day_after + 2 * HOUR });
    check(&next_day.await.unwrap(), &[(day_after, 8.0, VALID), (day_after + HOUR, 8.0, VALID)]);
    let next = define(&repository, computed("next", HOURS, "kWh", "[sold, 1, kWh]")).await;
    let all = read(&repository, &next, plain.clone(), TimeRange::ALL).await.unwrap();
    check(&all, &[(start - HOUR, 2.0, VALID), (start, 3.0, VALID)]);
    // Functions that look around see beyond the ends of what there is.
    let late = define(&repository, computed("late", HOURS, "kWh", "lag([sold,,kWh], 3)")).await;
    let all = read(&repository, &late, plain.clone(), TimeRange::ALL).await.unwrap();
    let lagged = [(start + 3 * HOUR, 2.0, VALID), (start + 4 * HOUR, 3.0, VALID)];
    check(&all, &[(start, 0.0, missing), (start + HOUR, 0.0, missing), lagged[0], lagged[1]]);
    let constant = define(&repository, computed("constant", HOURS, "kWh", "7")).await;
    let two =
        read(&repository, &constant, plain.clone(), TimeRange { from: start, to: start + 2 * HOUR }).await;
    check(&two.unwrap(), &[(start, 7.0, VALID), (start + HOUR, 7.0, VALID)]);
    assert!(read(&repository, &constant, plain, TimeRange::ALL).await.unwrap().is_empty());
}

#[tokio::test]
async fn computed_series_pass_on_which_state_is_read() {
    let repository = repository().await;
    let start = at("2026-01-01T00:00:00+01:00");
    let switches = Switches { quotation: true, ..Switches::default() };
    let forecast = DefinitionDraft { switches, ..draft("forecast", Alignment::Begin, Some(HOURS), "kW") };
    let forecast = define(&repository, forecast).await;
    write(&repository, &forecast, Some(1), points(&[(start, 1.0)]), NOW).await;
    write(&repository, &forecast, Some(2), points(&[(start, 2.0)]), NOW).await;
    let plain = define(&repository, draft("plain", Alignment::Begin, Some(HOURS), "kW")).await;
    write(&repository, &plain, None, points(&[(start, 10.0)]), NOW).await;
    let both = define(&repository, computed("both", HOURS, "kW", "[forecast] + [plain]")).await;
    let range = TimeRange { from: start, to: start + HOUR };
    for (quotation, value) in
        [(Quotation::Latest, 12.0), (Quotation::At(1), 11.0), (Quotation::LatestBefore(2), 11.0)]
    {
        let request = ReadRequest { quotation, ..ReadRequest::default() };
        check(&read(&repository, &both, request, range).await.unwrap(), &[(start, value, VALID)]);
    }
    let as_of = ReadRequest { as_of: Some(NOW), ..ReadRequest::default() };
    assert!(refusal(read(&repository, &both, as_of, range).await).contains("audited"));
}

#[tokio::test]
async fn formulas_that_multiply_are_refused() {
    let repository = repository().await;
    define(&repository, draft("f0", Alignment::Begin, Some(HOURS), "kW")).await;
    let references = |below: usize| {
        let all: Vec<String> = (0..8).map(|offset| format!("[f{below}, {offset}]")).collect();
        all.join(" + ")
    };
    let mut top = None;
    for depth in 1..6 {
        top = Some(
            define(&repository, computed(&format!("f{depth}"), HOURS, "kW", &references(depth - 1))).await,
        );
    }
    let reader = repository.reader(ReadRequest::default()).await.unwrap();
    let range = TimeRange { from: 0, to: 2 * HOUR };
    let outcome = reader.read(&top.unwrap(), range).await;
    assert!(matches!(outcome, Err(Error::Limit { .. })), "{outcome:?}");
    // What was spent on one series is not missing for the next.
    let third = repository.find(crate::SeriesRef::Name("f3")).await.unwrap();
    for _ in 0..10 {
        reader.read(&third, range).await.unwrap();
    }
}
