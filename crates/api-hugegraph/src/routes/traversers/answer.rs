//! Answers of walks, written piece by piece: each piece reserves its memory, and long answers are written in the lane of long work.

use std::slice::Iter;

use api_http::{Response, SMALL_BYTES, json_response};
use graph::{EdgeId, Malformed};
use http::StatusCode;
use lang_json::Commas;
use traversals::{FoundPaths, Measure, Numbering, Path};

use super::WalkRequest;
use crate::problem::{JSON, Problem};
use crate::wire::{WalkAnswer, put_edge, put_path, put_score, put_vertex, put_vertex_id};

/// So many bytes are written at once, about.
const PIECE_BYTES: usize = 64 << 10;
/// Elements that are read at once.
const ELEMENTS_A_READ: usize = 256;

/// The answer of a walk under way.
pub(super) struct Answer<'a> {
    walk: &'a WalkRequest,
    out: WalkAnswer,
    reserved: usize,
}

impl<'a> Answer<'a> {
    pub(super) fn begin(walk: &'a WalkRequest) -> Self {
        Self { walk, out: WalkAnswer::begin(), reserved: 0 }
    }

    /// Where the value of a short member is to be appended.
    pub(super) fn member(&mut self, name: &str) -> &mut String {
        self.out.member(name)
    }

    /// A member that is a whole number.
    pub(super) fn count(&mut self, name: &str, count: u64) {
        self.out.count(name, count);
    }

    /// A member that is a number.
    pub(super) fn number(&mut self, name: &str, number: f64) {
        self.out.number(name, number);
    }

    /// A member that is a list, of whatever `put` appends of each item.
    pub(super) async fn list<T>(
        &mut self,
        name: &str,
        items: &[T],
        put: impl FnMut(&mut String, &T) -> Result<(), Malformed>,
    ) -> Result<(), Problem> {
        self.members(name, ('[', ']'), items, put).await
    }

    /// A member that is an object, of whatever `put` appends of each item: its name and its value.
    pub(super) async fn object<T>(
        &mut self,
        name: &str,
        items: &[T],
        put: impl FnMut(&mut String, &T) -> Result<(), Malformed>,
    ) -> Result<(), Problem> {
        self.members(name, ('{', '}'), items, put).await
    }

    /// A member that is a list of vertex ids.
    pub(super) async fn ids(
        &mut self,
        name: &str,
        known: &Numbering,
        vertices: &[u32],
    ) -> Result<(), Problem> {
        let put = |out: &mut String, vertex: &u32| {
            put_vertex_id(out, &known.id(*vertex));
            Ok(())
        };
        self.list(name, vertices, put).await
    }

    /// A member that is an object of numbers by vertices.
    pub(super) async fn scores(
        &mut self,
        name: &str,
        known: &Numbering,
        scores: &[(u32, f64)],
    ) -> Result<(), Problem> {
        let put = |out: &mut String, score: &(u32, f64)| {
            put_score(out, known, *score);
            Ok(())
        };
        self.object(name, scores, put).await
    }

    /// A member that is a list of paths; with where they cross, if asked for.
    pub(super) async fn paths(
        &mut self,
        name: &str,
        known: &Numbering,
        paths: &[Path],
        with_crosspoints: bool,
    ) -> Result<(), Problem> {
        let put = |out: &mut String, path: &Path| {
            put_path(out, known, path, with_crosspoints);
            Ok(())
        };
        self.list(name, paths, put).await
    }

    /// The member `vertices`: ids, or the vertices themselves, which then count as read. Cost: a read for each of these.
    pub(super) async fn vertices(
        &mut self,
        (known, vertices): (&Numbering, &[u32]),
        whole: bool,
        measure: &mut Measure,
    ) -> Result<(), Problem> {
        if !whole {
            return self.ids("vertices", known, vertices).await;
        }
        let schema = self.walk.schema();
        let mut commas = Commas::default();
        self.out.member("vertices").push('[');
        for some in vertices.chunks(ELEMENTS_A_READ) {
            let ids: Vec<_> = some.iter().map(|vertex| known.id(*vertex).into_owned()).collect();
            let found = self.walk.reader.vertices(&ids).await?;
            measure.vertices += found.len() as u64;
            let found: Vec<_> = found.into_iter().flatten().collect();
            let put = |out: &mut String, vertex: &model_graph::StoredVertex| {
                put_vertex(out, schema, &vertex.id.as_ref(), &vertex.view()?)
            };
            self.append(&found, &mut commas, put).await?;
        }
        self.out.text().push(']');
        Ok(())
    }

    /// The member `edges`: ids, or the edges themselves. Cost: a read for each of these.
    pub(super) async fn edges(&mut self, edges: &[EdgeId], whole: bool) -> Result<(), Problem> {
        if !whole {
            let put = |out: &mut String, edge: &EdgeId| {
                lang_json::write_string(out, &edge.to_string());
                Ok(())
            };
            return self.list("edges", edges, put).await;
        }
        let schema = self.walk.schema();
        let mut commas = Commas::default();
        self.out.member("edges").push('[');
        for some in edges.chunks(ELEMENTS_A_READ) {
            let found: Vec<_> = self.walk.reader.edges_by_id(some).await?.into_iter().flatten().collect();
            let put = |out: &mut String, edge: &model_graph::StoredEdge| {
                put_edge(out, schema, &edge.id, &edge.view()?)
            };
            self.append(&found, &mut commas, put).await?;
        }
        self.out.text().push(']');
        Ok(())
    }

    /// The whole answer of paths, their vertices and their edges.
    pub(super) async fn of_paths(
        walk: &'a WalkRequest,
        name: &str,
        found: &FoundPaths,
        (with_vertex, with_edge): (bool, bool),
    ) -> Result<Response, Problem> {
        let mut answer = Self::begin(walk);
        answer.paths(name, &found.known, &found.paths, false).await?;
        let mut measure = found.measure;
        answer.vertices((&found.known, &found.vertices()), with_vertex, &mut measure).await?;
        answer.edges(&found.edges, with_edge).await?;
        Ok(answer.end(measure))
    }

    /// The end, with what was read.
    pub(super) fn end(self, measure: Measure) -> Response {
        json_response(StatusCode::OK, JSON, self.out.end(measure, self.walk.begun))
    }

    /// The end, which does not say what was read.
    pub(super) fn finish(self) -> Response {
        json_response(StatusCode::OK, JSON, self.out.finish())
    }

    async fn members<T>(
        &mut self,
        name: &str,
        (begin, end): (char, char),
        items: &[T],
        put: impl FnMut(&mut String, &T) -> Result<(), Malformed>,
    ) -> Result<(), Problem> {
        self.out.member(name).push(begin);
        self.append(items, &mut Commas::default(), put).await?;
        self.out.text().push(end);
        Ok(())
    }

    /// Appends items piece by piece: in the lane, once the answer is more than small.
    async fn append<T>(
        &mut self,
        items: &[T],
        commas: &mut Commas,
        mut put: impl FnMut(&mut String, &T) -> Result<(), Malformed>,
    ) -> Result<(), Problem> {
        let (mut items, options) = (items.iter(), &self.walk.options);
        while !items.as_slice().is_empty() {
            let out = self.out.text();
            let is_long = out.len() > SMALL_BYTES;
            let mut piece = || put_piece(out, &mut items, commas, &mut put);
            match is_long {
                true => options.lane.run(piece).await?,
                false => piece()?,
            }
            let bytes = self.out.text().capacity();
            self.walk.memory.grow(bytes - self.reserved).await?;
            self.reserved = bytes;
            options.deadline.check().map_err(model_graph::Error::from)?;
        }
        Ok(())
    }
}

/// Appends items until there is nothing left, or a piece is full.
fn put_piece<T>(
    out: &mut String,
    items: &mut Iter<'_, T>,
    commas: &mut Commas,
    put: &mut impl FnMut(&mut String, &T) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    let full = out.len() + PIECE_BYTES;
    while out.len() < full
        && let Some(item) = items.next()
    {
        commas.next(out);
        put(out, item)?;
    }
    Ok(())
}
