//! Many times in a row: date and offset of the last one are cached and compared as text.

use crate::clock::{DAY_SECONDS, seconds_of_day};
use crate::date::Date;
use crate::read::hours_and_minutes;

const SECOND: i64 = 1_000_000_000;

/// Reads times of whole seconds as nanoseconds since 1970.
#[derive(Clone, Debug)]
pub struct TimeReader {
    /// `2026-01-01T`, and the time at which it begins in UTC.
    date: [u8; 11],
    midnight: i64,
    /// `+01:00`, in nanoseconds.
    offset_text: [u8; 6],
    offset: i64,
}

impl Default for TimeReader {
    fn default() -> Self {
        Self { date: *b"1970-01-01T", midnight: 0, offset_text: *b"+00:00", offset: 0 }
    }
}

impl TimeReader {
    /// Reads a time at the start of `bytes` and gives its length: `2026-01-01T00:00:00Z`, or with an offset `+01:00`.
    ///
    /// `None` leaves the text to [`parse`](crate::parse): it has a fraction, a year outside of 1700 to 2199, another
    /// spelling, or is no time. Cost: a few nanoseconds while the date stays.
    #[inline(always)]
    pub fn read(&mut self, bytes: &[u8]) -> Option<(i64, usize)> {
        let (date, rest) = bytes.split_first_chunk::<11>()?;
        if *date != self.date {
            self.midnight = midnight(date)?;
            self.date = *date;
        }
        let (clock, rest) = rest.split_first_chunk::<8>()?;
        // Years of nanoseconds fit: `midnight` checked the year.
        let local = self.midnight + seconds_of_day(clock)? * SECOND;
        if rest.first() == Some(&b'Z') {
            return Some((local, "2026-01-01T00:00:00Z".len()));
        }
        let (text, _) = rest.split_first_chunk::<6>()?;
        if *text != self.offset_text {
            self.offset = offset(*text)?;
            self.offset_text = *text;
        }
        Some((local - self.offset, "2026-01-01T00:00:00+01:00".len()))
    }
}

/// When `2026-01-01T` begins in UTC, in nanoseconds; years 1700 to 2199.
fn midnight(date: &[u8; 11]) -> Option<i64> {
    let (date, [b'T']) = date.split_first_chunk::<10>()? else { return None };
    let date = Date::parse(date).filter(|date| (1700..2200).contains(&date.year()))?;
    Some(date.days_since_1970() * DAY_SECONDS * SECOND)
}

/// `+01:00` in nanoseconds.
fn offset([sign, h1, h2, colon, m1, m2]: [u8; 6]) -> Option<i64> {
    let seconds = hours_and_minutes(sign, [h1, h2, m1, m2]).filter(|_| colon == b':')?;
    Some(seconds * SECOND)
}

#[cfg(test)]
mod tests;
