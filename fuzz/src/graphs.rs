//! Graphs: predicates, ids of edges, rows and stored elements.

use graph::condition::PredicateCall;
use graph::index::element_of_row;
use graph::schema::{Numbers, PartId, SchemaKind, SchemaPart};
use graph::{EdgeId, EdgeKey, EdgeView, PropertiesRef, VertexView, keys};

use crate::{Target, texts};

/// A predicate that is printed is read to the same.
pub(crate) const PREDICATE: Target = Target { name: "graph_predicate", run: predicate, seeds: predicates };
/// The id of an edge that is printed is read to the same.
pub(crate) const EDGE_ID: Target = Target { name: "graph_edge_id", run: edge_id, seeds: edge_ids };
/// Rows of vertices and edges, of indexes and expiries: keys.
pub(crate) const ROW: Target = Target { name: "graph_row", run: row, seeds: rows };
/// Stored elements: any property is read without harm.
pub(crate) const ELEMENT: Target = Target { name: "graph_element", run: element, seeds: elements };

/// A part of a schema that is stored is read to the same: the first byte says which kind.
pub(crate) const SCHEMA: Target = Target { name: "graph_schema", run: schema, seeds: schemas };

/// What else is stored of a graph, tasks and objects among it: the first byte says what.
pub(crate) const RECORDS: Target = Target {
    name: "graph_records",
    run: |bytes| {
        if let Some((kind, stored)) = bytes.split_first() {
            model_graph::testing::read_stored(*kind, stored);
        }
    },
    seeds: model_graph::testing::stored_examples,
};

fn predicates() -> Vec<Vec<u8>> {
    texts(&["P.gt(18)", "P.within(\"a)\", \"b\")", "P.textcontains((one|two))", "P.", "plain"])
}

fn predicate(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(Ok(call)) = PredicateCall::parse(text) {
        assert_eq!(call.to_string(), text);
    }
}

fn edge_ids() -> Vec<Vec<u8>> {
    texts(&["S1:marko>1>1>>S1:josh", "L1>1>2>a!b>L-2", "Sa`>b>1>1>`>>U5b1d8a52-8d4a-4b0f-9d1f-1f6a1e5f2c11"])
}

fn edge_id(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(id) = text.parse::<EdgeId>() else { return };
    assert_eq!(id.to_string().parse().as_ref(), Ok(&id), "printed and read");
    for direction in [graph::EdgeDirection::Out, graph::EdgeDirection::In] {
        let row = keys::edge(&id, direction);
        assert_eq!(EdgeKey::parse(&row).and_then(|key| key.to_id()).as_ref(), Some(&id), "as a key");
    }
}

fn rows() -> Vec<Vec<u8>> {
    let id: EdgeId = "S1:marko>1>1>>L7".parse().expect("an id");
    let edge = keys::edge(&id, graph::EdgeDirection::Out);
    let expiry = keys::expiry(5, &edge);
    vec![edge.to_vec(), expiry.to_vec(), b"X\0\0\0\x01\x03a\0\x02\x80\0\0\0\0\0\0\x01Sa\0".to_vec()]
}

fn row(bytes: &[u8]) {
    if let Some(id) = EdgeKey::parse(bytes).and_then(|key| key.to_id()) {
        assert!(EdgeKey::parse(&keys::edge(&id, graph::EdgeDirection::Out)).is_some());
    }
    for fields in 0..4 {
        element_of_row(bytes, fields);
    }
    if let Some((moment, row)) = keys::element_of_expiry(bytes) {
        assert_eq!(keys::expiry(moment, row), bytes);
    }
    keys::vertex_of_removal(bytes);
}

fn elements() -> Vec<Vec<u8>> {
    vec![b"\x01\x01\x01\x08\x05marko\x02\x04\x3a".to_vec(), b"\x81\0\0\0\0\0\0\0\x01\x01".to_vec()]
}

fn element(bytes: &[u8]) {
    let of_edge = EdgeView::parse(bytes).map_or(PropertiesRef::default(), |view| view.properties);
    assert!(of_edge.as_bytes().len() <= bytes.len());
    let properties = VertexView::parse(bytes).map_or(PropertiesRef::of_bytes(bytes), |view| view.properties);
    for (_, value) in properties.iter().map_while(Result::ok) {
        value.to_value();
    }
}

fn schemas() -> Vec<Vec<u8>> {
    let numbers = [&[0], &Numbers::default().to_bytes()[..]].concat();
    let parts = SchemaKind::ALL.iter().map(|kind| vec![kind.code(), 1, 1, b'a', 1, 1, 0, 1, 0, 1]);
    parts.chain([numbers]).collect()
}

fn schema(bytes: &[u8]) {
    let Some((kind, stored)) = bytes.split_first() else { return };
    match SchemaKind::from_code(*kind) {
        None => {
            if let Ok(numbers) = Numbers::parse(stored) {
                assert_eq!(Numbers::parse(&numbers.to_bytes()), Ok(numbers));
            }
        }
        Some(kind) => {
            let id = PartId { kind, number: 1 };
            if let Ok(part) = SchemaPart::parse(id, stored) {
                assert_eq!(SchemaPart::parse(id, &part.to_bytes()), Ok(part));
            }
        }
    }
}
