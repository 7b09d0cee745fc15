use geo::Geometry;

use super::*;

fn check(value: &str, expected: Result<&str, &str>) {
    let kind = |geometry: Geometry<f64>| match geometry {
        Geometry::Point(_) => "Point",
        Geometry::MultiPoint(_) => "MultiPoint",
        Geometry::LineString(_) => "LineString",
        Geometry::MultiLineString(_) => "MultiLineString",
        Geometry::Polygon(_) => "Polygon",
        Geometry::MultiPolygon(_) => "MultiPolygon",
        _ => "other",
    };
    let read = read_geometry(value).map(kind);
    assert_eq!(read.as_ref().map_err(String::as_str), expected.as_ref().map_err(|error| *error), "{value}");
}

#[test]
fn reads_all_kinds() {
    check(r#"{"type":"Point","coordinates":[3.53452158,43.48562782]}"#, Ok("Point"));
    check(r#"{"coordinates":[-180,90,12.5],"type":"Point"}"#, Ok("Point"));
    check(r#"{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}"#, Ok("MultiPoint"));
    check(r#"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#, Ok("LineString"));
    check(r#"{"type":"MultiLineString","coordinates":[[[1,2],[3,4]]]}"#, Ok("MultiLineString"));
    check(r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}"#, Ok("Polygon"));
    check(r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]]]}"#, Ok("MultiPolygon"));
}

#[test]
fn collections_of_geometries_are_no_values() {
    let why = "a GeometryCollection is no value: use a MultiPoint, MultiLineString or MultiPolygon, or several attributes";
    check(r#"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]}]}"#, Err(why));
    check(r#"{"type":"GeometryCollection","geometries":7}"#, Err(why));
}

#[test]
fn says_what_is_wrong() {
    let position = "a position must have two or three numbers";
    let nested = "coordinates are not nested as this kind of geometry asks";
    check("4", Err("a GeoJSON geometry is an object with a type"));
    check(r#"{"type":"Circle","coordinates":[1,2]}"#, Err(r#""Circle" is no kind of GeoJSON geometry"#));
    check(r#"{"type":"Point"}"#, Err("a Point must have coordinates"));
    check(r#"{"type":"Point","coordinates":[1]}"#, Err(position));
    check(r#"{"type":"Point","coordinates":[1,2,3,4]}"#, Err(position));
    check(r#"{"type":"Point","coordinates":[1,"2"]}"#, Err("a position must be made of numbers"));
    check(r#"{"type":"Point","coordinates":[[1,2]]}"#, Err("a position must be made of numbers"));
    check(r#"{"type":"Point","coordinates":5}"#, Err(nested));
    check(r#"{"type":"Point","coordinates":[181,2]}"#, Err("longitude 181 is not between -180 and 180"));
    check(
        r#"{"type":"Point","coordinates":[1,91]}"#,
        Err("latitude 91 is not between -90 and 90 (positions are longitude, latitude)"),
    );
    check(r#"{"type":"LineString","coordinates":[1,2]}"#, Err(nested));
    check(
        r#"{"type":"LineString","coordinates":[[1,2]]}"#,
        Err("a LineString must have at least 2 elements"),
    );
    check(r#"{"type":"MultiPoint","coordinates":[]}"#, Err("a MultiPoint must have at least 1 element"));
    check(
        r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,0]]]}"#,
        Err("a ring of a Polygon must have at least 4 elements"),
    );
    check(
        r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}"#,
        Err("a ring of a Polygon must end where it begins"),
    );
}

#[test]
fn tells_geometries_from_other_objects() {
    assert!(is_geometry(r#"{"type":"Point","coordinates":[1,2]}"#));
    assert!(is_geometry(r#"{"type":"GeometryCollection","geometries":[]}"#));
    assert!(!is_geometry(r#"{"type":"Point"}"#));
    assert!(!is_geometry(r#"{"type":"PostalAddress","coordinates":[1,2]}"#));
    assert!(!is_geometry("[1,2]"));
}
