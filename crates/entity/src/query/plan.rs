//! Which index rows can lead to the entities that match a query. Pure: from the query's tree to key
//! ranges; `run.rs` reads them.
//!
//! Every way is enough alone: all entities that match are behind it, and others perhaps too. Ways in
//! id order drive; ways in another order (ranges of values, cells) are probed when the driving way
//! turns out to pass over many entities that do not match.

use std::fmt;
use std::ops::Bound;

use regex::Regex;
use store::Range;

use super::relation::boxes_around;
use super::{
    Comparison, Filter, GeoQuery, GeoRelation, Operand, Path, Query, Scalar, ScopeQuery, Selector, TypeQuery,
};
use crate::TermId;
use crate::cells::{ranges_of_boxes, ranges_of_shape};
use crate::index::Indexed;
use crate::keys::{self, Class, IndexValue};

/// A way of more ranges than this is not worth going.
const RANGES_MAX: usize = 256;
/// The way of [`of_selectors`].
const SELECTORS: &str = "selectors";

/// How a query is answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Only these, if ids are given; sorted, each once.
    pub ids: Option<Vec<Box<str>>>,
    /// Ways in id order. None: all entities.
    pub ordered: Vec<Way>,
    /// Ways in another order.
    pub probes: Vec<Way>,
    /// Whether every entity behind the exact ordered way matches, or every entity at all, unless something expired.
    pub decides: bool,
    /// What all ids start with.
    pub id_head: String,
    /// Attributes that are not indexed, by which there would be ways.
    pub wanted: Vec<TermId>,
}

/// What the ways by attributes are found in.
struct Index<'a> {
    /// All types that a match may have.
    types: &'a [TermId],
    /// Attributes with index rows.
    ready: &'a Indexed,
    wanted: Vec<TermId>,
}

impl Index<'_> {
    /// Whether the attribute is indexed; if not, that is wanted.
    fn has(&mut self, attribute: TermId) -> bool {
        let is_ready = self.ready.holds(attribute);
        if !is_ready {
            self.wanted.push(attribute);
        }
        is_ready
    }
}

/// Ranges of index rows, the same in every bucket.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// By what: for explanations.
    pub by: &'static str,
    /// The ranges, in no order.
    pub ranges: Vec<Range>,
    /// Whether the rows of each range come in id order.
    in_id_order: bool,
    /// Whether it leads to nothing else than what the condition it stands for asks.
    exact: bool,
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |ways: &[Way]| {
            let names: Vec<String> =
                ways.iter().map(|way| format!("{} ({} ranges)", way.by, way.ranges.len())).collect();
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
    /// them, only ways that need no type are found.
    pub fn new(query: &Query, tenant_types: Option<&[TermId]>, ready: &Indexed) -> Self {
        let asked = types_of(query);
        let typed = asked.is_some();
        let types = asked.as_deref().or(tenant_types);
        let (mut ways, mut wanted) = (Vec::new(), Vec::new());
        if let Some(types) = types {
            let mut index = Index { types, ready, wanted };
            let filter = query.filter.as_ref();
            ways.extend(conjuncts(filter).filter_map(|filter| of_filter(filter, &mut index)));
            ways.extend(query.geo.as_ref().and_then(|geo| of_geo(geo, &mut index)));
            ways.extend(of_attributes(&query.attributes, &mut index));
            wanted = index.wanted;
            wanted.sort_unstable();
            wanted.dedup();
        }
        ways.extend(query.scopes.as_ref().and_then(of_scopes));
        ways.extend(of_selectors(&query.selectors));
        ways.retain(|way| way.ranges.len() <= RANGES_MAX);
        let (mut ordered, probes): (Vec<_>, Vec<_>) = ways.into_iter().partition(|way| way.in_id_order);
        // A way by value leads to entities of the same types, and to no more of them.
        if ordered.iter().all(|way| way.by == "scope")
            && let Some(types) = types.filter(|_| typed)
        {
            let ranges = types.iter().map(|of_type| keys::type_range(*of_type)).collect();
            ordered.push(Way { by: "type", ranges, in_id_order: true, exact: true });
        }
        let (ids, id_head) = (ids(query), id_head(query));
        let mut plan = Self { ids, ordered, probes, decides: false, id_head, wanted };
        plan.decides = plan.index_decides(query);
        plan.narrow();
        plan
    }

    /// Whether the first way, or that there is none, stands for the whole query.
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
            && matches!(self.ordered.as_slice(), [way] if way.exact && (query.filter.is_none() || way.by != "type"))
    }

    /// Ids that start alike are one part of a range in id order.
    fn narrow(&mut self) {
        if self.id_head.is_empty() {
            return;
        }
        if self.ordered.is_empty() {
            let ranges = vec![keys::entities_range()];
            self.ordered.push(Way { by: "id", ranges, in_id_order: true, exact: false });
        }
        // Selectors lead to ids that are narrow already.
        let ways = self.ordered.iter_mut().filter(|way| way.by != SELECTORS);
        for range in ways.flat_map(|way| &mut way.ranges) {
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

/// The part of a range in id order where ids start like this.
fn headed(range: &Range, id_head: &str) -> Range {
    let mut start = range.start.to_vec();
    start.extend_from_slice(id_head.as_bytes());
    Range::prefix(start)
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

/// The types of which a selected entity has at least one; `None` if it may have any.
fn cover(types: &TypeQuery) -> Option<Vec<TermId>> {
    let mut found = match types {
        TypeQuery::Is(of_type) => of_type.iter().copied().collect(),
        TypeQuery::Any(parts) => parts.iter().map(cover).collect::<Option<Vec<_>>>()?.concat(),
        TypeQuery::All(parts) => parts.iter().filter_map(cover).min_by_key(Vec::len)?,
    };
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// Whether having one type of the cover is all that is asked.
fn is_alternatives(types: &TypeQuery) -> bool {
    match types {
        TypeQuery::Is(_) => true,
        TypeQuery::Any(parts) => parts.iter().all(is_alternatives),
        TypeQuery::All(_) => false,
    }
}

/// Conditions that all must hold.
fn conjuncts(filter: Option<&Filter>) -> impl Iterator<Item = &Filter> {
    let mut open: Vec<&Filter> = filter.into_iter().collect();
    std::iter::from_fn(move || {
        loop {
            match open.pop()? {
                Filter::And(parts) => open.extend(parts.iter().rev()),
                other => return Some(other),
            }
        }
    })
}

/// The ids and types that any of the selectors leads to; `None` if one leads anywhere.
fn of_selectors(selectors: &[Selector]) -> Option<Way> {
    let mut ranges = Vec::new();
    for selector in selectors {
        let head = selector.id_pattern.as_ref().and_then(literal_head).unwrap_or_default();
        let types = selector.types.as_ref().and_then(cover);
        match types {
            _ if !selector.ids.is_empty() => {
                ranges.extend(selector.ids.iter().map(|id| keys::entity_range(id)));
            }
            Some(types) => {
                ranges.extend(types.iter().map(|of_type| headed(&keys::type_range(*of_type), &head)));
            }
            None if head.is_empty() => return None,
            None => ranges.push(headed(&keys::entities_range(), &head)),
        }
        if ranges.len() > RANGES_MAX {
            return None;
        }
    }
    ranges.sort_unstable_by(|one, other| one.start.cmp(&other.start));
    ranges.dedup();
    let way = Way { by: SELECTORS, ranges, in_id_order: true, exact: false };
    (!selectors.is_empty()).then_some(way)
}

fn of_filter(filter: &Filter, index: &mut Index<'_>) -> Option<Way> {
    match filter {
        Filter::And(_) => {
            let mut ways: Vec<_> =
                conjuncts(Some(filter)).filter_map(|part| of_filter(part, index)).collect();
            let best = ways.iter().position(|way| way.in_id_order).unwrap_or(0);
            let several = ways.len() > 1;
            let way = if ways.is_empty() { None } else { Some(ways.swap_remove(best)) };
            way.map(|way| Way { exact: way.exact && !several, ..way })
        }
        Filter::Or(parts) => {
            // All are looked at: what is wanted of several is wanted at once.
            let ways: Vec<_> = parts.iter().map(|part| of_filter(part, index)).collect();
            let ways = ways.into_iter().collect::<Option<Vec<_>>>()?;
            let in_id_order = ways.iter().all(|way| way.in_id_order);
            let exact = ways.iter().all(|way| way.exact);
            let ranges = ways.into_iter().flat_map(|way| way.ranges).collect();
            Some(Way { by: "any of several values", ranges, in_id_order, exact })
        }
        Filter::Missing(_) => None,
        Filter::Exists(path) => of_path(path, index),
        Filter::Compare(path, comparison, operand) => {
            let attribute = path.attribute.filter(|_| is_plain(path));
            if attribute.is_some_and(|attribute| !index.has(attribute)) {
                return None;
            }
            let by_value = |attribute| of_value(attribute, *comparison, operand, index.types);
            attribute.and_then(by_value).or_else(|| of_path(path, index))
        }
    }
}

/// Whether the path leads to an attribute's own values.
fn is_plain(path: &Path) -> bool {
    path.members.is_empty() && path.meta.is_none() && path.json.is_empty() && path.linked.is_none()
}

/// All entities that have the path's attribute.
fn of_path(path: &Path, index: &mut Index<'_>) -> Option<Way> {
    let of_entity = path.attribute.is_none() && path.meta.is_some();
    if of_entity || path.attribute.is_some_and(|attribute| !index.has(attribute)) {
        return None;
    }
    let types = index.types;
    let attributes: Vec<TermId> = path.attribute.into_iter().collect();
    // Nothing is behind no range, in any order.
    let in_id_order = attributes.is_empty();
    let ranges = pairs(types, &attributes).map(|(of_type, name)| keys::attribute_range(of_type, name));
    Some(Way { by: "attribute", ranges: ranges.collect(), in_id_order, exact: false })
}

fn of_attributes(names: &[Option<TermId>], index: &mut Index<'_>) -> Option<Way> {
    let types = index.types;
    if names.len() * types.len() > RANGES_MAX {
        return None;
    }
    let attributes: Vec<TermId> = names.iter().flatten().copied().collect();
    let missing = attributes.iter().filter(|attribute| !index.has(**attribute)).count();
    if missing > 0 {
        return None;
    }
    let ranges = pairs(types, &attributes).map(|(of_type, name)| keys::attribute_range(of_type, name));
    let way = Way { by: "attributes", ranges: ranges.collect(), in_id_order: false, exact: false };
    (!names.is_empty()).then_some(way)
}

fn pairs<'a>(types: &'a [TermId], names: &'a [TermId]) -> impl Iterator<Item = (TermId, TermId)> + 'a {
    types.iter().flat_map(move |of_type| names.iter().map(move |name| (*of_type, *name)))
}

fn of_value(attribute: TermId, comparison: Comparison, operand: &Operand, types: &[TermId]) -> Option<Way> {
    let bounds = |class: Class, low: Bound<IndexValue<'_>>, high: Bound<IndexValue<'_>>| {
        let range = |of_type: &TermId| keys::value_bounds(*of_type, attribute, class, low, high);
        Way { by: "value range", ranges: types.iter().map(range).collect(), in_id_order: false, exact: false }
    };
    match (comparison, operand) {
        // So many ranges would not be gone, and are not worth making.
        (Comparison::Equal, Operand::Values(values)) if values.len() * types.len() > RANGES_MAX => None,
        (Comparison::Equal, Operand::Values(values)) => {
            let values = values.iter().map(index_value).collect::<Option<Vec<_>>>()?;
            let range =
                |of_type: &TermId, value: &IndexValue<'_>| keys::value_range(*of_type, attribute, *value);
            let of_type = |of_type| values.iter().map(move |value| range(of_type, value));
            let ranges = types.iter().flat_map(of_type).collect();
            let exact = values.iter().all(|value| value.is_exact());
            Some(Way { by: "value", ranges, in_id_order: true, exact })
        }
        (Comparison::Equal, Operand::Range(low, high)) => {
            let (low, high) = (index_value(low)?, index_value(high)?);
            let alike = low.class() == high.class();
            alike.then(|| bounds(low.class(), Bound::Included(low), Bound::Included(high)))
        }
        (Comparison::Equal | Comparison::Match, Operand::Pattern(pattern)) => {
            let head = literal_head(pattern)?;
            let range = |of_type: &TermId| keys::text_prefix_range(*of_type, attribute, &head);
            let ranges = types.iter().map(range).collect();
            Some(Way { by: "text head", ranges, in_id_order: false, exact: false })
        }
        (_, Operand::Values(values)) => {
            let [value] = values.as_slice() else {
                return None;
            };
            let value = index_value(value).filter(|value| !matches!(value, IndexValue::Bool(_)))?;
            let (low, high) = match comparison {
                Comparison::Less => (Bound::Unbounded, Bound::Excluded(value)),
                Comparison::LessEqual => (Bound::Unbounded, Bound::Included(value)),
                Comparison::Greater => (Bound::Excluded(value), Bound::Unbounded),
                Comparison::GreaterEqual => (Bound::Included(value), Bound::Unbounded),
                _ => return None,
            };
            Some(bounds(value.class(), low, high))
        }
        _ => None,
    }
}

/// The value as the index holds it; times lie there as texts of any form.
fn index_value(scalar: &Scalar) -> Option<IndexValue<'_>> {
    match scalar {
        Scalar::Number(number) if number.is_finite() => Some(IndexValue::Number(*number)),
        Scalar::Text(text) | Scalar::TimeText(text) => Some(IndexValue::Text(text)),
        Scalar::Bool(bool) => Some(IndexValue::Bool(*bool)),
        Scalar::Number(_) | Scalar::Time(_) | Scalar::Null => None,
    }
}

fn of_geo(geo: &GeoQuery, index: &mut Index<'_>) -> Option<Way> {
    let cells = match geo.relation {
        GeoRelation::Near { max: None, .. } | GeoRelation::Disjoint => return None,
        GeoRelation::Near { max: Some(metres), .. } => ranges_of_boxes(&boxes_around(&geo.geometry, metres)),
        _ => ranges_of_shape(&geo.geometry),
    };
    let attribute = geo.attribute.filter(|attribute| index.has(*attribute))?;
    let range = |of_type: TermId| {
        cells.iter().map(move |cells| keys::cell_range(of_type, attribute, *cells.start(), *cells.end()))
    };
    let ranges = index.types.iter().flat_map(|of_type| range(*of_type)).collect();
    Some(Way { by: "cells", ranges, in_id_order: false, exact: false })
}

/// Scopes may be stored with or without a slash in front.
fn of_scopes(scopes: &ScopeQuery) -> Option<Way> {
    let (ranges, in_id_order) = match scopes {
        ScopeQuery::All(parts) => {
            let mut ways: Vec<_> = parts.iter().filter_map(of_scopes).collect();
            ways.sort_by_key(|way| !way.in_id_order);
            return ways.into_iter().next().map(|way| Way { exact: false, ..way });
        }
        ScopeQuery::Any(parts) => {
            let ways = parts.iter().map(of_scopes).collect::<Option<Vec<_>>>()?;
            let in_id_order = ways.iter().all(|way| way.in_id_order);
            (ways.into_iter().flat_map(|way| way.ranges).collect(), in_id_order)
        }
        ScopeQuery::Matches(levels) => {
            let open = levels.iter().position(|level| matches!(&**level, "+" | "#"));
            let head = levels.get(..open.unwrap_or(levels.len()))?.join("/");
            let mut ranges = Vec::new();
            for head in [format!("/{head}"), head] {
                match open {
                    Some(0) => ranges.push(keys::scope_prefix_range("")),
                    Some(_) => {
                        ranges.push(keys::scope_range(&head));
                        ranges.push(keys::scope_prefix_range(&format!("{head}/")));
                    }
                    None => ranges.push(keys::scope_range(&head)),
                }
            }
            ranges.dedup();
            (ranges, open.is_none())
        }
    };
    Some(Way { by: "scope", ranges, in_id_order, exact: false })
}

/// The characters that every text a pattern matches starts with, where that is plain from its start.
fn literal_head(pattern: &Regex) -> Option<String> {
    let rest = pattern.as_str().strip_prefix('^')?;
    // Alternatives may start elsewhere.
    if rest.contains('|') {
        return None;
    }
    let mut head = String::new();
    let mut chars = rest.chars().peekable();
    while let Some(next) = chars.next() {
        let plain = match next {
            '\\' => match chars.next() {
                Some(escaped) if escaped.is_ascii_punctuation() => escaped,
                _ => break,
            },
            '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '^' | '$' => break,
            plain => plain,
        };
        if matches!(chars.peek(), Some('*' | '?' | '{')) {
            break;
        }
        head.push(plain);
    }
    (!head.is_empty()).then_some(head)
}

#[cfg(test)]
mod tests;
