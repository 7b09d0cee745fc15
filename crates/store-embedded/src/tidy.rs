//! Gives back the room of overwritten and removed rows where the engine itself would leave it.
//!
//! The engine merges files once there are four new ones, each of them a full memtable: a store that is large beside its
//! memtables is never much larger than its rows. In a small one these few files can hold many times what is live. So
//! when a small store rests, and when it is closed, its files are merged if much of them is garbage.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use rocksdb::{CompactOptions, DEFAULT_COLUMN_FAMILY_NAME, LiveFile, properties};

use super::failure::{engine_failed, family};
use super::shared::{Engine, Shared};
use store_contract::Error;

/// A store at rest with more bytes of rows is left to the engine.
pub(crate) const AT_REST_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// The same of a store that is closed: its stop waits for the merge.
pub(crate) const AT_CLOSE_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// Less garbage is not worth a merge.
const GARBAGE_BYTES_MIN: u64 = 1024 * 1024;

/// What a memtable takes before it holds much: its first room, its filter.
const MEMTABLE_BYTES_MIN: u64 = 4 * 1024 * 1024;

/// Merges whenever the store rests, until it is stopped; each rest is looked at once. Ends snapshots that are too old.
pub(crate) fn whenever_at_rest(shared: &Shared, stopped: &Receiver<()>) {
    let newest = || shared.sequence.load(Ordering::Acquire);
    let (mut seen, mut tidied) = (newest(), newest());
    while stopped.recv_timeout(shared.options.rest) == Err(RecvTimeoutError::Timeout) {
        shared.snapshots.end_overdue();
        let now = newest();
        if now == seen && now != tidied {
            match tidy(shared, AT_REST_BYTES_MAX) {
                // What was passed over is looked at again.
                Ok(is_done) => tidied = if is_done { now } else { tidied },
                Err(error) => {
                    tidied = now;
                    tracing::warn!(%error, "the store at rest was not tidied");
                }
            }
        }
        seen = now;
    }
}

/// Merges the files of rows, and what memtables hold of them, if much of it is garbage. Blocks meanwhile. False if that had
/// to be left: writes have failed, or the disk is nearly full and has no room for what is merged.
///
/// Cost: a look at the list of files. A merge reads and writes all rows, at most `bytes_max`; it comes only after about half
/// as much as is live was written or removed. (Where rows that are removed are smaller than most, it comes earlier.)
///
/// # Errors
///
/// If the store is closed or its disk fails.
pub(crate) fn tidy(shared: &Shared, bytes_max: u64) -> Result<bool, Error> {
    if shared.check_commits().is_err() {
        return Ok(false);
    }
    let engine = shared.engine()?;
    let failed = |error| engine_failed(shared.path(), "look at the files of", error);
    let bytes = number(&engine, properties::TOTAL_SST_FILES_SIZE)?;
    if bytes > bytes_max {
        return Ok(true);
    }
    let files = engine.live_files().map_err(failed)?;
    let mut rows: Vec<&LiveFile> =
        files.iter().filter(|file| file.column_family_name == DEFAULT_COLUMN_FAMILY_NAME).collect();
    let mut weights = Weights::of(&mut rows);
    let memtable_bytes = number(&engine, properties::CUR_SIZE_ACTIVE_MEM_TABLE)?;
    weights.above_bytes += memtable_bytes.saturating_sub(MEMTABLE_BYTES_MIN);
    weights.removals += number(&engine, properties::NUM_DELETES_ACTIVE_MEM_TABLE)?;
    weights.erased_bytes = shared.counters.erased_bytes.load(Ordering::Relaxed);
    if weights.are_untidy() {
        // The old files go only after the new ones are whole.
        let needed = bytes.saturating_add(memtable_bytes);
        if !shared.is_serving() && shared.disk().is_some_and(|disk| disk.free_bytes() <= needed) {
            return Ok(false);
        }
        let everything = (None::<&[u8]>, None::<&[u8]>);
        let rows = family(&engine, DEFAULT_COLUMN_FAMILY_NAME);
        engine.compact_range_cf_opt(rows, everything.0, everything.1, &CompactOptions::default());
        shared.counters.erased_bytes.fetch_sub(weights.erased_bytes, Ordering::Relaxed);
    }
    Ok(true)
}

/// A property of the rows' family.
fn number(engine: &Engine<'_>, property: &properties::PropName) -> Result<u64, Error> {
    let rows = family(engine, DEFAULT_COLUMN_FAMILY_NAME);
    let value = engine.property_int_value_cf(rows, property);
    let value = value.map_err(|error| engine_failed(engine.path(), "read a property of", error))?;
    Ok(value.expect("a property that this engine has"))
}

/// What the files of rows weigh.
#[derive(Debug, Default)]
struct Weights {
    /// Whether there is a lowest level: files that were never merged may hold more garbage than what is live.
    is_merged: bool,
    /// Those that hold each row once: of the lowest level, or else the largest file.
    base_bytes: u64,
    base_rows: u64,
    /// What lies above them: newer rows, which hide older ones below.
    above_bytes: u64,
    /// Rows above that say that one below is removed.
    removals: u64,
    /// Bytes of what was removed with its tenant: one removal may hide any number of rows.
    erased_bytes: u64,
}

impl Weights {
    fn of(files: &mut [&LiveFile]) -> Self {
        files.sort_by_key(|file| (file.level, file.size));
        let lowest = files.last().map_or(0, |file| file.level);
        let mut weights = Self { is_merged: lowest > 0, ..Self::default() };
        for (place, file) in files.iter().rev().enumerate() {
            // Files of the topmost level may hold the same rows.
            if place == 0 || (lowest > 0 && file.level == lowest) {
                weights.base_bytes += file.size as u64;
                weights.base_rows += file.num_entries;
            } else {
                weights.above_bytes += file.size as u64;
            }
            weights.removals += file.num_deletions;
        }
        weights
    }

    /// Whether what may be garbage is more than half of what is live at least. Taken for garbage: everything above, and of
    /// what lies below, a row of usual size for each removal; everything, where files that may hide each other's rows
    /// were never merged.
    fn are_untidy(&self) -> bool {
        if !self.is_merged && (self.above_bytes > 0 || self.removals > 0 || self.erased_bytes > 0) {
            return self.base_bytes + self.above_bytes >= GARBAGE_BYTES_MIN;
        }
        let row_bytes = self.base_bytes.checked_div(self.base_rows).unwrap_or(0);
        let removed_bytes = self.removals.saturating_mul(row_bytes).saturating_add(self.erased_bytes);
        let removed_bytes = removed_bytes.min(self.base_bytes);
        let garbage = self.above_bytes + removed_bytes;
        garbage >= GARBAGE_BYTES_MIN && garbage > (self.base_bytes - removed_bytes) / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files as level, mebibytes, rows and removals.
    #[track_caller]
    fn check(files: &[(i32, usize, u64, u64)], untidy: bool) {
        let file = |(level, mebibytes, rows, removals): &(i32, usize, u64, u64)| LiveFile {
            column_family_name: DEFAULT_COLUMN_FAMILY_NAME.to_owned(),
            name: String::new(),
            size: mebibytes << 20,
            level: *level,
            start_key: None,
            end_key: None,
            num_entries: *rows,
            num_deletions: *removals,
        };
        let files: Vec<LiveFile> = files.iter().map(file).collect();
        let weights = Weights::of(&mut files.iter().collect::<Vec<_>>());
        assert_eq!(weights.are_untidy(), untidy, "{weights:?}");
    }

    #[test]
    fn much_above_or_many_removals_are_untidy() {
        check(&[], false);
        check(&[(0, 60, 9_000, 0)], false);
        check(&[(0, 60, 9_000, 0), (0, 40, 9_000, 0)], true);
        check(&[(0, 60, 9_000, 0), (0, 2, 300, 0)], true);
        check(&[(0, 60, 9_000, 300)], true);
        check(&[(0, 0, 10, 0), (0, 0, 10, 0)], false);
        check(&[(6, 60, 9_000, 0), (6, 60, 9_000, 0)], false);
        check(&[(0, 20, 9_000, 0), (6, 60, 9_000, 0), (6, 60, 9_000, 0)], false);
        check(&[(0, 20, 9_000, 0), (5, 50, 9_000, 0), (6, 60, 9_000, 0), (6, 60, 9_000, 0)], true);
        check(&[(0, 1, 5_000, 5_000), (6, 60, 9_000, 0), (6, 60, 9_000, 0)], false);
        check(&[(0, 1, 8_000, 8_000), (6, 60, 9_000, 0), (6, 60, 9_000, 0)], true);
    }
}
