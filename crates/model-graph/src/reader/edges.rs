//! Neighbourhoods: the edges of a vertex in one direction, page by page, read where they lie.

use bytes::Bytes;
use graph::{EdgeDirection, EdgeKey, EdgeView, LabelId, keys};
use store::{Direction, Page, Range};

use super::Reader;
use crate::Error;

/// The most edges in a page.
const PAGE_EDGES: usize = 1_024;

/// The edges of a vertex, page by page; made by [`Reader::edges`].
#[derive(Debug)]
pub struct EdgePages<'a> {
    reader: &'a Reader,
    bucket: u32,
    /// Over how many buckets pointers at the vertex are spread.
    width: u32,
    direction: EdgeDirection,
    /// Bytes of a key up to and with the vertex.
    prefix_bytes: usize,
    /// What was not read yet; the last first.
    ranges: Vec<(Place, Range)>,
}

/// Where edges of a vertex lie.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    /// In its own partition.
    Own,
    /// In others, to which rows point.
    Pointed,
}

/// Some edges of a vertex.
#[derive(Debug)]
pub struct EdgePage<'a> {
    reader: &'a Reader,
    direction: EdgeDirection,
    prefix_bytes: usize,
    page: Page,
}

/// An edge of a neighbourhood, where it lies.
#[derive(Clone, Copy, Debug)]
pub struct EdgeRef<'a> {
    /// What its key says: labels, sort values, the other vertex.
    pub key: EdgeKey<'a>,
    /// What is stored of it.
    pub view: EdgeView<'a>,
}

impl<'a> EdgePages<'a> {
    pub(super) fn new(
        reader: &'a Reader,
        vertex_key: &[u8],
        direction: EdgeDirection,
        labels: &[LabelId],
    ) -> Self {
        let mut own: Vec<_> = match labels {
            [] => vec![keys::edges_range(vertex_key, direction, None)],
            labels => {
                labels.iter().map(|label| keys::edges_range(vertex_key, direction, Some(*label))).collect()
            }
        };
        own.sort_unstable_by(|one, two| two.start.cmp(&one.start));
        own.dedup();
        let pointed = if reader.has_pointers(direction) { own.clone() } else { Vec::new() };
        let ranges = pointed.into_iter().map(|range| (Place::Pointed, range));
        let ranges = ranges.chain(own.into_iter().map(|range| (Place::Own, range))).collect();
        let (bucket, width) = (reader.bucket_of(vertex_key), reader.width(vertex_key));
        Self::of_ranges(reader, bucket, (direction, vertex_key.len() + 1), ranges).of_width(width)
    }

    /// The same, where pointers at the vertex are spread over so many buckets.
    pub(super) fn of_width(self, width: u32) -> Self {
        Self { width, ..self }
    }

    /// Those in some ranges of a vertex, the last first.
    pub(super) fn of_ranges(
        reader: &'a Reader,
        bucket: u32,
        (direction, prefix_bytes): (EdgeDirection, usize),
        ranges: Vec<(Place, Range)>,
    ) -> Self {
        Self { reader, bucket, width: 1, direction, prefix_bytes, ranges }
    }

    /// The next page; `None` behind the last. A page may be empty. Cost: a scan.
    ///
    /// # Errors
    ///
    /// If the store refuses; the next call tries the same page.
    pub async fn next(&mut self) -> Result<Option<EdgePage<'a>>, Error> {
        self.next_up_to(PAGE_EDGES).await
    }

    /// The same, with at most so many rows.
    ///
    /// # Errors
    ///
    /// As [`EdgePages::next`].
    pub async fn next_up_to(&mut self, rows_max: usize) -> Result<Option<EdgePage<'a>>, Error> {
        let reader = self.reader;
        let Some((place, range)) = self.ranges.last() else { return Ok(None) };
        let (place, rows_max) = (*place, rows_max.clamp(1, PAGE_EDGES));
        let page = match place {
            Place::Own => {
                let partition = reader.partition_at(self.bucket);
                reader.snapshot.scan(partition, range, Direction::Forward, rows_max).await?
            }
            Place::Pointed => reader.pointers((self.bucket, self.width), range, rows_max).await?,
        };
        let rest = range.after_page(&page).map(|range| (place, range));
        let page = match place {
            Place::Own => page,
            Place::Pointed => reader.pointed_edges(&page).await?,
        };
        self.ranges.pop();
        self.ranges.extend(rest);
        let Self { direction, prefix_bytes, .. } = *self;
        Ok(Some(EdgePage::new(reader, (direction, prefix_bytes), page)))
    }
}

impl Reader {
    /// Whether rows of other partitions point at edges of this direction.
    #[inline]
    pub(super) fn has_pointers(&self, direction: EdgeDirection) -> bool {
        direction == EdgeDirection::In && self.context.buckets > 1
    }

    /// The edges to which rows point, under their keys at the target; those that are gone, or are of another life, are left out.
    pub(crate) async fn pointed_edges(&self, pointers: &Page) -> Result<Page, Error> {
        let mut edges = Page::default();
        let found = self.edges_of_pointers(pointers.rows().map(|(row, _)| row)).await?;
        found.iter().flatten().for_each(|(key, stored)| edges.push(key, stored));
        Ok(edges)
    }

    /// The edge of each row that points at one: its key at the target, and what is stored of it; `None` if it is gone, or of another life.
    /// Cost: a read for each, those of a partition at once.
    pub(super) async fn edges_of_pointers<'r>(
        &self,
        pointers: impl IntoIterator<Item = &'r [u8]>,
    ) -> Result<Vec<Option<(Bytes, Bytes)>>, Error> {
        let (mut places, mut wanted) = (Vec::new(), Vec::new());
        for row in pointers {
            let (key, life) = keys::edge_of_pointer(row).ok_or(graph::Malformed)?;
            let id = key.to_id().ok_or(graph::Malformed)?;
            let source = self.bucket_of(key.other);
            places.push((source, keys::edge(&id, EdgeDirection::Out)));
            wanted.push((keys::edge(&id, EdgeDirection::In), life));
        }
        let mut found = Vec::with_capacity(wanted.len());
        for ((key, life), stored) in wanted.into_iter().zip(self.values(places).await?) {
            found.push(match stored {
                Some(stored) if EdgeView::parse(&stored)?.life == Some(life) => Some((key, stored)),
                Some(_) | None => None,
            });
        }
        Ok(found)
    }
}

impl<'a> EdgePage<'a> {
    pub(super) fn new(
        reader: &'a Reader,
        (direction, prefix_bytes): (EdgeDirection, usize),
        page: Page,
    ) -> Self {
        Self { reader, direction, prefix_bytes, page }
    }

    /// How many rows it has, of edges that are seen and others.
    pub fn rows(&self) -> usize {
        self.page.len()
    }

    /// The edges that are seen, in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = Result<EdgeRef<'_>, Error>> {
        let of = (self.direction, self.prefix_bytes);
        let read = move |(row, value)| edge_of_row(self.reader, of, row, value).transpose();
        self.page.rows().filter_map(read)
    }
}

/// The edge of a row, of which the bytes up to and with the vertex are known; `None` if it is not seen.
#[inline]
pub(super) fn edge_of_row<'r>(
    reader: &Reader,
    (direction, prefix_bytes): (EdgeDirection, usize),
    row: &'r [u8],
    value: &'r [u8],
) -> Result<Option<EdgeRef<'r>>, Error> {
    let (vertex, rest) = row.split_at_checked(prefix_bytes).ok_or(graph::Malformed)?;
    let vertex = vertex.get(1..).ok_or(graph::Malformed)?;
    let key = EdgeKey::parse_behind(direction, vertex, rest).ok_or(graph::Malformed)?;
    let view = EdgeView::parse(value)?;
    Ok(reader.sees_edge(&key, &view).then_some(EdgeRef { key, view }))
}
