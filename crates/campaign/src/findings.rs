//! Whether the answers were right, beyond their status: counts of what was looked at, and the first faults in words.

use anyhow::Result;

/// Faults recorded in words.
const EXAMPLES_MAX: usize = 5;

/// What the checks of a row found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// Answers and stored things looked at.
    pub checked: u64,
    /// How many of them were wrong.
    pub wrong: u64,
    /// The first few, in words.
    pub examples: Vec<String>,
    /// Entities in the query answers looked at.
    pub entities: u64,
    /// How many query answers these were.
    pub pages: u64,
    /// Buckets or instances in the answers about history that were looked at.
    pub past_values: u64,
    /// How many answers these were.
    pub pasts: u64,
    /// How many of them came in part (status 206).
    pub parts: u64,
}

impl Findings {
    /// Mean entities an answer, for queries.
    pub fn entities_per_answer(&self) -> Option<f64> {
        (self.pages > 0).then(|| self.entities as f64 / self.pages as f64)
    }

    /// Adds those of another run.
    pub fn merge(&mut self, other: Self) {
        self.checked += other.checked;
        self.wrong += other.wrong;
        self.entities += other.entities;
        self.pages += other.pages;
        self.past_values += other.past_values;
        self.pasts += other.pasts;
        self.parts += other.parts;
        self.examples.extend(other.examples);
        self.examples.truncate(EXAMPLES_MAX);
    }

    /// Counts one thing looked at.
    pub fn note(&mut self, what: Result<()>) {
        self.checked += 1;
        if let Err(error) = what {
            self.wrong += 1;
            if self.examples.len() < EXAMPLES_MAX {
                self.examples.push(format!("{error:#}"));
            }
        }
    }
}
