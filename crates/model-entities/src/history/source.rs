//! One attribute and dataset of a history, in both places it may lie.

use entity::TermId;
use strands::{Points, Strand};

/// One attribute and dataset of a history: what was folded, and what was not.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) attribute: TermId,
    pub(super) dataset: Option<Box<str>>,
    pub(super) strand: Option<Strand>,
    /// Head rows, without those that the strand holds.
    pub(super) fresh: Points,
    /// The strand's mark by which they were separated.
    pub(super) mark: Option<i64>,
}
