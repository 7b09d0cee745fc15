//! A request, read whole.

use std::time::Instant;

use bytes::Bytes;
use http::{Extensions, HeaderMap, HeaderName, Method};

use crate::media::essence;
use crate::{Operation, Params, RequestMemory};

/// A request whose body was read within the limit, whatever its transfer and content coding.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// What its route does.
    pub operation: &'static Operation,
    /// The path as it was sent, without the query.
    pub path: String,
    /// The values of the route's `{name}` segments, percent-decoded, in order.
    pub captures: Vec<String>,
    /// The query, decoded.
    pub params: Params,
    /// The header fields.
    pub headers: HeaderMap,
    /// The body, decompressed.
    pub body: Bytes,
    /// Names the request in logs; error answers carry it as `X-Request-Id` unless the client sent one.
    pub id: u64,
    /// Until when it may be worked on; `None`: as long as it takes.
    pub deadline: Option<Instant>,
    /// The memory it holds, of what bodies and answers share; by default as much as there is.
    pub memory: RequestMemory,
    /// What a guard has found out about whoever asks; empty without one, which costs nothing.
    pub extensions: Extensions,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            method: Method::default(),
            operation: &Operation::UNDECLARED,
            path: String::new(),
            captures: Vec::new(),
            params: Params::default(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            id: 0,
            deadline: None,
            memory: RequestMemory::default(),
            extensions: Extensions::new(),
        }
    }
}

/// A header field that may be given once was given twice, or is not visible ASCII.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("header {0} must be given once, in visible ASCII")]
pub struct HeaderError(pub HeaderName);

impl Request {
    /// The first value of a header field, if it is visible ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The value of a header field that may be given once, trimmed; empty counts as not given.
    /// For fields that decide *whose* data is meant (the tenant), where guessing would be wrong.
    ///
    /// # Errors
    ///
    /// If it is given twice or is not visible ASCII.
    pub fn sole_header(&self, name: &HeaderName) -> Result<Option<&str>, HeaderError> {
        let mut values = self.headers.get_all(name).iter();
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(HeaderError(name.clone()));
        }
        let value = value.to_str().map_err(|_| HeaderError(name.clone()))?.trim();
        Ok((!value.is_empty()).then_some(value))
    }

    /// The value of the route's `{name}` segment number `index`; empty if there is none.
    pub fn capture(&self, index: usize) -> &str {
        self.captures.get(index).map_or("", String::as_str)
    }

    /// The essence of the body's media type: `Content-Type` without parameters, trimmed.
    pub fn content_type(&self) -> Option<&str> {
        self.header("content-type").map(essence)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_tenant_given_twice_is_refused() {
        let name = HeaderName::from_static("ngsild-tenant");
        let mut request = Request::default();
        assert_eq!(request.sole_header(&name), Ok(None));
        request.headers.append(&name, HeaderValue::from_static(" city "));
        assert_eq!(request.sole_header(&name), Ok(Some("city")));
        request.headers.append(&name, HeaderValue::from_static("farm"));
        assert_eq!(request.sole_header(&name), Err(HeaderError(name.clone())));
        request.headers.insert(&name, HeaderValue::from_bytes(b"caf\xe9").unwrap());
        assert_eq!(request.sole_header(&name), Err(HeaderError(name.clone())));
        request.headers.insert(&name, HeaderValue::from_static(""));
        assert_eq!(request.sole_header(&name), Ok(None));
    }

    #[test]
    fn the_content_type_is_read_without_parameters() {
        let mut request = Request::default();
        assert_eq!(request.content_type(), None);
        request.headers.insert("content-type", HeaderValue::from_static("application/json ; charset=utf-8"));
        assert_eq!(request.content_type(), Some("application/json"));
    }
}
