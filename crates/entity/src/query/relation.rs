//! How geometries lie to each other: topology on the plane of longitude and latitude (DE-9IM),
//! distance in metres over the sphere.
//!
//! Lines between positions are straight on that plane, as GeoJSON has them; the distance to a line
//! is the great-circle distance to its closest point.

use std::panic::{AssertUnwindSafe, catch_unwind};

use geo::relate::IntersectionMatrix;
use geo::{Contains, Coord, Geometry, Intersects, Rect, Relate};
use store::{Deadline, Pace};

use super::GeoRelation;
use crate::geometry::bounds;

/// The mean radius of the earth in metres.
const EARTH_RADIUS: f64 = 6_371_008.8;
/// Shorter lines (in degrees) far from the poles are as good as straight in a local projection.
const SHORT_DEGREES: f64 = 1.0;
const POLAR_DEGREES: f64 = 80.0;
/// Points tried along a long line before the best is refined.
const SAMPLES: u32 = 32;
const REFINEMENTS: u32 = 40;
/// The distance of a line from another costs about so many steps of a [`Pace`].
pub(crate) const STEPS_A_PAIR: usize = 8;

/// Whether `stored` lies to `asked` as `relation` says, by looking at all of both.
///
/// Cost: a few dozen nanoseconds where bounding boxes or points decide it; otherwise in the order
/// of the positions (relations) or of their product (near).
pub(crate) fn relates(relation: GeoRelation, stored: &Geometry<f64>, asked: &Geometry<f64>) -> bool {
    if let GeoRelation::Near { max, min } = relation {
        let distance = distance(stored, asked);
        return max.is_none_or(|max| distance <= max) && min.is_none_or(|min| distance >= min);
    }
    let (Some(here), Some(there)) = (bounds(stored), bounds(asked)) else {
        return relation == GeoRelation::Disjoint;
    };
    if !here.intersects(&there) {
        return relation == GeoRelation::Disjoint;
    }
    match (relation, stored, asked) {
        (GeoRelation::Intersects, ..) => stored.intersects(asked),
        (GeoRelation::Disjoint, ..) => !stored.intersects(asked),
        (GeoRelation::Within, Geometry::Point(point), Geometry::Polygon(area)) => area.contains(point),
        (GeoRelation::Within, Geometry::Point(point), Geometry::MultiPolygon(area)) => area.contains(point),
        _ => relates_by_topology(relation, stored, asked),
    }
}

/// The same for relations that ask for the whole topology (DE-9IM); false for the others.
///
/// Cost: in the order of the positions of both, and of the places where their lines meet.
pub(crate) fn relates_by_topology(
    relation: GeoRelation,
    stored: &Geometry<f64>,
    asked: &Geometry<f64>,
) -> bool {
    match relation {
        GeoRelation::Within => topology(stored, asked, IntersectionMatrix::is_within),
        GeoRelation::Contains => topology(stored, asked, IntersectionMatrix::is_contains),
        GeoRelation::Equals => topology(stored, asked, IntersectionMatrix::is_equal_topo),
        GeoRelation::Overlaps => topology(stored, asked, IntersectionMatrix::is_overlaps),
        GeoRelation::Near { .. } | GeoRelation::Intersects | GeoRelation::Disjoint => false,
    }
}

/// What the DE-9IM matrix says; false where there is none. The library gives up, by a panic, on some
/// shapes whose rings cross themselves; clients may store such shapes, and a query must outlive them.
fn topology(stored: &Geometry<f64>, asked: &Geometry<f64>, holds: fn(&IntersectionMatrix) -> bool) -> bool {
    let matrix = catch_unwind(AssertUnwindSafe(|| stored.relate(asked)));
    matrix
        .inspect_err(|_| tracing::warn!("a geometry that crosses itself has no topology"))
        .is_ok_and(|m| holds(&m))
}

/// Metres between the closest points of two geometries; 0 where they share one.
///
/// Cost: in the order of the product of their positions.
pub(crate) fn distance(one: &Geometry<f64>, other: &Geometry<f64>) -> f64 {
    distance_paced(one, other, &mut Pace::new(Deadline::default()))
}

/// The same, which counts only if the pace is not over afterwards.
pub(crate) fn distance_paced(one: &Geometry<f64>, other: &Geometry<f64>, pace: &mut Pace) -> f64 {
    if let (Geometry::Point(one), Geometry::Point(other)) = (one, other) {
        return great_circle(one.0, other.0);
    }
    if one.intersects(other) {
        return 0.0;
    }
    let mut closest = f64::INFINITY;
    each_line(one, &mut |a, b| {
        if !pace.spend(1) {
            return;
        }
        each_line(other, &mut |c, d| {
            if pace.spend(STEPS_A_PAIR) {
                closest = closest.min(line_distance((a, b), (c, d)));
            }
        });
    });
    closest
}

/// Metres between two lines that share no point.
pub(crate) fn line_distance((a, b): (Coord<f64>, Coord<f64>), (c, d): (Coord<f64>, Coord<f64>)) -> f64 {
    let ends = [to_line(a, c, d), to_line(b, c, d), to_line(c, a, b), to_line(d, a, b)];
    ends.into_iter().fold(f64::INFINITY, f64::min)
}

/// Boxes that hold every position within `metres` of the geometry, by the distance above.
pub(crate) fn boxes_around(geometry: &Geometry<f64>, metres: f64) -> Vec<Rect<f64>> {
    bounds(geometry).map_or_else(Vec::new, |area| boxes_around_box(&area, metres))
}

/// The same for whatever lies within a box.
pub(crate) fn boxes_around_box(area: &Rect<f64>, metres: f64) -> Vec<Rect<f64>> {
    let world = || vec![Rect::new((-180.0, -90.0), (180.0, 90.0))];
    let (low, high) = (area.min(), area.max());
    let inside = |at: Coord<f64>| at.x.abs() <= 180.0 && at.y.abs() <= 90.0;
    // A little more, for the rounding of distances.
    let angle = metres / EARTH_RADIUS * 1.000_001 + 1e-9;
    if !inside(low) || !inside(high) || angle.is_nan() || angle >= std::f64::consts::FRAC_PI_2 {
        return world();
    }
    let (south, north) = (low.y - angle.to_degrees(), high.y + angle.to_degrees());
    let across = angle.sin() / low.y.abs().max(high.y.abs()).to_radians().cos();
    if south <= -90.0 || north >= 90.0 || across.is_nan() || across >= 1.0 {
        return vec![Rect::new((-180.0, south.max(-90.0)), (180.0, north.min(90.0)))];
    }
    let across = across.asin().to_degrees();
    let (west, east) = (low.x - across, high.x + across);
    let part = |west: f64, east: f64| Rect::new((west, south), (east, north));
    match (west < -180.0, east > 180.0) {
        _ if east - west >= 360.0 => vec![part(-180.0, 180.0)],
        (false, false) => vec![part(west, east)],
        (true, _) => vec![part(west + 360.0, 180.0), part(-180.0, east.min(180.0))],
        (_, true) => vec![part(west, 180.0), part(-180.0, east - 360.0)],
    }
}

fn great_circle(one: Coord<f64>, other: Coord<f64>) -> f64 {
    let half_chord = |angle: f64| (angle.to_radians() / 2.0).sin().powi(2);
    let across = one.y.to_radians().cos() * other.y.to_radians().cos();
    let chord = half_chord(other.y - one.y) + across * half_chord(other.x - one.x);
    2.0 * EARTH_RADIUS * chord.sqrt().min(1.0).asin()
}

/// Metres from a position to the closest of a line's.
fn to_line(at: Coord<f64>, start: Coord<f64>, end: Coord<f64>) -> f64 {
    let ends = great_circle(at, start).min(great_circle(at, end));
    let along = end - start;
    if along == Coord::zero() {
        return ends;
    }
    let metres = |share: f64| great_circle(at, start + along * share);
    if along.x.abs().max(along.y.abs()) > SHORT_DEGREES || at.y.abs() > POLAR_DEGREES {
        return ends.min(least(metres));
    }
    // The same line, on the position's side of the antimeridian.
    let turns = ((at.x - start.x) / 360.0).round() * 360.0;
    let narrow = at.y.to_radians().cos();
    let (x, y) = ((at.x - turns - start.x) * narrow, at.y - start.y);
    let (dx, dy) = (along.x * narrow, along.y);
    let share = ((x * dx + y * dy) / (dx * dx + dy * dy)).clamp(0.0, 1.0);
    ends.min(metres(share))
}

/// The least of a function of a share from 0 to 1: the best of some samples, refined.
fn least(metres: impl Fn(f64) -> f64) -> f64 {
    let share = |sample: u32| f64::from(sample) / f64::from(SAMPLES);
    let best = (0..=SAMPLES).min_by(|a, b| metres(share(*a)).total_cmp(&metres(share(*b)))).unwrap_or(0);
    let (mut low, mut high) = (share(best.saturating_sub(1)), share((best + 1).min(SAMPLES)));
    for _ in 0..REFINEMENTS {
        let third = (high - low) / 3.0;
        if metres(low + third) < metres(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    metres(f64::midpoint(low, high)).min(metres(share(best)))
}

/// Every line of a geometry; a point is a line from itself to itself.
pub(crate) fn each_line(geometry: &Geometry<f64>, see: &mut dyn FnMut(Coord<f64>, Coord<f64>)) {
    match geometry {
        Geometry::Point(point) => see(point.0, point.0),
        Geometry::MultiPoint(points) => points.iter().for_each(|point| see(point.0, point.0)),
        Geometry::Line(line) => see(line.start, line.end),
        Geometry::LineString(line) => line.lines().for_each(|line| see(line.start, line.end)),
        Geometry::MultiLineString(lines) => {
            lines.iter().flat_map(|line| line.lines()).for_each(|line| see(line.start, line.end));
        }
        Geometry::Polygon(area) => each_side(area, see),
        Geometry::MultiPolygon(areas) => areas.iter().for_each(|area| each_side(area, see)),
        Geometry::GeometryCollection(parts) => parts.iter().for_each(|part| each_line(part, see)),
        Geometry::Rect(area) => each_side(&area.to_polygon(), see),
        Geometry::Triangle(area) => each_side(&area.to_polygon(), see),
    }
}

fn each_side(area: &geo::Polygon<f64>, see: &mut dyn FnMut(Coord<f64>, Coord<f64>)) {
    for ring in std::iter::once(area.exterior()).chain(area.interiors()) {
        ring.lines().for_each(|line| see(line.start, line.end));
    }
}

#[cfg(test)]
mod tests;
