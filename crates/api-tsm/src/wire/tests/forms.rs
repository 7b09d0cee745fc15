//! Every form: written and read back; single bodies; limits; what is refused and how.

use super::*;

/// What a reader must give for what was written.
fn expected(form: Form, samples: &[Sample]) -> Vec<Given> {
    let columns = matches!(form, Form::Arrow | Form::Csv);
    samples
        .iter()
        // Rows of columns name series only by having points.
        .filter(|sample| !columns || !sample.points.is_empty())
        .map(|sample| {
            let slots = form == Form::Compact && !sample.points.is_empty();
            let mut points = sample.points.clone();
            let timing = if slots { Timing::Start(points.times[0]) } else { Timing::Each };
            if slots {
                points.times.clear();
            }
            Given {
                series: Some(SeriesName::Name(sample.name.clone().into())),
                timing,
                points,
                order: Vec::new(),
            }
        })
        .collect()
}

/// Equal bit for bit: −0.0 is not 0.0.
fn assert_same(found: &[Given], expected: &[Given]) {
    assert_eq!(found, expected);
    let bits = |given: &[Given]| -> Vec<u64> {
        given.iter().flat_map(|given| given.points.values.iter().map(|value| value.to_bits())).collect()
    };
    assert_eq!(bits(found), bits(expected));
}

fn check_round_trip(form: Form, samples: &[Sample], part: Option<usize>, chunks: &[usize]) {
    let body = write(form, Shape::Bulk, samples, part);
    let found = read(form, Shape::Bulk, &body, chunks)
        .unwrap_or_else(|error| panic!("{error:?} in {}", body.escape_ascii()));
    assert_same(&found, &expected(form, samples));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((300 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn rows_read_back(samples in samples(None), part in prop::option::of(1_usize..9), chunks in prop::collection::vec(1_usize..90, 0..4)) {
        check_round_trip(Form::Rows, &samples, part, &chunks);
    }

    #[test]
    fn compact_reads_back(samples in samples(Some(900_000_000_000)), part in prop::option::of(1_usize..9), chunks in prop::collection::vec(1_usize..90, 0..4)) {
        check_round_trip(Form::Compact, &samples, part, &chunks);
    }

    #[test]
    fn csv_reads_back(samples in samples(None), part in prop::option::of(1_usize..9), chunks in prop::collection::vec(1_usize..90, 0..4)) {
        check_round_trip(Form::Csv, &samples, part, &chunks);
    }

    #[test]
    fn arrow_reads_back(samples in samples(None), part in prop::option::of(1_usize..9), chunks in prop::collection::vec(1_usize..900, 0..4)) {
        check_round_trip(Form::Arrow, &samples, part, &chunks);
    }
}

#[test]
fn single_bodies_leave_the_name_to_the_address() {
    let points = points(&[("2026-03-29T00:45:00Z", 1.5, 3), ("2026-03-29T01:00:00Z", 0.0, 8 | ABSENT)]);
    let sample = Sample { name: "a".to_owned(), points: points.clone() };
    for form in [Form::Rows, Form::Compact] {
        let body = write(form, Shape::Single, std::slice::from_ref(&sample), None);
        let found = read(form, Shape::Single, &body, &[]).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].series, None);
        assert_eq!(found[0].points.values, points.values);
        assert_eq!(found[0].points.flags, points.flags);
    }
    let csv = b"time,value\n2026-03-29T00:45:00Z,1.5\n2026-03-29T01:00:00Z,";
    let found = read(Form::Csv, Shape::Single, csv, &[3]).unwrap();
    assert_eq!(found, [Given { series: None, timing: Timing::Each, points, order: Vec::new() }]);
}

#[test]
fn single_csv_names_the_series_of_the_address_or_none() {
    for head in ["series,time,value,flag", "time,series,value,flag"] {
        let body = |names: [&str; 3]| {
            let mut text = format!("{head}\n");
            for (minute, name) in (10..).zip(names) {
                let time = format!("2026-03-29T00:{minute}:00Z");
                let (first, second) =
                    if head.starts_with("series") { (name, &*time) } else { (&*time, name) };
                text.push_str(&format!("{first},{second},1.5,Valid\n"));
            }
            text
        };
        let found = read(Form::Csv, Shape::Single, body(["a", "", "7"]).as_bytes(), &[5]).unwrap();
        assert_eq!(found.len(), 1, "{head}");
        assert_eq!((found[0].series.clone(), found[0].points.len()), (None, 3));
        for (names, position) in [(["b", "a", "a"], 0), (["a", "a", "b"], 2), (["7", "a ", ""], 1)] {
            let error = read(Form::Csv, Shape::Single, body(names).as_bytes(), &[]).unwrap_err();
            let reason = format!(
                "the point is of series {:?}, the address names another, in line {}",
                names[position],
                position + 2
            );
            let expected = WireError { series: None, position: Some(position), reason, is_limit: false };
            assert_eq!(error, expected, "{head}");
        }
    }
}

#[test]
fn bodies_are_written_as_documented() {
    let points = points(&[
        ("2026-03-29T00:45:00Z", 1.5, 3),
        ("2026-03-29T01:00:00Z", -0.0, 5),
        ("2026-03-29T01:15:00Z", 0.0, 8 | ABSENT),
    ]);
    let sample = Sample { name: "meter, \"7\"".to_owned(), points };
    let samples = [sample];
    let text = |form, shape| String::from_utf8(write(form, shape, &samples, None)).unwrap();
    let head = r#"{"ID":"0","Name":"meter, \"7\"","Unit":"kWh","Interval":{"Value":"Minute","Multiplier":15},"TimeZone":"Europe/Berlin","#;
    let rows = r#""Data":[{"From":"2026-03-29T01:45:00+01:00","Value":1.5,"Flag":"Valid"},{"From":"2026-03-29T03:00:00+02:00","Value":-0.0,"Flag":"Estimated"},{"From":"2026-03-29T03:15:00+02:00","Value":null,"Flag":"Missing"}]}"#;
    let slots = r#""Start":"2026-03-29T01:45:00+01:00","Values":[1.5,-0.0,null],"Flags":["Valid","Estimated","Missing"]}"#;
    assert_eq!(text(Form::Rows, Shape::Single), format!("{head}{rows}"));
    assert_eq!(text(Form::Rows, Shape::Bulk), format!("{{\"TimeSeries\":[{head}{rows}]}}"));
    assert_eq!(text(Form::Compact, Shape::Single), format!("{head}{slots}"));
    assert_eq!(
        text(Form::Csv, Shape::Bulk),
        "series,time,value,flag\r\n\
         \"meter, \"\"7\"\"\",2026-03-29T01:45:00+01:00,1.5,Valid\r\n\
         \"meter, \"\"7\"\"\",2026-03-29T03:00:00+02:00,-0.0,Estimated\r\n\
         \"meter, \"\"7\"\"\",2026-03-29T03:15:00+02:00,,Missing\r\n"
    );
}

#[test]
fn pieces_rendered_apart_make_the_same_body() {
    let point = points(&[("2026-01-01T00:00:00Z", 1.0, 3)]);
    let samples: Vec<Sample> =
        (0..4).map(|place| Sample { name: format!("s{place}"), points: point.clone() }).collect();
    for form in [Form::Rows, Form::Compact, Form::Csv] {
        let whole = write(form, Shape::Bulk, &samples, None);
        let mut writer = PointsWriter::new(form, Shape::Bulk, &TimeZone::get("Europe/Berlin").unwrap());
        let mut out = Vec::new();
        writer.begin(&mut out).unwrap();
        for (at, pair) in samples.chunks(2).enumerate() {
            let mut piece = Vec::new();
            let series: Vec<_> = pair
                .iter()
                .enumerate()
                .map(|(id, sample)| (head(at * 2 + id, &sample.name), &sample.points))
                .collect();
            writer.piece().unwrap().render(&mut piece, &series);
            writer.join(&mut out);
            out.append(&mut piece);
        }
        writer.end(&mut out).unwrap();
        assert_eq!(out, whole, "{form:?}");
    }
    assert!(PointsWriter::new(Form::Parquet, Shape::Bulk, &TimeZone::UTC).piece().is_none());
}

#[test]
fn slots_without_points_are_null_twice() {
    let quarter = 900_000_000_000;
    let two = Points {
        times: vec![0, 3 * quarter],
        values: vec![1.0, 2.0],
        flags: vec![3, 3],
        ..Points::default()
    };
    let slots = on_raster(&two, (0..4).map(|slot| slot * quarter)).unwrap();
    assert_eq!(slots.flags, [3, NO_POINT, NO_POINT, 3]);
    assert_eq!(on_raster(&two, (0..2).map(|slot| slot * quarter)), None, "a point in no slot");
    let body = write(
        Form::Compact,
        Shape::Single,
        &[Sample { name: "a".to_owned(), points: slots.clone() }],
        Some(3),
    );
    let text = String::from_utf8(body.clone()).unwrap();
    assert!(text.contains(r#""Values":[1,null,null,2],"Flags":["Valid",null,null,"Valid"]"#), "{text}");
    let found = read(Form::Compact, Shape::Single, &body, &[7]).unwrap().remove(0);
    assert_eq!(
        (found.timing, found.points.flags, found.points.values),
        (Timing::Start(0), slots.flags, slots.values)
    );
}

#[test]
fn points_come_in_any_order_but_once() {
    let csv = "series,time,value\nb,2026-01-01T00:00:02Z,2\na,2026-01-01T00:00:05Z,5\nb,2026-01-01T00:00:01Z,1\nb,2026-01-01T00:00:03Z,3\n";
    let found = read(Form::Csv, Shape::Bulk, csv.as_bytes(), &[]).unwrap();
    assert_eq!(found[0].points.values, [1.0, 2.0, 3.0]);
    assert_eq!(found[0].order, [1, 0, 2]);
    assert_eq!((found[0].sent_position(0), found[0].sent_position(2), found[1].sent_position(0)), (1, 2, 0));
    assert!(found[1].order.is_empty());
    let twice = csv.replace("00:03Z,3", "00:02Z,3");
    let error = read(Form::Csv, Shape::Bulk, twice.as_bytes(), &[]).unwrap_err();
    assert_eq!((error.series.as_deref(), error.position), (Some("b"), Some(2)));
    assert_eq!(error.reason, "the time 2026-01-01T00:00:02Z is given twice, at 0 and at 2");
}

#[test]
fn limits_hold_in_every_form() {
    let three = points(&[
        ("2026-01-01T00:00:00Z", 1.0, 3),
        ("2026-01-01T00:15:00Z", 2.0, 3),
        ("2026-01-01T00:30:00Z", 3.0, 3),
    ]);
    let samples: Vec<Sample> =
        ["a", "b"].map(|name| Sample { name: name.to_owned(), points: three.clone() }).into();
    for form in [Form::Rows, Form::Compact, Form::Csv, Form::Arrow] {
        let body = write(form, Shape::Bulk, &samples, None);
        let check = |limits: ReadLimits, reason: &str| {
            let error = read_within(form, Shape::Bulk, &body, &[], limits).unwrap_err();
            assert!(error.reason.contains(reason), "{form:?}: {error}");
        };
        assert!(
            read_within(form, Shape::Bulk, &body, &[], ReadLimits { points_max: 6, series_max: 2, ..LIMITS })
                .is_ok()
        );
        check(ReadLimits { points_max: 5, ..LIMITS }, "more than 5 points");
        check(ReadLimits { series_max: 1, ..LIMITS }, "more than 1 series");
    }
    let long = format!("{{\"Data\":[],\"Description\":\"{}", "x".repeat(100_000));
    assert!(
        read(Form::Rows, Shape::Single, long.as_bytes(), &[1000])
            .unwrap_err()
            .reason
            .contains("more than 65536 bytes")
    );
    let long = format!("series,time,value\n\"{}", "x".repeat(100_000));
    assert!(
        read(Form::Csv, Shape::Bulk, long.as_bytes(), &[1000])
            .unwrap_err()
            .reason
            .contains("more than 65536 bytes")
    );
    assert!(PointsReader::new(Form::Parquet, Shape::Bulk, LIMITS).is_err());
}

#[test]
fn csv_errors_name_the_line() {
    for (body, series, position, reason) in [
        (
            "series,time,value\na,2026-01-01T00:00:00Z,NaN\n",
            Some("a"),
            Some(0),
            "the value NaN is not finite, in line 2",
        ),
        (
            "series,time,value\na,2026-01-01T00:00:00Z,1\na,2026-01-01T00:00:01Z,1e999\n",
            Some("a"),
            Some(1),
            "the value 1e999 is beyond the range of a double, in line 3",
        ),
        (
            "series,time,value,flag\n\"a\nb\",2026-01-01T00:00:00Z,1,Valid\n\"a\nb\",2026-01-01,1,Valid\n",
            Some("a\nb"),
            Some(1),
            "\"2026-01-01\" is not a date-time such as 2026-01-01T00:00:00Z or 2026-01-01T00:00:00+01:00, in line 4",
        ),
        (
            "series,time,value,flag\na,2026-01-01T00:00:00Z,1,valid\n",
            Some("a"),
            Some(0),
            "\"valid\" is not a flag, in line 2",
        ),
        (
            "series,time,value\na,2026-01-01T00:00:00Z\n",
            None,
            None,
            "2 fields, where the header has 3, in line 2",
        ),
        (
            "series,time,amount\n",
            None,
            None,
            "the columns are series, time, value and flag, not \"amount\", in line 1",
        ),
        ("series,time\n", None, None, "there is no column value, in line 1"),
        ("time,value\n", None, None, "there is no column series, in line 1"),
        ("series,time,value,time\n", None, None, "the column time is there twice, in line 1"),
        ("", None, None, "no header, in line 1"),
        ("series,time,value\n\"a,1\n", None, None, "a quoted field without end, in line 2"),
    ] {
        let error = read(Form::Csv, Shape::Bulk, body.as_bytes(), &[]).unwrap_err();
        assert_eq!(
            (error.series.as_deref(), error.position, error.reason.as_str()),
            (series, position, reason),
            "{body}"
        );
    }
}

#[test]
fn csv_lines_of_many_series_may_alternate() {
    let mut body = String::from("series,time,value,flag\n");
    for minute in 0..30 {
        for name in ["a", "\"b\"", "c"] {
            body.push_str(&format!("{name},2026-01-01T00:{minute:02}:00Z,{minute}.5,Valid\n"));
        }
    }
    for chunks in [&[][..], &[1], &[100]] {
        let found = read(Form::Csv, Shape::Bulk, body.as_bytes(), chunks).unwrap();
        let names: Vec<_> = found.iter().map(|given| given.series.clone().unwrap()).collect();
        assert_eq!(names, ["a", "b", "c"].map(|name| SeriesName::Name(name.into())));
        for given in found {
            assert_eq!(
                given.points.values,
                (0..30).map(|minute| f64::from(minute) + 0.5).collect::<Vec<_>>()
            );
            assert!(given.order.is_empty());
        }
    }
}
