//! Times in parameters and master data: RFC 3339, or a date, which means midnight of a zone.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use lang_time::{Fraction, UnixTime};
use model_series::Zone;

use crate::wire::read_time;

/// A time as it was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Moment {
    /// Nanoseconds since 1970 UTC.
    Instant(i64),
    /// The beginning of a day of a zone that is known later.
    Day(Date),
}

/// Reads `2026-01-01T00:00:00+01:00`, with `Z` or an offset, or a date `2026-01-01`. A blank in place of the
/// sign of the offset is read as `+`, which becomes a blank where a URL does not encode it.
///
/// # Errors
///
/// What is wrong, for the client.
pub(crate) fn parse_moment(text: &str) -> Result<Moment, String> {
    let wrong = || format!("{text:?} is neither a date-time (2026-01-01T00:00:00Z) nor a date (2026-01-01)");
    if let Ok(day) = text.parse::<Date>()
        && text.len() == "2026-01-01".len()
    {
        return Ok(Moment::Day(day));
    }
    parse_instant(text).map(Moment::Instant).map_err(|_| wrong())
}

/// Reads a time with `Z` or an offset: nanoseconds since 1970 UTC.
///
/// # Errors
///
/// What is wrong, for the client.
fn parse_instant(text: &str) -> Result<i64, String> {
    let mended = match text.rsplit_once(' ') {
        Some((before, offset)) if before.contains('T') => Some(format!("{before}+{offset}")),
        _ => None,
    };
    let text = mended.as_deref().unwrap_or(text);
    read_time(text)
}

impl Moment {
    /// The instant, once the zone is known.
    ///
    /// # Errors
    ///
    /// If the day is outside of the years that 64 bits of nanoseconds can express.
    pub(crate) fn in_zone(self, zone: &TimeZone) -> Result<i64, String> {
        match self {
            Self::Instant(time) => Ok(time),
            Self::Day(day) => {
                let time = day.to_zoned(zone.clone()).map(|zoned| zoned.timestamp().as_nanosecond());
                let time = time.ok().and_then(|time| i64::try_from(time).ok());
                time.ok_or_else(|| format!("{day} is outside of the years 1678 to 2261"))
            }
        }
    }
}

/// The zone as the library knows it, for civil dates and for writing times.
pub(crate) fn library_zone(zone: &Zone) -> TimeZone {
    TimeZone::get(zone.name()).expect("the zones of the model are the library's")
}

/// A time, nanoseconds since 1970, as RFC 3339 writes it in UTC.
pub(crate) fn format_time(nanoseconds: i64) -> String {
    lang_time::format(UnixTime::from_nanoseconds(nanoseconds), Fraction::Shortest)
}

/// A time of the system as RFC 3339 writes it in UTC.
pub(crate) fn format_stamp(stamp: model_series::Timestamp) -> String {
    lang_time::format(UnixTime::from_micros(stamp.0), Fraction::Shortest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_rfc_3339_writes_them() {
        let check =
            |text: &str, expected: &str| assert_eq!(format_time(parse_instant(text).unwrap()), expected);
        check("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z");
        check("2026-01-01t01:00:00.25+01:00", "2026-01-01T00:00:00.25Z");
        check("2026-10-25T02:30:00 02:00", "2026-10-25T00:30:00Z");
        check("1969-12-31T23:59:59.999999999Z", "1969-12-31T23:59:59.999999999Z");
        for text in [
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-13-01T00:00:00Z",
            "yesterday",
            "",
            "1500-01-01T00:00:00Z",
            "2026-01-01T00:00:00+01:00[Europe/Berlin]",
            "2026-01-01T00:00:00+25:00",
        ] {
            assert!(parse_instant(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_date_is_midnight_where_the_series_is() {
        let berlin = library_zone(&Zone::get("Europe/Berlin").unwrap());
        let check = |text: &str, expected: &str| {
            assert_eq!(format_time(parse_moment(text).unwrap().in_zone(&berlin).unwrap()), expected);
        };
        check("2026-01-01", "2025-12-31T23:00:00Z");
        check("2026-07-01", "2026-06-30T22:00:00Z");
        check("2026-07-01T00:00:00Z", "2026-07-01T00:00:00Z");
        assert!(parse_moment("2026-7-1").is_err());
        assert!(parse_moment("1500-01-01").unwrap().in_zone(&berlin).is_err());
    }
}
