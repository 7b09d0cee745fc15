//! JSON against serde_json: any layout means the same; what is refused is named.

use serde_json::{Value, json};

use super::*;

/// White space at random wherever JSON allows it.
fn spaced(value: &Value, seed: &mut u64, out: &mut String) {
    let mut space = |out: &mut String| {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        out.push_str(["", "", "", " ", "\n", "\t ", "\r\n  "][(*seed >> 33) as usize % 7]);
    };
    space(out);
    match value {
        Value::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                spaced(item, seed, out);
            }
            if items.is_empty() {
                out.push(' ');
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (place, (name, item)) in members.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(if place % 2 == 0 { ' ' } else { '\n' });
                out.push(':');
                spaced(item, seed, out);
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
    let space = |out: &mut String| out.push_str(if *seed & 1 == 0 { " " } else { "" });
    space(out);
}

/// A series object with its members in one of many orders, and some that nobody reads.
fn object(sample: &Sample, order: usize) -> Value {
    let rows = sample.points.times.iter().zip(&sample.points.values).zip(&sample.points.flags);
    let rows = rows.enumerate().map(|(place, ((time, value), flag))| {
        let time = jiff::Timestamp::from_nanosecond(i128::from(*time)).unwrap().to_string();
        let value = if flag & ABSENT == 0 { json!(value) } else { Value::Null };
        let mut members = vec![("From", json!(time)), ("Value", value), ("Flag", json!(flags::name(*flag)))];
        members.rotate_left((place + order) % 3);
        Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    });
    let mut members = vec![
        ("Name", json!(sample.name)),
        ("Data", rows.collect()),
        ("Interval", json!({"Value": "Minute", "Multiplier": [15, {"x": "}]\\\""}]})),
        ("Unit", json!("k€ \"h\"")),
    ];
    members.rotate_left(order % 4);
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A series by name: times, bits of values, flags.
type Named = (String, Vec<(i64, u64, u8)>);

/// What serde_json reads in the same text.
fn oracle(body: &str) -> Vec<Named> {
    let tree: Value = serde_json::from_str(body).unwrap();
    let list = tree.as_array().or(tree.get("TimeSeries").and_then(Value::as_array)).unwrap();
    let row = |row: &Value| {
        let time: jiff::Timestamp = row["From"].as_str().unwrap().parse().unwrap();
        let value: Option<f64> = row["Value"].as_number().map(|number| number.as_str().parse().unwrap());
        let flag =
            flags::number(row["Flag"].as_str().unwrap()).unwrap() | if value.is_none() { ABSENT } else { 0 };
        (i64::try_from(time.as_nanosecond()).unwrap(), value.unwrap_or(NO_VALUE).to_bits(), flag)
    };
    list.iter()
        .map(|series| {
            (
                series["Name"].as_str().unwrap().to_owned(),
                series["Data"].as_array().unwrap().iter().map(row).collect(),
            )
        })
        .collect()
}

fn found(given: &[Given]) -> Vec<Named> {
    given
        .iter()
        .map(|given| {
            let Some(SeriesName::Name(name)) = &given.series else { panic!("no name") };
            let rows = given.points.times.iter().zip(&given.points.values).zip(&given.points.flags);
            (name.to_string(), rows.map(|((time, value), flag)| (*time, value.to_bits(), *flag)).collect())
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((300 * ProptestConfig::default().cases).div_ceil(256)))]
    #[test]
    fn any_layout_reads_as_serde_json_reads_it(
        samples in samples(None),
        order in 0_usize..12,
        wrapped in any::<bool>(),
        mut seed in any::<u64>(),
        style in 0_u8..3,
        chunks in prop::collection::vec(1_usize..50, 0..4),
    ) {
        let list: Value = samples.iter().map(|sample| object(sample, order)).collect();
        let tree = if wrapped { json!({"Other": [1, null, true], "TimeSeries": list, "More": "x"}) } else { list };
        let mut body = String::new();
        match style {
            0 => body = tree.to_string(),
            1 => body = serde_json::to_string_pretty(&tree).unwrap(),
            _ => spaced(&tree, &mut seed, &mut body),
        }
        let given = read(Form::Rows, Shape::Bulk, body.as_bytes(), &chunks).unwrap_or_else(|error| panic!("{error:?} in {body}"));
        prop_assert_eq!(found(&given), oracle(&body));
    }
}

/// The body is refused for the reason; cut into single bytes, it is refused alike.
fn check(shape: Shape, body: &str, series: Option<&str>, position: Option<usize>, reason: &str) {
    for chunks in [&[][..], &[1], &[7]] {
        let error = read(Form::Rows, shape, body.as_bytes(), chunks).expect_err(body);
        assert_eq!(
            (error.series.as_deref(), error.position, error.reason.as_str()),
            (series, position, reason),
            "{body}"
        );
    }
}

#[test]
fn refusals_name_the_point() {
    let row = r#"{"From":"2026-01-01T00:00:00Z","Value":1,"Flag":"Valid"}"#;
    let at = |rows: &str, position: usize, reason: &str| {
        check(
            Shape::Bulk,
            &format!(r#"{{"TimeSeries":[{{"Name":"a","Data":[{rows}]}}]}}"#),
            Some("a"),
            Some(position),
            reason,
        );
    };
    at(
        r#"{"From":"2026-01-01T00:00:00Z","Value":1e999}"#,
        0,
        "the value 1e999 is beyond the range of a double",
    );
    at(
        &format!("{row},{{\"From\":\"2026-01-01T00:15:00Z\",\"Value\":NaN}}"),
        1,
        "unexpected character in JSON at byte 131",
    );
    at(&format!("{row},{}", row.replace("Valid", "valid")), 1, "\"valid\" is not a flag");
    at(
        &format!("{row},{}", row.replace("Value", "value")),
        1,
        "a point has From, Value and Flag, not \"value\"",
    );
    at(&format!("{row},{row}"), 1, "the time 2026-01-01T00:00:00Z is given twice, at 0 and at 1");
    at(r#"{"Value":1}"#, 0, "the point has no From");
    at(r#"{"From":"2026-01-01T00:00:00Z"}"#, 0, "the point has no Value");
    at(
        r#"{"From":"2026-01-01T00:00:00Z","From":"2026-01-01T00:00:00Z","Value":1}"#,
        0,
        "From is given twice",
    );
    at(&row.replace(":1,", ":01,"), 0, "malformed JSON number at byte 74");
    at(
        r#"{"From":"2026-01-01T00:00:00","Value":1}"#,
        0,
        "\"2026-01-01T00:00:00\" is not a date-time such as 2026-01-01T00:00:00Z or 2026-01-01T00:00:00+01:00",
    );
    at(&format!("{row}{row}"), 1, "a comma or the end expected in JSON at byte 91");
    at(&format!("{row},]"), 1, "unexpected character in JSON at byte 92");
}

#[test]
fn refusals_name_the_series() {
    let row = r#"{"From":"2026-01-01T00:00:00Z","Value":1}"#;
    let at = |series: &str, name: &str, position: Option<usize>, reason: &str| {
        check(Shape::Bulk, &format!("[{series}]"), Some(name), position, reason);
    };
    at(&format!(r#"{{"Data":[{row}]}}"#), "TimeSeries[0]", None, "the series has neither Name nor ID");
    at(r#"{"Name":"a"}"#, "a", None, "the series has neither Data nor Values");
    at(r#"{"ID":17,"Data":[],"Values":[]}"#, "17", None, "the series has both Data and Values");
    at(r#"{"Name":"a","Values":[1]}"#, "a", None, "Values come without Start");
    at(
        r#"{"Name":"a","Start":"2026-01-01T00:00:00Z","Values":[1,2],"Flags":["Valid"]}"#,
        "a",
        Some(1),
        "1 Flags for 2 Values",
    );
    at(
        r#"{"Name":"a","Start":"x","Values":[1,2]}"#,
        "a",
        None,
        "\"x\" is not a date-time such as 2026-01-01T00:00:00Z or 2026-01-01T00:00:00+01:00",
    );
    at(r#"{"Name":"a","Values":[1,2e400]}"#, "a", Some(1), "the value 2e400 is beyond the range of a double");
    at(r#"{"Name":"a","Data":[],"Data":[]}"#, "a", None, "Data is given twice");
    at(r#"{"Name":"a","Name":"b","Data":[]}"#, "b", None, "Name is given twice");
    at(r#"{"ID":1,"ID":1,"Data":[]}"#, "1", None, "ID is given twice");
    at(
        r#"{"Name":"a","Start":"2026-01-01T00:00:00Z","Start":"2026-01-02T00:00:00Z","Values":[1]}"#,
        "a",
        None,
        "Start is given twice",
    );
    at(r#"{"Name":"a","Data":{}}"#, "a", None, "an array Data expected in JSON at byte 20");
    check(Shape::Bulk, r#"{"TimeSerie":[]}"#, None, None, "the body has no TimeSeries");
    check(Shape::Single, "[]", None, None, "an object expected in JSON at byte 0");
    check(Shape::Single, r#"{"Data":[]} x"#, None, None, "nothing more expected in JSON at byte 12");
    check(Shape::Single, r#"{"Data":["#, None, None, "the JSON text ends early, at byte 9");
    check(
        Shape::Single,
        r#"{"X":[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}"#,
        None,
        None,
        "JSON nested too deeply at byte 21 (depth_max)",
    );
    check(Shape::Single, "", None, None, "the JSON text ends early, at byte 0");
}

#[test]
fn defaults_stand_in_for_what_is_left_out() {
    let body = r#"{"Data":[{"From":"2026-01-01T00:00:00Z","Value":1},{"From":"2026-01-01T00:15:00Z","Value":null},{"Flag":null,"Value":2,"From":"2026-01-01T00:30:00.25+00:00"}]}"#;
    let given = read(Form::Rows, Shape::Single, body.as_bytes(), &[5]).unwrap().remove(0);
    assert_eq!(given.points.flags, [flags::VALID, flags::MISSING, flags::VALID]);
    assert_eq!(given.points.times[2] % 1_000_000_000, 250_000_000);
    let body = r#"{"Flags":["Faulty",null,null,"Missing"],"Values":[1,2,null,null],"Start":"2026-01-01T00:00:00+01:00"}"#;
    let given = read(Form::Compact, Shape::Single, body.as_bytes(), &[5]).unwrap().remove(0);
    assert_eq!(given.points.flags, [6, flags::VALID, NO_POINT, flags::MISSING]);
    assert_eq!(given.timing, Timing::Start(time::read_time("2025-12-31T23:00:00Z").unwrap()));
    let body = r#"[{"ID":"17","Data":[]},{"ID":18,"Data":[]},{"ID":19,"Name":"n","Data":[]}]"#;
    let names: Vec<_> = read(Form::Rows, Shape::Bulk, body.as_bytes(), &[])
        .unwrap()
        .into_iter()
        .map(|given| given.series.unwrap())
        .collect();
    assert_eq!(
        names,
        [SeriesName::Id("17".into()), SeriesName::Id("18".into()), SeriesName::Name("n".into())]
    );
}
