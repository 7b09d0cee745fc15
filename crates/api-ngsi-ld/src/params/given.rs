//! Parameters as they were sent: names checked, values as text.

use std::borrow::Cow;

use api_http::Request;

use crate::problem::Problem;
use crate::wire::{check_name, check_uri};

/// Parameters of one request, from its URL and perhaps from its body.
#[derive(Debug, Default)]
pub(super) struct Given<'a> {
    pairs: Vec<(&'a str, Cow<'a, str>)>,
}

/// Checks that a request has no parameter but these, and none twice.
///
/// # Errors
///
/// InvalidRequest that names the parameter (6.3.20).
pub(crate) fn check_parameters(request: &Request, allowed: &[&str]) -> Result<(), Problem> {
    Given::of_request(request, allowed).map(drop)
}

/// Words what is wrong with the value of a parameter.
pub(super) fn check<T>(name: &str, found: Result<T, String>) -> Result<T, Problem> {
    found.map_err(|error| Problem::bad_request(format!("parameter {name}: {error}")))
}

impl<'a> Given<'a> {
    /// The parameters of the URL, which must be among `allowed`.
    pub(super) fn of_request(request: &'a Request, allowed: &[&str]) -> Result<Self, Problem> {
        let mut given = Self::default();
        for (name, value) in request.params.iter() {
            if !allowed.contains(&name) {
                let detail = format!("this operation has no parameter {name:?}");
                return Err(Problem::invalid_request(detail));
            }
            given.add(name, Cow::Borrowed(value))?;
        }
        Ok(given)
    }

    /// Adds a parameter, which must be new.
    pub(super) fn add(&mut self, name: &'a str, value: Cow<'a, str>) -> Result<(), Problem> {
        if self.get(name).is_some() {
            return Err(Problem::invalid_request(format!("parameter {name} is given twice")));
        }
        self.pairs.push((name, value));
        Ok(())
    }

    /// The text of a parameter. Cost: a few comparisons.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(given, _)| *given == name).map(|(_, value)| &**value)
    }

    /// `true` or `false`; `false` where it is not given.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.get(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => {
                Err(Problem::bad_request(format!("parameter {name} must be true or false, not {other:?}")))
            }
        }
    }

    /// A whole number that is not negative.
    pub(super) fn number(&self, name: &str) -> Result<Option<usize>, Problem> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let digits = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
        // What no number holds is more than any parameter's maximum, which the caller names.
        let number = digits.then(|| text.parse().unwrap_or(usize::MAX));
        if number.is_none() {
            let detail = format!("parameter {name} must be a whole number of at least 0, not {text:?}");
            return Err(Problem::bad_request(detail));
        }
        Ok(number)
    }

    /// The items of a list, none empty; no items where it is not given.
    pub(super) fn list(&self, name: &str) -> Result<Vec<&str>, Problem> {
        let Some(text) = self.get(name) else { return Ok(Vec::new()) };
        let items: Vec<_> = text.split(',').map(str::trim).collect();
        if items.iter().any(|item| item.is_empty()) {
            return Err(Problem::bad_request(format!("parameter {name} has an empty item")));
        }
        Ok(items)
    }

    /// A list of names.
    pub(super) fn names(&self, name: &str) -> Result<Vec<&str>, Problem> {
        let names = self.list(name)?;
        names.iter().try_for_each(|item| check(name, check_name(item)))?;
        Ok(names)
    }

    /// A list of URIs.
    pub(super) fn uris(&self, name: &str) -> Result<Vec<Box<str>>, Problem> {
        let uris = self.list(name)?;
        uris.into_iter().map(|uri| check(name, check_uri(uri)).map(|()| uri.into())).collect()
    }

    /// A list of datasetIds, `@none` for that of the default instance.
    pub(super) fn datasets(&self, name: &str) -> Result<Vec<Option<Box<str>>>, Problem> {
        let items = self.list(name)?;
        let dataset = |item: &str| match item {
            "@none" => Ok(None),
            uri => check(name, check_uri(uri)).map(|()| Some(uri.into())),
        };
        items.into_iter().map(dataset).collect()
    }

    /// Refuses what belongs to parts of the standard that this broker does not have.
    pub(super) fn refuse_unsupported(&self) -> Result<(), Problem> {
        if self.get("csf").is_some() {
            let detail = "parameter csf: this broker has no context source registrations";
            return Err(Problem::operation_not_supported(detail));
        }
        if self.flag("entityMap")? {
            return Err(Problem::operation_not_supported(
                "parameter entityMap: this broker has no entity maps",
            ));
        }
        self.flag("splitEntities").map(drop)
    }
}
