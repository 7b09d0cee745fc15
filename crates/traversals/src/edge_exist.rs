//! The edges from one vertex to another.
//!
//! Those of a label, with given sort values or with any; of all labels if none is named. `limit` bounds the edges that are given. Where label,
//! sort values and so the id are given, it is one look-up.

use graph::{EdgeDirection, EdgeId, VertexId};
use model_graph::Reader;

use crate::limits::{check_limit, limit_of};
use crate::walk::Walk;
use crate::{Error, StepLabel, WalkOptions};

/// What is asked: see the page above.
#[derive(Clone, Debug)]
pub struct EdgeExist {
    /// The vertex that they leave.
    pub source: VertexId,
    /// The vertex that they enter.
    pub target: VertexId,
    /// Their label.
    pub label: Option<StepLabel>,
    /// Their sort values, as their ids spell them; `None`: any.
    pub sort_values: Option<Box<str>>,
    /// The most edges that are given.
    pub limit: i64,
}

impl EdgeExist {
    /// The id of the edge, if there can be one alone.
    fn id(&self) -> Option<EdgeId> {
        let StepLabel { label, sub_label } = self.label?;
        Some(EdgeId {
            source: self.source.clone(),
            label,
            sub_label: sub_label?,
            sort_values: self.sort_values.clone()?,
            target: self.target.clone(),
        })
    }
}

/// The edges from one vertex to another. Cost: a look-up of the edge whose label, without sub labels, and sort values are given; else the edges
/// of the first vertex, of the label.
///
/// # Errors
///
/// If a parameter is refused, or the walk ends early.
pub async fn edge_exist(
    reader: &Reader,
    options: &WalkOptions,
    asked: &EdgeExist,
) -> Result<Vec<EdgeId>, Error> {
    check_limit(asked.limit)?;
    if let Some(id) = asked.id() {
        return Ok(reader.edge(&id).await?.into_iter().map(|edge| edge.id).collect());
    }
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let labels: Vec<_> = asked.label.iter().map(|label| label.label).collect();
        let (target, limit) = (asked.target.to_key(), limit_of(asked.limit));
        let mut pages = reader.edges(&asked.source.to_key(), EdgeDirection::Out, &labels);
        let mut found = Vec::new();
        while let Some(page) = pages.next().await? {
            for edge in page.iter() {
                let key = edge?.key;
                let sub_label = asked.label.and_then(|label| label.sub_label);
                if key.other != target || sub_label.is_some_and(|sub_label| sub_label != key.sub_label) {
                    continue;
                }
                let id = key.to_id().ok_or(graph::Malformed).map_err(model_graph::Error::from)?;
                if asked.sort_values.as_ref().is_none_or(|wanted| *wanted == id.sort_values) {
                    found.push(id);
                }
                if found.len() >= limit {
                    return Ok(found);
                }
            }
            walk.spend(page.rows()).await?;
        }
        Ok(found)
    };
    options.run(walk).await
}
