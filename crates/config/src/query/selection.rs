//! What the conditions of a composite query select, in steps: each goes over the entries of one condition. All lists are in
//! document order, so they are joined by merging.

use std::borrow::Cow;
use std::cmp::Ordering;

use lang_cps_path::{CompositeQuery, Operator};
use lang_yang::Schema;

use crate::Depth;
use crate::label::Label;

/// A composite query without its paths: conditions name them by number.
#[derive(Debug)]
pub(super) struct Wanted {
    path: usize,
    operator: Operator,
    conditions: Vec<Self>,
}

/// Conditions being joined.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// Queries under way, each a condition of the one before.
    open: Vec<Open>,
}

#[derive(Debug, Default)]
struct Open {
    /// Conditions that are done with.
    done: usize,
    /// What its own path selects; nested conditions look below these.
    own: Vec<Label>,
    /// What its conditions select, as far as they are done with.
    selected: Option<Vec<Label>>,
}

/// What a step of a selection came to.
#[derive(Debug)]
pub(super) enum Selected {
    /// It went over so many entries, and there is more.
    More(u64),
    /// This is selected.
    All(Vec<Label>),
}

impl Wanted {
    /// A query whose paths have these numbers. Cost: O(conditions).
    pub(super) fn new(query: &CompositeQuery, number: &mut impl FnMut(&CompositeQuery) -> usize) -> Self {
        let path = number(query);
        let conditions = query.conditions().iter().map(|one| Self::new(one, number)).collect();
        Self { path, operator: query.operator(), conditions }
    }

    /// The number of its path.
    pub(super) fn path(&self) -> usize {
        self.path
    }

    /// Whether it has conditions.
    pub(super) fn is_selective(&self) -> bool {
        !self.conditions.is_empty()
    }
}

impl Selection {
    /// Joins one condition more; `found` is what each path found of the candidates. Cost: O(entries of the condition and of those
    /// that are selected so far).
    pub(super) fn step(&mut self, wanted: &Wanted, found: &[Vec<Label>]) -> Selected {
        if self.open.is_empty() {
            self.open.push(Open::default());
        }
        let query = self.last_of(wanted);
        let is_nested = self.open.len() > 1;
        let open = self.open.last_mut().expect("one is open");
        let is_over = query.operator == Operator::And && open.selected.as_ref().is_some_and(Vec::is_empty);
        let Some(condition) = query.conditions.get(open.done).filter(|_| !is_over) else {
            return self.close(wanted, query.operator);
        };
        let all = found.get(condition.path).map_or(&[][..], Vec::as_slice);
        let own = if is_nested { Cow::Owned(below_one_of(all, &open.own)) } else { Cow::Borrowed(all) };
        if condition.is_selective() {
            self.open.push(Open { own: own.into_owned(), ..Open::default() });
            return Selected::More(1 + all.len() as u64);
        }
        open.done += 1;
        Selected::More(1 + all.len() as u64 + open.join(query.operator, own))
    }

    /// The last query that is under way.
    fn last_of<'w>(&self, wanted: &'w Wanted) -> &'w Wanted {
        let above = self.open.len().saturating_sub(1);
        self.open.iter().take(above).fold(wanted, |query, open| {
            query.conditions.get(open.done).expect("a query under way is a condition of the one above")
        })
    }

    /// Joins what the last query selected with what the one above selects.
    fn close(&mut self, wanted: &Wanted, operator: Operator) -> Selected {
        let Open { own, selected, .. } = self.open.pop().expect("one is open");
        let selected =
            selected.expect("only queries with conditions are opened, and at least one was joined");
        let above = self.last_of(wanted);
        let Some(open) = self.open.last_mut() else { return Selected::All(selected) };
        let is_none = selected.is_empty() && operator == Operator::And;
        let both = if is_none { Vec::new() } else { either(own, &selected) };
        open.done += 1;
        Selected::More(1 + both.len() as u64 + open.join(above.operator, Cow::Owned(both)))
    }
}

impl Open {
    /// Joins what one condition more selects; how many were selected before.
    fn join(&mut self, operator: Operator, more: Cow<'_, [Label]>) -> u64 {
        let Some(before) = self.selected.take() else {
            self.selected = Some(more.into_owned());
            return 0;
        };
        let count = before.len() as u64;
        self.selected = Some(match operator {
            Operator::And => common(before, &more),
            Operator::Or => either(before, &more),
        });
        count
    }
}

/// What is in both lists.
fn common(mut one: Vec<Label>, other: &[Label]) -> Vec<Label> {
    let mut other = other.iter().peekable();
    one.retain(|label| {
        while other.next_if(|other| *other < label).is_some() {}
        other.peek() == Some(&label)
    });
    one
}

/// What is in one of the lists.
fn either(one: Vec<Label>, other: &[Label]) -> Vec<Label> {
    let mut joined = Vec::with_capacity(one.len().max(other.len()));
    let (mut one, mut other) = (one.into_iter().peekable(), other.iter().peekable());
    while let (Some(left), Some(right)) = (one.peek(), other.peek()) {
        let order = left.cmp(right);
        let taken = if order == Ordering::Greater { None } else { one.next() };
        let also = if order == Ordering::Less { None } else { other.next() };
        joined.extend(taken.or_else(|| also.cloned()));
    }
    joined.extend(one);
    joined.extend(other.cloned());
    joined
}

/// Of entries those that are below one of others.
fn below_one_of(labels: &[Label], above: &[Label]) -> Vec<Label> {
    let mut around = Around::new(above);
    let is_below = |label: &&Label| {
        around.go(label);
        around.open.iter().any(|above| above != label)
    };
    labels.iter().filter(is_below).cloned().collect()
}

/// Keeps of entries the bases, and those below one that are not too deep. Cost: O(entries and bases).
pub(super) fn keep_candidates(schema: &Schema, labels: &mut Vec<Label>, bases: &[Label], depth: Depth) {
    let levels = match depth {
        Depth::Levels(levels) => usize::try_from(levels).unwrap_or(usize::MAX),
        Depth::All => usize::MAX,
    };
    let has_top = bases.first().is_some_and(Label::is_top);
    let mut around = Around::new(bases);
    labels.retain(|label| {
        around.go(label);
        let is_near = |base: &&Label| label.depth(schema) - base.depth(schema) <= levels;
        if label.is_top() { has_top } else { around.open.last().is_some_and(is_near) }
    });
}

/// Which of some entries are above one, from the outermost to the nearest, or are that one itself. The top has nothing below that
/// is its own.
struct Around<'a> {
    rest: std::iter::Peekable<std::slice::Iter<'a, Label>>,
    open: Vec<&'a Label>,
}

impl<'a> Around<'a> {
    fn new(entries: &'a [Label]) -> Self {
        Self { rest: entries.iter().peekable(), open: Vec::new() }
    }

    /// Goes to an entry that is not before the one that it is at.
    fn go(&mut self, label: &Label) {
        while let Some(next) = self.rest.next_if(|next| *next <= label) {
            self.leave(next);
            self.open.extend((!next.is_top()).then_some(next));
        }
        self.leave(label);
    }

    fn leave(&mut self, label: &Label) {
        while self.open.pop_if(|above| !label.is_within(above)).is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::{common, either};
    use crate::label::Label;

    #[test]
    fn lists_are_joined_in_order_each_entry_once() {
        let labels =
            |text: &str| -> Vec<Label> { text.bytes().map(|byte| Label([byte][..].into())).collect() };
        for (one, other, both, any) in [
            ("", "", "", ""),
            ("abc", "", "", "abc"),
            ("", "abc", "", "abc"),
            ("ace", "bcd", "c", "abcde"),
            ("xyz", "abz", "z", "abxyz"),
            ("abc", "abc", "abc", "abc"),
        ] {
            assert_eq!(common(labels(one), &labels(other)), labels(both));
            assert_eq!(either(labels(one), &labels(other)), labels(any));
        }
    }
}
