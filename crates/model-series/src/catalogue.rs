//! The catalogue: which series there are, what they are like, and where their points lie.

mod cache;
mod intents;
mod context;
mod pending;
pub(crate) mod intent;
mod commit;
mod find;
mod check;
mod pattern;
mod search;
mod hooks;
mod formulas;
mod refusals;
mod define;
mod state;
mod change;
mod master;
mod points;
mod upkeep;

pub(crate) use check::check_text;
pub(crate) use context::{BACKOFF, Context};
pub(crate) use hooks::hook_registry;
pub use hooks::{Hook, HookEvent, HookStatus, ServedHook, ServedHooks};
pub(crate) use master::Over;
pub use points::{SeriesWrite, Source};
pub use search::{AttributeSearch, Search, SearchPage};
pub(crate) use state::check_state;
pub use state::unit_fingerprint;
pub(crate) use upkeep::shift;

/// The longest name of a repository's things, in bytes.
pub const NAME_BYTES_MAX: usize = 255;
/// The longest text (description, URL, value of an attribute) in bytes.
pub const TEXT_BYTES_MAX: usize = 4_096;
/// The most attributes of a series.
pub const ATTRIBUTES_MAX: usize = 256;
/// The most series that are defined at once.
pub const DRAFTS_MAX: usize = 10_000;
/// The most buckets of a repository: a search reads a page of each.
pub const CATALOGUE_BUCKETS_MAX: u32 = 4_096;
/// The most series of a page of a search.
pub const SEARCH_PAGE_MAX: usize = 10_000;
/// The most hooks of a repository.
pub const HOOKS_MAX: usize = 1_000;
/// The most bytes of an attribute type (its categories, its tree), and of all units of a repository.
pub const MASTER_DATA_BYTES_MAX: usize = 1024 * 1024;
/// How deep formulas may refer to formulas.
pub const FORMULA_DEPTH_MAX: usize = 16;
/// The most series that a formula may refer to, over all depths.
pub const FORMULA_SERIES_MAX: usize = 1_024;
/// The most operands that are read to compute one series, over all depths.
pub const FORMULA_READS_MAX: u32 = 4_096;
/// The most slots of a series that are computed at once: a page, and what functions such as `lag` reach beyond it.
pub const FORMULA_SLOTS_MAX: u64 = 8_000_000;
/// The most formulas that may refer to one series.
pub const FORMULA_USERS_MAX: usize = 4_096;
/// The most series of one write.
pub const WRITES_MAX: usize = 100_000;

#[cfg(test)]
mod tests;
