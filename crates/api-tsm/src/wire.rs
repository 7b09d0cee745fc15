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

mod flags;
mod number;
mod gather;
mod arrow;
mod time;
mod csv;
mod json;
mod parquet;

use arrow::{ArrowReader, ArrowWriter};
use csv::{CsvReader, CsvWriter};
use jiff::tz::TimeZone;
use json::{JsonReader, JsonWriter};
use lang_json::Commas;
use model_series::Points;
use parquet::ParquetWriter;
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

/// The flag byte of a slot of the raster in which there is no point at all (compact form: value `null`, flag `null`).
pub const NO_POINT: u8 = 0xff;

/// The value of every [`Points`] entry without value, so that equal points are equal bits.
pub const NO_VALUE: f64 = 0.0;

/// What a reader takes before it refuses.
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

/// What a point counts for in memory: its time, its value, its flag.
pub const POINT_BYTES: usize = 17;
/// What a series counts for besides its points.
pub const SERIES_BYTES: usize = 256;

impl ReadLimits {
    /// The most that [`PointsReader::held_bytes`] can be: beyond it one of the limits refuses.
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
    /// The place at which each point was given, counted from 0; empty if they were given in time order.
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

    /// The place, among the points given for this series, of the point that is now at `index`.
    pub fn position(&self, index: usize) -> usize {
        self.order.get(index).map_or(index, |place| *place as usize)
    }
}

/// Why a body is refused: which series, which of its points, and the reason.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct WireError {
    /// The series as the body names it, where it is known.
    pub series: Option<String>,
    /// The point's place among those given for the series, counted from 0.
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

/// Reads the points of one body, pushed in chunks that may be cut anywhere.
pub struct PointsReader(AnyReader);

enum AnyReader {
    Json(Box<JsonReader>),
    Arrow(Box<ArrowReader>),
    Csv(Box<CsvReader>),
}

impl PointsReader {
    /// A reader for one body. With [`Form::Rows`] and [`Form::Compact`] it takes both.
    ///
    /// # Errors
    ///
    /// If the form is only written ([`Form::Parquet`]).
    pub fn new(form: Form, shape: Shape, limits: ReadLimits) -> Result<Self, WireError> {
        match form {
            Form::Rows | Form::Compact => Ok(Self(AnyReader::Json(Box::new(JsonReader::new(shape, limits))))),
            Form::Arrow => Ok(Self(AnyReader::Arrow(Box::new(ArrowReader::new(shape, limits))))),
            Form::Csv => Ok(Self(AnyReader::Csv(Box::new(CsvReader::new(shape, limits))))),
            Form::Parquet => Err(WireError::new("Parquet is written, not read")),
        }
    }

    /// Says what the one series that the address names may be called (its name, its ID): a row of CSV or Arrow that
    /// names another is refused. Without it only empty cells pass.
    #[must_use]
    pub fn addressed(mut self, names: &[&str]) -> Self {
        match &mut self.0 {
            AnyReader::Json(_) => {}
            AnyReader::Arrow(reader) => reader.address(names),
            AnyReader::Csv(reader) => reader.address(names),
        }
        self
    }

    /// Takes the next bytes of the body. Cost: linear in the chunk; memory grows by 17 bytes for each point.
    ///
    /// # Errors
    ///
    /// If the body is malformed or beyond a limit; the reader is of no use afterwards.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), WireError> {
        match &mut self.0 {
            AnyReader::Json(reader) => reader.feed(chunk),
            AnyReader::Arrow(reader) => reader.feed(chunk),
            AnyReader::Csv(reader) => reader.feed(chunk),
        }
    }

    /// Bytes of memory that the body takes so far: [`POINT_BYTES`] for each point, [`SERIES_BYTES`] for each series, and
    /// what waits to be whole or is kept to read what comes.
    pub fn held_bytes(&self) -> usize {
        let (points, series, rest) = match &self.0 {
            AnyReader::Json(reader) => reader.held(),
            AnyReader::Arrow(reader) => reader.held(),
            AnyReader::Csv(reader) => reader.held(),
        };
        points
            .saturating_mul(POINT_BYTES)
            .saturating_add(series.saturating_mul(SERIES_BYTES))
            .saturating_add(rest)
    }

    /// Ends the body: the series in the order in which they came, each with its points in time order.
    /// A JSON body may name a series twice, and so may this list; rows of CSV and Arrow are gathered by name.
    ///
    /// # Errors
    ///
    /// If the body is not complete, or names one time of one series twice.
    pub fn finish(self) -> Result<Vec<Given>, WireError> {
        match self.0 {
            AnyReader::Json(reader) => reader.finish(),
            AnyReader::Arrow(reader) => reader.finish(),
            AnyReader::Csv(reader) => reader.finish(),
        }
    }
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

/// Renders whole series of a bulk body independently of those before them, so that several tasks can render at once:
/// the body is `begin`, then for each piece [`PointsWriter::join`] and the piece, then `end`. Cheap to clone.
#[derive(Clone)]
pub struct PieceWriter(AnyPiece);

#[derive(Clone)]
enum AnyPiece {
    Json(Box<JsonWriter>),
    Arrow(ArrowWriter),
    Csv(Box<CsvWriter>),
}

impl PieceWriter {
    /// Appends whole series (at least one); several at once make fuller Arrow batches.
    pub fn render(&mut self, out: &mut Vec<u8>, series: &[(SeriesHead<'_>, &Points)]) {
        match &mut self.0 {
            AnyPiece::Arrow(writer) => writer.render(out, series),
            AnyPiece::Json(writer) => {
                let mut commas = Commas::default();
                for (head, points) in series {
                    commas.next(out);
                    writer.begin_series(out, head);
                    writer.points(out, points);
                    writer.end_series(out, points);
                }
            }
            AnyPiece::Csv(writer) => {
                for (head, points) in series {
                    writer.begin_series(head);
                    writer.points(out, points);
                }
            }
        }
    }
}

/// Writes one body, appending to a buffer of the caller.
///
/// Call [`begin`](Self::begin), then for each series [`series`](Self::series), or
/// [`begin_series`](Self::begin_series), [`points`](Self::points) any number of times and
/// [`end_points`](Self::end_points) with what its [`Tail`] asks for, then [`end`](Self::end). Or render pieces at once elsewhere, see [`PieceWriter`].
pub struct PointsWriter {
    shape: Shape,
    part: Part,
    /// The commas between series, where the form has such.
    commas: Commas,
    /// The name of the series begun, for the forms that say it with every part.
    name: String,
}

enum Part {
    Piece(PieceWriter),
    Parquet(Box<ParquetWriter>),
}

impl PointsWriter {
    /// A writer; times are written with the offsets of `zone` where the form is text.
    pub fn new(form: Form, shape: Shape, zone: &TimeZone) -> Self {
        let piece = |piece| Part::Piece(PieceWriter(piece));
        let part = match form {
            Form::Rows | Form::Compact => {
                piece(AnyPiece::Json(Box::new(JsonWriter::new(form == Form::Compact, zone))))
            }
            Form::Arrow => piece(AnyPiece::Arrow(ArrowWriter::default())),
            Form::Csv => piece(AnyPiece::Csv(Box::new(CsvWriter::new(zone)))),
            Form::Parquet => Part::Parquet(Box::new(ParquetWriter::new())),
        };
        Self { shape, part, commas: Commas::default(), name: String::new() }
    }

    /// What renders pieces of a bulk body independently; `None` for Parquet, whose parts know each other.
    pub fn piece(&self) -> Option<PieceWriter> {
        match &self.part {
            Part::Piece(piece) => Some(piece.clone()),
            Part::Parquet(_) => None,
        }
    }

    /// Writes what stands before the next rendered piece: a comma, or nothing.
    pub fn join(&mut self, out: &mut Vec<u8>) {
        if let Part::Piece(PieceWriter(AnyPiece::Json(_))) = &self.part {
            self.commas.next(out);
        }
    }

    /// Writes what comes before all series.
    ///
    /// # Errors
    ///
    /// Only if the Parquet writer refuses.
    pub fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        match &mut self.part {
            Part::Piece(PieceWriter(AnyPiece::Json(_))) => {
                out.extend_from_slice(JsonWriter::frame(self.shape).0)
            }
            Part::Piece(PieceWriter(AnyPiece::Arrow(_))) => ArrowWriter::begin(out),
            Part::Piece(PieceWriter(AnyPiece::Csv(_))) => CsvWriter::begin(out),
            Part::Parquet(writer) => writer.begin(out)?,
        }
        Ok(())
    }

    /// Writes whole series; several at once make fuller Arrow batches.
    ///
    /// # Errors
    ///
    /// Only if the Parquet writer refuses.
    pub fn series(
        &mut self,
        out: &mut Vec<u8>,
        series: &[(SeriesHead<'_>, &Points)],
    ) -> Result<(), WireError> {
        if series.is_empty() {
            return Ok(());
        }
        self.join(out);
        match &mut self.part {
            Part::Piece(piece) => piece.render(out, series),
            Part::Parquet(writer) => {
                for (head, points) in series {
                    writer.begin_series(head.name);
                    writer.points(out, points)?;
                }
            }
        }
        Ok(())
    }

    /// Writes what comes before the points of a long series.
    pub fn begin_series(&mut self, out: &mut Vec<u8>, head: SeriesHead<'_>) {
        self.join(out);
        match &mut self.part {
            Part::Piece(PieceWriter(AnyPiece::Json(writer))) => writer.begin_series(out, &head),
            Part::Piece(PieceWriter(AnyPiece::Arrow(_))) => head.name.clone_into(&mut self.name),
            Part::Piece(PieceWriter(AnyPiece::Csv(writer))) => writer.begin_series(&head),
            Part::Parquet(writer) => writer.begin_series(head.name),
        }
    }

    /// Writes the next points of the series begun. For the compact form: the next slots of the raster, with their times,
    /// and [`NO_POINT`] where there is no point ([`on_raster`] makes them).
    ///
    /// # Errors
    ///
    /// Only if the Parquet writer refuses.
    pub fn points(&mut self, out: &mut Vec<u8>, points: &Points) -> Result<(), WireError> {
        match &mut self.part {
            Part::Piece(PieceWriter(AnyPiece::Json(writer))) => writer.points(out, points),
            Part::Piece(PieceWriter(AnyPiece::Arrow(writer))) => writer.render_part(out, &self.name, points),
            Part::Piece(PieceWriter(AnyPiece::Csv(writer))) => writer.points(out, points),
            Part::Parquet(writer) => writer.points(out, points)?,
        }
        Ok(())
    }

    /// Ends the points of a long series; answers what must follow before the series is written.
    pub fn end_points(&mut self, out: &mut Vec<u8>) -> Tail {
        match &mut self.part {
            Part::Piece(PieceWriter(AnyPiece::Json(writer))) => writer.end_points(out),
            Part::Piece(PieceWriter(AnyPiece::Arrow(_) | AnyPiece::Csv(_))) | Part::Parquet(_) => {
                Tail::Nothing
            }
        }
    }

    /// [`Tail::Flags`]: writes flags until about `bytes_max` bytes were written; answers whether some are left. If none are,
    /// the series is written.
    pub fn flags(&mut self, out: &mut Vec<u8>, bytes_max: usize) -> bool {
        match &mut self.part {
            Part::Piece(PieceWriter(AnyPiece::Json(writer))) => writer.flags(out, bytes_max),
            Part::Piece(PieceWriter(AnyPiece::Arrow(_) | AnyPiece::Csv(_))) | Part::Parquet(_) => false,
        }
    }

    /// [`Tail::FlagsAgain`]: writes the flags of points that were written before, all of them in their order; then comes
    /// [`end_flags`](Self::end_flags).
    pub fn flags_again(&mut self, out: &mut Vec<u8>, points: &Points) {
        if let Part::Piece(PieceWriter(AnyPiece::Json(writer))) = &mut self.part {
            writer.flags_again(out, &points.flags);
        }
    }

    /// Ends a long series behind its flags.
    ///
    /// # Errors
    ///
    /// If the points handed over again were not as many as before.
    pub fn end_flags(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        match &mut self.part {
            Part::Piece(PieceWriter(AnyPiece::Json(writer))) => writer.end_flags(out),
            Part::Piece(PieceWriter(AnyPiece::Arrow(_) | AnyPiece::Csv(_))) | Part::Parquet(_) => Ok(()),
        }
    }

    /// Writes what comes after all series.
    ///
    /// # Errors
    ///
    /// Only if the Parquet writer refuses.
    pub fn end(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        match &mut self.part {
            Part::Piece(PieceWriter(AnyPiece::Json(_))) => {
                out.extend_from_slice(JsonWriter::frame(self.shape).1)
            }
            Part::Piece(PieceWriter(AnyPiece::Arrow(_))) => ArrowWriter::end(out),
            Part::Piece(PieceWriter(AnyPiece::Csv(_))) => {}
            Part::Parquet(writer) => writer.end(out)?,
        }
        Ok(())
    }
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
