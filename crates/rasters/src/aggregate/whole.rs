//! Blocks that count whole: their summary stands for their points.

use super::Layout;
use crate::{Conversion, Raster};
use lang_formula::Aggregation;
use strands::{Summary, TimeRange};

/// A block of periodic points inside one slot of a target, each of which stands for a stretch of one length.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// What its points stand for, from end to end.
    pub(super) stretch: TimeRange,
    /// What each of them stands for, in nanoseconds.
    pub(super) length: i64,
    /// Points, and points with a value.
    pub(super) count: u32,
    pub(super) values: u32,
    pub(super) sum: f64,
    pub(super) min: f64,
    pub(super) max: f64,
    /// The worst flag, without [`crate::ABSENT`].
    pub(super) worst: u8,
}

impl Whole {
    /// What a block comes to whose points lie as `source` says, inside one slot of `target` that lies in `span`.
    /// `None` where its points must be looked at. Cost: two look-ups in calendars, some 100 ns.
    pub fn of(summary: &Summary, source: &Layout, target: &Raster, span: TimeRange) -> Option<Self> {
        let (stretch, length) = source.even_stretch(summary.first, summary.last)?;
        let slot = target.slot(stretch.from);
        let is_inside = stretch.to <= slot.to && span.from <= slot.from && slot.to <= span.to;
        // Sums that were too large for a number may not be in another order.
        (is_inside && summary.sum.is_finite()).then_some(Self {
            stretch,
            length,
            count: summary.count,
            values: summary.values,
            sum: summary.sum,
            min: summary.min,
            max: summary.max,
            worst: summary.flag_max,
        })
    }

    /// Whether the summaries of blocks say what an aggregation comes to.
    pub fn serves(how: Aggregation) -> bool {
        !matches!(how, Aggregation::First | Aggregation::Last)
    }

    /// The same in another unit: the conversion must be linear.
    pub fn converted(self, conversion: &Conversion) -> Self {
        let of = |value: f64| conversion.apply(value, self.length);
        let (one, other) = (of(self.min), of(self.max));
        Self { sum: of(self.sum), min: one.min(other), max: one.max(other), ..self }
    }
}
