//! What is done to the points of a series on their way to a reader: worked out once for all series of one shape, then
//! applied to columns. Pure.

mod making;

pub(crate) use making::AnswerMaking;

use super::ReadRequest;
use crate::{
    Aggregation, Alignment, Definition, Error, Gaps, Interval, Layout, Raster, UnitRule, Units, Zone,
};
use rasters::{Conversion, Neighbours, Whole, fill_gaps};
use strands::is_absent;
use strands::{LimitExceeded, Points, TimeRange};

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

/// The most slots of one answer where nobody says otherwise.
pub const ANSWER_SLOTS_MAX: u64 = 1_000_000_000;

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
    way: Way,
    /// On the slots of the answer.
    after: Conversion,
    gaps: Gaps,
}

/// How points come to the answer's slots.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// They are there: nothing that is asked for distinguishes one point of a slot from another.
    Straight,
    /// Points without slots, each counted by itself.
    Count,
    /// They are put together. Levels that hold become amounts by the time that they cover of a slot.
    Slots { how: Aggregation, amounts: Option<Conversion> },
}

impl Plan {
    /// The plan for series of one shape, read over `range`. Cost: a few microseconds; where the interval's slots may be
    /// those of the series in another zone, a comparison of the changes of both clocks in the range.
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
        let answer = match request.interval {
            Some(interval) => source.on(raster_of(interval, shape, request)?),
            None => source.clone(),
        };
        let unit = request.unit.clone().or_else(|| shape.unit.clone());
        let conversion = conversion(shape, request, units)?;
        let plan = Self {
            source,
            answer,
            unit,
            before: Conversion::IDENTITY,
            way: Way::Straight,
            after: Conversion::IDENTITY,
            gaps: request.gaps,
        };
        if plan.has_slots_of_source(range) {
            return plan.on_own_slots(request.aggregation, conversion);
        }
        let how = match (request.aggregation, &shape.unit, &plan.unit) {
            (Some(how), _, _) => how,
            // What holds has no slots of its own to be multiplied by: it is brought to slots first.
            (None, of_source, _) if plan.is_after(conversion) => {
                rule(of_source.as_deref(), units)?.aggregation()
            }
            (None, _, of_answer) => rule(of_answer.as_deref(), units)?.aggregation(),
        };
        Ok(plan.on_other_slots(how, conversion))
    }

    /// Whether the answer's slots are the source's wherever the answer, or what its gaps are filled from, may lie: quarter
    /// hours of Berlin are those of UTC. Slots are compared, not beginnings alone: a month and a year may begin together.
    fn has_slots_of_source(&self, range: TimeRange) -> bool {
        match (self.source.raster(), self.answer.raster()) {
            (None, None) => true,
            (Some(own), Some(other)) => own == other || are_alike(own, other, range),
            _ => false,
        }
    }

    /// Points stay where they are. Of one value each, all there is to put together is how many there are.
    fn on_own_slots(mut self, how: Option<Aggregation>, conversion: Conversion) -> Result<Self, Error> {
        match (how, self.answer.raster()) {
            (Some(Aggregation::Count), Some(_)) => {
                self.way = Way::Slots { how: Aggregation::Count, amounts: None }
            }
            (Some(Aggregation::Count), None) => self.way = Way::Count,
            _ if self.is_after(conversion) => {
                let text = "amounts of spontaneous values are told by interval, and none is given";
                return Err(Error::Invalid(text.into()));
            }
            _ => self.before = conversion,
        }
        Ok(self)
    }

    fn on_other_slots(mut self, how: Aggregation, conversion: Conversion) -> Self {
        let is_after = self.is_after(conversion);
        let amounts =
            (is_after && conversion.is_times_hours() && how != Aggregation::Count).then_some(conversion);
        (self.before, self.after) = match how {
            Aggregation::Count => (Conversion::IDENTITY, Conversion::IDENTITY),
            _ if amounts.is_some() => (Conversion::IDENTITY, Conversion::IDENTITY),
            _ if is_after => (Conversion::IDENTITY, conversion),
            how => conversion.around(how),
        };
        // Amounts of what holds add up to the mean level of the time that is covered.
        let how =
            if amounts.is_some() && how == Aggregation::Sum { Aggregation::TimeWeightedMean } else { how };
        self.way = Way::Slots { how, amounts };
        self
    }

    /// Whether values that hold depend on the slots that they are brought to.
    fn is_after(&self, conversion: Conversion) -> bool {
        conversion.is_by_hours() && self.source == Layout::Spontaneous
    }

    /// Whether stored points are the answer as they are.
    pub(crate) fn is_identity(&self) -> bool {
        self.way == Way::Straight && self.before.is_identity() && self.gaps == Gaps::None
    }

    /// How the points of the answer lie.
    pub(crate) fn answer(&self) -> &Layout {
        &self.answer
    }

    /// The unit of the answer's values.
    pub(crate) fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    /// The times of the points of an answer that a client means by `range`.
    pub(crate) fn selected(&self, range: TimeRange) -> TimeRange {
        self.answer.selected(range)
    }

    /// The aggregation that brings points to other slots, and those slots.
    fn resampling(&self) -> Option<(Aggregation, &Raster)> {
        match self.way {
            Way::Slots { how, .. } => Some((how, self.answer.raster()?)),
            Way::Straight | Way::Count => None,
        }
    }

    /// The times of stored points that an answer named by times of `range` hangs on.
    pub(crate) fn times(&self, range: TimeRange) -> TimeRange {
        if self.resampling().is_some() { self.source.times(self.answer.span(range)) } else { range }
    }

    /// Whether an answer over `range` also hangs on the last point before [`Plan::times`].
    pub(crate) fn wants_held(&self) -> bool {
        self.resampling().is_some() && self.source == Layout::Spontaneous
    }

    /// Whether summaries of blocks may stand for their points.
    pub(crate) fn takes_summaries(&self) -> bool {
        self.resampling().is_some_and(|(how, _)| Whole::serves(how))
            && self.source.raster().is_some()
            && self.before.is_linear()
    }

    /// Refuses a range of more slots to make than memory should hold at once.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`].
    pub(crate) fn check_slots(&self, range: TimeRange) -> Result<(), Error> {
        let Some((_, raster)) = self.resampling() else {
            return Ok(());
        };
        check_read(slots_about(raster, range))
    }

    /// About how many slots an answer over `range` has, if it lies on any. Cost: some 100 ns.
    pub(crate) fn slots_about(&self, range: TimeRange) -> u64 {
        self.answer.raster().map_or(0, |raster| slots_about(raster, range))
    }

    /// About how many slots of the series an answer over `range` hangs on, if it lies on any. Cost: some 200 ns.
    pub(crate) fn slots_of_source_about(&self, range: TimeRange) -> u64 {
        self.source.raster().map_or(0, |raster| slots_about(raster, self.times(range)))
    }

    /// About how many slots are answered over `range` whether or not they have points of their own: those whose gaps are
    /// filled, and those in which a value holds. Cost: some 100 ns.
    pub(crate) fn made_about(&self, range: TimeRange) -> u64 {
        let is_of_points = matches!(self.resampling(), Some((Aggregation::Sum | Aggregation::Count, _)));
        let makes = self.gaps != Gaps::None || self.wants_held() && !is_of_points;
        if makes { self.slots_about(range) } else { 0 }
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
        Ok(fill_gaps(points, &self.answer, range, self.gaps, neighbours)?)
    }

    /// The times of an answer before `range`, and how far those behind it reach, that its gaps may be filled from.
    pub(crate) fn outside(&self, range: TimeRange) -> (TimeRange, i64) {
        let Some(raster) = self.answer.raster() else {
            return (TimeRange { from: range.from, to: range.from }, range.to);
        };
        let (first, behind) = (raster.ceil(range.from), raster.ceil(range.to));
        let before = TimeRange { from: raster.shift(first, -OUTLOOK_SLOTS), to: first };
        (before, raster.shift(behind, OUTLOOK_SLOTS))
    }

    /// Whether the first of the slots in `page`, or of the points without slots, has a value.
    pub(crate) fn begins_with_value(&self, points: &Points, page: TimeRange) -> bool {
        let is_first = |time: i64| self.answer.raster().is_none_or(|raster| time == raster.ceil(page.from));
        let first = points.times.first().zip(points.flags.first());
        first.is_some_and(|(time, flag)| is_first(*time) && !is_absent(*flag))
    }

    /// The same of the last.
    pub(crate) fn ends_with_value(&self, points: &Points, page: TimeRange) -> bool {
        let is_last = |time: i64| self.answer.raster().is_none_or(|raster| raster.next(time) >= page.to);
        let last = points.times.last().zip(points.flags.last());
        last.is_some_and(|(time, flag)| is_last(*time) && !is_absent(*flag))
    }

    /// Whether gaps are filled so.
    pub(crate) fn fills_with(&self, gaps: Gaps) -> bool {
        self.gaps == gaps
    }

    pub(crate) fn fills_from_values(&self) -> bool {
        matches!(self.gaps, Gaps::Previous | Gaps::Linear)
    }

    /// The times of the answer whose slots lie in `extent`, in part or whole.
    pub(crate) fn names(&self, extent: TimeRange) -> TimeRange {
        self.answer.meeting(extent)
    }

    /// Where to end the first page of `range` so that about `points_max` points are read or answered. Of blocks, which their
    /// summaries may stand for, more are asked for.
    pub(crate) fn page_end(&self, range: TimeRange, points_max: usize, is_of_blocks: bool) -> i64 {
        let Some(raster) = self.answer.raster() else {
            return range.to;
        };
        let first = raster.slot(range.from);
        let length = first.to - first.from;
        let points = self.source.raster().and_then(Raster::step).map_or(1, |step| (length / step).max(1));
        let mut slots = (i64::try_from(points_max).unwrap_or(i64::MAX) / points).max(1);
        if is_of_blocks && points >= SUMMED_SLOT_POINTS && self.takes_summaries() {
            slots = slots.saturating_mul(SUMMED_PAGES);
        }
        let end = range.from.saturating_add(length.saturating_mul(slots));
        if end >= range.to {
            return range.to;
        }
        // Behind the last slot of the calendar there is nothing that could be answered in pages.
        Some(raster.ceil(end).min(range.to)).filter(|end| *end > range.from).unwrap_or(range.to)
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
        let limit = LimitExceeded { name: "READ_SLOTS_MAX", max: READ_SLOTS_MAX, got: slots };
        return Err(Error::Limit { what: "slots of a range to read at once".into(), limit });
    }
    Ok(())
}

fn raster_of(interval: Interval, shape: &Shape, request: &ReadRequest) -> Result<Raster, Error> {
    let zone = request.zone.clone().unwrap_or_else(|| shape.zone.clone());
    Ok(Raster::new(interval, zone, request.day_start_seconds.unwrap_or(shape.day_start_seconds))?)
}

/// Whether two rasters have the same slots wherever an answer over `range`, or what its gaps are filled from, may lie.
fn are_alike(one: &Raster, other: &Raster, range: TimeRange) -> bool {
    let least = |time: i64| match time {
        i64::MIN => time,
        _ => one.shift(time, -OUTLOOK_SLOTS).min(other.shift(time, -OUTLOOK_SLOTS)),
    };
    let most = |time: i64| match time {
        i64::MAX => time,
        _ => one.shift(time, OUTLOOK_SLOTS).max(other.shift(time, OUTLOOK_SLOTS)),
    };
    let wide = TimeRange { from: least(range.from), to: most(range.to) };
    one.has_slots_of(other, wide)
}

/// From the unit of the series to the one that is asked for.
fn conversion(shape: &Shape, request: &ReadRequest, units: &Units) -> Result<Conversion, Error> {
    match (&shape.unit, &request.unit) {
        (Some(from), Some(to)) => Ok(units.conversion(from, to)?),
        (None, Some(to)) => {
            Err(Error::Invalid(format!("values without a unit cannot be converted to unit {to}")))
        }
        (_, None) => Ok(Conversion::IDENTITY),
    }
}

/// How values of a unit are put together; those without one are levels.
fn rule(unit: Option<&str>, units: &Units) -> Result<UnitRule, Error> {
    Ok(unit.map(|unit| units.get(unit)).transpose()?.map_or(UnitRule::Average, |unit| unit.aggregation))
}
