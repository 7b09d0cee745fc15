//! The parts of a schema.

use std::ops::Deref;
use std::sync::Arc;

use super::kinds::{
    AggregateType, EdgeLabelKind, Frequency, IdStrategy, IndexType, SchemaKind, SchemaStatus, WriteType,
};
use super::user_data::UserData;
use crate::numbers::{IndexLabelId, LabelId, PropertyKeyId};
use crate::value::{Cardinality, DataType};

/// A property that elements may have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PropertyKey {
    /// Its number.
    pub id: PropertyKeyId,
    /// Its name.
    pub name: Arc<str>,
    /// The type of one value.
    pub data_type: DataType,
    /// How many values there are.
    pub cardinality: Cardinality,
    /// What becomes of a value where there is one.
    pub aggregate_type: AggregateType,
    /// Who writes it.
    pub write_type: WriteType,
    /// What users note.
    pub user_data: UserData,
    /// Its state.
    pub status: SchemaStatus,
}

/// What vertex labels and edge labels have in common.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Label {
    /// Its number, among those of its kind.
    pub id: LabelId,
    /// Its name.
    pub name: Arc<str>,
    /// The properties that its elements may have, by number.
    pub properties: Box<[PropertyKeyId]>,
    /// Those of them that an element may be without, by number.
    pub nullable_keys: Box<[PropertyKeyId]>,
    /// How long its elements live, in milliseconds; 0: for ever.
    pub ttl_ms: u64,
    /// The property from whose date on they live; without one from their creation.
    pub ttl_start_time: Option<PropertyKeyId>,
    /// Whether its elements are to be found by label.
    pub enable_label_index: bool,
    /// What users note.
    pub user_data: UserData,
    /// Its state.
    pub status: SchemaStatus,
    /// Its indexes, by number; follows from the index labels of the schema, and is not stored with the label.
    pub indexes: Box<[Arc<IndexLabel>]>,
}

impl Label {
    /// Whether its elements may have a property. Cost: a binary search.
    #[inline]
    pub fn has_property(&self, key: PropertyKeyId) -> bool {
        self.properties.binary_search(&key).is_ok()
    }

    /// Whether its elements may be without a property. Cost: a binary search.
    #[inline]
    pub fn is_nullable(&self, key: PropertyKeyId) -> bool {
        self.nullable_keys.binary_search(&key).is_ok()
    }

    /// Whether writing an element needs to know what was there: index rows or an expiry follow from it.
    #[inline]
    pub fn is_indexed_or_expires(&self) -> bool {
        !self.indexes.is_empty() || self.ttl_ms > 0
    }
}

/// A kind of vertices.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VertexLabel {
    /// What it has in common with edge labels; reached by `*`.
    pub label: Label,
    /// Where ids come from; never [`IdStrategy::Default`].
    pub id_strategy: IdStrategy,
    /// The properties that make up the id, in order; only with [`IdStrategy::PrimaryKey`], and then at least one.
    pub primary_keys: Box<[PropertyKeyId]>,
}

impl Deref for VertexLabel {
    type Target = Label;

    #[inline]
    fn deref(&self) -> &Label {
        &self.label
    }
}

/// From vertices of one label to vertices of another.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Link {
    /// The label of the source.
    pub source: LabelId,
    /// The label of the target.
    pub target: LabelId,
}

/// A kind of edges.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EdgeLabel {
    /// What it has in common with vertex labels; reached by `*`.
    pub label: Label,
    /// How it relates to other edge labels.
    pub kind: EdgeLabelKind,
    /// Its parent; only of a sub label.
    pub parent: Option<LabelId>,
    /// Between which vertices its edges are, in order: one link of a normal or sub label; those of its sub labels of a parent; of a
    /// general one none, which means any.
    pub links: Box<[Link]>,
    /// How many edges there may be from one vertex to another.
    pub frequency: Frequency,
    /// The properties that tell such edges apart, in order. A parent has those of its sub labels.
    pub sort_keys: Box<[PropertyKeyId]>,
}

impl Deref for EdgeLabel {
    type Target = Label;

    #[inline]
    fn deref(&self) -> &Label {
        &self.label
    }
}

impl EdgeLabel {
    /// Whether an edge of it may lead from vertices of one label to those of another.
    #[inline]
    pub fn may_join(&self, source: LabelId, target: LabelId) -> bool {
        self.links.contains(&Link { source, target })
    }

    /// Whether it begins or ends at vertices of a label.
    pub fn touches(&self, vertex_label: LabelId) -> bool {
        self.links.iter().any(|link| link.source == vertex_label || link.target == vertex_label)
    }

    /// The label under which its edges lie in keys: that of the parent of a sub label, else its own.
    #[inline]
    pub fn key_label(&self) -> LabelId {
        self.parent.unwrap_or(self.label.id)
    }
}

/// The label whose elements an index finds.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum IndexBase {
    /// A vertex label.
    Vertex(LabelId),
    /// An edge label.
    Edge(LabelId),
}

impl IndexBase {
    /// What kind of label it is.
    pub fn kind(self) -> SchemaKind {
        match self {
            Self::Vertex(_) => SchemaKind::VertexLabel,
            Self::Edge(_) => SchemaKind::EdgeLabel,
        }
    }

    /// Its number.
    pub fn label(self) -> LabelId {
        match self {
            Self::Vertex(label) | Self::Edge(label) => label,
        }
    }
}

/// An index.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IndexLabel {
    /// Its number.
    pub id: IndexLabelId,
    /// Its name.
    pub name: Arc<str>,
    /// Whose elements it finds.
    pub base: IndexBase,
    /// What can be asked of it.
    pub index_type: IndexType,
    /// By which properties, in order; at least one.
    pub fields: Box<[PropertyKeyId]>,
    /// What users note.
    pub user_data: UserData,
    /// Its state: queries use only one that is created.
    pub status: SchemaStatus,
}

impl IndexLabel {
    /// Whether queries may rely on it: all elements are entered.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.status == SchemaStatus::Created
    }
}

/// A part of a schema, of any kind.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SchemaPart {
    /// A property key.
    PropertyKey(Arc<PropertyKey>),
    /// A vertex label.
    VertexLabel(Arc<VertexLabel>),
    /// An edge label.
    EdgeLabel(Arc<EdgeLabel>),
    /// An index label.
    IndexLabel(Arc<IndexLabel>),
}

/// The kind and number of a part of a schema: what its row is found by.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PartId {
    /// Its kind.
    pub kind: SchemaKind,
    /// Its number.
    pub number: u32,
}

impl SchemaPart {
    /// Its kind and number.
    pub fn id(&self) -> PartId {
        let (kind, number) = match self {
            Self::PropertyKey(key) => (SchemaKind::PropertyKey, key.id.0),
            Self::VertexLabel(label) => (SchemaKind::VertexLabel, label.id.0),
            Self::EdgeLabel(label) => (SchemaKind::EdgeLabel, label.id.0),
            Self::IndexLabel(label) => (SchemaKind::IndexLabel, label.id.0),
        };
        PartId { kind, number }
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        match self {
            Self::PropertyKey(key) => &key.name,
            Self::VertexLabel(label) => &label.name,
            Self::EdgeLabel(label) => &label.name,
            Self::IndexLabel(label) => &label.name,
        }
    }
}

/// The next number of each kind of part; all below were given or will never be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Numbers {
    property_key: u32,
    vertex_label: u32,
    edge_label: u32,
    index_label: u32,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { property_key: 1, vertex_label: 1, edge_label: 1, index_label: 1 }
    }
}

impl Numbers {
    /// The next number of a kind.
    pub fn next(self, kind: SchemaKind) -> u32 {
        match kind {
            SchemaKind::PropertyKey => self.property_key,
            SchemaKind::VertexLabel => self.vertex_label,
            SchemaKind::EdgeLabel => self.edge_label,
            SchemaKind::IndexLabel => self.index_label,
        }
    }

    pub(super) fn next_mut(&mut self, kind: SchemaKind) -> &mut u32 {
        match kind {
            SchemaKind::PropertyKey => &mut self.property_key,
            SchemaKind::VertexLabel => &mut self.vertex_label,
            SchemaKind::EdgeLabel => &mut self.edge_label,
            SchemaKind::IndexLabel => &mut self.index_label,
        }
    }
}
