//! Setting one entry of a leaf page: its bytes are copied, and other entries stay as they lie, but for the one that follows.

use bytes::Bytes;
use smallvec::SmallVec;
use store::wire::{Reader, put_varint};

use super::build::common;
use super::{Page, PageId, PageKind, RESTART_ENTRIES};

/// Entries between restarts that a search goes through at most.
const GROUP_ENTRIES_MAX: usize = 2 * RESTART_ENTRIES;

/// What became of an entry that was set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Spliced {
    Added,
    Replaced,
}

/// An entry as it lies in its page.
struct Stored<'p> {
    shared: usize,
    suffix: &'p [u8],
    /// Its content with the length before it.
    content: &'p [u8],
    /// Its value; `None` if that has a page of its own.
    value: Option<&'p [u8]>,
    end: usize,
}

impl Page {
    /// This leaf page with one entry set, as bytes. `None` if the whole page must be looked at for it: the entry has that value
    /// already, or had a page of its own. Cost: O(log entries), and a copy of the bytes.
    pub(crate) fn with_entry(&self, key: &[u8], value: &[u8]) -> Option<(Bytes, Spliced)> {
        debug_assert!(self.kind() == PageKind::Leaf, "interior pages have names besides");
        let mut entries = self.entries();
        entries.seek_before(key);
        let (at, before) = (entries.position(), entries.key());
        let Some(next) = self.stored(at) else { return self.insert(at, before, (key, value), None) };
        let mut next_key: SmallVec<[u8; 64]> = before.get(..next.shared)?.into();
        next_key.extend_from_slice(next.suffix);
        if *next_key == *key {
            return self.replace(at, &next, value);
        }
        self.insert(at, before, (key, value), Some((&next_key, &next)))
    }

    fn replace(&self, at: usize, entry: &Stored<'_>, value: &[u8]) -> Option<(Bytes, Spliced)> {
        entry.value.filter(|before| *before != value)?;
        let (body, start) = (self.body(), entry.end - entry.content.len());
        let mut bytes = Vec::with_capacity(self.bytes().len() + value.len());
        bytes.extend_from_slice(body.get(..start)?);
        put_value(&mut bytes, value);
        let end = bytes.len();
        bytes.extend_from_slice(body.get(entry.end..)?);
        let restarts =
            self.restarts().map(|restart| if restart > at { restart - entry.end + end } else { restart });
        Some((finish(bytes, restarts)?, Spliced::Replaced))
    }

    /// Adds an entry at a place, behind a key, before an entry if there is one.
    fn insert(
        &self,
        at: usize,
        before: &[u8],
        (key, value): (&[u8], &[u8]),
        next: Option<(&[u8], &Stored<'_>)>,
    ) -> Option<(Bytes, Spliced)> {
        let (body, is_first) = (self.body(), at == self.start());
        let is_full =
            self.group_entries(at) >= if next.is_some() { GROUP_ENTRIES_MAX } else { RESTART_ENTRIES };
        let is_restart = is_first || is_full;
        // What was first need not be a restart any more.
        let next_is_restart = self.restarts().any(|restart| restart == at) && (!is_first || is_full);
        let mut bytes = Vec::with_capacity(self.bytes().len() + key.len() + value.len() + 16);
        bytes.extend_from_slice(body.get(..at)?);
        put_key(&mut bytes, key, if is_restart { 0 } else { common(before, key) });
        put_value(&mut bytes, value);
        let added = bytes.len() - at;
        let mut rest = at;
        if let Some((next_key, next)) = next.filter(|_| !next_is_restart) {
            put_key(&mut bytes, next_key, common(key, next_key));
            bytes.extend_from_slice(next.content);
            rest = next.end;
        }
        let end = bytes.len();
        bytes.extend_from_slice(body.get(rest..)?);
        let below = self.restarts().take_while(|restart| *restart < at);
        let above = self.restarts().filter(|restart| *restart >= at && (*restart > at || next_is_restart));
        let above = above.map(|restart| if restart == at { at + added } else { restart - rest + end });
        let restarts = below.chain(is_restart.then_some(at)).chain(above);
        Some((finish(bytes, restarts)?, Spliced::Added))
    }

    /// How many entries lie in the group that a place is in or at the end of. Cost: O(entries of a group).
    fn group_entries(&self, at: usize) -> usize {
        let before = self.restarts().take_while(|restart| *restart < at).last();
        let start = before.unwrap_or(self.start());
        let end = self.restarts().find(|restart| *restart > start).unwrap_or(self.end());
        let next = |at: &usize| self.stored(*at).map(|entry| entry.end);
        std::iter::successors(Some(start).filter(|at| *at < self.end()), next)
            .take_while(|at| *at < end)
            .count()
    }

    fn restarts(&self) -> impl Iterator<Item = usize> {
        (0..self.restart_count()).map(|number| self.restart(number))
    }

    /// The entry at a place; `None` at the end.
    fn stored(&self, at: usize) -> Option<Stored<'_>> {
        let body = self.body();
        let mut reader = Reader::new(body.get(at..).filter(|rest| !rest.is_empty())?);
        let shared = reader.length(body.len()).ok()?;
        let suffix = reader.bytes().ok()?;
        let start = body.len() - reader.rest().len();
        let head = usize::try_from(reader.varint().ok()?).ok()?;
        let is_value = head & 1 == 0;
        let held = reader.take(if is_value { head >> 1 } else { PageId::BYTES }).ok()?;
        let end = body.len() - reader.rest().len();
        Some(Stored { shared, suffix, content: body.get(start..end)?, value: is_value.then_some(held), end })
    }
}

fn put_key(bytes: &mut Vec<u8>, key: &[u8], shared: usize) {
    let suffix = key.get(shared..).expect("a key has what it shares");
    put_varint(bytes, shared as u64);
    put_varint(bytes, suffix.len() as u64);
    bytes.extend_from_slice(suffix);
}

fn put_value(bytes: &mut Vec<u8>, value: &[u8]) {
    put_varint(bytes, 2 * value.len() as u64);
    bytes.extend_from_slice(value);
}

/// A page of its entries and restarts; `None` if it has more bytes than any may have.
fn finish(mut bytes: Vec<u8>, restarts: impl Iterator<Item = usize>) -> Option<Bytes> {
    let mut count: u16 = 0;
    for restart in restarts {
        bytes.extend_from_slice(&u16::try_from(restart).ok()?.to_le_bytes());
        count += 1;
    }
    bytes.extend_from_slice(&count.to_le_bytes());
    (bytes.len() <= super::PAGE_BYTES_MAX).then(|| bytes.into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::page::{Content, PageBuilder};

    fn built(entries: &BTreeMap<Vec<u8>, Vec<u8>>) -> Page {
        let mut page = PageBuilder::new(PageKind::Leaf);
        entries.iter().for_each(|(key, value)| page.push(key, Content::Value(value)));
        Page::trusted(page.finish()).unwrap()
    }

    /// All entries, found one after the other; each is found by a search as well.
    fn read(page: &Page) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let (mut found, mut entries) = (BTreeMap::new(), page.entries());
        while entries.next() {
            let Content::Value(value) = entries.content() else { panic!("a value") };
            found.insert(entries.key().to_vec(), value.to_vec());
            assert!(page.entries().find(entries.key()), "{:?}", entries.key());
        }
        found
    }

    fn check(page: &Page, entries: &BTreeMap<Vec<u8>, Vec<u8>>) {
        assert_eq!(read(page), *entries);
        let restarts: Vec<usize> = page.restarts().collect();
        assert!(restarts.is_sorted_by(|one, other| one < other));
        assert_eq!(restarts.first().copied(), (!entries.is_empty()).then_some(page.start()));
        for restart in restarts {
            let entry = page.stored(restart).unwrap();
            assert!(entry.shared == 0 && page.group_entries(restart + 1) <= GROUP_ENTRIES_MAX);
        }
    }

    proptest! {
        #[test]
        fn entries_that_are_set_are_read_as_if_all_were_built_anew(
            first in prop::collection::btree_map(
                prop::collection::vec(0..4_u8, 1..6),
                prop::collection::vec(any::<u8>(), 0..200),
                0..80,
            ),
            sets in prop::collection::vec(
                (prop::collection::vec(0..4_u8, 1..6), prop::collection::vec(any::<u8>(), 0..200)),
                1..120,
            ),
        ) {
            let (mut entries, mut page) = (first, PageBuilder::new(PageKind::Leaf));
            entries.iter().for_each(|(key, value)| page.push(key, Content::Value(value)));
            let mut page = Page::trusted(page.finish()).unwrap();
            for (key, value) in sets {
                let spliced = page.with_entry(&key, &value);
                let expected = match entries.insert(key, value.clone()) {
                    Some(before) if before == value => None,
                    Some(_) => Some(Spliced::Replaced),
                    None => Some(Spliced::Added),
                };
                prop_assert_eq!(spliced.as_ref().map(|(_, spliced)| *spliced), expected);
                if let Some((bytes, _)) = spliced {
                    page = Page::trusted(bytes).unwrap();
                }
                check(&page, &entries);
            }
        }
    }

    #[test]
    fn pages_that_are_appended_to_are_as_small_as_built_ones() {
        let (mut entries, mut page) = (BTreeMap::new(), built(&BTreeMap::new()));
        for number in 0..1_000_u32 {
            let key = number.to_be_bytes().to_vec();
            page = Page::trusted(page.with_entry(&key, b"value").unwrap().0).unwrap();
            entries.insert(key, b"value".to_vec());
        }
        assert_eq!(page.bytes(), built(&entries).bytes());
    }

    #[test]
    fn groups_stay_short_wherever_entries_are_added() {
        let orders: [fn(u32) -> u32; 3] =
            [|number| 999 - number, |number| number * 617 % 1_000, |number| number / 2 + number % 2 * 500];
        for order in orders {
            let (mut entries, mut page) = (BTreeMap::new(), built(&BTreeMap::new()));
            for number in 0..1_000 {
                let key = order(number).to_be_bytes().to_vec();
                page = Page::trusted(page.with_entry(&key, b"value").unwrap().0).unwrap();
                entries.insert(key, b"value".to_vec());
            }
            check(&page, &entries);
            assert!(page.bytes().len() < built(&entries).bytes().len() / 4 * 5);
        }
    }

    #[test]
    fn records_with_pages_of_their_own_are_left_to_others() {
        let mut page = PageBuilder::new(PageKind::Leaf);
        let id = crate::page::Attempt { version: 1, nonce: 2 }.page(3);
        page.push(b"k", Content::Overflow(id, 100_000));
        let page = Page::trusted(page.finish()).unwrap();
        assert!(page.with_entry(b"k", b"value").is_none());
        let (bytes, spliced) = page.with_entry(b"l", b"value").unwrap();
        assert_eq!(spliced, Spliced::Added);
        let page = Page::trusted(bytes).unwrap();
        let mut entries = page.entries();
        assert!(entries.next() && entries.content() == Content::Overflow(id, 100_000));
        assert!(entries.next() && entries.content() == Content::Value(b"value") && !entries.next());
    }

    #[test]
    fn pages_that_would_be_too_large_are_refused() {
        let page = built(&[(vec![1], vec![0; 60_000])].into());
        assert!(page.with_entry(&[2], &[0; 6_000]).is_none());
    }
}
