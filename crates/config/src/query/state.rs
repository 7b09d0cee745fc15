//! Where an evaluation is.

use std::sync::Arc;

use lang_yang::Value;

use super::Query;
use super::distinct::Distinct;
use crate::label::Label;

/// A query being carried out. It belongs to one version of one tree.
#[derive(Debug)]
pub struct Evaluation {
    pub(super) query: Arc<Query>,
    pub(super) results_max: usize,
    /// How many labels there may be before it is looked how many differ: several targets may find the same.
    pub(super) labels_max: usize,
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
    pub(super) values_bytes_max: usize,
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
    /// Values of a leaf take more memory than [`VALUES_BYTES_MAX`](super::VALUES_BYTES_MAX). It does not go on.
    TooLarge,
}

/// What a query found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// Entries, in document order, each once. The top is among them if the path is `/` and it has leaves: these alone are meant,
    /// for what lies below it are entries of their own.
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

/// A place behind an entry.
#[derive(Debug)]
pub(super) struct Behind {
    pub(super) label: Label,
    /// Whether it is behind all that is below the entry, too.
    pub(super) is_past: bool,
}

#[derive(Debug)]
pub(super) enum Source {
    /// These, the next one last.
    Labels(Vec<Label>),
    /// Of the list of the level, from here on.
    Entries { within: Label, from: Option<Behind> },
    /// Of the level and those below it, from here on.
    Scan { within: Label, from: Option<Behind> },
}

impl Evaluation {
    /// Whether there are more results than are allowed. Cost: O(1), but for a sort of the labels after each time that half as many
    /// were added as are allowed.
    pub(super) fn has_too_many(&mut self) -> bool {
        if self.values.len() > self.results_max {
            return true;
        }
        if self.labels.len() <= self.labels_max {
            return false;
        }
        self.sort_labels();
        self.labels_max = self.results_max.max(self.labels.len().saturating_add(self.results_max / 2));
        self.labels.len() > self.results_max
    }

    /// Whether its values take more memory than is allowed.
    pub(super) fn is_too_large(&self) -> bool {
        self.values.bytes() > self.values_bytes_max
    }

    /// Puts the labels in order, each once.
    pub(super) fn sort_labels(&mut self) {
        self.labels.sort_unstable();
        self.labels.dedup();
    }
}
