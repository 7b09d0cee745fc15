//! Coverings really cover, and whatever shares a point is found.

use geo::{Contains, LineString, Polygon, polygon};
use proptest::prelude::*;

use super::*;

fn holds(ranges: &[RangeInclusive<u64>], cells: &[u64]) -> bool {
    cells.iter().any(|cell| ranges.iter().any(|range| range.contains(cell)))
}

fn position() -> impl Strategy<Value = Coord<f64>> {
    prop_oneof![
        (-180.0..=180.0, -90.0..=90.0).prop_map(|(x, y)| Coord { x, y }),
        (-0.01..=0.01, 40.0..=40.01).prop_map(|(x, y)| Coord { x, y }),
        (179.99..=180.0, 89.99..=90.0).prop_map(|(x, y)| Coord { x, y }),
        (-4_i32..=4, -2_i32..=2).prop_map(|(x, y)| Coord { x: f64::from(x) * 45.0, y: f64::from(y) * 45.0 }),
    ]
}

fn shape() -> impl Strategy<Value = Geometry<f64>> {
    prop_oneof![
        position().prop_map(|at| Geometry::Point(at.into())),
        prop::collection::vec(position(), 2..6).prop_map(|line| Geometry::LineString(LineString(line))),
        (position(), position(), position())
            .prop_map(|(a, b, c)| Geometry::Polygon(Polygon::new(LineString(vec![a, b, c]), vec![]))),
        (position(), 0.0..0.1).prop_map(|(at, width)| {
            let far = |by: f64, end: f64| if by > end - 0.2 { by - width } else { by + width };
            let (x, y) = (far(at.x, 180.0), far(at.y, 90.0));
            Geometry::Polygon(polygon![at, Coord { x, y: at.y }, Coord { x, y }, Coord { x: at.x, y }])
        }),
    ]
}

#[test]
fn numbers_nest() {
    let leaf = cell(0x00ab_cdef, 0x0012_3456, 0);
    for shift in (2..=LEVEL_MAX).step_by(2) {
        let above = cell(0x00ab_cdef, 0x0012_3456, shift);
        assert!(holds(&ranges(smallvec![above]), &[leaf]), "level {shift} has the leaf below");
        assert!(holds(&ranges(smallvec![leaf]), &[above]), "the leaf has level {shift} above");
    }
    assert_eq!(cell(0x00ab_cdef, 0x0012_3456, LEVEL_MAX), WORLD);
}

#[test]
fn a_point_is_one_small_cell() {
    let cells = cells_of_geometry(r#"{"type":"Point","coordinates":[3.53452158,43.48562782]}"#);
    assert_eq!(cells.len(), 1);
    assert_eq!(cells[0].trailing_zeros(), 63 - 2 * LEVEL_MAX);
    assert_eq!(cells_of_geometry("\"no geometry\""), Cells::new());
}

#[test]
fn a_town_is_a_few_cells_none_of_them_a_country() {
    let town = r#"{"type":"Polygon","coordinates":[[[3.4,43.4],[3.6,43.4],[3.6,43.6],[3.4,43.4]]]}"#;
    let cells = cells_of_geometry(town);
    assert!((1..=STORED_CELLS_MAX).contains(&cells.len()));
    let farther = cover(&Geometry::Point((5.0, 45.0).into()), 1);
    assert!(!holds(&ranges(cells), &farther));
}

#[test]
fn outside_of_the_world_is_everywhere() {
    let far = cover(&Geometry::Point((190.0, 0.0).into()), 4);
    assert_eq!(far.as_slice(), [WORLD]);
    assert!(holds(&ranges_of_shape(&Geometry::Point((1.0, 1.0).into())), &far));
}

proptest! {
    #[test]
    fn points_of_a_shape_are_found(shape in shape(), at in position(), share in 0.0..=1.0_f64) {
        let mut points = vec![at];
        points.extend(shape.coords_iter());
        if let Some(area) = bounds(&shape) {
            points.push(area.min() + (area.max() - area.min()) * share);
        }
        for point in points {
            let inside = Geometry::Point(point.into());
            if shape.intersects(&inside) {
                prop_assert!(holds(&ranges_of_shape(&shape), &cover(&inside, STORED_CELLS_MAX)));
                prop_assert!(holds(&ranges_of_shape(&inside), &cover(&shape, STORED_CELLS_MAX)));
            }
        }
    }

    #[test]
    fn shapes_that_meet_are_found(one in shape(), other in shape()) {
        if one.intersects(&other) {
            prop_assert!(holds(&ranges_of_shape(&one), &cover(&other, STORED_CELLS_MAX)));
        }
    }

    #[test]
    fn boxes_hold_their_points(low in position(), high in position(), at in position()) {
        let area = Rect::new(low, high);
        if area.contains(&at) {
            let cells = cover(&Geometry::Point(at.into()), STORED_CELLS_MAX);
            prop_assert!(holds(&ranges_of_boxes(&[area]), &cells));
        }
        prop_assert!(cover_box(&area, 4).len() <= 4);
    }
}
