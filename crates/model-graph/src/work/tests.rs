//! Tests of the work of tasks: what removed labels leave goes, indexes are filled, whatever breaks off, and whoever comes between.

mod attack;
mod pointers;
mod late;

use graph::index::{IndexRow, put_index_rows};
use graph::schema::{
    Creation, EdgeLabelDraft, IndexKind, IndexLabelDraft, LabelDraft, Outcome, PropertyKeyDraft, Schema,
    SchemaError, SchemaStatus, VertexLabelDraft,
};
use graph::{
    DataType, EdgeDirection, EdgeId, LabelId, Properties, PropertiesBuilder, PropertyKeyId, ScalarRef,
    Vertex, VertexId, keys,
};
use store::testing::seeds;
use store::{Commit, Direction, FeedOptions, HostileOptions, MemoryOptions, Range, Store, Timestamp, Write};

use super::*;
use crate::write::{CheckVertices, EdgeOperation, VertexOperation};
use crate::{DEFAULT_GRAPH, DEFAULT_SPACE, GraphOptions, Graphs};

const NOW: Timestamp = Timestamp(1_700_000_000_000_000);
const OPTIONS: GraphOptions = GraphOptions { tenants_max: 4, graphs_max: 4, buckets: 1 };
const AGE: PropertyKeyId = PropertyKeyId(1);
const PERSON: LabelId = LabelId(1);
const THING: LabelId = LabelId(2);
const KNOWS: LabelId = LabelId(1);

fn clock() -> Clock {
    Clock::manual(NOW)
}

fn memory_options() -> MemoryOptions {
    MemoryOptions { clock: clock(), feed: FeedOptions::recommended() }
}

async fn make<T>(graph: &Graph, think: impl Fn(&Schema, &Creation<'_>) -> Result<Outcome<T>, SchemaError>) {
    graph.change_schema(("\"now\"", NOW), think).await.unwrap();
}

/// Two vertex labels with the property `age`, and edges between persons.
async fn make_schema(graph: &Graph) {
    let age = PropertyKeyDraft { data_type: DataType::Int, ..PropertyKeyDraft::named("age") };
    make(graph, |schema, creation| schema.create_property_key(&age, creation)).await;
    for name in ["person", "thing"] {
        let label = LabelDraft { properties: vec!["age".into()], ..LabelDraft::named(name) };
        let label = VertexLabelDraft { label, ..VertexLabelDraft::named(name) };
        make(graph, |schema, creation| schema.create_vertex_label(&label, creation)).await;
    }
    let links = vec![("person".into(), "person".into())];
    let knows = EdgeLabelDraft { links, ..EdgeLabelDraft::named("knows") };
    make(graph, |schema, creation| schema.create_edge_label(&knows, creation)).await;
}

fn index(kind: IndexKind) -> IndexLabelDraft {
    IndexLabelDraft {
        base: Some((SchemaKind::VertexLabel, "person".into())),
        index_kind: Some(kind),
        fields: vec!["age".into()],
        ..IndexLabelDraft::named("by_age")
    }
}

fn vertex(number: i64, label: LabelId, age: i32) -> Vertex {
    let mut properties = PropertiesBuilder::default();
    properties.put_one(AGE, ScalarRef::Int(age));
    let properties = properties.finish();
    Vertex { id: VertexId::Number(number), label, expires: None, properties }
}

async fn write(graph: &Graph, writes: Vec<Write>) {
    let write_ids = WriteIds::new();
    let partition = keys::partition(graph.part(), 0);
    loop {
        let commit = Commit {
            partition: partition.clone(),
            write_id: write_ids.next(),
            conditions: Vec::new(),
            writes: writes.clone(),
            change: None,
            reclaims: false,
        };
        if store::retry::unless_lost(graph.store().commit_known(commit).await).unwrap().is_some() {
            return;
        }
    }
}

fn put(vertex: &Vertex) -> [Write; 2] {
    let row = Write::PutStamped(keys::vertex(&vertex.id), vertex.to_stored().into());
    [row, Write::Put(keys::label(vertex.label, &vertex.id), Bytes::new())]
}

/// Persons and things in turn, and edges from each person to the next.
async fn fill(graph: &Graph, count: i64) {
    let edge = |from: i64| EdgeId {
        source: VertexId::Number(from),
        label: KNOWS,
        sub_label: KNOWS,
        sort_values: "".into(),
        target: VertexId::Number(from + 2),
    };
    let mut writes = Vec::new();
    for number in 0..count {
        let label = if number % 2 == 0 { PERSON } else { THING };
        writes.extend(put(&vertex(number, label, i32::try_from(number).unwrap())));
        if label == PERSON {
            let stored = graph::Edge { id: edge(number), expires: None, properties: Properties::default() };
            let stored = Bytes::from(stored.to_stored());
            writes.push(Write::PutStamped(keys::edge(&edge(number), EdgeDirection::Out), stored.clone()));
            writes.push(Write::Put(keys::edge(&edge(number), EdgeDirection::In), stored));
        }
    }
    for chunk in writes.chunks(1_000) {
        write(graph, chunk.to_vec()).await;
    }
}

async fn count(graph: &Graph, range: Range) -> usize {
    let partition = keys::partition(graph.part(), 0);
    let mut pages = store::rows::Pages::new(graph.store(), &partition, range, 1_000);
    let mut count = 0;
    while let Some(page) = pages.next().await.unwrap() {
        count += page.len();
    }
    count
}

async fn default_graph(store: Store) -> std::sync::Arc<Graph> {
    Graphs::new(store, OPTIONS).get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap()
}

/// Runs all tasks to their end; how often it began.
async fn run_all(graph: &Graph) -> usize {
    let mut runs = 1;
    while graph.run_tasks(&clock()).await.unwrap().is_left {
        runs += 1;
        assert!(runs < 1_000, "tasks come to an end");
    }
    runs
}

async fn status(graph: &Graph) -> SchemaStatus {
    graph.state().await.unwrap().schema.index_label_named("by_age").unwrap().status
}

/// The index rows that there should be.
async fn index_rows(graph: &Graph, vertices: impl Iterator<Item = Vertex>) -> Vec<Bytes> {
    let schema = graph.state().await.unwrap().schema.clone();
    let indexes = &schema.vertex_label(PERSON).unwrap().indexes;
    let mut rows: Vec<IndexRow> = Vec::new();
    for vertex in vertices.filter(|vertex| vertex.label == PERSON) {
        put_index_rows(indexes, &keys::vertex(&vertex.id), vertex.properties.as_ref(), &mut rows).unwrap();
    }
    let mut rows: Vec<Bytes> = rows.into_iter().map(|row| row.key).collect();
    rows.sort_unstable();
    rows
}

async fn stored_index_rows(graph: &Graph) -> Vec<Bytes> {
    let partition = keys::partition(graph.part(), 0);
    let mut rows = Vec::new();
    for range in keys::index_ranges(graph::IndexLabelId(1)) {
        let mut pages = store::rows::Pages::new(graph.store(), &partition, range, 1_000);
        while let Some(page) = pages.next().await.unwrap() {
            rows.extend(page.rows().map(|(key, _)| Bytes::copy_from_slice(key)));
        }
    }
    rows.sort_unstable();
    rows
}

#[test]
fn runs_may_move_between_threads() {
    fn check(_: impl Send) {}
    fn of(graph: &Graph) {
        check(async { graph.run_tasks(&clock()).await });
    }
    let _ = of;
}

#[test]
fn a_stored_cursor_is_read_back() {
    let part = PartId { kind: SchemaKind::EdgeLabel, number: 7 };
    let cursor = Cursor { part, step: 1, bucket: 3, after: Bytes::from_static(b"key") };
    assert_eq!(Cursor::read(&cursor.to_bytes()), cursor);
    assert_eq!(Cursor::read(b""), beginning(NO_PART));
    assert_eq!(Cursor::read(b"\xff\xff"), beginning(NO_PART));
}

#[tokio::test]
async fn what_a_removed_label_left_goes_and_the_rest_stays() {
    let graph = default_graph(Store::memory(memory_options())).await;
    make_schema(&graph).await;
    let draft = index(IndexKind::Range);
    make(&graph, |schema, creation| schema.create_index_label(&draft, creation)).await;
    fill(&graph, 200).await;
    run_all(&graph).await;
    assert_eq!(count(&graph, Range::prefix(&b"X"[..])).await, 100);
    graph.remove_from_schema(NOW, |schema| schema.remove_edge_label("knows")).await.unwrap();
    graph.remove_from_schema(NOW, |schema| schema.remove_vertex_label("person")).await.unwrap();
    assert_eq!(count(&graph, keys::vertices_range()).await, 200, "nothing was removed yet");
    run_all(&graph).await;
    assert_eq!(count(&graph, keys::vertices_range()).await, 100);
    assert_eq!(count(&graph, keys::label_range(PERSON)).await, 0);
    assert_eq!(count(&graph, keys::label_range(THING)).await, 100);
    assert_eq!(count(&graph, Range::prefix(&b"X"[..])).await, 0);
    for direction in [EdgeDirection::Out, EdgeDirection::In] {
        assert_eq!(count(&graph, keys::all_edges_range(direction)).await, 0);
    }
    assert_eq!(graph.state().await.unwrap().schema.removed().count(), 0);
    let tasks = graph.tasks().list(Some(TaskStatus::Success), None, 9).await.unwrap().tasks;
    assert_eq!(tasks.iter().map(|task| task.progress).collect::<Vec<_>>(), [100, 100, 100]);
    assert_eq!(graph.run_tasks(&clock()).await.unwrap(), TaskRuns::default());
}

#[tokio::test]
async fn a_removal_whose_task_was_deleted_is_taken_up() {
    let graph = default_graph(Store::memory(memory_options())).await;
    make_schema(&graph).await;
    fill(&graph, 20).await;
    let task = graph.remove_from_schema(NOW, |schema| schema.remove_vertex_label("thing")).await.unwrap();
    graph.tasks().delete(task.unwrap(), true).await.unwrap();
    graph.run_tasks(&clock()).await.unwrap();
    run_all(&graph).await;
    assert_eq!(count(&graph, keys::vertices_range()).await, 10);
    assert_eq!(graph.state().await.unwrap().schema.removed().count(), 0);
}

/// However many jobs wait before it: it runs, and none is made beside it.
#[tokio::test]
async fn a_removal_is_found_behind_a_thousand_jobs() {
    let graph = default_graph(Store::memory(memory_options())).await;
    make_schema(&graph).await;
    fill(&graph, 20).await;
    for _ in 0..crate::TASKS_WAITING_MAX {
        let (name, kind, input) = ("job".into(), "algorithm".into(), "".into());
        let job = TaskDraft { name, kind, input, work: TaskWork::Other };
        graph.tasks().create(job, NOW).await.unwrap();
    }
    let task = graph.remove_from_schema(NOW, |schema| schema.remove_vertex_label("thing")).await.unwrap();
    let draft = index(IndexKind::Range);
    make(&graph, |schema, creation| schema.create_index_label(&draft, creation)).await;
    assert!(graph.rebuild_indexes(SchemaKind::IndexLabel, "by_age", NOW).await.is_err());
    run_all(&graph).await;
    assert_eq!(graph.tasks().get(task.unwrap()).await.unwrap().status, TaskStatus::Success);
    assert_eq!(
        (count(&graph, keys::vertices_range()).await, status(&graph).await),
        (10, SchemaStatus::Created)
    );
    assert_eq!(graph.tasks().unfinished(Some).await.unwrap().len(), crate::TASKS_WAITING_MAX);
}

/// A graph that is restored gives the number of a label again, whose vertices are still there: they go first.
#[tokio::test]
async fn the_number_of_a_removed_label_is_free_once_its_elements_are_gone() {
    let graph = default_graph(Store::memory(memory_options())).await;
    make_schema(&graph).await;
    fill(&graph, 200).await;
    graph.remove_from_schema(NOW, |schema| schema.remove_vertex_label("thing")).await.unwrap();
    graph.set_mode(graph::GraphMode::Restoring).await.unwrap();
    let label = LabelDraft { id: Some(2), ..LabelDraft::named("other") };
    let label = VertexLabelDraft { label, ..VertexLabelDraft::named("other") };
    let made = |schema: &Schema, creation: &Creation<'_>| schema.create_vertex_label(&label, creation);
    let refused = graph.change_schema(("1", NOW), made).await.unwrap_err();
    let Error::Schema(SchemaError::BeingRemoved { kind, number }) = refused else { panic!("{refused}") };
    let part = PartId { kind, number };
    let late = graph.finish_removal(part, &clock(), Deadline::at(Some(std::time::Instant::now()))).await;
    assert!(matches!(late, Err(Error::TimedOut(_))), "{late:?}");
    let other_run = graph.begin_run(&clock()).await.unwrap();
    graph.finish_removal(part, &clock(), Deadline::default()).await.unwrap();
    let made = graph.change_schema(("1", NOW), made).await.unwrap();
    assert_eq!(made.part.id, THING);
    assert_eq!(count(&graph, keys::vertices_range()).await, 100);
    assert!(!other_run.remove_ranges(&[keys::label_range(THING)]).await.unwrap(), "it is too late for that");
    // The task of the removal finds nothing to do, and leaves what has the number now.
    graph.write_vertices(vec![VertexOperation::Put(vertex(1, THING, 1))], NOW).await.unwrap();
    run_all(&graph).await;
    assert_eq!(count(&graph, keys::vertices_range()).await, 101);
}

#[tokio::test]
async fn an_index_is_filled_and_built_anew() {
    let graph = default_graph(Store::memory(memory_options())).await;
    make_schema(&graph).await;
    fill(&graph, 50).await;
    let draft = index(IndexKind::Range);
    make(&graph, |schema, creation| schema.create_index_label(&draft, creation)).await;
    assert_eq!(status(&graph).await, SchemaStatus::Creating);
    run_all(&graph).await;
    assert_eq!(status(&graph).await, SchemaStatus::Created);
    let all = || {
        (0..50).map(|number| {
            vertex(number, if number % 2 == 0 { PERSON } else { THING }, i32::try_from(number).unwrap())
        })
    };
    assert_eq!(stored_index_rows(&graph).await, index_rows(&graph, all()).await);

    // Rows that are wrong (of a vertex that is there, and of one that is not), and one that is missing.
    let rows = stored_index_rows(&graph).await;
    let indexes = graph.state().await.unwrap().schema.vertex_label(PERSON).unwrap().indexes.clone();
    let mut wrong = Vec::new();
    for of in [vertex(2, PERSON, 77), vertex(777, PERSON, 7)] {
        put_index_rows(&indexes, &keys::vertex(&of.id), of.properties.as_ref(), &mut wrong).unwrap();
    }
    let wrong = wrong.into_iter().map(|row| Write::Put(row.key, row.value));
    write(&graph, wrong.chain([Write::Delete(rows[1].clone())]).collect()).await;
    assert_eq!(stored_index_rows(&graph).await.len(), rows.len() + 1);
    let task = graph.rebuild_indexes(SchemaKind::VertexLabel, "person", NOW).await.unwrap();
    assert_eq!(status(&graph).await, SchemaStatus::Rebuilding);
    run_all(&graph).await;
    assert_eq!(status(&graph).await, SchemaStatus::Created);
    assert_eq!(stored_index_rows(&graph).await, rows);
    assert_eq!(graph.tasks().get(task).await.unwrap().progress, 25);
}

#[tokio::test]
async fn a_build_is_cancelled() {
    let graph = default_graph(Store::memory(memory_options())).await;
    make_schema(&graph).await;
    let draft = index(IndexKind::Range);
    let made = |schema: &Schema, creation: &Creation<'_>| schema.create_index_label(&draft, creation);
    let task = graph.change_schema(("1", NOW), made).await.unwrap().task.unwrap();
    assert!(graph.tasks().cancel(task, NOW).await.unwrap());
    run_all(&graph).await;
    assert_eq!(status(&graph).await, SchemaStatus::Invalid);
    assert_eq!(graph.tasks().get(task).await.unwrap().status, TaskStatus::Cancelled);
    graph.rebuild_indexes(SchemaKind::IndexLabel, "by_age", NOW).await.unwrap();
    run_all(&graph).await;
    assert_eq!(status(&graph).await, SchemaStatus::Created);
}

#[tokio::test]
async fn a_unique_index_over_equal_elements_fails() {
    let graph = default_graph(Store::memory(memory_options())).await;
    make_schema(&graph).await;
    let all = [vertex(1, PERSON, 7), vertex(2, PERSON, 8), vertex(3, THING, 8)];
    write(&graph, all.iter().flat_map(put).collect()).await;
    let draft = index(IndexKind::Unique);
    make(&graph, |schema, creation| schema.create_index_label(&draft, creation)).await;
    run_all(&graph).await;
    assert_eq!((status(&graph).await, stored_index_rows(&graph).await.len()), (SchemaStatus::Created, 2));

    // A claim of a vertex that changed without it.
    write(&graph, put(&vertex(2, PERSON, 9)).to_vec()).await;
    graph.rebuild_indexes(SchemaKind::IndexLabel, "by_age", NOW).await.unwrap();
    run_all(&graph).await;
    let now = index_rows(&graph, [vertex(1, PERSON, 7), vertex(2, PERSON, 9)].into_iter()).await;
    assert_eq!(stored_index_rows(&graph).await, now);

    write(&graph, put(&vertex(4, PERSON, 7)).to_vec()).await;
    let task = graph.rebuild_indexes(SchemaKind::IndexLabel, "by_age", NOW).await.unwrap();
    run_all(&graph).await;
    assert_eq!(status(&graph).await, SchemaStatus::Invalid);
    let task = graph.tasks().get(task).await.unwrap();
    assert_eq!(task.status, TaskStatus::Failed);
    assert!(task.result.starts_with("Unique constraint conflict is found"), "{}", task.result);
}

/// Who moves values from one element to another while a UNIQUE index is built takes none twice: the index is made.
#[tokio::test]
async fn a_unique_index_is_built_while_values_change_hands() {
    for seed in seeds(24) {
        let store = Store::hostile(HostileOptions::new(memory_options(), seed));
        let (first, second) = (default_graph(store.clone()).await, default_graph(store.beside()).await);
        make_schema(&first).await;
        let puts =
            (0..4).map(|number| VertexOperation::Put(vertex(number, PERSON, i32::try_from(number).unwrap())));
        first.write_vertices(puts.collect(), NOW).await.unwrap();
        let draft = index(IndexKind::Unique);
        make(&first, |schema, creation| schema.create_index_label(&draft, creation)).await;
        let moves = async {
            let mut ages = [0, 1, 2, 3];
            let put = async |person: usize, age: i32| {
                let put = vertex(i64::try_from(person).unwrap(), PERSON, age);
                second.write_vertices(vec![VertexOperation::Put(put)], NOW).await.unwrap();
            };
            for step in 0..40 {
                // The value of one becomes free before another takes it.
                let (one, other) = (step % 4, (step * 3 + 1) % 4);
                let (free, next) = (ages[one], 10 + i32::try_from(step).unwrap());
                put(one, next).await;
                ages[one] = next;
                if one != other {
                    put(other, free).await;
                    ages[other] = free;
                }
            }
        };
        tokio::join!(run_until_finished(&first), moves);
        run_until_finished(&first).await;
        assert_eq!(status(&first).await, SchemaStatus::Created, "seed {seed}");
    }
}

/// A text of more words than a commit has rows cannot be entered; other tasks of the graph are run nevertheless.
#[tokio::test]
async fn an_index_that_an_element_is_too_large_for_is_given_up() {
    let graph = default_graph(Store::memory(memory_options())).await;
    make_schema(&graph).await;
    let text = PropertyKeyDraft::named("text");
    make(&graph, |schema, creation| schema.create_property_key(&text, creation)).await;
    let label = LabelDraft { properties: vec!["text".into()], ..LabelDraft::named("book") };
    let label = VertexLabelDraft { label, ..VertexLabelDraft::named("book") };
    make(&graph, |schema, creation| schema.create_vertex_label(&label, creation)).await;
    let words = graph.store().limits().commit_rows + 1;
    let words: Vec<String> = (0..words).map(|word| format!("{word:x}")).collect();
    let mut properties = PropertiesBuilder::default();
    properties.put_one(PropertyKeyId(2), ScalarRef::Text(&words.join(" ")));
    let id = VertexId::Number(1_000_000);
    let book = Vertex { id, label: LabelId(3), expires: None, properties: properties.finish() };
    write(&graph, put(&book).to_vec()).await;
    fill(&graph, 10).await;
    let by_words = IndexLabelDraft {
        base: Some((SchemaKind::VertexLabel, "book".into())),
        index_kind: Some(IndexKind::Search),
        fields: vec!["text".into()],
        ..IndexLabelDraft::named("by_words")
    };
    let made = |schema: &Schema, creation: &Creation<'_>| schema.create_index_label(&by_words, creation);
    let task = graph.change_schema(("1", NOW), made).await.unwrap().task.unwrap();
    let by_age = index(IndexKind::Range);
    make(&graph, |schema, creation| schema.create_index_label(&by_age, creation)).await;
    run_all(&graph).await;
    let task = graph.tasks().get(task).await.unwrap();
    assert_eq!(task.status, TaskStatus::Failed);
    assert!(task.result.contains("COMMIT_ROWS_MAX"), "{}", task.result);
    let words_status = graph.state().await.unwrap().schema.index_label_named("by_words").unwrap().status;
    assert_eq!((words_status, status(&graph).await), (SchemaStatus::Invalid, SchemaStatus::Created));
}

/// Runs tasks until they are finished, whatever else fails meanwhile.
async fn run_until_finished(graph: &Graph) {
    for _ in 0..10_000 {
        if graph.run_tasks(&clock()).await.is_ok_and(|runs| !runs.is_left)
            && graph.tasks().unfinished(Some).await.is_ok_and(|left| left.is_empty())
        {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("tasks come to an end");
}

/// Puts things in the place of persons, one after the other.
async fn replace(graph: &Graph, numbers: std::ops::Range<i64>) {
    for number in numbers {
        write(graph, put(&vertex(number * 2, THING, 0)).to_vec()).await;
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn two_nodes_remove_a_label_while_others_take_the_places_of_its_vertices() {
    for seed in seeds(12) {
        let store = Store::hostile(HostileOptions::new(memory_options(), seed));
        let (first, second) = (default_graph(store.clone()).await, default_graph(store.beside()).await);
        make_schema(&first).await;
        fill(&first, 120).await;
        first.remove_from_schema(NOW, |schema| schema.remove_edge_label("knows")).await.unwrap();
        first.remove_from_schema(NOW, |schema| schema.remove_vertex_label("person")).await.unwrap();
        tokio::join!(run_until_finished(&first), run_until_finished(&second), replace(&second, 0..20));
        let partition = keys::partition(first.part(), 0);
        let page = store.scan(&partition, &keys::vertices_range(), Direction::Forward, 1_000).await.unwrap();
        let mut left = 0;
        for (_, stored) in page.rows() {
            assert_eq!(graph::VertexView::parse(stored).unwrap().label, THING);
            left += 1;
        }
        assert_eq!(left, 60 + 20);
        for number in 0..20 {
            let key = keys::vertex(&VertexId::Number(number * 2));
            assert!(store.get_linear(&partition, &key).await.unwrap().is_some(), "{number}");
        }
        assert_eq!(second.state().await.unwrap().schema.removed().count(), 0);
    }
}

/// Milliseconds after [`NOW`].
fn later(ms: i64) -> Timestamp {
    Timestamp(NOW.0 + ms * 1_000)
}

fn expiring(number: i64, ms: i64) -> VertexOperation {
    let expires = Some(NOW.0 / 1_000 + ms);
    VertexOperation::Put(Vertex { expires, ..vertex(number, PERSON, 1) })
}

#[tokio::test]
async fn what_has_expired_goes_with_its_rows() {
    let graph = default_graph(Store::memory(memory_options())).await;
    make_schema(&graph).await;
    let draft = index(IndexKind::Range);
    make(&graph, |schema, creation| schema.create_index_label(&draft, creation)).await;
    run_all(&graph).await;
    let vertices = vec![expiring(0, 10), expiring(2, 20), expiring(4, 30), expiring(6, 10)];
    graph.write_vertices(vertices, NOW).await.unwrap();
    let edge = |from: i64, to: i64, expires: Option<i64>| {
        let (source, target) = (VertexId::Number(from), VertexId::Number(to));
        let id = EdgeId { source, label: KNOWS, sub_label: KNOWS, sort_values: "".into(), target };
        EdgeOperation::Put(graph::Edge { id, expires, properties: Properties::default() }, None)
    };
    let edges = vec![edge(0, 4, None), edge(2, 4, Some(NOW.0 / 1_000 + 15)), edge(4, 2, None)];
    graph.write_edges(edges, CheckVertices::No, NOW).await.unwrap();
    // It lives longer than it did at first.
    graph.write_vertices(vec![expiring(6, 40)], NOW).await.unwrap();
    // An expiry that leads to nothing.
    let stray = keys::expiry(NOW.0 / 1_000 + 5, &keys::vertex(&VertexId::Number(99)));
    write(&graph, vec![Write::Put(stray, Bytes::new())]).await;

    assert_eq!(graph.remove_expired(later(9), 100).await.unwrap(), 0);
    assert_eq!(count(&graph, keys::vertices_range()).await, 4);
    let edges = async || count(&graph, keys::all_edges_range(EdgeDirection::Out)).await;
    assert_eq!(graph.remove_expired(later(10), 100).await.unwrap(), 1);
    assert_eq!((count(&graph, keys::vertices_range()).await, edges().await), (3, 2));
    assert_eq!(graph.remove_expired(later(15), 100).await.unwrap(), 1);
    assert_eq!(edges().await, 1);
    assert_eq!(graph.remove_expired(later(20), 100).await.unwrap(), 1);
    assert_eq!((count(&graph, keys::vertices_range()).await, edges().await), (2, 0));
    assert_eq!(count(&graph, keys::all_edges_range(EdgeDirection::In)).await, 0);
    assert_eq!(count(&graph, Range::prefix(&b"X"[..])).await, 2, "index rows go, too");
    assert_eq!(count(&graph, keys::expiries_range(i64::MAX - 1)).await, 2);
    assert_eq!(graph.remove_expired(later(40), 100).await.unwrap(), 2);
    assert_eq!(count(&graph, keys::expiries_range(i64::MAX - 1)).await, 0);
    assert_eq!(count(&graph, Range::prefix(&b"X"[..])).await, 0);
}

/// Puts, changes and removes persons, as many clients do.
async fn change_persons(graph: &Graph, seed: i64) {
    for step in 0..40 {
        let number = (step * 7 + seed) % 10;
        let age = i32::try_from(step % 4).unwrap();
        if (step + seed) % 5 == 0 {
            graph.remove_vertices(&[VertexId::Number(number)], NOW).await.unwrap();
        } else {
            let person = vertex(number, if step % 9 == 0 { THING } else { PERSON }, age);
            graph.write_vertices(vec![VertexOperation::Put(person)], NOW).await.unwrap();
        }
        tokio::task::yield_now().await;
    }
}

/// Makes an index, and builds it anew, twice at once.
async fn build_twice(graph: &Graph) {
    let draft = index(IndexKind::Range);
    make(graph, |schema, creation| schema.create_index_label(&draft, creation)).await;
    for _ in 0..2 {
        tokio::task::yield_now().await;
        graph.rebuild_indexes(SchemaKind::IndexLabel, "by_age", NOW).await.unwrap();
    }
}

#[tokio::test]
async fn an_index_that_is_built_while_others_write_has_what_they_wrote() {
    for seed in seeds(16) {
        let store = Store::hostile(HostileOptions::new(memory_options(), seed));
        let seed = seed.cast_signed();
        let (first, second) = (default_graph(store.clone()).await, default_graph(store.beside()).await);
        make_schema(&first).await;
        change_persons(&first, seed).await;
        tokio::join!(
            change_persons(&first, seed),
            change_persons(&second, seed + 3),
            async {
                build_twice(&second).await;
                run_until_finished(&second).await;
            },
            async {
                first.run_tasks(&clock()).await.ok();
            },
        );
        run_until_finished(&first).await;
        assert_eq!(status(&first).await, SchemaStatus::Created);
        let partition = keys::partition(first.part(), 0);
        let page = store.scan(&partition, &keys::vertices_range(), Direction::Forward, 1_000).await.unwrap();
        let stored = page.rows().map(|(key, stored)| {
            let id = VertexId::of_key(keys::vertex_key_of_row(key).unwrap()).unwrap();
            Vertex::of_stored(id, stored).unwrap()
        });
        let expected = index_rows(&first, stored).await;
        let found = stored_index_rows(&first).await;
        for row in &expected {
            assert!(found.contains(row), "seed {seed}: {}", row.escape_ascii());
        }
        first.rebuild_indexes(SchemaKind::IndexLabel, "by_age", NOW).await.unwrap();
        run_until_finished(&first).await;
        assert_eq!(stored_index_rows(&first).await, expected, "seed {seed}");
    }
}

#[tokio::test]
async fn a_run_is_bounded_and_goes_on_where_it_was() {
    let graph = default_graph(Store::memory(memory_options())).await;
    make_schema(&graph).await;
    // More rows than the pages of one run have.
    let count_of = i64::try_from(PAGES_A_RUN).unwrap() * 1_000 + 500;
    let mut writes = Vec::new();
    for number in 0..count_of {
        let row = vertex(number, PERSON, 1);
        writes.push(Write::PutStamped(keys::vertex(&row.id), row.to_stored().into()));
        if writes.len() == 4_000 {
            write(&graph, std::mem::take(&mut writes)).await;
        }
    }
    write(&graph, writes).await;
    let draft = index(IndexKind::Range);
    make(&graph, |schema, creation| schema.create_index_label(&draft, creation)).await;
    assert!(run_all(&graph).await >= 2);
    assert_eq!(stored_index_rows(&graph).await.len(), usize::try_from(count_of).unwrap());
}
