//! `/entities` and `/entities/{id}`.

use api_http::{Request, Response, accept};
use http::HeaderName;
use model_entities::{Draft, EntityView, MergeOptions, Operation, Precondition};

use crate::params::{EntityParams, check_parameters, parse_query_body};
use crate::problem::Problem;
use crate::render::{RenderPlan, write_entity};
use crate::routes::answer::{GEO_JSON, JSON, JSON_LD, answer, created, no_content};
use crate::routes::attributes::writing;
use crate::routes::body::body;
use crate::routes::conditions::{state_condition, tagged_answer};
use crate::routes::options::write_options;
use crate::routes::reading::{answer_one, answer_page};
use crate::routes::session::{Session, tenant};
use crate::state::Api;
use crate::wire::{Rules, WireError, check_uri, is_language_tag, parse_entity, parse_fragment};

/// RFC 7240.
const PREFER: HeaderName = HeaderName::from_static("prefer");

/// NGSI-LD 6.4.3.1, POST /entities: create an entity (5.6.1).
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, &["options", "format", "local"])?;
    let options = write_options(&request, &[])?;
    let rules = Rules::create(api.shared.limits.depth_max).in_representation(options.representation);
    let body = body(&request)?;
    let tenant = tenant(&request)?;
    let context = api.body_context(&tenant, &request, body).await?;
    let check = |names: &_| match parse_entity(body.text, names, &rules) {
        Err(WireError::Problem(problem)) => Err(problem),
        Ok(_) | Err(WireError::Unknown(_)) => Ok(true),
    };
    let session = api.session_or_create(&tenant, &context, check).await?;
    let draft = session.parse(|names| parse_entity(body.text, names, &rules)).await?;
    let id = draft.id.clone();
    let required = Precondition { types: None, state: state_condition(&request)? };
    session.apply(&id, &required, Operation::Create(draft)).await?;
    Ok(created(&id))
}

/// NGSI-LD 6.4.3.2, GET /entities: query entities (5.7.2).
pub(crate) async fn query(api: Api, request: Request) -> Result<Response, Problem> {
    let session = api.reading(&request).await?;
    let limits = &api.shared.limits;
    let params = EntityParams::of_query(&request, &session.names, limits)?;
    answer_page(&session, &request, &params, limits).await
}

/// NGSI-LD 6.23.3.1, POST /entityOperations/query: query entities by a body (5.7.2).
pub(crate) async fn query_by_post(api: Api, request: Request) -> Result<Response, Problem> {
    let body = body(&request)?;
    let session = writing(&api, &request, body).await?;
    let limits = &api.shared.limits;
    let params = parse_query_body(body.text, &request, &session.names, limits)?;
    answer_page(&session, &request, &params, limits).await
}

/// NGSI-LD 6.5.3.1, GET /entities/{id}: retrieve an entity (5.7.1). Without parameters, nothing but
/// the few headers that matter is looked at.
pub(crate) async fn retrieve(api: Api, request: Request) -> Result<Response, Problem> {
    // What is stored has an id that is right: it is checked where nothing is found.
    let id = request.capture(0);
    let session = api.reading(&request).await?;
    let plain = request.params.is_empty() && !request.headers.contains_key(PREFER);
    let media = plain.then(|| accept(request.header("accept"), &[JSON, JSON_LD, GEO_JSON])).flatten();
    let Some(media) = media.filter(|media| *media != GEO_JSON) else {
        let limits = &api.shared.limits;
        let params = EntityParams::of_entity(&request, &session.names, limits)?;
        return Box::pin(answer_one(&session, &request, &params, limits)).await;
    };
    let entity = match session.entities.get(id, session.now).await {
        Ok(Some(entity)) => entity,
        absent => {
            entity_id(&request)?;
            return Err(absent.map_or_else(|error| session.problem(&error), |_| no_such_entity(id)));
        }
    };
    let view = EntityView::parse(&entity.bytes).map_err(|_| damaged(id))?;
    let context = session.names.context();
    let mut plan = RenderPlan::new(&session.names, session.now);
    plan.context = (media == JSON_LD).then(|| context.member());
    let mut out = String::with_capacity(entity.bytes.len() * 2 + 1);
    write_entity(&mut out, &view, &plan);
    tagged_answer(&request, &entity, answer(media, media == JSON_LD, context, out))
}

/// NGSI-LD 6.5.3.4, PATCH /entities/{id}: merge into an entity (5.6.17).
pub(crate) async fn merge(api: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, &["options", "format", "type", "local", "observedAt", "lang"])?;
    let options = write_options(&request, &[])?;
    let rules = Rules::merge(api.shared.limits.depth_max).in_representation(options.representation);
    let merge_options = merge_options(&request)?;
    write(&api, &request, &rules, |draft| Operation::Merge(draft, merge_options)).await
}

/// NGSI-LD 6.5.3.3, PUT /entities/{id}: replace an entity (5.6.18).
pub(crate) async fn replace(api: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, &["options", "format", "type", "local"])?;
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
    let session = writing(api, request, body).await?;
    let required = session.precondition(request)?;
    let draft = session.parse(|names| parse_fragment(body.text, names, rules)).await?;
    same_id(id, &draft)?;
    let change = session.apply(id, &required, operation(draft)).await?;
    Ok(super::attributes::outcome(&session, &change))
}

/// NGSI-LD 6.5.3.2, DELETE /entities/{id} (5.6.6).
pub(crate) async fn delete(api: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, &["type", "local"])?;
    let id = entity_id(&request)?;
    let session = api.reading(&request).await?;
    session.apply(id, &session.precondition(&request)?, Operation::Delete).await?;
    Ok(no_content())
}

/// The id in the URL.
pub(crate) fn entity_id(request: &Request) -> Result<&str, Problem> {
    let id = request.capture(0);
    check_uri(id).map_err(|error| Problem::bad_request(format!("entity id: {error}")))?;
    Ok(id)
}

/// A body may repeat the id that stands in the URL, and no other.
pub(crate) fn same_id(id: &str, draft: &Draft) -> Result<(), Problem> {
    if draft.id.is_empty() || *draft.id == *id {
        return Ok(());
    }
    Err(Problem::bad_request(format!("member id is {:?}, but the URL names {id:?}", draft.id)))
}

/// The `observedAt` and `lang` parameters of a merge (6.5.3.4, 6.31.3.1).
pub(crate) fn merge_options(request: &Request) -> Result<MergeOptions, Problem> {
    let observed_at =
        match request.params.get("observedAt") {
            None => None,
            Some(text) => Some(crate::wire::time::parse_time(text).ok_or_else(|| {
                Problem::bad_request(format!("parameter observedAt: {text:?} is no DateTime"))
            })?),
        };
    let lang = request.params.get("lang");
    if let Some(tag) = lang.filter(|tag| !is_language_tag(tag)) {
        return Err(Problem::bad_request(format!(
            "parameter lang: {tag:?} is not a language tag such as en"
        )));
    }
    Ok(MergeOptions { observed_at, lang: lang.map(Into::into) })
}

/// No entity has this id.
pub(crate) fn no_such_entity(id: &str) -> Problem {
    Problem::not_found(format!("entity {id:?} does not exist"))
}

/// What is stored cannot be read.
pub(crate) fn damaged(id: &str) -> Problem {
    tracing::error!(id, "a stored entity is damaged");
    Problem::internal()
}

/// A session and what it found are of one tenant; see [`Session`].
impl Session {
    /// The entity with this id, or 404.
    pub(crate) async fn entity(&self, id: &str) -> Result<model_entities::Entity, Problem> {
        let held = self.entities.get(id, self.now).await.map_err(|error| self.problem(&error))?;
        held.ok_or_else(|| no_such_entity(id))
    }
}
