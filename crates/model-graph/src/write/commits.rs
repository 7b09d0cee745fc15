//! The operations of a request become commits: read, thought, committed together, and again where others came first.

use std::hash::BuildHasher;

use bytes::Bytes;
use graph::{VertexId, VertexView, keys};
use hashbrown::{DefaultHashBuilder, HashTable};
use smallvec::{SmallVec, smallvec};
use store::CommitWithAppends;
use store::retry::unless_lost;

use super::operation::{CheckVertices, Group, Known, Operation, Planned, Work, Written};
use super::packing::{Packed, Packing};
use super::row_buffer::RowBuffer;
use super::uniques::{check_uniques, split_later};
use super::{BACKOFF, ELEMENTS, Moment, Moments, Writer};
use crate::Error;

/// What the key of an element is expected to take.
const KEY_BYTES: usize = 64;
/// After so many attempts it is looked for what makes them fail.
const PATIENCE: u32 = 4;

/// How an attempt ended.
enum Attempted {
    /// These groups lost to another writer; the others are done.
    Lost(Vec<Group>),
    /// Nothing was committed: vertices that nobody sees any more are to be removed first.
    InTheWay(Vec<Group>, Vec<VertexId>),
}

impl Writer {
    /// Carries operations out; what becomes of each, in their order.
    pub(super) async fn write<O: Operation>(
        &self,
        mut operations: Vec<O>,
        check: CheckVertices,
        moments: &impl Moments,
    ) -> Result<Vec<Written<O::Element>>, Error> {
        let mut groups = self.groups(&operations);
        // One for each operation, if any became something else than what it gives.
        let mut results: Vec<Option<Written<O::Element>>> = Vec::new();
        let life = if self.buckets() == 1 { 0 } else { self.next_life() };
        let mut attempts = BACKOFF.attempts();
        while !groups.is_empty() {
            if !attempts.next().await {
                return Err(attempts.exhausted(ELEMENTS).into());
            }
            let how = (check, attempts.made() == 1, life);
            match self.attempt(&operations, groups, how, moments, &mut results).await? {
                Attempted::InTheWay(left, vertices) => {
                    self.make_way(&vertices, moments).await?;
                    groups = left;
                }
                Attempted::Lost(lost) => {
                    groups = lost;
                    groups.iter_mut().for_each(|group| self.rename(group, &mut operations));
                    if O::MAKES_VERTICES && attempts.made() >= PATIENCE {
                        // A removal that a crash cut short, maybe.
                        let ids: Vec<VertexId> = groups.iter().filter_map(vertex_of).collect();
                        self.make_way(&ids, moments).await?;
                    }
                }
            }
        }
        if results.is_empty() {
            return Ok(operations.into_iter().map(O::into_given).collect());
        }
        let given = |(operation, result): (O, Option<_>)| result.unwrap_or_else(|| operation.into_given());
        Ok(operations.into_iter().zip(results).map(given).collect())
    }

    /// Reads, plans and commits, once.
    async fn attempt<O: Operation>(
        &self,
        operations: &[O],
        groups: Vec<Group>,
        (check, is_first, life): (CheckVertices, bool, u64),
        moments: &impl Moments,
        results: &mut Vec<Option<Written<O::Element>>>,
    ) -> Result<Attempted, Error> {
        let marks = if O::MAKES_VERTICES { Some(self.share_marks().await?) } else { None };
        let looks_for_marks = marks.as_ref().is_some_and(|marks| **marks || self.store.may_lag());
        let moment = moments.moment().await?;
        let ends = O::ends(self, operations, check, (&moment, is_first)).await?;
        let work = Work::new((self, &moment), (operations, life), &ends, (check, looks_for_marks));
        let known = self.known(&work, &groups).await?;
        if O::MAKES_VERTICES {
            let unseen = unseen_vertices(&moment, &groups, &known)?;
            if !unseen.is_empty() {
                return Ok(Attempted::InTheWay(groups, unseen));
            }
        }
        let mut packing = Packing::new(self, &moment, groups.len());
        let (planned, later) = self.plan_all(&work, groups, known, &mut packing).await?;
        let (planned, mut lost) = self.append_ahead(planned, &moment).await?;
        lost.extend(later);
        for (group, mut plan) in planned {
            packing.add(group, &mut plan);
        }
        lost.extend(self.commit_all(packing.finish(), (operations.len(), results)).await?);
        Ok(Attempted::Lost(lost))
    }

    /// Gives an element that the graph names itself another name, for another has the one that it had, maybe.
    fn rename<O: Operation>(&self, group: &mut Group, operations: &mut [O]) {
        let [member] = group.members[..] else { return };
        let operation = operations.get_mut(member).expect("an index of the operations");
        if operation.rename(self) {
            let mut key = Vec::with_capacity(KEY_BYTES);
            group.bucket = operation.put_authority(self, &mut key);
            group.key = key.into();
        }
    }

    /// Operations on the same element together, in the order of the first of each.
    fn groups<O: Operation>(&self, operations: &[O]) -> Vec<Group> {
        let hasher = DefaultHashBuilder::default();
        let mut groups: Vec<Group> = Vec::with_capacity(operations.len());
        let mut found: HashTable<usize> = HashTable::with_capacity(operations.len());
        // Their keys, one behind another, and where each ends.
        let mut bytes = Vec::with_capacity(operations.len() * KEY_BYTES);
        let mut ends: Vec<usize> = Vec::with_capacity(operations.len());
        let key_at = |bytes: &[u8], ends: &[usize], at: usize| {
            let begin = at.checked_sub(1).map_or(0, |before| *ends.get(before).expect("one for each group"));
            begin..ends.get(at).copied().unwrap_or(bytes.len())
        };
        for (index, operation) in operations.iter().enumerate() {
            let begin = bytes.len();
            let bucket = operation.put_authority(self, &mut bytes);
            let (before, key) = bytes.split_at(begin);
            let hash = hasher.hash_one(key);
            let is_same = |at: &usize| before.get(key_at(before, &ends, *at)) == Some(key);
            match found.find(hash, is_same) {
                Some(at) => {
                    groups.get_mut(*at).expect("a group that was found").members.push(index);
                    bytes.truncate(begin);
                }
                None => {
                    let hash_at = |at: &usize| {
                        hasher.hash_one(
                            before.get(key_at(before, &ends, *at)).expect("a key that was appended"),
                        )
                    };
                    found.insert_unique(hash, groups.len(), hash_at);
                    ends.push(bytes.len());
                    groups.push(Group { bucket, key: Bytes::new(), members: smallvec![index] });
                }
            }
        }
        let bytes = Bytes::from(bytes);
        for (at, group) in groups.iter_mut().enumerate() {
            group.key = bytes.slice(key_at(&bytes, &ends, at));
        }
        groups
    }

    /// Plans all groups: the usual ones go to their commits at once, the others are given back; and those whose turn is later.
    async fn plan_all<O: Operation>(
        &self,
        work: &Work<'_, O>,
        groups: Vec<Group>,
        known: Vec<Known>,
        packing: &mut Packing<'_, O::Element>,
    ) -> Result<(Vec<(Group, Planned<O::Element>)>, Vec<Group>), Error> {
        let mut planned = Vec::new();
        let mut plan = Planned { buffer: RowBuffer::for_elements(groups.len()), ..Planned::default() };
        for (group, known) in groups.into_iter().zip(known) {
            let of = |index: &usize| work.operations.get(*index).expect("an index of the operations");
            let members: SmallVec<[&O; 1]> = group.members.iter().map(of).collect();
            O::plan(work, &members, &group.key, &known, &mut plan)?;
            match plan.is_plain() {
                true => packing.add(group, &mut plan),
                false => planned.push((group, plan.take())),
            }
        }
        check_uniques(&planned)?;
        let later = split_later(&mut planned);
        for (group, plan) in
            planned.iter_mut().filter(|(_, plan)| !plan.uniques.is_empty() || !plan.left_uniques.is_empty())
        {
            self.settle_uniques(group.bucket, plan, work.moment).await?;
        }
        Ok((planned, later))
    }

    /// What is stored of each group, where that matters.
    async fn known<O: Operation>(&self, work: &Work<'_, O>, groups: &[Group]) -> Result<Vec<Known>, Error> {
        let mut known: Vec<Known> = groups.iter().map(|_| Known::Unread).collect();
        let is_read = |group: &Group| {
            let of = |index: &usize| work.operations.get(*index).expect("an index of the operations");
            group.members.len() > 1 || group.members.iter().map(of).any(|it| it.needs_known(work))
        };
        let mut read: Vec<_> = groups.iter().enumerate().filter(|(_, group)| is_read(group)).collect();
        read.sort_by_key(|(_, group)| group.bucket);
        for of_bucket in read.chunk_by(|one, two| one.1.bucket == two.1.bucket) {
            let row_keys: Vec<Bytes> = of_bucket.iter().map(|(_, group)| group.key.clone()).collect();
            let bucket = of_bucket.first().map_or(0, |(_, group)| group.bucket);
            let rows = self.store.get_many_linear(self.partition(bucket), &row_keys).await?;
            for ((index, _), row) in of_bucket.iter().zip(rows) {
                *known.get_mut(*index).expect("an index of the groups") = match row {
                    None => Known::Absent,
                    Some(row) => Known::Present(row.stamp, row.value),
                };
            }
        }
        Ok(known)
    }

    /// Commits what is planned, together; gives back the groups that lost to another writer.
    async fn commit_all<T>(
        &self,
        packed: Vec<Packed<T>>,
        (operations, results): (usize, &mut Vec<Option<Written<T>>>),
    ) -> Result<Vec<Group>, Error> {
        let (commits, members): (Vec<_>, Vec<_>) =
            packed.into_iter().map(|packed| (packed.commit, packed.groups)).unzip();
        let is_plain = |it: &CommitWithAppends| it.appends.is_empty() && it.lets_go.is_empty();
        let outcomes = if commits.iter().all(is_plain) {
            let commits = commits.into_iter().map(|it| it.commit).collect();
            self.store.commit_all_known(commits).await
        } else {
            self.store.append_then_commit_all(commits).await
        };
        let mut lost = Vec::new();
        for (outcome, groups) in outcomes.into_iter().zip(members) {
            let is_done = unless_lost(outcome)?.is_some();
            for (group, written) in groups {
                if !is_done {
                    lost.push(group);
                    continue;
                }
                if !written.is_empty() {
                    results.resize_with(operations, || None);
                }
                for (index, written) in group.members.iter().zip(written) {
                    *results.get_mut(*index).expect("an index of the operations") = Some(written);
                }
            }
        }
        Ok(lost)
    }
}

/// The vertex of a group of operations on one.
fn vertex_of(group: &Group) -> Option<VertexId> {
    keys::vertex_key_of_row(&group.key).and_then(VertexId::of_key)
}

/// Those of the vertices of groups that are stored, and that nobody sees any more: their edges are not those of a vertex that takes their place.
fn unseen_vertices(moment: &Moment, groups: &[Group], known: &[Known]) -> Result<Vec<VertexId>, Error> {
    let mut unseen = Vec::new();
    for (group, known) in groups.iter().zip(known) {
        let Known::Present(_, stored) = known else { continue };
        let view = VertexView::parse(stored)?;
        if !moment.sees_vertex(view.label, view.expires) {
            unseen.push(vertex_of(group).ok_or(graph::Malformed)?);
        }
    }
    Ok(unseen)
}
