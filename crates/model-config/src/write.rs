//! Changes of an anchor: fetch the newest version, think, write the next; again where another writer came first.
//!
//! Pages of the new tree go ahead of the commit, which names them, says what it superseded, and drops versions that are too many or too old
//! with the pages that only they had. Nothing that was written is lost to another writer: the commit demands that the anchor is as it
//! was read.

use std::borrow::Cow;

use bytes::Bytes;
use config::{Applied, ApplyError, Attempt, Edit, Fault, PageId, Pages, Root, Tree};
use store::retry::{Attempts, RetryGuard, unless_lost};
use store::rows::Rows;
use store::{Append, Commit, CommitWithAppends, Condition, Epoch, Row, Timestamp, Write, WriteId};

use crate::anchor::{Anchor, Dropping, NextVersion};
use crate::anchors::number_of;
use crate::changes::{ConfigChange, Places};
use crate::configs::BACKOFF;
use crate::effort;
use crate::options::check_limit;
use crate::places::places_of;
use crate::reading::Reading;
use crate::rows::{AnchorRow, Mode, VersionRow};
use crate::version::VersionId;
use crate::{Error, keys, strict};

/// The part of what an append may take that is made full use of.
const APPEND_PART: usize = 2;

/// How a change is to be made.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct WriteOptions {
    /// It is only tried: nothing is stored.
    pub dry_run: bool,
    /// When it was observed; the change record says so.
    pub observed: Option<Timestamp>,
    /// The version that the anchor must have.
    pub if_version: Option<VersionId>,
    /// Whether it is long work to tell the edits from the tree: that, and carrying them out, is done in a slot for long work then.
    pub is_long: bool,
}

/// What a change came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Written {
    /// The version before.
    pub before: VersionId,
    /// The version after: the same if nothing was changed, or was only tried.
    pub version: VersionId,
    /// When the version after was made.
    pub at: Timestamp,
}

/// Why edits cannot be told: a page is missing, or the caller refuses.
#[derive(Debug)]
pub enum Refusal<E> {
    /// The page is loaded, and the caller asked again.
    Fault(Fault),
    /// The change ends with it.
    Refused(E),
}

impl<E> From<Fault> for Refusal<E> {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// What a change makes of a tree.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) root: Root,
    pub(crate) pages: Vec<(PageId, Bytes)>,
    pub(crate) superseded: Vec<PageId>,
    pub(crate) places: Places,
    /// The version whose content it takes up again.
    pub(crate) restored: Option<u64>,
}

/// The newest version, as a writer has found it.
#[derive(Debug)]
pub(crate) struct Fetched {
    /// From before it was read.
    pub(crate) epoch: Epoch,
    pub(crate) stored: Row,
    pub(crate) row: AnchorRow,
    pub(crate) reading: Reading,
}

/// How an attempt ended, if no other writer came first.
#[derive(Debug)]
pub(crate) enum Thought<T> {
    Done(T),
    /// A page is gone, and with it the version that was read: another writer came first.
    Lost,
}

impl Anchor {
    /// Changes the tree as `edits` says of the newest version; it is asked again where another writer came first, and where
    /// pages are missing. Cost: cached look-ups, one commit; in an anchor of [`Mode::Strict`] a check of the whole tree. What gives or replaces
    /// more than 1,000 entries is worked out in a slot for long work; `edits` itself is only asked there if the options say so.
    ///
    /// # Errors
    ///
    /// What `edits` refuses with; [`Error::UnknownAnchor`], [`Error::Edit`], [`Error::Data`], [`Error::Conflict`], [`Error::Limit`];
    /// [`Error::Contention`]; if the store refuses.
    pub async fn write<E: From<Error>>(
        &self,
        edits: impl Fn(&Tree<'_>) -> Result<Vec<Edit>, Refusal<E>>,
        options: WriteOptions,
    ) -> Result<Written, E> {
        self.write_with(|tree| edits(tree).map(Cow::Owned), options).await
    }

    /// [`Anchor::write`] with edits that do not depend on the tree: their places are found in whatever it is then.
    ///
    /// # Errors
    ///
    /// As [`Anchor::write`].
    pub async fn write_edits(&self, edits: &[Edit], options: WriteOptions) -> Result<Written, Error> {
        self.write_with(|_| Ok::<_, Refusal<Error>>(Cow::Borrowed(edits)), options).await
    }

    async fn write_with<'e, E: From<Error>>(
        &self,
        edits: impl Fn(&Tree<'_>) -> Result<Cow<'e, [Edit]>, Refusal<E>>,
        options: WriteOptions,
    ) -> Result<Written, E> {
        let (mut queued, mut attempts) = (None, BACKOFF.attempts());
        while attempts.next().await {
            self.queue(&attempts, &mut queued).await;
            let Some(fetched) = self.fetch(options).await? else { continue };
            let write_id = self.configs().shared.write_ids.next();
            let thought = self.think(&fetched, &edits, (write_id, options)).await?;
            let Thought::Done(planned) = thought else { continue };
            let written = match planned {
                Some(planned) => self.settle(fetched, planned, (write_id, options)).await?,
                None => Some(self.unchanged(&fetched)),
            };
            if let Some(written) = written {
                return Ok(written);
            }
        }
        Err(Error::from(attempts.exhausted(format!("anchor '{}'", self.name()))).into())
    }

    /// Has a writer wait for others, if it lost to one, or others wait: it holds the lock from then on.
    pub(crate) async fn queue<'l>(&'l self, attempts: &Attempts, queued: &mut Option<RetryGuard<'l>>) {
        let locks = &self.configs().shared.retry_locks;
        let lock = locks.of(&[self.dataspace().as_bytes(), self.name().as_bytes()]);
        if queued.is_none() && (!attempts.is_first() || locks.is_queued(lock)) {
            *queued = Some(locks.lock(lock).await);
        }
    }

    /// The newest version; `None` if it was superseded while it was read.
    pub(crate) async fn fetch(&self, options: WriteOptions) -> Result<Option<Fetched>, Error> {
        let epoch = self.configs().store().fence(&self.place().partition);
        let Some((stored, row)) = self.row().await? else { return Err(self.unknown()) };
        let head = VersionId(row.head);
        if let Some(expected) = options.if_version.filter(|expected| *expected != head) {
            return Err(Error::Conflict { anchor: self.name().into(), head, expected });
        }
        let Some(of) = self.stored_version(&row, row.head).await? else { return Ok(None) };
        let reading = self.reading_of(row.head, &of)?;
        Ok(Some(Fetched { epoch, stored, row, reading }))
    }

    /// What becomes of the tree; nothing if there are no edits.
    async fn think<'e, E: From<Error>>(
        &self,
        fetched: &Fetched,
        edits: &impl Fn(&Tree<'_>) -> Result<Cow<'e, [Edit]>, Refusal<E>>,
        (write_id, options): (WriteId, WriteOptions),
    ) -> Result<Thought<Option<Planned>>, E> {
        let lane = self.configs().lane();
        let edits = loop {
            let tell = || edits(&fetched.reading.tree());
            let told = if options.is_long { lane.run(tell).await } else { tell() };
            match told {
                Ok(edits) => break edits,
                Err(Refusal::Fault(fault)) => {
                    if !self.serve(fetched, &fault).await? {
                        return Ok(Thought::Lost);
                    }
                }
                Err(Refusal::Refused(error)) => return Err(error),
            }
        };
        if edits.is_empty() {
            return Ok(Thought::Done(None));
        }
        let attempt = Attempt { version: fetched.row.head + 1, nonce: number_of(write_id) };
        loop {
            let tree = fetched.reading.tree();
            let is_long = options.is_long || effort::is_long(&tree, &edits);
            let plan = || plan(&tree, &edits, attempt);
            let planned = if is_long { lane.run(plan).await } else { plan() };
            match planned {
                Ok(planned) => return Ok(Thought::Done(planned)),
                Err(ApplyError::Fault(fault)) => {
                    if !self.serve(fetched, &fault).await? {
                        return Ok(Thought::Lost);
                    }
                }
                Err(error) => return Err(Error::Edit(error).into()),
            }
        }
    }

    /// Checks what the tree would be against all rules of its modules; `false` if the version that it was made of is no longer the newest. Cost:
    /// all pages of the tree are read, and it is written as JSON and checked, in slots of their own: conditions of modules may look at
    /// all of the tree from each of its nodes, and nothing ends a check that is under way.
    async fn check_all(&self, fetched: &Fetched, root: &Root) -> Result<bool, Error> {
        let checker = strict::checker(self).await?;
        let lane = &self.configs().shared.strict_lane;
        let tree = Tree::new(self.schema(), root, fetched.reading.pages());
        if !self.load_whole(fetched, &tree).await? {
            return Ok(false);
        }
        loop {
            let fault = match lane.run(|| strict::json_of(&tree)).await {
                Ok(json) => {
                    lane.run(|| checker.validate(&json)).await?;
                    return Ok(true);
                }
                Err(fault) => fault,
            };
            if !self.serve(fetched, &fault).await? {
                return Ok(false);
            }
        }
    }

    /// Loads all pages of a tree that are not in memory; `false` if the version that it was made of is no longer the newest.
    async fn load_whole(&self, fetched: &Fetched, tree: &Tree<'_>) -> Result<bool, Error> {
        let missing = loop {
            match config::missing_pages(tree) {
                Ok(missing) => break missing,
                Err(fault) => {
                    if !self.serve(fetched, &fault).await? {
                        return Ok(false);
                    }
                }
            }
        };
        Ok(missing.is_empty() || self.serve(fetched, &Fault(missing)).await?)
    }

    /// Loads pages; `false` if the version that was read is no longer the newest.
    pub(crate) async fn serve(&self, fetched: &Fetched, fault: &Fault) -> Result<bool, Error> {
        let rows = Rows::from(self.configs().store());
        let missing = self.load_pages(rows, &fault.0, fetched.reading.pages()).await?;
        if missing.is_empty() {
            return Ok(true);
        }
        match self.row().await? {
            Some((stored, _))
                if stored.stamp == fetched.stored.stamp && !self.configs().store().may_lag() =>
            {
                Err(crate::error::damaged("a page of a tree, which is missing"))
            }
            _ => Ok(false),
        }
    }

    /// Checks what is planned, and commits it; `None`: another writer came first.
    pub(crate) async fn settle(
        &self,
        fetched: Fetched,
        planned: Planned,
        (write_id, options): (WriteId, WriteOptions),
    ) -> Result<Option<Written>, Error> {
        self.check_size(fetched.reading.root(), &planned.root)?;
        if self.mode() == Mode::Strict {
            // They are not stored yet: whatever the cache drops, the check finds them.
            fetched.reading.pages().pin_written(&planned.pages);
            if !self.check_all(&fetched, &planned.root).await? {
                return Ok(None);
            }
        }
        if options.dry_run {
            return Ok(Some(self.unchanged(&fetched)));
        }
        let at = self.configs().shared.clock.now();
        let next = NextVersion { at, superseded: &planned.superseded };
        let Some(dropping) = self.dropping(&fetched.row, Some(next)).await? else { return Ok(None) };
        let commit = self.commit(&fetched, &planned, (write_id, at, options.observed), dropping);
        if self.configs().leaves_rows(&commit) && !fetched.row.is_untidy {
            self.note_untidy(&fetched).await?;
            return Ok(None);
        }
        let store = self.configs().store();
        if unless_lost(store.append_then_commit(commit).await)?.is_none() {
            return Ok(None);
        }
        self.configs().shared.pages.insert_written(&planned.pages);
        let before = fetched.reading.version();
        Ok(Some(Written { before, version: VersionId(before.0 + 1), at }))
    }

    /// Checks that a tree has not grown beyond what one may have: one that was larger before may become smaller.
    fn check_size(&self, before: &Root, root: &Root) -> Result<(), Error> {
        if root.bytes() < before.bytes() {
            return Ok(());
        }
        let bytes = usize::try_from(root.bytes()).unwrap_or(usize::MAX);
        let options = self.configs().options();
        let what = || format!("bytes of the tree of anchor '{}'", self.name());
        check_limit(what, ("tree_bytes_max", options.tree_bytes_max), bytes)?;
        if self.mode() == Mode::Strict {
            let what = || format!("bytes of the tree of the strict anchor '{}'", self.name());
            check_limit(what, ("strict_tree_bytes_max", options.strict_tree_bytes_max), bytes)?;
        }
        Ok(())
    }

    pub(crate) fn unchanged(&self, fetched: &Fetched) -> Written {
        let version = fetched.reading.version();
        Written { before: version, version, at: fetched.reading.at() }
    }

    fn commit(
        &self,
        fetched: &Fetched,
        planned: &Planned,
        (write_id, at, observed): (WriteId, Timestamp, Option<Timestamp>),
        dropping: Dropping,
    ) -> CommitWithAppends {
        let (place, row) = (self.place(), &fetched.row);
        let version = row.head + 1;
        let becomes = AnchorRow {
            head: version,
            oldest: dropping.oldest,
            oldest_until: dropping.oldest_until,
            has_pages: row.has_pages || !planned.pages.is_empty(),
            ..row.clone()
        };
        let of = VersionRow {
            at,
            observed,
            restored: planned.restored,
            superseded: planned.superseded.clone(),
            root: planned.root.encode().into(),
        };
        let mut writes = vec![
            Write::PutStamped(place.key.clone(), becomes.to_bytes()),
            Write::Put(keys::version(row.number, version), of.to_bytes()),
        ];
        writes.extend(dropping.rows.into_iter().map(Write::Delete));
        let change = ConfigChange {
            dataspace: place.dataspace.clone(),
            anchor: place.name.clone(),
            schema_set: row.schema_set.clone(),
            number: row.number,
            before: VersionId(row.head),
            after: Some(VersionId(version)),
            at,
            observed,
            places: planned.places.places.clone(),
            is_cut: planned.places.is_cut,
        };
        let commit = Commit {
            partition: place.partition.clone(),
            write_id,
            conditions: vec![Condition::Version(place.key.clone(), fetched.stored.stamp)],
            writes,
            change: Some(change.to_record()),
            reclaims: planned.root.bytes() < fetched.reading.root().bytes(),
        };
        let appends = self.appends_of(&planned.pages);
        let lets_go = self.removals_of(&dropping.pages);
        CommitWithAppends { appends, epoch: fetched.epoch, commit, lets_go }
    }

    /// Pages as what goes ahead of a commit, each append within the limits of one.
    fn appends_of(&self, pages: &[(PageId, Bytes)]) -> Vec<Append> {
        let limits = self.configs().store().limits();
        let (bytes_max, rows_max) = (limits.commit_bytes / APPEND_PART, limits.commit_rows / APPEND_PART);
        let (mut appends, mut bytes): (Vec<Append>, usize) = (Vec::new(), 0);
        for (page, value) in pages {
            let row = (self.page_key(*page), value.clone());
            let more = row.0.len() + row.1.len();
            let fits = |append: &&mut Append| bytes + more <= bytes_max && append.rows.len() < rows_max;
            match appends.last_mut().filter(fits) {
                Some(append) => {
                    append.rows.push(row);
                    bytes += more;
                }
                None => {
                    appends.push(Append { partition: self.place().pages.clone(), rows: vec![row] });
                    bytes = more;
                }
            }
        }
        appends
    }

    /// Says of an anchor that there may be pages which no version has, before there are.
    async fn note_untidy(&self, fetched: &Fetched) -> Result<(), Error> {
        let place = self.place();
        let untidy = AnchorRow { is_untidy: true, has_pages: true, ..fetched.row.clone() };
        let commit = Commit {
            partition: place.partition.clone(),
            write_id: self.configs().shared.write_ids.next(),
            conditions: vec![Condition::Version(place.key.clone(), fetched.stored.stamp)],
            writes: vec![Write::PutStamped(place.key.clone(), untidy.to_bytes())],
            change: None,
            reclaims: false,
        };
        unless_lost(self.configs().store().commit_known(commit).await)?;
        self.configs().want();
        Ok(())
    }
}

impl Reading {
    pub(crate) fn pages(&self) -> &Pages {
        &self.pages
    }
}

/// What edits make of a tree; nothing if they change nothing.
fn plan(tree: &Tree<'_>, edits: &[Edit], attempt: Attempt) -> Result<Option<Planned>, ApplyError> {
    let Applied { root, pages, superseded, .. } = config::apply(tree, edits, attempt)?;
    if root == *tree.root() {
        return Ok(None);
    }
    let places = places_of(tree, edits)?;
    Ok(Some(Planned { root, pages, superseded, places, restored: None }))
}
