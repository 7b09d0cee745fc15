//! What became of the operations of one call, of which several parts are at work side by side.

use entity::{Change, Error};
use parking_lot::Mutex;

const EACH: &str = "each operation has an outcome";

/// Outcomes, in the order of the operations. A lock is taken only while one of them is read or set.
pub(super) struct Outcomes(Mutex<Vec<Option<Result<Change, Error>>>>);

impl Outcomes {
    /// Those of so many operations, of which none is known yet.
    pub(super) fn new(count: usize) -> Self {
        Self(Mutex::new((0..count).map(|_| None).collect()))
    }

    /// Sets the outcome of the operation at `index`.
    pub(super) fn set(&self, index: usize, outcome: Result<Change, Error>) {
        *self.0.lock().get_mut(index).expect(EACH) = Some(outcome);
    }

    /// Makes the success of an operation an error. One that was refused keeps its reason.
    pub(super) fn refuse(&self, index: usize, error: Error) {
        if let slot @ Some(Ok(_)) = self.0.lock().get_mut(index).expect(EACH) {
            *slot = Some(Err(error));
        }
    }

    /// All of them.
    pub(super) fn into_list(self) -> Vec<Result<Change, Error>> {
        self.0.into_inner().into_iter().map(|outcome| outcome.expect(EACH)).collect()
    }
}
