//! Runs whose time is over: numbers were given again, to other parts of the schema.

use graph::schema::WriteType;

use super::*;

/// Removes a property key or an index with all that is left of it, in a graph that gives numbers again.
async fn remove(graph: &Graph, part: PartId, think: impl Fn(&Schema) -> Result<SchemaChange, SchemaError>) {
    graph.remove_from_schema(NOW, think).await.unwrap();
    graph.set_mode(graph::GraphMode::Restoring).await.unwrap();
    graph.finish_removal(part, &clock(), Deadline::default()).await.unwrap();
}

#[tokio::test]
async fn the_values_of_a_key_are_not_cleared_for_one_that_had_its_number() {
    let graph = default_graph(Store::memory(memory_options())).await;
    let rank = |id, write_type| PropertyKeyDraft {
        id,
        data_type: DataType::Int,
        write_type,
        ..PropertyKeyDraft::named("rank")
    };
    let computed = rank(None, WriteType::OlapCommon);
    make(&graph, |schema, creation| schema.create_property_key(&computed, creation)).await;
    let key = graph.state().await.unwrap().schema.property_key_named("rank").unwrap().id;
    let (_, task) = graph.clear_computed("rank", NOW).await.unwrap();
    let late = graph.begin_run(&clock()).await.unwrap();
    let part = PartId { kind: SchemaKind::PropertyKey, number: key.0 };
    remove(&graph, part, |schema| schema.remove_property_key("rank")).await;

    let plain = rank(Some(i64::from(key.0)), WriteType::Oltp);
    make(&graph, |schema, creation| schema.create_property_key(&plain, creation)).await;
    graph.set_mode(graph::GraphMode::None).await.unwrap();
    let mut label = LabelDraft::named("page");
    (label.properties, label.nullable_keys) = (vec!["rank".into()], vec!["rank".into()]);
    let label = VertexLabelDraft { label, ..VertexLabelDraft::named("page") };
    make(&graph, |schema, creation| schema.create_vertex_label(&label, creation)).await;
    let label = graph.state().await.unwrap().schema.vertex_label_named("page").unwrap().id;
    let mut properties = PropertiesBuilder::default();
    properties.put_one(key, ScalarRef::Int(7));
    let page = Vertex { id: VertexId::Number(1), label, expires: None, properties: properties.finish() };
    graph.write_vertices(vec![VertexOperation::Put(page.clone())], NOW).await.unwrap();

    assert_eq!(graph.tasks().get(task).await.unwrap().status, TaskStatus::Cancelled);
    run_all(&graph).await;
    let mut late = late;
    let mut cursor = beginning(part);
    assert!(!late.clear_values(key, &mut cursor).await.unwrap(), "its epochs are over");
    let stored = graph.vertex(&graph.state().await.unwrap(), &page.id, NOW).await.unwrap().unwrap();
    assert_eq!(stored, Bytes::from(page.to_stored()));
}

#[tokio::test]
async fn an_index_is_not_completed_by_the_build_of_one_that_had_its_number() {
    let graph = default_graph(Store::memory(memory_options())).await;
    make_schema(&graph).await;
    fill(&graph, 20).await;
    let mut draft = index(IndexKind::Range);
    make(&graph, |schema, creation| schema.create_index_label(&draft, creation)).await;
    let built = graph.state().await.unwrap().schema.index_label_named("by_age").unwrap().id;
    let mut late = graph.begin_run(&clock()).await.unwrap();
    let part = PartId { kind: SchemaKind::IndexLabel, number: built.0 };
    remove(&graph, part, |schema| schema.remove_index_label("by_age")).await;
    draft.id = Some(i64::from(built.0));
    let made = |schema: &Schema, creation: &Creation<'_>| schema.create_index_label(&draft, creation);
    let made = graph.change_schema(("1", NOW), made).await.unwrap();
    assert_eq!(made.part.id, built);

    let ended = late.build(&[built], beginning(NO_PART), false).await.unwrap();
    assert!(matches!(ended, Ended::More(_)), "its epochs are over: {ended:?}");
    assert_eq!((status(&graph).await, stored_index_rows(&graph).await.len()), (SchemaStatus::Creating, 0));
    let mut end = Cursor { bucket: 1, ..beginning(NO_PART) };
    end.step = 2;
    let ended = late.build(&[built], end, false).await.unwrap();
    assert!(matches!(ended, Ended::More(_)) && status(&graph).await == SchemaStatus::Creating, "{ended:?}");
    let tasks = graph.tasks();
    let builds = tasks.unfinished(|task| matches!(task.work, TaskWork::Build(_)).then_some(task.id));
    assert_eq!(builds.await.unwrap(), [made.task.unwrap()], "the build of before is cancelled");
    run_all(&graph).await;
    assert_eq!((status(&graph).await, stored_index_rows(&graph).await.len()), (SchemaStatus::Created, 10));
}

/// A label may demand values that a computation wrote: then they cannot be cleared, and the task says so.
#[tokio::test]
async fn the_values_that_a_label_demands_are_not_cleared() {
    let graph = default_graph(Store::memory(memory_options())).await;
    let rank = PropertyKeyDraft {
        data_type: DataType::Int,
        write_type: WriteType::OlapCommon,
        ..PropertyKeyDraft::named("rank")
    };
    make(&graph, |schema, creation| schema.create_property_key(&rank, creation)).await;
    let label = LabelDraft { properties: vec!["rank".into()], ..LabelDraft::named("page") };
    let label = VertexLabelDraft { label, ..VertexLabelDraft::named("page") };
    make(&graph, |schema, creation| schema.create_vertex_label(&label, creation)).await;
    let schema = graph.state().await.unwrap().schema.clone();
    let (key, label) = (schema.property_key_named("rank").unwrap().id, schema.vertex_label_named("page"));
    let mut properties = PropertiesBuilder::default();
    properties.put_one(key, ScalarRef::Int(7));
    let (id, label) = (VertexId::Number(1), label.unwrap().id);
    let page = Vertex { id, label, expires: None, properties: properties.finish() };
    graph.write_vertices(vec![VertexOperation::Put(page)], NOW).await.unwrap();
    let (_, task) = graph.clear_computed("rank", NOW).await.unwrap();
    run_all(&graph).await;
    let task = graph.tasks().get(task).await.unwrap();
    assert_eq!((task.status, &*task.result), (TaskStatus::Failed, "property rank may not be null"));
}
