//! Queries carried out: the stages of a plan walked page by page, each element checked where it is stored.
//!
//! Awaits are page-sized: for a page of rows, and for the elements that a page of an index finds. The walk counts its steps, lets others run between
//! slices, and ends at its deadline; once it is long, it looks at its pages in slots of a lane.
//!
//! Every match comes once: ranges of a path are apart from each other, and an element that several rows of an index find counts at the first of them.

mod check;
mod position;
mod paths;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use graph::plan::{AccessPath, Stage, Walked};
use graph::{Malformed, VertexIdRef, VertexView, keys};
use store::{Deadline, Direction, Lane, Pace, Page, Range, rest};

use self::check::Checker;
pub use self::position::PAGE_TOKEN_BYTES_MAX;
use self::position::Position;
use crate::{EdgeRef, Error, Reader};

/// The most rows in a page of elements, and of rows whose elements are to be read.
const PAGE_ROWS: usize = 1_024;
const FOUND_ROWS: usize = 256;
/// The fewest rows in a page.
const PAGE_ROWS_MIN: usize = 16;
/// Looking at an element that was read for a row costs so many steps.
const STEPS_A_LOOK_UP: usize = 16;
const STEPS_A_ROW: usize = 4;
/// A page, be it empty: the search for its beginning.
const STEPS_A_PAGE: usize = 32;
/// After so many slices a walk is long.
const SLICES_INLINE: usize = 4;

/// A match, where it is stored.
#[derive(Clone, Copy, Debug)]
pub enum Found<'a> {
    /// A vertex.
    Vertex(VertexRef<'a>),
    /// An edge.
    Edge(EdgeRef<'a>),
}

/// A vertex, where it is stored.
#[derive(Clone, Copy, Debug)]
pub struct VertexRef<'a> {
    /// Its id as a part of a key.
    pub key: &'a [u8],
    /// What is stored of it.
    pub view: VertexView<'a>,
}

impl<'a> VertexRef<'a> {
    /// Its id. Cost: of a text a look at each byte.
    ///
    /// # Errors
    ///
    /// If the key is damaged.
    pub fn id(&self) -> Result<VertexIdRef<'a>, Malformed> {
        VertexIdRef::of_key(self.key).ok_or(Malformed)
    }
}

/// The matches of a query in the order of its walk; made by [`Reader::matches`].
#[derive(Debug)]
pub struct Matches<'a> {
    reader: &'a Reader,
    stages: Vec<Stage>,
    /// Where it goes on; `None`: nothing is left.
    position: Option<Position>,
    pace: Pace,
    lane: Option<Lane>,
    slices: usize,
    page_rows: usize,
    /// Rows looked at in this stage.
    looked_at: usize,
}

/// How a page was taken.
struct Taken {
    found: usize,
    /// The key to go on from, if not all of it was looked at.
    left_at: Option<Bytes>,
    looked_at: usize,
}

impl Reader {
    /// The elements that a plan finds (`graph::plan`). Cost: nothing before they are asked for.
    pub fn matches(&self, mut stages: Vec<Stage>, deadline: Deadline) -> Matches<'_> {
        if self.context().buckets == 1 {
            stages.retain(|stage| stage.paths.iter().all(|path| path.walked != Walked::Pointers));
        }
        let position = Position::first(self, &stages);
        let (pace, page_rows) = (Pace::new(deadline), 0);
        Matches { reader: self, stages, position, pace, lane: None, slices: 0, page_rows, looked_at: 0 }
    }
}

impl Matches<'_> {
    /// The same with long work in slots of a lane.
    #[must_use]
    pub fn in_lane(self, lane: Lane) -> Self {
        Self { lane: Some(lane), ..self }
    }

    /// Shows the next matches to `take`, up to so many; how many there were. Fewer: nothing is left. Cost: about a microsecond for each element
    /// looked at, and a read for each that an index finds and no cache has.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] behind the deadline; [`Error::Plan`] if a label without an index has too many elements; if the store refuses.
    pub async fn next(&mut self, max: usize, mut take: impl FnMut(Found<'_>)) -> Result<usize, Error> {
        let mut found = 0;
        while found < max {
            self.choose_path().await?;
            let Some((path, bucket, range)) = self.current() else { break };
            let (rows_max, is_looked_up) = self.rows_of_page(path, max - found);
            let page = self.scan(path, bucket, &range, rows_max).await?;
            let (pointed, elements) = match path.walked {
                Walked::Pointers => (Some(self.reader.pointed_edges(&page).await?), None),
                _ if is_looked_up => (None, Some(self.look_up(path, bucket, &page).await?)),
                _ => (None, None),
            };
            let rows = pointed.as_ref().unwrap_or(&page);
            let taken = self.take_page(rows, elements.as_deref(), max - found, &mut take).await?;
            found += taken.found;
            self.looked_at += taken.looked_at;
            self.check_bound()?;
            self.go_on(&range, &page, taken.left_at);
            self.pause().await?;
        }
        Ok(found)
    }

    /// Passes over so many matches; how many there were.
    ///
    /// # Errors
    ///
    /// As [`Matches::next`].
    pub async fn skip(&mut self, count: usize) -> Result<usize, Error> {
        self.next(count, |_| ()).await
    }

    /// Whether there may be more.
    pub fn has_more(&self) -> bool {
        self.position.is_some()
    }

    /// The path, the bucket, and what is left of the range.
    fn current(&self) -> Option<(&AccessPath, u32, Range)> {
        let position = self.position.as_ref()?;
        let path = position.path(&self.stages)?;
        Some((path, position.bucket, position.rest(path)?))
    }

    async fn scan(
        &self,
        path: &AccessPath,
        bucket: u32,
        range: &Range,
        rows_max: usize,
    ) -> Result<Page, Error> {
        if path.walked == Walked::Pointers {
            let stage = self.position.as_ref().and_then(|position| position.stage(&self.stages));
            let vertex =
                stage.and_then(|stage| stage.vertex.as_ref()).expect("pointers are those at a vertex");
            return self.reader.pointers((bucket, self.reader.width_of(vertex)), range, rows_max).await;
        }
        let partition = self.reader.partition_at(bucket);
        Ok(self.reader.snapshot().scan(partition, range, Direction::Forward, rows_max).await?)
    }

    /// How many rows to read, and whether their elements must be read, too.
    fn rows_of_page(&self, path: &AccessPath, wanted: usize) -> (usize, bool) {
        let (most, is_looked_up) = match path.walked {
            Walked::Vertices | Walked::Edges => (PAGE_ROWS, false),
            Walked::Pointers => (FOUND_ROWS, false),
            Walked::Label | Walked::Index { .. } => (FOUND_ROWS, true),
        };
        let rows = self.page_rows.max(wanted).clamp(PAGE_ROWS_MIN, most);
        (rows, is_looked_up)
    }

    /// The rows of the elements that a page finds: their keys, and their values if they are there.
    async fn look_up(
        &self,
        path: &AccessPath,
        bucket: u32,
        page: &Page,
    ) -> Result<Vec<(Bytes, Option<Bytes>)>, Error> {
        let row_key = |(row, _): (&[u8], &[u8])| element_key(path, row).ok_or(Malformed);
        let row_keys = page.rows().map(row_key).collect::<Result<Vec<_>, _>>()?;
        let partition = self.reader.partition_at(bucket);
        let rows = self.reader.snapshot().get_many(partition, &row_keys).await?;
        Ok(row_keys.into_iter().zip(rows.into_iter().map(|row| row.map(|row| row.value))).collect())
    }

    /// Looks at a page, in a slot of the lane where the walk is long.
    async fn take_page(
        &mut self,
        page: &Page,
        elements: Option<&[(Bytes, Option<Bytes>)]>,
        max: usize,
        take: &mut impl FnMut(Found<'_>),
    ) -> Result<Taken, Error> {
        let is_long = self.slices >= SLICES_INLINE;
        match self.lane.clone().filter(|_| is_long) {
            Some(lane) => lane.run(|| self.take_rows(page, elements, max, take)).await,
            None => self.take_rows(page, elements, max, take),
        }
    }

    fn take_rows(
        &mut self,
        page: &Page,
        elements: Option<&[(Bytes, Option<Bytes>)]>,
        max: usize,
        take: &mut impl FnMut(Found<'_>),
    ) -> Result<Taken, Error> {
        let position = self.position.as_ref().expect("a page was read of it");
        let stage = position.stage(&self.stages).expect("a page was read of it");
        let path = position.path(&self.stages).expect("a page was read of it");
        let mut checker = Checker::new(self.reader, stage, path);
        let (mut found, mut looked_at) = (0, 0);
        for (index, (row, value)) in page.rows().enumerate() {
            looked_at += 1;
            let element = match elements {
                None => Some((row, value)),
                Some(elements) => {
                    let (key, value) = elements.get(index).expect("an element for each row");
                    value.as_deref().map(|value| (&key[..], value))
                }
            };
            let steps = if elements.is_some() { STEPS_A_LOOK_UP } else { STEPS_A_ROW };
            if !self.pace.spend(steps) {
                self.pace.check()?;
            }
            let Some((key, value)) = element else { continue };
            let Some(matched) = checker.check(row, key, value)? else { continue };
            take(matched);
            found += 1;
            if found == max {
                let left_at = (index + 1 < page.len()).then(|| behind(path, row));
                return Ok(Taken { found, left_at, looked_at });
            }
        }
        Ok(Taken { found, left_at: None, looked_at })
    }

    fn check_bound(&self) -> Result<(), Error> {
        let stage = self.position.as_ref().and_then(|position| position.stage(&self.stages));
        match stage.and_then(|stage| stage.bound.as_ref()) {
            Some((max, refusal)) if self.looked_at > *max => Err(Error::Plan(refusal.clone())),
            _ => Ok(()),
        }
    }

    /// Moves behind a page, or behind a row of it.
    fn go_on(&mut self, range: &Range, page: &Page, left_at: Option<Bytes>) {
        self.page_rows = (self.page_rows.max(PAGE_ROWS_MIN) * 2).min(PAGE_ROWS);
        let start = left_at.or_else(|| range.after_page(page).map(|rest| rest.start));
        let Some(position) = &mut self.position else { return };
        if start.is_some() {
            position.start = start;
            return;
        }
        let stage = position.stage;
        self.position = self.position.take().and_then(|it| it.next(self.reader, &self.stages));
        if self.position.as_ref().is_some_and(|position| position.stage != stage) {
            self.looked_at = 0;
        }
    }

    async fn pause(&mut self) -> Result<(), Error> {
        self.pace.spend(STEPS_A_PAGE);
        self.pace.check()?;
        if self.pace.is_tired() {
            self.pace.rest();
            self.slices += 1;
            rest().await;
        }
        Ok(())
    }
}

/// The first key behind a row; of an edge to which a row points behind all rows that point at it.
fn behind(path: &AccessPath, row: &[u8]) -> Bytes {
    match path.walked {
        Walked::Pointers => {
            let end = Range::prefix(Bytes::copy_from_slice(row)).end;
            end.expect("a key of an edge begins with a letter")
        }
        _ => [row, &[0]].concat().into(),
    }
}

/// The row of the element that a row finds.
fn element_key(path: &AccessPath, row: &[u8]) -> Option<Bytes> {
    match &path.walked {
        Walked::Vertices | Walked::Edges | Walked::Pointers => Some(Bytes::copy_from_slice(row)),
        Walked::Label => keys::vertex_key_of_label_row(row).map(keys::vertex_of_key),
        Walked::Index { index, .. } => {
            let element = graph::index::element_of_row(row, index.fields.len())?;
            Some(match index.base {
                graph::schema::IndexBase::Vertex(_) => keys::vertex_of_key(element),
                graph::schema::IndexBase::Edge(_) => keys::edge_of_element(element),
            })
        }
    }
}
