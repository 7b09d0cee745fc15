//! One receiver: what it is sent next, what of it lies in its outbox, and what of that is to be written. Pure: it says which rows
//! come and go; `outbox.rs` carries that out.
//!
//! A receiver that keeps up is *direct*: its messages are in memory alone, and acknowledged before the position passes them. One
//! that does not is *behind*: its messages go to its outbox, and are sent from there in order. It is direct again once
//! all of the outbox is in memory and it does not fail.

use std::collections::BTreeMap;
use std::time::Duration;

use store::{Limits, Stamp, Timestamp};

use crate::queue::{Message, Pause, Queue};
use crate::{Options, Receiver, Status};

/// Where an unsettled message comes from.
#[derive(Clone, Copy, Debug)]
struct Origin {
    page: u64,
    offered_at: Timestamp,
}

/// One receiver.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) receiver: Receiver,
    pub(crate) queue: Queue,
    pub(crate) status: Status,
    /// Of the row of the status; `None`: there is none.
    pub(crate) version: Option<Stamp>,
    /// The number of the next message.
    next: u64,
    /// The number of the next message behind the durable position.
    settled_next: u64,
    /// Messages that are neither acknowledged nor stored.
    origins: BTreeMap<u64, Origin>,
    is_behind: bool,
    /// To be stored: of a receiver that is behind, what came meanwhile or was in memory.
    unwritten: BTreeMap<u64, Message>,
    unwritten_bytes: usize,
    /// Acknowledged; their rows are still to be removed. With the bytes of each.
    acknowledged: BTreeMap<u64, u64>,
    /// What is in the outbox from here on is not in memory, but for what is in flight.
    pub(crate) load_from: u64,
    /// All of the outbox is before this number.
    stored_end: u64,
    /// Bytes of the messages in memory that have rows.
    loaded: BTreeMap<u64, u64>,
    is_dirty: bool,
}

/// Why what a receiver has not acknowledged is still there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum State {
    /// It is being sent, from memory.
    Direct,
    /// It is being sent, from the outbox.
    Behind,
    /// The last attempt failed: it waits for the next.
    Failing,
    /// The receiver is switched off.
    Paused,
}

/// What a flush writes for one receiver.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) status: Status,
    pub(crate) puts: Vec<Message>,
    pub(crate) deletes: Vec<u64>,
    /// Lost: the outbox is full.
    overflowed: Vec<u64>,
    settled_next: u64,
}

impl Slot {
    /// A receiver with its status, as read; `advance`: how often the position was moved.
    pub(crate) fn new(
        receiver: Receiver,
        status: Status,
        version: Option<Stamp>,
        advance: u64,
        options: &Options,
    ) -> Self {
        let next = status.next_at(advance);
        let mut queue = Queue::new(options);
        let is_behind = status.rows > 0 || status.failures > 0;
        if is_behind {
            queue.slow_down();
        }
        Self {
            receiver,
            queue,
            version,
            next,
            settled_next: next,
            origins: BTreeMap::new(),
            is_behind,
            unwritten: BTreeMap::new(),
            unwritten_bytes: 0,
            acknowledged: BTreeMap::new(),
            load_from: 0,
            stored_end: next,
            loaded: BTreeMap::new(),
            // What was in the memory of the follower before is counted again.
            is_dirty: status.pending != status.rows,
            status,
        }
    }

    /// The number that the next message gets.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Takes a match of a page.
    pub(crate) fn offer(
        &mut self,
        page: u64,
        key: u64,
        payload: bytes::Bytes,
        now: Timestamp,
        options: &Options,
    ) {
        let message = Message { sequence: self.next, key, payload };
        self.next += 1;
        self.origins.insert(message.sequence, Origin { page, offered_at: now });
        // What is in memory already is sent from there, what comes now from the outbox.
        self.is_behind |= self.queue.len() >= options.window_messages_max;
        if self.is_behind {
            self.unwritten_bytes += message.payload.len();
            self.unwritten.insert(message.sequence, message);
        } else {
            self.queue.push(message);
        }
    }

    /// Has all that is not acknowledged stored. What is in flight stays in memory, too.
    pub(crate) fn fall_behind(&mut self) {
        self.is_behind = true;
        for message in self.queue.messages() {
            let sequence = message.sequence;
            if self.origins.contains_key(&sequence) && !self.unwritten.contains_key(&sequence) {
                self.unwritten_bytes += message.payload.len();
                self.unwritten.insert(sequence, message.clone());
            }
        }
        self.unload();
    }

    /// Lets go what can be read again from the outbox.
    fn unload(&mut self) {
        if let Some(lowest) = self.queue.drop_waiting() {
            self.load_from = self.load_from.min(lowest);
        }
        let queue = &self.queue;
        self.loaded.retain(|sequence, _| queue.has(*sequence));
    }

    /// Whether something was offered so long ago that the position waits for it.
    pub(crate) fn is_overdue(&self, now: Timestamp, patience: Duration) -> bool {
        let patience = i64::try_from(patience.as_micros()).unwrap_or(i64::MAX);
        let oldest = self.origins.first_key_value();
        oldest.is_some_and(|(_, origin)| now.0.saturating_sub(origin.offered_at.0) > patience)
    }

    /// Whether the outbox has messages that are not in memory.
    fn has_unloaded(&self) -> bool {
        self.status.rows > (self.loaded.len() + self.acknowledged.len()) as u64
    }

    /// Up to which number messages may be loaded: what comes before them is stored, by this follower.
    pub(crate) fn load_end(&self) -> u64 {
        let unwritten = self.unwritten.first_key_value().map(|(sequence, _)| *sequence);
        unwritten.map_or(self.stored_end, |unwritten| unwritten.min(self.stored_end))
    }

    /// Whether messages are to be loaded before there is another batch, if it may be tried at all.
    pub(crate) fn wants_load(&self, options: &Options) -> bool {
        self.has_unloaded()
            && self.load_from < self.load_end()
            && self.queue.has_room(options)
            && self.queue.waiting() < options.batch_messages_max
            && self.queue.len() < options.window_messages_max
    }

    /// Takes in messages of the outbox; without `more` these were all up to the end that was asked for.
    pub(crate) fn load(&mut self, messages: Vec<Message>, more: bool) {
        for message in messages {
            self.load_from = message.sequence + 1;
            let sequence = message.sequence;
            if !self.queue.has(sequence) && !self.acknowledged.contains_key(&sequence) {
                self.loaded.insert(sequence, message.payload.len() as u64);
                self.queue.push(message);
            }
        }
        if !more && self.load_end() == self.stored_end {
            // A follower that was taken over may have left rows that nobody counted.
            self.status.rows = (self.loaded.len() + self.acknowledged.len()) as u64;
            self.status.bytes = self.loaded.values().chain(self.acknowledged.values()).sum();
        }
    }

    /// Is direct again if all of the outbox is in memory, what came meanwhile has room there, and it does not fail.
    pub(crate) fn catch_up(&mut self, options: &Options) {
        let has_room = self.queue.len() + self.unwritten.len() <= options.window_messages_max / 2;
        if !self.is_behind || self.has_unloaded() || self.status.failures > 0 || !has_room {
            return;
        }
        self.is_behind = false;
        self.unwritten_bytes = 0;
        for (sequence, message) in std::mem::take(&mut self.unwritten) {
            // In flight since before it fell behind: it is in memory.
            if !self.queue.has(sequence) {
                self.queue.push(message);
            }
        }
    }

    /// Takes in that a batch was acknowledged; answers the pages that waited for its messages.
    pub(crate) fn acknowledge(&mut self, batch: u64, now: Timestamp, options: &Options) -> (Vec<u64>, u64) {
        let sequences = self.queue.acknowledged(batch, options);
        let count = sequences.len() as u64;
        let mut pages = Vec::new();
        for sequence in sequences {
            if let Some(origin) = self.origins.remove(&sequence) {
                pages.push(origin.page);
                if let Some(message) = self.unwritten.remove(&sequence) {
                    self.unwritten_bytes -= message.payload.len();
                }
            } else {
                let bytes =
                    self.loaded.remove(&sequence).expect("what is not open was stored, with its bytes");
                self.acknowledged.insert(sequence, bytes);
            }
        }
        self.status.note_success(count, now);
        self.is_dirty = true;
        (pages, count)
    }

    /// Takes in that a batch failed. Whether that counts as an attempt of its own.
    pub(crate) fn fail(&mut self, batch: u64, error: &str, now: Timestamp, options: &Options) -> bool {
        let is_news = self.queue.failed(batch);
        if is_news {
            let failures = self.status.failures.saturating_add(1);
            let retry_at = options.back_off.retry_at(self.receiver.id, failures, now);
            self.status.note_failure(error, now, Pause { failures, retry_at });
            self.is_dirty = true;
        }
        // Its messages are read again in their order, once it may be tried.
        self.fall_behind();
        is_news
    }

    /// The feed lost changes that it was not asked for: a number stays free, so that the receiver sees it, too.
    pub(crate) fn note_cut(&mut self) {
        self.status.cuts = self.status.cuts.saturating_add(1);
        self.next += 1;
        self.is_dirty = true;
    }

    /// Whether it may be sent something now.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        !self.receiver.is_paused && self.status.retry_at <= now
    }

    /// Whether it is not known to answer: its last attempt failed, or none ever succeeded.
    pub(crate) fn is_unproven(&self) -> bool {
        self.status.failures > 0 || self.status.delivered == 0
    }

    /// Whether there is nothing to send, to load or to write.
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_idle() && !self.is_dirty() && !self.has_unloaded()
    }

    /// Why its messages wait.
    pub(crate) fn state(&self) -> State {
        if self.receiver.is_paused {
            State::Paused
        } else if self.status.failures > 0 {
            State::Failing
        } else if self.is_behind {
            State::Behind
        } else {
            State::Direct
        }
    }

    /// Messages that it has not acknowledged, in its outbox or in memory.
    pub(crate) fn pending(&self) -> u64 {
        let rows = self.status.rows.saturating_sub(self.acknowledged.len() as u64);
        rows + self.origins.len() as u64
    }

    /// Bytes of messages in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.queue.bytes() + self.unwritten_bytes
    }

    /// Whether something is to be written, whatever the position does.
    pub(crate) fn is_dirty(&self) -> bool {
        self.is_dirty || !self.unwritten.is_empty() || !self.acknowledged.is_empty()
    }

    /// The pages that wait for its messages: it is gone.
    pub(crate) fn open_pages(&self) -> impl Iterator<Item = u64> {
        self.origins.values().map(|origin| origin.page)
    }

    /// What a flush is to write. `moved`: to which move of the position, and the next number there, if that passes matches of it.
    pub(crate) fn plan(
        &self,
        moved: Option<(u64, u64)>,
        now: Timestamp,
        (options, limits): (&Options, &Limits),
    ) -> Plan {
        let mut status = self.status.clone();
        let mut settled_next = self.settled_next;
        if let Some((advance, next)) = moved {
            // A move that is tried again begins where it began at first.
            let before = if status.advance == advance { status.before } else { self.settled_next };
            (status.advance, status.next, status.before) = (advance, next, before);
            settled_next = next;
        }
        let deletes: Vec<u64> = self.acknowledged.keys().copied().collect();
        status.rows = status.rows.saturating_sub(deletes.len() as u64);
        status.bytes = status.bytes.saturating_sub(self.acknowledged.values().sum());
        let (mut puts, mut overflowed) = (Vec::new(), Vec::new());
        for message in self.unwritten.values() {
            let bytes = message.payload.len() as u64;
            let is_full = status.rows >= options.outbox_messages_max
                || status.bytes + bytes > options.outbox_bytes_max
                || message.payload.len() > limits.commit_bytes / 2;
            if is_full && !self.queue.is_in_flight(message.sequence) {
                overflowed.push(message.sequence);
                continue;
            }
            status.rows += 1;
            status.bytes += bytes;
            puts.push(message.clone());
        }
        status.overflowed = status.overflowed.saturating_add(overflowed.len() as u64);
        status.overflowed_since = match (overflowed.is_empty(), status.overflowed_since) {
            (false, None) => Some(now),
            // Half of it is free again.
            (true, Some(_))
                if status.rows <= options.outbox_messages_max / 2
                    && status.bytes <= options.outbox_bytes_max / 2 =>
            {
                None
            }
            (_, since) => since,
        };
        let in_memory = self.origins.len() - self.unwritten.len();
        status.pending = status.rows + in_memory as u64;
        Plan { status, puts, deletes, overflowed, settled_next }
    }

    /// A plan was carried out; answers the pages that waited for messages of it, and how many messages overflowed.
    pub(crate) fn apply(&mut self, plan: Plan, version: Stamp) -> (Vec<u64>, u64) {
        let Plan { status, puts, deletes, overflowed, settled_next } = plan;
        self.status = status;
        self.version = Some(version);
        self.settled_next = settled_next;
        self.is_dirty = false;
        for sequence in deletes {
            self.acknowledged.remove(&sequence);
        }
        let lost = overflowed.len() as u64;
        let mut pages = Vec::new();
        for (sequence, is_stored) in puts
            .iter()
            .map(|message| (message.sequence, true))
            .chain(overflowed.into_iter().map(|sequence| (sequence, false)))
        {
            let message = self.unwritten.remove(&sequence).expect("what was planned is still there");
            self.unwritten_bytes -= message.payload.len();
            let origin = self.origins.remove(&sequence).expect("what is not stored is open");
            pages.push(origin.page);
            if is_stored {
                self.stored_end = self.stored_end.max(sequence + 1);
            }
            if is_stored && self.queue.has(sequence) {
                self.loaded.insert(sequence, message.payload.len() as u64);
            }
        }
        (pages, lost)
    }
}

#[cfg(test)]
mod tests {
    use store::{FeedOptions, MemoryOptions, Store, Tenant};

    use super::*;
    use crate::BackOff;

    /// Statuses are written, then the position cannot be, twice: matches get the numbers again that they had.
    #[test]
    fn a_move_of_the_position_that_is_tried_again_begins_where_it_began() {
        let (wait, now) = (Duration::from_secs(1), Timestamp(1));
        let options = Options {
            name: "tests",
            page_changes_max: 1_000,
            batch_messages_max: 2,
            in_flight_max: 1,
            sends_max: 1,
            window_messages_max: 6,
            memory_bytes_max: 1 << 20,
            outbox_messages_max: 100,
            outbox_bytes_max: 1 << 20,
            patience: wait,
            back_off: BackOff { first: wait, longest: wait },
        };
        let clock = store::Clock::manual(now);
        let limits = Store::memory(MemoryOptions { clock, feed: FeedOptions::recommended() }).limits();
        let receiver = Receiver { id: 1, tenant: Tenant::default(), since: Vec::new(), is_paused: false };
        let mut slot = Slot::new(receiver, Status::default(), None, 0, &options);
        for (page, next) in [(0, 1), (1, 2)] {
            slot.offer(page, 0, bytes::Bytes::new(), now, &options);
            slot.fall_behind();
            let plan = slot.plan(Some((1, next)), now, (&options, &limits));
            slot.apply(plan, Stamp::default());
        }
        assert_eq!((slot.status.next_at(0), slot.status.next_at(1)), (0, 2));
    }
}
