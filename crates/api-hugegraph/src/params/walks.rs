//! Query parameters of walks over a graph.

use api_http::{Given, Parameter, ParameterValue};
use graph::VertexId;

use crate::problem::Problem;
use crate::wire::vertex_id_of_url;

const VERTEX_ID: ParameterValue = ParameterValue::Like(&["\"1:marko\"", "123"]);

/// `source`
pub(crate) const SOURCE: Parameter =
    Parameter::new("source", VERTEX_ID, "The vertex at which it begins: its id as JSON.");

/// `target`
pub(crate) const TARGET: Parameter =
    Parameter::new("target", VERTEX_ID, "The vertex at which it ends: its id as JSON.");

/// `vertex`
pub(crate) const VERTEX: Parameter = Parameter::new("vertex", VERTEX_ID, "One vertex: its id as JSON.");

/// `other`
pub(crate) const OTHER: Parameter = Parameter::new("other", VERTEX_ID, "Another vertex: its id as JSON.");

/// `direction`
pub(crate) const DIRECTION: Parameter = Parameter::new(
    "direction",
    ParameterValue::Word(&["OUT", "IN", "BOTH"]),
    "Which way edges are taken. Default: BOTH.",
);

/// `label` of edges
pub(crate) const EDGE_LABEL: Parameter =
    Parameter::new("label", ParameterValue::Text, "Only edges of this label.").keyed("label.edge");

/// `max_depth`
pub(crate) const MAX_DEPTH: Parameter =
    Parameter::new("max_depth", ParameterValue::Number(1), "The most steps.");

/// `max_degree`
pub(crate) const MAX_DEGREE: Parameter = Parameter::new(
    "max_degree",
    ParameterValue::Like(&["10000"]),
    "So many edges of a vertex are taken; -1: all. Default: 10000.",
);

/// `skip_degree`
pub(crate) const SKIP_DEGREE: Parameter = Parameter::new(
    "skip_degree",
    ParameterValue::Number(0),
    "A vertex of so many edges is passed over; 0: none is. Default: 0.",
);

/// `capacity`
pub(crate) const CAPACITY: Parameter = Parameter::new(
    "capacity",
    ParameterValue::Like(&["10000000"]),
    "The most vertices that are visited; -1: any number. Default: 10000000.",
);

/// `limit` of walks
pub(crate) const WALK_LIMIT: Parameter = Parameter::new(
    "limit",
    ParameterValue::Like(&["10", "10000000"]),
    "The most that is given; -1: all. Default: 10000000 vertices, 10 paths, 100 edges.",
)
.keyed("limit.walk");

/// `nearest`
pub(crate) const NEAREST: Parameter = Parameter::new(
    "nearest",
    ParameterValue::Flag,
    "Only vertices to which no shorter way leads. Default: true.",
);

/// `count_only`
pub(crate) const COUNT_ONLY: Parameter =
    Parameter::new("count_only", ParameterValue::Flag, "Only how many there are. Default: false.");

/// `with_vertex`
pub(crate) const WITH_VERTEX: Parameter = Parameter::new(
    "with_vertex",
    ParameterValue::Flag,
    "Whole vertices, not their ids alone. Default: false.",
);

/// `with_edge`
pub(crate) const WITH_EDGE: Parameter =
    Parameter::new("with_edge", ParameterValue::Flag, "Whole edges, not their ids alone. Default: false.");

/// `weight`
pub(crate) const WEIGHT: Parameter =
    Parameter::new("weight", ParameterValue::Text, "The property that is the weight of an edge.");

/// `source_in_ring`
pub(crate) const SOURCE_IN_RING: Parameter = Parameter::new(
    "source_in_ring",
    ParameterValue::Flag,
    "Only rings through the vertex at which it begins. Default: true.",
);

/// `sort_values`
pub(crate) const SORT_VALUES: Parameter = Parameter::new(
    "sort_values",
    ParameterValue::Text,
    "The sort values of the edges, as their ids spell them. Default: any.",
);

/// The vertex id that a parameter must give.
///
/// # Errors
///
/// 400.
pub(crate) fn vertex_id(given: &Given<'_>, parameter: &Parameter) -> Result<VertexId, Problem> {
    match given.get(parameter) {
        Some(text) => vertex_id_of_url(text),
        None => Err(Problem::illegal_argument(format!("The {} parameter can't be null", parameter.name))),
    }
}

/// A whole number, with a default.
///
/// # Errors
///
/// 400.
pub(crate) fn number(given: &Given<'_>, parameter: &Parameter, default: i64) -> Result<i64, Problem> {
    let Some(text) = given.get(parameter) else { return Ok(default) };
    text.parse().map_err(|_| {
        Problem::illegal_argument(format!(
            "The {} parameter must be a whole number, but got '{text}'",
            parameter.name
        ))
    })
}
