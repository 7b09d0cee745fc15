//! One version of an anchor, as it is read: one moment, however long the read takes.
//!
//! A small tree lies in the row of its version, and is read without a snapshot. Pages of a large one are read as they are asked for, from a
//! snapshot: so they stay there although the version may be dropped meanwhile. (Where the store keeps nothing of what was, such a read ends with
//! [`Error::Contention`].)

use bytes::Bytes;
use config::{Fault, PageId, Pages, Root, Tree};
use store::rows::Rows;
use store::{Deadline, ErrorKind, Pace, ReadAttempts, Snapshot, Timestamp};

use crate::anchor::Anchor;
use crate::configs::BACKOFF;
use crate::error::damaged;
use crate::rows::{AnchorRow, VersionRow};
use crate::version::VersionId;
use crate::{Error, anchors};

/// Pages that are read from the store at once.
const PAGES_AT_ONCE: usize = 256;

/// One version of an anchor.
#[derive(Debug)]
pub struct Reading {
    anchor: Anchor,
    version: VersionId,
    at: Timestamp,
    root: Root,
    pub(crate) pages: Pages,
    /// None: the tree lies in its version, or whoever reads finds out in the end whether it was the newest.
    snapshot: Option<Snapshot>,
}

/// What a slice of a long read came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Step<T> {
    /// There is more to do.
    More,
    /// All is done.
    Done(T),
}

impl Anchor {
    /// A version, or the newest. Cost: two cached look-ups; of a tree with pages a snapshot.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownAnchor`], [`Error::UnknownVersion`]; [`Error::Contention`]; if the store refuses.
    pub async fn read(&self, as_of: Option<VersionId>) -> Result<Reading, Error> {
        let mut attempts = BACKOFF.attempts();
        let mut moments = ReadAttempts::default();
        while attempts.next().await {
            let Some((_, row)) = self.row().await? else { return Err(self.unknown()) };
            let version = self.kept(&row, as_of)?;
            // It was dropped since, or removed.
            let Some(of) = self.stored_version(&row, version).await? else { continue };
            let reading = self.reading_of(version, &of)?;
            if reading.root.is_inline() {
                return Ok(reading);
            }
            let snapshot = self.configs().store().snapshot()?;
            match self.is_kept_in(&snapshot, version).await {
                Ok(true) => return Ok(Reading { snapshot: Some(snapshot), ..reading }),
                Ok(false) => {}
                Err(Error::Store(error)) if moments.again(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Err(attempts.exhausted(format!("anchor '{}'", self.name())).into())
    }

    /// The version that was the newest at this time, of those that are kept; the oldest of them where all are newer.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownAnchor`]; if the store refuses.
    pub async fn version_at(&self, time: Timestamp) -> Result<VersionId, Error> {
        let versions = self.versions().await?;
        let at = versions.iter().rev().find(|version| version.at <= time).or(versions.first());
        at.map(|version| version.version).ok_or_else(|| self.unknown())
    }

    /// The version that is asked for, if it is kept.
    pub(crate) fn kept(&self, row: &AnchorRow, as_of: Option<VersionId>) -> Result<u64, Error> {
        match as_of {
            None => Ok(row.head),
            Some(VersionId(version)) if (row.oldest..=row.head).contains(&version) => Ok(version),
            Some(version) => Err(self.unknown_version(version)),
        }
    }

    /// A version as it is stored, also that of the empty tree.
    pub(crate) async fn stored_version(
        &self,
        row: &AnchorRow,
        version: u64,
    ) -> Result<Option<VersionRow>, Error> {
        if version > 0 {
            return self.version_row(version).await;
        }
        let root = Bytes::from(Root::empty().encode());
        Ok(Some(VersionRow { at: row.created, observed: None, restored: None, superseded: Vec::new(), root }))
    }

    /// A version to be read, without a snapshot.
    pub(crate) fn reading_of(&self, version: u64, of: &VersionRow) -> Result<Reading, Error> {
        let root = Root::decode(self.schema(), &of.root).map_err(|_| damaged("the root of a tree"))?;
        let pages = Pages::new(self.configs().shared.pages.clone());
        Ok(Reading {
            anchor: self.clone(),
            version: VersionId(version),
            at: of.at,
            root,
            pages,
            snapshot: None,
        })
    }

    async fn is_kept_in(&self, snapshot: &Snapshot, version: u64) -> Result<bool, Error> {
        let place = self.place();
        let row = match snapshot.get_cached(&place.partition, &place.key) {
            Some(cached) => cached,
            None => snapshot.get(&place.partition, &place.key).await?,
        };
        let Some(row) = row else { return Ok(false) };
        let row = anchors::read_row(&row.value)?;
        Ok(row.number == self.number() && (row.oldest..=row.head).contains(&version))
    }

    /// Pages of this anchor, given to whoever asked for them; gives back those that are not there.
    pub(crate) async fn load_pages(
        &self,
        rows: Rows<'_>,
        ids: &[PageId],
        into: &Pages,
    ) -> Result<Vec<PageId>, Error> {
        let mut missing = Vec::new();
        for ids in ids.chunks(PAGES_AT_ONCE) {
            let keys: Vec<Bytes> = ids.iter().map(|id| self.page_key(*id)).collect();
            let found = rows.get_many_linear(&self.place().pages, &keys).await?;
            for (id, row) in ids.iter().zip(found) {
                match row {
                    Some(row) => {
                        into.insert(self.schema(), *id, row.value).map_err(|_| damaged("a page of a tree"))?
                    }
                    None => missing.push(*id),
                }
            }
        }
        Ok(missing)
    }
}

impl Reading {
    /// The version that it is of.
    pub fn version(&self) -> VersionId {
        self.version
    }

    /// When the version was written.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// The anchor that it is of.
    pub fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// The root of the tree.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The tree, as far as it is in memory: what asks for a page that is not gets a [`Fault`], which [`Reading::load`] serves.
    pub fn tree(&self) -> Tree<'_> {
        Tree::new(self.anchor.schema(), &self.root, &self.pages)
    }

    /// Asks the tree, again and again until no page is missing: what `ask` has found before is forgotten each time. Cost: a read of the store
    /// for each time.
    ///
    /// # Errors
    ///
    /// [`Error::Contention`] if a page is gone with its version; if the store refuses.
    pub async fn run<T>(&self, mut ask: impl FnMut(&Tree<'_>) -> Result<T, Fault>) -> Result<T, Error> {
        loop {
            match ask(&self.tree()) {
                Ok(answer) => return Ok(answer),
                Err(fault) => self.load(&fault).await?,
            }
        }
    }

    /// The same for what may be long: `step` goes on from where `state` says, counts what it does, and says [`Step::More`] when its pace
    /// is tired. Between two steps others run, and pages that were read are let go of.
    ///
    /// # Errors
    ///
    /// As [`Reading::run`]; [`Error::TimedOut`].
    pub async fn run_long<S, T>(
        &self,
        deadline: Deadline,
        mut state: S,
        mut step: impl FnMut(&Tree<'_>, &mut S, &mut Pace) -> Result<Step<T>, Fault>,
    ) -> Result<T, Error> {
        let mut pace = Pace::new(deadline);
        loop {
            match step(&self.tree(), &mut state, &mut pace) {
                Ok(Step::Done(answer)) => return Ok(answer),
                Ok(Step::More) => self.rest(&mut pace).await?,
                Err(fault) => self.load(&fault).await?,
            }
        }
    }

    /// Lets others run, and lets go of pages that were read.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`].
    pub async fn rest(&self, pace: &mut Pace) -> Result<(), Error> {
        pace.check()?;
        self.let_go();
        store::rest().await;
        pace.rest();
        Ok(())
    }

    /// Lets go of pages that were read.
    pub(crate) fn let_go(&self) {
        self.pages.release();
    }

    /// Loads all pages of the tree that are not in memory, for who is about to read all of it at once. They stay until
    /// [`Reading::rest`]. Cost: a read of the store for each 256 of them.
    ///
    /// # Errors
    ///
    /// As [`Reading::run`].
    pub async fn load_all(&self) -> Result<(), Error> {
        self.load(&Fault(self.run(config::missing_pages).await?)).await
    }

    /// Loads pages that were missing. Cost: one read of the store for all.
    ///
    /// # Errors
    ///
    /// As [`Reading::run`].
    pub async fn load(&self, fault: &Fault) -> Result<(), Error> {
        if fault.is_damage() {
            return Err(damaged("a tree, whose pages do not belong together"));
        }
        if self.load_found(&fault.0).await?.is_empty() { Ok(()) } else { self.explain_missing().await }
    }

    /// Loads those of these pages that are there; gives back the others.
    async fn load_found(&self, ids: &[PageId]) -> Result<Vec<PageId>, Error> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows = match &self.snapshot {
            Some(snapshot) => Rows::from(snapshot),
            None => Rows::from(self.anchor.configs().store()),
        };
        match self.anchor.load_pages(rows, ids, &self.pages).await {
            Err(Error::Store(error)) if error.kind() == ErrorKind::Changed => Ok(ids.to_vec()),
            loaded => loaded,
        }
    }

    /// A page is missing: why.
    async fn explain_missing(&self) -> Result<(), Error> {
        let Some((_, row)) = self.anchor.row().await? else { return Err(self.anchor.unknown()) };
        let is_kept = (row.oldest..=row.head).contains(&self.version.0);
        if is_kept && !self.anchor.configs().store().may_lag() {
            return Err(damaged("a page of a tree, which is missing"));
        }
        let what =
            format!("anchor '{}', of which a version was dropped while it was read", self.anchor.name());
        Err(Error::Contention(what.into()))
    }
}

/// Asks two trees at once, as [`Reading::run`] does: of two versions, or of two anchors.
///
/// # Errors
///
/// As [`Reading::run`].
pub async fn run_both<T>(
    one: &Reading,
    other: &Reading,
    mut ask: impl FnMut(&Tree<'_>, &Tree<'_>) -> Result<T, Fault>,
) -> Result<T, Error> {
    loop {
        let fault = match ask(&one.tree(), &other.tree()) {
            Ok(answer) => return Ok(answer),
            Err(fault) => fault,
        };
        load_both((one, other), &fault).await?;
    }
}

/// Loads pages that were missing of two trees. Which of them lacks a page its name does not say: it is looked for in both. Cost: at most two
/// reads of the store.
///
/// # Errors
///
/// As [`Reading::run`].
pub async fn load_both((one, other): (&Reading, &Reading), fault: &Fault) -> Result<(), Error> {
    if fault.is_damage() {
        return Err(damaged("a tree, whose pages do not belong together"));
    }
    let left = one.load_found(&fault.0).await?;
    let gone = other.load_found(&left).await?;
    if gone.is_empty() {
        return Ok(());
    }
    one.explain_missing().await?;
    other.explain_missing().await
}
