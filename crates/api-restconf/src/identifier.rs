//! Identifiers of data resources (RFC 8040, section 3.5.3): a path as text in, steps and keys out. What the names mean is
//! another room's.

use std::borrow::Cow;

use api_http::percent_decode_segment;

/// The most steps of a path: deeper than any schema goes.
pub(crate) const STEPS_MAX: usize = 256;
/// The most bytes of a path that are looked at; keys may be long.
pub(crate) const PATH_BYTES_MAX: usize = 64 << 10;

/// One segment of a path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Segment<'a> {
    /// The module of the name, if it is said.
    pub(crate) module: Option<Cow<'a, str>>,
    pub(crate) name: Cow<'a, str>,
    /// The values behind `=`, which may be empty; `None` without `=`.
    pub(crate) keys: Option<Vec<Cow<'a, str>>>,
}

/// Why a path cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum IdentifierError {
    /// Too long, or too deep.
    #[error("the path is longer than {PATH_BYTES_MAX} bytes or deeper than {STEPS_MAX} segments")]
    TooLong,
    /// Nothing between two slashes.
    #[error("segment {0} of the path is empty")]
    Empty(usize),
    /// A percent encoding that is none.
    #[error("segment {0} of the path, {1:?}, has a percent encoding that does not decode to UTF-8")]
    Coding(usize, String),
    /// A name that YANG does not know.
    #[error(
        "segment {0} of the path: {1:?} is no name of a node; it must be NAME or MODULE:NAME, of letters, digits, \"_\", \"-\" and \".\""
    )]
    Name(usize, String),
}

/// Reads what stands behind `{root}/data/`, as it was sent; one slash at its beginning is passed over. Cost: one pass; borrows what is not
/// encoded.
///
/// # Errors
///
/// [`IdentifierError`], with the number of the segment, counted from 1.
pub(crate) fn parse_identifier(path: &str) -> Result<Vec<Segment<'_>>, IdentifierError> {
    if path.len() > PATH_BYTES_MAX {
        return Err(IdentifierError::TooLong);
    }
    let path = path.strip_prefix('/').unwrap_or(path);
    let mut segments = Vec::new();
    for (place, segment) in path.split('/').enumerate() {
        if segments.len() == STEPS_MAX {
            return Err(IdentifierError::TooLong);
        }
        segments.push(parse_segment(place + 1, segment)?);
    }
    Ok(segments)
}

fn parse_segment(place: usize, segment: &str) -> Result<Segment<'_>, IdentifierError> {
    if segment.is_empty() {
        return Err(IdentifierError::Empty(place));
    }
    let decode =
        |text| percent_decode_segment(text).ok_or_else(|| IdentifierError::Coding(place, segment.to_owned()));
    let (name, keys) = match segment.split_once('=') {
        Some((name, keys)) => (name, Some(keys)),
        None => (segment, None),
    };
    let (module, name) = split_name(decode(name)?);
    if module.as_deref().is_some_and(|module| !is_identifier(module)) || !is_identifier(&name) {
        return Err(IdentifierError::Name(place, segment.to_owned()));
    }
    // Commas that are part of a value are encoded: values are told apart before they are decoded.
    let keys = keys.map(|keys| keys.split(',').map(decode).collect::<Result<_, _>>()).transpose()?;
    Ok(Segment { module, name, keys })
}

/// `module:name`, or a name alone.
fn split_name(text: Cow<'_, str>) -> (Option<Cow<'_, str>>, Cow<'_, str>) {
    match text {
        Cow::Borrowed(text) => match text.split_once(':') {
            Some((module, name)) => (Some(module.into()), name.into()),
            None => (None, text.into()),
        },
        Cow::Owned(text) => match text.split_once(':') {
            Some((module, name)) => (Some(module.to_owned().into()), name.to_owned().into()),
            None => (None, text.into()),
        },
    }
}

/// Whether a text can be the name of a node or module (RFC 7950, section 6.2).
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

/// Appends the value of a key as a path spells it: what is reserved is encoded, the comma and the slash among it.
pub(crate) fn put_key(out: &mut String, value: &str) {
    api_http::percent_encode_into(value, out);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spelt(path: &str) -> Result<String, IdentifierError> {
        let steps = parse_identifier(path)?.into_iter().map(|segment| {
            let module = segment.module.map(|module| format!("{module}:")).unwrap_or_default();
            let keys = segment.keys.map(|keys| format!("{keys:?}")).unwrap_or_default();
            format!("{module}{}{keys}", segment.name)
        });
        Ok(steps.collect::<Vec<_>>().join(" / "))
    }

    fn check(path: &str, expected: &str) {
        assert_eq!(spelt(path).as_deref(), Ok(expected), "{path}");
    }

    #[test]
    fn steps_have_modules_names_and_keys() {
        check("example-jukebox:jukebox", "example-jukebox:jukebox");
        check(
            "/example-jukebox:jukebox/library/artist=Foo%20Fighters/album=Wasting%20Light",
            "example-jukebox:jukebox / library / artist[\"Foo Fighters\"] / album[\"Wasting Light\"]",
        );
        check(
            "a:top/list1=key1,key2,key3/list2=key4",
            "a:top / list1[\"key1\", \"key2\", \"key3\"] / list2[\"key4\"]",
        );
        check("a:top/list1=key1%2Ckey2%2Fkey3", "a:top / list1[\"key1,key2/key3\"]");
        check("a:top/list1=,,", "a:top / list1[\"\", \"\", \"\"]");
        check("a:top/list1=", "a:top / list1[\"\"]");
        check("a:top/b:leaf-list=x=y", "a:top / b:leaf-list[\"x=y\"]");
        check("a%3Atop/x", "a:top / x");
        check("a:list=%27%22%3A%E2%82%AC+", "a:list[\"'\\\":€+\"]");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        use IdentifierError::{Coding, Empty, Name, TooLong};
        assert_eq!(spelt(""), Err(Empty(1)));
        assert_eq!(spelt("a:b//c"), Err(Empty(2)));
        assert_eq!(spelt("a:b/"), Err(Empty(2)));
        assert_eq!(spelt("a:b/c=%zz"), Err(Coding(2, "c=%zz".into())));
        assert_eq!(spelt("a:b/c=%ff"), Err(Coding(2, "c=%ff".into())));
        for name in ["a:b:c", ":b", "a:", "=x", "a b", "1a", "a:b[c='d']", "*"] {
            let path = format!("m:top/{name}");
            assert_eq!(spelt(&path), Err(Name(2, name.into())), "{name}");
        }
        assert_eq!(spelt(&"a/".repeat(STEPS_MAX + 1)), Err(TooLong));
        assert_eq!(spelt(&"a".repeat(PATH_BYTES_MAX + 1)), Err(TooLong));
    }

    proptest! {
        #[test]
        fn keys_come_back_as_they_were(
            steps in prop::collection::vec(("[a-z][a-z0-9.-]{0,5}", prop::collection::vec("\\PC{0,6}|[,/=:% +]{0,4}", 0..3)), 1..5),
        ) {
            let mut path = String::new();
            for (name, keys) in &steps {
                path.push('/');
                path.push_str(name);
                for (place, key) in keys.iter().enumerate() {
                    path.push(if place == 0 { '=' } else { ',' });
                    put_key(&mut path, key);
                }
            }
            let found = parse_identifier(&path).unwrap();
            let found: Vec<_> = found
                .into_iter()
                .map(|segment| {
                    let keys = segment.keys.unwrap_or_default();
                    (segment.name.into_owned(), keys.into_iter().map(Cow::into_owned).collect::<Vec<_>>())
                })
                .collect();
            prop_assert_eq!(found, steps);
        }

        #[test]
        fn no_path_panics(path in "[a:/=,%2c é\\PC]{0,60}") {
            let _ = parse_identifier(&path);
        }
    }
}
