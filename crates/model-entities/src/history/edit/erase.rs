//! Histories removed: whole, or of one attribute.

use entity::history::header::Header;
use entity::{Error, Instances, TermId, keys};
use futures_util::future::join_all;
use store::{Condition, Write};
use strands::Strand;

use crate::TenantEntities;
use crate::histories::damaged_header;
use crate::history::fold::{BACKOFF, FencedHeads};

/// Strands that are erased side by side.
const ERASED_AT_ONCE: usize = 32;

impl TenantEntities {
    /// Removes the whole history of an entity (5.6.16); the entity itself stays, if it is there. It is no atom: readers meanwhile, and
    /// those after an error, may find a part of it; what makes it known goes last, so that it can be called again.
    ///
    /// Cost: a commit for each attribute and dataset, [`ERASED_AT_ONCE`] of them side by side.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchEntity`] if there is no history; if the store refuses.
    pub async fn delete_history(&self, id: &str) -> Result<(), Error> {
        let _lock = self.lock_history(id).await;
        let header = self.state().header_row(id).await?;
        if header.is_none() && !self.has_history(id).await? {
            return Err(Error::NoSuchEntity(id.into()));
        }
        // Head rows first: a strand's mark, which says what of them to pass over, goes with the strand.
        while let Some(FencedHeads { state, watch, heads, newest }) = self.fenced_heads(id).await? {
            // What is still there is read again.
            state.drop_heads(id, &heads, newest, watch).await?;
        }
        self.erase_strands(&self.strands_of(id, |_, _| true).await?).await?;
        // What makes it known goes last, so that it can be deleted again after a crash.
        if let Some(row) = header {
            let header = Header::parse(&row.value).ok_or_else(damaged_header)?;
            let mut writes: Vec<Write> =
                header.types.iter().map(|of_type| Write::Delete(keys::history_type(*of_type, id))).collect();
            let key = keys::history_header(id);
            writes.extend([Write::Delete(key.clone()), Write::Delete(keys::folded(id))]);
            let mut attempts = BACKOFF.attempts();
            while attempts.next().await {
                let (state, watch) = self.watch(id).await?;
                // If it is another one now, the entity has come back or gone again meanwhile; if it has moved, it is the same.
                let same = state.header_row(id).await?.filter(|now| now.value == row.value);
                let Some(same) = same else { break };
                let is_same = vec![Condition::Version(key.clone(), same.stamp)];
                if state.commit_history(id, watch, is_same, writes.clone()).await? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Removes the history of an attribute (5.6.13), each dataset an atom. Cost: as [`Self::delete_history`], of that attribute.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchEntity`], [`Error::NoSuchAttribute`] if there is no history of it; if the store refuses.
    pub async fn delete_history_attribute(
        &self,
        id: &str,
        attribute: TermId,
        instances: &Instances,
    ) -> Result<(), Error> {
        let _lock = self.lock_history(id).await;
        let is_meant = |name, dataset: Option<&str>| name == attribute && instances.means(dataset);
        let strands = self.folded_strands(id, is_meant).await?;
        if strands.is_empty() {
            let dataset = match instances {
                Instances::Dataset(dataset) => Some(dataset.clone()),
                Instances::Default | Instances::All => None,
            };
            return Err(Error::NoSuchAttribute(attribute, dataset));
        }
        self.erase_strands(&strands).await
    }

    /// Erases strands, some side by side: their commits share syncs. Each is an atom of its own; after an error all those
    /// that were begun with it have been tried, and the rest is there.
    async fn erase_strands(&self, strands: &[Strand]) -> Result<(), Error> {
        for some in strands.chunks(ERASED_AT_ONCE) {
            let outcomes = join_all(some.iter().map(|strand| self.erase_strand(strand))).await;
            outcomes.into_iter().collect::<Result<(), Error>>()?;
        }
        Ok(())
    }

    async fn erase_strand(&self, strand: &Strand) -> Result<(), Error> {
        let beside = vec![Write::Delete(keys::changed(&strand.name))];
        Ok(self.state().histories.strands.erase(strand, beside, None).await?)
    }
}
