//! Sweeping the rows that point at edges of other buckets: those without their edge go. Nobody sees them, and nothing names them: whoever
//! wrote one ended before its edge was there, or before it was gone.

use bytes::Bytes;
use store::Write;

use super::walk::Cursor;
use super::{NO_PART, beginning};
use crate::handle::Graph;
use crate::records::Pending;
use crate::{Error, keys};

impl Graph {
    /// Looks at the next rows that point at edges of other buckets, about so many, and removes those without their edge; tells how many. It
    /// goes on where the last one ended, in this process or another, and ends at the last row. For a job. Cost: nothing in a graph of one bucket;
    /// else a scan for each bucket and each page, and a look-up for each row; a new epoch of a bucket where some go.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn sweep_pointers(&self, rows_max: usize) -> Result<usize, Error> {
        if self.buckets() == 1 {
            return Ok(0);
        }
        let (records, key) = (self.state_store().records(), keys::pointer_sweep());
        let row = records.get(&key).await?;
        let begun = Cursor::read(row.as_ref().map_or(&[][..], |row| &row.value));
        let (mut cursor, mut looked_at, mut removed) = (begun.clone(), 0, 0);
        while looked_at < rows_max {
            if cursor.bucket >= self.buckets() {
                // One that begins here and ends here has nothing to note.
                cursor = beginning(NO_PART);
                break;
            }
            let page = self.writer().sweep_pointers(cursor.bucket, &cursor.after).await?;
            looked_at += page.rows + 1;
            removed += page.removed;
            match page.last {
                Some(last) => cursor.after = last,
                None => cursor = Cursor { bucket: cursor.bucket + 1, after: Bytes::new(), ..cursor },
            }
        }
        if cursor != begun {
            let writes = vec![Write::PutStamped(key, cursor.to_bytes())];
            // Where another came first, both have done something.
            records.commit(Pending { writes, ..Pending::default() }).await?;
        }
        Ok(removed)
    }
}
