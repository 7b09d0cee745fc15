use super::*;

#[test]
fn the_stellio_template() {
    check_entity(
        r#"{"id":"urn:ngsi-ld:Entity:2c3b3a4e-3f38-4c2b-a4e8-7f6f3f0d1c55","type":"Entity",
        "name":{"type":"Property","value":"Name of my entity"},
        "ammonium":[
          {"type":"Property","value":0.34,"observedAt":"2023-04-01T12:00:00Z","unitCode":"M1","datasetId":"urn:ngsi-ld:Dataset:Bottom"},
          {"type":"Property","value":0.41,"observedAt":"2023-04-01T13:00:00Z","unitCode":"M1","datasetId":"urn:ngsi-ld:Dataset:Surface"}],
        "dissolvedOxygen":{"type":"Property","sandreCode":{"type":"Property","value":"1311"},"value":8.9,"observedAt":"2023-04-01T10:00:00Z","unitCode":"M1"},
        "servesDataset":{"type":"Relationship","object":"urn:ngsi-ld:Dataset:SurfaceWaterMonitoring"},
        "location":{"type":"GeoProperty","value":{"type":"Point","coordinates":[3.53452158,43.48562782]}}}"#,
        "id urn:ngsi-ld:Entity:2c3b3a4e-3f38-4c2b-a4e8-7f6f3f0d1c55\n\
         type Entity\n\
         name Property \"Name of my entity\"\n\
         ammonium Property [urn:ngsi-ld:Dataset:Bottom] 0.34 at 1680350400000000 in M1\n\
         ammonium Property [urn:ngsi-ld:Dataset:Surface] 0.41 at 1680354000000000 in M1\n\
         dissolvedOxygen Property 8.9 at 1680343200000000 in M1\n\
         \u{20}\u{20}sandreCode Property \"1311\"\n\
         servesDataset Relationship \"urn:ngsi-ld:Dataset:SurfaceWaterMonitoring\"\n\
         location GeoProperty {\"type\":\"Point\",\"coordinates\":[3.53452158,43.48562782]}",
    );
    check_attribute(
        r#"{"value":57.61384593,"observedAt":"2023-10-05T07:21:24.238Z"}"#,
        Rules::merge(16),
        "a Property 57.61384593 at 1696490484238000",
    );
}

#[test]
fn the_fiware_bodies() {
    check_entity(
        r#"{"type":"store","id":"urn:ngsi-ld:store:1","temperature":{"type":"Property","value":-12},
        "humidity":{"type":"Property","value":0.25},"senttime":{"type":"Property","value":1680350400000},
        "open":{"type":"Property","value":"true"},"owner":{"type":"Relationship","object":"urn:ngsi-ld:owner:random-owner"},
        "@context":"https://fiware.github.io/data-models/context.jsonld"}"#,
        "id urn:ngsi-ld:store:1\ntype store\ntemperature Property -12\nhumidity Property 0.25\n\
         senttime Property 1680350400000\nopen Property \"true\"\nowner Relationship \"urn:ngsi-ld:owner:random-owner\"",
    );
    check_entity(
        r#"{"type":"timed-entity","id":"urn:ngsi-ld:timed-entity:1","senttime":{"type":"Property","value":1}}"#,
        "id urn:ngsi-ld:timed-entity:1\ntype timed-entity\nsenttime Property 1",
    );
    check(
        r#"{"temperature":{"type":"Property","value":5},"senttime":{"type":"Property","value":2},"@context":"x"}"#,
        "temperature Property 5\nsenttime Property 2",
    );
}

#[test]
fn every_kind_normalized() {
    check(
        r#"{"a":{"type":"Property","value":[1,{"b":null}],"valueType":"T"}}"#,
        "a Property [1,{\"b\":null}] ValueType \"https://uri.etsi.org/ngsi-ld/default-context/T\"",
    );
    check(
        r#"{"a":{"value":{"type":"LineString","coordinates":[[1,2],[3,4]]},"type":"GeoProperty"}}"#,
        r#"a GeoProperty {"type":"LineString","coordinates":[[1,2],[3,4]]}"#,
    );
    check(
        r#"{"a":{"type":"Relationship","object":"urn:x:1","objectType":"T"}}"#,
        "a Relationship \"urn:x:1\" ObjectType \"https://uri.etsi.org/ngsi-ld/default-context/T\"",
    );
    check(
        r#"{"a":{"type":"Relationship","object":["urn:x:1", "urn:x:2"]}}"#,
        r#"a Relationship ["urn:x:1","urn:x:2"]"#,
    );
    check(
        r#"{"a":{"type":"LanguageProperty","languageMap":{"en":"yes","fr":["oui","si"],"@none":"hm"}}}"#,
        r#"a LanguageProperty {"en":"yes","fr":["oui","si"],"@none":"hm"}"#,
    );
    check(
        r#"{"a":{"type":"VocabProperty","vocab":"Male"}}"#,
        "a VocabProperty \"https://uri.etsi.org/ngsi-ld/default-context/Male\"",
    );
    check(
        r#"{"a":{"type":"VocabProperty","vocab":["urn:x:1","T"]}}"#,
        "a VocabProperty [\"urn:x:1\",\"https://uri.etsi.org/ngsi-ld/default-context/T\"]",
    );
    check(
        r#"{"a":{"type":"JsonProperty","json":{"id":"85a6", "value":null}}}"#,
        r#"a JsonProperty {"id":"85a6","value":null}"#,
    );
    check(r#"{"a":{"type":"ListProperty","valueList":[1,"x",[2]]}}"#, r#"a ListProperty [1,"x",[2]]"#);
    check(
        r#"{"a":{"type":"ListRelationship","objectList":["urn:x:1",{"object":"urn:x:2"}]}}"#,
        r#"a ListRelationship ["urn:x:1","urn:x:2"]"#,
    );
}

#[test]
fn every_kind_concise() {
    check(r#"{"a":5}"#, "a Property 5");
    check(r#"{"a":"x"}"#, "a Property \"x\"");
    check(r#"{"a":true,"b":[1,2],"c":[]}"#, "a Property true\nb Property [1,2]\nc Property []");
    check(
        r#"{"a":{"street":"x","city":{"type":"City","zip":1}}}"#,
        r#"a Property {"street":"x","city":{"type":"City","zip":1}}"#,
    );
    check(r#"{"a":[{"x":1},{"x":2}]}"#, r#"a Property [{"x":1},{"x":2}]"#);
    check(r#"{"a":{}}"#, "a Property {}");
    check(r#"{"a":{"value":5,"unitCode":"CEL"}}"#, "a Property 5 in CEL");
    check(r#"{"a":{"unitCode":"CEL","value":5}}"#, "a Property 5 in CEL");
    check(r#"{"a":{"b":{"value":1},"value":5}}"#, "a Property 5\n  b Property 1");
    check(
        r#"{"a":{"type":"Point","coordinates":[1,2]}}"#,
        r#"a GeoProperty {"type":"Point","coordinates":[1,2]}"#,
    );
    check(
        r#"{"a":{"coordinates":[1,2],"type":"Point"}}"#,
        r#"a GeoProperty {"coordinates":[1,2],"type":"Point"}"#,
    );
    check(
        r#"{"a":{"value":{"type":"Point","coordinates":[1,2]}}}"#,
        r#"a GeoProperty {"type":"Point","coordinates":[1,2]}"#,
    );
    check(r#"{"a":{"object":"urn:x:1"}}"#, "a Relationship \"urn:x:1\"");
    check(r#"{"a":{"languageMap":{"en":"x"}}}"#, r#"a LanguageProperty {"en":"x"}"#);
    check(r#"{"a":{"vocab":"urn:x:1"}}"#, "a VocabProperty \"urn:x:1\"");
    check(r#"{"a":{"json":[{"b":1}]}}"#, r#"a JsonProperty [{"b":1}]"#);
    check(r#"{"a":{"valueList":[]}}"#, "a ListProperty []");
    check(r#"{"a":{"objectList":[]}}"#, "a ListRelationship []");
    check(
        r#"{"a":{"@type":"DateTime","@value":"2023-04-01T12:00:00Z"}}"#,
        r#"a Property {"@type":"DateTime","@value":"2023-04-01T12:00:00Z"}"#,
    );
    check(
        r#"{"a":{"type":"Property","value":{"@type":"DateTime","@value":"2023-04-01T12:00:00Z"}}}"#,
        r#"a Property {"@type":"DateTime","@value":"2023-04-01T12:00:00Z"}"#,
    );
}

#[test]
fn several_instances() {
    check(
        r#"{"a":[{"value":1},{"value":2,"datasetId":"urn:d:2"},{"object":"urn:x:1","datasetId":"urn:d:1"}]}"#,
        "a Property 1\na Property [urn:d:2] 2\na Relationship [urn:d:1] \"urn:x:1\"",
    );
    check(r#"{"a":{"value":1,"datasetId":"@none"}}"#, "a Property 1");
}

#[test]
fn sub_attributes_at_depth() {
    check(
        r#"{"a":{"value":1,"b":{"value":2,"c":[{"value":3,"datasetId":"urn:d:1"},{"object":"urn:x:1"}],"d":4}}}"#,
        "a Property 1\n  b Property 2\n    c Property [urn:d:1] 3\n    c Relationship \"urn:x:1\"\n    d Property 4",
    );
}

#[test]
fn members_of_an_entity() {
    check_entity(
        r#"{"@id":"urn:x:1","@type":["T","U","T"],"scope":["/Madrid/Gardens","Madrid/Gardens","B"],
        "expiresAt":"2030-01-01T00:00:00Z","createdAt":"2020-01-01T00:00:00Z","modifiedAt":7,"@context":[{"a":"b"}]}"#,
        "id urn:x:1\ntype T U\nscope /Madrid/Gardens /B\nexpires 1893456000000000",
    );
    check(r#"{"scope":"/a"}"#, "scope /a");
    check("{}", "");
}

#[test]
fn members_of_an_instance_that_ride_along_or_are_ignored() {
    check(
        r#"{"a":{"value":1,"createdAt":"x","modifiedAt":1,"instanceId":"urn:i:1","previousValue":0,"lang":"en",
        "ngsildproof":{"type":"Property","value":{"p":1}},"expiresAt":"2030-01-01T00:00:00Z"}}"#,
        "a Property 1 until 1893456000000000 Proof {\"type\":\"Property\",\"value\":{\"p\":1}}",
    );
    check(
        r#"{"a":{"object":"urn:x:1","entity":{"id":"urn:x:1","type":"T"},"previousObject":"urn:x:0"}}"#,
        "a Relationship \"urn:x:1\"",
    );
}

#[test]
fn values_become_canonical() {
    check(r#"{"a":{"value": { "x" : [ 1.50 , "\u00e9\/" ] } }}"#, "a Property {\"x\":[1.50,\"é/\"]}");
    check(r#"{"a": 1E+30}"#, "a Property 1E+30");
}

#[test]
fn simplified_values() {
    check_simplified(
        r#"{"a":{"type":"PostalAddress","street":"x"},"b":"urn:x:1","c":[{"type":"Property","value":1}],"d":{"value":1}}"#,
        "a Property {\"type\":\"PostalAddress\",\"street\":\"x\"}\nb Property \"urn:x:1\"\n\
         c Property [{\"type\":\"Property\",\"value\":1}]\nd Property {\"value\":1}",
    );
    check_simplified(
        r#"{"a":{"languageMap":{"en":"x"}},"b":{"json":{"x":1}},"c":{"vocab":"urn:x:1"},"d":{"type":"Point","coordinates":[1,2]}}"#,
        "a LanguageProperty {\"en\":\"x\"}\nb JsonProperty {\"x\":1}\nc VocabProperty \"urn:x:1\"\n\
         d GeoProperty {\"type\":\"Point\",\"coordinates\":[1,2]}",
    );
    check_simplified(
        r#"{"a":{"dataset":{"@none":"x","urn:d:1":{"languageMap":{"en":"y"}}}},"b":{"dataset":"x"},"c":{"json":1,"x":2}}"#,
        "a Property \"x\"\na LanguageProperty [urn:d:1] {\"en\":\"y\"}\nb Property {\"dataset\":\"x\"}\nc Property {\"json\":1,\"x\":2}",
    );
}

#[test]
fn nulls_remove_in_updates_and_merges() {
    check_fragment(
        r#"{"a":{"type":"Property","value":"urn:ngsi-ld:null"},"b":"urn:ngsi-ld:null"}"#,
        Rules::update(16),
        "a Property removed\nb ? removed",
    );
    check_merge(
        r#"{"a":null,"b":{"value":"urn:ngsi-ld:null","datasetId":"urn:d:1"},"c":{"languageMap":{"@none":"urn:ngsi-ld:null"}},
        "d":{"valueList":["urn:ngsi-ld:null"]},"scope":"urn:ngsi-ld:null"}"#,
        "scope \na ? removed\nb ? [urn:d:1] removed\nc ? removed\nd ? removed",
    );
    check_merge(
        r#"{"a":{"type":"Property","unitCode":"urn:ngsi-ld:null","observedAt":null,"b":"urn:ngsi-ld:null"}}"#,
        "a Property -b -UnitCode -ObservedAt",
    );
    check_merge(
        r#"{"a":{"object":"urn:x:1","objectType":"urn:ngsi-ld:null","expiresAt":null}}"#,
        "a Relationship \"urn:x:1\" -Extra(ObjectType) -ExpiresAt",
    );
    check_merge(
        r#"{"a":{"value":{"street":"x","country":"urn:ngsi-ld:null"}},"b":{"languageMap":{"en":"urn:ngsi-ld:null","fr":null}}}"#,
        "a Property {\"street\":\"x\",\"country\":\"urn:ngsi-ld:null\"}\nb LanguageProperty {\"en\":\"urn:ngsi-ld:null\",\"fr\":null}",
    );
}

#[test]
fn merges_leave_open_what_the_held_instance_says() {
    check_merge(r#"{"a":5,"b":"x","c":{"street":"x"}}"#, "a ? 5\nb ? \"x\"\nc ? {\"street\":\"x\"}");
    check_merge(r#"{"a":{"unitCode":"CEL"},"b":{"value":5}}"#, "a ? in CEL\nb Property 5");
    check_merge(r#"{"a":{"b":{"type":"Property","value":1}}}"#, "a ?\n  b Property 1");
    check_merge(
        r#"{"a":{"type":"Point","coordinates":[1,2]}}"#,
        "a GeoProperty {\"type\":\"Point\",\"coordinates\":[1,2]}",
    );
    check_merge(r#"{"a":{"type":"Property"}}"#, "a Property");
}

#[test]
fn one_attribute() {
    check_attribute(r#"{"b":{"value":1},"@context":"x"}"#, Rules::merge(16), "a ?\n  b Property 1");
    check_attribute(r#"{"observedAt":"2023-04-01T12:00:00Z"}"#, Rules::merge(16), "a ? at 1680350400000000");
    check_attribute(r#"{"type":"Property","value":null}"#, Rules::merge(16), "a Property removed");
    check_attribute(
        r#"{"type":"Point","coordinates":[1,2]}"#,
        Rules::fragment(16),
        r#"a GeoProperty {"type":"Point","coordinates":[1,2]}"#,
    );
    check_attribute(
        r#"{"@value":"x","@type":"DateTime"}"#,
        Rules::fragment(16),
        r#"a Property {"@value":"x","@type":"DateTime"}"#,
    );
    check_attribute("7", Rules::fragment(16), "a Property 7");
    check_attribute(
        r#"[{"value":1},{"value":2,"datasetId":"urn:d:1"}]"#,
        Rules::fragment(16),
        "a Property 1\na Property [urn:d:1] 2",
    );
    let simplified = Rules::fragment(16).in_representation(Representation::Simplified);
    check_attribute(r#"{"value":1}"#, simplified, r#"a Property {"value":1}"#);
}

#[test]
fn new_names_are_collected_once_each() {
    let iri = |name| format!("https://uri.etsi.org/ngsi-ld/default-context/{name}");
    check_entity(
        r#"{"id":"urn:x:1","type":["New","T"],"new":{"value":1,"newer":2,"b":3},"urn:q:a":1,"newest":{"value":1,"newer":2}}"#,
        &format!("new: {} {} {} urn:q:a {}", iri("New"), iri("new"), iri("newer"), iri("newest")),
    );
}

#[test]
fn contexts_batches_and_ids_are_found_without_parsing() {
    let found = |body| context_member(body).unwrap();
    assert_eq!(
        found(r#"{"a":{"@context":1},"@context": ["x",{"y":"z"}] ,"b":2}"#),
        Some(r#"["x",{"y":"z"}]"#)
    );
    assert_eq!(found(r#"{"a":1}"#), None);
    assert_eq!(found("[1]"), None);
    assert!(refuse_nulls(&["1", "\"null\""]).is_ok() && refuse_nulls(&["1", "null"]).is_err());
    assert_eq!(split_batch(r#" [ {"a":1} , 2,"x"] "#, 3).unwrap(), [r#"{"a":1}"#, "2", "\"x\""]);
    let ids = parse_ids(r#"["urn:x:1",{"id":"urn:x:2"},"y"]"#, 9).unwrap();
    let ids: Vec<_> =
        ids.into_iter().map(|id| id.map_err(|(id, problem)| (id, problem.to_string()))).collect();
    let refused = ("y".to_owned(), "\"y\" is not a URI".to_owned());
    assert_eq!(ids, [Ok("urn:x:1".into()), Ok("urn:x:2".into()), Err(refused)]);
}
