//! Slots at one step, which are plain arithmetic.

use strands::TimeRange;

/// Slots at one step: they begin at `from`, `from + step`, ...; the last ends at `to`, and may be shorter.
///
/// Invariant: `from < to`, `step > 0`; `from` and `to` are boundaries of the raster.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Run {
    /// The first boundary.
    pub from: i64,
    /// The end of the last slot.
    pub to: i64,
    /// Nanoseconds from boundary to boundary.
    pub step: i64,
}

impl Run {
    /// The slot that `time`, inside the run, lies in.
    pub fn slot(&self, time: i64) -> TimeRange {
        let time = time.clamp(self.from, self.to - 1);
        let from = time - (time - self.from) % self.step;
        TimeRange { from, to: self.end_of(from) }
    }

    /// The end of the slot that begins at `start`.
    pub(crate) fn end_of(&self, start: i64) -> i64 {
        start.saturating_add(self.step).min(self.to)
    }

    /// The first boundary inside both the run and `range`, and how many there are.
    pub(crate) fn starts_within(&self, range: TimeRange) -> Option<(i64, i64)> {
        let missed = range.from.saturating_sub(self.from).max(0);
        let skipped = missed / self.step + i64::from(missed % self.step != 0);
        let first = self.from.checked_add(skipped.checked_mul(self.step)?)?;
        let end = self.to.min(range.to);
        (first < end).then(|| (first, (end - 1 - first) / self.step + 1))
    }

    /// How many of the ascending `times` lie before the end.
    pub(crate) fn points_inside(&self, times: &[i64]) -> usize {
        match times.last() {
            Some(last) if *last < self.to => times.len(),
            _ => times.partition_point(|time| *time < self.to),
        }
    }

    /// The position of the first of `times`, all inside the run, that is no boundary.
    pub(crate) fn position_off(&self, times: &[i64]) -> Option<usize> {
        let first = times.first()?;
        let is_boundary = |time: &i64| (time - self.from) % self.step == 0;
        let is_dense = is_boundary(first) && is_evenly_spaced(times, self.step);
        if is_dense { None } else { times.iter().position(|time| !is_boundary(time)) }
    }
}

/// Whether each of `times` is `step` after the one before. Cost: a third of a nanosecond a point.
pub(crate) fn is_evenly_spaced(times: &[i64], step: i64) -> bool {
    let later = times.get(1..).unwrap_or_default();
    // No early exit: the loop without one is made of wide instructions.
    times.iter().zip(later).fold(true, |all, (one, next)| all & (next.wrapping_sub(*one) == step))
}
