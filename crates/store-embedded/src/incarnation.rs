//! When a store begins a new incarnation: when it is created, when a copy of one is first opened, when its last
//! process neither synced each commit nor closed it, and when its log is cut off at damage.

use rocksdb::{DB, WriteOptions};

use super::failure::{engine_failed, family};
use super::folder::Folder;
use super::format::{INCARNATION, META, damaged, incarnation_row, parse_incarnation};
use super::options::Durability;
use store_contract::Error;
use store_contract::incarnation::Incarnation;

/// The incarnation of a store that is being opened; `is_cut`: without all that was acknowledged. Durable before anything is written.
///
/// # Errors
///
/// `Corrupt` if the store does not say which one it had; what the engine says.
pub(super) fn begin(
    db: &DB,
    folder: &Folder,
    durability: Durability,
    is_cut: bool,
) -> Result<Incarnation, Error> {
    let failed = |error| engine_failed(db.path(), "open", error);
    let stored = db.get_pinned_cf(family(db, META), INCARNATION).map_err(failed)?;
    let stored = stored.map(|row| parse_incarnation(&row).ok_or_else(unsaid)).transpose()?;
    if stored.is_none() && !folder.is_creating() {
        return Err(unsaid());
    }
    let going_on = stored.filter(|(_, is_fragile)| !is_fragile && !folder.is_copy() && !is_cut);
    let incarnation = going_on.map_or_else(Incarnation::new, |(incarnation, _)| incarnation);
    let is_fragile = durability != Durability::Sync;
    if stored != Some((incarnation, is_fragile)) {
        write(db, incarnation, is_fragile)?;
    }
    Ok(incarnation)
}

/// Says of a store that is closed, and synced, that nothing of it is lost.
///
/// # Errors
///
/// What the engine says.
pub(super) fn end(db: &DB, incarnation: Incarnation) -> Result<(), Error> {
    write(db, incarnation, false)
}

fn write(db: &DB, incarnation: Incarnation, is_fragile: bool) -> Result<(), Error> {
    let mut options = WriteOptions::default();
    options.set_sync(true);
    let row = incarnation_row(incarnation, is_fragile);
    let written = db.put_cf_opt(family(db, META), INCARNATION, row, &options);
    written.map_err(|error| engine_failed(db.path(), "write to", error))
}

fn unsaid() -> Error {
    damaged("the incarnation")
}
