//! Ranges of index rows that lead to all entities that match a condition, and perhaps to others.

use std::ops::Bound;

use regex::Regex;
use store::Range;

use crate::TermId;
use crate::cells::{ranges_of_boxes, ranges_of_shape};
use crate::index::Indexed;
use crate::keys::{self, Class, IndexValue};
use crate::query::relation::boxes_around;
use crate::query::{
    Comparison, Filter, GeoQuery, GeoRelation, Operand, Path, Scalar, ScopeQuery, Selector, TypeQuery,
};

/// An access path of more ranges than this is not worth taking.
pub(super) const RANGES_MAX: usize = 256;
/// The access path of [`of_selectors`].
pub(super) const SELECTORS: &str = "selectors";

/// Ranges of index rows, the same in every bucket.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessPath {
    /// By what: for explanations.
    pub by: &'static str,
    /// The ranges, in no order.
    pub ranges: Vec<Range>,
    /// Whether the rows of each range come in id order.
    pub(super) in_id_order: bool,
    /// Whether it leads to nothing else than what its condition asks.
    pub(super) exact: bool,
}

/// What access paths by attributes are found in.
pub(super) struct Index<'a> {
    /// All types that a match may have.
    pub(super) types: &'a [TermId],
    /// Attributes with index rows.
    pub(super) ready: &'a Indexed,
    /// Attributes that are not indexed, by which there would be an access path.
    pub(super) wanted: Vec<TermId>,
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

/// Conditions that all must hold.
pub(super) fn conjuncts(filter: Option<&Filter>) -> impl Iterator<Item = &Filter> {
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
pub(super) fn of_selectors(selectors: &[Selector]) -> Option<AccessPath> {
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
    let access = AccessPath { by: SELECTORS, ranges, in_id_order: true, exact: false };
    (!selectors.is_empty()).then_some(access)
}

pub(super) fn of_filter(filter: &Filter, index: &mut Index<'_>) -> Option<AccessPath> {
    match filter {
        Filter::And(_) => {
            let mut accesses: Vec<_> =
                conjuncts(Some(filter)).filter_map(|part| of_filter(part, index)).collect();
            let best = accesses.iter().position(|access| access.in_id_order).unwrap_or(0);
            let several = accesses.len() > 1;
            let access = if accesses.is_empty() { None } else { Some(accesses.swap_remove(best)) };
            access.map(|access| AccessPath { exact: access.exact && !several, ..access })
        }
        Filter::Or(parts) => {
            // All are looked at: what is wanted of several is wanted at once.
            let accesses: Vec<_> = parts.iter().map(|part| of_filter(part, index)).collect();
            let accesses = accesses.into_iter().collect::<Option<Vec<_>>>()?;
            let in_id_order = accesses.iter().all(|access| access.in_id_order);
            let exact = accesses.iter().all(|access| access.exact);
            let ranges = accesses.into_iter().flat_map(|access| access.ranges).collect();
            Some(AccessPath { by: "any of several values", ranges, in_id_order, exact })
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
fn of_path(path: &Path, index: &mut Index<'_>) -> Option<AccessPath> {
    let of_entity = path.attribute.is_none() && path.meta.is_some();
    if of_entity || path.attribute.is_some_and(|attribute| !index.has(attribute)) {
        return None;
    }
    let types = index.types;
    let attributes: Vec<TermId> = path.attribute.into_iter().collect();
    // Nothing is behind no range, in any order.
    let in_id_order = attributes.is_empty();
    let ranges = pairs(types, &attributes).map(|(of_type, name)| keys::attribute_range(of_type, name));
    Some(AccessPath { by: "attribute", ranges: ranges.collect(), in_id_order, exact: false })
}

pub(super) fn of_attributes(names: &[Option<TermId>], index: &mut Index<'_>) -> Option<AccessPath> {
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
    let access = AccessPath { by: "attributes", ranges: ranges.collect(), in_id_order: false, exact: false };
    (!names.is_empty()).then_some(access)
}

fn pairs<'a>(types: &'a [TermId], names: &'a [TermId]) -> impl Iterator<Item = (TermId, TermId)> + 'a {
    types.iter().flat_map(move |of_type| names.iter().map(move |name| (*of_type, *name)))
}

fn of_value(
    attribute: TermId,
    comparison: Comparison,
    operand: &Operand,
    types: &[TermId],
) -> Option<AccessPath> {
    let bounds = |class: Class, low: Bound<IndexValue<'_>>, high: Bound<IndexValue<'_>>| {
        let range = |of_type: &TermId| keys::value_bounds(*of_type, attribute, class, low, high);
        AccessPath {
            by: "value range",
            ranges: types.iter().map(range).collect(),
            in_id_order: false,
            exact: false,
        }
    };
    match (comparison, operand) {
        // So many ranges would not be scanned, and are not worth making.
        (Comparison::Equal, Operand::Values(values)) if values.len() * types.len() > RANGES_MAX => None,
        (Comparison::Equal, Operand::Values(values)) => {
            let values = values.iter().map(index_value).collect::<Option<Vec<_>>>()?;
            let range =
                |of_type: &TermId, value: &IndexValue<'_>| keys::value_range(*of_type, attribute, *value);
            let of_type = |of_type| values.iter().map(move |value| range(of_type, value));
            let ranges = types.iter().flat_map(of_type).collect();
            let exact = values.iter().all(|value| value.is_exact());
            Some(AccessPath { by: "value", ranges, in_id_order: true, exact })
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
            Some(AccessPath { by: "text head", ranges, in_id_order: false, exact: false })
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

/// The value as it is indexed; times are indexed as texts of any form.
fn index_value(scalar: &Scalar) -> Option<IndexValue<'_>> {
    match scalar {
        Scalar::Number(number) if number.is_finite() => Some(IndexValue::Number(*number)),
        Scalar::Text(text) | Scalar::TimeText(text) => Some(IndexValue::Text(text)),
        Scalar::Bool(bool) => Some(IndexValue::Bool(*bool)),
        Scalar::Number(_) | Scalar::Time(_) | Scalar::Null => None,
    }
}

pub(super) fn of_geo(geo: &GeoQuery, index: &mut Index<'_>) -> Option<AccessPath> {
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
    Some(AccessPath { by: "cells", ranges, in_id_order: false, exact: false })
}

/// Scopes may be stored with or without a slash in front.
pub(super) fn of_scopes(scopes: &ScopeQuery) -> Option<AccessPath> {
    let (ranges, in_id_order) = match scopes {
        ScopeQuery::All(parts) => {
            let mut accesses: Vec<_> = parts.iter().filter_map(of_scopes).collect();
            accesses.sort_by_key(|access| !access.in_id_order);
            return accesses.into_iter().next().map(|access| AccessPath { exact: false, ..access });
        }
        ScopeQuery::Any(parts) => {
            let accesses = parts.iter().map(of_scopes).collect::<Option<Vec<_>>>()?;
            let in_id_order = accesses.iter().all(|access| access.in_id_order);
            (accesses.into_iter().flat_map(|access| access.ranges).collect(), in_id_order)
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
    Some(AccessPath { by: "scope", ranges, in_id_order, exact: false })
}

/// The part of a range in id order where ids start like this.
pub(super) fn headed(range: &Range, id_head: &str) -> Range {
    let mut start = range.start.to_vec();
    start.extend_from_slice(id_head.as_bytes());
    Range::prefix(start)
}

/// The types of which a selected entity has at least one; `None` if it may have any.
pub(super) fn cover(types: &TypeQuery) -> Option<Vec<TermId>> {
    let mut found = match types {
        TypeQuery::Is(of_type) => of_type.iter().copied().collect(),
        TypeQuery::Any(parts) => parts.iter().map(cover).collect::<Option<Vec<_>>>()?.concat(),
        TypeQuery::All(parts) => parts.iter().filter_map(cover).min_by_key(Vec::len)?,
    };
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// The characters that every text a pattern matches starts with, where that is plain from its start.
pub(super) fn literal_head(pattern: &Regex) -> Option<String> {
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
