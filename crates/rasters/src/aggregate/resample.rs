//! From one layout to a raster, coarser or finer: every point stands for a stretch of time, stretches are cut at the
//! boundaries of the raster, and the parts of each slot are put together.

use super::Layout;
use super::dense;
use super::layout::Stretches;
use super::slot::{Part, Slot, share_of};
use super::whole::Whole;
use crate::calendar::Run;
use crate::{Conversion, Raster};
use lang_formula::Aggregation;
use strands::is_absent;
use strands::{Columns, Points, TimeRange};

/// Brings points (ascending, lying as `source` says) to `raster`, appending one for each slot that is named by a time
/// of `range` and that some point stands for. Slots are named as the source's are: at their end if it is aligned so,
/// else at their beginning.
///
/// The worst flag wins; a slot that is not wholly covered by values is flagged missing, and has no value if none of it
/// is covered; what one point alone stands for has that point's flag. Of points that straddle a boundary, sums get shares
/// by time. Spontaneous values hold until the next point (the last until the end of the span of `range`): minima, maxima,
/// first, last and the time-weighted mean are of what held; sum, average and count are of the points in the slot
/// (average: if there is none, what holds).
///
/// On finer rasters amounts (sum) are shared out by time, all else is repeated; shares add up to the value but for the
/// rounding of each.
///
/// Cost: no calendar work for a point; half a nanosecond for each of a dense run of a fixed step, some ten otherwise; a
/// nanosecond for each slot that one point fills.
pub fn resample(
    points: &Points,
    source: &Layout,
    raster: &Raster,
    how: Aggregation,
    range: TimeRange,
    out: &mut Points,
) {
    let Some(last) = points.times.last() else {
        return;
    };
    let mut span = source.on(raster.clone()).span(range);
    if span.to == i64::MAX {
        // An endless range ends with the slot of the last point.
        span.to = raster.next(*last);
    }
    let making = Making { source, raster, how, amounts: None };
    let mut walk = Walk::new(making, span, std::mem::take(out));
    walk.points(&points.columns());
    *out = walk.finish();
}

/// How points become values of slots.
#[derive(Clone, Copy, Debug)]
pub struct Making<'a> {
    /// How the points lie in time.
    pub source: &'a Layout,
    /// The slots that they are brought to.
    pub raster: &'a Raster,
    /// What is made of the points of a slot.
    pub how: Aggregation,
    /// Done to what a slot comes to, by the time that its values cover: levels that hold become amounts.
    pub amounts: Option<Conversion>,
}

/// Points on their way to slots: taken in order, in pieces of any size, of which nothing is kept but what the slot at hand
/// comes to.
///
/// Blocks of periodic points that lie inside one slot each may come as summaries, but not for [`Aggregation::First`] and
/// [`Aggregation::Last`], which no summary knows. Counts, minima, maxima and flags are those of all points then. Sums (and
/// what is made of them) are of the sums of the blocks: equal but for the order in which values are added.
///
/// Cost: as [`resample`] for points; some 100 ns for a block.
#[derive(Debug)]
pub struct Walk<'a> {
    making: Making<'a>,
    names_end: bool,
    holds: bool,
    /// The time that is answered, up to which the last spontaneous value holds.
    span: TimeRange,
    run: Option<Run>,
    slot: TimeRange,
    state: Slot,
    /// The last spontaneous point: how long it holds, the next one decides.
    held: Option<(i64, f64, u8)>,
    out: Points,
}

impl<'a> Walk<'a> {
    /// A walk through `span`, whole slots of the raster, that appends to `out`.
    pub fn new(making: Making<'a>, span: TimeRange, out: Points) -> Self {
        Self {
            making,
            names_end: matches!(making.source, Layout::End(_)),
            holds: matches!(making.source, Layout::Spontaneous),
            span,
            run: None,
            slot: TimeRange { from: i64::MIN, to: i64::MIN },
            state: Slot::EMPTY,
            held: None,
            out,
        }
    }

    /// Takes the points that follow.
    pub fn points(&mut self, points: &Columns<'_>) {
        match Stretches::new(self.making.source, points.times) {
            Some(stretches) => self.periodic(points, stretches),
            None => self.spontaneous(points),
        }
    }

    /// Takes a block that lies inside one slot.
    pub fn whole(&mut self, whole: &Whole) {
        if whole.stretch.from >= self.slot.to {
            self.flush();
            self.slot = self.run_of(whole.stretch.from).slot(whole.stretch.from);
        }
        self.state.add_whole(whole);
    }

    /// The slots, once all points are taken.
    pub fn finish(mut self) -> Points {
        if let Some(held) = self.held.take() {
            self.add_held(held, self.span.to);
        }
        self.flush();
        self.out
    }

    fn periodic(&mut self, points: &Columns<'_>, mut stretches: Stretches<'_>) {
        let (mut position, mut next_try) = (0, 0);
        while let Some((stretch, run)) = stretches.of(position) {
            if stretch.from >= self.span.to {
                break;
            }
            if position >= next_try && stretch.from >= self.slot.to {
                let taken = self.take_dense(points, position, stretch, run);
                if taken > 0 {
                    position += taken;
                    continue;
                }
                // A stretch of gaps is not tried again at every slot.
                next_try = position + dense::POINTS_MIN;
            }
            if let (Some(value), Some(flag)) = (points.values.get(position), points.flags.get(position)) {
                self.add((*value, *flag), stretch);
            }
            position += 1;
        }
    }

    fn spontaneous(&mut self, points: &Columns<'_>) {
        for ((time, value), flag) in points.times.iter().zip(points.values).zip(points.flags) {
            if let Some(held) = self.held.replace((*time, *value, *flag)) {
                self.add_held(held, *time);
            }
        }
    }

    fn add_held(&mut self, (time, value, flag): (i64, f64, u8), until: i64) {
        if time < self.span.to {
            self.add((value, flag), TimeRange { from: time, to: until });
        }
    }

    /// Puts together, from `position`, as many points as lie densely in whole slots of one run; answers how many.
    fn take_dense(
        &mut self,
        points: &Columns<'_>,
        position: usize,
        stretch: TimeRange,
        source: Run,
    ) -> usize {
        let Some(step) = self.making.source.raster().and_then(Raster::step) else {
            return 0;
        };
        let run = self.run_of(stretch.from);
        let is_nested = stretch.from == run.slot(stretch.from).from
            && stretch.to - stretch.from == step
            && run.step % step == 0
            && stretch.from >= self.span.from;
        if !is_nested || run.step == step {
            return 0;
        }
        // The last point of a run may stand for less than a step.
        let end = run.to.min(self.span.to).min(source.to);
        let slots = (end - stretch.from) / run.step;
        let Some(chunk) = dense::Chunk::find(points, position, step, run.step / step, slots) else {
            return 0;
        };
        self.flush();
        let name = if self.names_end { run.step } else { 0 };
        chunk.put_together(self.making.how, stretch.from + name, run.step, &mut self.out);
        chunk.points()
    }

    fn add(&mut self, (value, flag): (f64, u8), stretch: TimeRange) {
        // Values may hold for longer than a number of nanoseconds tells.
        let whole = stretch.to.saturating_sub(stretch.from);
        let end = stretch.to.min(self.span.to);
        let mut from = stretch.from.max(self.span.from);
        while from < end {
            if from >= self.slot.to {
                self.flush();
                let run = self.run_of(from);
                self.slot = run.slot(from);
                let slots = self.whole_slots(from, end, run);
                if slots > 0 {
                    self.put_whole_slots(
                        TimeRange { from, to: from + slots * run.step },
                        run,
                        (value, flag),
                        whole,
                    );
                    from += slots * run.step;
                    self.slot = TimeRange { from, to: from };
                    continue;
                }
            }
            let to = end.min(self.slot.to);
            let is_start = from == stretch.from;
            self.state.add(Part { value, flag, whole, length: to - from, is_start });
            from = to;
        }
    }

    /// How many slots from `from` on one stretch up to `end` fills wholly, if what comes of them is plain.
    fn whole_slots(&self, from: i64, end: i64, run: Run) -> i64 {
        let is_of_starts = match self.making.how {
            Aggregation::Count => true,
            Aggregation::Sum => self.holds,
            _ => false,
        };
        if is_of_starts || self.slot.from != from {
            0
        } else {
            end.min(run.to).saturating_sub(from) / run.step
        }
    }

    /// Slots that one point fills: each has its flag, and its value or a share of it.
    fn put_whole_slots(&mut self, slots: TimeRange, run: Run, (value, flag): (f64, u8), whole: i64) {
        let step = run.step;
        let value = match (self.making.how, self.making.amounts) {
            _ if is_absent(flag) => 0.0,
            (_, Some(amounts)) => amounts.apply(value, step),
            (Aggregation::Sum, None) => share_of(value, step, whole),
            (_, None) => value,
        };
        let first = if self.names_end { slots.from + step } else { slots.from };
        let count = (slots.to - slots.from) / step;
        self.out.times.extend((0..count).map(|place| first + place * step));
        self.out.values.resize(self.out.times.len(), value);
        self.out.flags.resize(self.out.times.len(), flag);
    }

    /// The run of the raster that `time` lies in.
    fn run_of(&mut self, time: i64) -> Run {
        match self.run {
            Some(run) if run.from <= time && time < run.to => run,
            _ => *self.run.insert(self.making.raster.run_at(time, self.span.to)),
        }
    }

    fn flush(&mut self) {
        let state = std::mem::replace(&mut self.state, Slot::EMPTY);
        let Some((value, flag)) = state.outcome(self.making.how, self.slot, self.holds) else {
            return;
        };
        let value = match self.making.amounts {
            Some(amounts) if !is_absent(flag) => amounts.apply(value, state.covered()),
            _ => value,
        };
        self.out.push(if self.names_end { self.slot.to } else { self.slot.from }, value, flag);
    }
}
