//! Query parameters: `%` and `+` decoded, order kept; and the same coding the other way round.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The query part of a URL, decoded once into one buffer.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Params {
    /// Names and values, decoded, one behind the other.
    text: String,
    /// End of name and end of value of every pair, as offsets in `text`.
    ends: Vec<(usize, usize)>,
}

/// Decodes `%XX` and, as forms do, `+`; `None` if what comes out is no UTF-8 or a `%` is malformed.
///
/// Cost: one pass; borrows when there is nothing to decode.
pub fn percent_decode(text: &str) -> Option<Cow<'_, str>> {
    if memchr::memchr2(b'%', b'+', text.as_bytes()).is_none() {
        return Some(Cow::Borrowed(text));
    }
    let mut decoded = Vec::with_capacity(text.len());
    decode_into(text, true, &mut decoded)?;
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

/// The same for a segment of a path, where `+` is a plus sign.
pub fn percent_decode_segment(text: &str) -> Option<Cow<'_, str>> {
    if memchr::memchr(b'%', text.as_bytes()).is_none() {
        return Some(Cow::Borrowed(text));
    }
    let mut decoded = Vec::with_capacity(text.len());
    decode_into(text, false, &mut decoded)?;
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

/// Appends `text` to `out` so that [`percent_decode`] (and [`percent_decode_segment`]) gives it back:
/// letters, digits and `-._~:*` as they are, everything else as `%XX`.
pub fn percent_encode_into(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' | b'*' => {
                out.push(char::from(byte));
            }
            _ => {
                let written = write!(out, "%{byte:02X}");
                debug_assert!(written.is_ok(), "writing to a string succeeds");
            }
        }
    }
}

impl Params {
    /// Splits and decodes a query. Cost: one pass, two allocations; none for an empty query.
    ///
    /// A name without `=` has an empty value; empty pairs (`a=1&&b=2`) are passed over.
    ///
    /// # Errors
    ///
    /// The pair that cannot be decoded, and where its coding is broken, as a sentence.
    pub fn parse(query: &str) -> Result<Self, String> {
        let mut text = Vec::with_capacity(query.len());
        let mut ends = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let start = text.len();
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name_end = decode_into(name, true, &mut text).map(|()| text.len());
            let value_end = decode_into(value, true, &mut text).map(|()| text.len());
            let (Some(name_end), Some(value_end)) = (name_end, value_end) else {
                return Err(broken_coding(pair));
            };
            // Names and values are checked apart: halves of a character must not meet.
            let halves = [text.get(start..name_end), text.get(name_end..value_end)];
            if halves.iter().any(|half| half.is_none_or(|bytes| std::str::from_utf8(bytes).is_err())) {
                return Err(broken_coding(pair));
            }
            ends.push((name_end, value_end));
        }
        let text = String::from_utf8(text).expect("names and values were checked one by one");
        Ok(Self { text, ends })
    }

    /// The first value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// All values of a parameter that may be repeated, in order.
    pub fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.iter().filter(move |(key, _)| *key == name).map(|(_, value)| value)
    }

    /// All parameters, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut start = 0;
        self.ends.iter().map(move |(name_end, value_end)| {
            let between =
                |from, to| self.text.get(from..to).expect("names and values end between characters");
            let name = between(start, *name_end);
            start = *value_end;
            (name, between(*name_end, *value_end))
        })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// Says of a text that cannot be decoded why, and where.
pub(crate) fn broken_coding(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 200;
    let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    let is_code = |code: &str| code.len() == 2 && code.bytes().all(|byte| hex_digit(byte).is_some());
    let mut signs = memchr::memchr_iter(b'%', text.as_bytes());
    let broken = signs.find(|at| !text.get(at + 1..at + 3).is_some_and(is_code));
    match broken {
        Some(at) => {
            let code = text.get(at..).expect("a percent sign begins there");
            let code: String = code.chars().take(3).collect();
            format!(
                "the percent encoding of {shown:?} is broken at byte {at}: {code:?} is not % and two hexadecimal digits"
            )
        }
        None => format!("the percent encoding of {shown:?} does not decode to UTF-8"),
    }
}

/// Appends the decoded bytes of `text`; `None` at a malformed `%`.
fn decode_into(text: &str, plus_is_space: bool, out: &mut Vec<u8>) -> Option<()> {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let high = hex_digit(bytes.next()?)?;
                let low = hex_digit(bytes.next()?)?;
                out.push(high << 4 | low);
            }
            b'+' if plus_is_space => out.push(b' '),
            _ => out.push(byte),
        }
    }
    Some(())
}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(query: &str, expected: &[(&str, &str)]) {
        let params = Params::parse(query).unwrap();
        assert_eq!(params.iter().collect::<Vec<_>>(), expected, "{query}");
        assert_eq!(params.is_empty(), expected.is_empty());
    }

    fn check_refused(query: &str, pair: &str) {
        let refused = Params::parse(query).unwrap_err();
        assert!(refused.contains(&format!("percent encoding of {pair:?}")), "{query}: {refused}");
    }

    #[test]
    fn pairs_are_split_and_decoded() {
        check("", &[]);
        check("&&", &[]);
        check("a=1&b=2", &[("a", "1"), ("b", "2")]);
        check("a&b=", &[("a", ""), ("b", "")]);
        check("=x", &[("", "x")]);
        check("q=a==1", &[("q", "a==1")]);
        check("q=name+of%20it%3D%3D%22x%22", &[("q", "name of it==\"x\"")]);
        check("n%C3%A4me=%e2%82%ac", &[("näme", "€")]);
        check("plus=1%2B1", &[("plus", "1+1")]);
        check("q=temperature>20;name==\"x\"", &[("q", "temperature>20;name==\"x\"")]);
    }

    #[test]
    fn what_cannot_be_decoded_is_named() {
        check_refused("a=1&b=%", "b=%");
        check_refused("a=%4", "a=%4");
        check_refused("a=%zz", "a=%zz");
        check_refused("a=%ff&b=1", "a=%ff");
        check_refused("%C3=%A4", "%C3=%A4");
    }

    #[test]
    fn values_are_found_by_name() {
        let params = Params::parse("a=1&b=2&a=3").unwrap();
        assert_eq!(params.get("a"), Some("1"));
        assert_eq!(params.get("c"), None);
        assert_eq!(params.get_all("a").collect::<Vec<_>>(), ["1", "3"]);
    }

    #[test]
    fn a_plus_in_a_path_stands_for_itself() {
        assert_eq!(percent_decode_segment("a+b%20c").as_deref(), Some("a+b c"));
        assert_eq!(percent_decode("a+b%20c").as_deref(), Some("a b c"));
        assert_eq!(percent_decode_segment("%"), None);
        assert_eq!(percent_decode("%E4"), None);
        assert!(matches!(percent_decode("plain"), Some(Cow::Borrowed("plain"))));
    }

    proptest! {
        #[test]
        fn decoding_undoes_encoding(text in "\\PC{0,40}|.{0,40}") {
            let mut encoded = String::new();
            percent_encode_into(&text, &mut encoded);
            prop_assert!(encoded.is_ascii());
            prop_assert_eq!(percent_decode(&encoded), Some(Cow::Borrowed(text.as_str())));
            prop_assert_eq!(percent_decode_segment(&encoded), Some(Cow::Borrowed(text.as_str())));
        }

        #[test]
        fn encoded_pairs_come_back(pairs in prop::collection::vec((".{1,8}", ".{0,8}"), 0..6)) {
            let mut query = String::new();
            for (name, value) in &pairs {
                percent_encode_into(name, &mut query);
                query.push('=');
                percent_encode_into(value, &mut query);
                query.push('&');
            }
            let params = Params::parse(&query).unwrap();
            let expected: Vec<_> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            prop_assert_eq!(params.iter().collect::<Vec<_>>(), expected);
        }

        #[test]
        fn no_query_panics(query in "[%&=+a-f0-9é\\PC]{0,60}") {
            let _ = Params::parse(&query);
            let _ = percent_decode(&query);
            let _ = percent_decode_segment(&query);
        }
    }
}
