use std::time::Duration;

use serde_json::json;

use super::words::{of_graphs, of_page, of_process, statistics_json, statistics_text};
use super::*;

fn figures() -> Figures {
    let route = |method: &str, is_of_graphs, answers| RouteFigures {
        method: method.to_owned(),
        path: "/graphs/{graph}/graph/vertices".to_owned(),
        is_of_graphs,
        answers,
        rates: [Rates { m1: 0.5, m5: 0.25, m15: 0.125 }; 3],
        latency: Latency {
            min: 0.5,
            mean: 1.5,
            max: 4.0,
            stddev: 0.75,
            percentiles: [1.0, 2.0, 3.0, 3.5, 3.75, 4.0],
        },
    };
    Figures {
        uptime: Duration::from_secs(10),
        gauges: vec![("requests.under-way", 1)],
        counters: vec![("store.commits", 7)],
        routes: vec![route("POST", true, [3, 2, 1]), route("GET", true, [4, 0, 0])],
    }
}

#[test]
fn registries_print_themselves_as_hugegraphs_do() {
    let all = of_page(Page::All, &figures());
    assert_eq!(all["gauges"], json!({ "requests.under-way": { "value": 1 } }));
    assert_eq!(all["counters"]["store.commits"], json!({ "count": 7 }));
    let post = "graphs/{graph}/graph/vertices/POST";
    assert_eq!(all["counters"][format!("{post}/TOTAL_COUNTER")], json!({ "count": 6 }));
    assert_eq!(all["counters"][format!("{post}/FAILED_COUNTER")], json!({ "count": 3 }));
    let histogram = json!({
        "count": 6, "min": 0.5, "mean": 1.5, "max": 4.0, "stddev": 0.75, "p50": 1.0, "p75": 2.0, "p95": 3.0, "p98": 3.5, "p99": 3.75,
        "p999": 4.0,
    });
    assert_eq!(all["histograms"][format!("{post}/RESPONSE_TIME_HISTOGRAM")], histogram);
    let meter = json!({
        "count": 3, "mean_rate": 0.3, "m15_rate": 0.125, "m5_rate": 0.25, "m1_rate": 0.5, "rate_unit": "events/second",
    });
    assert_eq!(all["meters"]["org.apache.hugegraph.api.API.commit-succeed"], meter);
    let timer = &all["timers"][post];
    assert_eq!((&timer["m1_rate"], &timer["rate_unit"]), (&json!(1.5), &json!("calls/second")));
    assert_eq!((&timer["p50"], &timer["duration_unit"]), (&json!(1.0), &json!("milliseconds")));
    assert_eq!(of_page(Page::Gauges, &figures()), all["gauges"]);
}

#[test]
fn statistics_are_by_route_as_json_and_as_text() {
    let expected = json!({
        "FAILED_REQUEST": 0, "MEAN_RESPONSE_TIME": 1.5, "MAX_RESPONSE_TIME": 4.0, "SUCCESS_REQUEST": 4, "TOTAL_REQUEST": 4,
    });
    let all = statistics_json(&figures());
    assert_eq!(all["graphs/{graph}/graph/vertices/GET"], expected);
    let text = statistics_text(&figures());
    assert!(text.contains("graphs__graph__graph_vertices_POST{name=\"TOTAL_REQUEST\"} 6\n"), "{text}");
}

#[test]
fn the_process_and_the_store_have_the_members_of_a_java_server() {
    let process = Process { resident_bytes: 5 << 20, threads: 9, ..Process::default() };
    let all = of_process(&process, &figures());
    assert_eq!(
        (&all["basic"]["mem_used"], &all["basic"]["uptime"], &all["thread"]["count"]),
        (&json!(5), &json!(10_000), &json!(9))
    );
    let storage = Storage { memory_bytes: 1 << 19, disk_bytes: 3 << 20 };
    let all = of_graphs(&storage, ["DEFAULT-hugegraph".to_owned()].into_iter());
    let local = &all["DEFAULT-hugegraph"]["servers"]["local"];
    assert_eq!((&local["mem_used"], &local["disk_usage_readable"]), (&json!(0.5), &json!("3.00 MB")));
}
