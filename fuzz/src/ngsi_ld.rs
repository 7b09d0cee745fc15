//! Bodies and parameters of NGSI-LD, under the core context.

use std::sync::LazyLock;

use api_ngsi_ld::testing;
use entity::{EntityView, encode};
use lang_ngsi_ld::time::{parse_time, write_time};
use lang_ngsi_ld::{
    QueryOptions, Rules, parse_attribute, parse_entity, parse_fragment, parse_history, parse_ids,
    parse_query, parse_scopes, parse_shape, parse_types, split_batch,
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
/// The parameters of a query, of the present and of the past.
pub(crate) const PARAMETERS: Target = Target {
    name: "ngsi_ld_parameters",
    run: |bytes| with_text(bytes, |text| _ = testing::parameters(text, &NAMES)),
    seeds: || {
        texts(&[
            "type=Station&q=pm10>40&orderBy=pm10;desc,name&limit=7&offset=3&options=count,keyValues&lang=de,en;q=0.5",
            "georel=near;maxDistance==1000&geometry=Point&coordinates=[8,47]&orderBy=location;dist-asc&orderFrom=[8,47]&collation=de",
            "type=A&timerel=between&timeAt=2026-05-04T10:00:00Z&endTimeAt=2026-05-05T10:00:00Z&lastN=3&timeproperty=modifiedAt",
            "type=A&timerel=after&timeAt=2026-05-04T10:00:00Z&options=aggregatedValues&aggrMethods=avg,max&aggrPeriodDuration=P1MT2H",
            "id=urn:x:1,urn:x:2&idPattern=^urn.*$&attrs=a,b&pick=a&omit=d&datasetId=@none,urn:d:1&scopeQ=/a/%23&join=inline&joinLevel=2&expandValues=a",
        ])
    },
};
/// The body of a query, of the present and of the past.
pub(crate) const QUERY_BODY: Target = Target {
    name: "ngsi_ld_query_body",
    run: |bytes| with_text(bytes, |text| _ = testing::query_body(text, &NAMES)),
    seeds: || {
        texts(&[
            r#"{"type": "Query", "entities": [{"type": "Station", "id": "urn:x:1"}, {"idPattern": "^urn", "type": "A|B"}], "q": "pm10>4", "attrs": ["a"]}"#,
            r#"{"type": "Query", "geoQ": {"georel": "within", "geometry": "Polygon", "coordinates": [[[0,0],[1,0],[1,1],[0,0]]]}, "scopeQ": "/a/#"}"#,
            r#"{"type": "Query", "entities": [{"type": "A"}], "temporalQ": {"timerel": "before", "timeAt": "2026-05-04T10:00:00Z"}, "orderBy": ["id;desc"]}"#,
        ])
    },
};
/// A header `Link`.
pub(crate) const LINK: Target = Target {
    name: "ngsi_ld_link",
    run: |bytes| {
        if let Ok(value) = http::HeaderValue::from_bytes(bytes) {
            let _ = testing::link(value);
        }
    },
    seeds: || {
        texts(&[
            r#"<https://example.org/c.jsonld>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json""#,
            r#"<a>; rel=next, <b>;title="x;y,z" ; REL="a http://www.w3.org/ns/json-ld#context""#,
        ])
    },
};
/// Batches: of entities, and of ids.
pub(crate) const BATCH: Target = Target {
    name: "ngsi_ld_batch",
    run: |bytes| {
        with_text(bytes, |text| {
            let (elements, ids) = (split_batch(text, 100), parse_ids(text, 100));
            if let Ok(ids) = ids {
                assert_eq!(elements.map(|elements| elements.len()), Ok(ids.len()), "ids are elements");
            }
        });
    },
    seeds: || texts(&[r#"[{"id": "urn:x:1", "type": "A"}, {}]"#, r#"["urn:x:1", {"id": "urn:x:2"}, "x y"]"#]),
};
/// The past of an entity.
pub(crate) const PAST: Target = Target {
    name: "ngsi_ld_past",
    run: |bytes| with_text(bytes, |text| _ = parse_history(text, &NAMES, &Rules::temporal(DEPTH_MAX))),
    seeds: || {
        texts(&[
            r#"{"id": "urn:x:1", "type": "Station", "pm10": [{"value": 1, "observedAt": "2026-05-04T10:00:00Z"}, {"value": 2, "observedAt": "2026-05-04T11:00:00Z"}]}"#,
            r#"{"id": "urn:x:1", "type": "Station", "pm10": {"type": "Property", "values": [[1, "2026-05-04T10:00:00Z"], [2.5, "2026-05-04T11:00:00Z"]]}}"#,
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
