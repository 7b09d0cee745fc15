//! Prepared geometries answer as those that are looked at whole, for fewer steps.

use geo::{Coord, LineString, MultiLineString, MultiPoint, MultiPolygon, Point, Polygon};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use store::Deadline;

use super::super::relation::distance;
use super::*;

fn unbounded() -> Pace {
    Pace::new(Deadline::default())
}

/// A place on a grid, so that shapes often touch, or anywhere.
fn place(random: &mut StdRng, on_grid: bool) -> Coord<f64> {
    if on_grid {
        return Coord { x: f64::from(random.random_range(0..12)), y: f64::from(random.random_range(0..12)) };
    }
    Coord { x: random.random_range(0.0..12.0), y: random.random_range(0.0..12.0) }
}

/// A polygon whose corners are seen from its middle.
fn star(random: &mut StdRng, middle: Coord<f64>, reach: f64) -> LineString<f64> {
    let corners = random.random_range(3..30);
    let corner = |at: i32| {
        let turn = f64::from(at) / f64::from(corners) * std::f64::consts::TAU;
        let reach = reach * random.random_range(0.5..1.0);
        Coord { x: middle.x + reach * turn.cos(), y: middle.y + reach * turn.sin() }
    };
    let mut ring: Vec<_> = (0..corners).map(corner).collect();
    ring.push(ring[0]);
    LineString(ring)
}

/// A row of towers on the grid, with corners that lie on straight sides.
fn skyline(random: &mut StdRng) -> Polygon<f64> {
    let (west, south) = (f64::from(random.random_range(0..6)), f64::from(random.random_range(0..6)));
    let mut ring = vec![Coord { x: west, y: south }];
    let towers = random.random_range(2..6);
    for tower in 0..towers {
        let (x, y) = (west + f64::from(tower), south + f64::from(random.random_range(1..5)));
        ring.extend([Coord { x, y }, Coord { x: x + 1.0, y }]);
    }
    ring.push(Coord { x: west + f64::from(towers), y: south });
    ring.push(ring[0]);
    ring.dedup();
    Polygon::new(LineString(ring), Vec::new())
}

fn polygon(random: &mut StdRng) -> Polygon<f64> {
    if random.random_bool(0.4) {
        return skyline(random);
    }
    let (middle, reach) = (place(random, false), random.random_range(0.2..6.0));
    let holes = if random.random_bool(0.3) { vec![star(random, middle, reach * 0.4)] } else { Vec::new() };
    Polygon::new(star(random, middle, reach), holes)
}

fn line(random: &mut StdRng) -> LineString<f64> {
    let on_grid = random.random_bool(0.5);
    let count = random.random_range(2..20);
    LineString((0..count).map(|_| place(random, on_grid)).collect())
}

fn geometry(random: &mut StdRng) -> Geometry<f64> {
    let on_grid = random.random_bool(0.5);
    match random.random_range(0..9) {
        0..2 => Point(place(random, on_grid)).into(),
        2 => {
            let count = random.random_range(1..20);
            MultiPoint((0..count).map(|_| Point(place(random, on_grid))).collect()).into()
        }
        3 => line(random).into(),
        4 => MultiLineString(vec![line(random), line(random)]).into(),
        5..8 => polygon(random).into(),
        // Two that are apart.
        _ => {
            let (one, mut other) = (polygon(random), polygon(random));
            other.exterior_mut(|ring| ring.0.iter_mut().for_each(|at| at.x += 20.0));
            other.interiors_mut(|rings| {
                rings.iter_mut().flat_map(|ring| &mut ring.0).for_each(|at| at.x += 20.0)
            });
            MultiPolygon(vec![one, other]).into()
        }
    }
}

fn relations(random: &mut StdRng) -> [GeoRelation; 9] {
    let metres = random.random_range(0.0..600_000.0);
    [
        GeoRelation::Near { max: Some(metres), min: None },
        GeoRelation::Near { max: None, min: Some(metres) },
        GeoRelation::Near { max: Some(metres * 1.5), min: Some(metres) },
        GeoRelation::Within,
        GeoRelation::Contains,
        GeoRelation::Intersects,
        GeoRelation::Equals,
        GeoRelation::Disjoint,
        GeoRelation::Overlaps,
    ]
}

#[test]
fn prepared_geometries_answer_as_plain_ones() {
    let mut indexed = 0;
    for seed in store::testing::seeds(100) {
        let random = &mut StdRng::seed_from_u64(seed);
        let asked = geometry(random);
        let shape = Shape::new(&asked);
        indexed += usize::from(shape.index.is_some());
        for at in 0..12 {
            let stored = if at == 0 { asked.clone() } else { geometry(random) };
            for relation in relations(random) {
                let (found, expected) =
                    (shape.relates(relation, &stored, &mut unbounded()), relates(relation, &stored, &asked));
                assert_eq!(found, expected, "seed {seed}: {relation:?}\n{stored:?}\n{asked:?}");
            }
            let (found, expected) = (shape.distance(&stored, &mut unbounded()), distance(&stored, &asked));
            assert!((found - expected).abs() <= expected * 1e-9, "seed {seed}: {found} {expected}");
        }
    }
    assert!(indexed > 50, "{indexed}");
}

#[test]
fn distances_cross_the_antimeridian() {
    let ring = |west: f64| {
        let at = |x: f64, y: f64| Coord { x: west + x, y };
        let steps = (0..20).map(|step| at(f64::from(step) / 20.0, f64::from(step % 2) / 10.0));
        LineString(steps.collect())
    };
    for (west, stored) in [(178.9, -179.5), (-179.9, 179.2), (-179.9, -179.95)] {
        let (asked, stored) = (Geometry::from(ring(west)), Geometry::from(Point::new(stored, 0.0)));
        let (shape, expected) = (Shape::new(&asked), distance(&stored, &asked));
        assert!((shape.distance(&stored, &mut unbounded()) - expected).abs() < 1e-6);
        for (metres, holds) in [(expected * 1.01 + 1.0, true), (expected * 0.99 - 1.0, false)] {
            let near = GeoRelation::Near { max: Some(metres), min: None };
            assert_eq!(shape.relates(near, &stored, &mut unbounded()), holds, "{west} {metres}");
        }
    }
}

/// A ring of so many corners, ten degrees wide.
fn ring(corners: u32) -> Geometry<f64> {
    let corner = |at: u32| {
        let turn = f64::from(at % corners) / f64::from(corners) * std::f64::consts::TAU;
        Coord { x: 5.0 * turn.cos(), y: 5.0 * turn.sin() }
    };
    Polygon::new(LineString((0..=corners).map(corner).collect()), Vec::new()).into()
}

/// Whether relating points all over takes at most so many looks at the clock.
fn takes_at_most(looks: u64, corners: u32, relation: GeoRelation) -> bool {
    let shape = Shape::new(&ring(corners));
    let pace = &mut Pace::new(Deadline::after_looks(looks));
    for at in 0..4000 {
        let (x, y) = (f64::from(at % 80) / 4.0 - 10.0, f64::from(at / 80) / 3.0 - 8.0);
        shape.relates(relation, &Point::new(x, y).into(), pace);
    }
    pace.check().is_ok()
}

#[test]
fn many_corners_cost_little_more_than_few() {
    for relation in [GeoRelation::Near { max: Some(50_000.0), min: None }, GeoRelation::Within] {
        let looks = |corners: u32| (0..).find(|looks| takes_at_most(*looks, corners, relation)).unwrap();
        let few = looks(50);
        assert!(takes_at_most(few * 10 + 10, 5000, relation), "{relation:?}: {few} looks for 50 corners");
    }
}

#[test]
fn the_deadline_is_asked_inside_of_one_geometry() {
    let near = GeoRelation::Near { max: None, min: Some(1000.0) };
    let (small, large) = (Shape::new(&Point::new(30.0, 30.0).into()), Shape::new(&ring(5000)));
    let Geometry::Polygon(mut stored) = ring(50_000) else { panic!("no ring") };
    // Beside the other ring.
    stored.exterior_mut(|ring| ring.0.iter_mut().for_each(|at| at.x += 12.0));
    let stored = stored.into();
    for shape in [small, large] {
        let mut pace = Pace::new(Deadline::after_looks(1));
        shape.relates(near, &stored, &mut pace);
        assert!(pace.check().is_err());
        let mut pace = Pace::new(Deadline::after_looks(1));
        shape.distance(&stored, &mut pace);
        assert!(pace.check().is_err());
    }
}
