//! Removing elements that have expired: nobody sees them any more.

use bytes::Bytes;
use graph::{EdgeId, EdgeKey, EdgeView, VertexId, VertexView, keys};
use store::retry::unless_lost;
use store::rows::Pages;
use store::{Commit, Condition, Page, Partition, Row, Timestamp, Write, WriteIds};

use crate::Error;
use crate::handle::Graph;
use crate::records::damaged;
use crate::write::{CheckVertices, EdgeOperation};

/// Rows that are looked at and removed together.
const PAGE_ROWS: usize = 500;

/// What a page of expiries comes to.
#[derive(Default)]
struct Expired {
    vertices: Vec<VertexId>,
    edges: Vec<EdgeOperation>,
    /// Expiries of what is gone, or expires at another moment, and what must still hold of it.
    stale: Vec<(Bytes, Condition)>,
}

impl Graph {
    /// Removes vertices, with their edges, and edges that have expired, about as many as `elements_max`; tells how many. For a job: what
    /// is left goes the next time. Cost: a scan, if there are none.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn remove_expired(&self, now: Timestamp, elements_max: usize) -> Result<usize, Error> {
        let (mut removed, write_ids) = (0, WriteIds::new());
        for bucket in 0..self.buckets() {
            let partition = keys::partition(self.part(), bucket);
            let range = keys::expiries_range(now.0.div_euclid(1_000));
            let mut pages = Pages::new(self.store(), &partition, range, PAGE_ROWS);
            while removed < elements_max
                && let Some(page) = pages.next().await?
            {
                let Expired { vertices, edges, stale } = self.expired_of(&partition, &page).await?;
                removed += vertices.len() + edges.len();
                if !edges.is_empty() {
                    self.write_edges(edges, CheckVertices::No, now).await?;
                }
                self.remove_unseen_vertices(&vertices, now).await?;
                let (writes, conditions) =
                    stale.into_iter().map(|(key, so)| (Write::Delete(key), so)).unzip();
                self.remove_stale(&partition, (writes, conditions), &write_ids).await?;
            }
        }
        Ok(removed)
    }

    async fn expired_of(&self, partition: &Partition, page: &Page) -> Result<Expired, Error> {
        let expiries = page.rows().map(|(key, _)| {
            let (moment, element) =
                keys::element_of_expiry(key).ok_or_else(|| damaged("the row of an expiry"))?;
            Ok((Bytes::copy_from_slice(key), moment, Bytes::copy_from_slice(element)))
        });
        let expiries: Vec<(Bytes, i64, Bytes)> = expiries.collect::<Result<_, Error>>()?;
        let elements: Vec<Bytes> = expiries.iter().map(|(.., element)| element.clone()).collect();
        let rows = self.store().get_many_linear(partition, &elements).await?;
        let mut expired = Expired::default();
        for ((key, moment, element), row) in expiries.into_iter().zip(rows) {
            let condition = match &row {
                None => Condition::Absent(element.clone()),
                Some(row) => Condition::Version(element.clone(), row.stamp),
            };
            match Element::of(&element, row.as_ref(), moment) {
                Some(Element::Vertex(id)) => expired.vertices.push(id),
                Some(Element::Edge(id)) => expired.edges.push(EdgeOperation::RemoveUnseen(id)),
                None => expired.stale.push((key, condition)),
            }
        }
        Ok(expired)
    }

    /// Removes expiries that lead to nothing; where another writer comes first, they go the next time.
    async fn remove_stale(
        &self,
        partition: &Partition,
        (writes, conditions): (Vec<Write>, Vec<Condition>),
        write_ids: &WriteIds,
    ) -> Result<(), Error> {
        if writes.is_empty() {
            return Ok(());
        }
        let partition = partition.clone();
        let commit = Commit {
            partition,
            write_id: write_ids.next(),
            conditions,
            writes,
            change: None,
            reclaims: true,
        };
        unless_lost(self.store().commit_known(commit).await)?;
        Ok(())
    }
}

/// An element that expires at the moment that its row of expiry says.
enum Element {
    Vertex(VertexId),
    Edge(EdgeId),
}

impl Element {
    fn of(key: &[u8], row: Option<&Row>, moment: i64) -> Option<Self> {
        let stored = &row?.value;
        if let Some(vertex_key) = keys::vertex_key_of_row(key) {
            VertexView::parse(stored).ok().filter(|vertex| vertex.expires == Some(moment))?;
            return VertexId::of_key(vertex_key).map(Self::Vertex);
        }
        EdgeView::parse(stored).ok().filter(|edge| edge.expires == Some(moment))?;
        EdgeKey::parse(key)?.to_id().map(Self::Edge)
    }
}
