//! Integers (RFC 7950, 9.2) and decimals (9.3).

use std::borrow::Cow;
use std::ops::RangeInclusive;

use crate::types::IntegerWidth;

/// Digits of a number of JSON that is written out: the longest of a type has 20.
const DIGITS_MAX: usize = 64;

/// A number of JSON without exponent, and without a fraction of zeros; as it is if it has neither.
pub(super) fn written_out(number: &str) -> Option<Cow<'_, str>> {
    if number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return Some(Cow::Borrowed(number));
    }
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (sign, before) = before.strip_prefix('-').map_or(("", before), |digits| ("-", digits));
    let exponent: i16 = exponent.parse().ok()?;
    let point = i64::try_from(before.len()).ok()? + i64::from(exponent);
    let digits = format!("{before}{after}");
    let (missing_before, point) =
        if point < 1 { (usize::try_from(1 - point).ok()?, 1) } else { (0, usize::try_from(point).ok()?) };
    if missing_before + digits.len().max(point) > DIGITS_MAX {
        return None;
    }
    let digits = format!("{}{digits:0<point$}", "0".repeat(missing_before));
    let (whole, fraction) = digits.split_at_checked(point)?;
    Some(match fraction.trim_end_matches('0') {
        "" => format!("{sign}{whole}").into(),
        fraction => format!("{sign}{whole}.{fraction}").into(),
    })
}

/// An optional sign and digits; canonical: without `+` and leading zeros.
pub(super) fn integer(text: &str, width: IntegerWidth, ranges: &[RangeInclusive<i128>]) -> Option<Box<str>> {
    let (is_negative, digits) = sign(trim(text));
    let magnitude: u64 = whole(digits)?;
    let number = if is_negative { -i128::from(magnitude) } else { i128::from(magnitude) };
    let is_allowed = width.bounds().contains(&number)
        && (ranges.is_empty() || ranges.iter().any(|range| range.contains(&number)));
    if !is_allowed {
        return None;
    }
    let digits = without_zeros(digits);
    Some(if number < 0 { format!("-{digits}").into() } else { digits.into() })
}

/// An optional sign, digits, and a fraction of at most so many digits; zeros beyond them are let through. Canonical: at least
/// one digit on both sides of the point, and no zeros beyond what that needs.
pub(super) fn decimal(text: &str, fraction_digits: u8, ranges: &[RangeInclusive<i64>]) -> Option<Box<str>> {
    let (is_negative, digits) = sign(trim(text));
    let (before, after) = match digits.split_once('.') {
        Some((_, "")) => return None,
        Some((before, after)) => (before, after.trim_end_matches('0')),
        None => (digits, ""),
    };
    let missing = usize::from(fraction_digits).checked_sub(after.len())?;
    if before.is_empty() || !before.bytes().chain(after.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut scaled: i64 = 0;
    for digit in before.bytes().chain(after.bytes()).chain(std::iter::repeat_n(b'0', missing)) {
        let digit = i64::from(digit - b'0');
        // The smallest number has no positive counterpart, so that negative ones are counted downwards.
        scaled = scaled.checked_mul(10)?.checked_add(if is_negative { -digit } else { digit })?;
    }
    if !(ranges.is_empty() || ranges.iter().any(|range| range.contains(&scaled))) {
        return None;
    }
    let sign = if scaled < 0 { "-" } else { "" };
    let fraction = if after.is_empty() { "0" } else { after };
    Some(format!("{sign}{}.{fraction}", without_zeros(before)).into())
}

/// The white space that is let through around a number.
fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r'])
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// A number of digits alone: `str::parse` would let a second sign through.
fn whole(digits: &str) -> Option<u64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

fn without_zeros(digits: &str) -> &str {
    match digits.trim_start_matches('0') {
        "" => "0",
        rest => rest,
    }
}
