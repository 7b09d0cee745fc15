//! Dates: three forms are read, the longest is written. All are UTC.

use lang_time::{Date, Fraction, UnixTime, seconds_of_day};
use model_graph::Timestamp;

const DAY_MS: i64 = 86_400_000;

/// The milliseconds since 1970 of a text: `2017-5-18`, `2017-05-18 12:00:00`, `2017-05-18 12:00:00.5` (that is, 5 ms).
pub(super) fn date_of_text(text: &str) -> Option<i64> {
    let (date, clock) = match text.split_once([' ', '\t']) {
        Some((date, clock)) => (date, Some(clock)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 {
        return None;
    }
    let ([m1, m2], [d1, d2]) = (two_digits(month)?, two_digits(day)?);
    let &[y1, y2, y3, y4] = year.as_bytes() else { return None };
    let days = Date::parse(&[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2])?.days_since_1970();
    Some(days * DAY_MS + clock.map_or(Some(0), milliseconds_of_day)?)
}

/// One or two digits as two.
fn two_digits(text: &str) -> Option<[u8; 2]> {
    match *text.as_bytes() {
        [ones] => Some([b'0', ones]),
        [tens, ones] => Some([tens, ones]),
        _ => None,
    }
}

fn milliseconds_of_day(clock: &str) -> Option<i64> {
    let (seconds, rest) = clock.as_bytes().split_first_chunk::<8>()?;
    let milliseconds = match rest {
        [] => 0,
        [b'.', digits @ ..] if (1..=3).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) => {
            digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'))
        }
        _ => return None,
    };
    Some(seconds_of_day(seconds)? * 1_000 + milliseconds)
}

/// Appends `"2017-05-18 00:00:00.000"`; what no date-time can be, as a number.
pub(super) fn put_date(out: &mut String, millis: i64) {
    const YEARS: std::ops::Range<i64> = -62_167_219_200_000..253_402_300_800_000;
    if !YEARS.contains(&millis) {
        out.push_str(itoa::Buffer::new().format(millis));
        return;
    }
    let second = UnixTime::from_micros(millis.div_euclid(1_000) * 1_000_000);
    let mut text = String::with_capacity(24);
    lang_time::write(&mut text, second, Fraction::Groups);
    let (date, clock) = text.split_once('T').expect("a date-time has a T");
    let clock = clock.strip_suffix('Z').expect("a date-time in UTC ends in Z");
    let fraction = millis.rem_euclid(1_000) + 1_000;
    let mut digits = itoa::Buffer::new();
    let (_, fraction) = digits.format(fraction).split_at(1);
    for part in ["\"", date, " ", clock, ".", fraction, "\""] {
        out.push_str(part);
    }
}

/// Appends a moment of the system in the same form.
pub fn put_time(out: &mut String, time: Timestamp) {
    put_date(out, time.0.div_euclid(1_000));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let written = date_of_text(text).map(|millis| {
            let mut out = String::new();
            put_date(&mut out, millis);
            out
        });
        assert_eq!(written, expected.map(|text| format!("\"{text}\"")), "{text}");
    }

    #[test]
    fn three_forms_are_read_and_one_is_written() {
        check("2017-5-18", Some("2017-05-18 00:00:00.000"));
        check("2017-05-18 23:59:59", Some("2017-05-18 23:59:59.000"));
        check("2017-05-18 23:59:59.5", Some("2017-05-18 23:59:59.005"));
        check("1969-12-31 23:59:59.999", Some("1969-12-31 23:59:59.999"));
        check("0000-01-01", Some("0000-01-01 00:00:00.000"));
        for wrong in [
            "2017",
            "2017-5",
            "2017-5-18T00:00:00",
            "2017-13-1",
            "17-5-18",
            "2017-5-18 1:00:00",
            "2017-5-18 ",
            "x-1-1",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn what_no_date_can_be_is_a_number() {
        let mut out = String::new();
        put_date(&mut out, i64::MAX);
        assert_eq!(out, i64::MAX.to_string());
    }
}
