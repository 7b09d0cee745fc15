//! How the points of a series lie in time, and which stretch of time each stands for.

use crate::calendar::Run;
use crate::{Alignment, Raster};
use strands::TimeRange;

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

    /// The layout of these points once they are brought to `raster`: what holds is then answered slot by slot.
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

    /// The times of the points that a client means by `range`. Of left-aligned points those are the slots that begin in it;
    /// of right-aligned ones the slots that lie in it, so that March is from its first midnight to that of April for both.
    /// A range that ends behind the calendar of its slots ends with it; one without end has none.
    pub fn selected(&self, range: TimeRange) -> TimeRange {
        let end = |raster: &Raster| if range.to == i64::MAX { range.to } else { range.to.min(raster.end()) };
        match self {
            Self::Begin(raster) if !range.is_empty() => {
                TimeRange { from: range.from, to: end(raster).max(range.from) }
            }
            Self::End(raster) if !range.is_empty() => {
                let from = ceil(raster, range.from);
                // Names of slots that begin at `from` or later are later still.
                let from = if from == i64::MIN { from } else { from.saturating_add(1) };
                TimeRange { from, to: end(raster).saturating_add(1).max(from) }
            }
            Self::Begin(_) | Self::End(_) | Self::Spontaneous => range,
        }
    }

    /// The times of points whose slots lie in `extent`, in part or whole.
    pub fn meeting(&self, extent: TimeRange) -> TimeRange {
        match self {
            Self::Begin(raster) => TimeRange { from: raster.floor(extent.from), to: extent.to },
            Self::End(raster) => {
                TimeRange { from: raster.next(extent.from), to: raster.ceil(extent.to).saturating_add(1) }
            }
            Self::Spontaneous => extent,
        }
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

/// The slots that periodic points stand for, asked in ascending order.
/// Cost: arithmetic; the raster is asked once a run.
#[derive(Debug)]
pub struct Stretches<'a> {
    raster: &'a Raster,
    names_end: bool,
    times: &'a [i64],
    run: Option<Run>,
}

impl<'a> Stretches<'a> {
    /// Of points at `times`; none of spontaneous ones, which have no slots.
    pub fn new(layout: &'a Layout, times: &'a [i64]) -> Option<Self> {
        let raster = layout.raster()?;
        Some(Self { raster, names_end: matches!(layout, Layout::End(_)), times, run: None })
    }

    /// What the point at `position` stands for, and the run of the raster that this is in.
    pub fn of(&mut self, position: usize) -> Option<(TimeRange, Run)> {
        let time = self.times.get(position)?;
        let time = if self.names_end { time.saturating_sub(1) } else { *time };
        let run = match self.run {
            Some(run) if run.from <= time && time < run.to => run,
            _ => {
                let last = *self.times.last().expect("there is one at the position");
                *self.run.insert(self.raster.run_at(time, last))
            }
        };
        Some((run.slot(time), run))
    }
}
