use std::fmt::Write as _;

use api_http::{Operation, Params, check_parameters};
use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::prelude::*;
use tenant_contexts::RequestContext;

use super::*;
use crate::render::Members;

const NAMES: &[&str] = &["T", "U", "a", "b", "location", "https://uri.fiware.org/ns/data-models#owner"];

const LIMITS: Limits = Limits {
    page_default: 20,
    page_max: 1000,
    batch_entities_max: 10,
    depth_max: 16,
    join_level_max: 4,
    join_entities_max: 10,
    temporal_instances_max: 100,
    q_nodes_max: 10,
    q_values_max: 20,
    geo_positions_max: 100,
    page_bytes_max: 1 << 20,
};

fn names() -> Names {
    Names::of(&RequestContext::core(), NAMES)
}

const QUERYING: Operation = Operation::new("", "query", "").query(QUERY);
const RETRIEVING: Operation = Operation::new("", "retrieve", "").query(ENTITY);
const PURGING: Operation = Operation::new("", "purge", "").query(PURGE);

/// A request with this query part, and headers as `name: value` lines.
fn request(operation: &'static Operation, query: &str, headers: &str) -> Request {
    let mut map = HeaderMap::new();
    for line in headers.lines() {
        let (name, value) = line.split_once(": ").unwrap();
        map.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap());
    }
    Request { params: Params::parse(query).unwrap(), operation, headers: map, ..Request::default() }
}

/// What `read` reads of a request whose parameters are checked.
fn checked<T>(request: &Request, read: impl FnOnce(&Request) -> Result<T, Problem>) -> Result<T, Problem> {
    check_parameters(request)?;
    read(request)
}

fn name(term: TermId) -> &'static str {
    NAMES[term.0 as usize]
}

fn print_members(members: &Members) -> String {
    let flags = [
        (members.id, "id"),
        (members.types, "type"),
        (members.scope, "scope"),
        (members.created_at, "createdAt"),
        (members.modified_at, "modifiedAt"),
        (members.expires_at, "expiresAt"),
    ];
    let mut out: Vec<_> = flags.iter().filter(|(on, _)| *on).map(|(_, name)| (*name).to_owned()).collect();
    for (term, inner) in &members.attributes {
        let inner =
            inner.as_deref().map_or_else(String::new, |inner| format!("{{{}}}", print_members(inner)));
        out.push(format!("{}{inner}", name(*term)));
    }
    out.join(",")
}

/// What differs from the default, a line each.
fn print(params: &EntityParams) -> String {
    let (reading, query) = (&params.reading, &params.query);
    let mut lines: Vec<String> = Vec::new();
    let mut add = |given: bool, line: String| lines.extend(given.then_some(line));
    let body = if reading.context_in_body { " with @context" } else { "" };
    add(reading.media != "application/json" || reading.context_in_body, format!("{}{body}", reading.media));
    add(reading.form != Default::default(), format!("{:?}", reading.form));
    add(reading.sys_attrs, "sysAttrs".to_owned());
    for (word, members) in [("pick", &reading.pick), ("omit", &reading.omit)] {
        let shown = members.as_ref().map(print_members).unwrap_or_default();
        add(members.is_some(), format!("{word} {shown}"));
    }
    let attributes = |terms: &[Option<TermId>]| {
        terms.iter().map(|term| term.map_or("unknown", name)).collect::<Vec<_>>().join(",")
    };
    add(!reading.required.is_empty(), format!("required {}", attributes(&reading.required)));
    add(!query.attributes.is_empty(), format!("attributes {}", attributes(&query.attributes)));
    let languages = reading.languages.as_ref().map(|languages| languages.0.join(",")).unwrap_or_default();
    add(reading.languages.is_some(), format!("lang {languages}"));
    add(!reading.datasets.is_empty(), format!("datasets {:?}", reading.datasets));
    add(reading.geometry.is_some(), format!("geometry {}", reading.geometry.map_or("", name)));
    add(reading.join != Join::None, format!("join {:?} {}", reading.join, reading.join_level));
    add(!reading.contained_by.is_empty(), format!("contained by {}", reading.contained_by.join(",")));
    add(!query.ids.is_empty(), format!("ids {}", query.ids.join(",")));
    let pattern = query.id_pattern.as_ref().map(ToString::to_string).unwrap_or_default();
    add(query.id_pattern.is_some(), format!("pattern {pattern}"));
    add(
        query.types.is_some(),
        format!("types {}", query.types.as_ref().map_or_else(String::new, print_types)),
    );
    for Selector { ids, id_pattern, types } in &query.selectors {
        let pattern = id_pattern.as_ref().map(ToString::to_string).unwrap_or_default();
        let types = types.as_ref().map(print_types).unwrap_or_default();
        add(true, format!("selector {} {pattern} {types}", ids.join(",")));
    }
    add(query.filter.is_some(), "filter".to_owned());
    add(query.scopes.is_some(), "scopes".to_owned());
    add(query.geo.is_some(), "geo".to_owned());
    for order in &query.order {
        let mut key = format!("{:?}", order.key);
        key.truncate(key.find(['(', ' ']).unwrap_or(key.len()));
        add(true, format!("order {key} {}", if order.descending { "desc" } else { "asc" }));
    }
    add((query.offset, query.limit) != (0, 20), format!("page {} {}", query.offset, query.limit));
    add(query.count, "count".to_owned());
    lines.join("\n")
}

fn print_types(types: &model_entities::TypeQuery) -> String {
    use model_entities::TypeQuery::{All, Any, Is};
    let list = |parts: &[_], sign: &str| parts.iter().map(print_types).collect::<Vec<_>>().join(sign);
    match types {
        Is(term) => term.map_or("unknown", name).to_owned(),
        Any(parts) => list(parts, "|"),
        All(parts) => list(parts, ";"),
    }
}

fn printed(params: Result<EntityParams, Problem>) -> String {
    match params {
        Ok(params) => print(&params),
        Err(problem) => {
            let mut out = String::new();
            write!(out, "{} {}: {}", problem.status.as_u16(), problem.kind, problem.detail).unwrap();
            out
        }
    }
}

fn check_headers(query: &str, headers: &str, expected: &str) {
    let found = printed(checked(&request(&QUERYING, query, headers), |request| {
        EntityParams::of_query(request, &names(), &LIMITS)
    }));
    assert_eq!(found, expected, "{query} {headers}");
}

fn check(query: &str, expected: &str) {
    check_headers(query, "", expected);
}

/// Parameters beside `type=T`.
fn check_beside_type(query: &str, expected: &str) {
    let expected = match expected {
        refused if refused.starts_with('4') => refused.to_owned(),
        shown => shown.replace('~', "types T"),
    };
    check(&format!("type=T&{query}"), &expected);
}

fn check_entity(query: &str, headers: &str, expected: &str) {
    let found = printed(checked(&request(&RETRIEVING, query, headers), |request| {
        EntityParams::of_entity(request, &names(), &LIMITS)
    }));
    assert_eq!(found, expected, "{query}");
}

fn check_body(body: &str, query: &str, expected: &str) {
    let found = printed(parse_query_body(body, &request(&QUERYING, query, ""), &names(), &LIMITS));
    assert_eq!(found, expected, "{body} {query}");
}

#[test]
fn which_entities() {
    check("type=T", "types T");
    check("type=T,U", "types T|U");
    check("type=(T;U)%7CNobody", "types T;U|unknown");
    check(
        "type=https://uri.fiware.org/ns/data-models%23owner",
        "types https://uri.fiware.org/ns/data-models#owner",
    );
    check("type=*", "");
    check("local=true", "");
    check("type=*&id=urn:x:1,urn:x:2", "ids urn:x:1,urn:x:2");
    check("local=true&idPattern=^urn:x", "pattern ^urn:x");
    check("q=a%3E5", "filter");
    check("q=modifiedAt%3E2020-01-01T00:00:00Z;nobody", "filter");
    check("local=true&scopeQ=/A", "scopes");
    check("georel=near;maxDistance==2000&geometry=Point&coordinates=%5B8,40%5D", "geo");
    check("attrs=a,nobody", "pick id,type,scope,createdAt,modifiedAt,expiresAt,a\nattributes a,unknown");
    check("type=T&q=a%3E57%3Bb%3D%3D%22Name+of+my+entity%22", "types T\nfilter");
    check(
        "type=T&q=a%3E57%3Bb%3D%3Durn%3Angsi-ld%3ARelation%3A2c3b3a4e-3f38-4c2b-a4e8-7f6f3f0d1c55",
        "types T\nfilter",
    );
}

#[test]
fn queries_that_are_too_wide_are_refused() {
    let wide = "400 BadRequestData: too wide: needs one of type, attrs, q (on attributes beside createdAt and modifiedAt), \
                georel and local=true";
    for query in [
        "",
        "limit=5",
        "options=keyValues",
        "local=false",
        "pick=a",
        "id=urn:x:1",
        "idPattern=.*",
        "scopeQ=/A",
        "id=urn:x:1&idPattern=x&scopeQ=/A",
        "attrs=createdAt,https://uri.etsi.org/ngsi-ld/modifiedAt",
        "q=createdAt%3E2020-01-01T00:00:00Z",
        "q=(createdAt%7CmodifiedAt%3E2020-01-01T00:00:00Z)",
    ] {
        check(query, wide);
    }
    let local = "400 BadRequestData: parameter type=* is local, and cannot stand beside local=false";
    check("type=*&local=false", local);
}

#[test]
fn how_they_are_answered() {
    check_beside_type("options=keyValues", "Simplified\n~");
    check_beside_type("format=simplified", "Simplified\n~");
    check_beside_type("options=concise,sysAttrs", "Concise\nsysAttrs\n~");
    check_beside_type("options=keyValues,sysAttrs&format=normalized", "sysAttrs\n~");
    check_beside_type("lang=fr;q%3D0.5,en,de;q%3D0", "lang en,fr\n~");
    check_beside_type("lang=*", "lang *\n~");
    check_beside_type("datasetId=urn:d:1,@none", "datasets [Some(\"urn:d:1\"), None]\n~");
    check_beside_type("jsonKeys=a&expandValues=a,b&splitEntities=true&local=true&entityMap=false", "~");
    check_beside_type(
        "join=inline&joinLevel=2&containedBy=urn:x:1",
        "join Inline 2\ncontained by urn:x:1\n~",
    );
    check_beside_type("join=flat", "join Flat 1\n~");
    check_beside_type("join=@none", "~");
}

#[test]
fn projections() {
    check_beside_type("pick=id,type,a", "pick id,type,a\nattributes a\n~");
    check_beside_type("pick=a%7Cb", "pick a,b\nattributes a,b\n~");
    check_beside_type("pick=id,type", "pick id,type\n~");
    check_beside_type("omit=scope,nobody", "omit scope\n~");
    check_beside_type("pick=a%7Bb,id%7D,b&join=inline", "pick a{id,b},b\nattributes a,b\njoin Inline 1\n~");
    let join = "needs join, and as much joinLevel as it is deep";
    check_beside_type(
        "pick=a%7Bb%7D",
        &format!("400 BadRequestData: pick: a projection of linked entities {join}"),
    );
    check_beside_type(
        "omit=a%7Bb%7Ba%7D%7D&join=flat",
        &format!("400 BadRequestData: omit: a projection of linked entities {join}"),
    );
    check_beside_type("pick=a,,b", "400 BadRequestData: pick: expected a member's name at byte 2, found ','");
    check_beside_type(
        "pick=a;b",
        "400 BadRequestData: pick: expected \",\", \"|\" or the end at byte 1, found ';'",
    );
    check_beside_type(
        "pick=a%7Bb&join=flat",
        "400 BadRequestData: pick: expected \",\", \"|\" or \"}\", found the end",
    );
    check_beside_type(
        "attrs=a&pick=b",
        "400 BadRequestData: parameter attrs cannot stand beside pick or omit",
    );
    check_beside_type("attrs=a,", "400 BadRequestData: parameter attrs has an empty item");
    check_beside_type(
        "attrs=a%3Cb",
        "400 BadRequestData: parameter attrs: name \"a<b\" holds '<', which no name can",
    );
}

#[test]
fn pages() {
    check_beside_type("limit=30&offset=60&count=true", "~\npage 60 30\ncount");
    check_beside_type("limit=1000", "~\npage 0 1000");
    check_beside_type("limit=0&count=true", "~\npage 0 0\ncount");
    check_beside_type("options=count", "~\ncount");
    check_beside_type("limit=0", "400 BadRequestData: parameter limit may be 0 only with count=true");
    check_beside_type(
        "limit=1001",
        "400 BadRequestData: parameter limit must not be more than 1000 (page_rows_max)",
    );
    for wrong in ["-1", "x", "1.5", "%2B1"] {
        let shown = wrong.replace("%2B", "+");
        check_beside_type(
            &format!("limit={wrong}"),
            &format!(
                "400 BadRequestData: parameter limit must be a whole number of at least 0, not {shown:?}"
            ),
        );
    }
    for (name, most) in [("limit", "1000 (page_rows_max)".to_owned()), ("offset", OFFSET_MAX.to_string())] {
        check_beside_type(
            &format!("{name}=99999999999999999999999"),
            &format!("400 BadRequestData: parameter {name} must not be more than {most}"),
        );
    }
    check_beside_type(
        "offset=-1",
        "400 BadRequestData: parameter offset must be a whole number of at least 0, not \"-1\"",
    );
    check_beside_type("count=yes", "400 BadRequestData: parameter count must be true or false, not \"yes\"");
}

#[test]
fn orders() {
    check_beside_type(
        "orderBy=a,b;desc,id,type;asc",
        "~\norder Value asc\norder Value desc\norder Id asc\norder Type asc",
    );
    check_beside_type("orderBy=a.observedAt,b[x.y]", "~\norder Value asc\norder Value asc");
    check_beside_type("orderBy=location;dist-desc&orderFrom=%5B8,40%5D", "~\norder Distance desc");
    check_beside_type(
        "orderBy=location;dist-asc&orderFrom=%5B%5B8,40%5D,%5B9,42%5D%5D&orderGeometry=LineString",
        "~\norder Distance asc",
    );
    check_beside_type("orderBy=a,b&orderDirection=desc", "~\norder Value desc\norder Value desc");
    check_beside_type(
        "orderBy=a,b&orderDirection=asc,desc&collation=und",
        "~\norder Value asc\norder Value desc",
    );
    check_beside_type(
        "orderBy=a;up",
        "400 BadRequestData: parameter orderBy: \"up\" is none of asc, desc, dist-asc, dist-desc",
    );
    check_beside_type(
        "orderBy=location;dist-asc",
        "400 BadRequestData: parameter orderBy: an order by distance needs orderFrom",
    );
    check_beside_type(
        "orderBy=a==1",
        "400 BadRequestData: orderBy: expected \";\", \",\" or the end at byte 1, found '='",
    );
    check_beside_type("orderBy=scope;desc", "~\norder Scope desc");
    check_beside_type("orderBy=a&collation=de-u-co-phonebk", "~\norder Value asc");
    let no_collation = "400 BadRequestData: parameter collation: \"nonsense-\" is no collation: expected a language tag such as \
                        de-u-co-phonebk";
    check_beside_type("orderBy=a&collation=nonsense-", no_collation);
    check_beside_type("collation=nonsense-", no_collation);
    check_beside_type(
        "orderBy=a%7Bb%7D&join=inline",
        "400 BadRequestData: orderBy: entities are not ordered by what others have that they link to",
    );
}

#[test]
fn headers() {
    let geo = "application/geo+json with @context\ngeometry location\ntypes T";
    check_headers("type=T", "accept: application/json", "types T");
    check_headers("type=T", "accept: */*", "types T");
    check_headers("type=T", "accept: application/ld+json", "application/ld+json with @context\ntypes T");
    check_headers(
        "type=T",
        "accept: application/json;q=0.5, application/ld+json",
        "application/ld+json with @context\ntypes T",
    );
    check_headers("type=T", "accept: application/geo+json", geo);
    check_headers("type=T", "accept: application/geo+json\nprefer: body=ld+json", geo);
    check_headers(
        "type=T",
        "accept: application/geo+json\nprefer: body=json",
        "application/geo+json\ngeometry location\ntypes T",
    );
    check_headers(
        "type=T&geometryProperty=a",
        "accept: application/geo+json\nprefer: return=minimal, body=json",
        "application/geo+json\ngeometry a\ntypes T",
    );
    check_headers("type=T", "prefer: ngsi-ld=1.6", "types T");
    check_headers(
        "type=T",
        "accept: text/html",
        "406 InvalidRequest: Accept admits none of application/json, application/ld+json, application/geo+json",
    );
}

#[test]
fn wrong_values_are_named() {
    let wrong = |query: &str, expected: &str| check_beside_type(query, &format!("400 {expected}"));
    wrong("foo=1", "InvalidRequest: this operation has no parameter \"foo\"");
    wrong("type=U", "InvalidRequest: parameter type is given twice");
    wrong(
        "options=temporalValues",
        "InvalidRequest: parameter options: \"temporalValues\" is none of normalized, concise, simplified, keyValues, sysAttrs, count",
    );
    wrong(
        "format=sysAttrs",
        "InvalidRequest: parameter format: \"sysAttrs\" is none of normalized, concise, simplified, keyValues",
    );
    wrong("join=deep", "BadRequestData: parameter join must be inline, flat or @none, not \"deep\"");
    wrong("join=flat&joinLevel=0", "BadRequestData: parameter joinLevel must be at least 1");
    wrong("joinLevel=1", "BadRequestData: parameter joinLevel needs join");
    wrong("lang=e_n", "BadRequestData: parameter lang: \"e_n\" is not a language tag such as en or fr;q=0.8");
    wrong(
        "lang=en;q%3D2",
        "BadRequestData: parameter lang: \"en;q=2\" is not a language tag such as en or fr;q=0.8",
    );
    wrong("datasetId=x", "BadRequestData: parameter datasetId: \"x\" is not a URI");
    wrong("id=x", "BadRequestData: parameter id: \"x\" is not a URI");
    wrong(
        "idPattern=(",
        "BadRequestData: parameter idPattern: \"(\" is not a pattern that can be used: unclosed group",
    );
    wrong(
        "geometryProperty=a",
        "BadRequestData: parameter geometryProperty needs Accept: application/geo+json",
    );
    wrong("local=1", "BadRequestData: parameter local must be true or false, not \"1\"");
    wrong(
        "geometry=Point",
        "BadRequestData: a geo-query needs georel, geometry and coordinates: georel is missing",
    );
    check_beside_type(
        "join=flat&joinLevel=5",
        "403 TooComplexQuery: parameter joinLevel must not be more than 4 (join_level_max)",
    );
    check_beside_type(
        "csf=a",
        "422 OperationNotSupported: parameter csf: this broker has no context source registrations",
    );
    check_beside_type(
        "entityMap=true",
        "422 OperationNotSupported: parameter entityMap: this broker has no entity maps",
    );
}

#[test]
fn retrievals() {
    check_entity("", "", "page 0 0");
    check_entity(
        "attrs=a,nobody",
        "",
        "pick id,type,scope,createdAt,modifiedAt,expiresAt,a\nrequired a,unknown\npage 0 0",
    );
    check_entity(
        "options=keyValues&pick=a&lang=en&type=T",
        "",
        "Simplified\npick a\nrequired a\nlang en\ntypes T\npage 0 0",
    );
    check_entity("q=a", "", "400 InvalidRequest: this operation has no parameter \"q\"");
    check_entity("limit=1", "", "400 InvalidRequest: this operation has no parameter \"limit\"");
}

#[test]
fn purges() {
    let purge = |query: &str| {
        let query = checked(&request(&PURGING, query, ""), |request| {
            EntityParams::of_purge(request, &names(), &LIMITS, Timestamp(7))
        });
        query
            .map(|query| (query.types.is_some(), query.filter.is_some(), query.now.0))
            .map_err(|problem| problem.detail)
    };
    assert_eq!(purge("type=T&q=a&keep=a,b"), Ok((true, true, 7)));
    assert_eq!(purge("type=*&drop=a"), Ok((false, false, 7)));
    assert_eq!(purge("type=T&keep=a&drop=b").unwrap_err(), "parameters keep and drop exclude each other");
    assert_eq!(purge("type=T&drop=").unwrap_err(), "parameter drop has an empty item");
    assert_eq!(purge("type=T&limit=5").unwrap_err(), "this operation has no parameter \"limit\"");
    for wide in ["drop=a", "idPattern=.*", "id=urn:x:1&scopeQ=/%23", "attrs=createdAt", "q=modifiedAt"] {
        assert!(purge(wide).unwrap_err().starts_with("too wide"), "{wide}");
    }
    assert_eq!(purge("local=true"), Ok((false, false, 7)));
    assert!(purge("q=a%7Bb%7D==1").unwrap_err().contains("linked entities"));
}

#[test]
fn queries_in_bodies() {
    check_body(
        r#"{"type":"Query","entities":[{"type":"T"}],"q":"a>5;b==\"x\"","attrs":["a"],"@context":"x"}"#,
        "limit=5&count=true&options=keyValues",
        "Simplified\npick id,type,scope,createdAt,modifiedAt,expiresAt,a\nattributes a\ntypes T\nfilter\npage 0 5\ncount",
    );
    check_body(
        r#"{"type":"Query","geoQ":{"georel":"near;maxDistance==5","geometry":"Point","coordinates":[8,40],"geoproperty":"location"},
        "scopeQ":"/A","lang":"en","datasetId":["urn:d:1","@none"],"containedBy":["urn:x:9"],"join":"inline","joinLevel":2}"#,
        "",
        "lang en\ndatasets [Some(\"urn:d:1\"), None]\njoin Inline 2\ncontained by urn:x:9\nscopes\ngeo",
    );
    check_body(
        r#"{"type":"Query","geoQ":{"georel":"within","geometry":"Point","coordinates":"[8,40]"},"pick":["a","b"],"expandValues":"a,b"}"#,
        "",
        "pick a,b\nattributes a,b\ngeo",
    );
    check_body(
        r#"{"type":"Query","entities":[{"type":"*"}],"ordering":{"orderBy":["a;desc","location;dist-asc"],"coordinates":[8,40],"geometry":"Point"}}"#,
        "",
        "order Value desc\norder Distance asc",
    );
}

#[test]
fn selectors_of_entities() {
    let selects = |entities: &str, expected: &str| {
        check_body(&format!("{{\"type\":\"Query\",\"entities\":{entities}}}"), "", expected);
    };
    selects(r#"[{"type":"T","id":"urn:x:1"}]"#, "ids urn:x:1\ntypes T");
    selects(r#"[{"type":"T","id":["urn:x:1","urn:x:2"]}]"#, "ids urn:x:1,urn:x:2\ntypes T");
    selects(r#"[{"type":"T","idPattern":"^urn"}]"#, "pattern ^urn\ntypes T");
    selects(r#"[{"type":"T"},{"type":"U"},{"type":"(T;U)"}]"#, "types T|U|T;U");
    selects(r#"[{"type":"T","id":"urn:x:1"},{"type":"T","id":"urn:x:2"}]"#, "ids urn:x:1,urn:x:2\ntypes T");
    selects(r#"[{"type":"T","id":"urn:x:1"},{"type":"T"}]"#, "types T");
    selects(r#"[{"type":"T","idPattern":"a"},{"type":"T","idPattern":"b"}]"#, "selector  a T\nselector  b T");
    selects(r#"[{"type":"T"},{"type":"*"}]"#, "");
    selects(
        r#"[{"type":"T","id":"urn:x:1"},{"type":"U","id":"urn:x:2"},{"type":"U","id":"urn:x:3"}]"#,
        "selector urn:x:1  T\nselector urn:x:2,urn:x:3  U",
    );
    selects(r#"[{"type":"T"},{"type":"*","idPattern":"^urn"}]"#, "selector   T\nselector  ^urn ");
    selects(r#"[{"type":"T"},{"type":"T"}]"#, "types T");
    selects("[]", "400 BadRequestData: member entities must not be empty");
    selects("{}", "400 BadRequestData: member entities must be an array");
    selects("[7]", "400 BadRequestData: members of entities must be objects of id, idPattern and type");
    selects(
        r#"[{"typ":"T"}]"#,
        "400 BadRequestData: members of entities must be objects of id, idPattern and type",
    );
    selects(
        r#"[{"id":"urn:x:1"}]"#,
        "400 BadRequestData: an entity selector must have a type (\"*\" for any)",
    );
    selects(r#"[{"id":"x","type":"T"}]"#, "400 BadRequestData: parameter entities: \"x\" is not a URI");
}

#[test]
fn wrong_bodies_are_named() {
    check_body("{", "", "400 InvalidRequest: the body is not JSON: unexpected end of JSON at byte 1");
    check_body("[]", "", "400 BadRequestData: a query must be a JSON object");
    check_body("{}", "", "400 BadRequestData: a query must have the type \"Query\"");
    check_body(r#"{"type":"Q"}"#, "", "400 BadRequestData: member type must be \"Query\"");
    check_body(r#"{"type":"Query","foo":1}"#, "", "400 BadRequestData: a query has no member \"foo\"");
    check_body(r#"{"type":"Query","attrs":[]}"#, "", "400 BadRequestData: member attrs must not be empty");
    check_body(
        r#"{"type":"Query","attrs":[7]}"#,
        "",
        "400 BadRequestData: member attrs must be a text, a number, true, false or a list of texts",
    );
    check_body(r#"{"type":"Query","geoQ":7}"#, "", "400 BadRequestData: member geoQ must be an object");
    check_body(
        r#"{"type":"Query","geoQ":{"x":7}}"#,
        "",
        "400 BadRequestData: member geoQ has no member \"x\"",
    );
    check_body(
        r#"{"type":"Query","temporalQ":{}}"#,
        "",
        "400 BadRequestData: member temporalQ belongs to temporal queries",
    );
    check_body(r#"{"type":"Query","q":"a"}"#, "q=b", "400 InvalidRequest: parameter q is given twice");
}

proptest! {
    #[test]
    fn never_panics_on_parameters(
        parameter in prop::sample::select(QUERY.concat()),
        value in "[ab,;|(){}\\[\\]=<>\"'0-9.:*@#/+-]{0,24}",
    ) {
        let query = format!("type=T&{}={}", parameter.name, value.replace('#', "%23").replace('+', "%2B"));
        if let Ok(params) = Params::parse(&query) {
            let request = Request { params, operation: &QUERYING, ..Request::default() };
            let _ = EntityParams::of_query(&request, &names(), &LIMITS);
            if PURGING.has(&parameter) {
                let request = Request { operation: &PURGING, ..request };
                let _ = EntityParams::of_purge(&request, &names(), &LIMITS, Timestamp(0));
            }
        }
    }

    #[test]
    fn never_panics_on_bodies(body in "(\\{\"type\":\"Query\",)?(\"(q|attrs|entities|geoQ|pick|lang|join)\":)?[\\[\\]{}\",:0-9a-b]{0,30}\\}?") {
        let _ = parse_query_body(&body, &request(&QUERYING, "", ""), &names(), &LIMITS);
    }
}
