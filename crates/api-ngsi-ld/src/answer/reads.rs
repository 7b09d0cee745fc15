//! What the answers to reads of entities, as they are and as they were, have in common.

use std::sync::atomic::{AtomicBool, Ordering};

use api_http::Response;

use super::{add_preference, answer};
use crate::params::Reading;
use crate::problem::Problem;
use crate::render::RenderPlan;
use crate::request::Session;

/// How entities are written that a reading asks for.
pub(super) fn plan<'a>(reading: &'a Reading, session: &'a Session) -> RenderPlan<'a> {
    RenderPlan {
        form: reading.form,
        sys_attrs: reading.sys_attrs,
        projection: reading.projection(),
        languages: reading.languages.as_ref(),
        datasets: &reading.datasets,
        context: reading.context_in_body.then(|| session.names.context().member()),
        ..RenderPlan::new(&session.names, session.now)
    }
}

/// The answer with this body; `altered`: by the release that the client prefers.
pub(super) fn read_answer(
    reading: &Reading,
    session: &Session,
    altered: &AtomicBool,
    body: String,
) -> Response {
    let mut response = answer(reading.media, reading.context_in_body, session.names.context(), body);
    add_preference(&mut response, reading.release, altered.load(Ordering::Relaxed));
    response
}

/// The refusal where an entity has none of the attributes that are asked for.
pub(super) fn no_such_attributes(id: &str) -> Problem {
    Problem::not_found(format!("entity {id:?} has none of the attributes in attrs or pick"))
}
