//! A part that only one of two trees has, reported entry by entry.

use super::changed;
use super::paths::push_entry;
use super::siblings::Entry;
use super::side::{Side, Trees};
use super::{DeltaItem, Part};
use crate::label::Label;
use crate::{Depth, Fault};

/// Items of one run.
const ITEMS_AT_ONCE: usize = 256;

/// A part of a tree that is gone over in document order.
#[derive(Debug)]
pub(super) struct Spread {
    side: Side,
    root: Entry,
    /// How far its root is below the entries that are compared.
    level: u32,
    /// Where it goes on.
    from: Option<Label>,
    /// The path of the entry that it is at, or of what its root lies in.
    xpath: String,
    /// The entries on the way from the root, each with the length of the path before it.
    open: Vec<(Label, usize)>,
}

impl Spread {
    /// Before its root, whose parent has this path.
    pub(super) fn new(side: Side, root: Entry, xpath: String, level: u32) -> Self {
        Self { side, root, level, from: None, xpath, open: Vec::new() }
    }

    pub(super) fn side(&self) -> Side {
        self.side
    }

    pub(super) fn root(&self) -> &Label {
        &self.root.label
    }

    /// Reports some entries; whether they are all.
    pub(super) fn run(
        &mut self,
        trees: &mut Trees<'_>,
        depth: Depth,
        items: &mut Vec<DeltaItem>,
    ) -> Result<bool, Fault> {
        let schema = trees.of(self.side).schema();
        if !depth.has(self.level as usize + 1) {
            let record = self.root.record(trees.of(self.side));
            push_entry(&mut self.xpath, schema, &record);
            let part = Part::entry(schema, self.root.node, changed::all(&record));
            items.push(DeltaItem::of_side(self.side, std::mem::take(&mut self.xpath), part));
            return Ok(true);
        }
        let cursor = trees.cursor(self.side);
        cursor.turn_to(&self.root.label);
        if let Some(from) = &self.from {
            cursor.seek(from);
        }
        for _ in 0..ITEMS_AT_ONCE {
            let Some((label, record)) = cursor.next()? else { return Ok(true) };
            while let Some((above, length)) = self.open.last()
                && !label.is_within(above)
            {
                self.xpath.truncate(*length);
                self.open.pop();
            }
            let length = self.xpath.len();
            push_entry(&mut self.xpath, schema, &record);
            let levels = self.level as usize + self.open.len() + 1;
            let has_below = depth.has(levels);
            self.from = Some(if has_below { label.below() } else { label.above() });
            if !has_below {
                cursor.skip_below();
            }
            self.open.push((label, length));
            let node = record.node().expect("entries below a container or list are of one");
            let part = Part::entry(schema, node, changed::all(&record));
            items.push(DeltaItem::of_side(self.side, self.xpath.clone(), part));
        }
        Ok(false)
    }
}
