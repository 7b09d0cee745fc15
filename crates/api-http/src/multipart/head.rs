//! What says where a form's parts begin, and what each is: its boundary, and the heads of its parts.

use crate::media::{essence, split_outside_quotes};

/// Longest boundary, in bytes; RFC 2046 wants at most 70.
const BOUNDARY_BYTES_MAX: usize = 256;

/// The boundary that a media type names, if it is of a form.
pub(super) fn boundary(media: &str) -> Option<String> {
    if !essence(media).eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let found = parameter(media, "boundary")?;
    (1..=BOUNDARY_BYTES_MAX).contains(&found.len()).then_some(found)
}

/// The name of a part's field, and of the file that it was, as its head says; what is wrong with the head.
pub(super) fn names(head: &[u8]) -> Result<(String, Option<String>), String> {
    let head = std::str::from_utf8(head).map_err(|_| "the head of a part is not of UTF-8".to_owned())?;
    for line in head.split("\r\n").filter(|line| !line.is_empty()) {
        let Some((name, value)) = line.split_once(':') else {
            let shown: String = line.chars().take(40).collect();
            return Err(format!("a header of a part has no colon: {shown:?}"));
        };
        if name.trim().eq_ignore_ascii_case("content-disposition") {
            return Ok((parameter(value, "name").unwrap_or_default(), parameter(value, "filename")));
        }
    }
    Ok((String::new(), None))
}

/// The value of a parameter, without its quotes.
fn parameter(value: &str, name: &str) -> Option<String> {
    let mut parameters = split_outside_quotes(value, b';').skip(1).filter_map(|one| one.split_once('='));
    let (_, found) = parameters.find(|(known, _)| known.trim().eq_ignore_ascii_case(name))?;
    let found = found.trim();
    let Some(quoted) = found.strip_prefix('"') else { return Some(found.to_owned()) };
    Some(unquote(quoted.strip_suffix('"').unwrap_or(quoted)))
}

/// A backslash hides a quote or another backslash; before others it is one: some clients name files by their paths.
fn unquote(quoted: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(quoted.len()), quoted.chars().peekable());
    while let Some(letter) = rest.next() {
        let hidden = rest.next_if(|next| letter == '\\' && matches!(next, '"' | '\\'));
        out.push(hidden.unwrap_or(letter));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_are_of_forms() {
        let check =
            |media: &str, expected: Option<&str>| assert_eq!(boundary(media).as_deref(), expected, "{media}");
        check("multipart/form-data; boundary=x", Some("x"));
        check("Multipart/Form-Data ;charset=utf-8; Boundary=\"a;b c\"", Some("a;b c"));
        check(
            "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk",
            Some("----WebKitFormBoundary7MA4YWxk"),
        );
        for media in [
            "",
            "multipart/form-data",
            "multipart/form-data; boundary=",
            "multipart/mixed; boundary=x",
            "application/json",
        ] {
            check(media, None);
        }
        check(&format!("multipart/form-data; boundary={}", "x".repeat(256)), Some(&"x".repeat(256)));
        check(&format!("multipart/form-data; boundary={}", "x".repeat(257)), None);
    }

    #[test]
    fn parts_are_named_by_their_heads() {
        let check = |head: &str, name: &str, file: Option<&str>| {
            assert_eq!(names(head.as_bytes()), Ok((name.to_owned(), file.map(str::to_owned))), "{head}");
        };
        check(
            "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.yang\"",
            "file",
            Some("a.yang"),
        );
        check("\r\nX: y\r\ncontent-disposition:form-data;name=file", "file", None);
        check("\r\nContent-Disposition: form-data; filename=\"a;b.zip\"; name=\"f\"", "f", Some("a;b.zip"));
        check(
            "\r\nContent-Disposition: form-data; name=\"a \\\"b\\\" \\\\\"; filename=\"C:\\x\\ü\"",
            "a \"b\" \\",
            Some("C:\\x\\ü"),
        );
        check("", "", None);
        check("\r\nContent-Type: text/plain", "", None);
        assert_eq!(names(b"\r\nnothing"), Err("a header of a part has no colon: \"nothing\"".to_owned()));
        assert_eq!(names(b"\r\na: \xff"), Err("the head of a part is not of UTF-8".to_owned()));
    }
}
