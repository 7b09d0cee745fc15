//! How an algorithm runs: on how many threads, how far it is, and whether it shall go on.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crate::Error;

/// A run asks at least so often whether to go on.
const STEPS_BETWEEN_REPORTS: u64 = 65_536;

/// How an algorithm runs: on how many threads, how far it is, and whether it shall go on.
pub struct Run<'a> {
    threads: NonZeroUsize,
    go_on: &'a (dyn Fn(u64) -> bool + Sync),
    steps: AtomicU64,
    stopped: AtomicBool,
}

impl<'a> Run<'a> {
    /// A run on up to `threads` threads. `go_on` hears how many steps were done, from any of the threads, and says whether to go on.
    #[must_use]
    pub fn new(threads: NonZeroUsize, go_on: &'a (dyn Fn(u64) -> bool + Sync)) -> Run<'a> {
        Run { threads, go_on, steps: AtomicU64::new(0), stopped: AtomicBool::new(false) }
    }

    /// A run that nobody watches and that goes on to the end.
    #[must_use]
    pub fn unwatched(threads: NonZeroUsize) -> Run<'static> {
        Run::new(threads, &|_| true)
    }

    /// Steps done so far, over all algorithms of this run.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    pub(crate) fn pace(&self) -> Pace<'_> {
        Pace { run: self, pending: 0 }
    }

    /// Works through `items` on the threads of the run, each with a state of its own, and returns the states. Which thread works on which
    /// item is left to chance: what `work` does must not depend on it.
    pub(crate) fn share<T: Send, S: Send>(
        &self,
        items: impl Iterator<Item = T> + Send,
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, T, &mut Pace<'_>) -> Result<(), Error> + Sync,
    ) -> Result<Vec<S>, Error> {
        if self.threads.get() == 1 {
            let mut state = state();
            let mut pace = self.pace();
            for item in items {
                work(&mut state, item, &mut pace)?;
            }
            pace.report()?;
            return Ok(vec![state]);
        }
        let queue = Mutex::new(items);
        let worker = || {
            let mut state = state();
            let mut pace = self.pace();
            loop {
                let item = queue.lock().expect("no worker panics while it takes an item").next();
                let Some(item) = item else { break };
                work(&mut state, item, &mut pace)?;
            }
            pace.report()?;
            Ok(state)
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.threads.get()).map(|_| scope.spawn(worker)).collect();
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    }
}

/// Counts the steps of one thread, and reports them in portions.
pub(crate) struct Pace<'r> {
    run: &'r Run<'r>,
    pending: u64,
}

impl Pace<'_> {
    /// Counts `steps`; refuses once the run has been stopped.
    #[inline]
    pub(crate) fn step(&mut self, steps: usize) -> Result<(), Error> {
        self.pending += steps as u64;
        if self.pending < STEPS_BETWEEN_REPORTS {
            return Ok(());
        }
        self.report()
    }

    pub(crate) fn report(&mut self) -> Result<(), Error> {
        let steps = self.run.steps.fetch_add(self.pending, Ordering::Relaxed) + self.pending;
        self.pending = 0;
        if self.run.stopped.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        if !(self.run.go_on)(steps) {
            self.run.stopped.store(true, Ordering::Relaxed);
            return Err(Error::Stopped);
        }
        Ok(())
    }
}
