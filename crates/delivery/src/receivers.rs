//! All receivers of a follower. Most have nothing to be sent: of those it is only known who they are, and their statuses are
//! read when a change concerns them.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::Receiver;
use crate::slot::Slot;

/// The receivers of a follower.
///
/// Invariant: a receiver is either dormant or has a slot; only those with slots are active.
#[derive(Debug, Default)]
pub(crate) struct Receivers {
    /// Those whose status is not in memory.
    dormant: HashMap<u128, Receiver>,
    slots: HashMap<u128, Slot>,
    /// Dormant ones that may have an outbox, and some that are no longer dormant or gone.
    unseen: VecDeque<u128>,
    /// Those with something to send, to load or to write.
    active: BTreeSet<u128>,
}

impl Receivers {
    pub(crate) fn is_empty(&self) -> bool {
        self.dormant.is_empty() && self.slots.is_empty()
    }

    /// Takes one in, or what was changed of it. Cost: O(1), nothing is read.
    pub(crate) fn put(&mut self, receiver: Receiver) {
        let id = receiver.id;
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.receiver = receiver;
        } else if self.dormant.insert(id, receiver).is_none() {
            self.unseen.push_back(id);
        }
    }

    /// Lets one go; its slot, if it had one. Cost: O(log of the active ones).
    pub(crate) fn remove(&mut self, id: u128) -> Option<Slot> {
        self.dormant.remove(&id);
        self.active.remove(&id);
        self.slots.remove(&id)
    }

    /// The next dormant receivers whose outboxes nobody has looked for; they count as looked for from then on.
    pub(crate) fn next_unseen(&mut self, most: usize) -> Vec<Receiver> {
        let mut unseen = Vec::new();
        while unseen.len() < most
            && let Some(id) = self.unseen.pop_front()
        {
            unseen.extend(self.dormant.get(&id).cloned());
        }
        unseen
    }

    /// Has an outbox looked for later: it could not be read.
    pub(crate) fn see_later(&mut self, id: u128) {
        self.unseen.push_back(id);
    }

    /// How many of [`Receivers::next_unseen`] are left, at most.
    pub(crate) fn unseen(&self) -> usize {
        self.unseen.len()
    }

    /// Those of these receivers that are dormant, each once.
    pub(crate) fn dormant(&self, ids: impl Iterator<Item = u128>) -> Vec<Receiver> {
        let ids: BTreeSet<u128> = ids.filter(|id| self.dormant.contains_key(id)).collect();
        ids.iter().filter_map(|id| self.dormant.get(id)).cloned().collect()
    }

    /// All that are dormant.
    pub(crate) fn all_dormant(&self) -> Vec<Receiver> {
        self.dormant.values().cloned().collect()
    }

    /// Puts a slot in the stead of a dormant receiver.
    pub(crate) fn wake(&mut self, slot: Slot) {
        let id = slot.receiver.id;
        self.dormant.remove(&id).expect("only dormant receivers are read");
        if !slot.is_idle() {
            self.active.insert(id);
        }
        self.slots.insert(id, slot);
    }

    /// The slot of a receiver that is awake.
    pub(crate) fn slot(&self, id: u128) -> Option<&Slot> {
        self.slots.get(&id)
    }

    pub(crate) fn slot_mut(&mut self, id: u128) -> Option<&mut Slot> {
        self.slots.get_mut(&id)
    }

    pub(crate) fn slots_mut(&mut self) -> impl Iterator<Item = (u128, &mut Slot)> {
        self.slots.iter_mut().map(|(id, slot)| (*id, slot))
    }

    /// Notes that one with a slot has something to send, to load or to write.
    pub(crate) fn activate(&mut self, id: u128) {
        debug_assert!(self.slots.contains_key(&id), "a dormant receiver has nothing to do");
        self.active.insert(id);
    }

    /// The active ones, beginning behind this one and coming back to it.
    pub(crate) fn active_behind(&self, served: u128) -> Vec<u128> {
        let rest = self.active.range(..=served);
        self.active.range(served.saturating_add(1)..).chain(rest).copied().collect()
    }

    /// The slots of active ones.
    pub(crate) fn active(&self) -> impl Iterator<Item = &Slot> {
        self.active.iter().map(|id| self.slots.get(id).expect("active receivers have slots"))
    }

    /// The same, to be changed.
    pub(crate) fn each_active(&mut self, mut change: impl FnMut(&mut Slot)) {
        for id in &self.active {
            change(self.slots.get_mut(id).expect("active receivers have slots"));
        }
    }

    /// Those that have become idle are active no longer.
    pub(crate) fn rest_idle(&mut self) {
        let slots = &self.slots;
        self.active.retain(|id| !slots.get(id).expect("active receivers have slots").is_idle());
    }
}

#[cfg(test)]
mod tests {
    use store::Tenant;

    use super::*;

    fn receiver(id: u128) -> Receiver {
        Receiver { id, tenant: Tenant::default(), since: Vec::new(), is_paused: false }
    }

    #[test]
    fn each_receiver_is_looked_for_once() {
        let mut receivers = Receivers::default();
        (0..5).for_each(|id| receivers.put(receiver(id)));
        receivers.put(Receiver { is_paused: true, ..receiver(3) });
        assert_eq!(receivers.unseen(), 5, "a change is no news");
        assert!(receivers.remove(1).is_none(), "it had nothing in memory");
        let ids = |unseen: Vec<Receiver>| unseen.iter().map(|receiver| receiver.id).collect::<Vec<_>>();
        assert_eq!(ids(receivers.next_unseen(2)), [0, 2]);
        receivers.see_later(0);
        assert_eq!(ids(receivers.next_unseen(9)), [3, 4, 0]);
        assert_eq!(ids(receivers.dormant([4, 1, 4, 7].into_iter())), [4]);
        assert!(!receivers.is_empty());
    }
}
