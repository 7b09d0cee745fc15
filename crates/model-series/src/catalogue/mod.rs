//! The catalogue: which series there are, what they are like, and where their points lie.

mod attributes;
mod definition;
mod cache;
pub(crate) mod keys;
mod context;
mod check;
mod pattern;
mod search;
mod hooks;
pub(crate) mod encode;
mod pending;
mod formulas;
mod refusals;
mod define;
mod state;
mod change;
pub(crate) mod intent;
mod master;
mod points;
mod repositories;

mod matches;

pub use attributes::{Attribute, AttributeKind, AttributeType, AttributeValue};
pub(crate) use context::Context;
pub use definition::{DefinedFormula, Definition, DefinitionChange, DefinitionDraft, Switches};
pub use hooks::{Hook, HookEvent, HookStatus, ServedHook, ServedHooks};
pub(crate) use master::Over;
pub(crate) use points::shift;
pub use repositories::{Repositories, RepositoryChange, RepositoryDraft, RepositoryInfo, SeriesOptions};
pub use search::{AttributeSearch, Search, SearchPage};
pub use state::unit_fingerprint;

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
/// How deep formulas may stand on formulas.
pub const FORMULA_DEPTH_MAX: usize = 16;
/// The most series that a formula may stand on, over all depths.
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
