//! Offsets of references: whole slots, or an ISO 8601 duration.

use std::fmt;

use lang_time::Duration;

/// How much later (negative: earlier) a reference looks.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Offset {
    /// So many slots of the series.
    Slots(i32),
    /// So much on the calendar of the series' zone.
    Duration(Duration),
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slots(count) => write!(f, "{count}"),
            Self::Duration(duration) => write!(f, "{duration}"),
        }
    }
}
