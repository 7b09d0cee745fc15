//! The handle that models hold: one type, whatever the engine.

mod outcomes;
mod appends;
mod loads;
mod reads;
mod feed;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use store_contract::lives::Lives;
use store_embedded::{Embedded, EmbeddedOptions};

use crate::hostile::{Hostile, HostileOptions};
use crate::memory::{Memory, MemoryOptions};
use crate::{Commit, Error, ErrorKind, Lease, Limits, Stamp, Statistics, Timestamp};

/// A store; clones share it.
#[derive(Clone, Debug)]
pub struct Store {
    engine: Engine,
    /// The tenants that this process knows.
    lives: Arc<Lives>,
}

#[derive(Clone, Debug)]
enum Engine {
    Memory(Arc<Memory>),
    Embedded(Arc<Embedded>),
    Hostile(Arc<Hostile>),
}

impl From<Engine> for Store {
    fn from(engine: Engine) -> Self {
        let lives = match &engine {
            Engine::Embedded(embedded) => Arc::clone(embedded.lives()),
            Engine::Memory(_) | Engine::Hostile(_) => Arc::new(Lives::new()),
        };
        Self { engine, lives }
    }
}

impl Store {
    /// A store that lives in this process's memory and ends with it.
    pub fn memory(options: MemoryOptions) -> Self {
        Engine::Memory(Arc::new(Memory::new(options))).into()
    }

    /// The same store as an engine would be that keeps nothing of what was, for tests of models: its snapshots are
    /// validated, so reads of several pages end with `Changed` if their partition was written meanwhile.
    pub fn validated_memory(options: MemoryOptions) -> Self {
        Engine::Memory(Arc::new(Memory::new(options).validating())).into()
    }

    /// A store in memory that behaves as the worst engine that the contract allows, for tests of models.
    pub fn hostile(options: HostileOptions) -> Self {
        Engine::Hostile(Arc::new(Hostile::new(options))).into()
    }

    /// A handle of the same store as another process would have it, which knows nothing of what this one has read. Where a store
    /// belongs to one process, a clone.
    #[must_use]
    pub fn beside(&self) -> Self {
        match &self.engine {
            Engine::Memory(_) | Engine::Embedded(_) => self.clone(),
            Engine::Hostile(hostile) => Engine::Hostile(Arc::new(hostile.beside())).into(),
        }
    }

    /// Whether [`Store::get`] and its kin may tell what another process has overwritten by now. If not, a linear read tells
    /// nothing that they do not.
    pub fn may_lag(&self) -> bool {
        matches!(self.engine, Engine::Hostile(_))
    }

    /// The store in `folder`, which is created if it is absent or empty. Blocks; costs the reading of
    /// the log that was not yet flushed, at most some seconds after a kill.
    ///
    /// # Errors
    ///
    /// `Locked` if another process serves the folder; `Corrupt` if it is damaged, of another format,
    /// or not a store; `Misuse` if it is a file; `Unavailable` with what the file system said.
    pub fn open(folder: &Path, options: EmbeddedOptions) -> Result<Self, Error> {
        Ok(Engine::Embedded(Arc::new(Embedded::open(folder, options)?)).into())
    }

    /// The tenants that this process knows.
    pub(crate) fn lives(&self) -> &Lives {
        &self.lives
    }

    /// The time by the clock of the store.
    pub(crate) fn now(&self) -> Timestamp {
        match &self.engine {
            Engine::Memory(memory) => memory.now(),
            Engine::Embedded(embedded) => embedded.now(),
            Engine::Hostile(hostile) => hostile.memory().now(),
        }
    }

    /// From now on nothing is committed, appended or read of a tenant, of which the directory says that it was removed.
    pub(crate) fn end_tenant(&self, number: u32) {
        self.lives.end(number);
        match &self.engine {
            Engine::Memory(memory) => memory.end_tenant(number),
            Engine::Embedded(_) => {}
            Engine::Hostile(hostile) => hostile.memory().end_tenant(number),
        }
    }

    /// Removes rows of a tenant that has ended, in all its partitions of all spaces: all, or a piece of them. True if there may be
    /// more. Cost: on the embedded engine that of one range.
    ///
    /// # Errors
    ///
    /// `Unavailable`.
    pub(crate) async fn erase_tenant(&self, number: u32) -> Result<bool, Error> {
        match &self.engine {
            Engine::Memory(memory) => memory.erase_tenant(number),
            Engine::Embedded(embedded) => embedded.erase(number).await.map(|()| false),
            Engine::Hostile(hostile) => hostile.memory().erase_tenant(number),
        }
    }

    /// How many rows lie under the number of a tenant, in all partitions of all spaces.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn count_tenant_rows(&self, number: u32) -> Result<usize, Error> {
        match &self.engine {
            Engine::Memory(memory) => Ok(memory.count_tenant_rows(number)),
            Engine::Embedded(embedded) => embedded.count_tenant_rows(number),
            Engine::Hostile(hostile) => Ok(hostile.memory().count_tenant_rows(number)),
        }
    }

    /// What it takes in one commit or append, and what it takes well.
    pub fn limits(&self) -> Limits {
        match &self.engine {
            Engine::Memory(memory) => memory.limits(),
            Engine::Embedded(_) => Limits::EMBEDDED,
            Engine::Hostile(hostile) => hostile.memory().limits(),
        }
    }

    /// Commits in one partition; resolves when durable (or refused).
    ///
    /// # Errors
    ///
    /// `Conflict` if a condition does not hold (answered only after the winner is durable), `Fenced` if its epoch is over,
    /// `OtherIncarnation` if it names a version of another incarnation, `Unknown` (callers had better take
    /// [`Store::commit_known`]), `Unavailable`, `TooLarge`.
    pub async fn commit(&self, commit: Commit) -> Result<Stamp, Error> {
        match &self.engine {
            Engine::Memory(memory) => {
                let outcome = memory.commit_all(vec![commit]).pop();
                outcome.unwrap_or_else(|| {
                    Err(Error::new(ErrorKind::Unknown, "commit: the engine gave no outcome"))
                })
            }
            Engine::Embedded(embedded) => embedded.commit(commit).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.commit(commit)
            }
        }
    }

    /// Commits of many partitions or rows, submitted together: each its own atom, one shared fsync.
    /// Outcomes in the order of `commits`; later commits see earlier ones.
    pub async fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<Stamp, Error>> {
        match &self.engine {
            Engine::Memory(memory) => memory.commit_all(commits),
            Engine::Embedded(embedded) => embedded.commit_all(commits).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.commit_all(commits)
            }
        }
    }

    /// Takes the lease `name`; `None` while somebody has it, be it this process. It runs out by a clock that nobody sets, and ends
    /// with a process that has the store to itself. Cost: a small write.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `TooLarge`.
    pub async fn lease(&self, name: &str, ttl: Duration) -> Result<Option<Lease>, Error> {
        match &self.engine {
            Engine::Memory(memory) => memory.lease(name, ttl),
            Engine::Embedded(embedded) => embedded.lease(name, ttl).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.lease(name, ttl)
            }
        }
    }

    /// Renews a lease in time; false if it has run out, or is somebody else's by now. A `ttl` of zero gives it back.
    ///
    /// # Errors
    ///
    /// `Unavailable`.
    pub async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<bool, Error> {
        match &self.engine {
            Engine::Memory(memory) => memory.renew(lease, ttl),
            Engine::Embedded(embedded) => embedded.renew(lease, ttl).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.renew(lease, ttl)
            }
        }
    }

    /// Writes a consistent copy of the whole store to `folder` (which must not exist) while it serves.
    ///
    /// # Errors
    ///
    /// `Unavailable` (with what the file system said); `Misuse` if the engine keeps no files.
    pub async fn backup(&self, folder: &Path) -> Result<(), Error> {
        match &self.engine {
            Engine::Memory(_) | Engine::Hostile(_) => {
                let action = format!("back up to {}: a store in memory has no files", folder.display());
                Err(Error::new(ErrorKind::Misuse, action))
            }
            Engine::Embedded(embedded) => embedded.backup(folder).await,
        }
    }

    /// Counters and gauges of the engine, for metrics. Cost: some microseconds.
    pub fn statistics(&self) -> Statistics {
        match &self.engine {
            Engine::Memory(memory) => memory.statistics(),
            Engine::Embedded(embedded) => embedded.statistics(),
            Engine::Hostile(hostile) => hostile.memory().statistics(),
        }
    }

    /// Waits for queued commits, syncs, and closes. Later calls answer `Unavailable`.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the last sync failed.
    pub async fn close(&self) -> Result<(), Error> {
        match &self.engine {
            Engine::Memory(memory) => {
                memory.close();
                Ok(())
            }
            Engine::Embedded(embedded) => embedded.close().await,
            Engine::Hostile(hostile) => {
                hostile.memory().close();
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests;
