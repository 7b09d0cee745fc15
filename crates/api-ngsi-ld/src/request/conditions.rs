//! Conditional requests about one entity, its attributes, or a hosted context (RFC 9110, section 13): `ETag`, `If-Match`,
//! `If-None-Match`. Answers about many things have no tags.

use api_http::{Conditions, Request};
use model_entities::{Fingerprint, Fingerprints, StateCondition};

use crate::problem::Problem;

/// What the request demands of the thing that it writes.
pub(crate) fn state_condition(request: &Request) -> Result<StateCondition, Problem> {
    let these = |states: Vec<u128>| Fingerprints::These(states.into_iter().map(Fingerprint).collect());
    let (one_of, none_of) = Conditions::of(&request.headers)?.states(&Fingerprints::Any, these);
    Ok(StateCondition { one_of, none_of })
}
