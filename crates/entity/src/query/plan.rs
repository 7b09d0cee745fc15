//! Which index rows can lead to the entities that match a query. Pure: from the query's tree to key ranges; `query/run.rs` of
//! `model-entities` reads them.
//!
//! Every access path is enough alone: it leads to all entities that match, and perhaps to others. One in id order drives; those
//! in another order (ranges of values, cells) are probed when the driving one turns out to pass over many entities that do not
//! match.

mod access_path;

#[cfg(test)]
mod tests;

use std::fmt;

use super::{Query, TypeQuery};
use crate::TermId;
use crate::index::Indexed;
use crate::keys;

use access_path::{
    Index, RANGES_MAX, SELECTORS, conjuncts, cover, headed, literal_head, of_attributes, of_filter, of_geo,
    of_scopes, of_selectors,
};

pub use access_path::AccessPath;

/// How a query is answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Only these, if ids are given; sorted, each once.
    pub ids: Option<Vec<Box<str>>>,
    /// Access paths in id order. Empty: all entities.
    pub ordered: Vec<AccessPath>,
    /// Access paths in another order.
    pub probes: Vec<AccessPath>,
    /// Whether every entity that the exact ordered path leads to matches, or every entity at all, unless something expired.
    pub decides: bool,
    /// What all ids start with.
    pub id_head: String,
    /// Attributes that are not indexed, by which there would be access paths.
    pub wanted: Vec<TermId>,
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |paths: &[AccessPath]| {
            let names: Vec<String> =
                paths.iter().map(|path| format!("{} ({} ranges)", path.by, path.ranges.len())).collect();
            names.join(" or ")
        };
        match &self.ids {
            Some(ids) => write!(formatter, "{} ids", ids.len()),
            None if self.ordered.is_empty() => write!(formatter, "all entities"),
            None => write!(formatter, "{}", list(&self.ordered)),
        }?;
        if !self.probes.is_empty() {
            write!(formatter, ", probing {}", list(&self.probes))?;
        }
        Ok(())
    }
}

impl Plan {
    /// The plan for a query, by the indexes that are ready. `tenant_types`: all types in use, for queries that name none; without
    /// them, only access paths that need no type are found.
    pub fn new(query: &Query, tenant_types: Option<&[TermId]>, ready: &Indexed) -> Self {
        let asked = types_of(query);
        let typed = asked.is_some();
        let types = asked.as_deref().or(tenant_types);
        let (mut paths, mut wanted) = (Vec::new(), Vec::new());
        if let Some(types) = types {
            let mut index = Index { types, ready, wanted };
            let filter = query.filter.as_ref();
            paths.extend(conjuncts(filter).filter_map(|filter| of_filter(filter, &mut index)));
            paths.extend(query.geo.as_ref().and_then(|geo| of_geo(geo, &mut index)));
            paths.extend(of_attributes(&query.attributes, &mut index));
            wanted = index.wanted;
            wanted.sort_unstable();
            wanted.dedup();
        }
        paths.extend(query.scopes.as_ref().and_then(of_scopes));
        paths.extend(of_selectors(&query.selectors));
        paths.retain(|path| path.ranges.len() <= RANGES_MAX);
        let (mut ordered, probes): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.in_id_order);
        // An access path by value leads to entities of the same types, and to no more of them.
        if ordered.iter().all(|path| path.by == "scope")
            && let Some(types) = types.filter(|_| typed)
        {
            let ranges = types.iter().map(|of_type| keys::type_range(*of_type)).collect();
            ordered.push(AccessPath { by: "type", ranges, in_id_order: true, exact: true });
        }
        let (ids, id_head) = (ids(query), id_head(query));
        let mut plan = Self { ids, ordered, probes, decides: false, id_head, wanted };
        plan.decides = plan.index_decides(query);
        plan.narrow();
        plan
    }

    /// Whether the first access path, or that there is none, answers the whole query.
    fn index_decides(&self, query: &Query) -> bool {
        let no_more = query.geo.is_none()
            && query.scopes.is_none()
            && query.attributes.is_empty()
            && query.id_pattern.is_none()
            && query.selectors.is_empty()
            && self.ids.is_none();
        let one_condition = match &query.filter {
            None => true,
            Some(filter) => conjuncts(Some(filter)).count() == 1 && query.datasets.is_empty(),
        };
        if no_more && query.types.is_none() && query.filter.is_none() {
            return self.ordered.is_empty();
        }
        no_more
            && one_condition
            && query.types.as_ref().is_some_and(is_alternatives)
            && matches!(self.ordered.as_slice(), [path] if path.exact && (query.filter.is_none() || path.by != "type"))
    }

    /// Ids that start alike are one part of a range in id order.
    fn narrow(&mut self) {
        if self.id_head.is_empty() {
            return;
        }
        if self.ordered.is_empty() {
            let ranges = vec![keys::entities_range()];
            self.ordered.push(AccessPath { by: "id", ranges, in_id_order: true, exact: false });
        }
        // Selectors lead to ids that are narrow already.
        let paths = self.ordered.iter_mut().filter(|path| path.by != SELECTORS);
        for range in paths.flat_map(|path| &mut path.ranges) {
            *range = headed(range, &self.id_head);
        }
    }
}

/// Whether a query without types could use them: all types in use are then worth looking up.
pub fn wants_types(query: &Query) -> bool {
    let indexed = query.filter.is_some() || query.geo.is_some() || !query.attributes.is_empty();
    types_of(query).is_none() && indexed && ids(query).is_none()
}

/// Of the query, or of all its selectors where each has some.
fn ids(query: &Query) -> Option<Vec<Box<str>>> {
    let mut ids = query.ids.clone();
    if ids.is_empty() && query.selectors.iter().all(|selector| !selector.ids.is_empty()) {
        ids = query.selectors.iter().flat_map(|selector| selector.ids.iter().cloned()).collect();
    }
    ids.sort_unstable();
    ids.dedup();
    (!ids.is_empty()).then_some(ids)
}

fn id_head(query: &Query) -> String {
    query.id_pattern.as_ref().and_then(literal_head).unwrap_or_default()
}

/// The types of which every match has at least one; `None` if it may have any.
fn types_of(query: &Query) -> Option<Vec<TermId>> {
    let of_query = query.types.as_ref().and_then(cover);
    if of_query.is_some() || query.selectors.is_empty() {
        return of_query;
    }
    let of_selectors = query.selectors.iter().map(|selector| cover(selector.types.as_ref()?));
    let mut types = of_selectors.collect::<Option<Vec<_>>>()?.concat();
    types.sort_unstable();
    types.dedup();
    Some(types)
}

/// Whether having one type of the cover is all that is asked.
fn is_alternatives(types: &TypeQuery) -> bool {
    match types {
        TypeQuery::Is(_) => true,
        TypeQuery::Any(parts) => parts.iter().all(is_alternatives),
        TypeQuery::All(_) => false,
    }
}
