//! Points on a calendar: rasters, units, aggregation, and formulas over columns. Pure: columns in, columns out; no store, no
//! clock.
//!
//! - `calendar`: intervals, zones and the [`Raster`]s that they define: quarter hours, gas days, months.
//! - `units`: [`Units`] of values, and how one converts to another.
//! - `aggregate`: points of one raster as points of another ([`resample`]), gaps, sums of many series.
//! - `formula`: the value of a [`lang_formula::Formula`] in many slots at once ([`compute`]).
//!
//! ```
//! use rasters::{Interval, IntervalUnit, Raster, Zone};
//! use strands::TimeRange;
//!
//! let interval = Interval { unit: IntervalUnit::Day, multiplier: 1 };
//! let days = Raster::new(interval, Zone::get("Europe/Berlin")?, 0)?;
//! // Noon of 29 March 2026, a day of 23 hours there.
//! let TimeRange { from, to } = days.slot(1_774_778_400_000_000_000);
//! assert_eq!((to - from) / 3_600_000_000_000, 23);
//! # Ok::<(), rasters::Error>(())
//! ```

mod error;
mod calendar;
mod units;
mod aggregate;
mod formula;

pub use aggregate::{
    GAP_SLOTS_MAX, Gaps, Layout, Making, Neighbours, Stretches, Total, Walk, Whole, fill_gaps, resample,
};
pub use calendar::{
    Alignment, DAY, HOUR, Interval, IntervalUnit, Raster, Run, Runs, SECOND, Slots, Zone, time_zone_database,
};
pub use error::Error;
pub use formula::compute;
pub use units::{Conversion, UNIT_BASES_MAX, UNITS_MAX, Unit, UnitRule, Units};
