//! Stores of each format since the sixth are opened, and hold what was put into them.
//!
//! A fixture is a backup that `write_a_fixture` made with the build of its time: once for each format, when that is final.

use std::path::{Path, PathBuf};

use crate::harness::{Server, output, twinfold};

const ENTITY: &str = r#"{"id":"urn:x:1","type":"T","scope":"/a/b","a":{"type":"Property","value":1},"b":{"type":"Property","value":"north"},"location":{"type":"GeoProperty","value":{"type":"Point","coordinates":[8.5,47.25]}}}"#;
const POINTS: &str = "/tsm/v1/repositories/default/timeseriescollections/data";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn ask(server: &Server, method: &str, path: &str, tenant: &str, body: &str) -> (u16, String) {
    let tenant = if tenant.is_empty() { String::new() } else { format!("NGSILD-Tenant: {tenant}\r\n") };
    let json = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
    let length = body.len();
    let head =
        format!("{method} {path} HTTP/1.1\r\nhost: t\r\n{tenant}{json}content-length: {length}\r\n\r\n");
    let answer = server.ask(&(head + body));
    (answer.status, answer.text())
}

fn fill(server: &Server) {
    let put = |method, path, tenant, body: &str, status| {
        let (told, text) = ask(server, method, path, tenant, body);
        assert_eq!(told, status, "{method} {path}: {text}");
    };
    put("POST", "/ngsi-ld/v1/entities", "", ENTITY, 201);
    put("PATCH", "/ngsi-ld/v1/entities/urn:x:1/attrs/a", "", r#"{"value":2}"#, 204);
    put(
        "POST",
        "/ngsi-ld/v1/entities",
        "",
        r#"{"id":"urn:x:2","type":"T","a":{"type":"Property","value":3}}"#,
        201,
    );
    put("DELETE", "/ngsi-ld/v1/entities/urn:x:2", "", "", 204);
    put(
        "POST",
        "/ngsi-ld/v1/entities",
        "city",
        r#"{"id":"urn:x:1","type":"U","c":{"type":"Property","value":true}}"#,
        201,
    );
    let series = r#"[{"Name":"Meter 0","Type":"Begin","Interval":{"Value":"Hour"}}]"#;
    put("POST", "/tsm/v1/repositories/default/timeseriescollections/definition", "", series, 201);
    let points = r#"[{"Name":"Meter 0","Start":"2026-01-01T00:00:00Z","Values":[1.25,2.5,3]}]"#;
    put("PUT", POINTS, "", points, 204);
}

fn check(server: &Server) {
    let get = |path: &str, tenant| {
        let (status, text) = ask(server, "GET", path, tenant, "");
        assert_eq!(status, 200, "{path}: {text}");
        text
    };
    let entity = get("/ngsi-ld/v1/entities/urn:x:1?options=keyValues", "");
    assert!(
        entity.contains(r#""a":2"#) && entity.contains(r#""b":"north""#) && entity.contains("47.25"),
        "{entity}"
    );
    for query in ["type=T&q=a==2", "type=T&q=b==%22north%22", "type=T&scopeQ=/a/%23", "type=T&attrs=a"] {
        let found = get(&format!("/ngsi-ld/v1/entities?{query}&options=keyValues"), "");
        assert!(found.contains("urn:x:1") && !found.contains("urn:x:2"), "{query}: {found}");
    }
    let past = get(
        "/ngsi-ld/v1/temporal/entities/urn:x:1?options=temporalValues&timeproperty=modifiedAt&attrs=a",
        "",
    );
    assert!(past.contains("[[1,") && past.contains(",[2,"), "{past}");
    let gone =
        get("/ngsi-ld/v1/temporal/entities/urn:x:2?options=temporalValues&timeproperty=modifiedAt", "");
    assert!(gone.contains("[[3,"), "{gone}");
    assert!(get("/ngsi-ld/v1/entities/urn:x:1?options=keyValues", "city").contains(r#""c":true"#));
    assert!(
        get("/ngsi-ld/v1/types", "").contains("T") && get("/ngsi-ld/v1/attributes", "city").contains("c")
    );
    let (status, points) = ask(server, "POST", POINTS, "", r#"{"Names":["Meter 0"],"Form":"csv"}"#);
    assert!(
        status == 200 && ["1.25", "2.5", "3"].iter().all(|value| points.contains(value)),
        "{status} {points}"
    );
    // And it is written on.
    let (status, text) = ask(server, "PATCH", "/ngsi-ld/v1/entities/urn:x:1/attrs/a", "", r#"{"value":4}"#);
    assert_eq!(status, 204, "{text}");
    assert!(get("/ngsi-ld/v1/entities?type=T&q=a==4", "").contains("urn:x:1"));
}

#[test]
fn stores_of_each_format_are_opened() {
    for fixture in std::fs::read_dir(fixtures()).unwrap() {
        let fixture = fixture.unwrap().path();
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let [from, to] = [&fixture, &data].map(|path| path.to_str().unwrap());
        let (code, _, errors) = output(&mut twinfold(&["restore", "--from", from, "--data", to]));
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{from}");
        let server = Server::start(&data, &[]);
        check(&server);
        assert_eq!(server.stop(), Some(0));
    }
}

#[test]
fn the_format_of_today_has_a_fixture() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    assert_eq!(Server::start(&data, &[]).stop(), Some(0));
    let fixture = fixtures().join(name_of(&data));
    assert!(fixture.is_dir(), "{} is missing: see write_a_fixture", fixture.display());
}

/// `format-` and the number that a data folder, or a backup, says.
fn name_of(data: &Path) -> String {
    let said = std::fs::read_to_string(data.join("FORMAT")).unwrap();
    said.lines().find(|line| line.starts_with("format ")).unwrap().replace(' ', "-")
}

/// `cargo test -p server --test it formats -- --ignored`, when a format is final.
#[test]
#[ignore = "writes a fixture into the source tree, if there is none of this format"]
fn write_a_fixture() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("data"), &[]);
    fill(&server);
    let backup = folder.path().join("backup");
    let to = backup.to_str().unwrap();
    assert_eq!(output(&mut twinfold(&["backup", "--server", &server.url, "--to", to])).0, Some(0));
    check(&server);
    assert_eq!(server.stop(), Some(0));
    copy(&backup, &fixtures().join(name_of(&backup)));
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        let to = to.join(file.file_name());
        match file.file_type().unwrap().is_dir() {
            true => copy(&file.path(), &to),
            false => _ = std::fs::copy(file.path(), to).unwrap(),
        }
    }
}
