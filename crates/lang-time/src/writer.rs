//! Many times in a row, in local time: the text of the last one is cached, and patched while the day stays.

use crate::clock::DAY_SECONDS;
use crate::date::{civil, pair};
use crate::write::{CIVIL, Fraction, fraction_text};

const SECOND: i64 = 1_000_000_000;

/// `2026-01-01T00:00:00+01:00`
const LONGEST: usize = 25;

/// What a zone has added to UTC at some time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LocalOffset {
    /// Seconds east of Greenwich. Offsets of broken minutes (before standard time) cannot be written; such times are
    /// written in UTC.
    pub east_seconds: i32,
    /// The first second since 1970 at which it may be another one.
    pub until: i64,
}

/// Writes times, nanoseconds since 1970, of one zone.
#[derive(Clone, Debug, Default)]
pub struct TimeWriter {
    /// The text of the last whole second, its offset included.
    text: [u8; 32],
    length: usize,
    /// The seconds for which the date and the offset of `text` are right, and the second of the local day at `from`.
    from: i64,
    to: i64,
    from_of_day: i64,
}

impl TimeWriter {
    /// Appends a time: `2026-01-01T00:00:00Z` or `2026-01-01T00:00:00+01:00`, with as many digits of a second as it needs
    /// (3, 6 or 9). `offset_at` gives the offset of the zone at a second since 1970; it is asked when the day changes.
    ///
    /// Cost: a few nanoseconds while the day stays.
    #[inline]
    pub fn write(&mut self, out: &mut Vec<u8>, time: i64, offset_at: impl FnOnce(i64) -> LocalOffset) {
        let seconds = time.div_euclid(SECOND);
        let rest = time.rem_euclid(SECOND);
        if !(self.from <= seconds && seconds < self.to) {
            self.change_day(seconds, offset_at(seconds));
        }
        self.change_clock(seconds);
        if rest == 0 {
            // A copy of fixed size is one or two instructions.
            let end = out.len() + self.length;
            out.extend_from_slice(&self.text);
            out.truncate(end);
        } else {
            self.write_fraction(out, rest);
        }
    }

    fn write_fraction(&self, out: &mut Vec<u8>, rest: i64) {
        let rest = u32::try_from(rest).expect("less than a second");
        let (digits, length) = fraction_text(rest, Fraction::Groups);
        let (civil, offset) = self.text.split_at(CIVIL);
        out.extend_from_slice(civil);
        out.extend_from_slice(digits.get(..length).expect("at most ten characters"));
        out.extend_from_slice(offset.get(..self.length - CIVIL).expect("an offset follows the seconds"));
    }

    /// Makes `text` say `seconds` of the same day.
    #[inline]
    fn change_clock(&mut self, seconds: i64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within a day")]
        let of_day = (seconds - self.from + self.from_of_day) as u32;
        let ([a, b], [c, d], [e, f]) = (pair(of_day / 3600), pair(of_day / 60 % 60), pair(of_day % 60));
        let clock = self.text.get_mut(11..CIVIL).and_then(|text| text.first_chunk_mut());
        *clock.expect("a text of 32 bytes") = [a, b, b':', c, d, b':', e, f];
    }

    /// Writes date and offset anew, and keeps until when they are right.
    #[cold]
    fn change_day(&mut self, seconds: i64, offset: LocalOffset) {
        let east = if offset.east_seconds % 60 == 0 { i64::from(offset.east_seconds) } else { 0 };
        let local = seconds + east;
        let (year, month, day) = civil(local.div_euclid(DAY_SECONDS));
        self.from_of_day = local.rem_euclid(DAY_SECONDS);
        self.from = seconds;
        self.to = (seconds + DAY_SECONDS - self.from_of_day).min(offset.until);
        // Nanoseconds of 64 bits are of the years 1677 to 2262.
        let year = u32::try_from(year).expect("a year since 0");
        let ([y1, y2], [y3, y4]) = (pair(year / 100), pair(year % 100));
        let ([n1, n2], [d1, d2]) = (pair(month), pair(day));
        let minutes = u32::try_from(east.unsigned_abs() / 60).expect("minutes of a day");
        let ([h1, h2], [m1, m2]) = (pair(minutes / 60), pair(minutes % 60));
        let sign = match east.signum() {
            1 => b'+',
            0 => b'Z',
            _ => b'-',
        };
        self.length = if east == 0 { CIVIL + 1 } else { LONGEST };
        self.text = [
            y1, y2, y3, y4, b'-', n1, n2, b'-', d1, d2, b'T', b'0', b'0', b':', b'0', b'0', b':', b'0', b'0',
            sign, h1, h2, b':', m1, m2, 0, 0, 0, 0, 0, 0, 0,
        ];
    }
}

#[cfg(test)]
mod tests;
