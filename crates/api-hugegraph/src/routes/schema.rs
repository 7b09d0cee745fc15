//! `/schema`: property keys, vertex labels, edge labels, index labels. The four kinds have the same operations; the table of
//! routes says which kind.

mod operations;

use std::sync::Arc;

use access::Action;
use api_http::{Given, Request, Response, json_response};
use graph::schema::{
    EdgeLabelDraft, IndexLabelDraft, PartId, PropertyKeyDraft, Schema, SchemaError, SchemaKind, SchemaPart,
    VertexLabelDraft,
};
use http::StatusCode;
use lang_json::{ArrayWriter, ObjectWriter};
use model_graph::{Changed, Deadline, Error, Graph, TaskId};

pub(crate) use operations::*;

use super::{accepted, check_json, ok};
use crate::callers::{check_part, sees_part};
use crate::params;
use crate::problem::{JSON, Problem};
use crate::state::Api;
use crate::wire::{
    self, EdgeLabelGiven, IndexLabelGiven, PropertyKeyGiven, VertexLabelGiven, put_time, read_json,
};

/// The name of a list in answers, and that of one part beside its task.
const fn names(kind: SchemaKind) -> (&'static str, &'static str) {
    match kind {
        SchemaKind::PropertyKey => ("propertykeys", "property_key"),
        SchemaKind::VertexLabel => ("vertexlabels", "vertex_label"),
        SchemaKind::EdgeLabel => ("edgelabels", "edge_label"),
        SchemaKind::IndexLabel => ("indexlabels", "index_label"),
    }
}

/// GET `/schema`
pub(crate) async fn all(api: Api, request: Request) -> Result<Response, Problem> {
    let state = api.graph(&request).await?.state().await?;
    let schema = &*state.schema;
    match Given::of(&request).get(&params::FORMAT) {
        Some("groovy") => return ok(&serde_json::json!({ "schema": wire::script(schema) })),
        None | Some("json") => {}
        Some(other) => {
            let message = format!("The format must be json or groovy, but got '{other}'");
            return Err(Problem::illegal_argument(message));
        }
    }
    let mut out = String::with_capacity(1024);
    let mut object = ObjectWriter::begin(&mut out);
    for kind in SchemaKind::ALL {
        put_parts(object.member(names(*kind).0), schema, parts(schema, *kind));
    }
    object.end();
    Ok(json_response(StatusCode::OK, JSON, out))
}

/// GET `/schema/{kind}`
pub(crate) async fn list(api: Api, request: Request, kind: SchemaKind) -> Result<Response, Problem> {
    let state = api.graph(&request).await?.state().await?;
    let schema = &*state.schema;
    let given = Given::of(&request);
    let wanted: Vec<_> = given.all(&params::NAMES).map(|name| named(schema, kind, name)).collect();
    let mut found: Vec<SchemaPart> = match wanted.is_empty() {
        true => parts(schema, kind),
        false => wanted.into_iter().collect::<Result<_, _>>()?,
    };
    found.retain(|part| sees_part(&request, kind, part.name()));
    let mut out = String::with_capacity(1024);
    let mut object = ObjectWriter::begin(&mut out);
    put_parts(object.member(names(kind).0), schema, found);
    object.end();
    Ok(json_response(StatusCode::OK, JSON, out))
}

/// GET `/schema/{kind}/{name}`
pub(crate) async fn get(api: Api, request: Request, kind: SchemaKind) -> Result<Response, Problem> {
    check_part(&request, Action::Read, kind, request.capture(2))?;
    let state = api.graph(&request).await?.state().await?;
    let part = named(&state.schema, kind, request.capture(2))?;
    part_answer(StatusCode::OK, &state.schema, &part)
}

/// POST `/schema/{kind}`
pub(crate) async fn create(api: Api, request: Request, kind: SchemaKind) -> Result<Response, Problem> {
    check_json(&request)?;
    let draft = draft(kind, &request)?;
    check_part(&request, Action::Write, kind, draft.name())?;
    let graph = api.graph_to_fill(&request).await?;
    let (part, schema, task) = loop {
        match draft.change(&api, &graph, Change::Create).await {
            // A graph that is restored gives numbers again: what had them goes first.
            Err(Error::Schema(SchemaError::BeingRemoved { kind, number })) => {
                let (part, deadline) = (PartId { kind, number }, Deadline::at(request.deadline));
                graph.finish_removal(part, &api.shared.clock, deadline).await?;
            }
            outcome => break outcome?,
        }
    };
    match kind {
        SchemaKind::PropertyKey | SchemaKind::IndexLabel => Ok(task_answer(&schema, kind, &part, task)),
        SchemaKind::VertexLabel | SchemaKind::EdgeLabel => part_answer(StatusCode::CREATED, &schema, &part),
    }
}

/// PUT `/schema/{kind}/{name}`
pub(crate) async fn update(api: Api, request: Request, kind: SchemaKind) -> Result<Response, Problem> {
    check_json(&request)?;
    let draft = draft(kind, &request)?;
    let (in_url, in_body) = (request.capture(2), draft.name());
    if in_url != in_body {
        return Err(Problem::illegal_argument(format!(
            "The name in url({in_url}) and body({in_body}) are different"
        )));
    }
    check_part(&request, Action::Write, kind, in_body)?;
    let given = Given::of(&request);
    let graph = api.graph(&request).await?;
    if kind == SchemaKind::PropertyKey && given.get(action(kind)) == Some("clear") {
        let (key, task) = graph.clear_computed(in_url, api.shared.clock.now()).await?;
        let schema = &graph.state().await?.schema;
        return Ok(task_answer(schema, kind, &SchemaPart::PropertyKey(key), Some(task)));
    }
    let change = match params::is_append(&given, action(kind))? {
        true => Change::Append,
        false => Change::Eliminate,
    };
    let (part, schema, _) = draft.change(&api, &graph, change).await?;
    match kind {
        SchemaKind::PropertyKey => Ok(task_answer(&schema, kind, &part, None)),
        SchemaKind::VertexLabel | SchemaKind::EdgeLabel | SchemaKind::IndexLabel => {
            part_answer(StatusCode::OK, &schema, &part)
        }
    }
}

/// DELETE `/schema/{kind}/{name}`
pub(crate) async fn remove(api: Api, request: Request, kind: SchemaKind) -> Result<Response, Problem> {
    let name = request.capture(2);
    check_part(&request, Action::Delete, kind, name)?;
    let graph = api.graph(&request).await?;
    let remove = |schema: &Schema| match kind {
        SchemaKind::PropertyKey => schema.remove_property_key(name),
        SchemaKind::VertexLabel => schema.remove_vertex_label(name),
        SchemaKind::EdgeLabel => schema.remove_edge_label(name),
        SchemaKind::IndexLabel => schema.remove_index_label(name),
    };
    let task = graph.remove_from_schema(api.shared.clock.now(), remove).await?;
    Ok(accepted(task))
}

/// PUT `/jobs/rebuild/{kind}/{name}`
pub(crate) async fn rebuild(api: Api, request: Request, kind: SchemaKind) -> Result<Response, Problem> {
    let graph = api.graph(&request).await?;
    check_part(&request, Action::Write, SchemaKind::IndexLabel, request.capture(2))?;
    let task = graph.rebuild_indexes(kind, request.capture(2), api.shared.clock.now()).await?;
    Ok(accepted(Some(task)))
}

/// What is sent of a part.
#[derive(Debug)]
enum Draft {
    PropertyKey(PropertyKeyDraft),
    VertexLabel(VertexLabelDraft),
    EdgeLabel(EdgeLabelDraft),
    IndexLabel(IndexLabelDraft),
}

/// What becomes of it.
#[derive(Clone, Copy, Debug)]
enum Change {
    Create,
    Append,
    Eliminate,
}

/// Changes the schema by the function of the change that is asked for; gives the part, the schema of the change, and its task.
macro_rules! change {
    ($graph:expr, $moment:expr, $change:expr, $draft:expr, $kind:ident, $create:ident, $append:ident, $eliminate:ident) => {{
        let Changed { part, schema, task } = $graph
            .change_schema($moment, |schema, creation| match $change {
                Change::Create => schema.$create($draft, creation),
                Change::Append => schema.$append($draft),
                Change::Eliminate => schema.$eliminate($draft),
            })
            .await?;
        (SchemaPart::$kind(part), schema, task)
    }};
}

impl Draft {
    fn name(&self) -> &str {
        match self {
            Self::PropertyKey(draft) => &draft.name,
            Self::VertexLabel(draft) => &draft.label.name,
            Self::EdgeLabel(draft) => &draft.label.name,
            Self::IndexLabel(draft) => &draft.name,
        }
    }

    async fn change(
        &self,
        api: &Api,
        graph: &Graph,
        change: Change,
    ) -> Result<(SchemaPart, Arc<Schema>, Option<TaskId>), Error> {
        let now = api.shared.clock.now();
        let mut created = String::new();
        put_time(&mut created, now);
        let moment = (&*created, now);
        Ok(match self {
            Self::PropertyKey(draft) => change!(
                graph,
                moment,
                change,
                draft,
                PropertyKey,
                create_property_key,
                append_property_key,
                eliminate_property_key
            ),
            Self::VertexLabel(draft) => change!(
                graph,
                moment,
                change,
                draft,
                VertexLabel,
                create_vertex_label,
                append_vertex_label,
                eliminate_vertex_label
            ),
            Self::EdgeLabel(draft) => change!(
                graph,
                moment,
                change,
                draft,
                EdgeLabel,
                create_edge_label,
                append_edge_label,
                eliminate_edge_label
            ),
            Self::IndexLabel(draft) => change!(
                graph,
                moment,
                change,
                draft,
                IndexLabel,
                create_index_label,
                append_index_label,
                eliminate_index_label
            ),
        })
    }
}

/// Reads what is sent of a kind.
fn draft(kind: SchemaKind, request: &Request) -> Result<Draft, Problem> {
    let body = &request.body;
    Ok(match kind {
        SchemaKind::PropertyKey => Draft::PropertyKey(read_json::<PropertyKeyGiven>(body)?.draft()?),
        SchemaKind::VertexLabel => Draft::VertexLabel(read_json::<VertexLabelGiven>(body)?.draft()?),
        SchemaKind::EdgeLabel => Draft::EdgeLabel(read_json::<EdgeLabelGiven>(body)?.draft()?),
        SchemaKind::IndexLabel => Draft::IndexLabel(read_json::<IndexLabelGiven>(body)?.draft()?),
    })
}

fn action(kind: SchemaKind) -> &'static api_http::Parameter {
    match kind {
        SchemaKind::PropertyKey => &params::KEY_ACTION,
        SchemaKind::VertexLabel | SchemaKind::EdgeLabel | SchemaKind::IndexLabel => &params::ACTION,
    }
}

fn parts(schema: &Schema, kind: SchemaKind) -> Vec<SchemaPart> {
    schema.parts().filter(|part| part.id().kind == kind).collect()
}

fn named(schema: &Schema, kind: SchemaKind, name: &str) -> Result<SchemaPart, Problem> {
    let part = match kind {
        SchemaKind::PropertyKey => schema.property_key_named(name).cloned().map(SchemaPart::PropertyKey),
        SchemaKind::VertexLabel => schema.vertex_label_named(name).cloned().map(SchemaPart::VertexLabel),
        SchemaKind::EdgeLabel => schema.edge_label_named(name).cloned().map(SchemaPart::EdgeLabel),
        SchemaKind::IndexLabel => schema.index_label_named(name).cloned().map(SchemaPart::IndexLabel),
    };
    part.ok_or_else(|| {
        Problem::not_found(format!("{} with name '{name}' does not exist", kind.readable_name()))
    })
}

fn put_parts(out: &mut String, schema: &Schema, parts: Vec<SchemaPart>) {
    let mut array = ArrayWriter::begin(out);
    for part in parts {
        wire::put_part(array.item(), schema, &part);
    }
    array.end();
}

fn part_answer(status: StatusCode, schema: &Schema, part: &SchemaPart) -> Result<Response, Problem> {
    let mut out = String::with_capacity(512);
    wire::put_part(&mut out, schema, part);
    Ok(json_response(status, JSON, out))
}

/// 202, with the part and the task that completes it: 0 if there is nothing left to do.
fn task_answer(schema: &Schema, kind: SchemaKind, part: &SchemaPart, task: Option<TaskId>) -> Response {
    let mut out = String::with_capacity(512);
    let mut object = ObjectWriter::begin(&mut out);
    wire::put_part(object.member(names(kind).1), schema, part);
    object.raw("task_id", &task.map_or(0, |task| task.0).to_string());
    object.end();
    json_response(StatusCode::ACCEPTED, JSON, out)
}
