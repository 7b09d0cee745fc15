//! Query parameters: names checked, values read. What cannot be read is refused, naming the parameter.

mod declared;

use api_http::{Given, Parameter, ParameterError, Request, check_parameters};
use model_series::{
    Aggregation, Alignment, Duration, Gaps, Interval, IntervalUnit, Quotation, ReadRequest, Search,
    Timestamp, Zone,
};

use crate::media::{check_json_media, form_of_media};
use crate::problem::Problem;
use crate::shapes::{INTERVALS, TYPES, attribute_search, of_number, parse_day_start};
use crate::state::Limits;
use crate::times::{Moment, library_zone, parse_moment};
use crate::wire::Form;
pub(crate) use declared::*;

/// Checks the parameters of a request against its operation. Cost: nothing where there are none.
///
/// # Errors
///
/// `BadRequest`, naming a parameter that the operation does not have, or that is given twice and may not be; `NotAcceptable`
/// for a media type other than JSON where the answer has no other.
pub(crate) fn check(request: &Request) -> Result<(), Problem> {
    check_parameters(request)?;
    // Where points are answered, their form is chosen by it.
    let is_chosen = request.operation.query.iter().any(|group| group.contains(&MEDIA_TYPE));
    match request.params.get(MEDIA_TYPE.name) {
        Some(media) if !is_chosen => check_json_media(media),
        _ => Ok(()),
    }
}

/// Words why parameters are refused.
impl From<ParameterError> for Problem {
    fn from(error: ParameterError) -> Self {
        Self::bad_request(match error {
            ParameterError::Unknown { name, known } => unknown(&name, known),
            ParameterError::Twice(name) => format!("parameter {name} is given twice"),
            ParameterError::NoFlag(name, given) => {
                format!("parameter {name}: {given:?} is neither true nor false")
            }
            ParameterError::NoNumber { name, given, least, most: u64::MAX } => {
                format!("parameter {name}: {given:?} is not a whole number from {least} on")
            }
            ParameterError::NoNumber { name, given, least, most } => {
                format!("parameter {name}: {given:?} is not a whole number from {least} to {most}")
            }
            ParameterError::Value(name, reason) => format!("parameter {name}: {reason}"),
        })
    }
}

fn unknown(name: &str, known: &[&[Parameter]]) -> String {
    // What every operation has is not worth a mention.
    let known = known.iter().filter(|group| **group != ANY).flat_map(|group| group.iter());
    let known: Vec<_> = known.map(|parameter| parameter.name).collect();
    match known.is_empty() {
        true => format!("this resource has no parameters, so not {name:?}"),
        false => format!("this resource has no parameter {name:?}; it has {}", known.join(", ")),
    }
}

/// A time; a date is midnight of `zone`.
///
/// # Errors
///
/// `BadRequest`, naming the parameter.
pub(crate) fn instant(given: &Given<'_>, parameter: &Parameter, zone: &Zone) -> Result<Option<i64>, Problem> {
    Ok(given.parse(parameter, |text| parse_moment(text)?.in_zone(&library_zone(zone)))?)
}

/// The same, as a time of the system.
///
/// # Errors
///
/// `BadRequest`, naming the parameter.
pub(crate) fn stamp(
    given: &Given<'_>,
    parameter: &Parameter,
    zone: &Zone,
) -> Result<Option<Timestamp>, Problem> {
    Ok(instant(given, parameter, zone)?.map(system_time))
}

/// `interval` with its multiplier; `Some(None)` for `No`, which nothing multiplies.
fn interval_of(given: &Given<'_>) -> Result<Option<Option<Interval>>, Problem> {
    let unit = given.parse(&INTERVAL, parse_interval_unit)?;
    let multiplier = given.number(&INTERVAL_MULTIPLIER, u64::from(u32::MAX))?;
    if unit.is_none() && multiplier.is_some() {
        return Err(Problem::bad_request("parameter intervalMultiplier needs parameter interval"));
    }
    let multiplier = multiplier
        .map_or(1, |multiplier| u32::try_from(multiplier).expect("the number is checked to be no larger"));
    Ok(unit.map(|unit| unit.map(|unit| Interval::new(unit, multiplier))))
}

/// How points are to be read.
#[derive(Debug)]
pub(crate) struct ReadGiven {
    pub(crate) from: Option<Moment>,
    pub(crate) to: Option<Moment>,
    pub(crate) form: Option<Form>,
    /// All but the times, which hang on a zone.
    request: ReadRequest,
    as_of: Option<Moment>,
    quotation: QuotationGiven,
}

/// A quotation, its time as it was written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum QuotationGiven {
    #[default]
    Latest,
    Before(i64),
    LatestBefore(Moment),
    At(Moment),
}

impl ReadGiven {
    /// Reads the parameters.
    pub(crate) fn new(given: &Given<'_>) -> Result<Self, Problem> {
        Ok(Self {
            from: given.parse(&FROM, parse_moment)?,
            to: given.parse(&TO, parse_moment)?,
            form: form(given)?,
            request: ReadRequest {
                interval: interval_of(given)?.flatten(),
                zone: given.parse(&TIMEZONE, |name| Zone::get(name).map_err(|error| error.to_string()))?,
                day_start_seconds: given.parse(&DAY_START, parse_day_start)?,
                unit: given.get(&UNIT).map(Box::from),
                aggregation: given.parse(&AGGREGATION, parse_aggregation)?,
                gaps: given.parse(&GAPS, parse_gaps)?.unwrap_or_default(),
                ..ReadRequest::default()
            },
            as_of: given.parse(&AS_OF, parse_moment)?,
            quotation: given.parse(&QUOTATION, parse_quotation)?.unwrap_or_default(),
        })
    }

    /// The zone that is asked for.
    pub(crate) fn zone(&self) -> Option<&Zone> {
        self.request.zone.as_ref()
    }

    /// What is asked for; dates are midnight of `zone`.
    ///
    /// # Errors
    ///
    /// `BadRequest`, naming the parameter.
    pub(crate) fn request(self, zone: &Zone) -> Result<ReadRequest, Problem> {
        let zone = library_zone(zone);
        let at = |name: &str, moment: Moment| {
            let time = moment.in_zone(&zone);
            time.map_err(|reason| Problem::bad_request(format!("parameter {name}: {reason}")))
        };
        let quotation = match self.quotation {
            QuotationGiven::Latest => Quotation::Latest,
            QuotationGiven::Before(ahead) => Quotation::Before(ahead),
            QuotationGiven::LatestBefore(moment) => Quotation::LatestBefore(at("quotation", moment)?),
            QuotationGiven::At(moment) => Quotation::At(at("quotation", moment)?),
        };
        let as_of = self.as_of.map(|moment| at("asOf", moment)).transpose()?.map(system_time);
        Ok(ReadRequest { as_of, quotation, ..self.request })
    }
}

/// The form that a parameter names: `form`; `format`, as HAKOM TSM calls it; or `mediaType`.
fn form(given: &Given<'_>) -> Result<Option<Form>, Problem> {
    let (form, format) = (given.parse(&FORM, parse_form)?, given.parse(&FORMAT, parse_form)?);
    if form.is_some() && format.is_some() {
        return Err(Problem::bad_request(
            "parameter format: it is form by another name, which is given, too",
        ));
    }
    match (form.or(format), given.get(&MEDIA_TYPE)) {
        (None, Some(media)) => form_of_media(media).map(Some),
        (form, _) => Ok(form),
    }
}

/// A search and its page.
///
/// # Errors
///
/// `BadRequest`, naming the parameter.
pub(crate) fn search(given: &Given<'_>, limits: &Limits) -> Result<Search, Problem> {
    let id = given.get(&SEARCH_ID).map(|text| {
        text.parse().map_err(|_| Problem::bad_request(format!("parameter id: {text:?} is not an ID")))
    });
    Ok(Search {
        name: given.get(&SEARCH_NAME).map(Box::from),
        id: id.transpose()?,
        alignment: given.parse(&TYPE, parse_alignment)?,
        description: given.get(&DESCRIPTION).map(Box::from),
        attributes: given.all(&SEARCH_ATTRIBUTE).map(attribute_search).collect(),
        as_of: instant(given, &AS_OF, &Zone::utc())?,
        unit: given.get(&UNIT).map(Box::from),
        interval: interval_of(given)?,
        is_computed: given.parse(&COMPUTED, parse_bool)?,
        after: given.get(&AFTER).map(Box::from),
        limit: page_limit(given, limits)?,
    })
}

/// Rows of a page.
pub(crate) fn page_limit(given: &Given<'_>, limits: &Limits) -> Result<usize, Problem> {
    let Some(limit) = given.number(&LIMIT, u64::MAX)? else { return Ok(limits.page_default) };
    let limit = usize::try_from(limit).ok().filter(|limit| *limit <= limits.page_max);
    limit.ok_or_else(|| {
        let most = limits.page_max;
        Problem::bad_request(format!("parameter limit must not be more than {most} (page_rows_max)"))
    })
}

fn parse_bool(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("{text:?} is neither true nor false"))
}

/// A time as the system counts: microseconds.
fn system_time(time: i64) -> Timestamp {
    Timestamp(time.div_euclid(1000))
}

/// One of the words of a parameter, in any case.
fn word<T: Copy>(text: &str, words: &[(&str, T)]) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        format!("{text:?} is none of {}", words.join(", "))
    })
}

/// What an interval counts; `None` for `No`, which is none.
fn parse_interval_unit(text: &str) -> Result<Option<IntervalUnit>, String> {
    let words = INTERVALS.map(|(word, _, unit)| (word, unit));
    of_number(text, &INTERVALS).map_or_else(|| word(text, &words), Ok)
}

fn parse_alignment(text: &str) -> Result<Alignment, String> {
    let words = TYPES.map(|(word, _, alignment)| (word, alignment));
    of_number(text, &TYPES).map_or_else(|| word(text, &words), Ok)
}

/// The aggregations by name; `Avg`, `Min`, `Max` as HAKOM spells them, too.
fn parse_aggregation(text: &str) -> Result<Aggregation, String> {
    word(
        text,
        &[
            ("Sum", Aggregation::Sum),
            ("Avg", Aggregation::Average),
            ("Min", Aggregation::Minimum),
            ("Max", Aggregation::Maximum),
            ("First", Aggregation::First),
            ("Last", Aggregation::Last),
            ("Count", Aggregation::Count),
            ("TimeWeightedMean", Aggregation::TimeWeightedMean),
            ("Average", Aggregation::Average),
            ("Minimum", Aggregation::Minimum),
            ("Maximum", Aggregation::Maximum),
        ],
    )
}

fn parse_gaps(text: &str) -> Result<Gaps, String> {
    let words =
        [("None", Gaps::None), ("Null", Gaps::Null), ("Previous", Gaps::Previous), ("Linear", Gaps::Linear)];
    word(text, &words)
}

/// The forms by name.
pub(crate) fn parse_form(text: &str) -> Result<Form, String> {
    let words = [
        ("rows", Form::Rows),
        // As HAKOM TSM calls rows.
        ("timestamp", Form::Rows),
        ("compact", Form::Compact),
        ("arrow", Form::Arrow),
        ("csv", Form::Csv),
        ("parquet", Form::Parquet),
    ];
    word(text, &words)
}

/// `latest`, `before(P1D)`, `latestBefore(2026-01-01T00:00:00Z)`, `at(…)`, or the time alone.
fn parse_quotation(text: &str) -> Result<QuotationGiven, String> {
    if text.eq_ignore_ascii_case("latest") {
        return Ok(QuotationGiven::Latest);
    }
    let Some((word, argument)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) else {
        return parse_moment(text).map(QuotationGiven::At).map_err(|_| {
            format!("{text:?} is none of latest, before(DURATION), latestBefore(TIME), at(TIME) and a time")
        });
    };
    if word.eq_ignore_ascii_case("before") {
        let ahead = Duration::parse(argument).and_then(elapsed);
        return ahead.map(QuotationGiven::Before).ok_or_else(|| {
            format!("{argument:?} is not a duration of weeks, days, hours, minutes and seconds (P1DT12H)")
        });
    }
    if word.eq_ignore_ascii_case("latestBefore") {
        return parse_moment(argument).map(QuotationGiven::LatestBefore);
    }
    if word.eq_ignore_ascii_case("at") {
        return parse_moment(argument).map(QuotationGiven::At);
    }
    Err(format!("{word:?} is none of latest, before, latestBefore and at"))
}

/// A duration in nanoseconds, days of 24 hours; `None` if it counts months, or is too long.
fn elapsed(duration: Duration) -> Option<i64> {
    let Duration { is_negative, years, months, weeks, days, hours, minutes, seconds, nanoseconds } = duration;
    if is_negative || years > 0 || months > 0 {
        return None;
    }
    let days = i64::from(weeks) * 7 + i64::from(days);
    let minutes = (days * 24 + i64::from(hours)) * 60 + i64::from(minutes);
    let seconds = minutes.checked_mul(60)?.checked_add(i64::from(seconds))?;
    seconds.checked_mul(1_000_000_000)?.checked_add(i64::from(nanoseconds))
}

#[cfg(test)]
mod tests;
