//! `/timeseries/{series}/data`: points of one series.

use api_http::{Given, Operation, Request, Response, Share, no_content};
use model_series::{Definition, TimeRange, Timestamp};
use serde::Serialize;

use super::answer::answer_one;
use super::reading::Reading;
use super::writing::{Purpose, write};
use super::{find_series, ok};
use crate::media::{answer_form, body_form};
use crate::operation::{
    DONE, FIND_REFUSALS, READ_REFUSALS, WRITE_REFUSALS, done, gives_points, json_of, operation, points_sent,
};
use crate::params::{self, ReadGiven};
use crate::problem::Problem;
use crate::state::Api;
use crate::times::{format_stamp, format_time};
use crate::wire::{self, PointsReader, Shape, WireError};

/// How much of a body is read before room for what came of it is asked for.
const PIECE_BYTES: usize = 256 * 1024;

/// GET `/repositories/{repository}/timeseries/{series}/data`
pub(crate) const READ: Operation = operation("data", "readData", "Points of a series.")
    .query(&[params::READ])
    .gives(&[(200, gives_points("Data"))])
    .refuses(READ_REFUSALS);

/// GET `/repositories/{repository}/timeseries/{series}/data`
pub(crate) async fn read(api: Api, request: Request) -> Result<Response, Problem> {
    let given = ReadGiven::new(&Given::of(&request))?;
    let form = answer_form(&request, given.form)?;
    let repository = api.repository(&request).await?;
    let series = find_series(&repository, request.capture(1)).await?;
    let limits = &api.shared.limits;
    let reading = Reading::new(&repository, given, std::slice::from_ref(&series), limits).await?;
    answer_one(reading, &series, form).await
}

/// PUT `/repositories/{repository}/timeseries/{series}/data`
pub(crate) const PUT: Operation =
    operation("data", "putData", "Writes points. With from and to, they replace all points in that range.")
        .query(&[params::WRITE, params::ANY])
        .sent(points_sent("Points"))
        .gives(DONE)
        .refuses(WRITE_REFUSALS);

/// PATCH `/repositories/{repository}/timeseries/{series}/data`
pub(crate) const PATCH: Operation = operation("data", "patchData", "Another name for PUT.")
    .query(&[params::WRITE, params::ANY])
    .sent(points_sent("Points"))
    .gives(DONE)
    .refuses(WRITE_REFUSALS);

/// PUT and PATCH `/repositories/{repository}/timeseries/{series}/data`: writes points; with `from` and `to` they replace
/// all points in that range.
pub(crate) async fn put(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let now = api.shared.clock.now();
    let repository = api.repository(&request).await?;
    let series = find_series(&repository, request.capture(1)).await?;
    let quotation = params::instant(&given, &params::QUOTATION_TIME, &series.zone)?;
    let mut body = read_body(&api, &request, &series, &mut request.memory.share()).await?;
    let range = range(&given, &series)?;
    if body.is_empty() && range.is_some() {
        // CSV and Arrow without a row: the range is emptied.
        body.push(wire::Given::nothing());
    }
    for given in &mut body {
        given.series = None;
    }
    let series = vec![series; body.len()];
    write(&repository, series, body, Purpose { quotation, range, now }).await?;
    Ok(no_content())
}

/// The points of a body about one series, in steps: a large one takes room as it is read.
async fn read_body(
    api: &Api,
    request: &Request,
    series: &Definition,
    share: &mut Share,
) -> Result<Vec<wire::Given>, Problem> {
    // The address names the series where the body does not.
    let refuse = |mut error: WireError| {
        error.series.get_or_insert_with(|| request.capture(1).to_owned());
        Problem::from(error)
    };
    let reader = PointsReader::new(body_form(request)?, Shape::Single, api.shared.limits.read())?;
    let mut reader = reader.addressed(&[&series.name, &series.number.to_string()]);
    for piece in request.body.chunks(PIECE_BYTES) {
        reader.feed(piece).map_err(refuse)?;
        share.grow(reader.held_bytes()).await?;
    }
    reader.finish().map_err(refuse)
}

/// DELETE `/repositories/{repository}/timeseries/{series}/data`
pub(crate) const REMOVE: Operation = operation(
    "data",
    "removeData",
    "Deletes the points in a time range; from or to, or both, must be given.",
)
.query(&[params::WRITE, params::ANY])
.gives(DONE)
.refuses(FIND_REFUSALS);

/// DELETE `/repositories/{repository}/timeseries/{series}/data`: the points from `from` to `to`.
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let repository = api.repository(&request).await?;
    let series = find_series(&repository, request.capture(1)).await?;
    let quotation = params::instant(&given, &params::QUOTATION_TIME, &series.zone)?;
    let whole = "parameter from or to, or both, must be given (from=1700-01-01 selects all points)";
    let range = range(&given, &series)?.ok_or_else(|| Problem::bad_request(whole))?;
    repository.delete_range(&series, quotation, range, api.shared.clock.now()).await?;
    Ok(no_content())
}

/// `from` and `to`, if both or one of them is given.
fn range(given: &Given<'_>, series: &Definition) -> Result<Option<TimeRange>, Problem> {
    let at = |parameter| params::instant(given, parameter, &series.zone);
    let (from, to) = (at(&params::FROM)?, at(&params::TO)?);
    if from.is_none() && to.is_none() {
        return Ok(None);
    }
    let range = TimeRange { from: from.unwrap_or(i64::MIN), to: to.unwrap_or(i64::MAX) };
    match range.is_empty() {
        true => Err(Problem::bad_request("parameter to: it must be after from")),
        false => Ok(Some(range)),
    }
}

/// The writes to an audited series.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Modifications<'a> {
    #[serde(rename = "ID")]
    id: String,
    name: &'a str,
    modifications: Vec<Modification>,
}

/// One write: from the first point to the last; a removal, from its first instant to the first behind.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Modification {
    written: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    points: u32,
}

impl From<model_series::Modification> for Modification {
    fn from(modification: model_series::Modification) -> Self {
        let model_series::Modification { written, first, last, points, .. } = modification;
        let to = if points == 0 { last.saturating_add(1) } else { last };
        Self {
            written: format_stamp(written),
            from: (first > i64::MIN).then(|| format_time(first)),
            to: (to < i64::MAX).then(|| format_time(to)),
            points,
        }
    }
}

/// GET `/repositories/{repository}/timeseries/{series}/data/modifications`
pub(crate) const MODIFICATIONS: Operation =
    operation("data", "listModifications", "Lists the writes to an audited series.")
        .query(&[params::MODIFICATIONS, params::ANY])
        .gives(&[(200, done(json_of("Modifications")))])
        .refuses(FIND_REFUSALS);

/// GET `/repositories/{repository}/timeseries/{series}/data/modifications`
pub(crate) async fn modifications(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let repository = api.repository(&request).await?;
    let series = find_series(&repository, request.capture(1)).await?;
    let quotation = params::instant(&given, &params::QUOTATION_TIME, &series.zone)?;
    let since = params::stamp(&given, &params::WRITTEN_FROM, &series.zone)?.unwrap_or(Timestamp(i64::MIN));
    let until = params::stamp(&given, &params::WRITTEN_TO, &series.zone)?.unwrap_or(Timestamp(i64::MAX));
    let range = range(&given, &series)?.unwrap_or(TimeRange::ALL);
    let found = repository.modifications(&series, quotation, range, (since, until)).await?;
    let modifications = found.into_iter().map(Modification::from).collect();
    ok(&Modifications { id: series.number.to_string(), name: &series.name, modifications })
}

/// The stored forecasts of a series.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Quotations<'a> {
    #[serde(rename = "ID")]
    id: String,
    name: &'a str,
    quotations: Vec<String>,
}

/// GET `/repositories/{repository}/timeseries/{series}/quotations`
pub(crate) const QUOTATIONS: Operation =
    operation("data", "listQuotations", "Lists the issue times of the forecasts of a series, latest first.")
        .query(&[params::QUOTATIONS, params::ANY])
        .gives(&[(200, done(json_of("Quotations")))])
        .refuses(FIND_REFUSALS);

/// GET `/repositories/{repository}/timeseries/{series}/quotations`: issue times, latest first.
pub(crate) async fn quotations(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let limit = params::page_limit(&given, &api.shared.limits)?;
    let repository = api.repository(&request).await?;
    let series = find_series(&repository, request.capture(1)).await?;
    let before = params::instant(&given, &params::BEFORE, &series.zone)?;
    let found = repository.quotations(&series, before, limit).await?;
    let quotations = found.into_iter().map(format_time).collect();
    ok(&Quotations { id: series.number.to_string(), name: &series.name, quotations })
}
