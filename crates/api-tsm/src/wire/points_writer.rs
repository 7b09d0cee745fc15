//! Writes a body in any form, as a whole or as pieces that several tasks render.

use jiff::tz::TimeZone;
use lang_json::Commas;
use model_series::Points;

use super::arrow::ArrowWriter;
use super::csv::CsvWriter;
use super::json::JsonWriter;
use super::parquet::ParquetWriter;
use super::{Form, SeriesHead, Shape, Tail, WireError};

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

    /// Writes what separates the next rendered piece from the one before: a comma, or nothing.
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
    /// and [`NO_POINT`](super::NO_POINT) where there is no point ([`on_raster`](super::on_raster) makes them).
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
