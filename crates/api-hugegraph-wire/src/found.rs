//! Answers of walks.

use std::time::Instant;

use graph::ScalarRef;
use lang_json::{Commas, write_string};
use traversals::{Measure, Numbering, Path};

use super::ids::put_vertex_id;
use super::values::put_scalar;

/// The answer of a walk under way: an object.
pub struct WalkAnswer {
    out: String,
    commas: Commas,
}

impl WalkAnswer {
    /// An answer with nothing in it yet.
    pub fn begin() -> Self {
        let mut out = String::with_capacity(1024);
        out.push('{');
        Self { out, commas: Commas::default() }
    }

    /// Where the value of a member is to be appended.
    pub fn member(&mut self, name: &str) -> &mut String {
        self.commas.next(&mut self.out);
        write_string(&mut self.out, name);
        self.out.push(':');
        &mut self.out
    }

    /// What was written so far.
    pub fn text(&mut self) -> &mut String {
        &mut self.out
    }

    /// A member that is a whole number.
    pub fn count(&mut self, name: &str, count: u64) {
        let out = self.member(name);
        out.push_str(itoa::Buffer::new().format(count));
    }

    /// A member that is a number.
    pub fn number(&mut self, name: &str, number: f64) {
        put_number(self.member(name), number);
    }

    /// The end, with what was read, and how long it took since `begun`.
    pub fn end(mut self, measure: Measure, begun: Instant) -> String {
        let mut number = itoa::Buffer::new();
        let out = self.member("measure");
        out.push_str("{\"edge_iterations\":");
        out.push_str(number.format(measure.edges));
        out.push_str(",\"vertice_iterations\":");
        out.push_str(number.format(measure.vertices));
        out.push_str(",\"cost(ns)\":");
        out.push_str(number.format(begun.elapsed().as_nanos()));
        out.push('}');
        self.finish()
    }

    /// The end.
    pub fn finish(mut self) -> String {
        self.out.push('}');
        self.out
    }
}

/// Appends a number.
pub fn put_number(out: &mut String, number: f64) {
    put_scalar(out, ScalarRef::Double(number));
}

/// Appends an object of numbers by vertices.
pub fn put_scores(out: &mut String, known: &Numbering, scores: &[(u32, f64)]) {
    out.push('{');
    let mut commas = Commas::default();
    for score in scores {
        commas.next(out);
        put_score(out, known, *score);
    }
    out.push('}');
}

/// Appends a vertex and its number, as they are in an object.
pub fn put_score(out: &mut String, known: &Numbering, (vertex, score): (u32, f64)) {
    write_string(out, &known.id(vertex).to_string());
    out.push(':');
    put_number(out, score);
}

/// Appends a list of vertex ids.
pub fn put_ids(out: &mut String, known: &Numbering, vertices: &[u32]) {
    out.push('[');
    let mut commas = Commas::default();
    for vertex in vertices {
        commas.next(out);
        put_vertex_id(out, &known.id(*vertex));
    }
    out.push(']');
}

/// Appends a path that has a weight as a whole.
pub fn put_weighted_path(out: &mut String, known: &Numbering, path: &Path) {
    out.push_str("{\"weight\":");
    put_number(out, path.weight);
    out.push_str(",\"vertices\":");
    put_ids(out, known, &path.vertices);
    out.push('}');
}

/// Appends a path; with where it crosses another, if asked for.
pub fn put_path(out: &mut String, known: &Numbering, path: &Path, with_crosspoints: bool) {
    out.push('{');
    let mut commas = Commas::default();
    if let Some(crosspoint) = path.crosspoint.filter(|_| with_crosspoints) {
        commas.next(out);
        out.push_str("\"crosspoint\":");
        put_vertex_id(out, &known.id(crosspoint));
    }
    commas.next(out);
    out.push_str("\"objects\":");
    put_ids(out, known, &path.vertices);
    if let Some(weights) = &path.weights {
        out.push_str(",\"weights\":[");
        let mut commas = Commas::default();
        for weight in weights {
            commas.next(out);
            put_number(out, *weight);
        }
        out.push(']');
    }
    out.push('}');
}
