//! Backups of running and stopped servers, and what they restore to.

use crate::harness::{Server, output, twinfold};

#[test]
fn a_running_server_is_backed_up_and_restored() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let server = Server::start(path("data").as_ref(), &[]);
    let made = server.post("/ngsi-ld/v1/entities", r#"{"id":"urn:x:1","type":"T","a":{"value":1}}"#);
    assert_eq!(made.status, 201, "{}", made.text());
    let tag = |server: &Server| server.get("/ngsi-ld/v1/entities/urn:x:1").header("etag").map(str::to_owned);
    let tag_before = tag(&server);
    assert!(tag_before.is_some());
    let (code, printed, errors) =
        output(&mut twinfold(&["backup", "--server", &server.url, "--to", &path("online")]));
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(printed.contains(&path("online")), "{printed}");
    let (code, _, errors) =
        output(&mut twinfold(&["backup", "--server", &server.url, "--to", &path("online")]));
    assert_eq!(code, Some(1));
    assert!(errors.contains("exists already"), "{errors}");
    // The folder is in use: it cannot be copied from beneath the server.
    let offline = ["backup", "--data", &path("data"), "--to", &path("offline")];
    assert_eq!(output(&mut twinfold(&offline)).0, Some(3));
    assert_eq!(server.stop(), Some(0));
    assert_eq!(output(&mut twinfold(&offline)).0, Some(0));

    for backup in ["online", "offline"] {
        let restored = path(&format!("from-{backup}"));
        let restore = ["restore", "--from", &path(backup), "--data", &restored];
        assert_eq!(output(&mut twinfold(&restore)).0, Some(0));
        let (code, _, errors) = output(&mut twinfold(&restore));
        assert_eq!(code, Some(1));
        assert!(errors.contains("not empty"), "{errors}");
        let server = Server::start(restored.as_ref(), &[]);
        assert_eq!(server.get("/health/ready").status, 200);
        assert_eq!(tag(&server), tag_before, "what is restored is in the state that it was in");
        assert_eq!(server.stop(), Some(0));
    }
}

#[test]
fn what_is_no_store_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (code, _, errors) = output(&mut twinfold(&["backup", "--data", &path("none"), "--to", &path("b")]));
    assert_eq!(code, Some(1));
    assert!(errors.contains("missing or empty"), "{errors}");
    let (code, _, _) = output(&mut twinfold(&["restore", "--from", &path("none"), "--data", &path("d")]));
    assert_ne!(code, Some(0));
    assert!(!folder.path().join("d").exists());
}

#[test]
fn only_this_machine_may_ask_and_no_page_in_a_browser() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path().join("data").as_ref(), &[]);
    let target = folder.path().join("copy");
    let body = format!("{{\"folder\":{:?}}}", target.to_str().unwrap());
    let ask = |more: &str| {
        server.ask(&format!(
            "POST /admin/backup HTTP/1.1\r\n{more}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ))
    };
    assert_eq!(ask("host: localhost\r\ncontent-type: text/plain").status, 400);
    for other in [
        "host: localhost\r\nx-forwarded-for: 10.0.0.1",
        "host: localhost\r\nx-forwarded-proto: https",
        "host: localhost\r\norigin: http://localhost:8080",
        "host: localhost\r\nvia: 1.1 proxy",
        "host: twins.example.org",
    ] {
        assert_eq!(ask(&format!("{other}\r\ncontent-type: application/json")).status, 404, "{other}");
    }
    assert!(!target.exists());
    let answer = ask("host: 127.0.0.1:1026\r\ncontent-type: application/json");
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(target.is_dir());
    let again = ask("host: 127.0.0.1:1026\r\ncontent-type: application/json");
    assert_eq!(again.status, 409);
    assert!(again.text().contains(target.to_str().unwrap()), "{}", again.text());

    let closed = Server::start(folder.path().join("other").as_ref(), &["--admin", "off"]);
    assert_eq!(closed.post("/admin/backup", &body).status, 404);
}

#[test]
fn folders_that_cannot_be_written_are_the_callers_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(&data, &[]);
    let file = folder.path().join("file");
    std::fs::write(&file, "bytes").unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&data, &link).unwrap();
    let check = |target: std::path::PathBuf, words: &str| {
        let answer = server.post("/admin/backup", &format!("{{\"folder\":{target:?}}}"));
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert!(answer.text().contains(words), "{}", answer.text());
        assert!(answer.text().contains(target.to_str().unwrap()), "{}", answer.text());
    };
    check(file.join("copy"), "create");
    check("/proc/none/copy".into(), "create");
    check(folder.path().join("x".repeat(300)), "create");
    check(data.join("copy"), "in the data folder");
    check(data.join("new/copy"), "in the data folder");
    check(link.join("rows/copy"), "in the data folder");
    assert!(!data.join("new").exists());
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn no_other_spelling_of_its_path_reaches_the_backup() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path().join("data").as_ref(), &["--admin", "off"]);
    let target = folder.path().join("copy");
    let body = format!("{{\"folder\":{:?}}}", target.to_str().unwrap());
    for path in ["//admin/backup", "///admin/backup", "/admin//backup", "//admin//backup/"] {
        assert_eq!(server.post(path, &body).status, 400, "{path}");
    }
    assert_eq!(server.post("/admin/backup/", &body).status, 404);
    assert!(!target.exists());
}

#[test]
fn of_two_backups_to_one_folder_at_once_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path().join("data").as_ref(), &[]);
    for round in 0..5 {
        let body =
            format!("{{\"folder\":{:?}}}", folder.path().join(format!("copy {round}")).to_str().unwrap());
        let mut statuses: Vec<u16> = std::thread::scope(|scope| {
            let asked: Vec<_> =
                (0..4).map(|_| scope.spawn(|| server.post("/admin/backup", &body).status)).collect();
            asked.into_iter().map(|asked| asked.join().unwrap()).collect()
        });
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409, 409, 409]);
    }
}

#[test]
fn refusals_name_their_folder_once_and_say_what_would_be_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let server = Server::start(path("data").as_ref(), &[]);
    let check = |arguments: &[&str], named: &str, words: &str| {
        let (_, _, errors) = output(&mut twinfold(arguments));
        assert_eq!(errors.matches(named).count(), 1, "{errors}");
        assert!(errors.contains(words), "{errors}");
    };
    check(&["backup", "--data", &path("data"), "--to", &path("copy")], &path("data"), "--server");
    check(&["restore", "--from", &path("none"), "--data", &path("new")], &path("none"), "no such folder");
    assert_eq!(server.post("/admin/backup", &format!("{{\"folder\":{:?}}}", path("copy"))).status, 200);
    check(&["restore", "--from", &path("copy"), "--data", &path("data")], &path("data"), "not empty");
}
