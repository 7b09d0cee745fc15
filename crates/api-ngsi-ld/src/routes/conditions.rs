//! Conditional requests about one entity, its attributes, or a hosted context (RFC 9110, section 13): `ETag`, `If-Match`,
//! `If-None-Match`. Answers about many things have no tags.

use api_http::{Conditions, Request, Response, tagged};
use model_entities::{Entity, Fingerprint, Fingerprints, StateCondition};

use crate::problem::Problem;

/// What the request demands of the thing that it writes.
pub(crate) fn state_condition(request: &Request) -> Result<StateCondition, Problem> {
    let these = |states: Vec<u128>| Fingerprints::These(states.into_iter().map(Fingerprint).collect());
    let (one_of, none_of) = Conditions::of(&request.headers)?.states(&Fingerprints::Any, these);
    Ok(StateCondition { one_of, none_of })
}

/// The answer to a read of an entity: with its tag, or that the client has it.
pub(crate) fn tagged_answer(
    request: &Request,
    entity: &Entity,
    response: Response,
) -> Result<Response, Problem> {
    Ok(tagged(request, entity.fingerprint().0, response)?)
}

/// Whether a route is about one entity, or a hosted context.
pub(crate) fn has_tags(path: &str) -> bool {
    path.contains("/{id}") && !path.contains("/temporal/")
}
