//! Starting, stopping, being killed, and not sharing a folder.

use crate::harness::{Server, output, twinfold};

#[test]
fn a_server_says_when_it_is_ready_and_stops_cleanly() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["TERM", "INT"] {
        let server = Server::start(folder.path(), &[]);
        assert!(server.announced[0].starts_with("durability: sync"), "{:?}", server.announced);
        assert_eq!(server.get("/health/live").status, 200);
        assert_eq!(server.get("/health/ready").status, 200);
        server.signal(name);
        assert_eq!(server.wait().code(), Some(0), "after {name}");
    }
}

#[test]
fn two_servers_do_not_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let mut second = twinfold(&["serve", "--listen", "127.0.0.1:0", "--data"]);
    let (code, _, errors) = output(second.arg(folder.path()));
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains("in use") && errors.contains(folder.path().to_str().unwrap()), "{errors}");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_taken_address_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--store", "memory"]);
    let address = server.address.to_string();
    let (code, _, errors) = output(&mut twinfold(&["serve", "--store", "memory", "--listen", &address]));
    assert_eq!(code, Some(1));
    assert!(errors.contains(&address), "{errors}");
}

#[test]
fn damaged_data_ends_with_code_4() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Server::start(folder.path(), &[]).stop(), Some(0));
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap() == "FORMAT" {
            std::fs::write(&path, "twinfold store 999\n").unwrap();
        }
    }
    let mut again = twinfold(&["serve", "--listen", "127.0.0.1:0", "--data"]);
    let (code, _, errors) = output(again.arg(folder.path()));
    assert_eq!(code, Some(4), "{errors}");
}

#[test]
fn a_terminal_that_goes_away_ends_the_server_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--store", "memory"]);
    server.signal("HUP");
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn a_stop_waits_for_requests_under_way_and_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--store", "memory"]);
    // Half a body: the request is under way until the rest comes.
    let mut wire = server.connect();
    let body = "{\"folder\":\"relative\"}";
    wire.send(
        format!(
            "POST /admin/backup HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{}",
            body.len(),
            &body[..5]
        )
        .as_bytes(),
    );
    server.await_request_under_way();
    let mut idle = server.connect();
    assert_eq!(idle.ask("GET /version HTTP/1.1\r\nhost: localhost\r\n\r\n").status, 200);
    server.signal("TERM");
    // The idle connection is closed, new ones are refused, the one at work gets its answer.
    assert!(idle.answer(true).is_none());
    wire.send(&body.as_bytes()[5..]);
    assert_eq!(wire.answer(true).unwrap().status, 400);
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn the_end_of_patience_cuts_off() {
    let folder = tempfile::tempdir().unwrap();
    // The body never comes, so only one or the other can end the server.
    for (second_signal, patience) in [(false, "200ms"), (true, "24h")] {
        let flags = ["--store", "memory", "--shutdown-duration-max", patience];
        let server = Server::start(folder.path(), &flags);
        let mut wire = server.connect();
        wire.send(b"POST /admin/backup HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n");
        server.await_request_under_way();
        server.signal("TERM");
        if second_signal {
            server.signal("INT");
        }
        assert_eq!(server.wait().code(), Some(0));
        assert!(wire.answer(true).is_none());
    }
}
