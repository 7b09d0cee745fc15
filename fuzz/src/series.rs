//! Points on the wire of the TSM API: a body is the same to its reader however it is cut, and what is written is read.

use api_tsm::testing;
use api_tsm::wire::{
    Form, Given, PointsReader, PointsWriter, ReadLimits, SeriesHead, Shape, Timing, WireError,
};
use jiff::tz::TimeZone;
use model_series::Points;

use crate::{Target, texts};

/// JSON, rows and compact.
pub(crate) const JSON: Target = Target {
    name: "points_json",
    run: |bytes| read_both_ways(Form::Rows, bytes),
    seeds: || {
        texts(&[
            "7[{\"Name\":\"a\",\"Data\":[{\"From\":\"2026-01-01T00:00:00Z\",\"Value\":1.5,\"Flag\":\"Valid\"},{\"From\":\"2026-01-01T01:00:00+01:00\",\"Value\":null,\"Flag\":\"Missing\"}]}]",
            "\u{1}[{\"ID\":7,\"Start\":\"2026-01-01T00:00:00Z\",\"Values\":[1,2.5,null,-1e-7],\"Flags\":\"Valid\"}]",
        ])
    },
};
/// CSV.
pub(crate) const CSV: Target = Target {
    name: "points_csv",
    run: |bytes| read_both_ways(Form::Csv, bytes),
    seeds: || {
        texts(&[
            "9series,time,value,flag\na,2026-01-01T00:00:00Z,1.5,Valid\n\"b,\"\"c\"\"\",2026-01-01T00:00:00.5+02:00,,Missing\r\n",
            "\u{2}time,value\n2026-01-01T00:00:00Z,12345678901234567890\n",
        ])
    },
};
/// Arrow.
pub(crate) const ARROW: Target = Target {
    name: "points_arrow",
    run: |bytes| read_both_ways(Form::Arrow, bytes),
    seeds: || {
        let bodies: [&[u8]; 2] = [&[7, 1], &[7, 1, 60, 200, 9, 33]];
        bodies.map(|pairs| [vec![40], written(Form::Arrow, &points(pairs))].concat()).to_vec()
    },
};
/// Points, written in each form and read again.
pub(crate) const RENDERED: Target = Target {
    name: "points_rendered",
    run: rendered,
    seeds: || vec![vec![7, 1, 60, 200, 9, 33], (0..=255).collect()],
};
/// The parameters of reads and of searches.
pub(crate) const PARAMETERS: Target = Target {
    name: "tsm_parameters",
    run: |bytes| _ = std::str::from_utf8(bytes).map(testing::parameters),
    seeds: || {
        texts(&[
            "from=2026-03-01&to=2026-04-01T00:00:00+02:00&interval=day&intervalMultiplier=2&dayStart=06:00&unit=MWh&timezone=Europe/Berlin",
            "aggregation=avg&gaps=Linear&asOf=2026-01-01T00:00:00.5Z&quotation=latestBefore(2026-01-01T00:00:00Z)&form=compact",
            "quotation=before(P1DT12H)&interval=2&format=csv",
            "name=a*&attribute=Grid=a/b&type=Begin&interval=hour&limit=7&after=x&computed=true&id=7",
        ])
    },
};
/// Repositories, series, units, attribute types and hooks.
pub(crate) const MASTER_DATA: Target = Target {
    name: "tsm_master_data",
    run: |bytes| _ = testing::master_data(bytes),
    seeds: || {
        texts(&[
            r#"{"Name": "Load", "Type": "Begin", "Interval": {"Unit": "Minute", "Multiplier": 15}, "DayStart": "06:00", "Unit": "kWh", "TimeZone": "Europe/Zurich", "Formula": "[a] + 2", "Retention": "P1Y"}"#,
            r#"{"Name": "r", "Description": "d", "TimeZone": "UTC"}"#,
            r#"{"Name": "kWh", "Base": "Wh", "Factor": 1000, "Offset": 0, "Aggregation": "Sum"}"#,
            r#"{"Name": "Grid", "Type": "Node", "Nodes": ["a/b"], "IsMultiple": true}"#,
            r#"{"Name": "h", "Url": "https://example.org/", "Filter": "name=a*", "Headers": {"a": "b"}}"#,
        ])
    },
};
/// Moments and times of day.
pub(crate) const MOMENT: Target = Target {
    name: "tsm_moment",
    run: |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let _ = testing::moment(text);
        assert!(testing::day_start(text).is_none_or(|seconds| seconds < 24 * 60 * 60));
    },
    seeds: || {
        texts(&["2026-01-01T00:00:00 01:00", "2026-01-01", "2261-12-31T23:59:59.999999999Z", "06:00:30"])
    },
};

const LIMITS: ReadLimits = ReadLimits {
    points_max: 2_000,
    series_max: 20,
    depth_max: 8,
    item_bytes_max: 400,
    batch_bytes_max: 20_000,
};

fn read(form: Form, body: &[u8], chunk: usize) -> Result<Vec<Given>, WireError> {
    let mut reader = PointsReader::new(form, Shape::Bulk, LIMITS)?;
    for chunk in body.chunks(chunk.max(1)) {
        reader.feed(chunk)?;
        assert!(reader.held_bytes() <= LIMITS.held_bytes_max(), "more memory than the limits say");
    }
    reader.finish()
}

/// The first byte says how the body is cut.
fn read_both_ways(form: Form, bytes: &[u8]) {
    let Some((cut, body)) = bytes.split_first() else { return };
    let text = |found: Result<Vec<Given>, WireError>| found.map(|given| format!("{given:?}"));
    let whole = read(form, body, body.len());
    for given in whole.iter().flatten() {
        assert!(given.points.values.iter().all(|value| value.is_finite()));
        assert!(given.timing != Timing::Each || given.points.times.is_sorted());
    }
    assert_eq!(text(whole), text(read(form, body, usize::from(*cut))), "however it is cut");
}

/// Ascending times and values of all magnitudes.
fn points(bytes: &[u8]) -> Points {
    let mut points = Points::default();
    let mut time = 1_700_000_000_000_000_000_i64;
    for pair in bytes.chunks_exact(2) {
        let [step, value] = pair else { continue };
        time += (i64::from(*step) + 1) * 1_000_000;
        let value = f64::from(i16::from(*value) - 100) * 10_f64.powi(i32::from(*step) - 128);
        points.push(time, value, 0);
    }
    points
}

fn written(form: Form, points: &Points) -> Vec<u8> {
    let head = SeriesHead { id: 7, name: "a,\"b\"", unit: "kW", interval: None, zone: "UTC" };
    let mut writer = PointsWriter::new(form, Shape::Bulk, &TimeZone::UTC);
    let mut out = Vec::new();
    writer.begin(&mut out).expect("a beginning");
    writer.series(&mut out, &[(head, points)]).expect("a series");
    writer.end(&mut out).expect("an end");
    out
}

fn rendered(bytes: &[u8]) {
    let bytes = bytes.get(..bytes.len().min(1_000)).unwrap_or_default();
    let points = points(bytes);
    for form in [Form::Rows, Form::Csv, Form::Arrow] {
        let body = written(form, &points);
        let given = read(form, &body, 100).unwrap_or_else(|error| panic!("{form:?}: {error}"));
        let times: Vec<i64> = given.iter().flat_map(|given| given.points.times.clone()).collect();
        let bits: Vec<u64> =
            given.iter().flat_map(|given| &given.points.values).map(|value| value.to_bits()).collect();
        assert_eq!(times, points.times, "{form:?}");
        assert_eq!(bits, points.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), "{form:?}");
    }
    let _ = written(Form::Parquet, &points);
}
