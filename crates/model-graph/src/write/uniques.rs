//! UNIQUE indexes: no two elements have the same values.

use std::collections::HashMap;

use bytes::Bytes;
use store::{Condition, Write};

use super::Writer;
use super::operation::{Group, Planned};
use crate::Error;

impl Writer {
    /// Adds the rows of UNIQUE indexes to a plan, if they are free: not there, or of this element, or of one that is gone. Those that it leaves go, if they
    /// are of this element: while an index is filled, they may be another's.
    ///
    /// # Errors
    ///
    /// [`Error::NotUnique`] if another element has the values.
    pub(super) async fn settle_uniques<T>(&self, bucket: u32, planned: &mut Planned<T>) -> Result<(), Error> {
        if planned.uniques.is_empty() && planned.left_uniques.is_empty() {
            return Ok(());
        }
        let partition = self.partition(bucket);
        let left = std::mem::take(&mut planned.left_uniques);
        let row_keys: Vec<Bytes> = left.iter().map(|(key, _)| key.clone()).collect();
        let rows = self.store.get_many_linear(partition, &row_keys).await?;
        for ((key, element), row) in left.into_iter().zip(rows) {
            if let Some(row) = row.filter(|row| row.value == element) {
                planned.conditions.push(Condition::Version(key.clone(), row.stamp));
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
                    if self.store.get_linear(partition, &row.value).await?.is_some() {
                        return Err(Error::NotUnique);
                    }
                    // Of an element that is gone, and stays so while it is replaced.
                    planned.conditions.push(Condition::Absent(row.value));
                    Condition::Version(key.clone(), row.stamp)
                }
            };
            planned.conditions.push(condition);
            planned.writes.push(Write::PutStamped(key, element));
        }
        Ok(())
    }
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
