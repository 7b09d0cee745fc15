//! What a request may take of the server: time, memory, and a thread for long work.

use api_http::{Request, Share};
use model_entities::{Deadline, Lane, QueryResult, Slot};

use crate::problem::Problem;

/// What is written of stored bytes, and what is at work on them, takes about so many times as much as they do.
const BYTES_A_STORED_BYTE: usize = 3;

/// More stored bytes than these are long to look through, or to write.
pub(crate) const LIGHT_BYTES: usize = 256 << 10;

/// Until when a request may be worked on.
pub(crate) fn deadline(request: &Request) -> Deadline {
    Deadline::at(request.deadline)
}

/// Memory that a request takes as it goes on, until its answer has been sent.
pub(crate) struct Memory(Share);

impl Memory {
    /// None yet.
    pub(crate) fn of(request: &Request) -> Self {
        Self(request.memory.share())
    }

    /// Memory for what is made of so many stored bytes in all. Cost: nothing while they are few.
    ///
    /// # Errors
    ///
    /// 503 if bodies and answers take all of it.
    pub(crate) async fn grow(&mut self, stored_bytes: usize) -> Result<(), Problem> {
        let grown = self.0.grow(stored_bytes.saturating_mul(BYTES_A_STORED_BYTE)).await;
        grown.map_err(|_| Problem::memory_full())
    }
}

/// The size of a page as it is stored.
pub(crate) fn stored_bytes(page: &QueryResult) -> usize {
    page.entities.iter().map(bytes::Bytes::len).sum()
}

/// Does work in the slot that the request has, or if it `is_long` in one of its own, or here.
pub(crate) async fn beside<T>(
    slot: Option<&Slot>,
    lane: &Lane,
    is_long: bool,
    work: impl FnOnce() -> T,
) -> T {
    match slot {
        Some(slot) => slot.run(work),
        None if is_long => lane.run(work).await,
        None => work(),
    }
}
