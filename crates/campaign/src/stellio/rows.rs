//! The rows of the family as data: requests, users, sizes, and what was published.

use serde::Deserialize;

use crate::profile::Profile;
use crate::workloads::Named;

use super::sets::SetShape;

/// What a row's users do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
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
    /// Its name in workload files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::PartialUpdate => "partial-update",
            Self::Update => "update",
            Self::QueryValue => "query-value",
            Self::QueryRelationship => "query-relationship",
            Self::Get => "get",
            Self::TemporalAggregated => "temporal-aggregated",
            Self::TemporalNormalized => "temporal-normalized",
            Self::TemporalValues => "temporal-values",
            Self::TemporalQueryAggregated => "temporal-query-aggregated",
            Self::TemporalQueryNormalized => "temporal-query-normalized",
            Self::TemporalQueryValues => "temporal-query-values",
        }
    }

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

impl Row {
    /// The set that it runs on, at the size of `profile`.
    pub fn set(&self, profile: Profile) -> SetShape {
        let (entities_max, instances_max) = match profile {
            Profile::Smoke => (2_000, 100),
            Profile::Short => (20_000, 10_000),
            Profile::Full => (usize::MAX, usize::MAX),
        };
        SetShape {
            entities: self.entities.min(entities_max),
            types: self.types,
            instances: self.instances.min(instances_max),
        }
    }
}

/// A published figure.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// Requests a second.
    pub throughput: f64,
    /// The 95th percentile of latency, in milliseconds.
    pub p95_ms: f64,
}

impl Named for Row {
    fn id(&self) -> &str {
        &self.id
    }
}

#[cfg(test)]
mod tests {
    use crate::profile::Profile;
    use crate::stellio::tests::selected;

    #[test]
    fn rows_are_named_by_how_they_begin() {
        let rows = selected("");
        let check = |names: &str, expected: &[&str]| rows.check_named(names, expected);
        check("s-c3,S-P3", &["S-C3", "S-P3"]);
        check("S-C", &["S-C1", "S-C2", "S-C3"]);
        check("S-TN,S-TV", &["S-TN1", "S-TV1", "S-TN2", "S-TV2"]);
        check("S-TQ", &["S-TQ1", "S-TQN1", "S-TQV1", "S-TQ2", "S-TQN2", "S-TQV2"]);
        assert_eq!(rows.rows.len(), 30);
    }

    #[test]
    fn the_published_figures_are_those_of_the_page() {
        let rows = selected("").rows;
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

    #[test]
    fn full_is_as_published_and_the_others_are_smaller_but_for_users() {
        for row in &selected("").rows {
            assert_eq!(row.set(Profile::Full).entities, row.entities);
            assert_eq!(row.set(Profile::Full).instances, row.instances);
            for profile in [Profile::Smoke, Profile::Short] {
                assert!(row.set(profile).entities <= row.entities);
            }
        }
    }
}
