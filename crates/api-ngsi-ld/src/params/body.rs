//! The query in a body (5.2.23): the same parameters, in JSON.

use std::borrow::Cow;

use api_http::{Parameter, Request};
use lang_json::{Kind, elements, member, members, string_value};
use lang_ngsi_ld::{check_uri, compile_pattern, parse_types};
use model_entities::{Selector, TypeQuery};
use tenant_contexts::Names;

use super::declared::{
    AGGR_METHODS, AGGR_PERIOD_DURATION, COLLATION, COORDINATES, END_TIME_AT, GEOMETRY, GEOPROPERTY, GEOREL,
    HISTORY_QUERY, LAST_N, ORDER_BY, ORDER_DIRECTION, ORDER_FROM, ORDER_GEOMETRY, QUERY, TIME_AT,
    TIMEPROPERTY, TIMEREL,
};
use super::given::{Given, check};
use super::{EntityParams, TemporalParams};
use crate::problem::Problem;
use crate::state::Limits;

/// The most selectors of a query, and the most ids in them.
const SELECTORS_MAX: usize = 1000;
const SELECTED_IDS_MAX: usize = 10_000;

/// Reads the query in the body of POST /entityOperations/query, and what its URL and headers say of
/// the answer. Cost: linear in the body; selectors are compared with each other.
///
/// # Errors
///
/// What is wrong, naming the member.
pub(crate) fn parse_query_body(
    body: &str,
    request: &Request,
    names: &Names,
    limits: &Limits,
) -> Result<EntityParams, Problem> {
    let canonical = canonical(body, limits)?;
    let (given, selected) = given_in(&canonical, Given::of(request), QUERY, names)?;
    EntityParams::of_given(&given, request, names, limits, selected)
}

/// Reads the query in the body of POST /temporal/entityOperations/query. Cost: as [`parse_query_body`].
///
/// # Errors
///
/// What is wrong, naming the member.
pub(crate) fn parse_temporal_body(
    body: &str,
    request: &Request,
    names: &Names,
    limits: &Limits,
) -> Result<TemporalParams, Problem> {
    let canonical = canonical(body, limits)?;
    let given = Given::of(request);
    let (given, selected) = given_in(&canonical, given, HISTORY_QUERY, names)?;
    TemporalParams::of_given(&given, request, names, limits, selected)
}

fn canonical(body: &str, limits: &Limits) -> Result<String, Problem> {
    let canonical = lang_json::canonical(body, limits.depth_max).map_err(|error| match error.problem {
        lang_json::Problem::Depth => Problem::bad_request(format!("the body: {error} (depth_max)")),
        _ => Problem::invalid_request(format!("the body is not JSON: {error}")),
    })?;
    if !canonical.starts_with('{') {
        return Err(Problem::bad_request("a query must be a JSON object"));
    }
    Ok(canonical)
}

/// The members of a query, beside what is `given` in the URL, as parameters out of those that are `known`; and what its
/// `entities` select.
fn given_in<'a>(
    query: &'a str,
    mut given: Given<'a>,
    known: &'static [&'static [Parameter]],
    names: &Names,
) -> Result<(Given<'a>, Option<Vec<Selector>>), Problem> {
    let known = || known.iter().copied().flatten();
    let has = |parameter: &Parameter| known().any(|known| known == parameter);
    let (mut selected, mut typed) = (None, false);
    for (name, value) in members(query) {
        match &*name {
            "@context" => {}
            "type" | "@type" => {
                if value != "\"Query\"" {
                    return Err(Problem::bad_request("member type must be \"Query\""));
                }
                typed = true;
            }
            "entities" => selected = Some(selectors(value, names)?),
            "geoQ" => add_parts(&mut given, "geoQ", value, GEO)?,
            "ordering" if has(&ORDER_BY) => {
                add_parts(&mut given, "ordering", value, ORDERING)?;
            }
            "temporalQ" | "aggrParams" if !has(&TIMEREL) => {
                return Err(Problem::bad_request(format!("member {name} belongs to temporal queries")));
            }
            "temporalQ" => add_parts(&mut given, "temporalQ", value, TEMPORAL)?,
            "aggrParams" => add_parts(&mut given, "aggrParams", value, AGGREGATION)?,
            name => match known().find(|known| known.name == name && !matches!(name, "id" | "idPattern")) {
                Some(known) => given.add(known, text(name, value)?)?,
                None => return Err(Problem::bad_request(format!("a query has no member {name:?}"))),
            },
        }
    }
    if !typed {
        return Err(Problem::bad_request("a query must have the type \"Query\""));
    }
    Ok((given, selected))
}

/// Members of `temporalQ` (5.2.21) as parameters.
const TEMPORAL: &[(&str, Parameter)] = &[
    ("timerel", TIMEREL),
    ("timeAt", TIME_AT),
    ("endTimeAt", END_TIME_AT),
    ("timeproperty", TIMEPROPERTY),
    ("lastN", LAST_N),
    ("aggrMethods", AGGR_METHODS),
    ("aggrPeriodDuration", AGGR_PERIOD_DURATION),
];
/// Members of `aggrParams` (5.2.44) as parameters.
const AGGREGATION: &[(&str, Parameter)] =
    &[("aggrMethods", AGGR_METHODS), ("aggrPeriodDuration", AGGR_PERIOD_DURATION)];
/// Members of `geoQ` (5.2.13) as parameters.
const GEO: &[(&str, Parameter)] =
    &[("geometry", GEOMETRY), ("coordinates", COORDINATES), ("georel", GEOREL), ("geoproperty", GEOPROPERTY)];
/// Members of `ordering` (5.2.43) as parameters.
const ORDERING: &[(&str, Parameter)] = &[
    ("orderBy", ORDER_BY),
    ("orderDirection", ORDER_DIRECTION),
    ("coordinates", ORDER_FROM),
    ("geometry", ORDER_GEOMETRY),
    ("collation", COLLATION),
];

/// Adds the members of an object as parameters of their own.
fn add_parts<'a>(
    given: &mut Given<'a>,
    name: &str,
    value: &'a str,
    known: &[(&str, Parameter)],
) -> Result<(), Problem> {
    if !value.starts_with('{') {
        return Err(Problem::bad_request(format!("member {name} must be an object")));
    }
    for (part, value) in members(value) {
        let Some((_, parameter)) = known.iter().find(|(known, _)| *known == part) else {
            return Err(Problem::bad_request(format!("member {name} has no member {part:?}")));
        };
        let coordinates = part == "coordinates" && value.starts_with('[');
        given.add(parameter, if coordinates { Cow::Borrowed(value) } else { text(&part, value)? })?;
    }
    Ok(())
}

/// A member as the text of a parameter: strings bare, arrays of strings as lists.
fn text<'a>(name: &str, value: &'a str) -> Result<Cow<'a, str>, Problem> {
    let wrong = || {
        Problem::bad_request(format!(
            "member {name} must be a text, a number, true, false or a list of texts"
        ))
    };
    match lang_json::kind(value) {
        Some(Kind::String) => string_value(value).ok_or_else(wrong),
        Some(Kind::Number | Kind::Bool) => Ok(Cow::Borrowed(value)),
        Some(Kind::Array) => {
            let items = elements(value).map(|item| string_value(item).ok_or_else(wrong));
            let items = items.collect::<Result<Vec<_>, _>>()?;
            if items.is_empty() {
                return Err(Problem::bad_request(format!("member {name} must not be empty")));
            }
            Ok(Cow::Owned(items.join(",")))
        }
        _ => Err(wrong()),
    }
}

/// One entity selector (5.2.33), or what several of them come to.
#[derive(Debug, PartialEq)]
struct Selected<'a> {
    ids: Vec<Box<str>>,
    pattern: Option<Cow<'a, str>>,
    types: Option<TypeQuery>,
}

/// What `entities` selects: any of these.
fn selectors(value: &str, names: &Names) -> Result<Vec<Selector>, Problem> {
    if !value.starts_with('[') {
        return Err(Problem::bad_request("member entities must be an array"));
    }
    let (mut found, mut ids) = (Vec::<Selected<'_>>::new(), 0_usize);
    for (at, element) in elements(value).enumerate() {
        if at == SELECTORS_MAX {
            return Err(Problem::too_complex_query(format!("more than {SELECTORS_MAX} entity selectors")));
        }
        let next = selected(element, names)?;
        ids += next.ids.len();
        if ids > SELECTED_IDS_MAX {
            return Err(Problem::too_complex_query(format!(
                "more than {SELECTED_IDS_MAX} ids in entity selectors (SELECTED_IDS_MAX)"
            )));
        }
        // Fewer selectors make shorter ways through the index.
        let alike = found.iter_mut().find(|one| one.differs_in_one(&next));
        match alike {
            Some(one) => one.unite(next),
            None => found.push(next),
        }
    }
    if found.is_empty() {
        return Err(Problem::bad_request("member entities must not be empty"));
    }
    let ready = |mut selected: Selected<'_>| {
        // Once, not at each union.
        selected.ids.sort_unstable();
        selected.ids.dedup();
        let id_pattern =
            selected.pattern.map(|pattern| check("idPattern", compile_pattern(&pattern))).transpose()?;
        Ok(Selector { ids: selected.ids, id_pattern, types: selected.types })
    };
    found.into_iter().map(ready).collect()
}

fn selected<'a>(value: &'a str, names: &Names) -> Result<Selected<'a>, Problem> {
    let unknown =
        members(value).find(|(name, _)| !matches!(&**name, "id" | "idPattern" | "type" | "@type" | "@id"));
    if !value.starts_with('{') || unknown.is_some() {
        return Err(Problem::bad_request("members of entities must be objects of id, idPattern and type"));
    }
    let part = |name: &str| member(value, name).map(|value| text(name, value)).transpose();
    let mut ids = Vec::new();
    for id in part("id")?.iter().flat_map(|ids| ids.split(',')) {
        check("entities", check_uri(id))?;
        ids.push(id.into());
    }
    let mut pattern = part("idPattern")?;
    if !ids.is_empty() {
        // Ids go before a pattern (5.2.33), which must be one all the same.
        pattern.take().map(|pattern| check("idPattern", compile_pattern(&pattern))).transpose()?;
    }
    let Some(types) = part("type")? else {
        return Err(Problem::bad_request("an entity selector must have a type (\"*\" for any)"));
    };
    Ok(Selected { ids, pattern, types: parse_types(&types, names)? })
}

impl Selected<'_> {
    /// Whether what one or the other selects can be said as one.
    fn differs_in_one(&self, other: &Self) -> bool {
        self.pattern == other.pattern && (self.types == other.types || self.ids == other.ids)
    }

    /// Selects what the other does too; they differ in one part at the most.
    fn unite(&mut self, other: Self) {
        if self.types != other.types {
            self.types = either(self.types.take(), other.types);
        } else if self.ids.is_empty() || other.ids.is_empty() {
            self.ids = Vec::new();
        } else {
            self.ids.extend(other.ids);
        }
    }
}

/// Any of both; any type at all where one is not given.
fn either(one: Option<TypeQuery>, other: Option<TypeQuery>) -> Option<TypeQuery> {
    match (one?, other?) {
        (TypeQuery::Any(mut all), next) => {
            all.push(next);
            Some(TypeQuery::Any(all))
        }
        (one, other) => Some(TypeQuery::Any(vec![one, other])),
    }
}
