//! Media types of points, both ways.

use api_http::{MediaType, Request, accept, essence};

use crate::problem::{JSON, Problem};
use crate::wire::Form;

/// The Arrow IPC stream format.
pub(crate) const ARROW: MediaType = "application/vnd.apache.arrow.stream";
/// RFC 4180.
pub(crate) const CSV: MediaType = "text/csv";
/// Apache Parquet.
pub(crate) const PARQUET: MediaType = "application/vnd.apache.parquet";

/// What reads of points are given as.
pub(crate) const OFFERED: [MediaType; 4] = [JSON, ARROW, CSV, PARQUET];

/// The form of an answer: what the parameter `form` says, or what the client accepts (JSON as rows).
///
/// # Errors
///
/// `NotAcceptable`.
pub(crate) fn answer_form(request: &Request, given: Option<Form>) -> Result<Form, Problem> {
    if let Some(form) = given {
        return Ok(form);
    }
    match accept(request.header("accept"), &OFFERED) {
        Some(JSON) => Ok(Form::Rows),
        Some(ARROW) => Ok(Form::Arrow),
        Some(CSV) => Ok(Form::Csv),
        Some(PARQUET) => Ok(Form::Parquet),
        _ => Err(Problem::not_acceptable(&OFFERED)),
    }
}

/// The form of the answer that a parameter asks for by its media type; what follows it is passed over.
///
/// # Errors
///
/// `NotAcceptable`.
pub(crate) fn form_of_media(media: &str) -> Result<Form, Problem> {
    let forms = [(JSON, Form::Rows), (ARROW, Form::Arrow), (CSV, Form::Csv), (PARQUET, Form::Parquet)];
    let found = forms.iter().find(|(name, _)| name.eq_ignore_ascii_case(essence(media)));
    found.map(|(_, form)| *form).ok_or_else(|| not_offered(media, &OFFERED))
}

/// Refuses a media type other than JSON.
///
/// # Errors
///
/// `NotAcceptable`.
pub(crate) fn check_json_media(media: &str) -> Result<(), Problem> {
    if essence(media).eq_ignore_ascii_case(JSON) { Ok(()) } else { Err(not_offered(media, &[JSON])) }
}

fn not_offered(media: &str, offered: &[MediaType]) -> Problem {
    let mut problem = Problem::not_acceptable(offered);
    problem.message = format!("parameter mediaType: {media:?} is not offered; {}", problem.message);
    problem
}

/// The media type of a form.
pub(crate) fn media_type(form: Form) -> MediaType {
    match form {
        Form::Rows | Form::Compact => JSON,
        Form::Arrow => ARROW,
        Form::Csv => CSV,
        Form::Parquet => PARQUET,
    }
}

/// The form of a body of points; JSON is read in both its forms. None said is JSON.
///
/// # Errors
///
/// `UnsupportedMediaType`.
pub(crate) fn body_form(request: &Request) -> Result<Form, Problem> {
    let Some(media) = request.content_type() else { return Ok(Form::Rows) };
    let known = [
        (JSON, Form::Rows),
        (ARROW, Form::Arrow),
        (CSV, Form::Csv),
        // The default of curl.
        ("application/x-www-form-urlencoded", Form::Rows),
        ("", Form::Rows),
    ];
    let found = known.iter().find(|(name, _)| name.eq_ignore_ascii_case(media));
    found.map(|(_, form)| *form).ok_or_else(|| {
        Problem::unsupported_media_type(format!(
            "points are read from {JSON}, {ARROW} and {CSV}, not from {media}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn forms_are_told_by_media_types() {
        let mut request = Request::default();
        assert_eq!(answer_form(&request, None), Ok(Form::Rows));
        assert_eq!(body_form(&request), Ok(Form::Rows));
        for (media, form) in [(ARROW, Form::Arrow), (CSV, Form::Csv), (JSON, Form::Rows)] {
            request.headers.insert("accept", HeaderValue::from_static(media));
            request.headers.insert("content-type", HeaderValue::from_static(media));
            assert_eq!(answer_form(&request, None), Ok(form));
            assert_eq!(body_form(&request), Ok(form));
        }
        assert_eq!(answer_form(&request, Some(Form::Compact)), Ok(Form::Compact));
        request.headers.insert("accept", HeaderValue::from_static("image/png"));
        request.headers.insert("content-type", HeaderValue::from_static(PARQUET));
        assert_eq!(answer_form(&request, None).unwrap_err().status, 406);
        assert_eq!(body_form(&request).unwrap_err().status, 415);
    }
}
