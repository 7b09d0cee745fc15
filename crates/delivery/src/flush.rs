//! What a follower stores: statuses and outboxes of receivers first, its position last.

use std::collections::BTreeSet;

use store::{Error, ErrorKind, Stamp, Timestamp};

use crate::delivery::Delivery;
use crate::outbox::Commits;
use crate::pages::Advance;
use crate::slot::Plan;

/// The position is stored after so many changes without a match.
const PASSED_CHANGES_MAX: usize = 10_000;

impl Delivery {
    /// Stores what receivers that are behind have in memory, and the statuses that have changed; then the position, as far as
    /// it may move. Cost: one group commit of a commit for each of those receivers, and one commit for the position.
    ///
    /// # Errors
    ///
    /// `Conflict` if another follower has taken over: this one is to be dropped. Else those of commits: nothing is lost, and the next
    /// flush begins anew.
    pub async fn flush(&mut self, now: Timestamp) -> Result<(), Error> {
        let is_full = self.memory_bytes() >= self.options.memory_bytes_max / 2;
        let patience = self.options.patience;
        self.receivers.each_active(|slot| {
            if is_full || slot.receiver.is_paused || slot.is_overdue(now, patience) {
                slot.fall_behind();
            }
        });
        // What is stored now settles matches: the position moves in the next flush.
        let advance = self.pages.advance();
        let moves = !advance.nexts.is_empty() || advance.changes >= PASSED_CHANGES_MAX;
        let advance = if moves { advance } else { Advance::default() };
        self.write_statuses(&advance, now).await?;
        if moves { self.move_position(&advance).await } else { Ok(()) }
    }

    async fn write_statuses(&mut self, advance: &Advance, now: Timestamp) -> Result<(), Error> {
        let limits = self.store.limits();
        let (mut planned, mut lasts) = (Vec::new(), Vec::new());
        let moved = self.position.advance + 1;
        let dirty = self.receivers.active().filter(|slot| slot.is_dirty()).map(|slot| slot.receiver.id);
        let written: BTreeSet<u128> = dirty.chain(advance.nexts.keys().copied()).collect();
        for id in written {
            // One that is gone has no status any more.
            let Some(slot) = self.receivers.slot_mut(id) else { continue };
            let next = advance.nexts.get(&id).map(|next| (moved, *next));
            let plan = slot.plan(next, now, (&self.options, &limits));
            let mut commits = Commits::new(slot, &plan, &limits);
            while !commits.is_last() {
                let commit = commits.next(slot.version, &self.write_ids);
                match self.store.commit_known(commit).await {
                    Ok(version) => slot.version = Some(version),
                    // The last finds it, too.
                    Err(error) if error.kind() == ErrorKind::TenantRemoved => {}
                    Err(error) => return Err(error),
                }
            }
            lasts.push(commits.next(slot.version, &self.write_ids));
            planned.push((id, plan));
        }
        let outcomes = self.store.commit_all_known(lasts).await;
        let mut failed = Ok(());
        for ((id, plan), outcome) in planned.into_iter().zip(outcomes) {
            match outcome {
                Ok(version) => self.apply(id, plan, version),
                Err(error) if error.kind() == ErrorKind::TenantRemoved => self.remove_receiver(id),
                Err(error) => failed = Err(error),
            }
        }
        failed
    }

    fn apply(&mut self, id: u128, plan: Plan, version: Stamp) {
        let stored = plan.puts.len() as u64;
        let slot = self.receivers.slot_mut(id).expect("a plan is of a receiver that is known");
        let (pages, overflowed) = slot.apply(plan, version);
        pages.into_iter().for_each(|page| self.pages.settle(page));
        self.counters.stored += stored;
        self.counters.overflowed += overflowed;
    }

    async fn move_position(&mut self, advance: &Advance) -> Result<(), Error> {
        let mut position = self.position.clone();
        position.advance += 1;
        for (shard, cursor) in &advance.cursors {
            *position.cursors.get_mut(*shard as usize).expect("a cursor for each shard") = *cursor;
        }
        let before = Some(self.version);
        self.version = position.write(&self.store, self.options.name, before, &self.write_ids).await?;
        self.position = position;
        self.pages.pass(advance);
        self.keep_feed().await
    }

    /// Has the feed keep what lies behind the position.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn keep_feed(&self) -> Result<(), Error> {
        for (shard, cursor) in (0..).zip(&self.position.cursors) {
            self.store.keep_feed(self.options.name, shard, &[*cursor]).await?;
        }
        Ok(())
    }
}
