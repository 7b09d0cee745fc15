//! `/timeseries`: definitions, searched for, made, changed and removed.

use api_http::{Given, Operation, Request, Response, next_link, no_content};
use http::{StatusCode, header};
use model_series::{Definition, DefinitionChange, SeriesRef};
use serde::{Deserialize, Serialize};

use super::conditions::tagged_answer;
use super::{check_json, created, find_series, json, ok};
use crate::operation::{DONE, FIND_REFUSALS, NEW_REFUSALS, done, json_list, json_of, operation};
use crate::params;
use crate::problem::Problem;
use crate::shapes::{AttributeContext, SeriesGiven, SeriesShape, read_json, refuse_series};
use crate::state::Api;

/// GET `/repositories/{repository}/timeseries`
pub(crate) const SEARCH: Operation = operation(
    "series",
    "searchSeries",
    "Finds series, in order of their names. The header Link leads to the next page.",
)
.query(&[params::SEARCH, params::PAGE, params::ANY])
.gives(&[(200, done(json_list("Series")))])
.refuses(FIND_REFUSALS);

/// GET `/repositories/{repository}/timeseries`
pub(crate) async fn search(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let search = params::search(&given, &api.shared.limits)?;
    let page = api.repository(&request).await?.search(&search).await?;
    let shapes: Vec<_> = page.series.iter().map(|series| SeriesShape::from(&**series)).collect();
    let mut response = ok(&shapes)?;
    if let Some(link) = page.next.and_then(|after| next_link(&request, &after)) {
        response.headers_mut().append(header::LINK, link);
    }
    Ok(response)
}

/// POST `/repositories/{repository}/timeseries`
pub(crate) const DEFINE: Operation = operation("series", "defineSeries", "Defines a series.")
    .sent(json_of("Series"))
    .gives(&[(201, done(json_of("Series")))])
    .refuses(NEW_REFUSALS)
    .making_one();

/// POST `/repositories/{repository}/timeseries`
pub(crate) async fn define(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let given: SeriesGiven = read_json(&request.body)?;
    let repository = api.repository_to_fill(&request).await?;
    let context = AttributeContext::load(&repository, given.attributes()).await?;
    let draft = given.draft(&context).map_err(Problem::bad_request)?;
    let defined = repository.define(vec![draft], api.shared.clock.now()).await;
    let defined = defined.map_err(|error| Problem::from(error).mentioned())?;
    let series = defined.first().ok_or_else(Problem::internal)?;
    created(&request, &series.number.to_string(), &SeriesShape::from(&**series))
}

/// Definitions of many series; a list alone is taken, too.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Many {
    time_series: Vec<SeriesGiven>,
}

/// What a client needs to know of each of many new series.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Defined<'a> {
    #[serde(rename = "ID")]
    id: String,
    name: &'a str,
}

/// POST `/repositories/{repository}/timeseriescollections/definition`
pub(crate) const DEFINE_MANY: Operation =
    operation("series", "defineManySeries", "Defines many series, all or none; returns their IDs in order.")
        .sent(json_of("Definitions"))
        .gives(&[(201, done(json_list("Defined")))])
        .refuses(&[400, 404, 409, 413, 415]);

/// POST `/repositories/{repository}/timeseriescollections/definition`: all or none.
pub(crate) async fn define_many(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let is_list = request.body.trim_ascii_start().starts_with(b"[");
    let given = match is_list {
        true => read_json(&request.body)?,
        false => read_json::<Many>(&request.body)?.time_series,
    };
    let max = api.shared.limits.request_series_max;
    if given.len() > max {
        return Err(Problem::too_large(format!(
            "{} series are more than request_series_max, {max}",
            given.len()
        )));
    }
    let repository = api.repository_to_fill(&request).await?;
    let attributes = given.iter().flat_map(SeriesGiven::attributes);
    let context = AttributeContext::load(&repository, attributes).await?;
    let mut drafts = Vec::with_capacity(given.len());
    for given in given {
        let name = given.name().map(str::to_owned);
        let draft = given.draft(&context);
        drafts.push(draft.map_err(|reason| refuse_series(name.as_deref(), reason))?);
    }
    let defined = repository.define(drafts, api.shared.clock.now()).await;
    let defined = defined.map_err(|error| Problem::from(error).mentioned())?;
    let told: Vec<_> =
        defined.iter().map(|series| Defined { id: series.number.to_string(), name: &series.name }).collect();
    json(StatusCode::CREATED, &told)
}

/// GET `/repositories/{repository}/timeseries/{series}`
pub(crate) const GET: Operation = operation("series", "getSeries", "One definition.")
    .gives(&[(200, done(json_of("Series")))])
    .refuses(FIND_REFUSALS)
    .about_one();

/// GET `/repositories/{repository}/timeseries/{series}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let repository = api.repository(&request).await?;
    let series = find_series(&repository, request.capture(1)).await?;
    tagged_answer(&request, series.fingerprint(), ok(&SeriesShape::from(&*series))?)
}

/// PUT `/repositories/{repository}/timeseries/{series}`
pub(crate) const REPLACE: Operation = operation(
    "series",
    "replaceSeries",
    "Replaces a definition: members that are left out get their defaults.",
)
.sent(json_of("Series"))
.gives(&[(200, done(json_of("Series")))])
.refuses(NEW_REFUSALS)
.about_one();

/// PUT `/repositories/{repository}/timeseries/{series}`: what is left out goes back to its default.
pub(crate) async fn replace(api: Api, request: Request) -> Result<Response, Problem> {
    change(api, request, SeriesGiven::replacement).await
}

/// PATCH `/repositories/{repository}/timeseries/{series}`
pub(crate) const PATCH: Operation = operation(
    "series",
    "changeSeries",
    "Changes a definition: members that are left out stay; null removes.",
)
.sent(json_of("Series"))
.gives(&[(200, done(json_of("Series")))])
.refuses(NEW_REFUSALS)
.about_one();

/// PATCH `/repositories/{repository}/timeseries/{series}`: what is left out stays.
pub(crate) async fn patch(api: Api, request: Request) -> Result<Response, Problem> {
    change(api, request, SeriesGiven::change).await
}

type Read = fn(SeriesGiven, &Definition, &AttributeContext) -> Result<DefinitionChange, String>;

async fn change(api: Api, request: Request, read: Read) -> Result<Response, Problem> {
    check_json(&request)?;
    let given: SeriesGiven = read_json(&request.body)?;
    let repository = api.repository_to_change(&request).await?;
    let series = find_series(&repository, request.capture(1)).await?;
    let context = AttributeContext::load(&repository, given.attributes()).await?;
    let change = read(given, &series, &context).map_err(Problem::bad_request)?;
    let changed = repository.change(SeriesRef::Id(series.number), change, api.shared.clock.now()).await;
    let changed = changed.map_err(|error| Problem::from(error).mentioned())?;
    ok(&SeriesShape::from(&*changed))
}

/// DELETE `/repositories/{repository}/timeseries/{series}`
pub(crate) const REMOVE: Operation =
    operation("series", "removeSeries", "Deletes a series and all its points.")
        .gives(DONE)
        .refuses(FIND_REFUSALS)
        .about_one();

/// DELETE `/repositories/{repository}/timeseries/{series}`: the definition and all points.
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let repository = api.repository_to_change(&request).await?;
    let series = find_series(&repository, request.capture(1)).await?;
    repository.remove(SeriesRef::Id(series.number), api.shared.clock.now()).await?;
    Ok(no_content())
}
