//! Which entities' pasts match a query: each candidate is evaluated as one entity whose attributes have all instances of
//! the span at once.

#[cfg(test)]
mod tests;

use store::{Range, Timestamp};

use super::note::Point;
use super::read::Source;
use super::select::Bound;
use super::{EntityHistory, TimeProperty, TimeSpan};
use crate::encode::{put_names, put_times, put_varint, seal};
use crate::query::eval::{Links, Matcher};
use crate::query::stream::Union;
use crate::query::{Query, Selector, TypeQuery};
use crate::{EntityView, Error, TenantEntities, TermId, keys};

/// Index rows read in the first page.
const PAGE_ROWS: usize = 64;

/// A page of entities.
#[derive(Clone, Debug, Default)]
pub struct HistoryPage {
    /// Their ids, in order.
    pub ids: Vec<Box<str>>,
    /// How many match in all, where it was asked.
    pub count: Option<usize>,
    /// Whether matches follow behind the page.
    pub more: bool,
}

/// Where candidates come from.
enum Candidates {
    Ids(std::vec::IntoIter<Box<str>>),
    Rows(Union),
}

impl TenantEntities {
    /// The entities, living or gone, that match the query by their past: some instance within the span satisfies each
    /// condition (for negated ones, some is there and none is equal). An entity without any instance within the span does
    /// not match. Paged by `offset` and `limit` in id order; the query's own order and time are not looked at. Types and
    /// scopes are those the entity has, or had when it went.
    ///
    /// Cost: the current row of each candidate (by id, or type) and its head rows; and the blocks that overlap the span of
    /// the attributes that conditions are on.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if it looks at more entities than the options allow; if the store refuses.
    pub async fn query_history(
        &self,
        query: &Query,
        time: TimeProperty,
        span: TimeSpan,
    ) -> Result<HistoryPage, Error> {
        // Nothing of the past expires.
        let query = Query { now: Timestamp(i64::MIN), ..query.clone() };
        let search = Search { matcher: Matcher::new(&query), query: &query, time, span };
        let scan_max = self.context().options.scan_entities_max;
        let mut candidates = self.candidates(&query);
        let (mut page, mut matched, mut scanned) = (HistoryPage::default(), 0_usize, 0_usize);
        let behind = query.offset.saturating_add(query.limit);
        let (mut links, mut key) = (Links::default(), Vec::new());
        while let Some(id) = self.next_candidate(&mut candidates, &mut key).await? {
            if matched > behind && !query.count {
                break;
            }
            scanned += 1;
            if scanned > scan_max {
                let message = format!("the query looks at more than {scan_max} entities (scan_entities_max)");
                return Err(Error::Limit(message));
            }
            if !self.matches_past(&id, &search, &mut links).await? {
                continue;
            }
            if (query.offset..behind).contains(&matched) {
                page.ids.push(id);
            }
            matched += 1;
        }
        page.more = matched > behind;
        page.count = query.count.then_some(matched);
        Ok(page)
    }

    fn candidates(&self, query: &Query) -> Candidates {
        let head = way(&query.ids, query.types.as_ref());
        let of = |selector: &Selector| way(&selector.ids, selector.types.as_ref());
        let ways = match head {
            Some(way) => Some(vec![way]),
            None if query.selectors.is_empty() => None,
            None => query.selectors.iter().map(of).collect(),
        };
        let mut ranges = Vec::new();
        let mut ids = Vec::new();
        for way in ways.iter().flatten() {
            match way {
                Way::Ids(found) => ids.extend_from_slice(found),
                Way::Types(types) => ranges.extend(
                    types.iter().flat_map(|name| [keys::type_range(*name), keys::past_type_range(*name)]),
                ),
            }
        }
        if ways.is_some() && ranges.is_empty() {
            ids.sort_unstable();
            ids.dedup();
            return Candidates::Ids(ids.into_iter());
        }
        if ways.is_none() || !ids.is_empty() {
            ranges = vec![keys::entities_range(), keys::pasts_range()];
        }
        Candidates::Rows(self.union(&ranges))
    }

    /// Ids behind index rows, in order, each once.
    pub(super) fn union(&self, ranges: &[Range]) -> Union {
        Union::new(self.context().partitions.len(), ranges, PAGE_ROWS)
    }

    async fn next_candidate(
        &self,
        candidates: &mut Candidates,
        key: &mut Vec<u8>,
    ) -> Result<Option<Box<str>>, Error> {
        let union = match candidates {
            Candidates::Ids(ids) => return Ok(ids.next()),
            Candidates::Rows(union) => union,
        };
        let context = self.context();
        if union.is_starved() {
            union.fill(&context.store, &context.partitions).await?;
        }
        let found = union.next(key, false);
        Ok(found.and_then(|_| keys::id_of_key(key)).map(Into::into))
    }

    async fn matches_past(&self, id: &str, search: &Search<'_>, links: &mut Links) -> Result<bool, Error> {
        let Some(known) = self.history(id).await? else {
            return Ok(false);
        };
        let mut entity = head_of(&known);
        if !search.matcher.matches_head(&EntityView::parse(&entity)?) {
            return Ok(false);
        }
        let asked = &search.query.datasets;
        let counts =
            |dataset: Option<&str>| asked.is_empty() || asked.iter().any(|one| one.as_deref() == dataset);
        let evaluated = search.evaluated();
        let named: Vec<TermId> = search.query.attributes.iter().flatten().copied().collect();
        let mut sources = self.sources(id, |_, dataset| counts(dataset)).await?;
        sources.sort_by(|one, other| (one.attribute, &one.dataset).cmp(&(other.attribute, &other.dataset)));
        let mut is_there = false;
        for attribute in sources.chunk_by(|one, other| one.attribute == other.attribute) {
            let name = attribute.first().map(|source| source.attribute).unwrap_or_default();
            let bound = match (evaluated.contains(&name), named.contains(&name)) {
                (true, _) => usize::MAX,
                (false, true) => 1,
                (false, false) if !is_there && named.is_empty() => 1,
                _ => continue,
            };
            is_there |= self.put_past(&mut entity, attribute, search, Bound::First(bound)).await?;
        }
        if !is_there {
            return Ok(false);
        }
        let view = EntityView::parse(&entity)?;
        loop {
            let matches = search.matcher.matches(&view, links);
            if links.wanted.is_empty() {
                return Ok(matches);
            }
            self.fetch_links(links).await?;
        }
    }

    async fn fetch_links(&self, links: &mut Links) -> Result<(), Error> {
        let wanted = std::mem::take(&mut links.wanted);
        let linked_max = self.context().options.scan_entities_max;
        if links.held.len() + wanted.len() > linked_max {
            let message =
                format!("the query follows links to more than {linked_max} entities (scan_entities_max)");
            return Err(Error::Limit(message));
        }
        let ids: Vec<&str> = wanted.iter().map(|id| &**id).collect();
        let rows = self.context().rows(&ids).await?;
        links.held.extend(wanted.iter().cloned().zip(rows.into_iter().map(|row| row.map(|row| row.value))));
        Ok(())
    }

    /// Appends an attribute with all instances of its datasets within the span; answers whether there is any.
    async fn put_past(
        &self,
        entity: &mut Vec<u8>,
        attribute: &[Source],
        search: &Search<'_>,
        bound: Bound,
    ) -> Result<bool, Error> {
        let Some(first) = attribute.first() else {
            return Ok(false);
        };
        let start = entity.len();
        put_varint(entity, u64::from(first.attribute.0));
        let body = entity.len();
        let mut found = false;
        for source in attribute {
            let points = self.select(source, search.time, search.span, bound).await?.into_points();
            found |= !points.is_empty();
            for index in 0..points.len() {
                Point::new(&points, index).put_stored(entity, source.dataset.as_deref());
            }
        }
        if entity.len() == body {
            entity.truncate(start);
        } else {
            seal(entity, body);
        }
        Ok(found)
    }
}

/// What is searched for.
struct Search<'q> {
    matcher: Matcher,
    query: &'q Query,
    time: TimeProperty,
    span: TimeSpan,
}

impl Search<'_> {
    /// The attributes that conditions are on.
    fn evaluated(&self) -> Vec<TermId> {
        let mut names = self.query.filter.as_ref().map(crate::Filter::attributes).unwrap_or_default();
        names.extend(self.query.geo.as_ref().and_then(|geo| geo.attribute));
        names
    }
}

/// What leads to all that a selection can select.
enum Way {
    Ids(Vec<Box<str>>),
    Types(Vec<TermId>),
}

fn way(ids: &[Box<str>], types: Option<&TypeQuery>) -> Option<Way> {
    match types {
        _ if !ids.is_empty() => Some(Way::Ids(ids.to_vec())),
        Some(types) => Some(Way::Types(types.named())),
        None => None,
    }
}

/// The stored form of an entity without attributes.
fn head_of(known: &EntityHistory) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    put_times(&mut out, known.created_at, known.modified_at, None, false);
    put_names(&mut out, &known.id, &known.types, known.scopes.iter().map(|scope| &**scope));
    out
}
