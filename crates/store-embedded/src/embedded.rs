//! The engine as its users hold it: what is asked for is checked here and goes to the committer or to the readers.

mod appends;

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, mpsc, oneshot};

use store_contract::limits::{check_lease, check_reader};
use store_contract::lives::Lives;
use store_contract::{
    Commit, CommitWithAppends, Cursor, Direction, Epoch, Error, ErrorKind, FeedPage, Lease, Outcome, Page,
    Partition, Range, Row, Skipped, Stamp, Statistics, Timestamp, WriteId,
};

use crate::committer;
use crate::options::EmbeddedOptions;
use crate::request::{Queued, Request};
use crate::shared::Shared;
use crate::snapshot::EmbeddedSnapshot;

/// How many requests may wait for the committer; more wait for a place.
const QUEUE_REQUESTS_MAX: usize = 4_096;
/// How many bytes of requests may wait for the committer; a larger request waits until it is alone.
const QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes are counted in units of this many, at least one for each request.
const QUEUE_UNIT_BYTES: usize = 1024;

/// The embedded engine, open: what `store::Store` dispatches to. What each call means is said there.
#[derive(Debug)]
pub struct Embedded {
    shared: Arc<Shared>,
    /// Taken when the store is dropped, which ends the committer.
    queue: Option<mpsc::Sender<Queued>>,
    room: Arc<Semaphore>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Embedded {
    /// Opens or creates the store in `folder`. Blocks while an unflushed log is read.
    ///
    /// # Errors
    ///
    /// `Locked`, `Corrupt`, `Misuse`, `Unavailable`.
    pub fn open(folder: &Path, options: EmbeddedOptions) -> Result<Self, Error> {
        let shared = Arc::new(Shared::open(folder, options)?);
        let (queue, requests) = mpsc::channel(QUEUE_REQUESTS_MAX);
        let threads = committer::start(&shared, &queue, requests)?;
        let room = Arc::new(Semaphore::new(QUEUE_BYTES_MAX / QUEUE_UNIT_BYTES));
        Ok(Self { shared, queue: Some(queue), room, threads: Mutex::new(threads) })
    }

    /// What readers, the committer and this handle share.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The tenants that this process knows.
    pub fn lives(&self) -> &Arc<Lives> {
        &self.shared.lives
    }

    /// The time by the clock of the store.
    pub fn now(&self) -> Timestamp {
        self.shared.options.clock.now()
    }

    /// The row if the cache knows it.
    #[inline]
    pub fn get_cached(&self, partition: &Partition, key: &[u8]) -> Option<Option<Row>> {
        self.shared.get_cached(partition, key)
    }

    /// One row.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    #[inline]
    pub fn get(
        &self,
        partition: &Partition,
        key: &[u8],
    ) -> impl Future<Output = Result<Option<Row>, Error>> + Send {
        self.shared.get(partition, key)
    }

    /// Many rows of one partition, in the order of `keys`.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    #[inline]
    pub fn get_many(
        &self,
        partition: &Partition,
        keys: &[Bytes],
    ) -> impl Future<Output = Result<Vec<Option<Row>>, Error>> + Send {
        self.shared.get_many(partition, keys)
    }

    /// A run of rows, at most `rows_max`.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    #[inline]
    pub fn scan(
        &self,
        partition: &Partition,
        range: &Range,
        direction: Direction,
        rows_max: usize,
    ) -> impl Future<Output = Result<Page, Error>> + Send {
        self.shared.scan(partition, range, direction, rows_max)
    }

    /// Passes over rows of a range, from a key on.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    #[inline]
    pub fn skip(
        &self,
        partition: &Partition,
        range: &Range,
        from: &[u8],
        rows_max: usize,
    ) -> impl Future<Output = Result<Skipped, Error>> + Send {
        self.shared.skip(partition, range, from, rows_max)
    }

    /// How many bytes ranges take, as far as the engine can tell.
    ///
    /// # Errors
    ///
    /// `Unavailable`.
    pub fn sizes(
        &self,
        partition: &Partition,
        ranges: &[Range],
    ) -> impl Future<Output = Result<Vec<u64>, Error>> + Send {
        self.shared.sizes(partition, ranges)
    }

    /// The store as it is now.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the store is closed.
    pub fn snapshot(&self) -> Result<EmbeddedSnapshot, Error> {
        EmbeddedSnapshot::new(&self.shared)
    }

    /// The epoch of whichever partition.
    #[inline]
    pub fn fence(&self) -> Epoch {
        self.shared.fence()
    }

    /// The cursor behind the newest change.
    pub fn feed_end(&self) -> Cursor {
        self.shared.feed_end()
    }

    /// A cursor that was read from a row of this store, as one of its present incarnation.
    pub fn adopt_cursor(&self, cursor: Cursor) -> Cursor {
        self.shared.adopt_cursor(cursor)
    }

    /// How many rows lie under the number of a tenant, in all partitions of all spaces.
    ///
    /// # Errors
    ///
    /// `Unavailable`.
    #[cfg(any(test, feature = "testing"))]
    pub fn count_tenant_rows(&self, number: u32) -> Result<usize, Error> {
        self.shared.count_tenant_rows(number)
    }

    /// Commits in one partition.
    ///
    /// # Errors
    ///
    /// `Conflict`, `Fenced`, `OtherIncarnation`, `Unknown`, `Unavailable`, `TooLarge`.
    pub async fn commit(&self, commit: Commit) -> Result<Stamp, Error> {
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

    /// Commits that are submitted together: one batch, one sync. Outcomes in their order.
    pub async fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<Stamp, Error>> {
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
    ///
    /// # Errors
    ///
    /// `Unavailable`.
    pub async fn erase(&self, tenant: u32) -> Result<(), Error> {
        let (answer, outcome) = oneshot::channel();
        self.submit(0, Request::Erase(tenant, answer)).await?;
        outcome.await.unwrap_or_else(|_| Err(lost()))?;
        let shared = Arc::clone(&self.shared);
        self.shared.block(move || shared.drop_files_of(tenant)).await
    }

    /// Takes a lease; `None` while somebody has it.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `TooLarge`.
    pub async fn lease(&self, name: &str, ttl: Duration) -> Result<Option<Lease>, Error> {
        check_lease(name)?;
        let (answer, outcome) = oneshot::channel();
        self.submit(0, Request::Lease { name: name.to_owned(), ttl, answer }).await?;
        outcome.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Renews a lease; false if it is over.
    ///
    /// # Errors
    ///
    /// `Unavailable`.
    pub async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<bool, Error> {
        let (answer, outcome) = oneshot::channel();
        self.submit(0, Request::Renew { lease: lease.clone(), ttl, answer }).await?;
        outcome.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Waits until everything submitted before is settled. An error if it is not known what became of some of it.
    async fn settle(&self) -> Result<(), Error> {
        let (answer, outcome) = oneshot::channel();
        self.submit(0, Request::Settle(answer)).await?;
        outcome.await.unwrap_or_else(|_| Err(lost()))
    }

    /// What became of a commit whose acknowledgement was lost.
    ///
    /// # Errors
    ///
    /// `Unknown`, `Unavailable`.
    pub async fn resolve(&self, partition: &Partition, write_id: WriteId) -> Result<Outcome, Error> {
        self.settle().await?;
        let (shared, partition) = (Arc::clone(&self.shared), partition.clone());
        self.shared.block(move || shared.find_write(&partition, write_id)).await
    }

    /// A page of the feed.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `TooLarge`, `OtherIncarnation`.
    pub async fn feed(&self, cursor: Cursor, changes_max: usize) -> Result<FeedPage, Error> {
        if cursor == self.shared.feed_end() && !self.shared.is_closed() {
            return Ok(FeedPage { changes: Vec::new(), cursor });
        }
        let shared = Arc::clone(&self.shared);
        self.shared.block(move || shared.read_feed(cursor, changes_max)).await
    }

    /// Notes how far a reader of the feed has come.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `TooLarge`.
    pub async fn keep_feed(&self, reader: &str, cursors: &[Cursor]) -> Result<(), Error> {
        check_reader(reader, 0)?;
        let (answer, outcome) = oneshot::channel();
        self.submit(0, Request::KeepFeed(reader.into(), cursors.to_vec(), answer)).await?;
        outcome.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Writes a consistent copy to a folder, which must not exist.
    ///
    /// # Errors
    ///
    /// `Unavailable`.
    pub async fn backup(&self, folder: &Path) -> Result<(), Error> {
        let (shared, folder) = (Arc::clone(&self.shared), folder.to_owned());
        self.shared.block(move || shared.back_up(&folder)).await
    }

    /// Settles what is queued, syncs, and closes.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the last sync failed.
    pub async fn close(&self) -> Result<(), Error> {
        let (answer, outcome) = oneshot::channel();
        let Some(queue) = &self.queue else { return Ok(()) };
        // A failed store closes too, so its state is not asked; a closed one has no committer.
        if queue.send(Queued { request: Request::Close(answer), room: None }).await.is_err() {
            return Ok(());
        }
        outcome.await.unwrap_or(Ok(()))
    }

    /// Counters and gauges.
    pub fn statistics(&self) -> Statistics {
        let waiting = self.queue.as_ref().map_or(0, |queue| queue.max_capacity() - queue.capacity());
        Statistics { queue_requests: waiting as u64, ..self.shared.statistics() }
    }

    /// Queues a request as soon as there is room for its bytes.
    pub(crate) async fn submit(&self, bytes: usize, request: Request) -> Result<(), Error> {
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
pub(crate) fn lost() -> Error {
    Error::new(ErrorKind::Unknown, "write: the committer ended before it acknowledged")
}
