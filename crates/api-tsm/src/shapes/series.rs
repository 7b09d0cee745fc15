//! Definitions: `{"Name":"…","Type":"Begin","Interval":{"Value":"Minute","Multiplier":15},"Unit":"kWh"}`

use model_series::{
    Alignment, Definition, DefinitionChange, DefinitionDraft, Duration, Interval, IntervalUnit, Switches,
    Zone,
};
use serde::{Deserialize, Deserializer, Serialize};

use super::attribute::{AttributeContext, AttributeShape, attribute_shape};
use super::given;
use super::numbered::{INTERVALS, TYPES, formula, id, nothing, word};
use crate::problem::Problem;
use crate::times::format_stamp;

/// What the times of points mean.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) enum Type {
    Begin,
    End,
    Spontaneous,
}

/// An alignment as it is sent.
#[derive(Clone, Copy, Debug)]
struct TypeGiven(Alignment);

impl<'de> Deserialize<'de> for TypeGiven {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        word(deserializer, "type", &TYPES).map(Self)
    }
}

/// `{"Value":"Minute","Multiplier":15}` as it is answered.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct IntervalShape {
    value: &'static str,
    multiplier: u32,
}

/// The same as it is sent.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(
    rename_all = "PascalCase",
    deny_unknown_fields,
    expecting = "an object such as {\"Value\":\"Hour\",\"Multiplier\":1}"
)]
struct IntervalGiven {
    value: IntervalValue,
    #[serde(default = "one")]
    multiplier: u32,
}

#[derive(Clone, Copy, Debug)]
struct IntervalValue(Option<IntervalUnit>);

impl<'de> Deserialize<'de> for IntervalValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        word(deserializer, "interval", &INTERVALS).map(Self)
    }
}

fn one() -> u32 {
    1
}

impl IntervalGiven {
    /// The interval; none if it counts nothing.
    fn interval(self) -> Option<Interval> {
        self.value.0.map(|unit| Interval::new(unit, self.multiplier))
    }
}

/// The name of what an interval counts.
pub(crate) fn interval_text(unit: IntervalUnit) -> &'static str {
    match unit {
        IntervalUnit::Millisecond => "Millisecond",
        IntervalUnit::Second => "Second",
        IntervalUnit::Minute => "Minute",
        IntervalUnit::Hour => "Hour",
        IntervalUnit::Day => "Day",
        IntervalUnit::Week => "Week",
        IntervalUnit::Month => "Month",
        IntervalUnit::Quarter => "Quarter",
        IntervalUnit::Year => "Year",
    }
}

impl From<Interval> for IntervalShape {
    fn from(interval: Interval) -> Self {
        Self { value: interval_text(interval.unit), multiplier: interval.multiplier }
    }
}

/// A definition as it is answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct SeriesShape<'a> {
    #[serde(rename = "ID")]
    id: String,
    name: &'a str,
    r#type: Type,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<IntervalShape>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'a str>,
    description: &'a str,
    time_zone: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    day_start: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<&'a str>,
    compression: bool,
    audit: bool,
    quotation: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    retention: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attributes: Vec<AttributeShape>,
    created: String,
    changed: String,
}

impl<'a> From<&'a Definition> for SeriesShape<'a> {
    fn from(series: &'a Definition) -> Self {
        let r#type = match series.alignment {
            Alignment::Begin => Type::Begin,
            Alignment::End => Type::End,
            Alignment::Spontaneous => Type::Spontaneous,
        };
        let Switches { compression, audit, quotation } = series.switches;
        Self {
            id: series.number.to_string(),
            name: &series.name,
            r#type,
            interval: series.interval.map(IntervalShape::from),
            unit: series.unit.as_deref(),
            description: &series.description,
            time_zone: series.zone.name(),
            day_start: (series.day_start_seconds > 0).then(|| format_day_start(series.day_start_seconds)),
            formula: series.formula.as_ref().map(|formula| &*formula.text),
            compression,
            audit,
            quotation,
            retention: series.retention.map(|retention| retention.to_string()),
            attributes: series.attributes.iter().map(attribute_shape).collect(),
            created: format_stamp(series.created),
            changed: format_stamp(series.changed),
        }
    }
}

/// A definition, or what is to be different of one, as it is sent.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields, expecting = "an object with the members of a series")]
pub(crate) struct SeriesGiven {
    #[serde(rename = "ID", default, deserialize_with = "id")]
    id: Option<Box<str>>,
    name: Option<Box<str>>,
    r#type: Option<TypeGiven>,
    #[serde(default, deserialize_with = "given")]
    interval: Option<Option<IntervalGiven>>,
    #[serde(default, deserialize_with = "given")]
    unit: Option<Option<Box<str>>>,
    description: Option<Box<str>>,
    time_zone: Option<Box<str>>,
    day_start: Option<Box<str>>,
    #[serde(default, deserialize_with = "formula")]
    formula: Option<Option<Box<str>>>,
    #[serde(alias = "Compressed")]
    compression: Option<bool>,
    audit: Option<bool>,
    quotation: Option<bool>,
    #[serde(default, deserialize_with = "given")]
    retention: Option<Option<Box<str>>>,
    attributes: Option<Vec<AttributeShape>>,
    #[serde(rename = "ExchangeTimeSeries", default, deserialize_with = "nothing")]
    _exchange: (),
    #[serde(rename = "Created")]
    _created: Option<serde::de::IgnoredAny>,
    #[serde(rename = "Changed")]
    _changed: Option<serde::de::IgnoredAny>,
}

impl SeriesGiven {
    /// The attributes that are given.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = &AttributeShape> {
        self.attributes.iter().flatten()
    }

    /// The name, to say whom a refusal is about.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// A new series.
    ///
    /// # Errors
    ///
    /// What is wrong, naming the member.
    pub(crate) fn draft(self, context: &AttributeContext) -> Result<DefinitionDraft, String> {
        if let Some(id) = self.id {
            return Err(format!("\"ID\" is chosen by the server and cannot be {id:?}"));
        }
        let alignment = self.r#type.ok_or("\"Type\" is missing: Begin, End or Spontaneous")?;
        let switches = Switches::default();
        let zone = self.time_zone.map(|name| zone(&name)).transpose()?;
        let of_dates = zone.clone().unwrap_or_else(Zone::utc);
        Ok(DefinitionDraft {
            name: self.name.ok_or("\"Name\" is missing")?,
            alignment: alignment.0,
            interval: self.interval.flatten().and_then(IntervalGiven::interval),
            day_start_seconds: self.day_start.map_or(Ok(0), |text| parse_day_start(&text))?,
            unit: self.unit.flatten(),
            description: self.description.unwrap_or_default(),
            zone,
            formula: self.formula.flatten(),
            switches: Switches {
                compression: self.compression.unwrap_or(switches.compression),
                audit: self.audit.unwrap_or(switches.audit),
                quotation: self.quotation.unwrap_or(switches.quotation),
            },
            retention: self.retention.flatten().map(|text| retention(&text)).transpose()?,
            attributes: attributes(&self.attributes.unwrap_or_default(), context, &of_dates)?,
        })
    }

    /// What is to be different of `series`: what is given.
    ///
    /// # Errors
    ///
    /// What is wrong, naming the member.
    pub(crate) fn change(
        self,
        series: &Definition,
        context: &AttributeContext,
    ) -> Result<DefinitionChange, String> {
        if let Some(id) = self.id.filter(|id| **id != *series.number.to_string()) {
            return Err(format!("\"ID\" is {id:?}, but the series keeps its ID {}", series.number));
        }
        let retention = match self.retention {
            Some(Some(text)) => Some(Some(retention(&text)?)),
            Some(None) => Some(None),
            None => None,
        };
        let zone = self.time_zone.map(|name| zone(&name)).transpose()?;
        let of_dates = zone.clone().unwrap_or_else(|| series.zone.clone());
        let given = self.attributes.map(|given| attributes(&given, context, &of_dates)).transpose()?;
        Ok(DefinitionChange {
            name: self.name,
            alignment: self.r#type.map(|given| given.0),
            interval: self.interval.map(|interval| interval.and_then(IntervalGiven::interval)),
            day_start_seconds: self.day_start.map(|text| parse_day_start(&text)).transpose()?,
            unit: self.unit,
            description: self.description,
            zone,
            formula: self.formula,
            compression: self.compression,
            audit: self.audit,
            quotation: self.quotation,
            retention,
            attributes: given,
        })
    }

    /// What is to be different of `series`: members that are not given get their defaults.
    ///
    /// # Errors
    ///
    /// What is wrong, naming the member.
    pub(crate) fn replacement(
        self,
        series: &Definition,
        context: &AttributeContext,
    ) -> Result<DefinitionChange, String> {
        let given = self.change(series, context)?;
        let switches = Switches::default();
        Ok(DefinitionChange {
            name: Some(given.name.ok_or("\"Name\" is missing")?),
            alignment: Some(given.alignment.ok_or("\"Type\" is missing: Begin, End or Spontaneous")?),
            interval: Some(given.interval.flatten()),
            day_start_seconds: Some(given.day_start_seconds.unwrap_or(0)),
            unit: Some(given.unit.flatten()),
            description: Some(given.description.unwrap_or_default()),
            zone: Some(given.zone.unwrap_or_else(Zone::utc)),
            formula: Some(given.formula.flatten()),
            compression: Some(given.compression.unwrap_or(switches.compression)),
            audit: Some(given.audit.unwrap_or(switches.audit)),
            quotation: Some(given.quotation.unwrap_or(switches.quotation)),
            retention: Some(given.retention.flatten()),
            attributes: Some(given.attributes.unwrap_or_default()),
        })
    }
}

fn attributes(
    given: &[AttributeShape],
    context: &AttributeContext,
    zone: &Zone,
) -> Result<Vec<model_series::Attribute>, String> {
    given.iter().map(|shape| context.attribute(shape, zone)).collect()
}

/// A zone by its IANA name.
fn zone(name: &str) -> Result<Zone, String> {
    Zone::get(name).map_err(|error| error.to_string())
}

fn retention(text: &str) -> Result<Duration, String> {
    let wrong = || format!("\"Retention\" must be an ISO 8601 duration such as P10Y, not {text:?}");
    Duration::parse(text).filter(|duration| !duration.is_negative && !duration.is_zero()).ok_or_else(wrong)
}

/// `06:00`, in seconds after midnight.
///
/// # Errors
///
/// What is wrong, for the client.
pub(crate) fn parse_day_start(text: &str) -> Result<u32, String> {
    let wrong = || format!("{text:?} is not a time of day such as 06:00");
    let time: jiff::civil::Time = text.parse().map_err(|_| wrong())?;
    if time.subsec_nanosecond() != 0 || !text.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(wrong());
    }
    let [hours, minutes, seconds] =
        [time.hour(), time.minute(), time.second()].map(|part| u32::from(part.unsigned_abs()));
    Ok(hours * 3600 + minutes * 60 + seconds)
}

fn format_day_start(seconds: u32) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if rest == 0 { format!("{hours:02}:{minutes:02}") } else { format!("{hours:02}:{minutes:02}:{rest:02}") }
}

/// Words what is wrong with a definition.
pub(crate) fn refuse_series(name: Option<&str>, reason: String) -> Problem {
    let problem = Problem::bad_request(reason);
    match name {
        Some(name) => problem.about(name),
        None => problem,
    }
}
