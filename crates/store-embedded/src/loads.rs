//! The loads that are open: what committer and snapshots must know of them. What a load does is in `load.rs`.
//!
//! A load is given the number of its stamps when it begins, for its files are written with it; the commits that follow have
//! higher ones. So a row with the stamp of an open load may be newer than commits of higher numbers: that is what snapshots ask for.

use std::sync::Arc;

use parking_lot::Mutex;
use store_contract::Partition;

/// The open loads of a store.
#[derive(Debug, Default)]
pub(crate) struct Loads(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    open: Vec<Open>,
    /// The highest number that was given.
    newest: u64,
}

#[derive(Debug)]
struct Open {
    number: u64,
    partition: Partition,
    /// Whether its partition has begun a new epoch since.
    is_fenced: bool,
}

/// An open load; it is over when this is dropped.
#[derive(Debug)]
pub(crate) struct OpenLoad {
    loads: Arc<Loads>,
    number: u64,
}

impl Loads {
    /// Opens a load of a partition, whose stamps have this number.
    pub(crate) fn open(self: &Arc<Self>, number: u64, partition: Partition) -> OpenLoad {
        let mut state = self.0.lock();
        state.open.push(Open { number, partition, is_fenced: false });
        state.newest = number;
        OpenLoad { loads: Arc::clone(self), number }
    }

    /// How many are open.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().open.len()
    }

    /// The highest number that was given to one.
    pub(crate) fn newest(&self) -> u64 {
        self.0.lock().newest
    }

    /// The numbers of those that are open. Cost: a lock; of none no allocation.
    pub(crate) fn numbers(&self) -> Box<[u64]> {
        self.0.lock().open.iter().map(|open| open.number).collect()
    }

    /// Ends the epoch of the loads of a partition.
    pub(crate) fn fence(&self, partition: &Partition) {
        let mut state = self.0.lock();
        state
            .open
            .iter_mut()
            .filter(|open| open.partition == *partition)
            .for_each(|open| open.is_fenced = true);
    }
}

impl OpenLoad {
    /// The number of its stamps.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether its epoch is over.
    pub(crate) fn is_fenced(&self) -> bool {
        let state = self.loads.0.lock();
        let open = state.open.iter().find(|open| open.number == self.number);
        open.expect("a load is open until this is dropped").is_fenced
    }
}

impl Drop for OpenLoad {
    fn drop(&mut self) {
        self.loads.0.lock().open.retain(|open| open.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use store_contract::testing::things;

    use super::*;

    #[test]
    fn a_load_is_open_until_it_is_dropped_and_fenced_by_its_partition_alone() {
        let loads = Arc::new(Loads::default());
        let (one, other) = (loads.open(7, things(0)), loads.open(9, things(1)));
        loads.fence(&things(1));
        assert!(!one.is_fenced() && other.is_fenced());
        assert_eq!((&*loads.numbers(), loads.len(), loads.newest()), (&[7, 9][..], 2, 9));
        drop(other);
        assert_eq!((&*loads.numbers(), loads.len(), loads.newest()), (&[7][..], 1, 9));
    }
}
