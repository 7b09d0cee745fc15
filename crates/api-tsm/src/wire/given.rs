//! What a body of points gives, within which limits, and why it is refused.

use model_series::Points;

/// The flag byte of a slot of the raster in which there is no point at all (compact form: value `null`, flag `null`).
pub const NO_POINT: u8 = 0xff;

/// The value of every [`Points`] entry without value, so that equal points are equal bits.
pub const NO_VALUE: f64 = 0.0;

/// The limits of a body.
#[derive(Clone, Copy, Debug)]
pub struct ReadLimits {
    /// Points in one body, of all series together.
    pub points_max: usize,
    /// Series in one body.
    pub series_max: usize,
    /// Nested JSON containers in one value.
    pub depth_max: usize,
    /// Bytes of one row, line, or other item of the text.
    pub item_bytes_max: usize,
    /// Bytes of one Arrow message (a record batch, a dictionary, the schema).
    pub batch_bytes_max: usize,
}

/// Memory of a point: its time, its value, its flag.
pub const POINT_BYTES: usize = 17;
/// Memory of a series besides its points, about.
pub const SERIES_BYTES: usize = 256;

impl ReadLimits {
    /// The most that [`PointsReader::held_bytes`](super::PointsReader::held_bytes) can be: beyond it one of the limits refuses.
    pub fn held_bytes_max(&self) -> usize {
        // What waits to be whole is refused once it is beyond its limit, with the chunk that it came with. Arrow keeps a
        // dictionary of the series and one of the flags besides the message that is coming.
        let arrow = self.batch_bytes_max.saturating_mul(3);
        let rest = self.item_bytes_max.max(arrow).saturating_add(CHUNK_BYTES_MAX);
        let points = self.points_max.saturating_mul(POINT_BYTES);
        points.saturating_add(self.series_max.saturating_mul(SERIES_BYTES)).saturating_add(rest)
    }
}

/// More than a chunk of a body has.
const CHUNK_BYTES_MAX: usize = 1 << 20;

/// How a body names a series.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum SeriesName {
    /// By its unique name.
    Name(Box<str>),
    /// By its ID, as it was written.
    Id(Box<str>),
}

/// The points given for one series.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The series; `None` where only the address names it.
    pub series: Option<SeriesName>,
    /// When the points are.
    pub timing: Timing,
    /// The points. Entries without value carry [`model_series::ABSENT`] and [`NO_VALUE`].
    pub points: Points,
    /// The position at which each point was given, counted from 0; empty if they were given in time order.
    pub order: Vec<u32>,
}

/// When the points of a [`Given`] are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Timing {
    /// Each point has its time in `points.times`.
    Each,
    /// `points.times` is empty: `values` and `flags` are the slots of the series' raster from this time on, in nanoseconds.
    /// Slots with the flag [`NO_POINT`] have no point.
    Start(i64),
}

impl Given {
    /// No points, for the series that the address names.
    pub(crate) fn nothing() -> Self {
        Self { series: None, timing: Timing::Each, points: Points::default(), order: Vec::new() }
    }

    /// The position, among the points given for this series, of the point that is now at `index`.
    ///
    /// # Panics
    ///
    /// If there is no point at `index`, and the points were not given in time order.
    pub fn sent_position(&self, index: usize) -> usize {
        sent_position(&self.order, index)
    }
}

/// The position in the body of the point that is now at `index`; an empty order is that of the body.
pub(crate) fn sent_position(order: &[u32], index: usize) -> usize {
    if order.is_empty() {
        return index;
    }
    *order.get(index).expect("each point has its position in the body") as usize
}

/// Why a body is refused: which series, which of its points, and the reason.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct WireError {
    /// The series as the body names it, where it is known.
    pub series: Option<String>,
    /// The point's position among those given for the series, counted from 0.
    pub position: Option<usize>,
    /// What is wrong, with the offset in bytes (or the line) where the text itself is malformed.
    pub reason: String,
    /// Whether it is beyond a limit, which the reason names.
    pub is_limit: bool,
}

impl WireError {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { series: None, position: None, reason: reason.into(), is_limit: false }
    }

    /// The same as what is beyond a limit.
    pub(crate) fn of_limit(self) -> Self {
        Self { is_limit: true, ..self }
    }
}
