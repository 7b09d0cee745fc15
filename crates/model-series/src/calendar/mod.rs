//! Calendars: intervals, zones, and the rasters they make. Pure; nothing here reads a clock.

mod interval;
mod civil;
mod zones;
mod runs;
mod raster;
mod alike;

pub use interval::{Alignment, Interval, IntervalUnit};
pub use raster::{Raster, Slots};
pub(crate) use runs::{Run, Runs, is_evenly_spaced};
pub use zones::{Zone, time_zone_database};

/// Nanoseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000_000;
/// Nanoseconds of an hour.
pub(crate) const HOUR: i64 = 3_600 * SECOND;
/// Nanoseconds of a day of 24 hours.
pub(crate) const DAY: i64 = 24 * HOUR;
