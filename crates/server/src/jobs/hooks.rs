//! Notifying hooks of what happens to series. The model says which hooks a change concerns, `api-tsm` words it, `egress` sends.

use std::collections::HashMap;
use std::sync::Arc;

use delivery::{Batch, Match, Options, Page, Receiver};
use model_series::{Error, Repositories, ServedHook, ServedHooks};
use store::ErrorKind;

use super::follower::{self, Sent, Shared, Source};
use super::job::{Job, ONE, When, Work};
use super::notifier::{HooksPolicy, Notifier};
use crate::admin::chain;

/// Names the lease, and the reader of the feed.
const LEASE: &str = "server/hooks";
/// Changes of the feed that are matched together.
const PAGE_CHANGES: usize = 1_000;

/// Always: it takes its lease itself, for it acts far more often than it renews it.
pub(super) const JOB: Job =
    Job { name: LEASE, when: When::Always { count: ONE, run: |work| Box::pin(run(work)) } };

async fn run(work: Work) {
    let Work { repositories, store, clock, metrics, notifier, .. } = work;
    match notifier {
        Some(notifier) => {
            let shared = Shared { store, clock, metrics: Arc::clone(&metrics.hooks) };
            follower::follow(shared, || Hooks::new(repositories.clone(), notifier.clone())).await;
        }
        None => forget(&repositories, &store).await,
    }
}

/// Where hooks are not called. Ends only when the task is dropped.
async fn forget(repositories: &Repositories, store: &store::Store) {
    follower::forget(store, LEASE).await;
    sweep(repositories, &ServedHooks::default()).await;
    std::future::pending().await
}

/// The hooks of all repositories.
struct Hooks {
    repositories: Repositories,
    notifier: Notifier,
    served: ServedHooks,
    by_receiver: HashMap<u128, Arc<ServedHook>>,
    /// Whether what earlier hooks left was looked for.
    is_swept: bool,
}

impl Hooks {
    fn new(repositories: Repositories, notifier: Notifier) -> Self {
        let (served, by_receiver) = (ServedHooks::default(), HashMap::new());
        Self { repositories, notifier, served, by_receiver, is_swept: false }
    }
}

impl Source for Hooks {
    type Error = Error;

    const LEASE: &'static str = LEASE;
    const NAME: &'static str = "hooks";

    fn options(&self) -> Options {
        self.notifier.policy.delivery_options(LEASE)
    }

    fn store_error(error: &Error) -> Option<ErrorKind> {
        match error {
            Error::Store(error) => Some(error.kind()),
            _ => None,
        }
    }

    async fn refresh(&mut self) -> Result<bool, Error> {
        let has_changed = self.repositories.refresh_hooks(&mut self.served).await?;
        if has_changed {
            self.by_receiver = self.served.iter().map(|hook| (hook.receiver, Arc::clone(hook))).collect();
        }
        if has_changed || !self.is_swept {
            sweep(&self.repositories, &self.served).await;
            self.is_swept = true;
        }
        Ok(has_changed)
    }

    fn receivers(&self) -> Vec<Receiver> {
        let receiver = |hook: &Arc<ServedHook>| Receiver {
            id: hook.receiver,
            tenant: hook.tenant.clone(),
            since: hook.since.clone(),
            is_paused: !hook.hook.is_active,
        };
        self.served.iter().map(receiver).collect()
    }

    async fn matches(&self, page: &Page) -> Result<Vec<Match>, Error> {
        let changes = (page.shard, page.changes.as_slice());
        let matched = self.repositories.match_hooks(&self.served, changes).await?;
        let matches = matched.into_iter().map(|(hook, event)| Match {
            receiver: hook.receiver,
            key: event.series.number.into(),
            payload: api_tsm::change_body(&event).into(),
        });
        Ok(matches.collect())
    }

    fn send(&self, batch: Batch) -> impl Future<Output = Sent> + Send + 'static {
        let hook = self.by_receiver.get(&batch.receiver).expect("batches are of receivers that are known");
        let (sender, hook) = (Arc::clone(&self.notifier.sender), Arc::clone(hook));
        async move {
            let changes = batch.messages.iter().map(|message| &*message.payload);
            let body = api_tsm::notification(&hook.repository_name, &hook.hook.name, changes);
            let sent = sender.send(&hook.hook, body).await;
            if let Err(error) = &sent {
                tracing::info!(hook = %hook.hook.name, repository = %hook.repository_name, error, "a hook failed");
            }
            sent
        }
    }
}

impl HooksPolicy {
    /// How much is sent and kept of what the reader of the feed of this name finds.
    pub(super) fn delivery_options(&self, name: &'static str) -> Options {
        Options {
            name,
            page_changes_max: PAGE_CHANGES,
            batch_messages_max: self.changes_max,
            // One notification at a time: a receiver is notified in order.
            in_flight_max: 1,
            sends_max: self.sends_max,
            window_messages_max: self.window_changes_max,
            memory_bytes_max: self.memory_bytes_max,
            outbox_messages_max: self.outbox_changes_max,
            outbox_bytes_max: self.outbox_bytes_max,
            patience: self.patience,
            back_off: self.back_off,
        }
    }
}

/// Removes what hooks that are gone have left, as far as that goes: else with the next change of hooks, or the next start.
async fn sweep(repositories: &Repositories, served: &ServedHooks) {
    match repositories.sweep_hooks(served).await {
        Ok(0) => {}
        Ok(count) => tracing::debug!(count, "outboxes of removed hooks were removed"),
        Err(error) => tracing::warn!(error = chain(&error), "cannot remove the outbox of a removed hook"),
    }
}

#[cfg(test)]
mod tests;
