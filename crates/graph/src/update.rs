//! Changes of properties: appended, eliminated, merged by strategies, aggregated.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use crate::schema::{AggregateType, Schema};
use crate::{
    Cardinality, DataType, Malformed, Properties, PropertiesBuilder, PropertiesRef, PropertyKeyId, Scalar,
    Value, ValueRef,
};

/// What becomes of a stored value and a given one.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum UpdateStrategy {
    /// Their sum: of numbers.
    Sum,
    /// The greater one: of numbers and dates.
    Bigger,
    /// The lesser one: of numbers and dates.
    Smaller,
    /// All of both: of sets.
    Union,
    /// What is in both: of sets.
    Intersection,
    /// The given ones behind the stored ones: of sets and lists.
    Append,
    /// The stored ones without the given ones: of sets and lists.
    Eliminate,
    /// The given one.
    Override,
}

/// Why properties are not changed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UpdateError {
    /// A strategy that does not go with the type of a property.
    #[error("Property type must be {needed} for strategy {strategy}, but got type {got}")]
    Strategy {
        /// What it goes with.
        needed: &'static str,
        /// The strategy.
        strategy: &'static str,
        /// The type of the property.
        got: Box<str>,
    },
    /// A sum that no value of the type can be.
    #[error("the sum of property '{0}' leaves the range of its type")]
    Overflow(Box<str>),
    /// Stored bytes are damaged.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

impl UpdateStrategy {
    /// All, in the order of the documentation.
    pub const ALL: [Self; 8] = [
        Self::Sum,
        Self::Bigger,
        Self::Smaller,
        Self::Union,
        Self::Intersection,
        Self::Append,
        Self::Eliminate,
        Self::Override,
    ];

    /// Its name in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "SUM",
            Self::Bigger => "BIGGER",
            Self::Smaller => "SMALLER",
            Self::Union => "UNION",
            Self::Intersection => "INTERSECTION",
            Self::Append => "APPEND",
            Self::Eliminate => "ELIMINATE",
            Self::Override => "OVERRIDE",
        }
    }

    /// The one of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|strategy| strategy.name() == name)
    }

    /// Refuses a property with which it does not go.
    ///
    /// # Errors
    ///
    /// [`UpdateError::Strategy`].
    pub fn check(self, data_type: DataType, cardinality: Cardinality) -> Result<(), UpdateError> {
        let is_single = cardinality == Cardinality::Single;
        let (fits, needed) = match self {
            Self::Sum => (is_single && data_type.is_number(), "Number"),
            Self::Bigger | Self::Smaller => {
                (is_single && (data_type.is_number() || data_type == DataType::Date), "Date or Number")
            }
            Self::Union | Self::Intersection => (cardinality == Cardinality::Set, "Set"),
            Self::Append | Self::Eliminate => (!is_single, "Set or List"),
            Self::Override => (true, "any"),
        };
        let refusal = || UpdateError::Strategy {
            needed,
            strategy: self.name(),
            got: match is_single {
                true => data_type.name().into(),
                false => format!("{cardinality} of {data_type}").into(),
            },
        };
        if fits { Ok(()) } else { Err(refusal()) }
    }

    fn apply(self, name: &str, stored: Value, given: Value) -> Result<Value, UpdateError> {
        Ok(match (self, stored, given) {
            (Self::Sum, Value::One(one), Value::One(two)) => Value::One(sum(name, &one, &two)?),
            (Self::Bigger, Value::One(one), Value::One(two)) => {
                Value::One(greater(one, two, Ordering::Greater))
            }
            (Self::Smaller, Value::One(one), Value::One(two)) => {
                Value::One(greater(one, two, Ordering::Less))
            }
            (Self::Union, Value::Many(one), Value::Many(two)) => Value::Many(united(one, two)),
            (Self::Intersection, Value::Many(one), Value::Many(two)) => {
                let wanted = identities(&two);
                Value::Many(one.into_iter().filter(|it| wanted.contains(&it.as_ref().identity())).collect())
            }
            (Self::Append, Value::Many(mut one), Value::Many(two)) => {
                one.extend(two);
                Value::Many(one)
            }
            (Self::Eliminate, Value::Many(one), Value::Many(two)) => {
                let gone = identities(&two);
                Value::Many(one.into_iter().filter(|it| !gone.contains(&it.as_ref().identity())).collect())
            }
            (_, _, given) => given,
        })
    }
}

/// How properties of elements change.
#[derive(Clone, Copy, Debug)]
pub struct Updates<'a> {
    /// Whose property keys they are.
    pub schema: &'a Schema,
}

impl Updates<'_> {
    /// Given properties over stored ones: one value in place of the stored one, several beside the stored ones; the rest stays. Cost:
    /// linear in both.
    ///
    /// # Errors
    ///
    /// [`UpdateError`].
    pub fn append(
        &self,
        stored: PropertiesRef<'_>,
        given: PropertiesRef<'_>,
    ) -> Result<Properties, UpdateError> {
        let mut becomes = self.builder_of(stored)?;
        for property in given.iter() {
            let (key, value) = property?;
            match (stored.get(key)?, value) {
                (Some(ValueRef::Many(_)), ValueRef::Many(_)) => {
                    let (one, two) =
                        (stored.get(key)?.expect("it was just read").to_value(), value.to_value());
                    let is_set = self.cardinality(key) == Cardinality::Set;
                    let strategy = if is_set { UpdateStrategy::Union } else { UpdateStrategy::Append };
                    becomes.put(key, value.data_type(), &strategy.apply("", one, two)?);
                }
                _ => becomes.put_ref(key, value),
            }
        }
        Ok(becomes.finish())
    }

    /// Stored properties without those of some keys. Cost: linear.
    ///
    /// # Errors
    ///
    /// [`Malformed`].
    pub fn eliminate(
        &self,
        stored: PropertiesRef<'_>,
        keys: &[PropertyKeyId],
    ) -> Result<Properties, Malformed> {
        let mut becomes = PropertiesBuilder::default();
        for property in stored.iter() {
            let (key, value) = property?;
            if !keys.contains(&key) {
                becomes.put_ref(key, value);
            }
        }
        Ok(becomes.finish())
    }

    /// Given properties in place of stored ones: those of a strategy merged by it, and kept where none is given. Cost: linear in both.
    ///
    /// # Errors
    ///
    /// [`UpdateError`].
    pub fn merge(
        &self,
        stored: PropertiesRef<'_>,
        given: PropertiesRef<'_>,
        strategies: &BTreeMap<PropertyKeyId, UpdateStrategy>,
    ) -> Result<Properties, UpdateError> {
        let mut becomes = self.builder_of(given)?;
        for (key, strategy) in strategies {
            let Some(one) = stored.get(*key)? else { continue };
            match given.get(*key)? {
                None => becomes.put_ref(*key, one),
                Some(two) => {
                    let (data_type, name) = (two.data_type(), self.name(*key));
                    strategy.check(data_type, self.cardinality(*key))?;
                    becomes.put(*key, data_type, &strategy.apply(&name, one.to_value(), two.to_value())?);
                }
            }
        }
        self.keep_computed(&mut becomes, stored, given)?;
        Ok(becomes.finish())
    }

    /// Given properties that replace stored ones, aggregated where their keys say so. Cost: linear in both.
    ///
    /// # Errors
    ///
    /// [`UpdateError`].
    pub fn aggregate(
        &self,
        stored: PropertiesRef<'_>,
        given: PropertiesRef<'_>,
    ) -> Result<Properties, UpdateError> {
        let mut becomes = PropertiesBuilder::default();
        for property in given.iter() {
            let (key, two) = property?;
            let aggregate =
                self.schema.property_key(key).map_or(AggregateType::None, |key| key.aggregate_type);
            let strategy = match aggregate {
                AggregateType::None => None,
                AggregateType::Max => Some(UpdateStrategy::Bigger),
                AggregateType::Min => Some(UpdateStrategy::Smaller),
                AggregateType::Sum => Some(UpdateStrategy::Sum),
                AggregateType::Set => Some(UpdateStrategy::Union),
                AggregateType::List => Some(UpdateStrategy::Append),
                AggregateType::Old => {
                    becomes.put_ref(key, stored.get(key)?.unwrap_or(two));
                    continue;
                }
            };
            match (strategy, stored.get(key)?) {
                (Some(strategy), Some(one)) => {
                    let value = strategy.apply(&self.name(key), one.to_value(), two.to_value())?;
                    becomes.put(key, two.data_type(), &value);
                }
                _ => becomes.put_ref(key, two),
            }
        }
        self.keep_computed(&mut becomes, stored, given)?;
        Ok(becomes.finish())
    }

    /// Adds stored values that computations wrote, where none are given: who writes an element does not know of them.
    fn keep_computed(
        &self,
        becomes: &mut PropertiesBuilder,
        stored: PropertiesRef<'_>,
        given: PropertiesRef<'_>,
    ) -> Result<(), Malformed> {
        if !self.schema.has_olap() {
            return Ok(());
        }
        for property in stored.iter() {
            let (key, value) = property?;
            let is_computed = self.schema.property_key(key).is_some_and(|key| key.write_type.is_olap());
            if is_computed && given.get(key)?.is_none() {
                becomes.put_ref(key, value);
            }
        }
        Ok(())
    }

    fn builder_of(&self, properties: PropertiesRef<'_>) -> Result<PropertiesBuilder, Malformed> {
        let mut builder = PropertiesBuilder::default();
        for property in properties.iter() {
            let (key, value) = property?;
            builder.put_ref(key, value);
        }
        Ok(builder)
    }

    fn cardinality(&self, key: PropertyKeyId) -> Cardinality {
        self.schema.property_key(key).map_or(Cardinality::Single, |key| key.cardinality)
    }

    fn name(&self, key: PropertyKeyId) -> Box<str> {
        self.schema.property_key(key).map_or_else(|| key.to_string().into(), |key| (*key.name).into())
    }
}

/// All of both, each once, in their order.
fn united(one: Vec<Scalar>, two: Vec<Scalar>) -> Vec<Scalar> {
    let (mut all, mut taken) = (one, HashSet::new());
    taken.extend(all.iter().map(|it| it.as_ref().identity()));
    all.extend(two.into_iter().filter(|it| taken.insert(it.as_ref().identity())));
    all
}

/// By which these values are found.
fn identities(values: &[Scalar]) -> HashSet<Box<[u8]>> {
    values.iter().map(|it| it.as_ref().identity()).collect()
}

/// The one that compares to the other as `wanted`; the given one where they do not.
fn greater(stored: Scalar, given: Scalar, wanted: Ordering) -> Scalar {
    if stored.as_ref().compare(given.as_ref()) == Some(wanted) { stored } else { given }
}

fn sum(name: &str, one: &Scalar, two: &Scalar) -> Result<Scalar, UpdateError> {
    let overflow = || UpdateError::Overflow(name.into());
    Ok(match (one, two) {
        (Scalar::Byte(one), Scalar::Byte(two)) => Scalar::Byte(one.checked_add(*two).ok_or_else(overflow)?),
        (Scalar::Int(one), Scalar::Int(two)) => Scalar::Int(one.checked_add(*two).ok_or_else(overflow)?),
        (Scalar::Long(one), Scalar::Long(two)) => Scalar::Long(one.checked_add(*two).ok_or_else(overflow)?),
        (Scalar::Float(one), Scalar::Float(two)) => Scalar::Float(one + two),
        (Scalar::Double(one), Scalar::Double(two)) => Scalar::Double(one + two),
        (_, given) => given.clone(),
    })
}
