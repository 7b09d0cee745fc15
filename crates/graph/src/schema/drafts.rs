//! What is asked of a schema: parts to be made, and what is to be appended to them or eliminated.

use super::kinds::{AggregateType, EdgeLabelKind, Frequency, IdStrategy, IndexKind, SchemaKind, WriteType};
use super::user_data::UserData;
use crate::mode::GraphMode;
use crate::value::{Cardinality, DataType};

/// What a creation needs beside its draft.
#[derive(Clone, Copy, Debug)]
pub struct Creation<'a> {
    /// The name of the graph, for messages.
    pub graph: &'a str,
    /// Its mode: only one that is restored takes numbers, and demands them.
    pub mode: GraphMode,
    /// The moment, as JSON text: noted in the user data, unless that has one.
    pub created: &'a str,
}

/// A property key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PropertyKeyDraft {
    /// Its number, of one that is restored.
    pub id: Option<i64>,
    /// Its name.
    pub name: Box<str>,
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
    /// Whether it is refused if there is such a one; one of the name that differs is refused in any case.
    pub check_exist: bool,
}

impl PropertyKeyDraft {
    /// A single text.
    pub fn named(name: &str) -> Self {
        Self {
            id: None,
            name: name.into(),
            data_type: DataType::Text,
            cardinality: Cardinality::Single,
            aggregate_type: AggregateType::None,
            write_type: WriteType::Oltp,
            user_data: UserData::default(),
            check_exist: true,
        }
    }
}

/// What drafts of vertex labels and edge labels have in common.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LabelDraft {
    /// Its number, of one that is restored.
    pub id: Option<i64>,
    /// Its name.
    pub name: Box<str>,
    /// Property keys by name.
    pub properties: Vec<Box<str>>,
    /// Those of them that an element may be without.
    pub nullable_keys: Vec<Box<str>>,
    /// How long elements live, in milliseconds; 0: for ever.
    pub ttl_ms: i64,
    /// The property from whose date on they live.
    pub ttl_start_time: Option<Box<str>>,
    /// Whether elements are to be found by label; they are if nothing is said.
    pub enable_label_index: Option<bool>,
    /// What users note.
    pub user_data: UserData,
    /// Whether it is refused if there is such a one; one of the name that differs is refused in any case.
    pub check_exist: bool,
}

impl LabelDraft {
    /// One without properties.
    pub fn named(name: &str) -> Self {
        Self {
            id: None,
            name: name.into(),
            properties: Vec::new(),
            nullable_keys: Vec::new(),
            ttl_ms: 0,
            ttl_start_time: None,
            enable_label_index: None,
            user_data: UserData::default(),
            check_exist: true,
        }
    }
}

/// A vertex label.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VertexLabelDraft {
    /// What it has in common with edge labels.
    pub label: LabelDraft,
    /// Where ids come from.
    pub id_strategy: IdStrategy,
    /// The property keys that make up the id, in order.
    pub primary_keys: Vec<Box<str>>,
}

impl VertexLabelDraft {
    /// One without properties, whose vertices get ids automatically.
    pub fn named(name: &str) -> Self {
        Self { label: LabelDraft::named(name), id_strategy: IdStrategy::Default, primary_keys: Vec::new() }
    }
}

/// An edge label.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EdgeLabelDraft {
    /// What it has in common with vertex labels.
    pub label: LabelDraft,
    /// How it relates to other edge labels.
    pub kind: EdgeLabelKind,
    /// Its parent; of a sub label.
    pub parent: Option<Box<str>>,
    /// Source and target labels.
    pub links: Vec<(Box<str>, Box<str>)>,
    /// How many edges there may be from one vertex to another: one, if nothing is said.
    pub frequency: Option<Frequency>,
    /// The property keys that tell such edges apart, in order.
    pub sort_keys: Vec<Box<str>>,
}

impl EdgeLabelDraft {
    /// One without properties and links.
    pub fn named(name: &str) -> Self {
        Self {
            label: LabelDraft::named(name),
            kind: EdgeLabelKind::Normal,
            parent: None,
            links: Vec::new(),
            frequency: None,
            sort_keys: Vec::new(),
        }
    }
}

/// An index label.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IndexLabelDraft {
    /// Its number, of one that is restored.
    pub id: Option<i64>,
    /// Its name.
    pub name: Box<str>,
    /// The kind and name of the label whose elements it finds; `None` only in what is appended or eliminated.
    pub base: Option<(SchemaKind, Box<str>)>,
    /// What is asked of it: equal values, if nothing is said.
    pub index_kind: Option<IndexKind>,
    /// Property keys, in order.
    pub fields: Vec<Box<str>>,
    /// Whether elements that are there are entered at once.
    pub rebuild: bool,
    /// What users note.
    pub user_data: UserData,
    /// Whether it is refused if there is such a one; one of the name that differs is refused in any case.
    pub check_exist: bool,
}

impl IndexLabelDraft {
    /// One without base and fields.
    pub fn named(name: &str) -> Self {
        Self {
            id: None,
            name: name.into(),
            base: None,
            index_kind: None,
            fields: Vec::new(),
            rebuild: true,
            user_data: UserData::default(),
            check_exist: true,
        }
    }
}
