//! Ranges walked page by page, in the store as it is or as it was at one moment.
//!
//! ```
//! use store::rows::{Pages, Rows};
//! use store::{Partition, Range, Store};
//!
//! /// The names under a prefix. Cost: a scan for each 256 of them.
//! async fn names(store: &Store, partition: &Partition, prefix: &'static [u8]) -> Result<Vec<Vec<u8>>, store::Error> {
//!     let (mut names, mut pages) = (Vec::new(), Pages::new(store, partition, Range::prefix(prefix), 256));
//!     while let Some(page) = pages.next().await? {
//!         names.extend(page.rows().map(|(key, _)| key.to_vec()));
//!     }
//!     Ok(names)
//! }
//! ```

#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use bytes::Bytes;

use crate::{Direction, Error, Page, Partition, Range, Row, Snapshot, Store, rest};

/// Where rows are read from: the store as it is, or as it was.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// As it is when it is asked: pages may be of different moments.
    Live(&'a Store),
    /// As it was at one moment.
    Past(&'a Snapshot),
}

impl<'a> From<&'a Store> for Rows<'a> {
    fn from(store: &'a Store) -> Self {
        Self::Live(store)
    }
}

impl<'a> From<&'a Snapshot> for Rows<'a> {
    fn from(snapshot: &'a Snapshot) -> Self {
        Self::Past(snapshot)
    }
}

impl Rows<'_> {
    /// See [`Store::get_cached`].
    pub fn get_cached(self, partition: &Partition, key: &[u8]) -> Option<Option<Row>> {
        match self {
            Self::Live(store) => store.get_cached(partition, key),
            Self::Past(snapshot) => snapshot.get_cached(partition, key),
        }
    }

    /// See [`Store::get_linear`].
    ///
    /// # Errors
    ///
    /// As [`Store::get_linear`] and [`Snapshot::get`].
    pub async fn get_linear(self, partition: &Partition, key: &[u8]) -> Result<Option<Row>, Error> {
        match self {
            Self::Live(store) => store.get_linear(partition, key).await,
            Self::Past(snapshot) => snapshot.get(partition, key).await,
        }
    }

    /// See [`Store::get_many_linear`].
    ///
    /// # Errors
    ///
    /// As [`Store::get_many_linear`] and [`Snapshot::get_many`].
    pub async fn get_many_linear(
        self,
        partition: &Partition,
        keys: &[Bytes],
    ) -> Result<Vec<Option<Row>>, Error> {
        match self {
            Self::Live(store) => store.get_many_linear(partition, keys).await,
            Self::Past(snapshot) => snapshot.get_many(partition, keys).await,
        }
    }

    /// See [`Store::scan`].
    ///
    /// # Errors
    ///
    /// As [`Store::scan`] and [`Snapshot::scan`].
    pub async fn scan(
        self,
        partition: &Partition,
        range: &Range,
        direction: Direction,
        rows_max: usize,
    ) -> Result<Page, Error> {
        match self {
            Self::Live(store) => store.scan(partition, range, direction, rows_max).await,
            Self::Past(snapshot) => snapshot.scan(partition, range, direction, rows_max).await,
        }
    }
}

/// Walks a range forward, page by page, and lets others run between two pages. What is written meanwhile beyond the last
/// page is seen, if the walk is of the store as it is.
#[derive(Debug)]
pub struct Pages<'a> {
    rows: Rows<'a>,
    partition: &'a Partition,
    /// What was not read yet; `None`: nothing is left.
    rest: Option<Range>,
    page_rows: usize,
    is_begun: bool,
}

impl<'a> Pages<'a> {
    /// A walk that has not begun, in pages of at most `page_rows` rows; a page is smaller if its bytes are many.
    pub fn new(rows: impl Into<Rows<'a>>, partition: &'a Partition, range: Range, page_rows: usize) -> Self {
        Self { rows: rows.into(), partition, rest: Some(range), page_rows, is_begun: false }
    }

    /// The next page; `None` behind the last. A page may be empty. Cost: a scan, and between two pages a rest.
    ///
    /// # Errors
    ///
    /// As [`Store::scan`] and [`Snapshot::scan`]; the next call tries the same page.
    pub async fn next(&mut self) -> Result<Option<Page>, Error> {
        self.next_up_to(self.page_rows).await
    }

    /// The same, with at most so many rows: for walks that end at a limit, or take larger pages from page to page.
    ///
    /// # Errors
    ///
    /// As [`Pages::next`].
    pub async fn next_up_to(&mut self, rows_max: usize) -> Result<Option<Page>, Error> {
        let Some(range) = &self.rest else { return Ok(None) };
        if self.is_begun {
            rest().await;
        }
        let page = self.rows.scan(self.partition, range, Direction::Forward, rows_max).await?;
        self.is_begun = true;
        self.rest = range.after_page(&page);
        Ok(Some(page))
    }

    /// What was not read yet; `None`: nothing.
    pub fn rest(&self) -> Option<&Range> {
        self.rest.as_ref()
    }

    /// Shows the rows in order, key and value, until `take` breaks off. Cost: as the pages that it takes.
    ///
    /// # Errors
    ///
    /// As [`Pages::next`]; what `take` says.
    pub async fn each<E: From<Error>>(
        mut self,
        mut take: impl FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        while let Some(page) = self.next().await? {
            for (key, value) in page.rows() {
                if take(key, value)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
