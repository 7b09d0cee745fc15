//! Distances against known ones, boxes against distances, relations by table; never a panic.

use geo::{Distance, Haversine, LineString, MultiPoint, Point, Polygon, line_string, polygon};
use proptest::prelude::*;

use super::*;

fn geometry(text: &str) -> Geometry<f64> {
    crate::geometry::parse_geometry(text).unwrap()
}

fn point(x: f64, y: f64) -> Geometry<f64> {
    Geometry::Point(Point::new(x, y))
}

#[track_caller]
fn check_distance(one: &Geometry<f64>, other: &Geometry<f64>, expected: f64) {
    let found = distance(one, other);
    assert!((found - expected).abs() <= expected * 1e-3 + 0.01, "{found} for {expected}");
    assert!((distance(other, one) - found).abs() <= found * 1e-9, "the same the other way");
}

#[test]
fn metres_between() {
    let degree = EARTH_RADIUS.to_radians();
    check_distance(&point(0.0, 0.0), &point(0.0, 1.0), degree);
    check_distance(&point(179.5, 0.0), &point(-179.5, 0.0), degree);
    check_distance(&point(0.0, 89.0), &point(180.0, 89.0), 2.0 * degree);
    let street: Geometry<f64> = line_string![(x: 0.0, y: 0.0), (x: 0.1, y: 0.0)].into();
    check_distance(&point(0.05, 0.01), &street, degree * 0.01);
    check_distance(&point(0.2, 0.0), &street, degree * 0.1);
    let parallel: Geometry<f64> = line_string![(x: -90.0, y: 60.0), (x: 90.0, y: 60.0)].into();
    check_distance(&point(0.0, 61.0), &parallel, degree);
    let square: Geometry<f64> =
        polygon![(x: 0.0, y: 0.0), (x: 1.0, y: 0.0), (x: 1.0, y: 1.0), (x: 0.0, y: 1.0)].into();
    check_distance(&point(0.5, 0.5), &square, 0.0);
    check_distance(&point(0.5, -0.5), &square, degree * 0.5);
    let over_the_line: Geometry<f64> = line_string![(x: 179.9, y: -0.1), (x: 179.9, y: 0.1)].into();
    check_distance(&point(-179.9, 0.0), &over_the_line, degree * 0.2);
}

#[track_caller]
fn check(relation: GeoRelation, stored: &str, asked: &str, expected: bool) {
    assert_eq!(relates(relation, &geometry(stored), &geometry(asked)), expected, "{relation:?} {stored}");
}

#[test]
fn relations_by_table() {
    use GeoRelation::{Contains, Disjoint, Equals, Intersects, Overlaps, Within};
    let square = r#"{"type":"Polygon","coordinates":[[[0,0],[2,0],[2,2],[0,2],[0,0]]]}"#;
    let turned = r#"{"type":"Polygon","coordinates":[[[2,2],[0,2],[0,0],[2,0],[2,2]]]}"#;
    let shifted = r#"{"type":"Polygon","coordinates":[[[1,1],[3,1],[3,3],[1,3],[1,1]]]}"#;
    let inner = r#"{"type":"Point","coordinates":[1,1]}"#;
    let corner = r#"{"type":"Point","coordinates":[2,2]}"#;
    let outer = r#"{"type":"Point","coordinates":[5,5]}"#;
    let both = r#"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,1]},
        {"type":"LineString","coordinates":[[0.5,0.5],[1.5,0.5]]}]}"#;
    let points = r#"{"type":"MultiPoint","coordinates":[[1,1],[5,5]]}"#;
    for (relation, stored, asked, expected) in [
        (Within, inner, square, true),
        (Within, corner, square, false),
        (Within, outer, square, false),
        (Within, both, square, true),
        (Within, points, square, false),
        (Contains, square, inner, true),
        (Contains, square, outer, false),
        (Contains, inner, square, false),
        (Intersects, corner, square, true),
        (Intersects, shifted, square, true),
        (Intersects, points, square, true),
        (Intersects, outer, square, false),
        (Disjoint, outer, square, true),
        (Disjoint, points, square, false),
        (Disjoint, shifted, square, false),
        (Equals, turned, square, true),
        (Equals, shifted, square, false),
        (Equals, inner, inner, true),
        (Overlaps, shifted, square, true),
        (Overlaps, turned, square, false),
        (Overlaps, inner, square, false),
    ] {
        check(relation, stored, asked, expected);
    }
    check(GeoRelation::Near { max: Some(1000.0), min: None }, inner, inner, true);
    check(GeoRelation::Near { max: Some(1000.0), min: None }, outer, inner, false);
    check(GeoRelation::Near { max: None, min: Some(1000.0) }, outer, inner, true);
    check(GeoRelation::Near { max: Some(1e6), min: Some(1000.0) }, outer, inner, true);
}

fn coordinate() -> impl Strategy<Value = Coord<f64>> {
    prop_oneof![
        (-180.0..=180.0, -90.0..=90.0).prop_map(|(x, y)| Coord { x, y }),
        (-2_i32..=2, -2_i32..=2).prop_map(|(x, y)| Coord { x: f64::from(x), y: f64::from(y) }),
        (179.0..=180.0, -1.0..=1.0).prop_map(|(x, y)| Coord { x, y }),
        (-180.0..=-179.0, -1.0..=1.0).prop_map(|(x, y)| Coord { x, y }),
    ]
}

/// Shapes as bad as clients send them: rings that cross themselves, repeat, or have no area.
fn shape() -> impl Strategy<Value = Geometry<f64>> {
    let line = |size| prop::collection::vec(coordinate(), size).prop_map(LineString);
    prop_oneof![
        coordinate().prop_map(|at| Geometry::Point(Point(at))),
        line(1..4).prop_map(|line| Geometry::MultiPoint(MultiPoint(line.points().collect()))),
        line(2..5).prop_map(Geometry::LineString),
        (line(4..7), prop::collection::vec(line(4..5), 0..2))
            .prop_map(|(outer, inner)| Geometry::Polygon(Polygon::new(outer, inner))),
    ]
}

proptest! {
    #[test]
    fn points_agree_with_the_library(a in coordinate(), b in coordinate()) {
        let theirs = Haversine.distance(Point(a), Point(b));
        prop_assert!((great_circle(a, b) - theirs).abs() <= 1e-6 * theirs + 1e-3);
    }

    #[test]
    fn what_is_near_is_in_a_box(centre in shape(), at in coordinate(), metres in 0.0..3_000_000.0) {
        if distance(&centre, &Geometry::Point(Point(at))) <= metres {
            let boxes = boxes_around(&centre, metres);
            prop_assert!(boxes.iter().any(|area| area.intersects(&at)), "{boxes:?}");
        }
    }

    #[test]
    fn bad_shapes_do_not_panic(one in shape(), other in shape(), parts in prop::collection::vec(shape(), 1..4)) {
        let parts = Geometry::GeometryCollection(geo::GeometryCollection(parts));
        for relation in [
            GeoRelation::Within,
            GeoRelation::Contains,
            GeoRelation::Intersects,
            GeoRelation::Equals,
            GeoRelation::Disjoint,
            GeoRelation::Overlaps,
            GeoRelation::Near { max: Some(1.0), min: None },
        ] {
            for (one, other) in [(&one, &other), (&one, &parts), (&parts, &other)] {
                relates(relation, one, other);
            }
        }
    }
}
