//! The rows of an element: of what is stored, and of what is to be.

use bytes::Bytes;
use graph::index::{IndexRow, put_index_rows, retain_changes};
use graph::schema::{IdStrategy, IndexLabel, Label, Schema};
use graph::update::Updates;
use graph::{Edge, LabelId, Properties, PropertiesRef, Vertex, keys};
use std::sync::Arc;
use store::Write;

use super::Moment;
use super::operation::{Change, Planned};
use crate::Error;

/// What index rows and expiry follow from.
#[derive(Clone, Copy)]
pub(super) struct Indexed<'a> {
    indexes: &'a [Arc<IndexLabel>],
    expires: Option<i64>,
    properties: PropertiesRef<'a>,
}

impl<'a> Indexed<'a> {
    /// Those of a vertex.
    pub(super) fn of_vertex(schema: &'a Schema, vertex: &'a Vertex) -> Self {
        let indexes = schema.vertex_label(vertex.label).map_or(&[][..], |label| &label.indexes);
        Self { indexes, expires: vertex.expires, properties: vertex.properties.as_ref() }
    }

    /// Those of an edge.
    pub(super) fn of_edge(schema: &'a Schema, edge: &'a Edge) -> Self {
        let indexes = schema.edge_label(edge.id.sub_label).map_or(&[][..], |label| &label.indexes);
        Self { indexes, expires: edge.expires, properties: edge.properties.as_ref() }
    }

    fn rows(self, element_row: &[u8]) -> Result<Vec<IndexRow>, Error> {
        let mut rows = Vec::new();
        if !self.indexes.is_empty() {
            put_index_rows(self.indexes, element_row, self.properties, &mut rows)?;
        }
        Ok(rows)
    }

    fn expiry_row(self, element_row: &[u8]) -> Option<Bytes> {
        self.expires.map(|moment| keys::expiry(moment, element_row))
    }
}

/// Plans the rows that find an element: those that come, those that go.
pub(super) fn plan_finding_rows<T>(
    planned: &mut Planned<T>,
    element_row: &[u8],
    old: Option<Indexed<'_>>,
    new: Option<Indexed<'_>>,
) -> Result<(), Error> {
    let rows_of = |it: Option<Indexed<'_>>| it.map_or(Ok(Vec::new()), |it| it.rows(element_row));
    let (mut goes, mut comes) = (rows_of(old)?, rows_of(new)?);
    retain_changes(&mut goes, &mut comes);
    let (old_expiry, new_expiry) =
        (old.and_then(|it| it.expiry_row(element_row)), new.and_then(|it| it.expiry_row(element_row)));
    if old_expiry != new_expiry {
        planned.writes.extend(old_expiry.map(Write::Delete));
    }
    planned.writes.extend(new_expiry.map(|key| Write::Put(key, Bytes::new())));
    for row in goes {
        match row.is_unique {
            true => planned.left_uniques.push((row.key, row.value)),
            false => planned.writes.push(Write::Delete(row.key)),
        }
    }
    for row in comes {
        match row.is_unique {
            true => planned.uniques.push((row.key, row.value)),
            false => planned.writes.push(Write::Put(row.key, row.value)),
        }
    }
    Ok(())
}

/// The row that finds a vertex by its label, if it has one: those with primary keys lie together.
pub(super) fn label_row(schema: &Schema, label: LabelId, vertex: &Vertex) -> Option<Bytes> {
    (!lies_with_its_label(schema, label)).then(|| keys::label(label, &vertex.id))
}

/// Whether the vertices of a label need no row that finds them by it: their ids begin with its number.
pub(super) fn lies_with_its_label(schema: &Schema, label: LabelId) -> bool {
    schema.vertex_label(label).is_some_and(|it| it.id_strategy == IdStrategy::PrimaryKey)
}

/// Stored properties after a change.
pub(super) fn changed(
    moment: &Moment,
    label: &Label,
    stored: PropertiesRef<'_>,
    change: &Change,
) -> Result<Properties, Error> {
    let updates = Updates { schema: &moment.schema };
    match change {
        Change::Append(given) => Ok(updates.append(stored, given.as_ref())?),
        Change::Eliminate(keys) => {
            for key in keys {
                let is_needed = label.has_property(*key) && !label.is_nullable(*key);
                if is_needed && stored.get(*key)?.is_some() {
                    let key = moment.schema.property_key(*key).ok_or(graph::Malformed)?;
                    return Err(Error::NotNullable((*key.name).into()));
                }
            }
            Ok(updates.eliminate(stored, keys)?)
        }
    }
}
