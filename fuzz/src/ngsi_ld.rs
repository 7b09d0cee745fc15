//! Bodies and parameters of NGSI-LD, under the core context.

use std::sync::LazyLock;

use entity::{EntityView, encode};
use lang_ngsi_ld::time::{parse_time, write_time};
use lang_ngsi_ld::{
    QueryOptions, Rules, parse_attribute, parse_entity, parse_fragment, parse_query, parse_scopes,
    parse_shape, parse_types,
};
use store::Timestamp;
use tenant_contexts::{Names, RequestContext};

use crate::{Target, texts};

/// An entity that is taken is stored in a form that is read.
pub(crate) const ENTITY: Target = Target { name: "ngsi_ld_entity", run: entity, seeds: bodies };
/// A fragment.
pub(crate) const FRAGMENT: Target = Target {
    name: "ngsi_ld_fragment",
    run: |bytes| with_text(bytes, |text| _ = parse_fragment(text, &NAMES, &Rules::update(DEPTH_MAX))),
    seeds: bodies,
};
/// An attribute.
pub(crate) const ATTRIBUTE: Target = Target {
    name: "ngsi_ld_attribute",
    run: |bytes| with_text(bytes, |text| _ = parse_attribute(text, "pm10", &NAMES, &Rules::merge(DEPTH_MAX))),
    seeds: || {
        texts(&[
            r#"{"type": "Property", "value": 41.50, "observedAt": "2026-05-04T10:00:00Z", "unitCode": "GQ"}"#,
            r#"[{"value": 1}, {"value": 2, "datasetId": "urn:x:2", "q": {"type": "Relationship", "object": "urn:x:3"}}]"#,
            r#"{"type": "LanguageProperty", "languageMap": {"de": "Nord", "en": ["North", "N"]}}"#,
        ])
    },
};
/// The parameter `q`.
pub(crate) const QUERY: Target = Target {
    name: "ngsi_ld_q",
    run: |bytes| with_text(bytes, query),
    seeds: || {
        texts(&[
            "pm10>40;name==\"North\"",
            "(a[b.c]!=1..5|d.e~=^x.*$);f",
            "at==2026-05-04T10:00:00Z,\"x\",true;rel{Station}.pm10>=1e3",
            "!x;y!~=[a-z]+",
        ])
    },
};
/// A selection of types.
pub(crate) const TYPES: Target = Target {
    name: "ngsi_ld_types",
    run: |bytes| with_text(bytes, |text| _ = parse_types(text, &NAMES)),
    seeds: || texts(&["Station|(Home;Vehicle),https://example.org/Tram", "A", "((A,B);C)"]),
};
/// A selection of scopes.
pub(crate) const SCOPES: Target = Target {
    name: "ngsi_ld_scopes",
    run: |bytes| with_text(bytes, |text| _ = parse_scopes(text)),
    seeds: || texts(&["/a/b/#;/c/+/d", "(/a|/b),/c", "/#"]),
};
/// The coordinates of a geo-query: the first line is the geometry's type.
pub(crate) const GEOMETRY: Target = Target {
    name: "ngsi_ld_geometry",
    run: |bytes| {
        with_text(bytes, |text| {
            let (kind, coordinates) = text.split_once('\n').unwrap_or(("Point", text));
            let _ = parse_shape("coordinates", kind, coordinates, 100);
        });
    },
    seeds: || {
        texts(&[
            "Point\n[8.5, 47.25]",
            "Polygon\n[[[0,0],[10,0],[10,10],[0,10],[0,0]],[[1,1],[2,1],[2,2],[1,1]]]",
            "MultiLineString\n[[[0,0],[1,1]],[[2,2],[3,-3e0]]]",
        ])
    },
};
/// A moment that is written is read.
pub(crate) const TIME: Target = Target {
    name: "ngsi_ld_time",
    run: |bytes| {
        with_text(bytes, |text| {
            if let Some(written) = rewritten(text) {
                assert_eq!(rewritten(&written).as_ref(), Some(&written), "of {text:?}");
            }
        });
    },
    seeds: || {
        texts(&[
            "2026-05-04T10:00:00.123456Z",
            "1969-12-31T23:59:59,5Z",
            "2024-02-29T24:00:00Z",
            "2016-12-31T23:59:60Z",
        ])
    },
};

/// The deepest nesting of a body.
const DEPTH_MAX: usize = 64;

/// The names of a tenant in the core context.
static NAMES: LazyLock<Names> = LazyLock::new(|| {
    Names::of(&RequestContext::core(), &["Station", "pm10", "name", "a", "b", "d", "f", "rel"])
});

/// An entity as it is stored; `None` if the body is refused.
pub(crate) fn stored(body: &str) -> Option<Vec<u8>> {
    let draft = parse_entity(body, &NAMES, &Rules::create(DEPTH_MAX)).ok()?;
    Some(encode(&draft, Timestamp(1), Timestamp(2)))
}

fn query(text: &str) {
    let options = QueryOptions { names: &NAMES, expand_values: &[], nodes_max: 100, values_max: 100 };
    let _ = parse_query(text, &options);
}

/// A moment as it is written; `None` if the text is none.
fn rewritten(text: &str) -> Option<String> {
    let mut written = String::new();
    write_time(&mut written, parse_time(text)?);
    Some(written)
}

fn bodies() -> Vec<Vec<u8>> {
    texts(&[
        r#"{"id": "urn:x:1", "type": "Station", "pm10": {"type": "Property", "value": 41.50, "observedAt": "2026-05-04T10:00:00Z"}}"#,
        r#"{"id": "urn:x:2", "type": ["Station", "name"], "scope": ["/a/b", "/c"], "location": {"type": "GeoProperty", "value": {"type": "Point", "coordinates": [8.5, 47.25]}}}"#,
        r#"{"id": "urn:x:3", "type": "Station", "a": [{"value": {"x": [1, null]}, "datasetId": "urn:d:1"}, {"type": "Relationship", "object": ["urn:x:1", "urn:x:2"]}], "b": "concise", "name": {"vocab": "f"}}"#,
        r#"{"id": "urn:x:4", "type": "Station", "expiresAt": "2030-01-01T00:00:00Z", "d": {"type": "JsonProperty", "json": {"@any": 1}}, "f": {"type": "ListProperty", "valueList": [1, "2"]}}"#,
    ])
}

fn with_text(bytes: &[u8], run: impl FnOnce(&str)) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        run(text);
    }
}

fn entity(bytes: &[u8]) {
    with_text(bytes, |text| {
        let Some(stored) = stored(text) else { return };
        let view = EntityView::parse(&stored).expect("what is encoded is read");
        let draft = parse_entity(text, &NAMES, &Rules::create(DEPTH_MAX)).expect("it was stored");
        assert_eq!(draft.attributes.len(), view.attributes().count());
        let values = view.attributes().flat_map(|attribute| attribute.instances());
        for instance in values {
            let value = instance.value();
            assert_eq!(lang_json::canonical(value, 1_000).as_deref(), Ok(value), "values are canonical");
        }
    });
}
