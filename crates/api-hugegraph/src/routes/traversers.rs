//! `/traversers`: walks over a graph.

mod answer;
mod edge_exist;
mod neighbourhoods;
mod paths;
mod patterns;
mod ranks;
mod shortest;
mod similarity;

use std::sync::Arc;
use std::time::Instant;

use api_http::{Given, Gives, Operation, Parameter, Request, RequestMemory};
use graph::plan::{Query, plan_vertices};
use graph::schema::Schema;
use graph::{VertexId, VertexIdRef};
use http::Method;
use model_graph::{Found, GraphState, Reader};
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use traversals::{Deadline, Step, WalkMemory, WalkOptions, defaults};

use self::answer::Answer;
use super::check_json;
use crate::operation::{done, json_of, operation};
use crate::params::{flag, walks as params};
use crate::problem::Problem;
use crate::state::Api;
use crate::table::{Table, of_graph};
use crate::wire::conditions::conditions;
use crate::wire::read_json;
use crate::wire::walks::{VerticesGiven, direction, step_label, vertex_id_of_value, vertex_label};

/// The most vertices from which a walk begins, where they are asked for by label and properties.
const SOURCES_MAX: usize = 10_000;

/// A walk takes so many bytes at a time of the memory that all requests share.
const WALK_MEMORY_STEP: usize = 4 << 20;

/// The answer of a walk.
const ANSWER: &[(u16, Gives)] = &[(200, done(json_of("WalkAnswer")))];

/// Adds the routes.
pub(crate) fn routes(table: &mut Table<'_>) {
    neighbourhoods::routes(table);
    similarity::routes(table);
    shortest::routes(table);
    paths::routes(table);
    patterns::routes(table);
    edge_exist::routes(table);
    ranks::routes(table);
}

/// A graph at the moment of a walk, and how far the walk may go.
struct WalkRequest {
    begun: Instant,
    state: Arc<GraphState>,
    reader: Reader,
    options: WalkOptions,
    /// The memory of the request, for its answer.
    memory: RequestMemory,
    depth_max: usize,
}

/// What a walk remembers counts in the memory of its request.
fn shared_memory(request: &Request) -> WalkMemory {
    let share = Mutex::new(request.memory.share());
    WalkMemory::new(move |bytes| share.lock().try_grow(bytes.next_multiple_of(WALK_MEMORY_STEP)).is_ok())
}

impl WalkRequest {
    /// The graph that the address names, as it is now.
    async fn of(api: &Api, request: &Request) -> Result<Self, Problem> {
        let begun = Instant::now();
        let graph = api.graph(request).await?;
        let (state, reader) = graph.reader_with_state(api.shared.clock.now()).await?;
        let limits = &api.shared.limits;
        let options = WalkOptions {
            lane: api.shared.lane.clone(),
            deadline: Deadline::at(request.deadline),
            bytes_max: limits.walk_memory_bytes_max,
            memory: shared_memory(request),
        };
        let (memory, depth_max) = (request.memory.clone(), limits.depth_max);
        Ok(Self { begun, state, reader, options, memory, depth_max })
    }

    fn schema(&self) -> &Schema {
        &self.state.schema
    }

    /// The step that the parameters of a query say.
    fn step(&self, given: &Given<'_>) -> Result<Step, Problem> {
        let name = given.get(&params::EDGE_LABEL).filter(|name| !name.is_empty());
        let label = name.map(|name| step_label(self.schema(), name)).transpose()?;
        let degree = params::number(given, &params::MAX_DEGREE, defaults::MAX_DEGREE)?;
        Ok(Step::new(direction(given.get(&params::DIRECTION))?, label).with_degree(degree))
    }

    /// The same with a degree at which vertices are skipped.
    fn skipping_step(&self, given: &Given<'_>) -> Result<Step, Problem> {
        let skip_degree = params::number(given, &params::SKIP_DEGREE, 0)?;
        Ok(Step { skip_degree, ..self.step(given)? })
    }

    /// The ids of the vertices that a body names, of those that are there; `what` names them in the singular.
    async fn vertices_given(
        &self,
        given: Option<&VerticesGiven>,
        what: &str,
    ) -> Result<Vec<VertexId>, Problem> {
        let Some(given) = given else {
            return Err(Problem::illegal_argument(format!("The {what} of request can't be null")));
        };
        let ids = given.ids.as_deref().unwrap_or(&[]);
        if ids.is_empty() {
            return self.vertices_asked_for(given).await;
        }
        let read = ids.iter().map(vertex_id_of_value).collect::<Result<Vec<_>, _>>()?;
        let found = self.reader.vertices(&read).await?;
        let there: Vec<_> = found.into_iter().flatten().map(|vertex| vertex.id).collect();
        if there.is_empty() {
            let shown = serde_json::Value::Array(ids.to_vec());
            return Err(Problem::illegal_argument(format!("Not exist source vertices with ids {shown}")));
        }
        Ok(there)
    }

    /// The ids of the vertices of a label, or with properties, or both.
    async fn vertices_asked_for(&self, given: &VerticesGiven) -> Result<Vec<VertexId>, Problem> {
        let properties = given.properties.as_ref().filter(|properties| !properties.is_empty());
        if given.label.is_none() && properties.is_none() {
            return Err(Problem::illegal_argument("No source vertices provided"));
        }
        let label = given.label.as_deref().map(|name| vertex_label(self.schema(), name)).transpose()?;
        let read = |properties| conditions(self.schema(), properties, self.depth_max);
        let conditions = properties.map_or(Ok(Vec::new()), read)?;
        let query = Query { label: label.map(|label| label.id), conditions };
        let stages = plan_vertices(self.schema(), &query).map_err(model_graph::Error::from)?;
        let matches = self.reader.matches(stages, self.options.deadline.clone());
        let mut matches = matches.in_lane(self.options.lane.clone());
        let mut ids = Vec::new();
        let take = |found: Found<'_>| {
            if let Found::Vertex(vertex) = found {
                ids.push(vertex.id().map(VertexIdRef::into_owned));
            }
        };
        matches.next(SOURCES_MAX + 1, take).await?;
        if ids.len() > SOURCES_MAX {
            return Err(Problem::limit(format!("The sources are more than {SOURCES_MAX} vertices")));
        }
        if ids.is_empty() {
            let label = given.label.as_deref().unwrap_or("null");
            let shown = serde_json::Value::from(given.properties.clone());
            return Err(Problem::illegal_argument(format!(
                "Not exist source vertex with label '{label}' and properties '{shown}'"
            )));
        }
        Ok(ids.into_iter().collect::<Result<_, _>>()?)
    }
}

/// An operation on vertices that a query names, with these parameters.
const fn by_query(
    id: &'static str,
    summary: &'static str,
    parameters: &'static [&'static [Parameter]],
) -> Operation {
    operation("traversers", id, summary).query(parameters).gives(ANSWER).refuses(&[400, 404, 504])
}

/// `with_vertex` and `with_edge`.
fn whole(given: &Given<'_>) -> Result<(bool, bool), Problem> {
    Ok((flag(given, &params::WITH_VERTEX, false)?, flag(given, &params::WITH_EDGE, false)?))
}

/// The body as JSON.
fn body<T: DeserializeOwned>(request: &Request) -> Result<T, Problem> {
    check_json(request)?;
    read_json(&request.body)
}

/// What must be in a body.
fn required<'a, T>(value: Option<&'a T>, what: &str) -> Result<&'a T, Problem> {
    value.ok_or_else(|| Problem::illegal_argument(format!("The {what} can't be null")))
}

/// A walk that is asked for by a query.
macro_rules! get {
    ($table:expr, $path:literal, $operation:ident, $handler:ident) => {
        $table.both(Method::GET, of_graph!($path), &$operation, $handler);
    };
}

/// A walk that is asked for by a body.
macro_rules! post {
    ($table:expr, $path:literal, $operation:ident, $handler:ident) => {
        $table.both(Method::POST, of_graph!($path), &$operation, $handler);
    };
}

use {get, post};
