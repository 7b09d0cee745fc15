//! Parameters, paths and headers of requests.

use api_http::{
    Conditions, Credentials, DateConditions, FrontEnd, Given, Operation, Parameter, ParameterValue, Params,
    Request, Route, Router, accept, check_parameters, empty_response, handler, percent_decode,
    percent_decode_segment, percent_encode_into, plain_refusal,
};
use egress::{Others, Policy, Target as Host};
use http::header::{AUTHORIZATION, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use crate::{Target, texts};

/// Names and values of a query string.
pub(crate) const PARAMETERS: Target = Target {
    name: "parameters",
    run: parameters,
    seeds: || texts(&["a=7&b=true&c=x&c=", "a=1&b=%20x+y&c&=d&a=2", "q=a%3E%3D1%3Bb&x="]),
};
/// What is encoded is decoded.
pub(crate) const PERCENT: Target =
    Target { name: "percent", run: percent, seeds: || texts(&["a%20b/%e2%82%ac+%", "urn:ngsi-ld:x:ä?&=#"]) };
/// Paths among routes.
pub(crate) const ROUTE: Target = Target {
    name: "route",
    run: route,
    seeds: || {
        texts(&["/x/v1/things/urn%3Ax/parts/7", "/x/v1/things/", "/x/v1/things/all", "//x/v1/../things"])
    },
};
/// Preconditions and accepted media types.
pub(crate) const HEADERS: Target = Target {
    name: "headers",
    run: headers,
    seeds: || {
        let tags = "\"0123456789abcdef0123456789abcdef\", W/\"x\", *";
        texts(&[
            tags,
            "application/ld+json;q=0.5, */*;q=0.1, text/html",
            "application/json; charset=utf-8",
            "Thu, 26 Jan 2017 20:56:30 GMT",
        ])
    },
};
/// URLs that others give us to call.
pub(crate) const URL: Target = Target {
    name: "egress_url",
    run: url,
    seeds: || {
        texts(&[
            "https://user@example.org:8443/a?b#c",
            "http://[::ffff:10.0.0.1]/",
            "http://0x7f.1/",
            "mqtt://localhost",
        ])
    },
};
/// Who asks: the header, tokens, and passwords as they are stored.
pub(crate) const CREDENTIALS: Target =
    Target { name: "credentials", run: credentials, seeds: credential_seeds };

fn credential_seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = access::testing::examples().into_iter().map(String::into_bytes).collect();
    seeds.extend(texts(&["Basic YWRtaW46cGE=", "Bearer a.b.c", "basic ", "Digest x"]));
    seeds
}

fn credentials(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        access::testing::read(text);
    }
    let Ok(value) = HeaderValue::from_bytes(bytes) else { return };
    let mut request = Request::default();
    request.headers.insert(AUTHORIZATION, value);
    if let Ok(Credentials::Password { user, password }) = Credentials::of(&request) {
        assert!(!user.is_empty() && !password.is_empty() && !user.contains(':'));
    }
}

fn parameters(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(params) = Params::parse(text) else { return };
    for (name, value) in params.iter() {
        assert!(params.get(name).is_some());
        assert!(params.get_all(name).any(|other| other == value));
    }
    checked(params);
}

/// Checked parameters are read without a panic, and each that may be given once has one value.
fn checked(params: Params) {
    const A: Parameter = Parameter::new("a", ParameterValue::Number(1), "");
    const B: Parameter = Parameter::new("b", ParameterValue::Flag, "");
    const C: Parameter = Parameter::new("c", ParameterValue::Text, "").repeatable();
    const READ: Operation = Operation::new("", "read", "").query(&[&[A, B], &[C]]);
    let request = Request { params, operation: &READ, ..Request::default() };
    if check_parameters(&request).is_err() {
        return;
    }
    let given = Given::of(&request);
    assert!(given.number(&A, 100).is_err() || given.all(&A).count() <= 1);
    assert!(given.flag(&B).is_err() || given.all(&B).count() <= 1);
    assert_eq!(given.all(&C).next(), given.get(&C));
}

fn percent(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut encoded = String::new();
    percent_encode_into(&text, &mut encoded);
    assert_eq!(percent_decode(&encoded).as_deref(), Some(&*text));
    assert_eq!(percent_decode_segment(&encoded).as_deref(), Some(&*text));
    let _ = (percent_decode(&text), percent_decode_segment(&text));
}

fn route(bytes: &[u8]) {
    let Ok(path) = std::str::from_utf8(bytes) else { return };
    let router = Router::new(vec![FrontEnd {
        name: "x",
        prefix: "/x/v1",
        routes: vec![
            one("/x/v1/things"),
            one("/x/v1/things/all"),
            one("/x/v1/things/{id}"),
            one("/x/v1/things/{id}/parts/{part}"),
        ],
        refuse: plain_refusal,
    }]);
    let found = router.find(&Method::GET, path).is_ok();
    let options = router.options(path).is_some();
    assert!(options || !found, "a path that is found has methods");
    let _ = router.is_admin(path);
}

fn one(path: &'static str) -> Route {
    let answer = |(): (), _: Request| async { empty_response(StatusCode::NO_CONTENT) };
    let operation = &Operation::UNDECLARED;
    Route { method: Method::GET, path, operation, handler: handler(&(), answer), is_admin: false }
}

fn headers(bytes: &[u8]) {
    let Ok(value) = HeaderValue::from_bytes(bytes) else { return };
    let _ = accept(value.to_str().ok(), &["application/json", "application/ld+json"]);
    let mut headers = HeaderMap::new();
    headers.insert(IF_MODIFIED_SINCE, value.clone());
    let _ = DateConditions::of(&Method::GET, &headers).judge(0);
    headers.insert(IF_MATCH, value.clone());
    let _ = Conditions::of(&headers);
    headers.insert(IF_NONE_MATCH, value);
    let _ = Conditions::of(&headers);
}

/// What only the public may be is allowed to all, too; hosts of lists are read.
fn url(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let check = |others| Policy::of_others(others).check_url(text).is_ok();
    let (everyone, public) = (check(Others::Any), check(Others::Public));
    assert!(everyone || !public, "what is public is somewhere");
    let _ = text.parse::<Host>();
}
