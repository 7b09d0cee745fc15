//! Which edges and vertices a step takes, by their labels and properties.

use graph::condition::{Condition, matches_all};
use graph::{LabelId, Malformed, PropertiesRef, ScalarRef};

/// What elements of a label must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelFilter {
    /// The label; `None`: any.
    pub label: Option<LabelId>,
    /// All must hold.
    pub conditions: Vec<Condition>,
}

/// Whether one of the filters takes an element; where there is none, all are taken.
pub(crate) fn takes(
    filters: &[LabelFilter],
    label: LabelId,
    properties: PropertiesRef<'_>,
) -> Result<bool, Malformed> {
    for filter in filters.iter().filter(|filter| filter.label.is_none_or(|wanted| wanted == label)) {
        if matches_all(&filter.conditions, properties)? {
            return Ok(true);
        }
    }
    Ok(filters.is_empty())
}

/// A number as a float; `None` if it is none.
#[expect(clippy::cast_precision_loss, reason = "weights are floats")]
pub(crate) fn float(value: ScalarRef<'_>) -> Option<f64> {
    match value {
        ScalarRef::Byte(value) => Some(value.into()),
        ScalarRef::Int(value) => Some(value.into()),
        ScalarRef::Long(value) => Some(value as f64),
        ScalarRef::Float(value) => Some(value.into()),
        ScalarRef::Double(value) => Some(value),
        ScalarRef::Object(_)
        | ScalarRef::Boolean(_)
        | ScalarRef::Text(_)
        | ScalarRef::Blob(_)
        | ScalarRef::Date(_)
        | ScalarRef::Uuid(_) => None,
    }
}
