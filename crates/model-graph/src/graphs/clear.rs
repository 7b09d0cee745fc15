//! A graph is cleared by ending its life and beginning another. Between the two stands a note with what the new life is to know, so that
//! whoever asks for the graph after a crash finishes what was begun.

use bytes::Bytes;
use store::{Condition, TenantName, Write};

use super::info::{put_info, take_info};
use super::{Entry, Graphs, entry_name, not_found};
use crate::records::{BACKOFF, Pending, damaged};
use crate::{Error, keys};

impl Graphs {
    /// Empties a graph: elements, schema, tasks and variables are gone at once; rows go with the job that removes those of tenants.
    /// Cost: four small commits.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn clear(&self, space: &str, name: &str) -> Result<(), Error> {
        // It is made, if it is the one that is always there.
        self.get(space, name).await?;
        let entry = entry_name(space, name).map_err(|_| not_found(name))?;
        let Entry { info, .. } = self.entry(&entry, name).await?;
        let (key, note) = (keys::clearing(entry.as_str()), put_info(&info));
        self.note(Write::PutStamped(key, note), Vec::new()).await?;
        match self.remove_entry(&entry, name).await {
            // Another ended it: it may be that other's clearing.
            Ok(()) | Err(Error::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
        if self.finish_clearing_of(&entry).await? {
            return Ok(());
        }
        // Another has finished it, or has removed the graph.
        self.get(space, name).await.map(drop)
    }

    /// Begins the new life of a graph that is being cleared, if its old one has ended; whether it is being cleared.
    pub(super) async fn finish_clearing_of(&self, entry: &TenantName) -> Result<bool, Error> {
        let key = keys::clearing(entry.as_str());
        let Some(row) = self.records().get(&key).await? else { return Ok(false) };
        let name = entry.as_str().rsplit('-').next().expect("a split has a part");
        let info = take_info(name, &row.value).map_err(|_| damaged("a graph that is being cleared"))?;
        self.create_entry(entry, &info).await?;
        self.note(Write::Delete(key.clone()), vec![Condition::Version(key, row.stamp)]).await?;
        Ok(true)
    }

    /// Finishes what a crash left of all clearings whose graphs are gone.
    pub(super) async fn finish_clearing(&self) -> Result<(), Error> {
        let records = self.records();
        let records = &records;
        let all = |snapshot| async move { records.all(&snapshot, keys::all_clearing()).await };
        for (key, _) in records.at_one_moment(all).await? {
            let name = keys::name_of_clearing(&key).and_then(|name| TenantName::new(name).ok());
            let entry = name.ok_or_else(|| damaged("a graph that is being cleared"))?;
            if self.directory().get(&entry).await?.is_none() {
                self.finish_clearing_of(&entry).await?;
            }
        }
        Ok(())
    }

    /// Whether a graph is being cleared, so that its name is not free.
    pub(super) async fn is_clearing(&self, entry: &TenantName) -> Result<bool, Error> {
        Ok(self.records().get(&keys::clearing(entry.as_str())).await?.is_some())
    }

    /// A graph that is to be removed is not to come back.
    pub(super) async fn forget_clearing(&self, entry: &TenantName) -> Result<(), Error> {
        let key: Bytes = keys::clearing(entry.as_str());
        if self.records().get(&key).await?.is_none() {
            return Ok(());
        }
        self.note(Write::Delete(key), Vec::new()).await
    }

    /// Writes a note, or removes one; a condition that does not hold any more says that another has done so.
    async fn note(&self, write: Write, conditions: Vec<Condition>) -> Result<(), Error> {
        let records = self.records();
        let is_conditional = !conditions.is_empty();
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let pending = Pending { conditions: conditions.clone(), writes: vec![write.clone()] };
            if records.commit(pending).await?.is_some() || is_conditional {
                return Ok(());
            }
        }
        Err(attempts.exhausted("the graphs").into())
    }
}
