//! How RocksDB is set up: every choice with its reason. Measurements are in `docs/decisions`.

use std::path::Path;

use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamilyDescriptor, DB, DBCompressionType, DBRecoveryMode,
    ErrorKind as Cause, Options, SliceTransform, properties::MIN_LOG_NUMBER_TO_KEEP,
};

use super::format::{FEED, META};
use super::options::EmbeddedOptions;
use store_contract::place::is_point;
use store_contract::{Error, ErrorKind};

/// Bits of a bloom filter for each key: one look-up in a hundred for a key that is not there reads a block.
const BLOOM_BITS: f64 = 10.0;
/// The part of a memtable that its filter takes: ten bits for each of 270,000 keys in 64 MiB.
const MEMTABLE_FILTER_SHARE: f64 = 0.005;
/// What the engine's files call the choice of rows that are in filters.
const FILTERED: &str = "twinfold.point-rows";
const BLOCK_BYTES: usize = 16 * 1024;
/// A batch is written in the order of its places: the search for the next one begins where the one before was put.
/// One such place is remembered for all keys that begin with the same byte.
const INSERT_HINTS: &str = "memtable_insert_with_hint_prefix_extractor=rocksdb.FixedPrefix.1";
const FEED_MEMTABLE_BYTES: usize = 16 * 1024 * 1024;
const META_MEMTABLE_BYTES: usize = 1024 * 1024;
/// Files larger than this are synced bit by bit while they are written, so that no sync stalls commits.
const SYNC_STEP_BYTES: u64 = 1024 * 1024;
const INFO_LOG_BYTES: usize = 8 * 1024 * 1024;
const INFO_LOGS: usize = 4;

/// Opens the engine in `rows`, creating it only if `creating`.
pub(crate) fn open(rows: &Path, creating: bool, options: &EmbeddedOptions) -> Result<DB, Error> {
    let opened = DB::open_cf_descriptors(&engine(creating, options), rows, families(options)?);
    opened.map_err(|error| open_failed(rows, &error))
}

/// Opens the engine in `rows` for reading alone, which needs no room on the disk.
pub(crate) fn open_to_read(rows: &Path, options: &EmbeddedOptions) -> Result<DB, Error> {
    let families = families(options)?;
    let opened = DB::open_cf_descriptors_read_only(&engine(false, options), rows, families, false);
    opened.map_err(|error| open_failed(rows, &error))
}

/// The number of the oldest log in `rows` that the engine would read if it opened. Cost: it reads the manifest, no log.
///
/// # Errors
///
/// Those of opening: a manifest that is damaged, or files that are missing.
pub(crate) fn oldest_log_needed(rows: &Path, options: &EmbeddedOptions) -> Result<u64, Error> {
    let mut engine = engine(false, options);
    // Where no log lies.
    engine.set_wal_dir(rows.parent().unwrap_or(rows));
    let opened = DB::open_cf_descriptors_read_only(&engine, rows, families(options)?, false);
    let property = opened.and_then(|db| db.property_int_value(MIN_LOG_NUMBER_TO_KEEP));
    let oldest = property.map_err(|error| open_failed(rows, &error))?;
    oldest.ok_or_else(|| Error::new(ErrorKind::Corrupt, format!("open {}: it names no log", rows.display())))
}

fn families(options: &EmbeddedOptions) -> Result<[ColumnFamilyDescriptor; 3], Error> {
    let cache = Cache::new_hyper_clock_cache(options.block_cache_bytes, 0);
    Ok([
        ColumnFamilyDescriptor::new(rocksdb::DEFAULT_COLUMN_FAMILY_NAME, rows_family(options, &cache)?),
        ColumnFamilyDescriptor::new(FEED, feed_family(&cache)),
        ColumnFamilyDescriptor::new(META, meta_family(&cache)),
    ])
}

fn engine(creating: bool, options: &EmbeddedOptions) -> Options {
    let mut engine = Options::default();
    engine.create_if_missing(creating);
    engine.create_missing_column_families(creating);
    // One writer: what RocksDB does to let many write at once only costs.
    engine.set_allow_concurrent_memtable_write(false);
    engine.set_enable_write_thread_adaptive_yield(false);
    engine.set_max_background_jobs(options.background_jobs);
    // The log is read again after a kill: its size is the time to open.
    engine.set_max_total_wal_size(options.log_bytes_max);
    // A torn tail is dropped; `log.rs` has looked for damage before the tail by then.
    engine.set_wal_recovery_mode(DBRecoveryMode::PointInTime);
    engine.set_recycle_log_file_num(options.log_files_kept);
    engine.set_bytes_per_sync(SYNC_STEP_BYTES);
    engine.set_avoid_unnecessary_blocking_io(true);
    engine.set_stats_dump_period_sec(0);
    engine.set_max_log_file_size(INFO_LOG_BYTES);
    engine.set_keep_log_file_num(INFO_LOGS);
    engine
}

/// How tables of rows are written that the engine takes in.
pub(crate) fn table_of_rows(options: &EmbeddedOptions) -> Result<Options, Error> {
    // It reads nothing.
    rows_family(options, &Cache::new_lru_cache(0))
}

fn rows_family(options: &EmbeddedOptions, cache: &Cache) -> Result<Options, Error> {
    let hinted = Options::default().get_options_from_string(INSERT_HINTS);
    let hinted =
        hinted.map_err(|error| Error::new(ErrorKind::Misuse, format!("set up the engine: {error}")))?;
    let mut family = of_table(hinted, cache, Filter::PointRows);
    family.set_write_buffer_size(options.memtable_bytes);
    family.set_max_write_buffer_number(3);
    // `Absent` conditions ask for keys that are in no memtable.
    family.set_memtable_prefix_bloom_ratio(MEMTABLE_FILTER_SHARE);
    // A "prefix" is the whole key, of rows that are read by their key: others are in no filter. Scans must say that they
    // seek in the order of all keys.
    family.set_prefix_extractor(SliceTransform::create(FILTERED, |place| place, Some(is_point)));
    Ok(family)
}

/// Keys only grow and are read in order: no filter is of use, and files only move down.
fn feed_family(cache: &Cache) -> Options {
    let mut family = family(cache, Filter::None);
    family.set_write_buffer_size(FEED_MEMTABLE_BYTES);
    family
}

fn meta_family(cache: &Cache) -> Options {
    let mut family = family(cache, Filter::AllRows);
    family.set_write_buffer_size(META_MEMTABLE_BYTES);
    family
}

/// Of which rows a family has filters.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Filter {
    None,
    PointRows,
    AllRows,
}

fn family(cache: &Cache, filter: Filter) -> Options {
    of_table(Options::default(), cache, filter)
}

fn of_table(mut family: Options, cache: &Cache, filter: Filter) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(cache);
    table.set_block_size(BLOCK_BYTES);
    table.set_format_version(6);
    if filter != Filter::None {
        table.set_bloom_filter(BLOOM_BITS, false);
        table.set_optimize_filters_for_memory(true);
        table.set_whole_key_filtering(filter == Filter::AllRows);
    }
    family.set_block_based_table_factory(&table);
    family.set_compression_type(DBCompressionType::Lz4);
    family.set_level_compaction_dynamic_level_bytes(true);
    family
}

/// Says why the engine does not open; damage is named as damage.
fn open_failed(rows: &Path, error: &rocksdb::Error) -> Error {
    let said: &str = error.as_ref();
    let missing = said.contains("No such file") || said.contains("does not exist");
    let kind = match error.kind() {
        Cause::Corruption | Cause::InvalidArgument | Cause::NotFound => ErrorKind::Corrupt,
        Cause::IOError if missing => ErrorKind::Corrupt,
        Cause::IOError if said.contains("lock") => ErrorKind::Locked,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind.or_no_space(said), format!("open {}: {said}", rows.display()))
}
