//! ISO 8601 durations, part by part.

use std::fmt;

use crate::read::nanoseconds;
use crate::write::{Fraction, ascii, fraction_text};

/// An ISO 8601 duration, `-P1Y2M3W4DT5H6M7.5S`, with its parts as they were written: years, months, weeks and days have no
/// length until a calendar gives them one.
///
/// Invariant: at most [`Duration::PART_MAX`] of each part.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Duration {
    /// Whether it goes back.
    pub is_negative: bool,
    /// Years.
    pub years: u32,
    /// Months.
    pub months: u32,
    /// Weeks.
    pub weeks: u32,
    /// Days.
    pub days: u32,
    /// Hours.
    pub hours: u32,
    /// Minutes.
    pub minutes: u32,
    /// Seconds.
    pub seconds: u32,
    /// Nanoseconds, below 1,000,000,000.
    pub nanoseconds: u32,
}

impl Duration {
    /// The largest number that a part may be.
    pub const PART_MAX: u32 = 10_000_000;

    /// Reads a duration: an optional sign, `P`, parts from years to seconds, each at most once; only seconds may have a
    /// fraction, of at most nine digits. `None` if the text is no duration.
    pub fn parse(text: &str) -> Option<Self> {
        let (is_negative, text) = match text.as_bytes().first()? {
            b'-' => (true, text.get(1..)?),
            b'+' => (false, text.get(1..)?),
            _ => (false, text),
        };
        let text = text.strip_prefix(['P', 'p'])?;
        let (date, time) = match text.split_once(['T', 't']) {
            Some((_, "")) => return None,
            Some((date, time)) => (date, time),
            None => (text, ""),
        };
        if date.is_empty() && time.is_empty() {
            return None;
        }
        let mut duration = Self { is_negative, ..Self::default() };
        let [years, months, weeks, days] = parts(date, *b"YMWD")?;
        let [hours, minutes, seconds] = parts(time, *b"HMS")?;
        (duration.years, duration.months, duration.weeks, duration.days) =
            (whole(years)?, whole(months)?, whole(weeks)?, whole(days)?);
        (duration.hours, duration.minutes) = (whole(hours)?, whole(minutes)?);
        (duration.seconds, duration.nanoseconds) = fractional(seconds)?;
        Some(duration)
    }

    /// The same parts with the other sign.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { is_negative: !self.is_negative, ..self }
    }

    /// Whether all parts are 0.
    pub fn is_zero(&self) -> bool {
        Self { is_negative: false, ..*self } == Self::default()
    }
}

/// The numbers before each of the designators, which stand in this order, each at most once; empty where left out.
fn parts<const COUNT: usize>(text: &str, designators: [u8; COUNT]) -> Option<[&str; COUNT]> {
    let mut found = [""; COUNT];
    let mut rest = text;
    for (designator, part) in designators.into_iter().zip(&mut found) {
        let end = rest.bytes().position(|byte| byte.is_ascii_alphabetic());
        let Some(end) = end else { break };
        if rest.as_bytes().get(end)?.to_ascii_uppercase() == designator {
            let (number, behind) = (rest.get(..end)?, rest.get(end + 1..)?);
            if number.is_empty() {
                return None;
            }
            (*part, rest) = (number, behind);
        }
    }
    rest.is_empty().then_some(found)
}

/// A whole number of digits alone; 0 for what was left out.
fn whole(text: &str) -> Option<u32> {
    if text.is_empty() {
        return Some(0);
    }
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if plain { text.parse().ok()? } else { return None };
    (number <= Duration::PART_MAX).then_some(number)
}

/// Seconds and nanoseconds.
fn fractional(text: &str) -> Option<(u32, u32)> {
    let Some((seconds, fraction)) = text.split_once(['.', ',']) else {
        return Some((whole(text)?, 0));
    };
    let plain = fraction.bytes().all(|byte| byte.is_ascii_digit());
    if seconds.is_empty() || fraction.is_empty() || fraction.len() > 9 || !plain {
        return None;
    }
    Some((whole(seconds)?, nanoseconds(fraction.as_bytes())))
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_negative { "-P" } else { "P" })?;
        let date = [(self.years, 'Y'), (self.months, 'M'), (self.weeks, 'W'), (self.days, 'D')];
        put_parts(f, &date)?;
        let has_seconds = self.seconds != 0 || self.nanoseconds != 0 || self.is_zero();
        if has_seconds || self.hours != 0 || self.minutes != 0 {
            f.write_str("T")?;
        }
        put_parts(f, &[(self.hours, 'H'), (self.minutes, 'M')])?;
        if has_seconds {
            write!(f, "{}", self.seconds)?;
            if self.nanoseconds != 0 {
                let (digits, length) = fraction_text(self.nanoseconds, Fraction::Shortest);
                f.write_str(ascii(&digits, length))?;
            }
            f.write_str("S")?;
        }
        Ok(())
    }
}

fn put_parts(f: &mut fmt::Formatter<'_>, parts: &[(u32, char)]) -> fmt::Result {
    parts.iter().filter(|(count, _)| *count != 0).try_for_each(|(count, letter)| write!(f, "{count}{letter}"))
}

#[cfg(test)]
mod tests;
