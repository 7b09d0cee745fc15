//! When requests are sent. [`run_closed`]: a user sends its next request once the last is answered (shared
//! iterations; at-once users with think time; a timed job). [`open::run_open`]: requests are due at given
//! moments, whatever the server does. [`search`]: the largest rate that still keeps a rule.

mod pacer;
mod user;
pub mod open;
pub mod search;

use std::net::SocketAddr;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::process;
use crate::record::Record;
use crate::scenario::Scenario;
use crate::usage::{Usage, UsagePoint};
use user::{Shared, Turn};

/// How often a running load is looked at, for progress.
const TICK: Duration = Duration::from_millis(100);

/// Where a load goes and who bears it.
#[derive(Debug, Clone)]
pub struct Load {
    /// The server.
    pub address: SocketAddr,
    /// The value of `Host`.
    pub host: String,
    /// The server's process, if its CPU time is to be read.
    pub server_pid: Option<u32>,
    /// Virtual users, one connection each.
    pub users: usize,
    /// Generator threads; users are dealt out to them.
    pub threads: usize,
    /// The longest one call may take.
    pub timeout: Duration,
    /// The seed of all draws.
    pub seed: u64,
}

/// When a closed loop ends: by whichever comes first, or when all sessions are done.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// Calls of all users together.
    pub iterations: Option<u64>,
    /// Time for the whole load; calls under way are still finished.
    pub duration: Option<Duration>,
}

/// What a load showed.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Latencies, errors, seconds.
    pub record: Record,
    /// From the common start to the last answer.
    pub elapsed: Duration,
    /// CPU time of this process meanwhile.
    pub generator_cpu: Option<Duration>,
    /// CPU time of the server meanwhile.
    pub server_cpu: Option<Duration>,
    /// Whether the time limit ended it.
    pub out_of_time: bool,
    /// What the server used, moment by moment.
    pub usage: Vec<UsagePoint>,
}

impl Outcome {
    /// Successes a second.
    pub fn throughput(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 { self.record.successes() as f64 / seconds } else { 0.0 }
    }

    /// Microseconds of `cpu` for each call.
    pub fn us_per_call(&self, cpu: Option<Duration>) -> Option<f64> {
        let calls = self.record.calls();
        cpu.filter(|_| calls > 0).map(|cpu| cpu.as_secs_f64() * 1e6 / calls as f64)
    }
}

/// Live counts of a running load, for progress.
#[derive(Debug, Default)]
pub struct Pulse {
    done: AtomicU64,
    errors: AtomicU64,
}

impl Pulse {
    /// Calls answered so far, well or badly.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Errors so far.
    pub fn errors(&self) -> u64 {
        self.errors.load(Ordering::Relaxed)
    }

    pub(crate) fn beat(&self, ok: bool) {
        self.done.fetch_add(1, Ordering::Relaxed);
        if !ok {
            self.errors.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Runs `scenario` as a closed loop: every user sends its next request as soon as the last is answered and its
/// think time is over. With `iterations` the users share them (as k6's shared iterations); without limits each
/// session ends itself, and `elapsed` is the wall clock of the job. `tick` is called some ten times a second.
///
/// # Errors
///
/// If a generator thread cannot start. Errors of the load itself are in its record.
pub fn run_closed(
    load: &Load,
    limits: Limits,
    scenario: &dyn Scenario,
    tick: &mut dyn FnMut(&Pulse),
) -> anyhow::Result<Outcome> {
    let left = limits.iterations.map(AtomicU64::new);
    let turn = |_: &Shared<'_>| match &left {
        None => Turn::Now,
        Some(left) => match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)) {
            Ok(_) => Turn::Now,
            Err(_) => Turn::Over,
        },
    };
    drive(load, limits.duration, scenario, &user::Pace::Closed(&turn), tick)
}

/// Starts the threads, lets all users connect, starts the clock, and gathers what they recorded.
fn drive(
    load: &Load,
    duration: Option<Duration>,
    scenario: &dyn Scenario,
    pace: &user::Pace<'_>,
    tick: &mut dyn FnMut(&Pulse),
) -> anyhow::Result<Outcome> {
    let pulse = Pulse::default();
    let threads = load.threads.clamp(1, load.users.max(1));
    let ready = Barrier::new(threads + 1);
    let go = Barrier::new(threads + 1);
    let start = std::sync::OnceLock::new();
    let done = AtomicUsize::new(0);
    let shared =
        Shared { load, scenario, pulse: &pulse, duration, pace, ready: &ready, go: &go, start: &start };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let (users, shared, done) = ((thread..load.users).step_by(threads), &shared, &done);
                let main = thread::current();
                scope.spawn(move || {
                    let part = work(shared, users.collect());
                    done.fetch_add(1, Ordering::Release);
                    main.unpark();
                    part
                })
            })
            .collect();
        ready.wait();
        let mut usage = Usage::start(load.server_pid);
        let cpu_before = cpu_times(load);
        let begun = Instant::now();
        let _ = start.set(begun);
        go.wait();
        let pacer = pace.start_pacer(scope, begun);
        // Counted, not only looked at: a thread that has reported its end is not gone yet, and what the server does in one
        // more tick would be added to its CPU time. One that panicked never counts.
        let over = || done.load(Ordering::Acquire) >= threads;
        while !over() && !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::park_timeout(TICK);
            usage.look();
            tick(&pulse);
        }
        let cpu_after = cpu_times(load);
        let mut outcome = Outcome {
            record: Record::new(),
            elapsed: Duration::ZERO,
            generator_cpu: difference(cpu_before.0, cpu_after.0),
            server_cpu: difference(cpu_before.1, cpu_after.1),
            out_of_time: false,
            usage: usage.finish(),
        };
        for worker in workers {
            let part = worker.join().map_err(|_| anyhow::anyhow!("a generator thread panicked"))??;
            outcome.record.merge(&part.record);
            outcome.elapsed = outcome.elapsed.max(part.ended);
            outcome.out_of_time |= part.out_of_time;
        }
        drop(pacer);
        Ok(outcome)
    })
}

fn cpu_times(load: &Load) -> (Option<Duration>, Option<Duration>) {
    (process::cpu_time(std::process::id()), load.server_pid.and_then(process::cpu_time))
}

fn difference(before: Option<Duration>, after: Option<Duration>) -> Option<Duration> {
    Some(after?.saturating_sub(before?))
}

/// What one generator thread brings home.
struct Part {
    record: Record,
    ended: Duration,
    out_of_time: bool,
}

fn work(shared: &Shared<'_>, users: Vec<usize>) -> anyhow::Result<Part> {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            // The others wait at both barriers: they must not wait for ever.
            shared.ready.wait();
            shared.go.wait();
            return Err(error.into());
        }
    };
    let bench = user::Bench::default();
    runtime.block_on(user::run_all(shared, &bench, users));
    Ok(bench.into_part())
}

#[cfg(test)]
mod tests;
