//! Numbers and lists of exceptions that only shrink: `xtask/ratchets.toml` says how much of each is left.
//!
//! What exceeds the file fails the tests, and so does what the file allows and the tree no longer needs:
//! `cargo xtask shrink` takes that out of it.

mod counts;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, ensure};

use crate::layers::upward;
use crate::process::{root, say};

/// Where the numbers are, in the workspace.
const FILE: &str = "xtask/ratchets.toml";
/// What the file says of itself.
const HEAD: &str = "\
# What only shrinks. A number or line here is what is left of something that shall end; none may be added.
# `cargo xtask shrink` takes out what is no longer needed; `cargo xtask layers [CRATE]` shows where each upward use is.
";

/// What is left of all that shall end.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Ratchets {
    /// `crate: module -> used`: modules that use one that is not above them in the list.
    pub layers: Vec<String>,
    /// By name of what is counted, and by where.
    pub counts: BTreeMap<String, BTreeMap<String, u64>>,
}

impl Ratchets {
    /// What the file allows.
    ///
    /// # Errors
    ///
    /// A file that is missing or not of this form.
    pub(crate) fn read() -> anyhow::Result<Self> {
        let text = fs::read_to_string(root().join(FILE)).context(FILE)?;
        let mut table: toml::Table = text.parse().context(FILE)?;
        let layers = table.remove("layers").context("no list \"layers\"")?.try_into().context("layers")?;
        let counts = table.try_into().context(FILE)?;
        Ok(Self { layers, counts })
    }

    /// What the tree has.
    ///
    /// # Errors
    ///
    /// Source that cannot be read.
    pub(crate) fn of_the_tree() -> anyhow::Result<Self> {
        let mut layers: Vec<String> = upward()?.into_iter().map(|upward| upward.rule).collect();
        layers.sort();
        layers.dedup();
        Ok(Self { layers, counts: counts::all()? })
    }

    fn print(&self) -> anyhow::Result<String> {
        let mut text = HEAD.to_owned();
        writeln!(text, "layers = [")?;
        for rule in &self.layers {
            writeln!(text, "  \"{rule}\",")?;
        }
        writeln!(text, "]")?;
        for (name, counts) in &self.counts {
            writeln!(text, "\n# {}\n[{name}]", counts::meaning(name))?;
            for (place, count) in counts {
                writeln!(text, "\"{place}\" = {count}")?;
            }
        }
        Ok(text)
    }

    /// What the tree has beyond this, and what this allows beyond the tree: a line each.
    pub(crate) fn differences(&self, tree: &Self) -> (Vec<String>, Vec<String>) {
        let mut more: Vec<String> = new_in(&tree.layers, &self.layers);
        let mut less: Vec<String> = new_in(&self.layers, &tree.layers);
        let names: std::collections::BTreeSet<&String> =
            self.counts.keys().chain(tree.counts.keys()).collect();
        for name in names {
            let none = BTreeMap::new();
            let (allowed, has) =
                (self.counts.get(name).unwrap_or(&none), tree.counts.get(name).unwrap_or(&none));
            let places: std::collections::BTreeSet<&String> = allowed.keys().chain(has.keys()).collect();
            for place in places {
                let (allowed, has) = (allowed.get(place).copied(), has.get(place).copied());
                let line = format!("{name}, {place}: {} (allowed: {})", shown(has), shown(allowed));
                match has.unwrap_or(0).cmp(&allowed.unwrap_or(0)) {
                    std::cmp::Ordering::Greater => more.push(line),
                    std::cmp::Ordering::Less => less.push(line),
                    std::cmp::Ordering::Equal => {}
                }
            }
        }
        (more, less)
    }

    /// The smaller of the two, in everything.
    fn shrunk(&self, tree: &Self) -> Self {
        let layers = tree.layers.iter().filter(|rule| self.layers.contains(rule)).cloned().collect();
        let mut counts = BTreeMap::new();
        for (name, has) in &tree.counts {
            let allowed = self.counts.get(name);
            let both = has.iter().filter_map(|(place, has)| {
                let allowed = allowed.and_then(|allowed| allowed.get(place))?;
                Some((place.clone(), *has.min(allowed)))
            });
            counts.insert(name.clone(), both.collect());
        }
        Self { layers, counts }
    }
}

fn new_in(these: &[String], those: &[String]) -> Vec<String> {
    these.iter().filter(|rule| !those.contains(rule)).cloned().collect()
}

fn shown(count: Option<u64>) -> String {
    count.map_or_else(|| "none".to_owned(), |count| count.to_string())
}

/// Takes out of the file what the tree no longer needs; `begin` writes what the tree has, whatever the file says.
///
/// # Errors
///
/// More in the tree than the file allows: that stays to be mended.
pub(crate) fn shrink(rest: &[String]) -> anyhow::Result<()> {
    let tree = Ratchets::of_the_tree()?;
    if rest.iter().any(|argument| argument == "begin") {
        return fs::write(root().join(FILE), tree.print()?).context(FILE);
    }
    let allowed = Ratchets::read()?;
    let (more, less) = allowed.differences(&tree);
    fs::write(root().join(FILE), allowed.shrunk(&tree).print()?).context(FILE)?;
    say(&format!("no longer needed: {}\n", less.len()));
    ensure!(more.is_empty(), "more than {FILE} allows:\n  {}", more.join("\n  "));
    Ok(())
}

#[cfg(test)]
mod tests;
