//! The lives of tenants that a process knows: one handle of each, so that all who hold it learn of its end at once.

use std::collections::HashMap;
use std::ops::Range;

use parking_lot::{Mutex, RwLock};

use crate::{Tenant, TenantName, TenantSlots};

/// What all handles of a store in a process share of its tenants.
#[derive(Debug, Default)]
pub struct Lives {
    known: RwLock<Known>,
    /// How many names are taken in each directory; the most is said by whoever asks.
    places: Mutex<HashMap<Directory, TenantSlots>>,
    /// Numbers that are this process's to give.
    pub numbers: tokio::sync::Mutex<Range<u32>>,
    /// Notified of each removal.
    pub removed: tokio::sync::Notify,
}

/// Inside which names are unique: those of tenants, or those that a model gives inside a tenant.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Directory {
    /// The tenant, and the number of the model.
    pub within: Option<(Tenant, u8)>,
}

#[derive(Debug, Default)]
struct Known {
    /// The newest life of each name, and the generation that began with it.
    by_name: HashMap<(Directory, TenantName), (Tenant, u64)>,
    by_number: HashMap<u32, Tenant>,
    /// How often lives were learnt or ended.
    generation: u64,
    /// The generation that began with the last end of a life.
    ended: u64,
}

impl Lives {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The places for names of a directory.
    pub fn places(&self, directory: &Directory) -> TenantSlots {
        let mut places = self.places.lock();
        if !places.contains_key(directory) {
            places.retain(|other, _| other.within.as_ref().is_none_or(|(tenant, _)| !tenant.is_ended()));
        }
        places.entry(directory.clone()).or_insert_with(|| TenantSlots::new(usize::MAX)).clone()
    }

    /// What has this name, if it is known here.
    pub fn of_name(&self, directory: &Directory, name: &TenantName) -> Option<Tenant> {
        let known = self.known.read();
        known.by_name.get(&(directory.clone(), name.clone())).map(|(tenant, _)| tenant.clone())
    }

    /// The tenant of this number, if it is known here.
    pub fn of_number(&self, number: u32) -> Option<Tenant> {
        if number == 0 {
            return Some(Tenant::default());
        }
        self.known.read().by_number.get(&number).cloned()
    }

    /// To be had before the directory is read, for [`Lives::learn`].
    pub fn generation(&self) -> u64 {
        self.known.read().generation
    }

    /// The handle of the life that the directory has under a name, as it was read since `generation`; `None` if some life ended
    /// meanwhile, maybe this one, or another of the name was learnt, maybe a newer one: then it is to be read again. A life of the name
    /// that was known here before is over.
    pub fn learn(
        &self,
        directory: &Directory,
        (number, name): (u32, &TenantName),
        generation: u64,
    ) -> Option<Tenant> {
        if number == 0 {
            return Some(Tenant::default());
        }
        let mut known = self.known.write();
        if let Some(tenant) = known.by_number.get(&number) {
            return Some(tenant.clone());
        }
        let key = (directory.clone(), name.clone());
        let learnt = known.by_name.get(&key).map_or(0, |(_, learnt)| *learnt);
        if generation < known.ended.max(learnt) {
            return None;
        }
        let within = directory.within.as_ref().map(|(tenant, _)| tenant.clone());
        let tenant = Tenant::numbered(number, name.clone(), within);
        known.generation += 1;
        let learnt = known.generation;
        if let Some((other, _)) = known.by_name.insert(key, (tenant.clone(), learnt)) {
            known.end(&other);
        }
        known.by_number.insert(number, tenant.clone());
        Some(tenant)
    }

    /// Ends the life known under a name that the directory did not have when it was read since `generation`, unless it was learnt
    /// meanwhile.
    pub fn end_absent(&self, directory: &Directory, name: &TenantName, generation: u64) {
        let found = self.known.read().by_name.get(&(directory.clone(), name.clone())).cloned();
        if let Some((tenant, _)) = found.filter(|(_, learnt)| *learnt <= generation) {
            self.end(tenant.number());
        }
    }

    /// Ends a life, of which the directory says that it is over: whoever holds its handle is refused.
    pub fn end(&self, number: u32) {
        let mut known = self.known.write();
        let Some(tenant) = known.by_number.get(&number).cloned() else {
            // Somebody may have read of it.
            known.note_end();
            return;
        };
        known.end(&tenant);
        // With it go its parts.
        known.by_name.retain(|_, (life, _)| !life.is_ended());
        known.by_number.retain(|_, life| !life.is_ended());
    }
}

impl Known {
    fn end(&mut self, tenant: &Tenant) {
        tenant.end();
        self.by_number.remove(&tenant.number());
        self.note_end();
    }

    fn note_end(&mut self) {
        self.generation += 1;
        self.ended = self.generation;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_life_at_a_time() {
        let (lives, tenants, name) = (Lives::new(), Directory::default(), TenantName::new("city").unwrap());
        let read = lives.generation();
        let learn = |number, read| lives.learn(&tenants, (number, &name), read);
        let first = learn(1, read).unwrap();
        assert!(!first.is_ended() && learn(1, read).unwrap() == first);
        assert!(learn(3, read).is_none(), "read before the other was learnt: either may be the newer one");
        assert!(!first.is_ended());
        let second = learn(3, lives.generation()).unwrap();
        assert!(first.is_ended() && !second.is_ended() && first != second);
        assert_eq!((lives.of_name(&tenants, &name), lives.of_number(1)), (Some(second.clone()), None));
        assert!(learn(1, read).is_none(), "read before it ended");
        let read = lives.generation();
        lives.end(3);
        assert!(second.is_ended() && lives.of_name(&tenants, &name).is_none());
        assert!(learn(3, read).is_none());
        let read = lives.generation();
        lives.end(4);
        assert!(learn(4, read).is_none());
        lives.end(0);
        assert!(!lives.of_number(0).unwrap().is_ended(), "the default tenant has no end");
    }

    #[test]
    fn an_older_life_that_is_learnt_late_ends_no_newer_one() {
        let (lives, tenants, name) = (Lives::new(), Directory::default(), TenantName::new("city").unwrap());
        let (first, second) = (lives.generation(), lives.generation());
        // Both read, and another node removed 1 and created 3 in between.
        let newer = lives.learn(&tenants, (3, &name), second).unwrap();
        assert!(lives.learn(&tenants, (1, &name), first).is_none(), "it is to be read again");
        // One read while there was none of the name.
        lives.end_absent(&tenants, &name, first);
        assert!(!newer.is_ended() && lives.of_name(&tenants, &name) == Some(newer.clone()));
        // What is learnt under other names does not count.
        let other = TenantName::new("town").unwrap();
        assert!(lives.learn(&tenants, (4, &other), first).is_some());
        lives.end_absent(&tenants, &name, lives.generation());
        assert!(newer.is_ended() && lives.of_name(&tenants, &name).is_none());
    }

    #[test]
    fn parts_end_with_their_tenant() {
        let (lives, name) = (Lives::new(), TenantName::new("city").unwrap());
        let city = lives.learn(&Directory::default(), (1, &name), 0).unwrap();
        let inside = Directory { within: Some((city.clone(), 2)) };
        let part = lives.learn(&inside, (2, &name), 0).unwrap();
        let other = lives.learn(&Directory { within: Some((city.clone(), 3)) }, (3, &name), 0).unwrap();
        assert_eq!((part.within(), part.to_string().as_str()), (Some(&city), "city/city"));
        assert!(lives.places(&inside).max() > 0);
        lives.end(3);
        assert!(other.is_ended() && !part.is_ended() && !city.is_ended());
        lives.end(1);
        assert!(part.is_ended() && lives.of_number(2).is_none() && lives.of_name(&inside, &name).is_none());
        assert_eq!(part.check().unwrap_err().action(), "city");
    }
}
