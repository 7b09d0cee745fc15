//! Every API wants a login, where the setting `auth` is on.

use crate::harness::{Answer, Server};

const ON: &[&str] = &["--store", "memory", "--auth", "on"];
const PASSWORD: &[(&str, &str)] = &[("TWINFOLD_AUTH_ADMIN_PASSWORD", "pa")];
/// admin:pa
const ADMIN: &str = "Authorization: Basic YWRtaW46cGE=\r\n";
/// boss:secret
const BOSS: &str = "Authorization: Basic Ym9zczpzZWNyZXQ=\r\n";

/// HugeGraph's pages of metrics.
const HUGEGRAPH_METRICS: [&str; 9] = [
    "/metrics?type=json",
    "/metrics/system",
    "/metrics/backend",
    "/metrics/gauges",
    "/metrics/counters",
    "/metrics/histograms",
    "/metrics/meters",
    "/metrics/timers",
    "/metrics/statistics",
];

fn get(server: &Server, path: &str, headers: &str) -> Answer {
    server.ask(&format!("GET {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n"))
}

fn post(server: &Server, path: &str, headers: &str, body: &str) -> Answer {
    let length = body.len();
    server.ask(&format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\n{headers}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    ))
}

#[test]
fn every_api_wants_a_login_where_auth_is_on() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_with(folder.path(), ON, PASSWORD);
    let paths = ["/ngsi-ld/v1/types", "/tsm/v1/repositories", "/graphs/hugegraph/graph/vertices"];
    for path in paths {
        let refused = get(&server, path, "");
        assert_eq!(refused.status, 401, "{path}");
        assert!(refused.header("www-authenticate").unwrap().starts_with("Basic realm="), "{path}");
        assert_eq!(get(&server, path, "Authorization: Basic YWRtaW46cGI=\r\n").status, 401, "{path}");
        assert_eq!(get(&server, path, ADMIN).status, 200, "{path}");
    }
    for path in ["/health/live", "/health/ready", "/metrics", "/versions", "/"] {
        assert_eq!(get(&server, path, "").status, 200, "{path}");
    }
    // HugeGraph's metrics are for administrators.
    for path in HUGEGRAPH_METRICS {
        assert_eq!(get(&server, path, "").status, 401, "{path}");
        assert_eq!(get(&server, path, ADMIN).status, 200, "{path}");
    }
    // A body that is not wanted is not waited for.
    let unwanted =
        "POST /graphs/hugegraph/graph/vertices HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n";
    let refused = server.ask(unwanted);
    assert_eq!((refused.status, refused.header("connection")), (401, Some("close")));

    let user = r#"{"user_name":"boss","user_password":"secret"}"#;
    assert_eq!(post(&server, "/graphspaces/DEFAULT/auth/users", ADMIN, user).status, 201);
    for path in paths.iter().chain(&HUGEGRAPH_METRICS) {
        assert_eq!(get(&server, path, BOSS).status, 403, "{path}");
    }
    assert!(get(&server, "/ngsi-ld/v1/types", BOSS).text().contains("administrators of the tenant"));
    let answer = post(&server, "/auth/login", "", user).text();
    let token: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let token = format!("Authorization: Bearer {}\r\n", token["token"].as_str().unwrap());
    assert_eq!(get(&server, "/auth/verify", &token).status, 200);
    assert_eq!(get(&server, "/graphs", &token).status, 200);
    let out = server.ask(&format!("DELETE /auth/logout HTTP/1.1\r\nHost: x\r\n{token}\r\n"));
    assert_eq!(out.status, 204);
    assert_eq!(get(&server, "/graphs", &token).status, 401);
}

#[test]
fn without_auth_nobody_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--store", "memory"]);
    for headers in ["", ADMIN, "Authorization: nonsense\r\n"] {
        assert_eq!(get(&server, "/graphs/hugegraph/graph/vertices", headers).status, 200, "{headers}");
        assert_eq!(get(&server, "/ngsi-ld/v1/types", headers).status, 200, "{headers}");
    }
}
