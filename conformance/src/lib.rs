//! Runs suites of tests from a folder, and holds what fails against a list that only shrinks.
//!
//! A suite gives a [`Case`] for each of its tests; [`Expected`] says which may fail, and why; [`judge`] says what is new.

mod expected;
mod json;
mod json_ld;
mod transcript;

use std::path::Path;

use anyhow::Context;

pub use expected::{Expected, Judgement, judge};

/// One test of a suite, run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Case {
    /// As the suite names it.
    pub name: String,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

/// A suite: its name, which its list of expected failures has too, and its folder below that of all suites.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// For people, and for `expected/NAME.txt`.
    pub name: &'static str,
    /// Below the folder of suites.
    pub folder: &'static str,
    run: fn(&Path, Option<&str>) -> anyhow::Result<Vec<Case>>,
}

/// All suites that we know how to run.
pub const SUITES: [Suite; 3] = [
    Suite { name: "json", folder: "json-parsing/test_parsing", run: |folder, _| json::run(folder) },
    Suite { name: "json-ld", folder: "json-ld-api/tests", run: |folder, _| json_ld::run(folder) },
    Suite {
        name: "transcripts",
        folder: "transcripts",
        run: |folder, url| url.map_or(Ok(Vec::new()), |url| transcript::run(folder, url)),
    },
];

impl Suite {
    /// Runs it, if its folder is there (and, for transcripts, a URL is given).
    ///
    /// # Errors
    ///
    /// If the suite itself cannot be read.
    pub fn run(&self, suites: &Path, url: Option<&str>) -> anyhow::Result<Option<Vec<Case>>> {
        let folder = suites.join(self.folder);
        if !folder.is_dir() {
            return Ok(None);
        }
        let cases = (self.run)(&folder, url).with_context(|| format!("suite {}", self.name))?;
        Ok((!cases.is_empty()).then_some(cases))
    }
}
