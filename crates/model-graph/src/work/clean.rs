//! Removing rows of an index that are not those of an element as it is stored.

use std::sync::Arc;

use bytes::Bytes;
use graph::index::{element_of_row, put_index_rows};
use graph::schema::{IndexBase, IndexLabel, Schema, SchemaStatus};
use graph::{EdgeKey, EdgeView, IndexLabelId, Malformed, PropertiesRef, VertexView, keys};
use store::{Condition, Page, Partition, Row, Write};

use super::walk::{Cursor, Step};
use super::{ELEMENTS, NO_PART, Run, beginning};
use crate::Error;
use crate::records::{BACKOFF, unchanged};

/// Each index has so many ranges of rows: [`keys::index_ranges`].
const RANGES: usize = 2;

/// A row of an index, and the row of the element that it is of.
struct Indexing {
    key: Bytes,
    element: Bytes,
    /// Of a UNIQUE index: what must still hold of the row itself.
    condition: Option<Condition>,
}

impl Run<'_> {
    /// Goes on with the indexes of a build, one range after the other; whether all are done, and the cursor is behind them. One that was
    /// never complete has no rows of before.
    pub(super) async fn clean(
        &mut self,
        ids: &[IndexLabelId],
        schema: &Schema,
        cursor: &mut Cursor,
    ) -> Result<bool, Error> {
        loop {
            let step = cursor.step as usize;
            let Some(id) = ids.get(step / RANGES) else { return Ok(true) };
            let index = schema.index_label(*id).filter(|index| index.status != SchemaStatus::Creating);
            if let Some(index) = index {
                let [finding, unique] = keys::index_ranges(*id);
                let range = if step.is_multiple_of(RANGES) { finding } else { unique };
                loop {
                    match self.next_page(&range, cursor).await? {
                        Step::End => break,
                        Step::Pause => return Ok(false),
                        Step::Page(partition, page) => {
                            if !self.clean_page(index, &partition, &page).await? {
                                return Ok(false);
                            }
                            cursor.pass(&page);
                        }
                    }
                }
            }
            *cursor = Cursor { step: cursor.step + 1, ..beginning(NO_PART) };
        }
    }

    /// Removes the rows of a page that are wrong, again where another writer came first; `false` if the epoch is over.
    async fn clean_page(
        &self,
        index: &Arc<IndexLabel>,
        partition: &Partition,
        page: &Page,
    ) -> Result<bool, Error> {
        let row_keys: Vec<Bytes> = page.rows().map(|(key, _)| Bytes::copy_from_slice(key)).collect();
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let indexings = self.indexings(index, partition, &row_keys).await?;
            let elements: Vec<Bytes> = indexings.iter().map(|it| it.element.clone()).collect();
            let rows = self.graph.store().get_many_linear(partition, &elements).await?;
            let (mut conditions, mut writes) = (Vec::new(), Vec::new());
            for (indexing, row) in indexings.into_iter().zip(rows) {
                if !is_right(index, &indexing, row.as_ref())? {
                    conditions.push(unchanged(&indexing.element, row.as_ref()));
                    conditions.extend(indexing.condition);
                    writes.push(Write::Delete(indexing.key));
                }
            }
            // Many rows may be of one element.
            conditions.sort_unstable_by(|one, other| one.key().cmp(&other.key()));
            conditions.dedup();
            match self.commit_in_epoch(partition, conditions, writes).await? {
                None => return Ok(false),
                Some(true) => return Ok(true),
                Some(false) => {}
            }
        }
        Err(attempts.exhausted(ELEMENTS).into())
    }

    /// The rows with the elements that they are of.
    async fn indexings(
        &self,
        index: &IndexLabel,
        partition: &Partition,
        row_keys: &[Bytes],
    ) -> Result<Vec<Indexing>, Error> {
        let mut indexings = Vec::new();
        let mut unique = Vec::new();
        for key in row_keys {
            match keys::values_of_index_row(key) {
                Some(_) => {
                    let element = element_of_row(key, index.fields.len()).ok_or(Malformed)?;
                    let element = match index.base {
                        IndexBase::Vertex(_) => keys::vertex_of_key(element),
                        IndexBase::Edge(_) => keys::edge_of_element(element),
                    };
                    indexings.push(Indexing { key: key.clone(), element, condition: None });
                }
                None => unique.push(key.clone()),
            }
        }
        let rows = self.graph.store().get_many_linear(partition, &unique).await?;
        for (key, row) in unique.into_iter().zip(rows) {
            let Some(row) = row else { continue };
            let condition = Some(Condition::Version(key.clone(), row.stamp));
            indexings.push(Indexing { key, element: row.value, condition });
        }
        Ok(indexings)
    }
}

/// Whether a row of an index is one of those of its element as it is stored.
fn is_right(index: &Arc<IndexLabel>, indexing: &Indexing, row: Option<&Row>) -> Result<bool, Error> {
    let Some(properties) = row.and_then(|row| properties_of(index.base, &indexing.element, &row.value))
    else {
        return Ok(false);
    };
    let mut rows = Vec::new();
    put_index_rows(std::slice::from_ref(index), &indexing.element, properties, &mut rows)?;
    Ok(rows.iter().any(|row| row.key == indexing.key))
}

/// The properties of an element of a label; `None` of any other, and of what is damaged.
pub(super) fn properties_of<'a>(base: IndexBase, key: &[u8], stored: &'a [u8]) -> Option<PropertiesRef<'a>> {
    match base {
        IndexBase::Vertex(label) => {
            let vertex = VertexView::parse(stored).ok().filter(|vertex| vertex.label == label)?;
            Some(vertex.properties)
        }
        IndexBase::Edge(label) => {
            EdgeKey::parse(key).filter(|key| key.sub_label == label)?;
            Some(EdgeView::parse(stored).ok()?.properties)
        }
    }
}
