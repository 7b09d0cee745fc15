//! Names of types and attributes as small numbers; which name a number means is a tenant's own (`Terms` of `model-entities`).

/// A type or attribute name (an IRI) of one tenant, as a small number.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TermId(pub u32);

impl TermId {
    /// The name of the scopes of an entity among the attributes of its history. No tenant has so many names: it is never
    /// allotted, and no living entity has an attribute of it.
    pub const SCOPE: Self = Self(u32::MAX);
}
