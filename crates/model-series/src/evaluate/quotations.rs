//! Quotations: forecasts of different issue times put together to one series. Pure.

use strands::{Points, TimeRange};

/// Which quotations of a series are read.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Quotation {
    /// For each time the newest quotation that has a point.
    #[default]
    Latest,
    /// The quotation issued then, and no other.
    At(i64),
    /// For each time the newest quotation issued before then that has a point.
    LatestBefore(i64),
    /// For each time the newest quotation issued at least so many nanoseconds earlier that has a point.
    Before(i64),
}

impl Quotation {
    /// The times of `range` for which points of the quotation issued at `issue` may be taken.
    pub(crate) fn times(self, issue: i64, range: TimeRange) -> TimeRange {
        let is_wanted = match self {
            Self::Latest => true,
            Self::At(time) => issue == time,
            Self::LatestBefore(time) => issue < time,
            Self::Before(ahead) => {
                return TimeRange { from: range.from.max(issue.saturating_add(ahead)), to: range.to };
            }
        };
        if is_wanted { range } else { TimeRange { from: range.from, to: range.from } }
    }
}

/// Adds the points of an older quotation wherever `points` has none. Cost: O(points of both); appending alone where
/// they do not overlap.
pub(crate) fn merge_older(points: &mut Points, older: &Points) {
    match (points.times.last(), older.times.first()) {
        (_, None) => return,
        (None, _) => {
            points.clone_from(older);
            return;
        }
        (Some(last), Some(first)) if last < first => {
            points.times.extend_from_slice(&older.times);
            points.values.extend_from_slice(&older.values);
            points.flags.extend_from_slice(&older.flags);
            return;
        }
        _ => {}
    }
    let newer = std::mem::take(points);
    let mut olds = rows(older).peekable();
    for (time, value, flag) in rows(&newer) {
        while let Some((time, value, flag)) = olds.next_if(|(old, _, _)| *old < time) {
            points.push(time, value, flag);
        }
        olds.next_if(|(old, _, _)| *old == time);
        points.push(time, value, flag);
    }
    olds.for_each(|(time, value, flag)| points.push(time, value, flag));
}

fn rows(points: &Points) -> impl Iterator<Item = (i64, f64, u8)> {
    points
        .times
        .iter()
        .zip(points.values.iter().zip(&points.flags))
        .map(|(time, (value, flag))| (*time, *value, *flag))
}
