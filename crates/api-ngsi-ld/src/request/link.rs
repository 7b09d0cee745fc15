//! The `Link` header of a request, which names its context (NGSI-LD 6.3.5).

use api_http::Request;
use http::header;

use crate::problem::Problem;

/// The link relation of a JSON-LD context (JSON-LD 1.1, 6.1).
const CONTEXT_REL: &str = "http://www.w3.org/ns/json-ld#context";

/// The URL of the context that a request's `Link` header names.
pub(crate) fn context_link(request: &Request) -> Result<Option<&str>, Problem> {
    for field in request.headers.get_all(header::LINK) {
        let Ok(field) = field.to_str() else {
            return Err(Problem::bad_request("header Link must be visible ASCII"));
        };
        if let Some(url) = link_target(field, CONTEXT_REL)? {
            return Ok(Some(url));
        }
    }
    Ok(None)
}

/// The target of the first link with this relation (RFC 8288, section 3).
fn link_target<'h>(field: &'h str, rel: &str) -> Result<Option<&'h str>, Problem> {
    let malformed = || Problem::bad_request(format!("header Link is malformed: {field:?}"));
    let mut rest = field.trim();
    while !rest.is_empty() {
        let (target, behind) =
            rest.strip_prefix('<').and_then(|rest| rest.split_once('>')).ok_or_else(malformed)?;
        let (mut found, mut parameters) = (false, behind.trim_start());
        while let Some(parameter) = parameters.strip_prefix(';') {
            let (name, value, behind) = link_parameter(parameter).ok_or_else(malformed)?;
            let of_rel = name.eq_ignore_ascii_case("rel");
            found |= of_rel && value.split_ascii_whitespace().any(|other| other == rel);
            parameters = behind.trim_start();
        }
        if found {
            return Ok(Some(target.trim()));
        }
        match parameters.strip_prefix(',') {
            Some(behind) => rest = behind.trim_start(),
            None if parameters.is_empty() => rest = "",
            None => return Err(malformed()),
        }
    }
    Ok(None)
}

/// Name, value and what follows, of a link parameter behind its `;`.
fn link_parameter(text: &str) -> Option<(&str, &str, &str)> {
    let text = text.trim_start();
    let end = text.find(['=', ';', ',']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let Some(rest) = rest.strip_prefix('=') else { return Some((name.trim(), "", rest)) };
    let rest = rest.trim_start();
    if let Some(quoted) = rest.strip_prefix('"') {
        let (value, behind) = quoted.split_once('"')?;
        return Some((name.trim(), value, behind));
    }
    let end = rest.find([';', ',']).unwrap_or(rest.len());
    let (value, behind) = rest.split_at(end);
    Some((name.trim(), value.trim(), behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(field: &str, expected: Option<&str>) {
        assert_eq!(link_target(field, CONTEXT_REL).unwrap(), expected, "{field}");
    }

    #[test]
    fn the_context_is_found_among_links() {
        let context =
            r#"<http://x/c>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json""#;
        check(context, Some("http://x/c"));
        check(&format!("</a>; rel=next, {context}"), Some("http://x/c"));
        check(r#"<http://x/c>;type="a,b;c";rel=http://www.w3.org/ns/json-ld#context"#, Some("http://x/c"));
        check(r#"<http://x/c>; rel="next http://www.w3.org/ns/json-ld#context""#, Some("http://x/c"));
        check("</a>; rel=next", None);
        check("</a>", None);
        check("", None);
    }

    #[test]
    fn a_malformed_link_is_refused() {
        for field in ["http://x/c", "<http://x/c", "<a> rel=x", r#"<a>; rel="x"#] {
            assert!(link_target(field, CONTEXT_REL).is_err(), "{field}");
        }
    }
}
