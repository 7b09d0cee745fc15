//! Reads the history of entities, one or a page of them, cut to a limit where it is large, and answers with it.

use std::sync::atomic::AtomicBool;

use api_http::{Request, Response};
use http::{HeaderValue, StatusCode, header};
use lang_json::ArrayWriter;
use lang_ngsi_ld::time::write_time;
use model_entities::{
    AggregateHistory, AttributeFilter, EntityHistory, HistoryRequest, TermId, TimeProperty, TimeSpan,
    Timestamp,
};

use super::reads::{no_such_attributes, plan, read_answer};
use super::{Page, add_paging};
use crate::params::{TemporalForm, TemporalParams};
use crate::problem::Problem;
use crate::render::{RenderPlan, write_aggregates, write_history};
use crate::request::{Session, deadline};
use crate::state::Limits;

/// About how long an instance is in an answer, to begin with.
const INSTANCE_BYTES: usize = 160;

/// Histories that were read for one answer.
#[derive(Default)]
struct Histories {
    /// Each with its aggregates, if those were asked for.
    entities: Vec<(EntityHistory, Vec<AggregateHistory>)>,
    /// The part of the asked span that the answer holds, if it is not all of it.
    covered: Option<TimeSpan>,
}

/// The answer to a retrieval of one entity's history (5.7.3).
pub(crate) async fn answer_history(
    session: &Session,
    id: &str,
    params: &TemporalParams,
    limits: &Limits,
) -> Result<Response, Problem> {
    let mut reader = Reader::new(session, params, limits);
    if !reader.read(id).await? {
        return Err(Problem::no_such_entity(id));
    }
    let histories = reader.finish();
    let Some((history, aggregates)) = histories.entities.first() else {
        return Err(Problem::no_such_entity(id));
    };
    if params.types().is_some_and(|types| !types.selects(history.types.iter().copied())) {
        return Err(Problem::not_found(format!("entity {id:?} is of another type")));
    }
    let nothing = !has_attributes(history) && aggregates.is_empty();
    if nothing && !params.reading().required.is_empty() && !has_any(session, id, params).await? {
        return Err(no_such_attributes(id));
    }
    let mut out = String::with_capacity(capacity(&histories));
    let altered = AtomicBool::new(false);
    write(&mut out, history, aggregates, params, &history_plan(session, params, &altered));
    Ok(answered(session, params, &histories, &altered, out))
}

/// The answer to a query of histories (5.7.4).
pub(crate) async fn answer_histories(
    session: &Session,
    request: &Request,
    params: &TemporalParams,
    limits: &Limits,
) -> Result<Response, Problem> {
    let query = params.query(session.now, deadline(request));
    let found = session.entities.query_history(&query, params.time, params.span).await;
    let found = found.map_err(|error| session.problem(&error))?;
    let mut reader = Reader::new(session, params, limits);
    for id in &found.ids {
        // One that went meanwhile is left out.
        reader.read(id).await?;
    }
    let histories = reader.finish();
    let altered = AtomicBool::new(false);
    let plan = history_plan(session, params, &altered);
    let mut out = String::with_capacity(capacity(&histories));
    let mut array = ArrayWriter::begin(&mut out);
    for (history, aggregates) in &histories.entities {
        write(array.item(), history, aggregates, params, &plan);
    }
    array.end();
    let mut response = answered(session, params, &histories, &altered, out);
    let page = Page {
        offset: query.offset,
        limit: query.limit,
        rows: query.limit,
        count: found.count,
        more: found.more,
    };
    add_paging(&mut response, request, &page);
    Ok(response)
}

/// Reads histories one after the other; together they never hold more than twice the limit of instances.
struct Reader<'a> {
    session: &'a Session,
    params: &'a TemporalParams,
    request: HistoryRequest,
    count: usize,
    histories: Histories,
}

impl<'a> Reader<'a> {
    fn new(session: &'a Session, params: &'a TemporalParams, limits: &Limits) -> Self {
        let request = params.history(limits.temporal_instances_max);
        Self { session, params, request, count: 0, histories: Histories::default() }
    }

    /// Reads one history; `false` if there is none.
    async fn read(&mut self, id: &str) -> Result<bool, Problem> {
        let (entities, request) = (&self.session.entities, &self.request);
        let refused = |error| self.session.problem(&error);
        let TemporalForm::Aggregates { methods, period } = &self.params.form else {
            let history = entities.read_history(id, request).await.map_err(refused)?;
            let Some(history) = history else { return Ok(false) };
            self.add(history);
            return Ok(true);
        };
        let Some(history) = entities.history(id).await.map_err(refused)? else { return Ok(false) };
        let found = entities.aggregate_history(id, request, methods, Some(period)).await.map_err(refused)?;
        let Some(aggregates) = found else { return Ok(false) };
        self.count += aggregates.iter().map(|one| one.buckets().len()).sum::<usize>();
        if self.count > request.instances_max {
            return Err(Problem::too_many_results(format!(
                "the answer has more than {} periods: ask for a longer aggrPeriodDuration",
                request.instances_max
            )));
        }
        self.histories.entities.push((history, aggregates));
        Ok(true)
    }

    fn add(&mut self, history: EntityHistory) {
        if let Some(covered) = history.covered {
            self.narrow(covered);
        }
        self.count += instances(&history);
        self.histories.entities.push((history, Vec::new()));
        if self.count > self.request.instances_max.saturating_mul(2) {
            self.cut();
        }
    }

    /// Leaves out what lies beyond the part of the span that the limit allows.
    fn cut(&mut self) {
        let time = self.request.time;
        let mut times: Vec<Timestamp> = Vec::with_capacity(self.count);
        for series in self.histories.entities.iter().flat_map(|(history, _)| &history.attributes) {
            times.extend(series.instances().filter_map(|instance| instance.time(time)));
        }
        if let Some(covered) = self.request.part(&mut times) {
            self.narrow(covered);
        }
    }

    fn narrow(&mut self, covered: TimeSpan) {
        self.request.span = covered;
        self.histories.covered = Some(covered);
        let histories = &mut self.histories.entities;
        histories.iter_mut().for_each(|(history, _)| history.narrow(self.request.time, covered));
        self.count = histories.iter().map(|(history, _)| instances(history)).sum();
    }

    fn finish(mut self) -> Histories {
        let aggregated = matches!(self.params.form, TemporalForm::Aggregates { .. });
        if !aggregated && self.count > self.request.instances_max {
            self.cut();
        }
        if self.histories.covered.is_some() && self.histories.entities.len() > 1 {
            // What has nothing within the part is met in another one.
            self.histories.entities.retain(|(history, _)| !history.attributes.is_empty());
        }
        self.histories
    }
}

fn instances(history: &EntityHistory) -> usize {
    history.attributes.iter().map(model_entities::InstanceHistory::len).sum()
}

/// Whether an entity's history knows one of the attributes asked for at any time.
async fn has_any(session: &Session, id: &str, params: &TemporalParams) -> Result<bool, Problem> {
    let time = TimeProperty::ModifiedAt;
    let attributes = AttributeFilter::Only(params.reading().required.clone());
    let request = HistoryRequest {
        attributes,
        time,
        span: TimeSpan::ALL,
        last_n: Some(1),
        datasets: Vec::new(),
        ..params.history(1)
    };
    let found = session.entities.read_history(id, &request).await.map_err(|error| session.problem(&error))?;
    Ok(found.is_some_and(|history| !history.attributes.is_empty()))
}

/// Whether there is an instance of anything but scopes.
fn has_attributes(history: &EntityHistory) -> bool {
    history.attributes.iter().any(|series| series.attribute() != TermId::SCOPE)
}

fn history_plan<'a>(
    session: &'a Session,
    params: &'a TemporalParams,
    altered: &'a AtomicBool,
) -> RenderPlan<'a> {
    let reading = params.reading();
    RenderPlan { release: reading.release(altered), datasets: &[], ..plan(reading, session) }
}

fn write(
    out: &mut String,
    history: &EntityHistory,
    aggregates: &[AggregateHistory],
    params: &TemporalParams,
    plan: &RenderPlan<'_>,
) {
    match &params.form {
        TemporalForm::Instances => write_history(out, history, params.time, false, plan),
        TemporalForm::Values => write_history(out, history, params.time, true, plan),
        TemporalForm::Aggregates { methods, .. } => write_aggregates(out, history, aggregates, methods, plan),
    }
}

fn capacity(histories: &Histories) -> usize {
    let aggregated = |all: &[AggregateHistory]| all.iter().map(|one| one.buckets().len()).sum::<usize>();
    let count =
        histories.entities.iter().map(|(history, all)| instances(history) + aggregated(all)).sum::<usize>();
    count * INSTANCE_BYTES + histories.entities.len() * 256 + 64
}

/// 200, or 206 with the range of time that the answer holds (6.3.10).
fn answered(
    session: &Session,
    params: &TemporalParams,
    histories: &Histories,
    altered: &AtomicBool,
    body: String,
) -> Response {
    let mut response = read_answer(params.reading(), session, altered, body);
    if histories.covered.is_some() {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        let range = content_range(params, histories, session.now);
        let range = HeaderValue::try_from(range).expect("date-times and numbers are visible ASCII");
        response.headers_mut().insert(header::CONTENT_RANGE, range);
    }
    response
}

/// `date-time <start>-<end>/<size>`: from the begin of the asked span to the last time in the answer; with `lastN` backwards
/// from its end, and `lastN` is the size. An open begin or end is that of what is in the answer.
fn content_range(params: &TemporalParams, histories: &Histories, now: Timestamp) -> String {
    let series = histories.entities.iter().flat_map(|(history, _)| &history.attributes);
    let times = series.flat_map(|series| {
        let (mut one, mut other) = (series.instances(), series.instances());
        let ends = [one.next(), other.next_back()];
        ends.into_iter().flatten().filter_map(|instance| instance.time(params.time))
    });
    let (first, last) =
        times.fold((None, None), |(first, last): (Option<Timestamp>, Option<Timestamp>), time| {
            (
                Some(first.map_or(time, |first| first.min(time))),
                Some(last.map_or(time, |last| last.max(time))),
            )
        });
    let (first, last) = (first.unwrap_or(now), last.unwrap_or(now));
    let (start, end) = match params.last_n {
        Some(_) if params.span.to == TimeSpan::ALL.to => (last, first),
        Some(_) => (params.span.to, first),
        None => (params.begin.unwrap_or(first), last),
    };
    let mut range = String::from("date-time ");
    write_time(&mut range, start);
    range.push('-');
    write_time(&mut range, end);
    range.push('/');
    match params.last_n {
        Some(size) => range.push_str(itoa::Buffer::new().format(size)),
        None => range.push('*'),
    }
    range
}
