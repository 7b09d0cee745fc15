//! Conditional requests about one entity, its attributes, or a hosted context (RFC 9110, section 13): `ETag`, `If-Match`,
//! `If-None-Match`. Answers about many things have no tags.

use api_http::{ConditionError, Conditions, IF_MATCH, Request, Response, States, tagged};
use http::{Method, header};
use model_entities::{Entity, Fingerprint, Fingerprints, StateCondition};

use crate::problem::Problem;

/// What the request demands of the thing that it writes.
pub(crate) fn state_condition(request: &Request) -> Result<StateCondition, Problem> {
    let conditions = Conditions::of(&request.headers)?;
    Ok(StateCondition {
        one_of: conditions.one_of().map(fingerprints),
        none_of: conditions.none_of().map(fingerprints),
    })
}

fn fingerprints(states: States) -> Fingerprints {
    match states {
        States::Any => Fingerprints::Any,
        States::These(states) => Fingerprints::These(states.into_iter().map(Fingerprint).collect()),
    }
}

/// The answer to a read of an entity: with its tag, or that the client has it.
pub(crate) fn tagged_answer(
    request: &Request,
    entity: &Entity,
    response: Response,
) -> Result<Response, Problem> {
    Ok(tagged(request, entity.fingerprint().0, response)?)
}

/// Refuses `If-Match` where there is nothing that has tags: no state is the one demanded.
pub(crate) fn check_untagged(request: &Request, path: &str) -> Result<(), Problem> {
    let is_write = request.method != Method::GET && request.method != Method::HEAD;
    if !is_write || has_tags(path) || !request.headers.contains_key(header::IF_MATCH) {
        return Ok(());
    }
    Conditions::of(&request.headers)?;
    Err(ConditionError::Failed(IF_MATCH).into())
}

/// Whether a route is about one entity, or a hosted context.
fn has_tags(path: &str) -> bool {
    path.contains("/{id}") && !path.contains("/temporal/")
}
