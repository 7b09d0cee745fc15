//! A batch under construction: the engine write, and what later commits of it must know of the
//! earlier ones. Pure book-keeping; `committer.rs` writes it.
//!
//! Conditions are checked against the batch, then the cache, then the engine. Rows that are found by scans only pass
//! through: no condition names them.

mod touched;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use rocksdb::WriteBatch;

use self::touched::{Becomes, Stamped, Touched};
use super::cache::{RowRef, hash_of};
use super::failure::{engine_failed, family};
use super::format::{
    FEED, FEED_FIRST, META, Stored, damaged, hidden_key, lease_key, model_key, parse_sequence, put_plain,
    put_stamped, reader_key, space_key, space_row, write_change, write_hidden,
};
use super::loads::OpenLoad;
use super::marks::mark_key;
use super::rows::Rows;
use super::shared::{Engine, Shared};
use store_contract::feed::bytes_of;
use store_contract::fence::{epoch_of, number_of_epoch};
use store_contract::incarnation::number_of_stamp;
use store_contract::lease::Leases;
use store_contract::limits::{check_load, check_reader};
use store_contract::place::{bounds, bounds_of_tenant, is_scanned, place};
use store_contract::{
    Append, Appended, Commit, CommitWithAppends, Condition, Cursor, Epoch, Error, Lease, Model, Partition,
    Removal, Row, Stamp, Write, WriteId,
};

/// A batch ends at the request that reaches this many bytes.
pub(crate) const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
/// So many hashes are looked through one by one.
const FEW_NAMED: usize = 8;
const BATCH_BYTES_FIRST: usize = 64 * 1024;

pub(crate) struct Batch {
    shared: Arc<Shared>,
    write: WriteBatch,
    rows: Rows,
    /// The last number that was given: to a commit, or to a load for its stamps.
    sequence: u64,
    /// The last commit in the batch. What is published and stored of numbers ends here: of a load that is given up, nothing on disk
    /// has its number.
    committed: u64,
    /// The epoch that commits and appends must be of.
    epoch: Epoch,
    commits: u64,
    /// Bytes that its commits leave in the feed.
    feed_bytes: u64,
    /// Commits that say nothing, and the last of them.
    hidden: Vec<u8>,
    hidden_last: u64,
    touched: Touched,
    /// Hashes of the places that the commit in hand has asked for.
    named: Vec<u64>,
    leases: Leases,
    /// Those taken with this batch.
    taken: Vec<Lease>,
    /// Spaces and models whose rows in `meta` were written in this run.
    spaces: Box<[bool; 256]>,
    models: Box<[bool; 256]>,
    scratch: Vec<u8>,
}

/// What is known of a row when a condition is checked.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Known {
    Absent,
    /// Written by the commit of this number; zero: plain.
    Present(u64),
}

impl Batch {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            write: WriteBatch::with_capacity_bytes(BATCH_BYTES_FIRST),
            rows: Rows::default(),
            sequence: shared.sequence.load(Ordering::Acquire),
            committed: shared.sequence.load(Ordering::Acquire),
            epoch: shared.fence(),
            shared,
            commits: 0,
            feed_bytes: 0,
            hidden: Vec::new(),
            hidden_last: 0,
            touched: Touched::default(),
            named: Vec::new(),
            leases: Leases::default(),
            taken: Vec::new(),
            spaces: Box::new([false; 256]),
            models: Box::new([false; 256]),
            scratch: Vec::new(),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.write.size_in_bytes() + self.rows.bytes() + self.hidden.len()
    }

    /// The last commit in the batch.
    pub(crate) fn committed(&self) -> u64 {
        self.committed
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.write.is_empty() && self.rows.is_empty() && self.hidden.is_empty()
    }

    /// A commit, with what goes ahead of it and what it lets go.
    pub(crate) fn append_then_commit(&mut self, all: &CommitWithAppends) -> Result<Stamp, Error> {
        let stamp = self.commit(&all.appends, &all.commit)?;
        for Removal { partition, keys } in &all.lets_go {
            self.remove(partition, keys, Appended::Until(all.epoch))?;
        }
        Ok(stamp)
    }

    /// Checks a commit's conditions and takes in what goes ahead of it, its rows and its change.
    pub(crate) fn commit(&mut self, appends: &[Append], commit: &Commit) -> Result<Stamp, Error> {
        self.shared.check_takes(commit)?;
        self.named.clear();
        for condition in &commit.conditions {
            if !self.holds(&commit.partition, condition)? {
                self.shared.counters.conflicts.fetch_add(1, Ordering::Relaxed);
                return Err(condition.refusal());
            }
        }
        if self.named.len() > FEW_NAMED {
            self.named.sort_unstable();
        }
        let shared = Arc::clone(&self.shared);
        let engine = shared.engine()?;
        self.note_space(&engine, &commit.partition);
        for append in appends {
            self.take_append(&engine, append, commit.write_id);
        }
        self.sequence += 1;
        self.commits += 1;
        for write in &commit.writes {
            self.take_write(&commit.partition, commit.write_id, write);
        }
        self.tell(&engine, commit);
        Ok(shared.incarnation.stamp(self.sequence))
    }

    /// Has the feed tell of the last commit.
    fn tell(&mut self, engine: &Engine<'_>, commit: &Commit) {
        self.committed = self.sequence;
        self.feed_bytes += bytes_of(commit) as u64;
        match &commit.change {
            None => {
                write_hidden(&mut self.hidden, self.sequence, commit);
                self.hidden_last = self.sequence;
            }
            Some(record) => {
                self.note_model(engine, record.model());
                write_change(&mut self.scratch, commit, record);
                self.write.put_cf(family(engine, FEED), self.sequence.to_be_bytes(), &self.scratch);
            }
        }
    }

    /// Begins an epoch, by a commit that writes nothing.
    pub(crate) fn bump(&mut self, commit: &Commit) -> Result<Epoch, Error> {
        let stamp = self.commit(&[], commit)?;
        self.epoch = epoch_of(number_of_stamp(stamp));
        self.shared.loads.fence(&commit.partition);
        Ok(self.epoch)
    }

    /// Begins a load, which is given the next number for its stamps. What it comes to name is noted now, so that it is durable before
    /// its rows.
    pub(crate) fn open_load(&mut self, partition: Partition, epoch: Epoch) -> Result<OpenLoad, Error> {
        partition.tenant.check()?;
        check_load(&partition, self.shared.loads.len())?;
        if epoch != self.epoch {
            return Err(Condition::Fence(epoch).refusal());
        }
        let shared = Arc::clone(&self.shared);
        self.note_space(&shared.engine()?, &partition);
        self.sequence += 1;
        Ok(shared.loads.open(self.sequence, partition))
    }

    /// Notes the model whose change a load says, before its rows are there.
    pub(crate) fn note_said(&mut self, said: &Commit) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let engine = shared.engine()?;
        self.note_space(&engine, &said.partition);
        said.change.iter().for_each(|record| self.note_model(&engine, record.model()));
        Ok(())
    }

    /// Has the feed tell of a load, whose rows are there; with that its mark goes.
    pub(crate) fn tell_load(&mut self, number: u64, said: &Commit) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        self.sequence += 1;
        self.commits += 1;
        self.tell(&shared.engine()?, said);
        self.write.delete(mark_key(number));
        Ok(())
    }

    /// Takes the rows of an append in.
    pub(crate) fn append(&mut self, append: &Append, epoch: Epoch) -> Result<(), Error> {
        append.partition.tenant.check()?;
        if epoch != self.epoch {
            return Err(Condition::Fence(epoch).refusal());
        }
        let shared = Arc::clone(&self.shared);
        self.take_append(&shared.engine()?, append, WriteId::default());
        Ok(())
    }

    fn take_append(&mut self, engine: &Engine<'_>, append: &Append, write_id: WriteId) {
        let partition = &append.partition;
        self.note_space(engine, partition);
        for (key, value) in &append.rows {
            let place = place(partition, key);
            // Of the commit that follows, so that nobody takes it for older than what it goes ahead of.
            let sequence = self.sequence + 1;
            self.rows.put_with(&place, |out| put_stamped(out, sequence, write_id, value));
            let value = self.rows.tail(value.len());
            let row = Stamped { sequence, write_id, value, is_named: true };
            self.remember(key, &place, Becomes::Stamped(row));
        }
    }

    /// Takes in the removal of appended rows. Where their epochs count, nothing of the batch may lie under their keys.
    pub(crate) fn remove(
        &mut self,
        partition: &Partition,
        keys: &[Bytes],
        appended: Appended,
    ) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let engine = shared.engine()?;
        for key in keys {
            let place = place(partition, key);
            // Nobody appends keys again that are removed without a new epoch: what is there is what is meant.
            if let Appended::Before(epoch) = appended {
                let epoch = number_of_epoch(epoch);
                let stored = engine.get_pinned(&place);
                let stored = stored.map_err(|error| engine_failed(shared.path(), "read", error))?;
                let Some(bytes) = stored else { continue };
                if Stored::parse(&bytes).ok_or_else(|| damaged("a row"))?.sequence > epoch {
                    continue;
                }
            }
            self.rows.delete(&place);
            self.remember(key, &place, Becomes::Absent);
        }
        Ok(())
    }

    /// Removes all rows of a tenant. Cost: that of one range.
    pub(crate) fn erase(&mut self, tenant: u32) {
        let (start, end) = bounds_of_tenant(tenant);
        self.rows.delete_range(start, end);
    }

    /// Takes a lease.
    pub(crate) fn lease(&mut self, name: &str, ttl: Duration) -> Result<Option<Lease>, Error> {
        let (shared, key) = (Arc::clone(&self.shared), lease_key(name));
        let engine = shared.engine()?;
        let meta = family(&engine, META);
        let epoch = || match engine.get_pinned_cf(meta, &key) {
            Err(error) => Err(engine_failed(shared.path(), "read", error)),
            Ok(None) => Ok(0),
            Ok(Some(row)) => parse_sequence(&row).ok_or_else(|| damaged("a lease")),
        };
        let taken = self.leases.take(name, (shared.options.clock.steady(), ttl), epoch)?;
        if let Some(lease) = &taken {
            self.write.put_cf(meta, &key, lease.epoch().to_be_bytes());
            self.taken.push(lease.clone());
        }
        Ok(taken)
    }

    /// Renews a lease, of which nothing is stored.
    pub(crate) fn renew(&mut self, lease: &Lease, ttl: Duration) -> bool {
        self.leases.renew(lease, (self.shared.options.clock.steady(), ttl))
    }

    /// Keeps the leases that were taken with a batch that was written.
    pub(crate) fn keep_leases(&mut self) {
        self.taken.clear();
    }

    /// Gives back a lease that nobody holds.
    pub(crate) fn give_back(&mut self, lease: &Lease) {
        self.leases.end(lease);
    }

    /// Notes how far a reader of the feed has come; with no cursor of this incarnation, that there is none.
    pub(crate) fn keep_feed(&mut self, name: &str, cursors: &[Cursor]) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let engine = shared.engine()?;
        let slowest = shared.incarnation.slowest(cursors, self.committed);
        let mut log = shared.feed_log.lock();
        if slowest.is_some() {
            check_reader(name, log.readers_beside(name))?;
        }
        if !log.note_reader(name, slowest) {
            return Ok(());
        }
        let meta = family(&engine, META);
        match slowest {
            Some(sequence) => self.write.put_cf(meta, reader_key(name), sequence.to_be_bytes()),
            None => self.write.delete_cf(meta, reader_key(name)),
        }
        Ok(())
    }

    /// Adds what the feed keeps beside the changes: the commits that say nothing, a mark if one is due, and the trimming of what
    /// are no longer needed; answers with the sequence of the first change that stays, if some go.
    pub(crate) fn end_feed(&mut self) -> Option<u64> {
        let shared = Arc::clone(&self.shared);
        let engine = shared.engine().ok()?;
        let (feed, meta) = (family(&engine, FEED), family(&engine, META));
        if !self.hidden.is_empty() {
            let key = hidden_key(self.hidden_last);
            self.feed_bytes += key.len() as u64;
            self.write.put_cf(feed, key, &self.hidden);
        }
        if self.feed_bytes == 0 {
            return None;
        }
        let (now, options) = (shared.options.clock.now(), shared.options.feed);
        let mut log = shared.feed_log.lock();
        if let Some(mark) = log.add(self.feed_bytes, self.committed, now, options) {
            self.write.put_cf(meta, mark.key(), mark.row());
        }
        let gone = log.trim(now, options);
        let new_first = gone.last()?.sequence + 1;
        let first = shared.feed_first.load(Ordering::Acquire);
        for mark in &gone {
            self.write.delete_cf(meta, mark.key());
        }
        self.write.delete_range_cf(feed, first.to_be_bytes(), new_first.to_be_bytes());
        self.write.put_cf(meta, FEED_FIRST, new_first.to_be_bytes());
        // Readers see the new start before the rows go: they may refuse too early, never skip.
        shared.feed_first.store(new_first, Ordering::Release);
        Some(new_first)
    }

    /// The engine write, and how many commits it holds. The rest stays until [`Batch::clear`].
    pub(crate) fn take(&mut self) -> (WriteBatch, u64) {
        self.rows.write_to(&mut self.write);
        let capacity = self.write.size_in_bytes().clamp(BATCH_BYTES_FIRST, BATCH_BYTES_MAX);
        let write = std::mem::replace(&mut self.write, WriteBatch::with_capacity_bytes(capacity));
        (write, self.commits)
    }

    /// Puts the rows that readers may have cached in flight, before the engine shows them; `before` is what the engine says of
    /// its newest write.
    pub(crate) fn announce(&self, before: u64) {
        self.shared.cache.announce(before, self.rows.ranges(), self.touched.hashes());
    }

    /// Publishes to readers what the batch, now durable, made of rows they may have cached.
    pub(crate) fn publish(&mut self) {
        self.shared.counted.touch(&self.rows);
        let cache = &self.shared.cache;
        cache.publish_ranges(self.rows.ranges());
        for (row, place) in self.touched.drain() {
            match row.becomes {
                _ if self.rows.is_removed_since(place, row.moment) => cache.publish(row.hash, place, None),
                Becomes::Stamped(Stamped { sequence, write_id, value, is_named }) => {
                    let stamp = self.shared.incarnation.stamp(sequence);
                    let stamped = RowRef { stamp, write_id, value: self.rows.bytes_of(value) };
                    match is_named {
                        true => cache.publish(row.hash, place, Some(stamped)),
                        false => cache.renew(row.hash, place, stamped),
                    }
                }
                Becomes::Absent => cache.publish(row.hash, place, None),
                Becomes::Plain => cache.forget(row.hash, place),
            }
        }
        self.shared.sequence.store(self.committed, Ordering::Release);
        self.shared.begin_epoch(self.epoch);
    }

    /// Lets readers ask the engine what became of the rows of a batch that failed.
    pub(crate) fn retract(&mut self) {
        self.shared.counted.touch(&self.rows);
        let cache = &self.shared.cache;
        cache.publish_ranges(self.rows.ranges());
        for (row, place) in self.touched.drain() {
            cache.forget(row.hash, place);
        }
    }

    /// Makes the batch empty, whatever became of it. Leases that were not written are given back.
    pub(crate) fn clear(&mut self) {
        self.write.clear();
        self.rows.clear();
        self.epoch = self.shared.fence();
        self.commits = 0;
        self.feed_bytes = 0;
        self.hidden.clear();
        for lease in self.taken.drain(..) {
            self.leases.end(&lease);
        }
        self.touched.clear();
    }

    /// Begins again on an engine that was opened anew: of what earlier batches noted, some may not be there.
    pub(crate) fn begin_anew(&mut self) {
        self.clear();
        // No load's number is given again.
        self.committed = self.shared.sequence.load(Ordering::Acquire);
        self.sequence = self.committed.max(self.shared.loads.newest());
        *self.spaces = [false; 256];
        *self.models = [false; 256];
    }

    fn holds(&mut self, partition: &Partition, condition: &Condition) -> Result<bool, Error> {
        Ok(match condition {
            Condition::Absent(key) => self.known(partition, key)? == Known::Absent,
            Condition::Present(key) => self.known(partition, key)? != Known::Absent,
            // A plain row has no version, so no version condition holds of it.
            Condition::Version(key, stamp) => match self.shared.incarnation.sequence_of(*stamp)? {
                None => false,
                Some(sequence) => self.known(partition, key)? == Known::Present(sequence),
            },
            Condition::Fence(epoch) => *epoch == self.epoch,
        })
    }

    fn known(&mut self, partition: &Partition, key: &[u8]) -> Result<Known, Error> {
        let place = place(partition, key);
        let hash = hash_of(&place);
        self.named.push(hash);
        let row = self.touched.get(hash, &place);
        if self.rows.is_removed_since(&place, row.map_or(0, |row| row.moment)) {
            return Ok(Known::Absent);
        }
        if let Some(row) = row {
            return Ok(match &row.becomes {
                Becomes::Stamped(row) => Known::Present(row.sequence),
                Becomes::Plain => Known::Present(0),
                Becomes::Absent => Known::Absent,
            });
        }
        let known =
            |row: Option<&Row>| row.map_or(Known::Absent, |row| Known::Present(number_of_stamp(row.stamp)));
        if let Some(known) = self.shared.cache.peek(hash, &place, known) {
            return Ok(known);
        }
        self.shared.counters.cold_conditions.fetch_add(1, Ordering::Relaxed);
        let engine = self.shared.engine()?;
        let stored = engine.get_pinned(&place);
        let stored = stored.map_err(|error| engine_failed(self.shared.path(), "read", error))?;
        match stored {
            None => Ok(Known::Absent),
            Some(bytes) => {
                let stored = Stored::parse(&bytes).ok_or_else(|| damaged("a row"))?;
                Ok(Known::Present(stored.sequence))
            }
        }
    }

    fn take_write(&mut self, partition: &Partition, write_id: WriteId, write: &Write) {
        match write {
            Write::Put(key, value) => self.put_plain(partition, key, value),
            Write::PutStamped(key, value) => {
                let place = place(partition, key);
                let sequence = self.sequence;
                self.rows.put_with(&place, |out| put_stamped(out, sequence, write_id, value));
                let hash = hash_of(&place);
                let (value, is_named) = (self.rows.tail(value.len()), self.is_named(hash));
                let row = Stamped { sequence: self.sequence, write_id, value, is_named };
                self.touched.set(hash, &place, Becomes::Stamped(row), self.rows.moment());
            }
            Write::Delete(key) => {
                let place = place(partition, key);
                self.rows.delete(&place);
                self.remember(key, &place, Becomes::Absent);
            }
            Write::DeleteRange(range) => {
                let Some((start, end)) = bounds(partition, range) else { return };
                self.rows.delete_range(start, end);
            }
        }
    }

    /// Whether the commit has asked for the row of this hash.
    fn is_named(&self, hash: u64) -> bool {
        match self.named.len() {
            0..=FEW_NAMED => self.named.contains(&hash),
            _ => self.named.binary_search(&hash).is_ok(),
        }
    }

    fn put_plain(&mut self, partition: &Partition, key: &[u8], value: &[u8]) {
        let place = place(partition, key);
        self.rows.put_with(&place, |out| put_plain(out, value));
        self.remember(key, &place, Becomes::Plain);
    }

    /// Remembers what becomes of a row, unless it is found by scans only.
    fn remember(&mut self, key: &[u8], place: &[u8], becomes: Becomes) {
        if !is_scanned(key) {
            self.touched.set(hash_of(place), place, becomes, self.rows.moment());
        }
    }

    /// Stores a space's kind and name with its first rows of this run.
    fn note_space(&mut self, engine: &Engine<'_>, partition: &Partition) {
        let space = partition.space;
        if let Some(noted) = self.spaces.get_mut(usize::from(space.id)).filter(|noted| !**noted) {
            *noted = true;
            self.write.put_cf(family(engine, META), space_key(space.id), space_row(space.kind, space.name));
        }
    }

    /// Stores a model's name with its first change of this run.
    fn note_model(&mut self, engine: &Engine<'_>, model: Model) {
        if let Some(noted) = self.models.get_mut(usize::from(model.id)).filter(|noted| !**noted) {
            *noted = true;
            self.write.put_cf(family(engine, META), model_key(model.id), model.name);
        }
    }
}
