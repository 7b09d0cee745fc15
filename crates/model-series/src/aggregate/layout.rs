//! How the points of a series lie in time, and which stretch of time each stands for.

use crate::calendar::Run;
use crate::{Alignment, Points, Raster, TimeRange};

/// How points lie in time.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Layout {
    /// One for each slot, at the slot's first instant.
    Begin(Raster),
    /// One for each slot, at the first instant after it.
    End(Raster),
    /// Anywhere; a value holds until the next point.
    Spontaneous,
}

impl Layout {
    /// Points of this alignment on a raster.
    pub fn new(alignment: Alignment, raster: Raster) -> Self {
        match alignment {
            Alignment::Begin => Self::Begin(raster),
            Alignment::End => Self::End(raster),
            Alignment::Spontaneous => Self::Spontaneous,
        }
    }

    /// The raster of periodic points.
    pub fn raster(&self) -> Option<&Raster> {
        match self {
            Self::Begin(raster) | Self::End(raster) => Some(raster),
            Self::Spontaneous => None,
        }
    }

    /// Which end of a slot a point names.
    pub fn alignment(&self) -> Alignment {
        match self {
            Self::Begin(_) => Alignment::Begin,
            Self::End(_) => Alignment::End,
            Self::Spontaneous => Alignment::Spontaneous,
        }
    }

    /// The layout of these points once they are brought to `raster`: what holds is then told slot by slot.
    pub fn on(&self, raster: Raster) -> Self {
        match self {
            Self::Begin(_) | Self::Spontaneous => Self::Begin(raster),
            Self::End(_) => Self::End(raster),
        }
    }

    /// Checks that times fit. Cost: see [`Raster::check`].
    ///
    /// # Errors
    ///
    /// The position of the first point off the raster.
    pub fn check(&self, times: &[i64]) -> Result<(), usize> {
        self.raster().map_or(Ok(()), |raster| raster.check(times))
    }

    /// The time that the slots named by times of `range` take up: whole slots.
    /// Spontaneous points: the range itself.
    pub fn span(&self, range: TimeRange) -> TimeRange {
        match self {
            Self::Begin(raster) => TimeRange { from: ceil(raster, range.from), to: ceil(raster, range.to) },
            Self::End(raster) => {
                let first = ceil(raster, range.from);
                let from = if first == i64::MIN { first } else { raster.previous(first) };
                let to = if range.to == i64::MAX { range.to } else { raster.previous(range.to) };
                TimeRange { from, to: to.max(from) }
            }
            Self::Spontaneous => range,
        }
    }

    /// The times of points that stand for some of `span`. A spontaneous value that holds from before is not among
    /// them: it is the last point before `span`.
    pub fn times(&self, span: TimeRange) -> TimeRange {
        if span.is_empty() {
            return TimeRange { from: span.from, to: span.from };
        }
        match self {
            Self::Begin(raster) if span.from > i64::MIN => {
                TimeRange { from: raster.floor(span.from), ..span }
            }
            Self::End(raster) => {
                TimeRange { from: span.from.saturating_add(1), to: ceil(raster, span.to).saturating_add(1) }
            }
            Self::Begin(_) | Self::Spontaneous => span,
        }
    }

    /// What periodic points from `first` to `last` stand for, from end to end, and each of them, in nanoseconds;
    /// `None` if not all that may lie between stand for stretches of one length.
    pub(crate) fn even_stretch(&self, first: i64, last: i64) -> Option<(TimeRange, i64)> {
        let (raster, first, last) = match self {
            Self::Begin(raster) => (raster, first, last),
            Self::End(raster) => (raster, first.saturating_sub(1), last.saturating_sub(1)),
            Self::Spontaneous => return None,
        };
        let run = raster.run_at(first, last);
        if first < run.from || run.to <= last {
            return None;
        }
        // Only the last slot of a run may be shorter than the others.
        let (begin, end) = (run.slot(first), run.slot(last));
        let stretch = TimeRange { from: begin.from, to: end.to };
        (end.to - end.from == run.step).then_some((stretch, run.step))
    }
}

/// [`Raster::ceil`], leaving the ends of time alone.
fn ceil(raster: &Raster, time: i64) -> i64 {
    if time == i64::MIN || time == i64::MAX { time } else { raster.ceil(time) }
}

/// The stretches that points stand for, asked in ascending order.
/// Cost: arithmetic; the raster is asked once a run.
#[derive(Debug)]
pub(crate) struct Stretches<'a> {
    layout: &'a Layout,
    times: &'a [i64],
    /// The time from which the last spontaneous value no longer holds.
    until: i64,
    run: Option<Run>,
}

impl<'a> Stretches<'a> {
    pub(crate) fn new(layout: &'a Layout, points: &'a Points, until: i64) -> Self {
        Self { layout, times: &points.times, until, run: None }
    }

    /// What the point at `position` stands for.
    pub(crate) fn of(&mut self, position: usize) -> TimeRange {
        let time = self.times.get(position).copied().unwrap_or(self.until);
        match self.layout {
            Layout::Begin(raster) => self.slot(raster, time),
            Layout::End(raster) => self.slot(raster, time.saturating_sub(1)),
            Layout::Spontaneous => {
                let to =
                    self.times.get(position + 1).copied().unwrap_or(self.until.max(time.saturating_add(1)));
                TimeRange { from: time, to }
            }
        }
    }

    fn slot(&mut self, raster: &Raster, time: i64) -> TimeRange {
        let last = self.times.last().copied().unwrap_or(time);
        let run = match self.run {
            Some(run) if run.from <= time && time < run.to => run,
            _ => *self.run.insert(raster.run_at(time, last)),
        };
        run.slot(time)
    }
}
