//! Query parameters, headers and the query in a body, typed and checked: which entities, and how
//! they are to be answered.
//!
//! Decisions where the standard leaves room:
//! - a parameter that an operation does not have is refused (6.3.20), and so is one given twice;
//! - `format` goes before `options` (6.3.7);
//! - a query or purge that has no `type`, `attrs`, `q` or geo-query must be `local=true` or `type=*` (5.7.2.4, 5.6.21.4);
//! - `limit` beyond the maximum page is refused, not cut;
//! - `geometryProperty` without a GeoJSON answer is refused (5.7.1.4, 5.7.2.4);
//! - `csf` and entity maps answer OperationNotSupported;
//! - `splitEntities` and `local` change nothing while entities are all local and whole, so that an order, which needs the
//!   local scope (5.7.2.4), is never refused; `jsonKeys` changes nothing because keys of values are never expanded.

mod declared;
mod given;
mod writes;
mod reading;
mod order;
pub(crate) mod temporal;
mod body;
mod entities;
mod projection;
mod representation;

use api_http::{MediaType, Request};
use model_entities::{Deadline, Filter, Order, Path, Query, Selector, TermId, Timestamp};

pub(crate) use body::{parse_query_body, parse_temporal_body};
pub(crate) use declared::*;
pub(crate) use reading::{Join, Reading};
pub(crate) use temporal::{TemporalForm, TemporalParams};
pub(crate) use writes::{WriteOptions, flag, instances, merge_options, write_options};

use crate::media::GEO_JSON;
use crate::problem::Problem;
use crate::render::Form;
use crate::state::Limits;
use entities::{check_width, parse_query};
use given::Given;
use tenant_contexts::Names;

/// The farthest page: beyond any number of entities, and far from where sums would overflow.
const OFFSET_MAX: usize = u32::MAX as usize;

/// What a read asks for.
#[derive(Debug)]
pub(crate) struct EntityParams {
    /// How the answer is to be.
    pub(crate) reading: Reading,
    /// Which entities; for a retrieval, only the types that the entity must have.
    query: Query,
}

impl EntityParams {
    /// Reads the parameters and headers of GET /entities. Cost: linear in the request.
    ///
    /// # Errors
    ///
    /// What is wrong, naming the parameter.
    pub(crate) fn of_query(request: &Request, names: &Names, limits: &Limits) -> Result<Self, Problem> {
        Self::of_given(&Given::of(request), request, names, limits, None)
    }

    /// `selected`: entities that a body selects otherwise than by parameters.
    fn of_given(
        given: &Given<'_>,
        request: &Request,
        names: &Names,
        limits: &Limits,
        selected: Option<Vec<Selector>>,
    ) -> Result<Self, Problem> {
        let order = order::parse_order(given, names, limits)?;
        Self::read(given, request, names, limits)?.asking(given, names, limits, order, selected)
    }

    /// Reads which entities are asked for, to come in this order.
    fn asking(
        self,
        given: &Given<'_>,
        names: &Names,
        limits: &Limits,
        order: Order,
        selected: Option<Vec<Selector>>,
    ) -> Result<Self, Problem> {
        let mut params = self;
        let query = parse_query(given, names, limits)?;
        check_links(&query, params.reading.hops())?;
        let collation = order::parse_collation(given)?;
        let datasets = params.reading.datasets.clone();
        let attributes = std::mem::take(&mut params.reading.required);
        params.query = Query { attributes, datasets, order, collation, ..query };
        page(given, limits, &mut params.query)?;
        match selected {
            Some(selectors) => select(&mut params.query, selectors),
            None => check_width(given, &params.query, names)?,
        }
        Ok(params)
    }

    /// Reads the parameters and headers of GET /entities/{id}. Cost: linear in the request.
    ///
    /// # Errors
    ///
    /// What is wrong, naming the parameter.
    pub(crate) fn of_entity(request: &Request, names: &Names, limits: &Limits) -> Result<Self, Problem> {
        let given = Given::of(request);
        let mut params = Self::read(&given, request, names, limits)?;
        if let Some(types) = given.get(&TYPE) {
            params.query.types = lang_ngsi_ld::parse_types(types, names)?;
        }
        Ok(params)
    }

    /// Reads the parameters of DELETE /entities, other than `keep` and `drop`, as a query.
    ///
    /// # Errors
    ///
    /// What is wrong, naming the parameter.
    pub(crate) fn of_purge(
        request: &Request,
        names: &Names,
        limits: &Limits,
        now: Timestamp,
    ) -> Result<Query, Problem> {
        let given = Given::of(request);
        given.refuse_unsupported()?;
        if given.get(&KEEP).is_some() && given.get(&DROP).is_some() {
            return Err(Problem::bad_request("parameters keep and drop exclude each other"));
        }
        for parameter in [KEEP, DROP] {
            given.names(&parameter)?;
        }
        let query = parse_query(&given, names, limits)?;
        let attributes: Vec<_> = given.names(&ATTRS)?.into_iter().map(|name| names.term(name)).collect();
        let datasets = given.datasets(&DATASET_ID)?;
        let query = Query { attributes, datasets, now, ..query };
        check_width(&given, &query, names)?;
        if query.filter.as_ref().is_some_and(|filter| filter.link_depth() > 0) {
            let detail = "parameter q: a purge cannot ask for attributes of linked entities";
            return Err(Problem::bad_request(detail));
        }
        let filter = has_instance(&query);
        Ok(Query { filter, ..query })
    }

    /// The query, asked at this time, and answered before the deadline.
    pub(crate) fn query(&self, now: Timestamp, deadline: Deadline) -> Query {
        Query { now, deadline, ..self.query.clone() }
    }

    /// The types that a retrieved entity must have.
    pub(crate) fn types(&self) -> Option<&model_entities::TypeQuery> {
        self.query.types.as_ref()
    }

    /// What queries and retrievals have in common.
    fn read(given: &Given<'_>, request: &Request, names: &Names, limits: &Limits) -> Result<Self, Problem> {
        let form = representation::form(given)?;
        Self::read_as(given, request, names, limits, form, representation::media(request)?)
    }

    /// The same, where representation and media type are read already.
    fn read_as(
        given: &Given<'_>,
        request: &Request,
        names: &Names,
        limits: &Limits,
        (form, sys_attrs): (Form, bool),
        media: MediaType,
    ) -> Result<Self, Problem> {
        given.refuse_unsupported()?;
        given.flag(&LOCAL)?;
        given.names(&JSON_KEYS)?;
        let preferences = representation::preferences(request);
        let (join, join_level) = joining(given, limits)?;
        let geometry = geometry_property(given, names, media)?;
        let mut reading = Reading {
            media,
            context_in_body: representation::context_in_body(media, preferences.json_body),
            release: preferences.release,
            form,
            sys_attrs,
            languages: given.get(&LANG).map(representation::languages).transpose()?,
            datasets: given.datasets(&DATASET_ID)?,
            geometry,
            join,
            join_level,
            contained_by: given.uris(&CONTAINED_BY)?,
            ..Reading::default()
        };
        let shown = projection::parse(given, names, reading.hops())?;
        (reading.pick, reading.omit, reading.required) = (shown.pick, shown.omit, shown.required);
        Ok(Self { reading, query: Query::default() })
    }
}

/// Checks that `q` looks no farther into linked entities than the answer reaches (5.7.2.4).
fn check_links(query: &Query, hops: usize) -> Result<(), Problem> {
    let depth = query.filter.as_ref().map_or(0, Filter::link_depth);
    if depth <= hops {
        return Ok(());
    }
    Err(Problem::bad_request(match hops {
        0 => "parameter q: conditions on linked entities need join=flat or join=inline, which only queries and retrievals of \
              entities have"
            .to_owned(),
        hops => format!("parameter q: a condition is on entities {depth} links away, and joinLevel is {hops}"),
    }))
}

/// The filter, and that an attribute has an instance of one of the datasets: where instances are removed, an instance must be
/// what was asked for.
fn has_instance(query: &Query) -> Option<Filter> {
    if query.attributes.is_empty() || query.datasets.is_empty() {
        return query.filter.clone();
    }
    let exists = |attribute: &Option<TermId>| {
        let path =
            Path { attribute: *attribute, members: Vec::new(), meta: None, json: Vec::new(), linked: None };
        Filter::Exists(path)
    };
    let has = Filter::Or(query.attributes.iter().map(exists).collect());
    Some(Filter::And(query.filter.iter().cloned().chain([has]).collect()))
}

/// `join` and `joinLevel` (4.5.23).
fn joining(given: &Given<'_>, limits: &Limits) -> Result<(Join, usize), Problem> {
    let join = match given.get(&JOIN) {
        None | Some("@none") => Join::None,
        Some("inline") => Join::Inline,
        Some("flat") => Join::Flat,
        Some(other) => {
            return Err(Problem::bad_request(format!(
                "parameter join must be inline, flat or @none, not {other:?}"
            )));
        }
    };
    let level = given.number(&JOIN_LEVEL)?;
    if level == Some(0) {
        return Err(Problem::bad_request("parameter joinLevel must be at least 1"));
    }
    if level.is_some() && given.get(&JOIN).is_none() {
        return Err(Problem::bad_request("parameter joinLevel needs join"));
    }
    let level = level.unwrap_or(1);
    if level > limits.join_level_max {
        return Err(Problem::too_complex_query(format!(
            "parameter joinLevel must not be more than {} (join_level_max)",
            limits.join_level_max
        )));
    }
    Ok((join, level))
}

/// The GeoProperty that becomes the geometry of GeoJSON.
fn geometry_property(given: &Given<'_>, names: &Names, media: &str) -> Result<Option<TermId>, Problem> {
    let geo_json = media == GEO_JSON;
    let Some(name) = given.get(&GEOMETRY_PROPERTY) else {
        return Ok(if geo_json { names.term("location") } else { None });
    };
    if !geo_json {
        return Err(Problem::bad_request("parameter geometryProperty needs Accept: application/geo+json"));
    }
    given::check("geometryProperty", lang_ngsi_ld::check_name(name))?;
    Ok(names.term(name))
}

/// A selector alone is the query's own: the planner knows most of those.
fn select(query: &mut Query, selectors: Vec<Selector>) {
    match <[Selector; 1]>::try_from(selectors) {
        Ok([Selector { ids, id_pattern, types }]) => {
            (query.ids, query.id_pattern, query.types) = (ids, id_pattern, types);
        }
        Err(several) => query.selectors = several,
    }
}

/// `limit`, `offset` and `count` (6.3.10, 6.3.13).
fn page(given: &Given<'_>, limits: &Limits, query: &mut Query) -> Result<(), Problem> {
    query.count = given.flag(&COUNT)? || representation::counts(given);
    query.offset = given.number(&OFFSET)?.unwrap_or(0);
    if query.offset > OFFSET_MAX {
        return Err(Problem::bad_request(format!("parameter offset must not be more than {OFFSET_MAX}")));
    }
    query.limit = given.number(&LIMIT)?.unwrap_or(limits.page_default);
    query.page_bytes_max = Some(limits.page_bytes_max);
    if query.limit > limits.page_max {
        let detail = format!("parameter limit must not be more than {} (page_rows_max)", limits.page_max);
        return Err(Problem::bad_request(detail));
    }
    if query.limit == 0 && !query.count {
        return Err(Problem::bad_request("parameter limit may be 0 only with count=true"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
