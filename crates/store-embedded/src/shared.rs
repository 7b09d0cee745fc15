//! What readers, the committer and the handle share: the open engine, its state, its counters.

mod health;
mod reopen;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use rocksdb::{DB, IteratorMode};

use super::cache::Cache;
use super::counted::{Counted, RUN_ROWS};
use super::disk::{Ballast, Disk, makes_room};
use super::failure::{engine_failed, family};
use super::feed_log::FeedLog;
use super::folder::{Folder, Identity};
use super::format::{
    FEED, FEED_FIRST, META, MODEL, damaged, parse_sequence, remember_model, remember_space, sequence_of_key,
};
use super::loads::Loads;
use super::options::EmbeddedOptions;
use super::snapshots::Snapshots;
use super::state::{State, StateCell};
use super::{directory, incarnation, load_folder, log, manifest, marks, tuning};
use store_contract::fence::{epoch_of, number_of_epoch};
use store_contract::incarnation::Incarnation;
use store_contract::lives::Lives;
use store_contract::register::{Models, Spaces};
use store_contract::{Commit, Epoch, Error, ErrorKind, Statistics};

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
    /// Loads that are open.
    pub(crate) loads: Arc<Loads>,
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
    /// The engine, until the store is closed, and not while it is opened again. Each call takes the guard once.
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
        load_folder::clear(folder.path())?;
        marks::tell_loads(&db)?;
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
            loads: Arc::default(),
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
        manifest::mend(folder.path(), options)?;
        *is_cut |= log::check(&rows, options.durability, || tuning::oldest_log_needed(&rows, options))?;
    }
    let db = tuning::open(&folder.rows(), folder.is_creating(), options)?;
    let incarnation = incarnation::begin(&db, folder, options.durability, *is_cut)?;
    folder.finish()?;
    Ok((db, incarnation))
}

/// The engine; it is not closed before this is dropped.
pub(crate) struct Engine<'a>(RwLockReadGuard<'a, Option<Arc<DB>>>);

impl Engine<'_> {
    /// The engine, for a snapshot, which must be noted before this is dropped.
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

fn reopening() -> Error {
    Error::new(ErrorKind::Unavailable, "use a store that is being opened again after its disk was full")
}

fn closed() -> Error {
    Error::new(ErrorKind::Unavailable, "use a store that was closed")
}

/// Newest commit and oldest change stored; notes the spaces and models that were used.
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
