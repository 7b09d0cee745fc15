//! `/temporal/entities`, `/temporal/entities/{id}` and `/temporal/entityOperations/query`.

use api_http::{Request, Response};

use crate::answer::{answer_past, answer_pasts, created_at, no_content};
use crate::params::{TemporalParams, check_parameters, parse_temporal_body};
use crate::problem::Problem;
use crate::request::{body, entity_id, tenant};
use crate::state::Api;
use crate::wire::{Rules, WireError, parse_past};

/// NGSI-LD 6.18.3.1, POST /temporal/entities: create or update the past of an entity (5.6.11).
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, &["local"])?;
    let rules = Rules::temporal(api.shared.limits.depth_max);
    let body = body(&request)?;
    let tenant = tenant(&request)?;
    let context = api.body_context(&tenant, &request, body).await?;
    let check = |names: &_| match parse_past(body.text, names, &rules) {
        Err(WireError::Problem(problem)) => Err(problem),
        Ok(_) | Err(WireError::Unknown(_)) => Ok(true),
    };
    let session = api.session_or_create(&tenant, &context, check).await?;
    let draft = session.parse(|names| parse_past(body.text, names, &rules)).await?;
    let written = session.entities.write_history(&draft.id, &draft, session.now).await;
    let is_new = written.map_err(|error| session.write_problem(&error))?;
    Ok(if is_new { created_at("/ngsi-ld/v1/temporal/entities/", &draft.id) } else { no_content() })
}

/// NGSI-LD 6.18.3.2, GET /temporal/entities: query the past of entities (5.7.4).
pub(crate) async fn query(api: Api, request: Request) -> Result<Response, Problem> {
    let session = api.reading(&request).await?;
    let limits = &api.shared.limits;
    let params = TemporalParams::of_query(&request, &session.names, limits)?;
    answer_pasts(&session, &request, &params, limits).await
}

/// NGSI-LD 6.24.3.1, POST /temporal/entityOperations/query: the same by a body (5.7.4).
pub(crate) async fn query_by_post(api: Api, request: Request) -> Result<Response, Problem> {
    let body = body(&request)?;
    let session = api.writing(&request, body).await?;
    let limits = &api.shared.limits;
    let params = parse_temporal_body(body.text, &request, &session.names, limits)?;
    answer_pasts(&session, &request, &params, limits).await
}

/// NGSI-LD 6.19.3.1, GET /temporal/entities/{id}: retrieve the past of an entity (5.7.3).
pub(crate) async fn retrieve(api: Api, request: Request) -> Result<Response, Problem> {
    let id = entity_id(&request)?;
    let session = api.reading(&request).await?;
    let limits = &api.shared.limits;
    let params = TemporalParams::of_entity(&request, &session.names, limits)?;
    answer_past(&session, id, &params, limits).await
}

/// NGSI-LD 6.19.3.2, DELETE /temporal/entities/{id} (5.6.16).
pub(crate) async fn delete(api: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, &["local"])?;
    let id = entity_id(&request)?;
    let session = api.reading(&request).await?;
    let deleted = session.entities.delete_history(id).await;
    deleted.map_err(|error| session.write_problem(&error))?;
    Ok(no_content())
}
