//! The id of an edge, and its text: `S1:marko>1>1>>S1:josh`.

use std::fmt;
use std::str::FromStr;

use super::spliced::{put_joined, split_joined};
use super::{VERTEX_ID_BYTES_MAX, VertexId, VertexIdRef};
use crate::LabelId;

/// Between the parts of an id.
const SEPARATOR: char = '>';

/// What makes an edge: two that agree in all of it are the same.
///
/// Its text has five parts: source, label, label of the link (that of a SUB label; else the label again), sort values, target. Vertices have a
/// letter before them: `S` a text, `L` a number, `U` a UUID.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EdgeId {
    /// The vertex that it leaves.
    pub source: VertexId,
    /// Its label; of an edge with a SUB label the parent of that.
    pub label: LabelId,
    /// The label with which it was made.
    pub sub_label: LabelId,
    /// The text of its sort values; empty if its label has no sort keys.
    pub sort_values: Box<str>,
    /// The vertex that it enters.
    pub target: VertexId,
}

/// A text that is not the id of an edge.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("an edge id has five parts: source>label>sub label>sort values>target")]
pub struct EdgeIdError;

impl fmt::Display for EdgeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.put_text(&mut text);
        formatter.write_str(&text)
    }
}

impl EdgeId {
    /// Appends its text. Cost: about that of a copy.
    pub fn put_text(&self, out: &mut String) {
        put_edge_text(
            out,
            &self.source.as_ref(),
            (self.label, self.sub_label),
            &self.sort_values,
            &self.target.as_ref(),
        );
    }
}

/// Appends the text of the id of an edge, of its parts where they lie: its label and sub label are a pair.
pub fn put_edge_text(
    out: &mut String,
    source: &VertexIdRef<'_>,
    (label, sub_label): (LabelId, LabelId),
    sort_values: &str,
    target: &VertexIdRef<'_>,
) {
    let mut number = itoa::Buffer::new();
    put_vertex(out, source);
    out.push(SEPARATOR);
    out.push_str(number.format(label.0));
    out.push(SEPARATOR);
    out.push_str(number.format(sub_label.0));
    out.push(SEPARATOR);
    put_part(out, "", sort_values);
    out.push(SEPARATOR);
    put_last(out, target);
}

/// Appends a vertex that a separator follows.
fn put_vertex(out: &mut String, id: &VertexIdRef<'_>) {
    match id {
        VertexIdRef::Text(text) => put_part(out, "S", text),
        other => put_last(out, other),
    }
}

/// Appends a vertex that ends the id.
fn put_last(out: &mut String, id: &VertexIdRef<'_>) {
    match id {
        VertexIdRef::Number(number) => {
            out.push('L');
            out.push_str(itoa::Buffer::new().format(*number));
        }
        VertexIdRef::Text(text) => {
            out.push('S');
            put_joined(out, SEPARATOR, [&**text]);
        }
        VertexIdRef::Uuid(uuid) => {
            out.push('U');
            let mut text = uuid::Uuid::encode_buffer();
            out.push_str(uuid::Uuid::from_u128(*uuid).hyphenated().encode_lower(&mut text));
        }
    }
}

/// Appends a part that a separator follows, whose last escapes are doubled therefore.
fn put_part(out: &mut String, kind: &str, text: &str) {
    out.push_str(kind);
    let needs_care = text.contains(['>', '`']);
    if !needs_care {
        return out.push_str(text);
    }
    // Joined with an empty part, and its separator taken off again.
    put_joined(out, SEPARATOR, [text, ""]);
    out.pop();
}

impl FromStr for EdgeId {
    type Err = EdgeIdError;

    fn from_str(text: &str) -> Result<Self, EdgeIdError> {
        let parts = split_joined(text, SEPARATOR);
        let [source, label, sub_label, sort_values, target] = &parts[..] else { return Err(EdgeIdError) };
        Ok(Self {
            source: vertex(source)?,
            label: label_number(label)?,
            sub_label: label_number(sub_label)?,
            sort_values: sort_values.as_ref().into(),
            target: vertex(target)?,
        })
    }
}

fn label_number(text: &str) -> Result<LabelId, EdgeIdError> {
    text.parse().map(LabelId).map_err(|_| EdgeIdError)
}

fn vertex(text: &str) -> Result<VertexId, EdgeIdError> {
    let (kind, id) = text.split_at_checked(1).ok_or(EdgeIdError)?;
    match kind {
        "S" if id.len() <= VERTEX_ID_BYTES_MAX => Ok(VertexId::Text(id.into())),
        "L" => id.parse().map(VertexId::Number).map_err(|_| EdgeIdError),
        "U" => uuid::Uuid::try_parse(id).map(|uuid| VertexId::Uuid(uuid.as_u128())).map_err(|_| EdgeIdError),
        _ => Err(EdgeIdError),
    }
}
