//! What is found, what is refused, and who words it.

use futures_util::FutureExt as _;
use proptest::prelude::*;

use super::*;
use crate::json_response;

fn route(method: Method, path: &'static str) -> Route {
    let answer = move |(), request: Request| async move {
        json_response(StatusCode::OK, "text/plain", format!("{path} {:?}", request.captures))
    };
    let operation = &Operation::UNDECLARED;
    Route { method, path, operation, handler: handler(&(), answer), is_admin: path.ends_with("search") }
}

fn router() -> Router {
    let things = FrontEnd {
        name: "things",
        prefix: "/things/v1",
        routes: vec![
            route(Method::GET, "/things/v1/things"),
            route(Method::GET, "/things/v1/things/{id}"),
            route(Method::PATCH, "/things/v1/things/{thing}"),
            route(Method::POST, "/things/v1/things/search"),
            route(Method::PATCH, "/things/v1/things/{id}/parts/{part}"),
        ],
        refuse: |refusal, _| json_response(refusal.status(), "application/json", "\"things\""),
    };
    let inner = FrontEnd {
        name: "inner",
        prefix: "/things/v1/inner",
        routes: vec![route(Method::GET, "/things/v1/inner/x")],
        refuse: |refusal, _| json_response(refusal.status(), "application/json", "\"inner\""),
    };
    Router::new(vec![things, inner])
}

fn check(method: &Method, path: &str, expected: &str) {
    let router = router();
    let found = router.find(method, path).unwrap_or_else(|refusal| panic!("{path}: {refusal}"));
    let request = Request { captures: found.captures, ..Request::default() };
    let response = found.handler.answer(request).now_or_never().unwrap();
    assert_eq!(body(response), expected, "{path}");
}

#[test]
fn routes_for_administrators_are_told() {
    let router = router();
    let is_admin = |method, path| router.find(method, path).unwrap().is_admin;
    assert!(is_admin(&Method::POST, "/things/v1/things/search"));
    assert!(!is_admin(&Method::GET, "/things/v1/things/search"), "a thing of that id");
    assert!(router.is_admin("/things/v1/things/search/"), "one of its methods");
    for path in ["/things/v1/things", "/things/v1/things/searching", "/nowhere/search"] {
        assert!(!router.is_admin(path), "{path}");
    }
}

fn check_refused(method: &Method, path: &str, expected: &Refusal, worded_by: &str) {
    let router = router();
    let refusal = router.find(method, path).err().unwrap_or_else(|| panic!("{path} was found"));
    assert_eq!(&refusal, expected, "{path}");
    let response = router.refuse(path, &refusal, None);
    assert_eq!(response.status(), refusal.status());
    if let Refusal::MethodNotAllowed(_) = refusal {
        assert!(response.headers().contains_key(header::ALLOW));
    }
    assert_eq!(body(response), worded_by, "{path}");
}

fn body(response: Response) -> String {
    let crate::Body::Whole(bytes) = response.into_body() else { panic!("a stream") };
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn paths_find_their_routes() {
    check(&Method::GET, "/things/v1/things", "/things/v1/things []");
    check(&Method::HEAD, "/things/v1/things", "/things/v1/things []");
    check(&Method::GET, "/things/v1/things/urn:a:1", "/things/v1/things/{id} [\"urn:a:1\"]");
    check(&Method::PATCH, "/things/v1/things/a", "/things/v1/things/{thing} [\"a\"]");
    check(
        &Method::PATCH,
        "/things/v1/things/a/parts/b",
        "/things/v1/things/{id}/parts/{part} [\"a\", \"b\"]",
    );
    check(&Method::POST, "/things/v1/things/search", "/things/v1/things/search []");
}

#[test]
fn a_word_of_one_method_is_a_name_to_another() {
    check(&Method::GET, "/things/v1/things/search", "/things/v1/things/{id} [\"search\"]");
}

#[test]
fn captures_are_decoded() {
    check(&Method::GET, "/things/v1/things/a%2Fb%20c+d", "/things/v1/things/{id} [\"a/b c+d\"]");
    let detail =
        "the percent encoding of \"a%2\" is broken at byte 1: \"%2\" is not % and two hexadecimal digits";
    let bad = Refusal::BadQuery(detail.to_owned());
    check_refused(&Method::GET, "/things/v1/things/a%2", &bad, "\"things\"");
}

#[test]
fn one_slash_at_the_end_changes_nothing() {
    check(&Method::GET, "/things/v1/things/", "/things/v1/things []");
    check(&Method::GET, "/things/v1/things/a/", "/things/v1/things/{id} [\"a\"]");
    check(
        &Method::PATCH,
        "/things/v1/things/a/parts/b/",
        "/things/v1/things/{id}/parts/{part} [\"a\", \"b\"]",
    );
}

#[test]
fn an_empty_segment_is_a_missing_name() {
    for path in [
        "/things/v1/things//",
        "/things/v1//things",
        "/things/v1/things//parts/b",
        "/things/v1/things/a/parts//b",
        "/things/v1/things/a//parts/b",
        "/things/v1//",
        "/things/v1/things///",
    ] {
        for method in [Method::GET, Method::PATCH, Method::DELETE] {
            check_refused(&method, path, &Refusal::EmptySegment, "\"things\"");
        }
    }
}

#[test]
fn an_empty_segment_is_said_of_a_path_of_nobody_too() {
    for path in ["//things/v1/things/a", "/things//v1/things/a", "///"] {
        check_refused(&Method::GET, path, &Refusal::EmptySegment, "a segment of the path is empty\n");
    }
}

#[test]
fn the_longest_prefix_words_a_refusal() {
    check_refused(&Method::GET, "/things/v1/no", &Refusal::NotFound, "\"things\"");
    check_refused(&Method::GET, "/things/v1/inner/no", &Refusal::NotFound, "\"inner\"");
    check_refused(&Method::GET, "/things/v10", &Refusal::NotFound, "no such path\n");
    check_refused(&Method::GET, "/", &Refusal::NotFound, "no such path\n");
    check_refused(&Method::GET, "*", &Refusal::NotFound, "no such path\n");
}

#[test]
fn other_methods_are_named() {
    let allowed = Refusal::MethodNotAllowed(vec![Method::GET, Method::HEAD, Method::PATCH, Method::OPTIONS]);
    check_refused(&Method::DELETE, "/things/v1/things/a", &allowed, "\"things\"");
    let only = Refusal::MethodNotAllowed(vec![Method::GET, Method::HEAD, Method::OPTIONS]);
    check_refused(&Method::DELETE, "/things/v1/things", &only, "\"things\"");
}

#[test]
fn every_path_says_what_it_allows() {
    let router = router();
    for (path, allowed) in
        [("/things/v1/things/a", "GET, HEAD, PATCH, OPTIONS"), ("/things/v1/things/", "GET, HEAD, OPTIONS")]
    {
        let response = router.options(path).unwrap();
        assert_eq!(response.status(), StatusCode::NO_CONTENT);
        assert_eq!(response.headers()["allow"], allowed, "{path}");
    }
    assert!(router.options("/things/v1/nothing").is_none());
}

#[test]
fn patches_are_said_where_an_operation_declares_them() {
    const CHANGE: Operation = Operation::new("things", "change", "").patched_as("application/yang-data+json");
    let route = |method, operation| Route {
        method,
        path: "/x/{id}",
        operation,
        handler: handler(&(), |(), _| async { empty_response(StatusCode::OK) }),
        is_admin: false,
    };
    let routes = vec![route(Method::PATCH, &CHANGE), route(Method::GET, &Operation::UNDECLARED)];
    let router = Router::new(vec![FrontEnd { name: "x", prefix: "/x", routes, refuse: plain_refusal }]);
    let response = router.options("/x/1").unwrap();
    assert_eq!(response.headers()["accept-patch"], "application/yang-data+json");
}

#[test]
fn routes_are_listed_by_index() {
    let router = router();
    let index = router.find(&Method::GET, "/things/v1/inner/x").unwrap().index;
    assert_eq!(router.routes().nth(index), Some(("inner", &Method::GET, "/things/v1/inner/x")));
    assert_eq!(router.routes().len(), 6);
}

#[test]
#[should_panic(expected = "outside of /b")]
fn a_route_outside_its_prefix_is_a_bug() {
    let routes = vec![route(Method::GET, "/a")];
    Router::new(vec![FrontEnd { name: "b", prefix: "/b", routes, refuse: plain_refusal }]);
}

proptest! {
    #[test]
    fn no_path_panics(path in "[/a-z%0-9é.{}*]{0,40}") {
        let router = router();
        let path = format!("/things/v1/{path}");
        if let Err(refusal) = router.find(&Method::GET, &path) {
            let _ = router.refuse(&path, &refusal, None);
        }
    }

    #[test]
    fn what_is_found_has_no_empty_segment(path in "[/ap]{0,16}(things)?[/ap]{0,8}") {
        let path = format!("/things/v1/{path}");
        if let Ok(found) = router().find(&Method::GET, &path) {
            prop_assert!(found.captures.iter().all(|capture| !capture.is_empty()));
            prop_assert!(!path.contains("//"), "{path}");
        }
    }
}
