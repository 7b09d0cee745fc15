//! Removal of vertices, with all their edges.
//!
//! One commit takes the vertex away and leaves a mark in its place; then its edges go, some at a time, and then the mark. While the mark
//! is there no vertex of this id is created; and what goes goes only while it is there. So what is removed is never that of a later vertex, whoever finishes
//! a removal, and how many do. A mark that a crash left is found by [`Writer::finish_removals`].

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use graph::schema::EdgeLabel;
use graph::{Edge, EdgeDirection, EdgeId, EdgeKey, EdgeView, Vertex, VertexId, keys};
use store::retry::unless_lost;
use store::{Commit, CommitWithAppends, Condition, Direction, Page, Row, Stamp, Write};

use super::edges::plan_removal;
use super::marks::Mark;
use super::operation::Planned;
use super::rows::{Indexed, label_row, plan_finding_rows};
use super::{BACKOFF, ELEMENTS, Moment, Moments, Writer};
use crate::Error;
use crate::records::unchanged;

/// The most edges that go with one commit.
pub(super) const EDGES_A_COMMIT: usize = 1_000;

/// Which vertices are removed, of those named.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Which {
    All,
    /// Those that nobody sees any more.
    Unseen,
}

/// A vertex that is to be removed, as it is stored.
struct VertexFound {
    /// Among those that were named.
    index: usize,
    bucket: u32,
    key: Bytes,
    row: Row,
}

/// What became of a vertex.
#[derive(Clone, Debug)]
struct Removed {
    /// That of the mark.
    stamp: Stamp,
    /// Whether anybody could still see it.
    was_seen: bool,
}

impl Writer {
    /// Removes vertices with all their edges; tells of each whether it was there.
    ///
    /// Cost: two commits, shared by all; for a vertex of more than some hundred edges one more for each thousand.
    ///
    /// # Errors
    ///
    /// [`Error::Contention`]; if the store refuses. A removal that has begun is finished later.
    pub async fn remove_vertices(
        &self,
        ids: &[VertexId],
        moments: &impl Moments,
    ) -> Result<Vec<bool>, Error> {
        self.remove(ids, Which::All, moments).await
    }

    /// The same of those that nobody sees any more: they have expired, or their label is gone.
    ///
    /// # Errors
    ///
    /// As [`Writer::remove_vertices`].
    pub(crate) async fn remove_unseen_vertices(
        &self,
        ids: &[VertexId],
        moments: &impl Moments,
    ) -> Result<(), Error> {
        self.remove(ids, Which::Unseen, moments).await.map(drop)
    }

    async fn remove(
        &self,
        ids: &[VertexId],
        which: Which,
        moments: &impl Moments,
    ) -> Result<Vec<bool>, Error> {
        let _expected = self.marks.expect().await;
        let mut removed = vec![None; ids.len()];
        let mut left: Vec<usize> = (0..ids.len()).collect();
        let mut attempts = BACKOFF.attempts();
        while !left.is_empty() {
            if !attempts.next().await {
                return Err(attempts.exhausted(ELEMENTS).into());
            }
            let moment = moments.moment().await?;
            left = self.hide_all(ids, (left, which), &mut removed, &moment).await?;
        }
        let marks = ids.iter().zip(&removed);
        let marks: Vec<Mark> = marks
            .filter_map(|(id, removed)| Some(Mark { id: id.clone(), stamp: removed.as_ref()?.stamp }))
            .collect();
        self.finish_all(&marks, moments).await?;
        Ok(removed.into_iter().map(|removed| removed.is_some_and(|removed| removed.was_seen)).collect())
    }

    /// Sees to it that vertices of these ids can be put: finishes removals that are under way, and removes those that nobody sees any more.
    pub(super) async fn make_way(&self, ids: &[VertexId], moments: &impl Moments) -> Result<(), Error> {
        let mut marks = Vec::new();
        for id in ids {
            let row = self.store.get_linear(self.partition(self.bucket_of(id)), &keys::removal(id)).await?;
            marks.extend(row.map(|row| Mark { id: id.clone(), stamp: row.stamp }));
        }
        self.finish_all(&marks, moments).await?;
        self.remove_unseen_vertices(ids, moments).await
    }

    /// Finishes removals that were begun and not finished; tells how many there were. For a job.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn finish_removals(&self, moments: &impl Moments) -> Result<usize, Error> {
        let mut found = 0;
        loop {
            let marks = self.marks_left().await?;
            if marks.is_empty() && self.forget_marks().await? {
                return Ok(found);
            }
            found += marks.len();
            self.finish_all(&marks, moments).await?;
        }
    }

    /// Those of the vertices that are there. Cost: a read of each bucket.
    async fn find_vertices(&self, ids: &[VertexId], wanted: Vec<usize>) -> Result<Vec<VertexFound>, Error> {
        let mut by_bucket: BTreeMap<u32, (Vec<usize>, Vec<Bytes>)> = BTreeMap::new();
        for index in wanted {
            let id = ids.get(index).expect("an index of the ids");
            let (indexes, row_keys) = by_bucket.entry(self.bucket_of(id)).or_default();
            indexes.push(index);
            row_keys.push(keys::vertex(id));
        }
        let mut found = Vec::new();
        for (bucket, (indexes, row_keys)) in by_bucket {
            let rows = self.store.get_many_linear(self.partition(bucket), &row_keys).await?;
            let members = indexes.into_iter().zip(row_keys).zip(rows);
            found.extend(
                members.filter_map(|((index, key), row)| Some(VertexFound { index, bucket, key, row: row? })),
            );
        }
        Ok(found)
    }

    /// Takes vertices away and marks them; gives back those that another writer changed meanwhile.
    async fn hide_all(
        &self,
        ids: &[VertexId],
        (wanted, which): (Vec<usize>, Which),
        removed: &mut [Option<Removed>],
        moment: &Moment,
    ) -> Result<Vec<usize>, Error> {
        let (mut commits, mut members) = (Vec::new(), Vec::new());
        for VertexFound { index, bucket, key, row } in self.find_vertices(ids, wanted).await? {
            let id = ids.get(index).expect("an index of the ids");
            let vertex = Vertex::of_stored(id.clone(), &row.value)?;
            if which == Which::Unseen && moment.sees_vertex(vertex.label, vertex.expires) {
                continue;
            }
            let mut planned = Planned::<Vertex>::default();
            planned.conditions.push(Condition::Version(key.clone(), row.stamp));
            planned.writes.extend(label_row(&moment.schema, vertex.label, &vertex).map(Write::Delete));
            let old = Indexed::of_vertex(&moment.schema, &vertex);
            plan_finding_rows(&mut planned, &key, Some(old), None)?;
            self.settle_uniques(bucket, &mut planned, moment).await?;
            planned.writes.push(Write::Delete(key));
            planned.writes.push(Write::PutStamped(keys::removal(id), Bytes::new()));
            commits.push(self.commit_of(bucket, planned, moment).commit);
            members.push((index, moment.sees_vertex(vertex.label, vertex.expires)));
        }
        let outcomes = self.store.commit_all_known(commits).await;
        let mut lost = Vec::new();
        for (outcome, (index, was_seen)) in outcomes.into_iter().zip(members) {
            match unless_lost(outcome)? {
                Some(stamp) => {
                    *removed.get_mut(index).expect("an index of the ids") = Some(Removed { stamp, was_seen });
                }
                None => lost.push(index),
            }
        }
        Ok(lost)
    }

    /// Removes the edges of vertices that were taken away, and then their marks.
    async fn finish_all(&self, marks: &[Mark], moments: &impl Moments) -> Result<(), Error> {
        let (mut left, mut failed) = (Vec::with_capacity(marks.len()), None);
        for mark in marks {
            match self.sweep(mark, moments).await {
                Ok(()) => {
                    self.marks.finish(&mark.id);
                    left.push(mark);
                }
                // The others do not wait for it.
                Err(error) => failed = Some(error),
            }
        }
        let mut attempts = BACKOFF.attempts();
        while !left.is_empty() {
            if !attempts.next().await {
                return Err(attempts.exhausted(ELEMENTS).into());
            }
            let moment = moments.moment().await?;
            let commit = |mark: &&Mark| {
                let mut planned = Planned::<Vertex>::default();
                planned.writes.push(Write::Delete(keys::removal(&mark.id)));
                self.sweeping_commit(planned, mark, &moment).commit
            };
            let outcomes = self.store.commit_all_known(left.iter().map(commit).collect()).await;
            let mut lost = Vec::new();
            for (mark, outcome) in left.into_iter().zip(outcomes) {
                if unless_lost(outcome)?.is_none() && self.is_marked(mark).await? {
                    lost.push(mark);
                }
            }
            left = lost;
        }
        failed.map_or(Ok(()), Err)
    }

    /// Removes the edges of a vertex that was taken away.
    async fn sweep(&self, mark: &Mark, moments: &impl Moments) -> Result<(), Error> {
        for direction in [EdgeDirection::Out, EdgeDirection::In] {
            self.sweep_edges(mark, direction, moments).await?;
        }
        if self.buckets() > 1 {
            self.sweep_pointed(mark, moments).await?;
        }
        Ok(())
    }

    /// Whether the mark is there still: nobody else has finished the removal.
    pub(super) async fn is_marked(&self, mark: &Mark) -> Result<bool, Error> {
        let partition = self.partition(self.bucket_of(&mark.id));
        let row = self.store.get_linear(partition, &keys::removal(&mark.id)).await?;
        Ok(row.is_some_and(|row| row.stamp == mark.stamp))
    }

    /// Removes the edges of a vertex whose rows are in its own bucket.
    async fn sweep_edges(
        &self,
        mark: &Mark,
        direction: EdgeDirection,
        moments: &impl Moments,
    ) -> Result<(), Error> {
        let (bucket, vertex_key) = (self.bucket_of(&mark.id), mark.id.to_key());
        let range = keys::edges_range(&vertex_key, direction, None);
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            // An index that was made meanwhile has rows of the edges, too.
            let moment = moments.moment().await?;
            let partition = self.partition(bucket);
            let page = self.store.scan(partition, &range, Direction::Forward, EDGES_A_COMMIT).await?;
            if page.is_empty() {
                return Ok(());
            }
            let mut planned = self.plan_sweep(bucket, &page, &moment).await?;
            self.settle_uniques(bucket, &mut planned, &moment).await?;
            let commit = self.sweeping_commit(planned, mark, &moment);
            match unless_lost(self.store.append_then_commit(commit).await)? {
                Some(_) => attempts = BACKOFF.attempts(),
                None if self.is_marked(mark).await? => {}
                None => return Ok(()),
            }
        }
        Err(attempts.exhausted(ELEMENTS).into())
    }

    /// Plans that edges go: as many of a page as one commit takes well, at least one. Those whose properties are found by rows are read, and go as they
    /// are then: another may be changing them.
    async fn plan_sweep(&self, bucket: u32, page: &Page, moment: &Moment) -> Result<Planned<Edge>, Error> {
        let (limits, mut planned) = (self.store.limits(), Planned::<Edge>::default());
        let authorities = authorities_of(page, moment)?;
        let mut rows = self.store.get_many_linear(self.partition(bucket), &authorities).await?.into_iter();
        let mut authorities = authorities.into_iter().peekable();
        for (key, value) in page.rows() {
            if planned.rows() >= limits.good_rows || planned.bytes() >= limits.good_bytes {
                break;
            }
            let id = edge_of(key)?;
            let Some(authority) = authorities.next_if(|it| is_authority_of(it, &id)) else {
                self.plan_edge_removal(id, value, moment, &mut planned)?;
                continue;
            };
            let row = rows.next().expect("one for each that was asked for");
            planned.conditions.push(unchanged(&authority, row.as_ref()));
            match row {
                Some(row) => self.plan_edge_removal(id, &row.value, moment, &mut planned)?,
                // Another has removed it since the page was read.
                None => planned.writes.push(Write::Delete(Bytes::copy_from_slice(key))),
            }
        }
        Ok(planned)
    }

    /// Plans that an edge goes, as it is stored.
    pub(super) fn plan_edge_removal(
        &self,
        id: EdgeId,
        value: &[u8],
        moment: &Moment,
        planned: &mut Planned<Edge>,
    ) -> Result<(), Error> {
        let life = EdgeView::parse(value)?.life;
        let edge = Edge::of_stored(id, value)?;
        let key = keys::edge(&edge.id, EdgeDirection::Out);
        plan_finding_rows(planned, &key, Some(Indexed::of_edge(&moment.schema, &edge)), None)?;
        plan_removal((self, moment), &key, &edge.id, life, planned);
        Ok(())
    }

    /// A commit that takes away what nobody sees any more, as long as the mark is there.
    fn sweeping_commit<T>(&self, mut planned: Planned<T>, mark: &Mark, moment: &Moment) -> CommitWithAppends {
        planned.conditions.push(Condition::Version(keys::removal(&mark.id), mark.stamp));
        let mut commit = self.commit_of(self.bucket_of(&mark.id), planned, moment);
        commit.commit.reclaims = true;
        commit
    }

    /// A commit of one plan, in the epoch of a moment.
    pub(super) fn commit_of<T>(
        &self,
        bucket: u32,
        mut planned: Planned<T>,
        moment: &Moment,
    ) -> CommitWithAppends {
        let epoch = moment.epoch(bucket);
        planned.conditions.push(Condition::Fence(epoch));
        let commit = Commit {
            partition: self.partition(bucket).clone(),
            write_id: self.write_ids.next(),
            conditions: planned.conditions,
            writes: planned.writes,
            change: None,
            reclaims: false,
        };
        CommitWithAppends { appends: planned.appends, epoch, commit, lets_go: planned.lets_go }
    }
}

/// The edge of a row at one of its ends.
fn edge_of(row: &[u8]) -> Result<EdgeId, Error> {
    Ok(EdgeKey::parse(row).and_then(|key| key.to_id()).ok_or(graph::Malformed)?)
}

fn is_authority_of(authority: &Bytes, id: &EdgeId) -> bool {
    *authority == keys::edge(id, EdgeDirection::Out)
}

/// The rows at their sources of those edges of a page whose properties, or expiry, are found by other rows.
fn authorities_of(page: &Page, moment: &Moment) -> Result<Vec<Bytes>, Error> {
    let mut found = Vec::new();
    for (key, _) in page.rows() {
        let label = EdgeKey::parse(key).ok_or(graph::Malformed)?.sub_label;
        // What is of a label that was removed is found by nothing that stays.
        let is_found = |label: &Arc<EdgeLabel>| label.ttl_ms > 0 || !label.indexes.is_empty();
        if moment.schema.edge_label(label).is_some_and(is_found) {
            found.push(keys::edge(&edge_of(key)?, EdgeDirection::Out));
        }
    }
    Ok(found)
}
