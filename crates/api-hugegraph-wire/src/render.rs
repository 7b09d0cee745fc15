//! Elements as JSON, from where they are stored.

use graph::schema::Schema;
use graph::{EdgeId, EdgeView, LabelId, Malformed, PropertiesRef, VertexIdRef, VertexView};
use lang_json::{Commas, write_string};
use model_graph::EdgeRef;

use super::ids::put_vertex_id;
use super::values::put_value;

/// What answers call the vertices of labels that join any: the label of the vertex itself is not stored with the edge.
const ANY_LABEL: &str = "~general_vl";

/// Appends a vertex. Cost: that of its bytes, and an index into an array for each property.
///
/// # Errors
///
/// If the stored bytes are damaged, or name what the schema does not know.
pub fn put_vertex(
    out: &mut String,
    schema: &Schema,
    id: &VertexIdRef<'_>,
    view: &VertexView<'_>,
) -> Result<(), Malformed> {
    out.push_str("{\"id\":");
    put_vertex_id(out, id);
    out.push_str(",\"label\":");
    write_string(out, &schema.vertex_label(view.label).ok_or(Malformed)?.name);
    out.push_str(",\"type\":\"vertex\",\"properties\":");
    put_properties(out, schema, view.properties)?;
    out.push('}');
    Ok(())
}

/// The parts of the key of an edge.
struct Parts<'a> {
    source: VertexIdRef<'a>,
    labels: (LabelId, LabelId),
    sort_values: &'a str,
    target: VertexIdRef<'a>,
}

/// Appends an edge.
///
/// # Errors
///
/// If the stored bytes are damaged, or name what the schema does not know.
pub fn put_edge(
    out: &mut String,
    schema: &Schema,
    id: &EdgeId,
    view: &EdgeView<'_>,
) -> Result<(), Malformed> {
    put_edge_parts(out, schema, &parts_of(id), view)
}

/// Appends an edge of a neighbourhood.
///
/// # Errors
///
/// If the stored bytes are damaged, or name what the schema does not know.
pub fn put_edge_ref(out: &mut String, schema: &Schema, edge: &EdgeRef<'_>) -> Result<(), Malformed> {
    let EdgeRef { key, view } = edge;
    let sort_values = key.sort_values().ok_or(Malformed)?;
    let parts = Parts {
        source: key.source().ok_or(Malformed)?,
        labels: (key.label, key.sub_label),
        sort_values: &sort_values,
        target: key.target().ok_or(Malformed)?,
    };
    put_edge_parts(out, schema, &parts, view)
}

fn put_edge_parts(
    out: &mut String,
    schema: &Schema,
    parts: &Parts<'_>,
    view: &EdgeView<'_>,
) -> Result<(), Malformed> {
    let Parts { source, labels, target, .. } = parts;
    let label = schema.edge_label(labels.1).ok_or(Malformed)?;
    let link = label.links.first();
    let vertex_label = |label: Option<LabelId>| match label {
        Some(label) => schema.vertex_label(label).map(|label| &*label.name).ok_or(Malformed),
        None => Ok(ANY_LABEL),
    };
    out.push_str("{\"id\":");
    put_id_of_parts(out, parts);
    out.push_str(",\"label\":");
    write_string(out, &label.name);
    out.push_str(",\"type\":\"edge\",\"outV\":");
    put_vertex_id(out, source);
    out.push_str(",\"outVLabel\":");
    write_string(out, vertex_label(link.map(|link| link.source))?);
    out.push_str(",\"inV\":");
    put_vertex_id(out, target);
    out.push_str(",\"inVLabel\":");
    write_string(out, vertex_label(link.map(|link| link.target))?);
    out.push_str(",\"properties\":");
    put_properties(out, schema, view.properties)?;
    out.push('}');
    Ok(())
}

/// Appends the id of an edge as JSON.
pub fn put_edge_id(out: &mut String, id: &EdgeId) {
    put_id_of_parts(out, &parts_of(id));
}

fn parts_of(id: &EdgeId) -> Parts<'_> {
    let EdgeId { source, label, sub_label, sort_values, target } = id;
    Parts { source: source.as_ref(), labels: (*label, *sub_label), sort_values, target: target.as_ref() }
}

/// Texts that JSON must escape are rare: they take a copy.
fn put_id_of_parts(out: &mut String, parts: &Parts<'_>) {
    let Parts { source, labels, sort_values, target } = parts;
    out.push('"');
    let begin = out.len();
    graph::id::put_edge_text(out, source, *labels, sort_values, target);
    let text = out.get(begin..).expect("begins where the text was appended");
    if text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        let text = text.to_owned();
        out.truncate(begin - 1);
        write_string(out, &text);
    } else {
        out.push('"');
    }
}

fn put_properties(out: &mut String, schema: &Schema, properties: PropertiesRef<'_>) -> Result<(), Malformed> {
    out.push('{');
    let mut commas = Commas::default();
    for property in properties.iter() {
        let (key, value) = property?;
        // Values of a key that was removed may lie there until they are swept; those of others may be hidden.
        let Some(key) = schema.property_key(key).filter(|key| schema.shows(key)) else { continue };
        commas.next(out);
        write_string(out, &key.name);
        out.push(':');
        put_value(out, value);
    }
    out.push('}');
    Ok(())
}

/// An answer with a list of elements under way: `{"vertices":[…],"page":…}`.
#[derive(Debug)]
pub struct Page {
    /// What is written of it.
    pub out: String,
    commas: Commas,
}

impl Page {
    /// One whose elements are under this name.
    pub fn begin(name: &str) -> Self {
        let mut out = String::with_capacity(1024);
        out.push('{');
        write_string(&mut out, name);
        out.push_str(":[");
        Self { out, commas: Commas::default() }
    }

    /// Where the next element is to be appended.
    pub fn item(&mut self) -> &mut String {
        self.commas.next(&mut self.out);
        &mut self.out
    }

    /// The end, without a page.
    pub fn end(mut self) -> String {
        self.out.push_str("]}");
        self.out
    }

    /// The end, with the token of the next page, or `null`.
    pub fn end_with(mut self, next: Option<&str>) -> String {
        self.out.push_str("],\"page\":");
        match next {
            Some(token) => write_string(&mut self.out, token),
            None => self.out.push_str("null"),
        }
        self.out.push('}');
        self.out
    }
}
