//! Times rasters, aggregation, units and gaps on a year of quarter hours, and reads of many series through them.
//!
//! `cargo bench -p model-series --bench calendar`: nanoseconds per point, and millions of points a second.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_macros,
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    reason = "a bench reports to its user and may stop"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use model_series::{
    Aggregation, Alignment, Clock, Definition, DefinitionDraft, Edit, Flag, Gaps, Interval, IntervalUnit,
    Layout, Points, Progress, Raster, ReadRequest, Repositories, Repository, SeriesOptions, SeriesWrite,
    Source, StrandOptions, TimeRange, Timestamp, Unit, UnitRule, Units, Zone,
};
use rasters::{Neighbours, Total, fill_gaps, resample};
use store::{MemoryOptions, Store};

const NOW: Timestamp = Timestamp(1_767_225_600_000_000);

const HOUR: i64 = 3_600_000_000_000;
const YEAR_2026: TimeRange = TimeRange { from: 1_767_225_600_000_000_000, to: 1_798_761_600_000_000_000 };
/// Each measurement is the best of these.
const ROUNDS: u32 = 40;

fn raster(unit: IntervalUnit, multiplier: u32, zone: &str) -> Raster {
    Raster::new(Interval::new(unit, multiplier), Zone::get(zone).unwrap(), 0).unwrap()
}

fn year_of(raster: &Raster) -> Points {
    let mut points = Points::default();
    raster.starts_into(YEAR_2026, &mut points.times);
    points.values = (0..points.times.len()).map(|place| (place % 977) as f64 * 0.125).collect();
    points.flags = vec![Flag::Valid.number(); points.times.len()];
    points
}

fn report(name: &str, points: usize, mut step: impl FnMut()) {
    let best = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            step();
            start.elapsed()
        })
        .min()
        .unwrap();
    let each = best.as_secs_f64() * 1e9 / points as f64;
    println!(
        "{name:<52} {each:>8.2} ns/point {:>9.1} M points/s {:>10.1} us",
        1e3 / each,
        best.as_secs_f64() * 1e6
    );
}

fn rasters() {
    for zone in ["UTC", "Europe/Berlin"] {
        let quarters = raster(IntervalUnit::Minute, 15, zone);
        let minutes = raster(IntervalUnit::Minute, 1, zone);
        let points = year_of(&quarters);
        let day = year_of(&minutes).times[..1_440].to_vec();
        report(&format!("check 1,440 minutes, {zone}"), day.len(), || {
            black_box(minutes.check(&day)).unwrap()
        });
        report(&format!("check a year of quarter hours, {zone}"), points.len(), || {
            black_box(quarters.check(&points.times)).unwrap();
        });
        report(&format!("floor, {zone}"), points.len(), || {
            points.times.iter().for_each(|time| {
                black_box(quarters.floor(*time + 1));
            });
        });
        let mut times = Vec::with_capacity(points.len());
        report(&format!("slots of a year, {zone}"), points.len(), || {
            times.clear();
            quarters.starts_into(YEAR_2026, &mut times);
        });
    }
    let months = raster(IntervalUnit::Month, 1, "Europe/Berlin");
    report("months of a year, Europe/Berlin", 12, || {
        black_box(months.count(YEAR_2026));
    });
}

fn resampling() {
    let quarters = raster(IntervalUnit::Minute, 15, "Europe/Berlin");
    let dense = year_of(&quarters);
    let mut gaps = dense.clone();
    gaps.flags.iter_mut().step_by(50).for_each(|flag| *flag = Flag::Missing.absent());
    let source = Layout::Begin(quarters.clone());
    let mut out = Points::default();
    for (name, unit, multiplier) in [
        ("1 h", IntervalUnit::Hour, 1),
        ("4 h", IntervalUnit::Hour, 4),
        ("1 d", IntervalUnit::Day, 1),
        ("1 mo", IntervalUnit::Month, 1),
    ] {
        let target = raster(unit, multiplier, "Europe/Berlin");
        for how in
            [Aggregation::Sum, Aggregation::Average, Aggregation::Maximum, Aggregation::TimeWeightedMean]
        {
            report(&format!("15 min to {name}, {how:?}"), dense.len(), || {
                out.clear();
                resample(&dense, &source, &target, how, YEAR_2026, &mut out);
            });
        }
        report(&format!("15 min to {name}, Sum, every 50th missing"), dense.len(), || {
            out.clear();
            resample(&gaps, &source, &target, Aggregation::Sum, YEAR_2026, &mut out);
        });
    }
    let hours = raster(IntervalUnit::Hour, 1, "Europe/Berlin");
    let coarse = year_of(&hours);
    for how in [Aggregation::Sum, Aggregation::Average] {
        report(&format!("1 h to 15 min (per quarter hour), {how:?}"), dense.len(), || {
            out.clear();
            resample(&coarse, &Layout::Begin(hours.clone()), &quarters, how, YEAR_2026, &mut out);
        });
    }
    report("spontaneous to 1 h, time-weighted", dense.len(), || {
        out.clear();
        resample(&dense, &Layout::Spontaneous, &hours, Aggregation::TimeWeightedMean, YEAR_2026, &mut out);
    });
    let mut total = Total::default();
    report("sum of many series, one more", dense.len(), || total.add(&dense));
}

fn columns() {
    let quarters = raster(IntervalUnit::Minute, 15, "Europe/Berlin");
    let dense = year_of(&quarters);
    let unit = |name: &str, base: Option<&str>, factor, integral: Option<&str>| Unit {
        name: name.into(),
        base: base.map(Into::into),
        offset: 0.0,
        factor,
        integral: integral.map(Into::into),
        aggregation: UnitRule::Average,
    };
    let units = Units::new([
        unit("kW", None, 1.0, Some("kWh")),
        unit("kWh", None, 1.0, None),
        unit("MWh", Some("kWh"), 1e3, None),
    ]);
    let conversion = units.conversion("kW", "MWh").unwrap();
    let mut values = dense.values.clone();
    report("kW to MWh", dense.len(), || conversion.apply_all(black_box(&mut values), HOUR / 4));
    report("units.conversion (per look-up)", 1, || {
        black_box(units.conversion("kW", "MWh")).unwrap();
    });
    let mut sparse = Points::default();
    for place in (0..dense.len()).filter(|place| place % 7 != 0) {
        sparse.push(dense.times[place], dense.values[place], dense.flags[place]);
    }
    let layout = Layout::Begin(quarters);
    report("fill gaps, linear, every 7th missing (and a clone)", dense.len(), || {
        black_box(fill_gaps(sparse.clone(), &layout, YEAR_2026, Gaps::Linear, Neighbours::default()))
            .unwrap();
    });
}

/// Series of a month of quarter hours each.
const SERIES: usize = 1_000;

async fn written(repository: &Repository) -> Vec<Arc<Definition>> {
    let interval = Interval::new(IntervalUnit::Minute, 15);
    let name = |place: usize| format!("load {place}");
    let draft = |place| DefinitionDraft {
        zone: Some(Zone::get("Europe/Berlin").unwrap()),
        ..DefinitionDraft::new(&name(place), Alignment::Begin, Some(interval))
    };
    let series = repository.define((0..SERIES).map(draft).collect(), NOW).await.unwrap();
    let mut points = year_of(&raster(IntervalUnit::Minute, 15, "Europe/Berlin"));
    points.times.truncate(2_976);
    points.values.truncate(2_976);
    points.flags.truncate(2_976);
    let write = |series: &Arc<Definition>| SeriesWrite {
        series: series.clone(),
        quotation: None,
        edit: Edit::Put(points.clone()),
    };
    for outcome in repository.write_all(series.iter().map(write).collect(), NOW).await.unwrap() {
        outcome.unwrap();
    }
    series
}

fn reading() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let store =
        Store::memory(MemoryOptions { clock: Clock::manual(NOW), feed: store::FeedOptions::recommended() });
    let options = SeriesOptions {
        strands: StrandOptions::recommended(),
        tenants_max: 1_000,
        repositories_max: 1_000,
        catalogue_buckets: 1,
        definitions_cached_max: 10_000,
    };
    let repository = runtime.block_on(Repositories::new(store, options).get_or_create("bench", NOW)).unwrap();
    let series = runtime.block_on(written(&repository));
    let points = SERIES * 2_976;
    report("read 1,000 series as they are stored, one by one", points, || {
        let mut out = Points::default();
        for one in &series {
            out.clear();
            let page = repository.read_stored(one, Source::default(), YEAR_2026, usize::MAX, &mut out);
            black_box(runtime.block_on(page)).unwrap();
        }
    });
    let hours = Some(Interval::new(IntervalUnit::Hour, 1));
    for (name, interval) in [("a request for nothing", None), ("hourly means", hours)] {
        let request = ReadRequest { interval, ..ReadRequest::default() };
        let reader = runtime.block_on(repository.reader(request)).unwrap();
        report(&format!("read 1,000 series, {name}, one by one"), points, || {
            let mut out = Points::default();
            for one in &series {
                out.clear();
                let mut progress = Progress::new(YEAR_2026);
                let page = reader.read_page(one, &mut progress, usize::MAX, &mut out);
                black_box(runtime.block_on(page)).unwrap();
            }
        });
        report(&format!("read 1,000 series, {name}, a hundred at a time"), points, || {
            for hundred in series.chunks(100) {
                black_box(runtime.block_on(reader.read_many(hundred, YEAR_2026)));
            }
        });
    }
}

fn main() {
    rasters();
    resampling();
    columns();
    reading();
}
