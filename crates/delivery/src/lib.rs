//! Follows the feed once for all receivers, and keeps what they have not acknowledged: order, retries, outboxes. Whom a
//! change concerns, how it is worded and how it is sent is the caller's, who drives a [`Delivery`] in a loop:
//!
//! ```text
//! receivers   the caller reads who receives, and tells it            Delivery::set_receivers
//! read        a page of the feed, decoded and matched by the caller  Delivery::read, Delivery::offer
//! batches     what is to be sent now, to whom                        Delivery::batches
//! settle      what became of a batch                                 Delivery::settle
//! flush       statuses and outboxes first, then the position         Delivery::flush
//! ```
//!
//! Invariants:
//! - the durable position passes a page only when each of its matches is acknowledged, lies in its receiver's outbox, or is
//!   counted as overflowed in its receiver's status;
//! - messages of one receiver and one key are sent in the order of their sequence numbers, and the next only after the one
//!   before was acknowledged;
//! - sequence numbers of a receiver have no gaps, but for messages that overflowed and for cuts of the feed;
//! - what is in memory is bounded, and no receiver waits for another.
//!
//! Cost of a change: one reading and decoding, and O(matches).

mod keys;
mod options;
mod receiver;

mod queue;
mod status;

mod slot;

mod outbox;
mod pages;
mod positions;
mod registry;
mod seen;

mod delivery;
#[cfg(feature = "testing")]
pub mod testing;

pub use delivery::{Batch, Counters, Delivery, Match, Page};
pub use options::{BackOff, Options};
pub use queue::Message;
pub use receiver::Receiver;
pub use registry::Registry;
pub use status::{Status, forget, read_status};
