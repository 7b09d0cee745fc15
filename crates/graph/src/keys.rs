//! The key page: the rows of a graph, how their keys are built, and how they are read back.
//!
//! ```text
//! partition                row                                                value
//! graph/{graph}/{bucket}   v vertex                                           a vertex (element.rs), stamped
//! graph/{graph}/{bucket}   e source label sub_label sort 00 target            an edge (element.rs), stamped: the authority
//! graph/{graph}/{bucket}   E target label sub_label sort 00 source            the same bytes, at its other end
//! graph/{graph}/{bucket}   L label vertex                                     nothing    finds vertices by label
//! graph/{graph}/{bucket}   X index_label value.. element                      nothing    finds elements by values (index.rs)
//! graph/{graph}/{bucket}   x index_label value..                              the row of an element: a UNIQUE index; stamped
//! graph/{graph}/{bucket}   T expiry row                                       nothing    finds what expires: the row of a vertex or edge
//! graph/{graph}/{bucket}   r vertex                                           nothing    its edges are being removed; stamped
//! graph-pointers/{graph}/{bucket}   E target label sub_label sort 00 source life   nothing    points at an edge of another bucket
//! ```
//!
//! A vertex in a key is its id (`id.rs`), which ends itself; labels are four bytes, big-endian. So all edges of a vertex in one direction are one range,
//! and those of a label a part of it. Sort values are text, escaped.
//!
//! The bucket of a vertex is that of its id's bytes in keys, of those that the graph has. Edges lie in the bucket of the vertex that is first in
//! the key. Where source and target lie in different buckets, the row at the target is a *pointer*: it goes ahead of the commit of the edge, names the edge's life
//! (eight bytes), and counts only while the edge is there and is of this life. It lies in the bucket of the target; where that is a hub, in one of the buckets behind it, by the bucket of the source.

use std::borrow::Cow;

use bytes::Bytes;
use store::key::{Reader, put_escaped, put_i64, put_text, put_u32, put_u64};
use store::{Model, Partition, Range, Space, SpaceKind, Tenant, bucket_of};

use crate::id::{split_key, text_prefix_key};
use crate::{EdgeId, IndexLabelId, LabelId, VertexId, VertexIdRef};

/// Whose parts of tenants and change records these are.
pub const MODEL: Model = Model { id: 3, name: "graph" };
/// Vertices, edges, and the rows that find them.
pub const GRAPH: Space = Space { id: 64, kind: SpaceKind::Commit, name: "graph" };
/// Rows at the target of edges whose source is in another bucket.
pub const POINTERS: Space = Space { id: 66, kind: SpaceKind::Append, name: "graph-pointers" };

const VERTEX: u8 = b'v';
const OUT_EDGE: u8 = b'e';
const IN_EDGE: u8 = b'E';
const LABEL: u8 = b'L';
const REMOVAL: u8 = b'r';
const INDEX: u8 = b'X';
const UNIQUE: u8 = b'x';
const EXPIRY: u8 = b'T';

/// Which edges of a vertex.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum EdgeDirection {
    /// Those that leave it.
    Out,
    /// Those that enter it.
    In,
}

impl EdgeDirection {
    /// The other one.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
        }
    }

    fn row(self) -> u8 {
        match self {
            Self::Out => OUT_EDGE,
            Self::In => IN_EDGE,
        }
    }
}

/// A bucket of a graph.
pub fn partition(graph: &Tenant, bucket: u32) -> Partition {
    Partition { tenant: graph.clone(), space: GRAPH, bucket }
}

/// The pointers to edges whose targets are in a bucket.
pub fn pointers_partition(graph: &Tenant, bucket: u32) -> Partition {
    Partition { tenant: graph.clone(), space: POINTERS, bucket }
}

/// The bucket in which a pointer lies, at a vertex of bucket `home` from one of bucket `source`, where such pointers are spread over `width` buckets (a power of
/// two, and no more than there are).
#[inline]
pub fn bucket_of_pointer((home, source): (u32, u32), width: u32, buckets: u32) -> u32 {
    (home + (source & (width - 1))) % buckets
}

/// The buckets over which pointers at a vertex of a bucket are spread.
pub fn buckets_of_pointers(home: u32, width: u32, buckets: u32) -> impl Iterator<Item = u32> {
    (0..width).map(move |source| bucket_of_pointer((home, source), width, buckets))
}

/// The row that points at an edge of a life.
pub fn pointer(id: &EdgeId, life: u64) -> Bytes {
    let mut key = edge(id, EdgeDirection::In).to_vec();
    put_u64(&mut key, life);
    key.into()
}

/// The key of the edge in the row of a pointer, and the life.
pub fn edge_of_pointer(row: &[u8]) -> Option<(EdgeKey<'_>, u64)> {
    let (edge, life) = row.split_last_chunk()?;
    Some((EdgeKey::parse(edge)?, u64::from_be_bytes(*life)))
}

/// The bucket of a vertex, of `buckets`, by its id as a part of a key.
#[inline]
pub fn bucket_of_vertex(vertex_key: &[u8], buckets: u32) -> u32 {
    if buckets == 1 { 0 } else { bucket_of(vertex_key, buckets) }
}

/// The same by its id. Cost: with one bucket none.
#[inline]
pub fn bucket_of_id(id: &VertexId, buckets: u32) -> u32 {
    if buckets == 1 { 0 } else { bucket_of_vertex(&id.to_key(), buckets) }
}

/// The row of a vertex.
pub fn vertex(id: &VertexId) -> Bytes {
    let mut key = Vec::with_capacity(1 + id.key_bytes());
    put_vertex(&mut key, id);
    key.into()
}

/// Appends the row of a vertex.
#[inline]
pub fn put_vertex(out: &mut Vec<u8>, id: &VertexId) {
    out.push(VERTEX);
    id.put_key(out);
}

/// The row of a vertex, by its id as a part of a key.
pub fn vertex_of_key(vertex_key: &[u8]) -> Bytes {
    [&[VERTEX], vertex_key].concat().into()
}

/// The row that says that the edges of a vertex are being removed.
pub fn removal(id: &VertexId) -> Bytes {
    let mut key = vec![REMOVAL];
    id.put_key(&mut key);
    key.into()
}

/// All rows of vertices whose edges are being removed.
pub fn removals_range() -> Range {
    Range::prefix(vec![REMOVAL])
}

/// The row that finds a vertex by its label.
pub fn label(label: LabelId, id: &VertexId) -> Bytes {
    let mut key = Vec::with_capacity(1 + 4 + id.key_bytes());
    put_label(&mut key, label, id);
    key.into()
}

/// Appends the row that finds a vertex by its label.
#[inline]
pub fn put_label(out: &mut Vec<u8>, label: LabelId, id: &VertexId) {
    out.push(LABEL);
    put_u32(out, label.0);
    id.put_key(out);
}

/// The rows that find the vertices of a label.
pub fn label_range(label: LabelId) -> Range {
    let mut key = vec![LABEL];
    put_u32(&mut key, label.0);
    Range::prefix(key)
}

/// All vertices.
pub fn vertices_range() -> Range {
    Range::prefix(vec![VERTEX])
}

/// The vertices of a label whose ids are spliced of primary keys.
pub fn primary_key_range(label: LabelId) -> Range {
    let mut key = vec![VERTEX];
    key.extend(text_prefix_key(&format!("{label}:")));
    Range::prefix(key)
}

/// All edges at one of their ends.
pub fn all_edges_range(direction: EdgeDirection) -> Range {
    Range::prefix(vec![direction.row()])
}

/// All edges, at one of their ends, of vertices whose ids are spliced of the primary keys of a label.
pub fn edges_of_primary_key_range(label: LabelId, direction: EdgeDirection) -> Range {
    let mut key = vec![direction.row()];
    key.extend(text_prefix_key(&format!("{label}:")));
    Range::prefix(key)
}

/// The edges of a vertex in one direction; of one label, if one is given. The id is a part of a key.
pub fn edges_range(vertex_key: &[u8], direction: EdgeDirection, label: Option<LabelId>) -> Range {
    let mut key = Vec::with_capacity(vertex_key.len() + 5);
    put_edges_prefix(&mut key, vertex_key, direction);
    if let Some(label) = label {
        put_u32(&mut key, label.0);
    }
    Range::prefix(key)
}

/// Appends what the rows of all edges of a vertex in one direction begin with; behind it lies the label. The id is a part of a key.
#[inline]
pub fn put_edges_prefix(out: &mut Vec<u8>, vertex_key: &[u8], direction: EdgeDirection) {
    out.push(direction.row());
    out.extend_from_slice(vertex_key);
}

/// What is asked of the sort values of edges.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SortValues {
    /// They are this text.
    Whole(String),
    /// They begin with this text.
    Begin(String),
}

/// The edges of a vertex in one direction, of a label and sub label, with such sort values. The id is a part of a key.
pub fn sorted_edges_range(
    vertex_key: &[u8],
    direction: EdgeDirection,
    (label, sub_label): (LabelId, LabelId),
    sort_values: &SortValues,
) -> Range {
    let mut key = Vec::with_capacity(vertex_key.len() + 32);
    key.push(direction.row());
    key.extend_from_slice(vertex_key);
    put_u32(&mut key, label.0);
    put_u32(&mut key, sub_label.0);
    match sort_values {
        SortValues::Whole(text) => put_text(&mut key, text),
        SortValues::Begin(text) => put_escaped(&mut key, text.as_bytes()),
    }
    Range::prefix(key)
}

/// The row of an edge at one of its ends.
pub fn edge(id: &EdgeId, direction: EdgeDirection) -> Bytes {
    let bytes = 1 + id.source.key_bytes() + 4 + 4 + id.sort_values.len() + 1 + id.target.key_bytes();
    let mut key = Vec::with_capacity(bytes);
    put_edge(&mut key, id, direction);
    key.into()
}

/// Appends the row of an edge at one of its ends.
#[inline]
pub fn put_edge(key: &mut Vec<u8>, id: &EdgeId, direction: EdgeDirection) {
    let (first, last) = match direction {
        EdgeDirection::Out => (&id.source, &id.target),
        EdgeDirection::In => (&id.target, &id.source),
    };
    key.push(direction.row());
    first.put_key(key);
    put_u32(key, id.label.0);
    put_u32(key, id.sub_label.0);
    put_text(key, &id.sort_values);
    last.put_key(key);
}

/// Appends what all rows of an index begin with that find elements.
pub fn put_index_prefix(out: &mut Vec<u8>, index: IndexLabelId) {
    out.push(INDEX);
    put_u32(out, index.0);
}

/// Appends what all rows of a UNIQUE index begin with.
pub fn put_unique_prefix(out: &mut Vec<u8>, index: IndexLabelId) {
    out.push(UNIQUE);
    put_u32(out, index.0);
}

/// All rows of an index: of either kind, as two ranges.
pub fn index_ranges(index: IndexLabelId) -> [Range; 2] {
    [put_index_prefix, put_unique_prefix].map(|put| {
        let mut key = Vec::with_capacity(5);
        put(&mut key, index);
        Range::prefix(key)
    })
}

/// The values in a row that finds elements, and the element behind them.
pub fn values_of_index_row(row: &[u8]) -> Option<&[u8]> {
    row.strip_prefix(&[INDEX])?.get(4..)
}

/// The row, at its source, of the edge that is `element` in index rows.
pub fn edge_of_element(element: &[u8]) -> Bytes {
    [&[OUT_EDGE], element].concat().into()
}

/// The row that finds an element when it expires, in milliseconds since 1970.
pub fn expiry(moment: i64, element_row: &[u8]) -> Bytes {
    let mut key = Vec::with_capacity(9 + element_row.len());
    key.push(EXPIRY);
    put_i64(&mut key, moment);
    key.extend_from_slice(element_row);
    key.into()
}

/// The rows that find elements which expire by a moment.
pub fn expiries_range(until: i64) -> Range {
    let mut end = vec![EXPIRY];
    put_i64(&mut end, until.saturating_add(1));
    Range { start: vec![EXPIRY].into(), end: Some(end.into()) }
}

/// The moment and the row of an element, of a row of [`expiries_range`].
pub fn element_of_expiry(row: &[u8]) -> Option<(i64, &[u8])> {
    let mut reader = Reader::new(row.strip_prefix(&[EXPIRY])?);
    Some((reader.i64()?, reader.rest()))
}

/// The id in the row of a vertex, as a part of a key.
pub fn vertex_key_of_row(row: &[u8]) -> Option<&[u8]> {
    row.strip_prefix(&[VERTEX])
}

/// The id in a row that finds vertices by label, as a part of a key.
pub fn vertex_key_of_label_row(row: &[u8]) -> Option<&[u8]> {
    row.strip_prefix(&[LABEL])?.get(4..)
}

/// The id in a row of [`removals_range`].
pub fn vertex_of_removal(row: &[u8]) -> Option<VertexId> {
    VertexId::of_key(row.strip_prefix(&[REMOVAL])?)
}

/// The key of an edge at one of its ends, where it lies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EdgeKey<'a> {
    /// At which end.
    pub direction: EdgeDirection,
    /// The vertex at this end: its id as a part of a key.
    pub vertex: &'a [u8],
    /// Its label; of an edge with a SUB label the parent of that.
    pub label: LabelId,
    /// The label with which it was made.
    pub sub_label: LabelId,
    /// Its sort values as a part of a key, with their end.
    sort_values: &'a [u8],
    /// The vertex at the other end: its id as a part of a key.
    pub other: &'a [u8],
}

impl<'a> EdgeKey<'a> {
    /// The parts of the row of an edge. Cost: three searches for the end of a text.
    pub fn parse(row: &'a [u8]) -> Option<Self> {
        let (kind, rest) = row.split_first()?;
        let direction = match *kind {
            OUT_EDGE => EdgeDirection::Out,
            IN_EDGE => EdgeDirection::In,
            _ => return None,
        };
        let (vertex, rest) = split_key(rest)?;
        Self::parse_behind(direction, vertex, rest)
    }

    /// The same of a row of which the vertex is known: `rest` is behind it.
    #[inline]
    pub fn parse_behind(direction: EdgeDirection, vertex: &'a [u8], rest: &'a [u8]) -> Option<Self> {
        let (label, rest) = rest.split_first_chunk()?;
        let (sub_label, rest) = rest.split_first_chunk()?;
        let end = memchr::memchr(0, rest)? + 1;
        let (sort_values, other) = rest.split_at_checked(end)?;
        Some(Self {
            direction,
            vertex,
            label: LabelId(u32::from_be_bytes(*label)),
            sub_label: LabelId(u32::from_be_bytes(*sub_label)),
            sort_values,
            other,
        })
    }

    /// The text of its sort values.
    pub fn sort_values(&self) -> Option<Cow<'a, str>> {
        Reader::new(self.sort_values).text()
    }

    /// The vertex that it leaves.
    pub fn source(&self) -> Option<VertexIdRef<'a>> {
        VertexIdRef::of_key(match self.direction {
            EdgeDirection::Out => self.vertex,
            EdgeDirection::In => self.other,
        })
    }

    /// The vertex that it enters.
    pub fn target(&self) -> Option<VertexIdRef<'a>> {
        VertexIdRef::of_key(match self.direction {
            EdgeDirection::Out => self.other,
            EdgeDirection::In => self.vertex,
        })
    }

    /// The id of the edge.
    pub fn to_id(&self) -> Option<EdgeId> {
        Some(EdgeId {
            source: self.source()?.into_owned(),
            label: self.label,
            sub_label: self.sub_label,
            sort_values: self.sort_values()?.into(),
            target: self.target()?.into_owned(),
        })
    }
}
