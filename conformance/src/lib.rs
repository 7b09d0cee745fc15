//! Runs suites of tests from a folder, and holds what fails against a list that only shrinks.
//!
//! A suite gives a [`Case`] for each of its tests; [`Expected`] says which may fail, and why; [`judge`] says what is new.

mod expected;
mod json;
mod json_ld;
mod transcript;

use std::path::Path;

use anyhow::{Context, ensure};

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
    /// Whether others made it: a run that leaves it out has shown less than it should.
    pub is_public: bool,
    run: fn(&Path, Option<&str>) -> Outcome,
}

/// The tests of a suite, run; `None`: it needs a URL.
type Outcome = anyhow::Result<Option<Vec<Case>>>;

/// All suites that we know how to run.
pub const SUITES: [Suite; 3] = [
    Suite {
        name: "json",
        folder: "json-parsing/test_parsing",
        is_public: true,
        run: |folder, _| json::run(folder).map(Some),
    },
    Suite {
        name: "json-ld",
        folder: "json-ld-api/tests",
        is_public: true,
        run: |folder, _| json_ld::run(folder).map(Some),
    },
    Suite {
        name: "transcripts",
        folder: "transcripts",
        is_public: false,
        run: |folder, url| url.map(|url| transcript::run(folder, url)).transpose(),
    },
];

impl Suite {
    /// Runs it, if its folder is there (and, for transcripts, a URL is given).
    ///
    /// # Errors
    ///
    /// If the suite itself cannot be read, or has no tests.
    pub fn run(&self, suites: &Path, url: Option<&str>) -> anyhow::Result<Option<Vec<Case>>> {
        let folder = suites.join(self.folder);
        if !folder.is_dir() {
            return Ok(None);
        }
        let cases = (self.run)(&folder, url).with_context(|| format!("suite {}", self.name))?;
        ensure!(cases.as_ref().is_none_or(|cases| !cases.is_empty()), "no tests in {}", folder.display());
        Ok(cases)
    }
}
