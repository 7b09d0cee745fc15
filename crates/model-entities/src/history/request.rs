//! What is asked of a past.

use store::Timestamp;

use crate::TermId;

/// Which instances of an entity's past.
#[derive(Clone, Debug)]
pub struct HistoryRequest {
    /// Of which attributes.
    pub attributes: AttributeFilter,
    /// Only of these datasetIds (`None`: the default instance); empty: of all.
    pub datasets: Vec<Option<Box<str>>>,
    /// Which time is meant by `span`, and sorts.
    pub time: TimeProperty,
    /// When.
    pub span: TimeSpan,
    /// Only so many of each attribute and dataset: the last by `time`.
    pub last_n: Option<usize>,
    /// The most instances the answer holds, over all attributes. Beyond it the answer is cut to a part of the span: see
    /// [`crate::EntityHistory::covered`].
    pub instances_max: usize,
}

/// Attributes of a request (NGSI-LD `attrs`, `pick`, `omit`); names that are nowhere used are `None`.
#[derive(Clone, Debug, Default)]
pub enum AttributeFilter {
    /// All of them.
    #[default]
    All,
    /// These.
    Only(Vec<Option<TermId>>),
    /// All but these.
    Except(Vec<TermId>),
}

/// The time that a temporal query is about (NGSI-LD 4.11 `timeproperty`).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum TimeProperty {
    /// When the value was observed; instances that do not say are not found.
    #[default]
    ObservedAt,
    /// When the attribute's instance was first written.
    CreatedAt,
    /// When this state of it was written.
    ModifiedAt,
    /// When it was removed: finds only removals (which the other properties find by when they were written, too, except
    /// `ObservedAt` and `CreatedAt`, which never find them).
    DeletedAt,
}

/// Time from `from` (included) to `to` (excluded).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TimeSpan {
    /// The first instant.
    pub from: Timestamp,
    /// The first instant behind it.
    pub to: Timestamp,
}

impl AttributeFilter {
    /// Whether an attribute is asked for.
    pub fn wants(&self, name: TermId) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(&Some(name)),
            Self::Except(names) => !names.contains(&name),
        }
    }
}

impl TimeSpan {
    /// All of time.
    pub const ALL: Self = Self { from: Timestamp(i64::MIN), to: Timestamp(i64::MAX) };

    /// `timerel=before`: earlier than `at`.
    pub fn before(at: Timestamp) -> Self {
        Self { to: at, ..Self::ALL }
    }

    /// `timerel=after`: later than `at`.
    pub fn after(at: Timestamp) -> Self {
        Self { from: Timestamp(at.0.saturating_add(1)), ..Self::ALL }
    }

    /// `timerel=between`: from `at` on, before `end`.
    pub fn between(at: Timestamp, end: Timestamp) -> Self {
        Self { from: at, to: end }
    }

    /// Whether `time` lies inside.
    pub fn contains(&self, time: Timestamp) -> bool {
        self.from <= time && time < self.to
    }
}

impl HistoryRequest {
    /// All instances by `modifiedAt`, up to so many.
    pub fn all(instances_max: usize) -> Self {
        Self {
            attributes: AttributeFilter::All,
            datasets: Vec::new(),
            time: TimeProperty::ModifiedAt,
            span: TimeSpan::ALL,
            last_n: None,
            instances_max,
        }
    }

    /// Whether an attribute's instances of a dataset are asked for.
    pub(crate) fn wants(&self, attribute: TermId, dataset: Option<&str>) -> bool {
        self.attributes.wants(attribute)
            && (self.datasets.is_empty() || self.datasets.iter().any(|wanted| wanted.as_deref() == dataset))
    }
}
