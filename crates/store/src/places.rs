//! How many tenants there may be: places that creators take before they create.

use std::sync::Arc;

use parking_lot::Mutex;

/// Places for the tenants of one directory; clones share.
///
/// Invariant: nobody takes a place before the tenants there are were counted, so whoever counts later than another
/// cannot count what was created meanwhile twice.
#[derive(Clone, Debug)]
pub struct TenantPlaces {
    max: usize,
    /// `None` until they were counted.
    taken: Arc<Mutex<Option<usize>>>,
}

/// A place for one tenant; given back when dropped, unless it is kept.
#[derive(Debug)]
#[must_use]
pub struct TenantPlace {
    places: TenantPlaces,
    kept: bool,
}

impl TenantPlaces {
    /// Places for at most `max` tenants.
    pub fn new(max: usize) -> Self {
        Self { max, taken: Arc::default() }
    }

    /// The most tenants.
    pub fn max(&self) -> usize {
        self.max
    }

    /// Whether it is known how many tenants there are.
    pub fn are_counted(&self) -> bool {
        self.taken.lock().is_some()
    }

    /// Says how many tenants there are; only the first to say so is heard.
    pub fn count(&self, tenants: usize) {
        self.taken.lock().get_or_insert(tenants);
    }

    /// Takes a place; `None` if all are taken, or were not counted.
    pub fn take(&self) -> Option<TenantPlace> {
        let mut taken = self.taken.lock();
        let taken = taken.as_mut().filter(|taken| **taken < self.max)?;
        *taken += 1;
        Some(TenantPlace { places: self.clone(), kept: false })
    }

    /// Gives the place of a tenant back that is no more.
    pub fn give_back(&self) {
        // Before they are counted there is nothing to give back: it will not be counted.
        if let Some(taken) = self.taken.lock().as_mut() {
            *taken = taken.saturating_sub(1);
        }
    }
}

impl TenantPlace {
    /// The tenant was created.
    pub fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for TenantPlace {
    fn drop(&mut self) {
        if !self.kept {
            self.places.give_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_kept_and_given_back() {
        let places = TenantPlaces::new(3);
        assert!(places.take().is_none(), "not before they are counted");
        places.count(1);
        places.count(3);
        assert!(places.are_counted());
        places.take().unwrap().keep();
        let place = places.take().unwrap();
        assert!(places.take().is_none(), "all are taken");
        drop(place);
        places.take().unwrap().keep();
        assert!(places.take().is_none());
        places.give_back();
        assert!(places.take().is_some());
    }
}
