//! One node's time as the one that notifies hooks: a follower of the feed, the hooks as they were read last, and requests under way.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use delivery::{Batch, Counters, Delivery, Match, Options, Page, Receiver};
use model_series::{Error, ServedHook, ServedHooks};
use store::{Cursor, Store};
use tokio::task::JoinSet;
use tokio::time::Interval;

use super::{LEASE, Shared};

/// Hooks that are notified at once.
const HOOKS_AT_ONCE_MAX: usize = 64;
/// Bytes of changes in memory, for all hooks together.
const MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The most changes that wait for one hook; newer ones are lost, and counted.
const OUTBOX_CHANGES_MAX: u64 = 100_000;
/// The most bytes of changes that wait for one hook.
const OUTBOX_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// A hook that takes longer has what it was sent stored, so that the position of all can move.
const PATIENCE: Duration = Duration::from_secs(2);
/// Notifications of one hook that wait in memory.
const WINDOW: usize = 4;

/// What became of a notification: its batch, and why it failed.
pub(super) type Sent = (u64, Result<(), String>);

pub(super) struct Serving {
    shared: Arc<Shared>,
    delivery: Delivery,
    hooks: ServedHooks,
    /// Whether the delivery does not know all of these hooks yet.
    is_news: bool,
    by_receiver: HashMap<u128, Arc<ServedHook>>,
    pub(super) sends: JoinSet<Sent>,
    /// What was added to the metrics.
    counted: Counters,
}

impl Serving {
    /// Takes over from whoever did it before.
    pub(super) async fn open(shared: Arc<Shared>) -> Result<Self, Error> {
        let mut hooks = ServedHooks::default();
        shared.repositories.refresh_hooks(&mut hooks).await?;
        let changes_max = shared.policy.changes_max.max(1);
        let options = Options {
            name: LEASE,
            batch_messages_max: changes_max,
            // One notification at a time: a hook is notified in order.
            in_flight_max: 1,
            sends_max: HOOKS_AT_ONCE_MAX,
            window_messages_max: changes_max.saturating_mul(WINDOW),
            memory_bytes_max: MEMORY_BYTES_MAX,
            outbox_messages_max: OUTBOX_CHANGES_MAX,
            outbox_bytes_max: OUTBOX_BYTES_MAX,
            patience: PATIENCE,
            back_off: shared.policy.back_off,
        };
        let delivery = Delivery::open(shared.store.clone(), options, receivers(&hooks)).await?;
        let by_receiver = by_receiver(&hooks);
        let (sends, counted) = (JoinSet::new(), Counters::default());
        Ok(Self { shared, delivery, hooks, is_news: false, by_receiver, sends, counted })
    }

    /// Waits for the next look, or for an answer.
    pub(super) async fn wait(&mut self, ticks: &mut Interval) {
        tokio::select! {
            _ = ticks.tick() => {}
            Some(ended) = self.sends.join_next() => self.settle(ended),
        }
    }

    /// Takes in what hooks answered, reads what is new, and notifies who is next; `flush`: stores what was taken.
    pub(super) async fn turn(&mut self, flush: bool) -> Result<(), Error> {
        while let Some(ended) = self.sends.try_join_next() {
            self.settle(ended);
        }
        let ends = feed_ends(&self.shared.store);
        self.refresh().await?;
        if self.by_receiver.is_empty() {
            self.delivery.pass_over(&ends);
            return if flush { Ok(self.delivery.keep_feed().await?) } else { Ok(()) };
        }
        while let Some(page) = self.delivery.read().await? {
            // After the page was read: no hook is missed that was there before a change in it.
            self.refresh().await?;
            let matches = self.matches(&page).await?;
            self.delivery.offer(&page, matches, self.shared.clock.now());
        }
        for batch in self.delivery.batches(self.shared.clock.now()).await? {
            self.send(batch);
        }
        if flush {
            self.delivery.flush(self.shared.clock.now()).await?;
            self.count();
        }
        Ok(())
    }

    async fn refresh(&mut self) -> Result<(), Error> {
        self.is_news |= self.shared.repositories.refresh_hooks(&mut self.hooks).await?;
        if self.is_news {
            self.delivery.set_receivers(receivers(&self.hooks)).await?;
            self.by_receiver = by_receiver(&self.hooks);
            self.is_news = false;
        }
        Ok(())
    }

    async fn matches(&self, page: &Page) -> Result<Vec<Match>, Error> {
        let changes = (page.shard, page.changes.as_slice());
        let matched = self.shared.repositories.match_hooks(&self.hooks, changes).await?;
        let matches = matched.into_iter().map(|(hook, event)| Match {
            receiver: hook.receiver,
            key: event.series.number.into(),
            payload: api_tsm::change_body(&event).into(),
        });
        Ok(matches.collect())
    }

    fn send(&mut self, batch: Batch) {
        let hook = self.by_receiver.get(&batch.receiver).expect("batches are of receivers that are known");
        let (shared, hook) = (Arc::clone(&self.shared), Arc::clone(hook));
        self.sends.spawn(async move {
            let changes = batch.messages.iter().map(|message| &*message.payload);
            let body = api_tsm::notification(&hook.repository_name, &hook.hook.name, changes);
            let sent = shared.sender.send(&hook.hook, body).await;
            if let Err(error) = &sent {
                tracing::info!(hook = %hook.hook.name, repository = %hook.repository_name, error, "a hook failed");
            }
            (batch.number, sent)
        });
    }

    pub(super) fn settle(&mut self, ended: Result<Sent, tokio::task::JoinError>) {
        // A task that panics is a bug: its batch stays under way until another follower begins.
        let Ok((batch, sent)) = ended else { return };
        let outcome = sent.as_ref().copied().map_err(String::as_str);
        self.delivery.settle(batch, outcome, self.shared.clock.now());
        self.count();
    }

    /// Brings the metrics up to date.
    fn count(&mut self) {
        let (now, before, metrics) = (self.delivery.counters(), self.counted, &self.shared.metrics.hooks);
        let add =
            |counter: &AtomicU64, now: u64, before: u64| counter.fetch_add(now - before, Ordering::Relaxed);
        add(&metrics.notifications, now.batches, before.batches);
        add(&metrics.changes, now.messages, before.messages);
        add(&metrics.failures, now.failures, before.failures);
        add(&metrics.cuts, now.cuts, before.cuts);
        add(&metrics.stored, now.stored, before.stored);
        add(&metrics.overflowed, now.overflowed, before.overflowed);
        self.counted = now;
    }
}

fn feed_ends(store: &Store) -> Vec<Cursor> {
    (0..store.feed_shards()).map(|shard| store.feed_end(shard)).collect()
}

fn by_receiver(hooks: &ServedHooks) -> HashMap<u128, Arc<ServedHook>> {
    hooks.iter().map(|hook| (hook.receiver, Arc::clone(hook))).collect()
}

fn receivers(hooks: &ServedHooks) -> Vec<Receiver> {
    let receiver = |hook: &Arc<ServedHook>| Receiver {
        id: hook.receiver,
        tenant: hook.tenant.clone(),
        since: hook.since.clone(),
        is_paused: !hook.hook.is_active,
    };
    hooks.iter().map(receiver).collect()
}
