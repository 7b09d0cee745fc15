//! The anchors of a dataspace: made, listed, removed. One that is made has an empty tree.

use std::sync::Arc;

use store::retry::unless_lost;
use store::{Commit, Condition, Page, Range, Row, Timestamp, Write, WriteId};

use crate::anchor::{Anchor, Place};
use crate::changes::{Action, ConfigChange};
use crate::configs::{BACKOFF, Configs, PAGE_ROWS};
use crate::error::{Kind, damaged};
use crate::options::check_name;
use crate::rows::{AnchorRow, Mode, removal_to_bytes};
use crate::version::VersionId;
use crate::{Error, keys};

/// An anchor of which no more versions are kept, and that has no pages, goes at once; others go by a job.
const VERSIONS_AT_ONCE: u64 = 256;

/// An anchor, as lists tell it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AnchorInfo {
    /// Its name.
    pub name: String,
    /// Its schema set.
    pub schema_set: String,
    /// What its data keep to.
    pub mode: Mode,
    /// When it was made.
    pub created: Timestamp,
    /// Its newest version.
    pub version: VersionId,
}

impl Configs {
    /// Makes an anchor, whose tree is empty. Cost: one commit.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataspace`], [`Error::UnknownSchemaSet`], [`Error::AlreadyExists`], [`Error::Invalid`], [`Error::Limit`] for a name;
    /// [`Error::Contention`]; if the store refuses.
    pub async fn create_anchor(
        &self,
        dataspace: &str,
        schema_set: &str,
        name: &str,
    ) -> Result<Anchor, Error> {
        check_name("anchor", name)?;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let place = self.place(dataspace, name).await?;
            // Before it is looked whether the schema set is there.
            let epoch = self.shared.store.fence(&place.partition);
            let (stored, of) = self.usable_schema_set(dataspace, schema_set).await?;
            let now = self.shared.clock.now();
            let write_id = self.shared.write_ids.next();
            let row = AnchorRow {
                number: number_of(write_id),
                schema_set: schema_set.into(),
                mode: of.mode,
                hash: of.hash,
                created: now,
                head: 0,
                oldest: 0,
                oldest_until: None,
                has_pages: false,
                is_untidy: false,
            };
            let still_there = match place.partition.bucket {
                0 => Condition::Version(keys::schema_set(dataspace, schema_set), stored.stamp),
                _ => Condition::Fence(epoch),
            };
            let index = keys::anchor_of_schema_set(dataspace, schema_set, name);
            let commit = Commit {
                partition: place.partition.clone(),
                write_id,
                conditions: vec![Condition::Absent(place.key.clone()), still_there],
                writes: vec![
                    Write::PutStamped(place.key.clone(), row.to_bytes()),
                    Write::Put(index, bytes::Bytes::new()),
                ],
                change: None,
                reclaims: false,
            };
            if unless_lost(self.shared.store.commit_known(commit).await)?.is_some() {
                return self.opened(Arc::new(place), row).await;
            }
            if self.anchor_row(&place).await?.is_some() {
                return Err(Error::AlreadyExists { kind: Kind::Anchor, name: name.into() });
            }
        }
        Err(attempts.exhausted(format!("anchor '{name}'")).into())
    }

    /// An anchor. Cost: cached look-ups; of a schema that is not in memory its decoding.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataspace`], [`Error::UnknownAnchor`]; if the store refuses.
    pub async fn anchor(&self, dataspace: &str, name: &str) -> Result<Anchor, Error> {
        let place = self.place(dataspace, name).await?;
        match self.anchor_row(&place).await? {
            Some((_, row)) => self.opened(Arc::new(place), row).await,
            None => Err(self.no_anchor(dataspace, name).await?),
        }
    }

    /// What lists tell of an anchor. Cost: a cached look-up.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataspace`], [`Error::UnknownAnchor`]; if the store refuses.
    pub async fn anchor_info(&self, dataspace: &str, name: &str) -> Result<AnchorInfo, Error> {
        let place = self.place(dataspace, name).await?;
        match self.anchor_row(&place).await? {
            Some((_, row)) => Ok(info(name.to_owned(), row)),
            None => Err(self.no_anchor(dataspace, name).await?),
        }
    }

    /// Up to so many anchors of a dataspace by name, from behind `after` on; of some schema sets only, if any are named. Cost: a scan of
    /// each bucket; with schema sets a walk over those of others, too.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataspace`], [`Error::UnknownSchemaSet`]; if the store refuses.
    pub async fn anchors(
        &self,
        dataspace: &str,
        schema_sets: Option<&[&str]>,
        (after, max): (Option<&str>, usize),
    ) -> Result<Vec<AnchorInfo>, Error> {
        self.dataspace_row(dataspace).await?;
        for schema_set in schema_sets.unwrap_or(&[]) {
            self.schema_set_row(dataspace, schema_set).await?;
        }
        let range = keys::anchors(dataspace);
        let mut rest = Some(match after {
            Some(after) => range.after_key(&keys::anchor(dataspace, after)),
            None => range,
        });
        let mut infos = Vec::new();
        while let Some(range) = rest.filter(|_| infos.len() < max) {
            // Without a filter each is one that is asked for.
            let rows = if schema_sets.is_none() { (max - infos.len()).min(PAGE_ROWS) } else { PAGE_ROWS };
            let page = self.page_of_anchors(&range, rows).await?;
            for (key, value) in page.rows() {
                let (_, name) = keys::names_of_anchor(key).ok_or_else(|| damaged("the key of an anchor"))?;
                let info = info(name, read_row(value)?);
                if infos.len() < max
                    && schema_sets.is_none_or(|sets| sets.contains(&info.schema_set.as_str()))
                {
                    infos.push(info);
                }
            }
            rest = range.after_page(&page);
        }
        Ok(infos)
    }

    /// The next anchors of all buckets, in the order of their keys.
    async fn page_of_anchors(&self, range: &Range, rows: usize) -> Result<Page, Error> {
        let mut pages = Vec::new();
        for partition in self.partitions().await? {
            pages.push(self.shared.store.scan(&partition, range, store::Direction::Forward, rows).await?);
        }
        Ok(Page::merged(&pages))
    }

    /// Removes an anchor with all its data and versions. Cost: one commit; pages of large ones go by a job ([`Configs::finish_removals`]).
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataspace`], [`Error::UnknownAnchor`]; [`Error::Contention`]; if the store refuses.
    pub async fn remove_anchor(&self, dataspace: &str, name: &str) -> Result<(), Error> {
        let place = self.place(dataspace, name).await?;
        let lock = self.shared.retry_locks.of(&[dataspace.as_bytes(), name.as_bytes()]);
        let mut guard = None;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            if guard.is_none() && (!attempts.is_first() || self.shared.retry_locks.is_queued(lock)) {
                guard = Some(self.shared.retry_locks.lock(lock).await);
            }
            let Some((stored, row)) = self.anchor_row(&place).await? else {
                return Err(self.no_anchor(dataspace, name).await?);
            };
            let is_large = leaves_rows(&row);
            let commit = self.removal(&place, &stored, &row);
            if unless_lost(self.shared.store.commit_known(commit).await)?.is_some() {
                if is_large {
                    self.shared.wanted.note(&self.tenant, || ());
                }
                return Ok(());
            }
        }
        Err(attempts.exhausted(format!("anchor '{name}'")).into())
    }

    fn removal(&self, place: &Place, stored: &Row, row: &AnchorRow) -> Commit {
        let index = keys::anchor_of_schema_set(&place.dataspace, &row.schema_set, &place.name);
        let mut writes = vec![Write::Delete(place.key.clone()), Write::Delete(index)];
        if leaves_rows(row) {
            writes.push(Write::Put(keys::removal(row.number), removal_to_bytes(false)));
        } else {
            let versions = row.oldest.max(1)..=row.head;
            writes.extend(versions.map(|version| Write::Delete(keys::version(row.number, version))));
        }
        let change = ConfigChange {
            dataspace: place.dataspace.clone(),
            anchor: place.name.clone(),
            schema_set: row.schema_set.clone(),
            number: row.number,
            before: VersionId(row.head),
            after: None,
            at: self.shared.clock.now(),
            observed: None,
            places: vec![(Action::Remove, "/".into())],
            is_cut: false,
        };
        Commit {
            partition: place.partition.clone(),
            write_id: self.shared.write_ids.next(),
            conditions: vec![Condition::Version(place.key.clone(), stored.stamp)],
            writes,
            change: Some(change.to_record()),
            reclaims: true,
        }
    }

    /// Where an anchor of this name lies.
    pub(crate) async fn place(&self, dataspace: &str, name: &str) -> Result<Place, Error> {
        let buckets = self.buckets().await?.ok_or_else(|| Error::UnknownDataspace(dataspace.into()))?;
        let bucket = keys::bucket(dataspace, name, buckets);
        Ok(Place {
            dataspace: dataspace.into(),
            name: name.into(),
            key: keys::anchor(dataspace, name),
            partition: keys::partition(&self.tenant, bucket),
            pages: keys::pages(&self.tenant, bucket),
        })
    }

    /// The newest row of an anchor. Cost: a cached look-up, or a round to other nodes.
    pub(crate) async fn anchor_row(&self, place: &Place) -> Result<Option<(Row, AnchorRow)>, Error> {
        let row = match self.shared.store.get_cached(&place.partition, &place.key) {
            Some(cached) => cached,
            None => self.shared.store.get_linear(&place.partition, &place.key).await?,
        };
        row.map(|row| read_row(&row.value).map(|parsed| (row, parsed))).transpose()
    }

    /// Why an anchor is not there.
    pub(crate) async fn no_anchor(&self, dataspace: &str, name: &str) -> Result<Error, Error> {
        match self.dataspace_row(dataspace).await {
            Ok(_) => Ok(Error::UnknownAnchor { dataspace: dataspace.into(), name: name.into() }),
            Err(error) => Err(error),
        }
    }

    async fn opened(&self, place: Arc<Place>, row: AnchorRow) -> Result<Anchor, Error> {
        let schema = match self.shared.schemas.cached(&self.tenant, row.hash) {
            Some(cached) => cached,
            None => {
                let source = async || self.source(&place.dataspace, &row.schema_set).await;
                self.shared.schemas.get((&self.tenant, &self.blobs()), row.hash, source).await?
            }
        };
        Ok(Anchor::new(self.clone(), place, schema, row))
    }
}

/// A number that nothing else has: that of a commit, whose ids are of one process and handle and count up.
pub(crate) fn number_of(WriteId(id): WriteId) -> u64 {
    let [a, b, c, d, e, f, g, h, low @ ..] = id.to_be_bytes();
    u64::from_be_bytes([a, b, c, d, e, f, g, h]).wrapping_add(u64::from_be_bytes(low))
}

/// Whether its removal leaves more than goes in one commit.
fn leaves_rows(row: &AnchorRow) -> bool {
    row.has_pages || row.is_untidy || row.head.saturating_sub(row.oldest) >= VERSIONS_AT_ONCE
}

fn info(name: String, row: AnchorRow) -> AnchorInfo {
    let AnchorRow { schema_set, mode, created, head, .. } = row;
    AnchorInfo { name, schema_set: schema_set.into(), mode, created, version: VersionId(head) }
}

pub(crate) fn read_row(value: &[u8]) -> Result<AnchorRow, Error> {
    AnchorRow::parse(value).map_err(|_| damaged("an anchor"))
}
