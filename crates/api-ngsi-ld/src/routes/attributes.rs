//! `/entities/{id}/attrs` and `/entities/{id}/attrs/{attr}`.

use api_http::{Request, Response, no_content};
use lang_ngsi_ld::{Rules, parse_attribute, parse_fragment};
use model_entities::{Attribute, Draft, Instances, Operation, TermId};

use crate::answer::outcome;
use crate::operation::{DONE, NOT_ALL, REMOVE_REFUSALS, WRITE_REFUSALS, declare, json_of, merge_patch};
use crate::params::{self, instances, write_options};
use crate::problem::Problem;
use crate::request::{Session, attribute_name, body, entity_id};
use crate::state::Api;

/// POST /entities/{id}/attrs
pub(crate) const APPEND: api_http::Operation =
    declare("attributes", "appendAttributes", "Adds attributes, and replaces those of the same name.")
        .query(&[params::WRITING_ONE])
        .sent(json_of("Fragment"))
        .gives(&[(204, DONE), (207, NOT_ALL)])
        .refuses(WRITE_REFUSALS)
        .about_one();

/// NGSI-LD 6.6.3.1, POST /entities/{id}/attrs: append attributes (5.6.3).
pub(crate) async fn append(api: Api, request: Request) -> Result<Response, Problem> {
    let options = write_options(&request, &["noOverwrite"])?;
    let rules = Rules::fragment(api.shared.limits.depth_max).in_representation(options.representation);
    let keep_existing = options.keep_existing;
    change_entity(&api, &request, &rules, |draft| Operation::Append { draft, keep_existing }).await
}

/// PATCH /entities/{id}/attrs
pub(crate) const UPDATE: api_http::Operation =
    declare("attributes", "updateAttributes", "Replaces attributes, and adds missing ones.")
        .query(&[params::WRITING_ONE])
        .sent(json_of("Fragment"))
        .gives(&[(204, DONE), (207, NOT_ALL)])
        .refuses(WRITE_REFUSALS)
        .about_one();

/// NGSI-LD 6.6.3.2, PATCH /entities/{id}/attrs: update attributes, and append those the entity lacks (5.6.2).
pub(crate) async fn update(api: Api, request: Request) -> Result<Response, Problem> {
    let options = write_options(&request, &[])?;
    let rules = Rules::update(api.shared.limits.depth_max).in_representation(options.representation);
    change_entity(&api, &request, &rules, Operation::Update).await
}

async fn change_entity(
    api: &Api,
    request: &Request,
    rules: &Rules,
    operation: impl FnOnce(Draft) -> Operation,
) -> Result<Response, Problem> {
    let id = entity_id(request)?;
    let body = body(request)?;
    let session = api.writing(request, body).await?;
    let required = session.precondition(request)?;
    let draft = session.parse(|names| parse_fragment(body.text, names, rules)).await?;
    let change = session.apply(id, &required, operation(draft)).await?;
    Ok(outcome(&session, &change))
}

/// PATCH /entities/{id}/attrs/{attr}
pub(crate) const PATCH: api_http::Operation =
    declare("attributes", "updateAttribute", "Changes members of an attribute.")
        .query(&[params::WRITING_ONE])
        .sent(merge_patch("Attribute"))
        .gives(&[(204, DONE)])
        .refuses(WRITE_REFUSALS)
        .about_one();

/// NGSI-LD 6.7.3.1, PATCH /entities/{id}/attrs/{attr}: partial update of an attribute (5.6.4).
pub(crate) async fn patch(api: Api, request: Request) -> Result<Response, Problem> {
    let options = write_options(&request, &[])?;
    let rules = Rules::patch(api.shared.limits.depth_max).in_representation(options.representation);
    change_attribute(&api, &request, &rules, Operation::PatchAttribute).await
}

/// PUT /entities/{id}/attrs/{attr}
pub(crate) const REPLACE: api_http::Operation =
    declare("attributes", "replaceAttribute", "Replaces an attribute.")
        .query(&[params::WRITING_ONE])
        .sent(json_of("Attribute"))
        .gives(&[(204, DONE)])
        .refuses(WRITE_REFUSALS)
        .about_one();

/// NGSI-LD 6.7.3.3, PUT /entities/{id}/attrs/{attr}: replace an attribute (5.6.19).
pub(crate) async fn replace(api: Api, request: Request) -> Result<Response, Problem> {
    let options = write_options(&request, &[])?;
    let rules = Rules::fragment(api.shared.limits.depth_max).in_representation(options.representation);
    change_attribute(&api, &request, &rules, Operation::ReplaceAttribute).await
}

async fn change_attribute(
    api: &Api,
    request: &Request,
    rules: &Rules,
    operation: impl FnOnce(Attribute) -> Operation,
) -> Result<Response, Problem> {
    let id = entity_id(request)?;
    let name = attribute_name(request)?;
    let body = body(request)?;
    let session = api.writing(request, body).await?;
    if session.names.is_scope(name) {
        return Err(Problem::bad_request(
            "scopes are written with /attrs or the entity, and removed by DELETE",
        ));
    }
    let required = session.precondition(request)?;
    attribute_in_use(&session, id, name).await?;
    let attribute = session.parse(|names| parse_attribute(body.text, name, names, rules)).await?;
    let change = session.apply(id, &required, operation(attribute)).await?;
    Ok(outcome(&session, &change))
}

/// DELETE /entities/{id}/attrs/{attr}
pub(crate) const DELETE: api_http::Operation =
    declare("attributes", "deleteAttribute", "Removes an attribute, or an instance of it.")
        .query(&[&[params::DATASET_ID, params::DELETE_ALL, params::TYPE_WRITE, params::LOCAL]])
        .gives(&[(204, DONE)])
        .refuses(REMOVE_REFUSALS)
        .about_one();

/// NGSI-LD 6.7.3.2, DELETE /entities/{id}/attrs/{attr} (5.6.5).
pub(crate) async fn delete(api: Api, request: Request) -> Result<Response, Problem> {
    let instances = instances(&request)?;
    let id = entity_id(&request)?;
    let name = attribute_name(&request)?;
    let session = api.reading(&request).await?;
    let required = session.precondition(&request)?;
    if session.names.is_scope(name) && !matches!(instances, Instances::Dataset(_)) {
        session.apply(id, &required, Operation::DeleteScopes).await?;
        return Ok(no_content());
    }
    let name = attribute_in_use(&session, id, name).await?;
    session.apply(id, &required, Operation::DeleteAttribute { name, instances }).await?;
    Ok(no_content())
}

/// The term of an attribute that a request is to change; a name that no entity of the tenant uses is
/// not interned for it.
async fn attribute_in_use(session: &Session, id: &str, name: &str) -> Result<TermId, Problem> {
    if let Some(term) = session.names.term(name) {
        return Ok(term);
    }
    let entity = session.entities.get(id, session.now).await.map_err(|error| session.problem(&error))?;
    Err(Problem::not_found(match entity {
        Some(_) => format!("the entity has no attribute {name:?}"),
        None => format!("entity {id:?} does not exist"),
    }))
}
