//! The order of entities: `orderBy`, its directions, and where distances are measured from (4.23).

use model_entities::{Order, OrderBy, OrderKey};

use super::given::Given;
use crate::context::Names;
use crate::geoquery::parse_shape;
use crate::problem::Problem;
use crate::q::{Cursor, path};

/// The most keys of an order.
const KEYS_MAX: usize = 16;
/// Names of the order that is served: by character code.
const COLLATIONS: &[&str] = &["und", "und-x-icu", "root"];

/// A key's direction, and whether it is one of distance.
#[derive(Clone, Copy, Debug)]
struct Direction {
    descending: bool,
    distance: bool,
}

/// Reads the order.
pub(super) fn parse_order(given: &Given<'_>, names: &Names) -> Result<Order, Problem> {
    if let Some(collation) = given.get("collation").filter(|collation| !COLLATIONS.contains(collation)) {
        let detail = format!("parameter collation: {collation:?} is not available");
        return Err(Problem::operation_not_supported(detail));
    }
    let terms = given.list("orderBy")?;
    if terms.len() > KEYS_MAX {
        return Err(Problem::too_complex_query(format!("orderBy has more than {KEYS_MAX} keys")));
    }
    let directions = given.list("orderDirection")?;
    let mut order = Vec::with_capacity(terms.len());
    for (at, term) in terms.into_iter().enumerate() {
        let (name, direction) = match term.split_once(';') {
            Some((name, direction)) => (name.trim(), direction.trim()),
            // One direction counts for all keys.
            None => {
                let apart = if directions.len() > 1 { directions.get(at) } else { directions.first() };
                (term, apart.copied().unwrap_or("asc"))
            }
        };
        order.push(key(name, parse_direction(direction)?, given, names)?);
    }
    Ok(order)
}

fn parse_direction(text: &str) -> Result<Direction, Problem> {
    let (descending, distance) = match text {
        "asc" => (false, false),
        "desc" => (true, false),
        "dist-asc" => (false, true),
        "dist-desc" => (true, true),
        other => {
            return Err(Problem::bad_request(format!(
                "parameter orderBy: {other:?} is none of asc, desc, dist-asc, dist-desc"
            )));
        }
    };
    Ok(Direction { descending, distance })
}

fn key(name: &str, direction: Direction, given: &Given<'_>, names: &Names) -> Result<OrderBy, Problem> {
    let Direction { descending, distance } = direction;
    let key = match name {
        "id" => OrderKey::Id,
        "type" => OrderKey::Type,
        "scope" => {
            return Err(Problem::operation_not_supported(
                "parameter orderBy: entities are not ordered by scope",
            ));
        }
        name => {
            let mut cursor = Cursor::new("orderBy", name);
            let path = path(&mut cursor, names, 0)?;
            if !cursor.is_done() {
                return Err(cursor.expected("\";\", \",\" or the end"));
            }
            if distance { OrderKey::Distance(path.attribute, from(given)?) } else { OrderKey::Value(path) }
        }
    };
    Ok(OrderBy { key, descending })
}

/// The geometry that distances are measured from.
fn from(given: &Given<'_>) -> Result<geo::Geometry<f64>, Problem> {
    let Some(coordinates) = given.get("orderFrom") else {
        return Err(Problem::bad_request("parameter orderBy: an order by distance needs orderFrom"));
    };
    parse_shape("orderFrom", given.get("orderGeometry").unwrap_or("Point"), coordinates)
}
