//! A change of a schema under way, and what it comes to.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::drafts::Creation;
use super::error::SchemaError;
use super::kinds::{SchemaKind, SchemaStatus};
use super::parts::{IndexBase, PartId, SchemaPart};
use super::{SCHEMA_PARTS_MAX, Schema};
use crate::mode::GraphMode;
use crate::numbers::IndexLabelId;

/// What a change of a schema comes to.
#[derive(Clone, Debug)]
pub struct SchemaChange {
    /// The schema after it.
    pub schema: Schema,
    /// Parts that are new or differ.
    pub put: Vec<SchemaPart>,
    /// Parts that went. Those with [`SchemaPart::leaves_rows`] are among [`Schema::removed`] until [`Schema::finish_removal`].
    pub removed: Vec<SchemaPart>,
    /// Parts whose removal is finished.
    pub finished: Vec<PartId>,
}

/// A part, and the change that made it so.
#[derive(Clone, Debug)]
pub struct Outcome<T> {
    /// As it is now.
    pub part: Arc<T>,
    /// `None` if it was so before.
    pub change: Option<SchemaChange>,
}

impl SchemaPart {
    /// Whether its removal leaves elements or rows behind, which are to be removed after it.
    pub fn leaves_rows(&self) -> bool {
        match self {
            // Values that computations wrote belong to no label.
            Self::PropertyKey(key) => key.write_type.is_olap(),
            Self::VertexLabel(_) | Self::EdgeLabel(_) | Self::IndexLabel(_) => true,
        }
    }
}

/// A change under way.
pub(super) struct Edit {
    schema: Schema,
    put: BTreeMap<PartId, SchemaPart>,
    removed: Vec<SchemaPart>,
}

impl Edit {
    pub(super) fn of(schema: &Schema) -> Self {
        Self { schema: schema.clone(), put: BTreeMap::new(), removed: Vec::new() }
    }

    /// The schema so far.
    pub(super) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The number of a new part: the next, or that of the draft, if the graph is restored.
    pub(super) fn number(
        &mut self,
        kind: SchemaKind,
        id: Option<i64>,
        creation: &Creation<'_>,
    ) -> Result<u32, SchemaError> {
        if self.schema.count(kind) >= SCHEMA_PARTS_MAX {
            return Err(SchemaError::Limit {
                what: format!("too many parts of kind {}", kind.readable_name()).into(),
                max: SCHEMA_PARTS_MAX,
            });
        }
        let next = self.schema.numbers.next_mut(kind);
        let number = match id {
            None => *next,
            Some(id) => wanted(kind, id, creation)?,
        };
        let after = number.checked_add(1).ok_or_else(|| all_given(kind))?;
        *next = after.max(*next);
        let part = PartId { kind, number };
        if self.schema.removed.contains_key(&part) {
            return Err(SchemaError::BeingRemoved { kind, number });
        }
        if self.schema.part(part).is_some() {
            let what = format!("{} id", kind.readable_name()).into();
            return Err(SchemaError::Existed { what, name: number.to_string().into() });
        }
        Ok(number)
    }

    pub(super) fn put(&mut self, part: SchemaPart) {
        let base = if let SchemaPart::IndexLabel(index) = &part { Some(index.base) } else { None };
        assert!(self.schema.put(part.clone()), "a new part has a name of its own, and an old one keeps its");
        self.put.insert(part.id(), part);
        if let Some(base) = base {
            self.schema.find_indexes_of(base);
        }
    }

    /// Removes a part; an index from its label, too.
    pub(super) fn remove(&mut self, part: SchemaPart) {
        let id = part.id();
        let part = match part {
            SchemaPart::PropertyKey(key) => {
                self.schema.property_keys.remove(id.number);
                SchemaPart::PropertyKey(key)
            }
            SchemaPart::VertexLabel(mut label) => {
                self.schema.vertex_labels.remove(id.number);
                Arc::make_mut(&mut label).label.indexes = Box::default();
                SchemaPart::VertexLabel(label)
            }
            SchemaPart::EdgeLabel(mut label) => {
                self.schema.edge_labels.remove(id.number);
                Arc::make_mut(&mut label).label.indexes = Box::default();
                SchemaPart::EdgeLabel(label)
            }
            SchemaPart::IndexLabel(index) => {
                self.schema.index_labels.remove(id.number);
                self.schema.find_indexes_of(index.base);
                SchemaPart::IndexLabel(index)
            }
        };
        self.put.remove(&id);
        if part.leaves_rows() {
            self.schema.removed.insert(id, part.clone());
        }
        self.removed.push(part);
    }

    /// Removes the indexes of a label.
    pub(super) fn remove_indexes(&mut self, base: IndexBase) {
        for index in self.schema.indexes_of(base).to_vec() {
            self.remove(SchemaPart::IndexLabel(index));
        }
    }

    pub(super) fn finish(self) -> SchemaChange {
        let put = self.put.into_values().collect();
        SchemaChange { schema: self.schema, put, removed: self.removed, finished: Vec::new() }
    }
}

impl Schema {
    /// Notes that nothing is left of a part that was removed; `None` if there was no such.
    pub fn finish_removal(&self, id: PartId) -> Option<SchemaChange> {
        let mut schema = self.clone();
        schema.removed.remove(&id)?;
        Some(SchemaChange { schema, put: Vec::new(), removed: Vec::new(), finished: vec![id] })
    }

    /// The same schema for a graph without elements: nothing is left to be removed, and all indexes are complete.
    pub fn as_of_an_empty_graph(&self) -> SchemaChange {
        let mut schema = self.clone();
        schema.removed.clear();
        let indexes: Vec<IndexLabelId> = self.index_labels().map(|index| index.id).collect();
        if let Some(built) = schema.set_index_status(&indexes, SchemaStatus::Created) {
            schema = built.schema;
        }
        let put = schema.parts().collect();
        SchemaChange { schema, put, removed: Vec::new(), finished: Vec::new() }
    }
}

/// A number that a draft brings.
fn wanted(kind: SchemaKind, id: i64, creation: &Creation<'_>) -> Result<u32, SchemaError> {
    let Creation { graph, mode, .. } = creation;
    if id == 0 {
        return Err(SchemaError::invalid(format!("Not allowed to assign 0 as {} id", kind.readable_name())));
    }
    if id < 0 {
        return Err(SchemaError::WrongMode(
            format!("Schema id must be number and >0, but got '{id}'").into(),
        ));
    }
    if *mode != GraphMode::Restoring {
        let text =
            format!("Can't build schema with provided id '{id}' when graph '{graph}' in mode '{mode}'");
        return Err(SchemaError::WrongMode(text.into()));
    }
    u32::try_from(id)
        .map_err(|_| SchemaError::invalid(format!("Schema id must be below 2^32, but got '{id}'")))
}

fn all_given(kind: SchemaKind) -> SchemaError {
    SchemaError::Limit {
        what: format!("all numbers of kind {} were given", kind.readable_name()).into(),
        max: u32::MAX as usize,
    }
}
