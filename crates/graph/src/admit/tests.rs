use std::sync::Arc;

use super::*;
use crate::schema::{Creation, EdgeLabelDraft, LabelDraft, PropertyKeyDraft, VertexLabelDraft};
use crate::{DataType, GraphMode, LabelId, PropertiesBuilder};

fn texts(names: &[&str]) -> Vec<Box<str>> {
    names.iter().map(|name| (*name).into()).collect()
}

fn vertex_label(name: &str, strategy: IdStrategy, primary_keys: &[&str]) -> VertexLabelDraft {
    let label = LabelDraft {
        properties: texts(&["name", "age"]),
        nullable_keys: texts(if primary_keys.is_empty() { &["name", "age"] } else { &[] }),
        ttl_ms: if primary_keys.is_empty() { 0 } else { 1_000 },
        ..LabelDraft::named(name)
    };
    VertexLabelDraft { label, id_strategy: strategy, primary_keys: texts(primary_keys) }
}

/// Labels 1 to 5: primary keys name and age (lives for a second), automatic, text, number, UUID. Edges: many, sorted by age.
fn schema() -> Schema {
    let new = Creation { graph: "g", mode: GraphMode::None, created: "\"now\"" };
    let mut schema = Schema::default();
    for (name, data_type) in [("name", DataType::Text), ("age", DataType::Int)] {
        let draft = PropertyKeyDraft { data_type, ..PropertyKeyDraft::named(name) };
        schema = schema.create_property_key(&draft, &new).unwrap().change.unwrap().schema;
    }
    let labels = [
        vertex_label("keyed", IdStrategy::PrimaryKey, &["name", "age"]),
        vertex_label("numbered", IdStrategy::Automatic, &[]),
        vertex_label("text", IdStrategy::CustomizeString, &[]),
        vertex_label("number", IdStrategy::CustomizeNumber, &[]),
        vertex_label("uuid", IdStrategy::CustomizeUuid, &[]),
    ];
    for label in labels {
        schema = schema.create_vertex_label(&label, &new).unwrap().change.unwrap().schema;
    }
    let edges = EdgeLabelDraft {
        label: LabelDraft { properties: texts(&["age"]), ..LabelDraft::named("many") },
        links: vec![("text".into(), "text".into())],
        frequency: Some(Frequency::Multiple),
        sort_keys: texts(&["age"]),
        ..EdgeLabelDraft::named("many")
    };
    schema.create_edge_label(&edges, &new).unwrap().change.unwrap().schema
}

fn properties(name: Option<&str>, age: Option<i32>) -> Properties {
    let mut builder = PropertiesBuilder::default();
    if let Some(name) = name {
        builder.put_one(PropertyKeyId(1), ScalarRef::Text(name));
    }
    if let Some(age) = age {
        builder.put_one(PropertyKeyId(2), ScalarRef::Int(age));
    }
    builder.finish()
}

fn admission(schema: &Schema, takes_ids: bool) -> Admission<'_> {
    Admission { schema, now_ms: 5_000, takes_ids }
}

fn label(schema: &Schema, number: u32) -> Arc<VertexLabel> {
    Arc::clone(schema.vertex_label(LabelId(number)).unwrap())
}

#[test]
fn ids_are_made_as_the_label_says() {
    let schema = schema();
    let id = |number, id: Option<VertexId>| {
        let (label, given) = (label(&schema, number), properties(Some("a!b"), Some(1)));
        admission(&schema, false)
            .vertex_id(&label, id, given.as_ref(), || 77)
            .map_err(|error| error.to_string())
    };
    assert_eq!(id(1, None), Ok("1:a`!b!11".into()));
    assert_eq!(id(2, None), Ok(VertexId::Number(77)));
    assert_eq!(id(3, Some("x".into())), Ok("x".into()));
    assert_eq!(id(4, Some(VertexId::Number(3))), Ok(VertexId::Number(3)));
    assert_eq!(id(5, Some(VertexId::Uuid(3))), Ok(VertexId::Uuid(3)));
    let refused = id(4, Some("x".into())).unwrap_err();
    assert_eq!(
        refused,
        "Must customize vertex number id when id strategy is 'CUSTOMIZE_NUMBER' for vertex label 'number'"
    );
    let refused = id(1, Some("x".into())).unwrap_err();
    assert_eq!(
        refused,
        "Can't customize vertex id when id strategy is 'PRIMARY_KEY' for vertex label 'keyed'"
    );
    assert!(id(2, Some(VertexId::Number(1))).is_err() && id(3, None).is_err() && id(5, None).is_err());
    assert!(id(3, Some(VertexId::Text("x".repeat(129).into()))).is_err());
    let restored = admission(&schema, true);
    let given = restored.vertex_id(
        &label(&schema, 2),
        Some(VertexId::Number(1)),
        properties(None, None).as_ref(),
        || 77,
    );
    assert_eq!(given, Ok(VertexId::Number(1)));
}

#[test]
fn what_must_be_there_is_there() {
    let schema = schema();
    let admit =
        |name, age| admission(&schema, false).vertex(&label(&schema, 1), None, properties(name, age), || 0);
    assert_eq!(admit(Some("a"), Some(1)).unwrap().expires, Some(6_000));
    let missing = admit(Some("a"), None).unwrap_err().to_string();
    assert_eq!(
        missing,
        "The primary keys: [age] of vertex label 'keyed' must be set when using 'PRIMARY_KEY' id strategy"
    );
    let many = Arc::clone(schema.edge_label(LabelId(1)).unwrap());
    let edge = |age| admission(&schema, false).edge(&many, "a".into(), "b".into(), properties(None, age));
    assert_eq!(edge(Some(64)).unwrap().id.to_string(), "Sa>1>1>210>Sb");
    assert!(matches!(edge(None), Err(AdmitError::KeyMissing { kind: "sort", .. })));
}
