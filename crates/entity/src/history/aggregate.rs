//! Aggregates over history: NGSI-LD 4.5.19.
//!
//! What each method makes of each type of value (4.5.19.1; where the standard leaves room, our choice):
//!
//! | | number | boolean | array | text, URI, date and time | object (geometry, languages, ...) |
//! |---|---|---|---|---|---|
//! | totalCount, distinctCount | all instances | | | | |
//! | sum, avg, min, max, stddev, sumsq | of the values | of 1 for true, 0 for false | of the numbers of elements | min, max: by code point | none |
//!
//! A bucket that holds texts has numbers for `min` and `max` if it holds any number, else the texts'. `stddev` is that of
//! the population (divided by the count, so that one value has 0). Removals are not counted.

mod buckets;
mod distinct;
mod tally;
mod run;

use store::Timestamp;

use crate::{Kind, TermId};

pub use buckets::{Buckets, Period};
pub use run::{Aggregation, Aggregator, kind_of_last};

/// What is computed of each bucket (NGSI-LD 4.5.19 `aggrMethods`).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum AggregateMethod {
    /// How many instances.
    TotalCount,
    /// How many different values.
    DistinctCount,
    /// The sum.
    Sum,
    /// The mean.
    Avg,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The standard deviation of the population.
    Stddev,
    /// The sum of squares.
    Sumsq,
}

/// Aggregates of one attribute and dataset: buckets that hold at least one instance, in order.
#[derive(Clone, Debug, Default)]
pub struct AggregateHistory {
    pub(crate) attribute: TermId,
    pub(crate) dataset: Option<Box<str>>,
    /// The kind of the newest value, if any was seen.
    pub kind: Option<Kind>,
    /// First instant of each bucket, and the first one behind it.
    pub buckets: Vec<(Timestamp, Timestamp)>,
    /// For each method asked for, in order, a value for each bucket.
    pub columns: Vec<Vec<StoredValue>>,
    pub(crate) texts: Vec<Box<str>>,
}

/// A value in a column.
#[derive(Clone, Copy, Debug)]
pub enum StoredValue {
    /// No value.
    None,
    /// A number of instances.
    Count(u64),
    /// A number.
    Number(f64),
    /// A text, by its index.
    Text(u32),
}

/// What a method makes of a bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AggregateValue<'a> {
    /// The method does not apply to what the bucket holds.
    None,
    /// A number of instances.
    Count(u64),
    /// A number.
    Number(f64),
    /// A value that is no number: canonical JSON text.
    Text(&'a str),
}

impl AggregateHistory {
    /// The attribute.
    pub fn attribute(&self) -> TermId {
        self.attribute
    }

    /// The datasetId; `None` for the default instance.
    pub fn dataset(&self) -> Option<&str> {
        self.dataset.as_deref()
    }

    /// What kind its newest value is of; a Property's where there are only removals.
    pub fn kind(&self) -> Kind {
        self.kind.unwrap_or(Kind::Property)
    }

    /// The buckets: first instant, and the first one behind.
    pub fn buckets(&self) -> &[(Timestamp, Timestamp)] {
        &self.buckets
    }

    /// What the method at place `method` of the request made of the bucket at place `bucket`.
    pub fn value(&self, method: usize, bucket: usize) -> AggregateValue<'_> {
        match self.columns.get(method).and_then(|column| column.get(bucket)) {
            None | Some(StoredValue::None) => AggregateValue::None,
            Some(StoredValue::Count(count)) => AggregateValue::Count(*count),
            Some(StoredValue::Number(number)) => AggregateValue::Number(*number),
            Some(StoredValue::Text(index)) => {
                AggregateValue::Text(self.texts.get(*index as usize).expect("the index of a text"))
            }
        }
    }
}
