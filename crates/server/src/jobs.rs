//! What the server does by itself: a table of jobs. A new job is a file with its name, when it runs and what it does once,
//! and a line in [`JOBS`].

mod ticker;
mod sender;
mod notifier;
mod sinks;
mod follower;
mod job;
mod recompress;
mod algorithms;
mod clock;
mod config_events;
mod configs;
mod fold;
mod graphs;
mod history;
mod hooks;
mod index;
mod purge;
mod rebucket;
mod removals;
mod trim;

use tokio::task::JoinSet;

pub(crate) use job::Work;
pub(crate) use notifier::{HooksPolicy, Notifier};
pub(crate) use sinks::Sinks;

use job::Job;

/// All jobs.
const JOBS: &[Job] = &[
    clock::JOB,
    purge::JOB,
    removals::JOB,
    index::JOB,
    history::FOLD,
    history::SWEEP,
    fold::HISTORY,
    fold::SERIES,
    trim::JOB,
    recompress::JOB,
    rebucket::JOB,
    graphs::JOB,
    configs::JOB,
    config_events::JOB,
    hooks::JOB,
    algorithms::JOB,
];

/// Starts all jobs; they run until `tasks` are dropped.
pub(crate) fn start(work: &Work, tasks: &mut JoinSet<()>) {
    for job in JOBS {
        job.start(work, tasks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_have_names_of_their_own() {
        let mut names: Vec<&str> = JOBS.iter().map(|job| job.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
