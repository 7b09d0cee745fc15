//! What reading bodies and queries costs: `cargo bench -p lang-ngsi-ld`.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use lang_ngsi_ld::{QueryOptions, Rules, parse_attribute, parse_entity, parse_fragment, parse_query};
use tenant_contexts::{Names, RequestContext};

const ENTITY: &str = r#"{"id":"urn:ngsi-ld:Entity:2c3b3a4e-3f38-4c2b-a4e8-7f6f3f0d1c55","type":"Entity","name":{"type":"Property","value":"Name of my entity"},"description":{"type":"Property","value":"A short description of my entity"},"stationCode":{"type":"Property","value":"BSS002JAWM"},"ammonium":[{"type":"Property","value":0.34,"observedAt":"2023-04-01T12:00:00Z","unitCode":"M1","datasetId":"urn:ngsi-ld:Dataset:Bottom"},{"type":"Property","value":0.41,"observedAt":"2023-04-01T13:00:00Z","unitCode":"M1","datasetId":"urn:ngsi-ld:Dataset:Surface"}],"dissolvedOxygen":{"type":"Property","sandreCode":{"type":"Property","value":"1311"},"value":8.9,"observedAt":"2023-04-01T10:00:00Z","unitCode":"M1"},"waterTemperature":[{"type":"Property","value":10.9,"observedAt":"2022-12-09T13:40:00Z","unitCode":"CEL","datasetId":"urn:ngsi-ld:Dataset:Bottom"},{"type":"Property","value":12.9,"observedAt":"2022-12-09T13:40:00Z","unitCode":"CEL","datasetId":"urn:ngsi-ld:Dataset:Surface"}],"servesDataset":{"type":"Relationship","object":"urn:ngsi-ld:Dataset:SurfaceWaterMonitoring"},"location":{"type":"GeoProperty","value":{"type":"Point","coordinates":[3.53452158,43.48562782]}}}"#;
const FRAGMENT: &str = r#"{"ammonium":[{"type":"Property","value":34.56789012,"observedAt":"2023-10-05T07:21:24.238Z","unitCode":"M1","datasetId":"urn:ngsi-ld:Dataset:Bottom"},{"type":"Property","value":41.12345678,"observedAt":"2023-10-05T07:21:24.238Z","unitCode":"M1","datasetId":"urn:ngsi-ld:Dataset:Surface"}],"dissolvedOxygen":{"type":"Property","sandreCode":{"type":"Property","value":"1311"},"value":8.98765432,"observedAt":"2023-10-05T07:21:24.238Z","unitCode":"M1"}}"#;
const PATCH: &str = r#"{"value":57.613845931482,"observedAt":"2023-10-05T07:21:24.238Z"}"#;
const QUERY: &str = r#"ammonium>57;name=="Name of my entity""#;
const NAMES: &[&str] = &[
    "Entity",
    "name",
    "description",
    "stationCode",
    "ammonium",
    "dissolvedOxygen",
    "sandreCode",
    "waterTemperature",
    "servesDataset",
    "location",
];
const ROUNDS: u32 = 200_000;

/// The best of five turns, in microseconds a call.
fn measure(out: &mut impl Write, what: &str, bytes: usize, mut call: impl FnMut()) {
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            call();
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS));
    }
    let _ = writeln!(out, "{what:<34} {bytes:>5} B {best:>8.3} us");
}

fn main() {
    let names = Names::of(&RequestContext::core(), NAMES);
    let mut out = std::io::stdout();
    measure(&mut out, "template entity", ENTITY.len(), || {
        let entity = parse_entity(black_box(ENTITY), &names, &Rules::create(64)).expect("an entity");
        assert_eq!(entity.attributes.len(), 8);
    });
    measure(&mut out, "update fragment", FRAGMENT.len(), || {
        let fragment = parse_fragment(black_box(FRAGMENT), &names, &Rules::update(64)).expect("a fragment");
        assert_eq!(fragment.attributes.len(), 2);
    });
    measure(&mut out, "partial update of an attribute", PATCH.len(), || {
        let patch = parse_attribute(black_box(PATCH), "dissolvedOxygen", &names, &Rules::merge(64));
        assert_eq!(patch.expect("an attribute").instances.len(), 1);
    });
    measure(&mut out, "q of two terms", QUERY.len(), || {
        let options = QueryOptions { names: &names, expand_values: &[], nodes_max: 100, values_max: 100 };
        assert!(parse_query(black_box(QUERY), &options).is_ok());
    });
}
