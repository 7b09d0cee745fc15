//! The engine's manifest after a load that failed amid its last step.
//!
//! The engine notes in its manifest which tables it takes in, and syncs it. If that sync fails, it removes the tables, though the note may be
//! in the file: then it would miss them when it is opened, and open no more. Nothing is noted behind such a note: a manifest whose sync
//! failed is not written again. So the last notes are cut off until no table is missing. The load was never acknowledged.

use std::fs;
use std::path::Path;

use store_contract::{Error, ErrorKind};

use super::folder::{failed, rows_of};
use super::options::EmbeddedOptions;
use super::{load_folder, log, tuning};

/// Notes that are written together.
const CUTS_MAX: usize = 16;

/// Cuts off what a load that failed has left in the manifest of a store. Cost: a look for what such a load leaves; seldom a reading of the
/// manifest.
///
/// # Errors
///
/// What the file system says.
pub(crate) fn mend(store: &Path, options: &EmbeddedOptions) -> Result<(), Error> {
    if !load_folder::has_failed(store) {
        return Ok(());
    }
    let rows = rows_of(store);
    if !misses_table(&rows, options) {
        return Ok(());
    }
    let current = rows.join("CURRENT");
    let name = fs::read_to_string(&current).map_err(|error| failed(&current, "read", error))?;
    let manifest = rows.join(name.trim_end());
    let before = fs::read(&manifest).map_err(|error| failed(&manifest, "read", error))?;
    tracing::warn!(manifest = %manifest.display(), "a load failed: what it noted of its tables is cut off");
    for _ in 0..CUTS_MAX {
        let is_cut = log::cut_last_record(&manifest).map_err(|error| failed(&manifest, "cut", error))?;
        if !is_cut || !misses_table(&rows, options) {
            return Ok(());
        }
    }
    // It was something else: whoever opens the store is told.
    fs::write(&manifest, before).map_err(|error| failed(&manifest, "write", error))
}

/// Whether the engine would not open for want of a table. It opens all tables for that, and reads no log.
fn misses_table(rows: &Path, options: &EmbeddedOptions) -> bool {
    let is_missing = |error: Error| {
        error.kind() == ErrorKind::Corrupt
            && error.action().contains("No such file")
            && error.action().contains(".sst")
    };
    tuning::oldest_log_needed(rows, options).err().is_some_and(is_missing)
}
