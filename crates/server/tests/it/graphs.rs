//! What clients of HugeGraph ask of the server beside graphs: its metrics.

use serde_json::Value;

use crate::harness::Server;

fn json(server: &Server, path: &str) -> Value {
    let answer = server.get(path);
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json;charset=UTF-8")));
    serde_json::from_slice(&answer.body).unwrap()
}

#[test]
fn hugegraphs_metrics_show_what_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--store", "memory"]);
    let key = r#"{"name":"name","data_type":"TEXT"}"#;
    assert_eq!(server.post("/graphs/hugegraph/schema/propertykeys", key).status, 202);
    assert_eq!(server.post("/graphs/hugegraph/schema/propertykeys", key).status, 400);
    let route = "graphs/{graph}/schema/propertykeys/POST";
    let all = json(&server, "/metrics?type=json");
    assert!(json(&server, "/metrics/?type=json").get("gauges").is_some());
    assert_eq!(all["counters"][format!("{route}/TOTAL_COUNTER")]["count"], 2);
    assert_eq!(all["meters"]["org.apache.hugegraph.api.API.commit-succeed"]["count"], 1);
    for part in ["gauges", "counters", "histograms", "meters", "timers"] {
        let one = json(&server, &format!("/metrics/{part}"));
        assert!(all[part].as_object().unwrap().keys().all(|name| one.get(name).is_some()), "{part}");
    }
    let statistics = json(&server, "/metrics/statistics/?type=json");
    assert_eq!(statistics[route]["FAILED_REQUEST"], 1);
    assert!(statistics[route]["MAX_RESPONSE_TIME"].as_f64().unwrap() > 0.0);
    let text = server.get("/metrics/statistics").text();
    assert!(text.contains("graphs__graph__schema_propertykeys_POST{name=\"TOTAL_REQUEST\"} 2"), "{text}");
    assert!(json(&server, "/metrics/system")["basic"]["mem_used"].as_u64().unwrap() > 0);
    let backend = &json(&server, "/metrics/backend")["DEFAULT-hugegraph"];
    assert_eq!(backend["backend"], "rocksdb");
    // Prometheus finds its page where it was.
    assert!(server.get("/metrics").text().contains("twinfold_build_info"));
    let refused = server.get("/metrics/nothing");
    assert_eq!(refused.status, 404);
    assert!(refused.text().contains("\"exception\""), "{}", refused.text());
}
