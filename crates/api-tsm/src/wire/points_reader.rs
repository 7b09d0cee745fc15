//! Reads a body in any form.

use super::arrow::ArrowReader;
use super::csv::CsvReader;
use super::json::JsonReader;
use super::{Form, Given, POINT_BYTES, ReadLimits, SERIES_BYTES, Shape, WireError};

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
