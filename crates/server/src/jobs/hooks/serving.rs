//! One node's time as the one that notifies hooks: a follower of the feed, the hooks as they were read last, and requests under way.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use delivery::{Batch, Counters, Delivery, Match, Options, Page, Receiver};
use model_series::{Error, Repositories, ServedHook, ServedHooks};
use store::{Cursor, Store};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Interval;

use super::{LEASE, Shared};
use crate::admin::chain;
use crate::jobs::notifier::HooksPolicy;

/// What became of a notification: why it failed.
type Sent = Result<(), String>;

/// A send that ended, with the task that did it.
pub(super) type Ended = Result<(Id, Sent), JoinError>;

pub(super) struct Serving {
    shared: Arc<Shared>,
    delivery: Delivery,
    hooks: ServedHooks,
    by_receiver: HashMap<u128, Arc<ServedHook>>,
    pub(super) sends: JoinSet<Sent>,
    /// By task, the number of the batch that it sends.
    under_way: HashMap<Id, u64>,
    /// What was added to the metrics.
    counted: Counters,
}

impl Serving {
    /// Takes over from whoever did it before.
    pub(super) async fn open(shared: Arc<Shared>) -> Result<Self, Error> {
        let mut hooks = ServedHooks::default();
        shared.repositories.refresh_hooks(&mut hooks).await?;
        let options = delivery_options(&shared.notifier.policy);
        sweep(&shared.repositories, &hooks).await;
        let delivery = Delivery::open(shared.store.clone(), options, receivers(&hooks)).await?;
        let by_receiver = by_receiver(&hooks);
        let (sends, under_way, counted) = (JoinSet::new(), HashMap::new(), Counters::default());
        Ok(Self { shared, delivery, hooks, by_receiver, sends, under_way, counted })
    }

    /// Waits for the next look, or for an answer.
    pub(super) async fn wait(&mut self, ticks: &mut Interval) {
        tokio::select! {
            _ = ticks.tick() => {}
            Some(ended) = self.sends.join_next_with_id() => self.settle(ended),
        }
    }

    /// Takes in what hooks answered, reads what is new, and notifies who is next; `flush`: stores what was taken.
    pub(super) async fn turn(&mut self, flush: bool) -> Result<(), Error> {
        while let Some(ended) = self.sends.try_join_next_with_id() {
            self.settle(ended);
        }
        for batch in self.next_batches().await? {
            self.send(batch);
        }
        if flush {
            match self.by_receiver.is_empty() {
                true => self.delivery.keep_feed().await?,
                false => self.delivery.flush(self.shared.clock.now()).await?,
            }
            self.count();
            self.shared.metrics.hooks.set_gauges(Some(self.delivery.gauges()));
        }
        Ok(())
    }

    /// Reads what is new; what is to be sent now.
    pub(super) async fn next_batches(&mut self) -> Result<Vec<Batch>, Error> {
        let ends = feed_ends(&self.shared.store);
        self.refresh().await?;
        if self.by_receiver.is_empty() {
            self.delivery.pass_over(&ends);
            return Ok(Vec::new());
        }
        while let Some(page) = self.delivery.read().await? {
            // After the page was read: no hook is missed that was there before a change in it.
            self.refresh().await?;
            let matches = self.matches(&page).await?;
            self.delivery.offer(&page, matches, self.shared.clock.now()).await?;
        }
        Ok(self.delivery.batches(self.shared.clock.now()).await?)
    }

    async fn refresh(&mut self) -> Result<(), Error> {
        if !self.shared.repositories.refresh_hooks(&mut self.hooks).await? {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.by_receiver, by_receiver(&self.hooks));
        for hook in self.by_receiver.values() {
            self.delivery.put_receiver(receiver(hook));
        }
        for gone in before.keys().filter(|id| !self.by_receiver.contains_key(*id)) {
            self.delivery.remove_receiver(*gone);
        }
        sweep(&self.shared.repositories, &self.hooks).await;
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
        self.spawn(batch.number, async move {
            let changes = batch.messages.iter().map(|message| &*message.payload);
            let body = api_tsm::notification(&hook.repository_name, &hook.hook.name, changes);
            let sent = shared.notifier.sender.send(&hook.hook, body).await;
            if let Err(error) = &sent {
                tracing::info!(hook = %hook.hook.name, repository = %hook.repository_name, error, "a hook failed");
            }
            sent
        });
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
        let (now, before, metrics) = (self.delivery.counters(), self.counted, &self.shared.metrics.hooks);
        let add =
            |counter: &AtomicU64, now: u64, before: u64| counter.fetch_add(now - before, Ordering::Relaxed);
        let metrics = &metrics.counters;
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

/// Removes what hooks that are gone have left, as far as that goes: else with the next change of hooks, or the next start.
pub(super) async fn sweep(repositories: &Repositories, served: &ServedHooks) {
    match repositories.sweep_hooks(served).await {
        Ok(0) => {}
        Ok(count) => tracing::debug!(count, "outboxes of removed hooks were removed"),
        Err(error) => tracing::warn!(error = chain(&error), "cannot remove the outbox of a removed hook"),
    }
}

fn feed_ends(store: &Store) -> Vec<Cursor> {
    (0..store.feed_shards()).map(|shard| store.feed_end(shard)).collect()
}

fn by_receiver(hooks: &ServedHooks) -> HashMap<u128, Arc<ServedHook>> {
    hooks.iter().map(|hook| (hook.receiver, Arc::clone(hook))).collect()
}

fn receivers(hooks: &ServedHooks) -> Vec<Receiver> {
    hooks.iter().map(|hook| receiver(hook)).collect()
}

fn receiver(hook: &ServedHook) -> Receiver {
    Receiver {
        id: hook.receiver,
        tenant: hook.tenant.clone(),
        since: hook.since.clone(),
        is_paused: !hook.hook.is_active,
    }
}

fn delivery_options(policy: &HooksPolicy) -> Options {
    Options {
        name: LEASE,
        batch_messages_max: policy.changes_max,
        // One notification at a time: a hook is notified in order.
        in_flight_max: 1,
        sends_max: policy.sends_max,
        window_messages_max: policy.window_changes_max,
        memory_bytes_max: policy.memory_bytes_max,
        outbox_messages_max: policy.outbox_changes_max,
        outbox_bytes_max: policy.outbox_bytes_max,
        patience: policy.patience,
        back_off: policy.back_off,
    }
}
