//! Attribute types `{"Name":"Region","Type":"Node","Values":["Europe/Austria"],"Multiple":false}`, and attributes on
//! series `{"Name":"Region","Value":"Europe/Austria","From":"2026-01-01T00:00:00Z"}`.

use std::collections::HashMap;
use std::sync::Arc;

use model_series::{
    Attribute, AttributeKind, AttributeType, AttributeValue, Definition, Error, Repository, Zone,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::reference::find_series;
use super::unit::same_name;
use crate::problem::Problem;
use crate::times::{format_time, library_zone, parse_moment};

/// An attribute type, both ways.
#[derive(Debug, Deserialize, Serialize)]
#[serde(
    rename_all = "PascalCase",
    deny_unknown_fields,
    expecting = "an object with the members of an attribute type"
)]
pub(crate) struct AttributeTypeShape {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Box<str>>,
    r#type: Kind,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    values: Vec<Box<str>>,
    #[serde(default)]
    multiple: bool,
    #[serde(default)]
    description: Box<str>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
enum Kind {
    Category,
    Text,
    Date,
    YesOrNo,
    Series,
    Node,
}

impl From<AttributeType> for AttributeTypeShape {
    fn from(attribute_type: AttributeType) -> Self {
        let AttributeType { name, kind, is_multiple, description } = attribute_type;
        let (r#type, values) = match kind {
            AttributeKind::Category(values) => (Kind::Category, values),
            AttributeKind::Text => (Kind::Text, Vec::new()),
            AttributeKind::Date => (Kind::Date, Vec::new()),
            AttributeKind::YesOrNo => (Kind::YesOrNo, Vec::new()),
            AttributeKind::Series => (Kind::Series, Vec::new()),
            AttributeKind::Node(values) => (Kind::Node, values),
        };
        Self { name: Some(name), r#type, values, multiple: is_multiple, description }
    }
}

impl AttributeTypeShape {
    /// The type; `name` is the one in the address, if there is one.
    pub(crate) fn attribute_type(self, name: Option<&str>) -> Result<AttributeType, Problem> {
        let name = same_name(self.name, name)?;
        if !self.values.is_empty() && !matches!(self.r#type, Kind::Category | Kind::Node) {
            return Err(Problem::bad_request("only the types Category and Node have \"Values\""));
        }
        let kind = match self.r#type {
            Kind::Category => AttributeKind::Category(self.values),
            Kind::Text => AttributeKind::Text,
            Kind::Date => AttributeKind::Date,
            Kind::YesOrNo => AttributeKind::YesOrNo,
            Kind::Series => AttributeKind::Series,
            Kind::Node => AttributeKind::Node(self.values),
        };
        Ok(AttributeType { name, kind, is_multiple: self.multiple, description: self.description })
    }
}

/// An attribute on a series, both ways.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields, expecting = "an object with Name and Value")]
pub(crate) struct AttributeShape {
    pub(super) name: Box<str>,
    value: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

/// An attribute as it is answered.
pub(crate) fn attribute_shape(attribute: &Attribute) -> AttributeShape {
    let value = match &attribute.value {
        AttributeValue::Category(text) | AttributeValue::Text(text) | AttributeValue::Node(text) => {
            Value::from(&**text)
        }
        AttributeValue::Date(day) => Value::from(day.to_string()),
        AttributeValue::YesOrNo(value) => Value::from(*value),
        AttributeValue::Series(number) => Value::from(number.to_string()),
    };
    AttributeShape {
        name: attribute.name.clone(),
        value,
        from: attribute.from.map(format_time),
        to: attribute.to.map(format_time),
    }
}

/// What attributes are read against: the types of the repository, and its series.
#[derive(Debug, Default)]
pub(crate) struct AttributeContext {
    kinds: HashMap<Box<str>, AttributeKind>,
    series: HashMap<Box<str>, Arc<Definition>>,
}

impl AttributeContext {
    /// The types that a repository has and the series that `attributes` name. Cost: nothing if there is no attribute.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub(crate) async fn load(
        repository: &Repository,
        attributes: impl IntoIterator<Item = &AttributeShape>,
    ) -> Result<Self, Error> {
        let attributes: Vec<_> = attributes.into_iter().collect();
        let mut context = Self::default();
        if attributes.is_empty() {
            return Ok(context);
        }
        let types = repository.attribute_types().await?;
        context.kinds = types.into_iter().map(|held| (held.name, held.kind)).collect();
        for attribute in attributes {
            let is_series = context.kinds.get(&attribute.name) == Some(&AttributeKind::Series);
            if let (true, Value::String(text)) = (is_series, &attribute.value)
                && let Some(series) = find_series(repository, text).await?
            {
                context.series.insert(text.as_str().into(), series);
            }
        }
        Ok(context)
    }

    /// An attribute as it was sent; a date is midnight of `zone`.
    ///
    /// # Errors
    ///
    /// What is wrong, naming the attribute.
    pub(crate) fn attribute(&self, shape: &AttributeShape, zone: &Zone) -> Result<Attribute, String> {
        let AttributeShape { name, value, from, to } = shape;
        let kind = self.kinds.get(name).ok_or_else(|| format!("attribute type {name} is not known"))?;
        let value = self.value(kind, value).map_err(|reason| format!("attribute {name}: {reason}"))?;
        let time = |text: &Option<String>| {
            let instant = |text| parse_moment(text)?.in_zone(&library_zone(zone));
            let time = text.as_deref().map(instant).transpose();
            time.map_err(|reason| format!("attribute {name}: {reason}"))
        };
        Ok(Attribute { name: name.clone(), value, from: time(from)?, to: time(to)? })
    }

    fn value(&self, kind: &AttributeKind, value: &Value) -> Result<AttributeValue, String> {
        match (kind, value) {
            (AttributeKind::Category(_), Value::String(text)) => {
                Ok(AttributeValue::Category(text.as_str().into()))
            }
            (AttributeKind::Text, Value::String(text)) => Ok(AttributeValue::Text(text.as_str().into())),
            (AttributeKind::Node(_), Value::String(text)) => Ok(AttributeValue::Node(text.as_str().into())),
            (AttributeKind::YesOrNo, Value::Bool(value)) => Ok(AttributeValue::YesOrNo(*value)),
            (AttributeKind::Date, Value::String(text)) => {
                let day = text.parse().map(AttributeValue::Date);
                day.map_err(|_| format!("{text:?} is not a date"))
            }
            (AttributeKind::Series, Value::String(text)) => {
                let series =
                    self.series.get(text.as_str()).ok_or_else(|| format!("series {text} is not known"))?;
                Ok(AttributeValue::Series(series.number))
            }
            (AttributeKind::YesOrNo, other) => Err(format!("the value must be true or false, not {other}")),
            (_, other) => Err(format!("the value must be a text, not {other}")),
        }
    }
}
