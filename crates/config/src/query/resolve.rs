//! A path against a schema: which containers and lists it can find, which keys it gives on the way to them, and what is answered
//! in their stead. Done once for a query, whatever the size of the tree.

use std::sync::Arc;

use lang_cps_path::{Comparison, CpsPath, LeafCondition, Name, Origin, Predicate, Step};
use lang_yang::{NodeId, NodeKind, Schema};

use super::QueryError;
use super::condition::{self, Condition, Filter, Test};
use super::limits::LOOK_UPS_MAX;
use crate::page::ValueDemand;

/// A container or list that a path can find, and how.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// From the top down; the last one is what is found.
    pub(super) levels: Vec<Level>,
    /// What is answered for each entry that is found.
    pub(super) answers: Vec<Answered>,
}

/// One level of the way to a target.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub(super) node: NodeId,
    pub(super) is_list: bool,
    /// Of a list, if the path gives all its keys: their values in the order of the schema, in as many ways as they may be meant.
    pub(super) keys: Option<Vec<Vec<Box<str>>>>,
    /// What an entry must hold; `None` if nothing is asked.
    pub(super) filter: Option<Filter>,
    /// What pages must have where entries that pass are looked for, if the conditions say.
    pub(super) demand: Option<Arc<ValueDemand>>,
}

/// What is answered for an entry that was found: itself or an ancestor.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    /// How many levels its label has.
    pub(super) depth: usize,
    /// What entries on the way to it must hold besides, each with the number of its level from 1 on.
    pub(super) filters: Vec<(usize, Filter)>,
    /// The leaves whose values are answered; none if it is answered whole.
    pub(super) attributes: Vec<NodeId>,
}

impl Target {
    /// What is found.
    pub(super) fn node(&self) -> NodeId {
        self.levels.last().expect("a target has a level").node
    }

    /// Whether what is found is answered itself.
    pub(super) fn is_itself(&self) -> bool {
        matches!(self.answers.as_slice(), [only] if only.depth == self.levels.len() && only.filters.is_empty())
    }

    /// Whether a cursor from the top finds it beside others: nothing above it is asked for, and no key gives a shorter way.
    pub(super) fn is_plain(&self) -> bool {
        let (last, before) = self.levels.split_last().expect("a target has a level");
        self.is_itself() && last.keys.is_none() && before.iter().all(|level| level.filter.is_none())
    }

    /// How many levels are walked, one after the other, before the rest is scanned: all up to the last one whose keys are given,
    /// or all containers at the top; and the containers right below these.
    pub(super) fn walked(&self) -> usize {
        let keyed = self.levels.iter().rposition(|level| level.keys.is_some()).map_or(0, |at| at + 1);
        keyed + self.levels.iter().skip(keyed).take_while(|level| !level.is_list).count()
    }
}

/// All that a path can find.
///
/// # Errors
///
/// A condition that no leaf of its kind can be asked.
pub(super) fn targets(schema: &Schema, path: &CpsPath) -> Result<Vec<Target>, QueryError> {
    let found = last_nodes(schema, path);
    let steps: Vec<&Step> = path.steps.iter().collect();
    check_comparisons(schema, &steps, &found)?;
    let mut targets = Vec::new();
    for node in found {
        if let Some(target) = target(schema, path, node)? {
            targets.push(target);
        }
    }
    Ok(targets)
}

/// The containers and lists that the steps of a path can end at; without steps, all at the top.
fn last_nodes(schema: &Schema, path: &CpsPath) -> Vec<NodeId> {
    let is_meant =
        |id: &NodeId, name: &Name| schema.is_entry(*id) && condition::is_of_module(schema, *id, name);
    let Some((first, rest)) = path.steps.split_first() else {
        return schema.top.iter().copied().filter(|id| schema.is_entry(*id)).collect();
    };
    let named = match path.origin {
        Origin::Absolute => schema.children_named(None, &first.name.local),
        Origin::Descendant => schema.by_name(&first.name.local),
    };
    let mut nodes: Vec<NodeId> = named.iter().copied().filter(|id| is_meant(id, &first.name)).collect();
    for step in rest {
        let below = |parent: &NodeId| schema.children_named(Some(*parent), &step.name.local);
        nodes = nodes.iter().flat_map(below).copied().filter(|id| is_meant(id, &step.name)).collect();
    }
    nodes
}

/// Nodes from the top down to this one.
fn chain(schema: &Schema, node: NodeId) -> Vec<NodeId> {
    let mut chain: Vec<NodeId> =
        std::iter::successors(Some(node), |node| schema.node(*node).parent).collect();
    chain.reverse();
    chain
}

/// One container or list that is found; `None` if no entry of it can meet the conditions, or it has no such attribute.
fn target(schema: &Schema, path: &CpsPath, node: NodeId) -> Result<Option<Target>, QueryError> {
    let chain = chain(schema, node);
    let mut levels: Vec<Level> = chain.iter().map(|node| level(schema, *node)).collect();
    let first = chain.len() - path.steps.len();
    for (level, step) in levels.iter_mut().skip(first).zip(&path.steps) {
        let Some(filter) = filter(schema, level.node, &step.predicate)? else { return Ok(None) };
        level.filter = Some(filter);
    }
    let last = levels.last_mut().expect("a path has a step");
    if let Some(text) = &path.text {
        let leaves = condition::leaves_named(schema, node, &text.leaf);
        let test = condition::equal(schema, &leaves, &text.value);
        if !demand(last, &Condition { leaves, test }) {
            return Ok(None);
        }
    }
    if let Some(contains) = &path.contains {
        let leaves = condition::leaves_named(schema, node, &contains.leaf);
        if !demand(last, &Condition { leaves, test: Test::Contains(contains.part.clone()) }) {
            return Ok(None);
        }
    }
    for level in &mut levels {
        level.filter = level.filter.take().filter(|filter| !filter.is_open());
        level.keys = level.filter.as_ref().and_then(|filter| keys(schema, level.node, filter));
        level.demand = level.filter.as_ref().and_then(|filter| filter.demand_of(schema)).map(Arc::new);
    }
    let answers = answers(schema, path, &chain)?;
    Ok((!answers.is_empty()).then_some(Target { levels, answers }))
}

fn level(schema: &Schema, node: NodeId) -> Level {
    let is_list = matches!(schema.node(node).kind, NodeKind::List { .. });
    Level { node, is_list, keys: None, filter: None, demand: None }
}

/// Asks for one thing more; whether that can be had.
fn demand(level: &mut Level, condition: &Condition) -> bool {
    level.filter.get_or_insert_with(Filter::open).demand(condition);
    !condition.leaves.is_empty()
}

/// The conditions of a step on entries of one node; `None` if none can meet them.
fn filter(schema: &Schema, node: NodeId, predicate: &Predicate) -> Result<Option<Filter>, QueryError> {
    if predicate.is_empty() {
        return Ok(Some(Filter::open()));
    }
    let mut alternatives = Vec::new();
    for all in &predicate.alternatives {
        let conditions: Result<Option<Vec<_>>, _> =
            all.iter().map(|one| condition::resolve(schema, node, one)).collect();
        alternatives.extend(conditions?);
    }
    Ok((!alternatives.is_empty()).then_some(Filter { alternatives }))
}

/// The values of all keys of a list that a filter asks for, in every way that they may be meant; `None` if it leaves a key open,
/// or there are too many ways.
fn keys(schema: &Schema, node: NodeId, filter: &Filter) -> Option<Vec<Vec<Box<str>>>> {
    let keys = schema.keys(node);
    let mut ways: Vec<Vec<Box<str>>> = Vec::new();
    for all in &filter.alternatives {
        let mut of_alternative: Vec<Vec<Box<str>>> = vec![Vec::with_capacity(keys.len())];
        for key in keys {
            let texts = all.iter().find_map(|condition| match &condition.test {
                Test::OneOf(texts) if condition.leaves.as_slice() == [*key] => Some(texts),
                _ => None,
            })?;
            // Counted before they are made: each key that may be meant in two ways doubles them.
            if ways.len() + of_alternative.len() * texts.len() > LOOK_UPS_MAX {
                return None;
            }
            let with = |way: &Vec<Box<str>>| {
                let way = way.clone();
                texts.iter().map(move |text| way.iter().chain([text]).cloned().collect())
            };
            of_alternative = of_alternative.iter().flat_map(with).collect();
        }
        ways.append(&mut of_alternative);
    }
    (!keys.is_empty()).then_some(ways)
}

/// What is answered for an entry at the end of a chain.
fn answers(schema: &Schema, path: &CpsPath, chain: &[NodeId]) -> Result<Vec<Answered>, QueryError> {
    let mut answers = Vec::new();
    if path.ancestor.is_empty() {
        answers.push(Answered { depth: chain.len(), filters: Vec::new(), attributes: Vec::new() });
    }
    // CPS counts an entry among its own ancestors.
    for depth in 1..=chain.len() {
        if let Some(answered) = ancestor(schema, &path.ancestor, chain.get(..depth).unwrap_or(chain))? {
            answers.push(answered);
        }
    }
    let Some(attribute) = &path.attribute else { return Ok(answers) };
    for answered in &mut answers {
        let node = chain.get(answered.depth - 1).expect("a depth is within its chain");
        answered.attributes = condition::leaves_named(schema, *node, attribute);
    }
    answers.retain(|answered| !answered.attributes.is_empty());
    Ok(answers)
}

/// An ancestor at the end of a chain, if that ends as the steps of the axis say.
fn ancestor(schema: &Schema, steps: &[Step], chain: &[NodeId]) -> Result<Option<Answered>, QueryError> {
    let Some(before) = chain.len().checked_sub(steps.len()).filter(|_| !steps.is_empty()) else {
        return Ok(None);
    };
    let ends = || (before + 1..).zip(chain.iter().skip(before)).zip(steps);
    let is_meant = |node: NodeId, step: &Step| {
        *schema.node(node).name == *step.name.local && condition::is_of_module(schema, node, &step.name)
    };
    if !ends().all(|((_, node), step)| is_meant(*node, step)) {
        return Ok(None);
    }
    let mut filters = Vec::new();
    for ((depth, node), step) in ends() {
        check_comparisons(schema, &[step], &[*node])?;
        let Some(filter) = filter(schema, *node, &step.predicate)? else { return Ok(None) };
        if !filter.is_open() {
            filters.push((depth, filter));
        }
    }
    Ok(Some(Answered { depth: chain.len(), filters, attributes: Vec::new() }))
}

/// Refuses a condition that asks for an order, where leaves have its name but none of them is a number.
fn check_comparisons(schema: &Schema, steps: &[&Step], last: &[NodeId]) -> Result<(), QueryError> {
    for (up, step) in steps.iter().rev().enumerate() {
        let above =
            |node: &NodeId| std::iter::successors(Some(*node), |node| schema.node(*node).parent).nth(up);
        let nodes: Vec<NodeId> = last.iter().filter_map(above).collect();
        for condition in step.predicate.conditions().filter(|one| one.comparison != Comparison::Equal) {
            check_comparison(schema, &nodes, condition)?;
        }
    }
    Ok(())
}

fn check_comparison(schema: &Schema, nodes: &[NodeId], condition: &LeafCondition) -> Result<(), QueryError> {
    let leaves = || nodes.iter().flat_map(|node| condition::leaves_named(schema, *node, &condition.leaf));
    match leaves().next() {
        Some(leaf) if !leaves().any(|leaf| condition::is_numeric(schema, leaf)) => {
            Err(QueryError::NotComparable {
                leaf: schema.path(leaf).into(),
                comparison: condition.comparison.sign(),
            })
        }
        _ => Ok(()),
    }
}
