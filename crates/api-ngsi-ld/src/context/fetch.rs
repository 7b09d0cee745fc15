//! Fetching of remote contexts, within limits: time, size, redirects, and whom to ask.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use api_http::is_public_address;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Response, Url, header, redirect};
use tokio::sync::Semaphore;

/// The most fetches under way at once.
const FETCHES_MAX: usize = 16;

/// What we like to get.
const ACCEPT: &str = "application/ld+json, application/json;q=0.9, */*;q=0.1";

/// Why nothing is fetched, and what to change.
const NOT_ALLOWED: &str = "it is neither built in nor preloaded, and this server does not fetch remote contexts; \
     the operator can preload it (--contexts) or allow fetching (--context-fetch)";

/// Why an address is not asked, and what to change.
const NOT_PUBLIC: &str = "not a public address, and this server asks no others (--context-fetch any)";

/// Why a document cannot be had, in words for the client.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum FetchError {
    /// A setting forbids to ask: which.
    #[error("{0}")]
    Forbidden(String),
    /// What is asked for can be had from nowhere.
    #[error("{0}")]
    Invalid(String),
    /// It was asked for, and did not come.
    #[error("{0}")]
    Failed(String),
}

/// Which remote contexts may be fetched, and within what limits.
#[derive(Clone, Debug)]
pub struct FetchPolicy {
    /// Whether remote contexts are fetched at all.
    pub allowed: bool,
    /// The longest a whole fetch, redirects included, may take.
    pub timeout: Duration,
    /// The largest document in bytes.
    pub bytes_max: usize,
    /// The most redirects followed.
    pub redirects_max: usize,
    /// Whether loopback, private and link-local addresses may be asked.
    pub private_addresses: bool,
}

/// Fetches documents; shared.
#[derive(Debug)]
pub(super) struct Fetcher {
    policy: FetchPolicy,
    /// Made at the first fetch: the server has chosen its TLS provider by then.
    client: OnceLock<Result<Client, String>>,
    permits: Semaphore,
}

impl Fetcher {
    pub(super) fn new(policy: FetchPolicy) -> Self {
        Self { policy, client: OnceLock::new(), permits: Semaphore::new(FETCHES_MAX) }
    }

    /// The text at `url`.
    ///
    /// # Errors
    ///
    /// Why it cannot be had.
    pub(super) async fn fetch(&self, url: &str) -> Result<String, FetchError> {
        if !self.policy.allowed {
            return Err(FetchError::Forbidden(NOT_ALLOWED.into()));
        }
        let timeout = self.policy.timeout;
        let all = async {
            let stopping = |_| FetchError::Failed("the server is stopping".into());
            let _permit = self.permits.acquire().await.map_err(stopping)?;
            self.follow(url).await
        };
        let too_long = || {
            FetchError::Failed(format!(
                "it took longer than {} ms (--context-duration-max)",
                timeout.as_millis()
            ))
        };
        tokio::time::timeout(timeout, all).await.unwrap_or_else(|_| Err(too_long()))
    }

    fn client(&self) -> Result<&Client, String> {
        let make = || {
            Client::builder()
                .redirect(redirect::Policy::none())
                .no_proxy()
                .dns_resolver(Arc::new(CheckedResolver { private_addresses: self.policy.private_addresses }))
                .connect_timeout(self.policy.timeout)
                .user_agent(concat!("twinfold/", env!("CARGO_PKG_VERSION")))
                .build()
                .map_err(|error| format!("no client for remote contexts: {}", chain(&error)))
        };
        self.client.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// Asks, and follows redirects one by one, so that each address is checked.
    async fn follow(&self, url: &str) -> Result<String, FetchError> {
        let invalid = |error| FetchError::Invalid(format!("it is no URL: {error}"));
        let mut url = Url::parse(url).map_err(invalid)?;
        for _ in 0..=self.policy.redirects_max {
            self.check_url(&url)?;
            let request = self.client().map_err(FetchError::Failed)?.get(url.clone());
            let response = request.header(header::ACCEPT, ACCEPT).send().await.map_err(failed)?;
            if !response.status().is_redirection() {
                return self.read(response).await;
            }
            url = redirected(&url, &response).map_err(FetchError::Failed)?;
        }
        let times = self.policy.redirects_max;
        Err(FetchError::Failed(format!("it redirects more than {times} times (--context-redirects-max)")))
    }

    /// Refuses schemes other than HTTP's, and addresses in the URL itself; names are checked when
    /// they are resolved.
    fn check_url(&self, url: &Url) -> Result<(), FetchError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(FetchError::Invalid(format!("{url} is neither http nor https")));
        }
        let address = match url.host() {
            None => return Err(FetchError::Invalid(format!("{url} names no host"))),
            Some(host) => host.to_string().trim_matches(['[', ']']).parse::<IpAddr>().ok(),
        };
        match address.filter(|address| !self.policy.private_addresses && !is_public_address(*address)) {
            Some(address) => Err(FetchError::Forbidden(format!("{address} is {NOT_PUBLIC}"))),
            None => Ok(()),
        }
    }

    async fn read(&self, mut response: Response) -> Result<String, FetchError> {
        if !response.status().is_success() {
            return Err(FetchError::Failed(format!("the answer was {}", response.status())));
        }
        let bytes_max = self.policy.bytes_max;
        let too_large =
            || FetchError::Failed(format!("it is larger than {bytes_max} bytes (--context-bytes-max)"));
        if response
            .content_length()
            .is_some_and(|length| usize::try_from(length).unwrap_or(usize::MAX) > bytes_max)
        {
            return Err(too_large());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > bytes_max {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        String::from_utf8(body).map_err(|_| FetchError::Invalid("it is no UTF-8 text".into()))
    }
}

/// Where an answer sends us on to.
fn redirected(url: &Url, response: &Response) -> Result<Url, String> {
    let location = response.headers().get(header::LOCATION).and_then(|location| location.to_str().ok());
    let location = location.ok_or_else(|| format!("{url} redirects to nowhere"))?;
    url.join(location).map_err(|error| format!("{url} redirects to {location:?}: {error}"))
}

/// A fetch that failed, or that was given up because the name has no address that may be asked.
fn failed(error: reqwest::Error) -> FetchError {
    let error = error.without_url();
    let mut source = std::error::Error::source(&error);
    while let Some(inner) = source {
        if let Some(not_public) = inner.downcast_ref::<NotPublic>() {
            return FetchError::Forbidden(not_public.to_string());
        }
        source = inner.source();
    }
    FetchError::Failed(chain(&error))
}

/// A name that stands for no public address.
#[derive(Debug, thiserror::Error)]
#[error("{0}, by its name, is {NOT_PUBLIC}")]
struct NotPublic(String);

/// Resolves names, and gives only addresses that may be asked: what is connected to is what was
/// checked, whatever the name says a moment later.
struct CheckedResolver {
    private_addresses: bool,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let private_addresses = self.private_addresses;
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let asked: Vec<SocketAddr> = found
                .into_iter()
                .filter(|address| private_addresses || is_public_address(address.ip()))
                .collect();
            if asked.is_empty() {
                return Err(NotPublic(name.as_str().to_owned()).into());
            }
            Ok(Box::new(asked.into_iter()) as Addrs)
        })
    }
}

/// An error with what lies beneath it, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    text
}

#[cfg(test)]
mod tests;
