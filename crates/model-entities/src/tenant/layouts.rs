//! How a tenant's entities are spread, as it is stored and as it holds (`layout.rs`).

use entity::{Error, keys};
use futures_util::future::try_join_all;
use store::{ErrorKind, Partition};

use super::TenantState;
use crate::layout::{Layout, StoredLayout};

/// Fences that are raised together.
const BUMPS_AT_ONCE: usize = 256;

impl TenantState {
    /// The layout as it is stored. Cost: one linear read.
    pub(crate) async fn stored_layout(&self) -> Result<StoredLayout, Error> {
        let partition = keys::consumers_partition(self.tenant());
        let Some(row) = self.store.get_linear(&partition, &keys::layout()).await? else {
            return Ok(StoredLayout { layout: Layout::created(self.created), is_known: true, stamp: None });
        };
        let damaged =
            || store::Error::new(ErrorKind::Corrupt, "reading over how many buckets entities are spread");
        Ok(StoredLayout::parse(&row.value, row.stamp).ok_or_else(damaged)?)
    }

    /// Stores what follows on a layout; whether that was still stored.
    pub(crate) async fn store_layout(
        &self,
        before: &StoredLayout,
        layout: Layout,
        is_known: bool,
    ) -> Result<bool, Error> {
        let writes = vec![layout.put(is_known)];
        Ok(self.commit_consumers(vec![before.condition()], writes).await?.is_some())
    }

    /// Has all writers look at the layout again that will hold, and then lets it hold.
    pub(crate) async fn make_layout_known(&self, stored: &StoredLayout) -> Result<(), Error> {
        self.bump_all(&stored.layout.partitions(self.tenant())).await?;
        self.store_layout(stored, stored.layout, true).await.map(drop)
    }

    /// Begins a new epoch of each partition, many side by side: a writer does not lose to one after the other.
    pub(crate) async fn bump_all(&self, partitions: &[Partition]) -> Result<(), Error> {
        for some in partitions.chunks(BUMPS_AT_ONCE) {
            try_join_all(some.iter().map(|partition| self.store.bump(partition, Vec::new()))).await?;
        }
        Ok(())
    }

    /// Whether this layout holds, for a writer: one that is not known is made known. If not, there is a newer state now, or it is
    /// to be asked again.
    pub(crate) async fn is_in_force(&self) -> Result<bool, Error> {
        let stored = self.stored_layout().await?;
        if stored.layout.is_moving() && !stored.is_known {
            self.make_layout_known(&stored).await?;
            return Ok(false);
        }
        self.supersede(stored.layout);
        Ok(stored.layout == self.layout)
    }

    /// The state of the layout that holds now, if it is another: asked after reading, by those who found nothing or read more
    /// than one row. Cost: a load; where a store may lag, a linear read, of which there is one for all who ask meanwhile.
    pub(crate) async fn newer(&self) -> Result<Option<&Self>, Error> {
        if self.store.may_lag() && !self.is_superseded() {
            let look = async {
                self.supersede(self.stored_layout().await?.in_force());
                Ok::<_, Error>(())
            };
            Box::pin(self.looks.take(look)).await?;
        }
        Ok(self.is_superseded().then(|| self.newest()))
    }
}
