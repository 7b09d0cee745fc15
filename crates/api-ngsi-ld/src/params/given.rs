//! Parameters as they are given, read as NGSI-LD spells values; and how it words what is wrong with them.

use std::borrow::Cow;

use api_http::{Parameter, ParameterError, Request};
use lang_ngsi_ld::{check_name, check_uri};

use super::declared::{CSF, ENTITY_MAP, SPLIT_ENTITIES};
use crate::problem::Problem;

/// Parameters of one request, from its URL and perhaps from its body.
#[derive(Debug)]
pub(super) struct Given<'a>(api_http::Given<'a>);

/// Words what is wrong with the value of a parameter.
pub(super) fn check<T>(name: &str, found: Result<T, String>) -> Result<T, Problem> {
    found.map_err(|error| Problem::bad_request(format!("parameter {name}: {error}")))
}

/// Words why parameters are refused (6.3.20).
impl From<ParameterError> for Problem {
    fn from(error: ParameterError) -> Self {
        match error {
            ParameterError::Unknown { name, .. } => {
                Self::invalid_request(format!("this operation has no parameter {name:?}"))
            }
            ParameterError::Twice(name) => Self::invalid_request(format!("parameter {name} is given twice")),
            ParameterError::NoFlag(name, given) => {
                Self::bad_request(format!("parameter {name} must be true or false, not {given:?}"))
            }
            ParameterError::NoNumber { name, given, least, .. } => Self::bad_request(format!(
                "parameter {name} must be a whole number of at least {least}, not {given:?}"
            )),
            ParameterError::Value(name, reason) => Self::bad_request(format!("parameter {name}: {reason}")),
        }
    }
}

impl<'a> Given<'a> {
    /// The parameters of the URL, which are checked.
    pub(super) fn of(request: &'a Request) -> Self {
        Self(api_http::Given::of(request))
    }

    /// Adds a parameter, which must be new.
    pub(super) fn add(&mut self, parameter: &Parameter, value: Cow<'a, str>) -> Result<(), Problem> {
        Ok(self.0.add(parameter, value)?)
    }

    /// The text of a parameter. Cost: a few comparisons.
    pub(super) fn get(&self, parameter: &Parameter) -> Option<&str> {
        self.0.get(parameter)
    }

    /// `true` or `false`; `false` where it is not given.
    pub(super) fn flag(&self, parameter: &Parameter) -> Result<bool, Problem> {
        Ok(self.0.flag(parameter)?)
    }

    /// A whole number that is not negative.
    pub(super) fn number(&self, parameter: &Parameter) -> Result<Option<usize>, Problem> {
        let number = self.0.number(parameter, u64::MAX)?;
        // What the machine cannot count is more than any parameter's maximum, which the caller names.
        Ok(number.map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
    }

    /// The items of a list, none empty; no items where it is not given.
    pub(super) fn list(&self, parameter: &Parameter) -> Result<Vec<&str>, Problem> {
        let Some(text) = self.get(parameter) else { return Ok(Vec::new()) };
        let items: Vec<_> = text.split(',').map(str::trim).collect();
        if items.iter().any(|item| item.is_empty()) {
            return Err(Problem::bad_request(format!("parameter {} has an empty item", parameter.name)));
        }
        Ok(items)
    }

    /// A list of names.
    pub(super) fn names(&self, parameter: &Parameter) -> Result<Vec<&str>, Problem> {
        let names = self.list(parameter)?;
        names.iter().try_for_each(|item| check(parameter.name, check_name(item)))?;
        Ok(names)
    }

    /// A list of URIs.
    pub(super) fn uris(&self, parameter: &Parameter) -> Result<Vec<Box<str>>, Problem> {
        let uris = self.list(parameter)?;
        uris.into_iter().map(|uri| check(parameter.name, check_uri(uri)).map(|()| uri.into())).collect()
    }

    /// A list of datasetIds, `@none` for that of the default instance.
    pub(super) fn datasets(&self, parameter: &Parameter) -> Result<Vec<Option<Box<str>>>, Problem> {
        let items = self.list(parameter)?;
        let dataset = |item: &str| match item {
            "@none" => Ok(None),
            uri => check(parameter.name, check_uri(uri)).map(|()| Some(uri.into())),
        };
        items.into_iter().map(dataset).collect()
    }

    /// Refuses what belongs to parts of the standard that this broker does not have.
    pub(super) fn refuse_unsupported(&self) -> Result<(), Problem> {
        if self.get(&CSF).is_some() {
            let detail = "parameter csf: this broker has no context source registrations";
            return Err(Problem::operation_not_supported(detail));
        }
        if self.flag(&ENTITY_MAP)? {
            return Err(Problem::operation_not_supported(
                "parameter entityMap: this broker has no entity maps",
            ));
        }
        self.flag(&SPLIT_ENTITIES).map(drop)
    }
}
