//! `/entities` and `/entities/{id}`.

use api_http::{Request, Response, accept, no_content};
use http::HeaderName;
use lang_ngsi_ld::{BodyError, Rules, parse_entity, parse_fragment};
use model_entities::{Draft, Operation, Precondition};

use crate::answer::{answer_entity, answer_page, answer_plain, created, outcome};
use crate::media::{GEO_JSON, JSON, JSON_LD};
use crate::operation::{
    DONE, ENTITIES, ENTITY, MADE, NEW_REFUSALS, READ_REFUSALS, REMOVE_REFUSALS, WRITE_REFUSALS, declare,
    json_of, merge_patch,
};
use crate::params::{self, EntityParams, merge_options, parse_query_body, write_options};
use crate::problem::Problem;
use crate::request::{body, entity_id, same_id, state_condition, tenant};
use crate::state::Api;

/// RFC 7240.
const PREFER: HeaderName = HeaderName::from_static("prefer");

/// POST /entities
pub(crate) const CREATE: api_http::Operation = declare("entities", "createEntity", "Creates an entity.")
    .query(&[params::WRITING])
    .sent(json_of("Entity"))
    .gives(&[(201, MADE)])
    .refuses(NEW_REFUSALS)
    .making_one();

/// NGSI-LD 6.4.3.1, POST /entities: create an entity (5.6.1).
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    let options = write_options(&request, &[])?;
    let rules = Rules::create(api.shared.limits.depth_max).in_representation(options.representation);
    let body = body(&request)?;
    let tenant = tenant(&request)?;
    let context = api.body_context(&tenant, &request, body).await?;
    let check = |names: &_| match parse_entity(body.text, names, &rules) {
        Err(BodyError::Refused(error)) => Err(error.into()),
        Ok(_) | Err(BodyError::Unknown(_)) => Ok(true),
    };
    let session = api.session_or_create(&tenant, &context, check).await?;
    let draft = session.parse(|names| parse_entity(body.text, names, &rules)).await?;
    let id = draft.id.clone();
    let required = Precondition { types: None, state: state_condition(&request)? };
    session.apply(&id, &required, Operation::Create(draft)).await?;
    Ok(created(&id))
}

/// GET /entities
pub(crate) const QUERY: api_http::Operation =
    declare("entities", "queryEntities", "Matching entities, in pages.")
        .query(params::QUERY)
        .gives(&[(200, ENTITIES)])
        .refuses(READ_REFUSALS);

/// NGSI-LD 6.4.3.2, GET /entities: query entities (5.7.2).
pub(crate) async fn query(api: Api, request: Request) -> Result<Response, Problem> {
    let session = api.reading(&request).await?;
    let limits = &api.shared.limits;
    let params = EntityParams::of_query(&request, &session.names, limits)?;
    answer_page(&session, &request, &params, limits).await
}

/// POST /entityOperations/query
pub(crate) const QUERY_BY_POST: api_http::Operation =
    declare("entities", "queryEntitiesByPost", "Matching entities, in pages; the query is the body.")
        .query(params::QUERY)
        .sent(json_of("Query"))
        .gives(&[(200, ENTITIES)])
        .refuses(READ_REFUSALS);

/// NGSI-LD 6.23.3.1, POST /entityOperations/query: query entities by a body (5.7.2).
pub(crate) async fn query_by_post(api: Api, request: Request) -> Result<Response, Problem> {
    let body = body(&request)?;
    let session = api.writing(&request, body).await?;
    let limits = &api.shared.limits;
    let params = parse_query_body(body.text, &request, &session.names, limits)?;
    answer_page(&session, &request, &params, limits).await
}

/// GET /entities/{id}
pub(crate) const RETRIEVE: api_http::Operation = declare("entities", "retrieveEntity", "One entity.")
    .query(params::ENTITY)
    .gives(&[(200, ENTITY)])
    .refuses(READ_REFUSALS)
    .about_one();

/// NGSI-LD 6.5.3.1, GET /entities/{id}: retrieve an entity (5.7.1). Without parameters, nothing but
/// the few headers that matter is looked at.
pub(crate) async fn retrieve(api: Api, request: Request) -> Result<Response, Problem> {
    let session = api.reading(&request).await?;
    let is_plain = request.params.is_empty() && !request.headers.contains_key(PREFER);
    let media = is_plain.then(|| accept(request.header("accept"), &[JSON, JSON_LD, GEO_JSON])).flatten();
    if let Some(media) = media.filter(|media| *media != GEO_JSON) {
        return answer_plain(&session, &request, media).await;
    }
    let limits = &api.shared.limits;
    let params = EntityParams::of_entity(&request, &session.names, limits)?;
    Box::pin(answer_entity(&session, &request, &params, limits)).await
}

/// PATCH /entities/{id}
pub(crate) const MERGE: api_http::Operation =
    declare("entities", "mergeEntity", "Merges a fragment into an entity; null markers remove.")
        .query(&[params::WRITING_ONE, params::MERGING])
        .sent(merge_patch("Fragment"))
        .gives(&[(204, DONE)])
        .refuses(WRITE_REFUSALS)
        .about_one();

/// NGSI-LD 6.5.3.4, PATCH /entities/{id}: merge into an entity (5.6.17).
pub(crate) async fn merge(api: Api, request: Request) -> Result<Response, Problem> {
    let options = write_options(&request, &[])?;
    let rules = Rules::merge(api.shared.limits.depth_max).in_representation(options.representation);
    let merge_options = merge_options(&request)?;
    write(&api, &request, &rules, |draft| Operation::Merge(draft, merge_options)).await
}

/// PUT /entities/{id}
pub(crate) const REPLACE: api_http::Operation =
    declare("entities", "replaceEntity", "Replaces all attributes of an entity.")
        .query(&[params::WRITING_ONE])
        .sent(json_of("Entity"))
        .gives(&[(204, DONE)])
        .refuses(WRITE_REFUSALS)
        .about_one();

/// NGSI-LD 6.5.3.3, PUT /entities/{id}: replace an entity (5.6.18).
pub(crate) async fn replace(api: Api, request: Request) -> Result<Response, Problem> {
    let options = write_options(&request, &[])?;
    let rules = Rules::fragment(api.shared.limits.depth_max).in_representation(options.representation);
    write(&api, &request, &rules, Operation::Replace).await
}

async fn write(
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
    same_id(id, &draft)?;
    let change = session.apply(id, &required, operation(draft)).await?;
    Ok(outcome(&session, &change))
}

/// DELETE /entities/{id}
pub(crate) const DELETE: api_http::Operation = declare("entities", "deleteEntity", "Removes an entity.")
    .query(&[&[params::TYPE_WRITE, params::LOCAL]])
    .gives(&[(204, DONE)])
    .refuses(REMOVE_REFUSALS)
    .about_one();

/// NGSI-LD 6.5.3.2, DELETE /entities/{id} (5.6.6).
pub(crate) async fn delete(api: Api, request: Request) -> Result<Response, Problem> {
    let id = entity_id(&request)?;
    let session = api.reading(&request).await?;
    session.apply(id, &session.precondition(&request)?, Operation::Delete).await?;
    Ok(no_content())
}
