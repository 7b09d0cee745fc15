//! Results as JSON text, of at most [`RESULT_BYTES_MAX`] bytes.

use lang_json::{ArrayWriter, ObjectWriter};
use traversals::whole::WholeGraph;

use super::parameters::Top;
use crate::wire::put_vertex_id;

/// The most bytes of a result: that of a task.
pub(crate) const RESULT_BYTES_MAX: usize = 1024 * 1024;

/// Why an algorithm has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ComputeError {
    /// It was stopped, or the graph is too large.
    #[error(transparent)]
    Algorithm(#[from] graph_algorithms::Error),
    /// The result is too long.
    #[error("The result size exceeds limit {RESULT_BYTES_MAX}; ask for fewer vertices, with 'top'")]
    ResultSize,
}

/// An object of numbers by the ids of vertices.
pub(super) fn put_numbers<T: PartialOrd + Copy>(
    json: &mut String,
    whole: &WholeGraph,
    values: impl Iterator<Item = (u32, T)>,
    top: Top,
    put: impl Fn(&mut String, T),
) -> Result<(), ComputeError> {
    let mut shown: Vec<(u32, T)> = values.collect();
    if let Top::Sorted(most) = top {
        shown.sort_by(|(_, one), (_, other)| other.partial_cmp(one).expect("no value is NaN"));
        shown.truncate(most);
    }
    let mut object = ObjectWriter::begin(json);
    for (vertex, value) in shown {
        let out = object.member(&whole.id(vertex).to_string());
        put(out, value);
        check_size(out)?;
    }
    object.end();
    Ok(())
}

/// A list of the ids of vertices.
pub(super) fn put_ids(
    json: &mut String,
    whole: &WholeGraph,
    vertices: impl Iterator<Item = u32>,
) -> Result<(), ComputeError> {
    let mut array = ArrayWriter::begin(json);
    for vertex in vertices {
        let out = array.item();
        put_vertex_id(out, &whole.id(vertex));
        check_size(out)?;
    }
    array.end();
    Ok(())
}

pub(super) fn put_f64(json: &mut String, value: f64) {
    json.push_str(&serde_json::to_string(&value).expect("a number can be written"));
}

fn check_size(json: &str) -> Result<(), ComputeError> {
    if json.len() < RESULT_BYTES_MAX { Ok(()) } else { Err(ComputeError::ResultSize) }
}
