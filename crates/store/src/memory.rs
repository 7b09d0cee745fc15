//! The engine in memory: the reference of the contract, for tests and for `--store memory`.
//! Nothing outlives the process.

mod loads;
mod snapshot;
mod state;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::Bound;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::RwLock;

pub(crate) use self::loads::MemoryLoad;
use self::snapshot::Snapshots;
pub(crate) use self::snapshot::{MemorySnapshot, scan_many};
use crate::{
    Append, Appended, Change, ChangeRecord, Clock, Commit, CommitWithAppends, Condition, Cursor, Direction,
    Epoch, Error, ErrorKind, FeedOptions, FeedPage, Lease, Limits, Outcome, Page, Partition, Range, Row,
    Skipped, Stamp, Statistics, Timestamp, WriteId,
};
use store_contract::PAGE_BYTES_MAX;
use store_contract::feed::bytes_of;
use store_contract::fence::{epoch_of, number_of_epoch};
use store_contract::incarnation::{Incarnation, number_of_stamp};
use store_contract::lease::Leases;
use store_contract::limits::{
    FEED_PAGE_BYTES_MAX, SKIP_ROWS_MAX, check_append, check_commit, check_reader, check_removal,
};
use store_contract::place::{PlaceBytes, bounds, bounds_of_tenant, head_bytes, place};
use store_contract::register::{Models, Spaces};

/// Rows of a removed tenant that go at once.
const ERASED_ROWS: usize = 4_096;

/// How the memory engine runs.
#[derive(Clone, Debug)]
pub struct MemoryOptions {
    /// What tells leases the time.
    pub clock: Clock,
    /// What the feed keeps.
    pub feed: FeedOptions,
}

/// A commit in the feed.
#[derive(Debug)]
struct Recorded {
    number: u64,
    partition: Partition,
    write_id: WriteId,
    record: Option<ChangeRecord>,
    bytes: u64,
    at: Timestamp,
}

/// The engine; everything behind one lock, which each call takes once.
#[derive(Debug)]
pub(crate) struct Memory {
    options: MemoryOptions,
    incarnation: Incarnation,
    spaces: Spaces,
    models: Models,
    state: RwLock<State>,
    /// Whether snapshots are validated: what a later commit replaces is gone, and reads end with `Changed`.
    validates: bool,
    limits: Limits,
}

#[derive(Debug, Default)]
struct State {
    rows: BTreeMap<PlaceBytes, Row>,
    /// In which epoch a row of an append space was put.
    appended: HashMap<PlaceBytes, Epoch>,
    /// Before which epoch what is appended to a row is gone already: of an engine in which appends may come late.
    removed: HashMap<PlaceBytes, u64>,
    /// The epochs of partitions that have begun one.
    epochs: HashMap<Partition, Epoch>,
    snapshots: Snapshots,
    /// How often each partition was written, if snapshots are validated.
    versions: HashMap<Partition, u64>,
    feed: VecDeque<Recorded>,
    feed_bytes: u64,
    /// The last commit that each registered reader has seen.
    readers: BTreeMap<Box<str>, u64>,
    leases: Leases,
    /// Loads that are open.
    loads: usize,
    /// Tenants that were removed: nothing is written or read of them.
    ended: HashSet<u32>,
    sequence: u64,
    commits: u64,
    conflicts: u64,
    closed: bool,
}

impl Memory {
    pub(crate) fn new(options: MemoryOptions) -> Self {
        Self {
            options,
            incarnation: Incarnation::new(),
            spaces: Spaces::new(),
            models: Models::new(),
            state: RwLock::default(),
            validates: false,
            limits: Limits::EMBEDDED,
        }
    }

    /// The same as one that cannot keep what was: its snapshots are validated.
    pub(crate) fn validating(self) -> Self {
        Self { validates: true, ..self }
    }

    /// The same with other limits.
    pub(crate) fn limited(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    pub(crate) fn check_open(&self) -> Result<(), Error> {
        self.state.read().open()
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Notes that rows of a partition are written.
    fn note_write(&self, state: &mut State, partition: &Partition) {
        if self.validates {
            *state.versions.entry(partition.clone()).or_default() += 1;
        }
    }

    pub(crate) fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<Stamp, Error>> {
        let mut state = self.state.write();
        commits.into_iter().map(|commit| self.commit(&mut state, &[], commit)).collect()
    }

    pub(crate) fn append_then_commit_all(
        &self,
        commits: Vec<CommitWithAppends>,
    ) -> Vec<Result<Stamp, Error>> {
        let mut state = self.state.write();
        let commit = |mut it: CommitWithAppends| {
            it.prepare(&self.limits)?;
            for append in &it.appends {
                self.spaces.learn(append.partition.space)?;
            }
            self.commit(&mut state, &it.appends, it.commit)
        };
        commits.into_iter().map(commit).collect()
    }

    /// A commit, and what goes ahead of it, for which everything is checked.
    fn commit(&self, state: &mut State, appends: &[Append], mut commit: Commit) -> Result<Stamp, Error> {
        state.open()?;
        check_commit(&mut commit, &self.limits)?;
        state.check(&commit.partition)?;
        self.spaces.learn(commit.partition.space)?;
        commit.change.as_ref().map_or(Ok(()), |record| self.models.learn(record.model()))?;
        let partition = &commit.partition;
        for condition in &commit.conditions {
            if !self.holds(state, partition, condition)? {
                state.conflicts += 1;
                return Err(condition.refusal());
            }
        }
        for append in appends {
            self.note_write(state, &append.partition);
            state.append(append, state.epoch(partition));
        }
        self.note_write(state, partition);
        state.sequence += 1;
        let stamp = self.incarnation.stamp(state.sequence);
        let bytes = bytes_of(&commit) as u64;
        for write in commit.writes {
            state.write(partition, stamp, commit.write_id, write);
        }
        let Commit { partition, write_id, change, .. } = commit;
        let (number, at) = (state.sequence, self.options.clock.now());
        let recorded = Recorded { number, partition, write_id, record: change, bytes, at };
        state.record(recorded, self.options.feed);
        state.commits += 1;
        Ok(stamp)
    }

    fn holds(&self, state: &State, partition: &Partition, condition: &Condition) -> Result<bool, Error> {
        let row = |key: &[u8]| state.rows.get(&place(partition, key));
        Ok(match condition {
            Condition::Absent(key) => row(key).is_none(),
            Condition::Present(key) => row(key).is_some(),
            // A plain row has no version, so no version condition holds of it.
            Condition::Version(key, stamp) => {
                let is_ours = self.incarnation.sequence_of(*stamp)?.is_some();
                is_ours && row(key).is_some_and(|row| row.stamp == *stamp)
            }
            Condition::Fence(epoch) => *epoch == state.epoch(partition),
        })
    }

    pub(crate) fn fence(&self, partition: &Partition) -> Epoch {
        self.state.read().epoch(partition)
    }

    pub(crate) fn bump(&self, partition: &Partition, seen: Vec<Condition>) -> Result<Epoch, Error> {
        let mut state = self.state.write();
        let stamp = self.commit(&mut state, &[], Commit::of_bump(partition, seen))?;
        let epoch = epoch_of(number_of_stamp(stamp));
        state.epochs.insert(partition.clone(), epoch);
        Ok(epoch)
    }

    pub(crate) fn append(&self, append: &Append, epoch: Epoch) -> Result<(), Error> {
        check_append(&append.partition, &append.rows, &self.limits)?;
        self.spaces.learn(append.partition.space)?;
        let mut state = self.state.write();
        state.check(&append.partition)?;
        self.note_write(&mut state, &append.partition);
        state.append(append, epoch);
        Ok(())
    }

    pub(crate) fn remove(
        &self,
        partition: &Partition,
        keys: &[Bytes],
        appended: Appended,
    ) -> Result<(), Error> {
        check_removal(partition, keys, &self.limits)?;
        self.spaces.learn(partition.space)?;
        let mut state = self.state.write();
        state.check(partition)?;
        self.note_write(&mut state, partition);
        let before = match appended {
            Appended::Before(epoch) => number_of_epoch(epoch),
            Appended::Until(epoch) => number_of_epoch(epoch).saturating_add(1),
        };
        for key in keys {
            let place = place(partition, key);
            state.remove(&place, before);
            if self.validates {
                let bound = state.removed.entry(place).or_default();
                *bound = before.max(*bound);
            }
        }
        Ok(())
    }

    pub(crate) fn get(&self, partition: &Partition, key: &[u8]) -> Result<Option<Row>, Error> {
        let state = self.state.read();
        state.check(partition)?;
        Ok(state.rows.get(&place(partition, key)).cloned())
    }

    pub(crate) fn scan(
        &self,
        partition: &Partition,
        range: &Range,
        direction: Direction,
        rows_max: usize,
    ) -> Result<Page, Error> {
        let state = self.state.read();
        state.check(partition)?;
        let mut page = Page::default();
        let Some((start, end)) = bounds(partition, range) else {
            return Ok(page);
        };
        let rows = state.rows.range::<[u8], _>((Bound::Included(&start[..]), Bound::Excluded(&end[..])));
        let head = head_bytes(partition);
        match direction {
            Direction::Forward => fill(&mut page, head, rows, rows_max),
            Direction::Backward => fill(&mut page, head, rows.rev(), rows_max),
        }
        Ok(page)
    }

    /// The bytes of keys and values of ranges.
    pub(crate) fn sizes(&self, partition: &Partition, ranges: &[Range]) -> Result<Vec<u64>, Error> {
        let state = self.state.read();
        state.check(partition)?;
        let size = |range: &Range| {
            let (start, end) = bounds(partition, range)?;
            let rows = state.rows.range::<[u8], _>((Bound::Included(&start[..]), Bound::Excluded(&end[..])));
            let bytes: usize = rows.map(|(place, row)| place.len() + row.value.len()).sum();
            u64::try_from(bytes).ok()
        };
        Ok(ranges.iter().map(|range| size(range).unwrap_or(0)).collect())
    }

    pub(crate) fn skip(
        &self,
        partition: &Partition,
        range: &Range,
        from: &[u8],
        rows_max: usize,
    ) -> Result<Skipped, Error> {
        let state = self.state.read();
        state.check(partition)?;
        let Some((start, end)) = bounds(partition, range) else {
            return Ok(Skipped::default());
        };
        let start = place(partition, from).max(start);
        if start >= end {
            return Ok(Skipped::default());
        }
        let mut rows = state.rows.range::<[u8], _>((Bound::Included(&start[..]), Bound::Excluded(&end[..])));
        let passed = rows.by_ref().take(rows_max.min(SKIP_ROWS_MAX)).count();
        let head = head_bytes(partition);
        let key = |place: &PlaceBytes| {
            Bytes::copy_from_slice(place.get(head..).expect("a place of this partition"))
        };
        Ok(Skipped { rows: passed, next: rows.next().map(|(place, _)| key(place)) })
    }

    pub(crate) fn resolve(&self, partition: &Partition, write_id: WriteId) -> Result<Outcome, Error> {
        let state = self.state.read();
        state.check(partition)?;
        let mut newest = state.feed.iter().rev();
        let found = newest.find(|it| it.write_id == write_id && it.partition == *partition);
        match found {
            Some(recorded) => Ok(Outcome::Committed(self.incarnation.stamp(recorded.number))),
            None if state.feed_first() <= 1 => Ok(Outcome::NotCommitted),
            None => {
                Err(Error::new(ErrorKind::Unknown, "resolve a write: the feed does not reach back so far"))
            }
        }
    }

    /// A page of what happened in the partitions that are wanted.
    pub(crate) fn feed(
        &self,
        cursor: Cursor,
        changes_max: usize,
        is_wanted: impl Fn(&Partition) -> bool,
    ) -> Result<FeedPage, Error> {
        let state = self.state.read();
        state.open()?;
        let first = state.feed_first();
        let next = self.incarnation.seen_by(cursor, state.sequence)?.saturating_add(1);
        if next < first {
            return Err(Error::new(
                ErrorKind::TooLarge,
                "read the feed: the cursor is older than the oldest change that is stored",
            ));
        }
        let skip = usize::try_from(next - first).unwrap_or(usize::MAX);
        let (mut changes, mut bytes, mut looked_upto) = (Vec::new(), 0, next - 1);
        let mut upto = state.sequence;
        for Recorded { number, partition, write_id, record, .. } in state.feed.iter().skip(skip) {
            if changes.len() >= changes_max || bytes >= FEED_PAGE_BYTES_MAX {
                upto = looked_upto;
                break;
            }
            looked_upto = *number;
            let is_told = is_wanted(partition) && state.ended_of(partition).is_none();
            let Some(record) = record.as_ref().filter(|_| is_told) else { continue };
            bytes += record.bytes();
            changes.push(Change {
                cursor: self.incarnation.cursor(*number),
                number: *number,
                partition: partition.clone(),
                write_id: *write_id,
                record: record.clone(),
            });
        }
        Ok(FeedPage { changes, cursor: self.incarnation.cursor(upto) })
    }

    pub(crate) fn keep_feed(&self, reader: &str, cursors: &[Cursor]) -> Result<(), Error> {
        let mut state = self.state.write();
        state.open()?;
        match self.incarnation.slowest(cursors, state.sequence) {
            Some(sequence) => {
                let others = state.readers.len() - usize::from(state.readers.contains_key(reader));
                check_reader(reader, others)?;
                state.readers.insert(reader.into(), sequence);
            }
            None => drop(state.readers.remove(reader)),
        }
        Ok(())
    }

    pub(crate) fn feed_end(&self) -> Cursor {
        self.incarnation.cursor(self.state.read().sequence)
    }

    pub(crate) fn adopt_cursor(&self, cursor: Cursor) -> Cursor {
        self.incarnation.adopt(cursor, self.state.read().sequence)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.options.clock.now()
    }

    pub(crate) fn end_tenant(&self, number: u32) {
        self.state.write().ended.insert(number);
    }

    /// Removes some rows of a tenant that has ended; whether there may be more.
    pub(crate) fn erase_tenant(&self, number: u32) -> Result<bool, Error> {
        let mut state = self.state.write();
        state.open()?;
        let (start, end) = bounds_of_tenant(number);
        let range = (Bound::Included(&start[..]), Bound::Excluded(&end[..]));
        let gone = state.rows.range::<[u8], _>(range).take(ERASED_ROWS).map(|(place, _)| place.clone());
        let gone: Vec<PlaceBytes> = gone.collect();
        for place in &gone {
            state.rows.remove(place);
        }
        state.versions.retain(|partition, _| partition.tenant.number() != number);
        state.epochs.retain(|partition, _| partition.tenant.number() != number);
        Ok(gone.len() == ERASED_ROWS)
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn count_tenant_rows(&self, number: u32) -> usize {
        let (start, end) = bounds_of_tenant(number);
        self.state
            .read()
            .rows
            .range::<[u8], _>((Bound::Included(&start[..]), Bound::Excluded(&end[..])))
            .count()
    }

    pub(crate) fn lease(&self, name: &str, ttl: Duration) -> Result<Option<Lease>, Error> {
        let mut state = self.state.write();
        state.open()?;
        state.leases.take(name, (self.options.clock.steady(), ttl), || Ok(0))
    }

    pub(crate) fn renew(&self, lease: &Lease, ttl: Duration) -> Result<bool, Error> {
        let mut state = self.state.write();
        state.open()?;
        Ok(state.leases.renew(lease, (self.options.clock.steady(), ttl)))
    }

    pub(crate) fn close(&self) {
        self.state.write().closed = true;
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let state = self.state.read();
        Statistics {
            commits: state.commits,
            conflicts: state.conflicts,
            batches: state.commits,
            sequence: state.sequence,
            is_writable: !state.closed,
            ..Statistics::default()
        }
    }
}

fn fill<'a>(
    page: &mut Page,
    head: usize,
    rows: impl Iterator<Item = (&'a PlaceBytes, &'a Row)>,
    rows_max: usize,
) {
    for (place, row) in rows {
        if page.len() >= rows_max || page.bytes() >= PAGE_BYTES_MAX {
            page.set_more(true);
            return;
        }
        page.push(place.get(head..).expect("a place of this partition"), &row.value);
    }
}

#[cfg(test)]
mod tests {
    use super::MemoryOptions;
    use crate::{Clock, Store, testing};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn keeps_the_contract() {
        let make = |clock| Store::memory(MemoryOptions { clock, feed: testing::FEED });
        testing::contract(make).await;
    }

    #[tokio::test]
    async fn a_validated_read_ends_with_a_commit_in_its_partition() {
        let options = MemoryOptions { clock: Clock::System, feed: testing::FEED };
        testing::check_validated(&Store::validated_memory(options)).await;
    }
}
