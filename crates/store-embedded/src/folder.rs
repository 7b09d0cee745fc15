//! The folder of a store: who holds it, what format it has, whether it was created whole.
//!
//! | file       | what it says                                                               |
//! |------------|----------------------------------------------------------------------------|
//! | `LOCK`     | locked by the process that serves the store                                 |
//! | `FORMAT`   | this is a store of Twinfold, of this format version, created by this version; `copy`, if it is one |
//! | `CREATING` | the creation did not finish: nothing was acknowledged, begin again          |
//! | `BALLAST`  | nothing: bytes that are given back when the disk is full                    |
//! | `rocksdb/` | the rows                                                                   |
//! | `loads/`   | rows of loads that are under way (`load_folder.rs`); emptied when it opens   |

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::format::FORMAT_VERSION;
use store_contract::{Error, ErrorKind};

const LOCK: &str = "LOCK";
const FORMAT: &str = "FORMAT";
const CREATING: &str = "CREATING";
const ROWS: &str = "rocksdb";
const FORMAT_TITLE: &str = "twinfold store";
/// What the FORMAT of a copy says.
const FORMAT_COPY: &str = "copy";
/// A FORMAT until it is whole.
const FORMAT_WRITTEN: &str = "FORMAT.unfinished";
/// No FORMAT file is longer; anything longer is not ours.
const FORMAT_BYTES_MAX: u64 = 1024;

/// A folder locked by this process until it is dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    creating: bool,
    is_copy: bool,
    /// The lock goes with the file.
    lock: File,
}

/// What tells a store's folder from another one at the same path: the lock file and the folder of rows that lie in it.
/// Their numbers are given to no other file as long as both are open, as the lock is while it is locked.
#[derive(Debug)]
pub(crate) struct Identity {
    lock: Member,
    rows: Member,
    _open_rows: File,
}

/// What lies at a path.
#[derive(Debug)]
struct Member {
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// What a look at a path found.
#[derive(Debug)]
pub(crate) enum Presence {
    /// What was there before.
    Same,
    /// Nothing, or something else.
    Gone,
    /// The file system did not say: it may be any of the two.
    Unknown(io::Error),
}

impl Identity {
    /// Whether the folder at the path is still this one, and the rows in it. Cost: two look-ups of a path, some
    /// microseconds each.
    pub(crate) fn look(&self) -> Presence {
        match self.lock.look() {
            Presence::Same => self.rows.look(),
            other => other,
        }
    }

    /// Whether the folder at the path is still this one. Cost: one look-up.
    pub(crate) fn look_at_lock(&self) -> Presence {
        self.lock.look()
    }
}

impl Member {
    fn new(path: PathBuf, open: &File) -> io::Result<Self> {
        let found = open.metadata()?;
        Ok(Self { path, device: found.dev(), inode: found.ino() })
    }

    /// Only another file, or none, says that this one has gone: a path that may not be searched for a second, or a disk
    /// or a server that fails for one, says nothing of it.
    fn look(&self) -> Presence {
        match fs::metadata(&self.path) {
            Ok(found) if (found.dev(), found.ino()) == (self.device, self.inode) => Presence::Same,
            Ok(_) => Presence::Gone,
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Presence::Gone,
                _ => Presence::Unknown(error),
            },
        }
    }
}

impl Folder {
    /// Takes hold of a store's folder, or begins to create one where nothing is.
    ///
    /// # Errors
    ///
    /// `Locked` if another process holds it; `Corrupt` if it is no store, or one of another format;
    /// `Misuse` if it is a file; `Unavailable` with what the file system said.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        if path.exists() {
            check_is_folder(path, "open")?;
        }
        create_folder(path).map_err(|error| failed(path, "create", error))?;
        let lock = lock(path)?;
        let (creating, is_copy) = match fs::metadata(path.join(CREATING)) {
            Ok(_) => (true, false),
            Err(_) if path.join(FORMAT).exists() => (false, check_format(path)? == Origin::Copied),
            Err(_) => {
                check_empty(path)?;
                (true, false)
            }
        };
        let folder = Self { path: path.to_owned(), creating, is_copy, lock };
        if creating {
            folder.begin().map_err(|error| failed(path, "create", error))?;
        }
        Ok(folder)
    }

    /// What tells this folder from another one that may lie at its path later.
    ///
    /// # Errors
    ///
    /// `Unavailable` with what the file system said.
    pub(crate) fn identity(&self) -> Result<Identity, Error> {
        let identity = || {
            let rows = File::open(self.rows())?;
            Ok(Identity {
                lock: Member::new(self.path.join(LOCK), &self.lock)?,
                rows: Member::new(self.rows(), &rows)?,
                _open_rows: rows,
            })
        };
        identity().map_err(|error| failed(&self.path, "look at", error))
    }

    /// Where the rows lie.
    pub(crate) fn rows(&self) -> PathBuf {
        self.path.join(ROWS)
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the store is being created: the engine may create what is missing.
    pub(crate) fn is_creating(&self) -> bool {
        self.creating
    }

    /// Whether it is a copy of a store, opened for the first time.
    pub(crate) fn is_copy(&self) -> bool {
        self.is_copy
    }

    /// Says that the creation is finished, and that a copy is a store of its own.
    ///
    /// # Errors
    ///
    /// `Unavailable` with what the file system said.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        if self.creating {
            let removed = fs::remove_file(self.path.join(CREATING)).and_then(|()| sync(&self.path));
            removed.map_err(|error| failed(&self.path, "create", error))?;
            self.creating = false;
        }
        if self.is_copy {
            write_format(&self.path, Origin::Created).map_err(|error| failed(&self.path, "open", error))?;
            self.is_copy = false;
        }
        Ok(())
    }

    fn begin(&self) -> io::Result<()> {
        if !self.path.join(CREATING).exists() {
            write_synced(&self.path.join(CREATING), b"")?;
            sync(&self.path)?;
        }
        if self.rows().exists() {
            fs::remove_dir_all(self.rows())?;
        }
        write_format(&self.path, Origin::Created)
    }
}

/// Where the rows of a folder come from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Origin {
    /// They were written here.
    Created,
    /// They were copied, and nobody has opened the copy.
    Copied,
}

/// Writes the FORMAT file of this version into a folder, durably, and at once if there is one.
pub(crate) fn write_format(folder: &Path, origin: Origin) -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!("{FORMAT_TITLE}\nformat {FORMAT_VERSION}\ncreated by {version}\n");
    if origin == Origin::Copied {
        text.push_str(FORMAT_COPY);
        text.push('\n');
    }
    let written = folder.join(FORMAT_WRITTEN);
    write_synced(&written, text.as_bytes())?;
    fs::rename(written, folder.join(FORMAT))?;
    sync(folder)
}

/// Refuses a folder whose FORMAT file is not of this version; says whether it is a copy.
///
/// # Errors
///
/// `Corrupt` if there is none, or another.
pub(crate) fn check_format(folder: &Path) -> Result<Origin, Error> {
    let refuse = |why: String| Error::new(ErrorKind::Corrupt, format!("open {}: {why}", folder.display()));
    let path = folder.join(FORMAT);
    let length =
        fs::metadata(&path).map_err(|error| refuse("its FORMAT is missing".into()).with_source(error))?;
    if length.len() > FORMAT_BYTES_MAX {
        return Err(refuse("its FORMAT is not that of a Twinfold store".into()));
    }
    let text = fs::read(&path).map_err(|error| failed(folder, "read the FORMAT of", error))?;
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines();
    if lines.next() != Some(FORMAT_TITLE) {
        return Err(refuse("its FORMAT is not that of a Twinfold store".into()));
    }
    let version = lines.next().and_then(|line| line.strip_prefix("format "));
    let Some(version) = version.and_then(|version| version.parse::<u32>().ok()) else {
        return Err(refuse("its FORMAT is damaged".into()));
    };
    if version != FORMAT_VERSION {
        let by = lines.next().unwrap_or("created by an unknown version");
        return Err(refuse(format!(
            "it has format {version}, {by}; this version reads format {FORMAT_VERSION}"
        )));
    }
    Ok(if lines.any(|line| line == FORMAT_COPY) { Origin::Copied } else { Origin::Created })
}

/// Refuses what is absent or a file, where a folder is needed for `doing`.
///
/// # Errors
///
/// `Misuse`, saying which it is; `Unavailable` with what the file system said.
pub(crate) fn check_is_folder(path: &Path, doing: &str) -> Result<(), Error> {
    let why = match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => "it is a file, not a folder",
        Err(error) if error.kind() == io::ErrorKind::NotFound => "there is no such folder",
        Err(error) => return Err(failed(path, doing, error)),
    };
    Err(Error::new(ErrorKind::Misuse, format!("{doing} {}: {why}", path.display())))
}

/// Makes a folder and those above it that are missing, durably: else a loss of power could take a whole store away.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<&Path> = folder.ancestors().take_while(is_missing).collect();
    fs::create_dir_all(folder)?;
    for made in missing.into_iter().rev() {
        sync(parent_of(made))?;
    }
    Ok(())
}

/// The folder that a path lies in.
pub(crate) fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a folder's list of files durable.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The folder of the rows inside a store's folder or a backup.
pub(crate) fn rows_of(folder: &Path) -> PathBuf {
    folder.join(ROWS)
}

/// A refusal of the file system. Its words are in the action, so it is no source: who prints the chain
/// would print them twice.
#[expect(clippy::needless_pass_by_value, reason = "the form map_err wants")]
pub(crate) fn failed(path: &Path, doing: &str, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::NoSpace,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, format!("{doing} {}: {error}", path.display()))
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn lock(path: &Path) -> Result<File, Error> {
    let file = path.join(LOCK);
    let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&file);
    let lock = opened.map_err(|error| failed(&file, "open", error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            let action = format!("open {}: another server serves this folder", path.display());
            Err(Error::new(ErrorKind::Locked, action))
        }
        Err(TryLockError::Error(error)) => Err(failed(&file, "lock", error)),
    }
}

/// A store is created only where nothing is (but our own lock).
fn check_empty(path: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(path).map_err(|error| failed(path, "read", error))? {
        let entry = entry.map_err(|error| failed(path, "read", error))?;
        if entry.file_name() != LOCK {
            let name = entry.file_name().to_string_lossy().into_owned();
            let why = format!("it is not empty (`{name}`) and not a Twinfold store: its FORMAT is missing");
            return Err(Error::new(ErrorKind::Corrupt, format!("open {}: {why}", path.display())));
        }
    }
    Ok(())
}
