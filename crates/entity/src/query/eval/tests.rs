//! Conditions by table: an entity, a condition, whether it holds.

use serde_json::{Value, json};

use super::*;
use crate::testing::query::{entity, filter, path, query, term};
use crate::{Filter, TypeQuery};
use regex::Regex;
use store::Deadline;

fn pace() -> Pace {
    Pace::new(Deadline::default())
}

fn holds(json: &Value, query: &Query) -> bool {
    let bytes = entity(json);
    let (matcher, mut links) = (Matcher::new(query), Links::default());
    let found = matcher.matches(&EntityView::parse(&bytes).unwrap(), &mut links, &mut pace());
    assert!(links.wanted.is_empty());
    found
}

#[track_caller]
fn check(json: &Value, condition: &str, expected: bool) {
    assert_eq!(holds(json, &query(Some(filter(condition)))), expected, "{condition} of {json}");
}

#[track_caller]
fn check_all(json: &Value, holding: &[&str], failing: &[&str]) {
    for condition in holding {
        check(json, condition, true);
    }
    for condition in failing {
        check(json, condition, false);
    }
}

#[test]
fn numbers_compare_by_value() {
    let car = json!({"speed": {"value": 50.5}, "n": {"value": 1e3}, "b": {"value": 9007199254740993_u64}});
    check_all(
        &car,
        &[
            "speed == 50.5",
            "speed == 1,50.5",
            "speed == 50..51",
            "speed == 50.5..50.5",
            "speed != 50",
            "speed != 51..52",
            "speed > 50",
            "speed >= 50.5",
            "speed < 51",
            "speed <= 50.5",
            "n == 1000",
            "b == 9007199254740993",
            "b > 9007199254740000",
        ],
        &[
            "speed == 50",
            "speed == 1,2",
            "speed == \"50.5\"",
            "speed == 51..52",
            "speed != 50.5",
            "speed != 1,50.5",
            "speed != 50..51",
            "speed > 50.5",
            "speed < 50.5",
            "speed >= 51",
            "speed <= 50",
            "speed > \"5\"",
            "speed > 1,2",
        ],
    );
}

#[test]
fn texts_compare_whole_and_in_order() {
    let car = json!({"name": {"value": "Bob \"the\" \u{e9}"}, "e": {"value": ""}});
    check_all(
        &car,
        &[
            r#"name == "Bob \"the\" é""#,
            r#"name != "Bob""#,
            r#"name > "Bob""#,
            r#"name < "Boc""#,
            r#"name == "A".."C""#,
            r#"e == """#,
            r#"name ~= ^Bob "the"#,
            "name ~= é$",
            "name !~= Alice",
            r#"name != 5"#,
        ],
        &[
            r#"name == "Bob""#,
            r#"name != "Bob \"the\" é""#,
            r#"name < "Bob""#,
            r#"name == "C".."D""#,
            "name ~= Alice",
            "name !~= Bob",
            "name == 5",
            "name == true",
        ],
    );
}

#[test]
fn booleans_and_null() {
    let car = json!({"a": {"value": true}, "b": {"value": false}, "n": {"value": null}});
    check_all(
        &car,
        &["a == true", "b == false", "a != false", "n == null", "n", "b != 1"],
        &["a == false", "a != true", "a == \"true\"", "a > false", "b == null", "n == false"],
    );
}

#[test]
fn paths_that_lead_nowhere() {
    let car = json!({"a": {"value": 1, "m": {"value": 2}}});
    check_all(
        &car,
        &["a", "a.m", "!b", "!a.x", "a.m == 2", "a.m != 3", "!unknown", "!a.unknown"],
        &["b", "!a", "b == 1", "b != 1", "b !~= x", "a.x != 3", "unknown", "unknown != 1", "a.unknown != 1"],
    );
}

#[test]
fn any_element_counts_and_none_where_negated() {
    let car = json!({"a": {"value": [1, "two", true, [7], {"x": 3}]}, "e": {"value": []}});
    check_all(
        &car,
        &["a == 1", "a == \"two\"", "a == true", "a > 0", "a ~= tw", "a != 2", "a[x] == 3", "e", "e != 1"],
        &["a == 2", "a != 1", "a !~= two", "a == 7", "a == 3", "a[x] == 4", "e == 1"],
    );
    let list = json!({"a": {"type": "ListProperty", "valueList": [1, 2]},
        "r": {"type": "ListRelationship", "objectList": ["urn:a", "urn:b"]}});
    check_all(&list, &["a == 2", "r == \"urn:b\""], &["a == 3", "a != 2", "r == \"urn:c\""]);
}

#[test]
fn relationships_have_no_order_and_no_pattern() {
    let car = json!({"r": {"type": "Relationship", "object": "urn:b"},
        "m": [{"type": "Relationship", "object": "urn:b"}, {"value": "urn:c", "datasetId": "urn:d:1"}]});
    check_all(
        &car,
        &[
            "r == \"urn:b\"",
            "r != \"urn:c\"",
            "r == \"urn:a\",\"urn:b\"",
            "r",
            "m > \"urn:b\"",
            "m ~= c$",
            "m !~= x",
        ],
        &[
            "r > \"urn:a\"",
            "r >= \"urn:b\"",
            "r < \"urn:c\"",
            "r <= \"urn:b\"",
            "r ~= ^urn",
            "r !~= ^other",
            "m < \"urn:c\"",
            "m ~= b$",
        ],
    );
    let numbers = json!({"n": {"value": 5}, "t": {"value": [5, "five"]}});
    check_all(&numbers, &["t !~= x"], &["n ~= 5", "n !~= x", "t !~= five"]);
}

#[test]
fn any_instance_counts() {
    let car =
        json!({"speed": [{"value": 0.34, "datasetId": "urn:d:1"}, {"value": 0.41, "datasetId": "urn:d:2"}]});
    check_all(
        &car,
        &["speed > 0.4", "speed < 0.4", "speed.datasetId == \"urn:d:2\"", "speed != 0.5"],
        &["speed > 0.5", "speed != 0.41", "speed.datasetId == \"urn:d:3\""],
    );
    for (datasets, condition, expected) in [
        (vec![Some("urn:d:1")], "speed > 0.4", false),
        (vec![Some("urn:d:2")], "speed > 0.4", true),
        (vec![Some("urn:d:1"), Some("urn:d:2")], "speed > 0.4", true),
        (vec![None], "speed", false),
        (vec![None], "!speed", true),
    ] {
        let datasets = datasets.into_iter().map(|dataset| dataset.map(Into::into)).collect();
        let query = Query { datasets, ..query(Some(filter(condition))) };
        assert_eq!(holds(&car, &query), expected, "{condition}");
    }
}

#[test]
fn members_inside_of_values() {
    let car = json!({"a": {"value": {"street": "Main", "no": {"n": 5}, "x": [{"y": 1}, {"y": 2}], "z": null}},
        "j": {"type": "JsonProperty", "json": {"@value": 5, "k": [1]}}});
    check_all(
        &car,
        &[
            "a[street] == \"Main\"",
            "a[no.n] == 5",
            "a[no.n] > 4",
            "a[x.y] == 2",
            "a[z]",
            "a[street] != \"Side\"",
            "a != 5",
            "j[k] == 1",
            "j[@value] == 5",
        ],
        &["a[street] == \"Side\"", "a[no.m]", "a[no.m] != 5", "a[street.x]", "a == 5", "j == 5"],
    );
}

#[test]
fn typed_values_compare_as_their_value() {
    let car = json!({"t": {"value": {"@type": "DateTime", "@value": "2023-04-01T12:00:00Z"}},
        "p": {"value": "2023-04-01T14:00:00.000+02:00"}, "n": {"value": {"@type": "x", "@value": 5}}});
    check_all(
        &car,
        &[
            "t == 2023-04-01T12:00:00Z",
            "p == 2023-04-01T12:00:00Z",
            "t > 2023-04-01T11:59:59Z",
            "t == 2023-04-01T00:00:00Z..2023-04-02T00:00:00Z",
            "t == \"2023-04-01T12:00:00Z\"",
            "t < \"2023-04-02\"",
            "t != 2023-04-01T12:00:01Z",
            "n == 5",
            "n != 2023-04-01T12:00:01Z",
        ],
        &["t != 2023-04-01T12:00:00Z", "t < 2023-04-01T12:00:00Z", "n == 2023-04-01T12:00:01Z"],
    );
}

#[test]
fn members_beside_the_value() {
    let car = json!({"a": {"value": 1, "observedAt": "2023-04-01T12:00:00Z", "unitCode": "CEL",
        "m": {"value": 2, "observedAt": "2024-04-01T12:00:00Z"}}});
    check_all(
        &car,
        &[
            "a.observedAt > 2023-01-01T00:00:00Z",
            "a.observedAt == \"2023-04-01T12:00:00Z\"",
            "a.m.observedAt > 2024-01-01T00:00:00Z",
            "a.unitCode == \"CEL\"",
            "a.unitCode ~= ^C",
            "a.unitCode != \"FAR\"",
            "a.observedAt",
            "!a.datasetId",
            "createdAt == 1970-01-01T00:00:01Z",
            "modifiedAt > 1970-01-01T00:00:01Z",
            "a.createdAt == 1970-01-01T00:00:01Z",
        ],
        &["a.observedAt > 2024-01-01T00:00:00Z", "a.unitCode != \"CEL\"", "a.datasetId", "a.observedAt == 1"],
    );
}

#[test]
fn languages() {
    let street = json!({"street": {"type": "LanguageProperty",
        "languageMap": {"en": "Grand Place", "fr": ["Grande Place", "Place"], "nl-BE": "Grote Markt"}}});
    check_all(
        &street,
        &[
            "street[en] == \"Grand Place\"",
            "street[fr] == \"Place\"",
            "street[NL-be] ~= Markt$",
            "street[*] == \"Grote Markt\"",
            "street == \"Grote Markt\"",
            "street[en] != \"Place\"",
            "street[fr]",
        ],
        &[
            "street[en] == \"Place\"",
            "street[de]",
            "street[de] != \"Platz\"",
            "street[*] == \"Platz\"",
            "street[*] != \"Grand Place\"",
            "street[en.x]",
        ],
    );
    let vocab = json!({"v": {"type": "VocabProperty", "vocab": ["urn:x:a", "urn:x:b"]}});
    check_all(&vocab, &["v == \"urn:x:b\""], &["v == \"urn:x:c\""]);
}

#[test]
fn and_or() {
    let car = json!({"a": {"value": 1}, "b": {"value": 2}});
    let all = |conditions: &[&str]| conditions.iter().map(|text| filter(text)).collect::<Vec<_>>();
    for (filter, expected) in [
        (Filter::And(all(&["a == 1", "b == 2"])), true),
        (Filter::And(all(&["a == 1", "b == 3"])), false),
        (Filter::Or(all(&["a == 2", "b == 2"])), true),
        (Filter::Or(all(&["a == 2", "b == 3"])), false),
        (Filter::Or(vec![Filter::And(all(&["a == 1", "b == 3"])), Filter::Or(all(&["b == 2"]))]), true),
        (Filter::And(vec![]), true),
        (Filter::Or(vec![]), false),
    ] {
        assert_eq!(holds(&car, &query(Some(filter))), expected);
    }
}

#[test]
fn heads() {
    let car = json!({"id": "urn:car:7", "type": ["Car", "Bike"], "scope": ["/A/B"], "a": {"value": 1}});
    let all = query(None);
    let is = |name: &str| TypeQuery::Is(Some(term(name)));
    let scope = |levels: &[&str]| ScopeQuery::Matches(levels.iter().map(|level| (*level).into()).collect());
    for (query, expected) in [
        (Query { ids: vec!["urn:car:8".into(), "urn:car:7".into()], ..all.clone() }, true),
        (Query { ids: vec!["urn:car:8".into()], ..all.clone() }, false),
        (Query { id_pattern: Regex::new("car:.$").ok(), ..all.clone() }, true),
        (Query { id_pattern: Regex::new("^car").ok(), ..all.clone() }, false),
        (Query { selectors: vec![Selector::default()], ..all.clone() }, true),
        (Query { types: Some(is("Bike")), ..all.clone() }, true),
        (Query { types: Some(is("Town")), ..all.clone() }, false),
        (Query { types: Some(TypeQuery::All(vec![is("Bike"), is("Car")])), ..all.clone() }, true),
        (Query { scopes: Some(scope(&["A", "+"])), ..all.clone() }, true),
        (Query { scopes: Some(scope(&["B"])), ..all.clone() }, false),
        (Query { attributes: vec![Some(term("b")), Some(term("a"))], ..all.clone() }, true),
        (Query { attributes: vec![Some(term("b")), None], ..all.clone() }, false),
        (Query { attributes: vec![None], ..all }, false),
    ] {
        assert_eq!(holds(&car, &query), expected, "{query:?}");
    }
}

#[test]
fn what_expired_is_gone() {
    let car = json!({"expiresAt": "2025-01-01T00:00:00Z",
        "a": {"value": 1, "expiresAt": "2024-01-01T00:00:00Z", "m": {"value": 1}},
        "b": {"value": 1, "m": {"value": 2, "expiresAt": "2024-01-01T00:00:00Z"}}});
    for (now, condition, expected) in [
        ("2023-12-31T23:59:59Z", "a.m", true),
        ("2024-01-01T00:00:00Z", "a", false),
        ("2024-01-01T00:00:00Z", "!a", true),
        ("2024-01-01T00:00:00Z", "b", true),
        ("2024-01-01T00:00:00Z", "b.m", false),
        ("2025-01-01T00:00:00Z", "b", false),
        ("2025-01-01T00:00:00Z", "!a", false),
    ] {
        let now = super::super::moment::parse_moment(now).unwrap();
        assert_eq!(holds(&car, &Query { now, ..query(Some(filter(condition))) }), expected, "{condition}");
    }
}

#[test]
fn geometry_of_any_instance() {
    let at = |x: f64| json!({"type": "Point", "coordinates": [x, 0.0]});
    let car = json!({"location": [{"type": "GeoProperty", "value": at(0.0)},
        {"type": "GeoProperty", "value": at(5.0), "datasetId": "urn:d:1"}], "a": {"value": at(7.0)}});
    let ask = |name: Option<TermId>, x: f64| Query {
        geo: Some(super::super::GeoQuery {
            attribute: name,
            relation: GeoRelation::Near { max: Some(1.0), min: None },
            geometry: Geometry::Point((x, 0.0).into()),
        }),
        ..query(None)
    };
    for (name, x, expected) in [
        (Some("location"), 0.0, true),
        (Some("location"), 5.0, true),
        (Some("location"), 1.0, false),
        (Some("a"), 7.0, false),
        (Some("b"), 0.0, false),
        (None, 0.0, false),
    ] {
        assert_eq!(holds(&car, &ask(name.map(term), x)), expected, "{name:?} {x}");
    }
}

#[test]
fn links_are_wanted_and_then_followed() {
    let car = entity(&json!({"owner": {"type": "Relationship", "object": ["urn:p:1", "urn:p:2"]},
        "a": {"value": "urn:p:1"}}));
    let car = EntityView::parse(&car).unwrap();
    let person = json!({"name": {"value": "Bob"}, "owner": {"type": "Relationship", "object": "urn:p:3"}});
    let boss = json!({"name": {"value": "Eve"}});
    let mut links = Links::default();
    let ask = |condition: &str, links: &mut Links| {
        links.wanted.clear();
        Matcher::new(&query(Some(filter(condition)))).matches(&car, links, &mut pace())
    };
    assert!(!ask("owner{name} == \"Bob\"", &mut links));
    assert_eq!(links.wanted, ["urn:p:1".into(), "urn:p:2".into()]);
    links.fetched.insert("urn:p:1".into(), None);
    links.fetched.insert("urn:p:2".into(), Some(entity(&person).into()));
    assert!(ask("owner{name} == \"Bob\"", &mut links));
    assert!(ask("owner{name}", &mut links));
    assert!(!ask("a{name}", &mut links), "a Property leads nowhere");
    assert!(ask("owner{Town:name}", &mut links) && ask("owner{Car,Town:name}", &mut links));
    assert!(!ask("owner{Car:name}", &mut links) && !ask("owner{unknown:name}", &mut links));
    assert!(!ask("owner{owner{name}} == \"Eve\"", &mut links));
    assert_eq!(links.wanted, ["urn:p:3".into()]);
    links.fetched.insert("urn:p:3".into(), Some(entity(&boss).into()));
    assert!(ask("owner{owner{name}} == \"Eve\"", &mut links));
    assert!(!ask("owner{owner{name}} == \"Bob\"", &mut links));
    assert!(ask("owner{modifiedAt} == 1970-01-01T00:00:02Z", &mut links));
    assert!(path("owner{name}").linked.is_some());
}
