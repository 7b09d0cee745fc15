//! Graphs for tests: their edges in plain sight, and the same in a store, read as walks read them.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use ::graph::condition::{Condition, Test};
use ::graph::{
    Edge, EdgeDirection, EdgeId, LabelId, Properties, PropertiesBuilder, PropertyKeyId, Scalar, ScalarRef,
    Vertex, VertexId, keys,
};
use model_graph::{Reader, ReaderContext, VisibleLabels};
use store::{Clock, Commit, Deadline, ErrorKind, Lane, Store, Tenant, Timestamp, Write, WriteIds};
use traversals::{Direction, NO_LIMIT, Numbering, Path, Step, WalkOptions};

/// The property of edges that is their weight.
pub(crate) const WEIGHT: PropertyKeyId = PropertyKeyId(1);
/// A text property of vertices and edges.
pub(crate) const NAME: PropertyKeyId = PropertyKeyId(2);

/// An edge in plain sight.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlainEdge {
    pub(crate) source: i64,
    pub(crate) target: i64,
    pub(crate) label: u32,
    pub(crate) sort_values: &'static str,
    pub(crate) weight: Option<f64>,
}

/// A graph in plain sight: vertices are numbers; their label is theirs modulo two, plus one.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainGraph {
    pub(crate) vertices: BTreeSet<i64>,
    pub(crate) edges: Vec<PlainEdge>,
}

/// A step in plain sight.
#[derive(Clone, Debug)]
pub(crate) struct PlainStep {
    pub(crate) step: Step,
    /// Its filter takes edges that weigh more.
    pub(crate) heavier: Option<f64>,
}

/// An edge as a step takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PlainHop {
    pub(crate) target: i64,
    pub(crate) weight: f64,
    pub(crate) is_out: bool,
}

impl PlainStep {
    pub(crate) fn of(step: Step) -> Self {
        Self { step, heavier: None }
    }

    pub(crate) fn reversed(&self) -> Self {
        Self { step: self.step.reversed(), heavier: self.heavier }
    }
}

/// Numbers that look random; the same of the same seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    pub(crate) fn vertex(&mut self, count: u64) -> i64 {
        i64::try_from(self.below(count)).unwrap()
    }

    pub(crate) fn direction(&mut self) -> Direction {
        self.one_of(&[Direction::Out, Direction::In, Direction::Both])
    }

    pub(crate) fn one_of<T: Clone>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()].clone()
    }

    /// A step that reads all edges, of any labels.
    pub(crate) fn open_step(&mut self) -> PlainStep {
        let labels: [&[u32]; 4] = [&[], &[1], &[2], &[1, 2]];
        let labels = self.one_of(&labels).iter().map(|label| LabelId(*label).into()).collect();
        let step = Step { direction: self.direction(), labels, ..Step::default() };
        PlainStep::of(step.with_degree(NO_LIMIT))
    }

    /// A step that reads all edges, and takes those of any labels and weights.
    pub(crate) fn all_edges(&mut self) -> PlainStep {
        let PlainStep { mut step, .. } = self.open_step();
        let heavier = self.one_of(&[None, None, Some(0.5), Some(2.0)]);
        step = step.with_conditions(heavier.map(heavier_than).into_iter().collect());
        PlainStep { step, heavier }
    }

    /// A step of any kind.
    pub(crate) fn step(&mut self) -> PlainStep {
        let PlainStep { mut step, heavier } = self.all_edges();
        step.max_degree = self.one_of(&[NO_LIMIT, NO_LIMIT, 10_000, 1, 2, 3, 5]);
        if step.max_degree != NO_LIMIT && self.below(3) == 0 {
            step.skip_degree = step.max_degree + self.vertex(4);
        }
        PlainStep { step, heavier }
    }
}

impl PlainGraph {
    /// A graph of these edges, all of label 1.
    pub(crate) fn of(edges: &[(i64, i64)]) -> Self {
        let mut graph = Self::default();
        for (source, target) in edges {
            graph.add(*source, *target, 1, None);
        }
        graph
    }

    /// The same of edges of which none is there twice.
    pub(crate) fn of_distinct(edges: &[(i64, i64)]) -> Self {
        let vertices = edges.iter().flat_map(|(source, target)| [*source, *target]).collect();
        let edge = |(source, target): &(i64, i64)| PlainEdge {
            source: *source,
            target: *target,
            label: 1,
            sort_values: "",
            weight: None,
        };
        Self { vertices, edges: edges.iter().map(edge).collect() }
    }

    pub(crate) fn add(&mut self, source: i64, target: i64, label: u32, weight: Option<f64>) {
        self.vertices.extend([source, target]);
        let is_there =
            self.edges.iter().any(|edge| (edge.source, edge.target, edge.label) == (source, target, label));
        if !is_there {
            self.edges.push(PlainEdge { source, target, label, sort_values: "", weight });
        }
    }

    /// Another edge of the same label between two vertices.
    pub(crate) fn add_parallel(&mut self, edge: &PlainEdge, weight: Option<f64>) {
        self.edges.push(PlainEdge { sort_values: "b", weight, ..edge.clone() });
    }

    /// A graph of so many vertices, and at most so many edges of two labels, some with weights, some parallel, some from a vertex to itself;
    /// a few vertices have many of them.
    pub(crate) fn random(random: &mut Random, vertices: u64, edges: u64) -> Self {
        let mut graph = Self::default();
        graph.vertices.extend(0..i64::try_from(vertices).unwrap());
        for _ in 0..edges {
            let source = match random.below(3) {
                0 => random.vertex(2),
                _ => random.vertex(vertices),
            };
            let target = random.vertex(vertices);
            let label = 1 + u32::try_from(random.below(2)).unwrap();
            let weight = (random.below(4) > 0).then(|| random.vertex(9) as f64 / 2.0);
            graph.add(source, target, label, weight);
        }
        for edge in graph.edges.clone() {
            if random.below(6) == 0 {
                let weight = Some(random.vertex(9) as f64 / 2.0);
                graph.add_parallel(&edge, weight);
            }
        }
        graph
    }

    /// The edges that a step takes from a vertex, in the order of direction, label and key.
    pub(crate) fn taken(&self, vertex: i64, plain: &PlainStep) -> Vec<PlainHop> {
        let step = &plain.step;
        let mut read = Vec::new();
        for is_out in [true, false] {
            let is_taken = match step.direction {
                Direction::Out => is_out,
                Direction::In => !is_out,
                Direction::Both => true,
            };
            let ends = |edge: &PlainEdge| match is_out {
                true => (edge.source, edge.target),
                false => (edge.target, edge.source),
            };
            let has_label = |edge: &&PlainEdge| {
                step.labels.is_empty() || step.labels.iter().any(|label| label.label.0 == edge.label)
            };
            let mut edges: Vec<_> = self
                .edges
                .iter()
                .filter(has_label)
                .filter(|edge| is_taken && ends(edge).0 == vertex)
                .collect();
            edges.sort_by_key(|edge| (edge.label, edge.sort_values, ends(edge).1));
            read.extend(edges.into_iter().map(|edge| (ends(edge).1, edge.weight, is_out)));
        }
        let (degree, skip) = (usize::try_from(step.max_degree), usize::try_from(step.skip_degree).unwrap());
        let degree = degree.unwrap_or(usize::MAX);
        read.truncate(if skip > 0 { skip } else { degree });
        read.retain(|(_, weight, _)| {
            plain.heavier.is_none_or(|than| weight.is_some_and(|weight| weight > than))
        });
        if skip > 0 && read.len() >= skip {
            read.clear();
        }
        read.truncate(degree);
        let hop = |(target, weight, is_out): (i64, Option<f64>, bool)| PlainHop {
            target,
            weight: weight.unwrap_or(1.0),
            is_out,
        };
        read.into_iter().map(hop).collect()
    }

    /// The vertices that a step leads to.
    pub(crate) fn next(&self, vertex: i64, step: &PlainStep) -> BTreeSet<i64> {
        self.taken(vertex, step).iter().map(|hop| hop.target).collect()
    }

    /// All paths that pass no vertex twice, of at most so many edges, from a vertex on; itself alone first.
    pub(crate) fn simple_paths(&self, from: i64, step: &PlainStep, depth: usize) -> Vec<Vec<i64>> {
        let (mut found, mut at) = (vec![vec![from]], 0);
        while at < found.len() {
            let path = found[at].clone();
            at += 1;
            if path.len() > depth {
                continue;
            }
            let next = self.next(*path.last().unwrap(), step);
            for vertex in next.into_iter().filter(|vertex| !path.contains(vertex)) {
                found.push([&path[..], &[vertex]].concat());
            }
        }
        found
    }

    /// The paths from a vertex on whose first edges a step takes, and whose others it takes the other way from behind: `ahead` of so many
    /// edges says how many are taken from the beginning.
    pub(crate) fn paths_between(
        &self,
        from: i64,
        step: &PlainStep,
        depth: usize,
        is_split: impl Fn(usize, usize) -> bool,
    ) -> Vec<Vec<i64>> {
        let every = PlainStep {
            step: Step { max_degree: NO_LIMIT, skip_degree: 0, ..step.step.clone() },
            heavier: step.heavier,
        };
        let back = step.reversed();
        let mut paths = self.simple_paths(from, &every, depth);
        paths.retain(|path| {
            let edges = path.len() - 1;
            let taken = |pair: &[i64], is_ahead: bool| match is_ahead {
                true => self.next(pair[0], step).contains(&pair[1]),
                false => self.next(pair[1], &back).contains(&pair[0]),
            };
            (0..=edges)
                .filter(|ahead| is_split(*ahead, edges - ahead))
                .any(|ahead| path.windows(2).enumerate().all(|(at, pair)| taken(pair, at < ahead)))
        });
        paths
    }

    /// It in a store, over so many buckets.
    pub(crate) async fn store(&self, store: &Store, buckets: u32) -> Reader {
        let mut rows = Vec::new();
        for vertex in &self.vertices {
            let mut properties = PropertiesBuilder::default();
            properties.put_one(NAME, ScalarRef::Text(if vertex % 3 == 0 { "three" } else { "other" }));
            let label = LabelId(1 + u32::try_from(vertex.rem_euclid(2)).unwrap());
            rows.push(vertex_row(VertexId::Number(*vertex), label, properties.finish(), buckets));
        }
        for edge in &self.edges {
            let mut properties = PropertiesBuilder::default();
            if let Some(weight) = edge.weight {
                properties.put_one(WEIGHT, ScalarRef::Double(weight));
            }
            let ends = (VertexId::Number(edge.source), VertexId::Number(edge.target));
            rows.extend(edge_rows(ends, LabelId(edge.label), edge.sort_values, properties.finish(), buckets));
        }
        stored(store, rows, buckets).await
    }

    /// It in a store in memory.
    pub(crate) async fn reader(&self) -> Reader {
        self.store(&store::testing::memory(Clock::manual(Timestamp(0))), 1).await
    }
}

/// A bucket and a row in it.
pub(crate) type BucketRow = (u32, Write);

pub(crate) fn vertex_row(id: VertexId, label: LabelId, properties: Properties, buckets: u32) -> BucketRow {
    let vertex = Vertex { id, label, expires: None, properties };
    let bucket = keys::bucket_of_vertex(&vertex.id.to_key(), buckets);
    (bucket, Write::PutStamped(keys::vertex(&vertex.id), vertex.to_stored().into()))
}

pub(crate) fn edge_rows(
    (source, target): (VertexId, VertexId),
    label: LabelId,
    sort_values: &str,
    properties: Properties,
    buckets: u32,
) -> [BucketRow; 2] {
    let id = EdgeId { source, label, sub_label: label, sort_values: sort_values.into(), target };
    let edge = Edge { id, expires: None, properties };
    let bucket = |id: &VertexId| keys::bucket_of_vertex(&id.to_key(), buckets);
    [
        (
            bucket(&edge.id.source),
            Write::PutStamped(keys::edge(&edge.id, EdgeDirection::Out), edge.to_stored().into()),
        ),
        (
            bucket(&edge.id.target),
            Write::Put(keys::edge(&edge.id, EdgeDirection::In), edge.to_stored().into()),
        ),
    ]
}

/// These rows in a store, and a graph of three vertex labels and three edge labels read from it.
pub(crate) async fn stored(store: &Store, rows: Vec<BucketRow>, buckets: u32) -> Reader {
    let ids = WriteIds::new();
    for bucket in 0..buckets {
        let writes: Vec<Write> =
            rows.iter().filter(|(of, _)| *of == bucket).map(|(_, write)| write.clone()).collect();
        for some in writes.chunks(1_000) {
            let commit = || Commit {
                partition: keys::partition(&Tenant::default(), bucket),
                write_id: ids.next(),
                conditions: vec![],
                writes: some.to_vec(),
                change: None,
                reclaims: false,
            };
            // The worst store may lose a commit, and says so.
            while let Err(error) = store.commit_known(commit()).await {
                assert_eq!(error.kind(), ErrorKind::Conflict);
            }
        }
    }
    let labels = || [LabelId(1), LabelId(2), LabelId(3)];
    let visible = Arc::new(VisibleLabels::new(labels(), labels()));
    let context = ReaderContext { graph: Tenant::default(), buckets, visible, now: Timestamp(0) };
    Reader::new(store, context).unwrap()
}

/// That an edge weighs more.
pub(crate) fn heavier_than(than: f64) -> Condition {
    Condition { key: WEIGHT, test: Test::Range(Bound::Excluded(Scalar::Double(than)), Bound::Unbounded) }
}

/// Options of a walk that may take as long as it likes.
pub(crate) fn options() -> WalkOptions {
    WalkOptions::new(Lane::new(1), Deadline::default())
}

/// The vertex of a number that a walk gave.
pub(crate) fn number(known: &Numbering, vertex: u32) -> i64 {
    match known.id(vertex).into_owned() {
        VertexId::Number(number) => number,
        other => panic!("{other} is no number"),
    }
}

pub(crate) fn numbers(known: &Numbering, vertices: &[u32]) -> Vec<i64> {
    vertices.iter().map(|vertex| number(known, *vertex)).collect()
}

/// Paths as vertices in plain sight.
pub(crate) fn plain_paths(known: &Numbering, paths: &[Path]) -> Vec<Vec<i64>> {
    paths.iter().map(|path| numbers(known, &path.vertices)).collect()
}

/// The ids of edges, as source and target in plain sight.
pub(crate) fn plain_edges(edges: &[EdgeId]) -> Vec<(i64, i64)> {
    let plain = |id: &VertexId| match id {
        VertexId::Number(number) => *number,
        other => panic!("{other} is no number"),
    };
    edges.iter().map(|edge| (plain(&edge.source), plain(&edge.target))).collect()
}

/// Checks random graphs in a store in memory, and in the worst store that keeps the contract, in buckets.
pub(crate) fn each_graph(
    graphs: u64,
    (vertices, edges): (u64, u64),
    check: impl AsyncFn(&PlainGraph, &Reader, &mut Random) + Copy,
) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        for seed in store::testing::seeds(graphs) {
            let mut random = Random::new(seed + 1);
            let graph = PlainGraph::random(&mut random, vertices, edges);
            let reader = match seed % 4 {
                0..3 => graph.reader().await,
                _ => {
                    let store = store::testing::hostile(Clock::manual(Timestamp(0)), seed);
                    graph.store(&store, 4).await
                }
            };
            check(&graph, &reader, &mut random).await;
        }
    });
}
