//! The key index: where an entry of a list is by the values of its keys, beside the records in the same pages.
//!
//! ```text
//! 0xFF, label of the parent, 0x00, slot, { text of a key, escaped, and its end }     order of the entry
//! ```

use smallvec::SmallVec;
use store::key::put_text;

use crate::label::{NO_LABEL, put_slot};

/// Ends the label inside a key.
const END: u8 = 0;

/// The key of an entry by its key values, in the order of the list's keys. Cost: O(length).
pub(crate) fn index_key<'k>(parent: &[u8], slot: u32, values: impl Iterator<Item = &'k str>) -> Vec<u8> {
    let mut key = list_prefix(parent, slot);
    values.for_each(|value| put_text(&mut key, value));
    key
}

/// What all entries of one list begin with.
pub(crate) fn list_prefix(parent: &[u8], slot: u32) -> Vec<u8> {
    let mut key = Vec::with_capacity(parent.len() + 32);
    key.push(NO_LABEL);
    key.extend_from_slice(parent);
    key.push(END);
    let mut spelt = SmallVec::new();
    put_slot(&mut spelt, slot);
    key.extend_from_slice(&spelt);
    key
}

/// What the keys of everything below an entry begin with.
pub(crate) fn subtree_prefix(label: &[u8]) -> Vec<u8> {
    [&[NO_LABEL], label].concat()
}
