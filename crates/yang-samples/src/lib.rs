//! YANG modules written for tests and load tests: of the shapes that published ones have, so that nobody needs files of others.
//! Texts alone: nothing here reads or compiles them.
//!
//! [`topology`] has eleven modules of a network, [`open_config`] a set of 218; [`DEVICES`], [`BOOKS`] and [`TABLE`] are one module each.

mod topology;
mod open_config;

pub use open_config::{MODULES, open_config};
pub use topology::topology;

/// The devices of the limits.
pub const DEVICES: &str = include_str!("../yang/campaign-devices.yang");
/// The books of the limits.
pub const BOOKS: &str = include_str!("../yang/campaign-books.yang");
/// One list that transactions add to.
pub const TABLE: &str = include_str!("../yang/campaign-table.yang");

/// A YANG module: the name of its file, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// `NAME.yang` or `NAME@REVISION.yang`.
    pub file: String,
    /// The text.
    pub text: String,
}

impl Module {
    /// A module whose file is called as it is.
    pub fn named(name: &str, text: &str) -> Self {
        Self { file: format!("{name}.yang"), text: text.to_owned() }
    }

    /// The same module as another text: `mark` is a comment behind it.
    #[must_use]
    pub fn marked(&self, mark: &str) -> Self {
        Self { file: self.file.clone(), text: format!("{}\n// {mark}\n", self.text.trim_end()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_a_comment_of_its_own() {
        let one = Module::named("a", "module a { }\n");
        let marked = one.marked("7-1");
        assert_eq!((marked.file.as_str(), marked.text.as_str()), ("a.yang", "module a { }\n// 7-1\n"));
        assert_ne!(marked, one.marked("7-2"));
    }
}
