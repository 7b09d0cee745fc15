//! A query carried out on a tree, in pieces.

use std::sync::Arc;

use super::Query;
use super::distinct::Distinct;
use super::limits::VALUES_BYTES_MAX;
use super::runner::Runner;
use super::state::{Answer, Evaluation, Phase, Progress};
use crate::{Fault, Tree};

impl Evaluation {
    /// A query that is about to be carried out, for at most so many results. Cost: O(targets).
    pub fn new(query: Arc<Query>, results_max: usize) -> Self {
        let targets = || query.targets.iter().enumerate();
        let together: Vec<usize> = targets().filter(|(_, one)| one.is_plain()).map(|(at, _)| at).collect();
        let alone = targets().filter(|(_, one)| !one.is_plain()).map(|(at, _)| vec![at]);
        let searches: Vec<Vec<usize>> = alone.chain((!together.is_empty()).then_some(together)).collect();
        let is_inline = query.attribute.is_some()
            && searches.len() == 1
            && query.targets.iter().all(|target| target.is_itself());
        Self {
            query,
            results_max,
            labels_max: results_max,
            searches,
            search: Vec::new(),
            frames: Vec::new(),
            labels: Vec::new(),
            last: Vec::new(),
            values: Distinct::default(),
            values_bytes_max: VALUES_BYTES_MAX,
            is_inline,
            read: 0,
            phase: Phase::Search,
            steps: 0,
        }
    }

    /// Goes on, for about so many steps: entries looked at and keys looked up; a page that is passed over for its values counts as
    /// some. It ends behind the entry that takes the last of them, before which some hundred pages may be passed over. Always
    /// with the same version of the tree.
    ///
    /// # Errors
    ///
    /// [`Fault`] with pages that must be loaded first; nothing is lost.
    pub fn run(&mut self, tree: &Tree<'_>, steps_max: u64) -> Result<Progress, Fault> {
        let steps_end = self.steps.saturating_add(steps_max);
        Runner::new(self, *tree, steps_end).run()
    }

    /// How many steps were taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Bytes of memory that the values take which were found so far, at most [`VALUES_BYTES_MAX`] and those of one entry.
    pub fn values_bytes(&self) -> usize {
        self.values.bytes()
    }

    /// What was found; all of it if the evaluation is done.
    pub fn into_answer(self) -> Answer {
        match self.query.attribute {
            Some(_) => Answer::Values(self.values.into_values()),
            None => Answer::Entries(self.labels),
        }
    }
}
