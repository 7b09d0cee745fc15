//! The rows of one entity, as they move from one bucket to another.

use bytes::Bytes;
use entity::history::header::Header;
use entity::index::{Indexed, index_rows};
use entity::{EntityView, Error, keys};
use store::rows::Pages;
use store::{ErrorKind, Partition, Row, Timestamp, Write};

use super::PAGE_ROWS;
use crate::tenant::TenantState;

/// The same where few of them are wanted.
const FOUND_PAGE_ROWS: usize = 4_096;

/// The rows of an entity where it was; those by which it is found follow from them.
pub(super) struct Moving {
    pub(super) entity: Option<Row>,
    header: Option<Row>,
    folded: Option<Row>,
    /// Head rows.
    pub(super) heads: Vec<(Bytes, Bytes)>,
    /// The rows by which it is found, if it is damaged: they follow from nothing then.
    pub(super) found_by: Option<Vec<Bytes>>,
}

impl Moving {
    /// Reads them; `None` if there are none.
    pub(super) async fn read(
        state: &TenantState,
        source: &Partition,
        id: &str,
    ) -> Result<Option<Self>, Error> {
        let keys = [keys::entity(id), keys::history_header(id), keys::folded(id)];
        let mut rows = state.store.get_many_linear(source, &keys).await?.into_iter();
        let mut next = || rows.next().expect("a row, or none, for each key");
        let (entity, header, folded) = (next(), next(), next());
        let (mut heads, range) = (Vec::new(), keys::heads_from(id, Timestamp(i64::MIN)));
        let mut pages = Pages::new(&state.store, source, range, PAGE_ROWS);
        while let Some(page) = pages.next().await? {
            let copy = |(key, value)| (Bytes::copy_from_slice(key), Bytes::copy_from_slice(value));
            heads.extend(page.rows().map(copy));
        }
        let is_there = entity.is_some() || header.is_some() || folded.is_some() || !heads.is_empty();
        let mut moving = Self { entity, header, folded, heads, found_by: None };
        if moving.is_damaged() {
            moving.found_by = Some(found_by(state, source, id).await?);
        }
        Ok(is_there.then_some(moving))
    }

    /// Whether it cannot be read what the rows say.
    fn is_damaged(&self) -> bool {
        let is_entity = |row: &Row| EntityView::parse(&row.value).is_ok();
        let is_header = |row: &Row| Header::parse(&row.value).is_some();
        !self.entity.as_ref().is_none_or(is_entity) || !self.header.as_ref().is_none_or(is_header)
    }

    /// All but the head rows.
    pub(super) fn writes(&self, id: &str, indexed: &Indexed) -> Result<Vec<Write>, Error> {
        let keys = match &self.found_by {
            Some(keys) => keys.clone(),
            None => self.derived(id, indexed)?,
        };
        let mut writes: Vec<Write> = keys.into_iter().map(|key| Write::Put(key, Bytes::new())).collect();
        let stamped = [
            (keys::entity(id), &self.entity),
            (keys::history_header(id), &self.header),
            (keys::folded(id), &self.folded),
        ];
        for (key, row) in stamped {
            writes.extend(row.as_ref().map(|row| Write::PutStamped(key, row.value.clone())));
        }
        Ok(writes)
    }

    /// The rows by which it is found, as they follow from the others.
    fn derived(&self, id: &str, indexed: &Indexed) -> Result<Vec<Bytes>, Error> {
        let mut keys = Vec::new();
        if let Some(row) = &self.entity {
            let rows = index_rows(&EntityView::parse(&row.value)?, indexed);
            keys.extend(rows.keys().map(Bytes::copy_from_slice));
        }
        if let Some(row) = &self.header {
            let damaged = || store::Error::new(ErrorKind::Corrupt, "moving the header of a history");
            let mut types = Header::parse(&row.value).ok_or_else(damaged)?.types;
            types.sort_unstable();
            types.dedup();
            keys.extend(types.iter().map(|of_type| keys::history_type(*of_type, id)));
        }
        Ok(keys)
    }
}

/// The rows by which an entity, or its history, is found, as they lie in a bucket. Cost: a scan of all such rows of the bucket.
async fn found_by(state: &TenantState, partition: &Partition, id: &str) -> Result<Vec<Bytes>, Error> {
    let mut found = Vec::new();
    for range in keys::finding_ranges() {
        let mut pages = Pages::new(&state.store, partition, range, FOUND_PAGE_ROWS);
        while let Some(page) = pages.next().await? {
            let own = page.rows().map(|(key, _)| key).filter(|key| keys::id_of_key(key) == Some(id));
            found.extend(own.map(Bytes::copy_from_slice));
        }
    }
    Ok(found)
}
