//! What the URL of a request is about: an entity, an attribute of it.

use api_http::Request;
use lang_ngsi_ld::{check_name, check_uri};
use model_entities::Draft;

use crate::problem::Problem;

/// The id in the URL.
pub(crate) fn entity_id(request: &Request) -> Result<&str, Problem> {
    let id = request.capture(0);
    check_uri(id).map_err(|error| Problem::bad_request(format!("entity id: {error}")))?;
    Ok(id)
}

/// A body may repeat the id in the URL, and have no other.
pub(crate) fn same_id(id: &str, draft: &Draft) -> Result<(), Problem> {
    if draft.id.is_empty() || *draft.id == *id {
        return Ok(());
    }
    Err(Problem::bad_request(format!("member id is {:?}, but the URL names {id:?}", draft.id)))
}

/// The attribute in the URL.
pub(crate) fn attribute_name(request: &Request) -> Result<&str, Problem> {
    let name = request.capture(1);
    check_name(name).map_err(Problem::bad_request)?;
    Ok(name)
}
