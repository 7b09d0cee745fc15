//! Writes of data (RFC 8040, sections 4.4 to 4.7).

use std::sync::Arc;

use api_http::{Given as Parameters, Operation, Request, Response, date_value, empty_response, entity_tag};
use http::{HeaderValue, StatusCode, header};
use lang_yang::Schema;
use model_config::{Anchor, Written};

use super::body::{self, Keys, read, read_all, single};
use super::change::{Change, Spot, merge_all, replace_all};
use super::conditions::{Demands, seconds_of, state_of};
use super::place::{root_of, segments_of};
use crate::identifier::Segment;
use crate::library::is_library;
use crate::operation::{CREATED, CREATED_OR_DONE, DONE, WRITE_REFUSALS, data_of, operation};
use crate::params::{self, Insert};
use crate::problem::{Problem, Tag};
use crate::state::Api;
use crate::target::{Step, Target};

/// The media types of patches: plain ones, and lists of edits.
pub(crate) const PATCHES: &str = "application/yang-data+json, application/yang-data+xml, application/yang-patch+json, \
    application/yang-patch+xml, application/json, application/xml";

/// POST `{root}/data`
pub(crate) const CREATE_TOP: Operation = create_operation("createTop", "Creates a resource at the top.");
/// POST `{root}/data/{path}`
pub(crate) const CREATE: Operation =
    create_operation("create", "Creates a resource in a container or an entry of a list.");

const fn create_operation(id: &'static str, summary: &'static str) -> Operation {
    operation("data", id, summary)
        .query(&[params::PUT_IN_PLACE])
        .sent(data_of("Data"))
        .gives(CREATED)
        .refuses(WRITE_REFUSALS)
        .about_one()
}

/// A write that is understood: whose, and where.
pub(super) struct Write<'r> {
    pub(super) anchor: Anchor,
    pub(super) target: Target,
    request: &'r Request,
}

impl<'r> Write<'r> {
    /// # Errors
    ///
    /// 400, 404, 405.
    pub(super) async fn of(api: &Api, request: &'r Request) -> Result<Self, Problem> {
        let anchor = api.anchor(request).await?;
        let segments = segments_of(request)?;
        check_own(&segments)?;
        let target = Target::of(anchor.schema(), &segments)?;
        check_config(anchor.schema(), &target)?;
        Ok(Self { anchor, target, request })
    }

    pub(super) fn schema(&self) -> &Schema {
        self.anchor.schema()
    }

    /// The resource as the last step of its path; whole lists are no resources that can be written.
    fn resource(&self) -> Result<(&[Step], &Step), Problem> {
        let (step, above) = self.target.split().ok_or_else(Problem::internal)?;
        check_single(self.schema(), step).map_err(|problem| self.here(problem))?;
        Ok((above, step))
    }

    /// What the body gives for the resource `step` below `above`.
    ///
    /// # Errors
    ///
    /// 400, 413.
    async fn given(
        &self,
        api: &Api,
        (above, step): (&[Step], &Step),
        keys: Keys,
    ) -> Result<body::Given, Problem> {
        let content = read(api, self.schema(), above, (self.request, keys)).await;
        let given = content.and_then(single).and_then(|given| given.of_path(self.schema(), step));
        given.map_err(|problem| self.here(problem))
    }

    fn here(&self, problem: Problem) -> Problem {
        problem.at(self.target.path(self.schema()))
    }

    /// Carries a change out.
    async fn carry_out(
        &self,
        demands: &Demands,
        edits: impl Fn(&config::Tree<'_>) -> super::change::Edits,
    ) -> Result<Written, Problem> {
        let written = self.anchor.write(edits, demands.options).await;
        written.map_err(|problem: Problem| self.here(problem.named(self.schema())))
    }

    /// The answer to a change.
    fn answer(&self, status: StatusCode, written: &Written) -> Response {
        self.tagged(empty_response(status), written)
    }

    /// An answer, with the tag and the date of what a change made.
    pub(super) fn tagged(&self, mut answer: Response, written: &Written) -> Response {
        let headers = answer.headers_mut();
        headers.insert(header::ETAG, entity_tag(state_of(&self.anchor, written.version), 0));
        if let Some(date) = date_value(seconds_of(written.at)) {
            headers.insert(header::LAST_MODIFIED, date);
        }
        answer
    }

    /// The same for a resource that was made.
    fn created(&self, target: &Target, written: &Written) -> Response {
        let mut location = format!("{}/data", root_of(self.request));
        target.put_url(&mut location, self.schema());
        let mut answer = self.answer(StatusCode::CREATED, written);
        // The path of a request is a header's text, or it had not come here.
        if let Ok(location) = HeaderValue::try_from(location) {
            answer.headers_mut().insert(header::LOCATION, location);
        }
        answer
    }
}

/// RFC 8040 4.4.1, POST `{root}/data` and `{root}/data/{path}`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    let write = Write::of(&api, &request).await?;
    if let Some((step, _)) = write.target.split()
        && (step.is_whole_list(write.schema()) || !write.schema().is_entry(step.node))
    {
        let message = "resources are created in the datastore, a container or an entry of a list; the new entry's list is part of the body";
        return Err(write.here(Problem::invalid(message)));
    }
    let content = read(&api, write.schema(), &write.target.steps, (&request, Keys::Needed)).await;
    let given = single(content.map_err(|problem| write.here(problem))?)?;
    let step = given.step(write.schema()).ok_or_else(nothing)?;
    let parameters = Parameters::of(&request);
    let spot = Spot::of(write.schema(), Insert::of(&parameters)?, (&write.target.steps, &step))?;
    let demands = Demands::of(&request, &write.anchor).await?;
    let change = Change::new(demands, (&write.target.steps, step.clone()), spot);
    let mut target = write.target.clone();
    target.steps.push(step);
    let written = write.anchor.write(|tree| change.create(tree, &given), demands.options).await;
    let written =
        written.map_err(|problem: Problem| problem.named(write.schema()).at(target.path(write.schema())))?;
    Ok(write.created(&target, &written))
}

/// PUT `{root}/data`
pub(crate) const REPLACE_ALL: Operation =
    operation("data", "replaceDatastore", "Replaces all data of the anchor.")
        .sent(data_of("Data"))
        .gives(DONE)
        .refuses(WRITE_REFUSALS)
        .about_one();

/// RFC 8040 4.5, PUT `{root}/data`
pub(crate) async fn replace_all_data(api: Api, request: Request) -> Result<Response, Problem> {
    let write = Write::of(&api, &request).await?;
    let content = Arc::new(read_all(&api, write.schema(), &request).await?);
    let demands = Demands::of(&request, &write.anchor).await?;
    demands.judge(true)?;
    let written = write.carry_out(&demands, |_| Ok(replace_all(&content))).await?;
    Ok(write.answer(StatusCode::NO_CONTENT, &written))
}

/// PUT `{root}/data/{path}`
pub(crate) const REPLACE: Operation = operation("data", "replace", "Creates a resource, or replaces it.")
    .query(&[params::PUT_IN_PLACE])
    .sent(data_of("Data"))
    .gives(CREATED_OR_DONE)
    .refuses(WRITE_REFUSALS)
    .about_one();

/// RFC 8040 4.5, PUT `{root}/data/{path}`
pub(crate) async fn replace(api: Api, request: Request) -> Result<Response, Problem> {
    let write = Write::of(&api, &request).await?;
    let (above, step) = write.resource()?;
    let given = write.given(&api, (above, step), Keys::Needed).await?;
    let parameters = Parameters::of(&request);
    let spot = Spot::of(write.schema(), Insert::of(&parameters)?, (above, step))?;
    let demands = Demands::of(&request, &write.anchor).await?;
    let change = Change::new(demands, (above, step.clone()), spot);
    let written = write.carry_out(&demands, |tree| change.replace(tree, &given)).await?;
    if change.existed() {
        return Ok(write.answer(StatusCode::NO_CONTENT, &written));
    }
    Ok(write.created(&write.target, &written))
}

/// PATCH `{root}/data`
pub(crate) const MERGE_ALL: Operation = operation(
    "data",
    "mergeDatastore",
    "Merges data into that of the anchor (plain patch), or edits it (YANG Patch).",
)
.sent(data_of("Data"))
.gives(DONE)
.refuses(WRITE_REFUSALS)
.patched_as(PATCHES)
.about_one();

/// RFC 8040 4.6.1, PATCH `{root}/data`
pub(super) async fn merge_all_data(api: Api, request: Request) -> Result<Response, Problem> {
    let write = Write::of(&api, &request).await?;
    let content = read(&api, write.schema(), &[], (&request, Keys::Needed)).await?;
    let nodes = content.children.into();
    let demands = Demands::of(&request, &write.anchor).await?;
    demands.judge(true)?;
    let merged = |tree: &config::Tree<'_>| merge_all(tree, (&content.leaves, &nodes));
    let written = write.carry_out(&demands, merged).await?;
    Ok(write.answer(StatusCode::NO_CONTENT, &written))
}

/// PATCH `{root}/data/{path}`
pub(crate) const MERGE: Operation = operation(
    "data",
    "merge",
    "Merges data into a resource that exists (plain patch), or edits it (YANG Patch).",
)
.sent(data_of("Data"))
.gives(DONE)
.refuses(WRITE_REFUSALS)
.patched_as(PATCHES)
.about_one();

/// RFC 8040 4.6.1, PATCH `{root}/data/{path}`
pub(super) async fn merge(api: Api, request: Request) -> Result<Response, Problem> {
    let write = Write::of(&api, &request).await?;
    let (above, step) = write.resource()?;
    let given = write.given(&api, (above, step), Keys::OfPath).await?;
    let demands = Demands::of(&request, &write.anchor).await?;
    let change = Change::new(demands, (above, step.clone()), None);
    let written = write.carry_out(&demands, |tree| change.merge(tree, &given)).await?;
    Ok(write.answer(StatusCode::NO_CONTENT, &written))
}

/// DELETE `{root}/data/{path}`
pub(crate) const DELETE: Operation = operation("data", "delete", "Deletes a resource.")
    .gives(DONE)
    .refuses(&[400, 404, 405, 409, 412])
    .about_one();

/// RFC 8040 4.7, DELETE `{root}/data/{path}`
pub(crate) async fn delete(api: Api, request: Request) -> Result<Response, Problem> {
    let write = Write::of(&api, &request).await?;
    let (above, step) = write.resource()?;
    let demands = Demands::of(&request, &write.anchor).await?;
    let change = Change::new(demands, (above, step.clone()), None);
    let written = write.carry_out(&demands, |tree| change.delete(tree)).await?;
    Ok(write.answer(StatusCode::NO_CONTENT, &written))
}

fn nothing() -> Problem {
    Problem::protocol(Tag::MalformedMessage, "the body must give exactly one resource, not none")
}

/// Refuses to write a list as a whole.
///
/// # Errors
///
/// 400.
pub(super) fn check_single(schema: &Schema, step: &Step) -> Result<(), Problem> {
    if !step.is_whole_list(schema) {
        return Ok(());
    }
    Err(Problem::invalid(format!(
        "{} is a list: a write must name one of its entries, as LIST=KEY,KEY or LEAF-LIST=VALUE",
        schema.path(step.node)
    )))
}

/// Refuses to write what the server says of itself.
///
/// # Errors
///
/// 405.
pub(super) fn check_own(segments: &[Segment<'_>]) -> Result<(), Problem> {
    let module = segments.first().and_then(|first| first.module.as_deref());
    match module.filter(|module| is_library(module)) {
        Some(module) => {
            Err(Problem::read_only(format!("what {module} says is the server's own, and cannot be written")))
        }
        None => Ok(()),
    }
}

/// Refuses to write state data.
///
/// # Errors
///
/// 405.
pub(super) fn check_config(schema: &Schema, target: &Target) -> Result<(), Problem> {
    match target.steps.iter().find(|step| !schema.node(step.node).is_config) {
        Some(step) => {
            let message = format!("{} is state data, which cannot be written", schema.path(step.node));
            Err(Problem::read_only(message).at(target.path(schema)))
        }
        None => Ok(()),
    }
}
