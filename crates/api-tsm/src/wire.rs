//! Points as bytes: every form in which the TSM API takes and gives them. Pure: no I/O, no HTTP, no store.
//!
//! A [`PointsReader`] is pushed the chunks of a body, cut anywhere, and keeps columns only; a [`PointsWriter`] appends
//! to a buffer that the caller ships whenever it likes. Both need memory for one item of the text and no more.
//!
//! | form | read | written | one point |
//! |---|---|---|---|
//! | [`Form::Rows`] | yes | yes | `{"From":"2026-01-01T00:00:00Z","Value":1.5,"Flag":"Valid"}` |
//! | [`Form::Compact`] | yes | yes | `1.5` |
//! | [`Form::Csv`] | yes | yes | `name,2026-01-01T00:00:00Z,1.5,Valid` |
//! | [`Form::Arrow`] | yes | yes | 19 bytes in columns |
//! | [`Form::Parquet`] | no | yes | a few bytes in compressed columns |
//!
//! ```
//! use api_tsm::wire::{Form, PointsReader, ReadLimits, Shape};
//!
//! let limits = ReadLimits {
//!     points_max: 1000,
//!     series_max: 10,
//!     depth_max: 8,
//!     item_bytes_max: 1 << 16,
//!     batch_bytes_max: 1 << 20,
//! };
//! let mut reader = PointsReader::new(Form::Csv, Shape::Bulk, limits)?;
//! reader.feed(b"series,time,value,flag\nnorth,2026-01-01T00:")?;
//! reader.feed(b"00:00Z,1.5,Valid\n")?;
//! let given = reader.finish()?;
//! let points = &given.first().expect("one series").points;
//! assert_eq!((&*points.times, &*points.values), (&[1_767_225_600_000_000_000][..], &[1.5][..]));
//! # Ok::<(), api_tsm::wire::WireError>(())
//! ```

mod flags;
mod number;
mod given;
mod gather;
mod arrow;
mod time;
mod csv;
mod json;
mod parquet;
mod points_reader;
mod points_writer;

use model_series::Points;

pub(crate) use given::sent_position;
pub use given::{
    Given, NO_POINT, NO_VALUE, POINT_BYTES, ReadLimits, SERIES_BYTES, SeriesName, Timing, WireError,
};
pub use points_reader::PointsReader;
pub use points_writer::{PieceWriter, PointsWriter};
pub(crate) use time::read_time;

/// A form of points on the wire.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Form {
    /// JSON, an object for each point.
    Rows,
    /// JSON, a start and values on the raster of the series. A reader takes rows and compact alike.
    Compact,
    /// An Arrow IPC stream with the columns `series`, `time`, `value`, `flag`.
    Arrow,
    /// RFC 4180 text with the same columns.
    Csv,
    /// A Parquet file with the same columns; written only.
    Parquet,
}

/// Whether a body is about one series, which the address names, or about several, which the body names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shape {
    /// One series.
    Single,
    /// Any number of series.
    Bulk,
}

/// What a writer says about a series besides its points.
#[derive(Clone, Copy, Debug)]
pub struct SeriesHead<'a> {
    /// The ID.
    pub id: u32,
    /// The name.
    pub name: &'a str,
    /// The unit of the values.
    pub unit: &'a str,
    /// The raster's interval and multiplier (`Minute`, 15); `None` if the series has no raster.
    pub interval: Option<(&'a str, u32)>,
    /// The zone as the client reads it, and in which times are written.
    pub zone: &'a str,
}

/// What follows the points of a long series before it is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tail {
    /// Nothing.
    Nothing,
    /// Flags, which the writer knows: see [`PointsWriter::flags`].
    Flags,
    /// Flags, more than the writer keeps: see [`PointsWriter::flags_again`].
    FlagsAgain,
}

/// The slots of a raster as the compact form wants them: `points`, with a [`NO_POINT`] entry in each slot of `slots`
/// that has none. `None` if a point lies in no slot. Cost: linear.
pub fn on_raster(points: &Points, slots: impl Iterator<Item = i64>) -> Option<Points> {
    let mut out = Points::default();
    let mut next = 0;
    for slot in slots {
        let here = points.times.get(next) == Some(&slot);
        let (value, flag) = match (points.values.get(next), points.flags.get(next)) {
            (Some(value), Some(flag)) if here => (*value, *flag),
            _ => (NO_VALUE, NO_POINT),
        };
        next += usize::from(here);
        out.push(slot, value, flag);
    }
    (next == points.len()).then_some(out)
}

#[cfg(test)]
mod tests;
