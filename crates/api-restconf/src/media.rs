//! Media types of RESTCONF (RFC 8040, sections 5.2 and 11.3), and the plain names of JSON and XML for clients that send those.

use api_http::{MediaType, Request, accept};

/// Data as JSON (RFC 7951).
pub(crate) const YANG_JSON: MediaType = "application/yang-data+json";
/// Data as XML.
pub(crate) const YANG_XML: MediaType = "application/yang-data+xml";
/// An ordered list of edits as JSON (RFC 8072).
const PATCH_JSON: MediaType = "application/yang-patch+json";
/// The same as XML.
const PATCH_XML: MediaType = "application/yang-patch+xml";
const JSON: MediaType = "application/json";
const XML: MediaType = "application/xml";

/// What answers are offered as, the first where anything will do.
const OFFERED: [MediaType; 4] = [YANG_JSON, YANG_XML, JSON, XML];
/// The same for whoever sends XML.
const OFFERED_TO_XML: [MediaType; 4] = [YANG_XML, YANG_JSON, XML, JSON];

/// How data is spelt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    Json,
    Xml,
}

/// What a request is answered with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Accepted {
    pub(crate) form: Form,
    /// As the answer names it.
    pub(crate) media: MediaType,
}

/// JSON by its own name.
pub(crate) const DEFAULT: Accepted = Accepted { form: Form::Json, media: YANG_JSON };

impl Accepted {
    /// What the header `Accept` prefers; without one, what the request itself is written in. `None`: nothing that is offered. Cost: no
    /// allocation.
    pub(crate) fn of(request: &Request) -> Option<Self> {
        let sent = request.content_type().and_then(|media| Form::of_media(media).or(Form::of_patch(media)));
        let offered = if sent == Some(Form::Xml) { &OFFERED_TO_XML } else { &OFFERED };
        Self::among(request.header("accept"), offered)
    }

    /// What a header `Accept` prefers, of a request of which nothing else is known.
    pub(crate) fn by_header(header: Option<&str>) -> Option<Self> {
        Self::among(header, &OFFERED)
    }

    fn among(header: Option<&str>, offered: &[MediaType]) -> Option<Self> {
        let media = accept(header, offered)?;
        Some(Self { form: Form::of_media(media)?, media })
    }
}

impl Form {
    /// The form of a YANG Patch of this media type.
    pub(crate) fn of_patch(media: &str) -> Option<Self> {
        if media.eq_ignore_ascii_case(PATCH_JSON) {
            Some(Self::Json)
        } else if media.eq_ignore_ascii_case(PATCH_XML) {
            Some(Self::Xml)
        } else {
            None
        }
    }

    /// The form of a media type, without its parameters.
    pub(crate) fn of_media(media: &str) -> Option<Self> {
        let is = |names: [&str; 2]| names.iter().any(|name| media.eq_ignore_ascii_case(name));
        if is([YANG_JSON, JSON]) {
            Some(Self::Json)
        } else if is([YANG_XML, XML]) {
            Some(Self::Xml)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check(accept: Option<&'static str>, sent: Option<&'static str>, expected: Option<MediaType>) {
        let mut request = Request::default();
        for (name, value) in [("accept", accept), ("content-type", sent)] {
            if let Some(value) = value {
                request.headers.insert(name, HeaderValue::from_static(value));
            }
        }
        assert_eq!(Accepted::of(&request).map(|accepted| accepted.media), expected, "{accept:?} {sent:?}");
    }

    #[test]
    fn the_preferred_form_is_chosen() {
        check(None, None, Some(YANG_JSON));
        check(Some("*/*"), None, Some(YANG_JSON));
        check(Some("application/yang-data+xml"), None, Some(YANG_XML));
        check(Some("application/xml"), None, Some(XML));
        check(Some("application/json"), Some(YANG_XML), Some(JSON));
        check(
            Some("application/yang-data+json;q=0.2, application/yang-data+xml;q=0.9"),
            None,
            Some(YANG_XML),
        );
        check(Some("text/html"), None, None);
        check(Some("text/html, */*;q=0.1"), None, Some(YANG_JSON));
    }

    #[test]
    fn who_sends_xml_and_accepts_anything_gets_xml() {
        check(None, Some("application/yang-data+xml; charset=utf-8"), Some(YANG_XML));
        check(Some("*/*"), Some("application/xml"), Some(YANG_XML));
        check(None, Some("application/yang-data+json"), Some(YANG_JSON));
        check(None, Some("application/yang-patch+xml"), Some(YANG_XML));
    }
}
