//! The engine in memory as the worst that the contract allows, for tests of models: what they get right here, they get right
//! on a cluster.
//!
//! - What a handle has read of a row it may tell again, though another has written it since ([`crate::Store::get`]).
//! - The outcome of a commit may be unknown: it was carried out and nobody said so; or it is carried out later, at the latest
//!   when it is resolved; or never.
//! - What goes ahead of a commit is appended row by row, and seen before it; some of it is appended, or removed, once more
//!   later; the commit may never follow. An epoch that another handle began is known late.
//! - What is loaded is seen piece by piece, and the loader may come no further ([`loads`]).
//! - Commits submitted together keep their order inside a partition only.
//! - The feed has several shards. One shard tells what happened in several partitions in another order than it happened, that of
//!   each partition stays; and a page may repeat earlier changes ([`feed`]).
//! - Leases are lost before their time, and then given to another, or to two ([`leases`]).
//! - A read of many ranges leaves some of them to the next call.
//! - A call lets others go on first, so tasks of one thread meet in any order, and each seed gives another.
//! - Nothing is cached; reads of several pages are validated; limits are the portable ones.
//!
//! Faults come by a generator with a seed: one task that does the same meets the same.

mod appends;
mod feed;
mod leases;
mod loads;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

pub(crate) use self::loads::HostileLoad;
use crate::memory::{Memory, MemoryOptions};
use crate::{
    Append, Appended, Commit, Condition, Epoch, Error, ErrorKind, Lease, Limits, Outcome, Partition, Row,
    Stamp, Write, WriteId,
};
use store_contract::Ticket;
use store_contract::limits::check_commit;
use store_contract::place::{PlaceBytes, bounds, place};

/// More rows are not remembered, so that tests with many stay small.
const ROWS_SEEN_MAX: usize = 10_000;
const PER_MILLE: u64 = 1_000;

/// How hostile an engine is. Chances are in thousandths.
#[derive(Clone, Debug)]
pub struct HostileOptions {
    /// What it has of the engine in memory.
    pub memory: MemoryOptions,
    /// What faults come when.
    pub seed: u64,
    /// Shards of the feed; a power of two.
    pub feed_shards: u32,
    /// The chance that a row is answered as this handle read it last.
    pub stale: u64,
    /// The chance that a commit was decided and nobody says how.
    pub lost: u64,
    /// The chance that a commit is under way, and nobody knows whether it will be carried out.
    pub late: u64,
    /// The chance that a page of the feed tells the changes of its partitions in another order.
    pub shuffled: u64,
    /// The chance that a page of the feed begins with changes of the page before.
    pub twice: u64,
    /// The chance that a lease is given though another holds it; and that a holder that renews it has lost it.
    pub unleased: u64,
    /// The chance that a call lets others go on before it does something, and once more.
    pub paused: u64,
}

impl HostileOptions {
    /// Every fault, often enough that a test of some hundred steps meets each.
    pub fn new(memory: MemoryOptions, seed: u64) -> Self {
        Self {
            memory,
            seed,
            feed_shards: 4,
            stale: 500,
            lost: 40,
            late: 40,
            shuffled: 500,
            twice: 300,
            unleased: 100,
            paused: 300,
        }
    }

    /// None that comes by chance.
    pub fn calm(memory: MemoryOptions) -> Self {
        let never = 0;
        Self {
            stale: never,
            lost: never,
            late: never,
            shuffled: never,
            twice: never,
            unleased: never,
            paused: never,
            ..Self::new(memory, 0)
        }
    }
}

/// One process's handle: what it has read.
#[derive(Debug)]
pub(crate) struct Hostile {
    world: Arc<World>,
    seen: Mutex<HashMap<PlaceBytes, Option<Row>>>,
    epochs: Mutex<HashMap<Partition, Epoch>>,
}

/// What all handles share.
#[derive(Debug)]
struct World {
    memory: Arc<Memory>,
    options: HostileOptions,
    dice: Mutex<Dice>,
    late: Mutex<Vec<Late>>,
    /// What became of commits that were not acknowledged, by their tickets.
    decided: Mutex<HashMap<Ticket, Decided>>,
    /// By its name, who was given a lease last.
    holders: Mutex<HashMap<Box<str>, Lease>>,
    /// Leases that were taken from their holders, who do not know it.
    phantoms: Mutex<Vec<Lease>>,
}

/// What is under way, and nobody knows when it is carried out.
#[derive(Debug)]
enum Late {
    /// It may be given up, too.
    Commit(Ticket, Commit),
    Append(Append, Epoch),
    Remove(Partition, Vec<Bytes>, Appended),
}

/// Which commit, and its stamp if it was carried out.
#[derive(Debug)]
struct Decided {
    write_id: WriteId,
    stamp: Option<Stamp>,
}

/// A small generator (splitmix64).
#[derive(Debug)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }
}

impl World {
    /// A number below `bound`, or 0.
    fn below(&self, bound: usize) -> usize {
        let bound = bound.max(1) as u64;
        usize::try_from(self.dice.lock().next() % bound).expect("less than a usize")
    }

    fn roll(&self, chance: u64) -> bool {
        chance > 0 && self.dice.lock().next() % PER_MILLE < chance
    }

    /// Carries out a commit that is under way, now and then.
    fn stir(&self) {
        if self.late.lock().is_empty() || !self.roll(PER_MILLE / 4) {
            return;
        }
        let mut late = self.late.lock();
        let place = self.below(late.len());
        if place < late.len() {
            let one = late.swap_remove(place);
            // Whatever becomes of it is not acknowledged.
            match one {
                Late::Commit(ticket, commit) => drop(self.carry_out(ticket, commit)),
                Late::Append(append, epoch) => drop(self.memory.append(&append, epoch)),
                Late::Remove(partition, keys, appended) => {
                    drop(self.memory.remove(&partition, &keys, appended));
                }
            }
        }
    }

    /// A commit whose outcome may be asked for.
    fn carry_out(&self, ticket: Ticket, commit: Commit) -> Result<Stamp, Error> {
        let write_id = commit.write_id;
        let outcome = self.memory.commit_all(vec![commit]).pop();
        let outcome = outcome.unwrap_or_else(|| Err(self.unknown(write_id, None)));
        let stamp = outcome.as_ref().ok().copied();
        self.decided.lock().insert(ticket, Decided { write_id, stamp });
        outcome
    }

    fn ticket(&self) -> Ticket {
        Ticket(self.dice.lock().next())
    }

    /// Says that nobody knows what became of a commit; `decided`: what did, if that is for good.
    #[expect(clippy::option_option, reason = "what is known, and what it is")]
    fn unknown(&self, write_id: WriteId, decided: Option<Option<Stamp>>) -> Error {
        let ticket = self.ticket();
        if let Some(stamp) = decided {
            self.decided.lock().insert(ticket, Decided { write_id, stamp });
        }
        self.with_ticket(ticket)
    }

    /// Some errors have no ticket.
    fn with_ticket(&self, ticket: Ticket) -> Error {
        let error = Error::new(ErrorKind::Unknown, "commit: nobody said what became of it");
        if self.roll(PER_MILLE / 2) { error.with_ticket(ticket) } else { error }
    }
}

impl Hostile {
    pub(crate) fn new(options: HostileOptions) -> Self {
        let memory = Memory::new(options.memory.clone()).validating().limited(Limits::PORTABLE);
        let (memory, dice) = (Arc::new(memory), Mutex::new(Dice(options.seed)));
        let (late, holders, phantoms) = (Mutex::default(), Mutex::default(), Mutex::default());
        let world = World { memory, options, dice, late, decided: Mutex::default(), holders, phantoms };
        Self { world: Arc::new(world), seen: Mutex::default(), epochs: Mutex::default() }
    }

    /// The handle of another process.
    pub(crate) fn beside(&self) -> Self {
        Self { world: Arc::clone(&self.world), seen: Mutex::default(), epochs: Mutex::default() }
    }

    /// Lets others go on, now and then.
    pub(crate) async fn pause(&self) {
        while self.world.roll(self.world.options.paused) {
            tokio::task::yield_now().await;
        }
    }

    /// Whether a read of many ranges leaves those that are left to the next call.
    pub(crate) fn leaves_ranges(&self) -> bool {
        self.world.roll(self.world.options.paused)
    }

    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.world.memory
    }

    pub(crate) fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<Stamp, Error>> {
        let order = self.order(commits.iter().map(|commit| &commit.partition));
        let mut commits: Vec<Option<Commit>> = commits.into_iter().map(Some).collect();
        let mut outcomes: Vec<Option<Result<Stamp, Error>>> = commits.iter().map(|_| None).collect();
        for place in order {
            let commit = commits.get_mut(place).and_then(Option::take);
            if let Some((commit, outcome)) = commit.zip(outcomes.get_mut(place)) {
                *outcome = Some(self.commit(commit));
            }
        }
        let lost = || Err(self.world.unknown(WriteId::default(), None));
        outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(lost)).collect()
    }

    /// In which order commits are carried out that were submitted together: that inside a partition stays.
    fn order<'a>(&self, partitions: impl Iterator<Item = &'a Partition>) -> Vec<usize> {
        let mut order: Vec<(u64, usize)> = Vec::new();
        let mut ranks: HashMap<&Partition, u64> = HashMap::new();
        for (place, partition) in partitions.enumerate() {
            let rank = ranks.entry(partition).or_insert_with(|| self.world.dice.lock().next());
            order.push((*rank, place));
        }
        order.sort_unstable();
        order.into_iter().map(|(_, place)| place).collect()
    }

    pub(crate) fn commit(&self, mut commit: Commit) -> Result<Stamp, Error> {
        let world = &self.world;
        world.stir();
        world.memory.check_open()?;
        check_commit(&mut commit, &Limits::PORTABLE)?;
        // What it names and writes is read anew: a refusal, or a doubt, is never thought again on the same rows.
        self.forget(&commit.partition, &commit.conditions, &commit.writes);
        let ticket = world.ticket();
        if world.roll(world.options.late) {
            world.late.lock().push(Late::Commit(ticket, commit));
            return Err(world.with_ticket(ticket));
        }
        let outcome = world.carry_out(ticket, commit);
        if world.roll(world.options.lost) {
            return Err(world.with_ticket(ticket));
        }
        world.decided.lock().remove(&ticket);
        outcome
    }

    fn forget_rows(&self, partition: &Partition, keys: &[Bytes]) {
        let mut seen = self.seen.lock();
        for key in keys {
            seen.remove(&place(partition, key));
        }
    }

    fn forget(&self, partition: &Partition, conditions: &[Condition], writes: &[Write]) {
        self.epochs.lock().remove(partition);
        let mut seen = self.seen.lock();
        for key in conditions.iter().filter_map(Condition::key) {
            seen.remove(&place(partition, key));
        }
        for write in writes {
            match write {
                Write::Put(key, _) | Write::PutStamped(key, _) | Write::Delete(key) => {
                    seen.remove(&place(partition, key));
                }
                Write::DeleteRange(range) => {
                    if let Some((start, end)) = bounds(partition, range) {
                        seen.retain(|place, _| *place < start || *place >= end);
                    }
                }
            }
        }
    }

    pub(crate) fn get(&self, partition: &Partition, key: &[u8]) -> Result<Option<Row>, Error> {
        self.world.memory.check_open()?;
        let seen = self.seen.lock().get(&place(partition, key)).cloned();
        match seen.filter(|_| self.world.roll(self.world.options.stale)) {
            Some(row) => Ok(row),
            None => self.get_linear(partition, key),
        }
    }

    pub(crate) fn get_linear(&self, partition: &Partition, key: &[u8]) -> Result<Option<Row>, Error> {
        self.world.stir();
        // Under the lock, so that no older row comes in after a newer one.
        let mut seen = self.seen.lock();
        let row = self.world.memory.get(partition, key)?;
        if seen.len() >= ROWS_SEEN_MAX {
            seen.clear();
        }
        seen.insert(place(partition, key), row.clone());
        Ok(row)
    }

    pub(crate) fn get_many(&self, partition: &Partition, keys: &[Bytes]) -> Result<Vec<Option<Row>>, Error> {
        keys.iter().map(|key| self.get(partition, key)).collect()
    }

    pub(crate) fn resolve(
        &self,
        partition: &Partition,
        write_id: WriteId,
        ticket: Option<Ticket>,
    ) -> Result<Outcome, Error> {
        let world = &self.world;
        let outcome = |stamp: Option<Stamp>| stamp.map_or(Outcome::NotCommitted, Outcome::Committed);
        if let Some(decided) = ticket.and_then(|ticket| world.decided.lock().remove(&ticket)) {
            assert_eq!(decided.write_id, write_id, "a ticket of another commit");
            return Ok(outcome(decided.stamp));
        }
        let mut late = world.late.lock();
        let is_it = |late: &Late| match late {
            Late::Commit(_, commit) => commit.write_id == write_id && commit.partition == *partition,
            Late::Append(..) | Late::Remove(..) => false,
        };
        let found = late.iter().position(is_it).map(|place| late.swap_remove(place));
        drop(late);
        let Some(Late::Commit(_, commit)) = found else {
            return world.memory.resolve(partition, write_id);
        };
        if world.roll(PER_MILLE / 2)
            && let Some(Ok(stamp)) = world.memory.commit_all(vec![commit]).pop()
        {
            return Ok(Outcome::Committed(stamp));
        }
        Ok(Outcome::NotCommitted)
    }
}

#[cfg(test)]
mod tests;
