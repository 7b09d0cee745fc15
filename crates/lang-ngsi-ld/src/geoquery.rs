//! Geo-queries (4.10): georel, geometry, coordinates and geoproperty.
//!
//! Beyond the standard, `near` may give both `maxDistance` and `minDistance`, and distances may be 0.

use geo::CoordsIter as _;
use model_entities::{GeoQuery, GeoRelation};
use tenant_contexts::Names;

use crate::body::{check_name, read_shape};
use crate::error::Error;

/// The GeoProperty that is meant where none is named.
const LOCATION: &str = "location";

/// The geometries that can be queried with.
const KINDS: &[&str] = &["Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon"];

/// The parts of a geo-query as they were sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct GeoParts<'a> {
    /// `georel`
    pub relation: Option<&'a str>,
    /// `geometry`
    pub geometry: Option<&'a str>,
    /// `coordinates`, JSON
    pub coordinates: Option<&'a str>,
    /// `geoproperty`
    pub property: Option<&'a str>,
}

/// The geo-query that the parts denote; none if there is neither relation, geometry nor coordinates.
/// Cost: linear in the coordinates.
///
/// # Errors
///
/// [`Error::Invalid`] names the part that is missing or wrong; [`Error::TooComplex`] beyond `positions_max` positions.
pub fn parse_geo(
    parts: &GeoParts<'_>,
    names: &Names,
    positions_max: usize,
) -> Result<Option<GeoQuery>, Error> {
    let missing = |part: &str| {
        Error::invalid(format!("a geo-query needs georel, geometry and coordinates: {part} is missing"))
    };
    let (relation, geometry, coordinates) = (parts.relation, parts.geometry, parts.coordinates);
    if relation.or(geometry).or(coordinates).is_none() {
        return Ok(None);
    }
    let relation = parse_relation(relation.ok_or_else(|| missing("georel"))?)?;
    let kind = geometry.ok_or_else(|| missing("geometry"))?;
    let coordinates = coordinates.ok_or_else(|| missing("coordinates"))?;
    let shape = parse_shape("coordinates", kind, coordinates, positions_max)?;
    let property = parts.property.unwrap_or(LOCATION);
    check_name(property).map_err(|error| Error::invalid(format!("geoproperty: {error}")))?;
    Ok(Some(GeoQuery { attribute: names.term(property), relation, geometry: shape }))
}

/// The geometry of a kind with the coordinates of the parameter `name`.
///
/// # Errors
///
/// [`Error::Invalid`] names the parameter; [`Error::TooComplex`] beyond `positions_max` positions.
pub fn parse_shape(
    name: &str,
    kind: &str,
    coordinates: &str,
    positions_max: usize,
) -> Result<geo::Geometry<f64>, Error> {
    if kind == "GeometryCollection" {
        return Err(Error::invalid("geometry: a GeometryCollection cannot be queried with"));
    }
    if !KINDS.contains(&kind) {
        return Err(Error::invalid(format!("geometry {kind:?} is none of {}", KINDS.join(", "))));
    }
    let shape = read_shape(kind, coordinates.trim());
    let shape = shape.map_err(|error| Error::invalid(format!("{name}: {error}")))?;
    let positions = shape.coords_count();
    if positions > positions_max {
        let detail =
            format!("{name}: {positions} positions are more than {positions_max} (geo_positions_max)");
        return Err(Error::TooComplex(detail));
    }
    Ok(shape)
}

fn parse_relation(text: &str) -> Result<GeoRelation, Error> {
    Ok(match text.trim() {
        "within" => GeoRelation::Within,
        "contains" => GeoRelation::Contains,
        "intersects" => GeoRelation::Intersects,
        "equals" => GeoRelation::Equals,
        "disjoint" => GeoRelation::Disjoint,
        "overlaps" => GeoRelation::Overlaps,
        text => match text.strip_prefix("near;") {
            Some(distances) => near(distances)?,
            None => {
                return Err(Error::invalid(format!(
                    "georel: {text:?} is none of near;maxDistance==…, near;minDistance==…, within, contains, \
                     intersects, equals, disjoint, overlaps"
                )));
            }
        },
    })
}

fn near(distances: &str) -> Result<GeoRelation, Error> {
    let (mut max, mut min) = (None, None);
    for distance in distances.split(';') {
        let wrong = || {
            Error::invalid(format!(
                "georel: {distance:?} is neither maxDistance==… nor minDistance==…, once each, in metres"
            ))
        };
        let (name, metres) = distance.split_once("==").ok_or_else(wrong)?;
        let slot = match name.trim() {
            "maxDistance" => &mut max,
            "minDistance" => &mut min,
            _ => return Err(wrong()),
        };
        let metres: f64 = metres.trim().parse().map_err(|_| wrong())?;
        if !(metres.is_finite() && metres >= 0.0) || slot.replace(metres).is_some() {
            return Err(wrong());
        }
    }
    Ok(GeoRelation::Near { max, min })
}

#[cfg(test)]
mod tests {
    use model_entities::TermId;
    use proptest::prelude::*;
    use tenant_contexts::RequestContext;

    use super::*;

    fn parse(
        relation: &str,
        geometry: &str,
        coordinates: &str,
        property: &str,
    ) -> Result<Option<GeoQuery>, Error> {
        let given = |text: &'static str| move |other: &str| other != text;
        let part = |text| Some(text).filter(|text: &&str| given("-")(text));
        let parts = GeoParts {
            relation: part(relation),
            geometry: part(geometry),
            coordinates: part(coordinates),
            property: part(property),
        };
        parse_geo(&parts, &Names::of(&RequestContext::core(), &["location", "area"]), 8)
    }

    fn check(relation: &str, expected: GeoRelation) {
        let query = parse(relation, "Point", "[8,40]", "-").unwrap().unwrap();
        assert_eq!(query.relation, expected);
        assert_eq!(query.attribute, Some(TermId(0)));
        assert_eq!(query.geometry, geo::Point::new(8.0, 40.0).into());
    }

    fn check_refused(relation: &str, geometry: &str, coordinates: &str, expected: &str) {
        let problem = parse(relation, geometry, coordinates, "-").unwrap_err();
        assert_eq!(problem.shown(), format!("Invalid: {expected}"));
    }

    #[test]
    fn every_relation() {
        check("near;maxDistance==2000", GeoRelation::Near { max: Some(2000.0), min: None });
        check("near;minDistance==0.5", GeoRelation::Near { max: None, min: Some(0.5) });
        check("near;maxDistance==20;minDistance==10", GeoRelation::Near { max: Some(20.0), min: Some(10.0) });
        check("within", GeoRelation::Within);
        check("contains", GeoRelation::Contains);
        check("intersects", GeoRelation::Intersects);
        check("equals", GeoRelation::Equals);
        check("disjoint", GeoRelation::Disjoint);
        check("overlaps", GeoRelation::Overlaps);
    }

    #[test]
    fn other_geometries_and_properties() {
        let square = "[[[100.0,0.0],[101.0,0.0],[101.0,1.0],[100.0,1.0],[100.0,0.0]]]";
        let query = parse("within", "Polygon", square, "area").unwrap().unwrap();
        assert_eq!(query.attribute, Some(TermId(1)));
        assert!(matches!(query.geometry, geo::Geometry::Polygon(_)));
        assert_eq!(parse("within", "Polygon", square, "nobody").unwrap().unwrap().attribute, None);
        assert!(parse("-", "-", "-", "area").unwrap().is_none());
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let missing = "a geo-query needs georel, geometry and coordinates";
        check_refused("-", "Point", "[8,40]", &format!("{missing}: georel is missing"));
        check_refused("within", "-", "[8,40]", &format!("{missing}: geometry is missing"));
        check_refused("within", "Point", "-", &format!("{missing}: coordinates is missing"));
        check_refused(
            "within",
            "Circle",
            "[8,40]",
            "geometry \"Circle\" is none of Point, MultiPoint, LineString, MultiLineString, Polygon, MultiPolygon",
        );
        check_refused(
            "within",
            "GeometryCollection",
            "[]",
            "geometry: a GeometryCollection cannot be queried with",
        );
        check_refused("within", "Point", "[8,", "coordinates: unexpected end of JSON at byte 3");
        check_refused(
            "within",
            "Point",
            "[8,140]",
            "coordinates: latitude 140 is not between -90 and 90 (positions are longitude, latitude)",
        );
        check_refused(
            "inside",
            "Point",
            "[8,40]",
            "georel: \"inside\" is none of near;maxDistance==…, near;minDistance==…, within, contains, intersects, equals, disjoint, overlaps",
        );
        for distance in
            ["maxDistance==-1", "maxDistance==x", "maxDistance=5", "distance==5", "", "maxDistance==inf"]
        {
            let expected = format!(
                "georel: {distance:?} is neither maxDistance==… nor minDistance==…, once each, in metres"
            );
            check_refused(&format!("near;{distance}"), "Point", "[8,40]", &expected);
        }
        check_refused(
            "near;maxDistance==1;maxDistance==2",
            "Point",
            "[8,40]",
            "georel: \"maxDistance==2\" is neither maxDistance==… nor minDistance==…, once each, in metres",
        );
    }

    #[test]
    fn positions_are_limited() {
        let ring = |corners: usize| {
            let corners: Vec<_> = (0..corners).map(|at| format!("[{at},{}]", at % 2)).collect();
            format!("[[{},[0,0]]]", corners.join(","))
        };
        assert!(parse("within", "Polygon", &ring(7), "-").is_ok());
        let problem = parse("within", "Polygon", &ring(8), "-").unwrap_err();
        let expected = "TooComplex: coordinates: 9 positions are more than 8 (geo_positions_max)";
        assert_eq!(problem.shown(), expected);
    }

    proptest! {
        #[test]
        fn never_panics(
            relation in "(near;)?(max|min)?(Distance==)?[0-9.e-]{0,5}",
            kind in "(Multi)?(Point|LineString|Polygon)",
            coordinates in "[\\[\\]0-9,. -]{0,30}",
        ) {
            let _ = parse(&relation, &kind, &coordinates, "-");
        }
    }
}
