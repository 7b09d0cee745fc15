//! Every route of the table where everybody must say who he is: what is answered to who says nothing, and to who may do nothing.

use api_http::testing::{Got, Sent};

use crate::service::Service;

/// What is for everybody.
const OPEN: [&str; 7] = [
    "GET /versions",
    "GET /apis",
    "GET /hugegraph/docs",
    "GET /hugegraph/docs/openapi.json",
    "POST /auth/login",
    "DELETE /auth/logout",
    "GET /auth/verify",
];
/// What whoever has a login may ask: lists have what he may see, which is nothing, but for the names of graph spaces.
const SEEN: [(&str, &str); 13] = [
    ("GET /graphspaces", r#"{"graphSpaces":["DEFAULT"]}"#),
    ("GET /graphspaces/profile", r#"[{"name":"DEFAULT","#),
    ("GET /graphspaces/{graphspace}", r#"{"name":"DEFAULT"}"#),
    ("GET /graphs", r#"{"graphs":[]}"#),
    ("GET /auth/users", r#"{"users":[]}"#),
    ("GET /auth/groups", r#"{"groups":[]}"#),
    ("GET /auth/targets", r#"{"targets":[]}"#),
    ("GET /auth/belongs", r#"{"belongs":[]}"#),
    ("GET /auth/accesses", r#"{"accesses":[]}"#),
    ("GET /auth/projects", r#"{"projects":[]}"#),
    ("GET /auth/managers", r#"{"admins":[]}"#),
    ("GET /auth/managers/check", r#"{"check":false}"#),
    ("GET /auth/managers/role", r#"{"user":"boss","graphspace":"DEFAULT","roles":["NONE"]}"#),
];
/// Bodies that make something, and parameters.
const BODIES: [(&str, &str); 7] = [
    ("/auth/users", r#"{"user_name":"clerk","user_password":"secret"}"#),
    ("/auth/groups", r#"{"group_name":"all","group_description":"x"}"#),
    ("/auth/targets", r#"{"target_name":"all","target_graph":"hugegraph","target_url":"url"}"#),
    ("/auth/belongs", r#"{"user":"clerk","group":"all","belong_description":"x"}"#),
    (
        "/auth/accesses",
        r#"{"group":"all","target":"all","access_permission":"READ","access_description":"x"}"#,
    ),
    ("/auth/projects", r#"{"project_name":"all","project_description":"x"}"#),
    ("/auth/managers", r#"{"user":"boss","type":"ADMIN"}"#),
];
/// admin:pa
const ADMIN: &str = "Basic YWRtaW46cGE=";
/// boss:secret
const BOSS: &str = "Basic Ym9zczpzZWNyZXQ=";

/// A route as clients before 1.7 ask for it.
fn shortest(route: &str) -> String {
    let route = route.replace("/graphs/{graph}/auth/", "/auth/");
    match route.split_once("/graphspaces/{graphspace}/") {
        Some((method, rest)) => format!("{method}/{rest}"),
        None => route,
    }
}

/// A path with names in it: of what is there, where it belongs to users.
fn target(path: &str) -> String {
    let id = match path.rsplit_once("/auth/").map_or("", |(_, rest)| rest) {
        rest if rest.starts_with("users") => "clerk",
        rest if rest.starts_with("belongs") => "Sclerk%3E-82%3E%3ESall",
        rest if rest.starts_with("accesses") => "Sall%3E-88%3E11%3ESall",
        _ => "all",
    };
    let query = if path.contains("/auth/managers") { "?type=ADMIN&user=boss" } else { "" };
    let path = path.replace("{graphspace}", "DEFAULT").replace("{graph}", "hugegraph");
    let parts = path.split('/').map(|part| if part.starts_with('{') { id } else { part });
    parts.collect::<Vec<_>>().join("/") + query
}

async fn ask(service: &Service, (method, path): (&str, &str), authorization: Option<&str>) -> Got {
    let body = BODIES.iter().find(|(part, _)| path.contains(part)).map_or("{}", |(_, body)| body);
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    headers.extend(authorization.map(|value| ("authorization".to_owned(), value.to_owned())));
    let body = if matches!(method, "GET" | "DELETE") { "" } else { body };
    let sent = Sent { method: method.to_owned(), target: target(path), headers, body: body.into() };
    service.answer(&sent).await.1
}

/// A user who is in no group, and one of each that users are tied with.
async fn service() -> Service {
    let service = Service::guarded();
    let boss = Sent {
        method: "POST".into(),
        target: "/auth/users".into(),
        headers: [("authorization", ADMIN), ("content-type", "application/json")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        body: r#"{"user_name":"boss","user_password":"secret"}"#.into(),
    };
    assert_eq!(service.answer(&boss).await.1.status, 201);
    for (path, _) in BODIES.iter().filter(|(path, _)| *path != "/auth/managers") {
        let made = ask(&service, ("POST", path), Some(ADMIN)).await;
        assert_eq!(made.status, 201, "{path} {}", made.body);
    }
    service
}

#[tokio::test]
async fn no_route_answers_who_says_nothing_or_may_do_nothing() {
    let service = service().await;
    let mut wrong = Vec::new();
    for route in service.routes() {
        let short = shortest(&route);
        if OPEN.contains(&short.as_str()) {
            continue;
        }
        let route = route.split_once(' ').expect("a method and a path");
        let unknown = ask(&service, route, None).await;
        let known = ask(&service, route, Some(BOSS)).await;
        let seen = SEEN.iter().find(|(route, _)| *route == short);
        let is_right = match seen {
            Some((_, begin)) => known.status == 200 && known.body.starts_with(begin),
            None => known.status == 403,
        };
        if unknown.status != 401 || !is_right {
            wrong.push(format!("{route:?}: {}, {} {}", unknown.status, known.status, known.body));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
