//! Which entities' histories match a query: each candidate is evaluated as one entity whose attributes have all instances of
//! the span at once, shown to the conditions piece by piece until they are decided.

mod candidates;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use entity::encode::{put_names, put_times, put_varint, seal};
use entity::history::note::{Class, Point};
use entity::query::{OrderBy, OrderKey, Query};
use entity::query::{eval::Links, eval::Matcher, eval::Shown};
use entity::{EntityHistory, Limit, LimitName, TimeProperty, TimeSpan};
use entity::{EntityView, Error, ScopeQuery, TermId, scopes_of_value};
use store::{Pace, Timestamp};
use strands::Points;

use super::select::{Bound, Wanted, time_of};
use super::source::Source;
use crate::tenant::TenantState;
use crate::{Options, TenantEntities};

use candidates::{candidates, next_candidate};

/// Instances that are shown to a query's conditions at once; few in tests, so that they see pieces.
const PIECE_INSTANCES: usize = if cfg!(test) { 4 } else { 1024 };

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

/// The matches of a page, as far as they are found.
struct Taken<'q> {
    query: &'q Query,
    /// Whether the page is counted from the end.
    descending: bool,
    ids: VecDeque<Box<str>>,
    matched: usize,
}

impl<'q> Taken<'q> {
    fn new(query: &'q Query, options: &Options) -> Result<Self, Error> {
        let descending =
            matches!(query.order.as_slice(), [OrderBy { key: OrderKey::Id, descending: true }, ..]);
        let taken = Self { query, descending, ids: VecDeque::new(), matched: 0 };
        let sort_max = options.sort_entities_max;
        if descending {
            Limit::check(LimitName::SortedEntities, sort_max, taken.behind())?;
        }
        Ok(taken)
    }

    /// How many matches there are up to the end of the page.
    fn behind(&self) -> usize {
        self.query.offset.saturating_add(self.query.limit)
    }

    /// Whether what is still to come changes nothing.
    fn is_full(&self) -> bool {
        !self.query.count && !self.descending && self.matched > self.behind()
    }

    fn push(&mut self, id: Box<str>) {
        if self.descending {
            self.ids.push_back(id);
            if self.ids.len() > self.behind() {
                self.ids.pop_front();
            }
        } else if (self.query.offset..self.behind()).contains(&self.matched) {
            self.ids.push_back(id);
        }
        self.matched += 1;
    }

    fn page(self) -> HistoryPage {
        let (more, count) = (self.matched > self.behind(), self.query.count.then_some(self.matched));
        let ids = match self.descending {
            true => self.ids.into_iter().rev().skip(self.query.offset).collect(),
            false => self.ids.into(),
        };
        HistoryPage { ids, count, more }
    }
}

impl TenantEntities {
    /// The entities, living or gone, that match the query by their history: some instance within the span satisfies each
    /// condition (for negated ones, some is there and none is equal). An entity without any instance within the span does
    /// not match. Paged by `offset` and `limit` in id order, or against it if the query's order begins with the id, descending;
    /// other orders and the query's time are not looked at. Types and scopes are those the entity has, or had when it went.
    /// The query's datasetIds select what conditions look at, not what an entity must have.
    ///
    /// Cost: the current row of each candidate (by id, or type) and its head rows; and the blocks that overlap the span of
    /// the attributes that conditions are on. Against the order of ids, all candidates are looked at for each page.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if it looks at, or sorts, more entities than the options allow; [`Error::TimedOut`] behind the
    /// query's deadline; if the store refuses.
    pub async fn query_history(
        &self,
        query: &Query,
        time: TimeProperty,
        span: TimeSpan,
    ) -> Result<HistoryPage, Error> {
        // Nothing of the history expires.
        let query = Query { now: Timestamp(i64::MIN), ..query.clone() };
        loop {
            let state = self.state();
            let page = self.search_history(state, &query, time, span).await?;
            // Entities that began to move meanwhile may have moved past it.
            if state.newer().await?.is_none() {
                return Ok(page);
            }
        }
    }

    async fn search_history(
        &self,
        state: &TenantState,
        query: &Query,
        time: TimeProperty,
        span: TimeSpan,
    ) -> Result<HistoryPage, Error> {
        // Scopes have a history of their own.
        let matcher = Matcher::new(&Query { scopes: None, ..query.clone() });
        let search = Search { matcher, query, time, span };
        let scan_max = state.options.scan_entities_max;
        let mut candidates = candidates(state, query);
        let (mut taken, mut scanned) = (Taken::new(query, &state.options)?, 0_usize);
        let (mut links, mut key) = (Links::default(), Vec::new());
        let mut pace = Pace::new(query.deadline.clone());
        while let Some(id) = next_candidate(state, &mut candidates, &mut key).await? {
            if taken.is_full() {
                break;
            }
            scanned += 1;
            Limit::check(LimitName::ScannedEntities { is_indexing: false }, scan_max, scanned)?;
            if pace.is_tired() {
                tokio::task::yield_now().await;
                pace.rest();
            }
            if self.matches_history(&id, &search, (&mut links, &mut pace)).await? {
                taken.push(id);
            }
        }
        Ok(taken.page())
    }

    async fn matches_history(
        &self,
        id: &str,
        search: &Search<'_>,
        (links, pace): (&mut Links, &mut Pace),
    ) -> Result<bool, Error> {
        let Some(known) = self.history(id).await? else {
            return Ok(false);
        };
        let head = head_of(&known);
        if !search.matcher.matches_head(&EntityView::parse(&head)?) {
            return Ok(false);
        }
        let asked = &search.query.datasets;
        let counts =
            |dataset: Option<&str>| asked.is_empty() || asked.iter().any(|one| one.as_deref() == dataset);
        let mut sources = self.sources(id, |_, _| true).await?;
        let scopes = sources.extract_if(.., |source| source.attribute == TermId::SCOPE).next();
        let mut seen = Seen { shown: search.matcher.unseen(), links, pace };
        self.show(&head, search, &mut seen).await?;
        // Attributes that conditions are on, as far as they are not shown whole yet.
        let mut left = search.evaluated();
        let is_left = |name, source: &Source| source.attribute == name && counts(source.dataset.as_deref());
        left.retain(|name| sources.iter().any(|source| is_left(*name, source)));
        let mut met: Vec<TermId> = Vec::new();
        let matches = loop {
            if let Some(matches) = search.matcher.verdict(&seen.shown, &|name| !left.contains(&name)) {
                break matches;
            }
            let Some(name) = left.iter().copied().find(|name| search.matcher.wants(&seen.shown, *name))
            else {
                break false;
            };
            let of_name = sources.iter().filter(|source| source.attribute == name);
            for source in of_name.filter(|source| counts(source.dataset.as_deref())) {
                if self.show_source(&head, source, search, &mut seen).await? {
                    met.push(name);
                }
            }
            // Shown whole, or as far as it matters.
            left.retain(|one| *one != name);
        };
        let found = matches && self.is_within(&sources, &met, search).await?;
        match &search.query.scopes {
            Some(wanted) if found => self.was_within(&known, scopes.as_ref(), wanted, search).await,
            _ => Ok(found),
        }
    }

    /// Whether any attribute has an instance (or a removal) within the span; if attributes are asked for, any of those.
    /// `met`: attributes of which it is known.
    async fn is_within(
        &self,
        sources: &[Source],
        met: &[TermId],
        search: &Search<'_>,
    ) -> Result<bool, Error> {
        let asked = &search.query.attributes;
        let counts = |name: TermId| asked.is_empty() || asked.contains(&Some(name));
        if met.iter().any(|name| counts(*name)) {
            return Ok(true);
        }
        for source in sources.iter().filter(|source| counts(source.attribute)) {
            let found = self.select(source, search.time, search.span, Bound::First(1)).await?;
            if !found.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the entity was within the scopes that are wanted at some time of the span: scopes hold from the time they
    /// were set until the time they are set anew or removed (4.18). Where nothing was recorded of them, they are those that
    /// are known of the entity.
    async fn was_within(
        &self,
        known: &EntityHistory,
        scopes: Option<&Source>,
        wanted: &ScopeQuery,
        search: &Search<'_>,
    ) -> Result<bool, Error> {
        let Some(source) = scopes else {
            return Ok(wanted.selects(known.scopes.iter().map(|scope| &**scope)));
        };
        // They are observed to change when they do; what else is known of them is when they were written.
        let time = match search.time {
            TimeProperty::ObservedAt => TimeProperty::ObservedAt,
            TimeProperty::CreatedAt | TimeProperty::ModifiedAt | TimeProperty::DeletedAt => {
                TimeProperty::ModifiedAt
            }
        };
        // Those that were set before hold no longer where others were set at that very time.
        let until = TimeSpan::before(Timestamp(search.span.from.0.saturating_add(1)));
        let at_begin = self.select(source, time, until, Bound::Last(1)).await?.into_points();
        if any_within(&at_begin, wanted, |_| true) {
            return Ok(true);
        }
        let inside = |points: &Points, index| {
            time_of(points, index, time).is_some_and(|time| search.span.contains(Timestamp(time)))
        };
        if any_within(&source.fresh, wanted, |index| inside(&source.fresh, index)) {
            return Ok(true);
        }
        let is_changed = time == TimeProperty::ModifiedAt && self.is_changed(source).await?;
        let blocks = Wanted::new(time, search.span, is_changed);
        let (mut rest, mut points) = (Some(blocks.range), Points::default());
        while let Some(range) = rest {
            points.clear();
            rest = self.read_wanted(source, range, &blocks, &mut points).await?;
            if any_within(&points, wanted, |index| inside(&points, index)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Shows the matcher what an attribute and dataset was within the span, in pieces, for as long as it matters; answers
    /// whether there was anything.
    async fn show_source(
        &self,
        head: &[u8],
        source: &Source,
        search: &Search<'_>,
        seen: &mut Seen<'_>,
    ) -> Result<bool, Error> {
        // The newest first: they are in memory.
        let mut found = self.show_points(head, source, &source.fresh, search, seen).await?;
        let is_changed = search.time == TimeProperty::ModifiedAt && self.is_changed(source).await?;
        let wanted = Wanted::new(search.time, search.span, is_changed);
        let (mut rest, mut points) = (Some(wanted.range), Points::default());
        while let Some(range) = rest.filter(|_| search.matcher.wants(&seen.shown, source.attribute)) {
            points.clear();
            rest = self.read_wanted(source, range, &wanted, &mut points).await?;
            found |= self.show_points(head, source, &points, search, seen).await?;
        }
        Ok(found)
    }

    /// Shows those of the points that are within the span; answers whether there is any.
    async fn show_points(
        &self,
        head: &[u8],
        source: &Source,
        points: &Points,
        search: &Search<'_>,
        seen: &mut Seen<'_>,
    ) -> Result<bool, Error> {
        let inside = |index: &usize| {
            time_of(points, *index, search.time).is_some_and(|time| search.span.contains(Timestamp(time)))
        };
        let (mut places, mut found) = ((0..points.len()).filter(inside).peekable(), false);
        let mut piece = Vec::new();
        while places.peek().is_some() && (!found || search.matcher.wants(&seen.shown, source.attribute)) {
            found = true;
            piece.clear();
            piece.extend_from_slice(head);
            put_varint(&mut piece, u64::from(source.attribute.0));
            let body = piece.len();
            for index in places.by_ref().take(PIECE_INSTANCES) {
                Point::new(points, index).put_stored(&mut piece, source.dataset.as_deref());
            }
            // Removals have nothing to show.
            if piece.len() > body {
                seal(&mut piece, body);
                self.show(&piece, search, seen).await?;
            }
        }
        Ok(found)
    }

    async fn show(&self, piece: &[u8], search: &Search<'_>, seen: &mut Seen<'_>) -> Result<(), Error> {
        let piece = EntityView::parse(piece)?;
        loop {
            search.matcher.show(&piece, &mut seen.shown, seen.links, seen.pace);
            seen.pace.check()?;
            if seen.links.wanted.is_empty() {
                return Ok(());
            }
            self.fetch_links(seen.links).await?;
        }
    }

    async fn fetch_links(&self, links: &mut Links) -> Result<(), Error> {
        let wanted = std::mem::take(&mut links.wanted);
        let linked_max = self.state().options.scan_entities_max;
        Limit::check(LimitName::LinkedEntities, linked_max, links.fetched.len() + wanted.len())?;
        let ids: Vec<&str> = wanted.iter().map(|id| &**id).collect();
        let rows = self.state().rows(&ids).await?;
        links
            .fetched
            .extend(wanted.iter().cloned().zip(rows.into_iter().map(|row| row.map(|row| row.value))));
        Ok(())
    }
}

/// What was seen of one entity, and of those it links to.
struct Seen<'l> {
    shown: Shown,
    links: &'l mut Links,
    pace: &'l mut Pace,
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
        let mut names = self.query.filter.as_ref().map(entity::Filter::attributes).unwrap_or_default();
        names.extend(self.query.geo.as_ref().and_then(|geo| geo.attribute));
        names
    }
}

/// Whether any of these points, which are scopes, is wanted; `counts` says which are looked at.
fn any_within(points: &Points, wanted: &ScopeQuery, counts: impl Fn(usize) -> bool) -> bool {
    (0..points.len()).filter(|index| counts(*index)).any(|index| {
        let point = Point::new(points, index);
        let scopes = || scopes_of_value(&point.value());
        point.class != Class::Removal && wanted.selects(scopes().iter().map(|scope| &**scope))
    })
}

/// The stored form of an entity without attributes.
fn head_of(known: &EntityHistory) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    put_times(&mut out, known.created_at, known.modified_at, None, false);
    put_names(&mut out, &known.id, &known.types, known.scopes.iter().map(|scope| &**scope), known.created_at);
    out
}
