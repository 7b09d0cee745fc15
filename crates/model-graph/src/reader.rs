//! A graph as it was at one moment: vertices and edges by id, neighbourhoods, whole ranges. What has expired, and what is of a label that the
//! schema does not have any more, is left out.

mod pointers;
mod edges;
mod many;
mod between;
mod visible;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;
use graph::{EdgeDirection, EdgeId, EdgeKey, EdgeView, LabelId, Malformed, VertexId, VertexView, keys};
use store::rows::Pages;
use store::{Partition, Range, Snapshot, Store, Tenant, Timestamp};

pub use between::EdgesBetween;
pub use edges::{EdgePage, EdgePages, EdgeRef};
pub use many::EdgesOfMany;
pub(crate) use visible::CutRemovals;
pub use visible::VisibleLabels;

use crate::Error;
use crate::hubs::Hubs;

/// What reads of a graph need to know of it.
#[derive(Clone, Debug)]
pub struct ReaderContext {
    /// The graph, a part of a tenant.
    pub graph: Tenant,
    /// Over how many buckets its vertices are spread.
    pub buckets: u32,
    /// The labels whose elements are seen.
    pub visible: Arc<VisibleLabels>,
    /// By which elements have expired or not.
    pub now: Timestamp,
}

/// A graph at one moment; clones share it.
#[derive(Clone, Debug)]
pub struct Reader {
    context: ReaderContext,
    partitions: Arc<[Partition]>,
    /// Vertices at which pointers are spread further, if there are any.
    hubs: Option<Arc<Hubs>>,
    snapshot: Snapshot,
    now_ms: i64,
    /// Most often none.
    cut: Option<Arc<CutRemovals>>,
}

/// A vertex as it is stored.
#[derive(Clone, Debug)]
pub struct StoredVertex {
    /// Its id.
    pub id: VertexId,
    stored: Bytes,
}

/// An edge as it is stored.
#[derive(Clone, Debug)]
pub struct StoredEdge {
    /// Its id.
    pub id: EdgeId,
    stored: Bytes,
}

impl StoredVertex {
    /// What is stored of it.
    ///
    /// # Errors
    ///
    /// If the bytes are damaged.
    #[inline]
    pub fn view(&self) -> Result<VertexView<'_>, Malformed> {
        VertexView::parse(&self.stored)
    }
}

impl StoredEdge {
    /// What is stored of it.
    ///
    /// # Errors
    ///
    /// If the bytes are damaged.
    #[inline]
    pub fn view(&self) -> Result<EdgeView<'_>, Malformed> {
        EdgeView::parse(&self.stored)
    }
}

impl Reader {
    /// A graph as it is now. Cost: that of a snapshot.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub fn new(store: &Store, context: ReaderContext) -> Result<Self, Error> {
        let partitions = (0..context.buckets).map(|bucket| keys::partition(&context.graph, bucket)).collect();
        let now_ms = context.now.0.div_euclid(1_000);
        Ok(Self { snapshot: store.snapshot()?, partitions, hubs: None, now_ms, context, cut: None })
    }

    /// The same without the edges of some vertices.
    pub(crate) fn without_edges_of(self, cut: Option<Arc<CutRemovals>>) -> Self {
        Self { cut, ..self }
    }

    /// The same, where pointers at some vertices are spread further: as the state of the graph says.
    #[must_use]
    pub fn with_hubs(self, hubs: Option<Arc<Hubs>>) -> Self {
        Self { hubs, ..self }
    }

    /// What it knows of the graph.
    pub fn context(&self) -> &ReaderContext {
        &self.context
    }

    /// The vertex of this id. Cost: a look-up in the cache of hot rows, or one engine read.
    ///
    /// # Errors
    ///
    /// If the store refuses, or the bytes are damaged.
    pub async fn vertex(&self, id: &VertexId) -> Result<Option<StoredVertex>, Error> {
        let key = keys::vertex(id);
        let row = self.snapshot.get(self.partition_of(id), &key).await?;
        self.seen_vertex(id, row.map(|row| row.value))
    }

    /// The vertices of these ids, in their order. Cost: as one each; what needs the disk is read at once.
    ///
    /// # Errors
    ///
    /// If the store refuses, or the bytes are damaged.
    pub async fn vertices(&self, ids: &[VertexId]) -> Result<Vec<Option<StoredVertex>>, Error> {
        let places = ids.iter().map(|id| (self.bucket_of_id(id), keys::vertex(id))).collect();
        let values = self.values(places).await?;
        ids.iter().zip(values).map(|(id, value)| self.seen_vertex(id, value)).collect()
    }

    /// The edge of this id. Cost: a look-up in the cache of hot rows, or one engine read.
    ///
    /// # Errors
    ///
    /// If the store refuses, or the bytes are damaged.
    pub async fn edge(&self, id: &EdgeId) -> Result<Option<StoredEdge>, Error> {
        let partition = self.partition_of(&id.source);
        let row = self.snapshot.get(partition, &keys::edge(id, EdgeDirection::Out)).await?;
        self.seen_edge(id, row.map(|row| row.value))
    }

    /// The edges of these ids, in their order. Cost: as one each; what needs the disk is read at once.
    ///
    /// # Errors
    ///
    /// If the store refuses, or the bytes are damaged.
    pub async fn edges_by_id(&self, ids: &[EdgeId]) -> Result<Vec<Option<StoredEdge>>, Error> {
        let place = |id: &EdgeId| (self.bucket_of_id(&id.source), keys::edge(id, EdgeDirection::Out));
        let values = self.values(ids.iter().map(place).collect()).await?;
        ids.iter().zip(values).map(|(id, value)| self.seen_edge(id, value)).collect()
    }

    /// The edges of a vertex in one direction, in the order of their keys; of some labels, if any are given. The id of the vertex is a
    /// part of a key ([`VertexId::to_key`]). Cost: a range for each label, read page by page.
    pub fn edges<'a>(
        &'a self,
        vertex_key: &[u8],
        direction: EdgeDirection,
        labels: &[LabelId],
    ) -> EdgePages<'a> {
        EdgePages::new(self, vertex_key, direction, labels)
    }

    /// The edges of many vertices in some directions, of some labels, if any are given: read some vertices at a time
    /// ([`EdgesOfMany::read`]).
    pub fn edges_of_many<'a>(&'a self, ways: &[EdgeDirection], labels: &[LabelId]) -> EdgesOfMany<'a> {
        EdgesOfMany::new(self, ways, labels)
    }

    /// The edges from one vertex to another: of one label (of a SUB label its parent), if one is given; with these sort values, if any are.
    pub fn edges_between<'a>(
        &'a self,
        ends: (&VertexId, &VertexId),
        label: Option<LabelId>,
        sort_values: Option<&str>,
    ) -> EdgesBetween<'a> {
        EdgesBetween::new(self, ends, label, sort_values)
    }

    /// All rows of a range in one bucket, page by page.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if the graph has no such bucket.
    pub fn rows(&self, bucket: u32, range: Range, page_rows: usize) -> Result<Pages<'_>, Error> {
        let partition = usize::try_from(bucket).ok().and_then(|bucket| self.partitions.get(bucket));
        let partition = partition.ok_or_else(|| Error::NotFound(format!("bucket {bucket}").into()))?;
        Ok(Pages::new(&self.snapshot, partition, range, page_rows))
    }

    /// Whether a vertex that was read is seen.
    #[inline]
    pub fn sees_vertex(&self, view: &VertexView<'_>) -> bool {
        self.context.visible.has_vertices(view.label) && !view.is_expired(self.now_ms)
    }

    /// Whether an edge that was read is seen.
    #[inline]
    pub fn sees_edge(&self, key: &EdgeKey<'_>, view: &EdgeView<'_>) -> bool {
        self.context.visible.has_edges(key.sub_label)
            && !view.is_expired(self.now_ms)
            && self.cut.as_ref().is_none_or(|cut| !cut.has(key))
    }

    fn seen_vertex(&self, id: &VertexId, stored: Option<Bytes>) -> Result<Option<StoredVertex>, Error> {
        let Some(stored) = stored else { return Ok(None) };
        let is_seen = self.sees_vertex(&VertexView::parse(&stored)?);
        Ok(is_seen.then(|| StoredVertex { id: id.clone(), stored }))
    }

    fn seen_edge(&self, id: &EdgeId, stored: Option<Bytes>) -> Result<Option<StoredEdge>, Error> {
        let Some(stored) = stored else { return Ok(None) };
        let is_seen = self.context.visible.has_edges(id.sub_label)
            && !EdgeView::parse(&stored)?.is_expired(self.now_ms)
            && self.cut.as_ref().is_none_or(|cut| !cut.has_id(id));
        Ok(is_seen.then(|| StoredEdge { id: id.clone(), stored }))
    }

    /// The values of rows, each in a bucket, in their order.
    async fn values(&self, places: Vec<(u32, Bytes)>) -> Result<Vec<Option<Bytes>>, Error> {
        let mut values = vec![None; places.len()];
        for bucket in 0..self.context.buckets {
            let within = places.iter().enumerate().filter(|(_, (of, _))| *of == bucket);
            let (indexes, row_keys): (Vec<_>, Vec<_>) =
                within.map(|(index, (_, key))| (index, key.clone())).unzip();
            if row_keys.is_empty() {
                continue;
            }
            let rows = self.snapshot.get_many(self.partition_at(bucket), &row_keys).await?;
            for (index, row) in indexes.into_iter().zip(rows) {
                *values.get_mut(index).expect("an index of the places") = row.map(|row| row.value);
            }
        }
        Ok(values)
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    pub(crate) fn bucket_of(&self, vertex_key: &[u8]) -> u32 {
        keys::bucket_of_vertex(vertex_key, self.context.buckets)
    }

    fn bucket_of_id(&self, id: &VertexId) -> u32 {
        keys::bucket_of_id(id, self.context.buckets)
    }

    fn partition_of(&self, id: &VertexId) -> &Partition {
        self.partition_at(self.bucket_of_id(id))
    }

    pub(crate) fn partition_at(&self, bucket: u32) -> &Partition {
        let at = usize::try_from(bucket).expect("a number of 32 bits");
        self.partitions.get(at).expect("a bucket is less than the buckets")
    }
}
