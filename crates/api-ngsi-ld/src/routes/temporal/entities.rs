//! `/temporal/entities`, `/temporal/entities/{id}` and `/temporal/entityOperations/query`.

use api_http::{Request, Response, no_content};
use lang_ngsi_ld::{BodyError, Rules, parse_history};

use crate::answer::{answer_histories, answer_history, created_at};
use crate::operation::{
    DONE, MADE, NEW_REFUSALS, READ_REFUSALS, REMOVE_REFUSALS, declare, done, json_list, json_of, part,
};
use crate::params::{self, TemporalParams, parse_temporal_body};
use crate::problem::Problem;
use crate::request::{body, entity_id, tenant};
use crate::state::Api;

/// POST /temporal/entities
pub(crate) const CREATE: api_http::Operation =
    declare("past", "createPast", "Adds to the history of an entity, or creates it.")
        .query(&[&[params::LOCAL]])
        .sent(json_of("Past"))
        .gives(&[(201, MADE), (204, DONE)])
        .refuses(NEW_REFUSALS);

/// NGSI-LD 6.18.3.1, POST /temporal/entities: create or update the history of an entity (5.6.11).
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    let rules = Rules::temporal(api.shared.limits.depth_max);
    let body = body(&request)?;
    let tenant = tenant(&request)?;
    let context = api.body_context(&tenant, &request, body).await?;
    let check = |names: &_| match parse_history(body.text, names, &rules) {
        Err(BodyError::Refused(error)) => Err(error.into()),
        Ok(_) | Err(BodyError::Unknown(_)) => Ok(true),
    };
    let session = api.session_or_create(&tenant, &context, check).await?;
    let draft = session.parse(|names| parse_history(body.text, names, &rules)).await?;
    let written = session.entities.write_history(&draft.id, &draft, session.now).await;
    let is_new = written.map_err(|error| session.write_problem(&error))?;
    Ok(if is_new { created_at("/ngsi-ld/v1/temporal/entities/", &draft.id) } else { no_content() })
}

/// GET /temporal/entities
pub(crate) const QUERY: api_http::Operation =
    declare("past", "queryPast", "The history of matching entities.")
        .query(params::HISTORY_QUERY)
        .gives(&[(200, done(json_list("Past"))), (206, part(json_list("Past")))])
        .refuses(READ_REFUSALS);

/// NGSI-LD 6.18.3.2, GET /temporal/entities: query the history of entities (5.7.4).
pub(crate) async fn query(api: Api, request: Request) -> Result<Response, Problem> {
    let session = api.reading(&request).await?;
    let limits = &api.shared.limits;
    let params = TemporalParams::of_query(&request, &session.names, limits)?;
    answer_histories(&session, &request, &params, limits).await
}

/// POST /temporal/entityOperations/query
pub(crate) const QUERY_BY_POST: api_http::Operation =
    declare("past", "queryPastByPost", "The history of matching entities; the query is the body.")
        .query(params::HISTORY_QUERY)
        .sent(json_of("Query"))
        .gives(&[(200, done(json_list("Past"))), (206, part(json_list("Past")))])
        .refuses(READ_REFUSALS);

/// NGSI-LD 6.24.3.1, POST /temporal/entityOperations/query: the same by a body (5.7.4).
pub(crate) async fn query_by_post(api: Api, request: Request) -> Result<Response, Problem> {
    let body = body(&request)?;
    let session = api.writing(&request, body).await?;
    let limits = &api.shared.limits;
    let params = parse_temporal_body(body.text, &request, &session.names, limits)?;
    answer_histories(&session, &request, &params, limits).await
}

/// GET /temporal/entities/{id}
pub(crate) const RETRIEVE: api_http::Operation =
    declare("past", "retrievePast", "The history of one entity.")
        .query(params::HISTORY)
        .gives(&[(200, done(json_of("Past"))), (206, part(json_of("Past")))])
        .refuses(READ_REFUSALS);

/// NGSI-LD 6.19.3.1, GET /temporal/entities/{id}: retrieve the history of an entity (5.7.3).
pub(crate) async fn retrieve(api: Api, request: Request) -> Result<Response, Problem> {
    let id = entity_id(&request)?;
    let session = api.reading(&request).await?;
    let limits = &api.shared.limits;
    let params = TemporalParams::of_entity(&request, &session.names, limits)?;
    answer_history(&session, id, &params, limits).await
}

/// DELETE /temporal/entities/{id}
pub(crate) const DELETE: api_http::Operation =
    declare("past", "deletePast", "Removes the history of an entity.")
        .query(&[&[params::LOCAL]])
        .gives(&[(204, DONE)])
        .refuses(REMOVE_REFUSALS);

/// NGSI-LD 6.19.3.2, DELETE /temporal/entities/{id} (5.6.16).
pub(crate) async fn delete(api: Api, request: Request) -> Result<Response, Problem> {
    let id = entity_id(&request)?;
    let session = api.reading(&request).await?;
    let deleted = session.entities.delete_history(id).await;
    deleted.map_err(|error| session.write_problem(&error))?;
    Ok(no_content())
}
