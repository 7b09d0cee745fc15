//! What a write does with one element, and what became of it.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use graph::schema::{AggregateType, IdStrategy, Label, Schema, VertexLabel};
use graph::update::UpdateStrategy;
use graph::{Edge, EdgeId, LabelId, Properties, PropertyKeyId, Vertex, VertexId};
use hashbrown::HashMap;
use smallvec::SmallVec;
use store::{Append, Condition, Removal, Stamp, Write};

use super::row_buffer::RowBuffer;
use super::{Moment, Writer};
use crate::Error;

/// What is done with a vertex.
#[derive(Clone, Debug)]
pub enum VertexOperation {
    /// It is there then, as given; where it was, properties are aggregated if their keys say so.
    Put(Vertex),
    /// It is there then, and was not: its number was given by the graph ([`Writer::next_number`]).
    Create(Vertex),
    /// It is there then: merged with what is stored, by strategies.
    Merge(Vertex, Strategies),
    /// What is stored is changed.
    Change(VertexId, Change),
}

/// What is done with an edge.
#[derive(Clone, Debug)]
pub enum EdgeOperation {
    /// It is there then, as given; where it was, properties are aggregated if their keys say so. Its ends are of these labels, if they are given.
    Put(Edge, Option<EndLabels>),
    /// It is there then: merged with what is stored, by strategies.
    Merge(Edge, Option<EndLabels>, Strategies),
    /// What is stored is changed.
    Change(EdgeId, Change),
    /// It is not there then.
    Remove(EdgeId),
    /// It is not there then, if nobody sees it any more: it has expired, or its label is gone.
    RemoveUnseen(EdgeId),
}

/// The labels of the ends of an edge.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EndLabels {
    /// That of the vertex that it leaves.
    pub source: LabelId,
    /// That of the vertex that it enters.
    pub target: LabelId,
}

/// What becomes of stored properties and given ones, by property key; shared by the elements of a request.
pub type Strategies = Arc<BTreeMap<PropertyKeyId, UpdateStrategy>>;

/// A change of stored properties.
#[derive(Clone, Debug)]
pub enum Change {
    /// These over the stored ones; several values beside the stored ones.
    Append(Properties),
    /// Without those of these keys.
    Eliminate(Vec<PropertyKeyId>),
}

/// Whether edges are refused whose ends are not there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CheckVertices {
    /// They are.
    Yes,
    /// They are not: somebody else sees to it.
    No,
}

/// What became of an element.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Written<T> {
    /// It is stored like this.
    Stored(T),
    /// It is not there any more; whether it was.
    Removed(bool),
}

impl<T> Written<T> {
    /// What is stored; nothing of what was removed.
    pub fn stored(self) -> Option<T> {
        match self {
            Self::Stored(element) => Some(element),
            Self::Removed(_) => None,
        }
    }
}

/// What is known of an element before it is written.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// Nothing was read.
    Unread,
    /// It is not there.
    Absent,
    /// It is there: its version, and its bytes.
    Present(Stamp, Bytes),
}

impl Known {
    /// What must still hold of it when it is written.
    pub(super) fn condition(&self, key: &Bytes) -> Option<Condition> {
        match self {
            Self::Unread => None,
            Self::Absent => Some(Condition::Absent(key.clone())),
            Self::Present(stamp, _) => Some(Condition::Version(key.clone(), *stamp)),
        }
    }
}

/// All operations on one element, in their order.
pub(super) struct Group {
    /// The bucket of the row that has the say.
    pub(super) bucket: u32,
    /// Its key.
    pub(super) key: Bytes,
    /// Which operations.
    pub(super) members: SmallVec<[usize; 1]>,
}

/// What a commit holds of one element.
#[derive(Debug)]
pub(super) struct Planned<T> {
    pub(super) conditions: Vec<Condition>,
    pub(super) writes: Vec<Write>,
    /// Rows of UNIQUE indexes that are to be put: key, and the row of the element.
    pub(super) uniques: Vec<(Bytes, Bytes)>,
    /// Those that the element leaves: they go if they are its own.
    pub(super) left_uniques: Vec<(Bytes, Bytes)>,
    pub(super) appends: Vec<Append>,
    pub(super) lets_go: Vec<Removal>,
    /// Vertices of other buckets that must be there, with these labels, once what goes ahead is appended ([`Writer::append_ahead`]).
    pub(super) far_ends: Vec<(VertexId, LabelId)>,
    /// Where the rows are made.
    pub(super) buffer: RowBuffer,
    /// What becomes of each operation, in their order; nothing where it is as the only operation gives it.
    pub(super) written: Vec<Written<T>>,
}

impl<T> Default for Planned<T> {
    fn default() -> Self {
        Self {
            conditions: Vec::new(),
            writes: Vec::new(),
            uniques: Vec::new(),
            left_uniques: Vec::new(),
            appends: Vec::new(),
            lets_go: Vec::new(),
            far_ends: Vec::new(),
            buffer: RowBuffer::default(),
            written: Vec::new(),
        }
    }
}

impl<T> Planned<T> {
    /// Whether conditions and rows of one partition are all.
    pub(super) fn is_plain(&self) -> bool {
        self.uniques.is_empty()
            && self.left_uniques.is_empty()
            && self.appends.is_empty()
            && self.lets_go.is_empty()
    }

    /// What is planned; what is left is empty, and makes its rows where this did.
    pub(super) fn take(&mut self) -> Self {
        let buffer = std::mem::take(&mut self.buffer);
        std::mem::replace(self, Self { buffer, ..Self::default() })
    }

    /// What it counts against the rows of a commit.
    pub(super) fn rows(&self) -> usize {
        self.conditions.len() + self.writes.len()
    }

    /// What it counts against the bytes of a commit.
    pub(super) fn bytes(&self) -> usize {
        let of_write = |write: &Write| match write {
            Write::Put(key, value) | Write::PutStamped(key, value) => key.len() + value.len(),
            Write::Delete(key) => key.len(),
            Write::DeleteRange(range) => range.start.len() + range.end.as_ref().map_or(0, Bytes::len),
        };
        let conditions = self.conditions.iter().filter_map(Condition::key).map(Bytes::len);
        self.writes.iter().map(of_write).chain(conditions).sum()
    }
}

/// An operation on an element: on a vertex, or on an edge.
pub(super) trait Operation: Sized {
    /// The element.
    type Element;
    /// Whether it is of vertices: who makes one looks for marks of removals.
    const MAKES_VERTICES: bool;

    /// The bucket of the row that has the say; its key is appended.
    fn put_authority(&self, writer: &Writer, key: &mut Vec<u8>) -> u32;

    /// Whether the element is read before it is written.
    fn needs_known(&self, work: &Work<'_, Self>) -> bool;

    /// The vertices that must be there for operations to be carried out, at a moment, and whether it is the first one. Cost: a read of each, but of
    /// those whose label follows from the id, at the first moment.
    async fn ends(
        writer: &Writer,
        operations: &[Self],
        check: CheckVertices,
        moment: (&Moment, bool),
    ) -> Result<Ends, Error>;

    /// Plans what a commit holds for operations on one element, of which this is known. At least one operation is given.
    fn plan(
        work: &Work<'_, Self>,
        operations: &[&Self],
        key: &Bytes,
        known: &Known,
        planned: &mut Planned<Self::Element>,
    ) -> Result<(), Error>;

    /// Has the element be named anew, if the graph names it; whether it does.
    fn rename(&mut self, writer: &Writer) -> bool;

    /// The element as the operation gives it.
    fn into_given(self) -> Written<Self::Element>;
}

/// The labels of vertices.
pub(super) type Labels = HashMap<VertexId, LabelId>;

/// The labels of the vertices at the ends of edges.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Those that were read.
    pub(super) read: Labels,
    /// Whether others follow from the id, of edges within one bucket: that such vertices are there is a condition of the commit.
    pub(super) ids_have_labels: bool,
}

/// Whether an element of a label is read before it is put: rows, or values, follow from what is stored.
pub(super) fn needs_known(schema: &Schema, label: &Label) -> bool {
    let aggregates = |key| {
        let key = schema.property_key(key);
        key.is_some_and(|key| key.aggregate_type != AggregateType::None)
    };
    !label.indexes.is_empty() || label.properties.iter().copied().any(aggregates)
}

/// What plans of one attempt share.
pub(super) struct Work<'a, O> {
    pub(super) writer: &'a Writer,
    pub(super) moment: &'a Moment,
    /// The vertices at the ends of edges.
    pub(super) ends: &'a Ends,
    pub(super) check: CheckVertices,
    /// Whether a vertex that is new may not be written where one is being removed.
    pub(super) looks_for_marks: bool,
    pub(super) operations: &'a [O],
    /// That of the edges over several buckets which come to be: chosen once a request, so that all its attempts append the same rows.
    pub(super) life: u64,
    /// See [`Work::reads_given_ids`].
    reads_given_ids: OnceLock<bool>,
}

impl<'a, O> Work<'a, O> {
    /// What one attempt at some operations is made of.
    pub(super) fn new(
        (writer, moment): (&'a Writer, &'a Moment),
        (operations, life): (&'a [O], u64),
        ends: &'a Ends,
        (check, looks_for_marks): (CheckVertices, bool),
    ) -> Self {
        let reads_given_ids = OnceLock::new();
        Self { writer, moment, ends, check, looks_for_marks, operations, life, reads_given_ids }
    }

    /// Whether a vertex whose id does not say its label is read before it is put: it may take the place of one of another label that is indexed.
    /// Cost: a look at each vertex label, once an attempt.
    pub(super) fn reads_given_ids(&self) -> bool {
        let schema = &self.moment.schema;
        let is_read = |label: &Arc<VertexLabel>| {
            label.id_strategy != IdStrategy::PrimaryKey && (label.ttl_ms > 0 || needs_known(schema, label))
        };
        *self.reads_given_ids.get_or_init(|| schema.vertex_labels().any(is_read))
    }
}
