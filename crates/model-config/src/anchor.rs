//! One anchor: what it is of, and what of its rows readers and writers share.

use std::sync::Arc;

use bytes::Bytes;
use config::PageId;
use lang_yang::Schema;
use store::{Partition, Removal, Row, Timestamp};

use crate::configs::Configs;
use crate::error::damaged;
use crate::rows::{AnchorRow, Mode, VersionRow};
use crate::version::VersionId;
use crate::{Error, keys};

/// Keys of pages that are removed together.
const KEYS_AT_ONCE: usize = 1_000;
/// Versions that one commit drops at most; the next goes on.
const DROPS_AT_ONCE: usize = 16;
/// A commit that lets go of more pages drops no further version.
const PAGES_AT_ONCE: usize = 20_000;

/// Where an anchor of a name lies.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) dataspace: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) key: Bytes,
    pub(crate) partition: Partition,
    pub(crate) pages: Partition,
}

/// One anchor, in one life of its name; clones share.
#[derive(Clone, Debug)]
pub struct Anchor {
    configs: Configs,
    place: Arc<Place>,
    schema: Arc<Schema>,
    number: u64,
    schema_set: Arc<str>,
    mode: Mode,
    created: Timestamp,
}

/// The versions that a commit drops.
#[derive(Debug)]
pub(crate) struct Dropping {
    /// The oldest that stays, and when another took its place.
    pub(crate) oldest: u64,
    pub(crate) oldest_until: Option<Timestamp>,
    /// Keys of the rows of those that go.
    pub(crate) rows: Vec<Bytes>,
    /// Pages that no version has then.
    pub(crate) pages: Vec<PageId>,
}

/// A version that is about to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NextVersion<'a> {
    pub(crate) at: Timestamp,
    pub(crate) superseded: &'a [PageId],
}

impl Anchor {
    pub(crate) fn new(configs: Configs, place: Arc<Place>, schema: Arc<Schema>, row: AnchorRow) -> Self {
        let AnchorRow { number, schema_set, mode, created, .. } = row;
        Self { configs, place, schema, number, schema_set: schema_set.into(), mode, created }
    }

    /// Its dataspace.
    pub fn dataspace(&self) -> &str {
        &self.place.dataspace
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.place.name
    }

    /// The name of its schema set.
    pub fn schema_set(&self) -> &str {
        &self.schema_set
    }

    /// What its modules allow.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// What its data keep to.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// When it was made.
    pub fn created(&self) -> Timestamp {
        self.created
    }

    /// The number of this life of its name: no other has it.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The configuration that it is part of.
    pub fn configs(&self) -> &Configs {
        &self.configs
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Its newest row; `None` if it is gone, also if another of its name is there.
    pub(crate) async fn row(&self) -> Result<Option<(Row, AnchorRow)>, Error> {
        let found = self.configs.anchor_row(&self.place).await?;
        Ok(found.filter(|(_, row)| row.number == self.number))
    }

    /// That it is gone.
    pub(crate) fn unknown(&self) -> Error {
        Error::UnknownAnchor { dataspace: self.place.dataspace.clone(), name: self.place.name.clone() }
    }

    pub(crate) fn unknown_version(&self, version: VersionId) -> Error {
        Error::UnknownVersion { anchor: self.place.name.clone(), version }
    }

    /// A version as it is stored; that of the empty tree has no row. Cost: a cached look-up, or a read.
    pub(crate) async fn version_row(&self, version: u64) -> Result<Option<VersionRow>, Error> {
        let key = keys::version(self.number, version);
        let store = &self.configs.shared.store;
        let row = match store.get_cached(&self.place.partition, &key) {
            Some(cached) => cached,
            // A version is written once: what is known of it is right.
            None => store.get_linear(&self.place.partition, &key).await?,
        };
        row.map(|row| VersionRow::parse(&row.value).map_err(|_| damaged("a version"))).transpose()
    }

    /// Which versions go, by number and age, once `next` is the newest (or with none to come). `None`: they have changed since the row was
    /// read.
    pub(crate) async fn dropping(
        &self,
        row: &AnchorRow,
        next: Option<NextVersion<'_>>,
    ) -> Result<Option<Dropping>, Error> {
        let newest = row.head + u64::from(next.is_some());
        let max = self.configs.shared.options.versions_max.max(1) as u64;
        let oldest_until = row.oldest_until.or(next.map(|next| next.at));
        let mut dropping = Dropping { oldest: row.oldest, oldest_until, rows: Vec::new(), pages: Vec::new() };
        for _ in 0..DROPS_AT_ONCE {
            // The newest is never dropped.
            let Some(until) = dropping.oldest_until else { break };
            let is_due = newest - dropping.oldest >= max || self.configs.is_aged(until);
            if !is_due || dropping.pages.len() > PAGES_AT_ONCE {
                break;
            }
            let follower = dropping.oldest + 1;
            let Some((_, pages)) = self.follower(follower, (newest, next)).await? else { return Ok(None) };
            dropping.pages.extend(pages);
            if dropping.oldest > 0 {
                dropping.rows.push(keys::version(self.number, dropping.oldest));
            }
            dropping.oldest = follower;
            dropping.oldest_until = None;
            if follower < newest {
                let Some((at, _)) = self.follower(follower + 1, (newest, next)).await? else {
                    return Ok(None);
                };
                dropping.oldest_until = Some(at);
            }
        }
        Ok(Some(dropping))
    }

    /// When a version was written, and what it superseded; that which is about to be written has no row.
    async fn follower(
        &self,
        version: u64,
        (newest, next): (u64, Option<NextVersion<'_>>),
    ) -> Result<Option<(Timestamp, Vec<PageId>)>, Error> {
        if let Some(next) = next.filter(|_| version == newest) {
            return Ok(Some((next.at, next.superseded.to_vec())));
        }
        Ok(self.version_row(version).await?.map(|row| (row.at, row.superseded)))
    }

    /// Pages as what a commit lets go of.
    pub(crate) fn removals_of(&self, pages: &[PageId]) -> Vec<Removal> {
        let removal = |pages: &[PageId]| Removal {
            partition: self.place.pages.clone(),
            keys: pages.iter().map(|page| self.page_key(*page)).collect(),
        };
        pages.chunks(KEYS_AT_ONCE).map(removal).collect()
    }

    pub(crate) fn page_key(&self, page: PageId) -> Bytes {
        keys::page(self.number, (page.version, page.nonce, page.number))
    }
}

impl Configs {
    /// Whether a version that another took the place of at this time is to be dropped for its age.
    pub(crate) fn is_aged(&self, at: Timestamp) -> bool {
        let age_max = i64::try_from(self.shared.options.version_age_max.as_micros()).unwrap_or(i64::MAX);
        self.shared.clock.now().0.saturating_sub(at.0) > age_max
    }
}
