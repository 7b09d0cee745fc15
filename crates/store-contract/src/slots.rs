//! How many tenants there may be: slots that creators take before they create.

use std::sync::Arc;

use parking_lot::Mutex;

/// Slots for the tenants of one directory; clones share.
///
/// Invariant: a count that another's change may or may not be part of is not used. Each change that has no slot,
/// and each whose outcome is not known, begins another generation, in which the tenants are counted anew.
#[derive(Clone, Debug)]
pub struct TenantSlots {
    max: usize,
    taken: Arc<Mutex<Taken>>,
    /// Locked by who counts: others wait for what it finds.
    counting: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Default)]
struct Taken {
    generation: u64,
    /// `None` if they are to be counted.
    count: Option<usize>,
}

/// A slot for one tenant. Dropped without [`TenantSlot::keep`] or [`TenantSlot::give_back`] it has the tenants counted
/// anew: it is not known whether this one was created.
#[derive(Debug)]
#[must_use]
pub struct TenantSlot {
    places: TenantSlots,
    generation: u64,
    is_settled: bool,
}

/// Has the tenants counted anew when it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Recount(TenantSlots);

impl TenantSlots {
    /// Slots for at most `max` tenants.
    pub fn new(max: usize) -> Self {
        Self { max, taken: Arc::default(), counting: Arc::default() }
    }

    /// The same slots, of which at most `max` may be taken.
    #[must_use]
    pub fn up_to(&self, max: usize) -> Self {
        Self { max, ..self.clone() }
    }

    /// The most tenants.
    pub fn max(&self) -> usize {
        self.max
    }

    /// Takes a slot; `None` if all are taken. Cost: a lock; where it is not known how many there are, one caller counts
    /// them with `count`, and the others wait for it.
    ///
    /// # Errors
    ///
    /// What `count` says.
    pub async fn take<E, C>(&self, count: impl Fn() -> C + Send) -> Result<Option<TenantSlot>, E>
    where
        C: Future<Output = Result<usize, E>> + Send,
    {
        loop {
            if let Some(taken) = self.take_counted() {
                return Ok(taken);
            }
            let _counting = self.counting.lock().await;
            let generation = {
                let taken = self.taken.lock();
                if taken.count.is_some() {
                    continue;
                }
                taken.generation
            };
            let count = count().await?;
            let mut taken = self.taken.lock();
            // What changed meanwhile may have been counted or not.
            if taken.generation == generation {
                taken.count = Some(count);
            }
        }
    }

    /// Takes a slot, or finds that there is none; `None` if they are not counted.
    fn take_counted(&self) -> Option<Option<TenantSlot>> {
        let mut taken = self.taken.lock();
        let generation = taken.generation;
        let count = taken.count.as_mut()?;
        if *count >= self.max {
            return Some(None);
        }
        *count += 1;
        Some(Some(TenantSlot { places: self.clone(), generation, is_settled: false }))
    }

    /// To be taken before a tenant is removed, and dropped after.
    pub fn recount_after(&self) -> Recount {
        Recount(self.clone())
    }

    fn recount(&self) {
        let mut taken = self.taken.lock();
        *taken = Taken { generation: taken.generation.wrapping_add(1), count: None };
    }
}

impl TenantSlot {
    /// The tenant was created.
    pub fn keep(mut self) {
        // A later count may have seen the tenant already: then it is left to the next.
        self.is_settled = self.places.taken.lock().generation == self.generation;
    }

    /// The tenant was certainly not created.
    pub fn give_back(mut self) {
        self.is_settled = true;
        let mut taken = self.places.taken.lock();
        if taken.generation == self.generation
            && let Some(count) = &mut taken.count
        {
            *count = count.saturating_sub(1);
        }
    }
}

impl Drop for TenantSlot {
    fn drop(&mut self) {
        if !self.is_settled {
            self.places.recount();
        }
    }
}

impl Drop for Recount {
    fn drop(&mut self) {
        self.0.recount();
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Tenants that are there, and how often they were counted.
    #[derive(Default)]
    struct There {
        tenants: AtomicUsize,
        counts: AtomicUsize,
    }

    impl There {
        async fn take(&self, places: &TenantSlots) -> Option<TenantSlot> {
            let count = || async {
                self.counts.fetch_add(1, Ordering::Relaxed);
                Ok::<_, Infallible>(self.tenants.load(Ordering::Relaxed))
            };
            places.take(count).await.unwrap()
        }

        /// Creates a tenant, if there is a place.
        async fn create(&self, places: &TenantSlots) -> bool {
            let place = self.take(places).await;
            self.tenants.fetch_add(usize::from(place.is_some()), Ordering::Relaxed);
            place.map(TenantSlot::keep).is_some()
        }

        fn counts(&self) -> usize {
            self.counts.load(Ordering::Relaxed)
        }
    }

    #[tokio::test]
    async fn places_are_taken_kept_and_given_back() {
        let (places, there) = (TenantSlots::new(3), There { tenants: 1.into(), ..There::default() });
        assert!(there.create(&places).await);
        let place = there.take(&places).await.unwrap();
        assert!(there.take(&places).await.is_none(), "all are taken");
        place.give_back();
        assert!(there.create(&places).await && !there.create(&places).await);
        assert_eq!(there.counts(), 1);
        let removing = places.recount_after();
        there.tenants.fetch_sub(1, Ordering::Relaxed);
        drop(removing);
        assert!(there.create(&places).await && !there.create(&places).await);
        assert_eq!(there.counts(), 2);
    }

    #[tokio::test]
    async fn a_tenant_whose_creation_has_no_known_outcome_is_counted() {
        let (places, there) = (TenantSlots::new(2), There::default());
        for _ in 0..2 {
            // It was created, and nobody was told.
            drop(there.take(&places).await.unwrap());
            there.tenants.fetch_add(1, Ordering::Relaxed);
        }
        assert!(there.take(&places).await.is_none());
    }

    #[tokio::test]
    async fn what_changes_while_tenants_are_counted_is_not_counted_twice_nor_missed() {
        let (places, there) = (TenantSlots::new(2), There::default());
        let older = there.take(&places).await.unwrap();
        drop(places.recount_after());
        there.tenants.fetch_add(1, Ordering::Relaxed);
        // Counts the tenant of the older place, whose creator says so only now.
        assert!(there.create(&places).await);
        older.keep();
        assert!(there.take(&places).await.is_none(), "both are there");

        // A removal while somebody counts: what was counted before it is not used.
        drop(places.recount_after());
        let removed = || async {
            let before = there.tenants.load(Ordering::Relaxed);
            if there.counts.fetch_add(1, Ordering::Relaxed) % 2 == 0 {
                there.tenants.fetch_sub(1, Ordering::Relaxed);
                drop(places.recount_after());
            }
            Ok::<_, Infallible>(before)
        };
        let counts = there.counts();
        there.counts.fetch_add(counts % 2, Ordering::Relaxed);
        let place = places.take(removed).await.unwrap();
        assert!(place.is_some(), "one was removed");
    }
}
