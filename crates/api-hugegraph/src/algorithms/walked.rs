//! Algorithms that walk from each vertex that counts: rings, and what is similar to each. They read the store as traversers do, and remember
//! one walk at a time.

use graph::schema::{Schema, SchemaKind};
use graph::{PropertyKeyId, VertexId};
use lang_json::{ArrayWriter, ObjectWriter};
use model_graph::{Deadline, Reader};
use traversals::{
    FusiformSimilarity, Lane, Rays, Similar, Step, StepLabel, WalkOptions, fusiform_similarity, rings,
};

use super::plan::{Plan, Work};
use super::render::{ComputeError, RESULT_BYTES_MAX};
use super::watch::Watch;
use crate::wire::{put_number, put_vertex_id};

/// No limit, as walks take it.
const NO_LIMIT: i64 = -1;

/// Why walks give no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum WalkedError {
    /// The client of the task ended it.
    #[error("stopped")]
    Stopped,
    /// There is no such label or property.
    #[error("Undefined {}: '{name}'", .kind.readable_name())]
    Undefined { kind: SchemaKind, name: String },
    /// A walk takes too much memory, or the graph cannot be read.
    #[error(transparent)]
    Walk(#[from] traversals::Error),
    /// The result is too long.
    #[error(transparent)]
    Compute(#[from] ComputeError),
}

/// Where walks begin, and by which edges they go.
pub(super) struct Walks<'a> {
    pub(super) reader: &'a Reader,
    pub(super) schema: &'a Schema,
    pub(super) sources: Vec<VertexId>,
    pub(super) watch: &'a Watch,
}

impl Walks<'_> {
    /// Carries out a plan that walks; answers with JSON text.
    pub(super) async fn run(&self, plan: &Plan) -> Result<String, WalkedError> {
        match &plan.work {
            Work::Rings { each_limit, limit, counts_only, .. } => {
                self.rings(plan, (*each_limit, *limit), *counts_only).await
            }
            Work::Similars { .. } => self.similars(plan).await,
            other => unreachable!("{other:?} does not walk"),
        }
    }

    fn step(&self, plan: &Plan) -> Result<Step, WalkedError> {
        let direction = match &plan.work {
            Work::Rings { direction, .. } | Work::Similars { direction, .. } => direction.of_walks(),
            other => unreachable!("{other:?} does not walk"),
        };
        let label = plan.edge_label.as_deref().map(|name| match self.schema.edge_label_named(name) {
            Some(label) => {
                Ok(StepLabel { label: label.key_label(), sub_label: label.parent.map(|_| label.id) })
            }
            None => Err(undefined(SchemaKind::EdgeLabel, name)),
        });
        let degree = plan.degree.map_or(NO_LIMIT, i64::from);
        Ok(Step::new(direction, label.transpose()?).with_degree(degree))
    }

    /// One algorithm is at work at a time: its walks have a lane of their own, and end with the task.
    fn options() -> WalkOptions {
        WalkOptions::new(Lane::new(1), Deadline::at(None))
    }

    /// The rings of each vertex. Without a limit for each, a ring is that of its first vertex alone, and so is there once.
    async fn rings(
        &self,
        plan: &Plan,
        (each_limit, limit): (Option<u64>, Option<u64>),
        counts_only: bool,
    ) -> Result<String, WalkedError> {
        let Work::Rings { depth, .. } = plan.work else { unreachable!("asked of rings alone") };
        let (step, options) = (self.step(plan)?, Self::options());
        let each = each_limit.map_or(NO_LIMIT, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let (mut count, mut json) = (0_u64, String::from("{\"rings\":"));
        let mut list = ArrayWriter::begin(&mut json);
        'sources: for (steps, source) in (0..).zip(&self.sources) {
            self.go_on(steps)?;
            let asked = Rays {
                source: source.clone(),
                step: step.clone(),
                max_depth: depth.into(),
                capacity: NO_LIMIT,
                limit: each,
            };
            let found = rings(self.reader, &options, &asked, true).await?;
            for ring in &found.paths {
                let first = ring.vertices.iter().map(|vertex| found.known.id(*vertex).into_owned()).min();
                if each_limit.is_none() && first.as_ref() != Some(source) {
                    continue;
                }
                if limit.is_some_and(|limit| count == limit) {
                    break 'sources;
                }
                count += 1;
                if !counts_only {
                    let out = list.item();
                    let mut ids = ArrayWriter::begin(out);
                    ring.vertices
                        .iter()
                        .for_each(|vertex| put_vertex_id(ids.item(), &found.known.id(*vertex)));
                    ids.end();
                    check_size(out)?;
                }
            }
        }
        list.end();
        json.push('}');
        Ok(if counts_only { format!("{{\"rings_count\":{count}}}") } else { json })
    }

    /// The vertices that are similar to each.
    async fn similars(&self, plan: &Plan) -> Result<String, WalkedError> {
        let Work::Similars { limit, .. } = plan.work else { unreachable!("asked of similar vertices alone") };
        let (mut asked, options) = (self.similarity(plan)?, Self::options());
        let (mut count, mut json) = (0, String::new());
        let mut object = ObjectWriter::begin(&mut json);
        'sources: for (steps, source) in (0..).zip(&self.sources) {
            self.go_on(steps)?;
            asked.sources = vec![source.clone()];
            let found = fusiform_similarity(self.reader, &options, &asked).await?;
            for (vertex, similars) in &found.similars {
                if limit.is_some_and(|limit| count == limit) {
                    break 'sources;
                }
                count += 1;
                let out = object.member(&found.known.id(*vertex).to_string());
                put_similars(out, &found.known, similars);
                check_size(out)?;
            }
        }
        object.end();
        Ok(json)
    }

    fn similarity(&self, plan: &Plan) -> Result<FusiformSimilarity, WalkedError> {
        let Work::Similars { min_neighbors, alpha, min_similars, top, group, min_groups, .. } = &plan.work
        else {
            unreachable!("asked of similar vertices alone")
        };
        let key = |name: &String| -> Result<PropertyKeyId, WalkedError> {
            let key = self.schema.property_key_named(name).map(|key| key.id);
            key.ok_or_else(|| undefined(SchemaKind::PropertyKey, name))
        };
        Ok(FusiformSimilarity {
            sources: Vec::new(),
            step: self.step(plan)?,
            min_neighbors: *min_neighbors,
            alpha: *alpha,
            min_similars: *min_similars,
            top: *top,
            group_property: group.as_ref().map(key).transpose()?,
            min_groups: *min_groups,
            capacity: NO_LIMIT,
            limit: NO_LIMIT,
            with_intermediary: true,
        })
    }

    fn go_on(&self, steps: u64) -> Result<(), WalkedError> {
        if self.watch.go_on(steps) { Ok(()) } else { Err(WalkedError::Stopped) }
    }
}

fn undefined(kind: SchemaKind, name: &str) -> WalkedError {
    WalkedError::Undefined { kind, name: name.to_owned() }
}

fn put_similars(json: &mut String, known: &traversals::Numbering, similars: &[Similar]) {
    let mut list = ArrayWriter::begin(json);
    for similar in similars {
        let out = list.item();
        out.push_str("{\"id\":");
        put_vertex_id(out, &known.id(similar.vertex));
        out.push_str(",\"score\":");
        put_number(out, similar.score);
        out.push_str(",\"intermediaries\":");
        let mut ids = ArrayWriter::begin(out);
        similar.intermediaries.iter().for_each(|vertex| put_vertex_id(ids.item(), &known.id(*vertex)));
        ids.end();
        out.push('}');
    }
    list.end();
}

fn check_size(json: &str) -> Result<(), ComputeError> {
    if json.len() < RESULT_BYTES_MAX { Ok(()) } else { Err(ComputeError::ResultSize) }
}
