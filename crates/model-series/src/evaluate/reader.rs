//! The reader: one request, any number of series.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::RwLock;

use super::ReadRequest;
use super::fetch::{PAGE_POINTS, State, single_strand};
use super::following::tells_of_nothing;
use super::plan::{ANSWER_SLOTS_MAX, Plan, Shape};
use crate::catalogue::Context;
use crate::{Alignment, Definition, Error, FORMULA_READS_MAX, Raster, Units};
use strands::is_absent;
use strands::{LimitExceeded, Points, Strand, TimeRange};

/// Plans that are kept; a request over more shapes than that works some of them out anew.
const PLANS_MAX: usize = 64;

/// How much a reader does at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Slots that are computed at once where there are more, if the formula does not look further around.
    pub(super) piece_slots: u64,
    /// Points that are read at once to find the next value.
    pub(super) search_points: usize,
    /// Points of quotations that are read at once.
    pub(super) page_points: usize,
}

impl Sizes {
    pub(super) const USUAL: Self =
        Self { piece_slots: 64 * 1_024, search_points: 16 * 1_024, page_points: PAGE_POINTS };
}

/// Reads series as a [`ReadRequest`] says. What the request comes to is worked out once for all series that are alike
/// (raster, unit); a request that asks for nothing answers stored points as they are, at the cost of the strands alone.
///
/// Invariant: all that one reader reads, of any series and in any number of pages, is of one moment.
#[derive(Debug)]
pub struct Reader {
    context: Arc<Context>,
    request: ReadRequest,
    units: Arc<Units>,
    plans: RwLock<Vec<(Shape, TimeRange, Arc<Plan>)>>,
    /// Operands that may still be read for what is computed at once, by its reader and those that it makes for operands.
    reads_left: Arc<AtomicU32>,
    pub(super) is_nested: bool,
    pub(super) sizes: Sizes,
}

/// How the points of an answer lie and what they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Which end of its slot a point names.
    pub alignment: Alignment,
    /// The slots; none for spontaneous points.
    pub raster: Option<Raster>,
    /// The unit of values.
    pub unit: Option<Box<str>>,
    /// About how many slots are answered whether or not they have points of their own; 0 if all of them must have some, or
    /// the range has no ends.
    pub slots_made: u64,
}

/// Times and values of the points that have one.
pub(super) fn valued(points: &Points) -> impl DoubleEndedIterator<Item = (i64, f64)> {
    let flagged = points.times.iter().zip(&points.values).zip(&points.flags);
    flagged.filter(|(_, flag)| !is_absent(**flag)).map(|((time, value), _)| (*time, *value))
}

impl Reader {
    /// A reader of the repository of `context`, as all its points are now. Cost: a cached look-up.
    pub(crate) async fn new(context: &Context, request: ReadRequest) -> Result<Self, Error> {
        let context = Arc::new(context.at_one_moment()?);
        let (units, _) = context.units().await?;
        let reads_left = Arc::new(AtomicU32::new(FORMULA_READS_MAX));
        let (plans, sizes) = (RwLock::default(), Sizes::USUAL);
        Ok(Self { context, request, units, plans, reads_left, is_nested: false, sizes })
    }

    /// A reader of an operand of `series` for what this one reads.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if too many operands were read for it.
    pub(super) fn nested(&self, request: ReadRequest, series: &Definition) -> Result<Self, Error> {
        let one_less = |left: u32| left.checked_sub(1);
        if self.reads_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_err() {
            let (max, got) = (FORMULA_READS_MAX.into(), u64::from(FORMULA_READS_MAX) + 1);
            let what = format!("series {}: operands that are read to compute", series.name).into();
            let limit = LimitExceeded { name: "FORMULA_READS_MAX", max, got };
            return Err(Error::Limit { what, limit });
        }
        let (context, units, reads_left) =
            (self.context.clone(), self.units.clone(), self.reads_left.clone());
        let (plans, sizes) = (RwLock::default(), self.sizes);
        Ok(Self { context, request, units, plans, reads_left, is_nested: true, sizes })
    }

    /// A reader of the same that may read as many operands as may be read to compute slots at once.
    pub(super) fn with_all_reads(&self) -> Self {
        Self {
            context: self.context.clone(),
            request: self.request.clone(),
            units: self.units.clone(),
            plans: RwLock::default(),
            reads_left: Arc::new(AtomicU32::new(FORMULA_READS_MAX)),
            is_nested: true,
            sizes: self.sizes,
        }
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// What it was asked for.
    pub fn request(&self) -> &ReadRequest {
        &self.request
    }

    /// How the points of a series will lie that are read over `range`.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for an unknown unit, [`Error::Invalid`] for what the series cannot be read as,
    /// [`Error::Limit`] for more slots that are answered without points than the request allows.
    pub fn answer(&self, series: &Definition, range: TimeRange) -> Result<Answer, Error> {
        let plan = self.plan(series, range)?;
        let names = plan.selected(range);
        let has_ends = names.from > i64::MIN && names.to < i64::MAX;
        let slots_made = if has_ends { self.check_made(series, &plan, names)? } else { 0 };
        let layout = plan.answer();
        Ok(Answer {
            alignment: layout.alignment(),
            raster: layout.raster().cloned(),
            unit: plan.unit().map(Into::into),
            slots_made,
        })
    }

    /// About how many slots are answered over `names` whatever is held there.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if those are more than the request allows.
    pub(super) fn check_made(
        &self,
        series: &Definition,
        plan: &Plan,
        names: TimeRange,
    ) -> Result<u64, Error> {
        let is_of_nothing = series.formula.as_ref().is_some_and(tells_of_nothing);
        let (slots, computed) = match is_of_nothing {
            true => (plan.slots_about(names), plan.slots_of_source_about(names)),
            false => (plan.made_about(names), 0),
        };
        let (about, most) = (slots.max(computed), self.answer_slots_max());
        if about > most {
            let what =
                format!("series {}: slots that are answered whether or not they have points", series.name);
            let limit = LimitExceeded { name: "answer_slots_max", max: most, got: about };
            return Err(Error::Limit { what: what.into(), limit });
        }
        Ok(slots)
    }

    /// The most slots of one answer that are answered or computed whether or not anything is stored there.
    pub(super) fn answer_slots_max(&self) -> u64 {
        self.request.answer_slots_max.unwrap_or(ANSWER_SLOTS_MAX)
    }

    pub(super) fn single_strand(&self, series: &Definition) -> Result<Option<Strand>, Error> {
        single_strand(&self.context, series, self.state())
    }

    pub(super) fn state(&self) -> State {
        State { quotation: self.request.quotation, as_of: self.request.as_of }
    }

    #[cfg(test)]
    pub(super) fn plans_kept(&self) -> usize {
        self.plans.read().len()
    }

    /// The plan for a series; that of one like it, if there was one. Cost: some 20 ns then.
    pub(super) fn plan(&self, series: &Definition, range: TimeRange) -> Result<Arc<Plan>, Error> {
        let is_it = |(shape, of, _): &&(Shape, TimeRange, Arc<Plan>)| *of == range && shape.is_of(series);
        if let Some((_, _, plan)) = self.plans.read().iter().find(is_it) {
            return Ok(plan.clone());
        }
        let shape = Shape::new(series);
        let plan = Arc::new(Plan::new(&shape, &self.request, range, &self.units)?);
        let mut plans = self.plans.write();
        if plans.len() >= PLANS_MAX {
            plans.remove(0);
        }
        plans.push((shape, range, plan.clone()));
        Ok(plan)
    }
}
