//! `{"Name":"default","Description":"…","Created":"…"}`

use model_series::{RepositoryChange, RepositoryDraft, RepositoryInfo};
use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::times::format_stamp;

/// A repository as it is answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct RepositoryShape {
    name: Box<str>,
    description: Box<str>,
    created: String,
}

impl From<RepositoryInfo> for RepositoryShape {
    fn from(info: RepositoryInfo) -> Self {
        let RepositoryInfo { name, description, created, buckets: _ } = info;
        Self { name, description, created: format_stamp(created) }
    }
}

/// A repository as it is sent.
#[derive(Debug, Deserialize)]
#[serde(
    rename_all = "PascalCase",
    deny_unknown_fields,
    expecting = "an object with the members of a repository"
)]
pub(crate) struct RepositoryGiven {
    name: Option<Box<str>>,
    description: Option<Box<str>>,
    #[serde(rename = "Created")]
    _created: Option<serde::de::IgnoredAny>,
}

impl RepositoryGiven {
    /// A new one.
    pub(crate) fn draft(self) -> Result<RepositoryDraft, Problem> {
        let name = self.name.ok_or_else(|| Problem::bad_request("\"Name\" is missing"))?;
        Ok(RepositoryDraft { name, description: self.description.unwrap_or_default() })
    }

    /// What is to be different of the one called `name`.
    pub(crate) fn change(self, name: &str) -> Result<RepositoryChange, Problem> {
        match self.name {
            Some(given) if *given != *name => Err(Problem::bad_request(format!(
                "\"Name\" is {given:?}, but a repository keeps its name {name:?}"
            ))),
            _ => Ok(RepositoryChange { description: Some(self.description.unwrap_or_default()) }),
        }
    }
}
