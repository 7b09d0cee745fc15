//! Which tests of a suite fail, and why.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};

use crate::Case;

/// Tests that fail, with reasons.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Expected(BTreeMap<String, String>);

impl Expected {
    /// Reads a list; none if there is no file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or a test without a reason.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        if !file.exists() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        Self::parse(&text).with_context(|| format!("reading {}", file.display()))
    }

    /// The list that a text is: a name and a reason on each line; lines that begin with `#` are for people.
    ///
    /// # Errors
    ///
    /// A test without a reason, or listed twice.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let mut listed = BTreeMap::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let Some((name, reason)) = line.split_once(char::is_whitespace) else {
                bail!("{line} has no reason");
            };
            if listed.insert(name.to_owned(), reason.trim().to_owned()).is_some() {
                bail!("{name} is listed twice");
            }
        }
        Ok(Self(listed))
    }
}

/// What a run of a suite says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Judgement {
    /// How many passed.
    pub passed: usize,
    /// How many failed as listed.
    pub listed: usize,
    /// Failures that are not listed, each with what is wrong.
    pub failed: Vec<String>,
    /// Listed tests that passed, or are no longer in the suite: the list is to shrink.
    pub outdated: Vec<String>,
}

impl Judgement {
    /// Whether all is as expected.
    pub fn is_good(&self) -> bool {
        self.failed.is_empty() && self.outdated.is_empty()
    }
}

/// Holds the cases of a suite against its list.
pub fn judge(cases: &[Case], expected: &Expected) -> Judgement {
    let mut judgement = Judgement::default();
    for case in cases {
        match (&case.failure, expected.0.get(&case.name)) {
            (None, None) => judgement.passed += 1,
            (Some(_), Some(_)) => judgement.listed += 1,
            (Some(failure), None) => judgement.failed.push(format!("{}: {failure}", case.name)),
            (None, Some(_)) => judgement.outdated.push(format!("{} passes: take it off the list", case.name)),
        }
    }
    let gone = expected.0.keys().filter(|name| cases.iter().all(|case| case.name != **name));
    judgement.outdated.extend(gone.map(|name| format!("{name} is not in the suite: take it off the list")));
    judgement
}
