//! The history: what entity routes and temporal routes write is read back, in every representation, folded or not.

use std::collections::BTreeMap;

use proptest::prelude::*;

use api_http::testing::{Got, Sent};

use crate::broker::Broker;

const ID: &str = "urn:x:1";

async fn send(broker: &Broker, line: &str, body: &str) -> Got {
    let line = line.replace("ID", ID);
    let sent = match body {
        "" => Sent::line(&line),
        body => Sent::line(&line).body("application/json", body),
    };
    broker.answer(&sent).await.1
}

async fn write(broker: &Broker, line: &str, body: &str) {
    let got = send(broker, line, body).await;
    assert!((200..300).contains(&got.status), "{line} {body}: {} {}", got.status, got.body);
}

async fn read(broker: &Broker, query: &str) -> String {
    let got = send(broker, &format!("GET /ngsi-ld/v1/temporal/entities/ID?{query}"), "").await;
    assert_eq!(got.status, 200, "{query}: {}", got.body);
    got.body
}

/// Every representation, by every time.
const READS: &[&str] = &[
    "",
    "options=sysAttrs",
    "options=concise,sysAttrs&timeproperty=modifiedAt",
    "options=temporalValues&timeproperty=modifiedAt",
    "options=temporalValues&timeproperty=createdAt&lastN=2",
    "options=sysAttrs&timeproperty=deletedAt",
    "options=aggregatedValues&aggrMethods=totalCount,distinctCount,sum,avg,min,max,stddev,sumsq",
    "options=aggregatedValues&aggrMethods=max&aggrPeriodDuration=PT2S&timeproperty=modifiedAt",
];

#[tokio::test]
async fn folding_changes_no_answer() {
    let broker = Broker::new();
    let entity = r#"{"id":"urn:x:1","type":"T","scope":"/s","n":{"value":1,"unitCode":"CEL","observedAt":"2025-01-01T00:00:00Z","m":{"value":"x","p":{"value":1}}},
        "t":[{"value":"one","datasetId":"urn:d:1"},{"value":{"a":[1.0,null]}}],"r":{"object":"urn:x:2","objectType":"T","observedAt":"2025-01-01T00:00:00Z"},
        "l":{"languageMap":{"en":"a","de":"b"}},"v":{"vocab":["x","urn:y"]},"g":{"type":"Point","coordinates":[1,2]},"o":{"objectList":["urn:x:3"]}}"#;
    write(&broker, "POST /ngsi-ld/v1/entities", entity).await;
    write(
        &broker,
        "PATCH /ngsi-ld/v1/entities/ID/attrs/n",
        r#"{"value":2.5,"observedAt":"2025-01-01T00:00:02Z"}"#,
    )
    .await;
    write(&broker, "DELETE /ngsi-ld/v1/entities/ID/attrs/r", "").await;
    write(
        &broker,
        "PATCH /ngsi-ld/v1/entities/ID",
        r#"{"l":{"languageMap":{"en":"c"}},"n":{"value":3,"observedAt":"2025-01-01T00:00:01Z"}}"#,
    )
    .await;
    write(&broker, "POST /ngsi-ld/v1/entities/ID/attrs", r#"{"r":{"object":"urn:x:4"},"new":true}"#).await;
    let mut before = Vec::new();
    for query in READS {
        before.push(read(&broker, query).await);
    }
    broker.fold(ID).await;
    for (query, before) in READS.iter().zip(&before) {
        assert_eq!(read(&broker, query).await, *before, "{query}");
    }
    write(
        &broker,
        "PATCH /ngsi-ld/v1/entities/ID/attrs/n",
        r#"{"value":4,"observedAt":"2025-01-01T00:00:04Z"}"#,
    )
    .await;
    let values = read(&broker, "attrs=n&options=temporalValues").await;
    let expected = r#"[[1,"2025-01-01T00:00:00Z"],[3,"2025-01-01T00:00:01Z"],[2.5,"2025-01-01T00:00:02Z"],[4,"2025-01-01T00:00:04Z"]]"#;
    assert!(values.contains(expected), "{values}");
}

#[tokio::test]
async fn parts_put_together_are_the_whole() {
    let broker = Broker::new();
    let values: Vec<String> =
        (0..90).map(|n| format!("[{n},\"2025-01-01T00:{:02}:{:02}Z\"]", n / 60, n % 60)).collect();
    let body = format!(
        r#"{{"id":"urn:x:1","type":"T","a":{{"type":"Property","values":[{}]}},"b":{{"type":"Property","values":[{}]}}}}"#,
        values.join(","),
        values[5..40].join(",")
    );
    write(&broker, "POST /ngsi-ld/v1/temporal/entities", &body).await;
    let parts = parts(&broker, "GET /ngsi-ld/v1/temporal/entities/ID?").await;
    assert!(parts.len() > 4, "{} parts", parts.len());
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Part { from, body } in &parts {
        for name in ["a", "b"] {
            let held = found.entry(name).or_default();
            held.extend(series(body, name).filter(|pair| !pair.contains(from.as_str())).map(str::to_owned));
        }
    }
    assert_eq!(found["a"], values);
    assert_eq!(found["b"], values[5..40]);
}

/// More instances of one time than an answer holds do not keep anybody from going on.
#[tokio::test]
async fn a_time_is_never_split_and_every_part_goes_on() {
    let broker = Broker::new();
    let times = ["2025-01-01T00:00:00Z", "2025-01-01T01:00:00Z", "2025-01-01T02:00:00Z"];
    for entity in 0..25 {
        let values: Vec<String> = times.iter().map(|time| format!("[{entity},\"{time}\"]")).collect();
        let body = format!(
            r#"{{"id":"urn:x:{entity}","type":"T","a":{{"type":"Property","values":[{}]}}}}"#,
            values.join(",")
        );
        write(&broker, "POST /ngsi-ld/v1/temporal/entities", &body).await;
    }
    let parts = parts(&broker, "GET /ngsi-ld/v1/temporal/entities?type=T&limit=100&").await;
    let shown: Vec<Vec<&str>> = parts
        .iter()
        .map(|part| times.into_iter().filter(|time| part.body.contains(time)).collect())
        .collect();
    assert_eq!(shown, [&times[..1], &times[..2], &times[1..]]);
    for (part, times) in parts.iter().zip(shown) {
        assert_eq!(lang_json::elements(&part.body).count(), 25);
        for time in times {
            assert_eq!(part.body.matches(time).count(), 25, "{time}");
        }
    }
}

/// What one request of several answered.
struct Part {
    /// From which time on it was asked.
    from: String,
    body: String,
}

/// All there is, part by part, as the page on the history teaches it.
async fn parts(broker: &Broker, request: &str) -> Vec<Part> {
    let (mut parts, mut from) = (Vec::new(), "2024-01-01T00:00:00Z".to_owned());
    loop {
        let query = format!("{request}timerel=after&timeAt={from}&options=temporalValues");
        let got = send(broker, &query, "").await;
        let range = got.headers.iter().find(|(name, _)| name == "content-range").cloned();
        assert_eq!(range.is_some(), got.status == 206, "{}", got.status);
        // date-time <start>-<end>/*: both have 20 characters.
        let start = format!("date-time {from}-");
        parts.push(Part { from, body: got.body });
        let Some((_, range)) = range else { return parts };
        assert!(range.starts_with(&start) && range.ends_with("/*"), "{range}");
        from = range[31..51].to_owned();
    }
}

/// The pairs of a series.
fn series<'b>(body: &'b str, name: &str) -> impl Iterator<Item = &'b str> {
    let series = lang_json::member(body, name).and_then(|series| lang_json::member(series, "values"));
    series.into_iter().flat_map(lang_json::elements)
}

/// One reading: attribute, dataset, seconds of its observedAt, its value.
type Reading = (usize, usize, u32, String);

fn readings() -> impl Strategy<Value = Vec<(Reading, u8)>> {
    let value = prop_oneof![
        any::<i32>().prop_map(|number| number.to_string()),
        (-1.0e6..1.0e6_f64).prop_map(|number| format!("{number:?}")),
        "-?[1-9][0-9]{0,20}\\.[0-9]{1,5}",
        "[a-zé \\u{1f600}]{0,8}".prop_map(|text| format!("{text:?}")),
        Just("true".to_owned()),
        Just("[1,2.50,\"x\"]".to_owned()),
        // No null: a merge would take it for a removal.
        Just("{\"a\":{\"b\":false}}".to_owned()),
    ];
    prop::collection::vec(((0..2_usize, 0..3_usize, 0..86_400_u32, value), 0..5_u8), 1..12)
}

fn observed(seconds: u32) -> String {
    format!("2025-01-01T{:02}:{:02}:{:02}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Writes readings through different routes, one after the other, and folds now and then; then reads them.
async fn run(readings: Vec<(Reading, u8)>) {
    let broker = Broker::new();
    write(&broker, "POST /ngsi-ld/v1/entities", r#"{"id":"urn:x:1","type":"T"}"#).await;
    let mut expected: BTreeMap<(usize, usize), Vec<(u32, String)>> = BTreeMap::new();
    for ((attribute, dataset, seconds, value), how) in readings {
        let of_dataset = match dataset {
            0 => String::new(),
            dataset => format!(",\"datasetId\":\"urn:d:{dataset}\""),
        };
        let time = observed(seconds);
        let body = format!(
            "{{\"a{attribute}\":[{{\"type\":\"Property\",\"value\":{value},\"observedAt\":\"{time}\"{of_dataset}}}]}}"
        );
        match how {
            0 | 1 => write(&broker, "POST /ngsi-ld/v1/entities/ID/attrs", &body).await,
            2 => write(&broker, "PATCH /ngsi-ld/v1/entities/ID", &body).await,
            3 => write(&broker, "POST /ngsi-ld/v1/temporal/entities/ID/attrs", &body).await,
            _ => {
                let series = format!(
                    "{{\"a{attribute}\":{{\"type\":\"Property\",\"values\":[[{value},\"{time}\"]]{of_dataset}}}}}"
                );
                write(&broker, "POST /ngsi-ld/v1/temporal/entities/ID/attrs", &series).await;
                broker.fold(ID).await;
            }
        }
        let held = expected.entry((attribute, dataset)).or_default();
        held.push((seconds, value));
    }
    for ((attribute, dataset), mut held) in expected {
        held.sort_by_key(|(seconds, _)| *seconds);
        let of_dataset = if dataset == 0 { "@none".to_owned() } else { format!("urn:d:{dataset}") };
        let query = format!("attrs=a{attribute}&datasetId={of_dataset}&options=temporalValues");
        let answer = read(&broker, &query).await;
        let series = lang_json::member(&answer, &format!("a{attribute}")).unwrap();
        let found: Vec<&str> = lang_json::elements(lang_json::member(series, "values").unwrap()).collect();
        let held: Vec<String> = held
            .iter()
            .map(|(seconds, value)| {
                format!("[{},\"{}\"]", lang_json::canonical(value, 9).unwrap(), observed(*seconds))
            })
            .collect();
        assert_eq!(found, held, "{query}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((48 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn what_is_written_is_read(readings in readings()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(run(readings));
    }
}
