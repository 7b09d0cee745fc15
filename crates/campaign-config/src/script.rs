//! Requests that one user sends one after the other, as a job that is timed as a whole.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use campaign::executors::{Limits, Load, Outcome, run_closed};
use campaign::progress::Stage;
use campaign::scenario::{Call, Request, Scenario, Seat, Session};

/// One request, and the status that it must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// `GET`, `POST`, ...
    pub method: &'static str,
    /// Path and query, percent-encoded.
    pub path: String,
    /// The body, empty for none.
    pub body: Vec<u8>,
    /// The status of success.
    pub status: u16,
}

impl Draft {
    /// A request without a body.
    pub fn new(method: &'static str, path: String, status: u16) -> Self {
        Self { method, path, body: Vec::new(), status }
    }

    /// The same with a body.
    #[must_use]
    pub fn with(self, body: Vec<u8>) -> Self {
        Self { body, ..self }
    }
}

/// Requests with the header lines that all of them have.
#[derive(Debug, Clone)]
pub struct Script {
    /// Lines ended by CRLF.
    pub headers: String,
    /// In the order in which they are sent.
    pub drafts: Arc<[Draft]>,
    /// How often all of them are sent.
    pub repeat: usize,
}

impl Script {
    /// Sends them; the answers of the first round are returned, in order, and behind them each answer of a later round that is
    /// another than the first to the same request. Those that were not as hoped for are empty bodies.
    ///
    /// # Errors
    ///
    /// If the generator fails. Errors of the server are in the outcome.
    pub fn run(&self, load: &Load, name: &str) -> Result<(Outcome, Vec<Vec<u8>>)> {
        self.send(load, name, None)
    }

    /// The same on a floor, which answers everything with `status`.
    ///
    /// # Errors
    ///
    /// If the generator fails.
    pub fn run_on_floor(&self, load: &Load, name: &str, status: u16) -> Result<Outcome> {
        self.send(load, name, Some(status)).map(|(outcome, _)| outcome)
    }

    fn send(&self, load: &Load, name: &str, floor: Option<u16>) -> Result<(Outcome, Vec<Vec<u8>>)> {
        let sending = Sending { script: self, floor, answers: Mutex::default() };
        let load = Load { users: 1, ..load.clone() };
        let mut stage = Stage::begin(name, Some((self.drafts.len() * self.repeat) as u64));
        let outcome = run_closed(&load, Limits::default(), &sending, &mut |pulse| stage.tick(pulse))?;
        let cpu = outcome.server_cpu.map_or("?".to_owned(), |cpu| format!("{:.2}", cpu.as_secs_f64()));
        stage.end(&format!(
            "{} requests in {:.3} s, {} errors, CPU of the server {cpu} s",
            outcome.record.calls(),
            outcome.elapsed.as_secs_f64(),
            outcome.record.failures(),
        ));
        Ok((outcome, sending.answers.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }
}

struct Sending<'a> {
    script: &'a Script,
    floor: Option<u16>,
    answers: Mutex<Vec<Vec<u8>>>,
}

impl Scenario for Sending<'_> {
    fn headers(&self) -> &str {
        &self.script.headers
    }

    fn session(&self, _seat: Seat) -> Box<dyn Session + '_> {
        Box::new(User { sending: self, next: 0, answers: Vec::new() })
    }
}

struct User<'a> {
    sending: &'a Sending<'a>,
    next: usize,
    answers: Vec<Vec<u8>>,
}

impl Session for User<'_> {
    fn next(&mut self, request: &mut Request) -> Option<Call> {
        let Script { drafts, repeat, .. } = self.sending.script;
        if self.next >= drafts.len() * repeat {
            return None;
        }
        let draft = drafts.get(self.next % drafts.len())?;
        self.next += 1;
        request.start(draft.method);
        request.path.extend_from_slice(draft.path.as_bytes());
        request.body.extend_from_slice(&draft.body);
        Some(Call::expecting(self.sending.floor.unwrap_or(draft.status)))
    }

    fn answered(&mut self, answer: Option<(u16, &[u8])>) {
        let drafts = self.sending.script.drafts.len();
        let body = answer.map_or(&[][..], |(_, body)| body);
        // What was answered before need not be kept, and looked at, again.
        let known = self.next > drafts
            && self.answers.get((self.next - 1) % drafts).is_some_and(|first| first.as_slice() == body);
        if !known {
            self.answers.push(body.to_vec());
        }
    }
}

impl Drop for User<'_> {
    fn drop(&mut self) {
        let mut answers = self.sending.answers.lock().unwrap_or_else(PoisonError::into_inner);
        *answers = std::mem::take(&mut self.answers);
    }
}

#[cfg(test)]
mod tests {
    use campaign::course::Course;
    use campaign::target::Target;
    use campaign::toy::{Reply, Toy};

    use super::*;

    #[test]
    fn answers_are_those_of_the_first_round_and_all_that_differ() {
        let toy = Toy::start(|nth| match nth {
            5 => Reply::new(503, "busy"),
            7 => Reply::ok("other"),
            nth => Reply::ok(&(nth % 3).to_string()),
        });
        let drafts = ["/a", "/b", "/c"].map(|path| Draft::new("GET", path.to_owned(), 200));
        let script = Script { headers: String::new(), drafts: drafts.into(), repeat: 4 };
        let target = Target::foreign(toy.address(), "toy".to_owned(), None);
        let load = Course::of_toy(&toy).load(&target, 7);
        let (outcome, answers) = script.run(&load, "toy").unwrap();
        assert_eq!((outcome.record.successes(), outcome.record.failures(), toy.connections()), (11, 1, 1));
        assert_eq!(answers, [&b"1"[..], b"2", b"0", b"", b"other"]);
        let lines: Vec<String> =
            toy.heads().iter().map(|head| head.lines().next().unwrap().to_owned()).collect();
        assert_eq!(lines[3], "GET /a HTTP/1.1");
    }
}
