//! Loads: rows that do not go through the log. (For now they do.)

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use store_contract::limits::check_load;
use store_contract::load::is_over;
use store_contract::{
    ChangeRecord, Commit, Condition, Epoch, Error, LoadRows, Partition, Write, WriteIds, later_wins,
};

use super::embedded::Embedded;

/// An open load.
#[derive(Debug)]
pub struct EmbeddedLoad {
    engine: Arc<Embedded>,
    partition: Partition,
    epoch: Epoch,
    rows: Mutex<Option<Vec<LoadRows>>>,
}

impl Embedded {
    /// Begins a load.
    ///
    /// # Errors
    ///
    /// `Fenced`, `TooLarge`, `Misuse`.
    pub async fn load(self: &Arc<Self>, partition: &Partition, epoch: Epoch) -> Result<EmbeddedLoad, Error> {
        check_load(partition, 0)?;
        if epoch != self.fence() {
            return Err(Condition::Fence(epoch).refusal());
        }
        let (engine, partition) = (Arc::clone(self), partition.clone());
        Ok(EmbeddedLoad { engine, partition, epoch, rows: Mutex::new(Some(Vec::new())) })
    }
}

impl EmbeddedLoad {
    /// Adds rows.
    ///
    /// # Errors
    ///
    /// `TooLarge`, `Misuse`.
    pub async fn add(&self, rows: LoadRows) -> Result<(), Error> {
        rows.check(&self.partition)?;
        self.rows.lock().as_mut().ok_or_else(is_over)?.push(rows);
        Ok(())
    }

    /// Makes all rows seen and durable.
    ///
    /// # Errors
    ///
    /// `Fenced`, `TenantRemoved`, `NoSpace`, `Unavailable`, `Unknown`.
    pub async fn finish(&self, change: Option<ChangeRecord>) -> Result<(), Error> {
        let loaded = self.rows.lock().take().ok_or_else(is_over)?;
        let ids = WriteIds::new();
        let commit = |writes, change| Commit {
            partition: self.partition.clone(),
            write_id: ids.next(),
            conditions: vec![Condition::Fence(self.epoch)],
            writes,
            change,
            reclaims: false,
        };
        for rows in loaded {
            let bytes = Bytes::copy_from_slice;
            let write = |row: store_contract::LoadRow<'_>| match row.is_stamped {
                true => Write::PutStamped(bytes(row.key), bytes(row.value)),
                false => Write::Put(bytes(row.key), bytes(row.value)),
            };
            let mut writes: Vec<Write> = rows.rows().map(write).collect();
            later_wins(&mut writes);
            self.engine.commit(commit(writes, None)).await?;
        }
        self.engine.commit(commit(Vec::new(), change)).await.map(drop)
    }
}
