//! GeoJSON geometries (RFC 7946) in values and queries: checked, and built for queries.

use geo::{Coord, Geometry, LineString, MultiLineString, MultiPoint, MultiPolygon, Point, Polygon};
use lang_json::{Kind, Problem, Reader};

/// `[[[[x, y]]]]` of a MultiPolygon is the deepest.
const DEPTH_MAX: usize = 4;

/// Whether a canonical value is an object that calls itself a GeoJSON geometry, well formed or not:
/// this is what makes an attribute without a type a GeoProperty.
pub(crate) fn is_geometry(value: &str) -> bool {
    let Some(kind) = lang_json::member(value, "type") else { return false };
    match kind {
        r#""GeometryCollection""# => lang_json::member(value, "geometries").is_some(),
        r#""Point""#
        | r#""MultiPoint""#
        | r#""LineString""#
        | r#""MultiLineString""#
        | r#""Polygon""#
        | r#""MultiPolygon""# => lang_json::member(value, "coordinates").is_some(),
        _ => false,
    }
}

/// The geometry that a JSON value denotes. Cost: linear in the text.
///
/// # Errors
///
/// What is wrong with it, as the end of a sentence about the member it is in.
pub(crate) fn read_geometry(value: &str) -> Result<Geometry<f64>, String> {
    let Some(kind) = lang_json::member(value, "type").and_then(lang_json::string_value) else {
        return Err("a GeoJSON geometry is an object with a type".to_owned());
    };
    if kind == "GeometryCollection" {
        return Err("a GeometryCollection is no value: use a MultiPoint, MultiLineString or MultiPolygon, or several attributes"
            .to_owned());
    }
    let Some(coordinates) = lang_json::member(value, "coordinates") else {
        return Err(format!("a {kind} must have coordinates"));
    };
    read_shape(&kind, coordinates)
}

/// The geometry of this kind at these coordinates (JSON). Cost: linear in the text.
///
/// # Errors
///
/// What is wrong with it, as the end of a sentence about the member it is in.
pub(crate) fn read_shape(kind: &str, coordinates: &str) -> Result<Geometry<f64>, String> {
    let mut reader = Reader::new(coordinates, DEPTH_MAX);
    let geometry = shape(kind, &mut reader)?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(geometry)
}

fn shape(kind: &str, reader: &mut Reader<'_>) -> Result<Geometry<f64>, String> {
    Ok(match kind {
        "Point" => Point(position(reader)?).into(),
        "MultiPoint" => {
            MultiPoint(list(reader, 1, "a MultiPoint", |reader| Ok(Point(position(reader)?)))?).into()
        }
        "LineString" => line(reader)?.into(),
        "MultiLineString" => MultiLineString(list(reader, 1, "a MultiLineString", line)?).into(),
        "Polygon" => polygon(reader)?.into(),
        "MultiPolygon" => MultiPolygon(list(reader, 1, "a MultiPolygon", polygon)?).into(),
        _ => return Err(format!("{kind:?} is no kind of GeoJSON geometry")),
    })
}

fn line(reader: &mut Reader<'_>) -> Result<LineString<f64>, String> {
    list(reader, 2, "a LineString", position).map(LineString)
}

fn polygon(reader: &mut Reader<'_>) -> Result<Polygon<f64>, String> {
    let mut rings = list(reader, 1, "a Polygon", ring)?.into_iter();
    let exterior = rings.next().ok_or("a Polygon must have a ring")?;
    Ok(Polygon::new(exterior, rings.collect()))
}

fn ring(reader: &mut Reader<'_>) -> Result<LineString<f64>, String> {
    let ring = list(reader, 4, "a ring of a Polygon", position)?;
    if ring.first() != ring.last() {
        return Err("a ring of a Polygon must end where it begins".to_owned());
    }
    Ok(LineString(ring))
}

/// The elements of an array of at least so many.
fn list<'a, T>(
    reader: &mut Reader<'a>,
    count_min: usize,
    what: &str,
    mut element: impl FnMut(&mut Reader<'a>) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    reader.begin_array().map_err(|error| misplaced(&error))?;
    let mut items = Vec::with_capacity(count_min);
    while reader.next_element().map_err(|error| misplaced(&error))? {
        items.push(element(reader)?);
    }
    if items.len() < count_min {
        return Err(format!("{what} must have at least {count_min} element{}", plural(count_min)));
    }
    Ok(items)
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Longitude, latitude, and perhaps an altitude, which is checked and not used.
fn position(reader: &mut Reader<'_>) -> Result<Coord<f64>, String> {
    reader.begin_array().map_err(|error| misplaced(&error))?;
    let (x, y) = (ordinate(reader)?, ordinate(reader)?);
    if reader.next_element().map_err(|error| misplaced(&error))? {
        number(reader)?;
        if reader.next_element().map_err(|error| misplaced(&error))? {
            return Err("a position must have two or three numbers".to_owned());
        }
    }
    if !(-180.0..=180.0).contains(&x) {
        return Err(format!("longitude {x} is not between -180 and 180"));
    }
    if !(-90.0..=90.0).contains(&y) {
        return Err(format!("latitude {y} is not between -90 and 90 (positions are longitude, latitude)"));
    }
    Ok(Coord { x, y })
}

fn ordinate(reader: &mut Reader<'_>) -> Result<f64, String> {
    if !reader.next_element().map_err(|error| misplaced(&error))? {
        return Err("a position must have two or three numbers".to_owned());
    }
    number(reader)
}

fn number(reader: &mut Reader<'_>) -> Result<f64, String> {
    if reader.peek().map_err(|error| misplaced(&error))? != Kind::Number {
        return Err("a position must be made of numbers".to_owned());
    }
    let digits = reader.finite_number().map_err(|error| misplaced(&error))?;
    digits.parse().map_err(|_| format!("{digits} is no number"))
}

fn misplaced(error: &lang_json::Error) -> String {
    match error.problem {
        Problem::Kind | Problem::Depth => {
            "coordinates are not nested as this kind of geometry asks".to_owned()
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
