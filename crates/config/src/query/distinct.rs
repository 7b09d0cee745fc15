//! Distinct values in the order in which they are first seen.

use std::collections::HashSet;

use lang_yang::{Value, ValueKind};

use crate::record::ValueRef;

/// Values, each once.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    values: Vec<Value>,
    /// Texts that were seen, by kind; most leaves have one kind.
    seen: Vec<(ValueKind, HashSet<Box<str>>)>,
}

impl Distinct {
    /// Adds a value, if it is new. Cost: O(length); no allocation if it is not new.
    pub(super) fn add(&mut self, value: ValueRef<'_>) {
        let is_last = |last: &Value| last.kind == value.kind && *last.text == *value.text;
        if self.values.last().is_some_and(is_last) {
            return;
        }
        let at = self.seen.iter().position(|(kind, _)| *kind == value.kind).unwrap_or_else(|| {
            self.seen.push((value.kind, HashSet::new()));
            self.seen.len() - 1
        });
        let (_, texts) = self.seen.get_mut(at).expect("found, or just added");
        if !texts.contains(value.text) {
            texts.insert(value.text.into());
            self.values.push(value.to_value());
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// They, in the order in which they came.
    pub(super) fn into_values(self) -> Vec<Value> {
        self.values
    }
}
