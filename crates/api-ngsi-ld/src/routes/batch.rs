//! `/entityOperations/…`: many entities in one request (NGSI-LD 5.6.7 to 5.6.10, 5.6.20).

mod elements;

use std::collections::HashSet;

use api_http::{DataDamaged, Request, Response, json_response};
use http::StatusCode;
use lang_json::write_string;
use model_entities::{Change, Draft, Fate, MergeOptions, NotUpdated, Operation, TenantName};

use crate::context::RequestContext;
use crate::params::check_parameters;
use crate::problem::Problem;
use crate::routes::answer::{JSON, no_content};
use crate::routes::body::body;
use crate::routes::entities::merge_options;
use crate::routes::options::{WriteOptions, write_options};
use crate::routes::session::{Session, tenant};
use crate::state::Api;
use crate::wire::{Rules, parse_ids, refuse_nulls, split_batch};
use elements::Elements;

/// Parameters of batches that write.
const PARAMETERS: &[&str] = &["options", "format", "local"];

/// NGSI-LD 6.14.3.1, POST /entityOperations/create (5.6.7).
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, PARAMETERS)?;
    write_options(&request, &[])?;
    write(&api, &request, &Verb::Create).await
}

/// NGSI-LD 6.15.3.1, POST /entityOperations/upsert (5.6.8).
pub(crate) async fn upsert(api: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, PARAMETERS)?;
    let verb = match write_options(&request, &["update", "replace"])?.update {
        true => Verb::UpsertUpdate,
        false => Verb::UpsertReplace,
    };
    write(&api, &request, &verb).await
}

/// NGSI-LD 6.16.3.1, POST /entityOperations/update (5.6.9).
pub(crate) async fn update(api: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, PARAMETERS)?;
    let keep_held = write_options(&request, &["noOverwrite"])?.keep_held;
    write(&api, &request, &Verb::Update { keep_held }).await
}

/// NGSI-LD 6.31.3.1, POST /entityOperations/merge (5.6.20).
pub(crate) async fn merge(api: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, &["options", "format", "local", "observedAt", "lang"])?;
    write_options(&request, &[])?;
    let options = merge_options(&request)?;
    write(&api, &request, &Verb::Merge(options)).await
}

/// NGSI-LD 6.17.3.1, POST /entityOperations/delete (5.6.10).
pub(crate) async fn delete(api: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, PARAMETERS)?;
    let body = body(&request)?;
    let ids = parse_ids(body.text, api.shared.limits.batch_entities_max)?;
    let session = api.session(&tenant(&request)?, &RequestContext::core()).await?;
    let mut tally = Tally::new(ids.len());
    let mut operations = Vec::with_capacity(ids.len());
    for id in ids {
        match id {
            Ok(id) => operations.push((id, Operation::Delete)),
            Err(refused) => tally.errors.push(refused),
        }
    }
    tally.apply(&session, operations).await;
    Ok(tally.answer(&Verb::Delete))
}

/// What a batch does with each of its entities.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verb {
    Create,
    UpsertReplace,
    UpsertUpdate,
    Update { keep_held: bool },
    Merge(MergeOptions),
    Delete,
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
            Self::Update { .. } | Self::Delete => Rules::fragment(depth_max).with_id(true),
            Self::Merge(_) => Rules::merge(depth_max).with_id(true),
        };
        rules.in_representation(options.representation)
    }

    fn operation(&self, draft: Draft) -> Operation {
        match self {
            Self::Create => Operation::Create(draft),
            Self::UpsertReplace => Operation::UpsertReplace(draft),
            Self::UpsertUpdate => Operation::UpsertUpdate(draft),
            Self::Update { keep_held } => Operation::Append { draft, keep_existing: *keep_held },
            Self::Merge(options) => Operation::Merge(draft, options.clone()),
            Self::Delete => Operation::Delete,
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
    let mut contexts = elements::Resolver::new(&api.shared.contexts, &tenant, request, body).await?;
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
    let drafts = elements.parse(&session, &rules, &mut contexts, &mut tally).await?;
    let operations = drafts.into_iter().map(|draft| (draft.id.clone(), verb.operation(draft))).collect();
    tally.apply(&session, operations).await;
    Ok(tally.answer(verb))
}

/// What became of the entities of a batch.
pub(super) struct Tally {
    created: Vec<Box<str>>,
    success: Vec<Box<str>>,
    seen: HashSet<Box<str>>,
    errors: Vec<(String, Problem)>,
    bytes: usize,
}

/// What a note takes beside its id: of a success, and of an error.
const NOTE_BYTES: usize = 64;
const ERROR_BYTES: usize = 512;

impl Tally {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            created: Vec::new(),
            success: Vec::with_capacity(capacity),
            seen: HashSet::with_capacity(capacity),
            errors: Vec::new(),
            bytes: 0,
        }
    }

    fn refuse(&mut self, element: &str, problem: Problem) {
        let id = lang_json::member(element, "id").and_then(lang_json::string_value);
        self.errors.push((id.unwrap_or_default().into_owned(), problem));
    }

    /// Notes an entity that was changed.
    pub(super) fn succeed(&mut self, id: Box<str>) {
        self.bytes += id.len() + NOTE_BYTES;
        self.success.push(id);
    }

    /// Notes an entity that was not.
    pub(super) fn fail(&mut self, id: Box<str>, problem: Problem) {
        self.bytes += id.len() + ERROR_BYTES;
        self.errors.push((id.into(), problem));
    }

    /// About what these notes take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether nothing failed.
    pub(super) fn is_faultless(&self) -> bool {
        self.errors.is_empty()
    }

    async fn apply(&mut self, session: &Session, operations: Vec<(Box<str>, Operation)>) {
        let ids: Vec<Box<str>> = operations.iter().map(|(id, _)| id.clone()).collect();
        let outcomes = session.entities.apply_all(operations, session.now).await;
        for (id, outcome) in ids.into_iter().zip(outcomes) {
            match outcome {
                Ok(change) => self.done(session, id, &change),
                Err(error) => self.errors.push((id.into(), session.write_problem(&error))),
            }
        }
    }

    /// Notes what was done with an entity. One of which something was left as it is counts as an error; and as a success,
    /// too, if something was changed.
    fn done(&mut self, session: &Session, id: Box<str>, change: &Change) {
        if !change.not_updated.is_empty() {
            self.errors.push((id.to_string(), left(session, change)));
            if change.fate == Fate::Unchanged {
                return;
            }
        }
        if change.fate == Fate::Created {
            self.created.push(id.clone());
        }
        if self.seen.insert(id.clone()) {
            self.success.push(id);
        }
    }

    fn answer(self, verb: &Verb) -> Response {
        if !self.is_faultless() {
            return self.multi_status();
        }
        if *verb == Verb::Create || !self.created.is_empty() {
            let mut out = String::new();
            write_strings(&mut out, &self.created);
            return json_response(StatusCode::CREATED, JSON, out);
        }
        no_content()
    }

    /// The answer where something failed; damaged data among the reasons is counted as for one entity.
    pub(super) fn multi_status(&self) -> Response {
        let mut response = json_response(StatusCode::MULTI_STATUS, JSON, self.result());
        if self.errors.iter().any(|(_, problem)| problem.is_damage()) {
            response.extensions_mut().insert(DataDamaged);
        }
        response
    }

    /// BatchOperationResult (5.2.16).
    fn result(&self) -> String {
        let mut out = String::from("{\"success\":");
        write_strings(&mut out, &self.success);
        out.push_str(",\"errors\":[");
        for (index, (id, problem)) in self.errors.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str("{\"entityId\":");
            write_string(&mut out, id);
            out.push_str(",\"error\":");
            problem.write(&mut out);
            out.push('}');
        }
        out.push_str("]}");
        out
    }
}

/// Says which attributes were left as they are, and why.
fn left(session: &Session, change: &Change) -> Problem {
    let mut why = String::new();
    for (term, NotUpdated::Exists) in &change.not_updated {
        why.push_str(if why.is_empty() { "" } else { ", " });
        why.push_str(session.names.compact(*term));
    }
    Problem::already_exists(format!(
        "the entity has these attributes already, and noOverwrite was asked for: {why}"
    ))
}

fn write_strings(out: &mut String, texts: &[Box<str>]) {
    out.push('[');
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(out, text);
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_of_one_entity_counts() {
        for (second, is_damage) in [(Problem::internal(), false), (Problem::damaged(), true)] {
            let mut tally = Tally::new(2);
            tally.fail("urn:a".into(), Problem::not_found("a"));
            tally.fail("urn:b".into(), second);
            let response = tally.answer(&Verb::Delete);
            assert_eq!(response.status(), StatusCode::MULTI_STATUS);
            assert_eq!(response.extensions().get::<DataDamaged>().is_some(), is_damage);
        }
    }
}
