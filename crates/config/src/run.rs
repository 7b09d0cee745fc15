//! Runs: entries of leaf pages between two versions, out of their old pages and not yet in new ones.

use crate::page::{Content, Page, PageId, common};

/// Entries in ascending order, in memory of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// What they would have as pages, about.
    size: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: usize,
    value: usize,
    end: usize,
    overflow: Option<(PageId, usize)>,
    size: usize,
}

impl Run {
    /// All entries of a leaf page.
    pub(crate) fn of(page: &Page) -> Self {
        let (mut run, mut entries) = (Self::default(), page.entries());
        while entries.next() {
            run.push(entries.key(), entries.content());
        }
        run
    }

    /// Adds an entry above all others.
    pub(crate) fn push(&mut self, key: &[u8], content: Content<'_>) {
        let shared = self.last_key().map_or(0, |last| common(last, key));
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let (value, overflow) = match content {
            Content::Value(value) => (value, None),
            Content::Overflow(id, length) => (&[][..], Some((id, length))),
            Content::Child(_) => unreachable!("leaf pages hold no pages"),
        };
        self.bytes.extend_from_slice(value);
        // Numbers before key and value, and a share of a restart, where the key is whole.
        let held = if overflow.is_some() { PageId::BYTES } else { value.len() };
        let size = 4 + key.len() - shared + held + key.len() / 16;
        self.size += size;
        self.entries.push(Entry {
            key: start,
            value: start + key.len(),
            end: self.bytes.len(),
            overflow,
            size,
        });
    }

    /// Adds all entries of another run, which are above those here.
    pub(crate) fn append(&mut self, other: &Self) {
        other.iter().for_each(|(key, content)| self.push(key, content));
    }

    /// Its entries.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], Content<'_>)> {
        self.entries.iter().map(|entry| self.read(entry))
    }

    /// How many entries it has.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes that its entries would have as pages, about.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The same of each entry.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = usize> {
        self.entries.iter().map(|entry| entry.size)
    }

    /// The key above all others.
    pub(crate) fn last_key(&self) -> Option<&[u8]> {
        self.entries.last().map(|entry| self.read(entry).0)
    }

    fn read(&self, entry: &Entry) -> (&[u8], Content<'_>) {
        let part = |start, end| self.bytes.get(start..end).expect("an entry lies in its run");
        let content = match entry.overflow {
            Some((id, length)) => Content::Overflow(id, length),
            None => Content::Value(part(entry.value, entry.end)),
        };
        (part(entry.key, entry.value), content)
    }
}
