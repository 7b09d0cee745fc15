//! Filling gaps: what is put in slots without a value.

use super::{Gaps, Layout};
use crate::Error;
use strands::is_absent;
use strands::{Flag, LimitExceeded, Points, TimeRange};

/// The most slots that a range may have to be filled.
pub const GAP_SLOTS_MAX: u64 = 4_000_000;

/// Values just outside a range, for gaps at its ends: time and value each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Neighbours {
    /// The last value before.
    pub before: Option<(i64, f64)>,
    /// The first value after.
    pub after: Option<(i64, f64)>,
}

/// Points of `range`, lying as `layout` says, with their gaps filled. Linear filling needs a value on both sides, else a
/// gap stays without one. Spontaneous points have no slots: only points without a value are filled.
/// An endless range ends with the last point. Cost: O(slots of the range); a few nanoseconds each.
///
/// # Errors
///
/// [`Error::Limit`] for more than [`GAP_SLOTS_MAX`] slots.
pub fn fill_gaps(
    points: Points,
    layout: &Layout,
    range: TimeRange,
    gaps: Gaps,
    neighbours: Neighbours,
) -> Result<Points, Error> {
    if gaps == Gaps::None {
        return Ok(points);
    }
    let mut points = with_all_slots(points, layout, range)?;
    match gaps {
        Gaps::None | Gaps::Null => {}
        Gaps::Previous => fill_previous(&mut points, neighbours.before),
        Gaps::Linear => fill_linear(&mut points, neighbours),
    }
    Ok(points)
}

fn with_all_slots(points: Points, layout: &Layout, range: TimeRange) -> Result<Points, Error> {
    let Some(raster) = layout.raster() else {
        return Ok(points);
    };
    let (first, last) = (points.times.first().copied(), points.times.last().copied());
    let from = if range.from == i64::MIN { first.unwrap_or(range.to) } else { range.from };
    let to =
        if range.to == i64::MAX { last.map_or(range.from, |last| last.saturating_add(1)) } else { range.to };
    let range = TimeRange { from, to };
    let count = raster.count(range);
    if count > GAP_SLOTS_MAX {
        let limit = LimitExceeded { name: "GAP_SLOTS_MAX", max: GAP_SLOTS_MAX, got: count };
        return Err(Error::Limit { what: "slots of a range to fill".into(), limit });
    }
    if usize::try_from(count).is_ok_and(|count| count == points.len()) {
        return Ok(points);
    }
    let mut names = Vec::new();
    raster.starts_into(range, &mut names);
    Ok(merged(&points, &names))
}

/// The points, and one without a value for each of `names` that has none.
fn merged(points: &Points, names: &[i64]) -> Points {
    let mut out = Points::default();
    let mut held = points.times.iter().zip(points.values.iter().zip(&points.flags)).peekable();
    for name in names {
        while let Some((time, (value, flag))) = held.next_if(|(time, _)| *time <= name) {
            out.push(*time, *value, *flag);
        }
        if out.times.last() != Some(name) {
            out.push(*name, 0.0, Flag::Missing.absent());
        }
    }
    for (time, (value, flag)) in held {
        out.push(*time, *value, *flag);
    }
    out
}

fn fill_previous(points: &mut Points, before: Option<(i64, f64)>) {
    let mut previous = before.map(|(_, value)| value);
    for (value, flag) in points.values.iter_mut().zip(&mut points.flags) {
        if !is_absent(*flag) {
            previous = Some(*value);
        } else if let Some(previous) = previous {
            (*value, *flag) = (previous, Flag::Interpolated.number());
        }
    }
}

fn fill_linear(points: &mut Points, neighbours: Neighbours) {
    let mut before = neighbours.before;
    let mut gap = 0;
    let count = points.len();
    for position in 0..=count {
        let here = value_at(points, position).or(neighbours.after.filter(|_| position == count));
        let Some((time, value)) = here else {
            continue;
        };
        if let Some(before) = before {
            fill_line(points, gap..position, before, (time, value));
        }
        (before, gap) = (Some((time, value)), position + 1);
    }
}

/// Time and value of the point at `position`, if there is one with a value.
fn value_at(points: &Points, position: usize) -> Option<(i64, f64)> {
    let flag = points.flags.get(position)?;
    if is_absent(*flag) { None } else { Some((*points.times.get(position)?, *points.values.get(position)?)) }
}

fn fill_line(points: &mut Points, gap: std::ops::Range<usize>, before: (i64, f64), after: (i64, f64)) {
    let slope = after.1 - before.1;
    let length = super::slot::weight(after.0.saturating_sub(before.0));
    let times = points.times.get(gap.clone()).expect("a gap of these points");
    let values = points.values.get_mut(gap.clone()).expect("a gap of these points");
    let flags = points.flags.get_mut(gap).expect("a gap of these points");
    for ((time, value), flag) in times.iter().zip(values).zip(flags) {
        let way = super::slot::weight(time.saturating_sub(before.0)) / length;
        let on_the_line = before.1 + slope * way;
        // Two values may be further apart than any number.
        let far = before.1 * (1.0 - way) + after.1 * way;
        *value = if slope.is_finite() { on_the_line } else { far };
        *flag = Flag::Interpolated.number();
    }
}
