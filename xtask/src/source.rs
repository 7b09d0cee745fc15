//! The modules of a crate as its source says them: which there are, in which order they are listed, and which
//! module uses which. Reads tokens, not types: a call of a method that another file adds to a type is not seen.

mod tokens;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use proc_macro2::TokenStream;

use tokens::{Found, read};

/// A path in the source, as its segments, and the line it begins on.
#[derive(Clone, Debug)]
pub(crate) struct Mention {
    /// `crate`, `self` or `super` first, or a name of the module.
    pub segments: Vec<String>,
    /// In the file of the module.
    pub line: usize,
}

/// One module, without its test code.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// Where its text is.
    pub file: PathBuf,
    /// Its modules, in the order of their `mod` lines.
    pub children: Vec<String>,
    /// Names that `use` brings in, and what they mean.
    imports: BTreeMap<String, Vec<String>>,
    /// What `use path::*` names.
    globs: Vec<Vec<String>>,
    /// Names of what it defines.
    items: Vec<String>,
    /// Paths that begin with `crate`, `self` or `super`.
    pub mentions: Vec<Mention>,
}

/// The modules of one crate by their paths; the empty path is the crate's own file.
pub(crate) type Modules = BTreeMap<Vec<String>, Module>;

/// Reads a crate from its first file (`lib.rs` or `main.rs`).
///
/// # Errors
///
/// A file that is missing or no Rust.
pub(crate) fn modules(first: &Path) -> anyhow::Result<Modules> {
    let mut modules = Modules::new();
    let folder = first.parent().context("a file lies in a folder")?;
    add(&mut modules, Vec::new(), first, folder, &tokens_of(first)?)?;
    Ok(modules)
}

fn tokens_of(file: &Path) -> anyhow::Result<TokenStream> {
    let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    text.parse().map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))
}

/// Adds a module and those below it; `folder` is where the files of its modules lie.
fn add(
    modules: &mut Modules,
    path: Vec<String>,
    file: &Path,
    folder: &Path,
    tokens: &TokenStream,
) -> anyhow::Result<()> {
    let mut module = Module { file: file.to_owned(), ..Module::default() };
    for found in read(tokens) {
        match found {
            Found::Import { name, segments } => {
                module.imports.insert(name, segments);
            }
            Found::Glob(segments) => module.globs.push(segments),
            Found::Item(name) => module.items.push(name),
            Found::Mention(mention) => module.mentions.push(mention),
            Found::Module { name, body } => {
                let mut below = path.clone();
                below.push(name.clone());
                let inner = folder.join(&name);
                match body {
                    Some(body) => add(modules, below, file, &inner, &body)?,
                    None => {
                        let file = file_of(folder, &name)?;
                        add(modules, below, &file, &inner, &tokens_of(&file)?)?;
                    }
                }
                module.children.push(name);
            }
        }
    }
    modules.insert(path, module);
    Ok(())
}

fn file_of(folder: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let beside = folder.join(format!("{name}.rs"));
    let inside = folder.join(name).join("mod.rs");
    if beside.is_file() {
        return Ok(beside);
    }
    if inside.is_file() {
        return Ok(inside);
    }
    bail!("module {name} of {} has no file", folder.display())
}

/// The path of the module that defines what `segments` name, as written in the module at `from`;
/// nothing if that is another crate's.
pub(crate) fn home(modules: &Modules, from: &[String], segments: &[String]) -> Option<Vec<String>> {
    // Re-exports are chains of a few links; what goes round in them is no path that compiles.
    walk(modules, from, segments, 16)
}

fn walk(modules: &Modules, from: &[String], segments: &[String], depth: usize) -> Option<Vec<String>> {
    let depth = depth.checked_sub(1)?;
    let mut at = from.to_vec();
    let mut segments = segments;
    while let Some((first, rest)) = segments.split_first() {
        match first.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                at.pop();
            }
            name => {
                let module = modules.get(&at)?;
                if !module.children.iter().any(|child| child == name) {
                    return item(modules, &at, name, rest, depth);
                }
                at.push(name.to_owned());
            }
        }
        segments = rest;
    }
    Some(at)
}

/// Where an item of a module (no module itself) is defined.
fn item(modules: &Modules, at: &[String], name: &str, rest: &[String], depth: usize) -> Option<Vec<String>> {
    let module = modules.get(at)?;
    if let Some(segments) = module.imports.get(name) {
        if !is_ours(module, segments) {
            return None;
        }
        let segments: Vec<String> = segments.iter().chain(rest).cloned().collect();
        return walk(modules, at, &segments, depth);
    }
    if module.items.iter().any(|item| item == name) {
        return Some(at.to_vec());
    }
    let globs = module.globs.iter().filter(|segments| is_ours(module, segments));
    let mut homes = globs.filter_map(|segments| walk(modules, at, segments, depth));
    let home = homes.find(|home| modules.get(home).is_some_and(|module| module.has(name)));
    match home {
        Some(home) => item(modules, &home, name, rest, depth),
        None => Some(at.to_vec()),
    }
}

fn is_ours(module: &Module, segments: &[String]) -> bool {
    segments.first().is_some_and(|first| {
        matches!(first.as_str(), "crate" | "self" | "super")
            || module.children.contains(first)
            || module.imports.contains_key(first)
    })
}

impl Module {
    fn has(&self, name: &str) -> bool {
        self.imports.contains_key(name) || self.items.iter().any(|item| item == name)
    }
}
