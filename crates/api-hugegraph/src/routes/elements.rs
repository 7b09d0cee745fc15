//! What the routes of vertices and of edges have in common: reading many, admitting, answering with what was written.

use std::collections::BTreeMap;
use std::sync::Arc;

use api_http::{Request, Response, json_response};
use graph::admit::Admission;
use graph::schema::Schema;
use graph::update::UpdateStrategy;
use graph::{Edge, EdgeView, GraphMode, Malformed, PropertyKeyId, Vertex, VertexId, VertexView};
use http::StatusCode;
use lang_json::{Commas, Reader};
use model_graph::write::{Change, Strategies};
use model_graph::{GraphState, Timestamp};

use crate::problem::{JSON, Problem};
use crate::state::{Api, Limits};
use crate::wire::conditions::property_key;
use crate::wire::{ElementReader, put_edge, put_vertex, put_vertex_id};

/// A request that writes elements: by which schema, when.
pub(super) struct Writing {
    pub(super) state: Arc<GraphState>,
    pub(super) now: Timestamp,
}

impl Writing {
    /// By this state, now.
    pub(super) fn new(api: &Api, state: Arc<GraphState>) -> Self {
        Self { state, now: api.shared.clock.now() }
    }

    pub(super) fn schema(&self) -> &Schema {
        &self.state.schema
    }

    /// What elements are admitted by.
    pub(super) fn admission(&self) -> Admission<'_> {
        Admission {
            schema: &self.state.schema,
            now_ms: self.now.0.div_euclid(1_000),
            takes_ids: self.state.mode.takes_ids(),
        }
    }

    /// Whether vertices at the ends of edges are looked up, if that is asked for.
    pub(super) fn checks_vertices(&self, asked: bool) -> bool {
        asked && self.state.mode != GraphMode::Loading
    }
}

/// Reads the elements of an array by `read`, within the limit.
///
/// # Errors
///
/// 400: of what is no array, of none, and of too many.
pub(super) fn read_array<'a, T>(
    reader: &mut Reader<'a>,
    (what, limits): (&str, &Limits),
    mut read: impl FnMut(&mut Reader<'a>) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
    let max = limits.batch_elements_max;
    let mut all = Vec::new();
    reader.begin_array()?;
    while reader.next_element()? {
        if all.len() == max {
            return Err(Problem::illegal_argument(format!(
                "Too many {what} for one time post, the maximum number is '{max}'"
            )));
        }
        all.push(read(reader)?);
    }
    if all.is_empty() {
        return Err(Problem::illegal_argument(format!("The number of {what} can't be 0")));
    }
    Ok(all)
}

/// Reads how an element changes, and which properties that names: they are appended, or eliminated. `kind` is `vertex` or `edge`.
///
/// # Errors
///
/// 400.
pub(super) fn read_change(
    text: &str,
    writing: &Writing,
    limits: &Limits,
    (kind, is_append): (&str, bool),
) -> Result<(Vec<PropertyKeyId>, Change), Problem> {
    let mut reader = Reader::new(text, limits.depth_max);
    let mut elements = ElementReader::new(writing.schema(), limits.depth_max);
    let read = if is_append {
        let (keys, properties) = elements.properties(&mut reader, kind)?;
        (keys, Change::Append(properties))
    } else {
        let keys = elements.property_keys(&mut reader, kind)?;
        (keys.clone(), Change::Eliminate(keys))
    };
    reader.end()?;
    Ok(read)
}

/// What a batch update says beside its elements.
#[derive(Debug, Default)]
pub(super) struct UpdateMembers<T> {
    pub(super) elements: Option<Vec<T>>,
    pub(super) strategies: Option<Strategies>,
    pub(super) check_vertex: bool,
}

/// Reads `{"vertices":[…],"update_strategies":{…},"create_if_not_exist":true}`.
///
/// # Errors
///
/// 400.
pub(super) fn read_update<'a, T>(
    text: &'a str,
    (what, schema, limits): (&str, &Schema, &Limits),
    mut read: impl FnMut(&mut Reader<'a>) -> Result<T, Problem>,
) -> Result<(Vec<T>, Strategies, bool), Problem> {
    let mut members = UpdateMembers { elements: None, strategies: None, check_vertex: false };
    let mut reader = Reader::new(text, limits.depth_max);
    reader.begin_object()?;
    while let Some(name) = reader.next_key()? {
        match &*name {
            "update_strategies" => members.strategies = Some(read_strategies(&mut reader, schema)?),
            "create_if_not_exist" if !reader.bool()? => {
                return Err(Problem::illegal_argument(
                    "Parameter 'create_if_not_exist' dose not support false now",
                ));
            }
            "create_if_not_exist" => {}
            "check_vertex" => members.check_vertex = reader.bool()?,
            list if list == what => {
                members.elements = Some(read_array(&mut reader, (what, limits), &mut read)?);
            }
            other => {
                return Err(Problem::bad_body(format!(
                    "Unrecognized field \"{other}\" of an update of {what}"
                )));
            }
        }
    }
    reader.end()?;
    let missing = || Problem::illegal_argument(format!("Parameter '{what}' can't be null"));
    let elements = members.elements.ok_or_else(missing)?;
    let strategies = members.strategies.filter(|strategies| !strategies.is_empty());
    let strategies = strategies
        .ok_or_else(|| Problem::illegal_argument("Parameter 'update_strategies' can't be empty"))?;
    Ok((elements, strategies, members.check_vertex))
}

fn read_strategies(reader: &mut Reader<'_>, schema: &Schema) -> Result<Strategies, Problem> {
    let mut strategies = BTreeMap::new();
    reader.begin_object()?;
    while let Some(name) = reader.next_key()? {
        let key = property_key(schema, &name)?;
        let word = reader.string()?;
        let strategy = UpdateStrategy::from_name(&word).ok_or_else(|| {
            let known: Vec<_> = UpdateStrategy::ALL.iter().map(|strategy| strategy.name()).collect();
            Problem::bad_body(format!("update strategy '{word}' is none of {}", known.join(", ")))
        })?;
        strategy.check(key.data_type, key.cardinality).map_err(|error| Problem::from(&error))?;
        strategies.insert(key.id, strategy);
    }
    Ok(Arc::new(strategies))
}

/// Refuses a change of properties that the element cannot have, or of those that make its id.
///
/// # Errors
///
/// 400.
pub(super) fn check_change(
    (what, id): (&str, &dyn std::fmt::Display),
    schema: &Schema,
    keys: &[PropertyKeyId],
    has: impl Fn(PropertyKeyId) -> bool,
    (kind, fixed): (&str, &[PropertyKeyId]),
) -> Result<(), Problem> {
    for key in keys {
        let name =
            || schema.names_of(std::slice::from_ref(key)).next().map_or_else(String::new, str::to_owned);
        if !has(*key) {
            return Err(Problem::illegal_argument(format!(
                "Can't update property for {what} '{id}' because there is no property key '{}' in its {what} label",
                name()
            )));
        }
        if fixed.contains(key) {
            return Err(Problem::illegal_argument(format!("Can't update {kind} key: '{}'", name())));
        }
    }
    Ok(())
}

/// Appends a vertex that was written.
pub(super) fn put_written_vertex(
    out: &mut String,
    schema: &Schema,
    vertex: &Vertex,
) -> Result<(), Malformed> {
    let Vertex { id, label, expires, properties } = vertex;
    let view = VertexView { label: *label, expires: *expires, properties: properties.as_ref() };
    put_vertex(out, schema, &id.as_ref(), &view)
}

/// Appends an edge that was written.
pub(super) fn put_written_edge(out: &mut String, schema: &Schema, edge: &Edge) -> Result<(), Malformed> {
    let Edge { id, expires, properties } = edge;
    put_edge(out, schema, id, &EdgeView { expires: *expires, life: None, properties: properties.as_ref() })
}

/// The ids of vertices as a JSON array.
pub(super) fn ids_answer<'a>(
    status: StatusCode,
    ids: impl ExactSizeIterator<Item = &'a VertexId>,
) -> Response {
    let mut out = String::with_capacity(2 + ids.len() * 24);
    let mut commas = Commas::default();
    out.push('[');
    for id in ids {
        commas.next(&mut out);
        put_vertex_id(&mut out, &id.as_ref());
    }
    out.push(']');
    json_response(status, JSON, out)
}

/// The body as text.
pub(super) fn body(request: &Request) -> Result<&str, Problem> {
    super::check_json(request)?;
    super::text(request)
}
