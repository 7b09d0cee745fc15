//! Whether a store takes writes, and if not, why.

use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

use store_contract::{Error, ErrorKind};

/// What a store does; each later one overrules those before it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum State {
    /// It reads and writes.
    Serving,
    /// It reads and removes: the disk is nearly full.
    Low,
    /// It reads, and writes again once there is room on the disk.
    Full,
    /// It reads: a write or a sync failed, and what is on disk is not known until it is opened again.
    Failed,
    /// It reads: its folder is no longer where it was.
    Lost,
    /// It does nothing.
    Closed,
}

impl State {
    /// Why nothing is written to the store in `folder`; `None` while it serves.
    pub(crate) fn refusal(self, folder: &Path) -> Option<Error> {
        let folder = folder.display();
        Some(match self {
            Self::Serving => return None,
            Self::Low => {
                let action = format!(
                    "write to {folder}: less of the disk is free than is to be (disk_free_min): only removals are taken until \
                     there is room"
                );
                Error::new(ErrorKind::NoSpace, action)
            }
            Self::Full => {
                let action = format!("write to {folder}: writes are taken again once there is room");
                Error::new(ErrorKind::NoSpace, action)
            }
            Self::Failed => {
                let action = format!(
                    "write to {folder}: an earlier write failed, the store only reads until it is opened again"
                );
                Error::new(ErrorKind::Unavailable, action)
            }
            Self::Lost => {
                let action = format!(
                    "write to {folder}: it was removed, renamed or replaced while the store was open; put it back, or \
                     restore a backup, and open it again"
                );
                Error::new(ErrorKind::FolderLost, action)
            }
            Self::Closed => Error::new(ErrorKind::Unavailable, "write: the store is closed"),
        })
    }

    /// Why a write has failed that was under way when this state began.
    pub(crate) fn refusal_under_way(self, folder: &Path) -> Error {
        let kind = match self {
            Self::Full => ErrorKind::NoSpace,
            Self::Lost => ErrorKind::FolderLost,
            Self::Serving | Self::Low | Self::Failed | Self::Closed => ErrorKind::Unknown,
        };
        let action =
            format!("write to {}: it failed during this write, which may be found later", folder.display());
        Error::new(kind, action)
    }

    fn number(self) -> u8 {
        match self {
            Self::Serving => 0,
            Self::Low => 1,
            Self::Full => 2,
            Self::Failed => 3,
            Self::Lost => 4,
            Self::Closed => 5,
        }
    }

    fn of_number(number: u8) -> Self {
        match number {
            0 => Self::Serving,
            1 => Self::Low,
            2 => Self::Full,
            3 => Self::Failed,
            4 => Self::Lost,
            _ => Self::Closed,
        }
    }
}

/// The state that all threads see. It only gets worse, but that a store with too little room may have room again.
#[derive(Debug, Default)]
pub(crate) struct StateCell(AtomicU8);

impl StateCell {
    pub(crate) fn get(&self) -> State {
        State::of_number(self.0.load(Ordering::Acquire))
    }

    /// Becomes `state` unless it is worse already; answers whether it was better before.
    pub(crate) fn worsen(&self, state: State) -> bool {
        self.0.fetch_max(state.number(), Ordering::AcqRel) < state.number()
    }

    /// Becomes the better state `to`, if nothing happened to the store since it was in the state `from`.
    pub(crate) fn recover(&self, from: State, to: State) -> bool {
        debug_assert!(to < from && from <= State::Full, "only want of room is got over");
        self.0.compare_exchange(from.number(), to.number(), Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_only_gets_worse_but_for_room() {
        let state = StateCell::default();
        assert!(!state.recover(State::Full, State::Serving));
        assert!(state.worsen(State::Full));
        assert!(!state.worsen(State::Full), "it was full");
        assert!(!state.worsen(State::Low) && !state.recover(State::Low, State::Serving));
        assert!(state.recover(State::Full, State::Low));
        assert!(state.recover(State::Low, State::Serving));
        assert_eq!(state.get(), State::Serving);
        for worse in [State::Low, State::Full, State::Failed, State::Lost, State::Closed] {
            assert!(state.worsen(worse));
            assert_eq!(state.get(), worse);
        }
        assert!(!state.worsen(State::Full));
        assert!(!state.recover(State::Full, State::Serving));
        assert_eq!(state.get(), State::Closed);
    }
}
