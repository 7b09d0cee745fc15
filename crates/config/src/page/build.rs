//! Writing a page: entries in ascending order, then its bytes.

use bytes::Bytes;
use store::wire::put_varint;

use crate::page::{Attempt, Child, Content, PAGE_BYTES_MAX, PageKind, RESTART_ENTRIES, VERSION};

/// A leaf page or interior page under way.
#[derive(Debug)]
pub(crate) struct PageBuilder {
    kind: PageKind,
    entries: Vec<u8>,
    restarts: Vec<u16>,
    names: Vec<Attempt>,
    last: Vec<u8>,
    count: usize,
}

impl PageBuilder {
    pub(crate) fn new(kind: PageKind) -> Self {
        Self {
            kind,
            entries: Vec::new(),
            restarts: Vec::new(),
            names: Vec::new(),
            last: Vec::new(),
            count: 0,
        }
    }

    /// Bytes of the page so far.
    pub(crate) fn len(&self) -> usize {
        4 + self.entries.len() + 2 * self.restarts.len() + 3 + 16 * self.names.len()
    }

    /// Adds an entry; its key is above those before.
    ///
    /// # Panics
    ///
    /// If the page has more bytes than any may have: entries are bounded, and pages end long before.
    pub(crate) fn push(&mut self, key: &[u8], content: Content<'_>) {
        debug_assert!(self.count == 0 || self.last.as_slice() < key, "keys ascend");
        let is_restart = self.count.is_multiple_of(RESTART_ENTRIES);
        let shared = if is_restart { 0 } else { common(&self.last, key) };
        if is_restart {
            self.restarts.push(u16::try_from(self.entries.len()).expect("pages have less than 64 KiB"));
        }
        let suffix = key.get(shared..).expect("a key has what it shares");
        put_varint(&mut self.entries, shared as u64);
        put_varint(&mut self.entries, suffix.len() as u64);
        self.entries.extend_from_slice(suffix);
        match content {
            Content::Value(value) => {
                put_varint(&mut self.entries, 2 * value.len() as u64);
                self.entries.extend_from_slice(value);
            }
            Content::Overflow(id, length) => {
                put_varint(&mut self.entries, 2 * length as u64 + 1);
                self.entries.extend_from_slice(&id.to_bytes());
            }
            Content::Child(child) => self.push_child(&child),
        }
        self.last.truncate(shared);
        self.last.extend_from_slice(suffix);
        self.count += 1;
    }

    fn push_child(&mut self, child: &Child) {
        let attempt = child.id.attempt();
        // Neighbours were often written by the same attempt, and there are few of them.
        let name = self.names.iter().rposition(|name| *name == attempt).unwrap_or_else(|| {
            self.names.push(attempt);
            self.names.len() - 1
        });
        put_varint(&mut self.entries, name as u64);
        put_varint(&mut self.entries, u64::from(child.id.number));
        put_varint(&mut self.entries, child.records);
        put_varint(&mut self.entries, 2 * child.bytes + u64::from(child.has_overflow));
        self.entries.extend_from_slice(&child.summary.0.to_le_bytes());
    }

    /// The bytes of the page.
    ///
    /// # Panics
    ///
    /// If the page has more bytes than any may have.
    pub(crate) fn finish(self) -> Bytes {
        let mut bytes = Vec::with_capacity(self.len());
        bytes.push(VERSION);
        bytes.push(u8::from(self.kind == PageKind::Interior));
        if self.kind == PageKind::Interior {
            put_varint(&mut bytes, self.names.len() as u64);
            self.names.iter().for_each(|name| bytes.extend_from_slice(&name.to_bytes()));
        }
        let start = bytes.len();
        bytes.extend_from_slice(&self.entries);
        for restart in &self.restarts {
            let at = u16::try_from(start + usize::from(*restart)).expect("pages have less than 64 KiB");
            bytes.extend_from_slice(&at.to_le_bytes());
        }
        let count = u16::try_from(self.restarts.len()).expect("pages have less than 64 KiB");
        bytes.extend_from_slice(&count.to_le_bytes());
        assert!(bytes.len() <= PAGE_BYTES_MAX, "pages have less than 64 KiB");
        bytes.into()
    }
}

/// A page of one record.
pub(crate) fn overflow_page(record: &[u8]) -> Bytes {
    [&[VERSION, 2], record].concat().into()
}

/// How many bytes two keys share at their beginning. Cost: O(bytes), eight at a time.
pub(crate) fn common(one: &[u8], other: &[u8]) -> usize {
    let (words, other_words) = (one.chunks_exact(8), other.chunks_exact(8));
    let start = 8 * words.zip(other_words).take_while(|(one, other)| one == other).count();
    let (one, other) = (one.get(start..).unwrap_or(&[]), other.get(start..).unwrap_or(&[]));
    start + one.iter().zip(other).take_while(|(one, other)| one == other).count()
}
