//! Buckets of time: which one an instant is in.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo};
use store::Timestamp;

use crate::Error;
use crate::history::TimeSpan;
use crate::history::note::MICROSECOND;

/// A Monday: where buckets begin if only the span's end is said, so that weeks are those of ISO 8601.
const MONDAY_NS: i128 = 4 * 86_400 * 1_000_000_000;
/// The first and the last instant that a date-time of four digits tells; buckets end there, too.
const FIRST: Timestamp = Timestamp(-62_167_219_200_000_000);
const LAST: Timestamp = Timestamp(253_402_300_799_999_999);

/// How long buckets are: `aggrPeriodDuration`, an ISO 8601 duration. Years, months and days are those of UTC.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Period {
    months: i64,
    nanoseconds: i64,
    /// Where the first one begins, if not where the span does.
    begin: Option<Timestamp>,
}

impl Period {
    /// Reads `P3Y6M4DT12H30M5S`, `P2W`, `PT1S`, ...; a duration of zero is one bucket for all.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the text is none, is negative, or is longer than the calendar.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let refuse = || Error::Invalid(format!("{text:?} is no duration of ISO 8601 such as PT1H or P1D"));
        let span: Span = text.parse().ok().filter(|_| text.starts_with('P')).ok_or_else(refuse)?;
        let months = i64::from(span.get_years()) * 12 + i64::from(span.get_months());
        let rest = span.years(0).months(0).to_duration(SpanRelativeTo::days_are_24_hours());
        let rest = rest.ok().and_then(|rest| i64::try_from(rest.as_nanos()).ok()).ok_or_else(refuse)?;
        if span.is_negative() || rest < 0 {
            return Err(refuse());
        }
        Ok(Self { months, nanoseconds: rest, begin: None })
    }

    /// The same, of which the first one begins at `begin`, be it in the span or before it.
    #[must_use]
    pub fn starting_at(self, begin: Timestamp) -> Self {
        Self { begin: Some(begin), ..self }
    }

    /// Whether the first bucket begins with the first instance: where no begin is said, and no end either.
    pub fn begins_with_the_first(&self, span: TimeSpan) -> bool {
        self.begin.is_none() && !self.is_zero() && span == TimeSpan::ALL
    }

    fn is_zero(self) -> bool {
        self.months == 0 && self.nanoseconds == 0
    }
}

/// The nanoseconds of a time, which may be more than 64 bits tell.
pub(super) fn wide_nanos(time: Timestamp) -> i128 {
    i128::from(time.0) * i128::from(MICROSECOND)
}

/// The buckets of a request; the one last asked for is the current one.
#[derive(Clone, Debug)]
pub struct Buckets {
    /// `None`: one bucket for all.
    period: Option<Period>,
    origin: i128,
    /// Where the one bucket for all begins, if that is said.
    begin: Option<Timestamp>,
    /// The first instant of the current bucket, in nanoseconds.
    pub start: i128,
    /// The first instant behind it.
    pub end: i128,
}

impl Buckets {
    /// The buckets of a span; without a period, one for all.
    pub fn new(period: Option<&Period>, span: TimeSpan) -> Self {
        let begin = period.and_then(|period| period.begin);
        let period = period.copied().filter(|period| !period.is_zero());
        let origin = match (begin, span.from.0, period) {
            (Some(begin), ..) => wide_nanos(begin),
            (None, i64::MIN, Some(Period { months: 0, .. })) => MONDAY_NS,
            (None, i64::MIN, _) => 0,
            (None, ..) => wide_nanos(span.from),
        };
        // There is no current bucket yet, or it is all of time.
        let (start, end) = if period.is_some() { (i128::MAX, i128::MIN) } else { (i128::MIN, i128::MAX) };
        Self { period, origin, begin, start, end }
    }

    /// Whether there is one bucket for all.
    pub fn is_one(&self) -> bool {
        self.period.is_none()
    }

    /// Whether the current bucket is the one of `time`.
    pub fn holds(&self, time: i128) -> bool {
        self.start <= time && time < self.end
    }

    /// What of the current bucket lies between two times of 64 bits, of which it holds one.
    pub(super) fn within(&self, from: i64, to: i64) -> (i64, i64) {
        let narrow = |time: i128| i64::try_from(time).expect("it lies between times of 64 bits");
        (narrow(self.start.max(from.into())), narrow(self.end.min(to.into())))
    }

    /// Moves to the bucket of `time`. Cost: a division, or some calendar arithmetic.
    pub fn seek(&mut self, time: i128) {
        let Some(period) = self.period else {
            return;
        };
        if self.holds(time) {
            return;
        }
        (self.start, self.end) = match period {
            Period { months: 0, nanoseconds, .. } => {
                // Most distances are of 64 bits, whose division is quick.
                let (distance, length) = (time - self.origin, i128::from(nanoseconds));
                let behind = match i64::try_from(distance) {
                    Ok(distance) => distance.rem_euclid(nanoseconds).into(),
                    Err(_) => distance.rem_euclid(length),
                };
                (time - behind, time - behind + length)
            }
            period => self.seek_calendar(period, time),
        };
    }

    fn seek_calendar(&self, period: Period, time: i128) -> (i128, i128) {
        const MONTH_NS: i128 = 2_629_746_000_000_000;
        let about = i128::from(period.months) * MONTH_NS + i128::from(period.nanoseconds);
        let place = (time - self.origin).div_euclid(about);
        let mut place = i64::try_from(place).expect("a period of the calendar is a month or more");
        let edge = |place: i64| self.edge(period, place);
        while edge(place) > time {
            place -= 1;
        }
        while edge(place + 1) <= time {
            place += 1;
        }
        (edge(place), edge(place + 1))
    }

    /// Where the bucket at this place begins; beyond the calendar, the end of time.
    fn edge(&self, period: Period, place: i64) -> i128 {
        let beyond = if place < 0 { i128::MIN } else { i128::MAX };
        let origin = jiff::Timestamp::from_nanosecond(self.origin).ok();
        let months = period.months.checked_mul(place).and_then(|months| Span::new().try_months(months).ok());
        let moved = origin.zip(months).and_then(|(origin, months)| {
            let moved: DateTime = TimeZone::UTC.to_datetime(origin).checked_add(months).ok()?;
            Some(TimeZone::UTC.to_timestamp(moved).ok()?.as_nanosecond())
        });
        moved.map_or(beyond, |moved| moved + i128::from(period.nanoseconds) * i128::from(place))
    }

    /// First instant of the current bucket, and the first one behind it; an open end is where the instances end.
    pub fn shown(&self, span: TimeSpan, first: i128, last: i128) -> (Timestamp, Timestamp) {
        let micros = |time: i128| match i64::try_from(time.div_euclid(i128::from(MICROSECOND))) {
            Ok(micros) => Timestamp(micros).clamp(FIRST, LAST),
            Err(_) if time < 0 => FIRST,
            Err(_) => LAST,
        };
        if self.period.is_some() {
            return (micros(self.start), micros(self.end));
        }
        let from = if span.from.0 == i64::MIN { micros(first) } else { self.begin.unwrap_or(span.from) };
        let to = if span.to.0 == i64::MAX { micros(last) } else { span.to };
        (from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_bucket(period: &str, from: Option<&str>, time: &str, expected: (&str, &str)) {
        let instant = |text: &str| crate::query::moment::parse_moment(text).unwrap();
        let span = from.map_or(TimeSpan::ALL, |from| TimeSpan { from: instant(from), ..TimeSpan::ALL });
        let mut buckets = Buckets::new(Some(&Period::parse(period).unwrap()), span);
        buckets.seek(wide_nanos(instant(time)));
        let found = buckets.shown(span, 0, 0);
        assert_eq!(found, (instant(expected.0), instant(expected.1)), "{period} from {from:?} at {time}");
    }

    #[test]
    fn buckets_follow_the_calendar() {
        let at = "2024-02-29T12:34:56Z";
        check_bucket("PT1S", None, at, (at, "2024-02-29T12:34:57Z"));
        check_bucket("P1D", None, at, ("2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"));
        check_bucket("P1W", None, at, ("2024-02-26T00:00:00Z", "2024-03-04T00:00:00Z"));
        check_bucket("P1M", None, at, ("2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"));
        check_bucket("P1Y", None, at, ("2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"));
        check_bucket("P1Y", None, "1969-07-20T20:17:40Z", ("1969-01-01T00:00:00Z", "1970-01-01T00:00:00Z"));
        let from = Some("2024-01-31T10:00:00Z");
        check_bucket("P1M", from, at, ("2024-02-29T10:00:00Z", "2024-03-31T10:00:00Z"));
        check_bucket("PT1H", from, at, ("2024-02-29T12:00:00Z", "2024-02-29T13:00:00Z"));
        check_bucket("P1M1D", from, at, ("2024-01-31T10:00:00Z", "2024-03-01T10:00:00Z"));
        check_bucket("P290Y", None, at, ("1970-01-01T00:00:00Z", "2260-01-01T00:00:00Z"));
    }

    #[test]
    fn buckets_go_beyond_64_bits_of_nanoseconds() {
        let at = "1517-10-31T12:00:00Z";
        check_bucket("P1Y", None, at, ("1517-01-01T00:00:00Z", "1518-01-01T00:00:00Z"));
        check_bucket("P1D", None, at, ("1517-10-31T00:00:00Z", "1517-11-01T00:00:00Z"));
        let far = "9998-02-03T04:05:06Z";
        check_bucket("PT1H", None, far, ("9998-02-03T04:00:00Z", "9998-02-03T05:00:00Z"));
        check_bucket("P1M", Some(at), far, ("9998-01-31T12:00:00Z", "9998-02-28T12:00:00Z"));
        check_bucket(
            "P1000Y",
            None,
            "2500-01-01T00:00:00Z",
            ("1970-01-01T00:00:00Z", "2970-01-01T00:00:00Z"),
        );
        check_bucket("P9000Y", None, far, ("1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"));
        check_bucket("P5000Y", None, at, ("0000-01-01T00:00:00Z", "1970-01-01T00:00:00Z"));
    }
}
