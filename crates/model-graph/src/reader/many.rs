//! Neighbourhoods of many vertices, read at once: their first edges by one read of the store, the rest of those that have many page by page.

use std::ops::Range;

use graph::{EdgeDirection, LabelId, keys};
use store::{RangeList, RangePages, SCAN_RANGES_MAX, ScanLimits, rest};

use super::Reader;
use super::edges::{EdgePages, EdgeRef, Place, edge_of_row};
use crate::Error;

/// So many edges of a vertex, way and label are read together with those of others; of those behind them a page costs little beside its
/// rows.
const EDGES_EACH: usize = 128;
/// So many bytes of them.
const BYTES_EACH: usize = 64 * 1024;
/// Ranges that are read best at once.
const RANGES_MAX: usize = 512;
/// Rows that are read without a rest.
const ROWS_AT_ONCE: usize = 4_096;
/// Once so many bytes were read, what is left is read page by page.
const BYTES_MAX: usize = 1024 * 1024;

/// The first edges of some vertices; made by [`Reader::edges_of_many`].
#[derive(Debug)]
pub struct EdgesOfMany<'a> {
    reader: &'a Reader,
    ways: Vec<Way>,
    /// Sorted, each once.
    labels: Vec<LabelId>,
    /// Way by way, those of a vertex together: its own edges, by label; then those to which rows point, by label.
    ranges: RangeList,
    pages: RangePages,
    /// The edges to which the rows of a range point, under its number.
    pointed: RangePages,
    /// Of each vertex, the bytes of a key up to and with it.
    prefix_bytes: Vec<u32>,
    /// Of each vertex, over how many buckets pointers at it are spread; nothing where there are no hubs.
    widths: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Way {
    direction: EdgeDirection,
    /// Ranges of a vertex.
    ranges_each: usize,
    /// The first range of all.
    first: usize,
}

/// The ranges of a vertex in one way.
struct Ranges {
    all: Range<usize>,
    /// The first in which rows point at edges.
    pointed: usize,
    direction: EdgeDirection,
    prefix_bytes: usize,
    /// Over how many buckets the rows are spread that point at edges.
    width: u32,
}

impl<'a> EdgesOfMany<'a> {
    pub(super) fn new(reader: &'a Reader, ways: &[EdgeDirection], labels: &[LabelId]) -> Self {
        let mut labels = labels.to_vec();
        labels.sort_unstable();
        labels.dedup();
        let mut partitions = reader.partitions.to_vec();
        if ways.iter().any(|way| reader.has_pointers(*way)) {
            let graph = &reader.context.graph;
            let pointers = (0..reader.context.buckets).map(|bucket| keys::pointers_partition(graph, bucket));
            partitions.extend(pointers);
        }
        let way = |direction: &EdgeDirection| {
            let places = if reader.has_pointers(*direction) { 2 } else { 1 };
            Way { direction: *direction, ranges_each: places * labels.len().max(1), first: 0 }
        };
        Self {
            reader,
            ways: ways.iter().map(way).collect(),
            labels,
            ranges: RangeList::new(partitions),
            pages: RangePages::default(),
            pointed: RangePages::default(),
            prefix_bytes: Vec::new(),
            widths: Vec::new(),
        }
    }

    /// How many vertices are read at once best; at least one.
    pub fn vertices_max(&self) -> usize {
        let ranges: usize = self.ways.iter().map(|way| way.ranges_each).sum();
        (RANGES_MAX / ranges.max(1)).max(1)
    }

    /// Reads the first edges of these vertices, whose ids are parts of keys; what was read before is forgotten. Up to `edges_each` of a
    /// vertex, way and label are wanted. Cost: a seek for each range, or less where one follows another, and the rows: vertices are read
    /// best in the order of their keys.
    ///
    /// # Errors
    ///
    /// If the store refuses, or the bytes are damaged.
    pub async fn read<'k>(
        &mut self,
        vertex_keys: impl Iterator<Item = &'k [u8]> + Clone,
        edges_each: usize,
    ) -> Result<(), Error> {
        self.choose(&vertex_keys);
        self.pages.begin(self.ranges.len());
        let limits = ScanLimits {
            rows_each: edges_each.clamp(1, EDGES_EACH),
            bytes_each: BYTES_EACH,
            rows: ROWS_AT_ONCE,
            bytes: BYTES_MAX,
        };
        let mut is_begun = false;
        // Of a vertex with more labels than that, all are read page by page.
        let is_listed = self.ranges.len() <= SCAN_RANGES_MAX;
        while is_listed && self.pages.unread() > 0 && self.pages.bytes() < limits.bytes {
            if is_begun {
                rest().await;
            }
            is_begun = true;
            self.reader.snapshot.scan_many(&self.ranges, limits, &mut self.pages).await?;
        }
        if self.ways.iter().any(|way| self.reader.has_pointers(way.direction)) {
            self.find_pointed().await?;
        }
        Ok(())
    }

    /// Bytes of what was read.
    pub fn bytes(&self) -> usize {
        self.pages.bytes() + self.pointed.bytes()
    }

    /// How many rows were read, of edges that are seen and others.
    pub fn rows(&self) -> usize {
        self.pages.rows_read()
    }

    /// The edges that are seen among the first of a vertex in one way, in the order of their keys; vertex and way by their numbers.
    #[inline]
    pub fn edges(&self, vertex: usize, way: usize) -> impl Iterator<Item = Result<EdgeRef<'_>, Error>> {
        let ranges = self.ranges_of(vertex, way);
        // What is behind a range that goes on comes later.
        let whole = ranges.all.clone().take_while(|range| !self.goes_on(&ranges, *range)).count();
        let Ranges { all, pointed, direction, prefix_bytes, .. } = ranges;
        let read = all.start..(all.start + whole + 1).min(all.end);
        let rows = read.flat_map(move |range| match range < pointed {
            true => self.pages.rows(range),
            false => self.pointed.rows(range),
        });
        rows.filter_map(move |(row, value)| {
            edge_of_row(self.reader, (direction, prefix_bytes), row, value).transpose()
        })
    }

    /// The edges behind those; `None` if there are none. Cost: nothing until they are read.
    #[inline]
    pub fn rest(&self, vertex: usize, way: usize) -> Option<EdgePages<'a>> {
        let ranges = self.ranges_of(vertex, way);
        let Ranges { pointed, direction, prefix_bytes, width, .. } = ranges;
        let mut left = ranges.all.clone().skip_while(|range| !self.goes_on(&ranges, *range));
        let first = left.next()?;
        let place = |range: usize| if range < pointed { Place::Own } else { Place::Pointed };
        let begun = match width > 1 && first >= pointed {
            true => Some(self.ranges.range(first).to_range()),
            false => self.pages.rest(&self.ranges, first),
        };
        let begun = begun.map(|range| (place(first), range));
        let behind = left.map(|range| (place(range), self.ranges.range(range).to_range()));
        let mut ranges: Vec<_> = begun.into_iter().chain(behind).collect();
        ranges.reverse();
        let bucket = self.ranges.range(first).partition.bucket;
        Some(EdgePages::of_ranges(self.reader, bucket, (direction, prefix_bytes), ranges).of_width(width))
    }

    /// Lists the ranges of vertices.
    fn choose<'k>(&mut self, vertex_keys: &(impl Iterator<Item = &'k [u8]> + Clone)) {
        self.ranges.clear();
        self.prefix_bytes.clear();
        let bytes = |key: &[u8]| u32::try_from(key.len() + 1).expect("a key of some thousand bytes");
        self.prefix_bytes.extend(vertex_keys.clone().map(bytes));
        self.widths.clear();
        if self.reader.has_hubs() {
            self.widths.extend(vertex_keys.clone().map(|key| self.reader.width(key)));
        }
        let mut prefix = Vec::new();
        // As they lie in the store: rows of edges that enter a vertex come before all others.
        for wanted in [EdgeDirection::In, EdgeDirection::Out] {
            for way in self.ways.iter_mut().filter(|way| way.direction == wanted) {
                way.first = self.ranges.len();
                for vertex_key in vertex_keys.clone() {
                    let bucket = self.reader.bucket_of(vertex_key) as usize;
                    let pointers =
                        self.reader.has_pointers(wanted).then(|| bucket + self.reader.partitions.len());
                    prefix.clear();
                    keys::put_edges_prefix(&mut prefix, vertex_key, wanted);
                    for partition in [Some(bucket), pointers].into_iter().flatten() {
                        push_ranges(&mut self.ranges, partition, &mut prefix, &self.labels);
                    }
                }
            }
        }
    }

    /// Finds the edges to which the rows point that were read.
    async fn find_pointed(&mut self) -> Result<(), Error> {
        self.pointed.begin(self.ranges.len());
        let (mut of, mut pointers) = (Vec::new(), Vec::new());
        for (vertex, way) in
            (0..self.prefix_bytes.len()).flat_map(|vertex| (0..self.ways.len()).map(move |way| (vertex, way)))
        {
            let Ranges { all, pointed, width, .. } = self.ranges_of(vertex, way);
            for range in pointed..all.end {
                let rows = self.pages.rows(range).map(|(row, _)| row);
                // Those at a hub are read page by page.
                let taken = if width > 1 { 0 } else { rows.len() };
                of.push((range, taken));
                pointers.extend(rows.take(taken));
            }
        }
        let mut found = self.reader.edges_of_pointers(pointers).await?.into_iter();
        for (range, rows) in of {
            self.pointed.begin_range(range);
            for (key, stored) in found.by_ref().take(rows).flatten() {
                self.pointed.push(&key, &stored);
            }
            self.pointed.end_range(range, self.pages.more(range));
        }
        Ok(())
    }

    #[inline]
    fn ranges_of(&self, vertex: usize, way: usize) -> Ranges {
        let Way { direction, ranges_each, first } = *self.ways.get(way).expect("one of the ways");
        let prefix_bytes = *self.prefix_bytes.get(vertex).expect("one of the vertices") as usize;
        let start = first + vertex * ranges_each;
        let pointed = start + self.labels.len().max(1);
        let width = match direction {
            EdgeDirection::In if !self.widths.is_empty() => {
                *self.widths.get(vertex).expect("one of the vertices")
            }
            EdgeDirection::In | EdgeDirection::Out => 1,
        };
        Ranges { all: start..start + ranges_each, pointed, direction, prefix_bytes, width }
    }

    /// Whether not all of a range was read: there was too much, or its rows are spread.
    #[inline]
    fn goes_on(&self, ranges: &Ranges, range: usize) -> bool {
        self.pages.more(range) || (ranges.width > 1 && range >= ranges.pointed)
    }
}

/// Adds the range of all edges that begin so, or one for each label.
fn push_ranges(ranges: &mut RangeList, partition: usize, prefix: &mut Vec<u8>, labels: &[LabelId]) {
    if labels.is_empty() {
        ranges.push_prefix(partition, prefix);
    }
    let bytes = prefix.len();
    for label in labels {
        prefix.extend_from_slice(&label.0.to_be_bytes());
        ranges.push_prefix(partition, prefix);
        prefix.truncate(bytes);
    }
}
