//! A graph is cleared by ending its life and beginning another in its place: one commit of the directory.

use store::ErrorKind;

use super::{Entry, Graphs, entry_name, not_found};
use crate::Error;
use crate::keys::MODEL;
use crate::records::BACKOFF;

impl Graphs {
    /// Empties a graph: elements, schema, tasks and variables are gone at once; rows go with the job that removes those of tenants.
    /// Cost: one small commit.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn clear(&self, space: &str, name: &str) -> Result<(), Error> {
        // It is made, if it is the one that is always there.
        self.get(space, name).await?;
        let entry = entry_name(space, name).map_err(|_| not_found(name))?;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let Entry { part, stored, .. } = self.entry(&entry, name).await?;
            match self.directory().renew_if(&part, MODEL, Some(&stored)).await {
                Ok(true) => {
                    self.forget_removed();
                    return Ok(());
                }
                Ok(false) => {}
                // Another has cleared or removed it.
                Err(error) if error.kind() == ErrorKind::TenantRemoved => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(attempts.exhausted("the graphs").into())
    }
}
