//! How many nodes the groupings of a set come to: each `uses` copies one, and copies of copies multiply. It is counted before
//! the engine does it, so that a short text does not fill the memory.

use std::collections::HashMap;

use crate::statement::Statements;

use super::{CompileError, ModuleSet};

/// Nodes of all kinds, with all copies of groupings.
pub const EXPANDED_NODES_MAX: u64 = 500_000;
/// Groupings that use each other one after the other.
const CHAIN_MAX: usize = 200;

/// A grouping, or what a module has outside of its groupings.
#[derive(Debug, Default)]
struct Part {
    nodes: u64,
    /// Module and name.
    uses: Vec<(Box<str>, Box<str>)>,
}

/// All groupings of a set; those of one name in several scopes of a module count as the largest.
#[derive(Debug, Default)]
struct Groupings {
    parts: HashMap<(Box<str>, Box<str>), Vec<Part>>,
    totals: HashMap<(Box<str>, Box<str>), u64>,
}

/// Counts the nodes of a set. Cost: linear in the texts.
///
/// # Errors
///
/// More than [`EXPANDED_NODES_MAX`], and groupings that use each other without end or nearly so, with the file.
pub(super) fn check(set: &ModuleSet<'_>) -> Result<(), CompileError> {
    let mut groupings = Groupings::default();
    let mut modules = Vec::new();
    for member in &set.members {
        let of = member.header.belongs_to.as_ref().map_or(&member.header.name, |module| &module.name);
        modules.push((member, groupings.read(of, &member.file.text)));
    }
    let mut sum = 0_u64;
    for (member, own) in modules {
        let fails = |message: String| CompileError::at(&member.file.name, None, message);
        let total = groupings.total(&own, 0).ok_or_else(|| {
            fails(format!("its groupings use each other more than {CHAIN_MAX} times, one after the other"))
        })?;
        sum = sum.saturating_add(total);
        if sum > EXPANDED_NODES_MAX {
            return Err(fails(format!("with it the modules have more than {EXPANDED_NODES_MAX} nodes")));
        }
    }
    Ok(())
}

impl Groupings {
    /// Adds the groupings of a text, and answers what lies outside of them.
    fn read(&mut self, module: &str, text: &str) -> Part {
        let mut prefixes: HashMap<Box<str>, Box<str>> = HashMap::new();
        // Of each open statement, the grouping that begins with it.
        let mut open: Vec<Option<(Box<str>, Part)>> = Vec::new();
        let mut own = Part::default();
        let mut imported: Box<str> = module.into();
        for statement in Statements::new(text).map_while(Result::ok) {
            while open.len() > statement.depth {
                self.close(module, open.pop().flatten());
            }
            let argument = statement.text();
            let begins = match statement.keyword {
                "grouping" => Some((argument.into(), Part::default())),
                _ => None,
            };
            let part = open.iter_mut().rev().find_map(Option::as_mut).map_or(&mut own, |(_, part)| part);
            match (statement.keyword, statement.depth) {
                ("import", 1) => imported = argument.into(),
                ("belongs-to", 1) => imported = module.into(),
                ("prefix", 1) => drop(prefixes.insert(argument.into(), module.into())),
                ("prefix", 2) => drop(prefixes.insert(argument.into(), imported.clone())),
                ("uses", _) => part.uses.push(match argument.split_once(':') {
                    Some((prefix, name)) => {
                        (prefixes.get(prefix).cloned().unwrap_or_else(|| prefix.into()), name.into())
                    }
                    None => (module.into(), argument.into()),
                }),
                (keyword, _) if is_node(keyword) => part.nodes += 1,
                _ => {}
            }
            if statement.body.is_some() {
                open.push(begins);
            }
        }
        while let Some(last) = open.pop() {
            self.close(module, last);
        }
        own
    }

    fn close(&mut self, module: &str, ended: Option<(Box<str>, Part)>) {
        if let Some((name, part)) = ended {
            self.parts.entry((module.into(), name)).or_default().push(part);
        }
    }

    /// The nodes of a part with all that it uses; nothing if that nests too deep, as it does if it is endless.
    fn total(&mut self, part: &Part, level: usize) -> Option<u64> {
        if level > CHAIN_MAX {
            return None;
        }
        let mut sum = part.nodes;
        for used in &part.uses {
            sum = sum.saturating_add(self.total_of(used, level + 1)?);
        }
        Some(sum)
    }

    fn total_of(&mut self, name: &(Box<str>, Box<str>), level: usize) -> Option<u64> {
        if let Some(known) = self.totals.get(name) {
            return Some(*known);
        }
        // What is not there, the engine says.
        let Some(parts) = self.parts.remove(name) else { return Some(0) };
        // While it is away, a grouping that uses itself finds nothing: that, too, the engine says.
        let mut largest = 0;
        for part in &parts {
            largest = largest.max(self.total(part, level)?);
        }
        self.totals.insert(name.clone(), largest);
        Some(largest)
    }
}

fn is_node(keyword: &str) -> bool {
    matches!(
        keyword,
        "container"
            | "list"
            | "leaf"
            | "leaf-list"
            | "choice"
            | "case"
            | "anydata"
            | "anyxml"
            | "rpc"
            | "action"
            | "notification"
    )
}
