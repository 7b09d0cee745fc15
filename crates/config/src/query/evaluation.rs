//! A query carried out on a tree, in pieces.

use std::sync::Arc;

use lang_yang::Value;

use super::Query;
use super::distinct::Distinct;
use super::runner::Runner;
use crate::label::Label;
use crate::{Fault, Tree};

/// A query being carried out. It belongs to one version of one tree.
#[derive(Debug)]
pub struct Evaluation {
    pub(super) query: Arc<Query>,
    pub(super) results_max: usize,
    /// What is still to be searched, the next one last: positions among the targets of the query. Several at once only if one
    /// cursor from the top finds them all.
    pub(super) searches: Vec<Vec<usize>>,
    /// What is searched now.
    pub(super) search: Vec<usize>,
    /// What is under way: each frame lies below the entry that the frame before it was at.
    pub(super) frames: Vec<Frame>,
    pub(super) labels: Vec<Label>,
    /// What was found last for each answer of the target.
    pub(super) last: Vec<Label>,
    pub(super) values: Distinct,
    /// Whether values are read where their entries are found.
    pub(super) is_inline: bool,
    /// Of the labels found, how many had their values read.
    pub(super) read: usize,
    pub(super) phase: Phase,
    pub(super) steps: u64,
}

/// What an evaluation came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Progress {
    /// All is found.
    Done,
    /// The steps that it was allowed are taken: it goes on when it is run again.
    More,
    /// There are more results than are allowed. It does not go on.
    TooMany,
}

/// What a query found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// Entries, in document order, each once.
    Entries(Vec<Label>),
    /// Distinct values of a leaf, in the order in which they come in the document.
    Values(Vec<Value>),
}

/// How far an evaluation is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Phase {
    /// Entries are searched for.
    Search,
    /// Values of the entries that were found are read.
    Values,
    Done,
}

/// Entries that are gone through.
#[derive(Debug)]
pub(super) struct Frame {
    /// The level that they are of, from 0 on; in a scan the first of its levels.
    pub(super) level: usize,
    pub(super) source: Source,
}

#[derive(Debug)]
pub(super) enum Source {
    /// These, the next one last.
    Labels(Vec<Label>),
    /// Of the list of the level, from this label on.
    Entries { within: Label, from: Option<Label> },
    /// Of the level and those below it, from this label on.
    Scan { within: Label, from: Option<Label> },
}

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
            searches,
            search: Vec::new(),
            frames: Vec::new(),
            labels: Vec::new(),
            last: Vec::new(),
            values: Distinct::default(),
            is_inline,
            read: 0,
            phase: Phase::Search,
            steps: 0,
        }
    }

    /// Goes on, for at most so many steps: entries looked at and keys looked up. Always with the same version of the tree.
    ///
    /// # Errors
    ///
    /// [`Fault`] with pages that must be loaded first; nothing is lost.
    pub fn run(&mut self, tree: &Tree<'_>, steps_max: u64) -> Result<Progress, Fault> {
        let steps_end = self.steps.saturating_add(steps_max);
        Runner::new(self, *tree, steps_end).run()
    }

    /// How many entries were looked at and keys looked up so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What was found; all of it if the evaluation is done.
    pub fn into_answer(self) -> Answer {
        match self.query.attribute {
            Some(_) => Answer::Values(self.values.into_values()),
            None => Answer::Entries(self.labels),
        }
    }

    /// How many results there are so far.
    pub(super) fn found(&self) -> usize {
        self.labels.len().max(self.values.len())
    }
}
