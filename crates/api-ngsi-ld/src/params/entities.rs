//! Which entities: id, idPattern, type, q, scopeQ and geo-query.

use model_entities::Query;

use super::given::{Given, check};
use crate::context::Names;
use crate::geoquery::{GeoParts, parse_geo};
use crate::problem::Problem;
use crate::q::{QueryOptions, compile, parse};
use crate::selection::{parse_scopes, parse_types};
use crate::state::Limits;

/// The query that the parameters are, without order and page.
pub(super) fn parse_query(given: &Given<'_>, names: &Names, limits: &Limits) -> Result<Query, Problem> {
    let expanded = given.names("expandValues")?;
    let expanded: Vec<_> = expanded.into_iter().filter_map(|name| names.term(name)).collect();
    let options = QueryOptions { names, expand_values: &expanded, nodes_max: limits.q_nodes_max };
    let geo = GeoParts {
        relation: given.get("georel"),
        geometry: given.get("geometry"),
        coordinates: given.get("coordinates"),
        property: given.get("geoproperty"),
    };
    Ok(Query {
        ids: given.uris("id")?,
        id_pattern: given.get("idPattern").map(|text| check("idPattern", compile(text))).transpose()?,
        types: given.get("type").map(|text| parse_types(text, names)).transpose()?.flatten(),
        filter: given.get("q").map(|text| parse(text, &options)).transpose()?,
        scopes: given.get("scopeQ").map(parse_scopes).transpose()?,
        geo: parse_geo(&geo, names)?,
        ..Query::default()
    })
}

/// Checks that a query of all entities is meant (5.7.2.4).
pub(super) fn says_something(given: &Given<'_>, query: &Query) -> Result<(), Problem> {
    let any_type = given.get("type").is_some_and(|types| types.trim() == "*");
    if any_type && given.get("local") == Some("false") {
        return Err(Problem::bad_request("parameter type=* is local, and cannot stand beside local=false"));
    }
    let says = any_type
        || given.flag("local")?
        || query.types.is_some()
        || !query.attributes.is_empty()
        || query.filter.is_some()
        || query.geo.is_some()
        || query.scopes.is_some()
        || !query.ids.is_empty()
        || query.id_pattern.is_some();
    if says {
        return Ok(());
    }
    Err(Problem::bad_request(
        "a query needs type, attrs, q, georel, id, idPattern or scopeQ; or local=true for all entities",
    ))
}
