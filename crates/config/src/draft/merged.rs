//! Keys of a draft in ascending order: those of the tree and those that were set, without what was removed.

use std::ops::Bound;

use lang_yang::NodeId;

use crate::cache::Fault;
use crate::draft::Draft;
use crate::label::{Label, Steps};
use crate::scan::Scan;
use crate::tree::Key;

/// A place in a draft.
pub(crate) struct Merged<'d, 'a> {
    draft: &'d Draft<'a>,
    scan: Scan<'a>,
    /// The next key of the tree that still counts.
    base: Option<Key>,
    is_base_read: bool,
    /// The next key of the draft is not below this one.
    from: Vec<u8>,
    end: Vec<u8>,
}

impl<'a> Draft<'a> {
    /// Keys from the first on, before the second.
    pub(crate) fn range(&self, first: &[u8], end: &[u8]) -> Merged<'_, 'a> {
        let scan = Scan::new(self.tree, first, Key::from_slice(end));
        Merged { draft: self, scan, base: None, is_base_read: false, from: first.to_vec(), end: end.to_vec() }
    }

    /// Entries of a list, or the one of a container.
    pub(crate) fn list(&self, parent: &Label, node: NodeId) -> Merged<'_, 'a> {
        let start = parent.container(self.schema().node(node).slot);
        self.range(start.as_bytes(), start.above().as_bytes())
    }

    /// What lies directly below an entry: use [`Merged::next_entry`].
    pub(crate) fn below(&self, label: &Label) -> Merged<'_, 'a> {
        let first = [label.as_bytes(), &[1]].concat();
        self.range(&first, label.above().as_bytes())
    }
}

impl Merged<'_, '_> {
    /// The next key.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        self.read_base()?;
        let range = (Bound::Included(self.from.as_slice()), Bound::Excluded(self.end.as_slice()));
        let mut points = self.draft.points.range::<[u8], _>(range).filter(|(_, value)| value.is_some());
        let point = points.next().map(|(key, _)| &**key);
        let key = match (&self.base, point) {
            (Some(base), Some(point)) if point < base.as_slice() => point.to_vec(),
            (Some(base), _) => {
                self.is_base_read = false;
                base.to_vec()
            }
            (None, Some(point)) => point.to_vec(),
            (None, None) => return Ok(None),
        };
        self.from.clone_from(&key);
        self.from.push(0);
        Ok(Some(key))
    }

    /// The next entry, whatever lies below it.
    pub(crate) fn next_entry(&mut self) -> Result<Option<Label>, Fault> {
        let Some(key) = self.next()? else { return Ok(None) };
        let label = Label(Key::from_slice(&key));
        self.skip_to(label.above().as_bytes());
        Ok(Some(label))
    }

    /// Goes on with the first key that is not below this one.
    pub(crate) fn skip_to(&mut self, key: &[u8]) {
        self.from = key.to_vec();
        if self.is_base_read && self.base.as_ref().is_none_or(|base| base.as_slice() >= key) {
            return;
        }
        self.scan.skip_to(key);
        self.is_base_read = false;
    }

    fn read_base(&mut self) -> Result<(), Fault> {
        while !self.is_base_read {
            if !self.scan.next()? {
                (self.base, self.is_base_read) = (None, true);
                break;
            }
            let key = self.scan.key();
            if self.draft.points.contains_key(key) {
                continue;
            }
            if let Some(end) = self.draft.is_removed(key) {
                self.scan.skip_to(end);
                continue;
            }
            self.base = Some(Key::from_slice(key));
            self.is_base_read = true;
        }
        Ok(())
    }
}

impl Draft<'_> {
    /// The entry of a list that a key is of, or lies below.
    pub(crate) fn entry_of(&self, parent: &Label, key: &[u8]) -> Option<Label> {
        let step = Steps::new(self.schema(), key).find(|step| step.start == parent.as_bytes().len())?;
        Some(Label(Key::from_slice(key.get(..step.end)?)))
    }
}
