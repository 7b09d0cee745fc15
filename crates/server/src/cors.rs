//! Pages of other origins in browsers: which may read answers, and send what browsers ask about first (CORS, the Fetch
//! standard). Nobody's, unless a setting names them.

use std::str::FromStr;

use http::{HeaderMap, HeaderValue, Uri, header};

/// What pages may read of answers, beside what they always may.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "Allow, Content-Range, ETag, Link, Location, NGSILD-Results-Count, NGSILD-Tenant, NGSILD-Warning, \
     Preference-Applied, Retry-After, X-Request-Id",
);
/// How long a browser remembers what it was told, in seconds.
const AGE_MAX: HeaderValue = HeaderValue::from_static("600");

/// Whose pages: as a setting spells it, separated by blanks or commas; `*` is everybody's.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) enum CorsOrigins {
    /// Nobody's.
    #[default]
    None,
    /// Everybody's.
    Any,
    /// Those of these origins.
    These(Vec<HeaderValue>),
}

impl FromStr for CorsOrigins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split([' ', ',']).filter(|word| !word.is_empty()).peekable();
        if words.peek().is_none() {
            return Ok(Self::None);
        }
        if text.trim() == "*" {
            return Ok(Self::Any);
        }
        words.map(origin).collect::<Result<_, _>>().map(Self::These)
    }
}

/// `https://app.example.org`, `http://localhost:5173`.
fn origin(text: &str) -> Result<HeaderValue, String> {
    let wrong = || format!("{text:?} is no origin: it must be like https://app.example.org:8443, or * alone");
    let uri: Uri = text.parse().map_err(|_| wrong())?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(wrong()) };
    let plain = format!("{scheme}://{authority}");
    if plain != text || authority.as_str().contains('@') || authority.host().is_empty() {
        return Err(wrong());
    }
    // Browsers spell origins in small letters.
    HeaderValue::try_from(plain.to_ascii_lowercase()).map_err(|_| wrong())
}

impl CorsOrigins {
    /// What an answer to a page of this origin says of whose pages may read it.
    fn allowed(&self, origin: &HeaderValue) -> Option<HeaderValue> {
        match self {
            Self::None => None,
            Self::Any => Some(HeaderValue::from_static("*")),
            Self::These(origins) => origins.contains(origin).then(|| origin.clone()),
        }
    }

    /// Lets the page of the origin that a request names read the answer, if it may. Cost: nothing if no origin may.
    pub(crate) fn let_read(&self, origin: Option<&HeaderValue>, answer: &mut HeaderMap) {
        if let Self::These(_) = self {
            answer.append(header::VARY, HeaderValue::from_static("origin"));
        }
        if let Some(allowed) = origin.and_then(|origin| self.allowed(origin)) {
            answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
            answer.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
    }

    /// Answers what a browser asks before it sends for a page what plain forms cannot: the answer has `Allow`, which
    /// says what the path allows. It need not be told who may read it: [`CorsOrigins::let_read`] does.
    pub(crate) fn let_send(&self, request: &HeaderMap, answer: &mut HeaderMap) {
        let is_asked = request.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        let may = request.get(header::ORIGIN).and_then(|origin| self.allowed(origin)).is_some();
        if !is_asked || !may {
            return;
        }
        if let Some(methods) = answer.get(header::ALLOW).cloned() {
            answer.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        }
        if let Some(names) = request.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
            answer.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
            answer.append(header::VARY, HeaderValue::from_static("access-control-request-headers"));
        }
        answer.insert(header::ACCESS_CONTROL_MAX_AGE, AGE_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APP: HeaderValue = HeaderValue::from_static("https://app.example.org");

    fn read(origins: &str, origin: Option<&HeaderValue>) -> HeaderMap {
        let mut answer = HeaderMap::new();
        origins.parse::<CorsOrigins>().unwrap().let_read(origin, &mut answer);
        answer
    }

    #[test]
    fn nobodys_pages_may_read_unless_they_are_named() {
        assert!(read("", Some(&APP)).is_empty());
        for other in ["https://app.example.org:8443", "http://app.example.org", "null"] {
            let answer = read("https://app.example.org", Some(&HeaderValue::from_static(other)));
            assert!(!answer.contains_key("access-control-allow-origin"), "{other}");
            assert_eq!(answer["vary"], "origin");
        }
    }

    #[test]
    fn pages_that_are_named_may_read() {
        for origins in ["https://app.example.org", "http://localhost:5173, https://App.example.org"] {
            let answer = read(origins, Some(&APP));
            assert_eq!(answer["access-control-allow-origin"], "https://app.example.org");
            assert_eq!(answer["vary"], "origin");
            for name in ["Link", "Location", "NGSILD-Results-Count", "NGSILD-Tenant", "ETag"] {
                assert!(answer["access-control-expose-headers"].to_str().unwrap().contains(name), "{name}");
            }
        }
        let answer = read("*", Some(&APP));
        assert_eq!(answer["access-control-allow-origin"], "*");
        assert!(!answer.contains_key("vary") && !answer.contains_key("access-control-allow-credentials"));
        assert!(read("*", None).is_empty());
    }

    #[test]
    fn what_browsers_ask_first_is_answered() {
        let mut request = HeaderMap::new();
        request.insert("origin", APP);
        request.insert("access-control-request-method", HeaderValue::from_static("PATCH"));
        request.insert("access-control-request-headers", HeaderValue::from_static("content-type, link"));
        let allow = HeaderValue::from_static("GET, PATCH");
        let ask = |origins: &str, request: &HeaderMap| {
            let mut answer = HeaderMap::from_iter([(header::ALLOW, allow.clone())]);
            origins.parse::<CorsOrigins>().unwrap().let_send(request, &mut answer);
            answer
        };
        let answer = ask("https://app.example.org", &request);
        assert_eq!(answer["access-control-allow-methods"], "GET, PATCH");
        assert_eq!(answer["access-control-allow-headers"], "content-type, link");
        assert_eq!(answer["access-control-max-age"], "600");
        assert_eq!(ask("https://other.example.org", &request).len(), 1);
        request.remove("access-control-request-method");
        assert_eq!(ask("*", &request).len(), 1);
    }

    #[test]
    fn what_is_no_origin_is_refused() {
        for text in [
            "app.example.org",
            "https://app.example.org/",
            "https://a@b",
            "https://",
            "* https://a",
            "https://a/b",
        ] {
            let refused = text.parse::<CorsOrigins>().unwrap_err();
            assert!(refused.contains("is no origin"), "{text}: {refused}");
        }
    }
}
