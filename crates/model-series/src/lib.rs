//! Time series as energy companies need them: definitions, calendars, units, aggregation, formulas. Under TSM.
//!
//! Points lie in [`strands`]: a series is one, or one for each issue time of its quotations. Front door: [`Repositories`] (of all
//! tenants), [`Repository`] (its series: defined, written, read as stored) and [`Reader`] (answers made of them).

mod error;
mod calendar;
mod units;
mod aggregate;
mod feed;
mod repository;
mod catalogue;
mod formula;
mod evaluate;
#[cfg(feature = "testing")]
pub mod testing;

pub use aggregate::{Aggregation, GAP_SLOTS_MAX, Gaps, Layout, Neighbours, Total, fill_gaps, resample};
pub use calendar::{Alignment, Interval, IntervalUnit, Raster, Slots, Zone, time_zone_database};
pub use catalogue::{
    ATTRIBUTES_MAX, Attribute, AttributeKind, AttributeSearch, AttributeType, AttributeValue, BackOff,
    CATALOGUE_BUCKETS_MAX, DRAFTS_MAX, DefinedFormula, Definition, DefinitionChange, DefinitionDraft,
    FORMULA_DEPTH_MAX, FORMULA_READS_MAX, FORMULA_SERIES_MAX, FORMULA_SLOTS_MAX, FORMULA_USERS_MAX,
    HOOKS_MAX, Hook, HookEvent, HookFilter, HookStanding, HookState, MASTER_DATA_BYTES_MAX, NAME_BYTES_MAX,
    Repositories, RepositoryChange, RepositoryDraft, RepositoryInfo, SEARCH_PAGE_MAX, Search, SearchPage,
    SeriesOptions, Switches, TEXT_BYTES_MAX, WRITES_MAX,
};
pub use error::{Error, Refusal, RefusalKind};
pub use evaluate::{ANSWER_SLOTS_MAX, Answer, Progress, Quotation, ReadRequest, Reader, TotalPages};
pub use feed::{PointsChange, SeriesChange, change_records};
pub use formula::compute;
pub use lang_formula::Duration;
pub use repository::{Repository, SeriesRef, SeriesWrite, Source};
pub use store::{
    Clock, Cursor, ErrorKind as StoreErrorKind, Fingerprint, Fingerprints, StateCondition, Tenant,
    TenantName, Timestamp,
};
pub use strands::{
    ABSENT, Columns, Edit, Encoding, Flag, Malformed, Modification, Points, SkipLog, StrandOptions, Strands,
    TimeRange,
};
pub use units::{Conversion, UNIT_BASES_MAX, UNITS_MAX, Unit, UnitRule, Units};
