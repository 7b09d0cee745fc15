//! A walk over rows of all buckets, a page at a time, that goes on where it was.

use bytes::Bytes;
use graph::schema::{PartId, SchemaKind};
use store::retry::unless_lost;
use store::rows::Pages;
use store::wire::{Malformed, Reader, put_bytes, put_varint};
use store::{Commit, Condition, Page, Partition, Range, Write};

use super::{NO_PART, Run, beginning};
use crate::Error;

/// The most rows of a page: what is committed for one is within what a commit takes well.
const PAGE_ROWS_MAX: usize = 1_000;
/// A page of so many rows is not too small to be worth while.
const PAGE_ROWS_MIN: usize = 16;
/// Rows of a commit for each row of a page.
const ROWS_EACH: usize = 4;

/// Where a walk goes on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Cursor {
    /// Of which part.
    pub(super) part: PartId,
    /// In which step of it.
    pub(super) step: u8,
    /// In which bucket.
    pub(super) bucket: u32,
    /// Behind which row; empty: at the first.
    pub(super) after: Bytes,
}

impl Cursor {
    pub(super) fn to_bytes(&self) -> Bytes {
        let mut out = vec![self.part.kind.code(), self.step];
        put_varint(&mut out, self.part.number.into());
        put_varint(&mut out, self.bucket.into());
        put_bytes(&mut out, &self.after);
        out.into()
    }

    /// One that is stored; the beginning, if there is none.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let read = || {
            let mut reader = Reader::new(bytes);
            let kind = SchemaKind::from_code(reader.byte()?).ok_or(Malformed)?;
            let step = reader.byte()?;
            let part = PartId { kind, number: reader.varint_u32()? };
            let bucket = reader.varint_u32()?;
            Ok::<_, Malformed>(Self { part, step, bucket, after: Bytes::copy_from_slice(reader.bytes()?) })
        };
        // A task that begins anew does nothing wrong.
        read().unwrap_or_else(|_| beginning(NO_PART))
    }
}

impl Run<'_> {
    /// Shows all rows of a range in all buckets to `visit`, from the cursor on, and moves it; whether that was all. A page is shown again, if `visit`
    /// says that it is to be.
    pub(super) async fn walk(
        &mut self,
        range: &Range,
        cursor: &mut Cursor,
        visit: impl AsyncFn(&Run<'_>, &Partition, &Page) -> Result<Option<u64>, Error>,
    ) -> Result<bool, Error> {
        let page_rows =
            (self.graph.store().limits().good_rows / ROWS_EACH).clamp(PAGE_ROWS_MIN, PAGE_ROWS_MAX);
        for partition in self.partitions.clone().iter().skip(cursor.bucket as usize) {
            let rest = if cursor.after.is_empty() { range.clone() } else { range.after_key(&cursor.after) };
            let mut pages = Pages::new(self.graph.store(), partition, rest, page_rows);
            while let Some(page) = pages.next().await? {
                if self.pages_left == 0 {
                    return Ok(false);
                }
                self.pages_left -= 1;
                self.visit(partition, &page, &visit).await?;
                if let Some((key, _)) = page.rows().last() {
                    cursor.after = Bytes::copy_from_slice(key);
                }
            }
            cursor.bucket += 1;
            cursor.after = Bytes::new();
        }
        Ok(true)
    }

    /// Shows a page until no other writer was first.
    async fn visit(
        &mut self,
        partition: &Partition,
        page: &Page,
        visit: &impl AsyncFn(&Run<'_>, &Partition, &Page) -> Result<Option<u64>, Error>,
    ) -> Result<(), Error> {
        let mut attempts = crate::records::BACKOFF.attempts();
        while attempts.next().await {
            if let Some(done) = visit(self, partition, page).await? {
                self.done += done;
                return Ok(());
            }
        }
        Err(attempts.exhausted("the elements of a task").into())
    }

    /// Writes to a bucket; `false` if another writer came first. Nothing costs nothing.
    pub(super) async fn commit(
        &self,
        partition: &Partition,
        conditions: Vec<Condition>,
        writes: Vec<Write>,
    ) -> Result<bool, Error> {
        if writes.is_empty() {
            return Ok(true);
        }
        let commit = Commit {
            partition: partition.clone(),
            write_id: self.write_ids.next(),
            conditions,
            reclaims: writes.iter().all(|write| matches!(write, Write::Delete(_) | Write::DeleteRange(_))),
            writes,
            change: None,
        };
        Ok(unless_lost(self.graph.store().commit_known(commit).await)?.is_some())
    }

    /// Removes ranges of all buckets.
    pub(super) async fn remove_ranges(&self, ranges: &[Range]) -> Result<(), Error> {
        for partition in &self.partitions {
            let mut attempts = crate::records::BACKOFF.attempts();
            loop {
                if !attempts.next().await {
                    return Err(attempts.exhausted("the rows of a task").into());
                }
                let writes = ranges.iter().cloned().map(Write::DeleteRange).collect();
                if self.commit(partition, Vec::new(), writes).await? {
                    break;
                }
            }
        }
        Ok(())
    }
}
