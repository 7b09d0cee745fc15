//! The follower: reads pages of the feed, offers their matches to receivers, hands out batches, and moves its position.

use std::collections::{BTreeSet, HashMap};

use bytes::Bytes;
use store::{Change, Cursor, Error, ErrorKind, FeedPage, SkipLog, Stamp, Store, Tenant, Timestamp, WriteIds};

use crate::options::Options;
use crate::outbox::{Commits, load, open_slot};
use crate::pages::{Advance, Pages};
use crate::positions::Position;
use crate::queue::Message;
use crate::receiver::Receiver;
use crate::seen::Seen;
use crate::slot::{Plan, Slot};
use crate::status::forget;

/// Changes of a page of the feed.
const PAGE_CHANGES: usize = 1_000;
/// Pages that may wait for matches of theirs; no more are read before.
const PAGES_MAX: usize = 64;
/// The position is stored after so many changes without a match.
const PASSED_CHANGES_MAX: usize = 10_000;

/// A page of the feed that is to be matched.
#[derive(Debug)]
pub struct Page {
    /// Of this shard.
    pub shard: u32,
    /// Those of each partition in their order; some may have been there before.
    pub changes: Vec<Change>,
    cursor: Cursor,
}

/// That a change concerns a receiver.
#[derive(Clone, Debug)]
pub struct Match {
    /// Which.
    pub receiver: u128,
    /// Messages of one key are sent in order.
    pub key: u64,
    /// What is to be worded when it is sent; opaque here.
    pub payload: Bytes,
}

/// What is to be sent to one receiver now.
#[derive(Clone, Debug)]
pub struct Batch {
    /// To settle it by.
    pub number: u64,
    /// To whom.
    pub receiver: u128,
    /// In the order of their numbers.
    pub messages: Vec<Message>,
}

/// What a delivery did and has, for metrics.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    /// Pages of the feed that were read.
    pub pages: u64,
    /// Changes in them.
    pub changes: u64,
    /// Matches of them.
    pub matches: u64,
    /// Batches that were acknowledged.
    pub batches: u64,
    /// Messages in them.
    pub messages: u64,
    /// Batches that failed.
    pub failures: u64,
    /// Messages that were stored in outboxes.
    pub stored: u64,
    /// Messages lost because an outbox was full.
    pub overflowed: u64,
    /// Times that the feed was cut before it was read.
    pub cuts: u64,
    /// Now: receivers that are sent from their outboxes.
    pub behind: u64,
    /// Now: bytes of messages in memory.
    pub memory_bytes: u64,
}

/// Follows all shards of the feed for all receivers of one kind; one node does it at a time.
#[derive(Debug)]
pub struct Delivery {
    store: Store,
    options: Options,
    write_ids: WriteIds,
    position: Position,
    /// Of the row of the position.
    version: Stamp,
    /// By shard: up to where it was read.
    read: Vec<Cursor>,
    /// Of the shards, those that were read last have others before them.
    next_shard: u32,
    pages: Pages,
    seen: Seen,
    slots: HashMap<u128, Slot>,
    /// Receivers with something to send, to load or to write.
    active: BTreeSet<u128>,
    /// Who was given a batch last: others come first.
    served: u128,
    batches: HashMap<u64, u128>,
    next_batch: u64,
    counters: Counters,
    /// Receivers that nothing can be read of.
    skips: SkipLog,
}

impl Delivery {
    /// Takes over as the follower of this name: whoever followed before cannot move the position any more, and ends at its next
    /// flush. Cost: that of reading each receiver's status, and outbox if it has one.
    ///
    /// # Errors
    ///
    /// Those of reads and of a commit.
    pub async fn open(store: Store, options: Options, receivers: Vec<Receiver>) -> Result<Self, Error> {
        let write_ids = WriteIds::new();
        let ends: Vec<Cursor> = (0..store.feed_shards()).map(|shard| store.feed_end(shard)).collect();
        let stored = Position::take_over(&store, options.name, &write_ids).await?;
        let (position, version) = match stored {
            Some((position, stamp)) => (position, Some(stamp)),
            None => (Position::default(), None),
        };
        let starts = (0..).zip(&ends).map(|(shard, end)| start_of(shard, &position, &receivers, *end));
        let read: Vec<Cursor> = starts.collect();
        let position = Position { cursors: read.clone(), ..position };
        let version = match version {
            Some(version) => version,
            None => position.write(&store, options.name, None, &write_ids).await?,
        };
        let mut delivery = Self {
            store,
            options,
            write_ids,
            position,
            version,
            read,
            next_shard: 0,
            pages: Pages::default(),
            seen: Seen::default(),
            slots: HashMap::new(),
            active: BTreeSet::new(),
            served: 0,
            batches: HashMap::new(),
            next_batch: 0,
            counters: Counters::default(),
            skips: SkipLog::default(),
        };
        delivery.set_receivers(receivers).await?;
        delivery.keep_feed().await?;
        Ok(delivery)
    }

    /// The receivers, all of them, as they were read after the last page. One that is gone is forgotten with its rows; its
    /// batches under way need not be settled. One whose rows are damaged is skipped, and sent nothing. After an error, to be called again.
    ///
    /// # Errors
    ///
    /// Those of reads and of commits.
    pub async fn set_receivers(&mut self, receivers: Vec<Receiver>) -> Result<(), Error> {
        let mut gone: Vec<u128> = self.slots.keys().copied().collect();
        gone.sort_unstable();
        for receiver in receivers {
            if let Ok(place) = gone.binary_search(&receiver.id) {
                gone.remove(place);
            }
            if let Some(slot) = self.slots.get_mut(&receiver.id) {
                slot.receiver = receiver;
                continue;
            }
            let (id, tenant) = (receiver.id, receiver.tenant.clone());
            let context = (&self.options, &self.write_ids);
            match open_slot(&self.store, receiver, self.position.advance, context).await {
                Ok(slot) => {
                    if !slot.is_idle() {
                        self.active.insert(id);
                    }
                    self.slots.insert(id, slot);
                }
                Err(error) if error.kind() == ErrorKind::TenantRemoved => {}
                Err(error) if error.kind() == ErrorKind::Corrupt => self.note_skip(id, &tenant, &error),
                Err(error) => return Err(error),
            }
        }
        for id in gone {
            // Known until its rows are gone: who calls again after an error has them removed.
            let slot = self.slots.get(&id).expect("one that is known");
            match forget(&self.store, &slot.receiver.tenant, id).await {
                Err(error) if error.kind() != ErrorKind::TenantRemoved => return Err(error),
                Ok(()) | Err(_) => self.remove(id),
            }
        }
        Ok(())
    }

    /// Forgets a receiver.
    fn remove(&mut self, id: u128) {
        let slot = self.slots.remove(&id).expect("one that is known");
        self.active.remove(&id);
        slot.open_pages().for_each(|page| self.pages.settle(page));
        self.batches.retain(|_, receiver| *receiver != id);
    }

    /// Passes the feed over up to these ends of its shards, for there is no receiver: the ends were asked for before that was seen.
    /// Nothing is stored.
    pub fn pass_over(&mut self, ends: &[Cursor]) {
        debug_assert!(self.slots.is_empty(), "there are receivers");
        self.read = ends.to_vec();
        self.pages = Pages::default();
        self.position.cursors = self.read.clone();
    }

    /// The next page that is to be matched; `None` if there is none, or too much waits already. Cost: a read of the feed, if it has
    /// grown.
    ///
    /// # Errors
    ///
    /// `Unavailable`.
    pub async fn read(&mut self) -> Result<Option<Page>, Error> {
        if self.pages.len() >= PAGES_MAX || self.memory_bytes() >= self.options.memory_bytes_max {
            return Ok(None);
        }
        let shards = self.store.feed_shards();
        for _ in 0..shards {
            let shard = self.next_shard % shards;
            self.next_shard = (shard + 1) % shards;
            let slot = self.read.get(shard as usize).expect("a cursor for each shard");
            let from = *slot;
            if from == self.store.feed_end(shard) {
                continue;
            }
            let page: FeedPage = match self.store.feed(shard, from, PAGE_CHANGES).await {
                Ok(page) => page,
                Err(error) if matches!(error.kind(), ErrorKind::TooLarge | ErrorKind::OtherIncarnation) => {
                    self.pass_cut(shard, &error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            if page.cursor == from {
                continue;
            }
            self.counters.pages += 1;
            self.counters.changes += page.changes.len() as u64;
            let mut changes = page.changes;
            changes.retain(|change| !self.seen.has(change));
            return Ok(Some(Page { shard, changes, cursor: page.cursor }));
        }
        Ok(None)
    }

    /// What a shard no longer holds is lost for all receivers: they go on at its end, and their statuses say so.
    fn pass_cut(&mut self, shard: u32, cause: &Error) {
        let end = self.store.feed_end(shard);
        tracing::warn!(
            error = %cause, follower = self.options.name,
            "a follower goes on at the end of the feed: what it had not read is no longer stored, or is of another incarnation"
        );
        self.counters.cuts += 1;
        // Another incarnation gives numbers again.
        self.seen = Seen::default();
        let mut nexts = Vec::with_capacity(self.slots.len());
        for (id, slot) in &mut self.slots {
            slot.note_cut();
            nexts.push((*id, slot.next()));
            self.active.insert(*id);
        }
        self.set_read(shard, end);
        self.pages.push((shard, end), 0, 0, nexts);
    }

    fn set_read(&mut self, shard: u32, cursor: Cursor) {
        *self.read.get_mut(shard as usize).expect("a cursor for each shard") = cursor;
    }

    /// Takes the matches of a page, in the order of its changes. Those of receivers that are gone are dropped. Cost: O(matches).
    pub fn offer(&mut self, page: &Page, matches: Vec<Match>, now: Timestamp) {
        page.changes.iter().for_each(|change| self.seen.note(change));
        let number = self.pages.next_number();
        let mut nexts: HashMap<u128, u64> = HashMap::new();
        let mut open = 0;
        for Match { receiver, key, payload } in matches {
            let Some(slot) = self.slots.get_mut(&receiver) else { continue };
            slot.offer(number, key, payload, now, &self.options);
            nexts.insert(receiver, slot.next());
            self.active.insert(receiver);
            open += 1;
        }
        self.counters.matches += open as u64;
        self.set_read(page.shard, page.cursor);
        let nexts = nexts.into_iter().collect();
        self.pages.push((page.shard, page.cursor), page.changes.len(), open, nexts);
    }

    /// What is to be sent now: a batch at a time of each receiver that may be tried, so that none waits for another. Cost: O(receivers with
    /// something to send); a scan for each that is sent from its outbox. A receiver whose outbox cannot be read is skipped.
    ///
    /// # Errors
    ///
    /// `Conflict` if another follower has taken over: this one is to be dropped.
    pub async fn batches(&mut self, now: Timestamp) -> Result<Vec<Batch>, Error> {
        let mut batches = Vec::new();
        let behind = self.active.range(..=self.served);
        let order: Vec<u128> =
            self.active.range(self.served.saturating_add(1)..).chain(behind).copied().collect();
        let mut found = true;
        while found && self.batches.len() < self.options.sends_max {
            found = false;
            for id in &order {
                if self.batches.len() >= self.options.sends_max {
                    break;
                }
                let batch = match self.next_batch_of(*id, now).await {
                    Ok(Some(batch)) => batch,
                    Ok(None) => continue,
                    Err(error) if error.kind() == ErrorKind::Conflict => return Err(error),
                    // The others do not wait for it, and batches that were taken are sent.
                    Err(error) => {
                        let slot = self.slots.get(id).expect("its outbox was looked at");
                        self.note_skip(*id, &slot.receiver.tenant, &error);
                        continue;
                    }
                };
                found = true;
                self.served = *id;
                batches.push(batch);
            }
        }
        self.active.retain(|id| self.slots.get(id).is_some_and(|slot| !slot.is_idle()));
        Ok(batches)
    }

    fn note_skip(&self, id: u128, tenant: &Tenant, error: &Error) {
        self.skips.note(self.options.name, tenant, &format_args!("the outbox of receiver {id:032x}"), error);
    }

    async fn next_batch_of(&mut self, id: u128, now: Timestamp) -> Result<Option<Batch>, Error> {
        let Some(slot) = self.slots.get_mut(&id).filter(|slot| slot.is_due(now)) else { return Ok(None) };
        if slot.wants_load(&self.options) {
            match load(&self.store, slot, &self.options).await {
                Err(error) if error.kind() != ErrorKind::TenantRemoved => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        slot.catch_up(&self.options);
        let number = self.next_batch;
        let Some(messages) = slot.queue.next_batch(number, &self.options) else { return Ok(None) };
        self.next_batch += 1;
        self.batches.insert(number, id);
        Ok(Some(Batch { number, receiver: id, messages }))
    }

    /// What became of a batch; an error in words. One of a receiver that is gone is of no more interest.
    pub fn settle(&mut self, batch: u64, outcome: Result<(), &str>, now: Timestamp) {
        let Some(id) = self.batches.remove(&batch) else { return };
        let slot = self.slots.get_mut(&id).expect("batches of receivers that are gone are forgotten");
        self.active.insert(id);
        match outcome {
            Ok(()) => {
                let (pages, messages) = slot.acknowledge(batch, now, &self.options);
                pages.into_iter().for_each(|page| self.pages.settle(page));
                self.counters.batches += 1;
                self.counters.messages += messages;
            }
            Err(error) => {
                slot.fail(batch, error, now, &self.options);
                self.counters.failures += 1;
            }
        }
    }

    /// Whether a batch is under way.
    pub fn is_sending(&self) -> bool {
        !self.batches.is_empty()
    }

    /// Stores what receivers that are behind have in memory, and the statuses that have changed; then the position, as far as
    /// it may move. Cost: one group commit of a commit for each of those receivers, and one commit for the position.
    ///
    /// # Errors
    ///
    /// `Conflict` if another follower has taken over: this one is to be dropped. Else those of commits: nothing is lost, and the next
    /// flush begins anew.
    pub async fn flush(&mut self, now: Timestamp) -> Result<(), Error> {
        let is_full = self.memory_bytes() >= self.options.memory_bytes_max / 2;
        for id in &self.active {
            let Some(slot) = self.slots.get_mut(id) else { continue };
            if is_full || slot.receiver.is_paused || slot.is_overdue(now, self.options.patience) {
                slot.fall_behind();
            }
        }
        // What is stored now settles matches: the position moves in the next flush.
        let advance = self.pages.advance();
        let moves = !advance.nexts.is_empty() || advance.changes >= PASSED_CHANGES_MAX;
        let advance = if moves { advance } else { Advance::default() };
        self.write_statuses(&advance, now).await?;
        if moves { self.move_position(&advance).await } else { Ok(()) }
    }

    async fn write_statuses(&mut self, advance: &Advance, now: Timestamp) -> Result<(), Error> {
        let limits = self.store.limits();
        let (mut planned, mut lasts) = (Vec::new(), Vec::new());
        let moved = self.position.advance + 1;
        let dirty = self.active.iter().filter(|id| self.slots.get(id).is_some_and(Slot::is_dirty));
        let written: BTreeSet<u128> = dirty.chain(advance.nexts.keys()).copied().collect();
        for id in written {
            let Some(slot) = self.slots.get_mut(&id) else { continue };
            let next = advance.nexts.get(&id).map(|next| (moved, *next));
            let plan = slot.plan(next, now, (&self.options, &limits));
            let mut commits = Commits::new(slot, &plan, &limits);
            while !commits.is_last() {
                let commit = commits.next(slot.version, &self.write_ids);
                match self.store.commit_known(commit).await {
                    Ok(version) => slot.version = Some(version),
                    // The last finds it, too.
                    Err(error) if error.kind() == ErrorKind::TenantRemoved => {}
                    Err(error) => return Err(error),
                }
            }
            lasts.push(commits.next(slot.version, &self.write_ids));
            planned.push((id, plan));
        }
        let outcomes = self.store.commit_all_known(lasts).await;
        let mut failed = Ok(());
        for ((id, plan), outcome) in planned.into_iter().zip(outcomes) {
            match outcome {
                Ok(version) => self.apply(id, plan, version),
                Err(error) if error.kind() == ErrorKind::TenantRemoved => self.remove(id),
                Err(error) => failed = Err(error),
            }
        }
        failed
    }

    fn apply(&mut self, id: u128, plan: Plan, version: Stamp) {
        let stored = plan.puts.len() as u64;
        let slot = self.slots.get_mut(&id).expect("a plan is of a receiver that is known");
        let (pages, overflowed) = slot.apply(plan, version);
        pages.into_iter().for_each(|page| self.pages.settle(page));
        self.counters.stored += stored;
        self.counters.overflowed += overflowed;
    }

    async fn move_position(&mut self, advance: &Advance) -> Result<(), Error> {
        let mut position = self.position.clone();
        position.advance += 1;
        for (shard, cursor) in &advance.cursors {
            *position.cursors.get_mut(*shard as usize).expect("a cursor for each shard") = *cursor;
        }
        let before = Some(self.version);
        self.version = position.write(&self.store, self.options.name, before, &self.write_ids).await?;
        self.position = position;
        self.pages.pass(advance);
        self.keep_feed().await
    }

    /// Has the feed keep what lies behind the position.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn keep_feed(&self) -> Result<(), Error> {
        for (shard, cursor) in (0..).zip(&self.position.cursors) {
            self.store.keep_feed(self.options.name, shard, &[*cursor]).await?;
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.active.iter().filter_map(|id| self.slots.get(id)).map(Slot::bytes).sum()
    }

    /// What was done so far, and what is there now. Cost: O(receivers with something to send).
    pub fn counters(&self) -> Counters {
        let active = self.active.iter().filter_map(|id| self.slots.get(id));
        Counters {
            behind: active.filter(|slot| slot.is_behind()).count() as u64,
            memory_bytes: self.memory_bytes() as u64,
            ..self.counters
        }
    }
}

/// Where a shard is followed from: the stored position; but not before the slowest receiver was made. Without both, the end.
fn start_of(shard: u32, position: &Position, receivers: &[Receiver], end: Cursor) -> Cursor {
    // A shard that is newer than a receiver has nothing from before it.
    let since =
        |receiver: &Receiver| receiver.since.get(shard as usize).copied().unwrap_or(Cursor::default());
    let slowest =
        receivers.iter().map(since).reduce(|one, other| if other.is_before(one) { other } else { one });
    match (position.cursors.get(shard as usize).copied(), slowest) {
        (None, None) => end,
        (Some(cursor), None) | (None, Some(cursor)) => cursor,
        (Some(stored), Some(made)) => {
            if stored.is_before(made) {
                made
            } else {
                stored
            }
        }
    }
}
