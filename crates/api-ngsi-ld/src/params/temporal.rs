//! What a temporal read asks for: when, how much, and in which representation (4.11, 4.5.6 to 4.5.9, 4.5.19).
//!
//! Decisions where the standard leaves room:
//! - a query must say `timerel` and `timeAt` (5.7.4.4), a retrieval need not;
//! - `format` goes before `options`; `simplified` and `keyValues` mean `temporalValues`;
//! - `aggrMethods` and `aggrPeriodDuration` are refused beside another representation than `aggregatedValues`;
//! - GeoJSON is not offered: the standard has it for entities alone (6.3.4).

use api_http::{MediaType, Parameter, Request, accept};
use lang_ngsi_ld::time::parse_time;
use model_entities::{
    AggregateMethod, AttributeFilter, Deadline, HistoryRequest, Period, Query, Selector, TermId,
    TimeProperty, TimeSpan, Timestamp,
};
use tenant_contexts::Names;

use super::EntityParams;
use super::declared::{
    AGGR_METHODS, AGGR_PERIOD_DURATION, END_TIME_AT, FORMAT, LAST_N, OPTIONS, TIME_AT, TIMEPROPERTY, TIMEREL,
    TYPE,
};
use super::given::Given;
use super::order::parse_history_order;
use super::reading::Reading;
use crate::media::{JSON, JSON_LD};
use crate::problem::Problem;
use crate::render::Form;
use crate::state::Limits;

/// The media types of temporal representations, the preferred first (6.3.4).
const OFFERED: &[MediaType] = &[JSON, JSON_LD];

/// The methods by name (4.5.19.1).
const METHODS: &[(&str, AggregateMethod)] = &[
    ("totalCount", AggregateMethod::TotalCount),
    ("distinctCount", AggregateMethod::DistinctCount),
    ("sum", AggregateMethod::Sum),
    ("avg", AggregateMethod::Avg),
    ("min", AggregateMethod::Min),
    ("max", AggregateMethod::Max),
    ("stddev", AggregateMethod::Stddev),
    ("sumsq", AggregateMethod::Sumsq),
];

/// The representation of a history.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TemporalForm {
    /// Every instance whole (4.5.6 to 4.5.8), in the normalized or the concise form.
    Instances,
    /// Values and times (4.5.9).
    Values,
    /// What methods make of periods (4.5.19).
    Aggregates {
        /// The methods, in the order they were asked for.
        methods: Vec<AggregateMethod>,
        /// How long the periods are; nothing: one for all.
        period: Period,
    },
}

/// What a temporal read asks for.
#[derive(Debug)]
pub(crate) struct TemporalParams {
    entities: EntityParams,
    /// The representation.
    pub(crate) form: TemporalForm,
    /// Which time is meant.
    pub(crate) time: TimeProperty,
    /// When.
    pub(crate) span: TimeSpan,
    /// The `timeAt` from which on the span lies.
    pub(crate) begin: Option<Timestamp>,
    /// Only so many instances of each attribute and datasetId, the last.
    pub(crate) last_n: Option<usize>,
}

impl TemporalParams {
    /// Reads the parameters and headers of GET /temporal/entities. Cost: linear in the request.
    ///
    /// # Errors
    ///
    /// What is wrong, naming the parameter.
    pub(crate) fn of_query(request: &Request, names: &Names, limits: &Limits) -> Result<Self, Problem> {
        Self::of_given(&Given::of(request), request, names, limits, None)
    }

    /// `selected`: entities that a body selects otherwise than by parameters.
    pub(super) fn of_given(
        given: &Given<'_>,
        request: &Request,
        names: &Names,
        limits: &Limits,
        selected: Option<Vec<Selector>>,
    ) -> Result<Self, Problem> {
        let mut params = Self::read(given, request, names, limits)?;
        if given.get(&TIMEREL).is_none() {
            return Err(Problem::bad_request("a temporal query needs timerel and timeAt"));
        }
        let order = parse_history_order(given)?;
        params.entities = params.entities.asking(given, names, limits, order, selected)?;
        Ok(params)
    }

    /// Reads the parameters and headers of GET /temporal/entities/{id}. Cost: linear in the request.
    ///
    /// # Errors
    ///
    /// What is wrong, naming the parameter.
    pub(crate) fn of_entity(request: &Request, names: &Names, limits: &Limits) -> Result<Self, Problem> {
        let given = Given::of(request);
        let mut params = Self::read(&given, request, names, limits)?;
        if let Some(types) = given.get(&TYPE) {
            params.entities.query.types = lang_ngsi_ld::parse_types(types, names)?;
        }
        Ok(params)
    }

    fn read(given: &Given<'_>, request: &Request, names: &Names, limits: &Limits) -> Result<Self, Problem> {
        let (span, begin) = span(given)?;
        let (mut form, instances, sys_attrs) = form(given)?;
        if let (TemporalForm::Aggregates { period, .. }, Some(begin)) = (&mut form, begin) {
            *period = period.starting_at(begin);
        }
        let media = accept(request.header("accept"), OFFERED)
            .ok_or_else(|| Problem::not_acceptable(&OFFERED.join(", ")))?;
        let entities = EntityParams::read_as(given, request, names, limits, (instances, sys_attrs), media)?;
        let last_n = given.number(&LAST_N)?;
        if last_n == Some(0) {
            return Err(Problem::bad_request("parameter lastN must be at least 1"));
        }
        Ok(Self { entities, form, time: time_property(given)?, span, begin, last_n })
    }

    /// How the answer is to be.
    pub(crate) fn reading(&self) -> &Reading {
        &self.entities.reading
    }

    /// Which entities, asked at this time.
    pub(crate) fn query(&self, now: Timestamp, deadline: Deadline) -> Query {
        self.entities.query(now, deadline)
    }

    /// The types that a retrieved entity must have.
    pub(crate) fn types(&self) -> Option<&model_entities::TypeQuery> {
        self.entities.types()
    }

    /// The instances asked for.
    pub(crate) fn history(&self, instances_max: usize) -> HistoryRequest {
        let reading = &self.entities.reading;
        let attributes = match (&reading.pick, &reading.omit) {
            (Some(pick), omit) => {
                let omitted = |name| omit.as_ref().is_some_and(|omit| omit.is_whole(name));
                let names = pick.names().filter(|name| !omitted(*name));
                let scope = pick.scope && !omit.as_ref().is_some_and(|omit| omit.scope);
                AttributeFilter::Only(names.chain(scope.then_some(TermId::SCOPE)).map(Some).collect())
            }
            (None, Some(omit)) => {
                AttributeFilter::Except(omit.names().chain(omit.scope.then_some(TermId::SCOPE)).collect())
            }
            (None, None) => AttributeFilter::All,
        };
        HistoryRequest {
            attributes,
            datasets: reading.datasets.clone(),
            time: self.time,
            span: self.span,
            last_n: self.last_n,
            instances_max,
        }
    }
}

/// The representation, that of instances, and whether system attributes are shown (6.3.11, 6.3.12).
fn form(given: &Given<'_>) -> Result<(TemporalForm, Form, bool), Problem> {
    let (mut chosen, mut sys_attrs) = (None, false);
    for option in given.list(&OPTIONS)? {
        match option {
            "sysAttrs" => sys_attrs = true,
            "count" => {}
            option => {
                let next = form_of("options", option)?;
                if chosen.replace(next).is_some_and(|before| before != next) {
                    let detail = "parameter options asks for more than one representation";
                    return Err(Problem::bad_request(detail));
                }
            }
        }
    }
    if let Some(format) = given.get(&FORMAT) {
        chosen = Some(form_of("format", format)?);
    }
    let (mut form, mut instances) = (TemporalForm::Instances, Form::Normalized);
    match chosen.unwrap_or(Chosen::Instances(Form::Normalized)) {
        Chosen::Instances(chosen) => instances = chosen,
        Chosen::Values => form = TemporalForm::Values,
        Chosen::Aggregates => form = aggregates(given)?,
    }
    let aggregated = matches!(form, TemporalForm::Aggregates { .. });
    for parameter in [AGGR_METHODS, AGGR_PERIOD_DURATION] {
        if !aggregated && given.get(&parameter).is_some() {
            let name = parameter.name;
            return Err(Problem::bad_request(format!("parameter {name} needs options=aggregatedValues")));
        }
    }
    Ok((form, instances, sys_attrs))
}

#[derive(Clone, Copy, PartialEq)]
enum Chosen {
    Instances(Form),
    Values,
    Aggregates,
}

fn form_of(parameter: &str, text: &str) -> Result<Chosen, Problem> {
    Ok(match text {
        "normalized" => Chosen::Instances(Form::Normalized),
        "concise" => Chosen::Instances(Form::Concise),
        "temporalValues" | "simplified" | "keyValues" => Chosen::Values,
        "aggregatedValues" => Chosen::Aggregates,
        other => {
            return Err(Problem::invalid_request(format!(
                "parameter {parameter}: {other:?} is none of normalized, concise, temporalValues, simplified, \
                 keyValues, aggregatedValues{}",
                if parameter == "options" { ", sysAttrs, count" } else { "" }
            )));
        }
    })
}

/// `aggrMethods` and `aggrPeriodDuration` (4.5.19).
fn aggregates(given: &Given<'_>) -> Result<TemporalForm, Problem> {
    let mut methods = Vec::new();
    for name in given.list(&AGGR_METHODS)? {
        let Some((_, method)) = METHODS.iter().find(|(known, _)| *known == name) else {
            let known = METHODS.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
            return Err(Problem::bad_request(format!("parameter aggrMethods: {name:?} is none of {known}")));
        };
        if !methods.contains(method) {
            methods.push(*method);
        }
    }
    if methods.is_empty() {
        return Err(Problem::bad_request("options=aggregatedValues needs aggrMethods"));
    }
    let period = Period::parse(given.get(&AGGR_PERIOD_DURATION).unwrap_or("PT0S"));
    let period =
        period.map_err(|error| Problem::bad_request(format!("parameter aggrPeriodDuration: {error}")))?;
    Ok(TemporalForm::Aggregates { methods, period })
}

fn time_property(given: &Given<'_>) -> Result<TimeProperty, Problem> {
    Ok(match given.get(&TIMEPROPERTY) {
        None | Some("observedAt") => TimeProperty::ObservedAt,
        Some("createdAt") => TimeProperty::CreatedAt,
        Some("modifiedAt") => TimeProperty::ModifiedAt,
        Some("deletedAt") => TimeProperty::DeletedAt,
        Some(other) => {
            return Err(Problem::bad_request(format!(
                "parameter timeproperty: {other:?} is none of observedAt, createdAt, modifiedAt, deletedAt"
            )));
        }
    })
}

/// `timerel`, `timeAt` and `endTimeAt` (4.11): the span, and the time it begins at.
fn span(given: &Given<'_>) -> Result<(TimeSpan, Option<Timestamp>), Problem> {
    let time = |parameter: &Parameter| {
        let name = parameter.name;
        let parse = |text: &str| {
            let wrong = || {
                Problem::bad_request(format!(
                    "parameter {name} must be a date-time such as 2023-04-01T12:00:00Z, not {text:?}"
                ))
            };
            parse_time(text).ok_or_else(wrong)
        };
        given.get(parameter).map(parse).transpose()
    };
    let missing =
        |name: &str, relation: &str| Problem::bad_request(format!("timerel={relation} needs {name}"));
    let (at, end) = (time(&TIME_AT)?, time(&END_TIME_AT)?);
    let relation = given.get(&TIMEREL);
    if end.is_some() && relation != Some("between") {
        return Err(Problem::bad_request("parameter endTimeAt needs timerel=between"));
    }
    match relation {
        None if at.is_some() => Err(Problem::bad_request("parameter timeAt needs timerel")),
        None => Ok((TimeSpan::ALL, None)),
        Some("before") => Ok((TimeSpan::before(at.ok_or_else(|| missing("timeAt", "before"))?), None)),
        Some("after") => Ok((TimeSpan::after(at.ok_or_else(|| missing("timeAt", "after"))?), at)),
        Some("between") => {
            let at = at.ok_or_else(|| missing("timeAt", "between"))?;
            let end = end.ok_or_else(|| missing("endTimeAt", "between"))?;
            if end < at {
                return Err(Problem::bad_request("parameter endTimeAt must not be before timeAt"));
            }
            Ok((TimeSpan::between(at, end), Some(at)))
        }
        Some(other) => Err(Problem::bad_request(format!(
            "parameter timerel must be before, after or between, not {other:?}"
        ))),
    }
}

#[cfg(test)]
mod tests;
