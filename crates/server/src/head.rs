//! What the head of a request must be like before anything is done about it, whoever answers.

use api_http::Refusal;
use http::{HeaderMap, HeaderName, HeaderValue, Version, header};

/// By which clients name their requests.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest name of a request that is taken over.
const REQUEST_ID_BYTES_MAX: usize = 128;

/// What the server itself wants of the fields of a request's head.
pub(crate) struct Fields {
    hosts: usize,
    /// The form that refusals are worded in, where an API has several.
    pub(crate) accept: Option<HeaderValue>,
    pub(crate) accept_encoding: Option<HeaderValue>,
    pub(crate) name: RequestName,
    /// The page that a browser sent the request for.
    pub(crate) origin: Option<HeaderValue>,
}

impl Fields {
    /// Cost: one pass over the fields; look-ups would hash each name.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let (mut hosts, mut accept, mut accept_encoding) = (0, None, None);
        let (mut name, mut origin) = (None, None);
        for (field, value) in headers {
            if *field == header::HOST {
                hosts += 1;
            } else if *field == header::ACCEPT {
                accept.get_or_insert(value);
            } else if *field == header::ACCEPT_ENCODING {
                accept_encoding.get_or_insert(value);
            } else if *field == header::ORIGIN {
                origin.get_or_insert(value);
            } else if *field == X_REQUEST_ID {
                name.get_or_insert(value);
            }
        }
        Self {
            hosts,
            accept: accept.cloned(),
            accept_encoding: accept_encoding.cloned(),
            name: RequestName::of(name),
            origin: origin.cloned(),
        }
    }

    /// Refuses requests of HTTP/1.1 that do not say for which host they are, and all that say so twice (RFC 9112, 3.2).
    pub(crate) fn check_host(&self, version: Version) -> Result<(), Refusal> {
        match self.hosts {
            1 => Ok(()),
            0 if version == Version::HTTP_11 => {
                Err(Refusal::BadHead("a request of HTTP/1.1 must have the header Host".to_owned()))
            }
            0 => Ok(()),
            count => Err(Refusal::BadHead(format!(
                "the header Host is given {count} times, and may be given once"
            ))),
        }
    }
}

/// What a client calls its request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum RequestName {
    /// Nothing.
    None,
    /// This, which answers repeat.
    Given(HeaderValue),
    /// Something that is not repeated: too long, or not visible. The answer tells what the server calls it.
    Unfit,
}

impl RequestName {
    fn of(name: Option<&HeaderValue>) -> Self {
        let Some(name) = name else { return Self::None };
        let bytes = name.as_bytes();
        let is_fit =
            (1..=REQUEST_ID_BYTES_MAX).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic);
        if is_fit { Self::Given(name.clone()) } else { Self::Unfit }
    }

    /// The name as text, if it is repeated.
    pub(crate) fn given(&self) -> Option<&str> {
        match self {
            Self::Given(name) => name.to_str().ok(),
            Self::None | Self::Unfit => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, values: &[&'static [u8]]) -> HeaderMap {
        let values = values.iter().map(|value| HeaderValue::from_bytes(value).unwrap());
        values.map(|value| (HeaderName::from_static(name), value)).collect()
    }

    fn check(version: Version, hosts: &[&'static [u8]], is_fine: bool) {
        let fields = Fields::of(&headers("host", hosts));
        assert_eq!(fields.check_host(version).is_ok(), is_fine, "{version:?} {hosts:?}");
    }

    #[test]
    fn a_request_is_for_one_host() {
        check(Version::HTTP_11, &[b"a"], true);
        check(Version::HTTP_11, &[b""], true);
        check(Version::HTTP_11, &[], false);
        check(Version::HTTP_10, &[], true);
        check(Version::HTTP_2, &[], true);
        for version in [Version::HTTP_10, Version::HTTP_11, Version::HTTP_2] {
            check(version, &[b"a", b"a"], false);
        }
    }

    #[test]
    fn names_of_requests_are_short_and_visible() {
        let longest: &'static [u8] = &[b'x'; REQUEST_ID_BYTES_MAX];
        let too_long: &'static [u8] = &[b'x'; REQUEST_ID_BYTES_MAX + 1];
        for value in [b"a".as_slice(), b"4bf92f-35:~!", longest] {
            let name = Fields::of(&headers("x-request-id", &[value, b"second"])).name;
            assert_eq!(name.given().map(str::as_bytes), Some(value));
        }
        for value in [b"".as_slice(), b"a b", b"caf\xe9", b"a\tb", too_long] {
            let name = Fields::of(&headers("x-request-id", &[value])).name;
            assert_eq!(name, RequestName::Unfit, "{value:?}");
        }
        assert_eq!(Fields::of(&HeaderMap::new()).name, RequestName::None);
    }
}
