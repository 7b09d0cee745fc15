//! Handlers, one file per resource: read, call, answer.

pub(crate) mod docs;
mod place;
mod conditions;
mod walk;
mod own;
pub(crate) mod root;
pub(crate) mod data;
mod body;
mod change;
pub(crate) mod writing;
mod trial;
pub(crate) mod patching;

use api_http::Request;

pub(crate) use place::OfDefault;

use crate::media::Accepted;
use crate::problem::Problem;

/// What the request is answered with.
///
/// # Errors
///
/// 406.
fn accepted(request: &Request) -> Result<Accepted, Problem> {
    Accepted::of(request).ok_or_else(Problem::not_acceptable)
}
