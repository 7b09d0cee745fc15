//! Distinct values in the order in which they are first seen, each stored once.

use std::collections::HashMap;
use std::mem::size_of;

use lang_yang::{Value, ValueKind};

use crate::record::ValueRef;

/// What a value takes beside its text: its place in a table, which may be half empty.
const VALUE_BYTES: usize = 2 * size_of::<(Box<str>, usize)>();

/// Values, each once.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    /// Texts with their positions, by kind; most leaves have one kind.
    seen: Vec<(ValueKind, HashMap<Box<str>, usize>)>,
    count: usize,
    bytes: usize,
    /// The value that was looked for last.
    last: Option<(ValueKind, String)>,
}

impl Distinct {
    /// Adds a value, if it is new. Cost: O(length); no allocation if it is not new.
    pub(super) fn add(&mut self, value: ValueRef<'_>) {
        match &mut self.last {
            Some((kind, text)) if *kind == value.kind && text == value.text => return,
            Some((kind, text)) => {
                *kind = value.kind;
                text.clear();
                text.push_str(value.text);
            }
            None => self.last = Some((value.kind, value.text.to_owned())),
        }
        let at = self.seen.iter().position(|(kind, _)| *kind == value.kind).unwrap_or_else(|| {
            self.seen.push((value.kind, HashMap::new()));
            self.seen.len() - 1
        });
        let (_, texts) = self.seen.get_mut(at).expect("found, or just added");
        if !texts.contains_key(value.text) {
            texts.insert(value.text.into(), self.count);
            self.count += 1;
            self.bytes += value.text.len() + VALUE_BYTES;
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Bytes of memory that they take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// They, in the order in which they came. Cost: O(values).
    pub(super) fn into_values(self) -> Vec<Value> {
        let of_kind = |(kind, texts): (ValueKind, HashMap<Box<str>, usize>)| {
            texts.into_iter().map(move |(text, position)| (position, Value { kind, text }))
        };
        let mut values = vec![None; self.count];
        for (position, value) in self.seen.into_iter().flat_map(of_kind) {
            if let Some(place) = values.get_mut(position) {
                *place = Some(value);
            }
        }
        values.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_once_in_the_order_in_which_they_are_seen() {
        let mut distinct = Distinct::default();
        let texts = ["b", "a", "a", "b", "c", "1", "1", "a"];
        let kind = |text: &str| if text == "1" { ValueKind::Integer } else { ValueKind::Text };
        for text in texts {
            distinct.add(ValueRef { kind: kind(text), text });
        }
        distinct.add(ValueRef { kind: ValueKind::Text, text: "1" });
        assert_eq!((distinct.len(), distinct.bytes()), (5, 5 + 5 * VALUE_BYTES));
        let values: Vec<(ValueKind, Box<str>)> =
            distinct.into_values().into_iter().map(|value| (value.kind, value.text)).collect();
        let expected = ["b", "a", "c", "1", "1"].map(Box::from);
        let kinds = [ValueKind::Text, ValueKind::Text, ValueKind::Text, ValueKind::Integer, ValueKind::Text];
        assert!(values.into_iter().eq(kinds.into_iter().zip(expected)));
    }
}
