//! The command as a process: the floor, exit codes and reports. The example `campaign` stands for the server's
//! binary, of which it is the part that speaks to other servers.

#![expect(clippy::unwrap_used, reason = "tests panic rather than return errors")]

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

/// Cargo builds examples beside the tests of a crate.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().and_then(|deps| deps.parent()).unwrap().join("examples/campaign");
    assert!(path.exists(), "{} is built by `cargo test -p campaign`, not by single targets", path.display());
    path
}

fn campaign(arguments: &[&str]) -> Output {
    Command::new(program()).arg("campaign").args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A floor as a server under load.
struct Server(Child, String);

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(program())
            .args(["campaign", "floor-server", "--seconds-max", "3600"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.strip_prefix("listening on ").unwrap().trim().to_owned();
        Self(child, url)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn the_list_is_printed() {
    let output = campaign(&["list"]);
    assert!(output.status.success());
    assert!(text(&output.stdout).contains("S-R3"));
}

#[test]
fn a_load_with_errors_writes_reports_and_ends_with_1() {
    // It answers 204 to everything: updates succeed, the creation of their set and the reading back do not.
    let server = Server::start(&["--status", "204"]);
    let folder = tempfile::tempdir().unwrap();
    let (out, pid) = (folder.path().to_str().unwrap(), server.0.id().to_string());
    let run = |extra: &[&str]| {
        let fixed = ["run", "stellio/S-P1", "--target", &server.1, "--target-pid", &pid, "--out", out];
        campaign(&[&fixed[..], &["--profile", "smoke"], extra].concat())
    };
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("| S-P1 |"));
    let json = std::fs::read_to_string(folder.path().join("results.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let row = &json["rows"][0];
    assert_eq!(row["error_kinds"]["setup: 204"]["count"].as_u64(), Some(1_000), "{row}");
    assert_eq!(row["errors"].as_u64(), Some(1_000));
    assert!(row["throughput"].as_f64().unwrap() > 0.0 && row["answers_wrong"].as_u64().unwrap() > 0);
    // How high the ratio is depends on what else the machine does meanwhile.
    assert!(row["floor_ratio"].as_f64().unwrap() > 0.0, "{row}");
    assert!(row["cpu_us_per_op"].is_number() && row["rss_mb"].as_f64().unwrap() > 0.0);
    let before = folder.path().join("before.json");
    std::fs::rename(folder.path().join("results.json"), &before).unwrap();
    run(&["--no-floor", "--compare", before.to_str().unwrap()]);
    assert!(std::fs::read_to_string(folder.path().join("compare.md")).unwrap().contains("| S-P1 |"));
    std::fs::write(&before, r#"{"rows":[{"id":"S-G1","throughput":1}]}"#).unwrap();
    run(&["--no-floor", "--compare", before.to_str().unwrap()]);
    let compared = std::fs::read_to_string(folder.path().join("compare.md")).unwrap();
    assert!(compared.contains("nothing was compared"), "{compared}");
}

#[test]
fn the_floor_answers_the_bytes_asked_for() {
    let server = Server::start(&["--status", "201", "--body-bytes", "3456"]);
    let address = server.1.strip_prefix("http://").unwrap();
    let mut probe = campaign::probe::Probe::new(address.parse().unwrap(), address, "").unwrap();
    let (status, body) = probe.get("/any").unwrap();
    assert_eq!((status, body.len()), (201, 3_456));
    assert_eq!(probe.get("/again").unwrap().0, 201);
}

#[test]
fn what_cannot_run_says_why() {
    let fails = |arguments: &[&str], why: &str| {
        let output = campaign(arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
    };
    fails(&["run", "nothing"], "no family \"nothing\"; there is: stellio");
    fails(&["run", "stellio/S-X9"], "no row \"S-X9\"");
    fails(&["run", "stellio", "--target", "ftp://x"], "only http:// URLs");
    fails(&["run", "stellio", "--compare", "/nowhere.json"], "/nowhere.json");
    fails(&["run", "stellio", "--peer", "postgres"], "built without other databases");
    // A port that is taken, and at which nobody listens.
    let dead = tokio::net::TcpSocket::new_v4().unwrap();
    dead.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}", dead.local_addr().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let why = format!("no server answers at {url}");
    fails(&["run", "stellio", "--target", &url, "--out", out.to_str().unwrap()], &why);
    assert!(!out.exists(), "nothing was measured, so nothing is left");
    // A file where a folder must be: refused even to root, and before our own server is started.
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let beneath = file.join("out");
    fails(&["run", "stellio", "--out", beneath.to_str().unwrap()], "for the reports");
    fails(&["run", "stellio", "--out", file.to_str().unwrap()], "for the reports");
    fails(&["run", "stellio", "--out", "/proc"], "the reports cannot be written into /proc");
    // This program has no `serve`: its server ends at once, and what it said is passed on.
    let out = out.to_str().unwrap();
    fails(
        &["run", "stellio/S-C1", "--profile", "smoke", "--out", out],
        "the server did not come up; its last lines:",
    );
}
