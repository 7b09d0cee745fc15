//! `Link` fields that lead to the other pages of a result.

use std::fmt::Write as _;

use http::HeaderValue;

use crate::Request;
use crate::params::percent_encode_into;

/// Where another page lies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PageLink<'a> {
    /// What it is to this page: `next`, `prev`, `first` …
    pub rel: &'a str,
    /// Its first row.
    pub offset: usize,
    /// Its rows.
    pub limit: usize,
    /// Its media type, if the standard wants it said.
    pub media_type: Option<&'a str>,
}

/// A `Link` field that repeats the request with another `offset` and `limit`:
/// `</path?type=T&limit=20&offset=20>; rel="next"`. `None` if the path is not allowed in a header
/// (it was sent with bytes beyond ASCII).
pub fn page_link(request: &Request, link: PageLink<'_>) -> Option<HeaderValue> {
    let PageLink { rel, offset, limit, media_type } = link;
    let (mut field, separator) = begin_link(request, &["offset", "limit"]);
    write!(field, "{separator}limit={limit}&offset={offset}>; rel=\"{rel}\"").ok()?;
    if let Some(media_type) = media_type {
        write!(field, "; type=\"{media_type}\"").ok()?;
    }
    link_value(field)
}

/// A `Link` field that leads to the page behind `after`: the request with this value of the parameter.
/// `None` if the path is not allowed in a header.
pub fn next_link(request: &Request, after: &str) -> Option<HeaderValue> {
    let (mut field, separator) = begin_link(request, &["after"]);
    write!(field, "{separator}after=").ok()?;
    percent_encode_into(after, &mut field);
    field.push_str(">; rel=\"next\"");
    link_value(field)
}

/// The request's address up to the parameters that differ, and the separator before the next.
fn begin_link(request: &Request, differing: &[&str]) -> (String, char) {
    let mut field = String::with_capacity(request.path.len() + 96);
    field.push('<');
    field.push_str(&request.path);
    let mut separator = '?';
    for (name, value) in request.params.iter().filter(|(name, _)| !differing.contains(name)) {
        field.push(separator);
        percent_encode_into(name, &mut field);
        field.push('=');
        percent_encode_into(value, &mut field);
        separator = '&';
    }
    (field, separator)
}

fn link_value(field: String) -> Option<HeaderValue> {
    field.is_ascii().then(|| HeaderValue::try_from(field).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Params;

    fn check(path: &str, query: &str, media_type: Option<&str>, expected: Option<&str>) {
        let params = Params::parse(query).unwrap();
        let request = Request { path: path.to_owned(), params, ..Request::default() };
        let link = page_link(&request, PageLink { rel: "next", offset: 40, limit: 20, media_type });
        assert_eq!(link.as_ref().map(|link| link.to_str().unwrap()), expected);
    }

    #[test]
    fn a_link_repeats_the_request() {
        check("/e", "", None, Some("</e?limit=20&offset=40>; rel=\"next\""));
        check("/e", "offset=20&limit=20&type=A", None, Some("</e?type=A&limit=20&offset=40>; rel=\"next\""));
        check(
            "/e",
            "q=a%3E%22x+y%22;b",
            Some("application/ld+json"),
            Some("</e?q=a%3E%22x%20y%22%3Bb&limit=20&offset=40>; rel=\"next\"; type=\"application/ld+json\""),
        );
    }

    #[test]
    fn a_link_leads_behind_a_name() {
        let params = Params::parse("limit=2&after=a&name=x%25").unwrap();
        let request = Request { path: "/s".to_owned(), params, ..Request::default() };
        let link = next_link(&request, "Zähler 1").unwrap();
        assert_eq!(link, "</s?limit=2&name=x%25&after=Z%C3%A4hler%201>; rel=\"next\"");
    }

    #[test]
    fn a_path_beyond_ascii_has_no_link() {
        check("/é", "", None, None);
    }
}
