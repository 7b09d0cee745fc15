//! One step of a walk: which edges of a vertex it takes.

use graph::condition::Condition;
use graph::{EdgeDirection, LabelId};

use crate::Error;
use crate::filter::LabelFilter;
use crate::limits::{NO_LIMIT, check_capacity, check_degree, check_skip_degree, defaults};

/// Which way edges are taken.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Direction {
    /// From their source to their target.
    Out,
    /// From their target to their source.
    In,
    /// Either way: those that leave a vertex first, then those that enter it.
    #[default]
    Both,
}

impl Direction {
    /// The other way.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
            Self::Both => Self::Both,
        }
    }

    pub(crate) fn ways(self) -> &'static [EdgeDirection] {
        match self {
            Self::Out => &[EdgeDirection::Out],
            Self::In => &[EdgeDirection::In],
            Self::Both => &[EdgeDirection::Out, EdgeDirection::In],
        }
    }
}

/// An edge label as it is in the keys of edges.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StepLabel {
    /// The label; of a SUB label its parent.
    pub label: LabelId,
    /// The SUB label, if only its edges are wanted.
    pub sub_label: Option<LabelId>,
}

impl From<LabelId> for StepLabel {
    fn from(label: LabelId) -> Self {
        Self { label, sub_label: None }
    }
}

/// Which edges of a vertex a walk takes.
///
/// Of the edges in the direction, with one of the labels, the first `max_degree` are read, in the order of direction and key; of these it takes
/// those that the filters take. With a `skip_degree`, so many are read, and the first `max_degree` that the filters take are taken; a vertex
/// all of whose `skip_degree` edges they take has none: it is a hub, which would lead everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Which way.
    pub direction: Direction,
    /// Of these labels; empty: of all.
    pub labels: Vec<StepLabel>,
    /// An edge is taken by any of these; empty: all edges are taken.
    pub filters: Vec<LabelFilter>,
    /// So many of a vertex; -1: all.
    pub max_degree: i64,
    /// A vertex of so many has none; 0: none is skipped.
    pub skip_degree: i64,
}

impl Default for Step {
    fn default() -> Self {
        Self {
            direction: Direction::Both,
            labels: Vec::new(),
            filters: Vec::new(),
            max_degree: defaults::MAX_DEGREE,
            skip_degree: 0,
        }
    }
}

impl Step {
    /// A step of the default degree.
    pub fn new(direction: Direction, label: Option<StepLabel>) -> Self {
        Self { direction, labels: label.into_iter().collect(), ..Self::default() }
    }

    /// The same with another degree.
    #[must_use]
    pub fn with_degree(self, max_degree: i64) -> Self {
        Self { max_degree, ..self }
    }

    /// The same, which takes edges whose properties hold these conditions.
    #[must_use]
    pub fn with_conditions(mut self, conditions: Vec<Condition>) -> Self {
        if !conditions.is_empty() {
            self.filters.push(LabelFilter { label: None, conditions });
        }
        self
    }

    /// The same step, taken the other way.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { direction: self.direction.opposite(), ..self.clone() }
    }

    /// Refuses degrees that are none.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        self.check_within(NO_LIMIT)
    }

    /// The same of a walk of this capacity, which is checked, too.
    pub(crate) fn check_within(&self, capacity: i64) -> Result<(), Error> {
        check_degree(self.max_degree)?;
        check_capacity(capacity)?;
        check_skip_degree(self.skip_degree, self.max_degree, capacity)
    }
}
