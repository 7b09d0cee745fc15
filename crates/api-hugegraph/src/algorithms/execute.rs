//! The algorithm of one task, from its input to its result: the graph is read, computed over on a thread of its own, and what is said of
//! vertices is written to them.

use std::sync::Arc;

use graph::schema::{Schema, SchemaKind};
use graph::{LabelId, PropertyKeyId};
use graph_algorithms::Run;
use model_graph::{Clock, Error, Graph, Reader};
use serde_json::Value;
use traversals::whole::{WholeError, WholeGraph, WholeOptions, count_edges, count_vertices};

use super::compute::{Outcome, compute};
use super::plan::{Plan, Work, plan};
use super::render::ComputeError;
use super::walked::{WalkedError, Walks};
use super::watch::{AlgorithmOptions, Watch};
use super::write_back::{COMMUNITY, write_back};

/// The property of edges that is their weight for algorithms that heed weights.
const WEIGHT: &str = "c_weight";
/// Sources are chosen alike each time.
const SEED: u64 = 1;

/// Why a task has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExecuteError {
    /// Its client ended it.
    #[error("stopped")]
    Stopped,
    /// The input of the task is not that of an algorithm.
    #[error("the input of the task cannot be read: {0}")]
    Input(String),
    /// There is no such label or property.
    #[error("Undefined {}: '{name}'", .kind.readable_name())]
    Undefined { kind: SchemaKind, name: String },
    /// The graph takes too much memory, or cannot be read.
    #[error(transparent)]
    Read(WholeError),
    /// The result is too long, or the graph is too large.
    #[error(transparent)]
    Compute(ComputeError),
    /// The graph or its schema cannot be read or written.
    #[error(transparent)]
    Graph(#[from] Error),
    /// A walk takes too much memory, or cannot be.
    #[error(transparent)]
    Walk(traversals::Error),
    /// The thread of the algorithm ended without a result: a bug, or the server stops.
    #[error("the algorithm ended without a result")]
    Lost,
}

impl From<WholeError> for ExecuteError {
    fn from(error: WholeError) -> Self {
        match error {
            WholeError::Algorithm(graph_algorithms::Error::Stopped) => Self::Stopped,
            error => Self::Read(error),
        }
    }
}

impl From<WalkedError> for ExecuteError {
    fn from(error: WalkedError) -> Self {
        match error {
            WalkedError::Stopped => Self::Stopped,
            WalkedError::Undefined { kind, name } => Self::Undefined { kind, name },
            WalkedError::Walk(error) => Self::Walk(error),
            WalkedError::Compute(error) => error.into(),
        }
    }
}

impl From<ComputeError> for ExecuteError {
    fn from(error: ComputeError) -> Self {
        match error {
            ComputeError::Algorithm(graph_algorithms::Error::Stopped) => Self::Stopped,
            error => Self::Compute(error),
        }
    }
}

/// Carries out the algorithm that the input of a task names; answers with JSON text.
pub(super) async fn execute(
    graph: &Graph,
    input: &str,
    clock: &Clock,
    options: AlgorithmOptions,
    watch: &Arc<Watch>,
) -> Result<String, ExecuteError> {
    let plan = plan_of(input)?;
    let state = graph.state().await?;
    let reader = graph.reader(clock.now()).await?;
    let go_on = |steps| watch.go_on(steps);
    let counted = match plan.work {
        Work::CountVertices => Some((count_vertices(&reader, &go_on).await?, SchemaKind::VertexLabel)),
        Work::CountEdges => Some((count_edges(&reader, &go_on).await?, SchemaKind::EdgeLabel)),
        _ => None,
    };
    if let Some((counts, kind)) = counted {
        return Ok(counts_of(&state.schema, kind, counts));
    }
    let chosen = Chosen::of(&plan, &state.schema)?;
    if plan.work.walks() {
        let some = WholeGraph::read(&reader, chosen.vertices(&plan, options), &go_on).await?;
        watch.begin_part();
        let sources = (0..some.out().vertices()).map(|vertex| some.id(vertex).into_owned()).collect();
        return Ok(Walks { reader: &reader, schema: &state.schema, sources, watch }.run(&plan).await?);
    }
    let whole = WholeGraph::read(&reader, chosen.options(&plan, options), &go_on).await?;
    let sources = sources(&reader, &whole, &chosen, &plan, options, watch).await?;
    let (whole, outcome) = compute_beside(whole, sources, plan, options, watch).await?;
    if write_back(graph, &whole, &outcome.values, clock, watch).await? {
        return Ok(outcome.result);
    }
    Err(ExecuteError::Stopped)
}

fn plan_of(input: &str) -> Result<Plan, ExecuteError> {
    let wrong = |why: &str| ExecuteError::Input(why.to_owned());
    let input: Value = serde_json::from_str(input).map_err(|error| ExecuteError::Input(error.to_string()))?;
    let name =
        input.get("algorithm").and_then(Value::as_str).ok_or_else(|| wrong("it names no algorithm"))?;
    let parameters = input.get("parameters").and_then(Value::as_object);
    let parameters = parameters.ok_or_else(|| wrong("it has no parameters"))?;
    let planned = plan(name, parameters).map_err(|problem| ExecuteError::Input(problem.message))?;
    planned.ok_or_else(|| wrong("there is no such algorithm"))
}

fn counts_of(schema: &Schema, kind: SchemaKind, counts: impl IntoIterator<Item = (LabelId, u64)>) -> String {
    let mut total = 0;
    let mut object = serde_json::Map::new();
    for (label, count) in counts {
        let name = match kind {
            SchemaKind::VertexLabel => schema.vertex_label(label).map(|label| &label.label.name),
            _ => schema.edge_label(label).map(|label| &label.label.name),
        };
        // The label of an element that is seen is in the schema of the same moment, or was removed since.
        if let Some(name) = name {
            object.insert(name.to_string(), count.into());
            total += count;
        }
    }
    object.insert("*".into(), total.into());
    Value::Object(object).to_string()
}

/// What a plan names, as the schema knows it.
struct Chosen {
    vertex_labels: Vec<LabelId>,
    edge_labels: Vec<LabelId>,
    community: Option<PropertyKeyId>,
    weight: Option<PropertyKeyId>,
}

impl Chosen {
    fn of(plan: &Plan, schema: &Schema) -> Result<Self, ExecuteError> {
        let undefined = |kind, name: &str| ExecuteError::Undefined { kind, name: name.to_owned() };
        let vertex_label = plan.vertex_label.iter().map(|name| {
            let label = schema.vertex_label_named(name).map(|label| label.label.id);
            label.ok_or_else(|| undefined(SchemaKind::VertexLabel, name))
        });
        let edge_label = plan.edge_label.iter().map(|name| {
            let label = schema.edge_label_named(name).map(|label| label.label.id);
            label.ok_or_else(|| undefined(SchemaKind::EdgeLabel, name))
        });
        let community = plan.community.iter().map(|_| {
            let key = schema.property_key_named(COMMUNITY).map(|key| key.id);
            key.ok_or_else(|| undefined(SchemaKind::PropertyKey, COMMUNITY))
        });
        let weight = schema.property_key_named(WEIGHT).filter(|_| plan.work.is_weighted());
        Ok(Self {
            vertex_labels: vertex_label.collect::<Result<_, _>>()?,
            edge_labels: edge_label.collect::<Result<_, _>>()?,
            community: community.collect::<Result<Vec<_>, _>>()?.pop(),
            weight: weight.map(|key| key.id),
        })
    }

    /// The vertices that count, without edges.
    fn vertices<'a>(&'a self, plan: &'a Plan, options: AlgorithmOptions) -> WholeOptions<'a> {
        WholeOptions {
            vertex_labels: &self.vertex_labels,
            having: self.community.zip(plan.community.as_deref()),
            edge_labels: None,
            weight: None,
            memory_bytes_max: options.memory_bytes_max,
        }
    }

    /// The graph that the algorithm is about.
    fn options<'a>(&'a self, plan: &'a Plan, options: AlgorithmOptions) -> WholeOptions<'a> {
        let edge_labels = plan.work.reads_edges().then_some(&*self.edge_labels);
        let all = WholeOptions { edge_labels, weight: self.weight, ..self.vertices(plan, options) };
        if plan.is_of_sources { WholeOptions { vertex_labels: &[], having: None, ..all } } else { all }
    }
}

/// The vertices at which paths begin.
async fn sources(
    reader: &Reader,
    whole: &WholeGraph,
    chosen: &Chosen,
    plan: &Plan,
    options: AlgorithmOptions,
    watch: &Watch,
) -> Result<Vec<u32>, ExecuteError> {
    let Work::Paths { sample, .. } = plan.work else { return Ok(Vec::new()) };
    let vertices = whole.out().vertices();
    let all: Vec<u32> = match (&plan.vertex_label, &plan.community) {
        (None, None) => (0..vertices).collect(),
        _ => {
            watch.begin_part();
            let some =
                WholeGraph::read(reader, chosen.vertices(plan, options), &|steps| watch.go_on(steps)).await?;
            let ids = (0..some.out().vertices()).map(|vertex| some.id(vertex).into_owned());
            ids.filter_map(|id| whole.vertex(&id)).collect()
        }
    };
    let Some(sample) = sample else { return Ok(all) };
    let count = u32::try_from(all.len()).expect("vertices are counted in 32 bits");
    let places = graph_algorithms::sample_vertices(count, sample, SEED);
    let source = |place: u32| all.get(place as usize).copied().expect("a place among them");
    Ok(places.into_iter().map(source).collect())
}

/// Computes on a thread of its own, for this may take minutes.
async fn compute_beside(
    whole: WholeGraph,
    sources: Vec<u32>,
    plan: Plan,
    options: AlgorithmOptions,
    watch: &Arc<Watch>,
) -> Result<(WholeGraph, Outcome), ExecuteError> {
    watch.begin_part();
    let watch = watch.clone();
    let work = move || {
        let go_on = |steps| watch.go_on(steps);
        let outcome = compute(&whole, &sources, &plan, &Run::new(options.threads, &go_on));
        outcome.map(|outcome| (whole, outcome))
    };
    let done = tokio::task::spawn_blocking(work).await.map_err(|_| ExecuteError::Lost)?;
    Ok(done?)
}
