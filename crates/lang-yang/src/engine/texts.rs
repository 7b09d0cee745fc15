//! The texts of a set as libyang asks for them: by name and revision, in memory.

use std::collections::HashMap;
use std::ffi::{CStr, CString};

use crate::modules::ModuleSet;

/// Texts of modules and submodules, each ended by zero.
#[derive(Debug)]
pub(crate) struct Texts {
    /// Revision and text of each of a name, the newest last.
    by_name: HashMap<Box<str>, Vec<(Box<str>, CString)>>,
}

impl Texts {
    /// Those of a set. Cost: a copy of what the engine reads of them.
    pub(crate) fn new(set: &ModuleSet<'_>) -> Self {
        let mut by_name: HashMap<Box<str>, Vec<(Box<str>, CString)>> = HashMap::new();
        // Members are in the order of their revisions.
        for member in &set.members {
            let text = CString::new(set.for_engine(member).into_owned());
            let text = text.expect("a text with a zero byte is refused when its header is read");
            let of_name = by_name.entry(member.header.name.clone()).or_default();
            of_name.push((member.header.revision.clone(), text));
        }
        Self { by_name }
    }

    /// The text of a revision, or of the newest. Cost: a look-up.
    pub(crate) fn find(&self, name: &str, revision: Option<&str>) -> Option<&CStr> {
        let of_name = self.by_name.get(name)?;
        let found = match revision {
            Some(revision) => of_name.iter().find(|(known, _)| **known == *revision),
            None => of_name.last(),
        };
        found.map(|(_, text)| &**text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::YangFile;

    #[test]
    fn a_text_is_found_by_its_revision_or_as_the_newest() {
        let texts = [
            "module a { revision 2021-01-01; }",
            "module a { revision 2020-01-01; }",
            "module b { description 'x'; }",
        ];
        let files = texts.map(|text| YangFile { name: "x.yang".into(), text: text.into() });
        let texts = Texts::new(&ModuleSet::read(&files).unwrap());
        let find = |name, revision| texts.find(name, revision).map(|text| text.to_str().unwrap());
        assert_eq!(find("a", None), Some("module a { revision 2021-01-01; }"));
        assert_eq!(find("a", Some("2020-01-01")), Some("module a { revision 2020-01-01; }"));
        assert_eq!((find("a", Some("2019-01-01")), find("c", None)), (None, None));
        assert_eq!(find("b", None), Some("module b { description \"\"; }"));
    }
}
