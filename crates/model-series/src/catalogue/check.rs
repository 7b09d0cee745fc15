//! What a definition may be. Pure: drafts are checked whole before anything is read or stored.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use store::Timestamp;

use super::{ATTRIBUTES_MAX, NAME_BYTES_MAX, TEXT_BYTES_MAX};
use crate::keys::{self, Index};
use crate::{Alignment, Error, Raster, Zone};
use crate::{
    Attribute, AttributeKind, AttributeType, AttributeValue, DefinedFormula, Definition, DefinitionChange,
    DefinitionDraft, Switches,
};

/// Refuses names that no thing of a repository can have.
pub(crate) fn check_name(what: &str, name: &str) -> Result<(), Error> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return Err(Error::Invalid(format!("the name of {what} has 1 to {NAME_BYTES_MAX} bytes")));
    }
    if name.chars().any(char::is_control) || name.trim() != name {
        let text = name.escape_debug();
        return Err(Error::Invalid(format!(
            "the name of {what} has no control characters, and no space at its ends: `{text}`"
        )));
    }
    Ok(())
}

/// Refuses texts that are too long.
pub(crate) fn check_text(what: &str, text: &str) -> Result<(), Error> {
    Error::check_limit("TEXT_BYTES_MAX", TEXT_BYTES_MAX, text.len(), || format!("bytes of {what}"))
}

/// The definition that a draft makes, as far as it can be checked by itself.
pub(crate) fn checked(draft: DefinitionDraft, number: u32, now: Timestamp) -> Result<Definition, Error> {
    check_name("a series", &draft.name)?;
    check_text("a description", &draft.description)?;
    match (draft.alignment, draft.interval) {
        (Alignment::Spontaneous, Some(_)) => {
            return Err(Error::Invalid("a spontaneous series has no interval".into()));
        }
        (Alignment::Begin | Alignment::End, None) => {
            return Err(Error::Invalid("a series that is not spontaneous has an interval".into()));
        }
        _ => {}
    }
    let zone = draft.zone.unwrap_or_else(Zone::utc);
    let raster = match draft.interval {
        Some(interval) => Some(Raster::new(interval, zone.clone(), draft.day_start_seconds)?),
        None if draft.day_start_seconds != 0 => {
            return Err(Error::Invalid("a spontaneous series has no beginning of days".into()));
        }
        None => None,
    };
    if draft.retention.is_some_and(|retention| retention.is_negative || retention.is_zero()) {
        return Err(Error::Invalid("points are kept for some time: the retention is not positive".into()));
    }
    let formula = draft.formula.as_deref().map(parsed).transpose()?;
    if formula.is_some() {
        check_computed(draft.switches, draft.retention.is_some(), raster.is_some())?;
    }
    check_attribute_forms(&draft.attributes)?;
    Ok(Definition {
        number,
        name: draft.name,
        alignment: draft.alignment,
        interval: draft.interval,
        day_start_seconds: draft.day_start_seconds,
        unit: draft.unit,
        description: draft.description,
        zone,
        formula,
        switches: draft.switches,
        retention: draft.retention,
        attributes: draft.attributes,
        created: now,
        changed: now,
        raster,
    })
}

fn parsed(text: &str) -> Result<DefinedFormula, Error> {
    let tree = lang_formula::parse(text).map_err(|error| Error::Invalid(error.to_string()))?;
    Ok(DefinedFormula { text: text.into(), tree: Arc::new(tree) })
}

/// A computed series holds nothing.
fn check_computed(switches: Switches, has_retention: bool, has_raster: bool) -> Result<(), Error> {
    let refused = if switches.audit {
        "is not audited"
    } else if switches.quotation {
        "has no quotations"
    } else if has_retention {
        "has no retention"
    } else if !has_raster {
        "has an interval"
    } else {
        return Ok(());
    };
    Err(Error::Invalid(format!("a series with a formula {refused}")))
}

fn check_attribute_forms(attributes: &[Attribute]) -> Result<(), Error> {
    let what = || "attributes of a series".into();
    Error::check_limit("ATTRIBUTES_MAX", ATTRIBUTES_MAX, attributes.len(), what)?;
    for attribute in attributes {
        if let (Some(from), Some(to)) = (attribute.from, attribute.to)
            && from >= to
        {
            return Err(Error::Invalid(format!("attribute {} ends before it begins", attribute.name)));
        }
        if let AttributeValue::Category(text) | AttributeValue::Text(text) | AttributeValue::Node(text) =
            &attribute.value
        {
            check_text("an attribute", text)?;
        }
    }
    Ok(())
}

/// Refuses attributes that their types do not allow.
pub(crate) fn check_attributes(
    attributes: &[Attribute],
    types: &HashMap<&str, AttributeType>,
) -> Result<(), Error> {
    for (place, attribute) in attributes.iter().enumerate() {
        let Some(of_type) = types.get(&*attribute.name) else {
            return Err(Error::NotFound(format!("attribute type {}", attribute.name).into()));
        };
        check_value(attribute, of_type)?;
        for other in attributes.iter().take(place).filter(|other| other.name == attribute.name) {
            if attribute.overlaps(other) && (!of_type.is_multiple || other.value == attribute.value) {
                let text = if of_type.is_multiple { "this value twice" } else { "two values" };
                return Err(Error::Invalid(format!("attribute {} has {text} at a time", attribute.name)));
            }
        }
    }
    Ok(())
}

fn check_value(attribute: &Attribute, of_type: &AttributeType) -> Result<(), Error> {
    let name = &attribute.name;
    match (&attribute.value, &of_type.kind) {
        (AttributeValue::Category(text), AttributeKind::Category(categories)) => {
            if categories.contains(text) {
                return Ok(());
            }
            Err(Error::Invalid(format!("attribute {name} has no category {text}")))
        }
        (AttributeValue::Node(path), AttributeKind::Node(paths)) => {
            let is_on_path = |known: &str| {
                known.strip_prefix(&**path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if !path.is_empty() && paths.iter().any(|known| is_on_path(known)) {
                return Ok(());
            }
            Err(Error::Invalid(format!("attribute {name} has no node {path}")))
        }
        (AttributeValue::Text(_), AttributeKind::Text)
        | (AttributeValue::Date(_), AttributeKind::Date)
        | (AttributeValue::YesOrNo(_), AttributeKind::YesOrNo)
        | (AttributeValue::Series(_), AttributeKind::Series) => Ok(()),
        (value, kind) => {
            Err(Error::Invalid(format!("attribute {name} is of kind {}, not {}", kind.name(), value.kind())))
        }
    }
}

/// The index rows of a definition, `n` left out: keys and whether they hold the number.
pub(crate) fn index_rows(definition: &Definition) -> BTreeSet<(Bytes, bool)> {
    let name = &definition.name;
    let mut rows = BTreeSet::new();
    for attribute in &definition.attributes {
        rows.insert((Index::Attribute(&attribute.name).key(name), true));
        attribute.value.each_text(|text| {
            rows.insert((Index::Value(&attribute.name, text).key(name), true));
        });
    }
    if let Some(unit) = &definition.unit {
        rows.insert((Index::Unit(unit).key(name), true));
    }
    // Units that a formula converts to are in use too.
    for reference in definition.formula.iter().flat_map(|formula| formula.tree.references()) {
        if let Some(unit) = &reference.unit {
            rows.insert((Index::FormulaUnit(unit).key(name), true));
        }
    }
    if definition.retention.is_some() {
        rows.insert((keys::retention(definition.number), false));
    }
    rows
}

impl Definition {
    /// The draft that would make it.
    pub(crate) fn to_draft(&self) -> DefinitionDraft {
        DefinitionDraft {
            name: self.name.clone(),
            alignment: self.alignment,
            interval: self.interval,
            day_start_seconds: self.day_start_seconds,
            unit: self.unit.clone(),
            description: self.description.clone(),
            zone: Some(self.zone.clone()),
            formula: self.formula.as_ref().map(|formula| (&*formula.text).into()),
            switches: self.switches,
            retention: self.retention,
            attributes: self.attributes.clone(),
        }
    }

    /// Whether points of one would mean something else in the other.
    pub(crate) fn differs_in_points(&self, other: &Self) -> bool {
        self.alignment != other.alignment
            || self.raster != other.raster
            || self.zone != other.zone
            || self.switches.quotation != other.switches.quotation
            || (other.switches.audit && !self.switches.audit)
            || (other.is_computed() && !self.is_computed())
    }
}

impl DefinitionDraft {
    /// The draft with a change.
    pub(crate) fn with(self, change: DefinitionChange) -> Self {
        Self {
            name: change.name.unwrap_or(self.name),
            alignment: change.alignment.unwrap_or(self.alignment),
            interval: change.interval.unwrap_or(self.interval),
            day_start_seconds: change.day_start_seconds.unwrap_or(self.day_start_seconds),
            unit: change.unit.unwrap_or(self.unit),
            description: change.description.unwrap_or(self.description),
            zone: change.zone.or(self.zone),
            formula: change.formula.unwrap_or(self.formula),
            switches: Switches {
                compression: change.compression.unwrap_or(self.switches.compression),
                audit: change.audit.unwrap_or(self.switches.audit),
                quotation: change.quotation.unwrap_or(self.switches.quotation),
            },
            retention: change.retention.unwrap_or(self.retention),
            attributes: change.attributes.unwrap_or(self.attributes),
        }
    }
}
