//! The feed as followers of a cluster's partitions would tell it: shards side by side, each partition in its order, nothing skipped,
//! some of it again.

use std::collections::VecDeque;

use super::Hostile;
use crate::{Change, Cursor, Error, FeedPage, Partition};
use store_contract::incarnation::{incarnation_of_cursor, number_of_cursor};
use store_contract::place::place;

/// Changes come again from at most so many commits before the cursor on.
const BACK_MAX: usize = 8;

impl Hostile {
    pub(crate) fn feed_shards(&self) -> u32 {
        self.world.options.feed_shards.max(1)
    }

    /// A page of one shard: of partitions that fall to it by their hash.
    pub(crate) fn feed(&self, shard: u32, cursor: Cursor, changes_max: usize) -> Result<FeedPage, Error> {
        let mut changes = self.told_before(shard, cursor, changes_max)?;
        let room = changes_max.saturating_sub(changes.len());
        let page = self.page(shard, cursor, room)?;
        changes.extend(page.changes);
        if self.world.roll(self.world.options.shuffled) {
            changes = self.shuffle(changes);
        }
        place_cursors(&mut changes, cursor, page.cursor);
        Ok(FeedPage { changes, cursor: page.cursor })
    }

    fn page(&self, shard: u32, cursor: Cursor, changes_max: usize) -> Result<FeedPage, Error> {
        let shards = u64::from(self.feed_shards());
        let is_of = |partition: &Partition| {
            xxhash_rust::xxh3::xxh3_64(&place(partition, &[])) % shards == u64::from(shard)
        };
        self.world.memory.feed(cursor, changes_max, is_of)
    }

    /// What a reader has seen of one shard: each has its own place in all.
    pub(crate) fn keep_feed(&self, reader: &str, shard: u32, cursors: &[Cursor]) -> Result<(), Error> {
        self.world.memory.keep_feed(&format!("{reader}/{shard}"), cursors)
    }

    /// Some of the last changes before the cursor, now and then, with room for one more.
    fn told_before(&self, shard: u32, cursor: Cursor, changes_max: usize) -> Result<Vec<Change>, Error> {
        let world = &self.world;
        let back = 1 + world.below(BACK_MAX) as u64;
        if changes_max < 2 || !world.roll(world.options.twice) || number_of_cursor(cursor) < back {
            return Ok(Vec::new());
        }
        let from = incarnation_of_cursor(cursor).cursor(number_of_cursor(cursor) - back);
        match self.page(shard, from, BACK_MAX) {
            Ok(FeedPage { mut changes, .. }) => {
                changes.retain(|change| change.number <= number_of_cursor(cursor));
                let surplus = changes.len().saturating_sub(changes_max - 1);
                changes.drain(..surplus);
                Ok(changes)
            }
            // It is no longer stored; what is wrong with the cursor itself is said to whoever reads on from it.
            Err(_) => Ok(Vec::new()),
        }
    }

    /// The changes of each partition in their order, those of several in any.
    fn shuffle(&self, changes: Vec<Change>) -> Vec<Change> {
        let mut partitions: Vec<VecDeque<Change>> = Vec::new();
        let mut shuffled = Vec::with_capacity(changes.len());
        for change in changes {
            let is_its = |queue: &&mut VecDeque<Change>| {
                queue.front().is_some_and(|first| first.partition == change.partition)
            };
            match partitions.iter_mut().find(is_its) {
                Some(queue) => queue.push_back(change),
                None => partitions.push(VecDeque::from([change])),
            }
        }
        while !partitions.is_empty() {
            let place = self.world.below(partitions.len());
            let Some(queue) = partitions.get_mut(place) else { continue };
            shuffled.extend(queue.pop_front());
            if queue.is_empty() {
                partitions.swap_remove(place);
            }
        }
        shuffled
    }
}

/// Gives each change the newest cursor behind which nothing lies that comes later in the page.
fn place_cursors(changes: &mut [Change], asked: Cursor, end: Cursor) {
    let newest = changes.iter().map(|change| change.number).max().unwrap_or(0);
    let asked = number_of_cursor(asked);
    let mut upto = newest.max(asked);
    for change in changes.iter_mut().rev() {
        change.cursor = incarnation_of_cursor(end).cursor(upto);
        upto = upto.min((change.number - 1).max(asked));
    }
}
