//! What a delivery did and has, for whoever asks.

use store::Cursor;

use crate::counters::{Counters, Gauges};
use crate::delivery::Delivery;
use crate::slot::State;

impl Delivery {
    /// What was done so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// What is there now. Cost: O(receivers with something to send).
    pub fn gauges(&self) -> Gauges {
        let behind_end = |cursors: &[Cursor]| {
            let ends =
                (0..).zip(cursors).map(|(shard, cursor)| self.store.feed_end(shard).commits_since(*cursor));
            ends.sum()
        };
        let mut gauges = Gauges {
            unread_commits: behind_end(&self.read),
            unpassed_commits: behind_end(&self.position.cursors),
            unseen: self.receivers.unseen() as u64,
            sending: self.batches.len() as u64,
            memory_bytes: self.memory_bytes() as u64,
            ..Gauges::default()
        };
        for slot in self.receivers.active() {
            let backlog = match slot.state() {
                State::Direct => &mut gauges.direct,
                State::Behind => &mut gauges.behind,
                State::Failing => &mut gauges.failing,
                State::Paused => &mut gauges.paused,
            };
            backlog.add(slot.pending());
            gauges.overflowing += u64::from(slot.status.overflowed_since.is_some());
        }
        gauges
    }
}
