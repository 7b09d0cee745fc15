//! The layers inside a crate: `lib.rs` (or `main.rs`) lists its modules from the ground up, and so does every module
//! that has modules; a module uses only those above it in that list.
//!
//! Where one module uses another, the two are compared where their paths part: `history::fold` that uses
//! `query::plan` is `history` that uses `query`. A module uses those inside it freely. What a module with
//! modules defines itself is ground to those; what `lib.rs` defines itself is the front door, and nobody's ground.
//! Test code (`#[cfg(test)]`, the feature `testing`) is free.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context;

use crate::process::{crates, root, say};
use crate::ratchets::Ratchets;
use crate::source::{Modules, home, modules};

/// The crate's own file, where it is used by what lies below it.
const FRONT_DOOR: &str = "lib";

/// A use of a module that is not above the one that uses it.
#[derive(Debug)]
pub(crate) struct Upward {
    /// `crate: module -> used`; what the list of exceptions says.
    pub rule: String,
    /// `file:line path`, each.
    pub places: Vec<String>,
}

/// The first files of a crate: one of a library, one of a program.
fn first_files(name: &str) -> Vec<PathBuf> {
    let folder = root().join("crates").join(name).join("src");
    ["lib.rs", "main.rs"].iter().map(|file| folder.join(file)).filter(|file| file.is_file()).collect()
}

/// Every upward use of all crates, in the order of crates.
///
/// # Errors
///
/// Source that cannot be read.
pub(crate) fn upward() -> anyhow::Result<Vec<Upward>> {
    let mut all = Vec::new();
    for name in crates()? {
        for file in first_files(&name) {
            let modules = modules(&file).with_context(|| format!("reading the modules of {name}"))?;
            let found = edges(&modules).into_iter().filter(|(edge, _)| edge.is_upward(&modules));
            all.extend(
                found.map(|(edge, places)| Upward { rule: format!("{name}: {}", edge.name()), places }),
            );
        }
    }
    Ok(all)
}

/// One module that uses another of the same list.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Edge {
    /// The module whose list has both.
    within: Vec<String>,
    module: String,
    used: String,
}

impl Edge {
    fn name(&self) -> String {
        let full = |name: &str| {
            let path: Vec<&str> = self.within.iter().map(String::as_str).chain([name]).collect();
            path.join("::")
        };
        format!("{} -> {}", full(&self.module), full(&self.used))
    }

    fn is_upward(&self, modules: &Modules) -> bool {
        let listed = modules.get(&self.within).map(|module| module.children.as_slice()).unwrap_or_default();
        let place = |name: &str| listed.iter().position(|child| child == name);
        // The front door is in no list: it is above all.
        place(&self.used).is_none() || place(&self.used) > place(&self.module)
    }
}

/// Who uses whom, and where.
fn edges(modules: &Modules) -> BTreeMap<Edge, Vec<String>> {
    let mut edges: BTreeMap<Edge, Vec<String>> = BTreeMap::new();
    for (path, module) in modules {
        for mention in &module.mentions {
            let Some(used) = home(modules, path, &mention.segments) else { continue };
            let Some(edge) = parting(path, &used) else { continue };
            let file = module.file.strip_prefix(root()).unwrap_or(&module.file);
            let place = format!("{}:{} {}", file.display(), mention.line, mention.segments.join("::"));
            edges.entry(edge).or_default().push(place);
        }
    }
    edges
}

/// Where the paths of two modules part; nothing if the second lies inside the first, or is its ground.
fn parting(module: &[String], used: &[String]) -> Option<Edge> {
    let common = module.iter().zip(used).take_while(|(left, right)| left == right).count();
    let within = module.get(..common)?.to_vec();
    match (module.get(common), used.get(common)) {
        (Some(module), Some(used)) => Some(Edge { within, module: module.clone(), used: used.clone() }),
        (Some(module), None) if within.is_empty() => {
            Some(Edge { within, module: module.clone(), used: FRONT_DOOR.to_owned() })
        }
        _ => None,
    }
}

/// Prints every upward use, the known ones marked; with names of crates, those alone, and for each list of modules
/// that has an upward use the order that would have the fewest.
///
/// # Errors
///
/// Source that cannot be read.
pub(crate) fn report(wanted: &[String]) -> anyhow::Result<()> {
    let known = Ratchets::read()?.layers;
    let mut text = String::new();
    for upward in upward()? {
        let mark = if known.contains(&upward.rule) { "known" } else { "NEW" };
        let of = upward.rule.split(':').next().unwrap_or_default();
        if wanted.is_empty() || wanted.iter().any(|name| name == of) {
            writeln!(text, "{mark:5} {}", upward.rule)?;
            for place in &upward.places {
                writeln!(text, "      {place}")?;
            }
        }
    }
    for name in wanted {
        for file in first_files(name) {
            suggest(&modules(&file)?, &mut text)?;
        }
    }
    say(&text);
    Ok(())
}

fn suggest(modules: &Modules, text: &mut String) -> anyhow::Result<()> {
    let edges: BTreeSet<Edge> = edges(modules).into_keys().collect();
    for (path, module) in modules {
        let inside: Vec<&Edge> = edges.iter().filter(|edge| edge.within == *path).collect();
        let upward = inside.iter().filter(|edge| edge.is_upward(modules)).count();
        let order = best_order(&module.children, &inside);
        if upward > count(&order, &inside) {
            let name = if path.is_empty() { FRONT_DOOR.to_owned() } else { path.join("::") };
            writeln!(text, "order of {name}, from the ground up: {}", order.join(" "))?;
        }
    }
    Ok(())
}

fn count(order: &[String], edges: &[&Edge]) -> usize {
    let place = |name: &String| order.iter().position(|child| child == name);
    edges.iter().filter(|edge| place(&edge.used).is_none() || place(&edge.used) > place(&edge.module)).count()
}

/// An order with few upward uses: each module after those that it uses, as far as there is no circle; then modules
/// are moved one by one to their best place until nothing gets better.
fn best_order(listed: &[String], edges: &[&Edge]) -> Vec<String> {
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    for name in listed {
        after_used(name, listed, edges, &mut seen, &mut order);
    }
    let mut best = count(&order, edges);
    loop {
        let before = best;
        for name in listed {
            let rest: Vec<String> = order.iter().filter(|other| *other != name).cloned().collect();
            for place in 0..=rest.len() {
                let mut tried = rest.clone();
                tried.insert(place, name.clone());
                let upward = count(&tried, edges);
                if upward < best {
                    best = upward;
                    order = tried;
                }
            }
        }
        if best == before {
            return order;
        }
    }
}

fn after_used<'a>(
    name: &'a String,
    listed: &'a [String],
    edges: &[&Edge],
    seen: &mut BTreeSet<&'a String>,
    order: &mut Vec<String>,
) {
    if !seen.insert(name) {
        return;
    }
    let is_used = |other: &&String| edges.iter().any(|edge| edge.module == *name && edge.used == **other);
    for used in listed.iter().filter(is_used) {
        after_used(used, listed, edges, seen, order);
    }
    order.push(name.clone());
}

#[cfg(test)]
mod tests;
