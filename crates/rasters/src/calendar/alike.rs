//! Whether two rasters have the same slots, known from the changes of their clocks: slots are not looked at one by one.

use super::{Raster, Zone};
use strands::TimeRange;

impl Raster {
    /// Whether all slots that have a part in `range` are slots of `other`, too, as quarter hours of Berlin are those of UTC.
    /// Cost: a comparison of tables where days begin at the same time of zones that never differ; else some 100 ns for each
    /// change of a clock in the range, and for each slot of months and longer, up to the first that differs.
    pub fn has_slots_of(&self, other: &Self, range: TimeRange) -> bool {
        if self.steps() != other.steps() || range.is_empty() {
            return range.is_empty();
        }
        if self.day_start_seconds() == other.day_start_seconds() && self.zone().is_like(other.zone()) {
            return true;
        }
        if !self.begins_anew_daily() {
            return self.has_runs_of(other, range);
        }
        // Slots are counted from the beginnings of days: other slots in the same day need another clock on that day.
        let (days, others) = (self.days(), other.days());
        let is_alike_at = |change: i64| {
            let day = days.slot(change);
            day.to <= range.from || self.has_runs_of(other, day)
        };
        days.has_runs_of(&others, range)
            && changes(self.zone(), range).all(is_alike_at)
            && changes(other.zone(), range).all(is_alike_at)
    }

    /// The same, run by run.
    fn has_runs_of(&self, other: &Self, range: TimeRange) -> bool {
        let mut at = self.floor(range.from);
        if other.floor(range.from) != at {
            return false;
        }
        while at < range.to {
            let (one, two) = (self.run_at(at, range.to), other.run_at(at, range.to));
            let slot = one.slot(at);
            if slot != two.slot(at) {
                return false;
            }
            // As long as both take the same steps they stay together.
            let steps = if one.step == two.step { (one.to.min(two.to) - at) / one.step } else { 0 };
            let next = if steps > 0 { at + steps * one.step } else { slot.to };
            if next <= at {
                break;
            }
            at = next;
        }
        true
    }
}

/// When the clock of a zone was changed in `range`, and for the last time before: maybe on the first day of it.
fn changes(zone: &Zone, range: TimeRange) -> impl Iterator<Item = i64> {
    let first = zone.segment_at(range.from).place;
    let segments = (first..).map_while(|place| zone.segment(place));
    segments
        .map(|segment| segment.from)
        .skip_while(|from| *from == i64::MIN)
        .take_while(move |from| *from < range.to)
}
