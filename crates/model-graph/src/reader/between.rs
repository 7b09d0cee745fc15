//! The edges from one vertex to another: a look at each label and sort value that the edges of the first have, not at all its edges.

use bytes::Bytes;
use graph::keys::SortValues;
use graph::{EdgeDirection, EdgeKey, LabelId, VertexId, keys};
use store::{Direction, Page, Range};

use super::Reader;
use super::edges::{EdgePage, EdgePages, Place};
use crate::Error;

/// The edges from one vertex to another, by label and sort values; made by [`Reader::edges_between`].
///
/// They lie in the order of label, SUB label, sort values and target. So the first edge of the source tells the first label and values; the edge
/// with these to the target has a key of its own; and behind all edges with these, the next label and values are told.
#[derive(Debug)]
pub struct EdgesBetween<'a> {
    reader: &'a Reader,
    source_key: Vec<u8>,
    target_key: Vec<u8>,
    sort_values: Option<SortValues>,
    /// The edges of the source that were not looked at; `None`: nothing is left.
    left: Option<Range>,
}

impl<'a> EdgesBetween<'a> {
    pub(super) fn new(
        reader: &'a Reader,
        (source, target): (&VertexId, &VertexId),
        label: Option<LabelId>,
        sort_values: Option<&str>,
    ) -> Self {
        let source_key = source.to_key();
        let left = keys::edges_range(&source_key, EdgeDirection::Out, label);
        let sort_values = sort_values.map(|text| SortValues::Whole(text.into()));
        Self { reader, source_key, target_key: target.to_key(), sort_values, left: Some(left) }
    }

    /// The edge of the next label and sort values, if there is one and it is seen; `None` behind the last. Cost: a scan of one row, and a read.
    ///
    /// # Errors
    ///
    /// If the store refuses, or the bytes are damaged; the next call tries the same.
    pub async fn next(&mut self) -> Result<Option<EdgePage<'a>>, Error> {
        let reader = self.reader;
        let Some(left) = &self.left else { return Ok(None) };
        let partition = reader.partition_at(reader.bucket_of(&self.source_key));
        let first = reader.snapshot.scan(partition, left, Direction::Forward, 1).await?;
        let Some((row, _)) = first.row(0) else {
            self.left = None;
            return Ok(None);
        };
        let key = EdgeKey::parse(row).ok_or(graph::Malformed)?;
        let head = self.head(row, &key)?;
        let edge = Bytes::from([&head.edges[..], &self.target_key].concat());
        let mut page = Page::default();
        if let Some(found) = reader.snapshot.get(partition, &edge).await? {
            page.push(&edge, &found.value);
        }
        let behind = Range::prefix(head.passed).end;
        self.left = behind.map(|start| Range { start, end: left.end.clone() });
        Ok(Some(EdgePage::new(reader, (EdgeDirection::Out, self.source_key.len() + 1), page)))
    }

    /// All edges of the source that were not looked at, whatever they lead to.
    pub fn rest(self) -> EdgePages<'a> {
        let bucket = self.reader.bucket_of(&self.source_key);
        let left = self.left.into_iter().map(|range| (Place::Own, range)).collect();
        EdgePages::of_ranges(self.reader, bucket, (EdgeDirection::Out, self.source_key.len() + 1), left)
    }

    fn head(&self, row: &[u8], key: &EdgeKey<'_>) -> Result<Head, Error> {
        let labels = (key.label, key.sub_label);
        let Some(sort_values) = &self.sort_values else {
            let edges = row.len().checked_sub(key.other.len()).and_then(|bytes| row.get(..bytes));
            let edges = edges.ok_or(graph::Malformed)?.to_vec();
            return Ok(Head { passed: edges.clone(), edges });
        };
        let of = |values: &SortValues| {
            let range = keys::sorted_edges_range(&self.source_key, EdgeDirection::Out, labels, values);
            range.start.to_vec()
        };
        Ok(Head { edges: of(sort_values), passed: of(&SortValues::Begin(String::new())) })
    }
}

/// What rows of edges begin with.
struct Head {
    /// Those of the label and the sort values that are wanted.
    edges: Vec<u8>,
    /// Those that need no further look.
    passed: Vec<u8>,
}
