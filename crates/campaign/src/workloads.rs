//! The published workloads as data (`workloads/*.toml`): rows, sizes, figures and the hardware behind them.

use anyhow::{Context as _, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::hakom::rows::Row as SeriesRow;

/// A family of rows that were published together.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family<R = Row> {
    /// How it is called on the command line.
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

impl Named for Row {
    fn id(&self) -> &str {
        &self.id
    }
}

/// A family, each kind with rows of its own.
#[derive(Debug, Clone)]
pub enum Selection {
    /// Requests on entities.
    Entities(Family),
    /// Jobs on time series.
    Series(Family<SeriesRow>),
}

impl Selection {
    /// The name on the command line.
    pub fn name(&self) -> &str {
        match self {
            Self::Entities(family) => &family.name,
            Self::Series(family) => &family.name,
        }
    }

    /// What it is.
    pub fn title(&self) -> &str {
        match self {
            Self::Entities(family) => &family.title,
            Self::Series(family) => &family.title,
        }
    }

    /// The names of its rows.
    pub fn ids(&self) -> Vec<&str> {
        match self {
            Self::Entities(family) => family.rows.iter().map(Named::id).collect(),
            Self::Series(family) => family.rows.iter().map(Named::id).collect(),
        }
    }
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
    /// GET of the past of an entity, aggregated by the second.
    TemporalAggregated,
    /// GET of the past of an entity, instance by instance.
    TemporalNormalized,
    /// GET of the past of an entity, values and times only.
    TemporalValues,
    /// GET of the past of one attribute of all entities, aggregated by the second.
    TemporalQueryAggregated,
    /// GET of the past of one attribute of all entities, instance by instance.
    TemporalQueryNormalized,
    /// GET of the past of one attribute of all entities, values and times only.
    TemporalQueryValues,
}

/// In which form the past is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastForm {
    /// By one method in buckets of a second.
    Aggregated,
    /// Every instance with all it carries.
    Normalized,
    /// Every instance as value and time.
    Values,
}

impl Kind {
    /// The form in which the past is asked for, and whether by a query over all entities; `None`: it is not.
    pub fn past(self) -> Option<(PastForm, bool)> {
        match self {
            Self::TemporalAggregated => Some((PastForm::Aggregated, false)),
            Self::TemporalNormalized => Some((PastForm::Normalized, false)),
            Self::TemporalValues => Some((PastForm::Values, false)),
            Self::TemporalQueryAggregated => Some((PastForm::Aggregated, true)),
            Self::TemporalQueryNormalized => Some((PastForm::Normalized, true)),
            Self::TemporalQueryValues => Some((PastForm::Values, true)),
            Self::Create
            | Self::PartialUpdate
            | Self::Update
            | Self::QueryValue
            | Self::QueryRelationship
            | Self::Get => None,
        }
    }
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
    /// Instances of each of these, of every attribute that is observed, written before the loop.
    #[serde(default)]
    pub instances: usize,
    /// Types these are of; 0: all are template entities.
    #[serde(default)]
    pub types: usize,
    /// Further arguments of our own server, for rows that show what a switch costs.
    #[serde(default)]
    pub server: Vec<String>,
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

/// All families, whole.
///
/// # Errors
///
/// If a workload file is not as it should be, which a test excludes.
pub fn families() -> Result<Vec<Selection>> {
    Ok(vec![Selection::Entities(stellio_rows()?), Selection::Series(hakom_rows()?)])
}

fn stellio_rows() -> Result<Family> {
    parsed(include_str!("../workloads/stellio.toml"))
}

fn hakom_rows() -> Result<Family<SeriesRow>> {
    let mut family: Family<SeriesRow> = parsed(include_str!("../workloads/hakom.toml"))?;
    family.rows = family.rows.into_iter().flat_map(SeriesRow::expanded).collect();
    Ok(family)
}

fn parsed<R: DeserializeOwned>(text: &str) -> Result<Family<R>> {
    toml::from_str(text).context("reading a workload file")
}

/// The family and rows that `selection` names: `stellio`, `stellio/S-C3`, `stellio/S-C` (all that begin so),
/// several parts joined by commas, as in `stellio/S-C3,S-P3`.
///
/// # Errors
///
/// If there is no such family or row; the message lists what there is.
pub fn select(selection: &str) -> Result<Selection> {
    let (name, rows) = selection.split_once('/').unwrap_or((selection, ""));
    let families = families()?;
    let names: Vec<String> = families.iter().map(|family| family.name().to_owned()).collect();
    match families.into_iter().find(|family| family.name() == name) {
        Some(Selection::Entities(family)) => narrowed(family, rows).map(Selection::Entities),
        Some(Selection::Series(family)) => narrowed(family, rows).map(Selection::Series),
        None => bail!("no family {name:?}; there is: {}", names.join(", ")),
    }
}

fn narrowed<R: Named>(mut family: Family<R>, rows: &str) -> Result<Family<R>> {
    let wanted: Vec<String> = rows.split(',').map(|row| row.trim().to_ascii_uppercase()).collect();
    let named = |row: &R, wanted: &String| row.id().to_ascii_uppercase().starts_with(wanted.as_str());
    if let Some(missing) = wanted.iter().find(|wanted| !family.rows.iter().any(|row| named(row, wanted))) {
        let ids: Vec<&str> = family.rows.iter().map(Named::id).collect();
        bail!("no row {missing:?} in {}; there is: {}", family.name, ids.join(", "));
    }
    family.rows.retain(|row| wanted.iter().any(|wanted| named(row, wanted)));
    Ok(family)
}

#[cfg(test)]
pub(crate) fn stellio(selection: &str) -> Result<Family> {
    match select(selection)? {
        Selection::Entities(family) => Ok(family),
        Selection::Series(_) => bail!("{selection} is not of this kind"),
    }
}

#[cfg(test)]
pub(crate) fn hakom(selection: &str) -> Result<Family<SeriesRow>> {
    match select(selection)? {
        Selection::Series(family) => Ok(family),
        Selection::Entities(_) => bail!("{selection} is not of this kind"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(selection: &str, expected: &[&str]) {
        let found = select(selection).ok();
        assert_eq!(found.iter().flat_map(Selection::ids).collect::<Vec<_>>(), expected, "{selection}");
    }

    #[test]
    fn rows_are_selected_by_name_or_beginning() {
        check("stellio/S-C3", &["S-C3"]);
        check("stellio/s-c3,S-P3", &["S-C3", "S-P3"]);
        check("stellio/S-C", &["S-C1", "S-C2", "S-C3"]);
        check("stellio/S-T1,S-T3", &["S-T1", "S-T3"]);
        check("stellio/S-TN,S-TV", &["S-TN1", "S-TV1", "S-TN2", "S-TV2"]);
        check("stellio/S-TQ", &["S-TQ1", "S-TQN1", "S-TQV1", "S-TQ2", "S-TQN2", "S-TQV2"]);
        check("nothing", &[]);
        check("stellio/S-X1", &[]);
        check("hakom/H-W1", &["H-W1", "H-W1-compact", "H-W1-arrow"]);
        check("hakom/h-w1-ARROW", &["H-W1-arrow"]);
        check("hakom/H-C100", &["H-C100", "H-C100-arrow"]);
        check("hakom/H-C75", &["H-C75", "H-C75-arrow", "H-C75-scattered", "H-C75-scattered-arrow"]);
        assert_eq!(select("stellio").unwrap().ids().len(), 30);
        assert_eq!(select("hakom").unwrap().ids().len(), 14 * 3 + 3 * 4 + 2);
    }

    #[test]
    fn the_published_jobs_are_those_of_the_page() {
        let rows = hakom("hakom").unwrap().rows;
        let rate = |id: &str, place: usize| {
            let row = rows.iter().find(|row| row.id == id).unwrap();
            (row.points() as f64 / row.published[place].seconds).round()
        };
        assert_eq!(rate("H-W1", 0), 196_364.0);
        assert_eq!(rate("H-R1-arrow", 0), 310_345.0);
        assert_eq!(rate("H-PR", 0), 327_273.0);
        assert_eq!(rate("H-PW", 0), 180_000.0);
        assert_eq!((rate("H-SW", 0), rate("H-SW", 1)), (271_682.0, 107_635.0));
        assert_eq!((rate("H-BW-2", 0), rate("H-BW-2", 2)), (303_333.0, 113_006.0));
        assert_eq!((rate("H-BR-1", 0), rate("H-BR-1", 1)), (556_886.0, 417_567.0));
        let line = |id: &str| rows.iter().find(|row| row.id == id).unwrap().table.unwrap();
        assert_eq!((line("H-C75").write, line("H-C75").write_raw), (1.519, 1.514));
        assert_eq!(line("H-C100-arrow").read_raw, 0.995);
    }

    #[test]
    fn the_published_figures_are_those_of_the_page() {
        let rows = stellio("stellio").unwrap().rows;
        let figures: Vec<_> = rows
            .iter()
            .filter_map(|row| {
                row.published.map(|figures| (row.id.as_str(), figures.throughput, figures.p95_ms))
            })
            .collect();
        assert_eq!(figures.len(), 18);
        assert!(figures.contains(&("S-T3", 42.0, 321.0)));
        assert!(figures.contains(&("S-C3", 241.0, 297.0)));
        assert!(figures.contains(&("S-Q3", 32.0, 1440.0)));
        assert_eq!(rows.iter().filter(|row| row.published.is_none()).count(), 12);
    }
}
