//! Time series as energy companies need them: definitions, writes, and answers of any raster, unit and formula. Under TSM.
//!
//! Points lie in [`strands`]: a series is one, or one for each issue time of its quotations. What a point means in time and
//! unit is computed by [`rasters`]. Front door: [`Repositories`] (of all
//! tenants), [`Repository`] (its series: defined, written, read as stored) and [`Reader`] (answers made of them).
//!
//! ```
//! use model_series::{
//!     Alignment, Clock, DefinitionDraft, Edit, Flag, Interval, IntervalUnit, Points, ReadRequest, Repositories,
//!     SeriesOptions, SeriesWrite, StrandOptions, TimeRange, Timestamp,
//! };
//! use store::{FeedOptions, MemoryOptions, Store};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # runtime.block_on(async {
//! let store = Store::memory(MemoryOptions { clock: Clock::System, feed: FeedOptions::recommended() });
//! let options = SeriesOptions {
//!     strands: StrandOptions::recommended(),
//!     tenants_max: 10,
//!     repositories_max: 10,
//!     catalogue_buckets: 1,
//!     definitions_cached_max: 1_000,
//! };
//! let now = Timestamp(1);
//! let repository = Repositories::new(store, options).get_or_create("grid", now).await?;
//! let hours = Interval::new(IntervalUnit::Hour, 1);
//! let draft = DefinitionDraft::new("Load North", Alignment::Begin, Some(hours));
//! let series = repository.define(vec![draft], now).await?.remove(0);
//!
//! let mut points = Points::default();
//! points.push(0, 17.5, Flag::Valid.number());
//! points.push(3_600_000_000_000, 18.0, Flag::Estimated.number());
//! let write = SeriesWrite { series: series.clone(), quotation: None, edit: Edit::Put(points.clone()) };
//! repository.write_all(vec![write], now).await?.remove(0)?;
//!
//! let reader = repository.reader(ReadRequest::default()).await?;
//! assert_eq!(reader.read(&series, TimeRange::ALL).await?, points);
//! # Ok::<(), model_series::Error>(())
//! # }).unwrap();
//! ```

mod error;
mod keys;
mod attributes;
mod definition;
mod encode;
mod feed;
mod catalogue;
mod repository;
mod repositories;
mod evaluate;
#[cfg(feature = "testing")]
pub mod testing;

pub use attributes::{Attribute, AttributeKind, AttributeType, AttributeValue};
pub use catalogue::{
    ATTRIBUTES_MAX, AttributeSearch, CATALOGUE_BUCKETS_MAX, DRAFTS_MAX, FORMULA_DEPTH_MAX, FORMULA_READS_MAX,
    FORMULA_SERIES_MAX, FORMULA_SLOTS_MAX, FORMULA_USERS_MAX, HOOKS_MAX, Hook, HookEvent, HookStatus,
    MASTER_DATA_BYTES_MAX, NAME_BYTES_MAX, SEARCH_PAGE_MAX, Search, SearchPage, SeriesWrite, ServedHook,
    ServedHooks, Source, TEXT_BYTES_MAX, WRITES_MAX, unit_fingerprint,
};
pub use definition::{DefinedFormula, Definition, DefinitionChange, DefinitionDraft, SeriesRef, Switches};
pub use error::{Error, Refusal, RefusalKind};
pub use evaluate::{ANSWER_SLOTS_MAX, Answer, Progress, Quotation, ReadRequest, Reader, TotalPages};
pub use feed::{PointsChange, SeriesChange};
pub use lang_formula::{Aggregation, Duration};
pub use rasters::{
    Alignment, Gaps, Interval, IntervalUnit, Layout, Raster, Unit, UnitRule, Units, Zone, time_zone_database,
};
pub use repositories::{Repositories, RepositoryChange, RepositoryDraft, RepositoryInfo, SeriesOptions};
pub use repository::Repository;
pub use store::{
    Clock, ErrorKind as StoreErrorKind, Fingerprint, Fingerprints, StateCondition, TenantName, Timestamp,
};
pub use strands::{
    ABSENT, Edit, Flag, Malformed, Modification, Points, SkipLog, StrandOptions, Strands, TimeRange,
};
