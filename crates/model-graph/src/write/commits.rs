//! The operations of a request become commits: read, thought, committed together, and again where others came first.

use bytes::Bytes;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use smallvec::{SmallVec, smallvec};
use store::retry::unless_lost;
use store::{Commit, CommitWithAppends, Condition};

use super::operation::{CheckVertices, Group, Known, Operation, Planned, Work, Written};
use super::uniques::check_uniques;
use super::{BACKOFF, ELEMENTS, Moment, Moments, Writer};
use crate::Error;

/// A commit, and the groups in it with what becomes of their operations.
struct Packed<T> {
    commit: CommitWithAppends,
    groups: Vec<(Group, Vec<Written<T>>)>,
    bytes: usize,
}

impl Writer {
    /// Carries operations out; what becomes of each, in their order.
    pub(super) async fn write<O: Operation>(
        &self,
        operations: Vec<O>,
        (check, looks_for_marks): (CheckVertices, bool),
        moments: &impl Moments,
    ) -> Result<Vec<Written<O::Element>>, Error> {
        let mut groups = self.groups(&operations);
        let mut results: Vec<Option<Written<O::Element>>> = operations.iter().map(|_| None).collect();
        let mut attempts = BACKOFF.attempts();
        while !groups.is_empty() {
            if !attempts.next().await {
                return Err(attempts.exhausted(ELEMENTS).into());
            }
            let moment = moments.moment().await?;
            let ends = O::ends(self, &operations, check, (&moment, attempts.made() == 1)).await?;
            let operations = &operations[..];
            let work = Work::new((self, &moment), operations, &ends, (check, looks_for_marks));
            let planned = self.plan_all(&work, groups).await?;
            groups = self.commit_all(planned, &moment, &mut results).await?;
        }
        let given = |(operation, result): (O, Option<_>)| result.unwrap_or_else(|| operation.into_given());
        Ok(operations.into_iter().zip(results).map(given).collect())
    }

    /// Operations on the same element together, in the order of the first of each.
    fn groups<O: Operation>(&self, operations: &[O]) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::with_capacity(operations.len());
        let mut found: HashMap<Bytes, usize> = HashMap::with_capacity(operations.len());
        for (index, operation) in operations.iter().enumerate() {
            let (bucket, key) = operation.authority(self);
            match found.entry(key.clone()) {
                Entry::Occupied(group) => {
                    groups.get_mut(*group.get()).expect("a group that was found").members.push(index);
                }
                Entry::Vacant(vacant) => {
                    vacant.insert(groups.len());
                    groups.push(Group { bucket, key, members: smallvec![index] });
                }
            }
        }
        groups
    }

    async fn plan_all<O: Operation>(
        &self,
        work: &Work<'_, O>,
        groups: Vec<Group>,
    ) -> Result<Vec<(Group, Planned<O::Element>)>, Error> {
        let known = self.known(work, &groups).await?;
        let mut planned = Vec::with_capacity(groups.len());
        for (group, known) in groups.into_iter().zip(known) {
            let of = |index: &usize| work.operations.get(*index).expect("an index of the operations");
            let members: SmallVec<[&O; 1]> = group.members.iter().map(of).collect();
            let plan = O::plan(work, &members, &group.key, &known)?;
            planned.push((group, plan));
        }
        check_uniques(&planned)?;
        for (group, plan) in
            planned.iter_mut().filter(|(_, plan)| !plan.uniques.is_empty() || !plan.left_uniques.is_empty())
        {
            self.settle_uniques(group.bucket, plan).await?;
        }
        Ok(planned)
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
        planned: Vec<(Group, Planned<T>)>,
        moment: &Moment,
        results: &mut [Option<Written<T>>],
    ) -> Result<Vec<Group>, Error> {
        let (commits, members): (Vec<_>, Vec<_>) =
            self.pack(planned, moment).into_iter().map(|packed| (packed.commit, packed.groups)).unzip();
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
                for (index, written) in group.members.iter().zip(written) {
                    *results.get_mut(*index).expect("an index of the operations") = Some(written);
                }
            }
        }
        Ok(lost)
    }

    /// As few commits as the store takes well, each of one bucket.
    fn pack<T>(&self, planned: Vec<(Group, Planned<T>)>, moment: &Moment) -> Vec<Packed<T>> {
        let limits = self.store.limits();
        let mut packed: Vec<Packed<T>> = Vec::new();
        // The commit that is being filled, of each bucket.
        let mut open: HashMap<u32, usize> = HashMap::new();
        for (group, plan) in planned {
            let (rows, bytes) = (plan.rows(), plan.bytes());
            let fits = |it: &Packed<T>| {
                let taken = it.commit.commit.writes.len() + it.commit.commit.conditions.len();
                taken + rows <= limits.good_rows && it.bytes + bytes <= limits.good_bytes
            };
            let at = open.get(&group.bucket).copied().filter(|at| packed.get(*at).is_some_and(fits));
            let at = at.unwrap_or_else(|| {
                packed.push(self.empty_commit(group.bucket, moment));
                packed.len() - 1
            });
            open.insert(group.bucket, at);
            let into = packed.get_mut(at).expect("a commit that was made");
            into.bytes += bytes;
            into.commit.commit.conditions.extend(plan.conditions);
            into.commit.commit.writes.extend(plan.writes);
            into.commit.appends.extend(plan.appends);
            into.commit.lets_go.extend(plan.lets_go);
            into.groups.push((group, plan.written));
        }
        for it in &mut packed {
            it.commit.commit.conditions.sort_unstable_by(|one, two| one.key().cmp(&two.key()));
            it.commit.commit.conditions.dedup();
        }
        packed
    }

    fn empty_commit<T>(&self, bucket: u32, moment: &Moment) -> Packed<T> {
        let epoch = moment.epoch(bucket);
        let commit = Commit {
            partition: self.partition(bucket).clone(),
            write_id: self.write_ids.next(),
            conditions: vec![Condition::Fence(epoch)],
            writes: Vec::new(),
            change: None,
            reclaims: false,
        };
        let commit = CommitWithAppends { appends: Vec::new(), epoch, commit, lets_go: Vec::new() };
        Packed { commit, groups: Vec::new(), bytes: 0 }
    }
}
