//! Whole courses against a toy that keeps points: what must come out of a right one, and that wrong ones are found
//! out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, TimestampSecondType, UInt8Type, UInt16Type};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, TimestampSecondArray};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use serde_json::{Value as Json, json};

use super::Hakom;
use super::rows::Row;
use crate::course::{Course, Results};
use crate::family::Family as _;
use crate::toy::{Reply, Toy};
use crate::workloads::Workload;

/// The rows that `rows` names.
pub(crate) fn selected(rows: &str) -> Workload<Row> {
    Hakom.workload().unwrap().narrowed(rows)
}

/// What a toy does wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Defect {
    None,
    LosesAPoint,
    RoundsValues,
    ForgetsFlags,
    ShiftsTimes,
    BendsATime,
    MixesUpSeries,
    ForgetsOverwrites,
    LeavesOutASeries,
    StopsShort,
    RefusesWrites,
    RefusesDefinitions,
}

type Points = BTreeMap<i64, (Option<f64>, String)>;

/// The points of a body, by series.
fn points(body: &[u8], single: Option<&str>) -> Vec<(String, Points)> {
    if body.starts_with(&[0xFF; 4]) {
        return arrow_points(body);
    }
    let body: Json = serde_json::from_slice(body).unwrap();
    let list =
        body.get("TimeSeries").map_or_else(|| vec![body.clone()], |list| list.as_array().unwrap().clone());
    let one = |series: &Json| {
        let name = single.map_or_else(|| series["Name"].as_str().unwrap().to_owned(), str::to_owned);
        let mut points = Points::new();
        let time = |text: &Json| text.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second();
        if let Some(rows) = series.get("Data") {
            for row in rows.as_array().unwrap() {
                let flag = row["Flag"].as_str().unwrap_or("Valid").to_owned();
                points.insert(time(&row["From"]), (row["Value"].as_f64(), flag));
            }
        } else {
            let step = 1_800 * i64::from(name.contains(".30.")) + 900 * i64::from(name.contains(".15."));
            for (place, value) in (0..).zip(series["Values"].as_array().unwrap()) {
                let flags = series.get("Flags");
                let flag = flags.map_or("Valid", |flags| flags[place].as_str().unwrap()).to_owned();
                points.insert(time(&series["Start"]) + step * place as i64, (value.as_f64(), flag));
            }
        }
        (name, points)
    };
    list.iter().map(one).collect()
}

fn arrow_points(body: &[u8]) -> Vec<(String, Points)> {
    let mut all: Vec<(String, Points)> = Vec::new();
    for batch in StreamReader::try_new(body, None).unwrap() {
        let batch = batch.unwrap();
        let series = batch.column(0).as_dictionary::<UInt16Type>();
        let names = series.values().as_string::<i32>();
        let times = batch.column(1).as_primitive::<TimestampSecondType>();
        let values = batch.column(2).as_primitive::<Float64Type>();
        let flags = batch.column(3).as_primitive::<UInt8Type>();
        for row in 0..batch.num_rows() {
            let name = names.value(series.key(row).unwrap());
            if all.last().is_none_or(|(last, _)| last != name) {
                all.push((name.to_owned(), Points::new()));
            }
            let flag = match flags.value(row) {
                3 => "Valid",
                5 => "Estimated",
                8 => "Missing",
                other => panic!("flag {other}"),
            };
            let value = values.iter().nth(row).unwrap();
            all.last_mut().unwrap().1.insert(times.value(row), (value, flag.to_owned()));
        }
    }
    all
}

fn rows_form(name: &str, points: &Points) -> Json {
    let rows = points.iter().map(|(time, (value, flag))| {
        let time = String::from_utf8(super::series::time_text(*time).to_vec()).unwrap();
        json!({"From": time, "Value": value, "Flag": flag})
    });
    json!({"ID": "7", "Name": name, "Unit": "kW", "Interval": {"Value": "Minute", "Multiplier": 15},
        "TimeZone": "UTC", "Data": rows.collect::<Vec<_>>()})
}

fn compact_form(name: &str, points: &Points) -> Json {
    let start = points.first_key_value().map_or(0, |(time, _)| *time);
    let start = String::from_utf8(super::series::time_text(start).to_vec()).unwrap();
    let values: Vec<_> = points.values().map(|(value, _)| *value).collect();
    let flags: Vec<_> = points.values().map(|(_, flag)| flag.clone()).collect();
    let mut answer = json!({"ID": "7", "Name": name, "Start": start, "Values": values});
    if flags.iter().any(|flag| flag != "Valid") {
        answer["Flags"] = json!(flags);
    }
    answer
}

fn arrow_form(series: &[(String, Points)]) -> Vec<u8> {
    let mut body = Vec::new();
    let batch = |name: &str, points: &Points| {
        let columns: [(&str, ArrayRef); 4] = [
            ("series", Arc::new(StringArray::from(vec![name; points.len()]))),
            ("time", Arc::new(TimestampSecondArray::from_iter_values(points.keys().copied()))),
            ("value", Arc::new(Float64Array::from_iter(points.values().map(|(value, _)| *value)))),
            ("flag", Arc::new(StringArray::from_iter_values(points.values().map(|(_, flag)| flag)))),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap()
    };
    let schema = batch("", &Points::new()).schema();
    let mut writer = StreamWriter::try_new(&mut body, &schema).unwrap();
    for (name, points) in series {
        writer.write(&batch(name, points)).unwrap();
    }
    writer.finish().unwrap();
    body
}

/// A repository that knows just the requests of the family.
fn repository(defect: Defect) -> Toy {
    let held: Mutex<BTreeMap<String, Points>> = Mutex::default();
    Toy::start_with(move |nth, head, body| {
        let mut held = held.lock().unwrap();
        let mut words = head.split(' ');
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let rest = path.strip_prefix("/tsm/v1/repositories/default/").unwrap_or("");
        let arrow = head.contains("Accept: application/vnd.apache.arrow.stream");
        match (method, rest.split('/').collect::<Vec<_>>().as_slice()) {
            ("POST", ["timeseriescollections", "definition"]) if defect == Defect::RefusesDefinitions => {
                Reply::new(400, "no")
            }
            ("POST", ["timeseriescollections", "definition"]) => {
                let list: Vec<Json> = serde_json::from_slice(body).unwrap();
                for definition in list {
                    held.insert(definition["Name"].as_str().unwrap().to_owned(), Points::new());
                }
                Reply::new(201, "[]")
            }
            ("PUT", _) if defect == Defect::RefusesWrites && nth.is_multiple_of(3) => {
                Reply::new(503, "not now")
            }
            ("PUT", ["timeseriescollections", "data"]) => write(&mut held, points(body, None), defect),
            ("PUT", ["timeseries", name, "data"]) => write(&mut held, points(body, Some(name)), defect),
            ("GET", ["timeseries", name, "data"]) => {
                let found = vec![((*name).to_owned(), held[*name].clone())];
                read(&found, arrow, query.contains("form=compact"), true)
            }
            ("POST", ["timeseriescollections", "data"]) => {
                let asked: Json = serde_json::from_slice(body).unwrap();
                let names = asked["Names"].as_array().unwrap().iter();
                let found = names.map(|name| name.as_str().unwrap().to_owned());
                let mut found: Vec<_> =
                    found.map(|name| (name.clone(), held.get(&name).cloned().unwrap_or_default())).collect();
                spoil(&mut found, defect);
                let reply = read(&found, arrow, asked["Form"] == "compact", false);
                if defect == Defect::StopsShort { reply.without_the_last(40) } else { reply }
            }
            _ => Reply::new(404, "no such path"),
        }
    })
}

fn write(held: &mut BTreeMap<String, Points>, fresh: Vec<(String, Points)>, defect: Defect) -> Reply {
    for (name, points) in fresh {
        let Some(series) = held.get_mut(&name) else { return Reply::new(404, "no such series") };
        if defect != Defect::ForgetsOverwrites || series.is_empty() {
            series.extend(points);
        }
    }
    Reply::new(204, "")
}

fn spoil(found: &mut Vec<(String, Points)>, defect: Defect) {
    match defect {
        Defect::LosesAPoint => drop(found[0].1.pop_last()),
        Defect::RoundsValues => {
            for (value, _) in found[0].1.values_mut() {
                *value = value.map(|value| (value * 100.0).round() / 100.0);
            }
        }
        Defect::ForgetsFlags => {
            for (_, flag) in found.iter_mut().flat_map(|(_, points)| points.values_mut()) {
                "Valid".clone_into(flag);
            }
        }
        Defect::ShiftsTimes => {
            found[0].1 = found[0].1.iter().map(|(time, point)| (time + 900, point.clone())).collect();
        }
        Defect::BendsATime => {
            let (time, point) = found[0].1.iter().nth(7).map(|(time, point)| (*time, point.clone())).unwrap();
            found[0].1.remove(&time);
            found[0].1.insert(time + 60, point);
        }
        Defect::MixesUpSeries => found.reverse(),
        Defect::LeavesOutASeries => drop(found.pop()),
        _ => {}
    }
}

fn read(found: &[(String, Points)], arrow: bool, compact: bool, single: bool) -> Reply {
    if arrow {
        return Reply::chunked(&arrow_form(found), 1_000);
    }
    let one = |(name, points): &(String, Points)| {
        if compact { compact_form(name, points) } else { rows_form(name, points) }
    };
    let all: Vec<Json> = found.iter().map(one).collect();
    let body = if single { all[0].to_string() } else { json!({"TimeSeries": all}).to_string() };
    Reply::chunked(body.as_bytes(), 777)
}

/// The rows of `selection` shrunk to what a toy bears, run against a repository with `defect`.
fn run_rows(selection: &str, defect: Defect) -> Results {
    let toy = repository(defect);
    let mut family = selected(selection);
    for row in &mut family.rows {
        row.series = if row.request_series == 1 { 12 } else { 40 };
        row.values = 192;
        row.request_series = row.request_series.min(20);
    }
    Course::of_toy(&toy).run(&Hakom, &family).unwrap()
}

#[test]
fn a_right_server_passes_every_row_in_every_form() {
    let results = run_rows("", Defect::None);
    let ids: Vec<&str> = results.rows.iter().map(|row| row.id.as_str()).collect();
    for id in [
        "H-W1",
        "H-W1-compact",
        "H-R1-arrow",
        "H-SR10",
        "H-BW-4-arrow",
        "H-C25",
        "H-CR25-scattered-arrow-raw",
    ] {
        assert!(ids.contains(&id), "{id} in {ids:?}");
    }
    assert_eq!(ids.len(), 14 * 3 + 14 * 4);
    for row in &results.rows {
        let trouble = (&row.error_kinds, &row.wrong_examples);
        assert_eq!((row.errors, row.answers_wrong), (0, 0), "{}: {trouble:?}", row.id);
        assert!(row.throughput > 0.0 && row.iterations > 0 && row.points.unwrap() > 0, "{}", row.id);
        assert!(
            row.id.starts_with("H-C") || row.answers_checked >= 12,
            "{}: {}",
            row.id,
            row.answers_checked
        );
    }
    let by_id = |id: &str| results.rows.iter().find(|row| row.id == id).unwrap();
    let bulk = by_id("H-BW-2");
    assert_eq!(bulk.published.as_ref().unwrap().seconds, Some(9.811));
    assert_eq!(bulk.published_besides.len(), 2);
    assert!(
        bulk.caveat.contains("published with 2 application servers, the server was used as it was found")
    );
    assert!(by_id("H-CR75").answers_checked >= 40 && by_id("H-C75").points == Some(40 * 144));
    assert_eq!(results.tables.len(), 5, "{:?}", results.tables);
    assert!(results.tables.iter().skip(1).all(|table| !table.verdict.is_empty() && table.lines.len() >= 3));
}

fn check_defect(selection: &str, defect: Defect, (errors, wrong): (bool, bool)) {
    let results = run_rows(selection, defect);
    let found = results.rows.iter().fold((false, false), |(errors, wrong), row| {
        (errors || row.errors > 0, wrong || row.answers_wrong > 0)
    });
    assert_eq!(found, (errors, wrong), "{selection}, {defect:?}");
    let report = crate::report::Report { rows: results.rows, ..Default::default() };
    assert!(!report.is_clean());
}

#[test]
fn wrong_answers_are_found_out_in_every_form() {
    for defect in [
        Defect::LosesAPoint,
        Defect::RoundsValues,
        Defect::ForgetsFlags,
        Defect::ShiftsTimes,
        Defect::MixesUpSeries,
        Defect::LeavesOutASeries,
        Defect::StopsShort,
    ] {
        for form in ["", "-compact", "-arrow"] {
            // Of rows in plain form only: the name begins those of the others, too.
            let selection = if form.is_empty() { "H-R1".to_owned() } else { format!("H-R1{form}") };
            check_defect(&selection, defect, (defect == Defect::StopsShort, true));
        }
        check_defect("H-W1-compact", defect, (false, true));
    }
}

#[test]
fn a_single_time_that_is_off_is_found_out_where_times_are_told() {
    for selection in ["H-R1-arrow", "H-W1-arrow", "H-BR-1", "H-C100"] {
        check_defect(selection, Defect::BendsATime, (false, true));
    }
}

#[test]
fn lost_overwrites_and_refused_requests_are_found_out() {
    check_defect("H-C50", Defect::ForgetsOverwrites, (false, true));
    check_defect("H-W1-arrow", Defect::RefusesWrites, (true, true));
    check_defect("H-W1", Defect::RefusesDefinitions, (true, true));
    check_defect("H-R1-arrow", Defect::RefusesDefinitions, (true, true));
}
