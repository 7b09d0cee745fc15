//! The commits of a request while they are filled.

use hashbrown::HashMap;
use store::{Commit, CommitWithAppends, Condition};

use super::operation::{Group, Planned, Written};
use super::pointers::{add_append, add_removal};
use super::{Moment, Writer};

/// A commit, and the groups in it with what becomes of their operations.
pub(super) struct Packed<T> {
    pub(super) commit: CommitWithAppends,
    pub(super) groups: Vec<(Group, Vec<Written<T>>)>,
    bytes: usize,
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
}

impl<'a, T> Packing<'a, T> {
    /// For so many groups.
    pub(super) fn new(writer: &'a Writer, moment: &'a Moment, groups: usize) -> Self {
        Self { writer, moment, packed: Vec::new(), open: HashMap::new(), to_come: groups }
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
        into.commit.commit.conditions.append(&mut plan.conditions);
        into.commit.commit.writes.append(&mut plan.writes);
        plan.appends.drain(..).for_each(|append| add_append(&mut into.commit.appends, append));
        plan.lets_go.drain(..).for_each(|removal| add_removal(&mut into.commit.lets_go, removal));
        into.groups.push((group, std::mem::take(&mut plan.written)));
    }

    /// The commits; each asks for a row once.
    pub(super) fn finish(mut self) -> Vec<Packed<T>> {
        for it in &mut self.packed {
            let conditions = &mut it.commit.commit.conditions;
            if conditions.len() > 1 {
                conditions.sort_unstable_by(|one, two| one.key().cmp(&two.key()));
                conditions.dedup();
            }
        }
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
        Packed { commit, groups: Vec::with_capacity(self.to_come), bytes: 0 }
    }
}
