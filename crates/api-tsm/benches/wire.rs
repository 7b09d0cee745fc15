//! Points as bytes and back, one core, beside the limits measured for the same data: `cargo bench -p api-tsm --bench wire`
//! (with `-- Arrow`, only the forms of that name).
//!
//! The data: load profiles of three decimals, 2,976 quarter hours a series (a month), all values there and valid.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use api_tsm::wire::{Form, Given, PointsReader, PointsWriter, ReadLimits, SeriesHead, Shape};
use jiff::tz::TimeZone;
use model_series::Points;

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SERIES: usize = 100;
const POINTS: usize = 2_976;
/// Series rendered at a time, as a server does.
const PIECE: usize = 16;
/// Bytes of a body that come at a time.
const CHUNK: usize = 64 << 10;
const TURNS: usize = 9;
const LIMITS: ReadLimits = ReadLimits {
    points_max: 10_000_000,
    series_max: 100_000,
    depth_max: 16,
    item_bytes_max: 1 << 20,
    batch_bytes_max: 64 << 20,
};

/// What is measured, and the limit for it in million points a second, where there is one.
const TABLE: [(&str, Form, Option<f64>, Option<f64>); 5] = [
    ("JSON rows", Form::Rows, Some(40.0), Some(64.0)),
    ("JSON compact", Form::Compact, None, None),
    ("Arrow IPC", Form::Arrow, Some(500.0), Some(500.0)),
    ("CSV", Form::Csv, None, None),
    ("Parquet", Form::Parquet, None, None),
];

/// A day's curve with some noise, like the load of a household.
fn profile(series: usize) -> Points {
    let mut seed = series as u64 + 1;
    let mut points = Points::default();
    for slot in 0..POINTS {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let noise = (seed >> 40) % 2_000;
        let day = ((slot % 96) as f64 / 96.0 * std::f64::consts::TAU).sin();
        let value = (60_000.0 + 50_000.0 * day).round() + noise as f64;
        points.push(1_767_225_600_000_000_000 + slot as i64 * 900_000_000_000, value / 1000.0, 3);
    }
    points
}

/// The best of some turns, in million points a second.
fn measure(mut turn: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..TURNS {
        let start = Instant::now();
        turn();
        best = best.min(start.elapsed().as_secs_f64());
    }
    (SERIES * POINTS) as f64 / best / 1e6
}

fn write(form: Form, series: &[(SeriesHead<'_>, &Points)], out: &mut Vec<u8>, ship: &mut dyn FnMut(&[u8])) {
    let mut writer = PointsWriter::new(form, Shape::Bulk, &TimeZone::UTC);
    writer.begin(out).expect("begins");
    for piece in series.chunks(PIECE) {
        writer.series(out, piece).expect("is written");
        ship(out);
        out.clear();
    }
    writer.end(out).expect("ends");
    ship(out);
    out.clear();
}

fn read(form: Form, body: &[u8]) -> Vec<Given> {
    let mut reader = PointsReader::new(form, Shape::Bulk, LIMITS).expect("a form that is read");
    for chunk in body.chunks(CHUNK) {
        reader.feed(chunk).expect("is well-formed");
    }
    reader.finish().expect("is whole")
}

/// What serde_json, with derived types, does with the same rows.
mod serde_rows {
    #[derive(serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "PascalCase")]
    pub(super) struct Row {
        pub(super) from: String,
        pub(super) value: Option<f64>,
        pub(super) flag: String,
    }

    #[derive(serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "PascalCase")]
    pub(super) struct Series {
        pub(super) name: String,
        pub(super) data: Vec<Row>,
    }

    #[derive(serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "PascalCase")]
    pub(super) struct Body {
        pub(super) time_series: Vec<Series>,
    }
}

fn line(out: &mut impl Write, what: &str, rate: f64, limit: Option<f64>, bytes: f64) {
    let limit = limit.map_or(String::new(), |limit| format!("{limit:>8.0} {:>7.0} %", rate / limit * 100.0));
    let _ = writeln!(out, "{what:<24} {rate:>9.1} {bytes:>9.1}  {limit}");
}

fn main() {
    let names: Vec<String> = (0..SERIES).map(|place| format!("meter-{place:05}")).collect();
    let points: Vec<Points> = (0..SERIES).map(profile).collect();
    let series: Vec<(SeriesHead<'_>, &Points)> = names
        .iter()
        .zip(&points)
        .zip(0..)
        .map(|((name, points), id)| {
            (SeriesHead { id, name, unit: "kWh", interval: Some(("Minute", 15)), zone: "UTC" }, points)
        })
        .collect();
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{:<24} {:>9} {:>9}  {:>8}", "one core", "M pts/s", "B/pt", "limit");
    let mut buffer = Vec::new();
    for (what, form, write_limit, read_limit) in TABLE.into_iter().filter(|(what, ..)| what.contains(&only)) {
        let mut body = Vec::new();
        write(form, &series, &mut buffer, &mut |part| body.extend_from_slice(part));
        let bytes = body.len() as f64 / (SERIES * POINTS) as f64;
        let rate = measure(|| {
            write(form, &series, &mut buffer, &mut |part| {
                black_box(part);
            })
        });
        line(&mut out, &format!("{what}, write"), rate, write_limit, bytes);
        if form != Form::Parquet {
            let given = read(form, &body);
            assert_eq!(
                given.iter().map(|given| given.points.values.len()).sum::<usize>(),
                SERIES * POINTS,
                "all points read back"
            );
            let rate = measure(|| drop(black_box(read(form, &body))));
            line(&mut out, &format!("{what}, read"), rate, read_limit, bytes);
        }
    }
    if "serde_json".contains(&only) {
        compare_serde_json(&mut out, &series);
    }
}

/// What serde_json does with the same rows.
fn compare_serde_json(out: &mut impl Write, series: &[(SeriesHead<'_>, &Points)]) {
    let (mut body, mut buffer) = (Vec::new(), Vec::new());
    write(Form::Rows, series, &mut buffer, &mut |part| body.extend_from_slice(part));
    let bytes = body.len() as f64 / (SERIES * POINTS) as f64;
    let parsed: serde_rows::Body = serde_json::from_slice(&body).expect("is JSON");
    let rate =
        measure(|| drop(black_box(serde_json::from_slice::<serde_rows::Body>(&body).expect("is JSON"))));
    line(out, "serde_json, read", rate, Some(11.0), bytes);
    let rate = measure(|| drop(black_box(serde_json::to_vec(&parsed).expect("is written"))));
    line(out, "serde_json, write", rate, Some(15.0), bytes);
}
