//! Which edges and vertices a step takes, by their properties.

use std::cmp::Ordering;

use graph::{LabelId, Malformed, PropertiesRef, PropertyKeyId, Scalar, ScalarRef, ValueRef};

/// What a property must be.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyCondition {
    /// The property. An element that has none does not pass.
    pub key: PropertyKeyId,
    /// What its value must be.
    pub predicate: Predicate,
}

/// What a value must be. Numbers of different types are compared by their values; others are equal or ordered within their type.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// Equal to this.
    Equal(Scalar),
    /// There, and not equal to this.
    NotEqual(Scalar),
    /// Less than this.
    Less(Scalar),
    /// Less than this, or equal.
    LessOrEqual(Scalar),
    /// Greater than this.
    Greater(Scalar),
    /// Greater than this, or equal.
    GreaterOrEqual(Scalar),
    /// From the first on, and less than the second.
    Between(Scalar, Scalar),
    /// Greater than the first and less than the second.
    Inside(Scalar, Scalar),
    /// Less than the first, or greater than the second.
    Outside(Scalar, Scalar),
    /// One of these.
    Within(Vec<Scalar>),
    /// A text in which this one is.
    TextContains(Box<str>),
    /// Several values, one of which is this.
    Contains(Scalar),
}

/// What elements of a label must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelFilter {
    /// The label; `None`: any.
    pub label: Option<LabelId>,
    /// All must hold.
    pub conditions: Vec<PropertyCondition>,
}

impl LabelFilter {
    fn takes(&self, label: LabelId, properties: PropertiesRef<'_>) -> Result<bool, Malformed> {
        if self.label.is_some_and(|wanted| wanted != label) {
            return Ok(false);
        }
        for condition in &self.conditions {
            let value = properties.get(condition.key)?;
            if !value.is_some_and(|value| condition.predicate.holds(value)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether one of the filters takes an element; where there is none, all are taken.
pub(crate) fn takes(
    filters: &[LabelFilter],
    label: LabelId,
    properties: PropertiesRef<'_>,
) -> Result<bool, Malformed> {
    for filter in filters {
        if filter.takes(label, properties)? {
            return Ok(true);
        }
    }
    Ok(filters.is_empty())
}

impl Predicate {
    /// Whether it holds of a value.
    pub fn holds(&self, value: ValueRef<'_>) -> bool {
        match (self, value) {
            (Self::Contains(wanted), ValueRef::Many(values)) => {
                values.iter().any(|value| compare(value, wanted) == Some(Ordering::Equal))
            }
            (_, ValueRef::Many(_)) => false,
            (_, ValueRef::One(value)) => self.holds_of_one(value),
        }
    }

    fn holds_of_one(&self, value: ScalarRef<'_>) -> bool {
        let is = |other: &Scalar, wanted: fn(Ordering) -> bool| compare(value, other).is_some_and(wanted);
        match self {
            Self::Equal(other) | Self::Contains(other) => is(other, Ordering::is_eq),
            Self::NotEqual(other) => compare(value, other) != Some(Ordering::Equal),
            Self::Less(other) => is(other, Ordering::is_lt),
            Self::LessOrEqual(other) => is(other, Ordering::is_le),
            Self::Greater(other) => is(other, Ordering::is_gt),
            Self::GreaterOrEqual(other) => is(other, Ordering::is_ge),
            Self::Between(low, high) => is(low, Ordering::is_ge) && is(high, Ordering::is_lt),
            Self::Inside(low, high) => is(low, Ordering::is_gt) && is(high, Ordering::is_lt),
            Self::Outside(low, high) => is(low, Ordering::is_lt) || is(high, Ordering::is_gt),
            Self::Within(others) => others.iter().any(|other| is(other, Ordering::is_eq)),
            Self::TextContains(part) => matches!(value, ScalarRef::Text(text) if text.contains(&**part)),
        }
    }
}

/// A number as it is: whole, or with a fraction.
enum Number {
    Whole(i64),
    Float(f64),
}

fn number(value: ScalarRef<'_>) -> Option<Number> {
    match value {
        ScalarRef::Byte(value) => Some(Number::Whole(value.into())),
        ScalarRef::Int(value) => Some(Number::Whole(value.into())),
        ScalarRef::Long(value) => Some(Number::Whole(value)),
        ScalarRef::Float(value) => Some(Number::Float(value.into())),
        ScalarRef::Double(value) => Some(Number::Float(value)),
        _ => None,
    }
}

/// A number as a float; `None` if it is none.
#[expect(clippy::cast_precision_loss, reason = "weights are floats")]
pub(crate) fn float(value: ScalarRef<'_>) -> Option<f64> {
    number(value).map(|number| match number {
        Number::Whole(value) => value as f64,
        Number::Float(value) => value,
    })
}

/// The order of two values; `None` if their types have none.
fn compare(one: ScalarRef<'_>, two: &Scalar) -> Option<Ordering> {
    match (one, two.as_ref()) {
        (ScalarRef::Text(one), ScalarRef::Text(two)) => Some(one.cmp(two)),
        (ScalarRef::Object(one), ScalarRef::Object(two)) => (one == two).then_some(Ordering::Equal),
        (ScalarRef::Boolean(one), ScalarRef::Boolean(two)) => Some(one.cmp(&two)),
        (ScalarRef::Date(one), ScalarRef::Date(two)) => Some(one.cmp(&two)),
        (ScalarRef::Uuid(one), ScalarRef::Uuid(two)) => Some(one.cmp(&two)),
        (ScalarRef::Blob(one), ScalarRef::Blob(two)) => Some(one.cmp(two)),
        (one, two) => match (number(one)?, number(two)?) {
            (Number::Whole(one), Number::Whole(two)) => Some(one.cmp(&two)),
            _ => float(one)?.partial_cmp(&float(two)?),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates_compare_by_value() {
        use Predicate as P;
        let (ten, twenty) = (Scalar::Int(10), Scalar::Double(20.0));
        for (predicate, value, expected) in [
            (P::Equal(ten.clone()), ScalarRef::Long(10), true),
            (P::Equal(ten.clone()), ScalarRef::Text("10"), false),
            (P::NotEqual(ten.clone()), ScalarRef::Double(10.5), true),
            (P::Less(ten.clone()), ScalarRef::Float(9.5), true),
            (P::LessOrEqual(ten.clone()), ScalarRef::Byte(10), true),
            (P::Greater(ten.clone()), ScalarRef::Int(10), false),
            (P::GreaterOrEqual(ten.clone()), ScalarRef::Int(10), true),
            (P::Between(ten.clone(), twenty.clone()), ScalarRef::Int(10), true),
            (P::Between(ten.clone(), twenty.clone()), ScalarRef::Int(20), false),
            (P::Inside(ten.clone(), twenty.clone()), ScalarRef::Int(10), false),
            (P::Outside(ten.clone(), twenty.clone()), ScalarRef::Int(21), true),
            (P::TextContains("ea".into()), ScalarRef::Text("Beijing"), false),
            (P::TextContains("eij".into()), ScalarRef::Text("Beijing"), true),
            (P::Greater(Scalar::Text("a".into())), ScalarRef::Text("b"), true),
            (P::Less(Scalar::Date(5)), ScalarRef::Date(4), true),
            (P::Within(vec![ten, twenty]), ScalarRef::Int(20), true),
        ] {
            assert_eq!(predicate.holds(ValueRef::One(value)), expected, "{predicate:?} {value:?}");
        }
    }
}
