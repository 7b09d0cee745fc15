//! One run of an evaluation: its frames with a tree, until a page is missing or its steps are taken.
//!
//! A frame says what is gone through and from where on. It moves only when an entry is done with, so that a run that ends in the
//! middle of one, because a page is missing, begins with that entry again.

use std::sync::Arc;

use lang_yang::NodeId;

use super::Query;
use super::condition::leaves_named;
use super::distinct::Distinct;
use super::resolve::{Answered, Level, Target};
use super::state::{Behind, Evaluation, Frame, Phase, Progress, Source};
use crate::cursor::Cursor;
use crate::label::Label;
use crate::page::ValueDemand;
use crate::record::Record;
use crate::{Fault, Tree};

/// Steps that a page counts as that is passed over for its values.
pub(super) const STEPS_OF_PAGE: u64 = 32;

/// An evaluation with the tree that it is run on for a while.
pub(super) struct Runner<'r, 't> {
    evaluation: &'r mut Evaluation,
    tree: Tree<'t>,
    /// One for each frame, of those that were looked at since the run began.
    cursors: Vec<Option<Cursor<'t>>>,
    steps_end: u64,
}

/// What becomes of what is gone through, after an entry.
enum Outcome {
    /// The next entry, perhaps one below it.
    Next,
    /// The next entry that is not below it, and what is below it might be taken for a target.
    Skip,
    /// The next entry that is not below it.
    Past,
    /// The same, and it is answered itself.
    Itself,
    /// What is below it, and then the next that is not.
    Descend(Frame),
    /// These are answered; then the next entry that is not below it, or not below the ancestor that has so many levels.
    Found { labels: Vec<(usize, Label)>, past: usize },
}

impl<'r, 't> Runner<'r, 't> {
    pub(super) fn new(evaluation: &'r mut Evaluation, tree: Tree<'t>, steps_end: u64) -> Self {
        Self { evaluation, tree, cursors: Vec::new(), steps_end }
    }

    pub(super) fn run(&mut self) -> Result<Progress, Fault> {
        let query = Arc::clone(&self.evaluation.query);
        loop {
            if self.evaluation.has_too_many() {
                return Ok(Progress::TooMany);
            }
            if self.evaluation.is_too_large() {
                return Ok(Progress::TooLarge);
            }
            match self.evaluation.phase {
                Phase::Done => return Ok(Progress::Done),
                _ if self.evaluation.steps >= self.steps_end => return Ok(Progress::More),
                Phase::Values => self.read_values(&query)?,
                Phase::Search if self.evaluation.frames.is_empty() => self.begin_search(&query)?,
                Phase::Search => self.advance(&query)?,
            }
        }
    }

    /// Begins the next search, or ends them.
    fn begin_search(&mut self, query: &Query) -> Result<(), Fault> {
        let Some(search) = self.evaluation.searches.last() else {
            return self.end_searches(query);
        };
        let top = Label::top();
        let frame = match search.as_slice() {
            [one] => self.frame(query.target(*one), 0, &top)?,
            _ => Frame { level: 0, source: Source::Scan { within: top, from: None } },
        };
        let evaluation = &mut *self.evaluation;
        evaluation.search = evaluation.searches.pop().expect("it was just looked at");
        evaluation.last.clear();
        evaluation.frames.push(frame);
        Ok(())
    }

    fn end_searches(&mut self, query: &Query) -> Result<(), Fault> {
        let top = Label::top();
        let has_top = query.has_top && self.tree.record(&top)?.is_some();
        let evaluation = &mut *self.evaluation;
        evaluation.labels.extend(has_top.then_some(top));
        evaluation.sort_labels();
        evaluation.labels_max = evaluation.results_max;
        let reads = evaluation.query.attribute.is_some() && !evaluation.is_inline;
        evaluation.phase = if reads { Phase::Values } else { Phase::Done };
        Ok(())
    }

    /// One entry of the last frame.
    fn advance(&mut self, query: &Query) -> Result<(), Fault> {
        self.evaluation.steps += 1;
        let depth = self.evaluation.frames.len();
        self.cursors.resize_with(depth, || None);
        let Some((label, record)) = self.entry(query)? else {
            self.evaluation.frames.pop();
            self.cursors.truncate(depth - 1);
            return Ok(());
        };
        let outcome = self.look_at(query, &label, record.as_ref())?;
        self.settle(label, outcome);
        Ok(())
    }

    /// The entry that the last frame is at, with its record if it was read.
    fn entry(&mut self, query: &Query) -> Result<Option<(Label, Option<Record<'t>>)>, Fault> {
        let evaluation = &*self.evaluation;
        let frame = evaluation.frames.last().expect("a frame is under way");
        let cursor = self.cursors.last_mut().expect("as many as frames");
        if let Source::Labels(labels) = &frame.source {
            return Ok(labels.last().map(|label| (label.clone(), None)));
        }
        let cursor = cursor.get_or_insert_with(|| open(self.tree, query, &evaluation.search, frame));
        let next = cursor.next();
        let passed = cursor.take_passed();
        self.evaluation.steps += passed * STEPS_OF_PAGE;
        Ok(next?.map(|(label, record)| (label, Some(record))))
    }

    /// What an entry comes to: found, passed over, or on the way.
    fn look_at(
        &mut self,
        query: &Query,
        label: &Label,
        record: Option<&Record<'t>>,
    ) -> Result<Outcome, Fault> {
        let evaluation = &mut *self.evaluation;
        let frame = evaluation.frames.last().expect("a frame is under way");
        let (is_scan, is_merged) = (matches!(frame.source, Source::Scan { .. }), evaluation.search.len() > 1);
        let (target, at) = match record.and_then(Record::node).filter(|_| is_scan) {
            Some(node) => place(query, &evaluation.search, frame, node),
            None => (query.target(evaluation.search.first().copied().unwrap_or(0)), frame.level),
        };
        let level = target.levels.get(at).expect("a level of its target");
        let is_last = at + 1 == target.levels.len();
        if record.is_none() && !is_last && level.filter.is_none() {
            return Ok(Outcome::Descend(self.frame(target, at + 1, label)?));
        }
        let read = if record.is_none() { self.tree.record(label)? } else { None };
        let Some(record) = record.or(read.as_ref()) else { return Ok(Outcome::Past) };
        let behind = || if is_merged { Outcome::Next } else { Outcome::Past };
        if level.filter.as_ref().is_some_and(|filter| !filter.passes(record)) {
            return Ok(if is_last || !is_scan { behind() } else { Outcome::Skip });
        }
        if !is_last {
            return if is_scan {
                Ok(Outcome::Next)
            } else {
                Ok(Outcome::Descend(self.frame(target, at + 1, label)?))
            };
        }
        if !evaluation.is_inline {
            return if target.is_itself() { Ok(Outcome::Itself) } else { self.found(target, label) };
        }
        let leaves = target.answers.first().map_or(&[][..], |answered| &answered.attributes);
        add_values(record, leaves, &mut evaluation.values);
        Ok(behind())
    }

    /// What is answered for an entry that was found.
    fn found(&self, target: &Target, label: &Label) -> Result<Outcome, Fault> {
        let mut labels = Vec::new();
        for (position, answered) in target.answers.iter().enumerate() {
            let ancestor = self.prefix(label, answered.depth);
            let is_new = self.evaluation.last.get(position) != Some(&ancestor);
            if is_new && self.is_answered(answered, label)? {
                labels.push((position, ancestor));
            }
        }
        let past = target.answers.iter().map(|answered| answered.depth).max().unwrap_or(target.levels.len());
        Ok(Outcome::Found { labels, past })
    }

    /// Whether the entries on the way to an answer are such as the ancestor axis asks for.
    fn is_answered(&self, answered: &Answered, label: &Label) -> Result<bool, Fault> {
        for (depth, filter) in &answered.filters {
            let record = self.tree.record(&self.prefix(label, *depth))?;
            if !record.is_some_and(|record| filter.passes(&record)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Moves on behind an entry.
    fn settle(&mut self, label: Label, outcome: Outcome) {
        match outcome {
            Outcome::Next => self.move_to(label, false),
            Outcome::Past => self.move_to(label, true),
            Outcome::Skip => {
                if let Some(Some(cursor)) = self.cursors.last_mut() {
                    cursor.skip_below();
                }
                self.move_to(label, true);
            }
            Outcome::Itself => {
                self.evaluation.labels.push(label.clone());
                self.move_to(label, self.evaluation.search.len() == 1);
            }
            Outcome::Descend(frame) => {
                self.move_to(label, true);
                self.evaluation.frames.push(frame);
            }
            Outcome::Found { labels, past } => {
                for (position, found) in labels {
                    let last = &mut self.evaluation.last;
                    last.resize(last.len().max(position + 1), Label::top());
                    if let Some(last) = last.get_mut(position) {
                        last.clone_from(&found);
                    }
                    self.evaluation.labels.push(found);
                }
                self.move_past(label, past);
            }
        }
    }

    /// The last frame goes on behind an entry, or behind all that is below it: over what is below entries of a list, and of what is
    /// searched for, a cursor passes by itself.
    fn move_to(&mut self, label: Label, is_past: bool) {
        let Some(frame) = self.evaluation.frames.last_mut() else { return };
        match &mut frame.source {
            Source::Labels(labels) => {
                labels.pop();
            }
            Source::Entries { from, .. } | Source::Scan { from, .. } => {
                *from = Some(Behind { label, is_past })
            }
        }
    }

    /// Everything goes on behind the ancestor that has so many levels: all below it would be answered by the same.
    fn move_past(&mut self, label: Label, depth: usize) {
        let ancestor = self.prefix(&label, depth);
        let levels = label.depth(self.tree.schema());
        while let Some(frame) = self.evaluation.frames.last_mut() {
            let is_above = frame.level < depth;
            match &mut frame.source {
                Source::Scan { from, .. } if is_above => {
                    if let Some(Some(cursor)) = self.cursors.last_mut() {
                        cursor.seek(&ancestor.above());
                    }
                    *from = Some(Behind { label: ancestor, is_past: true });
                    return;
                }
                // Its entry is the one that was found, or one that holds the ancestor, which it has left already.
                _ if is_above => {
                    if levels == frame.level + 1 {
                        self.move_to(label, true);
                    }
                    return;
                }
                _ => {}
            }
            self.evaluation.frames.pop();
            self.cursors.truncate(self.evaluation.frames.len());
        }
    }

    /// The frame of a level below an entry.
    fn frame(&self, target: &Target, at: usize, parent: &Label) -> Result<Frame, Fault> {
        let source = match target.levels.get(at).filter(|_| at < target.walked()) {
            None => Source::Scan { within: parent.clone(), from: None },
            Some(level) => self.source(level, parent)?,
        };
        Ok(Frame { level: at, source })
    }

    /// The entries of a level that is walked: a container, what the keys find, or a whole list.
    fn source(&self, level: &Level, parent: &Label) -> Result<Source, Fault> {
        let Some(ways) = &level.keys else {
            return Ok(match level.is_list {
                true => Source::Entries { within: parent.clone(), from: None },
                false => Source::Labels(vec![parent.container(self.tree.schema().node(level.node).slot)]),
            });
        };
        let mut labels = Vec::new();
        for keys in ways {
            let keys: Vec<&str> = keys.iter().map(|key| &**key).collect();
            labels.extend(self.tree.find_entry(parent, level.node, &keys)?);
        }
        // The next one is taken from the end.
        labels.sort_unstable_by(|one, other| other.cmp(one));
        labels.dedup();
        Ok(Source::Labels(labels))
    }

    /// The first levels of a label.
    fn prefix(&self, label: &Label, depth: usize) -> Label {
        label.prefix(self.tree.schema(), depth)
    }

    /// The values of one of the entries that were found.
    fn read_values(&mut self, query: &Query) -> Result<(), Fault> {
        let evaluation = &*self.evaluation;
        let Some(label) = evaluation.labels.get(evaluation.read) else {
            self.evaluation.phase = Phase::Done;
            return Ok(());
        };
        if let (Some(record), Some(attribute)) = (self.tree.record(label)?, query.attribute()) {
            let node = record.node().expect("an entry that was found is of a container or list");
            let leaves = leaves_named(self.tree.schema(), node, attribute);
            add_values(&record, &leaves, &mut self.evaluation.values);
        }
        self.evaluation.read += 1;
        self.evaluation.steps += 1;
        Ok(())
    }
}

/// A cursor over what a frame goes through, where it is.
fn open<'t>(tree: Tree<'t>, query: &Query, search: &[usize], frame: &Frame) -> Cursor<'t> {
    let target = query.target(search.first().copied().unwrap_or(0));
    let levels = target.levels.iter().skip(frame.level);
    let (mut cursor, from) = match &frame.source {
        Source::Labels(_) => unreachable!("labels are taken one by one"),
        Source::Entries { within, from } => {
            let level = target.levels.get(frame.level).expect("a level of its target");
            (demanding(tree.entries(within, level.node), level.demand.clone()), from)
        }
        Source::Scan { within, from } => {
            let wanted: Vec<NodeId> = match search {
                [_] => levels
                    .filter(|level| level.filter.is_some())
                    .map(|level| level.node)
                    .chain([target.node()])
                    .collect(),
                several => several.iter().map(|at| query.target(*at).node()).collect(),
            };
            (demanding(tree.cursor(within).only(&wanted), demand(query, search, frame)), from)
        }
    };
    if let Some(Behind { label, is_past }) = from {
        cursor.seek(&if *is_past { label.above() } else { label.below() });
    }
    cursor
}

fn demanding(cursor: Cursor<'_>, demand: Option<Arc<ValueDemand>>) -> Cursor<'_> {
    match demand {
        Some(demand) => cursor.demand(demand),
        None => cursor,
    }
}

/// What pages must have in which a scan finds something. Pages with entries that only lead to it must not be passed over.
fn demand(query: &Query, search: &[usize], frame: &Frame) -> Option<Arc<ValueDemand>> {
    if let [one] = search {
        let (last, above) = query.target(*one).levels.get(frame.level..)?.split_last()?;
        return last.demand.clone().filter(|_| above.iter().all(|level| level.filter.is_none()));
    }
    let mut ways = Vec::new();
    for at in search {
        ways.extend(query.target(*at).levels.last()?.demand.as_ref()?.ways.iter().cloned());
    }
    Some(Arc::new(ValueDemand { ways }))
}

/// The target that a node of a scan belongs to, and its level there.
fn place<'q>(query: &'q Query, search: &[usize], frame: &Frame, node: NodeId) -> (&'q Target, usize) {
    let mut places = search.iter().filter_map(|at| {
        let target = query.target(*at);
        // Of several targets, only the last levels are looked at.
        let from = if search.len() > 1 { target.levels.len() - 1 } else { frame.level };
        let found = target.levels.iter().skip(from).position(|level| level.node == node)?;
        Some((target, from + found))
    });
    places.next().expect("a scan gives the nodes that it was asked for")
}

fn add_values(record: &Record<'_>, leaves: &[NodeId], values: &mut Distinct) {
    leaves.iter().filter_map(|leaf| record.leaf(*leaf)).flatten().for_each(|value| values.add(value));
}
