//! The published workloads as data (`workloads/*.toml`): rows, sizes, figures and the hardware behind them.

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

/// A family of rows that were published together.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// How it is called on the command line.
    pub name: String,
    /// What it is.
    pub title: String,
    /// The hardware of the published figures.
    pub hardware: String,
    /// Its rows, in the order in which they run.
    #[serde(rename = "row")]
    pub rows: Vec<Row>,
}

/// What a row's users do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// POST a template entity.
    Create,
    /// PATCH one attribute.
    PartialUpdate,
    /// PATCH three attributes, five instances.
    Update,
    /// GET by type, a number and a text.
    QueryValue,
    /// GET by type, a number and a relationship's target.
    QueryRelationship,
    /// GET by id.
    Get,
}

/// One row: a workload at one size, and what was published for it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name in all reports.
    pub id: String,
    /// What its users do.
    #[serde(rename = "scenario")]
    pub kind: Kind,
    /// Virtual users; no profile changes them.
    pub users: usize,
    /// Calls they share.
    pub iterations: u64,
    /// Entities created before the loop.
    #[serde(default)]
    pub entities: usize,
    /// Types these are of; 0: all are template entities.
    #[serde(default)]
    pub types: usize,
    /// What was published; `None`: the row is ours.
    #[serde(default)]
    pub published: Option<Figures>,
}

/// A published figure.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// Requests a second.
    pub throughput: f64,
    /// The 95th percentile of latency, in milliseconds.
    pub p95_ms: f64,
}

/// All families.
///
/// # Errors
///
/// If a workload file is not as it should be, which a test excludes.
pub fn families() -> Result<Vec<Family>> {
    [include_str!("../workloads/stellio.toml")]
        .into_iter()
        .map(|text| toml::from_str(text).context("reading a workload file"))
        .collect()
}

/// The family and rows that `selection` names: `stellio`, `stellio/S-C3`, `stellio/S-C` (all that begin so),
/// several parts joined by commas, as in `stellio/S-C3,S-P3`.
///
/// # Errors
///
/// If there is no such family or row; the message lists what there is.
pub fn select(selection: &str) -> Result<Family> {
    let (name, rows) = selection.split_once('/').unwrap_or((selection, ""));
    let families = families()?;
    let names: Vec<String> = families.iter().map(|family| family.name.clone()).collect();
    let Some(mut family) = families.into_iter().find(|family| family.name == name) else {
        bail!("no family {name:?}; there is: {}", names.join(", "));
    };
    let wanted: Vec<String> = rows.split(',').map(|row| row.trim().to_ascii_uppercase()).collect();
    let ids: Vec<String> = family.rows.iter().map(|row| row.id.clone()).collect();
    if let Some(missing) = wanted.iter().find(|wanted| !ids.iter().any(|id| id.starts_with(*wanted))) {
        bail!("no row {missing:?} in {name}; there is: {}", ids.join(", "));
    }
    family.rows.retain(|row| wanted.iter().any(|wanted| row.id.starts_with(wanted)));
    Ok(family)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(selection: &str, expected: &[&str]) {
        let rows = select(selection).map(|family| family.rows).unwrap_or_default();
        assert_eq!(rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), expected, "{selection}");
    }

    #[test]
    fn rows_are_selected_by_name_or_beginning() {
        check("stellio/S-C3", &["S-C3"]);
        check("stellio/s-c3,S-P3", &["S-C3", "S-P3"]);
        check("stellio/S-C", &["S-C1", "S-C2", "S-C3"]);
        check("nothing", &[]);
        check("stellio/S-X1", &[]);
        assert_eq!(select("stellio").unwrap().rows.len(), 16);
    }

    #[test]
    fn the_published_figures_are_those_of_the_page() {
        let rows = select("stellio").unwrap().rows;
        let figures: Vec<_> = rows
            .iter()
            .filter_map(|row| {
                row.published.map(|figures| (row.id.as_str(), figures.throughput, figures.p95_ms))
            })
            .collect();
        assert_eq!(figures.len(), 15);
        assert!(figures.contains(&("S-C3", 241.0, 297.0)));
        assert!(figures.contains(&("S-Q3", 32.0, 1440.0)));
        assert_eq!(rows.iter().filter(|row| row.published.is_none()).count(), 1);
    }
}
