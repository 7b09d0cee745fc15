//! Pages of the feed that were matched, and how far the position may move: in the order of reading, over all shards. Pure.

use std::collections::{HashMap, VecDeque};

use store::Cursor;

/// A page whose matches were offered, in the order of reading.
#[derive(Debug)]
struct Matched {
    shard: u32,
    /// Behind it.
    cursor: Cursor,
    changes: usize,
    /// Matches that are neither acknowledged nor stored.
    open: usize,
    /// The next sequence number of each receiver that it has matches of.
    nexts: Vec<(u128, u64)>,
}

/// The pages that the durable position has not passed.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    matched: VecDeque<Matched>,
    /// The number of the first of them.
    first: u64,
}

/// How far the position may move.
#[derive(Debug, Default)]
pub(crate) struct Advance {
    pub(crate) cursors: Vec<(u32, Cursor)>,
    pub(crate) changes: usize,
    /// By receiver, the next sequence number there.
    pub(crate) nexts: HashMap<u128, u64>,
    pages: usize,
}

impl Pages {
    pub(crate) fn len(&self) -> usize {
        self.matched.len()
    }

    /// The number that the next page gets.
    pub(crate) fn next_number(&self) -> u64 {
        self.first + self.matched.len() as u64
    }

    /// Takes a page in; `nexts`: of each receiver with matches.
    pub(crate) fn push(
        &mut self,
        (shard, cursor): (u32, Cursor),
        changes: usize,
        open: usize,
        nexts: Vec<(u128, u64)>,
    ) {
        // Pages without matches join the one before if that is of the same shard.
        if let Some(last) = self.matched.back_mut().filter(|last| last.shard == shard && nexts.is_empty()) {
            last.cursor = cursor;
            last.changes += changes;
            return;
        }
        self.matched.push_back(Matched { shard, cursor, changes, open, nexts });
    }

    /// A match of a page is acknowledged, stored, or given up.
    pub(crate) fn settle(&mut self, page: u64) {
        let matched =
            page.checked_sub(self.first).and_then(|at| self.matched.get_mut(usize::try_from(at).ok()?));
        let matched = matched.expect("a page is there as long as one of its matches is open");
        matched.open = matched.open.checked_sub(1).expect("each match of a page is settled once");
    }

    /// How far the position may move now: over all pages up to the first with open matches.
    pub(crate) fn advance(&self) -> Advance {
        let mut advance = Advance::default();
        let mut cursors: HashMap<u32, Cursor> = HashMap::new();
        for page in self.matched.iter().take_while(|page| page.open == 0) {
            cursors.insert(page.shard, page.cursor);
            advance.changes += page.changes;
            advance.nexts.extend(page.nexts.iter().copied());
            advance.pages += 1;
        }
        advance.cursors = cursors.into_iter().collect();
        advance
    }

    /// The position was moved so far.
    pub(crate) fn pass(&mut self, advance: &Advance) {
        self.matched.drain(..advance.pages);
        self.first += advance.pages as u64;
    }
}
