//! References to series: `[name, offset, unit, aggregation]`.

use std::fmt;

use crate::Offset;

/// A series as a formula sees it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Reference {
    /// The name of the series.
    pub name: Box<str>,
    /// The value of a slot is that of the slot this much later (negative: earlier).
    pub offset: Option<Offset>,
    /// The unit its values are converted to; its own if none is given.
    pub unit: Option<Box<str>>,
    /// How its values are put together on a coarser raster; by its unit's rule if none is given.
    pub aggregation: Option<Rule>,
}

/// How values of a finer raster are put together.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Rule {
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

impl Rule {
    /// All rules.
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

    /// The rule of a name, in any case.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = self.offset.map(|offset| offset.to_string());
        let unit = self.unit.as_deref().map(quoted);
        let fields = [offset.as_deref(), unit.as_deref(), self.aggregation.map(Rule::name)];
        let count = fields.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        write!(f, "[{}", quoted(&self.name))?;
        for field in fields.iter().take(count) {
            f.write_str(",")?;
            if let Some(field) = field {
                write!(f, " {field}")?;
            }
        }
        f.write_str("]")
    }
}

/// The text as it stands between brackets: in quotes if it needs them.
fn quoted(text: &str) -> String {
    let is_plain = !text.contains([',', '[', ']', '"']) && text.trim() == text && !text.is_empty();
    if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}
