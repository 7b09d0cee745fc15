//! The module texts of a set: what each is, what it leans on, and whether all of that is there. What their statements mean is
//! left to the engine.

mod header;
mod built_in;
mod prefixes;
mod expansion;
mod derivations;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::statement::{SyntaxError, byte_order_mark};

pub(crate) use built_in::BuiltIn;
pub use derivations::{DERIVATIONS_MAX, IDENTITIES_MAX};
pub use expansion::{COMPARISONS_MAX, EXPANDED_DEPTH_MAX, EXPANDED_NODES_MAX, EXPANDED_STATEMENTS_MAX};
pub(crate) use header::{Dependency, Header};

/// Files of a set.
pub const FILES_MAX: usize = 2_000;
/// Ways from the modules of a set to those that they import, directly or not.
pub const IMPORT_PATHS_MAX: u64 = 50_000_000;
/// Bytes of all texts of a set.
pub const TEXT_BYTES_MAX: usize = 64 << 20;

/// One module or submodule, as it was given.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct YangFile {
    /// For errors.
    pub name: Box<str>,
    /// All of it.
    pub text: Box<str>,
}

/// Why a set of modules is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}{message}", place(file.as_deref(), *line))]
pub struct CompileError {
    /// The file that is wrong, if one is.
    pub file: Option<Box<str>>,
    /// Where in it, from 1 on, if that is known.
    pub line: Option<u32>,
    /// What is wrong.
    pub message: Box<str>,
    /// Whether this machine failed, and not the set: no memory for libyang, say.
    pub is_internal: bool,
    /// Whether the text may be YANG, and what it needs of other modules is wrong: one is missing, or they need each other.
    pub is_dependency: bool,
}

impl CompileError {
    pub(crate) fn of_set(message: impl Into<Box<str>>) -> Self {
        Self { file: None, line: None, message: message.into(), is_internal: false, is_dependency: false }
    }

    pub(crate) fn internal(what: &str, error: &dyn std::fmt::Display) -> Self {
        Self { is_internal: true, ..Self::of_set(format!("{what}: {error}")) }
    }

    pub(crate) fn at(file: &str, line: Option<u32>, message: impl Into<Box<str>>) -> Self {
        Self { file: Some(file.into()), line, ..Self::of_set(message) }
    }

    /// Of a module that another one needs.
    fn dependency(member: &Member<'_>, line: u32, message: impl Into<Box<str>>) -> Self {
        Self { is_dependency: true, ..Self::at(&member.file.name, Some(line), message) }
    }

    fn syntax(file: &str, error: SyntaxError) -> Self {
        Self::at(file, Some(error.line), error.message)
    }
}

/// A module or submodule, by its kind and name.
fn subject(header: &Header) -> String {
    let kind = if header.belongs_to.is_some() { "submodule" } else { "module" };
    format!("{kind} \"{}\"", header.name)
}

fn place(file: Option<&str>, line: Option<u32>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!("{file}, line {line}: "),
        (Some(file), None) => format!("{file}: "),
        (None, _) => String::new(),
    }
}

/// A file and what it is.
#[derive(Debug)]
pub(crate) struct Member<'a> {
    pub(crate) file: &'a YangFile,
    pub(crate) header: Header,
}

/// A set whose files are all read, each module and revision once.
#[derive(Debug)]
pub(crate) struct ModuleSet<'a> {
    /// In the order of names and revisions.
    pub(crate) members: Vec<Member<'a>>,
    /// Revisions of each module, or submodule, of a name: positions in `members`, the newest last.
    by_name: HashMap<Box<str>, Vec<usize>>,
}

impl<'a> ModuleSet<'a> {
    /// Reads the files. Cost: linear in their texts.
    ///
    /// # Errors
    ///
    /// Too many or too large ones, a text that is no module, and two of the same module and revision that differ.
    pub(crate) fn read(files: &'a [YangFile]) -> Result<Self, CompileError> {
        if files.is_empty() {
            return Err(CompileError::of_set("a set needs at least one module"));
        }
        if files.len() > FILES_MAX {
            return Err(CompileError::of_set(format!("{} files are more than {FILES_MAX}", files.len())));
        }
        let bytes: usize = files.iter().map(|file| file.text.len()).sum();
        if bytes > TEXT_BYTES_MAX {
            return Err(CompileError::of_set(format!(
                "the texts have {bytes} bytes, more than {TEXT_BYTES_MAX}"
            )));
        }
        let mut members: BTreeMap<(Box<str>, Box<str>), Member<'_>> = BTreeMap::new();
        for file in files {
            let header = Header::read(&file.text).map_err(|error| CompileError::syntax(&file.name, error))?;
            let key = (header.name.clone(), header.revision.clone());
            match members.get(&key) {
                Some(other) if other.file.text == file.text => {}
                Some(other) => {
                    let message = format!("{} is another text of {}", other.file.name, header.full_name());
                    return Err(CompileError::at(&file.name, Some(header.line), message));
                }
                None => {
                    members.insert(key, Member { file, header });
                }
            }
        }
        let members: Vec<Member<'_>> = members.into_values().collect();
        let mut by_name: HashMap<Box<str>, Vec<usize>> = HashMap::new();
        for (index, member) in members.iter().enumerate() {
            by_name.entry(member.header.name.clone()).or_default().push(index);
        }
        Ok(Self { members, by_name })
    }

    /// All revisions of a name, the newest last.
    fn revisions(&self, name: &str) -> impl DoubleEndedIterator<Item = &Member<'a>> {
        self.by_name.get(name).into_iter().flatten().filter_map(|index| self.members.get(*index))
    }

    /// The newest revision of a name.
    pub(crate) fn newest(&self, name: &str) -> Option<&Member<'a>> {
        self.revisions(name).next_back()
    }

    /// The newest revision of each module, in the order of names: what a set makes usable.
    pub(crate) fn modules(&self) -> impl Iterator<Item = &Member<'a>> {
        self.members.iter().filter(|member| {
            let is_newest =
                self.newest(&member.header.name).is_some_and(|newest| std::ptr::eq(newest, *member));
            member.header.belongs_to.is_none() && is_newest
        })
    }

    /// The texts of a module of this revision: its own, and those of its submodules, directly included or not.
    pub(crate) fn texts(&self, name: &str, revision: &str) -> Vec<&Member<'a>> {
        let own = self.revisions(name).find(|member| *member.header.revision == *revision);
        let mut texts: Vec<&Member<'a>> = own.into_iter().collect();
        let mut next = 0;
        while let Some(text) = texts.get(next).copied() {
            next += 1;
            for include in &text.header.includes {
                let is_it = |member: &&Member<'a>| {
                    include.revision.as_ref().is_none_or(|revision| member.header.revision == *revision)
                };
                let found = self.revisions(&include.name).rev().find(is_it);
                texts.extend(found.filter(|found| !texts.iter().any(|known| std::ptr::eq(*known, *found))));
            }
        }
        texts
    }

    /// Whether there is a module or submodule of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Checks that all that is imported and included is there, that no module imports itself in the end, and that groupings,
    /// types and identities do not multiply beyond the limits.
    ///
    /// # Errors
    ///
    /// The first that is not, with its file and line.
    pub(crate) fn check_dependencies(&self, is_built_in: impl Fn(&str) -> bool) -> Result<(), CompileError> {
        for member in &self.members {
            for dependency in member.header.dependencies() {
                self.check_dependency(member, dependency, &is_built_in)?;
            }
        }
        self.check_cycles()?;
        self.check_import_paths()?;
        expansion::check(self)?;
        derivations::check(self)
    }

    fn check_dependency(
        &self,
        member: &Member<'_>,
        dependency: &Dependency,
        is_built_in: impl Fn(&str) -> bool,
    ) -> Result<(), CompileError> {
        let fails = |message: String| Err(CompileError::dependency(member, dependency.line, message));
        let (name, header) = (&*dependency.name, &member.header);
        let wants_submodule = dependency.is_include;
        let verb = match (wants_submodule, dependency.body.is_some()) {
            (true, _) => "includes",
            (false, true) => "imports",
            (false, false) => "belongs to",
        };
        let needs = format!("{} {verb}", subject(header));
        let kind = if wants_submodule { "submodule" } else { "module" };
        let mut found = self
            .revisions(name)
            .filter(|found| found.header.belongs_to.is_some() == wants_submodule)
            .peekable();
        if found.peek().is_none() {
            // `belongs-to` may name no other than an uploaded module; imports may be served by the engine.
            let is_served = !wants_submodule && dependency.body.is_some() && is_built_in(name);
            return if is_served {
                Ok(())
            } else {
                fails(format!("{needs} {kind} \"{name}\", which is not among the files"))
            };
        }
        let Some(revision) = &dependency.revision else { return Ok(()) };
        let revisions: Vec<&str> = found.map(|found| &*found.header.revision).collect();
        if revisions.contains(&&**revision) || (!wants_submodule && is_built_in(name)) {
            return Ok(());
        }
        let shown: Vec<&str> = revisions
            .iter()
            .map(|revision| if revision.is_empty() { "no revision" } else { revision })
            .collect();
        fails(format!(
            "{needs} {kind} \"{name}\" of revision {revision}, which is not among the files; there is {}",
            shown.join(", ")
        ))
    }

    fn check_cycles(&self) -> Result<(), CompileError> {
        // Positions whose imports are done lead into no cycle.
        let mut is_done = vec![false; self.members.len()];
        for start in 0..self.members.len() {
            let mut path: Vec<(usize, usize)> = vec![(start, 0)];
            while let Some((index, next)) = path.last_mut() {
                let Some(member) = self.members.get(*index) else { break };
                let Some(dependency) = member.header.imports.get(*next) else {
                    if let Some(done) = is_done.get_mut(*index) {
                        *done = true;
                    }
                    path.pop();
                    continue;
                };
                *next += 1;
                let Some(to) = self.imported(dependency) else { continue };
                if is_done.get(to).copied().unwrap_or(true) {
                    continue;
                }
                if let Some(begin) = path.iter().position(|(index, _)| *index == to) {
                    let names = path.iter().skip(begin).filter_map(|(index, _)| self.members.get(*index));
                    let mut names: Vec<&str> = names.map(|member| &*member.header.name).collect();
                    names.push(&dependency.name);
                    let message = format!("modules import each other in a circle: {}", names.join(", "));
                    return Err(CompileError::dependency(member, dependency.line, message));
                }
                path.push((to, 0));
            }
        }
        Ok(())
    }

    /// Checks that imports do not branch beyond the limit: libyang goes each way from a module to what it imports in the end. Cost:
    /// O(imports).
    fn check_import_paths(&self) -> Result<(), CompileError> {
        let mut counts: HashMap<usize, u64> = HashMap::with_capacity(self.members.len());
        let (mut total, mut open) = (0_u64, Vec::new());
        for start in 0..self.members.len() {
            open.push(start);
            while let Some(index) = open.last().copied() {
                let Some(member) = self.members.get(index).filter(|_| !counts.contains_key(&index)) else {
                    open.pop();
                    continue;
                };
                let imports: Vec<usize> =
                    member.header.imports.iter().filter_map(|import| self.imported(import)).collect();
                // There is no circle: what is imported is counted before.
                let before = open.len();
                open.extend(imports.iter().filter(|to| !counts.contains_key(to)));
                if open.len() > before {
                    continue;
                }
                let paths = imports
                    .iter()
                    .filter_map(|to| counts.get(to))
                    .fold(1, |sum: u64, more| sum.saturating_add(*more));
                counts.insert(index, paths);
                total = total.saturating_add(paths);
                if total > IMPORT_PATHS_MAX {
                    let message = format!(
                        "with it there are more than {IMPORT_PATHS_MAX} ways from modules to those that they import, directly or not"
                    );
                    return Err(CompileError::dependency(member, member.header.line, message));
                }
            }
        }
        Ok(())
    }

    /// The position of what an import gets.
    fn imported(&self, dependency: &Dependency) -> Option<usize> {
        let indices = self.by_name.get(&dependency.name)?;
        let is_it = |index: &&usize| {
            let revision = self.members.get(**index).map(|member| &member.header.revision);
            dependency.revision.is_none() || dependency.revision.as_ref() == revision
        };
        indices.iter().rev().find(is_it).copied()
    }

    /// The text of a member as the engine is to read it. Every import that does not say which revision it wants says that of the
    /// newest in the set: else the engine would prefer newer ones that it brings with it. What is for people alone is left
    /// out: most of a text, of which the engine would make a copy. So is a byte order mark, which it does not know. No line moves. Cost: a copy of the rest.
    pub(crate) fn for_engine(&self, member: &Member<'a>) -> Cow<'a, str> {
        let text = &*member.file.text;
        let begin = byte_order_mark(text);
        let pins = member.header.imports.iter().filter_map(|import| self.pin(import));
        let prose = member.header.prose.iter().map(|at| (at.clone(), blank(text, at)));
        let mut edits: Vec<(Range<usize>, String)> = pins.chain(prose).collect();
        if edits.is_empty() {
            return Cow::Borrowed(text.get(begin..).unwrap_or(""));
        }
        edits.sort_by_key(|(at, _)| at.start);
        let (mut out, mut copied) = (String::new(), begin);
        for (at, replacement) in edits {
            out.push_str(text.get(copied..at.start).unwrap_or(""));
            out.push_str(&replacement);
            copied = at.end;
        }
        out.push_str(text.get(copied..).unwrap_or(""));
        Cow::Owned(out)
    }

    /// The revision that an import without one is to have, and where it is written.
    fn pin(&self, import: &Dependency) -> Option<(Range<usize>, String)> {
        let body = import.body.filter(|_| import.revision.is_none())?;
        let newest = &*self.newest(&import.name)?.header.revision;
        (!newest.is_empty()).then(|| (body..body, format!(" revision-date {newest};")))
    }
}

/// An empty argument over as many lines.
fn blank(text: &str, at: &Range<usize>) -> String {
    let lines =
        text.get(at.clone()).map_or(0, |argument| argument.bytes().filter(|byte| *byte == b'\n').count());
    format!("\"{}\"", "\n".repeat(lines))
}

#[cfg(test)]
mod tests;
