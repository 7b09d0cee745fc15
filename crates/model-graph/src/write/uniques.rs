//! UNIQUE indexes: no two elements have the same values.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use graph::{EdgeKey, EdgeView, VertexView};
use store::{Condition, Write};

use super::operation::{Group, Planned};
use super::{Moment, Writer};
use crate::Error;
use crate::records::unchanged;

impl Writer {
    /// Adds the rows of UNIQUE indexes to a plan, if they are free: not there, or of this element, or of one that is gone or has expired. Those that it leaves go, if they
    /// are of this element: while an index is filled, they may be another's.
    ///
    /// # Errors
    ///
    /// [`Error::NotUnique`] if another element has the values.
    pub(super) async fn settle_uniques<T>(
        &self,
        bucket: u32,
        planned: &mut Planned<T>,
        moment: &Moment,
    ) -> Result<(), Error> {
        if planned.uniques.is_empty() && planned.left_uniques.is_empty() {
            return Ok(());
        }
        let partition = self.partition(bucket);
        let left = std::mem::take(&mut planned.left_uniques);
        let row_keys: Vec<Bytes> = left.iter().map(|(key, _)| key.clone()).collect();
        let rows = self.store.get_many_linear(partition, &row_keys).await?;
        for ((key, element), row) in left.into_iter().zip(rows) {
            // Who fills an index may be about to enter the element as it was.
            planned.conditions.push(unchanged(&key, row.as_ref()));
            if row.is_some_and(|row| row.value == element) {
                planned.writes.push(Write::Delete(key));
            }
        }
        let row_keys: Vec<Bytes> = planned.uniques.iter().map(|(key, _)| key.clone()).collect();
        let rows = self.store.get_many_linear(partition, &row_keys).await?;
        for ((key, element), row) in std::mem::take(&mut planned.uniques).into_iter().zip(rows) {
            let condition = match row {
                None => Condition::Absent(key.clone()),
                Some(row) if row.value == element => Condition::Version(key.clone(), row.stamp),
                Some(row) => {
                    let owner = self.store.get_linear(partition, &row.value).await?;
                    if let Some(owner) = &owner
                        && is_seen(moment, &row.value, &owner.value)?
                    {
                        return Err(Error::NotUnique);
                    }
                    // Of an element that is gone or that nobody sees any more, and stays so while it is replaced.
                    planned.conditions.push(unchanged(&row.value, owner.as_ref()));
                    Condition::Version(key.clone(), row.stamp)
                }
            };
            planned.conditions.push(condition);
            planned.writes.push(Write::PutStamped(key, element));
        }
        Ok(())
    }
}

/// Whether an element of this row is one still.
fn is_seen(moment: &Moment, row: &[u8], stored: &[u8]) -> Result<bool, Error> {
    if let Some(key) = EdgeKey::parse(row) {
        let expires = EdgeView::parse(stored)?.expires;
        return Ok(moment.goes_on(expires) && moment.schema.edge_label(key.sub_label).is_some());
    }
    let view = VertexView::parse(stored)?;
    Ok(moment.sees_vertex(view.label, view.expires))
}

/// Refuses values of a UNIQUE index that two elements of one request have.
///
/// # Errors
///
/// [`Error::NotUnique`].
pub(super) fn check_uniques<T>(planned: &[(Group, Planned<T>)]) -> Result<(), Error> {
    let mut taken: HashMap<(u32, &Bytes), &Bytes> = HashMap::new();
    for (group, plan) in planned {
        for (key, element) in &plan.uniques {
            if taken.insert((group.bucket, key), element).is_some_and(|other| other != element) {
                return Err(Error::NotUnique);
            }
        }
    }
    Ok(())
}

/// Splits off the groups that take a value which another leaves in the same request, as one that has expired does: a commit writes the row of
/// a value once, so they come in the next one.
pub(super) fn split_later<T>(planned: &mut Vec<(Group, Planned<T>)>) -> Vec<Group> {
    if planned.iter().all(|(_, plan)| plan.left_uniques.is_empty()) {
        return Vec::new();
    }
    let mut written = HashSet::new();
    let (mut now, mut later) = (Vec::with_capacity(planned.len()), Vec::new());
    for (group, plan) in planned.drain(..) {
        let rows = plan.uniques.iter().chain(&plan.left_uniques).map(|(key, _)| (group.bucket, key.clone()));
        let rows: Vec<(u32, Bytes)> = rows.collect();
        if rows.iter().any(|row| written.contains(row)) {
            later.push(group);
            continue;
        }
        written.extend(rows);
        now.push((group, plan));
    }
    *planned = now;
    later
}

#[cfg(test)]
mod tests {
    use graph::Vertex;
    use smallvec::smallvec;

    use super::*;

    #[test]
    fn who_takes_what_another_leaves_comes_later() {
        let row = |name: &'static str| (Bytes::from_static(name.as_bytes()), Bytes::new());
        let of = |key: &'static str, takes: &[&'static str], leaves: &[&'static str]| {
            let plan = Planned::<Vertex> {
                uniques: takes.iter().copied().map(row).collect(),
                left_uniques: leaves.iter().copied().map(row).collect(),
                ..Planned::default()
            };
            (Group { bucket: 0, key: key.into(), members: smallvec![0] }, plan)
        };
        let named = |groups: Vec<Group>| groups.into_iter().map(|group| group.key).collect::<Vec<_>>();
        let mut exchange = vec![of("a", &["y"], &["x"]), of("b", &["x"], &["y"]), of("c", &["z"], &[])];
        assert_eq!(named(split_later(&mut exchange)), ["b"]);
        assert_eq!(named(exchange.into_iter().map(|(group, _)| group).collect()), ["a", "c"]);
        let mut apart = vec![of("a", &["x"], &[]), of("b", &["y"], &[])];
        assert_eq!((split_later(&mut apart).len(), apart.len()), (0, 2));
    }
}
