//! A query's geometry, made ready once for many stored ones: its lines in a tree of boxes.
//!
//! Invariant: answers are those of `relation.rs`, which looks at every line of both. Here bounding boxes decide what they
//! can, then the lines that come near enough, and only where boundaries meet is the whole relation worked out.

mod side_tree;

#[cfg(test)]
mod tests;

use geo::{CoordsIter, Geometry, Intersects, Rect};
use store::Pace;

use super::GeoRelation;
use super::relation::{
    STEPS_A_PAIR, boxes_around_box, distance_paced, each_line, line_distance, relates, relates_by_topology,
};
use crate::geometry::bounds;

use side_tree::{SideTree, corner, envelope};

/// Geometries of fewer positions are as quick without a tree.
const PLAIN_POSITIONS_MAX: usize = 8;
/// Working out a topology costs about so many steps a position.
const STEPS_A_POSITION: usize = 16;

/// A geometry that many stored ones are related to.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    geometry: Geometry<f64>,
    area: Option<Rect<f64>>,
    positions: usize,
    index: Option<SideTree>,
}

impl Shape {
    /// Cost: in the order of the positions, and their logarithm.
    pub(super) fn new(geometry: &Geometry<f64>) -> Self {
        let positions = geometry.coords_count();
        let index = (positions > PLAIN_POSITIONS_MAX).then(|| SideTree::new(geometry)).flatten();
        Self { geometry: geometry.clone(), area: bounds(geometry), positions, index }
    }

    /// How many positions it has.
    pub(super) fn positions(&self) -> usize {
        self.positions
    }

    /// Whether `stored` lies to this as `relation` says; counts only if the pace is not over afterwards.
    ///
    /// Cost: in the order of the logarithm of the positions where boundaries do not meet, or are not near each other by
    /// the distance that is asked.
    pub(super) fn relates(&self, relation: GeoRelation, stored: &Geometry<f64>, pace: &mut Pace) -> bool {
        if let GeoRelation::Near { max, min } = relation {
            return self.is_near(stored, max, min, pace);
        }
        let Some(index) = &self.index else {
            pace.spend(stored.coords_count() * STEPS_A_POSITION);
            return relates(relation, stored, &self.geometry);
        };
        let (Some(here), Some(there)) = (bounds(stored), self.area) else {
            return relation == GeoRelation::Disjoint;
        };
        if !here.intersects(&there) {
            return relation == GeoRelation::Disjoint;
        }
        // Boundaries that do not meet leave the stored one inside or outside as a whole.
        if !index.meets_box(&here, pace) {
            let inside = index.position(here.min(), pace).inside;
            return match relation {
                GeoRelation::Intersects | GeoRelation::Within => inside,
                GeoRelation::Disjoint => !inside,
                GeoRelation::Contains | GeoRelation::Equals | GeoRelation::Overlaps => false,
                GeoRelation::Near { .. } => false,
            };
        }
        match (relation, stored) {
            (GeoRelation::Intersects, _) => index.intersects(stored, pace),
            (GeoRelation::Disjoint, _) => !index.intersects(stored, pace),
            (GeoRelation::Within, Geometry::Point(point)) if self.is_areal() => {
                index.position(point.0, pace).inside
            }
            _ => {
                let positions = self.positions + stored.coords_count();
                pace.spend(positions * STEPS_A_POSITION)
                    && relates_by_topology(relation, stored, &self.geometry)
            }
        }
    }

    /// Metres between the closest points of this and `stored`; counts only if the pace is not over afterwards.
    ///
    /// Cost: in the order of the logarithm of the positions where few lines are about as near as the nearest.
    pub(super) fn distance(&self, stored: &Geometry<f64>, pace: &mut Pace) -> f64 {
        let Some(index) = &self.index else {
            return distance_paced(stored, &self.geometry, pace);
        };
        if index.intersects(stored, pace) {
            return 0.0;
        }
        let mut closest = f64::INFINITY;
        each_line(stored, &mut |a, b| {
            if !pace.spend(STEPS_A_PAIR) {
                return;
            }
            if let Some(side) = index.sides.nearest_neighbor(&corner(a)) {
                closest = closest.min(line_distance((a, b), (side.line.start, side.line.end)));
            }
            for area in boxes_around_box(&Rect::new(a, b), closest) {
                for side in index.sides.locate_in_envelope_intersecting(&envelope(&area)) {
                    if !pace.spend(STEPS_A_PAIR) {
                        return;
                    }
                    closest = closest.min(line_distance((a, b), (side.line.start, side.line.end)));
                }
            }
        });
        closest
    }

    fn is_areal(&self) -> bool {
        matches!(self.geometry, Geometry::Polygon(_) | Geometry::MultiPolygon(_))
    }

    fn is_near(&self, stored: &Geometry<f64>, max: Option<f64>, min: Option<f64>, pace: &mut Pace) -> bool {
        let Some(index) = &self.index else {
            let distance = distance_paced(stored, &self.geometry, pace);
            return max.is_none_or(|max| distance <= max) && min.is_none_or(|min| distance >= min);
        };
        if let Some(max) = max
            && !self.may_reach(stored, max)
        {
            return false;
        }
        let meets = index.intersects(stored, pace);
        let within = |metres: f64, enough: &dyn Fn(f64) -> bool, pace: &mut Pace| {
            if meets { enough(0.0) } else { index.comes_near(stored, metres, enough, pace) }
        };
        max.is_none_or(|max| within(max, &|metres| metres <= max, pace))
            && min.is_none_or(|min| !within(min, &|metres| metres < min, pace))
    }

    /// Whether bounding boxes leave it open that `stored` is within so many metres.
    fn may_reach(&self, stored: &Geometry<f64>, metres: f64) -> bool {
        let (Some(here), Some(there)) = (bounds(stored), self.area) else {
            return false;
        };
        boxes_around_box(&here, metres).iter().any(|area| area.intersects(&there))
    }
}
