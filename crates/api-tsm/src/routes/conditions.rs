//! Conditional requests about definitions and master data (RFC 9110, section 13): `ETag`, `If-Match`, `If-None-Match`.
//! Points have no tags.

use api_http::{Conditions, Request, Response, States, tagged};
use http::{Method, header};
use model_series::{Fingerprint, Fingerprints, StateCondition};

use crate::problem::Problem;

/// What the request demands of the thing that it writes.
pub(super) fn state_condition(request: &Request) -> Result<StateCondition, Problem> {
    let these = |states: Vec<u128>| Fingerprints::These(states.into_iter().map(Fingerprint).collect());
    let (one_of, none_of) = Conditions::of(&request.headers)?.states(&Fingerprints::Any, these);
    Ok(StateCondition { one_of, none_of })
}

/// The answer to a read of one thing in this state: with its tag, or that the client has it.
pub(super) fn tagged_answer(
    request: &Request,
    state: Fingerprint,
    response: Response,
) -> Result<Response, Problem> {
    Ok(tagged(request, state.0, response)?)
}

/// Whether a request to create something says that nothing may be there (`If-None-Match: *`).
pub(crate) fn only_creates(request: &Request) -> bool {
    request.method == Method::POST
        && request.headers.contains_key(header::IF_NONE_MATCH)
        && Conditions::of(&request.headers).is_ok_and(|conditions| conditions.none_of() == Some(States::Any))
}
