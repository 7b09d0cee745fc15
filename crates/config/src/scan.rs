//! Scans: keys of a tree in ascending order, from page to page. A scan that misses a page goes on where it was.

use std::sync::Arc;

use bytes::Bytes;
use smallvec::SmallVec;

use crate::cache::Fault;
use crate::page::entries::STEPS_BEFORE_SEEK;
use crate::page::{Child, Entries, Page, PageId, PageKind, Summary, ValueDemand};
use crate::root::HEIGHT_MAX;
use crate::tree::{Key, Tree};

/// Pages that a scan asks for at once: those that it will need next.
const READ_AHEAD_PAGES: usize = 64;
/// Pages that are passed over in a row for their values.
pub(crate) const PASSED_AT_ONCE: u64 = 256;

/// What is left to be done before the scan is at an entry.
#[derive(Clone, Debug)]
enum Todo {
    /// It is at the entry of `leaf`, or before its first one.
    Nothing,
    /// It goes to the first entry of the page that the lowest interior page is at.
    Descend,
    /// It goes to the first entry that is not below this key.
    Seek(Key),
    /// The same, where the lowest interior page is at the page that has the key.
    Reach(Key),
}

/// What comes next in a scan.
#[derive(Clone, Debug)]
pub(crate) enum Ahead {
    /// An entry of the page that the scan is in.
    Entry,
    /// A page: its name, a key that none in it is below, and how many interior pages are above it.
    Page { id: PageId, low: Key, depth: usize },
    /// Nothing.
    End,
}

/// A place in a tree.
#[derive(Clone, Debug)]
pub(crate) struct Scan<'a> {
    tree: Tree<'a>,
    /// Interior pages from the top on, each at the page below.
    interior: SmallVec<[Entries; 3]>,
    leaf: Option<Entries>,
    todo: Todo,
    /// The scan ends before this key.
    end: Key,
    /// It is at an entry that it has not given: the first one that is not before its end.
    is_past: bool,
    /// Pages that have none of these nodes below are passed over.
    only: Option<Summary>,
    /// Pages none of whose records can meet it are passed over.
    demand: Option<Arc<ValueDemand>>,
    /// How many were, since [`Scan::take_passed`] last asked.
    passed: u64,
}

impl<'a> Scan<'a> {
    /// Before the first key that is not below `start`; it ends before `end`. Cost: O(1).
    pub(crate) fn new(tree: Tree<'a>, start: &[u8], end: Key) -> Self {
        let todo = Todo::Seek(start.into());
        Self {
            tree,
            interior: SmallVec::new(),
            leaf: None,
            todo,
            end,
            is_past: false,
            only: None,
            demand: None,
            passed: 0,
        }
    }

    /// Passes over pages that have none of these nodes below.
    pub(crate) fn only(&mut self, summary: Summary) {
        self.only = Some(summary);
    }

    /// Passes over leaf pages none of whose records can have such values, but for a tree of one page.
    pub(crate) fn demand(&mut self, demand: Arc<ValueDemand>) {
        self.demand = Some(demand);
    }

    /// Leaf pages that were passed over for their values since this was last asked.
    pub(crate) fn take_passed(&mut self) -> u64 {
        std::mem::take(&mut self.passed)
    }

    /// The tree.
    pub(crate) fn tree(&self) -> Tree<'a> {
        self.tree
    }

    /// The key that it is at.
    pub(crate) fn key(&self) -> &[u8] {
        self.leaf.as_ref().map_or(&[], Entries::key)
    }

    /// The value that it is at.
    pub(crate) fn value(&self) -> Result<Bytes, Fault> {
        let entries = self.leaf.as_ref().expect("the scan is at an entry");
        self.tree.value(entries.key(), entries.content(), entries.value())
    }

    /// Goes to the next key; `false` at the end. Cost: O(1), O(log pages) from page to page.
    pub(crate) fn next(&mut self) -> Result<bool, Fault> {
        self.proceed()?;
        loop {
            if let Some(leaf) = &mut self.leaf
                && (self.is_past || leaf.next())
            {
                self.is_past = leaf.key() >= self.end.as_slice();
                return Ok(!self.is_past);
            }
            if !self.advance() {
                return Ok(false);
            }
            self.proceed()?;
        }
    }

    /// The next call of [`Scan::next`] goes to the first key that is not below this one. Cost: O(log entries of a page) if it lies
    /// ahead in the same page.
    pub(crate) fn skip_to(&mut self, key: &[u8]) {
        if self.leaf.as_ref().is_none_or(|leaf| leaf.key() > key) {
            (self.leaf, self.interior) = (None, SmallVec::new());
        }
        self.is_past = false;
        self.todo = Todo::Seek(key.into());
    }

    /// Begins anew with other ends, as [`Scan::new`], from where it is: what lies ahead in the same page is found without a look at
    /// the pages above. Cost: O(1) if it stopped at the first key; else as [`Scan::skip_to`].
    pub(crate) fn turn_to(&mut self, start: &[u8], end: Key) {
        self.end = end;
        if self.is_past && self.key() == start {
            return;
        }
        if self.leaf.as_ref().is_some_and(|leaf| leaf.key() == start) {
            self.leaf = None;
        }
        self.skip_to(start);
    }

    /// What comes next, without a look into the page that it is in.
    pub(crate) fn ahead(&mut self) -> Result<Ahead, Fault> {
        loop {
            if let (Todo::Nothing, Some(leaf)) = (&self.todo, &self.leaf) {
                if leaf.has_next() {
                    return Ok(Ahead::Entry);
                }
                if !self.advance() {
                    return Ok(Ahead::End);
                }
            }
            self.find_page()?;
            if matches!(self.todo, Todo::Nothing) && self.leaf.is_some() {
                continue;
            }
            let entries = self.interior.last().filter(|_| !matches!(self.todo, Todo::Nothing));
            return Ok(entries.map_or(Ahead::End, |entries| Ahead::Page {
                id: entries.child().id,
                low: Key::from_slice(entries.key()),
                depth: self.interior.len(),
            }));
        }
    }

    /// Goes into the page that is ahead; of those behind it, nobody knows yet whether they are needed.
    pub(crate) fn enter_ahead(&mut self) -> Result<(), Fault> {
        let entries = self.interior.last().expect("a page below is of an interior page");
        let page = self.tree.page(entries.child().id)?;
        let key = if let Todo::Reach(key) = &self.todo { Some(key.clone()) } else { None };
        self.enter(&page, key.as_deref())?;
        if self.leaf.is_some() {
            self.todo = Todo::Nothing;
        }
        Ok(())
    }

    /// Passes over the page that is ahead, with all below.
    pub(crate) fn pass_ahead(&mut self) {
        if !self.advance() {
            self.todo = Todo::Nothing;
        }
    }

    /// Does what is left to do: then the next entry of the leaf, if there is one, is the next of the scan.
    fn proceed(&mut self) -> Result<(), Fault> {
        self.find_page()?;
        match &self.todo {
            Todo::Reach(key) => {
                let key = key.clone();
                self.descend(Some(key))
            }
            Todo::Descend => self.descend(None),
            Todo::Seek(_) | Todo::Nothing => Ok(()),
        }
    }

    /// Of a key that is sought, finds an interior page that surely has it below, if it is not in the leaf.
    fn find_page(&mut self) -> Result<(), Fault> {
        let Todo::Seek(key) = &self.todo else { return Ok(()) };
        let key = key.clone();
        if !self.is_behind_leaf(&key) && self.seek_in_leaf(&key) {
            self.todo = Todo::Nothing;
            return Ok(());
        }
        self.leaf = None;
        self.climb(&key);
        if self.interior.is_empty() {
            let top = self.tree.top()?;
            self.enter(&top, Some(&key))?;
        }
        self.todo = if self.leaf.is_some() { Todo::Nothing } else { Todo::Reach(key) };
        Ok(())
    }

    /// Goes down to a leaf: to where the key is, or to the first of a page.
    fn descend(&mut self, mut key: Option<Key>) -> Result<(), Fault> {
        while self.leaf.is_none() {
            let Some(entries) = self.interior.last() else { break };
            let page = if self.is_wanted(&entries.child()) { Some(self.page_below()?) } else { None };
            if let Some(page) = page.filter(|page| self.may_meet_demand(page)) {
                self.enter(&page, key.as_deref())?;
            } else {
                key = None;
                if !self.advance() {
                    break;
                }
            }
        }
        self.todo = Todo::Nothing;
        Ok(())
    }

    /// Turns to the next page that may have some of the scan; `false` if there is none.
    fn advance(&mut self) -> bool {
        self.leaf = None;
        while let Some(entries) = self.interior.last_mut() {
            while entries.next() {
                if entries.key() >= self.end.as_slice() {
                    return false;
                }
                let summary = entries.child().summary;
                if self.only.is_none_or(|only| summary.meets(only)) {
                    self.todo = Todo::Descend;
                    return true;
                }
            }
            self.interior.pop();
        }
        false
    }

    /// Whether the page that follows the leaf shows that the key is not in the leaf.
    fn is_behind_leaf(&self, key: &[u8]) -> bool {
        self.interior.last().is_some_and(|entries| entries.is_next_up_to(key))
    }

    /// Whether the key is in what is left of the leaf; then it is before it.
    fn seek_in_leaf(&mut self, key: &[u8]) -> bool {
        let Some(leaf) = &mut self.leaf else { return false };
        for _ in 0..STEPS_BEFORE_SEEK {
            if !leaf.next_below(key) {
                return leaf.has_next();
            }
        }
        leaf.seek_before(key);
        leaf.has_next()
    }

    /// Leaves interior pages until one surely has the key below, and turns it there.
    fn climb(&mut self, key: &[u8]) {
        while let Some(entries) = self.interior.last_mut() {
            entries.seek_floor_ahead(key);
            if entries.has_next() || self.interior.len() == 1 {
                return;
            }
            self.interior.pop();
        }
    }

    fn enter(&mut self, page: &Page, key: Option<&[u8]>) -> Result<(), Fault> {
        let mut entries = page.entries();
        if page.kind() == PageKind::Leaf {
            if let Some(key) = key {
                entries.seek_before(key);
            }
            self.leaf = Some(entries);
            return Ok(());
        }
        let is_at_one = match key {
            Some(key) => entries.seek_floor(key),
            None => entries.next(),
        };
        // What is below a page is no record, and not that page again.
        if !is_at_one || self.interior.len() > HEIGHT_MAX {
            return Err(Fault::damage());
        }
        self.interior.push(entries);
        Ok(())
    }

    fn is_wanted(&self, child: &Child) -> bool {
        self.only.is_none_or(|only| child.summary.meets(only))
    }

    /// Whether a page may have what is looked for. Of many that have nothing in a row one is looked through all the same, so that
    /// whoever scans gets a turn.
    fn may_meet_demand(&mut self, page: &Page) -> bool {
        let Some(demand) = self.demand.as_ref().filter(|_| page.kind() == PageKind::Leaf) else {
            return true;
        };
        if demand.may_be_met(page.values()) {
            return true;
        }
        self.passed += 1;
        self.passed.is_multiple_of(PASSED_AT_ONCE)
    }

    /// The page that the lowest interior page is at.
    fn page_below(&self) -> Result<Page, Fault> {
        let entries = self.interior.last().expect("a page below is of an interior page");
        let child = entries.child();
        self.tree.pages.get(child.id).ok_or_else(|| self.fault(entries, &child))
    }

    /// The page, and those behind it that will be needed.
    fn fault(&self, entries: &Entries, child: &Child) -> Fault {
        let mut missing = vec![child.id];
        let mut ahead = entries.clone();
        while missing.len() < READ_AHEAD_PAGES && ahead.next() && ahead.key() < self.end.as_slice() {
            let child = ahead.child();
            if self.is_wanted(&child) && !self.tree.pages.contains(child.id) {
                missing.push(child.id);
            }
        }
        Fault(missing)
    }
}
