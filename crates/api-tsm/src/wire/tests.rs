//! All forms: what is written reads back bit for bit, however it is cut; noise is refused, never a panic.

mod arrow;
mod damage;
mod forms;
mod json;
mod noise;

use jiff::tz::TimeZone;
use model_series::{ABSENT, Points};
use proptest::prelude::*;

use super::*;

pub(super) const LIMITS: ReadLimits = ReadLimits {
    points_max: 100_000,
    series_max: 1_000,
    depth_max: 16,
    item_bytes_max: 64 << 10,
    batch_bytes_max: 8 << 20,
};

/// A series as a test makes it up.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) points: Points,
}

pub(super) fn head(id: usize, name: &str) -> SeriesHead<'_> {
    SeriesHead {
        id: u32::try_from(id).unwrap(),
        name,
        unit: "kWh",
        interval: Some(("Minute", 15)),
        zone: "Europe/Berlin",
    }
}

pub(super) fn points(rows: &[(&str, f64, u8)]) -> Points {
    let mut out = Points::default();
    for (time, value, flag) in rows {
        out.push(time::read_time(time).unwrap(), *value, *flag);
    }
    out
}

/// Writes a body, each series as a whole or in parts of `part` points.
pub(super) fn write(form: Form, shape: Shape, samples: &[Sample], part: Option<usize>) -> Vec<u8> {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let mut writer = PointsWriter::new(form, shape, &zone);
    let mut out = Vec::new();
    writer.begin(&mut out).unwrap();
    match part {
        None => {
            let series: Vec<_> = samples
                .iter()
                .enumerate()
                .map(|(id, sample)| (head(id, &sample.name), &sample.points))
                .collect();
            writer.series(&mut out, &series).unwrap();
        }
        Some(part) => {
            for (id, sample) in samples.iter().enumerate() {
                writer.begin_series(&mut out, head(id, &sample.name));
                for (at, times) in sample.points.times.chunks(part).enumerate() {
                    let run = at * part..at * part + times.len();
                    let mut piece = Points::default();
                    piece.times.extend_from_slice(times);
                    piece.values.extend_from_slice(&sample.points.values[run.clone()]);
                    piece.flags.extend_from_slice(&sample.points.flags[run]);
                    writer.points(&mut out, &piece).unwrap();
                }
                match writer.end_points(&mut out) {
                    Tail::Nothing => {}
                    Tail::Flags => while writer.flags(&mut out, part) {},
                    Tail::FlagsAgain => unreachable!("so many runs are written in no test of forms"),
                }
            }
        }
    }
    writer.end(&mut out).unwrap();
    out
}

/// Reads a body in chunks of the given sizes, over and over; all at once if there are none.
pub(super) fn read(form: Form, shape: Shape, body: &[u8], chunks: &[usize]) -> Result<Vec<Given>, WireError> {
    read_within(form, shape, body, chunks, LIMITS)
}

pub(super) fn read_within(
    form: Form,
    shape: Shape,
    body: &[u8],
    chunks: &[usize],
    limits: ReadLimits,
) -> Result<Vec<Given>, WireError> {
    // The series of a single body is called so, and has this ID.
    let mut reader = PointsReader::new(form, shape, limits)?.addressed(&["a", "7"]);
    let mut sizes = chunks.iter().cycle();
    let mut rest = body;
    while !rest.is_empty() {
        let size = sizes.next().map_or(rest.len(), |size| (*size).clamp(1, rest.len()));
        reader.feed(&rest[..size])?;
        rest = &rest[size..];
    }
    reader.finish()
}

/// Finite values of every kind; decimals most often.
pub(super) fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-10_000_000_i64..10_000_000, 0_i32..4).prop_map(|(n, places)| n as f64 / 10f64.powi(places)),
        1 => any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite()),
        1 => prop_oneof![Just(-0.0), Just(5e-324), Just(f64::MAX), Just(0.1 + 0.2)],
    ]
}

/// Points on a raster of `step`, or anywhere.
pub(super) fn any_points(step: Option<i64>) -> impl Strategy<Value = Points> {
    let point = (1_i64..400_000_000_000_000, value(), 0_u8..9, 0_u8..8);
    (any::<i64>(), prop::collection::vec(point, 0..40)).prop_map(move |(start, rows)| {
        let mut out = Points::default();
        let mut time = start / 1_000_000_000 % 4_000_000_000 * 1_000_000_000;
        for (gap, value, flag, kind) in rows {
            let (value, flag) = match kind {
                0 => (NO_VALUE, flag | ABSENT),
                1 => (value, flag),
                _ => (value, flags::VALID),
            };
            out.push(time, value, flag);
            time += step.unwrap_or(if gap % 3 == 0 { gap } else { 900_000_000_000 });
        }
        out
    })
}

pub(super) fn samples(step: Option<i64>) -> impl Strategy<Value = Vec<Sample>> {
    let sample = ("[a-z\",\\\\ \nä€;]{0,9}", any_points(step));
    prop::collection::vec(sample, 0..5).prop_map(|samples| {
        let named = samples.into_iter().enumerate();
        named.map(|(place, (name, points))| Sample { name: format!("{name}{place}"), points }).collect()
    })
}
