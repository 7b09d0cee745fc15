//! The handle that models hold: one type, whatever the engine.

mod outcomes;
mod appends;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use store_contract::lives::Lives;
use store_embedded::{Embedded, EmbeddedOptions};

use crate::hostile::{Hostile, HostileOptions};
use crate::memory::{Memory, MemoryOptions, MemorySnapshot};
use crate::{
    Change, Commit, Cursor, Direction, Error, ErrorKind, FeedPage, Lease, Limits, Page, Partition, Range,
    Row, Skipped, Snapshot, Stamp, Statistics, Timestamp,
};

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
    /// `Conflict` if a condition does not hold (told only after the winner is durable), `Fenced` if its epoch is over,
    /// `OtherIncarnation` if it names a version of another incarnation, `Unknown` (callers had better take
    /// [`Store::commit_known`]), `Unavailable`, `TooLarge`.
    pub async fn commit(&self, commit: Commit) -> Result<Stamp, Error> {
        match &self.engine {
            Engine::Memory(memory) => {
                let outcome = memory.commit_all(vec![commit]).pop();
                outcome.unwrap_or_else(|| Err(Error::new(ErrorKind::Unknown, "commit: no outcome was told")))
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

    /// The row with this key, as this process knows it: as new as its own commits and what it has read before, while one that another
    /// process wrote may be seen late ([`Store::may_lag`]). After a commit that was refused, or whose outcome is unknown, the
    /// rows that it names and writes are read anew. Scans and snapshots see every acknowledged commit.
    /// Cost: one cache look-up, or one engine read.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    pub async fn get(&self, partition: &Partition, key: &[u8]) -> Result<Option<Row>, Error> {
        let read = match &self.engine {
            Engine::Memory(memory) => memory.get(partition, key),
            Engine::Embedded(embedded) => embedded.get(partition, key).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.get(partition, key)
            }
        }?;
        partition.tenant.check()?;
        Ok(read)
    }

    /// The row with this key, not older than any acknowledged commit: for what is acknowledged, or refused, by what it says alone.
    /// Cost: where reads do not lag that of [`Store::get`], else a round to other nodes.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    pub async fn get_linear(&self, partition: &Partition, key: &[u8]) -> Result<Option<Row>, Error> {
        let read = match &self.engine {
            Engine::Memory(_) | Engine::Embedded(_) => return self.get(partition, key).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.get_linear(partition, key)
            }
        }?;
        partition.tenant.check()?;
        Ok(read)
    }

    /// Many rows of one partition, in the order of `keys`, as [`Store::get_linear`] reads one.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    pub async fn get_many_linear(
        &self,
        partition: &Partition,
        keys: &[Bytes],
    ) -> Result<Vec<Option<Row>>, Error> {
        let read: Result<_, Error> = match &self.engine {
            Engine::Memory(_) | Engine::Embedded(_) => return self.get_many(partition, keys).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                keys.iter().map(|key| hostile.get_linear(partition, key)).collect()
            }
        };
        partition.tenant.check()?;
        read
    }

    /// The row with this key if it is in the cache of hot rows: never blocks, costs one look-up.
    /// `None` says nothing of the store (the row may exist); `Some(None)` says it is absent.
    pub fn get_cached(&self, partition: &Partition, key: &[u8]) -> Option<Option<Row>> {
        let read = match &self.engine {
            Engine::Memory(memory) => memory.get(partition, key).ok(),
            Engine::Embedded(embedded) => embedded.get_cached(partition, key),
            Engine::Hostile(_) => None,
        };
        read.filter(|_| !partition.tenant.is_ended())
    }

    /// Many rows of one partition, in the order of `keys`, each as [`Store::get`] reads it.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    pub async fn get_many(&self, partition: &Partition, keys: &[Bytes]) -> Result<Vec<Option<Row>>, Error> {
        let read = match &self.engine {
            Engine::Memory(memory) => keys.iter().map(|key| memory.get(partition, key)).collect(),
            Engine::Embedded(embedded) => embedded.get_many(partition, keys).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.get_many(partition, keys)
            }
        }?;
        partition.tenant.check()?;
        Ok(read)
    }

    /// Up to `rows_max` rows of a range (fewer at the page's byte limit; see [`Page::more`]).
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    pub async fn scan(
        &self,
        partition: &Partition,
        range: &Range,
        direction: Direction,
        rows_max: usize,
    ) -> Result<Page, Error> {
        let read = match &self.engine {
            Engine::Memory(memory) => memory.scan(partition, range, direction, rows_max),
            Engine::Embedded(embedded) => embedded.scan(partition, range, direction, rows_max).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.memory().scan(partition, range, direction, rows_max)
            }
        }?;
        partition.tenant.check()?;
        Ok(read)
    }

    /// Passes over up to `rows_max` rows of a range, from a key of it on, without reading them; fewer if that takes long: then
    /// it is to be called again from [`Skipped::next`] on. `usize::MAX` counts what is left of the range.
    ///
    /// Cost: on the embedded engine some microseconds where the range was passed over before and is not written since, else
    /// a walk of some 100 ns a row; elsewhere that of a scan.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    pub async fn skip(
        &self,
        partition: &Partition,
        range: &Range,
        from: &[u8],
        rows_max: usize,
    ) -> Result<Skipped, Error> {
        let read = match &self.engine {
            Engine::Memory(memory) => memory.skip(partition, range, from, rows_max),
            Engine::Embedded(embedded) => embedded.skip(partition, range, from, rows_max).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.memory().skip(partition, range, from, rows_max)
            }
        }?;
        partition.tenant.check()?;
        Ok(read)
    }

    /// The store as it is: for reads of several pages that are to see one state. An engine that cannot keep what is
    /// overwritten meanwhile ends such a read with `Changed` instead; [`crate::ReadAttempts`] says how often to begin anew. Cost: some 100 ns; rows that are
    /// removed or overwritten meanwhile are kept until the snapshot ends.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the store is closed.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        match &self.engine {
            Engine::Memory(memory) => Ok(MemorySnapshot::new(memory)?.into()),
            Engine::Embedded(embedded) => Ok(embedded.snapshot()?.into()),
            Engine::Hostile(hostile) => {
                Ok(Snapshot::hostile(hostile, MemorySnapshot::new(hostile.memory())?))
            }
        }
    }

    /// How many shards the feed has; changes of one partition are all in one shard, in order.
    pub fn feed_shards(&self) -> u32 {
        match &self.engine {
            Engine::Memory(_) | Engine::Embedded(_) => 1,
            Engine::Hostile(hostile) => hostile.feed_shards(),
        }
    }

    /// Up to `changes_max` changes after `cursor`: each at least once, those of one partition in their order, those of several in
    /// any. Commits that say nothing are passed over.
    ///
    /// # Errors
    ///
    /// `Unavailable`; `TooLarge` if the cursor is older than what is kept; `OtherIncarnation` if it is of another incarnation;
    /// `Misuse` if there is no such shard.
    pub async fn feed(&self, shard: u32, cursor: Cursor, changes_max: usize) -> Result<FeedPage, Error> {
        self.check_shard("read", shard)?;
        match &self.engine {
            Engine::Memory(memory) => memory.feed(cursor, changes_max, |_| true),
            Engine::Embedded(embedded) => embedded.feed(cursor, changes_max).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.feed(shard, cursor, changes_max)
            }
        }
    }

    /// Registers a reader of a shard of the feed by its name, or acknowledges how far it has come, by one or many cursors of that
    /// shard: what lies behind the slowest is kept for it up to the cap ([`crate::FeedOptions`]), also over restarts. Without a
    /// cursor of this incarnation nothing is kept for it any more. What several say of one reader counts as said last: who says it
    /// names a cursor that is not newer than the shard's end before he looked how far the reader has come. Cost: a small
    /// write, if that is news.
    ///
    /// # Errors
    ///
    /// `Unavailable`; `TooLarge` for a name or a number of readers beyond the limits; `Misuse` if there is no such shard.
    pub async fn keep_feed(&self, reader: &str, shard: u32, cursors: &[Cursor]) -> Result<(), Error> {
        self.check_shard("keep", shard)?;
        match &self.engine {
            Engine::Memory(memory) => memory.keep_feed(reader, cursors),
            Engine::Embedded(embedded) => embedded.keep_feed(reader, cursors).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.keep_feed(reader, shard, cursors)
            }
        }
    }

    fn check_shard(&self, doing: &str, shard: u32) -> Result<(), Error> {
        if shard < self.feed_shards() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Misuse, format!("{doing} the feed: there is no shard {shard}")))
    }

    /// The cursor behind the newest change of a shard: each commit that was acknowledged before lies before it.
    pub fn feed_end(&self, shard: u32) -> Cursor {
        debug_assert!(shard < self.feed_shards(), "no such shard");
        match &self.engine {
            Engine::Memory(memory) => memory.feed_end(),
            Engine::Embedded(embedded) => embedded.feed_end(),
            Engine::Hostile(hostile) => hostile.memory().feed_end(),
        }
    }

    /// Whether a change of a shard certainly came before this cursor of it was the shard's end. An engine that cannot tell of the last
    /// changes before it says no.
    pub fn came_before(&self, change: &Change, cursor: Cursor) -> bool {
        match &self.engine {
            Engine::Memory(_) | Engine::Embedded(_) => {
                change.cursor == cursor || change.cursor.is_before(cursor)
            }
            Engine::Hostile(_) => change.cursor.is_before(cursor),
        }
    }

    /// A cursor that was read from a row of this store, as one of the store's present incarnation: what a restore brings back, or
    /// the end of a process leaves, it leaves whole, the row and what it points at. Never for one kept elsewhere. One that
    /// points behind the end stays as it is.
    pub fn adopt_cursor(&self, cursor: Cursor) -> Cursor {
        match &self.engine {
            Engine::Memory(memory) => memory.adopt_cursor(cursor),
            Engine::Embedded(embedded) => embedded.adopt_cursor(cursor),
            Engine::Hostile(hostile) => hostile.memory().adopt_cursor(cursor),
        }
    }

    /// Takes the lease `name`; `None` while it is held, be it by this process. It runs out by a clock that nobody sets, and ends
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
