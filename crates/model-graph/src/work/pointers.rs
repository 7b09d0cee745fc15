//! Sweeping the rows that point at edges of other buckets: those without their edge go, and where too many point at one vertex those that follow are
//! spread further.
//!
//! Nobody sees a pointer without its edge, and nothing names it: whoever wrote it ended before its edge was there, or before it was gone.

use bytes::Bytes;
use graph::keys::bucket_of_vertex;
use store::Write;

use super::walk::Cursor;
use super::{NO_PART, beginning};
use crate::handle::Graph;
use crate::hubs::Hubs;
use crate::records::{Pending, damaged};
use crate::{Error, keys};

/// What a sweep of pointers looks at, and where it finds too many.
#[derive(Clone, Copy, Debug)]
pub struct PointerSweep {
    /// Pointers that are looked at, about.
    pub rows_max: usize,
    /// Of so many pointers at one vertex in one bucket those that follow are spread over twice as many buckets.
    pub hub_rows: u32,
    /// Or of so many bytes.
    pub hub_bytes: usize,
}

/// Pointers at one vertex in one bucket, one after the other.
#[derive(Default)]
struct Run {
    vertex_key: Vec<u8>,
    rows: u32,
}

impl Run {
    /// The one that goes on behind a row, if there is one: so many of it were counted.
    fn behind(row: &Bytes, rows: u32) -> Result<Self, Error> {
        if row.is_empty() {
            return Ok(Self::default());
        }
        Ok(Self { vertex_key: vertex_key(row)?.to_vec(), rows })
    }

    /// Counts a row.
    fn pass(&mut self, row: &Bytes) -> Result<(), Error> {
        let vertex_key = vertex_key(row)?;
        if self.vertex_key != vertex_key {
            *self = Self { vertex_key: vertex_key.to_vec(), rows: 0 };
        }
        self.rows = self.rows.saturating_add(1);
        Ok(())
    }
}

/// The vertex that a pointer lies at.
fn vertex_key(row: &Bytes) -> Result<&[u8], Error> {
    let pointer = graph::keys::edge_of_pointer(row).ok_or_else(|| damaged("a pointer"))?;
    Ok(pointer.0.vertex)
}

impl Graph {
    /// Looks at the next rows that point at edges of other buckets, and removes those without their edge; tells how many. It goes on where the last one ended, in
    /// this process or another, and ends at the last row. For a job. Cost: nothing in a graph of one bucket; else a scan for each bucket and each page, and
    /// a look-up for each row; a new epoch of a bucket where some go, and a change of the graph's state where a vertex becomes a hub.
    ///
    /// # Errors
    ///
    /// If the store refuses, or what it has is damaged.
    pub async fn sweep_pointers(&self, sweep: PointerSweep) -> Result<usize, Error> {
        if self.buckets() == 1 {
            return Ok(0);
        }
        let (records, key) = (self.state_store().records(), keys::pointer_sweep());
        let row = records.get(&key).await?;
        let begun = Cursor::read(row.as_ref().map_or(&[][..], |row| &row.value));
        let (mut cursor, mut looked_at, mut removed) = (begun.clone(), 0, 0);
        while looked_at < sweep.rows_max {
            if cursor.bucket >= self.buckets() {
                // One that begins here and ends here has nothing to note.
                cursor = beginning(NO_PART);
                break;
            }
            let page = self.writer().sweep_pointers(cursor.bucket, &cursor.after).await?;
            looked_at += page.rows.len() + 1;
            removed += page.removed;
            let rows = self.widen_hubs(&cursor, &page.rows, sweep).await?;
            cursor = match page.last {
                Some(after) => Cursor { step: rows, after, ..cursor },
                None => Cursor { step: 0, bucket: cursor.bucket + 1, after: Bytes::new(), ..cursor },
            };
        }
        if cursor != begun {
            let writes = vec![Write::PutStamped(key, cursor.to_bytes())];
            // Where another came first, both have done something.
            records.commit(Pending { writes, ..Pending::default() }).await?;
        }
        Ok(removed)
    }

    /// Counts the rows at each vertex of a page, and spreads those further of which there are too many; how many there are of the last one.
    async fn widen_hubs(&self, cursor: &Cursor, rows: &[Bytes], sweep: PointerSweep) -> Result<u32, Error> {
        let mut run = Run::behind(&cursor.after, cursor.step)?;
        let mut widened = Vec::new();
        for row in rows {
            run.pass(row)?;
            let is_large = run.rows >= sweep.hub_rows || run.rows as usize * row.len() >= sweep.hub_bytes;
            if is_large && widened != run.vertex_key {
                widened.clone_from(&run.vertex_key);
                self.widen_hub(&run.vertex_key, cursor.bucket).await?;
            }
        }
        Ok(run.rows)
    }

    /// Spreads pointers at a vertex further that has too many in a bucket: if it is one of those to which its pointers were spread last. Others have rows of before, and
    /// get the fewer.
    async fn widen_hub(&self, vertex_key: &[u8], bucket: u32) -> Result<(), Error> {
        let (state, buckets) = (self.state().await?, self.buckets());
        let width = Hubs::width(state.hubs.as_ref(), vertex_key);
        let home = bucket_of_vertex(vertex_key, buckets);
        let place = graph::keys::buckets_of_pointers(home, width, buckets).position(|it| it == bucket);
        if place.is_some_and(|place| place >= width as usize / 2) {
            self.state_store().widen_hub(vertex_key, width, buckets).await?;
        }
        Ok(())
    }
}
