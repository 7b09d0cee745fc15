//! The way of a notification to its receiver over HTTP; to a hook of series signed.

use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use egress::{Client, ClientOptions, Names, Others, Policy, Redirects, Request};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use model_series::Hook;

/// Carries the HMAC-SHA256 of the body, in hex, if the hook has a secret.
const SIGNATURE: HeaderName = HeaderName::from_static("x-twinfold-signature");
/// After a longer answer the connection is closed and not used again. Bodies of answers are not looked at.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Sends notifications, within limits.
pub(super) struct Sender {
    client: Client,
}

impl Sender {
    pub(super) fn new(private_addresses: bool, duration_max: Duration) -> anyhow::Result<Self> {
        let others = if private_addresses { Others::Any } else { Others::Public };
        Ok(Self { client: client(others, duration_max)? })
    }

    /// Sends a notification; any answer of class 2xx takes it.
    ///
    /// # Errors
    ///
    /// Why it did not arrive, in words.
    pub(super) async fn send(&self, hook: &Hook, body: Vec<u8>) -> Result<(), String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(secret) = &hook.secret {
            let signature = HeaderValue::try_from(signature(secret, &body));
            headers.insert(SIGNATURE, signature.expect("hexadecimal digits go into a header"));
        }
        post(&self.client, &hook.url, headers, body.into()).await
    }
}

/// A client for notifications, which calls `others`.
///
/// # Errors
///
/// If there can be none.
pub(super) fn client(others: Others, duration_max: Duration) -> anyhow::Result<Client> {
    let options = ClientOptions {
        policy: Policy::of_others(others),
        names: Names::System,
        connect_duration_max: duration_max,
        duration_max,
        answer_bytes_max: ANSWER_BYTES_MAX,
        redirects: Redirects::Answers,
        roots: Vec::new(),
    };
    Client::new(options).context("no client for notifications")
}

/// Posts a notification; any answer of class 2xx takes it.
///
/// # Errors
///
/// Why it did not arrive, in words.
pub(super) async fn post(client: &Client, url: &str, headers: HeaderMap, body: Bytes) -> Result<(), String> {
    let request = Request { method: Method::POST, url: url.to_owned(), headers, body };
    let answer = client.call(request).await.map_err(refusal)?;
    let status = answer.status();
    answer.discard().await;
    if status.is_success() { Ok(()) } else { Err(format!("the answer was {status}")) }
}

/// Why a hook was not called, with the setting to change.
fn refusal(error: egress::Error) -> String {
    match error {
        egress::Error::AddressForbidden(address) => {
            format!("{address} is not a public address (--hook-send)")
        }
        egress::Error::NameForbidden(name) => format!("{name} has no public address (--hook-send)"),
        error => error.to_string(),
    }
}

/// `sha256=` and the HMAC of the body under the secret, in hex.
fn signature(secret: &str, body: &[u8]) -> String {
    use std::fmt::Write as _;
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
    let mut text = "sha256=".to_owned();
    for byte in ring::hmac::sign(&key, body).as_ref() {
        // Writing to a string succeeds.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2.
    #[test]
    fn bodies_are_signed() {
        assert_eq!(
            signature("Jefe", b"what do ya want for nothing?"),
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
