//! What readers, the committer and the handle share: the open engine, its state, its counters.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use rocksdb::{DB, IteratorMode};

use super::cache::Cache;
use super::counted::{Counted, RUN_ROWS};
use super::disk::{Ballast, Disk, makes_room};
use super::failure::{engine_failed, family};
use super::feed_log::FeedLog;
use super::folder::{Folder, Identity, Presence, rows_of};
use super::format::{
    FEED, FEED_FIRST, META, MODEL, damaged, parse_sequence, remember_model, remember_space, sequence_of_key,
};
use super::options::{Durability, EmbeddedOptions};
use super::snapshots::Snapshots;
use super::state::{State, StateCell};
use super::{directory, incarnation, log, tuning};
use store_contract::fence::{epoch_of, number_of_epoch};
use store_contract::incarnation::Incarnation;
use store_contract::lives::Lives;
use store_contract::register::{Models, Spaces};
use store_contract::{Commit, Epoch, Error, ErrorKind, Statistics};

/// How long an engine that is to be opened again is waited for: a backup may hold it for long.
const REOPEN_WAIT: Duration = Duration::from_millis(100);
/// How long readers are kept out at once meanwhile, so that those who hold the engine come to an end.
const READERS_WAIT: Duration = Duration::from_millis(1);
/// How long an engine that is closed is waited for.
const CLOSE_WAIT: Duration = Duration::from_secs(10);
/// How long to wait before a look whether the engine is free.
const FREE_PAUSE: Duration = Duration::from_millis(1);
/// How often it is said that the folder cannot be looked at.
const LOOK_WARNING_PAUSE: Duration = Duration::from_secs(10);

/// The open store.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: EmbeddedOptions,
    /// Which life of the store this is.
    pub(crate) incarnation: Incarnation,
    /// Given back when the disk is full.
    pub(crate) ballast: Ballast,
    pub(crate) cache: Cache,
    /// How many rows lie in ranges that were passed over.
    pub(crate) counted: Counted,
    pub(crate) spaces: Spaces,
    pub(crate) models: Models,
    /// Tenants that are there.
    pub(crate) lives: Arc<Lives>,
    /// The epoch of whichever partition: the number of the commit that began it.
    fence: AtomicU64,
    pub(crate) counters: Counters,
    /// The newest commit that is durable and shown.
    pub(crate) sequence: AtomicU64,
    /// The newest commit that may be durable: that of the batch which is being written, or was last.
    pub(crate) written: AtomicU64,
    /// What is read as it was.
    pub(crate) snapshots: Snapshots,
    /// How much the feed holds.
    pub(crate) feed_log: Mutex<FeedLog>,
    /// The oldest change the feed keeps.
    pub(crate) feed_first: AtomicU64,
    state: StateCell,
    path: PathBuf,
    identity: Identity,
    /// When it was last said that the folder cannot be looked at.
    look_warned: Mutex<Option<Instant>>,
    /// The engine, until the store is closed, and not while it is opened again. The guard is held for one call each.
    /// Snapshots share it: they end before it is closed.
    open: RwLock<Option<Arc<DB>>>,
    /// The right to the folder, until the store is closed.
    folder: Mutex<Option<Folder>>,
}

/// What only grows.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) commits: AtomicU64,
    pub(crate) conflicts: AtomicU64,
    pub(crate) cold_conditions: AtomicU64,
    pub(crate) batches: AtomicU64,
    pub(crate) syncs: AtomicU64,
    pub(crate) bytes_written: AtomicU64,
    pub(crate) times_full: AtomicU64,
    /// About so many bytes of files hold rows of removed tenants; until they are merged.
    pub(crate) erased_bytes: AtomicU64,
}

impl Shared {
    pub(crate) fn open(path: &Path, options: EmbeddedOptions) -> Result<Self, Error> {
        let mut folder = Folder::open(path)?;
        let ballast = Ballast::of(folder.path());
        let mut is_cut = false;
        let (db, incarnation) = in_room(&ballast, || open_engine(&mut folder, &options, &mut is_cut))?;
        let (spaces, models) = (Spaces::new(), Models::new());
        let (sequence, feed_first) = recover(&db, (&spaces, &models))?;
        let lives = Arc::new(Lives::new());
        directory::recover(&db, &lives)?;
        let feed_log = Mutex::new(FeedLog::recover(&db)?);
        let shared = Self {
            ballast,
            feed_log,
            cache: Cache::new(options.cache_bytes),
            counted: Counted::new(RUN_ROWS),
            spaces,
            models,
            lives,
            // Whatever was appended before is of an older epoch, or of this one.
            fence: AtomicU64::new(sequence),
            incarnation,
            counters: Counters::default(),
            sequence: AtomicU64::new(sequence),
            written: AtomicU64::new(sequence),
            snapshots: Snapshots::default(),
            feed_first: AtomicU64::new(feed_first),
            state: StateCell::default(),
            path: folder.path().to_owned(),
            identity: folder.identity()?,
            look_warned: Mutex::new(None),
            open: RwLock::new(Some(Arc::new(db))),
            folder: Mutex::new(Some(folder)),
            options,
        };
        if shared.disk().is_some_and(|disk| disk.is_low(&shared.options)) {
            shared.note_low();
        }
        Ok(shared)
    }

    /// The disk of the folder, if the system tells of it.
    pub(crate) fn disk(&self) -> Option<Disk> {
        Disk::of(&self.path)
    }

    /// The engine, unless the store is closed. Not to be held over an await.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the store is closed, or being opened again after its disk was full.
    pub(crate) fn engine(&self) -> Result<Engine<'_>, Error> {
        let guard = self.open.read();
        if guard.is_some() {
            return Ok(Engine(guard));
        }
        Err(match self.state() {
            State::Closed => closed(),
            State::Serving | State::Low | State::Full => reopening(),
            State::Failed | State::Lost => {
                let action = format!("read {}: it could not be opened again", self.path.display());
                Error::new(ErrorKind::Unavailable, action)
            }
        })
    }

    /// Where the store lies.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn state(&self) -> State {
        self.state.get()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state() == State::Closed
    }

    pub(crate) fn is_serving(&self) -> bool {
        self.state() == State::Serving
    }

    pub(crate) fn check_writable(&self) -> Result<(), Error> {
        self.state().refusal(&self.path).map_or(Ok(()), Err)
    }

    /// Whether commits are written, if only some.
    pub(crate) fn check_commits(&self) -> Result<(), Error> {
        let state = self.state();
        if state <= State::Low { Ok(()) } else { state.refusal(&self.path).map_or(Ok(()), Err) }
    }

    /// Notes the space and the model of a commit.
    ///
    /// # Errors
    ///
    /// `Misuse` if their numbers are those of others.
    pub(crate) fn learn(&self, commit: &Commit) -> Result<(), Error> {
        self.spaces.learn(commit.partition.space)?;
        commit.change.as_ref().map_or(Ok(()), |record| self.models.learn(record.model()))
    }

    /// The epoch of whichever partition.
    pub(crate) fn fence(&self) -> Epoch {
        epoch_of(self.fence.load(Ordering::Acquire))
    }

    /// Shows an epoch that has begun, durably.
    pub(crate) fn begin_epoch(&self, epoch: Epoch) {
        self.fence.store(number_of_epoch(epoch), Ordering::Release);
    }

    /// Whether this commit is written, as far as there is room.
    pub(crate) fn check_takes(&self, commit: &Commit) -> Result<(), Error> {
        commit.partition.tenant.check()?;
        match self.state() {
            State::Serving => Ok(()),
            State::Low if makes_room(commit) => Ok(()),
            state => state.refusal(&self.path).map_or(Ok(()), Err),
        }
    }

    /// Takes note that the disk is nearly full.
    pub(crate) fn note_low(&self) {
        if self.state.worsen(State::Low) {
            self.counters.times_full.fetch_add(1, Ordering::Relaxed);
            tracing::error!(path = %self.path.display(), "the disk is nearly full: the store only reads and removes until there is room");
        }
    }

    /// Takes note that the disk has room again; whether writes are taken.
    pub(crate) fn note_room(&self) -> bool {
        self.state.recover(State::Low, State::Serving)
    }

    /// From now on nothing is written: what is on disk is no longer known.
    pub(crate) fn fail(&self) {
        self.state.worsen(State::Failed);
    }

    /// Takes note of a write or sync that failed: a full disk may have room again, any other failure is not got over.
    pub(crate) fn note_failure(&self, error: &Error) {
        if error.kind() != ErrorKind::NoSpace {
            self.fail();
            tracing::error!(%error, "the store only reads until it is opened again");
        } else if self.state.worsen(State::Full) {
            self.counters.times_full.fetch_add(1, Ordering::Relaxed);
            self.ballast.give_back();
            tracing::error!(%error, "the disk is full: the store only reads until there is room");
        }
    }

    /// Whether the folder is known to be where it was. If it is not there, the store writes nothing any more: its path may
    /// belong to another store by now. If the file system does not say, the next look may tell. Cost: two look-ups of a
    /// path.
    pub(crate) fn check_folder(&self) -> bool {
        self.check_found(Identity::look)
    }

    /// The same of the folder's lock alone, which goes and is replaced with it. Cost: one look-up of a path.
    pub(crate) fn check_lock(&self) -> bool {
        self.check_found(Identity::look_at_lock)
    }

    fn check_found(&self, look: impl Fn(&Identity) -> Presence) -> bool {
        if self.state() >= State::Lost {
            return false;
        }
        match look(&self.identity) {
            Presence::Same => return true,
            Presence::Gone => {}
            Presence::Unknown(error) => {
                self.warn_of_look(&error);
                return false;
            }
        }
        if self.state.worsen(State::Lost) {
            self.leave_folder();
            if let Some(error) = State::Lost.refusal(&self.path) {
                tracing::error!(%error, "the data folder is lost: the store only reads what is open");
            }
        }
        false
    }

    /// Says at most every [`LOOK_WARNING_PAUSE`] that the folder cannot be looked at: each batch looks.
    fn warn_of_look(&self, error: &io::Error) {
        let mut warned = self.look_warned.lock();
        if warned.is_none_or(|warned| warned.elapsed() >= LOOK_WARNING_PAUSE) {
            *warned = Some(Instant::now());
            let path = self.path.display();
            tracing::warn!(%error, %path, "the data folder cannot be looked at: no write is acknowledged meanwhile");
        }
    }

    /// Why nothing is done by the folder's path, after a look that did not find it there.
    pub(crate) fn not_there(&self) -> Error {
        let state = self.state();
        let refusal = if state >= State::Lost { state.refusal(&self.path) } else { None };
        refusal.unwrap_or_else(|| {
            let path = self.path.display();
            let action =
                format!("look at {path}: the file system does not say whether it is the same folder");
            Error::new(ErrorKind::Unavailable, action)
        })
    }

    /// Keeps the engine from making and removing files by their names.
    fn leave_folder(&self) {
        let Ok(engine) = self.engine() else { return };
        if let Err(error) = engine.disable_file_deletions() {
            tracing::warn!(%error, "the engine may remove files at the path of the lost folder");
        }
        engine.cancel_all_background_work(false);
    }

    /// Opens a store anew whose disk was full: what its log holds is read again and written to tables that are synced, so
    /// that what it shows from then on is on disk, whatever became of the write that failed. Where there is no room for
    /// that, the store goes on reading. To be called by the only writer.
    ///
    /// # Errors
    ///
    /// `NoSpace` if there is no room yet, `Unavailable` if a reader holds the engine for long, `Locked` if somebody else has
    /// the rows open: to be tried again; anything else for ever.
    pub(crate) fn reopen(&self) -> Result<(), Error> {
        // Readers are told to come again rather than kept waiting.
        if let Some(opened) = self.take_engine()? {
            self.snapshots.end();
            if let Err(opened) = close_engine(opened, REOPEN_WAIT) {
                *self.open.write() = Some(opened);
                return Err(engine_held());
            }
        }
        let rows = rows_of(&self.path);
        // Whatever the durability: the system has not lost power since this process wrote the logs.
        log::check(&rows, Durability::Sync, || tuning::oldest_log_needed(&rows, &self.options))?;
        match tuning::open(&rows, false, &self.options) {
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
                return Err(engine_held());
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
        } else if let Some(Err(_held)) = opened.map(|opened| close_engine(opened, CLOSE_WAIT)) {
            // Nobody may open the folder while this engine may write there: it stays locked until the process ends.
            tracing::error!(path = %self.path.display(), "a read does not end: the folder stays locked");
            std::mem::forget(folder);
            return;
        }
        drop(folder);
    }

    /// Bytes in memtables.
    pub(crate) fn memtable_bytes(&self) -> u64 {
        self.property("rocksdb.size-all-mem-tables")
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let (cache_hits, cache_misses, cache_bytes) = self.cache.counts();
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Statistics {
            commits: read(&self.counters.commits),
            conflicts: read(&self.counters.conflicts),
            cold_conditions: read(&self.counters.cold_conditions),
            batches: read(&self.counters.batches),
            syncs: read(&self.counters.syncs),
            bytes_written: read(&self.counters.bytes_written),
            cache_hits,
            cache_misses,
            cache_bytes,
            queue_requests: 0,
            memtable_bytes: self.memtable_bytes(),
            data_bytes: self.property("rocksdb.estimate-live-data-size"),
            sequence: read(&self.sequence),
            times_full: read(&self.counters.times_full),
            is_writable: self.is_serving(),
        }
    }

    /// A property of the engine, summed over its families.
    fn property(&self, name: &str) -> u64 {
        let Ok(engine) = self.engine() else { return 0 };
        let families = [rocksdb::DEFAULT_COLUMN_FAMILY_NAME, FEED, META];
        let values = families.into_iter().filter_map(|family| {
            let family = engine.cf_handle(family)?;
            engine.property_int_value_cf(family, name).ok()?
        });
        values.sum()
    }
}

/// Does it again if the disk is full and the ballast can be given back.
fn in_room<T>(ballast: &Ballast, mut act: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    match act() {
        Err(error) if error.kind() == ErrorKind::NoSpace && ballast.give_back() => act(),
        outcome => outcome,
    }
}

/// Opens the engine of a folder, or creates it, and begins the store's life in it. `is_cut`: whether acknowledged commits were
/// cut off with the log, by this attempt or one before.
fn open_engine(
    folder: &mut Folder,
    options: &EmbeddedOptions,
    is_cut: &mut bool,
) -> Result<(DB, Incarnation), Error> {
    if !folder.is_creating() {
        let rows = folder.rows();
        *is_cut |= log::check(&rows, options.durability, || tuning::oldest_log_needed(&rows, options))?;
    }
    let db = tuning::open(&folder.rows(), folder.is_creating(), options)?;
    let incarnation = incarnation::begin(&db, folder, options.durability, *is_cut)?;
    folder.finish()?;
    Ok((db, incarnation))
}

/// The engine, held open.
pub(crate) struct Engine<'a>(RwLockReadGuard<'a, Option<Arc<DB>>>);

impl Engine<'_> {
    /// The engine, for a snapshot, which must be noted while this is held.
    pub(crate) fn share(&self) -> Arc<DB> {
        Arc::clone(self.opened())
    }

    fn opened(&self) -> &Arc<DB> {
        self.0.as_ref().expect("checked when the guard was made, and a guard keeps the store open")
    }
}

impl std::ops::Deref for Engine<'_> {
    type Target = DB;

    fn deref(&self) -> &DB {
        self.opened()
    }
}

/// Closes an engine that no reader can get hold of any more. A snapshot that nobody can read may be about to go still, and
/// holds the engine until it has: it is waited for.
///
/// # Errors
///
/// The engine, if it is still held after `wait`.
fn close_engine(mut engine: Arc<DB>, wait: Duration) -> Result<(), Arc<DB>> {
    let begun = Instant::now();
    loop {
        match Arc::try_unwrap(engine) {
            Ok(engine) => {
                drop(engine);
                return Ok(());
            }
            Err(held) if begun.elapsed() >= wait => return Err(held),
            Err(held) => engine = held,
        }
        thread::sleep(FREE_PAUSE);
    }
}

fn engine_held() -> Error {
    Error::new(ErrorKind::Unavailable, "open again: a reader or a backup is under way")
}

fn reopening() -> Error {
    Error::new(ErrorKind::Unavailable, "use a store that is being opened again after its disk was full")
}

fn closed() -> Error {
    Error::new(ErrorKind::Unavailable, "use a store that was closed")
}

/// Newest commit and oldest change kept; notes the spaces and models that were used.
fn recover(db: &DB, (spaces, models): (&Spaces, &Models)) -> Result<(u64, u64), Error> {
    let failed = |error| engine_failed(db.path(), "open", error);
    let newest = db.iterator_cf(family(db, FEED), IteratorMode::End).next().transpose().map_err(failed)?;
    let sequence = match newest {
        Some((key, _)) => sequence_of_key(&key).ok_or_else(|| damaged("the feed"))?,
        None => 0,
    };
    let meta = family(db, META);
    let first = match db.get_pinned_cf(meta, FEED_FIRST).map_err(failed)? {
        Some(first) => parse_sequence(&first).ok_or_else(|| damaged("the start of the feed"))?,
        None => 1,
    };
    for row in db.iterator_cf(meta, IteratorMode::From(b"s", rocksdb::Direction::Forward)) {
        let (key, value) = row.map_err(failed)?;
        if !key.starts_with(b"s") {
            break;
        }
        if !remember_space(spaces, &key, &value) {
            return Err(damaged("the list of spaces"));
        }
    }
    for row in db.iterator_cf(meta, IteratorMode::From(MODEL, rocksdb::Direction::Forward)) {
        let (key, value) = row.map_err(failed)?;
        if !key.starts_with(MODEL) {
            break;
        }
        if !remember_model(models, &key, &value) {
            return Err(damaged("the list of models"));
        }
    }
    Ok((sequence, first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_that_meets_a_full_disk_at_any_step_is_tried_in_the_room_of_the_ballast() {
        let folder = tempfile::tempdir().unwrap();
        let full = || Err(Error::new(ErrorKind::NoSpace, "write"));
        let tried = |ballast: bool| {
            if ballast {
                std::fs::write(folder.path().join("BALLAST"), "bytes").unwrap();
            }
            let mut attempts = 0;
            let outcome = in_room(&Ballast::of(folder.path()), || {
                attempts += 1;
                if attempts == 1 { full() } else { Ok(attempts) }
            });
            outcome.map_err(|error| error.kind())
        };
        assert_eq!(tried(true), Ok(2));
        assert_eq!(tried(false), Err(ErrorKind::NoSpace));
    }
}
