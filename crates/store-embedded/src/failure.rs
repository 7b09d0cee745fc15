//! What all files here ask of the engine alike: its families, and its failures as refusals.

use std::path::Path;

use rocksdb::DB;

use store_contract::{Error, ErrorKind};

/// What the engine says of itself when it fails, as a refusal.
pub(crate) fn engine_failed(path: &Path, doing: &str, error: rocksdb::Error) -> Error {
    let kind = match error.kind() {
        rocksdb::ErrorKind::Corruption => ErrorKind::Corrupt,
        _ => ErrorKind::Unavailable.or_no_space(error.as_ref()),
    };
    Error::new(kind, format!("{doing} {}: {error}", path.display())).with_source(error)
}

/// The family named `name`.
pub(crate) fn family<'a>(db: &'a DB, name: &str) -> &'a rocksdb::ColumnFamily {
    db.cf_handle(name).expect("every store is opened with all its families")
}
