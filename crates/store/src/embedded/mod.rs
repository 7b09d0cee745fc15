//! The embedded engine: RocksDB behind one committer thread and a cache of hot rows.
//!
//! Writes go down a bounded queue to the committer (`committer.rs`), which makes one engine write
//! and one sync of all that waits. Reads go to the cache (`cache.rs`), then to the engine on the
//! caller's thread as long as no disk is needed, then to a thread that may block (`read.rs`).
//! With [`Durability::Sync`] the engine shows a write only after its sync, so no reader ever sees
//! what a crash could take away.

mod failure;
mod ranges;
mod cache;
mod format;
mod rows;
mod counted;
mod read;
mod directory;
mod disk;
mod feed_log;
mod folder;
mod incarnation;
mod log;
mod snapshot;
mod state;
mod tuning;
mod shared;
mod batch;
mod keeper;
mod tidy;
mod warm;
mod committer;
mod appends;
mod backup;
mod feed;
mod skip;

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, mpsc, oneshot};

pub use self::backup::restore;
use self::committer::{Queued, Request};
pub(crate) use self::shared::Shared;
pub(crate) use self::snapshot::EmbeddedSnapshot;
pub use self::snapshot::SNAPSHOT_AGE_MAX;
use crate::limits::{check_lease, check_reader};
use crate::{
    Clock, Commit, CommitWithAppends, Cursor, Error, ErrorKind, FeedOptions, FeedPage, Lease, Outcome,
    Partition, Stamp, Statistics, WriteId,
};

/// How many requests may wait for the committer; more wait for a place.
pub const QUEUE_REQUESTS_MAX: usize = 4_096;
/// How many bytes of requests may wait for the committer; a larger request waits until it is alone.
pub const QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes are counted in units of this many, at least one for each request.
const QUEUE_UNIT_BYTES: usize = 1024;

/// When a commit is acknowledged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Durability {
    /// After its bytes were synced to disk: it survives a loss of power.
    Sync,
    /// After its bytes were handed to the system, which are synced this often: it survives the end
    /// of the process; a loss of power takes at most what came in one interval.
    Interval(Duration),
}

/// How the embedded engine runs.
#[derive(Clone, Debug)]
pub struct EmbeddedOptions {
    /// When a commit is acknowledged.
    pub durability: Durability,
    /// What tells leases the time.
    pub clock: Clock,
    /// What the feed keeps.
    pub feed: FeedOptions,
    /// Bytes of the cache of hot rows.
    pub cache_bytes: usize,
    /// Bytes of RocksDB's cache of blocks.
    pub block_cache_bytes: usize,
    /// Bytes of one memtable of rows; up to three are kept while they are flushed.
    pub memtable_bytes: usize,
    /// Bytes of log after which memtables are flushed: bounds the time to open after a kill.
    pub log_bytes_max: u64,
    /// How many old log files are kept to be written over (0: none).
    pub log_files_kept: usize,
    /// A store without a commit for so long is looked over, and merged if much of it is garbage.
    pub rest: Duration,
    /// How often the store looks whether its folder is still there, and whether a full disk has room again.
    pub look: Duration,
    /// Bytes of the disk that are kept free: with less, only removals are written. `None`: the smaller of 1 GiB and a twentieth
    /// of the disk.
    pub disk_free_min: Option<u64>,
    /// The largest file that is set aside and given back if the disk is full all the same; at most a hundredth of the disk.
    pub ballast_bytes_max: u64,
    /// Threads that flush and compact.
    pub background_jobs: i32,
}

impl EmbeddedOptions {
    /// The recommended options: durable, for a machine of a few cores and a few GiB.
    pub fn recommended() -> Self {
        Self {
            durability: Durability::Sync,
            clock: Clock::System,
            feed: FeedOptions::recommended(),
            cache_bytes: 256 * 1024 * 1024,
            block_cache_bytes: 128 * 1024 * 1024,
            memtable_bytes: 64 * 1024 * 1024,
            log_bytes_max: 128 * 1024 * 1024,
            log_files_kept: 2,
            rest: Duration::from_secs(10),
            look: Duration::from_secs(1),
            disk_free_min: None,
            ballast_bytes_max: 128 * 1024 * 1024,
            background_jobs: 2,
        }
    }
}

/// The engine: what all share, and the way to the committer.
#[derive(Debug)]
pub(crate) struct Embedded {
    shared: Arc<Shared>,
    /// Taken when the store is dropped, which ends the committer.
    queue: Option<mpsc::Sender<Queued>>,
    room: Arc<Semaphore>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Embedded {
    /// Opens or creates the store in `folder`. Blocks while an unflushed log is read.
    pub(crate) fn open(folder: &Path, options: EmbeddedOptions) -> Result<Self, Error> {
        let shared = Arc::new(Shared::open(folder, options)?);
        let (queue, requests) = mpsc::channel(QUEUE_REQUESTS_MAX);
        let threads = committer::start(&shared, &queue, requests)?;
        let room = Arc::new(Semaphore::new(QUEUE_BYTES_MAX / QUEUE_UNIT_BYTES));
        Ok(Self { shared, queue: Some(queue), room, threads: Mutex::new(threads) })
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) async fn commit(&self, commit: Commit) -> Result<Stamp, Error> {
        let (commit, bytes) = self.check(commit).await?;
        self.shared.warm(std::iter::once(&commit)).await;
        let (answer, outcome) = oneshot::channel();
        self.submit(bytes, Request::One(commit, answer)).await?;
        outcome.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Whether a commit may be submitted, and its size.
    async fn check(&self, commit: Commit) -> Result<(Commit, usize), Error> {
        let (commit, bytes) = self.shared.check(commit).await?;
        self.shared.learn(&commit)?;
        self.shared.check_takes(&commit)?;
        Ok((commit, bytes))
    }

    pub(crate) async fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<Stamp, Error>> {
        let mut bytes: usize = 0;
        let mut outcomes = Vec::with_capacity(commits.len());
        let mut sound = Vec::with_capacity(commits.len());
        for commit in commits {
            match self.check(commit).await {
                Ok((commit, more)) => {
                    bytes = bytes.saturating_add(more);
                    sound.push(CommitWithAppends::alone(commit));
                    outcomes.push(None);
                }
                Err(error) => outcomes.push(Some(error)),
            }
        }
        let submitted = self.submit_all(bytes, sound).await;
        merge(outcomes, submitted)
    }

    /// Submits commits, each with what goes ahead of it in the same batch.
    async fn submit_all(&self, bytes: usize, commits: Vec<CommitWithAppends>) -> Vec<Result<Stamp, Error>> {
        if commits.is_empty() {
            return Vec::new();
        }
        let count = commits.len();
        self.shared.warm(commits.iter().map(|it| &it.commit)).await;
        let (answer, outcomes) = oneshot::channel();
        match self.submit(bytes, Request::Group(commits, answer)).await {
            Ok(()) => outcomes.await.unwrap_or_else(|_| (0..count).map(|_| Err(lost())).collect()),
            Err(error) => (0..count).map(|_| Err(Error::new(error.kind(), error.action()))).collect(),
        }
    }

    /// Removes all rows of a tenant that has ended: what was queued before is settled first, what comes later is refused.
    pub(crate) async fn erase(&self, tenant: u32) -> Result<(), Error> {
        let (answer, outcome) = oneshot::channel();
        self.submit(0, Request::Erase(tenant, answer)).await?;
        outcome.await.unwrap_or_else(|_| Err(lost()))?;
        let shared = Arc::clone(&self.shared);
        self.shared.block(move || shared.drop_files_of(tenant)).await
    }

    pub(crate) async fn lease(&self, name: &str, ttl: Duration) -> Result<Option<Lease>, Error> {
        check_lease(name)?;
        let (answer, outcome) = oneshot::channel();
        self.submit(0, Request::Lease { name: name.to_owned(), ttl, answer }).await?;
        outcome.await.unwrap_or_else(|_| Err(lost()))
    }

    pub(crate) async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<bool, Error> {
        let (answer, outcome) = oneshot::channel();
        self.submit(0, Request::Renew { lease: lease.clone(), ttl, answer }).await?;
        outcome.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Waits until everything submitted before is settled. An error if it is not known what became of some of it.
    pub(crate) async fn settle(&self) -> Result<(), Error> {
        let (answer, outcome) = oneshot::channel();
        self.submit(0, Request::Settle(answer)).await?;
        outcome.await.unwrap_or_else(|_| Err(lost()))
    }

    pub(crate) async fn resolve(&self, partition: &Partition, write_id: WriteId) -> Result<Outcome, Error> {
        self.settle().await?;
        let (shared, partition) = (Arc::clone(&self.shared), partition.clone());
        self.shared.block(move || shared.find_write(&partition, write_id)).await
    }

    pub(crate) async fn feed(&self, cursor: Cursor, changes_max: usize) -> Result<FeedPage, Error> {
        if cursor == self.shared.feed_end() && !self.shared.is_closed() {
            return Ok(FeedPage { changes: Vec::new(), cursor });
        }
        let shared = Arc::clone(&self.shared);
        self.shared.block(move || shared.read_feed(cursor, changes_max)).await
    }

    pub(crate) async fn keep_feed(&self, reader: &str, cursors: &[Cursor]) -> Result<(), Error> {
        check_reader(reader, 0)?;
        let (answer, outcome) = oneshot::channel();
        self.submit(0, Request::KeepFeed(reader.into(), cursors.to_vec(), answer)).await?;
        outcome.await.unwrap_or_else(|_| Err(lost()))
    }

    pub(crate) async fn backup(&self, folder: &Path) -> Result<(), Error> {
        let (shared, folder) = (Arc::clone(&self.shared), folder.to_owned());
        self.shared.block(move || shared.back_up(&folder)).await
    }

    pub(crate) async fn close(&self) -> Result<(), Error> {
        let (answer, outcome) = oneshot::channel();
        let Some(queue) = &self.queue else { return Ok(()) };
        // A failed store closes too, so its state is not asked; a closed one has no committer.
        if queue.send(Queued { request: Request::Close(answer), room: None }).await.is_err() {
            return Ok(());
        }
        outcome.await.unwrap_or(Ok(()))
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let waiting = self.queue.as_ref().map_or(0, |queue| queue.max_capacity() - queue.capacity());
        Statistics { queue_requests: waiting as u64, ..self.shared.statistics() }
    }

    /// Queues a request as soon as there is room for its bytes.
    async fn submit(&self, bytes: usize, request: Request) -> Result<(), Error> {
        self.shared.check_commits()?;
        let units = (bytes / QUEUE_UNIT_BYTES).clamp(1, QUEUE_BYTES_MAX / QUEUE_UNIT_BYTES);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let closed = || Error::new(ErrorKind::Unavailable, "write: the store is closed");
        let room = Arc::clone(&self.room).acquire_many_owned(units).await.map_err(|_| closed())?;
        let queue = self.queue.as_ref().ok_or_else(closed)?;
        queue.send(Queued { request, room: Some(room) }).await.map_err(|_| closed())
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        // Without a queue the committer ends: it settles what waits, syncs and closes.
        self.queue = None;
        for thread in self.threads.get_mut().drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the store panicked");
            }
        }
    }
}

/// The outcomes of commits of which those that were not refused before were submitted.
fn merge(refused: Vec<Option<Error>>, submitted: Vec<Result<Stamp, Error>>) -> Vec<Result<Stamp, Error>> {
    let mut submitted = submitted.into_iter();
    let outcome = |refused: Option<Error>| match refused {
        Some(error) => Err(error),
        None => submitted.next().unwrap_or_else(|| Err(lost())),
    };
    refused.into_iter().map(outcome).collect()
}

/// The committer went away with a request in hand.
fn lost() -> Error {
    Error::new(ErrorKind::Unknown, "write: the committer ended before it told the outcome")
}

#[cfg(test)]
mod tests;
