//! Differences of two trees under one schema: versions of one anchor, or trees that have nothing in common.
//!
//! Entries are the same if their parents are and their keys are; those of lists without keys if their labels are. Both trees are
//! gone through side by side, in the order of labels: pages that both share are passed over, so two versions cost what was
//! changed between them. Where labels differ, keys decide: an entry that is elsewhere in the other tree is looked up there, and
//! what lies below the two is compared for itself.

mod order;
mod side;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::{HashSet, VecDeque};

use lang_yang::{NodeId, NodeKind};

use crate::cache::Fault;
use crate::find::key_values;
use crate::label::Label;
use crate::record::Record;
use crate::scan::Ahead;
use crate::tree::{Key, Tree};

use side::{Side, State};

/// One difference.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Difference {
    /// The new tree has this entry, with all below; the old one has not.
    Added(Label),
    /// The old tree has this entry, with all below; the new one has not.
    Removed(Label),
    /// Both have the entry, with other leaves. The top is in every tree.
    Changed {
        /// Its label in the old tree.
        old: Label,
        /// Its label in the new tree.
        new: Label,
    },
    /// Both have the entry, which its user has put elsewhere among its siblings.
    Moved {
        /// Its label in the old tree.
        old: Label,
        /// Its label in the new tree.
        new: Label,
    },
}

/// Pages that are missing, and of which tree.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DiffFault {
    /// Of the old tree.
    #[error("of the old tree, {0}")]
    Old(Fault),
    /// Of the new tree.
    #[error("of the new tree, {0}")]
    New(Fault),
}

impl DiffFault {
    /// The pages, of whichever tree: where both are versions of one, that is one.
    pub fn into_fault(self) -> Fault {
        match self {
            Self::Old(fault) | Self::New(fault) => fault,
        }
    }
}

/// What a part of the way through two trees came to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Walked {
    /// A difference.
    Found(Difference),
    /// Nothing yet: there is more to look at.
    More,
    /// There is nothing more.
    End,
}

/// Differences of two trees, one after the other. After a fault was served, it goes on where it was.
#[derive(Debug)]
pub struct Diff<'a> {
    old: Tree<'a>,
    new: Tree<'a>,
    /// Pairs of entries whose subtrees are being compared, each below the one before.
    walks: Vec<Walk<'a>>,
    /// What was found and not given yet.
    found: VecDeque<Difference>,
}

/// Goes through what lies below two entries, side by side.
#[derive(Debug)]
struct Walk<'a> {
    old: Side<'a>,
    new: Side<'a>,
    /// Entries that were compared before the walk came to them: labels in the old tree, and in the new one.
    seen_old: HashSet<Key>,
    seen_new: HashSet<Key>,
    /// Lists whose order was compared: labels of their parents in the old tree.
    ordered: HashSet<(Key, NodeId)>,
}

/// How two trees differ, in an entry that both have and below it; the top is in every tree. They are of one schema. Differences come
/// in document order, but for entries that are elsewhere in the other tree. Cost: O(1), then what differs.
pub fn diff<'a>(old: Tree<'a>, new: Tree<'a>, within: &Label) -> Diff<'a> {
    let is_same = old.root == new.root && !old.root.is_inline();
    let walks = if is_same { Vec::new() } else { vec![Walk::new((old, within), (new, within))] };
    Diff { old, new, walks, found: VecDeque::new() }
}

impl Diff<'_> {
    /// The next difference; `None` at the end. Cost: what was passed over to find it.
    ///
    /// # Errors
    ///
    /// [`DiffFault`] if a page is missing; called again when it is there, it goes on.
    #[expect(clippy::should_implement_trait, reason = "it may fail, and goes on then: no iterator does")]
    pub fn next(&mut self) -> Result<Option<Difference>, DiffFault> {
        loop {
            match self.walk(usize::MAX)? {
                Walked::Found(found) => return Ok(Some(found)),
                Walked::More => {}
                Walked::End => return Ok(None),
            }
        }
    }

    /// The same, in so many steps at most: for who rests now and then, and lets go of pages. A step looks at an entry or a page of each
    /// tree.
    ///
    /// # Errors
    ///
    /// As [`Diff::next`].
    pub fn walk(&mut self, steps_max: usize) -> Result<Walked, DiffFault> {
        for _ in 0..steps_max {
            if let Some(found) = self.found.pop_front() {
                return Ok(Walked::Found(found));
            }
            let Some(walk) = self.walks.last_mut() else { return Ok(Walked::End) };
            walk.old.look().map_err(DiffFault::Old)?;
            walk.new.look().map_err(DiffFault::New)?;
            if matches!((&walk.old.state, &walk.new.state), (State::End, State::End)) {
                self.walks.pop();
                continue;
            }
            self.step()?;
        }
        Ok(Walked::More)
    }

    fn step(&mut self) -> Result<(), DiffFault> {
        let Some(walk) = self.walks.last_mut() else { return Ok(()) };
        if walk.settle_pages()? {
            return Ok(());
        }
        match walk.order() {
            Ordering::Less => self.only_old(),
            Ordering::Greater => self.only_new(),
            Ordering::Equal => self.both(),
        }
    }

    /// Both have an entry at the same place.
    fn both(&mut self) -> Result<(), DiffFault> {
        let Some(walk) = self.walks.last_mut() else { return Ok(()) };
        let (Some(old), Some(new)) = (walk.old.entry(), walk.new.entry()) else { return Ok(()) };
        let schema = self.old.schema;
        if !key_values(schema, old).eq(key_values(schema, new)) {
            // Another entry has got the label: each is looked for in the other tree, this one first.
            return self.only_old();
        }
        if old.bytes() != new.bytes() {
            let (old, new) = (walk.old.label().clone(), walk.new.label().clone());
            self.found.push_back(Difference::Changed { old, new });
        }
        walk.old.consume();
        walk.new.consume();
        Ok(())
    }

    /// The new tree has nothing at the place of the old one's entry.
    fn only_old(&mut self) -> Result<(), DiffFault> {
        let (old, new) = (self.old, self.new);
        let Some(walk) = self.walks.last_mut() else { return Ok(()) };
        let Some(record) = walk.old.entry() else { return Ok(()) };
        let label = walk.old.label().clone();
        if label.is_top() {
            walk.old.consume();
            self.found.push_back(Difference::Changed { old: Label::top(), new: label });
            return Ok(());
        }
        if walk.seen_old.contains(&label.0) {
            walk.old.pass();
            return Ok(());
        }
        let partner = partner(new, &walk.new.translate(&walk.old), record).map_err(DiffFault::New)?;
        let Some(partner) = partner else {
            walk.old.pass();
            self.found.push_back(Difference::Removed(label));
            return Ok(());
        };
        let moved = walk.moved((old, new), (&label, &partner))?;
        walk.old.pass();
        walk.seen_new.insert(partner.0.clone());
        self.found.extend(moved);
        self.walks.push(Walk::new((old, &label), (new, &partner)));
        Ok(())
    }

    /// The old tree has nothing at the place of the new one's entry.
    fn only_new(&mut self) -> Result<(), DiffFault> {
        let (old, new) = (self.old, self.new);
        let Some(walk) = self.walks.last_mut() else { return Ok(()) };
        let Some(record) = walk.new.entry() else { return Ok(()) };
        let label = walk.new.label().clone();
        if label.is_top() {
            walk.new.consume();
            self.found.push_back(Difference::Changed { old: Label::top(), new: label });
            return Ok(());
        }
        if walk.seen_new.contains(&label.0) {
            walk.new.pass();
            return Ok(());
        }
        let partner = partner(old, &walk.old.translate(&walk.new), record).map_err(DiffFault::Old)?;
        let Some(partner) = partner else {
            walk.new.pass();
            self.found.push_back(Difference::Added(label));
            return Ok(());
        };
        let moved = walk.moved((old, new), (&partner, &label))?;
        walk.new.pass();
        walk.seen_old.insert(partner.0.clone());
        self.found.extend(moved);
        self.walks.push(Walk::new((old, &partner), (new, &label)));
        Ok(())
    }
}

impl<'a> Walk<'a> {
    fn new((old, of_old): (Tree<'a>, &Label), (new, of_new): (Tree<'a>, &Label)) -> Self {
        Self {
            old: Side::new(old, of_old),
            new: Side::new(new, of_new),
            seen_old: HashSet::new(),
            seen_new: HashSet::new(),
            ordered: HashSet::new(),
        }
    }

    /// Passes over pages that both share, and goes into others; whether there was one.
    fn settle_pages(&mut self) -> Result<bool, DiffFault> {
        let enter_old = |side: &mut Side<'a>| side.enter().map_err(DiffFault::Old).map(|()| true);
        let enter_new = |side: &mut Side<'a>| side.enter().map_err(DiffFault::New).map(|()| true);
        match (&self.old.state, &self.new.state) {
            (
                State::Page(Ahead::Page { id, depth, .. }),
                State::Page(Ahead::Page { id: other, depth: deep, .. }),
            ) => {
                let (above, other_above) = (self.old.height() - depth, self.new.height() - deep);
                if id == other && self.old.base() == self.new.base() {
                    self.old.pass_page();
                    self.new.pass_page();
                    return Ok(true);
                }
                if above >= other_above { enter_old(&mut self.old) } else { enter_new(&mut self.new) }
            }
            // What is below all of a page needs no look into it.
            (State::Page(Ahead::Page { low, .. }), State::Entry(_)) => {
                if self.old.is_above(low, &self.new) {
                    Ok(false)
                } else {
                    enter_old(&mut self.old)
                }
            }
            (State::Entry(_), State::Page(Ahead::Page { low, .. })) => {
                if self.new.is_above(low, &self.old) {
                    Ok(false)
                } else {
                    enter_new(&mut self.new)
                }
            }
            (State::Page(_), _) => enter_old(&mut self.old),
            (_, State::Page(_)) => enter_new(&mut self.new),
            _ => Ok(false),
        }
    }

    /// Which side has the lesser entry.
    fn order(&self) -> Ordering {
        match (&self.old.state, &self.new.state) {
            (State::Entry(_), State::Entry(_)) => self.old.relative().cmp(self.new.relative()),
            (State::Entry(_), _) => Ordering::Less,
            _ => Ordering::Greater,
        }
    }

    /// Entries that were put elsewhere, of the list that two labels are of: once for each list.
    fn moved(
        &mut self,
        (old, new): (Tree<'a>, Tree<'a>),
        (of_old, of_new): (&Label, &Label),
    ) -> Result<Vec<Difference>, DiffFault> {
        let schema = old.schema;
        let (Some(list), Some(parent_old)) = (of_old.node(schema), of_old.parent(schema)) else {
            return Ok(Vec::new());
        };
        let is_ordered = matches!(schema.node(list).kind, NodeKind::List { user_ordered: true, .. });
        if !is_ordered || self.ordered.contains(&(parent_old.0.clone(), list)) {
            return Ok(Vec::new());
        }
        let parent_new = of_new.parent(schema).expect("an entry of a list has a parent");
        let moved = order::moved((old, &parent_old), (new, &parent_new), list)?;
        self.ordered.insert((parent_old.0, list));
        Ok(moved)
    }
}

/// The entry with the same keys below a parent in another tree.
fn partner(tree: Tree<'_>, parent: &Label, record: &Record<'_>) -> Result<Option<Label>, Fault> {
    let schema = tree.schema;
    let Some(node) = record.node() else { return Ok(None) };
    let keys: Vec<&str> = key_values(schema, record).flatten().collect();
    if keys.is_empty() {
        return Ok(None);
    }
    tree.find_entry(parent, node, &keys)
}
