//! A module as a file: its name and its text.

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
