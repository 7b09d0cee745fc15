//! Bodies and parameters of NGSI-LD, under the core context.

use std::sync::LazyLock;

use api_ngsi_ld::testing::Bench;
use entity::EntityView;

use crate::{Target, texts};

/// An entity that is taken is stored in a form that is read.
pub(crate) const ENTITY: Target = Target { name: "ngsi_ld_entity", run: entity, seeds: bodies };
/// A fragment.
pub(crate) const FRAGMENT: Target = Target {
    name: "ngsi_ld_fragment",
    run: |bytes| with_text(bytes, |text| _ = BENCH.fragment(text)),
    seeds: bodies,
};
/// An attribute.
pub(crate) const ATTRIBUTE: Target = Target {
    name: "ngsi_ld_attribute",
    run: |bytes| with_text(bytes, |text| _ = BENCH.attribute(text, "pm10")),
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
    run: |bytes| with_text(bytes, |text| _ = BENCH.query(text)),
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
    run: |bytes| with_text(bytes, |text| _ = BENCH.types(text)),
    seeds: || texts(&["Station|(Home;Vehicle),https://example.org/Tram", "A", "((A,B);C)"]),
};
/// A selection of scopes.
pub(crate) const SCOPES: Target = Target {
    name: "ngsi_ld_scopes",
    run: |bytes| with_text(bytes, |text| _ = BENCH.scopes(text)),
    seeds: || texts(&["/a/b/#;/c/+/d", "(/a|/b),/c", "/#"]),
};
/// The coordinates of a geo-query: the first line is the geometry's type.
pub(crate) const GEOMETRY: Target = Target {
    name: "ngsi_ld_geometry",
    run: |bytes| {
        with_text(bytes, |text| {
            let (kind, coordinates) = text.split_once('\n').unwrap_or(("Point", text));
            let _ = BENCH.shape(kind, coordinates);
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
            if let Some(written) = BENCH.time(text) {
                assert_eq!(BENCH.time(&written).as_ref(), Some(&written), "of {text:?}");
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

static BENCH: LazyLock<Bench> =
    LazyLock::new(|| Bench::new(&["Station", "pm10", "name", "a", "b", "d", "f", "rel"]));

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
        let Some(stored) = BENCH.stored(text) else { return };
        let view = EntityView::parse(&stored).expect("what is encoded is read");
        assert_eq!(BENCH.entity(text), Some(view.attributes().count()));
        let values = view.attributes().flat_map(|attribute| attribute.instances());
        for instance in values {
            let value = instance.value();
            assert_eq!(lang_json::canonical(value, 1_000).as_deref(), Ok(value), "values are canonical");
        }
    });
}
