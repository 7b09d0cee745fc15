//! What a writer demands of the state that it finds, by the bytes that are stored, not by when they were:
//! what is restored from a backup, or read on another node, is the same state.

/// Tells states apart: a hash of stored bytes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Fingerprint(pub u128);

impl Fingerprint {
    /// That of these bytes. Clients keep it: the function never changes.
    /// Cost: about a nanosecond for twenty bytes, and twenty more for any.
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxhash_rust::xxh3::xxh3_128(bytes))
    }
}

/// Some states.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Fingerprints {
    /// Whatever is stored.
    Any,
    /// These.
    These(Vec<Fingerprint>),
}

impl Fingerprints {
    fn hold(&self, stored: Fingerprint) -> bool {
        match self {
            Self::Any => true,
            Self::These(these) => these.contains(&stored),
        }
    }
}

/// What must be true of what is stored for a write to be done. A model asks it where it thinks: of the very state that
/// its commit is conditional on, and again where another writer came first.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StateCondition {
    /// Something is stored, and it is one of these.
    pub one_of: Option<Fingerprints>,
    /// What is stored, if anything, is none of these.
    pub none_of: Option<Fingerprints>,
}

impl StateCondition {
    /// Nothing is demanded.
    pub const NONE: Self = Self { one_of: None, none_of: None };

    /// Whether nothing is demanded.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// Whether this state is as demanded; `None`: nothing is stored.
    pub fn is_met_by(&self, stored: Option<Fingerprint>) -> bool {
        let is = |wanted: &Fingerprints| stored.is_some_and(|stored| wanted.hold(stored));
        self.one_of.as_ref().is_none_or(is) && !self.none_of.as_ref().is_some_and(is)
    }

    /// The same, of stored bytes that are hashed only if it matters.
    pub fn is_met_by_bytes(&self, stored: Option<&[u8]>) -> bool {
        self.is_none() || self.is_met_by(stored.map(Fingerprint::of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn these(bytes: &[u8]) -> Option<Fingerprints> {
        Some(Fingerprints::These(vec![Fingerprint::of(bytes)]))
    }

    #[test]
    fn a_state_is_known_by_its_bytes() {
        // Clients keep what they were told: another function would refuse all their writes.
        assert_eq!(Fingerprint::of(b"").0, 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
        let old = StateCondition { one_of: these(b"old"), none_of: None };
        assert!(old.is_met_by_bytes(Some(b"old")));
        assert!(!old.is_met_by_bytes(Some(b"new")));
        assert!(!old.is_met_by_bytes(None));
        let not_old = StateCondition { one_of: None, none_of: these(b"old") };
        assert!(!not_old.is_met_by_bytes(Some(b"old")));
        assert!(not_old.is_met_by_bytes(Some(b"new")));
        assert!(not_old.is_met_by_bytes(None));
    }

    #[test]
    fn any_state_is_told_from_none() {
        let present = StateCondition { one_of: Some(Fingerprints::Any), none_of: None };
        assert!(present.is_met_by_bytes(Some(b"x")) && !present.is_met_by_bytes(None));
        let absent = StateCondition { one_of: None, none_of: Some(Fingerprints::Any) };
        assert!(!absent.is_met_by_bytes(Some(b"x")) && absent.is_met_by_bytes(None));
        assert!(StateCondition::NONE.is_none() && StateCondition::NONE.is_met_by(None));
    }
}
