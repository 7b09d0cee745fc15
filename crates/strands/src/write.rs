//! Writes: fetch, think, commit; again where another writer came first.

use std::collections::HashSet;

use store::retry::{Attempts, HasLost, RetryBackoff, unless_lost};
use store::{Commit, Condition, Write, WriteId};

use crate::commit::{ReadyCommit, commit};
use crate::error::Error;
use crate::fetch::{READS, contention, or_gone};
use crate::fields::{first_generation, halves};
use crate::fresh::Fresh;
use crate::keys;
use crate::layer::Layer;
use crate::pending::{CheckedWrite, PendingCommit, check_size};
use crate::plan::{pages_needed, plan_commit};
use crate::state::{AuditRows, State};
use crate::strand::{Strand, StrandOptions, StrandVersion, StrandWrite};
use crate::strands::Strands;

/// How often a write starts again because another writer came first.
const ATTEMPTS: RetryBackoff = RetryBackoff::at_once(64);
/// Strands whose commits are submitted together.
const GROUP_STRANDS_MAX: usize = 1_024;
/// A strand with as many times the overlays from which it wants to be folded is folded by who writes it.
const OVERDUE_FACTOR: usize = 8;
/// The same for points in overlays: a fold holds all of them.
const OVERDUE_POINTS_FACTOR: usize = 64;
/// A new strand's numbers begin at the low bits of its first write's number (see [`first_numbers`]).
const FIRST_NUMBER_MASK: u64 = 0x1F_FFFF;

/// A write on its way.
struct PendingWrite {
    /// Its place among the outcomes.
    place: usize,
    checked: CheckedWrite,
    attempts: Attempts,
    /// How many of them, the last ones, found rows gone that the state names.
    gone: u32,
}

impl Strands {
    /// Writes to many strands: each its own atom, all in one group commit; outcomes in order. Writes to the same
    /// strand are carried out in order, each in a group commit of its own.
    /// A write that another writer came before is thought and committed anew.
    ///
    /// Cost for points where nothing is (newer than all held, say): one cached read and one commit of two rows each (beyond what one
    /// commit takes, a small commit and a batch for each so much more);
    /// nothing is decoded. For points over others: the same, with an overlay instead of a block. What takes more than a quarter of
    /// a commit, over others or kept, goes ahead of it in blocks.
    ///
    /// Each outcome is [`Error::Invalid`] for points that break their invariant or rows beside of kinds that strands
    /// use, [`Error::Limit`] beyond a named limit (points may be as many as there are blocks, and of an audited write as many blocks
    /// as [`store::Limits::commit_rows`]; deleted ranges take 16 bytes each of one commit),
    /// [`Error::Contention`] if other writers kept coming first, or one did and the write expects another version, or
    /// what the store refuses.
    pub async fn write_all(&self, writes: Vec<StrandWrite>) -> Vec<Result<(), Error>> {
        self.live().write_all_checked(writes.into_iter().map(check_write).collect()).await
    }

    /// One write that was checked.
    pub(crate) async fn write_checked(&self, checked: CheckedWrite) -> Result<(), Error> {
        self.write_all_checked(vec![Ok(checked)]).await.pop().expect("one outcome of one write")
    }

    pub(crate) async fn write_all_checked(
        &self,
        checked: Vec<Result<CheckedWrite, Error>>,
    ) -> Vec<Result<(), Error>> {
        let mut outcomes: Vec<Option<Result<(), Error>>> = Vec::with_capacity(checked.len());
        let mut left = Vec::with_capacity(checked.len());
        for (place, checked) in checked.into_iter().enumerate() {
            match checked {
                Ok(checked) => {
                    outcomes.push(None);
                    left.push(PendingWrite { place, checked, attempts: ATTEMPTS.attempts(), gone: 0 });
                }
                Err(error) => outcomes.push(Some(Err(error))),
            }
        }
        while !left.is_empty() {
            let (ready, later) = split_ready(left);
            let (free, queued) = self.split_free(ready);
            let mut written = Vec::with_capacity(free.len() + queued.len());
            left = self.attempt_group(free, &mut outcomes, &mut written).await;
            left.extend(self.attempt_queued(queued, &mut outcomes, &mut written).await);
            // A fold takes long: nobody waits for it.
            for (strand, state) in written {
                self.after_write(&strand, &state).await;
            }
            // A new state may be a while in coming, if whoever publishes it is not given a processor.
            if let Some(gone) = left.iter().map(|pending| pending.gone).max().filter(|gone| *gone > 0) {
                READS.wait(gone).await;
            }
            left.extend(later);
            left.sort_unstable_by_key(|pending| pending.place);
        }
        let outcomes = outcomes.into_iter();
        outcomes
            .map(|outcome| outcome.expect("each write is done, refused or came too late too often"))
            .collect()
    }

    /// Those for whose strand nobody queues and that have not lost, and the others: they queue.
    fn split_free(&self, ready: Vec<PendingWrite>) -> (Vec<PendingWrite>, Vec<PendingWrite>) {
        let locks = &self.shared.locks;
        let is_free = |pending: &PendingWrite| {
            pending.attempts.made() == 0 && !locks.is_queued(self.lock_of(&pending.checked.strand))
        };
        ready.into_iter().partition(is_free)
    }

    /// As [`Strands::attempt_group`], under the locks of those that lost: each finds what the one before left, and few lose
    /// again.
    async fn attempt_queued(
        &self,
        queued: Vec<PendingWrite>,
        outcomes: &mut [Option<Result<(), Error>>],
        written: &mut Vec<(Strand, State)>,
    ) -> Vec<PendingWrite> {
        let writers = queued
            .iter()
            .map(|pending| (self.lock_of(&pending.checked.strand), HasLost(pending.attempts.made() > 0)));
        let _locks = self.shared.locks.queue(writers).await;
        self.attempt_group(queued, outcomes, written).await
    }

    /// Answers those that other writers came before; adds those that are done to `written`.
    async fn attempt_group(
        &self,
        ready: Vec<PendingWrite>,
        outcomes: &mut [Option<Result<(), Error>>],
        written: &mut Vec<(Strand, State)>,
    ) -> Vec<PendingWrite> {
        if ready.is_empty() {
            return ready;
        }
        let mut tell = |place: usize, outcome: Result<(), Error>| {
            *outcomes.get_mut(place).expect("a place of each write") = Some(outcome);
        };
        let (mut commits, mut committing) =
            (Vec::with_capacity(ready.len()), Vec::with_capacity(ready.len()));
        let mut left = Vec::new();
        for mut pending in ready {
            if !pending.attempts.next().await {
                tell(pending.place, Err(contention(&pending.checked.strand)));
                continue;
            }
            match self.prepare(&pending.checked).await {
                Ok(Some(ReadyCommit { untidy: Some(commit), .. })) => match self.say_untidy(commit).await {
                    Ok(noted) => {
                        if pending.checked.expects.is_some() && noted.is_some() {
                            // The version that it expects, and what was said.
                            pending.checked.expects = noted;
                        }
                        left.push(pending);
                    }
                    Err(error) => tell(pending.place, Err(error)),
                },
                Ok(Some(ReadyCommit { commit, state, is_too_much, .. })) => {
                    pending.gone = 0;
                    committing.push((pending, state, self.leftovers(&commit, is_too_much)));
                    commits.push(commit);
                }
                Ok(None) => {
                    pending.gone += 1;
                    left.push(pending);
                }
                Err(error) => tell(pending.place, Err(error)),
            }
        }
        let outcome = self.shared.store.append_then_commit_all(commits).await;
        for ((pending, state, leftovers), outcome) in committing.into_iter().zip(outcome) {
            match unless_lost(outcome) {
                Ok(Some(_)) => {
                    tell(pending.place, Ok(()));
                    written.push((pending.checked.strand, state));
                }
                Ok(None) => {
                    self.clear_away(leftovers).await;
                    left.push(pending);
                }
                Err(error) => tell(pending.place, Err(error.into())),
            }
        }
        left
    }

    /// The commit of a write as the strand stands now; `None` if rows went while they were read.
    pub(crate) async fn prepare(&self, checked: &CheckedWrite) -> Result<Option<ReadyCommit>, Error> {
        let epoch = self.shared.store.fence(&checked.strand.partition);
        let write_id = self.shared.write_ids.next();
        let (stamp, held) = match self.state(&checked.strand).await? {
            Some((stamp, state)) => (Some(stamp), state),
            None => (None, first_numbers(write_id)),
        };
        if checked.expects.is_some_and(|expected| expected != StrandVersion(stamp)) {
            return Err(contention(&checked.strand));
        }
        let rules = &self.shared.rules;
        let Some(pages) = self.read_pages(&checked.strand, pages_needed(&held, checked, rules)).await? else {
            return Ok(None);
        };
        let is_nothing = checked.layer.points.is_empty() && !checked.audited && checked.mark.is_none();
        let PendingCommit { mut state, writes, mut fresh, .. } = if stamp.is_none() && is_nothing {
            // What deletes from nothing makes no strand.
            let commit = Fresh::default().with(epoch, nothing(checked, write_id));
            return Ok(Some(ReadyCommit { commit, state: held, is_too_much: false, untidy: None }));
        } else {
            plan_commit(&held, &pages, checked, rules, self.attempt(&held, write_id))?
        };
        self.keep_span(self.span_of_leftovers(&held), &mut state);
        let writes = writes.into_iter().chain(checked.beside.iter().cloned());
        let commit = commit(&checked.strand, stamp, &state, writes, write_id, checked.change.clone());
        check_size(&commit.writes, &rules.limits)?;
        fresh.check_rows(&rules.limits)?;
        let dropped =
            held.overlays.filter(|it| state.overlays.is_none_or(|now| now.first_ordinal != it.first_ordinal));
        if let Some(overlays) = &dropped {
            let gone = overlays.first_ordinal..held.overlay_next;
            let points = or_gone!(self.overlay_points(&checked.strand, overlays, gone).await?);
            points.into_iter().for_each(|row| fresh.remove(&checked.strand, row));
        }
        let layer = &checked.layer;
        let reclaims = layer.points.is_empty() && !layer.clears.is_empty();
        let is_too_much = fresh.is_too_much(&commit, &rules.limits);
        let says_so = is_too_much || self.goes_beyond(&held, &fresh);
        let untidy = if says_so { self.say_before(&checked.strand, stamp, &held, &fresh) } else { None };
        let commit = fresh.with(epoch, Commit { reclaims, ..commit });
        Ok(Some(ReadyCommit { commit, state, is_too_much, untidy }))
    }

    /// Says that a write may leave rows behind; answers with the version that says so, `None` if another writer came first.
    async fn say_untidy(&self, commit: Commit) -> Result<Option<StrandVersion>, Error> {
        let stamp = unless_lost(self.shared.store.commit_known(commit).await)?;
        Ok(stamp.map(|stamp| StrandVersion(Some(stamp))))
    }

    /// Notes a strand that wants to be folded; folds it here if nobody else does.
    async fn after_write(&self, strand: &Strand, state: &State) {
        if !self.note_if_due(strand, state) {
            return;
        }
        let StrandOptions { overlays_max, overlay_points_max, .. } = self.shared.rules.options;
        let points = state.overlays.map_or(0, |overlays| overlays.points);
        let points_max = overlay_points_max.saturating_mul(OVERDUE_POINTS_FACTOR);
        let is_overdue = state.overlay_count() > overlays_max.saturating_mul(OVERDUE_FACTOR)
            || points > u64::try_from(points_max).unwrap_or(u64::MAX);
        if is_overdue && let Err(error) = Box::pin(self.fold(strand, state.encoding)).await {
            // The write itself is done, and the strand stays readable as it is.
            self.shared.skips.note("fold", &strand.partition.tenant, strand, &error);
        }
    }
}

/// Checks what a caller asks for.
pub(crate) fn check_write(write: StrandWrite) -> Result<CheckedWrite, Error> {
    let StrandWrite { strand, edits, encoding, written, audited, mark, beside, change, expects } = write;
    let foreign = |write: &Write| match write {
        Write::Put(key, _) | Write::PutStamped(key, _) | Write::Delete(key) => !keys::is_ours(key),
        Write::DeleteRange(range) => !keys::is_ours(&range.start),
    };
    if !beside.iter().all(foreign) {
        return Err(Error::Invalid("rows beside a strand with keys of its own kinds".into()));
    }
    let layer = Layer::of_edits(edits)?;
    Ok(CheckedWrite {
        strand,
        layer,
        encoding,
        written,
        audited,
        expires: None,
        mark,
        beside,
        change,
        expects,
    })
}

/// The first write that waits for each strand, and the rest.
fn split_ready(left: Vec<PendingWrite>) -> (Vec<PendingWrite>, Vec<PendingWrite>) {
    if left.len() == 1 {
        return (left, Vec::new());
    }
    let places: HashSet<usize> = {
        let mut seen: HashSet<&Strand> = HashSet::with_capacity(left.len());
        let first = left.iter().filter(|pending| seen.insert(&pending.checked.strand));
        first.take(GROUP_STRANDS_MAX).map(|pending| pending.place).collect()
    };
    left.into_iter().partition(|pending| places.contains(&pending.place))
}

/// A strand that was never written. Its numbers do not begin at zero, so that a reader of a strand that was erased
/// and written anew meanwhile does not take new rows for old ones.
fn first_numbers(write_id: WriteId) -> State {
    let (low, high) = halves(write_id);
    let [a, b, c, d, ..] = (low ^ high).to_le_bytes();
    let new = State::new();
    State {
        generation: first_generation(write_id),
        overlay_next: low & FIRST_NUMBER_MASK,
        audit: AuditRows { life: u32::from_le_bytes([a, b, c, d]), ..new.audit },
        ..new
    }
}

/// A commit of what lies beside alone.
fn nothing(checked: &CheckedWrite, write_id: WriteId) -> Commit {
    Commit {
        partition: checked.strand.partition.clone(),
        write_id,
        conditions: vec![Condition::Absent(keys::state(&checked.strand))],
        writes: checked.beside.clone(),
        change: checked.change.clone(),
        reclaims: false,
    }
}
