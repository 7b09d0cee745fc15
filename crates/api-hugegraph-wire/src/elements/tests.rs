use graph::schema::{Creation, EdgeLabelDraft, IdStrategy, PropertyKeyDraft, Schema, VertexLabelDraft};
use graph::{DataType, EdgeId, GraphMode, Vertex};

use super::*;
use crate::{put_edge, put_vertex};

fn schema() -> Schema {
    let creation = Creation { graph: "g", mode: GraphMode::None, created: "0" };
    let mut schema = Schema::default();
    for (name, data_type) in [("name", DataType::Text), ("age", DataType::Int)] {
        let draft = PropertyKeyDraft { data_type, ..PropertyKeyDraft::named(name) };
        schema = schema.create_property_key(&draft, &creation).unwrap().change.unwrap().schema;
    }
    let mut person = VertexLabelDraft::named("person");
    person.label.properties = vec!["name".into(), "age".into()];
    schema = schema.create_vertex_label(&person, &creation).unwrap().change.unwrap().schema;
    let mut thing =
        VertexLabelDraft { id_strategy: IdStrategy::CustomizeUuid, ..VertexLabelDraft::named("thing") };
    thing.label.properties = vec!["name".into()];
    schema = schema.create_vertex_label(&thing, &creation).unwrap().change.unwrap().schema;
    let mut has = EdgeLabelDraft::named("has");
    has.links = vec![("person".into(), "thing".into())];
    schema.create_edge_label(&has, &creation).unwrap().change.unwrap().schema
}

fn vertex(json: &str) -> Result<String, String> {
    let schema = schema();
    let mut reader = ElementReader::new(&schema, 8);
    let given = reader.vertex(&mut Reader::new(json, 8)).map_err(|problem| problem.message)?;
    let id = given.id.unwrap_or(VertexId::Number(7));
    let stored =
        Vertex { id: id.clone(), label: given.label.id, expires: None, properties: given.properties };
    let stored = stored.to_stored();
    let mut out = String::new();
    put_vertex(&mut out, &schema, &id.as_ref(), &graph::VertexView::parse(&stored).unwrap()).unwrap();
    Ok(out)
}

fn edge(json: &str) -> Result<String, String> {
    let schema = schema();
    let mut reader = ElementReader::new(&schema, 8);
    let given = reader.edge(&mut Reader::new(json, 8), VertexLabels::Optional);
    let GivenEdge { label, source, target, properties, .. } = given.map_err(|problem| problem.message)?;
    let (label, sub_label) = (label.key_label(), label.id);
    let id = EdgeId { source, label, sub_label, sort_values: "a\"".into(), target };
    let stored = graph::Edge { id: id.clone(), expires: None, properties }.to_stored();
    let mut out = String::new();
    put_edge(&mut out, &schema, &id, &graph::EdgeView::parse(&stored).unwrap()).unwrap();
    Ok(out)
}

#[test]
fn vertices_come_back_whatever_the_order_of_their_members() {
    let expected = r#"{"id":"x","label":"person","type":"vertex","properties":{"name":"marko","age":29}}"#;
    for json in [
        r#"{"label":"person","id":"x","properties":{"name":"marko","age":29}}"#,
        r#"{"properties":{"age":29,"name":"marko"},"type":"vertex","id":"x","label":"person"}"#,
        r#"{"properties":{"age":1,"age":29,"name":"marko"},"id":"x","label":"person"}"#,
    ] {
        assert_eq!(vertex(json), Ok(expected.to_owned()), "{json}");
    }
}

#[test]
fn what_a_vertex_may_not_be_is_refused() {
    for (json, expected) in [
        (r#"{"label":"x","properties":{}}"#, "Undefined vertex label: 'x'"),
        (r#"{"label":"person","properties":{"x":1}}"#, "Undefined property key: 'x'"),
        (r#"{"label":"thing","properties":{"age":1}}"#, "Invalid property 'age' for vertex label 'thing'"),
        (r#"{"label":"person"}"#, "The properties of vertex can't be null"),
        (r#"{"label":"thing","id":"x","properties":{}}"#, "Invalid UUID string: x"),
        (
            r#"{"label":"person","properties":{"age":null}}"#,
            "Not allowed to set value of property 'age' to null for vertex",
        ),
        (r#"{"label":"person","properties":{},"x":1}"#, "Unrecognized field \"x\" of a vertex"),
    ] {
        assert_eq!(vertex(json), Err(expected.to_owned()), "{json}");
    }
}

#[test]
fn keys_of_the_element_before_are_found_again() {
    let schema = schema();
    let mut reader = ElementReader::new(&schema, 8);
    for json in [
        r#"{"label":"person","properties":{"name":"a","age":1}}"#,
        r#"{"label":"person","properties":{"age":1}}"#,
        r#"{"label":"person","properties":{"name":"a","age":1}}"#,
        r#"{"label":"person","properties":{}}"#,
    ] {
        reader.vertex(&mut Reader::new(json, 8)).unwrap();
    }
    assert_eq!(reader.keys.iter().map(|(key, _)| &*key.name).collect::<Vec<_>>(), ["name", "age"]);
}

#[test]
fn edges_find_the_kinds_of_ids_by_their_labels() {
    let uuid = "4a7d1a2b-0000-4000-8000-000000000001";
    let json = format!(r#"{{"label":"has","outV":1,"inV":"{uuid}","properties":{{}}}}"#);
    let expected = format!(
        "{{\"id\":\"L1>1>1>a\\\">U{uuid}\",\"label\":\"has\",\"type\":\"edge\",\"outV\":1,\"outVLabel\":\"person\",\
         \"inV\":\"{uuid}\",\"inVLabel\":\"thing\",\"properties\":{{}}}}"
    );
    assert_eq!(edge(&json), Ok(expected));
    for (json, expected) in [
        (r#"{"label":"has","inV":1,"properties":{}}"#, "Expect source vertex id"),
        (
            r#"{"label":"has","outV":1,"inV":1,"outVLabel":"person","properties":{}}"#,
            "The both source and target vertex label are either passed in, or not passed in",
        ),
        (
            r#"{"label":"has","outV":1,"inV":1,"outVLabel":"person","inVLabel":"person","properties":{}}"#,
            "Undefined link of edge label 'has': 'person' -> 'person'",
        ),
        (
            r#"{"label":"has","outV":1,"inV":1,"outVLabel":"x","inVLabel":"person","properties":{}}"#,
            "Invalid source vertex label 'x'",
        ),
    ] {
        assert_eq!(edge(json), Err(expected.to_owned()), "{json}");
    }
}

#[test]
fn updates_pass_over_what_is_null() {
    let schema = schema();
    let json = r#"{"label":"person","properties":{"name":"a","age":null}}"#;
    let vertex = ElementReader::new(&schema, 8).skipping_nulls().vertex(&mut Reader::new(json, 8)).unwrap();
    assert_eq!(vertex.properties.as_ref().iter().count(), 1);
}
