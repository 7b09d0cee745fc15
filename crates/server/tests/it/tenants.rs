//! Tenants over all APIs: made by the first write, removed with everything, whatever ends the server.

use crate::harness::{Answer, Server};

fn json(answer: &Answer) -> serde_json::Value {
    serde_json::from_slice(&answer.body).unwrap()
}

/// What a request with a tenant answers; a body is said to be JSON.
fn of_tenant(server: &Server, tenant: &str, line: &str, body: &str) -> Answer {
    server.ask(&format!(
        "{line} HTTP/1.1\r\nhost: localhost\r\nngsild-tenant: {tenant}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    ))
}

#[test]
fn a_tenant_is_removed_with_its_entities_and_series() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--store", "memory"]);
    let fill = |tenant: &str| {
        let entity = r#"{"id":"urn:x:1","type":"T","a":{"type":"Property","value":1}}"#;
        assert_eq!(of_tenant(&server, tenant, "POST /ngsi-ld/v1/entities", entity).status, 201);
        let series = r#"{"Name":"s","Type":"Spontaneous"}"#;
        let line = "POST /tsm/v1/repositories/default/timeseries";
        assert_eq!(of_tenant(&server, tenant, line, series).status, 201);
    };
    let reads = ["/ngsi-ld/v1/entities/urn:x:1", "/tsm/v1/repositories/default/timeseries/s"];
    let statuses =
        |tenant: &str| reads.map(|path| of_tenant(&server, tenant, &format!("GET {path}"), "").status);
    // TSM takes the other name of the header, too, and makes the tenant on the first write.
    let named = server.ask(
        "PUT /tsm/v1/repositories/grid/units/kWh HTTP/1.1\r\nhost: localhost\r\nfiware-service: lab\r\ncontent-length: 2\r\n\r\n{}",
    );
    assert!(named.status < 300, "{}", named.text());
    assert_eq!(of_tenant(&server, "no", "GET /tsm/v1/repositories", "").status, 404);
    assert_eq!(of_tenant(&server, "a b", "GET /tsm/v1/repositories", "").status, 400);
    // What is refused makes no tenant.
    for (line, body) in [
        ("POST /tsm/v1/repositories", r#"{"Name":"a b"}"#),
        ("PUT /tsm/v1/repositories/a%20b/units/kWh", "{}"),
        ("PUT /tsm/v1/repositories/default/units/kWh", "{"),
    ] {
        assert_eq!(of_tenant(&server, "never", line, body).status, 400, "{line}");
    }
    fill("city");
    fill("town");
    assert_eq!(json(&server.get("/tsm/v1/repositories")), serde_json::json!([]));
    assert_eq!(json(&server.get("/ngsi-ld/ex/v1/tenants")), serde_json::json!(["city", "lab", "town"]));

    let remove = |tenant: &str, headers: &[&str]| {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        server.ask(&format!("DELETE /ngsi-ld/ex/v1/tenants/{tenant} HTTP/1.1\r\n{headers}\r\n"))
    };
    let afar = remove("city", &["host: localhost", "x-forwarded-for: 203.0.113.7"]);
    assert_eq!((afar.status, statuses("city")), (404, [200, 200]));
    for (tenant, status, said) in [
        ("city", 204, ""),
        ("city", 404, "tenant city does not exist"),
        ("default", 400, "the default tenant cannot be removed"),
        ("a%20b", 400, "a tenant name has at most 128"),
    ] {
        let answer = remove(tenant, &["host: localhost"]);
        assert_eq!(answer.status, status, "{tenant}");
        assert!(answer.text().contains(said), "{}", answer.text());
    }
    assert_eq!((statuses("city"), statuses("town")), ([404, 404], [200, 200]));
    let read = of_tenant(&server, "city", "GET /ngsi-ld/v1/types", "");
    assert!(read.text().contains("NonexistentTenant"), "{}", read.text());
    assert_eq!(json(&server.get("/ngsi-ld/ex/v1/tenants")), serde_json::json!(["lab", "town"]));
    fill("city");
    assert_eq!(statuses("city"), [200, 200]);
    // A repository comes again at once, too.
    for status in [204, 404] {
        let line = "DELETE /tsm/v1/repositories/default";
        assert_eq!(of_tenant(&server, "town", line, "").status, status);
    }
    assert_eq!(statuses("town"), [200, 404]);
    assert_eq!(of_tenant(&server, "town", "POST /tsm/v1/repositories", r#"{"Name":"default"}"#).status, 201);
}

/// Killed right after the answer: what was removed stays removed, and its rows go after the next start.
#[test]
fn a_removal_outlives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let tenants: Vec<String> = (0..8).map(|number| format!("t{number}")).collect();
    let entity = r#"{"id":"urn:x:1","type":"T","a":{"type":"Property","value":1}}"#;
    let fill = |server: &Server, tenant: &str| {
        assert_eq!(of_tenant(server, tenant, "POST /ngsi-ld/v1/entities", entity).status, 201);
        let line = "POST /tsm/v1/repositories/default/timeseries";
        let series = r#"{"Name":"s","Type":"Spontaneous"}"#;
        assert_eq!(of_tenant(server, tenant, line, series).status, 201);
    };
    let read = |server: &Server, tenant: &str| {
        let of_entity = of_tenant(server, tenant, "GET /ngsi-ld/v1/entities/urn:x:1", "").status;
        let line = "GET /tsm/v1/repositories/default/timeseries/s";
        (of_entity, of_tenant(server, tenant, line, "").status)
    };
    let mut server = Server::start(folder.path(), &[]);
    tenants.iter().for_each(|tenant| fill(&server, tenant));
    for (gone, tenant) in (1..).zip(&tenants) {
        let line = format!("DELETE /ngsi-ld/ex/v1/tenants/{tenant}");
        assert_eq!(of_tenant(&server, "", &line, "").status, 204);
        server.signal("KILL");
        server.wait();
        server = Server::start(folder.path(), &[]);
        for (number, tenant) in (0..).zip(&tenants) {
            let expected = if number < gone { (404, 404) } else { (200, 200) };
            assert_eq!(read(&server, tenant), expected, "{tenant} when {gone} are gone");
        }
    }
    fill(&server, "t0");
    assert_eq!(read(&server, "t0"), (200, 200));
    assert_eq!(json(&server.get("/ngsi-ld/ex/v1/tenants")), serde_json::json!(["t0"]));
    assert_eq!(server.stop(), Some(0));
}
