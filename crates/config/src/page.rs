//! Pages: sorted entries as bytes, keys without what they share with the key before, and places from which a search may begin.
//!
//! ```text
//! page     = version (1), kind, [ names ], entries, { u16 restart }, u16 count of restarts     numbers of two bytes: little-endian
//! names    = varint count, { u64 version, u64 nonce }          of an interior page: the attempts that wrote its pages
//! entry    = varint bytes shared with the key before, varint bytes of the rest, the rest, content
//! content  = varint length × 2, bytes                          of a leaf page: a record, or an order
//!          | varint length × 2 + 1, page id                    of a leaf page: a record of so many bytes has a page of its own
//!          | varint attempt, varint number, varint records, varint bytes × 2 + has overflow, u64 summary     of an interior page
//! overflow = version (1), kind, record
//! ```
//!
//! A restart is the position of an entry that shares nothing; the first entry is one.

mod id;
mod summary;
pub(crate) mod entries;
mod values;
mod build;
mod splice;

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use store::wire::{Malformed, Reader};

pub(crate) use build::{PageBuilder, common, overflow_page};
pub(crate) use entries::{Child, Content, Entries};
pub use id::{Attempt, PageId};
pub(crate) use splice::Spliced;
pub(crate) use summary::Summary;
pub(crate) use values::{VALUES_SHARE, ValueDemand, ValueSet, value_hash};

use crate::label::NO_LABEL;
use crate::order::Order;
use crate::record;

/// The first byte of each page.
const VERSION: u8 = 1;
/// Entries from one restart to the next in a page that is built; where some were added since, twice as many at most.
const RESTART_ENTRIES: usize = 16;
/// Bytes of a page: restarts are numbers of two bytes.
pub(crate) const PAGE_BYTES_MAX: usize = u16::MAX as usize;

/// What a page holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PageKind {
    /// Records, and orders by keys.
    Leaf,
    /// Pages.
    Interior,
    /// One record.
    Overflow,
}

impl PageKind {
    /// Of a page that has so many levels of pages below.
    pub(crate) fn at(height: usize) -> Self {
        if height == 0 { Self::Leaf } else { Self::Interior }
    }
}

/// A page that was checked. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Page(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    bytes: Bytes,
    kind: PageKind,
    /// Where names begin and end, and entries.
    names: usize,
    entries: usize,
    /// Where restarts begin.
    restarts: usize,
    /// Made when a search first asks.
    values: OnceLock<ValueSet>,
}

impl Page {
    /// Checks stored bytes. Cost: a look at each byte.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if they are no page.
    pub(crate) fn from_bytes(bytes: Bytes) -> Result<Self, Malformed> {
        let page = Self::trusted(bytes)?;
        match page.kind() {
            PageKind::Overflow => record::check(page.0.bytes.get(2..).ok_or(Malformed)?)?,
            PageKind::Leaf | PageKind::Interior => page.check()?,
        }
        Ok(page)
    }

    /// A page that this process wrote, or checked before. Cost: O(1).
    ///
    /// # Errors
    ///
    /// [`Malformed`] if its outline is wrong.
    pub(crate) fn trusted(bytes: Bytes) -> Result<Self, Malformed> {
        let mut reader = Reader::new(&bytes);
        if reader.byte()? != VERSION {
            return Err(Malformed);
        }
        let kind = match reader.byte()? {
            0 => PageKind::Leaf,
            1 => PageKind::Interior,
            2 => PageKind::Overflow,
            _ => return Err(Malformed),
        };
        if kind == PageKind::Overflow {
            let end = bytes.len();
            // It has no entries.
            return Ok(Self::new(bytes, kind, (end, end, end)));
        }
        if bytes.len() > PAGE_BYTES_MAX {
            return Err(Malformed);
        }
        let mut names = bytes.len() - reader.rest().len();
        if kind == PageKind::Interior {
            let count = reader.count()?;
            names = bytes.len() - reader.rest().len();
            reader.take(count.checked_mul(16).ok_or(Malformed)?)?;
        }
        let entries = bytes.len() - reader.rest().len();
        let count =
            bytes.last_chunk::<2>().map(|count| usize::from(u16::from_le_bytes(*count))).ok_or(Malformed)?;
        let restarts = bytes.len().checked_sub(2 + 2 * count).filter(|at| *at >= entries).ok_or(Malformed)?;
        Ok(Self::new(bytes, kind, (names, entries, restarts)))
    }

    fn new(bytes: Bytes, kind: PageKind, (names, entries, restarts): (usize, usize, usize)) -> Self {
        Self(Arc::new(Parts { bytes, kind, names, entries, restarts, values: OnceLock::new() }))
    }

    /// What it holds.
    pub(crate) fn kind(&self) -> PageKind {
        self.0.kind
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.0.bytes
    }

    /// The values that leaves of its records may have. Cost: a look at all of them, the first time.
    pub(crate) fn values(&self) -> &ValueSet {
        self.0.values.get_or_init(|| ValueSet::of(self))
    }

    /// The record of an overflow page; `None` of any other.
    pub(crate) fn record(&self) -> Option<Bytes> {
        (self.0.kind == PageKind::Overflow).then(|| self.0.bytes.slice(2..))
    }

    /// Its entries, from the first on.
    pub(crate) fn entries(&self) -> Entries {
        Entries::new(self.clone())
    }

    /// Where its first entry begins.
    fn start(&self) -> usize {
        self.0.entries
    }

    /// Where its last entry ends.
    fn end(&self) -> usize {
        self.0.restarts
    }

    fn body(&self) -> &[u8] {
        self.0.bytes.get(..self.0.restarts).expect("restarts lie in the page")
    }

    fn restart_count(&self) -> usize {
        self.0.bytes.len().saturating_sub(2 + self.0.restarts) / 2
    }

    /// Where a restart is; the end of the entries if there is none of this number.
    fn restart(&self, number: usize) -> usize {
        let at = self.0.restarts + 2 * number;
        let bytes = self.0.bytes.get(at..at + 2).filter(|_| number < self.restart_count());
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(self.0.restarts, |bytes| usize::from(u16::from_le_bytes(bytes)))
    }

    /// An attempt by its position among the names.
    fn name(&self, number: usize) -> Option<Attempt> {
        let start = self.0.names.checked_add(number.checked_mul(16)?)?;
        let bytes = self.0.bytes.get(start..start + 16).filter(|_| start + 16 <= self.0.entries)?;
        Attempt::from_bytes(bytes.try_into().ok()?)
    }

    /// Checks all entries: lengths, order, records, restarts.
    fn check(&self) -> Result<(), Malformed> {
        let mut entries = self.entries();
        let (mut restart, mut before) = (0, None::<Vec<u8>>);
        loop {
            let at = entries.position();
            if !entries.checked_next()? {
                break;
            }
            if self.restart(restart) == at && restart < self.restart_count() {
                restart += 1;
                if entries.shared() > 0 {
                    return Err(Malformed);
                }
            }
            if before.as_ref().is_some_and(|before| before.as_slice() >= entries.key()) {
                return Err(Malformed);
            }
            before = Some(entries.key().to_vec());
            if let Content::Value(value) = entries.content() {
                check_value(entries.key(), value)?;
            }
        }
        if self.0.kind == PageKind::Interior && before.is_none() {
            return Err(Malformed);
        }
        // Every restart is the beginning of an entry, and the first entry is a restart.
        let is_whole =
            restart == self.restart_count() && (before.is_none() || self.restart(0) == self.0.entries);
        if is_whole && (before.is_some() || restart == 0) { Ok(()) } else { Err(Malformed) }
    }
}

/// Behind a label is a record, behind keys an order.
fn check_value(key: &[u8], value: &[u8]) -> Result<(), Malformed> {
    match key.first() {
        Some(&NO_LABEL) => Order::from_bytes(value).map(|_| ()).ok_or(Malformed),
        _ => record::check(value),
    }
}
