//! Candidates in id order: pages of index rows, read side by side and merged over ranges and buckets.
//!
//! Ids are spread evenly over buckets, so all streams reach the ends of their pages at about the same time: when one has, the next
//! pages of those that soon will are read along with its own.

mod heap;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use entity::{Error, keys};
use futures_util::future::try_join_all;
use store::{Direction, Page, Partition, Range, Store};

use crate::tenant::{BUCKETS_AT_ONCE, TenantState};
use heap::Heap;

/// Pages grow up to so many rows.
const PAGE_ROWS_MAX: usize = 512;

/// One range of rows in id order, read page by page.
#[derive(Debug)]
struct Stream {
    partition: usize,
    /// What is not read yet.
    range: Range,
    page: Page,
    at: usize,
    /// The page behind, if it was read ahead.
    ahead: Option<Page>,
    /// Whether the range may hold rows behind those that were read.
    open: bool,
    rows: usize,
    /// The whole range, where entities move, and how many bytes of its keys come before the id, once one was seen.
    whole: Option<Range>,
    before_id: Option<usize>,
}

impl Stream {
    /// The id at which it stands.
    fn id(&self) -> Option<&[u8]> {
        let (key, _) = self.page.row(self.at)?;
        Some(keys::id_bytes_of_key(key).unwrap_or_default())
    }

    fn is_starved(&self) -> bool {
        self.open && self.at >= self.page.len()
    }

    /// Whether it will soon be starved: half of its page is behind it.
    fn is_draining(&self) -> bool {
        self.open && self.ahead.is_none() && self.at >= self.page.len() / 2
    }

    /// Goes behind the row at which it stands.
    fn advance(&mut self) {
        self.at += 1;
        if self.at >= self.page.len()
            && let Some(ahead) = self.ahead.take()
        {
            (self.page, self.at) = (ahead, 0);
        }
    }

    /// Forgets the page, to read on behind an id.
    fn rewind(&mut self, last: &[u8]) {
        let Some(whole) = &self.whole else { return };
        // Keys of one range are alike before the id.
        let before = self.before_id.filter(|_| !last.is_empty()).and_then(|length| whole.start.get(..length));
        let start = before.map_or(Bytes::new(), |before| [before, last].concat().into());
        self.range = Range { start: whole.start.clone().max(start), end: whole.end.clone() };
        (self.page, self.at, self.ahead, self.open) = (Page::default(), 0, None, true);
    }

    /// Passes over the ids up to this one.
    fn pass(&mut self, last: &[u8]) {
        while self.id().is_some_and(|id| id <= last) {
            self.advance();
        }
    }

    /// Reads the next page: ahead, if it is not starved.
    async fn fill(&mut self, store: &Store, partitions: &[Partition]) -> Result<(), Error> {
        let Some(partition) = partitions.get(self.partition) else {
            self.open = false;
            return Ok(());
        };
        let page = store.scan(partition, &self.range, Direction::Forward, self.rows).await?;
        self.open = page.more();
        if let Some(last) = page.last_key().filter(|_| self.open) {
            self.range = self.range.after_key(last);
        }
        if self.whole.is_some()
            && let Some(key) = page.last_key()
        {
            self.before_id = keys::id_bytes_of_key(key).map(|id| key.len() - id.len());
        }
        match self.at < self.page.len() {
            true => self.ahead = Some(page),
            false => (self.page, self.at) = (page, 0),
        }
        self.rows = (self.rows * 2).min(PAGE_ROWS_MAX);
        Ok(())
    }
}

/// Several streams as one, each id once.
///
/// Invariant: unless it is starved, the heap holds each stream that stands at an id.
#[derive(Debug)]
pub(crate) struct Union {
    streams: Vec<Stream>,
    /// Streams by the ids at which they stand, if there are several streams.
    heap: Heap,
    /// Whether a stream ran out of rows and may hold more.
    starved: bool,
    /// How many of the partitions, the first ones, entities move from to the others.
    sources: usize,
    /// The last id that was taken, where entities move.
    last: Vec<u8>,
}

/// What a union reads: partitions, and how many of them, the first ones, entities move from to the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buckets {
    pub(crate) partitions: usize,
    pub(crate) sources: usize,
}

impl Buckets {
    pub(crate) const ONE: Self = Self { partitions: 1, sources: 0 };

    pub(crate) fn of(state: &TenantState) -> Self {
        Self { partitions: state.partitions.len(), sources: state.layout.sources() }
    }
}

/// What stands at the front of a union.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// Which of the partitions.
    pub(crate) partition: usize,
    /// The stored entity, where the rows are entities.
    pub(crate) entity: Option<Bytes>,
}

/// Where candidates come from.
#[derive(Debug)]
pub(crate) enum Feed {
    Rows(Union),
    Ids(IdList),
    /// Rows whose ids are in the list too.
    Both(Union, IdList),
}

impl Feed {
    pub(crate) fn union(&mut self) -> Option<&mut Union> {
        match self {
            Self::Rows(union) | Self::Both(union, _) => Some(union),
            Self::Ids(_) => None,
        }
    }

    /// The next candidate that is worth a look, its key in `key`.
    pub(crate) fn next(&mut self, key: &mut Vec<u8>, with_entity: bool) -> Option<Candidate> {
        match self {
            Self::Rows(union) => union.next(key, with_entity),
            Self::Ids(ids) => ids.next(key),
            Self::Both(union, ids) => loop {
                if ids.is_done() {
                    return None;
                }
                let candidate = union.next(key, with_entity)?;
                if key.get(1..).is_some_and(|id| ids.holds(id)) {
                    return Some(candidate);
                }
            },
        }
    }

    /// Whether rows must be read before there is a candidate.
    pub(crate) fn is_starved(&self) -> bool {
        match self {
            Self::Rows(union) => union.is_starved(),
            Self::Both(union, ids) => union.is_starved() && !ids.is_done(),
            Self::Ids(_) => false,
        }
    }

    /// The same candidates, as far as they are among these ids too.
    pub(crate) fn narrowed(self, ids: IdList, both: bool) -> Self {
        match self {
            Self::Rows(union) if both => Self::Both(union, ids),
            _ => Self::Ids(ids),
        }
    }
}

impl Union {
    /// The ranges in every partition, from their start; the first page is of `rows`.
    pub(crate) fn new(buckets: Buckets, ranges: &[Range], rows: usize) -> Self {
        let Buckets { partitions, sources } = buckets;
        let stream = |partition: usize, range: &Range| Stream {
            partition,
            range: range.clone(),
            page: Page::default(),
            at: 0,
            ahead: None,
            open: true,
            rows,
            whole: (sources > 0).then(|| range.clone()),
            before_id: None,
        };
        let streams = |partition| ranges.iter().map(move |range| stream(partition, range));
        let streams: Vec<Stream> = (0..partitions).flat_map(streams).collect();
        Self { starved: !streams.is_empty(), streams, heap: Heap::default(), sources, last: Vec::new() }
    }

    /// The range, if each partition has the same one, nothing of it was read, and nothing moves: then each row is of an entity of
    /// its own.
    pub(crate) fn only_range(&self) -> Option<&Range> {
        let is_next =
            |(at, stream): (usize, &Stream)| stream.partition == at && stream.open && stream.page.is_empty();
        let is_only = self.sources == 0 && self.streams.iter().enumerate().all(is_next);
        self.streams.first().filter(|_| is_only).map(|stream| &stream.range)
    }

    /// Goes on at a key of the only range in each partition; `None`: behind its end.
    pub(crate) fn begin_at(&mut self, keys: &[Option<Bytes>]) {
        for (stream, key) in self.streams.iter_mut().zip(keys) {
            match key {
                Some(key) => stream.range.start.clone_from(key),
                None => stream.open = false,
            }
        }
        self.settle();
    }

    /// Orders the streams anew.
    fn settle(&mut self) {
        if self.sources > 0 {
            self.streams.iter_mut().for_each(|stream| stream.pass(&self.last));
        }
        self.starved = self.streams.iter().any(Stream::is_starved);
        if self.streams.len() > 1 {
            let streams = &self.streams;
            let standing = (0..streams.len()).filter(|at| id_at(streams, *at).is_some());
            self.heap.fill(standing, |one, other| id_at(streams, one) < id_at(streams, other));
        }
    }

    /// Whether a page must be read before the front is known.
    pub(crate) fn is_starved(&self) -> bool {
        self.starved
    }

    /// Reads the next page of every stream that has run out of rows, several side by side, and of some that soon will.
    pub(crate) async fn fill(&mut self, store: &Store, partitions: &[Partition]) -> Result<(), Error> {
        // The common case needs no room for others.
        if let [only] = self.streams.as_mut_slice() {
            if only.is_starved() {
                only.fill(store, partitions).await?;
            }
        } else {
            let sources = self.sources;
            let is_source = |stream: &&mut Stream| stream.partition < sources;
            let is_other = |stream: &&mut Stream| stream.partition >= sources;
            if sources > 0
                && fill_starved(self.streams.iter_mut().filter(is_source), store, partitions).await?
            {
                // What left a source before it was read is where it moved to by now; so all that is read of the others behind the last
                // id that was taken is to be read after it.
                self.streams.iter_mut().filter(is_other).for_each(|stream| stream.rewind(&self.last));
            }
            fill_starved(self.streams.iter_mut().filter(is_other), store, partitions).await?;
        }
        self.settle();
        Ok(())
    }

    /// Takes the candidate of the least id, whose entity's key is written to `key`; `None` at the
    /// end, or while starved.
    pub(crate) fn next(&mut self, key: &mut Vec<u8>, with_entity: bool) -> Option<Candidate> {
        if self.is_starved() {
            return None;
        }
        // The common case: ids of one range differ, so there is nothing to compare.
        if let [stream] = self.streams.as_mut_slice() {
            let (row, value) = stream.page.row(stream.at)?;
            put_entity_key(key, keys::id_bytes_of_key(row).unwrap_or_default());
            stream.at += 1;
            self.starved = stream.is_starved();
            let entity = with_entity.then(|| Bytes::copy_from_slice(value));
            return Some(Candidate { partition: stream.partition, entity });
        }
        let mut stream = self.streams.get(self.heap.first()?)?;
        put_entity_key(key, stream.id()?);
        if self.sources > 0 {
            stream = self.newest_at(id_part(key)).unwrap_or(stream);
        }
        let row = stream.page.row(stream.at).filter(|_| with_entity);
        let candidate = Candidate {
            partition: stream.partition,
            entity: row.map(|(_, value)| Bytes::copy_from_slice(value)),
        };
        if self.sources > 0 {
            self.last.clear();
            self.last.extend_from_slice(id_part(key));
        }
        self.pass(id_part(key));
        Some(candidate)
    }

    /// Of the streams that stand at an id, that of the partition that it moved to.
    fn newest_at(&self, id: &[u8]) -> Option<&Stream> {
        self.streams.iter().find(|stream| stream.partition >= self.sources && stream.id() == Some(id))
    }

    /// Takes the streams that stand at this id, the least of all, behind it.
    fn pass(&mut self, id: &[u8]) {
        while let Some(first) = self.heap.first()
            && id_at(&self.streams, first) == Some(id)
        {
            if let Some(stream) = self.streams.get_mut(first) {
                while stream.id() == Some(id) {
                    stream.advance();
                }
                self.starved |= stream.is_starved();
            }
            let streams = &self.streams;
            let is_before = |one, other| id_at(streams, one) < id_at(streams, other);
            match id_at(streams, first) {
                Some(_) => self.heap.sift_first(is_before),
                None => self.heap.pop_first(is_before),
            }
        }
    }

    /// The id up to which all candidates are in the pages that were read; `None`: all of them are.
    pub(crate) fn frontier(&self) -> Option<&[u8]> {
        let open = self.streams.iter().filter(|stream| stream.open);
        let ends = open.filter_map(|stream| keys::id_bytes_of_key(stream.page.last_key()?));
        ends.min()
    }

    /// How many rows of the pages that were read are of ids up to this one (`None`: all).
    pub(crate) fn rows_until(&self, id: Option<&[u8]>) -> usize {
        let rows = self.streams.iter().flat_map(|stream| stream.page.rows());
        rows.filter(|(key, _)| {
            id.is_none_or(|id| keys::id_bytes_of_key(key).is_some_and(|found| found <= id))
        })
        .count()
    }
}

/// Reads the next page of those that have run out of rows, several side by side; answers whether there were any. Those that soon
/// will are read along, as far as that takes no longer.
async fn fill_starved(
    streams: impl Iterator<Item = &mut Stream>,
    store: &Store,
    partitions: &[Partition],
) -> Result<bool, Error> {
    let mut wanting: Vec<&mut Stream> = streams.filter(|stream| stream.is_draining()).collect();
    wanting.sort_by_key(|stream| stream.page.len() - stream.at);
    let starved = wanting.iter().take_while(|stream| stream.is_starved()).count();
    wanting.truncate(starved.next_multiple_of(BUCKETS_AT_ONCE));
    for some in wanting.chunks_mut(BUCKETS_AT_ONCE) {
        try_join_all(some.iter_mut().map(|stream| stream.fill(store, partitions))).await?;
    }
    Ok(starved > 0)
}

/// The id at which a stream stands.
fn id_at(streams: &[Stream], at: usize) -> Option<&[u8]> {
    streams.get(at)?.id()
}

/// The id in the key of an entity; nothing before the first candidate.
pub(crate) fn id_part(key: &[u8]) -> &[u8] {
    key.split_first().map_or(&[], |(_, id)| id)
}

fn put_entity_key(key: &mut Vec<u8>, id: &[u8]) {
    key.clear();
    key.push(keys::ENTITY);
    key.extend_from_slice(id);
}

const PACKED: &str = "an id lies in the buffer of its list";

/// Ids packed into one buffer, sorted, each once.
#[derive(Debug, Default)]
pub(crate) struct IdList {
    bytes: Vec<u8>,
    ids: Vec<PackedId>,
    at: usize,
}

#[derive(Clone, Copy, Debug)]
struct PackedId {
    /// What follows the start that all ids share, as far as it goes: most ids compare by it alone.
    head: u64,
    partition: u32,
    start: u32,
    end: u32,
}

impl IdList {
    pub(crate) fn push(&mut self, partition: usize, id: &[u8]) {
        let offset =
            |bytes: &[u8]| u32::try_from(bytes.len()).expect("the ids of a list take less than 4 GiB");
        let start = offset(&self.bytes);
        self.bytes.extend_from_slice(id);
        let partition = u32::try_from(partition).expect("a tenant has fewer buckets");
        self.ids.push(PackedId { head: 0, partition, start, end: offset(&self.bytes) });
    }

    pub(crate) fn sort(&mut self) {
        let bytes = &self.bytes;
        let text = |id: &PackedId| bytes.get(id.start as usize..id.end as usize).expect(PACKED);
        let first = self.ids.first().map(text).unwrap_or_default();
        let shared = self.ids.iter().fold(first.len(), |shared, id| {
            first.iter().take(shared).zip(text(id)).take_while(|(one, other)| one == other).count()
        });
        for id in &mut self.ids {
            let rest = text(id).get(shared..).expect("all ids begin with what they share");
            // Shorter ids come first, as zeros do; ids hold none.
            let mut head = [0; 8];
            head.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            id.head = u64::from_be_bytes(head);
        }
        let order = |one: &PackedId, other: &PackedId| {
            one.head.cmp(&other.head).then_with(|| text(one).cmp(text(other)))
        };
        self.ids.sort_unstable_by(order);
        self.ids.dedup_by(|one, other| order(one, other).is_eq());
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    fn id(&self, at: usize) -> Option<&[u8]> {
        let PackedId { start, end, .. } = *self.ids.get(at)?;
        self.bytes.get(start as usize..end as usize)
    }

    /// Passes over the ids up to this one, and tells how many they are.
    pub(crate) fn pass(&mut self, last: &[u8]) -> usize {
        let before = self.at;
        while self.id(self.at).is_some_and(|id| id <= last) {
            self.at += 1;
        }
        self.at - before
    }

    /// Whether this id is in the list; ids are asked for in order.
    pub(crate) fn holds(&mut self, wanted: &[u8]) -> bool {
        while self.id(self.at).is_some_and(|id| id < wanted) {
            self.at += 1;
        }
        self.id(self.at) == Some(wanted)
    }

    /// Whether no id is left.
    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.ids.len()
    }

    pub(crate) fn next(&mut self, key: &mut Vec<u8>) -> Option<Candidate> {
        let PackedId { partition, start, end, .. } = *self.ids.get(self.at)?;
        self.at += 1;
        key.clear();
        key.push(keys::ENTITY);
        key.extend_from_slice(self.bytes.get(start as usize..end as usize)?);
        Some(Candidate { partition: partition as usize, entity: None })
    }
}
