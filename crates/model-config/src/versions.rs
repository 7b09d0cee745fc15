//! The versions of an anchor: listed, taken up again. To read or compare them is the business of [`crate::Reading`].
//!
//! A version that takes up an older one shares with the newest what both have. Pages that only the older one has are written anew: they
//! were superseded once, and go with the version that still has them; so no page is ever superseded twice.

use bytes::Bytes;
use config::{Attempt, Root, Tree};
use lang_yang::Schema;
use store::Timestamp;
use store::rows::Pages;

use crate::anchor::Anchor;
use crate::anchors::number_of;
use crate::changes::{Action, Places};
use crate::configs::BACKOFF;
use crate::error::damaged;
use crate::rows::{AnchorRow, VersionRow};
use crate::version::VersionId;
use crate::write::{Fetched, Planned, Thought, WriteOptions, Written};
use crate::{Error, keys};

/// Rows of versions that are read at once.
const PAGE_ROWS: usize = 100;

/// A version of an anchor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct VersionInfo {
    /// Its number.
    pub version: VersionId,
    /// When it was written.
    pub at: Timestamp,
    /// When its change was observed, if the writer said so.
    pub observed: Option<Timestamp>,
    /// The version whose content it took up again.
    pub restored: Option<VersionId>,
    /// Containers and list entries that it has.
    pub records: u64,
    /// Bytes of its tree, as it is stored.
    pub bytes: u64,
}

impl Anchor {
    /// The newest version. Cost: a cached look-up.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownAnchor`]; if the store refuses.
    pub async fn version(&self) -> Result<VersionId, Error> {
        let (_, row) = self.row().await?.ok_or_else(|| self.unknown())?;
        Ok(VersionId(row.head))
    }

    /// The versions that are kept, oldest first. Cost: a scan of them.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownAnchor`]; if the store refuses.
    pub async fn versions(&self) -> Result<Vec<VersionInfo>, Error> {
        let (_, row) = self.row().await?.ok_or_else(|| self.unknown())?;
        let mut infos = Vec::new();
        if row.oldest == 0 {
            let of =
                self.stored_version(&row, 0).await?.expect("the empty tree has no row that could be missing");
            infos.push(info(self.schema(), 0, &of)?);
        }
        let partition = &self.place().partition;
        let mut pages = Pages::new(self.configs().store(), partition, keys::versions(row.number), PAGE_ROWS);
        while let Some(page) = pages.next().await? {
            for (key, value) in page.rows() {
                let version = keys::version_of_key(key).ok_or_else(|| damaged("the key of a version"))?;
                if (row.oldest..=row.head).contains(&version) {
                    let of = VersionRow::parse(&Bytes::copy_from_slice(value))
                        .map_err(|_| damaged("a version"))?;
                    infos.push(info(self.schema(), version, &of)?);
                }
            }
        }
        Ok(infos)
    }

    /// Makes the content of an older version that of the next. Cost: what is not shared with the newest version is written anew.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownAnchor`], [`Error::UnknownVersion`], [`Error::Conflict`]; [`Error::Contention`]; if the store refuses.
    pub async fn roll_back(&self, to: VersionId, options: WriteOptions) -> Result<Written, Error> {
        let (mut queued, mut attempts) = (None, BACKOFF.attempts());
        while attempts.next().await {
            self.queue(&attempts, &mut queued).await;
            let Some(fetched) = self.fetch(options).await? else { continue };
            self.kept(&fetched.row, Some(to))?;
            if to.0 == fetched.row.head {
                return Ok(self.unchanged(&fetched));
            }
            let Some(of) = self.stored_version(&fetched.row, to.0).await? else { continue };
            let old = Root::decode(self.schema(), &of.root).map_err(|_| damaged("the root of a tree"))?;
            let write_id = self.configs().shared.write_ids.next();
            let attempt = Attempt { version: fetched.row.head + 1, nonce: number_of(write_id) };
            let Thought::Done(planned) = self.restore(&fetched, (to, &old), attempt).await? else { continue };
            if let Some(written) = self.settle(fetched, planned, (write_id, options)).await? {
                return Ok(written);
            }
        }
        Err(attempts.exhausted(format!("anchor '{}'", self.name())).into())
    }

    async fn restore(
        &self,
        fetched: &Fetched,
        (version, old): (VersionId, &Root),
        attempt: Attempt,
    ) -> Result<Thought<Planned>, Error> {
        loop {
            let head = fetched.reading.tree();
            let old = Tree::new(self.schema(), old, fetched.reading.pages());
            match self.configs().lane().run(|| config::restore(&old, &head, attempt)).await {
                Ok(restored) => {
                    let mut places = Places::default();
                    places.add(Action::Replace, "/");
                    let config::Restored { root, pages, superseded } = restored;
                    let restored = Some(version.0);
                    return Ok(Thought::Done(Planned { root, pages, superseded, places, restored }));
                }
                Err(fault) => {
                    if !self.serve(fetched, &fault).await? {
                        return Ok(Thought::Lost);
                    }
                }
            }
        }
    }

    /// All pages of the newest version; `None` if it is no longer the newest.
    pub(crate) async fn pages_of_head(&self, row: &AnchorRow) -> Result<Option<Vec<config::PageId>>, Error> {
        let Some(of) = self.stored_version(row, row.head).await? else { return Ok(None) };
        let reading = self.reading_of(row.head, &of)?;
        match reading.run(config::pages_of).await {
            Ok(pages) => Ok(Some(pages)),
            Err(Error::Contention(_) | Error::UnknownAnchor { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn info(schema: &Schema, version: u64, of: &VersionRow) -> Result<VersionInfo, Error> {
    let root = Root::decode(schema, &of.root).map_err(|_| damaged("the root of a tree"))?;
    let (restored, version) = (of.restored.map(VersionId), VersionId(version));
    Ok(VersionInfo {
        version,
        at: of.at,
        observed: of.observed,
        restored,
        records: root.records(),
        bytes: root.bytes(),
    })
}
