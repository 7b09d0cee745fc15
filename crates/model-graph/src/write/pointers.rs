//! Edges whose ends lie in different buckets: the rows at their targets that point at them, and how those come.
//!
//! A pointer is appended before the commit of its edge, and counts only while the edge is there and is of the life that it names. The commit reaches the
//! bucket of the source alone; that the target is there is looked up between the two. So of a writer of a checked edge and of who removes its target, one meets
//! the other: either the pointer is appended before the removal looks for pointers (`pointed.rs`), or the writer looks for the target after it was taken away.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use futures_util::future::try_join_all;
use graph::{Edge, EdgeId, LabelId, VertexId, keys};
use store::{Append, ErrorKind, Removal};

use super::operation::{CheckVertices, EdgeOperation, Group, Labels, Planned, Work};
use super::{Moment, Writer};
use crate::Error;
use crate::hubs::{buckets_of_pointer, life_of_width};

/// Plans that the pointer of a new edge goes ahead of it; gives back the life that it names.
pub(super) fn plan_pointer(work: &Work<'_, EdgeOperation>, edge: &Edge, planned: &mut Planned<Edge>) -> u64 {
    let (writer, EdgeId { source, target, .. }) = (work.writer, &edge.id);
    let width = work.moment.width_of(target);
    let life = life_of_width(work.life, width);
    let ends = (writer.bucket_of(target), writer.bucket_of(source));
    let bucket = keys::bucket_of_pointer(ends, width, writer.buckets());
    let partition = keys::pointers_partition(&writer.graph, bucket);
    planned.appends.push(Append { partition, rows: vec![(keys::pointer(&edge.id, life), Bytes::new())] });
    if work.check == CheckVertices::Yes {
        let label = *work.ends.read.get(target).expect("a checked edge has labels of its ends");
        planned.far_ends.push((target.clone(), label));
    }
    life
}

/// Adds rows to those that go to the same partition.
pub(super) fn add_append(appends: &mut Vec<Append>, append: Append) {
    match appends.iter_mut().find(|it| it.partition == append.partition) {
        Some(it) => it.rows.extend(append.rows),
        None => appends.push(append),
    }
}

/// Adds keys to those that go from the same partition.
pub(super) fn add_removal(removals: &mut Vec<Removal>, removal: Removal) {
    match removals.iter_mut().find(|it| it.partition == removal.partition) {
        Some(it) => it.keys.extend(removal.keys),
        None => removals.push(removal),
    }
}

impl Writer {
    /// Whether the ends of an edge are in different buckets.
    pub(super) fn spans_buckets(&self, id: &EdgeId) -> bool {
        self.buckets() > 1 && self.bucket_of(&id.source) != self.bucket_of(&id.target)
    }

    /// All buckets in which the pointer of an edge may lie.
    pub(super) fn buckets_of_pointer(&self, id: &EdgeId, moment: &Moment) -> Vec<u32> {
        let ends = (self.bucket_of(&id.target), self.bucket_of(&id.source));
        buckets_of_pointer(ends, moment.width_of(&id.target), self.buckets())
    }

    /// What no edge was called before.
    pub(super) fn next_life(&self) -> u64 {
        let id = self.write_ids.next().0;
        u64::try_from((id ^ (id >> 64)) & u128::from(u64::MAX)).expect("64 bits")
    }

    /// Appends the pointers of edges whose ends in other buckets must be there, and then looks for those ends; gives back what may be committed, and the groups that must
    /// be thought again. Cost: none where no edge is such; else an append for each pair of buckets, at once, and a look-up for each end.
    pub(super) async fn append_ahead<T>(
        &self,
        mut planned: Vec<(Group, Planned<T>)>,
        moment: &Moment,
    ) -> Result<(Vec<(Group, Planned<T>)>, Vec<Group>), Error> {
        if self.buckets() == 1 || planned.iter().all(|(_, plan)| plan.far_ends.is_empty()) {
            return Ok((planned, Vec::new()));
        }
        let (mut appends, mut ids) = (BTreeMap::<u32, Vec<Append>>::new(), Vec::new());
        for (group, plan) in planned.iter_mut().filter(|(_, plan)| !plan.far_ends.is_empty()) {
            let of_bucket = appends.entry(group.bucket).or_default();
            plan.appends.drain(..).for_each(|append| add_append(of_bucket, append));
            ids.extend(plan.far_ends.iter().map(|(id, _)| id.clone()));
        }
        let fenced = self.append_all(appends, moment).await?;
        ids.sort_unstable();
        ids.dedup();
        let mut found = Labels::default();
        self.add_labels_of(&ids.iter().collect::<Vec<_>>(), moment, &mut found).await?;
        let is_there = |(id, label): &(VertexId, LabelId)| found.get(id) == Some(label);
        let (done, lost): (Vec<_>, Vec<_>) = planned.into_iter().partition(|(group, plan)| {
            plan.far_ends.is_empty()
                || (!fenced.contains(&group.bucket) && plan.far_ends.iter().all(is_there))
        });
        Ok((done, lost.into_iter().map(|(group, _)| group).collect()))
    }

    /// Appends rows, by the bucket of the edges that they point at; gives back the buckets whose epoch is over.
    async fn append_all(
        &self,
        appends: BTreeMap<u32, Vec<Append>>,
        moment: &Moment,
    ) -> Result<BTreeSet<u32>, Error> {
        let rows_max = self.store.limits().good_rows;
        let mut pieces = Vec::new();
        for (bucket, append) in
            appends.into_iter().flat_map(|(of, all)| all.into_iter().map(move |it| (of, it)))
        {
            for rows in append.rows.chunks(rows_max) {
                pieces.push((bucket, Append { partition: append.partition.clone(), rows: rows.to_vec() }));
            }
        }
        let one = async |(bucket, append)| match self.store.append(append, moment.epoch(bucket)).await {
            Ok(()) => Ok(None),
            Err(error) if error.kind() == ErrorKind::Fenced => Ok(Some(bucket)),
            Err(error) => Err(Error::from(error)),
        };
        Ok(try_join_all(pieces.into_iter().map(one)).await?.into_iter().flatten().collect())
    }
}
