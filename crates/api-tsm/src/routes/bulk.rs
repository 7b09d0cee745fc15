//! `/timeseriescollections/data`: points of many series in one request.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use api_http::{
    DRAIN_BYTES_MAX, Given, Operation, Parameter, Refusal, Request, RequestStream, Response, Share,
    no_content,
};
use model_series::{Definition, Repository, SEARCH_PAGE_MAX, Search, SeriesRef, Zone};
use serde_json::{Map, Value};

use super::answer::{answer_many, answer_total};
use super::check_json;
use super::reading::{Reading, common_zone};
use super::writing::{Purpose, found, named, write};
use crate::media::{answer_form, body_form};
use crate::operation::{DONE, READ_REFUSALS, WRITE_REFUSALS, gives_points, json_of, operation, points_sent};
use crate::params::{self, ReadGiven};
use crate::problem::Problem;
use crate::shapes::{attribute_search, read_json};
use crate::state::Api;
use crate::times::{Moment, library_zone, parse_moment};
use crate::wire::{self, Form, PointsReader, Shape};

/// Which series a request is about.
#[derive(Debug, Default)]
struct Selection {
    names: Vec<String>,
    ids: Vec<String>,
    attributes: Vec<String>,
}

impl Selection {
    fn of(given: &Given<'_>) -> Self {
        let all = |parameter| given.all(parameter).map(str::to_owned).collect();
        Self { names: all(&params::NAME), ids: all(&params::ID), attributes: all(&params::ATTRIBUTE) }
    }

    /// The series: those with names, those with IDs, those with the attributes; each once.
    async fn resolve(&self, api: &Api, repository: &Repository) -> Result<Vec<Arc<Definition>>, Problem> {
        let mut refs: Vec<_> = self.names.iter().map(|name| SeriesRef::Name(name)).collect();
        for id in &self.ids {
            let number = id.parse().map_err(|_| Problem::bad_request(format!("{id:?} is not an ID")))?;
            refs.push(SeriesRef::Id(number));
        }
        if refs.is_empty() && self.attributes.is_empty() {
            return Err(Problem::bad_request("no series is named: give name, id or attribute"));
        }
        let max = api.shared.limits.request_series_max;
        let beyond = |count: usize| {
            let message = format!("{count} series are more than request_series_max, {max}");
            if count > max { Err(Problem::too_large(message)) } else { Ok(()) }
        };
        beyond(refs.len())?;
        let mut series = found(repository, &refs).await?;
        if !self.attributes.is_empty() {
            self.search(repository, max, &mut series).await?;
            beyond(series.len())?;
        }
        let mut seen = HashSet::with_capacity(series.len());
        series.retain(|series| seen.insert(series.number));
        Ok(series)
    }

    /// Appends the series that have all the attributes, up to one more than `max` in all.
    async fn search(
        &self,
        repository: &Repository,
        max: usize,
        series: &mut Vec<Arc<Definition>>,
    ) -> Result<(), Problem> {
        let attributes = self.attributes.iter().map(|text| attribute_search(text)).collect();
        let mut search = Search { attributes, limit: SEARCH_PAGE_MAX, ..Search::default() };
        while series.len() <= max {
            let page = repository.search(&search).await?;
            series.extend(page.series);
            match page.next {
                Some(next) => search.after = Some(next),
                None => break,
            }
        }
        Ok(())
    }
}

/// GET `/repositories/{repository}/timeseriescollections/data`
pub(crate) const READ: Operation =
    operation("bulk", "readMany", "Points of many series, in the order requested.")
        .query(&[params::SELECTION, params::READ])
        .gives(&[(200, gives_points("Collection"))])
        .refuses(READ_REFUSALS);

/// GET `/repositories/{repository}/timeseriescollections/data`
pub(crate) async fn read(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    answer(&api, &request, &Selection::of(&given), ReadGiven::new(&given)?).await
}

/// POST `/repositories/{repository}/timeseriescollections/data`
pub(crate) const READ_BY_BODY: Operation =
    operation("bulk", "readManyByBody", "The same as GET, for selections that are too long for a URL.")
        .query(&[params::READ_BY_BODY])
        .sent(json_of("Selection"))
        .gives(&[(200, gives_points("Collection"))])
        .refuses(&[400, 404, 406, 413, 415]);

/// POST `/repositories/{repository}/timeseriescollections/data`: the same, for names that fit into no URL.
pub(crate) async fn read_by_body(api: Api, request: Request) -> Result<Response, Problem> {
    let (selection, given) = posted(&request)?;
    answer(&api, &request, &selection, given).await
}

async fn answer(
    api: &Api,
    request: &Request,
    selection: &Selection,
    given: ReadGiven,
) -> Result<Response, Problem> {
    let (form, series, reading) = begin(api, request, selection, given).await?;
    answer_many(reading, series, form, api.shared.limits.read_tasks).await
}

/// The form of an answer, the series it is of, and how they are read.
async fn begin(
    api: &Api,
    request: &Request,
    selection: &Selection,
    given: ReadGiven,
) -> Result<(Form, Vec<Arc<Definition>>, Reading), Problem> {
    let form = answer_form(request, given.form)?;
    let repository = api.repository(request).await?;
    let series = selection.resolve(api, &repository).await?;
    let reading = Reading::new(&repository, given, &series, &api.shared.limits).await?;
    Ok((form, series, reading))
}

/// Reads a selection and the parameters of a read from a body: the names of the query in PascalCase. The media type of the
/// answer may also be in the address, as everywhere.
fn posted(request: &Request) -> Result<(Selection, ReadGiven), Problem> {
    let mut given = Given::of(request);
    check_json(request)?;
    let mut body: Map<String, Value> = read_json(&request.body)?;
    let names = texts(&mut body, "Names")?;
    let ids = texts(&mut body, "IDs")?;
    let attributes = texts(&mut body, "Attributes")?;
    for (member, value) in &body {
        let is_pascal = member.starts_with(|first: char| first.is_ascii_uppercase());
        let is_named = |known: &&Parameter| is_pascal && known.name.eq_ignore_ascii_case(member);
        let Some(parameter) = params::READ.iter().find(is_named) else {
            return Err(Problem::bad_request(format!("the body: unknown member {member:?}")));
        };
        if !value.is_null() {
            given.add(parameter, text(member, value)?)?;
        }
    }
    Ok((Selection { names, ids, attributes }, ReadGiven::new(&given)?))
}

/// A list of texts, taken out of a body; none if it is not there.
fn texts(body: &mut Map<String, Value>, member: &str) -> Result<Vec<String>, Problem> {
    match body.shift_remove(member) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            items.iter().map(|item| text(member, item).map(Cow::into_owned)).collect()
        }
        Some(_) => Err(Problem::bad_request(format!("the body: {member:?} must be a list"))),
    }
}

/// A text, or a number as text.
fn text<'a>(member: &str, value: &'a Value) -> Result<Cow<'a, str>, Problem> {
    match value {
        Value::String(text) => Ok(Cow::Borrowed(text)),
        Value::Number(number) => Ok(Cow::Owned(number.to_string())),
        _ => Err(Problem::bad_request(format!("the body: {member:?} must be a text, not {value}"))),
    }
}

/// PUT `/repositories/{repository}/timeseriescollections/data`
pub(crate) const PUT: Operation = operation(
    "bulk",
    "putMany",
    "Writes points of many series. Everything is checked before anything is stored; then each series is written atomically.",
)
.query(&[&[params::QUOTATION_TIME], params::ANY])
.sent(points_sent("Collection"))
.gives(DONE)
.refuses(WRITE_REFUSALS);

/// PUT `/repositories/{repository}/timeseriescollections/data`: checked whole, then stored.
pub(crate) async fn put(api: Api, request: Request, mut body: RequestStream) -> Result<Response, Problem> {
    let read = read_points(&api, &request, &mut body, &mut request.memory.share()).await;
    let (given, quotation) = match read {
        Ok(read) => read,
        Err(problem) => {
            // What was read has gone; the room for it is free.
            request.memory.take().await;
            body.drain(DRAIN_BYTES_MAX).await;
            return Err(problem);
        }
    };
    let repository = api.repository(&request).await?;
    let series = named(&repository, &given).await?;
    let quotation = quotation.map(|moment| issued(moment, &series)).transpose()?;
    let now = api.shared.clock.now();
    write(&repository, series, given, Purpose { quotation, range: None, now }).await?;
    Ok(no_content())
}

/// The issue time of a quotation of many series: a date is midnight of their zone if they have one, else of UTC.
fn issued(moment: Moment, series: &[Arc<Definition>]) -> Result<i64, Problem> {
    let zone = common_zone(series).unwrap_or_else(Zone::utc);
    let time = moment.in_zone(&library_zone(&zone));
    time.map_err(|reason| Problem::bad_request(format!("parameter quotation: {reason}")))
}

async fn read_points(
    api: &Api,
    request: &Request,
    body: &mut RequestStream,
    share: &mut Share,
) -> Result<(Vec<wire::Given>, Option<Moment>), Problem> {
    let given = Given::of(request);
    let quotation = given.parse(&params::QUOTATION_TIME, parse_moment)?;
    let mut reader = PointsReader::new(body_form(request)?, Shape::Bulk, api.shared.limits.read())?;
    while let Some(piece) = body.next().await.map_err(|refusal: Refusal| Problem::from(&refusal))? {
        reader.feed(&piece)?;
        share.grow(reader.held_bytes()).await?;
    }
    Ok((reader.finish()?, quotation))
}

/// GET `/repositories/{repository}/timeseriescollections/data/sum`
pub(crate) const SUM: Operation = operation("bulk", "sumMany", "The sum of many series as one series.")
    .query(&[params::SELECTION, params::READ])
    .gives(&[(200, gives_points("Data"))])
    .refuses(READ_REFUSALS);

/// GET `/repositories/{repository}/timeseriescollections/data/sum`
pub(crate) async fn sum(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    answer_sum(&api, &request, &Selection::of(&given), ReadGiven::new(&given)?).await
}

/// POST `/repositories/{repository}/timeseriescollections/data/sum`
pub(crate) const SUM_BY_BODY: Operation =
    operation("bulk", "sumManyByBody", "The same as GET, for selections that are too long for a URL.")
        .query(&[params::READ_BY_BODY])
        .sent(json_of("Selection"))
        .gives(&[(200, gives_points("Data"))])
        .refuses(&[400, 404, 406, 413, 415]);

/// POST `/repositories/{repository}/timeseriescollections/data/sum`: the same, for names that fit into no URL.
pub(crate) async fn sum_by_body(api: Api, request: Request) -> Result<Response, Problem> {
    let (selection, given) = posted(&request)?;
    answer_sum(&api, &request, &selection, given).await
}

async fn answer_sum(
    api: &Api,
    request: &Request,
    selection: &Selection,
    given: ReadGiven,
) -> Result<Response, Problem> {
    let (form, series, reading) = begin(api, request, selection, given).await?;
    answer_total(&reading, &series, form, api.shared.limits.read_tasks).await
}
