//! Where a row lives: tenant, space, bucket.

use std::fmt;
use std::sync::Arc;

/// The longest tenant name in bytes.
pub const TENANT_BYTES_MAX: usize = 128;

/// Whose data: a name of ASCII letters, digits, `_`, `-`, `.`, `:` or empty for the default tenant.
///
/// Invariant: at most [`TENANT_BYTES_MAX`] bytes, none of them zero.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Tenant(Arc<str>);

/// A name that no tenant can have.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a tenant name has at most {TENANT_BYTES_MAX} of the characters A-Z a-z 0-9 _ - . :")]
pub struct TenantError;

impl Tenant {
    /// The tenant of that name; the empty name is the default tenant.
    ///
    /// # Errors
    ///
    /// If the name is too long or has another character.
    pub fn new(name: &str) -> Result<Self, TenantError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
        if name.len() > TENANT_BYTES_MAX || !name.bytes().all(plain) {
            return Err(TenantError);
        }
        Ok(Self(name.into()))
    }

    /// The name; empty for the default tenant.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tenant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

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
pub fn bucket_of(id: &[u8], buckets: u32) -> u32 {
    debug_assert!(buckets.is_power_of_two(), "buckets are a power of two");
    let hash = xxhash_rust::xxh3::xxh3_64(id);
    u32::try_from(hash & u64::from(buckets.saturating_sub(1))).unwrap_or_default()
}
