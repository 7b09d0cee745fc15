//! Numbers as text: the shortest that reads back to the same bits, and the nearest double of a text.

use std::fmt::Write as _;

/// Values below this with at most three decimals take the short way: their digits are fewer than 16, and two decimals of
/// fewer than 16 digits never share a double, so the stripped text is the shortest.
const SHORT_BELOW: f64 = 1e12;
/// Adding and subtracting this rounds a double below 2^51 to an integer.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Up to four bytes of text and, in the last byte, how many they are.
type Digits = [u8; 8];

/// `0` to `999` without leading zeros.
static WHOLES: [Digits; 1000] = table(false);
/// `.001` to `.999` without trailing zeros; nothing for 0.
static FRACTIONS: [Digits; 1000] = table(true);

#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "made and checked by the compiler"
)]
const fn table(fraction: bool) -> [Digits; 1000] {
    let mut out = [[0; 8]; 1000];
    let mut n = 0;
    while n < 1000 {
        let digits = [b'0' + (n / 100) as u8, b'0' + (n / 10 % 10) as u8, b'0' + (n % 10) as u8];
        out[n] = if fraction {
            let length = if n == 0 {
                0
            } else if n % 100 == 0 {
                2
            } else if n % 10 == 0 {
                3
            } else {
                4
            };
            [b'.', digits[0], digits[1], digits[2], 0, 0, 0, length]
        } else if n >= 100 {
            [digits[0], digits[1], digits[2], 0, 0, 0, 0, 3]
        } else if n >= 10 {
            [digits[1], digits[2], 0, 0, 0, 0, 0, 2]
        } else {
            [digits[2], 0, 0, 0, 0, 0, 0, 1]
        };
        n += 1;
    }
    out
}

/// Appends the first `length` of some bytes: a copy of fixed size, which is one or two instructions.
#[inline]
pub(crate) fn put<const N: usize>(out: &mut Vec<u8>, bytes: &[u8; N], length: usize) {
    let end = out.len() + length;
    out.extend_from_slice(bytes);
    out.truncate(end);
}

#[inline]
fn put_digits(out: &mut Vec<u8>, digits: &Digits) {
    let [.., length] = *digits;
    put(out, digits, usize::from(length));
}

/// Appends a value; `null` if it is not finite.
///
/// Integers are written without fraction (`5`), except −0, which is `-0.0`.
#[inline]
pub(crate) fn write_number(out: &mut Vec<u8>, value: f64) {
    if value.abs() < SHORT_BELOW {
        let thousandths = value * 1000.0 + ROUND - ROUND;
        if (thousandths / 1000.0).to_bits() == value.to_bits() {
            return write_thousandths(out, thousandths);
        }
    }
    write_any(out, value);
}

#[inline]
fn write_thousandths(out: &mut Vec<u8>, thousandths: f64) {
    #[expect(clippy::cast_possible_truncation, reason = "an integer below 10^15")]
    let thousandths = thousandths as i64;
    if thousandths < 0 {
        out.push(b'-');
    }
    let thousandths = thousandths.unsigned_abs();
    let (whole, rest) = (thousandths / 1000, thousandths % 1000);
    match usize::try_from(whole).ok().and_then(|whole| WHOLES.get(whole)) {
        Some(digits) => put_digits(out, digits),
        None => out.extend_from_slice(itoa::Buffer::new().format(whole).as_bytes()),
    }
    if let Some(digits) = usize::try_from(rest).ok().and_then(|rest| FRACTIONS.get(rest)) {
        put_digits(out, digits);
    }
}

fn write_any(out: &mut Vec<u8>, value: f64) {
    if !value.is_finite() {
        return out.extend_from_slice(b"null");
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value);
    // A whole number needs no fraction; the sign of −0 does.
    let plain = text.strip_suffix(".0").filter(|_| value != 0.0).unwrap_or(text);
    out.extend_from_slice(plain.as_bytes());
}

/// Powers of ten that are exact doubles, by which a mantissa of fewer than 16 digits may be divided.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Reads a plain decimal at the start of `bytes`: its value and length. `None` for all that is longer than 15 characters,
/// has an exponent, is malformed, or is within 16 bytes of the end of `bytes`: [`read_number`] must look at those.
///
/// The mantissa is an integer below 2^53 and the power of ten is exact, so one division gives the nearest double
/// (Clinger 1990, the fast path).
#[inline(always)]
pub(crate) fn read_decimal(bytes: &[u8]) -> Option<(f64, usize)> {
    let negative = bytes.first() == Some(&b'-');
    let digits = bytes.get(usize::from(negative)..)?;
    let (window, _) = digits.split_first_chunk::<16>()?;
    let (mantissa, fraction, end) = match short_digits(u128::from_le_bytes(*window)) {
        Some(found) => found,
        None => long_digits(u128::from_le_bytes(*window))?,
    };
    if matches!(digits.get(end as usize), Some(b'e' | b'E' | b'.')) {
        return None;
    }
    let power = POWERS.get(fraction as usize)?;
    #[expect(clippy::cast_precision_loss, reason = "below 10^15, exact")]
    let value = mantissa as f64 / power;
    Some((if negative { -value } else { value }, end as usize + usize::from(negative)))
}

/// Mantissa, digits after the point, and length of a decimal that ends within the first eight of sixteen bytes.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the first half is meant")]
fn short_digits(window: u128) -> Option<(u64, u32, u32)> {
    const DIGITS: u64 = u64::from_le_bytes([b'0'; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    const OVER_NINE: u64 = u64::from_le_bytes([0x76; 8]);
    // Bytes become digit values; every other byte shows in `others` by its high bit.
    let text = window as u64 ^ DIGITS;
    let others = (((text & !HIGH) + OVER_NINE) | text) & HIGH;
    let whole = others.trailing_zeros() / 8;
    let point = whole < 8 && (text >> (8 * whole)) as u8 == b'.' ^ b'0';
    let end = if point { (others & others.wrapping_sub(1)).trailing_zeros() / 8 } else { whole };
    let fraction = if point { end - whole - 1 } else { 0 };
    if end > 7 || !well_formed(text as u8, whole, point, fraction) {
        return None;
    }
    // Close the gap of the point, then align to the right: zeros come in front.
    let front = (1_u64 << (8 * whole)) - 1;
    let closed = if point { (text & front) | ((text >> 8) & !front) } else { text };
    Some((eight_digits(closed << (8 * (8 - whole - fraction))), fraction, end))
}

/// The same for one that ends within all sixteen bytes.
fn long_digits(window: u128) -> Option<(u64, u32, u32)> {
    const DIGITS: u128 = u128::from_le_bytes([b'0'; 16]);
    const HIGH: u128 = u128::from_le_bytes([0x80; 16]);
    const OVER_NINE: u128 = u128::from_le_bytes([0x76; 16]);
    let text = window ^ DIGITS;
    let others = (((text & !HIGH) + OVER_NINE) | text) & HIGH;
    let whole = others.trailing_zeros() / 8;
    let point = whole < 16 && (text >> (8 * whole)) & 0xff == u128::from(b'.' ^ b'0');
    let end = if point { (others & others.wrapping_sub(1)).trailing_zeros() / 8 } else { whole };
    let fraction = if point { end - whole - 1 } else { 0 };
    #[expect(clippy::cast_possible_truncation, reason = "the first byte is meant")]
    if end > 15 || !well_formed(text as u8, whole, point, fraction) {
        return None;
    }
    let front = (1_u128 << (8 * whole)) - 1;
    let closed = if point { (text & front) | ((text >> 8) & !front) } else { text };
    Some((sixteen_digits(closed << (8 * (16 - whole - fraction))), fraction, end))
}

/// Whether there are digits on both sides of a point, and no leading zero (RFC 8259, section 6).
#[inline]
fn well_formed(first: u8, whole: u32, point: bool, fraction: u32) -> bool {
    whole > 0 && !(point && fraction == 0) && !(whole > 1 && first == 0)
}

/// The number that sixteen digit values spell, the first in the lowest byte.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the two halves of a word")]
fn sixteen_digits(digits: u128) -> u64 {
    eight_digits(digits as u64) * 100_000_000 + eight_digits((digits >> 64) as u64)
}

/// The number that eight digit values spell, the first in the lowest byte: pairs, then fours, then all.
#[inline]
fn eight_digits(digits: u64) -> u64 {
    let pairs = (digits.wrapping_mul(10) + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff
}

/// The nearest double of a well-formed number.
///
/// # Errors
///
/// The reason, if the number is beyond the range of doubles.
pub(crate) fn read_number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) if text.bytes().any(|byte| byte.is_ascii_digit()) => {
            let mut reason = "the value ".to_owned();
            let _ = write!(reason, "{} is beyond the range of a double", shorten(text));
            Err(reason)
        }
        Ok(_) => Err(format!("the value {} is not finite", shorten(text))),
        Err(_) => Err(format!("{:?} is not a number", shorten(text))),
    }
}

/// At most 60 characters of what a client sent, for a message.
pub(crate) fn shorten(text: &str) -> String {
    let mut out: String = text.chars().take(60).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests;
