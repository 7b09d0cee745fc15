//! Backup of a serving store, and restore. A backup is a folder with a FORMAT and the rows; it has
//! its name only once it is whole and synced.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rocksdb::ReadOptions;
use rocksdb::checkpoint::Checkpoint;

use super::embedded::Embedded;
use super::failure::{engine_failed, family};
use super::folder::{
    Origin, check_format, check_is_folder, create_folder, failed, parent_of, rows_of, sync, write_format,
};
use super::format::{FEED, META};
use super::options::EmbeddedOptions;
use super::shared::Shared;
use super::state::State;
use store_contract::{Error, ErrorKind};

/// What a folder is called until it is whole.
const UNFINISHED: &str = ".unfinished";
/// Bytes read at once where all is read in order: few calls, little memory.
const READ_AHEAD_BYTES: usize = 2 * 1024 * 1024;

impl Shared {
    /// Writes a consistent copy of the store to `folder`. Blocks; files on the same disk are linked.
    pub(crate) fn back_up(&self, folder: &Path) -> Result<(), Error> {
        if folder.exists() {
            let action = format!("back up to {}: it exists already", folder.display());
            return Err(Error::new(ErrorKind::Unavailable, action));
        }
        if lies_in(folder, self.path()) {
            let action = format!("back up to {}: it lies in the data folder", folder.display());
            return Err(Error::new(ErrorKind::Misuse, action));
        }
        if !self.check_folder() {
            // Another store may lie there by now, and its files would be taken for ours.
            return Err(self.not_there());
        }
        if self.state() == State::Low && is_on_disk_of(folder, self.path()) {
            let refusal = State::Low.refusal(self.path());
            return refusal.map_or(Ok(()), Err);
        }
        let unfinished = begin(folder)?;
        {
            let engine = self.engine()?;
            let doing = |error| engine_failed(&unfinished, "back up to", error);
            let checkpoint = Checkpoint::new(&*engine).map_err(doing)?;
            checkpoint.create_checkpoint(rows_of(&unfinished)).map_err(doing)?;
        }
        // Who opens it, wherever it is copied to, begins a new incarnation.
        write_format(&unfinished, Origin::Copied).map_err(|error| failed(folder, "back up to", error))?;
        finish(&unfinished, folder).map_err(|error| failed(folder, "back up to", error))
    }

    /// Reads every block of every family and checks its sum. Blocks; costs reading all bytes.
    #[expect(deprecated, reason = "nothing else visits the rows beneath a deletion of a range")]
    fn verify(&self) -> Result<(), Error> {
        let engine = self.engine()?;
        for name in [rocksdb::DEFAULT_COLUMN_FAMILY_NAME, FEED, META] {
            let mut reading = ReadOptions::default();
            reading.set_total_order_seek(true);
            reading.set_verify_checksums(true);
            reading.fill_cache(false);
            reading.set_readahead_size(READ_AHEAD_BYTES);
            // Rows beneath a deletion of a range lie in blocks, too, and a compaction will read them.
            reading.set_ignore_range_deletions(true);
            let mut rows = engine.raw_iterator_cf_opt(family(&engine, name), reading);
            rows.seek_to_first();
            while rows.valid() {
                rows.next();
            }
            rows.status().map_err(|error| engine_failed(self.path(), "check the rows of", error))?;
        }
        Ok(())
    }
}

/// Copies a backup into `target`, which must be absent or empty, after reading the whole copy and
/// checking what it reads. What fails leaves nothing behind. Blocks; costs a copy of all bytes, and
/// reading them once more.
///
/// # Errors
///
/// `Corrupt` if `backup` is no backup, or of another format, or damaged; `Misuse` if there is no such
/// folder, or `target` holds something, or cannot be made there; `Unavailable` with what the file system said.
pub fn restore(backup: &Path, target: &Path) -> Result<(), Error> {
    check_is_folder(backup, "restore from")?;
    check_format(backup)?;
    if !rows_of(backup).is_dir() {
        return Err(Error::new(
            ErrorKind::Corrupt,
            format!("restore from {}: it has no rows", backup.display()),
        ));
    }
    if target.exists() {
        check_is_folder(target, "restore to")?;
    }
    if fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_some()) {
        let action = format!("restore to {}: the folder is not empty", target.display());
        return Err(Error::new(ErrorKind::Misuse, action));
    }
    let unfinished = begin(target)?;
    let filled = fill(&unfinished, backup, target);
    if filled.is_err() {
        // The failure is answered; what cannot be removed now is removed by the next attempt.
        let _ = fs::remove_dir_all(&unfinished);
    }
    filled
}

/// Makes `unfinished` a checked copy of `backup` and gives it the name `target`.
fn fill(unfinished: &Path, backup: &Path, target: &Path) -> Result<(), Error> {
    copy(&rows_of(backup), &rows_of(unfinished)).map_err(|error| failed(target, "restore to", error))?;
    write_format(unfinished, Origin::Copied).map_err(|error| failed(target, "restore to", error))?;
    check_rows(unfinished).map_err(|error| of_backup(backup, error))?;
    finish(unfinished, target).map_err(|error| failed(target, "restore to", error))
}

/// Opens the copy, which reads the log, wants all files to be there and begins a new incarnation, and reads every block.
fn check_rows(unfinished: &Path) -> Result<(), Error> {
    let store = Embedded::open(unfinished, EmbeddedOptions::recommended())?;
    store.shared().verify()
}

/// Damage found in the copy is the backup's: that is the folder whoever restores knows.
fn of_backup(backup: &Path, error: Error) -> Error {
    if error.kind() != ErrorKind::Corrupt {
        return error;
    }
    let action = format!("restore from {}: the backup is damaged: {}", backup.display(), error.action());
    Error::new(ErrorKind::Corrupt, action)
}

/// Whether a folder that is to be made lies on the same disk as another. One that the system does not know may.
fn is_on_disk_of(folder: &Path, other: &Path) -> bool {
    let device = |path: &Path| fs::metadata(path).ok().map(|found| found.dev());
    device(parent_of(folder)) == device(other)
}

/// Whether a folder that is to be made would lie in another, by whatever links it is reached.
fn lies_in(folder: &Path, other: &Path) -> bool {
    let found = folder.ancestors().find_map(|above| fs::canonicalize(above).ok());
    found.zip(fs::canonicalize(other).ok()).is_some_and(|(found, other)| found.starts_with(other))
}

/// An empty folder beside the one to be made; what an earlier attempt left is removed.
fn begin(folder: &Path) -> Result<PathBuf, Error> {
    let Some(name) = folder.file_name() else {
        let action = format!("create {}: the path must end with the name of the folder", folder.display());
        return Err(Error::new(ErrorKind::Misuse, action));
    };
    let mut name = name.to_owned();
    name.push(UNFINISHED);
    let unfinished = folder.with_file_name(name);
    let begun = match fs::remove_dir_all(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => create_folder(&unfinished),
    };
    begun.map_err(|error| match is_of_the_path(error.kind()) {
        true => Error::new(ErrorKind::Misuse, format!("create {}: {error}", folder.display())),
        false => failed(&unfinished, "create", error),
    })?;
    Ok(unfinished)
}

/// Whether a folder cannot be made where it was asked for, whatever the state of the disk.
fn is_of_the_path(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::InvalidFilename
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::NotFound
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
    )
}

/// Syncs everything and gives the folder its name.
fn finish(unfinished: &Path, folder: &Path) -> io::Result<()> {
    let rows = rows_of(unfinished);
    for entry in fs::read_dir(&rows)? {
        File::open(entry?.path())?.sync_all()?;
    }
    sync(&rows)?;
    fs::rename(unfinished, folder)?;
    sync(parent_of(folder))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
