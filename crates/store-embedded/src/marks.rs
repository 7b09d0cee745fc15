//! Marks of loads: the row that comes into the engine with the rows of a load, and says what the feed is to tell of it. It goes when the
//! feed tells it; a crash between the two leaves it to the next opening, which has the feed tell it.
//!
//! | key, in the family of rows | value                                                    |
//! |----------------------------|----------------------------------------------------------|
//! | 255, `l`, number (u64)     | 1 and the change as the feed stores it, or 0 and a commit that says nothing, without its number |
//!
//! No tenant's rows begin with 255 (`place.rs`).

use rocksdb::{DB, DEFAULT_COLUMN_FAMILY_NAME, Direction, IteratorMode, WriteBatch, WriteOptions};
use store_contract::{Commit, Error};

use super::failure::{engine_failed, family};
use super::format::{FEED, damaged, hidden_key, sequence_of_key, write_change, write_hidden};

const HEAD: [u8; 2] = [u8::MAX, b'l'];
const SAYS_NOTHING: u8 = 0;
const SAYS: u8 = 1;

/// The key of the mark of a load.
pub(crate) fn mark_key(number: u64) -> Vec<u8> {
    [&HEAD[..], &number.to_be_bytes()].concat()
}

/// The mark of a load, of which the feed is to tell as of this commit.
pub(crate) fn mark_of(said: &Commit) -> Vec<u8> {
    let mut bytes = Vec::new();
    match &said.change {
        Some(record) => {
            write_change(&mut bytes, said, record);
            bytes.insert(0, SAYS);
        }
        None => {
            // The number comes first.
            write_hidden(&mut bytes, 0, said);
            bytes.drain(..size_of::<u64>());
            bytes.insert(0, SAYS_NOTHING);
        }
    }
    bytes
}

/// Has the feed tell of the loads whose rows came in and whose process died then, durably. To be called before anything else is
/// read of an engine that was opened. Cost: a seek.
///
/// # Errors
///
/// What the engine says; `Corrupt`.
pub(crate) fn tell_loads(db: &DB) -> Result<(), Error> {
    let failed = |error| engine_failed(db.path(), "open", error);
    let rows = family(db, DEFAULT_COLUMN_FAMILY_NAME);
    let feed = family(db, FEED);
    let (mut batch, mut newest) = (WriteBatch::default(), 0);
    let mut reading = rocksdb::ReadOptions::default();
    reading.set_total_order_seek(true);
    let mut marks = Vec::new();
    for row in db.iterator_cf_opt(rows, reading, IteratorMode::From(&HEAD, Direction::Forward)) {
        let (key, value) = row.map_err(failed)?;
        let Some(number) = key.strip_prefix(&HEAD) else { break };
        newest = u64::from_be_bytes(number.try_into().map_err(|_| damaged("the mark of a load"))?);
        marks.push((key, value));
    }
    if marks.is_empty() {
        return Ok(());
    }
    if let Some(row) = db.iterator_cf(feed, IteratorMode::End).next() {
        let (key, _) = row.map_err(failed)?;
        newest = newest.max(sequence_of_key(&key).ok_or_else(|| damaged("the feed"))?);
    }
    for (key, value) in marks {
        newest += 1;
        match value.split_first() {
            Some((&SAYS, change)) => batch.put_cf(feed, newest.to_be_bytes(), change),
            Some((&SAYS_NOTHING, rest)) => {
                batch.put_cf(feed, hidden_key(newest), [&newest.to_be_bytes()[..], rest].concat());
            }
            _ => return Err(damaged("the mark of a load")),
        }
        batch.delete_cf(rows, key);
    }
    let mut synced = WriteOptions::default();
    synced.set_sync(true);
    db.write_opt(batch, &synced).map_err(failed)
}
