//! The lines of a geometry in a tree of boxes: which of them meet, or come near, those of another geometry.

use geo::{Coord, CoordsIter, GeoNum, Geometry, Intersects, Kernel, Line, Orientation, Rect};
use rstar::{AABB, PointDistance, RTree, RTreeObject};
use smallvec::SmallVec;
use store::Pace;

use crate::geometry::bounds;
use crate::query::relation::{STEPS_A_PAIR, boxes_around_box, each_line, line_distance};

/// A line of no ring: of a LineString, or a point.
const NO_RING: u32 = u32::MAX;

/// The lines of a geometry.
#[derive(Clone, Debug)]
pub(super) struct SideTree {
    pub(super) sides: RTree<Side>,
    rings: Vec<Ring>,
}

/// One line; a point is a line from itself to itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub(super) line: Line<f64>,
    ring: u32,
    /// Whether it represents its part (a ring, a line string, a point) of the geometry.
    first: bool,
}

#[derive(Clone, Copy, Debug)]
struct Ring {
    polygon: u32,
    hole: bool,
}

/// How a position lies to the areas of a geometry.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Position {
    pub(super) inside: bool,
    on_boundary: bool,
}

impl RTreeObject for Side {
    type Envelope = AABB<[f64; 2]>;

    fn envelope(&self) -> Self::Envelope {
        AABB::from_corners(corner(self.line.start), corner(self.line.end))
    }
}

impl PointDistance for Side {
    fn distance_2(&self, point: &[f64; 2]) -> f64 {
        let Line { start, end } = self.line;
        let at = Coord { x: point[0], y: point[1] };
        let (along, to) = (end - start, at - start);
        let square = along.x * along.x + along.y * along.y;
        let share =
            if square == 0.0 { 0.0 } else { ((to.x * along.x + to.y * along.y) / square).clamp(0.0, 1.0) };
        let rest = to - along * share;
        rest.x * rest.x + rest.y * rest.y
    }
}

pub(super) fn corner(at: Coord<f64>) -> [f64; 2] {
    [at.x, at.y]
}

pub(super) fn envelope(area: &Rect<f64>) -> AABB<[f64; 2]> {
    AABB::from_corners(corner(area.min()), corner(area.max()))
}

impl SideTree {
    /// `None` for kinds that queries do not have.
    pub(super) fn new(geometry: &Geometry<f64>) -> Option<Self> {
        let (mut sides, mut rings) = (Vec::new(), Vec::new());
        match geometry {
            Geometry::MultiPoint(points) => {
                sides.extend(points.iter().map(|point| Side {
                    line: Line::new(point.0, point.0),
                    ring: NO_RING,
                    first: true,
                }));
            }
            Geometry::LineString(line) => add_lines(&mut sides, line, NO_RING),
            Geometry::MultiLineString(lines) => {
                lines.iter().for_each(|line| add_lines(&mut sides, line, NO_RING));
            }
            Geometry::Polygon(area) => add_polygon(&mut sides, &mut rings, area, 0),
            Geometry::MultiPolygon(areas) => {
                for (polygon, area) in (0..).zip(areas) {
                    add_polygon(&mut sides, &mut rings, area, polygon);
                }
            }
            Geometry::Point(_)
            | Geometry::Line(_)
            | Geometry::GeometryCollection(_)
            | Geometry::Rect(_)
            | Geometry::Triangle(_) => return None,
        }
        Some(Self { sides: RTree::bulk_load(sides), rings })
    }

    /// Whether a line passes through the box.
    pub(super) fn meets_box(&self, area: &Rect<f64>, pace: &mut Pace) -> bool {
        let mut sides = self.sides.locate_in_envelope_intersecting(&envelope(area));
        sides.any(|side| pace.spend(1) && area.intersects(&side.line))
    }

    /// Whether `stored` shares a point with the geometry.
    pub(super) fn intersects(&self, stored: &Geometry<f64>, pace: &mut Pace) -> bool {
        let mut found = false;
        let mut end: Option<Coord<f64>> = None;
        each_line(stored, &mut |a, b| {
            if found || !pace.spend(1) {
                return;
            }
            let line = Line::new(a, b);
            let mut sides = self.sides.locate_in_envelope_intersecting(&envelope(&Rect::new(a, b)));
            found = sides.any(|side| pace.spend(1) && side.line.intersects(&line));
            // Where lines meet end to end, one of them is enough.
            if end != Some(a) && !self.rings.is_empty() {
                found = found || self.position(a, pace) != Position::default();
            }
            end = Some(b);
        });
        found || self.has_part_inside(stored, pace)
    }

    /// Whether a part of the geometry lies inside of `stored`, where boundaries do not meet.
    fn has_part_inside(&self, stored: &Geometry<f64>, pace: &mut Pace) -> bool {
        let Some(area) = bounds(stored).filter(|_| is_areal(stored)) else {
            return false;
        };
        let positions = stored.coords_count();
        let mut sides = self.sides.locate_in_envelope_intersecting(&envelope(&area));
        sides.any(|side| side.first && pace.spend(positions) && stored.intersects(&side.line.start))
    }

    /// Whether a line comes near enough to one of `stored`'s, among those that may be within so many metres.
    pub(super) fn comes_near(
        &self,
        stored: &Geometry<f64>,
        metres: f64,
        enough: &dyn Fn(f64) -> bool,
        pace: &mut Pace,
    ) -> bool {
        let mut found = false;
        each_line(stored, &mut |a, b| {
            if found || !pace.spend(1) {
                return;
            }
            found = boxes_around_box(&Rect::new(a, b), metres).iter().any(|area| {
                let mut sides = self.sides.locate_in_envelope_intersecting(&envelope(area));
                sides.any(|side| {
                    pace.spend(STEPS_A_PAIR)
                        && enough(line_distance((a, b), (side.line.start, side.line.end)))
                })
            });
        });
        found
    }

    /// How a position lies to the areas, by winding numbers: what passes east of it decides.
    pub(super) fn position(&self, at: Coord<f64>, pace: &mut Pace) -> Position {
        let ray = AABB::from_corners(corner(at), [f64::INFINITY, at.y]);
        let mut windings: SmallVec<[(u32, i32); 8]> = SmallVec::new();
        let mut on_boundary: SmallVec<[u32; 4]> = SmallVec::new();
        for side in self.sides.locate_in_envelope_intersecting(&ray) {
            if side.ring == NO_RING || !pace.spend(1) {
                continue;
            }
            match winding(&side.line, at) {
                Some(0) => {}
                Some(winding) => windings.push((side.ring, winding)),
                None => on_boundary.push(side.ring),
            }
        }
        if windings.is_empty() && on_boundary.is_empty() {
            return Position::default();
        }
        windings.sort_unstable();
        let inside_ring = |ring: u32| {
            let from = windings.partition_point(|(of, _)| *of < ring);
            let of_ring = windings.iter().skip(from).take_while(|(of, _)| *of == ring);
            of_ring.map(|(_, winding)| winding).sum::<i32>() != 0
        };
        self.judge(&inside_ring, &on_boundary, windings.iter().map(|(ring, _)| *ring))
    }

    /// Puts rings together to polygons: inside of the outer ring, and of no hole.
    fn judge(
        &self,
        inside_ring: &dyn Fn(u32) -> bool,
        on_boundary: &[u32],
        wound: impl Iterator<Item = u32>,
    ) -> Position {
        let mut met: SmallVec<[u32; 8]> = wound.chain(on_boundary.iter().copied()).collect();
        met.sort_unstable();
        met.dedup();
        let mut position = Position::default();
        let mut polygon: Option<(u32, Position)> = None;
        // Rings of a polygon follow each other, the outer one first.
        for number in met {
            let Some(ring) = self.rings.get(number as usize) else { continue };
            let is_on = on_boundary.contains(&number);
            if polygon.as_ref().is_none_or(|(of, _)| *of != ring.polygon) {
                position.add(polygon.map(|(_, position)| position));
                polygon = Some((ring.polygon, Position::default()));
            }
            let Some((_, of_polygon)) = &mut polygon else { continue };
            if ring.hole {
                // A hole counts only where the outer ring goes around it.
                if of_polygon.inside && (is_on || inside_ring(number)) {
                    *of_polygon = Position { inside: false, on_boundary: is_on };
                }
            } else {
                *of_polygon = Position { inside: !is_on && inside_ring(number), on_boundary: is_on };
            }
        }
        position.add(polygon.map(|(_, position)| position));
        position
    }
}

impl Position {
    fn add(&mut self, other: Option<Self>) {
        if let Some(other) = other {
            self.inside |= other.inside;
            self.on_boundary |= other.on_boundary;
        }
    }
}

fn add_lines(sides: &mut Vec<Side>, line: &geo::LineString<f64>, ring: u32) {
    let lines = line.lines().enumerate();
    sides.extend(lines.map(|(at, line)| Side { line, ring, first: at == 0 }));
}

fn add_polygon(sides: &mut Vec<Side>, rings: &mut Vec<Ring>, area: &geo::Polygon<f64>, polygon: u32) {
    let outer = std::iter::once((area.exterior(), false));
    for (ring, hole) in outer.chain(area.interiors().iter().map(|ring| (ring, true))) {
        let number = u32::try_from(rings.len()).expect("a geometry has fewer rings");
        rings.push(Ring { polygon, hole });
        add_lines(sides, ring, number);
    }
}

fn is_areal(geometry: &Geometry<f64>) -> bool {
    match geometry {
        Geometry::Polygon(_) | Geometry::MultiPolygon(_) | Geometry::Rect(_) | Geometry::Triangle(_) => true,
        Geometry::GeometryCollection(parts) => parts.iter().any(is_areal),
        Geometry::Point(_)
        | Geometry::MultiPoint(_)
        | Geometry::Line(_)
        | Geometry::LineString(_)
        | Geometry::MultiLineString(_) => false,
    }
}

/// How often a line of a ring, east of a position or through its height, winds around it; `None`: the position is on it.
fn winding(line: &Line<f64>, at: Coord<f64>) -> Option<i32> {
    let (low, high) = (line.start.x.min(line.end.x), line.start.x.max(line.end.x));
    let orientation = || <f64 as GeoNum>::Ker::orient2d(line.start, line.end, at);
    let is_on = |orientation| orientation == Orientation::Collinear && (low..=high).contains(&at.x);
    if line.start.y <= at.y {
        if line.end.y < at.y {
            return Some(0);
        }
        let orientation = orientation();
        match orientation {
            _ if is_on(orientation) => None,
            Orientation::CounterClockwise if line.end.y != at.y => Some(1),
            _ => Some(0),
        }
    } else if line.end.y <= at.y {
        let orientation = orientation();
        match orientation {
            _ if is_on(orientation) => None,
            Orientation::Clockwise => Some(-1),
            _ => Some(0),
        }
    } else {
        Some(0)
    }
}
