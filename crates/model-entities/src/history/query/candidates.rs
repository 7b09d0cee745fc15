//! Entities and histories that a query may select, in id order: by their ids, or by the rows of their types.

use entity::keys;
use entity::query::{Query, Selector, TypeQuery};
use entity::{Error, TermId};

use crate::query::{stream::Buckets, stream::Union};
use crate::tenant::TenantState;

/// Index rows read in the first page.
const PAGE_ROWS: usize = 64;
/// Where candidates come from.
pub(super) enum Candidates {
    Ids(std::vec::IntoIter<Box<str>>),
    Rows(Union),
}

/// What a query's ids and types lead to.
pub(super) fn candidates(state: &TenantState, query: &Query) -> Candidates {
    let head = selection(&query.ids, query.types.as_ref());
    let of = |selector: &Selector| selection(&selector.ids, selector.types.as_ref());
    let selections = match head {
        Some(selection) => Some(vec![selection]),
        None if query.selectors.is_empty() => None,
        None => query.selectors.iter().map(of).collect(),
    };
    let mut ranges = Vec::new();
    let mut ids = Vec::new();
    for selection in selections.iter().flatten() {
        match selection {
            Selection::Ids(found) => ids.extend_from_slice(found),
            Selection::Types(types) => ranges.extend(
                types.iter().flat_map(|name| [keys::type_range(*name), keys::history_type_range(*name)]),
            ),
        }
    }
    if selections.is_some() && ranges.is_empty() {
        ids.sort_unstable();
        ids.dedup();
        return Candidates::Ids(ids.into_iter());
    }
    if selections.is_none() || !ids.is_empty() {
        ranges = vec![keys::entities_range(), keys::history_headers_range()];
    }
    Candidates::Rows(Union::new(Buckets::of(state), &ranges, PAGE_ROWS))
}

/// The next candidate, in order; `key` is a buffer.
pub(super) async fn next_candidate(
    state: &TenantState,
    candidates: &mut Candidates,
    key: &mut Vec<u8>,
) -> Result<Option<Box<str>>, Error> {
    let union = match candidates {
        Candidates::Ids(ids) => return Ok(ids.next()),
        Candidates::Rows(union) => union,
    };
    while union.is_starved() {
        union.fill(&state.store, &state.partitions).await?;
    }
    let found = union.next(key, false);
    Ok(found.and_then(|_| keys::id_of_key(key)).map(Into::into))
}

/// What leads to all that a selection can select.
enum Selection {
    Ids(Vec<Box<str>>),
    Types(Vec<TermId>),
}

fn selection(ids: &[Box<str>], types: Option<&TypeQuery>) -> Option<Selection> {
    match types {
        _ if !ids.is_empty() => Some(Selection::Ids(ids.to_vec())),
        Some(types) => Some(Selection::Types(types.named())),
        None => None,
    }
}
