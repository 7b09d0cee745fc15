//! Loads into the engine in memory: rows wait beside the engine until all of them are put at once.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use store_contract::feed::bytes_of;
use store_contract::limits::check_load;
use store_contract::load::is_over;

use super::{Memory, Recorded};
use crate::{ChangeRecord, Commit, Condition, Epoch, Error, LoadRows, Partition, Write, WriteIds};

/// An open load.
#[derive(Debug)]
pub(crate) struct MemoryLoad {
    memory: Arc<Memory>,
    partition: Partition,
    epoch: Epoch,
    /// `None` once it is over.
    rows: Mutex<Option<Vec<LoadRows>>>,
}

impl MemoryLoad {
    pub(crate) fn begin(memory: &Arc<Memory>, partition: &Partition, epoch: Epoch) -> Result<Self, Error> {
        let mut state = memory.state.write();
        state.check(partition)?;
        check_load(partition, state.loads)?;
        memory.spaces.learn(partition.space)?;
        if epoch != state.epoch(partition) {
            return Err(Condition::Fence(epoch).refusal());
        }
        state.loads += 1;
        let (memory, partition) = (Arc::clone(memory), partition.clone());
        Ok(Self { memory, partition, epoch, rows: Mutex::new(Some(Vec::new())) })
    }

    pub(crate) fn add(&self, rows: LoadRows) -> Result<(), Error> {
        rows.check(&self.partition)?;
        self.memory.state.read().check(&self.partition)?;
        self.rows.lock().as_mut().ok_or_else(is_over)?.push(rows);
        Ok(())
    }

    pub(crate) fn finish(&self, change: Option<ChangeRecord>) -> Result<(), Error> {
        let loaded = self.rows.lock().take().ok_or_else(is_over)?;
        let (memory, partition) = (&self.memory, &self.partition);
        let mut state = memory.state.write();
        state.check(partition)?;
        change.as_ref().map_or(Ok(()), |record| memory.models.learn(record.model()))?;
        if self.epoch != state.epoch(partition) {
            return Err(Condition::Fence(self.epoch).refusal());
        }
        memory.note_write(&mut state, partition);
        state.sequence += 1;
        let (number, write_id) = (state.sequence, WriteIds::new().next());
        let stamp = memory.incarnation.stamp(number);
        for row in loaded.iter().flat_map(LoadRows::rows) {
            let (key, value) = (Bytes::copy_from_slice(row.key), Bytes::copy_from_slice(row.value));
            let write = if row.is_stamped { Write::PutStamped(key, value) } else { Write::Put(key, value) };
            state.write(partition, stamp, write_id, write);
        }
        let said = Commit { change, ..Commit::of_bump(partition, Vec::new()) };
        let (bytes, at) = (bytes_of(&said) as u64, memory.options.clock.now());
        let Commit { partition, change: record, .. } = said;
        state.record(Recorded { number, partition, write_id, record, bytes, at }, memory.options.feed);
        state.commits += 1;
        Ok(())
    }
}

impl Drop for MemoryLoad {
    fn drop(&mut self) {
        self.memory.state.write().loads -= 1;
    }
}
