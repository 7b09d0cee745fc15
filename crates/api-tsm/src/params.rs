//! Query parameters: names checked, values read. What cannot be read is refused, naming the parameter.

use std::borrow::Cow;

use api_http::Request;
use model_series::{
    Aggregation, Alignment, Duration, Gaps, Interval, IntervalUnit, Quotation, ReadRequest, Search,
    Timestamp, Zone,
};

use crate::problem::Problem;
use crate::shapes::{attribute_search, parse_day_start};
use crate::state::Limits;
use crate::times::{Moment, parse_instant, parse_moment};
use crate::wire::Form;

/// Parameters of every read of points.
pub(crate) const READ: &[&str] = &[
    "from",
    "to",
    "interval",
    "intervalMultiplier",
    "dayStart",
    "unit",
    "timezone",
    "aggregation",
    "gaps",
    "asOf",
    "quotation",
    "form",
];

/// Parameters of a search, apart from those of pages.
pub(crate) const SEARCH: &[&str] = &[
    "name",
    "id",
    "type",
    "description",
    "attribute",
    "unit",
    "interval",
    "intervalMultiplier",
    "computed",
    "asOf",
];

/// Parameters of writes to one series.
pub(crate) const WRITE: &[&str] = &["from", "to", "quotation"];

/// Parameters that say which series.
pub(crate) const SELECTION: &[&str] = &["name", "id", "attribute"];

/// Parameters of modifications.
pub(crate) const MODIFICATIONS: &[&str] = &["from", "to", "writtenFrom", "writtenTo", "quotation"];

/// Parameters of a list of quotations.
pub(crate) const QUOTATIONS: &[&str] = &["before", "limit"];

/// Parameters of pages.
pub(crate) const PAGE: &[&str] = &["limit", "after"];

/// Parameters that may be repeated.
const REPEATABLE: &[&str] = &["name", "id", "attribute"];

/// Parameters as they were given.
#[derive(Debug, Default)]
pub(crate) struct Given<'a> {
    pairs: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Given<'a> {
    /// The parameters of a request, which must be among those `allowed`.
    ///
    /// # Errors
    ///
    /// `BadRequest`, naming a parameter that is not known, or is given twice and may not be.
    pub(crate) fn new(request: &'a Request, allowed: &[&[&str]]) -> Result<Self, Problem> {
        let mut given = Self::default();
        for (name, value) in request.params.iter() {
            if !allowed.iter().any(|names| names.contains(&name)) {
                return Err(unknown(name, allowed));
            }
            given.add(name, value)?;
        }
        Ok(given)
    }

    /// Adds a parameter.
    ///
    /// # Errors
    ///
    /// `BadRequest` if it is given already and may not be repeated.
    pub(crate) fn add(
        &mut self,
        name: impl Into<Cow<'a, str>>,
        value: impl Into<Cow<'a, str>>,
    ) -> Result<(), Problem> {
        let name = name.into();
        if !REPEATABLE.contains(&&*name) && self.get(&name).is_some() {
            return Err(Problem::bad_request(format!("parameter {name} is given twice")));
        }
        self.pairs.push((name, value.into()));
        Ok(())
    }

    /// The text of a parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(given, _)| given == name).map(|(_, value)| &**value)
    }

    /// The texts of a parameter that may be repeated.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.pairs.iter().filter(move |(given, _)| given == name).map(|(_, value)| &**value)
    }

    /// A parameter read by `read`.
    ///
    /// # Errors
    ///
    /// `BadRequest`, naming the parameter.
    pub(crate) fn parse<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Problem> {
        let read = self.get(name).map(read).transpose();
        read.map_err(|reason| Problem::bad_request(format!("parameter {name}: {reason}")))
    }

    /// A whole number between two others.
    pub(crate) fn number(&self, name: &str, least: u64, most: u64) -> Result<Option<u64>, Problem> {
        self.parse(name, |text| {
            let number = text.parse().ok().filter(|number| (least..=most).contains(number));
            number.ok_or_else(|| format!("{text:?} is no whole number from {least} to {most}"))
        })
    }

    /// `interval` with its multiplier.
    pub(crate) fn interval(&self) -> Result<Option<Interval>, Problem> {
        let unit = self.parse("interval", parse_interval_unit)?;
        let multiplier = self.number("intervalMultiplier", 1, u64::from(u32::MAX))?;
        match (unit, multiplier.map(u32::try_from)) {
            (None, None) => Ok(None),
            (None, Some(_)) => {
                Err(Problem::bad_request("parameter intervalMultiplier needs parameter interval"))
            }
            (Some(unit), Some(Ok(multiplier))) => Ok(Some(Interval::new(unit, multiplier))),
            (Some(unit), _) => Ok(Some(Interval::new(unit, 1))),
        }
    }
}

fn unknown(name: &str, allowed: &[&[&str]]) -> Problem {
    let known: Vec<_> = allowed.iter().flat_map(|names| names.iter().copied()).collect();
    if known.is_empty() {
        return Problem::bad_request(format!("this resource has no parameters, so not {name:?}"));
    }
    let message = format!("this resource has no parameter {name:?}; it has {}", known.join(", "));
    Problem::bad_request(message)
}

/// How points are to be read.
#[derive(Debug)]
pub(crate) struct ReadGiven {
    pub(crate) from: Option<Moment>,
    pub(crate) to: Option<Moment>,
    pub(crate) form: Option<Form>,
    pub(crate) request: ReadRequest,
}

impl ReadGiven {
    /// Reads the parameters.
    pub(crate) fn new(given: &Given<'_>) -> Result<Self, Problem> {
        Ok(Self {
            from: given.parse("from", parse_moment)?,
            to: given.parse("to", parse_moment)?,
            form: given.parse("form", parse_form)?,
            request: ReadRequest {
                interval: given.interval()?,
                zone: given.parse("timezone", |name| Zone::get(name).map_err(|error| error.to_string()))?,
                day_start_seconds: given.parse("dayStart", parse_day_start)?,
                unit: given.get("unit").map(Box::from),
                aggregation: given.parse("aggregation", parse_aggregation)?,
                gaps: given.parse("gaps", parse_gaps)?.unwrap_or_default(),
                as_of: given.parse("asOf", parse_stamp)?,
                quotation: given.parse("quotation", parse_quotation)?.unwrap_or_default(),
            },
        })
    }
}

/// A search and its page.
///
/// # Errors
///
/// `BadRequest`, naming the parameter.
pub(crate) fn search(given: &Given<'_>, limits: &Limits) -> Result<Search, Problem> {
    let sole = |name: &str| {
        let mut values = given.all(name);
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            _ => Err(Problem::bad_request(format!("parameter {name} is given twice"))),
        }
    };
    let id = sole("id")?.map(|text| {
        text.parse().map_err(|_| Problem::bad_request(format!("parameter id: {text:?} is no ID")))
    });
    Ok(Search {
        name: sole("name")?.map(Box::from),
        id: id.transpose()?,
        alignment: given.parse("type", parse_alignment)?,
        description: given.get("description").map(Box::from),
        attributes: given.all("attribute").map(attribute_search).collect(),
        as_of: given.parse("asOf", parse_instant)?,
        unit: given.get("unit").map(Box::from),
        interval: given.interval()?,
        is_computed: given.parse("computed", parse_bool)?,
        after: given.get("after").map(Box::from),
        limit: page_limit(given, limits)?,
    })
}

/// Rows of a page.
pub(crate) fn page_limit(given: &Given<'_>, limits: &Limits) -> Result<usize, Problem> {
    let most = u64::try_from(limits.page_max).unwrap_or(u64::MAX);
    let limit = given.number("limit", 1, most)?;
    Ok(limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(limits.page_default))
}

fn parse_bool(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("{text:?} is neither true nor false"))
}

/// A time of the system.
pub(crate) fn parse_stamp(text: &str) -> Result<Timestamp, String> {
    parse_instant(text).map(|time| Timestamp(time.div_euclid(1000)))
}

/// One of the words of a parameter, in any case.
fn word<T: Copy>(text: &str, words: &[(&str, T)]) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        format!("{text:?} is none of {}", words.join(", "))
    })
}

fn parse_interval_unit(text: &str) -> Result<IntervalUnit, String> {
    word(
        text,
        &[
            ("Millisecond", IntervalUnit::Millisecond),
            ("Second", IntervalUnit::Second),
            ("Minute", IntervalUnit::Minute),
            ("Hour", IntervalUnit::Hour),
            ("Day", IntervalUnit::Day),
            ("Week", IntervalUnit::Week),
            ("Month", IntervalUnit::Month),
            ("Quarter", IntervalUnit::Quarter),
            ("Year", IntervalUnit::Year),
        ],
    )
}

fn parse_alignment(text: &str) -> Result<Alignment, String> {
    let words =
        [("Begin", Alignment::Begin), ("End", Alignment::End), ("Spontaneous", Alignment::Spontaneous)];
    word(text, &words)
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
        ("compact", Form::Compact),
        ("arrow", Form::Arrow),
        ("csv", Form::Csv),
        ("parquet", Form::Parquet),
    ];
    word(text, &words)
}

/// `latest`, `before(P1D)`, `latestBefore(2026-01-01T00:00:00Z)`, `at(…)`, or the time alone.
fn parse_quotation(text: &str) -> Result<Quotation, String> {
    if text.eq_ignore_ascii_case("latest") {
        return Ok(Quotation::Latest);
    }
    let Some((word, argument)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) else {
        return parse_instant(text).map(Quotation::At).map_err(|_| {
            format!("{text:?} is none of latest, before(DURATION), latestBefore(TIME), at(TIME) and a time")
        });
    };
    if word.eq_ignore_ascii_case("before") {
        let ahead = Duration::parse(argument).and_then(elapsed);
        return ahead.map(Quotation::Before).ok_or_else(|| {
            format!("{argument:?} is no duration of weeks, days, hours, minutes and seconds (P1DT12H)")
        });
    }
    if word.eq_ignore_ascii_case("latestBefore") {
        return parse_instant(argument).map(Quotation::LatestBefore);
    }
    if word.eq_ignore_ascii_case("at") {
        return parse_instant(argument).map(Quotation::At);
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
mod tests {
    use api_http::Params;

    use super::*;

    fn request(query: &str) -> Request {
        Request { params: Params::parse(query).unwrap(), ..Request::default() }
    }

    fn read(query: &str) -> Result<ReadGiven, String> {
        let request = request(query);
        let given = Given::new(&request, &[READ]).map_err(|problem| problem.message)?;
        ReadGiven::new(&given).map_err(|problem| problem.message)
    }

    fn check_refused(query: &str, word: &str) {
        let message = read(query).unwrap_err();
        assert!(message.contains(word), "{query}: {message}");
    }

    #[test]
    fn a_read_is_told_by_its_parameters() {
        let given = read(
            "from=2026-03-01&to=2026-04-01T00:00:00+02:00&interval=day&intervalMultiplier=2&dayStart=06:00\
             &unit=MWh&timezone=Europe/Berlin&aggregation=avg&gaps=Linear&asOf=2026-01-01T00:00:00.5Z\
             &quotation=latestBefore(2026-01-01T00:00:00Z)&form=compact",
        )
        .unwrap();
        assert!(matches!(given.from, Some(Moment::Day(_))));
        assert_eq!(given.to, Some(Moment::Instant(1_774_994_400_000_000_000)));
        assert_eq!(given.form, Some(Form::Compact));
        let expected = ReadRequest {
            interval: Some(Interval::new(IntervalUnit::Day, 2)),
            zone: Some(Zone::get("Europe/Berlin").unwrap()),
            day_start_seconds: Some(6 * 3600),
            unit: Some("MWh".into()),
            aggregation: Some(Aggregation::Average),
            gaps: Gaps::Linear,
            as_of: Some(Timestamp(1_767_225_600_500_000)),
            quotation: Quotation::LatestBefore(1_767_225_600_000_000_000),
        };
        assert_eq!(given.request, expected);
        let given = read("").unwrap();
        assert_eq!((given.from, given.to, given.request), (None, None, ReadRequest::default()));
    }

    #[test]
    fn quotations_are_named_in_five_ways() {
        let check = |text: &str, expected| assert_eq!(parse_quotation(text), Ok(expected), "{text}");
        check("latest", Quotation::Latest);
        check("1970-01-01T00:00:01Z", Quotation::At(1_000_000_000));
        check("at(1970-01-01T00:00:01Z)", Quotation::At(1_000_000_000));
        check("latestBefore(1970-01-01T00:00:01Z)", Quotation::LatestBefore(1_000_000_000));
        check("before(P1DT1H0.5S)", Quotation::Before(90_000_500_000_000));
        for text in ["before(P1M)", "before(-P1D)", "before(P10000000D)", "soon", "after(P1D)", "at(x)"] {
            assert!(parse_quotation(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        check_refused("form=2", "parameter form");
        check_refused("from=tomorrow", "parameter from");
        check_refused("to=2026-01-01T00:00:00", "parameter to");
        check_refused("interval=Fortnight", "parameter interval");
        check_refused("intervalMultiplier=2", "needs parameter interval");
        check_refused("interval=Day&intervalMultiplier=0", "parameter intervalMultiplier");
        check_refused("dayStart=6", "parameter dayStart");
        check_refused("timezone=Europe/Atlantis", "parameter timezone");
        check_refused("aggregation=median", "TimeWeightedMean");
        check_refused("gaps=some", "parameter gaps");
        check_refused("asOf=2026-01-01", "parameter asOf");
        check_refused("quotation=soon", "parameter quotation");
        check_refused("quotation=before(x)", "no duration");
        check_refused("from=2026-01-01&from=2026-01-02", "given twice");
        check_refused("form=rows&frm=x", "no parameter \"frm\"");
    }
}
