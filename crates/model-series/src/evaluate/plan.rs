//! What is done to the points of a series on their way to a reader: worked out once for all series of one shape, then
//! applied to columns. Pure.

use super::ReadRequest;
use crate::aggregate::{Portion, Stretches, Whole, resample_portions};
use crate::flags::is_absent;
use crate::{
    Aggregation, Alignment, Conversion, Definition, Error, Gaps, Interval, Layout, Neighbours, Part, Points,
    Raster, Summary, TimeRange, UnitRule, Units, Zone, fill_gaps, resample,
};

/// What of a definition decides how its points are read; series of one shape share a plan.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Shape {
    alignment: Alignment,
    raster: Option<Raster>,
    unit: Option<Box<str>>,
    /// The calendar of an interval that is asked for without one.
    zone: Zone,
    day_start_seconds: u32,
}

impl Shape {
    pub(crate) fn new(series: &Definition) -> Self {
        Self {
            alignment: series.alignment,
            raster: series.raster.clone(),
            unit: series.unit.clone(),
            zone: series.zone.clone(),
            day_start_seconds: series.day_start_seconds,
        }
    }

    /// Whether it is the shape of `series`. Cost: some 10 ns.
    pub(crate) fn is_of(&self, series: &Definition) -> bool {
        self.alignment == series.alignment
            && self.raster == series.raster
            && self.unit == series.unit
            && self.zone == series.zone
            && self.day_start_seconds == series.day_start_seconds
    }

    fn layout(&self) -> Layout {
        self.raster.clone().map_or(Layout::Spontaneous, |raster| Layout::new(self.alignment, raster))
    }
}

/// How many slots beyond the ends of a range are looked at for values to fill its gaps from.
const OUTLOOK_SLOTS: i64 = 100;

/// The most slots of another raster, or points, that one answer in memory has.
pub(super) const READ_SLOTS_MAX: u64 = 8_000_000;

/// The most slots of one answer in which no point need be: gaps that are filled, slots in which a value holds.
pub const MADE_SLOTS_MAX: u64 = 1_000_000_000;

/// Slots of so many points hold whole blocks, which are not read. A block is of up to 4,096 points, and is not cut at the
/// ends of slots: of four blocks a slot one is read. In slots of fewer points there may be no whole one, and a page that is
/// larger is read all the same.
const SUMMED_SLOT_POINTS: i64 = 16_384;
/// Pages of points that are asked for at once where most of them may not be read.
const SUMMED_PAGES: i64 = 8;

/// The way from stored points to the answer.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    source: Layout,
    /// How the points of the answer lie.
    answer: Layout,
    /// The unit of the answer's values.
    unit: Option<Box<str>>,
    /// On the slots of the source.
    before: Conversion,
    /// Put together on the answer's raster, if it has other slots.
    resampling: Option<Aggregation>,
    /// On the slots of the answer.
    after: Conversion,
    gaps: Gaps,
}

impl Plan {
    /// The plan for series of one shape, read over `range`. Cost: a few microseconds.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for an unknown unit, [`Error::Invalid`] for units with no way between them, an interval
    /// that makes no raster, and amounts asked of levels that hold, without an interval.
    pub(crate) fn new(
        shape: &Shape,
        request: &ReadRequest,
        range: TimeRange,
        units: &Units,
    ) -> Result<Self, Error> {
        let source = shape.layout();
        let (answer, has_other_slots) = match request.interval {
            Some(interval) => answer_on(&source, raster_of(interval, shape, request)?, range),
            None => (source.clone(), false),
        };
        let unit = request.unit.clone().or_else(|| shape.unit.clone());
        let conversion = match (&shape.unit, &request.unit) {
            (Some(from), Some(to)) => units.conversion(from, to)?,
            (None, Some(to)) => {
                return Err(Error::Invalid(format!("values without a unit cannot be told in unit {to}")));
            }
            (_, None) => Conversion::IDENTITY,
        };
        // What holds has no slots of its own to be multiplied by: it is brought to slots first.
        let is_after = conversion.is_by_hours() && matches!(source, Layout::Spontaneous);
        if is_after && !has_other_slots {
            return Err(Error::Invalid(
                "amounts of spontaneous values are told by interval, and none is given".into(),
            ));
        }
        let resampling = match (has_other_slots, request.aggregation) {
            (false, _) => None,
            (true, Some(aggregation)) => Some(aggregation),
            (true, None) => {
                let unit = if is_after { &shape.unit } else { &unit };
                Some(rule(unit.as_deref(), units)?.aggregation(source.alignment()))
            }
        };
        let (before, after) = match resampling {
            Some(Aggregation::Count) => (Conversion::IDENTITY, Conversion::IDENTITY),
            Some(_) if is_after => (Conversion::IDENTITY, conversion),
            Some(how) => conversion.around(how),
            None => (conversion, Conversion::IDENTITY),
        };
        Ok(Self { source, answer, unit, before, resampling, after, gaps: request.gaps })
    }

    /// Whether stored points are the answer as they are.
    pub(crate) fn is_identity(&self) -> bool {
        self.resampling.is_none() && self.before.is_identity() && self.gaps == Gaps::None
    }

    /// How the points of the answer lie.
    pub(crate) fn answer(&self) -> &Layout {
        &self.answer
    }

    /// The unit of the answer's values.
    pub(crate) fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    /// The times of stored points that an answer over `range` hangs on.
    pub(crate) fn times(&self, range: TimeRange) -> TimeRange {
        if self.resampling.is_some() { self.source.times(self.answer.span(range)) } else { range }
    }

    /// Whether an answer over `range` also hangs on the last point before [`Plan::times`].
    pub(crate) fn wants_held(&self) -> bool {
        self.resampling.is_some() && matches!(self.source, Layout::Spontaneous)
    }

    /// The answer over `range`, gaps unfilled, of the stored points of [`Plan::times`] (and the one before, if it is
    /// wanted).
    pub(crate) fn apply(&self, mut points: Points, range: TimeRange) -> Points {
        convert(&mut points, &self.source, self.before);
        if let (Some(how), Some(raster)) = (self.resampling, self.answer.raster()) {
            let mut resampled = Points::default();
            resample(&points, &self.source, raster, how, range, &mut resampled);
            points = resampled;
            convert(&mut points, &self.answer, self.after);
        }
        points
    }

    /// Whether summaries of blocks may stand for their points.
    pub(crate) fn takes_summaries(&self) -> bool {
        self.resampling.is_some_and(Aggregation::is_of_summaries)
            && self.source.raster().is_some()
            && self.before.is_linear()
    }

    /// What a block comes to in an answer over `range`; `None` if its points must be looked at.
    pub(crate) fn whole(&self, summary: &Summary, range: TimeRange) -> Option<Whole> {
        let raster = self.answer.raster()?;
        Whole::of(summary, &self.source, raster, self.answer.span(range))
    }

    /// Adds a part of [`Plan::times`], as it lies in the strand.
    pub(super) fn take(&self, part: Part<'_>, range: TimeRange, portions: &mut Vec<Portion>) {
        let columns = match part {
            Part::Summary(summary) => return portions.extend(self.whole(summary, range).map(Portion::Whole)),
            Part::Block(_, columns) | Part::Stretch(columns) => columns,
        };
        if let Some(Portion::Points(points)) = portions.last_mut() {
            return points.extend_from_columns(&columns);
        }
        let mut points = Points::default();
        points.extend_from_columns(&columns);
        portions.push(Portion::Points(points));
    }

    /// The answer over `range`, gaps unfilled, of what was [taken](Self::take); if summaries may stand for points.
    pub(super) fn apply_portions(&self, mut portions: Vec<Portion>, range: TimeRange) -> Points {
        let mut points = Points::default();
        let (Some(how), Some(raster)) = (self.resampling, self.answer.raster()) else {
            return points;
        };
        for portion in &mut portions {
            match portion {
                Portion::Points(points) => convert(points, &self.source, self.before),
                Portion::Whole(whole) => *whole = whole.converted(&self.before),
            }
        }
        resample_portions(&portions, &self.source, raster, how, range, &mut points);
        convert(&mut points, &self.answer, self.after);
        points
    }

    /// Refuses a range of more slots to make than memory should hold at once.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`].
    pub(crate) fn check_slots(&self, range: TimeRange) -> Result<(), Error> {
        let Some(raster) = self.answer.raster().filter(|_| self.resampling.is_some()) else {
            return Ok(());
        };
        check_read(raster.count(range))
    }

    /// About how many slots an answer over `range` has; many if nobody can tell. Cost: some 100 ns.
    pub(crate) fn slots_about(&self, range: TimeRange) -> u64 {
        let has_ends = range.from > i64::MIN && range.to < i64::MAX;
        self.answer.raster().filter(|_| has_ends).map_or(u64::MAX, |raster| slots_about(raster, range))
    }

    /// About how many points an answer over `range` is made of, or has, whichever are more, if there is one for every
    /// slot; many if nobody can tell. Cost: some 100 ns.
    pub(crate) fn points_about(&self, range: TimeRange) -> u64 {
        let (Some(source), Some(answer)) = (self.source.raster(), self.answer.raster()) else {
            return u64::MAX;
        };
        if range.from == i64::MIN || range.to == i64::MAX {
            return u64::MAX;
        }
        slots_about(source, range).max(slots_about(answer, range))
    }

    /// Refuses a range in which more slots are answered without points of their own than anybody can want.
    /// Cost: some 100 ns.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`].
    pub(crate) fn check_made(&self, range: TimeRange) -> Result<(), Error> {
        let is_of_points = matches!(self.resampling, Some(Aggregation::Sum | Aggregation::Count));
        let makes = self.gaps != Gaps::None || self.wants_held() && !is_of_points;
        let Some(raster) = self.answer.raster().filter(|_| makes) else {
            return Ok(());
        };
        let slots = slots_about(raster, range);
        if slots > MADE_SLOTS_MAX {
            return Err(Error::Limit(format!(
                "a range of {slots} slots that are answered without points: at most {MADE_SLOTS_MAX} are \
                 (MADE_SLOTS_MAX)"
            )));
        }
        Ok(())
    }

    /// The answer over `range` with its gaps filled.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for too many slots to fill.
    pub(crate) fn fill(
        &self,
        points: Points,
        range: TimeRange,
        neighbours: Neighbours,
    ) -> Result<Points, Error> {
        fill_gaps(points, &self.answer, range, self.gaps, neighbours)
    }

    /// Where to look for values outside `range` that gaps at its ends are filled from: before and after.
    pub(crate) fn outlook(
        &self,
        points: &Points,
        range: TimeRange,
    ) -> (Option<TimeRange>, Option<TimeRange>) {
        let Some(raster) = self.answer.raster().filter(|_| self.fills_from_values()) else {
            return (None, None);
        };
        let (first, behind) = (raster.ceil(range.from), raster.ceil(range.to));
        let is_there = |point: Option<(&i64, &u8)>, name: i64| {
            point.is_some_and(|(time, flag)| *time == name && !is_absent(*flag))
        };
        let begins = is_there(points.times.first().zip(points.flags.first()), first);
        let ends = is_there(points.times.last().zip(points.flags.last()), raster.previous(behind));
        let before = TimeRange { from: raster.shift(first, -OUTLOOK_SLOTS), to: first };
        let after = TimeRange { from: behind, to: raster.shift(behind, OUTLOOK_SLOTS) };
        ((!begins).then_some(before), (!ends && self.gaps == Gaps::Linear).then_some(after))
    }

    fn fills_from_values(&self) -> bool {
        matches!(self.gaps, Gaps::Previous | Gaps::Linear)
    }

    /// Whether an answer hangs on no more than [`Plan::times`].
    pub(crate) fn is_self_contained(&self) -> bool {
        !self.wants_held() && !self.fills_from_values()
    }

    /// The times of the answer whose slots lie in `extent`, in part or whole.
    pub(crate) fn names(&self, extent: TimeRange) -> TimeRange {
        match &self.answer {
            Layout::Begin(raster) => TimeRange { from: raster.floor(extent.from), to: extent.to },
            Layout::End(raster) => {
                TimeRange { from: raster.next(extent.from), to: raster.ceil(extent.to).saturating_add(1) }
            }
            Layout::Spontaneous => extent,
        }
    }

    /// Where to end a page that begins at `from` so that about `points_max` points are read or answered.
    pub(crate) fn page_end(&self, from: i64, range: TimeRange, points_max: usize) -> i64 {
        let Some(raster) = self.answer.raster() else {
            return range.to;
        };
        let first = raster.slot(from);
        let length = first.to - first.from;
        let points = self.source.raster().and_then(Raster::step).map_or(1, |step| (length / step).max(1));
        let mut slots = (i64::try_from(points_max).unwrap_or(i64::MAX) / points).max(1);
        if points >= SUMMED_SLOT_POINTS && self.takes_summaries() {
            slots = slots.saturating_mul(SUMMED_PAGES);
        }
        let end = from.saturating_add(length.saturating_mul(slots));
        if self.fills_from_values() || end >= range.to {
            return range.to;
        }
        raster.ceil(end).min(range.to)
    }
}

/// How many slots a range has, if all are as long as its first.
fn slots_about(raster: &Raster, range: TimeRange) -> u64 {
    let slot = raster.slot(range.from);
    range.to.abs_diff(range.from) / slot.to.abs_diff(slot.from).max(1)
}

/// Refuses more points than one answer in memory has.
///
/// # Errors
///
/// [`Error::Limit`].
pub(crate) fn check_read(slots: u64) -> Result<(), Error> {
    if slots > READ_SLOTS_MAX {
        return Err(Error::Limit(format!(
            "a range of {slots} slots to read at once; at most {READ_SLOTS_MAX} are (READ_SLOTS_MAX)"
        )));
    }
    Ok(())
}

fn raster_of(interval: Interval, shape: &Shape, request: &ReadRequest) -> Result<Raster, Error> {
    let zone = request.zone.clone().unwrap_or_else(|| shape.zone.clone());
    Raster::new(interval, zone, request.day_start_seconds.unwrap_or(shape.day_start_seconds))
}

/// The answer's layout on `raster`, and whether its slots are other than the source's in `range`: quarter hours of
/// Berlin are those of UTC.
fn answer_on(source: &Layout, raster: Raster, range: TimeRange) -> (Layout, bool) {
    let is_same = source.raster().is_some_and(|own| {
        own == &raster || own.step() == raster.step() && own.nests(&raster, range) && raster.nests(own, range)
    });
    (source.on(raster), !is_same)
}

/// How values of a unit are put together; those without one are levels.
fn rule(unit: Option<&str>, units: &Units) -> Result<UnitRule, Error> {
    unit.map_or(Ok(UnitRule::Average), |unit| units.get(unit).map(|unit| unit.aggregation))
}

/// Converts all values, each by the length of its slot if that matters.
pub(crate) fn convert(points: &mut Points, layout: &Layout, conversion: Conversion) {
    if !conversion.is_by_hours() || layout.alignment() == Alignment::Spontaneous {
        conversion.apply_all(&mut points.values, crate::calendar::HOUR);
        return;
    }
    let mut values = std::mem::take(&mut points.values);
    let mut stretches = Stretches::new(layout, points, i64::MAX);
    for (position, value) in values.iter_mut().enumerate() {
        let slot = stretches.of(position);
        *value = conversion.apply(*value, slot.to - slot.from);
    }
    points.values = values;
}
