//! Loads: very many rows of one partition at once.

use super::{Engine, Store};
use crate::hostile::HostileLoad;
use crate::memory::MemoryLoad;
use crate::{Epoch, Error, Load, Partition};

impl Store {
    /// Begins to load rows into a partition of a commit space: for hundreds of thousands and millions of rows, of which each
    /// costs a fraction of what it costs in a commit. They are added in any order ([`Load::add`]), by many tasks, and counted on once
    /// [`Load::finish`] returns.
    ///
    /// What is promised on every engine:
    /// - Each row is put as by a commit without conditions, at some moment between its add and the end of the finish. What was
    ///   committed under its key before is overwritten, what is committed later overwrites it. So a commit beside is never undone
    ///   in part; but nothing says which comes first, so a key that others write is not for loads.
    /// - Of rows with one key that is added last counts: later in one call, or in a call that began after the other had returned.
    /// - Stamped rows carry stamp and write id as of a commit of their own: conditions can name their versions from then on.
    /// - The load is of an epoch of its partition, seen before what the rows follow from was read: once that is over, nothing more
    ///   of it is written, and it is refused.
    /// - When it is finished, all is durable and seen by whoever reads from then on, and the feed tells the change that finish is
    ///   given, once, of the partition; rows and pieces it does not tell.
    /// - A load that was refused, or whose process died, can be repeated from its beginning by another, with the same rows.
    ///
    /// Where a store belongs to one process (embedded, memory) all rows are put at one moment, that of the finish: readers see
    /// all or none, a snapshot what was there when it was taken, and neither an error nor a crash leaves a part. (An error whose kind is
    /// `Unknown` or `NoSpace`, and a crash amid the finish, leave none or all.) Only a new epoch of this very partition ends the load. Elsewhere rows
    /// are seen piece by piece, and stay if the load is not finished.
    ///
    /// Rows wait in memory (on the embedded engine up to `EmbeddedOptions::load_bytes` for each load), then in the folder of the store, where they take twice
    /// their bytes until it is finished. On a nearly full disk none are taken. Cached rows of the partition between the first
    /// and the last key are forgotten, as are the counts of ranges that are passed over.
    ///
    /// # Errors
    ///
    /// `Fenced` if the epoch is over, `TenantRemoved`, `TooLarge` if [`LOADS_MAX`](store_contract::limits::LOADS_MAX) loads are open, `Misuse`,
    /// `NoSpace`, `Unavailable`.
    pub async fn load(&self, partition: &Partition, epoch: Epoch) -> Result<Load, Error> {
        partition.tenant.check()?;
        match &self.engine {
            Engine::Memory(memory) => MemoryLoad::begin(memory, partition, epoch).map(Load::from),
            Engine::Embedded(embedded) => embedded.load(partition, epoch).await.map(Load::from),
            Engine::Hostile(hostile) => HostileLoad::begin(hostile, partition, epoch).map(Load::from),
        }
    }
}
