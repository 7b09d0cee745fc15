//! Fetching of remote contexts, within limits: time, size, redirects, and whom to ask.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use egress::{Client, ClientOptions, Names, Others, Policy, Redirects, Request};
use http::{HeaderMap, HeaderValue, Method, header};
use tokio::sync::Semaphore;

use crate::error::Error;

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
pub(crate) enum FetchError {
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

impl FetchError {
    /// What was wrong.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Forbidden(text) | Self::Invalid(text) | Self::Failed(text) => text,
        }
    }

    /// The same, with the URL of the document.
    pub(crate) fn of(self, url: &str) -> Self {
        let text = format!("@context {url}: {self}");
        match self {
            Self::Forbidden(_) => Self::Forbidden(text),
            Self::Invalid(_) => Self::Invalid(text),
            Self::Failed(_) => Self::Failed(text),
        }
    }
}

impl From<FetchError> for Error {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Forbidden(text) => Self::NotAllowed(text),
            FetchError::Invalid(text) => Self::Invalid(text),
            FetchError::Failed(text) => Self::Unavailable(text),
        }
    }
}

/// Fetches documents; shared.
#[derive(Debug)]
pub(crate) struct Fetcher {
    policy: FetchPolicy,
    /// Made at the first fetch: the server has chosen its TLS provider by then.
    client: OnceLock<Result<Client, egress::Error>>,
    permits: Semaphore,
}

impl Fetcher {
    pub(crate) fn new(policy: FetchPolicy) -> Self {
        Self { policy, client: OnceLock::new(), permits: Semaphore::new(FETCHES_MAX) }
    }

    /// The text at `url`.
    ///
    /// # Errors
    ///
    /// Why it cannot be had.
    pub(crate) async fn fetch(&self, url: &str) -> Result<String, FetchError> {
        if !self.policy.allowed {
            return Err(FetchError::Forbidden(NOT_ALLOWED.into()));
        }
        let all = async {
            let stopping = |_| FetchError::Failed("the server is stopping".into());
            let _permit = self.permits.acquire().await.map_err(stopping)?;
            self.read(url).await
        };
        tokio::time::timeout(self.policy.timeout, all).await.unwrap_or_else(|_| Err(self.too_long()))
    }

    fn client(&self) -> Result<&Client, egress::Error> {
        let policy = &self.policy;
        let others = if policy.private_addresses { Others::Any } else { Others::Public };
        let make = || {
            Client::new(ClientOptions {
                policy: Policy::of_others(others),
                names: Names::System,
                connect_duration_max: policy.timeout,
                duration_max: policy.timeout,
                answer_bytes_max: policy.bytes_max,
                redirects: Redirects::Followed(policy.redirects_max),
                roots: Vec::new(),
            })
        };
        self.client.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    async fn read(&self, url: &str) -> Result<String, FetchError> {
        let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(ACCEPT))]);
        let request = Request { method: Method::GET, url: url.to_owned(), headers, body: Bytes::new() };
        let client = self.client().map_err(|error| self.refusal(error))?;
        let answer = client.call(request).await.map_err(|error| self.refusal(error))?;
        if !answer.status().is_success() {
            return Err(FetchError::Failed(format!("the answer was {}", answer.status())));
        }
        let body = answer.body().await.map_err(|error| self.refusal(error))?;
        String::from_utf8(body).map_err(|_| FetchError::Invalid("it is no UTF-8 text".into()))
    }

    /// Why a call failed, with the setting to change.
    fn refusal(&self, error: egress::Error) -> FetchError {
        use egress::Error as Refused;
        match error {
            Refused::Invalid(text) => FetchError::Invalid(text),
            Refused::AddressForbidden(address) => FetchError::Forbidden(format!("{address} is {NOT_PUBLIC}")),
            Refused::NameForbidden(name) => {
                FetchError::Forbidden(format!("{name}, by its name, is {NOT_PUBLIC}"))
            }
            Refused::Redirects(times) => {
                FetchError::Failed(format!("it redirects more than {times} times (--context-redirects-max)"))
            }
            Refused::TooLarge(bytes_max) => {
                FetchError::Failed(format!("it is larger than {bytes_max} bytes (--context-bytes-max)"))
            }
            Refused::TimedOut(_) => self.too_long(),
            Refused::Failed(text) => FetchError::Failed(text),
        }
    }

    fn too_long(&self) -> FetchError {
        let millis = self.policy.timeout.as_millis();
        FetchError::Failed(format!("it took longer than {millis} ms (--context-duration-max)"))
    }
}

#[cfg(test)]
mod tests;
