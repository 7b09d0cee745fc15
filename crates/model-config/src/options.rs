//! How configuration is stored, and what is refused for its size.

use std::time::Duration;

use store::LimitExceeded;

use crate::Error;

/// The longest name of a dataspace, a schema set or an anchor in bytes.
pub const NAME_BYTES_MAX: usize = 512;

/// How configuration is stored. Every limit has a name, which errors say.
#[derive(Clone, Copy, Debug)]
pub struct ConfigOptions {
    /// The most tenants beside the default one.
    pub tenants_max: usize,
    /// The most dataspaces of a tenant.
    pub dataspaces_max: usize,
    /// The most schema sets of a dataspace.
    pub schema_sets_max: usize,
    /// The most bytes of the texts of a schema set.
    pub schema_set_bytes_max: usize,
    /// The most bytes of the tree of an anchor, as it is stored.
    pub tree_bytes_max: usize,
    /// The most bytes of the tree of an anchor of [`Mode::Strict`](crate::Mode::Strict), as it is stored: each change has libyang check all
    /// of it, at several times its size in memory, and nothing can end that before it is done.
    pub strict_tree_bytes_max: usize,
    /// The most versions of an anchor that are kept.
    pub versions_max: usize,
    /// A version that is older is dropped, but the newest.
    pub version_age_max: Duration,
    /// The most bytes of pages of trees in memory.
    pub page_cache_bytes: usize,
    /// The most bytes of compiled schemas in memory.
    pub schema_cache_bytes: usize,
    /// How much long work is done at once: compiling, large bodies, large changes. As many checks of whole trees are made beside it.
    pub lane_slots: usize,
    /// Over how many buckets the anchors of a tenant are spread whose first dataspace is made from now on; a power of two.
    pub buckets: u32,
}

impl ConfigOptions {
    /// What suits a server of some cores and some gigabytes.
    pub fn recommended() -> Self {
        Self {
            tenants_max: 10_000,
            dataspaces_max: 1_000,
            schema_sets_max: 10_000,
            schema_set_bytes_max: 100 << 20,
            tree_bytes_max: 256 << 20,
            strict_tree_bytes_max: 64 << 20,
            versions_max: 100,
            version_age_max: Duration::from_hours(7 * 24),
            page_cache_bytes: 64 << 20,
            schema_cache_bytes: 64 << 20,
            lane_slots: 2,
            buckets: 1,
        }
    }
}

/// Refuses a name that is empty or too long, or holds control characters: nobody sees these, and logs and terminals obey them.
pub(crate) fn check_name(what: &str, name: &str) -> Result<(), Error> {
    if name.is_empty() {
        return Err(Error::Invalid(format!("the name of a {what} must not be empty").into()));
    }
    if let Some((place, control)) = (1_usize..).zip(name.chars()).find(|(_, letter)| letter.is_control()) {
        let code = u32::from(control);
        let message = format!(
            "the name of a {what} must not hold control characters: character {place} is U+{code:04X}"
        );
        return Err(Error::Invalid(message.into()));
    }
    check_limit(|| format!("bytes of the name of a {what}"), ("NAME_BYTES_MAX", NAME_BYTES_MAX), name.len())
}

/// Refuses more than a limit allows.
pub(crate) fn check_limit(
    what: impl FnOnce() -> String,
    (name, max): (&'static str, usize),
    got: usize,
) -> Result<(), Error> {
    LimitExceeded::check(name, max, got).map_err(|limit| Error::Limit { what: what().into(), limit })
}
