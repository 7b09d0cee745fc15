//! What evaluations ask of labels besides.

use lang_yang::Schema;

use crate::label::Label;

impl Label {
    /// Of the ancestor that has so many steps, or itself. Cost: O(length).
    pub(crate) fn prefix(&self, schema: &Schema, depth: usize) -> Self {
        let end = self.steps(schema).take(depth).last().map_or(0, |step| step.end);
        Self(self.as_bytes().get(..end).expect("a step ends within its label").into())
    }

    /// The least label that is above this one, which is that of something below it.
    pub(crate) fn below(&self) -> Self {
        let mut bytes = self.0.clone();
        bytes.push(0);
        Self(bytes)
    }
}
