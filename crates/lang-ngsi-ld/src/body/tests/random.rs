use proptest::prelude::*;

use super::*;

/// Bodies that use every feature, to be mutated.
const BODIES: &[&str] = &[
    r#"{"id":"urn:x:1","type":["T","U"],"scope":["/a","b"],"a":{"type":"Property","value":[1,{"x":"\u00e9"}],"observedAt":"2023-04-01T12:00:00.5Z","unitCode":"CEL","b":{"value":1}},"@context":"x"}"#,
    r#"{"id":"urn:x:1","type":"T","a":[{"type":"Relationship","object":["urn:x:1","urn:x:2"],"objectType":"T"},{"object":"urn:x:3","datasetId":"urn:d:1"}],"b":{"languageMap":{"en":"x","fr":["y"]}}}"#,
    r#"{"id":"urn:x:1","type":"T","a":{"vocab":["x","y"]},"b":{"json":{"x":null}},"c":{"valueList":[1]},"d":{"objectList":["urn:x:1",{"object":"urn:x:2"}]}}"#,
    r#"{"a":{"type":"GeoProperty","value":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}},"b":{"type":"Point","coordinates":[1,2]},"c":"urn:ngsi-ld:null"}"#,
    r#"{"id":"urn:x:1","type":"T","a":[{"value":1,"observedAt":"2023-04-01T12:00:00Z"},{"value":2,"b":{"value":1}}],"b":{"type":"Property","values":[[1,"2023-04-01T12:00:00Z"],[{"x":1},"2023-04-01T12:00:01Z"]],"datasetId":"urn:d:1"},"c":[{"type":"Relationship","objects":[["urn:x:1","2023-04-01T12:00:00Z"]]}],"d":[]}"#,
    r#"{"a":{"dataset":{"@none":1,"urn:d:1":{"languageMap":{"en":"x"}}}},"b":{"@type":"DateTime","@value":"x"},"c":null}"#,
];

fn rules() -> impl Strategy<Value = Rules> {
    let rules = [
        Rules::create(8),
        Rules::fragment(8),
        Rules::update(8),
        Rules::patch(8),
        Rules::merge(8),
        Rules::temporal(8),
    ];
    (prop::sample::select(rules.to_vec()), any::<bool>()).prop_map(|(rules, simplified)| {
        rules.in_representation(if simplified {
            Representation::Simplified
        } else {
            Representation::Normalized
        })
    })
}

/// A body with some bytes replaced, removed or doubled.
fn mutated() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), 0..3_u8, prop::sample::select(b"{}[]\",:0ae\\@ \0".to_vec()));
    (prop::sample::select(BODIES), prop::collection::vec(change, 0..4)).prop_map(|(body, changes)| {
        let mut bytes = body.as_bytes().to_vec();
        for (at, what, byte) in changes {
            let at = at.index(bytes.len());
            match what {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Parses in every way; whatever comes of it must be whole.
fn try_all(body: &str, rules: &Rules) {
    let names = names();
    if let Ok(draft) = parse_entity(body, &names, rules) {
        for instance in draft.attributes.iter().flat_map(|attribute| &attribute.instances) {
            if let Some(value) = &instance.value {
                assert_eq!(lang_json::canonical(value, 64).as_deref(), Ok(&**value));
            }
            assert!(rules.partial || instance.remove || instance.kind.is_some() && instance.value.is_some());
        }
    }
    let _ = parse_fragment(body, &names, rules);
    let _ = parse_attribute(body, "a", &names, rules);
    let _ = parse_history_instance(body, "a", &names, rules);
    if let Ok(draft) = parse_history(body, &names, rules) {
        assert!(draft.attributes.iter().all(|attribute| !attribute.instances.is_empty()));
    }
    let _ = (context_member(body), split_batch(body, 9), parse_ids(body, 9));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((2000 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn never_panics_on_mutated_bodies(body in mutated(), rules in rules()) {
        try_all(&body, &rules);
    }

    #[test]
    fn never_panics_on_noise(body in "[\\[\\]{}\",:0-9a-e@\\\\ -]{0,60}", rules in rules()) {
        try_all(&body, &rules);
    }
}
