//! What entities look like on the wire, kind by kind and form by form.

use model_entities::{
    Attribute, Deadline, Draft, Entity, Extra, Instance, Kind, Pace, TermId, Timestamp, encode,
};
use smallvec::smallvec;
use tenant_contexts::{Names, RequestContext};

use super::*;
use crate::render::{
    Ended, Form, Languages, Linked, LinkedViews, Members, Projection, Targets, Work, targets, write_feature,
    write_features,
};

const NAMES: [&str; 8] = ["T", "a", "b", "location", "U", "c", "d", "e"];
const T: TermId = TermId(0);
const A: TermId = TermId(1);
const B: TermId = TermId(2);
const LOCATION: TermId = TermId(3);
const NOON: Timestamp = Timestamp(1_680_350_400_000_000);
const MORNING: Timestamp = Timestamp(1_680_336_000_000_000);

fn names() -> &'static Names {
    static CORE_NAMES: std::sync::OnceLock<Names> = std::sync::OnceLock::new();
    CORE_NAMES.get_or_init(|| Names::of(&RequestContext::core(), &NAMES))
}

fn attribute(name: TermId, instances: impl IntoIterator<Item = Instance>) -> Attribute {
    Attribute { name, instances: instances.into_iter().collect() }
}

fn draft(id: &str, attributes: Vec<Attribute>) -> Draft {
    Draft { id: id.into(), types: smallvec![T], attributes, ..Draft::default() }
}

fn dataset(name: &str, instance: Instance) -> Instance {
    Instance { dataset: Some(name.into()), ..instance }
}

fn render<'p>(draft: &Draft, adapt: impl FnOnce(&mut RenderPlan<'p>)) -> String {
    let bytes = encode(draft, MORNING, NOON);
    let mut plan = RenderPlan::new(names(), NOON);
    adapt(&mut plan);
    let mut out = String::new();
    write_entity(&mut out, &EntityView::parse(&bytes).unwrap(), &plan);
    out
}

/// The value of member `a` of an entity with only that attribute, in the three forms.
fn check(instances: &[Instance], normalized: &str, concise: &str, simplified: &str) {
    let draft = draft("urn:x", vec![attribute(A, instances.to_vec())]);
    for (form, expected) in
        [(Form::Normalized, normalized), (Form::Concise, concise), (Form::Simplified, simplified)]
    {
        let expected = format!(r#"{{"id":"urn:x","type":"T","a":{expected}}}"#);
        assert_eq!(render(&draft, |plan| plan.form = form), expected, "{form:?}");
    }
}

#[test]
fn properties() {
    check(&[Instance::new(Kind::Property, "1.50")], r#"{"type":"Property","value":1.50}"#, "1.50", "1.50");
    check(
        &[Instance::new(Kind::Property, "[1,\"x\"]")],
        r#"{"type":"Property","value":[1,"x"]}"#,
        r#"[1,"x"]"#,
        r#"[1,"x"]"#,
    );
    // An object or an array of objects alone would read as an instance or as several.
    for value in [r#"{"x":1}"#, r#"[{"x":1}]"#] {
        check(
            &[Instance::new(Kind::Property, value)],
            &format!(r#"{{"type":"Property","value":{value}}}"#),
            &format!(r#"{{"value":{value}}}"#),
            value,
        );
    }
    let point = r#"{"type":"Point","coordinates":[1,2]}"#;
    check(
        &[Instance::new(Kind::Property, point)],
        &format!(r#"{{"type":"Property","value":{point}}}"#),
        &format!(r#"{{"type":"Property","value":{point}}}"#),
        point,
    );
    check(
        &[Instance::new(Kind::GeoProperty, point)],
        &format!(r#"{{"type":"GeoProperty","value":{point}}}"#),
        point,
        point,
    );
}

#[test]
fn members_of_an_instance() {
    let mut instance = Instance::new(Kind::Property, "1");
    instance.unit_code = Some("CEL".into());
    instance.observed_at = Some(NOON);
    instance.extras.push((Extra::V2Type, "\"Number\"".into()));
    instance.members.push(attribute(B, [Instance::new(Kind::Property, "\"q\"")]));
    check(
        &[instance],
        r#"{"type":"Property","value":1,"unitCode":"CEL","observedAt":"2023-04-01T12:00:00Z","b":{"type":"Property","value":"q"}}"#,
        r#"{"value":1,"unitCode":"CEL","observedAt":"2023-04-01T12:00:00Z","b":"q"}"#,
        "1",
    );
}

#[test]
fn relationships() {
    let mut instance = Instance::new(Kind::Relationship, r#""urn:y""#);
    instance.extras.push((Extra::ObjectType, "\"https://uri.etsi.org/ngsi-ld/default-context/U\"".into()));
    check(
        &[instance],
        r#"{"type":"Relationship","object":"urn:y","objectType":"U"}"#,
        r#"{"object":"urn:y","objectType":"U"}"#,
        r#""urn:y""#,
    );
    check(
        &[Instance::new(Kind::ListRelationship, r#"["urn:y","urn:z"]"#)],
        r#"{"type":"ListRelationship","objectList":[{"object":"urn:y"},{"object":"urn:z"}]}"#,
        r#"{"objectList":["urn:y","urn:z"]}"#,
        r#"["urn:y","urn:z"]"#,
    );
}

#[test]
fn other_kinds() {
    for (kind, name, member, stored, shown) in [
        (
            Kind::LanguageProperty,
            "LanguageProperty",
            "languageMap",
            r#"{"fr":"x","en":["y"]}"#,
            r#"{"fr":"x","en":["y"]}"#,
        ),
        (
            Kind::VocabProperty,
            "VocabProperty",
            "vocab",
            r#""https://uri.etsi.org/ngsi-ld/default-context/hot""#,
            r#""hot""#,
        ),
        (
            Kind::VocabProperty,
            "VocabProperty",
            "vocab",
            r#"["https://uri.etsi.org/ngsi-ld/default-context/hot","http://z/y"]"#,
            r#"["hot","http://z/y"]"#,
        ),
        (Kind::JsonProperty, "JsonProperty", "json", r#"{"id":[null]}"#, r#"{"id":[null]}"#),
        (Kind::ListProperty, "ListProperty", "valueList", "[1,[2]]", "[1,[2]]"),
    ] {
        let concise = format!(r#"{{"{member}":{shown}}}"#);
        let normalized = format!(r#"{{"type":"{name}","{member}":{shown}}}"#);
        let simplified = if kind == Kind::ListProperty { shown } else { &*concise };
        check(&[Instance::new(kind, stored)], &normalized, &concise, simplified);
    }
}

#[test]
fn several_instances() {
    check(
        &[Instance::new(Kind::Property, "1"), dataset("urn:d", Instance::new(Kind::Property, "2"))],
        r#"[{"type":"Property","value":1},{"type":"Property","value":2,"datasetId":"urn:d"}]"#,
        r#"[1,{"value":2,"datasetId":"urn:d"}]"#,
        r#"{"dataset":{"@none":1,"urn:d":2}}"#,
    );
}

#[test]
fn datasets_and_expired_instances_are_left_out() {
    let mut history = dataset("urn:p", Instance::new(Kind::Property, "3"));
    history.expires_at = Some(NOON);
    let draft = draft(
        "urn:x",
        vec![
            attribute(
                A,
                [
                    Instance::new(Kind::Property, "1"),
                    dataset("urn:d", Instance::new(Kind::Property, "2")),
                    history,
                ],
            ),
            attribute(B, [Instance::new(Kind::Property, "4")]),
        ],
    );
    let check = |datasets: &[Option<Box<str>>], expected: &str| {
        let shown = render(&draft, |plan| {
            plan.form = Form::Simplified;
            plan.datasets = datasets;
        });
        assert_eq!(shown, format!(r#"{{"id":"urn:x","type":"T"{expected}}}"#));
    };
    check(&[], r#","a":{"dataset":{"@none":1,"urn:d":2}},"b":4"#);
    check(&[Some("urn:d".into())], r#","a":2"#);
    check(&[None], r#","a":1,"b":4"#);
    check(&[Some("urn:p".into())], "");
}

#[test]
fn everything_beside_the_attributes() {
    let mut draft = draft("urn:x", vec![attribute(A, [Instance::new(Kind::Property, "1")])]);
    draft.types.push(TermId(4));
    draft.scopes = Some(vec!["/a".into(), "/b/c".into()]);
    draft.expires_at = Some(Timestamp(NOON.0 + 1_000));
    let times = r#""createdAt":"2023-04-01T08:00:00Z","modifiedAt":"2023-04-01T12:00:00Z""#;
    let bare = r#""id":"urn:x","type":["T","U"],"scope":["/a","/b/c"]"#;
    assert_eq!(render(&draft, |_| ()), format!(r#"{{{bare},"a":{{"type":"Property","value":1}}}}"#));
    // When it expires is a system attribute (6.3.11).
    let head = format!(r#"{bare},"expiresAt":"2023-04-01T12:00:00.001Z""#);
    assert_eq!(
        render(&draft, |plan| (plan.sys_attrs, plan.form) = (true, Form::Concise)),
        format!(r#"{{{head},{times},"a":{{"value":1,{times}}}}}"#)
    );
    assert_eq!(
        render(&draft, |plan| (plan.sys_attrs, plan.form) = (true, Form::Simplified)),
        format!(r#"{{{head},{times},"a":1}}"#)
    );
    let context = r#"["https://x/c.jsonld"]"#;
    assert_eq!(
        render(&draft, |plan| (plan.context, plan.form) = (Some(context), Form::Simplified)),
        format!(r#"{{"@context":{context},{bare},"a":1}}"#)
    );
}

#[test]
fn projections() {
    let draft = draft(
        "urn:x",
        vec![
            attribute(A, [Instance::new(Kind::Property, "1")]),
            attribute(B, [Instance::new(Kind::Property, "2")]),
        ],
    );
    let check = |pick: Option<&Members>, omit: Option<&Members>, expected: &str| {
        let shown = render(&draft, |plan| {
            (plan.projection, plan.form) = (Projection { pick, omit }, Form::Simplified)
        });
        assert_eq!(shown, expected);
    };
    let only = |attributes: &[TermId]| Members {
        attributes: attributes.iter().map(|name| (*name, None)).collect(),
        ..Members::default()
    };
    check(None, None, r#"{"id":"urn:x","type":"T","a":1,"b":2}"#);
    check(Some(&Members::attrs([A])), None, r#"{"id":"urn:x","type":"T","a":1}"#);
    check(Some(&only(&[B])), None, r#"{"b":2}"#);
    check(Some(&Members { id: true, ..only(&[B]) }), None, r#"{"id":"urn:x","b":2}"#);
    check(None, Some(&Members { types: true, ..only(&[B]) }), r#"{"id":"urn:x","a":1}"#);
    check(Some(&only(&[A, B])), Some(&only(&[A])), r#"{"b":2}"#);
}

#[test]
fn languages() {
    let map = r#"{"fr":"chaud","en-GB":"hot","@none":"?"}"#;
    let draft = draft("urn:x", vec![attribute(A, [Instance::new(Kind::LanguageProperty, map)])]);
    let check = |wanted: &[&str], text: &str, tag: &str| {
        let languages = Languages(wanted.iter().map(|range| (*range).into()).collect());
        let shown = render(&draft, |plan| plan.languages = Some(&languages));
        let expected = format!(r#"{{"type":"Property","value":"{text}","lang":"{tag}"}}"#);
        assert_eq!(shown, format!(r#"{{"id":"urn:x","type":"T","a":{expected}}}"#));
        let shown = render(&draft, |plan| (plan.languages, plan.form) = (Some(&languages), Form::Simplified));
        assert_eq!(shown, format!(r#"{{"id":"urn:x","type":"T","a":"{text}"}}"#));
        let shown = render(&draft, |plan| (plan.languages, plan.form) = (Some(&languages), Form::Concise));
        let expected = format!(r#"{{"value":"{text}","lang":"{tag}"}}"#);
        assert_eq!(shown, format!(r#"{{"id":"urn:x","type":"T","a":{expected}}}"#));
    };
    check(&["fr"], "chaud", "fr");
    check(&["FR-ca", "en"], "chaud", "fr");
    check(&["de", "en"], "hot", "en-GB");
    check(&["de"], "?", "@none");
    check(&["*"], "chaud", "fr");
}

#[test]
fn features() {
    let point = r#"{"type":"Point","coordinates":[1,2]}"#;
    let located = draft("urn:x", vec![attribute(LOCATION, [Instance::new(Kind::GeoProperty, point)])]);
    let bare = draft("urn:y", vec![]);
    let names = names();
    let (located, bare) = (encode(&located, NOON, NOON), encode(&bare, NOON, NOON));
    let plan = RenderPlan { form: Form::Simplified, context: Some("\"c\""), ..RenderPlan::new(names, NOON) };
    let feature = |id: &str, geometry: &str, location: &str| {
        format!(
            r#"{{"id":"{id}","type":"Feature","geometry":{geometry},"properties":{{"type":"T"{location}}}"#
        )
    };
    let views = [EntityView::parse(&located).unwrap(), EntityView::parse(&bare).unwrap()];
    let location = format!(r#","location":{point}"#);
    let mut out = String::new();
    write_feature(&mut out, &views[0], Some(LOCATION), &plan);
    assert_eq!(out, feature("urn:x", point, &location) + r#","@context":"c"}"#);
    out.clear();
    write_features(&mut out, views.into_iter(), Some(LOCATION), &plan);
    let (first, second) = (feature("urn:x", point, &location), feature("urn:y", "null", ""));
    assert_eq!(
        out,
        format!(r#"{{"type":"FeatureCollection","features":[{first}}},{second}}}],"@context":"c"}}"#)
    );
    out.clear();
    write_feature(&mut out, &views[0], Some(A), &RenderPlan { context: None, ..plan });
    assert_eq!(out, feature("urn:x", "null", &location) + "}");
}

/// x -a-> [y, z], y -a-> x (a circle), y -b-> w.
fn city() -> (Draft, Linked<'static>) {
    let to = |target: &str| Instance::new(Kind::Relationship, target);
    let x = draft("urn:x", vec![attribute(A, [to(r#"["urn:y","urn:z"]"#)])]);
    let y = draft("urn:y", vec![attribute(A, [to(r#""urn:x""#)]), attribute(B, [to(r#""urn:w""#)])]);
    let w = draft("urn:w", vec![]);
    let mut linked = Linked::default();
    for entity in [&x, &y, &w] {
        linked.entities.insert(entity.id.clone(), Entity { bytes: encode(entity, NOON, NOON).into() });
    }
    (x, linked)
}

/// Work that may take as much as it wants.
fn work() -> Work {
    Work {
        pace: Pace::new(Deadline::default()),
        steps: usize::MAX,
        out_bytes_max: usize::MAX,
        memory: api_http::RequestMemory::default().share(),
        ended: None,
    }
}

#[test]
fn linked_entities_are_shown_in_their_relationships() {
    let (x, others) = city();
    let views = others.views().unwrap();
    let linked = LinkedViews::new(&views, 2, work());
    let shown = render(&x, |plan| plan.linked = Some(&linked));
    let w = r#"{"id":"urn:w","type":"T"}"#;
    let y = format!(
        r#"{{"id":"urn:y","type":"T","a":{{"type":"Relationship","object":"urn:x"}},"b":{{"type":"Relationship","object":"urn:w","entity":{w}}}}}"#
    );
    let expected = format!(
        r#"{{"id":"urn:x","type":"T","a":{{"type":"Relationship","object":["urn:y","urn:z"],"entity":[{y}]}}}}"#
    );
    assert_eq!(shown, expected);
    let y = format!(r#"{{"id":"urn:y","type":"T","a":"urn:x","b":{w}}}"#);
    let shown = render(&x, |plan| (plan.linked, plan.form) = (Some(&linked), Form::Simplified));
    assert_eq!(shown, format!(r#"{{"id":"urn:x","type":"T","a":[{y},"urn:z"]}}"#));
    let views = others.views().unwrap();
    let linked = LinkedViews::new(&views, 1, work());
    let shown = render(&x, |plan| (plan.linked, plan.form) = (Some(&linked), Form::Simplified));
    let y = r#"{"id":"urn:y","type":"T","a":"urn:x","b":"urn:w"}"#;
    assert_eq!(shown, format!(r#"{{"id":"urn:x","type":"T","a":[{y},"urn:z"]}}"#));
}

#[test]
fn a_projection_reaches_into_linked_entities() {
    let (x, others) = city();
    let views = others.views().unwrap();
    let linked = LinkedViews::new(&views, 2, work());
    let inner = Members { id: true, ..Members::default() };
    let pick = Members { attributes: vec![(A, Some(Box::new(inner)))], ..Members::default() };
    let shown = render(&x, |plan| {
        (plan.linked, plan.form, plan.projection.pick) = (Some(&linked), Form::Simplified, Some(&pick));
    });
    assert_eq!(shown, r#"{"a":[{"id":"urn:y"},"urn:z"]}"#);
}

#[test]
fn targets_are_those_of_shown_relationships() {
    let (x, _) = city();
    let names = names();
    let bytes = encode(&x, NOON, NOON);
    let view = EntityView::parse(&bytes).unwrap();
    let mut ids = Targets::default();
    for expected in [vec!["urn:y", "urn:z"], vec![]] {
        // What was met is not met again.
        targets(&view, &RenderPlan::new(names, NOON), &mut ids);
        let found = std::mem::take(&mut ids.found);
        assert_eq!(found.iter().map(|(_, id)| &**id).collect::<Vec<_>>(), expected);
    }
    let pick = Members::attrs([B]);
    targets(
        &view,
        &RenderPlan {
            projection: Projection { pick: Some(&pick), omit: None },
            ..RenderPlan::new(names, NOON)
        },
        &mut ids,
    );
    assert!(ids.found.is_empty());
}

/// How far an entity gets that points to another one so many times.
fn ends(count: usize, work: Work) -> (Option<Ended>, usize) {
    let targets = vec![r#""urn:y""#; count].join(",");
    let x = draft("urn:x", vec![attribute(A, [Instance::new(Kind::Relationship, &*format!("[{targets}]"))])]);
    let (_, others) = city();
    let views = others.views().unwrap();
    let linked = LinkedViews::new(&views, 1, work);
    let shown = render(&x, |plan| plan.linked = Some(&linked));
    (linked.into_work().ended, shown.matches(r#"{"id":"urn:y""#).count())
}

#[test]
fn linked_entities_end_with_what_their_work_may_take() {
    assert_eq!(ends(10, work()), (None, 10));
    let (ended, count) = ends(100_000, Work { steps: 1000, ..work() });
    assert!(ended == Some(Ended::Tired) && count < 1000, "{count}");
    let late = Work { pace: Pace::new(Deadline::after_looks(0)), ..work() };
    let (ended, count) = ends(100_000, late);
    assert!(ended == Some(Ended::Late) && count < 1024, "{count}");
    let (ended, count) = ends(100_000, Work { out_bytes_max: 10_000_000, ..work() });
    assert!(ended == Some(Ended::Large) && count < 100_000, "{count}");
    let budget = api_http::MemoryBudget::new(1 << 20, 0, std::time::Duration::ZERO);
    let (ended, count) = ends(100_000, Work { memory: budget.request().share(), ..work() });
    assert!(ended == Some(Ended::MemoryFull) && count < 20_000, "{count}");
}
