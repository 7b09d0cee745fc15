use graph::schema::{Creation, EdgeLabelDraft, LabelDraft, PropertyKeyDraft, Schema, VertexLabelDraft};
use graph::{
    Cardinality, DataType, EdgeId, GraphMode, LabelId, Properties, PropertiesBuilder, PropertyKeyId,
    ScalarRef, VertexId,
};
use store::{Clock, Store, Timestamp};

use super::*;
use crate::write::{CheckVertices, EdgeOperation};
use crate::{GraphOptions, Graphs};

const KNOWS: LabelId = LabelId(1);

async fn graph_with_schema(store: Store) -> Arc<crate::Graph> {
    let options = GraphOptions { tenants_max: 1, graphs_max: 1, buckets: 1 };
    let graph = Graphs::new(store, options).get("DEFAULT", "hugegraph").await.unwrap();
    let (now, properties) = (("\"now\"", Timestamp(0)), vec![Box::from("age")]);
    let key = PropertyKeyDraft { data_type: DataType::Int, ..PropertyKeyDraft::named("age") };
    graph.change_schema(now, |schema, new| schema.create_property_key(&key, new)).await.unwrap();
    let label = |name| LabelDraft {
        properties: properties.clone(),
        nullable_keys: properties.clone(),
        ..LabelDraft::named(name)
    };
    let person = VertexLabelDraft { label: label("person"), ..VertexLabelDraft::named("person") };
    let person = VertexLabelDraft { id_strategy: IdStrategy::CustomizeString, ..person };
    graph.change_schema(now, |schema, new| schema.create_vertex_label(&person, new)).await.unwrap();
    let links = vec![("person".into(), "person".into())];
    let knows = EdgeLabelDraft { label: label("knows"), links, ..EdgeLabelDraft::named("knows") };
    graph.change_schema(now, |schema, new| schema.create_edge_label(&knows, new)).await.unwrap();
    graph
}

fn age(age: i32) -> Properties {
    let mut builder = PropertiesBuilder::default();
    builder.put_one(PropertyKeyId(1), ScalarRef::Int(age));
    builder.finish()
}

fn vertex(id: &str) -> Vertex {
    Vertex { id: id.into(), label: LabelId(1), expires: None, properties: age(1) }
}

fn edge(source: &str, target: &str) -> Edge {
    let (source, target) = (source.into(), target.into());
    let id = EdgeId { source, label: KNOWS, sub_label: KNOWS, sort_values: "".into(), target };
    Edge { id, expires: None, properties: age(2) }
}

#[tokio::test(start_paused = true)]
async fn what_is_loaded_is_as_if_it_were_written() {
    let (memory, hostile) = (
        store::testing::memory(Clock::manual(Timestamp(0))),
        store::testing::hostile(Clock::manual(Timestamp(0)), 3),
    );
    for store in [memory, hostile] {
        let graph = graph_with_schema(store).await;
        let mut load = graph.load().await.unwrap();
        let mut other = load.clone();
        for id in ["a", "b"] {
            load.add_vertex(&vertex(id)).await.unwrap();
        }
        other.add_edge(&edge("a", "b")).await.unwrap();
        other.flush().await.unwrap();
        load.finish().await.unwrap();
        let reader = graph.reader(Timestamp(0)).await.unwrap();
        assert!(reader.vertex(&"a".into()).await.unwrap().is_some());
        for (of, direction) in [("a", EdgeDirection::Out), ("b", EdgeDirection::In)] {
            let key = VertexId::from(of).to_key();
            let page = reader.edges(&key, direction, &[]).next().await.unwrap().unwrap();
            assert_eq!(page.iter().count(), 1, "{of}");
        }
        // Versions are those of a commit: what is loaded can be changed.
        let change = crate::write::Change::Append(age(3));
        let changed = vec![EdgeOperation::Change(edge("a", "b").id, change)];
        graph.write_edges(changed, CheckVertices::Yes, Timestamp(0)).await.unwrap();
        assert_eq!(graph.remove_vertices(&["b".into()], Timestamp(0)).await.unwrap(), [true]);
        let reader = graph.reader(Timestamp(0)).await.unwrap();
        assert!(reader.edge(&edge("a", "b").id).await.unwrap().is_none());
    }
}

/// Rows that found it by the values of before are left: it is listed once, and by what it is.
#[tokio::test(start_paused = true)]
async fn what_is_loaded_over_an_element_is_found_once() {
    use graph::condition::{Condition, Test};
    use graph::plan::{Query, plan_vertices};
    use graph::schema::{IndexLabelDraft, SchemaKind};
    let store = store::testing::memory(Clock::manual(Timestamp(0)));
    let graph = graph_with_schema(store.clone()).await;
    let draft = IndexLabelDraft {
        base: Some((SchemaKind::VertexLabel, "person".into())),
        index_kind: Some(IndexKind::Range),
        fields: vec!["age".into()],
        ..IndexLabelDraft::named("by_age")
    };
    let made = |schema: &Schema, new: &Creation<'_>| schema.create_index_label(&draft, new);
    graph.change_schema(("1", Timestamp(0)), made).await.unwrap();
    while graph.run_tasks(&Clock::manual(Timestamp(0))).await.unwrap().is_left {}
    for years in [1, 5] {
        let mut load = graph.load().await.unwrap();
        load.add_vertex(&Vertex { properties: age(years), ..vertex("a") }).await.unwrap();
        load.finish().await.unwrap();
    }
    let one = |age| graph::Scalar::Int(age);
    let tests = [
        (Test::Range(std::ops::Bound::Included(one(0)), std::ops::Bound::Included(one(9))), 1),
        (Test::Within(vec![one(1), one(5)]), 1),
        (Test::Equal(one(5)), 1),
        (Test::Equal(one(1)), 0),
        (Test::Outside(one(2), one(4)), 1),
    ];
    let (state, reader) = graph.reader_with_state(Timestamp(0)).await.unwrap();
    for (test, expected) in tests {
        let conditions = vec![Condition { key: PropertyKeyId(1), test: test.clone() }];
        let query = Query { label: Some(LabelId(1)), conditions };
        let stages = plan_vertices(&state.schema, &query).unwrap();
        let mut matches = reader.matches(stages, store::Deadline::default());
        assert_eq!(matches.next(9, |_| ()).await.unwrap(), expected, "{test:?}");
    }
}

#[test]
fn labels_that_need_a_look_are_refused() {
    let new = Creation { graph: "g", mode: GraphMode::None, created: "\"now\"" };
    let key = PropertyKeyDraft {
        data_type: DataType::Int,
        cardinality: Cardinality::Single,
        aggregate_type: AggregateType::Sum,
        ..PropertyKeyDraft::named("n")
    };
    let schema = Schema::default().create_property_key(&key, &new).unwrap().change.unwrap().schema;
    let label = LabelDraft { properties: vec!["n".into()], ..LabelDraft::named("l") };
    let label = VertexLabelDraft { label, ..VertexLabelDraft::named("l") };
    let schema = schema.create_vertex_label(&label, &new).unwrap().change.unwrap().schema;
    let refused = check_label(&schema, schema.vertex_label(LabelId(1)).unwrap()).unwrap_err();
    assert_eq!(refused.to_string(), "elements of label l cannot be loaded: it has aggregated properties");
}
