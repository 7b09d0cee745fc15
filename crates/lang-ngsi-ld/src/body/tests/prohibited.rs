//! What the standard prohibits of entities and attributes, and what it asks to be passed over.

use super::*;

/// A fragment of which attribute `a` is refused.
fn wrong(body: &str, expected: &str) {
    check(body, &format!("Invalid: attribute \"a\": {expected}"));
}

#[test]
fn outputs_are_ignored_where_the_kind_can_have_them() {
    check(
        r#"{"createdAt":1,"modifiedAt":null,"deletedAt":{},"a":{"value":1,"createdAt":null,"modifiedAt":[],"deletedAt":"x",
        "instanceId":7,"previousValue":{"x":"urn:ngsi-ld:null"}}}"#,
        "a Property 1",
    );
    for (body, expected) in [
        (r#"{"object":"urn:x:1","previousObject":7,"entity":[]}"#, "Relationship \"urn:x:1\""),
        (
            r#"{"objectList":["urn:x:1"],"previousObjectList":7,"entityList":7}"#,
            "ListRelationship [\"urn:x:1\"]",
        ),
        (r#"{"languageMap":{"en":"x"},"previousLanguageMap":7}"#, "LanguageProperty {\"en\":\"x\"}"),
        (r#"{"vocab":"urn:v:1","previousVocab":7}"#, "VocabProperty \"urn:v:1\""),
        (r#"{"json":{},"previousJson":7}"#, "JsonProperty {}"),
        (r#"{"valueList":[],"previousValueList":7}"#, "ListProperty []"),
    ] {
        check(&format!("{{\"a\":{body}}}"), &format!("a {expected}"));
    }
}

#[test]
fn outputs_of_another_kind_are_prohibited() {
    let previous = [
        "previousValue",
        "previousObject",
        "previousLanguageMap",
        "previousVocab",
        "previousJson",
        "previousValueList",
        "previousObjectList",
        "entity",
        "entityList",
    ];
    for (kind, value, own) in [
        ("Property", r#""value":1"#, &["previousValue"][..]),
        ("GeoProperty", r#""value":{"type":"Point","coordinates":[1,2]}"#, &["previousValue"]),
        ("Relationship", r#""object":"urn:x:1""#, &["previousObject", "entity"]),
        ("LanguageProperty", r#""languageMap":{"en":"x"}"#, &["previousLanguageMap"]),
        ("VocabProperty", r#""vocab":"urn:v:1""#, &["previousVocab"]),
        ("JsonProperty", r#""json":{}"#, &["previousJson"]),
        ("ListProperty", r#""valueList":[]"#, &["previousValueList"]),
        ("ListRelationship", r#""objectList":["urn:x:1"]"#, &["previousObjectList", "entityList"]),
    ] {
        for member in previous {
            let found = entity(&format!("{{\"a\":{{{value},\"{member}\":1}}}}"), &Rules::fragment(16));
            let expected = format!("Invalid: attribute \"a\": a {kind} cannot have \"{member}\"");
            assert_eq!(found == expected, !own.contains(&member), "{kind} {member}: {found}");
        }
    }
}

#[test]
fn seals_belong_to_proofs() {
    wrong(
        r#"{"a":{"value":1,"entityIdSealed":"urn:x:1"}}"#,
        "\"entityIdSealed\" belongs to \"ngsildproof\" alone",
    );
    wrong(
        r#"{"a":{"object":"urn:x:1","entityTypeSealed":"T"}}"#,
        "\"entityTypeSealed\" belongs to \"ngsildproof\" alone",
    );
    let proof =
        r#"{"a":{"value":1,"ngsildproof":{"type":"Property","entityIdSealed":"urn:x:1","value":{}}}}"#;
    check(proof, r#"a Property 1 Proof {"type":"Property","entityIdSealed":"urn:x:1","value":{}}"#);
}

#[test]
fn members_come_once() {
    wrong(r#"{"a":{"value":1,"ngsildproof":1,"ngsildproof":2}}"#, "\"ngsildproof\" is given twice");
    wrong(r#"{"a":{"object":"urn:x:1","objectType":"T","objectType":"U"}}"#, "\"objectType\" is given twice");
    check_merge(r#"{"a":{"unitCode":null,"unitCode":null}}"#, "a ? -UnitCode");
}

#[test]
fn json_is_an_object_or_objects() {
    for json in ["1", "true", "\"x\"", "[1]", "[{},\"x\"]"] {
        let expected = format!("\"json\" must be an object or an array of objects, not {json}");
        wrong(&format!("{{\"a\":{{\"type\":\"JsonProperty\",\"json\":{json}}}}}"), &expected);
    }
    check(
        r#"{"a":{"json":[]},"b":{"json":[{"x":1},{}]}}"#,
        "a JsonProperty []\nb JsonProperty [{\"x\":1},{}]",
    );
}

#[test]
fn places_of_the_core_vocabulary_are_geo_properties() {
    let point = r#"{"type":"Point","coordinates":[1,2]}"#;
    let iri = "https://uri.etsi.org/ngsi-ld/location";
    for name in ["location", "observationSpace", "operationSpace", "ngsi-ld:location", iri] {
        for value in ["1", "\"x\"", r#"{"type":"Property","value":1}"#, r#"{"object":"urn:x:1"}"#, "[1]"] {
            let expected = format!(
                "Invalid: attribute {name:?}: must be a GeoProperty: its value is a GeoJSON geometry"
            );
            check(&format!("{{\"{name}\":{value}}}"), &expected);
            check_merge(&format!("{{\"{name}\":{value}}}"), &expected);
            check_simplified(&format!("{{\"{name}\":{value}}}").replace("object", "obj"), &expected);
        }
    }
    check(&format!("{{\"location\":{point}}}"), &format!("location GeoProperty {point}"));
    check_merge(r#"{"location":{"observedAt":"2023-04-01T12:00:00Z"}}"#, "location ? at 1680350400000000");
    check_merge(r#"{"location":null}"#, "location ? removed");
}

#[test]
fn geometries_may_be_json_text() {
    check(
        r#"{"a":{"type":"GeoProperty","value":"{\"type\": \"Point\", \"coordinates\": [1, 2]}"}}"#,
        r#"a GeoProperty {"type":"Point","coordinates":[1,2]}"#,
    );
    wrong(
        r#"{"a":{"type":"GeoProperty","value":"{\"type\":\"Point\""}}"#,
        "\"value\": as a text it must be the JSON of a GeoJSON geometry: unexpected end of JSON at byte 15",
    );
    wrong(
        r#"{"a":{"type":"GeoProperty","value":"{\"type\":\"Point\",\"coordinates\":[1]}"}}"#,
        "\"value\": a position must have two or three numbers",
    );
    wrong(
        r#"{"a":{"type":"GeoProperty","value":"7"}}"#,
        "\"value\": a GeoJSON geometry is an object with a type",
    );
}

#[test]
fn types_begin_with_a_letter_and_are_no_keywords() {
    let of_type = |name: &str| format!("{{\"id\":\"urn:x:1\",\"type\":\"{name}\"}}");
    for name in ["9T", "-T", ".T", "٣"] {
        let expected = format!("Invalid: \"type\": name {name:?} must begin with a letter");
        check_entity(&of_type(name), &expected);
    }
    check_entity(&of_type("@type"), "Invalid: \"type\": name \"@type\" holds '@', which no name can");
    for name in ["id", "type"] {
        let found = entity(&of_type(name), &Rules::create(16));
        let expected = format!(
            "Invalid: {name:?} is the JSON-LD keyword \"@{name}\" in this context, and cannot be a name"
        );
        assert_eq!(found, expected);
    }
    check_entity(&of_type("größe"), "new: https://uri.etsi.org/ngsi-ld/default-context/größe");
}

#[test]
fn core_members_name_no_attributes() {
    for name in
        ["datasetId", "instanceId", "observedAt", "unitCode", "objectType", "valueType", "previousValue"]
    {
        let expected = format!(
            "Invalid: {name:?} is a member of the core vocabulary, and cannot be the name of an attribute or type"
        );
        check(&format!("{{\"{name}\":1}}"), &expected);
        check_simplified(&format!("{{\"{name}\":1}}"), &expected);
    }
    let iri = "https://uri.etsi.org/ngsi-ld/datasetId";
    check(
        &format!("{{\"a\":{{\"value\":1,\"{iri}\":1}}}}"),
        &format!(
            "Invalid: attribute \"a\": {iri:?} is a member of the core vocabulary, and cannot be the name of an attribute or type"
        ),
    );
    check(r#"{"9a":1}"#, "Invalid: name \"9a\" must begin with a letter");
}

#[test]
fn the_null_is_no_id() {
    check_entity(r#"{"id":"urn:ngsi-ld:null","type":"T"}"#, "Invalid: \"id\" cannot be urn:ngsi-ld:null");
}

#[test]
fn the_null_stands_within_values_in_merges_alone() {
    let compound = r#"{"a":{"value":{"x":{"y":"urn:ngsi-ld:null"}}}}"#;
    let expected = "Invalid: attribute \"a\": \"value\" must not hold urn:ngsi-ld:null here";
    for rules in [Rules::fragment(16), Rules::update(16), Rules::patch(16)] {
        check_fragment(compound, rules, expected);
    }
    check_merge(compound, r#"a Property {"x":{"y":"urn:ngsi-ld:null"}}"#);
    let list = r#"{"a":{"value":{"x":["urn:ngsi-ld:null",1]}}}"#;
    check_merge(list, "Invalid: attribute \"a\": \"value\" must not hold urn:ngsi-ld:null in an array");
    let map = r#"{"a":{"languageMap":{"en":"urn:ngsi-ld:null"}}}"#;
    check_fragment(map, Rules::patch(16), &expected.replace("value", "languageMap"));
    // What a JsonProperty holds is nobody's business.
    let json = r#"{"a":{"json":{"x":["urn:ngsi-ld:null"],"y":"urn:ngsi-ld:null"}}}"#;
    for rules in [Rules::fragment(16), Rules::update(16), Rules::patch(16), Rules::merge(16)] {
        check_fragment(json, rules, r#"a JsonProperty {"x":["urn:ngsi-ld:null"],"y":"urn:ngsi-ld:null"}"#);
    }
}

#[test]
fn the_null_says_in_the_past_that_something_was_removed() {
    check_fragment(
        r#"{"a":[{"type":"Property","value":1},{"type":"Property","value":"urn:ngsi-ld:null","deletedAt":"2023-04-01T12:00:00Z"}],
        "b":{"type":"Relationship","object":"urn:ngsi-ld:null","datasetId":"urn:d:1"},
        "c":{"languageMap":{"@none":"urn:ngsi-ld:null"}},"d":"urn:ngsi-ld:null",
        "name":{"type":"Property","values":[[1,"2023-04-01T12:00:00Z"],["urn:ngsi-ld:null","2023-04-01T12:00:01Z"]]}}"#,
        Rules::temporal(16).with_id(false),
        "a Property 1\na Property removed\nb Relationship [urn:d:1] removed\nc LanguageProperty removed\n\
         d Property removed\nname Property 1 at 1680350400000000\nname Property removed",
    );
    for (body, expected) in [
        (r#"{"a":null}"#, "\"value\" must not be null here"),
        (r#"{"a":{"value":null}}"#, "\"value\" must not be null here"),
        (
            r#"{"a":{"value":1,"unitCode":"urn:ngsi-ld:null"}}"#,
            "\"unitCode\" must not be urn:ngsi-ld:null here",
        ),
        (r#"{"a":{"value":1,"b":"urn:ngsi-ld:null"}}"#, "\"b\" must not be urn:ngsi-ld:null here"),
        (r#"{"a":{"value":["x","urn:ngsi-ld:null"]}}"#, "\"value\" must not hold urn:ngsi-ld:null here"),
    ] {
        let expected = format!("Invalid: attribute \"a\": {expected}");
        check_fragment(body, Rules::temporal(16).with_id(false), &expected);
    }
}

#[test]
fn times_are_in_utc() {
    for text in ["2023-04-01T12:00:00+02:00", "2023-04-01T12:00:00", "2023-04-01T12:00:00.1234567Z"] {
        wrong(
            &format!("{{\"a\":{{\"value\":1,\"observedAt\":\"{text}\"}}}}"),
            &format!(
                "\"observedAt\" must be a date-time in UTC such as 2023-04-01T12:00:00Z, with at most six decimals, not {text:?}"
            ),
        );
    }
    check(r#"{"a":{"value":1,"observedAt":"2023-04-01T12:00:00,5Z"}}"#, "a Property 1 at 1680350400500000");
}

#[test]
fn numbers_are_doubles() {
    let beyond = "JSON number beyond the range of doubles at byte";
    wrong(r#"{"a": 1e400}"#, &format!("{beyond} 6"));
    wrong(r#"{"a":{"value":[1,{"x":-1e309}]}}"#, &format!("{beyond} 22"));
    wrong(r#"{"a":{"json":{"x":1e400}}}"#, &format!("{beyond} 18"));
    wrong(
        r#"{"a":{"type":"GeoProperty","value":{"type":"Point","coordinates":[1e999,1]}}}"#,
        &format!("{beyond} 66"),
    );
    wrong(&format!("{{\"a\":{}}}", "9".repeat(400)), &format!("{beyond} 5"));
    check(r#"{"a":1e308,"b":1e-400}"#, "a Property 1e308\nb Property 1e-400");
}

#[test]
fn counts_have_limits() {
    let list =
        |count: usize, each: &dyn Fn(usize) -> String| (0..count).map(each).collect::<Vec<_>>().join(",");
    let refused = |body: &str, of: &str, max: usize, name: &str| {
        let found = printed(parse_fragment(body, &names(), &Rules::fragment(16)), print);
        assert_eq!(found, format!("TooLarge: {of}: at most {max} are allowed ({name})"));
    };
    let scopes = list(model_entities::SCOPES_MAX + 1, &|number| format!("\"/s{number}\""));
    refused(&format!("{{\"scope\":[{scopes}]}}"), "more than 1000 scopes of an entity", 1000, "SCOPES_MAX");
    let types = list(model_entities::TYPES_MAX + 1, &|number| format!("\"T{number}\""));
    refused(&format!("{{\"type\":[{types}]}}"), "more than 100 types of an entity", 100, "TYPES_MAX");
    let attributes = list(model_entities::ATTRIBUTES_MAX + 1, &|number| format!("\"a{number}\":1"));
    refused(&format!("{{{attributes}}}"), "more than 5000 attributes of an entity", 5000, "ATTRIBUTES_MAX");
    refused(
        &format!("{{\"a\":{{\"value\":1,{attributes}}}}}"),
        "attribute \"a\": more than 1000 sub-attributes of an attribute",
        1000,
        "SUB_ATTRIBUTES_MAX",
    );
    let instances = list(model_entities::INSTANCES_MAX + 1, &|number| {
        format!("{{\"value\":1,\"datasetId\":\"urn:d:{number}\"}}")
    });
    refused(
        &format!("{{\"a\":[{instances}]}}"),
        "attribute \"a\": more than 5000 instances of an attribute",
        5000,
        "INSTANCES_MAX",
    );
}
