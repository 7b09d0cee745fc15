//! What comes next: where reads go on behind time of which nothing is held, so that they are not walked slot by slot.

use std::pin::Pin;
use std::sync::Arc;

use lang_formula::{Duration, Offset, Reference};

use super::fetch::{self, State, fetch_held, single_strand};
use super::{Quotation, ReadRequest};
use crate::DefinedFormula;
use crate::catalogue::{Context, shift};
use crate::{Definition, Error, Layout, Raster, SeriesRef};
use rasters::DAY;
use rasters::compute;
use strands::TimeRange;
use strands::is_absent;

type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Series that are looked at to find what comes next; behind formulas over more of them every slot is computed.
const LOOKS_MAX: u32 = 256;

/// A search for what comes next in a series and in those it is computed from.
pub(super) struct Search<'a> {
    context: &'a Arc<Context>,
    request: &'a ReadRequest,
    looks_left: u32,
}

impl<'a> Search<'a> {
    pub(super) fn new(context: &'a Arc<Context>, request: &'a ReadRequest) -> Self {
        Self { context, request, looks_left: LOOKS_MAX }
    }

    /// The first instant that a point of `times` or later stands for, `times` being when points of `series` may lie
    /// that are answered next; `None` if there are no more. Of computed series, and of what they are computed from, it may
    /// be earlier, but never later. Cost: a read of one block for each strand.
    pub(super) async fn next(&mut self, series: &Arc<Definition>, times: i64) -> Result<Option<i64>, Error> {
        match &series.formula {
            Some(formula) => {
                let layout = series.layout();
                let from = layout.span(TimeRange { from: times, to: i64::MAX }).from;
                self.computed(series, formula, from).await
            }
            None => self.stored(series, self.request.quotation, times).await,
        }
    }

    /// Of stored points: exactly.
    async fn stored(
        &self,
        series: &Definition,
        quotation: Quotation,
        times: i64,
    ) -> Result<Option<i64>, Error> {
        let state = State { quotation, as_of: self.request.as_of };
        let times = TimeRange { from: times, to: i64::MAX };
        let mut next: Option<i64> = None;
        if let Some(strand) = single_strand(self.context, series, state)? {
            next = fetch::first_of(self.context, &strand, times, state.as_of).await?;
        } else {
            for issued in fetch::quotations(self.context, series.number).await? {
                let strand = self.context.strand(series.number, Some(issued));
                let times = quotation.times(issued, times);
                let first = fetch::first_of(self.context, &strand, times, state.as_of).await?;
                next = [next, first].into_iter().flatten().min();
            }
        }
        Ok(next.map(|time| match series.layout() {
            Layout::Begin(raster) => raster.floor(time),
            Layout::End(raster) => raster.previous(time),
            Layout::Spontaneous => time,
        }))
    }

    /// Of a computed series: from the slot at `from` on.
    fn computed<'b>(
        &'b mut self,
        series: &'b Definition,
        formula: &'b DefinedFormula,
        from: i64,
    ) -> Pending<'b, Option<i64>> {
        Box::pin(async move {
            let Some(raster) = series.raster.as_ref().filter(|_| !tells_of_nothing(formula)) else {
                return Ok(Some(from));
            };
            let (before, after) = formula.tree.reach();
            let seen = raster.shift(from, -steps(before));
            let mut next: Option<i64> = None;
            for reference in formula.tree.references() {
                let Some(left) = self.looks_left.checked_sub(1) else {
                    return Ok(Some(from));
                };
                self.looks_left = left;
                let operand = self.context.find(SeriesRef::Name(&reference.name)).await?.definition;
                let Some(time) = self.operand(&operand, looked_at(seen, reference, raster)).await? else {
                    continue;
                };
                let at = raster.shift(looking_at(time, reference, raster), -steps(after)).max(from);
                next = Some(next.map_or(at, |next| next.min(at)));
            }
            Ok(next)
        })
    }

    /// Of an operand, that is read on slots which may begin before `from`.
    async fn operand(&mut self, operand: &Arc<Definition>, from: i64) -> Result<Option<i64>, Error> {
        let layout = operand.layout();
        if let Some(formula) = &operand.formula {
            let from = layout.raster().map_or(from, |raster| raster.floor(from));
            return self.computed(operand, formula, from).await;
        }
        let has_quotations = operand.switches.quotation;
        let quotation = if has_quotations { self.request.quotation } else { Quotation::Latest };
        if layout == Layout::Spontaneous {
            let state = State { quotation, as_of: self.request.as_of };
            if !fetch_held(self.context, operand, from, state).await?.is_empty() {
                return Ok(Some(from));
            }
        }
        let times = layout.times(TimeRange { from, to: i64::MAX });
        self.stored(operand, quotation, times.from).await
    }
}

/// Whether a formula has a value where none of its operands has one.
pub(super) fn tells_of_nothing(formula: &DefinedFormula) -> bool {
    let result = compute(&formula.tree, &[0], &[]);
    result.flags.first().is_some_and(|flag| !is_absent(*flag))
}

/// A count of slots, as shifts take it.
pub(super) fn steps(slots: u64) -> i64 {
    i64::try_from(slots).unwrap_or(i64::MAX)
}

/// A time no later than any that a reference looks at from slots at `from` and later.
fn looked_at(from: i64, reference: &Reference, raster: &Raster) -> i64 {
    match reference.offset {
        None => from,
        Some(Offset::Slots(count)) => raster.shift(from, count.into()),
        Some(Offset::Duration(duration)) => {
            raster.floor(shift(from, duration, raster.zone()).saturating_sub(leeway(duration)))
        }
    }
}

/// A time no later than any slot from which a reference looks at `time` and later.
fn looking_at(time: i64, reference: &Reference, raster: &Raster) -> i64 {
    match reference.offset {
        None => raster.floor(time),
        Some(Offset::Slots(count)) => raster.shift(time, -i64::from(count)),
        Some(Offset::Duration(duration)) => {
            let back = Duration { is_negative: !duration.is_negative, ..duration };
            let time = raster.floor(time).saturating_sub(leeway(duration));
            raster.floor(shift(time, back, raster.zone()))
        }
    }
}

/// How far a shift by the calendar and back may miss: the clock is changed, or a month has fewer days.
fn leeway(duration: Duration) -> i64 {
    match duration {
        Duration { years: 0, months: 0, weeks: 0, days: 0, .. } => 0,
        Duration { years: 0, months: 0, .. } => DAY,
        // The last days of a long month meet the last of a short one.
        _ => 5 * DAY,
    }
}
