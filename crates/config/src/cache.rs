//! Pages in memory: a cache of the process, and what one read holds on to.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use lang_yang::Schema;
use lru::LruCache;
use parking_lot::Mutex;
use store::wire::Malformed;
use xxhash_rust::xxh3::xxh3_64;

use crate::fits::check_page;
use crate::page::{Page, PageId, VALUES_SHARE};

/// Parts of the cache, each with a lock of its own.
const SHARDS: usize = 16;
/// What a cached page costs beside its bytes and the values that a search may note of it.
const ENTRY_BYTES: usize = 160;

/// Pages that are not in memory: load them, give them to [`Pages::insert`], and call again. All of them are needed, or will be soon.
/// Without any, what is stored is damaged, and there is no use in calling again ([`Fault::is_damage`]).
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{} pages are not in memory", .0.len())]
pub struct Fault(pub Vec<PageId>);

impl Fault {
    /// Of a tree whose pages do not belong together.
    pub(crate) fn damage() -> Self {
        Self(Vec::new())
    }

    /// Whether what is stored is damaged: no page that could be loaded would help.
    pub fn is_damage(&self) -> bool {
        self.0.is_empty()
    }
}

/// Pages that were read or written last, up to a number of bytes. Shared by a process: page ids are unique for ever, so nothing in
/// it is ever out of date.
#[derive(Debug)]
pub struct PageCache {
    shards: [Mutex<Shard>; SHARDS],
    shard_bytes_max: usize,
}

#[derive(Debug)]
struct Shard {
    pages: LruCache<PageId, Page>,
    bytes: usize,
}

impl PageCache {
    /// An empty cache of at most so many bytes.
    pub fn new(bytes_max: usize) -> Self {
        let shard = |_| Mutex::new(Shard { pages: LruCache::unbounded(), bytes: 0 });
        Self { shards: std::array::from_fn(shard), shard_bytes_max: bytes_max / SHARDS }
    }

    /// Adds pages that [`crate::apply`] has just made; what is no page is left out. Cost: O(pages).
    pub fn insert_written(&self, pages: &[(PageId, Bytes)]) {
        for (id, bytes) in pages {
            if let Ok(page) = Page::trusted(bytes.clone()) {
                self.add(*id, page);
            }
        }
    }

    /// Whether a page is there. Cost: O(1), a lock of its shard.
    pub fn contains(&self, id: PageId) -> bool {
        self.shard(id).lock().pages.contains(&id)
    }

    /// Bytes of all pages in it.
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().bytes).sum()
    }

    fn get(&self, id: PageId) -> Option<Page> {
        self.shard(id).lock().pages.get(&id).cloned()
    }

    fn add(&self, id: PageId, page: Page) {
        let mut shard = self.shard(id).lock();
        shard.bytes += cost(&page);
        if let Some(before) = shard.pages.put(id, page) {
            shard.bytes -= cost(&before);
        }
        while shard.bytes > self.shard_bytes_max {
            let Some((_, page)) = shard.pages.pop_lru() else { break };
            shard.bytes -= cost(&page);
        }
    }

    fn shard(&self, id: PageId) -> &Mutex<Shard> {
        let at = xxh3_64(&id.to_bytes()) % SHARDS as u64;
        self.shards.get(usize::try_from(at).expect("a few")).expect("a remainder is below its divisor")
    }
}

fn cost(page: &Page) -> usize {
    page.bytes().len() + page.bytes().len() / VALUES_SHARE + ENTRY_BYTES
}

/// What one read or write sees of pages: the cache, and every page that it has used so far, whatever the cache drops meanwhile.
#[derive(Debug)]
pub struct Pages {
    cache: Arc<PageCache>,
    pinned: Mutex<HashMap<PageId, Page>>,
}

impl Pages {
    /// Begins with what is in a cache.
    pub fn new(cache: Arc<PageCache>) -> Self {
        Self { cache, pinned: Mutex::default() }
    }

    /// Adds stored bytes of a page that a [`Fault`] asked for, of a tree under this schema, here and to the cache. Cost: a look at
    /// each byte.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if they are no page, or one of another schema.
    pub fn insert(&self, schema: &Schema, id: PageId, bytes: Bytes) -> Result<(), Malformed> {
        let page = Page::from_bytes(bytes)?;
        check_page(schema, &page)?;
        self.cache.add(id, page.clone());
        self.pinned.lock().insert(id, page);
        Ok(())
    }

    /// The same view, apart: pages that are added to it by [`Pages::pin_written`] are seen through it alone. Cost: O(pages used so far).
    #[must_use]
    pub fn fork(&self) -> Self {
        Self { cache: Arc::clone(&self.cache), pinned: Mutex::new(self.pinned.lock().clone()) }
    }

    /// Adds pages that [`crate::apply`] has just made, here and not to the cache: for trees that may never be stored. What is no page is
    /// left out. Cost: O(pages).
    pub fn pin_written(&self, pages: &[(PageId, Bytes)]) {
        let mut pinned = self.pinned.lock();
        for (id, bytes) in pages {
            if let Ok(page) = Page::trusted(bytes.clone()) {
                pinned.insert(*id, page);
            }
        }
    }

    /// Lets go of all pages, so that a long read holds on to few: cursors go on, for they hold what they are in themselves.
    pub fn release(&self) {
        self.pinned.lock().clear();
    }

    /// The cache.
    pub fn cache(&self) -> &Arc<PageCache> {
        &self.cache
    }

    pub(crate) fn get(&self, id: PageId) -> Option<Page> {
        let mut pinned = self.pinned.lock();
        if let Some(page) = pinned.get(&id) {
            return Some(page.clone());
        }
        let page = self.cache.get(id)?;
        pinned.insert(id, page.clone());
        Some(page)
    }

    pub(crate) fn contains(&self, id: PageId) -> bool {
        self.pinned.lock().contains_key(&id) || self.cache.contains(id)
    }
}

#[cfg(test)]
mod tests {
    use super::{ENTRY_BYTES, Page, PageCache, Pages, SHARDS, VALUES_SHARE};
    use crate::page::{Attempt, PageBuilder, PageId, PageKind};
    use lang_yang::testing::SchemaBuilder;
    use std::sync::Arc;

    fn id(number: u32) -> PageId {
        Attempt { version: 1, nonce: 2 }.page(number)
    }

    #[test]
    fn a_cache_is_bounded_and_a_read_keeps_what_it_used() {
        let (schema, bytes) =
            (SchemaBuilder::new("m", "m").build(), PageBuilder::new(PageKind::Leaf).finish());
        let page_bytes = bytes.len() + bytes.len() / VALUES_SHARE + ENTRY_BYTES;
        let cache = Arc::new(PageCache::new(SHARDS * page_bytes * 2));
        let pages = Pages::new(Arc::clone(&cache));
        for number in 0..1_000 {
            pages.insert(&schema, id(number), bytes.clone()).unwrap();
        }
        assert!(cache.bytes() <= SHARDS * page_bytes * 2);
        assert!(pages.get(id(0)).is_some() && !cache.contains(id(0)), "the read holds on to it");
        pages.release();
        assert!(!pages.contains(id(0)) && pages.get(id(999)).is_some());
    }

    #[test]
    fn bytes_that_are_no_page_stay_outside() {
        let pages = Pages::new(Arc::new(PageCache::new(1 << 20)));
        let schema = SchemaBuilder::new("m", "m").build();
        pages.insert(&schema, id(0), bytes::Bytes::from_static(&[1, 9])).unwrap_err();
        pages.cache().insert_written(&[(id(0), bytes::Bytes::new())]);
        assert!(!pages.contains(id(0)) && Page::from_bytes(bytes::Bytes::new()).is_err());
    }
}
