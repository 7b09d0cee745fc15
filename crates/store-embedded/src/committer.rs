//! The committer: the one thread that writes. It takes all requests that wait, checks their
//! conditions in order, makes one engine write and one sync of them, publishes to the cache, and
//! only then answers. How a batch is made up is `batch.rs`.

mod ingest;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver as StopReceiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rocksdb::{FlushOptions, WriteOptions};
use tokio::sync::{mpsc, oneshot};

use super::batch::{BATCH_BYTES_MAX, Batch};
use super::failure::{engine_failed, family};
use super::folder::rows_of;
use super::format::{FEED, META};
use super::monitor::ROOM_AGAIN;
use super::options::Durability;
use super::reply::{Reply, refuse, send, settle};
use super::request::{Answer, Queued, Request};
use super::shared::Shared;
use super::state::State;
use super::warm::LARGE_ROWS;
use super::{monitor, tidy};
use store_contract::{Appended, Commit, CommitWithAppends, Error, ErrorKind, Partition, Stamp};

/// What the engine says of a log that it could not write to before.
const FAILED_BEFORE: &str = "Writer has previous error";

/// A write is acknowledged if its folder was there so long ago at most: a look costs some microseconds, and batches may
/// follow each other faster than that pays.
const FOLDER_LOOK_MIN: Duration = Duration::from_millis(1);

/// Starts the committer, the thread that tidies the store at rest, the thread that looks after folder and disk, and the
/// thread that syncs at intervals if the durability asks for it.
pub(crate) fn start(
    shared: &Arc<Shared>,
    queue: &mpsc::Sender<Queued>,
    requests: mpsc::Receiver<Queued>,
) -> Result<Vec<JoinHandle<()>>, Error> {
    let (tidier, stopped) = sync_channel(0);
    let (mut stops, mut threads) = (vec![tidier], Vec::new());
    let resting = Arc::clone(shared);
    threads.push(thread(shared, "store-tidier", move || tidy::whenever_at_rest(&resting, &stopped))?);
    let (monitor_stop, stopped) = sync_channel(0);
    stops.push(monitor_stop);
    let (monitored, queue) = (Arc::clone(shared), queue.downgrade());
    threads.push(thread(shared, "store-monitor", move || monitor::run(&monitored, &queue, &stopped))?);
    if let Durability::Interval(interval) = shared.options.durability {
        let (syncer, stopped) = sync_channel(0);
        stops.push(syncer);
        let synced = Arc::clone(shared);
        threads.push(thread(shared, "store-syncer", move || sync_at_intervals(&synced, interval, &stopped))?);
    }
    let (batch, shared_too) = (Batch::new(Arc::clone(shared)), Arc::clone(shared));
    let committer =
        Committer { batch, shared: shared_too, replies: Vec::new(), looked: None, is_to_sync: false };
    threads.push(thread(shared, "store-committer", move || committer.run(requests, stops))?);
    Ok(threads)
}

fn thread(shared: &Shared, name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    let thread = thread::Builder::new().name(name.into()).spawn(run);
    thread.map_err(|error| super::folder::failed(shared.path(), "start the threads of", error))
}

struct Committer {
    shared: Arc<Shared>,
    batch: Batch,
    replies: Vec<Reply>,
    /// When the folder was last seen; `None` before the first look, and after one that failed.
    looked: Option<Instant>,
    /// Whether the next batch is synced, whatever the durability.
    is_to_sync: bool,
}

impl Committer {
    fn run(mut self, mut requests: mpsc::Receiver<Queued>, stops: Vec<SyncSender<()>>) {
        // If this thread panics, nothing is written any more, and later callers are refused.
        let mut guard = FailOnPanic { shared: Arc::clone(&self.shared), armed: true };
        let mut closing = Vec::new();
        while closing.is_empty() {
            let Some(queued) = requests.blocking_recv() else { break };
            let mut next = Some(queued);
            while let Some(queued) = next {
                self.accept(queued.request, &mut closing);
                drop(queued.room);
                if self.batch.bytes() >= BATCH_BYTES_MAX || !closing.is_empty() {
                    break;
                }
                next = requests.try_recv().ok();
            }
            self.write();
        }
        requests.close();
        drop(stops);
        let outcome = self.finish();
        self.shared.close();
        while let Ok(queued) = requests.try_recv() {
            refuse(queued.request, &mut closing);
        }
        for answer in closing {
            let _ = answer.send(repeat(&outcome));
        }
        guard.armed = false;
    }

    /// Takes a request into the batch.
    fn accept(&mut self, request: Request, closing: &mut Vec<Answer<()>>) {
        match request {
            Request::One(commit, answer) => {
                let outcome = self.commit(&commit);
                self.replies.push(Reply::One(answer, outcome));
            }
            Request::Group(commits, answer) => self.accept_group(&commits, answer),
            Request::Append(append, epoch, answer) => {
                let outcome = self.batch.append(&append, epoch);
                self.replies.push(Reply::Done(answer, outcome));
            }
            Request::Remove(partition, keys, appended, answer) => {
                let outcome = self.remove(&partition, &keys, appended);
                self.replies.push(Reply::Done(answer, outcome));
            }
            Request::Bump(commit, answer) => {
                let outcome = self.batch.bump(&commit);
                self.replies.push(Reply::Epoch(answer, outcome));
            }
            Request::Load(partition, epoch, answer) => {
                let outcome = self.batch.open_load(partition, epoch);
                self.replies.push(Reply::Load(answer, outcome));
            }
            Request::Ingest(load, answer) => self.ingest(&load, answer),
            Request::Erase(tenant, answer) => {
                self.batch.erase(tenant);
                self.replies.push(Reply::Done(answer, Ok(())));
            }
            Request::Lease { name, ttl, answer } => {
                let outcome = self.batch.lease(&name, ttl);
                self.replies.push(Reply::Lease(answer, outcome));
            }
            Request::Renew { lease, ttl, answer } => {
                self.replies.push(Reply::Renew(answer, self.batch.renew(&lease, ttl)));
            }
            Request::KeepFeed(reader, cursors, answer) => {
                let outcome = self.batch.keep_feed(&reader, &cursors);
                self.replies.push(Reply::Done(answer, outcome));
            }
            Request::Settle(answer) => self.replies.push(Reply::Done(answer, Ok(()))),
            Request::Reopen => self.reopen(),
            Request::Close(answer) => closing.push(answer),
        }
    }

    /// Opens a full store again.
    fn reopen(&mut self) {
        self.write();
        if !self.shared.check_folder() || self.shared.state() != State::Full {
            return;
        }
        let reopened = self.shared.reopen();
        self.batch.begin_anew();
        match reopened {
            Ok(()) if self.shared.is_serving() => tracing::info!("{ROOM_AGAIN}"),
            Ok(()) => tracing::info!("there is a little room on the disk again: the store takes removals"),
            Err(error) => match error.kind() {
                ErrorKind::NoSpace | ErrorKind::Unavailable | ErrorKind::Locked => {
                    tracing::warn!(%error, "the store is not yet opened again for writing");
                }
                _ => self.shared.note_failure(&error),
            },
        }
    }

    /// A group may be larger than a batch: outcomes that are settled on the way wait until all are.
    fn accept_group(
        &mut self,
        commits: &[CommitWithAppends],
        answer: oneshot::Sender<Vec<Result<Stamp, Error>>>,
    ) {
        let mut outcomes: Vec<Result<Stamp, Error>> = Vec::with_capacity(commits.len());
        let mut settled = 0;
        for commit in commits {
            if self.batch.bytes() >= BATCH_BYTES_MAX {
                let written = self.write();
                settle(
                    &self.shared,
                    outcomes.get_mut(settled..).expect("no more are settled than there are"),
                    written,
                );
                settled = outcomes.len();
            }
            outcomes.push(self.batch.append_then_commit(commit));
        }
        // What was settled before must not be judged again with the last batch.
        if settled == 0 {
            self.replies.push(Reply::Group(answer, outcomes));
            return;
        }
        let written = self.write();
        settle(
            &self.shared,
            outcomes.get_mut(settled..).expect("no more are settled than there are"),
            written,
        );
        let _ = answer.send(outcomes);
    }

    fn commit(&mut self, commit: &Commit) -> Result<Stamp, Error> {
        // Who came before a large commit does not wait for it.
        if commit.writes.len() > LARGE_ROWS {
            self.write();
        }
        self.batch.commit(&[], commit)
    }

    fn remove(&mut self, partition: &Partition, keys: &[Bytes], appended: Appended) -> Result<(), Error> {
        // What is compared is then in the engine.
        if matches!(appended, Appended::Before(_)) {
            self.write();
        }
        self.batch.remove(partition, keys, appended)
    }

    /// Makes the batch durable, publishes it, answers. False if it failed.
    fn write(&mut self) -> bool {
        let written = self.batch.is_empty() || self.write_batch();
        if written {
            self.batch.keep_leases();
        }
        self.batch.clear();
        for reply in self.replies.drain(..) {
            if let Some(lease) = send(&self.shared, reply, written) {
                self.batch.give_back(&lease);
            }
        }
        written
    }

    fn write_batch(&mut self) -> bool {
        if self.shared.check_commits().is_err() {
            return false;
        }
        // After a look that failed, what would not be acknowledged is not written either.
        if self.looked.is_none() && !self.look_at_folder() {
            self.batch.begin_anew();
            return false;
        }
        let trimmed = self.batch.end_feed();
        let mut options = WriteOptions::default();
        let sync = self.shared.options.durability == Durability::Sync || std::mem::take(&mut self.is_to_sync);
        options.set_sync(sync);
        let counters = &self.shared.counters;
        counters.syncs.fetch_add(u64::from(sync), Ordering::Relaxed);
        counters.bytes_written.fetch_add(self.batch.bytes() as u64, Ordering::Relaxed);
        // Before the engine shows any of it: who takes a snapshot learns what it may hold.
        self.shared.written.store(self.batch.committed(), Ordering::SeqCst);
        let (batch, commits) = self.batch.take();
        let written = self.shared.engine().and_then(|engine| {
            self.batch.announce(engine.latest_sequence_number());
            engine
                .write_opt(batch, &options)
                .map_err(|error| engine_failed(self.shared.path(), "write to", error))
        });
        if let Err(error) = written {
            self.batch.retract();
            // In a folder that has gone nothing can be written either.
            if self.shared.check_folder() || self.shared.state() < State::Lost {
                self.shared.note_failure(&error);
            }
            return false;
        }
        // Behind the write: who syncs at intervals syncs what is counted.
        counters.batches.fetch_add(1, Ordering::Release);
        counters.commits.fetch_add(commits, Ordering::Relaxed);
        self.batch.publish();
        if !self.look_at_folder() {
            return false;
        }
        if let Some(first) = trimmed {
            self.drop_feed_files(first);
        }
        true
    }

    /// Whether the folder is there, as of [`FOLDER_LOOK_MIN`] ago: what was written to one that has gone is not
    /// acknowledged.
    fn look_at_folder(&mut self) -> bool {
        let now = Instant::now();
        if self.looked.is_some_and(|looked| now.saturating_duration_since(looked) < FOLDER_LOOK_MIN) {
            return true;
        }
        let is_there = self.shared.check_lock();
        self.looked = is_there.then_some(now);
        is_there
    }

    /// Gives back the files that hold nothing but trimmed changes.
    fn drop_feed_files(&self, first: u64) {
        let Ok(engine) = self.shared.engine() else { return };
        let (start, end) = (0_u64.to_be_bytes(), first.saturating_sub(1).to_be_bytes());
        if let Err(error) = engine.delete_file_in_range_cf(family(&engine, FEED), start, end) {
            tracing::warn!(%error, "files of trimmed changes of the feed were not removed");
        }
    }

    /// The last sync. What lies in memtables is written out, so that opening is quick; then garbage is given back.
    fn finish(&self) -> Result<(), Error> {
        let is_there = self.shared.check_folder();
        self.shared.check_commits()?;
        if !is_there {
            return Err(self.shared.not_there());
        }
        let engine = self.shared.engine()?;
        let failed = |error| engine_failed(self.shared.path(), "close", error);
        engine.flush_wal(true).map_err(failed)?;
        if self.shared.options.durability != Durability::Sync {
            super::incarnation::end(&engine, self.shared.incarnation)?;
        }
        let families = [rocksdb::DEFAULT_COLUMN_FAMILY_NAME, FEED, META].map(|name| family(&engine, name));
        engine.flush_cfs_opt(&families, &FlushOptions::default()).map_err(failed)?;
        if let Err(error) = tidy::tidy(&self.shared, tidy::AT_CLOSE_BYTES_MAX) {
            tracing::warn!(%error, "the store was closed untidied");
        }
        super::log::remove_spent(&rows_of(self.shared.path()));
        self.shared.ballast.end();
        Ok(())
    }
}

/// Marks the store failed if the committer ends in a panic.
struct FailOnPanic {
    shared: Arc<Shared>,
    armed: bool,
}

impl Drop for FailOnPanic {
    fn drop(&mut self) {
        if self.armed {
            self.shared.fail();
        }
    }
}

/// Syncs the log at intervals until the committer ends.
fn sync_at_intervals(shared: &Shared, interval: Duration, stopped: &StopReceiver<()>) {
    let mut synced = 0;
    let mut is_told = false;
    while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
        let written = shared.counters.batches.load(Ordering::Acquire);
        if written == synced || shared.check_commits().is_err() {
            continue;
        }
        let Ok(engine) = shared.engine() else { continue };
        shared.counters.syncs.fetch_add(1, Ordering::Relaxed);
        match engine.flush_wal(true) {
            Ok(()) => (synced, is_told) = (written, false),
            // The committer's write that failed knows the cause, and takes note of it before the next sync.
            Err(error) if !is_told && error.as_ref().contains(FAILED_BEFORE) => is_told = true,
            Err(error) => shared.note_failure(&engine_failed(shared.path(), "sync", error)),
        }
    }
}

fn repeat(outcome: &Result<(), Error>) -> Result<(), Error> {
    match outcome {
        Ok(()) => Ok(()),
        Err(error) => Err(Error::new(error.kind(), error.action())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::EmbeddedOptions;

    const LONG: Duration = Duration::from_secs(3_600);

    fn batch(folder: &std::path::Path) -> (Arc<Shared>, Batch) {
        let options = EmbeddedOptions { disk_free_min: Some(0), ..EmbeddedOptions::recommended() };
        let shared = Arc::new(Shared::open(folder, options).unwrap());
        (Arc::clone(&shared), Batch::new(shared))
    }

    #[test]
    fn a_lease_of_a_batch_that_was_not_written_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let (_shared, mut batch) = batch(folder.path());
        assert!(batch.lease("job", LONG).unwrap().is_some());
        // As after a look at the folder that failed.
        batch.begin_anew();
        assert!(batch.lease("job", LONG).unwrap().is_some());
        batch.keep_leases();
        batch.clear();
        assert!(batch.lease("job", LONG).unwrap().is_none(), "one that was written is taken");
    }

    #[test]
    fn a_lease_of_somebody_who_went_away_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let (shared, batch) = batch(folder.path());
        let mut committer = Committer { batch, shared, replies: Vec::new(), looked: None, is_to_sync: false };
        let ask = |committer: &mut Committer| {
            let (answer, told) = oneshot::channel();
            committer.accept(Request::Lease { name: "job".into(), ttl: LONG, answer }, &mut Vec::new());
            told
        };
        drop(ask(&mut committer));
        assert!(committer.write());
        let mut told = ask(&mut committer);
        assert!(committer.write());
        assert!(told.try_recv().unwrap().unwrap().is_some());
    }

    #[test]
    fn the_number_of_a_load_is_not_given_again() {
        let folder = tempfile::tempdir().unwrap();
        let (shared, mut batch) = batch(folder.path());
        let things = store_contract::testing::things(0);
        let load = batch.open_load(things.clone(), shared.fence()).unwrap();
        // As after a look at the folder that failed.
        batch.begin_anew();
        let stamp = batch.commit(&[], &Commit::of_bump(&things, Vec::new())).unwrap();
        assert!(store_contract::incarnation::number_of_stamp(stamp) > load.number());
    }
}
