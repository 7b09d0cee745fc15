//! The way of a notification to its hook: whom to call, signed.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use api_http::is_public_address;
use model_series::Hook;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url, redirect};

use crate::admin::chain;

/// Carries the HMAC-SHA256 of the body, in hex, if the hook has a secret.
const SIGNATURE: &str = "x-twinfold-signature";

/// Sends notifications, within limits.
pub(super) struct Sender {
    client: Client,
    private_addresses: bool,
}

impl Sender {
    pub(super) fn new(private_addresses: bool, duration_max: Duration) -> anyhow::Result<Self> {
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .dns_resolver(Arc::new(CheckedResolver { private_addresses }))
            .timeout(duration_max)
            .user_agent(concat!("twinfold/", env!("CARGO_PKG_VERSION")))
            .build()
            .context("no client for hooks")?;
        Ok(Self { client, private_addresses })
    }

    /// Sends a notification; any answer of class 2xx takes it.
    ///
    /// # Errors
    ///
    /// Why it did not arrive, in words.
    pub(super) async fn send(&self, hook: &Hook, body: Vec<u8>) -> Result<(), String> {
        let url = Url::parse(&hook.url).map_err(|error| format!("it is no URL: {error}"))?;
        self.check_url(&url)?;
        let mut request = self.client.post(url).header("content-type", "application/json");
        if let Some(secret) = &hook.secret {
            request = request.header(SIGNATURE, signature(secret, &body));
        }
        let response = request.body(body).send().await.map_err(|error| chain(&error.without_url()))?;
        if response.status().is_success() {
            return Ok(());
        }
        Err(format!("the answer was {}", response.status()))
    }

    /// Refuses schemes other than HTTP's, and addresses in the URL itself; names are checked when they are resolved.
    fn check_url(&self, url: &Url) -> Result<(), String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("{url} is neither http nor https"));
        }
        let address = match url.host() {
            None => return Err(format!("{url} names no host")),
            Some(host) => host.to_string().trim_matches(['[', ']']).parse::<IpAddr>().ok(),
        };
        match address.filter(|address| !self.private_addresses && !is_public_address(*address)) {
            Some(address) => Err(format!("{address} is not a public address (--hook-send)")),
            None => Ok(()),
        }
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

/// Resolves names, and gives only addresses that may be called: what is connected to is what was checked.
struct CheckedResolver {
    private_addresses: bool,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let private_addresses = self.private_addresses;
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let may_be_called = |address: &SocketAddr| private_addresses || is_public_address(address.ip());
            let called: Vec<SocketAddr> = found.into_iter().filter(may_be_called).collect();
            if called.is_empty() {
                return Err(format!("{} has no public address", name.as_str()).into());
            }
            Ok(Box::new(called.into_iter()) as Addrs)
        })
    }
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
