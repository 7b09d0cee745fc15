//! What the server does by itself: a table of jobs. A new job is a file with its name, when it runs and what it does once,
//! and a line in [`JOBS`].

mod ticker;
mod job;
mod recompress;
mod clock;
mod fold;
mod history;
mod hooks;
mod index;
mod purge;
mod rebucket;
mod removals;
mod trim;

use std::sync::Arc;

use tokio::task::JoinSet;

pub(crate) use hooks::{Hooks, HooksPolicy};
pub(crate) use job::Work;

use job::Job;

/// All jobs but hooks, which may not be started at all.
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
];

/// Jobs that are ready to start.
pub(crate) struct Jobs {
    work: Work,
    /// `None` if hooks are not sent.
    hooks: Option<Hooks>,
}

impl Jobs {
    /// The jobs of a server; `None` for a policy: hooks are not sent.
    ///
    /// # Errors
    ///
    /// If there can be no client for hooks.
    pub(crate) fn new(work: Work, hooks: Option<HooksPolicy>) -> anyhow::Result<Self> {
        let hooks = hooks.map(|policy| {
            let sources = (work.store.clone(), work.clock.clone());
            Hooks::new(work.repositories.clone(), sources, Arc::clone(&work.metrics), policy)
        });
        Ok(Self { hooks: hooks.transpose()?, work })
    }

    /// Starts all jobs; they run until `tasks` are dropped.
    pub(crate) fn start(self, tasks: &mut JoinSet<()>) {
        for job in JOBS {
            job.start(&self.work, tasks);
        }
        match self.hooks {
            Some(hooks) => tasks.spawn(hooks.run()),
            None => tasks.spawn(Hooks::forget(self.work.store)),
        };
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
