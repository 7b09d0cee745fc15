//! What clients find beside the APIs: who answers, what is allowed, whose pages may read; and requests that are not as HTTP
//! wants them.

use crate::harness::{Answer, Server};

const ORIGIN: &str = "https://app.example.org";

fn memory(more: &[&str]) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[&["--store", "memory"], more].concat());
    (folder, server)
}

/// A request with these lines behind the first.
fn ask(server: &Server, line: &str, headers: &[&str]) -> Answer {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    server.ask(&format!("{line} HTTP/1.1\r\n{headers}\r\n"))
}

fn json(answer: &Answer) -> serde_json::Value {
    serde_json::from_slice(&answer.body).unwrap()
}

#[test]
fn a_request_names_its_host_once() {
    let (_folder, server) = memory(&[]);
    for path in ["/ngsi-ld/v1/types", "/tsm/v1/repositories", "/version"] {
        for hosts in [&[][..], &["host: a", "host: a"], &["host: a", "host: b"]] {
            let answer = ask(&server, &format!("GET {path}"), hosts);
            assert_eq!(answer.status, 400, "{path} {hosts:?}");
            assert!(answer.text().contains("header Host"), "{}", answer.text());
        }
        assert_eq!(ask(&server, &format!("GET {path}"), &["host: a"]).status, 200);
    }
    assert_eq!(server.ask("GET /version HTTP/1.0\r\n\r\n").status, 200);
}

#[test]
fn names_of_requests_are_repeated_if_they_are_fit() {
    let (_folder, server) = memory(&[]);
    let named = |name: &str| {
        let answer = ask(&server, "GET /version", &["host: t", &format!("x-request-id: {name}")]);
        answer.header("x-request-id").map(str::to_owned)
    };
    let longest = "x".repeat(128);
    assert_eq!(named("a-1"), Some("a-1".to_owned()));
    assert_eq!(named(&longest), Some(longest.clone()));
    for unfit in [format!("{longest}x"), "a b".to_owned()] {
        let made = named(&unfit).unwrap();
        assert!(made.len() == 16 && made.bytes().all(|byte| byte.is_ascii_hexdigit()), "{made}");
    }
}

#[test]
fn every_path_says_what_it_allows() {
    let (_folder, server) = memory(&[]);
    for (path, allow) in [
        ("/ngsi-ld/v1/entities", "POST, GET, HEAD, DELETE, OPTIONS"),
        ("/ngsi-ld/v1/entityOperations/upsert/", "POST, OPTIONS"),
        ("/tsm/v1/repositories", "POST, GET, HEAD, OPTIONS"),
        ("/version", "GET, HEAD, OPTIONS"),
        ("/", "GET, HEAD, OPTIONS"),
    ] {
        let answer = ask(&server, &format!("OPTIONS {path}"), &["host: t"]);
        assert_eq!((answer.status, answer.header("allow")), (204, Some(allow)), "{path}");
        assert!(answer.header("access-control-allow-origin").is_none());
    }
    assert_eq!(ask(&server, "OPTIONS /nothing", &["host: t"]).status, 404);
    let refused = ask(&server, "PATCH /version", &["host: t"]);
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
}

#[test]
fn pages_of_named_origins_may_use_the_apis() {
    let (_folder, server) = memory(&["--cors-origins", ORIGIN]);
    let origin = format!("origin: {ORIGIN}");
    let preflight = ask(
        &server,
        "OPTIONS /ngsi-ld/v1/entities/urn:x:1",
        &["host: t", &origin, "access-control-request-method: PATCH", "access-control-request-headers: link"],
    );
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-origin"), Some(ORIGIN));
    assert!(preflight.header("access-control-allow-methods").unwrap().contains("PATCH"));
    assert_eq!(preflight.header("access-control-allow-headers"), Some("link"));

    let read = |path: &str, origin: &str| ask(&server, &format!("GET {path}"), &["host: localhost", origin]);
    // Refusals can be read, too.
    for path in ["/ngsi-ld/v1/types", "/ngsi-ld/v1/nothing", "/version"] {
        let answer = read(path, &origin);
        assert_eq!(answer.header("access-control-allow-origin"), Some(ORIGIN), "{path}");
        assert!(answer.header("vary").unwrap().contains("origin"));
        assert!(answer.header("access-control-expose-headers").unwrap().contains("NGSILD-Tenant"));
        let other = read(path, "origin: https://evil.example.org");
        assert!(other.header("access-control-allow-origin").is_none());
        assert!(other.header("vary").unwrap().contains("origin"));
    }
    for path in ["/admin/backup", "/ngsi-ld/ex/v1/tenants"] {
        assert!(read(path, &origin).header("access-control-allow-origin").is_none(), "{path}");
    }
}

#[test]
fn what_is_no_origin_ends_the_start() {
    let mut command = crate::harness::twinfold(&["settings", "--cors-origins", "app.example.org"]);
    let (code, _, said) = crate::harness::output(&mut command);
    assert_eq!(code, Some(2));
    assert!(said.contains("is no origin"), "{said}");
}

#[test]
fn whoever_comes_to_the_door_is_told_what_this_is() {
    let (_folder, server) = memory(&[]);
    let page = ask(&server, "GET /", &["host: t", "accept: text/html,application/xhtml+xml,*/*;q=0.8"]);
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    for said in [
        "Twinfold",
        env!("CARGO_PKG_VERSION"),
        "/health/ready",
        "/ngsi-ld/v1/docs",
        "/tsm/v1/docs",
        "curl -i",
    ] {
        assert!(page.text().contains(said), "{said}");
    }
    let facts = json(&server.get("/"));
    assert_eq!(facts["name"], "twinfold");
    assert_eq!(facts["apis"][0]["docs"], "/ngsi-ld/v1/docs");
    assert_eq!(server.get("/ngsi-ld/v1/docs").status, 200);
}

/// What the page tells to write is found by what it tells to ask.
#[test]
fn the_first_steps_of_the_page_lead_somewhere() {
    let (_folder, server) = memory(&[]);
    let page = ask(&server, "GET /", &["host: t", "accept: text/html"]).text();
    let entity = page.split_once("-d '").and_then(|(_, rest)| rest.split_once('\'')).unwrap().0;
    assert_eq!(server.post("/ngsi-ld/v1/entities", entity).status, 201);
    let found = server.get("/ngsi-ld/v1/entities?type=Room&q=temperature%3E20");
    assert!(found.text().contains("urn:ngsi-ld:Room:1"), "{}", found.text());
    let past = server.get("/ngsi-ld/v1/temporal/entities/urn:ngsi-ld:Room:1");
    assert!(past.text().contains("21.5"), "{}", past.text());
}

#[test]
fn clients_of_other_brokers_find_what_they_look_for() {
    let (_folder, server) = memory(&[]);
    for path in ["/version", "/ngsi-ld/ex/v1/version"] {
        assert_eq!(json(&server.get(path))["orionld version"], env!("CARGO_PKG_VERSION"));
    }
    for path in ["/actuator/health", "/ngsi-ld/ex/v1/ping"] {
        assert_eq!(json(&server.get(path))["status"], "UP");
    }
    assert_eq!(json(&server.get("/actuator/info"))["build"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json(&server.get("/ngsi-ld/ex/v1/tenants")), serde_json::json!([]));
    let body = r#"{"@context":{}}"#;
    let created = server.ask(&format!(
        "POST /ngsi-ld/v1/jsonldContexts HTTP/1.1\r\nhost: t\r\nfiware-service: lab\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ));
    assert_eq!(created.status, 201);
    assert_eq!(json(&server.get("/ngsi-ld/ex/v1/tenants")), serde_json::json!(["lab"]));
    let from_afar =
        ask(&server, "GET /ngsi-ld/ex/v1/tenants", &["host: localhost", "x-forwarded-for: 203.0.113.7"]);
    assert_eq!(from_afar.status, 404);
}

#[test]
fn json_ends_in_a_newline() {
    let (_folder, server) = memory(&[]);
    for path in
        ["/ngsi-ld/v1/types", "/ngsi-ld/v1/entities/urn:x:1", "/tsm/v1/repositories", "/version", "/nothing"]
    {
        let text = server.get(path).text();
        assert!(text.ends_with("}\n") || text.ends_with("]\n"), "{path}: {text:?}");
        let head = server.ask(&format!("HEAD {path} HTTP/1.1\r\nhost: t\r\n\r\n"));
        assert_eq!(head.header("content-length"), Some(&*text.len().to_string()), "{path}");
    }
}

#[test]
fn a_body_that_does_not_come_in_time_is_the_clients_fault() {
    let (_folder, server) = memory(&["--request-duration-max", "300ms"]);
    for path in ["/ngsi-ld/v1/entities", "/tsm/v1/repositories"] {
        let mut wire = server.connect();
        wire.send(
            format!("POST {path} HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{{")
                .as_bytes(),
        );
        let answer = wire.answer(true).unwrap();
        assert_eq!((answer.status, answer.header("connection")), (408, Some("close")), "{path}");
        assert!(answer.text().contains("did not come within 300 ms"), "{}", answer.text());
    }
}

#[test]
fn a_body_that_breaks_off_is_the_clients_fault() {
    let (_folder, server) = memory(&[]);
    let streamed = "PUT /tsm/v1/repositories/default/timeseriescollections/data";
    for line in ["POST /ngsi-ld/v1/entities", "POST /tsm/v1/repositories", streamed] {
        for (coding, body, is_cut) in [
            ("transfer-encoding: chunked", "zz\r\n{}\r\n", false),
            ("transfer-encoding: chunked", "5\r\n{", true),
            ("content-length: 100", "{", true),
        ] {
            let mut wire = server.connect();
            let head =
                format!("{line} HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\n{coding}\r\n\r\n");
            wire.send([&head, body].concat().as_bytes());
            if is_cut {
                wire.stream.shutdown(std::net::Shutdown::Write).unwrap();
            }
            let answer = wire.answer(true).unwrap();
            assert_eq!(answer.status, 400, "{line} {coding} {body:?}: {}", answer.text());
            assert!(answer.text().contains("broke off"), "{}", answer.text());
        }
    }
}
