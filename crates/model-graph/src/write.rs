//! Writes of elements: put, changed, removed; alone or many at once.
//!
//! Each element is an atom: it, its index rows and its other end (where that lies in the same bucket) are in one commit. The elements of a
//! request share commits, up to what the store takes well, and one sync. What is indexed or changed is read first, and written on condition
//! that it is still so; what is not is put as it is.
//!
//! Invariant: every commit names the epoch of its partition as it was before the schema was read. A change of the schema that
//! writers must know begins new epochs, so none is missed.

mod numbers;
mod row_buffer;
mod operation;
mod rows;
mod uniques;
mod marks;
mod vertices;
mod pointers;
mod edges;
mod packing;
mod commits;
mod removal;
mod pointed;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use graph::admit::Admission;
use graph::schema::{Label, Schema};
use graph::{Edge, LabelId, PropertiesRef, Vertex, VertexId};
use store::retry::RetryBackoff;
use store::{Epoch, Partition, Store, Tenant, Timestamp, WriteIds};

use self::marks::Marks;
use self::numbers::Numbers;
pub use self::operation::{
    Change, CheckVertices, EdgeOperation, EndLabels, Strategies, VertexOperation, Written,
};
use crate::Error;
use crate::hubs::Hubs;

/// How often a write starts again because another came first.
const BACKOFF: RetryBackoff = RetryBackoff::waiting(64, 4, std::time::Duration::from_millis(20));
/// What is written, for errors.
const ELEMENTS: &str = "the same elements";

/// Where the elements of one graph are written; what all writes of it share.
#[derive(Debug)]
pub struct Writer {
    store: Store,
    graph: Tenant,
    partitions: Box<[Partition]>,
    write_ids: WriteIds,
    numbers: Numbers,
    marks: Marks,
}

/// A schema, and the epochs of all buckets before it was read.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The schema.
    pub schema: Arc<Schema>,
    /// Vertices at which pointers are spread further, if there are any.
    pub hubs: Option<Arc<Hubs>>,
    /// The epoch of each bucket.
    pub epochs: Box<[Epoch]>,
    /// Now.
    pub now: Timestamp,
}

/// Who knows the schema as it is.
pub trait Moments: Sync {
    /// The schema as it is, and the epochs as they were before ([`Writer::epochs`]). Cost: as a rule a look-up.
    fn moment(&self) -> impl Future<Output = Result<Moment, Error>> + Send;
}

impl Writer {
    /// A writer of a graph whose vertices are spread over so many buckets.
    pub fn new(store: Store, graph: Tenant, buckets: u32) -> Self {
        let partitions = (0..buckets).map(|bucket| graph::keys::partition(&graph, bucket)).collect();
        let write_ids = WriteIds::new();
        Self { store, graph, partitions, write_ids, numbers: Numbers::default(), marks: Marks::new() }
    }

    /// The epochs of all buckets: to be read before the schema. Cost: a load each.
    pub fn epochs(&self) -> Box<[Epoch]> {
        self.partitions.iter().map(|partition| self.store.fence(partition)).collect()
    }

    /// A number that no vertex of this graph has, most likely: those in use are refused when it is written.
    pub fn next_number(&self, now: Timestamp) -> i64 {
        self.numbers.next(now)
    }

    /// Carries out operations on vertices, all or none as far as they fit in one commit, each whole in any case. Answers with what became of
    /// each. `moments` are asked for the schema, again after each lost race.
    ///
    /// Cost: one commit; before it a read of each vertex that is indexed, expires, aggregates or is changed.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchVertex`], [`Error::NotNullable`], [`Error::NotUnique`], [`Error::Admit`], [`Error::Update`], [`Error::LabelRemoved`];
    /// [`Error::Contention`]; if the store refuses.
    pub async fn write_vertices(
        &self,
        operations: Vec<VertexOperation>,
        moments: &impl Moments,
    ) -> Result<Vec<Written<Vertex>>, Error> {
        self.write(operations, CheckVertices::No, moments).await
    }

    /// The same of edges; with [`CheckVertices::Yes`] only between vertices that are there.
    ///
    /// # Errors
    ///
    /// As [`Writer::write_vertices`]; [`Error::NoSuchEdge`], [`Error::OtherLabel`].
    pub async fn write_edges(
        &self,
        operations: Vec<EdgeOperation>,
        check: CheckVertices,
        moments: &impl Moments,
    ) -> Result<Vec<Written<Edge>>, Error> {
        self.write(operations, check, moments).await
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    fn buckets(&self) -> u32 {
        u32::try_from(self.partitions.len()).expect("buckets are numbered in 32 bits")
    }

    #[inline]
    fn bucket_of(&self, id: &VertexId) -> u32 {
        graph::keys::bucket_of_id(id, self.buckets())
    }

    /// Where a vertex lies, and the edges that leave it.
    #[inline]
    pub(crate) fn partition_of(&self, id: &VertexId) -> &Partition {
        self.partition(self.bucket_of(id))
    }

    fn partition(&self, bucket: u32) -> &Partition {
        let at = usize::try_from(bucket).expect("a number of 32 bits");
        self.partitions.get(at).expect("a bucket is less than the buckets")
    }
}

impl Moment {
    fn epoch(&self, bucket: u32) -> Epoch {
        let at = usize::try_from(bucket).expect("a number of 32 bits");
        *self.epochs.get(at).expect("each bucket has an epoch")
    }

    /// Over how many buckets pointers at a vertex are spread.
    fn width_of(&self, id: &VertexId) -> u32 {
        Hubs::width_of(self.hubs.as_ref(), id)
    }

    /// What elements are admitted by.
    fn admission(&self) -> Admission<'_> {
        Admission { schema: &self.schema, now_ms: self.now_ms(), takes_ids: false }
    }

    fn now_ms(&self) -> i64 {
        self.now.0.div_euclid(1_000)
    }

    /// When an element expires by what its properties have become: `given` stays, unless its label counts from a date among them.
    fn expiry(
        &self,
        label: Option<&Label>,
        properties: PropertiesRef<'_>,
        given: Option<i64>,
    ) -> Result<Option<i64>, Error> {
        match label.filter(|label| label.ttl_start_time.is_some()) {
            None => Ok(given),
            Some(label) => Ok(self.admission().expires(label, properties)?),
        }
    }

    /// Whether a stored vertex of this label and expiry is one still.
    fn sees_vertex(&self, label: LabelId, expires: Option<i64>) -> bool {
        self.goes_on(expires) && self.schema.vertex_label(label).is_some()
    }

    /// Whether a stored edge is one still.
    fn sees_edge(&self, edge: &Edge) -> bool {
        self.goes_on(edge.expires) && self.schema.edge_label(edge.id.sub_label).is_some()
    }

    fn goes_on(&self, expires: Option<i64>) -> bool {
        expires.is_none_or(|moment| moment > self.now_ms())
    }
}
