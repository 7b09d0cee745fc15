use api_http::Params;
use bytes::Bytes;
use http::{HeaderMap, HeaderName};
use http_body_util::BodyExt as _;
use model_entities::{Clock, Entities, TenantName, Timestamp};
use serde_json::{Value, json};
use store::Store;
use tenant_contexts::Contexts;
use tenant_contexts::testing::{Page, WebServer, entity_options, of, options};

use super::*;

const CORE: &str = "https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.9.jsonld";

fn store() -> Store {
    store::testing::memory(Clock::System)
}

fn contexts(store: &Store) -> Contexts {
    let clock = Clock::manual(Timestamp(1_700_000_000_000_000));
    let entities = Entities::new(store.clone(), entity_options());
    Contexts::new(options()).unwrap().hosting(entities, clock)
}

/// A request with a query, header fields, a captured id and a body.
fn request(query: &str, headers: &[(&str, &str)], capture: &str, body: &str) -> Request {
    let mut fields = HeaderMap::new();
    for (name, value) in headers {
        fields.insert(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
    }
    const WHATEVER: api_http::Operation = api_http::Operation::new("", "whatever", "").query(&[&[
        params::DETAILS,
        params::KIND,
        params::RELOAD,
    ]]);
    Request {
        operation: &WHATEVER,
        captures: vec![capture.into()],
        params: Params::parse(query).unwrap(),
        headers: fields,
        body: Bytes::copy_from_slice(body.as_bytes()),
        ..Request::default()
    }
}

async fn body(response: Response) -> Value {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&bytes).unwrap()
}

/// Hosts a context; answers its location.
async fn host(contexts: &Contexts, document: &Value) -> String {
    let response = add(of(contexts), &request("", &[], "", &document.to_string())).await.unwrap();
    assert_eq!(response.status(), StatusCode::CREATED);
    response.headers()["location"].to_str().unwrap().to_owned()
}

fn id(location: &str) -> &str {
    location.strip_prefix(LOCAL_PATH).unwrap()
}

async fn listed(contexts: &Contexts, query: &str) -> Value {
    body(list_all(of(contexts), &request(query, &[("host", "broker:1026")], "", "")).await.unwrap()).await
}

#[tokio::test]
async fn hosted_contexts_are_served_used_and_kept() {
    let store = store();
    let first = contexts(&store);
    let document = json!({"@context": {"a": "https://example.org/a"}});
    let location = host(&first, &document).await;
    // Another node, or this one after a restart, has it too.
    for contexts in [first, contexts(&store)] {
        let served =
            serve(of(&contexts), &request("", &[("accept", "application/ld+json")], id(&location), "")).await;
        let served = served.unwrap();
        assert_eq!(served.headers()["content-type"], "application/ld+json");
        assert_eq!(body(served).await, document);
        for url in [format!("http://any.example:80{location}"), location.clone()] {
            assert_eq!(
                of(&contexts).by_link(&url).await.unwrap().expand("a"),
                "https://example.org/a",
                "{url}"
            );
        }
        let member = format!("[\"https://broker{location}\", {{\"b\": \"https://example.org/b\"}}]");
        assert_eq!(of(&contexts).by_member(&member).await.unwrap().expand("a"), "https://example.org/a");
        let details =
            serve(of(&contexts), &request("details=true", &[("host", "h")], id(&location), "")).await;
        assert_eq!(
            body(details.unwrap()).await,
            json!({
                "URL": format!("http://h{location}"),
                "localId": id(&location),
                "kind": "Hosted",
                "createdAt": "2023-11-14T22:13:20Z",
            })
        );
    }
}

#[tokio::test]
async fn the_same_context_twice_has_two_ids() {
    let (one, other) = (contexts(&store()), contexts(&store()));
    let document = json!({"@context": {"a": "https://example.org/a"}});
    let ids = [host(&one, &document).await, host(&one, &document).await];
    assert_ne!(ids[0], ids[1]);
    assert_eq!(ids[0], host(&other, &document).await);
}

#[tokio::test]
async fn deleted_contexts_are_gone() {
    let contexts = contexts(&store());
    let location = host(&contexts, &json!({"@context": {"a": "https://example.org/a"}})).await;
    of(&contexts).by_link(&location).await.unwrap();
    let refused = remove(of(&contexts), &request("reload=true", &[], id(&location), "")).await.unwrap_err();
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let removed = remove(of(&contexts), &request("", &[], id(&location), "")).await.unwrap();
    assert_eq!(removed.status(), StatusCode::NO_CONTENT);
    for outcome in [
        remove(of(&contexts), &request("", &[], id(&location), "")).await,
        serve(of(&contexts), &request("", &[], id(&location), "")).await,
    ] {
        assert_eq!(outcome.unwrap_err().status, StatusCode::NOT_FOUND);
    }
    assert!(of(&contexts).by_link(&location).await.is_err());
}

#[tokio::test]
async fn what_is_no_context_is_not_hosted() {
    let contexts = contexts(&store());
    for (text, kind, said) in [
        ("{", "InvalidRequest", "the body is no JSON"),
        ("[]", "BadRequestData", "the body must be an object with the member @context"),
        ("{}", "BadRequestData", "the body must have the member @context"),
        (r#"{"@context": {"a": "b"}}"#, "BadRequestData", "\"a\" stands for \"b\""),
        (r#"{"@context": "a.jsonld"}"#, "BadRequestData", "\"a.jsonld\" is no URL"),
        (r#"{"@context": "http://127.0.0.1:1/"}"#, "LdContextNotAvailable", "http://127.0.0.1:1/"),
        (r#"{"@context": {"a": {"@id": "x:a", "@context": null}}}"#, "BadRequestData", "scoped @context"),
    ] {
        let problem = add(of(&contexts), &request("", &[], "", text)).await.unwrap_err();
        assert_eq!(problem.kind, kind, "{text}");
        assert!(problem.detail.contains(said), "{text}: {:?}", problem.detail);
    }
    let plain = request("", &[("content-type", "text/plain")], "", "{}");
    assert_eq!(add(of(&contexts), &plain).await.unwrap_err().status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(listed(&contexts, "kind=Hosted").await, json!([]));
}

#[tokio::test]
async fn contexts_are_listed_by_kind() {
    let server = WebServer::start(&[("/a", Page::Text(r#"{"@context": {}}"#.into()))]).await;
    let contexts = contexts(&store());
    let location = host(&contexts, &json!({"@context": {}})).await;
    of(&contexts).by_link(&server.url("/a")).await.unwrap();
    let inline = of(&contexts).by_member(r#"{"a": "https://example.org/a"}"#).await.unwrap();
    let fiware = "https://fiware.github.io/data-models/context.jsonld";
    let cached = [CORE.to_owned(), fiware.into(), server.url("/a")];
    let hosted = [format!("http://broker:1026{location}")];
    let implicit = [format!("http://broker:1026{}", inline.link())];
    assert_eq!(listed(&contexts, "kind=Cached").await, json!(cached));
    assert_eq!(listed(&contexts, "kind=Hosted").await, json!(hosted));
    assert_eq!(listed(&contexts, "kind=ImplicitlyCreated").await, json!(implicit));
    assert_eq!(listed(&contexts, "").await, json!([&cached[..], &hosted, &implicit].concat()));
    let details = listed(&contexts, "details=true").await;
    let kinds: Vec<&str> =
        details.as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["Cached", "Cached", "Cached", "Hosted", "ImplicitlyCreated"]);
    for query in ["details=yes", "kind=hosted"] {
        let problem = list_all(of(&contexts), &request(query, &[], "", "")).await.unwrap_err();
        assert_eq!(problem.status, StatusCode::BAD_REQUEST, "{query}");
    }
    let problem =
        list_all(of(&contexts), &request("", &[("accept", "text/html")], "", "")).await.unwrap_err();
    assert_eq!(problem.status, StatusCode::NOT_ACCEPTABLE);
}

#[tokio::test]
async fn cached_contexts_are_described_reloaded_and_deleted() {
    let server = WebServer::start(&[("/a", Page::Text(r#"{"@context": {"a": "x:y"}}"#.into()))]).await;
    let contexts = contexts(&store());
    let url = server.url("/a");
    of(&contexts).by_link(&url).await.unwrap();
    let problem = serve(of(&contexts), &request("", &[], &url, "")).await.unwrap_err();
    assert_eq!(problem.status, StatusCode::UNPROCESSABLE_ENTITY);
    let details = serve(of(&contexts), &request("details=true", &[], &url, "")).await.unwrap();
    let details = body(details).await;
    assert_eq!(details["URL"], url);
    assert_eq!(server.requests(), 1);

    // By its URL, or by its id.
    for id in [&url, details["localId"].as_str().unwrap()] {
        remove(of(&contexts), &request("reload=true", &[], id, "")).await.unwrap();
    }
    assert_eq!(server.requests(), 3);
    of(&contexts).by_link(&url).await.unwrap();
    assert_eq!(server.requests(), 3);
    remove(of(&contexts), &request("", &[], &url, "")).await.unwrap();
    of(&contexts).by_link(&url).await.unwrap();
    assert_eq!(server.requests(), 4);
}

#[tokio::test]
async fn built_in_contexts_are_served_and_stay() {
    let contexts = contexts(&store());
    for version in ["-v1.0", "-v1.3", "-v1.4", "-v1.9", ""] {
        let url = format!("https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context{version}.jsonld");
        let document = body(serve(of(&contexts), &request("", &[], &url, "")).await.unwrap()).await;
        assert!(document["@context"]["location"].is_string(), "{url}");
        let problem = remove(of(&contexts), &request("", &[], &url, "")).await.unwrap_err();
        assert_eq!(problem.status, StatusCode::UNPROCESSABLE_ENTITY);
    }
    let fiware = "https://fiware.github.io/data-models/context.jsonld";
    let document = body(serve(of(&contexts), &request("", &[], fiware, "")).await.unwrap()).await;
    assert!(document["@context"]["Building"].is_string());
}

#[tokio::test]
async fn fetched_contexts_outlive_a_restart() {
    let server = WebServer::start(&[("/a", Page::Text(r#"{"@context": {"a": "x:y"}}"#.into()))]).await;
    let (store, url) = (store(), server.url("/a"));
    of(&contexts(&store)).by_link(&url).await.unwrap();
    let later = contexts(&store);
    assert_eq!(listed(&later, "kind=Cached").await[2], url);
    assert_eq!(of(&later).by_link(&url).await.unwrap().expand("a"), "x:y");
    assert_eq!(server.requests(), 1);
    remove(of(&later), &request("", &[], &url, "")).await.unwrap();
    assert_eq!(listed(&later, "kind=Cached").await.as_array().unwrap().len(), 2);
    of(&contexts(&store)).by_link(&url).await.unwrap();
    assert_eq!(server.requests(), 2);
}

#[tokio::test]
async fn contexts_of_one_tenant_are_not_those_of_another() {
    let (store, other) = (store(), TenantName::new("other").unwrap());
    let contexts = contexts(&store);
    let mine = host(&contexts, &json!({"@context": {"a": "https://example.org/a"}})).await;
    // A tenant that was never written to has no list; hosting a context creates it.
    let theirs = contexts.of(&other);
    let problem = list_all(theirs, &request("", &[], "", "")).await.unwrap_err();
    assert_eq!((problem.status, problem.kind), (StatusCode::NOT_FOUND, "NonexistentTenant"));
    let added = add(theirs, &request("", &[], "", r#"{"@context": {}}"#)).await.unwrap();
    let own = added.headers()["location"].to_str().unwrap().to_owned();

    for outcome in [
        serve(theirs, &request("", &[], id(&mine), "")).await,
        serve(theirs, &request("details=true", &[], id(&mine), "")).await,
        remove(theirs, &request("", &[], id(&mine), "")).await,
    ] {
        assert_eq!(outcome.unwrap_err().status, StatusCode::NOT_FOUND);
    }
    assert!(matches!(theirs.by_link(&mine).await, Err(tenant_contexts::Error::Invalid(_))));
    let listed = body(list_all(theirs, &request("kind=Hosted", &[], "", "")).await.unwrap()).await;
    assert_eq!(listed, json!([own]));
    assert_eq!(
        body(serve(of(&contexts), &request("", &[], id(&mine), "")).await.unwrap()).await["@context"]["a"],
        "https://example.org/a"
    );
    // What is built in is everybody's.
    for tenant in [of(&contexts), theirs] {
        assert_eq!(
            body(serve(tenant, &request("", &[], CORE, "")).await.unwrap()).await["@context"]["@version"],
            1.1
        );
    }
}

#[tokio::test]
async fn deleting_one_context_leaves_what_was_not_made_from_it() {
    let contexts = contexts(&store());
    let first = host(&contexts, &json!({"@context": {"a": "https://example.org/a"}})).await;
    let second = host(&contexts, &json!({"@context": {"b": "https://example.org/b"}})).await;
    let inline = of(&contexts).by_member(r#"{"c": "https://example.org/c"}"#).await.unwrap();
    let leaning =
        of(&contexts).by_member(&json!([first.replace("/ngsi", "http://h/ngsi"), {}]).to_string()).await;
    leaning.unwrap();
    remove(of(&contexts), &request("", &[], id(&first), "")).await.unwrap();
    let link = inline.link();
    of(&contexts).by_link(&link).await.unwrap();
    of(&contexts).by_link(&second).await.unwrap();
    assert!(of(&contexts).by_link(&first).await.is_err());
    remove(of(&contexts), &request("", &[], id(&link), "")).await.unwrap();
    assert!(of(&contexts).by_link(&link).await.is_err());
}

#[tokio::test]
async fn a_reload_of_what_is_no_context_any_more_changes_nothing() {
    let server = WebServer::start(&[("/a", Page::Text(r#"{"@context": {"a": "x:y"}}"#.into()))]).await;
    let contexts = contexts(&store());
    let url = server.url("/a");
    of(&contexts).by_link(&url).await.unwrap();
    for broken in ["[]", r#"{"@context": 7}"#] {
        server.change("/a", Page::Text(broken.into()));
        let problem = remove(of(&contexts), &request("reload=true", &[], &url, "")).await.unwrap_err();
        assert_eq!((problem.status.as_u16(), problem.kind), (504, "LdContextNotAvailable"), "{broken}");
        assert_eq!(of(&contexts).by_link(&url).await.unwrap().expand("a"), "x:y");
    }
    server.change("/a", Page::Text(r#"{"@context": {"a": "x:z"}}"#.into()));
    remove(of(&contexts), &request("reload=true", &[], &url, "")).await.unwrap();
    assert_eq!(of(&contexts).by_link(&url).await.unwrap().expand("a"), "x:z");
}
