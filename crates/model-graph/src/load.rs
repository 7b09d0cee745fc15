//! Loads: vertices and edges by the million, put without a look at what is there, and all seen at once when they are finished.
//!
//! For graphs that are filled, or filled up with elements that nobody else writes meanwhile: an element that is there is overwritten, and the rows that
//! found it by other values stay (they are checked on read, and go with a rebuild of the index).

#[cfg(test)]
mod tests;

use std::sync::Arc;

use graph::schema::{AggregateType, IdStrategy, IndexKind, Label, Schema};
use graph::{Edge, EdgeDirection, PropertiesRef, Vertex, element, index, keys};
use store::{Epoch, Load, LoadRows};

use crate::Error;
use crate::write::Writer;

/// Elements are added to a load of the store when their rows have so many bytes.
const ADD_BYTES: usize = 1024 * 1024;
/// Rows for which there is room in one of these.
const ADD_ROWS: usize = 16 * 1024;

/// A load that is under way: clones share it, so that many tasks can add to it, each through an own clone. What it promises is said at
/// [`store::Store::load`]: where a store belongs to one process, all or nothing is seen.
#[derive(Debug)]
pub struct GraphLoad {
    schema: Arc<Schema>,
    /// One for each bucket.
    loads: Arc<[Load]>,
    /// Rows that are not added yet, of each bucket.
    pending: Vec<LoadRows>,
    scratch: Scratch,
}

#[derive(Debug, Default)]
struct Scratch {
    key: Vec<u8>,
    other: Vec<u8>,
    value: Vec<u8>,
    rows: Vec<index::IndexRow>,
}

impl Clone for GraphLoad {
    /// A clone has nothing pending.
    fn clone(&self) -> Self {
        Self::of(Arc::clone(&self.schema), Arc::clone(&self.loads))
    }
}

impl GraphLoad {
    /// `epochs` are those from before the schema was read.
    pub(crate) async fn begin(
        writer: &Writer,
        epochs: Box<[Epoch]>,
        schema: Arc<Schema>,
    ) -> Result<Self, Error> {
        if writer.partitions().len() > 1 {
            // Rows at targets would be pointers, which go ahead of the edges that they point at.
            return Err(Error::Invalid("a graph over several buckets takes no loads".into()));
        }
        let mut loads = Vec::new();
        for (partition, epoch) in writer.partitions().iter().zip(epochs) {
            loads.push(writer.store().load(partition, epoch).await?);
        }
        Ok(Self::of(schema, loads.into()))
    }

    fn of(schema: Arc<Schema>, loads: Arc<[Load]>) -> Self {
        let pending = loads.iter().map(|_| fresh()).collect();
        Self { schema, loads, pending, scratch: Scratch::default() }
    }

    /// The schema by which it loads.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Adds a vertex. Cost: a copy of its rows; at times a wait for the store.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a label whose vertices cannot be put without a look: values are aggregated, or unique. If the store refuses;
    /// the load is over then.
    pub async fn add_vertex(&mut self, vertex: &Vertex) -> Result<(), Error> {
        let schema = Arc::clone(&self.schema);
        let no_label = || Error::NotFound(format!("vertex label {}", vertex.label).into());
        let label = schema.vertex_label(vertex.label).ok_or_else(no_label)?;
        check_label(&schema, label)?;
        let Scratch { key, value, .. } = &mut self.scratch;
        key.clear();
        keys::put_vertex(key, &vertex.id);
        value.clear();
        element::put_vertex_header(value, vertex.label, vertex.expires);
        value.extend_from_slice(vertex.properties.as_ref().as_bytes());
        let rows = self.pending.first_mut().expect("a load has a bucket");
        rows.put_stamped(key, value);
        if label.id_strategy != IdStrategy::PrimaryKey {
            rows.put(&keys::label(vertex.label, &vertex.id), b"");
        }
        self.add_finding_rows(label, vertex.expires, vertex.properties.as_ref())?;
        self.add_full().await
    }

    /// Adds an edge, whose ends are not looked at. Cost: a copy of its rows; at times a wait for the store.
    ///
    /// # Errors
    ///
    /// As [`GraphLoad::add_vertex`].
    pub async fn add_edge(&mut self, edge: &Edge) -> Result<(), Error> {
        let schema = Arc::clone(&self.schema);
        let no_label = || Error::NotFound(format!("edge label {}", edge.id.sub_label).into());
        let label = schema.edge_label(edge.id.sub_label).ok_or_else(no_label)?;
        check_label(&schema, label)?;
        let Scratch { key, other, value, .. } = &mut self.scratch;
        key.clear();
        other.clear();
        value.clear();
        keys::put_edge(key, &edge.id, EdgeDirection::Out);
        keys::put_edge(other, &edge.id, EdgeDirection::In);
        element::put_edge_header(value, edge.expires, None);
        value.extend_from_slice(edge.properties.as_ref().as_bytes());
        let rows = self.pending.first_mut().expect("a load has a bucket");
        rows.put_stamped(key, value);
        rows.put(other, value);
        self.add_finding_rows(label, edge.expires, edge.properties.as_ref())?;
        self.add_full().await
    }

    /// Adds what is pending in this clone. Each clone is flushed before the load is finished.
    ///
    /// # Errors
    ///
    /// If the store refuses; the load is over then.
    pub async fn flush(&mut self) -> Result<(), Error> {
        for (load, rows) in self.loads.iter().zip(&mut self.pending) {
            if !rows.is_empty() {
                load.add(std::mem::replace(rows, fresh())).await?;
            }
        }
        Ok(())
    }

    /// Makes everything seen and durable. Other clones were flushed before.
    ///
    /// # Errors
    ///
    /// If the store refuses: nothing of it is there, or (of an unknown outcome) all; it can be repeated.
    pub async fn finish(mut self) -> Result<(), Error> {
        self.flush().await?;
        for load in &*self.loads {
            load.finish(None).await?;
        }
        Ok(())
    }

    /// Adds the rows that find the element whose row is in `scratch.key`.
    fn add_finding_rows(
        &mut self,
        label: &Label,
        expires: Option<i64>,
        properties: PropertiesRef<'_>,
    ) -> Result<(), Error> {
        let Scratch { key, rows: found, .. } = &mut self.scratch;
        let rows = self.pending.first_mut().expect("a load has a bucket");
        if let Some(moment) = expires {
            rows.put(&keys::expiry(moment, key), b"");
        }
        if !label.indexes.is_empty() {
            found.clear();
            index::put_index_rows(&label.indexes, key, properties, found)?;
            found.iter().for_each(|row| rows.put(&row.key, &row.value));
        }
        Ok(())
    }

    async fn add_full(&mut self) -> Result<(), Error> {
        for (load, rows) in self.loads.iter().zip(&mut self.pending) {
            if rows.bytes() >= ADD_BYTES || rows.len() >= ADD_ROWS {
                load.add(std::mem::replace(rows, fresh())).await?;
            }
        }
        Ok(())
    }
}

fn fresh() -> LoadRows {
    LoadRows::with_capacity(ADD_BYTES, ADD_ROWS)
}

/// Refuses a label whose elements cannot be put without a look.
fn check_label(schema: &Schema, label: &Label) -> Result<(), Error> {
    let is_unique = label.indexes.iter().any(|index| index.index_type.kind() == IndexKind::Unique);
    let aggregates = |key: &graph::PropertyKeyId| {
        let key = schema.property_key(*key);
        key.is_some_and(|key| key.aggregate_type != AggregateType::None)
    };
    if !is_unique && !label.properties.iter().any(aggregates) {
        return Ok(());
    }
    let why = if is_unique { "has a unique index" } else { "has aggregated properties" };
    Err(Error::Invalid(format!("elements of label {} cannot be loaded: it {why}", label.name)))
}
