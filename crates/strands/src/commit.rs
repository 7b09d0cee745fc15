//! Commits of strands: one atom of a state and other rows, what goes ahead of it, and what may be left behind if another
//! writer comes first.

use store::retry::unless_lost;
use store::{
    Append, Appended, ChangeRecord, Commit, CommitWithAppends, Condition, Epoch, Removal, Stamp, Write,
    WriteId,
};

use crate::error::Error;
use crate::fields::Attempt;
use crate::fresh::{Fresh, KEYS_AT_ONCE};
use crate::keys;
use crate::state::State;
use crate::strand::Strand;
use crate::strands::Strands;

/// One attempt of a write.
pub(crate) struct ReadyCommit {
    pub(crate) commit: CommitWithAppends,
    pub(crate) state: State,
    /// Whether it takes more than one batch.
    pub(crate) is_too_much: bool,
    /// What is to be committed before the write is thought anew: that it may leave rows behind.
    pub(crate) untidy: Option<Commit>,
}

/// The state that says that a write may leave rows behind; `None` if that is said.
fn untidy(held: &State, fresh: &Fresh) -> Option<State> {
    let (first, last) = fresh.span()?;
    let (from, to) = held.untidy.unwrap_or((first, last));
    let span = (from.min(first), to.max(last));
    (held.untidy != Some(span)).then(|| State { untidy: Some(span), ..held.clone() })
}

/// One atom of a state and other rows.
pub(crate) fn commit(
    strand: &Strand,
    held: Option<Stamp>,
    state: &State,
    writes: impl Iterator<Item = Write>,
    write_id: WriteId,
    change: Option<ChangeRecord>,
) -> Commit {
    let key = keys::state(strand);
    let condition = match held {
        Some(stamp) => Condition::Version(key.clone(), stamp),
        None => Condition::Absent(key.clone()),
    };
    let put = Write::PutStamped(key, state.to_bytes().into());
    Commit {
        partition: strand.partition.clone(),
        write_id,
        conditions: vec![condition],
        writes: std::iter::once(put).chain(writes).collect(),
        change,
        reclaims: false,
    }
}

impl Strands {
    /// How an attempt is told apart on a strand in this state.
    pub(crate) fn attempt(&self, held: &State, id: WriteId) -> Attempt {
        let leaves = held.untidy.is_some() || self.shared.store.may_lag();
        if leaves { Attempt::of(id) } else { Attempt::CLEAN }
    }

    /// What is left of an attempt if another writer comes first; `is_too_much`: for one batch.
    pub(crate) fn leftovers(&self, commit: &CommitWithAppends, is_too_much: bool) -> (Epoch, Vec<Removal>) {
        let leaves = is_too_much || self.shared.store.may_lag();
        let removal = |append: &Append| Removal {
            partition: append.partition.clone(),
            keys: append.rows.iter().map(|(key, _)| key.clone()).collect(),
        };
        (commit.epoch, commit.appends.iter().filter(|_| leaves).map(removal).collect())
    }

    /// Removes what an attempt left that another writer came before. What cannot be removed is left to sweeps.
    pub(crate) async fn clear_away(&self, (epoch, left): (Epoch, Vec<Removal>)) {
        for Removal { partition, mut keys } in left {
            while !keys.is_empty() {
                let rest = keys.split_off(keys.len().min(KEYS_AT_ONCE));
                let removed = self.shared.store.remove(&partition, keys, Appended::Until(epoch)).await;
                if let Err(error) = removed {
                    tracing::debug!(%error, "rows that a lost race left are left to a sweep");
                    return;
                }
                keys = rest;
            }
        }
    }

    /// The first and last time between which fresh rows may be left that the state does not name.
    pub(crate) fn span_of_leftovers(&self, state: &State) -> Option<(i64, i64)> {
        let bounds = state.bounds().filter(|_| self.shared.store.may_lag());
        let spans = state.untidy.into_iter().chain(bounds);
        spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// Whether rows of a write may be left in windows in which a sweep would not look.
    pub(crate) fn goes_beyond(&self, held: &State, fresh: &Fresh) -> bool {
        self.shared.store.may_lag() && fresh.span().is_some_and(|span| !self.is_spanned(held, span))
    }

    /// Has a state know all windows in which rows may be left of the one before.
    pub(crate) fn keep_span(&self, before: Option<(i64, i64)>, state: &mut State) {
        if let Some((first, last)) = before.filter(|span| !self.is_spanned(state, *span)) {
            let (from, to) = state.untidy.unwrap_or((first, last));
            state.untidy = Some((from.min(first), to.max(last)));
        }
    }

    fn is_spanned(&self, state: &State, (first, last): (i64, i64)) -> bool {
        let window = keys::window_of;
        let spanned = self.span_of_leftovers(state);
        spanned.is_some_and(|(from, to)| window(from) <= window(first) && window(last) <= window(to))
    }

    /// What says that a write may leave rows behind, if that is not said.
    pub(crate) fn say_before(
        &self,
        strand: &Strand,
        stamp: Option<Stamp>,
        held: &State,
        fresh: &Fresh,
    ) -> Option<Commit> {
        let said = untidy(held, fresh)?;
        let write_id = self.shared.write_ids.next();
        Some(commit(strand, stamp, &said, std::iter::empty(), write_id, None))
    }

    /// Whether the commit is done; if not, it must be thought anew.
    pub(crate) async fn try_commit(&self, commit: Commit) -> Result<bool, Error> {
        Ok(unless_lost(self.shared.store.commit_known(commit).await)?.is_some())
    }

    /// The same with what goes ahead of it.
    pub(crate) async fn try_append_then_commit(
        &self,
        commit: CommitWithAppends,
        is_too_much: bool,
    ) -> Result<bool, Error> {
        let leftovers = self.leftovers(&commit, is_too_much);
        let is_done = unless_lost(self.shared.store.append_then_commit(commit).await)?.is_some();
        if !is_done {
            self.clear_away(leftovers).await;
        }
        Ok(is_done)
    }
}
