//! Time series: the past of a twin. The one engine of history, under TSM and under the temporal side of NGSI-LD.
//!
//! Three floors, each knowing only those below it:
//! - `codec`: [`Points`] to bytes and back; sealed blocks with a summary each. Pure.
//! - `strand`: one sorted run of points in the store ([`Strand`]): blocks, overlays over them, as-of reads, folding.
//!   An attribute's history is a strand, a series is a strand (with quotations: one for each issue time).
//! - `catalogue`, `calendar`, `formula`, `evaluate`: series as energy companies need them.

mod aggregate;
mod calendar;
mod catalogue;
mod codec;
mod error;
mod evaluate;
mod feed;
mod flags;
mod formula;
mod points;
mod repository;
mod skips;
mod strand;
mod units;

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
pub use codec::{Block, Encoding, Malformed, Summary, encode_block, encode_part};
pub use error::{Error, Refusal, RefusalKind};
pub use evaluate::{ANSWER_SLOTS_MAX, Answer, Progress, Quotation, ReadRequest, Reader, TotalPages};
pub use feed::{PointsChange, SeriesChange, change_records};
pub use flags::Flag;
pub use formula::compute;
pub use lang_formula::Duration;
pub use points::{ABSENT, ColumnSet, Columns, Notes, Points, TimeRange, UNOBSERVED};
pub use repository::{Repository, SeriesRef, SeriesWrite, Source};
pub use skips::{SkipLog, is_outage};
pub use store::{
    Clock, Cursor, ErrorKind as StoreErrorKind, Fingerprint, Fingerprints, StateCondition, Tenant,
    TenantName, Timestamp,
};
pub use strand::{
    Edit, Modification, Part, Strand, StrandOptions, StrandVersion, StrandWrite, Strands, Wanted,
};
pub use units::{Conversion, UNIT_BASES_MAX, UNITS_MAX, Unit, UnitRule, Units};
