//! A tree of one version, to be read: records by label, and where a label is.

use bytes::Bytes;
use lang_yang::{NodeId, Schema};
use smallvec::SmallVec;

use crate::cache::{Fault, Pages};
use crate::fits::check_record;
use crate::label::{Label, Steps};
use crate::page::{Content, Page, PageId, PageKind};
use crate::record::Record;
use crate::root::{Body, HEIGHT_MAX, Root};

/// A key of the map: a label, or of the key index.
pub(crate) type Key = SmallVec<[u8; 24]>;

/// A tree to be read. Everything that misses a page answers a [`Fault`], and can be called again when the page is there.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) root: &'a Root,
    pub(crate) pages: &'a Pages,
}

impl<'a> Tree<'a> {
    /// The tree of a root, whose pages are loaded as they are missed. Cost: O(1).
    pub fn new(schema: &'a Schema, root: &'a Root, pages: &'a Pages) -> Self {
        Self { schema, root, pages }
    }

    /// The schema that its labels and records are of.
    pub fn schema(&self) -> &'a Schema {
        self.schema
    }

    /// Its pages.
    pub fn pages(&self) -> &'a Pages {
        self.pages
    }

    /// The root.
    pub fn root(&self) -> &'a Root {
        self.root
    }

    /// The record of a container or list entry, or of the top; `None` if there is none. Cost: O(log records).
    ///
    /// # Errors
    ///
    /// [`Fault`] if a page is missing.
    pub fn record(&self, label: &Label) -> Result<Option<Record<'a>>, Fault> {
        let bytes = self.get(label.as_bytes())?;
        Ok(bytes.map(|bytes| Record::new(self.schema, label.node(self.schema), bytes)))
    }

    /// The container or list that a label is an entry of; `None` for the top. Cost: O(length).
    pub fn node(&self, label: &Label) -> Option<NodeId> {
        label.node(self.schema)
    }

    /// The label of what an entry lies in; `None` for the top. Cost: O(length).
    pub fn parent(&self, label: &Label) -> Option<Label> {
        label.parent(self.schema)
    }

    /// The value of a key, sharing the bytes of its page.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        let mut page = self.top()?;
        for _ in 0..=HEIGHT_MAX {
            let mut entries = page.entries();
            if page.kind() == PageKind::Leaf {
                return if entries.find(key) {
                    self.value(key, entries.content(), entries.value()).map(Some)
                } else {
                    Ok(None)
                };
            }
            // A page of one record has no entries: it is not where keys lie.
            if !entries.seek_floor(key) {
                return Err(Fault::damage());
            }
            page = self.page(entries.child().id)?;
        }
        Err(Fault::damage())
    }

    /// The last key below this one.
    pub(crate) fn last_below(&self, key: &[u8]) -> Result<Option<Key>, Fault> {
        self.last_below_in(&self.top()?, key, HEIGHT_MAX)
    }

    fn last_below_in(&self, page: &Page, key: &[u8], height: usize) -> Result<Option<Key>, Fault> {
        let height = height.checked_sub(1).filter(|_| page.kind() != PageKind::Overflow);
        let height = height.ok_or_else(Fault::damage)?;
        let mut entries = page.entries();
        if page.kind() == PageKind::Leaf {
            return Ok(entries.seek_last_below(key).then(|| Key::from_slice(entries.key())));
        }
        // A separator may be below all keys of its page: then the last one is in the page before.
        let mut is_at_one = entries.seek_floor(key);
        while is_at_one {
            let found = self.last_below_in(&self.page(entries.child().id)?, key, height)?;
            if found.is_some() {
                return Ok(found);
            }
            let low = Key::from_slice(entries.key());
            is_at_one = entries.seek_last_below(&low);
        }
        Ok(None)
    }

    /// What an entry of a leaf page holds, wherever it lies.
    pub(crate) fn value(
        &self,
        key: &[u8],
        content: Content<'_>,
        here: Option<Bytes>,
    ) -> Result<Bytes, Fault> {
        let Content::Overflow(id, _) = content else { return here.ok_or_else(Fault::damage) };
        let record = self.page(id)?.record().ok_or_else(Fault::damage)?;
        let node = Steps::new(self.schema, key).last().map(|step| step.node);
        check_record(self.schema, node, &record).map_err(|_| Fault::damage())?;
        Ok(record)
    }

    /// The page that all others hang on.
    pub(crate) fn top(&self) -> Result<Page, Fault> {
        match &self.root.body {
            Body::Inline(page) => Ok(page.clone()),
            Body::Paged { top, .. } => self.page(top.id),
        }
    }

    pub(crate) fn page(&self, id: PageId) -> Result<Page, Fault> {
        self.pages.get(id).ok_or_else(|| Fault(vec![id]))
    }

    /// Whether entries are found by their keys without a look at their siblings.
    pub(crate) fn has_index(&self) -> bool {
        !self.root.is_inline()
    }
}
