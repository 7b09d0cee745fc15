//! GeoJSON text (RFC 7946) into geometry, without a JSON tree.

use std::borrow::Cow;

use geo::{
    Coord, CoordsIter, Geometry, GeometryCollection, LineString, MultiLineString, MultiPoint, MultiPolygon,
    Point, Polygon, Rect,
};
use lang_json::Reader;

/// Coordinates nest four deep at the most.
const COORDINATES_DEPTH_MAX: usize = 8;
/// Collections within collections beyond this are no geometry.
const COLLECTION_DEPTH_MAX: usize = 8;

/// The geometry that a stored value denotes: any of the seven kinds, WGS 84 longitude and latitude
/// (altitudes are passed over). `None` if the text is no geometry, an empty one, or a degenerate one
/// (a line of one position, a ring of less than four).
///
/// Cost: two passes over the text.
pub fn parse_geometry(text: &str) -> Option<Geometry<f64>> {
    parse(text, 0)
}

/// The box around all positions of a geometry, also of holes that lie outside their polygon;
/// `None` if it has no position.
pub fn bounds(geometry: &Geometry<f64>) -> Option<Rect<f64>> {
    geometry.coords_iter().fold(None, |area, at| {
        let (low, high) = area.map_or((at, at), |area: Rect<f64>| (area.min(), area.max()));
        let corner = |x: f64, y: f64| Coord { x, y };
        let low = corner(low.x.min(at.x), low.y.min(at.y));
        Some(Rect::new(low, corner(high.x.max(at.x), high.y.max(at.y))))
    })
}

fn parse(text: &str, depth: usize) -> Option<Geometry<f64>> {
    let (mut kind, mut coordinates, mut geometries) = (None, None, None);
    for (name, value) in lang_json::members(text) {
        match &*name {
            "type" => kind = lang_json::string_value(value),
            "coordinates" => coordinates = Some(value),
            "geometries" => geometries = Some(value),
            _ => {}
        }
    }
    let kind: Cow<'_, str> = kind?;
    if kind == "GeometryCollection" {
        return collection(geometries?, depth).map(Geometry::GeometryCollection);
    }
    let reader = &mut Reader::new(coordinates?, COORDINATES_DEPTH_MAX);
    Some(match &*kind {
        "Point" => Geometry::Point(Point(position(reader)?)),
        "MultiPoint" => {
            Geometry::MultiPoint(MultiPoint(list(reader, 1, |reader| position(reader).map(Point))?))
        }
        "LineString" => Geometry::LineString(line(reader, 2)?),
        "MultiLineString" => {
            Geometry::MultiLineString(MultiLineString(list(reader, 1, |reader| line(reader, 2))?))
        }
        "Polygon" => Geometry::Polygon(polygon(reader)?),
        "MultiPolygon" => Geometry::MultiPolygon(MultiPolygon(list(reader, 1, polygon)?)),
        _ => return None,
    })
}

fn collection(text: &str, depth: usize) -> Option<GeometryCollection<f64>> {
    if depth >= COLLECTION_DEPTH_MAX {
        return None;
    }
    let parts: Option<Vec<_>> = lang_json::elements(text).map(|part| parse(part, depth + 1)).collect();
    parts.filter(|parts| !parts.is_empty()).map(GeometryCollection)
}

/// At least `least` items.
fn list<'a, T>(
    reader: &mut Reader<'a>,
    least: usize,
    mut item: impl FnMut(&mut Reader<'a>) -> Option<T>,
) -> Option<Vec<T>> {
    reader.begin_array().ok()?;
    let mut items = Vec::new();
    while reader.next_element().ok()? {
        items.push(item(reader)?);
    }
    (items.len() >= least).then_some(items)
}

fn position(reader: &mut Reader<'_>) -> Option<Coord<f64>> {
    reader.begin_array().ok()?;
    let mut numbers = [0.0; 2];
    for number in &mut numbers {
        *number = reader.next_element().ok()?.then(|| reader.number().ok()?.parse().ok()).flatten()?;
    }
    while reader.next_element().ok()? {
        reader.skip().ok()?;
    }
    let [x, y] = numbers;
    (f64::is_finite(x) && f64::is_finite(y)).then_some(Coord { x, y })
}

fn line(reader: &mut Reader<'_>, least: usize) -> Option<LineString<f64>> {
    list(reader, least, position).map(LineString)
}

fn polygon(reader: &mut Reader<'_>) -> Option<Polygon<f64>> {
    let mut rings = list(reader, 1, |reader| line(reader, 4))?.into_iter();
    let outer = rings.next()?;
    Some(Polygon::new(outer, rings.collect()))
}

#[cfg(test)]
mod tests {
    use geo::{line_string, point, polygon};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: impl Into<Option<Geometry<f64>>>) {
        assert_eq!(parse_geometry(text), expected.into(), "{text}");
    }

    #[test]
    fn reads_all_seven_kinds() {
        check(r#"{"type":"Point","coordinates":[3.5,43.25]}"#, Some(point!(x: 3.5, y: 43.25).into()));
        check(r#"{"coordinates":[3.5,43.25,120.5],"type":"Point"}"#, Some(point!(x: 3.5, y: 43.25).into()));
        check(
            r#"{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}"#,
            Some(MultiPoint(vec![point!(x: 1.0, y: 2.0), point!(x: 3.0, y: 4.0)]).into()),
        );
        let line = line_string![(x: 1.0, y: 2.0), (x: 3.0, y: 4.0)];
        check(r#"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#, Some(line.clone().into()));
        check(
            r#"{"type":"MultiLineString","coordinates":[[[1,2],[3,4]]]}"#,
            Some(MultiLineString(vec![line.clone()]).into()),
        );
        let square = polygon![(x: 0.0, y: 0.0), (x: 1.0, y: 0.0), (x: 1.0, y: 1.0), (x: 0.0, y: 0.0)];
        check(r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}"#, Some(square.clone().into()));
        check(
            r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]]]}"#,
            Some(MultiPolygon(vec![square]).into()),
        );
        check(
            r#"{"type":"GeometryCollection","geometries":[{"type":"LineString","coordinates":[[1,2],[3,4]]}]}"#,
            Some(Geometry::GeometryCollection(GeometryCollection(vec![line.into()]))),
        );
    }

    #[test]
    fn refuses_what_is_no_geometry() {
        for text in [
            "3",
            "null",
            "{}",
            r#"{"type":"Point"}"#,
            r#"{"type":"Point","coordinates":[1]}"#,
            r#"{"type":"Point","coordinates":["a","b"]}"#,
            r#"{"type":"Point","coordinates":[1e999,0]}"#,
            r#"{"type":"LineString","coordinates":[[1,2]]}"#,
            r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,0]]]}"#,
            r#"{"type":"Polygon","coordinates":[]}"#,
            r#"{"type":"MultiPoint","coordinates":[]}"#,
            r#"{"type":"GeometryCollection","geometries":[]}"#,
            r#"{"type":"Circle","coordinates":[1,2]}"#,
        ] {
            check(text, None);
        }
        let mut nested = r#"{"type":"Point","coordinates":[1,2]}"#.to_owned();
        for _ in 0..20 {
            nested = format!(r#"{{"type":"GeometryCollection","geometries":[{nested}]}}"#);
        }
        check(&nested, None);
    }
}
