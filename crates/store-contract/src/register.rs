//! Which spaces and models a store has seen, by the number in stored bytes: so that no two share one, commit
//! and append spaces never mix, and the feed can name what it tells of.

use std::sync::OnceLock;

use crate::{Error, ErrorKind, Model, Space};

/// The spaces by number.
pub type Spaces = Register<Space>;
/// The models by number.
pub type Models = Register<Model>;

/// What has a number.
pub trait Numbered: Copy + PartialEq {
    /// The number.
    fn id(self) -> u8;

    /// The refusal to use it where `other` has its number.
    fn clash(self, other: Self) -> Error;
}

impl Numbered for Space {
    fn id(self) -> u8 {
        self.id
    }

    fn clash(self, other: Self) -> Error {
        let action = format!(
            "use space {} (`{}`, {:?}): its number is that of `{}`, {:?}",
            self.id, self.name, self.kind, other.name, other.kind
        );
        Error::new(ErrorKind::Misuse, action)
    }
}

impl Numbered for Model {
    fn id(self) -> u8 {
        self.id
    }

    fn clash(self, other: Self) -> Error {
        let action = format!(
            "commit a change of model {} (`{}`): the number is that of `{}`",
            self.id, self.name, other.name
        );
        Error::new(ErrorKind::Misuse, action)
    }
}

/// Things by number.
#[derive(Debug)]
pub struct Register<T> {
    slots: Box<[Slot<T>]>,
}

#[derive(Debug)]
struct Slot<T> {
    /// As the running program declares it.
    used: OnceLock<T>,
    /// As an earlier run stored it.
    stored: OnceLock<T>,
}

impl<T: Numbered> Register<T> {
    /// None yet.
    #[expect(clippy::new_without_default, reason = "256 slots: nobody makes one by the way")]
    pub fn new() -> Self {
        let empty = |_| Slot { used: OnceLock::new(), stored: OnceLock::new() };
        Self { slots: (0..=u8::MAX).map(empty).collect() }
    }

    fn slot(&self, id: u8) -> &Slot<T> {
        self.slots.get(usize::from(id)).expect("there is a slot for each number")
    }

    /// Notes the use of a thing. Cost: two loads once it is known.
    ///
    /// # Errors
    ///
    /// `Misuse` if another has its number, in this run or an earlier one.
    pub fn learn(&self, one: T) -> Result<(), Error> {
        let slot = self.slot(one.id());
        // What is used was checked against what is stored.
        let known = slot.used.get().or_else(|| slot.stored.get()).copied().unwrap_or(one);
        if known != one {
            return Err(one.clash(known));
        }
        let used = *slot.used.get_or_init(|| one);
        if used == one { Ok(()) } else { Err(one.clash(used)) }
    }

    /// Notes what an earlier run stored.
    pub fn remember(&self, stored: T) {
        self.slot(stored.id()).stored.get_or_init(|| stored);
    }

    /// What has this number, if any run used it.
    pub fn named(&self, id: u8) -> Option<T> {
        let slot = self.slot(id);
        slot.used.get().or_else(|| slot.stored.get()).copied()
    }
}

/// A name that an earlier run stored. Leaked on purpose: at most 512 short names for each opening of a store.
pub fn stored_name(name: &str) -> &'static str {
    Box::leak(name.to_owned().into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SpaceKind;

    const ONE: Model = Model { id: 1, name: "one" };
    const OTHER: Model = Model { id: 1, name: "other" };

    #[test]
    fn two_of_one_number_are_refused() {
        let models = Models::new();
        assert!(models.learn(ONE).is_ok() && models.learn(ONE).is_ok());
        assert_eq!(models.learn(OTHER).unwrap_err().kind(), ErrorKind::Misuse);
        let models = Models::new();
        models.remember(Model { id: 1, name: stored_name("other") });
        let error = models.learn(ONE).unwrap_err().to_string();
        assert!(error.contains("model 1 (`one`): the number is that of `other`"), "{error}");
        assert!(models.learn(OTHER).is_ok());
        assert_eq!((models.named(1), models.named(2)), (Some(OTHER), None));
    }

    #[test]
    fn a_space_keeps_its_kind() {
        let commits = Space { id: 255, kind: SpaceKind::Commit, name: "things" };
        let spaces = Spaces::new();
        spaces.learn(commits).unwrap();
        let error = spaces.learn(Space { kind: SpaceKind::Append, ..commits }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misuse);
    }
}
