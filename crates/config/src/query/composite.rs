//! Composite queries: sets of entries that paths find, joined below the entries that a first path finds.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use lang_cps_path::CompositeQuery;
use lang_yang::Schema;

use super::selection::{Selected, Selection, Wanted, keep_candidates};
use super::{Answer, Evaluation, Progress, Query, QueryError};
use crate::label::Label;
use crate::{Depth, Fault, Tree};

/// A composite query being carried out: each of its paths, then the sets. It belongs to one version of one tree.
#[derive(Debug)]
pub struct CompositeEvaluation {
    wanted: Wanted,
    depth: Depth,
    results_max: usize,
    /// Its paths, each once; the first one finds the bases.
    paths: Vec<Evaluation>,
    /// What each path found of the candidates, as far as they are carried out.
    found: Vec<Vec<Label>>,
    selection: Selection,
    /// What the conditions select, when all of them are joined.
    selected: Option<Vec<Label>>,
    steps: u64,
}

/// What a composite query came to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CompositeAnswer {
    /// What the first path found, in document order.
    pub bases: Vec<Label>,
    /// What the conditions selected in the trees below these, in document order; `None` if there are no conditions: everything.
    ///
    /// A selected entry is answered with all below it, down to the depth that is asked for. Of other entries only those are
    /// answered that have a selected one below.
    pub selected: Option<Vec<Label>>,
}

impl CompositeEvaluation {
    /// A composite query about to be carried out on trees of a schema. `depth` says how far below what the first path finds
    /// entries count. Each path finds at most so many, and what all of them find below the first together is at most as much.
    /// Cost: O(paths).
    ///
    /// # Errors
    ///
    /// [`QueryError`] if one of the paths cannot be asked.
    pub fn new(
        schema: &Schema,
        query: &CompositeQuery,
        depth: Depth,
        results_max: usize,
    ) -> Result<Self, QueryError> {
        let (mut paths, mut numbers) = (Vec::new(), HashMap::new());
        let mut pending = vec![query];
        while let Some(one) = pending.pop() {
            pending.extend(one.conditions());
            let path = one.path();
            if let Some(attribute) = &path.attribute {
                return Err(QueryError::Attribute(attribute.to_string().into()));
            }
            if let Entry::Vacant(number) = numbers.entry(path.to_string()) {
                number.insert(paths.len());
                paths.push(Evaluation::new(Arc::new(Query::new(schema, path)?), results_max));
            }
        }
        let mut number = |one: &CompositeQuery| {
            *numbers.get(&one.path().to_string()).expect("each path of the query has a number")
        };
        let (wanted, found) = (Wanted::new(query, &mut number), Vec::with_capacity(paths.len()));
        // The next one is taken from the end.
        paths.reverse();
        let selection = Selection::default();
        Ok(Self { wanted, depth, results_max, paths, found, selection, selected: None, steps: 0 })
    }

    /// Goes on, for about so many steps: those of [`Evaluation::run`], and entries that the sets are joined of, all of one
    /// condition at once. Cost of the sets: O(entries found) for each condition.
    ///
    /// # Errors
    ///
    /// [`Fault`] with pages that must be loaded first; nothing is lost.
    pub fn run(&mut self, tree: &Tree<'_>, steps_max: u64) -> Result<Progress, Fault> {
        let end = self.steps.saturating_add(steps_max);
        while let Some(evaluation) = self.paths.last_mut() {
            let before = evaluation.steps();
            let progress = evaluation.run(tree, end.saturating_sub(self.steps));
            self.steps += evaluation.steps() - before;
            match progress? {
                Progress::Done => {}
                other => return Ok(other),
            }
            if !self.take_found(tree.schema()) {
                return Ok(Progress::TooMany);
            }
        }
        while self.selected.is_none() && self.wanted.is_selective() {
            if self.steps >= end {
                return Ok(Progress::More);
            }
            match self.selection.step(&self.wanted, &self.found) {
                Selected::More(steps) => self.steps += steps,
                Selected::All(selected) => self.selected = Some(selected),
            }
        }
        Ok(Progress::Done)
    }

    /// Keeps what the path that is done found of the candidates; whether all of it may be kept.
    fn take_found(&mut self, schema: &Schema) -> bool {
        let answer = self.paths.pop().map(Evaluation::into_answer);
        let Some(Answer::Entries(mut labels)) = answer else { return true };
        self.steps += labels.len() as u64;
        if let Some(bases) = self.found.first() {
            keep_candidates(schema, &mut labels, bases, self.depth);
            labels.shrink_to_fit();
        }
        self.found.push(labels);
        self.found.iter().skip(1).map(Vec::len).sum::<usize>() <= self.results_max
    }

    /// The answer, when it is done. Cost: O(1).
    pub fn into_answer(self) -> CompositeAnswer {
        let Self { wanted, mut found, selected, .. } = self;
        debug_assert_eq!(wanted.path(), 0, "the first path finds the bases");
        let bases = if found.is_empty() { Vec::new() } else { found.swap_remove(0) };
        CompositeAnswer { bases, selected }
    }
}
