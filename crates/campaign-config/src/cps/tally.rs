//! The operations of a flow, and how long each of them took.

use std::time::Duration;

use campaign::report::Operation;

/// One operation of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Creates the anchor.
    CreateAnchor,
    /// Creates its nodes.
    CreateNode,
    /// Replaces one of them.
    UpdateNode,
    /// Deletes the anchor with all its nodes.
    DeleteAnchor,
}

impl Step {
    /// All of them, in the order of a flow.
    pub const ALL: [Self; 4] = [Self::CreateAnchor, Self::CreateNode, Self::UpdateNode, Self::DeleteAnchor];

    /// Its published name.
    pub fn name(self) -> &'static str {
        match self {
            Self::CreateAnchor => "CREATE ANCHOR",
            Self::CreateNode => "CREATE NODE",
            Self::UpdateNode => "UPDATE NODE",
            Self::DeleteAnchor => "DELETE ANCHOR",
        }
    }
}

/// How often an operation was done, and how long it took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    count: u64,
    sum: Duration,
    min: Option<Duration>,
    max: Duration,
}

impl Tally {
    /// Counts one that took `took`.
    pub fn add(&mut self, took: Duration) {
        self.count += 1;
        self.sum += took;
        self.min = Some(self.min.map_or(took, |min| min.min(took)));
        self.max = self.max.max(took);
    }

    /// Adds those of another.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.into_iter().chain(other.min).min();
        self.max = self.max.max(other.max);
    }

    /// As a report has it.
    pub fn operation(&self, name: &str, published_mean_ms: Option<f64>) -> Operation {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        Operation {
            name: name.to_owned(),
            count: self.count,
            min_ms: ms(self.min.unwrap_or(Duration::ZERO)),
            mean_ms: if self.count == 0 { 0.0 } else { ms(self.sum) / self.count as f64 },
            max_ms: ms(self.max),
            median_ms: None,
            published_mean_ms,
        }
    }
}

/// A tally for each operation of a flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tallies {
    create_anchor: Tally,
    create_node: Tally,
    update_node: Tally,
    delete_anchor: Tally,
}

impl Tallies {
    /// That of `step`.
    pub fn of(&self, step: Step) -> &Tally {
        match step {
            Step::CreateAnchor => &self.create_anchor,
            Step::CreateNode => &self.create_node,
            Step::UpdateNode => &self.update_node,
            Step::DeleteAnchor => &self.delete_anchor,
        }
    }

    /// That of `step`, to be added to.
    pub fn of_mut(&mut self, step: Step) -> &mut Tally {
        match step {
            Step::CreateAnchor => &mut self.create_anchor,
            Step::CreateNode => &mut self.create_node,
            Step::UpdateNode => &mut self.update_node,
            Step::DeleteAnchor => &mut self.delete_anchor,
        }
    }

    /// Adds those of another.
    pub fn merge(&mut self, other: &Self) {
        Step::ALL.into_iter().for_each(|step| self.of_mut(step).merge(other.of(step)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_tallies_are_one() {
        let (mut one, mut other, mut both) = (Tallies::default(), Tallies::default(), Tallies::default());
        for (place, ms) in [3, 9, 1, 7].into_iter().enumerate() {
            let part = if place < 3 { &mut one } else { &mut other };
            for tallies in [part, &mut both] {
                tallies.of_mut(Step::UpdateNode).add(Duration::from_millis(ms));
            }
        }
        one.merge(&other);
        assert_eq!(one, both);
        let found = one.of(Step::UpdateNode).operation("UPDATE NODE", Some(70.5));
        assert_eq!((found.count, found.min_ms, found.mean_ms, found.max_ms), (4, 1.0, 5.0, 9.0));
        let none = one.of(Step::CreateNode).operation("CREATE NODE", None);
        assert_eq!((none.count, none.min_ms, none.mean_ms, none.max_ms), (0, 0.0, 0.0, 0.0));
    }
}
