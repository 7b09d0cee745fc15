//! Who asks, and whether he may: the guard of each route, and what handlers ask of it. Where nobody need say who he is there is no guard, and
//! handlers find nobody, who may do everything.

use std::sync::Arc;

use access::{Action, Allowed, Caller, Error, Proof, ResourceType, Users};
use api_http::{Credentials, CredentialsError, Guard, Refusal, Request};
use graph::schema::{Schema, SchemaKind};
use graph::{EdgeId, LabelId, VertexId};
use model_graph::write::VertexOperation;
use model_graph::{DEFAULT_SPACE, Graph, Sight, TenantName, VisibleLabels};

use crate::needs::Need;
use crate::problem::Problem;
use crate::state::Api;

/// The guard of a route, which has the graph space in its path or not; `None` where it needs nothing.
pub(crate) fn guard(users: &Users, need: Need, path: &'static str) -> Option<Guard> {
    let has_space = path.starts_with("/graphspaces/{graphspace}");
    let users = users.clone();
    let admit = move |users: Users, mut request: Request| async move {
        let caller = identified(&users, &request).await?;
        let named = |index: usize| request.captures.get(index).map_or("", String::as_str);
        let (space, graph) = if has_space { (named(0), named(1)) } else { (DEFAULT_SPACE, named(0)) };
        check(&caller, need, (space, graph)).map_err(|error| refusal(&error))?;
        request.extensions.insert(caller);
        Ok(request)
    };
    (users.is_on() && need != Need::Nothing)
        .then(|| -> Guard { Arc::new(move |request| Box::pin(admit(users.clone(), request))) })
}

/// A guard for APIs that know no permissions: they are for administrators of the tenant.
pub fn administrators_only(users: &Users) -> Guard {
    let users = users.clone();
    let admit = |users: Users, request: Request| async move {
        let caller = identified(&users, &request).await?;
        if !caller.role.is_admin() {
            let detail = "Permission denied: with logins this API is for administrators of the tenant";
            return Err(Refusal::Forbidden(detail.to_owned()));
        }
        Ok(request)
    };
    Arc::new(move |request| Box::pin(admit(users.clone(), request)))
}

/// Who sends a request.
async fn identified(users: &Users, request: &Request) -> Result<Arc<Caller>, Refusal> {
    let tenant =
        api_http::tenant(request, TenantName::new).map_err(|error| Refusal::BadHead(error.to_string()))?;
    let credentials = Credentials::of(request).map_err(|error| match error {
        CredentialsError::Missing => Refusal::Unauthorized(error.to_string()),
        CredentialsError::Scheme | CredentialsError::Syntax => Refusal::BadHead(error.to_string()),
    })?;
    let proof = match &credentials {
        Credentials::Password { user, password } => Proof::Password(user, password),
        Credentials::Token(token) => Proof::Token(token),
    };
    users.identify(&tenant, proof).await.map_err(|error| refusal(&error))
}

/// Refuses whom a route is not for.
fn check(caller: &Caller, need: Need, (space, graph): (&str, &str)) -> Result<(), Error> {
    let role = &caller.role;
    let may = match need {
        Need::Nothing | Need::Login => true,
        Need::Permission(action, kind) => role.allowed((space, graph), action, kind).is_something(),
        Need::Job => return check_all(caller, (space, graph), &JOB),
        Need::Manager => role.manages(space),
        Need::Admin => role.is_admin(),
    };
    if may {
        return Ok(());
    }
    Err(match need {
        Need::Permission(action, kind) => denied(action, (space, graph), kind, "*"),
        Need::Nothing | Need::Login | Need::Job | Need::Manager | Need::Admin => {
            denied(Action::Write, (space, graph), ResourceType::Root, "*")
        }
    })
}

/// What is needed for a job over a whole graph, which no labels may limit.
const JOB: [(Action, ResourceType); 3] = [
    (Action::Execute, ResourceType::Task),
    (Action::Read, ResourceType::Vertex),
    (Action::Read, ResourceType::Edge),
];
/// What is needed beside for one that writes what it finds: a property key, given to all vertex labels, and a value of each vertex.
const JOB_THAT_WRITES: [(Action, ResourceType); 3] = [
    (Action::Write, ResourceType::Vertex),
    (Action::Write, ResourceType::PropertyKey),
    (Action::Write, ResourceType::VertexLabel),
];

/// Refuses whoever may not do all of this with all things of the types, whatever their labels.
fn check_all(
    caller: &Caller,
    (space, graph): (&str, &str),
    needed: &[(Action, ResourceType)],
) -> Result<(), Error> {
    let is_all = |allowed| matches!(allowed, Allowed::All);
    match needed.iter().find(|(action, kind)| !is_all(caller.role.allowed((space, graph), *action, *kind))) {
        Some((action, kind)) => Err(denied(*action, (space, graph), *kind, "*")),
        None => Ok(()),
    }
}

/// Refuses a job that writes what it finds to whoever may not write all vertices, property keys and vertex labels of the graph.
///
/// # Errors
///
/// 403.
pub(crate) fn check_job_that_writes(request: &Request) -> Result<(), Problem> {
    let Some(caller) = known(request) else { return Ok(()) };
    Ok(check_all(caller, (request.capture(0), request.capture(1)), &JOB_THAT_WRITES)?)
}

fn denied(action: Action, (space, graph): (&str, &str), kind: ResourceType, name: &str) -> Error {
    Error::Forbidden(format!(
        "{} Resource{{graphspace={space},graph={graph},type={},operated={name}}}",
        action.name().to_ascii_lowercase(),
        kind.name()
    ))
}

/// Words why somebody is not admitted.
fn refusal(error: &Error) -> Refusal {
    match error {
        Error::Unknown => Refusal::Unauthorized("Authentication failed".to_owned()),
        Error::Forbidden(_) => Refusal::Forbidden(error.to_string()),
        Error::Invalid(detail) => Refusal::Forbidden(detail.clone()),
        Error::Busy | Error::Contention => Refusal::Unavailable(error.to_string()),
        Error::Objects(objects) if objects.is_outage() => {
            Refusal::Unavailable("the store cannot serve now".to_owned())
        }
        Error::Objects(_) | Error::Exists { .. } | Error::NotFound { .. } | Error::Damaged { .. } => {
            tracing::error!(%error, "nobody can be identified");
            Refusal::Internal
        }
    }
}

impl Api {
    /// Who asks.
    pub(crate) fn caller(&self, request: &Request) -> Arc<Caller> {
        known(request).cloned().unwrap_or_else(|| self.shared.users.anybody())
    }
}

/// Who asks, where that had to be said.
fn known(request: &Request) -> Option<&Arc<Caller>> {
    request.extensions.get::<Arc<Caller>>()
}

/// What whoever asks may do with things of a type in the graph of the path, as far as it depends on their labels; `None`: with all of them.
/// Cost where nobody need say who he is: one comparison.
fn limits(request: &Request, action: Action, kind: ResourceType) -> Option<Allowed> {
    let allowed = known(request)?.role.allowed((request.capture(0), request.capture(1)), action, kind);
    (!matches!(allowed, Allowed::All)).then_some(allowed)
}

/// The graph as whoever asks may read it. Cost where nobody need say who he is: one comparison.
pub(crate) fn as_seen(request: &Request, graph: Arc<Graph>) -> Arc<Graph> {
    if known(request).is_none() {
        return graph;
    }
    let vertices = limits(request, Action::Read, ResourceType::Vertex);
    let edges = limits(request, Action::Read, ResourceType::Edge);
    if vertices.is_none() && edges.is_none() {
        return graph;
    }
    Arc::new(graph.seen_by(Sight::new(move |schema| visible(schema, vertices.as_ref(), edges.as_ref()))))
}

fn visible(schema: &Schema, vertices: Option<&Allowed>, edges: Option<&Allowed>) -> VisibleLabels {
    let has = |allowed: Option<&Allowed>, name: &str| allowed.is_none_or(|allowed| allowed.has(name));
    VisibleLabels::new(
        schema.vertex_labels().filter(|label| has(vertices, &label.name)).map(|label| label.id),
        schema.edge_labels().filter(|label| has(edges, &label.name)).map(|label| label.id),
    )
}

/// Refuses vertices that whoever asks may not write, or not over what is there. Cost where nobody need say who he is: one comparison;
/// else, where it depends on labels, a read of each.
///
/// # Errors
///
/// 403.
pub(crate) async fn check_vertex_writes(
    request: &Request,
    graph: &Graph,
    schema: &Schema,
    operations: &[VertexOperation],
) -> Result<(), Problem> {
    if !is_limited(request, Action::Write, ResourceType::Vertex) {
        return Ok(());
    }
    let given = operations.iter().filter_map(|operation| match operation {
        VertexOperation::Put(vertex)
        | VertexOperation::Create(vertex)
        | VertexOperation::Merge(vertex, _) => Some(vertex.label),
        VertexOperation::Change(..) => None,
    });
    check_vertices(request, Action::Write, schema, given)?;
    let ids: Vec<_> = operations.iter().map(|operation| operation.id().clone()).collect();
    check_vertices(request, Action::Write, schema, graph.labels_of_vertices(&ids).await?)
}

/// Refuses vertices that whoever asks may not remove. Cost as [`check_vertex_writes`].
///
/// # Errors
///
/// 403.
pub(crate) async fn check_vertex_removals(
    request: &Request,
    graph: &Graph,
    ids: &[VertexId],
) -> Result<(), Problem> {
    if !is_limited(request, Action::Delete, ResourceType::Vertex) {
        return Ok(());
    }
    let state = graph.state().await?;
    check_vertices(request, Action::Delete, &state.schema, graph.labels_of_vertices(ids).await?)
}

/// Refuses an action on vertices of labels that whoever asks may not do it with. Cost where nobody need say who he is: one comparison.
///
/// # Errors
///
/// 403.
pub(crate) fn check_vertices(
    request: &Request,
    action: Action,
    schema: &Schema,
    labels: impl IntoIterator<Item = LabelId>,
) -> Result<(), Problem> {
    let name = |label| schema.vertex_label(label).map(|label| &*label.name);
    check_labels(request, (action, ResourceType::Vertex), labels, name)
}

/// The same of edges, whose ids say their labels.
///
/// # Errors
///
/// 403.
pub(crate) fn check_edges<'a>(
    request: &Request,
    action: Action,
    schema: &Schema,
    ids: impl IntoIterator<Item = &'a EdgeId>,
) -> Result<(), Problem> {
    let name = |label| schema.edge_label(label).map(|label| &*label.name);
    let labels = ids.into_iter().map(|id| id.sub_label);
    check_labels(request, (action, ResourceType::Edge), labels, name)
}

/// Whether it depends on labels what whoever asks may do.
fn is_limited(request: &Request, action: Action, kind: ResourceType) -> bool {
    limits(request, action, kind).is_some()
}

/// The name of a label that the schema has lost: no label has it.
const GONE: &str = "";

fn check_labels<'a>(
    request: &Request,
    (action, kind): (Action, ResourceType),
    labels: impl IntoIterator<Item = LabelId>,
    name: impl Fn(LabelId) -> Option<&'a str>,
) -> Result<(), Problem> {
    let Some(allowed) = limits(request, action, kind) else { return Ok(()) };
    // What comes many at once is mostly of one label.
    let mut last = None;
    for label in labels {
        if last == Some(label) {
            continue;
        }
        check_label(request, &allowed, (action, kind), name(label).unwrap_or(GONE))?;
        last = Some(label);
    }
    Ok(())
}

/// Refuses an action on a part of a schema. Cost where nobody need say who he is: one comparison.
///
/// # Errors
///
/// 403.
pub(crate) fn check_part(
    request: &Request,
    action: Action,
    kind: SchemaKind,
    name: &str,
) -> Result<(), Problem> {
    let kind = type_of(kind);
    let Some(allowed) = limits(request, action, kind) else { return Ok(()) };
    check_label(request, &allowed, (action, kind), name)
}

/// Whether whoever asks may read a part of a schema.
pub(crate) fn sees_part(request: &Request, kind: SchemaKind, name: &str) -> bool {
    limits(request, Action::Read, type_of(kind)).is_none_or(|allowed| allowed.has(name))
}

fn type_of(kind: SchemaKind) -> ResourceType {
    match kind {
        SchemaKind::PropertyKey => ResourceType::PropertyKey,
        SchemaKind::VertexLabel => ResourceType::VertexLabel,
        SchemaKind::EdgeLabel => ResourceType::EdgeLabel,
        SchemaKind::IndexLabel => ResourceType::IndexLabel,
    }
}

fn check_label(
    request: &Request,
    allowed: &Allowed,
    (action, kind): (Action, ResourceType),
    name: &str,
) -> Result<(), Problem> {
    if allowed.has(name) {
        return Ok(());
    }
    Err(denied(action, (request.capture(0), request.capture(1)), kind, name).into())
}

/// Whether whoever asks may know of a graph: of those that he may do something with.
pub(crate) fn knows_graph(request: &Request, space: &str, graph: &str) -> bool {
    let may = |caller: &Arc<Caller>| {
        let allowed = |action| caller.role.allowed((space, graph), action, ResourceType::None);
        Action::ALL.into_iter().any(|action| allowed(action).is_something())
    };
    known(request).is_none_or(may)
}
