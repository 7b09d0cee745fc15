use std::fs;

use lang_jsonld::CORE_URL;
use model_entities::{Clock, Entities, TenantName, Timestamp};
use store::Store;

use super::*;
use crate::hosted::Stored;
use crate::pool::Document;
use crate::testing::{Page, WebServer, entity_options, of, options, policy};
use crate::{ContextKind, ContextOptions, Contexts, FetchPolicy};

fn contexts() -> Contexts {
    Contexts::new(options()).unwrap()
}

/// Entities, and with them documents, in `store`.
fn entities(store: &Store) -> Entities {
    Entities::new(store.clone(), entity_options())
}

/// Checks what a context answers with: the reference of its `Link`, and its `@context` member.
fn check_echo(context: &RequestContext, link: &str, member: &str) {
    assert_eq!(*context.link(), *link);
    assert_eq!(context.member(), member);
}

#[tokio::test]
async fn the_core_context_in_any_spelling_is_the_cached_one() {
    let contexts = contexts();
    let core = RequestContext::core();
    for url in [CORE_URL, "http://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.3.jsonld"] {
        assert!(Arc::ptr_eq(&core, &of(&contexts).by_link(url).await.unwrap()));
        for member in [format!("\"{url}\""), format!("[\"{url}\"]"), format!("[ \"{url}\", {{}} ]")] {
            assert!(Arc::ptr_eq(&core, &of(&contexts).by_member(&member).await.unwrap()), "{member}");
        }
    }
    for member in ["[]", "{}", "null", "[{}]"] {
        assert!(Arc::ptr_eq(&core, &of(&contexts).by_member(member).await.unwrap()), "{member}");
    }
    check_echo(&core, CORE_URL, &format!("\"{CORE_URL}\""));
}

#[tokio::test]
async fn the_first_version_keeps_its_own_terms() {
    let url = "https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.0.jsonld";
    let context = of(&contexts()).by_member(&format!("[\"{url}\"]")).await.unwrap();
    assert_eq!(context.expand("name"), "https://uri.etsi.org/ngsi-ld/name");
    check_echo(&context, url, &format!("\"{url}\""));
}

#[tokio::test]
async fn what_is_built_in_counts_as_much_as_its_text() {
    let fiware = "https://fiware.github.io/data-models/context.jsonld";
    let own = "https://example.org/own.jsonld";
    let contexts = contexts();
    let of = of(&contexts);
    let gathered = of.gather(&serde_json::json!([fiware, {"a": "urn:a"}])).await.unwrap();
    assert!(gathered.bytes >= ASIDE_BYTES_MIN && !gathered.repeats, "{}", gathered.bytes);
    let core = of.gather(&serde_json::json!([CORE_URL, CORE_URL])).await.unwrap();
    assert!(core.bytes == 0 && !core.repeats);
    let document = Stored { text: r#"{"@context":{"a":"urn:a"}}"#.into(), created: Timestamp(0) };
    let document = Document { stored: document, is_stored: Arc::default() };
    contexts.shared.pool.lock().put_document(of.tenant, None, own, document);
    assert!(!of.gather(&serde_json::json!([own])).await.unwrap().repeats);
    assert!(of.gather(&serde_json::json!([own, own])).await.unwrap().repeats);
}

#[tokio::test]
async fn inline_contexts_are_parsed_once_and_served() {
    let contexts = contexts();
    let member = r#" [ {"a": "https://example.org/a"} ] "#;
    let context = of(&contexts).by_member(member).await.unwrap();
    assert!(Arc::ptr_eq(&context, &of(&contexts).by_member(member).await.unwrap()));
    assert_eq!(context.expand("a"), "https://example.org/a");
    let core = format!("\"{CORE_URL}\"");
    assert_eq!(context.member(), format!(r#"[{{"a":"https://example.org/a"}},{core}]"#));
    let linked = of(&contexts).by_link(&context.link()).await.unwrap();
    assert_eq!(linked.expand("a"), "https://example.org/a");
    for (given, member) in [
        (r#"{"a":"b:c"}"#, format!(r#"[{{"a":"b:c"}},{core}]"#)),
        (&*format!(r#"[{{"a":"b:c"}},{core}]"#), format!(r#"[{{"a":"b:c"}},{core}]"#)),
    ] {
        assert_eq!(of(&contexts).by_member(given).await.unwrap().member(), member);
    }
}

#[tokio::test]
async fn broken_contexts_are_the_clients_fault() {
    for (member, said) in [
        ("[", "@context: unexpected end of JSON at byte 1"),
        ("7", "@context: 7 is neither a URL"),
        ("\"no url\"", "\"no url\" is no URL"),
        ("[[\"no url\"]]", "\"no url\" is no URL"),
        (r#"{"a": "b"}"#, "\"a\" stands for \"b\""),
    ] {
        let error = of(&contexts()).by_member(member).await.unwrap_err();
        assert!(matches!(&error, Error::Invalid(text) if text.contains(said)), "{member}: {error:?}");
    }
}

#[tokio::test]
async fn remote_contexts_are_fetched_once() {
    let server = WebServer::start(&[
        ("/a", Page::Text(r#"{"@context": ["b", {"a": "b:a"}]}"#.into())),
        ("/b", Page::Text(r#"{"@context": {"b": "https://example.org/b/"}}"#.into())),
    ])
    .await;
    let contexts = contexts();
    let url = server.url("/a");
    let all = (0..20).map(|at| {
        let (contexts, url) = (contexts.clone(), url.clone());
        tokio::spawn(async move {
            // Some ask in a form of their own, so that they parse for themselves.
            let own = format!("[\"{url}\", {{\"own{at}\": \"b:own\"}}]");
            if at % 2 == 0 { of(&contexts).by_link(&url).await } else { of(&contexts).by_member(&own).await }
        })
    });
    for context in all.collect::<Vec<_>>() {
        assert_eq!(context.await.unwrap().unwrap().expand("a"), "https://example.org/b/a");
    }
    assert_eq!(server.requests(), 2);
    let context = of(&contexts).by_link(&url).await.unwrap();
    check_echo(&context, &url, &format!("[\"{url}\",\"{CORE_URL}\"]"));
    assert!(Arc::ptr_eq(
        &context,
        &of(&contexts).by_member(&format!("[\"{url}\",\"{CORE_URL}\"]")).await.unwrap()
    ));
    assert!(contexts.shared.fetches.is_idle());
}

#[tokio::test]
async fn requests_that_are_given_up_leave_nothing_behind() {
    let server = WebServer::start(&[("/slow", Page::Silence)]).await;
    let contexts = contexts();
    let url = server.url("/slow");
    let both = async { tokio::join!(of(&contexts).by_link(&url), of(&contexts).by_link(&url)) };
    let asked = async {
        while server.requests() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = both => panic!("the server says nothing"),
        () = asked => {}
    }
    assert_eq!(server.requests(), 1);
    assert!(contexts.shared.fetches.is_idle());
}

#[tokio::test]
async fn what_cannot_be_had_is_not_asked_for_again_at_once() {
    let server = WebServer::start(&[("/a", Page::Status(500)), ("/b", Page::Text("[]".into()))]).await;
    let contexts = contexts();
    for _ in 0..3 {
        let error = of(&contexts).by_link(&server.url("/a")).await.unwrap_err();
        let start = format!("@context {}: ", server.url("/a"));
        assert!(matches!(&error, Error::Unavailable(text) if text.starts_with(&start)), "{error:?}");
    }
    assert_eq!(server.requests(), 1);
    let error = of(&contexts).by_link(&server.url("/b")).await.unwrap_err();
    let said = "no object with a member @context";
    assert!(matches!(&error, Error::Invalid(text) if text.contains(said)), "{error:?}");
}

#[tokio::test]
async fn nothing_is_fetched_unless_it_is_allowed() {
    let server = WebServer::start(&[("/a", Page::Text(r#"{"@context": {}}"#.into()))]).await;
    let fetch = FetchPolicy { allowed: false, ..policy() };
    let contexts = Contexts::new(ContextOptions { fetch, ..options() }).unwrap();
    let error = of(&contexts).by_link(&server.url("/a")).await.unwrap_err();
    for said in [&*server.url("/a"), "--context-fetch", "--contexts"] {
        assert!(matches!(&error, Error::NotAllowed(text) if text.contains(said)), "{error:?}");
    }
    assert_eq!(server.requests(), 0);
    let fiware = of(&contexts).by_link("https://fiware.github.io/data-models/context.jsonld").await.unwrap();
    assert_eq!(fiware.expand("Building"), "https://uri.fiware.org/ns/data-models#Building");
}

#[tokio::test]
async fn preloaded_contexts_need_no_network() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("contexts.toml"), r#""https://example.org/context" = "a.jsonld""#).unwrap();
    fs::write(folder.path().join("a.jsonld"), r#"{"@context": {"a": "https://example.org/a"}}"#).unwrap();
    let fetch = FetchPolicy { allowed: false, ..policy() };
    let options = ContextOptions { folder: Some(folder.path().into()), fetch, ..options() };
    let contexts = Contexts::new(options.clone()).unwrap();
    let context = of(&contexts).by_link("https://example.org/context").await.unwrap();
    assert_eq!(context.expand("a"), "https://example.org/a");
    fs::write(folder.path().join("a.jsonld"), "{").unwrap();
    assert!(Contexts::new(options).unwrap_err().to_string().contains("a.jsonld: "));
}

#[tokio::test]
async fn names_are_cached_for_each_context_and_tenant() {
    let contexts = contexts();
    let entities = entities(&store::testing::memory(Clock::System));
    let other = TenantName::new("other").unwrap();
    let mine = entities.tenant(&TenantName::default()).await.unwrap();
    let theirs = entities.tenant_or_create(&other).await.unwrap();
    let names = of(&contexts).names(&RequestContext::core(), &mine).await;
    assert!(Arc::ptr_eq(&names, &of(&contexts).names(&RequestContext::core(), &mine).await));
    let other_names = contexts.of(&other).names(&RequestContext::core(), &theirs).await;
    assert!(!Arc::ptr_eq(&names, &other_names));
    // Another life of the tenant has numbers of its own for them.
    assert!(entities.remove_tenant(&other).await.unwrap());
    let again = entities.tenant_or_create(&other).await.unwrap();
    assert!(!Arc::ptr_eq(&other_names, &contexts.of(&other).names(&RequestContext::core(), &again).await));
    assert!(Arc::ptr_eq(names.context(), &RequestContext::core()));
}

#[tokio::test]
async fn what_is_fetched_or_written_by_one_tenant_is_no_others() {
    let server = WebServer::start(&[("/a", Page::Text(r#"{"@context": {"a": "x:y"}}"#.into()))]).await;
    let (contexts, other) = (contexts(), TenantName::new("other").unwrap());
    let (url, member) = (server.url("/a"), r#"{"a": "x:z"}"#);
    let mine = of(&contexts).by_link(&url).await.unwrap();
    let theirs = contexts.of(&other).by_link(&url).await.unwrap();
    assert!(!Arc::ptr_eq(&mine, &theirs));
    assert_eq!(server.requests(), 2);
    let inline = of(&contexts).by_member(member).await.unwrap();
    of(&contexts).by_link(&inline.link()).await.unwrap();
    let error = contexts.of(&other).by_link(&inline.link()).await.unwrap_err();
    assert!(error.to_string().contains("this tenant has no such context"), "{error}");
    assert_eq!(contexts.of(&other).list(Some(ContextKind::ImplicitlyCreated)).await.unwrap(), []);
}

#[tokio::test]
async fn what_a_removed_tenant_fetched_or_wrote_is_not_there_for_the_next_of_its_name() {
    let server = WebServer::start(&[("/a", Page::Text(r#"{"@context": {"a": "x:y"}}"#.into()))]).await;
    let (entities, tenant) =
        (entities(&store::testing::memory(Clock::System)), TenantName::new("city").unwrap());
    let contexts = contexts().hosting(entities.clone(), Clock::System);
    let created = entities.tenant_or_create(&tenant).await.unwrap();
    let linked = contexts.of(&tenant).by_link(&server.url("/a")).await.unwrap();
    let inline = contexts.of(&tenant).by_member(r#"{"a": "x:z"}"#).await.unwrap();
    contexts.of(&tenant).names(&linked, &created).await;
    contexts.of(&tenant).by_link(&inline.link()).await.unwrap();
    assert!(entities.remove_tenant(&tenant).await.unwrap());
    assert!(contexts.of(&tenant).by_link(&inline.link()).await.is_err());
    let again = entities.tenant_or_create(&tenant).await.unwrap();
    assert!(contexts.of(&tenant).by_link(&inline.link()).await.is_err());
    contexts.of(&tenant).names(&RequestContext::core(), &again).await;
    assert_eq!(contexts.of(&tenant).list(Some(ContextKind::ImplicitlyCreated)).await.unwrap(), []);
    assert_eq!(server.requests(), 1);
    contexts.of(&tenant).by_link(&server.url("/a")).await.unwrap();
    assert_eq!(server.requests(), 2);
}

#[tokio::test]
async fn what_needs_nothing_but_what_is_built_in_is_parsed_once_for_all_tenants() {
    let (contexts, other) = (contexts(), TenantName::new("other").unwrap());
    let url = "https://fiware.github.io/data-models/context.jsonld";
    let (mine, theirs) = (of(&contexts).by_link(url).await, contexts.of(&other).by_link(url).await);
    assert!(Arc::ptr_eq(&mine.unwrap(), &theirs.unwrap()));
}

#[tokio::test]
async fn a_fetched_document_that_is_no_context_is_forgotten_and_asked_for_again_later() {
    let page = Page::Text(r#"{"@context": {"a": {"@id": "x:a", "@context": {}}}}"#.into());
    let server =
        WebServer::start(&[("/a", page), ("/b", Page::Text(r#"{"@context": {"b": "x:b"}}"#.into()))]).await;
    let store = store::testing::memory(Clock::System);
    let contexts = contexts().hosting(entities(&store), Clock::System);
    let both = format!(r#"["{}", "{}"]"#, server.url("/b"), server.url("/a"));
    for _ in 0..2 {
        let error = of(&contexts).by_member(&both).await.unwrap_err();
        assert!(matches!(&error, Error::Invalid(text) if text.contains("scoped @context")), "{error:?}");
    }
    assert_eq!(server.requests(), 2);
    let urls: Vec<String> =
        contexts.shared.pool.lock().documents(&TenantName::default()).map(|(url, _)| url.into()).collect();
    assert_eq!(urls, [server.url("/b")]);
}

#[tokio::test]
async fn what_was_fetched_before_there_was_a_tenant_is_stored_once_there_is() {
    let server = WebServer::start(&[("/a", Page::Text(r#"{"@context": {"a": "x:y"}}"#.into()))]).await;
    let store = store::testing::memory(Clock::System);
    let (entities, tenant) = (entities(&store), TenantName::new("new").unwrap());
    let first = contexts().hosting(entities.clone(), Clock::System);
    let context = first.of(&tenant).by_link(&server.url("/a")).await.unwrap();
    let created = entities.tenant_or_create(&tenant).await.unwrap();
    first.of(&tenant).names(&context, &created).await;
    let later = contexts().hosting(entities, Clock::System);
    later.of(&tenant).by_link(&server.url("/a")).await.unwrap();
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn a_member_beyond_the_limit_is_refused() {
    let member = format!(r#"{{"a": "x:{}"}}"#, "y".repeat(MEMBER_BYTES_MAX));
    let error = of(&contexts()).by_member(&member).await.unwrap_err();
    assert!(matches!(&error, Error::TooLarge(text) if text.contains("1048576")), "{error:?}");
}
