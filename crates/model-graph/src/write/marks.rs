//! Marks of removals: a row in the place of a vertex that was taken away, until its edges are gone (`removal.rs`).
//!
//! Where a store belongs to one process, writers look for marks only while there may be some: it saves them a look-up for each new vertex. And
//! readers see no edges of removals that a process that ended has cut short: those are found once, when the graph is opened.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use graph::{VertexId, keys};
use store::rows::Pages;
use store::{Direction, Stamp};
use tokio::sync::{OnceCell, RwLock, RwLockReadGuard};

use super::Writer;
use crate::Error;
use crate::reader::CutRemovals;

/// The most marks that are looked at together.
const MARKS_A_PAGE: usize = 1_000;

/// A vertex that was taken away, and the version of the mark in its place.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) id: VertexId,
    pub(super) stamp: Stamp,
}

/// Whether there may be marks of removals. Writers of vertices share it while they write; who removes the first one waits until
/// those who know nothing of marks are done.
#[derive(Debug)]
pub(super) struct Marks {
    expected: RwLock<bool>,
    /// Set once the first writer has looked for marks of a process that ended.
    searched: OnceCell<()>,
    /// Whether there are some of a process that ended, and which: readers ask.
    is_cut: AtomicBool,
    cut: parking_lot::RwLock<Option<Arc<CutRemovals>>>,
}

impl Marks {
    /// At first there may be some, of a process that ended.
    pub(super) fn new() -> Self {
        let (is_cut, cut) = (AtomicBool::new(false), parking_lot::RwLock::new(None));
        Self { expected: RwLock::new(true), searched: OnceCell::new(), is_cut, cut }
    }

    /// Readers see the edges of a vertex of this id again: those of before are gone.
    pub(super) fn finish(&self, id: &VertexId) {
        if self.is_cut.load(Ordering::Acquire) {
            let mut cut = self.cut.write();
            if let Some(left) = &mut *cut {
                Arc::make_mut(left).finish(id);
            }
            *cut = cut.take().filter(|left| !left.is_empty());
            self.is_cut.store(cut.is_some(), Ordering::Release);
        }
    }

    /// For who puts marks: from now on, and at least for as long as the guard lives, all writers look for them.
    pub(super) async fn expect(&self) -> RwLockReadGuard<'_, bool> {
        loop {
            let expected = self.expected.read().await;
            if *expected {
                return expected;
            }
            drop(expected);
            *self.expected.write().await = true;
        }
    }
}

impl Writer {
    /// For a writer of vertices: whether to look for marks, for as long as the guard lives. Cost: for the first writer of this process a scan of
    /// the marks; else nothing.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub(super) async fn share_marks(&self) -> Result<RwLockReadGuard<'_, bool>, Error> {
        if !self.store.may_lag() {
            self.marks.searched.get_or_try_init(async || self.forget_marks().await.map(drop)).await?;
        }
        Ok(self.marks.expected.read().await)
    }

    /// Has writers look for marks no more, unless somebody is removing vertices; `false` if there are marks.
    pub(super) async fn forget_marks(&self) -> Result<bool, Error> {
        // While a long removal shares it, writers would wait behind who waits for it: they go on looking for marks instead.
        let Ok(mut expected) = self.marks.expected.try_write() else { return Ok(true) };
        *expected = !self.marks_left().await?.is_empty();
        Ok(!*expected)
    }

    /// Finds removals that a process that ended has cut short, for [`Writer::cut_removals`].
    pub(crate) async fn look_for_cut_removals(&self) -> Result<(), Error> {
        if self.store.may_lag() {
            // Others remove vertices, too.
            return Ok(());
        }
        let mut ids = Vec::new();
        for partition in &self.partitions {
            let mut pages = Pages::new(&self.store, partition, keys::removals_range(), MARKS_A_PAGE);
            while let Some(page) = pages.next().await? {
                for (key, _) in page.rows() {
                    ids.push(keys::vertex_of_removal(key).ok_or(graph::Malformed)?);
                }
            }
        }
        *self.marks.cut.write() = (!ids.is_empty()).then(|| Arc::new(CutRemovals::new(ids)));
        self.marks.is_cut.store(self.marks.cut.read().is_some(), Ordering::Release);
        Ok(())
    }

    /// Those that are not finished, whose edges readers do not see. Cost: a load, most often.
    #[inline]
    pub(crate) fn cut_removals(&self) -> Option<Arc<CutRemovals>> {
        if self.marks.is_cut.load(Ordering::Acquire) { self.marks.cut.read().clone() } else { None }
    }

    /// Some of the marks that are there.
    pub(super) async fn marks_left(&self) -> Result<Vec<Mark>, Error> {
        for bucket in 0..self.buckets() {
            let (partition, range) = (self.partition(bucket), keys::removals_range());
            let page = self.store.scan(partition, &range, Direction::Forward, MARKS_A_PAGE).await?;
            let row_keys: Vec<Bytes> = page.rows().map(|(key, _)| Bytes::copy_from_slice(key)).collect();
            let rows = self.store.get_many_linear(partition, &row_keys).await?;
            let mut marks = Vec::new();
            for (key, row) in row_keys.iter().zip(rows) {
                let id = keys::vertex_of_removal(key).ok_or(graph::Malformed)?;
                marks.extend(row.map(|row| Mark { id, stamp: row.stamp }));
            }
            if !marks.is_empty() {
                return Ok(marks);
            }
        }
        Ok(Vec::new())
    }
}
