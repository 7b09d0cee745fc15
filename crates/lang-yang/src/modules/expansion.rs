//! What the groupings and types of a set come to: each `uses` copies what it names, a union takes in the members of the unions
//! it is of, and copies of copies multiply. It is counted before the engine does it, so that a short text does not fill the
//! memory; and so is how often the engine compares names, since it finds everything by looking at one after the other.

mod comparisons;
mod read;

use std::collections::HashMap;
use std::rc::Rc;

use super::{CompileError, ModuleSet};

pub use comparisons::COMPARISONS_MAX;
use comparisons::{Comparisons, Counts, Part};

/// Nodes of all kinds, with all copies of groupings.
pub const EXPANDED_NODES_MAX: u64 = 500_000;
/// Statements that are no nodes, and members of unions, with all copies of groupings and types.
pub const EXPANDED_STATEMENTS_MAX: u64 = 2_000_000;
/// Nesting of statements, with groupings and types in the places where they are used.
pub const EXPANDED_DEPTH_MAX: usize = 400;

/// A grouping or type that a part uses.
#[derive(Clone, Copy, Debug)]
struct Reference {
    /// The number of its name.
    name: u32,
    /// How deep in the part it is used.
    depth: u8,
    /// Whether all of it is copied, or a type only shared: then a union that it is in has its members.
    is_whole: bool,
    /// Of the lists of the part, that in which the nodes of a grouping come to be, or that of what is added to a type.
    list: u32,
    /// `refine` and `augment` of a `uses`.
    amendments: u32,
    line: u32,
}

/// How much something comes to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Size {
    nodes: u64,
    /// That are no nodes, and mean something to the engine.
    statements: u64,
    /// Of unions: types that are no unions; and patterns.
    members: u64,
    depth: usize,
    compared: Comparisons,
}

/// What is known of the size of all that has a name.
#[derive(Clone, Copy, Debug, Default)]
enum Total {
    #[default]
    Unknown,
    /// It is being counted: who meets it now is in a circle.
    Begun,
    Known(Size),
}

/// Why something cannot be counted.
#[derive(Debug)]
enum Uncountable {
    TooDeep,
    /// Definitions of this name and others, in several scopes or revisions.
    Circle(Rc<str>),
}

/// All definitions of a name.
#[derive(Debug, Default)]
struct Named {
    /// For errors.
    shown: Rc<str>,
    is_type: bool,
    /// The number of the module that it is of.
    module: u32,
    parts: Vec<Part>,
    total: Total,
}

/// All groupings and typedefs of a set. Those of one name in several scopes or revisions of a module count as the largest.
#[derive(Debug, Default)]
struct Definitions {
    numbers: HashMap<Rc<str>, u32>,
    names: Vec<Named>,
    /// Those that are being counted, and whether they have several definitions.
    begun: Vec<(u32, bool)>,
    /// What is counted of modules as a whole.
    counts: Counts,
}

/// Counts the nodes, statements and types of a set. Cost: linear in the texts.
///
/// # Errors
///
/// More than the limits, with the file at which it is.
pub(super) fn check(set: &ModuleSet<'_>) -> Result<(), CompileError> {
    let mut definitions = Definitions::default();
    let outside: Vec<(&str, Part)> = (0..)
        .zip(&set.members)
        .map(|(number, member)| (&*member.file.name, definitions.read(member, number)))
        .collect();
    let mut sum = Size::default();
    for (file, part) in &outside {
        let fails = |message: String| CompileError::at(file, None, message);
        let total = definitions.total(part, 0).map_err(|error| fails(error.to_string()))?;
        sum.add(total).check().map_err(|message| fails(format!("with it {message}")))?;
    }
    let nodes = sum.nodes;
    // The engine compiles what nobody uses, too, to see whether it is right; and it keeps each typedef.
    let unused: Vec<bool> =
        definitions.names.iter().map(|named| matches!(named.total, Total::Unknown)).collect();
    for (name, is_unused) in (0..).zip(unused) {
        let mut total =
            definitions.total_of(name, 0).map_err(|error| CompileError::of_set(error.to_string()))?;
        let named = definitions.named(name);
        if is_unused {
            total.compared.end_grouping();
        } else if named.is_type {
            total = Size { members: total.members, compared: total.compared, ..Size::default() };
        } else {
            total = Size::default();
        }
        let fails = |message: String| CompileError::of_set(format!("with {} {message}", named.shown));
        sum.add(total).check().map_err(fails)?;
    }
    definitions.counts.finish(&mut sum.compared, nodes);
    sum.compared.check(set)
}

impl std::fmt::Display for Uncountable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooDeep => write!(
                out,
                "with the groupings and types that it uses, statements nest deeper than {EXPANDED_DEPTH_MAX}"
            ),
            Self::Circle(name) => write!(
                out,
                "{name} has several definitions, which by their names use each other in a circle: give them names of their own"
            ),
        }
    }
}

impl Size {
    fn add(&mut self, other: Self) -> &Self {
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.statements = self.statements.saturating_add(other.statements);
        self.members = self.members.saturating_add(other.members);
        self.compared.add(&other.compared);
        self
    }

    fn max(self, other: Self) -> Self {
        Self {
            nodes: self.nodes.max(other.nodes),
            statements: self.statements.max(other.statements),
            members: self.members.max(other.members),
            depth: self.depth.max(other.depth),
            compared: self.compared.max(other.compared),
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.nodes > EXPANDED_NODES_MAX {
            return Err(format!("the modules have more than {EXPANDED_NODES_MAX} nodes"));
        }
        if self.statements.saturating_add(self.members) > EXPANDED_STATEMENTS_MAX {
            return Err(format!(
                "the modules have more than {EXPANDED_STATEMENTS_MAX} statements and members of unions"
            ));
        }
        Ok(())
    }
}

impl Definitions {
    fn named(&mut self, name: u32) -> &mut Named {
        self.names.get_mut(name as usize).expect("names have numbers of this table")
    }

    /// A part with all that it uses, so many statements deep.
    fn total(&mut self, part: &Part, level: usize) -> Result<Size, Uncountable> {
        let mut sum = part.own;
        let mut lengths = part.lengths();
        for reference in &part.references {
            let depth = usize::from(reference.depth);
            let mut used = self.total_of(reference.name, level + depth)?;
            if !reference.is_whole {
                used.statements = 0;
            }
            let named = self.names.get(reference.name as usize).expect("names have numbers of this table");
            let (is_type, searched) = (named.is_type, self.counts.searched(named.module, named.is_type));
            used.compared.used_by(reference, (is_type, searched, used.nodes), &mut lengths);
            sum.add(used);
            sum.depth = sum.depth.max(depth + used.depth);
        }
        self.counts.close(part, &lengths, &mut sum.compared);
        if level + sum.depth > EXPANDED_DEPTH_MAX { Err(Uncountable::TooDeep) } else { Ok(sum) }
    }

    fn total_of(&mut self, name: u32, level: usize) -> Result<Size, Uncountable> {
        let named = self.named(name);
        match named.total {
            Total::Known(size) => return Ok(size),
            Total::Begun => return self.circle(name),
            Total::Unknown if level > EXPANDED_DEPTH_MAX => return Err(Uncountable::TooDeep),
            Total::Unknown => named.total = Total::Begun,
        }
        // What is not there, the engine says.
        let parts = std::mem::take(&mut named.parts);
        self.begun.push((name, parts.len() > 1));
        let mut largest = Size::default();
        for part in &parts {
            largest = largest.max(self.total(part, level)?);
        }
        self.begun.pop();
        self.named(name).total = Total::Known(largest);
        Ok(largest)
    }

    /// The engine refuses a circle: it may count as nothing. But definitions of one name in several scopes may make a circle of
    /// names that is none.
    fn circle(&mut self, name: u32) -> Result<Size, Uncountable> {
        let mut around = self.begun.iter().rev();
        let of_it = around.position(|(begun, _)| *begun == name).unwrap_or(0);
        let several = self.begun.iter().rev().take(of_it + 1).find(|(_, is_several)| *is_several);
        match several.copied() {
            Some((several, _)) => Err(Uncountable::Circle(self.named(several).shown.clone())),
            None => Ok(Size::default()),
        }
    }
}
