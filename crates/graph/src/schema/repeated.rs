//! Which indexes of a label another makes superfluous, and which make a new one superfluous.

use std::sync::Arc;

use super::Schema;
use super::error::SchemaError;
use super::kinds::{IdStrategy, IndexKind};
use super::parts::{IndexBase, IndexLabel};
use crate::numbers::PropertyKeyId;
use crate::value::DataType;

/// Whether values of a type are ordered by their size, so that a shard index finds ranges of them.
fn has_ranges(data_type: DataType) -> bool {
    data_type.is_number() || data_type == DataType::Date
}

fn contains_all(all: &[PropertyKeyId], some: &[PropertyKeyId]) -> bool {
    some.iter().all(|key| all.contains(key))
}

impl Schema {
    /// Refuses an index that finds what others find already.
    pub(super) fn check_repeated(&self, new: &IndexLabel) -> Result<(), SchemaError> {
        self.check_primary_keys(new)?;
        let kind = new.index_type.kind();
        let covering = self.covering_kinds(new);
        let covers = |old: &&Arc<IndexLabel>| {
            let fields = match kind {
                IndexKind::Unique => contains_all(&new.fields, &old.fields),
                IndexKind::Secondary | IndexKind::Range | IndexKind::Search | IndexKind::Shard => {
                    old.fields.starts_with(&new.fields)
                }
            };
            covering.contains(&old.index_type.kind()) && fields
        };
        let Some(old) = self.indexes_of(new.base).iter().find(covers) else { return Ok(()) };
        Err(SchemaError::invalid(format!(
            "Repeated new index label {}({}) with fields {} due to existed index label {}({}) with fields {}",
            new.name,
            new.index_type,
            self.listed(&new.fields),
            old.name,
            old.index_type,
            self.listed(&old.fields),
        )))
    }

    /// The kinds of indexes that find whatever a new one would.
    fn covering_kinds(&self, new: &IndexLabel) -> &'static [IndexKind] {
        match new.index_type.kind() {
            IndexKind::Unique => &[IndexKind::Unique],
            IndexKind::Search => &[IndexKind::Search],
            IndexKind::Range => &[IndexKind::Range],
            IndexKind::Secondary => &[IndexKind::Range, IndexKind::Secondary, IndexKind::Shard],
            IndexKind::Shard if self.is_one_range(&new.fields) => &[IndexKind::Range, IndexKind::Shard],
            IndexKind::Shard if self.has_no_ranges(&new.fields) => &[IndexKind::Secondary, IndexKind::Shard],
            IndexKind::Shard => &[IndexKind::Shard],
        }
    }

    /// The indexes that a new one makes superfluous.
    pub(super) fn absorbed_by(&self, new: &IndexLabel) -> Vec<Arc<IndexLabel>> {
        let kind = new.index_type.kind();
        let is_absorbed = |old: &&Arc<IndexLabel>| {
            let is_of_kind = match (kind, old.index_type.kind()) {
                (IndexKind::Shard, IndexKind::Secondary)
                | (IndexKind::Range, IndexKind::Secondary | IndexKind::Shard) => true,
                (IndexKind::Secondary, IndexKind::Shard) => self.has_no_ranges(&old.fields),
                (_, old_kind) => old_kind == kind,
            };
            let is_within = match kind {
                IndexKind::Unique => contains_all(&old.fields, &new.fields),
                IndexKind::Secondary | IndexKind::Range | IndexKind::Search | IndexKind::Shard => {
                    new.fields.starts_with(&old.fields)
                }
            };
            is_of_kind && is_within
        };
        self.indexes_of(new.base).iter().filter(is_absorbed).cloned().collect()
    }

    /// Ids find vertices by their primary keys.
    fn check_primary_keys(&self, new: &IndexLabel) -> Result<(), SchemaError> {
        let IndexBase::Vertex(label) = new.base else { return Ok(()) };
        let label = self.vertex_label(label).expect("the label of an index is there as long as the index is");
        let finds_equal = match new.index_type.kind() {
            IndexKind::Secondary | IndexKind::Unique => true,
            IndexKind::Shard => self.has_no_ranges(&new.fields),
            IndexKind::Range | IndexKind::Search => false,
        };
        if label.id_strategy == IdStrategy::PrimaryKey
            && finds_equal
            && contains_all(&new.fields, &label.primary_keys)
        {
            let (fields, keys) = (self.listed(&new.fields), self.listed(&label.primary_keys));
            return Err(SchemaError::invalid(format!(
                "No need to build index on properties {fields}, because they contains all primary keys {keys} for \
                 vertex label '{}'",
                label.name
            )));
        }
        Ok(())
    }

    fn is_one_range(&self, fields: &[PropertyKeyId]) -> bool {
        fields.len() == 1 && !self.has_no_ranges(fields)
    }

    fn has_no_ranges(&self, fields: &[PropertyKeyId]) -> bool {
        fields.iter().all(|field| {
            let key = self.property_key(*field);
            !has_ranges(key.expect("the fields of an index are there as long as the index is").data_type)
        })
    }
}
