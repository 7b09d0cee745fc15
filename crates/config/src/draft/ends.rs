//! The first and the last key of a part of a draft. What was removed at an end is passed over once: the ranges become one, so that
//! who removes and adds at the same end again and again does not pay for all that was removed before.

use std::ops::Bound;

use crate::cache::Fault;
use crate::draft::Draft;
use crate::scan::Scan;
use crate::tree::Key;

/// Removed ranges that were passed over, with no key between them that is still there.
#[derive(Default)]
struct Passed {
    /// Where the lowest one begins, and the highest one ends.
    bounds: Option<(Vec<u8>, Vec<u8>)>,
    count: usize,
}

impl Passed {
    fn add(&mut self, first: &[u8], end: &[u8]) {
        self.count += 1;
        let (low, high) = self.bounds.get_or_insert_with(|| (first.to_vec(), end.to_vec()));
        if first < low.as_slice() {
            *low = first.to_vec();
        }
        if end > high.as_slice() {
            *high = end.to_vec();
        }
    }
}

impl Draft<'_> {
    /// The first key that is not below the first one, and below the second: both are where entries of one list begin or end.
    /// Cost: O(log records) for each removed range on the way, which are one range from then on.
    pub(crate) fn first(&mut self, first: &[u8], end: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        let range = (Bound::Included(first), Bound::Excluded(end));
        let mut points = self.points.range::<[u8], _>(range).filter(|(_, value)| value.is_some());
        let point = points.next().map(|(key, _)| key.to_vec());
        let (mut scan, mut passed) = (Scan::new(self.tree, first, Key::from_slice(end)), Passed::default());
        let base = loop {
            if !scan.next()? || point.as_ref().is_some_and(|point| point.as_slice() <= scan.key()) {
                break None;
            }
            let removed = self.removed_around(scan.key());
            if let Some((from, to)) = removed {
                if first <= from && to <= end {
                    passed.add(from, to);
                }
                scan.skip_to(to);
            } else if !self.points.contains_key(scan.key()) {
                break Some(scan.key().to_vec());
            }
        };
        self.make_one(passed);
        Ok(base.or(point))
    }

    /// The last key in the same bounds, at the same cost.
    pub(crate) fn last(&mut self, first: &[u8], end: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        let range = (Bound::Included(first), Bound::Excluded(end));
        let mut points = self.points.range::<[u8], _>(range).rev().filter(|(_, value)| value.is_some());
        let point = points.next().map(|(key, _)| key.to_vec());
        let (mut before, mut passed) = (end.to_vec(), Passed::default());
        let base = loop {
            let Some(key) = self.tree.last_below(&before)?.filter(|key| key.as_slice() >= first) else {
                break None;
            };
            if point.as_ref().is_some_and(|point| key.as_slice() <= point.as_slice()) {
                break None;
            }
            let removed = self.removed_around(&key);
            before = if let Some((from, to)) = removed {
                if first <= from && to <= end {
                    passed.add(from, to);
                }
                from.to_vec()
            } else if self.points.contains_key(key.as_slice()) {
                key.to_vec()
            } else {
                break Some(key.to_vec());
            };
        };
        self.make_one(passed);
        Ok(base.or(point))
    }

    /// The removed range that a key is in.
    pub(super) fn removed_around(&self, key: &[u8]) -> Option<(&[u8], &[u8])> {
        let mut before = self.removed.range::<[u8], _>((Bound::Unbounded, Bound::Included(key)));
        let (from, to) = before.next_back()?;
        (key < to.as_slice()).then_some((from, to))
    }

    fn make_one(&mut self, passed: Passed) {
        let Some((low, high)) = passed.bounds.filter(|_| passed.count > 1) else { return };
        let inside = (Bound::Included(low.as_slice()), Bound::Excluded(high.as_slice()));
        let all: Vec<Vec<u8>> =
            self.removed.range::<[u8], _>(inside).map(|(first, _)| first.clone()).collect();
        all.iter().for_each(|first| drop(self.removed.remove(first)));
        self.removed.insert(low, high);
    }
}

#[cfg(test)]
mod tests {
    use super::Draft;
    use crate::label::Label;
    use crate::order::Order;
    use crate::shop::{SMALL, Shop, schema};

    /// A shop of one list of so many entries, and their labels.
    fn shop(count: u8) -> (Shop, Vec<Label>) {
        let schema = schema();
        let list = crate::shop::node(&schema, "category");
        let entry = |number: u8| {
            let leaf = crate::shop::Draft(&schema, list).leaf("code", &[&number.to_string()]);
            let content = lang_yang::Content { leaves: vec![leaf], children: Vec::new() };
            lang_yang::DataNode { schema: list, content }
        };
        let children = (0..count).map(entry).collect();
        let content = lang_yang::Content { leaves: Vec::new(), children };
        let mut order = Order::first();
        let slot = schema.node(list).slot;
        let label = |_| {
            let label = Label::top().entry(slot, order.as_bytes());
            order = order.after();
            label
        };
        let labels = (0..count).map(label).collect();
        (Shop::new(schema, content, SMALL), labels)
    }

    #[test]
    fn removed_ends_are_passed_over_once() {
        let (shop, labels) = shop(200);
        assert!(!shop.is_inline());
        let parent = Label::top().container(shop.schema.node(shop.node("category")).slot);
        let (first, end) = (parent.as_bytes(), parent.above());
        let key = |label: &Label| Ok(Some(label.as_bytes().to_vec()));
        let mut draft = Draft::new(shop.tree());
        for label in labels[..50].iter().chain(&labels[150..]) {
            draft.remove(label).expect("no page is missing");
        }
        let ranges = |draft: &Draft<'_>| draft.removed.range(first.to_vec()..end.as_bytes().to_vec()).count();
        assert_eq!(ranges(&draft), 100);
        assert_eq!(draft.last(first, end.as_bytes()), key(&labels[149]));
        assert_eq!(ranges(&draft), 51);
        assert_eq!(draft.first(first, end.as_bytes()), key(&labels[50]));
        assert_eq!(ranges(&draft), 2);
        // Parts of a range that was made one may come again, and be removed again.
        for label in [&labels[10], &labels[190]] {
            draft.put(label, &[]).expect("it is small");
        }
        assert_eq!(draft.first(first, end.as_bytes()), key(&labels[10]));
        assert_eq!(draft.last(first, end.as_bytes()), key(&labels[190]));
        assert_eq!(draft.last(first, labels[190].as_bytes()), key(&labels[149]));
        assert_eq!(draft.first(labels[10].above().as_bytes(), end.as_bytes()), key(&labels[50]));
        assert_eq!(draft.labels(&Label::top(), shop.node("category")).map(|all| all.len()), Ok(102));
        draft.remove_list(&Label::top(), shop.node("category"));
        assert_eq!((ranges(&draft), draft.last(first, end.as_bytes())), (1, Ok(None)));
    }
}
