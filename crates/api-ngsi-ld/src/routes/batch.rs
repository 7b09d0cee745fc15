//! `/entityOperations/…`: many entities in one request (NGSI-LD 5.6.7 to 5.6.10, 5.6.20).

use api_http::{Request, Response};
use lang_ngsi_ld::{Rules, parse_ids, refuse_nulls, split_batch};
use model_entities::{Draft, MergeOptions, Operation, TenantName};
use tenant_contexts::RequestContext;

use crate::answer::Tally;
use crate::operation::{BATCH_REFUSALS, DONE, PARTLY, declare, done, json_list};
use crate::params::{self, WriteOptions, merge_options, write_options};
use crate::problem::Problem;
use crate::request::{Elements, Parsed, Resolver, body, tenant};
use crate::state::Api;

/// POST /entityOperations/create
pub(crate) const CREATE: api_http::Operation = declare("batches", "createBatch", "Creates entities.")
    .query(&[params::WRITING])
    .sent(json_list("Entity"))
    .gives(&[(201, done(json_list("Id"))), (207, PARTLY)])
    .refuses(BATCH_REFUSALS);

/// NGSI-LD 6.14.3.1, POST /entityOperations/create (5.6.7).
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    write_options(&request, &[])?;
    write(&api, &request, &Verb::Create).await
}

/// POST /entityOperations/upsert
pub(crate) const UPSERT: api_http::Operation =
    declare("batches", "upsertBatch", "Creates entities, and replaces or updates those that exist.")
        .query(&[params::WRITING])
        .sent(json_list("Entity"))
        .gives(&[(201, done(json_list("Id"))), (204, DONE), (207, PARTLY)])
        .refuses(BATCH_REFUSALS);

/// NGSI-LD 6.15.3.1, POST /entityOperations/upsert (5.6.8).
pub(crate) async fn upsert(api: Api, request: Request) -> Result<Response, Problem> {
    let verb = match write_options(&request, &["update", "replace"])?.update {
        true => Verb::UpsertUpdate,
        false => Verb::UpsertReplace,
    };
    write(&api, &request, &verb).await
}

/// POST /entityOperations/update
pub(crate) const UPDATE: api_http::Operation =
    declare("batches", "updateBatch", "Adds attributes to entities, and replaces those of the same name.")
        .query(&[params::WRITING])
        .sent(json_list("Entity"))
        .gives(&[(204, DONE), (207, PARTLY)])
        .refuses(BATCH_REFUSALS);

/// NGSI-LD 6.16.3.1, POST /entityOperations/update (5.6.9).
pub(crate) async fn update(api: Api, request: Request) -> Result<Response, Problem> {
    let keep_existing = write_options(&request, &["noOverwrite"])?.keep_existing;
    write(&api, &request, &Verb::Update { keep_existing }).await
}

/// POST /entityOperations/merge
pub(crate) const MERGE: api_http::Operation =
    declare("batches", "mergeBatch", "Merges fragments into entities.")
        .query(&[params::WRITING, params::MERGING])
        .sent(json_list("Entity"))
        .gives(&[(204, DONE), (207, PARTLY)])
        .refuses(BATCH_REFUSALS);

/// NGSI-LD 6.31.3.1, POST /entityOperations/merge (5.6.20).
pub(crate) async fn merge(api: Api, request: Request) -> Result<Response, Problem> {
    write_options(&request, &[])?;
    let options = merge_options(&request)?;
    write(&api, &request, &Verb::Merge(options)).await
}

/// POST /entityOperations/delete
pub(crate) const DELETE: api_http::Operation = declare("batches", "deleteBatch", "Removes entities.")
    .query(&[params::WRITING])
    .sent(json_list("Id"))
    .gives(&[(204, DONE), (207, PARTLY)])
    .refuses(BATCH_REFUSALS);

/// NGSI-LD 6.17.3.1, POST /entityOperations/delete (5.6.10).
pub(crate) async fn delete(api: Api, request: Request) -> Result<Response, Problem> {
    let body = body(&request)?;
    let ids = parse_ids(body.text, api.shared.limits.batch_entities_max)?;
    let session = api.session(&tenant(&request)?, &RequestContext::core()).await?;
    let mut tally = Tally::new(ids.len());
    let mut operations = Vec::with_capacity(ids.len());
    for id in ids {
        match id {
            Ok(id) => operations.push((id, Operation::Delete)),
            Err((id, error)) => tally.fail(id, error.into()),
        }
    }
    tally.apply(&session, operations).await;
    Ok(tally.answer(false))
}

/// What a batch that writes does with each of its entities.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verb {
    Create,
    UpsertReplace,
    UpsertUpdate,
    Update { keep_existing: bool },
    Merge(MergeOptions),
}

impl Verb {
    fn creates(&self) -> bool {
        matches!(self, Self::Create | Self::UpsertReplace | Self::UpsertUpdate)
    }

    /// Whether one element that is `null` refuses the whole batch; to a merge it is one that failed (5.6.20.4).
    fn refuses_nulls(&self) -> bool {
        !matches!(self, Self::Merge(_))
    }

    fn rules(&self, options: WriteOptions, depth_max: usize) -> Rules {
        let rules = match self {
            Self::Create | Self::UpsertReplace | Self::UpsertUpdate => Rules::create(depth_max),
            Self::Update { .. } => Rules::fragment(depth_max).with_id(true),
            Self::Merge(_) => Rules::merge(depth_max).with_id(true),
        };
        rules.in_representation(options.representation)
    }

    fn operation(&self, draft: Draft) -> Operation {
        match self {
            Self::Create => Operation::Create(draft),
            Self::UpsertReplace => Operation::UpsertReplace(draft),
            Self::UpsertUpdate => Operation::UpsertUpdate(draft),
            Self::Update { keep_existing } => Operation::Append { draft, keep_existing: *keep_existing },
            Self::Merge(options) => Operation::Merge(draft, options.clone()),
        }
    }
}

async fn write(api: &Api, request: &Request, verb: &Verb) -> Result<Response, Problem> {
    let limits = &api.shared.limits;
    let options = write_options(request, &["noOverwrite", "update", "replace"])?;
    let rules = verb.rules(options, limits.depth_max);
    let body = body(request)?;
    let texts = split_batch(body.text, limits.batch_entities_max)?;
    if verb.refuses_nulls() {
        refuse_nulls(&texts)?;
    }
    let tenant = tenant(request)?;
    let elements = Elements::new(body, &texts)?;
    let mut contexts = Resolver::new(&api.shared.contexts, &tenant, request, body).await?;
    let core = RequestContext::core();
    let session = if !verb.creates() {
        api.session(&tenant, &core).await?
    } else if api.is_new(&tenant).await? {
        // What is refused whole creates no tenant.
        let any = api.session(&TenantName::default(), &core).await?;
        let any_valid = elements.any_valid(&any.names, &rules, &mut contexts).await?;
        api.session_or_create(&tenant, &core, |_| Ok(any_valid)).await?
    } else {
        api.session_or_create(&tenant, &core, |_| Ok(true)).await?
    };
    let mut tally = Tally::new(texts.len());
    let Parsed { drafts, refused } = elements.parse(&session, &rules, &mut contexts).await?;
    for (element, problem) in refused {
        tally.refuse(element, problem);
    }
    let operations = drafts.into_iter().map(|draft| (draft.id.clone(), verb.operation(draft))).collect();
    tally.apply(&session, operations).await;
    Ok(tally.answer(*verb == Verb::Create))
}
