//! Date-times by the rules of a standard.

use crate::clock::{DAY_SECONDS, seconds_of_day};
use crate::date::{Date, two_digits};
use crate::rules::{LeapSecond, Offsets, Rules};
use crate::unix::UnixTime;

/// The time that `text` is; `None` if it is no date-time by these rules.
///
/// Cost: one pass, some ten nanoseconds, no allocation.
#[inline]
pub fn parse(text: &[u8], rules: &Rules) -> Option<UnixTime> {
    let (date, rest) = text.split_first_chunk::<10>()?;
    let (separator, rest) = rest.split_first()?;
    let (clock, rest) = rest.split_first_chunk::<8>()?;
    if !rules.separators.contains(separator) {
        return None;
    }
    let midnight = Date::parse(date)?.days_since_1970() * DAY_SECONDS;
    let second = seconds_of_day(clock).or_else(|| leap_second(clock, rules.leap_second))?;
    let (nanoseconds, offset) = parse_fraction(rest, rules)?;
    let seconds = midnight + second - east_seconds(offset, rules.offsets)?;
    Some(UnixTime { seconds, nanoseconds })
}

/// The second of the day of `23:59:60`.
#[cold]
fn leap_second(clock: &[u8; 8], leap_second: LeapSecond) -> Option<i64> {
    let (minute, b"60") = clock.split_last_chunk::<2>()? else { return None };
    let [h1, h2, c1, m1, m2, c2] = *minute else { return None };
    let before = seconds_of_day(&[h1, h2, c1, m1, m2, c2, b'5', b'9'])?;
    match leap_second {
        LeapSecond::Refused => None,
        LeapSecond::Before => Some(before),
        LeapSecond::After => Some(before + 1),
    }
}

/// The nanoseconds of a fraction of the second at the start of `text`, and what follows it; 0 if there is no decimal sign.
/// `None` if there are no digits behind it, or too many.
#[inline]
pub fn parse_fraction<'a>(text: &'a [u8], rules: &Rules) -> Option<(u32, &'a [u8])> {
    match text.split_first() {
        Some((b'.', digits)) => fraction_digits(digits, rules),
        Some((b',', digits)) if rules.comma => fraction_digits(digits, rules),
        _ => Some((0, text)),
    }
}

#[inline]
fn fraction_digits<'a>(text: &'a [u8], rules: &Rules) -> Option<(u32, &'a [u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=rules.fraction_digits_max).contains(&count) {
        return None;
    }
    let (digits, rest) = text.split_at_checked(count)?;
    Some((nanoseconds(digits), rest))
}

/// The nanoseconds of the digits of a fraction; those behind the ninth are cut off.
#[inline]
pub(crate) fn nanoseconds(digits: &[u8]) -> u32 {
    let digit = |place| digits.get(place).map_or(0, |digit| u32::from(digit - b'0'));
    (0..9).fold(0, |nanoseconds, place| nanoseconds * 10 + digit(place))
}

/// Seconds east of Greenwich.
#[inline]
fn east_seconds(text: &[u8], offsets: Offsets) -> Option<i64> {
    match (text, offsets) {
        ([b'Z'], _) => Some(0),
        (_, Offsets::Z) => None,
        ([b'z'], _) => Some(0),
        (text, offsets) => numeric_offset(text, offsets),
    }
}

fn numeric_offset(text: &[u8], offsets: Offsets) -> Option<i64> {
    match (text, offsets) {
        (&[sign, h1, h2, b':', m1, m2], _) => hours_and_minutes(sign, [h1, h2, m1, m2]),
        (&[sign, h1, h2, m1, m2], Offsets::Iso8601) => hours_and_minutes(sign, [h1, h2, m1, m2]),
        (&[sign, h1, h2], Offsets::Iso8601) => hours_and_minutes(sign, [h1, h2, b'0', b'0']),
        _ => None,
    }
}

/// Seconds of `+01:00`.
pub(crate) fn hours_and_minutes(sign: u8, [h1, h2, m1, m2]: [u8; 4]) -> Option<i64> {
    let (hours, minutes) = (two_digits(h1, h2)?, two_digits(m1, m2)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = i64::from(hours * 3600 + minutes * 60);
    match sign {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
