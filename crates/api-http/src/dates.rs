//! Dates of HTTP (RFC 9110, sections 5.6.7 and 13.1): `Last-Modified`, and requests that hang on it.

use std::time::{Duration, UNIX_EPOCH};

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};

use crate::conditions::ConditionError;

/// The header that demands that nothing has changed since.
const IF_UNMODIFIED_SINCE: &str = "If-Unmodified-Since";

/// The conditions of a request that name a date, in seconds since 1970. Those that stand beside one that names tags, and dates that cannot be
/// read, count for nothing, as RFC 9110 wants.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DateConditions {
    /// Of a read: only if it was changed after this.
    if_modified_since: Option<u64>,
    /// Only if it was not changed after this.
    if_unmodified_since: Option<u64>,
}

impl DateConditions {
    /// Those of a request. Cost without any: two look-ups among its headers.
    pub fn of(method: &Method, headers: &HeaderMap) -> Self {
        let is_read = method == Method::GET || method == Method::HEAD;
        let date = |name: &HeaderName, stronger: &HeaderName| {
            let value = headers.get(name).filter(|_| !headers.contains_key(stronger))?;
            parse_date(value.to_str().ok()?)
        };
        Self {
            if_modified_since: date(&header::IF_MODIFIED_SINCE, &header::IF_NONE_MATCH).filter(|_| is_read),
            if_unmodified_since: date(&header::IF_UNMODIFIED_SINCE, &header::IF_MATCH),
        }
    }

    /// Whether there is one that a write must keep to.
    pub fn demands_state(self) -> bool {
        self.if_unmodified_since.is_some()
    }

    /// Judges what was changed at this second: `true` if a read is answered with 304.
    ///
    /// # Errors
    ///
    /// [`ConditionError::Failed`] if it was changed after what `If-Unmodified-Since` names.
    pub fn judge(self, modified: u64) -> Result<bool, ConditionError> {
        if self.if_unmodified_since.is_some_and(|date| modified > date) {
            return Err(ConditionError::Failed(IF_UNMODIFIED_SINCE));
        }
        Ok(self.if_modified_since.is_some_and(|date| modified <= date))
    }
}

/// A second since 1970 as headers spell it; `None` beyond the year 9999.
pub fn date_value(seconds: u64) -> Option<HeaderValue> {
    const SECONDS_MAX: u64 = 253_402_300_799;
    let date = UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).filter(|_| seconds <= SECONDS_MAX)?;
    HeaderValue::try_from(httpdate::fmt_http_date(date)).ok()
}

/// A date in any of the three forms of HTTP; those before 1970 count as 1970.
fn parse_date(text: &str) -> Option<u64> {
    let date = httpdate::parse_http_date(text.trim()).ok()?;
    Some(date.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "Thu, 26 Jan 2017 20:56:30 GMT";
    const SECOND: u64 = 1_485_464_190;

    fn check(method: &Method, fields: &[(&'static str, &str)], expected: &[Result<bool, ConditionError>; 3]) {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        let conditions = DateConditions::of(method, &headers);
        let found = [SECOND - 1, SECOND, SECOND + 1].map(|modified| conditions.judge(modified));
        assert_eq!(&found, expected, "{method} {fields:?}");
    }

    #[test]
    fn dates_are_written_and_read() {
        assert_eq!(date_value(SECOND).unwrap(), DATE);
        assert_eq!(date_value(u64::MAX), None);
        assert_eq!(date_value(253_402_300_799).unwrap(), "Fri, 31 Dec 9999 23:59:59 GMT");
        for text in [DATE, "Thursday, 26-Jan-17 20:56:30 GMT", "Thu Jan 26 20:56:30 2017"] {
            assert_eq!(parse_date(text), Some(SECOND), "{text}");
        }
        assert_eq!(parse_date("2017-01-26T20:56:30Z"), None);
    }

    #[test]
    fn reads_and_writes_hang_on_dates() {
        let failed = || Err(ConditionError::Failed(IF_UNMODIFIED_SINCE));
        check(&Method::GET, &[("if-modified-since", DATE)], &[Ok(true), Ok(true), Ok(false)]);
        check(&Method::PUT, &[("if-modified-since", DATE)], &[Ok(false), Ok(false), Ok(false)]);
        check(&Method::PUT, &[("if-unmodified-since", DATE)], &[Ok(false), Ok(false), failed()]);
        check(&Method::GET, &[("if-unmodified-since", DATE)], &[Ok(false), Ok(false), failed()]);
    }

    #[test]
    fn tags_are_stronger_and_what_is_no_date_counts_for_nothing() {
        let none = || [Ok(false), Ok(false), Ok(false)];
        check(&Method::GET, &[("if-modified-since", DATE), ("if-none-match", "\"a\"")], &none());
        check(&Method::PUT, &[("if-unmodified-since", DATE), ("if-match", "\"a\"")], &none());
        check(&Method::GET, &[("if-modified-since", "yesterday")], &none());
        assert!(!DateConditions::default().demands_state());
    }
}
