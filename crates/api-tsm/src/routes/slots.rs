//! How the points of an answer lie: in slots of the compact form, or as they are.

use model_series::{Answer, Definition, Interval, Points, Raster, TimeRange};

use crate::problem::Problem;
use crate::shapes::interval_text;
use crate::wire::{Form, on_raster};

/// The most slots of the compact form from the first point of a page to its last.
const COMPACT_SLOTS_MAX: u64 = 1_000_000;

/// How the points of an answer lie, and how far the compact form was laid out.
pub(super) struct Slots {
    answer: Answer,
    is_compact: bool,
    /// The slot behind the page before.
    next: Option<i64>,
}

impl Slots {
    pub(super) fn new(answer: Answer, form: Form) -> Self {
        Self { answer, is_compact: form == Form::Compact, next: None }
    }

    /// The raster of the answer, if it has one.
    pub(super) fn raster(&self) -> Option<&Raster> {
        self.answer.raster.as_ref()
    }

    /// Begins with the first page again.
    pub(super) fn rewind(&mut self) {
        self.next = None;
    }

    /// The unit of the values; empty if they have none.
    pub(super) fn unit(&self) -> &str {
        self.answer.unit.as_deref().unwrap_or_default()
    }

    /// What the raster counts, and how many of them a slot is.
    pub(super) fn interval(&self) -> Option<(&'static str, u32)> {
        let Interval { unit, multiplier } = self.raster()?.interval();
        Some((interval_text(unit), multiplier))
    }

    /// The points of a page as the form has them: the compact one has an entry for each slot between the first point
    /// and the last.
    pub(super) fn lay_out(&mut self, mut points: Points, series: &Definition) -> Result<Points, Problem> {
        points.settle();
        let (Some(first), Some(last)) = (points.times.first(), points.times.last()) else {
            return Ok(points);
        };
        if !self.is_compact {
            return Ok(points);
        }
        let off = || {
            let message = format!(
                "series {} has points off its raster: it cannot be given in compact form",
                series.name
            );
            Problem::bad_request(message).about(&*series.name)
        };
        let raster = self.raster().ok_or_else(off)?;
        let range = TimeRange { from: self.next.unwrap_or(*first), to: last.saturating_add(1) };
        if raster.count(range) > COMPACT_SLOTS_MAX {
            let message = format!(
                "series {} has a gap of more than {COMPACT_SLOTS_MAX} slots: it cannot be given in compact form",
                series.name
            );
            return Err(Problem::too_large(message).about(&*series.name));
        }
        let slots = raster.slots(range).map(|slot| slot.from);
        let filled = on_raster(&points, slots).ok_or_else(off)?;
        self.next = Some(raster.next(*last));
        Ok(filled)
    }
}
