//! The register of indexes: the attributes that are indexed, or are to be, each with how far that has come.

use std::collections::BTreeSet;

use entity::index::Indexed;
use entity::{TermId, keys};
use store::Write;

use super::IndexPolicy;

/// Stands for all attributes.
pub(crate) const ALL: TermId = TermId(u32::MAX);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// Wanted: not every writer knows of it.
    Entered,
    /// Writers write its rows; those of what they did not write may be missing.
    Building,
    /// All its rows are there.
    Ready,
}

/// Attributes with their states, in order of the attributes; in the row five bytes each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Register(Vec<(TermId, State)>);

impl Register {
    /// That of a tenant of which nothing is stored.
    pub(crate) fn created(policy: IndexPolicy) -> Self {
        let all = (policy == IndexPolicy::All).then_some((ALL, State::Ready));
        Self(all.into_iter().collect())
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (entries, []) = bytes.as_chunks::<5>() else { return None };
        let entry = |[a, b, c, d, state]: &[u8; 5]| {
            let state = match state {
                0 => State::Entered,
                1 => State::Building,
                2 => State::Ready,
                _ => return None,
            };
            Some((TermId(u32::from_be_bytes([*a, *b, *c, *d])), state))
        };
        let entries: Vec<_> = entries.iter().map(entry).collect::<Option<_>>()?;
        entries.is_sorted_by(|one, other| one.0 < other.0).then_some(Self(entries))
    }

    pub(crate) fn put(&self) -> Write {
        let entry = |(name, state): &(TermId, State)| {
            let [a, b, c, d] = name.0.to_be_bytes();
            [a, b, c, d, *state as u8]
        };
        let value: Vec<u8> = self.0.iter().flat_map(entry).collect();
        Write::PutStamped(keys::index_register(), value.into())
    }

    /// All that writers write rows of.
    pub(crate) fn written(&self) -> Indexed {
        self.of(|state| state != State::Entered)
    }

    /// Whether something is only entered.
    pub(crate) fn has_entered(&self) -> bool {
        self.0.iter().any(|(_, state)| *state == State::Entered)
    }

    pub(crate) fn ready(&self) -> Indexed {
        self.of(|state| state == State::Ready)
    }

    pub(crate) fn building(&self) -> Indexed {
        self.of(|state| state == State::Building)
    }

    fn of(&self, is_in: impl Fn(State) -> bool) -> Indexed {
        let names = self.0.iter().filter(|(_, state)| is_in(*state)).map(|(name, _)| *name);
        let names: Box<[TermId]> = names.collect();
        match &*names {
            [] => Indexed::None,
            names if names.contains(&ALL) => Indexed::All,
            _ => Indexed::Of(names),
        }
    }

    /// Enters what is wanted and not there; whether there was any.
    pub(crate) fn enter(&mut self, wanted: &BTreeSet<TermId>) -> bool {
        let before = self.0.len();
        for name in wanted {
            let is_covered = |(of, _): &(TermId, State)| of == name || *of == ALL;
            if !self.0.iter().any(is_covered) {
                self.0.push((*name, State::Entered));
            }
        }
        self.0.sort_unstable_by_key(|(name, _)| *name);
        self.0.len() > before
    }

    /// What was entered is building; whether there was any.
    pub(crate) fn begin(&mut self) -> bool {
        let entered = self.0.iter_mut().filter(|(_, state)| *state == State::Entered);
        entered.map(|(_, state)| *state = State::Building).count() > 0
    }

    /// What was building as `built` says is ready; whether there was any.
    pub(crate) fn finish(&mut self, built: &Indexed) -> bool {
        let done = self.0.iter_mut().filter(|(name, state)| *state == State::Building && built.holds(*name));
        done.map(|(_, state)| *state = State::Ready).count() > 0
    }
}
