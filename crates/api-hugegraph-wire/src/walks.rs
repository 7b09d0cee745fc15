//! What walks are asked for in bodies: steps, and the vertices from which they go.

use graph::VertexId;
use graph::schema::{EdgeLabel, EdgeLabelKind, Schema, VertexLabel};
use lang_json::Reader;
use serde::Deserialize;
use serde_json::{Map, Value};
use traversals::{Direction, LabelFilter, Step, StepLabel, defaults};

use super::conditions::conditions;
use super::ids::vertex_id_of_list;
use crate::problem::Problem;

/// A step as it is sent. What only some walks know is left out by others.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct StepGiven {
    direction: Option<String>,
    labels: Option<Vec<String>>,
    properties: Option<Map<String, Value>>,
    edge_steps: Option<Vec<FilterGiven>>,
    vertex_steps: Option<Vec<FilterGiven>>,
    #[serde(alias = "degree")]
    max_degree: Option<i64>,
    skip_degree: Option<i64>,
    /// Of customized paths: the property that is the weight of an edge.
    pub weight_by: Option<String>,
    /// Of customized paths: the weight of an edge that does not have it.
    pub default_weight: Option<f64>,
    /// Of customized paths: the most ways on from a vertex.
    pub sample: Option<i64>,
    /// Of templates: how often it is taken.
    pub max_times: Option<i64>,
    /// Of neighbour ranks: the most vertices that it gives.
    pub top: Option<i64>,
}

/// A label with conditions, as it is sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FilterGiven {
    label: Option<String>,
    properties: Option<Map<String, Value>>,
}

/// Vertices as they are sent: their ids, or their label and properties.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct VerticesGiven {
    /// Their ids.
    pub ids: Option<Vec<Value>>,
    /// The label of all.
    pub label: Option<String>,
    /// Values that each of them has.
    pub properties: Option<Map<String, Value>>,
}

impl StepGiven {
    /// The step.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn step(&self, schema: &Schema, depth_max: usize) -> Result<Step, Problem> {
        let labels = self.labels.iter().flatten().map(|name| step_label(schema, name));
        let step = Step {
            direction: direction(self.direction.as_deref())?,
            labels: labels.collect::<Result<_, _>>()?,
            filters: Vec::new(),
            max_degree: self.max_degree.unwrap_or(defaults::MAX_DEGREE),
            skip_degree: self.skip_degree.unwrap_or(0),
        };
        let Some(properties) = &self.properties else { return Ok(step) };
        Ok(step.with_conditions(conditions(schema, properties, depth_max)?))
    }

    /// The step, where vertices are counted: hubs are skipped unless it says otherwise.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn step_to_count(&self, schema: &Schema, depth_max: usize) -> Result<Step, Problem> {
        let skip_degree = self.skip_degree.unwrap_or(defaults::COUNT_SKIP_DEGREE);
        Ok(Step { skip_degree, ..self.step(schema, depth_max)? })
    }

    /// The step, and filters of the vertices at its ends, where it is given by labels of edges and vertices.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn filtered(&self, schema: &Schema, depth_max: usize) -> Result<(Step, Vec<LabelFilter>), Problem> {
        let mut step = self.step(schema, depth_max)?;
        for given in self.edge_steps.iter().flatten().filter(|given| !given.is_empty()) {
            let label = edge_label(schema, given.label())?;
            step.labels.push(label_of(label));
            step.filters.push(given.filter(label.id, schema, depth_max)?);
        }
        let mut filters = Vec::new();
        for given in self.vertex_steps.iter().flatten().filter(|given| !given.is_empty()) {
            let label = vertex_label(schema, given.label())?;
            filters.push(given.filter(label.id, schema, depth_max)?);
        }
        Ok((step, filters))
    }
}

impl FilterGiven {
    fn label(&self) -> &str {
        self.label.as_deref().unwrap_or("")
    }

    fn is_empty(&self) -> bool {
        self.label().is_empty() && self.properties.as_ref().is_none_or(Map::is_empty)
    }

    fn filter(
        &self,
        label: graph::LabelId,
        schema: &Schema,
        depth_max: usize,
    ) -> Result<LabelFilter, Problem> {
        let read = |properties| conditions(schema, properties, depth_max);
        let conditions = self.properties.as_ref().map_or(Ok(Vec::new()), read)?;
        Ok(LabelFilter { label: Some(label), conditions })
    }
}

/// Which way edges are taken; both, if nothing is said.
///
/// # Errors
///
/// 400.
pub fn direction(given: Option<&str>) -> Result<Direction, Problem> {
    match given {
        None | Some("" | "BOTH") => Ok(Direction::Both),
        Some("OUT") => Ok(Direction::Out),
        Some("IN") => Ok(Direction::In),
        Some(other) => Err(Problem::illegal_argument(format!(
            "Direction value must be in [OUT, IN, BOTH], but got '{other}'"
        ))),
    }
}

/// The edge label of a name.
///
/// # Errors
///
/// 400.
pub fn edge_label<'s>(schema: &'s Schema, name: &str) -> Result<&'s EdgeLabel, Problem> {
    let label = schema.edge_label_named(name);
    label
        .map(|label| &**label)
        .ok_or_else(|| Problem::illegal_argument(format!("Undefined edge label: '{name}'")))
}

/// The vertex label of a name.
///
/// # Errors
///
/// 400.
pub fn vertex_label<'s>(schema: &'s Schema, name: &str) -> Result<&'s VertexLabel, Problem> {
    let label = schema.vertex_label_named(name);
    label
        .map(|label| &**label)
        .ok_or_else(|| Problem::illegal_argument(format!("Undefined vertex label: '{name}'")))
}

/// The edge label of a name, as steps take its edges.
///
/// # Errors
///
/// 400.
pub fn step_label(schema: &Schema, name: &str) -> Result<StepLabel, Problem> {
    edge_label(schema, name).map(label_of)
}

/// An edge label whose edges have no sub labels but itself, unless it is a parent.
pub fn exact_label(label: &EdgeLabel) -> StepLabel {
    let sub_label = (label.kind != EdgeLabelKind::Parent).then_some(label.id);
    StepLabel { label: label.key_label(), sub_label }
}

fn label_of(label: &EdgeLabel) -> StepLabel {
    StepLabel { label: label.key_label(), sub_label: label.parent.map(|_| label.id) }
}

/// The vertex id that a member of a body gives.
///
/// # Errors
///
/// 400.
pub fn vertex_id_of_value(value: &Value) -> Result<VertexId, Problem> {
    let text = value.to_string();
    vertex_id_of_list(&mut Reader::new(&text, 1))
}

/// The vertex id that a member of a body must give.
///
/// # Errors
///
/// 400; `what` says what is missing.
pub fn required_id(value: Option<&Value>, what: &str) -> Result<VertexId, Problem> {
    match value {
        None | Some(Value::Null) => Err(Problem::illegal_argument(format!("The {what} can't be null"))),
        Some(value) => vertex_id_of_value(value),
    }
}
