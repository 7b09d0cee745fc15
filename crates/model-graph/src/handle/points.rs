//! One element by its id, as it is now: without a snapshot of the store.

use bytes::Bytes;
use graph::{EdgeDirection, EdgeId, EdgeView, LabelId, VertexId, VertexView, keys};
use store::Timestamp;

use super::Graph;
use crate::{Error, GraphState};

impl Graph {
    /// The bytes of the vertex of this id ([`VertexView::parse`]), if it is seen. The state is no older than the request. Cost: a look-up in
    /// the cache of hot rows, or one engine read; on a store that may lag a round to other nodes.
    ///
    /// # Errors
    ///
    /// If the store refuses, or the bytes are damaged.
    pub async fn vertex(
        &self,
        state: &GraphState,
        id: &VertexId,
        now: Timestamp,
    ) -> Result<Option<Bytes>, Error> {
        let row = self.store.get_linear(self.writer.partition_of(id), &keys::vertex(id)).await?;
        let Some(row) = row else { return Ok(None) };
        let view = VertexView::parse(&row.value)?;
        let is_seen = state.visible.has_vertices(view.label) && !view.is_expired(now.0.div_euclid(1_000));
        Ok(is_seen.then_some(row.value))
    }

    /// The same of an edge ([`EdgeView::parse`]).
    ///
    /// # Errors
    ///
    /// As [`Graph::vertex`].
    pub async fn edge(
        &self,
        state: &GraphState,
        id: &EdgeId,
        now: Timestamp,
    ) -> Result<Option<Bytes>, Error> {
        // Before the row: a removal that ends meanwhile has taken the edge.
        let is_cut = self.writer.cut_removals().is_some_and(|cut| cut.has_id(id));
        let key = keys::edge(id, EdgeDirection::Out);
        let row = self.store.get_linear(self.writer.partition_of(&id.source), &key).await?;
        let Some(row) = row else { return Ok(None) };
        let view = EdgeView::parse(&row.value)?;
        let is_seen =
            state.visible.has_edges(id.sub_label) && !view.is_expired(now.0.div_euclid(1_000)) && !is_cut;
        Ok(is_seen.then_some(row.value))
    }

    /// The labels of the vertices of these ids, whoever may see them; none of those that are not there. Cost: a look-up each.
    ///
    /// # Errors
    ///
    /// If the store refuses, or bytes are damaged.
    pub async fn labels_of_vertices(&self, ids: &[VertexId]) -> Result<Vec<LabelId>, Error> {
        let mut labels = Vec::with_capacity(ids.len());
        for id in ids {
            let row = self.store.get_linear(self.writer.partition_of(id), &keys::vertex(id)).await?;
            if let Some(row) = row {
                labels.push(VertexView::parse(&row.value)?.label);
            }
        }
        Ok(labels)
    }
}
