//! Whose the names in a text are: of its own module, or of one that it imports under a prefix.

use std::collections::HashMap;

use crate::statement::Statement;

use super::Member;

/// The prefixes of one text, as far as it has been read: imports come before all that uses them.
#[derive(Debug)]
pub(super) struct Prefixes<'a> {
    module: &'a str,
    /// The import that is being read.
    imported: Box<str>,
    modules: HashMap<Box<str>, Box<str>>,
}

impl<'a> Prefixes<'a> {
    /// Those of a member; the names of a submodule are of its module.
    pub(super) fn new(member: &'a Member<'_>) -> Self {
        let header = &member.header;
        let module = header.belongs_to.as_ref().map_or(&*header.name, |module| &*module.name);
        Self { module, imported: module.into(), modules: HashMap::new() }
    }

    /// Takes note of a statement that may name a prefix.
    pub(super) fn see(&mut self, statement: &Statement<'_>) {
        match (statement.keyword, statement.depth) {
            ("import", 1) => self.imported = statement.text().into(),
            ("belongs-to", 1) => self.imported = self.module.into(),
            ("prefix", 1) => drop(self.modules.insert(statement.text().into(), self.module.into())),
            ("prefix", 2) => drop(self.modules.insert(statement.text().into(), self.imported.clone())),
            _ => {}
        }
    }

    /// The module that a name is of, and the name without its prefix.
    pub(super) fn resolve<'n>(&'n self, name: &'n str) -> (&'n str, &'n str) {
        match name.split_once(':') {
            Some((prefix, name)) => (self.modules.get(prefix).map_or(prefix, |module| module), name),
            None => (self.module, name),
        }
    }
}
