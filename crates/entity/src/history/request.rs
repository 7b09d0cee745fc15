//! What is asked of a history.

use store::Timestamp;

use crate::TermId;

/// Which instances of an entity's history.
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
    /// All of them, and the scopes, which are one by the name [`TermId::SCOPE`].
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
    /// `ObservedAt` and `CreatedAt`, which never find them, but for `ObservedAt` those of scopes).
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

    /// `timerel=after`: `at` and later.
    pub fn after(at: Timestamp) -> Self {
        Self { from: at, ..Self::ALL }
    }

    /// `timerel=between`: from `at` on, before `end`.
    pub fn between(at: Timestamp, end: Timestamp) -> Self {
        Self { from: at, to: end }
    }

    /// Whether `time` lies inside.
    pub fn contains(&self, time: Timestamp) -> bool {
        self.from <= time && time < self.to
    }

    /// The earliest part of the span that holds no more than `most` of `times`, all of which lie in the span; `None` if that
    /// is all of them. Instances of the same time are in the same part. It reaches beyond the first instant of the span, which may be the
    /// last one of the part before: so whoever asks part by part gets on, and a part may hold more than `most`.
    ///
    /// Cost: linear in the times, whose order it changes.
    pub fn earliest(self, times: &mut [Timestamp], most: usize) -> Option<Self> {
        if times.len() <= most {
            return None;
        }
        let (earlier, edge, later) = times.select_nth_unstable(most);
        let edge = *edge;
        let to = if earlier.iter().any(|time| self.from < *time && *time < edge) {
            edge
        } else if edge > self.from {
            next(edge)
        } else {
            next(later.iter().copied().filter(|time| *time > edge).min()?)
        };
        let is_less = times.iter().any(|time| *time >= to);
        is_less.then_some(Self { to, ..self })
    }

    /// The latest part of the span that holds no more than `most` of `times`, as [`Self::earliest`]; at least one instant is
    /// in it.
    pub fn latest(self, times: &mut [Timestamp], most: usize) -> Option<Self> {
        let beyond = times.len().checked_sub(most)?.checked_sub(1)?;
        let (_, edge, later) = times.select_nth_unstable(beyond);
        let edge = *edge;
        let from = if later.iter().any(|time| *time > edge) { next(edge) } else { edge };
        let is_less = times.iter().any(|time| *time < from);
        is_less.then_some(Self { from, ..self })
    }
}

fn next(time: Timestamp) -> Timestamp {
    Timestamp(time.0.saturating_add(1))
}

impl HistoryRequest {
    /// The part of the span that an answer may hold of instances of these `times`, which it changes the order of: the earliest,
    /// or for `last_n` the latest. `None`: all of it.
    pub fn part(&self, times: &mut [Timestamp]) -> Option<TimeSpan> {
        match self.last_n {
            Some(_) => self.span.latest(times, self.instances_max),
            None => self.span.earliest(times, self.instances_max),
        }
    }

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
    pub fn wants(&self, attribute: TermId, dataset: Option<&str>) -> bool {
        // Scopes are of no dataset.
        self.attributes.wants(attribute)
            && (self.datasets.is_empty()
                || attribute == TermId::SCOPE
                || self.datasets.iter().any(|wanted| wanted.as_deref() == dataset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of the span from 0 to 100.
    #[track_caller]
    fn check(times: &[i64], instances_max: usize, last_n: Option<usize>, expected: Option<(i64, i64)>) {
        let span = TimeSpan { from: Timestamp(0), to: Timestamp(100) };
        let request = HistoryRequest { span, last_n, ..HistoryRequest::all(instances_max) };
        let mut times: Vec<_> = times.iter().copied().map(Timestamp).collect();
        let found = request.part(&mut times).map(|part| (part.from.0, part.to.0));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_part_holds_no_more_than_the_limit() {
        check(&[5, 1, 3], 3, None, None);
        check(&[5, 1, 3], 2, None, Some((0, 5)));
        check(&[5, 1, 3], 2, Some(9), Some((2, 100)));
        check(&[5, 1, 3, 3], 2, None, Some((0, 3)));
        check(&[5, 3, 3, 1], 2, Some(9), Some((4, 100)));
        check(&[], 2, None, None);
    }

    #[test]
    fn a_part_holds_at_least_one_instant() {
        check(&[3, 3, 3, 7], 2, None, Some((0, 4)));
        check(&[3, 3, 3], 2, None, None);
        check(&[3, 7, 7, 7], 2, Some(9), Some((7, 100)));
        check(&[7, 7, 7], 2, Some(9), None);
    }

    #[test]
    fn a_part_reaches_beyond_the_first_instant_of_the_span() {
        check(&[0, 0, 1, 2], 2, None, Some((0, 2)));
        check(&[0, 0, 0, 1, 1, 2], 2, None, Some((0, 2)));
        check(&[0, 0, 0, 0, 5], 2, None, None);
        check(&[0, 0, 0], 2, None, None);
    }
}
