//! The fast way: points at one step without a gap, put together in groups of one size. Straight loops over columns.

use crate::calendar::is_evenly_spaced;
use lang_formula::Aggregation;
use strands::is_absent;
use strands::{Columns, Points};

/// Fewer points are not worth finding out that they are dense.
pub(super) const POINTS_MIN: usize = 16;

/// More are put together in pieces, so that a gap is not found after going through all of a long series.
const POINTS_MAX: usize = 4_096;

/// Points that lie densely in whole groups.
#[derive(Debug)]
pub(super) struct Chunk<'a> {
    values: &'a [f64],
    flags: &'a [u8],
    group: usize,
}

impl<'a> Chunk<'a> {
    /// The points from `position` on, in at most `groups_max` groups of `group`, if they all have values and follow
    /// each other at `step`. If not all do, fewer are tried.
    pub(super) fn find(
        points: &Columns<'a>,
        position: usize,
        step: i64,
        group: i64,
        groups_max: i64,
    ) -> Option<Self> {
        let group = usize::try_from(group).ok()?;
        let left = points.len().saturating_sub(position) / group;
        let most = left.min((POINTS_MAX / group).max(1));
        let mut groups = usize::try_from(groups_max).ok()?.min(most);
        while groups * group >= POINTS_MIN {
            let range = position..position + groups * group;
            let (times, flags) = (points.times.get(range.clone())?, points.flags.get(range.clone())?);
            let has_all_values = !is_absent(flags.iter().fold(0, |all, flag| all | flag));
            if has_all_values && is_span_of(times, step) && is_evenly_spaced(times, step) {
                return Some(Self { values: points.values.get(range)?, flags, group });
            }
            groups /= 8;
        }
        None
    }

    pub(super) fn points(&self) -> usize {
        self.values.len()
    }

    /// Appends one point for each group, the first at `time`, each `step` after the one before.
    pub(super) fn put_together(&self, how: Aggregation, time: i64, step: i64, out: &mut Points) {
        let groups = self.values.len() / self.group;
        let mut at = time;
        out.times.extend((0..groups).map(|_| {
            let time = at;
            at = at.wrapping_add(step);
            time
        }));
        // Groups of the commonest size are summed without a loop inside the loop.
        match self.group {
            4 => self.put_values(how, self.values.as_chunks::<4>().0.iter(), &mut out.values),
            _ => self.put_values(how, self.values.chunks_exact(self.group), &mut out.values),
        }
        self.put_flags(groups, &mut out.flags);
    }

    fn put_values<G: AsRef<[f64]>>(
        &self,
        how: Aggregation,
        groups: impl Iterator<Item = G>,
        out: &mut Vec<f64>,
    ) {
        let count = count(self.group);
        let sum = |group: G| group.as_ref().iter().sum::<f64>();
        match how {
            Aggregation::Sum => out.extend(groups.map(sum)),
            Aggregation::Average | Aggregation::TimeWeightedMean => {
                // Values near the end of all numbers have a mean though no sum.
                let small = |group: &[f64]| group.iter().map(|value| value / count).sum::<f64>();
                out.extend(groups.map(|group| {
                    let group = group.as_ref();
                    let mean = group.iter().sum::<f64>() / count;
                    if mean.is_finite() { mean } else { small(group) }
                }));
            }
            Aggregation::Minimum => {
                out.extend(groups.map(|group| group.as_ref().iter().copied().fold(f64::INFINITY, f64::min)));
            }
            Aggregation::Maximum => {
                out.extend(
                    groups.map(|group| group.as_ref().iter().copied().fold(f64::NEG_INFINITY, f64::max)),
                );
            }
            Aggregation::First => out.extend(groups.filter_map(|group| group.as_ref().first().copied())),
            Aggregation::Last => out.extend(groups.filter_map(|group| group.as_ref().last().copied())),
            Aggregation::Count => out.extend(groups.map(|_| count)),
        }
    }

    fn put_flags(&self, groups: usize, out: &mut Vec<u8>) {
        let first = *self.flags.first().expect("a group has points");
        let is_uniform = self.flags.iter().fold(true, |all, flag| all & (*flag == first));
        if is_uniform {
            out.resize(out.len() + groups, first);
        } else {
            let worst = |group: &[u8]| group.iter().copied().fold(0, u8::max);
            out.extend(self.flags.chunks_exact(self.group).map(worst));
        }
    }
}

/// Whether the ends are as far apart as dense points would be: refuses most gaps at once.
fn is_span_of(times: &[i64], step: i64) -> bool {
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return false;
    };
    i64::try_from(times.len() - 1).is_ok_and(|steps| last - first == steps.saturating_mul(step))
}

#[expect(clippy::cast_precision_loss, reason = "a group is of fewer than 2^53 points")]
fn count(group: usize) -> f64 {
    group as f64
}
