//! Long reads in pieces: computed series are computed piece by piece, time of which nothing is held is passed over, and other
//! tasks run between two pieces.

use std::sync::Arc;

use super::Reader;
use super::following::{Search, steps};
use super::operands;
use super::plan::AnswerMaking;
use crate::DefinedFormula;
use crate::{Definition, Error, FORMULA_SLOTS_MAX};
use rasters::DAY;
use strands::{LimitExceeded, Points, TimeRange};

/// Slots that are computed at once behind time that was passed over, of [`super::reader::Sizes::piece_slots`]: isolated points are not worth
/// a whole piece.
const FIRST_PIECES: u64 = 64;
impl Reader {
    /// Has an answer made of what a formula comes to in `times`, and adds to `computed` how many slots that took. Not for an
    /// operand, it is computed in pieces, each of which may read as many operands as any; behind a piece without a point, from
    /// what is held next on.
    ///
    /// # Errors
    ///
    /// As [`operands::computed`]; [`Error::Limit`] for more slots than an answer has.
    pub(super) async fn take_computed(
        &self,
        series: &Arc<Definition>,
        formula: &DefinedFormula,
        times: TimeRange,
        (making, computed): (&mut AnswerMaking<'_>, &mut u64),
    ) -> Result<(), Error> {
        if self.is_nested {
            making.take_points(operands::computed(self, series, formula, times).await?);
            return Ok(());
        }
        let mut slots = self.sizes.piece_slots;
        let mut next = Some(times.from).filter(|_| !times.is_empty());
        while let Some(from) = next {
            let rest = TimeRange { from, ..times };
            let piece = TimeRange { to: piece_end(series, formula, rest, slots), ..rest };
            let points = operands::computed(&self.with_all_reads(), series, formula, piece).await?;
            let is_empty = points.is_empty();
            next = match (piece.to < times.to, is_empty) {
                (false, _) => None,
                (true, false) => Some(piece.to),
                (true, true) => self.held_from(series, TimeRange { from: piece.to, ..times }).await?,
            };
            let is_passed_over = is_empty && next != Some(piece.to);
            self.count_computed(series, piece, (&points, is_passed_over), computed)?;
            slots = match is_passed_over {
                true => (self.sizes.piece_slots / FIRST_PIECES).max(1),
                false => slots.saturating_mul(2).min(self.sizes.piece_slots),
            };
            making.take_points(points);
        }
        Ok(())
    }

    /// The first of `times` at which a computed series may have a point.
    async fn held_from(&self, series: &Arc<Definition>, times: TimeRange) -> Result<Option<i64>, Error> {
        let next = Search::new(self.context(), self.request()).next(series, times.from).await?;
        let layout = series.layout();
        let named =
            next.map(|next| layout.meeting(TimeRange { from: next, to: next.saturating_add(1) }).from);
        Ok(named.map(|named| named.max(times.from)).filter(|named| *named < times.to))
    }

    /// Counts a piece: the slots with a point; all where there is none and nobody knows where the next one is.
    fn count_computed(
        &self,
        series: &Definition,
        piece: TimeRange,
        (points, is_passed_over): (&Points, bool),
        computed: &mut u64,
    ) -> Result<(), Error> {
        let is_walked = points.is_empty() && !is_passed_over;
        let slots = match series.raster.as_ref().filter(|_| is_walked) {
            Some(raster) => raster.count(piece),
            None => points.len() as u64,
        };
        *computed = computed.saturating_add(slots);
        let most = self.answer_slots_max();
        if *computed > most {
            let what = format!("series {}: slots to compute for one answer", series.name).into();
            let limit = LimitExceeded { name: "answer_slots_max", max: most, got: *computed };
            return Err(Error::Limit { what, limit });
        }
        Ok(())
    }
}

/// Where to end the first piece of `times` that is computed at once: the longer, the further the formula looks around.
fn piece_end(series: &Definition, formula: &DefinedFormula, times: TimeRange, slots: u64) -> i64 {
    let Some(raster) = &series.raster else {
        return times.to;
    };
    let (before, after) = formula.tree.reach();
    let reach = before.saturating_add(after);
    // The ends of a piece may cut two slots more.
    let most = FORMULA_SLOTS_MAX.saturating_sub(reach).saturating_sub(2).max(1);
    let slots = steps(slots.max(reach.min(most / 2)).min(most));
    let end = match raster.step() {
        Some(_) => raster.shift(times.from, slots),
        // The longest piece of days is shorter than what is computed at most.
        None => raster.ceil(times.from.saturating_add(DAY.saturating_mul(slots))),
    };
    // Beyond the years of the calendar there are no slots.
    if end <= times.from { times.to } else { end.min(times.to) }
}
