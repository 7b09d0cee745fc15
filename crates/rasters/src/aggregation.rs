//! What is made of the values of a slot.

/// What is made of the values of a slot.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Aggregation {
    /// The values added up.
    Sum,
    /// Their arithmetic mean.
    Average,
    /// The smallest.
    Minimum,
    /// The largest.
    Maximum,
    /// The earliest.
    First,
    /// The latest.
    Last,
    /// How many there are.
    Count,
    /// Their mean, each weighted by the time it holds.
    TimeWeightedMean,
}
