//! A report being made, in pieces.

use std::collections::VecDeque;

use bytes::Bytes;
use lang_yang::{Content, DataNode, Leaf, NodeId, Schema};

use super::changed::{self, Maps};
use super::gather::{Gather, Gathered};
use super::paths::push_entry;
use super::schemas::NodeMap;
use super::siblings::{Entry, Family, Siblings, matches};
use super::side::{Side, Trees};
use super::spread::Spread;
use super::{Action, DeltaFault, DeltaItem, Part};
use crate::content::content_of;
use crate::label::Label;
use crate::record::Record;
use crate::{Depth, Tree};

/// How a report is made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DeltaOptions {
    /// How far below the entries that are compared.
    pub depth: Depth,
    /// Whether entries that one parent lost or gained are one item.
    pub is_grouped: bool,
    /// The most entries that a report has in its items, all together.
    pub entries_max: u64,
}

/// A report being made. It belongs to one version of each of two trees.
#[derive(Debug)]
pub struct Delta {
    options: DeltaOptions,
    maps: Maps,
    /// What is to be done, the next last.
    work: Vec<Work>,
    /// What the target has and the source has not, if it is reported last.
    added: Vec<Spread>,
    /// The same of leaves of the top.
    added_top: Option<DeltaItem>,
    items: Vec<DeltaItem>,
    entries: u64,
    steps: u64,
}

/// How far a report is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DeltaProgress {
    /// All is reported.
    Done,
    /// There is more: run it again.
    More,
    /// There are more entries than a report may have. It does not go on.
    TooMany,
}

/// Some items of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// In their order.
    pub items: Vec<DeltaItem>,
    /// Whether there is more.
    pub progress: DeltaProgress,
}

/// Something to be done.
#[derive(Debug)]
enum Work {
    /// Entries below one parent are read and matched.
    Match(Box<Match>),
    /// Those that both have are compared, and others reported.
    Pairs(Pairs),
    /// A part that one tree has is reported entry by entry.
    Spread(Spread),
    /// Entries that one tree has are reported as one item.
    Group(Group),
    /// Parts that only the target has are put in order.
    Added,
    /// The leaves of the top are compared.
    Top,
}

#[derive(Debug)]
struct Match {
    source: Siblings,
    target: Siblings,
    /// The path of their parent.
    xpath: String,
    /// How far they are below the entries that are compared.
    level: u32,
}

#[derive(Debug)]
struct Pairs {
    /// Entries of the source, each with the same of the target if there is one.
    left: VecDeque<(Entry, Option<Entry>)>,
    xpath: String,
    level: u32,
}

#[derive(Debug)]
struct Group {
    side: Side,
    left: VecDeque<Entry>,
    /// The first of those that are left, as far as it is read.
    first: Gather,
    nodes: Vec<DataNode>,
    xpath: String,
    level: u32,
}

impl Delta {
    /// A report on how entries of a target differ from those of a source: entries below one parent, whose path is the same in both
    /// trees, in document order. From the top: all entries there, and the top itself if its leaves are to be compared.
    /// Cost: O(entries), and O(nodes) of the schemas if they differ.
    pub fn new(
        schemas: (&Schema, &Schema),
        source: &[Label],
        target: &[Label],
        parent_xpath: &str,
        options: DeltaOptions,
    ) -> Self {
        let (one, other) = schemas;
        let maps = Maps { to_target: NodeMap::new(one, other), to_source: NodeMap::new(other, one) };
        let xpath = parent_xpath.trim_end_matches('/').to_owned();
        let has_top = source.iter().chain(target).any(Label::is_top);
        let (source, target) = (Siblings::given(source), Siblings::given(target));
        let mut work = vec![Work::Added, Work::Match(Box::new(Match { source, target, xpath, level: 0 }))];
        work.extend(has_top.then_some(Work::Top));
        Self {
            options,
            maps,
            work,
            added: Vec::new(),
            added_top: None,
            items: Vec::new(),
            entries: 0,
            steps: 0,
        }
    }

    /// Goes on until there are so many items, or so many steps (entries read) are taken: about so many of each. Always with the same
    /// versions of the trees. Cost: O(entries) of both, the values of each compared once.
    ///
    /// # Errors
    ///
    /// [`DeltaFault`] with pages that must be loaded first; nothing is lost.
    pub fn run(
        &mut self,
        source: &Tree<'_>,
        target: &Tree<'_>,
        items_max: usize,
        steps_max: u64,
    ) -> Result<Batch, DeltaFault> {
        let end = self.steps.saturating_add(steps_max);
        let mut trees = Trees::new(*source, *target);
        while self.items.len() < items_max && self.steps < end && self.entries <= self.options.entries_max {
            let Some(work) = self.work.pop() else { break };
            self.steps += 1;
            if let Err(missing) = self.advance(&mut trees, work) {
                let (work, fault) = *missing;
                self.work.push(work);
                // What is there already is given first.
                if self.items.is_empty() {
                    return Err(fault);
                }
                break;
            }
        }
        let progress = match self.work.is_empty() {
            _ if self.entries > self.options.entries_max => DeltaProgress::TooMany,
            true => DeltaProgress::Done,
            false => DeltaProgress::More,
        };
        Ok(Batch { items: std::mem::take(&mut self.items), progress })
    }

    /// One piece of work. If a page is missing, it comes back as far as it is done.
    fn advance(&mut self, trees: &mut Trees<'_>, work: Work) -> Result<(), Box<(Work, DeltaFault)>> {
        match work {
            Work::Match(mut both) => match self.read(trees, &mut both) {
                Ok(()) => self.match_entries(trees, *both),
                Err(fault) => return Err(Box::new((Work::Match(both), fault))),
            },
            Work::Pairs(pairs) => self.pair(trees, pairs),
            Work::Spread(mut spread) => {
                let side = spread.side();
                let before = self.items.len();
                let is_done = spread.run(trees, self.options.depth, &mut self.items);
                let items = (self.items.len() - before) as u64;
                (self.entries, self.steps) = (self.entries + items, self.steps + items);
                match is_done {
                    Ok(true) => {}
                    Ok(false) => self.work.push(Work::Spread(spread)),
                    Err(fault) => return Err(Box::new((Work::Spread(spread), side.fault(fault)))),
                }
            }
            Work::Group(mut group) => match self.gather(trees, &mut group) {
                Ok(true) => self.report_group(trees, group),
                Ok(false) => self.work.push(Work::Group(group)),
                Err(fault) => return Err(Box::new((Work::Group(group), fault))),
            },
            Work::Top => self.compare_tops(trees).map_err(|fault| Box::new((Work::Top, fault)))?,
            Work::Added => {
                self.items.extend(self.added_top.take());
                self.added.sort_unstable_by(|one, other| other.root().cmp(one.root()));
                self.work.extend(self.added.drain(..).map(Work::Spread));
            }
        }
        Ok(())
    }

    /// Compares the leaves of the top. What only the target has comes with what else was created.
    fn compare_tops(&mut self, trees: &Trees<'_>) -> Result<(), DeltaFault> {
        let top = |tree: &Tree<'_>| {
            let record = tree.record(&Label::top())?;
            Ok(record.map_or_else(Bytes::new, |record| record.bytes().clone()))
        };
        let source = top(&trees.source).map_err(DeltaFault::Source)?;
        let target = top(&trees.target).map_err(DeltaFault::Target)?;
        let source = Record::new(trees.source.schema(), None, source);
        let target = Record::new(trees.target.schema(), None, target);
        let changed = changed::changed((&trees.source, &source), (&trees.target, &target), &self.maps);
        let Some(changed) = changed else { return Ok(()) };
        self.entries += 1;
        let part = |leaves: Vec<Leaf>| {
            let content = Content { leaves, children: Vec::new() };
            (!content.leaves.is_empty()).then_some(Part { parent: None, content })
        };
        let (has_source, has_target) = (!source.is_empty(), !target.is_empty());
        let action = match (has_source, has_target) {
            (true, false) => Action::Remove,
            (false, true) => Action::Create,
            _ => Action::Replace,
        };
        let (source, target) = (part(changed.source), part(changed.target));
        let item = DeltaItem { action, xpath: "/".to_owned(), source, target };
        if action == Action::Create && !self.options.is_grouped {
            self.added_top = Some(item);
        } else {
            self.items.push(item);
        }
        Ok(())
    }

    fn read(&mut self, trees: &mut Trees<'_>, both: &mut Match) -> Result<(), DeltaFault> {
        both.source.read(trees.cursor(Side::Source)).map_err(DeltaFault::Source)?;
        both.target.read(trees.cursor(Side::Target)).map_err(DeltaFault::Target)?;
        self.steps += (both.source.entries.len() + both.target.entries.len()) as u64;
        Ok(())
    }

    fn match_entries(&mut self, trees: &Trees<'_>, both: Match) {
        let Match { source, target, xpath, level } = both;
        let (source, target) = (source.entries, target.entries);
        let same = matches(
            Family { tree: &trees.source, entries: &source },
            Family { tree: &trees.target, entries: &target },
            &self.maps.to_target,
        );
        let mut is_new = vec![true; target.len()];
        for at in same.iter().flatten() {
            if let Some(is_new) = is_new.get_mut(*at) {
                *is_new = false;
            }
        }
        let pairs = source.into_iter().zip(same);
        let pairs = pairs.map(|(entry, at)| (entry, at.and_then(|at| target.get(at).cloned())));
        let (both, gone): (Vec<_>, Vec<_>) =
            pairs.partition(|(_, other)| other.is_some() || !self.options.is_grouped);
        let new = target.into_iter().zip(is_new).filter(|(_, is_new)| *is_new).map(|(entry, _)| entry);
        if self.options.is_grouped {
            let group = |side, left: VecDeque<Entry>| {
                let (first, nodes) = (Gather::default(), Vec::new());
                Work::Group(Group { side, left, first, nodes, xpath: xpath.clone(), level })
            };
            self.work.push(group(Side::Target, new.collect()));
            self.work.push(Work::Pairs(Pairs { left: both.into(), xpath: xpath.clone(), level }));
            self.work.push(group(Side::Source, gone.into_iter().map(|(entry, _)| entry).collect()));
        } else {
            self.added.extend(new.map(|entry| Spread::new(Side::Target, entry, xpath.clone(), level)));
            self.work.push(Work::Pairs(Pairs { left: both.into(), xpath, level }));
        }
    }

    /// The next of the entries of the source.
    fn pair(&mut self, trees: &Trees<'_>, mut pairs: Pairs) {
        let Some((source, target)) = pairs.left.pop_front() else { return };
        let (mut xpath, level) = (pairs.xpath.clone(), pairs.level);
        self.work.push(Work::Pairs(pairs));
        let Some(target) = target else {
            let spread = Spread::new(Side::Source, source, xpath, level);
            return self.work.push(Work::Spread(spread));
        };
        let (one, other) = (source.record(&trees.source), target.record(&trees.target));
        push_entry(&mut xpath, trees.source.schema(), &one);
        if let Some(changed) = changed::changed((&trees.source, &one), (&trees.target, &other), &self.maps) {
            self.entries += 1;
            self.items.push(DeltaItem {
                action: Action::Replace,
                xpath: xpath.clone(),
                source: part(trees.source.schema(), source.node, changed.source),
                target: part(trees.target.schema(), target.node, changed.target),
            });
        }
        let has_below = |tree: &Tree<'_>, node| {
            tree.schema().children(Some(node)).iter().any(|child| tree.schema().is_entry(*child))
        };
        let has_below = has_below(&trees.source, source.node) || has_below(&trees.target, target.node);
        if has_below && self.options.depth.has(level as usize + 1) {
            let (source, target) = (Siblings::below(source.label), Siblings::below(target.label));
            self.work.push(Work::Match(Box::new(Match { source, target, xpath, level: level + 1 })));
        }
    }

    /// Reads some entries of a group and of what is below; whether they are all.
    fn gather(&mut self, trees: &mut Trees<'_>, group: &mut Group) -> Result<bool, DeltaFault> {
        let Some(entry) = group.left.front() else { return Ok(true) };
        let depth = match self.options.depth {
            Depth::Levels(levels) => Depth::Levels(levels.saturating_sub(group.level)),
            Depth::All => Depth::All,
        };
        if !depth.has(1) {
            let record = entry.record(trees.of(group.side));
            group.nodes.push(DataNode { schema: entry.node, content: content_of(&record) });
            group.left.pop_front();
            (self.entries, self.steps) = (self.entries + 1, self.steps + 1);
            return Ok(group.left.is_empty());
        }
        let gathered = group.first.run(trees.cursor(group.side), &entry.label, depth);
        let count = match gathered.map_err(|fault| group.side.fault(fault))? {
            Gathered::More(count) => count,
            Gathered::All(count, node) => {
                group.nodes.extend(node);
                group.left.pop_front();
                group.first = Gather::default();
                count
            }
        };
        (self.entries, self.steps) = (self.entries + count, self.steps + count);
        Ok(group.left.is_empty())
    }

    fn report_group(&mut self, trees: &Trees<'_>, group: Group) {
        let Some(first) = group.nodes.first() else { return };
        let schema = trees.of(group.side).schema();
        let mut xpath = group.xpath;
        // At the top there is no path of a parent: CPS takes that of the first entry.
        if xpath.is_empty() {
            super::paths::push_node(&mut xpath, schema, first);
        }
        let part = Part {
            parent: schema.node(first.schema).parent,
            content: Content { leaves: Vec::new(), children: group.nodes },
        };
        self.items.push(DeltaItem::of_side(group.side, xpath, part));
    }
}

/// One entry, if it has something to report.
fn part(schema: &Schema, node: NodeId, leaves: Vec<Leaf>) -> Option<Part> {
    (!leaves.is_empty()).then(|| Part::entry(schema, node, leaves))
}
