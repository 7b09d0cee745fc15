//! Removing the values that computations wrote: those of a property key, from all vertices.

use std::sync::Arc;

use graph::schema::{PartId, PropertyKey, SchemaKind};
use graph::{PropertyKeyId, VertexId, VertexView, keys};
use store::Page;

use super::walk::{Cursor, Step};
use super::{Ended, Run, beginning};
use crate::Error;
use crate::write::{Change, VertexOperation};

impl Run<'_> {
    /// Goes on with the removal of the values of a key.
    pub(super) async fn clear(&mut self, key: PropertyKeyId, mut cursor: Cursor) -> Result<Ended, Error> {
        let is_computed = |key: &Arc<PropertyKey>| key.write_type.is_olap();
        if !self.graph.state().await?.schema.property_key(key).is_some_and(is_computed) {
            // It was removed.
            return Ok(Ended::Done);
        }
        let part = PartId { kind: SchemaKind::PropertyKey, number: key.0 };
        if cursor.part != part {
            cursor = beginning(part);
        }
        match self.clear_values(key, &mut cursor).await {
            // A label has the key, and its elements may not be without.
            Err(error @ Error::NotNullable(_)) => Ok(Ended::Failed(error.to_string())),
            outcome => Ok(if outcome? { Ended::Done } else { Ended::More(cursor) }),
        }
    }

    /// Whether no values of a key are left; if not, there are more pages, or the epochs are over.
    pub(super) async fn clear_values(
        &mut self,
        key: PropertyKeyId,
        cursor: &mut Cursor,
    ) -> Result<bool, Error> {
        loop {
            match self.next_page(&keys::vertices_range(), cursor).await? {
                Step::End => return Ok(true),
                Step::Pause => return Ok(false),
                Step::Page(_, page) => {
                    let Some(cleared) = self.clear_page(key, &page).await? else { return Ok(false) };
                    self.done += cleared;
                    cursor.pass(&page);
                }
            }
        }
    }

    /// Removes the values from the vertices of a page; how many had one, `None` if the epochs are over.
    async fn clear_page(&self, key: PropertyKeyId, page: &Page) -> Result<Option<u64>, Error> {
        let has = |stored: &[u8]| match VertexView::parse(stored) {
            Ok(vertex) => matches!(vertex.properties.get(key), Ok(Some(_))),
            // What is damaged is not mended here.
            Err(_) => false,
        };
        let found = page.rows().filter(|(_, stored)| has(stored));
        let ids = found.filter_map(|(row, _)| keys::vertex_key_of_row(row).and_then(VertexId::of_key));
        let ids: Vec<VertexId> = ids.collect();
        let changes = |ids: &[VertexId]| -> Vec<VertexOperation> {
            let change = |id: &VertexId| VertexOperation::Change(id.clone(), Change::Eliminate(vec![key]));
            ids.iter().map(change).collect()
        };
        if ids.is_empty() {
            return Ok(Some(0));
        }
        let writer = self.graph.writer();
        match self.in_epochs(writer.write_vertices(changes(&ids), self).await) {
            // One of them went meanwhile, or has expired: then one by one.
            Err(Error::NoSuchVertex(_)) => {}
            outcome => return Ok(outcome?.map(|written| written.len() as u64)),
        }
        let mut done = 0;
        for id in &ids {
            match self.in_epochs(writer.write_vertices(changes(std::slice::from_ref(id)), self).await) {
                Err(Error::NoSuchVertex(_)) => {}
                outcome => match outcome? {
                    Some(written) => done += written.len() as u64,
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(done))
    }
}
