//! `{"Name":"billing","Url":"https://…","Series":"Meter %","Attributes":["Region|North"],"Active":true}`

use http::Uri;
use model_series::{AttributeSearch, Hook, HookStatus};
use serde::{Deserialize, Serialize};

use super::unit::same_name;
use crate::problem::Problem;
use crate::times::format_stamp;

/// A hook as it is answered; its secret is not.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct HookShape<'a> {
    name: &'a str,
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attributes: Vec<String>,
    active: bool,
    signed: bool,
    state: StateShape<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct StateShape<'a> {
    delivered: u64,
    failed: u64,
    cuts: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pending: u64,
    #[serde(skip_serializing_if = "is_zero")]
    overflowed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_at: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    last_error: &'a str,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl<'a> HookShape<'a> {
    pub(crate) fn new(hook: &'a Hook, status: &'a HookStatus) -> Self {
        let attributes = hook.attributes.iter().map(|attribute| match &attribute.value {
            Some(value) => format!("{}|{value}", attribute.name),
            None => attribute.name.to_string(),
        });
        Self {
            name: &hook.name,
            url: &hook.url,
            series: hook.series.as_deref(),
            attributes: attributes.collect(),
            active: hook.is_active,
            signed: hook.secret.is_some(),
            state: StateShape {
                delivered: status.delivered,
                failed: status.failed,
                cuts: status.cuts,
                pending: status.pending,
                overflowed: status.overflowed,
                retry_at: (status.failures > 0).then(|| format_stamp(status.retry_at)),
                last_error: &status.last_error,
            },
        }
    }
}

/// A hook as it is sent.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields, expecting = "an object with the members of a hook")]
pub(crate) struct HookGiven {
    name: Option<Box<str>>,
    url: Box<str>,
    series: Option<Box<str>>,
    #[serde(default)]
    attributes: Vec<String>,
    secret: Option<Box<str>>,
    active: Option<bool>,
    signed: Option<bool>,
    #[serde(rename = "State")]
    _state: Option<serde::de::IgnoredAny>,
}

impl HookGiven {
    /// The hook; `name` is the one in the address, if there is one.
    pub(crate) fn hook(self, name: Option<&str>) -> Result<Hook, Problem> {
        let url: Option<Uri> = self.url.parse().ok();
        let is_http = |url: &Uri| matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some();
        if !url.as_ref().is_some_and(is_http) {
            return Err(Problem::bad_request(format!(
                "\"Url\" must begin with http:// or https:// and name a host, got {:?}",
                self.url
            )));
        }
        // The parser that calls it, too: of addresses and ports, not all that can be written are.
        egress::check_http_url(&self.url).map_err(|error| {
            Problem::bad_request(format!("\"Url\" is {:?}, which cannot be called: {error}", self.url))
        })?;
        match &self.secret {
            Some(secret) if secret.is_empty() => {
                return Err(Problem::bad_request(
                    "\"Secret\" is empty: leave it out for unsigned notifications",
                ));
            }
            // A hook that was read and is sent back would lose its signature.
            None if self.signed == Some(true) => {
                return Err(Problem::bad_request(
                    "\"Signed\" is true without a \"Secret\": it is never shown, so give it again",
                ));
            }
            _ => {}
        }
        Ok(Hook {
            name: same_name(self.name, name)?,
            url: self.url,
            series: self.series,
            attributes: self.attributes.iter().map(|text| attribute_search(text)).collect(),
            secret: self.secret,
            is_active: self.active.unwrap_or(true),
        })
    }
}

/// `Region`, or `Region|North`.
pub(crate) fn attribute_search(text: &str) -> AttributeSearch {
    match text.split_once('|') {
        Some((name, value)) => AttributeSearch { name: name.into(), value: Some(value.into()) },
        None => AttributeSearch { name: text.into(), value: None },
    }
}
