//! Why a query is not carried out. Clients look for the texts.

use crate::condition::{Condition, Test};
use crate::schema::{Label, Schema, SchemaStatus};

/// Why a query is not carried out.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// No index serves any of its conditions.
    #[error(
        "Don't accept query based on properties [{}] that are not indexed in {of}, may not match {} condition",
        .properties.join(", "), .mismatched.join("/")
    )]
    NoIndex {
        /// Names of the properties.
        properties: Vec<Box<str>>,
        /// `label 'person'`, or `any label`.
        of: Box<str>,
        /// What is asked of them.
        mismatched: Vec<&'static str>,
    },
    /// The index that would serve it is not complete.
    #[error("Can't query by label index '{index}' due to it's in status {status}(CREATED expected)")]
    NotReady {
        /// Its name.
        index: Box<str>,
        /// Its status.
        status: SchemaStatus,
    },
}

impl PlanError {
    pub(super) fn no_index(schema: &Schema, conditions: &[Condition], label: Option<&Label>) -> Self {
        let name = |condition: &Condition| match schema.property_key(condition.key) {
            Some(key) => (*key.name).into(),
            None => condition.key.to_string().into(),
        };
        let of = label.map_or_else(|| "any label".to_owned(), |label| format!("label '{}'", label.name));
        let kinds = ["secondary", "range", "search", "not-equal"];
        let is_asked =
            |kind: &&'static str| conditions.iter().any(|condition| kind_of(&condition.test) == *kind);
        Self::NoIndex {
            properties: conditions.iter().map(name).collect(),
            of: of.into(),
            mismatched: kinds.into_iter().filter(is_asked).collect(),
        }
    }
}

fn kind_of(test: &Test) -> &'static str {
    match test {
        Test::Equal(_) | Test::Within(_) | Test::HasAll(_) => "secondary",
        Test::Range(..) | Test::Outside(..) => "range",
        Test::TextContains(_) | Test::Words(_) => "search",
        Test::NotEqual(_) => "not-equal",
    }
}
