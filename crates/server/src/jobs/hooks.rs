//! Telling hooks what happened to series: at least once, each hook in the order of each partition, and no hook waits for
//! another.
//!
//! Where a hook stands in each shard of the feed is a durable row ([`model_series::HookState`]), moved after the hook took a
//! notification. A look a second finds hooks that are behind; each is served by a task of its own. Should two nodes serve one
//! hook, it is told twice by both until one moves its row; the other then ends its turn.

mod sender;
mod turn;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model_series::{
    BackOff, Cursor, Hook, HookEvent, HookStanding, HookState, Repositories, Repository, StoreErrorKind,
};
use store::{Change, Clock, Stamp, Store};
use tokio::task::JoinSet;

use super::ticker::JobLease;
use crate::admin::chain;
use crate::metrics::Metrics;
use sender::Sender;
use turn::{Seen, Step, Turn};

const LEASE: &str = "server/hooks";
/// How often hooks are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Hooks that are served at once.
const HOOKS_AT_ONCE_MAX: usize = 64;
/// Changes of the feed that are looked at at once.
const FEED_CHANGES: usize = 1000;
/// A hook that is told nothing of so many changes of the feed has its place stored all the same.
const PASSED_OVER_MAX: usize = 100_000;

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
    policy: HooksPolicy,
    sender: Sender,
}

/// A hook by the number of its repository and its name.
type HookKey = (u32, Box<str>);

/// One hook, as it was read.
struct Known {
    repository: Repository,
    repository_name: Box<str>,
    hook: Hook,
    state: HookState,
}

/// What became of an attempt to tell a hook a page of the feed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Told {
    /// It took everything that was for it.
    All,
    /// It was changed meanwhile: what it has not taken is chosen anew.
    Changed,
    /// The turn ends: it failed, or is gone, or another stands under its name.
    End,
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
        policy: HooksPolicy,
    ) -> anyhow::Result<Self> {
        let sender = Sender::new(policy.private_addresses, policy.duration_max)?;
        Ok(Self { shared: Arc::new(Shared { repositories, store, clock, metrics, policy, sender }) })
    }

    /// Lets the feed go that an earlier run had kept for hooks, where nobody sends any. Ends only when the task is dropped.
    pub(crate) async fn forget(store: Store) {
        for shard in 0..store.feed_shards() {
            if let Err(error) = store.keep_feed(LEASE, shard, &[]).await {
                tracing::warn!(error = chain(&error), "the feed is still kept for hooks");
            }
        }
        std::future::pending().await
    }

    /// Runs until the task is dropped.
    pub(crate) async fn run(self) {
        let mut ticks = tokio::time::interval(LOOK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut lease = JobLease::new(self.shared.store.clone(), LEASE, LOOK * 10);
        let mut round = Round::default();
        loop {
            ticks.tick().await;
            round.collect();
            match lease.hold().await {
                Ok(true) => round.begin(&self.shared).await,
                Ok(false) => tracing::debug!("another node serves hooks"),
                Err(error) => tracing::warn!(error = chain(&error), "no lease to serve hooks"),
            }
        }
    }
}

/// Hooks that are being served, and how far hooks were seen.
#[derive(Default)]
struct Round {
    tasks: JoinSet<Vec<Seen>>,
    busy: HashMap<tokio::task::Id, HookKey>,
    seen: HashMap<HookKey, Vec<Seen>>,
}

impl Round {
    /// Takes in the turns that have ended.
    fn collect(&mut self) {
        while let Some(ended) = self.tasks.try_join_next_with_id() {
            let (id, seen) = match ended {
                Ok((id, seen)) => (id, Some(seen)),
                // A bug: the hook is served anew from where it stands in the store.
                Err(error) => (error.id(), None),
            };
            if let (Some(key), Some(seen)) = (self.busy.remove(&id), seen) {
                self.seen.insert(key, seen);
            }
        }
    }

    /// Forgets how far hooks were seen that are no longer there.
    fn forget_gone(&mut self, hooks: &[Known]) {
        let there: HashSet<_> = hooks.iter().map(|known| key_of(&known.repository, &known.hook)).collect();
        self.seen.retain(|key, _| there.contains(key));
    }

    /// Begins the turns that are due, as many as there is room for.
    async fn begin(&mut self, shared: &Arc<Shared>) {
        let ends = shared.feed_ends();
        let hooks = match shared.hooks().await {
            Ok(hooks) => hooks,
            Err(error) => return tracing::warn!(error = chain(&error), "cannot read hooks"),
        };
        shared.keep_feed(&hooks, &ends).await;
        self.forget_gone(&hooks);
        let turns = shared.turns(hooks, &self.seen);
        let busy: HashSet<_> = self.busy.values().cloned().collect();
        for turn in turns {
            let key = key_of(&turn.repository, &turn.standing.hook);
            if self.tasks.len() >= HOOKS_AT_ONCE_MAX || busy.contains(&key) {
                continue;
            }
            let shared = Arc::clone(shared);
            let task = self.tasks.spawn(async move { shared.serve(turn).await });
            self.busy.insert(task.id(), key);
        }
    }
}

/// The key of a hook of a repository.
fn key_of(repository: &Repository, hook: &Hook) -> HookKey {
    (repository.tenant().number(), hook.name.clone())
}

impl Shared {
    /// All hooks that can be read, each with its repository's name.
    async fn hooks(&self) -> Result<Vec<Known>, model_series::Error> {
        let hooks = self.repositories.all_hooks().await?.into_iter();
        let known = hooks.map(|(repository_name, repository, hook, state)| Known {
            repository,
            repository_name,
            hook,
            state,
        });
        Ok(known.collect())
    }

    /// The end of each shard.
    fn feed_ends(&self) -> Vec<Cursor> {
        (0..self.store.feed_shards()).map(|shard| self.store.feed_end(shard)).collect()
    }

    /// Has the feed keep what hooks were not told. `ends`: of the shards, before the hooks were read; no hook that was made since
    /// begins before them, so what another node had kept for it still is.
    async fn keep_feed(&self, hooks: &[Known], ends: &[Cursor]) {
        let active: Vec<&Known> = hooks.iter().filter(|known| known.hook.is_active).collect();
        for (shard, end) in (0..).zip(ends) {
            let mut cursors: Vec<Cursor> = active.iter().map(|known| known.state.cursor(shard)).collect();
            if cursors.is_empty() {
                cursors.push(*end);
            }
            if let Err(error) = self.store.keep_feed(LEASE, shard, &cursors).await {
                tracing::warn!(error = chain(&error), "cannot keep the feed for hooks");
            }
        }
    }

    /// The hooks that are behind the feed and may be tried.
    fn turns(&self, hooks: Vec<Known>, seen: &HashMap<HookKey, Vec<Seen>>) -> Vec<Turn> {
        let (ends, now) = (self.feed_ends(), self.clock.now());
        let mut turns = Vec::new();
        for Known { repository, repository_name, hook, state } in hooks {
            let before = seen.get(&key_of(&repository, &hook));
            // What was seen of another hook of its name, or before the state moved, does not count.
            let seen_of = |shard: u32| {
                let seen = before.and_then(|seen| seen.get(shard as usize)).copied();
                let told = state.cursor(shard);
                seen.filter(|seen| seen.told == told).unwrap_or_else(|| Seen::at(told))
            };
            let seen: Vec<Seen> = (0..).zip(&ends).map(|(shard, _)| seen_of(shard)).collect();
            let is_behind = seen.iter().zip(&ends).any(|(seen, end)| seen.upto != *end);
            if hook.is_active && state.is_due(now) && is_behind {
                // What it is now is read before it is told anything.
                let standing = HookStanding { hook, state, version: Stamp::default() };
                turns.push(Turn { repository, repository_name, standing, seen });
            }
        }
        turns
    }

    /// Tells one hook everything up to the end of each shard, or up to its first failure; answers how far it was seen. No shard
    /// waits until another is told whole.
    async fn serve(&self, mut turn: Turn) -> Vec<Seen> {
        loop {
            let mut is_behind = false;
            for shard in 0..self.store.feed_shards() {
                match self.serve_page(&mut turn, shard).await {
                    Step::Onward => is_behind = true,
                    Step::AtEnd => {}
                    Step::End => return turn.seen,
                }
            }
            if !is_behind {
                return turn.seen;
            }
        }
    }

    /// Tells a hook a page of a shard.
    async fn serve_page(&self, turn: &mut Turn, shard: u32) -> Step {
        let upto = turn.seen_of(shard).upto;
        let page = match self.store.feed(shard, upto, FEED_CHANGES).await {
            Ok(page) => page,
            Err(error)
                if matches!(error.kind(), StoreErrorKind::TooLarge | StoreErrorKind::OtherIncarnation) =>
            {
                self.pass_cut(turn, shard, &error).await;
                return Step::End;
            }
            Err(error) => {
                tracing::warn!(error = chain(&error), "cannot read the feed for a hook");
                return Step::End;
            }
        };
        if page.cursor == upto {
            return Step::AtEnd;
        }
        if page.changes.is_empty() {
            turn.pass(shard, page.cursor, 0);
            return Step::Onward;
        }
        match self.tell(turn, shard, &page.changes).await {
            Ok(Told::All) => turn.pass(shard, page.cursor, page.changes.len()),
            Ok(Told::Changed) => turn.note_told(shard),
            Ok(Told::End) => return turn.end_at(shard),
            Err(error) => {
                tracing::warn!(error = chain(&error), hook = %turn.name(), "cannot serve a hook");
                return turn.end_at(shard);
            }
        }
        let seen = turn.seen_of(shard);
        if seen.passed > PASSED_OVER_MAX {
            let state = turn.standing.state.after_success((shard, seen.upto), 0);
            if !self.keep(turn, state).await {
                return turn.end_at(shard);
            }
            turn.note_told(shard);
        }
        Step::Onward
    }

    /// The shard no longer holds what the hook has not seen: it goes on at the shard's end, and its state says so.
    async fn pass_cut(&self, turn: &mut Turn, shard: u32, cause: &store::Error) {
        let end = self.store.feed_end(shard);
        if !matches!(turn.renew().await, Ok(true)) {
            return;
        }
        tracing::warn!(
            error = chain(cause),
            hook = %turn.name(),
            repository = %turn.repository_name,
            "a hook goes on at the end of the feed: what it was not told is no longer kept, or is of another incarnation"
        );
        self.metrics.hooks.cuts.fetch_add(1, Ordering::Relaxed);
        let state = turn.standing.state.after_cut((shard, end));
        self.keep(turn, state).await;
        turn.see(shard, Seen::at(end));
    }

    /// Stores where a hook stands; `false` if that could not be, or it is no longer this hook.
    async fn keep(&self, turn: &mut Turn, state: HookState) -> bool {
        let kept = turn.repository.put_hook_state(turn.name(), turn.standing.version, &state).await;
        turn.standing.state = state;
        match kept {
            // The next version is read, not guessed.
            Ok(true) => matches!(turn.renew().await, Ok(true)),
            Ok(false) => false,
            Err(error) => {
                tracing::warn!(error = chain(&error), hook = %turn.name(), "cannot store how far a hook was told");
                false
            }
        }
    }

    /// Tells what of a page of the feed is for a hook, as the hook is at each request.
    async fn tell(
        &self,
        turn: &mut Turn,
        shard: u32,
        changes: &[Change],
    ) -> Result<Told, model_series::Error> {
        // Read after the page: no change of the hook that came before a change in the page is missed.
        if !turn.renew().await? {
            return Ok(Told::End);
        }
        let hook = turn.standing.hook.clone();
        let wanted = turn.repository.hook_events(&hook, changes).await?;
        let (mut rest, mut reached) = (wanted.as_slice(), turn.standing.state.cursor(shard));
        while !rest.is_empty() {
            if turn.standing.hook != hook {
                return Ok(Told::Changed);
            }
            let (batch, behind) = rest.split_at(rest.len().min(self.policy.changes_max.max(1)));
            rest = behind;
            // The changes of one commit share a cursor: it is passed only with the last of them.
            let next = behind.first().map(|next| next.cursor);
            let whole = batch.iter().rev().find(|event| Some(event.cursor) != next);
            reached = whole.map_or(reached, |event| event.cursor);
            if !self.tell_batch(turn, batch, (shard, reached)).await {
                return Ok(Told::End);
            }
        }
        Ok(Told::All)
    }

    /// Sends one notification and keeps what came of it; whether the hook took it and can be told more.
    async fn tell_batch(&self, turn: &mut Turn, batch: &[HookEvent], reached: (u32, Cursor)) -> bool {
        let metrics = &self.metrics.hooks;
        let state = &turn.standing.state;
        let body = api_tsm::notification(&turn.repository_name, turn.name(), batch);
        let told = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        match self.sender.send(&turn.standing.hook, body).await {
            Ok(()) => {
                metrics.notifications.fetch_add(1, Ordering::Relaxed);
                metrics.changes.fetch_add(told, Ordering::Relaxed);
                let state = state.after_success(reached, told);
                self.keep(turn, state).await
            }
            Err(error) => {
                metrics.failures.fetch_add(1, Ordering::Relaxed);
                tracing::info!(hook = %turn.name(), repository = %turn.repository_name, error, "a hook failed");
                let state = state.after_failure(&error, self.clock.now(), self.policy.back_off);
                self.keep(turn, state).await;
                false
            }
        }
    }
}

#[cfg(test)]
mod tests;
