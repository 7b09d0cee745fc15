//! Whether a row of an element is a match, and counts where it was found.

use std::sync::Arc;

use graph::condition::matches_all;
use graph::index::{IndexRow, is_row_of, put_index_rows};
use graph::plan::{AccessPath, Finding, Stage, Walked, Wanted};
use graph::schema::IndexLabel;
use graph::{EdgeKey, EdgeView, Malformed, PropertiesRef, VertexView, keys};

use super::{Found, VertexRef};
use crate::{EdgeRef, Error, Reader};

/// Checks the rows of a page.
pub(super) struct Checker<'a> {
    reader: &'a Reader,
    stage: &'a Stage,
    path: &'a AccessPath,
    rows: Vec<IndexRow>,
    scratch: Vec<u8>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(reader: &'a Reader, stage: &'a Stage, path: &'a AccessPath) -> Self {
        Self { reader, stage, path, rows: Vec::new(), scratch: Vec::new() }
    }

    /// The element with this row, which the row `found_by` found, if it is a match.
    pub(super) fn check<'r>(
        &mut self,
        found_by: &[u8],
        key: &'r [u8],
        value: &'r [u8],
    ) -> Result<Option<Found<'r>>, Error> {
        let (found, properties) = match self.stage.wanted {
            Wanted::AnyVertex | Wanted::Vertex(_) => {
                let view = VertexView::parse(value)?;
                let is_wanted =
                    self.stage.wanted == Wanted::AnyVertex || self.stage.wanted == Wanted::Vertex(view.label);
                if !is_wanted || !self.reader.sees_vertex(&view) {
                    return Ok(None);
                }
                let id_key = keys::vertex_key_of_row(key).ok_or(Malformed)?;
                (Found::Vertex(VertexRef { key: id_key, view }), view.properties)
            }
            Wanted::AnyEdge | Wanted::Edge(_) | Wanted::EdgeOfParent(_) => {
                let edge = EdgeKey::parse(key).ok_or(Malformed)?;
                let is_wanted = match self.stage.wanted {
                    Wanted::Edge(label) => edge.sub_label == label,
                    Wanted::EdgeOfParent(label) => edge.label == label,
                    Wanted::AnyEdge | Wanted::AnyVertex | Wanted::Vertex(_) => true,
                };
                if !is_wanted {
                    return Ok(None);
                }
                let view = EdgeView::parse(value)?;
                if !self.reader.sees_edge(&edge, &view) {
                    return Ok(None);
                }
                (Found::Edge(EdgeRef { key: edge, view }), view.properties)
            }
        };
        let is_match = matches_all(&self.stage.conditions, properties)?;
        let counts = is_match && self.counts(found_by, key, properties)?;
        Ok(counts.then_some(found))
    }

    /// Whether a match counts where this row finds it.
    fn counts(&mut self, found_by: &[u8], key: &[u8], properties: PropertiesRef<'_>) -> Result<bool, Error> {
        let path = self.path;
        match &path.walked {
            Walked::Index { finding: Finding::Only, .. }
            | Walked::Vertices
            | Walked::Label
            | Walked::Edges
            | Walked::Pointers => Ok(true),
            Walked::Index { index, finding: Finding::OfValues } => {
                Ok(is_row_of(index, key, properties, (found_by, &mut self.scratch))?)
            }
            Walked::Index { index, finding: Finding::First } => {
                self.is_first(index, found_by, key, properties)
            }
        }
    }

    /// Whether of the rows of the index that find an element, this one is walked first.
    fn is_first(
        &mut self,
        index: &Arc<IndexLabel>,
        found_by: &[u8],
        key: &[u8],
        properties: PropertiesRef<'_>,
    ) -> Result<bool, Error> {
        self.rows.clear();
        put_index_rows(std::slice::from_ref(index), key, properties, &mut self.rows)?;
        let ranges = &self.path.ranges;
        let is_walked = |row: &[u8]| {
            // Ranges are in order and apart from each other: only the last that begins before it can have it.
            let at = ranges.partition_point(|range| range.start[..] <= *row);
            let range = at.checked_sub(1).and_then(|at| ranges.get(at));
            range.is_some_and(|range| range.end.as_ref().is_none_or(|end| *row < end[..]))
        };
        let rows = self.rows.iter().map(|row| &row.key[..]);
        Ok(rows.filter(|row| is_walked(row)).min() == Some(found_by))
    }
}
