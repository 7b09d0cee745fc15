//! What a request may take of the server: time, memory, and a thread for long work.

use api_http::{Request, Reservation};
use model_entities::{Deadline, QueryResult, Slot};

use crate::problem::Problem;

/// What is written of stored bytes, and what is at work on them, takes about so many times as much as they do.
const BYTES_A_STORED_BYTE: usize = 3;

/// Until when a request may be worked on.
pub(crate) fn deadline(request: &Request) -> Deadline {
    Deadline::at(request.deadline)
}

/// Memory for what is made of so many stored bytes. Cost: nothing for small ones.
///
/// # Errors
///
/// 503 if bodies and answers take all of it.
pub(crate) async fn reserve(request: &Request, stored_bytes: usize) -> Result<Option<Reservation>, Problem> {
    let reserved = request.reserve(stored_bytes.saturating_mul(BYTES_A_STORED_BYTE)).await;
    reserved.map_err(|_| Problem::memory_full())
}

/// The size of a page as it is stored.
pub(crate) fn stored_bytes(page: &QueryResult) -> usize {
    page.entities.iter().map(bytes::Bytes::len).sum()
}

/// Does long work in its slot, and other work here.
pub(crate) fn in_slot<T>(slot: Option<&Slot>, work: impl FnOnce() -> T) -> T {
    match slot {
        Some(slot) => slot.run(work),
        None => work(),
    }
}
