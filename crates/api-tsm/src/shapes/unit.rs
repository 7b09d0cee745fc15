//! `{"Name":"kW","BaseUnit":"W","Offset":0,"Factor":1000,"IntegralUnit":"kWh","Aggregation":"AVG"}`

use model_series::{Unit, UnitRule};
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// How values of a unit are put together.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) enum Rule {
    #[serde(rename = "AVG", alias = "Avg", alias = "avg")]
    Average,
    #[serde(rename = "SUM", alias = "Sum", alias = "sum")]
    Sum,
}

/// A unit as it is answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct UnitShape<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_unit: Option<&'a str>,
    offset: f64,
    factor: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    integral_unit: Option<&'a str>,
    aggregation: Rule,
}

impl<'a> From<&'a Unit> for UnitShape<'a> {
    fn from(unit: &'a Unit) -> Self {
        let aggregation = match unit.aggregation {
            UnitRule::Average => Rule::Average,
            UnitRule::Sum => Rule::Sum,
        };
        Self {
            name: &unit.name,
            base_unit: unit.base.as_deref(),
            offset: unit.offset,
            factor: unit.factor,
            integral_unit: unit.integral.as_deref(),
            aggregation,
        }
    }
}

/// A unit as it is sent. What clients of HAKOM TSM say besides is passed over: nothing is made of it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields, expecting = "an object with the members of a unit")]
pub(crate) struct UnitGiven {
    #[serde(rename = "ID")]
    _id: Option<serde::de::IgnoredAny>,
    #[serde(rename = "Description")]
    _description: Option<serde::de::IgnoredAny>,
    #[serde(rename = "Category")]
    _category: Option<serde::de::IgnoredAny>,
    name: Option<Box<str>>,
    base_unit: Option<Box<str>>,
    offset: Option<f64>,
    factor: Option<f64>,
    integral_unit: Option<Box<str>>,
    aggregation: Option<Rule>,
}

impl UnitGiven {
    /// The unit; `name` is the one in the address, if there is one.
    pub(crate) fn unit(self, name: Option<&str>) -> Result<Unit, Problem> {
        let aggregation = match self.aggregation {
            Some(Rule::Sum) => UnitRule::Sum,
            Some(Rule::Average) | None => UnitRule::Average,
        };
        Ok(Unit {
            name: same_name(self.name, name)?,
            base: self.base_unit,
            offset: self.offset.unwrap_or(0.0),
            factor: self.factor.unwrap_or(1.0),
            integral: self.integral_unit,
            aggregation,
        })
    }
}

/// The name of a thing: given in the address, in the body, or the same in both.
pub(super) fn same_name(given: Option<Box<str>>, addressed: Option<&str>) -> Result<Box<str>, Problem> {
    match (given, addressed) {
        (Some(given), Some(addressed)) if *given != *addressed => {
            Err(Problem::bad_request(format!("\"Name\" is {given:?}, but the address says {addressed:?}")))
        }
        (Some(name), _) => Ok(name),
        (None, Some(name)) => Ok(name.into()),
        (None, None) => Err(Problem::bad_request("\"Name\" is missing")),
    }
}
