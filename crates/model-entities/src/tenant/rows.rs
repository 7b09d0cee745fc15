//! The rows of entities, wherever they are while entities move.

use bytes::Bytes;
use entity::{EntityView, Error, keys};
use futures_util::future::try_join_all;
use store::{Partition, Row};

use super::{BUCKETS_AT_ONCE, TenantState, no_bucket};

impl TenantState {
    /// The row of the history of an entity that is not there, if it is cached.
    pub(crate) fn header_row_cached(&self, id: &str) -> Result<Option<Row>, Error> {
        Ok(self.store.get_cached(self.partition(id)?, &keys::history_header(id)).flatten())
    }

    /// The row of the history of an entity that is not there. Cost: one linear read.
    pub(crate) async fn header_row(&self, id: &str) -> Result<Option<Row>, Error> {
        self.get_linear(id, &keys::history_header(id)).await
    }

    /// The stored row of an entity as any commit left it: for what is refused or found unchanged by it. Cost: one linear read.
    pub(crate) async fn row_linear(&self, id: &str) -> Result<Option<Row>, Error> {
        self.get_linear(id, &keys::entity(id)).await
    }

    /// The stored row of an entity, as this process knows it. Cost: a cache look-up, or one engine read.
    pub(crate) async fn row(&self, id: &str) -> Result<Option<Row>, Error> {
        match self.row_at_home(id).await? {
            Some(row) => Ok(Some(row)),
            None if self.is_certain() => Ok(None),
            None => Box::pin(self.seek(id, &keys::entity(id))).await,
        }
    }

    /// The same of an entity that has moved, or does not move, for a writer who knows the layout.
    pub(crate) async fn row_at_home(&self, id: &str) -> Result<Option<Row>, Error> {
        let (partition, key) = (self.partition(id)?, keys::entity(id));
        match self.store.get_cached(partition, &key) {
            Some(row) => Ok(row),
            None => Ok(self.store.get(partition, &key).await?),
        }
    }

    /// Whether what is not where it should be is nowhere. Cost: some loads.
    fn is_certain(&self) -> bool {
        !self.layout.is_moving() && !self.is_superseded() && !self.store.may_lag()
    }

    /// A row of an entity as any commit left it. Cost: one linear read; where a store may lag, two if there is none.
    pub(crate) async fn get_linear(&self, id: &str, key: &Bytes) -> Result<Option<Row>, Error> {
        match self.store.get_linear(self.partition(id)?, key).await? {
            Some(row) => Ok(Some(row)),
            None if self.is_certain() => Ok(None),
            None => Box::pin(self.seek(id, key)).await,
        }
    }

    /// A row of an entity that was not where it should be. It moves by a commit there and then one that removes it here, so that
    /// who looks here, and there again, finds it.
    async fn seek(&self, id: &str, key: &Bytes) -> Result<Option<Row>, Error> {
        let mut state = self;
        loop {
            if let Some(source) = state.source(id)
                && let Some(row) = self.store.get_linear(source, key).await?
            {
                return Ok(Some(row));
            }
            if state.layout.is_moving()
                && let Some(row) = self.store.get_linear(state.partition(id)?, key).await?
            {
                return Ok(Some(row));
            }
            let Some(newer) = state.newer().await? else { return Ok(None) };
            state = newer;
            if let Some(row) = self.store.get_linear(state.partition(id)?, key).await? {
                return Ok(Some(row));
            }
        }
    }

    /// The stored rows of many entities, in their order, as this process knows them. Cost: one read for each bucket that they
    /// lie in, several side by side.
    pub(crate) async fn rows(&self, ids: &[&str]) -> Result<Vec<Option<Row>>, Error> {
        self.rows_sought(ids, false).await
    }

    async fn rows_sought(&self, ids: &[&str], is_linear: bool) -> Result<Vec<Option<Row>>, Error> {
        let mut rows = self.rows_at_home(ids, is_linear).await?;
        if self.is_certain() || rows.iter().all(Option::is_some) {
            return Ok(rows);
        }
        if self.layout.is_moving() || self.newer().await?.is_some() {
            for (row, id) in rows.iter_mut().zip(ids).filter(|(row, _)| row.is_none()) {
                *row = Box::pin(self.seek(id, &keys::entity(id))).await?;
            }
        }
        Ok(rows)
    }

    async fn rows_at_home(&self, ids: &[&str], is_linear: bool) -> Result<Vec<Option<Row>>, Error> {
        let rows = match &*self.partitions {
            [partition] => self.rows_of_partition(partition, ids.iter().copied(), is_linear).await?,
            _ => self.rows_of_buckets(ids, is_linear).await?,
        };
        if self.store.may_lag() {
            for row in rows.iter().flatten() {
                // Whoever reads a damaged one says so: it keeps nothing of others.
                if let Ok(view) = EntityView::parse(&row.value) {
                    self.know_names(&view).await?;
                }
            }
        }
        Ok(rows)
    }

    async fn rows_of_buckets(&self, ids: &[&str], is_linear: bool) -> Result<Vec<Option<Row>>, Error> {
        let mut places: Vec<(usize, usize)> = ids.iter().map(|id| self.bucket(id)).zip(0..).collect();
        places.sort_unstable();
        let buckets: Vec<_> = places.chunk_by(|one, other| one.0 == other.0).collect();
        let mut rows = vec![None; ids.len()];
        for buckets in buckets.chunks(BUCKETS_AT_ONCE) {
            let reads = buckets.iter().map(async |bucket| {
                let partition = bucket.first().and_then(|(bucket, _)| self.partitions.get(*bucket));
                let of_bucket = bucket.iter().filter_map(|(_, index)| ids.get(*index).copied());
                self.rows_of_partition(partition.ok_or_else(no_bucket)?, of_bucket, is_linear).await
            });
            let found = try_join_all(reads).await?;
            for ((_, index), row) in buckets.iter().copied().flatten().zip(found.into_iter().flatten()) {
                *rows.get_mut(*index).expect("there is a row for each id") = row;
            }
        }
        Ok(rows)
    }

    async fn rows_of_partition(
        &self,
        partition: &Partition,
        ids: impl Iterator<Item = &str>,
        is_linear: bool,
    ) -> Result<Vec<Option<Row>>, Error> {
        let keys: Vec<Bytes> = ids.map(keys::entity).collect();
        Ok(match is_linear {
            true => self.store.get_many_linear(partition, &keys).await?,
            false => self.store.get_many(partition, &keys).await?,
        })
    }

    /// The stored rows of many entities, in their order, each with an error of its own: for jobs. Cost: as for all together,
    /// or if that fails one read each.
    ///
    /// # Errors
    ///
    /// If the store serves nobody.
    pub(crate) async fn rows_each(&self, ids: &[&str]) -> Result<Vec<Result<Option<Row>, Error>>, Error> {
        self.rows_each_read(ids, false).await
    }

    /// The same, as any commit left them.
    ///
    /// # Errors
    ///
    /// If the store serves nobody.
    pub(crate) async fn rows_each_linear(
        &self,
        ids: &[&str],
    ) -> Result<Vec<Result<Option<Row>, Error>>, Error> {
        self.rows_each_read(ids, true).await
    }

    async fn rows_each_read(
        &self,
        ids: &[&str],
        is_linear: bool,
    ) -> Result<Vec<Result<Option<Row>, Error>>, Error> {
        match self.rows_sought(ids, is_linear).await {
            Ok(rows) => return Ok(rows.into_iter().map(Ok).collect()),
            Err(error) if error.is_outage() => return Err(error),
            Err(_) => {}
        }
        let mut rows = Vec::with_capacity(ids.len());
        for id in ids {
            rows.push(if is_linear { self.row_linear(id).await } else { self.row(id).await });
        }
        Ok(rows)
    }

    /// The stored rows of many entities, and of the histories of those that are not there: all that there are, as any commit left
    /// them, or if not `all` those cached.
    pub(crate) async fn rows_and_headers(
        &self,
        ids: &[&str],
        all: bool,
    ) -> Result<(Vec<Option<Row>>, Vec<Option<Row>>), Error> {
        let rows = match all {
            true => self.rows_sought(ids, true).await?,
            false => self.rows_at_home(ids, false).await?,
        };
        let mut histories = Vec::with_capacity(rows.len());
        for (id, row) in ids.iter().zip(&rows) {
            histories.push(match row {
                Some(_) => None,
                None if all => self.header_row(id).await?,
                None => self.header_row_cached(id)?,
            });
        }
        Ok((rows, histories))
    }

    /// Reads new names if the entity has one that is not known here: another node stored it.
    pub(super) async fn know_names(&self, view: &EntityView<'_>) -> Result<(), Error> {
        let known = self.terms.len();
        let names = view.types().chain(view.attributes().map(|attribute| attribute.name()));
        if names.max().is_some_and(|newest| newest.0 as usize >= known) {
            self.terms.learn(&self.store, &self.terms_partition).await?;
        }
        Ok(())
    }
}
