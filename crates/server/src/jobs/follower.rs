//! Notifying receivers of what the feed tells: the loop that all kinds of receivers share. `delivery` keeps order, retries and outboxes; a
//! [`Source`] knows whom a change concerns, how it is worded and how it is sent. One follower reads the feed for all receivers
//! of a kind, on one node at a time.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use delivery::{Batch, Counters, Delivery, Gauges, Match, Options, Page, Receiver};
use store::{Clock, Cursor, ErrorKind, Store};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::ticker::JobLease;
use crate::admin::chain;
use crate::metrics::NotificationMetrics;

/// How often the feed is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How often the lease is renewed, and what was notified is stored.
const FLUSH: Duration = Duration::from_millis(500);
/// The lease runs out after so long without a renewal.
const LEASE_TTL: Duration = Duration::from_secs(10);
/// Pages of the feed that are read in one turn: between two turns the lease is renewed, and what was taken is stored.
const PAGES_A_TURN: usize = 16;
/// After an error of the store.
const REST: Duration = Duration::from_secs(1);

/// What became of a notification: why it failed.
pub(super) type Sent = Result<(), String>;

/// A send that ended, with the task that did it.
pub(super) type Ended = Result<(Id, Sent), JoinError>;

/// Receivers of one kind: who they are, what concerns them, and the way to them. It knows them as they were read last.
pub(super) trait Source: Send + Sync + 'static {
    /// What the model says that is asked.
    type Error: std::error::Error + From<store::Error> + Send + Sync + 'static;

    /// Names the lease, and the reader of the feed.
    const LEASE: &'static str;

    /// What is notified, for the log.
    const NAME: &'static str;

    /// How much is sent and kept.
    fn options(&self) -> Options;

    /// What the store says, if it was the store.
    fn store_error(error: &Self::Error) -> Option<ErrorKind>;

    /// Reads who receives, if that has changed; `true` if it has. Of those that are gone it removes what is left.
    fn refresh(&mut self) -> impl Future<Output = Result<bool, Self::Error>> + Send;

    /// All receivers.
    fn receivers(&self) -> Vec<Receiver>;

    /// Whom the changes of a page concern, worded.
    fn matches(&self, page: &Page) -> impl Future<Output = Result<Vec<Match>, Self::Error>> + Send;

    /// Sends a batch to its receiver.
    fn send(&self, batch: Batch) -> impl Future<Output = Sent> + Send + 'static;
}

/// What a follower works with beside its source.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) store: Store,
    pub(super) clock: Clock,
    pub(super) metrics: Arc<NotificationMetrics>,
}

/// One node's time as the one that notifies: a follower of the feed, the receivers as they were read last, and sends under way.
pub(super) struct Follower<S> {
    pub(super) source: S,
    shared: Shared,
    delivery: Delivery,
    receivers: HashMap<u128, Receiver>,
    pub(super) sends: JoinSet<Sent>,
    /// By task, the number of the batch that it sends.
    under_way: HashMap<Id, u64>,
    /// What was added to the metrics.
    counted: Counters,
    /// Whether the last turn left pages of the feed that could be read.
    is_behind: bool,
}

impl<S: Source> Follower<S> {
    /// Takes over from whoever did it before.
    pub(super) async fn open(shared: Shared, mut source: S) -> Result<Self, S::Error> {
        source.refresh().await?;
        let receivers = source.receivers();
        let delivery = Delivery::open(shared.store.clone(), source.options(), receivers.clone()).await?;
        Ok(Self {
            source,
            shared,
            delivery,
            receivers: by_id(receivers),
            sends: JoinSet::new(),
            under_way: HashMap::new(),
            counted: Counters::default(),
            is_behind: false,
        })
    }

    /// Waits for the next look, or for an answer; not where there is more to read.
    async fn wait(&mut self, ticks: &mut Interval) {
        if self.is_behind {
            return tokio::task::yield_now().await;
        }
        tokio::select! {
            _ = ticks.tick() => {}
            Some(ended) = self.sends.join_next_with_id() => self.settle(ended),
        }
    }

    /// Takes in what receivers answered, reads what is new, and notifies who is next; `flush`: stores what was taken.
    pub(super) async fn turn(&mut self, flush: bool) -> Result<(), S::Error> {
        while let Some(ended) = self.sends.try_join_next_with_id() {
            self.settle(ended);
        }
        for batch in self.next_batches().await? {
            let number = batch.number;
            let send = self.source.send(batch);
            self.spawn(number, send);
        }
        if flush {
            match self.receivers.is_empty() {
                true => self.delivery.keep_feed().await?,
                false => self.delivery.flush(self.shared.clock.now()).await?,
            }
            self.count();
            self.shared.metrics.set_gauges(Some(self.delivery.gauges()));
        }
        Ok(())
    }

    /// Reads what is new, so much as one turn may; what is to be sent now.
    pub(super) async fn next_batches(&mut self) -> Result<Vec<Batch>, S::Error> {
        let ends = feed_ends(&self.shared.store);
        self.is_behind = false;
        self.refresh().await?;
        if self.receivers.is_empty() {
            self.delivery.pass_over(&ends);
            return Ok(Vec::new());
        }
        for pages in 1..=PAGES_A_TURN {
            let Some(page) = self.delivery.read().await? else { break };
            self.is_behind = pages == PAGES_A_TURN;
            // After the page was read: no receiver is missed that was there before a change in it.
            self.refresh().await?;
            let matches = self.source.matches(&page).await?;
            self.delivery.offer(&page, matches, self.shared.clock.now()).await?;
        }
        Ok(self.delivery.batches(self.shared.clock.now()).await?)
    }

    async fn refresh(&mut self) -> Result<(), S::Error> {
        if !self.source.refresh().await? {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.receivers, by_id(self.source.receivers()));
        for receiver in self.receivers.values() {
            self.delivery.put_receiver(receiver.clone());
        }
        for gone in before.keys().filter(|id| !self.receivers.contains_key(*id)) {
            self.delivery.remove_receiver(*gone);
        }
        Ok(())
    }

    /// Has a task send a batch.
    pub(super) fn spawn(&mut self, batch: u64, send: impl Future<Output = Sent> + Send + 'static) {
        let task = self.sends.spawn(send).id();
        self.under_way.insert(task, batch);
    }

    /// Takes in how a send ended. One that panicked has failed, so that it is sent again.
    pub(super) fn settle(&mut self, ended: Ended) {
        let (task, sent) = ended.unwrap_or_else(|error| {
            tracing::error!(%error, "a notification met a bug");
            (error.id(), Err("the server met a bug while it sent this".to_owned()))
        });
        let batch = self.under_way.remove(&task).expect("a batch for each task");
        let outcome = sent.as_ref().copied().map_err(String::as_str);
        self.delivery.settle(batch, outcome, self.shared.clock.now());
        self.count();
    }

    /// Brings the metrics up to date.
    fn count(&mut self) {
        let (now, before) = (self.delivery.counters(), self.counted);
        let metrics = &self.shared.metrics.counters;
        let add =
            |counter: &AtomicU64, now: u64, before: u64| counter.fetch_add(now - before, Ordering::Relaxed);
        add(&metrics.notifications, now.batches, before.batches);
        add(&metrics.changes, now.messages, before.messages);
        add(&metrics.failures, now.failures, before.failures);
        add(&metrics.retries, now.retries, before.retries);
        add(&metrics.cuts, now.cuts, before.cuts);
        add(&metrics.stored, now.stored, before.stored);
        add(&metrics.overflowed, now.overflowed, before.overflowed);
        self.counted = now;
    }
}

/// Notifies receivers whenever this node has the lease; `source` makes what a new follower begins with. Runs until it is dropped.
pub(super) async fn follow<S: Source>(shared: Shared, source: impl Fn() -> S) {
    let mut ticks = tokio::time::interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut lease = JobLease::new(shared.store.clone(), S::LEASE, LEASE_TTL);
    let mut follower: Option<Follower<S>> = None;
    let mut flushed_at = None;
    loop {
        match &mut follower {
            Some(follower) => follower.wait(&mut ticks).await,
            None => {
                ticks.tick().await;
            }
        }
        let is_due = flushed_at.is_none_or(|at: Instant| at.elapsed() >= FLUSH);
        if is_due {
            flushed_at = Some(Instant::now());
            match lease.hold().await {
                Ok(true) => {}
                Ok(false) => end(&shared, &mut follower),
                Err(error) => tracing::warn!(error = chain(&error), "no lease to notify {}", S::NAME),
            }
            if follower.is_none() && lease.is_held() {
                follower = open(&shared, source()).await;
            }
        }
        let Some(current) = &mut follower else { continue };
        if let Err(error) = current.turn(is_due).await {
            tracing::warn!(error = chain(&error), "{} are notified later", S::NAME);
            // Another node has taken over, or this one is out of step: what is stored counts.
            let kind = S::store_error(&error);
            if kind.is_none_or(|kind| matches!(kind, ErrorKind::Conflict | ErrorKind::Unknown)) {
                end(&shared, &mut follower);
            }
            tokio::time::sleep(REST).await;
        }
    }
}

async fn open<S: Source>(shared: &Shared, source: S) -> Option<Follower<S>> {
    match Follower::open(shared.clone(), source).await {
        Ok(follower) => Some(follower),
        Err(error) => {
            tracing::warn!(error = chain(&error), "cannot begin to notify {}", S::NAME);
            None
        }
    }
}

/// This node notifies no more.
pub(super) fn end<S>(shared: &Shared, follower: &mut Option<Follower<S>>) {
    *follower = None;
    shared.metrics.set_gauges(None::<Gauges>);
}

/// Where nobody is notified, the feed need not store what was not read: an earlier run may have asked for that. The position
/// stays, and a later run that notifies goes on from there.
pub(super) async fn forget(store: &Store, lease: &'static str) {
    for shard in 0..store.feed_shards() {
        if let Err(error) = store.keep_feed(lease, shard, &[]).await {
            tracing::warn!(
                error = chain(&error),
                "the feed still stores changes for {lease}, which are not notified"
            );
        }
    }
}

fn feed_ends(store: &Store) -> Vec<Cursor> {
    (0..store.feed_shards()).map(|shard| store.feed_end(shard)).collect()
}

fn by_id(receivers: Vec<Receiver>) -> HashMap<u128, Receiver> {
    receivers.into_iter().map(|receiver| (receiver.id, receiver)).collect()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use delivery::BackOff;
    use store::{ChangeRecord, Commit, Model, Partition, Space, SpaceKind, Tenant, Timestamp, WriteIds};

    use super::*;
    use crate::metrics::Metrics;

    const SPACE: Space = Space { id: 201, kind: SpaceKind::Commit, name: "follower-tests" };

    /// One receiver, whom nothing concerns; pages of one change.
    struct Pages(Arc<AtomicU64>);

    impl Source for Pages {
        type Error = store::Error;

        const LEASE: &'static str = "tests";
        const NAME: &'static str = "tests";

        fn options(&self) -> Options {
            Options {
                name: "tests",
                page_changes_max: 1,
                batch_messages_max: 1,
                in_flight_max: 1,
                sends_max: 1,
                window_messages_max: 1,
                memory_bytes_max: 1 << 20,
                outbox_messages_max: 1,
                outbox_bytes_max: 1 << 20,
                patience: Duration::from_secs(1),
                back_off: BackOff { first: Duration::from_secs(1), longest: Duration::from_secs(1) },
            }
        }

        fn store_error(error: &store::Error) -> Option<ErrorKind> {
            Some(error.kind())
        }

        async fn refresh(&mut self) -> Result<bool, store::Error> {
            Ok(false)
        }

        fn receivers(&self) -> Vec<Receiver> {
            vec![Receiver { id: 1, tenant: Tenant::default(), since: Vec::new(), is_paused: false }]
        }

        async fn matches(&self, _: &Page) -> Result<Vec<Match>, store::Error> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(Vec::new())
        }

        fn send(&self, _: Batch) -> impl Future<Output = Sent> + Send + 'static {
            std::future::ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn a_turn_ends_although_the_feed_has_more() {
        let clock = Clock::manual(Timestamp(1));
        let store = store::testing::memory(clock.clone());
        let metrics = Metrics::new(std::iter::empty(), 1);
        let shared = Shared { store: store.clone(), clock, metrics: Arc::clone(&metrics.hooks) };
        let read = Arc::new(AtomicU64::new(0));
        let mut follower = Follower::open(shared, Pages(Arc::clone(&read))).await.unwrap();
        let (write_ids, changes) = (WriteIds::new(), 2 * PAGES_A_TURN as u64 + 3);
        for _ in 0..changes {
            let commit = Commit {
                partition: Partition { tenant: Tenant::default(), space: SPACE, bucket: 0 },
                write_id: write_ids.next(),
                conditions: Vec::new(),
                writes: vec![store::Write::Put(Bytes::from_static(b"k"), Bytes::new())],
                change: Some(ChangeRecord::new(Model { id: 1, name: "tests" }, 1, 1, "")),
                reclaims: false,
            };
            store.commit_known(commit).await.unwrap();
        }
        let mut seen = Vec::new();
        for _ in 0..4 {
            follower.turn(false).await.unwrap();
            seen.push((read.load(Ordering::Relaxed), follower.is_behind));
        }
        let turn = PAGES_A_TURN as u64;
        assert_eq!(seen, [(turn, true), (2 * turn, true), (changes, false), (changes, false)]);
    }
}
