//! Arrivals at a given rate: an open loop. Latency counts from the moment a request was due, so a server that
//! stalls is seen to stall; the generator's own delay is reported separately.

pub use super::pacer::Arrivals;
use super::pacer::Pacer;
use super::user::Pace;
use super::{Load, Outcome, Pulse, drive};
use crate::scenario::Scenario;

/// Runs `scenario` as an open loop; `load.users` bounds the requests under way. When all users are busy, requests
/// wait for one, and their latency grows from the moment they were due.
///
/// # Errors
///
/// If a generator thread cannot start, or the rate is not a positive number.
pub fn run_open(
    load: &Load,
    arrivals: Arrivals,
    scenario: &dyn Scenario,
    tick: &mut dyn FnMut(&Pulse),
) -> anyhow::Result<Outcome> {
    anyhow::ensure!(arrivals.rate.is_finite() && arrivals.rate > 0.0, "the rate must be positive");
    let pacer = Pacer::new(arrivals, load.users);
    drive(load, None, scenario, &Pace::Open(&pacer), tick)
}
