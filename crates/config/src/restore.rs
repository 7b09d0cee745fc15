//! Taking up the tree of an older version again, and the pages that a tree has.
//!
//! Pages that both trees have stay shared. What only the older one has is written anew under names of its own: a page that was superseded
//! once is never taken up again, so whoever counts superseded pages is right to remove them.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;

use crate::cache::Fault;
use crate::page::{Attempt, Child, Content, Page, PageBuilder, PageId, PageKind};
use crate::root::{Body, Root};
use crate::tree::Tree;

/// An older tree as the next version.
#[derive(Clone, Debug)]
pub struct Restored {
    /// Its root.
    pub root: Root,
    /// Its pages that the newest version has not.
    pub pages: Vec<(PageId, Bytes)>,
    /// Pages of the newest version that it has not.
    pub superseded: Vec<PageId>,
}

/// Pages that one tree has and the other has not.
#[derive(Debug, Default)]
struct Difference {
    of_one: HashSet<PageId>,
    of_other: HashSet<PageId>,
}

/// All pages of a tree. Cost: its interior pages are read, and leaf pages with records that have pages of their own.
///
/// # Errors
///
/// [`Fault`] if pages are missing.
pub fn pages_of(tree: &Tree<'_>) -> Result<Vec<PageId>, Fault> {
    let empty = Root::empty();
    let nothing = Tree { root: &empty, ..*tree };
    Ok(difference(tree, &nothing)?.of_one.into_iter().collect())
}

/// Pages of a tree that are not in memory: for who is about to read all of it. Cost: as [`pages_of`].
///
/// # Errors
///
/// [`Fault`] if pages are missing that say which pages there are.
pub fn missing_pages(tree: &Tree<'_>) -> Result<Vec<PageId>, Fault> {
    let mut pages = pages_of(tree)?;
    pages.retain(|id| !tree.pages.contains(*id));
    pages.sort_unstable();
    Ok(pages)
}

/// The tree of an older version of the same anchor as that of the next, which `attempt` writes; `head` is the newest. Cost: pages that
/// they do not share are read, those of the older one written anew.
///
/// # Errors
///
/// [`Fault`] if pages are missing.
pub fn restore(old: &Tree<'_>, head: &Tree<'_>, attempt: Attempt) -> Result<Restored, Fault> {
    let difference = difference(old, head)?;
    let mut superseded: Vec<PageId> = difference.of_other.into_iter().collect();
    superseded.sort_unstable();
    let missing: Vec<PageId> =
        difference.of_one.iter().copied().filter(|id| !old.pages.contains(*id)).collect();
    if !missing.is_empty() {
        return Err(Fault(missing));
    }
    let mut copy = Copy { tree: old, only: &difference.of_one, attempt, pages: Vec::new() };
    let body = match &old.root.body {
        Body::Inline(page) => Body::Inline(page.clone()),
        Body::Paged { top, height } => Body::Paged { top: copy.child(*top, *height)?, height: *height },
    };
    let root = Root { records: old.root.records, body };
    Ok(Restored { root, pages: copy.pages, superseded })
}

/// Goes down both trees level by level, and passes over what they share: a shared page has the same pages below it in both.
fn difference(one: &Tree<'_>, other: &Tree<'_>) -> Result<Difference, Fault> {
    let (mut difference, mut of_one, mut of_other) = (Difference::default(), Vec::new(), Vec::new());
    let top = |tree: &Tree<'_>| match &tree.root.body {
        Body::Inline(_) => None,
        Body::Paged { top, height } => Some((*top, *height)),
    };
    let (one_top, other_top) = (top(one), top(other));
    let height = [one_top, other_top].iter().flatten().map(|(_, height)| *height).max();
    for level in (0..=height.unwrap_or(0)).rev() {
        of_one.extend(one_top.filter(|(_, height)| *height == level).map(|(top, _)| top));
        of_other.extend(other_top.filter(|(_, height)| *height == level).map(|(top, _)| top));
        keep_apart(&mut of_one, &mut of_other);
        // Each page is named by one: one that comes again has itself below.
        let is_whole = of_one.iter().all(|child: &Child| difference.of_one.insert(child.id))
            && of_other.iter().all(|child: &Child| difference.of_other.insert(child.id));
        if !is_whole {
            return Err(Fault::damage());
        }
        let (below_one, below_other) = both(expand(one, &of_one, level), expand(other, &of_other, level))?;
        if level > 0 {
            (of_one, of_other) = (below_one.0, below_other.0);
        } else {
            difference.of_one.extend(below_one.1.difference(&below_other.1));
            difference.of_other.extend(below_other.1.difference(&below_one.1));
        }
    }
    Ok(difference)
}

/// Drops pages that are in both.
fn keep_apart(one: &mut Vec<Child>, other: &mut Vec<Child>) {
    let ids = |children: &[Child]| children.iter().map(|child| child.id).collect::<HashSet<_>>();
    let (of_one, of_other) = (ids(one), ids(other));
    one.retain(|child| !of_other.contains(&child.id));
    other.retain(|child| !of_one.contains(&child.id));
}

/// Pages below, and pages of records.
type Below = (Vec<Child>, HashSet<PageId>);

/// What lies below pages of a level: of interior pages their pages, of leaf pages those of records that have their own.
fn expand(tree: &Tree<'_>, children: &[Child], level: usize) -> Result<Below, Fault> {
    let (mut below, mut missing) = (Below::default(), Vec::new());
    for child in children.iter().filter(|child| level > 0 || child.has_overflow) {
        let Some(page) = tree.pages.get(child.id) else {
            missing.push(child.id);
            continue;
        };
        if page.kind() != PageKind::at(level) {
            return Err(Fault::damage());
        }
        let mut entries = page.entries();
        while entries.next() {
            match entries.content() {
                Content::Child(child) => below.0.push(child),
                Content::Overflow(id, _) => {
                    below.1.insert(id);
                }
                Content::Value(_) => {}
            }
        }
    }
    if missing.is_empty() { Ok(below) } else { Err(Fault(missing)) }
}

/// Asks for the pages that both lack together.
fn both<T>(one: Result<T, Fault>, other: Result<T, Fault>) -> Result<(T, T), Fault> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(Fault(mut one)), Err(Fault(other))) => {
            one.extend(other);
            Err(Fault(one))
        }
        (Err(fault), _) | (_, Err(fault)) => Err(fault),
    }
}

/// Writes pages anew.
struct Copy<'a> {
    tree: &'a Tree<'a>,
    /// Those that are to be written anew.
    only: &'a HashSet<PageId>,
    attempt: Attempt,
    pages: Vec<(PageId, Bytes)>,
}

impl Copy<'_> {
    fn put(&mut self, bytes: Bytes) -> PageId {
        let number = u32::try_from(self.pages.len()).expect("a tree has fewer pages");
        let id = self.attempt.page(number);
        self.pages.push((id, bytes));
        id
    }

    /// A page with all below, so many levels of them.
    fn child(&mut self, child: Child, height: usize) -> Result<Child, Fault> {
        if !self.only.contains(&child.id) {
            return Ok(child);
        }
        let page = self.tree.page(child.id)?;
        if page.kind() != PageKind::at(height) {
            return Err(Fault::damage());
        }
        let before = page.bytes().len() as u64;
        let (bytes, below) = match page.kind() {
            PageKind::Interior => self.interior(&page, height - 1)?,
            PageKind::Leaf if child.has_overflow => (self.leaf(&page)?, 0),
            PageKind::Leaf | PageKind::Overflow => (page.bytes().clone(), 0),
        };
        let after = bytes.len() as u64;
        let id = self.put(bytes);
        // What lies below a leaf page stays as large.
        let below = match height {
            0 => child.bytes.checked_sub(before).ok_or_else(Fault::damage)?,
            _ => below,
        };
        Ok(Child { id, bytes: after.saturating_add(below).min(u64::MAX / 2), ..child })
    }

    /// An interior page with all below, and the bytes of what lies below.
    fn interior(&mut self, page: &Page, height: usize) -> Result<(Bytes, u64), Fault> {
        let (mut builder, mut below) = (PageBuilder::new(PageKind::Interior), 0);
        let mut entries = page.entries();
        while entries.next() {
            let child = self.child(entries.child(), height)?;
            below = child.bytes.saturating_add(below);
            builder.push(entries.key(), Content::Child(child));
        }
        Ok((builder.finish(), below))
    }

    /// A leaf page, some records of which have pages of their own.
    fn leaf(&mut self, page: &Page) -> Result<Bytes, Fault> {
        let (mut builder, mut copied) = (PageBuilder::new(PageKind::Leaf), HashMap::new());
        let mut entries = page.entries();
        while entries.next() {
            match entries.content() {
                Content::Overflow(id, length) if self.only.contains(&id) => {
                    let page = self.tree.page(id)?;
                    let record = page.record().map(|_| page.bytes().clone()).ok_or_else(Fault::damage)?;
                    let id = *copied.entry(id).or_insert_with(|| self.put(record));
                    builder.push(entries.key(), Content::Overflow(id, length));
                }
                content => builder.push(entries.key(), content),
            }
        }
        Ok(builder.finish())
    }
}
