//! The media types of bodies and answers.

use api_http::MediaType;

/// `application/json`
pub(crate) const JSON: MediaType = "application/json";
/// `application/ld+json`
pub(crate) const JSON_LD: MediaType = "application/ld+json";
/// `application/geo+json`
pub(crate) const GEO_JSON: MediaType = "application/geo+json";
