//! How the values of a slot become one.

/// What is made of the values of a slot.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Aggregation {
    /// `SUM`: added up.
    Sum,
    /// `AVG`: the arithmetic mean.
    Average,
    /// `MIN`: the smallest.
    Minimum,
    /// `MAX`: the largest.
    Maximum,
    /// `FIRST`: the earliest.
    First,
    /// `LAST`: the latest.
    Last,
    /// `COUNT`: how many there are.
    Count,
    /// `TWA`: the mean weighted by time.
    TimeWeightedMean,
}

impl Aggregation {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Sum,
        Self::Average,
        Self::Minimum,
        Self::Maximum,
        Self::First,
        Self::Last,
        Self::Count,
        Self::TimeWeightedMean,
    ];

    /// Its name; names are read in any case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "SUM",
            Self::Average => "AVG",
            Self::Minimum => "MIN",
            Self::Maximum => "MAX",
            Self::First => "FIRST",
            Self::Last => "LAST",
            Self::Count => "COUNT",
            Self::TimeWeightedMean => "TWA",
        }
    }

    /// The aggregation of a name, in any case.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(name))
    }
}
