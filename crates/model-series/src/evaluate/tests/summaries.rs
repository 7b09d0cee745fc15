//! Summaries of blocks against their points: whatever was written, deleted and folded, on any raster.

use std::ops::ControlFlow;

use super::*;
use crate::evaluate::plan::{Plan, Shape};
use crate::{Raster, Source};
use strands::{ABSENT, ColumnSet, Encoding, Part, Strand, Summary, Wanted};

/// Blocks are small, so that slots hold many.
const BLOCK_POINTS_MAX: usize = 24;

#[derive(Clone, Debug)]
enum Step {
    /// Points from a slot on, each so many slots after the one before.
    Put {
        first: i64,
        every: i64,
        count: i64,
        flag: u8,
    },
    Delete {
        first: i64,
        slots: i64,
    },
    Fold,
}

fn step() -> impl Strategy<Value = Step> {
    let flags = prop_oneof![
        4 => Just(VALID),
        1 => Just(Flag::Estimated.number()),
        1 => Just(Flag::Missing.absent()),
        1 => Just(Flag::Faulty.absent()),
    ];
    prop_oneof![
        6 => (0..2_000_i64, 1..3_i64, 1..600_i64, flags)
            .prop_map(|(first, every, count, flag)| Step::Put { first, every, count, flag }),
        1 => (0..2_000_i64, 1..100_i64).prop_map(|(first, slots)| Step::Delete { first, slots }),
        2 => Just(Step::Fold),
    ]
}

#[derive(Clone, Debug)]
struct Trial {
    alignment: Alignment,
    interval: Interval,
    zone: &'static str,
    steps: Vec<Step>,
    target: Interval,
    target_zone: Option<&'static str>,
    day_start: u32,
    unit: Option<&'static str>,
    aggregation: Option<Aggregation>,
    gaps: Gaps,
    cut: (i64, i64),
    /// Values that add up without rounding, in any order.
    is_exact: bool,
}

fn trial() -> impl Strategy<Value = Trial> {
    let zone = || prop::sample::select(vec!["UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata"]);
    let interval = |unit, multiplier| Interval::new(unit, multiplier);
    let sources = vec![
        interval(IntervalUnit::Minute, 15),
        interval(IntervalUnit::Minute, 7),
        interval(IntervalUnit::Hour, 1),
        interval(IntervalUnit::Day, 1),
    ];
    let targets = vec![
        interval(IntervalUnit::Minute, 10),
        interval(IntervalUnit::Hour, 6),
        interval(IntervalUnit::Day, 1),
        interval(IntervalUnit::Week, 1),
        interval(IntervalUnit::Month, 1),
        interval(IntervalUnit::Quarter, 1),
        interval(IntervalUnit::Year, 1),
    ];
    let aggregations = vec![
        None,
        Some(Aggregation::Sum),
        Some(Aggregation::Average),
        Some(Aggregation::Minimum),
        Some(Aggregation::Maximum),
        Some(Aggregation::First),
        Some(Aggregation::Last),
        Some(Aggregation::Count),
        Some(Aggregation::TimeWeightedMean),
    ];
    let series = (
        prop::sample::select(vec![Alignment::Begin, Alignment::End]),
        prop::sample::select(sources),
        zone(),
        prop::collection::vec(step(), 1..12),
    );
    let request = (
        prop::sample::select(targets),
        prop::option::of(zone()),
        prop::sample::select(vec![0, 21_600]),
        prop::sample::select(vec![None, Some("kWh"), Some("MWh")]),
        prop::sample::select(aggregations),
        prop::sample::select(vec![Gaps::None, Gaps::Null]),
    );
    (series, request, (0..3_000_i64, 0..4_000_i64), any::<bool>()).prop_map(
        |(series, request, cut, exact)| {
            let (alignment, interval, zone, steps) = series;
            let (target, target_zone, day_start, unit, aggregation, gaps) = request;
            Trial {
                alignment,
                interval,
                zone,
                steps,
                target,
                target_zone,
                day_start,
                unit,
                aggregation,
                gaps,
                cut,
                is_exact: exact,
            }
        },
    )
}

impl Trial {
    async fn define(&self, repository: &Repository) -> Arc<Definition> {
        let zone = Some(Zone::get(self.zone).unwrap());
        let draft = DefinitionDraft { zone, ..draft("load", self.alignment, Some(self.interval), "kW") };
        define(repository, draft).await
    }

    fn request(&self) -> ReadRequest {
        ReadRequest {
            interval: Some(self.target),
            zone: self.target_zone.map(|zone| Zone::get(zone).unwrap()),
            day_start_seconds: Some(self.day_start),
            unit: self.unit.map(Into::into),
            aggregation: self.aggregation,
            gaps: self.gaps,
            ..ReadRequest::default()
        }
    }

    fn value(&self, place: i64) -> f64 {
        let value = f64::from(i32::try_from(place * 7_919 % 20_011).unwrap() - 10_000);
        if self.is_exact { value * 0.125 } else { value / 1_000.0 }
    }

    async fn carry_out(&self, step: &Step, repository: &Repository, series: &Arc<Definition>, slots: &[i64]) {
        let at = |place: i64| slots[usize::try_from(place).unwrap().min(slots.len() - 1)];
        match *step {
            Step::Put { first, every, count, flag } => {
                let mut points = Points::default();
                for place in (0..count).map(|place| first + place * every).take_while(|at| *at < 3_000) {
                    points.push(at(place), if flag & ABSENT == 0 { self.value(place) } else { 0.0 }, flag);
                }
                write(repository, series, None, points, NOW).await;
            }
            Step::Delete { first, slots } => {
                let range = TimeRange { from: at(first), to: at(first + slots) };
                repository.delete_range(series, None, range, NOW).await.unwrap();
            }
            Step::Fold => {
                let strand = repository.context.strand(series.number, None);
                repository.context.strands.fold(&strand, Encoding::Hot).await.unwrap();
            }
        }
    }

    /// The answer made of points alone.
    async fn by_points(&self, repository: &Repository, series: &Arc<Definition>, range: TimeRange) -> Points {
        let units = repository.units().await.unwrap();
        let plan = Plan::new(&Shape::new(series), &self.request(), range, &units).unwrap();
        let names = plan.selected(range);
        let (mut stored, mut times) = (Points::default(), plan.times(names));
        let source = Source::default();
        while let Some(next) =
            repository.read_stored(series, source, times, 100_000, &mut stored).await.unwrap()
        {
            times.from = next;
        }
        let mut making = plan.making(names);
        making.take_points(stored);
        plan.fill(making.finish(), names, Default::default()).unwrap()
    }

    /// Whether no slot of the answer cuts one of the series: else there are fractions that are not exact.
    fn nests(&self, series: &Definition, range: TimeRange) -> bool {
        let zone = self.target_zone.map_or_else(|| series.zone.clone(), |zone| Zone::get(zone).unwrap());
        let target = Raster::new(self.target, zone, self.day_start).unwrap();
        // The slots at the ends reach beyond.
        let around = TimeRange { from: target.floor(range.from), to: target.ceil(range.to) + 1 };
        let source = series.raster.as_ref().unwrap();
        target.slots(around).all(|slot| source.contains(slot.from))
    }

    fn compare(&self, found: &Points, expected: &Points, is_nested: bool) {
        assert_eq!((&found.times, &found.flags), (&expected.times, &expected.flags));
        let is_exact = self.is_exact
            && is_nested
            && self.unit.is_none()
            && !matches!(self.aggregation, Some(Aggregation::TimeWeightedMean));
        for (found, expected) in found.values.iter().zip(&expected.values) {
            let tolerance = if is_exact { 0.0 } else { 1e-9 * expected.abs().max(1.0) };
            assert!((found - expected).abs() <= tolerance, "{found} for {expected}");
            if self.aggregation == Some(Aggregation::Sum) && self.unit.is_none() && is_nested {
                // Sums of three decimals are told in three decimals.
                assert_eq!((found * 1e3).round(), (expected * 1e3).round());
            }
        }
    }

    async fn run(&self) {
        let repository = repository_with(StrandOptions {
            block_points_max: BLOCK_POINTS_MAX,
            overlays_max: 100,
            overlay_points_max: 100_000,
        })
        .await;
        let series = self.define(&repository).await;
        let start = at("2026-03-20T12:00:00Z");
        let raster = series.raster.as_ref().unwrap();
        let slots: Vec<i64> =
            raster.slots(TimeRange { from: start, to: i64::MAX }).take(3_000).map(|slot| slot.from).collect();
        for step in &self.steps {
            self.carry_out(step, &repository, &series, &slots).await;
        }
        let from = slots[usize::try_from(self.cut.0).unwrap().min(2_999)] + self.cut.0 % 3;
        let to = slots[usize::try_from((self.cut.0 + self.cut.1).min(2_999)).unwrap()] + self.cut.1 % 3;
        for range in [TimeRange { from, to }, TimeRange { from: start - 400 * DAY, to: slots[2_999] + DAY }] {
            let expected = self.by_points(&repository, &series, range).await;
            let is_nested = self.nests(&series, range);
            let reader = repository.reader(self.request()).await.unwrap();
            self.compare(&reader.read(&series, range).await.unwrap(), &expected, is_nested);
            let many = reader.read_many(std::slice::from_ref(&series), range).await.remove(0).unwrap();
            self.compare(&many, &expected, is_nested);
            self.compare(&paged(&reader, &series, range, 100).await, &expected, is_nested);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((60 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn summaries_say_what_the_points_say(trial in trial()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(trial.run());
    }
}

/// Writes a year of quarter hours month by month; answers it with the bounds of the year.
async fn year(repository: &Repository) -> (Arc<Definition>, TimeRange) {
    let series = define(repository, draft("year", Alignment::Begin, Some(QUARTERS), "kWh")).await;
    let year = TimeRange { from: at("2026-01-01T00:00:00+01:00"), to: at("2027-01-01T00:00:00+01:00") };
    let months = Interval::new(IntervalUnit::Month, 1);
    let months = crate::Raster::new(months, series.zone.clone(), 0).unwrap();
    for month in months.slots(year) {
        let count = (month.to - month.from) / QUARTER;
        write(repository, &series, None, row(month.from, QUARTER, count), NOW).await;
    }
    (series, year)
}

#[tokio::test]
async fn months_of_quarter_hours_are_not_decoded() {
    let repository = repository().await;
    let (series, range) = year(&repository).await;
    let request =
        ReadRequest { interval: Some(Interval::new(IntervalUnit::Month, 1)), ..ReadRequest::default() };
    let units = repository.units().await.unwrap();
    let plan = Plan::new(&Shape::new(&series), &request, range, &units).unwrap();
    let strand: Strand = repository.context.strand(series.number, None);
    // How many parts come as summaries, and how many do not.
    let parts = async |plan: &Plan| {
        let takes_summary = plan.making(range).takes_summary();
        let want = |summary: &Summary, _| match takes_summary(summary) {
            true => Wanted::Summary,
            false => Wanted::Columns(ColumnSet::ALL),
        };
        let mut counts = (0, 0);
        let mut show = |part: Part<'_>| {
            match part {
                Part::Summary(_) => counts.0 += 1,
                Part::Block(..) | Part::Stretch(_) => counts.1 += 1,
            }
            ControlFlow::Continue(())
        };
        repository.context.strands.visit(&strand, plan.times(range), &want, &mut show).await.unwrap();
        counts
    };
    assert_eq!(parts(&plan).await, (12, 0));
    // A point that was put late has its month read.
    write(&repository, &series, None, points(&[(range.from + 40 * DAY, 1_000.0)]), NOW).await;
    assert_eq!(parts(&plan).await.0, 11);
    let sums = read(&repository, &series, request.clone(), range).await.unwrap();
    let mut making = plan.making(range);
    making.take_points(read(&repository, &series, ReadRequest::default(), range).await.unwrap());
    assert_eq!(sums, making.finish());
    // Months of another zone cut all blocks.
    let request = ReadRequest { zone: Some(Zone::utc()), ..request };
    let plan = Plan::new(&Shape::new(&series), &request, range, &units).unwrap();
    assert_eq!(parts(&plan).await.0, 0);
}
