//! Date-times in UTC.

use crate::clock::DAY_SECONDS;
use crate::date::{civil, pair};
use crate::unix::UnixTime;

/// `2026-01-01T00:00:00`
pub(crate) const CIVIL: usize = 19;

/// How many digits a fraction of the second has; one of zero is never written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fraction {
    /// 3, 6 or 9: the fewest that lose nothing.
    Groups,
    /// As few as lose nothing.
    Shortest,
}

/// Appends a time as `2026-01-01T00:00:00Z`; years before 0 or after 9999 have a sign and five digits or more.
///
/// Cost: some ten nanoseconds, no allocation if `out` has room for 30 bytes.
#[inline]
pub fn write(out: &mut String, time: UnixTime, fraction: Fraction) {
    let days = time.seconds.div_euclid(DAY_SECONDS);
    let (mut year, month, day) = civil(days);
    if !(0..=9999).contains(&year) {
        year = write_ten_thousands(out, year);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "below 10,000, and within a day"
    )]
    let (year, second) = (year as u32, (time.seconds - days * DAY_SECONDS) as u32);
    // One append of a fixed length: answers are full of times.
    let ([y1, y2], [y3, y4], [n1, n2], [d1, d2]) =
        (pair(year / 100), pair(year % 100), pair(month), pair(day));
    let ([h1, h2], [m1, m2], [s1, s2]) = (pair(second / 3600), pair(second / 60 % 60), pair(second % 60));
    if time.nanoseconds == 0 {
        let text =
            [y1, y2, y3, y4, b'-', n1, n2, b'-', d1, d2, b'T', h1, h2, b':', m1, m2, b':', s1, s2, b'Z'];
        return out.push_str(ascii(&text, text.len()));
    }
    let ([point, f1, f2, f3, f4, f5, f6, f7, f8, f9], length) = fraction_text(time.nanoseconds, fraction);
    let mut text = [
        y1, y2, y3, y4, b'-', n1, n2, b'-', d1, d2, b'T', h1, h2, b':', m1, m2, b':', s1, s2, point, f1, f2,
        f3, f4, f5, f6, f7, f8, f9, b'Z',
    ];
    let length = CIVIL + length;
    *text.get_mut(length).expect("at most nine digits") = b'Z';
    out.push_str(ascii(&text, length + 1));
}

/// A time as [`write`] writes it.
pub fn format(time: UnixTime, fraction: Fraction) -> String {
    let mut out = String::with_capacity(32);
    write(&mut out, time, fraction);
    out
}

/// The first `length` characters.
#[inline]
pub(crate) fn ascii(text: &[u8], length: usize) -> &str {
    text.get(..length).and_then(|text| std::str::from_utf8(text).ok()).expect("ASCII of that length")
}

/// Appends sign and ten thousands of a year, and gives the rest of it.
#[cold]
fn write_ten_thousands(out: &mut String, year: i64) -> i64 {
    use std::fmt::Write as _;
    let (sign, year) = (if year < 0 { '-' } else { '+' }, year.abs());
    write!(out, "{sign}{}", year / 10_000).expect("a string takes all");
    year % 10_000
}

/// Point and digits of a fraction, and the length of both.
#[inline]
pub(crate) fn fraction_text(nanoseconds: u32, fraction: Fraction) -> ([u8; 10], usize) {
    let (high, low) = (nanoseconds / 10_000, nanoseconds % 10_000);
    let ([d2, d3], [d4, d5]) = (pair(high / 100 % 100), pair(high % 100));
    let ([_, d1], [d6, d7], [d8, d9]) = (pair(high / 10_000), pair(low / 100), pair(low % 100));
    let text = [b'.', d1, d2, d3, d4, d5, d6, d7, d8, d9];
    let length = match fraction {
        Fraction::Groups if nanoseconds.is_multiple_of(1_000_000) => 4,
        Fraction::Groups if nanoseconds.is_multiple_of(1_000) => 7,
        Fraction::Groups => 10,
        Fraction::Shortest => 10 - text.iter().rev().take_while(|digit| **digit == b'0').count(),
    };
    (text, length)
}

#[cfg(test)]
mod tests;
