//! What happens to a server's data folder and disk while it runs.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::harness::{Answer, Server, await_some};

fn create(server: &Server, number: usize) -> Answer {
    let value = "x".repeat(500);
    let body = format!(r#"{{"id":"urn:x:{number}","type":"T","a":{{"type":"Property","value":"{value}"}}}}"#);
    server.post("/ngsi-ld/v1/entities", &body)
}

fn is_there(server: &Server, number: usize) -> bool {
    server.get(&format!("/ngsi-ld/v1/entities/urn:x:{number}")).status == 200
}

fn put_unit(server: &Server) -> Answer {
    let body = r#"{"Aggregation":"SUM"}"#;
    server.ask(&format!(
        "PUT /tsm/v1/repositories/default/units/kWh HTTP/1.1\r\nhost: localhost\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ))
}

#[track_caller]
fn check_refused(answer: &Answer, status: u16, words: &str) {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert!(answer.text().contains(words), "{}", answer.text());
}

#[test]
fn a_removed_data_folder_is_noticed_and_belongs_to_the_next_server() {
    let folder = tempfile::tempdir().unwrap();
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    let first = Server::start_logging(&data, &[], &log);
    assert_eq!(create(&first, 1).status, 201);
    assert_eq!(put_unit(&first).status, 204);
    std::fs::remove_dir_all(&data).unwrap();
    for number in 2..5 {
        check_refused(&create(&first, number), 503, "data folder was removed");
    }
    check_refused(&put_unit(&first), 503, "data folder was removed");
    check_refused(&first.get("/health/ready"), 503, "removed, renamed or replaced");
    assert_eq!(first.metric("twinfold_store_writable"), 0.0);
    assert!(is_there(&first, 1), "what is open is read");

    let second = Server::start(&data, &[]);
    assert_eq!(create(&second, 7).status, 201);
    check_refused(&create(&first, 7), 503, "data folder was removed");
    assert_eq!(first.stop(), Some(1));
    assert!(is_there(&second, 7));
    assert_eq!(second.stop(), Some(0));
    let third = Server::start(&data, &[]);
    assert!(is_there(&third, 7) && !is_there(&third, 1));

    let log = std::fs::read_to_string(log).unwrap();
    assert_eq!(log.matches("the store only reads what is open").count(), 1, "{log}");
    assert_eq!(log.matches("not ready").count(), 1, "{log}");
}

/// A file system of its own in memory.
struct Disk(PathBuf);

/// What makes a process root of a namespace of its own, where anybody may mount.
const NAMESPACE: [&str; 3] = ["unshare", "--map-root-user", "--mount"];
const MOUNT: [&str; 6] = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs"];

fn run(words: &[&str], path: &Path) -> bool {
    let [program, arguments @ ..] = words else { return false };
    let output = Command::new(program).args(arguments).arg(path).output();
    output.is_ok_and(|output| output.status.success())
}

/// Runs a test of this program again where it may mount. Where that cannot be either (a system without such namespaces, or
/// one that forbids them), it says so and checks nothing; with `TWINFOLD_TEST_STRICT`, as in CI, that is a failure.
#[expect(clippy::disallowed_methods, reason = "a switch of the test run itself")]
fn run_in_namespace(test: &str, path: &Path) {
    if !run(&[&NAMESPACE[..], &MOUNT].concat(), path) {
        let is_strict = std::env::var_os("TWINFOLD_TEST_STRICT").is_some();
        let text = "A FULL DISK IS NOT TESTED: this process may not mount a tmpfs, nor make a namespace where it may";
        assert!(!is_strict, "{text}");
        let _ = writeln!(std::io::stderr(), "SKIPPED: {text}");
        return;
    }
    let [program, arguments @ ..] = NAMESPACE;
    let mut again = Command::new(program);
    again.args(arguments).arg(std::env::current_exe().unwrap()).args([test, "--exact"]);
    let output = again.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

impl Disk {
    /// `None` where this process may not mount.
    fn mount(path: &Path) -> Option<Self> {
        run(&MOUNT, path).then(|| Self(path.to_owned()))
    }

    /// Fills it with a file, or what is left of it with more of the file.
    fn fill(&self) {
        let path = self.0.join("filler");
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        while file.write_all(&[7; 4096]).is_ok() {}
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a server that is killed may still hold files.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Whether everything that writes says that the disk is full.
fn all_refused(disk: &Disk, server: &Server, number: usize) -> bool {
    let copy = format!("{{\"folder\":{:?}}}", disk.0.join("copy").to_str().unwrap());
    let ready = server.get("/health/ready");
    server.metric("twinfold_store_writable") == 0.0
        && (ready.status, ready.text().contains("disk full")) == (503, true)
        && [create(server, number), put_unit(server), server.post("/admin/backup", &copy)].iter().all(
            |answer| {
                let says_so = answer.text().to_ascii_lowercase().replace(' ', "").contains("diskfull");
                (answer.status, says_so) == (507, true)
            },
        )
}

/// Fills the disk until the server takes no write any more: now and then the store still finds room that it had set
/// aside for itself. The numbers of entities that were acknowledged.
fn fill_until_refused(disk: &Disk, server: &Server, first: usize) -> Vec<usize> {
    let (mut created, mut number) = (Vec::new(), first);
    await_some("a full disk", || {
        disk.fill();
        let mut refused = 0;
        while refused < 50 {
            let answer = create(server, number);
            match answer.status {
                201 => {
                    created.push(number);
                    refused = 0;
                }
                507 => refused += 1,
                // While the store is opened again.
                503 => {}
                _ => panic!("{}", answer.text()),
            }
            number += 1;
        }
        number += 1;
        all_refused(disk, server, number).then_some(())
    });
    created
}

#[test]
fn a_full_disk_says_so_and_is_got_over() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mount(folder.path()) else {
        return run_in_namespace("faults::a_full_disk_says_so_and_is_got_over", folder.path());
    };
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("log");
    let data = disk.0.join("data");
    let mut server = Server::start_logging(&data, &["--cache-bytes", "8MiB"], &log);
    let started = Instant::now();
    let mut created = vec![0];
    assert_eq!(create(&server, 0).status, 201);
    for round in 1..3 {
        created.extend(fill_until_refused(&disk, &server, round * 1_000_000));
        assert!(server.metric("twinfold_store_full_total") >= round as f64);
        assert!(is_there(&server, 0), "a full disk is read");
        // Refused writes are told, but not each by a line: one a second of each front end.
        let lines = std::fs::read_to_string(&log).unwrap().matches("store refused").count() as u64;
        assert!(lines <= 2 * (started.elapsed().as_secs() + 1), "{lines} lines");

        std::fs::remove_file(disk.0.join("filler")).unwrap();
        await_some("room", || (server.get("/health/ready").status == 200).then_some(()));
        assert_eq!(create(&server, round).status, 201);
        created.push(round);
        assert_eq!(server.metric("twinfold_store_writable"), 1.0);
        assert!(std::fs::read_to_string(&log).unwrap().contains("there is room on the disk again"));
    }
    for number in &created {
        assert!(is_there(&server, *number), "entity {number} was acknowledged");
    }
    server.signal("KILL");
    let _ = server.wait();
    server = Server::start_logging(&data, &[], &log);
    for number in created {
        assert!(is_there(&server, number), "entity {number} was acknowledged");
    }
}

#[test]
fn a_nearly_full_disk_is_read_and_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    assert_eq!((create(&server, 1).status, create(&server, 2).status), (201, 201));
    assert_eq!(put_unit(&server).status, 204);
    assert_eq!(server.stop(), Some(0));
    // More than any disk has.
    let server = Server::start(folder.path(), &["--disk-free-min", "1000000000GiB"]);
    check_refused(&create(&server, 3), 507, "isk full");
    check_refused(&put_unit(&server), 507, "DiskFull");
    // Not to be taken out: what makes room must reach it.
    check_refused(&server.get("/health/ready"), 200, "disk_free_min");
    let remove =
        |path: &str| server.ask(&format!("DELETE {path} HTTP/1.1\r\nhost: localhost\r\n\r\n")).status;
    assert_eq!(remove("/ngsi-ld/v1/entities/urn:x:1"), 204);
    assert!(!is_there(&server, 1) && is_there(&server, 2));
    assert_eq!(server.metric("twinfold_store_full_total"), 1.0);
    assert_eq!(server.stop(), Some(0));
    let server = Server::start(folder.path(), &["--disk-free-min", "0"]);
    assert!(!is_there(&server, 1) && is_there(&server, 2));
    assert_eq!(create(&server, 3).status, 201);
}
