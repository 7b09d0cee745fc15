//! The follower: reads pages of the feed, offers their matches to receivers, and hands out batches.

use std::collections::HashMap;

use bytes::Bytes;
use futures_util::future::join_all;
use store::{Change, Cursor, Error, ErrorKind, FeedPage, SkipLog, Stamp, Store, Tenant, Timestamp, WriteIds};

use crate::counters::Counters;
use crate::options::Options;
use crate::outbox::{load, open_slot, read_stored};
use crate::pages::Pages;
use crate::positions::{Position, start_of};
use crate::queue::Message;
use crate::receiver::Receiver;
use crate::receivers::Receivers;
use crate::seen::Seen;
use crate::slot::Slot;

/// Pages that may wait for matches of theirs; no more are read before.
const PAGES_MAX: usize = 64;
/// Receivers whose outboxes are looked for at a time, after a follower has begun.
const UNSEEN_AT_ONCE: usize = 1_000;
/// Statuses that are read beside each other.
const STATUSES_AT_ONCE: usize = 64;

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

/// Follows all shards of the feed for all receivers of one kind; one node does it at a time.
#[derive(Debug)]
pub struct Delivery {
    pub(crate) store: Store,
    pub(crate) options: Options,
    pub(crate) write_ids: WriteIds,
    pub(crate) position: Position,
    /// Of the row of the position.
    pub(crate) version: Stamp,
    /// How often the position was moved before this follower began. What a status says of later moves was written by a
    /// follower before, and never came about.
    begun_at: u64,
    /// By shard: up to where it was read.
    pub(crate) read: Vec<Cursor>,
    /// Of the shards, those that were read last have others before them.
    next_shard: u32,
    pub(crate) pages: Pages,
    seen: Seen,
    pub(crate) receivers: Receivers,
    /// Who was given a batch last, of those that answer: others come first.
    served: u128,
    /// The same of those that are not known to answer.
    probed: u128,
    /// Whether the last batch of all went to one that is not known to answer.
    is_probed_last: bool,
    pub(crate) batches: HashMap<u64, u128>,
    next_batch: u64,
    pub(crate) counters: Counters,
    /// Receivers that nothing can be read of.
    skips: SkipLog,
}

impl Delivery {
    /// Takes over as the follower of this name: whoever followed before cannot move the position any more, and ends at its next
    /// flush. No status is read here: [`Delivery::batches`] looks for outboxes step by step. Cost: a look-up and a commit; O(receivers) in memory.
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
            begun_at: position.advance,
            position,
            version,
            read,
            next_shard: 0,
            pages: Pages::default(),
            seen: Seen::default(),
            receivers: Receivers::default(),
            served: 0,
            probed: 0,
            is_probed_last: false,
            batches: HashMap::new(),
            next_batch: 0,
            counters: Counters::default(),
            skips: SkipLog::default(),
        };
        receivers.into_iter().for_each(|receiver| delivery.put_receiver(receiver));
        delivery.keep_feed().await?;
        Ok(delivery)
    }

    /// Takes a receiver in, or what was changed of it. To be called for all that was changed before a page is offered that was read
    /// behind the change. Cost: O(1), nothing is read or written.
    pub fn put_receiver(&mut self, receiver: Receiver) {
        self.receivers.put(receiver);
    }

    /// Forgets a receiver that is gone; its batches under way need not be settled. Its rows are whoever's that removes it
    /// ([`crate::Registry::finish_removal`]). Cost: O(its messages in memory).
    pub fn remove_receiver(&mut self, id: u128) {
        let Some(slot) = self.receivers.remove(id) else { return };
        slot.open_pages().for_each(|page| self.pages.settle(page));
        self.batches.retain(|_, receiver| *receiver != id);
    }

    /// Reads the statuses of these receivers, and removes what lies behind the position. Cost: a look-up for each, beside each other; a scan
    /// of each outbox; a look-up of the position.
    async fn read_slots(
        &mut self,
        receivers: Vec<Receiver>,
    ) -> Result<Vec<(Receiver, Result<Slot, Error>)>, Error> {
        if receivers.is_empty() {
            return Ok(Vec::new());
        }
        self.counters.statuses_read += receivers.len() as u64;
        let mut stored = Vec::with_capacity(receivers.len());
        for some in receivers.chunks(STATUSES_AT_ONCE) {
            let reads = some.iter().map(|of| read_stored(&self.store, of.clone(), self.begun_at));
            stored.extend(join_all(reads).await);
        }
        // Before anything is removed: what another follower wrote that has taken over is not behind the position, but before it.
        self.position.check(&self.store, self.options.name, self.version).await?;
        let context = (&self.options, &self.write_ids);
        let opened = stored
            .into_iter()
            .map(async |stored| open_slot(&self.store, stored?, self.begun_at, context).await);
        Ok(receivers.into_iter().zip(join_all(opened).await).collect())
    }

    /// Has the slots of these receivers in memory. One whose tenant was removed is forgotten; one whose rows are damaged is skipped, and
    /// sent nothing.
    async fn wake(&mut self, receivers: Vec<Receiver>) -> Result<(), Error> {
        let mut failed = Ok(());
        for (receiver, slot) in self.read_slots(receivers).await? {
            match slot {
                Ok(slot) => self.receivers.wake(slot),
                Err(error) => failed = self.pass_unread(&receiver, error).and(failed),
            }
        }
        failed
    }

    /// Looks for outboxes that a follower before has left: their receivers go on.
    async fn see_outboxes(&mut self) -> Result<(), Error> {
        let unseen = self.receivers.next_unseen(UNSEEN_AT_ONCE);
        let ids: Vec<u128> = unseen.iter().map(|receiver| receiver.id).collect();
        let slots = self.read_slots(unseen).await;
        if slots.is_err() {
            ids.into_iter().for_each(|id| self.receivers.see_later(id));
        }
        let mut failed = Ok(());
        for (receiver, slot) in slots? {
            match slot {
                // Its status is read again with its first match: there may be none for long.
                Ok(slot) if slot.is_idle() => {}
                Ok(slot) => self.receivers.wake(slot),
                Err(error) => {
                    let passed = self.pass_unread(&receiver, error);
                    if passed.is_err() {
                        self.receivers.see_later(receiver.id);
                    }
                    failed = passed.and(failed);
                }
            }
        }
        failed
    }

    /// Goes on without a receiver if it alone is the cause that it cannot be read.
    fn pass_unread(&mut self, receiver: &Receiver, error: Error) -> Result<(), Error> {
        match error.kind() {
            ErrorKind::TenantRemoved => self.remove_receiver(receiver.id),
            ErrorKind::Corrupt => self.note_skip(receiver.id, &receiver.tenant, &error),
            _ => return Err(error),
        }
        Ok(())
    }

    fn note_skip(&self, id: u128, tenant: &Tenant, error: &Error) {
        self.skips.note(self.options.name, tenant, &format_args!("the outbox of receiver {id:032x}"), error);
    }

    /// Passes the feed over up to these ends of its shards, for there is no receiver: the ends were asked for before that was seen.
    /// Nothing is stored.
    pub fn pass_over(&mut self, ends: &[Cursor]) {
        debug_assert!(self.receivers.is_empty(), "there are receivers");
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
            let page: FeedPage = match self.store.feed(shard, from, self.options.page_changes_max).await {
                Ok(page) => page,
                Err(error) if matches!(error.kind(), ErrorKind::TooLarge | ErrorKind::OtherIncarnation) => {
                    self.pass_cut(shard, &error).await?;
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

    /// What a shard no longer has is lost for all receivers: they go on at its end, and their statuses say so. Cost: the status
    /// of each is read, and written with the next flush.
    async fn pass_cut(&mut self, shard: u32, cause: &Error) -> Result<(), Error> {
        let end = self.store.feed_end(shard);
        let dormant = self.receivers.all_dormant();
        self.wake(dormant).await?;
        tracing::warn!(
            error = %cause, follower = self.options.name,
            "a follower goes on at the end of the feed: what it had not read is no longer stored, or is of another incarnation"
        );
        self.counters.cuts += 1;
        // Another incarnation gives numbers again.
        self.seen = Seen::default();
        let mut nexts = Vec::new();
        for (id, slot) in self.receivers.slots_mut() {
            slot.note_cut();
            nexts.push((id, slot.next()));
        }
        nexts.iter().for_each(|(id, _)| self.receivers.activate(*id));
        self.set_read(shard, end);
        self.pages.push((shard, end), 0, 0, nexts);
        Ok(())
    }

    fn set_read(&mut self, shard: u32, cursor: Cursor) {
        *self.read.get_mut(shard as usize).expect("a cursor for each shard") = cursor;
    }

    /// Takes the matches of a page, in the order of its changes. Those of receivers that are gone are dropped. Cost: O(matches); a look-up
    /// for each receiver that is matched for the first time.
    ///
    /// # Errors
    ///
    /// Those of reads; `Conflict` if another follower has taken over. Nothing of the page was taken then: [`Delivery::read`] gives it again.
    pub async fn offer(&mut self, page: &Page, matches: Vec<Match>, now: Timestamp) -> Result<(), Error> {
        let dormant = self.receivers.dormant(matches.iter().map(|matched| matched.receiver));
        self.wake(dormant).await?;
        page.changes.iter().for_each(|change| self.seen.note(change));
        let number = self.pages.next_number();
        let mut nexts: HashMap<u128, u64> = HashMap::new();
        let mut open = 0;
        for Match { receiver, key, payload } in matches {
            let Some(slot) = self.receivers.slot_mut(receiver) else { continue };
            slot.offer(number, key, payload, now, &self.options);
            nexts.insert(receiver, slot.next());
            self.receivers.activate(receiver);
            open += 1;
        }
        self.counters.matches += open as u64;
        self.set_read(page.shard, page.cursor);
        let nexts = nexts.into_iter().collect();
        self.pages.push((page.shard, page.cursor), page.changes.len(), open, nexts);
        Ok(())
    }

    /// What is to be sent now: a batch at a time of each receiver that may be tried, so that none waits for another; those that are not known to
    /// answer share a quarter of the sends. After the
    /// follower has begun, each call also looks for the outboxes of some receivers. Cost: O(receivers with something to send); a scan for each that
    /// is sent from its outbox. A receiver whose outbox cannot be read is skipped.
    ///
    /// # Errors
    ///
    /// Those of look-ups; `Conflict` if another follower has taken over: this one is to be dropped.
    pub async fn batches(&mut self, now: Timestamp) -> Result<Vec<Batch>, Error> {
        self.see_outboxes().await?;
        let mut batches = Vec::new();
        let order = self.order();
        let mut probes = self.batches.values().filter(|id| self.is_unproven(**id)).count();
        let mut found = true;
        while found && self.batches.len() < self.options.sends_max {
            found = false;
            for id in &order {
                if self.batches.len() >= self.options.sends_max {
                    break;
                }
                let is_probe = self.is_unproven(*id);
                if is_probe && probes >= self.options.probes_max() {
                    continue;
                }
                let batch = match self.next_batch_of(*id, now).await {
                    Ok(Some(batch)) => batch,
                    Ok(None) => continue,
                    Err(error) if error.kind() == ErrorKind::Conflict => return Err(error),
                    // The others do not wait for it, and batches that were taken are sent.
                    Err(error) => {
                        let slot = self.receivers.slot_mut(*id).expect("its outbox was looked at");
                        let tenant = slot.receiver.tenant.clone();
                        self.note_skip(*id, &tenant, &error);
                        continue;
                    }
                };
                found = true;
                self.is_probed_last = is_probe;
                if is_probe {
                    probes += 1;
                    self.probed = *id;
                } else {
                    self.served = *id;
                }
                batches.push(batch);
            }
        }
        self.receivers.rest_idle();
        Ok(batches)
    }

    /// Whom to look at for batches. Those that are not known to answer rotate among themselves, and so do the others: what one group is sent
    /// does not decide who comes first in the other. The group that was served last comes last, so that even a single send serves both.
    fn order(&self) -> Vec<u128> {
        let probes = self.receivers.active_behind(self.probed).into_iter().filter(|id| self.is_unproven(*id));
        let proven =
            self.receivers.active_behind(self.served).into_iter().filter(|id| !self.is_unproven(*id));
        if self.is_probed_last { proven.chain(probes).collect() } else { probes.chain(proven).collect() }
    }

    fn is_unproven(&self, id: u128) -> bool {
        self.receivers.slot(id).is_some_and(Slot::is_unproven)
    }

    async fn next_batch_of(&mut self, id: u128, now: Timestamp) -> Result<Option<Batch>, Error> {
        let Some(slot) = self.receivers.slot_mut(id).filter(|slot| slot.is_due(now)) else {
            return Ok(None);
        };
        if slot.wants_load(&self.options) {
            match load(&self.store, slot, &self.options).await {
                Err(error) if error.kind() != ErrorKind::TenantRemoved => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        slot.catch_up(&self.options);
        let number = self.next_batch;
        let Some(messages) = slot.queue.next_batch(number, &self.options) else { return Ok(None) };
        self.counters.retries += u64::from(slot.status.failures > 0);
        self.next_batch += 1;
        self.batches.insert(number, id);
        Ok(Some(Batch { number, receiver: id, messages }))
    }

    /// What became of a batch; an error in words. One of a receiver that is gone is of no more interest.
    pub fn settle(&mut self, batch: u64, outcome: Result<(), &str>, now: Timestamp) {
        let Some(id) = self.batches.remove(&batch) else { return };
        let slot = self.receivers.slot_mut(id).expect("batches of receivers that are gone are forgotten");
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
        self.receivers.activate(id);
    }

    /// Whether a batch is under way.
    pub fn is_sending(&self) -> bool {
        !self.batches.is_empty()
    }

    /// Bytes of messages in memory. Cost: O(receivers with something to send).
    pub(crate) fn memory_bytes(&self) -> usize {
        self.receivers.active().map(Slot::bytes).sum()
    }
}
