//! The order of entities: `orderBy`, its directions, where distances are measured from, and the
//! collation of texts (4.23).

use lang_ngsi_ld::{Cursor, parse_path, parse_shape};
use model_entities::{Collation, Order, OrderBy, OrderKey};
use tenant_contexts::Names;

use super::declared::{COLLATION, ORDER_BY, ORDER_DIRECTION, ORDER_FROM, ORDER_GEOMETRY};
use super::given::{Given, check};
use crate::problem::Problem;
use crate::state::Limits;

/// The most keys of an order.
const KEYS_MAX: usize = 16;

/// A key's direction, and whether it is one of distance.
#[derive(Clone, Copy, Debug)]
struct Direction {
    descending: bool,
    distance: bool,
}

/// Reads the collation: a wrong one is refused even where nothing is ordered by it.
pub(super) fn parse_collation(given: &Given<'_>) -> Result<Option<Collation>, Problem> {
    let parse = |name| check("collation", Collation::parse(name).map_err(|error| error.to_string()));
    given.get(&COLLATION).map(parse).transpose()
}

/// Reads the order.
pub(super) fn parse_order(given: &Given<'_>, names: &Names, limits: &Limits) -> Result<Order, Problem> {
    let keys = keys(given)?;
    keys.into_iter().map(|(name, direction)| key(name, direction, given, (names, limits))).collect()
}

/// Reads the order of histories, which is by id alone (5.7.4.4).
pub(super) fn parse_history_order(given: &Given<'_>) -> Result<Order, Problem> {
    let by_id = |(name, direction): (&str, Direction)| match (name, direction) {
        ("id", Direction { descending, distance: false }) => Ok(OrderBy { key: OrderKey::Id, descending }),
        _ => Err(Problem::bad_request(format!(
            "parameter orderBy: the past of entities is ordered by id alone (id, id;asc or id;desc), not by {name:?}"
        ))),
    };
    keys(given)?.into_iter().map(by_id).collect()
}

/// The names to order by, each with its direction.
fn keys<'g>(given: &'g Given<'_>) -> Result<Vec<(&'g str, Direction)>, Problem> {
    let terms = given.list(&ORDER_BY)?;
    if terms.len() > KEYS_MAX {
        return Err(Problem::too_complex_query(format!("orderBy has more than {KEYS_MAX} keys")));
    }
    let directions = given.list(&ORDER_DIRECTION)?;
    let mut keys = Vec::with_capacity(terms.len());
    for (at, term) in terms.into_iter().enumerate() {
        let (name, direction) = match term.split_once(';') {
            Some((name, direction)) => (name.trim(), direction.trim()),
            // One direction counts for all keys.
            None => {
                let apart = if directions.len() > 1 { directions.get(at) } else { directions.first() };
                (term, apart.copied().unwrap_or("asc"))
            }
        };
        keys.push((name, parse_direction(direction)?));
    }
    Ok(keys)
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

fn key(
    name: &str,
    direction: Direction,
    given: &Given<'_>,
    (names, limits): (&Names, &Limits),
) -> Result<OrderBy, Problem> {
    let Direction { descending, distance } = direction;
    let key = match name {
        "id" => OrderKey::Id,
        "type" => OrderKey::Type,
        "scope" => OrderKey::Scope,
        name => {
            let mut cursor = Cursor::new("orderBy", name);
            let path = parse_path(&mut cursor, names, 0)?;
            if !cursor.is_done() {
                return Err(cursor.expected("\";\", \",\" or the end").into());
            }
            if path.linked.is_some() {
                let detail = "entities are not ordered by what others have that they link to";
                return Err(cursor.wrong(detail).into());
            }
            if distance {
                OrderKey::Distance(path.attribute, from(given, limits)?)
            } else {
                OrderKey::Value(path)
            }
        }
    };
    Ok(OrderBy { key, descending })
}

/// The geometry that distances are measured from.
fn from(given: &Given<'_>, limits: &Limits) -> Result<geo::Geometry<f64>, Problem> {
    let Some(coordinates) = given.get(&ORDER_FROM) else {
        return Err(Problem::bad_request("parameter orderBy: an order by distance needs orderFrom"));
    };
    let kind = given.get(&ORDER_GEOMETRY).unwrap_or("Point");
    Ok(parse_shape("orderFrom", kind, coordinates, limits.geo_positions_max)?)
}
