//! Telling hooks what happened to series: at least once, in order for each hook, and no hook waits for another.
//!
//! Where a hook stands in the feed is a durable row ([`model_series::HookState`]), moved after the hook took a
//! notification. A look a second finds hooks that are behind; each is served by a task of its own.

mod sender;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model_series::{BackOff, Cursor, Hook, HookEvent, HookState, Repositories, Repository, StoreErrorKind};
use store::{Change, Clock, Store};
use tokio::task::JoinSet;

use crate::admin::chain;
use crate::metrics::Metrics;
use sender::Sender;

const LEASE: &str = "server/hooks";
/// How often hooks are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Hooks that are served at once.
const HOOKS_AT_ONCE_MAX: usize = 64;
/// Changes of the feed that are looked at at once.
const FEED_CHANGES: usize = 1000;
/// A hook that is told nothing of so many changes of the feed has its place stored all the same.
const PASSED_OVER_MAX: u64 = 100_000;

/// Whom hooks may call, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HooksPolicy {
    /// Whether loopback, private and link-local addresses may be called.
    pub(crate) private_addresses: bool,
    /// How long a hook may take to answer.
    pub(crate) duration_max: Duration,
    /// How long a hook that failed rests.
    pub(crate) back_off: BackOff,
    /// The most changes of one notification.
    pub(crate) changes_max: usize,
}

/// Serves hooks; of several nodes, one does it.
#[derive(Clone)]
pub(crate) struct Hooks {
    shared: Arc<Shared>,
}

struct Shared {
    repositories: Repositories,
    store: Store,
    clock: Clock,
    metrics: Arc<Metrics>,
    holder: String,
    policy: HooksPolicy,
    sender: Sender,
}

/// A hook by repository and name.
type HookKey = (Box<str>, Box<str>);

/// One hook, and where it stands.
struct Turn {
    repository: Repository,
    repository_name: Box<str>,
    hook: Hook,
    state: HookState,
    /// Where it stands in memory: beyond `state.cursor` nothing was for it up to here.
    seen: Cursor,
}

impl Hooks {
    /// A server of hooks.
    ///
    /// # Errors
    ///
    /// If there can be no client for HTTP.
    pub(crate) fn new(
        repositories: Repositories,
        (store, clock): (Store, Clock),
        metrics: Arc<Metrics>,
        holder: String,
        policy: HooksPolicy,
    ) -> anyhow::Result<Self> {
        let sender = Sender::new(policy.private_addresses, policy.duration_max)?;
        Ok(Self { shared: Arc::new(Shared { repositories, store, clock, metrics, holder, policy, sender }) })
    }

    /// Runs until the task is dropped.
    pub(crate) async fn run(self) {
        let mut ticks = tokio::time::interval(LOOK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut round = Round::default();
        loop {
            ticks.tick().await;
            round.collect();
            match self.shared.store.lease(LEASE, &self.shared.holder, LOOK * 10).await {
                Ok(Some(_)) => round.begin(&self.shared).await,
                Ok(None) => tracing::debug!("another node serves hooks"),
                Err(error) => tracing::warn!(error = chain(&error), "no lease to serve hooks"),
            }
        }
    }
}

/// Hooks that are being served, and how far hooks were seen.
#[derive(Default)]
struct Round {
    tasks: JoinSet<Cursor>,
    busy: HashMap<tokio::task::Id, HookKey>,
    seen: HashMap<HookKey, Cursor>,
}

impl Round {
    /// Takes in the turns that have ended.
    fn collect(&mut self) {
        while let Some(ended) = self.tasks.try_join_next_with_id() {
            let (id, cursor) = match ended {
                Ok((id, cursor)) => (id, Some(cursor)),
                // A bug: the hook is served anew from where it stands in the store.
                Err(error) => (error.id(), None),
            };
            if let (Some(key), Some(cursor)) = (self.busy.remove(&id), cursor) {
                self.seen.insert(key, cursor);
            }
        }
    }

    /// Begins the turns that are due, as many as there is room for.
    async fn begin(&mut self, shared: &Arc<Shared>) {
        let turns = match shared.turns(&self.seen).await {
            Ok(turns) => turns,
            Err(error) => return tracing::warn!(error = chain(&error), "cannot read hooks"),
        };
        let busy: HashSet<_> = self.busy.values().cloned().collect();
        for turn in turns {
            let key = (turn.repository_name.clone(), turn.hook.name.clone());
            if self.tasks.len() >= HOOKS_AT_ONCE_MAX || busy.contains(&key) {
                continue;
            }
            let shared = Arc::clone(shared);
            let task = self.tasks.spawn(async move { shared.serve(turn).await });
            self.busy.insert(task.id(), key);
        }
    }
}

impl Shared {
    /// The hooks that are behind the feed and may be tried.
    async fn turns(&self, seen: &HashMap<HookKey, Cursor>) -> Result<Vec<Turn>, model_series::Error> {
        let (end, now) = (self.store.feed_end(0), self.clock.now());
        let mut turns = Vec::new();
        for info in self.repositories.list().await? {
            let repository = self.repositories.get(&info.name).await?;
            for (hook, state) in repository.hooks().await? {
                let key = (info.name.clone(), hook.name.clone());
                let seen = seen.get(&key).copied().unwrap_or_default().max(state.cursor);
                if hook.is_active && state.is_due(now) && seen < end {
                    let repository = repository.clone();
                    turns.push(Turn { repository, repository_name: info.name.clone(), hook, state, seen });
                }
            }
        }
        Ok(turns)
    }

    /// Tells one hook everything up to the end of the feed, or up to its first failure; answers how far it was seen.
    async fn serve(&self, mut turn: Turn) -> Cursor {
        loop {
            let changes = match self.store.feed(0, turn.seen, FEED_CHANGES).await {
                Ok(changes) => changes,
                Err(error) if error.kind() == StoreErrorKind::TooLarge => {
                    self.pass_cut(&mut turn).await;
                    return turn.seen;
                }
                Err(error) => {
                    tracing::warn!(error = chain(&error), "cannot read the feed for a hook");
                    return turn.seen;
                }
            };
            let Some(last) = changes.last().map(|change| change.cursor) else { return turn.seen };
            match self.tell(&mut turn, &changes).await {
                Ok(true) => turn.seen = last,
                Ok(false) => return turn.state.cursor,
                Err(error) => {
                    tracing::warn!(error = chain(&error), hook = %turn.hook.name, "cannot serve a hook");
                    return turn.state.cursor;
                }
            }
            if turn.seen.0.saturating_sub(turn.state.cursor.0) > PASSED_OVER_MAX {
                let state = turn.state.after_success(turn.seen, 0);
                self.keep(&mut turn, state).await;
            }
        }
    }

    /// The feed no longer holds what the hook has not seen: it goes on at the feed's end, and its state says so.
    async fn pass_cut(&self, turn: &mut Turn) {
        tracing::warn!(hook = %turn.hook.name, repository = %turn.repository_name, "a hook fell behind the feed");
        self.metrics.series.hook_cuts.fetch_add(1, Ordering::Relaxed);
        let end = self.store.feed_end(0);
        let state = turn.state.after_cut(end);
        self.keep(turn, state).await;
        turn.seen = end;
    }

    /// Stores where a hook stands.
    async fn keep(&self, turn: &mut Turn, state: HookState) {
        if let Err(error) = turn.repository.put_hook_state(&turn.hook.name, &state).await {
            tracing::warn!(error = chain(&error), hook = %turn.hook.name, "cannot store how far a hook was told");
        }
        turn.state = state;
    }

    /// Tells what of a page of the feed is for a hook; whether it took all of it.
    async fn tell(&self, turn: &mut Turn, changes: &[Change]) -> Result<bool, model_series::Error> {
        let wanted = turn.repository.hook_events(&turn.hook, changes).await?;
        let metrics = &self.metrics.series;
        let mut rest = wanted.as_slice();
        while !rest.is_empty() {
            let (batch, behind) = rest.split_at(rest.len().min(self.policy.changes_max.max(1)));
            rest = behind;
            let Some(HookEvent { cursor, .. }) = batch.last() else { break };
            let body = api_tsm::notification(&turn.repository_name, &turn.hook.name, batch);
            let told = u64::try_from(batch.len()).unwrap_or(u64::MAX);
            match self.sender.send(&turn.hook, body).await {
                Ok(()) => {
                    metrics.hook_notifications.fetch_add(1, Ordering::Relaxed);
                    metrics.hook_changes.fetch_add(told, Ordering::Relaxed);
                    // The changes of one commit share a cursor: it is passed only with the last of them.
                    let has_more = behind.first().is_some_and(|next| next.cursor == *cursor);
                    let reached = if has_more { Cursor(cursor.0.saturating_sub(1)) } else { *cursor };
                    let reached = reached.max(turn.state.cursor);
                    let state = turn.state.after_success(reached, told);
                    self.keep(turn, state).await;
                }
                Err(error) => {
                    metrics.hook_failures.fetch_add(1, Ordering::Relaxed);
                    tracing::info!(hook = %turn.hook.name, repository = %turn.repository_name, error, "a hook failed");
                    let state = turn.state.after_failure(&error, self.clock.now(), self.policy.back_off);
                    self.keep(turn, state).await;
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
