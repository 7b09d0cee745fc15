//! Cutting runs of entries into pages, and joining small pages with their neighbours.

use crate::keys::index_key;
use crate::label::LabelPath;
use crate::page::{Child, Content, Page, PageBuilder, PageKind, Summary, common, overflow_page};
use crate::record::Record;
use crate::rewrite::{Item, Rewrite, is_record};
use crate::run::Run;
use crate::tree::Key;

impl Rewrite<'_> {
    /// Writes what is new among the pages below one interior page, and joins what became small.
    pub(super) fn settle(&mut self, items: Vec<(Key, Item)>) -> Vec<(Key, Child)> {
        let mut settled = Vec::with_capacity(items.len() + 1);
        for (low, item) in self.join(items) {
            match item {
                Item::Kept(child) | Item::Spliced(child) => settled.push((low, child)),
                Item::Leaf(run, is_append) => settled.extend(self.cut_run(&run, low, is_append)),
                Item::Interior(mut children, is_append) => {
                    if let Some((first, _)) = children.first_mut() {
                        *first = low;
                    }
                    settled.extend(self.cut_children(&children, is_append));
                }
            }
        }
        settled
    }

    /// Joins what is new and small with what is beside it.
    fn join(&mut self, items: Vec<(Key, Item)>) -> Vec<(Key, Item)> {
        let mut joined: Vec<(Key, Item)> = Vec::with_capacity(items.len());
        for (low, item) in items {
            let item = match joined.last_mut() {
                Some((_, before)) => self.join_two(before, item),
                None => Some(item),
            };
            joined.extend(item.map(|item| (low, item)));
        }
        joined
    }

    /// Joins two neighbours if one is new and small, and they have room in one page; else gives the second back.
    fn join_two(&mut self, before: &mut Item, item: Item) -> Option<Item> {
        if is_left(before) && is_left(&item) {
            return Some(item);
        }
        let max = self.bytes_max(before, &item);
        if ![&*before, &item].iter().any(|item| self.is_small(item, max)) {
            return Some(item);
        }
        let (one, other) = (self.size(before), self.size(&item));
        if one + other > max / 4 * 3 {
            return Some(item);
        }
        if [&*before, &item].iter().any(|item| matches!(item, Item::Spliced(_))) {
            return Some(item);
        }
        let is_interior = is_interior(before, &item);
        let kind = if is_interior { PageKind::Interior } else { PageKind::Leaf };
        let (Some(left), Some(right)) = (self.open(before, kind), self.open(&item, kind)) else {
            return Some(item);
        };
        self.supersede_kept(before);
        self.supersede_kept(&item);
        *before = match (left, right) {
            (Item::Leaf(mut run, _), Item::Leaf(more, is_append)) => {
                run.append(&more);
                Item::Leaf(run, is_append)
            }
            (Item::Interior(mut children, _), Item::Interior(more, is_append)) => {
                children.extend(more);
                Item::Interior(children, is_append)
            }
            _ => unreachable!("pages below one page are of one level"),
        };
        None
    }

    /// Whether an item is new and would be a small page.
    fn is_small(&self, item: &Item, max: usize) -> bool {
        !is_left(item) && self.size(item) < max / 4
    }

    fn supersede_kept(&mut self, item: &Item) {
        if let Item::Kept(child) = item {
            self.superseded.push(child.id);
        }
    }

    /// The entries of an item; `None` if its page is missing, or not of this kind.
    fn open(&mut self, item: &Item, kind: PageKind) -> Option<Item> {
        Some(match item {
            Item::Leaf(run, is_append) => Item::Leaf(run.clone(), *is_append),
            Item::Interior(children, is_append) => Item::Interior(children.clone(), *is_append),
            // Of pages that were just written none is opened again.
            Item::Spliced(_) => return None,
            Item::Kept(child) => {
                let page = self.load(child.id, kind)?;
                match kind {
                    PageKind::Interior => Item::Interior(children_of(&page), false),
                    _ => Item::Leaf(Run::of(&page), false),
                }
            }
        })
    }

    fn bytes_max(&self, one: &Item, other: &Item) -> usize {
        if is_interior(one, other) { self.limits.interior_bytes_max } else { self.limits.leaf_bytes_max }
    }

    /// Bytes of what an item would be as a page, about.
    fn size(&self, item: &Item) -> usize {
        match item {
            Item::Leaf(run, _) => run.size(),
            Item::Interior(children, _) => children.iter().map(child_size).sum(),
            // Of an interior page that is not read, its own bytes are not known.
            Item::Kept(child) | Item::Spliced(child) => match self.tree.pages.get(child.id) {
                Some(page) => page.bytes().len(),
                None => usize::try_from(child.bytes).unwrap_or(usize::MAX / 2).min(usize::MAX / 2),
            },
        }
    }

    /// Writes a run as pages. `low` is the least key that may lie in the first one.
    pub(super) fn cut_run(&mut self, run: &Run, low: Key, is_append: bool) -> Vec<(Key, Child)> {
        let sizes: Vec<usize> = run.sizes().map(|size| size.min(self.limits.leaf_bytes_max)).collect();
        let ends = plan(&sizes, (self.limits.leaf_bytes_max, 1), is_append);
        let (mut path, mut low) = (LabelPath::default(), Some(low));
        let (mut children, mut before): (Vec<_>, Vec<u8>) = (Vec::with_capacity(ends.len()), Vec::new());
        let (mut entries, mut start) = (run.iter(), 0);
        for end in ends {
            let mut leaf = Leaf::default();
            let mut first = None;
            for (key, content) in entries.by_ref().take(end - start) {
                first.get_or_insert_with(|| low.take().unwrap_or_else(|| separator(&before, key)));
                self.put(&mut leaf, &mut path, (key, content));
                before.clear();
                before.extend_from_slice(key);
            }
            start = end;
            let child = self.finish_leaf(leaf);
            children.extend(first.map(|first| (first, child)));
        }
        children
    }

    fn put(&mut self, leaf: &mut Leaf, path: &mut LabelPath, (key, content): (&[u8], Content<'_>)) {
        let content = match content {
            Content::Value(value) if value.len() > self.limits.record_bytes_max() => {
                Content::Overflow(self.write(overflow_page(value)), value.len())
            }
            content => content,
        };
        if let Content::Overflow(_, length) = content {
            leaf.child.has_overflow = true;
            leaf.child.bytes = leaf.child.bytes.saturating_add(length as u64);
        }
        if is_record(key) {
            path.go(self.schema(), key);
            path.node().into_iter().for_each(|node| leaf.child.summary.add(Summary::of(node)));
            leaf.child.records += 1;
        }
        leaf.page.push(key, content);
    }

    fn finish_leaf(&mut self, leaf: Leaf) -> Child {
        let bytes = leaf.page.finish();
        let size = leaf.child.bytes.saturating_add(bytes.len() as u64);
        let sum = Sum { bytes: size, ..leaf.child };
        Child { id: self.write(bytes), ..sum.child() }
    }

    /// Writes interior pages above these.
    pub(super) fn cut_children(&mut self, children: &[(Key, Child)], is_append: bool) -> Vec<(Key, Child)> {
        let sizes: Vec<usize> = children.iter().map(child_size).collect();
        let mut cut = Vec::new();
        let mut start = 0;
        for end in plan(&sizes, (self.limits.interior_bytes_max, 2), is_append) {
            let below = children.get(start..end).expect("pages end among what they hold");
            start = end;
            let (mut page, mut sum) = (PageBuilder::new(PageKind::Interior), Sum::default());
            for (key, child) in below {
                page.push(key, Content::Child(*child));
                sum.add(child);
            }
            let bytes = page.finish();
            sum.bytes = sum.bytes.saturating_add(bytes.len() as u64);
            let id = self.write(bytes);
            cut.extend(below.first().map(|(low, _)| (low.clone(), Child { id, ..sum.child() })));
        }
        cut
    }

    /// Adds the key index of all list entries to a run that has none.
    pub(super) fn add_index(&mut self, run: &mut Run) {
        let (schema, mut path, mut index) = (self.schema(), LabelPath::default(), Vec::new());
        for (key, content) in run.iter() {
            path.go(schema, key);
            let Some(node) = path.node() else { continue };
            let keys = schema.keys(node);
            if keys.is_empty() {
                continue;
            }
            let Content::Value(value) = content else {
                unreachable!("an inline tree holds its records itself")
            };
            let record = Record::new(schema, Some(node), bytes::Bytes::copy_from_slice(value));
            let values = keys.iter().map(|key| record.value(*key).expect("a list entry has its keys").text);
            let (parent, step) = key.split_at(path.parent_end());
            let slot = schema.node(node).slot;
            let order = crate::label::split_slot(step).map_or(&[][..], |(_, order)| order);
            index.push((index_key(parent, slot, values), order.to_vec()));
        }
        index.sort_unstable();
        index.iter().for_each(|(key, order)| run.push(key, Content::Value(order)));
    }
}

/// A leaf page under way.
struct Leaf {
    page: PageBuilder,
    child: Sum,
}

impl Default for Leaf {
    fn default() -> Self {
        Self { page: PageBuilder::new(PageKind::Leaf), child: Sum::default() }
    }
}

/// What is said of a page in the page above.
#[derive(Default)]
struct Sum {
    records: u64,
    bytes: u64,
    has_overflow: bool,
    summary: Summary,
}

impl Sum {
    fn add(&mut self, child: &Child) {
        // Of a damaged page they may be any numbers.
        self.records = self.records.saturating_add(child.records);
        self.bytes = self.bytes.saturating_add(child.bytes);
        self.has_overflow |= child.has_overflow;
        self.summary.add(child.summary);
    }

    fn child(&self) -> Child {
        let id = crate::page::Attempt { version: 0, nonce: 0 }.page(0);
        let Self { records, has_overflow, summary, .. } = *self;
        // It is stored with one bit more.
        let bytes = self.bytes.min(u64::MAX / 2);
        Child { id, records, bytes, has_overflow, summary }
    }
}

/// Whether an item is a page already.
fn is_left(item: &Item) -> bool {
    matches!(item, Item::Kept(_) | Item::Spliced(_))
}

/// Whether one of two neighbours is of interior pages: then both are.
fn is_interior(one: &Item, other: &Item) -> bool {
    matches!(one, Item::Interior(..)) || matches!(other, Item::Interior(..))
}

/// The pages below an interior page.
pub(super) fn children_of(page: &Page) -> Vec<(Key, Child)> {
    let (mut children, mut entries) = (Vec::new(), page.entries());
    while entries.next() {
        children.push((Key::from_slice(entries.key()), entries.child()));
    }
    children
}

/// Bytes of an entry of an interior page, about.
fn child_size((key, _): &(Key, Child)) -> usize {
    key.len() + 18
}

/// Where pages end: an eighth of each is left for what changes later; the last two are of one size, unless entries are being
/// appended. A page has at least `count_min` entries, but for the last.
fn plan(sizes: &[usize], (bytes_max, count_min): (usize, usize), is_append: bool) -> Vec<usize> {
    let is_one = sizes.iter().sum::<usize>() <= bytes_max;
    let full = if is_one { bytes_max } else { bytes_max / 8 * 7 };
    let (mut ends, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (at, size) in sizes.iter().enumerate() {
        if bytes + size > full && at - start >= count_min {
            ends.push(at);
            (start, bytes) = (at, 0);
        }
        bytes += size;
    }
    if !ends.is_empty() && !is_append && bytes < bytes_max / 2 {
        let before = ends.len().checked_sub(2).and_then(|at| ends.get(at).copied()).unwrap_or(0);
        let two = sizes.get(before..).expect("pages end among what they hold");
        let half = two.iter().sum::<usize>() / 2;
        let mut sum = 0;
        let count = two.iter().take_while(|size| {
            sum += **size;
            sum <= half
        });
        let end = before + count.count().max(count_min).min(two.len() - 1);
        if let Some(last) = ends.last_mut() {
            *last = end;
        }
    }
    if !sizes.is_empty() {
        ends.push(sizes.len());
    }
    ends
}

/// The shortest key that is above one and not above another.
fn separator(before: &[u8], key: &[u8]) -> Key {
    Key::from_slice(key.get(..=common(before, key)).unwrap_or(key))
}
