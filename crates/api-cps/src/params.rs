//! Query parameters: read, and refused by name. A missing or wrong one is the client's fault: 400.

mod declared;

use api_http::{Given, Parameter, ParameterError};
use lang_time::{LeapSecond, Offsets, Rules};
use model_config::Timestamp;

use crate::problem::Problem;
pub(crate) use declared::*;

/// How many levels below a node are wanted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Descendants {
    /// So many.
    Levels(u32),
    /// All there are.
    All,
}

/// Words why parameters are refused.
impl From<ParameterError> for Problem {
    fn from(error: ParameterError) -> Self {
        Self::validation(match error {
            ParameterError::Unknown { name, .. } => format!("parameter {name} is not known"),
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

/// A parameter that must be given.
///
/// # Errors
///
/// 400.
pub(crate) fn required<'a>(given: &'a Given<'_>, parameter: &Parameter) -> Result<&'a str, Problem> {
    let value = given.get(parameter).filter(|value| !value.is_empty());
    value.ok_or_else(|| Problem::validation(format!("parameter {} is required", parameter.name)))
}

/// The path of a node, where the top is meant if none is given.
pub(crate) fn xpath<'a>(given: &'a Given<'_>) -> &'a str {
    given.get(&XPATH).filter(|path| !path.is_empty()).unwrap_or("/")
}

/// A flag in any case, as the original reads it.
///
/// # Errors
///
/// 400.
pub(crate) fn flag(given: &Given<'_>, parameter: &Parameter) -> Result<bool, Problem> {
    Ok(given.parse(parameter, parse_flag)?.unwrap_or(false))
}

fn parse_flag(text: &str) -> Result<bool, String> {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    if is("true") {
        Ok(true)
    } else if is("false") || text.is_empty() {
        Ok(false)
    } else {
        Err(format!("{text:?} is neither true nor false"))
    }
}

/// How deep an answer goes, by either of its two parameters: `descendants` of version 2 on, `include-descendants` before.
///
/// # Errors
///
/// 400.
pub(crate) fn descendants(given: &Given<'_>) -> Result<Descendants, Problem> {
    parse_descendants(given.get(&DESCENDANTS).unwrap_or(""))
}

/// The same in version 1.
///
/// # Errors
///
/// 400.
pub(crate) fn include_descendants(given: &Given<'_>) -> Result<Descendants, Problem> {
    let all = flag(given, &INCLUDE_DESCENDANTS)?;
    Ok(if all { Descendants::All } else { Descendants::Levels(0) })
}

/// `none`, `direct`, `all`, a number, or -1 for all.
pub(crate) fn parse_descendants(text: &str) -> Result<Descendants, Problem> {
    match text {
        "" | "none" => return Ok(Descendants::Levels(0)),
        "direct" => return Ok(Descendants::Levels(1)),
        "all" | "-1" => return Ok(Descendants::All),
        _ => {}
    }
    if !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()) {
        // Deeper than any tree is all of it.
        return Ok(text.parse().map_or(Descendants::All, Descendants::Levels));
    }
    Err(Problem::bad_request(
        "FetchDescendantsOption validation error.",
        format!("{text} is not valid fetch descendants option"),
    ))
}

/// `yyyy-MM-dd'T'HH:mm:ss.SSSZ`: milliseconds, and an offset of four digits; `Z` and offsets with a colon are taken, too.
const OBSERVED_RULES: Rules = Rules {
    separators: b"T",
    comma: false,
    fraction_digits_max: 9,
    offsets: Offsets::Iso8601,
    leap_second: LeapSecond::Refused,
};

/// When a change was observed, if that is said.
///
/// # Errors
///
/// 400.
pub(crate) fn observed(given: &Given<'_>) -> Result<Option<Timestamp>, Problem> {
    let Some(text) = given.get(&OBSERVED_TIMESTAMP).filter(|text| !text.is_empty()) else { return Ok(None) };
    parse_observed(text).map(Some)
}

fn parse_observed(text: &str) -> Result<Timestamp, Problem> {
    // A plus sign that was not percent-encoded came as a blank.
    let text = text.replacen(' ', "+", 1);
    let time = lang_time::parse(text.as_bytes(), &OBSERVED_RULES);
    let time = time.map(|time| Timestamp(time.micros()));
    time.ok_or_else(|| {
        Problem::bad_request(
            "observed-timestamp must be in 'yyyy-MM-dd'T'HH:mm:ss.SSSZ' format",
            format!("{text:?} is none, such as 2021-03-21T00:10:34.030-0100 is"),
        )
    })
}

/// Which part of all anchors is wanted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Page {
    /// From 1 on.
    pub(crate) index: u64,
    /// Anchors of a page.
    pub(crate) size: u64,
}

/// The page that is asked for, if one is: both of its parameters are needed for that.
///
/// # Errors
///
/// 400.
pub(crate) fn page(given: &Given<'_>) -> Result<Option<Page>, Problem> {
    let index = given.number(&PAGE_INDEX, u64::from(u32::MAX))?;
    let size = given.number(&PAGE_SIZE, u64::from(u32::MAX))?;
    Ok(index.zip(size).map(|(index, size)| Page { index, size }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_have_words_and_numbers() {
        for (text, expected) in [
            ("", Descendants::Levels(0)),
            ("none", Descendants::Levels(0)),
            ("0", Descendants::Levels(0)),
            ("direct", Descendants::Levels(1)),
            ("1", Descendants::Levels(1)),
            ("17", Descendants::Levels(17)),
            ("all", Descendants::All),
            ("-1", Descendants::All),
            ("99999999999", Descendants::All),
        ] {
            assert_eq!(parse_descendants(text).ok(), Some(expected), "{text}");
        }
        for wrong in ["-2", "ALL", "1.0", " 1", "any"] {
            let refused = parse_descendants(wrong).expect_err("no such word");
            assert_eq!(refused.message, "FetchDescendantsOption validation error.");
            assert_eq!(refused.details, format!("{wrong} is not valid fetch descendants option"));
        }
    }

    #[test]
    fn observed_timestamps_have_offsets_without_colon_too() {
        let expected = Timestamp(1_616_289_034_030_000);
        for text in [
            "2021-03-21T00:10:34.030-0100",
            "2021-03-21T01:10:34.030Z",
            "2021-03-21T02:10:34.030+01:00",
            "2021-03-21T02:10:34.030 0100",
        ] {
            assert_eq!(parse_observed(text).ok(), Some(expected), "{text}");
        }
        for wrong in ["2021-03-21", "2021-03-21T00:10:34.030", "yesterday", "2021-02-30T00:10:34.030Z"] {
            let refused = parse_observed(wrong).expect_err("no such time");
            assert_eq!(refused.message, "observed-timestamp must be in 'yyyy-MM-dd'T'HH:mm:ss.SSSZ' format");
        }
    }
}
