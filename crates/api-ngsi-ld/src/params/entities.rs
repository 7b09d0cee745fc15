//! Which entities: id, idPattern, type, q, scopeQ and geo-query.

use lang_ngsi_ld::{GeoParts, QueryOptions, compile_pattern, parse_geo, parse_scopes, parse_types};
use model_entities::{Filter, Query};
use tenant_contexts::Names;

use super::declared::{
    ATTRS, COORDINATES, EXPAND_VALUES, GEOMETRY, GEOPROPERTY, GEOREL, ID, ID_PATTERN, LOCAL, Q, SCOPE_Q, TYPE,
};
use super::given::{Given, check};
use crate::problem::Problem;
use crate::state::Limits;

/// The query that the parameters are, without order and page.
pub(super) fn parse_query(given: &Given<'_>, names: &Names, limits: &Limits) -> Result<Query, Problem> {
    let expanded = given.names(&EXPAND_VALUES)?;
    let expanded: Vec<_> = expanded.into_iter().filter_map(|name| names.term(name)).collect();
    let options = QueryOptions {
        names,
        expand_values: &expanded,
        nodes_max: limits.q_nodes_max,
        values_max: limits.q_values_max,
    };
    let geo = GeoParts {
        relation: given.get(&GEOREL),
        geometry: given.get(&GEOMETRY),
        coordinates: given.get(&COORDINATES),
        property: given.get(&GEOPROPERTY),
    };
    Ok(Query {
        ids: given.uris(&ID)?,
        id_pattern: given
            .get(&ID_PATTERN)
            .map(|text| check("idPattern", compile_pattern(text)))
            .transpose()?,
        types: given.get(&TYPE).map(|text| parse_types(text, names)).transpose()?.flatten(),
        filter: given.get(&Q).map(|text| lang_ngsi_ld::parse_query(text, &options)).transpose()?,
        scopes: given.get(&SCOPE_Q).map(parse_scopes).transpose()?,
        geo: parse_geo(&geo, names, limits.geo_positions_max)?,
        ..Query::default()
    })
}

/// Checks that a query or purge has one of the criteria without which it is too wide (5.7.2.4, 5.6.21.4): types,
/// attributes, `q`, a geo-query, or local scope. Ids, patterns and scopes narrow it down and do not suffice, nor do
/// attributes that every entity has.
pub(super) fn check_width(given: &Given<'_>, query: &Query, names: &Names) -> Result<(), Problem> {
    let any_type = given.get(&TYPE).is_some_and(|types| types.trim() == "*");
    if any_type && given.get(&LOCAL) == Some("false") {
        return Err(Problem::bad_request("parameter type=* is local, and cannot stand beside local=false"));
    }
    let attributes = given.names(&ATTRS)?;
    let fits = any_type
        || given.flag(&LOCAL)?
        || query.types.is_some()
        || attributes.into_iter().any(|name| !is_of_system(&names.iri(name)))
        || query.filter.as_ref().is_some_and(asks_attribute)
        || query.geo.is_some();
    if fits {
        return Ok(());
    }
    Err(Problem::bad_request(
        "too wide: needs one of type, attrs, q (on attributes beside createdAt and modifiedAt), georel and local=true",
    ))
}

/// Whether every entity has the attribute of this IRI, made by the broker.
fn is_of_system(iri: &str) -> bool {
    let local = iri.strip_prefix("https://uri.etsi.org/ngsi-ld/");
    matches!(local, Some("createdAt" | "modifiedAt" | "deletedAt"))
}

/// Whether whatever matches a filter has an attribute that not every entity has.
fn asks_attribute(filter: &Filter) -> bool {
    match filter {
        Filter::And(parts) => parts.iter().any(asks_attribute),
        // One part that every entity matches is enough to match all. What nothing can match (no part at all) stands for an
        // attribute that nobody uses.
        Filter::Or(parts) => parts.iter().all(asks_attribute),
        Filter::Exists(path) | Filter::Missing(path) | Filter::Compare(path, ..) => {
            path.attribute.is_some() || path.meta.is_none()
        }
    }
}
