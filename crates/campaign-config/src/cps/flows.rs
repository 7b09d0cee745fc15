//! The users of a row: each repeats the flow until the time is over. A share of the flows reads the tree back before the
//! anchor is deleted, outside of the time that counts.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use campaign::executors::{Limits, Load, Outcome, run_closed};
use campaign::progress::Stage;
use campaign::record::{Record, Second};
use campaign::scenario::{Call, Request, Scenario, Seat, Session};

use super::inputs::Inputs;
use super::tally::{Step, Tallies};
use crate::rest::{Dataspace, HEADERS};

/// Of so many flows of a user one is read back, the first among them.
const READ_BACK_EVERY: u64 = 100;
/// Trees read back that one user collects.
const SAMPLES_MAX: usize = 20;

/// A tree read back, and the number of the update that it must show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) mark: u64,
    pub(super) body: Vec<u8>,
}

/// What a load left besides its outcome.
#[derive(Debug, Default)]
pub(super) struct Left {
    pub(super) tallies: Tallies,
    pub(super) samples: Vec<Sample>,
    record: Record,
}

/// The flows of one load.
pub(super) struct Flows<'a> {
    pub(super) inputs: &'a Inputs,
    pub(super) dataspace: &'a Dataspace,
    pub(super) schema_set: &'a str,
    /// Begins the names of its anchors, which no other load has.
    pub(super) prefix: String,
    /// For how long flows begin.
    pub(super) duration: Duration,
    /// The status of every answer, on a floor, which knows no other; nothing is read back there.
    pub(super) floor: Option<u16>,
    pub(super) left: Mutex<Left>,
}

impl Flows<'_> {
    /// Runs them; the outcome counts flows, not calls.
    ///
    /// # Errors
    ///
    /// If the generator fails.
    pub(super) fn run(self, load: &Load, name: &str) -> Result<(Outcome, Left)> {
        let mut stage = Stage::begin(name, None);
        let mut outcome = run_closed(load, Limits::default(), &self, &mut |pulse| stage.tick(pulse))?;
        let mut left = self.left.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut flows = std::mem::take(&mut left.record);
        flows.errors.clone_from(&outcome.record.errors);
        let seconds = flows.seconds.len().max(outcome.record.seconds.len());
        flows.seconds.resize(seconds, Second::default());
        for (flows, calls) in flows.seconds.iter_mut().zip(&outcome.record.seconds) {
            flows.errors = calls.errors;
        }
        outcome.record = flows;
        let cpu = |cpu| outcome.us_per_call(cpu).map_or("?".to_owned(), |us| format!("{us:.0}"));
        stage.end(&format!(
            "{:.0} flows/s, p50 {:.2} ms, p95 {:.2} ms, {} errors, CPU us a flow: server {}, generator {}",
            outcome.throughput(),
            outcome.record.percentile_ms(50.0),
            outcome.record.percentile_ms(95.0),
            outcome.record.failures(),
            cpu(outcome.server_cpu),
            cpu(outcome.generator_cpu),
        ));
        Ok((outcome, left))
    }
}

impl Scenario for Flows<'_> {
    fn headers(&self) -> &str {
        HEADERS
    }

    fn session(&self, seat: Seat) -> Box<dyn Session + '_> {
        Box::new(User {
            flows: self,
            user: seat.user as u64,
            begun: None,
            flow: 0,
            doing: Doing::Step(Step::CreateAnchor),
            anchor: String::new(),
            sent: Instant::now(),
            spent: Duration::ZERO,
            left: Left::default(),
        })
    }
}

/// What a user is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Step(Step),
    ReadBack,
}

struct User<'a> {
    flows: &'a Flows<'a>,
    user: u64,
    /// When its first flow began.
    begun: Option<Instant>,
    flow: u64,
    doing: Doing,
    anchor: String,
    sent: Instant,
    /// How long the flow took so far.
    spent: Duration,
    left: Left,
}

impl User<'_> {
    /// The number of the update of the flow: of all users together, unless they are more than a thousand.
    fn mark(&self) -> u64 {
        self.flow * 1_000 + self.user
    }

    fn reads_back(&self) -> bool {
        let due = self.flow.is_multiple_of(READ_BACK_EVERY) && self.left.samples.len() < SAMPLES_MAX;
        due && self.flows.floor.is_none()
    }

    fn next_flow(&mut self) {
        self.flow += 1;
        self.doing = Doing::Step(Step::CreateAnchor);
        self.spent = Duration::ZERO;
    }

    fn draft(&mut self, request: &mut Request) -> u16 {
        let Flows { inputs, dataspace, schema_set, prefix, .. } = self.flows;
        let (method, path, status) = match self.doing {
            Doing::Step(Step::CreateAnchor) => {
                self.anchor = format!("{prefix}-{}-{}", self.user, self.flow);
                ("POST", dataspace.new_anchor(schema_set, &self.anchor), 201)
            }
            Doing::Step(Step::CreateNode) => {
                ("POST", format!("{}/nodes", dataspace.anchor(&self.anchor)), 201)
            }
            Doing::Step(Step::UpdateNode) => {
                ("PUT", dataspace.write(&self.anchor, "nodes", &inputs.updated), 200)
            }
            Doing::ReadBack => ("GET", dataspace.read(&self.anchor, &inputs.top, "all"), 200),
            Doing::Step(Step::DeleteAnchor) => ("DELETE", dataspace.anchor(&self.anchor), 204),
        };
        request.start(method);
        request.path.extend_from_slice(path.as_bytes());
        match self.doing {
            Doing::Step(Step::CreateNode) => request.body.extend_from_slice(inputs.sample.as_bytes()),
            Doing::Step(Step::UpdateNode) => inputs.update(self.mark(), &mut request.body),
            _ => {}
        }
        status
    }
}

impl Session for User<'_> {
    fn next(&mut self, request: &mut Request) -> Option<Call> {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        if self.doing == Doing::Step(Step::CreateAnchor) && begun.elapsed() >= self.flows.duration {
            return None;
        }
        let status = self.draft(request);
        self.sent = Instant::now();
        let measured = self.doing != Doing::ReadBack;
        Some(Call { measured, ..Call::expecting(self.flows.floor.unwrap_or(status)) })
    }

    fn answered(&mut self, answer: Option<(u16, &[u8])>) {
        let took = self.sent.elapsed();
        // What went wrong is in the record of calls; the flow is given up with what it left.
        let Some((_, body)) = answer else { return self.next_flow() };
        if let Doing::Step(step) = self.doing {
            self.left.tallies.of_mut(step).add(took);
            self.spent += took;
        }
        self.doing = match self.doing {
            Doing::Step(Step::CreateAnchor) => Doing::Step(Step::CreateNode),
            Doing::Step(Step::CreateNode) => Doing::Step(Step::UpdateNode),
            Doing::Step(Step::UpdateNode) if self.reads_back() => Doing::ReadBack,
            Doing::Step(Step::UpdateNode) => Doing::Step(Step::DeleteAnchor),
            Doing::ReadBack => {
                self.left.samples.push(Sample { mark: self.mark(), body: body.to_vec() });
                Doing::Step(Step::DeleteAnchor)
            }
            Doing::Step(Step::DeleteAnchor) => {
                let at = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
                self.left.record.success(self.spent, at, 0);
                return self.next_flow();
            }
        };
    }
}

impl Drop for User<'_> {
    fn drop(&mut self) {
        let mut left = self.flows.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.tallies.merge(&self.left.tallies);
        left.record.merge(&self.left.record);
        left.samples.append(&mut self.left.samples);
    }
}
