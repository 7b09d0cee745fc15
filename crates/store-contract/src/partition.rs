//! Where a row lives: tenant, space, bucket.

use crate::Tenant;

/// How the rows of a space are written; the two never mix on the same rows.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum SpaceKind {
    /// By conditional, atomic commits.
    Commit,
    /// By idempotent, unconditional appends.
    Append,
}

/// A kind of rows, declared once in a model's `keys.rs`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Space {
    /// The number in the key; stored, so never reused.
    pub id: u8,
    /// How its rows are written.
    pub kind: SpaceKind,
    /// For people: metrics and messages.
    pub name: &'static str,
}

/// A sorted set of rows: the unit of atomicity.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Partition {
    /// Whose rows.
    pub tenant: Tenant,
    /// What kind of rows.
    pub space: Space,
    /// Which part of them.
    pub bucket: u32,
}

/// The bucket of a thing named `id`, of `buckets` (a power of two).
///
/// Stored data depends on this function: it never changes.
#[inline]
pub fn bucket_of(id: &[u8], buckets: u32) -> u32 {
    debug_assert!(buckets.is_power_of_two(), "buckets are a power of two");
    let hash = xxhash_rust::xxh3::xxh3_64(id);
    u32::try_from(hash & u64::from(buckets.saturating_sub(1))).expect("less than the buckets")
}
