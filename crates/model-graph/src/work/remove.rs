//! Removing what is left of parts of the schema that were removed.

use bytes::Bytes;
use graph::schema::{EdgeLabel, IdStrategy, PartId, SchemaPart, VertexLabel};
use graph::{EdgeDirection, EdgeId, EdgeKey, LabelId, VertexView, keys};
use store::{Condition, Page, Partition, Write};

use super::walk::{Cursor, Step};
use super::{ELEMENTS, Ended, Run, beginning};
use crate::Error;
use crate::records::BACKOFF;
use crate::write::{CheckVertices, EdgeOperation};

impl Run<'_> {
    /// Goes on with the removal of parts, one after the other.
    pub(super) async fn remove(&mut self, parts: &[PartId], mut cursor: Cursor) -> Result<Ended, Error> {
        for id in parts {
            let state = self.graph.state().await?;
            // It was finished before, by this task or another.
            let Some(part) = state.schema.removed().find(|part| part.id() == *id) else { continue };
            if cursor.part != *id {
                cursor = beginning(*id);
            }
            if !self.remove_part(part, &mut cursor).await? {
                return Ok(Ended::More(cursor));
            }
            self.graph.change_state(|state| state.schema.finish_removal(*id)).await?;
        }
        Ok(Ended::Done)
    }

    /// Whether nothing is left of a part. If not, there are more pages, or another has begun new epochs: the next run sees whether there is still something
    /// to remove.
    async fn remove_part(&mut self, part: &SchemaPart, cursor: &mut Cursor) -> Result<bool, Error> {
        match part {
            SchemaPart::PropertyKey(key) => self.clear_values(key.id, cursor).await,
            SchemaPart::IndexLabel(index) => self.remove_ranges(&keys::index_ranges(index.id)).await,
            SchemaPart::VertexLabel(label) => self.remove_vertices(label, cursor).await,
            SchemaPart::EdgeLabel(label) => self.remove_edges(label, cursor).await,
        }
    }

    /// No edge label links with a vertex label that was removed: its vertices have no edges that anybody sees.
    async fn remove_vertices(&mut self, label: &VertexLabel, cursor: &mut Cursor) -> Result<bool, Error> {
        let is_first = cursor.bucket == 0 && cursor.after.is_empty();
        if is_first && !self.remove_ranges(&[keys::label_range(label.id)]).await? {
            return Ok(false);
        }
        let range = match label.id_strategy {
            IdStrategy::PrimaryKey => keys::primary_key_range(label.id),
            IdStrategy::Default
            | IdStrategy::Automatic
            | IdStrategy::CustomizeString
            | IdStrategy::CustomizeNumber
            | IdStrategy::CustomizeUuid => keys::vertices_range(),
        };
        loop {
            match self.next_page(&range, cursor).await? {
                Step::End => return Ok(true),
                Step::Pause => return Ok(false),
                Step::Page(partition, page) => {
                    let Some(removed) = self.remove_vertices_of(label.id, &partition, &page).await? else {
                        return Ok(false);
                    };
                    self.done += removed;
                    cursor.pass(&page);
                }
            }
        }
    }

    /// Removes the vertices of a label in a page, if nobody has put another in the place of one; `None` if the epoch is over.
    async fn remove_vertices_of(
        &self,
        label: LabelId,
        partition: &Partition,
        page: &Page,
    ) -> Result<Option<u64>, Error> {
        let found = page.rows().filter(|(_, stored)| is_of(stored, label));
        let found: Vec<Bytes> = found.map(|(key, _)| Bytes::copy_from_slice(key)).collect();
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            if found.is_empty() {
                return Ok(Some(0));
            }
            let rows = self.graph.store().get_many_linear(partition, &found).await?;
            let (mut conditions, mut writes) = (Vec::new(), Vec::new());
            for (key, row) in found.iter().zip(rows) {
                let Some(row) = row.filter(|row| is_of(&row.value, label)) else { continue };
                conditions.push(Condition::Version(key.clone(), row.stamp));
                writes.push(Write::Delete(key.clone()));
            }
            let count = writes.len() as u64;
            match self.commit_in_epoch(partition, conditions, writes).await? {
                None => return Ok(None),
                Some(true) => return Ok(Some(count)),
                Some(false) => {}
            }
        }
        Err(attempts.exhausted(ELEMENTS).into())
    }

    /// Nobody writes edges of this label any more: its number is not given again before they are gone.
    async fn remove_edges(&mut self, label: &EdgeLabel, cursor: &mut Cursor) -> Result<bool, Error> {
        let range = keys::all_edges_range(EdgeDirection::Out);
        loop {
            match self.next_page(&range, cursor).await? {
                Step::End => return Ok(true),
                Step::Pause => return Ok(false),
                Step::Page(partition, page) => {
                    let Some(removed) = self.remove_edges_of(label.id, &partition, &page).await? else {
                        return Ok(false);
                    };
                    self.done += removed;
                    cursor.pass(&page);
                }
            }
        }
    }

    async fn remove_edges_of(
        &self,
        label: LabelId,
        partition: &Partition,
        page: &Page,
    ) -> Result<Option<u64>, Error> {
        let edges = page.rows().filter_map(|(key, _)| EdgeKey::parse(key));
        let ids = edges.filter(|edge| edge.sub_label == label).filter_map(|edge| edge.to_id());
        let ids: Vec<EdgeId> = ids.collect();
        let count = ids.len() as u64;
        if self.graph.buckets() > 1 {
            // Rows point at edges from other buckets.
            let operations = ids.into_iter().map(EdgeOperation::RemoveUnseen).collect();
            let written = self.graph.writer().write_edges(operations, CheckVertices::No, self).await;
            return Ok(self.in_epochs(written)?.map(|_| count));
        }
        let at = |id: &EdgeId| [EdgeDirection::Out, EdgeDirection::In].map(|end| keys::edge(id, end));
        let writes: Vec<Write> = ids.iter().flat_map(at).map(Write::Delete).collect();
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            match self.commit_in_epoch(partition, Vec::new(), writes.clone()).await? {
                None => return Ok(None),
                Some(true) => return Ok(Some(count)),
                Some(false) => {}
            }
        }
        Err(attempts.exhausted(ELEMENTS).into())
    }
}

/// Whether a stored vertex is of a label; a damaged one is of none.
fn is_of(stored: &[u8], label: LabelId) -> bool {
    VertexView::parse(stored).is_ok_and(|vertex| vertex.label == label)
}
