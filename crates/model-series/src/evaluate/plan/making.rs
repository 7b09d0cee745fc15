//! An answer in the making: stored points go in, in order and in pieces, slots come out. The one way from points to answers.

use super::{Plan, Way};
use crate::Layout;
use rasters::Conversion;
use rasters::{Making, Stretches, Walk, Whole};
use strands::is_absent;
use strands::{Columns, Flag, Part, Points, Summary, TimeRange};

/// An answer over a range, gaps unfilled. Memory: the answer; of the points that go in, a piece.
#[derive(Debug)]
pub(crate) struct AnswerMaking<'a> {
    plan: &'a Plan,
    span: TimeRange,
    made: Made<'a>,
    /// The last point that was taken for slots, as it lies in the strand.
    last: Option<(i64, f64, u8)>,
    /// Converted values of a piece.
    scratch: Vec<f64>,
}

/// What has been made so far.
#[derive(Debug)]
enum Made<'a> {
    /// Points on the answer's slots already, or on none.
    Points(Points),
    /// Slots.
    Slots(Box<Walk<'a>>),
}

impl Plan {
    /// An answer named by times of `range`, to be made of the stored points of [`Plan::times`] (and the one before, if it is
    /// wanted).
    pub(crate) fn making(&self, range: TimeRange) -> AnswerMaking<'_> {
        let span = self.answer.span(range);
        let made = match (self.way, self.answer.raster()) {
            (Way::Slots { how, amounts }, Some(raster)) => {
                let making = Making { source: &self.source, raster, how, amounts };
                Made::Slots(Box::new(Walk::new(making, span, Points::default())))
            }
            _ => Made::Points(Points::default()),
        };
        AnswerMaking { plan: self, span, made, last: None, scratch: Vec::new() }
    }

    /// What a block comes to in an answer over `span`; `None` if its points must be looked at.
    fn whole(&self, summary: &Summary, span: TimeRange) -> Option<Whole> {
        if !self.takes_summaries() {
            return None;
        }
        Whole::of(summary, &self.source, self.answer.raster()?, span)
    }
}

impl<'a> AnswerMaking<'a> {
    /// Whether a block's summary will do for its points. It hangs on the plan alone, not on what has been taken.
    pub(crate) fn takes_summary(&self) -> impl Fn(&Summary) -> bool + Sync + use<'a> {
        let (plan, span) = (self.plan, self.span);
        move |summary| plan.whole(summary, span).is_some()
    }

    /// Takes what follows, as it lies in the strand.
    pub(crate) fn take(&mut self, part: Part<'_>) {
        match (part, &mut self.made) {
            (Part::Summary(summary), Made::Slots(walk)) => {
                if let Some(whole) = self.plan.whole(summary, self.span) {
                    walk.whole(&whole.converted(&self.plan.before));
                }
            }
            // Nobody asks for summaries where points are listed.
            (Part::Summary(_), Made::Points(_)) => {}
            (Part::Block(_, columns) | Part::Stretch(columns), _) => self.take_columns(&columns),
        }
    }

    /// Takes the points that follow.
    pub(crate) fn take_points(&mut self, points: Points) {
        match &mut self.made {
            Made::Points(made) if made.is_empty() => *made = points,
            _ => self.take_columns(&points.columns()),
        }
    }

    /// The last point that was taken; known where [`Plan::wants_held`].
    pub(crate) fn last(&self) -> Option<(i64, f64, u8)> {
        self.last
    }

    fn take_columns(&mut self, columns: &Columns<'_>) {
        let last = columns.times.last().zip(columns.values.last()).zip(columns.flags.last());
        self.last = last.map(|((time, value), flag)| (*time, *value, *flag)).or(self.last);
        match &mut self.made {
            Made::Points(points) => points.extend_from_columns(columns),
            Made::Slots(walk) if self.plan.before.is_identity() => walk.points(columns),
            Made::Slots(walk) => {
                self.scratch.clear();
                self.scratch.extend_from_slice(columns.values);
                convert(&mut self.scratch, columns.times, &self.plan.source, self.plan.before);
                walk.points(&Columns { values: &self.scratch, ..*columns });
            }
        }
    }

    /// The answer, once all points are taken.
    pub(crate) fn finish(self) -> Points {
        let Plan { source, answer, before, after, way, .. } = self.plan;
        let mut points = match self.made {
            Made::Points(mut points) => {
                convert(&mut points.values, &points.times, source, *before);
                points
            }
            Made::Slots(walk) => {
                let mut points = walk.finish();
                convert(&mut points.values, &points.times, answer, *after);
                points
            }
        };
        if *way == Way::Count {
            count_each(&mut points);
        }
        points.settle();
        points
    }
}

/// Converts the values of points at `times`, each by the length of its slot if that matters.
fn convert(values: &mut [f64], times: &[i64], layout: &Layout, conversion: Conversion) {
    let by_slots = if conversion.is_by_hours() { Stretches::new(layout, times) } else { None };
    let Some(mut stretches) = by_slots else {
        return conversion.apply_all(values, rasters::HOUR);
    };
    for (position, value) in values.iter_mut().enumerate() {
        if let Some((slot, _)) = stretches.of(position) {
            *value = conversion.apply(*value, slot.to - slot.from);
        }
    }
}

/// Counts each point by itself, as [`crate::Aggregation::Count`] does those of a slot.
fn count_each(points: &mut Points) {
    for (value, flag) in points.values.iter_mut().zip(&mut points.flags) {
        (*value, *flag) = if is_absent(*flag) { (0.0, Flag::Missing.number()) } else { (1.0, *flag) };
    }
}
