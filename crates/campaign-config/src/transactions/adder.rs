//! The one client: adds an entry, waits for the answer, adds the next.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use campaign::executors::{Limits, Load, Outcome, run_closed};
use campaign::progress::Stage;
use campaign::scenario::{Call, Request, Scenario, Seat, Session};

use crate::rest::HEADERS;

/// The transactions of one load.
pub(super) struct Adder {
    /// Where entries are added.
    pub(super) path: String,
    /// The number of the first, and of the one behind the last.
    pub(super) numbers: (u64, u64),
    /// When none begins any more, on a floor.
    pub(super) duration: Option<Duration>,
    pub(super) times: Mutex<Vec<Duration>>,
}

/// The text of an entry.
pub(super) fn value(number: u64) -> String {
    format!("entry number {number}")
}

/// An entry as a body.
pub(super) fn entry(number: u64) -> String {
    let value = value(number);
    format!(r#"{{"entry":[{{"id":{number},"value":"{value}"}}]}}"#)
}

impl Adder {
    /// Runs them; how long each of the successes took, in their order.
    ///
    /// # Errors
    ///
    /// If the generator fails. Errors of the server are in the outcome.
    pub(super) fn run(self, load: &Load, name: &str) -> Result<(Outcome, Vec<Duration>)> {
        let load = Load { users: 1, ..load.clone() };
        let length = self.duration.is_none().then_some(self.numbers.1 - self.numbers.0);
        let mut stage = Stage::begin(name, length);
        let limits = Limits { iterations: None, duration: self.duration };
        let outcome = run_closed(&load, limits, &self, &mut |pulse| stage.tick(pulse))?;
        stage.end(&format!(
            "{} transactions in {:.3} s, p50 {:.3} ms, p99 {:.3} ms, {} errors",
            outcome.record.successes(),
            outcome.elapsed.as_secs_f64(),
            outcome.record.percentile_ms(50.0),
            outcome.record.percentile_ms(99.0),
            outcome.record.failures(),
        ));
        Ok((outcome, self.times.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Scenario for Adder {
    fn headers(&self) -> &str {
        HEADERS
    }

    fn session(&self, _seat: Seat) -> Box<dyn Session + '_> {
        Box::new(Client { adder: self, next: self.numbers.0, sent: Instant::now(), times: Vec::new() })
    }
}

struct Client<'a> {
    adder: &'a Adder,
    next: u64,
    sent: Instant,
    times: Vec<Duration>,
}

impl Session for Client<'_> {
    fn next(&mut self, request: &mut Request) -> Option<Call> {
        let Adder { path, numbers, duration, .. } = self.adder;
        if self.next >= numbers.1 {
            return None;
        }
        request.start("POST");
        request.path.extend_from_slice(path.as_bytes());
        request.body.extend_from_slice(entry(self.next).as_bytes());
        self.next += 1;
        self.sent = Instant::now();
        Some(Call::expecting(if duration.is_some() { 200 } else { 201 }))
    }

    fn answered(&mut self, answer: Option<(u16, &[u8])>) {
        if answer.is_some() {
            self.times.push(self.sent.elapsed());
        }
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        let mut times = self.adder.times.lock().unwrap_or_else(PoisonError::into_inner);
        times.append(&mut self.times);
    }
}
