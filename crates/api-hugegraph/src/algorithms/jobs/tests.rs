//! Tasks of algorithms over a stored graph: results, what is written to vertices, what ends a task, and what a restart leaves.

use std::num::NonZeroUsize;

use graph::schema::{EdgeLabelDraft, IdStrategy, VertexLabelDraft};
use graph::{Edge, EdgeId, Properties, ScalarRef, ValueRef, Vertex, VertexId};
use model_graph::write::{CheckVertices, EdgeOperation, VertexOperation};
use model_graph::{GraphOptions, Timestamp};
use serde_json::{Value, json};

use super::*;

const OPTIONS: AlgorithmOptions = AlgorithmOptions { memory_bytes_max: 1 << 20, threads: NonZeroUsize::MIN };

struct Fixture {
    graphs: Graphs,
    graph: Arc<Graph>,
    jobs: AlgorithmJobs,
}

/// Two triangles with a bridge, of persons 0 to 5, and 6, who knows nobody.
async fn fixture() -> Fixture {
    let clock = Clock::manual(Timestamp(1_000_000));
    let options = GraphOptions { tenants_max: 1, graphs_max: 9, buckets: 1 };
    let graphs = Graphs::new(store::testing::memory(clock.clone()), options);
    let graph = graphs.get("DEFAULT", "hugegraph").await.unwrap();
    let moment = ("\"2026-01-01\"", clock.now());
    let person =
        VertexLabelDraft { id_strategy: IdStrategy::CustomizeNumber, ..VertexLabelDraft::named("person") };
    let person =
        graph.change_schema(moment, |schema, it| schema.create_vertex_label(&person, it)).await.unwrap();
    let knows =
        EdgeLabelDraft { links: vec![("person".into(), "person".into())], ..EdgeLabelDraft::named("knows") };
    let knows = graph.change_schema(moment, |schema, it| schema.create_edge_label(&knows, it)).await.unwrap();
    let vertex = |number| Vertex {
        id: VertexId::Number(number),
        label: person.part.label.id,
        expires: None,
        properties: Properties::default(),
    };
    let vertices = (0..7).map(|number| VertexOperation::Put(vertex(number))).collect();
    graph.write_vertices(vertices, clock.now()).await.unwrap();
    let edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)];
    let edge = |(source, target)| Edge {
        id: EdgeId {
            source: VertexId::Number(source),
            label: knows.part.label.id,
            sub_label: knows.part.label.id,
            sort_values: "".into(),
            target: VertexId::Number(target),
        },
        expires: None,
        properties: Properties::default(),
    };
    let edges = edges.map(|ends| EdgeOperation::Put(edge(ends), None)).into();
    graph.write_edges(edges, CheckVertices::Yes, clock.now()).await.unwrap();
    let jobs = AlgorithmJobs::new(graphs.clone(), clock, OPTIONS);
    Fixture { graphs, graph, jobs }
}

impl Fixture {
    async fn run(&self, name: &str, parameters: Value) -> Task {
        let id = self.jobs.create(self.graph.clone(), name, &parameters).await.unwrap();
        self.jobs.run_waiting().await;
        self.graph.tasks().get(id).await.unwrap()
    }

    async fn result(&self, name: &str, parameters: Value) -> String {
        let task = self.run(name, parameters).await;
        assert_eq!(task.status, TaskStatus::Success, "{}", task.result);
        assert!(task.progress > 0);
        task.result.into()
    }

    /// A property of all vertices, by their numbers.
    async fn values(&self, name: &str) -> Vec<Option<String>> {
        let state = self.graph.state().await.unwrap();
        let key = state.schema.property_key_named(name).unwrap().id;
        let reader = self.graph.reader(Timestamp(2_000_000)).await.unwrap();
        let ids: Vec<_> = (0..7).map(VertexId::Number).collect();
        let vertices = reader.vertices(&ids).await.unwrap();
        let value =
            |vertex: &model_graph::StoredVertex| match vertex.view().unwrap().properties.get(key).unwrap() {
                Some(ValueRef::One(ScalarRef::Text(text))) => Some(text.to_owned()),
                Some(ValueRef::One(ScalarRef::Double(number))) => Some(format!("{number:.2}")),
                other => panic!("{other:?}"),
            };
        vertices.into_iter().map(|vertex| vertex.as_ref().and_then(value)).collect()
    }
}

fn texts(values: &[&str]) -> Vec<Option<String>> {
    values.iter().map(|value| Some((*value).to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn elements_are_counted_by_label() {
    let fixture = fixture().await;
    assert_eq!(fixture.result("count_vertex", json!({})).await, r#"{"person":7,"*":7}"#);
    assert_eq!(fixture.result("count_edge", json!({})).await, r#"{"knows":7,"*":7}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn communities_are_written_to_vertices_and_found_again() {
    let fixture = fixture().await;
    let result = fixture.result("louvain", json!({ "source_label": "person" })).await;
    assert!(result.contains(r#""communities":2"#), "{result}");
    assert_eq!(fixture.values("c_label").await, texts(&["0", "0", "0", "1", "1", "1", "2"]));
    assert_eq!(fixture.result("louvain", json!({ "show_community": "1" })).await, "[3,4,5]");
    let inside = fixture.result("k_core", json!({ "k": 2, "source_clabel": "1" })).await;
    assert_eq!(inside, r#"{"kcores":[[3,4,5]]}"#);
    let result = fixture.result("weak_connected_component", json!({})).await;
    assert!(result.contains(r#""components":2"#), "{result}");
    assert_eq!(fixture.values("c_label").await, texts(&["0", "0", "0", "0", "0", "0", "1"]));
    fixture.result("lpa", json!({ "label": "knows" })).await;
    let communities = fixture.values("c_label").await;
    assert_eq!((&communities[0], &communities[6]), (&Some("0".into()), &Some("6".into())));
}

#[tokio::test(flavor = "multi_thread")]
async fn ranks_are_written_to_vertices() {
    let fixture = fixture().await;
    let result = fixture.result("page_rank", json!({ "alpha": 0.15, "top": 1 })).await;
    assert!(result.starts_with(r#"{"alpha":0.15,"iteration_times":"#), "{result}");
    assert!(result.contains(r#""top":{"5":0.2"#), "{result}");
    let ranks = fixture.values("r_rank").await;
    assert!(ranks[5].as_deref() > Some("0.20"), "{ranks:?}");
    // The same again: the property is there, and all labels have it.
    fixture.result("page_rank", json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_begin_at_the_sources() {
    let fixture = fixture().await;
    fixture.result("louvain", json!({})).await;
    let all = fixture.result("closeness_centrality", json!({ "depth": 1 })).await;
    assert_eq!(all, r#"{"0":2.0,"1":2.0,"2":3.0,"3":3.0,"4":2.0,"5":2.0,"6":0.0}"#);
    let some = json!({ "depth": 1, "source_clabel": "1", "source_label": "person" });
    assert_eq!(fixture.result("closeness_centrality", some).await, r#"{"3":3.0,"4":2.0,"5":2.0}"#);
    let sampled = fixture.result("closeness_centrality", json!({ "depth": 1, "source_sample": 2 })).await;
    assert_eq!(sampled.matches(':').count(), 2, "{sampled}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_done_fails_with_a_reason() {
    let fixture = fixture().await;
    for (name, parameters, expected) in [
        ("lpa", json!({ "source_label": "nobody" }), "Undefined vertex label: 'nobody'"),
        ("lpa", json!({ "label": "hates" }), "Undefined edge label: 'hates'"),
        ("lpa", json!({ "show_community": "1" }), "Undefined property key: 'c_label'"),
        ("no_such", json!({}), "the input of the task cannot be read: there is no such algorithm"),
    ] {
        let task = fixture.run(name, parameters).await;
        assert_eq!((task.status, &*task.result), (TaskStatus::Failed, expected));
    }
    let small = AlgorithmOptions { memory_bytes_max: 10, ..OPTIONS };
    let jobs = AlgorithmJobs::new(fixture.graphs.clone(), Clock::manual(Timestamp(0)), small);
    let task = Fixture { jobs, ..fixture }.run("lpa", json!({})).await;
    assert_eq!(&*task.result, "the graph takes more than 10 bytes of memory");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_was_cancelled_does_not_begin() {
    let fixture = fixture().await;
    let id = fixture.jobs.create(fixture.graph.clone(), "lpa", &json!({})).await.unwrap();
    assert!(fixture.graph.tasks().cancel(id, Timestamp(1)).await.unwrap());
    fixture.jobs.run_waiting().await;
    assert_eq!(fixture.graph.tasks().get(id).await.unwrap().status, TaskStatus::Cancelled);
    assert!(fixture.graph.state().await.unwrap().schema.property_key_named("c_label").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_task_at_work_notes_how_far_it_is_and_hears_that_it_shall_end() {
    let Fixture { graph, jobs, .. } = fixture().await;
    let id = jobs.create(graph.clone(), "lpa", &json!({})).await.unwrap();
    let tasks = graph.tasks();
    let begin = |task: &mut Task| {
        task.status = TaskStatus::Running;
        Ok(())
    };
    tasks.change(id, Timestamp(1), begin).await.unwrap();
    let watch = Watch::default();
    watch.go_on(7);
    for is_cancelled in [false, true] {
        let watched = tokio::time::timeout(2 * WATCH, jobs.watch(&graph, id, &watch)).await;
        assert!(watched.is_err(), "it watches until it is dropped");
        assert_eq!(tasks.get(id).await.unwrap().progress, 7);
        assert_eq!(watch.go_on(7), !is_cancelled);
        assert!(tasks.cancel(id, Timestamp(2)).await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_algorithm_that_shall_end_ends() {
    let fixture = fixture().await;
    let watch = Arc::new(Watch::default());
    watch.end();
    let input = r#"{"algorithm":"lpa","parameters":{}}"#;
    let ended = execute(&fixture.graph, input, &fixture.jobs.shared.clock, OPTIONS, &watch).await;
    assert!(matches!(ended, Err(ExecuteError::Stopped)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_earlier_process_left_is_run() {
    let fixture = fixture().await;
    let id = fixture.jobs.create(fixture.graph.clone(), "count_vertex", &json!({})).await.unwrap();
    let begun = |task: &mut Task| {
        task.status = TaskStatus::Running;
        Ok(())
    };
    fixture.graph.tasks().change(id, Timestamp(1), begun).await.unwrap();
    let jobs = AlgorithmJobs::new(fixture.graphs.clone(), fixture.jobs.shared.clock.clone(), OPTIONS);
    jobs.resume().await.unwrap();
    jobs.run_waiting().await;
    let task = fixture.graph.tasks().get(id).await.unwrap();
    assert_eq!((task.status, task.retries), (TaskStatus::Success, 1));
}
