//! What was acknowledged stays, however the server ends; shown through the NGSI-LD front end.

use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::harness::{PATIENCE, Server, Wire};

const WRITERS: usize = 8;
/// So many entities are acknowledged before the server is ended under load.
const ACKNOWLEDGED_MIN: usize = 400;

fn creation(id: &str) -> String {
    let body = format!(
        "{{\"id\":\"{id}\",\"type\":\"Reading\",\"value\":{{\"type\":\"Property\",\"value\":\"{id}\"}}}}"
    );
    format!(
        "POST /ngsi-ld/v1/entities HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Creates entities until the connection ends; answers those that were acknowledged.
fn write_until_cut(
    mut wire: Wire<TcpStream>,
    writer: usize,
    round: usize,
    acknowledged: &AtomicUsize,
) -> Vec<String> {
    let mut ids = Vec::new();
    for number in 0.. {
        let id = format!("urn:ngsi-ld:Reading:{round}-{writer}-{number}");
        if !send(&mut wire, creation(&id).as_bytes()) {
            break;
        }
        let Some(answer) = wire.answer(true) else { break };
        assert_eq!(answer.status, 201, "{}", answer.text());
        acknowledged.fetch_add(1, Ordering::Relaxed);
        ids.push(id);
        if answer.header("connection") == Some("close") {
            break;
        }
    }
    ids
}

fn send(wire: &mut Wire<TcpStream>, bytes: &[u8]) -> bool {
    std::io::Write::write_all(&mut wire.stream, bytes).is_ok()
}

/// Waits for so many writes. If they do not come the server is killed, so that its writers end.
fn await_acknowledged(server: &Server, acknowledged: &AtomicUsize, min: usize) {
    let started = Instant::now();
    while acknowledged.load(Ordering::Relaxed) < min {
        if started.elapsed() > PATIENCE {
            server.signal("KILL");
            panic!("too few writes");
        }
        std::thread::yield_now();
    }
}

/// Loads a server, ends it with `end` under load, and looks for everything that was acknowledged.
fn check(folder: &Path, round: usize, end: impl FnOnce(&Server)) {
    let server = Server::start(folder, &[]);
    let acknowledged = AtomicUsize::new(0);
    let ids: Vec<String> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                // Connected before the first write: later the server may be gone.
                let (wire, acknowledged) = (server.connect(), &acknowledged);
                scope.spawn(move || write_until_cut(wire, writer, round, acknowledged))
            })
            .collect();
        await_acknowledged(&server, &acknowledged, ACKNOWLEDGED_MIN);
        end(&server);
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    server.wait();
    assert!(ids.len() >= ACKNOWLEDGED_MIN);

    let server = Server::start(folder, &[]);
    let mut wire = server.connect();
    for id in &ids {
        let answer = wire.ask(&format!("GET /ngsi-ld/v1/entities/{id} HTTP/1.1\r\nhost: t\r\n\r\n"));
        assert_eq!(answer.status, 200, "{id} is lost");
        assert!(answer.text().contains(&format!("\"value\":\"{id}\"")), "{}", answer.text());
    }
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_stop_under_load_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..2 {
        check(folder.path(), round, |server| server.signal("TERM"));
    }
}

#[test]
fn a_kill_under_load_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..3 {
        check(folder.path(), round, |server| server.signal("KILL"));
    }
}

#[test]
fn a_backup_under_load_holds_what_was_acknowledged_before() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path().join("data").as_ref(), &[]);
    let before: Vec<_> = (0..50).map(|number| format!("urn:ngsi-ld:Reading:{number}")).collect();
    let mut wire = server.connect();
    for id in &before {
        assert_eq!(wire.ask(&creation(id)).status, 201);
    }
    let acknowledged = AtomicUsize::new(0);
    let copy = folder.path().join("copy");
    std::thread::scope(|scope| {
        let wire = server.connect();
        scope.spawn(|| write_until_cut(wire, 0, 9, &acknowledged));
        await_acknowledged(&server, &acknowledged, 20);
        let body = format!("{{\"folder\":{:?}}}", copy.to_str().unwrap());
        let answer = server.post("/admin/backup", &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        server.signal("KILL");
    });
    let restored = folder.path().join("restored");
    let (code, _, errors) = crate::harness::output(
        crate::harness::twinfold(&["restore", "--from"]).arg(&copy).arg("--data").arg(&restored),
    );
    assert_eq!(code, Some(0), "{errors}");
    let server = Server::start(&restored, &[]);
    for id in &before {
        assert_eq!(server.get(&format!("/ngsi-ld/v1/entities/{id}")).status, 200, "{id} is lost");
    }
}
