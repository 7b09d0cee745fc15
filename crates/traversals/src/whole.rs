//! A whole graph in memory, for algorithms that look at every edge many times: read once, as it is at one moment.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use graph::{EdgeDirection, EdgeKey, EdgeView, LabelId, Malformed, PropertyKeyId, ScalarRef, ValueRef};
use graph::{VertexId, VertexIdRef, VertexView, keys};
use graph_algorithms::{Adjacency, EdgeList};
use model_graph::Reader;
use store::Range;

use crate::numbering::Numbering;

/// Rows of a page: a page takes about a millisecond to number.
const PAGE_ROWS: usize = 4_096;
/// The bytes of all ids are counted in 32 bits; the last page may still come.
const ID_BYTES_MAX: usize = u32::MAX as usize - (64 << 20);

/// Which part of a graph is read, and into how much memory.
#[derive(Clone, Copy, Debug)]
pub struct WholeOptions<'a> {
    /// The labels of the vertices; empty: all.
    pub vertex_labels: &'a [LabelId],
    /// The text that vertices have as this property; `None`: whatever they have.
    pub having: Option<(PropertyKeyId, &'a str)>,
    /// The labels of the edges, or those of which they are SUB labels; empty: all. `None`: no edges are read.
    pub edge_labels: Option<&'a [LabelId]>,
    /// The property of edges that is their weight; an edge without it weighs 1. `None`: edges have no weights.
    pub weight: Option<PropertyKeyId>,
    /// The most bytes for ids and edges, while they are read and thereafter.
    pub memory_bytes_max: usize,
}

/// Why a graph is not read.
#[derive(Debug, thiserror::Error)]
pub enum WholeError {
    /// It takes more memory than it may.
    #[error("the graph takes more than {bytes_max} bytes of memory")]
    Memory {
        /// The most bytes.
        bytes_max: usize,
    },
    /// Too many edges, a weight that is none, or nobody wants it any more.
    #[error(transparent)]
    Algorithm(#[from] graph_algorithms::Error),
    /// It cannot be read.
    #[error(transparent)]
    Graph(#[from] model_graph::Error),
}

impl From<Malformed> for WholeError {
    fn from(malformed: Malformed) -> Self {
        Self::Graph(malformed.into())
    }
}

/// A graph in memory: its vertices numbered from 0, in the order of their ids in each bucket, and the edges between them, in the order of
/// their keys.
///
/// Cost: an id takes its bytes in keys, up to twice, and up to 56 more; an edge four, with a weight eight; while it is read, an edge up to
/// 24 more.
#[derive(Debug)]
pub struct WholeGraph {
    numbering: Numbering,
    out: Adjacency,
}

impl WholeGraph {
    /// Reads a graph. Edges of which one end is not among the vertices are left out. `go_on` hears of each page how many rows were read, and
    /// says whether to go on.
    ///
    /// Cost: a scan of all vertices, and one of all edges.
    ///
    /// # Errors
    ///
    /// If it takes more memory than it may, cannot be read, or `go_on` says no.
    pub async fn read(
        reader: &Reader,
        options: WholeOptions<'_>,
        go_on: &(dyn Fn(u64) -> bool + Sync),
    ) -> Result<Self, WholeError> {
        let mut loading = Loading {
            numbering: Numbering::default(),
            edges: EdgeList::new(u32::MAX, options.weight.is_some()),
            options,
            go_on,
            rows: 0,
        };
        for bucket in 0..reader.context().buckets {
            loading.vertices(reader, bucket).await?;
        }
        if options.edge_labels.is_some() {
            for bucket in 0..reader.context().buckets {
                loading.edges(reader, bucket).await?;
            }
        }
        let vertices =
            u32::try_from(loading.numbering.len()).expect("the bytes of ids are counted in 32 bits");
        Ok(Self { out: loading.edges.into_adjacency(vertices)?, numbering: loading.numbering })
    }

    /// A graph of the vertices of these ids, numbered in their order, and of edges between them.
    ///
    /// # Panics
    ///
    /// If an id comes twice, or the edges are of another number of vertices.
    #[must_use]
    pub fn of_parts(ids: &[VertexId], out: Adjacency) -> Self {
        let mut numbering = Numbering::default();
        ids.iter().for_each(|id| _ = numbering.number(&id.to_key()));
        assert!(numbering.len() == ids.len() && ids.len() == out.vertices() as usize, "each id is a vertex");
        Self { numbering, out }
    }

    /// The edges.
    #[must_use]
    pub fn out(&self) -> &Adjacency {
        &self.out
    }

    /// The id of a vertex.
    #[must_use]
    pub fn id(&self, vertex: u32) -> VertexIdRef<'_> {
        self.numbering.id(vertex)
    }

    /// The number of a vertex; `None` if it is not in the graph.
    #[must_use]
    pub fn vertex(&self, id: &VertexId) -> Option<u32> {
        self.numbering.find(&id.to_key())
    }

    /// Bytes of memory that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.numbering.bytes() + self.out.bytes()
    }
}

/// How many vertices each label has, in the order of labels; labels without any are left out. Cost: a scan of all vertices.
///
/// # Errors
///
/// As [`WholeGraph::read`].
pub async fn count_vertices(
    reader: &Reader,
    go_on: &(dyn Fn(u64) -> bool + Sync),
) -> Result<BTreeMap<LabelId, u64>, WholeError> {
    count(reader, keys::vertices_range(), go_on, |_, value| {
        let view = VertexView::parse(value)?;
        Ok(reader.sees_vertex(&view).then_some(view.label))
    })
    .await
}

/// How many edges each label has: of an edge with a SUB label, that one. Cost: a scan of all edges.
///
/// # Errors
///
/// As [`WholeGraph::read`].
pub async fn count_edges(
    reader: &Reader,
    go_on: &(dyn Fn(u64) -> bool + Sync),
) -> Result<BTreeMap<LabelId, u64>, WholeError> {
    count(reader, keys::all_edges_range(EdgeDirection::Out), go_on, |row, value| {
        let key = EdgeKey::parse(row).ok_or(Malformed)?;
        Ok(reader.sees_edge(&key, &EdgeView::parse(value)?).then_some(key.sub_label))
    })
    .await
}

async fn count(
    reader: &Reader,
    range: Range,
    go_on: &(dyn Fn(u64) -> bool + Sync),
    label_of: impl Fn(&[u8], &[u8]) -> Result<Option<LabelId>, Malformed>,
) -> Result<BTreeMap<LabelId, u64>, WholeError> {
    let (mut counts, mut read) = (BTreeMap::new(), 0);
    for bucket in 0..reader.context().buckets {
        let mut pages = reader.rows(bucket, range.clone(), PAGE_ROWS)?;
        while let Some(page) = pages.next().await.map_err(model_graph::Error::from)? {
            for (row, value) in page.rows() {
                if let Some(label) = label_of(row, value)? {
                    *counts.entry(label).or_default() += 1;
                }
            }
            read += page.len() as u64;
            if !go_on(read) {
                return Err(graph_algorithms::Error::Stopped.into());
            }
        }
    }
    Ok(counts)
}

struct Loading<'a> {
    numbering: Numbering,
    edges: EdgeList,
    options: WholeOptions<'a>,
    go_on: &'a (dyn Fn(u64) -> bool + Sync),
    rows: u64,
}

impl Loading<'_> {
    async fn vertices(&mut self, reader: &Reader, bucket: u32) -> Result<(), WholeError> {
        let mut pages = reader.rows(bucket, keys::vertices_range(), PAGE_ROWS)?;
        while let Some(page) = pages.next().await.map_err(model_graph::Error::from)? {
            for (row, value) in page.rows() {
                let view = VertexView::parse(value)?;
                if reader.sees_vertex(&view) && self.wants_vertex(&view)? {
                    self.numbering.number(keys::vertex_key_of_row(row).ok_or(Malformed)?);
                }
            }
            self.turn_page(page.len())?;
        }
        Ok(())
    }

    async fn edges(&mut self, reader: &Reader, bucket: u32) -> Result<(), WholeError> {
        let mut pages = reader.rows(bucket, keys::all_edges_range(EdgeDirection::Out), PAGE_ROWS)?;
        // Edges come sorted by their sources.
        let mut source_key = Vec::new();
        let mut source = None;
        while let Some(page) = pages.next().await.map_err(model_graph::Error::from)? {
            for (row, value) in page.rows() {
                let key = EdgeKey::parse(row).ok_or(Malformed)?;
                let view = EdgeView::parse(value)?;
                if !reader.sees_edge(&key, &view) || !self.wants_edge(&key) {
                    continue;
                }
                if key.vertex != source_key {
                    source_key.clear();
                    source_key.extend_from_slice(key.vertex);
                    source = self.numbering.find(key.vertex);
                }
                if let (Some(source), Some(target)) = (source, self.numbering.find(key.other)) {
                    self.edges.push(source, target, self.weight(&view)?)?;
                }
            }
            self.turn_page(page.len())?;
        }
        Ok(())
    }

    fn wants_vertex(&self, view: &VertexView<'_>) -> Result<bool, Malformed> {
        if !is_among(self.options.vertex_labels, view.label) {
            return Ok(false);
        }
        let Some((key, wanted)) = self.options.having else { return Ok(true) };
        Ok(matches!(view.properties.get(key)?, Some(ValueRef::One(ScalarRef::Text(text))) if text == wanted))
    }

    fn wants_edge(&self, key: &EdgeKey<'_>) -> bool {
        let labels = self.options.edge_labels;
        labels.is_some_and(|labels| is_among(labels, key.sub_label) || labels.contains(&key.label))
    }

    fn weight(&self, view: &EdgeView<'_>) -> Result<f32, WholeError> {
        let Some(key) = self.options.weight else { return Ok(1.0) };
        Ok(match view.properties.get(key)? {
            None => 1.0,
            Some(ValueRef::One(scalar)) => weight_of(scalar),
            // Refused when the lists are built.
            Some(ValueRef::Many(_)) => f32::NAN,
        })
    }

    fn turn_page(&mut self, rows: usize) -> Result<(), WholeError> {
        self.rows += rows as u64;
        if !(self.go_on)(self.rows) {
            return Err(graph_algorithms::Error::Stopped.into());
        }
        // What the lists will take is counted already.
        let lists = 8 * self.numbering.len() + 8 * self.edges.len() as usize;
        let ids = self.numbering.bytes();
        let bytes_max = self.options.memory_bytes_max;
        if ids > ID_BYTES_MAX || ids + self.edges.bytes() + lists > bytes_max {
            return Err(WholeError::Memory { bytes_max });
        }
        Ok(())
    }
}

fn is_among(labels: &[LabelId], label: LabelId) -> bool {
    labels.is_empty() || labels.contains(&label)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a weight has seven digits; what is beyond becomes infinite, and is refused when the lists are built"
)]
fn weight_of(scalar: ScalarRef<'_>) -> f32 {
    match scalar {
        ScalarRef::Byte(value) => value.into(),
        ScalarRef::Int(value) => value as f32,
        ScalarRef::Long(value) => value as f32,
        ScalarRef::Float(value) => value,
        ScalarRef::Double(value) => value as f32,
        ScalarRef::Object(_)
        | ScalarRef::Boolean(_)
        | ScalarRef::Text(_)
        | ScalarRef::Blob(_)
        | ScalarRef::Date(_)
        | ScalarRef::Uuid(_) => f32::NAN,
    }
}
