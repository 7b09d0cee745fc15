//! Conditions on properties: what a query asks of elements, evaluated where they are stored.
//!
//! Of a property with several values a condition asks for one of them. An element without the property never matches, whatever the condition.

mod call;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::ops::Bound;

pub use self::call::{CallError, Predicate, PredicateCall};
use crate::analyse::Words;
use crate::index::words_of;
use crate::schema::PropertyKey;
use crate::{Cardinality, Malformed, PropertiesRef, PropertyKeyId, Scalar, ScalarRef, ValueRef};

/// The most values that a condition names.
pub const WITHIN_VALUES_MAX: usize = 10_000;

/// What is asked of a property. Values are of the type of its key.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The property.
    pub key: PropertyKeyId,
    /// What is asked.
    pub test: Test,
}

/// What is asked of the values of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// Equal to a value; of several: one of them is.
    Equal(Scalar),
    /// Not equal to a value; of several: none of them is.
    NotEqual(Scalar),
    /// Equal to one of these.
    Within(Vec<Scalar>),
    /// All of these are among the values.
    HasAll(Vec<Scalar>),
    /// Between two bounds.
    Range(Bound<Scalar>, Bound<Scalar>),
    /// Below the first, or above the second.
    Outside(Scalar, Scalar),
    /// A text that has this one in it.
    TextContains(Box<str>),
    /// A text that shares a word with a query: what [`Test::TextContains`] becomes where a SEARCH index serves it ([`Test::by_words`]).
    Words(Words),
}

/// Why a condition cannot be.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ConditionError {
    /// A predicate with the wrong number of values.
    #[error("Invalid numbers size {got}, expect {needed}")]
    Values {
        /// How many there are.
        got: usize,
        /// How many there must be.
        needed: usize,
    },
    /// More values than may be.
    #[error("too many values for '{key}': {got}, at most {WITHIN_VALUES_MAX}")]
    TooMany {
        /// The property.
        key: Box<str>,
        /// How many there are.
        got: usize,
    },
    /// Words are asked of what is no text.
    #[error("The property '{0}' has no text that could contain another")]
    NoText(Box<str>),
    /// An order is asked of what has none.
    #[error("Can't compare values of '{0}', which are neither numbers nor dates nor texts")]
    NoOrder(Box<str>),
}

impl Condition {
    /// A plain value: it, or one of several; of a list or set all of several.
    ///
    /// # Errors
    ///
    /// [`ConditionError::TooMany`].
    pub fn of_values(
        key: &PropertyKey,
        mut values: Vec<Scalar>,
        is_list: bool,
    ) -> Result<Self, ConditionError> {
        check_count(key, values.len())?;
        let test = match values.pop() {
            Some(value) if !is_list => Test::Equal(value),
            last => {
                values.extend(last);
                match key.cardinality {
                    Cardinality::Single => Test::Within(values),
                    Cardinality::List | Cardinality::Set => Test::HasAll(values),
                }
            }
        };
        Ok(Self { key: key.id, test })
    }

    /// A predicate with its values, which are of the type of the key.
    ///
    /// # Errors
    ///
    /// [`ConditionError`].
    pub fn of_predicate(
        key: &PropertyKey,
        predicate: Predicate,
        values: Vec<Scalar>,
    ) -> Result<Self, ConditionError> {
        use Bound::{Excluded, Included, Unbounded};
        check_count(key, values.len())?;
        if predicate.is_order() && !has_order(key) {
            return Err(ConditionError::NoOrder((*key.name).into()));
        }
        let got = values.len();
        let refusal = |needed| ConditionError::Values { got, needed };
        let one = |values: Vec<Scalar>| {
            <[Scalar; 1]>::try_from(values).map(|[value]| value).map_err(|_| refusal(1))
        };
        let two = |values: Vec<Scalar>| <[Scalar; 2]>::try_from(values).map_err(|_| refusal(2));
        let test = match predicate {
            Predicate::Eq | Predicate::Contains => Test::Equal(one(values)?),
            Predicate::Neq => Test::NotEqual(one(values)?),
            Predicate::Lt => Test::Range(Unbounded, Excluded(one(values)?)),
            Predicate::Lte => Test::Range(Unbounded, Included(one(values)?)),
            Predicate::Gt => Test::Range(Excluded(one(values)?), Unbounded),
            Predicate::Gte => Test::Range(Included(one(values)?), Unbounded),
            Predicate::Between => {
                let [low, high] = two(values)?;
                Test::Range(Included(low), Excluded(high))
            }
            Predicate::Inside => {
                let [low, high] = two(values)?;
                Test::Range(Excluded(low), Excluded(high))
            }
            Predicate::Outside => {
                let [low, high] = two(values)?;
                Test::Outside(low, high)
            }
            Predicate::Within => Test::Within(values),
            Predicate::TextContains => match one(values)? {
                Scalar::Text(text) => Test::TextContains(text),
                _ => return Err(ConditionError::NoText((*key.name).into())),
            },
        };
        Ok(Self { key: key.id, test })
    }

    /// Whether an element with these properties matches. Cost: that of reading those up to the one that is asked of.
    ///
    /// # Errors
    ///
    /// If the stored bytes are damaged.
    #[inline]
    pub fn matches(&self, properties: PropertiesRef<'_>) -> Result<bool, Malformed> {
        Ok(properties.get(self.key)?.is_some_and(|value| self.test.matches(value)))
    }
}

/// Whether an element matches all conditions. Cost: as one each, up to the first that it does not match.
///
/// # Errors
///
/// If the stored bytes are damaged.
#[inline]
pub fn matches_all(conditions: &[Condition], properties: PropertiesRef<'_>) -> Result<bool, Malformed> {
    for condition in conditions {
        if !condition.matches(properties)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn check_count(key: &PropertyKey, got: usize) -> Result<(), ConditionError> {
    match got > WITHIN_VALUES_MAX {
        true => Err(ConditionError::TooMany { key: (*key.name).into(), got }),
        false => Ok(()),
    }
}

fn has_order(key: &PropertyKey) -> bool {
    use crate::DataType::{Blob, Boolean, Byte, Date, Double, Float, Int, Long, Object, Text, Uuid};
    match key.data_type {
        Byte | Int | Long | Float | Double | Date | Text => true,
        Object | Boolean | Blob | Uuid => false,
    }
}

impl Test {
    /// The same with the words of a text in place of the text; of other tests nothing.
    pub fn by_words(&self) -> Option<Self> {
        match self {
            Self::TextContains(text) => Some(Self::Words(Words::of_query(text))),
            _ => None,
        }
    }

    /// Whether a stored value matches.
    pub fn matches(&self, value: ValueRef<'_>) -> bool {
        match (self, value) {
            (Self::Words(words), value) => words_of(value).has_any_of(words),
            (Self::HasAll(all), value) => all.iter().all(|one| has(value, one)),
            (Self::NotEqual(other), value) => !has(value, other),
            (test, ValueRef::One(scalar)) => test.matches_one(scalar),
            (test, ValueRef::Many(scalars)) => scalars.iter().any(|scalar| test.matches_one(scalar)),
        }
    }

    fn matches_one(&self, scalar: ScalarRef<'_>) -> bool {
        match self {
            Self::Equal(value) => is_equal(scalar, value),
            Self::NotEqual(value) => !is_equal(scalar, value),
            Self::Within(values) => values.iter().any(|value| is_equal(scalar, value)),
            Self::HasAll(values) => values.iter().all(|value| is_equal(scalar, value)),
            Self::Range(low, high) => is_above(scalar, low) && is_below(scalar, high),
            Self::Outside(low, high) => {
                let compare = |bound: &Scalar| scalar.compare(bound.as_ref());
                compare(low) == Some(Ordering::Less) || compare(high) == Some(Ordering::Greater)
            }
            Self::TextContains(part) => match scalar {
                ScalarRef::Text(text) | ScalarRef::Object(text) => text.contains(&**part),
                _ => false,
            },
            Self::Words(words) => words_of(ValueRef::One(scalar)).has_any_of(words),
        }
    }
}

fn has(value: ValueRef<'_>, wanted: &Scalar) -> bool {
    match value {
        ValueRef::One(scalar) => is_equal(scalar, wanted),
        ValueRef::Many(scalars) => scalars.iter().any(|scalar| is_equal(scalar, wanted)),
    }
}

fn is_equal(scalar: ScalarRef<'_>, value: &Scalar) -> bool {
    scalar.compare(value.as_ref()) == Some(Ordering::Equal)
}

fn is_above(scalar: ScalarRef<'_>, low: &Bound<Scalar>) -> bool {
    match low {
        Bound::Unbounded => true,
        Bound::Included(low) => scalar.compare(low.as_ref()).is_some_and(Ordering::is_ge),
        Bound::Excluded(low) => scalar.compare(low.as_ref()).is_some_and(Ordering::is_gt),
    }
}

fn is_below(scalar: ScalarRef<'_>, high: &Bound<Scalar>) -> bool {
    match high {
        Bound::Unbounded => true,
        Bound::Included(high) => scalar.compare(high.as_ref()).is_some_and(Ordering::is_le),
        Bound::Excluded(high) => scalar.compare(high.as_ref()).is_some_and(Ordering::is_lt),
    }
}
