//! What many clients at once may take: memory of bodies and answers, their size and time; and that it is given back.

use std::net::TcpStream;

use crate::harness::{Answer, PATIENCE, Server, Wire};

/// Settings under which the largest request needs 16 MiB.
const SMALL: &[&str] = &[
    "--store",
    "memory",
    "--body-bytes-max",
    "8MiB",
    "--write-points-max",
    "1000",
    "--request-series-max",
    "10",
    "--write-item-bytes-max",
    "64KiB",
    "--write-batch-bytes-max",
    "64KiB",
    "--memory-wait-duration-max",
    "100ms",
];

fn start(more: &[&str]) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[SMALL, more].concat());
    (folder, server)
}

/// Sends the head of a body, and all of it but its last byte.
fn unfinished(server: &Server, bytes: usize) -> Wire<TcpStream> {
    let mut wire = server.connect();
    let head =
        "POST /ngsi-ld/v1/entities HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\ncontent-length:";
    wire.send(format!("{head} {bytes}\r\n\r\n").as_bytes());
    // Whoever is refused may be cut off while it still sends.
    let _ = std::io::Write::write_all(&mut wire.stream, &vec![b' '; bytes - 1]);
    wire
}

fn create(server: &Server, id: usize, bytes: usize) {
    let text = "x".repeat(bytes);
    let entity =
        format!(r#"{{"id":"urn:e:{id}","type":"Large","name":{{"type":"Property","value":"{text}"}}}}"#);
    assert_eq!(server.post("/ngsi-ld/v1/entities", &entity).status, 201);
}

fn ids(answer: &Answer) -> Vec<String> {
    let entities: Vec<serde_json::Value> = serde_json::from_slice(&answer.body).unwrap();
    entities.iter().map(|entity| entity["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn unfinished_bodies_share_one_budget() {
    let (_folder, server) = start(&["--memory-bytes-max", "48MiB"]);
    let before = server.metric("process_resident_memory_bytes");
    let mut bodies: Vec<_> = (0..20).map(|_| unfinished(&server, 8 << 20)).collect();
    // Three hold all of it; the others are told.
    server.await_metric("twinfold_memory_refused_total", |refused| refused >= 17.0);
    assert!(server.metric("twinfold_memory_reserved_bytes") <= f64::from(48 << 20));
    let grown = server.metric("process_resident_memory_bytes") - before;
    assert!(grown < 110e6, "{grown} more bytes for three bodies of 8 MiB");
    // What is small passes all the while.
    create(&server, 1, 1000);
    assert_eq!(server.get("/ngsi-ld/v1/entities/urn:e:1").status, 200);
    let mut told = 0;
    for body in &mut bodies {
        body.stream.set_nonblocking(true).unwrap();
        let mut first = [0; 4096];
        if let Ok(count) = std::io::Read::read(&mut body.stream, &mut first) {
            let text = String::from_utf8_lossy(&first[..count]).to_ascii_lowercase();
            if text.starts_with("http/1.1 503") {
                assert!(text.contains("retry-after: 1") && text.contains("memory_bytes_max"), "{text}");
                told += 1;
            }
        }
    }
    assert!(told > 0);
    drop(bodies);
    server.await_metric("twinfold_memory_reserved_bytes", |bytes| bytes == 0.0);
}

#[test]
fn memory_goes_back_to_the_system_when_idle() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--store", "memory"]);
    let before = server.metric("process_resident_memory_bytes");
    let bodies: Vec<_> = (0..4).map(|_| unfinished(&server, 60_000_000)).collect();
    server.await_metric("twinfold_memory_reserved_bytes", |bytes| bytes >= 4.0 * 2.0 * 59e6);
    let peak = server.metric("process_resident_memory_bytes") - before;
    assert!(peak > 200e6, "{peak}");
    drop(bodies);
    server.await_metric("process_resident_memory_bytes", |bytes| bytes - before < peak / 4.0);
}

#[test]
fn answers_that_nobody_reads_share_the_budget_and_end() {
    let (_folder, server) = start(&["--memory-bytes-max", "48MiB", "--stall-duration-max", "3s"]);
    for id in 0..4 {
        create(&server, id, 2 << 20);
    }
    let before = server.metric("process_resident_memory_bytes");
    let query = "GET /ngsi-ld/v1/entities?type=Large HTTP/1.1\r\nhost: t\r\n\r\n";
    let silent: Vec<_> = (0..12)
        .map(|_| {
            let mut wire = server.connect();
            wire.send(query.as_bytes());
            wire
        })
        .collect();
    server.await_metric("twinfold_memory_refused_total", |refused| refused >= 1.0);
    let grown = server.metric("process_resident_memory_bytes") - before;
    assert!(grown < 250e6, "{grown} more bytes for 12 answers of 8 MiB");
    server.await_metric("twinfold_streams_stalled_total", |stalled| stalled >= 1.0);
    server.await_metric("twinfold_memory_reserved_bytes", |bytes| bytes == 0.0);
    drop(silent);
    assert_eq!(ids(&server.ask(query)).len(), 4);
}

fn post(path: &str, body: &str) -> String {
    let length = body.len();
    let head = "host: t\r\ncontent-type: application/json";
    format!("POST {path} HTTP/1.1\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}")
}

#[test]
fn what_was_written_is_told_though_memory_is_full() {
    let (_folder, server) = start(&["--memory-bytes-max", "48MiB"]);
    create(&server, 1, 1000);
    let taken: Vec<_> = (0..6).map(|_| unfinished(&server, 8 << 20)).collect();
    server.await_metric("twinfold_memory_refused_total", |refused| refused >= 3.0);
    // The body is small; the answer says of each entity that there is none, and is not.
    let absent: Vec<_> = (1000..1900).map(|id| format!(r#""urn:e:{id}""#)).collect();
    let body = format!(r#"["urn:e:1",{}]"#, absent.join(","));
    assert!(body.len() < 64 << 10);
    let answer = server.ask(&post("/ngsi-ld/v1/entityOperations/delete", &body));
    assert!(answer.status == 207 && answer.body.len() > 64 << 10, "{} {}", answer.status, answer.body.len());
    drop(taken);
    server.await_metric("twinfold_memory_reserved_bytes", |bytes| bytes == 0.0);
    assert_eq!(server.get("/ngsi-ld/v1/entities/urn:e:1").status, 404);
}

/// A large body is handled in a slot for long work, and the query in it wants a slot, too.
#[test]
fn a_request_never_waits_for_its_own_slot() {
    let more = ["--memory-bytes-max", "512MiB", "--long-work-threads", "1", "--request-duration-max", "20s"];
    let (_folder, server) = start(&more);
    for id in 0..4 {
        create(&server, id, 2 << 20);
    }
    let query = format!(r#"{{"type":"Query","entities":[{{"type":"Large"}}]{}}}"#, " ".repeat(300 << 10));
    let query = post("/ngsi-ld/v1/entityOperations/query", &query);
    let asked: Vec<_> = (0..4)
        .map(|_| {
            let mut wire = server.connect();
            wire.stream.set_read_timeout(Some(PATIENCE)).unwrap();
            wire.send(query.as_bytes());
            wire
        })
        .collect();
    for mut wire in asked {
        assert_eq!(wire.answer(true).map(|answer| answer.status), Some(200));
    }
}

#[test]
fn pages_end_where_they_are_large_and_go_on_behind() {
    let (_folder, server) = start(&["--memory-bytes-max", "64MiB", "--page-bytes-max", "250KiB"]);
    for id in 0..7 {
        create(&server, id, 100 << 10);
    }
    let (mut found, mut path) = (Vec::new(), "/ngsi-ld/v1/entities?type=Large&limit=5&count=true".to_owned());
    let mut pages = Vec::new();
    loop {
        let page = server.get(&path);
        assert_eq!((page.status, page.header("ngsild-results-count")), (200, Some("7")));
        pages.push(ids(&page).len());
        found.extend(ids(&page));
        let links = page.headers.iter().filter(|(name, _)| name == "link").map(|(_, value)| value);
        let next = links.into_iter().find_map(|link| {
            let (target, rest) = link.strip_prefix('<')?.split_once('>')?;
            rest.contains("rel=\"next\"").then(|| target.to_owned())
        });
        let Some(next) = next else { break };
        path = next;
    }
    assert_eq!(pages, [3, 3, 1]);
    assert_eq!(found, (0..7).map(|id| format!("urn:e:{id}")).collect::<Vec<_>>());
}

#[test]
fn an_answer_beyond_its_limits_is_never_taken_for_whole() {
    let (_folder, server) = start(&["--memory-bytes-max", "64MiB", "--answer-bytes-max", "300KiB"]);
    create(&server, 1, 1 << 20);
    create(&server, 2, 200 << 10);
    let mut wire = server.connect();
    wire.stream.set_read_timeout(Some(PATIENCE)).unwrap();
    wire.send(b"GET /ngsi-ld/v1/entities/urn:e:1 HTTP/1.1\r\nhost: t\r\n\r\n");
    assert!(wire.answer(true).is_none());
    assert_eq!(server.metric("twinfold_answers_cut_total") as u64, 1);
    assert_eq!(server.get("/ngsi-ld/v1/entities/urn:e:2").status, 200);
}

#[test]
fn health_has_an_address_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--store", "memory", "--health-listen", "127.0.0.1:0", "--connections-max", "1"];
    let server = Server::start(folder.path(), &options);
    let [_, listening, line] = &server.announced[..] else { panic!("{:?}", server.announced) };
    assert!(listening.starts_with("listening on "), "{listening}");
    let line = line.strip_prefix("health on http://");
    let mut held = server.connect();
    assert_eq!(held.ask("GET /version HTTP/1.1\r\nhost: t\r\n\r\n").status, 200);
    // There is no connection left but at this address.
    let mut wire = Wire::new(TcpStream::connect(line.unwrap()).unwrap());
    for (path, status) in
        [("/health/live", 200), ("/health/ready", 200), ("/metrics", 200), ("/version", 404)]
    {
        assert_eq!(wire.ask(&format!("GET {path} HTTP/1.1\r\nhost: t\r\n\r\n")).status, status, "{path}");
    }
}

#[test]
fn a_query_beyond_its_limits_is_refused_by_their_names() {
    let (_folder, server) =
        start(&["--memory-bytes-max", "64MiB", "--q-values-max", "20", "--geo-positions-max", "10"]);
    let values: Vec<_> = (0..21).map(|value| value.to_string()).collect();
    let points: Vec<_> = (0..11).map(|at| format!("%5B{at},0%5D")).collect();
    let near = format!(
        "type=T&georel=near;maxDistance==1&geometry=MultiPoint&coordinates=%5B{}%5D",
        points.join(",")
    );
    for (query, limit) in [
        (format!("type=T&q=v=={}", values.join(",")), "q_values_max"),
        (format!("type=T&q=v!={};w==1,2", values[..19].join(",")), "q_values_max"),
        (near, "geo_positions_max"),
    ] {
        let refused = server.get(&format!("/ngsi-ld/v1/entities?{query}"));
        assert_eq!(refused.status, 403, "{query}");
        assert!(refused.text().contains(limit), "{}", refused.text());
    }
    let fits = format!("type=T&q=v=={}", values[..20].join(","));
    assert_eq!(server.get(&format!("/ngsi-ld/v1/entities?{fits}")).status, 200);
}
