//! Random operations against a plain model: what it takes is taken, what it refuses is refused, rows say what the schema says, and
//! no number is given twice.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::value::Cardinality;

#[derive(Clone, Debug)]
enum Op {
    Key(u8, DataType),
    Vertex(u8, Vec<u8>, bool),
    Edge(u8, u8, u8, Vec<u8>),
    Index(u8, bool, u8, IndexKind, Vec<u8>),
    Append(u8, u8),
    Remove(SchemaKind, u8),
    Finish,
}

fn one_of<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(all)
}

fn op() -> impl Strategy<Value = Op> {
    let name = || 0..5u8;
    let some = || prop::collection::vec(0..5u8, 0..4);
    prop_oneof![
        (name(), one_of(DataType::ALL)).prop_map(|(n, t)| Op::Key(n, t)),
        (name(), some(), any::<bool>()).prop_map(|(n, p, k)| Op::Vertex(n, p, k)),
        (name(), name(), name(), some()).prop_map(|(n, s, t, p)| Op::Edge(n, s, t, p)),
        (name(), any::<bool>(), name(), one_of(IndexKind::ALL), some())
            .prop_map(|(n, v, l, k, f)| Op::Index(n, v, l, k, f)),
        (name(), name()).prop_map(|(l, p)| Op::Append(l, p)),
        (one_of(SchemaKind::ALL), name()).prop_map(|(k, n)| Op::Remove(k, n)),
        Just(Op::Finish),
    ]
}

fn name(number: u8) -> Box<str> {
    format!("n{number}").into()
}

fn all_names(numbers: &[u8]) -> Vec<Box<str>> {
    numbers.iter().map(|number| name(*number)).collect()
}

/// What a schema is, in the simplest words.
#[derive(Debug, Default)]
struct Plain {
    keys: BTreeSet<u8>,
    vertices: BTreeMap<u8, BTreeSet<u8>>,
    edges: BTreeMap<u8, (u8, u8, BTreeSet<u8>)>,
}

impl Plain {
    fn has(&self, properties: &[u8]) -> bool {
        properties.iter().all(|key| self.keys.contains(key))
    }

    /// Does an operation; whether it is to be taken, `None` if the model does not know (of indexes).
    fn apply(&mut self, op: &Op) -> Option<bool> {
        Some(match op {
            Op::Key(name, _) => self.keys.insert(*name),
            Op::Vertex(name, properties, keyed) => {
                let taken = !self.vertices.contains_key(name)
                    && self.has(properties)
                    && (!keyed || !properties.is_empty());
                if taken {
                    self.vertices.insert(*name, properties.iter().copied().collect());
                }
                taken
            }
            Op::Edge(name, source, target, properties) => {
                let ends = self.vertices.contains_key(source) && self.vertices.contains_key(target);
                let taken = !self.edges.contains_key(name) && ends && self.has(properties);
                if taken {
                    self.edges.insert(*name, (*source, *target, properties.iter().copied().collect()));
                }
                taken
            }
            Op::Append(label, key) => {
                let keys = self.keys.contains(key);
                match self.vertices.get_mut(label) {
                    Some(properties) if keys => {
                        properties.insert(*key);
                        return None;
                    }
                    _ => false,
                }
            }
            Op::Index(..) | Op::Finish | Op::Remove(SchemaKind::IndexLabel, _) => return None,
            Op::Remove(SchemaKind::PropertyKey, name) => {
                let used = self.vertices.values().any(|keys| keys.contains(name))
                    || self.edges.values().any(|(.., keys)| keys.contains(name));
                !used && self.keys.remove(name)
            }
            Op::Remove(SchemaKind::VertexLabel, name) => {
                let used = self.edges.values().any(|(source, target, _)| source == name || target == name);
                !used && self.vertices.remove(name).is_some()
            }
            Op::Remove(SchemaKind::EdgeLabel, name) => self.edges.remove(name).is_some(),
        })
    }
}

fn run(schema: &Schema, op: &Op) -> Result<Option<SchemaChange>, SchemaError> {
    match op {
        Op::Key(n, data_type) => {
            let draft = PropertyKeyDraft { cardinality: Cardinality::Single, ..key(&name(*n), *data_type) };
            schema.create_property_key(&draft, &NOW).map(|outcome| outcome.change)
        }
        Op::Vertex(n, properties, keyed) => {
            let mut draft = vertex(&name(*n), &[], &[]);
            draft.label.properties = all_names(properties);
            draft.primary_keys =
                draft.label.properties.first().filter(|_| *keyed).cloned().into_iter().collect();
            draft.id_strategy = if *keyed { IdStrategy::PrimaryKey } else { IdStrategy::Default };
            schema.create_vertex_label(&draft, &NOW).map(|outcome| outcome.change)
        }
        Op::Edge(n, source, target, properties) => {
            let mut draft = edge(&name(*n), &name(*source), &name(*target), &[]);
            draft.label.properties = all_names(properties);
            schema.create_edge_label(&draft, &NOW).map(|outcome| outcome.change)
        }
        Op::Index(n, of_vertices, label, kind, fields) => {
            let base = if *of_vertices { SchemaKind::VertexLabel } else { SchemaKind::EdgeLabel };
            let mut draft = index(&name(*n), "", *kind, &[]);
            draft.base = Some((base, name(*label)));
            draft.fields = all_names(fields);
            schema.create_index_label(&draft, &NOW).map(|outcome| outcome.change)
        }
        Op::Append(label, key) => {
            let mut draft = VertexLabelDraft::named(&name(*label));
            draft.label.properties = all_names(&[*key]);
            let known = schema.vertex_label_named(&draft.label.name);
            let number = schema.property_key_named(&name(*key)).map(|key| key.id);
            if !known.zip(number).is_some_and(|(label, number)| label.has_property(number)) {
                draft.label.nullable_keys.clone_from(&draft.label.properties);
            }
            schema.append_vertex_label(&draft).map(|outcome| outcome.change)
        }
        Op::Remove(SchemaKind::PropertyKey, n) => schema.remove_property_key(&name(*n)).map(Some),
        Op::Remove(SchemaKind::VertexLabel, n) => schema.remove_vertex_label(&name(*n)).map(Some),
        Op::Remove(SchemaKind::EdgeLabel, n) => schema.remove_edge_label(&name(*n)).map(Some),
        Op::Remove(SchemaKind::IndexLabel, n) => schema.remove_index_label(&name(*n)).map(Some),
        Op::Finish => Ok(schema.removed().next().and_then(|part| schema.finish_removal(part.id()))),
    }
}

/// What a store would have after the changes.
#[derive(Default)]
struct Rows {
    parts: BTreeMap<PartId, Vec<u8>>,
    removed: BTreeMap<PartId, Vec<u8>>,
    given: BTreeSet<PartId>,
}

impl Rows {
    fn apply(&mut self, change: &SchemaChange) {
        for part in &change.put {
            let (id, bytes) = (part.id(), part.to_bytes());
            if self.parts.insert(id, bytes).is_none() {
                assert!(self.given.insert(id), "{id:?} was given before");
            }
        }
        for part in &change.removed {
            let bytes = self.parts.remove(&part.id()).expect("what is removed was there");
            if part.leaves_rows() {
                self.removed.insert(part.id(), bytes);
            }
        }
        for id in &change.finished {
            self.removed.remove(id).expect("what is finished was removed");
        }
    }

    fn read(&self, numbers: Numbers) -> Schema {
        let read = |rows: &BTreeMap<PartId, Vec<u8>>| {
            rows.iter().map(|(id, bytes)| SchemaPart::parse(*id, bytes).unwrap()).collect::<Vec<_>>()
        };
        Schema::assemble(read(&self.parts), read(&self.removed), numbers).expect("rows go together")
    }
}

fn check_look_ups(schema: &Schema) {
    for part in schema.parts() {
        assert_eq!(schema.part(part.id()).as_ref(), Some(&part));
        let named = match part.id().kind {
            SchemaKind::PropertyKey => schema.property_key_named(part.name()).map(|part| part.id.0),
            SchemaKind::VertexLabel => schema.vertex_label_named(part.name()).map(|part| part.id.0),
            SchemaKind::EdgeLabel => schema.edge_label_named(part.name()).map(|part| part.id.0),
            SchemaKind::IndexLabel => schema.index_label_named(part.name()).map(|part| part.id.0),
        };
        assert_eq!(named, Some(part.id().number));
    }
    for kind in SchemaKind::ALL {
        assert_eq!(schema.count(*kind), schema.parts().filter(|part| part.id().kind == *kind).count());
    }
    let of_labels: usize = schema.vertex_labels().map(|label| label.indexes.len()).sum::<usize>()
        + schema.edge_labels().map(|label| label.indexes.len()).sum::<usize>();
    assert_eq!(of_labels, schema.index_labels().count());
}

proptest! {
    #[test]
    fn a_schema_is_what_a_plain_model_says(ops in prop::collection::vec(op(), 1..60)) {
        let (mut schema, mut plain, mut rows) = (Schema::default(), Plain::default(), Rows::default());
        for op in &ops {
            let expected = plain.apply(op);
            let outcome = run(&schema, op);
            if let Some(expected) = expected {
                prop_assert_eq!(outcome.is_ok(), expected, "{:?}: {:?}", op, outcome.err());
            }
            if let Ok(Some(change)) = outcome {
                rows.apply(&change);
                schema = change.schema;
            }
            check_look_ups(&schema);
            assert_same(&rows.read(schema.numbers()), &schema);
        }
    }
}
