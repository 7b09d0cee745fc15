//! Strings and numbers as text: escapes, their canonical form, the grammar of numbers.

use std::borrow::Cow;

/// The length of the number at the start of `bytes` (RFC 8259 section 6), if there is one.
pub(crate) fn number_length(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || (whole > 1 && bytes.get(at) == Some(&b'0')) {
        return None;
    }
    at += whole;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return None;
        }
        at += 1 + fraction;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        let exponent = digits(at);
        if exponent == 0 {
            return None;
        }
        at += exponent;
    }
    Some(at)
}

/// The position of the first byte from `at` on that means something in a string: a quote, a backslash, a control character; all before
/// are plain. Cost: some steps for eight bytes; the last seven of `bytes` are not looked at.
pub(crate) fn plain_until(bytes: &[u8], mut at: usize) -> usize {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    // Of each byte that is less than a bound (128 at most) the highest bit; above the lowest such byte others may be marked, too.
    let less = |word: u64, bound: u8| word.wrapping_sub(EACH * u64::from(bound)) & !word;
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let word = u64::from_le_bytes(*word);
        let quote = less(word ^ (EACH * u64::from(b'"')), 1);
        let backslash = less(word ^ (EACH * u64::from(b'\\')), 1);
        let found = (quote | backslash | less(word, 0x20)) & (EACH << 7);
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at
}

/// Whether the nearest double to a number is one. Cost: a look at its bytes; it is parsed where it may be none.
pub(crate) fn is_finite(number: &str) -> bool {
    let is_plain = number.len() < 300 && !number.bytes().any(|byte| matches!(byte, b'e' | b'E'));
    is_plain || number.parse::<f64>().is_ok_and(f64::is_finite)
}

/// The characters of an escaped string body; `None` if an escape is malformed.
pub(crate) fn unescape(raw: &str) -> Option<String> {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(rest.get(..at)?);
        let escape = *rest.as_bytes().get(at + 1)?;
        rest = rest.get(at + 2..)?;
        let plain = match escape {
            b'"' | b'\\' | b'/' => char::from(escape),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let (found, left) = unicode(rest)?;
                rest = left;
                found
            }
            _ => return None,
        };
        out.push(plain);
    }
    out.push_str(rest);
    Some(out)
}

/// Reads the four digits after `\u`, and the second half of a surrogate pair where one is due.
fn unicode(rest: &str) -> Option<(char, &str)> {
    let unit = |text: &str| {
        let digits = text.get(..4).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        u32::from_str_radix(digits, 16).ok()
    };
    let first = unit(rest)?;
    let rest = rest.get(4..)?;
    if !(0xd800..0xdc00).contains(&first) {
        return Some((char::from_u32(first)?, rest));
    }
    let rest = rest.strip_prefix("\\u")?;
    let second = unit(rest).filter(|unit| (0xdc00..0xe000).contains(unit))?;
    let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    Some((char::from_u32(code)?, rest.get(4..)?))
}

/// The characters of a canonical JSON string (quotes included in `text`); `None` if it is none.
pub fn string_value(text: &str) -> Option<Cow<'_, str>> {
    let raw = text.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', raw.as_bytes()).is_none() {
        return Some(Cow::Borrowed(raw));
    }
    unescape(raw).map(Cow::Owned)
}
