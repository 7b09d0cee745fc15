//! Computed series: their operands, read on the slots of the formula, and the points that come of them.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use lang_formula::{Duration, Offset, Reference};

use super::fetch::{self, State};
use super::following::steps;
use super::pace::rest_after;
use super::{Quotation, ReadRequest, Reader};
use crate::DefinedFormula;
use crate::catalogue::{Context, shift};
use crate::{Alignment, Definition, Error, FORMULA_SLOTS_MAX, Layout, Raster, SeriesRef};
use rasters::compute;
use strands::is_absent;
use strands::{LimitExceeded, Points, TimeRange};

type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// The points of a computed series whose times lie in `times`. Operands are read as the request says (as of a time,
/// of which quotation), on the slots of `series`; a slot has a point if any operand has one there or a value comes of it.
///
/// Cost: that of reading the operands; columns of the slots for each reference. Other tasks run between operands.
///
/// # Errors
///
/// [`Error::Invalid`] for a computed series without an interval; [`Error::Limit`] for too many slots or operands;
/// [`Error::NotFound`] for an operand that is gone; what reading operands refuses.
pub(super) fn computed<'a>(
    reader: &'a Reader,
    series: &'a Definition,
    formula: &'a DefinedFormula,
    times: TimeRange,
) -> Pending<'a, Points> {
    Box::pin(async move {
        let Some(raster) = &series.raster else {
            return Err(Error::Invalid(format!("series {} is computed and has no interval", series.name)));
        };
        let layout = Layout::new(series.alignment, raster.clone());
        let mut slots = Slots::of(raster, layout.span(times), formula.tree.reach())?;
        let mut operands = Vec::with_capacity(formula.tree.references().len());
        for reference in formula.tree.references() {
            operands.push(operand(reader, series, reference, &mut slots).await?);
            rest_after(slots.starts.len()).await;
        }
        let result = compute(&formula.tree, &slots.starts, &operands);
        rest_after(slots.starts.len()).await;
        Ok(slots.points(&result, layout.alignment()))
    })
}

/// The slots that a formula is evaluated on.
struct Slots<'a> {
    raster: &'a Raster,
    /// Where they begin.
    starts: Vec<i64>,
    /// In which of them an operand has a point.
    has_point: Vec<bool>,
    /// Those that are asked for; the others are there for functions that look around.
    wanted: std::ops::Range<usize>,
}

impl<'a> Slots<'a> {
    fn of(raster: &'a Raster, span: TimeRange, reach: (u64, u64)) -> Result<Self, Error> {
        let all = TimeRange {
            from: raster.shift(span.from, -steps(reach.0)),
            to: raster.shift(span.to, steps(reach.1)),
        };
        let slots = raster.count(all);
        if slots > FORMULA_SLOTS_MAX {
            let limit = LimitExceeded { name: "FORMULA_SLOTS_MAX", max: FORMULA_SLOTS_MAX, got: slots };
            return Err(Error::Limit { what: "slots to compute at once".into(), limit });
        }
        let mut starts = Vec::new();
        raster.starts_into(all, &mut starts);
        let place = |time: i64| starts.partition_point(|start| *start < time);
        let wanted = place(span.from)..place(span.to);
        Ok(Self { raster, has_point: vec![false; starts.len()], starts, wanted })
    }

    /// The time that a point of the slot which begins at `start` has.
    fn name(&self, start: i64, alignment: Alignment) -> i64 {
        if alignment == Alignment::End { self.raster.next(start) } else { start }
    }

    /// The slots that a reference looks at, one for each slot: ascending but at the ends of months, where a shift by
    /// months meets days that its month does not have; maybe one for several.
    fn looked_at(&self, offset: Option<Offset>) -> Vec<i64> {
        match offset {
            None => self.starts.clone(),
            Some(Offset::Slots(count)) => {
                let Some(first) = self.starts.first() else {
                    return Vec::new();
                };
                let from = self.raster.shift(*first, count.into());
                let slots = self.raster.slots(TimeRange { from, to: i64::MAX });
                slots.take(self.starts.len()).map(|slot| slot.from).collect()
            }
            Some(Offset::Duration(duration)) => {
                let zone = self.raster.zone();
                let look = |start: &i64| self.raster.floor(shift(*start, duration, zone));
                self.starts.iter().map(look).collect()
            }
        }
    }

    /// The points of an operand, which are at `names` (as [`Slots::looked_at`] orders them), at the slots that look
    /// at them.
    fn gather(&mut self, points: &Points, names: &[i64]) -> Points {
        let mut gathered = Points::default();
        let mut place = 0_usize;
        for ((start, name), has_point) in self.starts.iter().zip(names).zip(&mut self.has_point) {
            if place
                .checked_sub(1)
                .and_then(|before| points.times.get(before))
                .is_some_and(|time| time >= name)
            {
                place = points.times.partition_point(|time| time < name);
            }
            while points.times.get(place).is_some_and(|time| time < name) {
                place += 1;
            }
            let (time, value) = (points.times.get(place), points.values.get(place));
            if let (Some(time), Some(value), Some(flag)) = (time, value, points.flags.get(place))
                && time == name
            {
                gathered.push(*start, *value, *flag);
                *has_point = true;
            }
        }
        gathered
    }

    /// Of the slots that are asked for, those with a value, and those in which an operand has a point.
    fn points(&self, result: &Points, alignment: Alignment) -> Points {
        let mut points = Points::default();
        for place in self.wanted.clone() {
            let slot = (self.starts.get(place), result.values.get(place), result.flags.get(place));
            if let (Some(start), Some(value), Some(flag)) = slot
                && (!is_absent(*flag) || self.has_point.get(place) == Some(&true))
            {
                points.push(self.name(*start, alignment), *value, *flag);
            }
        }
        points
    }
}

/// The points of one operand, at the slots that look at them.
async fn operand(
    reader: &Reader,
    series: &Definition,
    reference: &Reference,
    slots: &mut Slots<'_>,
) -> Result<Points, Error> {
    let operand = reader.context().find(SeriesRef::Name(&reference.name)).await?.definition;
    let reader = reader.nested(request_of(reader.request(), series, reference, &operand), series)?;
    let looked_at = slots.looked_at(reference.offset);
    let (Some(first), Some(last)) = (looked_at.iter().min(), looked_at.iter().max()) else {
        return Ok(Points::default());
    };
    // The slots from the first to the last, whichever of their ends an operand names.
    let range = TimeRange { from: *first, to: slots.raster.next(*last) };
    let alignment = reader.answer(&operand, range)?.alignment;
    let names: Vec<i64> = looked_at.iter().map(|start| slots.name(*start, alignment)).collect();
    Ok(slots.gather(&reader.read(&operand, range).await?, &names))
}

/// What is asked of an operand for a request to the formula.
fn request_of(
    request: &ReadRequest,
    series: &Definition,
    reference: &Reference,
    operand: &Definition,
) -> ReadRequest {
    let State { quotation, as_of } =
        state_of(operand, State { quotation: request.quotation, as_of: request.as_of });
    ReadRequest {
        interval: series.interval,
        zone: Some(series.zone.clone()),
        day_start_seconds: Some(series.day_start_seconds),
        unit: reference.unit.clone(),
        aggregation: reference.aggregation,
        gaps: crate::Gaps::None,
        as_of,
        quotation,
        ..ReadRequest::default()
    }
}

/// Which state of an operand is read where one of a formula is asked for: quotations are chosen where there are some.
fn state_of(operand: &Definition, state: State) -> State {
    let has_quotations = operand.switches.quotation || operand.is_computed();
    State { quotation: if has_quotations { state.quotation } else { Quotation::Latest }, ..state }
}

/// The time that the points of a series stand for, from the first to the last; for a computed one, that of its
/// operands, moved by their offsets. Cost: a look-up for each strand.
pub(super) async fn extent(
    context: &Arc<Context>,
    series: &Definition,
    state: State,
) -> Result<Option<TimeRange>, Error> {
    extent_once(context, series, state, &mut HashMap::new()).await
}

/// The same; what was found of a series is noted in `known`, since formulas on formulas meet the same ones again.
fn extent_once<'a>(
    context: &'a Arc<Context>,
    series: &'a Definition,
    state: State,
    known: &'a mut HashMap<u32, Option<TimeRange>>,
) -> Pending<'a, Option<TimeRange>> {
    Box::pin(async move {
        if let Some(extent) = known.get(&series.number) {
            return Ok(*extent);
        }
        let Some(formula) = &series.formula else {
            return fetch::extent(context, series, state).await;
        };
        let mut all: Option<TimeRange> = None;
        for reference in formula.tree.references() {
            let operand = context.find(SeriesRef::Name(&reference.name)).await?.definition;
            let state = state_of(&operand, state);
            let Some(own) = extent_once(context, &operand, state, known).await? else {
                continue;
            };
            let own =
                TimeRange { from: back(own.from, reference, series), to: back(own.to, reference, series) };
            all = Some(
                all.map_or(own, |all| TimeRange { from: all.from.min(own.from), to: all.to.max(own.to) }),
            );
        }
        let all = all.map(|all| widened(all, formula, series));
        known.insert(series.number, all);
        Ok(all)
    })
}

/// The time of the slots from which functions that look around still see some of `seen`.
fn widened(seen: TimeRange, formula: &DefinedFormula, series: &Definition) -> TimeRange {
    let (before, after) = formula.tree.reach();
    match &series.raster {
        Some(raster) if (before, after) != (0, 0) => TimeRange {
            from: raster.shift(seen.from, -steps(after)),
            to: raster.shift(raster.ceil(seen.to), steps(before)),
        },
        _ => seen,
    }
}

/// The time from which a reference looks at `time`.
fn back(time: i64, reference: &Reference, series: &Definition) -> i64 {
    match (reference.offset, &series.raster) {
        (Some(Offset::Slots(count)), Some(raster)) => raster.shift(raster.ceil(time), -i64::from(count)),
        (Some(Offset::Duration(duration)), _) => {
            let back = Duration { is_negative: !duration.is_negative, ..duration };
            shift(time, back, &series.zone)
        }
        _ => time,
    }
}
