//! Composite queries: sets of entries that paths find, joined below the entries that a first path finds.

use std::collections::HashMap;
use std::sync::Arc;

use lang_cps_path::{CompositeQuery, Operator};
use lang_yang::Schema;

use super::{Answer, Evaluation, Progress, Query, QueryError};
use crate::label::Label;
use crate::{Depth, Fault, Tree};

/// A composite query being carried out: each of its paths, then the sets. It belongs to one version of one tree.
#[derive(Debug)]
pub struct CompositeEvaluation {
    query: CompositeQuery,
    depth: Depth,
    /// Paths still to be carried out, the next one last, as they are printed.
    left: Vec<(String, Evaluation)>,
    found: HashMap<String, Vec<Label>>,
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
    /// entries count; each path finds at most so many. Cost: O(paths).
    ///
    /// # Errors
    ///
    /// [`QueryError`] if one of the paths cannot be asked.
    pub fn new(
        schema: &Schema,
        query: CompositeQuery,
        depth: Depth,
        results_max: usize,
    ) -> Result<Self, QueryError> {
        let mut left: Vec<(String, Evaluation)> = Vec::new();
        let mut pending = vec![&query];
        while let Some(one) = pending.pop() {
            pending.extend(one.conditions());
            let path = one.path();
            if let Some(attribute) = &path.attribute {
                return Err(QueryError::Attribute(attribute.to_string().into()));
            }
            let printed = path.to_string();
            if left.iter().all(|(other, _)| *other != printed) {
                left.push((printed, Evaluation::new(Arc::new(Query::new(schema, path)?), results_max)));
            }
        }
        Ok(Self { query, depth, left, found: HashMap::new(), steps: 0 })
    }

    /// Goes on, for about so many steps, as [`Evaluation::run`].
    ///
    /// # Errors
    ///
    /// [`Fault`] with pages that must be loaded first; nothing is lost.
    pub fn run(&mut self, tree: &Tree<'_>, steps_max: u64) -> Result<Progress, Fault> {
        let end = self.steps.saturating_add(steps_max);
        while let Some((_, evaluation)) = self.left.last_mut() {
            let before = evaluation.steps();
            let progress = evaluation.run(tree, end.saturating_sub(self.steps));
            self.steps += evaluation.steps() - before;
            match progress? {
                Progress::Done => {}
                other => return Ok(other),
            }
            if let Some((path, evaluation)) = self.left.pop()
                && let Answer::Entries(labels) = evaluation.into_answer()
            {
                self.found.insert(path, labels);
            }
        }
        Ok(Progress::Done)
    }

    /// The answer, when it is done. Cost: O(entries found × depth of the query).
    pub fn into_answer(self, schema: &Schema) -> CompositeAnswer {
        let bases = self.found_by(&self.query).to_vec();
        let candidates = Candidates { schema, bases: &bases, depth: self.depth };
        let conditions = self.query.conditions();
        let selected = (!conditions.is_empty()).then(|| self.select(&self.query, &candidates, None));
        CompositeAnswer { selected, bases }
    }

    fn found_by(&self, query: &CompositeQuery) -> &[Label] {
        self.found.get(&query.path().to_string()).map_or(&[], Vec::as_slice)
    }

    /// What the conditions of a query select among the candidates; of nested ones below these entries alone.
    fn select(
        &self,
        query: &CompositeQuery,
        candidates: &Candidates<'_>,
        below: Option<&[Label]>,
    ) -> Vec<Label> {
        let mut selections = query.conditions().iter().map(|one| self.select_one(one, candidates, below));
        let Some(mut selected) = selections.next() else { return Vec::new() };
        match query.operator() {
            Operator::And => {
                while !selected.is_empty() {
                    let Some(next) = selections.next() else { break };
                    selected.retain(|label| next.binary_search(label).is_ok());
                }
            }
            Operator::Or => {
                selections.for_each(|mut next| selected.append(&mut next));
                selected.sort_unstable();
                selected.dedup();
            }
        }
        selected
    }

    fn select_one(
        &self,
        one: &CompositeQuery,
        candidates: &Candidates<'_>,
        below: Option<&[Label]>,
    ) -> Vec<Label> {
        let is_in_scope = |label: &&Label| {
            candidates.have(label) && below.is_none_or(|above| candidates.is_below_one_of(label, above))
        };
        let mut selected: Vec<Label> = self.found_by(one).iter().filter(is_in_scope).cloned().collect();
        if one.conditions().is_empty() {
            return selected;
        }
        let mut nested = self.select(one, candidates, Some(&selected));
        if nested.is_empty() && one.operator() == Operator::And {
            return Vec::new();
        }
        selected.append(&mut nested);
        selected.sort_unstable();
        selected.dedup();
        selected
    }
}

/// The entries that conditions select from.
struct Candidates<'a> {
    schema: &'a Schema,
    bases: &'a [Label],
    depth: Depth,
}

impl Candidates<'_> {
    /// Whether an entry is one of the bases, or below one and not too deep. Cost: O(steps × log bases).
    fn have(&self, label: &Label) -> bool {
        let steps = label.depth(self.schema);
        let levels = match self.depth {
            Depth::Levels(levels) => usize::try_from(levels).unwrap_or(usize::MAX),
            Depth::All => usize::MAX,
        };
        // The top has nothing below that is its own.
        (0..=levels.min(steps.saturating_sub(1)))
            .any(|up| self.bases.binary_search(&label.prefix(self.schema, steps - up)).is_ok())
    }

    /// Whether an entry is below one of these. Cost: O(steps × log of them).
    fn is_below_one_of(&self, label: &Label, above: &[Label]) -> bool {
        let steps = label.depth(self.schema);
        (1..steps).any(|depth| above.binary_search(&label.prefix(self.schema, depth)).is_ok())
    }
}
