//! Telling hooks what happened to series: at least once, in order for each hook, and no hook waits for another.
//!
//! Where a hook stands in the feed is a durable row ([`model_series::HookState`]), moved after the hook took a
//! notification. A look a second finds hooks that are behind; each is served by a task of its own.

mod sender;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model_series::{
    BackOff, Cursor, Hook, HookEvent, HookStanding, HookState, Repositories, Repository, StoreErrorKind,
};
use store::{Change, Clock, Stamp, Store};
use tokio::task::JoinSet;

use super::turns::JobLease;
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

/// A hook by repository and name.
type HookKey = (Box<str>, Box<str>);

/// One hook, as it was read.
struct Known {
    repository: Repository,
    repository_name: Box<str>,
    hook: Hook,
    state: HookState,
}

/// One hook, and where it stands.
struct Turn {
    repository: Repository,
    repository_name: Box<str>,
    /// As it was last read: before every request.
    standing: HookStanding,
    seen: Seen,
}

/// Where a hook stands in memory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Seen {
    /// Where its state stands.
    told: Cursor,
    /// Between there and here nothing was for it.
    upto: Cursor,
    /// How many changes that were.
    passed: usize,
}

impl Seen {
    /// Nothing beyond its state.
    fn at(told: Cursor) -> Self {
        Self { told, upto: told, passed: 0 }
    }
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
        if let Err(error) = store.keep_feed(LEASE, &[]).await {
            tracing::warn!(error = chain(&error), "the feed is still kept for hooks");
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
    tasks: JoinSet<Seen>,
    busy: HashMap<tokio::task::Id, HookKey>,
    seen: HashMap<HookKey, Seen>,
    /// For whom the feed was told to keep what they have not seen.
    kept: Option<Vec<Cursor>>,
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

    /// Begins the turns that are due, as many as there is room for.
    async fn begin(&mut self, shared: &Arc<Shared>) {
        let hooks = match shared.hooks().await {
            Ok(hooks) => hooks,
            Err(error) => return tracing::warn!(error = chain(&error), "cannot read hooks"),
        };
        shared.keep_feed(&hooks, &mut self.kept).await;
        let turns = shared.turns(hooks, &self.seen);
        let busy: HashSet<_> = self.busy.values().cloned().collect();
        for turn in turns {
            let key = (turn.repository_name.clone(), turn.standing.hook.name.clone());
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

    /// Has the feed keep what hooks were not told, if that is not what `kept` says.
    async fn keep_feed(&self, hooks: &[Known], kept: &mut Option<Vec<Cursor>>) {
        let active = hooks.iter().filter(|known| known.hook.is_active);
        let cursors: Vec<Cursor> = active.map(|known| known.state.cursor).collect();
        if kept.as_ref() == Some(&cursors) {
            return;
        }
        match self.store.keep_feed(LEASE, &cursors).await {
            Ok(()) => *kept = Some(cursors),
            Err(error) => tracing::warn!(error = chain(&error), "cannot keep the feed for hooks"),
        }
    }

    /// The hooks that are behind the feed and may be tried.
    fn turns(&self, hooks: Vec<Known>, seen: &HashMap<HookKey, Seen>) -> Vec<Turn> {
        let (end, now) = (self.store.feed_end(0), self.clock.now());
        let mut turns = Vec::new();
        for Known { repository, repository_name, hook, state } in hooks {
            // What was seen of another hook of its name, or before the state moved, does not count.
            let seen = seen.get(&(repository_name.clone(), hook.name.clone())).copied();
            let seen =
                seen.filter(|seen| seen.told == state.cursor).unwrap_or_else(|| Seen::at(state.cursor));
            if hook.is_active && state.is_due(now) && seen.upto != end {
                // What it is now is read before it is told anything.
                let standing = HookStanding { hook, state, version: Stamp::default() };
                turns.push(Turn { repository, repository_name, standing, seen });
            }
        }
        turns
    }

    /// Tells one hook everything up to the end of the feed, or up to its first failure; answers how far it was seen.
    async fn serve(&self, mut turn: Turn) -> Seen {
        loop {
            let page = match self.store.feed(0, turn.seen.upto, FEED_CHANGES).await {
                Ok(page) => page,
                Err(error)
                    if matches!(
                        error.kind(),
                        StoreErrorKind::TooLarge | StoreErrorKind::OtherIncarnation
                    ) =>
                {
                    self.pass_cut(&mut turn, &error).await;
                    return turn.seen;
                }
                Err(error) => {
                    tracing::warn!(error = chain(&error), "cannot read the feed for a hook");
                    return turn.seen;
                }
            };
            if page.cursor == turn.seen.upto {
                return turn.seen;
            }
            if page.changes.is_empty() {
                turn.pass(page.cursor, 0);
                continue;
            }
            match self.tell(&mut turn, &page.changes).await {
                Ok(Told::All) => turn.pass(page.cursor, page.changes.len()),
                Ok(Told::Changed) => turn.note_told(),
                Ok(Told::End) => return Seen::at(turn.standing.state.cursor),
                Err(error) => {
                    tracing::warn!(error = chain(&error), hook = %turn.name(), "cannot serve a hook");
                    return Seen::at(turn.standing.state.cursor);
                }
            }
            if turn.seen.passed > PASSED_OVER_MAX {
                let state = turn.standing.state.after_success(turn.seen.upto, 0);
                if !self.keep(&mut turn, state).await {
                    return Seen::at(turn.standing.state.cursor);
                }
                turn.note_told();
            }
        }
    }

    /// The feed no longer holds what the hook has not seen: it goes on at the feed's end, and its state says so.
    async fn pass_cut(&self, turn: &mut Turn, cause: &store::Error) {
        let end = self.store.feed_end(0);
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
        let state = turn.standing.state.after_cut(end);
        self.keep(turn, state).await;
        turn.seen = Seen::at(end);
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
    async fn tell(&self, turn: &mut Turn, changes: &[Change]) -> Result<Told, model_series::Error> {
        // Read after the page: no change of the hook that came before a change in the page is missed.
        if !turn.renew().await? {
            return Ok(Told::End);
        }
        let hook = turn.standing.hook.clone();
        let wanted = turn.repository.hook_events(&hook, changes).await?;
        let (mut rest, mut reached) = (wanted.as_slice(), turn.standing.state.cursor);
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
            if !self.tell_batch(turn, batch, reached).await {
                return Ok(Told::End);
            }
        }
        Ok(Told::All)
    }

    /// Sends one notification and keeps what came of it; whether the hook took it and can be told more.
    async fn tell_batch(&self, turn: &mut Turn, batch: &[HookEvent], reached: Cursor) -> bool {
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

impl Turn {
    /// Begins where its state stands, if that has moved.
    fn note_told(&mut self) {
        let told = self.standing.state.cursor;
        if told != self.seen.told {
            self.seen = Seen::at(told);
        }
    }

    /// Passes what was told, or was not for it.
    fn pass(&mut self, upto: Cursor, changes: usize) {
        self.note_told();
        self.seen = Seen { upto, passed: self.seen.passed + changes, ..self.seen };
    }

    fn name(&self) -> &str {
        &self.standing.hook.name
    }

    /// Reads the hook as it is now; `false` if it is gone, told nothing, or told less than this turn knows of: then
    /// another was made under its name.
    async fn renew(&mut self) -> Result<bool, model_series::Error> {
        let Some(now) = self.repository.hook(self.name()).await? else { return Ok(false) };
        let is_same = now.state == self.standing.state;
        let is_active = now.hook.is_active;
        if is_same {
            self.standing = now;
        }
        Ok(is_same && is_active)
    }
}

#[cfg(test)]
mod tests;
