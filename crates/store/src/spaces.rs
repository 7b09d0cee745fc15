//! Which spaces a store has seen, so that commit and append spaces never mix and the feed can name
//! the partitions it tells of.

use std::sync::OnceLock;

use crate::{Error, ErrorKind, Space, SpaceKind};

/// The spaces by number.
#[derive(Debug)]
pub(crate) struct Spaces {
    /// As the running program declares them.
    used: Box<[OnceLock<Space>]>,
    /// As an earlier run stored them.
    stored: Box<[OnceLock<Space>]>,
}

impl Spaces {
    pub(crate) fn new() -> Self {
        let none = || (0..=u8::MAX).map(|_| OnceLock::new()).collect();
        Self { used: none(), stored: none() }
    }

    /// Notes the use of a space; true if it was never used before, in this run or an earlier one.
    ///
    /// # Errors
    ///
    /// `Misuse` if the same number was used for a space of the other kind.
    pub(crate) fn learn(&self, space: Space) -> Result<bool, Error> {
        let stored = self.stored.get(usize::from(space.id)).and_then(OnceLock::get);
        let Some(slot) = self.used.get(usize::from(space.id)) else { return Ok(false) };
        let mut new = false;
        let used = slot.get_or_init(|| {
            new = stored.is_none();
            space
        });
        let kind = stored.map_or(used.kind, |stored| stored.kind);
        if kind == space.kind {
            return Ok(new);
        }
        let action =
            format!("use space {} (`{}`) as {:?}: it holds {kind:?} rows", space.id, space.name, space.kind);
        Err(Error::new(ErrorKind::Misuse, action))
    }

    /// Notes what an earlier run stored.
    pub(crate) fn remember(&self, id: u8, kind: SpaceKind, name: &str) {
        if let Some(slot) = self.stored.get(usize::from(id)) {
            // Leaked on purpose: at most 256 short names for each opening of a store.
            slot.get_or_init(|| Space { id, kind, name: Box::leak(name.to_owned().into_boxed_str()) });
        }
    }

    /// The space with this number, if any run used it.
    pub(crate) fn named(&self, id: u8) -> Option<Space> {
        let used = self.used.get(usize::from(id)).and_then(OnceLock::get);
        used.or_else(|| self.stored.get(usize::from(id)).and_then(OnceLock::get)).copied()
    }
}
