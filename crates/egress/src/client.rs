//! An HTTP client with a pool of connections, which calls whom its policy allows, within limits of time and size.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, HeaderMap, LOCATION, USER_AGENT};
use http::{Method, StatusCode};
use reqwest::{Response, Url, redirect};
use tokio::time::{Instant, timeout_at};

use crate::resolver::CheckedResolver;
use crate::{Error, Names, Policy};

/// The most header fields of an answer; hyper takes at most some 400 KiB of them.
const HEADERS_MAX: usize = 100;
/// Connections to one host that wait for further requests.
const IDLE_PER_HOST_MAX: usize = 32;
/// How long a connection waits for further requests.
const IDLE_DURATION_MAX: Duration = Duration::from_secs(60);

/// How a client calls.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Whom it may call.
    pub policy: Policy,
    /// Who knows the addresses of names.
    pub names: Names,
    /// The longest that connecting may take, TLS included.
    pub connect_duration_max: Duration,
    /// The longest that all of it may take: redirects, and the reading of the body.
    pub duration_max: Duration,
    /// The largest body of an answer.
    pub answer_bytes_max: usize,
    /// What is done with redirects.
    pub redirects: Redirects,
    /// Certificates (PEM) that are trusted beside those of the system.
    pub roots: Vec<Bytes>,
}

/// What is done with redirects.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Redirects {
    /// They are answers like others.
    Answers,
    /// So many are followed, each checked as the first URL is; only requests without a body are.
    Followed(usize),
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// How.
    pub method: Method,
    /// Whom and for what.
    pub url: String,
    /// Beside those of the connection. Over a redirect only `accept` goes along.
    pub headers: HeaderMap,
    /// Sent if it is not empty.
    pub body: Bytes,
}

/// A client; clones share its connections.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    policy: Arc<Policy>,
    duration_max: Duration,
    answer_bytes_max: usize,
    redirects: Redirects,
}

/// An answer, of which the head was read.
#[derive(Debug)]
pub struct Answer {
    response: Response,
    deadline: Instant,
    duration_max: Duration,
    bytes_max: usize,
}

impl Client {
    /// A client. The process has chosen its TLS provider before.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if a root certificate cannot be read, or the system has no trusted ones.
    pub fn new(options: ClientOptions) -> Result<Self, Error> {
        let policy = Arc::new(options.policy);
        let resolver = CheckedResolver { policy: Arc::clone(&policy), names: options.names };
        let mut builder = reqwest::Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .dns_resolver(Arc::new(resolver))
            .connect_timeout(options.connect_duration_max)
            .pool_max_idle_per_host(IDLE_PER_HOST_MAX)
            .pool_idle_timeout(IDLE_DURATION_MAX)
            .http1_max_headers(HEADERS_MAX);
        if !options.roots.is_empty() {
            let roots = options.roots.iter().map(|root| reqwest::Certificate::from_pem(root));
            let roots = roots.collect::<Result<Vec<_>, _>>().map_err(Error::of_client)?;
            builder = builder.tls_certs_merge(roots);
        }
        Ok(Self {
            http: builder.build().map_err(Error::of_client)?,
            policy,
            duration_max: options.duration_max,
            answer_bytes_max: options.answer_bytes_max,
            redirects: options.redirects,
        })
    }

    /// Calls; the answer's head is there, its body still to be read. Cost: a connection, if none of the pool is free.
    ///
    /// # Errors
    ///
    /// All of [`Error`] but `TooLarge`.
    pub async fn call(&self, request: Request) -> Result<Answer, Error> {
        let deadline = Instant::now() + self.duration_max;
        let called = timeout_at(deadline, self.follow(request)).await;
        let response = called.unwrap_or(Err(Error::TimedOut(self.duration_max)))?;
        let (duration_max, bytes_max) = (self.duration_max, self.answer_bytes_max);
        Ok(Answer { response, deadline, duration_max, bytes_max })
    }

    /// Asks, and follows redirects one by one, so that each URL is checked.
    async fn follow(&self, request: Request) -> Result<Response, Error> {
        let Request { method, url, mut headers, body } = request;
        let mut url = Url::parse(&url).map_err(|error| Error::Invalid(format!("it is no URL: {error}")))?;
        let redirects_max = match self.redirects {
            Redirects::Followed(most) if body.is_empty() => Some(most),
            Redirects::Followed(_) | Redirects::Answers => None,
        };
        headers
            .entry(USER_AGENT)
            .or_insert(http::HeaderValue::from_static(concat!("twinfold/", env!("CARGO_PKG_VERSION"))));
        let mut redirects = 0;
        loop {
            self.policy.check(&url)?;
            let mut sent = self.http.request(method.clone(), url.clone()).headers(headers.clone());
            if !body.is_empty() {
                sent = sent.body(body.clone());
            }
            let response = sent.send().await.map_err(Error::of_client)?;
            let Some(most) = redirects_max.filter(|_| response.status().is_redirection()) else {
                return Ok(response);
            };
            if redirects == most {
                return Err(Error::Redirects(most));
            }
            redirects += 1;
            url = redirected(&url, &response)?;
            // What was meant for the first host is not for the next.
            headers = kept_over_redirect(&headers);
        }
    }
}

impl Answer {
    /// The status.
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// The body, whole.
    ///
    /// # Errors
    ///
    /// `TooLarge`, `TimedOut`, `Failed`.
    pub async fn body(self) -> Result<Vec<u8>, Error> {
        let Self { mut response, deadline, duration_max, bytes_max } = self;
        let declared = response.content_length().map(usize::try_from);
        if declared.is_some_and(|length| length.map_or(true, |length| length > bytes_max)) {
            return Err(Error::TooLarge(bytes_max));
        }
        let read = async {
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(Error::of_client)? {
                if body.len() + chunk.len() > bytes_max {
                    return Err(Error::TooLarge(bytes_max));
                }
                body.extend_from_slice(&chunk);
            }
            Ok(body)
        };
        timeout_at(deadline, read).await.unwrap_or(Err(Error::TimedOut(duration_max)))
    }

    /// Reads the body away, so that the connection can serve another request; one that is too large or slow is closed.
    pub async fn discard(self) {
        // The status was the answer: what becomes of the rest changes nothing.
        let _ = self.body().await;
    }
}

/// The headers that go along over a redirect.
fn kept_over_redirect(headers: &HeaderMap) -> HeaderMap {
    let kept = headers.iter().filter(|(name, _)| [ACCEPT, USER_AGENT].contains(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Where an answer redirects to.
fn redirected(url: &Url, response: &Response) -> Result<Url, Error> {
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    // Without the URLs, which may hold secrets.
    let location = location.ok_or_else(|| Error::Failed("it redirects to nowhere".to_owned()))?;
    url.join(location).map_err(|error| Error::Failed(format!("it redirects to what is no URL: {error}")))
}
