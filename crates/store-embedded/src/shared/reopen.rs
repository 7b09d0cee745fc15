//! The engine closed, and opened again after its disk was full.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use rocksdb::DB;
use store_contract::{Error, ErrorKind};

use super::{Shared, recover};
use crate::feed_log::FeedLog;
use crate::folder::rows_of;
use crate::options::Durability;
use crate::state::State;
use crate::{directory, log, manifest, marks, tuning};

/// How long an engine that is to be opened again is waited for: a backup may hold it for long.
const REOPEN_WAIT: Duration = Duration::from_millis(100);
/// How long readers wait at once meanwhile, so that those who use the engine come to an end.
const READERS_WAIT: Duration = Duration::from_millis(1);
/// How long an engine that is closed is waited for.
const CLOSE_WAIT: Duration = Duration::from_secs(10);
/// How long to wait before a look whether the engine is free.
const FREE_PAUSE: Duration = Duration::from_millis(1);

impl Shared {
    /// Opens a store anew whose disk was full: what its log holds is read again and written to tables that are synced, so
    /// that what it shows from then on is on disk, whatever became of the write that failed. Where there is no room for
    /// that, the store goes on reading. To be called by the only writer.
    ///
    /// # Errors
    ///
    /// `NoSpace` if there is no room yet, `Unavailable` if a reader holds the engine for long, `Locked` if somebody else has
    /// the rows open: to be tried again; anything else for ever.
    pub(crate) fn reopen(&self) -> Result<(), Error> {
        // Readers are refused for a moment rather than made to wait.
        if let Some(opened) = self.take_engine()? {
            self.snapshots.end();
            if let Err(opened) = close_engine(opened, REOPEN_WAIT) {
                *self.open.write() = Some(opened);
                return Err(engine_in_use());
            }
        }
        let rows = rows_of(&self.path);
        manifest::mend(&self.path, &self.options)?;
        // Whatever the durability: the system has not lost power since this process wrote the logs.
        log::check(&rows, Durability::Sync, || tuning::oldest_log_needed(&rows, &self.options))?;
        let opened = tuning::open(&rows, false, &self.options);
        match opened.and_then(|db| marks::tell_loads(&db).map(|()| db)) {
            Ok(db) => self.take_in(db)?,
            Err(error) => {
                self.take_in(tuning::open_to_read(&rows, &self.options)?)?;
                return Err(error);
            }
        }
        let is_low = self.disk().is_some_and(|disk| disk.is_low(&self.options));
        self.state.recover(State::Full, if is_low { State::Low } else { State::Serving });
        Ok(())
    }

    /// Takes the engine from its readers once none of them holds it.
    fn take_engine(&self) -> Result<Option<Arc<DB>>, Error> {
        let begun = Instant::now();
        loop {
            // Not for longer at once: whoever waits to write keeps new readers out.
            if let Some(mut open) = self.open.try_write_for(READERS_WAIT) {
                return Ok(open.take());
            }
            if begun.elapsed() >= REOPEN_WAIT {
                return Err(engine_in_use());
            }
            thread::sleep(FREE_PAUSE);
        }
    }

    /// Shows what an engine holds that was opened anew.
    fn take_in(&self, db: DB) -> Result<(), Error> {
        let (sequence, feed_first) = recover(&db, (&self.spaces, &self.models))?;
        let shown = self.sequence.load(Ordering::Acquire);
        if sequence < shown {
            let action = format!(
                "open {} again: commit {shown} was acknowledged, and {sequence} is the last one found",
                self.path.display()
            );
            return Err(Error::new(ErrorKind::Corrupt, action));
        }
        *self.feed_log.lock() = FeedLog::recover(&db)?;
        directory::end_removed(&db, &self.lives)?;
        // Before the engine can be read: what a reader found in the old one does not settle in the cache.
        self.cache.clear();
        self.counted.clear();
        self.feed_first.store(feed_first, Ordering::Release);
        self.sequence.store(sequence, Ordering::Release);
        self.written.store(sequence, Ordering::SeqCst);
        *self.open.write() = Some(Arc::new(db));
        Ok(())
    }

    /// Waits for reads that run, and gives engine and folder free.
    pub(crate) fn close(&self) {
        let is_lost = self.state() == State::Lost;
        self.state.worsen(State::Closed);
        let opened = self.open.write().take();
        self.snapshots.end();
        let folder = self.folder.lock().take();
        if is_lost {
            // An engine that is closed looks its files up by their names, and writes those anew that it finds changed:
            // those of whoever owns the path by now. The process is about to end.
            std::mem::forget(opened);
        } else if let Some(Err(_in_use)) = opened.map(|opened| close_engine(opened, CLOSE_WAIT)) {
            // Nobody may open the folder while this engine may write there: it stays locked until the process ends.
            tracing::error!(path = %self.path.display(), "a read does not end: the folder stays locked");
            std::mem::forget(folder);
            return;
        }
        drop(folder);
    }
}

/// Closes an engine that no reader can get hold of any more. A snapshot that nobody can read may be about to go still, and
/// holds the engine until it has: it is waited for.
///
/// # Errors
///
/// The engine, if it is still in use after `wait`.
fn close_engine(mut engine: Arc<DB>, wait: Duration) -> Result<(), Arc<DB>> {
    let begun = Instant::now();
    loop {
        match Arc::try_unwrap(engine) {
            Ok(engine) => {
                drop(engine);
                return Ok(());
            }
            Err(in_use) if begun.elapsed() >= wait => return Err(in_use),
            Err(in_use) => engine = in_use,
        }
        thread::sleep(FREE_PAUSE);
    }
}

fn engine_in_use() -> Error {
    Error::new(ErrorKind::Unavailable, "open again: a reader or a backup is under way")
}
