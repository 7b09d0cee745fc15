//! Date-times as NGSI-LD writes them (4.6.3): text to [`Timestamp`] and back, without allocation.

use model_entities::Timestamp;

/// Microseconds in a second.
const SECOND: i64 = 1_000_000;
/// Seconds in a day.
const DAY: i64 = 86_400;

/// The time that `text` denotes: `2023-04-01T12:00:00Z`, with an optional fraction of the second of up to six digits
/// (after `.` or `,`). It is always in UTC, and says so by `Z`.
///
/// `None` if it denotes none. Cost: one pass, tens of nanoseconds.
pub(crate) fn parse_time(text: &str) -> Option<Timestamp> {
    let (head, tail) = text.as_bytes().split_first_chunk::<19>()?;
    let [date @ .., b'T', h1, h2, b':', m1, m2, b':', s1, s2] = *head else { return None };
    let day = day_number(date)?;
    let clock = clock_seconds([h1, h2, m1, m2, s1, s2])?;
    let (micros, zone) = fraction(tail)?;
    (zone == b"Z").then_some(Timestamp((day * DAY + clock) * SECOND + micros))
}

/// Whether `text` is a calendar date, `2023-04-01`.
pub(crate) fn is_date(text: &str) -> bool {
    <[u8; 10]>::try_from(text.as_bytes()).is_ok_and(|date| day_number(date).is_some())
}

/// Whether `text` is a time of day in UTC, `12:00:00Z`, with an optional fraction of the second.
pub(crate) fn is_time_of_day(text: &str) -> bool {
    let Some((&[h1, h2, b':', m1, m2, b':', s1, s2], tail)) = text.as_bytes().split_first_chunk::<8>() else {
        return false;
    };
    clock_seconds([h1, h2, m1, m2, s1, s2]).is_some()
        && fraction(tail).is_some_and(|(_, zone)| zone == b"Z".as_slice())
}

/// Appends `time` as `2023-04-01T12:00:00Z`; a fraction follows the seconds only where it is not
/// zero, in three digits, or in six where three would lose some. Cost: tens of nanoseconds.
pub(crate) fn write_time(out: &mut String, time: Timestamp) {
    let (seconds, micros) = (time.0.div_euclid(SECOND), time.0.rem_euclid(SECOND));
    let (mut year, month, day) = civil(seconds.div_euclid(DAY));
    let clock = seconds.rem_euclid(DAY);
    if !(0..=9999).contains(&year) {
        out.push(if year < 0 { '-' } else { '+' });
        write_digits(out, year.unsigned_abs() / 10_000, 1);
        year = i64::try_from(year.unsigned_abs() % 10_000).expect("four digits");
    }
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    // One append of a fixed length: answers are full of times.
    let ([y1, y2], [y3, y4]) = (pair(year / 100), pair(year % 100));
    let ([n1, n2], [d1, d2]) = (pair(month), pair(day));
    let ([h1, h2], [m1, m2], [s1, s2]) = (pair(hour), pair(minute), pair(second));
    let ([f1, f2], [f3, f4], [f5, f6]) =
        (pair(micros / 10_000), pair(micros / 100 % 100), pair(micros % 100));
    let text = [
        y1, y2, y3, y4, b'-', n1, n2, b'-', d1, d2, b'T', h1, h2, b':', m1, m2, b':', s1, s2, b'.', f1, f2,
        f3, f4, f5, f6,
    ];
    let length = match micros {
        0 => 19,
        micros if micros % 1000 == 0 => 23,
        _ => 26,
    };
    out.push_str(text.get(..length).and_then(|text| std::str::from_utf8(text).ok()).expect("ASCII"));
    out.push('Z');
}

/// Two digits of a number below 100.
fn pair(number: i64) -> [u8; 2] {
    let number = u8::try_from(number).expect("below 100");
    [b'0' + number / 10, b'0' + number % 10]
}

/// Appends a number in decimal digits, zeros in front up to `width`.
fn write_digits(out: &mut String, number: u64, width: u32) {
    let mut unit = 10_u64.pow(width.saturating_sub(1));
    while number / unit >= 10 {
        unit *= 10;
    }
    while unit > 0 {
        out.push(char::from(b'0' + u8::try_from(number / unit % 10).expect("a digit")));
        unit /= 10;
    }
}

/// The number of a decimal digit.
fn digit(byte: u8) -> Option<i64> {
    byte.is_ascii_digit().then(|| i64::from(byte - b'0'))
}

/// The number of two decimal digits.
fn two(tens: u8, ones: u8) -> Option<i64> {
    Some(digit(tens)? * 10 + digit(ones)?)
}

/// The day since 1970-01-01 that `YYYY-MM-DD` denotes.
fn day_number(date: [u8; 10]) -> Option<i64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = date else { return None };
    let year = two(y1, y2)? * 100 + two(y3, y4)?;
    let (month, day) = (two(m1, m2)?, two(d1, d2)?);
    ((1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day))
        .then(|| days_from_civil(year, month, day))
}

/// The second of the day that `hhmmss` denotes.
fn clock_seconds([h1, h2, m1, m2, s1, s2]: [u8; 6]) -> Option<i64> {
    let (hour, minute, second) = (two(h1, h2)?, two(m1, m2)?, two(s1, s2)?);
    (hour < 24 && minute < 60 && second < 60).then_some(hour * 3600 + minute * 60 + second)
}

/// The microseconds of an optional fraction, and what follows it.
fn fraction(tail: &[u8]) -> Option<(i64, &[u8])> {
    let Some((b'.' | b',', digits)) = tail.split_first() else { return Some((0, tail)) };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=6).contains(&count) {
        return None;
    }
    let (digits, rest) = digits.split_at_checked(count)?;
    let zeros = std::iter::repeat(&b'0');
    let micros = digits.iter().chain(zeros).take(6).fold(0, |sum, byte| sum * 10 + i64::from(byte - b'0'));
    Some((micros, rest))
}

fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a date in the Gregorian calendar, counted in eras of 400 years that
/// begin in March, so that the leap day comes last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The date of a day since 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) = (day_of_year - (153 * shifted + 2) / 5 + 1, (shifted + 2) % 12 + 1);
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests;
