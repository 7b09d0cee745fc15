//! The edges from one vertex to another.
//!
//! Those of a label, with given sort values or with any; of all labels if none is named. `limit` bounds the edges that are given. Where label,
//! sort values and so the id are given, it is one look-up.

use graph::{EdgeId, VertexId};
use model_graph::{EdgePage, Reader};

use crate::limits::{check_limit, limit_of};
use crate::walk::Walk;
use crate::{Error, StepLabel, WalkOptions};

/// So many labels and sort values of the edges of a vertex are looked at one by one; to read its edges costs less than to look at more.
const LOOKS_MAX: usize = 64;
/// What a look costs, in steps.
const STEPS_A_LOOK: usize = 80;

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

/// The edges from one vertex to another. Cost: a look-up of the edge whose label, without sub labels, and sort values are given; else two reads
/// for each label and sort values of the edges of the first vertex; if they have very many, all its edges of the label.
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
        let (ends, label) = ((&asked.source, &asked.target), asked.label.map(|label| label.label));
        let mut between = reader.edges_between(ends, label, asked.sort_values.as_deref());
        let mut looking = Looking { asked, target_key: asked.target.to_key(), found: Vec::new() };
        for _ in 0..LOOKS_MAX {
            let Some(page) = between.next().await? else { return Ok(looking.found) };
            if looking.is_done_with(&page)? {
                return Ok(looking.found);
            }
            walk.spend(STEPS_A_LOOK).await?;
        }
        let mut pages = between.rest();
        while let Some(page) = pages.next().await? {
            if looking.is_done_with(&page)? {
                return Ok(looking.found);
            }
            walk.spend(page.rows()).await?;
        }
        Ok(looking.found)
    };
    options.run(walk).await
}

struct Looking<'a> {
    asked: &'a EdgeExist,
    target_key: Vec<u8>,
    found: Vec<EdgeId>,
}

impl Looking<'_> {
    /// Takes the edges of a page that are wanted; whether there are enough.
    fn is_done_with(&mut self, page: &EdgePage<'_>) -> Result<bool, Error> {
        let limit = limit_of(self.asked.limit);
        for edge in page.iter() {
            let key = edge?.key;
            let sub_label = self.asked.label.and_then(|label| label.sub_label);
            if key.other != self.target_key || sub_label.is_some_and(|sub_label| sub_label != key.sub_label) {
                continue;
            }
            let id = key.to_id().ok_or(graph::Malformed).map_err(model_graph::Error::from)?;
            if self.asked.sort_values.as_ref().is_none_or(|wanted| *wanted == id.sort_values) {
                self.found.push(id);
            }
            if self.found.len() >= limit {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
