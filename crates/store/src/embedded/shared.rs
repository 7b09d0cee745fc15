//! What readers, the committer and the handle share: the open engine, its state, its counters.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use parking_lot::{RwLock, RwLockReadGuard};
use rocksdb::{DB, IteratorMode};

use super::cache::Cache;
use super::folder::Folder;
use super::format::{FEED, FEED_FIRST, META, damaged, parse_sequence, remember_space};
use super::{Durability, EmbeddedOptions, log, tuning};
use crate::spaces::Spaces;
use crate::{Error, ErrorKind, Statistics};

const SERVING: u8 = 0;
const FAILED: u8 = 1;
const CLOSED: u8 = 2;

/// The open store.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: EmbeddedOptions,
    pub(crate) cache: Cache,
    pub(crate) spaces: Spaces,
    pub(crate) counters: Counters,
    /// The newest commit that is durable and shown.
    pub(crate) sequence: AtomicU64,
    /// The oldest change the feed keeps.
    pub(crate) feed_first: AtomicU64,
    state: AtomicU8,
    path: PathBuf,
    /// Engine and lock, until the store is closed. The guard is held for one call each.
    open: RwLock<Option<Opened>>,
}

/// The engine and the right to it; dropped in this order.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) db: DB,
    _folder: Folder,
}

/// What only grows.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) commits: AtomicU64,
    pub(crate) conflicts: AtomicU64,
    pub(crate) batches: AtomicU64,
    pub(crate) syncs: AtomicU64,
    pub(crate) bytes_written: AtomicU64,
}

impl Shared {
    pub(crate) fn open(path: &Path, options: EmbeddedOptions) -> Result<Self, Error> {
        let mut folder = Folder::open(path)?;
        if options.durability == Durability::Sync && !folder.is_creating() {
            log::check(&folder.rows())?;
        }
        let db = tuning::open(&folder.rows(), folder.is_creating(), &options)?;
        folder.finish()?;
        let spaces = Spaces::new();
        let (sequence, feed_first) = recover(&db, &spaces)?;
        Ok(Self {
            cache: Cache::new(options.cache_bytes),
            spaces,
            counters: Counters::default(),
            sequence: AtomicU64::new(sequence),
            feed_first: AtomicU64::new(feed_first),
            state: AtomicU8::new(SERVING),
            path: folder.path().to_owned(),
            open: RwLock::new(Some(Opened { db, _folder: folder })),
            options,
        })
    }

    /// The engine, unless the store is closed. Not to be held over an await.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the store is closed.
    pub(crate) fn engine(&self) -> Result<Engine<'_>, Error> {
        let guard = self.open.read();
        if guard.is_some() { Ok(Engine(guard)) } else { Err(closed()) }
    }

    /// Where the store lies.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.load(Ordering::Acquire) == CLOSED
    }

    pub(crate) fn check_writable(&self) -> Result<(), Error> {
        match self.state.load(Ordering::Acquire) {
            SERVING => Ok(()),
            FAILED => Err(self.read_only()),
            _ => Err(closed()),
        }
    }

    /// The refusal of a store whose disk failed.
    pub(crate) fn read_only(&self) -> Error {
        let action = format!(
            "write to {}: an earlier write failed, the store only reads until it is opened again",
            self.path.display()
        );
        Error::new(ErrorKind::Unavailable, action)
    }

    /// From now on nothing is written: what is on disk is no longer known.
    pub(crate) fn fail(&self) {
        // A closed store stays closed.
        let _ = self.state.compare_exchange(SERVING, FAILED, Ordering::AcqRel, Ordering::Acquire);
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.state.load(Ordering::Acquire) == FAILED
    }

    /// Waits for reads that run, and gives engine and folder free.
    pub(crate) fn close(&self) {
        self.state.store(CLOSED, Ordering::Release);
        let opened = self.open.write().take();
        drop(opened);
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let (cache_hits, cache_misses, cache_bytes) = self.cache.counts();
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Statistics {
            commits: read(&self.counters.commits),
            conflicts: read(&self.counters.conflicts),
            batches: read(&self.counters.batches),
            syncs: read(&self.counters.syncs),
            bytes_written: read(&self.counters.bytes_written),
            cache_hits,
            cache_misses,
            cache_bytes,
            queue_requests: 0,
            memtable_bytes: self.property("rocksdb.size-all-mem-tables"),
            data_bytes: self.property("rocksdb.estimate-live-data-size"),
            sequence: read(&self.sequence),
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

/// The engine, held open.
pub(crate) struct Engine<'a>(RwLockReadGuard<'a, Option<Opened>>);

impl std::ops::Deref for Engine<'_> {
    type Target = DB;

    fn deref(&self) -> &DB {
        &self.0.as_ref().expect("checked when the guard was made, and a guard keeps the store open").db
    }
}

/// What the engine says of itself when it fails, as a refusal.
pub(crate) fn engine_failed(path: &Path, doing: &str, error: rocksdb::Error) -> Error {
    let kind = match error.kind() {
        rocksdb::ErrorKind::Corruption => ErrorKind::Corrupt,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, format!("{doing} {}: {error}", path.display())).with_source(error)
}

/// The family named `name`.
pub(crate) fn family<'a>(db: &'a DB, name: &str) -> &'a rocksdb::ColumnFamily {
    db.cf_handle(name).expect("every store is opened with all its families")
}

fn closed() -> Error {
    Error::new(ErrorKind::Unavailable, "use a store that was closed")
}

/// Newest commit and oldest change kept; notes the spaces that were used.
fn recover(db: &DB, spaces: &Spaces) -> Result<(u64, u64), Error> {
    let failed = |error| engine_failed(db.path(), "open", error);
    let newest = db.iterator_cf(family(db, FEED), IteratorMode::End).next().transpose().map_err(failed)?;
    let sequence = match newest {
        Some((key, _)) => parse_sequence(&key).ok_or_else(|| damaged("the feed"))?,
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
    Ok((sequence, first))
}
