//! Whether the store writes: what is noted of its disk and its folder.

use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use store_contract::{Error, ErrorKind};

use super::Shared;
use crate::folder::{Identity, Presence};
use crate::state::State;

/// How often it is said that the folder cannot be looked at.
const LOOK_WARNING_PAUSE: Duration = Duration::from_secs(10);

impl Shared {
    /// Takes note that the disk is nearly full.
    pub(crate) fn note_low(&self) {
        if self.state.worsen(State::Low) {
            self.counters.times_full.fetch_add(1, Ordering::Relaxed);
            tracing::error!(path = %self.path.display(), "the disk is nearly full: the store only reads and removes until there is room");
        }
    }

    /// Takes note that the disk has room again; whether writes are taken.
    pub(crate) fn note_room(&self) -> bool {
        self.state.recover(State::Low, State::Serving)
    }

    /// From now on nothing is written: what is on disk is no longer known.
    pub(crate) fn fail(&self) {
        self.state.worsen(State::Failed);
    }

    /// Takes note of a write or sync that failed: a full disk may have room again, any other failure is not got over.
    pub(crate) fn note_failure(&self, error: &Error) {
        if error.kind() != ErrorKind::NoSpace {
            self.fail();
            tracing::error!(%error, "the store only reads until it is opened again");
        } else if self.state.worsen(State::Full) {
            self.counters.times_full.fetch_add(1, Ordering::Relaxed);
            self.ballast.give_back();
            tracing::error!(%error, "the disk is full: the store only reads until there is room");
        }
    }

    /// Whether the folder is known to be where it was. If it is not there, the store writes nothing any more: its path may
    /// belong to another store by now. If the file system does not say, the next look may tell. Cost: two look-ups of a
    /// path.
    pub(crate) fn check_folder(&self) -> bool {
        self.check_found(Identity::look)
    }

    /// The same of the folder's lock alone, which goes and is replaced with it. Cost: one look-up of a path.
    pub(crate) fn check_lock(&self) -> bool {
        self.check_found(Identity::look_at_lock)
    }

    fn check_found(&self, look: impl Fn(&Identity) -> Presence) -> bool {
        if self.state() >= State::Lost {
            return false;
        }
        match look(&self.identity) {
            Presence::Same => return true,
            Presence::Gone => {}
            Presence::Unknown(error) => {
                self.warn_of_look(&error);
                return false;
            }
        }
        if self.state.worsen(State::Lost) {
            self.leave_folder();
            if let Some(error) = State::Lost.refusal(&self.path) {
                tracing::error!(%error, "the data folder is lost: the store only reads what is open");
            }
        }
        false
    }

    /// Says at most every [`LOOK_WARNING_PAUSE`] that the folder cannot be looked at: each batch looks.
    fn warn_of_look(&self, error: &io::Error) {
        let mut warned = self.look_warned.lock();
        if warned.is_none_or(|warned| warned.elapsed() >= LOOK_WARNING_PAUSE) {
            *warned = Some(Instant::now());
            let path = self.path.display();
            tracing::warn!(%error, %path, "the data folder cannot be looked at: no write is acknowledged meanwhile");
        }
    }

    /// Why nothing is done by the folder's path, after a look that did not find it there.
    pub(crate) fn not_there(&self) -> Error {
        let state = self.state();
        let refusal = if state >= State::Lost { state.refusal(&self.path) } else { None };
        refusal.unwrap_or_else(|| {
            let path = self.path.display();
            let action =
                format!("look at {path}: the file system does not say whether it is the same folder");
            Error::new(ErrorKind::Unavailable, action)
        })
    }

    /// Keeps the engine from making and removing files by their names.
    fn leave_folder(&self) {
        let Ok(engine) = self.engine() else { return };
        if let Err(error) = engine.disable_file_deletions() {
            tracing::warn!(%error, "the engine may remove files at the path of the lost folder");
        }
        engine.cancel_all_background_work(false);
    }
}
