//! A tree as text.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter, Write};

use crate::tree::{Comparison, CpsPath, LeafCondition, Literal, Name, Origin, Predicate, Step};

impl Display for Name {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.prefix {
            Some(prefix) => write!(out, "{prefix}:{}", self.local),
            None => out.write_str(&self.local),
        }
    }
}

impl Display for Literal {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => write!(out, "{number}"),
            Self::Text(text) => write_quoted(text, out),
        }
    }
}

impl Display for LeafCondition {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "@{}{}{}", self.leaf, self.comparison.sign(), self.value)
    }
}

impl Display for Predicate {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write_alternatives(out, &self.alternatives, |out, one| write!(out, "{one}"))
    }
}

impl Display for Step {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.name, self.predicate)
    }
}

/// The path as it was read, but for quotes and space: parsing it gives the same tree.
impl Display for CpsPath {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write_path(self, out, |step, out| write!(out, "{step}"))
    }
}

impl CpsPath {
    /// The path as CPS spells xpaths: what is equal stands in apostrophes, integers too, and the conditions of a step that are
    /// equalities joined by `and` are in the order of their names. Parsed and written again it stays the same. Cost: O(length).
    pub fn normalized(&self) -> String {
        let mut text = String::new();
        write_path(self, &mut text, normalize_step).expect("a string takes what is written");
        text
    }
}

/// Adds the xpath of a container (no keys) or list entry to that of its parent: keys in the order of their names, values in
/// apostrophes. Cost: O(length).
pub fn push_step(xpath: &mut String, name: &str, keys: &mut [(&str, &str)]) {
    keys.sort_unstable();
    xpath.push('/');
    xpath.push_str(name);
    for (position, (leaf, value)) in keys.iter().enumerate() {
        xpath.push_str(if position == 0 { "[@" } else { " and @" });
        xpath.push_str(leaf);
        xpath.push('=');
        write_quoted(value, xpath).expect("a string takes what is written");
    }
    if !keys.is_empty() {
        xpath.push(']');
    }
}

/// The one order of the parts of a path; steps are written as the caller says.
fn write_path<W: Write>(
    path: &CpsPath,
    out: &mut W,
    step: impl Fn(&Step, &mut W) -> fmt::Result,
) -> fmt::Result {
    if path.is_root() || path.origin == Origin::Descendant {
        out.write_char('/')?;
    }
    for one in &path.steps {
        out.write_char('/')?;
        step(one, out)?;
    }
    if let Some(text) = &path.text {
        write!(out, "/{}[text()=", text.leaf)?;
        write_quoted(&text.value, out)?;
        out.write_char(']')?;
    }
    if let Some(contains) = &path.contains {
        write!(out, "[contains(@{},", contains.leaf)?;
        write_quoted(&contains.part, out)?;
        out.write_str(")]")?;
    }
    for (position, one) in path.ancestor.iter().enumerate() {
        out.write_str(if position == 0 { "/ancestor::" } else { "/" })?;
        step(one, out)?;
    }
    match &path.attribute {
        Some(attribute) => write!(out, "/@{attribute}"),
        None => Ok(()),
    }
}

fn normalize_step<W: Write>(step: &Step, out: &mut W) -> fmt::Result {
    write!(out, "{}", step.name)?;
    let mut alternatives = Cow::Borrowed(&step.predicate.alternatives);
    if step.predicate.equalities().is_some() {
        for all in alternatives.to_mut() {
            all.sort_by(|one, other| one.leaf.cmp(&other.leaf));
        }
    }
    write_alternatives(out, &alternatives, |out, one| match one.comparison {
        Comparison::Equal => {
            write!(out, "@{}=", one.leaf)?;
            write_quoted(&one.value.text(), out)
        }
        _ => write!(out, "{one}"),
    })
}

/// `[a and b or c]`, or nothing.
fn write_alternatives<W: Write>(
    out: &mut W,
    alternatives: &[Vec<LeafCondition>],
    condition: impl Fn(&mut W, &LeafCondition) -> fmt::Result,
) -> fmt::Result {
    for (position, all) in alternatives.iter().enumerate() {
        out.write_str(if position == 0 { "[" } else { " or " })?;
        for (position, one) in all.iter().enumerate() {
            out.write_str(if position == 0 { "" } else { " and " })?;
            condition(out, one)?;
        }
    }
    match alternatives {
        [] => Ok(()),
        _ => out.write_char(']'),
    }
}

/// A text in apostrophes, those inside doubled.
fn write_quoted<W: Write>(text: &str, out: &mut W) -> fmt::Result {
    out.write_char('\'')?;
    for (position, piece) in text.split('\'').enumerate() {
        out.write_str(if position == 0 { "" } else { "''" })?;
        out.write_str(piece)?;
    }
    out.write_char('\'')
}
