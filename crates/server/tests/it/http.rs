//! HTTP as clients see it: keep-alive, pipelining, HTTP/2, codings, refusals.

use std::io::Read as _;

use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::harness::Server;

fn memory() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--store", "memory"]);
    (folder, server)
}

#[test]
fn one_connection_carries_many_requests() {
    let (_folder, server) = memory();
    let mut wire = server.connect();
    for _ in 0..100 {
        assert_eq!(wire.ask("GET /version HTTP/1.1\r\nhost: t\r\n\r\n").status, 200);
    }
    assert_eq!(wire.ask("GET /version HTTP/1.1\r\nhost: t\r\nconnection: close\r\n\r\n").status, 200);
    assert!(wire.answer(true).is_none());
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let (_folder, server) = memory();
    let mut wire = server.connect();
    let paths = ["/version", "/nothing", "/health/live", "/version?a=1"];
    let requests: Vec<_> =
        paths.iter().map(|path| format!("GET {path} HTTP/1.1\r\nhost: t\r\n\r\n")).collect();
    wire.send(requests.concat().repeat(20).as_bytes());
    for round in 0..20 {
        for (path, status) in paths.iter().zip([200, 404, 200, 200]) {
            let answer = wire.answer(true).unwrap();
            assert_eq!(answer.status, status, "{path} in round {round}");
            assert_eq!(answer.text().contains("twinfold"), path.starts_with("/version"));
        }
    }
}

#[test]
fn http_2_is_spoken_by_prior_knowledge() {
    let (_folder, server) = memory();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
        let client = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
        let (sender, connection) = client.await.unwrap();
        tokio::spawn(connection);
        let ask = |path: &str, method: &str| {
            let uri = format!("http://{}{path}", server.address);
            let request = hyper::Request::builder().uri(uri).method(method);
            sender.clone().send_request(request.body(Empty::<bytes::Bytes>::new()).unwrap())
        };
        let (one, two, three) =
            tokio::join!(ask("/version", "GET"), ask("/nothing", "GET"), ask("/version", "HEAD"));
        let one = one.unwrap();
        assert_eq!((one.status().as_u16(), one.version()), (200, hyper::Version::HTTP_2));
        assert!(one.into_body().collect().await.unwrap().to_bytes().starts_with(b"{\"name\":\"twinfold\""));
        assert_eq!(two.unwrap().status().as_u16(), 404);
        let three = three.unwrap();
        assert_ne!(three.headers()["content-length"], "0");
        assert!(three.into_body().collect().await.unwrap().to_bytes().is_empty());
    });
}

#[test]
fn answers_are_compressed_when_accepted() {
    let (_folder, server) = memory();
    let ask = |coding: &str| {
        server.ask(&format!("GET /metrics HTTP/1.1\r\nhost: t\r\naccept-encoding: {coding}\r\n\r\n"))
    };
    let gzip = ask("gzip");
    assert_eq!(
        (gzip.header("content-encoding"), gzip.header("vary")),
        (Some("gzip"), Some("accept-encoding"))
    );
    let mut text = String::new();
    flate2::read::GzDecoder::new(gzip.body.as_slice()).read_to_string(&mut text).unwrap();
    assert!(text.contains("twinfold_build_info"));
    assert!(gzip.body.len() < text.len() / 2);

    let zstd = ask("gzip;q=0.5, zstd");
    assert_eq!(zstd.header("content-encoding"), Some("zstd"));
    let text = zstd::stream::decode_all(zstd.body.as_slice()).unwrap();
    assert!(String::from_utf8(text).unwrap().contains("twinfold_build_info"));

    assert_eq!(ask("br").header("content-encoding"), None);
    assert_eq!(server.get("/metrics").header("content-encoding"), None);
}

#[test]
fn heads_are_answered_without_bodies() {
    let (_folder, server) = memory();
    let mut wire = server.connect();
    let head = wire.ask("HEAD /version HTTP/1.1\r\nhost: t\r\n\r\n");
    let get = wire.ask("GET /version HTTP/1.1\r\nhost: t\r\n\r\n");
    assert_eq!(head.header("content-length"), get.header("content-length"));
    assert_eq!((head.body.len(), get.status), (0, 200));
}

#[test]
fn queries_may_hold_what_people_type() {
    let (_folder, server) = memory();
    assert_eq!(server.get("/version?q=temperature>20;name==\"x\"&a=<b").status, 200);
    let bad = server.get("/version?q=%zz");
    assert_eq!(bad.status, 400);
    assert!(bad.text().contains("%zz"), "{}", bad.text());
    assert!(bad.header("x-request-id").is_some());
    let mut wire = server.connect();
    let request = "GET /version?q=a>1 HTTP/1.1\r\nhost: t\r\nx-request-id: mine\r\n\r\n";
    for _ in 0..3 {
        let answer = wire.ask(request);
        assert_eq!((answer.status, answer.header("x-request-id")), (200, Some("mine")));
    }
}

#[test]
fn wrong_methods_and_paths_are_told() {
    let (_folder, server) = memory();
    let answer = server.post("/version", "{}");
    assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
    // The body was not read, so the connection ends with the answer.
    assert_eq!(answer.header("connection"), Some("close"));
    assert_eq!(server.get("/version/").status, 200);
    assert_eq!(server.get("//version").status, 400);
    assert_eq!(server.get("/nothing").status, 404);
}

#[test]
fn requests_are_counted_by_route() {
    let (_folder, server) = memory();
    for _ in 0..3 {
        server.get("/version");
    }
    server.get("/nothing");
    let version = "front_end=\"server\",method=\"GET\",route=\"/version\"";
    assert_eq!(server.metric(&format!("twinfold_requests_total{{{version},status=\"2xx\"}}")) as u64, 3);
    assert_eq!(server.metric(&format!("twinfold_request_duration_seconds_count{{{version}}}")) as u64, 3);
    let none = "front_end=\"none\",method=\"any\",route=\"none\",status=\"4xx\"";
    assert_eq!(server.metric(&format!("twinfold_requests_total{{{none}}}")) as u64, 1);
    assert!(server.metric("process_resident_memory_bytes") > 1e6);
}

/// docs/operating/metrics.md lists every family, and no other.
#[test]
fn every_metric_is_documented() {
    let (_folder, server) = memory();
    server.get("/version");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operating/metrics.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut documented: Vec<_> = page
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.strip_prefix("| `")?.split_once("` | ")?;
            Some((name, rest.split(' ').next()?))
        })
        .collect();
    let text = server.get("/metrics").text();
    let mut families: Vec<_> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect();
    documented.sort_unstable();
    families.sort_unstable();
    assert_eq!(families, documented);
}
