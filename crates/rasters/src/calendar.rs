//! Calendars: intervals, zones, and the rasters they make. Pure; nothing here reads a clock.

mod interval;
mod civil;
mod zones;
mod run;
mod raster;
mod runs;
mod alike;

pub use interval::{Alignment, Interval, IntervalUnit};
pub use raster::{Raster, Slots};
pub use run::Run;
pub(crate) use run::is_evenly_spaced;
pub use runs::Runs;
pub use zones::{Zone, time_zone_database};

/// Nanoseconds of a second.
pub const SECOND: i64 = 1_000_000_000;
/// Nanoseconds of an hour.
pub const HOUR: i64 = 3_600 * SECOND;
/// Nanoseconds of a day of 24 hours.
pub const DAY: i64 = 24 * HOUR;
