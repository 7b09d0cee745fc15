//! The two forms of data, JSON and XML, and which of them a request sends and wants.

use api_http::{MediaType, Request, accept};

pub(crate) use crate::problem::JSON;
use crate::problem::Problem;

/// The media type of XML.
pub(crate) const XML: MediaType = "application/xml";

/// A form of data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    Json,
    Xml,
}

impl Form {
    /// Its media type.
    pub(crate) fn media_type(self) -> MediaType {
        match self {
            Self::Json => JSON,
            Self::Xml => XML,
        }
    }
}

/// The form of a body. None said is JSON, and so is what curl and tools send by default.
///
/// # Errors
///
/// 415.
pub(crate) fn body_form(request: &Request) -> Result<Form, Problem> {
    let given = request.content_type().unwrap_or("");
    let is = |known: &str| given.eq_ignore_ascii_case(known);
    if given.is_empty() || is(JSON) || is("application/yang-data+json") || is("text/plain") {
        return Ok(Form::Json);
    }
    if is(XML) || is("text/xml") || is("application/yang-data+xml") {
        return Ok(Form::Xml);
    }
    Err(Problem::unsupported_media_type(given))
}

/// The form of an answer: XML if the request accepts it rather than JSON, or has it as its own media type, as clients of CPS
/// say it.
pub(crate) fn answer_form(request: &Request) -> Form {
    let is_xml = |media: Option<&str>| media.is_some_and(|media| media.eq_ignore_ascii_case(XML));
    match request.header("accept") {
        Some(accepted) if names_one(accepted) => {
            if accept(Some(accepted), &[JSON, XML]) == Some(XML) {
                Form::Xml
            } else {
                Form::Json
            }
        }
        _ if is_xml(request.content_type()) => Form::Xml,
        _ => Form::Json,
    }
}

/// Whether a list of accepted types names one of the two: browsers and tools accept anything.
fn names_one(accepted: &str) -> bool {
    accepted.contains(JSON) || accepted.contains(XML)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderName, HeaderValue};

    use super::*;

    fn request(headers: &[(&'static str, &'static str)]) -> Request {
        let header = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        Request { headers: headers.iter().map(header).collect::<HeaderMap>(), ..Request::default() }
    }

    #[test]
    fn xml_is_asked_for_by_either_header() {
        let check = |headers: &[(&'static str, &'static str)], expected| {
            assert_eq!(answer_form(&request(headers)), expected, "{headers:?}");
        };
        check(&[], Form::Json);
        check(&[("accept", "*/*")], Form::Json);
        check(&[("accept", "application/xml")], Form::Xml);
        check(&[("content-type", "application/xml; charset=utf-8")], Form::Xml);
        check(&[("accept", "*/*"), ("content-type", "application/xml")], Form::Xml);
        check(&[("accept", "application/json"), ("content-type", "application/xml")], Form::Json);
        check(&[("accept", "application/xml;q=0.5, application/json")], Form::Json);
    }

    #[test]
    fn bodies_are_json_unless_they_say_otherwise() {
        let check = |media: &'static str, expected: Option<Form>| {
            assert_eq!(body_form(&request(&[("content-type", media)])).ok(), expected, "{media}");
        };
        assert_eq!(body_form(&request(&[])).ok(), Some(Form::Json));
        check("application/json;charset=UTF-8", Some(Form::Json));
        check("application/xml", Some(Form::Xml));
        check("text/csv", None);
    }
}
