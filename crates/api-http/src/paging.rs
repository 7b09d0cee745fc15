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
/// `</path?type=T&limit=20&offset=20>; rel="next"`. `None` if the path cannot stand in a header
/// (it was sent with bytes beyond ASCII).
pub fn page_link(request: &Request, link: PageLink<'_>) -> Option<HeaderValue> {
    let mut field = String::with_capacity(request.path.len() + 96);
    field.push('<');
    field.push_str(&request.path);
    let mut separator = '?';
    for (name, value) in request.params.iter() {
        if name == "offset" || name == "limit" {
            continue;
        }
        field.push(separator);
        percent_encode_into(name, &mut field);
        field.push('=');
        percent_encode_into(value, &mut field);
        separator = '&';
    }
    let PageLink { rel, offset, limit, media_type } = link;
    write!(field, "{separator}limit={limit}&offset={offset}>; rel=\"{rel}\"").ok()?;
    if let Some(media_type) = media_type {
        write!(field, "; type=\"{media_type}\"").ok()?;
    }
    if !field.is_ascii() {
        return None;
    }
    HeaderValue::try_from(field).ok()
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
    fn a_path_beyond_ascii_has_no_link() {
        check("/é", "", None, None);
    }
}
