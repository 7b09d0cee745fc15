//! How entities are to be answered: format, options, language; the headers Accept and Prefer.

use api_http::{MediaType, Request, accept};

use super::declared::{FORMAT, OPTIONS};
use super::given::Given;
use crate::media::{GEO_JSON, JSON, JSON_LD};
use crate::problem::Problem;
use crate::render::{Form, Languages, RELEASE};

/// The media types of entities, the preferred first (6.3.4).
const OFFERED: &[MediaType] = &[JSON, JSON_LD, GEO_JSON];

/// The representation, and whether system attributes are shown (6.3.7, 6.3.11).
pub(super) fn form(given: &Given<'_>) -> Result<(Form, bool), Problem> {
    let (mut form, mut sys_attrs) = (None, false);
    for option in given.list(&OPTIONS)? {
        match option {
            "sysAttrs" => sys_attrs = true,
            "count" => {}
            option => form = Some(form_of("options", option)?),
        }
    }
    if let Some(format) = given.get(&FORMAT) {
        form = Some(form_of("format", format)?);
    }
    Ok((form.unwrap_or_default(), sys_attrs))
}

/// `options=count`, as older clients ask for the count.
pub(super) fn counts(given: &Given<'_>) -> bool {
    given.get(&OPTIONS).is_some_and(|options| options.split(',').any(|option| option.trim() == "count"))
}

fn form_of(parameter: &str, text: &str) -> Result<Form, Problem> {
    Ok(match text {
        "normalized" => Form::Normalized,
        "concise" => Form::Concise,
        "simplified" | "keyValues" => Form::Simplified,
        other => {
            return Err(Problem::invalid_request(format!(
                "parameter {parameter}: {other:?} is none of normalized, concise, simplified, keyValues{}",
                if parameter == "options" { ", sysAttrs, count" } else { "" }
            )));
        }
    })
}

/// The media type of the answer (6.3.4).
pub(super) fn media(request: &Request) -> Result<MediaType, Problem> {
    accept(request.header("accept"), OFFERED).ok_or_else(|| Problem::not_acceptable(&OFFERED.join(", ")))
}

/// What the client prefers (`Prefer`, RFC 7240); preferences that are not known are passed over.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Preferences {
    /// `body=json`: a GeoJSON body without `@context` (6.3.6).
    pub(super) json_body: bool,
    /// `ngsi-ld=1.x`: attributes of the kinds that release 1.x of the standard knows.
    pub(super) release: Option<u8>,
}

/// Reads the `Prefer` header.
pub(super) fn preferences(request: &Request) -> Preferences {
    let mut preferences = Preferences::default();
    for field in request.headers.get_all("prefer") {
        for item in field.to_str().unwrap_or_default().split([',', ';']) {
            let Some((name, value)) = item.split_once('=') else { continue };
            let value = value.trim().trim_matches('"');
            match name.trim() {
                "body" => preferences.json_body = value == "json" || value == JSON,
                "ngsi-ld" => preferences.release = release(value),
                _ => {}
            }
        }
    }
    preferences
}

/// `1.x`, with or without a patch number, up to the release that is implemented.
fn release(text: &str) -> Option<u8> {
    let minor = text.strip_prefix("1.")?.split('.').next()?;
    minor.parse().ok().filter(|minor| *minor <= RELEASE)
}

/// Whether the answer holds its `@context`, rather than link to it.
pub(super) fn context_in_body(media: MediaType, json_body: bool) -> bool {
    media == JSON_LD || media == GEO_JSON && !json_body
}

/// The languages of `lang`, best first: tags with optional weights, as in Accept-Language (4.15).
pub(super) fn languages(text: &str) -> Result<Languages, Problem> {
    let wrong = |item: &str| {
        Problem::bad_request(format!("parameter lang: {item:?} is not a language tag such as en or fr;q=0.8"))
    };
    let mut weighted = Vec::new();
    for item in text.split(',').map(str::trim) {
        let (tag, weight) = match item.split_once(';') {
            None => (item, 1.0),
            Some((tag, weight)) => {
                let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
                let weight = weight.filter(|weight| (0.0..=1.0).contains(weight));
                (tag.trim(), weight.ok_or_else(|| wrong(item))?)
            }
        };
        if tag != "*" && !lang_ngsi_ld::is_language_tag(tag) {
            return Err(wrong(item));
        }
        if weight > 0.0 {
            weighted.push((weight, Box::from(tag)));
        }
    }
    weighted.sort_by(|one, other| other.0.total_cmp(&one.0));
    Ok(Languages(weighted.into_iter().map(|(_, tag)| tag).collect()))
}
