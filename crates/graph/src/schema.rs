//! The schema of a property graph: an immutable value. A change makes another one of it, and says which rows follow.

mod kinds;
mod user_data;
mod error;
mod parts;
mod encode;
mod table;
mod drafts;
mod edit;
mod check;
mod property_keys;
mod labels;
mod vertex_labels;
mod edge_labels;
mod repeated;
mod index_labels;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use store::wire::Malformed;

pub use self::drafts::{
    Creation, EdgeLabelDraft, IndexLabelDraft, LabelDraft, PropertyKeyDraft, VertexLabelDraft,
};
pub use self::edit::{Outcome, SchemaChange};
pub use self::error::SchemaError;
pub use self::kinds::{
    AggregateType, EdgeLabelKind, Frequency, IdStrategy, IndexKind, IndexType, SchemaKind, SchemaStatus,
    WriteType,
};
pub use self::parts::{
    EdgeLabel, IndexBase, IndexLabel, Label, Link, Numbers, PartId, PropertyKey, SchemaPart, VertexLabel,
};
use self::table::Table;
pub use self::user_data::UserData;
use crate::mode::ReadMode;
use crate::numbers::{IndexLabelId, LabelId, PropertyKeyId};

/// The most parts of one kind.
pub const SCHEMA_PARTS_MAX: usize = 32_768;
/// The most bytes that users note beside one part: its names and values.
pub const USER_DATA_BYTES_MAX: usize = 64 * 1_024;
/// The most property keys that a label or an index names.
pub const LABEL_PROPERTIES_MAX: usize = 4_096;

/// The schema of a property graph at one moment. A clone costs some pointers for each part.
///
/// Invariants: names and numbers are found in one table each; what a part names by number is there, unless that is removed, too; the
/// indexes of a label are those index labels whose base it is; numbers are below the next ones.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    property_keys: Table<PropertyKey>,
    vertex_labels: Table<VertexLabel>,
    edge_labels: Table<EdgeLabel>,
    index_labels: Table<IndexLabel>,
    /// Parts that were removed, and whose elements and rows are not yet.
    removed: BTreeMap<PartId, SchemaPart>,
    numbers: Numbers,
    /// Whether it has had property keys that computations write.
    has_olap: bool,
    /// Which properties readers are shown.
    read_mode: ReadMode,
}

impl Schema {
    /// Of what is stored: the parts that are there, those whose removal is not finished, and the next numbers. Cost: linear.
    ///
    /// # Errors
    ///
    /// [`Malformed`], if they do not go together.
    pub fn assemble(
        parts: impl IntoIterator<Item = SchemaPart>,
        removed: impl IntoIterator<Item = SchemaPart>,
        numbers: Numbers,
    ) -> Result<Self, Malformed> {
        let removed = removed.into_iter().map(|part| (part.id(), part)).collect();
        let mut schema = Self { removed, numbers, ..Self::default() };
        for part in parts {
            let PartId { kind, number } = part.id();
            if number >= numbers.next(kind) || !schema.put(part) {
                return Err(Malformed);
            }
        }
        if !schema.is_whole() {
            return Err(Malformed);
        }
        schema.find_indexes();
        Ok(schema)
    }

    /// The same schema for readers who are shown these properties.
    #[must_use]
    pub fn reading(self, read_mode: ReadMode) -> Self {
        Self { read_mode, ..self }
    }

    /// Whether readers are shown the properties of a key.
    #[inline]
    pub fn shows(&self, key: &PropertyKey) -> bool {
        match self.read_mode {
            ReadMode::All => true,
            ReadMode::OltpOnly => !key.write_type.is_olap(),
            ReadMode::OlapOnly => key.write_type.is_olap(),
        }
    }

    /// Whether vertices may have values that computations wrote: they outlast what else is written.
    #[inline]
    pub fn has_olap(&self) -> bool {
        self.has_olap
    }

    /// The property key of a number. Cost: an index into an array.
    #[inline]
    pub fn property_key(&self, id: PropertyKeyId) -> Option<&Arc<PropertyKey>> {
        self.property_keys.get(id.0)
    }

    /// The vertex label of a number. Cost: an index into an array.
    #[inline]
    pub fn vertex_label(&self, id: LabelId) -> Option<&Arc<VertexLabel>> {
        self.vertex_labels.get(id.0)
    }

    /// The edge label of a number. Cost: an index into an array.
    #[inline]
    pub fn edge_label(&self, id: LabelId) -> Option<&Arc<EdgeLabel>> {
        self.edge_labels.get(id.0)
    }

    /// The index label of a number. Cost: an index into an array.
    #[inline]
    pub fn index_label(&self, id: IndexLabelId) -> Option<&Arc<IndexLabel>> {
        self.index_labels.get(id.0)
    }

    /// The property key of a name. Cost: a look-up.
    pub fn property_key_named(&self, name: &str) -> Option<&Arc<PropertyKey>> {
        self.property_keys.named(name)
    }

    /// The vertex label of a name. Cost: a look-up.
    pub fn vertex_label_named(&self, name: &str) -> Option<&Arc<VertexLabel>> {
        self.vertex_labels.named(name)
    }

    /// The edge label of a name. Cost: a look-up.
    pub fn edge_label_named(&self, name: &str) -> Option<&Arc<EdgeLabel>> {
        self.edge_labels.named(name)
    }

    /// The index label of a name. Cost: a look-up.
    pub fn index_label_named(&self, name: &str) -> Option<&Arc<IndexLabel>> {
        self.index_labels.named(name)
    }

    /// All property keys, by number.
    pub fn property_keys(&self) -> impl Iterator<Item = &Arc<PropertyKey>> {
        self.property_keys.iter()
    }

    /// All vertex labels, by number.
    pub fn vertex_labels(&self) -> impl Iterator<Item = &Arc<VertexLabel>> {
        self.vertex_labels.iter()
    }

    /// All edge labels, by number.
    pub fn edge_labels(&self) -> impl Iterator<Item = &Arc<EdgeLabel>> {
        self.edge_labels.iter()
    }

    /// All index labels, by number.
    pub fn index_labels(&self) -> impl Iterator<Item = &Arc<IndexLabel>> {
        self.index_labels.iter()
    }

    /// The indexes of a label, by number; none of one that is not there. Cost: an index into an array.
    #[inline]
    pub fn indexes_of(&self, base: IndexBase) -> &[Arc<IndexLabel>] {
        let label = match base {
            IndexBase::Vertex(label) => self.vertex_label(label).map(|label| &label.label),
            IndexBase::Edge(label) => self.edge_label(label).map(|label| &label.label),
        };
        label.map_or(&[], |label| &label.indexes)
    }

    /// The sub labels of a parent edge label, by number. Cost: a walk over all edge labels.
    pub fn sub_labels(&self, parent: LabelId) -> impl Iterator<Item = &Arc<EdgeLabel>> {
        self.edge_labels().filter(move |label| label.parent == Some(parent))
    }

    /// Parts that were removed, and whose elements and rows are still to be.
    pub fn removed(&self) -> impl Iterator<Item = &SchemaPart> {
        self.removed.values()
    }

    /// The part of a kind and number.
    pub fn part(&self, id: PartId) -> Option<SchemaPart> {
        let PartId { kind, number } = id;
        Some(match kind {
            SchemaKind::PropertyKey => SchemaPart::PropertyKey(self.property_keys.get(number)?.clone()),
            SchemaKind::VertexLabel => SchemaPart::VertexLabel(self.vertex_labels.get(number)?.clone()),
            SchemaKind::EdgeLabel => SchemaPart::EdgeLabel(self.edge_labels.get(number)?.clone()),
            SchemaKind::IndexLabel => SchemaPart::IndexLabel(self.index_labels.get(number)?.clone()),
        })
    }

    /// All parts, by kind and number.
    pub fn parts(&self) -> impl Iterator<Item = SchemaPart> {
        let keys = self.property_keys().cloned().map(SchemaPart::PropertyKey);
        let vertices = self.vertex_labels().cloned().map(SchemaPart::VertexLabel);
        let edges = self.edge_labels().cloned().map(SchemaPart::EdgeLabel);
        let indexes = self.index_labels().cloned().map(SchemaPart::IndexLabel);
        keys.chain(vertices).chain(edges).chain(indexes)
    }

    /// The next numbers.
    pub fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// How many parts of a kind there are.
    pub fn count(&self, kind: SchemaKind) -> usize {
        match kind {
            SchemaKind::PropertyKey => self.property_keys.len(),
            SchemaKind::VertexLabel => self.vertex_labels.len(),
            SchemaKind::EdgeLabel => self.edge_labels.len(),
            SchemaKind::IndexLabel => self.index_labels.len(),
        }
    }

    /// The names of property keys, for messages and answers.
    ///
    /// # Panics
    ///
    /// If one is not there: keys that a label names are.
    pub fn names_of<'a>(&'a self, keys: &'a [PropertyKeyId]) -> impl Iterator<Item = &'a str> {
        keys.iter().map(|key| {
            let key = self.property_key(*key);
            &*key.expect("the property keys of a label are there as long as the label is").name
        })
    }

    /// `false` if another part of the kind has its name.
    #[must_use]
    fn put(&mut self, part: SchemaPart) -> bool {
        match part {
            SchemaPart::PropertyKey(key) => {
                self.has_olap |= key.write_type.is_olap();
                self.property_keys.put(key)
            }
            SchemaPart::VertexLabel(label) => self.vertex_labels.put(label),
            SchemaPart::EdgeLabel(label) => self.edge_labels.put(label),
            SchemaPart::IndexLabel(label) => self.index_labels.put(label),
        }
    }

    /// Whether all is there that parts name by number.
    fn is_whole(&self) -> bool {
        let has_keys = |keys: &[PropertyKeyId]| keys.iter().all(|key| self.property_key(*key).is_some());
        let is_whole = |label: &Label| {
            let start = label.ttl_start_time.is_none_or(|key| label.has_property(key));
            let nullable = label.nullable_keys.iter().all(|key| label.has_property(*key));
            has_keys(&label.properties) && start && nullable
        };
        let has_label = |label: LabelId| self.vertex_label(label).is_some();
        let vertices = self.vertex_labels().all(|label| is_whole(label) && has_keys(&label.primary_keys));
        let edges = self.edge_labels().all(|label| {
            let parent = label.parent.is_none_or(|parent| self.edge_label(parent).is_some());
            let links = label.links.iter().all(|link| has_label(link.source) && has_label(link.target));
            is_whole(label) && has_keys(&label.sort_keys) && parent && links
        });
        let indexes = self.index_labels().all(|index| {
            let base = match index.base {
                IndexBase::Vertex(label) => has_label(label),
                IndexBase::Edge(label) => self.edge_label(label).is_some(),
            };
            base && has_keys(&index.fields)
        });
        vertices && edges && indexes
    }

    /// Enters the indexes of all labels.
    fn find_indexes(&mut self) {
        let mut found: BTreeMap<(SchemaKind, LabelId), Vec<Arc<IndexLabel>>> = BTreeMap::new();
        for index in self.index_labels() {
            found.entry((index.base.kind(), index.base.label())).or_default().push(index.clone());
        }
        for ((kind, label), indexes) in found {
            self.set_indexes(kind, label, indexes);
        }
    }

    /// Finds the indexes of one label anew.
    fn find_indexes_of(&mut self, base: IndexBase) {
        let indexes = self.index_labels().filter(|index| index.base == base).cloned().collect();
        self.set_indexes(base.kind(), base.label(), indexes);
    }

    fn set_indexes(&mut self, kind: SchemaKind, label: LabelId, indexes: Vec<Arc<IndexLabel>>) {
        let is_put = match kind {
            SchemaKind::VertexLabel => self.vertex_labels.get(label.0).cloned().is_none_or(|mut label| {
                Arc::make_mut(&mut label).label.indexes = indexes.into();
                self.vertex_labels.put(label)
            }),
            SchemaKind::EdgeLabel => self.edge_labels.get(label.0).cloned().is_none_or(|mut label| {
                Arc::make_mut(&mut label).label.indexes = indexes.into();
                self.edge_labels.put(label)
            }),
            SchemaKind::PropertyKey | SchemaKind::IndexLabel => true,
        };
        assert!(is_put, "a label that was there keeps its name");
    }
}
