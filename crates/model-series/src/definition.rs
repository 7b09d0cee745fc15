//! What a series is: its definition, drafts and changes of one, and how clients call it.

use std::sync::Arc;

use lang_formula::Duration;
use store::Timestamp;

use crate::{Alignment, Attribute, Interval, Layout, Raster, Zone};
use strands::TimeRange;

/// A series by what a client calls it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SeriesRef<'a> {
    /// By name.
    Name(&'a str),
    /// By number.
    Id(u32),
}

impl std::fmt::Display for SeriesRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Id(number) => write!(f, "{number}"),
        }
    }
}

/// A series, as it is stored. Shared: thousands of requests read one.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its ID: chosen when it is defined, never changed.
    pub number: u32,
    /// Unique in its repository.
    pub name: Box<str>,
    /// What its points' times mean.
    pub alignment: Alignment,
    /// How far apart its points are; none if it is spontaneous, or takes points at any time.
    pub interval: Option<Interval>,
    /// When its days begin, in seconds after midnight of its zone.
    pub day_start_seconds: u32,
    /// The unit of its values, by name.
    pub unit: Option<Box<str>>,
    /// For people.
    pub description: Box<str>,
    /// The zone whose calendar its raster follows.
    pub zone: Zone,
    /// If it is computed from others when read, and holds nothing itself.
    pub formula: Option<DefinedFormula>,
    /// What is kept, and how.
    pub switches: Switches,
    /// How long points are kept; for ever if none is given.
    pub retention: Option<Duration>,
    /// What else is said of it.
    pub attributes: Vec<Attribute>,
    /// When it was defined.
    pub created: Timestamp,
    /// When its definition was last changed.
    pub changed: Timestamp,
    /// Made of interval, zone and beginning of days; none without an interval.
    pub raster: Option<Raster>,
}

impl Definition {
    /// How its points lie in time.
    pub fn layout(&self) -> Layout {
        self.raster.clone().map_or(Layout::Spontaneous, |raster| Layout::new(self.alignment, raster))
    }

    /// The times of its points that a client means by `range`; see [`Layout::selected`].
    pub fn selected(&self, range: TimeRange) -> TimeRange {
        self.layout().selected(range)
    }
}

/// What is kept of a series, and how.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Switches {
    /// Blocks are packed. Changing it affects later writes and folds.
    pub compression: bool,
    /// Every write is kept, for as-of reads. Can be switched on only while the series holds nothing.
    pub audit: bool,
    /// Every point belongs to a quotation (a forecast of some issue time). Fixed while the series holds anything.
    pub quotation: bool,
}

impl Default for Switches {
    /// Packed, not audited, no quotations.
    fn default() -> Self {
        Self { compression: true, audit: false, quotation: false }
    }
}

/// A formula as text and tree; clones share.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinedFormula {
    /// As it was given (with the present names of the series it refers to).
    pub text: Arc<str>,
    /// What it says.
    pub tree: Arc<lang_formula::Formula>,
}

/// A series to be defined.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinitionDraft {
    /// Unique in the repository: 1 to [`crate::NAME_BYTES_MAX`] bytes, no control characters.
    pub name: Box<str>,
    /// What its points' times mean.
    pub alignment: Alignment,
    /// How far apart its points are; spontaneous series have none, others one.
    pub interval: Option<Interval>,
    /// When its days begin, in seconds after midnight of its zone.
    pub day_start_seconds: u32,
    /// A unit of the repository.
    pub unit: Option<Box<str>>,
    /// For people.
    pub description: Box<str>,
    /// The zone of its calendar; UTC if none is given.
    pub zone: Option<Zone>,
    /// The text of a formula, if it is computed.
    pub formula: Option<Box<str>>,
    /// What is kept, and how.
    pub switches: Switches,
    /// How long points are kept.
    pub retention: Option<Duration>,
    /// Attributes; their types must be known.
    pub attributes: Vec<Attribute>,
}

impl DefinitionDraft {
    /// The least that makes a series: the rest is as it is when nobody says anything.
    pub fn new(name: &str, alignment: Alignment, interval: Option<Interval>) -> Self {
        Self {
            name: name.into(),
            alignment,
            interval,
            day_start_seconds: 0,
            unit: None,
            description: "".into(),
            zone: None,
            formula: None,
            switches: Switches::default(),
            retention: None,
            attributes: Vec::new(),
        }
    }
}

/// What is to be different; `None` leaves it as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DefinitionChange {
    /// Renames the series; its number and points stay, and formulas that refer to it follow.
    pub name: Option<Box<str>>,
    /// Only while the series holds nothing.
    pub alignment: Option<Alignment>,
    /// Only while the series holds nothing.
    pub interval: Option<Option<Interval>>,
    /// Only while the series holds nothing.
    pub day_start_seconds: Option<u32>,
    /// Another unit (values stay as they are), or none.
    pub unit: Option<Option<Box<str>>>,
    /// Another text.
    pub description: Option<Box<str>>,
    /// Only while the series holds nothing.
    pub zone: Option<Zone>,
    /// Another formula; a first one only while the series holds nothing. `Some(None)`: no formula any more.
    pub formula: Option<Option<Box<str>>>,
    /// Affects later writes and folds.
    pub compression: Option<bool>,
    /// On only while the series holds nothing; off at any time.
    pub audit: Option<bool>,
    /// Only while the series holds nothing.
    pub quotation: Option<bool>,
    /// Another time to keep points for, or for ever.
    pub retention: Option<Option<Duration>>,
    /// All attributes that it is to have.
    pub attributes: Option<Vec<Attribute>>,
}

impl Definition {
    /// Whether it is computed from others.
    pub fn is_computed(&self) -> bool {
        self.formula.is_some()
    }

    /// The attributes that hold at `time` (nanoseconds); all, whenever they hold, for `None`.
    pub(crate) fn attributes_at(&self, time: Option<i64>) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(move |attribute| time.is_none_or(|time| attribute.holds_at(time)))
    }
}
