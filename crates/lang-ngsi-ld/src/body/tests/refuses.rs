use super::*;

#[test]
fn what_is_not_json() {
    check_entity("{", "NotJson: the body is not JSON: unexpected end of JSON at byte 1");
    check_entity("", "NotJson: the body is not JSON: unexpected end of JSON at byte 0");
    check_entity(
        r#"{"id":"urn:x:1","type":"T","a":{"value":01}}"#,
        "NotJson: the body is not JSON: malformed JSON number at byte 40",
    );
    check_entity(
        r#"{"id":"urn:x:1","type":"T"}x"#,
        "NotJson: the body is not JSON: trailing characters after JSON at byte 27",
    );
    check("[1]", "Invalid: an entity must be a JSON object");
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(20), "]".repeat(20));
    check(&deep, "Invalid: attribute \"a\": JSON nested too deeply at byte 20 (depth_max)");
}

#[test]
fn wrong_members_of_an_entity() {
    check_entity(r#"{"type":"T"}"#, "Invalid: an entity must have an \"id\"");
    check_entity(r#"{"id":"urn:x:1"}"#, "Invalid: an entity must have a \"type\"");
    check_entity(r#"{"id":"x","type":"T"}"#, "Invalid: \"id\": \"x\" is not a URI");
    check_entity(r#"{"id":7,"type":"T"}"#, "Invalid: \"id\" must be a string, not 7");
    check_entity(r#"{"id":"urn:x:1","@id":"urn:x:1","type":"T"}"#, "Invalid: \"id\" is given twice");
    check_entity(
        r#"{"id":"urn:x:1","type":7}"#,
        "Invalid: \"type\" must be a string or an array of strings, not 7",
    );
    check_entity(r#"{"id":"urn:x:1","type":[]}"#, "Invalid: \"type\" must not be an empty array");
    check_entity(
        r#"{"id":"urn:x:1","type":"a b"}"#,
        "Invalid: \"type\": name \"a b\" holds ' ', which no name can",
    );
    check_entity(r#"{"id":"urn:x:1","type":""}"#, "Invalid: \"type\": a name must not be empty");
    check(r#"{"scope":"/a b"}"#, "Invalid: \"scope\": \"/a b\" is not a scope such as /Madrid/Gardens");
    check(r#"{"scope":["/a",7]}"#, "Invalid: \"scope\" must be a string, not 7");
    check(
        r#"{"expiresAt":"soon"}"#,
        "Invalid: \"expiresAt\" must be a date-time in UTC such as 2023-04-01T12:00:00Z, with at most six decimals, not \"soon\"",
    );
    check(r#"{"@graph":[]}"#, "Invalid: \"@graph\" is a JSON-LD keyword that an entity cannot have");
    check(r#"{"a<b":1}"#, "Invalid: name \"a<b\" holds '<', which no name can");
    check(r#"{"a":1,"a":2}"#, "Invalid: attribute \"a\" is given twice");
    check(r#"{"new":1,"new":2}"#, "Invalid: attribute \"new\" is given twice");
    let many: Vec<_> = (0..40).map(|number| format!("\"n{number}\":1")).collect();
    check(&format!("{{{},\"n35\":1}}", many.join(",")), "Invalid: attribute \"n35\" is given twice");
}

#[test]
fn wrong_values() {
    let wrong = |body: &str, expected: &str| check(body, &format!("Invalid: attribute \"a\": {expected}"));
    wrong(r#"{"a":null}"#, "\"value\" must not be null here");
    wrong(r#"{"a":"urn:ngsi-ld:null"}"#, "\"value\" must not be urn:ngsi-ld:null here");
    wrong(r#"{"a":{"type":"Property","value":null}}"#, "\"value\" must not be null here");
    wrong(r#"{"a":{"value":{"x":"urn:ngsi-ld:null"}}}"#, "\"value\" must not hold urn:ngsi-ld:null here");
    wrong(
        r#"{"a":{"type":"Foo","value":1}}"#,
        "\"type\": \"Foo\" is no kind of attribute (Property, GeoProperty, Relationship, LanguageProperty, VocabProperty, JsonProperty, ListProperty, ListRelationship)",
    );
    wrong(
        r#"{"a":{"type":"Foo","x":1}}"#,
        "\"type\": \"Foo\" is no kind of attribute (Property, GeoProperty, Relationship, LanguageProperty, VocabProperty, JsonProperty, ListProperty, ListRelationship)",
    );
    wrong(r#"{"a":{"type":"Property"}}"#, "a Property must have a \"value\"");
    wrong(
        r#"{"a":{"type":"Relationship","value":1}}"#,
        "a Relationship has its value in \"object\", not in \"value\"",
    );
    wrong(r#"{"a":{"unitCode":"CEL"}}"#, "must have a value");
    wrong(
        r#"{"a":{"value":1,"object":"urn:x:1"}}"#,
        "must have its value in one member, not in both \"value\" and \"object\"",
    );
    wrong(
        r#"{"a":{"type":"Relationship","object":7}}"#,
        "\"object\" must be a URI or an array of URIs, not 7",
    );
    wrong(r#"{"a":{"type":"Relationship","object":"x"}}"#, "\"object\": \"x\" is not a URI");
    wrong(r#"{"a":{"type":"Relationship","object":[]}}"#, "\"object\" must not be an empty array");
    wrong(
        r#"{"a":{"type":"Relationship","object":["urn:x:1",7]}}"#,
        "\"object\" must be a URI or an array of URIs, not 7",
    );
    wrong(
        r#"{"a":{"type":"LanguageProperty","languageMap":"x"}}"#,
        "\"languageMap\" must be an object of texts by language tag, not \"x\"",
    );
    wrong(
        r#"{"a":{"type":"LanguageProperty","languageMap":{"e_n":"x"}}}"#,
        "\"languageMap\": \"e_n\" is not a language tag",
    );
    wrong(
        r#"{"a":{"type":"LanguageProperty","languageMap":{"en":1}}}"#,
        "\"languageMap\": \"en\" must be a string or an array of strings, not 1",
    );
    wrong(
        r#"{"a":{"type":"VocabProperty","vocab":7}}"#,
        "\"vocab\" must be a string or an array of strings, not 7",
    );
    wrong(r#"{"a":{"type":"VocabProperty","vocab":[]}}"#, "\"vocab\" must not be an empty array");
    wrong(r#"{"a":{"type":"ListProperty","valueList":7}}"#, "\"valueList\" must be an array, not 7");
    wrong(
        r#"{"a":{"type":"ListRelationship","objectList":[7]}}"#,
        "\"objectList\" must hold URIs, or objects with an \"object\"",
    );
    wrong(r#"{"a":{"type":"ListRelationship","objectList":["x"]}}"#, "\"objectList\": \"x\" is not a URI");
    wrong(
        r#"{"a":{"type":"GeoProperty","value":5}}"#,
        "\"value\": a GeoJSON geometry is an object with a type",
    );
    wrong(
        r#"{"a":{"type":"GeoProperty","value":{"type":"Point","coordinates":[200,1]}}}"#,
        "\"value\": longitude 200 is not between -180 and 180",
    );
    wrong(
        r#"{"a":{"type":"Point","coordinates":[1]}}"#,
        "\"value\": a position must have two or three numbers",
    );
}

#[test]
fn wrong_members_of_an_instance() {
    let wrong = |body: &str, expected: &str| check(body, &format!("Invalid: attribute \"a\": {expected}"));
    wrong(
        r#"{"a":{"value":1,"observedAt":"2023"}}"#,
        "\"observedAt\" must be a date-time in UTC such as 2023-04-01T12:00:00Z, with at most six decimals, not \"2023\"",
    );
    wrong(r#"{"a":{"value":1,"observedAt":7}}"#, "\"observedAt\" must be a string, not 7");
    wrong(r#"{"a":{"value":1,"unitCode":7}}"#, "\"unitCode\" must be a string, not 7");
    wrong(r#"{"a":{"value":1,"unitCode":null}}"#, "\"unitCode\" must not be null here");
    wrong(r#"{"a":{"value":1,"unitCode":"x","unitCode":"y"}}"#, "\"unitCode\" is given twice");
    wrong(r#"{"a":{"value":1,"datasetId":"x"}}"#, "\"datasetId\": \"x\" is not a URI");
    wrong(r#"{"a":{"value":1,"datasetId":"urn:ngsi-ld:null"}}"#, "\"datasetId\" cannot be removed");
    wrong(
        r#"{"a":{"value":1,"@id":"urn:x:1"}}"#,
        "\"@id\" is a JSON-LD keyword that an attribute cannot have",
    );
    wrong(r#"{"a":{"value":1,"id":"urn:x:1"}}"#, "an attribute cannot have an \"id\"");
    wrong(
        r#"{"a":{"value":1,"@context":{}}}"#,
        "\"@context\" is a JSON-LD keyword that an attribute cannot have",
    );
    wrong(r#"{"a":{"type":"Property","type":"Property","value":1}}"#, "\"type\" is given twice");
    wrong(r#"{"a":{"type":7,"value":1}}"#, "\"type\" must be a string, not 7");
    wrong(
        r#"{"a":{"languageMap":{"en":"x"},"unitCode":"CEL"}}"#,
        "a LanguageProperty cannot have \"unitCode\"",
    );
    wrong(r#"{"a":{"value":1,"objectType":"T"}}"#, "a Property cannot have \"objectType\"");
    wrong(r#"{"a":{"object":"urn:x:1","valueType":"T"}}"#, "a Relationship cannot have \"valueType\"");
    wrong(
        r#"{"a":{"object":"urn:x:1","objectType":7}}"#,
        "\"objectType\" must be a string or an array of strings, not 7",
    );
    wrong(r#"{"a":{"value":1,"entity":{}}}"#, "a Property cannot have \"entity\"");
    wrong(r#"{"a":{"value":1,"b":1,"b":2}}"#, "attribute \"b\" is given twice");
    check(
        r#"{"a":{"value":1,"b":{"value":2,"c":{"type":"X","x":1}}}}"#,
        "Invalid: attribute \"a.b.c\": \"type\": \"X\" is no kind of attribute (Property, GeoProperty, Relationship, LanguageProperty, VocabProperty, JsonProperty, ListProperty, ListRelationship)",
    );
}

#[test]
fn instances_that_are_not_told_apart() {
    let wrong = |body: &str, expected: &str| check(body, &format!("Invalid: attribute \"a\": {expected}"));
    wrong(r#"{"a":[{"value":1},{"value":2}]}"#, "two instances have no datasetId: all but one must have one");
    wrong(
        r#"{"a":[{"value":1},{"value":2,"datasetId":"@none"}]}"#,
        "two instances have no datasetId: all but one must have one",
    );
    wrong(
        r#"{"a":[{"value":1,"datasetId":"urn:d:1"},{"value":1},{"value":2,"datasetId":"urn:d:1"}]}"#,
        "two instances have the datasetId \"urn:d:1\"",
    );
    wrong(
        r#"{"a":[{"value":1},7]}"#,
        "an array of instances must hold nothing but objects with a type or a value",
    );
    let (bare, instance) = (
        r#"{"type":"Point","coordinates":[1,2]}"#,
        r#"{"type":"GeoProperty","value":{"type":"Point","coordinates":[1,2]},"datasetId":"urn:d:1"}"#,
    );
    for (one, other) in [(bare, instance), (instance, bare)] {
        wrong(
            &format!(r#"{{"a":[{one},{other}]}}"#),
            "\"type\": \"Point\" is no kind of attribute (Property, GeoProperty, Relationship, LanguageProperty, \
             VocabProperty, JsonProperty, ListProperty, ListRelationship)",
        );
    }
    let many: Vec<_> =
        (0..40).map(|number| format!("{{\"value\":1,\"datasetId\":\"urn:d:{number}\"}}")).collect();
    let body = format!("{{\"b\":[{}]}}", many.join(","));
    assert_eq!(entity(&body, &Rules::fragment(16)).lines().count(), 40);
    wrong(
        &format!("{{\"a\":[{},{{\"value\":2,\"datasetId\":\"urn:d:3\"}}]}}", many.join(",")),
        "two instances have the datasetId \"urn:d:3\"",
    );
    let nested = r#"{"a":{"dataset":{"urn:d:1":{"dataset":{"urn:d:2":1}}}}}"#;
    check_simplified(nested, "Invalid: attribute \"a\": \"dataset\" must not be nested in \"dataset\"");
}

#[test]
fn batches() {
    let refused = |body, count_max| {
        let problem = split_batch(body, count_max).unwrap_err();
        problem.shown()
    };
    assert_eq!(refused("{}", 9), "Invalid: a batch must be a JSON array");
    assert_eq!(refused("[]", 9), "Invalid: a batch must not be empty");
    assert_eq!(
        refused("[1,2,3]", 2),
        "Invalid: a batch must not have more than 2 elements (batch_entities_max)"
    );
    assert_eq!(refused("[1,2", 9), "NotJson: the body is not JSON: unexpected end of JSON at byte 4");
    assert_eq!(
        refused("[1,{\"a\":}]", 9),
        "NotJson: the body is not JSON: unexpected character in JSON at byte 8"
    );
    assert_eq!(
        parse_ids("[7]", 9).unwrap_err().to_string(),
        "a batch deletion must be an array of entity ids"
    );
    assert!(matches!(context_member("{\"a\":"), Err(Error::NotJson(_))));
}
