//! Candidates in id order: pages of index rows, read side by side and merged over ranges and buckets.
//!
//! Ids are spread evenly over buckets, so all streams reach the ends of their pages at about the same time: when one has, the next
//! pages of those that soon will are read along with its own.

mod heap;
mod rows;
mod id_list;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use entity::{Error, keys};
use store::{Partition, Range, Store};

use crate::tenant::TenantState;

use heap::Heap;
use rows::{ENDS_IN_ID, Stream, fill_starved};

pub(crate) use id_list::IdList;

/// Several streams as one, each id once.
///
/// Invariant: unless it is starved, the heap holds each stream that has a row left.
#[derive(Debug)]
pub(crate) struct Union {
    streams: Vec<Stream>,
    /// Streams by the ids of their next rows, if there are several streams.
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

/// The first of a union, or of a list.
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
        let streams =
            |partition| ranges.iter().map(move |range| Stream::new(partition, range, rows, sources > 0));
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
            let left = (0..streams.len()).filter(|at| id_at(streams, *at).is_some());
            self.heap.fill(left, |one, other| id_at(streams, one) < id_at(streams, other));
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
            put_entity_key(key, keys::id_bytes_of_key(row).expect(ENDS_IN_ID));
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

    /// Of the streams whose next row is of this id, that of the partition that it moved to.
    fn newest_at(&self, id: &[u8]) -> Option<&Stream> {
        self.streams.iter().find(|stream| stream.partition >= self.sources && stream.id() == Some(id))
    }

    /// Takes the rows of this id, the least of all, from all streams.
    fn pass(&mut self, id: &[u8]) {
        while let Some(first) = self.heap.first()
            && id_at(&self.streams, first) == Some(id)
        {
            let stream = self.streams.get_mut(first).expect("the heap holds streams");
            while stream.id() == Some(id) {
                stream.advance();
            }
            self.starved |= stream.is_starved();
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

/// The id of a stream's next row.
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
