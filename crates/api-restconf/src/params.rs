//! Parameters of queries (RFC 8040, section 4.8).

use api_http::{Given, Parameter, ParameterValue};

use crate::problem::Problem;

/// The deepest level that can be asked for by number.
const DEPTH_MAX: u16 = u16::MAX;

pub(crate) const CONTENT: Parameter = Parameter::new(
    "content",
    ParameterValue::Word(&["config", "nonconfig", "all"]),
    "Which data is given: configuration, state, or all (default).",
);
pub(crate) const DEPTH: Parameter = Parameter::new(
    "depth",
    ParameterValue::Like(&["1", "3", "unbounded"]),
    "How many levels are given, from 1 (the resource itself) to 65535, or unbounded (default). List entries always show their keys.",
);
pub(crate) const FIELDS: Parameter = Parameter::new(
    "fields",
    ParameterValue::Like(&["genre", "library/artist(name;album/name)"]),
    "Which nodes below the resource are given: names and paths, separated by ;, with ( ) behind a path.",
);
pub(crate) const WITH_DEFAULTS: Parameter = Parameter::new(
    "with-defaults",
    ParameterValue::Word(&["report-all", "trim", "explicit", "report-all-tagged"]),
    "How leaves with default values are given; explicit (default): those that were written.",
);
pub(crate) const INSERT: Parameter = Parameter::new(
    "insert",
    ParameterValue::Word(&["first", "last", "before", "after"]),
    "Where a new entry of a list or leaf-list with ordered-by user is put.",
);
pub(crate) const POINT: Parameter = Parameter::new(
    "point",
    ParameterValue::Like(&["/example-jukebox:jukebox/playlist=Foo-One/song=1"]),
    "The entry that insert=before or insert=after is about: the path of its resource, behind {root}/data.",
);

/// Those of reads of data.
pub(crate) const READ: &[Parameter] = &[CONTENT, DEPTH, FIELDS, WITH_DEFAULTS];
/// Those of reads of what the server says of itself as a whole.
pub(crate) const READ_ROOT: &[Parameter] = &[DEPTH, FIELDS];
/// Those of writes that may make an entry.
pub(crate) const PUT_IN_PLACE: &[Parameter] = &[INSERT, POINT];

/// Which data is asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DataKind {
    Config,
    State,
    All,
}

/// How leaves with default values are given (RFC 6243).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Defaults {
    /// All, also those that are not stored.
    ReportAll,
    /// None that have the default value.
    Trim,
    /// What is stored.
    Explicit,
    /// All, and those that are not stored say so: what was written is no default, whatever its value (RFC 6243, section 2.3.1).
    ReportAllTagged,
}

/// What of a resource is asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Reading<'a> {
    pub(crate) content: DataKind,
    /// Levels; `None`: all.
    pub(crate) depth: Option<u16>,
    /// The expression, not read yet.
    pub(crate) fields: Option<&'a str>,
    pub(crate) defaults: Defaults,
}

/// Where a new entry is put.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Insert<'a> {
    First,
    Last,
    /// Before the entry with this path.
    Before(&'a str),
    /// Behind it.
    After(&'a str),
}

impl<'a> Reading<'a> {
    /// What a read asks for.
    ///
    /// # Errors
    ///
    /// 400, which names what would be right.
    pub(crate) fn of(given: &'a Given<'_>) -> Result<Self, Problem> {
        let content = given.parse(&CONTENT, |text| match text {
            "config" => Ok(DataKind::Config),
            "nonconfig" => Ok(DataKind::State),
            "all" => Ok(DataKind::All),
            other => Err(format!("it must be config, nonconfig or all, not {other:?}")),
        })?;
        let defaults = given.parse(&WITH_DEFAULTS, |text| match text {
            "report-all" => Ok(Defaults::ReportAll),
            "trim" => Ok(Defaults::Trim),
            "explicit" => Ok(Defaults::Explicit),
            "report-all-tagged" => Ok(Defaults::ReportAllTagged),
            other => {
                Err(format!("it must be report-all, trim, explicit or report-all-tagged, not {other:?}"))
            }
        })?;
        Ok(Self {
            content: content.unwrap_or(DataKind::All),
            depth: given.parse(&DEPTH, parse_depth)?.flatten(),
            fields: given.get(&FIELDS),
            defaults: defaults.unwrap_or(Defaults::Explicit),
        })
    }
}

impl<'a> Insert<'a> {
    /// Where a write puts what it makes; `None` if it does not say.
    ///
    /// # Errors
    ///
    /// 400: another word, or a point without need, or none where there must be one.
    pub(crate) fn of(given: &'a Given<'_>) -> Result<Option<Self>, Problem> {
        let point = given.get(&POINT);
        let insert = match (given.get(&INSERT), point) {
            (None, None) => return Ok(None),
            (Some("first"), None) => Self::First,
            (Some("last"), None) => Self::Last,
            (Some("before"), Some(point)) => Self::Before(point),
            (Some("after"), Some(point)) => Self::After(point),
            (Some(insert @ ("before" | "after")), None) => {
                return Err(Problem::invalid(format!(
                    "insert={insert} needs the parameter point: the path of the entry that it is about"
                )));
            }
            (None | Some("first" | "last"), Some(_)) => {
                return Err(Problem::invalid(
                    "parameter point goes with insert=before or insert=after, not without",
                ));
            }
            (Some(other), _) => {
                return Err(Problem::invalid(format!(
                    "parameter insert: it must be first, last, before or after, not {other:?}"
                )));
            }
        };
        Ok(Some(insert))
    }
}

/// 1 to 65535, or `unbounded`.
pub(crate) fn parse_depth(text: &str) -> Result<Option<u16>, String> {
    if text == "unbounded" {
        return Ok(None);
    }
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let depth = text.parse().ok().filter(|depth| is_number && *depth > 0);
    depth
        .map(Some)
        .ok_or_else(|| format!("it must be a whole number from 1 to {DEPTH_MAX}, or unbounded, not {text:?}"))
}

#[cfg(test)]
mod tests {
    use api_http::{Operation, Params, Request, check_parameters};

    use super::*;

    fn request(query: &str) -> Request {
        const ALL: Operation = Operation::new("", "all", "").query(&[READ, PUT_IN_PLACE]);
        Request { params: Params::parse(query).unwrap(), operation: &ALL, ..Request::default() }
    }

    fn read(query: &str) -> Result<(DataKind, Option<u16>, Option<String>, Defaults), String> {
        let request = request(query);
        check_parameters(&request).map_err(|error| Problem::from(error).message)?;
        let given = Given::of(&request);
        let reading = Reading::of(&given).map_err(|problem| problem.message)?;
        Ok((reading.content, reading.depth, reading.fields.map(str::to_owned), reading.defaults))
    }

    fn check_insert(query: &str, expected: Result<Option<Insert<'_>>, &str>) {
        let request = request(query);
        let given = Given::of(&request);
        match (Insert::of(&given), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{query}"),
            (Err(found), Err(expected)) => assert!(found.message.contains(expected), "{}", found.message),
            (found, expected) => panic!("{query}: {found:?}, not {expected:?}"),
        }
    }

    #[test]
    fn reads_say_what_they_want() {
        assert_eq!(read(""), Ok((DataKind::All, None, None, Defaults::Explicit)));
        let expected = (DataKind::Config, Some(3), Some("a;b(c)".into()), Defaults::ReportAllTagged);
        assert_eq!(
            read("content=config&depth=3&fields=a%3Bb(c)&with-defaults=report-all-tagged"),
            Ok(expected)
        );
        assert_eq!(
            read("depth=unbounded&content=nonconfig").map(|read| (read.0, read.1)),
            Ok((DataKind::State, None))
        );
        assert_eq!(read("depth=65535").map(|read| read.1), Ok(Some(65535)));
        for (query, part) in [
            (
                "depth=0",
                "parameter depth: it must be a whole number from 1 to 65535, or unbounded, not \"0\"",
            ),
            ("depth=65536", "not \"65536\""),
            ("depth=%2B1", "not \"+1\""),
            ("depth=", "not \"\""),
            ("content=Config", "config, nonconfig or all, not \"Config\""),
            ("with-defaults=all", "report-all-tagged, not \"all\""),
            ("deep=1", "no parameter \"deep\" on this resource, only content, depth, fields, with-defaults"),
            ("depth=1&depth=2", "given twice"),
        ] {
            let refused = read(query).unwrap_err();
            assert!(refused.contains(part), "{query}: {refused}");
        }
    }

    #[test]
    fn a_point_goes_with_before_and_after() {
        check_insert("", Ok(None));
        check_insert("insert=first", Ok(Some(Insert::First)));
        check_insert("insert=last", Ok(Some(Insert::Last)));
        check_insert("insert=before&point=%2Fa:b%3Dc%252Cd", Ok(Some(Insert::Before("/a:b=c%2Cd"))));
        check_insert("point=x&insert=after", Ok(Some(Insert::After("x"))));
        check_insert("insert=after", Err("needs the parameter point"));
        check_insert("point=x", Err("not without"));
        check_insert("insert=last&point=x", Err("not without"));
        check_insert("insert=middle", Err("first, last, before or after, not \"middle\""));
    }
}
