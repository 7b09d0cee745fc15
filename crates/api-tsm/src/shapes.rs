//! Master data as JSON spells it: repositories, series, units, attribute types, hooks. Points are `wire`'s.
//!
//! Members are written in PascalCase. Members that are not known are refused by name; what only the server sets
//! (IDs, times) may be sent back as it was got, and is passed over.

mod numbered;
mod reference;
mod unit;
mod attribute;
mod series;
mod hook;
mod repository;

pub(crate) use attribute::{AttributeContext, AttributeTypeShape};
pub(crate) use hook::{HookGiven, HookShape, attribute_search};
pub(crate) use numbered::{INTERVALS, TYPES, of_number};
pub(crate) use reference::{find_series, series_refs};
pub(crate) use repository::{RepositoryGiven, RepositoryShape};
pub(crate) use series::{SeriesGiven, SeriesShape, interval_text, parse_day_start, refuse_series};
pub(crate) use unit::{UnitGiven, UnitShape};

use serde::de::{Deserialize, DeserializeOwned, Deserializer};

use crate::problem::Problem;

/// Reads a JSON body.
///
/// # Errors
///
/// `BadRequest`, naming the member or the place.
pub(crate) fn read_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    if body.is_empty() {
        return Err(Problem::bad_request("the body is empty"));
    }
    serde_json::from_slice(body).map_err(|error| Problem::bad_request(format!("the body: {error}")))
}

/// A member that is given, be it as `null`. (One that is left out is `None` by `#[serde(default)]`.)
fn given<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Some)
}
