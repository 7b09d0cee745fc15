//! The forms of a report with fixed figures: names and shape are a format that other tools read.

use serde_json::Value as Json;

use super::*;
use crate::record::Record;

fn environment() -> Environment {
    Environment {
        date: "2026-01-02T03:04:05Z".to_owned(),
        cpu: "A & B".to_owned(),
        cores: 2,
        ram_mb: 24_000,
        disk: "ext4 on /dev/vda".to_owned(),
        kernel: "linux 6.1".to_owned(),
        commit: "0123456789ab".to_owned(),
        version: "0.1.0".to_owned(),
        target: "own server: serve".to_owned(),
        server_version: "0.1.0".to_owned(),
        durability: "sync".to_owned(),
        profile: "full".to_owned(),
        setup: "sequential".to_owned(),
        runs: 1,
        seed: 42,
        generator_threads: 1,
        command: "campaign run toy".to_owned(),
        settings: Vec::new(),
        debug_build: false,
    }
}

fn report() -> Report {
    let mut record = Record::new();
    for step in 1..=1_000_u64 {
        record.success(
            std::time::Duration::from_micros(step * 10),
            std::time::Duration::from_millis(step * 3),
            0,
        );
    }
    let errors = Errors { count: 2, examples: vec!["POST /ngsi-ld/v1/entities: <b>full</b>".to_owned()] };
    let row = RowReport {
        id: "S-C3".to_owned(),
        scenario: Some("create".to_owned()),
        users: 50,
        iterations: 1_002,
        runs: 1,
        throughput: 24_100.0,
        unit: "requests/s".to_owned(),
        throughput_min: 24_100.0,
        throughput_max: 24_100.0,
        items_per_s: 24_100.0,
        items: "entities created".to_owned(),
        mean_ms: 5.0,
        p50_ms: record.percentile_ms(50.0),
        p95_ms: record.percentile_ms(95.0),
        p99_ms: record.percentile_ms(99.0),
        max_ms: record.max_ms(),
        errors: 2,
        error_kinds: [("507".to_owned(), errors)].into(),
        answers_checked: 200,
        floor_throughput: Some(48_200.0),
        floor_ratio: Some(0.5),
        cpu_us_per_op: Some(38.25),
        generator_cpu_us_per_op: Some(4.0),
        rss_mb: Some(120.0),
        published: Some(Published {
            throughput: 241.0,
            p95_ms: Some(297.0),
            seconds: None,
            hardware: "8 vCPU, 16 GB".to_owned(),
        }),
        throughput_to_published: Some(100.0),
        caveat: "1 run, published as mean of 3".to_owned(),
        usage: [(0.5, 20.0), (1.0, 120.0)]
            .map(|(at_s, cpu_percent)| UsagePoint { at_s, cpu_percent, rss_mb: 100.0 + at_s })
            .to_vec(),
        seconds: record.seconds.clone(),
        curve: [50.0, 99.0, 100.0].map(|percent| (percent, record.percentile_ms(percent))).to_vec(),
        latency_ns_hdr_base64: record.latencies_base64(),
        ..RowReport::default()
    };
    let ours = RowReport { published: None, floor_ratio: None, id: "S-G1".to_owned(), ..row.clone() };
    let table = Table {
        title: "A & B".to_owned(),
        columns: ["share", "seconds"].map(str::to_owned).to_vec(),
        lines: vec![["25 %", "1.5"].map(str::to_owned).to_vec()],
        verdict: "A is never slower.".to_owned(),
    };
    Report {
        title: "Toy".to_owned(),
        environment: environment(),
        rows: vec![row, ours],
        tables: vec![table],
        faults: Vec::new(),
    }
}

fn operation() -> Operation {
    Operation {
        name: "CREATE NODE".to_owned(),
        count: 1_000,
        min_ms: 1.0,
        mean_ms: 2.0,
        max_ms: 4.0,
        median_ms: None,
        published_mean_ms: Some(85.5),
    }
}

/// The shape of a value: names and kinds, not figures.
fn shape(value: &Json, indent: usize, out: &mut String) {
    let pad = "  ".repeat(indent);
    match value {
        Json::Object(members) => {
            for (name, member) in members {
                let kind = match member {
                    Json::Object(_) => "object",
                    Json::Array(_) => "array",
                    Json::String(_) => "text",
                    Json::Number(_) => "number",
                    Json::Bool(_) => "truth",
                    Json::Null => "null",
                };
                out.push_str(&format!("{pad}{name}: {kind}\n"));
                shape(member, indent + 1, out);
            }
        }
        Json::Array(elements) => {
            if let Some(first) = elements.first() {
                shape(first, indent + 1, out);
            }
        }
        _ => {}
    }
}

#[expect(clippy::disallowed_methods, reason = "a test's own switch, not a setting")]
fn golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(actual, expected, "{name}; run with UPDATE_GOLDEN=1 if this is meant");
}

#[test]
fn json_has_the_agreed_shape() {
    let mut report = report();
    report.rows[0].operations = vec![operation()];
    let json: Json = serde_json::from_str(&report.json().unwrap()).unwrap();
    let mut text = String::new();
    shape(&json, 0, &mut text);
    golden("results.shape.txt", &text);
    let row = &json["rows"][0];
    for name in
        ["id", "throughput", "unit", "items_per_s", "p50_ms", "p95_ms", "p99_ms", "errors", "floor_ratio"]
    {
        assert!(!row[name].is_null(), "{name}");
    }
    assert_eq!(row["published"]["throughput"].as_f64(), Some(241.0));
    assert_eq!(row["published"]["hardware"], "8 vCPU, 16 GB");
    assert!(row["caveat"].is_string() && row["cpu_us_per_op"].is_number());
    assert!(json["rows"][1]["published"].is_null());
    assert_eq!(json["environment"]["durability"], "sync");
}

#[test]
fn markdown_and_csv_are_as_before() {
    golden("results.md", &table::markdown(&report()));
    golden("results.csv", &table::csv(&report()));
}

#[test]
fn the_page_stands_alone() {
    let html = page::html(&report());
    for outside in ["http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link", "<img", "//"] {
        assert!(!html.contains(outside), "{outside} in the page");
    }
    assert_eq!(html.matches("<svg").count(), html.matches("</svg>").count());
    assert!(html.matches("<svg").count() >= 4, "one of rates, one of latencies, one a row over time");
    assert!(html.contains("S-C3") && html.contains("8 vCPU, 16 GB") && html.contains("A &amp; B"));
    assert!(html.contains("&lt;b&gt;full") && !html.contains("<b>full"), "what servers answer is escaped");
    assert!(!html.contains("NaN") && !html.contains("inf"));
}

#[test]
fn what_the_server_used_is_drawn_and_flows_are_told_as_flows() {
    let mut report = report();
    let html = page::html(&report);
    assert_eq!(
        html.matches("users: CPU up to 120 % of a core, memory up to 101 MB").count(),
        2,
        "one a row, with its users"
    );
    report.rows[0].operations = vec![operation()];
    report.rows[1].usage.truncate(1);
    let html = page::html(&report);
    assert_eq!(html.matches("CPU up to").count(), 1, "one look is no course");
    assert!(table::markdown(&report).contains("ours, flows/s"));
}

#[test]
fn an_empty_or_failed_row_still_makes_a_page() {
    let rows = vec![RowReport { id: "S-C1".to_owned(), ..RowReport::default() }];
    let failed = Report { rows, ..Report::default() };
    assert!(!failed.is_clean());
    let html = page::html(&failed);
    assert!(html.contains("S-C1") && !html.contains("NaN"));
    assert!(page::html(&Report::default()).contains("</html>"));
}

#[test]
fn a_report_is_written_in_four_forms() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a/b");
    report().write(&out).unwrap();
    for name in ["results.json", "results.csv", "results.md", "index.html"] {
        assert!(std::fs::metadata(out.join(name)).unwrap().len() > 100, "{name}");
    }
}

#[test]
fn numbers_show_what_they_bear() {
    for (value, text) in [
        (0.0, "0"),
        (0.1234, "0.123"),
        (1.234, "1.23"),
        (12.34, "12.3"),
        (123.4, "123"),
        (1_234.5, "1\u{202f}234"),
        (1_234_567.0, "1\u{202f}234\u{202f}567"),
    ] {
        assert_eq!(table::number(value), text);
    }
}
