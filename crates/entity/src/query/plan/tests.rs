//! Which ways a query finds, as its plan explains them.

use regex::Regex;
use serde_json::json;
use store::Range;

use super::*;
use crate::query::{Filter, GeoQuery, GeoRelation, ScopeQuery, Selector};
use crate::testing::query::{filter, query, term};

fn plan(condition: Option<&str>, change: impl FnOnce(&mut Query)) -> Plan {
    let mut query = query(condition.map(filter));
    query.types = Some(TypeQuery::Is(Some(term("Car"))));
    change(&mut query);
    Plan::new(&query, None, &Indexed::All)
}

#[track_caller]
fn check(condition: &str, expected: &str) {
    assert_eq!(plan(Some(condition), |_| {}).to_string(), expected, "{condition}");
}

#[test]
fn what_is_not_indexed_is_wanted_and_not_gone_by() {
    let (a, b, place) = (term("a"), term("b"), term("location"));
    let all = |texts: &[&str]| texts.iter().map(|text| filter(text)).collect::<Vec<_>>();
    let of = |filter: Filter, ready: &Indexed| {
        let types = Some(TypeQuery::Is(Some(term("Car"))));
        let plan = Plan::new(&Query { types, ..query(Some(filter)) }, None, ready);
        (plan.to_string(), plan.wanted)
    };
    let by_type = "type (1 ranges)".to_owned();
    let both = || Filter::And(all(&["a == 1", "b > 2"]));
    assert_eq!(of(both(), &Indexed::None), (by_type.clone(), vec![a, b]));
    assert_eq!(of(both(), &Indexed::Of([a].into())), ("value (1 ranges)".into(), vec![b]));
    let probing = "type (1 ranges), probing value range (1 ranges)".to_owned();
    assert_eq!(of(both(), &Indexed::Of([b].into())), (probing, vec![a]));
    let either = || Filter::Or(all(&["a == 1", "b == 2"]));
    assert_eq!(of(either(), &Indexed::None), (by_type.clone(), vec![a, b]));
    assert_eq!(of(either(), &Indexed::Of([a].into())), (by_type.clone(), vec![b]));
    for condition in ["a[k] == 1", "a", "a != 3"] {
        assert_eq!(of(filter(condition), &Indexed::None), (by_type.clone(), vec![a]), "{condition}");
    }
    for condition in ["!a", "unknown == 1"] {
        assert!(of(filter(condition), &Indexed::None).1.is_empty(), "{condition}");
    }
    let asked = Query { attributes: vec![Some(a), Some(place)], ..query(None) };
    assert_eq!(Plan::new(&asked, Some(&[term("Car")]), &Indexed::Of([a].into())).wanted, [place]);
}

#[test]
fn conditions_find_their_ways() {
    check("a == 1", "value (1 ranges)");
    check("a == 1,2", "value (2 ranges)");
    check("a == \"x\"", "value (1 ranges)");
    check("a == null", "type (1 ranges), probing attribute (1 ranges)");
    check("a == 2020-01-01T00:00:00Z", "type (1 ranges), probing attribute (1 ranges)");
    check("a > 1", "type (1 ranges), probing value range (1 ranges)");
    check("a == 1..2", "type (1 ranges), probing value range (1 ranges)");
    check("a == 1..\"x\"", "type (1 ranges), probing attribute (1 ranges)");
    check("a != 1", "type (1 ranges), probing attribute (1 ranges)");
    check("a ~= ^abc", "type (1 ranges), probing text head (1 ranges)");
    check("a ~= abc", "type (1 ranges), probing attribute (1 ranges)");
    check("a.m == 1", "type (1 ranges), probing attribute (1 ranges)");
    check("a[k] == 1", "type (1 ranges), probing attribute (1 ranges)");
    check("!a", "type (1 ranges)");
    check("createdAt > 2020-01-01T00:00:00Z", "type (1 ranges)");
    check("unknown == 1", "attribute (0 ranges)");
}

#[test]
fn and_and_or_combine_ways() {
    let all = |texts: &[&str]| texts.iter().map(|text| filter(text)).collect::<Vec<_>>();
    for (filter, expected) in [
        (Filter::And(all(&["a == 1", "b > 2"])), "value (1 ranges), probing value range (1 ranges)"),
        (Filter::Or(all(&["a == 1", "b == 2"])), "any of several values (2 ranges)"),
        (Filter::Or(all(&["a == 1", "b > 2"])), "type (1 ranges), probing any of several values (2 ranges)"),
        (Filter::Or(all(&["a == 1", "!b"])), "type (1 ranges)"),
        (
            Filter::Or(vec![Filter::And(all(&["a > 1", "b == 2"])), filter("c == 3")]),
            "any of several values (2 ranges)",
        ),
    ] {
        let found = plan(None, |query| query.filter = Some(filter.clone()));
        assert_eq!(found.to_string(), expected, "{filter:?}");
    }
}

#[test]
fn types_scopes_ids_and_shapes() {
    let is = |name: &str| TypeQuery::Is(Some(term(name)));
    let both = plan(None, |query| query.types = Some(TypeQuery::Any(vec![is("Car"), is("Bike")])));
    assert_eq!(both.to_string(), "type (2 ranges)");
    let all = plan(None, |query| query.types = Some(TypeQuery::All(vec![is("Car"), is("Bike")])));
    assert_eq!(all.to_string(), "type (1 ranges)");
    assert!(both.decides && !all.decides);
    let none = plan(None, |query| query.types = None);
    assert_eq!(none.to_string(), "all entities");
    let ids = plan(None, |query| query.ids = vec!["b".into(), "a".into(), "b".into()]);
    assert_eq!(ids.to_string(), "2 ids");
    let head = plan(None, |query| {
        (query.types, query.id_pattern) = (None, Regex::new("^urn:x").ok());
    });
    assert_eq!(head.ordered[0].ranges, [Range::prefix(b"eurn:x".to_vec())]);
    let scope = plan(None, |query| query.scopes = Some(ScopeQuery::Matches(vec!["A".into()])));
    assert_eq!(scope.to_string(), "scope (2 ranges) or type (1 ranges)");
    let shape = json!({"type": "Point", "coordinates": [1, 2]}).to_string();
    let near = |relation| {
        plan(None, |query| {
            let geometry = crate::geometry::parse_geometry(&shape).unwrap();
            query.geo = Some(GeoQuery { attribute: Some(term("location")), relation, geometry });
        })
    };
    assert_eq!(near(GeoRelation::Near { max: Some(10.0), min: None }).probes[0].by, "cells");
    assert_eq!(near(GeoRelation::Within).probes[0].by, "cells");
    assert!(near(GeoRelation::Near { max: None, min: Some(10.0) }).probes.is_empty());
    assert!(near(GeoRelation::Disjoint).probes.is_empty());
}

#[test]
fn selectors_lead_where_any_of_them_leads() {
    let is = |name: &str| Some(TypeQuery::Is(Some(term(name))));
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).into()).collect::<Vec<Box<str>>>();
    let plan = |condition: Option<&str>, selectors: Vec<Selector>| {
        plan(condition, |query| (query.types, query.selectors) = (None, selectors))
    };
    let one = Selector { ids: ids(&["urn:x:1", "urn:x:2"]), types: is("Car"), ..Selector::default() };
    let other = Selector { ids: ids(&["urn:x:2", "urn:x:3"]), ..Selector::default() };
    assert_eq!(plan(None, vec![one.clone(), other]).to_string(), "3 ids");
    let head = Regex::new("^urn:y").ok();
    let headed = Selector { id_pattern: head.clone(), types: is("Bike"), ..Selector::default() };
    let found = plan(None, vec![one.clone(), headed.clone()]);
    assert_eq!(found.to_string(), "selectors (3 ranges)");
    assert_eq!(found.ordered[0].ranges[0], headed_range("Bike", "urn:y"), "in the order of keys");
    assert!(!found.decides);
    let found = plan(Some("a == 1"), vec![one, headed.clone()]);
    assert_eq!(found.to_string(), "value (2 ranges) or selectors (3 ranges)");
    let any_type = Selector { id_pattern: head, ..Selector::default() };
    assert_eq!(plan(None, vec![headed.clone(), any_type]).to_string(), "selectors (2 ranges)");
    assert_eq!(plan(None, vec![headed, Selector::default()]).to_string(), "all entities");
    let many = (0..=RANGES_MAX).map(|at| format!("urn:x:{at}").into()).collect();
    let many = Selector { ids: many, types: is("Car"), ..Selector::default() };
    let typed = Selector { types: is("Bike"), ..Selector::default() };
    assert_eq!(plan(None, vec![many, typed]).to_string(), "type (2 ranges)");
}

fn headed_range(of_type: &str, head: &str) -> Range {
    headed(&keys::type_range(term(of_type)), head)
}

#[test]
fn the_index_decides_only_what_it_knows_whole() {
    for (condition, expected) in [
        (None, true),
        (Some("a == 1"), true),
        (Some("a == \"x\""), true),
        (Some("a == 1,2"), true),
        (Some("a != 1"), false),
        (Some("a > 1"), false),
        (Some("a.m == 1"), false),
        (Some("a == null"), false),
    ] {
        assert_eq!(plan(condition, |_| {}).decides, expected, "{condition:?}");
    }
    let long = format!("a == \"{}\"", "x".repeat(64));
    assert!(!plan(Some(&long), |_| {}).decides, "texts are cut");
    assert!(!plan(Some("a == 1"), |query| query.datasets = vec![None]).decides);
    assert!(!plan(None, |query| query.id_pattern = Regex::new("1").ok()).decides);
    assert!(!plan(None, |query| query.attributes = vec![Some(term("a"))]).decides);
    // Of everything all entities are matches.
    assert!(plan(None, |query| query.types = None).decides);
    assert!(!plan(Some("a == 1"), |query| query.types = None).decides);
    let headed = |query: &mut Query| (query.types, query.id_pattern) = (None, Regex::new("^urn:").ok());
    assert!(!plan(None, headed).decides);
}

#[test]
fn heads_of_patterns() {
    for (pattern, expected) in [
        ("^abc", Some("abc")),
        ("^abc.*", Some("abc")),
        ("^abc*", Some("ab")),
        ("^abc?d", Some("ab")),
        ("^abc+", Some("abc")),
        ("^a{0,2}", None),
        ("^a\\.b", Some("a.b")),
        ("^a\\d", Some("a")),
        ("^urn:ngsi-ld:Car:[0-9]+$", Some("urn:ngsi-ld:Car:")),
        ("^(a|b)", None),
        ("^a|b", None),
        ("abc", None),
        ("(?i)^abc", None),
        ("^", None),
    ] {
        assert_eq!(literal_head(&Regex::new(pattern).unwrap()).as_deref(), expected, "{pattern}");
    }
}
