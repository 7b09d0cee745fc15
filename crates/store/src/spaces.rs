//! Which spaces a store has seen, so that no two share a number, commit and append spaces never mix, and the feed can name
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

    /// Notes the use of a space.
    ///
    /// # Errors
    ///
    /// `Misuse` if a space of another name or kind has its number, in this run or an earlier one.
    pub(crate) fn learn(&self, space: Space) -> Result<(), Error> {
        let Some(slot) = self.used.get(usize::from(space.id)) else { return Ok(()) };
        // What is used was checked against what is stored.
        if let Some(used) = slot.get() {
            return check_same(space, *used);
        }
        if let Some(stored) = self.stored.get(usize::from(space.id)).and_then(OnceLock::get) {
            check_same(space, *stored)?;
        }
        check_same(space, *slot.get_or_init(|| space))
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

fn check_same(space: Space, known: Space) -> Result<(), Error> {
    if (space.kind, space.name) == (known.kind, known.name) {
        return Ok(());
    }
    let action = format!(
        "use space {} (`{}`, {:?}): its number is that of `{}`, {:?}",
        space.id, space.name, space.kind, known.name, known.kind
    );
    Err(Error::new(ErrorKind::Misuse, action))
}
