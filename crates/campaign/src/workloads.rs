//! Workload files (`workloads/*.toml`): a family's rows as data, with sizes, published figures and the hardware behind
//! these; and which of them a command line names.

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A workload file: rows that belong together.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload<R> {
    /// How the family is called on the command line.
    pub name: String,
    /// What it is.
    pub title: String,
    /// The hardware of the published figures.
    pub hardware: String,
    /// Its rows, in the order in which they run.
    #[serde(rename = "row")]
    pub rows: Vec<R>,
}

/// A row that can be named on the command line.
pub trait Named {
    /// Its name in all reports.
    fn id(&self) -> &str;
}

/// Some rows of a family, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The family.
    pub family: String,
    /// What it is.
    pub title: String,
    /// The names of the rows.
    pub rows: Vec<String>,
}

impl<R> Workload<R> {
    /// Reads a workload file.
    ///
    /// # Errors
    ///
    /// If a member is missing, unknown, or of another type.
    pub fn parse(text: &str) -> Result<Self>
    where
        R: DeserializeOwned,
    {
        toml::from_str(text).context("reading a workload file")
    }
}

impl<R: Named> Workload<R> {
    /// All rows, by name.
    pub fn selection(&self) -> Selection {
        let rows = self.rows.iter().map(|row| row.id().to_owned()).collect();
        Selection { family: self.name.clone(), title: self.title.clone(), rows }
    }

    /// Only the rows of `selection`.
    #[must_use]
    pub fn of(mut self, selection: &Selection) -> Self {
        self.rows.retain(|row| selection.rows.iter().any(|id| id == row.id()));
        self
    }
}

#[cfg(any(test, feature = "testing"))]
impl<R: Named> Workload<R> {
    /// Only the rows that `beginnings` name.
    pub fn narrowed(self, beginnings: &str) -> Self {
        let selection = self.selection().narrowed(beginnings).expect("the rows of a test");
        self.of(&selection)
    }

    /// Checks which rows `beginnings` name.
    pub fn check_named(&self, beginnings: &str, expected: &[&str]) {
        let named = self.selection().narrowed(beginnings).expect("the rows of a test");
        assert_eq!(named.rows, expected, "{beginnings}");
    }
}

impl Selection {
    /// Only the rows that `beginnings` name, joined by commas: a whole name or the beginning of some, in any case.
    ///
    /// # Errors
    ///
    /// If one of them names no row; the message lists what there is.
    pub fn narrowed(mut self, beginnings: &str) -> Result<Self> {
        let wanted: Vec<String> = beginnings.split(',').map(|row| row.trim().to_ascii_uppercase()).collect();
        let named = |row: &String, wanted: &String| row.to_ascii_uppercase().starts_with(wanted.as_str());
        if let Some(missing) = wanted.iter().find(|wanted| !self.rows.iter().any(|row| named(row, wanted))) {
            bail!("no row {missing:?} in {}; there is: {}", self.family, self.rows.join(", "));
        }
        self.rows.retain(|row| wanted.iter().any(|wanted| named(row, wanted)));
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(beginnings: &str, expected: &[&str]) {
        let rows = ["A-C1", "A-C2", "A-P1", "A-P1-compact"].map(str::to_owned).to_vec();
        let selection = Selection { family: "toy".to_owned(), title: "Toy".to_owned(), rows };
        let found = selection.narrowed(beginnings).map_or_else(|_| Vec::new(), |selection| selection.rows);
        assert_eq!(found, expected, "{beginnings}");
    }

    #[test]
    fn rows_are_named_whole_or_by_how_they_begin() {
        check("A-C2", &["A-C2"]);
        check("a-c2,A-P", &["A-C2", "A-P1", "A-P1-compact"]);
        check("A-P1-", &["A-P1-compact"]);
        check("", &["A-C1", "A-C2", "A-P1", "A-P1-compact"]);
        check("A-X", &[]);
        check("A-C1,A-X", &[]);
    }
}
