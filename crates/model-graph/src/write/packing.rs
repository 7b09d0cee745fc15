//! The commits of a request while they are filled.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use store::{Commit, CommitWithAppends, Condition};

use super::operation::{Group, Planned, Written};
use super::pointers::{add_append, add_removal};
use super::{Moment, Writer};

/// A commit, and the groups in it with what becomes of their operations.
pub(super) struct Packed<T> {
    pub(super) commit: CommitWithAppends,
    pub(super) groups: Vec<(Group, Vec<Written<T>>)>,
    bytes: usize,
    /// Its conditions on rows, by their keys: each is asked for once.
    asked: HashTable<usize>,
}

/// As few commits as the store takes well, each of one bucket.
pub(super) struct Packing<'a, T> {
    writer: &'a Writer,
    moment: &'a Moment,
    packed: Vec<Packed<T>>,
    /// The commit that is being filled, of each bucket.
    open: HashMap<u32, usize>,
    /// How many groups are still to come.
    to_come: usize,
    hasher: DefaultHashBuilder,
}

impl<'a, T> Packing<'a, T> {
    /// For so many groups.
    pub(super) fn new(writer: &'a Writer, moment: &'a Moment, groups: usize) -> Self {
        let hasher = DefaultHashBuilder::default();
        Self { writer, moment, packed: Vec::new(), open: HashMap::new(), to_come: groups, hasher }
    }

    /// Takes in what is planned of a group, which is emptied.
    pub(super) fn add(&mut self, group: Group, plan: &mut Planned<T>) {
        let limits = self.writer.store().limits();
        let (rows, bytes) = (plan.rows(), plan.bytes());
        let fits = |it: &Packed<T>| {
            let taken = it.commit.commit.writes.len() + it.commit.commit.conditions.len();
            taken + rows <= limits.good_rows && it.bytes + bytes <= limits.good_bytes
        };
        let at = self.open.get(&group.bucket).copied();
        let at = at.filter(|at| self.packed.get(*at).is_some_and(fits)).unwrap_or_else(|| {
            let of_all = rows.saturating_mul(self.to_come).min(limits.good_rows);
            self.packed.push(self.empty_commit(group.bucket, of_all));
            self.open.insert(group.bucket, self.packed.len() - 1);
            self.packed.len() - 1
        });
        self.to_come = self.to_come.saturating_sub(1);
        let into = self.packed.get_mut(at).expect("a commit that was made");
        into.bytes += bytes;
        for condition in plan.conditions.drain(..) {
            into.ask(condition, &self.hasher);
        }
        into.commit.commit.writes.append(&mut plan.writes);
        plan.appends.drain(..).for_each(|append| add_append(&mut into.commit.appends, append));
        plan.lets_go.drain(..).for_each(|removal| add_removal(&mut into.commit.lets_go, removal));
        into.groups.push((group, std::mem::take(&mut plan.written)));
    }

    /// The commits.
    pub(super) fn finish(self) -> Vec<Packed<T>> {
        self.packed
    }

    fn empty_commit(&self, bucket: u32, rows: usize) -> Packed<T> {
        let epoch = self.moment.epoch(bucket);
        let commit = Commit {
            partition: self.writer.partition(bucket).clone(),
            write_id: self.writer.write_ids.next(),
            conditions: vec![Condition::Fence(epoch)],
            writes: Vec::with_capacity(rows),
            change: None,
            reclaims: false,
        };
        let commit = CommitWithAppends { appends: Vec::new(), epoch, commit, lets_go: Vec::new() };
        let groups = Vec::with_capacity(self.to_come);
        Packed { commit, groups, bytes: 0, asked: HashTable::new() }
    }
}

impl<T> Packed<T> {
    /// Adds a condition, unless it is there.
    fn ask(&mut self, condition: Condition, hasher: &DefaultHashBuilder) {
        let conditions = &mut self.commit.commit.conditions;
        let hash = hasher.hash_one(condition.key());
        if self.asked.find(hash, |at| conditions.get(*at) == Some(&condition)).is_some() {
            return;
        }
        let hash_at = |at: &usize| hasher.hash_one(conditions.get(*at).and_then(Condition::key));
        self.asked.insert_unique(hash, conditions.len(), hash_at);
        conditions.push(condition);
    }
}
