//! `/temporal/entities/{id}/attrs` and what is below.

use api_http::{Request, Response, no_content};
use lang_ngsi_ld::{Rules, check_uri, parse_history, parse_history_instance};
use model_entities::{InstanceId, TermId};

use crate::operation::{DONE, REMOVE_REFUSALS, WRITE_REFUSALS, declare, json_of};
use crate::params::{self, instances};
use crate::problem::Problem;
use crate::request::{Session, attribute_name, body, entity_id, same_id};
use crate::state::Api;

/// POST /temporal/entities/{id}/attrs
pub(crate) const APPEND: api_http::Operation =
    declare("past", "appendPastAttributes", "Adds instances of attributes.")
        .query(&[&[params::LOCAL]])
        .sent(json_of("PastFragment"))
        .gives(&[(204, DONE)])
        .refuses(WRITE_REFUSALS);

/// NGSI-LD 6.20.3.1, POST /temporal/entities/{id}/attrs: add instances of attributes (5.6.12).
pub(crate) async fn append(api: Api, request: Request) -> Result<Response, Problem> {
    let id = entity_id(&request)?;
    let rules = Rules::temporal(api.shared.limits.depth_max).with_id(false);
    let body = body(&request)?;
    let session = api.writing(&request, body).await?;
    must_have_history(&session, id).await?;
    let draft = session.parse(|names| parse_history(body.text, names, &rules)).await?;
    same_id(id, &draft)?;
    let written = session.entities.write_history(id, &draft, session.now).await;
    written.map_err(|error| session.write_problem(&error))?;
    Ok(no_content())
}

/// DELETE /temporal/entities/{id}/attrs/{attr}
pub(crate) const DELETE: api_http::Operation =
    declare("past", "deletePastAttribute", "Removes the history of an attribute.")
        .query(&[&[params::DATASET_ID, params::DELETE_ALL, params::LOCAL]])
        .gives(&[(204, DONE)])
        .refuses(REMOVE_REFUSALS);

/// NGSI-LD 6.21.3.1, DELETE /temporal/entities/{id}/attrs/{attr} (5.6.13).
pub(crate) async fn delete(api: Api, request: Request) -> Result<Response, Problem> {
    let instances = instances(&request)?;
    let id = entity_id(&request)?;
    let name = attribute_name(&request)?;
    let session = api.reading(&request).await?;
    let name = attribute_in_use(&session, id, name).await?;
    let deleted = session.entities.delete_history_attribute(id, name, &instances).await;
    deleted.map_err(|error| session.write_problem(&error))?;
    Ok(no_content())
}

/// PATCH /temporal/entities/{id}/attrs/{attr}/{instance}
pub(crate) const PATCH_INSTANCE: api_http::Operation =
    declare("past", "updatePastInstance", "Corrects an instance.")
        .query(&[&[params::LOCAL]])
        .sent(json_of("PastFragment"))
        .gives(&[(204, DONE)])
        .refuses(WRITE_REFUSALS);

/// NGSI-LD 6.22.3.1, PATCH /temporal/entities/{id}/attrs/{attr}/{instanceId} (5.6.14). The body is a fragment of an entity
/// with this attribute alone, or the attribute's instance itself.
pub(crate) async fn patch_instance(api: Api, request: Request) -> Result<Response, Problem> {
    let id = entity_id(&request)?;
    let name = attribute_name(&request)?;
    let instance = instance_id(&request)?;
    let rules = Rules::patch(api.shared.limits.depth_max);
    let body = body(&request)?;
    let session = api.writing(&request, body).await?;
    let term = attribute_in_use(&session, id, name).await?;
    let patch = session.parse(|names| parse_history_instance(body.text, name, names, &rules)).await?;
    let instance = instance.ok_or_else(|| no_such_instance(request.capture(2)))?;
    let patched = session.entities.patch_instance(id, term, instance, &patch, session.now).await;
    patched.map_err(|error| session.write_problem(&error))?;
    Ok(no_content())
}

/// DELETE /temporal/entities/{id}/attrs/{attr}/{instance}
pub(crate) const DELETE_INSTANCE: api_http::Operation =
    declare("past", "deletePastInstance", "Removes an instance.")
        .query(&[&[params::LOCAL]])
        .gives(&[(204, DONE)])
        .refuses(REMOVE_REFUSALS);

/// NGSI-LD 6.22.3.2, DELETE /temporal/entities/{id}/attrs/{attr}/{instanceId} (5.6.15).
pub(crate) async fn delete_instance(api: Api, request: Request) -> Result<Response, Problem> {
    let id = entity_id(&request)?;
    let name = attribute_name(&request)?;
    let instance = instance_id(&request)?;
    let session = api.reading(&request).await?;
    let term = attribute_in_use(&session, id, name).await?;
    let instance = instance.ok_or_else(|| no_such_instance(request.capture(2)))?;
    let deleted = session.entities.delete_instance(id, term, instance).await;
    deleted.map_err(|error| session.write_problem(&error))?;
    Ok(no_content())
}

/// The instance in the URL; `None`: a URI that names no instance of any history.
fn instance_id(request: &Request) -> Result<Option<InstanceId>, Problem> {
    let text = request.capture(2);
    check_uri(text).map_err(|error| Problem::bad_request(format!("instance id: {error}")))?;
    Ok(text.parse().ok())
}

fn no_such_instance(text: &str) -> Problem {
    Problem::not_found(format!("instance {text} does not exist"))
}

async fn must_have_history(session: &Session, id: &str) -> Result<(), Problem> {
    let history = session.entities.history(id).await.map_err(|error| session.problem(&error))?;
    history.map(drop).ok_or_else(|| Problem::no_such_entity(id))
}

/// The term of an attribute; a name that the tenant never used is not interned for a removal or a patch.
async fn attribute_in_use(session: &Session, id: &str, name: &str) -> Result<TermId, Problem> {
    if let Some(term) = session.names.term(name) {
        return Ok(term);
    }
    if session.names.is_scope(name) {
        return Ok(TermId::SCOPE);
    }
    must_have_history(session, id).await?;
    Err(Problem::not_found(format!("the past of the entity has no attribute {name:?}")))
}
