//! Writing a version: sorted changes of keys, applied to the pages of the version before. Only the paths to what changes are
//! written anew; what a page loses or gains moves between neighbours.

mod cut;
mod small;

use std::collections::HashSet;

use bytes::Bytes;
use lang_yang::Schema;

use crate::cache::Fault;
use crate::edit::{Applied, Changes};
use crate::label::{LabelPath, NO_LABEL};
use crate::limits::PageLimits;
use crate::page::{Attempt, Child, Content, Entries, Page, PageBuilder, PageId, PageKind, Spliced, Summary};
use crate::root::{Body, Root};
use crate::run::Run;
use crate::tree::{Key, Tree};

/// A key and its new value; `None`: it is no more.
pub(crate) type Point = (Bytes, Option<Bytes>);
/// Keys from the first on, before the second, that are no more, unless a point says otherwise.
pub(crate) type Removed = (Vec<u8>, Vec<u8>);

/// Changes, in ascending order. Removed ranges do not meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delta<'d> {
    pub(crate) points: &'d [Point],
    pub(crate) removed: &'d [Removed],
}

/// Entries that are set one by one in a page: more are merged with all others.
const SPLICED_MAX: usize = 4;

/// A version under way.
pub(crate) struct Rewrite<'a> {
    tree: Tree<'a>,
    limits: PageLimits,
    attempt: Attempt,
    pages: Vec<(PageId, Bytes)>,
    superseded: Vec<PageId>,
    changes: Changes,
    missing: Vec<PageId>,
    /// Pages with pages below that were met: each is named by one page.
    met: HashSet<PageId>,
    /// Whether a page was met that is not what it is named for.
    is_damaged: bool,
}

/// A part of the new version: what becomes of one page of the old one, or of several.
enum Item {
    Kept(Child),
    /// A leaf page that was written with some entries set. It is not small, and is not opened again to take in a small neighbour,
    /// which stays small until it changes again.
    Spliced(Child),
    /// Entries of leaf pages; whether the last of them is new.
    Leaf(Run, bool),
    /// Entries of interior pages; the same.
    Interior(Vec<(Key, Child)>, bool),
}

/// What a page got.
#[derive(Clone, Copy, Debug, Default)]
struct Added {
    records: u64,
    updated: u64,
    summary: Summary,
}

/// Applies changes to a tree. Cost: O(changes × log pages) pages are read and written, at most.
///
/// # Errors
///
/// [`Fault`] if pages are missing: all that are known to be needed; or if pages are not what they are named for.
pub(crate) fn rewrite(
    tree: Tree<'_>,
    delta: Delta<'_>,
    limits: PageLimits,
    attempt: Attempt,
) -> Result<Applied, Fault> {
    let mut rewrite = Rewrite::new(tree, limits, attempt);
    let body = match &tree.root.body {
        Body::Inline(page) => rewrite.inline(page, delta),
        Body::Paged { top, height } => rewrite.paged(*top, *height, delta),
    };
    if rewrite.is_damaged {
        return Err(Fault::damage());
    }
    if !rewrite.missing.is_empty() {
        return Err(Fault(rewrite.missing));
    }
    let records = tree.root.records.saturating_add(rewrite.changes.created);
    let records = records.checked_sub(rewrite.changes.removed).ok_or_else(Fault::damage)?;
    let root = body.map_or_else(|| tree.root.clone(), |body| Root { records, body });
    let mut applied =
        Applied { root, pages: rewrite.pages, superseded: rewrite.superseded, changes: rewrite.changes };
    small::move_inline(tree, limits, &mut applied)?;
    Ok(applied)
}

impl<'d> Delta<'d> {
    /// The changes of keys before `end` (all, if there is no end), and the others. A range that goes beyond is in both.
    fn split(self, end: Option<&[u8]>) -> (Self, Self) {
        let Some(end) = end.filter(|_| !self.is_empty()) else {
            return (self, Self { points: &[], removed: &[] });
        };
        let (points, more_points) =
            self.points.split_at(self.points.partition_point(|(key, _)| **key < *end));
        let ended = self.removed.partition_point(|(_, last)| last.as_slice() <= end);
        let begun = self.removed.partition_point(|(first, _)| first.as_slice() < end);
        let removed = self.removed.get(..begun).expect("a partition point is at most the length");
        let more = self.removed.get(ended..).expect("a partition point is at most the length");
        (Self { points, removed }, Self { points: more_points, removed: more })
    }

    fn is_empty(self) -> bool {
        self.points.is_empty() && self.removed.is_empty()
    }

    /// Whether all keys from `low` to `high` are removed, and none is set.
    fn removes(self, low: &[u8], high: Option<&[u8]>) -> bool {
        let covers = |(first, end): &Removed| {
            first.as_slice() <= low && high.is_some_and(|high| high <= end.as_slice())
        };
        self.points.is_empty() && self.removed.iter().any(covers)
    }

    fn has_removed(self, key: &[u8]) -> bool {
        let before = self.removed.partition_point(|(first, _)| first.as_slice() <= key);
        let last = before.checked_sub(1).and_then(|at| self.removed.get(at));
        last.is_some_and(|(_, end)| key < end.as_slice())
    }
}

fn is_record(key: &[u8]) -> bool {
    key.first() != Some(&NO_LABEL)
}

impl<'a> Rewrite<'a> {
    fn new(tree: Tree<'a>, limits: PageLimits, attempt: Attempt) -> Self {
        Self {
            tree,
            limits,
            attempt,
            pages: Vec::new(),
            superseded: Vec::new(),
            changes: Changes::default(),
            missing: Vec::new(),
            met: HashSet::new(),
            is_damaged: false,
        }
    }

    fn schema(&self) -> &'a Schema {
        self.tree.schema
    }

    /// A tree that was inline: it is again, or gets pages and a key index.
    fn inline(&mut self, page: &Page, delta: Delta<'_>) -> Option<Body> {
        let records = delta.points.partition_point(|(key, _)| is_record(key));
        let points = delta.points.get(..records).expect("a partition point is at most the length");
        let spliced = self.splice(page, Delta { points, ..delta }, self.limits.inline_bytes_max);
        if let Some((bytes, added)) = spliced {
            self.note(added);
            let page = Page::trusted(bytes);
            return Some(Body::Inline(page.expect("what was just written is a page")));
        }
        let mut run = self.merge(page, Delta { points, ..delta })?;
        if let Some(page) = inline_page(&run, self.limits.inline_bytes_max) {
            return Some(Body::Inline(page));
        }
        self.add_index(&mut run);
        let children = self.cut_run(&run, Key::new(), true);
        Some(self.grow(children, 0))
    }

    fn paged(&mut self, top: Child, height: usize, delta: Delta<'_>) -> Option<Body> {
        if delta.is_empty() {
            return None;
        }
        let page = self.load(top.id, PageKind::at(height))?;
        if height == 0
            && let Some(spliced) = self.splice_leaf(&top, &page, delta)
        {
            self.superseded.push(top.id);
            return Some(Body::Paged { top: spliced, height });
        }
        let (children, level) = if height == 0 {
            let run = self.merge(&page, delta)?;
            (self.cut_run(&run, Key::new(), ends_with(delta, &run)), 0)
        } else {
            (self.interior(&page, height, None, delta)?, height - 1)
        };
        self.superseded.push(top.id);
        Some(self.grow(children, level))
    }

    /// Builds interior pages until there is one page above all others.
    fn grow(&mut self, mut children: Vec<(Key, Child)>, mut height: usize) -> Body {
        while children.len() > 1 {
            children = self.cut_children(&children, true);
            height += 1;
        }
        match children.pop() {
            Some((_, top)) => Body::Paged { top, height },
            None => Root::empty().body,
        }
    }

    /// What becomes of the pages below an interior page; `None` if all stay as they are.
    fn interior(
        &mut self,
        page: &Page,
        height: usize,
        end: Option<&[u8]>,
        delta: Delta<'_>,
    ) -> Option<Vec<(Key, Child)>> {
        let (mut items, mut rest, mut is_changed) = (Vec::new(), delta, false);
        let mut entries = page.entries();
        let mut has_entry = entries.next();
        while has_entry {
            let (low, child) = (Key::from_slice(entries.key()), entries.child());
            has_entry = entries.next();
            let high = if has_entry { Some(entries.key()) } else { end };
            let (here, later) = rest.split(high);
            rest = later;
            let fate = self.child(child, height - 1, (&low, high), here);
            is_changed |= !matches!(fate, Some(Item::Kept(_)));
            items.extend(fate.map(|item| (low, item)));
        }
        is_changed.then(|| self.settle(items))
    }

    /// What becomes of a page; `None`: nothing of it is left.
    fn child(
        &mut self,
        child: Child,
        height: usize,
        (low, high): (&[u8], Option<&[u8]>),
        delta: Delta<'_>,
    ) -> Option<Item> {
        if delta.is_empty() {
            return Some(Item::Kept(child));
        }
        if delta.removes(low, high) {
            self.drop_page(child, height);
            return None;
        }
        let page = if self.meet(child.id, height) { self.load(child.id, PageKind::at(height)) } else { None };
        let Some(page) = page else { return Some(Item::Kept(child)) };
        if height == 0
            && let Some(spliced) = self.splice_leaf(&child, &page, delta)
        {
            self.superseded.push(child.id);
            return Some(Item::Spliced(spliced));
        }
        let item = if height == 0 {
            self.merge(&page, delta).map(|run| {
                let is_append = ends_with(delta, &run);
                Item::Leaf(run, is_append)
            })
        } else {
            let children = self.interior(&page, height, high, delta);
            children.map(|children| Item::Interior(children, high.is_none()))
        };
        let Some(item) = item else { return Some(Item::Kept(child)) };
        self.superseded.push(child.id);
        let is_empty = match &item {
            Item::Leaf(run, _) => run.len() == 0,
            Item::Interior(children, _) => children.is_empty(),
            Item::Kept(_) | Item::Spliced(_) => false,
        };
        (!is_empty).then_some(item)
    }

    /// A leaf page with some entries set, written: its place among those of its parent stays the same. `None` if it is to be cut, or
    /// joined, or read as a whole.
    fn splice_leaf(&mut self, child: &Child, page: &Page, delta: Delta<'_>) -> Option<Child> {
        let max = self.limits.leaf_bytes_max;
        let values = delta.points.iter().filter_map(|(_, value)| value.as_ref());
        if values.into_iter().any(|value| value.len() > self.limits.record_bytes_max()) {
            return None;
        }
        let (bytes, added) = self.splice(page, delta, max).filter(|(bytes, _)| bytes.len() >= max / 4)?;
        let size = child.bytes.checked_sub(page.bytes().len() as u64)?.checked_add(bytes.len() as u64)?;
        // It is stored with one bit more; of a damaged page it may be any number.
        if size > u64::MAX / 2 {
            return None;
        }
        let mut child = Child { records: child.records.checked_add(added.records)?, bytes: size, ..*child };
        child.summary.add(added.summary);
        self.note(added);
        child.id = self.write(bytes);
        Some(child)
    }

    /// The bytes of a leaf page with some entries set, if they are few and fit; what was added is not noted yet.
    fn splice(&self, page: &Page, delta: Delta<'_>, bytes_max: usize) -> Option<(Bytes, Added)> {
        if !delta.removed.is_empty() || delta.points.len() > SPLICED_MAX {
            return None;
        }
        let (mut page, mut added) = (page.clone(), Added::default());
        for (key, value) in delta.points {
            let (bytes, spliced) = page.with_entry(key, value.as_ref()?)?;
            if is_record(key) {
                match spliced {
                    Spliced::Replaced => added.updated += 1,
                    Spliced::Added => {
                        added.records += 1;
                        let mut path = LabelPath::default();
                        path.go(self.schema(), key);
                        path.node().into_iter().for_each(|node| added.summary.add(Summary::of(node)));
                    }
                }
            }
            page = Page::trusted(bytes).expect("what was just written is a page");
        }
        (page.bytes().len() <= bytes_max).then(|| (page.bytes().clone(), added))
    }

    fn note(&mut self, added: Added) {
        self.changes.created += added.records;
        self.changes.updated += added.updated;
    }

    /// The entries of a leaf page after changes; `None` if they are the same.
    fn merge(&mut self, page: &Page, delta: Delta<'_>) -> Option<Run> {
        let (mut run, mut entries, mut is_changed) = (Run::default(), page.entries(), false);
        let mut points = delta.points.iter().peekable();
        while entries.next() {
            while let Some((key, value)) = points.next_if(|(key, _)| **key < *entries.key()) {
                is_changed |= self.add(&mut run, key, value.as_ref());
            }
            let point = points.next_if(|(key, _)| **key == *entries.key());
            let value = match point {
                Some((_, value)) => value.as_ref(),
                None if !delta.has_removed(entries.key()) => {
                    run.push(entries.key(), entries.content());
                    continue;
                }
                None => None,
            };
            is_changed |= self.replace(&mut run, &entries, value);
        }
        for (key, value) in points {
            is_changed |= self.add(&mut run, key, value.as_ref());
        }
        is_changed.then_some(run)
    }

    /// Adds an entry that was not there; whether there is one.
    fn add(&mut self, run: &mut Run, key: &[u8], value: Option<&Bytes>) -> bool {
        let Some(value) = value else { return false };
        run.push(key, Content::Value(value));
        self.changes.created += u64::from(is_record(key));
        true
    }

    /// Replaces an entry, or leaves it out; whether it is another then.
    fn replace(&mut self, run: &mut Run, entries: &Entries, value: Option<&Bytes>) -> bool {
        let count = u64::from(is_record(entries.key()));
        let Some(value) = value else {
            self.changes.removed += count;
            self.drop_overflow(entries.content());
            return true;
        };
        let is_same = match entries.content() {
            Content::Value(before) => before == value,
            Content::Overflow(id, length) => {
                let has_it = |page: Page| page.record().is_some_and(|record| record == value);
                length == value.len() && self.load(id, PageKind::Overflow).is_some_and(has_it)
            }
            Content::Child(_) => unreachable!("leaf pages hold no pages"),
        };
        if is_same {
            run.push(entries.key(), entries.content());
            return false;
        }
        self.changes.updated += count;
        self.drop_overflow(entries.content());
        run.push(entries.key(), Content::Value(value));
        true
    }

    fn drop_overflow(&mut self, content: Content<'_>) {
        if let Content::Overflow(id, _) = content {
            self.superseded.push(id);
        }
    }

    /// Leaves out a page and all below. Leaf pages are not read for it, but for records that have pages of their own.
    fn drop_page(&mut self, child: Child, height: usize) {
        self.changes.removed = self.changes.removed.saturating_add(child.records);
        self.drop_ids(child, height);
    }

    fn drop_ids(&mut self, child: Child, height: usize) {
        self.superseded.push(child.id);
        if height == 0 && !child.has_overflow {
            return;
        }
        if !self.meet(child.id, height) {
            return;
        }
        let Some(page) = self.load(child.id, PageKind::at(height)) else { return };
        let mut entries = page.entries();
        while entries.next() {
            match entries.content() {
                Content::Child(below) => self.drop_ids(below, height - 1),
                content => self.drop_overflow(content),
            }
        }
    }

    /// A page of the version before; one that is missing or of another kind is noted.
    fn load(&mut self, id: PageId, kind: PageKind) -> Option<Page> {
        let page = self.tree.pages.get(id);
        match &page {
            None => self.missing.push(id),
            Some(page) => self.is_damaged |= page.kind() != kind,
        }
        page.filter(|page| page.kind() == kind)
    }

    /// Notes that a page is met; `false` if the tree is damaged: a page with pages below was met before, by another name or its own.
    fn meet(&mut self, id: PageId, height: usize) -> bool {
        self.is_damaged |= height > 0 && !self.met.insert(id);
        !self.is_damaged
    }

    fn write(&mut self, bytes: Bytes) -> PageId {
        let number = u32::try_from(self.pages.len()).expect("a version has less than 2^32 pages");
        let id = self.attempt.page(number);
        self.pages.push((id, bytes));
        id
    }
}

/// Whether the last entry of a run is one that was set: then more may follow, as entries are appended.
fn ends_with(delta: Delta<'_>, run: &Run) -> bool {
    delta.points.last().is_some_and(|(key, value)| value.is_some() && run.last_key() == Some(&**key))
}

/// A run as the page of an inline tree, if it has at most so many bytes.
fn inline_page(run: &Run, bytes_max: usize) -> Option<Page> {
    // What is far too large is not tried.
    if run.size() / 2 > bytes_max {
        return None;
    }
    let mut page = PageBuilder::new(PageKind::Leaf);
    for (key, content) in run.iter() {
        page.push(key, content);
        if page.len() > bytes_max {
            return None;
        }
    }
    let page = Page::trusted(page.finish());
    Some(page.expect("what was just built is a page"))
}
