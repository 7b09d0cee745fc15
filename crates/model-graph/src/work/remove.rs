//! Removing what is left of parts of the schema that were removed.

use bytes::Bytes;
use graph::schema::{EdgeLabel, IdStrategy, PartId, SchemaPart, VertexLabel};
use graph::{EdgeDirection, EdgeKey, LabelId, VertexView, keys};
use store::{Condition, Page, Partition, Write};

use super::walk::{Cursor, Step};
use super::{ELEMENTS, Ended, Run, beginning};
use crate::Error;
use crate::records::BACKOFF;

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

    /// Whether nothing is left of a part.
    async fn remove_part(&mut self, part: &SchemaPart, cursor: &mut Cursor) -> Result<bool, Error> {
        match part {
            SchemaPart::PropertyKey(_) => Ok(true),
            SchemaPart::IndexLabel(index) => {
                self.remove_ranges(&keys::index_ranges(index.id)).await?;
                Ok(true)
            }
            SchemaPart::VertexLabel(label) => self.remove_vertices(label, cursor).await,
            SchemaPart::EdgeLabel(label) => self.remove_edges(label, cursor).await,
        }
    }

    /// No edge label links with a vertex label that was removed: its vertices have no edges that are seen.
    async fn remove_vertices(&mut self, label: &VertexLabel, cursor: &mut Cursor) -> Result<bool, Error> {
        if cursor.bucket == 0 && cursor.after.is_empty() {
            self.remove_ranges(&[keys::label_range(label.id)]).await?;
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
                    self.done += self.remove_vertices_of(label.id, &partition, &page).await?;
                    cursor.pass(&page);
                }
            }
        }
    }

    /// Removes the vertices of a label in a page, if nobody has put another in the place of one.
    async fn remove_vertices_of(
        &self,
        label: LabelId,
        partition: &Partition,
        page: &Page,
    ) -> Result<u64, Error> {
        // Damaged vertices are of no label.
        let is_of = |stored: &[u8]| VertexView::parse(stored).is_ok_and(|vertex| vertex.label == label);
        let found = page.rows().filter(|(_, stored)| is_of(stored));
        let found: Vec<Bytes> = found.map(|(key, _)| Bytes::copy_from_slice(key)).collect();
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            if found.is_empty() {
                return Ok(0);
            }
            let rows = self.graph.store().get_many_linear(partition, &found).await?;
            let (mut conditions, mut writes) = (Vec::new(), Vec::new());
            for (key, row) in found.iter().zip(rows) {
                let Some(row) = row.filter(|row| is_of(&row.value)) else { continue };
                conditions.push(Condition::Version(key.clone(), row.stamp));
                writes.push(Write::Delete(key.clone()));
            }
            let count = writes.len() as u64;
            if self.commit(partition, conditions, writes).await? {
                return Ok(count);
            }
        }
        Err(attempts.exhausted(ELEMENTS).into())
    }

    /// Nobody writes edges of this label any more: its number is not given again.
    async fn remove_edges(&mut self, label: &EdgeLabel, cursor: &mut Cursor) -> Result<bool, Error> {
        let range = keys::all_edges_range(EdgeDirection::Out);
        loop {
            match self.next_page(&range, cursor).await? {
                Step::End => return Ok(true),
                Step::Pause => return Ok(false),
                Step::Page(partition, page) => {
                    self.done += self.remove_edges_of(label.id, &partition, &page).await?;
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
    ) -> Result<u64, Error> {
        let (mut writes, mut count) = (Vec::new(), 0);
        let edges = page.rows().filter_map(|(key, _)| EdgeKey::parse(key));
        for edge in edges.filter(|edge| edge.sub_label == label) {
            let id = edge.to_id().ok_or(graph::Malformed)?;
            count += 1;
            writes.push(Write::Delete(keys::edge(&id, EdgeDirection::Out)));
            // Rows that point at it from other buckets point at nothing then.
            if keys::bucket_of_vertex(edge.other, self.graph.buckets()) == partition.bucket {
                writes.push(Write::Delete(keys::edge(&id, EdgeDirection::In)));
            }
        }
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            if self.commit(partition, Vec::new(), writes.clone()).await? {
                return Ok(count);
            }
        }
        Err(attempts.exhausted(ELEMENTS).into())
    }
}
