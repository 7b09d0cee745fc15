//! Answers with points: whole when they are small, a stream when they are not. Memory stays flat either way.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use api_http::{CHUNK_BYTES, Response, chunked_response};
use futures_util::{Stream, StreamExt as _};
use model_series::{Definition, Points};

use super::reading::{Pages, Reading, SeriesPages};
use crate::media::media_type;
use crate::problem::Problem;
use crate::wire::{Form, PieceWriter, PointsWriter, Shape, Tail};

/// The most series that are read and rendered as one piece.
const GROUP_SERIES_MAX: usize = 256;
/// What a series takes in an answer as long as none has been rendered.
const SERIES_BYTES_GUESSED: usize = 64 * 1024;

/// The points of one series.
///
/// # Errors
///
/// Whatever goes wrong before the answer is larger than a mebibyte; later it breaks off.
pub(super) async fn answer_one(
    reading: Reading,
    series: &Arc<Definition>,
    form: Form,
) -> Result<Response, Problem> {
    reading.check(std::slice::from_ref(series), form)?;
    let pages = Pages::Series(Box::new(reading.pages(series, form)?));
    answer_pages(&reading, pages, form).await
}

async fn answer_pages(reading: &Reading, pages: Pages, form: Form) -> Result<Response, Problem> {
    let body = OneBody {
        series: LongSeries::new(pages),
        writer: reading.writer(form, Shape::Single),
        part: Part::Begin,
    };
    let chunks = futures_util::stream::try_unfold(body, |mut body| async move {
        let chunk = body.next().await?;
        Ok(chunk.map(|chunk| (chunk, body)))
    });
    chunked_response(media_type(form), reading.stall_max, Box::pin(chunks)).await
}

/// The points of many series, in order.
///
/// # Errors
///
/// As [`answer_one`].
pub(super) async fn answer_many(
    reading: Reading,
    series: Vec<Arc<Definition>>,
    form: Form,
    tasks: usize,
) -> Result<Response, Problem> {
    let stall_max = reading.stall_max;
    reading.check(&series, form)?;
    let body = ManyBody::new(reading, series, form, tasks);
    let chunks = futures_util::stream::try_unfold(body, |mut body| async move {
        let chunk = body.next().await?;
        Ok(chunk.map(|chunk| (chunk, body)))
    });
    chunked_response(media_type(form), stall_max, Box::pin(chunks)).await
}

/// The sum of many series as the points of one.
///
/// # Errors
///
/// If the series do not add up, or cannot be read as it is asked for; as [`answer_one`].
pub(super) async fn answer_total(
    reading: &Reading,
    series: &[Arc<Definition>],
    form: Form,
    tasks: usize,
) -> Result<Response, Problem> {
    let pages = reading.total_pages(series, form, tasks).await?;
    answer_pages(reading, pages, form).await
}

/// How far a body is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Begin,
    Series,
    End,
}

/// A series that is written page by page.
struct LongSeries {
    pages: Pages,
    stage: Stage,
}

/// What is written next of a series.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    Points,
    Flags,
    FlagsAgain,
}

impl LongSeries {
    fn new(pages: Pages) -> Self {
        Self { pages, stage: Stage::Points }
    }

    /// Writes a part of the series; answers whether more is left.
    async fn write(&mut self, writer: &mut PointsWriter, out: &mut Vec<u8>) -> Result<bool, Problem> {
        match self.stage {
            Stage::Points => {
                if let Some(points) = self.pages.next().await? {
                    writer.points(out, &points)?;
                    return Ok(true);
                }
                self.stage = match writer.end_points(out) {
                    Tail::Nothing => return Ok(false),
                    Tail::Flags => Stage::Flags,
                    Tail::FlagsAgain => {
                        self.pages.rewind();
                        Stage::FlagsAgain
                    }
                };
                Ok(true)
            }
            Stage::Flags => Ok(writer.flags(out, CHUNK_BYTES)),
            Stage::FlagsAgain => {
                let Some(points) = self.pages.next().await? else {
                    writer.end_flags(out)?;
                    return Ok(false);
                };
                writer.flags_again(out, &points);
                Ok(true)
            }
        }
    }
}

/// A body about one series.
struct OneBody {
    series: LongSeries,
    writer: PointsWriter,
    part: Part,
}

impl OneBody {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Problem> {
        let mut out = Vec::with_capacity(self.series.pages.bytes_guessed());
        match self.part {
            Part::End => return Ok(None),
            Part::Begin => {
                self.writer.begin(&mut out)?;
                self.writer.begin_series(&mut out, self.series.pages.head());
                self.part = Part::Series;
            }
            Part::Series => {}
        }
        while out.len() < CHUNK_BYTES {
            if !self.series.write(&mut self.writer, &mut out).await? {
                self.writer.end(&mut out)?;
                self.part = Part::End;
                break;
            }
        }
        Ok(Some(out))
    }
}

/// A body about many series: groups of them are read and rendered by several tasks at once.
struct ManyBody {
    pieces: Pin<Box<dyn Stream<Item = Piece> + Send>>,
    writer: PointsWriter,
    /// The series that is written page by page.
    long: Option<LongSeries>,
    part: Part,
}

/// A part of a body.
enum Piece {
    /// Some series, rendered.
    Rendered(Vec<u8>),
    /// A series too long to be rendered at once.
    Long(Box<SeriesPages>),
    /// What went wrong.
    Failed(Problem),
}

/// What the tasks of one body share.
struct Rendering {
    reading: Reading,
    form: Form,
    piece: Option<PieceWriter>,
    /// What a series took so far, on average.
    series_bytes: AtomicUsize,
}

impl ManyBody {
    fn new(reading: Reading, series: Vec<Arc<Definition>>, form: Form, tasks: usize) -> Self {
        let writer = reading.writer(form, Shape::Bulk);
        let piece = writer.piece();
        let series_bytes = AtomicUsize::new(SERIES_BYTES_GUESSED);
        let rendering = Arc::new(Rendering { reading, form, piece, series_bytes });
        let mut rest = series.into_iter();
        let groups = std::iter::from_fn(move || {
            let group: Vec<_> = rest.by_ref().take(rendering.group_size()).collect();
            (!group.is_empty()).then(|| (Arc::clone(&rendering), group))
        });
        let pieces = futures_util::stream::iter(groups)
            .map(|(rendering, group)| async move {
                let task = tokio::spawn(async move { rendering.render(group).await });
                task.await.unwrap_or_else(|_| vec![Piece::Failed(Problem::internal())])
            })
            .buffered(tasks.max(1))
            .flat_map(futures_util::stream::iter);
        Self { pieces: Box::pin(pieces), writer, long: None, part: Part::Begin }
    }

    async fn next(&mut self) -> Result<Option<Vec<u8>>, Problem> {
        let mut out = Vec::new();
        match self.part {
            Part::End => return Ok(None),
            Part::Begin => {
                self.writer.begin(&mut out)?;
                self.part = Part::Series;
            }
            Part::Series => {}
        }
        while out.len() < CHUNK_BYTES {
            if let Some(long) = &mut self.long {
                if !long.write(&mut self.writer, &mut out).await? {
                    self.long = None;
                }
                continue;
            }
            match self.pieces.next().await {
                Some(Piece::Rendered(piece)) => {
                    self.writer.join(&mut out);
                    if out.is_empty() {
                        out = piece;
                    } else {
                        out.extend_from_slice(&piece);
                    }
                }
                Some(Piece::Long(pages)) => {
                    self.writer.begin_series(&mut out, pages.head());
                    self.long = Some(LongSeries::new(Pages::Series(pages)));
                }
                Some(Piece::Failed(problem)) => return Err(problem),
                None => {
                    self.writer.end(&mut out)?;
                    self.part = Part::End;
                    break;
                }
            }
        }
        Ok(Some(out))
    }
}

impl Rendering {
    /// How many series make about a chunk.
    fn group_size(&self) -> usize {
        if self.piece.is_none() {
            return 1;
        }
        (CHUNK_BYTES / self.series_bytes.load(Ordering::Relaxed).max(1)).clamp(1, GROUP_SERIES_MAX)
    }

    /// Reads and renders a group. Cost: `O(points)`; memory for a page of each series at most.
    async fn render(&self, group: Vec<Arc<Definition>>) -> Vec<Piece> {
        let pages: Result<Vec<_>, _> =
            group.iter().map(|series| self.reading.pages(series, self.form)).collect();
        let mut pages = match pages {
            Ok(pages) => pages,
            Err(problem) => return vec![Piece::Failed(problem)],
        };
        if self.piece.is_none() {
            return pages.into_iter().map(|pages| Piece::Long(Box::new(pages))).collect();
        }
        let outcomes = self.reading.read_together(&mut pages).await;
        let mut pieces = Vec::with_capacity(1);
        let mut read: Vec<(SeriesPages, Points)> = Vec::with_capacity(group.len());
        for (pages, outcome) in pages.into_iter().zip(outcomes) {
            match outcome {
                Some(Ok(points)) => read.push((pages, points)),
                None => {
                    self.flush(&mut read, &mut pieces);
                    pieces.push(Piece::Long(Box::new(pages)));
                }
                Some(Err(problem)) => {
                    pieces.push(Piece::Failed(problem));
                    return pieces;
                }
            }
        }
        self.flush(&mut read, &mut pieces);
        pieces
    }

    fn flush(&self, read: &mut Vec<(SeriesPages, Points)>, pieces: &mut Vec<Piece>) {
        let Some(piece) = &self.piece else { return };
        if read.is_empty() {
            return;
        }
        let average = self.series_bytes.load(Ordering::Relaxed);
        let mut out = Vec::with_capacity(average.saturating_mul(read.len()).min(2 * CHUNK_BYTES) + 1024);
        let series: Vec<_> = read.iter().map(|(pages, points)| (pages.head(), points)).collect();
        piece.clone().render(&mut out, &series);
        // Later groups are sized by this one.
        self.series_bytes.store((average + out.len() / read.len()) / 2, Ordering::Relaxed);
        read.clear();
        pieces.push(Piece::Rendered(out));
    }
}
