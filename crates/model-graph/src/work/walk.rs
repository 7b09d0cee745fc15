//! A walk over rows of all buckets, a page at a time, that goes on where it was.

use bytes::Bytes;
use graph::schema::{PartId, SchemaKind};
use store::retry::unless_lost;
use store::rows::Pages;
use store::wire::{Malformed, Reader, put_bytes, put_varint};
use store::{Commit, Condition, Page, Partition, Range, Write};

use super::{ELEMENTS, NO_PART, Run, beginning};
use crate::Error;
use crate::write::{Moment, Moments};

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
    pub(super) step: u32,
    /// In which bucket.
    pub(super) bucket: u32,
    /// Behind which row; empty: at the first.
    pub(super) after: Bytes,
}

impl Cursor {
    pub(super) fn to_bytes(&self) -> Bytes {
        let mut out = vec![self.part.kind.code()];
        put_varint(&mut out, self.part.number.into());
        put_varint(&mut out, self.step.into());
        put_varint(&mut out, self.bucket.into());
        put_bytes(&mut out, &self.after);
        out.into()
    }

    /// One that is stored; the beginning, if there is none.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let read = || {
            let mut reader = Reader::new(bytes);
            let kind = SchemaKind::from_code(reader.byte()?).ok_or(Malformed)?;
            let part = PartId { kind, number: reader.varint_u32()? };
            let step = reader.varint_u32()?;
            let bucket = reader.varint_u32()?;
            Ok::<_, Malformed>(Self { part, step, bucket, after: Bytes::copy_from_slice(reader.bytes()?) })
        };
        // A task that begins anew does nothing wrong.
        read().unwrap_or_else(|_| beginning(NO_PART))
    }
}

/// What a walk comes to next.
pub(super) enum Step {
    /// Rows of a bucket.
    Page(Partition, Page),
    /// Nothing: that was all.
    End,
    /// More than this run may read.
    Pause,
}

impl Cursor {
    /// Moves behind a page of which all is done.
    pub(super) fn pass(&mut self, page: &Page) {
        if let Some((key, _)) = page.rows().last() {
            self.after = Bytes::copy_from_slice(key);
        }
    }
}

/// Writers that work for a run commit in its epochs.
impl Moments for Run<'_> {
    async fn moment(&self) -> Result<Moment, Error> {
        if !self.is_current() {
            return Err(Error::Contention(ELEMENTS.into()));
        }
        let (state, epochs) = (self.graph.state().await?, self.epochs.clone().into());
        Ok(Moment { schema: state.schema.clone(), hubs: state.hubs.clone(), epochs, now: self.now })
    }
}

impl Run<'_> {
    /// The next page of a range of all buckets, from the cursor on, which moves behind it by [`Cursor::pass`].
    pub(super) async fn next_page(&mut self, range: &Range, cursor: &mut Cursor) -> Result<Step, Error> {
        let store = self.graph.store();
        let page_rows = (store.limits().good_rows / ROWS_EACH).clamp(PAGE_ROWS_MIN, PAGE_ROWS_MAX);
        while let Some(partition) = self.partitions.get(cursor.bucket as usize) {
            if self.pages_left == 0 {
                return Ok(Step::Pause);
            }
            self.pages_left -= 1;
            let rest = if cursor.after.is_empty() { range.clone() } else { range.after_key(&cursor.after) };
            let page = Pages::new(store, partition, rest, page_rows).next().await?;
            if let Some(page) = page.filter(|page| !page.is_empty()) {
                return Ok(Step::Page(partition.clone(), page));
            }
            cursor.bucket += 1;
            cursor.after = Bytes::new();
        }
        Ok(Step::End)
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

    /// The same in the epoch that the run began; `None` if that is over.
    pub(super) async fn commit_in_epoch(
        &self,
        partition: &Partition,
        mut conditions: Vec<Condition>,
        writes: Vec<Write>,
    ) -> Result<Option<bool>, Error> {
        let at = usize::try_from(partition.bucket).expect("a number of 32 bits");
        let epoch = *self.epochs.get(at).expect("each bucket has an epoch");
        conditions.push(Condition::Fence(epoch));
        if self.commit(partition, conditions, writes).await? {
            return Ok(Some(true));
        }
        Ok((self.graph.store().fence(partition) == epoch).then_some(false))
    }

    /// Whether nobody has begun new epochs since the run began, as far as this process knows.
    pub(super) fn is_current(&self) -> bool {
        let store = self.graph.store();
        self.partitions.iter().zip(&self.epochs).all(|(partition, epoch)| store.fence(partition) == *epoch)
    }

    /// What became of writes in the epochs of the run ([`Moments`]); `None` if those are over.
    pub(super) fn in_epochs<T>(&self, outcome: Result<T, Error>) -> Result<Option<T>, Error> {
        match outcome {
            Err(Error::Contention(_)) if !self.is_current() => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    /// Removes ranges of all buckets; whether it did, and the epochs are not over.
    pub(super) async fn remove_ranges(&self, ranges: &[Range]) -> Result<bool, Error> {
        for partition in &self.partitions {
            let mut attempts = crate::records::BACKOFF.attempts();
            loop {
                if !attempts.next().await {
                    return Err(attempts.exhausted("the rows of a task").into());
                }
                let writes = ranges.iter().cloned().map(Write::DeleteRange).collect();
                match self.commit_in_epoch(partition, Vec::new(), writes).await? {
                    None => return Ok(false),
                    Some(true) => break,
                    Some(false) => {}
                }
            }
        }
        Ok(true)
    }
}
