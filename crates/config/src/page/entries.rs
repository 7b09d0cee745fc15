//! Reading a page: one entry after the other, or from a key on.

use std::cmp::Ordering;

use bytes::Bytes;
use smallvec::SmallVec;
use store::wire::{Malformed, Reader};

use crate::page::{Page, PageId, PageKind, Summary};

/// Entries that are tried one by one before a search.
pub(crate) const STEPS_BEFORE_SEEK: usize = 4;

/// A page below an interior page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Child {
    pub(crate) id: PageId,
    /// Records below: of containers and list entries.
    pub(crate) records: u64,
    /// Bytes of the page, of pages below, and of records that have pages of their own.
    pub(crate) bytes: u64,
    /// Whether a record below has a page of its own.
    pub(crate) has_overflow: bool,
    /// Schema nodes below.
    pub(crate) summary: Summary,
}

/// What an entry holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Content<'a> {
    /// A record or an order.
    Value(&'a [u8]),
    /// A record of so many bytes, in a page of its own.
    Overflow(PageId, usize),
    /// A page below.
    Child(Child),
}

/// A place in a page: before the first entry, or at one.
#[derive(Clone, Debug)]
pub(crate) struct Entries {
    page: Page,
    /// Where the next entry begins.
    next: usize,
    key: SmallVec<[u8; 64]>,
    shared: usize,
    raw: Raw,
}

#[derive(Clone, Copy, Debug)]
enum Raw {
    None,
    Value { start: usize, end: usize },
    Overflow(PageId, usize),
    Child(Child),
}

impl Entries {
    pub(crate) fn new(page: Page) -> Self {
        let next = page.start();
        Self { page, next, key: SmallVec::new(), shared: 0, raw: Raw::None }
    }

    /// The key of the entry.
    #[inline]
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    /// How many bytes the key shares with the key before, if that was read.
    #[inline]
    pub(crate) fn shared(&self) -> usize {
        self.shared
    }

    /// Where the next entry begins.
    pub(super) fn position(&self) -> usize {
        self.next
    }

    /// What the entry holds.
    ///
    /// # Panics
    ///
    /// Before the first entry.
    #[inline]
    pub(crate) fn content(&self) -> Content<'_> {
        match self.raw {
            Raw::Value { start, end } => {
                Content::Value(self.page.bytes().get(start..end).expect("lengths are checked"))
            }
            Raw::Overflow(id, length) => Content::Overflow(id, length),
            Raw::Child(child) => Content::Child(child),
            Raw::None => unreachable!("an entry was read"),
        }
    }

    /// The page below.
    ///
    /// # Panics
    ///
    /// In a page that is no interior page.
    #[inline]
    pub(crate) fn child(&self) -> Child {
        match self.raw {
            Raw::Child(child) => child,
            _ => unreachable!("entries of interior pages are pages"),
        }
    }

    /// The value, sharing the bytes of the page; `None` if it has a page of its own.
    #[inline]
    pub(crate) fn value(&self) -> Option<Bytes> {
        match self.raw {
            Raw::Value { start, end } => Some(self.page.bytes().slice(start..end)),
            _ => None,
        }
    }

    /// Goes to the next entry; `false` at the end, where it stays. Cost: O(length of key).
    #[inline]
    pub(crate) fn next(&mut self) -> bool {
        self.checked_next().expect("pages are checked when they are read from the store")
    }

    pub(super) fn checked_next(&mut self) -> Result<bool, Malformed> {
        let body = self.page.body();
        let rest = body.get(self.next..).ok_or(Malformed)?;
        let mut reader = Reader::new(rest);
        if reader.is_empty() {
            return Ok(false);
        }
        let shared = reader.length(self.key.len())?;
        let suffix = reader.bytes()?;
        self.key.truncate(shared);
        self.key.extend_from_slice(suffix);
        self.shared = shared;
        self.raw = match self.page.kind() {
            PageKind::Interior => Raw::Child(read_child(&self.page, &mut reader)?),
            _ => read_value(&mut reader, body.len())?,
        };
        self.next = body.len() - reader.rest().len();
        Ok(true)
    }

    /// Goes to the next entry if its key is below this one, or also if it is the same. Cost: O(length of key).
    #[inline]
    fn next_up_to(&mut self, key: &[u8], inclusive: bool) -> bool {
        let least = if inclusive { Ordering::Greater } else { Ordering::Equal };
        match self.cmp_next(key) {
            Some(order) if order < least => self.next(),
            _ => false,
        }
    }

    /// How the key of the next entry compares to this one; `None` at the end.
    #[inline]
    fn cmp_next(&self, key: &[u8]) -> Option<Ordering> {
        let mut reader = Reader::new(self.page.body().get(self.next..)?);
        if reader.is_empty() {
            return None;
        }
        let shared = reader.varint().ok().and_then(|shared| usize::try_from(shared).ok());
        let head = self.key.get(..shared?)?;
        let suffix = reader.bytes().ok()?;
        let (left, right) = key.split_at_checked(head.len()).unwrap_or((key, &[]));
        Some(head.cmp(left).then_with(|| suffix.cmp(right)))
    }

    /// Whether the key of the next entry is not above this one.
    pub(crate) fn is_next_up_to(&self, key: &[u8]) -> bool {
        self.cmp_next(key).is_some_and(Ordering::is_le)
    }

    /// Goes to the next entry if its key is below this one.
    #[inline]
    pub(crate) fn next_below(&mut self, key: &[u8]) -> bool {
        self.next_up_to(key, false)
    }

    /// Goes before the first entry that is not below `key`. Cost: O(log entries).
    pub(crate) fn seek_before(&mut self, key: &[u8]) {
        self.rewind_before(key);
        while self.next_below(key) {}
    }

    /// Goes to the last entry whose key is below this one; `false` if there is none. Cost: O(log entries).
    pub(crate) fn seek_last_below(&mut self, key: &[u8]) -> bool {
        self.rewind(key, Ordering::Less);
        while self.next_below(key) {}
        !matches!(self.raw, Raw::None)
    }

    /// Goes to the entry of this key; `false` if there is none. Cost: O(log entries).
    pub(crate) fn find(&mut self, key: &[u8]) -> bool {
        self.seek_before(key);
        self.cmp_next(key) == Some(Ordering::Equal) && self.next()
    }

    /// Goes to the last entry that is not above `key`: the page below that a key is in. The first entry is not above any key.
    /// `false` if there is no entry. Cost: O(log entries).
    pub(crate) fn seek_floor(&mut self, key: &[u8]) -> bool {
        self.rewind_before(key);
        let is_at_one = self.next();
        while self.next_up_to(key, true) {}
        is_at_one
    }

    /// The same of a key that is not below the entry that it is at: the next few entries are tried first, since who reads a tree in order
    /// mostly finds it there.
    pub(crate) fn seek_floor_ahead(&mut self, key: &[u8]) {
        for _ in 0..STEPS_BEFORE_SEEK {
            if !self.next_up_to(key, true) {
                return;
            }
        }
        self.seek_floor(key);
    }

    /// Whether an entry follows.
    #[inline]
    pub(crate) fn has_next(&self) -> bool {
        self.next < self.page.end()
    }

    /// Goes before the last restart whose key is not above `key`.
    fn rewind_before(&mut self, key: &[u8]) {
        self.rewind(key, Ordering::Equal);
    }

    /// Goes before the last restart that compares to `key` at most so, or before the first one.
    fn rewind(&mut self, key: &[u8], most: Ordering) {
        let (mut low, mut high) = (0, self.page.restart_count());
        while high - low > 1 {
            let middle = low.midpoint(high);
            if self.restart_key(middle).cmp(key) > most {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.next = self.page.restart(low).max(self.page.start());
        self.key.clear();
        self.raw = Raw::None;
    }

    fn restart_key(&self, number: usize) -> &[u8] {
        let body = self.page.body();
        let rest = body.get(self.page.restart(number)..).expect("restarts are checked");
        let mut reader = Reader::new(rest);
        let key = reader.varint().and_then(|_| reader.bytes());
        key.expect("pages are checked when they are read from the store")
    }
}

fn read_value(reader: &mut Reader<'_>, end: usize) -> Result<Raw, Malformed> {
    let head = usize::try_from(reader.varint()?).map_err(|_| Malformed)?;
    if head & 1 == 1 {
        return Ok(Raw::Overflow(PageId::from_bytes(&reader.array()?), head >> 1));
    }
    let start = end - reader.rest().len();
    reader.take(head >> 1)?;
    Ok(Raw::Value { start, end: end - reader.rest().len() })
}

fn read_child(page: &Page, reader: &mut Reader<'_>) -> Result<Child, Malformed> {
    let attempt = page.name(reader.length(PAGE_NAMES_MAX)?).ok_or(Malformed)?;
    let id = attempt.page(reader.varint_u32()?);
    let records = reader.varint()?;
    let head = reader.varint()?;
    let summary = Summary(u64::from_le_bytes(reader.array()?));
    Ok(Child { id, records, bytes: head >> 1, has_overflow: head & 1 == 1, summary })
}

/// More attempts than a page has room for.
const PAGE_NAMES_MAX: usize = super::PAGE_BYTES_MAX / 16;
