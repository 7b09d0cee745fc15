//! Series over real connections: streams both ways, clients that stall, hooks that are told.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use crate::harness::{PATIENCE, Server, await_some};

const BULK: &str = "/tsm/v1/repositories/default/timeseriescollections/data";

fn memory(flags: &[&str]) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[&["--store", "memory"], flags].concat());
    (folder, server)
}

fn names(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|number| format!("Meter {number}"))
}

/// Defines `count` series and writes `points` hours to each, chunked.
fn fill(server: &Server, count: usize, points: usize) {
    let definitions: Vec<_> = names(count)
        .map(|name| format!(r#"{{"Name":"{name}","Type":"Begin","Interval":{{"Value":"Hour"}}}}"#))
        .collect();
    let path = "/tsm/v1/repositories/default/timeseriescollections/definition";
    assert_eq!(server.post(path, &format!("[{}]", definitions.join(","))).status, 201);
    let values = vec!["1.25"; points].join(",");
    let series: Vec<_> = names(count)
        .map(|name| format!(r#"{{"Name":"{name}","Start":"2026-01-01T00:00:00Z","Values":[{values}]}}"#))
        .collect();
    let mut wire = server.connect();
    wire.send(format!("PUT {BULK} HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n").as_bytes());
    for piece in format!("[{}]", series.join(",")).as_bytes().chunks(50_000) {
        wire.send(format!("{:x}\r\n", piece.len()).as_bytes());
        wire.send(piece);
        wire.send(b"\r\n");
    }
    wire.send(b"0\r\n\r\n");
    let answer = wire.answer(true).unwrap();
    assert_eq!((answer.status, answer.text().as_str()), (204, ""));
}

fn ask_for(count: usize, more: &str) -> String {
    let mut body = String::from("{\"Names\":[");
    for (place, name) in names(count).enumerate() {
        let comma = if place > 0 { "," } else { "" };
        write!(body, "{comma}\"{name}\"").unwrap();
    }
    write!(body, "],\"Form\":\"csv\"}}").unwrap();
    let json = "content-type: application/json\r\n";
    let head =
        format!("POST {BULK} HTTP/1.1\r\nhost: t\r\n{json}content-length: {}\r\n{more}\r\n", body.len());
    head + &body
}

/// Everything of a connection up to its end.
fn read_all(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    all
}

#[test]
fn large_answers_come_in_chunks() {
    let (_folder, server) = memory(&[]);
    fill(&server, 200, 500);
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(ask_for(200, "connection: close\r\n").as_bytes()).unwrap();
    let answer = String::from_utf8(read_all(&mut stream)).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("transfer-encoding: chunked"), "{head}");
    assert!(body.ends_with("\r\n0\r\n\r\n"));
    assert!(body.matches(",1.25,Valid").count() > 99_000);
    let route = format!("front_end=\"tsm\",method=\"POST\",route=\"{BULK}\"");
    let route = route.replace("default", "{repository}");
    assert_eq!(server.metric(&format!("twinfold_requests_total{{{route},status=\"2xx\"}}")) as u64, 1);
    // The request that asks is the only one under way.
    assert_eq!(server.metric("twinfold_requests_under_way") as u64, 1);
    assert_eq!(server.metric("twinfold_streams_broken_total") as u64, 0);
}

#[test]
fn large_answers_are_packed_as_they_come() {
    let (_folder, server) = memory(&[]);
    fill(&server, 200, 500);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (count, http2) = runtime.block_on(async {
        use http_body_util::{BodyExt as _, Full};
        use hyper_util::rt::{TokioExecutor, TokioIo};
        let stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
        let builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
        let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let wire = ask_for(200, "");
        let body = wire.split_once("\r\n\r\n").unwrap().1.to_owned();
        let request = http::Request::post(format!("http://t{BULK}"))
            .header("accept-encoding", "zstd")
            .header("content-type", "application/json")
            .body(Full::new(bytes::Bytes::from(body)))
            .unwrap();
        let response = sender.send_request(request).await.unwrap();
        assert_eq!(response.headers()["content-encoding"], "zstd");
        let http2 = response.version() == http::Version::HTTP_2;
        let packed = response.into_body().collect().await.unwrap().to_bytes();
        let plain = zstd::stream::decode_all(packed.as_ref()).unwrap();
        (String::from_utf8(plain).unwrap().matches(",1.25,Valid").count(), http2)
    });
    assert_eq!((count, http2), (100_000, true));
}

#[test]
fn a_client_that_takes_nothing_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    // More than the sockets' buffers hold; written to a server that bears a pause while it is written.
    let patient = Server::start(folder.path(), &[]);
    fill(&patient, 500, 1000);
    assert_eq!(patient.stop(), Some(0));
    let server = Server::start(folder.path(), &["--stall-duration-max", "300ms"]);
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(ask_for(500, "").as_bytes()).unwrap();
    server.await_metric("twinfold_streams_stalled_total", |count| count >= 1.0);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut all = Vec::new();
    // Cut off: an end or a reset, but no last chunk.
    let _ = stream.read_to_end(&mut all);
    assert!(!all.ends_with(b"0\r\n\r\n"));
    // The connection may be gone before its request is.
    server.await_metric("twinfold_requests_under_way", |count| count < 2.0);
}

#[test]
fn streamed_bodies_have_their_own_limits() {
    let (_folder, server) =
        memory(&["--body-bytes-max", "2KiB", "--stream-bytes-max", "64KiB", "--stall-duration-max", "300ms"]);
    let put = |body: &[u8], declared: usize| {
        let mut wire = server.connect();
        let head = format!("PUT {BULK} HTTP/1.1\r\nhost: t\r\ncontent-length: {declared}\r\n\r\n");
        // In one write: between two the client could be held up for longer than the server waits.
        wire.send(&[head.as_bytes(), body].concat());
        wire.answer(true).unwrap()
    };
    let blanks = [b' '; 10_000];
    // Read to its end, which is beyond body_bytes_max, and found to be no JSON.
    assert_eq!(put(&blanks, blanks.len()).status, 400);
    let refused = put(b"", 70_000);
    assert_eq!(refused.status, 413);
    assert!(refused.text().contains("stream_bytes_max"), "{}", refused.text());
    let stalled = put(b"{", 100);
    assert_eq!((stalled.status, stalled.text().contains("paused")), (408, true));
}

#[test]
fn bodies_of_points_share_room() {
    let small =
        ["--write-points-max", "1000", "--request-series-max", "10", "--write-batch-bytes-max", "1KiB"];
    let room = [
        "--write-item-bytes-max",
        "512KiB",
        "--memory-bytes-max",
        "2MiB",
        "--memory-wait-duration-max",
        "1ms",
    ];
    let entities = ["--body-bytes-max", "256KiB"];
    let (_folder, server) = memory(&[&small[..], &room, &entities].concat());
    fill(&server, 2, 1);
    let head = format!("PUT {BULK} HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n");
    // An item that does not end takes room; the reserve, which the second takes, is what one body may need.
    let item = format!("[{{\"Name\":\"{}", "x".repeat(480 << 10));
    let hold = || {
        let mut wire = server.connect();
        wire.send(format!("{head}{:x}\r\n{item}\r\n", item.len()).as_bytes());
        wire
    };
    let held = |bytes: f64| server.await_metric("twinfold_memory_reserved_bytes", |held| held >= bytes);
    let first = hold();
    held(480.0 * 1024.0);
    let second = hold();
    held(960.0 * 1024.0);
    let mut third = hold();
    third.send(b"0\r\n\r\n");
    let refused = third.answer(true).unwrap();
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "{}", refused.text());
    assert!(refused.text().contains("memory_bytes_max"), "{}", refused.text());
    assert_eq!(server.metric("twinfold_memory_refused_total") as u64, 1);
    drop((first, second));
    server.await_metric("twinfold_memory_reserved_bytes", |held| held == 0.0);
}

#[test]
fn a_client_may_ask_before_it_sends() {
    let (_folder, server) = memory(&[]);
    fill(&server, 1, 1);
    let body = r#"[{"Name":"Meter 0","Start":"2026-02-01T00:00:00Z","Values":[1]}]"#;
    let mut wire = server.connect();
    let head = format!(
        "PUT {BULK} HTTP/1.1\r\nhost: t\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    wire.send(head.as_bytes());
    assert_eq!(wire.answer(false).unwrap().status, 100);
    wire.send(body.as_bytes());
    assert_eq!(wire.answer(true).unwrap().status, 204);
}

#[test]
fn heads_of_large_answers_end_at_once() {
    let (_folder, server) = memory(&[]);
    fill(&server, 2, 40_000);
    let mut wire = server.connect();
    let path = "/tsm/v1/repositories/default/timeseries/Meter%200/data";
    let head = wire.ask(&format!("HEAD {path} HTTP/1.1\r\nhost: t\r\n\r\n"));
    assert_eq!((head.status, head.header("content-type")), (200, Some("application/json")));
    assert_eq!(wire.ask("GET /version HTTP/1.1\r\nhost: t\r\n\r\n").status, 200);
    server.await_metric("twinfold_requests_under_way", |count| count < 2.0);
}

#[test]
fn series_outlive_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let read = |server: &Server| {
        let answer = server.get("/repositories/default/timeseries/Meter%201/data?form=csv");
        (answer.status, answer.text())
    };
    let server = Server::start(folder.path(), &[]);
    fill(&server, 2, 30);
    let before = read(&server);
    assert_eq!((before.0, before.1.lines().count()), (200, 31));
    assert_eq!(server.stop(), Some(0));
    let server = Server::start(folder.path(), &[]);
    assert_eq!(read(&server), before);
}

#[test]
fn the_api_can_be_switched_off() {
    let (_folder, server) = memory(&["--tsm", "off"]);
    assert_eq!(server.get("/tsm/v1/repositories").status, 404);
    assert_eq!(server.get("/repositories").status, 404);
}

/// Takes one notification and answers it with `status`; its head and its body.
pub(crate) fn take(listener: &TcpListener, status: &str) -> (String, serde_json::Value) {
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut received = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).unwrap();
        received.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8_lossy(&received);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            let told = (head.to_ascii_lowercase(), serde_json::from_str(body).unwrap());
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            stream.write_all(answer.as_bytes()).unwrap();
            return told;
        }
    }
}

#[test]
fn hooks_are_told_until_they_take_it() {
    let (_folder, server) = memory(&["--hook-send", "any"]);
    fill(&server, 2, 1);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/changed", listener.local_addr().unwrap());
    let hook = format!(r#"{{"Name":"billing","Url":"{url}","Series":"Meter 1","Secret":"hush"}}"#);
    assert_eq!(server.post("/repositories/default/hooks", &hook).status, 201);
    let body = r#"[{"Name":"Meter 0","Start":"2026-02-01T00:00:00Z","Values":[1,2]},{"Name":"Meter 1","Start":"2026-02-01T00:00:00Z","Values":[1,2]}]"#;
    let put = format!("PUT {BULK} HTTP/1.1\r\nhost: t\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    assert_eq!(server.ask(&put).status, 204);
    let (_, refused) = take(&listener, "503 Busy");
    let (head, told) = take(&listener, "204 Taken");
    assert_eq!(told, refused, "what failed is told again");
    assert!(head.starts_with("post /changed") && head.contains("x-twinfold-signature: sha256="), "{head}");
    assert_eq!((told["Repository"].as_str(), told["Hook"].as_str()), (Some("default"), Some("billing")));
    let changes = told["Changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{told}");
    let change = &changes[0];
    assert_eq!((change["Kind"].as_str(), change["Name"].as_str()), (Some("Put"), Some("Meter 1")));
    assert_eq!((change["From"].as_str(), change["Points"].as_u64()), (Some("2026-02-01T00:00:00Z"), Some(2)));
    // What was taken is stored behind the answer, and counted before it is stored.
    let state = await_some("the hook's state", || {
        let state = server.get("/repositories/default/hooks/billing").text();
        state.contains("\"Delivered\":1").then_some(state)
    });
    assert!(state.contains("\"Delivered\":1,\"Failed\":1,\"Cuts\":0}"), "nothing is pending: {state}");
    assert_eq!(server.metric("twinfold_hook_notifications_total") as u64, 1);
    assert_eq!(server.metric("twinfold_hook_failures_total") as u64, 1);
}
