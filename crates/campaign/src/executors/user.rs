//! One virtual user: waits until it may send, sends, notes the outcome, thinks.

use std::cell::{Cell, RefCell};
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::pacer::Pacer;
use super::{Load, Part, Pulse};
use crate::client::{CallError, Connection};
use crate::record::Record;
use crate::scenario::{Call, Request, Scenario, Seat, Session};

/// How long a user waits after a failed connection, so that a dead server is not hammered.
const RECONNECT_PAUSE: Duration = Duration::from_millis(20);
/// Up to this size a body is copied behind its head, which saves a call to the kernel.
const BODY_COPIED_MAX: usize = 64 * 1024;

/// Whether a user of a closed loop may send.
pub(super) enum Turn {
    /// Send at once.
    Now,
    /// The load is over.
    Over,
}

/// Who decides when a request is sent.
pub(super) enum Pace<'a> {
    /// The last answer.
    Closed(&'a (dyn Fn(&Shared<'_>) -> Turn + Sync)),
    /// The clock.
    Open(&'a Pacer),
}

impl Pace<'_> {
    /// Starts the thread that releases requests when they are due, for an open loop.
    pub(super) fn start_pacer<'scope, 'env>(
        &'env self,
        scope: &'scope thread::Scope<'scope, 'env>,
        start: Instant,
    ) -> Option<thread::ScopedJoinHandle<'scope, ()>> {
        match self {
            Self::Closed(_) => None,
            Self::Open(pacer) => Some(scope.spawn(move || pacer.run(start))),
        }
    }
}

/// What all users share.
pub(super) struct Shared<'a> {
    pub(super) load: &'a Load,
    pub(super) scenario: &'a dyn Scenario,
    pub(super) pulse: &'a Pulse,
    pub(super) duration: Option<Duration>,
    pub(super) pace: &'a Pace<'a>,
    pub(super) ready: &'a Barrier,
    pub(super) go: &'a Barrier,
    pub(super) start: &'a OnceLock<Instant>,
}

/// What the users of one thread share.
#[derive(Default)]
pub(super) struct Bench {
    record: RefCell<Record>,
    ended: Cell<Duration>,
    out_of_time: Cell<bool>,
}

impl Bench {
    pub(super) fn into_part(self) -> Part {
        Part {
            record: self.record.into_inner(),
            ended: self.ended.into_inner(),
            out_of_time: self.out_of_time.into_inner(),
        }
    }
}

/// Runs the users of one thread: all connect, then all start together.
pub(super) async fn run_all(shared: &Shared<'_>, bench: &Bench, users: Vec<usize>) {
    let mut connections = Vec::with_capacity(users.len());
    for _ in &users {
        connections.push(Connection::open(shared.load.address, shared.load.timeout).await.ok());
    }
    // Blocking here is meant: nothing else runs on this thread before the common start.
    shared.ready.wait();
    shared.go.wait();
    let start = shared.start.get().copied().unwrap_or_else(Instant::now);
    // Each user is polled only when its socket woke it; going round all would be quadratic.
    let mut running: FuturesUnordered<_> = users
        .into_iter()
        .zip(connections)
        .map(|(user, connection)| {
            let seat = Seat { user, seed: shared.load.seed };
            let mut user = User {
                shared,
                bench,
                start,
                connection,
                request: Request::new(&shared.load.host, shared.scenario.headers()),
                session: shared.scenario.session(seat),
            };
            async move { user.run().await }
        })
        .collect();
    while running.next().await.is_some() {}
}

struct User<'a> {
    shared: &'a Shared<'a>,
    bench: &'a Bench,
    start: Instant,
    connection: Option<Connection>,
    request: Request,
    session: Box<dyn Session + 'a>,
}

impl User<'_> {
    async fn run(&mut self) {
        let mut free_since = Instant::now();
        loop {
            if self.shared.duration.is_some_and(|limit| free_since - self.start >= limit) {
                self.bench.out_of_time.set(true);
                return;
            }
            let Some(due) = self.turn(free_since).await else { return };
            let Some(call) = self.session.next(&mut self.request) else { return };
            free_since = self.call(call, due).await;
            if !call.pause.is_zero() {
                tokio::time::sleep(call.pause).await;
                free_since = Instant::now();
            }
        }
    }

    /// Waits until this user may send. `Some(Some(moment))`: the request was due then. `None`: it is over.
    async fn turn(&self, free_since: Instant) -> Option<Option<Instant>> {
        match self.shared.pace {
            Pace::Closed(turn) => match turn(self.shared) {
                Turn::Now => Some(None),
                Turn::Over => None,
            },
            Pace::Open(pacer) => {
                let due = pacer.next(self.start).await?;
                if free_since <= due {
                    // This user stood ready: whatever passed since is the generator's own delay.
                    self.bench.record.borrow_mut().lag(due.elapsed());
                }
                Some(Some(due))
            }
        }
    }

    /// Sends the drafted request and notes what became of it; returns the moment of the answer.
    async fn call(&mut self, call: Call, due: Option<Instant>) -> Instant {
        let connection = match self.connection.take().filter(Connection::is_reusable) {
            Some(connection) => Ok(connection),
            None => Connection::open(self.shared.load.address, self.shared.load.timeout).await,
        };
        let begun = Instant::now();
        let mut connection = match connection {
            Ok(connection) => connection,
            Err(error) => {
                self.session.answered(None);
                let now = self.failed(&error);
                tokio::time::sleep(RECONNECT_PAUSE).await;
                return now;
            }
        };
        let session = &mut self.session;
        let answer = if call.streams {
            let wanted = |status| call.expects.holds(status);
            let request = self.request.seal_apart();
            connection.call_apart(request, begun, &wanted, &mut |part| session.part(part)).await
        } else if self.request.body.len() > BODY_COPIED_MAX {
            let request = self.request.seal_apart();
            let whole = connection.call_apart(request, begun, &|_| false, &mut |_| {}).await;
            whole.map(|(answer, _)| {
                let bytes = answer.body.len() as u64;
                (answer, bytes)
            })
        } else {
            let answer = connection.call(self.request.seal(), begun).await;
            answer.map(|answer| {
                let bytes = answer.body.len() as u64;
                (answer, bytes)
            })
        };
        match answer {
            Ok((answer, bytes)) => {
                let now = Instant::now();
                let at = now - self.start;
                let ok = call.expects.holds(answer.status);
                let mut record = self.bench.record.borrow_mut();
                if !ok {
                    record.failure(itoa::Buffer::new().format(answer.status), at, || {
                        example(&self.request, answer.body)
                    });
                } else if call.measured {
                    record.success(now - due.unwrap_or(begun), at, bytes);
                }
                drop(record);
                self.session.answered(ok.then_some((answer.status, answer.body)));
                self.ended(ok, now);
                self.connection = Some(connection);
                now
            }
            Err(error) => {
                self.session.answered(None);
                self.failed(&error)
            }
        }
    }

    fn failed(&self, error: &CallError) -> Instant {
        let now = Instant::now();
        let example = || example(&self.request, error.to_string().as_bytes());
        self.bench.record.borrow_mut().failure(error.kind(), now - self.start, example);
        self.ended(false, now);
        now
    }

    fn ended(&self, ok: bool, now: Instant) {
        self.shared.pulse.beat(ok);
        self.bench.ended.set(now - self.start);
    }
}

fn example(request: &Request, what: &[u8]) -> String {
    let path = String::from_utf8_lossy(&request.path);
    format!("{} {path}: {}", request.method, String::from_utf8_lossy(what))
}
