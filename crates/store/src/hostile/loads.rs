//! Loads into a hostile engine: each piece of the rows is a commit of its own, seen before the load is finished; whoever loads
//! may come no further.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use store_contract::limits::check_load;
use store_contract::load::is_over;

use super::Hostile;
use crate::{
    ChangeRecord, Commit, Condition, Epoch, Error, ErrorKind, Limits, LoadRow, LoadRows, Outcome, Partition,
    Write, WriteIds, later_wins,
};

/// A loader dies this much seldomer than others, for each piece.
const DEATHS_PART: u64 = 8;

/// An open load.
#[derive(Debug)]
pub(crate) struct HostileLoad {
    hostile: Arc<Hostile>,
    partition: Partition,
    epoch: Epoch,
    ids: WriteIds,
    is_over: AtomicBool,
}

impl HostileLoad {
    pub(crate) fn begin(hostile: &Arc<Hostile>, partition: &Partition, epoch: Epoch) -> Result<Self, Error> {
        // Each process counts its own, and this one has none open: it keeps no rows.
        check_load(partition, 0)?;
        hostile.world.memory.check_open()?;
        let (hostile, partition) = (Arc::clone(hostile), partition.clone());
        Ok(Self { hostile, partition, epoch, ids: WriteIds::new(), is_over: AtomicBool::new(false) })
    }

    pub(crate) async fn add(&self, rows: LoadRows) -> Result<(), Error> {
        rows.check(&self.partition)?;
        if self.is_over.load(Ordering::Acquire) {
            return Err(is_over());
        }
        let Limits { commit_rows, commit_bytes, .. } = Limits::PORTABLE;
        let (mut piece, mut bytes) = (Vec::new(), 0);
        for row in rows.rows() {
            let more = row.key.len() + row.value.len();
            // One is left for the epoch.
            if piece.len() + 1 >= commit_rows || (bytes + more > commit_bytes && !piece.is_empty()) {
                self.put(std::mem::take(&mut piece), None).await?;
                bytes = 0;
            }
            piece.push(write_of(row));
            bytes += more;
        }
        if piece.is_empty() { Ok(()) } else { self.put(piece, None).await }
    }

    pub(crate) async fn finish(&self, change: Option<ChangeRecord>) -> Result<(), Error> {
        if self.is_over.swap(true, Ordering::AcqRel) {
            return Err(is_over());
        }
        self.put(Vec::new(), change).await
    }

    /// Commits a piece, again and again until it is known to be there.
    async fn put(&self, mut writes: Vec<Write>, change: Option<ChangeRecord>) -> Result<(), Error> {
        later_wins(&mut writes);
        if self.hostile.world.roll(self.hostile.world.options.late / DEATHS_PART) {
            self.is_over.store(true, Ordering::Release);
            return Err(Error::new(ErrorKind::Unknown, "load: whoever loaded came no further"));
        }
        let outcome = loop {
            let write_id = self.ids.next();
            self.hostile.pause().await;
            let commit = Commit {
                partition: self.partition.clone(),
                write_id,
                conditions: vec![Condition::Fence(self.epoch)],
                writes: writes.clone(),
                change: change.clone(),
                reclaims: false,
            };
            match self.hostile.commit(commit) {
                Err(error) if error.kind() == ErrorKind::Unknown => {
                    match self.hostile.resolve(&self.partition, write_id, error.ticket()) {
                        Ok(Outcome::Committed(_)) => break Ok(()),
                        Ok(Outcome::NotCommitted) => {}
                        Err(_) => break Err(error),
                    }
                }
                outcome => break outcome.map(drop),
            }
        };
        if outcome.is_err() {
            self.is_over.store(true, Ordering::Release);
        }
        outcome
    }
}

fn write_of(row: LoadRow<'_>) -> Write {
    let (key, value) = (Bytes::copy_from_slice(row.key), Bytes::copy_from_slice(row.value));
    if row.is_stamped { Write::PutStamped(key, value) } else { Write::Put(key, value) }
}
