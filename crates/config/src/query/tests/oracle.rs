//! Paths on a plain nested tree, by the definition: every entry is tried, with all that lies above it.

use lang_cps_path::{Comparison, CpsPath, LeafCondition, Literal, Name, Origin, Predicate, Step};
use lang_yang::{Content, DataNode, Schema, ValueKind};

/// The uids of the entries that a path finds, or the values.
pub(super) fn ask(schema: &Schema, content: &Content, path: &CpsPath) -> Vec<String> {
    let mut oracle = Oracle { schema, path, answered: Vec::new() };
    let mut above = Vec::new();
    oracle.visit(content, &mut above);
    // Ancestors come before what they are of: the order is that of the document.
    let mut ranks = Vec::new();
    rank(content, &mut ranks);
    let position = |node: &DataNode| ranks.iter().position(|other| std::ptr::eq(*other, node));
    oracle.answered.sort_by_key(|node| position(node));
    oracle.answered.dedup_by(|one, other| std::ptr::eq(*one, *other));
    let uid = Name { prefix: None, local: "uid".into() };
    let mut answers: Vec<(ValueKind, String)> = Vec::new();
    for node in &oracle.answered {
        for value in values(schema, node, path.attribute.as_ref().unwrap_or(&uid)) {
            if !answers.contains(&value) {
                answers.push(value);
            }
        }
    }
    answers.into_iter().map(|(_, text)| text).collect()
}

struct Oracle<'a> {
    schema: &'a Schema,
    path: &'a CpsPath,
    answered: Vec<&'a DataNode>,
}

impl<'a> Oracle<'a> {
    fn visit(&mut self, content: &'a Content, above: &mut Vec<&'a DataNode>) {
        for child in &content.children {
            above.push(child);
            if self.is_found(above) {
                self.answer(above);
            }
            self.visit(&child.content, above);
            above.pop();
        }
    }

    fn is_found(&self, chain: &[&DataNode]) -> bool {
        let (path, node) = (self.path, chain.last().expect("an entry"));
        ends_with(self.schema, chain, &path.steps)
            && (path.origin == Origin::Descendant || chain.len() == path.steps.len())
            && path.text.as_ref().is_none_or(|text| {
                let value = Literal::Text(text.value.clone());
                values(self.schema, node, &text.leaf).any(|(kind, found)| is_equal(kind, &found, &value))
            })
            && path.contains.as_ref().is_none_or(|contains| {
                values(self.schema, node, &contains.leaf).any(|(_, found)| found.contains(&*contains.part))
            })
    }

    fn answer(&mut self, chain: &[&'a DataNode]) {
        if self.path.ancestor.is_empty() {
            self.answered.extend(chain.last().copied());
        }
        for end in 1..=chain.len() {
            let ancestors = &chain[..end];
            if !self.path.ancestor.is_empty() && ends_with(self.schema, ancestors, &self.path.ancestor) {
                self.answered.extend(ancestors.last().copied());
            }
        }
    }
}

fn rank<'a>(content: &'a Content, ranks: &mut Vec<&'a DataNode>) {
    for child in &content.children {
        ranks.push(child);
        rank(&child.content, ranks);
    }
}

fn ends_with(schema: &Schema, chain: &[&DataNode], steps: &[Step]) -> bool {
    chain.len() >= steps.len()
        && chain.iter().rev().zip(steps.iter().rev()).all(|(node, step)| {
            is_named(schema, node.schema, &step.name) && is_met(schema, node, &step.predicate)
        })
}

fn is_named(schema: &Schema, id: lang_yang::NodeId, name: &Name) -> bool {
    let node = schema.node(id);
    let module = schema.module(node.module);
    node.name == name.local
        && name.prefix.as_deref().is_none_or(|prefix| [&*module.name, &*module.prefix].contains(&prefix))
}

fn is_met(schema: &Schema, node: &DataNode, predicate: &Predicate) -> bool {
    predicate.is_empty()
        || predicate.alternatives.iter().any(|all| all.iter().all(|one| holds(schema, node, one)))
}

fn holds(schema: &Schema, node: &DataNode, condition: &LeafCondition) -> bool {
    values(schema, node, &condition.leaf).any(|(kind, text)| {
        if condition.comparison == Comparison::Equal {
            return is_equal(kind, &text, &condition.value);
        }
        let (true, Ok(left), Ok(right)) =
            (is_number(kind), text.parse::<f64>(), condition.value.text().parse::<f64>())
        else {
            return false;
        };
        match condition.comparison {
            Comparison::Equal => left == right,
            Comparison::Greater => left > right,
            Comparison::Less => left < right,
            Comparison::GreaterOrEqual => left >= right,
            Comparison::LessOrEqual => left <= right,
        }
    })
}

fn is_equal(kind: ValueKind, text: &str, literal: &Literal) -> bool {
    match (is_number(kind), text.parse::<f64>(), literal.text().parse::<f64>()) {
        (true, Ok(left), Ok(right)) => left == right,
        _ => text == literal.text(),
    }
}

fn is_number(kind: ValueKind) -> bool {
    matches!(kind, ValueKind::Integer | ValueKind::LongInteger | ValueKind::Decimal)
}

fn values(schema: &Schema, node: &DataNode, name: &Name) -> impl Iterator<Item = (ValueKind, String)> {
    let leaves = node.content.leaves.iter().filter(|leaf| is_named(schema, leaf.schema, name));
    let values: Vec<(ValueKind, String)> = leaves
        .flat_map(|leaf| leaf.values.iter().map(|value| (value.kind, value.text.clone().into())))
        .collect();
    values.into_iter()
}
