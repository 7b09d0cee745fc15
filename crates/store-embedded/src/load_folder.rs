//! The folder of a load: what it spills, and its tables until the engine has taken them in. It goes with the load; what the end of a
//! process leaves is removed when the store is opened.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use store_contract::Error;

use super::folder::failed;

const LOADS: &str = "loads";
/// A file in the folder of a load whose tables the engine is about to take in.
const INGESTING: &str = "ingesting";

/// A folder that is removed when it is dropped, unless the engine has failed to take its tables in.
#[derive(Debug)]
pub(crate) struct LoadFolder {
    path: PathBuf,
    is_ingesting: AtomicBool,
}

impl LoadFolder {
    /// The folder of the load of this number, in that of a store.
    ///
    /// # Errors
    ///
    /// `NoSpace`, `Unavailable` with what the file system said.
    pub(crate) fn create(store: &Path, number: u64) -> Result<Self, Error> {
        let path = store.join(LOADS).join(number.to_string());
        fs::create_dir_all(&path).map_err(|error| failed(&path, "create", error))?;
        Ok(Self { path, is_ingesting: AtomicBool::new(false) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Notes that the engine is about to take tables in.
    ///
    /// # Errors
    ///
    /// `NoSpace`, `Unavailable` with what the file system said.
    pub(crate) fn begin_ingest(&self) -> Result<(), Error> {
        let path = self.path.join(INGESTING);
        File::create(&path).map_err(|error| failed(&path, "create", error))?;
        self.is_ingesting.store(true, Ordering::Release);
        Ok(())
    }

    /// Notes that the engine has taken them in.
    pub(crate) fn end_ingest(&self) {
        self.is_ingesting.store(false, Ordering::Release);
    }
}

impl Drop for LoadFolder {
    fn drop(&mut self) {
        if self.is_ingesting.load(Ordering::Acquire) {
            return;
        }
        let path = std::mem::take(&mut self.path);
        let remove = move || {
            if let Err(error) = fs::remove_dir_all(&path) {
                tracing::debug!(%error, path = %path.display(), "the folder of a load is left to the next opening");
            }
        };
        // Large files take their time.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }
}

/// Whether the tables of some load were to be taken in, and it was not seen that they were.
pub(crate) fn has_failed(store: &Path) -> bool {
    let loads = fs::read_dir(store.join(LOADS)).into_iter().flatten().flatten();
    loads.map(|load| load.path().join(INGESTING)).any(|path| path.exists())
}

/// Removes what loads have left in the folder of a store.
///
/// # Errors
///
/// `Unavailable` with what the file system said.
pub(crate) fn clear(store: &Path) -> Result<(), Error> {
    let path = store.join(LOADS);
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&path, "clear", error)),
        _ => Ok(()),
    }
}
