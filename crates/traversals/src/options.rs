//! How far one walk may go, and where it runs.
//!
//! A walk counts its steps, lets others run between slices, and ends at its deadline. Once it has paused often it goes on in a slot of the
//! lane, beside the threads that serve.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use store::{Deadline, Lane};

/// Pauses after which a walk is long.
const PAUSES_INLINE: usize = 16;
/// What a walk remembers whose owner says nothing of it, in bytes.
const BYTES_MAX: usize = 1 << 30;

/// The most that [`WalkOptions::bytes_max`] may be: what a walk has met is numbered in 32 bits.
pub const WALK_BYTES_MAX: usize = 2 << 30;

/// Takes memory that all work shares, for one walk: so many bytes in all; whether there is as much.
#[derive(Clone)]
pub struct WalkMemory(Arc<dyn Fn(usize) -> bool + Send + Sync>);

impl WalkMemory {
    /// Memory that is taken by this.
    pub fn new(take: impl Fn(usize) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// As much as there is.
    pub fn endless() -> Self {
        Self::new(|_| true)
    }

    pub(crate) fn take(&self, bytes: usize) -> bool {
        (self.0)(bytes)
    }
}

impl fmt::Debug for WalkMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WalkMemory").finish_non_exhaustive()
    }
}

/// How far one walk may go, and where it runs.
#[derive(Clone, Debug)]
pub struct WalkOptions {
    /// Where it goes on once it is long.
    pub lane: Lane,
    /// Until when it may take.
    pub deadline: Deadline,
    /// The most bytes that it remembers; no more than [`WALK_BYTES_MAX`].
    pub bytes_max: usize,
    /// Where they come from, once they are more than a few: walks side by side share it.
    pub memory: WalkMemory,
}

impl WalkOptions {
    /// A walk that may remember a gigabyte.
    pub fn new(lane: Lane, deadline: Deadline) -> Self {
        Self { lane, deadline, bytes_max: BYTES_MAX, memory: WalkMemory::endless() }
    }

    /// Carries out a walk: here, and once it is long in the lane.
    pub(crate) async fn run<F: Future>(&self, walk: F) -> F::Output {
        let mut walk = pin!(walk);
        let mut pauses = 0;
        let begun = std::future::poll_fn(|context| match walk.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if pauses == PAUSES_INLINE => Poll::Ready(None),
            Poll::Pending => {
                pauses += 1;
                Poll::Pending
            }
        });
        match begun.await {
            Some(output) => output,
            None => self.lane.drive(walk).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_walk_that_pauses_often_goes_on_in_the_lane() {
        let options = WalkOptions::new(Lane::new(1), Deadline::default());
        let pausing = |pauses: usize| async move {
            for _ in 0..pauses {
                tokio::task::yield_now().await;
            }
            pauses
        };
        assert_eq!(options.run(pausing(PAUSES_INLINE)).await, PAUSES_INLINE);
        assert_eq!(options.lane.taken(), 0);
        assert_eq!(options.run(pausing(PAUSES_INLINE + 1)).await, PAUSES_INLINE + 1);
        assert!(options.lane.taken() > 0);
    }
}
