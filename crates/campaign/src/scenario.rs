//! What a virtual user does: a session hands out one request after the other; executors decide when.

use std::time::Duration;

/// Which user of a load this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seat {
    /// The user's number, from 0.
    pub user: usize,
    /// The seed of the whole load; a user's draws come from `(seed, user)`.
    pub seed: u64,
}

/// The answer a request hopes for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Exactly this status.
    Status(u16),
    /// Any 2xx.
    Success,
    /// 200, or 206: the whole answer, or the part of it that one answer may hold.
    WholeOrPart,
}

impl Expect {
    /// Whether `status` is what was hoped for.
    pub fn holds(self, status: u16) -> bool {
        match self {
            Self::Status(wanted) => wanted == status,
            Self::Success => (200..300).contains(&status),
            Self::WholeOrPart => matches!(status, 200 | 206),
        }
    }
}

/// How to treat the request just drafted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The status that counts as success.
    pub expects: Expect,
    /// Think time after the answer.
    pub pause: Duration,
    /// Whether its latency belongs to the figure (a session's own preparations do not).
    pub measured: bool,
    /// Whether the body of the hoped-for answer goes to [`Session::part`] as it arrives; it may then be of any
    /// length, and is not stored.
    pub streams: bool,
}

impl Call {
    /// A measured call without think time that hopes for `status`.
    pub fn expecting(status: u16) -> Self {
        Self { expects: Expect::Status(status), pause: Duration::ZERO, measured: true, streams: false }
    }
}

/// A workload: as many independent sessions as there are users.
pub trait Scenario: Sync {
    /// The header lines common to all requests, each ended by CRLF; `Host` and `Content-Length` are added.
    fn headers(&self) -> &str;

    /// The session of one user. Equal seats must make equal sessions.
    fn session(&self, seat: Seat) -> Box<dyn Session + '_>;
}

/// One user's requests. Its methods run inside the measured loop: they must not parse, lock or block.
pub trait Session {
    /// Drafts the next request; `None`: this user is done.
    fn next(&mut self, request: &mut Request) -> Option<Call>;

    /// Takes the next part of the body of a streamed answer; called only if [`Call::streams`] says so.
    fn part(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// Tells the outcome of the last request: the status and the body of the hoped-for answer (empty if it was
    /// streamed), or `None`.
    fn answered(&mut self, answer: Option<(u16, &[u8])>) {
        let _ = answer;
    }
}

/// A request under construction; its buffers are reused from one to the next.
#[derive(Debug, Default)]
pub struct Request {
    /// `GET`, `POST`, ...
    pub method: &'static str,
    /// Path and query, percent-encoded.
    pub path: Vec<u8>,
    /// The body, empty for none.
    pub body: Vec<u8>,
    common: Vec<u8>,
    sealed: Vec<u8>,
}

impl Request {
    /// A draft for `host` with `headers` (lines ended by CRLF) in every request.
    pub fn new(host: &str, headers: &str) -> Self {
        let common =
            format!(" HTTP/1.1\r\nHost: {host}\r\nUser-Agent: twinfold-campaign\r\n{headers}").into_bytes();
        Self { common, ..Self::default() }
    }

    /// Starts a new draft with `method`; path and body are empty.
    pub fn start(&mut self, method: &'static str) {
        self.method = method;
        self.path.clear();
        self.body.clear();
    }

    /// The bytes to send. Cost: one copy of the request.
    pub fn seal(&mut self) -> &[u8] {
        self.seal_head();
        self.sealed.extend_from_slice(&self.body);
        &self.sealed
    }

    /// The head and the body to send one after the other: for bodies that are better not copied.
    pub fn seal_apart(&mut self) -> (&[u8], &[u8]) {
        self.seal_head();
        (&self.sealed, &self.body)
    }

    fn seal_head(&mut self) {
        let out = &mut self.sealed;
        out.clear();
        out.extend_from_slice(self.method.as_bytes());
        out.push(b' ');
        out.extend_from_slice(&self.path);
        out.extend_from_slice(&self.common);
        if !self.body.is_empty() || self.method == "POST" {
            out.extend_from_slice(b"Content-Length: ");
            out.extend_from_slice(itoa::Buffer::new().format(self.body.len()).as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// A scenario of one request, again and again; for probes and tests.
#[derive(Debug, Clone)]
pub struct Fixed {
    /// The header lines, each ended by CRLF.
    pub headers: String,
    /// `GET`, `POST`, ...
    pub method: &'static str,
    /// Path and query, percent-encoded.
    pub path: String,
    /// The body, empty for none.
    pub body: Vec<u8>,
    /// How to treat it.
    pub call: Call,
    /// How many of them one session makes; `None`: no end.
    pub calls: Option<u64>,
}

impl Scenario for Fixed {
    fn headers(&self) -> &str {
        &self.headers
    }

    fn session(&self, _seat: Seat) -> Box<dyn Session + '_> {
        Box::new(FixedSession { fixed: self, left: self.calls })
    }
}

struct FixedSession<'a> {
    fixed: &'a Fixed,
    left: Option<u64>,
}

impl Session for FixedSession<'_> {
    fn next(&mut self, request: &mut Request) -> Option<Call> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        request.start(self.fixed.method);
        request.path.extend_from_slice(self.fixed.path.as_bytes());
        request.body.extend_from_slice(&self.fixed.body);
        Some(self.fixed.call)
    }
}
