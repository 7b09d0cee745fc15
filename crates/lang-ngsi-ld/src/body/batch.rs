//! Bodies that hold more than one thing: their `@context`, the elements of a batch, lists of ids.

use lang_json::{Error as JsonError, Kind, Problem as JsonProblem, Reader};

use super::name::check_uri;
use crate::error::Error;

/// The deepest JSON that is passed over here; parsing proper has its own, smaller limit.
const DEPTH_MAX: usize = 512;

/// The text of the `@context` member of the object in `body`; `None` if it has none or is no
/// object. Cost: one pass up to the member, without allocation.
///
/// # Errors
///
/// [`Error::NotJson`] if what was passed over is not JSON.
pub fn context_member(body: &str) -> Result<Option<&str>, Error> {
    let mut reader = Reader::new(body, DEPTH_MAX);
    let mut find = || {
        if reader.peek()? != Kind::Object {
            return Ok(None);
        }
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            if key == "@context" {
                return reader.raw().map(Some);
            }
            reader.skip()?;
        }
        Ok(None)
    };
    find().map_err(|error| malformed(&error))
}

/// Checks that the body is JSON, to its end. Cost: one pass, without allocation.
///
/// # Errors
///
/// [`Error::NotJson`]; [`Error::Invalid`] if it is nested too deeply.
pub fn check_json(body: &str) -> Result<(), Error> {
    let mut reader = Reader::new(body, DEPTH_MAX);
    reader.skip().and_then(|()| reader.end()).map_err(|error| malformed(&error))
}

/// The texts of the elements of the array in `body`, borrowed. Cost: one pass; one allocation for
/// the list.
///
/// # Errors
///
/// [`Error::NotJson`]; [`Error::Invalid`] if it is no array, is empty, or has more than `count_max` elements.
pub fn split_batch(body: &str, count_max: usize) -> Result<Vec<&str>, Error> {
    let mut reader = Reader::new(body, DEPTH_MAX);
    if reader.peek().map_err(|error| malformed(&error))? != Kind::Array {
        reader.skip().and_then(|()| reader.end()).map_err(|error| malformed(&error))?;
        return Err(Error::invalid("a batch must be a JSON array"));
    }
    let mut elements = Vec::new();
    reader.begin_array().map_err(|error| malformed(&error))?;
    while reader.next_element().map_err(|error| malformed(&error))? {
        if elements.len() == count_max {
            return Err(Error::invalid(format!(
                "a batch must not have more than {count_max} elements (batch_entities_max)"
            )));
        }
        elements.push(reader.raw().map_err(|error| malformed(&error))?);
    }
    reader.end().map_err(|error| malformed(&error))?;
    if elements.is_empty() {
        return Err(Error::invalid("a batch must not be empty"));
    }
    Ok(elements)
}

/// Refuses a batch of which an element is `null` (5.6.7.4, 5.6.8.4, 5.6.9.4, 5.6.10.4).
///
/// # Errors
///
/// [`Error::Invalid`] says which.
pub fn refuse_nulls(elements: &[&str]) -> Result<(), Error> {
    match elements.iter().position(|element| *element == "null") {
        None => Ok(()),
        Some(at) => {
            let detail = format!("a batch must not hold null: element {at} (counted from 0) is");
            Err(Error::invalid(detail))
        }
    }
}

/// An id of a batch deletion; or its text, and why it is none.
pub type BatchId = Result<Box<str>, (String, Error)>;

/// The entity ids of a batch deletion: strings, or objects that have one as `id`. An id that is no
/// URI is an outcome of its own, not the fault of the batch.
///
/// # Errors
///
/// As [`split_batch`]; [`Error::Invalid`] if an element is neither.
pub fn parse_ids(body: &str, count_max: usize) -> Result<Vec<BatchId>, Error> {
    let elements = split_batch(body, count_max)?;
    refuse_nulls(&elements)?;
    elements.into_iter().map(parse_id).collect()
}

fn parse_id(element: &str) -> Result<BatchId, Error> {
    let text = if element.starts_with('{') { lang_json::member(element, "id") } else { Some(element) };
    let id = text
        .and_then(lang_json::string_value)
        .ok_or_else(|| Error::invalid("a batch deletion must be an array of entity ids"))?;
    Ok(match check_uri(&id) {
        Ok(()) => Ok(id.into()),
        Err(error) => Err((id.into_owned(), Error::invalid(error))),
    })
}

fn malformed(error: &JsonError) -> Error {
    if matches!(error.problem, JsonProblem::Depth | JsonProblem::Range) {
        return Error::invalid(error.to_string());
    }
    Error::NotJson(format!("the body is not JSON: {error}"))
}
