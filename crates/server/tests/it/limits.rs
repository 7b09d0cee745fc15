//! Every limit has a name and an answer.

use std::io::Write as _;

use crate::harness::{Server, await_some};

fn memory(flags: &[&str]) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[&["--store", "memory"], flags].concat());
    (folder, server)
}

fn post(body: &[u8], more: &str) -> Vec<u8> {
    let mut request = format!(
        "POST /admin/backup HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{more}\r\n",
        body.len()
    )
    .into_bytes();
    request.extend_from_slice(body);
    request
}

#[test]
fn bodies_are_bounded_however_they_come() {
    let (_folder, server) = memory(&["--body-bytes-max", "1KiB"]);
    let check = |request: &[u8], status: u16| {
        let mut wire = server.connect();
        wire.send(request);
        let answer = wire.answer(true).unwrap();
        assert_eq!(answer.status, status);
        assert_eq!(answer.text().contains("larger than 1024 bytes (body_bytes_max)"), status == 413);
    };
    check(&post(&[b' '; 1024], ""), 400);
    check(&post(&[b' '; 1025], ""), 413);
    let chunk = format!("100\r\n{}\r\n", " ".repeat(256));
    let head = "POST /admin/backup HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n";
    check(format!("{head}{}0\r\n\r\n", chunk.repeat(4)).as_bytes(), 400);
    check(format!("{head}{}0\r\n\r\n", chunk.repeat(5)).as_bytes(), 413);

    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&[b' '; 100_000]).unwrap();
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 1024);
    check(&post(&bomb, "content-encoding: gzip\r\n"), 413);
    check(&post(&zstd::bulk::compress(&[b' '; 100_000], 1).unwrap(), "content-encoding: zstd\r\n"), 413);
    check(&post(b"{}", "content-encoding: br\r\n"), 415);
    check(&post(b"{}", "content-encoding: gzip\r\n"), 400);
}

#[test]
fn compressed_bodies_are_understood() {
    let (_folder, server) = memory(&[]);
    let mut wire = server.connect();
    let body = zstd::bulk::compress(b"{\"folder\":\"relative/path\"}", 1).unwrap();
    wire.send(&post(&body, "content-encoding: zstd\r\n"));
    let answer = wire.answer(true).unwrap();
    assert!(answer.text().contains("absolute"), "{}", answer.text());
}

#[test]
fn one_connection_too_many_is_told() {
    let (_folder, server) = memory(&["--connections-max", "3"]);
    let mut wires: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for wire in &mut wires {
        assert_eq!(wire.ask("GET /version HTTP/1.1\r\nhost: localhost\r\n\r\n").status, 200);
    }
    let mut fourth = server.connect();
    let answer = fourth.answer(true).unwrap();
    assert_eq!(answer.status, 503);
    assert!(answer.text().contains("connections_max"), "{}", answer.text());
    drop(wires.pop());
    // Its place is free as soon as the server has seen it go.
    await_some("a free place", || (server.get("/version").status == 200).then_some(()));
}

#[test]
fn a_request_too_many_is_told() {
    let (_folder, server) = memory(&["--requests-max", "1"]);
    let mut wire = server.connect();
    wire.send(b"POST /admin/backup HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
    // Asked for its body, the request is under way, and stays so until the body comes.
    assert_eq!(wire.answer(false).unwrap().status, 100);
    let busy = server.get("/version");
    assert_eq!((busy.status, busy.header("retry-after")), (503, Some("1")));
    wire.send(b"{}");
    assert_eq!(wire.answer(true).unwrap().status, 400);
}

#[test]
fn tenants_beyond_the_limit_are_refused() {
    let (_folder, server) = memory(&["--tenants-max", "1", "--repositories-max", "1"]);
    let create = |tenant: &str| {
        let body = r#"{"id":"urn:x:1","type":"T"}"#;
        server.ask(&format!(
            "POST /ngsi-ld/v1/entities HTTP/1.1\r\nhost: localhost\r\nngsild-tenant: {tenant}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ))
    };
    assert_eq!(create("one").status, 201);
    let refused = create("two");
    assert_eq!(refused.status, 422);
    let text = refused.text();
    assert!(text.contains("OperationNotSupported") && text.contains("tenants_max allows 1"), "{text}");
    // Neither the refusal nor a read makes it.
    for _ in 0..2 {
        let read = "GET /ngsi-ld/v1/types HTTP/1.1\r\nhost: localhost\r\nngsild-tenant: two\r\n\r\n";
        assert_eq!(server.ask(read).status, 404);
    }
    for (name, status) in [("a", 201), ("b", 413)] {
        let made = server.post("/tsm/v1/repositories", &format!(r#"{{"Name":"{name}"}}"#));
        assert_eq!(made.status, status, "{}", made.text());
        assert_eq!(made.text().contains("repositories_max allows 1"), status == 413, "{}", made.text());
    }
}

#[test]
fn slow_bodies_and_heads_end() {
    let flags =
        ["--request-duration-max", "100ms", "--header-duration-max", "1s", "--idle-duration-max", "3s"];
    let (_folder, server) = memory(&flags);
    let mut body = server.connect();
    body.send(b"POST /version2 HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n");
    assert_eq!(body.answer(true).unwrap().status, 404);
    let mut head = server.connect();
    head.send(b"GET /version HTTP/1.1\r\nhost");
    let mut idle = server.connect();
    assert_eq!(idle.ask("GET /version HTTP/1.1\r\nhost: localhost\r\n\r\n").status, 200);
    assert!(head.answer(true).is_none());
    assert!(idle.answer(true).is_none());
    assert_eq!(server.metric("twinfold_connections_overdue_total") as u64, 2);
}

/// A handler that looks at its deadline may answer before the server does; both are counted.
#[test]
fn requests_beyond_their_time_are_counted_whoever_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let loading = Server::start(folder.path(), &[]);
    for batch in 0..4 {
        let entities: Vec<_> = (0..1_000)
            .map(|id| {
                format!(r#"{{"id":"urn:e:{batch}:{id}","type":"T","v":{{"type":"Property","value":1}}}}"#)
            })
            .collect();
        let body = format!("[{}]", entities.join(","));
        assert_eq!(loading.post("/ngsi-ld/v1/entityOperations/create", &body).status, 201);
    }
    assert_eq!(loading.stop(), Some(0));
    let server = Server::start(folder.path(), &["--request-duration-max", "2ms"]);
    let query = "/ngsi-ld/v1/entities?type=T&idPattern=none$&count=true";
    let late = (0..40).filter(|_| server.get(query).status == 504).count();
    assert!(late > 0, "no query was late");
    assert_eq!(server.metric("twinfold_requests_timed_out_total") as usize, late);
}

#[test]
fn large_heads_are_refused() {
    let (_folder, server) = memory(&["--header-bytes-max", "8KiB", "--headers-max", "10"]);
    let many = "a: b\r\n".repeat(20);
    let answer = server.ask(&format!("GET /version HTTP/1.1\r\nhost: localhost\r\n{many}\r\n"));
    assert_eq!(answer.status, 431);
    let long = "x".repeat(9000);
    let answer = server.ask(&format!("GET /version HTTP/1.1\r\nhost: localhost\r\na: {long}\r\n\r\n"));
    assert_eq!(answer.status, 431);
}

/// As many connections as the file limit of this process (one file each, and two hundred besides)
/// allows, at most 14,500; at least 500, or the machine cannot run this test.
#[test]
fn thousands_of_connections_stay_open() {
    let files = rlimit::increase_nofile_limit(u64::MAX).unwrap();
    let count = usize::try_from(files.saturating_sub(200)).unwrap().min(14_500);
    assert!(count >= 500, "only {files} files may be open");
    let (_folder, server) = memory(&[]);
    let mut wires: Vec<_> = (0..count).map(|_| server.connect()).collect();
    for wire in wires.iter_mut().step_by(100) {
        assert_eq!(wire.ask("GET /version HTTP/1.1\r\nhost: localhost\r\n\r\n").status, 200);
    }
    let open = server.metric("twinfold_connections_open") as usize;
    assert!(open >= count, "{open} of {count}");
    for wire in wires.iter_mut().rev().step_by(100) {
        assert_eq!(wire.ask("GET /version HTTP/1.1\r\nhost: localhost\r\n\r\n").status, 200);
    }
    assert_eq!(server.stop(), Some(0));
}
