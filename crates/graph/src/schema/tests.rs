//! Tests of schemas: each rule by example, and random operations against a plain model.

mod rules;
mod indexes;
mod random;

use super::*;
use crate::mode::GraphMode;
use crate::value::DataType;

pub(super) const NOW: Creation<'_> =
    Creation { graph: "hugegraph", mode: GraphMode::None, created: "\"2026-11-23 04:00:00.000\"" };

pub(super) fn names(names: &[&str]) -> Vec<Box<str>> {
    names.iter().map(|name| (*name).into()).collect()
}

/// What a change comes to.
pub(super) fn after<T>(outcome: Result<Outcome<T>, SchemaError>) -> Schema {
    outcome.expect("it is allowed").change.expect("it changes something").schema
}

pub(super) fn refusal<T: std::fmt::Debug>(outcome: Result<T, SchemaError>) -> String {
    outcome.expect_err("it is refused").to_string()
}

pub(super) fn key(name: &str, data_type: DataType) -> PropertyKeyDraft {
    PropertyKeyDraft { data_type, ..PropertyKeyDraft::named(name) }
}

pub(super) fn vertex(name: &str, properties: &[&str], primary_keys: &[&str]) -> VertexLabelDraft {
    VertexLabelDraft {
        label: LabelDraft { properties: names(properties), ..LabelDraft::named(name) },
        id_strategy: IdStrategy::Default,
        primary_keys: names(primary_keys),
    }
}

pub(super) fn edge(name: &str, source: &str, target: &str, properties: &[&str]) -> EdgeLabelDraft {
    EdgeLabelDraft {
        label: LabelDraft { properties: names(properties), ..LabelDraft::named(name) },
        links: vec![(source.into(), target.into())],
        ..EdgeLabelDraft::named(name)
    }
}

pub(super) fn index(name: &str, label: &str, kind: IndexKind, fields: &[&str]) -> IndexLabelDraft {
    IndexLabelDraft {
        base: Some((SchemaKind::VertexLabel, label.into())),
        index_kind: Some(kind),
        fields: names(fields),
        ..IndexLabelDraft::named(name)
    }
}

/// Persons with name (primary key), age, city and birth; software with name; `knows` and `created`.
pub(super) fn people() -> Schema {
    let mut schema = Schema::default();
    let keys = [
        ("name", DataType::Text),
        ("age", DataType::Int),
        ("city", DataType::Text),
        ("birth", DataType::Date),
        ("weight", DataType::Double),
    ];
    for (name, data_type) in keys {
        schema = after(schema.create_property_key(&key(name, data_type), &NOW));
    }
    let person = vertex("person", &["name", "age", "city", "birth"], &["name"]);
    schema = after(schema.create_vertex_label(&person, &NOW));
    schema = after(schema.create_vertex_label(&vertex("software", &["name"], &[]), &NOW));
    schema = after(schema.create_edge_label(&edge("knows", "person", "person", &["weight"]), &NOW));
    after(schema.create_edge_label(&edge("created", "person", "software", &["weight", "birth"]), &NOW))
}

/// What the rows of a schema make of themselves.
pub(super) fn reread(schema: &Schema) -> Schema {
    let read = |part: SchemaPart| SchemaPart::parse(part.id(), &part.to_bytes()).expect("it was written");
    let numbers = Numbers::parse(&schema.numbers().to_bytes()).expect("it was written");
    let removed: Vec<SchemaPart> = schema.removed().cloned().map(read).collect();
    Schema::assemble(schema.parts().map(read), removed, numbers).expect("it goes together")
}

/// # Panics
///
/// If two schemas differ.
pub(super) fn assert_same(one: &Schema, other: &Schema) {
    assert_eq!(one.parts().collect::<Vec<_>>(), other.parts().collect::<Vec<_>>());
    assert_eq!(one.removed().collect::<Vec<_>>(), other.removed().collect::<Vec<_>>());
    assert_eq!(one.numbers(), other.numbers());
}
