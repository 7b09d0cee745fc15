//! Tests of the directory of graphs and of what is stored of a graph beside its elements: on the store in memory, and from two nodes on the worst
//! store.

use std::collections::BTreeSet;

use graph::schema::{
    Creation, IndexKind, IndexLabelDraft, LabelDraft, Outcome, PropertyKey, PropertyKeyDraft, Schema,
    SchemaError, SchemaKind, SchemaStatus, VertexLabelDraft,
};
use graph::{DataType, GraphMode, ReadMode};
use store::testing::seeds;
use store::{Clock, FeedOptions, HostileOptions, MemoryOptions};

use super::*;
use crate::{Generation, Object, ObjectChange, TaskDraft, TaskStatus, TaskWork};

const NOW: Timestamp = Timestamp(1_700_000_000_000_000);
const CREATED: (&str, Timestamp) = ("\"2026-11-23 04:00:00.000\"", NOW);
const OPTIONS: GraphOptions = GraphOptions { tenants_max: 4, graphs_max: 4, buckets: 1 };

fn memory_options() -> MemoryOptions {
    MemoryOptions { clock: Clock::manual(NOW), feed: FeedOptions::recommended() }
}

fn graphs() -> Graphs {
    Graphs::new(Store::memory(memory_options()), OPTIONS)
}

/// Two nodes over the worst store.
fn nodes(seed: u64) -> [Graphs; 2] {
    let store = Store::hostile(HostileOptions::new(memory_options(), seed));
    let other = store.beside();
    [Graphs::new(store, OPTIONS), Graphs::new(other, OPTIONS)]
}

fn names(infos: &[GraphInfo]) -> Vec<&str> {
    infos.iter().map(|info| &*info.name).collect()
}

async fn make_key(graph: &Graph, name: &str) -> Result<crate::Changed<PropertyKey>, Error> {
    let draft = PropertyKeyDraft { data_type: DataType::Int, ..PropertyKeyDraft::named(name) };
    graph.change_schema(CREATED, |schema, creation| schema.create_property_key(&draft, creation)).await
}

/// A vertex label `v` with the property `k`, and an index on it.
async fn make_label(graph: &Graph) -> crate::Changed<graph::schema::IndexLabel> {
    make_key(graph, "k").await.unwrap();
    let label = LabelDraft { properties: vec!["k".into()], ..LabelDraft::named("v") };
    let label = VertexLabelDraft { label, ..VertexLabelDraft::named("v") };
    let made = |schema: &Schema, creation: &Creation<'_>| schema.create_vertex_label(&label, creation);
    graph.change_schema(CREATED, made).await.unwrap();
    let index = IndexLabelDraft {
        base: Some((SchemaKind::VertexLabel, "v".into())),
        index_kind: Some(IndexKind::Range),
        fields: vec!["k".into()],
        ..IndexLabelDraft::named("v_by_k")
    };
    let made = |schema: &Schema, creation: &Creation<'_>| schema.create_index_label(&index, creation);
    graph.change_schema(CREATED, made).await.unwrap()
}

#[tokio::test]
async fn the_default_graph_is_always_there() {
    let graphs = graphs();
    assert_eq!(names(&graphs.list(DEFAULT_SPACE).await.unwrap()), [DEFAULT_GRAPH]);
    let graph = graphs.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
    make_key(&graph, "k").await.unwrap();
    graphs.remove(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
    let again = graphs.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
    assert_eq!(again.state().await.unwrap().schema.property_keys().count(), 0);
    assert!(matches!(graphs.get(DEFAULT_SPACE, "nope").await, Err(Error::NotFound(_))));
    assert!(matches!(graphs.get("a-b", "c").await, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn graphs_are_made_listed_and_removed() {
    let graphs = graphs();
    graphs.create((DEFAULT_SPACE, "a"), "{\"nickname\":\"A\"}", NOW).await.unwrap();
    assert!(matches!(graphs.create((DEFAULT_SPACE, "a"), "", NOW).await, Err(Error::AlreadyExists(_))));
    assert!(matches!(graphs.create((DEFAULT_SPACE, "a-b"), "", NOW).await, Err(Error::Invalid(_))));
    assert!(matches!(graphs.create(("nope", "a"), "", NOW).await, Err(Error::NotFound(_))));
    assert_eq!(names(&graphs.list(DEFAULT_SPACE).await.unwrap()), [DEFAULT_GRAPH, "a"]);
    assert_eq!(&*graphs.info(DEFAULT_SPACE, "a").await.unwrap().settings, "{\"nickname\":\"A\"}");
    graphs.set_settings(DEFAULT_SPACE, "a", "{}").await.unwrap();
    assert_eq!(&*graphs.info(DEFAULT_SPACE, "a").await.unwrap().settings, "{}");

    let copy = graphs.get(DEFAULT_SPACE, "a").await.unwrap();
    make_label(&copy).await;
    let copy = graphs.clone_schema((DEFAULT_SPACE, "b"), "a", "", NOW).await.unwrap();
    let schema = &copy.state().await.unwrap().schema;
    assert_eq!(schema.index_label_named("v_by_k").unwrap().status, SchemaStatus::Created);
    let reopened = Graphs::new(graphs.shared.store.clone(), OPTIONS);
    let copy = reopened.get(DEFAULT_SPACE, "b").await.unwrap();
    assert_eq!(copy.state().await.unwrap().schema.parts().count(), 3);
    assert_eq!(reopened.all().await.unwrap().len(), 2);

    graphs.create((DEFAULT_SPACE, "c"), "", NOW).await.unwrap();
    graphs.create((DEFAULT_SPACE, "d"), "", NOW).await.unwrap();
    assert!(matches!(graphs.create((DEFAULT_SPACE, "e"), "", NOW).await, Err(Error::TooMany { .. })));
    graphs.remove(DEFAULT_SPACE, "a").await.unwrap();
    assert!(matches!(graphs.get(DEFAULT_SPACE, "a").await, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn spaces_are_made_listed_and_removed() {
    let graphs = graphs();
    graphs.create_space("s", "{}", NOW).await.unwrap();
    assert!(matches!(graphs.create_space("s", "", NOW).await, Err(Error::AlreadyExists(_))));
    assert!(matches!(graphs.create_space(DEFAULT_SPACE, "", NOW).await, Err(Error::AlreadyExists(_))));
    let spaces = graphs.spaces().await.unwrap();
    assert_eq!(spaces.iter().map(|space| &*space.name).collect::<Vec<_>>(), [DEFAULT_SPACE, "s"]);
    graphs.set_space_settings(DEFAULT_SPACE, "{\"a\":1}", NOW).await.unwrap();
    assert_eq!(&*graphs.space(DEFAULT_SPACE).await.unwrap().settings, "{\"a\":1}");
    graphs.create(("s", "g"), "", NOW).await.unwrap();
    assert_eq!(names(&graphs.list("s").await.unwrap()), ["g"]);
    assert!(matches!(graphs.remove_space("s").await, Err(Error::Invalid(_))));
    graphs.remove("s", "g").await.unwrap();
    graphs.remove_space("s").await.unwrap();
    assert!(matches!(graphs.list("s").await, Err(Error::NotFound(_))));
    assert!(matches!(graphs.space("s").await, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn a_graph_is_cleared() {
    let graphs = graphs();
    graphs.create((DEFAULT_SPACE, "a"), "{}", NOW).await.unwrap();
    let graph = graphs.get(DEFAULT_SPACE, "a").await.unwrap();
    make_label(&graph).await;
    graphs.clear(DEFAULT_SPACE, "a").await.unwrap();
    assert!(graph.part().is_ended());
    let graph = graphs.get(DEFAULT_SPACE, "a").await.unwrap();
    assert_eq!(graph.state().await.unwrap().schema.parts().count(), 0);
    assert_eq!(&*graphs.info(DEFAULT_SPACE, "a").await.unwrap().settings, "{}");
    assert!(matches!(graphs.clear(DEFAULT_SPACE, "b").await, Err(Error::NotFound(_))));
    graphs.clear(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
}

/// Where there are as many graphs as may be, one that is cleared keeps its place, whoever makes another meanwhile; and one that is removed meanwhile
/// does not come back.
#[tokio::test]
async fn a_graph_that_is_cleared_neither_loses_its_place_nor_comes_back() {
    let makes = async |graphs: &Graphs, name: &str| {
        for _ in 0..8 {
            let made = graphs.create((DEFAULT_SPACE, name), "", NOW).await;
            assert!(matches!(made, Err(Error::TooMany { .. })), "{made:?}");
        }
    };
    for seed in seeds(24) {
        let hostile = nodes(seed);
        let plain = graphs();
        for [first, second] in [hostile, [plain.clone(), plain]] {
            for name in ["a", "b", "c", "d"] {
                first.create((DEFAULT_SPACE, name), "", NOW).await.unwrap();
            }
            let clears = async {
                for _ in 0..4 {
                    first.clear(DEFAULT_SPACE, "a").await.unwrap();
                }
            };
            tokio::join!(clears, makes(&second, "e"), makes(&first, "f"));
            for graphs in [&first, &second] {
                assert_eq!(names(&graphs.list(DEFAULT_SPACE).await.unwrap()).len(), 5, "seed {seed}");
                graphs.get(DEFAULT_SPACE, "a").await.unwrap();
            }
            let (cleared, removed) =
                tokio::join!(first.clear(DEFAULT_SPACE, "a"), second.remove(DEFAULT_SPACE, "a"));
            assert!(matches!(cleared, Ok(()) | Err(Error::NotFound(_))), "{cleared:?}");
            removed.unwrap();
            for graphs in [&first, &second] {
                let found = graphs.get(DEFAULT_SPACE, "a").await;
                assert!(matches!(found, Err(Error::NotFound(_))), "seed {seed}: it came back");
            }
        }
    }
}

#[tokio::test]
async fn a_change_of_the_schema_makes_the_tasks_that_follow() {
    let graphs = graphs();
    let graph = graphs.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
    let made = make_label(&graph).await;
    let task = graph.tasks().get(made.task.unwrap()).await.unwrap();
    assert_eq!((&*task.name, &*task.kind), ("INDEX_LABEL:1:v_by_k", "rebuild_index"));
    assert_eq!(task.work, TaskWork::Build(vec![made.part.id]));
    assert_eq!(&graphs.next_wanted().await, graph.part());
    let task = graph.remove_from_schema(NOW, |schema| schema.remove_vertex_label("v")).await.unwrap();
    let task = graph.tasks().get(task.unwrap()).await.unwrap();
    assert_eq!((&*task.name, &*task.kind), ("VERTEX_LABEL:1:v", "remove_schema"));
    assert!(matches!(&task.work, TaskWork::Remove(parts) if parts.len() == 2));
    assert!(!graph.tasks().cancel(task.id, NOW).await.unwrap());
    let state = graph.state().await.unwrap();
    assert_eq!(state.schema.removed().count(), 2);
    let removed = graph.remove_from_schema(NOW, |schema| schema.remove_property_key("k")).await.unwrap();
    assert_eq!(removed, None);
    let refused = make_key(&graph, "a:b").await.unwrap_err();
    assert!(matches!(refused, Error::Schema(SchemaError::Invalid(_))));
}

/// Answers are rendered by it: another may have removed the part meanwhile, and what it names.
#[tokio::test]
async fn a_change_answers_with_the_schema_that_it_made() {
    let graphs = graphs();
    let graph = graphs.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
    let made = make_label(&graph).await;
    graph.remove_from_schema(NOW, |schema| schema.remove_vertex_label("v")).await.unwrap();
    graph.remove_from_schema(NOW, |schema| schema.remove_property_key("k")).await.unwrap();
    assert_eq!(made.schema.names_of(&made.part.fields).collect::<Vec<_>>(), ["k"]);
    let again = PropertyKeyDraft { check_exist: false, ..PropertyKeyDraft::named("s") };
    let create = |schema: &Schema, creation: &Creation<'_>| schema.create_property_key(&again, creation);
    for _ in 0..2 {
        let changed = graph.change_schema(CREATED, create).await.unwrap();
        assert!(changed.schema.property_key_named("s").is_some());
    }
}

#[tokio::test]
async fn indexes_are_rebuilt_by_name_and_by_label() {
    let graphs = graphs();
    let graph = graphs.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
    make_label(&graph).await;
    let status = async || graph.state().await.unwrap().schema.index_label_named("v_by_k").unwrap().status;
    assert_eq!(status().await, SchemaStatus::Creating);
    for (kind, name) in [(SchemaKind::VertexLabel, "v"), (SchemaKind::IndexLabel, "v_by_k")] {
        let id = graph.rebuild_indexes(kind, name, NOW).await.unwrap();
        assert_eq!(status().await, SchemaStatus::Rebuilding);
        assert!(matches!(graph.tasks().get(id).await.unwrap().work, TaskWork::Build(_)));
    }
    assert!(graph.rebuild_indexes(SchemaKind::VertexLabel, "x", NOW).await.is_err());
}

#[tokio::test]
async fn modes_are_set_and_seen_after_a_restart() {
    let graphs = graphs();
    let graph = graphs.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
    assert_eq!(graph.state().await.unwrap().read_mode, ReadMode::OltpOnly);
    graph.set_mode(GraphMode::Restoring).await.unwrap();
    graph.set_read_mode(ReadMode::All).await.unwrap();
    let refused = make_key(&graph, "k").await.unwrap_err();
    assert!(refused.to_string().contains("RESTORING"));
    let reopened = Graphs::new(graphs.shared.store.clone(), OPTIONS);
    let state = reopened.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap().state().await.unwrap();
    assert_eq!((state.mode, state.read_mode), (GraphMode::Restoring, ReadMode::All));
}

#[tokio::test]
async fn variables_and_objects_come_back() {
    let graphs = graphs();
    let variables = graphs.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap().variables();
    variables.put("name", "\"tom\"").await.unwrap();
    variables.put("age", "7").await.unwrap();
    assert_eq!(variables.get("name").await.unwrap().as_deref(), Some("\"tom\""));
    let listed = [("age".to_owned(), "7".to_owned()), ("name".to_owned(), "\"tom\"".to_owned())];
    assert_eq!(variables.list().await.unwrap(), listed);
    variables.delete("age").await.unwrap();
    assert_eq!(variables.get("age").await.unwrap(), None);
    assert!(matches!(variables.put("", "1").await, Err(Error::Invalid(_))));

    let objects = graphs.objects();
    let belong = |id: &str, user: &str| Object {
        id: id.into(),
        json: format!("{{\"user\":\"{user}\"}}"),
        values: vec![("user".into(), user.into())],
    };
    let put = |id: &str, user: &str| ObjectChange::Put("belong", belong(id, user));
    let before = objects.generation().await.unwrap();
    assert_eq!((before.count("belong"), &before), (0, &Generation::default()));
    let three = [put("1", "a"), put("2", "b"), put("3", "a")];
    assert!(objects.change(&before, &three).await.unwrap());
    assert!(!objects.change(&before, &[put("4", "a")]).await.unwrap(), "others were put since");
    let ids = |found: Vec<Object>| found.into_iter().map(|object| object.id).collect::<Vec<_>>();
    assert_eq!(ids(objects.list("belong", None, 2).await.unwrap()), ["1", "2"]);
    assert_eq!(ids(objects.list("belong", Some("2"), 2).await.unwrap()), ["3"]);
    assert_eq!(ids(objects.find("belong", ("user", "a"), None, 9).await.unwrap()), ["1", "3"]);
    let since = objects.generation().await.unwrap();
    assert_eq!(since.count("belong"), 3);
    assert!(objects.change(&since, &[put("1", "b")]).await.unwrap());
    assert_eq!(ids(objects.find("belong", ("user", "a"), None, 9).await.unwrap()), ["3"]);
    assert_eq!(ids(objects.find("belong", ("user", "b"), Some("1"), 9).await.unwrap()), ["2"]);
    let since = objects.generation().await.unwrap();
    let gone = |id: &str| ObjectChange::Remove("belong", id.to_owned());
    assert!(objects.change(&since, &[gone("2"), gone("9")]).await.unwrap());
    assert_eq!(ids(objects.find("belong", ("user", "b"), None, 9).await.unwrap()), ["1"]);
    assert_eq!(objects.get("belong", "2").await.unwrap(), None);
    assert_eq!(objects.generation().await.unwrap().count("belong"), 2);
}

/// Makes property keys and tasks, as another node does.
async fn make_some(graphs: &Graphs, node: usize) {
    let graph = graphs.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
    for step in 0..6 {
        make_key(&graph, &format!("k{node}_{step}")).await.unwrap();
        let work =
            TaskDraft { name: "t".into(), kind: "gremlin".into(), input: "".into(), work: TaskWork::Other };
        let id = graph.tasks().create(work, NOW).await.unwrap();
        let finish = |task: &mut crate::Task| {
            task.status = TaskStatus::Success;
            Ok(())
        };
        graph.tasks().change(id, NOW, finish).await.unwrap();
        // One of both, whoever comes first.
        let shared = PropertyKeyDraft { check_exist: false, ..PropertyKeyDraft::named(&format!("s{step}")) };
        let made = |schema: &Schema, creation: &Creation<'_>| -> Result<Outcome<PropertyKey>, SchemaError> {
            schema.create_property_key(&shared, creation)
        };
        graph.change_schema(CREATED, made).await.unwrap();
        assert!(graph.state().await.unwrap().schema.property_key_named(&format!("s{step}")).is_some());
    }
}

#[tokio::test]
async fn two_nodes_on_the_worst_store_lose_no_change_and_give_no_number_twice() {
    for seed in seeds(24) {
        let [first, second] = nodes(seed);
        tokio::join!(make_some(&first, 0), make_some(&second, 1));
        for graphs in [&first, &second] {
            let graph = graphs.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
            let state = graph.state().await.unwrap();
            let numbers: Vec<u32> = state.schema.property_keys().map(|key| key.id.0).collect();
            assert_eq!(numbers, (1..=18).collect::<Vec<u32>>());
            let page = graph.tasks().list(Some(TaskStatus::Success), None, 100).await.unwrap();
            let ids: BTreeSet<u64> = page.tasks.iter().map(|task| task.id.0).collect();
            assert_eq!((ids.len(), page.tasks.len()), (12, 12));
        }
    }
}

/// A removal that a crash cut short behind its first commit: nobody sees the edges, from neither side, before the job has removed them.
#[tokio::test]
async fn edges_of_a_removal_that_was_cut_short_are_not_seen() {
    use crate::write::{CheckVertices, EdgeOperation, VertexOperation};
    use graph::schema::{EdgeLabelDraft, IdStrategy};
    use graph::{Edge, EdgeDirection, EdgeId, LabelId, Properties, Vertex, VertexId};
    let graphs = graphs();
    let graph = graphs.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
    let label = VertexLabelDraft { id_strategy: IdStrategy::CustomizeString, ..VertexLabelDraft::named("v") };
    graph.change_schema(CREATED, |schema, new| schema.create_vertex_label(&label, new)).await.unwrap();
    let links = vec![("v".into(), "v".into())];
    let label = EdgeLabelDraft { links, ..EdgeLabelDraft::named("e") };
    graph.change_schema(CREATED, |schema, new| schema.create_edge_label(&label, new)).await.unwrap();
    let label = LabelId(1);
    let put = |id: &str| {
        let properties = Properties::default();
        VertexOperation::Put(Vertex { id: id.into(), label, expires: None, properties })
    };
    let id = |source: &str, target: &str| EdgeId {
        source: source.into(),
        label,
        sub_label: label,
        sort_values: "".into(),
        target: target.into(),
    };
    let ids = [id("a", "m"), id("m", "b"), id("a", "b")];
    let edges = ids
        .clone()
        .map(|id| EdgeOperation::Put(Edge { id, expires: None, properties: Properties::default() }, None));
    graph.write_vertices(["a", "b", "m"].map(put).to_vec(), NOW).await.unwrap();
    graph.write_edges(edges.to_vec(), CheckVertices::Yes, NOW).await.unwrap();
    let m = VertexId::from("m");
    let writes = vec![
        store::Write::Delete(graph::keys::vertex(&m)),
        store::Write::Delete(graph::keys::label(label, &m)),
        store::Write::PutStamped(graph::keys::removal(&m), Bytes::new()),
    ];
    let commit = store::Commit {
        partition: graph::keys::partition(graph.part(), 0),
        write_id: store::WriteIds::new().next(),
        conditions: Vec::new(),
        writes,
        change: None,
        reclaims: false,
    };
    graph.store().commit_known(commit).await.unwrap();

    let reopened = Graphs::new(graphs.shared.store.clone(), OPTIONS);
    let graph = reopened.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
    let seen = async |graph: &Graph| {
        let (reader, state) = (graph.reader(NOW).await.unwrap(), graph.state().await.unwrap());
        let mut seen = Vec::new();
        for (of, direction) in [("a", EdgeDirection::Out), ("b", EdgeDirection::In), ("m", EdgeDirection::In)]
        {
            let mut pages = reader.edges(&VertexId::from(of).to_key(), direction, &[]);
            let mut count = 0;
            while let Some(page) = pages.next().await.unwrap() {
                count += page.iter().count();
            }
            seen.push(count);
        }
        seen.push(reader.edges_by_id(&ids).await.unwrap().iter().flatten().count());
        for id in &ids {
            seen.push(usize::from(graph.edge(&state, id, NOW).await.unwrap().is_some()));
        }
        seen
    };
    assert_eq!(seen(&graph).await, [1, 1, 0, 1, 0, 0, 1]);
    graph.write_vertices(vec![put("m")], NOW).await.unwrap();
    assert_eq!(seen(&graph).await, [1, 1, 0, 1, 0, 0, 1], "they are not those of the next");
    graph.write_edges(edges.to_vec(), CheckVertices::Yes, NOW).await.unwrap();
    assert_eq!(seen(&graph).await, [2, 2, 1, 3, 1, 1, 1]);
    assert_eq!(graph.finish_removals(NOW).await.unwrap(), 0);
}
