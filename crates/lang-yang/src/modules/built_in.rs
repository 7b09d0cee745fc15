//! Modules of a set that the engine brings with it, too, or whose namespace is of one that it brings. It would use its own without
//! a word, or fail to say which file is wrong.

use super::{CompileError, Member, ModuleSet};

/// A module that the engine brings with it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct BuiltIn {
    pub(crate) name: Box<str>,
    pub(crate) revision: Box<str>,
    pub(crate) namespace: Box<str>,
    /// Whether it is used already, so that no other revision can be.
    pub(crate) is_implemented: bool,
}

impl ModuleSet<'_> {
    /// Checks that what is uploaded is what is used. Cost: O(modules).
    ///
    /// # Errors
    ///
    /// The first module that is not, with its file and line.
    pub(crate) fn check_built_in(&self, all: &[BuiltIn]) -> Result<(), CompileError> {
        let modules = self.members.iter().filter(|member| member.header.belongs_to.is_none());
        modules.flat_map(|member| all.iter().map(move |built_in| (member, built_in))).try_for_each(check)
    }
}

fn check((member, built_in): (&Member<'_>, &BuiltIn)) -> Result<(), CompileError> {
    let (header, BuiltIn { name, revision, namespace, is_implemented }) = (&member.header, built_in);
    let fails = |message: String| Err(CompileError::at(&member.file.name, Some(header.line), message));
    if header.name != *name {
        let is_taken = header.namespace == *namespace;
        let message = || format!("the namespace of module \"{}\" is that of module \"{name}\"", header.name);
        return if is_taken { fails(message()) } else { Ok(()) };
    }
    let is_same = header.revision == *revision && header.namespace == *namespace;
    let is_other = !header.revision.is_empty() && header.revision != *revision && !is_implemented;
    if is_same || is_other {
        return Ok(());
    }
    fails(format!(
        "module \"{name}\" is built in, of revision {revision} and namespace \"{namespace}\": {}",
        if *is_implemented {
            "no other of its name can be used"
        } else {
            "another of its name needs another revision"
        },
    ))
}
