//! Searching for series: the sparsest index of those asked for gives candidates by name, and each is checked.

use std::sync::Arc;

use super::SEARCH_PAGE_MAX;
use super::context::Context;
use super::pattern::Pattern;
use crate::Definition;
use crate::encode::damaged;
use crate::keys::{self, Index};
use crate::{Alignment, Error, Interval, SeriesRef};

/// Candidates that are read in one page of the index.
const PAGE: usize = 1_024;
/// Candidates that are looked at for one page of the search; then it ends early.
const CANDIDATES_MAX: usize = 100_000;

/// Which series are searched for: all that is given must hold. Texts are patterns: `%` stands for any characters,
/// `_` for one, `\%` and `\_` for these themselves; letters count as they are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// A pattern for the name.
    pub name: Option<Box<str>>,
    /// The number.
    pub id: Option<u32>,
    /// What its points' times mean.
    pub alignment: Option<Alignment>,
    /// A pattern for the description.
    pub description: Option<Box<str>>,
    /// Attributes that it has, each with a pattern for the value if one is given. A node is found by any of its
    /// parents too.
    pub attributes: Vec<AttributeSearch>,
    /// The instant at which the attributes hold, in nanoseconds; at any if none is given.
    pub as_of: Option<i64>,
    /// The unit.
    pub unit: Option<Box<str>>,
    /// The interval, exactly; `Some(None)` for series without one.
    pub interval: Option<Option<Interval>>,
    /// Only series that are computed, or only such that are not.
    pub is_computed: Option<bool>,
    /// Goes on behind this name: [`SearchPage::next`] of the page before.
    pub after: Option<Box<str>>,
    /// The most series of a page; [`crate::SEARCH_PAGE_MAX`] at most.
    pub limit: usize,
}

/// One attribute of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeSearch {
    /// The name of the attribute's type, exactly.
    pub name: Box<str>,
    /// A pattern for the value's text; any value if none is given.
    pub value: Option<Box<str>>,
}

/// A page of what was found, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchPage {
    /// The series; fewer than the limit, perhaps none, if few of many candidates fit.
    pub series: Vec<Arc<Definition>>,
    /// Where the next page goes on; none at the end.
    pub next: Option<Box<str>>,
}

/// Attributes to match, ready.
#[derive(Clone, Debug)]
pub(crate) struct AttributeFilter {
    wanted: Vec<(Box<str>, Option<Pattern>)>,
}

impl AttributeFilter {
    pub(crate) fn new(wanted: &[AttributeSearch]) -> Self {
        let ready = |one: &AttributeSearch| (one.name.clone(), one.value.as_deref().map(Pattern::new));
        Self { wanted: wanted.iter().map(ready).collect() }
    }

    /// Whether a series has them all at `time` (at any for `None`).
    pub(crate) fn matches(&self, series: &Definition, time: Option<i64>) -> bool {
        self.wanted.iter().all(|(name, pattern)| {
            series.attributes_at(time).filter(|attribute| attribute.name == *name).any(|attribute| {
                let Some(pattern) = pattern else {
                    return true;
                };
                let mut is_found = false;
                attribute.value.each_text(|text| is_found |= pattern.matches(text));
                is_found
            })
        })
    }
}

/// A search, ready to match.
struct Filter<'a> {
    search: &'a Search,
    name: Option<Pattern>,
    description: Option<Pattern>,
    attributes: AttributeFilter,
}

impl<'a> Filter<'a> {
    fn new(search: &'a Search) -> Self {
        Self {
            search,
            name: search.name.as_deref().map(Pattern::new),
            description: search.description.as_deref().map(Pattern::new),
            attributes: AttributeFilter::new(&search.attributes),
        }
    }

    fn matches(&self, series: &Definition) -> bool {
        let search = self.search;
        let fits =
            |pattern: &Option<Pattern>, text: &str| pattern.as_ref().is_none_or(|one| one.matches(text));
        search.id.is_none_or(|id| id == series.number)
            && search.alignment.is_none_or(|alignment| alignment == series.alignment)
            && search.interval.is_none_or(|interval| interval == series.interval)
            && search.is_computed.is_none_or(|is_computed| is_computed == series.is_computed())
            && search.unit.as_ref().is_none_or(|unit| Some(unit) == series.unit.as_ref())
            && search.after.as_ref().is_none_or(|after| **after < *series.name)
            && fits(&self.name, &series.name)
            && fits(&self.description, &series.description)
            && self.attributes.matches(series, search.as_of)
    }

    /// Runs `scan` on the index that has the fewest candidates, as far as can be told without looking.
    fn index<T>(&self, scan: impl FnOnce(Index<'_>) -> T) -> T {
        let exact = self.attributes.wanted.iter().find_map(|(name, pattern)| {
            let value = pattern.as_ref()?.exact()?;
            Some((name, value))
        });
        match (&exact, &self.search.unit, self.search.attributes.first()) {
            (Some((name, value)), _, _) => scan(Index::Value(name, value)),
            (None, _, Some(attribute)) => scan(Index::Attribute(&attribute.name)),
            (None, Some(unit), None) => scan(Index::Unit(unit)),
            (None, None, None) => scan(Index::Names),
        }
    }
}

impl Context {
    /// A page of what is searched for; see [`crate::Repository::search`].
    pub(crate) async fn search(&self, search: &Search) -> Result<SearchPage, Error> {
        if search.limit == 0 {
            return Err(Error::Invalid("a page of a search has at least one series".into()));
        }
        let what = || "series of a page of a search".into();
        Error::check_limit("SEARCH_PAGE_MAX", SEARCH_PAGE_MAX, search.limit, what)?;
        let filter = Filter::new(search);
        let exact = filter.name.as_ref().and_then(Pattern::exact);
        let known = match (&exact, search.id) {
            (_, Some(number)) => Some(SeriesRef::Id(number)),
            (Some(name), None) => Some(SeriesRef::Name(name)),
            (None, None) => None,
        };
        if let Some(series) = known {
            let found = self.find_all(&[series]).await?.into_iter().flatten();
            let found = found.map(|found| found.definition).filter(|found| filter.matches(found));
            return Ok(SearchPage { series: found.take(search.limit).collect(), next: None });
        }
        self.carry_out_for_reader().await;
        self.candidates(&filter).await
    }

    async fn candidates(&self, filter: &Filter<'_>) -> Result<SearchPage, Error> {
        let search = filter.search;
        let prefix = filter.name.as_ref().map(Pattern::prefix).unwrap_or_default();
        let mut range = Some(filter.index(|index| index.range(&prefix, search.after.as_deref())));
        let head = filter.index(|index| index.head().len());
        let mut page = SearchPage::default();
        let mut looked_at = 0;
        while let Some(rest) = range {
            let rows = self.scan(&rest, PAGE).await?;
            let number =
                |(_, value)| keys::number_of_value(value).ok_or_else(|| damaged("an index of series"));
            let numbers = rows.rows().map(number).collect::<Result<Vec<u32>, Error>>()?;
            for ((key, _), found) in rows.rows().zip(self.find_numbers(&numbers).await?) {
                let name = keys::name_of_key(key, head).ok_or_else(|| damaged("an index of series"))?;
                if page.series.len() >= search.limit {
                    page.next = page.series.last().map(|last| last.name.clone());
                    return Ok(page);
                }
                looked_at += 1;
                // A row read before a change that the definition was read after: it is elsewhere now.
                let found = found.map(|found| found.definition).filter(|found| *found.name == *name);
                page.series.extend(found.filter(|found| filter.matches(found)));
                if looked_at >= CANDIDATES_MAX {
                    page.next = Some(name.into());
                    return Ok(page);
                }
            }
            range = rest.after_page(&rows);
        }
        Ok(page)
    }
}
