//! Follows the feed once for all receivers, and keeps what they have not acknowledged: order, retries, outboxes. Whom a
//! change concerns, how it is worded and how it is sent is the caller's, who drives a [`Delivery`] in a loop:
//!
//! ```text
//! receivers   the caller reads who receives, and what of that is new Delivery::put_receiver, Delivery::remove_receiver
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
//! Cost of a change: one reading and decoding, and O(matches). Cost of a change of one receiver: O(1).
//!
//! ```
//! # use std::time::Duration;
//! use delivery::{BackOff, Delivery, Match, Options, Receiver};
//! # use store::{Clock, Error, FeedOptions, MemoryOptions, Store, Tenant};
//! # async fn run() -> Result<(), Error> {
//! # let clock = Clock::System;
//! # let store = Store::memory(MemoryOptions { clock: clock.clone(), feed: FeedOptions::recommended() });
//! let options = Options {
//!     name: "example",
//!     page_changes_max: 1_000,
//!     batch_messages_max: 100,
//!     in_flight_max: 1,
//!     sends_max: 64,
//!     window_messages_max: 400,
//!     memory_bytes_max: 64 << 20,
//!     outbox_messages_max: 100_000,
//!     outbox_bytes_max: 64 << 20,
//!     patience: Duration::from_secs(2),
//!     back_off: BackOff { first: Duration::from_secs(1), longest: Duration::from_mins(5) },
//! };
//! let since = vec![store.feed_end(0)];
//! let receiver = Receiver { id: 7, tenant: Tenant::default(), since, is_paused: false };
//! let mut delivery = Delivery::open(store, options, vec![receiver]).await?;
//! // One round of the loop:
//! while let Some(page) = delivery.read().await? {
//!     let matched = |change: &store::Change| Match { receiver: 7, key: change.number, payload: "word me".into() };
//!     let matches = page.changes.iter().map(matched).collect();
//!     delivery.offer(&page, matches, clock.now()).await?;
//! }
//! for batch in delivery.batches(clock.now()).await? {
//!     // Here it is sent to `batch.receiver`.
//!     delivery.settle(batch.number, Ok(()), clock.now());
//! }
//! delivery.flush(clock.now()).await?;
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run()).unwrap();
//! ```

mod counters;
mod keys;
mod options;
mod receiver;

mod queue;
mod status;

mod slot;

mod receivers;

mod outbox;
mod pages;
mod positions;
mod registry;
mod seen;

mod delivery;
mod flush;
mod gauges;
#[cfg(feature = "testing")]
pub mod testing;

pub use counters::{Backlog, Counters, Gauges};
pub use delivery::{Batch, Delivery, Match, Page};
pub use options::{BackOff, Options};
pub use queue::Message;
pub use receiver::Receiver;
pub use registry::{Registry, Removal};
pub use status::{Status, forget, read_status};
